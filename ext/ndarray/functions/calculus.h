/* calculus.h: gradient, trapz, cross, convolve; and the reductions that leave nans out. */
#ifndef ND_CALCULUS_H
#define ND_CALCULUS_H

#include "array/array.h"

bool calculus_register(dvx_vm *vm, dvx_value module);
bool nan_register(dvx_vm *vm, dvx_value module);

#endif
