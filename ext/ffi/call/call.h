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

#include "data/cdata.h"

/* Calls the function at c, a cdata. */
dvx_value call_function(dvx_vm *vm, cdata *c, const dvx_value *args, uint32_t count);

/* The signature by which a region may call the function at c, where its types have one (call.c);
 * NULL: they have none, or memory is short (nothing is raised).  It belongs to c. */
const dvx_raw *call_raw_of(dvx_vm *vm, cdata *c);
void call_raw_free(dvx_vm *vm, cdata *c);

void call_plan_free(dvx_vm *vm, struct call_plan *plan);

#endif
