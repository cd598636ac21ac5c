/* setup.h: putting types, builtins and modules into a bare machine, and taking them out again. */
#ifndef DV_API_SETUP_H
#define DV_API_SETUP_H

#include "core/vm.h"

/* False: out of memory. */
bool dv_setup(dv_vm *vm) DV_MUST_CHECK;
/* Releases what programs have made, so that extensions see their objects go, then what dv_setup
 * has made; dv_vm_free is next. */
void dv_teardown(dv_vm *vm);

#endif
