/* struct_code.c: packing and unpacking the items of a format (struct_parts.h).
 *
 * Invariants
 *  1. Bytes are put together from the low one on, whatever the machine's order is.
 *  2. What cannot be packed has CPython's message for the function that CPython has for the code:
 *     one of the C compiler's types, or a general one for sizes and byte orders. */
#include <math.h>
#include <string.h>

#include "core/upcall.h"
#include "core/work.h"
#include "modules/format/struct_parts.h"
#include "types/binary/bytes.h"
#include "types/number/float.h"
#include "types/number/int_arith.h"
#include "types/sequence/sequence.h"
#include "types/sequence/tuple.h"

static bool fail(dv_vm *vm, const char *message) {
    dv_raise(vm, DV_E_STRUCT_ERROR, "%s", message);
    return false;
}

/* ---- Bytes ------------------------------------------------------------------------------------*/

static inline void write_word(char *out, uint64_t word, int64_t size, bool big) {
    if (!big) {
        for (int64_t i = 0; i < size; i++, word >>= 8) out[i] = (char)(uint8_t)word;
        return;
    }
    for (int64_t i = size; i-- > 0; word >>= 8) out[i] = (char)(uint8_t)word;
}

static inline uint64_t read_word(const char *data, int64_t size, bool big) {
    uint64_t word = 0;
    if (!big) {
        for (int64_t i = size; i-- > 0;) word = word << 8 | (uint8_t)data[i];
        return word;
    }
    for (int64_t i = 0; i < size; i++) word = word << 8 | (uint8_t)data[i];
    return word;
}

/* ---- Ints -------------------------------------------------------------------------------------*/

static bool fail_range(dv_vm *vm, const dv_struct_code *code) {
    int bits = (int)code->size * 8;
    unsigned long long top = code->kind == DV_STRUCT_SIGNED ? (1ull << (bits - 1)) - 1
                             : bits == 64                   ? UINT64_MAX
                                                            : (1ull << bits) - 1;
    long long low = code->kind == DV_STRUCT_SIGNED ? -(long long)top - 1 : 0;
    const char *name = code->size == 1 ? "byte" : code->size == 2 && code->native ? "short" : NULL;
    if (name)
        dv_raise(vm, DV_E_STRUCT_ERROR, "%s%s format requires %lld <= number <= %llu",
                 code->kind == DV_STRUCT_SIGNED ? "" : "u", name, low, top);
    else
        dv_raise(vm, DV_E_STRUCT_ERROR, "'%c' format requires %lld <= number <= %llu", code->format,
                 low, top);
    return false;
}

/* An int of any size as 64 bits, as far as C's long (or unsigned long) goes. */
static bool take_word(dv_vm *vm, const dv_struct_code *code, dv_value whole, uint64_t *word) {
    int64_t i;
    dv_int_view view;
    bool small = code->size == 1 || (code->size == 2 && code->native);
    bool is_unsigned = code->kind == DV_STRUCT_UNSIGNED && !small;
    if (dv_int_to_int64(whole, &i) && (!is_unsigned || i >= 0)) {
        *word = (uint64_t)i;
        return true;
    }
    dv_int_look(whole, &view);
    if ((is_unsigned || code->kind == DV_STRUCT_POINTER) && !view.negative && view.count == 1) {
        *word = view.limbs[0];
        return true;
    }
    bool plain = code->kind == DV_STRUCT_POINTER || (!code->native && code->size == 8);
    return fail(vm, plain ? "int too large to convert" : "argument out of range");
}

static bool fits(const dv_struct_code *code, uint64_t word) {
    int bits = (int)code->size * 8;
    if (bits == 64) return true;
    if (code->kind == DV_STRUCT_SIGNED)
        return (int64_t)word >= -((int64_t)1 << (bits - 1)) && (int64_t)word < (int64_t)1
                                                                                   << (bits - 1);
    return word >> bits == 0;
}

static bool pack_large(dv_vm *vm, const dv_struct_code *code, dv_value v, uint64_t *word) {
    if (!dv_is_index(vm, v)) {
        if (!dv_is_empty(vm->error)) return false;
        return fail(vm, "required argument is not an integer");
    }
    dv_value whole = dv_int_index(vm, v);
    if (dv_is_empty(whole)) return false;
    bool good = take_word(vm, code, whole, word);
    dv_release(vm, whole);
    return good;
}

