/* exception.c: exception objects as values (exception.h).  Raising is in exception_raise.c. */
#include "types/exception/exception.h"

#include "types/exception/exception_field.h"
#include "types/exception/exception_raise.h"

#include <assert.h>
#include <stdio.h>

#include "types/binary/bytes.h"
#include "types/class/class.h"
#include "types/mapping/dict.h"
#include "types/class/instance.h"
#include "types/number/int.h"
#include "types/class/instance_dict.h"
#include "types/sequence/list.h"
#include "types/text/str.h"
#include "types/exception/traceback.h"
#include "types/sequence/tuple.h"

/* Objects ---------------------------------------------------------------------------------------
 */

/* Without its class and its arguments. */
static inline dv_exception *alloc(dv_vm *vm, dv_class *class_) {
    dv_exception *exception = class_->descriptor
                                  ? dv_container_new(vm, sizeof *exception, DV_T_EXCEPTION)
                                  : dv_subclass_alloc(vm, class_, sizeof *exception);
    if (!exception) return NULL;
    exception->class_ = class_;
    exception->cause = exception->context = DV_EMPTY;
    exception->attributes = exception->fields = DV_EMPTY;
    exception->traceback = DV_EMPTY;
    exception->suppress_context = exception->settled = false;
    exception->trace = NULL;
    exception->trace_count = exception->trace_capacity = 0;
    return exception;
}

dv_value dv_exception_new(dv_vm *vm, dv_class *class_, dv_value args) {
    dv_exception *exception = alloc(vm, class_);
    if (!exception) return DV_EMPTY;
    class_->header.references++;
    exception->args = dv_retain(args);
    return dv_object_value(exception);
}

dv_value dv_exception_take(dv_vm *vm, dv_class *class_, const dv_value *args, uint32_t count) {
    dv_exception *exception = alloc(vm, class_);
    if (!exception) return DV_EMPTY;
    if (count == 0) {
        exception->args = dv_retain(vm->known.empty_tuple);
        return dv_object_value(exception);
    }
    dv_tuple *tuple = dv_container_new(vm, sizeof *tuple + count * sizeof *args, DV_T_TUPLE);
    if (DV_UNLIKELY(!tuple)) {
        dv_base_free(vm, &exception->header, sizeof *exception);
        return DV_EMPTY;
    }
    tuple->count = count;
    for (uint32_t i = 0; i < count; i++) {
        tuple->items[i] = args[i];
        __asm__("" ::: "memory"); /* no memcpy */
    }
    exception->args = dv_object_value(tuple);
    return dv_object_value(exception);
}

/* Forgets the pairs before it releases them: a module that dies with its code may run anything. */
static void drop_pairs(dv_vm *vm, dv_exception *exception) {
    dv_trace_entry *trace = exception->trace;
    uint32_t count = exception->trace_count, capacity = exception->trace_capacity;
    exception->trace = NULL;
    exception->trace_count = exception->trace_capacity = 0;
    for (uint32_t i = 0; i < count; i++) dv_release_object(vm, trace[i].code);
    if (trace) dv_heap_free(&vm->heap, trace, capacity * sizeof *trace);
}

void dv_exception_forget_trace(dv_vm *vm, dv_exception *exception) {
    dv_value traceback = exception->traceback;
    exception->traceback = DV_EMPTY;
    drop_pairs(vm, exception);
    dv_release(vm, traceback);
}

dv_value dv_exception_traceback(dv_vm *vm, dv_value value) {
    dv_exception *exception = dv_as_exception(value);
    dv_value chain = dv_retain(exception->traceback);
    for (uint32_t i = 0; i < exception->trace_count; i++) {
        const dv_trace_entry *entry = &exception->trace[i];
        dv_value outer = dv_traceback_new(vm, entry->code, entry->pc, chain);
        if (dv_is_empty(outer)) {
            dv_release(vm, chain);
            return DV_EMPTY;
        }
        chain = outer;
    }
    dv_exception_set_traceback(vm, value, chain);
    if (dv_is_empty(chain)) return DV_NONE;
    return chain;
}

