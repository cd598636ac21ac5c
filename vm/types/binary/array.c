/* array.c: the type array.array: elements, construction, subscripts, operators (array.h). */
#include "types/binary/array.h"

#include "core/upcall.h"
#include "core/work.h"
#include "types/callable/arguments.h"
#include "types/binary/bytes.h"
#include "types/class/class.h"
#include "types/number/float.h"
#include "types/number/int_arith.h"
#include "types/sequence/iterator.h"
#include "types/sequence/list.h"
#include "types/number/range.h"
#include "types/sequence/sequence.h"
#include "types/sequence/tuple.h"

#define COUNT_MAX ((int64_t)1 << 44)

static const dv_array_kind kinds[] = {
    {'b', 1, true, false, DV_INT8},      {'B', 1, false, false, DV_UINT8},
    {'u', 4, false, false, DV_ELEMENTS}, {'h', 2, true, false, DV_INT16},
    {'H', 2, false, false, DV_UINT16},   {'i', 4, true, false, DV_INT32},
    {'I', 4, false, false, DV_UINT32},   {'l', 8, true, false, DV_INT64},
    {'L', 8, false, false, DV_UINT64},   {'q', 8, true, false, DV_INT64},
    {'Q', 8, false, false, DV_UINT64},   {'f', 4, true, true, DV_FLOAT32},
    {'d', 8, true, true, DV_FLOAT64}};

const dv_array_kind *dv_array_kind_of(uint32_t code) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((uint32_t)kinds[i].code == code) return &kinds[i];
    return NULL;
}

const dv_array_kind *dv_array_kind_with(uint32_t element) {
    static const char codes[DV_ELEMENTS] = {'B', 'b', 'H', 'h', 'I', 'i', 'Q', 'q', 'f', 'd'};
    return dv_array_kind_of((uint32_t)codes[element]);
}

/* ---- Storage ----------------------------------------------------------------------------------*/

static void array_release(dv_vm *vm, dv_object *object) {
    dv_array *a = (dv_array *)object;
    if (a->data) dv_heap_free(&vm->heap, a->data, (size_t)a->capacity * a->kind->size);
    dv_object_free(vm, object, sizeof *a);
}

static bool reserve(dv_vm *vm, dv_array *a, int64_t count) {
    if (count <= a->capacity) return true;
    if (count > COUNT_MAX) return dv_raise_memory(vm), false;
    int64_t capacity = a->capacity ? count + (count >> 3) + 6 : count;
    size_t size = a->kind->size;
    char *data =
        dv_heap_resize(&vm->heap, a->data, (size_t)a->capacity * size, (size_t)capacity * size);
    if (!data) return dv_raise_memory(vm), false;
    a->data = data;
    a->capacity = capacity;
    return true;
}

dv_value dv_array_new(dv_vm *vm, const dv_array_kind *kind, int64_t count) {
    dv_array *a = dv_object_new(vm, sizeof *a, DV_T_ARRAY);
    if (!a) return DV_EMPTY;
    a->data = NULL;
    a->count = a->capacity = 0;
    a->kind = kind;
    a->exports = 0;
    a->element = kind->element;
    if (reserve(vm, a, count)) {
        if (count) memset(a->data, 0, (size_t)count * kind->size);
        a->count = count;
        return dv_object_value(a);
    }
    dv_release_object(vm, &a->header);
    return DV_EMPTY;
}

/* May the array have another length? */
static bool can_resize(dv_vm *vm, const dv_array *a, int64_t count) {
    if (DV_LIKELY(!a->exports) || a->count == count) return true;
    dv_raise(vm, DV_E_BUFFER_ERROR, "cannot resize an array that is exporting buffers");
    return false;
}

