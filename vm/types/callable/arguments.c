/* arguments.c: sorting positional and keyword arguments of C functions into parameters. */
#include "types/callable/arguments.h"

#include <stdio.h>

#include "core/upcall.h"
#include "core/work.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

static bool refuse_number(dv_vm *vm, const dv_parameters *p, uint32_t positional, uint32_t named) {
    uint32_t given = positional + named;
    if (given > p->count)
        dv_raise(vm, DV_E_TYPE_ERROR, "%s() takes at most %d %sargument%s (%d given)", p->function,
                 p->count, positional == 0 ? "keyword " : "", p->count == 1 ? "" : "s", given);
    else if (p->positional == 0)
        dv_raise(vm, DV_E_TYPE_ERROR, "%s() takes no positional arguments", p->function);
    else
        dv_raise(vm, DV_E_TYPE_ERROR, "%s() takes %s %d positional argument%s (%d given)",
                 p->function, p->required < p->positional ? "at most" : "exactly", p->positional,
                 p->positional == 1 ? "" : "s", positional);
    return false;
}

/* Number of the parameter with this name; `count` if there is none. */
static uint32_t parameter_named(const dv_parameters *p, dv_value name) {
    for (uint32_t i = 0; i < p->count; i++)
        if (dv_str_is(name, p->names[i])) return i;
    return p->count;
}

/* Puts a keyword argument in its place; false: it has none (nothing is raised). */
static bool place_keyword(const dv_parameters *p, uint32_t positional, dv_value name,
                          dv_value value, dv_value *out) {
    uint32_t i = parameter_named(p, name);
    if (i == p->count || i < positional) return false;
    out[i] = value;
    return true;
}

static bool refuse_keyword(dv_vm *vm, const dv_parameters *p, dv_value name) {
    uint32_t i = parameter_named(p, name);
    if (i == p->count)
        dv_raise(vm, DV_E_TYPE_ERROR, "'%S' is an invalid keyword argument for %s()", name,
                 p->function);
    else
        dv_raise(vm, DV_E_TYPE_ERROR, "argument for %s() given by name ('%S') and position (%d)",
                 p->function, name, i + 1);
    return false;
}

bool dv_arguments_sort(dv_vm *vm, const dv_parameters *p, const dv_value *args, uint32_t count,
                       dv_value keywords, dv_value *out) {
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    uint32_t positional = count - named;
    dv_work_call(vm, DV_WORK_CALL);
    if (count > p->count || positional > p->positional)
        return refuse_number(vm, p, positional, named);
    for (uint32_t i = 0; i < p->count; i++) out[i] = i < positional ? args[i] : DV_EMPTY;
    dv_value misplaced = DV_EMPTY;
    for (uint32_t i = 0; i < named; i++) {
        dv_value name = dv_as_tuple(keywords)->items[i];
        bool placed = place_keyword(p, positional, name, args[positional + i], out);
        if (!placed && dv_is_empty(misplaced)) misplaced = name;
    }
    for (uint32_t i = 0; i < p->required; i++) {
        if (!dv_is_empty(out[i])) continue;
        dv_raise(vm, DV_E_TYPE_ERROR, "%s() missing required argument '%s' (pos %d)", p->function,
                 p->names[i], i + 1);
        return false;
    }
    /* CPython names what is missing first. */
    return dv_is_empty(misplaced) || refuse_keyword(vm, p, misplaced);
}

/* ---- Functions that are Python in CPython -----------------------------------------------------*/

static bool bind_keyword(dv_vm *vm, const dv_parameters *p, dv_value name, dv_value value,
                         dv_value *out) {
    uint32_t i = parameter_named(p, name);
    if (i == p->count) {
        dv_raise(vm, DV_E_TYPE_ERROR, "%s() got an unexpected keyword argument '%S'", p->function,
                 name);
        return false;
    }
    if (!dv_is_empty(out[i])) {
        dv_raise(vm, DV_E_TYPE_ERROR, "%s() got multiple values for argument '%S'", p->function,
                 name);
        return false;
    }
    out[i] = value;
    return true;
}

