/* bind.c: arguments become parameters (bind.h). */
#include "run/bind.h"

#include <stdio.h>
#include <string.h>

#include "run/frame.h"
#include "types/mapping/dict.h"
#include "types/text/str.h"
#include "types/text/str_text.h"
#include "types/sequence/tuple.h"

static dv_value parameter_name(dv_vm *vm, const dv_code *code, uint32_t i) {
    return dv_str_intern(vm, code->local_names[i].data, code->local_names[i].size);
}

/* A call whose arguments are being bound. */
typedef struct binding {
    dv_vm *vm;
    const dv_function *function;
    const dv_code *code;
    const dv_value *names; /* of the parameters, interned; known if any of them is asked for */
    uint32_t named_count;  /* positional and keyword-only parameters: what keywords may name */
    dv_value *values;      /* of the parameters, by index; owned, or EMPTY */
} binding;

static uint32_t default_count(const dv_function *function) {
    return dv_is_empty(function->defaults) ? 0 : (uint32_t)dv_as_tuple(function->defaults)->count;
}

static bool raise_too_many(const binding *b, uint32_t given) {
    uint32_t most = b->code->positional_count, defaults = default_count(b->function), named = 0;
    for (uint32_t i = most; i < b->named_count; i++) named += !dv_is_empty(b->values[i]);
    char takes[48] = "", and_named[64] = "";
    if (defaults)
        snprintf(takes, sizeof takes, "from %d to %u", (int)most - (int)defaults, most);
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
    for (uint32_t i = begin; i < end; i++)
        if (dv_same(b->names[i], keyword)) return i;
    if (wanted->interned) return -1;
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
        dv_value value = DV_EMPTY, dict = dv_retain(b->function->keyword_defaults);
        if (!dv_is_empty(dict)) value = dv_dict_get(b->vm, dict, b->names[i]);
        b->values[i] = dv_retain(value);
        dv_release(b->vm, dict);
        if (dv_is_empty(value) && !dv_is_empty(b->vm->error)) return false;
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

/* Writes the values of the function's parameters to `out`; the arguments are borrowed. */
static bool bind_arguments(dv_vm *vm, const dv_function *function, const dv_value *args,
                           uint32_t count, dv_value keywords, dv_value *out) {
    dv_thread *thread = dv_function_thread(function);
    binding b = {.vm = vm, .function = function, .code = thread->code};
    b.named_count = b.code->positional_count + b.code->keyword_only_count;
    if (!dv_is_empty(keywords) || b.code->keyword_only_count) {
        if (!dv_thread_know_parameters(vm, thread)) return false;
        b.names = thread->parameters;
    }
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

/* A tuple that takes the items over if it can be made. */
static dv_value take_tuple(dv_vm *vm, const dv_value *items, int64_t count) {
    dv_tuple *tuple = dv_tuple_alloc(vm, count);
    if (!tuple) return DV_EMPTY;
    memcpy(tuple->items, items, (size_t)count * sizeof *items);
    return dv_object_value(tuple);
}

/* What is too many for the positional parameters becomes the tuple of the `*` parameter, which
 * takes it over; there may be a dict for a `**` parameter, too.  False: raised. */
static bool gather(dv_vm *vm, const dv_code *code, dv_value *frame, uint32_t count) {
    dv_value *rest = frame + code->positional_count, named = DV_EMPTY;
    int64_t many = (int64_t)count - code->positional_count;
    if (code->flags & DV_CODE_VARKEYWORDS && dv_is_empty(named = dv_dict_new(vm))) return false;
    if (code->flags & DV_CODE_VARARGS) {
        dv_value tuple = many > 0 ? take_tuple(vm, rest, many) : dv_tuple_new(vm, NULL, 0);
        if (dv_is_empty(tuple)) return dv_release(vm, named), false;
        *rest++ = tuple;
    }
    if (code->flags & DV_CODE_VARKEYWORDS) *rest++ = named;
    vm->sp = rest;
    return true;
}

bool dv_bind_is_plain(const dv_function *function, uint32_t count) {
    const dv_code *code = dv_function_thread(function)->code;
    if (code->keyword_only_count) return false;
    if (count > code->positional_count) return code->flags & DV_CODE_VARARGS;
    return count == code->positional_count ||
           dv_frame_defaults(function, code->positional_count - count);
}

bool dv_bind_plainly(dv_vm *vm, const dv_function *function, dv_value *frame, uint32_t count) {
    const dv_code *code = dv_function_thread(function)->code;
    if (!gather(vm, code, frame, count)) return false;
    if (count >= code->positional_count) return true;
    const dv_value *values = dv_frame_defaults(function, code->positional_count - count);
    for (uint32_t i = count; i < code->positional_count; i++) frame[i] = dv_retain(*values++);
    return true;
}

enum { MOST_NAMES = 8, MOST_PARAMETERS = 63 };

/* A call by names that has been looked at. */
typedef struct named_call {
    uint32_t given, named;       /* arguments without and with a name */
    uint32_t places[MOST_NAMES]; /* which parameter gets what is named; MOST_PARAMETERS: the dict of
                                  * the `**` parameter */
    uint64_t filled;             /* parameters that get an argument, as bits */
} named_call;

/* Is it the usual call by names: each is that of a parameter which has no value yet, or meant for a
 * `**` parameter, and the rest have defaults that are not in a dict? */
static bool is_usual(const dv_function *function, const dv_tuple *names, named_call *c) {
    const dv_thread *thread = dv_function_thread(function);
    const dv_code *code = thread->code;
    const uint32_t positional = code->positional_count;
    const uint32_t parameters = positional + code->keyword_only_count;
    if (!thread->parameters || parameters >= MOST_PARAMETERS || c->named > MOST_NAMES ||
        c->given > positional)
        return false;
    c->filled = ((uint64_t)1 << c->given) - 1;
    for (uint32_t i = 0; i < c->named; i++) {
        uint32_t at = code->positional_only_count;
        while (at < parameters && !dv_same(thread->parameters[at], names->items[i])) at++;
        const bool extra = at == parameters;
        if (extra ? !(code->flags & DV_CODE_VARKEYWORDS) || !dv_as_str(names->items[i])->interned
                  : c->filled >> at & 1)
            return false;
        c->places[i] = extra ? MOST_PARAMETERS : at;
        if (!extra) c->filled |= (uint64_t)1 << at;
    }
    const uint32_t first = positional - default_count(function);
    for (uint32_t i = c->given; i < parameters; i++)
        if (!(c->filled >> i & 1) && (i < first || i >= positional)) return false;
    return true;
}

/* The dict of the `**` parameter; EMPTY: raised. */
static dv_value extra_of(dv_vm *vm, const named_call *c, const dv_value *values,
                         const dv_tuple *names) {
    dv_value extra = dv_dict_new(vm);
    for (uint32_t i = 0; i < c->named && !dv_is_empty(extra); i++) {
        if (c->places[i] != MOST_PARAMETERS || dv_dict_set(vm, extra, names->items[i], values[i]))
            continue;
        dv_release(vm, extra);
        extra = DV_EMPTY;
    }
    return extra;
}

/* Binds a usual call.  False: it is none, or there is no memory, and nothing has been done. */
static bool bind_names(dv_vm *vm, const dv_function *function, dv_value *frame, uint32_t count,
                       const dv_tuple *names) {
    const dv_thread *thread = dv_function_thread(function);
    const dv_code *code = thread->code;
    const uint32_t parameters = code->positional_count + code->keyword_only_count;
    named_call c = {.given = count - (uint32_t)names->count, .named = (uint32_t)names->count};
    if (!is_usual(function, names, &c)) return false;
    const bool star = code->flags & DV_CODE_VARARGS, stars = code->flags & DV_CODE_VARKEYWORDS;
    const dv_value rest = star ? dv_tuple_new(vm, NULL, 0) : DV_NONE;
    const dv_value extra = stars ? extra_of(vm, &c, frame + c.given, names) : DV_NONE;
    if (DV_UNLIKELY(dv_is_empty(rest) || dv_is_empty(extra))) {
        dv_error_clear(vm);
        dv_release(vm, rest);
        dv_release(vm, extra);
        return false;
    }
    dv_value values[MOST_NAMES];
    for (uint32_t i = 0; i < c.named; i++) values[i] = frame[c.given + i];
    const uint32_t first = code->positional_count - default_count(function);
    for (uint32_t i = c.given; i < parameters; i++)
        if (!(c.filled >> i & 1))
            frame[i] = dv_retain(dv_as_tuple(function->defaults)->items[i - first]);
    for (uint32_t i = 0; i < c.named; i++) {
        if (c.places[i] != MOST_PARAMETERS)
            frame[c.places[i]] = values[i];
        else
            dv_release(vm, values[i]); /* which the dict has */
    }
    if (star) frame[parameters] = rest;
    if (stars) frame[parameters + star] = extra;
    vm->sp = frame + thread->argument_count;
    return true;
}

bool dv_bind_apart(dv_vm *vm, const dv_function *function, dv_value *frame, uint32_t count,
                   dv_value keywords) {
    const dv_thread *thread = dv_function_thread(function);
    if (dv_is_empty(keywords) && dv_bind_is_plain(function, count))
        return dv_bind_plainly(vm, function, frame, count);
    if (!dv_is_empty(keywords) && bind_names(vm, function, frame, count, dv_as_tuple(keywords)))
        return true;
    dv_value few[16], *given = few;
    size_t size = count * sizeof *given;
    if (count > 16 && !(given = dv_heap_alloc(&vm->heap, size))) return dv_raise_memory(vm), false;
    if (count > 0) memcpy(given, frame, size);
    bool bound = bind_arguments(vm, function, given, count, keywords, frame);
    if (bound) {
        vm->sp = frame + thread->argument_count;
        for (uint32_t i = 0; i < count; i++) dv_release(vm, given[i]);
    }
    if (given != few) dv_heap_free(&vm->heap, given, size);
    return bound;
}
