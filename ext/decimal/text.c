/* text.c: small numbers as text, and text as small numbers.
 *
 * Invariants
 *  1. What is not plain ASCII, has underscores or more than SMALL_DIGITS digits, or is wrong, is
 *     left to parse() of _decimal_text.dl. */
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

/* Where the point stands, counted from the first digit, if it moves by threes. */
static int64_t engineering_point(const number *n, int64_t leading) {
    int64_t place = n->c ? leading - 1 : leading + 1;
    return (place % 3 + 3) % 3 + (n->c ? 1 : -1);
}

size_t decimal_write(const number *n, bool engineering, bool capital, char *out) {
    char *p = out;
    if (n->is_big) return 0;
    if (n->sign) *p++ = '-';
    if (n->kind == INFINITE) {
        memcpy(p, "Infinity", 8);
        return (size_t)(p + 8 - out);
    }
    if (n->kind != FINITE) {
        if (n->kind == SIGNALLING_NAN) *p++ = 's';
        memcpy(p, "NaN", 3);
        p += 3;
        if (n->c) p += write_digits(n->c, p);
        return (size_t)(p - out);
    }
    char digits[SMALL_DIGITS + 1];
    int64_t count = (int64_t)write_digits(n->c, digits);
    int64_t leading = n->exponent + count; /* the value is 0.digits * 10^leading */
    int64_t point = 1;
    if (n->exponent <= 0 && leading > -6)
        point = leading;
    else if (engineering)
        point = engineering_point(n, leading);
    if (point <= 0) {
        *p++ = '0';
        *p++ = '.';
        p = fill(p, '0', -point);
        memcpy(p, digits, (size_t)count);
        p += count;
    } else if (point >= count) {
        memcpy(p, digits, (size_t)count);
        p = fill(p + count, '0', point - count);
    } else {
        memcpy(p, digits, (size_t)point);
        p += point;
        *p++ = '.';
        memcpy(p, digits + point, (size_t)(count - point));
        p += count - point;
    }
    if (leading != point)
        p += sprintf(p, "%c%+lld", capital ? 'E' : 'e', (long long)(leading - point));
    return (size_t)(p - out);
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool decimal_parse(const char *text, size_t size, number *out) {
    const char *p = text, *end = text + size;
    while (p < end && is_space(*p)) p++;
    while (end > p && is_space(end[-1])) end--;
    uint8_t sign = 0;
    if (p < end && (*p == '-' || *p == '+')) sign = *p++ == '-';
    u128 c = 0;
    int64_t exponent = 0;
    uint32_t count = 0;
    bool any = false, behind = false;
    for (; p < end; p++) {
        if (*p == '.' && !behind) {
            behind = true;
            continue;
        }
        if (!is_digit(*p)) break;
        any = true;
        count += c || *p != '0';
        if (count > SMALL_DIGITS) return false;
        c = c * 10 + (uint32_t)(*p - '0');
        exponent -= behind;
    }
    if (!any) return false;
    if (p < end && (*p == 'e' || *p == 'E')) {
        bool negative = false;
        int64_t given = 0;
        p++;
        if (p < end && (*p == '-' || *p == '+')) negative = *p++ == '-';
        if (p == end || end - p > 9) return false;
        for (; p < end && is_digit(*p); p++) given = given * 10 + (*p - '0');
        exponent += negative ? -given : given;
    }
    if (p != end) return false;
    *out = (number){.c = c, .exponent = exponent, .sign = sign};
    return true;
}
