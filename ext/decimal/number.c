/* number.c: arithmetic on small numbers: coefficients below 10^38, contexts of at most
 * FAST_PRECISION digits.  Products and dividends of up to six limbs go through GMP.
 *
 * Invariants
 *  1. What a function here does not do exactly as large.c does, it leaves to that.
 *  2. `settle` is the only place that rounds. */
#include "decimal.h"

#include <gmp.h>

_Static_assert(sizeof(mp_limb_t) == 8, "limbs have 64 bits");

#define TEN(n) ((u128)(n))
#define BIG(n) (TEN(n) * 10000000000000000000u)
const u128 decimal_powers[SMALL_DIGITS + 1] = {TEN(1),
                                               TEN(10),
                                               TEN(100),
                                               TEN(1000),
                                               TEN(10000),
                                               TEN(100000),
                                               TEN(1000000),
                                               TEN(10000000),
                                               TEN(100000000),
                                               TEN(1000000000),
                                               TEN(10000000000),
                                               TEN(100000000000),
                                               TEN(1000000000000),
                                               TEN(10000000000000),
                                               TEN(100000000000000),
                                               TEN(1000000000000000),
                                               TEN(10000000000000000),
                                               TEN(100000000000000000),
                                               TEN(1000000000000000000),
                                               TEN(10000000000000000000u),
                                               BIG(10),
                                               BIG(100),
                                               BIG(1000),
                                               BIG(10000),
                                               BIG(100000),
                                               BIG(1000000),
                                               BIG(10000000),
                                               BIG(100000000),
                                               BIG(1000000000),
                                               BIG(10000000000),
                                               BIG(100000000000),
                                               BIG(1000000000000),
                                               BIG(10000000000000),
                                               BIG(100000000000000),
                                               BIG(1000000000000000),
                                               BIG(10000000000000000),
                                               BIG(100000000000000000),
                                               BIG(1000000000000000000),
                                               BIG(10000000000000000000u)};

static uint32_t bits_of(u128 c) {
    uint64_t high = (uint64_t)(c >> 64), low = (uint64_t)c;
    return high  ? 128 - (uint32_t)__builtin_clzll(high)
           : low ? 64 - (uint32_t)__builtin_clzll(low)
                 : 0;
}

uint32_t decimal_digits(u128 c) {
    uint32_t n = bits_of(c) * 1233 >> 12; /* log10(2), from below: right, or one too small */
    return n < SMALL_DIGITS + 1 && c >= decimal_powers[n] ? n + 1 : n ? n : 1;
}

static bool is_plain(const number *n) { return n->kind == FINITE && !n->is_big; }

static inline void divide_by_power(u128 c, uint32_t k, u128 *quotient, u128 *rest) {
    u128 unit = decimal_powers[k];
    if (!(c >> 64) && !(unit >> 64)) {
        *quotient = (uint64_t)c / (uint64_t)unit;
        *rest = (uint64_t)c % (uint64_t)unit;
    } else {
        *quotient = c / unit;
        *rest = c - *quotient * unit;
    }
}

/* Removes k digits, 0 < k <= SMALL_DIGITS. */
static u128 cut(int64_t rounding, uint32_t sign, u128 c, uint32_t k, uint32_t *status) {
    u128 quotient, rest;
    divide_by_power(c, k, &quotient, &rest);
    *status |= IS_ROUNDED;
    if (!rest) return quotient;
    *status |= IS_INEXACT;
    const u128 half = decimal_powers[k] / 2; /* exact */
    return quotient + decimal_goes_up(rounding, sign, (rest > half) - (rest < half), quotient & 1,
                                      rounding == ROUND_05UP && quotient % 5 == 0);
}

