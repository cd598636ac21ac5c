/* loops.c: hot loops and their regions (loops.h). */
#include "inspect/loops.h"

#include "inspect/rows.h"
#include "inspect/words.h"
#include "quicken/site.h"

/* ---- Reasons ---- */

typedef struct explanation {
    const char *name; /* in JSON: never changes */
    const char *sentence, *advice;
} explanation;

/* By dv_refusal; behind them what the analysis does not tell apart. */
enum {
    LEFT_OFTEN = DV_REFUSED_ROOM + 1, /* it has a region, and leaves it often */
    RAISES,                           /* one that was too short, or failed: by exceptions */
    /* Of loops with too little that could be typed: by the instruction to blame. */
    MODULE,
    STORED_GLOBAL,
    STORED_CELL,
    MADE,
    MADE_FUNCTION,
    IMPORTED,
    TEXT,
    ARRAYS,
    LONG_INTS,
    CHANGING,
    NO_DERIVATIVE,
    ITEMS,
    ITERATOR,
    WITH,
    CALL_C,
    CALL_DL,
    CALL_OBJECT,
    CLASS_CHANGED
};
static const explanation explanations[] = {
    [DV_REFUSED_MEMORY] = {"memory", "memory was short when its region was to be made",
                           "allow the program more memory"},
    [DV_REFUSED_YIELD] =
        {"yields",
         "it yields for little work: a generator's frame moves when it is resumed, "
         "and its values go into boxes for that",
         "do more between two yields, or compute in a function that does not yield"},
    [DV_REFUSED_SIZE] = {"size", "it has too many instructions, or too many ways through them",
                         "move parts of it into functions of their own"},
    [DV_REFUSED_FRAME] = {"frame",
                          "its function names locals, vars, eval or exec, which read all of its "
                          "locals wherever they are called",
                          "move the loop into a function of its own"},
    [DV_REFUSED_SLOTS] = {"slots",
                          "it works on more values at once, or on more ranges within ranges, than "
                          "a frame has places for",
                          "move the inner loops into functions of their own"},
    [DV_REFUSED_MEETING] = {"meeting",
                            "where two ways through it meet, one brings an iterator or a value "
                            "without a box, and the other something else",
                            "give each variable one type on all ways"},
    [DV_REFUSED_ITERATOR] = {"iterator", "it uses the iterator of a range as a value",
                             "walk over the range with for"},
    [DV_REFUSED_BOXED] =
        {"objects",
         "most of its work is on objects: there is too little arithmetic, "
         "comparison and indexing of lists and arrays that could be done without boxes",
         "nothing, if it has to work on objects; otherwise keep what it computes "
         "with in locals that are ints, floats and lists"},
    [DV_REFUSED_ENTRY] = {"entry", "it cannot be entered from outside of the loop around it",
                          "nothing: where the loop around it is hot, that gets a region"},
    [DV_REFUSED_TYPES] = {"types",
                          "its region was given up: locals had other types when it was to be "
                          "entered than when it was made",
                          "begin sums with 0.0 if they become floats, and call the function with "
                          "arguments of the same types"},
    [DV_REFUSED_GUARDS] = {"guards",
                           "its region was given up: values had other types in it than before, or "
                           "it went ways that were new",
                           "keep to one type in a list and in a variable; treat rare cases before "
                           "the loop"},
    [DV_REFUSED_CHANGED] = {"changed",
                            "its region was given up: a global, a builtin, a class or a module's "
                            "attribute that it relied on was changed",
                            "change such things before hot loops, or keep what changes in a local"},
    [DV_REFUSED_SHORT] = {"short",
                          "its region was given up: it goes round too few times to pay for being "
                          "entered",
                          "nothing; or put the short loop into the loop around it, if that is in "
                          "another function"},
    [DV_REFUSED_ROOM] = {"room",
                         "regions have used up the memory that they may take: colder ones were "
                         "given up, or there was no room for this one",
                         "allow them more memory (--region-limit)"},
    [LEFT_OFTEN] = {"left-often", "it has a region, and leaves it often before the loop ends",
                    "keep to one type in a list and in a variable; treat rare cases before the "
                    "loop"},
    [RAISES] = {"raises", "its region was given up: exceptions that are raised in it end it",
                "test for the rare case with if, and do without the exception"},
    [MODULE] = {"module-level",
                "it is at module level: its variables are the module's, of which a region holds a "
                "dozen numbers; others are stored for all to see at once",
                "put the loop into a function"},
    [STORED_GLOBAL] = {"stored-global",
                       "it stores what is no number to a global variable, for others to see at "
                       "once",
                       "keep it in a local, and store that to the global behind the loop"},
    [STORED_CELL] = {"stored-cell",
                     "it stores to a variable that it shares with an inner function what is no "
                     "number, or a new variable for each round",
                     "keep it in a local that no inner function names, or make the function "
                     "somewhere else"},
    [MADE] = {"made-objects",
              "a list, tuple, set, dict or instance is made in each round and lasts, or one grows",
              "make it before the loop with all its elements, as in [0] * n, and store to these"},
    [MADE_FUNCTION] = {"made-function", "a function is made in each round",
                       "define it before the loop, and give it what changes as an argument"},
    [IMPORTED] = {"import", "something is imported in each round",
                  "import it at the beginning of the file"},
    [TEXT] = {"strings",
              "it works on strings of several characters, or beyond Latin-1, which are objects",
              "look at single characters, as in s[i] == 'a', and make text behind the loop"},
    [ARRAYS] = {"arrays",
                "its work is operations on whole arrays, or other objects of an extension: each "
                "is an instruction of its own, as quick without a region",
                "nothing; where arrays have few elements, work on these as numbers"},
    [LONG_INTS] = {"long-ints", "ints beyond 48 bits came here, which are objects with digits",
                   "keep numbers below 2**47, for instance by % or & in each step, or use floats"},
    [CHANGING] = {"changing-types", "the types of the operands keep changing",
                  "keep to one type here: begin sums with 0.0 if they become floats, and do not "
                  "mix None, ints and floats in a variable or a list"},
    [NO_DERIVATIVE] = {"no-derivative-for-types",
                       "there is no derivative for the types that came here",
                       "ints, floats, lists, tuples and arrays of numbers have one"},
    [ITEMS] = {"items",
               "items of a list, tuple, dict or set are no numbers, or only some of them are",
               "keep numbers in a list of their own"},
    [ITERATOR] = {"asked-iterator",
                  "it goes over a generator or another iterator, which is asked for each item",
                  "go over a range, over a list, dict, set, array or bytes with numbers of one "
                  "type, or over a generator with one yield that nothing else refers to"},
    [WITH] = {"with", "it has a with statement, whose object is entered and left in each round",
              "put the with statement around the loop"},
    [CALL_C] =
        {"c-function", "it calls a built-in function, class or method that takes or gives objects",
         "call it outside of the loop, or write its work out; functions of math take numbers "
         "as they are"},
    [CALL_DL] = {"call",
                 "it calls a function that does not become part of it: a long one, or one with "
                 "loops, try, yield, * or **",
                 "make the function short and plain, or write its work into the loop"},
    [CALL_OBJECT] = {"callable", "it calls an object that is no function and no class",
                     "call a function or a method, as in object.method(x)"},
    [CLASS_CHANGED] = {"class-changed",
                       "an attribute of a class is set, on which caches and regions rely",
                       "keep what changes in an instance, a list or a local"},
};

