/* blend.c: an extension with one function, blend.mix(a, b, t), the point between a and b; lab 4
 * (lesson4.md).
 *
 * `mix` takes ints and floats.  A site that calls it with three floats becomes CALL_MIX_FLOAT.  The
 * derivative must do exactly what `mix` does, or say that it does not fit before it has done
 * anything. */
#include <dynvm_ext.h>

/* ---- The function ---- */

/* mix(a, b, t): a + (b - a) * t, with whatever operators the arguments have.  DVX_FAILED as an
 * argument passes the pending error on, so only the last call needs a look. */
static dvx_value mix(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    dvx_value distance = vm->api->binary(vm, DVX_SUB, args[1], args[0]);
    dvx_value part = vm->api->binary(vm, DVX_MUL, distance, args[2]);
    dvx_value result = vm->api->binary(vm, DVX_ADD, args[0], part);
    vm->api->release(vm, distance);
    vm->api->release(vm, part);
    return result;
}

/* ---- Its derivative for three floats ---- */

static inline double mix_double(double a, double b, double t) { return a + (b - a) * t; }

/* May a site that sees these arguments become the derivative? */
static bool are_floats(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (vm->api->kind(vm, args[i]) != DVX_FLOAT) return false;
    return true;
}

/* The portable twin: works with every VM of this ABI. */
static dvx_outcome mix_float(dvx_vm *vm, const dvx_value *args, uint32_t count, dvx_value *result) {
    double a, b, t;
    if (!are_floats(vm, args, count)) return DVX_DEOPTIMISE;
    if (!vm->api->read_float(vm, args[0], &a) || !vm->api->read_float(vm, args[1], &b) ||
        !vm->api->read_float(vm, args[2], &t))
        return DVX_ERROR;
    *result = vm->api->make_float(vm, mix_double(a, b, t));
    return DVX_DONE;
}

#ifdef DVX_NATIVE
/* The native twin: an instruction of its own. */
static inline dvx_value mix_float_native(const dvx_value *args) {
    if (!dv_is_float(args[0]) || !dv_is_float(args[1]) || !dv_is_float(args[2])) return DVX_FAILED;
    return dv_float(mix_double(dv_as_float(args[0]), dv_as_float(args[1]), dv_as_float(args[2])));
}
DVX_HANDLERS(mix_float_native, mix_float_native, 3)
#endif

static const dvx_derivative mix_float_derivative = {
    .size = sizeof(dvx_derivative),
    .name = "CALL_MIX_FLOAT",
    .guard = are_floats,
    .run = mix_float,
    .result = DVX_FLOAT,
#ifdef DVX_NATIVE
    .native_call = mix_float_native_call,
    .native_call_method = mix_float_native_call_method,
    .native_count = 3,
#endif
};

/* ---- The module ---- */

static const dvx_derivative *const mix_derivatives[] = {&mix_float_derivative};

static const dvx_function mix_function = {
    .size = sizeof(dvx_function),
    .name = "mix",
    .entry = mix,
    .min = 3,
    .max = 3,
    .derivative_count = 1,
    .derivatives = mix_derivatives,
};

static bool init(dvx_vm *vm, dvx_value module) {
    return vm->api->add_function(vm, module, &mix_function);
}

DVX_EXTENSION("blend", init);
