/* choose_attribute.c: choosing derivatives of attributes and of methods to be called (choose.h). */
#include "quicken/choose.h"

#include <stddef.h>

#include "dv_ops.h"
#include "quicken/polymorphic.h"
#include "run/execute.h"
#include "run/operate.h"
#include "types/class/class.h"
#include "types/class/descriptor.h"
#include "types/class/getter.h"
#include "types/class/slots.h"
#include "types/class/super.h"
#include "types/exception/exception_field.h"
#include "types/file/module.h"
#include "types/mapping/key.h"
#include "types/sequence/tuple_getter.h"
#include "types/text/str.h"

/* The class of an instance if it leaves access to the attribute `name` to the VM; `flag` is what a
 * class has that does not.  NULL: it does not, or there is a data descriptor. */
static dv_class *open_class(dv_vm *vm, dv_value object, dv_value name, uint16_t flag) {
    if (!dv_is_instance(object)) return NULL;
    dv_class *class_ = dv_shape_at(vm, dv_as_object(object)->shape)->class_;
    if (class_->flags & flag) return NULL;
    if (!(class_->flags & DV_CLASS_DATA)) return class_;
    const dv_global_cell *cell = dv_class_find(vm, class_, name);
    if (!dv_is_empty(vm->error)) {
        dv_error_clear(vm);
        return NULL;
    }
    return cell && dv_is_data_descriptor(vm, cell->value) ? NULL : class_;
}

/* Likewise, but NULL if the class derives from a built-in type. */
static dv_class *plain_class(dv_vm *vm, dv_value object, dv_value name, uint16_t flag) {
    return dv_is_plain_instance(object) ? open_class(vm, object, name, flag) : NULL;
}

/* Where instances of the object's shape have an attribute; -1: this cannot be remembered.  The site
 * that uses it is told when the class changes (core/mro.h). */
static int32_t slot_of(dv_vm *vm, dv_value object, dv_value name, uint16_t flag) {
    dv_class *class_ = plain_class(vm, object, name, flag);
    if (!class_) return -1;
    class_->flags |= DV_CLASS_CACHED;
    return dv_shape_slot(vm->shapes[dv_as_object(object)->shape], name);
}

/* Where the slot is in all instances of the shape; 0: some have it outside the object. */
static uint32_t offset_within(const dv_vm *vm, uint32_t shape, uint32_t slot) {
    if (slot >= vm->shapes[shape]->class_->least_slots) return 0;
    return (uint32_t)(offsetof(dv_instance, slots) + slot * sizeof(dv_value));
}

/* Fills in the cache of an access to a slot that all instances of the shape have in the object
 * itself (its offset), or else some have elsewhere (its number); the result is the derivative. */
static uint32_t remember_slot(dv_vm *vm, dv_cell *cache, dv_value object, int32_t slot,
                              uint32_t near, uint32_t far) {
    uint32_t shape = dv_as_object(object)->shape;
    const uint32_t offset = offset_within(vm, shape, (uint32_t)slot);
    cache[0].s.a = (int32_t)shape;
    cache[0].s.b = offset ? (int32_t)offset : slot;
    return offset ? near : far;
}

/* Is what the class of an object that is no instance has looked up before all else, whatever object
 * of this shape it is?  As dv_load_method does. */
static bool methods_come_first(const dv_vm *vm, dv_value object) {
    uint32_t shape = dv_as_object(object)->shape;
    /* Objects of one shape that show themselves as of several classes have several methods. */
    if (vm->types[shape]->face) return false;
    return shape != DV_T_FUNCTION && shape != DV_T_MODULE && shape != DV_T_CLASS &&
           shape != DV_T_SUPER && shape != DV_T_EXCEPTION && !dv_is_weak_proxy(object);
}

/* The class of an instance, also one of a built-in type that computes no attributes, whose methods
 * come before all but what the instance itself has; NULL: it is another one. */
static dv_class *class_with_methods(dv_vm *vm, dv_value object, dv_value name) {
    if (dv_is_plain_instance(object)) return plain_class(vm, object, name, DV_CLASS_GETATTRIBUTE);
    const dv_type *layout = vm->types[dv_as_object(object)->shape >> DV_LAYOUT_SHIFT];
    dv_class *class_ = dv_shape_at(vm, dv_as_object(object)->shape)->class_;
    bool plain = !layout->get_attribute && !layout->face;
    return plain && !(class_->flags & DV_CLASS_GETATTRIBUTE) ? class_ : NULL;
}

/* The cell of a method in the object's class or one of its bases. */
static dv_global_cell *method_cell(dv_vm *vm, dv_value object, dv_value name) {
    dv_global_cell *cell = NULL;
    if (dv_is_instance(object)) { /* an attribute of the instance itself would come first */
        dv_class *class_ = class_with_methods(vm, object, name);
        if (!class_) return NULL;
        const dv_shape *shape = dv_shape_at(vm, dv_as_object(object)->shape);
        if (shape->dictionary || dv_shape_slot(shape, name) >= 0) return NULL;
        cell = dv_class_find(vm, class_, name);
        class_->flags |= DV_CLASS_CACHED;
    } else if (dv_is_object(object) && methods_come_first(vm, object)) {
        cell = dv_class_find(vm, dv_class_of(vm, object), name);
    }
    if (!dv_is_empty(vm->error)) dv_error_clear(vm);
    return cell;
}

