/* error.h: exceptions as objects of the host, independent of the VM (dynvm_error). */
#ifndef DV_API_ERROR_H
#define DV_API_ERROR_H

#include "core/vm.h"
#include "dynvm.h"

/* Makes an error of vm->error, which it clears; `shown` is what the host is to show of it (EMPTY:
 * it could not be made), which the function takes.  NULL: out of memory. */
dynvm_error *dv_error_take(dv_vm *vm, dv_value shown);
/* The same of an exception that is not pending, shown as Python would show it. */
dynvm_error *dv_error_describe(dv_vm *vm, dv_value exception);

/* Where the VM was stopped, vm->error may be what was on its way then: it becomes the stop's. */
void dv_error_tell_stop(dv_vm *vm);

#endif
