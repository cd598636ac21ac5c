/* place.h: the part of an array that a key stands for, without a view object: operands of fused
 * expressions, and what they store into (fuse.h).
 *
 * Invariants
 *  1. A key is made of ints, slices, None and Ellipsis.  What it stands for is an array with
 *     dimensions, no element.
 *  2. Of a key that is constant, the place that is known is found again for all arrays with the
 *     same axes and dtype; keys that vary are looked up each time. */
#ifndef ND_PLACE_H
#define ND_PLACE_H

#include "site/derive_key.h"

/* What a site knows of a constant key: what it has made of an array with such axes and dtype, as
 * long as dtype is not NULL. */
typedef struct nd_place {
    key key;
    const nd_dtype *dtype;
    int32_t ndim_of, ndim;
    dvx_axis of[ND_FEW], axes[ND_FEW];
    int64_t offset, size; /* bytes from the array's first element; elements */
    uint32_t flags;
} nd_place;

/* The part of `a`, as an array that is no object; out->axes are its own.  False: the key does not
 * fit, or gives an element, or there are too many axes. */
bool place_find(nd_place *known, const nd_array *a, nd_array *out);
/* The same by a key that is read now; false also where it is made of anything else. */
bool place_find_now(dvx_vm *vm, dvx_value key, const nd_array *a, nd_array *out);

#endif
