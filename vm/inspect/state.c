/* state.c: what sites have become (state.h). */
#include "inspect/state.h"

#include <stddef.h>

#include "inspect/words.h"
#include "quicken/polymorphic.h"
#include "quicken/site.h"
#include "run/plan.h"
#include "types/class/class.h"
#include "types/mapping/dict.h"
#include "types/file/module.h"

/* ---- Facts ---- */

enum { MOST_FACTS = sizeof((dv_site_state *)0)->facts / sizeof(dv_fact) };

/* The next one; the last place is for those that are too many. */
static dv_fact *add(dv_site_state *state, dv_fact_kind kind, uint32_t entry) {
    dv_fact *fact = &state->facts[state->fact_count];
    if (state->fact_count + 1 < MOST_FACTS) state->fact_count++;
    *fact = (dv_fact){.kind = kind, .entry = entry};
    return fact;
}

static void add_number(dv_site_state *state, dv_fact_kind kind, uint32_t entry, uint32_t number) {
    add(state, kind, entry)->number = number;
}

static void add_text(dv_site_state *state, dv_fact_kind kind, uint32_t entry, const char *utf8,
                     size_t size) {
    dv_fact *fact = add(state, kind, entry);
    fact->size = (uint32_t)(size < sizeof fact->text ? size : sizeof fact->text);
    memcpy(fact->text, utf8, fact->size);
}

static void add_value(dv_vm *vm, dv_site_state *state, dv_fact_kind kind, uint32_t entry,
                      dv_value name) {
    dv_line line = {0};
    dv_words_name(vm, &line, name);
    add_text(state, kind, entry, line.text, line.size);
}

/* ---- Caches ---- */

/* NULL: numbers are not used again. */
static dv_shape *shape_of(dv_vm *vm, uint32_t number) {
    return number < DV_T_COUNT ? NULL : dv_shape_at(vm, number);
}

static void add_shape(dv_vm *vm, dv_site_state *state, uint32_t entry, uint32_t number) {
    const dv_shape *shape = shape_of(vm, number);
    dv_line line = {0};
    if (shape)
        dv_words_name(vm, &line, shape->class_->name);
    else
        dv_words_shape(vm, &line, number);
    add_text(state, DV_FACT_SHAPE, entry, line.text, line.size);
    if (shape) add_number(state, DV_FACT_ATTRIBUTES, entry, shape->count);
}

/* The class, of those that a shape's class inherits from, that owns the cell. */
static void add_owner(dv_vm *vm, dv_site_state *state, uint32_t entry, uint32_t number,
                      const dv_global_cell *wanted, dv_value name) {
    const dv_shape *shape = shape_of(vm, number);
    const dv_class *class_ = shape                 ? shape->class_
                             : number < DV_T_COUNT ? vm->classes[number]
                                                   : NULL;
    for (uint32_t i = 0; class_ && i < class_->mro_count; i++) {
        if (dv_namespace_find(&class_->mro[i]->attributes, name) != wanted) continue;
        add_value(vm, state, DV_FACT_CLASS, entry, class_->mro[i]->name);
        return;
    }
}

static void add_entries(dv_vm *vm, dv_site_state *state, const dv_poly *poly, bool stores,
                        dv_value name) {
    for (uint32_t i = 0; i < DV_POLY_ENTRIES && poly->entries[i].shape; i++) {
        const dv_poly_entry *entry = &poly->entries[i];
        add_shape(vm, state, i, entry->shape);
        if (entry->cell)
            add_owner(vm, state, i, entry->shape, entry->cell, name);
        else
            add_number(state, DV_FACT_SLOT, i, entry->slot);
        if (stores && !entry->cell && entry->other != entry->shape && shape_of(vm, entry->other))
            add_number(state, DV_FACT_ADDS, i, shape_of(vm, entry->other)->count);
    }
}

static void add_thread(const dv_vm *vm, dv_site_state *state, const void *wanted) {
    static const char gone[] = "(a function that is gone)";
    const dv_thread *thread = vm->codes;
    while (thread && (const void *)thread != wanted) thread = thread->next;
    if (thread)
        add_text(state, DV_FACT_CALLEE, 0, thread->code->qualname.data,
                 thread->code->qualname.size);
    else
        add_text(state, DV_FACT_CALLEE, 0, gone, sizeof gone - 1);
}

/* Of a plan that some derivative follows. */
static void add_plan(const dv_vm *vm, dv_site_state *state, const dv_plan *plan) {
    const dv_thread *thread = vm->codes;
    while (thread && thread->serial != plan->serial) thread = thread->next;
    add_thread(vm, state, thread);
}

