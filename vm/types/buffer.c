/* buffer.c: lending typed buffers (buffer.h). */
#include "types/buffer.h"

#include "core/upcall.h"
#include "types/array.h"
#include "types/bytes.h"
#include "types/class.h"

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

/* Copies the descriptor; false: SystemError. */
static bool copy_buffer(dv_vm *vm, dv_value v, dv_buffer *out, int64_t *count) {
    const dv_buffer *b = buffer_in(vm, v);
    uint32_t axes = vm->types[dv_type_of(vm, v)]->buffer_axes;
    *count = count_elements(b, axes);
    if (*count < 0) {
        dv_raise(vm, DV_E_SYSTEM_ERROR, "%T has a malformed buffer", v);
        return false;
    }
    memset(out, 0, sizeof *out);
    memcpy(out, b, offsetof(dv_buffer, axes) + b->dimensions * sizeof *b->axes);
    if (!b->data && !b->dimensions) { /* zeros: nothing, rather than one element */
        out->dimensions = 1;
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

/* ---- Built-in types ---- */

static void be_line(dv_view *view, void *data, uint32_t element, int64_t count, bool read_only) {
    memset(&view->buffer, 0, sizeof view->buffer);
    view->buffer.data = data;
    view->buffer.element = element;
    view->buffer.dimensions = 1;
    view->buffer.read_only = read_only;
    view->buffer.axes[0] = (dv_axis){count, (int64_t)dv_element_size(element)};
}

static uint32_t element_of(const dv_array_kind *kind) {
    if (kind->is_float) return kind->size == 4 ? DV_FLOAT32 : DV_FLOAT64;
    uint32_t unsigned_ = kind->size == 1   ? DV_UINT8
                         : kind->size == 2 ? DV_UINT16
                         : kind->size == 4 ? DV_UINT32
                                           : DV_UINT64;
    return kind->is_signed ? unsigned_ + 1 : unsigned_;
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
        be_line(view, a->data, element_of(a->kind), a->count, false);
        a->exports++;
        return true;
    }
    dv_raise(vm, DV_E_TYPE_ERROR, "a bytes-like object is required, not '%T'", v);
    return false;
}

/* ---- Views ---- */

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

void dv_view_release(dv_vm *vm, dv_view *view) {
    dv_value owner = view->owner;
    view->owner = DV_EMPTY;
    view->buffer.data = NULL;
    if (dv_is_empty(owner)) return;
    if (dv_has_buffer(vm, owner))
        buffer_in(vm, owner)->exports--;
    else if (dv_is_bytearray(owner))
        ((dv_bytearray *)dv_as_object(owner))->exports--;
    else if (dv_is_array(owner))
        dv_as_array(owner)->exports--;
    dv_release(vm, owner);
}

/* ---- Copies ---- */

static bool is_contiguous(const dv_buffer *b) {
    int64_t stride = (int64_t)dv_element_size(b->element);
    for (uint32_t i = b->dimensions; i-- > 0;) {
        if (b->axes[i].count > 1 && b->axes[i].stride != stride) return false;
        stride *= b->axes[i].count;
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

dv_value dv_buffer_bytes(dv_vm *vm, dv_value v) {
    dv_buffer b;
    int64_t count, size;
    if (!copy_buffer(vm, v, &b, &count)) return DV_EMPTY;
    if (__builtin_mul_overflow(count, (int64_t)dv_element_size(b.element), &size) ||
        size > DV_STR_LENGTH_MAX)
        return dv_raise_memory(vm);
    if (is_contiguous(&b)) return dv_bytes_new(vm, b.data, size);
    dv_str *s = dv_bytes_alloc(vm, size);
    if (!s) return DV_EMPTY;
    gather(&b, s->data, count);
    return dv_object_value(s);
}
