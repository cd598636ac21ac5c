/* call.c: calls from C, calls that are not simple, and the binding of arguments (call.h). */
#include "run/call.h"

#include <stdio.h>
#include <string.h>

#include "core/native.h"
#include "run/frame.h"
#include "run/execute.h"
#include "types/class.h"
#include "types/dict.h"
#include "types/exception.h"
#include "types/str.h"
#include "types/str_text.h"
#include "types/tuple.h"

dv_value dv_function_make(dv_vm *vm, dv_thread *thread, dv_value defaults) {
    if (!dv_thread_know_name(vm, thread)) return DV_EMPTY;
    dv_function *function = dv_container_new(vm, sizeof *function, DV_T_FUNCTION);
    if (!function) return DV_EMPTY;
    function->code = &thread->header;
    thread->header.references++;
    function->globals = dv_retain(dv_object_value(thread->module));
    function->defaults = dv_retain(defaults);
    function->closure = function->keyword_defaults = function->annotations = DV_EMPTY;
    function->attributes = DV_EMPTY;
    function->name = dv_retain(thread->name);
    function->qualname = dv_retain(thread->qualname);
    return dv_object_value(function);
}

/* Binding
 * -----------------------------------------------------------------------------------------------
 */

static dv_value parameter_name(dv_vm *vm, const dv_code *code, uint32_t i) {
    return dv_str_intern(vm, code->local_names[i].data, code->local_names[i].size);
}

/* A call whose arguments are being bound. */
typedef struct binding {
    dv_vm *vm;
    const dv_function *function;
    const dv_code *code;
    uint32_t named_count; /* positional and keyword-only parameters: what keywords may name */
    dv_value *values;     /* of the parameters, by index; owned, or EMPTY */
} binding;

static uint32_t default_count(const dv_function *function) {
    return dv_is_empty(function->defaults) ? 0 : (uint32_t)dv_as_tuple(function->defaults)->count;
}

static bool raise_too_many(const binding *b, uint32_t given) {
    uint32_t most = b->code->positional_count, defaults = default_count(b->function), named = 0;
    for (uint32_t i = most; i < b->named_count; i++) named += !dv_is_empty(b->values[i]);
    char takes[48] = "", and_named[64] = "";
    if (defaults)
        snprintf(takes, sizeof takes, "from %u to %u", most - defaults, most);
    else
        snprintf(takes, sizeof takes, "%u", most);
    if (named)
        snprintf(and_named, sizeof and_named,
                 " positional argument%s (and %u keyword-only argument%s)", given == 1 ? "" : "s",
                 named, named == 1 ? "" : "s");
    dv_raise(b->vm, DV_E_TYPE_ERROR, "%S() takes %s positional argument%s but %d%s %s given",
             b->function->qualname, takes, !defaults && most == 1 ? "" : "s", (int)given, and_named,
             given == 1 && !named ? "was" : "were");
    return false;
}

/* "f() missing 2 required positional arguments: 'a' and 'b'", of the parameters from `begin` on */
static bool raise_missing(const binding *b, uint32_t begin, uint32_t end, const char *kind) {
    uint32_t missing = 0, seen = 0;
    for (uint32_t i = begin; i < end; i++) missing += dv_is_empty(b->values[i]);
    dv_builder names;
    dv_builder_init(&names, b->vm);
    for (uint32_t i = begin; i < end; i++) {
        if (!dv_is_empty(b->values[i])) continue;
        if (seen)
            dv_builder_z(&names, missing == 2 ? " and " : seen + 1 == missing ? ", and " : ", ");
        dv_builder_char(&names, '\'');
        dv_builder_text(&names, b->code->local_names[i].data, b->code->local_names[i].size);
        dv_builder_char(&names, '\'');
        seen++;
    }
    dv_value text = dv_builder_finish(&names);
    if (dv_is_empty(text)) return false;
    dv_raise(b->vm, DV_E_TYPE_ERROR, "%S() missing %d required %s argument%s: %S",
             b->function->qualname, (int)missing, kind, missing == 1 ? "" : "s", text);
    dv_release(b->vm, text);
    return false;
}

