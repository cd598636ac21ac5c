/* lookup.c: looking attributes up and storing them (lookup.h). */
#include "types/class/lookup.h"

#include "core/weak.h"
#include "types/class/class.h"
#include "types/class/descriptor.h"
#include "types/mapping/dict.h"
#include "types/exception/exception.h"
#include "types/callable/function.h"
#include "types/number/complex.h"
#include "types/class/getter.h"
#include "types/class/instance.h"
#include "types/class/instance_dict.h"
#include "types/file/module.h"
#include "types/class/slots.h"
#include "types/class/super.h"

/* Reading ---------------------------------------------------------------------------------------
 */

void dv_note_missing(dv_vm *vm, dv_value v, dv_value name) {
    dv_value error = vm->error;
    if (!dv_is_empty(dv_exception_get(error, "name"))) return;
    vm->error = DV_EMPTY;
    if (!dv_exception_set_missing(vm, error, name, v)) dv_error_clear(vm);
    vm->error = error;
}

static dv_value raise_no_attribute(dv_vm *vm, dv_value self, dv_value name) {
    dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "'%T' object has no attribute '%S'", self, name);
    if (dv_error_is(vm, DV_E_ATTRIBUTE_ERROR)) dv_note_missing(vm, self, name);
    return DV_EMPTY;
}

/* The functions find_... have the result EMPTY without vm->error where there is no such attribute,
 * or with what a descriptor raised. */

/* Before the instance itself come data descriptors of a class that has such. */
dv_value dv_find_data(dv_vm *vm, dv_class *class_, dv_value self, dv_value name) {
    const dv_global_cell *cell = dv_class_find(vm, class_, name);
    if (!cell || !dv_is_data_descriptor(vm, cell->value)) return DV_EMPTY;
    if (dv_is_instance(cell->value) && !dv_has_layout(cell->value, DV_T_PROPERTY) &&
        !dv_has_special(vm, cell->value, vm->known.get))
        return DV_EMPTY; /* one that only stores */
    return dv_bind(vm, cell->value, self, class_);
}

static dv_value find_of_instance(dv_vm *vm, dv_value self, dv_value name) {
    dv_object *object = dv_as_object(self);
    dv_shape *shape = dv_shape_at(vm, object->shape);
    dv_class *class_ = shape->class_;
    if (class_->flags & DV_CLASS_DATA) {
        dv_value v = dv_find_data(vm, class_, self, name);
        if (!dv_is_empty(v) || !dv_is_empty(vm->error)) return v;
    }
    int32_t slot = dv_shape_find(vm, shape, name);
    if (slot >= 0) return dv_retain(*dv_attribute_slot(object, (uint32_t)slot));
    if (shape->dictionary && !dv_class_has_slot(class_, name)) {
        dv_value v = dv_instance_dict_find(vm, self, name);
        if (!dv_is_empty(v) || !dv_is_empty(vm->error)) return dv_retain(v);
    }
    const dv_global_cell *cell = dv_class_find(vm, class_, name);
    const dv_type *layout = vm->types[class_->type];
    if (cell && !(layout->get_attribute && dv_is_getter(cell->value)))
        return dv_bind(vm, cell->value, self, class_);
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    if (dv_same(name, vm->known.class_)) return dv_retain(dv_object_value(class_));
    if (dv_same(name, vm->known.dict)) return dv_retain(dv_instance_dict(vm, self));
    if (layout->get_attribute) {
        dv_value v = layout->get_attribute(vm, self, name);
        if (!dv_is_empty(v) || !dv_is_empty(vm->error)) return v;
    }
    if (class_->weak && dv_str_is(name, "__weakref__")) {
        dv_weak *weak = dv_weak_first(vm, object);
        return weak ? dv_retain(dv_object_value(weak)) : DV_NONE;
    }
    return dv_same(name, vm->known.doc) ? DV_NONE : DV_EMPTY;
}

/* Attributes of a value of a built-in type: methods of its class, then what the type computes. */
static dv_value find_of_builtin(dv_vm *vm, dv_value self, dv_value name) {
    dv_class *class_ = dv_class_of(vm, self);
    if (dv_is_exception(self) && !dv_is_empty(dv_as_exception(self)->attributes)) {
        dv_value v = dv_dict_get(vm, dv_as_exception(self)->attributes, name);
        if (!dv_is_empty(v)) return dv_retain(v);
    }
    const dv_global_cell *cell = dv_class_find(vm, class_, name);
    if (cell && !dv_is_getter(cell->value)) return dv_bind(vm, cell->value, self, class_);
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    if (dv_same(name, vm->known.class_)) return dv_retain(dv_object_value(class_));
    const dv_type *type = vm->types[dv_type_of(vm, self)];
    if (type->get_attribute) {
        dv_value v = type->get_attribute(vm, self, name);
        if (!dv_is_empty(v) || !dv_is_empty(vm->error)) return v;
    }
    if (!dv_same(name, vm->known.doc)) return DV_EMPTY;
    return dv_find_attribute(vm, dv_object_value(class_), name);
}

