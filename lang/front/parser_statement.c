/* parser_statement.c: simple statements, lines and blocks (parser_statement.h). */
#include "lang/front/parser_statement.h"

#include "lang/front/parser_compound.h"
#include "lang/front/parser_expression.h"
#include "lang/front/parser_target.h"

#include <string.h>

/* ---- Expressions and assignments ---- */

static bool at_statement_end(const dv_parser *p) {
    return dv_parser_at(p, DV_TOKEN_NEWLINE) || dv_parser_at(p, DV_TOKEN_SEMICOLON);
}

static dv_stmt *finish_expression(dv_parser *p, dv_expr *expr) {
    dv_stmt *stmt = dv_parser_stmt(p, DV_STMT_EXPR, expr->at);
    if (stmt != NULL) stmt->as.expr = expr;
    return stmt;
}

static dv_stmt *parse_assignment(dv_parser *p, dv_expr *first, dv_range start) {
    dv_expr_builder targets = {0};
    dv_expr *value = first;
    while (dv_parser_at(p, DV_TOKEN_ASSIGN)) {
        if (!dv_parser_check_assigned(p, value)) return NULL;
        if (!dv_expr_push(p->front, &targets, value)) return NULL;
        dv_parser_advance(p);
        value = dv_parser_value(p);
        if (value == NULL) return NULL;
    }
    dv_stmt *stmt = dv_parser_stmt(p, DV_STMT_ASSIGN, dv_parser_range(p, start));
    if (stmt == NULL) return NULL;
    stmt->as.assign.targets = targets.list;
    stmt->as.assign.value = value;
    return stmt;
}

static bool is_simple_target(const dv_expr *expr) {
    return expr->kind == DV_EXPR_NAME || expr->kind == DV_EXPR_ATTRIBUTE ||
           expr->kind == DV_EXPR_SUBSCRIPT;
}

static dv_stmt *parse_augmented(dv_parser *p, dv_expr *target, dv_range start) {
    if (!is_simple_target(target)) return dv_parser_invalid(p);
    dv_operator op = (dv_operator)(p->token->kind - DV_TOKEN_PLUS_ASSIGN);
    dv_parser_advance(p);
    dv_expr *value = dv_parser_value(p);
    if (value == NULL) return NULL;
    dv_stmt *stmt = dv_parser_stmt(p, DV_STMT_AUGMENT, dv_parser_range(p, start));
    if (stmt == NULL) return NULL;
    stmt->as.augment.target = target;
    stmt->as.augment.value = value;
    stmt->as.augment.op = op;
    return stmt;
}

static dv_stmt *parse_annotated(dv_parser *p, dv_expr *target, dv_range start) {
    if (!is_simple_target(target)) return dv_parser_invalid(p);
    dv_parser_advance(p);
    dv_expr *annotation = dv_parser_expression(p), *value = NULL;
    if (annotation == NULL) return NULL;
    if (dv_parser_accept(p, DV_TOKEN_ASSIGN)) {
        value = dv_parser_value(p);
        if (value == NULL) return NULL;
    }
    dv_stmt *stmt = dv_parser_stmt(p, DV_STMT_ANNOTATE, dv_parser_range(p, start));
    if (stmt == NULL) return NULL;
    stmt->as.annotate.target = target;
    stmt->as.annotate.annotation = annotation;
    stmt->as.annotate.value = value;
    return stmt;
}

static dv_stmt *parse_expression_statement(dv_parser *p) {
    dv_range start = p->token->at;
    dv_expr *first = dv_parser_value(p);
    if (first == NULL) return NULL;
    dv_token_kind kind = (dv_token_kind)p->token->kind;
    bool bare_yield = (first->kind == DV_EXPR_YIELD || first->kind == DV_EXPR_YIELD_FROM) &&
                      !first->parenthesized;
    if (kind == DV_TOKEN_ASSIGN) return parse_assignment(p, first, start);
    if (kind == DV_TOKEN_COLON && !bare_yield) return parse_annotated(p, first, start);
    if (kind >= DV_TOKEN_PLUS_ASSIGN && kind <= DV_TOKEN_CARET_ASSIGN && !bare_yield)
        return parse_augmented(p, first, start);
    return finish_expression(p, first);
}

