/* create.h: the functions of the module that make arrays of nothing but shapes and numbers, and
 * what they share with others. */
#ifndef ND_CREATE_H
#define ND_CREATE_H

#include "array/array.h"

/* An argument order=: 'C', 'F', 'A' or 'K'; missing or None: `otherwise`.  ValueError. */
bool create_order(dvx_vm *vm, dvx_value v, char otherwise, char *out);
/* A new array of zeros. */
dvx_value create_zeros(dvx_vm *vm, const nd_dtype *dtype, int ndim, const int64_t *shape,
                       nd_array **out);
/* A new array of the ints 0 ... count - 1. */
dvx_value create_range(dvx_vm *vm, int64_t count, nd_array **out);
/* Sets all elements to the one at `value`, of the array's dtype. */
bool create_fill(dvx_vm *vm, nd_array *a, const char *value);

/* The constructor of arrays; its arrays are zeros, too. */
extern const dvx_parameters create_empty_parameters;
bool create_empty(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count);

#endif