static bool refuse_positional(dv_vm *vm, const dv_parameters *p, uint32_t given,
                              const dv_value *out) {
    uint32_t named = 0;
    char takes[48] = "", and_named[80] = "";
    for (uint32_t i = p->positional; i < p->count; i++) named += !dv_is_empty(out[i]);
    if (p->required < p->positional) snprintf(takes, sizeof takes, "from %u to ", p->required);
    if (named)
        snprintf(and_named, sizeof and_named,
                 " positional argument%s (and %u keyword-only argument%s)", given == 1 ? "" : "s",
                 named, named == 1 ? "" : "s");
    dv_raise(vm, DV_E_TYPE_ERROR, "%s() takes %s%d positional argument%s but %d%s %s given",
             p->function, takes, (int)p->positional,
             p->required == p->positional && p->positional == 1 ? "" : "s", (int)given, and_named,
             given == 1 && !named ? "was" : "were");
    return false;
}

static bool refuse_missing(dv_vm *vm, const dv_parameters *p, const dv_value *out) {
    uint32_t missing = 0, seen = 0;
    for (uint32_t i = 0; i < p->required; i++) missing += dv_is_empty(out[i]);
    dv_builder names;
    dv_builder_init(&names, vm);
    for (uint32_t i = 0; i < p->required; i++) {
        if (!dv_is_empty(out[i])) continue;
        if (seen)
            dv_builder_z(&names, missing == 2 ? " and " : seen + 1 == missing ? ", and " : ", ");
        dv_builder_char(&names, '\'');
        dv_builder_z(&names, p->names[i]);
        dv_builder_char(&names, '\'');
        seen++;
    }
    dv_value text = dv_builder_finish(&names);
    if (dv_is_empty(text)) return false;
    dv_raise(vm, DV_E_TYPE_ERROR, "%s() missing %d required positional argument%s: %S", p->function,
             (int)missing, missing == 1 ? "" : "s", text);
    dv_release(vm, text);
    return false;
}

bool dv_arguments_bind(dv_vm *vm, const dv_parameters *p, const dv_value *args, uint32_t count,
                       dv_value keywords, dv_value *out) {
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    uint32_t given = count - named;
    dv_work_call(vm, DV_WORK_CALL);
    for (uint32_t i = 0; i < p->count; i++)
        out[i] = i < given && i < p->positional ? args[i] : DV_EMPTY;
    for (uint32_t i = 0; i < named; i++)
        if (!bind_keyword(vm, p, dv_as_tuple(keywords)->items[i], args[given + i], out))
            return false;
    if (given > p->positional) return refuse_positional(vm, p, given, out);
    for (uint32_t i = 0; i < p->required; i++)
        if (dv_is_empty(out[i])) return refuse_missing(vm, p, out);
    return true;
}

/* -----------------------------------------------------------------------------------------------*/

bool dv_arguments_no_keywords(dv_vm *vm, const char *function, dv_value keywords) {
    if (dv_is_empty(keywords) || dv_as_tuple(keywords)->count == 0) return true;
    dv_raise(vm, DV_E_TYPE_ERROR, "%s() takes no keyword arguments", function);
    return false;
}

bool dv_arguments_count(dv_vm *vm, const char *function, uint32_t count, uint32_t min,
                        uint32_t max) {
    if (count >= min && count <= max) return true;
    uint32_t bound = count < min ? min : max;
    const char *how = min == max ? "" : count < min ? "at least " : "at most ";
    dv_raise(vm, DV_E_TYPE_ERROR, "%s expected %s%d argument%s, got %d", function, how, bound,
             bound == 1 ? "" : "s", count);
    return false;
}

dv_value dv_arguments_refuse(dv_vm *vm, const char *what, const char *wanted, dv_value v) {
    if (dv_is_none(v))
        return dv_raise(vm, DV_E_TYPE_ERROR, "%s must be %s, not None", what, wanted);
    return dv_raise(vm, DV_E_TYPE_ERROR, "%s must be %s, not %T", what, wanted, v);
}
