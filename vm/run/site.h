/* site.h: what is made when it is asked for: docstrings of what is built in, the builtins that
 * Python's module site adds (help, exit and their like), and those that evaluate text.
 *
 * Invariants
 *  1. The first two are dl code (lang/lib/_site.dl, _help.dl): a VM that nobody asks has neither.
 *  2. The names are in the namespace of builtins from the first time they are looked up, or
 *     `builtins` is imported; those of site never with the flag NO_SITE. */
#ifndef DV_RUN_SITE_H
#define DV_RUN_SITE_H

#include "core/vm.h"

/* "copyright", ...; NULL ends them. */
extern const char *const dv_site_names[];

/* eval, exec, compile, globals and locals (evaluate.c), up to an entry without a name. */
extern const dv_cfunction_def dv_evaluate_functions[];

/* The builtin of the name: borrowed; EMPTY with vm->error, or without: there is none. */
dv_value dv_site_find(dv_vm *vm, dv_value name);

#endif