/* The parameter from `begin` on that a keyword names; -1: there is none; -2: raised. */
static int64_t find_parameter(const binding *b, uint32_t begin, uint32_t end, dv_value keyword) {
    const dv_str *wanted = dv_as_str(keyword);
    size_t size = (size_t)wanted->length;
    bool plain = wanted->kind == 1 && dv_utf8_is_ascii(wanted->data, size);
    for (uint32_t i = begin; i < end; i++) {
        const dv_text *text = &b->code->local_names[i];
        if (plain) { /* both are ASCII, or they differ */
            if (text->size == size && !memcmp(text->data, wanted->data, size)) return i;
            continue;
        }
        dv_value name = parameter_name(b->vm, b->code, i);
        if (dv_is_empty(name)) return -2;
        bool same = dv_str_equal(name, keyword);
        dv_release(b->vm, name);
        if (same) return i;
    }
    return -1;
}

/* A keyword that names no parameter: "f() got some positional-only arguments passed as keyword
 * arguments: 'a, b'", or that it is unexpected. */
static bool raise_unexpected(const binding *b, const dv_tuple *names, dv_value keyword) {
    dv_builder list;
    dv_builder_init(&list, b->vm);
    uint32_t found = 0;
    for (uint32_t i = 0; i < b->code->positional_only_count; i++)
        for (int64_t k = 0; k < names->count; k++) {
            int64_t at = find_parameter(b, i, i + 1, names->items[k]);
            if (at < 0) continue;
            if (found++) dv_builder_z(&list, ", ");
            dv_builder_text(&list, b->code->local_names[i].data, b->code->local_names[i].size);
        }
    dv_value text = dv_builder_finish(&list);
    if (dv_is_empty(text)) return false;
    if (found)
        dv_raise(b->vm, DV_E_TYPE_ERROR,
                 "%S() got some positional-only arguments passed as keyword arguments: '%S'",
                 b->function->qualname, text);
    else
        dv_raise(b->vm, DV_E_TYPE_ERROR, "%S() got an unexpected keyword argument '%S'",
                 b->function->qualname, keyword);
    dv_release(b->vm, text);
    return false;
}

/* Named arguments go to their parameters, or into the dict of the `**` parameter. */
static bool bind_keywords(binding *b, const dv_value *named, dv_value keywords, dv_value extra) {
    const dv_tuple *names = dv_as_tuple(keywords);
    for (int64_t i = 0; i < names->count; i++) {
        dv_value name = names->items[i];
        int64_t at = find_parameter(b, b->code->positional_only_count, b->named_count, name);
        if (at == -2) return false;
        if (at == -1) {
            if (dv_is_empty(extra)) return raise_unexpected(b, names, name);
            if (!dv_dict_set(b->vm, extra, name, named[i])) return false;
        } else if (!dv_is_empty(b->values[at])) {
            dv_raise(b->vm, DV_E_TYPE_ERROR, "%S() got multiple values for argument '%S'",
                     b->function->qualname, name);
            return false;
        } else {
            b->values[at] = dv_retain(named[i]);
        }
    }
    return true;
}

static bool bind_defaults(binding *b) {
    uint32_t positional = b->code->positional_count, defaults = default_count(b->function);
    uint32_t required = positional > defaults ? positional - defaults : 0;
    for (uint32_t i = 0; i < required; i++)
        if (dv_is_empty(b->values[i])) return raise_missing(b, 0, required, "positional");
    for (uint32_t i = required; i < positional; i++)
        if (dv_is_empty(b->values[i]))
            b->values[i] =
                dv_retain(dv_as_tuple(b->function->defaults)->items[i + defaults - positional]);
    bool complete = true;
    for (uint32_t i = positional; i < b->named_count; i++) {
        if (!dv_is_empty(b->values[i])) continue;
        dv_value name = parameter_name(b->vm, b->code, i), value = DV_EMPTY;
        if (dv_is_empty(name)) return false;
        if (!dv_is_empty(b->function->keyword_defaults))
            value = dv_dict_get(b->vm, b->function->keyword_defaults, name);
        dv_release(b->vm, name);
        b->values[i] = dv_retain(value);
        complete = complete && !dv_is_empty(value);
    }
    return complete || raise_missing(b, positional, b->named_count, "keyword-only");
}

