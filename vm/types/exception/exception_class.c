/* exception_class.c: the classes of exceptions, and what their constructors do with arguments
 * (exception.h).
 *
 * Invariant 1: the args of an OSError made with a file name are errno and strerror; file names are
 * attributes. */
#include "types/exception/exception.h"

#include <errno.h>

#include "types/binary/bytes.h"
#include "types/class/class.h"
#include "types/exception/exception_field.h"
#include "types/class/instance.h"
#include "types/number/int.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

/* Classes ---------------------------------------------------------------------------------------
 */

typedef struct class_row {
    const char *name;
    dv_error_class base;
} class_row;

/* In the order of dv_error_class; a base stands before its subclasses. */
static const class_row rows[DV_E_BUILTIN_COUNT] = {
    [DV_E_BASE_EXCEPTION] = {"BaseException", DV_E_COUNT},
    [DV_E_EXCEPTION] = {"Exception", DV_E_BASE_EXCEPTION},
    [DV_E_TYPE_ERROR] = {"TypeError", DV_E_EXCEPTION},
    [DV_E_VALUE_ERROR] = {"ValueError", DV_E_EXCEPTION},
    [DV_E_LOOKUP_ERROR] = {"LookupError", DV_E_EXCEPTION},
    [DV_E_INDEX_ERROR] = {"IndexError", DV_E_LOOKUP_ERROR},
    [DV_E_KEY_ERROR] = {"KeyError", DV_E_LOOKUP_ERROR},
    [DV_E_ATTRIBUTE_ERROR] = {"AttributeError", DV_E_EXCEPTION},
    [DV_E_NAME_ERROR] = {"NameError", DV_E_EXCEPTION},
    [DV_E_UNBOUND_LOCAL_ERROR] = {"UnboundLocalError", DV_E_NAME_ERROR},
    [DV_E_ARITHMETIC_ERROR] = {"ArithmeticError", DV_E_EXCEPTION},
    [DV_E_ZERO_DIVISION_ERROR] = {"ZeroDivisionError", DV_E_ARITHMETIC_ERROR},
    [DV_E_OVERFLOW_ERROR] = {"OverflowError", DV_E_ARITHMETIC_ERROR},
    [DV_E_FLOATING_POINT_ERROR] = {"FloatingPointError", DV_E_ARITHMETIC_ERROR},
    [DV_E_RUNTIME_ERROR] = {"RuntimeError", DV_E_EXCEPTION},
    [DV_E_RECURSION_ERROR] = {"RecursionError", DV_E_RUNTIME_ERROR},
    [DV_E_NOT_IMPLEMENTED_ERROR] = {"NotImplementedError", DV_E_RUNTIME_ERROR},
    [DV_E_MEMORY_ERROR] = {"MemoryError", DV_E_EXCEPTION},
    [DV_E_STOP_ITERATION] = {"StopIteration", DV_E_EXCEPTION},
    [DV_E_ASSERTION_ERROR] = {"AssertionError", DV_E_EXCEPTION},
    [DV_E_IMPORT_ERROR] = {"ImportError", DV_E_EXCEPTION},
    [DV_E_MODULE_NOT_FOUND_ERROR] = {"ModuleNotFoundError", DV_E_IMPORT_ERROR},
    [DV_E_OS_ERROR] = {"OSError", DV_E_EXCEPTION},
    [DV_E_EOF_ERROR] = {"EOFError", DV_E_EXCEPTION},
    [DV_E_SYNTAX_ERROR] = {"SyntaxError", DV_E_EXCEPTION},
    [DV_E_INDENTATION_ERROR] = {"IndentationError", DV_E_SYNTAX_ERROR},
    [DV_E_TAB_ERROR] = {"TabError", DV_E_INDENTATION_ERROR},
    [DV_E_SYSTEM_EXIT] = {"SystemExit", DV_E_BASE_EXCEPTION},
    [DV_E_KEYBOARD_INTERRUPT] = {"KeyboardInterrupt", DV_E_BASE_EXCEPTION},
    [DV_E_GENERATOR_EXIT] = {"GeneratorExit", DV_E_BASE_EXCEPTION},
    [DV_E_UNICODE_ERROR] = {"UnicodeError", DV_E_VALUE_ERROR},
    [DV_E_UNICODE_DECODE_ERROR] = {"UnicodeDecodeError", DV_E_UNICODE_ERROR},
    [DV_E_UNICODE_ENCODE_ERROR] = {"UnicodeEncodeError", DV_E_UNICODE_ERROR},
    [DV_E_SYSTEM_ERROR] = {"SystemError", DV_E_EXCEPTION},
    [DV_E_FILE_NOT_FOUND_ERROR] = {"FileNotFoundError", DV_E_OS_ERROR},
    [DV_E_PERMISSION_ERROR] = {"PermissionError", DV_E_OS_ERROR},
    [DV_E_BUFFER_ERROR] = {"BufferError", DV_E_EXCEPTION},
    [DV_E_WARNING] = {"Warning", DV_E_EXCEPTION},
    [DV_E_BLOCKING_IO_ERROR] = {"BlockingIOError", DV_E_OS_ERROR},
    [DV_E_CHILD_PROCESS_ERROR] = {"ChildProcessError", DV_E_OS_ERROR},
    [DV_E_CONNECTION_ERROR] = {"ConnectionError", DV_E_OS_ERROR},
    [DV_E_BROKEN_PIPE_ERROR] = {"BrokenPipeError", DV_E_CONNECTION_ERROR},
    [DV_E_CONNECTION_ABORTED_ERROR] = {"ConnectionAbortedError", DV_E_CONNECTION_ERROR},
    [DV_E_CONNECTION_REFUSED_ERROR] = {"ConnectionRefusedError", DV_E_CONNECTION_ERROR},
    [DV_E_CONNECTION_RESET_ERROR] = {"ConnectionResetError", DV_E_CONNECTION_ERROR},
    [DV_E_FILE_EXISTS_ERROR] = {"FileExistsError", DV_E_OS_ERROR},
    [DV_E_INTERRUPTED_ERROR] = {"InterruptedError", DV_E_OS_ERROR},
    [DV_E_IS_A_DIRECTORY_ERROR] = {"IsADirectoryError", DV_E_OS_ERROR},
    [DV_E_NOT_A_DIRECTORY_ERROR] = {"NotADirectoryError", DV_E_OS_ERROR},
    [DV_E_PROCESS_LOOKUP_ERROR] = {"ProcessLookupError", DV_E_OS_ERROR},
    [DV_E_TIMEOUT_ERROR] = {"TimeoutError", DV_E_OS_ERROR},
    [DV_E_REFERENCE_ERROR] = {"ReferenceError", DV_E_EXCEPTION},
    [DV_E_STOP_ASYNC_ITERATION] = {"StopAsyncIteration", DV_E_EXCEPTION},
    [DV_E_UNICODE_TRANSLATE_ERROR] = {"UnicodeTranslateError", DV_E_UNICODE_ERROR},
    [DV_E_USER_WARNING] = {"UserWarning", DV_E_WARNING},
    [DV_E_DEPRECATION_WARNING] = {"DeprecationWarning", DV_E_WARNING},
    [DV_E_PENDING_DEPRECATION_WARNING] = {"PendingDeprecationWarning", DV_E_WARNING},
    [DV_E_SYNTAX_WARNING] = {"SyntaxWarning", DV_E_WARNING},
    [DV_E_RUNTIME_WARNING] = {"RuntimeWarning", DV_E_WARNING},
    [DV_E_FUTURE_WARNING] = {"FutureWarning", DV_E_WARNING},
    [DV_E_IMPORT_WARNING] = {"ImportWarning", DV_E_WARNING},
    [DV_E_UNICODE_WARNING] = {"UnicodeWarning", DV_E_WARNING},
    [DV_E_BYTES_WARNING] = {"BytesWarning", DV_E_WARNING},
    [DV_E_RESOURCE_WARNING] = {"ResourceWarning", DV_E_WARNING},
    [DV_E_ENCODING_WARNING] = {"EncodingWarning", DV_E_WARNING},
};