void dv_exception_set_traceback(dv_vm *vm, dv_value value, dv_value traceback) {
    dv_exception *exception = dv_as_exception(value);
    dv_value old = exception->traceback;
    exception->traceback = dv_is_traceback(traceback) ? dv_retain(traceback) : DV_EMPTY;
    drop_pairs(vm, exception);
    dv_release(vm, old);
}

/* Is there anything besides its class and its arguments?  Of those that were never raised, no.
 * (All are objects or special values, so the tag that is left of them is an object's if one is.) */
static bool has_more(const dv_exception *e) {
    static_assert((DV_TAG_OBJECT & DV_TAG_SPECIAL) == DV_TAG_OBJECT, "one look at the tags of all");
    return e->trace || dv_is_object((dv_value){e->cause.bits & e->context.bits & e->fields.bits &
                                               e->attributes.bits & e->traceback.bits});
}

static void exception_release(dv_vm *vm, dv_object *object) {
    dv_exception *exception = (dv_exception *)object;
    const bool more = has_more(exception);
    if (more) {
        dv_release(vm, exception->attributes);
        dv_release(vm, exception->fields);
    }
    dv_tuple *args = dv_as_tuple(exception->args);
    if (--args->header.references == 0 && !dv_tuple_free_alone(vm, args))
        dv_object_end(vm, &args->header);
    if (more) {
        dv_exception_forget_trace(vm, exception);
        dv_release(vm, exception->cause);
        dv_release(vm, exception->context);
    }
    dv_class *class_ = exception->class_;
    dv_base_free(vm, object, sizeof *exception);
    dv_release_object(vm, &class_->header);
}

static void exception_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const dv_exception *exception = (const dv_exception *)object;
    for (uint32_t i = 0; i < exception->trace_count; i++)
        visit(vm, dv_object_value(exception->trace[i].code), context);
    visit(vm, exception->traceback, context);
    visit(vm, exception->args, context);
    visit(vm, exception->cause, context);
    visit(vm, exception->context, context);
    visit(vm, exception->attributes, context);
    visit(vm, exception->fields, context);
    visit(vm, dv_object_value(exception->class_), context);
}

static void exception_clear(dv_vm *vm, dv_object *object) {
    dv_exception *exception = (dv_exception *)object;
    dv_value cause = exception->cause, link = exception->context, args = exception->args;
    exception->cause = exception->context = DV_EMPTY;
    exception->args = dv_retain(vm->known.empty_tuple);
    dv_release(vm, cause);
    dv_release(vm, link);
    dv_release(vm, args);
    dv_exception_forget_trace(vm, exception);
}

bool dv_exception_trace(dv_vm *vm, dv_value value, dv_object *code, uint32_t pc) {
    dv_exception *exception = dv_as_exception(value);
    if (exception->trace_count == exception->trace_capacity) {
        uint32_t old = exception->trace_capacity, capacity = old ? old * 2 : 4;
        void *trace = dv_heap_resize(&vm->heap, exception->trace, old * sizeof *exception->trace,
                                     capacity * sizeof *exception->trace);
        if (!trace) return false;
        exception->trace = trace;
        exception->trace_capacity = capacity;
    }
    code->references++;
    exception->trace[exception->trace_count++] = (dv_trace_entry){code, pc};
    return true;
}

/* Text ------------------------------------------------------------------------------------------
 */

static dv_value exception_repr(dv_vm *vm, dv_value self) {
    dv_exception *exception = dv_as_exception(self);
    const dv_tuple *args = dv_as_tuple(exception->args);
    if (args->count == 1)
        return dv_str_printf(vm, "%S(%V)", exception->class_->name, args->items[0]);
    return dv_str_printf(vm, "%S%V", exception->class_->name, exception->args);
}

/* What all exceptions have that have no text of their own: that of their arguments. */
static dv_value plain_str(dv_vm *vm, const dv_exception *exception) {
    const dv_tuple *args = dv_as_tuple(exception->args);
    if (args->count == 0) return dv_str_empty(vm);
    return args->count == 1 ? dv_to_str(vm, args->items[0]) : dv_repr(vm, exception->args);
}

