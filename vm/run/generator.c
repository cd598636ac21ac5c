/* generator.c: making, resuming, closing and ending generators (generator.h; for types/ and
 * builtins/ core/upcall.h).
 *
 * Outcomes of what resumes a generator: 1: it yielded *result, 0: it returned *result, -1: raised.
 */
#include "run/generator.h"

#include "dv_ops.h"
#include "core/native.h"
#include "run/call.h"
#include "types/class/class.h"
#include "types/exception/exception_field.h"
#include "types/class/finalise.h"
#include "types/exception/hook.h"
#include "types/class/instance.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

dv_generator *dv_generator_make(dv_vm *vm, dv_value *fp, const dv_cell *ip) {
    const dv_thread *thread = dv_frame_thread(fp);
    const uint32_t locals = thread->local_count;
    dv_generator *g = dv_generator_new(vm, fp[-3], locals + thread->code->max_stack);
    if (!g) return NULL;
    for (uint32_t i = 0; i < locals; i++) g->slots[i] = fp[i];
    g->at = ip;
    g->next = ip + dv_op_infos[DV_OP_MAKE_GENERATOR].length;
    if (thread->code->exception_count) {
        g->serial = ++vm->collector.serial;
        vm->collector.closes = true;
    }
    return g;
}

/* Ends
 * ---------------------------------------------------------------------------------------------- */

void dv_generator_finish(dv_vm *vm, dv_generator *g) {
    g->state = DV_GENERATOR_FINISHED;
    g->function = DV_EMPTY; /* the frame drops it */
    dv_generator_leave(vm, g);
    dv_value handled = g->handled;
    g->handled = DV_NONE;
    dv_release_outer(vm, handled);
}

const dv_cell *dv_slow_return_generator(DV_HANDLER_PARAMETERS) {
    (void)r, (void)d;
    dv_generator *g = vm->generator;
    const dv_cell *link = dv_frame_link(fp), *end = g->end;
    const dv_resumer resumer = (dv_resumer)g->resumer;
    dv_value *caller = dv_frame_caller(fp), *place = fp - 3;
    dv_value result = sp[-1], resumed = DV_EMPTY;
    vm->ip = ip, vm->sp = sp - 1, vm->fp = fp;
    dv_generator_finish(vm, g);
    dv_frame_pop(vm, fp);
    if (resumer == DV_RESUMER_FOR) {
        vm->sp = --place;
        resumed = *place;
        dv_release_outer(vm, result);
    } else if (resumer == DV_RESUMER_SEND) {
        resumed = place[-1];
        place[-1] = result;
        vm->sp = place;
    } else {
        *place = result;
        vm->sp = place + 1;
        end = link;
    }
    dv_value *top = vm->sp;
    vm->fp = caller;
    dv_release_outer(vm, resumed); /* the generator */
    vm->sp = top;
    return end;
}

dv_value dv_generator_convert(dv_vm *vm, dv_value exception) {
    dv_class *stop = dv_exception_class(vm, DV_E_STOP_ITERATION);
    if (!dv_class_is_subclass(dv_as_exception(exception)->class_, stop)) return exception;
    dv_raise(vm, DV_E_RUNTIME_ERROR, "generator raised StopIteration");
    dv_value error = vm->error;
    vm->error = DV_EMPTY;
    dv_exception *made = dv_as_exception(error);
    dv_value cause = made->cause, context = made->context;
    made->cause = exception;
    made->context = dv_retain(exception);
    made->suppress_context = true;
    dv_release(vm, cause);
    dv_release(vm, context);
    return error;
}

/* Visits the entries of the operand stack that a new or suspended generator owns. */
static void visit_stack(dv_vm *vm, const dv_generator *g, dv_visit visit, void *context) {
    const dv_thread *thread = dv_generator_thread(g);
    const dv_value *base = g->slots + thread->local_count;
    uint32_t state = thread->code->state_at[dv_thread_pc(thread, g->at)];
    for (; state != 0; state = thread->code->states[state].below) {
        const dv_stack_state *entry = &thread->code->states[state];
        if (entry->depth <= g->saved && entry->kind == DV_SLOT_OWNED)
            visit(vm, base[entry->depth - 1u], context);
    }
}

