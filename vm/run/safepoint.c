/* safepoint.c: safepoints: what a running VM does now and then: it settles its work (core/work.h),
 * collects, is interrupted, pauses.  vm->countdown goes down by one at each back edge and, where
 * they are counted, at each call; below 0 dv_slow_safepoint (engine.h) polls. */
#include "core/work.h"
#include "run/engine.h"
#include "run/program.h"
#include "run/thread.h"

enum { STRESSED_INTERVAL = 3, OBSERVED_INTERVAL = 2 };

/* What follows knows nothing of regions: the one at ip, if there is one, is left.  The result is
 * where to go on with vm->sp and vm->fp; NULL: leaving raised, and there is no handler. */
static const dv_cell *leave_region(DV_HANDLER_PARAMETERS) {
    const bool outside = ip == dv_count_cell || dv_thread_owns(dv_frame_thread(fp), ip);
    if (outside || !vm->hooks.region.depart) return ip;
    return vm->hooks.region.depart(ip, sp, fp, vm, r, d);
}

/* Units of work in a round of the loop whose back edge is at ip: long ones count more, so that they
 * poll as often.  The target of a back edge is in cell 2 of INCA code; in a region it is in cell 3,
 * or where that one leads out of the loop, in cell 4. */
static int64_t units_of_round(const dv_cell *ip) {
    enum { LONGEST = 1 << 16 };
    if (ip == dv_count_cell) return 1;
    for (int i = 2; i <= 4; i++) {
        const intptr_t bytes = (intptr_t)ip - (intptr_t)ip[i].target;
        const intptr_t cells = bytes / (intptr_t)sizeof *ip;
        if (cells >= 0 && cells < LONGEST) return 1 + cells / DV_CELLS_OF_UNIT;
        if (i == 3 && cells < -LONGEST) break;
    }
    return 1;
}

/* The interval until the next safepoint, after what wants to see each of them. */
static int64_t watch(dv_vm *vm, const dv_cell *ip, dv_value *fp, int64_t units) {
    int64_t interval = DV_SAFEPOINT_INTERVAL / units;
    if (vm->hooks.inspect.observe) {
        interval = OBSERVED_INTERVAL;
        vm->hooks.inspect.observe(vm, ip, fp);
    }
    if (vm->stress.break_assumptions && vm->hooks.region.break_assumptions) {
        interval = STRESSED_INTERVAL;
        vm->hooks.region.break_assumptions(vm, ip, fp);
    }
    return interval;
}

/* Waits of regions mean one safepoint in 65,536 rounds. */
static void tell_sample(dv_vm *vm, const dv_cell *ip, int64_t spent) {
    int64_t *rounds = &vm->work.unsampled;
    *rounds += spent;
    if (*rounds < DV_SAMPLE || !vm->hooks.region.sampled) return;
    vm->hooks.region.sampled(vm, ip, *rounds);
    *rounds = 0;
}

const dv_cell *dv_slow_safepoint(DV_HANDLER_PARAMETERS) {
    vm->ip = ip, vm->sp = sp, vm->fp = fp, vm->r = r, vm->d = d;
    const int64_t units = units_of_round(ip), interval = watch(vm, ip, fp, units);
    tell_sample(vm, ip, dv_work_settle(vm, units));
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
    if (!dv_poll_calls_slow(vm)) return dv_slow_raise(ip, sp, fp, vm, r, d);
    if (vm->hooks.inspect.observe && vm->collector.rest > 0) {
        /* What a collection owed has just been looked at: no round is observed twice. */
        vm->countdown = vm->collector.rest;
        vm->collector.rest = 0;
    }
    return pauses ? dv_program_pause(vm, ip) : ip;
}
