/* finfo.h: what can be said of dtypes: promote_types, result_type, can_cast, isscalar,
 * iscomplexobj, isrealobj. */
#ifndef ND_FINFO_H
#define ND_FINFO_H

#include "array/array.h"

bool finfo_register(dvx_vm *vm, dvx_value module);

#endif