/* Values that are an attribute of the instance as they are when they are found in its class; their
 * kind for dv_poly_same_kind. */
static bool is_plain_value(dv_value v, uint32_t *kind) {
    *kind = dv_is_object(v) ? dv_as_object(v)->shape : 0;
    switch (*kind) {
    case 0: return !dv_is_empty(v);
    case DV_T_INT:
    case DV_T_STR:
    case DV_T_BYTES:
    case DV_T_TUPLE:
    case DV_T_LIST:
    case DV_T_DICT:
    case DV_T_SET:
    case DV_T_FROZENSET: return true;
    default: return false;
    }
}

/* The cell of a plain value in an instance's class; NULL: there is none. */
static dv_global_cell *class_value_cell(dv_vm *vm, dv_value object, dv_value name, uint32_t *kind) {
    dv_class *class_ = plain_class(vm, object, name, DV_CLASS_GETATTRIBUTE);
    if (!class_ || vm->shapes[dv_as_object(object)->shape]->dictionary) return NULL;
    dv_global_cell *cell = dv_class_find(vm, class_, name);
    if (!dv_is_empty(vm->error)) dv_error_clear(vm);
    return cell && is_plain_value(cell->value, kind) ? cell : NULL;
}

static bool choose_instance_attribute(dv_vm *vm, dv_cell *ip, dv_cell *cache, dv_value object) {
    dv_value name = ip[2].v;
    int32_t slot = slot_of(vm, object, name, DV_CLASS_GETATTRIBUTE);
    uint32_t kind = 0;
    if (slot >= 0 ? vm->stress.no_maps : vm->stress.no_versions) return false;
    dv_global_cell *cell = slot < 0 ? class_value_cell(vm, object, name, &kind) : NULL;
    if (slot < 0 && !cell) return false;
    if (slot >= 0)
        ip[1].site.seen |= dv_seen(*dv_attribute_slot(dv_as_object(object), (uint32_t)slot));
    uint32_t shape = dv_as_object(object)->shape;
    bool several;
    dv_poly_entry *entry = dv_poly_entry_for(vm, ip, cache, shape, &several);
    if (entry) {
        *entry = (dv_poly_entry){shape, kind, (uint32_t)slot,
                                 slot < 0 ? 0 : offset_within(vm, shape, (uint32_t)slot), cell};
        dv_poly_become(vm, ip, DV_OP_LOAD_ATTR_POLY);
    } else if (!several && slot >= 0) {
        dv_site_become(
            vm, ip,
            remember_slot(vm, cache, object, slot, DV_OP_LOAD_ATTR_SLOT, DV_OP_LOAD_ATTR_FAR));
    } else if (!several) {
        cache[0].s.a = (int32_t)shape;
        cache[0].s.b = (int32_t)kind;
        cache[1].p = cell;
        dv_site_become(vm, ip, DV_OP_LOAD_ATTR_CLASS);
    }
    return true;
}

/* Likewise for an instance of a class derived from a built-in type, which keeps its attributes in
 * front of the object (core/shape.h).  Sites with several shapes remember plain instances alone. */
static bool choose_outside(dv_vm *vm, dv_cell *ip, dv_value object, uint16_t flag, uint32_t op) {
    bool several = ip[1].site.reason == DV_REASON_SHAPES || ip[1].site.reason == DV_REASON_ENTRIES;
    if (several || vm->stress.no_maps || !dv_is_subclass_instance(object)) return false;
    uint32_t number = dv_as_object(object)->shape;
    const dv_shape *shape = dv_shape_at(vm, number);
    int32_t slot = dv_shape_slot(shape, ip[2].v);
    if (slot < 0 || !open_class(vm, object, ip[2].v, flag)) return false;
    shape->class_->flags |= DV_CLASS_CACHED;
    dv_cell *cache = dv_site_cache(vm, ip);
    cache[0].s.a = (int32_t)number;
    cache[0].s.b = slot;
    if (op == DV_OP_LOAD_ATTR_OUTSIDE)
        ip[1].site.seen |= dv_seen(*dv_attribute_slot(dv_as_object(object), (uint32_t)slot));
    dv_site_become(vm, ip, op);
    return true;
}

/* Does the built-in type that the instance's class derives from decide how this attribute is set?
 */
static bool sets_attribute(dv_vm *vm, dv_value object, dv_value name) {
    if (!dv_is_subclass_instance(object)) return false;
    const dv_type *layout = vm->types[dv_as_object(object)->shape >> DV_LAYOUT_SHIFT];
    if (layout->id == DV_T_EXCEPTION) return dv_exception_keeps(vm, dv_as_exception(object), name);
    return layout->set_attribute || layout->get_attribute;
}