static dv_value or_none(dv_value v) { return dv_is_empty(v) ? DV_NONE : v; }

/* "[Errno 2] No such file or directory: 'x' -> 'y'" of the fields that have a value. */
static dv_value os_error_str(dv_vm *vm, const dv_exception *exception) {
    dv_value number = dv_exception_field(vm, exception, "errno");
    dv_value why = dv_exception_field(vm, exception, "strerror");
    dv_value from = dv_exception_field(vm, exception, "filename");
    dv_value to = dv_exception_field(vm, exception, "filename2"), text;
    if (!dv_is_empty(from) && !dv_is_empty(to))
        text =
            dv_str_printf(vm, "[Errno %S] %S: %V -> %V", or_none(number), or_none(why), from, to);
    else if (!dv_is_empty(from))
        text = dv_str_printf(vm, "[Errno %S] %S: %V", or_none(number), or_none(why), from);
    else if (!dv_is_empty(number) && !dv_is_empty(why))
        text = dv_str_printf(vm, "[Errno %S] %S", number, why);
    else
        text = plain_str(vm, exception);
    dv_release(vm, number);
    dv_release(vm, why);
    dv_release(vm, from);
    dv_release(vm, to);
    return text;
}

static dv_value import_error_str(dv_vm *vm, const dv_exception *exception) {
    dv_value message = dv_exception_field(vm, exception, "msg");
    if (dv_is_shape(message, DV_T_STR)) return message;
    dv_release(vm, message);
    return plain_str(vm, exception);
}

/* The last part of a path. */
static dv_value file_of(dv_vm *vm, dv_value path) {
    const dv_str *text = dv_as_str(path);
    int64_t from = text->length;
    while (from > 0 && dv_str_at(text, from - 1) != '/') from--;
    return dv_str_slice(vm, path, from, text->length);
}

/* "invalid syntax (script.dl, line 3)", without the file's directory, or what is known of that. */
static dv_value syntax_error_str(dv_vm *vm, const dv_exception *exception) {
    dv_value message = or_none(dv_exception_field(vm, exception, "msg"));
    dv_value path = dv_exception_field(vm, exception, "filename");
    dv_value line = dv_exception_field(vm, exception, "lineno");
    dv_value file = dv_is_str(path) ? file_of(vm, path) : DV_NONE, text = DV_EMPTY;
    bool has_line = dv_is_int(line) || dv_is_shape(line, DV_T_INT);
    int64_t number;
    if (!has_line || !dv_int_to_int64(line, &number)) number = -1; /* as CPython shows it */
    if (dv_is_none(file))
        text = has_line ? dv_str_printf(vm, "%S (line %lld)", message, (long long)number)
                        : dv_to_str(vm, message);
    else if (!dv_is_empty(file))
        text = has_line ? dv_str_printf(vm, "%S (%S, line %lld)", message, file, (long long)number)
                        : dv_str_printf(vm, "%S (%S)", message, file);
    dv_release(vm, message);
    dv_release(vm, path);
    dv_release(vm, line);
    dv_release(vm, file);
    return text;
}

static void show_character(char *digits, size_t size, uint32_t c) {
    snprintf(digits, size, c <= 0xFF ? "x%02x" : c <= 0xFFFF ? "u%04x" : "U%08x", c);
}

/* What a Unicode error is about; `decodes`: bytes, not text. */
typedef struct unicode_error {
    dv_value object;
    int64_t start, end;
    bool decodes;
} unicode_error;

static int64_t number_in(dv_vm *vm, const dv_exception *exception, const char *name) {
    dv_value v = dv_exception_field(vm, exception, name);
    int64_t number = 0;
    if (!dv_is_empty(v) && !dv_int_to_int64(v, &number)) number = 0;
    dv_release(vm, v);
    return number;
}

