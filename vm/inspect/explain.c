/* explain.c: reasons for slow sites (explain.h). */
#include "inspect/explain.h"

#include "inspect/extensions.h"
#include "inspect/loops.h"
#include "inspect/rows.h"
#include "inspect/words.h"
#include "quicken/site.h"

enum { HOT_EXECUTIONS = 100, HOT_SHARE = 1000 };

/* ---- Reasons ---- */

typedef enum reason {
    LEVEL,
    MEGAMORPHIC,
    CHANGING,
    LONG_INTS,
    VALUES,
    OPERATOR,
    DERIVED,
    TYPES,
    EXTENSION,
    DICTIONARY,
    ATTRIBUTE,
    METHOD,
    ITERATOR,
    PARAMETERS,
    CLASS,
    CLASS_CHANGED,
    C_FUNCTION,
    CALLABLE,
    BOUND_METHOD,
    NAME,
    LATE
} reason;

typedef struct explanation {
    const char *name; /* in JSON: never changes */
    const char *sentence, *advice;
} explanation;

static const explanation explanations[] = {
    [LEVEL] = {"level", "at level generic nothing adapts", "use --level=inca or --level=nama"},
    [MEGAMORPHIC] = {"megamorphic",
                     "objects of more than four layouts came here, more than a site remembers",
                     "set the same attributes in the same order in every __init__, or treat "
                     "objects of different classes in loops of their own"},
    [CHANGING] = {"changing-types",
                  "the types of the operands keep changing, so that no derivative fits for long",
                  "keep to one type here: begin sums with 0.0 if they become floats, and do not "
                  "mix None, ints and floats in a variable or a list"},
    [LONG_INTS] = {"long-ints", "ints beyond 48 bits came here, which are objects with digits",
                   "keep numbers below 2**47, for instance by % or & in each step, or use floats"},
    [VALUES] = {"values",
                "the types fit, but often not the values: a result beyond 48 bits, an index or a "
                "key that is not there, a division by zero, an object that dies here",
                "test for the rare case before, in a branch of its own"},
    [OPERATOR] = {"operator-of-class", "an operand's class computes this in a method of its own",
                  "in the hottest loops, work on the attributes instead of whole objects"},
    [DERIVED] = {"derived-type",
                 "there is no derivative here for instances of classes derived from built-in "
                 "types, though these do the work",
                 "convert them before the loop, as in int(x) or list(x), or keep what they hold in "
                 "an attribute"},
    [TYPES] = {"no-derivative-for-types", "there is no derivative for these types",
               "ints, floats, strs, lists, tuples, arrays of numbers and dicts with int or str "
               "keys have one"},
    [EXTENSION] = {"extension",
                   "an extension's derivative was chosen for other operands than those that came "
                   "then, as it says",
                   "keep to arrays of one dtype and one shape here: convert them before the loop, "
                   "or treat each kind in a loop of its own"},
    [DICTIONARY] = {"dictionary",
                    "the object keeps its attributes in a dict, because its __dict__ was asked for",
                    "use getattr and setattr instead of __dict__ and vars()"},
    [ATTRIBUTE] = {"computed-attribute",
                   "the attribute is not simply found in the object or its class: a descriptor or "
                   "a method such as __getattr__ computes it, or the object is of a built-in type",
                   "keep the value in a local, or in an ordinary attribute"},
    [METHOD] = {"computed-method",
                "what is called is not simply found in the object or its class: a property or "
                "another descriptor computes it",
                "define it with def in the class, or keep it in a local and call that"},
    [ITERATOR] = {"iterator", "there is no derivative for iterating over this",
                  "built-in types, generators and plain dl classes have one, classes derived from "
                  "built-in types have not"},
    [PARAMETERS] = {"parameters",
                    "the function's parameters are not given one by one: it has *args or **kwargs",
                    "keep such functions out of the hottest loops"},
    [CLASS] = {"class",
               "objects are made here of a class whose __init__ cannot be entered at once: it has "
               "*args or **kwargs, or the class has a __new__, a metaclass or a built-in base",
               "give the class an __init__ with plain parameters"},
    [CLASS_CHANGED] = {"class-changed",
                       "an attribute of a class is set, on which caches and regions rely",
                       "keep what changes in an instance, a list or a local"},
    [C_FUNCTION] = {"c-function",
                    "the built-in function is called in a way that its derivative does not know: "
                    "with keywords, or bound to an object",
                    "call methods on their object, as in items.append(x), not through a variable; "
                    "where it is hottest, write the work out as a loop"},
    [CALLABLE] = {"callable",
                  "what is called is an object: an instance with a __call__, or what a library "
                  "function such as partial has made",
                  "call a function or a method, as in object.method(x)"},
    [BOUND_METHOD] =
        {"bound-method",
         "what is called is a method that was bound to its object before: one in a "
         "variable, or the __exit__ of a with statement",
         "call it on its object, as in object.method(x); put the with statement around "
         "the loop"},
    [NAME] = {"unbound-name", "the name is neither a global nor a builtin when it is looked for",
              "bind the name before the loop"},
    [LATE] = {"late", "the function became warm late, or the site waited before it chose again",
              "nothing: this passes in longer runs"},
};

