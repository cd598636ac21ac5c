/* safepoint.c: safepoints: where a program is interrupted, collects, and has its work counted
 * (safepoint.h). */
#include "run/safepoint.h"

#include "run/engine.h"
#include "run/program.h"
#include "run/thread.h"
#include "types/exception.h"

enum { STRESSED_INTERVAL = 3, OBSERVED_INTERVAL = 2 };

/* ---- Counting ----
 *
 * A safepoint comes back to its cell, which counts down again: so an interval of n is n - 1 back
 * edges and calls, and the shortest one 2.  A slice that is used up while the program cannot pause
 * counts no longer. */

static int64_t left_of_interval(const dv_vm *vm) {
    return (vm->countdown > 0 ? vm->countdown : 0) + vm->collector.rest;
}

uint64_t dv_work_done(const dv_vm *vm) {
    return vm->work.done + (uint64_t)(vm->work.interval - 1 - left_of_interval(vm));
}

static void charge(int64_t *budget, int64_t spent) {
    if (*budget != INT64_MAX) *budget -= spent;
}

int64_t dv_work_settle(dv_vm *vm) {
    dv_work *work = &vm->work;
    const int64_t spent = work->interval - 1 - left_of_interval(vm);
    work->done += (uint64_t)spent;
    charge(&work->limit, spent);
    charge(&work->slice, spent);
    work->interval = 1;
    vm->collector.rest = 0;
    return spent;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

void dv_work_renew(dv_vm *vm, int64_t longest) {
    dv_work *work = &vm->work;
    int64_t rounds = least(longest - 1, work->limit);
    if (work->slice > 0) rounds = least(rounds, work->slice);
    work->interval = rounds > 1 ? rounds + 1 : 2;
    vm->countdown = work->interval - 1;
}

/* False: raised.  A program that catches that may do so much more, to end in order; then nothing
 * catches anything any more. */
static bool within_limit(dv_vm *vm) {
    enum { GRACE = 100000 };
    dv_work *work = &vm->work;
    if (work->limit > 0) return true;
    work->limit = GRACE;
    if (work->exceeded) {
        dv_stop(vm, true);
        return dv_poll_interrupt(vm);
    }
    work->exceeded = true;
    dv_raise(vm, DV_E_RUNTIME_ERROR, "instruction limit exceeded");
    return false;
}

/* ---- Polling ---- */

/* What follows knows nothing of regions: the one at ip, if there is one, is left.  The result is
 * where to go on with vm->sp and vm->fp; NULL: leaving raised, and there is no handler. */
static const dv_cell *leave_region(DV_HANDLER_PARAMETERS) {
    const bool outside = ip == dv_count_cell || dv_thread_owns(dv_frame_thread(fp), ip);
    if (outside || !vm->hooks.depart) return ip;
    return vm->hooks.depart(ip, sp, fp, vm, r, d);
}

/* The interval until the next safepoint, after what wants to see each of them. */
static int64_t watch(dv_vm *vm, const dv_cell *ip, dv_value *fp) {
    int64_t interval = DV_SAFEPOINT_INTERVAL;
    if (vm->hooks.observe) {
        interval = OBSERVED_INTERVAL;
        vm->hooks.observe(vm, ip, fp);
    }
    if (vm->stress.break_assumptions && vm->hooks.break_assumptions) {
        interval = STRESSED_INTERVAL;
        vm->hooks.break_assumptions(vm, ip, fp);
    }
    return interval;
}

const dv_cell *dv_slow_safepoint(DV_HANDLER_PARAMETERS) {
    vm->ip = ip, vm->sp = sp, vm->fp = fp, vm->r = r, vm->d = d;
    const int64_t interval = watch(vm, ip, fp), spent = dv_work_settle(vm);
    if (vm->hooks.sampled) vm->hooks.sampled(vm, ip, spent);
    const bool pauses = vm->work.slice <= 0 && dv_program_may_pause(vm, fp);
    if (pauses) ip = leave_region(ip, sp, fp, vm, r, d); /* which counts its rounds by countdown */
    dv_work_renew(vm, interval);
    if (vm->collector.wanted && ip) {
        if (!pauses) ip = leave_region(ip, sp, fp, vm, r, d);
        vm->ip = ip;
        if (ip) dv_collect_wanted(vm);
    }
    if (!ip) return NULL;
    sp = vm->sp, fp = vm->fp;
    vm->ip = ip;
    if (!within_limit(vm) || !dv_poll_calls_slow(vm)) return dv_slow_raise(ip, sp, fp, vm, r, d);
    return pauses ? dv_program_pause(vm, ip) : ip;
}
