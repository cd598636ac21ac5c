/* collect_end.c: finalisers of what is alive when a program ends (collect.h).
 *
 * CPython's last collection but one finds everything alive and leaves its list of objects in the
 * order in which it reached them, level by level; in that order the last one finalises them.  The
 * walk here does the same, with what matters of the order in which CPython visits an object's
 * parts.  Where gc is disabled there is no such collection, and the last one finds the objects in
 * the order in which they were made.
 *
 * What finalisers make meanwhile and keep is not finalised: in CPython it keeps all else alive.
 *
 * Invariant 1: while the walk goes on, containers that were reached have REACHED in their reference
 * counts, and those of them that are queued for the second time DELAYED. */
#include "core/vm.h"

#define REACHED 0x40000000u
#define DELAYED 0x20000000u

typedef struct walk {
    dv_object **queue; /* room for each container twice */
    size_t count, next;
} walk;

static void reach(dv_vm *vm, dv_value v, void *context) {
    walk *w = context;
    (void)vm;
    if (!dv_is_object(v)) return;
    dv_object *object = dv_as_object(v);
    if ((object->references & (DV_COLLECT_LIVE | REACHED)) != DV_COLLECT_LIVE) return;
    object->references |= REACHED;
    w->queue[w->count++] = object;
}

/* CPython keeps attributes of classes in a dict, and the cells of a function in a tuple: they are
 * one level further away. */
static bool delay(walk *w, dv_object *object) {
    bool far = object->shape == DV_T_CLASS || object->shape == DV_T_FUNCTION;
    if (!far || object->references & DELAYED) return false;
    object->references |= DELAYED;
    w->queue[w->count++] = object;
    return true;
}

/* Visits what is reachable level by level. */
static void walk_levels(dv_vm *vm, walk *w) {
    while (w->next < w->count) {
        dv_object *object = w->queue[w->next++];
        if (!delay(w, object)) dv_traverse(vm, dv_object_value(object), reach, w);
    }
}

/* Keeps those with a finaliser, each once, with a reference to it. */
static void keep_finalisable(dv_vm *vm, walk *w) {
    size_t kept = 0;
    for (size_t i = 0; i < w->count; i++) {
        dv_object *object = w->queue[i];
        if (!dv_collect_has_finaliser(vm, object)) continue;
        object->references++;
        w->queue[kept++] = object;
    }
    w->count = kept;
}

/* All containers in the order of the walk; those that it does not reach are the last ones. */
static void order(dv_vm *vm, walk *w) {
    reach(vm, vm->main, w);
    walk_levels(vm, w);
    reach(vm, vm->modules, w);
    reach(vm, vm->helpers, w);
    walk_levels(vm, w);
    dv_heap_walk all = dv_heap_walk_objects(&vm->heap);
    dv_object *object;
    while ((object = dv_heap_next_object(&all))) reach(vm, dv_object_value(object), w);
    keep_finalisable(vm, w);
}

/* Is there anything to do?  A walk takes a tenth of the time of a collection. */
static bool is_anything_finalisable(dv_vm *vm) {
    if (!vm->finalisers && !vm->collector.closes) return false;
    dv_heap_walk all = dv_heap_walk_objects(&vm->heap);
    dv_object *object;
    while ((object = dv_heap_next_object(&all)))
        if (dv_collect_has_finaliser(vm, object)) return true;
    return false;
}

void dv_collect_finalise_all(dv_vm *vm) {
    if (!is_anything_finalisable(vm)) return;
    if (!vm->collector.disabled) (void)dv_collect(vm);
    size_t count = 0;
    dv_heap_walk all = dv_heap_walk_objects(&vm->heap);
    while (dv_heap_next_object(&all)) count++;
    size_t size = 2 * count * sizeof(dv_object *);
    walk w = {.queue = dv_heap_alloc(&vm->heap, size)};
    if (!w.queue) return;
    if (dv_collect_mark(vm)) {
        order(vm, &w);
        dv_collect_unmark(vm);
    }
    if (vm->collector.disabled) dv_collect_sort(w.queue, w.count);
    for (size_t i = 0; i < w.count; i++) dv_collect_finalise(vm, w.queue[i]);
    for (size_t i = 0; i < w.count; i++) dv_release_object(vm, w.queue[i]);
    dv_heap_free(&vm->heap, w.queue, size);
    vm->finalisers = vm->collector.closes = false;
}
