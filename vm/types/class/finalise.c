/* finalise.c: __del__ of instances whose last reference goes (core/upcall.h: dv_finalise),
 * and what finalisers have in common (finalise.h).
 *
 * Invariants
 *  1. A finaliser runs at most once for an object, even if that lives on (core/shape.c keeps note).
 */
#include "types/class/finalise.h"

#include "core/native.h"
#include "core/upcall.h"
#include "core/work.h"
#include "types/exception/exception.h"
#include "types/class/instance.h"
#include "types/exception/hook.h"

enum { UNITS = 30 }; /* a call from C */

dv_finaliser dv_finaliser_enter(dv_vm *vm) {
    dv_finaliser saved = {vm->error, vm->keywords, vm->release_depth, vm->work.interrupts};
    vm->error = DV_EMPTY;
    /* What dies meanwhile is released at once, but does not work off the queue of a release that is
     * going on. */
    vm->release_depth = vm->release_depth ? 1 : 0;
    return saved;
}

void dv_finaliser_leave(dv_vm *vm, const dv_finaliser *saved, dv_value culprit) {
    if (!dv_is_empty(vm->error)) {
        const bool again = vm->work.interrupts != saved->interrupts;
        if (again && dv_error_is(vm, DV_E_KEYBOARD_INTERRUPT)) dv_interrupt(vm);
        dv_hook_unraisable(vm, DV_NONE, culprit);
    }
    vm->error = saved->error;
    vm->keywords = saved->keywords;
    vm->release_depth = saved->depth;
}

void dv_weak_call(dv_vm *vm, dv_value weak, dv_value callback) {
    dv_finaliser saved = dv_finaliser_enter(vm);
    if (dv_enter_native(vm)) {
        dv_release(vm, dv_call(vm, callback, &weak, 1, DV_EMPTY));
        dv_leave_native(vm);
    }
    dv_finaliser_leave(vm, &saved, callback);
    dv_work_owe(vm, UNITS);
}

bool dv_finalise(dv_vm *vm, dv_object *object, dv_value function) {
    if (vm->hooks.inspect.died) vm->hooks.inspect.died(vm, object);
    dv_finaliser saved = dv_finaliser_enter(vm);
    object->references++;
    dv_retain(function);
    if (dv_enter_native(vm)) {
        dv_release(vm, dv_call_with_self(vm, function, dv_object_value(object), NULL, 0, DV_EMPTY));
        dv_leave_native(vm);
    }
    dv_finaliser_leave(vm, &saved, function);
    dv_release(vm, function);
    dv_work_owe(vm, UNITS); /* (In front of the call, it would be the finaliser that is told.) */
    return --object->references == 0;
}
