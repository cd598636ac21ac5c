/* parser_expression.c: operators by precedence climbing (parser_expression.h).
 *
 * Chains of left-associative operators and of `and`, `or` and comparisons are read in loops; only
 * prefix operators, `**`, and operators that bind tighter nest. */
#include "lang/front/parser_expression.h"

#include "lang/front/parser_display.h"
#include "lang/front/parser_function.h"

enum {
    LEVEL_NONE,
    LEVEL_OR,
    LEVEL_AND,
    LEVEL_NOT,
    LEVEL_COMPARE,
    LEVEL_BAR,
    LEVEL_CARET,
    LEVEL_AMPERSAND,
    LEVEL_SHIFT,
    LEVEL_SUM,
    LEVEL_PRODUCT,
    LEVEL_PREFIX
};

static dv_expr *parse_operators(dv_parser *p, int minimum);

/* ---- Prefix operators and powers ---- */

static dv_expr *parse_unary(dv_parser *p, dv_unary op, int level) {
    dv_range start = p->token->at;
    if (!dv_parser_enter(p)) return NULL;
    dv_parser_advance(p);
    dv_expr *operand = parse_operators(p, level);
    p->depth--;
    if (operand == NULL) return NULL;
    dv_expr *expr = dv_parser_expr(p, DV_EXPR_UNARY, dv_parser_range(p, start));
    if (expr == NULL) return NULL;
    expr->op = (uint8_t)op;
    expr->as.child = operand;
    return expr;
}

static dv_expr *new_binary(dv_parser *p, dv_operator op, dv_range start, dv_expr *left,
                           dv_expr *right) {
    dv_expr *expr = dv_parser_expr(p, DV_EXPR_BINARY, dv_parser_range(p, start));
    if (expr == NULL) return NULL;
    expr->op = (uint8_t)op;
    expr->as.binary.left = left;
    expr->as.binary.right = right;
    left->up = expr;
    return expr;
}

static dv_expr *parse_power(dv_parser *p) {
    dv_range start = p->token->at;
    dv_expr *base = dv_parser_primary(p);
    if (base == NULL || !dv_parser_at(p, DV_TOKEN_DOUBLE_STAR)) return base;
    if (!dv_parser_enter(p)) return NULL;
    dv_parser_advance(p);
    dv_expr *exponent = parse_operators(p, LEVEL_PREFIX);
    p->depth--;
    return exponent == NULL ? NULL : new_binary(p, DV_OPERATOR_POW, start, base, exponent);
}

static dv_expr *parse_prefix(dv_parser *p, int minimum) {
    switch (p->token->kind) {
    case DV_TOKEN_NOT:
        if (minimum > LEVEL_NOT) return dv_parser_invalid(p);
        return parse_unary(p, DV_UNARY_NOT, LEVEL_NOT);
    case DV_TOKEN_MINUS: return parse_unary(p, DV_UNARY_NEG, LEVEL_PREFIX);
    case DV_TOKEN_PLUS: return parse_unary(p, DV_UNARY_POS, LEVEL_PREFIX);
    case DV_TOKEN_TILDE: return parse_unary(p, DV_UNARY_INVERT, LEVEL_PREFIX);
    case DV_TOKEN_AWAIT: return dv_parser_refuse(p, p->token->at, DV_REFUSE_AWAIT);
    default: return parse_power(p);
    }
}

/* ---- Binary operators ---- */

static int level_of(const dv_parser *p) {
    switch (p->token->kind) {
    case DV_TOKEN_OR: return LEVEL_OR;
    case DV_TOKEN_AND: return LEVEL_AND;
    case DV_TOKEN_NOT: return dv_parser_peek(p) == DV_TOKEN_IN ? LEVEL_COMPARE : LEVEL_NONE;
    case DV_TOKEN_EQ:
    case DV_TOKEN_NE:
    case DV_TOKEN_LT:
    case DV_TOKEN_LE:
    case DV_TOKEN_GT:
    case DV_TOKEN_GE:
    case DV_TOKEN_IN:
    case DV_TOKEN_IS: return LEVEL_COMPARE;
    case DV_TOKEN_BAR: return LEVEL_BAR;
    case DV_TOKEN_CARET: return LEVEL_CARET;
    case DV_TOKEN_AMPERSAND: return LEVEL_AMPERSAND;
    case DV_TOKEN_LEFT_SHIFT:
    case DV_TOKEN_RIGHT_SHIFT: return LEVEL_SHIFT;
    case DV_TOKEN_PLUS:
    case DV_TOKEN_MINUS: return LEVEL_SUM;
    case DV_TOKEN_STAR:
    case DV_TOKEN_SLASH:
    case DV_TOKEN_DOUBLE_SLASH:
    case DV_TOKEN_PERCENT:
    case DV_TOKEN_AT: return LEVEL_PRODUCT;
    default: return LEVEL_NONE;
    }
}

