/* super.h: super objects: attributes of self looked up behind a class in the order of self's class.
 */
#ifndef DV_TYPES_SUPER_H
#define DV_TYPES_SUPER_H

#include "core/vm.h"

extern const dv_type dv_super_type;

static inline bool dv_is_super(dv_value v) { return dv_is_shape(v, DV_T_SUPER); }

/* If `name` of a super object is a method that self would be passed to, that (new) and *self (new);
 * else EMPTY, perhaps with vm->error. */
dv_value dv_super_method(dv_vm *vm, dv_value super, dv_value name, dv_value *self);

#endif