/* The number, rounded to the context, if it is not near the ends of its exponents. */
static bool settle(const context *with, uint32_t sign, u128 c, int64_t exponent, number *out,
                   uint32_t *status) {
    uint32_t digits = decimal_digits(c);
    uint32_t conditions = 0;
    if (exponent + digits <= with->emin) return false;
    if (digits > (uint64_t)with->precision) {
        uint32_t k = digits - (uint32_t)with->precision;
        c = cut(with->rounding, sign, c, k, &conditions);
        exponent += k;
        if (c == decimal_powers[with->precision]) {
            c = decimal_powers[with->precision - 1];
            exponent++;
        }
        digits = (uint32_t)with->precision;
    }
    if (exponent + digits > with->emax - with->precision) return false;
    *out = (number){.c = c, .exponent = exponent, .sign = (uint8_t)sign};
    *status = conditions;
    return true;
}

static bool fast_add(const context *with, const number *a, const number *b, uint32_t b_sign,
                     number *out, uint32_t *status) {
    u128 x = a->c, y = b->c;
    int64_t exponent = a->exponent, gap = a->exponent - b->exponent;
    if (gap > 0) {
        if (gap > SMALL_DIGITS || decimal_digits(x) + gap > SMALL_DIGITS) return false;
        x *= decimal_powers[gap];
        exponent = b->exponent;
    } else if (gap < 0) {
        if (gap < -SMALL_DIGITS || decimal_digits(y) - gap > SMALL_DIGITS) return false;
        y *= decimal_powers[-gap];
    }
    uint32_t sign = a->sign;
    u128 sum;
    if (sign == b_sign) {
        sum = x + y;
        if (sum >= decimal_powers[SMALL_DIGITS]) return false;
    } else if (x == y) {
        sum = 0;
        sign = with->rounding == ROUND_FLOOR;
    } else {
        sum = x > y ? x - y : y - x;
        sign = x > y ? sign : b_sign;
    }
    return settle(with, sign, sum, exponent, out, status);
}

static void to_limbs(u128 c, mp_limb_t limbs[2]) {
    limbs[0] = (mp_limb_t)c;
    limbs[1] = (mp_limb_t)(c >> 64);
}

static mp_size_t used(const mp_limb_t *limbs, mp_size_t count) {
    while (count && !limbs[count - 1]) count--;
    return count;
}

static bool fast_multiply(const context *with, const number *a, const number *b, number *out,
                          uint32_t *status) {
    uint32_t sign = a->sign ^ b->sign;
    int64_t exponent = a->exponent + b->exponent;
    u128 product;
    if (!__builtin_mul_overflow(a->c, b->c, &product) && product < decimal_powers[SMALL_DIGITS])
        return settle(with, sign, product, exponent, out, status);

    /* So many digits go at once that 37 or 38 are left; a last one that is neither 0 nor 5 says
     * that others were no zeros. */
    mp_limb_t x[2], y[2], whole[4], quotient[4] = {0}, rest[2] = {0}, unit[2];
    to_limbs(a->c, x);
    to_limbs(b->c, y);
    mpn_mul_n(whole, x, y, 2);
    mp_size_t size = used(whole, 4);
    uint32_t bits = (uint32_t)size * 64 - (uint32_t)__builtin_clzll(whole[size - 1]);
    int64_t k = (int64_t)(bits * 1233 >> 12) + 1 - SMALL_DIGITS;
    if (k < 1) k = 1;
    if (k > SMALL_DIGITS) return false;
    to_limbs(decimal_powers[k], unit);
    mp_size_t unit_size = used(unit, 2);
    mpn_tdiv_qr(quotient, rest, 0, whole, size, unit, unit_size);
    product = ((u128)quotient[1] << 64) | quotient[0];
    if ((rest[0] || rest[1]) && product % 5 == 0) product++;
    return settle(with, sign, product, exponent + k, out, status);
}

