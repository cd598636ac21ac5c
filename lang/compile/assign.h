/* assign.h: definite assignment: which reads of local variables cannot fail. */
#ifndef DV_LANG_ASSIGN_H
#define DV_LANG_ASSIGN_H

#include "lang/compile/scope.h"

/* Sets `assigned` of the names in a function's body that are read (or augmented) where the local
 * variable is assigned on every path.  False when memory runs out. */
bool dv_assign_run(dv_front *front, const dv_function *function);

/* The same for the function that a comprehension is. */
bool dv_assign_comprehension(dv_front *front, const dv_expr *expr);

#endif