/* a and b and c: one node */
static dv_expr *parse_boolean(dv_parser *p, dv_expr *first, dv_range start, int level) {
    dv_token_kind operator= level == LEVEL_OR ? DV_TOKEN_OR : DV_TOKEN_AND;
    dv_expr_builder builder = {0};
    if (!dv_expr_push(p->front, &builder, first)) return NULL;
    while (dv_parser_accept(p, operator)) {
        dv_expr *operand = parse_operators(p, level + 1);
        if (operand == NULL || !dv_expr_push(p->front, &builder, operand)) return NULL;
    }
    dv_expr_kind kind = level == LEVEL_OR ? DV_EXPR_OR : DV_EXPR_AND;
    return dv_parser_list(p, kind, dv_parser_range(p, start), builder.list);
}

static dv_comparison parse_comparison_operator(dv_parser *p) {
    static const dv_comparison by_token[] = {DV_COMPARISON_EQ, DV_COMPARISON_NE, DV_COMPARISON_LT,
                                             DV_COMPARISON_LE, DV_COMPARISON_GT, DV_COMPARISON_GE};
    dv_token_kind kind = (dv_token_kind)p->token->kind;
    dv_parser_advance(p);
    switch (kind) {
    case DV_TOKEN_IN: return DV_COMPARISON_IN;
    case DV_TOKEN_NOT: dv_parser_advance(p); return DV_COMPARISON_NOT_IN;
    case DV_TOKEN_IS:
        return dv_parser_accept(p, DV_TOKEN_NOT) ? DV_COMPARISON_IS_NOT : DV_COMPARISON_IS;
    default: return by_token[kind - DV_TOKEN_EQ];
    }
}

/* a < b <= c: one node */
static dv_expr *parse_comparison(dv_parser *p, dv_expr *first, dv_range start) {
    dv_expr_builder builder = {0};
    uint8_t *ops = NULL;
    uint32_t capacity = 0;
    while (level_of(p) == LEVEL_COMPARE) {
        void *grown = ops;
        if (!dv_front_reserve(p->front, &grown, builder.list.count, &capacity, 1)) return NULL;
        ops = grown;
        ops[builder.list.count] = (uint8_t)parse_comparison_operator(p);
        dv_expr *operand = parse_operators(p, LEVEL_BAR);
        if (operand == NULL || !dv_expr_push(p->front, &builder, operand)) return NULL;
    }
    dv_expr *expr = dv_parser_expr(p, DV_EXPR_COMPARE, dv_parser_range(p, start));
    if (expr == NULL) return NULL;
    expr->as.compare.left = first;
    expr->as.compare.rights = builder.list;
    expr->as.compare.ops = ops;
    return expr;
}

static dv_expr *parse_binary(dv_parser *p, dv_expr *left, dv_range start, int level) {
    dv_operator op = (dv_operator)(p->token->kind - DV_TOKEN_PLUS);
    dv_parser_advance(p);
    dv_expr *right = parse_operators(p, level + 1);
    return right == NULL ? NULL : new_binary(p, op, start, left, right);
}

/* Reads operators that bind at least as tightly as `minimum`. */
static dv_expr *parse_operators(dv_parser *p, int minimum) {
    dv_range start = p->token->at;
    if (!dv_parser_enter(p)) return NULL;
    dv_expr *left = parse_prefix(p, minimum);
    while (left != NULL) {
        int level = level_of(p);
        if (level == LEVEL_NONE || level < minimum) break;
        if (level <= LEVEL_AND)
            left = parse_boolean(p, left, start, level);
        else if (level == LEVEL_COMPARE)
            left = parse_comparison(p, left, start);
        else
            left = parse_binary(p, left, start, level);
    }
    p->depth--;
    return left;
}

dv_expr *dv_parser_disjunction(dv_parser *p) { return parse_operators(p, LEVEL_OR); }
dv_expr *dv_parser_bitwise_or(dv_parser *p) { return parse_operators(p, LEVEL_BAR); }

/* ---- Expressions ---- */

