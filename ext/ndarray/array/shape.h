/* shape.h: other axes for the same elements: reshape, transpose and their like. */
#ifndef ND_SHAPE_H
#define ND_SHAPE_H

#include "array/array.h"

/* The array with another shape, in C order: a view if that is possible, else a copy.  One of the
 * counts may be -1.  ValueError. */
dvx_value shape_reshape(dvx_vm *vm, dvx_value array, int ndim, const int64_t *shape);
/* A view whose axis i is axis order[i] of the array. */
dvx_value shape_permute(dvx_vm *vm, dvx_value array, const int *order);
/* In one row: a view if that is possible. */
dvx_value shape_ravel(dvx_vm *vm, dvx_value array);
/* A view with axes of one element in front. */
dvx_value shape_at_least(dvx_vm *vm, dvx_value array, int ndim);
/* An int or a sequence of ints as axes of something with ndim dimensions: AxisError, with `what` in
 * front, and ValueError `repeated` if one comes twice. */
bool shape_read_axes(dvx_vm *vm, dvx_value v, int ndim, const char *what, const char *repeated,
                     int *count, int axes[ND_MOST]);

#endif
