/* bytes.c: the type bytes, and what bytearray shares with it but for the methods. */
#include "types/binary/bytes.h"

#include <stdio.h>
#include <string.h>

#include "core/upcall.h"
#include "types/callable/arguments.h"
#include "types/binary/array.h"
#include "types/binary/memoryview.h"
#include "types/binary/buffer.h"
#include "types/text/format.h"
#include "types/class/instance.h"
#include "types/number/int.h"
#include "types/sequence/iterator.h"
#include "types/number/range.h"
#include "types/sequence/sequence.h"
#include "types/text/str_search.h"
#include "types/text/str_text.h"
#include "types/class/subclass.h"

/* ---- Making ------------------------------------------------------------------------------------
 */

dv_str *dv_bytes_alloc(dv_vm *vm, int64_t length) {
    dv_str *s = dv_str_alloc(vm, length, 1);
    if (s) s->header.shape = DV_T_BYTES;
    return s;
}

dv_value dv_bytes_new(dv_vm *vm, const char *data, int64_t length) {
    dv_str *s = dv_bytes_alloc(vm, length);
    if (!s) return DV_EMPTY;
    if (length > 0) memcpy(s->data, data, (size_t)length);
    return dv_object_value(s);
}

dv_value dv_bytes_finish(dv_builder *b) {
    if (b->failed) return DV_EMPTY;
    if (b->length <= 1) { /* the str would be one that others share */
        dv_value bytes = dv_bytes_new(b->vm, b->data, b->length);
        dv_builder_discard(b);
        return bytes;
    }
    dv_value bytes = dv_builder_finish(b);
    if (!dv_is_empty(bytes)) dv_as_object(bytes)->shape = DV_T_BYTES;
    return bytes;
}

dv_value dv_bytes_slice(dv_vm *vm, dv_value bytes, int64_t start, int64_t stop) {
    const dv_str *s = dv_as_str(bytes);
    if (start == 0 && stop == s->length) return dv_plain(vm, bytes);
    return dv_bytes_new(vm, s->data + start, stop > start ? stop - start : 0);
}

static bool is_exported(dv_value v) {
    return dv_is_bytearray(v) && ((const dv_bytearray *)dv_as_object(v))->exports;
}

dv_value dv_bytes_shared(dv_vm *vm, dv_value v) {
    if (DV_LIKELY(!is_exported(v))) return dv_plain(vm, dv_bytes_of(v));
    return dv_bytes_new(vm, dv_as_bytes(v)->data, dv_as_bytes(v)->length);
}

dv_value dv_bytes_part(dv_vm *vm, dv_value v, int64_t start, int64_t stop) {
    if (DV_LIKELY(!is_exported(v))) return dv_bytes_slice(vm, dv_bytes_of(v), start, stop);
    return dv_bytes_new(vm, dv_as_bytes(v)->data + start, stop > start ? stop - start : 0);
}

dv_value dv_bytearray_take(dv_vm *vm, dv_value bytes) {
    if (dv_is_empty(bytes)) return DV_EMPTY;
    dv_bytearray *array = dv_object_new(vm, sizeof(dv_bytearray), DV_T_BYTEARRAY);
    if (!array) {
        dv_release(vm, bytes);
        return DV_EMPTY;
    }
    array->bytes = bytes;
    array->exports = 0;
    return dv_object_value(array);
}

dv_value dv_bytes_as(dv_vm *vm, dv_value like, dv_value bytes) {
    return dv_is_bytearray(like) ? dv_bytearray_take(vm, bytes) : bytes;
}

dv_value dv_bytes_contents(dv_vm *vm, dv_value v) {
    if (dv_is_bytes_like(v)) return dv_bytes_shared(vm, v);
    if (dv_is_array(v)) return dv_array_bytes(vm, v);
    if (dv_is_memoryview(v) && !dv_memoryview_is_whole(vm, dv_as_memoryview(v))) return DV_EMPTY;
    if (dv_has_buffer(vm, v)) return dv_buffer_bytes(vm, v);
    return dv_raise(vm, DV_E_TYPE_ERROR, "a bytes-like object is required, not '%T'", v);
}

bool dv_byte_of(dv_vm *vm, dv_value v, const char *refusal, uint8_t *out) {
    int64_t i;
    dv_value index = dv_int_index(vm, v);
    if (dv_is_empty(index)) return false;
    bool fits = dv_int_to_int64(index, &i) && i >= 0 && i <= 255;
    dv_release(vm, index);
    if (fits)
        *out = (uint8_t)i;
    else
        dv_raise(vm, DV_E_VALUE_ERROR, "%s", refusal);
    return fits;
}

/* ---- bytes(...) --------------------------------------------------------------------------------
 */

