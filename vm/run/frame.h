/* frame.h: entering and leaving frames of dl functions, as handlers do it.
 *
 * The layout is the same at all levels (DESIGN section 4):
 *
 *     fp[-3]  callee, owned      fp[-2] caller's next ip      fp[-1] caller's fp
 *     fp[0 ..] arguments = locals | shadow slots | operand stack
 *
 * so that a call moves nothing: the caller pushed callee, two reserved entries and the arguments.
 */
#ifndef DV_RUN_FRAME_H
#define DV_RUN_FRAME_H

#include "core/shape.h"
#include "run/thread.h"
#include "types/tuple.h"

static inline dv_value dv_raw_pointer(const void *p) { return (dv_value){(uint64_t)(uintptr_t)p}; }
static inline const dv_cell *dv_frame_link(const dv_value *fp) {
    return (const dv_cell *)(uintptr_t)fp[-2].bits;
}
/* Where the caller goes on: the frame of an __init__ that a call of its class entered returns to
 * dv_construct_cell, that of a __call__ to dv_instance_cell, that of an operator's method to
 * dv_operate_cell, that of a consumed generator to dv_consume_cell, and the caller's next ip is
 * below its callee (see call.c, operate.h and consume.h). */
static inline const dv_cell *dv_frame_return(const dv_value *fp) {
    const dv_cell *link = dv_frame_link(fp);
    bool elsewhere = link == dv_construct_cell || link == dv_operate_cell ||
                     link == dv_instance_cell || link == dv_consume_cell;
    return elsewhere ? (const dv_cell *)(uintptr_t)fp[-4].bits : link;
}
static inline dv_value *dv_frame_caller(const dv_value *fp) {
    return (dv_value *)(uintptr_t)fp[-1].bits;
}

/* Can a function with this thread be entered with its frame at `frame`?  No may only mean that
 * something is to be done first (dv_poll_calls). */
static inline bool dv_frame_fits(const dv_vm *vm, const dv_thread *thread, const dv_value *frame) {
    dv_value *limit = __atomic_load_n(&vm->stack_limit, __ATOMIC_RELAXED);
    return frame + thread->frame_size <= limit && vm->calls_left > 0;
}

/* Fills in a frame whose parameters are in place; the result is the operand stack's base.  (The
 * caller has checked dv_frame_fits.) */
static inline dv_value *dv_frame_push(dv_vm *vm, const dv_thread *thread, dv_value *frame,
                                      dv_value *fp, const dv_cell *link) {
    frame[-2] = dv_raw_pointer(link);
    frame[-1] = dv_raw_pointer(fp);
    for (uint32_t i = thread->argument_count; i < thread->local_count; i++) frame[i] = DV_EMPTY;
    vm->calls_left--;
    return frame + thread->stack_base;
}

/* The last `missing` defaults of a function's positional parameters; NULL: it has fewer. */
static inline const dv_value *dv_frame_defaults(const dv_function *function, int64_t missing) {
    if (dv_is_empty(function->defaults)) return NULL;
    const dv_tuple *defaults = dv_as_tuple(function->defaults);
    return defaults->count < missing ? NULL : defaults->items + (defaults->count - missing);
}

/* A new instance of a dl class without a base of C, whose caller gives it a reference to the class
 * (dv_instance_new); NULL: there is no free block, or more to be done. */
static inline dv_instance *dv_frame_instance(dv_vm *vm, const dv_class *class_) {
    const uint32_t inline_slots = class_->inline_slots;
    const size_t size = sizeof(dv_instance) + inline_slots * sizeof(dv_value);
    if (DV_UNLIKELY(!class_->root || size > DV_HEAP_SMALL || vm->finalisers)) return NULL;
    dv_free_block **list =
        &vm->heap.parts[DV_HEAP_OBJECTS].free[(size + DV_HEAP_GRAIN - 1) / DV_HEAP_GRAIN];
    dv_free_block *block = *list;
    if (DV_UNLIKELY(!block)) return NULL;
    *list = block->next;
    dv_instance *instance = (dv_instance *)(void *)block;
    instance->header.references = 1;
    instance->header.shape = class_->root->number;
    instance->overflow = NULL;
    instance->serial = 0;
    instance->overflow_capacity = 0;
    instance->inline_slots = (uint8_t)inline_slots;
    instance->finalised = false;
    return instance;
}

/* A tuple of n items, which the caller fills in at once; NULL: none, too many, or there is no free
 * block (dv_tuple_alloc). */
static inline dv_tuple *dv_frame_tuple(dv_vm *vm, int64_t n) {
    const size_t size = sizeof(dv_tuple) + (size_t)n * sizeof(dv_value);
    if (DV_UNLIKELY(n == 0 || size > DV_HEAP_SMALL)) return NULL;
    dv_free_block **list =
        &vm->heap.parts[DV_HEAP_OBJECTS].free[(size + DV_HEAP_GRAIN - 1) / DV_HEAP_GRAIN];
    dv_free_block *block = *list;
    if (DV_UNLIKELY(!block)) return NULL;
    *list = block->next;
    dv_tuple *tuple = (dv_tuple *)(void *)block;
    tuple->header.references = 1;
    tuple->header.shape = DV_T_TUPLE;
    tuple->count = n;
    return tuple;
}

/* Releases the locals and the callee of a frame whose operand stack is empty. */
static inline void dv_frame_pop(dv_vm *vm, dv_value *fp) {
    const dv_thread *thread = dv_frame_thread(fp);
    vm->calls_left++;
    for (uint32_t i = 0, n = thread->local_count; i < n; i++) dv_release(vm, fp[i]);
    dv_release(vm, fp[-3]);
}

#endif
