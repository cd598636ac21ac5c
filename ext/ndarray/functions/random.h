/* random.h: np.random: RandomState, whose one object is np.random itself, and Generator. */
#ifndef ND_RANDOM_H
#define ND_RANDOM_H

#include "array/array.h"

bool random_register(dvx_vm *vm, dvx_value module);

#endif
