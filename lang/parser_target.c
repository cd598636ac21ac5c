/* parser_target.c: checks of assignment targets (parser_target.h). */
#include "lang/parser_target.h"

#include "lang/parser_expression.h"

/* The first part of `expr` that cannot be a target; NULL if all can. */
static dv_expr *find_invalid(dv_expr *expr, bool deleted) {
    switch (expr->kind) {
    case DV_EXPR_NAME:
    case DV_EXPR_ATTRIBUTE:
    case DV_EXPR_SUBSCRIPT: return NULL;
    case DV_EXPR_STARRED: return deleted ? expr : find_invalid(expr->as.child, false);
    case DV_EXPR_LIST:
    case DV_EXPR_TUPLE:
        for (uint32_t i = 0; i < expr->as.list.count; i++) {
            dv_expr *invalid = find_invalid(expr->as.list.items[i], deleted);
            if (invalid != NULL) return invalid;
        }
        return NULL;
    default: return expr;
    }
}

static bool fail_target(dv_parser *p, const dv_expr *invalid, const char *verb) {
    return dv_parser_fail(p, invalid->at, "cannot %s %s", verb, dv_expr_describe(invalid)) != NULL;
}

/* The expression directly in front of `=`. */
static dv_expr *last_item(dv_expr *expr) {
    bool list = expr->kind == DV_EXPR_TUPLE && !expr->parenthesized;
    return list && expr->as.list.count > 0 ? expr->as.list.items[expr->as.list.count - 1] : expr;
}

bool dv_parser_check_assigned(dv_parser *p, dv_expr *target, bool first) {
    if ((target->kind == DV_EXPR_YIELD || target->kind == DV_EXPR_YIELD_FROM) &&
        !target->parenthesized)
        return dv_parser_fail(p, target->at, "assignment to yield expression not possible") != NULL;
    dv_expr *invalid = find_invalid(target, false);
    if (invalid == NULL) return true;
    if (first && last_item(target) == invalid) return dv_parser_check_equals(p, invalid);
    return fail_target(p, invalid, "assign to");
}

bool dv_parser_check_deleted(dv_parser *p, dv_expr *target) {
    dv_expr *invalid = find_invalid(target, true);
    return invalid == NULL || fail_target(p, invalid, "delete");
}

/* `*operand` or operand */
static dv_expr *parse_target_item(dv_parser *p) {
    dv_range start = p->token->at;
    bool starred = dv_parser_accept(p, DV_TOKEN_STAR);
    dv_expr *item = dv_parser_bitwise_or(p);
    if (item == NULL || !starred) return item;
    dv_expr *expr = dv_parser_expr(p, DV_EXPR_STARRED, dv_parser_range(p, start));
    if (expr != NULL) expr->as.child = item;
    return expr;
}

static dv_expr *parse_target_list(dv_parser *p) {
    dv_range start = p->token->at;
    dv_expr *first = parse_target_item(p);
    if (first == NULL || !dv_parser_at(p, DV_TOKEN_COMMA)) return first;
    dv_expr_builder builder = {0};
    if (!dv_expr_push(p->front, &builder, first)) return NULL;
    while (dv_parser_accept(p, DV_TOKEN_COMMA)) {
        if (dv_parser_at(p, DV_TOKEN_IN)) break;
        dv_expr *next = parse_target_item(p);
        if (next == NULL || !dv_expr_push(p->front, &builder, next)) return NULL;
    }
    return dv_parser_list(p, DV_EXPR_TUPLE, dv_parser_range(p, start), builder.list);
}

/* An adjacent expression inside brackets: as dv_parser_expression would say it. */
static dv_expr *fail_missing_in(dv_parser *p, const dv_expr *target) {
    if (p->token->brackets > 0 && dv_parser_at_expression(p) && !dv_parser_at(p, DV_TOKEN_NOT)) {
        dv_expr *other = dv_parser_expression(p);
        if (other == NULL) return NULL;
        return dv_parser_fail(p, dv_range_join(target->at, other->at),
                              "invalid syntax. Perhaps you forgot a comma?");
    }
    return dv_parser_invalid(p);
}

dv_expr *dv_parser_for_target(dv_parser *p) {
    dv_expr *target = parse_target_list(p);
    if (target == NULL) return NULL;
    dv_expr *invalid = find_invalid(target, false);
    bool comparison = invalid != NULL && invalid->kind == DV_EXPR_COMPARE;
    if (invalid != NULL && !comparison) return fail_target(p, invalid, "assign to"), NULL;
    if (!dv_parser_at(p, DV_TOKEN_IN)) return fail_missing_in(p, target);
    if (comparison) return fail_target(p, invalid, "assign to"), NULL;
    return target;
}

dv_expr *dv_parser_with_target(dv_parser *p) {
    dv_expr *target = parse_target_item(p);
    if (target == NULL) return NULL;
    dv_expr *invalid = find_invalid(target, false);
    if (invalid != NULL) return fail_target(p, invalid, "assign to"), NULL;
    return target;
}
