/* fold.c: constant folding (fold.h).
 *
 * Invariants
 *  1. An operation is folded only if it cannot raise and its result is exactly what the machine
 *     would compute: ints as constant.h knows them, finite doubles with + - * /, tuples of
 *     constants.
 *  2. A folded node keeps its address and range, so spines and positions stay valid.
 *  3. Nothing here tells whether it succeeded: where memory runs out an expression stays as it is,
 *     the status is set, and dv_fold_run looks at it when all is done. */
#include "lang/compile/fold.h"

#include "lang/compile/constant.h"

#include <math.h>
#include <string.h>

static void fold_target(dv_front *front, dv_expr *target);
static void fold_expr(dv_front *front, dv_expr *root);
static void fold_block(dv_front *front, const dv_block *block);

static void fold_optional(dv_front *front, dv_expr *expr) {
    if (expr != NULL) fold_expr(front, expr);
}

/* ---- Results ---- */

static void become_int(dv_expr *expr, int64_t value) {
    expr->kind = DV_EXPR_CONSTANT;
    expr->as.constant.kind = DV_CONST_INT;
    expr->as.constant.as.integer = value;
}

static void become_float(dv_expr *expr, double value) {
    if (!isfinite(value)) return;
    expr->kind = DV_EXPR_CONSTANT;
    expr->as.constant.kind = DV_CONST_FLOAT;
    expr->as.constant.as.real = value;
}

static void become_bool(dv_expr *expr, bool value) {
    expr->kind = DV_EXPR_CONSTANT;
    expr->as.constant.kind = value ? DV_CONST_TRUE : DV_CONST_FALSE;
}

/* An int of up to 127 bits: masks such as (1 << 64) - 1. */
static void become_wide(dv_front *front, dv_expr *expr, __int128 value) {
    if (value >= INT64_MIN && value <= INT64_MAX) {
        become_int(expr, (int64_t)value);
        return;
    }
    enum { LONGEST = 1 + 32 };
    char *end = dv_front_keep(front, LONGEST);
    if (end == NULL) return;
    end += LONGEST;
    char *first = end;
    unsigned __int128 rest = value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
    for (; rest > 0; rest >>= 4) *--first = "0123456789abcdef"[rest & 15];
    if (value < 0) *--first = '-';
    expr->kind = DV_EXPR_CONSTANT;
    expr->as.constant.kind = DV_CONST_BIGINT;
    expr->as.constant.as.text = (dv_text){first, (uint32_t)(end - first)};
}

/* As CPython folds it, if the result is an int or a bool that is known to its last bit. */
static bool fold_int(dv_front *front, dv_expr *expr) {
    dv_folded result = dv_constant_of(expr);
    if (result.kind == DV_FOLDED_BOOL)
        become_bool(expr, result.integer != 0);
    else if (result.kind == DV_FOLDED_INT && !result.huge)
        become_wide(front, expr, result.integer);
    else
        return false;
    return true;
}

/* ---- Floats ---- */

/* The literal as a double, if that is exact. */
static bool exact_double(const dv_literal *literal, double *out) {
    const int64_t limit = (int64_t)1 << 53;
    if (literal->kind == DV_CONST_FLOAT) {
        *out = literal->as.real;
        return true;
    }
    if (literal->kind != DV_CONST_INT) return false;
    *out = (double)literal->as.integer;
    return literal->as.integer >= -limit && literal->as.integer <= limit;
}

static void fold_float(dv_expr *expr, dv_operator op, double a, double b) {
    switch (op) {
    case DV_OPERATOR_ADD: become_float(expr, a + b); break;
    case DV_OPERATOR_SUB: become_float(expr, a - b); break;
    case DV_OPERATOR_MUL: become_float(expr, a * b); break;
    case DV_OPERATOR_TRUEDIV:
        if (b != 0.0) become_float(expr, a / b);
        break;
    default: break;
    }
}