/* In CPython's order, which decides which of several errors is reported. */
static bool bind(binding *b, const dv_value *args, uint32_t positional, dv_value keywords) {
    dv_vm *vm = b->vm;
    const dv_code *code = b->code;
    uint32_t direct = positional < code->positional_count ? positional : code->positional_count;
    bool varargs = code->flags & DV_CODE_VARARGS;
    dv_value extra = DV_EMPTY;
    if (code->flags & DV_CODE_VARKEYWORDS) {
        extra = b->values[b->named_count + varargs] = dv_dict_new(vm);
        if (dv_is_empty(extra)) return false;
    }
    for (uint32_t i = 0; i < direct; i++) b->values[i] = dv_retain(args[i]);
    if (varargs) {
        dv_value rest = dv_tuple_new(vm, args + direct, positional - direct);
        if (dv_is_empty(rest)) return false;
        b->values[b->named_count] = rest;
    }
    if (!dv_is_empty(keywords) && !bind_keywords(b, args + positional, keywords, extra))
        return false;
    if (positional > direct && !varargs) return raise_too_many(b, positional);
    return bind_defaults(b);
}

bool dv_bind_arguments(dv_vm *vm, const dv_function *function, const dv_value *args, uint32_t count,
                       dv_value keywords, dv_value *out) {
    const dv_thread *thread = dv_function_thread(function);
    binding b = {.vm = vm, .function = function, .code = thread->code};
    b.named_count = b.code->positional_count + b.code->keyword_only_count;
    uint32_t parameters = thread->argument_count;
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    /* `out` may be where the arguments are. */
    dv_value few[16];
    size_t size = (parameters + 1) * sizeof *b.values;
    b.values = few;
    if (parameters > 16 && !(b.values = dv_heap_alloc(&vm->heap, size)))
        return dv_raise_memory(vm), false;
    for (uint32_t i = 0; i < parameters; i++) b.values[i] = DV_EMPTY;
    bool bound = bind(&b, args, count - named, keywords);
    if (bound)
        memcpy(out, b.values, parameters * sizeof *out);
    else
        for (uint32_t i = 0; i < parameters; i++) dv_release(vm, b.values[i]);
    if (b.values != few) dv_heap_free(&vm->heap, b.values, size);
    return bound;
}

/* Slow calls
 * -------------------------------------------------------------------------------------------- */

/* Replaces the count arguments at `frame` by the values of the function's parameters. */
static bool bind_in_place(dv_vm *vm, const dv_function *function, dv_value *frame, uint32_t count,
                          dv_value keywords) {
    const dv_thread *thread = dv_function_thread(function);
    if (thread->exact_arguments == (int64_t)count && dv_is_empty(keywords)) return true;
    dv_value few[16], *given = few;
    size_t size = count * sizeof *given;
    if (count > 16 && !(given = dv_heap_alloc(&vm->heap, size))) return dv_raise_memory(vm), false;
    if (count > 0) memcpy(given, frame, size);
    bool bound = dv_bind_arguments(vm, function, given, count, keywords, frame);
    if (bound) {
        vm->sp = frame + thread->argument_count;
        for (uint32_t i = 0; i < count; i++) dv_release(vm, given[i]);
    }
    if (given != few) dv_heap_free(&vm->heap, given, size);
    return bound;
}

/* Calls of classes ------------------------------------------------------------------------------
 *
 * A call of a plain class, or of an exception class, that has an __init__ of dl enters its frame,
 * without C recursion:
 *
 *     class R R args...   becomes   self | caller's next ip | __init__ R R self args...
 *
 * `self` takes the place of the callee, so that the state of the call's pc says that it is owned,
 * and what comes next is reserved there: the unwinder needs to know nothing else.  The frame
 * returns to CONSTRUCTED (gen/ops/call.mako). */

/* The __init__ of an exception class of dl whose calls leave the rest to BaseException; NULL: there
 * is none. */
static const dv_global_cell *exception_init(dv_vm *vm, const dv_class *class_) {
    const uint16_t special = DV_CLASS_READY | DV_CLASS_NEW | DV_CLASS_ABSTRACT;
    if (class_->type != DV_T_EXCEPTION || class_->descriptor || class_->metaclass ||
        (class_->flags & special) != DV_CLASS_READY)
        return NULL;
    return dv_class_special_again(vm, class_, vm->known.init);
}

