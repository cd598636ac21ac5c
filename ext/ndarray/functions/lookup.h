/* lookup.h: unravel_index, ravel_multi_index, broadcast_arrays, broadcast_shapes, divmod. */
#ifndef ND_LOOKUP_H
#define ND_LOOKUP_H

#include "array/array.h"

bool lookup_register(dvx_vm *vm, dvx_value module);

#endif
