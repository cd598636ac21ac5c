/* functools_parts.h: the parts of the module functools that have files of their own. */
#ifndef DV_MODULES_FUNCTOOLS_PARTS_H
#define DV_MODULES_FUNCTOOLS_PARTS_H

#include "types/file/module.h"

/* Fills the new module functools with its functions and classes. */
bool dv_functools_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;

/* functools_cache.c */
extern const dv_type dv_cache_type, dv_cache_link_type;
extern const dv_cfunction_def dv_functools_cache_functions[]; /* up to an entry without a name */

/* functools.update_wrapper(wrapper, wrapped) with its default arguments. */
bool dv_functools_update(dv_vm *vm, dv_value wrapper, dv_value wrapped) DV_MUST_CHECK;

#endif
