/* compile_comprehension.h: code for comprehensions and generator expressions.
 *
 * One that has a host (scope.h) is a loop of the function around it.  Of a generator expression
 * that is the argument of a builtin that takes all it yields,
 *
 *     all(p(x) for x in xs)
 *
 * what the builtin does with each item is part of that loop (the *taking*).  Whether the name still
 * means the builtin is asked first; if not, the code beside makes the generator and calls:
 *
 *     LOAD_GLOBAL all; JUMP_IF_BUILTIN inlined, ALL
 *     LOAD_GLOBAL_CALLEE all; MAKE_CLOSURE_BY_VALUE <genexpr>; ...; CALL 1; JUMP done
 *     inlined: ... GET_ITER; ENTER_COMPREHENSION; loop; LEAVE_COMPREHENSION
 *     done:
 */
#ifndef DV_LANG_COMPILE_COMPREHENSION_H
#define DV_LANG_COMPILE_COMPREHENSION_H

#include "lang/compile/compile.h"

/* Compiles a comprehension: a loop, or the function that it is, and its call. */
bool dv_compile_comprehension(dv_compiler *c, const dv_expr *expr);

/* Is it the call of a builtin with a generator expression that is compiled in place? */
bool dv_compile_is_consumed(const dv_expr *call);

/* Compiles such a call, callee and all; leaves its result, owned. */
bool dv_compile_consumed(dv_compiler *c, dv_expr *call);

/* Is it the call of join? */
bool dv_compile_is_joined(const dv_expr *call);

/* Leaves the list of the items of its argument; `at` is the range of the call. */
bool dv_compile_joined(dv_compiler *c, const dv_expr *expr, dv_range at);

/* Is it one whose result is a truth: any or all? */
bool dv_compile_is_search(const dv_expr *call);

/* Compiles such a call as a condition (dv_compile_jump). */
bool dv_compile_search_jump(dv_compiler *c, dv_expr *call, bool when, dv_label target);

#endif
