/* compile_expression.h: code for expressions, names and targets. */
#ifndef DV_LANG_COMPILE_EXPRESSION_H
#define DV_LANG_COMPILE_EXPRESSION_H

#include "lang/compile/compile.h"

/* Leaves an owned value on the stack. */
bool dv_compile_owned(dv_compiler *c, dv_expr *expr);

/* Leaves a value for an instruction with an `own` operand: *owned says which kind.  `lasting` must
 * be true if what is evaluated between here and that instruction may store to a local: then the
 * value is not borrowed from one. */
bool dv_compile_operand(dv_compiler *c, dv_expr *expr, bool lasting, bool *owned);

/* Jumps to the label if the expression's truth is `when`, and falls through otherwise.  `at` is the
 * range of the statement or expression whose condition it is. */
bool dv_compile_jump(dv_compiler *c, dv_expr *expr, dv_range at, bool when, dv_label target);

/* The bases of a class as a tuple and, if there are any, its keyword arguments as a dict. */
bool dv_compile_class_arguments(dv_compiler *c, const dv_class *klass, dv_range at);

/* Stores the top of the stack, an owned value, into the target. */
bool dv_compile_store(dv_compiler *c, dv_expr *target);
bool dv_compile_delete(dv_compiler *c, dv_expr *target);

void dv_compile_store_name(dv_compiler *c, const dv_symbol *symbol, dv_range at);
void dv_compile_delete_name(dv_compiler *c, const dv_symbol *symbol, dv_range at);

/* `target = value` for one target, and `target op= value`. */
bool dv_compile_assign(dv_compiler *c, dv_expr *target, dv_expr *value);
bool dv_compile_augment(dv_compiler *c, const dv_stmt *stmt);

/* Is link i of the chain `is not` or `not in`, which are what `is` and `in` are not? */
bool dv_compile_is_negated(const dv_expr *compare, uint32_t i);

#endif
