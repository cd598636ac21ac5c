/* place.h: the part of an array that a constant key stands for, without a view object: operands of
 * fused expressions, and what they store into (fuse.h).
 *
 * Invariants
 *  1. A key is *plain* if it is made of ints, slices, None and Ellipsis, not of ints alone: then it
 *     makes a view of every array that it fits, by the array's axes.
 *  2. A place that is known is found again for all arrays with the same axes and dtype; for others
 *     index.c makes the view once, which is looked at and dropped. */
#ifndef ND_PLACE_H
#define ND_PLACE_H

#include "array/array.h"

/* What a site knows of a key: what it has made of an array with such axes and dtype, as long as
 * dtype is not NULL. */
typedef struct nd_place {
    const nd_dtype *dtype;
    int32_t ndim_of, ndim;
    dvx_axis of[ND_FEW], axes[ND_FEW];
    int64_t offset, size; /* bytes from the array's first element; elements */
    uint32_t flags;
} nd_place;

bool place_is_plain(dvx_vm *vm, dvx_value key);
/* The part of `self`, whose payload is `a`, as an array that is no object; out->axes are its own.
 * False: the key does not fit, or gives an element, or there are too many axes: nothing is raised.
 */
bool place_find(dvx_vm *vm, nd_place *known, dvx_value self, const nd_array *a, dvx_value key,
                nd_array *out);

#endif