void dv_loops_words(dv_refusal why, const char **name, const char **sentence) {
    *name = explanations[why].name;
    *sentence = explanations[why].sentence;
}

/* ---- Loops as rows ---- */

enum { MOST_FAILED = 4 }; /* places where guards failed that a report names */

static const dv_loop_counts *loop_of(const dv_row *row) {
    return dv_profile_loop(row->function, row->pc);
}

static bool is_left_often(const dv_loop_counts *loop) {
    enum { MANY = 20, SHARE = 4 }; /* guards that failed, and one in so many entries */
    return loop->guards >= MANY && loop->guards * SHARE >= loop->entries;
}

static bool is_explained(const dv_loop_counts *loop) {
    return loop->region == DV_NO_PC || is_left_often(loop);
}

/* Is the region that goes by this pc one of the whole function? */
static bool is_of_function(const dv_code *code, uint32_t back) {
    return (code->words[back] & 0xFF) != DV_OP_JUMP_BACK;
}

/* ---- What the instruction to blame does ---- */

static bool is_kind(dv_operand_key key, unsigned kind) { return dv_key_kind(key) == kind; }

/* Was one of the operands of this kind, and (0: any) of this type? */
static bool saw(const dv_types_seen *types, unsigned kind, uint32_t type) {
    for (int i = 0; types && i < DV_PROFILE_TYPES && types->entries[i].executions; i++)
        for (int k = 0; k < DV_PROFILE_OPERANDS; k++) {
            const dv_operand_key key = types->entries[i].operands.keys[k];
            if (is_kind(key, kind) && (!type || dv_key_rest(key) == type)) return true;
        }
    return false;
}

