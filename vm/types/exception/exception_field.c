/* exception_field.c: fields of exceptions (exception_field.h). */
#include "types/exception/exception_field.h"

#include "types/class/class.h"
#include "types/class/getter.h"
#include "types/mapping/dict.h"
#include "types/number/int.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

/* What arguments say ----------------------------------------------------------------------------
 */

static bool is(const char *name, const char *other) { return strcmp(name, other) == 0; }

static dv_value argument(const dv_tuple *args, int64_t i) {
    return i >= 0 && i < args->count ? dv_retain(args->items[i]) : DV_EMPTY;
}

static dv_value exit_code(const dv_exception *exception) {
    const dv_tuple *args = dv_as_tuple(exception->args);
    return args->count > 1 ? dv_retain(exception->args) : argument(args, 0);
}

static dv_value os_error_field(const dv_tuple *args, const char *name) {
    if (args->count < 2 || args->count > 5) return DV_EMPTY;
    if (is(name, "errno")) return argument(args, 0);
    return is(name, "strerror") ? argument(args, 1) : DV_EMPTY;
}

const char *const dv_syntax_places[DV_SYNTAX_PLACES] = {"filename", "lineno",     "offset",
                                                        "text",     "end_lineno", "end_offset"};

static dv_value syntax_error_field(const dv_tuple *args, const char *name) {
    if (is(name, "msg")) return argument(args, 0);
    if (args->count != 2 || !dv_is_shape(args->items[1], DV_T_TUPLE)) return DV_EMPTY;
    for (int64_t i = 0; i < DV_SYNTAX_PLACES; i++)
        if (is(name, dv_syntax_places[i])) return argument(dv_as_tuple(args->items[1]), i);
    return DV_EMPTY;
}

/* UnicodeTranslateError is not given the first of them. */
static dv_value unicode_error_field(const dv_tuple *args, int first, const char *name) {
    static const char *const names[] = {"encoding", "object", "start", "end", "reason"};
    for (int i = 0; i < 5; i++)
        if (is(name, names[i])) return argument(args, i - first);
    return DV_EMPTY;
}

/* What the arguments say of a field of the exception's class, new; EMPTY: nothing. */
static dv_value said(dv_vm *vm, const dv_exception *exception, const char *name) {
    const dv_tuple *args = dv_as_tuple(exception->args);
    if (dv_exception_is(vm, exception, DV_E_STOP_ITERATION)) return argument(args, 0);
    if (dv_exception_is(vm, exception, DV_E_SYSTEM_EXIT)) return exit_code(exception);
    if (dv_exception_is(vm, exception, DV_E_OS_ERROR)) return os_error_field(args, name);
    if (dv_exception_is(vm, exception, DV_E_SYNTAX_ERROR)) return syntax_error_field(args, name);
    if (dv_exception_is(vm, exception, DV_E_UNICODE_TRANSLATE_ERROR))
        return unicode_error_field(args, 1, name);
    if (dv_exception_is(vm, exception, DV_E_UNICODE_ERROR))
        return unicode_error_field(args, 0, name);
    if (is(name, "msg") && args->count == 1) return argument(args, 0); /* of an ImportError */
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

/* Is it of a class of dl that derives from nothing but Exception?  Most such are. */
static bool has_no_fields(const dv_vm *vm, const dv_exception *exception) {
    const dv_class *class_ = exception->class_;
    if (!class_->linear) return false;
    while (!class_->descriptor) class_ = class_->base;
    return class_ == vm->error_classes[DV_E_EXCEPTION];
}

/* The name of a field of the exception's class, or NULL. */
static const char *field_called(dv_vm *vm, const dv_exception *exception, dv_value name) {
    if (has_no_fields(vm, exception)) return NULL;
    const dv_str *s = dv_as_str(name);
    const char first = s->length ? s->data[0] : '\0';
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].name[0] == first && dv_str_is(name, fields[i].name) &&
            dv_exception_is(vm, exception, fields[i].class_))
            return fields[i].name;
    return NULL;
}

