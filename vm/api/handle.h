/* handle.h: handles: how the host holds values.
 *
 * A handle is the number of a slot and the serial number of the handle itself.  No other handle of
 * the VM has that serial number (until 2^32 were made), and that of the first depends on the VM's
 * address: so a handle that has ended, or is another VM's, is found out, and refused by
 * SystemError.
 *
 * Invariants
 *  1. An open slot holds a reference, and is never EMPTY.
 *  2. Handles that belong to scopes lie on a stack, from `base` on those of the innermost scope.  A
 *     slot below `base` is freed in place; the stack never gets shorter than `base`.
 *  3. `failure` is what the last call failed with, a reference to an exception; vm->error is EMPTY
 *     when control is with the host, unless it is in a function of its own that dl has called.
 *  4. What a function of dynvm.h works on it has references to, unless it runs no dl code: that may
 * call back into the host, which may end any handle. */
#ifndef DV_API_HANDLE_H
#define DV_API_HANDLE_H

#include "api/machine.h"

#define DV_NO_HANDLE ((dynvm_value){0})

/* Ready for work on values, which may run dl code in this thread: true, unless an error is pending
 * in a function of the host. */
bool dv_host_begin(dynvm_vm *self) DV_MUST_CHECK;

/* References to the values of handles.  False: one of them is of a failed call or has ended; then
 * there are none. */
bool dv_host_take(dynvm_vm *self, const dynvm_value *given, dv_value *values,
                  size_t count) DV_MUST_CHECK;
/* The same without dv_host_begin, which was. */
bool dv_host_look(dynvm_vm *self, const dynvm_value *given, dv_value *values,
                  size_t count) DV_MUST_CHECK;
/* The value of one handle without a reference, for what runs no dl code; EMPTY: likewise. */
dv_value dv_host_see(dynvm_vm *self, dynvm_value v) DV_MUST_CHECK;
/* Gives them back. */
void dv_host_give_back(dynvm_vm *self, const dv_value *values, size_t count);

/* A handle for a result, which it takes; EMPTY: the call failed, and vm->error becomes the failure.
 */
dynvm_value dv_host_made(dynvm_vm *self, dv_value result);
/* vm->error, if there is one, becomes the failure. */
void dv_host_failed(dynvm_vm *self);
/* SystemError as the failure, where there is none yet: a mistake of the host. */
void dv_host_refuse(dynvm_vm *self, const char *what);

/* Before the first handle: serial numbers of different VMs are far apart. */
void dv_handles_begin(dynvm_vm *self);
/* When the VM ends: reports the handles that are left, if configured, and ends them. */
void dv_handles_end(dynvm_vm *self);
void dv_handles_free(dynvm_vm *self);

#endif
