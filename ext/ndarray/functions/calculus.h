/* calculus.h: loops of convolve and correlate (lib/calculus.dl), and the slopes of gradient. */
#ifndef ND_CALCULUS_H
#define ND_CALCULUS_H

#include "array/array.h"

bool calculus_register(dvx_vm *vm, dvx_value module);

#endif
