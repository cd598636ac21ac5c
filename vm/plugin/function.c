/* function.c: functions of extensions: what a dvx_function becomes, and calling it.
 *
 * Invariant 1: what an extension's function returns is checked here, or in oint.c, before the
 * machine sees it: a value without an error, or an error without a value. */
#include "plugin/debug.h"

#include "core/raw.h"
#include "core/upcall.h"
#include "types/callable/arguments.h"

bool dv_extension_copy(void *to, size_t size, const void *from, size_t least) {
    size_t given;
    memcpy(&given, from, sizeof given);
    if (given < least) return false;
    memset(to, 0, size);
    memcpy(to, from, given < size ? given : size);
    return true;
}

dv_value dv_extension_check(dv_vm *vm, const char *name, dv_value result) {
    bool failed = dv_is_empty(result), raised = !dv_is_empty(vm->error);
    if (DV_LIKELY(failed == raised)) return result;
    if (failed)
        return dv_raise(vm, DV_E_SYSTEM_ERROR,
                        "<built-in function %s> returned NULL without setting an exception", name);
    dv_value error = vm->error;
    vm->error = DV_EMPTY;
    dv_release(vm, result);
    dv_release(vm, error);
    return dv_raise(vm, DV_E_SYSTEM_ERROR,
                    "<built-in function %s> returned a result with an exception set", name);
}

bool dv_extension_check_done(dv_vm *vm, const char *name, bool done) {
    return !dv_is_empty(dv_extension_check(vm, name, done ? DV_NONE : DV_EMPTY));
}

/* A dvx_raw is a dv_raw under the name that extensions have for it. */
#define SAME(member)                                                                    \
    _Static_assert(offsetof(dvx_raw, member) == offsetof(dv_raw, member) &&             \
                       sizeof(((dvx_raw *)0)->member) == sizeof(((dv_raw *)0)->member), \
                   "one layout")
SAME(signature);
SAME(entry);
SAME(pure);
SAME(defined);
SAME(error_number);
_Static_assert(sizeof(dvx_raw) == sizeof(dv_raw) && sizeof(dvx_number) == sizeof(dv_raw_value),
               "one layout");

const dv_raw *dv_extension_raw(const dvx_raw *raw) { return (const dv_raw *)(const void *)raw; }

/* ---- Calling ---- */

bool dv_extension_sort(dv_vm *vm, const char *name, const dvx_parameters *p, const dv_value *args,
                       uint32_t count, dv_value keywords, dv_value *sorted) {
    const dv_parameters parameters = {.function = name,
                                      .names = p->names,
                                      .count = p->count,
                                      .positional = p->positional,
                                      .required = p->required};
    return dv_arguments_sort(vm, &parameters, args, count, keywords, sorted);
}

typedef dv_value enter_function(dv_vm *vm, const dv_extension_function *function,
                                const dv_value *args, uint32_t count);

static inline dv_value enter(dv_vm *vm, const dv_extension_function *function, const dv_value *args,
                             uint32_t count) {
    return function->described.entry(vm, args, count);
}

/* With its parameters; self, of a method, stands in front of them. */
static inline dv_value call_named(dv_vm *vm, const dv_extension_function *function,
                                  const dv_value *args, uint32_t count, dv_value keywords,
                                  enter_function *enter) {
    const dvx_parameters *p = &function->parameters;
    dv_value sorted[DVX_MOST_PARAMETERS + 1];
    uint32_t own = function->def.min; /* 1 of methods */
    if (own) sorted[0] = args[0];
    if (!dv_extension_sort(vm, function->def.name, p, args + own, count - own, keywords,
                           sorted + own))
        return DV_EMPTY;
    return enter(vm, function, sorted, p->count + own);
}

static dv_value call(dv_vm *vm, const dv_cfunction_def *def, const dv_value *args, uint32_t count,
                     dv_value keywords) {
    const dv_extension_function *function = (const dv_extension_function *)(const void *)def;
    dv_value result = function->parameters.size
                          ? call_named(vm, function, args, count, keywords, enter)
                          : function->described.entry(vm, args, count);
    return dv_extension_check(vm, def->name, result);
}

/* The same where extensions are checked. */
static dv_value call_watched(dv_vm *vm, const dv_cfunction_def *def, const dv_value *args,
                             uint32_t count, dv_value keywords) {
    const dv_extension_function *function = (const dv_extension_function *)(const void *)def;
    dv_value result = function->parameters.size
                          ? call_named(vm, function, args, count, keywords, dv_debug_enter)
                          : dv_debug_enter(vm, function, args, count);
    return dv_extension_check(vm, def->name, result);
}

