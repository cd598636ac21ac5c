/* at.h: ufunc.at: op on elements in place, by indices that may repeat. */
#ifndef ND_AT_H
#define ND_AT_H

#include "array/array.h"

/* The method `at` of ufuncs; args: the ufunc, a, indices, b. */
dvx_value at_call(dvx_vm *vm, const dvx_value *args, uint32_t count);

#endif
