/* int.c: the types int and bool: conversion, comparison, operators, methods.
 *
 * Operators work on machine words, or on 128 bits, wherever both operands and the result allow it;
 * int_arith.c has the rest.
 *
 * Invariant 1: bools are ints in every operator, but `&`, `|`, `^` of two bools is a bool. */
#include "types/binary/buffer.h"
#include "types/number/int.h"

#include <math.h>

#include "core/upcall.h"
#include "core/work.h"
#include "types/binary/bytes.h"
#include "types/number/complex.h"
#include "types/number/int_bytes.h"
#include "types/callable/arguments.h"
#include "types/number/float.h"
#include "types/text/format.h"
#include "types/class/instance.h"
#include "types/number/int_arith.h"
#include "types/number/int_wide.h"
#include "types/text/str.h"
#include "types/class/subclass.h"
#include "types/sequence/tuple.h"

/* ---- Conversion -------------------------------------------------------------------------------*/

bool dv_int_to_int64(dv_value v, int64_t *out) {
    if (DV_LIKELY(dv_is_int(v))) {
        *out = dv_as_int(v);
        return true;
    }
    if (dv_is_bool(v)) {
        *out = dv_same(v, DV_TRUE);
        return true;
    }
    if (!dv_has_layout(v, DV_T_INT)) return false;
    const dv_bigint *b = (const dv_bigint *)dv_as_object(v);
    uint64_t word = b->limbs[0];
    if ((uint32_t)b->size <= 1 && word <= (uint64_t)INT64_MAX) {
        *out = (int64_t)word;
        return true;
    }
    if (b->size == -1 && word <= (uint64_t)1 << 63) {
        *out = (int64_t)(0 - word);
        return true;
    }
    return false;
}

dv_value dv_int_from_double(dv_vm *vm, double d) {
    if (d > -0x1p63 && d < 0x1p63) return dv_int_from_int64(vm, (int64_t)d);
    if (isnan(d)) return dv_raise(vm, DV_E_VALUE_ERROR, "cannot convert float NaN to integer");
    if (isinf(d))
        return dv_raise(vm, DV_E_OVERFLOW_ERROR, "cannot convert float infinity to integer");
    int exponent;
    uint64_t mantissa = (uint64_t)ldexp(frexp(fabs(d), &exponent), 53);
    dv_int_view view = {&mantissa, 1, d < 0, 0};
    return dv_int_shift_left(vm, &view, (uint64_t)(exponent - 53));
}

bool dv_int_to_double(dv_vm *vm, dv_value v, double *out) {
    if (DV_LIKELY(dv_is_int(v))) {
        *out = (double)dv_as_int(v);
        return true;
    }
    dv_int_view view;
    dv_int_look(v, &view);
    int64_t exponent;
    uint64_t mantissa = dv_int_leading(&view, &exponent);
    double d = dv_int_scale(mantissa, exponent);
    *out = view.negative ? -d : d;
    if (!isinf(d)) return true;
    dv_raise(vm, DV_E_OVERFLOW_ERROR, "int too large to convert to float");
    return false;
}

int dv_int_sign(dv_value v) {
    if (dv_is_object(v)) {
        int32_t size = ((const dv_bigint *)dv_as_object(v))->size;
        return (size > 0) - (size < 0);
    }
    int64_t i = dv_is_int(v) ? dv_as_int(v) : dv_same(v, DV_TRUE);
    return (i > 0) - (i < 0);
}

uint64_t dv_int_bit_length(dv_value v) {
    dv_int_view view;
    dv_int_look(v, &view);
    return dv_int_view_bits(&view);
}

/* The int that a bool or int is; new reference. */
static dv_value as_plain(dv_vm *vm, dv_value v) {
    return dv_is_bool(v) ? dv_int(dv_same(v, DV_TRUE)) : dv_plain(vm, v);
}

