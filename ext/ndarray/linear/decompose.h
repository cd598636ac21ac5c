/* decompose.h: decompositions of matrices of float64 and complex128 without a library
 * (decompose.mako): for machines without LAPACK.
 *
 * Invariants
 *  1. Matrices are in Fortran's order, column after column without gaps.
 *  2. Nothing is allocated.  They count their work, but for solve, and end where the VM is
 *     interrupted: -1, or false. */
#ifndef ND_DECOMPOSE_H
#define ND_DECOMPOSE_H

#include "base.h"

enum { DECOMPOSE_SWEEPS = 60 };
/* What is shorter than so much of the whole, for each column, is an error of rounding. */
#define DECOMPOSE_NOTHING 0x1p-52

typedef struct nd_decompositions {
    /* A = P L U with partial pivoting, in place; pivots count from 1.  The number of the first
     * pivot that is 0, or 0. */
    int (*lu)(dvx_vm *vm, int n, void *a, int *pivots);
    /* The solutions for `count` right sides, in place of them. */
    void (*solve)(int n, const void *lu, const int *pivots, int count, void *b);
    /* A = L L^H, of and into the lower triangle; not 0: A is not positive definite. */
    int (*cholesky)(dvx_vm *vm, int n, void *a);
    /* A = Q R: R in the upper triangle, Q as reflections below it, with their scales. */
    bool (*qr)(dvx_vm *vm, int rows, int columns, void *a, void *scales);
    /* The first `columns` columns of Q. */
    bool (*make_q)(dvx_vm *vm, int rows, int columns, int count, void *a, const void *scales);
    /* A V with columns that are perpendicular, in place of A, and V in place of a unit matrix:
     * singular vectors times values.  0: not after DECOMPOSE_SWEEPS rounds; 1: it is. */
    int (*jacobi)(dvx_vm *vm, int rows, int columns, void *a, void *v);
} nd_decompositions;

/* Of float64, of complex128. */
extern const nd_decompositions decompose_own[2];

#endif
