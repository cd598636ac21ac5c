/* element.c: elements as text (element.h). */
#include "array/element.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "array/array.h"
#include "loops/cast.h"
#include "loops/half.h"

/* ---- Digits in their places ---- */

static int at_least(int a, int b) { return a > b ? a : b; }

/* Digits of the decimal from position `from` on, `count` of them; zeros where there are none. */
static void add_digits(dvx_vm *vm, nd_text *to, const nd_decimal *d, int from, int count) {
    for (int i = from; i < from + count; i++)
        text_add(vm, to, i >= 0 && i < d->count ? &d->digits[i] : "0", 1);
}

static int count_exponent(int exponent) {
    char word[16];
    int size = snprintf(word, sizeof word, "%d", abs(exponent));
    return at_least(size, 2);
}

static void add_sign(dvx_vm *vm, nd_text *to, const nd_decimal *d, char sign) {
    if (d->negative)
        text_words(vm, to, "-");
    else if (sign == '+')
        text_words(vm, to, "+");
}

/* "-12.5" with `fraction` digits behind the point. */
static void add_positional(dvx_vm *vm, nd_text *to, const nd_decimal *d, char sign, int fraction) {
    add_sign(vm, to, d, sign);
    if (d->point > 0 && d->count)
        add_digits(vm, to, d, 0, d->point);
    else
        text_words(vm, to, "0");
    text_words(vm, to, ".");
    add_digits(vm, to, d, d->count ? d->point : 0, fraction);
}

/* "-1.25e+07" */
static void add_scientific(dvx_vm *vm, nd_text *to, const nd_decimal *d, char sign, int fraction,
                           bool point, int digits) {
    char word[32];
    int exponent = d->count ? d->point - 1 : 0;
    add_sign(vm, to, d, sign);
    add_digits(vm, to, d, 0, 1);
    if (point) text_words(vm, to, ".");
    add_digits(vm, to, d, 1, fraction);
    snprintf(word, sizeof word, "e%c%0*d", exponent < 0 ? '-' : '+', digits, abs(exponent));
    text_words(vm, to, word);
}

static int fraction_of(const nd_decimal *d) {
    return d->count ? at_least(d->count - d->point, 0) : 0;
}

/* ---- Floats ---- */

static bool see_float(dvx_vm *vm, float_format *f, double x) {
    nd_decimal d;
    if (!isfinite(x)) {
        f->other = true;
        f->negative_infinity |= x < 0;
        return true;
    }
    f->finite = true;
    double size = fabs(x);
    if (size > f->largest) f->largest = size;
    if (size != 0 && (f->smallest == 0 || size < f->smallest)) f->smallest = size;
    if (!text_decimal(vm, x, f->type, true, f->precision, &d)) return false;
    int sign = d.negative || f->sign == '+';
    f->mantissa_left = at_least(f->mantissa_left, 1 + sign);
    f->mantissa_right = at_least(f->mantissa_right, d.count - 1);
    f->exponent = at_least(f->exponent, count_exponent(d.count ? d.point - 1 : 0));
    if (size >= 1e8) return true; /* exponential in any case */
    if (!text_decimal(vm, x, f->type, false, f->precision, &d)) return false;
    f->left = at_least(f->left, sign + (d.count ? at_least(d.point, 1) : 1));
    f->right = at_least(f->right, fraction_of(&d));
    return true;
}

/* As a number of the type.  (Quotients of floats are rounded right by way of doubles.) */
static double rounded(nd_type type, double x) {
    return type == ND_FLOAT16   ? (double)half_value(half_of(x))
           : type == ND_FLOAT32 ? (double)(float)x
                                : x;
}

static bool is_exponential(const float_format *f) {
    if (f->largest == 0) return false;
    if (f->largest >= 1e8) return true;
    if (f->suppress) return false;
    const double ratio = rounded(f->type, f->largest / f->smallest);
    return f->smallest < rounded(f->type, 0.0001) || ratio > 1000;
}

static void ready_float(float_format *f) {
    f->exponential = is_exponential(f);
    if (f->finite) {
        f->pad_left = f->exponential ? f->mantissa_left : f->left;
        f->pad_right = f->exponential ? f->exponent + 2 + f->mantissa_right : f->right;
    }
    if (!f->other) return;
    int infinity = 3 + (f->sign != '-' || f->negative_infinity), offset = f->pad_right + 1;
    f->pad_left = at_least(f->pad_left, at_least(3 - offset, infinity - offset));
}

static void add_padded(dvx_vm *vm, nd_text *to, const char *word, int width) {
    text_spaces(vm, to, width - (int)strlen(word));
    text_words(vm, to, word);
}

static bool write_float(dvx_vm *vm, const float_format *f, double x, nd_text *to) {
    nd_decimal d;
    if (!isfinite(x)) {
        const char *word = isnan(x)         ? (f->sign == '+' ? "+nan" : "nan")
                           : x < 0          ? "-inf"
                           : f->sign == '+' ? "+inf"
                                            : "inf";
        add_padded(vm, to, word, f->pad_left + f->pad_right + 1);
        return true;
    }
    int64_t precision = f->exponential ? f->mantissa_right : f->precision;
    if (!text_decimal(vm, x, f->type, f->exponential, precision, &d)) return false;
    /* (Digits that others have, and those in front of the point, are the number's own.) */
    if (f->exponential ? d.count && d.count <= f->mantissa_right : d.point > d.count) {
        if (!text_exact(vm, x, f->exponential ? f->mantissa_right : 0, f->exponential ? 'e' : 'f',
                        &d))
            return false;
    }
    int sign = d.negative || f->sign == '+';
    if (f->exponential) {
        text_spaces(vm, to, f->pad_left - 1 - sign);
        add_scientific(vm, to, &d, f->sign, f->mantissa_right, true, f->exponent);
        return true;
    }
    text_spaces(vm, to, f->pad_left - sign - (d.count ? at_least(d.point, 1) : 1));
    add_positional(vm, to, &d, f->sign, fraction_of(&d));
    text_spaces(vm, to, f->pad_right - fraction_of(&d));
    return true;
}