/* May its class have special methods for numbers? */
static inline bool is_asked(dv_value v) {
    return dv_is_object(v) && (dv_as_object(v)->shape >= DV_T_EXTENSION ||
                               DV_UNLIKELY(dv_is_weak_proxy(v) || dv_has_methods(v)));
}

/* The special method of the object behind a proxy. */
static __attribute__((noinline)) dv_value proxy_special(dv_vm *vm, dv_value v, dv_value name,
                                                        bool *found) {
    dv_value method = dv_find_attribute(vm, v, name);
    *found = !dv_is_empty(method) || !dv_is_empty(vm->error);
    dv_value result = dv_is_empty(method) ? DV_EMPTY : dv_call(vm, method, NULL, 0, DV_EMPTY);
    dv_release(vm, method);
    return result;
}

dv_value dv_number_special(dv_vm *vm, dv_value v, dv_value name, bool *found) {
    *found = false;
    if (!is_asked(v)) return DV_EMPTY;
    return dv_is_weak_proxy(v) ? proxy_special(vm, v, name, found)
                               : dv_special_call(vm, v, name, NULL, 0, found);
}

/* Calls a special method that must return an int. */
static dv_value special_int(dv_vm *vm, dv_value v, dv_value name, bool *found) {
    dv_value r = dv_number_special(vm, v, name, found);
    if (dv_is_empty(r)) return r;
    if (dv_is_integral(r)) {
        dv_value plain = as_plain(vm, r);
        dv_release(vm, r);
        return plain;
    }
    dv_raise(vm, DV_E_TYPE_ERROR, "%S returned non-int (type %T)", name, r);
    dv_release(vm, r);
    return DV_EMPTY;
}

dv_value dv_int_index(dv_vm *vm, dv_value v) {
    if (dv_is_integral(v)) return as_plain(vm, v);
    bool found;
    dv_value r = special_int(vm, v, vm->known.index, &found);
    if (found) return r;
    return dv_raise(vm, DV_E_TYPE_ERROR, "'%T' object cannot be interpreted as an integer", v);
}

int dv_is_number(dv_vm *vm, dv_value v) {
    const dv_value names[] = {vm->known.index, vm->known.int_, vm->known.float_};
    if (dv_is_integral(v) || dv_is_float(dv_number_of(v)) || dv_is_complex(v)) return 1;
    if (!is_asked(v)) return 0;
    int defined = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && defined == 0; i++)
        defined = dv_defines_special(vm, v, names[i]);
    return defined;
}

dv_value dv_int_convert(dv_vm *vm, dv_value v) {
    bool found = false;
    dv_value r = DV_EMPTY;
    if (is_asked(v)) r = special_int(vm, v, vm->known.int_, &found);
    if (found) return r;
    if (dv_is_integral(v)) return as_plain(vm, v);
    v = dv_number_of(v);
    if (dv_is_float(v)) return dv_int_from_double(vm, dv_as_float(v));
    r = special_int(vm, v, vm->known.index, &found);
    if (!found) {
        dv_value truncated = dv_number_special(vm, v, vm->known.trunc, &found);
        if (dv_is_empty(truncated)) return truncated;
        if (dv_is_integral(truncated))
            r = as_plain(vm, truncated);
        else
            r = dv_raise(vm, DV_E_TYPE_ERROR, "__trunc__ returned non-Integral (type %T)",
                         truncated);
        dv_release(vm, truncated);
    }
    return r;
}

/* ---- Hash and comparison ----------------------------------------------------------------------*/

static int64_t limbs_of_int(dv_value v) {
    dv_int_view view;
    dv_int_look(v, &view);
    return view.count;
}

