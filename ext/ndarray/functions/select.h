/* select.h: where, clip, diff, trace, comparisons of whole arrays. */
#ifndef ND_SELECT_H
#define ND_SELECT_H

#include "array/array.h"

/* Copies the elements of `from`, broadcast to `to`, where the mask is true; any of them may share
 * memory with `to`.  ValueError. */
bool select_copy(dvx_vm *vm, nd_array *to, const nd_array *from, const nd_array *mask);

#endif
