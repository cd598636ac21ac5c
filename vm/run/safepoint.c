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
    if (!dv_poll_calls_slow(vm)) return dv_slow_raise(ip, sp, fp, vm, r, d);
    return pauses ? dv_program_pause(vm, ip) : ip;
}