void dv_generator_traverse(dv_vm *vm, dv_value self, dv_visit visit, void *context) {
    const dv_generator *g = dv_as_generator(self);
    if (g->state > DV_GENERATOR_SUSPENDED) return;
    visit(vm, g->function, context);
    for (uint32_t i = 0; i < dv_generator_thread(g)->local_count; i++)
        visit(vm, g->slots[i], context);
    visit_stack(vm, g, visit, context);
}

static void drop(dv_vm *vm, dv_value v, void *context) {
    (void)context;
    dv_release(vm, v);
}

/* Releases what a new or suspended generator holds. */
static void forget_frame(dv_vm *vm, dv_generator *g) {
    const uint32_t locals = dv_generator_thread(g)->local_count;
    dv_value handled = g->handled, function = g->function;
    g->state = DV_GENERATOR_FINISHED;
    g->handled = DV_NONE;
    g->function = DV_EMPTY;
    visit_stack(vm, g, drop, NULL); /* first, as an exception leaves a frame */
    g->saved = 0;
    for (uint32_t i = 0; i < locals; i++) dv_release(vm, g->slots[i]);
    dv_release(vm, handled);
    dv_release(vm, function);
}

/* Resuming
 * --------------------------------------------------------------------------------------------- */

/* Prepares the frame at the top of the stack; the result is where the machine starts. */
static const dv_cell *enter(dv_vm *vm, dv_generator *g, dv_value sent, dv_value exception) {
    dv_value *frame = dv_frame_from_c(vm);
    dv_value *sp = dv_generator_enter(vm, g, frame, vm->fp, dv_halt_cell, DV_RESUMER_C, NULL);
    vm->fp = frame;
    if (dv_is_empty(exception)) {
        *sp++ = sent;
        vm->sp = sp;
        return g->next;
    }
    vm->sp = sp;
    vm->ip = g->at;
    if (dv_is_exception(vm->handled)) {
        dv_exception_raise(vm, exception, DV_EMPTY); /* with its context */
        dv_release(vm, exception);
    } else {
        vm->error = exception;
    }
    return dv_slow_raise(g->at, sp, frame, vm, 0, 0);
}

static int run_generator(dv_vm *vm, dv_generator *g, dv_value sent, dv_value exception,
                         dv_value *result) {
    const dv_cell *saved_ip = vm->ip;
    dv_value *saved_sp = vm->sp, *saved_fp = vm->fp;
    bool entered = dv_native_room(vm);
    bool fits = entered && vm->calls_left > 0 &&
                vm->sp + 4 + dv_generator_thread(g)->frame_size <= vm->stack_end;
    if (fits) {
        dv_run_cells(vm, enter(vm, g, sent, exception));
        if (dv_is_empty(vm->error)) *result = vm->sp[-1];
    } else {
        if (entered) dv_raise(vm, DV_E_RECURSION_ERROR, "maximum recursion depth exceeded");
        dv_release(vm, sent);
        dv_release(vm, exception);
    }
    vm->ip = saved_ip, vm->sp = saved_sp, vm->fp = saved_fp;
    if (!dv_is_empty(vm->error)) return -1;
    return g->state == DV_GENERATOR_FINISHED ? 0 : 1;
}

static int refuse(dv_vm *vm, dv_value sent, dv_value exception, dv_error_class error,
                  const char *why) {
    dv_release(vm, sent);
    dv_release(vm, exception);
    dv_raise(vm, error, "%s", why);
    return -1;
}

/* Takes the value that is sent, or the exception that is thrown. */
static int resume(dv_vm *vm, dv_generator *g, dv_value sent, dv_value exception, dv_value *result) {
    if (g->state == DV_GENERATOR_RUNNING)
        return refuse(vm, sent, exception, DV_E_VALUE_ERROR, "generator already executing");
    if (g->state == DV_GENERATOR_FINISHED) {
        dv_release(vm, sent);
        *result = DV_NONE;
        vm->error = exception;
        return dv_is_empty(exception) ? 0 : -1;
    }
    if (g->state == DV_GENERATOR_NEW && dv_is_empty(exception) && !dv_is_none(sent))
        return refuse(vm, sent, exception, DV_E_TYPE_ERROR,
                      "can't send non-None value to a just-started generator");
    return run_generator(vm, g, sent, exception, result);
}

