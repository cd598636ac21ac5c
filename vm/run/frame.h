/* frame.h: entering and leaving frames of dl functions, as handlers do it.
 *
 * The layout is the same at all levels:
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
#include "types/callable/function.h"
#include "types/sequence/tuple.h"

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

/* Where a frame begins that C pushes at vm->sp: below its callee is the ip at which the caller has
 * called C. */
static inline dv_value *dv_frame_from_c(const dv_vm *vm) {
    vm->sp[0] = dv_raw_pointer(vm->ip);
    return vm->sp + 4;
}
/* A cell of the instruction that the caller executes. */
static inline const dv_cell *dv_frame_caller_at(const dv_value *fp) {
    if (dv_is_halt(dv_frame_link(fp))) return (const dv_cell *)(uintptr_t)fp[-4].bits;
    return dv_frame_return(fp) - 1;
}

/* Can a function with this thread be entered with its frame at `frame`?  No may only mean that
 * something is to be done first (dv_poll_calls). */
static inline bool dv_frame_fits(const dv_vm *vm, const dv_thread *thread, const dv_value *frame) {
    dv_value *limit = __atomic_load_n(&vm->stack_limit, __ATOMIC_RELAXED);
    return frame + thread->frame_size <= limit && vm->calls_left > 0;
}

/* The same when that is done, though it may be asked for again already. */
static inline bool dv_frame_has_room(const dv_vm *vm, const dv_thread *thread,
                                     const dv_value *frame) {
    return frame + thread->frame_size <= vm->stack_end && vm->calls_left > 0;
}

/* Fills in a frame whose parameters are in place and end at `local`; the result is the operand
 * stack's base.  (The caller has checked dv_frame_fits.) */
static inline dv_value *dv_frame_push_from(dv_vm *vm, const dv_thread *thread, dv_value *frame,
                                           dv_value *local, dv_value *fp, const dv_cell *link) {
    const dv_value *end = frame + thread->local_count;
    frame[-2] = dv_raw_pointer(link);
    frame[-1] = dv_raw_pointer(fp);
    while (local < end) *local++ = DV_EMPTY;
    __asm__("" : "+m"(vm->calls_left)); /* else it is in a register since it was checked */
    vm->calls_left--;
    return frame + thread->stack_base;
}
static inline dv_value *dv_frame_push(dv_vm *vm, const dv_thread *thread, dv_value *frame,
                                      dv_value *fp, const dv_cell *link) {
    return dv_frame_push_from(vm, thread, frame, frame + thread->argument_count, fp, link);
}

/* The last `missing` defaults of a function's positional parameters; NULL: it has fewer. */
static inline const dv_value *dv_frame_defaults(const dv_function *function, int64_t missing) {
    if (dv_is_empty(function->defaults)) return NULL;
    const dv_tuple *defaults = dv_as_tuple(function->defaults);
    return defaults->count < missing ? NULL : defaults->items + (defaults->count - missing);
}

/* A new instance of a dl class without a base of C with so many references, whose caller gives it
 * one to the class (dv_instance_new); NULL: there is no free block, or more to be done. */
static inline dv_instance *dv_frame_instance(dv_vm *vm, const dv_class *class_,
                                             uint32_t references) {
    const bool has_blocks = DV_INSTANCE_MOST <= DV_HEAP_SMALL; /* or no instance has one */
    if (DV_UNLIKELY(!has_blocks || !class_->root || vm->finalisers)) return NULL;
    const size_t size_up =
        sizeof(dv_instance) + DV_HEAP_GRAIN - 1 + class_->inline_slots * sizeof(dv_value);
    dv_free_block **list = &vm->heap.parts[DV_HEAP_OBJECTS].free[size_up / DV_HEAP_GRAIN];
    dv_free_block *block = *list;
    if (DV_UNLIKELY(!block)) return NULL;
    *list = block->next;
    /* What follows is read again: kept since before, it would be in saved registers. */
    __asm__("" ::: "memory");
    dv_instance *instance = (dv_instance *)(void *)block;
    instance->header.references = references;
    instance->header.shape = class_->root->number;
    instance->overflow = NULL;
    instance->serial = 0;
    instance->overflow_capacity = 0;
    instance->inline_slots = (uint8_t)class_->inline_slots;
    instance->ending = 0;
    return instance;
}

