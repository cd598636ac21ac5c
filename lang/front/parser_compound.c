/* parser_compound.c: compound statements (parser_compound.h). */
#include "lang/front/parser_compound.h"

#include "lang/front/parser_expression.h"
#include "lang/front/parser_function.h"
#include "lang/front/parser_match.h"
#include "lang/front/parser_statement.h"
#include "lang/front/parser_target.h"

/* ---- if, while, for ---- */

static bool parse_else(dv_parser *p, dv_block *otherwise) {
    if (!dv_parser_accept(p, DV_TOKEN_ELSE)) return true;
    return dv_parser_block(p, otherwise);
}

static bool parse_branch(dv_parser *p, dv_branch *branch) {
    dv_range start = p->token->at;
    dv_parser_advance(p);
    branch->test = dv_parser_named(p);
    if (branch->test == NULL) return false;
    if (!dv_parser_block(p, &branch->body)) return false;
    branch->at = dv_parser_range(p, start);
    return true;
}

static dv_stmt *parse_if(dv_parser *p) {
    dv_range start = p->token->at;
    dv_stmt *stmt = dv_parser_stmt(p, DV_STMT_IF, start);
    if (stmt == NULL) return NULL;
    uint32_t capacity = 0;
    do {
        void *items = stmt->as.branch.branches;
        uint32_t count = stmt->as.branch.count;
        if (!dv_front_reserve(p->front, &items, count, &capacity, sizeof(dv_branch))) return NULL;
        stmt->as.branch.branches = items;
        stmt->as.branch.branches[count] = (dv_branch){0};
        if (!parse_branch(p, &stmt->as.branch.branches[count])) return NULL;
        stmt->as.branch.count++;
    } while (dv_parser_at(p, DV_TOKEN_ELIF));
    if (!parse_else(p, &stmt->as.branch.otherwise)) return NULL;
    stmt->at = dv_parser_range(p, start);
    for (uint32_t i = 0; i < stmt->as.branch.count; i++)
        stmt->as.branch.branches[i].at = dv_range_join(stmt->as.branch.branches[i].at, stmt->at);
    return stmt;
}

static dv_stmt *parse_while(dv_parser *p) {
    dv_range start = p->token->at;
    dv_stmt *stmt = dv_parser_stmt(p, DV_STMT_WHILE, start);
    if (stmt == NULL) return NULL;
    dv_parser_advance(p);
    stmt->as.loop.test = dv_parser_named(p);
    if (stmt->as.loop.test == NULL) return NULL;
    if (!dv_parser_block(p, &stmt->as.loop.body)) return NULL;
    if (!parse_else(p, &stmt->as.loop.otherwise)) return NULL;
    stmt->at = dv_parser_range(p, start);
    return stmt;
}

static dv_stmt *parse_for(dv_parser *p) {
    dv_range start = p->token->at;
    dv_stmt *stmt = dv_parser_stmt(p, DV_STMT_FOR, start);
    if (stmt == NULL) return NULL;
    dv_parser_advance(p);
    stmt->as.each.target = dv_parser_for_target(p);
    if (stmt->as.each.target == NULL || !dv_parser_expect(p, DV_TOKEN_IN)) return NULL;
    stmt->as.each.iterable = dv_parser_star_expressions(p);
    if (stmt->as.each.iterable == NULL) return NULL;
    if (!dv_parser_block(p, &stmt->as.each.body)) return NULL;
    if (!parse_else(p, &stmt->as.each.otherwise)) return NULL;
    stmt->at = dv_parser_range(p, start);
    return stmt;
}

/* ---- try ---- */

static bool parse_handler_type(dv_parser *p, dv_handler *handler) {
    handler->type = dv_parser_expression(p);
    if (handler->type == NULL) return false;
    if (!dv_parser_accept(p, DV_TOKEN_AS)) return true;
    dv_name *name = p->token->name;
    dv_range at = p->token->at;
    if (!dv_parser_expect(p, DV_TOKEN_NAME)) return false;
    handler->name = dv_parser_name(p, name, at);
    return handler->name != NULL;
}

static bool parse_handler(dv_parser *p, dv_handler *handler) {
    dv_range start = p->token->at;
    dv_parser_advance(p);
    if (dv_parser_at(p, DV_TOKEN_STAR))
        return dv_parser_refuse(p, dv_parser_range(p, start), DV_REFUSE_EXCEPT_STAR) != NULL;
    bool bare = dv_parser_at(p, DV_TOKEN_COLON) || dv_parser_at(p, DV_TOKEN_NEWLINE);
    if (!bare && !parse_handler_type(p, handler)) return false;
    if (!dv_parser_block(p, &handler->body)) return false;
    handler->at = dv_parser_range(p, start);
    return true;
}

static bool parse_handlers(dv_parser *p, dv_stmt *stmt) {
    uint32_t capacity = 0;
    while (dv_parser_at(p, DV_TOKEN_EXCEPT)) {
        void *items = stmt->as.attempt.handlers;
        uint32_t count = stmt->as.attempt.handler_count;
        if (!dv_front_reserve(p->front, &items, count, &capacity, sizeof(dv_handler))) return false;
        stmt->as.attempt.handlers = items;
        stmt->as.attempt.handlers[count] = (dv_handler){0};
        if (!parse_handler(p, &stmt->as.attempt.handlers[count])) return false;
        stmt->as.attempt.handler_count++;
    }
    return stmt->as.attempt.handler_count == 0 || parse_else(p, &stmt->as.attempt.otherwise);
}

static bool parse_finally(dv_parser *p, dv_stmt *stmt) {
    if (!dv_parser_accept(p, DV_TOKEN_FINALLY)) return true;
    stmt->as.attempt.has_finally = true;
    return dv_parser_block(p, &stmt->as.attempt.finally);
}