bool dv_array_splice(dv_vm *vm, dv_array *a, int64_t start, int64_t stop, const char *data,
                     int64_t count) {
    int64_t length = a->count - (stop - start) + count;
    size_t size = a->kind->size;
    if (!can_resize(vm, a, length) || !reserve(vm, a, length)) return false;
    if (a->count > stop)
        memmove(a->data + (size_t)(start + count) * size, a->data + (size_t)stop * size,
                (size_t)(a->count - stop) * size);
    if (count && data) memcpy(a->data + (size_t)start * size, data, (size_t)count * size);
    a->count = length;
    return true;
}

/* ---- Elements ---------------------------------------------------------------------------------*/

static void *place(const dv_array *a, int64_t i) { return a->data + (size_t)i * a->kind->size; }

/* What bytes have become may be none. */
static dv_value load_character(dv_vm *vm, uint32_t c) {
    if (c <= 0x10FFFF) return dv_str_char(vm, c);
    return dv_raise(vm, DV_E_VALUE_ERROR, "chr() arg not in range(0x110000)");
}

dv_value dv_array_text(dv_vm *vm, const dv_array *a) {
    const uint32_t *points = (const uint32_t *)(const void *)a->data;
    for (int64_t i = 0; i < a->count; i++)
        if (points[i] > 0x10FFFF)
            return dv_raise(vm, DV_E_VALUE_ERROR,
                            "character U+%llx is not in range [U+0000; U+10ffff]",
                            (unsigned long long)points[i]);
    return dv_str_points(vm, a->data, 4, a->count);
}

dv_value dv_array_load(dv_vm *vm, const dv_array_kind *kind, const void *p) {
    switch (kind->code) {
    case 'd': return dv_float_foreign(*(const double *)p);
    case 'f': return dv_float_foreign((double)*(const float *)p);
    case 'i': return dv_int(*(const int32_t *)p);
    case 'b': return dv_int(*(const int8_t *)p);
    case 'B': return dv_int(*(const uint8_t *)p);
    case 'h': return dv_int(*(const int16_t *)p);
    case 'H': return dv_int(*(const uint16_t *)p);
    case 'I': return dv_int(*(const uint32_t *)p);
    case 'l':
    case 'q': return dv_int_from_int64(vm, *(const int64_t *)p);
    case 'u': return load_character(vm, *(const uint32_t *)p);
    default: return dv_int_from_uint64(vm, *(const uint64_t *)p);
    }
}

dv_value dv_array_get(dv_vm *vm, const dv_array *a, int64_t i) {
    return dv_array_load(vm, a->kind, place(a, i));
}

static bool raise_overflow(dv_vm *vm, const char *message) {
    dv_raise(vm, DV_E_OVERFLOW_ERROR, "%s", message);
    return false;
}

/* The ranges of C types, with the names that messages have for them. */
typedef struct bounds {
    int64_t low, high;
    const char *name;
} bounds;

static bool within(dv_vm *vm, const bounds *b, int64_t i) {
    char message[80];
    if (i >= b->low && i <= b->high) return true;
    strcpy(message, b->name);
    strcat(message, i < b->low ? " is less than minimum" : " is greater than maximum");
    return raise_overflow(vm, message);
}

/* Small kinds go through a wider C type first, as in CPython. */
static bool check_small(dv_vm *vm, char code, int64_t i) {
    static const bounds int16 = {INT16_MIN, INT16_MAX, "signed short integer"},
                        int32 = {INT32_MIN, INT32_MAX, "signed integer"},
                        int8 = {INT8_MIN, INT8_MAX, "signed char"},
                        uint8 = {0, UINT8_MAX, "unsigned byte integer"},
                        uint16 = {0, UINT16_MAX, "unsigned short"};
    switch (code) {
    case 'b': return within(vm, &int16, i) && within(vm, &int8, i);
    case 'B': return within(vm, &uint8, i);
    case 'h': return within(vm, &int16, i);
    case 'H': return within(vm, &int32, i) && within(vm, &uint16, i);
    default: return within(vm, &int32, i);
    }
}

