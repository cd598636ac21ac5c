/* warn.h: what CPython warns of when it compiles a program that is right, but looks wrong.
 *
 * Invariants
 *  1. A warning changes nothing, unless who gets it wants an error; it is reported as soon as it is
 *     found, in CPython's order. */
#ifndef DV_LANG_WARN_H
#define DV_LANG_WARN_H

#include "lang/front/ast.h"

/* Reports a SyntaxWarning about a place; where that makes it an error, it is the front's. */
void dv_warn(dv_front *front, dv_range at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* `x is 1` */
void dv_warn_compare(dv_front *front, const dv_expr *compare);

/* A call or subscript whose left operand can be neither called nor subscripted so: `(1, 2) (3)`. */
void dv_warn_primary(dv_front *front, const dv_expr *primary);

/* `assert (x, "message")` */
void dv_warn_assert(dv_front *front, const dv_stmt *stmt);

#endif
