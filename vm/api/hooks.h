/* hooks.h: what a VM asks its host (dynvm.h, "Hooks"). */
#ifndef DV_API_HOOKS_H
#define DV_API_HOOKS_H

#include "dynvm.h"

#include "core/vm.h"

/* Has the VM ask what the configuration has hooks for. */
void dv_hooks_set(dv_vm *vm, const dynvm_config *config);

#endif
