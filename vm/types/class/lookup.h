/* lookup.h: attributes of values of any type: of the instance, of its class, and what the class
 * says about looking them up itself. */
#ifndef DV_TYPES_LOOKUP_H
#define DV_TYPES_LOOKUP_H

#include "core/shape.h"
#include "core/vm.h"

/* Attribute lookup for a value of any type; dv_get_attribute adds what error messages suggest. */
dv_value dv_value_get_attribute(dv_vm *vm, dv_value self, dv_value name);
/* The same, with the result EMPTY without vm->error where there is no such attribute. */
dv_value dv_value_find_attribute(dv_vm *vm, dv_value self, dv_value name);
/* Of an AttributeError that was raised: which attribute of which object is missing, if nobody said
 * that already; suggestions in tracebacks are made from it. */
void dv_note_missing(dv_vm *vm, dv_value v, dv_value name);
/* What the built-in type of v, a value or an instance of a class derived from it, gives under the
 * name: the method in the class's cell, bound, or, with NULL for that, what the type computes.
 * EMPTY without vm->error: ask for it as for any attribute. */
dv_value dv_type_attribute(dv_vm *vm, dv_value v, dv_value name, const dv_global_cell *cell);
/* object.__getattribute__: without the class's own __getattribute__ and __getattr__. */
dv_value dv_object_get_attribute(dv_vm *vm, dv_value self, dv_value name);

/* Stores (EMPTY deletes) an attribute of a value of any type. */
bool dv_value_set_attribute(dv_vm *vm, dv_value self, dv_value name, dv_value value) DV_MUST_CHECK;
/* object.__setattr__ and __delattr__: without those of the class. */
bool dv_object_set_attribute(dv_vm *vm, dv_value self, dv_value name, dv_value value) DV_MUST_CHECK;
/* Of a value of a type without attributes of its own: raises, and is false.  The message depends on
 * whether its class has one of this name. */
bool dv_attribute_refuse(dv_vm *vm, dv_value v, dv_value name);

/* What a data descriptor that `class_`, self's class, has under the name gives; EMPTY without
 * vm->error: there is none. */
dv_value dv_find_data(dv_vm *vm, dv_class *class_, dv_value self, dv_value name);

/* What LOAD_METHOD needs: looks `name` up for a call.  If it is a function (dl or C) of self's
 * class, the result is the function itself and *is_method is true (self is passed as first
 * argument); otherwise the result is what dv_get_attribute returns and *is_method is false.  EMPTY:
 * raised. */
dv_value dv_load_method(dv_vm *vm, dv_value self, dv_value name, bool *is_method);

#endif
