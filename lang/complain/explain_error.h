/* explain_error.h: the errors that the grammar describes, worded and placed as in CPython. */
#ifndef DV_LANG_EXPLAIN_ERROR_H
#define DV_LANG_EXPLAIN_ERROR_H

#include "dv_grammar.h"
#include "lang/front/lexer.h"

/* What a rule has found. */
typedef struct dv_node {
    uint8_t kind; /* dv_grammar_kind */
    uint32_t first, count;
    struct dv_node **parts;
    dv_range at;
} dv_node;

typedef struct dv_explanation {
    dv_front *front;
    const dv_tokens *tokens;
    uint32_t furthest; /* number of tokens that were read */
    bool fstring;
    bool done, from_lexer; /* an error was found */
    dv_problem problem;
} dv_explanation;

/* The lexer's error was reached. */
void dv_explain_lexer(dv_explanation *x);

/* The token that must be at `position` is not there. */
void dv_explain_expected(dv_explanation *x, uint32_t position, uint16_t kind);

/* An alternative that describes an error was found, up to the token `end`; some are errors only
 * under conditions that the grammar does not say. */
void dv_explain_error(dv_explanation *x, const dv_grammar_alternative *alternative,
                      const dv_node *a, const dv_node *b, uint32_t end);

/* Makes what was found the problem of the front end; `last` is the last token of the first pass. */
void dv_explain_report(dv_explanation *x, uint32_t last);

#endif