/* __class__ of an instance whose class says nothing of it. */
static bool choose_its_class(dv_vm *vm, dv_cell *ip, dv_cell *cache, dv_value object) {
    dv_value name = ip[2].v;
    if (!dv_same(name, vm->known.class_)) return false;
    dv_class *class_ = plain_class(vm, object, name, DV_CLASS_GETATTRIBUTE);
    if (!class_ || vm->shapes[dv_as_object(object)->shape]->dictionary) return false;
    bool found = dv_class_find(vm, class_, name) != NULL;
    if (!dv_is_empty(vm->error)) dv_error_clear(vm);
    if (found || slot_of(vm, object, name, DV_CLASS_GETATTRIBUTE) >= 0) return false;
    cache[0].s.a = (int32_t)dv_as_object(object)->shape;
    dv_site_become(vm, ip, DV_OP_LOAD_ATTR_ITS_CLASS);
    return true;
}

/* The cell of the instance's class goes into the cache, or an entry of it. */
static void remember_cell(dv_vm *vm, dv_cell *ip, dv_cell *cache, dv_value object, uint32_t op,
                          dv_global_cell *cell) {
    const uint32_t shape = dv_as_object(object)->shape;
    bool several;
    dv_poly_entry *entry = dv_poly_entry_for(vm, ip, cache, shape, &several);
    if (entry) {
        *entry = (dv_poly_entry){shape, dv_as_object(cell->value)->shape, 0, 0, cell};
        dv_poly_become(vm, ip, DV_OP_LOAD_ATTR_POLY);
    } else if (!several) {
        cache[0].s.a = (int32_t)shape;
        cache[1].p = cell;
        dv_site_become(vm, ip, op);
    }
}

/* A dl function of the instance's class, to be bound; its cell goes into the cache. */
static bool choose_bound(dv_vm *vm, dv_cell *ip, dv_cell *cache, dv_value object) {
    dv_value name = ip[2].v;
    dv_class *class_ = plain_class(vm, object, name, DV_CLASS_GETATTRIBUTE);
    if (!class_ || vm->shapes[dv_as_object(object)->shape]->dictionary) return false;
    dv_global_cell *cell = dv_class_find(vm, class_, name);
    if (!dv_is_empty(vm->error)) dv_error_clear(vm);
    if (!cell || !dv_is_function(cell->value)) return false;
    if (slot_of(vm, object, name, DV_CLASS_GETATTRIBUTE) >= 0) return false;
    remember_cell(vm, ip, cache, object, DV_OP_LOAD_ATTR_BOUND, cell);
    return true;
}

/* The cell of a property of the instance's class whose getter is a dl function.  (A class that has
 * a
 * __getattr__ wants to be asked when the getter raises AttributeError.) */
static bool choose_property(dv_vm *vm, dv_cell *ip, dv_cell *cache, dv_value object) {
    if (!dv_is_plain_instance(object)) return false;
    dv_class *class_ = dv_shape_at(vm, dv_as_object(object)->shape)->class_;
    if (class_->flags & DV_CLASS_GETATTRIBUTE) return false;
    dv_global_cell *cell = dv_class_find(vm, class_, ip[2].v);
    bool asked = dv_class_find(vm, class_, vm->known.getattr);
    if (!dv_is_empty(vm->error)) dv_error_clear(vm);
    if (asked || !cell || !dv_is_shape(cell->value, DV_T_PROPERTY)) return false;
    dv_value getter = ((const dv_property *)dv_as_object(cell->value))->get;
    if (!dv_is_function(getter) || dv_function_thread(dv_as_function(getter))->exact_arguments != 1)
        return false;
    class_->flags |= DV_CLASS_CACHED;
    remember_cell(vm, ip, cache, object, DV_OP_LOAD_ATTR_PROPERTY, cell);
    return true;
}

dv_global_cell *dv_class_cell(dv_vm *vm, dv_value object, dv_value name) {
    if (!dv_is_shape(object, DV_T_CLASS) || dv_class_computes(vm, name)) return NULL;
    dv_class *class_ = (dv_class *)dv_as_object(object);
    dv_class *meta = class_->metaclass;
    if (!class_->root || (meta && meta->flags & DV_CLASS_GETATTRIBUTE)) return NULL;
    const bool is_hidden = meta && meta->flags & DV_CLASS_DATA && dv_class_find(vm, meta, name);
    dv_global_cell *cell = is_hidden ? NULL : dv_class_find(vm, class_, name);
    if (!dv_is_empty(vm->error)) dv_error_clear(vm);
    if (!cell || dv_is_empty(cell->value)) return NULL;
    class_->flags |= DV_CLASS_CACHED;
    return cell;
}

bool dv_class_gives_as_it_is(dv_vm *vm, dv_value v, uint32_t *kind) {
    if (is_plain_value(v, kind) || dv_is_function(v)) return true;
    if (!dv_is_plain_instance(v)) return false;
    dv_class *class_ = dv_shape_at(vm, *kind)->class_;
    class_->flags |= DV_CLASS_CACHED; /* it may become a descriptor's */
    return !(class_->flags & (DV_CLASS_DESCRIPTOR | DV_CLASS_GETATTRIBUTE));
}