static dv_value from_iterator(dv_vm *vm, dv_value iterator, const char *type) {
    const char *refusal = *type == 'b' && !type[5] ? "bytes must be in range(0, 256)"
                                                   : "byte must be in range(0, 256)";
    dv_builder b;
    dv_builder_init(&b, vm);
    bool good = true;
    while (good) {
        uint8_t byte = 0;
        dv_value item = dv_next(vm, iterator);
        if (dv_is_empty(item)) break;
        good = dv_byte_of(vm, item, refusal, &byte);
        if (good) dv_builder_char(&b, byte);
        good = good && !b.failed;
        dv_release(vm, item);
    }
    if (good && dv_is_empty(vm->error)) return dv_bytes_finish(&b);
    dv_builder_discard(&b);
    return DV_EMPTY;
}

dv_value dv_bytes_from(dv_vm *vm, dv_value v, const char *type) {
    if (strcmp(type, "bytes") == 0 &&
        (dv_has_methods(v) || dv_is_foreign(v) || dv_is_weak_proxy(v))) {
        bool found;
        dv_value made = dv_number_special(vm, v, vm->known.bytes_, &found);
        if (found && (dv_is_empty(made) || dv_is_bytes(made))) return made;
        if (found) {
            dv_raise(vm, DV_E_TYPE_ERROR, "__bytes__ returned non-bytes (type %T)", made);
            dv_release(vm, made);
            return DV_EMPTY;
        }
    }
    if (dv_is_bytes_like(v)) return dv_bytes_shared(vm, v);
    if (dv_is_array(v)) return dv_array_bytes(vm, v);
    if (dv_has_buffer(vm, v)) return dv_buffer_bytes(vm, v);
    dv_value iterator = dv_is_str(v) || dv_is_any_int(v) ? DV_EMPTY : dv_iterate(vm, v);
    if (dv_is_empty(iterator)) {
        if (!dv_is_empty(vm->error) && !dv_error_is(vm, DV_E_TYPE_ERROR)) return DV_EMPTY;
        dv_error_clear(vm);
        return dv_raise(vm, DV_E_TYPE_ERROR, "cannot convert '%T' object to %s", v, type);
    }
    bool asked = strcmp(type, "bytes") != 0 || dv_ask_length(vm, v);
    dv_value bytes = asked ? from_iterator(vm, iterator, type) : DV_EMPTY;
    dv_release(vm, iterator);
    return bytes;
}

/* What CPython adds to the length of bytes for their header. */
enum { BYTES_HEADER = 33 };

static dv_value zeros(dv_vm *vm, const char *type, dv_value count) {
    int64_t length;
    dv_value index = dv_int_index(vm, count);
    if (dv_is_empty(index)) return DV_EMPTY;
    bool fits = dv_int_to_int64(index, &length);
    dv_release(vm, index);
    if (!fits)
        return dv_raise(vm, DV_E_OVERFLOW_ERROR, "cannot fit '%T' into an index-sized integer",
                        count);
    if (length < 0) return dv_raise(vm, DV_E_VALUE_ERROR, "negative count");
    if (length > INT64_MAX - BYTES_HEADER && strcmp(type, "bytes") == 0)
        return dv_raise(vm, DV_E_OVERFLOW_ERROR, "byte string is too large");
    dv_str *s = dv_bytes_alloc(vm, length);
    if (!s) return DV_EMPTY;
    memset(s->data, 0, (size_t)length);
    return dv_object_value(s);
}

/* bytes(v) asks for __bytes__ first, which bytes have too; bytearray(v) does not. */
static bool makes_bytes(dv_vm *vm, const char *type, dv_value v) {
    bool may = dv_has_methods(v) || dv_is_foreign(v);
    if (!may || strcmp(type, "bytes") != 0) return false;
    if (dv_is_bytes(v)) return true;
    return dv_has_special(vm, v, vm->known.bytes_) || dv_defines_special(vm, v, vm->known.bytes_);
}

