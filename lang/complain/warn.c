/* warn.c: the warnings of CPython's compiler (warn.h). */
#include "lang/complain/warn.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lang/compile/constant.h"

void dv_warn(dv_front *front, dv_range at, const char *format, ...) {
    if (front->warn == NULL) return;
    char message[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (!front->warn(front->warn_context, at.line, message))
        dv_front_error(front, at, "%s", message);
}

/* ---- Comparisons ---- */

/* Whether `is` may be asked about it: all but numbers, texts and their like. */
static bool has_identity(const dv_expr *expr) {
    return dv_constant_of(expr).kind <= DV_FOLDED_BOOL;
}

void dv_warn_compare(dv_front *front, const dv_expr *compare) {
    bool left = has_identity(compare->as.compare.left);
    for (uint32_t i = 0; i < compare->as.compare.rights.count; i++) {
        bool right = has_identity(compare->as.compare.rights.items[i]);
        uint8_t op = compare->as.compare.ops[i];
        if (op == DV_COMPARISON_IS && !(left && right))
            dv_warn(front, compare->at, "\"is\" with a literal. Did you mean \"==\"?");
        if (op == DV_COMPARISON_IS_NOT && !(left && right))
            dv_warn(front, compare->at, "\"is not\" with a literal. Did you mean \"!=\"?");
        left = right;
    }
}

/* ---- Types of displays and constants ---- */

/* The name of the type that the expression's value has for sure; NULL: any. */
static const char *type_of(const dv_expr *expr) {
    static const char *const constants[] = {NULL,    "NoneType", "ellipsis", "bool",
                                            "int",   "float",    "complex",  "str",
                                            "bytes", "tuple",    "frozenset"};
    static const char *const comprehensions[] = {"list", "set", "dict", "generator"};
    switch (expr->kind) {
    case DV_EXPR_TUPLE: return "tuple";
    case DV_EXPR_LIST: return "list";
    case DV_EXPR_SET: return "set";
    case DV_EXPR_DICT: return "dict";
    case DV_EXPR_FSTRING: return "str";
    case DV_EXPR_LAMBDA: return "function";
    case DV_EXPR_COMPREHENSION: return comprehensions[expr->op];
    default: return constants[dv_constant_of(expr).kind];
    }
}

static bool is_one_of(const char *type, const char *const *types) {
    while (*types != NULL && strcmp(*types, type) != 0) types++;
    return *types != NULL;
}

/* ---- Calls and subscripts ---- */

static void warn_subscript(dv_front *front, const dv_expr *expr) {
    static const char *const sequences[] = {"str", "bytes", "tuple", "list", NULL};
    static const char *const indices[] = {"int", "bool", NULL};
    static const char *const mappings[] = {"dict", NULL};
    const char *type = type_of(expr->as.subscript.container);
    if (type == NULL || is_one_of(type, mappings)) return;
    const char *index = type_of(expr->as.subscript.index);
    if (!is_one_of(type, sequences))
        dv_warn(front, expr->at, "'%s' object is not subscriptable; perhaps you missed a comma?",
                type);
    else if (index != NULL && !is_one_of(index, indices))
        dv_warn(front, expr->at,
                "%s indices must be integers or slices, not %s; perhaps you missed a comma?", type,
                index);
}

void dv_warn_primary(dv_front *front, const dv_expr *primary) {
    if (primary->kind == DV_EXPR_SUBSCRIPT) warn_subscript(front, primary);
    if (primary->kind != DV_EXPR_CALL || primary->as.call.callee->kind == DV_EXPR_LAMBDA) return;
    const char *type = type_of(primary->as.call.callee);
    if (type != NULL)
        dv_warn(front, primary->at, "'%s' object is not callable; perhaps you missed a comma?",
                type);
}

/* ---- Assertions ---- */

void dv_warn_assert(dv_front *front, const dv_stmt *stmt) {
    const dv_expr *test = stmt->as.assertion.test;
    bool tuple = test->kind == DV_EXPR_TUPLE && test->as.list.count > 0;
    dv_folded constant = dv_constant_of(test);
    tuple |= constant.kind == DV_FOLDED_TUPLE && constant.size > 0;
    if (tuple) dv_warn(front, stmt->at, "assertion is always true, perhaps remove parentheses?");
}
