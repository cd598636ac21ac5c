/* compose.c: operations on whole arrays that take their operands (compose.h). */
#include "array/compose.h"

#include "ufunc/ufunc.h"

dvx_value compose_unary(dvx_vm *vm, nd_ufunc_number number, dvx_value a) {
    if (dvx_failed(a)) return a;
    return compose_first(vm, ufunc_call(vm, number, &a, DVX_FAILED, NULL), a);
}

dvx_value compose_number(dvx_vm *vm, nd_ufunc_number number, dvx_value a, double b) {
    if (dvx_failed(a)) return a;
    const dvx_value operands[2] = {a, vm->api->make_float(vm, b)};
    dvx_value made = DVX_FAILED;
    if (!dvx_failed(operands[1])) made = ufunc_call(vm, number, operands, DVX_FAILED, NULL);
    vm->api->release(vm, operands[1]);
    return compose_first(vm, made, a);
}

dvx_value compose_attribute(dvx_vm *vm, dvx_value a, const char *name) {
    if (dvx_failed(a)) return a;
    return compose_first(vm, vm->api->get_attribute(vm, a, name), a);
}

dvx_value compose_array(dvx_vm *vm, dvx_value a, const nd_dtype *dtype) {
    nd_array *out;
    if (dvx_failed(a)) return a;
    return compose_first(vm, array_operand(vm, a, dtype, &out), a);
}

dvx_value compose_tuple(dvx_vm *vm, const dvx_value *items, size_t count) {
    bool good = true;
    for (size_t i = 0; i < count; i++) good &= !dvx_failed(items[i]);
    const dvx_value made = good ? vm->api->make_tuple(vm, items, count) : DVX_FAILED;
    for (size_t i = 0; i < count; i++) vm->api->release(vm, items[i]);
    return made;
}
