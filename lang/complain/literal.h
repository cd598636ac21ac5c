/* literal.h: what ast.literal_eval takes, and its error about anything else. */
#ifndef DV_LANG_LITERAL_H
#define DV_LANG_LITERAL_H

#include "lang/front/ast.h"

/* Is the expression made of literals alone?  Strs, bytes, numbers with a sign and sums of a real
 * and an imaginary one, tuples, lists, dicts, sets, True, False, None, Ellipsis, and set(), which
 * becomes an empty display.  If not, that is the front's error. */
bool dv_literal_check(dv_front *front, dv_expr *expr);

#endif
