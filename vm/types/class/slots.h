/* slots.h: __slots__ of classes, and the descriptors of their names (C.x).  The values are
 * attributes of the instances' shapes as all others are, so that sites read and store them without
 * asking the descriptor, which says what else holds: that the name is one of them, and what is
 * wrong when it has no value.
 *
 * Invariants
 *  1. A class with DV_CLASS_NO_DICT has instances whose shapes have no other attributes than those
 *     that dv_class_has_slot.
 *  2. Shapes call a slot by its name as long as every class that has it finds its descriptor under
 *     this name, and nobody finds it elsewhere.  Before a program changes that (`A.x = 55`,
 *     `del A.x`, a class below that has a name `x`, `B.y = A.x`), the slot becomes a *hidden* one:
 *     in all shapes it gets a name that is not interned, which no program can use, and its
 *     descriptor counts as a data descriptor, which alone finds the values. */
#ifndef DV_TYPES_SLOTS_H
#define DV_TYPES_SLOTS_H

#include "core/vm.h"

extern const dv_type dv_member_type;

/* Gives a new class, whose attributes are there already, what the __slots__ of its body say, if
 * there are any; false: raised. */
bool dv_slots_add(dv_vm *vm, dv_class *class_, dv_value namespace) DV_MUST_CHECK;

/* How many names the __slots__ of a class and of its bases have. */
uint32_t dv_slots_named(const dv_class *class_);

/* Is `name` in the class the descriptor of one of its, or its bases', __slots__?  Or, of a name in
 * a shape: that of a hidden slot? */
bool dv_class_has_slot(dv_class *class_, dv_value name);
/* Is this what a shape calls a hidden slot? */
bool dv_slot_is_hidden(dv_value name);
/* Is v the descriptor of a hidden slot? */
bool dv_is_hidden_member(dv_value v);
/* What shapes of `to` call the slot of its own that has the name of the one that shapes of `from`
 * call `key`; any other name: itself.  Borrowed. */
dv_value dv_slot_key(const dv_class *to, const dv_class *from, dv_value key);
/* Have the two classes' own __slots__ the same names? */
bool dv_class_same_slots(dv_vm *vm, const dv_class *a, const dv_class *b);

/* What the descriptor v is for self: its value, new; EMPTY: raised. */
dv_value dv_member_read(dv_vm *vm, dv_value v, dv_value self);
/* Stores that value (EMPTY deletes); false: raised. */
bool dv_member_store(dv_vm *vm, dv_value v, dv_value self, dv_value value) DV_MUST_CHECK;

#endif
