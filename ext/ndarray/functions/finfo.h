/* finfo.h: what can be said of dtypes: promote_types, result_type, can_cast. */
#ifndef ND_FINFO_H
#define ND_FINFO_H

#include "array/array.h"

/* May elements be cast as `casting` says, or else `word`, which becomes the rule?  1, 0, -1:
 * ValueError.
 */
int finfo_casts(dvx_vm *vm, const nd_dtype *from, const nd_dtype *to, dvx_value casting,
                char word[32]);

#endif
