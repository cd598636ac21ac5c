/* attribute.h: attributes of values of any type (declared in core/upcall.h). */
#ifndef DV_RUN_ATTRIBUTE_H
#define DV_RUN_ATTRIBUTE_H

#include "core/upcall.h"
#include "core/vm.h"

/* getattr with a fallback: EMPTY without vm->error if there is no such attribute. */
dv_value dv_find_attribute(dv_vm *vm, dv_value v, dv_value name);

#endif
