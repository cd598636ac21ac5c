/* complex_text.c: complex numbers to text and back (complex.h). */
#include <math.h>

#include "base/dtoa.h"
#include "core/upcall.h"
#include "types/number/complex.h"
#include "types/number/float.h"
#include "types/number/int_arith.h"
#include "types/text/str.h"

/* repr of a part, without the ".0" of whole numbers. */
static size_t write_part(double d, bool sign, char *out) {
    size_t size = 0;
    if (sign && (isnan(d) || !signbit(d))) out[size++] = '+';
    size += dv_float_repr(d, out + size);
    if (size > 2 && out[size - 1] == '0' && out[size - 2] == '.') size -= 2;
    return size;
}

dv_value dv_complex_repr(dv_vm *vm, dv_value v) {
    const dv_complex *z = dv_as_complex(v);
    char text[80];
    size_t size = 0;
    bool both = z->real != 0.0 || signbit(z->real);
    if (both) {
        text[size++] = '(';
        size += write_part(z->real, false, text + size);
    }
    size += write_part(z->imag, both, text + size);
    text[size++] = 'j';
    if (both) text[size++] = ')';
    return dv_str_new(vm, text, size);
}

/* ---- Reading ----------------------------------------------------------------------------------*/

typedef struct reader {
    const char *at, *end;
} reader;

static bool is_digit(char c) { return (unsigned char)(c - '0') <= 9; }

static char peek(const reader *r) { return r->at < r->end ? *r->at : 0; }

static void skip_space(reader *r) {
    while (r->at < r->end && (*r->at == ' ' || (*r->at >= '\t' && *r->at <= '\r'))) r->at++;
}

static bool skip_word(const char **p, const char *end, const char *word) {
    size_t size = strlen(word);
    if ((size_t)(end - *p) < size) return false;
    for (size_t i = 0; i < size; i++)
        if (((*p)[i] | 32) != word[i]) return false;
    *p += size;
    return true;
}

static const char *skip_digits(const char *p, const char *end) {
    while (p < end && is_digit(*p)) p++;
    return p;
}

/* The end of digits, point and exponent; NULL: there are no digits. */
static const char *skip_number(const char *p, const char *end) {
    const char *begin = p, *digits = p = skip_digits(p, end);
    bool any = digits > begin;
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        p = skip_digits(p, end);
        any = any || p > fraction;
    }
    if (!any) return NULL;
    if (p < end && (*p | 32) == 'e') {
        const char *exponent = p + 1;
        if (exponent < end && (*exponent == '+' || *exponent == '-')) exponent++;
        const char *after = skip_digits(exponent, end);
        if (after > exponent) p = after;
    }
    return p;
}

/* The float that the text begins with; false: it begins with none, and nothing is read. */
static bool read_float(reader *r, double *out) {
    const char *p = r->at;
    bool negative = p < r->end && *p == '-';
    if (p < r->end && (*p == '-' || *p == '+')) p++;
    const char *begin = p, *after = skip_number(p, r->end);
    if (after) {
        if (!dv_dtoa_parse(begin, (size_t)(after - begin), out)) return false;
    } else if (skip_word(&p, r->end, "infinity") || skip_word(&p, r->end, "inf")) {
        *out = INFINITY;
        after = p;
    } else if (skip_word(&p, r->end, "nan")) {
        *out = NAN;
        after = p;
    } else {
        return false;
    }
    if (negative && !isnan(*out)) *out = -*out;
    r->at = after;
    return true;
}

static bool read_unit(reader *r) {
    if ((peek(r) | 32) != 'j') return false;
    r->at++;
    return true;
}

/* An optional sign: 1 or -1. */
static double read_sign(reader *r) {
    char c = peek(r);
    if (c == '+' || c == '-') r->at++;
    return c == '-' ? -1.0 : 1.0;
}

static bool read_parts(reader *r, double *real, double *imag) {
    double first;
    *real = *imag = 0.0;
    if (!read_float(r, &first)) {
        *imag = read_sign(r);
        return read_unit(r);
    }
    if (peek(r) == '+' || peek(r) == '-') {
        *real = first;
        if (!read_float(r, imag)) *imag = read_sign(r);
        return read_unit(r);
    }
    if (read_unit(r))
        *imag = first;
    else
        *real = first;
    return true;
}

static bool read_complex(reader *r, double *real, double *imag) {
    skip_space(r);
    bool bracket = peek(r) == '(';
    if (bracket) {
        r->at++;
        skip_space(r);
    }
    if (!read_parts(r, real, imag)) return false;
    skip_space(r);
    if (bracket) {
        if (peek(r) != ')') return false;
        r->at++;
        skip_space(r);
    }
    return r->at == r->end;
}

/* Takes underscores out where they stand between digits; false: one stands elsewhere. */
static bool remove_underscores(char *text, size_t *size) {
    size_t n = 0;
    for (size_t i = 0; i < *size; i++) {
        if (text[i] != '_')
            text[n++] = text[i];
        else if (i == 0 || i + 1 == *size || !is_digit(text[i - 1]) || !is_digit(text[i + 1]))
            return false;
    }
    *size = n;
    return true;
}

static dv_value raise_malformed(dv_vm *vm) {
    return dv_raise(vm, DV_E_VALUE_ERROR, "complex() arg is a malformed string");
}

static dv_value from_ascii(dv_vm *vm, const char *text, size_t size) {
    reader r = {text, text + size};
    double real, imag;
    return read_complex(&r, &real, &imag) ? dv_complex_new(vm, real, imag) : raise_malformed(vm);
}

dv_value dv_complex_from_str(dv_vm *vm, dv_value text) {
    size_t size;
    char *utf8 = dv_str_utf8(vm, text, &size);
    if (!utf8) return DV_EMPTY;
    dv_value result = DV_EMPTY;
    dv_numeric_text ascii;
    if (dv_numeric_text_take(vm, utf8, size, &ascii)) {
        size_t room = ascii.size + 1, plain_size = ascii.size;
        char *plain = dv_heap_alloc(&vm->heap, room);
        if (!plain) {
            dv_raise_memory(vm);
        } else {
            memcpy(plain, ascii.text, ascii.size);
            if (remove_underscores(plain, &plain_size))
                result = from_ascii(vm, plain, plain_size);
            else
                dv_raise(vm, DV_E_VALUE_ERROR, "could not convert string to complex: %V", text);
            dv_heap_free(&vm->heap, plain, room);
        }
        dv_numeric_text_drop(vm, &ascii);
    }
    dv_heap_free(&vm->heap, utf8, size + 1);
    return result;
}
