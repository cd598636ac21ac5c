/* pad.h: pad; fill_diagonal, and the indices of triangles. */
#ifndef ND_PAD_H
#define ND_PAD_H

#include "array/array.h"

bool pad_register(dvx_vm *vm, dvx_value module);

#endif
