/* bytearray.c: the type bytearray: what changes it in place (bytes.h has the rest).
 *
 * Invariant 1: every change goes through `own`, after which the contents have one reference, room
 * enough, and no hash. */
#include <string.h>

#include "core/upcall.h"
#include "core/work.h"
#include "types/binary/buffer.h"
#include "types/binary/array.h"
#include "types/binary/bytes.h"
#include "types/number/float.h"
#include "types/number/complex.h"
#include "types/number/int.h"
#include "types/sequence/iterator.h"
#include "types/sequence/list.h"
#include "types/number/range.h"
#include "types/sequence/sequence.h"

#define OUT_OF_RANGE "byte must be in range(0, 256)"

static dv_bytearray *as_array(dv_value v) { return (dv_bytearray *)dv_as_object(v); }

static void bytearray_release(dv_vm *vm, dv_object *object) {
    dv_release(vm, ((dv_bytearray *)object)->bytes);
    dv_object_free(vm, object, sizeof(dv_bytearray));
}

/* The contents, to be written to, with room for `room` bytes; NULL: raised. */
static dv_str *own(dv_vm *vm, dv_bytearray *array, int64_t room) {
    dv_str *s = dv_as_str(array->bytes);
    bool fits = (int64_t)s->capacity >= room;
    if (fits && (s->header.references == 1 || array->exports)) {
        s->hash = -1;
        return s;
    }
    int64_t needed = room > s->length ? room : s->length;
    dv_str *copy = dv_bytes_alloc(vm, fits ? needed : needed + needed / 8);
    if (!copy) return NULL;
    dv_work_owe(vm, s->length / 32);
    memcpy(copy->data, s->data, (size_t)s->length);
    copy->length = s->length;
    dv_value old = array->bytes;
    array->bytes = dv_object_value(copy);
    dv_release(vm, old);
    return copy;
}

/* May the contents have another length? */
static bool can_resize(dv_vm *vm, dv_value self, int64_t length) {
    if (DV_LIKELY(!as_array(self)->exports) || dv_as_bytes(self)->length == length) return true;
    dv_raise(vm, DV_E_BUFFER_ERROR, "Existing exports of data: object cannot be re-sized");
    return false;
}

char *dv_bytearray_export(dv_vm *vm, dv_value v) {
    dv_str *s = own(vm, as_array(v), 0);
    if (!s) return NULL;
    as_array(v)->exports++;
    return s->data;
}

/* Replaces the bytes [start, stop) by others, which must not lie in the array itself. */
static bool splice(dv_vm *vm, dv_value self, int64_t start, int64_t stop, const char *data,
                   int64_t count) {
    int64_t length = dv_as_bytes(self)->length - (stop - start) + count;
    if (length > DV_STR_LENGTH_MAX) return dv_raise_memory(vm), false;
    if (!can_resize(vm, self, length)) return false;
    dv_str *s = own(vm, as_array(self), length);
    if (!s) return false;
    dv_work_owe(vm, (s->length - stop) / 256);
    memmove(s->data + start + count, s->data + stop, (size_t)(s->length - stop));
    if (count > 0) memcpy(s->data + start, data, (size_t)count);
    s->length = length;
    return true;
}

bool dv_bytearray_write(dv_vm *vm, dv_value self, int64_t start, const char *data, int64_t count) {
    return splice(vm, self, start, start + count, data, count);
}

static bool append_bytes(dv_vm *vm, dv_value self, dv_value bytes) {
    int64_t length = dv_as_bytes(self)->length;
    return splice(vm, self, length, length, dv_as_str(bytes)->data, dv_as_str(bytes)->length);
}

/* ---- Items -------------------------------------------------------------------------------------
 */

static bool assign_stepped(dv_vm *vm, dv_value self, int64_t start, int64_t step, int64_t count,
                           dv_value bytes) {
    const dv_str *from = dv_as_str(bytes);
    if (from->length != count) {
        dv_raise(vm, DV_E_VALUE_ERROR,
                 "attempt to assign bytes of size %lld to extended slice of size %lld",
                 (long long)from->length, (long long)count);
        return false;
    }
    dv_str *s = own(vm, as_array(self), 0);
    for (int64_t i = 0; s && i < count; i++) s->data[start + i * step] = from->data[i];
    return s != NULL;
}

static bool delete_stepped(dv_vm *vm, dv_value self, int64_t start, int64_t step, int64_t count) {
    if (!can_resize(vm, self, dv_as_bytes(self)->length - count)) return false;
    dv_str *s = own(vm, as_array(self), 0);
    if (!s) return false;
    if (step < 0) {
        start += step * (count - 1);
        step = -step;
    }
    int64_t to = start;
    for (int64_t i = start; i < s->length; i++) {
        bool gone = (i - start) % step == 0 && (i - start) / step < count;
        if (!gone) s->data[to++] = s->data[i];
    }
    s->length -= count;
    return true;
}