static void fold_binary(dv_front *front, dv_expr *expr) {
    const dv_expr *left = expr->as.binary.left, *right = expr->as.binary.right;
    if (!dv_expr_is_constant(left) || !dv_expr_is_constant(right)) return;
    double a, b;
    if (!fold_int(front, expr) && exact_double(&left->as.constant, &a) &&
        exact_double(&right->as.constant, &b))
        fold_float(expr, (dv_operator)expr->op, a, b);
}

/* What is too large to compute with gets or loses a sign. */
static void negate_big(dv_front *front, dv_expr *expr, dv_text digits) {
    dv_text negated = {digits.data + 1, digits.size - 1};
    if (digits.data[0] != '-') {
        char *text = dv_front_keep(front, (size_t)digits.size + 1);
        if (text == NULL) return;
        text[0] = '-';
        memcpy(text + 1, digits.data, digits.size);
        negated = (dv_text){text, digits.size + 1};
    }
    expr->kind = DV_EXPR_CONSTANT;
    expr->as.constant.kind = DV_CONST_BIGINT;
    expr->as.constant.as.text = negated;
}

/* `not a is b` is `a is not b`, which its warnings show. */
static bool fold_opposite(dv_expr *expr) {
    const dv_expr *operand = expr->as.child;
    if (expr->op != DV_UNARY_NOT || operand->kind != DV_EXPR_COMPARE) return false;
    uint8_t *op = operand->as.compare.ops;
    if (operand->as.compare.rights.count != 1 || *op < DV_COMPARISON_IS) return false;
    static const uint8_t opposites[] = {DV_COMPARISON_IS_NOT, DV_COMPARISON_IS,
                                        DV_COMPARISON_NOT_IN, DV_COMPARISON_IN};
    *op = opposites[*op - DV_COMPARISON_IS];
    dv_expr *up = expr->up;
    *expr = *operand;
    expr->up = up;
    return true;
}

static void fold_unary(dv_front *front, dv_expr *expr) {
    if (fold_opposite(expr)) return;
    const dv_expr *operand = expr->as.child;
    if (!dv_expr_is_constant(operand)) return;
    const dv_literal literal = operand->as.constant;
    bool minus = expr->op == DV_UNARY_NEG;
    int truth = dv_expr_truth(operand);
    if (expr->op == DV_UNARY_NOT) {
        if (truth >= 0) become_bool(expr, truth == 0);
    } else if (!fold_int(front, expr)) {
        if (literal.kind == DV_CONST_FLOAT && expr->op != DV_UNARY_INVERT)
            become_float(expr, minus ? -literal.as.real : literal.as.real);
        if (literal.kind == DV_CONST_BIGINT && minus) negate_big(front, expr, literal.as.text);
    }
}

/* ---- Tuples ---- */

/* A display of constants becomes a constant tuple (or frozenset). */
static void fold_items(dv_front *front, dv_expr *expr, dv_const_kind kind) {
    dv_exprs items = expr->as.list;
    for (uint32_t i = 0; i < items.count; i++)
        if (!dv_expr_is_constant(items.items[i])) return;
    dv_literal *literals = dv_front_scratch(front, items.count * sizeof *literals);
    if (literals == NULL) return;
    for (uint32_t i = 0; i < items.count; i++) literals[i] = items.items[i]->as.constant;
    expr->kind = DV_EXPR_CONSTANT;
    expr->as.constant.kind = kind;
    expr->as.constant.as.tuple.items = literals;
    expr->as.constant.as.tuple.count = items.count;
}

/* A list that is only iterated over or searched may be a tuple, a set a frozenset. */
static void fold_unseen(dv_front *front, dv_expr *expr) {
    if (expr->kind == DV_EXPR_SET) fold_items(front, expr, DV_CONST_FROZENSET);
    if (expr->kind == DV_EXPR_LIST) fold_items(front, expr, DV_CONST_TUPLE);
}

/* ---- Expressions ---- */