static const dv_global_cell *init_cell(dv_vm *vm, dv_class *class_) {
    const dv_global_cell *cell = dv_class_constructor(vm, class_);
    return cell ? cell : exception_init(vm, class_);
}

/* The __init__ that a call of the class would enter; EMPTY: it is to be called another way. */
static dv_value constructor_of(dv_vm *vm, dv_value callee, const dv_value *frame) {
    const dv_global_cell *cell = init_cell(vm, (dv_class *)dv_as_object(callee));
    if (!cell || !dv_is_function(cell->value)) return DV_EMPTY;
    const dv_thread *thread = dv_function_thread(dv_as_function(cell->value));
    bool enters =
        !(thread->code->flags & DV_CODE_GENERATOR) && dv_frame_fits(vm, thread, frame + 2);
    return enters ? cell->value : DV_EMPTY;
}

static const dv_cell *construct(dv_vm *vm, const dv_cell *link, dv_value *sp, dv_value *fp,
                                uint32_t count, dv_value keywords, dv_value init) {
    dv_value *frame = sp - count, callee = frame[-3];
    dv_class *class_ = (dv_class *)dv_as_object(callee);
    dv_value self = class_->type == DV_T_EXCEPTION
                        ? dv_exception_make(vm, class_, frame, count, keywords)
                        : dv_instance_new(vm, class_);
    if (dv_is_empty(self)) return dv_slow_raise(link - 1, sp, fp, vm, 0, 0);
    memmove(frame + 3, frame, count * sizeof *frame);
    frame[-3] = self;
    frame[-2] = dv_raw_pointer(link);
    frame[-1] = dv_retain(init);
    frame += 2;
    frame[0] = dv_retain(self);
    dv_release(vm, callee); /* not the last reference: self has one */
    vm->sp = frame + 1 + count;
    if (bind_in_place(vm, dv_as_function(init), frame, count + 1, keywords)) {
        const dv_thread *thread = dv_function_thread(dv_as_function(frame[-3]));
        vm->sp = dv_frame_push(vm, thread, frame, fp, dv_construct_cell);
        vm->fp = frame;
        return thread->entry;
    }
    for (uint32_t i = count + 1; i > 0; i--) dv_release(vm, frame[i - 1]);
    dv_release(vm, frame[-3]);
    return dv_slow_raise(link - 1, frame - 3, fp, vm, 0, 0);
}

/* False: raised. */
static bool spend_budget(dv_vm *vm, int64_t instructions) {
    if (vm->instruction_budget == INT64_MAX || (vm->instruction_budget -= instructions) >= 0)
        return true;
    vm->instruction_budget = INT64_MAX;
    dv_raise(vm, DV_E_RUNTIME_ERROR, "instruction limit exceeded");
    return false;
}

/* Out of line: is there room for the frame, once what was waiting for a call is done?  False:
 * raised. */
static bool make_room(dv_vm *vm, const dv_thread *thread, const dv_value *frame) {
    if (dv_frame_fits(vm, thread, frame)) return true;
    if (!dv_poll_calls(vm) || !spend_budget(vm, 1)) return false;
    if (frame + thread->frame_size <= vm->stack_end && vm->calls_left > 0) return true;
    dv_raise(vm, DV_E_RECURSION_ERROR, "maximum recursion depth exceeded");
    return false;
}

static const dv_cell *enter_function(dv_vm *vm, const dv_cell *link, dv_value *sp, dv_value *fp,
                                     uint32_t count, dv_value keywords) {
    dv_value *frame = sp - count;
    dv_function *function = dv_as_function(frame[-3]);
    const dv_thread *thread = dv_function_thread(function);
    vm->ip = link, vm->sp = sp, vm->fp = fp;
    if (!make_room(vm, thread, frame) || !bind_in_place(vm, function, frame, count, keywords)) {
        /* More entries than the instruction has may be on the stack (open_method). */
        while (sp > frame) dv_release(vm, *--sp);
        return dv_slow_raise(link - 1, sp, fp, vm, 0, 0);
    }
    vm->sp = dv_frame_push(vm, thread, frame, fp, link);
    vm->fp = frame;
    return thread->entry;
}

