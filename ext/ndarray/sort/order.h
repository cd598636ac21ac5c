/* order.h: sorting and searching: sort, argsort, searchsorted, unique. */
#ifndef ND_ORDER_H
#define ND_ORDER_H

#include "array/array.h"

/* Sorts elements in a row; nans come last. */
bool order_sort(dvx_vm *vm, const nd_dtype *dtype, char *data, int64_t count);

/* As far that the elements at `place`, behind it, and at the end are those of the sorted row. */
bool order_select(dvx_vm *vm, const nd_dtype *dtype, char *data, int64_t count, int64_t place);

/* A copy of the elements whose lines along an axis (None: all elements in one; missing: the last
 * one) lie in a row each: that axis comes last; *of is the axis of a result. */
dvx_value order_lines(dvx_vm *vm, dvx_value v, dvx_value axis, int *of, nd_array **out);
/* Back: the last axis goes to `axis`; takes `made`. */
dvx_value order_turned_back(dvx_vm *vm, dvx_value made, int axis);

bool order_register(dvx_vm *vm, dvx_value module);

#endif
