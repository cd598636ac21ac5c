/* extra.h: flags, take, nonzero, copyto, may_share_memory. */
#ifndef ND_EXTRA_H
#define ND_EXTRA_H

#include "array/array.h"

bool extra_register(dvx_vm *vm, dvx_value module);

#endif
