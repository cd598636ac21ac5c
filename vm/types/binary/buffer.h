/* buffer.h: typed buffers: elements of a C type in memory, which bytes, bytearrays, arrays and
 * objects of extensions lend to whoever works on them.
 *
 * Invariants
 *  1. An object of an extension's type with a buffer (dv_type.buffer_axes) has its dv_buffer at the
 *     fixed offset dv_type.buffer, with so many axes; its fields may change only while `exports` is
 * 0. Its layout is that of dvx_buffer (include/dynvm_ext.h), and part of the ABI: so an element can
 * be loaded or stored behind one compare of the shape word and of `dimensions` and `element`, with
 * one compare of each index with axes[k].count, at data + sum(index[k] * axes[k].stride).
 *     Where the type says so (dv_type.items), these elements are its items: of one axis v[i], of
 *     several v[i, j].  What the extension says of them is looked at anew at each access, as it may
 *     be wrong.
 *  2. data is NULL only where there are no elements.  A payload of zeros is an empty buffer.
 *  3. Between dv_view_get and dv_view_release the owner has one reference and, but for bytes, one
 *     export more, and neither moves nor resizes its elements (BufferError). */
#ifndef DV_TYPES_BUFFER_H
#define DV_TYPES_BUFFER_H

#include "core/vm.h"

typedef enum dv_element {
    DV_UINT8,
    DV_INT8,
    DV_UINT16,
    DV_INT16,
    DV_UINT32,
    DV_INT32,
    DV_UINT64,
    DV_INT64,
    DV_FLOAT32,
    DV_FLOAT64,
    DV_ELEMENTS,
    DV_TRUTH = 254,     /* bools (DVX_TRUTH), which are not lent */
    DV_NO_ELEMENT = 255 /* of another kind (DVX_NO_ELEMENT) */
} dv_element;

enum { DV_MOST_AXES = 8, DV_OTHER_ITEMS = 0x40000000 /* DVX_OTHER_ITEMS */ };

typedef struct dv_axis {
    int64_t count, stride; /* elements; bytes from one to the next */
} dv_axis;

typedef struct dv_buffer {
    void *data;
    uint32_t element; /* dv_element */
    uint32_t dimensions;
    uint32_t read_only;
    uint32_t exports;
    dv_axis axes[DV_MOST_AXES];
} dv_buffer;

/* What somebody works on. */
typedef struct dv_view {
    dv_buffer buffer; /* a copy; its `exports` means nothing */
    dv_value owner;   /* counted */
} dv_view;

size_t dv_element_size(uint32_t element);

/* Is v an object of an extension with a buffer? */
static inline bool dv_has_buffer(const dv_vm *vm, dv_value v) {
    return dv_is_object(v) && vm->types[dv_type_of(vm, v)]->buffer_axes != 0;
}

/* The buffer whose elements are the items of v, which is of exactly a type that says so; NULL. */
static inline dv_buffer *dv_buffer_of(const dv_vm *vm, dv_value v) {
    if (!dv_is_foreign(v)) return NULL;
    uint32_t items = vm->types[dv_as_object(v)->shape]->items;
    return items ? (dv_buffer *)(void *)((char *)dv_as_object(v) + items) : NULL;
}

/* Are these the items of v, along one axis? */
static inline bool dv_has_items(const dv_vm *vm, dv_value v, uint32_t element) {
    const dv_buffer *b = dv_buffer_of(vm, v);
    return b && b->element == element && b->dimensions == 1;
}

/* Element i of such a buffer; NULL: it has none, or is malformed. */
static inline char *dv_item_at(const dv_buffer *b, int64_t i) {
    const dv_axis *axis = b->axes;
    if (i < 0) i += axis->count;
    if (DV_UNLIKELY(i < 0 || i >= axis->count || !b->data)) return NULL;
    return (char *)((uintptr_t)b->data + (uint64_t)i * (uint64_t)axis->stride);
}

/* The buffer of elements of this kind along n axes, which has so many `dimensions`: n, or these and
 * DV_OTHER_ITEMS; NULL: it has none such.  (`dimensions` is the extension's word, `buffer_axes`
 * says how many there is room for.) */
static inline dv_buffer *dv_elements_along(const dv_vm *vm, dv_value v, uint32_t element, int64_t n,
                                           int64_t dimensions) {
    if (!dv_is_foreign(v)) return NULL;
    const dv_type *type = vm->types[dv_as_object(v)->shape];
    dv_buffer *b = (dv_buffer *)(void *)((char *)dv_as_object(v) + type->items);
    if (!type->items || n > type->buffer_axes || b->dimensions != dimensions ||
        b->element != element)
        return NULL;
    return b;
}
/* The same, of elements that are the items of v. */
static inline dv_buffer *dv_items_along(const dv_vm *vm, dv_value v, uint32_t element, int64_t n) {
    return dv_elements_along(vm, v, element, n, n);
}