/* Folds a child, unless it is NULL, and takes over what it may store. */
static void fold_child(dv_front *front, dv_expr *parent, dv_expr *child) {
    if (child == NULL) return;
    fold_expr(front, child);
    parent->stores = parent->stores || child->stores;
}

static void fold_children(dv_front *front, dv_expr *parent, const dv_exprs *children) {
    for (uint32_t i = 0; i < children->count; i++) fold_child(front, parent, children->items[i]);
}

static void fold_compare(dv_front *front, dv_expr *expr) {
    const dv_exprs *rights = &expr->as.compare.rights;
    fold_child(front, expr, expr->as.compare.left);
    fold_children(front, expr, rights);
    uint8_t op = expr->as.compare.ops[rights->count - 1];
    if (op == DV_COMPARISON_IN || op == DV_COMPARISON_NOT_IN)
        fold_unseen(front, rights->items[rights->count - 1]);
}

/* The parameters and the body; what the default values may store is told by the result. */
static bool fold_function(dv_front *front, const dv_function *function) {
    bool stores = false;
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        dv_expr *standard = function->parameters[i].standard;
        fold_optional(front, function->parameters[i].annotation);
        fold_optional(front, standard);
        stores = stores || (standard != NULL && standard->stores);
    }
    fold_optional(front, function->returns);
    fold_block(front, &function->body);
    return stores;
}

static void fold_call(dv_front *front, dv_expr *expr) {
    fold_children(front, expr, &expr->as.call.arguments);
    for (uint32_t i = 0; i < expr->as.call.keyword_count; i++)
        fold_child(front, expr, expr->as.call.keywords[i].value);
}

static void fold_exprs(dv_front *front, const dv_exprs *exprs) {
    for (uint32_t i = 0; i < exprs->count; i++) fold_expr(front, exprs->items[i]);
}

/* Its own variables are nobody else's; but a walrus binds a local of the function around, and the
 * first iterable, which belongs to that function, may yield. */
static void fold_comprehension(dv_front *front, dv_expr *expr) {
    for (uint32_t i = 0; i < expr->as.comprehension.clause_count; i++) {
        const dv_clause *clause = &expr->as.comprehension.clauses[i];
        fold_target(front, clause->target);
        fold_child(front, expr, clause->iterable);
        fold_unseen(front, clause->iterable);
        fold_children(front, expr, &clause->conditions);
    }
    fold_child(front, expr, expr->as.comprehension.element);
    fold_child(front, expr, expr->as.comprehension.value);
}

static void fold_name(const dv_front *front, dv_expr *expr) {
    if (dv_name_is(expr->as.name.name, "__debug__")) become_bool(expr, front->optimize == 0);
}

/* Binds a local, or suspends the generator, whose frame moves. */
static bool stores_itself(const dv_expr *expr) {
    return expr->kind == DV_EXPR_NAMED || expr->kind == DV_EXPR_YIELD ||
           expr->kind == DV_EXPR_YIELD_FROM;
}