dv_value dv_type_attribute(dv_vm *vm, dv_value v, dv_value name, const dv_global_cell *cell) {
    if (cell)
        return dv_is_shape(cell->value, DV_T_CFUNCTION)
                   ? dv_bind(vm, cell->value, v, dv_class_of(vm, v))
                   : DV_EMPTY;
    if (dv_is_shape(v, DV_T_EXCEPTION) && !dv_is_empty(dv_as_exception(v)->attributes))
        return DV_EMPTY; /* which come first */
    return vm->types[dv_type_of(vm, v)]->get_attribute(vm, v, name);
}

static dv_value find_plainly(dv_vm *vm, dv_value self, dv_value name) {
    if (dv_is_instance(self)) return find_of_instance(vm, self, name);
    if (dv_is_module(self) || dv_is_class(self) || dv_is_weak_proxy(self))
        return vm->types[dv_as_object(self)->shape]->get_attribute(vm, self, name);
    if (dv_is_super(self)) {
        dv_value v = dv_super_type.get_attribute(vm, self, name);
        if (!dv_is_empty(v) || !dv_is_empty(vm->error)) return v;
    }
    return find_of_builtin(vm, self, name);
}

/* After nothing was found, or a descriptor raised AttributeError: the class's __getattr__. */
static dv_value ask_getattr(dv_vm *vm, dv_value self, dv_value name) {
    if (!dv_is_empty(vm->error) && !dv_error_is(vm, DV_E_ATTRIBUTE_ERROR)) return DV_EMPTY;
    if (!dv_has_special(vm, self, vm->known.getattr)) return DV_EMPTY;
    dv_error_clear(vm);
    bool found;
    return dv_special_call(vm, self, vm->known.getattr, &name, 1, &found);
}

dv_value dv_number_attribute(dv_vm *vm, dv_value v, dv_value name) {
    const dv_value find = vm->extensions.number_attributes;
    if (DV_LIKELY(dv_is_empty(find)) || dv_is_instance(v) || !dv_is_plain_number(v))
        return DV_EMPTY;
    const dv_value args[2] = {v, name};
    dv_value found = dv_call(vm, find, args, 2, DV_EMPTY);
    return dv_same(found, DV_NOTIMPLEMENTED) ? DV_EMPTY : found;
}

static bool is_special(dv_value name) {
    const dv_str *s = dv_as_str(name);
    return s->length > 1 && dv_str_at(s, 0) == '_' && dv_str_at(s, 1) == '_';
}

static dv_value find(dv_vm *vm, dv_value self, dv_value name) {
    bool of_dl = dv_has_methods(self), found = false;
    dv_value v = DV_EMPTY;
    if (of_dl && dv_class_of(vm, self)->flags & DV_CLASS_GETATTRIBUTE)
        v = dv_special_call(vm, self, vm->known.getattribute, &name, 1, &found);
    if (!found) v = find_plainly(vm, self, name);
    if (!dv_is_empty(v)) return v;
    if (of_dl) return ask_getattr(vm, self, name);
    return dv_is_empty(vm->error) && !is_special(name) ? dv_number_attribute(vm, self, name) : v;
}

dv_value dv_object_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    dv_value v = find_plainly(vm, self, name);
    if (!dv_is_empty(v) || !dv_is_empty(vm->error)) return v;
    return raise_no_attribute(vm, self, name);
}

/* What most lookups are, in one step: an attribute of the instance itself, where nothing of its
 * class comes first.  EMPTY: look everywhere. */
static inline dv_value find_own(dv_vm *vm, dv_value self, dv_value name) {
    if (!dv_is_instance(self)) return DV_EMPTY;
    dv_object *object = dv_as_object(self);
    dv_shape *shape = dv_shape_at(vm, object->shape);
    if (shape->class_->flags & (DV_CLASS_DATA | DV_CLASS_GETATTRIBUTE)) return DV_EMPTY;
    int32_t slot = dv_shape_find(vm, shape, name);
    return slot >= 0 ? dv_retain(*dv_attribute_slot(object, (uint32_t)slot)) : DV_EMPTY;
}

dv_value dv_value_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    dv_value own = find_own(vm, self, name);
    if (DV_LIKELY(!dv_is_empty(own))) return own;
    dv_value v = find(vm, self, name);
    if (!dv_is_empty(v) || !dv_is_empty(vm->error)) return v;
    return raise_no_attribute(vm, self, name);
}

