/* work.h: the work that a VM does is counted, for limits and slices, and so that whoever wants to
 * end a program is heard in time: by an interrupt, a stop, a limit, a deadline.
 *
 * Invariants
 *  1. A unit is about 10 ns.  There are two counters, since regions learn from the first how many
 *     rounds they make: vm->countdown, of back edges and counted calls, and vm->work_left, of what
 *     C functions do (dv_work).
 *  2. Who counts can be told that the program is to end: whoever calls dv_work holds counted
 *     references, no error is pending, and what it works on is in order, as where any error is
 *     raised.
 *  3. C code that does more than 100 units in a row counts them, at the latest after a millisecond.
 *     (What is less happens within a round that counts.)
 *  4. `done`, `limit` and `slice` are up to date after dv_work_settle alone.  They are never
 *     negative.
 *  5. A program that is to end is told so once, by an exception.  Then it has its grace; when that
 *     is over, it is stopped: nothing catches anything any more.  A run that begins is within its
 *     limits again. */
#ifndef DV_CORE_WORK_H
#define DV_CORE_WORK_H

#include "core/vm.h"

bool dv_work_slow(dv_vm *vm) DV_MUST_CHECK;

/* Counts work done in C: about `units` rounds of a loop in dl (10 ns each); not negative.  False:
 * raised (interrupted, stopped, limit or deadline exceeded).  What nobody can end is counted in one
 * go before it begins: if there is no time left for that much, the deadline is exceeded at once. */
DV_MUST_CHECK static inline bool dv_work(dv_vm *vm, int64_t units) {
    return DV_LIKELY((vm->work_left -= units) >= 0) || dv_work_slow(vm);
}

/* The same where nothing can be raised: what asks to be heard is so at the next back edge or call,
 * or in the next dv_work. */
void dv_work_owe_slow(dv_vm *vm);
static inline void dv_work_owe(dv_vm *vm, int64_t units) {
    if (DV_UNLIKELY((vm->work_left -= units) < 0)) dv_work_owe_slow(vm);
}

/* A call of a C function, by an instruction or from C: so it need not count what takes no longer.
 * Nobody is heard here, but soon after. */
enum { DV_WORK_CALL = 4, DV_WORK_INNER_CALL = 2 };
static inline void dv_work_call(dv_vm *vm, int units) { vm->work_left -= units; }

/* For what waits: false: raised, as by dv_work, but with a look at the clock each time. */
bool dv_work_poll(dv_vm *vm) DV_MUST_CHECK;

/* ---- Ending, from any thread or signal handler ---- */

/* Makes the next back edge, call or C function that polls raise KeyboardInterrupt. */
void dv_interrupt(dv_vm *vm);
/* DV_STOPPED: stops the program, for good; DV_ENDING: tells it to end, as limits do. */
void dv_stop(dv_vm *vm, int how);

/* ---- Limits: by the VM's thread ---- */

/* What each run may do, and this one if there is one, from now on; INT64_MAX: there is no bound. */
void dv_work_set_limits(dv_vm *vm, int64_t units, int64_t nanoseconds);
/* A run begins, unless it is part of another one, or of a program that is not yet at its end. */
void dv_work_begin_run(dv_vm *vm);
/* Nothing is stopped or exceeded any more, and all is left that a run may do. */
void dv_work_refill(dv_vm *vm);
/* What is left: INT64_MAX: there is no bound. */
int64_t dv_work_left(const dv_vm *vm);
int64_t dv_work_time_left(const dv_vm *vm); /* ns */
/* Why the program is stopped. */
const char *dv_work_stop_message(const dv_vm *vm);

/* ---- For safepoints (run/safepoint.c) ---- */

/* Rounds since the countdown was set. */
static inline int64_t dv_work_rounds_of_interval(const dv_vm *vm) {
    const int64_t left = (vm->countdown > 0 ? vm->countdown : 0) + vm->collector.rest;
    return vm->work.interval - 1 - left;
}
/* All rounds so far. */
static inline int64_t dv_work_rounds(const dv_vm *vm) {
    return vm->work.rounds + dv_work_rounds_of_interval(vm);
}

/* At first: nothing is counted so far, and there are no bounds. */
void dv_work_init(dv_vm *vm);
/* Charges what was done since the last time to limit and slice, where a round is so many units; how
 * many rounds that were.  The countdown must be set anew (dv_work_renew). */
int64_t dv_work_settle(dv_vm *vm, int64_t units);
/* Lets the program work until the limit or the slice is used up, but never more than `longest`. */
void dv_work_renew(dv_vm *vm, int64_t longest);
/* All work so far. */
uint64_t dv_work_done(const dv_vm *vm);
/* False: raised, since the program has exceeded a limit. */
bool dv_work_within_limits(dv_vm *vm) DV_MUST_CHECK;

/* Rounds, of which some take microseconds; and those that regions want to be told of at once. */
enum { DV_SAFEPOINT_INTERVAL = (1 << 14) + 1, DV_SAMPLE = 1 << 16 };

#endif