int dv_generator_send(dv_vm *vm, dv_value self, dv_value sent, dv_value *result) {
    return resume(vm, dv_as_generator(self), dv_retain(sent), DV_EMPTY, result);
}

/* As run_generator, for the most frequent case. */
dv_value dv_generator_next(dv_vm *vm, dv_value self) {
    dv_generator *g = dv_as_generator(self);
    dv_value *frame = dv_frame_from_c(vm), result = DV_EMPTY;
    if (DV_LIKELY(dv_native_room(vm) && dv_generator_fits(vm, g, frame))) {
        const dv_cell *saved_ip = vm->ip, *next = g->next;
        dv_value *saved_sp = vm->sp, *saved_fp = vm->fp;
        dv_value *sp = dv_generator_enter(vm, g, frame, saved_fp, dv_halt_cell, DV_RESUMER_C, NULL);
        *sp = DV_NONE;
        vm->sp = sp + 1;
        vm->fp = frame;
        dv_run_cells(vm, next);
        if (dv_is_empty(vm->error)) result = vm->sp[-1];
        vm->ip = saved_ip, vm->sp = saved_sp, vm->fp = saved_fp;
        if (g->state != DV_GENERATOR_FINISHED || dv_is_empty(result)) return result;
        dv_release(vm, result);
        return DV_EMPTY;
    }
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    int outcome = dv_generator_send(vm, self, DV_NONE, &result);
    if (outcome == 0) dv_release(vm, result);
    return outcome > 0 ? result : DV_EMPTY;
}

const dv_declared dv_stop_raises = {DV_E_STOP_ITERATION, 0, NULL};

dv_value dv_raise_stop(dv_vm *vm, dv_value value) {
    if (dv_is_none(value)) return dv_raise_declared(vm, &dv_stop_raises, DV_EMPTY);
    dv_raise_value(vm, DV_E_STOP_ITERATION, value);
    dv_release(vm, value);
    return DV_EMPTY;
}

dv_value dv_next_or_stop(dv_vm *vm, dv_value iterator) {
    dv_value result;
    if (dv_is_generator(iterator)) {
        int outcome = dv_generator_send(vm, iterator, DV_NONE, &result);
        return outcome == 0 ? dv_raise_stop(vm, result) : outcome > 0 ? result : DV_EMPTY;
    }
    if (dv_is_instance(iterator)) {
        bool found;
        result = dv_special_call(vm, iterator, vm->known.next, NULL, 0, &found);
        if (found) return result;
    }
    result = dv_next(vm, iterator);
    if (dv_is_empty(result) && dv_is_empty(vm->error)) return dv_raise_stop(vm, DV_NONE);
    return result;
}

/* Delegation
 * ------------------------------------------------------------------------------------------- */

dv_value dv_yield_from(dv_vm *vm, dv_value v) {
    return dv_is_generator(v) ? dv_retain(v) : dv_iterate(vm, v);
}

dv_value dv_generator_receiver(dv_value self) {
    const dv_generator *g = dv_as_generator(self);
    if (g->state != DV_GENERATOR_SUSPENDED || !g->delegates) return DV_NONE;
    return dv_retain(g->slots[dv_generator_thread(g)->local_count + g->saved - 1]);
}

/* The outcome of a call that was to return the next value: StopIteration is a return. */
static int outcome_of_call(dv_vm *vm, dv_value returned, dv_value *result) {
    *result = returned;
    if (!dv_is_empty(returned)) return 1;
    if (!dv_error_is(vm, DV_E_STOP_ITERATION)) return -1;
    dv_value value = dv_exception_field(vm, dv_as_exception(vm->error), "value");
    *result = dv_is_empty(value) ? DV_NONE : value;
    dv_error_clear(vm);
    return 0;
}

static dv_value call_send(dv_vm *vm, dv_value receiver, dv_value v) {
    dv_value method = dv_get_named(vm, receiver, "send");
    if (dv_is_empty(method)) return DV_EMPTY;
    dv_value result = dv_call(vm, method, &v, 1, DV_EMPTY);
    dv_release(vm, method);
    return result;
}