static bool choose_class_attribute(dv_vm *vm, dv_cell *ip, dv_cell *cache, dv_value object) {
    dv_global_cell *cell = dv_class_cell(vm, object, ip[2].v);
    uint32_t kind;
    if (!cell || !dv_class_gives_as_it_is(vm, cell->value, &kind)) return false;
    cache[0].s.a = (int32_t)((const dv_class *)dv_as_object(object))->root->number;
    cache[0].s.b = (int32_t)kind;
    cache[1].p = cell;
    dv_site_become(vm, ip, DV_OP_LOAD_ATTR_OF_CLASS);
    return true;
}

/* A field of a named tuple. */
static bool choose_field(dv_vm *vm, dv_cell *ip, dv_cell *cache, dv_value object) {
    if (!dv_is_subclass_instance(object) || !dv_is_tuple(object)) return false;
    dv_class *class_ = dv_shape_at(vm, dv_as_object(object)->shape)->class_;
    if (class_->flags & DV_CLASS_GETATTRIBUTE) return false;
    dv_global_cell *cell = dv_class_find(vm, class_, ip[2].v);
    if (!dv_is_empty(vm->error)) dv_error_clear(vm);
    if (!cell || !dv_is_tuple_getter(cell->value)) return false;
    class_->flags |= DV_CLASS_CACHED;
    cache[0].s.a = (int32_t)dv_as_object(object)->shape;
    cache[1].p = cell;
    dv_site_become(vm, ip, DV_OP_LOAD_ATTR_FIELD);
    return true;
}

/* Attributes of built-in types that have a derivative each. */
static const struct part {
    const char *name;
    uint32_t type, op;
} PARTS[] = {
    {"real", DV_T_COMPLEX, DV_OP_LOAD_ATTR_REAL},
    {"imag", DV_T_COMPLEX, DV_OP_LOAD_ATTR_IMAG},
};

static bool choose_part(dv_vm *vm, dv_cell *ip, dv_value object) {
    for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++) {
        const struct part *part = &PARTS[i];
        if (!dv_is_shape(object, part->type) || !dv_str_is(ip[2].v, part->name)) continue;
        dv_site_become(vm, ip, part->op);
        return true;
    }
    return false;
}

/* __getattr__ of the instance's class, which has nothing under the name, or its __getattribute__,
 * which is then asked alone; NULL: neither. */
static dv_global_cell *computing_cell(dv_vm *vm, dv_value object, dv_value name) {
    const dv_shape *shape = dv_shape_at(vm, dv_as_object(object)->shape);
    dv_class *class_ = shape->class_;
    dv_global_cell *getattr = dv_class_find(vm, class_, vm->known.getattr);
    if (class_->flags & DV_CLASS_GETATTRIBUTE)
        return getattr ? NULL : dv_class_find(vm, class_, vm->known.getattribute);
    const bool there =
        shape->dictionary || dv_shape_slot(shape, name) >= 0 || dv_class_find(vm, class_, name);
    return there ? NULL : getattr;
}

/* Names that objects have anyway, if nobody says otherwise. */
static bool is_given(const dv_vm *vm, dv_value name) {
    return dv_same(name, vm->known.class_) || dv_same(name, vm->known.dict) ||
           dv_same(name, vm->known.doc);
}

static bool choose_computed(dv_vm *vm, dv_cell *ip, dv_cell *cache, dv_value object) {
    if (!dv_is_plain_instance(object) || is_given(vm, ip[2].v)) return false;
    dv_global_cell *cell = computing_cell(vm, object, ip[2].v);
    if (!dv_is_empty(vm->error)) dv_error_clear(vm);
    if (!cell || !dv_is_function(cell->value)) return false;
    dv_shape_at(vm, dv_as_object(object)->shape)->class_->flags |= DV_CLASS_CACHED;
    cache[0].s.a = (int32_t)dv_as_object(object)->shape;
    cache[1].p = cell;
    dv_site_become(vm, ip, DV_OP_LOAD_ATTR_COMPUTED);
    return true;
}

/* Are the attributes of the instance in a dict, where nothing of its class comes first?  That is
 * in a slot, whose number goes into the cache. */
static bool choose_in_dict(dv_vm *vm, dv_cell *ip, dv_cell *cache, dv_value object, uint16_t flag,
                           uint32_t op) {
    dv_value name = ip[2].v;
    if (vm->stress.no_maps || !dv_is_plain_instance(object) || is_given(vm, name)) return false;
    const dv_shape *shape = dv_shape_at(vm, dv_as_object(object)->shape);
    if (!shape->dictionary || dv_shape_slot(shape, name) >= 0) return false;
    dv_class *class_ = plain_class(vm, object, name, flag);
    if (!class_ || dv_class_has_slot(class_, name)) return false;
    const dv_value dict = *dv_attribute_slot(dv_as_object(object), shape->dictionary - 1);
    if (!dv_is_shape(dict, DV_T_DICT)) return false;
    if (op == DV_OP_LOAD_ATTR_DICT && dv_dict_plain_entry(vm, dv_as_dict(dict), name) < 0)
        return false;
    class_->flags |= DV_CLASS_CACHED;
    cache[0].s.a = (int32_t)dv_as_object(object)->shape;
    cache[0].s.b = (int32_t)shape->dictionary - 1;
    dv_site_become(vm, ip, op);
    return true;
}

