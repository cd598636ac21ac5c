/* ufunc.h: functions that work element by element: types, broadcasting, casts, results, warnings;
 * and the type `ufunc`.
 *
 * Invariants
 *  1. Numbers of dl are weak: they take the type of the arrays beside them, as far as their kind
 *     allows (NumPy 2's rule, NPY_PROMOTION_STATE=weak).
 *  2. A result without dimensions is a number (array_result), unless `out` was given.
 *  3. Inputs that share memory with the output, and are not the output element for element, are
 *     copied before anything is written. */
#ifndef ND_UFUNC_H
#define ND_UFUNC_H

#include "array/array.h"
#include "loops/loops.h"

/* op(inputs) for values of any kind; out: an array, or DVX_FAILED; dtype: of the result, or NULL.
 */
dvx_value ufunc_call(dvx_vm *vm, nd_ufunc_number number, const dvx_value *inputs, dvx_value out,
                     const nd_dtype *dtype);
/* The same where the mask `where`, anything that makes an array of bools, is true: the other
 * elements of `out` stay as they are, those of a new array are 0.  DVX_FAILED and True: everywhere.
 */
dvx_value ufunc_call_where(dvx_vm *vm, nd_ufunc_number number, const dvx_value *inputs,
                           dvx_value out, const nd_dtype *dtype, dvx_value where);
/* Reads such a mask; *held is a reference to it, or DVX_FAILED. */
bool ufunc_mask(dvx_vm *vm, dvx_value where, dvx_value *held, nd_array **mask);
/* op(a, b) of arrays, as an array in any case.  b: NULL for unary ones. */
dvx_value ufunc_arrays(dvx_vm *vm, nd_ufunc_number number, nd_array *a, nd_array *b,
                       nd_array **out);
/* The same for two arrays whose loop runs on the elements as they are (one dtype, C order, one
 * shape): false where they are not such (and nothing is raised), else *result is the result or
 * DVX_FAILED. */
bool ufunc_fast(dvx_vm *vm, nd_ufunc_number number, nd_array *a, nd_array *b, dvx_value *result);
/* The same for two scalars of one type, or one and a number that does not change it; not powers. */
bool ufunc_scalars(dvx_vm *vm, nd_ufunc_number number, const dvx_value *inputs, dvx_value *result);
/* The same for one scalar, where no flag comes up. */
bool ufunc_scalar(dvx_vm *vm, nd_ufunc_number number, dvx_value input, dvx_value *result);

/* A new array for the result of up to three inputs, which are broadcast to the shape (NULL: a
 * number): it lies in memory as its inputs do, as far as that is possible. */
enum { ND_RESULT_INPUTS = 3 };
dvx_value ufunc_result(dvx_vm *vm, const nd_dtype *dtype, nd_array *const *inputs, int count,
                       int ndim, const int64_t *shape, nd_array **out);

/* The axes of such a result in the order in which they lie in memory, the last one closest
 * together. */
void ufunc_order(nd_array *const *inputs, int count, int ndim, int *order);

static inline const nd_kernel *ufunc_kernel(dvx_vm *vm, nd_ufunc_number number, nd_type type) {
    return &nd_state_of(vm)->kernels[number].kernels[type];
}
/* The type that a ufunc computes inputs of this type in, by NumPy's table: TypeError, and false. */
bool ufunc_type(dvx_vm *vm, nd_ufunc_number number, nd_type common, nd_type *out);

/* Raises the warnings that the flags stand for ("divide by zero encountered in log"); flags are
 * cleared.  False: a warning became an error. */
bool ufunc_warn(dvx_vm *vm, nd_ufunc_number number, unsigned flags);
/* Of the flags that a loop has raised, those that an element was the reason for: of loops that
 * raise some without one (nd_kernel.inexact).  `types`, `data` and `strides` are those of the
 * inputs and of the output, which is none of them. */
unsigned ufunc_reasons(dvx_vm *vm, nd_ufunc_number number, const nd_type *types, char *const *data,
                       int64_t count, const int64_t *strides, unsigned flags);

/* Is v something that arithmetic with arrays knows: a number, a sequence, an array? */
bool ufunc_knows(dvx_vm *vm, dvx_value v);

/* The objects np.add and its like, of type `ufunc` (ufunc_type.c). */
typedef struct nd_ufunc_object {
    uint32_t number;
} nd_ufunc_object;
extern const dvx_type ufunc_object_type;
static inline nd_ufunc_number ufunc_number_of(const nd_ufunc_object *u) {
    return (nd_ufunc_number)u->number;
}

/* Operands are their truth alone: of a number its own, which its element may not have (1e-310 in
 * float32 is 0). */
static inline bool ufunc_is_logical(nd_ufunc_number number) {
    return number == ND_UFUNC_logical_and || number == ND_UFUNC_logical_or ||
           number == ND_UFUNC_logical_xor || number == ND_UFUNC_logical_not;
}

#endif
