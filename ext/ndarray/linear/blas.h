/* blas.h: OpenBLAS, with the LAPACK in it: loaded when there is a product that is large enough for
 * it, or something of np.linalg.
 *
 * Invariants
 *  1. The library is looked for once in a process; what was found is constant from then on.
 *  2. Nothing is said to it about threads: it has as many as the environment says
 *     (OPENBLAS_NUM_THREADS and its like), or as there are CPUs.  The calling thread
 *     stays as it is.
 *  3. Products do not depend on it but for time and last digits: who asks has loops of his own. Its
 *     buffers are its own; a VM asks only as long as its limit of memory leaves room for as much.
 *  4. Before a fork OpenBLAS ends its threads, and waits for ever if one of them works for another
 *     thread of the process.  So the VMs that use it are counted, under a lock that is held while
 *     one of them forks: another's first use waits until that is over.  The count is one for the
 *     process, as the library and its threads are; nothing that a VM computes depends on it.  A
 *     host that calls OpenBLAS itself is not counted: it should set OPENBLAS_NUM_THREADS=1. */
#ifndef ND_BLAS_H
#define ND_BLAS_H

#include <sys/types.h>

#include "base.h"

/* Functions of CBLAS. */
enum { BLAS_ROWS = 101, BLAS_PLAIN = 111, BLAS_TRANSPOSED = 112, BLAS_UPPER = 121 };
#define ND_BLAS_REAL(T, letter)                                                                  \
    void (*letter##gemm)(int order, int turn_a, int turn_b, int m, int n, int k, T alpha,        \
                         const T *a, int a_row, const T *b, int b_row, T beta, T *c, int c_row); \
    void (*letter##syrk)(int order, int half, int turn, int n, int k, T alpha, const T *a,       \
                         int a_row, T beta, T *c, int c_row);                                    \
    void (*letter##gemv)(int order, int turn, int m, int n, T alpha, const T *a, int a_row,      \
                         const T *x, int x_step, T beta, T *y, int y_step);                      \
    T (*letter##dot)(int n, const T *x, int x_step, const T *y, int y_step)

typedef struct nd_blas {
    ND_BLAS_REAL(double, d);
    ND_BLAS_REAL(float, s);
    void (*zgemm)(int order, int turn_a, int turn_b, int m, int n, int k, const void *alpha,
                  const void *a, int a_row, const void *b, int b_row, const void *beta, void *c,
                  int c_row);
    void (*zgemv)(int order, int turn, int m, int n, const void *alpha, const void *a, int a_row,
                  const void *x, int x_step, const void *beta, void *y, int y_step);
    void (*zdotu_sub)(int n, const void *x, int x_step, const void *y, int y_step, void *out);
    void (*zdotc_sub)(int n, const void *x, int x_step, const void *y, int y_step, void *out);
    int (*threads)(void);
} nd_blas;

/* Functions of LAPACK for one dtype, as Fortran has them: matrices column after column. */
typedef struct nd_lapack {
    bool is_complex;
    void (*getrf)(const int *m, const int *n, void *a, const int *a_step, int *pivots, int *info);
    void (*getrs)(const char *turn, const int *n, const int *count, const void *a,
                  const int *a_step, const int *pivots, void *b, const int *b_step, int *info);
    void (*potrf)(const char *half, const int *n, void *a, const int *a_step, int *info);
    void (*geqrf)(const int *m, const int *n, void *a, const int *a_step, void *scales, void *work,
                  const int *size, int *info);
    void (*make_q)(const int *m, const int *n, const int *k, void *a, const int *a_step,
                   const void *scales, void *work, const int *size, int *info);
    /* Those that follow have other parameters for complex numbers. */
    void (*eigh)(void), (*svd)(void), (*eig)(void);
} nd_lapack;

/* NULL: there is none, or no room for it. */
const nd_blas *blas_find(dvx_vm *vm);
/* At the end of a VM. */
void blas_finish(dvx_vm *vm);
/* fork(), by a VM that blas_find has given it; -1 also while another VM uses it with several
 * threads (invariant 4). */
pid_t blas_fork(void);
/* LAPACK's functions for float64 or complex128, for a function of that name.  NULL: ImportError, or
 * MemoryError where there is no room for it. */
const nd_lapack *blas_lapack(dvx_vm *vm, const char *function, bool is_complex);

/* A matrix in memory, with strides in bytes. */
typedef struct nd_matrix {
    const char *data;
    int64_t rows, columns, row, column;
} nd_matrix;

/* a @ b of float64, float32 or complex128 into the rows of a C-ordered matrix, if OpenBLAS is there
 * and can do it: it takes matrices with rows or columns that lie together (others are copied), and
 * none too large for ints.  *good: nothing was raised. */
bool blas_multiply(dvx_vm *vm, size_t size, const nd_matrix *a, const nd_matrix *b, char *out,
                   bool *good);

#endif