/* The left child is folded already. */
static void fold_node(dv_front *front, dv_expr *expr) {
    const dv_expr *left = dv_expr_left(expr);
    expr->stores = stores_itself(expr) || (left != NULL && left->stores);
    switch ((dv_expr_kind)expr->kind) {
    case DV_EXPR_NAME: fold_name(front, expr); break;
    case DV_EXPR_FSTRING:
    case DV_EXPR_LIST:
    case DV_EXPR_SET:
    case DV_EXPR_AND:
    case DV_EXPR_OR: fold_children(front, expr, &expr->as.list); break;
    case DV_EXPR_TUPLE:
        fold_children(front, expr, &expr->as.list);
        fold_items(front, expr, DV_CONST_TUPLE);
        break;
    case DV_EXPR_FORMAT:
        fold_child(front, expr, expr->as.format.value);
        fold_child(front, expr, expr->as.format.spec);
        break;
    case DV_EXPR_DICT:
        fold_children(front, expr, &expr->as.dict.keys);
        fold_children(front, expr, &expr->as.dict.values);
        break;
    case DV_EXPR_BINARY:
        fold_child(front, expr, expr->as.binary.right);
        fold_binary(front, expr);
        break;
    case DV_EXPR_UNARY:
        fold_child(front, expr, expr->as.child);
        fold_unary(front, expr);
        break;
    case DV_EXPR_COMPARE: fold_compare(front, expr); break;
    case DV_EXPR_CONDITIONAL:
        fold_child(front, expr, expr->as.conditional.test);
        fold_child(front, expr, expr->as.conditional.body);
        fold_child(front, expr, expr->as.conditional.otherwise);
        break;
    case DV_EXPR_LAMBDA: expr->stores = fold_function(front, expr->as.function); break;
    case DV_EXPR_CALL: fold_call(front, expr); break;
    case DV_EXPR_SUBSCRIPT: fold_child(front, expr, expr->as.subscript.index); break;
    case DV_EXPR_SLICE:
        fold_child(front, expr, expr->as.slice.start);
        fold_child(front, expr, expr->as.slice.stop);
        fold_child(front, expr, expr->as.slice.step);
        break;
    case DV_EXPR_NAMED: fold_child(front, expr, expr->as.named.value); break;
    case DV_EXPR_STARRED:
    case DV_EXPR_YIELD:
    case DV_EXPR_YIELD_FROM: fold_child(front, expr, expr->as.child); break;
    case DV_EXPR_COMPREHENSION: fold_comprehension(front, expr); break;
    case DV_EXPR_CONSTANT:
    case DV_EXPR_ATTRIBUTE: break;
    }
}

static void fold_expr(dv_front *front, dv_expr *root) {
    dv_expr *expr = dv_expr_leftmost(root);
    fold_node(front, expr);
    while (expr != root) {
        expr = expr->up;
        fold_node(front, expr);
    }
}

/* ---- Statements ---- */

static void fold_targets(dv_front *front, const dv_exprs *targets) {
    for (uint32_t i = 0; i < targets->count; i++) fold_target(front, targets->items[i]);
}

static void fold_target(dv_front *front, dv_expr *target) {
    switch ((dv_expr_kind)target->kind) {
    case DV_EXPR_NAME: break;
    case DV_EXPR_STARRED: fold_target(front, target->as.child); break;
    case DV_EXPR_TUPLE:
    case DV_EXPR_LIST: fold_targets(front, &target->as.list); break;
    default: fold_expr(front, target); break;
    }
}

static void fold_if(dv_front *front, const dv_stmt *stmt) {
    for (uint32_t i = 0; i < stmt->as.branch.count; i++) {
        fold_expr(front, stmt->as.branch.branches[i].test);
        fold_block(front, &stmt->as.branch.branches[i].body);
    }
    fold_block(front, &stmt->as.branch.otherwise);
}

static void fold_while(dv_front *front, const dv_stmt *stmt) {
    fold_expr(front, stmt->as.loop.test);
    fold_block(front, &stmt->as.loop.body);
    fold_block(front, &stmt->as.loop.otherwise);
}

static void fold_for(dv_front *front, const dv_stmt *stmt) {
    fold_target(front, stmt->as.each.target);
    fold_expr(front, stmt->as.each.iterable);
    fold_unseen(front, stmt->as.each.iterable);
    fold_block(front, &stmt->as.each.body);
    fold_block(front, &stmt->as.each.otherwise);
}

static void fold_try(dv_front *front, const dv_stmt *stmt) {
    fold_block(front, &stmt->as.attempt.body);
    for (uint32_t i = 0; i < stmt->as.attempt.handler_count; i++) {
        fold_optional(front, stmt->as.attempt.handlers[i].type);
        fold_block(front, &stmt->as.attempt.handlers[i].body);
    }
    fold_block(front, &stmt->as.attempt.otherwise);
    fold_block(front, &stmt->as.attempt.finally);
}

