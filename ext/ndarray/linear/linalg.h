/* linalg.h: np.linalg.
 *
 * np.linalg is an object whose methods are the functions of NumPy's module: args[0] is that object.
 * linalg.c has the object, and what is made of the decompositions LU and Cholesky's; spectral.c QR,
 * eigenvalues and singular values; norm.c norms.  What is made of these is in lib/linear.dl.
 *
 * Invariants
 *  1. LAPACK computes (blas.h), so that results are NumPy's.  Where it is missing, linalg_read
 *     says so.
 *  2. Numbers are computed as float64 or complex128; what is made of float32 alone is cast back. */
#ifndef ND_LINALG_H
#define ND_LINALG_H

#include "array/array.h"
#include "linear/blas.h"
#include "linear/factor.h"
#include "array/methods.h"

/* Matrices: the last two axes of an array, in C order, of float64 or complex128. */
typedef struct nd_stack {
    dvx_value held;
    nd_array *a;
    int rows, columns;
    int64_t count;
    bool is_complex;
    bool single; /* results are float32 */
    const nd_lapack *lapack;
} nd_stack;
/* For the function of that name.  To be released: vm->api->release(vm, s->held).  LinAlgError: not
 * two axes, or not square; or there is no LAPACK. */
bool linalg_read(dvx_vm *vm, const char *function, dvx_value v, bool square, nd_stack *s);
static inline int64_t linalg_size(const nd_stack *s) {
    return s->is_complex ? (int64_t)sizeof(nd_complex) : (int64_t)sizeof(double);
}
static inline char *linalg_matrix(const nd_stack *s, int64_t i) {
    return s->a->data + i * s->rows * s->columns * linalg_size(s);
}

/* A new array on the stack's leading axes, with `extra` more, of float64 or complex128. */
dvx_value linalg_result(dvx_vm *vm, const nd_stack *s, bool is_complex, int extra, int rows,
                        int columns, nd_array **out);
/* The result as it is returned: takes `made`. */
dvx_value linalg_finish(dvx_vm *vm, dvx_value made, bool single);

/* A matrix in C order to Fortran's, and the other way round (with rows and columns of the source).
 * False: raised (interrupted, or a limit). */
bool linalg_turn(dvx_vm *vm, const char *from, int64_t rows, int64_t columns, int64_t size,
                 char *to);

/* Raises LinAlgError; false. */
bool linalg_fail(dvx_vm *vm, const char *text);
/* The functions of spectral.c. */
extern const dvx_function linalg_qr, linalg_eigh, linalg_eigvalsh, linalg_eig, linalg_eigvals,
    linalg_svd;

#endif
