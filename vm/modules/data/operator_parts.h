/* operator_parts.h: the parts of the module operator that have files of their own. */
#ifndef DV_MODULES_OPERATOR_PARTS_H
#define DV_MODULES_OPERATOR_PARTS_H

#include "types/file/module.h"

/* Fills the new module operator with its functions and classes. */
bool dv_operator_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;

/* operator_getter.c */
extern const dv_type dv_attrgetter_type, dv_itemgetter_type, dv_methodcaller_type;

#endif