/* What has neither several classes, nor attributes of its own that come before those of its
 * class. */
static bool asks_its_type(dv_vm *vm, dv_value object, dv_value name) {
    const dv_type *type = vm->types[dv_type_of(vm, object)];
    if (type->id >= DV_T_EXTENSION || type->face || dv_is_plain_instance(object) ||
        dv_is_class(object) || dv_is_module(object) || dv_is_weak_proxy(object))
        return false;
    if (dv_is_shape(object, DV_T_EXCEPTION) && !dv_is_empty(dv_as_exception(object)->attributes))
        return false;
    if (!dv_is_instance(object)) return true;
    const dv_shape *shape = dv_shape_at(vm, dv_as_object(object)->shape);
    return !(shape->class_->flags & DV_CLASS_GETATTRIBUTE) && !shape->dictionary &&
           dv_shape_slot(shape, name) < 0 && !dv_class_find(vm, shape->class_, vm->known.getattr);
}

/* What the built-in type of the object gives. */
static bool choose_of_type(dv_vm *vm, dv_cell *ip, dv_cell *cache, dv_value object) {
    dv_value name = ip[2].v;
    if (is_given(vm, name) || !asks_its_type(vm, object, name)) return false;
    dv_class *class_ = dv_class_of(vm, object);
    dv_global_cell *cell = dv_is_super(object) ? NULL : dv_class_find(vm, class_, name);
    if (!dv_is_empty(vm->error)) dv_error_clear(vm);
    if (cell && dv_is_getter(cell->value)) cell = NULL;
    if (cell ? !dv_is_shape(cell->value, DV_T_CFUNCTION)
             : !vm->types[dv_type_of(vm, object)]->get_attribute)
        return false;
    if (dv_is_instance(object)) class_->flags |= DV_CLASS_CACHED;
    cache[0].s.a = (int32_t)(dv_is_object(object) ? dv_as_object(object)->shape
                                                  : (uint32_t)dv_type_of(vm, object));
    cache[1].p = cell;
    dv_site_become(vm, ip, DV_OP_LOAD_ATTR_TYPE);
    return true;
}

/* What the object's class says of the attribute, or the object says that is a class. */
static bool choose_from_class(dv_vm *vm, dv_cell *ip, dv_cell *cache, dv_value object) {
    return !vm->stress.no_versions &&
           (choose_its_class(vm, ip, cache, object) || choose_field(vm, ip, cache, object) ||
            choose_property(vm, ip, cache, object) || choose_bound(vm, ip, cache, object) ||
            choose_class_attribute(vm, ip, cache, object));
}

void dv_choose_attribute(dv_vm *vm, dv_cell *ip, dv_value *sp) {
    dv_value object = sp[-1], name = ip[2].v;
    dv_cell *cache = dv_site_cache(vm, ip);
    if (choose_instance_attribute(vm, ip, cache, object)) return;
    if (choose_outside(vm, ip, object, DV_CLASS_GETATTRIBUTE, DV_OP_LOAD_ATTR_OUTSIDE)) return;
    if (choose_part(vm, ip, object)) return;
    if (choose_from_class(vm, ip, cache, object)) return;
    if (choose_in_dict(vm, ip, cache, object, DV_CLASS_GETATTRIBUTE, DV_OP_LOAD_ATTR_DICT)) return;
    if (!vm->stress.no_versions && choose_computed(vm, ip, cache, object)) return;
    if (choose_of_type(vm, ip, cache, object)) return;
    if (dv_same(name, vm->known.name) && dv_is_class(object) && !dv_as_class(object)->metaclass) {
        dv_site_become(vm, ip, DV_OP_LOAD_ATTR_CLASS_NAME);
        return;
    }
    dv_global_cell *cell =
        dv_is_module(object) ? dv_namespace_find(&dv_as_module(object)->names, name) : NULL;
    bool computed = cell && dv_is_none(cell->value) && dv_same(name, vm->known.doc);
    if (!cell || dv_is_empty(cell->value) || computed) {
        dv_site_refuse(vm, ip, DV_REASON_TYPES);
        return;
    }
    cache[0].i = (int64_t)dv_as_module(object)->serial;
    cache[1].p = cell;
    dv_site_become(vm, ip, DV_OP_LOAD_ATTR_MODULE);
}

/* The shape after a store that adds an attribute, for which instances of the shape have room; NULL:
 * they have not, or no instance has gone that way yet. */
static const dv_shape *shape_with(dv_vm *vm, dv_value object, dv_value name) {
    dv_shape *shape = vm->shapes[dv_as_object(object)->shape];
    if (shape->count >= shape->class_->least_slots) return NULL;
    return dv_shape_child(shape, name);
}

/* A property of the instance's class whose setter is a dl function; its cell goes into the cache.
 */
