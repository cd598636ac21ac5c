/* hook.c: exceptions that nobody catches (hook.h). */
#include "types/exception/hook.h"

#include "core/upcall.h"
#include "types/class/class.h"
#include "types/exception/exception.h"
#include "types/callable/function.h"
#include "types/file/module.h"
#include "types/text/str.h"
#include "types/file/stream.h"
#include "types/sequence/tuple.h"

/* Writing ---------------------------------------------------------------------------------------
 */

static dv_value call_method(dv_vm *vm, dv_value object, const char *method, const dv_value *args,
                            uint32_t count) {
    dv_value function = dv_get_named(vm, object, method);
    if (dv_is_empty(function)) return DV_EMPTY;
    dv_value result = dv_call(vm, function, args, count, DV_EMPTY);
    dv_release(vm, function);
    return result;
}

/* What could not be done here, nobody is told. */
static void forget(dv_vm *vm, bool done) {
    (void)done;
    dv_error_clear(vm);
}

/* Has the program put something else in the place of sys.stderr?  That, borrowed; else EMPTY. */
static dv_value other_stderr(dv_vm *vm) {
    dv_value file = dv_sys_get(vm, "stderr");
    bool own = dv_is_standard(file) && ((const dv_stream *)dv_as_object(file))->number == DV_STDERR;
    if (dv_is_empty(vm->sys.module) || own || vm->sys.closed >> DV_STDERR & 1) return DV_EMPTY;
    return dv_is_empty(file) ? DV_NONE : file;
}

/* Lone surrogates are written as "\ud800". */
static void write_to_host(dv_vm *vm, dv_value text) {
    forget(vm, dv_stream_write(vm, DV_STDERR, text));
}

/* None takes everything. */
static void write_to(dv_vm *vm, dv_value file, dv_value text) {
    if (dv_is_none(file)) return;
    dv_retain(file);
    dv_release(vm, call_method(vm, file, "write", &text, 1));
    dv_error_clear(vm);
    dv_release(vm, call_method(vm, file, "flush", NULL, 0));
    dv_error_clear(vm);
    dv_release(vm, file);
}

void dv_hook_write(dv_vm *vm, dv_value text) {
    dv_value file = other_stderr(vm);
    if (dv_is_empty(file))
        write_to_host(vm, text);
    else
        write_to(vm, file, text);
}

/* Uncaught exceptions ---------------------------------------------------------------------------
 */

static bool is_original(dv_value hook, const dv_cfunction_def *def) {
    return dv_is_shape(hook, DV_T_CFUNCTION) &&
           ((const dv_cfunction *)dv_as_object(hook))->def->entry == def->entry;
}

/* sys.excepthook(type, value, traceback) */
static dv_value show_exception(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value exception = args[1], text;
    if (dv_is_exception(exception)) {
        if (!dv_exception_has_trace(dv_as_exception(exception)) && !dv_is_none(args[2]))
            dv_exception_set_traceback(vm, exception, args[2]);
        text = dv_exception_text(vm, exception);
    } else {
        text = dv_str_printf(
            vm, "TypeError: print_exception(): Exception expected for value, %T found\n",
            exception);
    }
    if (dv_is_empty(text)) return DV_EMPTY;
    dv_hook_write(vm, text);
    dv_release(vm, text);
    return DV_NONE;
}

/* sys.last_type and its like; there is a sys. */
static void set_last(dv_vm *vm, const dv_value *info) {
    static const char *const names[] = {"last_type", "last_value", "last_traceback"};
    for (int i = 0; i < 3; i++)
        forget(vm, dv_namespace_set(vm, &dv_as_module(vm->sys.module)->names, names[i],
                                    dv_retain(info[i])));
}

/* Type, value and traceback; only the last is owned. */
static void take_apart(dv_vm *vm, dv_value exception, dv_value *info) {
    info[0] = dv_object_value(dv_class_of(vm, exception));
    info[1] = exception;
    info[2] = dv_exception_traceback(vm, exception);
    if (!dv_is_empty(info[2])) return;
    dv_error_clear(vm);
    info[2] = DV_NONE;
}

