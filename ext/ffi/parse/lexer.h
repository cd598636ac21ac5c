/* lexer.h: C declarations as tokens.
 *
 * Invariants
 *  1. `text` has no comments and no #defines any more (lexer_clean), and ends with a zero byte.
 *  2. A lexer is a value: a copy is a place to come back to. */
#ifndef FFI_LEXER_H
#define FFI_LEXER_H

#include "base.h"

typedef enum token_kind {
    TOKEN_END,
    TOKEN_WORD,
    TOKEN_NUMBER,
    TOKEN_CHARACTER, /* 'x' */
    TOKEN_STRING,
    TOKEN_DOTS,  /* ... */
    TOKEN_LEFT,  /* << */
    TOKEN_RIGHT, /* >> */
    TOKEN_MARK,  /* any other character, the first of `text` */
    TOKEN_DIRECTIVE
} token_kind;

typedef struct token {
    token_kind kind;
    const char *text;
    uint32_t size, line, column;
} token;

typedef struct lexer {
    const char *text, *at, *line_start;
    uint32_t line;
    token token; /* the current one */
} lexer;

/* #define NAME VALUE */
typedef struct lexer_macro {
    const char *name, *value; /* in the source; the value without white space around it */
    uint32_t name_size, value_size;
} lexer_macro;

/* Blanks comments out and removes the #defines of a text, in place; each is passed to `define`. */
bool lexer_clean(dvx_vm *vm, char *text, bool (*define)(void *context, const lexer_macro *macro),
                 void *context);

lexer lexer_start(const char *text); /* the first token is current */
void lexer_next(lexer *l);

static inline bool token_is(const token *t, char mark) {
    return t->kind == TOKEN_MARK && *t->text == mark;
}
static inline bool token_is_word(const token *t, const char *word) {
    return t->kind == TOKEN_WORD && strlen(word) == t->size && memcmp(t->text, word, t->size) == 0;
}

#endif