/* v as an unsigned element; v is an int. */
static bool take_unsigned(dv_vm *vm, char code, dv_value v, uint64_t *out) {
    bool quad = code == 'Q';
    if (dv_int_sign(v) < 0)
        return raise_overflow(vm, quad ? "can't convert negative int to unsigned"
                                       : "can't convert negative value to unsigned int");
    if (dv_int_bit_length(v) > 64)
        return raise_overflow(vm, quad ? "int too big to convert"
                                       : "Python int too large to convert to C unsigned long");
    int64_t i;
    if (dv_int_to_int64(v, &i)) {
        *out = (uint64_t)i;
    } else {
        dv_int_view view;
        dv_int_look(v, &view);
        *out = view.limbs[0];
    }
    if (code == 'I' && *out > UINT32_MAX)
        return raise_overflow(vm, "unsigned int is greater than maximum");
    return true;
}

static bool take_whole(dv_vm *vm, char code, dv_value v, uint64_t *out) {
    dv_value whole = dv_int_index(vm, v);
    if (dv_is_empty(whole)) return false;
    int64_t i = 0;
    bool good;
    if (code == 'I' || code == 'L' || code == 'Q') {
        good = take_unsigned(vm, code, whole, out);
    } else {
        good = dv_int_to_int64(whole, &i);
        if (!good)
            raise_overflow(vm, code == 'q' ? "int too big to convert"
                                           : "Python int too large to convert to C long");
        else if (code != 'l' && code != 'q')
            good = check_small(vm, code, i);
        *out = (uint64_t)i;
    }
    dv_release(vm, whole);
    return good;
}

bool dv_array_encode(dv_vm *vm, const dv_array_kind *kind, dv_value v, void *out) {
    double d;
    uint64_t i;
    if (kind->is_float) {
        if (!dv_as_double(vm, v, &d)) return false;
        float f = (float)d;
        if (kind->size == 4)
            memcpy(out, &f, sizeof f);
        else
            memcpy(out, &d, sizeof d);
        return true;
    }
    if (kind->code == 'u') {
        if (!dv_is_str(v) || dv_as_str(v)->length != 1) {
            dv_raise(vm, DV_E_TYPE_ERROR, "array item must be unicode character");
            return false;
        }
        uint32_t c = dv_str_at(dv_as_str(v), 0);
        memcpy(out, &c, sizeof c);
        return true;
    }
    if (!take_whole(vm, kind->code, v, &i)) return false;
    memcpy(out, &i, sizeof i); /* little endian: the low bytes come first */
    return true;
}

bool dv_array_put(dv_vm *vm, dv_array *a, int64_t i, dv_value v) {
    char bytes[8];
    if (DV_LIKELY(dv_is_float(v) && a->kind->code == 'd')) {
        *(double *)place(a, i) = dv_as_float(v);
        return true;
    }
    if (!dv_array_encode(vm, a->kind, v, bytes)) return false;
    if (i < a->count) {
        memcpy(place(a, i), bytes, a->kind->size);
        return true;
    }
    dv_raise(vm, DV_E_INDEX_ERROR, "array assignment index out of range");
    return false;
}

bool dv_array_append(dv_vm *vm, dv_value array, dv_value v) {
    char bytes[8];
    dv_array *a = dv_as_array(array);
    return dv_array_encode(vm, a->kind, v, bytes) &&
           dv_array_splice(vm, a, a->count, a->count, bytes, 1);
}

/* ---- Construction -----------------------------------------------------------------------------*/

static bool extend_by_iterating(dv_vm *vm, dv_value array, dv_value iterable) {
    dv_value iterator = dv_iterate(vm, iterable), item;
    if (dv_is_empty(iterator)) return false;
    bool good = true;
    while (good && !dv_is_empty(item = dv_next(vm, iterator))) {
        good = dv_array_append(vm, array, item);
        dv_release(vm, item);
    }
    dv_release(vm, iterator);
    return good && dv_is_empty(vm->error);
}

