/* unwind.c: where an exception goes: the one unwinder for all levels (vm/README.md, "Staying
 * correct").
 *
 * Invariants
 *  1. Before a frame is looked at, it is in its INCA form: an ip inside a region is first taken
 * through its exit (hooks.leave), which writes raw values back and rebuilds inlined frames.
 *  2. What the operand stack owns is known statically: the state of the pc (code/code.h), of which
 * the topmost entries may already be gone (their number follows from sp). */
#include "dv_ops.h"
#include "run/engine.h"
#include "run/frame.h"
#include "run/generator.h"
#include "run/operate.h"
#include "types/exception/exception.h"
#include "types/text/str.h"

/* Releases the operand stack's entries above `depth`; sp is where the stack ends now. */
static void cut_stack(dv_vm *vm, const dv_thread *thread, uint32_t pc, dv_value *fp, dv_value *sp,
                      uint32_t depth) {
    const dv_code *code = thread->code;
    dv_value *base = fp + thread->stack_base;
    uint32_t state = code->state_at[pc];
    while (state != 0) {
        const dv_stack_state *entry = &code->states[state];
        if (entry->depth <= depth) break;
        dv_value *slot = base + entry->depth - 1;
        if (slot < sp) {
            vm->sp = slot;
            if (entry->kind == DV_SLOT_OWNED) dv_release(vm, *slot);
        }
        state = entry->below;
    }
    vm->sp = base + depth;
}

/* `raise` without an operand and the end of a handler go on with a traceback that has this frame
 * already (unless there was nothing to raise again, and the exception is a new one). */
static bool raises_again(uint32_t word, dv_value exception) {
    return (word == DV_OP_RERAISE || word == DV_OP_RAISE) &&
           dv_exception_has_trace(dv_as_exception(exception));
}

/* Notes in the exception's traceback where it passes.  Without memory for that it becomes the
 * context of a MemoryError, whose own traceback may then begin further out. */
static dv_value trace(dv_vm *vm, dv_value exception, dv_thread *thread, uint32_t pc) {
    if (dv_exception_trace(vm, exception, &thread->header, pc)) return exception;
    if (dv_same(exception, vm->memory_error)) return exception;
    dv_raise_memory(vm);
    dv_value replacement = vm->error;
    vm->error = DV_EMPTY;
    dv_exception *made = dv_as_exception(replacement);
    if (dv_is_empty(made->context))
        made->context = exception;
    else
        dv_release(vm, exception);
    bool noted = dv_exception_trace(vm, replacement, &thread->header, pc);
    (void)noted;
    return replacement;
}

static const dv_inlined_code *inlined_at(const dv_code *code, uint32_t pc) {
    return code->inlined_count ? dv_code_inlined(code, pc) : NULL; /* few have one */
}

/* The same for every frame that the program sees there: an inlined comprehension is one, which a
 * builtin that takes its items has left.  StopIteration does not get out of a generator. */
static dv_value trace_frames(dv_vm *vm, dv_value exception, dv_thread *thread, uint32_t pc) {
    const dv_inlined_code *inlined;
    for (; (inlined = inlined_at(thread->code, pc)) != NULL; pc = inlined->call) {
        if (dv_inlined_takes(inlined, pc)) continue;
        exception = trace(vm, exception, thread, pc);
        if (inlined->kind == DV_COMPREHENSION_GENERATOR)
            exception = dv_generator_convert(vm, exception);
    }
    return trace(vm, exception, thread, pc);
}

/* Inlined comprehensions count as calls, like their frames. */
static void leave_inlined(dv_vm *vm, const dv_code *code, uint32_t pc) {
    const dv_inlined_code *inlined;
    for (; (inlined = inlined_at(code, pc)) != NULL; pc = inlined->call) vm->calls_left++;
}

/* No variable of a comprehension outlives it. */
static void clear_inlined(dv_vm *vm, const dv_thread *thread, uint32_t pc, dv_value *fp) {
    const dv_inlined_code *inlined;
    for (; (inlined = inlined_at(thread->code, pc)) != NULL; pc = inlined->call)
        for (uint32_t i = 0; i < inlined->local_count; i++) {
            dv_value *slot = fp + inlined->first_local + i, old = *slot;
            *slot = DV_EMPTY;
            dv_release(vm, old);
        }
}

/* The generator whose frame this is has finished then; NULL: it is none's. */
static dv_generator *finish_generator(dv_vm *vm, const dv_value *fp) {
    dv_generator *generator = vm->generator && vm->generator->fp == fp ? vm->generator : NULL;
    if (generator) dv_generator_finish(vm, generator);
    return generator;
}

/* The frame at fp does not catch: releases it. */
static void drop_frame(dv_vm *vm, const dv_thread *thread, uint32_t pc, dv_value *fp,
                       dv_value *sp) {
    if (pc != DV_NO_PC) cut_stack(vm, thread, pc, fp, sp, 0);
    if (dv_frame_link(fp) == dv_operate_cell)
        vm->calls_left += DV_OPERATE_COUNTS((uint32_t)fp[-5].bits);
    vm->calls_left += dv_frame_link(fp) == dv_instance_cell;
    const dv_value total = dv_frame_link(fp) == dv_consume_cell ? fp[-5] : DV_EMPTY;
    if (dv_frame_link(fp) == dv_construct_cell) {
        const dv_value self = fp[-5]; /* who called __init__ gives it up ... */
        fp[-5] = DV_NONE;
        dv_release(vm, self);
    }
    dv_frame_pop(vm, fp); /* ... and then the traceback does */
    vm->sp = fp - 3;
    dv_release(vm, total);
}

