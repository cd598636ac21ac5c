/* select.h: where, clip, diff, trace, comparisons of whole arrays. */
#ifndef ND_SELECT_H
#define ND_SELECT_H

#include "array/array.h"

/* Copies the elements of `from`, broadcast to `to`, where the mask is true; any of them may share
 * memory with `to`.  ValueError. */
bool select_copy(dvx_vm *vm, nd_array *to, const nd_array *from, const nd_array *mask);

/* Functions of the module: their entries. */
dvx_value select_where(dvx_vm *vm, const dvx_value *args, uint32_t count);
dvx_value select_clip(dvx_vm *vm, const dvx_value *args, uint32_t count);

#endif
