/* float.c: the type float: operators, comparison, text, rounding, methods.
 *
 * Invariants
 *  1. Comparison with ints is exact: no int is rounded to a double first.
 *  2. No result depends on errno, on the locale, or on the rounding mode of the host. */
#include "types/binary/buffer.h"
#include "types/number/float.h"

#include <math.h>

#include "base/dtoa.h"
#include "core/upcall.h"
#include "core/work.h"
#include "types/binary/bytes.h"
#include "types/number/complex.h"
#include "types/callable/arguments.h"
#include "types/exception/exception.h"
#include "types/text/format.h"
#include "types/number/int_arith.h"
#include "types/text/str.h"
#include "types/text/str_text.h"
#include "types/class/subclass.h"
#include "types/sequence/tuple.h"

#define HASH_INFINITY 314159

/* ---- Conversion -------------------------------------------------------------------------------*/

/* __float__ or __index__ of an instance; false with *found false: it has neither.  Subclasses of
 * numbers inherit their __float__, so that their __index__ does not count. */
static bool special_double(dv_vm *vm, dv_value v, double *out, bool *found) {
    dv_value r = dv_number_special(vm, v, vm->known.float_, found);
    if (*found) {
        if (dv_is_empty(r)) return false;
        if (dv_is_float(dv_number_of(r))) {
            *out = dv_as_float(dv_number_of(r));
            dv_release(vm, r);
            return true;
        }
        dv_raise(vm, DV_E_TYPE_ERROR, "%T.__float__ returned non-float (type %T)", v, r);
        dv_release(vm, r);
        return false;
    }
    if (dv_is_integral(v) || dv_is_float(dv_number_of(v))) return false;
    r = dv_number_special(vm, v, vm->known.index, found);
    if (!*found || dv_is_empty(r)) return false;
    bool ok = dv_is_integral(r);
    if (ok)
        ok = dv_int_to_double(vm, r, out);
    else
        dv_raise(vm, DV_E_TYPE_ERROR, "__index__ returned non-int (type %T)", r);
    dv_release(vm, r);
    return ok;
}

bool dv_as_double(dv_vm *vm, dv_value v, double *out) {
    if (DV_LIKELY(dv_is_float(v))) {
        *out = dv_as_float(v);
        return true;
    }
    v = dv_number_of(v);
    if (dv_is_float(v)) {
        *out = dv_as_float(v);
        return true;
    }
    bool found;
    if (special_double(vm, v, out, &found)) return true;
    if (found) return false;
    if (dv_is_integral(v)) return dv_int_to_double(vm, v, out);
    dv_raise(vm, DV_E_TYPE_ERROR, "must be real number, not %T", v);
    return false;
}

bool dv_float_convert(dv_vm *vm, dv_value v, double *out) {
    bool found;
    if (special_double(vm, v, out, &found)) return true;
    return !found && dv_as_double(vm, v, out);
}

/* ---- Text -------------------------------------------------------------------------------------*/

size_t dv_float_write_exponent(int exponent, char letter, char *out) {
    char *p = out;
    *p++ = letter;
    *p++ = exponent < 0 ? '-' : '+';
    unsigned magnitude = (unsigned)(exponent < 0 ? -exponent : exponent);
    if (magnitude < 10) *p++ = '0';
    return (size_t)(p - out) + dv_dtoa_decimal(magnitude, p);
}

size_t dv_float_repr(double d, char *buffer) {
    char digits[20], *p = buffer;
    if (isnan(d)) {
        memcpy(buffer, "nan", 3);
        return 3;
    }
    if (signbit(d)) *p++ = '-';
    if (isinf(d)) {
        memcpy(p, "inf", 3);
        return (size_t)(p - buffer) + 3;
    }
    int point;
    int count = (int)dv_dtoa_digits(d, 'r', 0, digits, sizeof digits, &point);
    if (point <= -4 || point > 16) {
        *p++ = digits[0];
        if (count > 1) {
            *p++ = '.';
            memcpy(p, digits + 1, (size_t)count - 1);
            p += count - 1;
        }
        return (size_t)(p - buffer) + dv_float_write_exponent(point - 1, 'e', p);
    }
    if (point <= 0) {
        *p++ = '0';
        *p++ = '.';
        for (int i = point; i < 0; i++) *p++ = '0';
        memcpy(p, digits, (size_t)count);
        return (size_t)(p + count - buffer);
    }
    for (int i = 0; i < point; i++) *p++ = i < count ? digits[i] : '0';
    *p++ = '.';
    if (count <= point) {
        *p++ = '0';
    } else {
        memcpy(p, digits + point, (size_t)(count - point));
        p += count - point;
    }
    return (size_t)(p - buffer);
}

