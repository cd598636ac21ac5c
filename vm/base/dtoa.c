/* dtoa.c: doubles to text and back, correctly rounded and free of locales.
 *
 * Reading: Clinger's fast path, then the algorithm of Eisel and Lemire ("Number Parsing at a
 * Gigabyte per Second", 2021) on up to 19 digits; where more digits could matter, an exact
 * comparison with the point halfway between the two candidates.
 * Writing the shortest digits: Schubfach (Raffaello Giulietti, "The Schubfach way to render
 * doubles", 2020), in the formulation of Alexander Bolz.
 * Writing a given number of digits: 128-bit arithmetic where it is exact, else all digits of the
 * number, rounded half to even.
 *
 * Invariants
 *  1. Every result is the correctly rounded one; no step approximates without proof.
 *  2. Nothing here allocates, and there is no state. */
#include "base/dtoa.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/dtoa_powers.h"

typedef unsigned __int128 uint128;

#define HIDDEN_BIT    ((uint64_t)1 << 52)
#define EXPONENT_BIAS 1075 /* value = mantissa * 2^(exponent field - 1075) */

static const uint64_t tens[20] = {1u,
                                  10u,
                                  100u,
                                  1000u,
                                  10000u,
                                  100000u,
                                  1000000u,
                                  10000000u,
                                  100000000u,
                                  1000000000u,
                                  10000000000u,
                                  100000000000u,
                                  1000000000000u,
                                  10000000000000u,
                                  100000000000000u,
                                  1000000000000000u,
                                  10000000000000000u,
                                  100000000000000000u,
                                  1000000000000000000u,
                                  10000000000000000000u};

