/* program.h: a program that runs in slices: it pauses, and goes on when the host says so.
 *
 * Calls of dl do not recurse on the C stack, so that a program pauses by keeping its registers and
 * having the loop that runs cells return.  Its frames stay on the machine's stack, and what the
 * host runs in between has its own above them.
 *
 * Invariants
 *  1. A VM has at most one such program (vm->program).  It runs only while nothing else does:
 *     its first frame is the outermost one of the stack.
 *  2. It pauses only where no C function stands between its first frame and the running one, at a
 *     cell of a function that is in its INCA form, with vm->error EMPTY.
 *  3. While it is paused, the VM is as if it did not run: its generators and the exception that it
 *     handles are kept aside, and its calls do not count for the depth of others. */
#ifndef DV_RUN_PROGRAM_H
#define DV_RUN_PROGRAM_H

#include "core/vm.h"

/* The unit's module code becomes the VM's program, which has not begun; consumes a reference of the
 * unit.  False: raised; also if there is a program already. */
bool dv_program_begin(dv_vm *vm, dv_unit *unit, dv_value module) DV_MUST_CHECK;

/* Runs the program for about so much work (vm->work; INT64_MAX: to its end).  1: it is paused; 0:
 * it has ended; -1: it has raised, or there is none, or something is running. */
int dv_program_resume(dv_vm *vm, int64_t work) DV_MUST_CHECK;

/* Does nothing run in the VM?  False: raised. */
bool dv_program_may_change(dv_vm *vm) DV_MUST_CHECK;

/* Then: drops what is paused or has not begun, without running its handlers and finally clauses. */
void dv_program_drop(dv_vm *vm);

/* For safepoints.  May the program pause in the frame?  If C stands in between, the return to it
 * will poll. */
bool dv_program_may_pause(dv_vm *vm, dv_value *fp) DV_MUST_CHECK;
/* Pauses it at ip, vm->sp and vm->fp; NULL, so that the loop that runs it ends. */
const dv_cell *dv_program_pause(dv_vm *vm, const dv_cell *ip);

#endif
