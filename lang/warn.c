/* warn.c: the warnings of CPython's compiler (warn.h). */
#include "lang/warn.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void dv_warn(const dv_front *front, uint32_t line, const char *format, ...) {
    if (front->warn == NULL) return;
    char message[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    front->warn(front->warn_context, line, message);
}

/* ---- Numbers that fold.c leaves alone ---- */

#define FOLD_DEPTH 8   /* operations within each other */
#define FOLD_BITS  128 /* CPython folds * << and ** of ints up to this size */

/* The kinds of numbers, each of which takes in those before. */
typedef enum rank { RANK_NONE, RANK_INT, RANK_FLOAT, RANK_COMPLEX } rank;

static rank constant_rank(const dv_literal *literal) {
    switch (literal->kind) {
    case DV_CONST_FALSE:
    case DV_CONST_TRUE:
    case DV_CONST_INT:
    case DV_CONST_BIGINT: return RANK_INT;
    case DV_CONST_FLOAT: return RANK_FLOAT;
    case DV_CONST_COMPLEX: return RANK_COMPLEX;
    default: return RANK_NONE;
    }
}

/* The number of bits of a constant int64; -1: it is none. */
static int64_t bits_of(const dv_expr *expr) {
    if (expr->kind != DV_EXPR_CONSTANT || expr->as.constant.kind != DV_CONST_INT) return -1;
    int64_t value = expr->as.constant.as.integer, bits = 0;
    for (uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value; rest; rest >>= 1) bits++;
    return bits;
}

/* Does CPython compute this * << or ** of two ints? */
static bool folds_large(dv_operator op, const dv_expr *left, const dv_expr *right) {
    int64_t bits = bits_of(left), others = bits_of(right);
    if (bits < 0 || others < 0) return false;
    int64_t value = right->as.constant.as.integer;
    if (op == DV_OPERATOR_MUL) return bits + others <= FOLD_BITS;
    if (value < 0 || value > FOLD_BITS) return false;
    return op == DV_OPERATOR_LSHIFT ? bits + value <= FOLD_BITS : bits * value <= FOLD_BITS;
}

/* What number CPython folds the expression to: also complex ones (-1j, 1+2j), as dl has no
 * constants with two parts, and ints beyond int64 (2**64). */
static rank folded_rank(const dv_expr *expr, int depth) {
    if (expr->kind == DV_EXPR_CONSTANT) return constant_rank(&expr->as.constant);
    if (depth == 0) return RANK_NONE;
    if (expr->kind == DV_EXPR_UNARY) {
        rank of = expr->op == DV_UNARY_NOT ? RANK_NONE : folded_rank(expr->as.child, depth - 1);
        return expr->op == DV_UNARY_INVERT && of != RANK_INT ? RANK_NONE : of;
    }
    if (expr->kind != DV_EXPR_BINARY) return RANK_NONE;
    const dv_expr *left = expr->as.binary.left, *right = expr->as.binary.right;
    dv_operator op = (dv_operator)expr->op;
    if (op == DV_OPERATOR_POW || op == DV_OPERATOR_LSHIFT)
        return folds_large(op, left, right) ? RANK_INT : RANK_NONE;
    if (op > DV_OPERATOR_MUL) return RANK_NONE;
    rank a = folded_rank(left, depth - 1), b = folded_rank(right, depth - 1);
    if (a == RANK_NONE || b == RANK_NONE) return RANK_NONE;
    if (op == DV_OPERATOR_MUL && a == RANK_INT && b == RANK_INT)
        return folds_large(op, left, right) ? RANK_INT : RANK_NONE;
    return a > b ? a : b;
}

/* ---- Comparisons ---- */

/* Whether `is` may be asked about it: all but numbers, texts and their like. */
static bool has_identity(const dv_expr *expr) {
    if (expr->kind == DV_EXPR_CONSTANT) return expr->as.constant.kind <= DV_CONST_ELLIPSIS;
    return folded_rank(expr, FOLD_DEPTH) == RANK_NONE;
}