/* callee R R args -- result: any callee that is not a dl function. */
static const dv_cell *call_object(dv_vm *vm, const dv_cell *link, dv_value *sp, dv_value *fp,
                                  uint32_t count, dv_value keywords) {
    vm->ip = link - 1, vm->sp = sp, vm->fp = fp;
    dv_value callee = sp[-(int64_t)count - 3];
    dv_value result = dv_call(vm, callee, sp - count, count, keywords);
    if (dv_is_empty(result)) return dv_slow_raise(link - 1, sp, fp, vm, 0, 0);
    for (uint32_t i = 1; i <= count; i++) dv_release(vm, sp[-(int64_t)i]);
    sp -= count + 2;
    sp[-1] = result;
    dv_release(vm, callee);
    vm->sp = sp;
    return link;
}

/* A bound method of a dl function becomes a call with self in front, without C recursion. */
static bool open_method(dv_vm *vm, dv_value **sp, uint32_t *count) {
    dv_value *frame = *sp - *count;
    const dv_method *method = (const dv_method *)dv_as_object(frame[-3]);
    if (!dv_is_function(method->function) || *sp + 1 > vm->stack_end) return false;
    dv_value callee = frame[-3];
    memmove(frame + 1, frame, *count * sizeof *frame);
    frame[0] = dv_retain(method->self);
    frame[-3] = dv_retain(method->function);
    dv_release(vm, callee);
    (*sp)++;
    (*count)++;
    return true;
}

static const dv_cell *call_any(dv_vm *vm, const dv_cell *link, dv_value *sp, dv_value *fp,
                               uint32_t count, dv_value keywords) {
    dv_value callee = sp[-(int64_t)count - 3];
    vm->ip = link - 1, vm->sp = sp, vm->fp = fp;
    if (dv_is_shape(callee, DV_T_METHOD) && open_method(vm, &sp, &count))
        callee = sp[-(int64_t)count - 3];
    if (dv_is_function(callee)) return enter_function(vm, link, sp, fp, count, keywords);
    if (dv_is_shape(callee, DV_T_CLASS)) {
        dv_value init = constructor_of(vm, callee, sp - count);
        if (!dv_is_empty(init)) return construct(vm, link, sp, fp, count, keywords, init);
    }
    return call_object(vm, link, sp, fp, count, keywords);
}

/* ip is already behind the call. */
const dv_cell *dv_slow_call(DV_HANDLER_PARAMETERS) {
    (void)d;
    return call_any(vm, ip, sp, fp, (uint32_t)r, DV_EMPTY);
}

const dv_cell *dv_slow_call_keywords(DV_HANDLER_PARAMETERS) {
    (void)d;
    return call_any(vm, ip, sp, fp, (uint32_t)r, vm->keywords);
}

/* Calls with `*` and `**`
 * --------------------------------------------------------------------------------------- */

/* The positional arguments become a tuple. */
static bool make_positional(dv_vm *vm, dv_value callee, dv_value *args) {
    if (dv_is_shape(*args, DV_T_TUPLE)) return true;
    dv_value given = *args, tuple = dv_tuple_from(vm, given);
    if (dv_is_empty(tuple)) {
        if (!dv_error_is(vm, DV_E_TYPE_ERROR) || dv_is_iterable(vm, given)) return false;
        dv_error_clear(vm);
        dv_value name = dv_callee_name(vm, callee);
        if (!dv_is_empty(name))
            dv_raise(vm, DV_E_TYPE_ERROR, "%S argument after * must be an iterable, not %T", name,
                     given);
        dv_release(vm, name);
        return false;
    }
    *args = tuple;
    dv_release(vm, given);
    return true;
}

/* All arguments of a CALL_EX in one array, as dv_call wants them. */
typedef struct expanded {
    dv_value callee, keywords; /* keywords owned, or EMPTY */
    const dv_value *args;      /* borrowed */
    dv_value *array;           /* args, if they had to be put together */
    uint32_t count;
    size_t size;
} expanded;

