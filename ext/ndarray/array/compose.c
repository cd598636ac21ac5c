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

dvx_value compose_triple(dvx_vm *vm, dvx_value a, dvx_value b, dvx_value c) {
    const dvx_value items[3] = {a, b, c};
    dvx_value made = DVX_FAILED;
    if (!dvx_failed(a) && !dvx_failed(b) && !dvx_failed(c))
        made = vm->api->make_tuple(vm, items, 3);
    for (int i = 0; i < 3; i++) vm->api->release(vm, items[i]);
    return made;
}

dvx_value compose_pair(dvx_vm *vm, dvx_value a, dvx_value b) {
    const dvx_value items[2] = {a, b};
    dvx_value made = DVX_FAILED;
    if (!dvx_failed(a) && !dvx_failed(b)) made = vm->api->make_tuple(vm, items, 2);
    vm->api->release(vm, a);
    vm->api->release(vm, b);
    return made;
}