/* The program's hook has failed with vm->error, which is cleared. */
static dv_value describe_failure(dv_vm *vm, dv_value exception) {
    dv_value failure = vm->error;
    vm->error = DV_EMPTY;
    dv_value of_failure = dv_exception_text(vm, failure);
    dv_value of_exception = dv_is_empty(of_failure) ? DV_EMPTY : dv_exception_text(vm, exception);
    dv_value text = DV_EMPTY;
    if (!dv_is_empty(of_exception))
        text = dv_str_printf(vm, "Error in sys.excepthook:\n%S\nOriginal exception was:\n%S",
                             of_failure, of_exception);
    dv_release(vm, of_failure);
    dv_release(vm, of_exception);
    dv_release(vm, failure);
    return text;
}

static dv_value describe(dv_vm *vm, dv_value exception, bool missing) {
    dv_value text = dv_exception_text(vm, exception);
    if (!missing || dv_is_empty(text)) return text;
    dv_value longer = dv_str_printf(vm, "sys.excepthook is missing\n%S", text);
    dv_release(vm, text);
    return longer;
}

/* What is left to show after the hook; EMPTY: raised, or it was an exit. */
static dv_value call_hook(dv_vm *vm, dv_value hook, dv_value exception) {
    dv_value info[3];
    take_apart(vm, exception, info);
    set_last(vm, info);
    dv_value text;
    if (dv_is_empty(hook) || is_original(hook, &dv_hook_functions[0])) {
        text = describe(vm, exception, dv_is_empty(hook));
    } else {
        forget(vm, dv_stream_flush(vm, DV_STDOUT));
        dv_value result = dv_call(vm, hook, info, 3, DV_EMPTY);
        if (!dv_is_empty(result))
            text = dv_str_empty(vm);
        else
            text = dv_error_is(vm, DV_E_SYSTEM_EXIT) ? DV_EMPTY : describe_failure(vm, exception);
        dv_release(vm, result);
    }
    dv_release(vm, info[2]);
    return text;
}

dv_value dv_hook_uncaught(dv_vm *vm) {
    dv_value exception = vm->error;
    vm->error = DV_EMPTY;
    dv_value text;
    if (dv_is_empty(vm->sys.module)) {
        text = dv_exception_text(vm, exception);
    } else {
        dv_value hook = dv_retain(dv_sys_get(vm, "excepthook"));
        text = call_hook(vm, hook, exception);
        dv_release(vm, hook);
    }
    dv_value file = dv_is_empty(text) ? DV_EMPTY : other_stderr(vm);
    if (!dv_is_empty(file)) {
        write_to(vm, file, text);
        dv_release(vm, text);
        text = dv_str_empty(vm);
    }
    if (dv_is_empty(text) && dv_error_is(vm, DV_E_SYSTEM_EXIT)) {
        dv_release(vm, exception);
        return text;
    }
    const bool ended =
        dv_is_empty(text) && (dv_error_is(vm, DV_E_KEYBOARD_INTERRUPT) ||
                              (vm->work.exceeded && dv_error_is(vm, DV_E_RUNTIME_ERROR)));
    if (ended) { /* there was no time to tell of it */
        dv_release(vm, exception);
        exception = vm->error;
        vm->error = DV_EMPTY;
        text = dv_exception_text(vm, exception);
    }
    dv_error_clear(vm);
    vm->error = exception;
    return text;
}

/* Unraisable exceptions -------------------------------------------------------------------------
 */

/* What comes before the traceback: "Exception ignored in: <function C.__del__ at 0x...>". */
static dv_value ignored_where(dv_vm *vm, dv_value message, dv_value culprit) {
    if (dv_is_none(culprit))
        return dv_is_str(message) ? dv_str_printf(vm, "%S:\n", message) : dv_str_empty(vm);
    dv_value where = dv_repr(vm, culprit);
    if (dv_is_empty(where)) {
        dv_error_clear(vm);
        where = dv_str_z(vm, "<object repr() failed>");
    }
    if (dv_is_empty(where)) return DV_EMPTY;
    dv_value text = dv_is_str(message) ? dv_str_printf(vm, "%S: %S\n", message, where)
                                       : dv_str_printf(vm, "Exception ignored in: %S\n", where);
    dv_release(vm, where);
    return text;
}

