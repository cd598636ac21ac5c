/* modules.h: the built-in modules. */
#ifndef DV_MODULES_MODULES_H
#define DV_MODULES_MODULES_H

#include "types/file/module.h"

/* Makes the dict of modules, __main__ and sys.argv; the built-in modules are made when they are
 * imported first. */
bool dv_modules_setup(dv_vm *vm) DV_MUST_CHECK;

/* Fill a new module with its names; false: raised. */
bool dv_calendar_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_cmath_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_abc_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_names_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_re_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
/* Frees what patterns have outside of the VM's memory. */
void dv_regex_end(dv_vm *vm);
bool dv_json_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_struct_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_sys_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_text_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_time_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
/* Nanoseconds since 1970. */
int64_t dv_time_now(const dv_vm *vm);
bool dv_traceback_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_gc_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_math_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_heapq_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_array_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_bisect_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_itertools_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_io_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_posix_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_random_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_entropy_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_operator_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_collections_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_copy_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_errno_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_functools_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_unicode_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;
bool dv_weakref_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;

/* Adds functions of a table that ends with an entry without a name. */
bool dv_module_add_functions(dv_vm *vm, dv_module *module,
                             const dv_cfunction_def *functions) DV_MUST_CHECK;
/* The same for functions that are of another module in CPython ("_struct"): messages say so. */
bool dv_module_add_functions_of(dv_vm *vm, dv_module *module, const char *owner,
                                const dv_cfunction_def *functions) DV_MUST_CHECK;
/* Makes the class of a type that belongs to a module ("itertools.count"), unless the VM has it
 * already; from then on the VM knows the type. */
bool dv_module_know_type(dv_vm *vm, const dv_type *type) DV_MUST_CHECK;
/* The same, and adds the class to the module. */
bool dv_module_add_type(dv_vm *vm, dv_module *module, const dv_type *type) DV_MUST_CHECK;
/* For a module's __getattr__: what the helper module `from` has under this name; `to` has it, too,
 * from then on. */
dv_value dv_module_borrow(dv_vm *vm, const char *to, const char *from, dv_value name);
/* Names up to a NULL as a list of str: a module's __all__, or what a module without one answers to
 * `__late__`: the names that its __getattr__ knows (types/class/directory.c). */
dv_value dv_names(dv_vm *vm, const char *const *names);
/* Adds a constant; takes the value (EMPTY: making it failed). */
bool dv_module_add(dv_vm *vm, dv_module *module, const char *name, dv_value value) DV_MUST_CHECK;

#endif