static bool is_key(dv_operand_key key, unsigned kind) { return dv_key_kind(key) == kind; }

/* Is one of the operands that were seen of this kind? */
static bool saw_kind(const dv_types_seen *types, unsigned kind) {
    for (int i = 0; types && i < DV_PROFILE_TYPES && types->entries[i].executions; i++)
        for (int k = 0; k < DV_PROFILE_OPERANDS; k++)
            if (is_key(types->entries[i].operands.keys[k], kind)) return true;
    return false;
}

/* Does this hold for one of the dl classes whose instances were operands? */
typedef bool (*class_test)(const dv_vm *vm, const dv_shape *shape, uint32_t op);
static bool saw_instance(const dv_vm *vm, const dv_types_seen *types, class_test test,
                         uint32_t op) {
    for (int i = 0; types && i < DV_PROFILE_TYPES && types->entries[i].executions; i++)
        for (int k = 0; k < DV_PROFILE_OPERANDS; k++) {
            dv_operand_key key = types->entries[i].operands.keys[k];
            uint32_t shape = (uint32_t)dv_key_rest(key);
            if (!is_key(key, DV_KEY_TYPE) || shape < DV_T_COUNT) continue;
            const dv_shape *found = dv_shape_at(vm, shape);
            if (found && test(vm, found, op)) return true;
        }
    return false;
}

static bool is_dictionary(const dv_vm *vm, const dv_shape *shape, uint32_t op) {
    (void)vm, (void)op;
    return shape->dictionary;
}

static bool is_any(const dv_vm *vm, const dv_shape *shape, uint32_t op) {
    (void)vm, (void)shape, (void)op;
    return true;
}

static bool is_derived(const dv_vm *vm, const dv_shape *shape, uint32_t op) {
    (void)vm, (void)op;
    return shape->class_->type != DV_T_OBJECT;
}

