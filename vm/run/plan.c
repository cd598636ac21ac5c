/* plan.c: making plans of calls (plan.h). */
#include "run/plan.h"

/* Where each parameter comes from, while a plan is made. */
typedef enum source_kind { NOWHERE, ARGUMENT, DEFAULT, NAMED_DEFAULT, GIVEN } source_kind;
typedef struct source {
    source_kind kind;
    int32_t from; /* as in dv_plan_step */
} source;

/* The parameter that a keyword names; -1: none of those that it may name. */
static int64_t parameter_of(const dv_thread *thread, dv_value keyword) {
    const dv_code *code = thread->code;
    uint32_t end = code->positional_count + code->keyword_only_count;
    for (uint32_t i = code->positional_only_count; i < end; i++)
        if (dv_same(thread->parameters[i], keyword)) return i;
    return -1;
}

static bool place_arguments(const dv_thread *thread, const dv_plan_call *call, source *sources) {
    const dv_tuple *names = dv_is_empty(call->keywords) ? NULL : dv_as_tuple(call->keywords);
    uint32_t named = names ? (uint32_t)names->count : 0, positional = call->count - named;
    if (call->first + positional > thread->code->positional_count) return false;
    for (uint32_t i = 0; i < call->first; i++) sources[i].kind = GIVEN;
    for (uint32_t i = 0; i < positional; i++)
        sources[call->first + i] = (source){ARGUMENT, call->base + (int32_t)i};
    for (uint32_t i = 0; i < named; i++) {
        int64_t at = parameter_of(thread, names->items[i]);
        if (at < 0 || sources[at].kind != NOWHERE) return false;
        sources[at] = (source){ARGUMENT, call->base + (int32_t)(positional + i)};
    }
    return true;
}

/* The number of the entry of a keyword-only parameter's default; -1: it has none. */
static int32_t default_entry(const dv_function *function, dv_value name) {
    if (dv_is_empty(function->keyword_defaults)) return -1;
    const dv_dict *dict = dv_as_dict(function->keyword_defaults);
    for (int64_t i = 0; i < dict->used && i < INT16_MAX; i++)
        if (dv_same(dict->entries[i].key, name)) return (int32_t)i;
    return -1;
}

/* False: a parameter would stay without a value. */
static bool place_defaults(const dv_function *function, source *sources, dv_plan *plan) {
    const dv_thread *thread = dv_function_thread(function);
    const dv_code *code = thread->code;
    uint32_t positional = code->positional_count, first = 0;
    while (first < positional && sources[first].kind != NOWHERE) first++;
    plan->missing = (uint16_t)(positional - first);
    if (plan->missing && !dv_frame_defaults(function, plan->missing)) return false;
    for (uint32_t i = first; i < positional; i++)
        if (sources[i].kind == NOWHERE) sources[i] = (source){DEFAULT, (int32_t)(i - first)};
    for (uint32_t i = positional; i < thread->argument_count; i++) {
        if (sources[i].kind != NOWHERE) continue;
        int32_t entry = default_entry(function, thread->parameters[i]);
        if (entry < 0) return false;
        sources[i] = (source){NAMED_DEFAULT, entry};
    }
    return true;
}

static bool add_step(dv_plan *plan, int32_t from, int32_t to) {
    if (plan->count == DV_PLAN_STEPS) return false;
    plan->steps[plan->count++] = (dv_plan_step){(int16_t)from, (int16_t)to};
    return true;
}

/* Does an argument that is still to move stand at the place? */
static bool is_needed(const source *sources, uint32_t count, int32_t place) {
    for (uint32_t i = 0; i < count; i++)
        if (sources[i].kind == ARGUMENT && sources[i].from == place) return true;
    return false;
}

/* The next argument whose place is free of others; `count`: there is none. */
static uint32_t next_move(const source *sources, uint32_t count) {
    uint32_t i = 0;
    while (i < count && (sources[i].kind != ARGUMENT || is_needed(sources, count, (int32_t)i))) i++;
    return i;
}

/* The moves, in an order in which nothing is lost; where arguments take each other's places, one of
 * them steps aside, behind all of them. */
static bool order_moves(source *sources, uint32_t count, dv_plan *plan) {
    const int32_t aside = (int32_t)count + 1;
    for (uint32_t i = 0; i < count; i++)
        if (sources[i].kind == ARGUMENT && sources[i].from == (int32_t)i) sources[i].kind = GIVEN;
    for (;;) {
        uint32_t i = next_move(sources, count);
        if (i < count) {
            if (!add_step(plan, sources[i].from, (int32_t)i)) return false;
            sources[i].kind = GIVEN;
            continue;
        }
        for (i = 0; i < count && sources[i].kind != ARGUMENT;) i++;
        if (i == count) return true;
        if (!add_step(plan, sources[i].from, aside)) return false;
        sources[i].from = aside;
    }
}

static bool add_steps(source *sources, uint32_t count, dv_plan *plan) {
    if (!order_moves(sources, count, plan)) return false;
    plan->moves = plan->count;
    for (uint32_t i = 0; i < count; i++)
        if (sources[i].kind == DEFAULT && !add_step(plan, sources[i].from, (int32_t)i))
            return false;
    plan->filled = plan->count;
    for (uint32_t i = 0; i < count; i++)
        if (sources[i].kind == NAMED_DEFAULT && !add_step(plan, sources[i].from, (int32_t)i))
            return false;
    return true;
}

/* The site's block, from an earlier plan or new; NULL: out of memory. */
static dv_plan *block_of(dv_vm *vm, const dv_cell *site) {
    dv_thread *thread = dv_frame_thread(vm->fp);
    for (dv_site_block *block = thread->blocks; block; block = block->next)
        if (block->site == site && block->size == sizeof(dv_plan)) return (dv_plan *)(void *)block;
    dv_plan *plan = dv_heap_alloc(&vm->heap, sizeof *plan);
    if (!plan) return NULL;
    plan->block = (dv_site_block){thread->blocks, sizeof *plan, site, NULL};
    thread->blocks = &plan->block;
    return plan;
}

const dv_plan *dv_plan_make(dv_vm *vm, const dv_cell *site, const dv_function *function,
                            const dv_plan_call *call) {
    dv_thread *thread = dv_function_thread(function);
    uint32_t count = thread->argument_count;
    source sources[DV_PLAN_PARAMETERS] = {{NOWHERE, 0}};
    if (thread->code->flags & (DV_CODE_VARARGS | DV_CODE_VARKEYWORDS)) return NULL;
    if (count > DV_PLAN_PARAMETERS || call->count > DV_PLAN_PARAMETERS) return NULL;
    if (!dv_thread_know_parameters(vm, thread)) {
        dv_error_clear(vm);
        return NULL;
    }
    dv_plan plan = {.serial = thread->serial};
    if (!place_arguments(thread, call, sources) || !place_defaults(function, sources, &plan) ||
        !add_steps(sources, count, &plan))
        return NULL;
    dv_plan *place = block_of(vm, site);
    if (!place) return NULL;
    plan.block = place->block;
    *place = plan;
    return place;
}
