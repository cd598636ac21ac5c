/* math_parts.h: the parts of the module math that have files of their own. */
#ifndef DV_MODULES_MATH_PARTS_H
#define DV_MODULES_MATH_PARTS_H

#include "types/file/module.h"

/* Fills the new module math with its functions and constants. */
bool dv_math_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;

/* math_special.c: CPython's own gamma functions.  The result is infinite or NaN where `entry` would
 * raise. */
double dv_math_gamma(double x);
double dv_math_lgamma(double x);

/* math_integer.c and math_sum.c: up to an entry without a name. */
extern const dv_cfunction_def dv_math_integer_functions[], dv_math_sum_functions[];

#endif