/* The special methods that instruction op may ask for; returns how many. */
static size_t methods_for(const dv_vm *vm, uint32_t op, dv_value names[6]) {
    const dv_known *known = &vm->known;
    size_t count = 0;
    if (op <= DV_OP_XOR) {
        const uint32_t binary = op - DV_OP_ADD;
        names[count++] = known->binary[binary];
        names[count++] = known->reflected[binary];
        names[count++] = known->inplace[binary];
        return count;
    }
    switch (op) {
    case DV_OP_LOAD_SUBSCR: names[count++] = known->getitem; break;
    case DV_OP_STORE_SUBSCR: names[count++] = known->setitem; break;
    case DV_OP_DELETE_SUBSCR: names[count++] = known->delitem; break;
    case DV_OP_IN: names[count++] = known->contains; /* fall through */
    case DV_OP_GET_ITER: names[count++] = known->iter; break;
    case DV_OP_NEG: names[count++] = known->neg; break;
    case DV_OP_POS: names[count++] = known->pos; break;
    case DV_OP_INVERT: names[count++] = known->invert; break;
    case DV_OP_NOT:
    case DV_OP_JUMP_IF_FALSE:
    case DV_OP_JUMP_IF_TRUE:
        names[count++] = known->bool_;
        names[count++] = known->len;
        break;
    case DV_OP_LT:
    case DV_OP_LE:
    case DV_OP_EQ:
    case DV_OP_NE:
    case DV_OP_GT:
    case DV_OP_GE:
        names[count++] = known->lt, names[count++] = known->le;
        names[count++] = known->eq, names[count++] = known->ne;
        names[count++] = known->gt, names[count++] = known->ge;
        break;
    default: break;
    }
    return count;
}

static bool computes(const dv_vm *vm, const dv_shape *shape, uint32_t op) {
    dv_value names[6];
    size_t count = methods_for(vm, op, names);
    for (size_t i = 0; i < count; i++)
        if (dv_class_special(shape->class_, names[i])) return true;
    return false;
}

static bool is_changing(const dv_site_counts *site) {
    enum { STEADY = 10 }; /* one change in so many executions is no longer steady */
    return site->typed > 1 && (site->typed - 1 - site->same) * STEADY > site->typed;
}

static reason of_call(const dv_types_seen *types) {
    if (saw_kind(types, DV_KEY_CLASS)) return CLASS;
    if (saw_kind(types, DV_KEY_CODE)) return PARAMETERS;
    if (saw_kind(types, DV_KEY_C) || saw_kind(types, DV_KEY_BUILTIN)) return C_FUNCTION;
    for (int i = 0; types && i < DV_PROFILE_TYPES && types->entries[i].executions; i++)
        if (types->entries[i].operands.keys[0] ==
            ((dv_operand_key)DV_KEY_TYPE << DV_KEY_SHIFT | DV_T_METHOD))
            return BOUND_METHOD;
    return CALLABLE;
}

static reason of_operands(const dv_vm *vm, const dv_types_seen *types, uint32_t op) {
    if (saw_instance(vm, types, computes, op)) return OPERATOR;
    return saw_instance(vm, types, is_derived, op) ? DERIVED : TYPES;
}

/* No derivative was found, or none was kept. */
static reason of_family(const dv_vm *vm, const dv_row *row) {
    const dv_types_seen *types = dv_row_site(row)->types;
    const dv_op_info *info = &dv_op_infos[dv_row_op(row)];
    switch (info->effect) {
    case DV_EFFECT_CALL:
    case DV_EFFECT_CALL_METHOD: return of_call(types);
    case DV_EFFECT_FOR_ITER: return ITERATOR;
    default: break;
    }
    switch (dv_row_op(row)) {
    case DV_OP_LOAD_GLOBAL:
    case DV_OP_LOAD_GLOBAL_CALLEE:
    case DV_OP_STORE_GLOBAL: return NAME;
    case DV_OP_LOAD_ATTR:
    case DV_OP_STORE_ATTR:
        return saw_instance(vm, types, is_dictionary, 0) ? DICTIONARY : ATTRIBUTE;
    case DV_OP_LOAD_METHOD: return METHOD;
    default: return of_operands(vm, types, dv_row_op(row));
    }
}

static bool has_misses_of_extension(dv_vm *vm, const dv_row *row) {
    dv_foreign_report report;
    return dv_row_site(row)->misses && dv_extensions_find(vm, row, &report) && report.times;
}

