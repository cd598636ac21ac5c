/* parser.c: the parser's tools, and its entry (parser.h). */
#include "lang/parser.h"

#include "lang/explain.h"
#include "lang/parser_statement.h"

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
    return dv_parser_accept(p, kind) || dv_parser_invalid(p) != NULL;
}

bool dv_parser_force(dv_parser *p, dv_token_kind kind, const char *spelling) {
    return dv_parser_accept(p, kind) ||
           dv_parser_fail(p, p->token->at, "expected '%s'", spelling) != NULL;
}

dv_token_kind dv_parser_peek(const dv_parser *p) {
    const dv_token *last = p->tokens->items + p->tokens->count - 1;
    return (dv_token_kind)(p->token < last ? p->token[1].kind : p->token->kind);
}

static bool is_white_space(const dv_token *token) {
    return token->kind == DV_TOKEN_NEWLINE || token->kind == DV_TOKEN_INDENT ||
           token->kind == DV_TOKEN_DEDENT || token->kind == DV_TOKEN_END;
}

dv_range dv_parser_range(const dv_parser *p, dv_range from) {
    const dv_token *last = p->token;
    do last = last > p->tokens->items ? last - 1 : last;
    while (last > p->tokens->items && is_white_space(last));
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

/* Whether the lexer's error is the one to report although the parser stopped at `token`. */
static bool lexer_first(const dv_parser *p) {
    switch (p->tokens->rank) {
    case DV_LEXER_ALWAYS: return true;
    case DV_LEXER_UNCLOSED:
        if (p->token->at.line > p->tokens->bracket_line) return true;
        break;
    default: break;
    }
    return p->token->kind == DV_TOKEN_ERROR;
}

/* Unexpected indentation counts before anything that the lexer found later. */
static void *report_indentation(dv_parser *p, const char *message) {
    dv_problem problem = {.type = "IndentationError", .at = p->token->at, .vague = true};
    snprintf(problem.message, sizeof problem.message, "%s", message);
    if (dv_parser_at(p, DV_TOKEN_INDENT)) {
        problem.at.column -= problem.at.column > 0;
        problem.at.end_column = DV_NO_COLUMN;
    }
    dv_front_problem(p->front, &problem);
    return NULL;
}

/* Only the parser's own errors say that they are about an f-string. */
static void *report(dv_parser *p, dv_problem *problem) {
    if (lexer_first(p)) {
        dv_problem lexical = p->tokens->problem;
        lexical.vague = problem->vague;
        dv_front_problem(p->front, &lexical);
    } else if (p->fstring_depth > 0) {
        dv_problem prefixed = *problem;
        snprintf(prefixed.message, sizeof prefixed.message, "f-string: %.240s", problem->message);
        dv_front_problem(p->front, &prefixed);
    } else {
        dv_front_problem(p->front, problem);
    }
    return NULL;
}

void *dv_parser_fail(dv_parser *p, dv_range at, const char *format, ...) {
    dv_problem problem = {.type = "SyntaxError", .at = at, .vague = true};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem.message, sizeof problem.message, format, arguments);
    va_end(arguments);
    return report(p, &problem);
}

void *dv_parser_fail_indentation(dv_parser *p, const char *format, ...) {
    dv_problem problem = {.type = "IndentationError", .at = p->token->at, .vague = true};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem.message, sizeof problem.message, format, arguments);
    va_end(arguments);
    return report(p, &problem);
}

/* `a not b`: the token behind `not` decides, and is what CPython points at. */
static bool at_lone_not(const dv_parser *p) {
    if (!dv_parser_at(p, DV_TOKEN_NOT) || p->token == p->tokens->items) return false;
    switch (p->token[-1].kind) {
    case DV_TOKEN_NAME:
    case DV_TOKEN_NUMBER:
    case DV_TOKEN_STRING:
    case DV_TOKEN_RIGHT_PAREN:
    case DV_TOKEN_RIGHT_BRACKET:
    case DV_TOKEN_RIGHT_BRACE: return true;
    default: return false;
    }
}

void *dv_parser_invalid(dv_parser *p) {
    if (dv_parser_at(p, DV_TOKEN_INDENT)) return report_indentation(p, "unexpected indent");
    if (dv_parser_at(p, DV_TOKEN_DEDENT)) return report_indentation(p, "unexpected unindent");
    dv_range at = at_lone_not(p) ? p->token[1].at : p->token->at;
    if (dv_parser_at(p, DV_TOKEN_END) && p->fstring_depth == 0) at.column = DV_NO_COLUMN;
    return dv_parser_fail(p, at, "invalid syntax");
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
    if (expr != NULL) expr->as.list = list;
    return expr;
}

dv_expr *dv_parser_name(dv_parser *p, dv_name *name, dv_range at) {
    dv_expr *expr = dv_parser_expr(p, DV_EXPR_NAME, at);
    if (expr != NULL) expr->as.name.name = name;
    return expr;
}

dv_stmt *dv_parser_stmt(dv_parser *p, dv_stmt_kind kind, dv_range at) {
    dv_stmt *stmt = dv_front_scratch(p->front, sizeof *stmt);
    if (stmt == NULL) return NULL;
    stmt->kind = kind;
    stmt->at = at;
    return stmt;
}

void *dv_parser_fail_literal(dv_parser *p, const char *format, ...) {
    dv_problem problem = {.type = "SyntaxError", .at = p->token->at};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem.message, sizeof problem.message, format, arguments);
    va_end(arguments);
    return report(p, &problem);
}

/* ---- Entry ---- */

bool dv_parser_run(dv_front *front, dv_block *module) {
    dv_tokens tokens = {0};
    if (!dv_lexer_run(front, &tokens)) return false;
    dv_parser parser = {front, &tokens, tokens.items, 0, 0};
    dv_block_builder builder = {0};
    while (!dv_parser_at(&parser, DV_TOKEN_END)) {
        uint32_t first = (uint32_t)(parser.token - tokens.items);
        if (dv_parser_statement(&parser, &builder)) continue;
        if (front->status == DV_LANG_ERROR && front->problem.vague)
            dv_explain_run(front, &tokens, first, false);
        return false;
    }
    *module = builder.list;
    return true;
}