/* The name of a module that is in the dict; false: it is not. */
static bool add_module_of(dv_vm *vm, dv_site_state *state, dv_value modules, int64_t serial) {
    int64_t at = 0;
    dv_value key, module;
    while (dv_is_dict(modules) && dv_dict_walk(modules, &at, &key, &module)) {
        if (!dv_is_module(module) || (int64_t)dv_as_module(module)->serial != serial) continue;
        add_value(vm, state, DV_FACT_MODULE, 0, dv_as_module(module)->name);
        return true;
    }
    return false;
}

static void add_module(dv_vm *vm, dv_site_state *state, int64_t serial) {
    if (!add_module_of(vm, state, vm->modules, serial))
        add_module_of(vm, state, vm->helpers, serial);
}

static void add_c_function(dv_site_state *state, const dv_cfunction_def *def) {
    add_text(state, DV_FACT_CALLEE, 0, def->name, strlen(def->name));
}

/* What a half of a cell of the cache holds; `name`: of the attribute; `shape`: what it holds first.
 */
static void add_cached(dv_vm *vm, dv_site_state *state, dv_cached what, const dv_cell *cell,
                       uint32_t shape, bool stores, dv_value name) {
    switch (what) {
    case DV_CACHED_SHAPE: add_shape(vm, state, 0, shape); break;
    case DV_CACHED_OFFSET: {
        const uint32_t first = (uint32_t)offsetof(dv_instance, slots);
        add_number(state, DV_FACT_SLOT, 0, ((uint32_t)cell->s.b - first) / sizeof(dv_value));
        break;
    }
    case DV_CACHED_SLOT: add_number(state, DV_FACT_SLOT, 0, (uint32_t)cell->s.b); break;
    case DV_CACHED_THEN:
        if (shape_of(vm, (uint32_t)cell->s.b))
            add_number(state, DV_FACT_ADDS, 0, shape_of(vm, (uint32_t)cell->s.b)->count);
        break;
    case DV_CACHED_CELL: add_owner(vm, state, 0, shape, cell->p, name); break;
    case DV_CACHED_ENTRIES: add_entries(vm, state, cell->p, stores, name); break;
    case DV_CACHED_SERIAL: add_module(vm, state, cell->i); break;
    case DV_CACHED_THREAD: add_thread(vm, state, cell->p); break;
    case DV_CACHED_PLAN: add_plan(vm, state, cell->p); break;
    case DV_CACHED_FUNCTION: add_c_function(state, cell->p); break;
    case DV_CACHED_CLASS: /* never freed */
        add_value(vm, state, DV_FACT_CALLEE, 0, dv_as_class(cell->v)->name);
        break;
    case DV_CACHED_NOTHING:
    case DV_CACHED_ROOT:
    case DV_CACHED_KIND:
    case DV_CACHED_PLACE:
    case DV_CACHED_BUILTIN:
    case DV_CACHED_LOCAL:
    case DV_CACHED_REGION: break;
    }
}

/* What the cache of a derivative holds.  The class that has the attribute is known by a shape. */
static void add_cache(dv_vm *vm, dv_site_state *state, uint32_t op, const dv_cell *cache,
                      dv_value name) {
    const dv_op_info *info = &dv_op_infos[op];
    const bool stores = info->outputs == 0;
    const bool by_shape = info->cached[0] == DV_CACHED_SHAPE || info->cached[0] == DV_CACHED_ROOT;
    for (uint32_t i = 0; i < sizeof info->cached; i++) {
        const dv_cached what = (dv_cached)info->cached[i];
        if (what == DV_CACHED_CELL && !by_shape) continue;
        add_cached(vm, state, what, cache + i / 2, (uint32_t)cache->s.a, stores, name);
    }
}

/* ---- Looking ---- */

const char *dv_state_reason(unsigned reason) {
    static const char *const reasons[] = {
        [DV_REASON_NONE] = NULL,
        [DV_REASON_TYPES] = "no derivative for these types",
        [DV_REASON_CALLEE] = "no derivative for this callee",
        [DV_REASON_NAME] = "the name is not bound",
        [DV_REASON_CLASS] = "a class is changed",
        [DV_REASON_MEGAMORPHIC] = "more than four layouts: stays generic",
        [DV_REASON_COVERED] = "done by the instruction in front",
    };
    return reason < sizeof reasons / sizeof *reasons ? reasons[reason] : NULL;
}

static void look_at_foreign(dv_vm *vm, const dv_cell *cell, dv_site_state *state) {
    dv_foreign_form form = {.name = "?"};
    (void)vm->hooks.plugin.form(vm, cell, &form);
    state->form = form.name;
    state->tier = form.tier;
    state->kind = form.load ? DV_KIND_FUSION : DV_KIND_DERIVATIVE;
}

