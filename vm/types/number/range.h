/* range.h: range objects and slices.
 *
 * Invariant 1: start, stop and step of a dv_range are within int64 and its length is too; a range
 * of larger ints has another layout (DV_T_LONG_RANGE, range_long.c), which no instruction knows. */
#ifndef DV_TYPES_RANGE_H
#define DV_TYPES_RANGE_H

#include "core/vm.h"

typedef struct dv_range {
    dv_object header;
    int64_t start, stop, step; /* step != 0 */
    int64_t length;
} dv_range;

/* The item of a checked index.  The product alone may be beyond int64; modulo 2**64 that is no
 * matter. */
static inline int64_t dv_range_item(const dv_range *range, int64_t index) {
    return (int64_t)((uint64_t)range->start + (uint64_t)index * (uint64_t)range->step);
}

/* Iterator over a range: `next`, `remaining`; the loop instructions work on these fields directly.
 */
typedef struct dv_range_iterator {
    dv_object header;
    int64_t next, step, remaining;
} dv_range_iterator;

typedef struct dv_slice {
    dv_object header;
    dv_value start, stop, step; /* None where absent */
} dv_slice;

/* Start, stop, step and length of either kind, as ints. */
typedef struct dv_range_parts {
    dv_value start, stop, step, length;
} dv_range_parts;

/* A new iterator of `length` ints: first, first + step, ...  EMPTY: raised. */
dv_value dv_range_iterator_new(dv_vm *vm, int64_t first, int64_t step, int64_t length);
extern const dv_type dv_range_type, dv_range_iterator_type, dv_slice_type;
extern const dv_type dv_long_range_type, dv_long_range_iterator_type;

/* Is v a range of either kind? */
static inline bool dv_is_range(dv_value v) {
    return dv_is_shape(v, DV_T_RANGE) || dv_is_shape(v, DV_T_LONG_RANGE);
}

dv_value dv_range_new(dv_vm *vm, int64_t start, int64_t stop, int64_t step);
/* A range of ints of any size; ValueError if step is 0. */
dv_value dv_range_of(dv_vm *vm, dv_value start, dv_value stop, dv_value step);
dv_value dv_slice_new(dv_vm *vm, dv_value start, dv_value stop, dv_value step); /* retains */
/* container[start:stop:step] of a built-in sequence (dv_slice_suits), with bounds that are ints or
 * None, without a slice on the heap; a store with value EMPTY deletes. */
dv_value dv_slice_load(dv_vm *vm, dv_value container, dv_value start, dv_value stop, dv_value step);
dv_value dv_slice_between(dv_vm *vm, dv_value container, int64_t start, int64_t stop, int64_t step);
bool dv_slice_store(dv_vm *vm, dv_value container, dv_value start, dv_value stop, dv_value step,
                    dv_value value) DV_MUST_CHECK;
static inline bool dv_slice_suits(dv_value container) {
    uint32_t shape = dv_is_object(container) ? dv_as_object(container)->shape : DV_T_COUNT;
    return shape == DV_T_LIST || shape == DV_T_STR || shape == DV_T_TUPLE || shape == DV_T_BYTES ||
           shape == DV_T_BYTEARRAY || shape == DV_T_ARRAY;
}
static inline bool dv_is_index_part(dv_value v) { return dv_is_int(v) || dv_is_none(v); }
/* The slice's indices for a sequence of this length, clipped as CPython's PySlice_AdjustIndices;
 * *count: number of selected items. */
bool dv_slice_indices(dv_vm *vm, dv_value slice, int64_t length, int64_t *start, int64_t *stop,
                      int64_t *step, int64_t *count) DV_MUST_CHECK;
/* The same for a length of any size, an int; start, stop and step as new ints. */
bool dv_slice_long_indices(dv_vm *vm, dv_value slice, dv_value length,
                           dv_value bounds[3]) DV_MUST_CHECK;
/* The two halves of dv_slice_indices, as CPython's PySlice_Unpack (may run dl code: __index__) and
 * PySlice_AdjustIndices (returns the count). */
bool dv_slice_unpack(dv_vm *vm, dv_value slice, int64_t *start, int64_t *stop,
                     int64_t *step) DV_MUST_CHECK;
int64_t dv_slice_adjust(int64_t length, int64_t *start, int64_t *stop, int64_t step);

/* range_long.c: of ranges of either kind, but where the name says `long` and self is its only
 * argument beside an item. */
bool dv_range_parts_take(dv_vm *vm, dv_value v, dv_range_parts *out) DV_MUST_CHECK; /* new */
void dv_range_parts_drop(dv_vm *vm, const dv_range_parts *parts);
bool dv_range_hash(dv_vm *vm, dv_value self, int64_t *hash) DV_MUST_CHECK;
dv_value dv_range_compare_long(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b);
dv_value dv_range_slice_long(dv_vm *vm, dv_value self, dv_value slice);
dv_value dv_range_reverse_long(dv_vm *vm, dv_value self);
/* A range whose length does not fit. */
dv_value dv_range_new_long(dv_vm *vm, int64_t start, int64_t stop, int64_t step);
/* Methods of a long range. */
dv_value dv_range_index_long(dv_vm *vm, dv_value self, dv_value item);
dv_value dv_range_count_long(dv_vm *vm, dv_value self, dv_value item);

#endif
