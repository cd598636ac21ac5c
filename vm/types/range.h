/* range.h: range objects and slices.
 *
 * Invariant 1: start, stop and step of a range are within int64 and its length is too; a range of
 * larger ints is refused (OverflowError), see lang/README.md. */
#ifndef DV_TYPES_RANGE_H
#define DV_TYPES_RANGE_H

#include "core/vm.h"

typedef struct dv_range {
    dv_object header;
    int64_t start, stop, step; /* step != 0 */
    int64_t length;
} dv_range;

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

extern const dv_type dv_range_type, dv_range_iterator_type, dv_slice_type;

dv_value dv_range_new(dv_vm *vm, int64_t start, int64_t stop, int64_t step);
dv_value dv_slice_new(dv_vm *vm, dv_value start, dv_value stop, dv_value step); /* retains */
/* The slice's indices for a sequence of this length, clipped as CPython's PySlice_AdjustIndices;
 * *count: number of selected items. */
bool dv_slice_indices(dv_vm *vm, dv_value slice, int64_t length, int64_t *start, int64_t *stop,
                      int64_t *step, int64_t *count) DV_MUST_CHECK;
/* The two halves of dv_slice_indices, as CPython's PySlice_Unpack (may run dl code: __index__) and
 * PySlice_AdjustIndices (returns the count). */
bool dv_slice_unpack(dv_vm *vm, dv_value slice, int64_t *start, int64_t *stop,
                     int64_t *step) DV_MUST_CHECK;
int64_t dv_slice_adjust(int64_t length, int64_t *start, int64_t *stop, int64_t step);

#endif