/* ---- Other simple statements ---- */

static dv_stmt *parse_keyword_only(dv_parser *p, dv_stmt_kind kind) {
    dv_stmt *stmt = dv_parser_stmt(p, kind, p->token->at);
    dv_parser_advance(p);
    return stmt;
}

static dv_stmt *parse_return(dv_parser *p) {
    dv_range start = p->token->at;
    dv_parser_advance(p);
    dv_expr *value = NULL;
    if (!at_statement_end(p)) {
        value = dv_parser_star_expressions(p);
        if (value == NULL) return NULL;
    }
    dv_stmt *stmt = dv_parser_stmt(p, DV_STMT_RETURN, dv_parser_range(p, start));
    if (stmt != NULL) stmt->as.expr = value;
    return stmt;
}

static dv_stmt *parse_raise(dv_parser *p) {
    dv_range start = p->token->at;
    dv_parser_advance(p);
    dv_expr *exception = NULL, *cause = NULL;
    if (!at_statement_end(p)) {
        exception = dv_parser_expression(p);
        if (exception == NULL) return NULL;
        if (dv_parser_accept(p, DV_TOKEN_FROM)) {
            cause = dv_parser_expression(p);
            if (cause == NULL) return NULL;
        }
    }
    dv_stmt *stmt = dv_parser_stmt(p, DV_STMT_RAISE, dv_parser_range(p, start));
    if (stmt == NULL) return NULL;
    stmt->as.raise.exception = exception;
    stmt->as.raise.cause = cause;
    return stmt;
}

static dv_stmt *parse_assert(dv_parser *p) {
    dv_range start = p->token->at;
    dv_parser_advance(p);
    dv_expr *test = dv_parser_expression(p), *message = NULL;
    if (test == NULL) return NULL;
    if (dv_parser_accept(p, DV_TOKEN_COMMA)) {
        message = dv_parser_expression(p);
        if (message == NULL) return NULL;
    }
    dv_stmt *stmt = dv_parser_stmt(p, DV_STMT_ASSERT, dv_parser_range(p, start));
    if (stmt == NULL) return NULL;
    stmt->as.assertion.test = test;
    stmt->as.assertion.message = message;
    return stmt;
}

static dv_stmt *parse_delete(dv_parser *p) {
    dv_range start = p->token->at;
    dv_parser_advance(p);
    dv_expr *targets = dv_parser_star_expressions(p);
    if (targets == NULL || !dv_parser_check_deleted(p, targets)) return NULL;
    dv_stmt *stmt = dv_parser_stmt(p, DV_STMT_DELETE, dv_parser_range(p, start));
    if (stmt == NULL) return NULL;
    bool bare = targets->kind == DV_EXPR_TUPLE && !targets->parenthesized;
    if (bare) {
        stmt->as.targets = targets->as.list;
        return stmt;
    }
    dv_expr_builder builder = {0};
    if (!dv_expr_push(p->front, &builder, targets)) return NULL;
    stmt->as.targets = builder.list;
    return stmt;
}

static dv_stmt *parse_scope_statement(dv_parser *p, dv_stmt_kind kind) {
    dv_range start = p->token->at;
    dv_stmt *stmt = dv_parser_stmt(p, kind, start);
    if (stmt == NULL) return NULL;
    dv_parser_advance(p);
    uint32_t capacity = 0, range_capacity = 0, count = 0;
    do {
        if (!dv_parser_at(p, DV_TOKEN_NAME)) return dv_parser_invalid(p);
        void *names = stmt->as.names.items, *ranges = stmt->as.names.ranges;
        if (!dv_front_reserve(p->front, &names, count, &capacity, sizeof(dv_name *)) ||
            !dv_front_reserve(p->front, &ranges, count, &range_capacity, sizeof(dv_range)))
            return NULL;
        stmt->as.names.items = names;
        stmt->as.names.ranges = ranges;
        stmt->as.names.items[count] = p->token->name;
        stmt->as.names.ranges[count++] = p->token->at;
        dv_parser_advance(p);
    } while (dv_parser_accept(p, DV_TOKEN_COMMA));
    stmt->as.names.count = count;
    stmt->at = dv_parser_range(p, start);
    return stmt;
}

