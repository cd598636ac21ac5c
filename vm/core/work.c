/* work.c: counting work, and ending who does too much of it (work.h). */
#include "core/work.h"

enum {
    LOOK = 100000,  /* units that C functions do between two looks at the clock */
    GRACE = 100000, /* units that a program may do once a limit is exceeded */
};

/* ---- Counting ----
 *
 * A safepoint comes back to its cell, which counts down again: so an interval of n is n - 1 back
 * edges and calls, and the shortest one 2.  A slice that is used up while the program cannot pause
 * counts no longer. */

void dv_work_init(dv_vm *vm) {
    vm->work = (dv_workload){.left = LOOK, .interval = 1, .limit = INT64_MAX, .slice = INT64_MAX};
}

static int64_t rounds_of_interval(const dv_vm *vm) {
    const int64_t left = (vm->countdown > 0 ? vm->countdown : 0) + vm->collector.rest;
    return vm->work.interval - 1 - left;
}

/* What C functions did since the last look.  (Who counts without a bound does not overflow.) */
static int64_t units_of_look(const dv_vm *vm) {
    const int64_t most = INT64_MAX / 4, left = vm->work.left;
    return left < -most ? most : LOOK - left;
}

uint64_t dv_work_done(const dv_vm *vm) {
    return vm->work.done + (uint64_t)(rounds_of_interval(vm) + units_of_look(vm));
}

static void charge_one(int64_t *budget, int64_t spent) {
    if (*budget != INT64_MAX) *budget = spent < *budget ? *budget - spent : 0;
}

static void charge(dv_vm *vm, int64_t spent) {
    vm->work.done += (uint64_t)spent;
    charge_one(&vm->work.limit, spent);
    charge_one(&vm->work.slice, spent);
}

static void settle_look(dv_vm *vm) {
    const int64_t spent = units_of_look(vm);
    vm->work.left = LOOK;
    charge(vm, spent);
}

int64_t dv_work_settle(dv_vm *vm) {
    const int64_t rounds = rounds_of_interval(vm);
    vm->work.interval = 1;
    vm->collector.rest = 0;
    charge(vm, rounds);
    settle_look(vm);
    return rounds;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

void dv_work_renew(dv_vm *vm, int64_t longest) {
    dv_workload *work = &vm->work;
    int64_t rounds = least(longest - 1, work->limit);
    if (work->slice > 0) rounds = least(rounds, work->slice);
    work->interval = rounds > 1 ? rounds + 1 : 2;
    vm->countdown = work->interval - 1;
}

/* ---- Ending ---- */

bool dv_work_within_limit(dv_vm *vm) {
    dv_workload *work = &vm->work;
    const int64_t rounds = rounds_of_interval(vm);
    if (DV_LIKELY(work->limit > rounds)) return true;
    work->limit = GRACE + rounds;
    if (work->exceeded) {
        dv_stop(vm, true);
        return dv_poll_interrupt(vm);
    }
    work->exceeded = true;
    dv_raise(vm, DV_E_RUNTIME_ERROR, "instruction limit exceeded");
    return false;
}

bool dv_work_poll(dv_vm *vm) { return dv_work_within_limit(vm) && dv_poll_interrupt(vm); }

bool dv_work_slow(dv_vm *vm) {
    settle_look(vm);
    if (vm->work.slice <= rounds_of_interval(vm)) dv_poll_at_back_edge(vm);
    return dv_work_poll(vm);
}

void dv_work_owe(dv_vm *vm, int64_t units) {
    if (DV_LIKELY((vm->work.left -= units) >= 0)) return;
    settle_look(vm);
    dv_poll_soon(vm);
    dv_poll_at_back_edge(vm);
}
