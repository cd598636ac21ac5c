/* parser_target.c: checks of assignment targets (parser_target.h). */
#include "lang/front/parser_target.h"

#include "lang/front/parser_expression.h"

bool dv_parser_check_assigned(dv_parser *p, const dv_expr *target) {
    switch (target->kind) {
    case DV_EXPR_NAME:
    case DV_EXPR_ATTRIBUTE:
    case DV_EXPR_SUBSCRIPT: return true;
    case DV_EXPR_STARRED: return dv_parser_check_assigned(p, target->as.child);
    case DV_EXPR_LIST:
    case DV_EXPR_TUPLE:
        for (uint32_t i = 0; i < target->as.list.count; i++)
            if (!dv_parser_check_assigned(p, target->as.list.items[i])) return false;
        return true;
    default: return dv_parser_invalid(p) != NULL;
    }
}

bool dv_parser_check_deleted(dv_parser *p, const dv_expr *target) {
    if (target->kind == DV_EXPR_STARRED) return dv_parser_invalid(p) != NULL;
    if (target->kind != DV_EXPR_LIST && target->kind != DV_EXPR_TUPLE)
        return dv_parser_check_assigned(p, target);
    for (uint32_t i = 0; i < target->as.list.count; i++)
        if (!dv_parser_check_deleted(p, target->as.list.items[i])) return false;
    return true;
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

dv_expr *dv_parser_for_target(dv_parser *p) {
    dv_expr *target = parse_target_list(p);
    return target != NULL && dv_parser_check_assigned(p, target) ? target : NULL;
}

dv_expr *dv_parser_with_target(dv_parser *p) {
    dv_expr *target = parse_target_item(p);
    return target != NULL && dv_parser_check_assigned(p, target) ? target : NULL;
}
