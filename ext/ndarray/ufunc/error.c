/* error.c: what becomes of floating point flags, and np.seterr, np.geterr, np.errstate (error.h).
 *
 * Invariants
 *  1. nd_state.float_errors has, for each kind, 0 to warn, 1 to ignore, 2 to raise. */
#include "ufunc/error.h"

#include <fenv.h>
#include <stdarg.h>
#include <stdio.h>

#include "array/methods.h"

/* In the order in which they are told. */
enum { DIVIDE, OVER, UNDER, INVALID };
static const char *const kinds[ND_FLOAT_ERRORS] = {"divide", "over", "under", "invalid"};
static const char *const texts[ND_FLOAT_ERRORS] = {"divide by zero", "overflow", "underflow",
                                                   "invalid value"};
static const unsigned bits[ND_FLOAT_ERRORS] = {FE_DIVBYZERO, FE_OVERFLOW, FE_UNDERFLOW, FE_INVALID};

enum { WARN, IGNORE, RAISE, MODES };
static const char *const modes[MODES] = {"warn", "ignore", "raise"};

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

bool error_raises(dvx_vm *vm) {
    for (int i = 0; i < ND_FLOAT_ERRORS; i++)
        if (nd_state_of(vm)->float_errors[i] == RAISE) return true;
    return false;
}

void error_ignore_all(dvx_vm *vm) {
    memset(nd_state_of(vm)->float_errors, IGNORE, ND_FLOAT_ERRORS);
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

/* ---- seterr, geterr ---- */

static dvx_value old_modes(dvx_vm *vm) {
    dvx_value dict = vm->api->make_dict(vm);
    bool good = !dvx_failed(dict);
    for (int i = 0; good && i < ND_FLOAT_ERRORS; i++) {
        dvx_value key = nd_str(vm, kinds[i]);
        dvx_value mode = nd_str(vm, modes[nd_state_of(vm)->float_errors[i]]);
        good = vm->api->set_item(vm, dict, key, mode);
        vm->api->release(vm, key);
        vm->api->release(vm, mode);
    }
    if (good) return dict;
    vm->api->release(vm, dict);
    return DVX_FAILED;
}

static bool read_mode(dvx_vm *vm, dvx_value v, uint8_t *out) {
    char word[32];
    nd_word(vm, v, word);
    for (uint8_t i = 0; i < MODES; i++)
        if (!strcmp(word, modes[i])) return *out = i, true;
    if (!strcmp(word, "call") || !strcmp(word, "print") || !strcmp(word, "log"))
        return nd_fail(vm, DVX_VALUE_ERROR, "error mode '%s' is not part of ndarray", word);
    dvx_value class_ = vm->api->error_class(vm, DVX_KEY_ERROR);
    vm->api->raise_error(vm, class_);
    vm->api->release(vm, class_);
    return false;
}

/* all, divide, over, under, invalid, each missing or None where it stays as it is. */
static bool read_modes(dvx_vm *vm, const dvx_value *args, uint8_t *to) {
    for (int i = 0; i < ND_FLOAT_ERRORS; i++) {
        dvx_value v = nd_is_given(vm, args[i + 1]) ? args[i + 1] : args[0];
        if (nd_is_given(vm, v) && !read_mode(vm, v, &to[i])) return false;
    }
    return true;
}

static dvx_value set_errors(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    uint8_t new_modes[ND_FLOAT_ERRORS];
    nd_state *state = nd_state_of(vm);
    (void)count;
    memcpy(new_modes, state->float_errors, sizeof new_modes);
    if (!read_modes(vm, args, new_modes)) return DVX_FAILED;
    dvx_value old = old_modes(vm);
    if (!dvx_failed(old)) memcpy(state->float_errors, new_modes, sizeof new_modes);
    return old;
}

static dvx_value get_errors(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)args, (void)count;
    return old_modes(vm);
}

/* ---- errstate ---- */

typedef struct error_state {
    uint8_t given[ND_FLOAT_ERRORS]; /* MODES: stays as it is */
    uint8_t old[ND_FLOAT_ERRORS];
} error_state;
extern const dvx_type error_state_type;

static bool fill(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    error_state *s = vm->api->payload(vm, self, &error_state_type);
    (void)count;
    memset(s->given, MODES, sizeof s->given);
    return read_modes(vm, args, s->given);
}

static dvx_value enter(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    error_state *s = vm->api->payload(vm, args[0], &error_state_type);
    nd_state *state = nd_state_of(vm);
    (void)count;
    memcpy(s->old, state->float_errors, sizeof s->old);
    for (int i = 0; i < ND_FLOAT_ERRORS; i++)
        if (s->given[i] < MODES) state->float_errors[i] = s->given[i];
    return nd_none(vm);
}

static dvx_value leave(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const error_state *s = vm->api->payload(vm, args[0], &error_state_type);
    (void)count;
    memcpy(nd_state_of(vm)->float_errors, s->old, sizeof s->old);
    return nd_none(vm);
}

/* As a decorator: the function, which runs with these modes (lib/functions.dl). */
static dvx_value decorate(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    const dvx_value both[2] = {self, args[0]};
    (void)count;
    return nd_call_library(vm, "_ndarray.functions", "with_errors", both, 2);
}

ND_PARAMETERS(func_parameters, 1, "func");
ND_PARAMETERS(modes_parameters, 0, "all", "divide", "over", "under", "invalid");
static const dvx_function enter_method = ND_PLAIN("__enter__", enter, 1, 1);
static const dvx_function leave_method = ND_PLAIN("__exit__", leave, 4, 4);
static const dvx_function *const methods[] = {&enter_method, &leave_method};
const dvx_type error_state_type = {
    .size = sizeof(dvx_type),
    .name = "errstate",
    .payload = sizeof(error_state),
    .initialise = fill,
    .parameters = &modes_parameters,
    .call = decorate,
    .call_parameters = &func_parameters,
    .method_count = LENGTH_OF(methods),
    .methods = methods,
};

static const dvx_function functions[] = {
    ND_NAMED("seterr", set_errors, modes_parameters),
    ND_PLAIN("geterr", get_errors, 0, 0),
};

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
    state->ufunc_error = error_make_class(
        vm, "UFuncTypeError", vm->api->error_class(vm, DVX_TYPE_ERROR), "numpy.core._exceptions");
    return !dvx_failed(state->ufunc_error) && vm->api->add_type(vm, module, &error_state_type) &&
           ND_ADD_ALL(functions);
}