static bool is_digit(char c) { return (unsigned char)(c - '0') <= 9; }

/* Takes underscores out where they stand between two digits; false: one stands elsewhere. */
static bool remove_underscores(const char *text, size_t size, char *out, size_t *out_size) {
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] != '_') {
            out[n++] = text[i];
        } else if (i == 0 || i + 1 == size || !is_digit(text[i - 1]) || !is_digit(text[i + 1])) {
            return false;
        }
    }
    *out_size = n;
    return true;
}

static bool equals_word(const char *text, size_t size, const char *word) {
    if (size != strlen(word)) return false;
    for (size_t i = 0; i < size; i++)
        if ((text[i] | 32) != word[i]) return false;
    return true;
}

/* inf, infinity, nan in any case. */
static bool parse_word(const char *text, size_t size, double *out) {
    if (equals_word(text, size, "inf") || equals_word(text, size, "infinity")) {
        *out = INFINITY;
        return true;
    }
    if (!equals_word(text, size, "nan")) return false;
    *out = NAN;
    return true;
}

static bool parse_signed(const char *text, size_t size, double *out) {
    bool negative = size && *text == '-';
    if (size && (*text == '-' || *text == '+')) {
        text++;
        size--;
    }
    if (!dv_dtoa_parse(text, size, out) && !parse_word(text, size, out)) return false;
    if (negative) *out = -*out;
    return true;
}

/* Text without white space around it; 1, 0: no number, -1: raised. */
static int parse_stripped(dv_vm *vm, const char *text, size_t size, double *out) {
    if (!dv_work(vm, (int64_t)size / 8)) return -1;
    if (!memchr(text, '_', size)) return parse_signed(text, size, out);
    char *plain = dv_heap_alloc(&vm->heap, size);
    if (!plain) {
        dv_raise_memory(vm);
        return -1;
    }
    size_t plain_size;
    bool ok =
        remove_underscores(text, size, plain, &plain_size) && parse_signed(plain, plain_size, out);
    dv_heap_free(&vm->heap, plain, size);
    return ok;
}

static const dv_declared construct_raises = {DV_E_VALUE_ERROR, 1,
                                             "could not convert string to float: %V"};

dv_value dv_float_from_str(dv_vm *vm, dv_value text) {
    size_t size;
    char *utf8 = dv_str_utf8(vm, text, &size);
    if (!utf8) return DV_EMPTY;
    dv_numeric_text ascii;
    double d = 0.0;
    int status = -1;
    if (dv_numeric_text_take(vm, utf8, size, &ascii)) {
        status = parse_stripped(vm, ascii.text, ascii.size, &d);
        dv_numeric_text_drop(vm, &ascii);
    }
    dv_heap_free(&vm->heap, utf8, size + 1);
    if (status == 0) return dv_raise_declared(vm, &construct_raises, text);
    return status < 0 ? DV_EMPTY : dv_float(d);
}

static dv_value float_from_bytes(dv_vm *vm, dv_value v) {
    const dv_str *bytes = dv_as_bytes(v);
    if (!dv_utf8_is_ascii(bytes->data, (size_t)bytes->length))
        return dv_raise(vm, DV_E_VALUE_ERROR, "could not convert string to float: %V", v);
    dv_value text = dv_str_points(vm, bytes->data, 1, bytes->length);
    if (dv_is_empty(text)) return DV_EMPTY;
    dv_value result = dv_float_from_str(vm, text);
    dv_release(vm, text);
    if (!dv_is_empty(result) || !dv_error_is(vm, DV_E_VALUE_ERROR)) return result;
    dv_error_clear(vm);
    return dv_raise(vm, DV_E_VALUE_ERROR, "could not convert string to float: %V", v);
}

