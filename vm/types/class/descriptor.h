/* descriptor.h: what an attribute of a class becomes when it is asked for through an instance or
 * the class: functions bind, property, staticmethod, classmethod, and classes of dl with __get__.
 */
#ifndef DV_TYPES_DESCRIPTOR_H
#define DV_TYPES_DESCRIPTOR_H

#include "core/shape.h"
#include "core/vm.h"
#include "types/callable/function.h"

typedef struct dv_property {
    dv_object header;
    dv_value get, set, delete_; /* or EMPTY */
    dv_value doc;               /* or EMPTY */
    dv_value name;              /* in its class (__set_name__), for messages; or EMPTY */
    bool of_instances;          /* no attribute of the class itself: AttributeError */
    bool doc_of_getter;         /* of a subclass: its __doc__ is the getter's, as an attribute */
} dv_property;

/* A staticmethod or classmethod. */
typedef struct dv_method_wrapper {
    dv_object header;
    dv_value function;
    dv_value attributes; /* dict, from the first time that somebody asks for it or stores; EMPTY */
} dv_method_wrapper;

/* The dl function that a static or class method calls; EMPTY: v is none, or of something else. */
static inline dv_value dv_method_unbound(dv_value v) {
    if (!dv_is_shape(v, DV_T_STATICMETHOD) && !dv_is_shape(v, DV_T_CLASSMETHOD)) return DV_EMPTY;
    const dv_value function = ((const dv_method_wrapper *)dv_as_object(v))->function;
    return dv_is_function(function) ? function : DV_EMPTY;
}

extern const dv_type dv_property_type, dv_staticmethod_type, dv_classmethod_type;

/* A new staticmethod (DV_T_STATICMETHOD) or classmethod; retains. */
dv_value dv_method_wrapper_new(dv_vm *vm, dv_type_id type, dv_value function);

/* Is this a function that binds to an instance, so that a call may pass self instead? */
bool dv_is_method(dv_value v);

/* Is self what such a function takes?  Methods of built-in types may stand in any class. */
bool dv_method_fits(dv_vm *vm, dv_value function, dv_value self);

/* What v, found in class_ or a base of it, is as an attribute of self; self EMPTY: of the class.
 * A new value; v is borrowed and may be replaced meanwhile. */
dv_value dv_bind(dv_vm *vm, dv_value v, dv_value self, dv_class *class_);

/* What all descriptors have: descriptor.__get__(object, class) */
dv_value dv_descriptor_get(dv_vm *vm, const dv_value *args, uint32_t count);

/* property.__set_name__ */
void dv_property_set_name(dv_vm *vm, dv_value property, dv_value name);

/* Stores through the data descriptor v (EMPTY deletes). */
bool dv_descriptor_store(dv_vm *vm, dv_value v, dv_value self, dv_value value) DV_MUST_CHECK;

#endif
