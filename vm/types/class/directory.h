/* directory.h: dir(): the names of the attributes that a value has. */
#ifndef DV_TYPES_DIRECTORY_H
#define DV_TYPES_DIRECTORY_H

#include "core/vm.h"

/* dir(v): what __dir__ says, as a sorted list. */
dv_value dv_directory(dv_vm *vm, dv_value v);
/* dir(): the names of the running scope, sorted. */
dv_value dv_directory_here(dv_vm *vm);

/* Adds the names that the running code's scope has, as keys of a dict (run/execute.c). */
bool dv_calling_names(dv_vm *vm, dv_value names) DV_MUST_CHECK;
/* Adds the names of a namespace that have a value. */
bool dv_directory_add(dv_vm *vm, dv_value names, const dv_namespace *space) DV_MUST_CHECK;

/* object.__dir__, type.__dir__ and module.__dir__ */
dv_value dv_object_dir(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_class_dir(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_module_dir(dv_vm *vm, const dv_value *args, uint32_t count);

/* What a module of the library makes when it is asked for it: its __all__ names that, or, if
 * CPython's module has none, what its __getattr__ says to `__late__`.  EMPTY: nothing, or raised.
 */
dv_value dv_module_late(dv_vm *vm, dv_value module);

#endif
