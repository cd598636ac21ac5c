/* class.h: class objects as values and their instances: repr, attribute access, construction.  The
 * data structures are in core/shape.h. */
#ifndef DV_TYPES_CLASS_H
#define DV_TYPES_CLASS_H

#include "core/shape.h"
#include "core/vm.h"

extern const dv_type dv_class_type, dv_object_type;

static inline bool dv_is_class(dv_value v) { return dv_is_shape(v, DV_T_CLASS); }
static inline dv_class *dv_as_class(dv_value v) { return (dv_class *)dv_as_object(v); }

/* BUILD_CLASS: a class from its namespace dict; base None or a class. */
dv_value dv_class_build(dv_vm *vm, dv_value name, dv_value base, dv_value namespace);

/* object.__getattribute__ for instances: instance slot, class attribute (functions bind),
 * AttributeError. */
dv_value dv_instance_get_attribute(dv_vm *vm, dv_value self, dv_value name);

/* Attribute lookup for a value of any type; dv_get_attribute adds what error messages suggest. */
dv_value dv_value_get_attribute(dv_vm *vm, dv_value self, dv_value name);
/* The same, with the result EMPTY without vm->error where there is no such attribute. */
dv_value dv_value_find_attribute(dv_vm *vm, dv_value self, dv_value name);

/* "__main__.C"; plain names for built-in classes. */
dv_value dv_class_qualified_name(dv_vm *vm, dv_class *class_);

/* What LOAD_METHOD needs: looks `name` up for a call.  If it is a function (dl or C) of self's
 * class, the result is the function itself and *is_method is true (self is passed as first
 * argument); otherwise the result is what dv_get_attribute returns and *is_method is false.  EMPTY:
 * raised. */
dv_value dv_load_method(dv_vm *vm, dv_value self, dv_value name, bool *is_method);

#endif
