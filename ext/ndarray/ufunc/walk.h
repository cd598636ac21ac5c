/* walk.h: going through several arrays of one shape together, in rows as long as possible.
 *
 * Invariants
 *  1. After walk_plan the axes are sorted so that the last has the smallest strides; axes along
 * which all operands go on in the same way are one; there are none of length 1.
 *  2. A walk of no axes has one row of one element; one of no elements has no row. */
#ifndef ND_WALK_H
#define ND_WALK_H

#include "array/array.h"

#include <stddef.h>

enum { ND_MOST_OPERANDS = DVX_MOST_OPERANDS + 1 };

typedef struct nd_walk {
    int operands, ndim;
    char *data[ND_MOST_OPERANDS];
    int64_t shape[ND_MOST];
    int64_t strides[ND_MOST_OPERANDS][ND_MOST];
} nd_walk;

/* So many axes, whose shape is still to be said; all strides are 0.  (The struct is large, and most
 * of it for operands that a walk has not.) */
static inline void walk_begin(nd_walk *walk, int operands, int ndim) {
    walk->operands = operands;
    walk->ndim = ndim;
    memset(walk->data, 0, sizeof walk->data);
    memset(walk->strides, 0, (size_t)operands * sizeof *walk->strides);
}
static inline void walk_copy(nd_walk *to, const nd_walk *from) {
    memcpy(to, from, offsetof(nd_walk, strides) + (size_t)from->operands * sizeof *from->strides);
}

/* One row: pointers, length, and strides of all operands.  False: raised.  (Of a long row it is
 * given one part after the other: what becomes of an element depends on no others.) */
typedef bool (*nd_row)(dvx_vm *vm, void *context, char *const *data, int64_t count,
                       const int64_t *strides);

/* Of `to` and `from`, over all lines along the axis: each by its first element. */
void walk_lines(nd_walk *walk, const nd_array *to, const nd_array *from, int axis);
/* Sorts and joins the axes.  Operand `first` decides first; `swap`: where rows would be very short,
 * another axis may be the last, as nothing depends on the order. */
void walk_plan(nd_walk *walk, int first, bool swap);
/* Does each operand go on from row to row, or have the same row all along the last axis but one? */
bool walk_repeats(const nd_walk *walk);
/* The part of a row function that leaves out what a mask says: its bools are operand `operand`,
 * those before it are given to `row`, a run of true ones at a time. */
typedef struct nd_masked {
    nd_row row;
    void *context;
    int operand;
} nd_masked;
bool walk_masked(dvx_vm *vm, void *context, char *const *data, int64_t count,
                 const int64_t *strides);
/* Does `row` for all rows, in order, and counts them: `effort` steps (nd_work) for WALK_PART
 * elements. */
enum { WALK_PART = 32 };
bool walk_work(dvx_vm *vm, nd_walk *walk, int64_t effort, nd_row row, void *context);
static inline bool walk_run(dvx_vm *vm, nd_walk *walk, nd_row row, void *context) {
    return walk_work(vm, walk, WALK_PART, row, context);
}

#endif
