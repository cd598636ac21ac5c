/* loops.h: the inner loops of ufuncs and reductions, generated from kernels.py by loops.mako, once
 * for each instruction set; loops.c chooses.
 *
 * Invariants
 *  1. args are the inputs, then the output; strides are in bytes.  An output is an input itself
 * with the same stride, or shares no memory with it: see to that before.
 *  2. Elements are aligned.  No loop calls the VM, and each result depends on its own operands
 * alone, not on their place in the array.
 *  3. Bits of floating point results are the same for all instruction sets, except for what libmvec
 *     and elementary.h compute.
 *  4. Sums add in NumPy's order: pairwise, in blocks of 128, with eight running sums in each. */
#ifndef ND_LOOPS_H
#define ND_LOOPS_H

#include "loops/cast.h"

typedef void (*nd_loop)(char **args, int64_t count, const int64_t *strides);
/* *to = *to op all elements at from, from the left (but for sums). */
typedef void (*nd_fold)(char *to, const char *from, int64_t count, int64_t stride);

/* to[i] = to[i] op the same element of `rows` rows of `count` neighbours, one row after the other;
 * `stride` bytes from row to row. */
typedef void (*nd_fold_rows)(char *to, const char *from, int64_t count, int64_t rows,
                             int64_t stride);

/* What a dtype has of a ufunc.  NULL: nothing. */
typedef struct nd_kernel {
    nd_loop loop;
    nd_fold fold;      /* of binary ones whose result is of the dtype of the inputs */
    nd_fold_rows rows; /* of some of these */
    uint8_t result;    /* nd_type */
    bool compares;     /* complex numbers: FE_INVALID says no more than that there is a nan */
    bool inexact;      /* libmvec raises flags without a reason */
} nd_kernel;

typedef struct nd_kernels {
    nd_kernel kernels[ND_TYPES];
} nd_kernels;

typedef enum nd_ufunc_number {
#define ND_UFUNC(name) ND_UFUNC_##name,
#include "ufunc_names.inc"
#undef ND_UFUNC
    ND_UFUNCS
} nd_ufunc_number;

/* What is the same for all instruction sets. */
typedef struct nd_ufunc_facts {
    const char *name;
    uint8_t inputs;
    bool warns;  /* floating point flags become warnings */
    bool floats; /* ints are computed as float64 */
    int8_t identity;
    bool has_identity;
    uint8_t effort; /* what an element takes, in steps of 0.25 ns */
} nd_ufunc_facts;
extern const nd_ufunc_facts loops_facts[ND_UFUNCS];
/* For nd_work.  The quickest loops take as long as their bytes: `size` of an element. */
static inline int64_t loops_steps(nd_ufunc_number number, int64_t count, int64_t size) {
    const int64_t effort = loops_facts[number].effort;
    return effort == 1 ? count * size / 28 : count * effort / 4;
}

/* rows x columns of a product into `c`, whose rows are `c_row` bytes apart.  b is a panel: `inner`
 * rows of ND_PANEL bytes, aligned to 64; of complex numbers, real parts and imaginary ones in a
 * half each. */
enum { ND_PANEL = 256 };
typedef void (*nd_gemm)(char *c, int64_t c_row, const char *a, int64_t a_row, int64_t a_column,
                        const char *b, int64_t inner, int64_t rows, int64_t columns);
/* The first of the elements in a row that is *sought; a nan: that is one.  -1: none. */
typedef int64_t (*nd_finder)(const void *sought, const char *at, int64_t count);
/* The place of the first greatest (least) of at least one element in a row; of a nan if there is
 * one. The same of as many neighbours (`other`: every second one) as fill a vector of 64 bytes,
 * each the first element of a line whose elements are `stride` apart; the places are int64,
 * `to_step` apart.  NULL: there is no such loop for the dtype.  At most ND_MOST_PLACES elements. */
enum { ND_MOST_PLACES = 1 << 30, ND_NEIGHBOURS = 64 };
typedef int64_t (*nd_line_place)(const char *from, int64_t count);
typedef void (*nd_line_places)(const char *from, bool other, int64_t count, int64_t stride,
                               char *to, int64_t to_step);
/* out[i] is the sum of short_row[k] * from[i + k] for all of `inner` elements, in their order, for
 * `count` places.  NULL: there is no such loop for the dtype. */
typedef void (*nd_slide)(char *out, const char *from, const char *short_row, int64_t inner,
                         int64_t count);
/* How many elements in a row are not 0. */
typedef int64_t (*nd_counter)(const char *from, int64_t count);
/* The places of at most ND_RANKED elements, none of which is a nan, in a stable order.  NULL: there
 * is no such loop that is worth it. */
enum { ND_RANKED = 32 };
typedef void (*nd_rank)(const char *from, int64_t count, uint8_t *places);
/* Numbers before *middle (`equal`: also its equals) come to the front of the row, in their order,
 * the others behind them: how many are in front.  `room` is as large as the row.  NULL: there is no
 * such loop that is worth it. */
typedef int64_t (*nd_part)(void *row, void *room, int64_t count, const void *middle, bool equal);
/* Sorts (finds the places in order of) lines of at most ND_IN_NETWORK elements, one behind the
 * other, as many from the first one on as can be done in blocks; -0.0 and nans end that.  NULL:
 * there is no such loop that is worth it. */
enum { ND_IN_NETWORK = 32 };
typedef int64_t (*nd_line_sort)(void *data, int64_t count, int64_t lines);
typedef int64_t (*nd_place_sort)(const void *data, int64_t *places, int64_t count, int64_t lines);
/* The loop of where(): its arguments are yes, no, the result, and the condition, of bools.  Yes or
 * no may be the result. */
enum { ND_MOST_BYTES = 16 };
typedef struct nd_tiles {
    nd_gemm float64, float32, complex128, complex64;
    nd_slide slide[ND_TYPES];
    nd_line_place place_maximum[ND_TYPES], place_minimum[ND_TYPES];
    nd_line_places places_maximum[ND_TYPES], places_minimum[ND_TYPES];
    nd_finder find[ND_TYPES];
    nd_counter count[ND_TYPES];
    nd_loop choose[ND_MOST_BYTES + 1]; /* by the size of an element */
    nd_rank rank[ND_TYPES];
    nd_part part[ND_TYPES];
    nd_line_sort sort_lines[ND_TYPES];
    nd_place_sort place_lines[ND_TYPES];
    nd_fold sum[ND_TYPES]; /* as int64, of smaller ints */
} nd_tiles;
const nd_tiles *loops_tiles(void);
/* Casts of what has derivatives, by nd_hot from and to; and all others (rare_loops.mako), but
 * where one of these has the same bits: NULL. */
const nd_cast (*loops_casts(void))[ND_HOT_TYPES];
extern const nd_cast loops_rare_casts[ND_TYPES][ND_TYPES];

/* Those of the best instruction set that this machine has: ND_UFUNCS of them. */
const nd_kernels *loops_best(void);

#endif