bool dv_array_extend(dv_vm *vm, dv_value array, dv_value with) {
    dv_array *a = dv_as_array(array);
    if (!dv_is_array(with)) return extend_by_iterating(vm, array, with);
    if (dv_as_array(with)->kind != a->kind) {
        dv_raise(vm, DV_E_TYPE_ERROR, "can only extend with array of same kind");
        return false;
    }
    int64_t count = dv_as_array(with)->count, end = a->count;
    if (!can_resize(vm, a, end + count) || !reserve(vm, a, end + count)) return false;
    if (count) memcpy(place(a, end), dv_as_array(with)->data, (size_t)count * a->kind->size);
    a->count = end + count;
    return true;
}

bool dv_array_append_bytes(dv_vm *vm, dv_array *a, const char *bytes, int64_t size) {
    if (size % a->kind->size) {
        dv_raise(vm, DV_E_VALUE_ERROR, "bytes length not a multiple of item size");
        return false;
    }
    return dv_array_splice(vm, a, a->count, a->count, bytes, size / a->kind->size);
}

static bool fill(dv_vm *vm, dv_value array, dv_value initial) {
    dv_array *a = dv_as_array(array);
    if (dv_is_bytes_like(initial)) {
        const dv_str *bytes = dv_as_bytes(initial);
        return dv_array_append_bytes(vm, a, bytes->data, bytes->length);
    }
    if (dv_is_list(initial) || dv_is_tuple(initial)) {
        int64_t count;
        dv_items_of(initial, &count);
        if (!reserve(vm, a, count)) return false;
    }
    if (dv_is_array(initial) && dv_as_array(initial)->kind != a->kind)
        return extend_by_iterating(vm, array, initial);
    return dv_array_extend(vm, array, initial);
}

static dv_value array_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    if (!dv_arguments_no_keywords(vm, "array.array", keywords)) return DV_EMPTY;
    if (count < 1 || count > 2)
        return dv_raise(vm, DV_E_TYPE_ERROR, "array() takes at %s (%d given)",
                        count ? "most 2 arguments" : "least 1 argument", (int)count);
    if (!dv_is_str(args[0]) || dv_as_str(args[0])->length != 1)
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "array() argument 1 must be a unicode character, not %T", args[0]);
    const dv_array_kind *kind = dv_array_kind_of(dv_str_at(dv_as_str(args[0]), 0));
    if (count > 1 && (!kind || kind->code != 'u') && dv_is_str(args[1]))
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "cannot use a str to initialize an array with typecode '%S'", args[0]);
    if (count > 1 && (!kind || kind->code != 'u') && dv_is_array(args[1]) &&
        dv_as_array(args[1])->kind->code == 'u')
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "cannot use a unicode array to initialize an array with typecode '%S'",
                        args[0]);
    if (!kind)
        return dv_raise(vm, DV_E_VALUE_ERROR,
                        "bad typecode (must be b, B, u, h, H, i, I, l, L, q, Q, f or d)");
    dv_value array = dv_array_new(vm, kind, 0);
    if (dv_is_empty(array) || count == 1 || fill(vm, array, args[1])) return array;
    dv_release(vm, array);
    return DV_EMPTY;
}

/* The instance takes over the elements. */
static dv_value array_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    dv_array *a = dv_subclass_alloc(vm, class_, sizeof *a), *from = dv_as_array(exact);
    if (!a) return DV_EMPTY;
    a->data = from->data;
    a->count = from->count;
    a->capacity = from->capacity;
    a->kind = from->kind;
    a->exports = 0;
    a->element = from->element;
    from->data = NULL;
    from->count = from->capacity = 0;
    return dv_object_value(a);
}

/* ---- Subscripts -------------------------------------------------------------------------------*/