int64_t dv_int_hash(const dv_vm *vm, dv_value v) {
    dv_int_view view;
    dv_int_look(v, &view);
    const uint64_t lowest = view.count ? view.limbs[0] : 0;
    if (DV_LIKELY(view.count <= 1 && lowest < DV_HASH_MODULUS))
        return dv_hash_number(&vm->hash_key, view.negative ? -(int64_t)lowest : (int64_t)lowest);
    if (vm->hash_key.factor != 1)
        return dv_hash_limbs(&vm->hash_key, view.limbs, (size_t)view.count, view.negative);
    uint64_t h = 0;
    for (int64_t i = view.count - 1; i >= 0; i--) {
        /* h * 2^64 + limb, modulo 2^61 - 1, where 2^61 counts as 1 */
        unsigned __int128 t = (unsigned __int128)h << 64 | view.limbs[i];
        t = (t & DV_HASH_MODULUS) + (t >> DV_HASH_BITS);
        t = (t & DV_HASH_MODULUS) + (t >> DV_HASH_BITS);
        h = (uint64_t)t;
        if (h >= DV_HASH_MODULUS) h -= DV_HASH_MODULUS;
    }
    return dv_hash_number(&vm->hash_key, view.negative ? -(int64_t)h : (int64_t)h);
}

static bool int_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    dv_work_owe(vm, limbs_of_int(self) / 16);
    *hash = dv_int_hash(vm, self);
    return true;
}

static int compare_large(dv_value a, dv_value b) {
    dv_int_view x, y;
    dv_int_look(a, &x);
    dv_int_look(b, &y);
    int64_t p = x.negative ? -x.count : x.count, q = y.negative ? -y.count : y.count;
    if (p != q) return p < q ? -1 : 1;
    for (int64_t i = x.count - 1; i >= 0; i--)
        if (x.limbs[i] != y.limbs[i]) return (x.limbs[i] < y.limbs[i]) != x.negative ? -1 : 1;
    return 0;
}

dv_value dv_int_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    int64_t x, y;
    if (DV_LIKELY(dv_int_to_int64(a, &x) && dv_int_to_int64(b, &y)))
        return dv_bool(dv_int64s_compare(op, x, y));
    if (dv_is_integral(a) && dv_is_integral(b)) {
        const int order = compare_large(a, b);
        if (order == 0) dv_work_owe(vm, limbs_of_int(a) / 16);
        return dv_bool(dv_int64s_compare(op, order, 0));
    }
    return DV_NOTIMPLEMENTED; /* for floats, too: their own method compares with ints */
}

/* ---- Operators --------------------------------------------------------------------------------*/

static dv_value raise_zero(dv_vm *vm, dv_binary_op op) {
    return dv_raise(vm, DV_E_ZERO_DIVISION_ERROR,
                    op == DV_BINARY_TRUEDIV ? "division by zero"
                    : op == DV_BINARY_MOD   ? "integer modulo by zero"
                                            : "integer division or modulo by zero");
}

static dv_value power(dv_vm *vm, dv_value a, dv_value b) {
    if (dv_int_sign(b) < 0) {
        double x, y;
        if (!dv_int_to_double(vm, a, &x) || !dv_int_to_double(vm, b, &y)) return DV_EMPTY;
        return dv_float_pow(vm, x, y);
    }
    return dv_int_power(vm, a, b);
}

bool dv_int64_power(int64_t x, int64_t y, int64_t *out) {
    int64_t result = 1;
    if (y < 0) return false;
    while (true) {
        if ((y & 1) && __builtin_mul_overflow(result, x, &result)) return false;
        y >>= 1;
        if (!y) break;
        if (__builtin_mul_overflow(x, x, &x)) return false;
    }
    *out = result;
    return true;
}

/* INT64_MIN where the result does not fit, as `defined` must see. */
static bool is_no_minimum(const dv_raw_value *arguments, dv_raw_value result) {
    (void)arguments;
    return result.i != INT64_MIN;
}
int64_t dv_int64_power_or_min(int64_t x, int64_t y) {
    int64_t result;
    return dv_int64_power(x, y, &result) ? result : INT64_MIN;
}
static int64_t same_int64(int64_t x) { return x; }
static int64_t of_double(double x) { return fabs(x) <= 0x1p62 ? (int64_t)x : INT64_MIN; }
static int64_t round_double(double x) { return of_double(dv_float_whole(x)); }
static bool rounds(const dv_raw_value *arguments, dv_raw_value result) {
    return isinf(arguments[0].d) || !isinf(result.d);
}
const dv_raw dv_int_raw_power = {"q(qq)", (dv_raw_entry)dv_int64_power_or_min, true, is_no_minimum,
                                 NULL};
