/* extra.h: `flags`, `take`, copyto, shares_memory, ndindex and ndenumerate. */
#ifndef ND_EXTRA_H
#define ND_EXTRA_H

#include "array.h"

bool extra_register(dvx_vm *vm, dvx_value module);

#endif