dv_value dv_value_find_attribute(dv_vm *vm, dv_value self, dv_value name) {
    dv_value own = find_own(vm, self, name);
    if (DV_LIKELY(!dv_is_empty(own))) return own;
    dv_value v = find(vm, self, name);
    if (dv_is_empty(v) && dv_error_is(vm, DV_E_ATTRIBUTE_ERROR)) dv_error_clear(vm);
    return v;
}

/* Methods for a call ----------------------------------------------------------------------------
 */

/* Is `name` of self found in its class and a function there, so that calling it needs no bound
 * method? */
static dv_value find_method(dv_vm *vm, dv_value self, dv_value name) {
    if (dv_is_module(self) || dv_is_class(self) || dv_is_super(self)) return DV_EMPTY;
    dv_class *class_;
    if (dv_is_instance(self)) {
        dv_shape *shape = dv_shape_at(vm, dv_as_object(self)->shape);
        class_ = shape->class_;
        if (class_->flags & DV_CLASS_GETATTRIBUTE || dv_shape_find(vm, shape, name) >= 0)
            return DV_EMPTY;
        if (shape->dictionary && !dv_is_empty(dv_instance_dict_find(vm, self, name)))
            return DV_EMPTY;
        if (!dv_is_empty(vm->error)) return DV_EMPTY;
    } else {
        if (dv_is_exception(self) && !dv_is_empty(dv_as_exception(self)->attributes))
            return DV_EMPTY;
        if (dv_is_function(self) || dv_is_weak_proxy(self)) return DV_EMPTY;
        class_ = dv_class_of(vm, self);
    }
    const dv_global_cell *cell = dv_class_find(vm, class_, name);
    return cell && dv_is_method(cell->value) ? dv_retain(cell->value) : DV_EMPTY;
}

dv_value dv_load_method(dv_vm *vm, dv_value self, dv_value name, bool *is_method) {
    dv_value function = find_method(vm, self, name);
    *is_method = !dv_is_empty(function) && dv_method_fits(vm, function, self);
    if (DV_LIKELY(*is_method)) return function;
    if (dv_is_empty(function))
        return dv_is_empty(vm->error) ? dv_get_attribute(vm, self, name) : DV_EMPTY;
    dv_value bound = dv_method_new(vm, function, self); /* which will say what is wrong */
    dv_release(vm, function);
    return bound;
}

/* Storing ---------------------------------------------------------------------------------------
 */

bool dv_attribute_refuse(dv_vm *vm, dv_value v, dv_value name) {
    if (dv_same(name, vm->known.class_)) {
        dv_raise(vm, DV_E_TYPE_ERROR, DV_CLASS_IS_FIXED);
        return false;
    }
    const dv_global_cell *there = dv_class_find(vm, dv_class_of(vm, v), name);
    if (!dv_is_empty(vm->error)) return false;
    if (there && dv_is_getter(there->value)) {
        dv_getter_refuse(vm, there->value);
        return false;
    }
    dv_raise(vm, DV_E_ATTRIBUTE_ERROR,
             there || dv_same(name, vm->known.doc) ? "'%T' object attribute '%S' is read-only"
                                                   : "'%T' object has no attribute '%S'",
             v, name);
    return false;
}

bool dv_object_set_attribute(dv_vm *vm, dv_value v, dv_value name, dv_value value) {
    dv_class *class_ = dv_class_of(vm, v);
    if (class_->flags & DV_CLASS_DATA) {
        const dv_global_cell *cell = dv_class_find(vm, class_, name);
        if (!dv_is_empty(vm->error)) return false;
        if (cell && dv_is_data_descriptor(vm, cell->value))
            return dv_descriptor_store(vm, cell->value, v, value);
    }
    const dv_type *type = dv_behaviour_of(vm, v);
    return type->set_attribute ? type->set_attribute(vm, v, name, value)
                               : dv_attribute_refuse(vm, v, name);
}

bool dv_value_set_attribute(dv_vm *vm, dv_value v, dv_value name, dv_value value) {
    if (!(dv_class_of(vm, v)->flags & DV_CLASS_SETATTR))
        return dv_object_set_attribute(vm, v, name, value);
    dv_value args[] = {name, value};
    bool found, deletes = dv_is_empty(value);
    dv_value special = deletes ? vm->known.delattr : vm->known.setattr;
    dv_value result = dv_special_call(vm, v, special, args, deletes ? 1 : 2, &found);
    if (!found) return dv_object_set_attribute(vm, v, name, value);
    dv_release(vm, result);
    return !dv_is_empty(result);
}
