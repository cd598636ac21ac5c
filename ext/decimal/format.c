/* format.c: format() of numbers that are not long.
 *
 * Invariants
 *  1. What is not plain ASCII, has 'z', zeros with commas, a large width or precision, is wrong, or
 *     is a format of a NaN, an infinity or a long number is left to format_number() of
 *     _decimal_text.dl, which says the same where both know the format.
 *  2. A number that is written has at most MOST_PLACES zeros beside its digits. */
#include "decimal.h"

#include <stdio.h>
#include <string.h>

enum { MOST_WIDTH = 200, NO_NUMBER = -1, MOST_BODY = 160 };

typedef struct layout {
    int64_t width, precision; /* NO_NUMBER: none is given */
    char fill, align, sign, kind;
    bool zeros, comma;
} layout;

/* ---- The format ---- */

/* The digits from *p on; NO_NUMBER: there are none. */
static int64_t read_number(const char **p) {
    if (**p < '0' || **p > '9') return NO_NUMBER;
    int64_t n = 0;
    for (; **p >= '0' && **p <= '9'; ++*p) n = n > MOST_WIDTH ? n : n * 10 + (**p - '0');
    return n;
}

static bool is_among(char c, const char *letters) { return c && strchr(letters, c); }

static bool take(const char **p, char c) {
    if (**p != c) return false;
    ++*p;
    return true;
}

/* The text ends with a zero byte; false: it is left to dl. */
static bool read_layout(const char *p, layout *to) {
    *to = (layout){.fill = ' ', .align = '>', .sign = '-', .precision = NO_NUMBER};
    bool aligned = true;
    if (*p && is_among(p[1], "<>=^")) {
        to->fill = p[0];
        to->align = p[1];
        p += 2;
    } else if (is_among(*p, "<>=^"))
        to->align = *p++;
    else
        aligned = false;
    if (is_among(*p, "+- ")) to->sign = *p++;
    to->zeros = take(&p, '0');
    to->width = read_number(&p);
    to->comma = take(&p, ',');
    if (take(&p, '.') && (to->precision = read_number(&p)) == NO_NUMBER) return false;
    if (to->zeros && (aligned || to->comma)) return false;
    if (to->width > MOST_WIDTH || to->precision > MOST_PLACES) return false;
    if (!*p) return true;
    to->kind = *p++;
    return !*p && is_among(to->kind, "eEfFgG%n") && !(to->kind == 'n' && to->comma);
}

static bool read_format(dvx_vm *vm, dvx_value given, layout *to) {
    char text[32];
    size_t size;
    if (vm->api->kind(vm, given) != DVX_STR ||
        !vm->api->read_str(vm, given, text, sizeof text, &size)) {
        vm->api->clear_error(vm);
        return false;
    }
    if (size >= sizeof text || memchr(text, 0, size)) return false;
    text[size] = 0;
    for (size_t i = 0; i < size; i++)
        if (text[i] & 0x80) return false;
    return read_layout(text, to);
}

static bool is_fixed(const layout *as) { return is_among(as->kind, "fF%"); }

/* ---- Rounding ---- */

/* The number with the digits that are to be shown; false: raised. */
static bool round_for(dvx_vm *vm, const number *n, const layout *as, int64_t rounding,
                      number *out) {
    number unit = {.c = 1, .exponent = -as->precision}, results[2];
    const int64_t digits = n->is_big ? SMALL_DIGITS + 1 : decimal_digits(n->c);
    int64_t wanted = MOST_EXPONENT;
    bool changes = as->precision != NO_NUMBER;
    if (is_among(as->kind, "eE")) {
        changes = changes && (n->is_big || n->c);
        wanted = as->precision + 1;
    } else if (!is_fixed(as)) {
        changes = changes && digits > as->precision;
        wanted = as->precision ? as->precision : 1;
    }
    *out = *n;
    if (!changes) return true;
    const context exact = {
        .precision = wanted, .emin = -MOST_EXPONENT, .emax = MOST_EXPONENT, .rounding = rounding};
    job j = {.vm = vm, .with = &exact};
    if (!dvx_work(vm, 100) ||
        !decimal_compute(&j, is_fixed(as) ? OP_quantize : OPERATIONS, n, &unit, results))
        return false;
    *out = results[0];
    if (is_among(as->kind, "eE")) {
        const int64_t more = wanted - decimal_digits(out->c);
        out->c *= decimal_powers[more];
        out->exponent -= more;
    }
    return true;
}

/* ---- Text ---- */