static bool pack_int(dv_vm *vm, const dv_struct_code *code, dv_value v, char *out) {
    uint64_t word;
    if (DV_LIKELY(dv_is_int(v) && (code->kind == DV_STRUCT_SIGNED || dv_as_int(v) >= 0)))
        word = (uint64_t)dv_as_int(v);
    else if (!pack_large(vm, code, v, &word))
        return false;
    if (!fits(code, word)) return fail_range(vm, code);
    write_word(out, word, code->size, code->big);
    return true;
}

static dv_value unpack_int(dv_vm *vm, const dv_struct_code *code, const char *data) {
    uint64_t word = read_word(data, code->size, code->big);
    if (code->kind != DV_STRUCT_SIGNED) return dv_int_from_uint64(vm, word);
    int shift = 64 - (int)code->size * 8;
    return dv_int_from_int64(vm, (int64_t)(word << shift) >> shift);
}

/* ---- Floats -----------------------------------------------------------------------------------*/

/* The 16 bits of a half-precision number, ties to even; false: too large. */
static bool half_of(double x, uint16_t *out) {
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    int exponent;
    *out = sign | (isnan(x) ? 0x7e00 : 0x7c00);
    if (!isfinite(x)) return true;
    double f = frexp(fabs(x), &exponent) * 2.0;
    exponent--;
    if (f == 0.0 || exponent < -25) {
        *out = sign;
        return true;
    }
    if (exponent >= 16) return false;
    if (exponent < -14) {
        f = ldexp(f, 14 + exponent);
        exponent = 0;
    } else {
        exponent += 15;
        f -= 1.0;
    }
    f *= 1024.0;
    uint16_t bits = (uint16_t)f;
    f -= bits;
    if (f > 0.5 || (f == 0.5 && bits % 2)) bits++; /* a carry goes into the exponent */
    *out = (uint16_t)(sign | (uint16_t)((exponent << 10) + bits));
    return (*out & 0x7c00) != 0x7c00;
}

static double double_of_half(uint16_t half) {
    int exponent = half >> 10 & 0x1f, bits = half & 0x3ff;
    double x = exponent == 0x1f ? (bits ? NAN : INFINITY)
               : exponent == 0  ? ldexp(bits, -24)
                                : ldexp(bits + 1024, exponent - 25);
    return half & 0x8000 ? -x : x;
}

static bool fail_float(dv_vm *vm, const dv_struct_code *code, dv_value v) {
    if (dv_is_integral(v)) return fail(vm, "int too large to convert");
    dv_raise(vm, DV_E_OVERFLOW_ERROR, "float too large to pack with %c format", code->format);
    return false;
}

static bool pack_float(dv_vm *vm, const dv_struct_code *code, dv_value v, char *out) {
    double d;
    if (DV_LIKELY(dv_is_float(v))) {
        d = dv_as_float(v);
    } else if (!dv_as_double(vm, v, &d)) {
        dv_error_clear(vm);
        return fail(vm, "required argument is not a float");
    }
    uint64_t word = 0;
    if (code->size == 8) {
        memcpy(&word, &d, sizeof d);
    } else if (code->size == 4) {
        float f = (float)d;
        uint32_t bits;
        if (!code->native && isinf(f) && isfinite(d)) return fail_float(vm, code, v);
        memcpy(&bits, &f, sizeof f);
        word = bits;
    } else {
        uint16_t half;
        if (!half_of(d, &half)) return fail_float(vm, code, v);
        word = half;
    }
    write_word(out, word, code->size, code->big);
    return true;
}

static dv_value unpack_float(const dv_struct_code *code, const char *data) {
    uint64_t word = read_word(data, code->size, code->big);
    if (code->size == 8) {
        double d;
        memcpy(&d, &word, sizeof d);
        return dv_float_foreign(d);
    }
    if (code->size == 2) return dv_float_foreign(double_of_half((uint16_t)word));
    uint32_t bits = (uint32_t)word;
    float f;
    memcpy(&f, &bits, sizeof f);
    return dv_float_foreign((double)f);
}

/* ---- Bytes and bools --------------------------------------------------------------------------*/

