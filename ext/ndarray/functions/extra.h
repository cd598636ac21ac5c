/* extra.h: `flags`, `take`, copyto, shares_memory. */
#ifndef ND_EXTRA_H
#define ND_EXTRA_H

#include "array/array.h"

/* np.take(array, indices, axis) of an array: new */
dvx_value extra_take(dvx_vm *vm, dvx_value array, dvx_value indices, dvx_value axis);

bool extra_register(dvx_vm *vm, dvx_value module);

#endif