static dv_value float_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    if (!dv_arguments_no_keywords(vm, "float", keywords) ||
        !dv_arguments_count(vm, "float", count, 0, 1))
        return DV_EMPTY;
    if (count == 0) return dv_float(0.0);
    dv_value v = args[0];
    if (dv_is_float(v)) return v;
    double d;
    bool found;
    if (special_double(vm, v, &d, &found)) return dv_float(d);
    if (found) return DV_EMPTY;
    if (dv_is_str(v)) return dv_float_from_str(vm, v);
    if (dv_is_bytes_like(v)) return float_from_bytes(vm, v);
    if (dv_is_integral(v)) return dv_int_to_double(vm, v, &d) ? dv_float(d) : DV_EMPTY;
    if (dv_is_float(dv_number_of(v))) return dv_number_of(v);
    if (dv_lends(vm, v)) {
        dv_value bytes = dv_bytes_contents(vm, v);
        dv_value r = dv_is_empty(bytes) ? DV_EMPTY : float_from_bytes(vm, bytes);
        dv_release(vm, bytes);
        return r;
    }
    return dv_raise(vm, DV_E_TYPE_ERROR,
                    "float() argument must be a string or a real number, not '%T'", v);
}

/* ---- Hash and comparison ----------------------------------------------------------------------*/

/* Under a key, that of the int that a float of at least 2^61 is. */
static int64_t hash_large(const dv_vm *vm, uint64_t m, int exponent, bool negative) {
    uint64_t limbs[1024 / 64 + 1] = {0};
    const int at = exponent / 64, shift = exponent % 64;
    limbs[at] = m << shift;
    if (shift > 64 - 53) limbs[at + 1] = m >> (64 - shift);
    return dv_hash_limbs(&vm->hash_key, limbs, (size_t)at + 1 + (limbs[at + 1] != 0), negative);
}

int64_t dv_float_hash(const dv_vm *vm, double d) {
    if (isnan(d)) return 0;
    if (isinf(d)) return d > 0 ? HASH_INFINITY : -HASH_INFINITY;
    int exponent;
    uint64_t m = (uint64_t)(frexp(fabs(d), &exponent) * 0x1p53);
    if (vm->hash_key.factor != 1 && exponent > DV_HASH_BITS)
        return hash_large(vm, m, exponent - 53, d < 0);
    /* m * 2^(exponent - 53) modulo 2^61 - 1 is m, rotated */
    int turn = (exponent - 53) % DV_HASH_BITS;
    if (turn < 0) turn += DV_HASH_BITS;
    uint64_t h = ((m << turn) & DV_HASH_MODULUS) | (turn ? m >> (DV_HASH_BITS - turn) : 0);
    return dv_hash_number(&vm->hash_key, d < 0 ? -(int64_t)h : (int64_t)h);
}

static bool float_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    *hash = dv_float_hash(vm, dv_as_float(self));
    return true;
}

/* Orders a finite d against an int of the same sign and the same number of bits, more than 53. */
static int compare_leading(double d, const dv_int_view *view) {
    int exponent;
    int64_t ignored;
    uint64_t mine = (uint64_t)(frexp(fabs(d), &exponent) * 0x1p53) << 11;
    uint64_t theirs = dv_int_leading(view, &ignored);
    theirs <<= __builtin_clzll(theirs);
    return (mine > theirs) - (mine < theirs);
}

/* Two doubles that are ordered as d and the int v are (d is not NaN). */
static void comparable(double d, dv_value v, double *a, double *b) {
    dv_int_view view;
    dv_int_look(v, &view);
    int64_t bits = (int64_t)dv_int_view_bits(&view);
    *a = d;
    if (bits <= 53) {
        double magnitude = view.count ? (double)view.limbs[0] : 0.0;
        *b = view.negative ? -magnitude : magnitude;
        return;
    }
    *b = 0.0;
    if (isinf(d) || d == 0.0 || signbit(d) != view.negative) {
        if (d == 0.0) *a = view.negative ? 1.0 : -1.0;
        return;
    }
    int exponent;
    frexp(d, &exponent);
    int order = exponent != bits ? (exponent > bits ? 1 : -1) : compare_leading(d, &view);
    *a = view.negative ? -order : order;
}

static dv_value float_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    (void)vm;
    double x, y;
    if (DV_LIKELY(dv_is_float(a) && dv_is_float(b)))
        return dv_bool(dv_doubles_compare(op, dv_as_float(a), dv_as_float(b)));
    a = dv_number_of(a);
    b = dv_number_of(b);
    if (dv_is_float(b)) return dv_bool(dv_doubles_compare(op, dv_as_float(a), dv_as_float(b)));
    if (!dv_is_integral(b)) return DV_NOTIMPLEMENTED;
    if (isnan(dv_as_float(a))) return dv_bool(op == DV_NE);
    comparable(dv_as_float(a), b, &x, &y);
    return dv_bool(dv_doubles_compare(op, x, y));
}

