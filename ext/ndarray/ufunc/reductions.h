/* reductions.h: sum, mean, argmax and their like, as functions of the module and as methods. */
#ifndef ND_REDUCTIONS_H
#define ND_REDUCTIONS_H

#include "array/array.h"

bool reductions_register(dvx_vm *vm, dvx_value module);

#endif
