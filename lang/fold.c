/* fold.c: constant folding (fold.h).
 *
 * Invariants
 *  1. An operation is folded only if it cannot raise and its result is exactly what the machine
 * would compute: 64-bit integers without overflow, finite doubles with + - * /, tuples of
 * constants.
 *  2. A folded node keeps its address and range, so spines and positions stay valid. */
#include "lang/fold.h"

#include <math.h>
#include <string.h>

typedef struct folder {
    dv_front *front;
} folder;

static bool fold_target(folder *f, dv_expr *target);
static bool fold_expr(folder *f, dv_expr *root);
static bool fold_block(folder *f, const dv_block *block);

static bool fold_optional(folder *f, dv_expr *expr) { return expr == NULL || fold_expr(f, expr); }

/* ---- Arithmetic ---- */

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

static bool floor_divide(int64_t a, int64_t b, int64_t *quotient, int64_t *remainder) {
    if (b == 0 || (a == INT64_MIN && b == -1)) return false;
    int64_t q = a / b, r = a % b;
    if (r != 0 && (r < 0) != (b < 0)) q--, r += b;
    *quotient = q;
    *remainder = r;
    return true;
}

static bool power(int64_t base, int64_t exponent, int64_t *result) {
    if (exponent < 0 || exponent > 1000) return false;
    int64_t value = 1;
    for (int64_t i = 0; i < exponent; i++)
        if (__builtin_mul_overflow(value, base, &value)) return false;
    *result = value;
    return true;
}

static bool shift_left(int64_t a, int64_t b, int64_t *result) {
    if (b < 0 || b > 62) return false;
    return !__builtin_mul_overflow(a, (int64_t)1 << b, result);
}

/* False: not folded. */
static bool compute_int(dv_operator op, int64_t a, int64_t b, int64_t *result) {
    int64_t unused;
    switch (op) {
    case DV_OPERATOR_ADD: return !__builtin_add_overflow(a, b, result);
    case DV_OPERATOR_SUB: return !__builtin_sub_overflow(a, b, result);
    case DV_OPERATOR_MUL: return !__builtin_mul_overflow(a, b, result);
    case DV_OPERATOR_FLOORDIV: return floor_divide(a, b, result, &unused);
    case DV_OPERATOR_MOD: return floor_divide(a, b, &unused, result);
    case DV_OPERATOR_POW: return power(a, b, result);
    case DV_OPERATOR_LSHIFT: return shift_left(a, b, result);
    case DV_OPERATOR_RSHIFT:
        if (b < 0) return false;
        *result = b > 63 ? (a < 0 ? -1 : 0) : a >> b;
        return true;
    case DV_OPERATOR_AND: *result = a & b; return true;
    case DV_OPERATOR_OR: *result = a | b; return true;
    case DV_OPERATOR_XOR: *result = a ^ b; return true;
    default: return false;
    }
}

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

static void fold_binary(dv_expr *expr) {
    if (!dv_expr_is_constant(expr->as.binary.left) || !dv_expr_is_constant(expr->as.binary.right))
        return;
    const dv_literal left = expr->as.binary.left->as.constant;
    const dv_literal right = expr->as.binary.right->as.constant;
    dv_operator op = (dv_operator)expr->op;
    double a, b;
    int64_t result;
    bool integers = left.kind == DV_CONST_INT && right.kind == DV_CONST_INT;
    if (integers && op != DV_OPERATOR_TRUEDIV) {
        if (compute_int(op, left.as.integer, right.as.integer, &result)) become_int(expr, result);
    } else if (exact_double(&left, &a) && exact_double(&right, &b)) {
        fold_float(expr, op, a, b);
    }
}

/* -0x8000000000000000 is an int64; anything else big gets or loses a sign. */
static bool negate_big(folder *f, dv_expr *expr, dv_text digits) {
    if (digits.size == 16 && memcmp(digits.data, "8000000000000000", 16) == 0) {
        become_int(expr, INT64_MIN);
        return true;
    }
    dv_text negated = {digits.data + 1, digits.size - 1};
    if (digits.data[0] != '-') {
        char *text = dv_front_keep(f->front, (size_t)digits.size + 1);
        if (text == NULL) return false;
        text[0] = '-';
        memcpy(text + 1, digits.data, digits.size);
        negated = (dv_text){text, digits.size + 1};
    }
    expr->kind = DV_EXPR_CONSTANT;
    expr->as.constant.kind = DV_CONST_BIGINT;
    expr->as.constant.as.text = negated;
    return true;
}

