/* sets.h: which elements are in a set: in1d, isin. */
#ifndef ND_SETS_H
#define ND_SETS_H

#include "array/array.h"

bool sets_register(dvx_vm *vm, dvx_value module);

#endif