static bool make_class(dv_vm *vm, dv_error_class error) {
    const class_row *row = &rows[error];
    dv_class *base =
        row->base == DV_E_COUNT ? vm->classes[DV_T_OBJECT] : vm->error_classes[row->base];
    dv_value name = dv_str_intern(vm, row->name, strlen(row->name));
    if (dv_is_empty(name)) return false;
    dv_class *class_ = dv_class_new(vm, name, base, DV_T_EXCEPTION);
    dv_release(vm, name);
    if (!class_) return false;
    class_->descriptor = &dv_exception_type;
    vm->error_classes[error] = class_;
    return dv_namespace_set(vm, &vm->builtins, row->name, dv_retain(dv_object_value(class_)));
}

bool dv_exception_setup(dv_vm *vm) {
    for (uint32_t error = 0; error < DV_E_BUILTIN_COUNT; error++)
        if (!make_class(vm, (dv_error_class)error)) return false;
    vm->classes[DV_T_EXCEPTION] = vm->error_classes[DV_E_BASE_EXCEPTION];
    vm->classes[DV_T_EXCEPTION]->header.references++;
    vm->memory_error =
        dv_exception_new(vm, vm->error_classes[DV_E_MEMORY_ERROR], vm->known.empty_tuple);
    if (dv_is_empty(vm->memory_error)) return false;
    dv_value os_error = dv_object_value(vm->error_classes[DV_E_OS_ERROR]);
    return dv_namespace_set(vm, &vm->builtins, "EnvironmentError", dv_retain(os_error)) &&
           dv_namespace_set(vm, &vm->builtins, "IOError", dv_retain(os_error));
}

