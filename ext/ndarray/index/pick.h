/* pick.h: put, putmask, place, compress, choose. */
#ifndef ND_PICK_H
#define ND_PICK_H

#include "array/array.h"

/* The shape of arrays that are broadcast together; ValueError, as np.broadcast has it. */
bool pick_broadcast(dvx_vm *vm, const dvx_value *values, int count, int *ndim, int64_t *shape);

bool pick_register(dvx_vm *vm, dvx_value module);

#endif
