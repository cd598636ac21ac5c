/* order.h: sorting and searching: sort, argsort, searchsorted, unique. */
#ifndef ND_ORDER_H
#define ND_ORDER_H

#include "array/array.h"

/* The order of elements: nans come last. */
#define BEFORE_FLOAT(a, b) ((a) < (b) || ((b) != (b) && (a) == (a)))
/* (Numbers come before those with a nan as the imaginary part, then as the real one, then both.) */
static inline bool before_complex(nd_complex a, nd_complex b) {
    const bool a_nan = a.imag != a.imag, b_nan = b.imag != b.imag;
    if (a.real < b.real) return !a_nan || b_nan;
    if (a.real > b.real) return b_nan && !a_nan;
    if (a.real == b.real || (a.real != a.real && b.real != b.real))
        return a.imag < b.imag || (b_nan && !a_nan);
    return b.real != b.real;
}

/* Sorts elements in a row. */
bool order_sort(dvx_vm *vm, const nd_dtype *dtype, char *data, int64_t count);

/* As far that the elements at `place`, behind it, and at the end are those of the sorted row. */
bool order_select(dvx_vm *vm, const nd_dtype *dtype, char *data, int64_t count, int64_t place);

/* A copy of the elements whose lines along an axis (None: all elements in one; missing: the last
 * one) lie in a row each: that axis comes last; *of is the axis of a result. */
dvx_value order_lines(dvx_vm *vm, dvx_value v, dvx_value axis, int *of, nd_array **out);
/* Back: the last axis goes to `axis`; takes `made`. */
dvx_value order_turned_back(dvx_vm *vm, dvx_value made, int axis);

#endif
