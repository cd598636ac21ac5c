/* calculus.h: convolve, correlate; the slopes of gradient. */
#ifndef ND_CALCULUS_H
#define ND_CALCULUS_H

#include "array/array.h"

bool calculus_register(dvx_vm *vm, dvx_value module);

#endif
