/* order.h: sorting and searching: sort, argsort, searchsorted, unique. */
#ifndef ND_ORDER_H
#define ND_ORDER_H

#include "array.h"

/* Sorts elements in a row; nans come last. */
bool order_sort(dvx_vm *vm, const nd_dtype *dtype, char *data, int64_t count);

bool order_register(dvx_vm *vm, dvx_value module);

#endif
