/* reductions.h: sum, mean, argmax and their like, as functions of the module and as methods. */
#ifndef ND_REDUCTIONS_H
#define ND_REDUCTIONS_H

#include "array/array.h"

/* np.mean(array, axis): new */
dvx_value reductions_mean(dvx_vm *vm, dvx_value array, dvx_value axis, bool keep);
/* np.var(array, axis, ddof=ddof), or (`root`) np.std: new */
dvx_value reductions_spread(dvx_vm *vm, dvx_value array, dvx_value axis, dvx_value ddof, bool keep,
                            bool root);

bool reductions_register(dvx_vm *vm, dvx_value module);

#endif