/* "byte 0xff in position 0", "character '\\xe9' in position 0", "characters in position 0-1" */
static dv_value unicode_place(dv_vm *vm, const unicode_error *e) {
    bool fits = e->decodes ? dv_is_bytes(e->object) : dv_is_str(e->object);
    int64_t length = fits ? dv_as_str(e->object)->length : 0; /* bytes are laid out as str is */
    if (e->start < 0 || e->start >= length || e->end - 1 != e->start)
        return dv_str_printf(vm, "%s in position %lld-%lld", e->decodes ? "bytes" : "characters",
                             (long long)e->start, (long long)e->end - 1);
    uint32_t c = dv_str_at(dv_as_str(e->object), e->start);
    if (e->decodes)
        return dv_str_printf(vm, "byte 0x%02x in position %lld", c, (long long)e->start);
    char digits[12];
    show_character(digits, sizeof digits, c);
    return dv_str_printf(vm, "character '\\%s' in position %lld", digits, (long long)e->start);
}

/* "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"; `verb` NULL: "can't
 * translate character '\\x61' in position 0: why". */
static dv_value unicode_error_str(dv_vm *vm, const dv_exception *exception, const char *verb) {
    unicode_error e = {.object = dv_exception_field(vm, exception, "object"),
                       .start = number_in(vm, exception, "start"),
                       .end = number_in(vm, exception, "end"),
                       .decodes = verb && verb[0] == 'd'};
    if (dv_is_empty(e.object)) return dv_str_empty(vm); /* its __init__ was not called */
    dv_value codec = dv_exception_field(vm, exception, "encoding");
    dv_value why = dv_exception_field(vm, exception, "reason");
    dv_value place = unicode_place(vm, &e), text = DV_EMPTY;
    dv_value null = dv_str_z(vm, "<NULL>"); /* as CPython shows one that was deleted */
    if (!dv_is_empty(place) && !dv_is_empty(null)) {
        dv_value codec_shown = dv_is_empty(codec) ? null : codec;
        dv_value why_shown = dv_is_empty(why) ? null : why;
        text = verb ? dv_str_printf(vm, "'%S' codec can't %s %S: %S", codec_shown, verb, place,
                                    why_shown)
                    : dv_str_printf(vm, "can't translate %S: %S", place, why_shown);
    }
    dv_release(vm, null);
    dv_release(vm, place);
    dv_release(vm, why);
    dv_release(vm, codec);
    dv_release(vm, e.object);
    return text;
}

static dv_value exception_str(dv_vm *vm, dv_value self) {
    dv_exception *exception = dv_as_exception(self);
    const dv_tuple *args = dv_as_tuple(exception->args);
    if (dv_exception_is(vm, exception, DV_E_SYNTAX_ERROR)) return syntax_error_str(vm, exception);
    if (dv_exception_is(vm, exception, DV_E_OS_ERROR)) return os_error_str(vm, exception);
    if (dv_exception_is(vm, exception, DV_E_IMPORT_ERROR)) return import_error_str(vm, exception);
    if (args->count == 1 && dv_exception_is(vm, exception, DV_E_KEY_ERROR))
        return dv_repr(vm, args->items[0]);
    if (dv_exception_is(vm, exception, DV_E_UNICODE_DECODE_ERROR))
        return unicode_error_str(vm, exception, "decode");
    if (dv_exception_is(vm, exception, DV_E_UNICODE_ENCODE_ERROR))
        return unicode_error_str(vm, exception, "encode");
    if (dv_exception_is(vm, exception, DV_E_UNICODE_TRANSLATE_ERROR))
        return unicode_error_str(vm, exception, NULL);
    return plain_str(vm, exception);
}

/* Attributes ------------------------------------------------------------------------------------
 */

/* Attributes of an exception of a built-in class that are no fields. */
static dv_value own_dict(dv_vm *vm, dv_exception *exception) {
    if (dv_is_empty(exception->attributes)) exception->attributes = dv_dict_new(vm);
    return exception->attributes;
}

