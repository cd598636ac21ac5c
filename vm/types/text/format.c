/* format.c: Python's format specification mini-language, applied to int, float and str.
 *
 * [[fill]align][sign][z][#][0][width][grouping][.precision][type], checked in the order in which
 * CPython checks it, so that the same message comes first where several would fit. */
#include "types/text/format.h"

#include <limits.h>
#include <math.h>

#include "core/upcall.h"
#include "types/number/complex.h"
#include "types/number/float.h"
#include "types/text/format_number.h"
#include "types/number/int_arith.h"
#include "types/text/str.h"
#include "types/text/str_unicode.h"

/* ---- Parsing a specification ------------------------------------------------------------------*/

typedef struct format_spec {
    uint32_t fill;  /* code point; ' ' by default */
    uint32_t align; /* '<' '>' '=' '^' */
    uint32_t sign;  /* '+' '-' ' ', 0: not given */
    bool no_negative_zero, alternate;
    uint32_t grouping;        /* ',' '_', 0 */
    int64_t width, precision; /* -1: not given */
    uint32_t type;            /* code point of the presentation type */
} format_spec;

/* What is being formatted: for messages and defaults. */
typedef struct subject {
    dv_value value; /* its type's name goes into messages */
    uint32_t type, align;
} subject;

static bool is_align(uint32_t c) { return c == '<' || c == '>' || c == '=' || c == '^'; }

static bool raise_format(dv_vm *vm, const char *message) {
    dv_raise(vm, DV_E_VALUE_ERROR, "%s", message);
    return false;
}

/* Digits of any script; *out stays as it is if there are none.  False: raised. */
static bool parse_number(dv_vm *vm, const dv_str *s, int64_t *at, int64_t *out) {
    int64_t n = 0, begin = *at;
    for (; *at < s->length; ++*at) {
        uint32_t c = dv_str_at(s, *at);
        int digit =
            c < 128 ? (c >= '0' && c <= '9' ? (int)c - '0' : -1) : dv_unicode_find(c)->decimal;
        if (digit < 0) break;
        if (n > (INT64_MAX - digit) / 10)
            return raise_format(vm, "Too many decimal digits in format string");
        n = n * 10 + digit;
    }
    if (*at > begin) *out = n;
    return true;
}

static bool is_printable_ascii(uint32_t c) { return c > 32 && c < 128; }

static bool raise_grouping(dv_vm *vm, const format_spec *f) {
    if (is_printable_ascii(f->type))
        dv_raise(vm, DV_E_VALUE_ERROR, "Cannot specify '%c' with '%c'.", (int)f->grouping,
                 (int)f->type);
    else
        dv_raise(vm, DV_E_VALUE_ERROR, "Cannot specify '%c' with '\\x%x'.", (int)f->grouping,
                 (unsigned)f->type);
    return false;
}

static bool check_grouping(dv_vm *vm, const format_spec *f) {
    switch (f->type) {
    case 0:
    case 'd':
    case 'e':
    case 'f':
    case 'g':
    case 'E':
    case 'F':
    case 'G':
    case '%': return true;
    case 'b':
    case 'o':
    case 'x':
    case 'X': return f->grouping == '_' || raise_grouping(vm, f);
    default: return raise_grouping(vm, f);
    }
}

static dv_value raise_unknown(dv_vm *vm, uint32_t type, dv_value v) {
    if (is_printable_ascii(type))
        return dv_raise(vm, DV_E_VALUE_ERROR, "Unknown format code '%c' for object of type '%T'",
                        (int)type, v);
    return dv_raise(vm, DV_E_VALUE_ERROR, "Unknown format code '\\x%x' for object of type '%T'",
                    (unsigned)type, v);
}

/* Everything before the width. */
static int64_t parse_flags(const dv_str *s, const subject *subject, format_spec *f) {
    int64_t at = 0, n = s->length;
    bool has_fill = n >= 2 && is_align(dv_str_at(s, 1));
    bool has_align = has_fill || (n >= 1 && is_align(dv_str_at(s, 0)));
    if (has_fill) f->fill = dv_str_at(s, at++);
    if (has_align) f->align = dv_str_at(s, at++);
    uint32_t c = at < n ? dv_str_at(s, at) : 0;
    if (c == '+' || c == '-' || c == ' ') {
        f->sign = c;
        at++;
    }
    if (at < n && dv_str_at(s, at) == 'z') {
        f->no_negative_zero = true;
        at++;
    }
    if (at < n && dv_str_at(s, at) == '#') {
        f->alternate = true;
        at++;
    }
    if (!has_fill && at < n && dv_str_at(s, at) == '0') {
        f->fill = '0';
        if (!has_align && subject->align == '>') f->align = '=';
        at++;
    }
    return at;
}