void dv_warn_compare(const dv_front *front, const dv_expr *compare) {
    bool left = has_identity(compare->as.compare.left);
    for (uint32_t i = 0; i < compare->as.compare.rights.count; i++) {
        bool right = has_identity(compare->as.compare.rights.items[i]);
        uint8_t op = compare->as.compare.ops[i];
        if (op == DV_COMPARISON_IS && !(left && right))
            dv_warn(front, compare->at.line, "\"is\" with a literal. Did you mean \"==\"?");
        if (op == DV_COMPARISON_IS_NOT && !(left && right))
            dv_warn(front, compare->at.line, "\"is not\" with a literal. Did you mean \"!=\"?");
        left = right;
    }
}

/* ---- Types of displays and constants ---- */

static const char *constant_type(dv_const_kind kind) {
    switch (kind) {
    case DV_CONST_NONE: return "NoneType";
    case DV_CONST_FALSE:
    case DV_CONST_TRUE: return "bool";
    case DV_CONST_ELLIPSIS: return "ellipsis";
    case DV_CONST_INT:
    case DV_CONST_BIGINT: return "int";
    case DV_CONST_FLOAT: return "float";
    case DV_CONST_COMPLEX: return "complex";
    case DV_CONST_STR: return "str";
    case DV_CONST_BYTES: return "bytes";
    case DV_CONST_TUPLE: return "tuple";
    default: return "frozenset";
    }
}

/* The name of the type that the expression's value has for sure; NULL: any. */
static const char *type_of(const dv_expr *expr) {
    static const char *const numbers[] = {NULL, "int", "float", "complex"};
    static const char *const comprehensions[] = {"list", "set", "dict", "generator"};
    switch (expr->kind) {
    case DV_EXPR_CONSTANT: return constant_type(expr->as.constant.kind);
    case DV_EXPR_TUPLE: return "tuple";
    case DV_EXPR_LIST: return "list";
    case DV_EXPR_SET: return "set";
    case DV_EXPR_DICT: return "dict";
    case DV_EXPR_FSTRING: return "str";
    case DV_EXPR_LAMBDA: return "function";
    case DV_EXPR_COMPREHENSION: return comprehensions[expr->op];
    default: return numbers[folded_rank(expr, FOLD_DEPTH)];
    }
}

static bool is_one_of(const char *type, const char *const *types) {
    while (*types != NULL && strcmp(*types, type) != 0) types++;
    return *types != NULL;
}

/* ---- Calls and subscripts ---- */

static void warn_subscript(const dv_front *front, const dv_expr *expr) {
    static const char *const sequences[] = {"str", "bytes", "tuple", "list", NULL};
    static const char *const indices[] = {"int", "bool", NULL};
    static const char *const mappings[] = {"dict", NULL};
    const char *type = type_of(expr->as.subscript.container);
    if (type == NULL || is_one_of(type, mappings)) return;
    const char *index = type_of(expr->as.subscript.index);
    if (!is_one_of(type, sequences))
        dv_warn(front, expr->at.line,
                "'%s' object is not subscriptable; perhaps you missed a comma?", type);
    else if (index != NULL && !is_one_of(index, indices))
        dv_warn(front, expr->at.line,
                "%s indices must be integers or slices, not %s; perhaps you missed a comma?", type,
                index);
}

void dv_warn_primary(const dv_front *front, const dv_expr *primary) {
    if (primary->kind == DV_EXPR_SUBSCRIPT) warn_subscript(front, primary);
    if (primary->kind != DV_EXPR_CALL || primary->as.call.callee->kind == DV_EXPR_LAMBDA) return;
    const char *type = type_of(primary->as.call.callee);
    if (type != NULL)
        dv_warn(front, primary->at.line, "'%s' object is not callable; perhaps you missed a comma?",
                type);
}

/* ---- Assertions ---- */

void dv_warn_assert(const dv_front *front, const dv_stmt *stmt) {
    const dv_expr *test = stmt->as.assertion.test;
    bool tuple = test->kind == DV_EXPR_TUPLE && test->as.list.count > 0;
    bool constant = test->kind == DV_EXPR_CONSTANT && test->as.constant.kind == DV_CONST_TUPLE &&
                    test->as.constant.as.tuple.count > 0;
    if (tuple || constant)
        dv_warn(front, stmt->at.line, "assertion is always true, perhaps remove parentheses?");
}