static dv_value exception_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    const dv_exception *exception = dv_as_exception(self);
    if (dv_str_is(name, "args")) return dv_retain(exception->args);
    if (dv_str_is(name, "__cause__")) return or_none(dv_retain(exception->cause));
    if (dv_str_is(name, "__context__")) return or_none(dv_retain(exception->context));
    if (dv_str_is(name, "__suppress_context__")) return dv_bool(exception->suppress_context);
    if (dv_str_is(name, "__traceback__")) return dv_exception_traceback(vm, self);
    if (dv_same(name, vm->known.dict)) return dv_retain(own_dict(vm, dv_as_exception(self)));
    dv_value v = dv_exception_field_named(vm, exception, name);
    if (!dv_is_empty(v) || !dv_is_empty(vm->error)) return v;
    return dv_is_empty(exception->attributes)
               ? DV_EMPTY
               : dv_retain(dv_dict_get(vm, exception->attributes, name));
}

/* Replaces __cause__ or __context__. */
static bool set_chained(dv_vm *vm, dv_value *place, const char *what, dv_value value) {
    if (dv_is_empty(value)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "__%s__ may not be deleted", what);
        return false;
    }
    if (!dv_is_none(value) && !dv_is_exception(value)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "exception %s must be None or derive from BaseException",
                 what);
        return false;
    }
    dv_value old = *place;
    *place = dv_retain(value);
    dv_release(vm, old);
    return true;
}

static bool set_args(dv_vm *vm, dv_exception *exception, dv_value value) {
    if (dv_is_empty(value)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "args may not be deleted");
        return false;
    }
    dv_value list = dv_list_new(vm, NULL, 0);
    if (dv_is_empty(list) || !dv_list_extend(vm, list, value)) {
        dv_release(vm, list);
        return false;
    }
    dv_value args = dv_tuple_new(vm, dv_as_list(list)->items, dv_as_list(list)->count);
    dv_release(vm, list);
    if (dv_is_empty(args)) return false;
    if (!dv_exception_settle(vm, exception)) {
        dv_release(vm, args);
        return false;
    }
    dv_value old = exception->args;
    exception->args = args;
    dv_release(vm, old);
    return true;
}

static bool refuse_type(dv_vm *vm, const char *message) {
    dv_raise(vm, DV_E_TYPE_ERROR, "%s", message);
    return false;
}

static bool set_traceback(dv_vm *vm, dv_exception *exception, dv_value value) {
    if (dv_is_empty(value)) return refuse_type(vm, "__traceback__ may not be deleted");
    if (!dv_is_none(value) && !dv_is_traceback(value))
        return refuse_type(vm, "__traceback__ must be a traceback or None");
    dv_exception_set_traceback(vm, dv_object_value(exception), value);
    return true;
}

/* What all exceptions have as fields; *known is false for other names. */
static bool set_field(dv_vm *vm, dv_exception *exception, dv_value name, dv_value value,
                      bool *known) {
    const dv_str *s = dv_as_str(name);
    *known = s->length && (s->data[0] == '_' || s->data[0] == 'a');
    if (!*known) return true;
    if (dv_str_is(name, "args")) {
        *known = !dv_exception_hides(vm, exception, name);
        return !*known || set_args(vm, exception, value);
    }
    if (dv_str_is(name, "__traceback__")) return set_traceback(vm, exception, value);
    if (dv_str_is(name, "__context__"))
        return set_chained(vm, &exception->context, "context", value);
    if (dv_str_is(name, "__cause__")) {
        if (!set_chained(vm, &exception->cause, "cause", value)) return false;
        exception->suppress_context = true;
        return true;
    }
    *known = dv_str_is(name, "__suppress_context__");
    if (!*known) return true;
    if (dv_is_empty(value)) return refuse_type(vm, "can't delete numeric/char attribute");
    if (!dv_is_bool(value)) return refuse_type(vm, "attribute value type must be bool");
    exception->suppress_context = dv_same(value, DV_TRUE);
    return true;
}

