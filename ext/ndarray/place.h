/* place.h: the part of an array that a constant key stands for, without a view object: what fused
 * expressions store into (fuse.h).
 *
 * Invariants
 *  1. A key is *plain* if it is made of ints, slices, None and Ellipsis: then it makes a view of
 *     every array that it fits, by the array's axes alone.
 *  2. A place that is known is found again for all arrays with the same axes and dtype; for others
 *     index.c makes the view once, which is looked at and dropped. */
#ifndef ND_PLACE_H
#define ND_PLACE_H

#include "array.h"

/* What a site knows of a key: what it has made of an array with the axes and dtype of `of` is
 * `view`, `offset` bytes behind the array's first element.  of.ndim -1: nothing yet. */
typedef struct nd_place {
    nd_array of, view;
    int64_t offset;
} nd_place;

bool place_is_plain(dvx_vm *vm, dvx_value key);
/* The part of `self`, whose payload is `a`, as an array that is no object; out->axes are its own.
 * False: the key does not fit, or gives an element, or there are too many axes: nothing is raised.
 */
bool place_find(dvx_vm *vm, nd_place *known, dvx_value self, const nd_array *a, dvx_value key,
                nd_array *out);

#endif
