/* arrange.h: views and copies of an array with elements in another order or place: roll,
 * diagonal, broadcast_to, real. */
#ifndef ND_ARRANGE_H
#define ND_ARRANGE_H

#include "array/array.h"

/* The array in a shape that it fits, read-only: ValueError. */
dvx_value arrange_broadcast(dvx_vm *vm, dvx_value array, int ndim, const int64_t *shape);

#endif