static bool expand_named(dv_vm *vm, expanded *x, dv_value dict, uint32_t at) {
    uint32_t count = x->count - at;
    dv_value *names = dv_heap_alloc(&vm->heap, count * sizeof *names), key, value;
    if (!names) return dv_raise_memory(vm), false;
    bool good = true;
    uint32_t n = 0;
    for (int64_t position = 0; n < count && dv_dict_walk(dict, &position, &key, &value); n++) {
        good = good && dv_is_str(key);
        names[n] = key;
        x->array[at + n] = value;
    }
    if (good)
        x->keywords = dv_tuple_new(vm, names, count);
    else
        dv_raise(vm, DV_E_TYPE_ERROR, "keywords must be strings");
    dv_heap_free(&vm->heap, names, count * sizeof *names);
    return !dv_is_empty(x->keywords);
}

/* The function of a bound method gets self in front. */
static bool expand(dv_vm *vm, expanded *x, dv_value callee, dv_value tuple, dv_value dict) {
    const dv_tuple *given = dv_as_tuple(tuple);
    uint32_t named = dv_is_empty(dict) ? 0 : (uint32_t)dv_length(vm, dict), before = 0;
    *x = (expanded){.callee = callee, .keywords = DV_EMPTY, .args = given->items};
    const dv_method *method = NULL;
    if (dv_is_shape(callee, DV_T_METHOD)) {
        method = (const dv_method *)dv_as_object(callee);
        x->callee = method->function;
        before = 1;
    }
    if (given->count > INT32_MAX) return dv_raise_memory(vm), false;
    x->count = before + (uint32_t)given->count + named;
    if (before + named == 0) return true;
    x->size = x->count * sizeof *x->array;
    x->array = dv_heap_alloc(&vm->heap, x->size);
    if (!x->array) return dv_raise_memory(vm), false;
    x->args = x->array;
    if (method) x->array[0] = method->self;
    if (given->count) memcpy(x->array + before, given->items, given->count * sizeof *x->array);
    return named == 0 || expand_named(vm, x, dict, before + (uint32_t)given->count);
}

static void release_expanded(dv_vm *vm, expanded *x) {
    dv_release(vm, x->keywords);
    if (x->array) dv_heap_free(&vm->heap, x->array, x->size);
}

/* callee R R tuple [dict], with `top` at the tuple: a dl function is entered in their place. */
static const dv_cell *enter_expanded(dv_vm *vm, const dv_cell *link, dv_value *sp, dv_value *fp,
                                     dv_value *frame, expanded *x) {
    const dv_function *function = dv_as_function(x->callee);
    const dv_thread *thread = dv_function_thread(function);
    dv_value tuple = frame[0], dict = sp - frame == 2 ? frame[1] : DV_EMPTY;
    dv_value few[16], *values = few;
    size_t size = (thread->argument_count + 1) * sizeof *values;
    bool bound = false;
    if (thread->argument_count > 16 && !(values = dv_heap_alloc(&vm->heap, size)))
        dv_raise_memory(vm);
    else
        bound = dv_bind_arguments(vm, function, x->args, x->count, x->keywords, values);
    release_expanded(vm, x);
    if (bound) {
        memcpy(frame, values, thread->argument_count * sizeof *values);
        dv_value callee = frame[-3];
        frame[-3] = dv_retain(x->callee);
        vm->sp = frame + thread->argument_count;
        dv_release(vm, callee);
        dv_release(vm, tuple);
        dv_release(vm, dict);
    }
    if (values && values != few) dv_heap_free(&vm->heap, values, size);
    if (!bound) return dv_slow_raise(link - 1, sp, fp, vm, 0, 0);
    vm->sp = dv_frame_push(vm, thread, frame, fp, link);
    vm->fp = frame;
    return thread->entry;
}

