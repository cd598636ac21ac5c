/* ast.c: lists of tree nodes, and small questions about nodes (ast.h). */
#include "lang/front/ast.h"

bool dv_expr_push(dv_front *front, dv_expr_builder *builder, dv_expr *expr) {
    void *items = builder->list.items;
    if (!dv_front_reserve(front, &items, builder->list.count, &builder->capacity, sizeof expr))
        return false;
    builder->list.items = items;
    builder->list.items[builder->list.count++] = expr;
    return true;
}

bool dv_block_push(dv_front *front, dv_block_builder *builder, dv_stmt *stmt) {
    void *items = builder->list.items;
    if (!dv_front_reserve(front, &items, builder->list.count, &builder->capacity, sizeof stmt))
        return false;
    builder->list.items = items;
    builder->list.items[builder->list.count++] = stmt;
    return true;
}

dv_expr *dv_expr_left(const dv_expr *expr) {
    switch (expr->kind) {
    case DV_EXPR_BINARY: return expr->as.binary.left;
    case DV_EXPR_ATTRIBUTE: return expr->as.attribute.object;
    case DV_EXPR_SUBSCRIPT: return expr->as.subscript.container;
    case DV_EXPR_CALL: return expr->as.call.callee;
    default: return NULL;
    }
}

dv_expr *dv_expr_leftmost(dv_expr *expr) {
    for (dv_expr *left = dv_expr_left(expr); left != NULL; left = dv_expr_left(expr)) expr = left;
    return expr;
}

bool dv_expr_is_constant(const dv_expr *expr) { return expr->kind == DV_EXPR_CONSTANT; }

int dv_expr_truth(const dv_expr *expr) {
    if (!dv_expr_is_constant(expr)) return -1;
    const dv_literal *literal = &expr->as.constant;
    switch (literal->kind) {
    case DV_CONST_NONE:
    case DV_CONST_FALSE: return 0;
    case DV_CONST_TRUE:
    case DV_CONST_ELLIPSIS:
    case DV_CONST_BIGINT: return 1;
    case DV_CONST_INT: return literal->as.integer != 0;
    case DV_CONST_FLOAT:
    case DV_CONST_COMPLEX: return literal->as.real != 0.0;
    case DV_CONST_STR:
    case DV_CONST_BYTES: return literal->as.text.size != 0;
    case DV_CONST_TUPLE:
    case DV_CONST_FROZENSET: return literal->as.tuple.count != 0;
    default: return -1;
    }
}

bool dv_pattern_is_irrefutable(const dv_pattern *pattern) {
    while (pattern->kind == DV_PATTERN_AS || (pattern->kind == DV_PATTERN_OR && pattern->count > 0))
        pattern = pattern->items[pattern->count - 1];
    return pattern->kind == DV_PATTERN_CAPTURE;
}
