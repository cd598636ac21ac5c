/* factor.h: matrices as products of triangles and of reflections, by LAPACK.
 *
 * Invariants
 *  1. Matrices are in Fortran's order, column after column without gaps.
 *  2. A matrix is factored by one call, a long one in a process apart (apart.h); many right sides
 *     are solved some at a time.  All count their work.
 *  3. *good is false behind a function during which something was raised; what it computed is then
 *     worth nothing. */
#ifndef ND_FACTOR_H
#define ND_FACTOR_H

#include "linear/blas.h"

/* A = P L U: the number of the first pivot that is 0, or 0. */
int factor_lu(dvx_vm *vm, const nd_lapack *f, int n, void *a, int *pivots, bool *good);
/* The solutions for right sides, in place of them, of what factor_lu left. */
void factor_solve(dvx_vm *vm, const nd_lapack *f, int n, const void *a, const int *pivots,
                  int count, void *b, bool *good);
/* A = L L^H, of and into the lower triangle; not 0: A is not positive definite. */
int factor_cholesky(dvx_vm *vm, const nd_lapack *f, int n, void *a, bool *good);
/* A = Q R: R in the upper triangle, reflections below it, with their scales; and, q not NULL, so
 * many columns of Q. */
bool factor_qr(dvx_vm *vm, const nd_lapack *f, int m, int n, void *a, void *scales, void *q,
               int columns);

/* The room that LAPACK wants for its work, of which it tells in the first element. */
int factor_wanted(const void *work);

#endif