static bool parse_grouping(dv_vm *vm, const dv_str *s, int64_t *at, format_spec *f) {
    if (*at < s->length && dv_str_at(s, *at) == ',') {
        f->grouping = ',';
        ++*at;
    }
    if (*at < s->length && dv_str_at(s, *at) == '_') {
        if (f->grouping) return raise_format(vm, "Cannot specify both ',' and '_'.");
        f->grouping = '_';
        ++*at;
    }
    if (*at < s->length && dv_str_at(s, *at) == ',' && f->grouping == '_')
        return raise_format(vm, "Cannot specify both ',' and '_'.");
    return true;
}

static bool parse_spec(dv_vm *vm, dv_value spec, const subject *subject, format_spec *f) {
    const dv_str *s = dv_as_str(spec);
    *f = (format_spec){
        .fill = ' ', .align = subject->align, .width = -1, .precision = -1, .type = subject->type};
    int64_t at = parse_flags(s, subject, f);
    if (!parse_number(vm, s, &at, &f->width) || !parse_grouping(vm, s, &at, f)) return false;
    if (at < s->length && dv_str_at(s, at) == '.') {
        at++;
        if (!parse_number(vm, s, &at, &f->precision)) return false;
        if (f->precision < 0) return raise_format(vm, "Format specifier missing precision");
    }
    if (s->length - at > 1) {
        dv_raise(vm, DV_E_VALUE_ERROR, "Invalid format specifier '%S' for object of type '%T'",
                 spec, subject->value);
        return false;
    }
    if (at < s->length) f->type = dv_str_at(s, at);
    return !f->grouping || check_grouping(vm, f);
}

/* ---- Numbers ----------------------------------------------------------------------------------*/

/* A number taken apart; all of it ASCII but for `digits` of type 'c'. */
typedef struct number {
    bool negative;
    const char *prefix;
    size_t prefix_size;
    const char *digits; /* those that are grouped */
    int64_t digit_count;
    const char *rest; /* from the point on, or "inf", or an exponent */
    int64_t rest_size;
} number;

/* Writes digits in groups, from right to left, with zeros in front up to min_width characters;
 * without `end` it only counts.  Returns the number of characters.  (CPython's
 * _PyUnicode_InsertThousandsGrouping.) */
static int64_t group_digits(const number *n, int64_t min_width, int group, char separator,
                            char *end) {
    int64_t remaining = n->digit_count, count = 0;
    bool separate = false;
    while (true) {
        int64_t most = remaining > min_width ? remaining : min_width;
        int64_t size = most < 1 ? 1 : most;
        if (group && size > group) size = group;
        int64_t there = remaining < size ? remaining : size;
        count += separate + size;
        if (end) {
            if (separate) *--end = separator;
            end -= there;
            memcpy(end, n->digits + remaining - there, (size_t)there);
            end -= size - there;
            memset(end, '0', (size_t)(size - there));
        }
        separate = true;
        remaining -= there;
        min_width -= size;
        if (remaining <= 0 && min_width <= 0) return count;
        min_width--;
    }
}

static void write_grouped(dv_vm *vm, dv_builder *b, const number *n, int64_t min_width, int group,
                          char separator, int64_t count) {
    dv_number_text text;
    if (!dv_number_text_room(vm, &text, (size_t)count)) {
        b->failed = true;
        return;
    }
    group_digits(n, min_width, group, separator, text.data + count);
    dv_builder_text(b, text.data, (size_t)count);
    dv_number_text_drop(vm, &text);
}

static char sign_of(const format_spec *f, bool negative) {
    if (negative) return '-';
    return f->sign == '+' || f->sign == ' ' ? (char)f->sign : 0;
}

