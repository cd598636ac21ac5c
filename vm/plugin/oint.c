/* oint.c: the optimisation interface: call derivatives of extensions (ext/SITES.md).
 *
 * A hot call of an extension's function becomes the first of the function's derivatives whose guard
 * accepts the arguments: its native handler where that was compiled against this build, else a
 * handler of this file that calls the portable twin.  Either is an instruction like the VM's own:
 * it counts misses, and is given up after too many of them.
 *
 * Invariants
 *  1. A site specialised here has the layout of CALL_C and CALL_METHOD_C.  Its cache cell holds the
 *     callee's dv_cfunction_def (native, and calls without a derivative), or a dv_extension_case
 *     (portable).
 *  2. The handlers are in trampoline form and call no handler that might be in tail form. */
#include "dv_ops.h"
#include "plugin/debug.h"
#include "plugin/expression.h"

#include "core/upcall.h"
#include "plugin/handlers.h"
#include "plugin/specialise.h"
#include "quicken/site.h"
#include "types/class/class.h"
#include "types/callable/function.h"

enum { SITE_LENGTH = 4, SITE_COUNT = 2, SITE_CACHE = 3 };

/* ---- Handlers ---- */

/* The generic instruction for this once.  CALL_METHOD's self is EMPTY, or counts as an argument. */
static const dv_cell *call_generic(dv_vm *vm, const dv_cell *ip, dv_value *sp, dv_value *fp,
                                   bool method) {
    int64_t count = ip[SITE_COUNT].i;
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    dv_site_missed(vm, (dv_cell *)ip, method ? DV_OP_CALL_METHOD_ADAPTIVE : DV_OP_CALL_ADAPTIVE);
    if (method) {
        dv_value *self = sp - count - 1;
        if (dv_is_empty(*self)) {
            memmove(self, self + 1, (size_t)count * sizeof *sp);
            sp--;
        } else {
            count++;
        }
    }
    return dv_slow_call(ip + SITE_LENGTH, sp, fp, vm, count, 0);
}

/* Replaces callee, reserved entries and arguments by the result. */
static const dv_cell *finish(dv_vm *vm, const dv_cell *ip, dv_value *sp, dv_value *fp, bool method,
                             dv_value result) {
    uint32_t count = (uint32_t)ip[SITE_COUNT].i;
    dv_value *callee = sp - count - 3 - method;
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    for (uint32_t i = 1; i <= count; i++) dv_release(vm, sp[-(int64_t)i]);
    if (method) dv_release(vm, callee[3]); /* self */
    dv_value function = *callee;
    *callee = result;
    vm->sp = callee + 1;
    dv_release(vm, function);
    return ip + SITE_LENGTH;
}

static bool is_case(const dv_extension_case *wanted, const dv_value *callee, bool method) {
    if (!dv_is_shape(*callee, DV_T_CFUNCTION)) return false;
    if (((const dv_cfunction *)dv_as_object(*callee))->def != wanted->def) return false;
    return !method || dv_is_empty(callee[3]);
}

/* Can def's entry be called without more questions?  Methods with the self that LOAD_METHOD found
 * them on, functions without. */
static bool is_plain(const dv_cfunction_def *def, dv_value callee, bool has_self, uint32_t count) {
    if (!dv_is_shape(callee, DV_T_CFUNCTION)) return false;
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(callee);
    return function->def == def && dv_is_empty(function->self) &&
           dv_is_shape(function->owner, DV_T_CLASS) == has_self && count + has_self >= def->min &&
           count + has_self <= def->max;
}

static dvx_outcome run(dv_vm *vm, const dv_extension_case *taken, const dv_value *args,
                       uint32_t count, dv_value *result) {
    if (DV_UNLIKELY(vm->extensions.plugins->debug != NULL))
        return dv_debug_run(vm, taken, args, count, result);
    return taken->derivative->run(vm, args, count, result);
}

static const dv_cell *run_portable(dv_vm *vm, const dv_cell *ip, dv_value *sp, dv_value *fp,
                                   bool method) {
    uint32_t count = (uint32_t)ip[SITE_COUNT].i;
    dv_value *callee = sp - count - 3 - method;
    const dv_extension_case *taken = ip[SITE_CACHE].p;
    if (!is_case(taken, callee, method) || GUARD_FAILS())
        return call_generic(vm, ip, sp, fp, method);
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    dv_value result = DV_EMPTY;
    dvx_outcome outcome = run(vm, taken, sp - count, count, &result);
    if (outcome == DVX_DEOPTIMISE) return call_generic(vm, ip, sp, fp, method);
    if (outcome == DVX_ERROR) result = DV_EMPTY;
    result = dv_extension_check(vm, taken->def->name, result);
    if (dv_is_empty(result)) return dv_slow_raise(ip, sp, fp, vm, 0, 0);
    return finish(vm, ip, sp, fp, method, result);
}

