/* blend.c: an extension with one function, blend.mix(a, b, t), the point between a and b; lab 4
 * (lesson4.md).
 *
 * `mix` takes ints and floats.  A site that calls it with three floats is to become CALL_MIX_FLOAT.
 * The derivative must do exactly what `mix` does, or say that it does not fit before it has done
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

/* Lab 4, task 1: `guard` and `run` of a derivative named CALL_MIX_FLOAT, and task 3: its native
 * twin. */

/* ---- The module ---- */

static const dvx_function mix_function = {
    .size = sizeof(dvx_function), .name = "mix", .entry = mix, .min = 3, .max = 3,
    /* Lab 4, task 2: derivative_count and derivatives. */
};

static bool init(dvx_vm *vm, dvx_value module) {
    return vm->api->add_function(vm, module, &mix_function);
}

DVX_EXTENSION("blend", init);