static bool pack_string(dv_vm *vm, const dv_struct_code *code, dv_value v, char *out) {
    if (!dv_is_bytes_like(v)) {
        dv_raise(vm, DV_E_STRUCT_ERROR, "argument for '%c' must be a bytes object", code->format);
        return false;
    }
    const dv_str *bytes = dv_as_bytes(v);
    bool pascal = code->kind == DV_STRUCT_PASCAL;
    int64_t room = pascal ? code->size - 1 : code->size;
    int64_t length = bytes->length < room ? bytes->length : room;
    if (length > 0) memcpy(out + pascal, bytes->data, (size_t)length);
    if (pascal && code->size > 0) out[0] = (char)(uint8_t)(length > 255 ? 255 : length);
    return true;
}

static dv_value unpack_pascal(dv_vm *vm, const dv_struct_code *code, const char *data) {
    if (code->size == 0) return dv_bytes_new(vm, data, 0);
    int64_t length = (uint8_t)data[0], room = code->size - 1;
    return dv_bytes_new(vm, data + 1, length < room ? length : room);
}

static bool pack_char(dv_vm *vm, dv_value v, char *out) {
    if (!dv_is_bytes(v) || dv_as_bytes(v)->length != 1)
        return fail(vm, "char format requires a bytes object of length 1");
    *out = dv_as_bytes(v)->data[0];
    return true;
}

static bool pack_bool(dv_vm *vm, dv_value v, char *out) {
    int truth = dv_truth(vm, v);
    *out = truth == 1;
    return truth >= 0;
}

/* ---- Items ------------------------------------------------------------------------------------*/

static bool pack_item(dv_vm *vm, const dv_struct_code *code, dv_value v, char *out) {
    switch ((dv_struct_kind)code->kind) {
    case DV_STRUCT_SIGNED:
    case DV_STRUCT_UNSIGNED:
    case DV_STRUCT_POINTER: return pack_int(vm, code, v, out);
    case DV_STRUCT_FLOAT: return pack_float(vm, code, v, out);
    case DV_STRUCT_BOOL: return pack_bool(vm, v, out);
    case DV_STRUCT_CHAR: return pack_char(vm, v, out);
    default: return pack_string(vm, code, v, out);
    }
}

static dv_value unpack_item(dv_vm *vm, const dv_struct_code *code, const char *data) {
    switch ((dv_struct_kind)code->kind) {
    case DV_STRUCT_SIGNED:
    case DV_STRUCT_UNSIGNED:
    case DV_STRUCT_POINTER: return unpack_int(vm, code, data);
    case DV_STRUCT_FLOAT: return unpack_float(code, data);
    case DV_STRUCT_BOOL: return dv_bool(*data != 0);
    case DV_STRUCT_PASCAL: return unpack_pascal(vm, code, data);
    default: return dv_bytes_new(vm, data, code->size);
    }
}

bool dv_struct_pack(dv_vm *vm, const dv_struct *s, const dv_value *args, char *out) {
    memset(out, 0, (size_t)s->size);
    for (const dv_struct_code *code = s->codes, *end = code + s->code_count; code < end; code++) {
        char *to = out + code->offset;
        for (int64_t i = 0; i < code->repeat; i++, to += code->size)
            if (!pack_item(vm, code, *args++, to)) return false;
    }
    return true;
}

dv_value dv_struct_unpack(dv_vm *vm, const dv_struct *s, const char *data) {
    if (s->count == 0) return dv_tuple_new(vm, NULL, 0);
    dv_tuple *items = dv_tuple_alloc(vm, s->count);
    if (!items) return DV_EMPTY;
    for (int64_t i = 0; i < s->count; i++) items->items[i] = DV_NONE;
    dv_value *to = items->items;
    for (const dv_struct_code *code = s->codes, *end = code + s->code_count; code < end; code++) {
        const char *from = data + code->offset;
        for (int64_t i = 0; i < code->repeat; i++, from += code->size, to++) {
            dv_value item = dv_work(vm, 2) ? unpack_item(vm, code, from) : DV_EMPTY;
            if (dv_is_empty(item)) {
                dv_release_object(vm, &items->header);
                return DV_EMPTY;
            }
            *to = item;
        }
    }
    return dv_object_value(items);
}