const dv_raw dv_int_raws[] = {{"q(q)", (dv_raw_entry)same_int64, true, NULL, NULL},
                              {"q(d)", (dv_raw_entry)of_double, true, is_no_minimum, NULL},
                              {0}};
const dv_raw dv_round_raws[] = {{"q(q)", (dv_raw_entry)same_int64, true, NULL, NULL},
                                {"q(d)", (dv_raw_entry)round_double, true, is_no_minimum, NULL},
                                {"d(dq)", (dv_raw_entry)dv_float_to_digits, true, rounds, NULL},
                                {0}};

/* The count of a shift that is larger than any word. */
static dv_value shift_far(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    int sign = dv_int_sign(a);
    if (op == DV_BINARY_RSHIFT) return dv_int(sign < 0 ? -1 : 0);
    if (sign == 0) return dv_int(0);
    /* CPython has at most 2**61 - 7 digits of 30 bits, beside those of a; 30 * 2**61 is
     * 3 * 2**64 + FAR. */
    const uint64_t FAR = UINT64_C(0xC000000000000000);
    dv_int_view value, count;
    dv_int_look(a, &value);
    dv_int_look(b, &count);
    uint64_t digits = 7 + (dv_int_view_bits(&value) + 29) / 30;
    bool fits = count.count == 1 || (count.count == 2 && count.limbs[1] < 3) ||
                (count.count == 2 && count.limbs[1] == 3 && count.limbs[0] <= FAR - 30 * digits);
    if (fits) return dv_raise_memory(vm);
    return dv_raise(vm, DV_E_OVERFLOW_ERROR, "too many digits in integer");
}

static dv_value shift(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    int64_t count;
    if (dv_int_sign(b) < 0) return dv_raise(vm, DV_E_VALUE_ERROR, "negative shift count");
    if (!dv_int_to_int64(b, &count)) return shift_far(vm, op, a, b);
    dv_int_view view;
    dv_int_look(a, &view);
    return op == DV_BINARY_LSHIFT ? dv_int_shift_left(vm, &view, (uint64_t)count)
                                  : dv_int_shift_right(vm, &view, (uint64_t)count);
}

static dv_value divmod_pair(dv_vm *vm, dv_value a, dv_value b) {
    dv_value pair[2];
    return dv_int_divmod(vm, a, b, &pair[0], &pair[1]) ? dv_tuple_take(vm, pair, 2) : DV_EMPTY;
}

static dv_value large_binary(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    dv_int_view x, y;
    dv_value r = DV_EMPTY;
    dv_int_look(a, &x);
    dv_int_look(b, &y);
    switch (op) {
    case DV_BINARY_ADD: return dv_int_add(vm, &x, &y, false);
    case DV_BINARY_SUB: return dv_int_add(vm, &x, &y, true);
    case DV_BINARY_MUL: return dv_int_multiply(vm, &x, &y);
    case DV_BINARY_TRUEDIV: return dv_int_true_divide(vm, &x, &y);
    case DV_BINARY_FLOORDIV:
        if (y.count == 0) return raise_zero(vm, op);
        return dv_int_divide(vm, &x, &y, &r, NULL) ? r : DV_EMPTY;
    case DV_BINARY_MOD:
        if (y.count == 0) return raise_zero(vm, op);
        return dv_int_divide(vm, &x, &y, NULL, &r) ? r : DV_EMPTY;
    case DV_BINARY_POW: return power(vm, a, b);
    case DV_BINARY_LSHIFT:
    case DV_BINARY_RSHIFT: return shift(vm, op, a, b);
    case DV_BINARY_AND:
    case DV_BINARY_OR:
    case DV_BINARY_XOR: return dv_int_bitwise(vm, op, &x, &y);
    case DV_BINARY_DIVMOD: return divmod_pair(vm, a, b);
    case DV_BINARY_MATMUL: break;
    }
    return DV_NOTIMPLEMENTED;
}

