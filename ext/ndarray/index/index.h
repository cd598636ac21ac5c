/* index.h: subscripts: index.c reads them and does what gives views; fancy.c does index arrays.
 *
 * Invariants
 *  1. A subscript that has been read holds references until it is dropped.
 *  2. Bools as indices have become ints: a bool array of n axes is n index arrays (its nonzero()),
 *     and True and False are index arrays of one or no element that take no axis. */
#ifndef ND_INDEX_H
#define ND_INDEX_H

#include "array/array.h"

typedef enum index_kind { INDEX_INT, INDEX_SLICE, INDEX_NEW, INDEX_REST, INDEX_ARRAY } index_kind;

typedef struct index_part {
    index_kind kind;
    bool axis;                  /* takes one of the array's axes (all but NEW, REST, True, False) */
    int64_t start, step, count; /* INT: start; REST: count of axes; SLICE */
    dvx_value slice;            /* borrowed from the key, until its axis is known */
    dvx_value owner;            /* of the index array */
    nd_array *array;            /* of int64 */
} index_part;

enum { ND_PARTS = 2 * ND_MOST + 2 };
typedef struct nd_index {
    int count;
    int arrays;               /* so many are index arrays */
    bool rest;                /* there is an Ellipsis */
    bool copied;              /* an int was an array: NumPy gives a copy, not a view */
    dvx_value held[ND_PARTS]; /* items of the key */
    int held_count;
    index_part parts[ND_PARTS];
} nd_index;

/* What a subscript without index arrays stands for: as array_view wants it. */
typedef struct index_view {
    char *data;
    int ndim;
    dvx_axis axes[ND_MOST + ND_PARTS];
} index_view;

/* Slots of ndarray, and of generic. */
dvx_value index_get(dvx_vm *vm, dvx_value self, dvx_value key);
bool index_set(dvx_vm *vm, dvx_value self, dvx_value key, dvx_value value);
bool index_delete(dvx_vm *vm, dvx_value self, dvx_value key);
dvx_value index_get_scalar(dvx_vm *vm, dvx_value self, dvx_value key);

/* v as an array to be assigned to elements of `dtype`. */
dvx_value index_value(dvx_vm *vm, dvx_value v, const nd_dtype *dtype, nd_array **out);

/* fancy.c: subscripts with index arrays; and a single bool array of the array's shape. */
dvx_value fancy_get(dvx_vm *vm, const nd_array *a, const nd_index *index);
bool fancy_set(dvx_vm *vm, nd_array *a, const nd_index *index, dvx_value value);
/* The frequent case: elements in one axis, by an array of ints in C order. */
dvx_value fancy_get_row(dvx_vm *vm, const nd_array *a, const nd_array *which);
/* The same for a store of an array or a number.  False: the ordinary way is to be taken, which
 * tells what is wrong, casts, broadcasts and copies.  *good: nothing was raised. */
bool fancy_set_row(dvx_vm *vm, const nd_array *a, const nd_array *which, dvx_value value,
                   bool *good);
dvx_value fancy_get_mask(dvx_vm *vm, const nd_array *a, const nd_array *mask);
bool fancy_set_mask(dvx_vm *vm, nd_array *a, const nd_array *mask, dvx_value value);
/* How many elements of a mask, which has an axis or more, are true; -1: raised. */
int64_t fancy_count(dvx_vm *vm, const nd_array *mask);
/* The places of the elements that are true: for each axis an int64 array (new, in out), of the same
 * length. */
bool fancy_nonzero(dvx_vm *vm, const nd_array *mask, dvx_value out[ND_MOST]);

#endif