static void show_ignored(dv_vm *vm, dv_value message, dv_value culprit, dv_value exception) {
    dv_value where = ignored_where(vm, message, culprit);
    if (!dv_is_empty(where)) {
        dv_hook_write(vm, where);
        dv_value trace = dv_exception_bare_text(vm, exception);
        if (!dv_is_empty(trace)) dv_hook_write(vm, trace);
        dv_release(vm, trace);
    }
    dv_release(vm, where);
    dv_error_clear(vm);
}

/* sys.UnraisableHookArgs of an exception: the library module _sys has the class. */
static dv_value make_arguments(dv_vm *vm, dv_value message, dv_value culprit, dv_value exception) {
    dv_value name = dv_str_intern(vm, "_sys", 4);
    if (dv_is_empty(name)) return DV_EMPTY;
    dv_value module = dv_import_helper(vm, name);
    dv_release(vm, name);
    if (dv_is_empty(module)) return DV_EMPTY;
    dv_value info[3];
    take_apart(vm, exception, info);
    dv_value fields[] = {info[0], info[1], info[2], message, culprit};
    dv_value arguments = call_method(vm, module, "unraisable", fields, 5);
    dv_release(vm, info[2]);
    dv_release(vm, module);
    return arguments;
}

/* False: the hook has failed with vm->error. */
static bool call_unraisable(dv_vm *vm, dv_value hook, dv_value message, dv_value culprit,
                            dv_value exception) {
    dv_value arguments = make_arguments(vm, message, culprit, exception);
    if (dv_is_empty(arguments)) return false;
    dv_value result = dv_call(vm, hook, &arguments, 1, DV_EMPTY);
    dv_release(vm, arguments);
    dv_release(vm, result);
    return !dv_is_empty(result);
}

void dv_hook_unraisable(dv_vm *vm, dv_value message, dv_value culprit) {
    dv_value exception = vm->error;
    dv_retain(message);
    vm->error = DV_EMPTY;
    dv_value hook = dv_retain(dv_sys_get(vm, "unraisablehook"));
    bool plain = dv_is_empty(hook) || dv_is_none(hook) || is_original(hook, &dv_hook_functions[1]);
    if (!plain && call_unraisable(vm, hook, message, culprit, exception)) {
        dv_release(vm, message);
        dv_release(vm, hook);
        dv_release(vm, exception);
        return;
    }
    if (!plain) { /* tell what the hook has raised */
        dv_release(vm, exception);
        exception = vm->error;
        vm->error = DV_EMPTY;
        culprit = hook;
        dv_release(vm, message);
        message = dv_str_z(vm, "Exception ignored in sys.unraisablehook");
        if (dv_is_empty(message)) message = DV_NONE;
    }
    show_ignored(vm, message, culprit, exception);
    dv_release(vm, message);
    dv_release(vm, hook);
    dv_release(vm, exception);
}

/* Is it what make_arguments makes, with an exception in it? */
static bool is_unraisable(dv_vm *vm, dv_value v) {
    return dv_is_tuple(v) && dv_as_tuple(v)->count == 5 &&
           dv_str_is(dv_class_of(vm, v)->name, "UnraisableHookArgs") &&
           dv_is_exception(dv_as_tuple(v)->items[1]);
}

/* sys.unraisablehook(unraisable) */
static dv_value show_unraisable(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!is_unraisable(vm, args[0]))
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "sys.unraisablehook argument type must be UnraisableHookArgs");
    const dv_value *fields = dv_as_tuple(args[0])->items;
    show_ignored(vm, fields[3], fields[4], fields[1]);
    return DV_NONE;
}

const dv_cfunction_def dv_hook_functions[] = {
    {.name = "excepthook", .entry = show_exception, .min = 3, .max = 3},
    {.name = "unraisablehook", .entry = show_unraisable, .min = 1, .max = 1},
    {.name = NULL}};