static dv_value get_slice(dv_vm *vm, const dv_array *a, dv_value slice) {
    int64_t start, stop, step, count;
    if (!dv_slice_indices(vm, slice, a->count, &start, &stop, &step, &count)) return DV_EMPTY;
    dv_value result = dv_array_new(vm, a->kind, count);
    if (dv_is_empty(result) || count == 0) return result;
    dv_array *r = dv_as_array(result);
    if (step == 1) {
        memcpy(r->data, place(a, start), (size_t)count * a->kind->size);
        return result;
    }
    for (int64_t i = 0; i < count; i++)
        memcpy(place(r, i), place(a, start + i * step), a->kind->size);
    return result;
}

static dv_value array_get_item(dv_vm *vm, dv_value self, dv_value key) {
    int64_t i;
    const dv_array *a = dv_as_array(self);
    if (dv_is_shape(key, DV_T_SLICE)) return get_slice(vm, a, key);
    if (!dv_sequence_index(vm, key, "array indices must be integers", &i)) return DV_EMPTY;
    if (i < 0) i += a->count;
    if ((uint64_t)i >= (uint64_t)a->count)
        return dv_raise(vm, DV_E_INDEX_ERROR, "array index out of range");
    return dv_array_get(vm, a, i);
}

static void delete_stepped(dv_array *a, int64_t start, int64_t step, int64_t count) {
    if (count == 0) return;
    if (step < 0) {
        start += step * (count - 1);
        step = -step;
    }
    int64_t to = start;
    for (int64_t i = start; i < a->count; i++) {
        bool gone = (i - start) % step == 0 && (i - start) / step < count;
        if (!gone) memmove(place(a, to++), place(a, i), a->kind->size);
    }
    a->count -= count;
}

static bool assign_slice(dv_vm *vm, dv_array *a, dv_value slice, const dv_array *from) {
    int64_t start, stop, step, count;
    if (!dv_slice_indices(vm, slice, a->count, &start, &stop, &step, &count)) return false;
    if (step == 1)
        return dv_array_splice(vm, a, start, start + count, from ? from->data : NULL,
                               from ? from->count : 0);
    if (!from) {
        delete_stepped(a, start, step, count);
        return true;
    }
    if (from->count != count) {
        dv_raise(vm, DV_E_VALUE_ERROR,
                 "attempt to assign array of size %lld to extended slice of size %lld",
                 (long long)from->count, (long long)count);
        return false;
    }
    for (int64_t i = 0; i < count; i++)
        memcpy(place(a, start + i * step), place(from, i), a->kind->size);
    return true;
}

static bool set_slice(dv_vm *vm, dv_value self, dv_value slice, dv_value value) {
    dv_array *a = dv_as_array(self);
    if (dv_is_empty(value)) return assign_slice(vm, a, slice, NULL);
    if (!dv_is_array(value)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "can only assign array (not \"%T\") to array slice", value);
        return false;
    }
    if (dv_as_array(value)->kind != a->kind) {
        dv_raise(vm, DV_E_TYPE_ERROR, "bad argument type for built-in operation");
        return false;
    }
    if (!dv_same(self, value)) return assign_slice(vm, a, slice, dv_as_array(value));
    dv_value copy = dv_array_new(vm, a->kind, 0);
    bool good = !dv_is_empty(copy) && dv_array_extend(vm, copy, value) &&
                assign_slice(vm, a, slice, dv_as_array(copy));
    dv_release(vm, copy);
    return good;
}

static bool array_set_item(dv_vm *vm, dv_value self, dv_value key, dv_value value) {
    int64_t i;
    dv_array *a = dv_as_array(self);
    if (dv_is_shape(key, DV_T_SLICE)) return set_slice(vm, self, key, value);
    if (!dv_sequence_index(vm, key, "array indices must be integers", &i)) return false;
    if (i < 0) i += a->count;
    if ((uint64_t)i >= (uint64_t)a->count) {
        dv_raise(vm, DV_E_INDEX_ERROR, "array assignment index out of range");
        return false;
    }
    return dv_is_empty(value) ? dv_array_splice(vm, a, i, i + 1, NULL, 0)
                              : dv_array_put(vm, a, i, value);
}