static dv_value write_number(dv_vm *vm, const format_spec *f, const number *n) {
    char sign = sign_of(f, n->negative);
    int64_t fixed = (sign != 0) + (int64_t)n->prefix_size + n->rest_size;
    int64_t min_width = f->fill == '0' && f->align == '=' ? f->width - fixed : 0;
    bool by_four = f->type == 'b' || f->type == 'o' || f->type == 'x' || f->type == 'X';
    int group = !f->grouping ? 0 : by_four ? 4 : 3;
    int64_t grouped =
        n->digit_count ? group_digits(n, min_width, group, (char)f->grouping, NULL) : 0;
    int64_t padding = f->width - fixed - grouped, left = 0, inner = 0;
    if (padding < 0) padding = 0;
    if (f->align == '>') left = padding;
    if (f->align == '^') left = padding / 2;
    if (f->align == '=') inner = padding;

    dv_builder b;
    dv_builder_init(&b, vm);
    dv_builder_repeat(&b, f->fill, left);
    if (sign) dv_builder_char(&b, (uint32_t)sign);
    dv_builder_text(&b, n->prefix, n->prefix_size);
    dv_builder_repeat(&b, f->fill, inner);
    if (grouped && grouped == n->digit_count)
        dv_builder_text(&b, n->digits, (size_t)grouped);
    else if (grouped)
        write_grouped(vm, &b, n, min_width, group, (char)f->grouping, grouped);
    dv_builder_text(&b, n->rest, (size_t)n->rest_size);
    dv_builder_repeat(&b, f->fill, padding - left - inner);
    if (!b.failed) return dv_builder_finish(&b);
    dv_builder_discard(&b);
    return DV_EMPTY;
}

/* ---- int --------------------------------------------------------------------------------------*/

static int base_of(uint32_t type) {
    return type == 'b' ? 2 : type == 'o' ? 8 : type == 'x' || type == 'X' ? 16 : 10;
}

static dv_value write_character(dv_vm *vm, const format_spec *f, dv_value v) {
    int64_t c;
    if (f->sign)
        return dv_raise(vm, DV_E_VALUE_ERROR, "Sign not allowed with integer format specifier 'c'");
    if (f->alternate)
        return dv_raise(vm, DV_E_VALUE_ERROR,
                        "Alternate form (#) not allowed with integer format specifier 'c'");
    if (!dv_int_to_int64(v, &c))
        return dv_raise(vm, DV_E_OVERFLOW_ERROR, "Python int too large to convert to C long");
    if (c < 0 || c > (int64_t)DV_UNICODE_MAX)
        return dv_raise(vm, DV_E_OVERFLOW_ERROR, "%%c arg not in range(0x110000)");
    int64_t padding = f->width > 1 ? f->width - 1 : 0;
    int64_t left = f->align == '<' ? 0 : f->align == '^' ? padding / 2 : padding;
    dv_builder b;
    dv_builder_init(&b, vm);
    dv_builder_repeat(&b, f->fill, left);
    dv_builder_char(&b, (uint32_t)c);
    dv_builder_repeat(&b, f->fill, padding - left);
    return dv_builder_finish(&b);
}

static dv_value write_int(dv_vm *vm, const format_spec *f, dv_value v) {
    if (f->precision >= 0)
        return dv_raise(vm, DV_E_VALUE_ERROR, "Precision not allowed in integer format specifier");
    if (f->no_negative_zero)
        return dv_raise(vm, DV_E_VALUE_ERROR,
                        "Negative zero coercion (z) not allowed in integer format specifier");
    if (f->type == 'c') return write_character(vm, f, v);
    int base = base_of(f->type);
    if (f->width < 0 && f->sign != '+' && f->sign != ' ' && !f->grouping && f->type != 'X')
        return dv_int_to_str(vm, v, base, f->alternate);
    size_t size, capacity;
    char *digits = dv_int_digits(vm, v, base, &size, &capacity);
    if (!digits) return DV_EMPTY;
    if (f->type == 'X')
        for (size_t i = 0; i < size; i++)
            if (digits[i] >= 'a') digits[i] = (char)(digits[i] - 32);
    char prefix[2] = {'0', (char)f->type};
    number n = {.negative = dv_int_sign(v) < 0,
                .prefix = prefix,
                .prefix_size = f->alternate && base != 10 ? 2 : 0,
                .digits = digits,
                .digit_count = (int64_t)size,
                .rest = ""};
    dv_value r = write_number(vm, f, &n);
    dv_heap_free(&vm->heap, digits, capacity);
    return r;
}

