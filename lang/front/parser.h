/* parser.h: tokens to a syntax tree.  Recursive descent, one token ahead.
 *
 * Invariants
 *  1. A function that fails has recorded a problem (or memory has run out) and returns NULL or
 * false; its caller returns the same at once.
 *  2. `depth` counts nested calls of the recursive functions; DV_MAX_DEPTH bounds the C stack of
 * the parser and, since the tree is no deeper, of every later pass.
 *  3. Errors are those of CPython 3.11; an error found by the lexer may count before one that the
 *     parser finds earlier in the text (lexer.h). */
#ifndef DV_LANG_PARSER_H
#define DV_LANG_PARSER_H

#include "lang/front/ast.h"
#include "lang/front/lexer.h"
#include "lang/complain/refuse.h"

enum { DV_MAX_DEPTH = 600 };

typedef struct dv_parser {
    dv_front *front;
    const dv_tokens *tokens;
    const dv_token *token; /* the current one */
    uint32_t depth;
    uint32_t fstring_depth; /* f-strings around the tokens */
} dv_parser;

/* Parses front->source; the statements of the module. */
bool dv_parser_run(dv_front *front, dv_block *module);

/* ---- Used by the parser's own files ---- */

bool dv_parser_at(const dv_parser *p, dv_token_kind kind);
bool dv_parser_accept(dv_parser *p, dv_token_kind kind);
/* Skips the token, or fails if it is another. */
bool dv_parser_expect(dv_parser *p, dv_token_kind kind);
void dv_parser_advance(dv_parser *p);

/* The kind of the token after the current one. */
dv_token_kind dv_parser_peek(const dv_parser *p);

/* From the start of `from` to the end of the last token that was skipped, white space aside. */
dv_range dv_parser_range(const dv_parser *p, dv_range from);

/* Counts a level of nesting; the caller takes it back with p->depth--. */
bool dv_parser_enter(dv_parser *p);

/* Record an error and return NULL: that the statement is wrong (explain.h says how); or what is
 * wrong about a literal, into which explain.h does not look. */
void *dv_parser_invalid(dv_parser *p);
void *dv_parser_fail_literal(dv_parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void *dv_parser_refuse(dv_parser *p, dv_range at, dv_refusal what);

dv_expr *dv_parser_expr(dv_parser *p, dv_expr_kind kind, dv_range at);
dv_expr *dv_parser_list(dv_parser *p, dv_expr_kind kind, dv_range at, dv_exprs list);
dv_expr *dv_parser_name(dv_parser *p, dv_name *name, dv_range at);
dv_stmt *dv_parser_stmt(dv_parser *p, dv_stmt_kind kind, dv_range at);

/* True if an expression may begin with the current token. */
bool dv_parser_at_expression(const dv_parser *p);

#endif
