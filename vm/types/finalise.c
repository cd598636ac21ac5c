/* finalise.c: __del__ of instances whose last reference goes (core/upcall.h: dv_finalise),
 * and what finalisers have in common (finalise.h).
 *
 * Invariants
 *  1. A finaliser runs at most once for an object, even if that lives on (core/shape.c keeps note).
 */
#include "types/finalise.h"

#include "core/native.h"
#include "core/upcall.h"
#include "types/exception.h"
#include "types/instance.h"
#include "types/str.h"

static void write_text(dv_vm *vm, dv_value text) {
    size_t size;
    char *utf8 = dv_str_utf8(vm, text, &size);
    if (!utf8) return;
    if (vm->error_output) vm->error_output(vm->output_context, utf8, size);
    dv_heap_free(&vm->heap, utf8, size + 1);
}

/* "Exception ignored in: <function C.__del__ at 0x...>" and the traceback, without what it was
 * raised in the context of. */
static void report(dv_vm *vm, dv_value culprit) {
    dv_value error = vm->error;
    vm->error = DV_EMPTY;
    dv_exception *exception = dv_as_exception(error);
    dv_value context = exception->context, cause = exception->cause;
    exception->context = exception->cause = DV_EMPTY;
    dv_value trace = dv_exception_text(vm, error), text = DV_EMPTY;
    exception->context = context;
    exception->cause = cause;
    if (!dv_is_empty(trace))
        text = dv_str_printf(vm, "Exception ignored in: %V\n%S", culprit, trace);
    if (!dv_is_empty(text)) write_text(vm, text);
    dv_release(vm, trace);
    dv_release(vm, text);
    dv_release(vm, error);
    dv_error_clear(vm);
}

dv_finaliser dv_finaliser_enter(dv_vm *vm) {
    dv_finaliser saved = {vm->error, vm->keywords, vm->release_depth};
    vm->error = DV_EMPTY;
    /* What dies meanwhile is released at once, but does not work off the queue of a release that is
     * going on. */
    vm->release_depth = vm->release_depth ? 1 : 0;
    return saved;
}

void dv_finaliser_leave(dv_vm *vm, const dv_finaliser *saved, dv_value culprit) {
    if (!dv_is_empty(vm->error)) report(vm, culprit);
    vm->error = saved->error;
    vm->keywords = saved->keywords;
    vm->release_depth = saved->depth;
}

bool dv_finalise(dv_vm *vm, dv_object *object, dv_value function) {
    dv_finaliser saved = dv_finaliser_enter(vm);
    object->references++;
    dv_retain(function);
    if (dv_enter_native(vm)) {
        dv_release(vm, dv_call_with_self(vm, function, dv_object_value(object), NULL, 0, DV_EMPTY));
        dv_leave_native(vm);
    }
    dv_finaliser_leave(vm, &saved, function);
    dv_release(vm, function);
    return --object->references == 0;
}