static bool saw_foreign(const dv_types_seen *types) {
    for (int i = 0; types && i < DV_PROFILE_TYPES && types->entries[i].executions; i++)
        for (int k = 0; k < DV_PROFILE_OPERANDS; k++) {
            const dv_operand_key key = types->entries[i].operands.keys[k];
            if (is_kind(key, DV_KEY_TYPE) && dv_is_extension_type((uint32_t)dv_key_rest(key)))
                return true;
        }
    return false;
}

static int of_call(const dv_types_seen *types) {
    if (saw(types, DV_KEY_CODE, 0)) return CALL_DL;
    if (saw(types, DV_KEY_CLASS, 0)) return MADE;
    if (saw(types, DV_KEY_C, 0) || saw(types, DV_KEY_BUILTIN, 0)) return CALL_C;
    return types ? CALL_OBJECT : CALL_C;
}

static bool is_changing(const dv_site_counts *site) {
    enum { STEADY = 10 }; /* one change in so many executions is no longer steady */
    return site->typed > 1 && (site->typed - 1 - site->same) * STEADY > site->typed;
}

static int of_operands(const dv_site_counts *site, uint32_t op) {
    const dv_types_seen *types = site->types;
    if (saw_foreign(types)) return ARRAYS;
    if (saw(types, DV_KEY_LONG, 0)) return LONG_INTS;
    if (is_changing(site)) return CHANGING;
    const bool lacks = dv_profile_quickens(op) && 2 * site->hits < site->executions;
    if (lacks && site->types) return NO_DERIVATIVE;
    return saw(types, DV_KEY_TYPE, DV_T_STR) ? TEXT : DV_REFUSED_BOXED;
}

static bool has_op(const dv_code *code, uint32_t from, uint32_t to, uint32_t first, uint32_t last) {
    for (uint32_t pc = from; pc < to;) {
        const uint32_t op = code->words[pc] & 0xFF, words = dv_op_infos[op].operand_count;
        if (op >= first && op <= last) return true;
        pc += words > 1 ? words : 1;
    }
    return false;
}

static bool is_walked(const dv_types_seen *types) {
    static const uint8_t walked[] = {
        DV_T_LIST,      DV_T_TUPLE, DV_T_ARRAY,    DV_T_BYTES,         DV_T_BYTEARRAY,
        DV_T_ENUMERATE, DV_T_ZIP,   DV_T_REVERSED, DV_T_DICT_ITERATOR, DV_T_SET_ITERATOR};
    for (size_t i = 0; i < sizeof walked; i++)
        if (saw(types, DV_KEY_TYPE, walked[i])) return true;
    return false;
}

/* The counts of the instruction to blame; NULL: there is none, or it is but a part of what an
 * extension's instruction does. */
static const dv_site_counts *blamed_site(const dv_vm *vm, const dv_loop_counts *loop) {
    const dv_function_counts *f = dv_profile_of(vm)->functions;
    while (f && f->code != loop->in) f = f->next;
    const dv_site_counts *site = f ? &f->sites[loop->pc] : NULL;
    return site && !(site->foreign && 2 * site->inside > site->executions) ? site : NULL;
}

/* An index into explanations: why there was too little that could be typed.  The loop is one of
 * this code. */