dv_class *dv_exception_class(dv_vm *vm, dv_error_class error) { return vm->error_classes[error]; }

bool dv_exception_is(dv_vm *vm, const dv_exception *exception, dv_error_class error) {
    return dv_class_is_subclass(exception->class_, vm->error_classes[error]);
}

/* Making exceptions -----------------------------------------------------------------------------
 */

static const struct {
    int number;
    dv_error_class error;
} os_errors[] = {
    {ENOENT, DV_E_FILE_NOT_FOUND_ERROR},
    {EACCES, DV_E_PERMISSION_ERROR},
    {EPERM, DV_E_PERMISSION_ERROR},
    {EEXIST, DV_E_FILE_EXISTS_ERROR},
    {EISDIR, DV_E_IS_A_DIRECTORY_ERROR},
    {ENOTDIR, DV_E_NOT_A_DIRECTORY_ERROR},
    {EAGAIN, DV_E_BLOCKING_IO_ERROR},
    {EALREADY, DV_E_BLOCKING_IO_ERROR},
    {EINPROGRESS, DV_E_BLOCKING_IO_ERROR},
    {ECHILD, DV_E_CHILD_PROCESS_ERROR},
    {EPIPE, DV_E_BROKEN_PIPE_ERROR},
    {ESHUTDOWN, DV_E_BROKEN_PIPE_ERROR},
    {ECONNABORTED, DV_E_CONNECTION_ABORTED_ERROR},
    {ECONNREFUSED, DV_E_CONNECTION_REFUSED_ERROR},
    {ECONNRESET, DV_E_CONNECTION_RESET_ERROR},
    {EINTR, DV_E_INTERRUPTED_ERROR},
    {ESRCH, DV_E_PROCESS_LOOKUP_ERROR},
    {ETIMEDOUT, DV_E_TIMEOUT_ERROR},
};

static bool is_os_form(uint32_t count) { return count >= 2 && count <= 5; }

/* OSError(errno, strerror, ...) is an instance of the subclass for this errno. */
static dv_class *os_error_class(dv_vm *vm, dv_class *class_, const dv_value *args, uint32_t count) {
    int64_t number;
    if (class_ != vm->error_classes[DV_E_OS_ERROR] || !is_os_form(count)) return class_;
    if (!dv_int_to_int64(args[0], &number)) return class_;
    for (size_t i = 0; i < sizeof os_errors / sizeof *os_errors; i++)
        if (os_errors[i].number == number) return vm->error_classes[os_errors[i].error];
    return class_;
}

/* The third argument of a BlockingIOError may be a number, which is no file name. */
static bool is_written(dv_vm *vm, const dv_exception *exception, dv_value v) {
    return exception->class_ == vm->error_classes[DV_E_BLOCKING_IO_ERROR] &&
           (dv_is_index(vm, v) || dv_is_float(v) || dv_has_layout(v, DV_T_COMPLEX));
}

/* The file names among an OSError's arguments become fields. */
static bool take_file_names(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count) {
    if (count < 3 || dv_is_none(args[2])) return true;
    if (is_written(vm, dv_as_exception(self), args[2]))
        return dv_exception_set_written(vm, self, args[2]);
    if (!dv_exception_set(vm, self, "filename", args[2])) return false;
    return count < 5 || dv_is_none(args[4]) || dv_exception_set(vm, self, "filename2", args[4]);
}

static bool set_arguments(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count) {
    dv_exception *exception = dv_as_exception(self);
    if (dv_exception_is(vm, exception, DV_E_OS_ERROR) && is_os_form(count)) {
        if (!take_file_names(vm, self, args, count)) return false;
        if (count >= 3 && !dv_is_none(args[2]) && !is_written(vm, exception, args[2])) count = 2;
    }
    dv_value tuple = dv_tuple_new(vm, args, count), old = exception->args;
    if (dv_is_empty(tuple)) return false;
    exception->args = tuple;
    dv_release(vm, old);
    return true;
}

