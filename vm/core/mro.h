/* mro.h: bases of a class: the order in which they are asked, and telling subclasses of a change.
 *
 * Invariants
 *  1. class_->bases are counted; class_->mro begins with the class itself and is borrowed: every
 *     class of it is held by the bases of another one.
 *  2. All classes of a VM are in one list, oldest first, so that those below a class can be found
 *     without recursion. */
#ifndef DV_CORE_MRO_H
#define DV_CORE_MRO_H

#include "core/shape.h"

/* Gives a new class its bases and its C3 order and puts it into the VM's list; false: raised
 * (duplicate or inconsistent bases, no memory). */
bool dv_mro_link(dv_vm *vm, dv_class *class_, dv_class *const *bases, uint32_t count) DV_MUST_CHECK;
/* The reverse, when the class dies or could not be made. */
void dv_mro_unlink(dv_vm *vm, dv_class *class_);

/* What lookups in the class and in those below it find may change: sites that remember something of
 * them forget it. */
void dv_class_touch(dv_vm *vm, dv_class *class_);
/* Adds flags to the class and those below it. */
void dv_class_flag(dv_class *class_, uint16_t flags);

/* Up-call (types/class/class_build.c): the TypeError for bases without a consistent order. */
void dv_raise_inconsistent_bases(dv_vm *vm, dv_class *const *heads, uint32_t count);

#endif
