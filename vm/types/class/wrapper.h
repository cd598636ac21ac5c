/* wrapper.h: the special methods of built-in types (int.__add__, list.__len__, ...) as attributes
 * of their classes, made from the slots of the dv_type.
 *
 * Invariants
 *  1. A wrapper does what the type of its class does, whatever self's class overrides.
 *  2. A method that the type's own table has comes before a wrapper of that name.
 *  3. A slot that a type shares with its built-in base is an attribute of the base alone. */
#ifndef DV_TYPES_WRAPPER_H
#define DV_TYPES_WRAPPER_H

#include "core/shape.h"
#include "core/vm.h"

/* Adds the special methods that the class of a built-in type has; part of dv_class_fill. */
bool dv_wrappers_add(dv_vm *vm, dv_class *class_) DV_MUST_CHECK;

#endif
