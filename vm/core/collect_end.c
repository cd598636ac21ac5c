/* collect_end.c: finalisers of what is alive when a program ends (collect.h).
 *
 * CPython's last collection but one finds everything alive and leaves its list of objects in the
 * order in which it reached them, level by level; in that order the last one finalises them.  The
 * walk here does the same, with what matters of the order in which CPython visits an object's
 * parts.  Where gc is disabled there is no such collection, and the last one finds the objects in
 * the order in which they were made.
 *
 * After that collection, weak references are part of the same garbage as their objects: finalisers
 * find all of them cleared, and no callback is called.
 *
 * What finalisers make meanwhile and keep is not finalised: in CPython it keeps all else alive.
 *
 * Invariants
 *  1. While the walk goes on, containers that were reached have REACHED in their reference counts,
 * and those of them that are queued for the second time DELAYED.
 *  2. Nothing holds objects whose turn has not come: one that a finaliser lets go of dies at once,
 * and is taken from the queue. */
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

/* Keeps those with a finaliser, each once. */
static void keep_finalisable(dv_vm *vm, walk *w) {
    size_t kept = 0;
    for (size_t i = 0; i < w->count; i++) {
        dv_object *object = w->queue[i];
        if (dv_collect_has_finaliser(vm, object)) w->queue[kept++] = object;
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
    if (vm->weak.live > 0) return true;
    dv_heap_walk all = dv_heap_walk_objects(&vm->heap);
    dv_object *object;
    while ((object = dv_heap_next_object(&all)))
        if (dv_collect_has_finaliser(vm, object)) return true;
    return false;
}

/* Where an object is in the queue. */
typedef struct place {
    const dv_object *object;
    size_t at;
} place;

struct dv_ending {
    dv_object **queue;
    place *places; /* a hash table by the object's address, at most half full */
    size_t mask;
};

/* The object's place, or the free one that it would get. */
static place *find_place(const struct dv_ending *ending, const dv_object *object) {
    size_t i = (size_t)((uintptr_t)object * UINT64_C(0x9E3779B97F4A7C15) >> 32);
    while (ending->places[i & ending->mask].object &&
           ending->places[i & ending->mask].object != object)
        i++;
    return &ending->places[i & ending->mask];
}

void dv_collect_gone(dv_vm *vm, const dv_object *object) {
    const place *found = find_place(vm->collector.ending, object);
    if (found->object) vm->collector.ending->queue[found->at] = NULL;
}

static void finalise_queue(dv_vm *vm, walk *w) {
    size_t room = 2;
    while (room < 2 * w->count) room *= 2;
    const size_t size = room * sizeof(place);
    struct dv_ending ending = {w->queue, dv_heap_alloc(&vm->heap, size), room - 1};
    if (!ending.places) return;
    memset(ending.places, 0, size);
    for (size_t i = 0; i < w->count; i++)
        *find_place(&ending, w->queue[i]) = (place){w->queue[i], i};
    vm->collector.ending = &ending;
    for (size_t i = 0; i < w->count; i++) {
        dv_object *object = w->queue[i];
        if (!object) continue;
        object->references++;
        dv_collect_finalise(vm, object);
        dv_release_object(vm, object);
    }
    vm->collector.ending = NULL;
    dv_heap_free(&vm->heap, ending.places, size);
}

void dv_collect_finalise_all(dv_vm *vm) {
    const bool any = is_anything_finalisable(vm);
    if (any && !vm->collector.disabled) (void)dv_collect(vm);
    dv_weak_forget_all(vm);
    if (!any) return;
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
    finalise_queue(vm, &w);
    dv_heap_free(&vm->heap, w.queue, size);
    vm->finalisers = vm->collector.closes = false;
}
