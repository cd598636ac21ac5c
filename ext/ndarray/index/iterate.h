/* iterate.h: for loops over arrays, `flat`, and `in`. */
#ifndef ND_ITERATE_H
#define ND_ITERATE_H

#include "array/array.h"

/* Slots. */
dvx_value iterate_start(dvx_vm *vm, dvx_value self);
int64_t iterate_length(dvx_vm *vm, dvx_value self);
int iterate_contains(dvx_vm *vm, dvx_value self, dvx_value item);

#endif