/* What the site of a derivative has seen (dv_site says which of its fields that is). */
static void look_at_evidence(dv_vm *vm, const dv_site *site, const dv_op_info *info,
                             dv_site_state *state) {
    for (int i = 0; i < 3; i++) {
        if (info->types[i] != DV_RESULT_INSTANCE) continue;
        const uint32_t number = site->met & DV_MET_SHAPE;
        if (number) add_shape(vm, state, 0, number);
        return;
    }
    if (info->saw == DV_SAW_ENUMERATE || info->saw == DV_SAW_ZIP || info->saw == DV_SAW_ITEMS ||
        info->saw == DV_SAW_ROWS)
        state->seen = site->items.first, state->seen_with = site->items.second;
    else if (info->saw != DV_SAW_LONG_ROWS && info->saw != DV_SAW_LONG_ZIP)
        state->seen = site->seen;
}

static void look_at_derivative(dv_vm *vm, const dv_thread *thread, uint32_t pc, uint32_t op,
                               dv_site_state *state) {
    const dv_code *code = thread->code;
    const dv_op_info *info = &dv_op_infos[code->words[pc] & 0xFF];
    const dv_cell *cell = thread->cells + thread->cell_at[pc];
    uint32_t operand = code->words[pc] >> 8;
    bool named = info->operand_count && info->operands[0] == DV_OPERAND_NAME;
    if (info->family == DV_OP_LOAD_GLOBAL || info->family == DV_OP_LOAD_GLOBAL_CALLEE ||
        info->family == DV_OP_STORE_GLOBAL)
        add_text(state, DV_FACT_GLOBAL, 0, code->names[operand].data, code->names[operand].size);
    add_cache(vm, state, op, cell + info->cache_cell, named ? thread->names[operand] : DV_EMPTY);
    look_at_evidence(vm, &cell[1].site, &dv_op_infos[op], state);
}

void dv_state_look(dv_vm *vm, const dv_thread *thread, uint32_t pc, dv_site_state *state) {
    *state = (dv_site_state){.kind = DV_KIND_GENERIC};
    uint32_t generic = thread->code->words[pc] & 0xFF;
    const dv_cell *cell = thread->cells + thread->cell_at[pc];
    const dv_site *site = &cell[1].site;
    uint32_t op = dv_op_of(vm, cell->h);
    bool quickens = dv_op_infos[generic].adaptive != generic;
    if (vm->hooks.plugin.report) (void)vm->hooks.plugin.report(vm, cell, &state->report);
    bool counted = op < DV_OP_COUNT; /* else its site may be laid out in another way */
    if (counted && quickens && generic != DV_OP_JUMP_BACK && site->reason == DV_REASON_MEGAMORPHIC)
        state->reason = dv_state_reason(site->reason);
    if (op == generic) return;
    if (op == DV_OP_COUNT) {
        look_at_foreign(vm, cell, state);
    } else {
        state->form = dv_op_name(op);
        state->kind = dv_op_infos[op].kind;
    }
    if (op < DV_OP_COUNT && dv_op_infos[generic].family == DV_OP_JUMP_BACK) {
        /* Back edges count iterations in their site, not misses. */
        state->iterations_left = op == DV_OP_JUMP_BACK_COUNT ? site->wait : 0;
        return;
    }
    if (state->kind == DV_KIND_FUSION) return; /* the derivative behind it shows the rest */
    state->backoff = counted ? site->backoff : 0;
    if (state->kind == DV_KIND_ADAPTIVE) {
        state->reason = dv_state_reason(site->reason);
        state->waits = site->wait;
        return;
    }
    if (op < DV_OP_COUNT) look_at_derivative(vm, thread, pc, op, state);
    bool counts = site->misses < DV_SITE_MISSES && !(op < DV_OP_COUNT && dv_is_poly(op));
    if (counts) state->misses = DV_SITE_MISSES - site->misses;
}

/* ---- Text ---- */

static const char *const seen_names[] = {"int", "float", "bool",  "None",
                                         "str", "list",  "tuple", "other"};
enum { SEEN_NAMES = sizeof seen_names / sizeof *seen_names };

static void put_fact(dv_line *line, const dv_fact *fact) {
    static const char *const before[DV_FACT_KINDS] = {[DV_FACT_SHAPE] = " for ",
                                                      [DV_FACT_CLASS] = ", of class ",
                                                      [DV_FACT_CALLEE] = " calls ",
                                                      [DV_FACT_MODULE] = " of module ",
                                                      [DV_FACT_GLOBAL] = " "};
    switch (fact->kind) {
    case DV_FACT_ATTRIBUTES:
        dv_line_put(line, " with %u attribute%s", fact->number, fact->number == 1 ? "" : "s");
        break;
    case DV_FACT_SLOT: dv_line_put(line, ", slot %u", fact->number); break;
    case DV_FACT_ADDS: dv_line_put(line, ", which then has %u", fact->number); break;
    default:
        dv_line_put(line, "%s", before[fact->kind]);
        dv_line_text(line, fact->text, fact->size);
        break;
    }
}