static bool set_slice(dv_vm *vm, dv_value self, dv_value slice, dv_value value) {
    int64_t start, stop, step;
    if (!dv_slice_unpack(vm, slice, &start, &stop, &step)) return false;
    dv_value bytes = DV_EMPTY;
    if (!dv_is_empty(value)) {
        bool other = dv_same(value, self) || !dv_is_bytearray(value);
        int number = other ? dv_is_number(vm, value) : 0;
        if (number < 0) return false;
        if (number || dv_is_str(value)) {
            dv_raise(vm, DV_E_TYPE_ERROR,
                     "can assign only bytes, buffers, or iterables of ints in range(0, 256)");
            return false;
        }
        bytes = dv_bytes_from(vm, value, "bytearray");
        if (dv_is_empty(bytes)) return false;
    }
    int64_t count = dv_slice_adjust(dv_as_bytes(self)->length, &start, &stop, step);
    bool good = true;
    if (step == 1)
        good = splice(vm, self, start, start + count,
                      dv_is_empty(bytes) ? NULL : dv_as_str(bytes)->data,
                      dv_is_empty(bytes) ? 0 : dv_as_str(bytes)->length);
    else if (!dv_is_empty(bytes) &&
             dv_as_str(bytes)->length > 0) /* nothing deletes, as in CPython */
        good = assign_stepped(vm, self, start, step, count, bytes);
    else if (count > 0)
        good = delete_stepped(vm, self, start, step, count);
    dv_release(vm, bytes);
    return good;
}

static bool bytearray_set_item(dv_vm *vm, dv_value self, dv_value key, dv_value value) {
    int64_t index;
    uint8_t byte = 0;
    if (dv_is_shape(key, DV_T_SLICE)) return set_slice(vm, self, key, value);
    if (!dv_sequence_index(vm, key, "bytearray indices must be integers or slices, not %T", &index))
        return false;
    /* The value first: it may run dl code that changes the length. */
    bool deletes = dv_is_empty(value);
    if (!deletes && !dv_byte_of(vm, value, OUT_OF_RANGE, &byte)) return false;
    if (index < 0) index += dv_as_bytes(self)->length;
    if ((uint64_t)index >= (uint64_t)dv_as_bytes(self)->length) {
        dv_raise(vm, DV_E_INDEX_ERROR, "bytearray index out of range");
        return false;
    }
    if (deletes) return splice(vm, self, index, index + 1, NULL, 0);
    dv_str *s = own(vm, as_array(self), 0);
    if (s) s->data[index] = (char)byte;
    return s != NULL;
}

/* ---- Operators ---------------------------------------------------------------------------------
 */

/* Takes other contents. */
static bool replace(dv_vm *vm, dv_value self, dv_value bytes) {
    dv_bytearray *array = as_array(self);
    const dv_str *from = dv_as_str(bytes);
    dv_value old = bytes;
    bool good = can_resize(vm, self, from->length);
    if (good && array->exports) {
        memcpy(dv_as_str(array->bytes)->data, from->data, (size_t)from->length);
    } else if (good) {
        old = array->bytes;
        array->bytes = bytes;
    }
    dv_release(vm, old);
    return good;
}

static dv_value bytearray_inplace(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    if (!dv_is_bytearray(a) || (op != DV_BINARY_ADD && op != DV_BINARY_MUL))
        return DV_NOTIMPLEMENTED;
    if (op == DV_BINARY_ADD) {
        if (!dv_lends(vm, b)) return dv_raise(vm, DV_E_TYPE_ERROR, "can't concat %T to %T", b, a);
        if (dv_same(a, b) &&
            dv_as_bytes(a)->length > 0) /* CPython's view of b forbids the growth */
            return dv_raise(vm, DV_E_BUFFER_ERROR,
                            "Existing exports of data: object cannot be re-sized");
        dv_value bytes = dv_bytes_contents(vm, b);
        bool good = !dv_is_empty(bytes) && append_bytes(vm, a, bytes);
        dv_release(vm, bytes);
        return good ? dv_retain(a) : DV_EMPTY;
    }
    dv_value product = dv_bytes_binary(vm, op, a, b);
    if (dv_is_empty(product)) return DV_EMPTY;
    bool good = replace(vm, a, dv_retain(dv_bytes_of(product)));
    dv_release(vm, product);
    return good ? dv_retain(a) : DV_EMPTY;
}

static dv_value bytearray_repr(dv_vm *vm, dv_value self) {
    dv_value text = dv_bytes_repr(vm, self);
    if (dv_is_empty(text)) return DV_EMPTY;
    dv_value result = dv_str_printf(vm, "%T(%S)", self, text);
    dv_release(vm, text);
    return result;
}

static bool bytearray_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    (void)hash;
    dv_raise(vm, DV_E_TYPE_ERROR, "unhashable type: '%T'", self);
    return false;
}

static dv_value bytearray_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                    dv_value keywords) {
    return dv_bytearray_take(vm, dv_bytes_build(vm, "bytearray", args, count, keywords));
}

static dv_value bytearray_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    dv_bytearray *array = dv_subclass_alloc(vm, class_, sizeof(dv_bytearray));
    if (!array) return DV_EMPTY;
    array->bytes = dv_retain(dv_bytes_of(exact));
    array->exports = 0;
    return dv_object_value(array);
}

