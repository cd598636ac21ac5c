/* heapq.c: the module heapq: binary heaps in lists.
 *
 * Invariants
 *  1. Items are compared in CPython's order, which is visible when __lt__ is a dl method.
 *  2. A comparison may run dl code that changes the list: its length is checked and its items are
 *     read again after each. */
#include "modules/data/heapq.h"

#include "core/upcall.h"
#include "core/work.h"
#include "modules/modules.h"
#include "types/sequence/list.h"

#define CACHE_FRIENDLY 2500 /* items; a longer heap is made row by row */

/* a < b, of items that a list may lose meanwhile. */
static int less(dv_vm *vm, dv_value a, dv_value b) {
    if (DV_LIKELY(dv_are_ints(a, b))) return dv_as_int(a) < dv_as_int(b);
    if (dv_is_float(a) && dv_is_float(b)) return dv_as_float(a) < dv_as_float(b);
    dv_retain(a);
    dv_retain(b);
    int result = dv_less(vm, a, b);
    dv_release(vm, a);
    dv_release(vm, b);
    return result;
}

/* Must a stand above b? */
static int above(dv_vm *vm, bool max, dv_value a, dv_value b) {
    return max ? less(vm, b, a) : less(vm, a, b);
}

static bool raise_index(dv_vm *vm) {
    dv_raise(vm, DV_E_INDEX_ERROR, "index out of range");
    return false;
}

static bool still(dv_vm *vm, const dv_list *heap, int64_t count) {
    if (heap->count == count) return true;
    dv_raise(vm, DV_E_RUNTIME_ERROR, "list changed size during iteration");
    return false;
}

static void swap(dv_list *heap, int64_t i, int64_t k) {
    dv_value v = heap->items[i];
    heap->items[i] = heap->items[k];
    heap->items[k] = v;
}

/* The item at `position` rises until its parent stands above it. */
static bool rise(dv_vm *vm, dv_list *heap, bool max, int64_t start, int64_t position) {
    int64_t count = heap->count;
    if (position >= count) return raise_index(vm);
    while (position > start) {
        int64_t parent = (position - 1) >> 1;
        int order = above(vm, max, heap->items[position], heap->items[parent]);
        if (order < 0 || !still(vm, heap, count)) return false;
        if (order == 0) break;
        swap(heap, position, parent);
        position = parent;
    }
    return true;
}

/* The item at `start` sinks to a leaf, and rises from there: most items belong near the leaves. */
static bool sink(dv_vm *vm, dv_list *heap, bool max, int64_t start) {
    int64_t count = heap->count, position = start, limit = count >> 1;
    if (position >= count) return raise_index(vm);
    if (!dv_work(vm, 4)) return false;
    while (position < limit) {
        int64_t child = 2 * position + 1;
        if (child + 1 < count) {
            dv_value *items = heap->items;
            int order = max ? less(vm, items[child + 1], items[child])
                            : less(vm, items[child], items[child + 1]);
            if (order < 0) return false;
            child += order ^ 1;
            if (!still(vm, heap, count)) return false;
        }
        swap(heap, child, position);
        position = child;
    }
    return rise(vm, heap, max, start, position);
}

/* Item i, and its ancestors as long as they are the last to be completed by it. */
static bool sink_with_ancestors(dv_vm *vm, dv_list *heap, bool max, int64_t i) {
    for (;; i >>= 1) {
        if (!sink(vm, heap, max, i)) return false;
        if (!(i & 1)) return true;
    }
}

/* A parent right after its children, while they are in the cache. */
static bool heapify_by_rows(dv_vm *vm, dv_list *heap, bool max) {
    int64_t middle = heap->count >> 1;
    int64_t leftmost = ((int64_t)1 << (63 - __builtin_clzll((uint64_t)middle + 1))) - 1;
    for (int64_t i = leftmost - 1; i >= middle >> 1; i--)
        if (!sink_with_ancestors(vm, heap, max, i)) return false;
    for (int64_t i = middle - 1; i >= leftmost; i--)
        if (!sink_with_ancestors(vm, heap, max, i)) return false;
    return true;
}

bool dv_heap_make(dv_vm *vm, dv_value list, bool max) {
    dv_list *heap = dv_as_list(list);
    if (heap->count > CACHE_FRIENDLY) return heapify_by_rows(vm, heap, max);
    for (int64_t i = (heap->count >> 1) - 1; i >= 0; i--)
        if (!sink(vm, heap, max, i)) return false;
    return true;
}

