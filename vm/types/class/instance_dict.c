/* instance_dict.c: attributes of instances themselves (instance_dict.h). */
#include "types/class/instance_dict.h"

#include "core/upcall.h"
#include "types/class/class.h"
#include "types/mapping/dict.h"
#include "types/exception/exception.h"
#include "types/class/slots.h"

static dv_shape *shape_of(dv_vm *vm, dv_value self) {
    return dv_shape_at(vm, dv_as_object(self)->shape);
}

static bool raise_no_attribute(dv_vm *vm, dv_value self, dv_value name) {
    dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "'%T' object has no attribute '%S'", self, name);
    return false;
}

/* The dict -------------------------------------------------------------------------------------
 */

static dv_value *dict_place(dv_vm *vm, dv_value self) {
    return dv_attribute_slot(dv_as_object(self), shape_of(vm, self)->dictionary - 1);
}

dv_value dv_instance_dict_find(dv_vm *vm, dv_value self, dv_value name) {
    return dv_dict_get(vm, *dict_place(vm, self), name);
}

/* The shape of the attributes among `names` that stay where they are, and a dict; the others go
 * into `dict`. */
static dv_shape *divide(dv_vm *vm, dv_object *object, dv_shape *shape, const dv_value *names,
                        dv_value dict) {
    dv_class *class_ = shape->class_;
    dv_shape *next = class_->root;
    for (uint32_t i = 0; i < shape->count && next; i++) {
        if (dv_class_has_slot(class_, names[i]))
            next = dv_shape_add(vm, next, names[i]);
        else if (!dv_dict_set(vm, dict, names[i], *dv_attribute_slot(object, i)))
            next = NULL;
    }
    if (next) next = dv_shape_add(vm, next, vm->known.dict);
    return next && dv_instance_room(vm, object, next->count - 1) ? next : NULL;
}

/* Moves the attributes: the dict holds those that leave their slots. */
static void move(dv_vm *vm, dv_object *object, dv_shape *shape, dv_shape *next,
                 const dv_value *names, dv_value dict) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < shape->count; i++) {
        dv_value v = *dv_attribute_slot(object, i);
        if (kept + 1 < next->count && dv_class_has_slot(shape->class_, names[i]))
            *dv_attribute_slot(object, kept++) = v;
        else
            dv_release(vm, v);
    }
    *dv_attribute_slot(object, kept) = dv_retain(dict);
    object->shape = next->number;
}

static bool materialise(dv_vm *vm, dv_object *object) {
    dv_shape *shape = dv_shape_at(vm, object->shape);
    size_t size = (shape->count + 1) * sizeof(dv_value);
    dv_value *names = dv_heap_alloc(&vm->heap, size), dict = DV_EMPTY;
    if (!names) return dv_raise_memory(vm), false;
    dv_shape_names(shape, names);
    dict = dv_dict_new(vm);
    dv_shape *next = dv_is_empty(dict) ? NULL : divide(vm, object, shape, names, dict);
    if (next) move(vm, object, shape, next, names, dict);
    dv_release(vm, dict);
    dv_heap_free(&vm->heap, names, size);
    return next != NULL;
}

dv_value dv_instance_dict(dv_vm *vm, dv_value self) {
    dv_shape *shape = shape_of(vm, self);
    if (shape->class_->flags & DV_CLASS_NO_DICT) return DV_EMPTY;
    if (!shape->dictionary && !materialise(vm, dv_as_object(self))) return DV_EMPTY;
    return *dict_place(vm, self);
}

/* `del self.__dict__` leaves an empty one. */
static bool set_dict(dv_vm *vm, dv_value self, dv_value value) {
    if (dv_is_empty(dv_instance_dict(vm, self)))
        return dv_is_empty(vm->error) && raise_no_attribute(vm, self, vm->known.dict);
    if (dv_is_empty(value) && dv_is_exception(self)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "cannot delete __dict__");
        return false;
    }
    if (!dv_is_empty(value) && !dv_is_dict(value)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "__dict__ must be set to a dictionary, not a '%T'", value);
        return false;
    }
    dv_value next = dv_is_empty(value) ? dv_dict_new(vm) : dv_retain(value);
    if (dv_is_empty(next)) return false;
    dv_value *place = dict_place(vm, self), old = *place;
    *place = next;
    dv_release(vm, old);
    return true;
}

/* __class__ ------------------------------------------------------------------------------------
 */

/* The nearest class of the line of bases that says how instances are laid out. */
static const dv_class *layout_class(const dv_class *class_) {
    while (!class_->descriptor && !(class_->flags & DV_CLASS_SOLID)) class_ = class_->base;
    return class_;
}

static bool same_layout(dv_vm *vm, const dv_class *a, const dv_class *b) {
    if (a->type != b->type || (a->flags ^ b->flags) & DV_CLASS_NO_DICT) return false;
    a = layout_class(a);
    b = layout_class(b);
    if (a == b) return true;
    return !a->descriptor && !b->descriptor && layout_class(a->base) == layout_class(b->base) &&
           dv_class_same_slots(vm, a, b);
}