/* ---- Operators --------------------------------------------------------------------------------*/

static int64_t array_length(dv_vm *vm, dv_value self) {
    (void)vm;
    return dv_as_array(self)->count;
}

static int array_contains(dv_vm *vm, dv_value self, dv_value item) {
    for (int64_t i = 0; i < dv_as_array(self)->count; i++) {
        if (!dv_work(vm, 1)) return -1;
        dv_value element = dv_array_get(vm, dv_as_array(self), i);
        int equal = dv_is_empty(element) ? -1 : dv_array_equal(vm, element, item);
        dv_release(vm, element);
        if (equal) return equal;
    }
    return 0;
}

/* Of elements that were found different, or of the counts. */
static dv_value compare_elements(dv_vm *vm, dv_compare_op op, const dv_array *a,
                                 const dv_array *b) {
    for (int64_t i = 0; i < a->count && i < b->count; i++) {
        if (!dv_work(vm, 1)) return DV_EMPTY;
        dv_value x = dv_array_get(vm, a, i), y = DV_EMPTY, result = DV_EMPTY;
        if (!dv_is_empty(x)) y = dv_array_get(vm, b, i);
        int equal = dv_is_empty(y) ? -1 : dv_array_equal(vm, x, y);
        if (equal == 0)
            result = op == DV_EQ ? DV_FALSE : op == DV_NE ? DV_TRUE : dv_compare(vm, op, x, y);
        dv_release(vm, x);
        dv_release(vm, y);
        if (equal != 1) return result;
    }
    int64_t m = a->count, n = b->count;
    return dv_bool(op == DV_LT   ? m < n
                   : op == DV_LE ? m <= n
                   : op == DV_GT ? m > n
                   : op == DV_GE ? m >= n
                   : op == DV_EQ ? m == n
                                 : m != n);
}

static dv_value array_compare(dv_vm *vm, dv_compare_op op, dv_value va, dv_value vb) {
    if (!dv_is_array(va) || !dv_is_array(vb)) return DV_NOTIMPLEMENTED;
    const dv_array *a = dv_as_array(va), *b = dv_as_array(vb);
    if (a->count != b->count && (op == DV_EQ || op == DV_NE)) return dv_bool(op == DV_NE);
    return compare_elements(vm, op, a, b);
}

static dv_value repeat(dv_vm *vm, dv_value a, dv_value b) {
    dv_value sequence;
    int64_t times;
    if (!dv_repeat_operands(vm, DV_T_ARRAY, a, b, &sequence, &times)) return DV_EMPTY;
    const dv_array *from = dv_as_array(sequence);
    if (times < 0) times = 0;
    if (from->count && times > COUNT_MAX / from->count) return dv_raise_memory(vm);
    dv_value result = dv_array_new(vm, from->kind, from->count * times);
    if (dv_is_empty(result)) return DV_EMPTY;
    size_t size = (size_t)from->count * from->kind->size;
    for (int64_t i = 0; size && i < times; i++)
        memcpy(dv_as_array(result)->data + (size_t)i * size, from->data, size);
    return result;
}

static dv_value concatenate(dv_vm *vm, dv_value a, dv_value b) {
    if (!dv_is_array(b))
        return dv_raise(vm, DV_E_TYPE_ERROR, "can only append array (not \"%T\") to array", b);
    if (dv_as_array(a)->kind != dv_as_array(b)->kind)
        return dv_raise(vm, DV_E_TYPE_ERROR, "bad argument type for built-in operation");
    dv_value result = dv_array_new(vm, dv_as_array(a)->kind, 0);
    if (dv_is_empty(result) || (dv_array_extend(vm, result, a) && dv_array_extend(vm, result, b)))
        return result;
    dv_release(vm, result);
    return DV_EMPTY;
}

