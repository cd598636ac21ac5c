/* hook.h: what becomes of exceptions that nobody catches: sys.excepthook and sys.unraisablehook.
 *
 * Invariant 1: while a program has no hook of its own, nothing of it runs here but str(), repr()
 * and what it has put in the place of sys.stderr. */
#ifndef DV_TYPES_HOOK_H
#define DV_TYPES_HOOK_H

#include "core/vm.h"

/* sys.excepthook and sys.unraisablehook as they are in the beginning. */
extern const dv_cfunction_def dv_hook_functions[];

/* Writes to what sys.stderr is now; what fails is forgotten. */
void dv_hook_write(dv_vm *vm, dv_value text);

/* A program ends with vm->error, which stays: sys.last_value is set and the program's
 * sys.excepthook is called.  What the host is to show then, a new str; EMPTY: there was no memory
 * to say it.  If the hook calls sys.exit, that is vm->error then, and the result is EMPTY. */
dv_value dv_hook_uncaught(dv_vm *vm);

/* Reports vm->error and clears it: it was raised by `culprit` (or None), where it cannot be caught.
 * `message`: what is said before the culprit; None: what is said of all. */
void dv_hook_unraisable(dv_vm *vm, dv_value message, dv_value culprit);

#endif
