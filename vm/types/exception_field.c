/* exception_field.c: fields of exceptions (exception_field.h). */
#include "types/exception_field.h"

#include "types/class.h"
#include "types/dict.h"
#include "types/int.h"
#include "types/sequence.h"
#include "types/str.h"
#include "types/tuple.h"

/* What arguments say ----------------------------------------------------------------------------
 */

static dv_value argument(const dv_tuple *args, int64_t i) {
    return i < args->count ? dv_retain(args->items[i]) : DV_NONE;
}

static dv_value exit_code(const dv_exception *exception) {
    const dv_tuple *args = dv_as_tuple(exception->args);
    return args->count > 1 ? dv_retain(exception->args) : argument(args, 0);
}

static bool is(const char *name, const char *other) { return strcmp(name, other) == 0; }

static dv_value os_error_attribute(dv_vm *vm, const dv_tuple *args, const char *name) {
    bool full = args->count >= 2 && args->count <= 5;
    if (is(name, "errno")) return full ? argument(args, 0) : DV_NONE;
    if (is(name, "strerror")) return full ? argument(args, 1) : DV_NONE;
    if (is(name, "characters_written"))
        return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "characters_written");
    return is(name, "filename") || is(name, "filename2") ? DV_NONE : DV_EMPTY;
}

static dv_value syntax_error_attribute(const dv_tuple *args, const char *name) {
    static const char *const places[] = {"filename", "lineno",     "offset",
                                         "text",     "end_lineno", "end_offset"};
    if (is(name, "msg")) return argument(args, 0);
    if (is(name, "print_file_and_line")) return DV_NONE;
    for (int64_t i = 0; i < 6; i++) {
        if (!is(name, places[i])) continue;
        bool full = args->count == 2 && dv_is_tuple(args->items[1]);
        return full ? argument(dv_as_tuple(args->items[1]), i) : DV_NONE;
    }
    return DV_EMPTY;
}

/* UnicodeTranslateError is not given the first of them. */
static dv_value unicode_error_attribute(const dv_tuple *args, int first, const char *name) {
    static const char *const fields[] = {"encoding", "object", "start", "end", "reason"};
    for (int i = 0; i < 5; i++)
        if (is(name, fields[i])) return i < first ? DV_NONE : argument(args, i - first);
    return DV_EMPTY;
}

/* What certain classes compute from their arguments. */
static dv_value computed(dv_vm *vm, const dv_exception *exception, const char *name) {
    const dv_tuple *args = dv_as_tuple(exception->args);
    if (is(name, "value") && dv_exception_is(vm, exception, DV_E_STOP_ITERATION))
        return argument(args, 0);
    if (is(name, "code") && dv_exception_is(vm, exception, DV_E_SYSTEM_EXIT))
        return exit_code(exception);
    if (dv_exception_is(vm, exception, DV_E_OS_ERROR)) return os_error_attribute(vm, args, name);
    if (dv_exception_is(vm, exception, DV_E_SYNTAX_ERROR))
        return syntax_error_attribute(args, name);
    int first = dv_exception_is(vm, exception, DV_E_UNICODE_TRANSLATE_ERROR) ? 1 : 0;
    if (first || dv_exception_is(vm, exception, DV_E_UNICODE_DECODE_ERROR) ||
        dv_exception_is(vm, exception, DV_E_UNICODE_ENCODE_ERROR))
        return unicode_error_attribute(args, first, name);
    bool import = dv_exception_is(vm, exception, DV_E_IMPORT_ERROR);
    bool attribute = dv_exception_is(vm, exception, DV_E_ATTRIBUTE_ERROR);
    if (is(name, "name") &&
        (import || attribute || dv_exception_is(vm, exception, DV_E_NAME_ERROR)))
        return DV_NONE;
    if (is(name, "obj") && attribute) return DV_NONE;
    if (is(name, "path") && import) return DV_NONE;
    if (is(name, "msg") && import) return args->count == 1 ? argument(args, 0) : DV_NONE;
    return DV_EMPTY;
}