static bool exact_in_double(int64_t i) { return i >= -((int64_t)1 << 53) && i <= (int64_t)1 << 53; }

/* Both operands are words; true if the result could be had without limbs. */
static bool small_binary(dv_vm *vm, dv_binary_op op, int64_t x, int64_t y, dv_value *r) {
    int64_t n;
    switch (op) {
    case DV_BINARY_ADD: *r = dv_int_from_int128(vm, (__int128)x + y); return true;
    case DV_BINARY_SUB: *r = dv_int_from_int128(vm, (__int128)x - y); return true;
    case DV_BINARY_MUL: *r = dv_int_from_int128(vm, (__int128)x * y); return true;
    case DV_BINARY_TRUEDIV:
        if (y == 0 || !exact_in_double(x) || !exact_in_double(y)) return false;
        *r = dv_float((double)x / (double)y);
        return true;
    case DV_BINARY_FLOORDIV:
        if (y == 0 || y == -1) return false;
        *r = dv_int_from_int64(vm, dv_floordiv64(x, y));
        return true;
    case DV_BINARY_MOD:
        if (y == 0 || y == -1) return false;
        *r = dv_int_from_int64(vm, dv_floormod64(x, y));
        return true;
    case DV_BINARY_POW:
        if (!dv_int64_power(x, y, &n)) return false;
        *r = dv_int_from_int64(vm, n);
        return true;
    case DV_BINARY_LSHIFT:
        if (y < 0 || y > 62) return false;
        *r = dv_int_from_int128(vm, (__int128)x * ((int64_t)1 << y));
        return true;
    case DV_BINARY_RSHIFT:
        if (y < 0) return false;
        *r = dv_int_from_int64(vm, x >> (y > 63 ? 63 : y));
        return true;
    case DV_BINARY_AND: *r = dv_int_from_int64(vm, x & y); return true;
    case DV_BINARY_OR: *r = dv_int_from_int64(vm, x | y); return true;
    case DV_BINARY_XOR: *r = dv_int_from_int64(vm, x ^ y); return true;
    case DV_BINARY_MATMUL:
    case DV_BINARY_DIVMOD: break;
    }
    return false;
}

static dv_value bool_binary(dv_binary_op op, dv_value a, dv_value b) {
    bool x = dv_same(a, DV_TRUE), y = dv_same(b, DV_TRUE);
    return dv_bool(op == DV_BINARY_AND ? x && y : op == DV_BINARY_OR ? x || y : x != y);
}

dv_value dv_int_binary(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    int64_t x, y;
    dv_value r;
    bool logic = op >= DV_BINARY_AND && op <= DV_BINARY_XOR;
    if (logic && dv_is_bool(a) && dv_is_bool(b)) return bool_binary(op, a, b);
    if (DV_LIKELY(dv_int_to_int64(a, &x) && dv_int_to_int64(b, &y)) &&
        DV_LIKELY(small_binary(vm, op, x, y, &r)))
        return r;
    if (!dv_is_integral(a) || !dv_is_integral(b)) return DV_NOTIMPLEMENTED;
    if (dv_int_wide(vm, op, a, b, &r)) return r;
    return large_binary(vm, op, a, b);
}

