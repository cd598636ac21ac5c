/* constant.c: constant expressions of C, as far as cffi knows them (parse.h). */
#include "parse/parse.h"

static int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
}

bool parse_number(parser *p, const char *text, uint32_t size, scope_integer *value) {
    uint32_t end = size, at = 0;
    int base = 10;
    while (end > 1 && strchr("uUlL", text[end - 1])) end--;
    if (end > 2 && text[0] == '0' && (text[1] | 0x20) == 'x')
        base = 16, at = 2;
    else if (end > 2 && text[0] == '0' && (text[1] | 0x20) == 'b')
        base = 2, at = 2;
    else if (end > 1 && text[0] == '0')
        base = 8, at = 1;
    *value = 0;
    for (; at < end; at++) {
        int digit = digit_value(text[at]);
        if (digit >= base || *value >> 64)
            return parse_refuse(p, "invalid constant '%.*s'", (int)size, text);
        *value = *value * base + digit;
    }
    return true;
}

static bool character(parser *p, scope_integer *value) {
    const token *t = parse_token(p);
    bool good = t->size == 3 || (t->size == 4 && t->text[1] == '\\');
    if (!good) return parse_refuse(p, "invalid constant %.*s", (int)t->size, t->text);
    *value = (unsigned char)t->text[t->size - 2];
    return true;
}

static bool unsupported(parser *p) {
    return parse_error(p, ":%u: unsupported expression: expected a simple numeric constant",
                       parse_token(p)->line);
}

static bool named(parser *p, scope_integer *value) {
    const token *t = parse_token(p);
    const declaration *d = scope_find(p->scope, DECLARED_INTEGER, t->text, t->size);
    if (!d) return unsupported(p);
    *value = d->value;
    return true;
}

static bool binary_of(parser *p, scope_integer *value, int least);

static bool operand(parser *p, scope_integer *value) {
    const token *t = parse_token(p);
    bool good, negative = false;
    while (parse_at(p, '+') || parse_at(p, '-')) {
        negative ^= parse_at(p, '-');
        parse_next(p);
    }
    if (negative) {
        good = operand(p, value);
        *value = good ? -*value : 0;
        return good;
    }
    if (parse_take(p, '(')) return binary_of(p, value, 0) && parse_expect(p, ')');
    switch (t->kind) {
    case TOKEN_NUMBER: good = parse_number(p, t->text, t->size, value); break;
    case TOKEN_CHARACTER: good = character(p, value); break;
    case TOKEN_WORD: good = named(p, value); break;
    case TOKEN_DOTS: return unsupported(p);
    default: return parse_fail(p);
    }
    if (good) parse_next(p);
    return good;
}

/* How tightly an operator binds; -1: it is none. */
static int precedence(const token *t) {
    if (t->kind == TOKEN_LEFT || t->kind == TOKEN_RIGHT) return 3;
    if (t->kind != TOKEN_MARK) return -1;
    switch (*t->text) {
    case '|': return 0;
    case '^': return 1;
    case '&': return 2;
    case '+':
    case '-': return 4;
    case '*':
    case '/':
    case '%': return 5;
    default: return -1;
    }
}

static bool apply(parser *p, const token *t, scope_integer *a, scope_integer b) {
    bool shifts = t->kind == TOKEN_LEFT || t->kind == TOKEN_RIGHT;
    if (shifts && (b < 0 || b > 63)) return unsupported(p);
    if (t->kind == TOKEN_LEFT) {
        *a = (scope_integer)((unsigned __int128)*a << b);
        return true;
    }
    if (t->kind == TOKEN_RIGHT) {
        *a >>= b;
        return true;
    }
    if ((*t->text == '/' || *t->text == '%') && b == 0)
        return ffi_fail(p->vm, DVX_ZERO_DIVISION_ERROR, "integer division or modulo by zero");
    switch (*t->text) {
    case '|': *a |= b; break;
    case '^': *a ^= b; break;
    case '&': *a &= b; break;
    case '+': *a += b; break;
    case '-': *a -= b; break;
    case '*': *a *= b; break;
    case '/': *a /= b; break;
    default: *a %= b; break;
    }
    return true;
}

/* Values beyond 64 bits are no constants of C; so far inside, nothing overflows. */
static bool fits(scope_integer v) { return v >= -((scope_integer)1 << 63) && v >> 64 == 0; }

static bool binary_of(parser *p, scope_integer *value, int least) {
    if (!parse_enter(p)) return false;
    bool good = operand(p, value);
    while (good && precedence(parse_token(p)) >= least) {
        token operator= * parse_token(p);
        scope_integer right;
        parse_next(p);
        good = binary_of(p, &right, precedence(&operator) + 1) &&
               apply(p, &operator, value, right) && (fits(*value) || unsupported(p));
    }
    parse_leave(p);
    return good;
}

bool parse_constant(parser *p, scope_integer *value) { return binary_of(p, value, 0); }

bool parse_add_constant(parser *p, const char *name, uint32_t size, scope_integer value) {
    declaration *d = scope_find(p->scope, DECLARED_INTEGER, name, size);
    if (d && d->value != value)
        return parse_error(p, "multiple declarations of constant: %.*s", (int)size, name);
    if (!d) d = scope_add(p->vm, p->scope, DECLARED_INTEGER, name, size, NULL);
    if (d) d->value = value;
    return d != NULL;
}