/* Is this a keyword argument of the exception's class? */
static bool takes_keyword(dv_vm *vm, const dv_exception *exception, dv_value name,
                          dv_error_class *owner) {
    bool is_name = dv_str_is(name, "name");
    if (dv_exception_is(vm, exception, *owner = DV_E_IMPORT_ERROR))
        return is_name || dv_str_is(name, "path");
    if (dv_exception_is(vm, exception, *owner = DV_E_ATTRIBUTE_ERROR))
        return is_name || dv_str_is(name, "obj");
    if (dv_exception_is(vm, exception, *owner = DV_E_NAME_ERROR)) return is_name;
    *owner = DV_E_COUNT;
    return false;
}

static bool take_keyword(dv_vm *vm, dv_value self, dv_value name, dv_value value) {
    dv_error_class owner;
    dv_exception *exception = dv_as_exception(self);
    if (takes_keyword(vm, exception, name, &owner)) {
        const char *known = dv_str_is(name, "name")  ? "name"
                            : dv_str_is(name, "obj") ? "obj"
                                                     : "path";
        return dv_exception_set(vm, self, known, value);
    }
    if (owner == DV_E_COUNT)
        dv_raise(vm, DV_E_TYPE_ERROR, "%S() takes no keyword arguments", exception->class_->name);
    else
        dv_raise(vm, DV_E_TYPE_ERROR, "'%S' is an invalid keyword argument for %s()", name,
                 rows[owner].name);
    return false;
}

/* Are there no more keyword arguments than the exception's class takes? */
static bool check_named(dv_vm *vm, const dv_exception *exception, dv_value keywords) {
    dv_error_class owner;
    int named = (int)dv_as_tuple(keywords)->count;
    takes_keyword(vm, exception, dv_as_tuple(keywords)->items[0], &owner);
    int most = owner == DV_E_COUNT ? named : owner == DV_E_NAME_ERROR ? 1 : 2;
    if (named > most)
        dv_raise(vm, DV_E_TYPE_ERROR, "%s() takes at most %d keyword argument%s (%d given)",
                 rows[owner].name, most, most == 1 ? "" : "s", named);
    return named <= most;
}

/* The number of arguments of UnicodeDecodeError and its like; 0: another class. */
static uint32_t unicode_count(dv_vm *vm, const dv_exception *exception) {
    if (!dv_exception_is(vm, exception, DV_E_UNICODE_ERROR)) return 0;
    if (dv_exception_is(vm, exception, DV_E_UNICODE_TRANSLATE_ERROR)) return 4;
    return dv_exception_is(vm, exception, DV_E_UNICODE_DECODE_ERROR) ||
                   dv_exception_is(vm, exception, DV_E_UNICODE_ENCODE_ERROR)
               ? 5
               : 0;
}

static bool check_text(dv_vm *vm, const dv_value *args, uint32_t i) {
    if (dv_is_str(args[i])) return true;
    dv_raise(vm, DV_E_TYPE_ERROR, "argument %d must be str, not %T", (int)i + 1, args[i]);
    return false;
}

/* A start or an end: where it is no int, the one that it means is stored. */
static bool take_number(dv_vm *vm, dv_value self, const char *name, dv_value v) {
    int64_t number;
    if (!dv_size_argument(vm, v, &number)) return false;
    return dv_is_int(v) || dv_exception_set_number(vm, self, name, number);
}

/* What is decoded: where it may change, bytes are stored as they are now. */
static bool take_bytes(dv_vm *vm, dv_value self, dv_value v) {
    if (dv_is_bytes(v)) return true;
    if (!dv_is_bytearray(v)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "a bytes-like object is required, not '%T'", v);
        return false;
    }
    dv_value bytes = dv_bytes_new(vm, dv_as_bytes(v)->data, dv_as_bytes(v)->length);
    bool done = !dv_is_empty(bytes) && dv_exception_set(vm, self, "object", bytes);
    dv_release(vm, bytes);
    return done;
}

