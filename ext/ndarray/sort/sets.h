/* sets.h: arrays as sets: isin, union1d, intersect1d, setdiff1d, setxor1d; ediff1d. */
#ifndef ND_SETS_H
#define ND_SETS_H

#include "array/array.h"

bool sets_register(dvx_vm *vm, dvx_value module);

#endif
