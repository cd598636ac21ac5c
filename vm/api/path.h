/* path.h: where a program's modules are: sys.path. */
#ifndef DV_API_PATH_H
#define DV_API_PATH_H

#include "api/compile.h"
#include "core/vm.h"

/* Makes sys.path of what does not depend on the program: the directories of DYNVM_PATH (not with
 * the flag IGNORE_ENVIRONMENT) and, as the last, that of the extensions that belong to dynvm:
 * `extension_path`, none if that is "", or for NULL what is found relative to the program, or to
 * the shared object that this library is in (README.md).  A sandboxed VM does without.  False:
 * raised. */
bool dv_path_setup(dv_vm *vm, const char *extension_path) DV_MUST_CHECK;

/* Puts the directory of a script (NULL: a text, whose modules are in the working directory) in
 * front of sys.path, unless it is there already (with the flag SAFE_PATH it is left out); sets
 * __file__ of the main module. */
bool dv_path_begin(dv_vm *vm, const char *script) DV_MUST_CHECK;

/* The same for a script in a directory that is run as a program: that is the first, always. */
bool dv_path_begin_directory(dv_vm *vm, const char *directory, const char *script) DV_MUST_CHECK;

bool dv_path_is_directory(const char *path);
/* The path of the directory's main program, __main__.dl or __main__.py; false: it has none. */
bool dv_path_main(const char *directory, char script[DV_LONGEST_PATH]) DV_MUST_CHECK;

#endif