static dv_stmt *parse_try(dv_parser *p) {
    dv_range start = p->token->at;
    dv_stmt *stmt = dv_parser_stmt(p, DV_STMT_TRY, start);
    if (stmt == NULL) return NULL;
    dv_parser_advance(p);
    if (!dv_parser_block(p, &stmt->as.attempt.body)) return NULL;
    if (!dv_parser_at(p, DV_TOKEN_EXCEPT) && !dv_parser_at(p, DV_TOKEN_FINALLY))
        return dv_parser_invalid(p);
    if (!parse_handlers(p, stmt) || !parse_finally(p, stmt)) return NULL;
    stmt->at = dv_parser_range(p, start);
    return stmt;
}

/* ---- with ---- */

/* Is the token, at the level of a parenthesis, one of what no list of expressions has there: of a
 * generator expression, an assignment expression, a yield or a tuple with a star? */
static bool is_of_one_expression(const dv_token *token) {
    switch (token->kind) {
    case DV_TOKEN_FOR:
    case DV_TOKEN_WALRUS:
    case DV_TOKEN_YIELD: return true;
    case DV_TOKEN_STAR:
        return token[-1].kind == DV_TOKEN_LEFT_PAREN || token[-1].kind == DV_TOKEN_COMMA;
    default: return false;
    }
}

/* Whether the parenthesis that opens here encloses the items: `with (a as b, c):`, `with (a, b):`;
 * around one item alone it means nothing. */
static bool items_in_parentheses(const dv_parser *p) {
    if (!dv_parser_at(p, DV_TOKEN_LEFT_PAREN)) return false;
    const dv_token *token = p->token + 1;
    uint32_t brackets = p->token->brackets;
    bool has_as = false, has_comma = false, one = false;
    for (; token->kind != DV_TOKEN_ERROR && token->kind != DV_TOKEN_END; token++) {
        if (token->kind == DV_TOKEN_RIGHT_PAREN && token->brackets + 1u == brackets)
            return (has_as || (has_comma && !one)) && token[1].kind == DV_TOKEN_COLON;
        if (token->brackets != brackets) continue;
        has_as = has_as || token->kind == DV_TOKEN_AS;
        has_comma = has_comma || token->kind == DV_TOKEN_COMMA;
        one = one || is_of_one_expression(token);
    }
    return false;
}

static bool parse_with_item(dv_parser *p, dv_with_item *item) {
    item->context = dv_parser_expression(p);
    if (item->context == NULL) return false;
    if (!dv_parser_accept(p, DV_TOKEN_AS)) return true;
    item->target = dv_parser_with_target(p);
    return item->target != NULL;
}

static bool parse_with_items(dv_parser *p, dv_stmt *stmt) {
    bool parentheses = items_in_parentheses(p);
    if (parentheses) dv_parser_advance(p);
    uint32_t capacity = 0;
    do {
        if (parentheses && dv_parser_at(p, DV_TOKEN_RIGHT_PAREN)) break;
        void *items = stmt->as.with.items;
        uint32_t count = stmt->as.with.count;
        if (!dv_front_reserve(p->front, &items, count, &capacity, sizeof(dv_with_item)))
            return false;
        stmt->as.with.items = items;
        stmt->as.with.items[count] = (dv_with_item){0};
        if (!parse_with_item(p, &stmt->as.with.items[count])) return false;
        stmt->as.with.count++;
    } while (dv_parser_accept(p, DV_TOKEN_COMMA));
    return !parentheses || dv_parser_expect(p, DV_TOKEN_RIGHT_PAREN);
}

static dv_stmt *parse_with(dv_parser *p) {
    dv_range start = p->token->at;
    dv_stmt *stmt = dv_parser_stmt(p, DV_STMT_WITH, start);
    if (stmt == NULL) return NULL;
    dv_parser_advance(p);
    if (!parse_with_items(p, stmt)) return NULL;
    if (!dv_parser_block(p, &stmt->as.with.body)) return NULL;
    stmt->at = dv_parser_range(p, start);
    return stmt;
}

/* ---- What dl never has ---- */

static dv_stmt *refuse_async(dv_parser *p) {
    dv_range at = p->token->at;
    switch (dv_parser_peek(p)) {
    case DV_TOKEN_DEF: return dv_parser_refuse(p, at, DV_REFUSE_ASYNC_DEF);
    case DV_TOKEN_FOR: return dv_parser_refuse(p, at, DV_REFUSE_ASYNC_FOR);
    case DV_TOKEN_WITH: return dv_parser_refuse(p, at, DV_REFUSE_ASYNC_WITH);
    default: dv_parser_advance(p); return dv_parser_invalid(p);
    }
}

bool dv_parser_compound(dv_parser *p, dv_stmt **stmt) {
    *stmt = NULL;
    switch (p->token->kind) {
    case DV_TOKEN_IF: *stmt = parse_if(p); break;
    case DV_TOKEN_WHILE: *stmt = parse_while(p); break;
    case DV_TOKEN_FOR: *stmt = parse_for(p); break;
    case DV_TOKEN_TRY: *stmt = parse_try(p); break;
    case DV_TOKEN_WITH: *stmt = parse_with(p); break;
    case DV_TOKEN_DEF:
    case DV_TOKEN_CLASS:
    case DV_TOKEN_AT: *stmt = dv_parser_definition(p); break;
    case DV_TOKEN_ASYNC: *stmt = refuse_async(p); break;
    default:
        if (dv_parser_at_match(p)) *stmt = dv_parser_match(p);
        break;
    }
    return p->front->status == DV_LANG_OK;
}
