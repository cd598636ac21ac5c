/* buffer.c: lending typed buffers (buffer.h). */
#include "types/binary/buffer.h"

#include <stdio.h>

#include "core/upcall.h"
#include "types/callable/arguments.h"
#include "types/binary/array.h"
#include "types/binary/bytes.h"
#include "types/binary/memoryview.h"
#include "types/class/class.h"
#include "types/number/int.h"
#include "types/sequence/tuple.h"

size_t dv_element_size(uint32_t element) {
    static const uint8_t sizes[DV_ELEMENTS] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
    return sizes[element];
}

/* ---- Objects of extensions ---- */

static dv_buffer *buffer_in(const dv_vm *vm, dv_value v) {
    return (dv_buffer *)(void *)((char *)dv_as_object(v) + vm->types[dv_type_of(vm, v)]->buffer);
}

/* The number of elements; -1: what the extension says makes no sense. */
static int64_t count_elements(const dv_buffer *b, uint32_t most_axes) {
    if (b->element >= DV_ELEMENTS || b->dimensions > most_axes) return -1;
    int64_t count = 1;
    for (uint32_t i = 0; i < b->dimensions; i++) {
        int64_t more = b->axes[i].count;
        if (more < 0 || __builtin_mul_overflow(count, more, &count)) return -1;
    }
    if (!b->data) return b->dimensions == 0 || count == 0 ? 0 : -1;
    return count;
}

static bool raise_malformed(dv_vm *vm, dv_value v) {
    dv_raise(vm, DV_E_SYSTEM_ERROR, "%T has a malformed buffer", v);
    return false;
}

/* Elements of another kind (complex numbers) are an extension's right. */
static bool raise_unknown(dv_vm *vm, dv_value v) {
    if (dv_is_memoryview(v)) return dv_memoryview_refuse(vm), false;
    dv_raise(vm, DV_E_BUFFER_ERROR, "elements of this %T cannot be lent as a buffer", v);
    return false;
}

/* Copies the descriptor; false: SystemError. */
static bool copy_buffer(dv_vm *vm, dv_value v, dv_buffer *out, int64_t *count) {
    const dv_buffer *b = buffer_in(vm, v);
    uint32_t axes = vm->types[dv_type_of(vm, v)]->buffer_axes;
    if (b->element >= DV_TRUTH || b->dimensions == UINT32_MAX) return raise_unknown(vm, v);
    out->data = b->data;
    out->element = b->element;
    out->read_only = b->read_only;
    out->exports = 0;
    out->dimensions = b->dimensions & ~(uint32_t)DV_OTHER_ITEMS;
    for (uint32_t i = 0; i < out->dimensions && i < axes; i++) out->axes[i] = b->axes[i];
    *count = count_elements(out, axes);
    if (*count < 0) return raise_malformed(vm, v);
    if (!b->data && !b->dimensions) { /* zeros: nothing, rather than one element */
        out->dimensions = 1;
        out->axes[0].count = 0;
        out->axes[0].stride = (int64_t)dv_element_size(b->element);
    }
    return true;
}

static bool get_foreign(dv_vm *vm, dv_value v, dv_view *view) {
    int64_t count;
    if (!copy_buffer(vm, v, &view->buffer, &count)) return false;
    buffer_in(vm, v)->exports++;
    return true;
}

/* ---- Items ---- */

/* Is the key as many ints as there are axes?  1, 0, or -1: raised. */
static int indices_of(dv_vm *vm, const dv_buffer *b, dv_value key, int64_t *out) {
    const dv_value *keys = &key;
    int64_t count = 1;
    if (b->dimensions != 1) {
        if (!dv_is_tuple(key)) return 0;
        keys = dv_as_tuple(key)->items;
        count = dv_as_tuple(key)->count;
    }
    if (count != b->dimensions) return 0;
    for (int64_t i = 0; i < count; i++) {
        if (!dv_is_integral(keys[i])) return 0;
        if (!dv_as_index(vm, keys[i], &out[i])) return -1;
    }
    return 1;
}

/* Of what the key says; NULL: raised. */
static char *item_place(dv_vm *vm, dv_value v, const dv_buffer *b, const int64_t *indices) {
    char *at = b->data;
    for (uint32_t k = 0; k < b->dimensions; k++) {
        int64_t i = indices[k], count = b->axes[k].count;
        if (count < 0) return raise_malformed(vm, v), NULL;
        if (i < 0) i += count;
        if (i < 0 || i >= count)
            return dv_raise(vm, DV_E_INDEX_ERROR, "%T index out of range", v), NULL;
        at = (char *)((uintptr_t)at + (uint64_t)i * (uint64_t)b->axes[k].stride);
    }
    return b->data ? at : (raise_malformed(vm, v), NULL);
}

