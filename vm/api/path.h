/* path.h: where a program's modules are: sys.path. */
#ifndef DV_API_PATH_H
#define DV_API_PATH_H

#include "core/vm.h"

/* Puts the directory of a script (NULL: a text, whose modules are in the working directory) in
 * front of sys.path, unless it is there already, and behind it, in a VM's first run, the
 * directories of DYNVM_PATH; sets __file__ of the main module. */
bool dv_path_begin(dv_vm *vm, const char *script) DV_MUST_CHECK;

#endif
