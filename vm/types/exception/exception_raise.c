/* exception_raise.c: raising and catching (core/upcall.h, exception.h). */
#include "types/exception/exception_raise.h"

#include <stdarg.h>

#include "core/work.h"
#include "types/class/class.h"
#include "types/callable/generator.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

void dv_error_clear(dv_vm *vm) {
    dv_value error = vm->error;
    vm->error = DV_EMPTY;
    dv_release(vm, error);
}

bool dv_error_is(dv_vm *vm, dv_error_class error) {
    return !dv_is_empty(vm->error) &&
           dv_class_is_subclass(dv_as_exception(vm->error)->class_, vm->error_classes[error]);
}

/* The exception being handled becomes the context, unless it is this one.  If this one is already
 * in that chain, the chain is cut there, so that it does not become a ring; a program may have made
 * a ring of it, which a second walk at half the speed finds. */
static void set_context(dv_vm *vm, dv_exception *exception) {
    dv_value handled = dv_handled_exception(vm);
    if (!dv_is_exception(handled) || dv_as_exception(handled) == exception) return;
    dv_exception *at = dv_as_exception(handled), *slow = at;
    bool slow_moves = false;
    while (dv_is_exception(at->context)) {
        if (dv_as_exception(at->context) == exception) {
            dv_value cut = at->context;
            at->context = DV_EMPTY;
            dv_release(vm, cut);
            break;
        }
        at = dv_as_exception(at->context);
        if (at == slow) break;
        if (slow_moves) slow = dv_as_exception(slow->context);
        slow_moves = !slow_moves;
    }
    dv_value old = exception->context;
    exception->context = dv_retain(handled);
    dv_release(vm, old);
}

/* Takes the exception.  (It is made, has a context, handlers are looked for: some 500 ns.) */
static void raise_object(dv_vm *vm, dv_value exception) {
    enum { UNITS = 50 };
    dv_work_owe(vm, UNITS);
    set_context(vm, dv_as_exception(exception));
    dv_value old = vm->error;
    vm->error = exception;
    dv_release(vm, old);
}

static dv_value raise_new(dv_vm *vm, dv_error_class error, const dv_value *args, int64_t count) {
    dv_value tuple = dv_tuple_new(vm, args, count);
    if (dv_is_empty(tuple)) return DV_EMPTY;
    dv_value exception = dv_exception_new(vm, vm->error_classes[error], tuple);
    dv_release(vm, tuple);
    if (!dv_is_empty(exception)) raise_object(vm, exception);
    return DV_EMPTY;
}

dv_value dv_raise_value(dv_vm *vm, dv_error_class error, dv_value argument) {
    return raise_new(vm, error, &argument, 1);
}

/* NameErrors made by the machine know which name it was, for suggestions. */
static void note_name(dv_vm *vm, dv_value message) {
    const dv_str *s = dv_as_str(message);
    int64_t first = 0, last = s->length - 1;
    while (first < s->length && dv_str_at(s, first) != '\'') first++;
    while (last > first && dv_str_at(s, last) != '\'') last--;
    if (last <= first) return;
    dv_value error = vm->error;
    vm->error = DV_EMPTY;
    dv_value name = dv_str_slice(vm, message, first + 1, last);
    if (dv_is_empty(name) || !dv_exception_set(vm, error, "name", name)) dv_error_clear(vm);
    dv_release(vm, name);
    vm->error = error;
}

dv_value dv_raise_bare(dv_vm *vm, dv_error_class error) {
    if (dv_is_empty(vm->error) || dv_error_is(vm, DV_E_MEMORY_ERROR)) return DV_EMPTY;
    dv_error_clear(vm);
    return raise_new(vm, error, NULL, 0);
}

dv_value dv_raise(dv_vm *vm, dv_error_class error, const char *format, ...) {
    if (!*format) return raise_new(vm, error, NULL, 0);
    va_list arguments;
    va_start(arguments, format);
    dv_value message = dv_str_vprintf(vm, format, arguments);
    va_end(arguments);
    if (dv_is_empty(message)) return dv_raise_bare(vm, error);
    raise_new(vm, error, &message, 1);
    if (error == DV_E_NAME_ERROR && dv_error_is(vm, error)) note_name(vm, message);
    dv_release(vm, message);
    return DV_EMPTY;
}

dv_value dv_raise_declared(dv_vm *vm, const dv_declared *declared, dv_value about) {
    if (DV_UNLIKELY(vm->quiet.declared == declared) && dv_leaves_unmade(vm, about)) return DV_EMPTY;
    if (declared->text) return dv_raise(vm, declared->error, declared->text, about);
    return raise_new(vm, declared->error, &about, declared->argument != 0);
}

