/* slots.h: __slots__ of classes, and the descriptors of their names (C.x).  The values are
 * attributes of the instances' shapes as all others are, so that sites read and store them without
 * asking the descriptor, which says what else holds: that the name is one of them, and what is
 * wrong when it has no value.
 *
 * Invariant 1: a class with DV_CLASS_NO_DICT has instances whose shapes have no other attributes
 * than those that dv_class_has_slot. */
#ifndef DV_TYPES_SLOTS_H
#define DV_TYPES_SLOTS_H

#include "core/vm.h"

extern const dv_type dv_member_type;

/* Gives a new class, whose attributes are there already, what the __slots__ of its body say, if
 * there are any; false: raised. */
bool dv_slots_add(dv_vm *vm, dv_class *class_, dv_value namespace) DV_MUST_CHECK;

/* Is `name` in the class the descriptor of one of its, or its bases', __slots__? */
bool dv_class_has_slot(dv_vm *vm, dv_class *class_, dv_value name);
/* Have the two classes' own __slots__ the same names? */
bool dv_class_same_slots(dv_vm *vm, const dv_class *a, const dv_class *b);

/* What the descriptor v is for self: its value, new; EMPTY: raised. */
dv_value dv_member_read(dv_vm *vm, dv_value v, dv_value self);

#endif