dv_value dv_bytes_build(dv_vm *vm, const char *type, const dv_value *args, uint32_t count,
                        dv_value keywords) {
    static const char *const names[] = {"source", "encoding", "errors"};
    const dv_parameters parameters = {type, names, 3, 3, 0};
    dv_value out[3];
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, out)) return DV_EMPTY;
    for (int i = 1; i < 3; i++) {
        if (dv_is_empty(out[i]) || dv_is_str(out[i])) continue;
        char what[48];
        snprintf(what, sizeof what, "%s() argument '%s'", type, names[i]);
        return dv_arguments_refuse(vm, what, "str", out[i]);
    }
    bool itself = !dv_is_empty(out[0]) && makes_bytes(vm, type, out[0]);
    if (!dv_is_empty(out[0]) && dv_is_str(out[0]) && !(itself && dv_is_empty(out[1]))) {
        if (!dv_is_empty(out[1])) return dv_encode(vm, out[0], out[1], out[2]);
        return dv_raise(vm, DV_E_TYPE_ERROR, "string argument without an encoding");
    }
    if (!dv_is_empty(out[1]) || !dv_is_empty(out[2]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "%s without a string argument",
                        dv_is_empty(out[1]) ? "errors" : "encoding");
    if (dv_is_empty(out[0])) return dv_bytes_new(vm, NULL, 0);
    if (!itself && dv_is_index(vm, out[0])) {
        dv_value result = zeros(vm, type, out[0]);
        if (!dv_is_empty(result) || !dv_error_is(vm, DV_E_TYPE_ERROR)) return result;
        dv_error_clear(vm); /* an __index__ that fails so is as none */
    }
    return dv_bytes_from(vm, out[0], type);
}

static dv_value bytes_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    return dv_bytes_build(vm, "bytes", args, count, keywords);
}

/* ---- Operators ---------------------------------------------------------------------------------
 */

dv_value dv_bytes_repr(dv_vm *vm, dv_value v) {
    const dv_str *s = dv_as_bytes(v);
    bool array = dv_is_bytearray(v); /* it escapes ' within any quotes, in CPython too */
    dv_builder b;
    dv_builder_init(&b, vm);
    bool single = memchr(s->data, '\'', (size_t)s->length) != NULL;
    uint32_t quote = single && !memchr(s->data, '"', (size_t)s->length) ? '"' : '\'';
    dv_builder_char(&b, 'b');
    dv_builder_char(&b, quote);
    for (int64_t i = 0; i < s->length; i++) {
        static const char digits[] = "0123456789abcdef";
        uint32_t c = (uint8_t)s->data[i];
        const char *short_form = c == '\t' ? "\\t" : c == '\n' ? "\\n" : c == '\r' ? "\\r" : NULL;
        if (short_form) {
            dv_builder_text(&b, short_form, 2);
        } else if (c < ' ' || c >= 0x7F) {
            dv_builder_text(&b, "\\x", 2);
            dv_builder_char(&b, (uint8_t)digits[c >> 4]);
            dv_builder_char(&b, (uint8_t)digits[c & 15]);
        } else {
            if (c == quote || c == '\\' || (array && c == '\'')) dv_builder_char(&b, '\\');
            dv_builder_char(&b, c);
        }
    }
    dv_builder_char(&b, quote);
    return dv_builder_finish(&b);
}

static bool bytes_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    *hash = dv_str_hash(vm, self);
    return true;
}

dv_value dv_bytes_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    (void)vm;
    if (!dv_is_bytes_like(a) || !dv_is_bytes_like(b)) return DV_NOTIMPLEMENTED;
    /* bytes do not know bytearrays: whose class may have a method of its own. */
    if (dv_is_bytes(a) && dv_is_bytearray(b) && dv_is_instance(b)) return DV_NOTIMPLEMENTED;
    const dv_str *x = dv_as_bytes(a), *y = dv_as_bytes(b);
    int64_t common = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->data, y->data, (size_t)common);
    if (order == 0) order = x->length < y->length ? -1 : x->length > y->length;
    return dv_bool(dv_int64s_compare(op, order, 0));
}

static dv_value concat(dv_vm *vm, dv_value a, dv_value b) {
    if (!dv_is_bytes_like(b) && dv_lends(vm, b)) {
        dv_value bytes = dv_bytes_contents(vm, b);
        if (dv_is_empty(bytes)) return DV_EMPTY;
        dv_value all = concat(vm, a, bytes);
        dv_release(vm, bytes);
        return all;
    }
    if (!dv_is_bytes_like(b)) return dv_raise(vm, DV_E_TYPE_ERROR, "can't concat %T to %T", b, a);
    const dv_str *x = dv_as_bytes(a), *y = dv_as_bytes(b);
    dv_str *s = dv_bytes_alloc(vm, x->length + y->length);
    if (!s) return DV_EMPTY;
    memcpy(s->data, x->data, (size_t)x->length);
    memcpy(s->data + x->length, y->data, (size_t)y->length);
    return dv_bytes_as(vm, a, dv_object_value(s));
}

static dv_value repeat(dv_vm *vm, dv_value v, int64_t times) {
    const dv_str *from = dv_as_bytes(v);
    int64_t length;
    if (times < 0) times = 0;
    if (times == 1) return dv_bytes_as(vm, v, dv_bytes_shared(vm, v));
    if (__builtin_mul_overflow(from->length, times, &length))
        return dv_is_bytes(v) ? dv_raise(vm, DV_E_OVERFLOW_ERROR, "repeated bytes are too long")
                              : dv_raise_memory(vm);
    dv_str *s = dv_bytes_alloc(vm, length);
    if (!s) return DV_EMPTY;
    if (from->length == 1)
        memset(s->data, from->data[0], (size_t)length);
    else
        for (int64_t at = 0; at < length; at += from->length)
            memcpy(s->data + at, from->data, (size_t)from->length);
    return dv_bytes_as(vm, v, dv_object_value(s));
}

