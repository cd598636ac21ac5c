/* callback.h: functions of dl that C can call.
 *
 * Invariants
 *  1. A callback lives as long as its cdata; it has the machine code that C calls, and knows the
 * VM.
 *  2. Whatever the function raises ends here: it is told to sys.unraisablehook (or onerror), and C
 *     gets the result that `error` says, or zero. */
#ifndef FFI_CALLBACK_H
#define FFI_CALLBACK_H

#include "data/cdata.h"

/* ffi.callback(type, function, error, onerror); None for what is not given. */
dvx_value callback_new(dvx_vm *vm, ctype *type, dvx_value function, dvx_value error,
                       dvx_value onerror);
void callback_free(dvx_vm *vm, struct callback *callback);

#endif