/* What is in a small dict, or the pair, borrowed; EMPTY: nothing.  Never fails: messages of errors
 * are made of it when there may be no memory for a key. */
static dv_value find(dv_value dict, const char *name) {
    dv_value key, value;
    if (dv_is_empty(dict)) return DV_EMPTY;
    if (dv_is_tuple(dict)) {
        const dv_value *pair = dv_as_tuple(dict)->items;
        return is(name, "name") ? pair[0] : is(name, "obj") ? pair[1] : DV_EMPTY;
    }
    for (int64_t i = 0; dv_dict_walk(dict, &i, &key, &value);)
        if (dv_is_str(key) && dv_str_is(key, name)) return value;
    return DV_EMPTY;
}

bool dv_exception_hides(dv_vm *vm, const dv_exception *exception, dv_value name) {
    const dv_global_cell *cell = dv_class_find(vm, exception->class_, name);
    const bool hidden = cell && !dv_is_getter(cell->value);
    if (!dv_is_empty(vm->error)) dv_error_clear(vm);
    return hidden;
}

bool dv_exception_has_field(dv_vm *vm, const dv_exception *exception, dv_value name) {
    return field_called(vm, exception, name) && !dv_exception_hides(vm, exception, name);
}

bool dv_exception_keeps(dv_vm *vm, const dv_exception *exception, dv_value name) {
    const dv_str *s = dv_as_str(name);
    const bool special = s->length > 1 && s->data[0] == '_' && s->data[1] == '_';
    return special || dv_str_is(name, "args") || dv_exception_has_field(vm, exception, name);
}

dv_value dv_exception_field(dv_vm *vm, const dv_exception *exception, const char *name) {
    dv_value v = find(exception->fields, name);
    if (!dv_is_empty(v)) return dv_retain(v);
    return exception->settled ? DV_EMPTY : said(vm, exception, name);
}

/* Of a Unicode error: fields that are numbers in CPython. */
static bool is_number(const char *field) { return is(field, "start") || is(field, "end"); }

dv_value dv_exception_field_named(dv_vm *vm, const dv_exception *exception, dv_value name) {
    const char *field = field_called(vm, exception, name);
    if (!field) return DV_EMPTY;
    dv_value v = dv_exception_field(vm, exception, field);
    if (!dv_is_empty(v)) return v;
    if (is(field, "characters_written")) return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "%S", name);
    return is_number(field) ? dv_int(0) : DV_NONE;
}

bool dv_exception_settle(dv_vm *vm, dv_exception *exception) {
    if (exception->settled) return true;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!dv_exception_is(vm, exception, fields[i].class_)) continue;
        dv_value v = dv_exception_field(vm, exception, fields[i].name);
        bool done =
            dv_is_empty(v) || dv_exception_set(vm, dv_object_value(exception), fields[i].name, v);
        dv_release(vm, v);
        if (!done) return false;
    }
    exception->settled = true;
    return true;
}

/* Setting and deleting --------------------------------------------------------------------------
 */

static bool set_text(dv_vm *vm, dv_value dict, const char *name, dv_value value) {
    const dv_value key = dv_str_intern(vm, name, strlen(name));
    const bool done = !dv_is_empty(key) && dv_dict_set(vm, dict, key, value);
    dv_release(vm, key);
    return done;
}

/* The fields become a dict; false: raised. */
static bool spread(dv_vm *vm, dv_exception *exception) {
    const dv_value old = exception->fields;
    if (dv_is_dict(old)) return true;
    const dv_value dict = dv_dict_new(vm);
    if (dv_is_empty(dict)) return false;
    if (!dv_is_empty(old) && (!set_text(vm, dict, "name", dv_as_tuple(old)->items[0]) ||
                              !set_text(vm, dict, "obj", dv_as_tuple(old)->items[1]))) {
        dv_release(vm, dict);
        return false;
    }
    exception->fields = dict;
    dv_release(vm, old);
    return true;
}