static void put_facts(dv_line *line, const dv_site_state *state) {
    for (uint32_t i = 0; i < state->fact_count; i++) {
        const dv_fact *fact = &state->facts[i];
        if (i && fact->entry != state->facts[i - 1].entry) dv_line_put(line, ";");
        put_fact(line, fact);
    }
}

static void put_seen(dv_line *line, const char *before, uint32_t seen) {
    for (uint32_t i = 0; i < SEEN_NAMES; i++) {
        if (!(seen >> i & 1)) continue;
        dv_line_put(line, "%s%s", before, seen_names[i]);
        before = "|";
    }
}

void dv_state_text(const dv_site_state *state, const dv_page *page, dv_line *line) {
    bool slow = state->kind == DV_KIND_ADAPTIVE || state->kind == DV_KIND_GENERIC;
    if (!state->form && !state->reason) return;
    dv_line_colour(line, page, slow ? DV_COLOUR_SLOW : DV_COLOUR_FAST);
    if (state->form) dv_line_put(line, "%s", state->form);
    dv_line_colour(line, page, DV_COLOUR_PLAIN);
    if (state->tier) dv_line_put(line, " (%s)", state->tier);
    put_facts(line, state);
    put_seen(line, "  saw ", state->seen);
    put_seen(line, " with ", state->seen_with);
    if (state->reason) dv_line_put(line, "%s%s", state->form ? "  " : "", state->reason);
    if (state->waits) dv_line_put(line, "  waits %u", state->waits);
    if (state->iterations_left) dv_line_put(line, "  %u iterations left", state->iterations_left);
    if (state->misses) dv_line_put(line, "  %u of %d misses", state->misses, DV_SITE_MISSES);
    if (state->backoff) dv_line_put(line, "  back-off %u", state->backoff);
    if (state->report.unfused) dv_line_put(line, "  not fused: %s", state->report.unfused);
    const dv_notes *notes = &state->report.notes;
    for (int i = 0; i < DV_MOST_NOTES && notes->all[i].why; i++)
        dv_line_put(line, "; %s (%llu)", notes->all[i].why,
                    (unsigned long long)notes->all[i].count);
}

/* ---- JSON ---- */

static void json_fact(dv_json *json, const dv_fact *fact) {
    static const char *const keys[DV_FACT_KINDS] = {"shape", "attributes", "slot",   "adds",
                                                    "class", "callee",     "module", "global"};
    bool is_number = fact->kind == DV_FACT_ATTRIBUTES || fact->kind == DV_FACT_SLOT ||
                     fact->kind == DV_FACT_ADDS;
    if (is_number)
        dv_json_number(json, keys[fact->kind], fact->number);
    else
        dv_json_text(json, keys[fact->kind], fact->text, fact->size);
}

static void json_facts(const dv_site_state *state, dv_json *json) {
    dv_json_begin(json, "cache", '[');
    for (uint32_t i = 0; i < state->fact_count; i++) {
        const dv_fact *fact = &state->facts[i];
        if (i == 0 || fact->entry != fact[-1].entry) dv_json_begin(json, NULL, '{');
        json_fact(json, fact);
        if (i + 1 == state->fact_count || fact->entry != fact[1].entry) dv_json_end(json, '}');
    }
    dv_json_end(json, ']');
}

static void json_seen(dv_json *json, const char *name, uint32_t seen) {
    dv_json_begin(json, name, '[');
    for (uint32_t i = 0; i < SEEN_NAMES; i++)
        if (seen >> i & 1) dv_json_string(json, NULL, seen_names[i]);
    dv_json_end(json, ']');
}

void dv_state_json(const dv_site_state *state, dv_json *json) {
    static const char *const kinds[] = {"generic", "adaptive", "derivative",
                                        "region",  "fusion",   "pair"};
    if (state->form)
        dv_json_string(json, "form", state->form);
    else
        dv_json_null(json, "form");
    dv_json_string(json, "kind", kinds[state->kind]);
    if (state->tier) dv_json_string(json, "tier", state->tier);
    json_facts(state, json);
    json_seen(json, "saw", state->seen);
    if (state->seen_with) json_seen(json, "saw_with", state->seen_with);
    if (state->reason) dv_json_string(json, "reason", state->reason);
    dv_json_number(json, "misses", state->misses);
    dv_json_number(json, "backoff", state->backoff);
    dv_json_number(json, "waits", state->waits);
    if (state->report.unfused) dv_json_string(json, "unfused", state->report.unfused);
    const dv_notes *notes = &state->report.notes;
    if (!notes->all[0].why) return;
    dv_json_begin(json, "reasons", '{');
    for (int i = 0; i < DV_MOST_NOTES && notes->all[i].why; i++)
        dv_json_number(json, notes->all[i].why, notes->all[i].count);
    dv_json_end(json, '}');
}
