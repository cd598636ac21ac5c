/* instance_dict.h: attributes that instances of dl classes have themselves: in the slots of their
 * shape, or, once somebody has asked for the __dict__, in a dict.
 *
 * Invariants
 *  1. The dict is the value of an attribute "__dict__" of the shape, which no other attribute can
 *     be called; shape->dictionary tells that it is there.  Then the only other attributes of the
 *     shape are those of __slots__.
 *  2. The dict is there for good: what the program changes in it is what the instance has. */
#ifndef DV_TYPES_INSTANCE_DICT_H
#define DV_TYPES_INSTANCE_DICT_H

#include "core/vm.h"

/* The __dict__ of an instance of a dl class, borrowed, made at the first call.  EMPTY without
 * vm->error: its class has __slots__ and no dict. */
dv_value dv_instance_dict(dv_vm *vm, dv_value self);

/* An attribute in the dict of an instance that has one (shape->dictionary), borrowed; EMPTY without
 * vm->error: it is not there. */
dv_value dv_instance_dict_find(dv_vm *vm, dv_value self, dv_value name);

/* object.__setattr__ (EMPTY: __delattr__) for what is no data descriptor, with __dict__ and
 * __class__. */
bool dv_instance_set_attribute(dv_vm *vm, dv_value self, dv_value name,
                               dv_value value) DV_MUST_CHECK;

/* What a change of __class__ meets where the class is built in. */
#define DV_CLASS_IS_FIXED \
    "__class__ assignment only supported for mutable types or ModuleType subclasses"

#endif