bool dv_int_divmod(dv_vm *vm, dv_value a, dv_value b, dv_value *quotient, dv_value *remainder) {
    dv_int_view x, y;
    dv_int_look(a, &x);
    dv_int_look(b, &y);
    if (y.count == 0) {
        raise_zero(vm, DV_BINARY_FLOORDIV);
        return false;
    }
    *quotient = *remainder = DV_EMPTY;
    if (dv_int_divide(vm, &x, &y, quotient, remainder) && !dv_is_empty(*quotient) &&
        !dv_is_empty(*remainder))
        return true;
    dv_release(vm, *quotient);
    dv_release(vm, *remainder);
    return false;
}

dv_value dv_int_unary(dv_vm *vm, dv_unary_op op, dv_value a) {
    int64_t i;
    if (op == DV_UNARY_POS) return as_plain(vm, a);
    if (DV_LIKELY(dv_int_to_int64(a, &i)))
        return dv_int_from_int128(vm, op == DV_UNARY_NEG ? -(__int128)i : ~(__int128)i);
    dv_int_view view, one;
    dv_int_look(a, &view);
    if (op == DV_UNARY_NEG) return dv_int_negate(vm, &view);
    dv_int_look(dv_int(1), &one);
    one.negative = true;
    return dv_int_add(vm, &one, &view, true); /* ~a == -1 - a */
}

/* The multiple of 10^digits nearest to v, ties to even; digits > 0. */
static dv_value round_to_power(dv_vm *vm, dv_value v, int64_t digits) {
    dv_value result = DV_EMPTY, q = DV_EMPTY, r = DV_EMPTY;
    dv_value ten = dv_int_power(vm, dv_int(10), dv_int(digits));
    if (dv_is_empty(ten)) return ten;
    if (dv_int_divmod(vm, v, ten, &q, &r)) {
        dv_value twice = dv_int_binary(vm, DV_BINARY_ADD, r, r);
        if (!dv_is_empty(twice)) {
            int order = compare_large(twice, ten);
            dv_int_view view;
            dv_int_look(q, &view);
            bool odd = view.count && (view.limbs[0] & 1);
            dv_value up =
                dv_int_binary(vm, DV_BINARY_ADD, q, dv_int(order > 0 || (order == 0 && odd)));
            if (!dv_is_empty(up)) result = dv_int_binary(vm, DV_BINARY_MUL, up, ten);
            dv_release(vm, up);
        }
        dv_release(vm, twice);
        dv_release(vm, q);
        dv_release(vm, r);
    }
    dv_release(vm, ten);
    return result;
}

dv_value dv_int_round(dv_vm *vm, dv_value v, dv_value digits) {
    int64_t n;
    if (dv_int_sign(digits) >= 0) return as_plain(vm, v);
    /* 10^k / 2 > |v| rounds to 0, and then the power need not be made. */
    if (!dv_int_to_int64(digits, &n) || n < -((int64_t)dv_int_bit_length(v) / 3 + 2))
        return dv_int(0);
    return round_to_power(vm, v, -n);
}

/* ---- int() and bool() -------------------------------------------------------------------------*/

static bool is_ascii(const dv_str *s) {
    for (int64_t i = 0; i < s->length; i++)
        if (s->data[i] & 0x80) return false;
    return true;
}

static dv_value from_str(dv_vm *vm, dv_value v, int base) {
    const dv_str *s = dv_as_str(v);
    bool valid;
    dv_value r;
    if (s->kind == 1 && is_ascii(s)) {
        r = dv_int_from_text(vm, s->data, (size_t)s->length, base, &valid);
    } else {
        size_t size;
        char *utf8 = dv_str_utf8(vm, v, &size);
        if (!utf8) return DV_EMPTY;
        r = dv_int_from_text(vm, utf8, size, base, &valid);
        dv_heap_free(&vm->heap, utf8, size + 1);
    }
    return valid ? r : dv_int_raise_invalid(vm, v, base);
}

