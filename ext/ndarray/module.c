/* module.c: the extension `ndarray`: its state in a VM, and the registration of all files. */
#include <math.h>

#include "array/memory.h"
#include "array/methods.h"
#include "linear/blas.h"
#include "site/fuse.h"

/* Each file's functions, types and constants. */
#define REGISTRATION(name) name##_register,
static bool (*const registrations[])(dvx_vm *vm,
                                     dvx_value module) = {ND_REGISTRATIONS(REGISTRATION)};

/* The class AxisError(ValueError, IndexError). */
static dvx_value make_axis_error(dvx_vm *vm) {
    dvx_value bases[2] = {vm->api->error_class(vm, DVX_VALUE_ERROR),
                          vm->api->error_class(vm, DVX_INDEX_ERROR)};
    dvx_value args[3] = {nd_str(vm, "AxisError"), vm->api->make_tuple(vm, bases, 2),
                         vm->api->make_dict(vm)};
    dvx_value type = vm->api->builtin(vm, "type"), made = vm->api->call(vm, type, args, 3);
    for (int i = 0; i < 3; i++) vm->api->release(vm, args[i]);
    vm->api->release(vm, bases[0]);
    vm->api->release(vm, bases[1]);
    vm->api->release(vm, type);
    return made;
}

static bool add_numbers(dvx_vm *vm, dvx_value module) {
    static const struct {
        const char *name;
        double value;
    } numbers[] = {
        {"pi", M_PI},           {"e", M_E},         {"euler_gamma", 0.5772156649015328606},
        {"nan", NAN},           {"NaN", NAN},       {"NAN", NAN},
        {"Infinity", INFINITY}, {"PZERO", 0.0},     {"NZERO", -0.0},
        {"inf", INFINITY},      {"Inf", INFINITY},  {"infty", INFINITY},
        {"PINF", INFINITY},     {"NINF", -INFINITY}};
    for (size_t i = 0; i < LENGTH_OF(numbers); i++) {
        dvx_value number = vm->api->make_float(vm, numbers[i].value);
        const bool good =
            !dvx_failed(number) && vm->api->add_constant(vm, module, numbers[i].name, number);
        vm->api->release(vm, number);
        if (!good) return false;
    }
    return true;
}

static bool fill_state(dvx_vm *vm, dvx_value module) {
    nd_state *state = nd_state_of(vm);
    for (int i = 0; i < ND_TYPES; i++) state->dtypes[i] = state->classes[i] = DVX_FAILED;
    state->ufunc_error = state->linalg_error = DVX_FAILED;
    state->truths[0] = state->truths[1] = DVX_FAILED;
    state->float_ = vm->api->builtin(vm, "float");
    state->int_ = vm->api->builtin(vm, "int");
    state->bool_ = vm->api->builtin(vm, "bool");
    state->complex_ = vm->api->builtin(vm, "complex");
    state->type_error = vm->api->error_class(vm, DVX_TYPE_ERROR);
    state->overflow_error = vm->api->error_class(vm, DVX_OVERFLOW_ERROR);
    state->axis_error = make_axis_error(vm);
    return !dvx_failed(state->float_) && !dvx_failed(state->int_) && !dvx_failed(state->bool_) &&
           vm->api->add_constant(vm, module, "newaxis", nd_none(vm)) &&
           !dvx_failed(state->complex_) && !dvx_failed(state->axis_error) &&
           vm->api->add_constant(vm, module, "AxisError", state->axis_error) &&
           add_numbers(vm, module);
}

/* A name that nothing here has: the part in dl may have it (lib/__init__.dl). */
static dvx_value find_in_dl(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    return nd_call_library(vm, "_ndarray", "find", args, count);
}

/* An attribute of a number that its class does not have (lib/scalars.dl). */
static dvx_value number_attribute(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    return nd_call_library(vm, "_ndarray.scalars", "find", args, count);
}

static const dvx_function functions[] = {ND_PLAIN("__getattr__", find_in_dl, 1, 1),
                                         ND_PLAIN("_number_attribute", number_attribute, 2, 2)};

static bool give_attributes(dvx_vm *vm, dvx_value module) {
    dvx_value find = vm->api->get_attribute(vm, module, "_number_attribute");
    const bool good = !dvx_failed(find) && vm->api->number_attributes(vm, find);
    vm->api->release(vm, find);
    return good;
}

static bool init(dvx_vm *vm, dvx_value module) {
    if (!fill_state(vm, module) || !ND_ADD_ALL(functions) || !give_attributes(vm, module))
        return false;
    for (size_t i = 0; i < LENGTH_OF(registrations); i++)
        if (!registrations[i](vm, module)) return false;
    return true;
}

static void finish(dvx_vm *vm, void *memory) {
    nd_state *state = memory;
    blas_finish(vm);
    memory_drop(vm);
    fuse_finish(vm);
    vm->api->release(vm, state->truths[0]);
    vm->api->release(vm, state->truths[1]);
    vm->api->release(vm, state->float_);
    vm->api->release(vm, state->int_);
    vm->api->release(vm, state->bool_);
    vm->api->release(vm, state->complex_);
    vm->api->release(vm, state->type_error);
    vm->api->release(vm, state->overflow_error);
    vm->api->release(vm, state->axis_error);
    vm->api->release(vm, state->ufunc_error);
    vm->api->release(vm, state->linalg_error);
    for (int i = 0; i < ND_TYPES; i++) {
        vm->api->release(vm, state->dtypes[i]);
        vm->api->release(vm, state->classes[i]);
    }
}

DVX_EXTENSION_WITH_STATE("ndarray", init, sizeof(nd_state), finish);
