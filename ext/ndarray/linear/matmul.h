/* matmul.h: products of matrices: @, dot, inner, outer.
 *
 * Invariants
 *  1. Each element of a small product, and of any of ints, is summed from the first term to the
 *     last, without a fused multiply-add: the bits are those of the reference BLAS.  Large ones of
 *     floats are OpenBLAS's where that is installed (blas.h). */
#ifndef ND_MATMUL_H
#define ND_MATMUL_H

#include "array/array.h"
#include "linear/blas.h"

/* a @ b into rows of a C-ordered matrix.  False: raised. */
bool matmul_into(dvx_vm *vm, nd_type type, const nd_matrix *a, const nd_matrix *b, char *out);
/* The same without OpenBLAS: always in order, and of matrices whose rows may overlap. */
bool matmul_in_order(dvx_vm *vm, nd_type type, const nd_matrix *a, const nd_matrix *b, char *out);

/* a @ b, into `out` if it is given. */
dvx_value matmul_values(dvx_vm *vm, dvx_value a, dvx_value b, dvx_value out);

#endif