static dv_value write_double(dv_vm *vm, const format_spec *f, double d);

dv_value dv_format_int(dv_vm *vm, dv_value v, dv_value spec) {
    if (dv_as_str(spec)->length == 0) return dv_to_str(vm, v);
    format_spec f;
    double d;
    if (!parse_spec(vm, spec, &(subject){v, 'd', '>'}, &f)) return DV_EMPTY;
    switch (f.type) {
    case 'b':
    case 'c':
    case 'd':
    case 'o':
    case 'x':
    case 'X':
    case 'n': return write_int(vm, &f, v);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case '%': return dv_as_double(vm, v, &d) ? write_double(vm, &f, d) : DV_EMPTY;
    default: return raise_unknown(vm, f.type, v);
    }
}

/* ---- float ------------------------------------------------------------------------------------*/

/* Takes the text of a double apart: digits up to the point, and the rest. */
static void split_double(const dv_number_text *text, number *n) {
    const char *p = text->data, *end = p + text->size;
    *n = (number){.negative = *p == '-', .prefix = ""};
    p += n->negative;
    n->digits = p;
    while (p < end && *p >= '0' && *p <= '9') p++;
    n->digit_count = p - n->digits;
    n->rest = p;
    n->rest_size = end - p;
}

static dv_value write_double(dv_vm *vm, const format_spec *f, double d) {
    if (f->precision > INT_MAX) return dv_raise(vm, DV_E_VALUE_ERROR, "precision too big");
    unsigned flags = (f->alternate ? DV_DOUBLE_ALTERNATE : 0) |
                     (f->no_negative_zero ? DV_DOUBLE_NO_NEGATIVE_ZERO : 0);
    int precision = f->precision < 0 ? 6 : (int)f->precision;
    char type = (char)f->type;
    if (f->type == 0) {
        flags |= DV_DOUBLE_POINT_ZERO;
        type = f->precision < 0 ? 'r' : 'g';
    } else if (type == 'n') {
        type = 'g';
    } else if (type == '%') {
        flags |= DV_DOUBLE_PERCENT;
        type = 'f';
        d *= 100;
    }
    dv_number_text text;
    if (!dv_number_text_double(vm, &text, d, type, precision, flags)) return DV_EMPTY;
    dv_value r;
    if (f->width < 0 && f->sign != '+' && f->sign != ' ' && !f->grouping) {
        r = dv_str_new(vm, text.data, text.size);
    } else {
        number n;
        split_double(&text, &n);
        r = write_number(vm, f, &n);
    }
    dv_number_text_drop(vm, &text);
    return r;
}

dv_value dv_format_float(dv_vm *vm, dv_value self, double d, dv_value spec) {
    char buffer[32];
    if (dv_as_str(spec)->length == 0) return dv_str_new(vm, buffer, dv_float_repr(d, buffer));
    format_spec f;
    if (!parse_spec(vm, spec, &(subject){self, 0, '>'}, &f)) return DV_EMPTY;
    switch (f.type) {
    case 0:
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'n':
    case '%': return write_double(vm, &f, d);
    default: return raise_unknown(vm, f.type, self);
    }
}

/* ---- complex ----------------------------------------------------------------------------------*/

static bool append_part(dv_vm *vm, dv_builder *b, const format_spec *f, double d, char type,
                        int precision) {
    dv_number_text text;
    unsigned flags = f->alternate ? DV_DOUBLE_ALTERNATE : 0;
    if (f->no_negative_zero) flags |= DV_DOUBLE_NO_NEGATIVE_ZERO;
    if (!dv_number_text_double(vm, &text, d, type, precision, flags)) return false;
    number n;
    split_double(&text, &n);
    dv_value part = write_number(vm, f, &n);
    dv_number_text_drop(vm, &text);
    if (dv_is_empty(part)) return false;
    dv_builder_str(b, part);
    dv_release(vm, part);
    return true;
}