static bool fold_negation(folder *f, dv_expr *expr, const dv_literal *operand) {
    if (operand->kind == DV_CONST_INT && operand->as.integer != INT64_MIN)
        become_int(expr, -operand->as.integer);
    else if (operand->kind == DV_CONST_FLOAT)
        become_float(expr, -operand->as.real);
    else if (operand->kind == DV_CONST_BIGINT)
        return negate_big(f, expr, operand->as.text);
    return true;
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

static bool fold_unary(folder *f, dv_expr *expr) {
    if (fold_opposite(expr)) return true;
    dv_expr *operand = expr->as.child;
    int truth = dv_expr_truth(operand);
    if (!dv_expr_is_constant(operand)) return true;
    const dv_literal literal = operand->as.constant;
    switch ((dv_unary)expr->op) {
    case DV_UNARY_NEG: return fold_negation(f, expr, &literal);
    case DV_UNARY_POS:
        if (literal.kind == DV_CONST_INT) become_int(expr, literal.as.integer);
        if (literal.kind == DV_CONST_FLOAT) become_float(expr, literal.as.real);
        return true;
    case DV_UNARY_INVERT:
        if (literal.kind == DV_CONST_INT) become_int(expr, ~literal.as.integer);
        return true;
    case DV_UNARY_NOT:
        if (truth >= 0) become_bool(expr, truth == 0);
        return true;
    }
    return true;
}

/* ---- Tuples ---- */

/* A display of constants becomes a constant tuple (or frozenset). */
static bool fold_items(folder *f, dv_expr *expr, dv_const_kind kind) {
    dv_exprs items = expr->as.list;
    for (uint32_t i = 0; i < items.count; i++)
        if (!dv_expr_is_constant(items.items[i])) return true;
    dv_literal *literals = dv_front_scratch(f->front, items.count * sizeof *literals);
    if (literals == NULL) return false;
    for (uint32_t i = 0; i < items.count; i++) literals[i] = items.items[i]->as.constant;
    expr->kind = DV_EXPR_CONSTANT;
    expr->as.constant.kind = kind;
    expr->as.constant.as.tuple.items = literals;
    expr->as.constant.as.tuple.count = items.count;
    return true;
}

static bool fold_tuple(folder *f, dv_expr *expr) { return fold_items(f, expr, DV_CONST_TUPLE); }

/* A list that is only iterated over or searched may be a tuple, a set a frozenset. */
static bool fold_unseen(folder *f, dv_expr *expr) {
    if (expr->kind == DV_EXPR_SET) return fold_items(f, expr, DV_CONST_FROZENSET);
    return expr->kind != DV_EXPR_LIST || fold_tuple(f, expr);
}

/* ---- Expressions ---- */

/* Folds a child and takes over what it may store. */
static bool fold_child(folder *f, dv_expr *parent, dv_expr *child) {
    if (child == NULL) return true;
    if (!fold_expr(f, child)) return false;
    parent->stores = parent->stores || child->stores;
    return true;
}

static bool fold_children(folder *f, dv_expr *parent, const dv_exprs *children) {
    for (uint32_t i = 0; i < children->count; i++)
        if (!fold_child(f, parent, children->items[i])) return false;
    return true;
}

static bool fold_compare(folder *f, dv_expr *expr) {
    if (!fold_child(f, expr, expr->as.compare.left)) return false;
    if (!fold_children(f, expr, &expr->as.compare.rights)) return false;
    for (uint32_t i = 0; i < expr->as.compare.rights.count; i++) {
        uint8_t op = expr->as.compare.ops[i];
        bool last = i + 1 == expr->as.compare.rights.count;
        if (last && (op == DV_COMPARISON_IN || op == DV_COMPARISON_NOT_IN) &&
            !fold_unseen(f, expr->as.compare.rights.items[i]))
            return false;
    }
    return true;
}

static bool fold_function(folder *f, dv_expr *parent, const dv_function *function) {
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        dv_expr *standard = function->parameters[i].standard;
        if (!fold_optional(f, function->parameters[i].annotation)) return false;
        if (standard == NULL) continue;
        if (!fold_expr(f, standard)) return false;
        if (parent != NULL) parent->stores = parent->stores || standard->stores;
    }
    if (!fold_optional(f, function->returns)) return false;
    return fold_block(f, &function->body);
}

static bool fold_call(folder *f, dv_expr *expr) {
    if (!fold_children(f, expr, &expr->as.call.arguments)) return false;
    for (uint32_t i = 0; i < expr->as.call.keyword_count; i++)
        if (!fold_child(f, expr, expr->as.call.keywords[i].value)) return false;
    return true;
}

static bool fold_exprs(folder *f, const dv_exprs *exprs) {
    for (uint32_t i = 0; i < exprs->count; i++)
        if (!fold_expr(f, exprs->items[i])) return false;
    return true;
}