static bool set_dict(dv_vm *vm, dv_exception *exception, dv_value value) {
    if (dv_is_empty(value)) return refuse_type(vm, "cannot delete __dict__");
    if (!dv_is_dict(value)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "__dict__ must be set to a dictionary, not a '%T'", value);
        return false;
    }
    dv_value old = exception->attributes;
    exception->attributes = dv_retain(value);
    dv_release(vm, old);
    return true;
}

/* Of an exception of a built-in class. */
static bool refuse_class(dv_vm *vm, dv_value value) {
    if (dv_is_empty(value)) return refuse_type(vm, "can't delete __class__ attribute");
    if (dv_is_class(value)) return refuse_type(vm, DV_CLASS_IS_FIXED);
    dv_raise(vm, DV_E_TYPE_ERROR, "__class__ must be set to a class, not '%T' object", value);
    return false;
}

static bool exception_set_attribute(dv_vm *vm, dv_value self, dv_value name, dv_value value) {
    dv_exception *exception = dv_as_exception(self);
    bool known;
    bool done = set_field(vm, exception, name, value, &known);
    if (known) return done;
    if (dv_exception_has_field(vm, exception, name))
        return dv_exception_set_field(vm, exception, name, value);
    if (dv_is_instance(self)) return dv_instance_set_attribute(vm, self, name, value);
    if (dv_same(name, vm->known.class_)) return refuse_class(vm, value);
    if (dv_same(name, vm->known.dict)) return set_dict(vm, exception, value);
    if (dv_is_empty(own_dict(vm, exception))) return false;
    if (!dv_is_empty(value)) return dv_dict_set(vm, exception->attributes, name, value);
    int removed = dv_dict_delete(vm, exception->attributes, name);
    if (removed == 0)
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "'%T' object has no attribute '%S'", self, name);
    return removed == 1;
}

/* Methods ---------------------------------------------------------------------------------------
 */

static dv_value method_init(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    return dv_exception_initialise(vm, args[0], args + 1, count - 1, keywords) ? DV_NONE : DV_EMPTY;
}

static dv_value method_with_traceback(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return set_traceback(vm, dv_as_exception(args[0]), args[1]) ? dv_retain(args[0]) : DV_EMPTY;
}

static dv_value method_add_note(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!dv_is_str(args[1]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "note must be a str, not '%T'", args[1]);
    dv_value name = dv_str_intern(vm, "__notes__", 9);
    dv_value notes = dv_is_empty(name) ? DV_EMPTY : dv_find_attribute(vm, args[0], name);
    bool first = dv_is_empty(notes) && dv_is_empty(vm->error);
    if (first) {
        notes = dv_list_new(vm, NULL, 0);
        if (!dv_is_empty(notes) && !dv_set_attribute(vm, args[0], name, notes)) {
            dv_release(vm, notes);
            notes = DV_EMPTY;
        }
    }
    bool done = false;
    if (dv_is_list(notes))
        done = dv_list_append(vm, notes, args[1]);
    else if (!dv_is_empty(notes))
        dv_raise(vm, DV_E_TYPE_ERROR, "Cannot add note: __notes__ is not a list");
    dv_release(vm, notes);
    dv_release(vm, name);
    return done ? DV_NONE : DV_EMPTY;
}

static const dv_cfunction_def methods[] = {
    {.name = "__init__", .keyword_entry = method_init, .min = 1, .max = UINT32_MAX},
    {.name = "with_traceback", .entry = method_with_traceback, .min = 2, .max = 2},
    {.name = "add_note", .entry = method_add_note, .min = 2, .max = 2},
    {.name = NULL}};

/* Exceptions are made by their classes: dv_exception_new. */
static dv_value exception_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    return dv_exception_new(vm, class_, dv_as_exception(exact)->args);
}

const dv_type dv_exception_type = {
    .name = "BaseException",
    .id = DV_T_EXCEPTION,
    .release = exception_release,
    .traverse = exception_traverse,
    .clear = exception_clear,
    .repr = exception_repr,
    .str = exception_str,
    .adopt = exception_adopt,
    .get_attribute = exception_get_attribute,
    .set_attribute = exception_set_attribute,
    .methods = methods,
};
