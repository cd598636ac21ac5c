/* select.h: where, clip, diff, trace, comparisons of whole arrays. */
#ifndef ND_SELECT_H
#define ND_SELECT_H

#include "array.h"

bool select_register(dvx_vm *vm, dvx_value module);

#endif