/* ---- Operators --------------------------------------------------------------------------------*/

double dv_float_floordiv(double a, double b) {
    double m = dv_fmod(a, b);
    double quotient = (a - m) / b;
    if (m != 0.0 && (b < 0) != (m < 0)) quotient -= 1.0;
    if (quotient == 0.0) return copysign(0.0, a / b);
    double floored = floor(quotient);
    return quotient - floored > 0.5 ? floored + 1.0 : floored;
}

/* OverflowError(34, 'Numerical result out of range') */
static dv_value raise_range(dv_vm *vm) {
    dv_value items[2] = {dv_int(34), dv_str_z(vm, "Numerical result out of range")};
    if (dv_is_empty(items[1])) return DV_EMPTY;
    dv_value args = dv_tuple_take(vm, items, 2);
    if (dv_is_empty(args)) return DV_EMPTY;
    dv_value e = dv_exception_new(vm, dv_exception_class(vm, DV_E_OVERFLOW_ERROR), args);
    dv_release(vm, args);
    if (!dv_is_empty(e)) {
        dv_exception_raise(vm, e, DV_EMPTY);
        dv_release(vm, e);
    }
    return DV_EMPTY;
}

static bool is_odd(double d) { return fmod(fabs(d), 2.0) == 1.0; }

static double pow_infinite_exponent(double a, double b) {
    a = fabs(a);
    if (a == 1.0) return 1.0;
    return (b > 0.0) == (a > 1.0) ? fabs(b) : 0.0;
}

static double pow_infinite_base(double a, double b) {
    if (b > 0.0) return is_odd(b) ? a : fabs(a);
    return is_odd(b) ? copysign(0.0, a) : 0.0;
}

dv_value dv_float_pow(dv_vm *vm, double a, double b) {
    if (b == 0.0) return dv_float(1.0);
    if (isnan(a)) return dv_float(a);
    if (isnan(b)) return dv_float(a == 1.0 ? 1.0 : b);
    if (isinf(b)) return dv_float(pow_infinite_exponent(a, b));
    if (isinf(a)) return dv_float(pow_infinite_base(a, b));
    if (a == 0.0) {
        if (b < 0.0)
            return dv_raise(vm, DV_E_ZERO_DIVISION_ERROR,
                            "0.0 cannot be raised to a negative power");
        return dv_float(is_odd(b) ? a : 0.0);
    }
    bool negate = false;
    if (a < 0.0) {
        if (b != floor(b)) return dv_complex_pow(vm, a, 0.0, b, 0.0);
        a = -a;
        negate = is_odd(b);
    }
    double r = a == 1.0 ? 1.0 : pow(a, b);
    if (isinf(r)) return raise_range(vm);
    return dv_float(negate ? -r : r);
}

double dv_float_power(double a, double b) { return pow(a, b); }

static bool divisor_defined(const dv_raw_value *arguments, dv_raw_value result) {
    (void)result;
    return arguments[1].d != 0.0;
}
static bool power_defined(const dv_raw_value *arguments, dv_raw_value result) {
    (void)result; /* it is not finite */
    return !isfinite(arguments[0].d) || !isfinite(arguments[1].d);
}
/* A divisor that is 0 gives no finite number, as `defined` must see. */
static double floordiv_raw(double a, double b) { return b == 0.0 ? NAN : dv_float_floordiv(a, b); }
static const dv_raw raw_floordiv = {"d(dd)", (dv_raw_entry)floordiv_raw, true, divisor_defined,
                                    NULL};
static const dv_raw raw_power = {"d(dd)", (dv_raw_entry)(double (*)(double, double))pow, true,
                                 power_defined, NULL};

const dv_raw *dv_float_raw(dv_binary_op op) {
    switch (op) {
    case DV_BINARY_FLOORDIV: return &raw_floordiv;
    case DV_BINARY_POW: return &raw_power;
    default: return NULL;
    }
}

