/* abstract.h: what the module abc knows of classes: who counts as a subclass of an abstract class
 * without deriving from it, and the answers that were given.
 *
 * Invariants
 *  1. dv_class.registered of an abstract class has the classes that are registered with it.
 *  2. dv_class.answers of any class says for abstract classes whether it counts as a subclass.  It
 *     holds while vm->registrations is answers_time: each registration may change any answer.
 *  3. Only classes with ABCMeta's own checks are asked for in `answers`, so that reading an answer
 *     there is the same as calling these. */
#ifndef DV_TYPES_ABSTRACT_H
#define DV_TYPES_ABSTRACT_H

#include "core/shape.h"
#include "core/vm.h"

/* What was answered before: 1, 0, or -1: nothing. */
int dv_abstract_answer(dv_vm *vm, const dv_class *class_, dv_value abstract);
/* Does the class count as a subclass of the abstract one?  1, 0, -1 raised. */
int dv_abstract_check(dv_vm *vm, dv_value class_, dv_value abstract);
/* abstract.register(class_); false: raised. */
bool dv_abstract_register(dv_vm *vm, dv_value abstract, dv_value class_) DV_MUST_CHECK;
/* Sets __abstractmethods__ of a new class: a frozenset. */
bool dv_abstract_collect(dv_vm *vm, dv_value class_) DV_MUST_CHECK;
/* Do instances of the class have the special method?  None in its place: no.  1, 0, -1 raised. */
int dv_abstract_has(dv_vm *vm, dv_class *class_, dv_value name);

#endif
