/* join.h: several arrays become one, and one is repeated. */
#ifndef ND_JOIN_H
#define ND_JOIN_H

#include "array/array.h"

/* Arrays of one dtype after each other along an axis that they have.  ValueError. */
dvx_value join_arrays(dvx_vm *vm, const dvx_value *arrays, int64_t count, int axis,
                      const nd_dtype *dtype);

bool join_register(dvx_vm *vm, dvx_value module);

#endif
