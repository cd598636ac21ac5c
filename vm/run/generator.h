/* generator.h: entering and leaving the frames of generators, as handlers do it.
 *
 * FOR_ITER and SEND enter a generator's frame as a call enters a function's: without recursion of
 * C.  What it yields is the result of that "call"; when it returns, control goes to `end` instead.
 * From C (next(), send(), throw()) a generator is run like a function by dv_call. */
#ifndef DV_RUN_GENERATOR_H
#define DV_RUN_GENERATOR_H

#include "run/frame.h"
#include "types/callable/generator.h"

static inline const dv_thread *dv_generator_thread(const dv_generator *g) {
    return (const dv_thread *)g->code;
}

/* Can it be resumed with its frame at `frame`? */
static inline bool dv_generator_fits(const dv_vm *vm, const dv_generator *g,
                                     const dv_value *frame) {
    return g->state <= DV_GENERATOR_SUSPENDED && dv_frame_fits(vm, dv_generator_thread(g), frame);
}

/* It is the innermost one that runs, with its frame there. */
static inline void dv_generator_runs(dv_vm *vm, dv_generator *g, dv_value *frame) {
    g->fp = frame;
    g->outer = vm->generator;
    vm->generator = g;
    g->outer_handled = vm->handled;
    vm->handled = g->handled;
    g->handled = DV_NONE;
}

/* Copies the frame in; the result is the top of its operand stack, where the sent value goes. */
static inline dv_value *dv_generator_enter(dv_vm *vm, dv_generator *g, dv_value *frame,
                                           dv_value *fp, const dv_cell *link, dv_resumer resumer,
                                           const dv_cell *end) {
    const dv_thread *thread = dv_generator_thread(g);
    const uint32_t locals = thread->local_count;
    dv_value *base = frame + thread->stack_base;
    frame[-3] = g->function;
    frame[-2] = dv_raw_pointer(link);
    frame[-1] = dv_raw_pointer(fp);
    for (uint32_t i = 0; i < locals; i++) frame[i] = g->slots[i];
    for (uint32_t i = 0; i < g->saved; i++) base[i] = g->slots[locals + i];
    g->state = DV_GENERATOR_RUNNING;
    g->resumer = (uint8_t)resumer;
    g->end = end;
    dv_generator_runs(vm, g, frame);
    vm->calls_left--;
    return base + g->saved;
}

/* Control leaves the innermost generator: the code around it is running again. */
static inline void dv_generator_leave(dv_vm *vm, dv_generator *g) {
    vm->generator = g->outer;
    g->handled = vm->handled;
    vm->handled = g->outer_handled;
    g->outer_handled = DV_NONE;
}

/* Items that YIELD hands over without the tuple: they lie where the frame's link was. */
enum { DV_MOST_HANDED = 3 };

/* Copies the frame out; sp is behind what stays on the operand stack. */
static inline void dv_generator_suspend(dv_vm *vm, dv_generator *g, const dv_value *fp,
                                        const dv_value *sp, const dv_cell *at, const dv_cell *next,
                                        bool delegates) {
    const dv_thread *thread = dv_generator_thread(g);
    const uint32_t locals = thread->local_count;
    const dv_value *base = fp + thread->stack_base;
    const uint32_t saved = (uint32_t)(sp - base);
    for (uint32_t i = 0; i < locals; i++) g->slots[i] = fp[i];
    for (uint32_t i = 0; i < saved; i++) g->slots[locals + i] = base[i];
    g->saved = saved;
    g->at = at;
    g->next = next;
    g->delegates = delegates;
    if (delegates) vm->collector.closes = true;
    g->state = DV_GENERATOR_SUSPENDED;
    dv_generator_leave(vm, g);
    vm->calls_left++;
}

/* MAKE_GENERATOR at ip: the running frame becomes a generator; the caller drops the frame.  NULL:
 * raised. */
dv_generator *dv_generator_make(dv_vm *vm, dv_value *fp, const dv_cell *ip);

/* The innermost generator's frame is about to be dropped, because it returns or raises. */
void dv_generator_finish(dv_vm *vm, dv_generator *g);

/* What comes out of a generator that was left by an exception: a StopIteration becomes a
 * RuntimeError.  Takes and returns the exception. */
dv_value dv_generator_convert(dv_vm *vm, dv_value exception);

const dv_cell *dv_slow_send(DV_HANDLER_PARAMETERS); /* SEND at ip */
/* The receiver of a SEND has raised, StopIteration perhaps. */
const dv_cell *dv_slow_send_failed(DV_HANDLER_PARAMETERS);
const dv_cell *dv_slow_return_generator(DV_HANDLER_PARAMETERS); /* RETURN_GENERATOR at ip */

/* GET_YIELD_FROM: a generator itself, else an iterator. */
dv_value dv_yield_from(dv_vm *vm, dv_value v);

#endif
