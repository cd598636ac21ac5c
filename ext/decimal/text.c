/* text.c: numbers as text, and text as numbers.
 *
 * Invariants
 *  1. What is not plain ASCII, has underscores, names a NaN or an infinity, or is wrong, is left to
 *     parse() of _decimal_text.dl. */
#include "decimal.h"

#include <stdio.h>
#include <string.h>

/* The digits of c, without leading zeros; how many. */
static size_t write_digits(u128 c, char *out) {
    char reversed[SMALL_DIGITS + 1];
    size_t count = 0;
    uint64_t low;
    while (c >> 64) {
        reversed[count++] = (char)('0' + (int)(c % 10));
        c /= 10;
    }
    low = (uint64_t)c;
    do {
        reversed[count++] = (char)('0' + (int)(low % 10));
        low /= 10;
    } while (low);
    for (size_t i = 0; i < count; i++) out[i] = reversed[count - 1 - i];
    return count;
}

static char *fill(char *p, char c, int64_t count) {
    if (count > 0) {
        memset(p, c, (size_t)count);
        p += count;
    }
    return p;
}

static char *copy(char *p, const char *text, int64_t count) {
    memcpy(p, text, (size_t)count);
    return p + count;
}

/* Where the point stands, counted from the first digit, if it moves by threes. */
static int64_t engineering_point(bool zero, int64_t leading) {
    int64_t place = zero ? leading + 1 : leading - 1;
    return (place % 3 + 3) % 3 + (zero ? -1 : 1);
}

/* The number, whose coefficient has these digits; what is added to them, in a repr, too, is less
 * than LONGER bytes. */
enum { LONGER = 64 };
#define BEFORE "Decimal('"
#define BEHIND "')"
static size_t write_number(const number *n, const char *digits, int64_t count, notation how,
                           bool capital, char *out) {
    char *p = out;
    const bool zero = count == 1 && *digits == '0';
    if (n->sign) *p++ = '-';
    if (n->kind == INFINITE) return (size_t)(copy(p, "Infinity", 8) - out);
    if (n->kind != FINITE) {
        if (n->kind == SIGNALLING_NAN) *p++ = 's';
        p = copy(p, "NaN", 3);
        return (size_t)(copy(p, digits, zero ? 0 : count) - out);
    }
    int64_t leading = n->exponent + count; /* the value is 0.digits * 10^leading */
    int64_t point = 1;
    if (how == PLAIN || (n->exponent <= 0 && leading > -6))
        point = leading;
    else if (how == ENGINEERING)
        point = engineering_point(zero, leading);
    if (point <= 0) {
        p = fill(copy(p, "0.", 2), '0', -point);
        p = copy(p, digits, count);
    } else if (point >= count)
        p = fill(copy(p, digits, count), '0', point - count);
    else {
        p = copy(p, digits, point);
        *p++ = '.';
        p = copy(p, digits + point, count - point);
    }
    if (leading != point)
        p += sprintf(p, "%c%+lld", capital ? 'E' : 'e', (long long)(leading - point));
    return (size_t)(p - out);
}

size_t decimal_write(const number *n, notation how, bool capital, char *out) {
    char digits[SMALL_DIGITS + 1];
    return write_number(n, digits, (int64_t)write_digits(n->c, digits), how, capital, out);
}

static dvx_value show_small(dvx_vm *vm, const number *n, bool repr, notation how, bool capital) {
    char text[MOST_TEXT + sizeof BEFORE + sizeof BEHIND], *p = text;
    if (repr) p = copy(p, BEFORE, sizeof BEFORE - 1);
    p += decimal_write(n, how, capital, p);
    if (repr) p = copy(p, BEHIND, sizeof BEHIND - 1);
    return vm->api->make_str(vm, text, (size_t)(p - text));
}

dvx_value decimal_text(dvx_vm *vm, const number *n, bool repr, notation how, bool capital) {
    if (!n->is_big) return show_small(vm, n, repr, how, capital);
    whole c;
    int64_t count;
    dvx_value result = DVX_FAILED;
    whole_of(vm, n, &c);
    if (whole_digits(vm, &c, &count)) {
        const size_t room = (size_t)count, all = 2 * room + LONGER;
        char *digits = vm->api->allocate(vm, all);
        if (digits && whole_write(vm, &c, digits, count)) {
            char *text = digits + room, *p = text;
            if (repr) p = copy(p, BEFORE, sizeof BEFORE - 1);
            p += write_number(n, digits, count, how, capital, p);
            if (repr) p = copy(p, BEHIND, sizeof BEHIND - 1);
            result = vm->api->make_str(vm, text, (size_t)(p - text));
        }
        vm->api->deallocate(vm, digits, all);
    }
    whole_drop(vm, &c);
    return result;
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The digits from *p on, with a point among them, moved together to *p; how many, without leading
 * zeros.  *p is what comes behind them. */
static size_t take_digits(char **p, const char *end, int64_t *exponent, bool *any) {
    char *from = *p, *to = *p;
    bool behind = false;
    for (; from < end; from++) {
        if (*from == '.' && !behind) {
            behind = true;
            continue;
        }
        if (!is_digit(*from)) break;
        *any = true;
        *exponent -= behind;
        if (to != *p || *from != '0') *to++ = *from;
    }
    const size_t count = (size_t)(to - *p);
    *p = from;
    return count;
}

static u128 small_value(const char *digits, size_t count) {
    u128 c = 0;
    for (size_t i = 0; i < count; i++) c = c * 10 + (uint32_t)(digits[i] - '0');
    return c;
}

int decimal_parse(dvx_vm *vm, char *text, size_t size, number *out) {
    char *p = text, *end = text + size;
    while (p < end && is_space(*p)) p++;
    while (end > p && is_space(end[-1])) end--;
    bool any = false;
    *out = (number){.c = 0};
    if (p < end && (*p == '-' || *p == '+')) out->sign = *p++ == '-';
    char *digits = p;
    const size_t count = take_digits(&p, end, &out->exponent, &any);
    if (!any) return 0;
    if (p < end && (*p == 'e' || *p == 'E')) {
        bool negative = false;
        int64_t given = 0;
        p++;
        if (p < end && (*p == '-' || *p == '+')) negative = *p++ == '-';
        if (p == end || end - p > 9) return 0;
        for (; p < end && is_digit(*p); p++) given = given * 10 + (*p - '0');
        out->exponent += negative ? -given : given;
    }
    if (p != end) return 0;
    if (count <= SMALL_DIGITS) {
        out->c = small_value(digits, count);
        return 1;
    }
    whole c;
    whole_clear(&c);
    bool good = whole_read(vm, digits, count, &c) && whole_store(vm, &c, out);
    whole_drop(vm, &c);
    return good ? 1 : -1;
}