/* 1: *b is the buffer and `indices` lead to an item, as far as the key tells; 0, -1. */
static int find_item(dv_vm *vm, dv_value v, dv_value key, dv_buffer **b, int64_t *indices) {
    *b = buffer_in(vm, v);
    uint32_t axes = vm->types[dv_type_of(vm, v)]->buffer_axes;
    if ((*b)->element >= DV_ELEMENTS || (*b)->dimensions > axes) return raise_malformed(vm, v), -1;
    return (*b)->dimensions ? indices_of(vm, *b, key, indices) : 0;
}

int dv_buffer_load(dv_vm *vm, dv_value v, dv_value key, dv_value *out) {
    dv_buffer *b;
    int64_t indices[DV_MOST_AXES];
    _Alignas(8) char bytes[8];
    int found = find_item(vm, v, key, &b, indices);
    if (found <= 0) return found;
    const char *at = item_place(vm, v, b, indices);
    if (!at) return -1;
    memcpy(bytes, at, dv_element_size(b->element));
    *out = dv_array_load(vm, dv_array_kind_with(b->element), bytes);
    return dv_is_empty(*out) ? -1 : 1;
}

/* Where the item is that the key says, to be written to; NULL with *found 0 or -1. */
static char *place_to_write(dv_vm *vm, dv_value v, dv_value key, uint32_t *element, int *found) {
    dv_buffer *b;
    int64_t indices[DV_MOST_AXES];
    *found = find_item(vm, v, key, &b, indices);
    if (*found <= 0) return NULL;
    *element = b->element;
    char *at = NULL;
    if (b->read_only)
        dv_raise(vm, DV_E_TYPE_ERROR, "cannot modify read-only memory");
    else
        at = item_place(vm, v, b, indices);
    if (!at) *found = -1;
    return at;
}

int dv_buffer_store(dv_vm *vm, dv_value v, dv_value key, dv_value value) {
    char bytes[8];
    uint32_t element, now;
    int found;
    if (!place_to_write(vm, v, key, &element, &found)) return found;
    if (!dv_array_encode(vm, dv_array_kind_with(element), value, bytes)) return -1;
    /* The conversion may have run dl code. */
    char *at = place_to_write(vm, v, key, &now, &found);
    if (!at) return found;
    if (now != element) {
        dv_raise(vm, DV_E_BUFFER_ERROR, "the items of %T have changed", v);
        return -1;
    }
    memcpy(at, bytes, dv_element_size(element));
    return 1;
}

int64_t dv_buffer_length(dv_vm *vm, dv_value v) {
    const dv_buffer *b = buffer_in(vm, v);
    if (b->dimensions == 0) return 0;
    if (b->axes[0].count >= 0) return b->axes[0].count;
    raise_malformed(vm, v);
    return -1;
}

/* ---- Built-in types ---- */

static void be_line(dv_view *view, void *data, uint32_t element, int64_t count, bool read_only) {
    memset(&view->buffer, 0, sizeof view->buffer);
    view->buffer.data = data;
    view->buffer.element = element;
    view->buffer.dimensions = 1;
    view->buffer.read_only = read_only;
    view->buffer.axes[0] = (dv_axis){count, (int64_t)dv_element_size(element)};
}

static bool get_built_in(dv_vm *vm, dv_value v, dv_view *view) {
    if (dv_is_bytes(v)) {
        be_line(view, dv_as_str(v)->data, DV_UINT8, dv_as_str(v)->length, true);
        return true;
    }
    if (dv_is_bytearray(v)) {
        char *data = dv_bytearray_export(vm, v);
        if (data) be_line(view, data, DV_UINT8, dv_as_bytes(v)->length, false);
        return data != NULL;
    }
    if (dv_is_array(v)) {
        dv_array *a = dv_as_array(v);
        uint32_t element = a->element < DV_ELEMENTS ? a->element : DV_UINT32;
        be_line(view, a->data, element, a->count, false);
        a->exports++;
        return true;
    }
    dv_raise(vm, DV_E_TYPE_ERROR, "a bytes-like object is required, not '%T'", v);
    return false;
}

/* ---- Views ---- */

bool dv_lends(const dv_vm *vm, dv_value v) {
    return dv_is_bytes_like(v) || dv_is_array(v) || dv_has_buffer(vm, v);
}

bool dv_view_get(dv_vm *vm, dv_value v, bool writable, dv_view *view) {
    view->owner = DV_EMPTY;
    bool foreign = dv_has_buffer(vm, v);
    if (!(foreign ? get_foreign(vm, v, view) : get_built_in(vm, v, view))) return false;
    view->owner = dv_retain(v);
    if (!writable || !view->buffer.read_only) return true;
    dv_view_release(vm, view);
    dv_raise(vm, DV_E_BUFFER_ERROR, "Object is not writable.");
    return false;
}

