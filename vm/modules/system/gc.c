/* gc.c: the module gc: the cycle collector as programs see it.
 *
 * The collector has one generation (core/collect.h), so that a generation's number is checked and
 * otherwise does not matter; what CPython says about its generations is answered with what holds of
 * all objects. */
#include "modules/modules.h"

#include "core/collect.h"
#include "core/upcall.h"
#include "types/callable/arguments.h"
#include "types/number/int.h"
#include "types/sequence/list.h"
#include "types/sequence/sequence.h"
#include "types/sequence/tuple.h"

#define GENERATIONS 3

/* ---- Collecting --------------------------------------------------------------------------------
 */

/* An int as CPython's older argument parser takes one for a C int. */
static bool threshold_argument(dv_vm *vm, dv_value v, int64_t *out) {
    bool fits = dv_is_any_int(v) ? dv_int_to_int64(v, out) : dv_size_argument(vm, v, out);
    if (fits && *out == (int32_t)*out) return true;
    if (fits)
        dv_raise(vm, DV_E_OVERFLOW_ERROR,
                 *out > 0 ? "signed integer is greater than maximum"
                          : "signed integer is less than minimum");
    else if (dv_is_any_int(v))
        dv_raise(vm, DV_E_OVERFLOW_ERROR, "Python int too large to convert to C long");
    return false;
}

static dv_value gc_collect(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"generation"};
    const dv_parameters parameters = {"collect", names, 1, 1, 0};
    dv_value out[1];
    int64_t generation = GENERATIONS - 1;
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, out)) return DV_EMPTY;
    if (!dv_is_empty(out[0]) && !dv_int_argument(vm, out[0], &generation)) return DV_EMPTY;
    if (generation < 0 || generation >= GENERATIONS)
        return dv_raise(vm, DV_E_VALUE_ERROR, "invalid generation");
    return dv_int_from_int64(vm, dv_collect(vm));
}

static dv_value gc_enable(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    vm->collector.disabled = false;
    return DV_NONE;
}

static dv_value gc_disable(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    vm->collector.disabled = true;
    return DV_NONE;
}

static dv_value gc_isenabled(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    return dv_bool(!vm->collector.disabled);
}

static dv_value ints(dv_vm *vm, const int64_t *from) {
    dv_value values[GENERATIONS];
    for (int i = 0; i < GENERATIONS; i++) values[i] = dv_int(from[i]);
    return dv_tuple_new(vm, values, GENERATIONS);
}

static dv_value gc_get_threshold(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    return ints(vm, vm->collector.threshold);
}

static dv_value gc_set_threshold(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (count == 0 || count > GENERATIONS)
        return dv_raise(vm, DV_E_TYPE_ERROR, "set_threshold() takes at %s argument%s (%d given)",
                        count ? "most 3" : "least 1", count ? "s" : "", (int)count);
    for (uint32_t i = 0; i < count; i++) {
        int64_t threshold;
        if (!threshold_argument(vm, args[i], &threshold)) return DV_EMPTY;
        vm->collector.threshold[i] = threshold;
    }
    return DV_NONE;
}

static dv_value gc_get_count(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    const int64_t none[GENERATIONS] = {0};
    return ints(vm, none);
}

/* ---- Looking at objects ------------------------------------------------------------------------
 */

static dv_value gc_is_tracked(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_bool(dv_collect_tracks(vm, args[0]));
}

/* A list that visited values are put on. */
typedef struct gathering {
    dv_value list;
    dv_value target; /* of referrers: what is looked for */
    bool failed, found;
} gathering;

static void gather(dv_vm *vm, dv_value v, void *context) {
    gathering *g = context;
    if (!dv_is_empty(v) && !g->failed) g->failed = !dv_list_append(vm, g->list, v);
}

static dv_value finish(dv_vm *vm, gathering *g) {
    if (!g->failed) return g->list;
    dv_release(vm, g->list);
    return DV_EMPTY;
}

