/* compose.h: what is made of several operations on whole arrays.
 *
 * Invariants
 *  1. Each function takes the arrays that it is given, that is, releases them, and gives DVX_FAILED
 *     where one of them is: calls can be put into each other.  At most one argument of a call may
 *     be such a call, and the others must need none, as nothing may be done while an error is
 *     pending. */
#ifndef ND_COMPOSE_H
#define ND_COMPOSE_H

#include "array/array.h"
#include "loops/loops.h"

dvx_value compose_unary(dvx_vm *vm, nd_ufunc_number number, dvx_value a);
/* The same with a second operand. */
dvx_value compose_number(dvx_vm *vm, nd_ufunc_number number, dvx_value a, double b);
dvx_value compose_attribute(dvx_vm *vm, dvx_value a, const char *name);
/* As an array of this dtype (NULL: its own). */
dvx_value compose_array(dvx_vm *vm, dvx_value a, const nd_dtype *dtype);
dvx_value compose_tuple(dvx_vm *vm, const dvx_value *items, size_t count);
static inline dvx_value compose_pair(dvx_vm *vm, dvx_value a, dvx_value b) {
    return compose_tuple(vm, (const dvx_value[]){a, b}, 2);
}
/* One value of which the other is no part any more. */
static inline dvx_value compose_first(dvx_vm *vm, dvx_value a, dvx_value b) {
    vm->api->release(vm, b);
    return a;
}

#endif
