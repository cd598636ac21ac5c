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
    DV_ELEMENTS
} dv_element;

enum { DV_MOST_AXES = 8 };

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

/* Items of objects of such types, or of dl classes that derive from them.  1: done; 0: the key is
 * none of an item; -1: raised. */
int dv_buffer_load(dv_vm *vm, dv_value v, dv_value key, dv_value *out);
int dv_buffer_store(dv_vm *vm, dv_value v, dv_value key, dv_value value);
int64_t dv_buffer_length(dv_vm *vm, dv_value v); /* along the first axis; -1: raised */

/* TypeError: v has none; BufferError: it cannot be written to. */
bool dv_view_get(dv_vm *vm, dv_value v, bool writable, dv_view *view) DV_MUST_CHECK;
void dv_view_release(dv_vm *vm, dv_view *view);

/* The elements of an extension's object as bytes, in the order of the indices: new. */
dv_value dv_buffer_bytes(dv_vm *vm, dv_value v);

#endif