static void begin_float(float_format *f, const nd_print *options, char sign, nd_type type) {
    *f = (float_format){
        .type = type, .sign = sign, .suppress = options->suppress, .precision = options->precision};
}

/* ---- All ---- */

/* Its digits: how many. */
static int write_int(const nd_dtype *dtype, const char *at, char *word, size_t room) {
    const long long i = type_int(dtype->num, at);
    return snprintf(word, room, dtype->num == ND_UINT64 ? "%llu" : "%lld", i);
}

static double float_at(const nd_dtype *dtype, const char *at) {
    double x;
    cast_between(dtype, ND_DTYPE(ND_FLOAT64))((char *)&x, 0, at, 0, 1);
    return x;
}

static nd_complex complex_at(const nd_dtype *dtype, const char *at) {
    nd_complex c;
    cast_between(dtype, ND_DTYPE(ND_COMPLEX128))((char *)&c, 0, at, 0, 1);
    return c;
}

static const char *bool_at(const char *at) { return *(const bool *)at ? "True" : "False"; }

void element_begin(element_format *f, const nd_dtype *dtype, const nd_print *options,
                   bool single_value) {
    *f = (element_format){.dtype = dtype, .single_value = single_value};
    const nd_type type = type_as_float(dtype->num);
    begin_float(&f->real, options, '-', type);
    begin_float(&f->imaginary, options, '+', type);
}

bool element_see(dvx_vm *vm, element_format *f, const char *at) {
    char word[32];
    switch (f->dtype->kind) {
    case 'c': {
        const nd_complex c = complex_at(f->dtype, at);
        return see_float(vm, &f->real, c.real) && see_float(vm, &f->imaginary, c.imag);
    }
    case 'f': return see_float(vm, &f->real, float_at(f->dtype, at));
    case 'b': return true;
    default: {
        const int size = write_int(f->dtype, at, word, sizeof word);
        f->width = at_least(f->width, size);
        return true;
    }
    }
}

void element_ready(element_format *f) {
    ready_float(&f->real);
    ready_float(&f->imaginary);
    if (f->dtype->kind == 'b') f->width = f->single_value ? 4 : 5;
}

bool element_write(dvx_vm *vm, const element_format *f, const char *at, nd_text *to) {
    char word[32];
    switch (f->dtype->kind) {
    case 'c': {
        const nd_complex c = complex_at(f->dtype, at);
        if (!write_float(vm, &f->real, c.real, to) || !write_float(vm, &f->imaginary, c.imag, to) ||
            to->failed)
            return !to->failed;
        /* The j goes before the spaces at the end. */
        int64_t spaces = 0;
        while (to->data[to->size - 1] == ' ') to->size--, spaces++;
        text_words(vm, to, "j");
        text_spaces(vm, to, spaces);
        return true;
    }
    case 'f': return write_float(vm, &f->real, float_at(f->dtype, at), to);
    case 'b': add_padded(vm, to, bool_at(at), f->width); return true;
    default:
        write_int(f->dtype, at, word, sizeof word);
        add_padded(vm, to, word, f->width);
        return true;
    }
}

/* `part`: of a complex number, where whole numbers have no point. */
static bool plain_float(dvx_vm *vm, double x, nd_type type, bool part, nd_text *to) {
    nd_decimal d;
    if (!isfinite(x)) return text_words(vm, to, isnan(x) ? "nan" : x < 0 ? "-inf" : "inf"), true;
    if (!text_decimal(vm, x, type, false, -1, &d)) return false;
    double size = fabs(x);
    if (size == 0 || (size < 1e16 && size >= 1e-4))
        add_positional(vm, to, &d, '-', at_least(fraction_of(&d), !part));
    else
        add_scientific(vm, to, &d, '-', d.count - 1, d.count > 1, 2);
    if (part && !to->failed && to->data[to->size - 1] == '.') to->size--;
    return true;
}

static bool plain_complex(dvx_vm *vm, nd_complex c, nd_text *to) {
    const bool both = c.real != 0 || signbit(c.real);
    if (both) {
        text_words(vm, to, "(");
        if (!plain_float(vm, c.real, ND_FLOAT32, true, to)) return false;
        if (!signbit(c.imag) || isnan(c.imag)) text_words(vm, to, "+");
    }
    if (!plain_float(vm, c.imag, ND_FLOAT32, true, to)) return false;
    return text_words(vm, to, both ? "j)" : "j"), true;
}

bool element_plain(dvx_vm *vm, const nd_dtype *dtype, const char *at, nd_text *to) {
    char word[64];
    size_t size;
    if (dtype->num == ND_FLOAT32 || dtype->num == ND_FLOAT16)
        return plain_float(vm, float_at(dtype, at), dtype->num, false, to);
    if (dtype->num == ND_COMPLEX64) return plain_complex(vm, complex_at(dtype, at), to);
    if (dtype->kind == 'b') return text_words(vm, to, bool_at(at)), true;
    if (dtype->kind == 'i' || dtype->kind == 'u') {
        write_int(dtype, at, word, sizeof word);
        return text_words(vm, to, word), true;
    }
    dvx_value number = array_element(vm, dtype, at), text = vm->api->str(vm, number);
    bool good = !dvx_failed(text) && vm->api->read_str(vm, text, word, sizeof word, &size);
    if (good) text_words(vm, to, word);
    vm->api->release(vm, number);
    vm->api->release(vm, text);
    return good;
}
