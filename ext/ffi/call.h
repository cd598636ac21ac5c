/* call.h: calling C functions.
 *
 * Invariants
 *  1. A call has a plan, made when a function type is first called: libffi's description, or the
 *     trampoline for its signature (trampolines.mako).
 *  2. Arguments are converted before the call; temporary memory for lists and texts lives until it
 *     has returned.
 *  3. errno of C is ffi.errno: it is set before the call and saved behind it. */
#ifndef FFI_CALL_H
#define FFI_CALL_H

#include "cdata.h"

/* Calls the function at c, a cdata. */
dvx_value call_function(dvx_vm *vm, cdata *c, const dvx_value *args, uint32_t count);

void call_plan_free(dvx_vm *vm, struct call_plan *plan);

#endif
