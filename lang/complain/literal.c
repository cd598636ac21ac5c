/* literal.c: which expressions are literals (literal.h).  The order in which parts are looked at,
 * and so which of several wrong ones is named, is that of CPython's literal_eval. */
#include "lang/complain/literal.h"

#include <stdio.h>
#include <string.h>

/* As CPython's tree calls the node. */
static const char *node_name(const dv_expr *e) {
    static const char *const names[] = {[DV_EXPR_NAME] = "Name",
                                        [DV_EXPR_CONSTANT] = "Constant",
                                        [DV_EXPR_FSTRING] = "JoinedStr",
                                        [DV_EXPR_FORMAT] = "FormattedValue",
                                        [DV_EXPR_TUPLE] = "Tuple",
                                        [DV_EXPR_LIST] = "List",
                                        [DV_EXPR_SET] = "Set",
                                        [DV_EXPR_DICT] = "Dict",
                                        [DV_EXPR_BINARY] = "BinOp",
                                        [DV_EXPR_UNARY] = "UnaryOp",
                                        [DV_EXPR_AND] = "BoolOp",
                                        [DV_EXPR_OR] = "BoolOp",
                                        [DV_EXPR_COMPARE] = "Compare",
                                        [DV_EXPR_CONDITIONAL] = "IfExp",
                                        [DV_EXPR_LAMBDA] = "Lambda",
                                        [DV_EXPR_CALL] = "Call",
                                        [DV_EXPR_ATTRIBUTE] = "Attribute",
                                        [DV_EXPR_SUBSCRIPT] = "Subscript",
                                        [DV_EXPR_SLICE] = "Slice",
                                        [DV_EXPR_STARRED] = "Starred",
                                        [DV_EXPR_NAMED] = "NamedExpr",
                                        [DV_EXPR_YIELD] = "Yield",
                                        [DV_EXPR_YIELD_FROM] = "YieldFrom"};
    if (e->kind != DV_EXPR_COMPREHENSION) return names[e->kind];
    return e->op == DV_COMPREHENSION_LIST   ? "ListComp"
           : e->op == DV_COMPREHENSION_SET  ? "SetComp"
           : e->op == DV_COMPREHENSION_DICT ? "DictComp"
                                            : "GeneratorExp";
}

/* The tree's nodes are no objects here.  Where CPython shows the address of one is a number that
 * stands for its place: a sandbox shows no addresses. */
static bool refuse(dv_front *front, const dv_expr *e) {
    dv_problem problem = {.type = "ValueError", .at = {0, DV_NO_COLUMN, 0, DV_NO_COLUMN}};
    if (e)
        snprintf(problem.message, sizeof problem.message,
                 "malformed node or string on line %u: <ast.%s object at 0x%x>", e->at.line,
                 node_name(e), (e->at.line << 16 | (uint32_t)e->at.column) << 4);
    else /* the key that `**x` has */
        snprintf(problem.message, sizeof problem.message, "malformed node or string: None");
    dv_front_problem(front, &problem);
    return false;
}

static bool is_number(const dv_expr *e) {
    if (e->kind != DV_EXPR_CONSTANT) return false;
    const dv_const_kind kind = e->as.constant.kind;
    return kind == DV_CONST_INT || kind == DV_CONST_BIGINT || kind == DV_CONST_FLOAT ||
           kind == DV_CONST_COMPLEX;
}

static bool is_imaginary(const dv_expr *e) {
    return is_number(e) && e->as.constant.kind == DV_CONST_COMPLEX;
}

/* A number that may have a sign. */
static bool check_signed(dv_front *front, const dv_expr *e) {
    const bool has_sign =
        e->kind == DV_EXPR_UNARY && (e->op == DV_UNARY_NEG || e->op == DV_UNARY_POS);
    if (has_sign) e = e->as.child;
    return is_number(e) || refuse(front, e);
}

static bool check_sum(dv_front *front, const dv_expr *e) {
    if (e->op != DV_OPERATOR_ADD && e->op != DV_OPERATOR_SUB) return refuse(front, e);
    const dv_expr *left = e->as.binary.left, *right = e->as.binary.right;
    if (!check_signed(front, left)) return false;
    if (!is_number(right)) return refuse(front, right);
    const dv_expr *number = left->kind == DV_EXPR_UNARY ? left->as.child : left;
    return (!is_imaginary(number) && is_imaginary(right)) || refuse(front, e);
}

/* A NULL is the key of `**x`. */
static bool check_part(dv_front *front, dv_expr *part) {
    return part ? dv_literal_check(front, part) : refuse(front, NULL);
}

static bool check_list(dv_front *front, const dv_exprs *list) {
    for (uint32_t i = 0; i < list->count; i++)
        if (!check_part(front, list->items[i])) return false;
    return true;
}

static bool check_dict(dv_front *front, const dv_exprs *keys, const dv_exprs *values) {
    for (uint32_t i = 0; i < keys->count; i++)
        if (!check_part(front, keys->items[i]) || !check_part(front, values->items[i]))
            return false;
    return true;
}

static bool is_empty_set(const dv_expr *e) {
    if (e->kind != DV_EXPR_CALL || e->as.call.arguments.count || e->as.call.keyword_count)
        return false;
    const dv_expr *callee = e->as.call.callee;
    if (callee->kind != DV_EXPR_NAME) return false;
    const dv_text name = callee->as.name.name->text;
    return name.size == 3 && memcmp(name.data, "set", 3) == 0;
}

bool dv_literal_check(dv_front *front, dv_expr *e) {
    switch (e->kind) {
    case DV_EXPR_CONSTANT: return true;
    case DV_EXPR_TUPLE:
    case DV_EXPR_LIST:
    case DV_EXPR_SET: return check_list(front, &e->as.list);
    case DV_EXPR_DICT: return check_dict(front, &e->as.dict.keys, &e->as.dict.values);
    case DV_EXPR_BINARY: return check_sum(front, e);
    default: break;
    }
    if (!is_empty_set(e)) return check_signed(front, e);
    e->kind = DV_EXPR_SET;
    e->as.list = (dv_exprs){NULL, 0};
    return true;
}
