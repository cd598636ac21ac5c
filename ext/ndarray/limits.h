/* limits.h: what can be said of dtypes: iinfo, finfo, promote_types, result_type, can_cast,
 * isscalar, iscomplexobj, isrealobj. */
#ifndef ND_LIMITS_H
#define ND_LIMITS_H

#include "array.h"

bool limits_register(dvx_vm *vm, dvx_value module);

#endif
