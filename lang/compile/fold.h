/* fold.h: constant folding, and which expressions may bind a local variable. */
#ifndef DV_LANG_FOLD_H
#define DV_LANG_FOLD_H

#include "lang/front/ast.h"

/* Rewrites the tree in place: operations on constants become constants where the result is certain
 * and small, and sets `stores` of every expression.  False when memory runs out. */
bool dv_fold_run(dv_front *front, const dv_block *module);

#endif