/* A container that the caller fills in at once; NULL: it is too large for free blocks, as all are
 * where errors of memory are looked for, or there is none (dv_container_new). */
static inline void *dv_frame_object(dv_vm *vm, size_t size, uint32_t shape) {
    dv_object *object = dv_heap_part_take(&vm->heap, DV_HEAP_OBJECTS, size);
    if (DV_UNLIKELY(!object)) return NULL;
    object->references = 1;
    object->shape = shape;
    return object;
}

/* A tuple of n items, which the caller fills in at once; NULL: none, too many, or there is no free
 * block (dv_tuple_alloc). */
static inline dv_tuple *dv_frame_tuple(dv_vm *vm, int64_t n) {
    const size_t size = sizeof(dv_tuple) + (size_t)n * sizeof(dv_value);
    dv_tuple *tuple = n ? dv_frame_object(vm, size, DV_T_TUPLE) : NULL;
    if (DV_LIKELY(tuple != NULL)) tuple->count = n;
    return tuple;
}

/* The free variables of the running function become its last locals. */
static inline void dv_frame_copy_free(dv_value *fp) {
    const dv_function *function = dv_as_function(fp[-3]);
    const dv_tuple *closure = dv_as_tuple(function->closure);
    const uint32_t count = (uint32_t)closure->count;
    dv_value *free = fp + dv_function_thread(function)->local_count - count;
    for (uint32_t i = 0; i < count; i++) free[i] = dv_retain(closure->items[i]);
}

/* A function without defaults whose free variables are cells of the running one; NULL: there are no
 * free blocks, or it is the first one of its code (dv_make_closure). */
static inline dv_function *dv_frame_closure(dv_vm *vm, dv_object *code, const dv_value *fp) {
    dv_thread *thread = (dv_thread *)(void *)code;
    if (DV_UNLIKELY(dv_is_empty(thread->qualname))) return NULL;
    dv_function *function = dv_frame_object(vm, sizeof *function, DV_T_FUNCTION);
    if (DV_UNLIKELY(!function)) return NULL;
    const uint32_t count = thread->code->free_count;
    dv_tuple *cells = dv_frame_tuple(vm, count);
    if (DV_UNLIKELY(!cells)) {
        dv_container_free(vm, function, sizeof *function);
        return NULL;
    }
    const uint32_t *from = thread->code->free_from;
    for (uint32_t i = 0; i < count; i++) {
        cells->items[i] = fp[from[i]];
        dv_as_object(cells->items[i])->references++;
    }
    function->code = code;
    code->references++;
    function->closure = dv_object_value(cells);
    function->globals = dv_object_value(thread->module);
    thread->module->header.references++;
    function->defaults = function->keyword_defaults = DV_EMPTY;
    function->annotations = function->attributes = DV_EMPTY;
    function->name = thread->name;
    dv_as_object(function->name)->references++;
    function->qualname = thread->qualname;
    dv_as_object(function->qualname)->references++;
    return function;
}

/* Drops the frames from vm->fp to the first one that C has entered, as an exception at ip would
 * that nothing catches (unwind.c). */
void dv_drop_frames(dv_vm *vm, const dv_cell *ip);

/* Releases the locals and the callee of a frame whose operand stack is empty. */
static inline void dv_frame_pop(dv_vm *vm, dv_value *fp) {
    const dv_thread *thread = dv_frame_thread(fp);
    vm->calls_left++;
    for (uint32_t i = 0, n = thread->local_count; i < n; i++) dv_release_outer(vm, fp[i]);
    dv_release_outer(vm, fp[-3]);
}

#endif