dv_value dv_raise_memory(dv_vm *vm) {
    if (dv_is_empty(vm->memory_error)) return DV_EMPTY; /* the VM is still being made */
    dv_exception *exception = dv_as_exception(vm->memory_error);
    if (exception->header.references == 1) {
        dv_exception_forget_trace(vm, exception);
        dv_value context = exception->context;
        exception->context = DV_EMPTY;
        dv_release(vm, context);
    }
    raise_object(vm, dv_retain(vm->memory_error));
    return DV_EMPTY;
}

/* An exception from what `raise` was given, new; EMPTY: raised. */
static dv_value instantiate(dv_vm *vm, dv_value v, const char *refusal) {
    if (dv_is_exception(v)) return dv_retain(v);
    if (!dv_is_class(v) || dv_as_class(v)->type != DV_T_EXCEPTION)
        return dv_raise(vm, DV_E_TYPE_ERROR, "%s", refusal);
    dv_value exception = dv_call(vm, v, NULL, 0, DV_EMPTY);
    if (dv_is_empty(exception) || dv_is_exception(exception)) return exception;
    dv_raise(vm, DV_E_TYPE_ERROR,
             "calling %V should have returned an instance of BaseException, not %V", v,
             dv_object_value(dv_class_of(vm, exception)));
    dv_release(vm, exception);
    return DV_EMPTY;
}

/* The same of what a generator is to throw; another message. */
static dv_value call_class(dv_vm *vm, dv_value class_, const dv_value *args, uint32_t count) {
    dv_value exception = dv_call(vm, class_, args, count, DV_EMPTY);
    if (dv_is_empty(exception) || dv_is_exception(exception)) return exception;
    dv_raise(vm, DV_E_TYPE_ERROR,
             "calling %V should have returned an instance of BaseException, not %T", class_,
             exception);
    dv_release(vm, exception);
    return DV_EMPTY;
}

dv_value dv_exception_of(dv_vm *vm, dv_value given, dv_value value) {
    bool is_class = dv_is_class(given) && dv_as_class(given)->type == DV_T_EXCEPTION;
    if (!is_class && !dv_is_exception(given))
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "exceptions must be classes or instances deriving from BaseException, not "
                        "%T",
                        given);
    if (!is_class && !dv_is_none(value))
        return dv_raise(vm, DV_E_TYPE_ERROR, "instance exception may not have a separate value");
    if (!is_class) return dv_retain(given);
    if (dv_is_none(value)) return call_class(vm, given, NULL, 0);
    if (dv_is_exception(value) && dv_class_is_subclass(dv_class_of(vm, value), dv_as_class(given)))
        return dv_retain(value);
    if (!dv_is_tuple(value)) return call_class(vm, given, &value, 1);
    return call_class(vm, given, dv_as_tuple(value)->items, (uint32_t)dv_as_tuple(value)->count);
}

void dv_exception_raise(dv_vm *vm, dv_value exc, dv_value cause) {
    dv_value exception = instantiate(vm, exc, "exceptions must derive from BaseException");
    if (dv_is_empty(exception)) return;
    if (!dv_is_empty(cause)) {
        dv_value from =
            dv_is_none(cause)
                ? DV_NONE
                : instantiate(vm, cause, "exception causes must derive from BaseException");
        if (dv_is_empty(from)) {
            dv_release(vm, exception);
            return;
        }
        dv_value old = dv_as_exception(exception)->cause;
        dv_as_exception(exception)->cause = from;
        dv_as_exception(exception)->suppress_context = true;
        dv_release(vm, old);
    }
    raise_object(vm, exception);
}

static int match_class(dv_vm *vm, dv_value exception, dv_value type) {
    if (!dv_is_class(type) || dv_as_class(type)->type != DV_T_EXCEPTION) {
        dv_raise(vm, DV_E_TYPE_ERROR,
                 "catching classes that do not inherit from BaseException is not allowed");
        return -1;
    }
    return dv_class_is_subclass(dv_as_exception(exception)->class_, dv_as_class(type));
}

int dv_exception_match(dv_vm *vm, dv_value exception, dv_value type) {
    if (!dv_is_tuple(type)) return match_class(vm, exception, type);
    const dv_tuple *types = dv_as_tuple(type);
    int result = 0;
    /* All are looked at, since one that is no exception class is an error even behind a match. */
    for (int64_t i = 0; i < types->count; i++) {
        int match = match_class(vm, exception, types->items[i]);
        if (match < 0) return -1;
        result |= match;
    }
    return result;
}