/* The buffer of v, whose items are objects like the numbers in it (DVX_NUMBER_ITEMS); NULL. */
static inline const dv_buffer *dv_numbers_of(const dv_vm *vm, dv_value v) {
    const dv_buffer *b = dv_buffer_of(vm, v);
    const bool others = b && vm->types[dv_as_object(v)->shape]->num_items;
    return others && b->dimensions & DV_OTHER_ITEMS ? b : NULL;
}

/* The element at n indices, of n axes; NULL: there is none, an index is no int, or the buffer is
 * malformed. */
static inline char *dv_item_along(const dv_buffer *b, const dv_value *indices, int64_t n) {
    uintptr_t at = (uintptr_t)b->data;
    for (int64_t k = 0; k < n; k++) {
        const dv_axis *axis = &b->axes[k];
        if (DV_UNLIKELY(!dv_is_int(indices[k]))) return NULL;
        int64_t i = dv_as_int(indices[k]);
        if (i < 0) i += axis->count;
        if (DV_UNLIKELY(i < 0 || i >= axis->count)) return NULL;
        at += (uint64_t)i * (uint64_t)axis->stride;
    }
    return b->data ? (char *)at : NULL;
}

/* The element at i, j of two axes; likewise. */
static inline char *dv_item_at_pair(const dv_buffer *b, int64_t i, int64_t j) {
    const dv_axis *rows = &b->axes[0], *columns = &b->axes[1];
    if (i < 0) i += rows->count;
    if (j < 0) j += columns->count;
    if (DV_UNLIKELY(i < 0 || i >= rows->count || j < 0 || j >= columns->count || !b->data))
        return NULL;
    return (char *)((uintptr_t)b->data + (uint64_t)i * (uint64_t)rows->stride +
                    (uint64_t)j * (uint64_t)columns->stride);
}

/* The element at n raw indices, of n axes; likewise. */
static inline char *dv_item_at_all(const dv_buffer *b, const dv_value *raw, int64_t n) {
    uintptr_t at = (uintptr_t)b->data;
    for (int64_t k = 0; k < n; k++) {
        const dv_axis *axis = &b->axes[k];
        int64_t i = (int64_t)raw[k].bits;
        if (i < 0) i += axis->count;
        if (DV_UNLIKELY(i < 0 || i >= axis->count)) return NULL;
        at += (uint64_t)i * (uint64_t)axis->stride;
    }
    return b->data ? (char *)at : NULL;
}

/* How many items there are along the first axis; -1: whoever makes the length of v shall see to it.
 */
static inline int64_t dv_items_length(const dv_vm *vm, dv_value v) {
    const dv_buffer *b = dv_buffer_of(vm, v);
    if (!b || b->dimensions == 0 || b->dimensions > DV_MOST_AXES) return -1;
    return dv_fits_int(b->axes->count) ? b->axes->count : -1;
}

/* Items of objects of such types, or of dl classes that derive from them.  1: done; 0: the key is
 * none of an item; -1: raised. */
int dv_buffer_load(dv_vm *vm, dv_value v, dv_value key, dv_value *out);
int dv_buffer_store(dv_vm *vm, dv_value v, dv_value key, dv_value value);
int64_t dv_buffer_length(dv_vm *vm, dv_value v); /* along the first axis; -1: raised */

/* Has v elements to lend? */
bool dv_lends(const dv_vm *vm, dv_value v);
/* TypeError: v has none; BufferError: it cannot be written to. */
bool dv_view_get(dv_vm *vm, dv_value v, bool writable, dv_view *view) DV_MUST_CHECK;
void dv_view_release(dv_vm *vm, dv_view *view);
/* Another view of the same elements. */
void dv_view_share(dv_vm *vm, const dv_view *view, dv_view *out);
/* For readinto() and its like, by their name: a view of what may be written to, of `size` bytes
 * that lie together; TypeError. */
bool dv_view_room(dv_vm *vm, dv_value v, const char *function, dv_view *view,
                  int64_t *size) DV_MUST_CHECK;
/* Puts bytes there, no more than fit, releases both, and tells how many; EMPTY for EMPTY. */
dv_value dv_view_fill(dv_vm *vm, dv_view *view, dv_value bytes);

/* Do the elements lie together, in the order of the indices, or with `columns` of the reverse? */
bool dv_buffer_is_whole(const dv_buffer *b, bool columns);
/* They as bytes in that order, wherever they lie: new. */
dv_value dv_buffer_copy(dv_vm *vm, const dv_buffer *b, bool columns);
/* The elements of an extension's object, or of a memoryview, as bytes, in the order of the indices:
 * new. */
dv_value dv_buffer_bytes(dv_vm *vm, dv_value v);

#endif