static reason reason_of(dv_vm *vm, const dv_row *row) {
    const dv_site_counts *site = dv_row_site(row);
    if (vm->level == DV_LEVEL_GENERIC) return LEVEL;
    if (site->reason == DV_REASON_MEGAMORPHIC) return MEGAMORPHIC;
    if (site->reason == DV_REASON_CLASS) return CLASS_CHANGED;
    if (saw_kind(site->types, DV_KEY_LONG)) return LONG_INTS;
    if (!site->hits && saw_instance(vm, site->types, is_any, 0)) return of_family(vm, row);
    bool fitted = site->hits || site->misses;
    if (fitted && is_changing(site)) return CHANGING;
    if (has_misses_of_extension(vm, row)) return EXTENSION;
    if (site->misses && site->deoptimisations) return VALUES;
    bool refused = site->reason != DV_REASON_NONE && site->reason != DV_REASON_COVERED;
    if (refused) return of_family(vm, row);
    return site->misses ? VALUES : LATE;
}

/* ---- Slow sites ---- */

static uint64_t slow_executions(const dv_row *row) {
    const dv_site_counts *site = dv_row_site(row);
    uint64_t slow = site->generic + site->misses;
    return dv_profile_quickens(dv_row_op(row)) && slow >= HOT_EXECUTIONS ? slow : 0;
}

typedef struct slow_sites {
    dv_rows rows; /* the first `hot` of them are hot */
    size_t hot;
    uint64_t executions; /* of everything */
    uint64_t slow;       /* of the hot ones */
} slow_sites;

static bool find_slow(dv_vm *vm, const dv_page *page, slow_sites *found) {
    *found = (slow_sites){0};
    for (const dv_function_counts *f = dv_profile_of(vm)->functions; f; f = f->next)
        for (uint32_t pc = 0; pc < f->code->word_count; pc++)
            found->executions += f->sites[pc].executions;
    if (!dv_rows_collect(vm, &found->rows, page, slow_executions)) return false;
    const dv_row *rows = found->rows.rows;
    while (found->hot < found->rows.count &&
           rows[found->hot].weight >= found->executions / HOT_SHARE)
        found->slow += rows[found->hot++].weight;
    return true;
}

/* ---- Text ---- */

static void put_share(dv_line *line, uint64_t part, uint64_t whole) {
    dv_line_put(line, "%.1f%%", whole ? 100.0 * (double)part / (double)whole : 0.0);
}

/* What an extension said of the site; NULL: none was asked, or the code is gone. */
static const char *of_extension(dv_vm *vm, const dv_row *row) {
    if (!vm->hooks.plugin.reason) return NULL;
    for (const dv_thread *thread = vm->codes; thread; thread = thread->next) {
        if (thread->code != row->function->code || !thread->cells) continue;
        const char *reason = vm->hooks.plugin.reason(vm, thread->cells + thread->cell_at[row->pc]);
        if (reason) return reason;
    }
    dv_foreign_report report;
    return dv_extensions_find(vm, row, &report) ? report.notes.all[0].why : NULL;
}

static void list_site(dv_vm *vm, const dv_page *page, const dv_row *row, uint64_t executions) {
    const dv_site_counts *site = dv_row_site(row);
    const explanation *why = &explanations[reason_of(vm, row)];
    dv_line line = {0};
    dv_page_text(page, "\n");
    dv_rows_put_source(&line, page, row->function->code, dv_row_line(row));
    dv_page_line(page, &line);
    dv_line_put(&line, "    ");
    dv_words_instruction(vm, &line, row->function->code, row->pc);
    dv_line_put(&line, ": ");
    dv_line_colour(&line, page, DV_COLOUR_SLOW);
    dv_line_put(&line, "slow %llu of %llu times", (unsigned long long)row->weight,
                (unsigned long long)site->executions);
    dv_line_colour(&line, page, DV_COLOUR_PLAIN);
    dv_line_put(&line, " (");
    put_share(&line, row->weight, executions);
    dv_line_put(&line, " of all executions), %llu deoptimisations",
                (unsigned long long)site->deoptimisations);
    dv_page_line(page, &line);
    if (site->types) {
        dv_line_put(&line, "    saw:  ");
        dv_words_types_seen(vm, &line, site->types);
        dv_page_line(page, &line);
    }
    dv_line_put(&line, "    why:  ");
    dv_line_text(&line, why->sentence, strlen(why->sentence));
    dv_page_line(page, &line);
    const char *said = of_extension(vm, row);
    if (said) {
        dv_line_put(&line, "    said: %s (the extension)", said);
        dv_page_line(page, &line);
    }
    dv_line_put(&line, "    do:   ");
    dv_line_colour(&line, page, DV_COLOUR_FAST);
    dv_line_text(&line, why->advice, strlen(why->advice));
    dv_page_line(page, &line);
}