int dv_send(dv_vm *vm, dv_value receiver, dv_value v, dv_value *result) {
    if (dv_is_generator(receiver)) return dv_generator_send(vm, receiver, v, result);
    dv_value returned = dv_is_none(v) ? dv_next_or_stop(vm, receiver) : call_send(vm, receiver, v);
    return outcome_of_call(vm, returned, result);
}

/* Goes on behind a SEND, with the result that its receiver gave. */
static const dv_cell *sent_to(dv_vm *vm, const dv_cell *ip, dv_value *sp, dv_value *fp, int outcome,
                              dv_value result) {
    const dv_cell *end = ip[2].target;
    dv_value receiver = sp[-2], sent = sp[-1];
    if (outcome < 0) return dv_slow_raise(ip, sp, fp, vm, 0, 0);
    sp[-1] = result;
    dv_release(vm, sent);
    if (outcome > 0) return ip + dv_op_infos[DV_OP_SEND].length;
    sp[-2] = result;
    vm->sp = sp - 1;
    dv_release(vm, receiver);
    return end;
}

const dv_cell *dv_slow_send(DV_HANDLER_PARAMETERS) {
    (void)r, (void)d;
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    dv_value result = DV_EMPTY;
    const int outcome = dv_send(vm, sp[-2], sp[-1], &result);
    return sent_to(vm, ip, sp, fp, outcome, result);
}

const dv_cell *dv_slow_send_failed(DV_HANDLER_PARAMETERS) {
    (void)r, (void)d;
    dv_value result = DV_EMPTY;
    const int outcome = outcome_of_call(vm, DV_EMPTY, &result);
    return sent_to(vm, ip, sp, fp, outcome, result);
}

/* Closes what a generator delegates to. */
static bool close_receiver(dv_vm *vm, dv_value receiver) {
    if (dv_is_generator(receiver)) return dv_generator_close(vm, receiver);
    dv_value method = dv_find_named(vm, receiver, "close");
    if (dv_is_empty(method)) {
        if (!dv_is_empty(vm->error)) dv_hook_unraisable(vm, DV_NONE, receiver);
        return true;
    }
    dv_value result = dv_call(vm, method, NULL, 0, DV_EMPTY);
    dv_release(vm, method);
    dv_release(vm, result);
    return !dv_is_empty(result);
}

/* The receiver has ended with this outcome: the generator goes on behind its `yield from`. */
static int leave_receiver(dv_vm *vm, dv_generator *g, int outcome, dv_value *result) {
    dv_value sent = outcome == 0 ? *result : DV_EMPTY, exception = vm->error;
    vm->error = DV_EMPTY;
    dv_value receiver = g->slots[dv_generator_thread(g)->local_count + --g->saved];
    g->delegates = false;
    if (outcome == 0) g->next = g->next[2].target; /* the end of its SEND */
    dv_release(vm, receiver);
    return resume(vm, g, sent, exception, result);
}

/* False: it has no method throw, and the exception is still the caller's. */
static bool throw_to(dv_vm *vm, dv_value receiver, dv_value exception, int *outcome,
                     dv_value *result) {
    if (dv_is_generator(receiver)) {
        *outcome = dv_generator_throw(vm, receiver, exception, result);
        return true;
    }
    dv_value method = dv_find_named(vm, receiver, "throw");
    if (dv_is_empty(method)) return false;
    dv_value returned = dv_call(vm, method, &exception, 1, DV_EMPTY);
    dv_release(vm, method);
    dv_release(vm, exception);
    *outcome = outcome_of_call(vm, returned, result);
    return true;
}

static int throw_to_receiver(dv_vm *vm, dv_generator *g, dv_value exception, dv_value *result) {
    dv_value receiver = dv_generator_receiver(dv_object_value(g));
    dv_class *exit = dv_exception_class(vm, DV_E_GENERATOR_EXIT);
    int outcome = -1;
    bool here = dv_class_is_subclass(dv_as_exception(exception)->class_, exit);
    g->state = DV_GENERATOR_RUNNING;
    if (here && !close_receiver(vm, receiver)) {
        dv_release(vm, exception);
        exception = vm->error;
        vm->error = DV_EMPTY;
    } else if (!here) {
        here = !throw_to(vm, receiver, exception, &outcome, result);
    }
    g->state = DV_GENERATOR_SUSPENDED;
    dv_release(vm, receiver);
    if (here && !dv_is_empty(vm->error)) { /* of looking for the method: the caller's alone */
        dv_release(vm, exception);
        return -1;
    }
    if (here) return resume(vm, g, DV_EMPTY, exception, result);
    return outcome > 0 ? 1 : leave_receiver(vm, g, outcome, result);
}