/* ([encoding,] object, start, end, reason) */
static bool take_unicode(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count) {
    const dv_exception *exception = dv_as_exception(self);
    uint32_t wanted = unicode_count(vm, exception), object = wanted - 4;
    if (wanted == 0) return true;
    if (count != wanted) {
        dv_raise(vm, DV_E_TYPE_ERROR, "function takes exactly %d arguments (%d given)", (int)wanted,
                 (int)count);
        return false;
    }
    bool decodes = dv_exception_is(vm, exception, DV_E_UNICODE_DECODE_ERROR);
    return (!object || check_text(vm, args, 0)) && (decodes || check_text(vm, args, object)) &&
           take_number(vm, self, "start", args[object + 1]) &&
           take_number(vm, self, "end", args[object + 2]) && check_text(vm, args, object + 3) &&
           (!decodes || take_bytes(vm, self, args[1]));
}

/* (filename, lineno, offset, text[, end_lineno, end_offset]): they are stored unless they came as a
 * tuple, which the fields are read from. */
static bool take_place(dv_vm *vm, dv_value self, dv_value given) {
    dv_value tuple = dv_tuple_from(vm, given);
    if (dv_is_empty(tuple)) return false;
    const dv_tuple *place = dv_as_tuple(tuple);
    bool few = place->count < 4, fits = !few && place->count <= 6 && place->count != 5;
    if (few || place->count > 6)
        dv_raise(vm, DV_E_TYPE_ERROR, "function takes at %s arguments (%lld given)",
                 few ? "least 4" : "most 6", (long long)place->count);
    else if (!fits)
        dv_raise(vm, DV_E_TYPE_ERROR, "end_offset must be provided when end_lineno is provided");
    for (int64_t i = 0; fits && i < place->count && !dv_is_shape(given, DV_T_TUPLE); i++)
        fits = dv_exception_set(vm, self, dv_syntax_places[i], place->items[i]);
    dv_release(vm, tuple);
    return fits;
}

static bool take_syntax(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count) {
    return count != 2 || !dv_exception_is(vm, dv_as_exception(self), DV_E_SYNTAX_ERROR) ||
           take_place(vm, self, args[1]);
}

static bool is_os_error(dv_vm *vm, const dv_class *class_) {
    return dv_class_is_subclass(class_, vm->error_classes[DV_E_OS_ERROR]);
}

/* OSError.__new__ does all, unless the class has an __init__ of its own and no __new__. */
static bool initialises_later(dv_vm *vm, const dv_class *class_) {
    return !(class_->flags & DV_CLASS_NEW) && dv_class_special_again(vm, class_, vm->known.init);
}

bool dv_exception_initialise(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                             dv_value keywords) {
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    uint32_t positional = count - named;
    const dv_class *class_ = dv_as_exception(self)->class_;
    if (is_os_error(vm, class_) && !initialises_later(vm, class_)) return true;
    dv_value fields = dv_as_exception(self)->fields; /* all begins anew */
    dv_as_exception(self)->fields = DV_EMPTY;
    dv_as_exception(self)->settled = false;
    dv_release(vm, fields);
    if (named && !check_named(vm, dv_as_exception(self), keywords)) return false;
    for (uint32_t i = 0; i < named; i++)
        if (!take_keyword(vm, self, dv_as_tuple(keywords)->items[i], args[positional + i]))
            return false;
    return set_arguments(vm, self, args, positional) && take_unicode(vm, self, args, positional) &&
           take_syntax(vm, self, args, positional);
}

dv_value dv_exception_make(dv_vm *vm, dv_class *class_, const dv_value *args, uint32_t count,
                           dv_value keywords) {
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    class_ = os_error_class(vm, class_, args, count - named);
    bool os_error = is_os_error(vm, class_);
    if (os_error && named && !initialises_later(vm, class_))
        return dv_raise(vm, DV_E_TYPE_ERROR, "%S() takes no keyword arguments", class_->name);
    dv_value self = dv_exception_new(vm, class_, vm->known.empty_tuple);
    if (os_error && initialises_later(vm, class_)) return self;
    if (dv_is_empty(self)) return self;
    /* An __init__ of its own has to call the one that takes fields from arguments. */
    dv_as_exception(self)->settled =
        !os_error && dv_class_special_again(vm, class_, vm->known.init);
    if (set_arguments(vm, self, args, count - named)) return self;
    dv_release(vm, self);
    return DV_EMPTY;
}

bool dv_exception_is_made(dv_vm *vm, dv_value self, dv_value keywords) {
    const dv_exception *exception = dv_as_exception(self);
    return dv_is_empty(keywords) &&
           !dv_class_special_again(vm, exception->class_, vm->known.init) &&
           !dv_exception_is(vm, exception, DV_E_UNICODE_ERROR) &&
           !dv_exception_is(vm, exception, DV_E_SYNTAX_ERROR);
}
