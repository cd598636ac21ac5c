/* release.c: the end of objects (object.h).
 *
 * Releasing an object releases what it refers to.  A structure nested deeper than NESTED_LIMIT is
 * not released by recursion: its objects wait in a queue which the outermost release works off.
 *
 * Handlers, which nothing that is being released stands above but through a call of dl code, do not
 * count: they release the object at once (dv_object_end), and each thing that dies with it is an
 * outermost one.
 *
 * Invariant 1: the header of a waiting object holds its shape's index in the low 21 bits and the
 * next waiting object's address, which is a multiple of 16 below 2^47, in the others; so waiting
 * needs no memory.  That is why shape numbers are below DV_SHAPE_LIMIT. */
#include "core/vm.h"

#define NESTED_LIMIT 50u
#define SHAPE_BITS   21
#define GRAIN_BITS   4

_Static_assert(DV_SHAPE_LIMIT == 1u << SHAPE_BITS, "a queued object's shape must fit");

static void enqueue(dv_vm *vm, dv_object *object) {
    uint64_t header = (uint64_t)(uintptr_t)vm->release_queue >> GRAIN_BITS << SHAPE_BITS;
    header |= object->shape & (DV_SHAPE_LIMIT - 1);
    dv_weak_wait(vm, object, true);
    memcpy(object, &header, sizeof header);
    vm->release_queue = object;
}

static dv_object *dequeue(dv_vm *vm) {
    dv_object *object = vm->release_queue;
    uint64_t header;
    memcpy(&header, object, sizeof header);
    vm->release_queue = (dv_object *)(uintptr_t)(header >> SHAPE_BITS << GRAIN_BITS);
    object->references = 0;
    uint32_t index = (uint32_t)(header & (DV_SHAPE_LIMIT - 1));
    object->shape = index < DV_T_COUNT ? index : vm->shapes[index]->number;
    dv_weak_wait(vm, object, false);
    return object;
}

static void release_now(dv_vm *vm, dv_object *object) {
    if (object->shape < DV_T_COUNT)
        vm->types[object->shape]->release(vm, object);
    else
        dv_instance_release(vm, object);
}

void dv_object_dispose(dv_vm *vm, dv_object *object) {
    if (vm->release_depth >= NESTED_LIMIT) {
        enqueue(vm, object);
        return;
    }
    vm->release_depth++;
    release_now(vm, object);
    if (vm->release_depth == 1)
        while (vm->release_queue) release_now(vm, dequeue(vm));
    vm->release_depth--;
}

void dv_object_finish(dv_vm *vm, dv_object *object) { dv_object_end(vm, object); }