static char *fill(char *p, char c, int64_t count) {
    if (count <= 0) return p;
    memset(p, c, (size_t)count);
    return p + count;
}

static char *copy(char *p, const char *text, int64_t count) {
    memcpy(p, text, (size_t)count);
    return p + count;
}

/* Without its sign; *whole: how much of it stands before the point. */
static int64_t write_body(const number *n, const layout *as, bool capital, char *out,
                          int64_t *whole) {
    char digits[MOST_TEXT], *p = out;
    const number coefficient = {.c = n->c};
    const int64_t count = (int64_t)decimal_write(&coefficient, SCIENTIFIC, capital, digits);
    const bool scientific = is_among(as->kind, "eE");
    const int64_t leading = n->exponent + count;
    int64_t point = 1;
    if (is_fixed(as) || (!scientific && n->exponent <= 0 && leading > -6)) point = leading;
    if (scientific && !n->c && as->precision != NO_NUMBER) point = 1 - as->precision;
    if (point <= 0) {
        p = copy(fill(copy(p, "0.", 2), '0', -point), digits, count);
        *whole = 1;
    } else if (point >= count) {
        p = fill(copy(p, digits, count), '0', point - count);
        *whole = point;
    } else {
        p = copy(p, digits, point);
        *p++ = '.';
        p = copy(p, digits + point, count - point);
        *whole = point;
    }
    if (leading != point || scientific)
        p += sprintf(p, "%c%+lld", capital ? 'E' : 'e', (long long)(leading - point));
    if (as->kind == '%') *p++ = '%';
    return p - out;
}

static dvx_value lay_out(dvx_vm *vm, const layout *as, bool negative, const char *body,
                         int64_t size, int64_t whole) {
    char text[2 * MOST_BODY + MOST_WIDTH], *p = text;
    const char sign = negative ? '-' : as->sign == '-' ? 0 : as->sign;
    const int64_t commas = as->comma ? (whole - 1) / 3 : 0;
    int64_t room = as->width - size - commas - (sign != 0);
    if (room < 0) room = 0;
    const int64_t inside = as->zeros || as->align == '=' ? room : 0;
    const int64_t before = inside || as->align == '<' ? 0 : as->align == '^' ? room / 2 : room;
    p = fill(p, as->fill, before);
    if (sign) *p++ = sign;
    p = fill(p, as->zeros ? '0' : as->fill, inside);
    for (int64_t i = 0; i < whole; i++) {
        if (as->comma && i && (whole - i) % 3 == 0) *p++ = ',';
        *p++ = body[i];
    }
    p = copy(p, body + whole, size - whole);
    p = fill(p, as->fill, room - inside - before);
    return vm->api->make_str(vm, text, (size_t)(p - text));
}

/* A number that is rounded, or DVX_FAILED with *dl: it is left to dl. */
static dvx_value write(dvx_vm *vm, number *n, const layout *as, bool capital, bool *dl) {
    const bool bare = as->width == NO_NUMBER && as->sign == '-' && !as->comma && as->kind != '%';
    if (n->is_big && is_fixed(as) && bare) return decimal_text(vm, n, false, PLAIN, true);
    *dl = n->is_big || (is_fixed(as) && (n->exponent > MOST_PLACES || n->exponent < -MOST_PLACES));
    if (*dl) return DVX_FAILED;
    if (!n->c && n->exponent > 0 && is_fixed(as)) n->exponent = 0;
    char body[MOST_BODY];
    int64_t whole, size;
    if (!as->kind || as->kind == 'n')
        capital = capital && !as->kind;
    else
        capital = is_among(as->kind, "EG");
    size = write_body(n, as, capital, body, &whole);
    return lay_out(vm, as, n->sign, body, size, whole);
}

dvx_value decimal_format_text(dvx_vm *vm, dvx_value self, const number *n, dvx_value given) {
    const dvx_value args[] = {self, given};
    const context *now = decimal_state_of(vm)->now;
    layout as;
    number shown = *n, rounded;
    bool dl = n->kind != FINITE || !read_format(vm, given, &as) ||
              (n->is_big && (!is_fixed(&as) || as.precision == NO_NUMBER));
    if (!dl) {
        if (as.kind == '%') shown.exponent += 2;
        if (!round_for(vm, &shown, &as, now->rounding, &rounded)) return DVX_FAILED;
        dvx_value text = write(vm, &rounded, &as, now->capitals, &dl);
        if (as.precision != NO_NUMBER && is_fixed(&as)) decimal_drop(vm, &rounded);
        if (!dl) return text;
    }
    return decimal_call(vm, "decimal_format", args, 2);
}
