/* parse.h: the parser's own parts: specifier.c, declarator.c, constant.c, parser.c.
 *
 * Invariants
 *  1. A part that fails has raised; its caller returns at once.
 *  2. Recursion on the text stands between parse_enter and parse_leave, which limit it: names of
 *     types grow with their depth. */
#ifndef FFI_PARSE_H
#define FFI_PARSE_H

#include "parse/lexer.h"
#include "parse/parser.h"

typedef struct parser {
    dvx_vm *vm;
    scope *scope;
    ffi_state *state;
    lexer lexer;
    parser_options options;
    bool no_c;      /* the text could not be parsed */
    uint32_t depth; /* of what is being read: brackets, bodies, parameters */
    uint32_t line;  /* of the declaration; 0: errors name no line */
} parser;

/* What the words before a declarator say. */
typedef struct specifiers {
    ctype *type;
    bool is_typedef, has_storage, is_const, is_tagged;
} specifiers;

/* What a declarator declares. */
typedef struct declarator {
    const char *name; /* in the text; NULL: none */
    uint32_t size, line;
    bool is_const; /* a pointer that is const */
    bool is_plain; /* nothing but a name */
} declarator;

static inline const token *parse_token(const parser *p) { return &p->lexer.token; }
static inline void parse_next(parser *p) { lexer_next(&p->lexer); }
static inline bool parse_at(const parser *p, char mark) { return token_is(&p->lexer.token, mark); }
static inline bool parse_at_word(const parser *p, const char *word) {
    return token_is_word(&p->lexer.token, word);
}
/* Takes a mark if it is the current token. */
bool parse_take(parser *p, char mark);
bool parse_expect(parser *p, char mark);

/* CDefError: the text cannot be parsed at the current token. */
bool parse_fail(parser *p);
/* CDefError with this text, for which the line is given as cffi does it, and FFIError. */
bool parse_refuse(parser *p, const char *format, ...) FORMATTED(2, 3);
bool parse_error(parser *p, const char *format, ...) FORMATTED(2, 3);

/* Around what may stand in itself; false: raised, and no parse_leave. */
enum { PARSE_DEEPEST = 200 };
bool parse_enter(parser *p);
void parse_leave(parser *p);

/* Does the current token begin a type? */
bool parse_at_type(parser *p);
/* `name`: a typedef's specifiers, which may name a struct after it. */
bool parse_specifiers(parser *p, specifiers *s);
ctype *parse_declarator(parser *p, ctype *base, declarator *d);
bool parse_constant(parser *p, scope_integer *value);
/* The value of a token that is a number or character. */
bool parse_number(parser *p, const char *text, uint32_t size, scope_integer *value);
bool parse_add_constant(parser *p, const char *name, uint32_t size, scope_integer value);

#endif
