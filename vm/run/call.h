/* call.h: calling from C: entering the machine, and binding arguments to parameters. */
#ifndef DV_RUN_CALL_H
#define DV_RUN_CALL_H

#include "run/thread.h"

/* Threads and runs the module code of a unit with that module's globals; consumes a reference of
 * the unit.  None, or EMPTY with vm->error. */
dv_value dv_run_unit(dv_vm *vm, dv_unit *unit, dv_value module);

/* A function object of a code object; defaults (EMPTY or tuple) are retained. */
dv_value dv_function_make(dv_vm *vm, dv_thread *thread, dv_value defaults);

/* Arranges the arguments at sp[-count] .. sp[-1] (the last ones named by `keywords`, unless EMPTY)
 * as the function's parameters, filling in defaults.  On failure TypeError is raised with CPython's
 * message and the arguments are as many as before (released by whoever unwinds). */
bool dv_bind_arguments(dv_vm *vm, dv_function *function, dv_value *args, uint32_t count,
                       dv_value keywords) DV_MUST_CHECK;

#endif