/* ip is already behind the call. */
const dv_cell *dv_slow_call_ex(DV_HANDLER_PARAMETERS) {
    (void)d;
    dv_value *frame = sp - 1 - r, callee = frame[-3];
    dv_value dict = r ? sp[-1] : DV_EMPTY;
    expanded x = {0};
    vm->ip = ip - 1, vm->sp = sp, vm->fp = fp;
    if ((r && !dv_is_dict(dict)) || !make_positional(vm, callee, frame))
        return dv_slow_raise(ip - 1, sp, fp, vm, 0, 0);
    if (!expand(vm, &x, callee, *frame, dict)) {
        release_expanded(vm, &x);
        return dv_slow_raise(ip - 1, sp, fp, vm, 0, 0);
    }
    if (dv_is_function(x.callee)) {
        if (make_room(vm, dv_function_thread(dv_as_function(x.callee)), frame))
            return enter_expanded(vm, ip, sp, fp, frame, &x);
        release_expanded(vm, &x);
        return dv_slow_raise(ip - 1, sp, fp, vm, 0, 0);
    }
    dv_value result = dv_call(vm, x.callee, x.args, x.count, x.keywords);
    release_expanded(vm, &x);
    if (dv_is_empty(result)) return dv_slow_raise(ip - 1, sp, fp, vm, 0, 0);
    vm->sp = frame;
    while (sp > frame) dv_release(vm, *--sp);
    frame[-3] = result;
    vm->sp = frame - 2;
    dv_release(vm, callee);
    return ip;
}

/* Safepoints
 * -------------------------------------------------------------------------------------------- */

enum { SAFEPOINT_INTERVAL = 1 << 16, STRESSED_INTERVAL = 3, OBSERVED_INTERVAL = 2 };

/* The collection that the heap asked for.  What it releases may run dl code, about which a region
 * knows nothing: so it is left first.  The result is where to go on with vm->sp and vm->fp; NULL:
 * leaving raised, and there is no handler. */
static const dv_cell *collect_at(DV_HANDLER_PARAMETERS) {
    if (vm->hooks.depart && !dv_thread_owns(dv_frame_thread(fp), ip))
        ip = vm->hooks.depart(ip, sp, fp, vm, r, d);
    if (!ip) return NULL;
    vm->ip = ip;
    dv_collect_wanted(vm);
    return ip;
}

/* Comes back to the instruction at ip, which counts down again: hence 2 to poll at every back edge.
 */
const dv_cell *dv_slow_safepoint(DV_HANDLER_PARAMETERS) {
    vm->ip = ip, vm->sp = sp, vm->fp = fp, vm->r = r, vm->d = d;
    vm->countdown = SAFEPOINT_INTERVAL;
    if (vm->hooks.observe) {
        vm->countdown = OBSERVED_INTERVAL;
        vm->hooks.observe(vm, ip, fp);
    }
    if (vm->stress.break_assumptions && vm->hooks.break_assumptions) {
        vm->countdown = STRESSED_INTERVAL;
        vm->hooks.break_assumptions(vm, ip, fp);
    }
    int64_t elapsed = SAFEPOINT_INTERVAL - vm->collector.rest;
    vm->collector.rest = 0;
    if (vm->collector.wanted) {
        ip = collect_at(ip, sp, fp, vm, r, d);
        if (!ip) return NULL;
        sp = vm->sp, fp = vm->fp;
    }
    if (!spend_budget(vm, elapsed)) return dv_slow_raise(ip, sp, fp, vm, r, d);
    if (!dv_poll_calls_slow(vm)) return dv_slow_raise(ip, sp, fp, vm, r, d);
    return ip;
}

/* Entering from C
 * --------------------------------------------------------------------------------------- */

void dv_run_cells(dv_vm *vm, const dv_cell *ip) {
    if (DV_UNLIKELY(vm->hooks.step != NULL))
        while (ip) ip = vm->hooks.step(vm, ip);
    while (ip) ip = ip->h(ip, vm->sp, vm->fp, vm, vm->r, vm->d);
}

/* Prepares the frame at the top of the stack; NULL: raised. */
static const dv_cell *enter_from_c(dv_vm *vm, dv_value callee, const dv_value *args, uint32_t count,
                                   dv_value keywords) {
    dv_value *frame = vm->sp + 3, *fp = vm->fp;
    const dv_function *function = dv_as_function(callee);
    const dv_thread *thread = dv_function_thread(function);
    bool exact = thread->exact_arguments == (int64_t)count && dv_is_empty(keywords) &&
                 dv_frame_fits(vm, thread, frame);
    if (!exact && vm->sp + count + 8 > vm->stack_end) {
        dv_raise(vm, DV_E_RECURSION_ERROR, "maximum recursion depth exceeded");
        return NULL;
    }
    frame[-3] = dv_retain(callee);
    for (uint32_t i = 0; i < count; i++) frame[i] = dv_retain(args[i]);
    vm->sp = frame + count;
    if (DV_LIKELY(exact) ||
        (make_room(vm, thread, frame) && bind_in_place(vm, function, frame, count, keywords))) {
        vm->sp = dv_frame_push(vm, thread, frame, fp, dv_halt_cell);
        vm->fp = frame;
        return thread->entry;
    }
    while (count > 0) dv_release(vm, frame[--count]);
    dv_release(vm, callee);
    return NULL;
}