dv_value dv_bytes_binary(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    if (op == DV_BINARY_ADD && dv_is_bytes_like(a)) return concat(vm, a, b);
    if (op == DV_BINARY_MOD && dv_is_bytes_like(a)) {
        dv_value format = dv_retain(dv_bytes_of(a));
        dv_value text = dv_format_percent(vm, format, b);
        dv_release(vm, format);
        return dv_bytes_as(vm, a, text);
    }
    if (op == DV_BINARY_MUL) {
        dv_value sequence;
        int64_t times;
        bool bytes = dv_is_bytes(dv_is_bytes_like(a) ? a : b);
        dv_type_id type = bytes ? DV_T_BYTES : DV_T_BYTEARRAY;
        if (!dv_repeat_operands(vm, type, a, b, &sequence, &times)) return DV_EMPTY;
        return repeat(vm, sequence, times);
    }
    return DV_NOTIMPLEMENTED;
}

int64_t dv_bytes_length(dv_vm *vm, dv_value self) {
    (void)vm;
    return dv_as_bytes(self)->length;
}

int dv_bytes_contains(dv_vm *vm, dv_value self, dv_value item) {
    const dv_str *s = dv_as_bytes(self);
    if (dv_is_index(vm, item)) {
        uint8_t byte;
        bool good = dv_byte_of(vm, item, "byte must be in range(0, 256)", &byte);
        s = dv_as_bytes(self);
        if (good) return memchr(s->data, byte, (size_t)s->length) != NULL;
        if (!dv_is_instance(item) || dv_error_is(vm, DV_E_VALUE_ERROR)) return -1;
        dv_error_clear(vm); /* an __index__ that fails is as none */
    }
    int64_t hit;
    if (dv_is_bytes_like(item))
        return dv_str_seek(vm, s, dv_as_bytes(item), 0, s->length, &hit) ? hit >= 0 : -1;
    dv_value bytes = dv_bytes_contents(vm, item);
    if (dv_is_empty(bytes)) return -1;
    const int found = dv_bytes_contains(vm, self, bytes);
    dv_release(vm, bytes);
    return found;
}

static dv_value slice(dv_vm *vm, dv_value self, dv_value key) {
    int64_t start, stop, step;
    if (!dv_slice_unpack(vm, key, &start, &stop, &step)) return DV_EMPTY;
    const dv_str *from = dv_as_bytes(self);
    int64_t count = dv_slice_adjust(from->length, &start, &stop, step);
    if (count == 0) return dv_bytes_as(vm, self, dv_bytes_new(vm, NULL, 0));
    if (step == 1) return dv_bytes_as(vm, self, dv_bytes_part(vm, self, start, start + count));
    dv_str *s = dv_bytes_alloc(vm, count);
    if (!s) return DV_EMPTY;
    for (int64_t i = 0; i < count; i++) s->data[i] = from->data[start + i * step];
    return dv_bytes_as(vm, self, dv_object_value(s));
}

dv_value dv_bytes_subscript(dv_vm *vm, dv_value self, dv_value key) {
    int64_t index;
    bool array = dv_is_bytearray(self);
    if (dv_is_shape(key, DV_T_SLICE)) return slice(vm, self, key);
    if (!dv_sequence_index(vm, key,
                           array ? "bytearray indices must be integers or slices, not %T"
                                 : "byte indices must be integers or slices, not %T",
                           &index))
        return DV_EMPTY;
    const dv_str *s = dv_as_bytes(self);
    if (index < 0) index += s->length;
    if ((uint64_t)index >= (uint64_t)s->length)
        return dv_raise(vm, DV_E_INDEX_ERROR,
                        array ? "bytearray index out of range" : "index out of range");
    return dv_int((uint8_t)s->data[index]);
}

const dv_type dv_bytes_type = {
    .name = "bytes",
    .id = DV_T_BYTES,
    .release = dv_str_release,
    .repr = dv_bytes_repr,
    .hash = bytes_hash,
    .compare = dv_bytes_compare,
    .binary = dv_bytes_binary,
    .length = dv_bytes_length,
    .get_item = dv_bytes_subscript,
    .contains = dv_bytes_contains,
    .iterate = dv_iterator_new,
    .construct = bytes_construct,
    .adopt = dv_str_adopt,
    .methods = dv_bytes_methods,
};