static bool choose_setter(dv_vm *vm, dv_cell *ip, dv_cell *cache, dv_value object) {
    if (vm->stress.no_versions || !dv_is_plain_instance(object)) return false;
    dv_class *class_ = vm->shapes[dv_as_object(object)->shape]->class_;
    if ((class_->flags & (DV_CLASS_DATA | DV_CLASS_SETATTR)) != DV_CLASS_DATA) return false;
    dv_global_cell *cell = dv_class_find(vm, class_, ip[2].v);
    if (!dv_is_empty(vm->error)) dv_error_clear(vm);
    if (!cell || !dv_is_shape(cell->value, DV_T_PROPERTY)) return false;
    dv_value setter = ((const dv_property *)dv_as_object(cell->value))->set;
    if (!dv_is_function(setter) || dv_function_thread(dv_as_function(setter))->exact_arguments != 2)
        return false;
    class_->flags |= DV_CLASS_CACHED;
    const uint32_t shape = dv_as_object(object)->shape;
    bool several;
    dv_poly_entry *entry = dv_poly_entry_for(vm, ip, cache, shape, &several);
    if (entry) {
        *entry = (dv_poly_entry){shape, DV_T_PROPERTY, 0, 0, cell};
        dv_poly_become(vm, ip, DV_OP_STORE_ATTR_POLY);
    } else if (!several) {
        cache[0].s.a = (int32_t)shape;
        cache[1].p = cell;
        dv_site_become(vm, ip, DV_OP_STORE_ATTR_PROPERTY);
    }
    return true;
}

static bool is_special(dv_value name) {
    const dv_str *s = dv_as_str(name);
    return s->length > 1 && dv_str_at(s, 0) == '_' && dv_str_at(s, 1) == '_';
}

/* A plain value of a class or a module, to be replaced by another one. */
static bool choose_replaced(dv_vm *vm, dv_cell *ip, dv_cell *cache, dv_value object,
                            dv_value value) {
    const bool of_class = dv_is_shape(object, DV_T_CLASS);
    if (of_class && vm->stress.no_versions) return false;
    if (is_special(ip[2].v) || !(of_class || dv_is_shape(object, DV_T_MODULE))) return false;
    dv_class *class_ = of_class ? (dv_class *)dv_as_object(object) : NULL;
    if (of_class ? class_->descriptor || class_->metaclass || !class_->root ||
                       !(class_->flags & DV_CLASS_READY)
                 : dv_as_module(object)->builtins)
        return false;
    dv_global_cell *cell =
        dv_namespace_find(of_class ? &class_->attributes : &dv_as_module(object)->names, ip[2].v);
    if (!cell || dv_is_empty(cell->value) || !dv_store_is_plain(cell->value) ||
        !dv_store_is_plain(value))
        return false;
    if (of_class) {
        class_->flags |= DV_CLASS_CACHED;
        cache[0].s.a = (int32_t)class_->root->number;
    } else {
        cache[0].i = (int64_t)dv_as_module(object)->serial;
    }
    cache[1].p = cell;
    dv_site_become(vm, ip, of_class ? DV_OP_STORE_ATTR_OF_CLASS : DV_OP_STORE_ATTR_MODULE);
    return true;
}

/* The __setattr__ of dl that the instance's class has. */
static bool choose_setattr(dv_vm *vm, dv_cell *ip, dv_cell *cache, dv_value object) {
    if (vm->stress.no_versions || !dv_is_plain_instance(object)) return false;
    dv_class *class_ = dv_shape_at(vm, dv_as_object(object)->shape)->class_;
    if (!(class_->flags & DV_CLASS_SETATTR)) return false;
    dv_global_cell *cell = dv_class_find(vm, class_, vm->known.setattr);
    if (!dv_is_empty(vm->error)) dv_error_clear(vm);
    if (!cell || !dv_is_function(cell->value)) return false;
    class_->flags |= DV_CLASS_CACHED;
    cache[0].s.a = (int32_t)dv_as_object(object)->shape;
    cache[1].p = cell;
    dv_site_become(vm, ip, DV_OP_STORE_ATTR_COMPUTED);
    return true;
}

/* An attribute more that has no room in the object itself, or that stands in front of it. */
static bool choose_grow(dv_vm *vm, dv_cell *ip, dv_cell *cache, dv_value object) {
    dv_value name = ip[2].v;
    const uint16_t special = DV_CLASS_NO_DICT | DV_CLASS_CROWDED;
    dv_class *class_ = open_class(vm, object, name, DV_CLASS_SETATTR | special);
    if (!class_ || dv_same(name, vm->known.class_) || sets_attribute(vm, object, name))
        return false;
    const dv_shape *shape = dv_shape_at(vm, dv_as_object(object)->shape);
    const dv_shape *next = shape->dictionary ? NULL : dv_shape_child(shape, name);
    if (!next || dv_shape_slot(shape, name) >= 0) return false;
    class_->flags |= DV_CLASS_CACHED;
    cache[0].s.a = (int32_t)shape->number;
    cache[0].s.b = (int32_t)next->number;
    dv_site_become(vm, ip, DV_OP_STORE_ATTR_GROW);
    return true;
}

