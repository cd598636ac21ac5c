/* reduce.h: ufuncs along axes: reduce and accumulate, and what is made of them.
 *
 * Invariants
 *  1. Axes are visited in the order of the input's strides, as NumPy does.  Where the last ones are
 *     reduced, elements are taken in pieces of 8192, each of them summed pairwise. */
#ifndef ND_REDUCE_H
#define ND_REDUCE_H

#include "array/array.h"
#include "loops/loops.h"

/* What a reduction is told; DVX_FAILED and None: nothing. */
typedef struct nd_reduction {
    nd_ufunc_number number;
    dvx_value axis;  /* an int, a tuple of ints; all axes ... */
    bool first_axis; /* ... or, where it is missing, the first one */
    dvx_value dtype, out, keepdims, initial;
    dvx_value where; /* DVX_FAILED, True: of all elements */
} nd_reduction;
dvx_value reduce_call(dvx_vm *vm, dvx_value array, const nd_reduction *r);

/* The type that a reduction of `a` is computed in: sums and products of small ints and truths have
 * others than their elements. */
bool reduce_type(dvx_vm *vm, const nd_reduction *r, const nd_array *a, nd_type *out);
/* Axes as bits: all of them without an axis. */
bool reduce_axes(dvx_vm *vm, dvx_value axis, int ndim, uint32_t *mask);
/* The reduction of `a` along these axes, computed in `type`: an array in any case. */
dvx_value reduce_array(dvx_vm *vm, nd_ufunc_number number, const nd_array *a, uint32_t mask,
                       nd_type type, bool keep, const char *initial, nd_array **out);
/* Into an array that is given, or as a result; takes `made`, whose payload is `a`. */
dvx_value reduce_finish(dvx_vm *vm, dvx_value made, const nd_array *a, dvx_value out,
                        nd_ufunc_number number);

/* op of each element and all before it, along an axis (None: of all in a row; missing: the first,
 * or likewise). */
dvx_value reduce_accumulate(dvx_vm *vm, nd_ufunc_number number, dvx_value array, dvx_value axis,
                            bool first_axis, dvx_value dtype, dvx_value out);

/* Of each part of an axis (missing: the first) that begins at one of the indices; segments.c. */
dvx_value reduce_segments(dvx_vm *vm, nd_ufunc_number number, dvx_value array, dvx_value indices,
                          dvx_value axis, dvx_value dtype, dvx_value out);

#endif
