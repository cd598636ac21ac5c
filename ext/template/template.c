/* template.c: an extension to copy: one function, `template.clamp(x, low, high)`, and one call
 * derivative of it with a portable and a native twin.  ext/README.md explains every step. */
#include <dynvm_ext.h>

/* ---- The function ---- */

static bool is_number(dvx_vm *vm, dvx_value v) {
    dvx_kind kind = vm->api->kind(vm, v);
    return kind == DVX_INT || kind == DVX_FLOAT;
}

/* clamp(x, low, high): x, but low if it is smaller and high if it is larger.  The arguments are
 * borrowed and the result is new, so an argument that is returned gets one more reference. */
static dvx_value clamp(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (!is_number(vm, args[i]))
            return vm->api->raise(vm, DVX_TYPE_ERROR, "clamp() takes ints and floats");
    int below = vm->api->less(vm, args[0], args[1]);
    if (below < 0) return DVX_FAILED;
    if (below) return vm->api->retain(vm, args[1]);
    int above = vm->api->less(vm, args[2], args[0]);
    if (above < 0) return DVX_FAILED;
    return vm->api->retain(vm, above ? args[2] : args[0]);
}

/* ---- Its derivative for three floats ---- */

static inline double clamp_double(double x, double low, double high) {
    if (x < low) return low;
    return high < x ? high : x;
}

/* May a site that sees these arguments become the derivative? */
static bool are_floats(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (vm->api->kind(vm, args[i]) != DVX_FLOAT) return false;
    return true;
}

/* The portable twin works with every VM of this ABI. */
static dvx_outcome clamp_float(dvx_vm *vm, const dvx_value *args, uint32_t count,
                               dvx_value *result) {
    double x, low, high;
    if (!are_floats(vm, args, count)) return DVX_DEOPTIMISE;
    if (!vm->api->read_float(vm, args[0], &x) || !vm->api->read_float(vm, args[1], &low) ||
        !vm->api->read_float(vm, args[2], &high))
        return DVX_ERROR;
    *result = vm->api->make_float(vm, clamp_double(x, low, high));
    return DVX_DONE;
}

#ifdef DVX_NATIVE
/* The native twin is an instruction of its own; it works with the VM that it was built with. */
static inline dvx_value clamp_float_native(const dvx_value *args) {
    if (!dv_is_float(args[0]) || !dv_is_float(args[1]) || !dv_is_float(args[2])) return DVX_FAILED;
    return dv_float(clamp_double(dv_as_float(args[0]), dv_as_float(args[1]), dv_as_float(args[2])));
}
DVX_HANDLERS(clamp_float_native, clamp_float_native, 3)
#endif

static const dvx_derivative clamp_float_derivative = {
    .size = sizeof(dvx_derivative),
    .name = "CALL_CLAMP_FLOAT",
    .guard = are_floats,
    .run = clamp_float,
    .result = DVX_FLOAT,
#ifdef DVX_NATIVE
    .native_call = clamp_float_native_call,
    .native_call_method = clamp_float_native_call_method,
    .native_count = 3,
#endif
    .where = DVX_HERE,
};

/* ---- The module ---- */

static const dvx_derivative *const clamp_derivatives[] = {&clamp_float_derivative};

static const dvx_function clamp_function = {
    .size = sizeof(dvx_function),
    .name = "clamp",
    .entry = clamp,
    .min = 3,
    .max = 3,
    .derivative_count = 1,
    .derivatives = clamp_derivatives,
};

static bool add_version(dvx_vm *vm, dvx_value module) {
    dvx_value version = vm->api->make_str(vm, "1.0", 3);
    bool added = !dvx_failed(version) && vm->api->add_constant(vm, module, "version", version);
    vm->api->release(vm, version);
    return added;
}

/* Called once in each VM that imports the extension. */
static bool init(dvx_vm *vm, dvx_value module) {
    return vm->api->add_function(vm, module, &clamp_function) && add_version(vm, module);
}

DVX_EXTENSION("template", init);