void dv_choose_store_attribute(dv_vm *vm, dv_cell *ip, dv_value *sp) {
    dv_value object = sp[-1], name = ip[2].v;
    dv_cell *cache = dv_site_cache(vm, ip);
    if (dv_same(name, vm->known.dict)) { /* takes dicts alone, and changes the shape otherwise */
        dv_site_refuse(vm, ip, DV_REASON_TYPES);
        return;
    }
    if (!sets_attribute(vm, object, name) &&
        choose_outside(vm, ip, object, DV_CLASS_SETATTR, DV_OP_STORE_ATTR_OUTSIDE))
        return;
    if (choose_setter(vm, ip, cache, object)) return;
    if (choose_setattr(vm, ip, cache, object)) return;
    if (choose_replaced(vm, ip, cache, object, sp[-2])) return;
    if (choose_in_dict(vm, ip, cache, object, DV_CLASS_SETATTR, DV_OP_STORE_ATTR_DICT)) return;
    int32_t slot = slot_of(vm, object, name, DV_CLASS_SETATTR);
    const dv_shape *next = NULL;
    if (vm->stress.no_maps || (slot < 0 && (!plain_class(vm, object, name, DV_CLASS_SETATTR) ||
                                            !(next = shape_with(vm, object, name))))) {
        if (!vm->stress.no_maps && choose_grow(vm, ip, cache, object)) return;
        const bool of_class = dv_is_shape(object, DV_T_CLASS);
        dv_site_refuse(vm, ip, of_class ? DV_REASON_CLASS : DV_REASON_TYPES);
        return;
    }
    uint32_t shape = dv_as_object(object)->shape;
    bool several;
    dv_poly_entry *entry = dv_poly_entry_for(vm, ip, cache, shape, &several);
    if (entry) {
        const uint32_t at = next ? next->count - 1 : (uint32_t)slot;
        *entry = (dv_poly_entry){shape, next ? next->number : shape, at,
                                 offset_within(vm, shape, at), NULL};
        dv_poly_become(vm, ip, DV_OP_STORE_ATTR_POLY);
    } else if (!several && next) {
        cache[0].s.a = (int32_t)shape;
        cache[0].s.b = (int32_t)next->number;
        cache[1].i = (int64_t)(offsetof(dv_instance, slots) + (next->count - 1) * sizeof(dv_value));
        dv_site_become(vm, ip, DV_OP_STORE_ATTR_ADD);
    } else if (!several) {
        dv_site_become(
            vm, ip,
            remember_slot(vm, cache, object, slot, DV_OP_STORE_ATTR_SLOT, DV_OP_STORE_ATTR_FAR));
    }
}

/* dl functions in dl classes, and the ordinary methods of built-in types in these and, by the cell
 * that nobody can write to, in classes derived from them. */
static bool is_method_of_instances(dv_vm *vm, dv_value object, const dv_global_cell *cell) {
    if (dv_is_function(cell->value)) return dv_is_instance(object);
    if (!dv_is_shape(cell->value, DV_T_CFUNCTION)) return false;
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(cell->value);
    bool plain = !(function->def->flags & ~(uint32_t)DV_CFUNCTION_NAMED);
    if (!plain || !dv_is_instance(object)) return plain;
    if (!dv_is_subclass_instance(object) || !dv_is_class(function->owner)) return false;
    const dv_class *owner = dv_as_class(function->owner);
    return owner->descriptor && owner->type == dv_type_of(vm, object) &&
           dv_namespace_find(&owner->attributes, cell->name) == cell;
}

/* A staticmethod or classmethod of a dl function. */
/* LOAD_METHOD of a static or class method, of an instance or of the class. */
static bool choose_unbound(dv_vm *vm, dv_cell *ip, dv_value object, dv_global_cell *cell) {
    bool of_class = dv_is_class(object), several = false;
    if (!cell || dv_is_empty(dv_method_unbound(cell->value)) ||
        !(of_class || dv_is_instance(object)))
        return false;
    dv_cell *cache = dv_site_cache(vm, ip);
    dv_poly_entry *entry =
        of_class ? NULL : dv_poly_entry_for(vm, ip, cache, dv_as_object(object)->shape, &several);
    if (entry) {
        *entry = (dv_poly_entry){dv_as_object(object)->shape, 0, 0, 0, cell};
        dv_poly_become(vm, ip, DV_OP_LOAD_METHOD_POLY);
    }
    if (several) return true;
    cache[0].s.a =
        (int32_t)(of_class ? dv_as_class(object)->root->number : dv_as_object(object)->shape);
    cache[0].s.b = (int32_t)dv_as_object(cell->value)->shape;
    cache[1].p = cell;
    dv_site_become(vm, ip,
                   of_class ? DV_OP_LOAD_METHOD_UNBOUND_OF_CLASS : DV_OP_LOAD_METHOD_UNBOUND);
    return true;
}

/* Does the site keep entries for several shapes, or is it about to? */
static bool keeps_several(const dv_cell *ip) {
    uint8_t reason = ip[1].site.reason;
    return reason == DV_REASON_SHAPES || reason == DV_REASON_ENTRIES;
}

