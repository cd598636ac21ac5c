/* call.h: calling from C: entering the machine; calls that handlers leave to C. */
#ifndef DV_RUN_CALL_H
#define DV_RUN_CALL_H

#include "run/thread.h"

/* Threads and runs the module code of a unit with that module's globals; consumes a reference of
 * the unit.  None, or EMPTY with vm->error. */
dv_value dv_run_unit(dv_vm *vm, dv_unit *unit, dv_value module);

/* The same as a function without parameters: each call of it runs the code. */
dv_value dv_unit_function(dv_vm *vm, dv_unit *unit, dv_value module);

/* Runs from ip on until dv_halt_cell, an exception that reaches it, or a pause (run/program.h). */
void dv_run_cells(dv_vm *vm, const dv_cell *ip);

/* A function object of a code object; defaults (EMPTY or tuple) are retained. */
dv_value dv_function_make(dv_vm *vm, dv_thread *thread, dv_value defaults);

/* Where no call seems to be left, for a comprehension that is inlined: polls; false: raised. */
bool dv_call_may_nest(dv_vm *vm) DV_MUST_CHECK;

/* The __new__ of dl with which a call of the class begins, whatever else happens then; EMPTY: it
 * has none, or is no class, or one for which there is more to it. */
dv_value dv_call_new_of(dv_vm *vm, dv_value callee);
/* Is it C that a call of this has to enter, and not a frame: what is no function, and no class or
 * method that is called by way of a function? */
bool dv_call_is_of_object(dv_vm *vm, dv_value callee);

/* Makes a call whose callee, two reserved entries and arguments (the last ones named by `keywords`,
 * unless EMPTY) are on the stack, where they are taken from; `link` is behind the instruction.  The
 * result is where to go on with vm->sp and vm->fp. */
const dv_cell *dv_call_entries(dv_vm *vm, const dv_cell *link, dv_value *sp, dv_value *fp,
                               uint32_t count, dv_value keywords);

#endif