static dv_value call_function(dv_vm *vm, dv_value callee, const dv_value *args, uint32_t count,
                              dv_value keywords) {
    const dv_cell *saved_ip = vm->ip;
    dv_value *saved_sp = vm->sp, *saved_fp = vm->fp, result = DV_EMPTY;
    if (!dv_native_room(vm)) return DV_EMPTY;
    const dv_cell *ip = enter_from_c(vm, callee, args, count, keywords);
    if (ip) {
        dv_run_cells(vm, ip);
        if (dv_is_empty(vm->error)) result = vm->sp[-1];
    }
    vm->ip = saved_ip, vm->sp = saved_sp, vm->fp = saved_fp;
    return result;
}

static dv_value call_bound(dv_vm *vm, const dv_method *method, const dv_value *args, uint32_t count,
                           dv_value keywords) {
    dv_value few[8], *all = few;
    size_t size = (count + 1) * sizeof *all;
    if (count + 1 > 8 && !(all = dv_heap_alloc(&vm->heap, size))) return dv_raise_memory(vm);
    all[0] = method->self;
    if (count > 0) memcpy(all + 1, args, count * sizeof *all);
    dv_value function = dv_retain(method->function);
    dv_retain(all[0]);
    dv_value result = dv_call(vm, function, all, count + 1, keywords);
    dv_release(vm, all[0]);
    dv_release(vm, function);
    if (all != few) dv_heap_free(&vm->heap, all, size);
    return result;
}

/* How the message ends if there is no call left; a class whose __init__ would have been entered by
 * a frame has none. */
static const char *doing_at_limit(dv_vm *vm, dv_value callee) {
    if (vm->calls_left > 0 || !dv_is_class(callee)) return " while calling a Python object";
    const dv_global_cell *init = init_cell(vm, dv_as_class(callee));
    bool framed = init && !dv_is_empty(init->value);
    return framed ? "" : " while calling a Python object";
}

dv_value dv_call(dv_vm *vm, dv_value callee, const dv_value *args, uint32_t count,
                 dv_value keywords) {
    if (dv_is_function(callee)) return call_function(vm, callee, args, count, keywords);
    if (dv_is_shape(callee, DV_T_METHOD))
        return call_bound(vm, (const dv_method *)dv_as_object(callee), args, count, keywords);
    const dv_type *type = dv_behaviour_of(vm, callee);
    if (type && type->call) {
        /* What is built in does not count: levels that call it without dv_call would go deeper. */
        bool counts = type->id != DV_T_CFUNCTION && type->id != DV_T_PARTIAL &&
                      !(dv_is_class(callee) && dv_as_class(callee)->descriptor);
        if (counts ? !dv_enter_native_for(vm, doing_at_limit(vm, callee)) : !dv_native_room(vm))
            return DV_EMPTY;
        dv_value result = type->call(vm, callee, args, count, keywords);
        if (counts) dv_leave_native(vm);
        return result;
    }
    return dv_raise(vm, DV_E_TYPE_ERROR, "'%T' object is not callable", callee);
}

dv_value dv_run_unit(dv_vm *vm, dv_unit *unit, dv_value module) {
    dv_thread *thread = dv_thread_new(vm, unit->code, dv_as_module(module));
    if (--unit->references == 0) unit->release_arena(unit->context, unit->arena);
    if (!thread) return DV_EMPTY;
    dv_value function = dv_function_make(vm, thread, DV_EMPTY);
    dv_release_object(vm, &thread->header);
    if (dv_is_empty(function)) return DV_EMPTY;
    dv_value result = dv_call(vm, function, NULL, 0, DV_EMPTY);
    dv_release(vm, function);
    return result;
}