/* The __next__ that a FOR_ITER has entered (run/operate.h) has raised StopIteration, and its frame
 * is gone: the iterator goes, too, and the loop ends.  `link` is behind the FOR_ITER. */
static const dv_cell *end_loop(dv_vm *vm, const dv_cell *link, dv_value *fp) {
    vm->sp -= 3;
    vm->fp = fp;
    vm->ip = link - 1;
    dv_value iterator = *vm->sp;
    const dv_cell *target = link[-1].target;
    dv_error_clear(vm);
    dv_release(vm, iterator);
    return target;
}

/* Can it die without that anybody notices? */
static bool dies_silently(dv_value v) {
    return !dv_is_object(v) || dv_is_shape(v, DV_T_STR) || dv_is_shape(v, DV_T_BYTES);
}

/* Does its text stay what it is, and is it short?  (Of a long one messages show the beginning.) */
static bool is_plain(dv_value v) {
    return !dv_is_object(v) ||
           (dv_is_shape(v, DV_T_STR) && dv_as_str(v)->kind == 1 && dv_as_str(v)->length <= 40);
}

/* The slots of the set go on the way to the handler: none of what is in them may die there. */
static bool all_stay(const dv_value *slots, uint64_t set) {
    for (uint64_t rest = set; rest; rest &= rest - 1) {
        const dv_value v = slots[__builtin_ctzll(rest)];
        if (dies_silently(v)) continue;
        uint32_t times = 0;
        for (uint64_t other = set; other; other &= other - 1)
            times += dv_same(slots[__builtin_ctzll(other)], v);
        if (dv_as_object(v)->references <= times) return false;
    }
    return true;
}

bool dv_leaves_unmade(dv_vm *vm, dv_value about) {
    const dv_cell *at = vm->quiet.at;
    const uintptr_t way = (uintptr_t)vm->ip - (uintptr_t)at;
    if (way > (dv_op_infos[DV_OP_R_QUIET].length + dv_op_infos[DV_OP_R_DEPTH].length) * sizeof *at)
        return false;
    if (!dv_is_empty(about) && (!dv_same(about, vm->fp[at[1].o.b]) || !is_plain(about)))
        return false;
    vm->quiet.left_out = all_stay(vm->fp + at[1].o.a, (uint64_t)at[4].i);
    return vm->quiet.left_out;
}

const dv_cell *dv_slow_raise(DV_HANDLER_PARAMETERS) {
    (void)r, (void)d;
    if (vm->quiet.left_out) {
        vm->quiet.left_out = false;
        vm->sp = sp, vm->fp = fp;
        return vm->quiet.at[3].target;
    }
    /* An extension's function may fail without saying why. */
    if (dv_is_empty(vm->error))
        dv_raise(vm, DV_E_SYSTEM_ERROR, "error return without exception set");
    dv_value exception = vm->error;
    for (;;) {
        vm->error = DV_EMPTY; /* releases below may run dl code */
        dv_thread *thread = dv_frame_thread(fp);
        if ((vm->failed_exit || !dv_thread_owns(thread, ip)) && vm->hooks.region.leave) {
            vm->sp = sp, vm->fp = fp;
            ip = vm->hooks.region.leave(vm, ip);
            sp = vm->sp, fp = vm->fp;
            thread = dv_frame_thread(fp);
        }
        uint32_t pc = dv_thread_find_pc(vm, thread, ip);
        if (pc != DV_NO_PC) {
            if (!raises_again(thread->code->words[pc], exception))
                exception = trace_frames(vm, exception, thread, pc);
            leave_inlined(vm, thread->code, pc);
            const dv_exception_entry *entry =
                dv_is_stopped(vm) ? NULL : dv_code_handler(thread->code, pc);
            if (entry) {
                cut_stack(vm, thread, pc, fp, sp, entry->depth);
                clear_inlined(vm, thread, pc, fp);
                *vm->sp++ = exception;
                vm->fp = fp;
                return thread->cells + thread->cell_at[entry->handler];
            }
        }
        const dv_cell *link = dv_frame_return(fp);
        dv_value *caller = dv_frame_caller(fp);
        dv_generator *generator = finish_generator(vm, fp);
        bool ends_loop = dv_frame_link(fp) == dv_operate_cell &&
                         DV_OPERATE_KIND((uint32_t)fp[-5].bits) == DV_OPERATE_NEXT;
        drop_frame(vm, thread, pc, fp, sp);
        if (generator) exception = dv_generator_convert(vm, exception);
        if (ends_loop) {
            vm->error = exception;
            if (dv_error_is(vm, DV_E_STOP_ITERATION)) return end_loop(vm, link, caller);
            vm->error = DV_EMPTY;
        }
        sp = vm->sp;
        fp = vm->fp = caller;
        if (dv_is_halt(link)) {
            if (link != dv_halt_cell) dv_poll_at_back_edge(vm);
            vm->error = exception;
            return NULL;
        }
        ip = link - 1;
    }
}

void dv_drop_frames(dv_vm *vm, const dv_cell *ip) {
    const dv_cell *link;
    do {
        if (!dv_thread_owns(dv_frame_thread(vm->fp), ip) && vm->hooks.region.leave)
            ip = vm->hooks.region.leave(vm, ip);
        dv_value *const fp = vm->fp, *const caller = dv_frame_caller(fp);
        dv_thread *thread = dv_frame_thread(fp);
        const uint32_t pc = dv_thread_find_pc(vm, thread, ip);
        if (pc != DV_NO_PC) leave_inlined(vm, thread->code, pc);
        link = dv_frame_return(fp);
        (void)finish_generator(vm, fp);
        drop_frame(vm, thread, pc, fp, vm->sp);
        vm->fp = caller;
        ip = link - 1;
    } while (!dv_is_halt(link));
}