static bool fast_divide(const context *with, const number *a, const number *b, number *out,
                        uint32_t *status) {
    if (!b->c) return false;
    uint32_t sign = a->sign ^ b->sign;
    int64_t ideal = a->exponent - b->exponent;
    if (!a->c) return settle(with, sign, 0, ideal, out, status);
    int64_t shift = (int64_t)decimal_digits(b->c) - decimal_digits(a->c) + with->precision + 1;
    if (shift < 0) shift = 0;
    mp_limb_t x[2], y[2], first[4], whole[6] = {0}, quotient[6] = {0}, rest[2] = {0}, unit[2];
    int64_t part = shift < SMALL_DIGITS ? shift : SMALL_DIGITS;
    if (shift - part > SMALL_DIGITS) return false;
    to_limbs(a->c, x);
    to_limbs(decimal_powers[part], unit);
    mpn_mul_n(first, x, unit, 2);
    to_limbs(decimal_powers[shift - part], unit);
    mpn_mul(whole, first, 4, unit, 2);
    to_limbs(b->c, y);
    mpn_tdiv_qr(quotient, rest, 0, whole, used(whole, 6), y, used(y, 2));
    u128 c = ((u128)quotient[1] << 64) | quotient[0];
    int64_t exponent = ideal - shift;
    if (rest[0] || rest[1]) {
        if (c % 5 == 0) c++;
    } else {
        while (exponent < ideal && c % 10 == 0) {
            c /= 10;
            exponent++;
        }
    }
    return settle(with, sign, c, exponent, out, status);
}

static bool fast_quantize(const context *with, const number *a, const number *b, number *out,
                          uint32_t *status) {
    int64_t gap = b->exponent - a->exponent;
    u128 c = a->c;
    uint32_t conditions = 0;
    if (gap > 0) {
        if (gap > SMALL_DIGITS) return false;
        c = cut(with->rounding, a->sign, c, (uint32_t)gap, &conditions);
        if (!a->c) conditions = 0;
    } else if (gap < 0) {
        if (gap < -SMALL_DIGITS || decimal_digits(c) - gap > SMALL_DIGITS) return false;
        c *= decimal_powers[-gap];
    }
    uint32_t settled;
    if (decimal_digits(c) > (uint64_t)with->precision ||
        !settle(with, a->sign, c, b->exponent, out, &settled))
        return false;
    *status = conditions;
    return true;
}

bool decimal_fast_compare(const number *a, const number *b, int *out) {
    if (!is_plain(a) || !is_plain(b)) return false;
    int x = a->c ? (a->sign ? -1 : 1) : 0, y = b->c ? (b->sign ? -1 : 1) : 0;
    if (x != y || !x) {
        *out = (x > y) - (x < y);
        return true;
    }
    int64_t above = (a->exponent + decimal_digits(a->c)) - (b->exponent + decimal_digits(b->c));
    if (above) {
        *out = above > 0 ? x : -x;
        return true;
    }
    /* As many digits before the point: the gap is less than SMALL_DIGITS. */
    int64_t gap = a->exponent - b->exponent;
    u128 p = a->c, q = b->c;
    if (gap > 0) p *= decimal_powers[gap];
    if (gap < 0) q *= decimal_powers[-gap];
    *out = p == q ? 0 : p > q ? x : -x;
    return true;
}

static bool fast_sign(const context *with, operation op, const number *a, number *out,
                      uint32_t *status) {
    uint32_t sign = op == OP_abs ? 0 : op == OP_minus ? !a->sign : a->sign;
    if (!a->c && op != OP_abs) {
        if (with->rounding == ROUND_FLOOR) return false;
        sign = 0;
    }
    return settle(with, sign, a->c, a->exponent, out, status);
}

bool decimal_fast(operation op, const context *with, const number *a, const number *b, number *out,
                  uint32_t *status) {
    int order;
    if (with->precision > FAST_PRECISION || with->clamp || !is_plain(a) || (b && !is_plain(b)))
        return false;
    switch (op) {
    case OP_add: return fast_add(with, a, b, b->sign, out, status);
    case OP_subtract: return fast_add(with, a, b, !b->sign, out, status);
    case OP_multiply: return fast_multiply(with, a, b, out, status);
    case OP_divide: return fast_divide(with, a, b, out, status);
    case OP_quantize: return fast_quantize(with, a, b, out, status);
    case OP_plus:
    case OP_minus:
    case OP_abs: return fast_sign(with, op, a, out, status);
    case OP_compare:
        if (!decimal_fast_compare(a, b, &order)) return false;
        *out = (number){.c = order != 0, .sign = order < 0};
        *status = 0;
        return true;
    default: return false;
    }
}
