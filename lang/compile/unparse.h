/* unparse.h: the text of an expression, as CPython's `ast.unparse` in C prints it for
 * `from __future__ import annotations`. */
#ifndef DV_LANG_UNPARSE_H
#define DV_LANG_UNPARSE_H

#include "lang/front/ast.h"

/* Makes the annotation into a constant, its own text; it must not have been visited by any pass.
 * False, with a problem recorded or out of memory, where it cannot. */
bool dv_unparse(dv_front *front, dv_expr *annotation);

#endif