/* ---- Imports ---- */

/* a.b.c; spaces around the dots are left out */
static bool parse_dotted_name(dv_parser *p, dv_text *path) {
    const dv_token *first = p->token;
    uint32_t size = 0;
    do {
        if (!dv_parser_at(p, DV_TOKEN_NAME)) return dv_parser_invalid(p) != NULL;
        size += p->token->name->text.size + 1;
        dv_parser_advance(p);
    } while (dv_parser_accept(p, DV_TOKEN_DOT));
    char *text = dv_front_keep(p->front, size);
    if (text == NULL) return false;
    path->data = text;
    for (const dv_token *token = first; token < p->token; token++) {
        if (token->kind != DV_TOKEN_NAME) {
            *text++ = '.';
            continue;
        }
        memcpy(text, token->name->text.data, token->name->text.size);
        text += token->name->text.size;
    }
    path->size = (uint32_t)(text - path->data);
    return true;
}

/* `as name`, or else the name given */
static bool parse_alias_target(dv_parser *p, dv_alias *alias, dv_name *name, dv_range start) {
    dv_range at = start;
    if (dv_parser_accept(p, DV_TOKEN_AS)) {
        if (!dv_parser_at(p, DV_TOKEN_NAME)) return dv_parser_invalid(p) != NULL;
        name = p->token->name;
        alias->renamed = true;
        at = p->token->at;
        dv_parser_advance(p);
    }
    alias->target = dv_parser_name(p, name, at);
    alias->at = dv_parser_range(p, start);
    return alias->target != NULL;
}

static bool parse_import_alias(dv_parser *p, dv_alias *alias) {
    dv_range start = p->token->at;
    alias->first = p->token->name;
    return parse_dotted_name(p, &alias->path) && parse_alias_target(p, alias, alias->first, start);
}

static bool parse_from_alias(dv_parser *p, dv_alias *alias) {
    dv_range start = p->token->at;
    alias->first = p->token->name;
    if (!dv_parser_expect(p, DV_TOKEN_NAME)) return false;
    alias->path = alias->first->text;
    return parse_alias_target(p, alias, alias->first, start);
}

static bool parse_aliases(dv_parser *p, dv_stmt *stmt, bool parentheses) {
    uint32_t capacity = 0;
    bool from = stmt->kind == DV_STMT_FROM;
    do {
        if (parentheses && stmt->as.import.count > 0 && dv_parser_at(p, DV_TOKEN_RIGHT_PAREN))
            return true;
        void *items = stmt->as.import.aliases;
        if (!dv_front_reserve(p->front, &items, stmt->as.import.count, &capacity, sizeof(dv_alias)))
            return false;
        stmt->as.import.aliases = items;
        dv_alias *alias = &stmt->as.import.aliases[stmt->as.import.count++];
        *alias = (dv_alias){0};
        if (!(from ? parse_from_alias(p, alias) : parse_import_alias(p, alias))) return false;
    } while (dv_parser_accept(p, DV_TOKEN_COMMA));
    return true;
}

static dv_stmt *parse_import(dv_parser *p) {
    dv_range start = p->token->at;
    dv_stmt *stmt = dv_parser_stmt(p, DV_STMT_IMPORT, start);
    if (stmt == NULL) return NULL;
    dv_parser_advance(p);
    if (!parse_aliases(p, stmt, false)) return NULL;
    stmt->at = dv_parser_range(p, start);
    return stmt;
}

