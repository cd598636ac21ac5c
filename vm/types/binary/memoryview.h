/* memoryview.h: memoryviews: elements that bytes, bytearrays, arrays and objects of extensions lend
 * (types/binary/buffer.h), as a value of dl.
 *
 * Invariants
 *  1. A memoryview has an export of the owner of the elements, never of another memoryview: what it
 *     was made from may be released before it.
 *  2. It is itself an object with a buffer (dv_type.buffer): view.buffer.exports counts who works
 * on that, and while there is one the memoryview is not released (BufferError).
 *  3. Released, it has no owner, and its buffer's elements are of another kind (DV_NO_ELEMENT).
 *  4. Whatever may run dl code may release it: that is asked again after it. */
#ifndef DV_TYPES_MEMORYVIEW_H
#define DV_TYPES_MEMORYVIEW_H

#include "core/machine.h"
#include "types/binary/buffer.h"

typedef struct dv_memoryview {
    dv_object header;
    dv_view view;
    int64_t hash;
    bool hashed;
    bool at;   /* the format begins with an @ */
    char code; /* of struct, the format of an element; 'w' of an array of characters */
} dv_memoryview;

extern const dv_type dv_memoryview_type;

static inline bool dv_is_memoryview(dv_value v) { return dv_is_shape(v, DV_T_MEMORYVIEW); }
static inline dv_memoryview *dv_as_memoryview(dv_value v) {
    return (dv_memoryview *)dv_as_object(v);
}

/* The bytes of all elements; 0: it was released. */
int64_t dv_memoryview_size(const dv_memoryview *m);
/* Do they lie together, from view.buffer.data on?  False: raised, also where it was released. */
bool dv_memoryview_is_whole(dv_vm *vm, const dv_memoryview *m) DV_MUST_CHECK;
/* Raises ValueError: it was released. */
dv_value dv_memoryview_refuse(dv_vm *vm);

#endif
