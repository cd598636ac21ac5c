/* radix.h: stable sorting of long rows of ints and floats by the bytes of their keys, from the last
 * one to the first; order.c decides for whom, and merges the others.
 *
 * Invariants
 *  1. The order is that of order.h: nans behind all numbers, in the order that they had; 0.0 and
 * -0.0 are equal. */
#ifndef ND_RADIX_H
#define ND_RADIX_H

#include "loops/loops.h"

/* What all sorts of a row share: loops that rank few elements and that divide many, or NULL; and
 * whether they have been interrupted: then what is there is in no order, and not complete. */
typedef struct nd_sorting {
    dvx_vm *vm;
    nd_rank rank;
    nd_part part;
    bool stopped;
} nd_sorting;

/* Sorts n elements, with room for as many.  False: merging (or dividing, where there are loops for
 * it) is not slower; equal elements are in the order in which they were. */
bool radix_sort(nd_sorting *s, nd_type type, void *data, void *room, int64_t n);

/* The same for places 0, 1, ... of the elements, which stay where they are. */
bool radix_sort_places(nd_sorting *s, nd_type type, const void *data, int64_t *places,
                       int64_t *room, int64_t n);

/* Complex numbers by one part, none of which is a nan. */
bool radix_sort_complex(nd_sorting *s, nd_complex *data, nd_complex *room, int64_t n, bool imag);
bool radix_sort_complex_places(nd_sorting *s, const nd_complex *data, int64_t *places,
                               int64_t *room, int64_t n);

#endif