static int cause_of(const dv_vm *vm, const dv_code *code, const dv_loop_counts *loop) {
    const dv_site_counts *site = blamed_site(vm, loop);
    if (!site) return ARRAYS;
    const uint32_t op = loop->in->words[loop->pc] & 0xFF;
    const bool whole = is_of_function(code, loop->back);
    const uint32_t head = whole ? 0 : code->words[loop->back] >> 8;
    const uint32_t end = whole ? code->word_count : loop->back;
    switch (dv_op_infos[op].effect) {
    case DV_EFFECT_CALL:
    case DV_EFFECT_CALL_METHOD: return saw_foreign(site->types) ? ARRAYS : of_call(site->types);
    default: break;
    }
    switch (op) {
    case DV_OP_STORE_GLOBAL: return loop->in->flags & DV_CODE_MODULE ? MODULE : STORED_GLOBAL;
    case DV_OP_MAKE_CELL:
    case DV_OP_STORE_CELL:
        if (!has_op(code, head, end, DV_OP_MAKE_CLOSURE, DV_OP_MAKE_CLOSURE)) return STORED_CELL;
        return MADE_FUNCTION;
    case DV_OP_MAKE_FUNCTION:
    case DV_OP_MAKE_CLOSURE:
    case DV_OP_MAKE_CLOSURE_BY_VALUE: return MADE_FUNCTION;
    case DV_OP_IMPORT_NAME:
    case DV_OP_IMPORT_AS:
    case DV_OP_IMPORT_MODULE:
    case DV_OP_IMPORT_FROM: return IMPORTED;
    case DV_OP_BUILD_TUPLE:
    case DV_OP_BUILD_KEY:
    case DV_OP_BUILD_SLICE:
    case DV_OP_BUILD_LIST:
    case DV_OP_BUILD_DICT:
    case DV_OP_BUILD_SET:
    case DV_OP_SET_ADD:
    case DV_OP_SET_UPDATE:
    case DV_OP_DICT_ADD:
    case DV_OP_LIST_APPEND:
    case DV_OP_LIST_EXTEND: return MADE;
    case DV_OP_BUILD_STRING:
    case DV_OP_FORMAT_VALUE: return TEXT;
    case DV_OP_BEFORE_WITH: return WITH;
    case DV_OP_CALL_EX: return CALL_DL;
    case DV_OP_FOR_ITER:
        if (is_walked(site->types)) return ITEMS;
        if (saw(site->types, DV_KEY_TYPE, DV_T_STR)) return TEXT;
        /* A range would be walked, but for what a comprehension keeps below it. */
        if (!saw(site->types, DV_KEY_TYPE, DV_T_RANGE_ITERATOR)) return ITERATOR;
        return has_op(code, head, end, DV_OP_SET_ADD, DV_OP_SET_ADD) ? MADE : DV_REFUSED_BOXED;
    case DV_OP_STORE_ATTR:
        if (saw(site->types, DV_KEY_TYPE, DV_T_CLASS)) return CLASS_CHANGED;
        break;
    case DV_OP_LOAD_SUBSCR:
    case DV_OP_STORE_SUBSCR: {
        const int cause = of_operands(site, op);
        return cause == DV_REFUSED_BOXED ? ITEMS : cause;
    }
    default: break;
    }
    return of_operands(site, op);
}

/* Was the region mostly left where exceptions were raised? */
static bool is_left_by_raising(const dv_loop_counts *loop) {
    uint64_t raised = loop->raised;
    for (int i = 0; i < DV_PROFILE_EXITS && loop->left[i].exits; i++)
        if (loop->left[i].failed &&
            (loop->left[i].in->words[loop->left[i].pc] & 0xFF) == DV_OP_RAISE)
            raised += loop->left[i].exits;
    return 2 * raised > loop->exits;
}

static const explanation *explanation_of(const dv_vm *vm, const dv_row *row) {
    const dv_loop_counts *loop = loop_of(row);
    if (loop->region == DV_NO_PC) {
        const bool given_up = loop->why == DV_REFUSED_SHORT || loop->why == DV_REFUSED_GUARDS;
        if (given_up && is_left_by_raising(loop)) return &explanations[RAISES];
        const dv_code *code = row->function->code;
        const bool of_module = loop->why == DV_REFUSED_CHANGED && code->flags & DV_CODE_MODULE;
        if (of_module) return &explanations[MODULE];
        const bool blames = loop->why == DV_REFUSED_BOXED && loop->in;
        return &explanations[blames ? cause_of(vm, code, loop) : (int)loop->why];
    }
    return is_left_often(loop) ? &explanations[LEFT_OFTEN] : NULL;
}

/* How often it went round outside of a region. */
static uint64_t rounds(const dv_row *row) { return dv_row_site(row)->executions; }

static uint64_t weigh_without(const dv_row *row) {
    const dv_loop_counts *loop = loop_of(row);
    return loop && is_explained(loop) ? rounds(row) : 0;
}

static uint64_t weigh_with(const dv_row *row) {
    const dv_loop_counts *loop = loop_of(row);
    return loop && !is_explained(loop) ? 1 : 0; /* in the order of the program */
}

static uint32_t line_at(const dv_code *code, uint32_t pc) {
    const dv_position *position = dv_code_position(code, pc);
    return position ? position->line : 0;
}

/* Of the loop's head. */
static uint32_t line_of_loop(const dv_code *code, uint32_t back) {
    if (is_of_function(code, back)) return code->first_line;
    return line_at(code, code->words[back] >> 8);
}

/* ---- Text ---- */