static dv_value gc_get_referents(dv_vm *vm, const dv_value *args, uint32_t count) {
    gathering g = {.list = dv_list_new(vm, NULL, 0)};
    if (dv_is_empty(g.list)) return DV_EMPTY;
    for (uint32_t i = 0; i < count; i++) dv_traverse(vm, args[i], gather, &g);
    return finish(vm, &g);
}

static void compare(dv_vm *vm, dv_value v, void *context) {
    gathering *g = context;
    (void)vm;
    g->found |= dv_same(v, g->target);
}

static bool refers_to_one(dv_vm *vm, dv_value v, const dv_value *targets, uint32_t count) {
    gathering g = {.found = false};
    for (uint32_t i = 0; i < count && !g.found; i++) {
        g.target = targets[i];
        dv_traverse(vm, v, compare, &g);
    }
    return g.found;
}

/* All tracked containers, or those that refer to one of the targets.  The list grows while the
 * containers are walked, but its items are no containers. */
static dv_value containers(dv_vm *vm, const dv_value *targets, uint32_t count, bool all) {
    gathering g = {.list = dv_list_new(vm, NULL, 0)};
    if (dv_is_empty(g.list)) return DV_EMPTY;
    dv_heap_walk walk = dv_heap_walk_objects(&vm->heap);
    dv_object *object;
    vm->heap.walked = true;
    while (!g.failed && (object = dv_heap_next_object(&walk))) {
        dv_value v = dv_object_value(object);
        if (dv_same(v, g.list) || !dv_collect_tracks(vm, v)) continue;
        if (all || refers_to_one(vm, v, targets, count)) gather(vm, v, &g);
    }
    vm->heap.walked = false;
    return finish(vm, &g);
}

static dv_value gc_get_objects(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"generation"};
    const dv_parameters parameters = {"get_objects", names, 1, 1, 0};
    dv_value out[1];
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, out)) return DV_EMPTY;
    if (dv_is_empty(out[0]) || dv_is_none(out[0])) return containers(vm, NULL, 0, true);
    int64_t generation;
    if (!dv_optional_size_argument(vm, out[0], &generation)) return DV_EMPTY;
    if (generation == -1) return containers(vm, NULL, 0, true);
    if (generation >= GENERATIONS)
        return dv_raise(vm, DV_E_VALUE_ERROR,
                        "generation parameter must be less than the number of available "
                        "generations (3)");
    if (generation < 0)
        return dv_raise(vm, DV_E_VALUE_ERROR, "generation parameter cannot be negative");
    return containers(vm, NULL, 0, generation == GENERATIONS - 1);
}

static dv_value gc_get_referrers(dv_vm *vm, const dv_value *args, uint32_t count) {
    return containers(vm, args, count, false);
}

static const dv_cfunction_def functions[] = {
    {.name = "collect", .keyword_entry = gc_collect, .min = 0, .max = UINT32_MAX},
    {.name = "enable", .entry = gc_enable, .min = 0, .max = 0},
    {.name = "disable", .entry = gc_disable, .min = 0, .max = 0},
    {.name = "isenabled", .entry = gc_isenabled, .min = 0, .max = 0},
    {.name = "get_threshold", .entry = gc_get_threshold, .min = 0, .max = 0},
    {.name = "set_threshold", .entry = gc_set_threshold, .min = 0, .max = UINT32_MAX},
    {.name = "get_count", .entry = gc_get_count, .min = 0, .max = 0},
    {.name = "is_tracked", .entry = gc_is_tracked, .min = 1, .max = 1},
    {.name = "get_referents", .entry = gc_get_referents, .min = 0, .max = UINT32_MAX},
    {.name = "get_referrers", .entry = gc_get_referrers, .min = 0, .max = UINT32_MAX},
    {.name = "get_objects", .keyword_entry = gc_get_objects, .min = 0, .max = UINT32_MAX},
    {.name = NULL}};

bool dv_gc_fill(dv_vm *vm, dv_module *module) {
    return dv_module_add_functions(vm, module, functions) &&
           dv_module_add(vm, module, "garbage", dv_list_new(vm, NULL, 0));
}
