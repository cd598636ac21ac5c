/* einsum.h: np.einsum. */
#ifndef ND_EINSUM_H
#define ND_EINSUM_H

#include "array/array.h"

bool einsum_register(dvx_vm *vm, dvx_value module);

#endif