static void fold_class(dv_front *front, const dv_class *klass) {
    fold_exprs(front, &klass->decorators);
    for (uint32_t i = 0; i < klass->keyword_count; i++) fold_expr(front, klass->keywords[i].value);
    fold_exprs(front, &klass->bases);
    fold_block(front, &klass->body);
}

static void fold_with(dv_front *front, const dv_stmt *stmt) {
    for (uint32_t i = 0; i < stmt->as.with.count; i++) {
        const dv_with_item *item = &stmt->as.with.items[i];
        fold_expr(front, item->context);
        if (item->target != NULL) fold_target(front, item->target);
    }
    fold_block(front, &stmt->as.with.body);
}

static void fold_pattern(dv_front *front, const dv_pattern *pattern) {
    fold_optional(front, pattern->value);
    fold_exprs(front, &pattern->keys);
    for (uint32_t i = 0; i < pattern->count; i++) fold_pattern(front, pattern->items[i]);
}

static void fold_match(dv_front *front, const dv_stmt *stmt) {
    fold_expr(front, stmt->as.match.subject);
    for (uint32_t i = 0; i < stmt->as.match.count; i++) {
        const dv_case *one = &stmt->as.match.cases[i];
        fold_pattern(front, one->pattern);
        fold_optional(front, one->guard);
        fold_block(front, &one->body);
    }
}

static void fold_stmt(dv_front *front, const dv_stmt *stmt) {
    switch (stmt->kind) {
    case DV_STMT_EXPR:
    case DV_STMT_RETURN: fold_optional(front, stmt->as.expr); break;
    case DV_STMT_ASSIGN:
        fold_expr(front, stmt->as.assign.value);
        fold_targets(front, &stmt->as.assign.targets);
        break;
    case DV_STMT_AUGMENT:
        fold_target(front, stmt->as.augment.target);
        fold_expr(front, stmt->as.augment.value);
        break;
    case DV_STMT_ANNOTATE:
        fold_target(front, stmt->as.annotate.target);
        fold_optional(front, stmt->as.annotate.annotation);
        fold_optional(front, stmt->as.annotate.value);
        break;
    case DV_STMT_DELETE: fold_targets(front, &stmt->as.targets); break;
    case DV_STMT_IF: fold_if(front, stmt); break;
    case DV_STMT_WHILE: fold_while(front, stmt); break;
    case DV_STMT_FOR: fold_for(front, stmt); break;
    case DV_STMT_FUNCTION:
        fold_exprs(front, &stmt->as.function->decorators);
        fold_function(front, stmt->as.function);
        break;
    case DV_STMT_WITH: fold_with(front, stmt); break;
    case DV_STMT_MATCH: fold_match(front, stmt); break;
    case DV_STMT_CLASS: fold_class(front, stmt->as.klass); break;
    case DV_STMT_TRY: fold_try(front, stmt); break;
    case DV_STMT_RAISE:
        fold_optional(front, stmt->as.raise.exception);
        fold_optional(front, stmt->as.raise.cause);
        break;
    case DV_STMT_ASSERT:
        fold_expr(front, stmt->as.assertion.test);
        fold_optional(front, stmt->as.assertion.message);
        break;
    case DV_STMT_BREAK:
    case DV_STMT_CONTINUE:
    case DV_STMT_PASS:
    case DV_STMT_GLOBAL:
    case DV_STMT_NONLOCAL:
    case DV_STMT_IMPORT:
    case DV_STMT_FROM: break;
    }
}

static void fold_block(dv_front *front, const dv_block *block) {
    for (uint32_t i = 0; i < block->count; i++) fold_stmt(front, block->items[i]);
}

bool dv_fold_run(dv_front *front, const dv_block *module) {
    fold_block(front, module);
    return front->status == DV_LANG_OK;
}
