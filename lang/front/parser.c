/* parser.c: the parser's tools, and its entry (parser.h). */
#include "lang/front/parser.h"

#include "lang/complain/explain.h"
#include "lang/front/parser_expression.h"
#include "lang/front/parser_statement.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool dv_parser_at(const dv_parser *p, dv_token_kind kind) { return p->token->kind == kind; }

/* The last token is never skipped, so that there is always a current one. */
void dv_parser_advance(dv_parser *p) {
    if (p->token < p->tokens->items + p->tokens->count - 1) p->token++;
}

bool dv_parser_accept(dv_parser *p, dv_token_kind kind) {
    if (p->token->kind != kind) return false;
    dv_parser_advance(p);
    return true;
}

bool dv_parser_expect(dv_parser *p, dv_token_kind kind) {
    if (dv_parser_accept(p, kind)) return true;
    dv_parser_invalid(p);
    return false;
}

dv_token_kind dv_parser_peek(const dv_parser *p) {
    assert(p->token->kind != DV_TOKEN_END);
    return (dv_token_kind)p->token[1].kind;
}

static bool is_white_space(const dv_token *token) {
    return token->kind == DV_TOKEN_NEWLINE || token->kind == DV_TOKEN_INDENT ||
           token->kind == DV_TOKEN_DEDENT;
}

dv_range dv_parser_range(const dv_parser *p, dv_range from) {
    const dv_token *last = p->token;
    assert(last > p->tokens->items); /* the token where `from` begins was read */
    do last--;
    while (is_white_space(last));
    return dv_range_join(from, last->at);
}

bool dv_parser_enter(dv_parser *p) {
    if (++p->depth <= DV_MAX_DEPTH) return true;
    dv_parser_fail_literal(p, "too many nested expressions");
    return false;
}

bool dv_parser_at_expression(const dv_parser *p) {
    switch (p->token->kind) {
    case DV_TOKEN_NAME:
    case DV_TOKEN_NUMBER:
    case DV_TOKEN_STRING:
    case DV_TOKEN_LEFT_PAREN:
    case DV_TOKEN_LEFT_BRACKET:
    case DV_TOKEN_LEFT_BRACE:
    case DV_TOKEN_ELLIPSIS:
    case DV_TOKEN_TILDE:
    case DV_TOKEN_PLUS:
    case DV_TOKEN_MINUS:
    case DV_TOKEN_FALSE:
    case DV_TOKEN_NONE:
    case DV_TOKEN_TRUE:
    case DV_TOKEN_NOT:
    case DV_TOKEN_LAMBDA:
    case DV_TOKEN_AWAIT: return true;
    default: return false;
    }
}

/* ---- Errors ---- */

void *dv_parser_invalid(dv_parser *p) {
    dv_problem problem = {.type = "SyntaxError", .at = p->token->at, .vague = true};
    snprintf(problem.message, sizeof problem.message, "invalid syntax");
    dv_front_problem(p->front, &problem);
    return NULL;
}

/* Whether the lexer found, right behind a literal or further on, what counts before an error in it.
 */
static bool lexer_first(const dv_parser *p) {
    const dv_tokens *tokens = p->tokens;
    if (p->token->kind == DV_TOKEN_ERROR) return true;
    if (tokens->rank == DV_LEXER_UNCLOSED) return p->token->at.line > tokens->bracket_line;
    return tokens->rank == DV_LEXER_ALWAYS;
}

void *dv_parser_fail_literal(dv_parser *p, const char *format, ...) {
    dv_problem problem = {.type = "SyntaxError", .at = p->token->at};
    int prefix = p->fstring_depth == 0 ? 0 : snprintf(problem.message, 16, "f-string: ");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem.message + prefix, sizeof problem.message - (size_t)prefix, format, arguments);
    va_end(arguments);
    dv_front_problem(p->front, lexer_first(p) ? &p->tokens->problem : &problem);
    return NULL;
}

void *dv_parser_refuse(dv_parser *p, dv_range at, dv_refusal what) {
    dv_refuse(p->front, at, what);
    return NULL;
}

/* ---- Nodes ---- */

dv_expr *dv_parser_expr(dv_parser *p, dv_expr_kind kind, dv_range at) {
    dv_expr *expr = dv_front_scratch(p->front, sizeof *expr);
    if (expr == NULL) return NULL;
    expr->kind = (uint8_t)kind;
    expr->at = at;
    return expr;
}

dv_expr *dv_parser_list(dv_parser *p, dv_expr_kind kind, dv_range at, dv_exprs list) {
    dv_expr *expr = dv_parser_expr(p, kind, at);
    if (expr == NULL) return NULL;
    expr->as.list = list;
    return expr;
}

dv_expr *dv_parser_name(dv_parser *p, dv_name *name, dv_range at) {
    dv_expr *expr = dv_parser_expr(p, DV_EXPR_NAME, at);
    if (expr == NULL) return NULL;
    expr->as.name.name = name;
    return expr;
}

dv_stmt *dv_parser_stmt(dv_parser *p, dv_stmt_kind kind, dv_range at) {
    dv_stmt *stmt = dv_front_scratch(p->front, sizeof *stmt);
    if (stmt == NULL) return NULL;
    stmt->kind = kind;
    stmt->at = at;
    return stmt;
}

/* ---- Entry ---- */

/* A list of expressions without stars, and empty lines. */
static bool parse_expression(dv_parser *p, dv_block_builder *block) {
    dv_range start = p->token->at;
    dv_expr *expr = dv_parser_star_expressions(p);
    if (expr == NULL) return false;
    bool starred = expr->kind == DV_EXPR_STARRED;
    for (uint32_t i = 0; expr->kind == DV_EXPR_TUPLE && !expr->parenthesized && !starred; i++) {
        if (i == expr->as.list.count) break;
        starred = expr->as.list.items[i]->kind == DV_EXPR_STARRED;
    }
    while (dv_parser_accept(p, DV_TOKEN_NEWLINE)) continue;
    if (starred || !dv_parser_at(p, DV_TOKEN_END)) return dv_parser_invalid(p) != NULL;
    dv_stmt *stmt = dv_parser_stmt(p, DV_STMT_EXPR, dv_parser_range(p, start));
    if (stmt == NULL) return false;
    stmt->as.expr = expr;
    return dv_block_push(p->front, block, stmt);
}

bool dv_parser_run(dv_front *front, dv_block *module) {
    dv_tokens tokens = {0};
    if (!dv_lexer_run(front, &tokens)) return false;
    dv_parser parser = {front, &tokens, tokens.items, 0, 0};
    dv_block_builder builder = {0};
    bool empty = front->expression;
    for (; empty || !dv_parser_at(&parser, DV_TOKEN_END); empty = false) {
        uint32_t first = (uint32_t)(parser.token - tokens.items);
        if (front->expression ? parse_expression(&parser, &builder)
                              : dv_parser_statement(&parser, &builder))
            continue;
        if (front->status == DV_LANG_ERROR && front->problem.vague)
            dv_explain_run(front, &tokens, first, false);
        return false;
    }
    *module = builder.list;
    return true;
}
