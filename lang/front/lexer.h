/* lexer.h: source text to tokens.
 *
 * The whole source is made into an array of tokens before parsing begins.  A lexical error ends the
 * array with a token of kind DV_TOKEN_ERROR; the parser decides whether it or a syntax error
 * before it is what the user should see (dv_lexer_error below; the order is CPython's). */
#ifndef DV_LANG_LEXER_H
#define DV_LANG_LEXER_H

#include "lang/front/name.h"
#include "lang/front/token.h"

/* How an error found by the lexer competes with a syntax error in the tokens before it. */
typedef enum dv_lexer_rank {
    DV_LEXER_NO_ERROR,
    DV_LEXER_WHEN_REACHED, /* counts only when the parser gets there */
    DV_LEXER_UNCLOSED,     /* an open bracket: counts before errors on later lines */
    DV_LEXER_ALWAYS        /* counts before any syntax error */
} dv_lexer_rank;

enum { DV_MAX_BRACKETS = 200, DV_MAX_INDENTS = 100 };

typedef struct dv_tokens {
    dv_token *items; /* the last one is DV_TOKEN_END or DV_TOKEN_ERROR */
    uint32_t count;
    dv_lexer_rank rank;
    dv_problem problem;
    uint32_t bracket_line; /* for DV_LEXER_UNCLOSED: where the bracket was opened */
} dv_tokens;

/* Makes tokens of front->source.  False only when memory runs out; errors are in `tokens`. */
bool dv_lexer_run(dv_front *front, dv_tokens *tokens);

/* Makes tokens of the bytes [begin, end) of the source, an expression inside an f-string: newlines
 * are white space, and `where` gives line and column of `begin`. */
bool dv_lexer_run_inside(dv_front *front, uint32_t begin, uint32_t end, dv_range where,
                         dv_tokens *tokens);

#endif