int dv_generator_throw(dv_vm *vm, dv_value self, dv_value exception, dv_value *result) {
    dv_generator *g = dv_as_generator(self);
    if (g->state != DV_GENERATOR_SUSPENDED || !g->delegates)
        return resume(vm, g, DV_EMPTY, exception, result);
    if (!dv_enter_native(vm)) {
        dv_release(vm, exception);
        return -1;
    }
    int outcome = throw_to_receiver(vm, g, exception, result);
    dv_leave_native(vm);
    return outcome;
}

/* Closing
 * ---------------------------------------------------------------------------------------------- */

bool dv_generator_close(dv_vm *vm, dv_value self) {
    dv_generator *g = dv_as_generator(self);
    if (g->state == DV_GENERATOR_NEW) forget_frame(vm, g);
    if (g->state == DV_GENERATOR_FINISHED) return true;
    dv_class *class_ = dv_exception_class(vm, DV_E_GENERATOR_EXIT);
    dv_value exception = dv_exception_new(vm, class_, vm->known.empty_tuple), result;
    if (dv_is_empty(exception)) return false;
    int outcome = dv_generator_throw(vm, self, exception, &result);
    if (outcome >= 0) dv_release(vm, result);
    if (outcome > 0) dv_raise(vm, DV_E_RUNTIME_ERROR, "generator ignored GeneratorExit");
    if (outcome < 0 &&
        (dv_error_is(vm, DV_E_GENERATOR_EXIT) || dv_error_is(vm, DV_E_STOP_ITERATION)))
        dv_error_clear(vm);
    return dv_is_empty(vm->error);
}

/* Could a suspended generator notice that it is closed?  Most are just dropped. */
static bool would_notice(const dv_generator *g) {
    const dv_thread *thread = dv_generator_thread(g);
    if (dv_code_handler(thread->code, dv_thread_pc(thread, g->at))) return true;
    if (!g->delegates) return false;
    /* A generator that only this one refers to is closed when it is dropped in its turn. */
    dv_value receiver = g->slots[thread->local_count + g->saved - 1];
    return !dv_is_generator(receiver) || dv_as_object(receiver)->references > 1;
}

/* Runs its finally clauses, if it has any. */
static void finalise(dv_vm *vm, dv_generator *g) {
    dv_value self = dv_object_value(g);
    if (vm->hooks.inspect.died) vm->hooks.inspect.died(vm, &g->header);
    dv_finaliser saved = dv_finaliser_enter(vm);
    bool closed = dv_generator_close(vm, self);
    (void)closed; /* what it raised is reported */
    dv_finaliser_leave(vm, &saved, self);
}

bool dv_generator_end(dv_vm *vm, dv_value self) {
    dv_generator *g = dv_as_generator(self);
    if (vm->collector.ending) dv_collect_gone(vm, &g->header);
    if (g->state == DV_GENERATOR_SUSPENDED && vm->collector.closes && would_notice(g)) {
        g->header.references = 1;
        finalise(vm, g);
        if (--g->header.references > 0) return false;
    }
    if (g->state <= DV_GENERATOR_SUSPENDED) forget_frame(vm, g);
    return true;
}

bool dv_generator_has_finaliser(dv_vm *vm, dv_value self) {
    const dv_generator *g = dv_as_generator(self);
    (void)vm;
    return g->state == DV_GENERATOR_SUSPENDED && would_notice(g);
}

void dv_generator_finalise(dv_vm *vm, dv_value self) {
    if (dv_generator_has_finaliser(vm, self)) finalise(vm, dv_as_generator(self));
}

void dv_generator_clear(dv_vm *vm, dv_value self) {
    dv_generator *g = dv_as_generator(self);
    if (g->state <= DV_GENERATOR_SUSPENDED) forget_frame(vm, g);
}