static double same_double(double x) { return x; }
static double of_int64(int64_t x) { return (double)x; }
const dv_raw dv_float_raws[] = {{"d(d)", (dv_raw_entry)same_double, true, NULL, NULL},
                                {"d(q)", (dv_raw_entry)of_int64, true, NULL, NULL},
                                {0}};

static dv_value raise_zero(dv_vm *vm, const char *message) {
    return dv_raise(vm, DV_E_ZERO_DIVISION_ERROR, "%s", message);
}

/* 1: *out is the operand; 0: not a number; -1: raised. */
static int operand(dv_vm *vm, dv_value v, double *out) {
    if (DV_LIKELY(dv_is_float(v))) {
        *out = dv_as_float(v);
        return 1;
    }
    if (!dv_is_integral(v)) return 0;
    return dv_int_to_double(vm, v, out) ? 1 : -1;
}

static dv_value divmod_pair(dv_vm *vm, double x, double y) {
    if (y == 0.0) return raise_zero(vm, "float divmod()");
    dv_value pair[2] = {dv_float(dv_float_floordiv(x, y)), dv_float(dv_float_mod(x, y))};
    return dv_tuple_take(vm, pair, 2);
}

static dv_value float_binary(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    double x, y;
    if (op > DV_BINARY_POW && op != DV_BINARY_DIVMOD) return DV_NOTIMPLEMENTED;
    int left = operand(vm, a, &x);
    int right = left == 1 ? operand(vm, b, &y) : left;
    if (right != 1) return right < 0 ? DV_EMPTY : DV_NOTIMPLEMENTED;
    switch (op) {
    case DV_BINARY_ADD: return dv_float(x + y);
    case DV_BINARY_SUB: return dv_float(x - y);
    case DV_BINARY_MUL: return dv_float(x * y);
    case DV_BINARY_TRUEDIV:
        return y == 0.0 ? raise_zero(vm, "float division by zero") : dv_float(x / y);
    case DV_BINARY_FLOORDIV:
        return y == 0.0 ? raise_zero(vm, "float floor division by zero")
                        : dv_float(dv_float_floordiv(x, y));
    case DV_BINARY_MOD:
        return y == 0.0 ? raise_zero(vm, "float modulo") : dv_float(dv_float_mod(x, y));
    case DV_BINARY_POW: return dv_float_pow(vm, x, y);
    case DV_BINARY_DIVMOD: return divmod_pair(vm, x, y);
    default: return DV_NOTIMPLEMENTED;
    }
}

static dv_value float_unary(dv_vm *vm, dv_unary_op op, dv_value a) {
    (void)vm;
    if (op == DV_UNARY_INVERT) return DV_NOTIMPLEMENTED;
    return op == DV_UNARY_NEG ? dv_float(-dv_as_float(a)) : a;
}

double dv_float_whole(double d) {
    double rounded = round(d);
    return fabs(d - rounded) == 0.5 ? 2.0 * round(d / 2.0) : rounded;
}

double dv_float_to_digits(double d, int64_t digits) {
    if (!isfinite(d) || d == 0.0 || digits > 323) return d;
    if (digits < -308) return 0.0 * d;
    char text[DV_DTOA_DIGITS + 8];
    int point;
    size_t count = dv_dtoa_digits(d, 'f', (int)digits, text, DV_DTOA_DIGITS, &point);
    size_t size = count + dv_float_write_exponent(point - (int)count, 'e', text + count);
    double result;
    return dv_dtoa_parse(text, size, &result) ? copysign(result, d) : INFINITY;
}

dv_value dv_float_round(dv_vm *vm, double d, bool has_digits, int64_t digits) {
    if (!has_digits) return dv_int_from_double(vm, dv_float_whole(d));
    const double rounded = dv_float_to_digits(d, digits);
    if (isinf(rounded) && !isinf(d))
        return dv_raise(vm, DV_E_OVERFLOW_ERROR, "rounded value too large to represent");
    return dv_float(rounded);
}

/* ---- Methods and attributes -------------------------------------------------------------------*/

static dv_value is_integer(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)vm;
    (void)count;
    double d = dv_as_float(dv_number_of(args[0]));
    return dv_bool(isfinite(d) && floor(d) == d);
}

static dv_value conjugate(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)vm;
    (void)count;
    return dv_number_of(args[0]);
}

