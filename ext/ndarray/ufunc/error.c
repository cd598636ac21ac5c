/* error.c: what becomes of floating point flags, which lib/errors.dl sets (error.h).
 *
 * Invariants
 *  1. nd_state.float_errors has, for each kind, 0 to warn, 1 to ignore, 2 to raise.
 *  2. Sites have derivatives only while underflow is ignored (no_underflow). */
#include "ufunc/error.h"

#include <fenv.h>
#include <stdarg.h>
#include <stdio.h>

#include "array/methods.h"
#include "loops/arith.h"

/* In the order in which they are told. */
enum { DIVIDE, OVER, UNDER, INVALID };
static const char *const texts[ND_FLOAT_ERRORS] = {"divide by zero", "overflow", "underflow",
                                                   "invalid value"};
static const unsigned bits[ND_FLOAT_ERRORS] = {FE_DIVBYZERO, FE_OVERFLOW, FE_UNDERFLOW, FE_INVALID};

enum { WARN, IGNORE, RAISE };

bool error_warn(dvx_vm *vm, const char *text) {
    dvx_value class_ = vm->api->builtin(vm, "RuntimeWarning");
    bool good = !dvx_failed(class_) && vm->api->warn(vm, class_, text);
    vm->api->release(vm, class_);
    return good;
}

static bool raise_floating(dvx_vm *vm, const char *text) {
    dvx_value class_ = vm->api->builtin(vm, "FloatingPointError");
    if (!dvx_failed(class_)) vm->api->raise_format(vm, class_, "%s", text);
    vm->api->release(vm, class_);
    return false;
}

bool error_flags(dvx_vm *vm, const char *name, unsigned flags) {
    for (int i = 0; i < ND_FLOAT_ERRORS; i++) {
        char text[128];
        const uint8_t mode = nd_state_of(vm)->float_errors[i];
        if (!(flags & bits[i]) || mode == IGNORE) continue;
        snprintf(text, sizeof text, "%s encountered in %s", texts[i], name);
        if (mode == RAISE ? !raise_floating(vm, text) : !error_warn(vm, text)) return false;
    }
    return true;
}

bool error_heeds(dvx_vm *vm, unsigned flags) {
    for (int i = 0; i < ND_FLOAT_ERRORS; i++)
        if (flags & bits[i] && nd_state_of(vm)->float_errors[i] != IGNORE) return true;
    return false;
}

bool error_heeds_underflow(dvx_vm *vm) { return nd_state_of(vm)->float_errors[UNDER] != IGNORE; }

unsigned error_raised(dvx_vm *vm) {
    return arith_flags() | (error_heeds_underflow(vm) ? arith_underflow() : 0);
}

bool error_raises(dvx_vm *vm) {
    for (int i = 0; i < ND_FLOAT_ERRORS; i++)
        if (nd_state_of(vm)->float_errors[i] == RAISE) return true;
    return false;
}

bool error_ufunc(dvx_vm *vm, const char *format, ...) {
    char text[512];
    va_list rest;
    va_start(rest, format);
    vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    vm->api->raise_format(vm, nd_state_of(vm)->ufunc_error, "%s", text);
    return false;
}

/* _float_errors(modes): what there was, two bits for each kind; the rest is lib/errors.dl. */
static dvx_value float_errors(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    uint8_t *now = nd_state_of(vm)->float_errors;
    int64_t old = 0, given;
    for (int i = 0; i < ND_FLOAT_ERRORS; i++) old |= (int64_t)now[i] << 2 * i;
    if (count && !vm->api->read_index(vm, args[0], &given)) return DVX_FAILED;
    for (int i = 0; count && i < ND_FLOAT_ERRORS; i++) now[i] = (uint8_t)(given >> 2 * i & 3);
    if (error_heeds_underflow(vm)) vm->api->break_assumption(vm, nd_state_of(vm)->no_underflow);
    return vm->api->make_int(vm, old);
}

static const dvx_function functions[] = {ND_PLAIN("_float_errors", float_errors, 0, 1)};

dvx_value error_make_class(dvx_vm *vm, const char *name, dvx_value base, const char *module_name) {
    dvx_value dict = vm->api->make_dict(vm), made = DVX_FAILED;
    dvx_value key = nd_str(vm, "__module__"), module = nd_str(vm, module_name);
    if (!dvx_failed(dict) && vm->api->set_item(vm, dict, key, module)) {
        dvx_value args[3] = {nd_str(vm, name), vm->api->make_tuple(vm, &base, 1), dict};
        dvx_value type = vm->api->builtin(vm, "type");
        made = vm->api->call(vm, type, args, 3);
        vm->api->release(vm, type);
        vm->api->release(vm, args[0]);
        vm->api->release(vm, args[1]);
    }
    vm->api->release(vm, key);
    vm->api->release(vm, module);
    vm->api->release(vm, dict);
    vm->api->release(vm, base);
    return made;
}

bool error_register(dvx_vm *vm, dvx_value module) {
    nd_state *state = nd_state_of(vm);
    state->float_errors[UNDER] = IGNORE;
    if (!(state->no_underflow = vm->api->make_assumption(vm))) return false;
    state->ufunc_error = error_make_class(
        vm, "UFuncTypeError", vm->api->error_class(vm, DVX_TYPE_ERROR), "numpy.core._exceptions");
    return !dvx_failed(state->ufunc_error) && ND_ADD_ALL(functions);
}
