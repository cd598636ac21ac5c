/* convert.h: from dl's numbers and nested sequences to elements, and back.  (array_from,
 * array_store and their like are in array.h.) */
#ifndef ND_CONVERT_H
#define ND_CONVERT_H

#include "array/array.h"

/* The dtype of a number of dl, or of an array of 0 dimensions; NULL: v is none (nothing is raised).
 */
const nd_dtype *convert_kind(dvx_vm *vm, dvx_value v);

/* np.array(v, dtype, order=order, ndmin=ndmin): always a new array. */
dvx_value convert_copy(dvx_vm *vm, dvx_value v, const nd_dtype *dtype, char order);

/* The elements from `at` on as nested lists, or a single one. */
dvx_value convert_to_list(dvx_vm *vm, const nd_array *a);

#endif
