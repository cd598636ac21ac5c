/* program.c: a program that runs in slices (program.h). */
#include "run/program.h"

#include "core/work.h"
#include "run/call.h"
#include "run/frame.h"
#include "types/exception/exception.h"
#include "types/callable/generator.h"

static bool refuse(dv_vm *vm, const char *why) {
    dv_raise(vm, DV_E_RUNTIME_ERROR, "%s", why);
    return false;
}

bool dv_program_begin(dv_vm *vm, dv_unit *unit, dv_value module) {
    const bool free = vm->program.state == DV_PROGRAM_NONE;
    dv_value function = free ? dv_unit_function(vm, unit, module) : DV_EMPTY;
    if (!free) {
        if (--unit->references == 0) unit->release_arena(unit->context, unit->arena);
        return refuse(vm, "there is a program already that has not ended");
    }
    if (dv_is_empty(function)) return false;
    vm->program.function = function;
    vm->program.state = DV_PROGRAM_BEGUN;
    return true;
}

/* ---- Pausing ---- */

bool dv_program_may_pause(dv_vm *vm, dv_value *fp) {
    if (vm->program.state != DV_PROGRAM_RUNNING) return false;
    dv_value *entered = NULL; /* by C, the outermost one */
    for (; fp != vm->program.base; fp = dv_frame_caller(fp))
        if (dv_is_halt(dv_frame_link(fp))) entered = fp;
    if (!entered) return true;
    entered[-2] = dv_raw_pointer(dv_halt_cell + 1);
    return false;
}

const dv_cell *dv_program_pause(dv_vm *vm, const dv_cell *ip) {
    dv_program *program = &vm->program;
    program->ip = ip, program->sp = vm->sp, program->fp = vm->fp;
    program->generator = vm->generator;
    program->handled = vm->handled;
    vm->generator = NULL;
    vm->handled = DV_NONE;
    program->state = DV_PROGRAM_PAUSED;
    return NULL;
}

/* ---- Going on ---- */

/* The program's first frame, as call_function (call.c) makes one; where it starts. */
static const dv_cell *enter(dv_vm *vm) {
    dv_program *program = &vm->program;
    const dv_thread *thread = dv_function_thread(dv_as_function(program->function));
    dv_value *frame = dv_frame_from_c(vm);
    if (frame + thread->frame_size > vm->stack_end || vm->calls_left <= 0) {
        dv_raise(vm, DV_E_RECURSION_ERROR, "maximum recursion depth exceeded");
        return NULL;
    }
    frame[-3] = program->function;
    program->function = DV_EMPTY;
    vm->sp = dv_frame_push(vm, thread, frame, vm->fp, dv_halt_cell);
    vm->fp = program->base = frame;
    return thread->entry;
}

/* The opposite of dv_program_pause. */
static const dv_cell *restore(dv_vm *vm) {
    dv_program *program = &vm->program;
    vm->sp = program->sp, vm->fp = program->fp;
    vm->generator = program->generator;
    vm->handled = program->handled;
    program->handled = DV_EMPTY;
    vm->calls_left -= program->depth;
    return program->ip;
}

/* The work of this slice begins.  What asks to be heard is heard at its first safepoint. */
static void begin_slice(dv_vm *vm, int64_t work) {
    dv_work_settle(vm, 1);
    vm->work.slice = work;
    dv_work_renew(vm, DV_SAFEPOINT_INTERVAL);
    if (vm->collector.wanted || __atomic_load_n(&vm->interrupt, __ATOMIC_RELAXED))
        dv_poll_at_back_edge(vm);
}

static void end_slice(dv_vm *vm) {
    dv_work_settle(vm, 1);
    vm->work.slice = INT64_MAX;
    dv_work_renew(vm, DV_SAFEPOINT_INTERVAL);
}

/* Calls that there are now: a program may change the limit. */
static int64_t depth_of(const dv_vm *vm) { return vm->recursion_limit - vm->calls_left; }

/* What has run is paused or has ended. */
static int leave(dv_vm *vm, int64_t depth) {
    dv_program *program = &vm->program;
    vm->ip = NULL, vm->fp = vm->stack;
    if (program->state == DV_PROGRAM_PAUSED) {
        program->depth = depth_of(vm) - depth;
        vm->calls_left += program->depth;
        return 1;
    }
    program->state = DV_PROGRAM_NONE;
    const bool raised = !dv_is_empty(vm->error);
    dv_value result = raised ? DV_EMPTY : vm->sp[-1];
    vm->sp = program->base - 4; /* dv_frame_from_c */
    dv_release(vm, result);
    return raised ? -1 : 0;
}

bool dv_program_may_change(dv_vm *vm) {
    return vm->fp == vm->stack || refuse(vm, "the machine is running already");
}

int dv_program_resume(dv_vm *vm, int64_t work) {
    dv_program *program = &vm->program;
    if (program->state == DV_PROGRAM_NONE) return refuse(vm, "there is no program to resume"), -1;
    if (!dv_program_may_change(vm)) return -1;
    if (work <= 0) return 1;
    const int64_t depth = depth_of(vm);
    const bool begins = program->state == DV_PROGRAM_BEGUN;
    const dv_cell *ip = begins ? enter(vm) : restore(vm);
    if (!ip) return dv_program_drop(vm), -1;
    program->state = DV_PROGRAM_RUNNING;
    begin_slice(vm, work);
    dv_run_cells(vm, ip);
    end_slice(vm);
    return leave(vm, depth);
}

void dv_program_drop(dv_vm *vm) {
    dv_program *program = &vm->program;
    if (program->state == DV_PROGRAM_PAUSED) {
        const dv_cell *ip = restore(vm);
        dv_drop_frames(vm, ip);
        vm->ip = NULL, vm->sp = program->base - 4;
    }
    dv_value function = program->function;
    program->function = DV_EMPTY;
    program->state = DV_PROGRAM_NONE;
    dv_release(vm, function);
}
