/* finalise.c: __del__ of instances whose last reference goes (core/upcall.h: dv_finalise).
 *
 * Invariants
 *  1. A finaliser runs at most once for an object, even if that lives on (core/shape.c keeps note).
 *  2. It changes neither the exception that is being raised nor where control is: an exception of
 * its own is reported and forgotten. */
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
static void report(dv_vm *vm, dv_value function) {
    dv_value error = vm->error;
    vm->error = DV_EMPTY;
    dv_exception *exception = dv_as_exception(error);
    dv_value context = exception->context, cause = exception->cause;
    exception->context = exception->cause = DV_EMPTY;
    dv_value trace = dv_exception_text(vm, error), text = DV_EMPTY;
    exception->context = context;
    exception->cause = cause;
    if (!dv_is_empty(trace))
        text = dv_str_printf(vm, "Exception ignored in: %V\n%S", function, trace);
    if (!dv_is_empty(text)) write_text(vm, text);
    dv_release(vm, trace);
    dv_release(vm, text);
    dv_release(vm, error);
    dv_error_clear(vm);
}

static void call(dv_vm *vm, dv_value self, dv_value function) {
    if (dv_enter_native(vm)) {
        dv_release(vm, dv_call_with_self(vm, function, self, NULL, 0, DV_EMPTY));
        dv_leave_native(vm);
    }
    if (!dv_is_empty(vm->error)) report(vm, function);
}

bool dv_finalise(dv_vm *vm, dv_object *object, dv_value function) {
    dv_value error = vm->error, keywords = vm->keywords;
    uint32_t depth = vm->release_depth;
    vm->error = DV_EMPTY;
    /* What dies meanwhile is released at once, but does not work off the queue. */
    vm->release_depth = 1;
    object->references++;
    dv_retain(function);
    call(vm, dv_object_value(object), function);
    dv_release(vm, function);
    vm->release_depth = depth;
    vm->error = error;
    vm->keywords = keywords;
    return --object->references == 0;
}