static bool store(dv_vm *vm, dv_exception *exception, dv_value name, dv_value value) {
    return spread(vm, exception) && dv_dict_set(vm, exception->fields, name, value);
}

/* 1 done, 0 not there, -1 raised. */
static int drop(dv_vm *vm, dv_exception *exception, dv_value name) {
    if (dv_is_empty(exception->fields)) return 0;
    return spread(vm, exception) ? dv_dict_delete(vm, exception->fields, name) : -1;
}

bool dv_exception_set_written(dv_vm *vm, dv_value exception, dv_value value) {
    int64_t number;
    dv_value index = dv_int_index(vm, value);
    if (dv_is_empty(index)) return false;
    bool fits = dv_int_to_int64(index, &number);
    dv_release(vm, index);
    if (!fits) {
        dv_raise(vm, DV_E_VALUE_ERROR, "cannot fit '%T' into an index-sized integer", value);
        return false;
    }
    dv_value name = dv_str_intern(vm, "characters_written", 18);
    if (dv_is_empty(name)) return false;
    bool done = number == -1 ? drop(vm, dv_as_exception(exception), name) >= 0
                             : dv_exception_set_number(vm, exception, "characters_written", number);
    dv_release(vm, name);
    return done;
}

static bool delete_written(dv_vm *vm, dv_exception *exception, dv_value name) {
    int done = drop(vm, exception, name);
    if (done == 0) dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "%S", name);
    return done == 1;
}

/* What is no number leaves -1 behind, as CPython does. */
static bool set_number(dv_vm *vm, dv_exception *exception, const char *field, dv_value value) {
    int64_t number;
    if (dv_is_empty(value)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "can't delete numeric/char attribute");
        return false;
    }
    bool fits = dv_is_integral(value) && dv_int_to_int64(value, &number);
    if (!fits) number = -1;
    if (!dv_exception_set_number(vm, dv_object_value(exception), field, number)) return false;
    if (!dv_is_integral(value))
        dv_raise(vm, DV_E_TYPE_ERROR, "an integer is required");
    else if (!fits)
        dv_raise(vm, DV_E_OVERFLOW_ERROR, "Python int too large to convert to C ssize_t");
    return fits;
}

bool dv_exception_set_field(dv_vm *vm, dv_exception *exception, dv_value name, dv_value value) {
    const char *field = field_called(vm, exception, name);
    if (!dv_exception_settle(vm, exception)) return false;
    if (is(field, "characters_written"))
        return dv_is_empty(value) ? delete_written(vm, exception, name)
                                  : dv_exception_set_written(vm, dv_object_value(exception), value);
    if (is_number(field)) return set_number(vm, exception, field, value);
    if (dv_is_empty(value)) return drop(vm, exception, name) >= 0;
    return store(vm, exception, name, value);
}

bool dv_exception_set(dv_vm *vm, dv_value exception, const char *name, dv_value value) {
    return spread(vm, dv_as_exception(exception)) &&
           set_text(vm, dv_as_exception(exception)->fields, name, value);
}

bool dv_exception_set_missing(dv_vm *vm, dv_value exception, dv_value name, dv_value obj) {
    if (!dv_is_empty(dv_as_exception(exception)->fields))
        return dv_exception_set(vm, exception, "name", name) &&
               dv_exception_set(vm, exception, "obj", obj);
    const dv_value pair = dv_tuple_new(vm, (const dv_value[]){name, obj}, 2);
    if (!dv_is_empty(pair)) dv_as_exception(exception)->fields = pair;
    return !dv_is_empty(pair);
}

bool dv_exception_set_number(dv_vm *vm, dv_value exception, const char *name, int64_t number) {
    dv_value v = dv_int_from_int64(vm, number);
    bool done = !dv_is_empty(v) && dv_exception_set(vm, exception, name, v);
    dv_release(vm, v);
    return done;
}

dv_value dv_exception_get(dv_value exception, const char *name) {
    return find(dv_as_exception(exception)->fields, name);
}