static void put_count(dv_line *line, uint64_t count, const char *noun) {
    dv_line_put(line, "%llu %s%s", (unsigned long long)count, noun, count == 1 ? "" : "s");
}

static void put_instruction(dv_vm *vm, dv_line *line, const dv_code *in, uint32_t pc,
                            const dv_code *loop) {
    dv_words_instruction(vm, line, in, pc);
    dv_line_put(line, ", line %u", line_at(in, pc));
    if (in == loop) return;
    dv_line_put(line, " of ");
    dv_line_text(line, in->qualname.data, in->qualname.size);
}

static void list_region(const dv_page *page, const dv_row *row) {
    const dv_loop_counts *loop = loop_of(row);
    dv_line line = {0};
    dv_line_put(&line, "    ");
    dv_line_colour(&line, page, DV_COLOUR_REGION);
    if (loop->region == loop->back) {
        dv_line_put(&line, "region: entered ");
        put_count(&line, loop->entries, "time");
        dv_line_put(&line, ", left %llu by guards", (unsigned long long)loop->guards);
        if (loop->removed) dv_line_put(&line, ", %u objects removed", loop->removed);
    } else {
        const bool all = is_of_function(row->function->code, loop->region);
        dv_line_put(&line, "in the region of the %s in line %u", all ? "function" : "loop",
                    line_of_loop(row->function->code, loop->region));
    }
    if (loop->lost) {
        dv_line_put(&line, "; ");
        put_count(&line, loop->lost, "region");
        dv_line_put(&line, " given up before");
    }
    dv_page_line(page, &line);
}

static void list_lack(const dv_page *page, const dv_row *row) {
    const dv_loop_counts *loop = loop_of(row);
    dv_line line = {0};
    dv_line_put(&line, "    ");
    dv_line_colour(&line, page, DV_COLOUR_SLOW);
    dv_line_put(&line, "no region: ");
    put_count(&line, rounds(row), is_of_function(row->function->code, row->pc) ? "call" : "round");
    dv_line_put(&line, " without, tried ");
    put_count(&line, loop->refused + loop->lost, "time");
    dv_page_line(page, &line);
}

static void list_blamed(dv_vm *vm, const dv_page *page, const dv_row *row) {
    const dv_loop_counts *loop = loop_of(row);
    const dv_code *code = row->function->code;
    dv_line line = {0};
    if (blamed_site(vm, loop)) {
        dv_line_put(&line, "    such: ");
        put_instruction(vm, &line, loop->in, loop->pc, code);
        dv_page_line(page, &line);
    }
    uint32_t shown = 0;
    for (int i = 0; i < DV_PROFILE_EXITS && loop->left[i].exits; i++) {
        if (!loop->left[i].failed || shown++ >= MOST_FAILED) continue;
        dv_line_put(&line, "    left: ");
        put_count(&line, loop->left[i].exits, "time");
        dv_line_put(&line, " at ");
        put_instruction(vm, &line, loop->left[i].in, loop->left[i].pc, code);
        dv_page_line(page, &line);
    }
}

static void list_loop(dv_vm *vm, const dv_page *page, const dv_row *row) {
    const explanation *why = explanation_of(vm, row);
    const dv_code *code = row->function->code;
    dv_line line = {0};
    dv_page_text(page, "\n");
    dv_rows_put_source(&line, page, code, line_of_loop(code, row->pc));
    dv_page_line(page, &line);
    if (loop_of(row)->region == DV_NO_PC)
        list_lack(page, row);
    else
        list_region(page, row);
    if (!why) return;
    list_blamed(vm, page, row);
    dv_line_put(&line, "    why:  %s", why->sentence);
    dv_page_line(page, &line);
    dv_line_put(&line, "    do:   ");
    dv_line_colour(&line, page, DV_COLOUR_FAST);
    dv_line_put(&line, "%s", why->advice);
    dv_page_line(page, &line);
}

/* As many rows as the page has room for; says how many more there are. */
static void list_rows(dv_vm *vm, const dv_page *page, const dv_rows *rows) {
    for (size_t i = 0; i < rows->count && i < page->top; i++) list_loop(vm, page, &rows->rows[i]);
    if (rows->count <= page->top) return;
    dv_line line = {0};
    dv_line_put(&line, "\nand %zu more (--top=N shows N)", rows->count - page->top);
    dv_page_line(page, &line);
}

/* Both kinds; false: nothing is to be freed. */
static bool collect(dv_vm *vm, const dv_page *page, dv_rows *without, dv_rows *with) {
    if (!dv_rows_collect(vm, without, page, weigh_without)) return false;
    if (dv_rows_collect(vm, with, page, weigh_with)) return true;
    dv_rows_free(vm, without);
    return false;
}