/* Nothing in it can store to a local of the function around, since what a walrus binds is a cell;
 * but the first iterable, which belongs to that function, may yield. */
static bool fold_comprehension(folder *f, dv_expr *expr) {
    for (uint32_t i = 0; i < expr->as.comprehension.clause_count; i++) {
        const dv_clause *clause = &expr->as.comprehension.clauses[i];
        if (!fold_target(f, clause->target) || !fold_expr(f, clause->iterable) ||
            !fold_unseen(f, clause->iterable) || !fold_exprs(f, &clause->conditions))
            return false;
    }
    expr->stores = expr->as.comprehension.clauses[0].iterable->stores;
    dv_expr *value = expr->as.comprehension.value;
    return fold_expr(f, expr->as.comprehension.element) && (value == NULL || fold_expr(f, value));
}

static void fold_name(dv_expr *expr) {
    if (dv_name_is(expr->as.name.name, "__debug__")) become_bool(expr, true);
}

/* Binds a local, or suspends the generator, whose frame moves. */
static bool stores_itself(const dv_expr *expr) {
    return expr->kind == DV_EXPR_NAMED || expr->kind == DV_EXPR_YIELD ||
           expr->kind == DV_EXPR_YIELD_FROM;
}

/* The left child is folded already. */
static bool fold_node(folder *f, dv_expr *expr) {
    dv_expr *left = dv_expr_left(expr);
    expr->stores = stores_itself(expr) || (left != NULL && left->stores);
    switch ((dv_expr_kind)expr->kind) {
    case DV_EXPR_NAME: fold_name(expr); return true;
    case DV_EXPR_FSTRING:
    case DV_EXPR_LIST:
    case DV_EXPR_SET:
    case DV_EXPR_AND:
    case DV_EXPR_OR: return fold_children(f, expr, &expr->as.list);
    case DV_EXPR_TUPLE: return fold_children(f, expr, &expr->as.list) && fold_tuple(f, expr);
    case DV_EXPR_FORMAT:
        return fold_child(f, expr, expr->as.format.value) &&
               fold_child(f, expr, expr->as.format.spec);
    case DV_EXPR_DICT:
        return fold_children(f, expr, &expr->as.dict.keys) &&
               fold_children(f, expr, &expr->as.dict.values);
    case DV_EXPR_BINARY:
        if (!fold_child(f, expr, expr->as.binary.right)) return false;
        fold_binary(expr);
        return true;
    case DV_EXPR_UNARY: return fold_child(f, expr, expr->as.child) && fold_unary(f, expr);
    case DV_EXPR_COMPARE: return fold_compare(f, expr);
    case DV_EXPR_CONDITIONAL:
        return fold_child(f, expr, expr->as.conditional.test) &&
               fold_child(f, expr, expr->as.conditional.body) &&
               fold_child(f, expr, expr->as.conditional.otherwise);
    case DV_EXPR_LAMBDA: return fold_function(f, expr, expr->as.function);
    case DV_EXPR_CALL: return fold_call(f, expr);
    case DV_EXPR_SUBSCRIPT: return fold_child(f, expr, expr->as.subscript.index);
    case DV_EXPR_SLICE:
        return fold_child(f, expr, expr->as.slice.start) &&
               fold_child(f, expr, expr->as.slice.stop) && fold_child(f, expr, expr->as.slice.step);
    case DV_EXPR_NAMED: return fold_child(f, expr, expr->as.named.value);
    case DV_EXPR_STARRED:
    case DV_EXPR_YIELD:
    case DV_EXPR_YIELD_FROM: return fold_child(f, expr, expr->as.child);
    case DV_EXPR_COMPREHENSION: return fold_comprehension(f, expr);
    case DV_EXPR_CONSTANT:
    case DV_EXPR_ATTRIBUTE: return true;
    }
    return true;
}

static bool fold_expr(folder *f, dv_expr *root) {
    dv_expr *expr = dv_expr_leftmost(root);
    while (fold_node(f, expr)) {
        if (expr == root) return true;
        expr = expr->up;
    }
    return false;
}

/* ---- Statements ---- */

static bool fold_target(folder *f, dv_expr *target) {
    if (target->kind == DV_EXPR_NAME) return true;
    if (target->kind == DV_EXPR_STARRED) return fold_target(f, target->as.child);
    if (target->kind != DV_EXPR_TUPLE && target->kind != DV_EXPR_LIST) return fold_expr(f, target);
    for (uint32_t i = 0; i < target->as.list.count; i++)
        if (!fold_target(f, target->as.list.items[i])) return false;
    return true;
}

