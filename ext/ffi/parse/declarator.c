/* declarator.c: pointers, arrays, functions and the brackets around them (parse.h).
 *
 * C writes types inside out: in `int (*f[3])(char)` what stands in the brackets applies to what
 * stands behind them.  So the brackets are skipped, the rest is read, and then they are read. */
#include "parse/parse.h"

static bool skip_qualifiers(parser *p, bool *is_const) {
    bool found = false;
    for (;; parse_next(p), found = true) {
        if (parse_at_word(p, "const"))
            *is_const = true;
        else if (!parse_at_word(p, "volatile") && !parse_at_word(p, "restrict") &&
                 !parse_at_word(p, "__restrict"))
            return found;
    }
}

static ctype *pointers(parser *p, ctype *type, declarator *d) {
    for (uint32_t depth = 0; type && parse_take(p, '*'); depth++) {
        if (depth == PARSE_DEEPEST) {
            parse_refuse(p, "more than %d stars are not part of dl", PARSE_DEEPEST);
            return NULL;
        }
        d->is_const = d->is_plain = false;
        skip_qualifiers(p, &d->is_const);
        type = ctype_pointer_to(p->vm, type);
    }
    return type;
}

/* ---- Parameters ---- */

enum { MOST_PARAMETERS = 127 };

typedef struct parameters {
    ctype *types[MOST_PARAMETERS];
    uint32_t count;
    bool ellipsis;
} parameters;

static ctype *as_parameter(parser *p, ctype *type) {
    if (!type) return NULL;
    if (type->kind == CTYPE_ARRAY) return ctype_pointer_to(p->vm, type->item);
    return type->kind == CTYPE_FUNCTION ? ctype_pointer_to(p->vm, type) : type;
}

static bool unknown_parameter(parser *p, const parameters *list, const declarator *function) {
    token t = *parse_token(p);
    if (list->count > 0) return parse_fail(p);
    parse_next(p);
    if (!parse_at(p, ',') && !parse_at(p, ')')) return parse_fail(p);
    return parse_refuse(p,
                        "%.*s arg %u: unknown type '%.*s' (if you meant to use the old C syntax of "
                        "giving untyped arguments, it is not supported)",
                        function->name ? (int)function->size : 13,
                        function->name ? function->name : "in expression", list->count + 1,
                        (int)t.size, t.text);
}

static bool parameter(parser *p, parameters *list, const declarator *function) {
    specifiers s;
    declarator d;
    if (list->count == MOST_PARAMETERS)
        return parse_refuse(p, "more than %d parameters are not part of dl", MOST_PARAMETERS);
    if (parse_token(p)->kind == TOKEN_WORD && !parse_at_type(p))
        return unknown_parameter(p, list, function);
    if (!parse_specifiers(p, &s)) return false;
    ctype *type = as_parameter(p, parse_declarator(p, s.type, &d));
    if (type) list->types[list->count++] = type;
    return type != NULL;
}

static bool read_parameters(parser *p, parameters *list, const declarator *function) {
    list->count = 0;
    list->ellipsis = false;
    if (parse_take(p, ')')) return true;
    do {
        if (parse_token(p)->kind == TOKEN_DOTS) {
            parse_next(p);
            list->ellipsis = true;
            break;
        }
        if (!parameter(p, list, function)) return false;
    } while (parse_take(p, ','));
    if (list->ellipsis && list->count == 0)
        return parse_refuse(p, "%.*s: a function with only '(...)' as argument is not correct C",
                            function->name ? (int)function->size : 13,
                            function->name ? function->name : "in expression");
    if (list->count == 1 && list->types[0]->kind == CTYPE_VOID && !list->ellipsis) list->count = 0;
    return parse_expect(p, ')');
}

/* ---- What stands behind a name ---- */

static ctype *suffixes(parser *p, ctype *base, const declarator *d);

static ctype *function_of(parser *p, ctype *base, const declarator *d) {
    parameters list;
    if (!read_parameters(p, &list, d)) return NULL;
    ctype *result = suffixes(p, base, d);
    if (!result) return NULL;
    return ctype_function(p->vm, result, list.types, list.count, list.ellipsis);
}

static ctype *array_of(parser *p, ctype *base, const declarator *d) {
    scope_integer length = -1;
    uint32_t line = parse_token(p)->line;
    bool ignored;
    skip_qualifiers(p, &ignored);
    if (parse_token(p)->kind == TOKEN_DOTS) {
        parse_error(p, ":%u: '[...]' needs a C compiler and is not part of dl", line);
        return NULL;
    }
    if (!parse_at(p, ']')) {
        if (!parse_constant(p, &length)) return NULL;
        if (length < 0 || length > INT64_MAX) {
            ffi_fail(p->vm, DVX_VALUE_ERROR, "negative array length");
            return NULL;
        }
    }
    if (!parse_expect(p, ']')) return NULL;
    ctype *item = suffixes(p, base, d);
    return item ? ctype_array_of(p->vm, item, (int64_t)length) : NULL;
}

static ctype *suffixes(parser *p, ctype *base, const declarator *d) {
    if (!base || (!parse_at(p, '(') && !parse_at(p, '['))) return base;
    if (!parse_enter(p)) return NULL;
    ctype *type = parse_take(p, '(')   ? function_of(p, base, d)
                  : parse_take(p, '[') ? array_of(p, base, d)
                                       : NULL;
    parse_leave(p);
    return type;
}

/* ---- Declarators ---- */

/* Are the brackets here around a declarator?  Otherwise they hold parameters. */
static bool is_bracketed(const parser *p) {
    parser ahead = *p;
    parse_next(&ahead);
    if (parse_at(&ahead, '*') || parse_at(&ahead, '(') || parse_at(&ahead, '[')) return true;
    return parse_token(&ahead)->kind == TOKEN_WORD && !parse_at_type(&ahead);
}

/* Skips a bracket and everything up to the one that closes it. */
static bool skip_brackets(parser *p) {
    uint32_t depth = 0;
    do {
        if (parse_at(p, '(')) depth++;
        if (parse_at(p, ')')) depth--;
        if (parse_token(p)->kind == TOKEN_END) return parse_fail(p);
        parse_next(p);
    } while (depth > 0);
    return true;
}

static ctype *read_declarator(parser *p, ctype *base, declarator *d);

static ctype *bracketed(parser *p, ctype *base, declarator *d) {
    lexer inside = p->lexer;
    if (!skip_brackets(p)) return NULL;
    /* The name is inside: for messages, parameters behind it belong to no name. */
    ctype *type = suffixes(p, base, d);
    lexer behind = p->lexer;
    p->lexer = inside;
    parse_next(p);
    if (type) type = read_declarator(p, type, d);
    d->is_plain = false;
    if (!type || !parse_expect(p, ')')) return NULL;
    p->lexer = behind;
    return type;
}

static ctype *read_declarator(parser *p, ctype *base, declarator *d) {
    if (!parse_enter(p)) return NULL;
    ctype *type = pointers(p, base, d);
    if (type && parse_at(p, '(') && is_bracketed(p)) {
        type = bracketed(p, type, d);
    } else if (type) {
        const token *t = parse_token(p);
        if (t->kind == TOKEN_WORD) {
            d->name = t->text, d->size = t->size, d->line = t->line;
            parse_next(p);
        }
        d->is_plain &= !parse_at(p, '(') && !parse_at(p, '[');
        type = suffixes(p, type, d);
    }
    parse_leave(p);
    return type;
}

ctype *parse_declarator(parser *p, ctype *base, declarator *d) {
    *d = (declarator){.line = parse_token(p)->line, .is_plain = true};
    return read_declarator(p, base, d);
}
