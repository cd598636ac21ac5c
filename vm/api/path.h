/* path.h: where a program's modules are: sys.path. */
#ifndef DV_API_PATH_H
#define DV_API_PATH_H

#include "core/vm.h"

/* Makes sys.path of what does not depend on the program: the directories of DYNVM_PATH and, as the
 * last, that of the extensions that belong to dynvm: `extension_path`, none if that is "", or for
 * NULL what is found relative to the program, or to the shared object that this library is in
 * (README.md).  A sandboxed VM does without.  False: raised. */
bool dv_path_setup(dv_vm *vm, const char *extension_path) DV_MUST_CHECK;

/* Puts the directory of a script (NULL: a text, whose modules are in the working directory) in
 * front of sys.path, unless it is there already; sets __file__ of the main module. */
bool dv_path_begin(dv_vm *vm, const char *script) DV_MUST_CHECK;

#endif