static void list_slow(dv_vm *vm, const dv_page *page, const slow_sites *found) {
    dv_line line = {0};
    if (found->hot == 0) {
        dv_page_text(page, "every hot site has a derivative that fits\n");
        return;
    }
    dv_line_put(&line, "%zu hot site%s stayed slow, for ", found->hot, found->hot == 1 ? "" : "s");
    put_share(&line, found->slow, found->executions);
    dv_line_put(&line, " of %llu executions", (unsigned long long)found->executions);
    dv_page_line(page, &line);
    for (size_t i = 0; i < found->hot && i < page->top; i++)
        list_site(vm, page, &found->rows.rows[i], found->executions);
    if (found->hot > page->top) {
        dv_line_put(&line, "\nand %zu more (--top=N shows N)", found->hot - page->top);
        dv_page_line(page, &line);
    }
}

/* ---- JSON ---- */

static void json_site(dv_vm *vm, dv_json *json, const dv_row *row) {
    const explanation *why = &explanations[reason_of(vm, row)];
    dv_json_begin(json, NULL, '{');
    dv_rows_json_site(json, row);
    dv_json_number(json, "executions", dv_row_site(row)->executions);
    dv_json_number(json, "slow", row->weight);
    dv_json_number(json, "deoptimisations", dv_row_site(row)->deoptimisations);
    dv_json_string(json, "reason", why->name);
    dv_json_string(json, "sentence", why->sentence);
    dv_json_string(json, "advice", why->advice);
    const char *said = of_extension(vm, row);
    if (said) dv_json_string(json, "extension", said);
    dv_rows_json_types(vm, json, row);
    dv_json_end(json, '}');
}

static bool write_json(dv_vm *vm, const dv_page *page, const slow_sites *found) {
    dv_json json = {.page = page};
    dv_json_begin(&json, NULL, '{');
    dv_json_string(&json, "tool", "explain");
    dv_json_number(&json, "schema", 1);
    dv_json_string(&json, "level", dv_words_level(vm));
    dv_json_number(&json, "executions", found->executions);
    dv_json_number(&json, "slow", found->slow);
    dv_json_begin(&json, "sites", '[');
    for (size_t i = 0; i < found->hot; i++) json_site(vm, &json, &found->rows.rows[i]);
    dv_json_end(&json, ']');
    bool written =
        (vm->level < DV_LEVEL_NAMA || dv_loops_json(vm, &json)) && dv_expressions_json(vm, &json);
    dv_json_end(&json, '}');
    dv_json_finish(&json);
    return written;
}

bool dv_inspect_explain(dv_vm *vm, const dv_page *page) {
    slow_sites found;
    if (!find_slow(vm, page, &found)) return false;
    bool written;
    if (page->json) {
        written = write_json(vm, page, &found);
    } else {
        list_slow(vm, page, &found);
        written =
            (vm->level < DV_LEVEL_NAMA || dv_loops_list(vm, page)) && dv_expressions_list(vm, page);
    }
    dv_rows_free(vm, &found.rows);
    return written;
}