dv_value dv_heap_pop(dv_vm *vm, dv_value list, bool max) {
    dv_list *heap = dv_as_list(list);
    if (heap->count == 0) return raise_index(vm), DV_EMPTY;
    dv_value last = heap->items[--heap->count];
    dv_list_trim(vm, heap);
    if (heap->count == 0) return last;
    dv_value top = heap->items[0];
    heap->items[0] = last;
    if (sink(vm, heap, max, 0)) return top;
    dv_release(vm, top);
    return DV_EMPTY;
}

dv_value dv_heap_replace(dv_vm *vm, dv_value list, dv_value item, bool max) {
    dv_list *heap = dv_as_list(list);
    if (heap->count == 0) return raise_index(vm), DV_EMPTY;
    dv_value top = heap->items[0];
    heap->items[0] = dv_retain(item);
    if (sink(vm, heap, max, 0)) return top;
    dv_release(vm, top);
    return DV_EMPTY;
}

/* ---- The module -------------------------------------------------------------------------------*/

static bool check_list(dv_vm *vm, const char *function, uint32_t count, dv_value v) {
    if (dv_is_list(v)) return true;
    if (count == 1)
        dv_raise(vm, DV_E_TYPE_ERROR, "%s() argument must be list, not %T", function, v);
    else
        dv_raise(vm, DV_E_TYPE_ERROR, "%s() argument 1 must be list, not %T", function, v);
    return false;
}

static dv_value heappush(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (!check_list(vm, "heappush", count, args[0]) || !dv_list_append(vm, args[0], args[1]))
        return DV_EMPTY;
    dv_list *heap = dv_as_list(args[0]);
    return rise(vm, heap, false, 0, heap->count - 1) ? DV_NONE : DV_EMPTY;
}

static dv_value heappop(dv_vm *vm, const dv_value *args, uint32_t count) {
    return check_list(vm, "heappop", count, args[0]) ? dv_heap_pop(vm, args[0], false) : DV_EMPTY;
}

static dv_value heappop_max(dv_vm *vm, const dv_value *args, uint32_t count) {
    return check_list(vm, "_heappop_max", count, args[0]) ? dv_heap_pop(vm, args[0], true)
                                                          : DV_EMPTY;
}

static dv_value heapreplace(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (!check_list(vm, "heapreplace", count, args[0])) return DV_EMPTY;
    return dv_heap_replace(vm, args[0], args[1], false);
}

static dv_value heapreplace_max(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (!check_list(vm, "_heapreplace_max", count, args[0])) return DV_EMPTY;
    return dv_heap_replace(vm, args[0], args[1], true);
}

static dv_value heappushpop(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (!check_list(vm, "heappushpop", count, args[0])) return DV_EMPTY;
    dv_list *heap = dv_as_list(args[0]);
    if (heap->count == 0) return dv_retain(args[1]);
    int order = less(vm, heap->items[0], args[1]);
    if (order <= 0) return order < 0 ? DV_EMPTY : dv_retain(args[1]);
    return dv_heap_replace(vm, args[0], args[1], false);
}

static dv_value heapify(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (!check_list(vm, "heapify", count, args[0])) return DV_EMPTY;
    return dv_heap_make(vm, args[0], false) ? DV_NONE : DV_EMPTY;
}

static dv_value heapify_max(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (!check_list(vm, "_heapify_max", count, args[0])) return DV_EMPTY;
    return dv_heap_make(vm, args[0], true) ? DV_NONE : DV_EMPTY;
}

static const dv_cfunction_def functions[] = {
    {.name = "heappush", .entry = heappush, .min = 2, .max = 2},
    {.name = "heappop", .entry = heappop, .min = 1, .max = 1},
    {.name = "heapreplace", .entry = heapreplace, .min = 2, .max = 2},
    {.name = "heappushpop", .entry = heappushpop, .min = 2, .max = 2},
    {.name = "heapify", .entry = heapify, .min = 1, .max = 1},
    {.name = "_heappop_max", .entry = heappop_max, .min = 1, .max = 1},
    {.name = "_heapreplace_max", .entry = heapreplace_max, .min = 2, .max = 2},
    {.name = "_heapify_max", .entry = heapify_max, .min = 1, .max = 1},
    {.name = NULL}};

static const char *const all_names[] = {"heappush",    "heappop",     "heapify",
                                        "heapreplace", "merge",       "nlargest",
                                        "nsmallest",   "heappushpop", NULL};

bool dv_heapq_fill(dv_vm *vm, dv_module *module) {
    return dv_module_add_functions_of(vm, module, "_heapq", functions) &&
           dv_module_add_functions(vm, module, dv_heapq_select_functions) &&
           dv_module_add(vm, module, "__all__", dv_names(vm, all_names));
}