/* int(b"12"): the text is ASCII, and the message shows the bytes. */
static dv_value from_bytes_text(dv_vm *vm, dv_value v, int base) {
    const dv_str *s = dv_as_bytes(v);
    bool valid = false;
    dv_value r = DV_EMPTY;
    if (is_ascii(s)) r = dv_int_from_text(vm, s->data, (size_t)s->length, base, &valid);
    if (valid) return r;
    dv_value plain = dv_plain(vm, dv_bytes_of(v)); /* not the __repr__ of its class */
    if (!dv_is_empty(plain)) dv_int_raise_invalid(vm, plain, base);
    dv_release(vm, plain);
    return DV_EMPTY;
}

/* int(x, base) */
static dv_value convert_based(dv_vm *vm, dv_value x, dv_value base_value) {
    dv_value index = dv_int_index(vm, base_value);
    if (dv_is_empty(index)) return index;
    int64_t base;
    bool fits = dv_int_to_int64(index, &base);
    dv_release(vm, index);
    if (!fits || (base != 0 && (base < 2 || base > 36)))
        return dv_raise(vm, DV_E_VALUE_ERROR, "int() base must be >= 2 and <= 36, or 0");
    if (dv_is_bytes_like(x)) return from_bytes_text(vm, x, (int)base);
    if (!dv_is_str(x))
        return dv_raise(vm, DV_E_TYPE_ERROR, "int() can't convert non-string with explicit base");
    return from_str(vm, x, (int)base);
}

/* A subclass of str or bytes may have an __int__, which comes first. */
dv_value dv_int_of(dv_vm *vm, dv_value x) {
    bool text = dv_is_str(x) || dv_is_bytes_like(x);
    if (!text || dv_is_instance(x)) {
        dv_value r = dv_int_convert(vm, x);
        if (!dv_is_empty(r) || !dv_is_empty(vm->error)) return r;
    }
    if (text) return dv_is_str(x) ? from_str(vm, x, 10) : from_bytes_text(vm, x, 10);
    if (dv_lends(vm, x)) {
        dv_value bytes = dv_bytes_contents(vm, x);
        dv_value r = dv_is_empty(bytes) ? DV_EMPTY : from_bytes_text(vm, bytes, 10);
        dv_release(vm, bytes);
        return r;
    }
    return dv_raise(
        vm, DV_E_TYPE_ERROR,
        "int() argument must be a string, a bytes-like object or a real number, not '%T'", x);
}

static dv_value int_construct(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    uint32_t named =
        dv_is_empty(keywords) ? 0 : (uint32_t)((dv_tuple *)dv_as_object(keywords))->count;
    uint32_t positional = count - named;
    dv_value base = positional == 2 ? args[1] : DV_EMPTY;
    if (count > 2)
        return dv_raise(vm, DV_E_TYPE_ERROR, "int() takes at most 2 arguments (%d given)",
                        (int)count);
    for (uint32_t i = 0; i < named; i++) {
        dv_value name = ((dv_tuple *)dv_as_object(keywords))->items[i];
        if (!dv_str_is(name, "base"))
            return dv_raise(vm, DV_E_TYPE_ERROR, "'%S' is an invalid keyword argument for int()",
                            name);
        base = args[positional + i];
    }
    if (positional == 0 && !dv_is_empty(base))
        return dv_raise(vm, DV_E_TYPE_ERROR, "int() missing string argument");
    if (positional == 0) return dv_int(0);
    return dv_is_empty(base) ? dv_int_of(vm, args[0]) : convert_based(vm, args[0], base);
}

static dv_value bool_construct(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    if (!dv_arguments_no_keywords(vm, "bool", keywords) ||
        !dv_arguments_count(vm, "bool", count, 0, 1))
        return DV_EMPTY;
    if (count == 0) return DV_FALSE;
    int truth = dv_truth(vm, args[0]);
    return truth < 0 ? DV_EMPTY : dv_bool(truth);
}

/* ---- Methods and attributes -------------------------------------------------------------------*/

static dv_value bit_length(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_int_from_uint64(vm, dv_int_bit_length(args[0]));
}