static dv_value array_binary(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    if (op == DV_BINARY_MUL) return repeat(vm, a, b);
    if (op == DV_BINARY_ADD && dv_is_array(a)) return concatenate(vm, a, b);
    return DV_NOTIMPLEMENTED;
}

static dv_value array_inplace(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    if (!dv_is_array(a) || (op != DV_BINARY_ADD && op != DV_BINARY_MUL)) return DV_NOTIMPLEMENTED;
    if (op == DV_BINARY_ADD) {
        if (!dv_is_array(b))
            return dv_raise(vm, DV_E_TYPE_ERROR, "can only extend array with array (not \"%T\")",
                            b);
        return dv_array_extend(vm, a, b) ? dv_retain(a) : DV_EMPTY;
    }
    dv_value product = repeat(vm, a, b);
    if (dv_is_empty(product)) return DV_EMPTY;
    dv_array *to = dv_as_array(a), *from = dv_as_array(product), old = *to;
    if (to->exports) {
        bool same = can_resize(vm, to, from->count);
        dv_release(vm, product);
        return same ? dv_retain(a) : DV_EMPTY;
    }
    to->data = from->data;
    to->count = from->count;
    to->capacity = from->capacity;
    from->data = old.data;
    from->count = old.count;
    from->capacity = old.capacity;
    dv_release(vm, product);
    return dv_retain(a);
}

dv_value dv_array_bytes(dv_vm *vm, dv_value array) {
    const dv_array *a = dv_as_array(array);
    return dv_bytes_new(vm, a->data ? a->data : "", a->count * a->kind->size);
}

/* ---- Text and attributes ----------------------------------------------------------------------*/

static dv_value array_repr(dv_vm *vm, dv_value self) {
    const dv_array *a = dv_as_array(self);
    dv_builder b;
    dv_builder_init(&b, vm);
    dv_builder_str(&b, dv_class_of(vm, self)->name);
    dv_builder_z(&b, "('");
    dv_builder_char(&b, (uint32_t)a->kind->code);
    dv_builder_char(&b, '\'');
    bool good = true, text = a->kind->code == 'u';
    if (a->count) dv_builder_z(&b, text ? ", " : ", [");
    if (a->count && text) {
        dv_value s = dv_array_text(vm, a);
        good = !dv_is_empty(s) && dv_builder_repr(&b, s);
        dv_release(vm, s);
    }
    for (int64_t i = 0; good && !text && i < a->count; i++) {
        dv_value element = dv_work(vm, 2) ? dv_array_get(vm, a, i) : DV_EMPTY;
        if (i) dv_builder_z(&b, ", ");
        good = !dv_is_empty(element) && dv_builder_repr(&b, element);
        dv_release(vm, element);
    }
    dv_builder_z(&b, a->count && !text ? "])" : ")");
    if (good) return dv_builder_finish(&b);
    dv_builder_discard(&b);
    return DV_EMPTY;
}

static bool array_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    (void)hash;
    dv_raise(vm, DV_E_TYPE_ERROR, "unhashable type: '%T'", self);
    return false;
}

static dv_value array_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    const dv_array_kind *kind = dv_as_array(self)->kind;
    if (dv_str_is(name, "itemsize")) return dv_int(kind->size);
    if (dv_str_is(name, "typecode")) return dv_str_char(vm, (uint32_t)kind->code);
    return DV_EMPTY;
}

const dv_type dv_array_type = {
    .name = "array.array",
    .id = DV_T_ARRAY,
    .weakly = true,
    .release = array_release,
    .repr = array_repr,
    .hash = array_hash,
    .compare = array_compare,
    .binary = array_binary,
    .inplace = array_inplace,
    .length = array_length,
    .get_item = array_get_item,
    .set_item = array_set_item,
    .contains = array_contains,
    .iterate = dv_iterator_new,
    .get_attribute = array_get_attribute,
    .construct = array_construct,
    .adopt = array_adopt,
    .ignores_keywords = true,
    .methods = dv_array_methods,
};