/* mantissa * 2^exponent as a fraction in lowest terms. */
static dv_value make_ratio(dv_vm *vm, uint64_t mantissa, int exponent, bool negative) {
    int twos = mantissa ? __builtin_ctzll(mantissa) : 0;
    if (exponent < 0 && twos > -exponent) twos = -exponent;
    mantissa >>= twos;
    exponent = mantissa ? exponent + twos : 0;
    dv_int_view top = {&mantissa, mantissa != 0, negative, 0}, one;
    dv_int_look(dv_int(1), &one);
    dv_value items[2];
    items[0] = dv_int_shift_left(vm, &top, exponent > 0 ? (uint64_t)exponent : 0);
    if (dv_is_empty(items[0])) return DV_EMPTY;
    items[1] = dv_int_shift_left(vm, &one, exponent < 0 ? (uint64_t)-exponent : 0);
    if (dv_is_empty(items[1])) {
        dv_release(vm, items[0]);
        return DV_EMPTY;
    }
    return dv_tuple_take(vm, items, 2);
}

static dv_value as_integer_ratio(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    double d = dv_as_float(dv_number_of(args[0]));
    if (isinf(d))
        return dv_raise(vm, DV_E_OVERFLOW_ERROR, "cannot convert Infinity to integer ratio");
    if (isnan(d)) return dv_raise(vm, DV_E_VALUE_ERROR, "cannot convert NaN to integer ratio");
    int exponent;
    uint64_t mantissa = (uint64_t)(frexp(fabs(d), &exponent) * 0x1p53);
    return make_ratio(vm, mantissa, exponent - 53, d < 0);
}

static dv_value hex(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    double d = dv_as_float(dv_number_of(args[0]));
    char buffer[40];
    if (!isfinite(d)) return dv_str_new(vm, buffer, dv_float_repr(d, buffer));
    const char *sign = signbit(d) ? "-" : "";
    if (d == 0.0) return dv_str_printf(vm, "%s0x0.0p+0", sign);
    int exponent;
    double m = frexp(fabs(d), &exponent);
    int shift = 1 - (-1021 - exponent > 0 ? -1021 - exponent : 0);
    uint64_t bits = (uint64_t)(ldexp(m, shift) * 0x1p52); /* one digit, the point, 13 digits */
    exponent -= shift;
    char digits[14];
    for (int i = 12; i >= 0; i--, bits >>= 4) digits[i] = "0123456789abcdef"[bits & 15];
    digits[13] = 0;
    return dv_str_printf(vm, "%s0x%d.%sp%c%d", sign, (int)bits, digits, exponent < 0 ? '-' : '+',
                         exponent < 0 ? -exponent : exponent);
}