static bool parse_from_names(dv_parser *p, dv_stmt *stmt) {
    if (dv_parser_at(p, DV_TOKEN_STAR)) {
        dv_alias *alias = dv_front_scratch(p->front, sizeof *alias);
        if (alias == NULL) return false;
        *alias = (dv_alias){.path = {"*", 1}, .at = p->token->at};
        stmt->as.import.aliases = alias;
        stmt->as.import.count = 1;
        dv_parser_advance(p);
        return true;
    }
    bool parentheses = dv_parser_accept(p, DV_TOKEN_LEFT_PAREN);
    if (!parse_aliases(p, stmt, parentheses)) return false;
    return !parentheses || dv_parser_expect(p, DV_TOKEN_RIGHT_PAREN);
}

static dv_stmt *parse_from(dv_parser *p) {
    dv_range start = p->token->at;
    dv_stmt *stmt = dv_parser_stmt(p, DV_STMT_FROM, start);
    if (stmt == NULL) return NULL;
    dv_parser_advance(p);
    for (;;) {
        if (dv_parser_accept(p, DV_TOKEN_DOT))
            stmt->as.import.level += 1;
        else if (dv_parser_accept(p, DV_TOKEN_ELLIPSIS))
            stmt->as.import.level += 3;
        else
            break;
    }
    bool bare = stmt->as.import.level > 0 && dv_parser_at(p, DV_TOKEN_IMPORT);
    if (!bare && !parse_dotted_name(p, &stmt->as.import.module)) return NULL;
    if (!dv_parser_expect(p, DV_TOKEN_IMPORT) || !parse_from_names(p, stmt)) return NULL;
    stmt->at = dv_parser_range(p, start);
    return stmt;
}

/* ---- Lines and blocks ---- */

static dv_stmt *parse_simple(dv_parser *p) {
    switch (p->token->kind) {
    case DV_TOKEN_PASS: return parse_keyword_only(p, DV_STMT_PASS);
    case DV_TOKEN_BREAK: return parse_keyword_only(p, DV_STMT_BREAK);
    case DV_TOKEN_CONTINUE: return parse_keyword_only(p, DV_STMT_CONTINUE);
    case DV_TOKEN_RETURN: return parse_return(p);
    case DV_TOKEN_RAISE: return parse_raise(p);
    case DV_TOKEN_ASSERT: return parse_assert(p);
    case DV_TOKEN_DEL: return parse_delete(p);
    case DV_TOKEN_GLOBAL: return parse_scope_statement(p, DV_STMT_GLOBAL);
    case DV_TOKEN_NONLOCAL: return parse_scope_statement(p, DV_STMT_NONLOCAL);
    case DV_TOKEN_IMPORT: return parse_import(p);
    case DV_TOKEN_FROM: return parse_from(p);
    default: return parse_expression_statement(p);
    }
}

/* simple; simple; ... newline */
static bool parse_line(dv_parser *p, dv_block_builder *block) {
    do {
        dv_stmt *stmt = parse_simple(p);
        if (stmt == NULL || !dv_block_push(p->front, block, stmt)) return false;
        if (!dv_parser_accept(p, DV_TOKEN_SEMICOLON)) break;
    } while (!dv_parser_at(p, DV_TOKEN_NEWLINE));
    return dv_parser_expect(p, DV_TOKEN_NEWLINE);
}

bool dv_parser_statement(dv_parser *p, dv_block_builder *block) {
    dv_stmt *compound = NULL;
    if (!dv_parser_compound(p, &compound)) return false;
    if (compound != NULL) return dv_block_push(p->front, block, compound);
    return parse_line(p, block);
}

bool dv_parser_block(dv_parser *p, dv_block *body) {
    dv_block_builder builder = {0};
    if (!dv_parser_expect(p, DV_TOKEN_COLON)) return false;
    if (!dv_parser_at(p, DV_TOKEN_NEWLINE)) {
        if (!parse_line(p, &builder)) return false;
        *body = builder.list;
        return true;
    }
    dv_parser_advance(p);
    if (!dv_parser_expect(p, DV_TOKEN_INDENT) || !dv_parser_enter(p)) return false;
    while (!dv_parser_accept(p, DV_TOKEN_DEDENT))
        if (!dv_parser_statement(p, &builder)) return false;
    p->depth--;
    *body = builder.list;
    return true;
}
