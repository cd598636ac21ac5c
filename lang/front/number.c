/* number.c: number tokens to constants (number.h).  Integers beyond 64 bits become hexadecimal
 * text. */
#include "lang/front/number.h"

#include "base/dtoa.h"
#include "lang/front/chars.h"

#include <string.h>

enum { MAX_DECIMAL_DIGITS = 4300 }; /* as CPython: reading decimal digits takes quadratic time */

/* Copies the text without underscores. */
static char *strip(dv_front *front, dv_text text, uint32_t *size) {
    char *out = dv_front_scratch(front, text.size + 1);
    if (out == NULL) return NULL;
    *size = 0;
    for (uint32_t i = 0; i < text.size; i++)
        if (text.data[i] != '_') out[(*size)++] = text.data[i];
    return out;
}

static bool read_float(const char *digits, uint32_t size, dv_literal *out) {
    bool imaginary = (digits[size - 1] | 0x20) == 'j';
    out->kind = imaginary ? DV_CONST_COMPLEX : DV_CONST_FLOAT;
    return dv_dtoa_parse(digits, size - imaginary, &out->as.real);
}

/* True if the digits fit into int64. */
static bool read_small(const char *digits, uint32_t size, unsigned base, int64_t *out) {
    int64_t value = 0;
    for (uint32_t i = 0; i < size; i++)
        if (__builtin_mul_overflow(value, (int64_t)base, &value) ||
            __builtin_add_overflow(value, (int64_t)dv_chars_digit(digits[i]), &value))
            return false;
    *out = value;
    return true;
}

/* The number in limbs of 32 bits, least significant first. */
typedef struct limbs {
    uint32_t *items;
    uint32_t count;
} limbs;

static void multiply_add(limbs *number, uint32_t factor, uint32_t summand) {
    uint64_t carry = summand;
    for (uint32_t i = 0; i < number->count; i++) {
        carry += (uint64_t)number->items[i] * factor;
        number->items[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0) number->items[number->count++] = (uint32_t)carry;
}

/* Bit lengths of the bases that occur: 2, 8 and 16 exactly, 10 rounded up. */
static uint32_t limb_bound(uint32_t digits, unsigned base) {
    uint32_t bits = base == 2 ? 1 : base == 8 ? 3 : 4;
    return (uint32_t)((uint64_t)digits * bits / 32) + 2;
}

/* Digits of a base that is a power of two are placed without arithmetic. */
static void place_bits(limbs *number, const char *digits, uint32_t size, unsigned bits) {
    uint64_t position = 0;
    for (uint32_t i = size; i-- > 0; position += bits) {
        uint64_t value = (uint64_t)dv_chars_digit(digits[i]) << (position % 32);
        number->items[position / 32] |= (uint32_t)value;
        number->items[position / 32 + 1] |= (uint32_t)(value >> 32);
    }
    number->count = limb_bound(size, bits == 1 ? 2 : bits == 3 ? 8 : 16);
    while (number->count > 0 && number->items[number->count - 1] == 0) number->count--;
}

static void accumulate_decimal(limbs *number, const char *digits, uint32_t size) {
    for (uint32_t i = 0; i < size;) {
        uint32_t chunk = 0, factor = 1;
        for (; i < size && factor < 1000000000; i++, factor *= 10)
            chunk = chunk * 10 + dv_chars_digit(digits[i]);
        multiply_add(number, factor, chunk);
    }
}

static bool write_hexadecimal(dv_front *front, const limbs *number, dv_text *out) {
    static const char digits[] = "0123456789abcdef";
    char *text = dv_front_keep(front, (size_t)number->count * 8);
    if (text == NULL) return false;
    uint32_t size = 0;
    for (uint32_t i = number->count * 8; i-- > 0;) {
        unsigned digit = number->items[i / 8] >> (i % 8 * 4) & 15;
        if (digit != 0 || size != 0) text[size++] = digits[digit];
    }
    *out = (dv_text){text, size};
    return true;
}

static bool read_big(dv_front *front, const char *digits, uint32_t size, unsigned base,
                     dv_literal *out) {
    limbs number = {dv_front_scratch(front, limb_bound(size, base) * sizeof(uint32_t)), 0};
    if (number.items == NULL) return false;
    if (base == 10)
        accumulate_decimal(&number, digits, size);
    else
        place_bits(&number, digits, size, base == 2 ? 1 : base == 8 ? 3 : 4);
    out->kind = DV_CONST_BIGINT;
    return write_hexadecimal(front, &number, &out->as.text);
}

bool dv_number_read(dv_front *front, dv_text text, dv_range at, dv_literal *out) {
    uint32_t size;
    const char *digits = strip(front, text, &size);
    if (digits == NULL) return false;
    unsigned base = 10;
    if (size > 2 && digits[0] == '0') {
        char letter = digits[1] | 0x20;
        base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
    }
    if (base != 10)
        digits += 2, size -= 2;
    else if (strcspn(digits, ".eEjJ") < size)
        return read_float(digits, size, out);
    out->kind = DV_CONST_INT;
    if (read_small(digits, size, base, &out->as.integer)) return true;
    if (base == 10 && size > MAX_DECIMAL_DIGITS) {
        dv_front_error(front, at,
                       "Exceeds the limit (4300 digits) for integer string conversion: value has "
                       "%u digits; use sys.set_int_max_str_digits() to increase the limit - "
                       "Consider hexadecimal for huge integer literals to avoid decimal conversion "
                       "limits.",
                       size);
        return false;
    }
    return read_big(front, digits, size, base, out);
}