/* Both parts without the width; without a type as repr writes them. */
static dv_value complex_body(dv_vm *vm, const format_spec *f, const dv_complex *z) {
    format_spec part = *f;
    part.fill = ' ';
    part.align = '<';
    part.width = -1;
    char type = f->type == 0 ? 'r' : f->type == 'n' ? 'g' : (char)f->type;
    int precision = f->precision >= 0 ? (int)f->precision : type == 'r' ? 0 : 6;
    if (type == 'r' && f->precision >= 0) type = 'g';
    bool only_imag = f->type == 0 && z->real == 0.0 && !signbit(z->real);
    bool brackets = f->type == 0 && !only_imag;
    dv_builder b;
    dv_builder_init(&b, vm);
    if (brackets) dv_builder_char(&b, '(');
    bool good = only_imag || append_part(vm, &b, &part, z->real, type, precision);
    if (!only_imag) part.sign = '+';
    good = good && append_part(vm, &b, &part, z->imag, type, precision);
    dv_builder_z(&b, brackets ? "j)" : "j");
    if (good) return dv_builder_finish(&b);
    dv_builder_discard(&b);
    return DV_EMPTY;
}

static dv_value write_str(dv_vm *vm, const format_spec *f, dv_value s);

static dv_value write_complex(dv_vm *vm, const format_spec *f, dv_value v) {
    if (f->precision > INT_MAX) return dv_raise(vm, DV_E_VALUE_ERROR, "precision too big");
    if (f->fill == '0')
        return dv_raise(vm, DV_E_VALUE_ERROR,
                        "Zero padding is not allowed in complex format specifier");
    if (f->align == '=')
        return dv_raise(vm, DV_E_VALUE_ERROR,
                        "'=' alignment flag is not allowed in complex format specifier");
    dv_value body = complex_body(vm, f, dv_as_complex(v));
    if (dv_is_empty(body)) return body;
    format_spec frame = {.fill = f->fill, .align = f->align, .width = f->width, .precision = -1};
    dv_value result = write_str(vm, &frame, body);
    dv_release(vm, body);
    return result;
}

dv_value dv_format_complex(dv_vm *vm, dv_value v, dv_value spec) {
    if (dv_as_str(spec)->length == 0) return dv_complex_repr(vm, v);
    format_spec f;
    if (!parse_spec(vm, spec, &(subject){v, 0, '>'}, &f)) return DV_EMPTY;
    switch (f.type) {
    case 0:
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'n': return write_complex(vm, &f, v);
    default: return raise_unknown(vm, f.type, v);
    }
}

/* ---- str --------------------------------------------------------------------------------------*/

static dv_value write_str(dv_vm *vm, const format_spec *f, dv_value s) {
    int64_t length = dv_as_str(s)->length;
    if (f->sign)
        return dv_raise(vm, DV_E_VALUE_ERROR,
                        f->sign == ' ' ? "Space not allowed in string format specifier"
                                       : "Sign not allowed in string format specifier");
    if (f->no_negative_zero)
        return dv_raise(vm, DV_E_VALUE_ERROR,
                        "Negative zero coercion (z) not allowed in string format specifier");
    if (f->alternate)
        return dv_raise(vm, DV_E_VALUE_ERROR,
                        "Alternate form (#) not allowed in string format specifier");
    if (f->align == '=')
        return dv_raise(vm, DV_E_VALUE_ERROR,
                        "'=' alignment not allowed in string format specifier");
    if (f->width <= length && (f->precision < 0 || f->precision >= length))
        return length ? dv_retain(s)
                      : dv_str_empty(vm); /* CPython: s itself, but an empty one as a str */
    if (f->precision >= 0 && f->precision < length) length = f->precision;
    int64_t padding = f->width > length ? f->width - length : 0;
    int64_t left = f->align == '>' ? padding : f->align == '^' ? padding / 2 : 0;
    dv_builder b;
    dv_builder_init(&b, vm);
    dv_builder_repeat(&b, f->fill, left);
    dv_builder_slice(&b, s, 0, length);
    dv_builder_repeat(&b, f->fill, padding - left);
    return dv_builder_finish(&b);
}

dv_value dv_format_str(dv_vm *vm, dv_value s, dv_value spec) {
    if (dv_as_str(spec)->length == 0) return dv_retain(s);
    format_spec f;
    if (!parse_spec(vm, spec, &(subject){s, 's', '<'}, &f)) return DV_EMPTY;
    return f.type == 's' ? write_str(vm, &f, s) : raise_unknown(vm, f.type, s);
}