/* What has been stored --------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    dv_error_class class_;
} fields[] = {
    {"name", DV_E_IMPORT_ERROR},
    {"path", DV_E_IMPORT_ERROR},
    {"msg", DV_E_IMPORT_ERROR},
    {"name", DV_E_NAME_ERROR},
    {"name", DV_E_ATTRIBUTE_ERROR},
    {"obj", DV_E_ATTRIBUTE_ERROR},
    {"value", DV_E_STOP_ITERATION},
    {"code", DV_E_SYSTEM_EXIT},
    {"errno", DV_E_OS_ERROR},
    {"strerror", DV_E_OS_ERROR},
    {"filename", DV_E_OS_ERROR},
    {"filename2", DV_E_OS_ERROR},
    {"characters_written", DV_E_OS_ERROR},
    {"msg", DV_E_SYNTAX_ERROR},
    {"filename", DV_E_SYNTAX_ERROR},
    {"lineno", DV_E_SYNTAX_ERROR},
    {"offset", DV_E_SYNTAX_ERROR},
    {"text", DV_E_SYNTAX_ERROR},
    {"end_lineno", DV_E_SYNTAX_ERROR},
    {"end_offset", DV_E_SYNTAX_ERROR},
    {"print_file_and_line", DV_E_SYNTAX_ERROR},
    {"encoding", DV_E_UNICODE_DECODE_ERROR},
    {"object", DV_E_UNICODE_DECODE_ERROR},
    {"start", DV_E_UNICODE_DECODE_ERROR},
    {"end", DV_E_UNICODE_DECODE_ERROR},
    {"reason", DV_E_UNICODE_DECODE_ERROR},
    {"encoding", DV_E_UNICODE_ENCODE_ERROR},
    {"object", DV_E_UNICODE_ENCODE_ERROR},
    {"start", DV_E_UNICODE_ENCODE_ERROR},
    {"end", DV_E_UNICODE_ENCODE_ERROR},
    {"reason", DV_E_UNICODE_ENCODE_ERROR},
    {"encoding", DV_E_UNICODE_TRANSLATE_ERROR},
    {"object", DV_E_UNICODE_TRANSLATE_ERROR},
    {"start", DV_E_UNICODE_TRANSLATE_ERROR},
    {"end", DV_E_UNICODE_TRANSLATE_ERROR},
    {"reason", DV_E_UNICODE_TRANSLATE_ERROR},
};

/* The name of a field of the exception's class, or NULL. */
static const char *field_called(dv_vm *vm, const dv_exception *exception, dv_value name) {
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (dv_str_is(name, fields[i].name) && dv_exception_is(vm, exception, fields[i].class_))
            return fields[i].name;
    return NULL;
}

/* The value of a key in a small dict, borrowed; EMPTY: none.  Never fails: messages of errors are
 * made of it when there may be no memory for a key. */
static dv_value find(dv_value dict, const char *name) {
    dv_value key, value;
    if (dv_is_empty(dict)) return DV_EMPTY;
    for (int64_t i = 0; dv_dict_walk(dict, &i, &key, &value);)
        if (dv_is_str(key) && dv_str_is(key, name)) return value;
    return DV_EMPTY;
}

bool dv_exception_has_field(dv_vm *vm, const dv_exception *exception, dv_value name) {
    if (!field_called(vm, exception, name)) return false;
    bool hidden = dv_class_find(vm, exception->class_, name) != NULL;
    if (!dv_is_empty(vm->error)) dv_error_clear(vm);
    return !hidden;
}

dv_value dv_exception_field(dv_vm *vm, const dv_exception *exception, const char *name) {
    dv_value v = find(exception->fields, name);
    return dv_is_empty(v) ? computed(vm, exception, name) : dv_retain(v);
}

dv_value dv_exception_field_named(dv_vm *vm, const dv_exception *exception, dv_value name) {
    const char *field = field_called(vm, exception, name);
    return field ? dv_exception_field(vm, exception, field) : DV_EMPTY;
}

/* How much of a write was done: a number, which is no field while nobody has said it. */
static bool set_written(dv_vm *vm, dv_exception *exception, dv_value name, dv_value value) {
    int64_t number;
    if (!dv_is_empty(value)) {
        if (!dv_as_index(vm, value, &number)) return false;
        return dv_dict_set(vm, exception->fields, name, dv_int(number));
    }
    int done = dv_dict_delete(vm, exception->fields, name);
    if (done == 0) dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "%S", name);
    return done == 1;
}

/* Of an OSError: arguments do not say it, so that a deleted one is simply not there. */
static bool is_file_name(dv_value name) {
    return dv_str_is(name, "filename") || dv_str_is(name, "filename2");
}

bool dv_exception_set_field(dv_vm *vm, dv_exception *exception, dv_value name, dv_value value) {
    if (dv_is_empty(exception->fields)) exception->fields = dv_dict_new(vm);
    if (dv_is_empty(exception->fields)) return false;
    if (dv_str_is(name, "characters_written")) return set_written(vm, exception, name, value);
    if (dv_is_empty(value) && is_file_name(name))
        return dv_dict_delete(vm, exception->fields, name) >= 0;
    return dv_dict_set(vm, exception->fields, name, dv_is_empty(value) ? DV_NONE : value);
}

/* __notes__ is what add_note() adds to, and the one name that stands in the dict. */
static dv_value *place_of(dv_exception *exception, const char *name) {
    return strcmp(name, "__notes__") ? &exception->fields : &exception->attributes;
}

bool dv_exception_set(dv_vm *vm, dv_value value, const char *name, dv_value attribute) {
    dv_value *dict = place_of(dv_as_exception(value), name);
    if (dv_is_empty(*dict)) *dict = dv_dict_new(vm);
    dv_value key = dv_str_intern(vm, name, strlen(name));
    bool done = !dv_is_empty(key) && !dv_is_empty(*dict) && dv_dict_set(vm, *dict, key, attribute);
    dv_release(vm, key);
    return done;
}

dv_value dv_exception_get(dv_value value, const char *name) {
    return find(*place_of(dv_as_exception(value), name), name);
}