/* Where the owner counts its exports; NULL: nowhere. */
static uint32_t *exports_of(const dv_vm *vm, dv_value owner) {
    if (dv_has_buffer(vm, owner)) return &buffer_in(vm, owner)->exports;
    if (dv_is_bytearray(owner)) return &((dv_bytearray *)dv_as_object(owner))->exports;
    return dv_is_array(owner) ? &dv_as_array(owner)->exports : NULL;
}

void dv_view_release(dv_vm *vm, dv_view *view) {
    dv_value owner = view->owner;
    view->owner = DV_EMPTY;
    view->buffer.data = NULL;
    if (dv_is_empty(owner)) return;
    uint32_t *exports = exports_of(vm, owner);
    if (exports) --*exports;
    dv_release(vm, owner);
}

void dv_view_share(dv_vm *vm, const dv_view *view, dv_view *out) {
    *out = *view;
    out->buffer.exports = 0;
    dv_retain(out->owner);
    uint32_t *exports = exports_of(vm, out->owner);
    if (exports) ++*exports;
}

/* ---- Copies ---- */

bool dv_buffer_is_whole(const dv_buffer *b, bool columns) {
    int64_t stride = (int64_t)dv_element_size(b->element);
    for (uint32_t i = 0; i < b->dimensions; i++) {
        const dv_axis *axis = &b->axes[columns ? i : b->dimensions - 1 - i];
        if (axis->count > 1 && axis->stride != stride) return false;
        stride *= axis->count;
    }
    return true;
}

/* Element by element; the last index is the fastest. */
static void gather(const dv_buffer *b, char *to, int64_t count) {
    size_t size = dv_element_size(b->element);
    int64_t index[DV_MOST_AXES] = {0};
    const char *from = b->data;
    while (count-- > 0) {
        memcpy(to, from, size);
        to += size;
        for (uint32_t i = b->dimensions; i-- > 0;) {
            from += b->axes[i].stride;
            if (++index[i] < b->axes[i].count) break;
            from -= b->axes[i].count * b->axes[i].stride;
            index[i] = 0;
        }
    }
}

dv_value dv_buffer_copy(dv_vm *vm, const dv_buffer *b, bool columns) {
    const int64_t count = count_elements(b, DV_MOST_AXES);
    int64_t size;
    if (__builtin_mul_overflow(count, (int64_t)dv_element_size(b->element), &size) ||
        size > DV_STR_LENGTH_MAX)
        return dv_raise_memory(vm);
    if (dv_buffer_is_whole(b, columns)) return dv_bytes_new(vm, b->data, size);
    dv_str *s = dv_bytes_alloc(vm, size);
    if (!s) return DV_EMPTY;
    dv_buffer turned = *b;
    for (uint32_t i = 0; columns && i < b->dimensions; i++)
        turned.axes[i] = b->axes[b->dimensions - 1 - i];
    gather(&turned, s->data, count);
    return dv_object_value(s);
}

dv_value dv_buffer_bytes(dv_vm *vm, dv_value v) {
    dv_buffer b;
    int64_t count;
    return copy_buffer(vm, v, &b, &count) ? dv_buffer_copy(vm, &b, false) : DV_EMPTY;
}

bool dv_view_room(dv_vm *vm, dv_value v, const char *function, dv_view *view, int64_t *size) {
    if (dv_view_get(vm, v, true, view)) {
        const dv_buffer *b = &view->buffer;
        bool one_by_one = dv_buffer_is_whole(b, false);
        *size = (int64_t)dv_element_size(b->element);
        for (uint32_t i = 0; i < b->dimensions; i++)
            one_by_one &= !__builtin_mul_overflow(*size, b->axes[i].count, size);
        if (one_by_one) return true;
        dv_view_release(vm, view);
    } else if (!dv_error_is(vm, DV_E_TYPE_ERROR) && !dv_error_is(vm, DV_E_BUFFER_ERROR)) {
        return false;
    }
    dv_error_clear(vm);
    char what[32];
    snprintf(what, sizeof what, "%s() argument", function);
    dv_arguments_refuse(vm, what, "read-write bytes-like object", v);
    return false;
}

dv_value dv_view_fill(dv_vm *vm, dv_view *view, dv_value bytes) {
    int64_t length = dv_is_empty(bytes) ? 0 : dv_as_str(bytes)->length;
    if (length) memcpy(view->buffer.data, dv_as_str(bytes)->data, (size_t)length);
    dv_view_release(vm, view);
    dv_release(vm, bytes);
    return dv_is_empty(bytes) ? DV_EMPTY : dv_int(length);
}