static bool fold_targets(folder *f, const dv_exprs *targets) {
    for (uint32_t i = 0; i < targets->count; i++)
        if (!fold_target(f, targets->items[i])) return false;
    return true;
}

static bool fold_if(folder *f, const dv_stmt *stmt) {
    for (uint32_t i = 0; i < stmt->as.branch.count; i++) {
        const dv_branch *branch = &stmt->as.branch.branches[i];
        if (!fold_expr(f, branch->test) || !fold_block(f, &branch->body)) return false;
    }
    return fold_block(f, &stmt->as.branch.otherwise);
}

static bool fold_for(folder *f, const dv_stmt *stmt) {
    return fold_target(f, stmt->as.each.target) && fold_expr(f, stmt->as.each.iterable) &&
           fold_unseen(f, stmt->as.each.iterable) && fold_block(f, &stmt->as.each.body) &&
           fold_block(f, &stmt->as.each.otherwise);
}

static bool fold_try(folder *f, const dv_stmt *stmt) {
    if (!fold_block(f, &stmt->as.attempt.body)) return false;
    for (uint32_t i = 0; i < stmt->as.attempt.handler_count; i++) {
        const dv_handler *handler = &stmt->as.attempt.handlers[i];
        if (!fold_optional(f, handler->type) || !fold_block(f, &handler->body)) return false;
    }
    return fold_block(f, &stmt->as.attempt.otherwise) && fold_block(f, &stmt->as.attempt.finally);
}

static bool fold_class(folder *f, const dv_class *klass) {
    if (!fold_exprs(f, &klass->decorators)) return false;
    for (uint32_t i = 0; i < klass->keyword_count; i++)
        if (!fold_expr(f, klass->keywords[i].value)) return false;
    return fold_exprs(f, &klass->bases) && fold_block(f, &klass->body);
}

static bool fold_with(folder *f, const dv_stmt *stmt) {
    for (uint32_t i = 0; i < stmt->as.with.count; i++) {
        const dv_with_item *item = &stmt->as.with.items[i];
        if (!fold_expr(f, item->context)) return false;
        if (item->target != NULL && !fold_target(f, item->target)) return false;
    }
    return fold_block(f, &stmt->as.with.body);
}

static bool fold_stmt(folder *f, const dv_stmt *stmt) {
    switch (stmt->kind) {
    case DV_STMT_EXPR:
    case DV_STMT_RETURN: return fold_optional(f, stmt->as.expr);
    case DV_STMT_ASSIGN:
        return fold_expr(f, stmt->as.assign.value) && fold_targets(f, &stmt->as.assign.targets);
    case DV_STMT_AUGMENT:
        return fold_target(f, stmt->as.augment.target) && fold_expr(f, stmt->as.augment.value);
    case DV_STMT_ANNOTATE:
        return fold_target(f, stmt->as.annotate.target) &&
               fold_optional(f, stmt->as.annotate.annotation) &&
               fold_optional(f, stmt->as.annotate.value);
    case DV_STMT_DELETE: return fold_targets(f, &stmt->as.targets);
    case DV_STMT_IF: return fold_if(f, stmt);
    case DV_STMT_WHILE:
        return fold_expr(f, stmt->as.loop.test) && fold_block(f, &stmt->as.loop.body) &&
               fold_block(f, &stmt->as.loop.otherwise);
    case DV_STMT_FOR: return fold_for(f, stmt);
    case DV_STMT_FUNCTION:
        return fold_exprs(f, &stmt->as.function->decorators) &&
               fold_function(f, NULL, stmt->as.function);
    case DV_STMT_WITH: return fold_with(f, stmt);
    case DV_STMT_CLASS: return fold_class(f, stmt->as.klass);
    case DV_STMT_TRY: return fold_try(f, stmt);
    case DV_STMT_RAISE:
        return fold_optional(f, stmt->as.raise.exception) && fold_optional(f, stmt->as.raise.cause);
    case DV_STMT_ASSERT:
        return fold_expr(f, stmt->as.assertion.test) &&
               fold_optional(f, stmt->as.assertion.message);
    case DV_STMT_BREAK:
    case DV_STMT_CONTINUE:
    case DV_STMT_PASS:
    case DV_STMT_GLOBAL:
    case DV_STMT_NONLOCAL:
    case DV_STMT_IMPORT:
    case DV_STMT_FROM: return true;
    }
    return true;
}

static bool fold_block(folder *f, const dv_block *block) {
    for (uint32_t i = 0; i < block->count; i++)
        if (!fold_stmt(f, block->items[i])) return false;
    return true;
}

bool dv_fold_run(dv_front *front, const dv_block *module) {
    folder f = {front};
    return fold_block(&f, module);
}