static const double exact_tens[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233"
                            "34353637383940414243444546474849505152535455565758596061626364656667"
                            "6869707172737475767778798081828384858687888990919293949596979899";

static double from_bits(uint64_t bits) {
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static uint64_t to_bits(double d) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

/* Mantissa and exponent of a finite double: |d| = mantissa * 2^exponent. */
static uint64_t split(double d, int *exponent) {
    uint64_t bits = to_bits(d), fraction = bits & (HIDDEN_BIT - 1);
    int field = (int)(bits >> 52) & 0x7FF;
    *exponent = (field ? field : 1) - EXPONENT_BIAS;
    return field ? fraction | HIDDEN_BIT : fraction;
}

/* ---- Reading ----------------------------------------------------------------------------------*/

/* A literal taken apart: digits * 10^exponent. */
typedef struct literal {
    uint64_t digits;       /* the first 19 significant digits */
    int64_t exponent;      /* of `digits` */
    const char *first;     /* first significant digit in the text */
    const char *end;       /* behind the last digit of the mantissa */
    int64_t digit_count;   /* significant digits, leading zeros not counted */
    int64_t full_exponent; /* of all digits taken as an integer */
} literal;

static bool is_digit(char c) { return (unsigned char)(c - '0') <= 9; }

static bool scan_exponent(const char **position, const char *end, int64_t *exponent) {
    const char *p = *position + 1;
    bool negative = false;
    if (p < end && (*p == '+' || *p == '-')) negative = *p++ == '-';
    if (p == end || !is_digit(*p)) return false;
    int64_t value = 0;
    for (; p < end && is_digit(*p); p++)
        if (value < 1000000000000) value = value * 10 + (*p - '0');
    *exponent += negative ? -value : value;
    *position = p;
    return true;
}

static bool scan(const char *text, size_t size, literal *out) {
    const char *p = text, *end = text + size;
    int64_t behind_point = 0, dropped = 0;
    bool point = false, any = false;
    *out = (literal){.first = NULL};
    for (; p < end; p++) {
        if (*p == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(*p)) break;
        any = true;
        behind_point += point;
        if (!out->first) {
            if (*p == '0') continue;
            out->first = p;
        }
        if (out->digit_count++ < 19)
            out->digits = out->digits * 10 + (uint64_t)(*p - '0');
        else
            dropped++;
    }
    if (!any) return false;
    out->end = p;
    int64_t exponent = 0;
    if (p < end && (*p == 'e' || *p == 'E') && !scan_exponent(&p, end, &exponent)) return false;
    out->full_exponent = exponent - behind_point;
    out->exponent = out->full_exponent + dropped;
    return p == end;
}

/* digits * 10^exponent, correctly rounded.  The table is cut off, but for exponents from -27 to -1
 * the proof wants it rounded up. */
static double eisel_lemire(uint64_t digits, int64_t exponent) {
    if (digits == 0 || exponent < DV_DTOA_POWER_MIN) return 0.0;
    if (exponent > 308) return from_bits((uint64_t)0x7FF << 52);
    int q = (int)exponent;
    int zeros = __builtin_clzll(digits);
    uint64_t w = digits << zeros;
    dv_dtoa_power power = dv_dtoa_powers[q - DV_DTOA_POWER_MIN];
    if (q < 0 && q >= -27 && ++power.low == 0) power.high++;

    uint128 product = (uint128)w * power.high;
    if ((product >> 64 & 0x1FF) == 0x1FF) {
        uint64_t more = (uint64_t)(((uint128)w * power.low) >> 64);
        product += more;
    }
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    int upper = (int)(high >> 63), shift = upper + 9;
    uint64_t mantissa = high >> shift;
    int field = (int)((217706 * (int64_t)q) >> 16) + 63 + upper - zeros + 1023;
    if (field <= 0) {
        if (-field + 1 >= 64) return 0.0;
        mantissa >>= -field + 1;
        mantissa += mantissa & 1;
        mantissa >>= 1;
        return from_bits(mantissa); /* carries into the exponent field by itself */
    }
    /* Exactly halfway is possible only for these exponents. */
    if (low <= 1 && q >= -4 && q <= 23 && (mantissa & 3) == 1 && mantissa << shift == high)
        mantissa &= ~(uint64_t)1;
    mantissa += mantissa & 1;
    mantissa >>= 1;
    if (mantissa >= 2 * HIDDEN_BIT) {
        mantissa = HIDDEN_BIT;
        field++;
    }
    if (field >= 0x7FF) return from_bits((uint64_t)0x7FF << 52);
    return from_bits((mantissa & ~HIDDEN_BIT) | (uint64_t)field << 52);
}

/* Natural numbers large enough for the comparison below (5000 bits). */
typedef struct big {
    int count;
    uint64_t limbs[96];
} big;

static void big_multiply_add(big *b, uint64_t factor, uint64_t carry) {
    for (int i = 0; i < b->count; i++) {
        uint128 t = (uint128)b->limbs[i] * factor + carry;
        b->limbs[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
    if (carry) b->limbs[b->count++] = carry;
}

static void big_multiply_ten(big *b, int64_t exponent) {
    for (; exponent >= 19; exponent -= 19) big_multiply_add(b, tens[19], 0);
    if (exponent > 0) big_multiply_add(b, tens[exponent], 0);
}

static void big_shift(big *b, int bits) {
    for (; bits >= 63; bits -= 63) big_multiply_add(b, (uint64_t)1 << 63, 0);
    if (bits > 0) big_multiply_add(b, (uint64_t)1 << bits, 0);
}

static int big_compare(const big *a, const big *b) {
    if (a->count != b->count) return a->count < b->count ? -1 : 1;
    for (int i = a->count - 1; i >= 0; i--)
        if (a->limbs[i] != b->limbs[i]) return a->limbs[i] < b->limbs[i] ? -1 : 1;
    return 0;
}

/* All digits as an integer; of those beyond DV_DTOA_DIGITS only whether they are zero matters. */
static void big_from_literal(big *b, const literal *l, int64_t *exponent) {
    uint64_t chunk = 0;
    int in_chunk = 0;
    int64_t taken = 0;
    b->count = 0;
    *exponent = l->full_exponent;
    bool tail = false;
    for (const char *p = l->first; p < l->end; p++) {
        if (*p == '.') continue;
        if (taken == DV_DTOA_DIGITS) {
            tail |= *p != '0';
            ++*exponent;
            continue;
        }
        chunk = chunk * 10 + (uint64_t)(*p - '0');
        taken++;
        if (++in_chunk == 19) {
            big_multiply_add(b, tens[19], chunk);
            chunk = 0;
            in_chunk = 0;
        }
    }
    big_multiply_add(b, tens[in_chunk], chunk);
    if (tail) {
        big_multiply_add(b, 10, 1);
        --*exponent;
    }
}

/* The literal lies between `low` and the next double: decides exactly. */
static double round_exactly(const literal *l, double low) {
    int exponent;
    uint64_t mantissa = split(low, &exponent);
    int64_t ten;
    big value, middle = {1, {2 * mantissa + 1}};
    big_from_literal(&value, l, &ten);
    exponent--;
    if (ten >= 0)
        big_multiply_ten(&value, ten);
    else
        big_multiply_ten(&middle, -ten);
    if (exponent >= 0)
        big_shift(&middle, exponent);
    else
        big_shift(&value, -exponent);
    int order = big_compare(&value, &middle);
    bool up = order > 0 || (order == 0 && (mantissa & 1));
    return up ? from_bits(to_bits(low) + 1) : low;
}

bool dv_dtoa_parse(const char *text, size_t size, double *out) {
    literal l;
    if (!scan(text, size, &l)) return false;
    if (l.digit_count <= 19) {
        if (l.digits <= 2 * HIDDEN_BIT && l.exponent >= -22 && l.exponent <= 22) {
            double d = (double)l.digits;
            *out = l.exponent < 0 ? d / exact_tens[-l.exponent] : d * exact_tens[l.exponent];
            return true;
        }
        *out = eisel_lemire(l.digits, l.exponent);
        return true;
    }
    double low = eisel_lemire(l.digits, l.exponent);
    double high = eisel_lemire(l.digits + 1, l.exponent);
    *out = low == high ? low : round_exactly(&l, low);
    return true;
}

/* ---- Writing ----------------------------------------------------------------------------------*/

size_t dv_dtoa_decimal(unsigned long long n, char *digits) {
    char buffer[20];
    size_t i = sizeof buffer;
    while (n >= 100) {
        i -= 2;
        memcpy(buffer + i, pairs + 2 * (n % 100), 2);
        n /= 100;
    }
    if (n >= 10) {
        i -= 2;
        memcpy(buffer + i, pairs + 2 * n, 2);
    } else {
        buffer[--i] = (char)('0' + n);
    }
    memcpy(digits, buffer + i, sizeof buffer - i);
    return sizeof buffer - i;
}

/* Writes n without the zeros at its end; its value is 0.DIGITS * 10^*point after scaling by
 * 10^exponent. */
static size_t write_digits(uint64_t n, int exponent, char *digits, size_t capacity, int *point) {
    char buffer[20];
    size_t count = dv_dtoa_decimal(n, buffer);
    *point = (int)count + exponent;
    while (count > 1 && buffer[count - 1] == '0') count--;
    if (n == 0) *point = 1;
    if (count > capacity) count = capacity;
    memcpy(digits, buffer, count);
    return count;
}

/* floor(g * n / 2^64) with a lowest bit that is 1 if anything was lost ("rounded to odd"). */
static uint64_t round_to_odd(dv_dtoa_power g, uint64_t n) {
    uint64_t x = (uint64_t)(((uint128)g.low * n) >> 64);
    uint128 y = (uint128)g.high * n + x;
    return (uint64_t)(y >> 64) | ((uint64_t)y > 1);
}

static uint64_t shortest(double d, int *exponent) {
    uint64_t bits = to_bits(d), fraction = bits & (HIDDEN_BIT - 1);
    int q;
    uint64_t c = split(d, &q);
    if (q <= 0 && -q < 53 && (c & (((uint64_t)1 << -q) - 1)) == 0) {
        *exponent = 0;
        return c >> -q;
    }
    bool odd = c & 1;
    bool closer = fraction == 0 && ((bits >> 52) & 0x7FF) > 1;
    int k = (q * 1262611 - (closer ? 524031 : 0)) >> 22;
    int h = q + ((-k * 1741647) >> 19) + 1;
    dv_dtoa_power g = dv_dtoa_powers[-k - DV_DTOA_POWER_MIN];
    if ((-k < 0 || -k > 55) && ++g.low == 0) g.high++;

    uint64_t v = round_to_odd(g, (4 * c) << h);
    uint64_t lower = round_to_odd(g, (4 * c - 2 + closer) << h) + odd;
    uint64_t upper = round_to_odd(g, (4 * c + 2) << h) - odd;
    uint64_t s = v / 4;
    if (s >= 10) {
        uint64_t t = s / 10;
        bool low_inside = lower <= 40 * t, high_inside = 40 * t + 40 <= upper;
        if (low_inside != high_inside) {
            *exponent = k + 1;
            return t + high_inside;
        }
    }
    *exponent = k;
    bool low_inside = lower <= 4 * s, high_inside = 4 * s + 4 <= upper;
    if (low_inside != high_inside) return s + high_inside;
    uint64_t middle = 4 * s + 2;
    return s + (v > middle || (v == middle && (s & 1)));
}

/* round(mantissa * 2^exponent / 10^power), half to even, if the integer part fits in 64 bits. */
static bool scaled_down(uint64_t mantissa, int exponent, int power, uint64_t *out) {
    if (exponent > 11 || exponent < -63 || power > 18) return false;
    uint64_t whole = exponent < 0 ? mantissa >> -exponent : mantissa << exponent;
    bool fraction = exponent < 0 && (mantissa & (((uint64_t)1 << -exponent) - 1));
    uint64_t quotient = whole / tens[power], rest = whole % tens[power], half = tens[power] / 2;
    *out = quotient + (rest > half || (rest == half && (fraction || (quotient & 1))));
    return true;
}

/* round(mantissa * 2^exponent * 10^power), half to even, if it can be had from 128 bits. */
static bool scaled(uint64_t mantissa, int exponent, int power, uint64_t *out) {
    if (power < 0) return scaled_down(mantissa, exponent, -power, out);
    if (exponent > -1 || exponent < -127 || power > 22) return false;
    uint128 product = (uint128)mantissa * tens[power < 19 ? power : 19];
    if (power > 19) product *= tens[power - 19];
    uint128 quotient = product >> -exponent, half = (uint128)1 << (-exponent - 1);
    if (quotient >> 63) return false;
    uint128 rest = product & (2 * half - 1);
    *out = (uint64_t)quotient + (rest > half || (rest == half && (quotient & 1)));
    return true;
}

static bool fixed_fast(uint64_t mantissa, int exponent, int precision, char *digits,
                       size_t capacity, int *point, size_t *count) {
    uint64_t n;
    if (exponent >= 0 && exponent <= 11 && precision >= 0) {
        *count = write_digits(mantissa << exponent, 0, digits, capacity, point);
        return true;
    }
    if (!scaled(mantissa, exponent, precision, &n)) return false;
    *count = write_digits(n, -precision, digits, capacity, point);
    return true;
}

static bool significant_fast(uint64_t mantissa, int exponent, int precision, char *digits,
                             size_t capacity, int *point, size_t *count) {
    if (precision > 17) return false;
    int log2 = 63 - __builtin_clzll(mantissa) + exponent;
    int log10 = (log2 * 78913) >> 18; /* floor(log10) of the number, or one less */
    uint64_t n;
    for (int i = 0; i < 2; i++, log10++) {
        if (!scaled(mantissa, exponent, precision - 1 - log10, &n)) return false;
        if (n < tens[precision]) {
            *count = write_digits(n, log10 + 1 - precision, digits, capacity, point);
            return true;
        }
    }
    return false;
}

#define WORD 1000000000u

/* All digits of mantissa * 2^exponent; returns their number.  With a negative exponent these are
 * the digits of mantissa * 5^-exponent, the point moved. */
static int all_digits(uint64_t mantissa, int exponent, char *digits, int *point) {
    uint32_t words[100]; /* base 10^9, least significant first */
    int count = 0;
    for (; mantissa; mantissa /= WORD) words[count++] = (uint32_t)(mantissa % WORD);
    for (int left = exponent < 0 ? -exponent : exponent; left > 0;) {
        int step = exponent < 0 ? (left < 13 ? left : 13) : (left < 29 ? left : 29);
        uint64_t factor = 1;
        if (exponent < 0)
            for (int i = 0; i < step; i++) factor *= 5;
        else
            factor <<= step;
        uint64_t carry = 0;
        for (int i = 0; i < count; i++) {
            uint64_t t = words[i] * factor + carry;
            words[i] = (uint32_t)(t % WORD);
            carry = t / WORD;
        }
        for (; carry; carry /= WORD) words[count++] = (uint32_t)(carry % WORD);
        left -= step;
    }
    int length = (int)dv_dtoa_decimal(words[count - 1], digits);
    for (int i = count - 2; i >= 0; i--, length += 9)
        for (uint32_t n = words[i], j = 9; j-- > 0; n /= 10)
            digits[length + (int)j] = (char)('0' + n % 10);
    *point = length + (exponent < 0 ? exponent : 0);
    return length;
}

/* Cuts a string of digits down to `keep`, rounding half to even; 0 digits: the number became 0. */
static int round_digits(char *digits, int count, int keep, int *point) {
    if (keep >= count) return count;
    if (keep < 0) return 0;
    bool up = digits[keep] > '5';
    if (digits[keep] == '5') {
        for (int i = keep + 1; i < count && !up; i++) up = digits[i] != '0';
        if (!up) up = keep > 0 && (digits[keep - 1] & 1);
    }
    if (!up) return keep;
    int i = keep - 1;
    while (i >= 0 && digits[i] == '9') i--;
    if (i < 0) {
        digits[0] = '1';
        ++*point;
        return 1;
    }
    digits[i]++;
    return i + 1;
}

static size_t digits_slow(uint64_t mantissa, int exponent, char mode, int precision, char *digits,
                          size_t capacity, int *point) {
    char buffer[DV_DTOA_DIGITS + 9];
    int count = all_digits(mantissa, exponent, buffer, point);
    int64_t keep = mode == 'e' ? precision : (int64_t)*point + precision;
    count = round_digits(buffer, count, keep > count ? count : keep < -1 ? -1 : (int)keep, point);
    while (count > 0 && buffer[count - 1] == '0') count--;
    if (count == 0) {
        buffer[0] = '0';
        *point = 1;
        count = 1;
    }
    size_t size = (size_t)count < capacity ? (size_t)count : capacity;
    memcpy(digits, buffer, size);
    return size;
}

size_t dv_dtoa_digits(double d, char mode, int precision, char *digits, size_t capacity,
                      int *point) {
    int exponent;
    uint64_t mantissa = split(d, &exponent);
    if (mantissa == 0) {
        digits[0] = '0';
        *point = 1;
        return 1;
    }
    if (mode == 'r') {
        uint64_t n = shortest(d, &exponent);
        return write_digits(n, exponent, digits, capacity, point);
    }
    size_t count;
    if (mode == 'e' ? significant_fast(mantissa, exponent, precision < 1 ? 1 : precision, digits,
                                       capacity, point, &count)
                    : fixed_fast(mantissa, exponent, precision, digits, capacity, point, &count))
        return count;
    if (mode == 'e' && precision < 1) precision = 1;
    return digits_slow(mantissa, exponent, mode, precision, digits, capacity, point);
}