/* A call without a derivative: of the function in the cache, if the callee is still that. */
static const dv_cell *run_plain(dv_vm *vm, const dv_cell *ip, dv_value *sp, dv_value *fp,
                                bool method) {
    uint32_t count = (uint32_t)ip[SITE_COUNT].i;
    dv_value *callee = sp - count - 3 - method;
    const dv_cfunction_def *def = ip[SITE_CACHE].p;
    bool has_self = method && !dv_is_empty(callee[3]);
    if (!is_plain(def, *callee, has_self, count) || GUARD_FAILS())
        return call_generic(vm, ip, sp, fp, method);
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    dv_value result =
        def->foreign_entry(vm, def, sp - count - has_self, count + has_self, DV_EMPTY);
    if (dv_is_empty(result)) return dv_slow_raise(ip, sp, fp, vm, 0, 0);
    return finish(vm, ip, sp, fp, method, result);
}

/* A call of the class of a type, in the cache: such a class never dies. */
static const dv_cell *run_class(dv_vm *vm, const dv_cell *ip, dv_value *sp, dv_value *fp,
                                bool method) {
    uint32_t count = (uint32_t)ip[SITE_COUNT].i;
    dv_value *callee = sp - count - 3 - method;
    if (callee->bits != ip[SITE_CACHE].v.bits || (method && !dv_is_empty(callee[3])) ||
        GUARD_FAILS())
        return call_generic(vm, ip, sp, fp, method);
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    const dv_type *type = vm->types[dv_as_class(*callee)->type];
    dv_value made = type->make(vm, dv_as_class(*callee));
    if (!dv_is_empty(made) && !type->initialise(vm, made, sp - count, count, DV_EMPTY)) {
        dv_release(vm, made);
        made = DV_EMPTY;
    }
    if (dv_is_empty(made)) return dv_slow_raise(ip, sp, fp, vm, 0, 0);
    return finish(vm, ip, sp, fp, method, made);
}

/* Each as a handler, for CALL and for CALL_METHOD. */
#define BOTH(name, ...)                                               \
    static const dv_cell *name##_call(DV_HANDLER_PARAMETERS) {        \
        const bool method = false;                                    \
        (void)r, (void)d;                                             \
        return __VA_ARGS__;                                           \
    }                                                                 \
    static const dv_cell *name##_call_method(DV_HANDLER_PARAMETERS) { \
        const bool method = true;                                     \
        (void)r, (void)d;                                             \
        return __VA_ARGS__;                                           \
    }
BOTH(miss, call_generic(vm, ip, sp, fp, method))
BOTH(finish, finish(vm, ip, sp, fp, method, (dv_value){(uint64_t)r}))
BOTH(run, run_portable(vm, ip, sp, fp, method))
BOTH(plain, run_plain(vm, ip, sp, fp, method))
BOTH(make, run_class(vm, ip, sp, fp, method))

/* ---- Choosing ---- */

/* The extension that a function is of, and what is known of the function. */
static dv_extension *owner_of(const dv_vm *vm, const dv_cfunction_def *def,
                              dv_extension_function **function) {
    for (dv_extension *e = vm->extensions.plugins->extensions; e; e = e->next)
        for (dv_extension_function *f = e->functions; f; f = f->next)
            if (&f->def == def) {
                *function = f;
                return e;
            }
    return NULL;
}

static dvx_handler native_of(const dv_vm *vm, const dv_extension *extension,
                             const dvx_derivative *derivative, uint32_t count, bool method) {
    if (!extension->native || vm->extensions.no_native || derivative->native_count != count)
        return NULL;
    return method ? derivative->native_call_method : derivative->native_call;
}

static void become(dv_cell *ip, dv_handler handler, const void *cache) {
    ip->h = handler;
    ip[SITE_CACHE].p = (void *)(uintptr_t)cache;
    ip[1].site.misses = DV_SITE_MISSES;
    ip[1].site.reason = DV_REASON_NONE;
}

static bool guard(dv_vm *vm, const dv_extension_case *tried, const dv_value *args, uint32_t count) {
    return vm->extensions.plugins->debug ? dv_debug_guard(vm, tried, args, count)
                                         : tried->derivative->guard(vm, args, count);
}