/* ---- Describing ---- */

static bool are_parameters(const dvx_parameters *p) {
    if (p->count > DVX_MOST_PARAMETERS || p->positional > p->count || p->required > p->count)
        return false;
    for (uint32_t i = 0; i < p->count; i++)
        if (!p->names || !p->names[i]) return false;
    return true;
}

static bool is_well_formed(const dvx_function *function) {
    if (!function->name || !function->entry || function->min > function->max) return false;
    for (uint32_t i = 0; i < function->derivative_count; i++) {
        const dvx_derivative *d = function->derivatives[i];
        if (!d || d->size < DV_SIZE_UP_TO(dvx_derivative, native_count) || !d->name || !d->guard ||
            !d->run)
            return false;
    }
    return true;
}

bool dv_extension_copy_parameters(dvx_parameters *to, const dvx_parameters *given) {
    to->size = 0;
    if (!given) return true;
    return dv_extension_copy(to, sizeof *to, given, DV_SIZE_UP_TO(dvx_parameters, required)) &&
           are_parameters(to);
}

/* Payloads are what methods take, and self is the first of them. */
static bool are_signatures(const dvx_raw *raw, bool has_self) {
    for (; raw && raw->signature; raw++)
        if ((strchr(raw->signature, 'p') != NULL) != has_self ||
            (has_self && !strstr(raw->signature, "(p")))
            return false;
    return true;
}

/* Copies what was given into `made`; false: it is malformed. */
static bool take_over(dv_extension_function *made, const dvx_function *given, bool has_self) {
    dvx_function *own = &made->described;
    return dv_extension_copy(own, sizeof *own, given, DV_SIZE_UP_TO(dvx_function, derivatives)) &&
           is_well_formed(own) &&
           dv_extension_copy_parameters(&made->parameters, own->parameters) &&
           are_signatures(own->raw, has_self) && (!has_self || own->parameters || own->min > 0);
}

static dv_cfunction_def define(const dv_vm *vm, const dv_extension_function *made, bool method) {
    bool named = made->parameters.size != 0, fixed = made->described.binding == DVX_STATIC_METHOD;
    uint32_t flags = named ? DV_CFUNCTION_NAMED : 0;
    if (method && fixed) flags |= DV_CFUNCTION_STATIC;
    if (method && made->described.binding == DVX_CLASS_METHOD) flags |= DV_CFUNCTION_CLASS;
    return (dv_cfunction_def){.name = made->described.name,
                              .foreign_entry = vm->extensions.plugins->debug ? call_watched : call,
                              .min = named ? method && !fixed : made->described.min,
                              .max = named ? UINT32_MAX : made->described.max,
                              .flags = flags,
                              .raw = named || flags ? NULL : dv_extension_raw(made->described.raw)};
}

dv_extension_function *dv_extension_describe(dv_vm *vm, dv_extension *extension,
                                             const dvx_function *given, bool method) {
    uint32_t count =
        given->size < DV_SIZE_UP_TO(dvx_function, derivatives) ? 0 : given->derivative_count;
    size_t size = sizeof(dv_extension_function) + count * sizeof(dv_extension_case);
    dv_extension_function *made = dv_heap_alloc(&vm->heap, size);
    if (!made) {
        dv_raise_memory(vm);
        return NULL;
    }
    bool whole = given->size >= DV_SIZE_UP_TO(dvx_function, binding);
    bool has_self = method && !(whole && given->binding == DVX_STATIC_METHOD);
    if (!take_over(made, given, has_self)) {
        dv_heap_free(&vm->heap, made, size);
        dv_raise(vm, DV_E_SYSTEM_ERROR, "malformed function of extension %s",
                 extension->described.name);
        return NULL;
    }
    made->descriptor = given;
    made->def = define(vm, made, method);
    made->owner = extension->described.name;
    for (uint32_t i = 0; i < count; i++)
        made->cases[i] = (dv_extension_case){&made->def, made->described.derivatives[i]};
    made->next = extension->functions;
    extension->functions = made;
    return made;
}

void dv_extension_free_functions(dv_vm *vm, dv_extension_function *function) {
    while (function) {
        dv_extension_function *next = function->next;
        uint32_t count = function->described.derivative_count;
        dv_heap_free(&vm->heap, function, sizeof *function + count * sizeof *function->cases);
        function = next;
    }
}
