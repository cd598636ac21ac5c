/* call.h: calling from C: entering the machine, and binding arguments to parameters. */
#ifndef DV_RUN_CALL_H
#define DV_RUN_CALL_H

#include "run/thread.h"

/* Threads and runs the module code of a unit with that module's globals; consumes a reference of
 * the unit.  None, or EMPTY with vm->error. */
dv_value dv_run_unit(dv_vm *vm, dv_unit *unit, dv_value module);

/* Runs from ip on until dv_halt_cell, or an exception that reaches it. */
void dv_run_cells(dv_vm *vm, const dv_cell *ip);

/* A function object of a code object; defaults (EMPTY or tuple) are retained. */
dv_value dv_function_make(dv_vm *vm, dv_thread *thread, dv_value defaults);

/* Writes the values of the function's parameters (thread->argument_count new references) to `out`:
 * the arguments (the last ones named by `keywords`, unless EMPTY), borrowed, then defaults.  On
 * failure TypeError is raised with CPython's message and nothing is written. */
bool dv_bind_arguments(dv_vm *vm, const dv_function *function, const dv_value *args, uint32_t count,
                       dv_value keywords, dv_value *out) DV_MUST_CHECK;

#endif