static size_t functions_in(const dv_rows *rows) {
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++)
        count += is_of_function(rows->rows[i].function->code, rows->rows[i].pc);
    return count;
}

bool dv_loops_list(dv_vm *vm, const dv_page *page) {
    dv_rows without, with;
    if (!collect(vm, page, &without, &with)) return false;
    size_t left_often = 0;
    for (size_t i = 0; i < without.count; i++)
        left_often += loop_of(&without.rows[i])->region != DV_NO_PC;
    if (without.count + with.count) {
        dv_line line = {0};
        const size_t functions = functions_in(&without) + functions_in(&with);
        dv_line_put(&line, "\n");
        put_count(&line, without.count + with.count - functions, "hot loop");
        if (functions) {
            dv_line_put(&line, " and ");
            put_count(&line, functions, "function");
        }
        dv_line_put(&line, ": %zu with a region", with.count + left_often);
        if (left_often) dv_line_put(&line, " (%zu left often)", left_often);
        dv_line_put(&line, ", %zu without", without.count - left_often);
        dv_page_line(page, &line);
    }
    list_rows(vm, page, &without);
    list_rows(vm, page, &with);
    dv_rows_free(vm, &without);
    dv_rows_free(vm, &with);
    return true;
}

/* ---- JSON ---- */

static void json_instruction(dv_json *json, const dv_code *in, uint32_t pc) {
    dv_rows_json_place(json, in, line_at(in, pc));
    dv_json_number(json, "pc", pc);
    dv_json_string(json, "instruction", dv_op_name(in->words[pc] & 0xFF));
}

/* Of those of guards the first ones; or all. */
static void json_exits(dv_json *json, const dv_loop_counts *loop, const char *key, bool all) {
    uint32_t shown = 0;
    dv_json_begin(json, key, '[');
    for (int i = 0; i < DV_PROFILE_EXITS && loop->left[i].exits; i++) {
        if (!all && (!loop->left[i].failed || shown++ >= MOST_FAILED)) continue;
        dv_json_begin(json, NULL, '{');
        json_instruction(json, loop->left[i].in, loop->left[i].pc);
        dv_json_number(json, "exits", loop->left[i].exits);
        if (all) dv_json_bool(json, "failed", loop->left[i].failed);
        dv_json_end(json, '}');
    }
    dv_json_end(json, ']');
}

static void json_loop(dv_vm *vm, dv_json *json, const dv_row *row) {
    const dv_loop_counts *loop = loop_of(row);
    const explanation *why = explanation_of(vm, row);
    const dv_code *code = row->function->code;
    dv_json_begin(json, NULL, '{');
    dv_rows_json_place(json, code, line_of_loop(code, row->pc));
    dv_json_number(json, "pc", row->pc);
    if (loop->region == DV_NO_PC)
        dv_json_null(json, "region");
    else
        dv_json_number(json, "region", loop->region);
    dv_json_number(json, "rounds", rounds(row));
    dv_json_number(json, "refused", loop->refused);
    dv_json_number(json, "lost", loop->lost);
    dv_json_number(json, "entries", loop->entries);
    dv_json_number(json, "exits", loop->exits);
    dv_json_number(json, "guards", loop->guards);
    dv_json_number(json, "removed", loop->removed);
    json_exits(json, loop, "failed", false);
    json_exits(json, loop, "left", true);
    if (why) {
        dv_json_string(json, "reason", why->name);
        dv_json_string(json, "sentence", why->sentence);
        dv_json_string(json, "advice", why->advice);
    } else {
        dv_json_null(json, "reason");
    }
    if (blamed_site(vm, loop)) {
        dv_json_begin(json, "at", '{');
        json_instruction(json, loop->in, loop->pc);
        dv_json_end(json, '}');
    }
    dv_json_end(json, '}');
}

bool dv_loops_json(dv_vm *vm, dv_json *json) {
    dv_rows without, with;
    if (!collect(vm, json->page, &without, &with)) return false;
    dv_json_begin(json, "loops", '[');
    for (size_t i = 0; i < without.count; i++) json_loop(vm, json, &without.rows[i]);
    for (size_t i = 0; i < with.count; i++) json_loop(vm, json, &with.rows[i]);
    dv_json_end(json, ']');
    dv_rows_free(vm, &without);
    dv_rows_free(vm, &with);
    return true;
}