static dv_value bit_count(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_int_view view;
    uint64_t ones = 0;
    dv_int_look(args[0], &view);
    dv_work_owe(vm, view.count / 8);
    for (int64_t i = 0; i < view.count; i++) ones += (uint64_t)__builtin_popcountll(view.limbs[i]);
    return dv_int_from_uint64(vm, ones);
}

static dv_value conjugate(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)vm;
    (void)count;
    return as_plain(vm, args[0]);
}

static dv_value as_integer_ratio(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value items[2] = {as_plain(vm, args[0]), dv_int(1)};
    return dv_tuple_take(vm, items, 2);
}

static const dv_cfunction_def methods[] = {
    {.name = "as_integer_ratio", .entry = as_integer_ratio, .min = 1, .max = 1},
    {.name = "bit_count", .entry = bit_count, .min = 1, .max = 1},
    {.name = "bit_length", .entry = bit_length, .min = 1, .max = 1},
    {.name = "conjugate", .entry = conjugate, .min = 1, .max = 1},
    {.name = "from_bytes",
     .keyword_entry = dv_int_from_bytes,
     .min = 1,
     .max = UINT32_MAX,
     .flags = DV_CFUNCTION_CLASS},
    {.name = "to_bytes", .keyword_entry = dv_int_to_bytes, .min = 1, .max = UINT32_MAX},
    {.name = NULL},
};

/* EMPTY without vm->error: none of the data attributes. */
static dv_value get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    (void)vm;
    if (dv_str_is(name, "real") || dv_str_is(name, "numerator")) return as_plain(vm, self);
    if (dv_str_is(name, "imag")) return dv_int(0);
    if (dv_str_is(name, "denominator")) return dv_int(1);
    return DV_EMPTY;
}

/* ---- The types --------------------------------------------------------------------------------*/

static void int_release(dv_vm *vm, dv_object *object) {
    dv_object_free(vm, object, dv_bigint_size(((dv_bigint *)object)->capacity));
}

/* Unlike other heap ints it may hold a small one, 0 without limbs (its one limb is 0). */
static dv_value int_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    dv_int_view view;
    dv_int_look(exact, &view);
    int64_t limbs = view.count ? view.count : 1;
    dv_bigint *b = dv_subclass_alloc(vm, class_, dv_bigint_size(limbs));
    if (!b) return DV_EMPTY;
    b->capacity = (uint32_t)limbs;
    b->size = (int32_t)(view.negative ? -view.count : view.count);
    b->limbs[0] = 0;
    memcpy(b->limbs, view.limbs, (size_t)view.count * sizeof *b->limbs);
    return dv_object_value(b);
}

static dv_value int_repr(dv_vm *vm, dv_value self) { return dv_int_to_str(vm, self, 10, false); }

static dv_value bool_repr(dv_vm *vm, dv_value self) {
    return dv_str_z(vm, dv_same(self, DV_TRUE) ? "True" : "False");
}

static bool int_truth(dv_value self) { return dv_int_sign(self) != 0; }

const dv_type dv_int_type = {
    .name = "int",
    .id = DV_T_INT,
    .release = int_release,
    .repr = int_repr,
    .hash = int_hash,
    .compare = dv_int_compare,
    .binary = dv_int_binary,
    .unary = dv_int_unary,
    .truth = int_truth,
    .get_attribute = get_attribute,
    .format = dv_format_int,
    .construct = int_construct,
    .raises = &dv_int_raises,
    .adopt = int_adopt,
    .methods = methods,
};

const dv_type dv_bool_type = {
    .name = "bool",
    .id = DV_T_BOOL,
    .repr = bool_repr,
    .hash = int_hash,
    .compare = dv_int_compare,
    .binary = dv_int_binary,
    .unary = dv_int_unary,
    .truth = int_truth,
    .get_attribute = get_attribute,
    .format = dv_format_int,
    .construct = bool_construct,
    .methods = methods,
};