/* The shape of the other class with the same attributes. */
static dv_shape *shape_in(dv_vm *vm, dv_class *class_, const dv_shape *shape) {
    size_t size = (shape->count + 1) * sizeof(dv_value);
    dv_value *names = dv_heap_alloc(&vm->heap, size);
    if (!names) {
        dv_raise_memory(vm);
        return NULL;
    }
    dv_shape_names(shape, names);
    const dv_class *to = layout_class(class_), *from = layout_class(shape->class_);
    dv_shape *next = dv_shape_root(vm, class_);
    for (uint32_t i = 0; i < shape->count && next; i++)
        next = dv_shape_add(vm, next, to == from ? names[i] : dv_slot_key(to, from, names[i]));
    dv_heap_free(&vm->heap, names, size);
    return next;
}

/* Not all instances of the class have `least_slots` within themselves any more, as caches assume.
 */
static void take_in(dv_vm *vm, dv_value self, dv_class *to) {
    if (to->type != DV_T_OBJECT) return;
    const uint16_t slots = ((const dv_instance *)dv_as_object(self))->inline_slots;
    if (slots >= to->least_slots) return;
    to->least_slots = slots;
    if (vm->hooks.quicken.forget_classes) vm->hooks.quicken.forget_classes(vm);
}

static bool change_class(dv_vm *vm, dv_value self, dv_class *to) {
    dv_shape *shape = shape_of(vm, self), *next = shape_in(vm, to, shape);
    dv_class *from = shape->class_;
    if (!next) return false;
    take_in(vm, self, to);
    dv_as_object(self)->shape = next->number;
    to->header.references++;
    if (dv_is_exception(self)) { /* which know their class themselves, too */
        dv_as_exception(self)->class_ = to;
        to->header.references++;
        dv_release_object(vm, &from->header);
    }
    dv_release_object(vm, &from->header);
    return true;
}

static bool set_class(dv_vm *vm, dv_value self, dv_value value) {
    if (dv_is_empty(value)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "can't delete __class__ attribute");
        return false;
    }
    if (!dv_is_class(value)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "__class__ must be set to a class, not '%T' object", value);
        return false;
    }
    dv_class *to = dv_as_class(value), *from = shape_of(vm, self)->class_;
    if (to == from) return true;
    if (to->descriptor) {
        dv_raise(vm, DV_E_TYPE_ERROR, DV_CLASS_IS_FIXED);
        return false;
    }
    if (same_layout(vm, from, to)) return change_class(vm, self, to);
    dv_raise(vm, DV_E_TYPE_ERROR, "__class__ assignment: '%S' object layout differs from '%S'",
             to->name, from->name);
    return false;
}

/* All attributes -------------------------------------------------------------------------------
 */

static bool set_in_dict(dv_vm *vm, dv_value self, dv_value name, dv_value value) {
    dv_value dict = dv_retain(*dict_place(vm, self));
    bool done;
    if (dv_is_empty(value)) {
        int deleted = dv_dict_delete(vm, dict, name);
        done = deleted > 0 || (deleted == 0 && raise_no_attribute(vm, self, name));
    } else {
        done = dv_dict_set(vm, dict, name, value);
    }
    dv_release(vm, dict);
    return done;
}

/* Would the instance need a shape that its class should not get (core/shape.h, invariant 5)? */
static bool is_one_too_many(dv_vm *vm, dv_shape *shape, dv_value name, bool deletes) {
    if (DV_LIKELY(!(shape->class_->flags & DV_CLASS_CROWDED))) return false;
    bool has = dv_shape_find(vm, shape, name) >= 0;
    bool changes = deletes ? has : !has && !dv_shape_child(shape, name);
    return changes && !dv_class_has_slot(shape->class_, name);
}

static bool delete_slot(dv_vm *vm, dv_value self, dv_value name) {
    bool found;
    if (!dv_instance_delete(vm, dv_as_object(self), name, &found)) return false;
    if (found) return true;
    if (!dv_class_has_slot(shape_of(vm, self)->class_, name))
        return raise_no_attribute(vm, self, name);
    dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "%S", name);
    return false;
}

/* A name that the class's __slots__ do not have. */
static bool refuse(dv_vm *vm, dv_value self, dv_value name) {
    bool there = dv_class_find(vm, shape_of(vm, self)->class_, name) != NULL;
    if (!dv_is_empty(vm->error)) return false;
    if (!there) return raise_no_attribute(vm, self, name);
    dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "'%T' object attribute '%S' is read-only", self, name);
    return false;
}

bool dv_instance_set_attribute(dv_vm *vm, dv_value self, dv_value name, dv_value value) {
    if (dv_same(name, vm->known.dict)) return set_dict(vm, self, value);
    if (dv_same(name, vm->known.class_)) return set_class(vm, self, value);
    dv_shape *shape = shape_of(vm, self);
    bool closed = shape->class_->flags & DV_CLASS_NO_DICT;
    if (!closed && !shape->dictionary && is_one_too_many(vm, shape, name, dv_is_empty(value))) {
        if (!materialise(vm, dv_as_object(self))) return false;
        shape = shape_of(vm, self);
    }
    if ((closed || shape->dictionary) && dv_shape_find(vm, shape, name) < 0 &&
        !dv_class_has_slot(shape->class_, name))
        return closed ? refuse(vm, self, name) : set_in_dict(vm, self, name, value);
    if (dv_is_empty(value)) return delete_slot(vm, self, name);
    return dv_instance_store(vm, dv_as_object(self), name, value);
}