/* The first derivative that takes the arguments; false: there is none. */
static bool choose_derivative(dv_vm *vm, dv_cell *ip, const dv_extension *extension,
                              dv_extension_function *function, const dv_value *args, uint32_t count,
                              bool method) {
    if (vm->extensions.plain) return false;
    for (uint32_t i = 0; i < function->described.derivative_count; i++) {
        dv_extension_case *tried = &function->cases[i];
        bool fits = guard(vm, tried, args, count);
        if (DV_UNLIKELY(!dv_is_empty(vm->error))) dv_error_clear(vm), fits = false;
        if (!fits) continue;
        dvx_handler native = native_of(vm, extension, tried->derivative, count, method);
        if (native)
            become(ip, native, tried->def);
        else
            become(ip, method ? run_call_method : run_call, tried);
        return true;
    }
    return false;
}

/* An object or a class that is called. */
static bool choose_object(dv_vm *vm, dv_cell *ip, const dv_value *callee, uint32_t count,
                          bool method) {
    if (dv_specialise_call(vm, ip, callee, count, method)) return true;
    if (!dv_is_class(*callee) || !vm->types[dv_as_class(*callee)->type]->initialise) return false;
    become(ip, method ? make_call_method : make_call, NULL);
    ip[SITE_CACHE].v = *callee;
    return true;
}

static bool choose(dv_vm *vm, dv_cell *ip, const dv_value *callee, uint32_t count, bool method) {
    if (!dv_is_shape(*callee, DV_T_CFUNCTION)) return choose_object(vm, ip, callee, count, method);
    const dv_cfunction_def *def = ((const dv_cfunction *)dv_as_object(*callee))->def;
    bool has_self = method && !dv_is_empty(callee[3]);
    if (!def->foreign_entry || !is_plain(def, *callee, has_self, count)) return false;
    if (has_self && dv_specialise_call(vm, ip, callee, count, method)) return true;
    if (dv_operate_is_named(dv_site_family(vm, ip)))
        return !has_self && dv_specialise_call(vm, ip, callee, count, method);
    dv_extension_function *function;
    const dv_extension *extension = owner_of(vm, def, &function);
    if (!extension) return false;
    if (!has_self &&
        (choose_derivative(vm, ip, extension, function, callee + 3 + method, count, method) ||
         dv_specialise_call(vm, ip, callee, count, method)))
        return true;
    become(ip, method ? plain_call_method : plain_call, def);
    return true;
}

static bool is_native(const dvx_derivative *derivative, dv_handler handler) {
    return derivative->native_call == handler || derivative->native_call_method == handler;
}

static const dvx_derivative *native_derivative(const dv_vm *vm, const dv_cell *ip) {
    for (const dv_extension *e = vm->extensions.plugins->extensions; e; e = e->next)
        for (const dv_extension_function *f = e->functions; f; f = f->next)
            for (uint32_t i = 0; i < f->described.derivative_count; i++)
                if (is_native(f->cases[i].derivative, ip->h)) return f->cases[i].derivative;
    return NULL;
}

static bool form_of(dv_vm *vm, const dv_cell *ip, dv_foreign_form *form) {
    bool plain = ip->h == plain_call || ip->h == plain_call_method;
    bool portable = ip->h == run_call || ip->h == run_call_method;
    bool class_ = ip->h == make_call || ip->h == make_call_method;
    if (dv_specialise_form(vm, ip, form)) return true;
    *form = (dv_foreign_form){.length = SITE_LENGTH,
                              .name = class_  ? "CALL_EXTENSION_TYPE"
                                      : plain ? "CALL_EXTENSION"
                                              : NULL};
    if (plain) form->callee = ip[SITE_CACHE].p;
    if (form->name) return true;
    const dvx_derivative *derivative =
        portable ? ((const dv_extension_case *)ip[SITE_CACHE].p)->derivative
                 : native_derivative(vm, ip);
    if (!derivative) return false;
    form->name = derivative->name;
    form->tier = portable ? "portable" : "native";
    if (derivative->size >= DV_SIZE_UP_TO(dvx_derivative, where)) form->where = derivative->where;
    form->result = dv_extension_result(derivative->result);
    return true;
}

void dv_oint_setup(dv_vm *vm) {
    dv_native *native = &vm->extensions.plugins->native;
    native->miss[0] = miss_call, native->miss[1] = miss_call_method;
    native->finish[0] = finish_call, native->finish[1] = finish_call_method;
    dv_operate_setup(vm);
    vm->hooks.plugin.call = choose;
    vm->hooks.plugin.site = dv_specialise;
    vm->hooks.plugin.form = form_of;
    vm->hooks.plugin.expression = dv_expression_describe;
    vm->hooks.plugin.run = dv_expression_run;
    vm->hooks.plugin.reason = dv_specialise_reason;
    vm->hooks.plugin.report = dv_specialise_report;
}