/* What an instance has itself under the name is called as it is. */
static bool choose_method_slot(dv_vm *vm, dv_cell *ip, dv_cell *cache, dv_value object) {
    if (vm->stress.no_maps || !dv_is_plain_instance(object) || keeps_several(ip)) return false;
    int32_t slot = slot_of(vm, object, ip[2].v, DV_CLASS_GETATTRIBUTE);
    if (slot < 0) return false;
    uint32_t form = remember_slot(vm, cache, object, slot, DV_OP_LOAD_METHOD_SLOT, DV_OP_COUNT);
    if (form == DV_OP_COUNT) return false;
    dv_site_become(vm, ip, form);
    return true;
}

/* A method that a built-in class has for its instances (dict.get), as it is found in the class. */
static bool choose_method_of_type(dv_vm *vm, dv_cell *ip, dv_cell *cache, dv_value object) {
    if (!dv_is_shape(object, DV_T_CLASS) || dv_class_computes(vm, ip[2].v)) return false;
    dv_class *class_ = dv_as_class(object);
    if (!class_->descriptor || class_->metaclass || class_->type == DV_T_CLASS ||
        class_->type >= DV_T_EXTENSION)
        return false;
    dv_global_cell *cell = dv_class_find(vm, class_, ip[2].v);
    if (!dv_is_empty(vm->error)) dv_error_clear(vm);
    if (!cell || !dv_is_shape(cell->value, DV_T_CFUNCTION)) return false;
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(cell->value);
    if (function->def->flags & ~(uint32_t)DV_CFUNCTION_WRAPPER || !dv_is_empty(function->self) ||
        !dv_is_class(function->owner))
        return false;
    cache[0].v = object;
    cache[1].p = cell;
    dv_site_become(vm, ip, DV_OP_LOAD_METHOD_OF_TYPE);
    return true;
}

/* A method of a value that is no object. */
static bool choose_method_of_value(dv_vm *vm, dv_cell *ip, dv_cell *cache, dv_value object) {
    if (dv_is_object(object)) return false;
    dv_global_cell *cell = dv_class_find(vm, dv_class_of(vm, object), ip[2].v);
    if (!dv_is_empty(vm->error)) dv_error_clear(vm);
    if (!cell || !is_method_of_instances(vm, object, cell)) return false;
    cache[0].s.a = (int32_t)dv_type_of(vm, object);
    cache[0].s.b = (int32_t)DV_T_CFUNCTION;
    cache[1].p = cell;
    dv_site_become(vm, ip, DV_OP_LOAD_METHOD_VALUE);
    return true;
}

void dv_choose_method(dv_vm *vm, dv_cell *ip, dv_value *sp) {
    dv_value object = sp[-1], name = ip[2].v;
    dv_cell *cache = dv_site_cache(vm, ip);
    if (dv_is_module(object)) {
        dv_global_cell *cell = dv_namespace_find(&dv_as_module(object)->names, name);
        if (cell && !dv_is_empty(cell->value)) {
            cache[0].i = (int64_t)dv_as_module(object)->serial;
            cache[1].p = cell;
            dv_site_become(vm, ip, DV_OP_LOAD_METHOD_MODULE);
            return;
        }
    }
    if (choose_method_slot(vm, ip, cache, object)) return;
    if (vm->stress.no_versions && (dv_is_instance(object) || dv_is_class(object))) {
        dv_site_refuse(vm, ip, DV_REASON_TYPES);
        return;
    }
    dv_global_cell *cell = dv_class_cell(vm, object, name);
    if (cell && dv_is_function(cell->value)) {
        cache[0].s.a = (int32_t)((const dv_class *)dv_as_object(object))->root->number;
        cache[1].p = cell;
        dv_site_become(vm, ip, DV_OP_LOAD_METHOD_OF_CLASS);
        return;
    }
    if (choose_unbound(vm, ip, object, cell)) return;
    if (choose_method_of_value(vm, ip, cache, object)) return;
    if (choose_method_of_type(vm, ip, cache, object)) return;
    cell = method_cell(vm, object, name);
    if (choose_unbound(vm, ip, object, cell)) return;
    if (!cell || !dv_is_object(cell->value)) {
        dv_site_refuse(vm, ip, DV_REASON_TYPES);
        return;
    }
    uint32_t kind = dv_as_object(cell->value)->shape;
    if (!is_method_of_instances(vm, object, cell)) {
        dv_site_refuse(vm, ip, DV_REASON_CALLEE);
        return;
    }
    uint32_t shape = dv_as_object(object)->shape;
    bool several;
    dv_poly_entry *entry = dv_poly_entry_for(vm, ip, cache, shape, &several);
    if (entry) {
        *entry = (dv_poly_entry){shape, kind, 0, 0, cell};
        dv_poly_become(vm, ip, DV_OP_LOAD_METHOD_POLY);
    } else if (!several) {
        cache[0].s.a = (int32_t)shape;
        cache[0].s.b = (int32_t)kind;
        cache[1].p = cell;
        dv_site_become(vm, ip, DV_OP_LOAD_METHOD_SHAPE);
    }
}