static dv_expr *parse_conditional(dv_parser *p, dv_expr *body, dv_range start) {
    dv_parser_advance(p);
    dv_expr *test = dv_parser_disjunction(p);
    if (test == NULL || !dv_parser_expect(p, DV_TOKEN_ELSE)) return NULL;
    dv_expr *otherwise = dv_parser_expression(p);
    if (otherwise == NULL) return NULL;
    dv_expr *expr = dv_parser_expr(p, DV_EXPR_CONDITIONAL, dv_parser_range(p, start));
    if (expr == NULL) return NULL;
    expr->as.conditional.test = test;
    expr->as.conditional.body = body;
    expr->as.conditional.otherwise = otherwise;
    return expr;
}

static dv_expr *parse_expression(dv_parser *p) {
    if (dv_parser_at(p, DV_TOKEN_LAMBDA)) return dv_parser_lambda(p);
    dv_range start = p->token->at;
    dv_expr *expr = dv_parser_disjunction(p);
    if (expr == NULL) return NULL;
    return dv_parser_at(p, DV_TOKEN_IF) ? parse_conditional(p, expr, start) : expr;
}

dv_expr *dv_parser_expression(dv_parser *p) {
    if (!dv_parser_enter(p)) return NULL;
    dv_expr *expr = parse_expression(p);
    p->depth--;
    return expr;
}

/* ---- Named expressions ---- */

static dv_expr *parse_walrus(dv_parser *p) {
    dv_range start = p->token->at;
    dv_expr *target = dv_parser_name(p, p->token->name, start);
    if (target == NULL) return NULL;
    dv_parser_advance(p);
    dv_parser_advance(p);
    dv_expr *value = dv_parser_expression(p);
    if (value == NULL) return NULL;
    dv_expr *expr = dv_parser_expr(p, DV_EXPR_NAMED, dv_parser_range(p, start));
    if (expr == NULL) return NULL;
    expr->as.named.target = target;
    expr->as.named.value = value;
    return expr;
}

dv_expr *dv_parser_named(dv_parser *p) {
    if (dv_parser_at(p, DV_TOKEN_NAME) && dv_parser_peek(p) == DV_TOKEN_WALRUS)
        return parse_walrus(p);
    return dv_parser_expression(p);
}

static dv_expr *parse_starred(dv_parser *p) {
    dv_range start = p->token->at;
    dv_parser_advance(p);
    dv_expr *value = dv_parser_bitwise_or(p);
    if (value == NULL) return NULL;
    dv_expr *expr = dv_parser_expr(p, DV_EXPR_STARRED, dv_parser_range(p, start));
    if (expr != NULL) expr->as.child = value;
    return expr;
}

dv_expr *dv_parser_star_named(dv_parser *p) {
    return dv_parser_at(p, DV_TOKEN_STAR) ? parse_starred(p) : dv_parser_named(p);
}

/* ---- Lists of expressions ---- */

dv_expr *dv_parser_star_expression(dv_parser *p) {
    return dv_parser_at(p, DV_TOKEN_STAR) ? parse_starred(p) : dv_parser_expression(p);
}

dv_expr *dv_parser_star_expressions(dv_parser *p) {
    dv_range start = p->token->at;
    dv_expr *first = dv_parser_star_expression(p);
    if (first == NULL || !dv_parser_at(p, DV_TOKEN_COMMA)) return first;
    dv_expr_builder builder = {0};
    if (!dv_expr_push(p->front, &builder, first)) return NULL;
    while (dv_parser_accept(p, DV_TOKEN_COMMA)) {
        if (!dv_parser_at_expression(p) && !dv_parser_at(p, DV_TOKEN_STAR)) break;
        dv_expr *next = dv_parser_star_expression(p);
        if (next == NULL || !dv_expr_push(p->front, &builder, next)) return NULL;
    }
    return dv_parser_list(p, DV_EXPR_TUPLE, dv_parser_range(p, start), builder.list);
}

dv_expr *dv_parser_yield(dv_parser *p) {
    dv_range start = p->token->at;
    dv_parser_advance(p);
    bool from = dv_parser_accept(p, DV_TOKEN_FROM);
    dv_expr *value = NULL;
    if (from)
        value = dv_parser_expression(p);
    else if (dv_parser_at_expression(p) || dv_parser_at(p, DV_TOKEN_STAR))
        value = dv_parser_star_expressions(p);
    if (p->front->status != DV_LANG_OK) return NULL;
    dv_expr *expr =
        dv_parser_expr(p, from ? DV_EXPR_YIELD_FROM : DV_EXPR_YIELD, dv_parser_range(p, start));
    if (expr != NULL) expr->as.child = value;
    return expr;
}

dv_expr *dv_parser_value(dv_parser *p) {
    return dv_parser_at(p, DV_TOKEN_YIELD) ? dv_parser_yield(p) : dv_parser_star_expressions(p);
}
