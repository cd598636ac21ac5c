/* class.h: class objects as values: repr, attributes, construction of instances.  The
 * data structures are in core/shape.h. */
#ifndef DV_TYPES_CLASS_H
#define DV_TYPES_CLASS_H

#include "core/shape.h"
#include "core/vm.h"

extern const dv_type dv_class_type, dv_object_type;

static inline bool dv_is_class(dv_value v) { return dv_is_shape(v, DV_T_CLASS); }
static inline dv_class *dv_as_class(dv_value v) { return (dv_class *)dv_as_object(v); }

/* Its __qualname__, borrowed. */
static inline dv_value dv_class_name(const dv_class *class_) {
    return dv_is_empty(class_->qualname) ? class_->name : class_->qualname;
}

/* What tables of docstrings call a built-in class: "int", "collections.deque"; new. */
dv_value dv_class_key(dv_vm *vm, const dv_class *class_);

/* "__main__.C"; plain names for built-in classes. */
dv_value dv_class_qualified_name(dv_vm *vm, dv_class *class_);

/* Makes the class of a built-in type ("itertools.count") that not every program uses, unless the VM
 * has it already. */
bool dv_class_know(dv_vm *vm, const dv_type *type) DV_MUST_CHECK;

/* "<class '__main__.C'>", whatever its metaclass says. */
dv_value dv_class_plain_repr(dv_vm *vm, dv_value self);
/* Does a call of the class with so many arguments make a named tuple of them, and nothing else? */
bool dv_class_takes_fields(dv_vm *vm, dv_class *class_, uint32_t count);
/* type.__call__: calls the class, whatever its metaclass says. */
dv_value dv_class_construct(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                            dv_value keywords);

/* What a call of the class with these arguments is, whose __new__ has returned `self` (taken;
 * EMPTY: raised): an instance of the class is initialised. */
dv_value dv_class_made(dv_vm *vm, const dv_class *class_, dv_value self, const dv_value *args,
                       uint32_t count, dv_value keywords);

/* object.__new__ */
dv_value dv_object_new_of(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords);
/* object.__init__ */
dv_value dv_object_init(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords);

/* isinstance(v, wanted), where wanted is a class without a metaclass or a tuple of such; -1: there
 * is more to ask. */
int dv_class_has_instance(dv_vm *vm, dv_value wanted, dv_value v);

/* Is the attribute `name` of a class more than what its namespace has under it? */
bool dv_class_computes(const dv_vm *vm, dv_value name);

#endif