static bool bytearray_initialise(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                                 dv_value keywords) {
    if (!can_resize(vm, self, 0)) return false; /* CPython empties it first */
    dv_value bytes = dv_bytes_build(vm, "bytearray", args, count, keywords);
    if (dv_is_empty(bytes)) return false;
    return replace(vm, self, bytes);
}

/* ---- Methods -----------------------------------------------------------------------------------
 */

dv_value dv_bytearray_append(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    uint8_t byte;
    if (!dv_byte_of(vm, args[1], OUT_OF_RANGE, &byte)) return DV_EMPTY;
    int64_t length = dv_as_bytes(args[0])->length;
    return splice(vm, args[0], length, length, (const char *)&byte, 1) ? DV_NONE : DV_EMPTY;
}

dv_value dv_bytearray_clear(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return splice(vm, args[0], 0, dv_as_bytes(args[0])->length, NULL, 0) ? DV_NONE : DV_EMPTY;
}

dv_value dv_bytearray_copy(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_bytearray_take(vm, dv_bytes_shared(vm, args[0]));
}

dv_value dv_bytearray_extend(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value bytes;
    if (!dv_lends(vm, args[1])) {
        dv_value iterator = dv_iterate(vm, args[1]);
        if (dv_is_empty(iterator)) {
            if (!dv_error_is(vm, DV_E_TYPE_ERROR)) return DV_EMPTY;
            dv_error_clear(vm);
            return dv_raise(vm, DV_E_TYPE_ERROR, "can't extend bytearray with %T", args[1]);
        }
        bytes = dv_ask_length(vm, args[1]) ? dv_bytes_from(vm, iterator, "bytearray") : DV_EMPTY;
        dv_release(vm, iterator);
    } else {
        bytes = dv_bytes_contents(vm, args[1]);
    }
    bool good = !dv_is_empty(bytes) && append_bytes(vm, args[0], bytes);
    dv_release(vm, bytes);
    return good ? DV_NONE : DV_EMPTY;
}

dv_value dv_bytearray_insert(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t index;
    uint8_t byte;
    if (!dv_size_argument(vm, args[1], &index) || !dv_byte_of(vm, args[2], OUT_OF_RANGE, &byte))
        return DV_EMPTY;
    int64_t length = dv_as_bytes(args[0])->length;
    if (index < 0) index = index < -length ? 0 : index + length;
    if (index > length) index = length;
    return splice(vm, args[0], index, index, (const char *)&byte, 1) ? DV_NONE : DV_EMPTY;
}

dv_value dv_bytearray_pop(dv_vm *vm, const dv_value *args, uint32_t count) {
    int64_t index = -1;
    if (count > 1 && !dv_size_argument(vm, args[1], &index)) return DV_EMPTY;
    const dv_str *s = dv_as_bytes(args[0]);
    if (s->length == 0) return dv_raise(vm, DV_E_INDEX_ERROR, "pop from empty bytearray");
    if (index < 0) index += s->length;
    if ((uint64_t)index >= (uint64_t)s->length)
        return dv_raise(vm, DV_E_INDEX_ERROR, "pop index out of range");
    dv_value byte = dv_int((uint8_t)s->data[index]);
    return splice(vm, args[0], index, index + 1, NULL, 0) ? byte : DV_EMPTY;
}

dv_value dv_bytearray_remove(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    uint8_t byte;
    if (!dv_byte_of(vm, args[1], OUT_OF_RANGE, &byte)) return DV_EMPTY;
    const dv_str *s = dv_as_bytes(args[0]);
    const char *hit = memchr(s->data, byte, (size_t)s->length);
    if (!hit) return dv_raise(vm, DV_E_VALUE_ERROR, "value not found in bytearray");
    int64_t index = hit - s->data;
    return splice(vm, args[0], index, index + 1, NULL, 0) ? DV_NONE : DV_EMPTY;
}

dv_value dv_bytearray_reverse(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_str *s = own(vm, as_array(args[0]), 0);
    if (!s) return DV_EMPTY;
    dv_work_owe(vm, s->length / 16);
    for (int64_t i = 0, k = s->length - 1; i < k; i++, k--) {
        char c = s->data[i];
        s->data[i] = s->data[k];
        s->data[k] = c;
    }
    return DV_NONE;
}

const dv_type dv_bytearray_type = {
    .name = "bytearray",
    .id = DV_T_BYTEARRAY,
    .release = bytearray_release,
    .repr = bytearray_repr,
    .hash = bytearray_hash,
    .compare = dv_bytes_compare,
    .binary = dv_bytes_binary,
    .inplace = bytearray_inplace,
    .length = dv_bytes_length,
    .get_item = dv_bytes_subscript,
    .set_item = bytearray_set_item,
    .contains = dv_bytes_contains,
    .iterate = dv_iterator_new,
    .construct = bytearray_construct,
    .adopt = bytearray_adopt,
    .initialise = bytearray_initialise,
    .methods = dv_bytearray_methods,
};