static int hex_value(char c) {
    if (is_digit(c)) return c - '0';
    char lower = (char)(c | 32);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The hexadecimal digits of a mantissa: leading bits with a sticky lowest one, and the exponent. */
static const char *scan_hex(const char *p, const char *end, uint64_t *mantissa, int64_t *exponent) {
    bool point = false, any = false;
    *mantissa = 0;
    *exponent = 0;
    for (; p < end; p++) {
        if (*p == '.' && !point) {
            point = true;
            continue;
        }
        int digit = hex_value(*p);
        if (digit < 0) break;
        any = true;
        if (*mantissa >> 60) { /* no room: only whether it is zero matters */
            *mantissa |= digit != 0;
            *exponent += point ? 0 : 4;
        } else {
            *mantissa = *mantissa << 4 | (uint64_t)digit;
            *exponent -= point ? 4 : 0;
        }
    }
    return any ? p : NULL;
}

static const char *scan_hex_exponent(const char *p, const char *end, int64_t *exponent) {
    if (p == end || (*p | 32) != 'p') return p;
    p++;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (p == end || !is_digit(*p)) return NULL;
    int64_t n = 0;
    for (; p < end && is_digit(*p); p++)
        if (n < (int64_t)1 << 50) n = n * 10 + (*p - '0');
    *exponent += negative ? -n : n;
    return p;
}

typedef enum hex_result { HEX_OK, HEX_INVALID, HEX_TOO_LARGE } hex_result;

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static hex_result parse_hex(const char *text, size_t size, double *out) {
    const char *p = text, *end = text + size;
    while (p < end && is_space(*p)) p++;
    while (end > p && is_space(end[-1])) end--;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (!parse_word(p, (size_t)(end - p), out)) {
        if (end - p >= 2 && p[0] == '0' && (p[1] | 32) == 'x') p += 2;
        uint64_t mantissa;
        int64_t exponent;
        p = scan_hex(p, end, &mantissa, &exponent);
        if (p) p = scan_hex_exponent(p, end, &exponent);
        if (p != end) return HEX_INVALID;
        *out = dv_int_scale(mantissa, exponent);
        if (isinf(*out)) return HEX_TOO_LARGE;
    }
    if (negative) *out = -*out;
    return HEX_OK;
}

static dv_value fromhex(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_value text = args[count - 1];
    if (!dv_is_str(text))
        return dv_raise(vm, DV_E_TYPE_ERROR, "bad argument type for built-in operation");
    size_t size;
    char *utf8 = dv_str_utf8(vm, text, &size);
    if (!utf8) return DV_EMPTY;
    double d = 0.0;
    hex_result result = parse_hex(utf8, size, &d);
    dv_heap_free(&vm->heap, utf8, size + 1);
    if (result == HEX_INVALID)
        return dv_raise(vm, DV_E_VALUE_ERROR, "invalid hexadecimal floating-point string");
    if (result == HEX_TOO_LARGE)
        return dv_raise(vm, DV_E_OVERFLOW_ERROR,
                        "hexadecimal value too large to represent as a float");
    return dv_subclass_of_exact(vm, args[0], dv_float(d));
}

/* For CPython's test suite, which asks whether floats are IEEE's. */
static dv_value getformat(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_value name = args[count - 1];
    if (!dv_is_str(name)) return dv_arguments_refuse(vm, "__getformat__() argument", "str", name);
    if (!dv_str_is(name, "double") && !dv_str_is(name, "float"))
        return dv_raise(vm, DV_E_VALUE_ERROR,
                        "__getformat__() argument 1 must be 'double' or 'float'");
    uint16_t probe = 1;
    return dv_str_z(vm, *(uint8_t *)&probe ? "IEEE, little-endian" : "IEEE, big-endian");
}

static const dv_cfunction_def methods[] = {
    {.name = "__getformat__", .entry = getformat, .min = 2, .max = 2, .flags = DV_CFUNCTION_CLASS},
    {.name = "as_integer_ratio", .entry = as_integer_ratio, .min = 1, .max = 1},
    {.name = "conjugate", .entry = conjugate, .min = 1, .max = 1},
    {.name = "fromhex", .entry = fromhex, .min = 2, .max = 2, .flags = DV_CFUNCTION_CLASS},
    {.name = "hex", .entry = hex, .min = 1, .max = 1},
    {.name = "is_integer", .entry = is_integer, .min = 1, .max = 1},
    {.name = NULL},
};

/* EMPTY without vm->error: none of the data attributes. */
static dv_value get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    (void)vm;
    if (dv_str_is(name, "real")) return dv_number_of(self);
    if (dv_str_is(name, "imag")) return dv_float(0.0);
    return DV_EMPTY;
}

/* ---- The type ---------------------------------------------------------------------------------*/

static dv_value float_repr(dv_vm *vm, dv_value self) {
    char buffer[32];
    return dv_str_new(vm, buffer, dv_float_repr(dv_as_float(self), buffer));
}

static bool float_truth(dv_value self) { return dv_as_float(self) != 0.0; }

static dv_value float_format(dv_vm *vm, dv_value self, dv_value spec) {
    return dv_format_float(vm, self, dv_as_float(dv_number_of(self)), spec);
}

static dv_value float_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    dv_float_object *object = dv_subclass_alloc(vm, class_, sizeof *object);
    if (!object) return DV_EMPTY;
    object->value = dv_as_float(exact);
    return dv_object_value(object);
}

/* Floats are immediate: only instances of subclasses are objects. */
static void float_release(dv_vm *vm, dv_object *object) {
    dv_subclass_free(vm, object, sizeof(dv_float_object));
}

const dv_type dv_float_type = {
    .name = "float",
    .id = DV_T_FLOAT,
    .release = float_release,
    .repr = float_repr,
    .hash = float_hash,
    .compare = float_compare,
    .binary = float_binary,
    .unary = float_unary,
    .truth = float_truth,
    .get_attribute = get_attribute,
    .format = float_format,
    .construct = float_construct,
    .raises = &construct_raises,
    .adopt = float_adopt,
    .ignores_keywords = true,
    .methods = methods,
};
