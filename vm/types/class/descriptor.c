/* descriptor.c: binding attributes of classes, and the types property, staticmethod, classmethod
 * (descriptor.h). */
#include "types/class/descriptor.h"

#include "core/upcall.h"
#include "types/callable/arguments.h"
#include "types/class/class.h"
#include "types/mapping/dict.h"
#include "types/exception/exception.h"
#include "types/callable/function.h"
#include "types/class/getter.h"
#include "types/class/instance.h"
#include "types/class/instance_dict.h"
#include "types/class/slots.h"
#include "types/sequence/tuple_getter.h"
#include "types/text/str.h"

static dv_property *as_property(dv_value v) { return (dv_property *)dv_as_object(v); }
static dv_value wrapped(dv_value v) { return ((dv_method_wrapper *)dv_as_object(v))->function; }

/* Binding ---------------------------------------------------------------------------------------
 */

static const dv_cfunction *unbound_c(dv_value v) {
    if (!dv_is_shape(v, DV_T_CFUNCTION)) return NULL;
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(v);
    return dv_is_empty(function->self) && dv_is_class(function->owner) ? function : NULL;
}

bool dv_is_method(dv_value v) {
    if (dv_is_function(v) || dv_is_shape(v, DV_T_CACHE)) return true;
    const dv_cfunction *function = unbound_c(v);
    return function && !(function->def->flags &
                         (DV_CFUNCTION_STATIC | DV_CFUNCTION_CLASS | DV_CFUNCTION_GETTER));
}

bool dv_method_fits(dv_vm *vm, dv_value function, dv_value self) {
    const dv_cfunction *method = unbound_c(function);
    if (!method || method->def->flags & (DV_CFUNCTION_STATIC | DV_CFUNCTION_CLASS)) return true;
    const dv_class *owner = dv_as_class(method->owner);
    const dv_class *class_ = dv_class_of(vm, self);
    return class_ == owner || dv_class_is_subclass(class_, owner);
}

static dv_value bind_c(dv_vm *vm, dv_value v, dv_value self, dv_class *class_) {
    const dv_cfunction *function = unbound_c(v);
    if (!function || function->def->flags & DV_CFUNCTION_STATIC) return dv_retain(v);
    if (function->def->flags & DV_CFUNCTION_CLASS) self = dv_object_value(class_);
    if (dv_is_empty(self)) return dv_retain(v);
    if (DV_LIKELY(dv_method_fits(vm, v, self)))
        return dv_is_getter(v) ? dv_getter_read(vm, v, self)
                               : dv_cfunction_new(vm, function->def, self, function->owner);
    return dv_raise(vm, DV_E_TYPE_ERROR,
                    "descriptor '%s' for '%S' objects doesn't apply to a '%T' object",
                    function->def->name, dv_as_class(function->owner)->name, self);
}

void dv_property_set_name(dv_vm *vm, dv_value property, dv_value name) {
    dv_value old = as_property(property)->name;
    as_property(property)->name = dv_retain(name);
    dv_release(vm, old);
}

/* "property 'x' of 'C' object has no setter" */
static dv_value raise_lacks(dv_vm *vm, dv_value v, dv_value self, const char *what) {
    dv_value name = as_property(v)->name, class_ = dv_class_name(dv_class_of(vm, self));
    if (dv_is_empty(name))
        return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "property of %V object has no %s", class_, what);
    return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "property %V of %V object has no %s", name, class_,
                    what);
}

static dv_value property_read(dv_vm *vm, dv_value v, dv_value self) {
    dv_value get = as_property(v)->get;
    if (!dv_is_empty(get)) return dv_call(vm, get, &self, 1, DV_EMPTY);
    return raise_lacks(vm, v, self, "getter");
}

/* What C.name is: the property itself, but for name and value of enumerations. */
static dv_value property_of_class(dv_vm *vm, dv_value v) {
    if (!as_property(v)->of_instances) return dv_retain(v);
    return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "%V", as_property(v)->name);
}

static bool has_flag(dv_vm *vm, dv_value v, uint16_t flag) {
    return dv_is_instance(v) && dv_shape_at(vm, dv_as_object(v)->shape)->class_->flags & flag;
}

static bool is_property(dv_value v) { return dv_has_layout(v, DV_T_PROPERTY); }

static dv_value bind_class_method(dv_vm *vm, dv_value function, dv_class *class_);

/* What the built-in base of an instance's class makes of it; EMPTY as self: of the class. */
static dv_value subclass_get(dv_vm *vm, dv_value v, dv_value self, dv_class *class_) {
    if (dv_has_layout(v, DV_T_STATICMETHOD)) return dv_retain(wrapped(v));
    if (dv_has_layout(v, DV_T_CLASSMETHOD)) return bind_class_method(vm, wrapped(v), class_);
    return dv_is_empty(self) ? property_of_class(vm, v) : property_read(vm, v, self);
}

static dv_value instance_get(dv_vm *vm, dv_value v, dv_value self, dv_class *class_) {
    if (!has_flag(vm, v, DV_CLASS_DESCRIPTOR)) return dv_retain(v);
    dv_value args[] = {dv_is_empty(self) ? DV_NONE : self, dv_object_value(class_)};
    bool found;
    dv_value result = dv_special_call(vm, v, vm->known.get, args, 2, &found);
    if (found) return result;
    bool derived =
        is_property(v) || dv_has_layout(v, DV_T_STATICMETHOD) || dv_has_layout(v, DV_T_CLASSMETHOD);
    return derived ? subclass_get(vm, v, self, class_) : dv_retain(v);
}

/* A classmethod of another descriptor binds that to the class. */
static dv_value bind_class_method(dv_vm *vm, dv_value function, dv_class *class_) {
    dv_value owner = dv_object_value(class_);
    if (!dv_is_object(function)) return dv_method_new(vm, function, owner);
    uint32_t shape = dv_as_object(function)->shape;
    bool descriptor = shape == DV_T_PROPERTY || shape == DV_T_CLASSMETHOD ||
                      shape == DV_T_STATICMETHOD || has_flag(vm, function, DV_CLASS_DESCRIPTOR);
    return descriptor ? dv_bind(vm, function, owner, class_) : dv_method_new(vm, function, owner);
}

dv_value dv_bind(dv_vm *vm, dv_value v, dv_value self, dv_class *class_) {
    if (!dv_is_object(v)) return v;
    switch (dv_as_object(v)->shape) {
    case DV_T_FUNCTION:
    case DV_T_CACHE: return dv_is_empty(self) ? dv_retain(v) : dv_method_new(vm, v, self);
    case DV_T_CFUNCTION: return bind_c(vm, v, self, class_);
    case DV_T_STATICMETHOD: return dv_retain(wrapped(v));
    default: break;
    }
    dv_value result;
    dv_retain(v);
    switch (dv_as_object(v)->shape) {
    case DV_T_PROPERTY:
        result = dv_is_empty(self) ? property_of_class(vm, v) : property_read(vm, v, self);
        break;
    case DV_T_MEMBER:
        result = dv_is_empty(self) ? dv_retain(v) : dv_member_read(vm, v, self);
        break;
    case DV_T_TUPLE_GETTER:
        result = dv_is_empty(self) ? dv_retain(v) : dv_tuple_getter_read(vm, v, self);
        break;
    case DV_T_CLASSMETHOD: result = bind_class_method(vm, wrapped(v), class_); break;
    default: result = instance_get(vm, v, self, class_);
    }
    dv_release(vm, v);
    return result;
}

bool dv_is_data_descriptor(dv_vm *vm, dv_value v) {
    if (dv_is_shape(v, DV_T_PROPERTY) || dv_is_tuple_getter(v)) return true;
    if (dv_is_shape(v, DV_T_MEMBER)) return dv_is_hidden_member(v);
    /* A class keeps its flags when it loses the methods. */
    return has_flag(vm, v, DV_CLASS_SETTER) &&
           (is_property(v) || dv_has_special(vm, v, vm->known.set) ||
            dv_has_special(vm, v, vm->known.delete_));
}

static bool property_store(dv_vm *vm, dv_value v, dv_value self, dv_value value) {
    bool deletes = dv_is_empty(value);
    dv_value function = deletes ? as_property(v)->delete_ : as_property(v)->set;
    dv_value args[] = {self, value};
    if (dv_is_empty(function)) {
        raise_lacks(vm, v, self, deletes ? "deleter" : "setter");
        return false;
    }
    dv_value result = dv_call(vm, function, args, deletes ? 1 : 2, DV_EMPTY);
    dv_release(vm, result);
    return !dv_is_empty(result);
}

bool dv_descriptor_store(dv_vm *vm, dv_value v, dv_value self, dv_value value) {
    bool found, deletes = dv_is_empty(value), done;
    dv_retain(v);
    if (dv_is_shape(v, DV_T_PROPERTY)) {
        done = property_store(vm, v, self, value);
    } else if (dv_is_tuple_getter(v)) {
        done = dv_tuple_getter_store(vm, value);
    } else if (dv_is_shape(v, DV_T_MEMBER)) {
        done = dv_member_store(vm, v, self, value);
    } else {
        dv_value args[] = {self, value}, special = deletes ? vm->known.delete_ : vm->known.set;
        dv_value result = dv_special_call(vm, v, special, args, deletes ? 1 : 2, &found);
        done = !dv_is_empty(result);
        if (!found && is_property(v))
            done = property_store(vm, v, self, value);
        else if (!found)
            dv_raise(vm, DV_E_ATTRIBUTE_ERROR, deletes ? "__delete__" : "__set__");
        dv_release(vm, result);
    }
    dv_release(vm, v);
    return done;
}

/* property --------------------------------------------------------------------------------------
 */

/* Without a text of its own a property has its getter's. */
static dv_value property_make(dv_vm *vm, dv_value get, dv_value set, dv_value delete_, dv_value doc,
                              dv_value name) {
    dv_property *property = dv_container_new(vm, sizeof *property, DV_T_PROPERTY);
    if (!property) return DV_EMPTY;
    property->get = dv_is_none(get) ? DV_EMPTY : dv_retain(get);
    property->set = dv_is_none(set) ? DV_EMPTY : dv_retain(set);
    property->delete_ = dv_is_none(delete_) ? DV_EMPTY : dv_retain(delete_);
    property->doc = dv_is_none(doc) ? DV_EMPTY : dv_retain(doc);
    property->name = dv_retain(name);
    property->of_instances = property->doc_of_getter = false;
    return dv_object_value(property);
}

static bool sort_arguments(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords,
                           dv_value *out) {
    static const char *const names[] = {"fget", "fset", "fdel", "doc"};
    static const dv_parameters parameters = {"property", names, 4, 4, 0};
    return dv_arguments_sort(vm, &parameters, args, count, keywords, out);
}

static dv_value property_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                   dv_value keywords) {
    dv_value out[4];
    if (!sort_arguments(vm, args, count, keywords, out)) return DV_EMPTY;
    return property_make(vm, out[0], out[1], out[2], out[3], DV_EMPTY);
}

/* An instance of a subclass, for property.__init__ to fill. */
static dv_value property_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    (void)exact;
    dv_property *property = dv_subclass_alloc(vm, class_, sizeof *property);
    if (!property) return DV_EMPTY;
    property->get = property->set = property->delete_ = property->doc = property->name = DV_EMPTY;
    property->of_instances = property->doc_of_getter = false;
    return dv_object_value(property);
}

static void replace(dv_vm *vm, dv_value *place, dv_value value) {
    dv_value old = *place;
    *place = dv_is_none(value) ? DV_EMPTY : dv_retain(value);
    dv_release(vm, old);
}

static bool is_given(dv_value v) { return !dv_is_empty(v) && !dv_is_none(v); }

/* The text of a getter becomes an attribute of the instance of a subclass, whose class has a
 * __doc__ of its own, which would hide it. */
static bool take_doc(dv_vm *vm, dv_value self, dv_value getter) {
    dv_value doc = dv_find_attribute(vm, getter, vm->known.doc);
    if (dv_is_empty(doc)) return dv_is_empty(vm->error);
    as_property(self)->doc_of_getter = true;
    bool done = dv_set_attribute(vm, self, vm->known.doc, doc);
    dv_release(vm, doc);
    return done;
}

static bool property_initialise(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    dv_value out[4];
    if (!sort_arguments(vm, args, count, keywords, out)) return false;
    dv_property *property = as_property(self);
    replace(vm, &property->get, out[0]);
    replace(vm, &property->set, out[1]);
    replace(vm, &property->delete_, out[2]);
    replace(vm, &property->doc, out[3]);
    replace(vm, &property->name, DV_NONE);
    property->doc_of_getter = false;
    bool wants_doc = !is_given(out[3]) && is_given(out[0]);
    return dv_is_shape(self, DV_T_PROPERTY) || !wants_doc || take_doc(vm, self, out[0]);
}

static void property_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const dv_property *p = (const dv_property *)object;
    visit(vm, p->get, context);
    visit(vm, p->set, context);
    visit(vm, p->delete_, context);
    visit(vm, p->doc, context);
    visit(vm, p->name, context);
}

static void property_clear(dv_vm *vm, dv_object *object) {
    dv_property *p = (dv_property *)object;
    dv_value doc = p->doc;
    p->doc = DV_EMPTY;
    dv_release(vm, doc);
}

static void property_release(dv_vm *vm, dv_object *object) {
    dv_property *property = (dv_property *)object;
    dv_release(vm, property->get);
    dv_release(vm, property->set);
    dv_release(vm, property->delete_);
    dv_release(vm, property->doc);
    dv_release(vm, property->name);
    dv_base_free(vm, object, sizeof *property);
}

static dv_value or_none(dv_value v) { return dv_is_empty(v) ? DV_NONE : dv_retain(v); }

/* Has the function a true __isabstractmethod__?  -1: raised. */
static int is_abstract(dv_vm *vm, dv_value function, dv_value name) {
    dv_value mark = dv_is_empty(function) ? DV_EMPTY : dv_find_attribute(vm, function, name);
    if (dv_is_empty(mark)) return dv_is_empty(vm->error) ? 0 : -1;
    int abstract = dv_truth(vm, mark);
    dv_release(vm, mark);
    return abstract;
}

static dv_value property_is_abstract(dv_vm *vm, const dv_property *property, dv_value name) {
    int abstract = is_abstract(vm, property->get, name);
    if (abstract == 0) abstract = is_abstract(vm, property->set, name);
    if (abstract == 0) abstract = is_abstract(vm, property->delete_, name);
    return abstract < 0 ? DV_EMPTY : dv_bool(abstract);
}

static dv_value property_attribute(dv_vm *vm, dv_value self, dv_value name) {
    const dv_property *property = as_property(self);
    if (dv_str_is(name, "__isabstractmethod__")) return property_is_abstract(vm, property, name);
    if (dv_str_is(name, "fget")) return or_none(property->get);
    if (dv_str_is(name, "fset")) return or_none(property->set);
    if (dv_str_is(name, "fdel")) return or_none(property->delete_);
    if (!dv_same(name, vm->known.doc)) return DV_EMPTY;
    if (!dv_is_empty(property->doc) || dv_is_empty(property->get)) return or_none(property->doc);
    return dv_find_attribute(vm, property->get, name);
}

static bool property_set_attribute(dv_vm *vm, dv_value self, dv_value name, dv_value value) {
    bool own = dv_str_is(name, "fget") || dv_str_is(name, "fset") || dv_str_is(name, "fdel") ||
               dv_str_is(name, "__isabstractmethod__");
    if (dv_is_instance(self) && !own) return dv_instance_set_attribute(vm, self, name, value);
    if (!dv_same(name, vm->known.doc)) {
        dv_value there = property_attribute(vm, self, name);
        if (!dv_is_empty(vm->error)) return false;
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR,
                 dv_is_empty(there) ? "'property' object has no attribute '%S'"
                                    : "readonly attribute",
                 name);
        dv_release(vm, there);
        return false;
    }
    dv_value old = as_property(self)->doc;
    as_property(self)->doc = or_none(value);
    dv_release(vm, old);
    return true;
}

/* The same property with another function (None: without one). */
static dv_value property_copy(dv_vm *vm, dv_value old, dv_value get, dv_value set,
                              dv_value delete_) {
    const dv_property *p = as_property(old);
    if (dv_is_shape(old, DV_T_PROPERTY))
        return property_make(vm, get, set, delete_, p->doc, p->name);
    bool has_doc = !(p->doc_of_getter && !dv_is_none(get)) && !dv_is_empty(p->doc);
    dv_value args[] = {get, set, delete_, has_doc ? p->doc : DV_NONE};
    for (int i = 0; i < 3; i++)
        if (dv_is_empty(args[i])) args[i] = DV_NONE;
    dv_value class_ = dv_object_value(dv_class_of(vm, old));
    dv_value copy = dv_call(vm, class_, args, 4, DV_EMPTY);
    if (dv_has_layout(copy, DV_T_PROPERTY) && !dv_is_empty(p->name))
        dv_property_set_name(vm, copy, p->name);
    return copy;
}

static dv_value property_getter(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_property *p = as_property(args[0]);
    return property_copy(vm, args[0], args[1], p->set, p->delete_);
}

static dv_value property_setter(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_property *p = as_property(args[0]);
    return property_copy(vm, args[0], p->get, args[1], p->delete_);
}

static dv_value property_deleter(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_property *p = as_property(args[0]);
    return property_copy(vm, args[0], p->get, p->set, args[1]);
}

dv_value dv_descriptor_get(dv_vm *vm, const dv_value *args, uint32_t count) {
    bool has_owner = count > 2 && !dv_is_none(args[2]);
    if (has_owner && !dv_is_class(args[2]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "__get__(self, obj, type): type must be a class");
    if (dv_is_none(args[1]) && !has_owner)
        return dv_raise(vm, DV_E_TYPE_ERROR, "__get__(None, None) is invalid");
    dv_class *class_ = has_owner ? dv_as_class(args[2]) : dv_class_of(vm, args[1]);
    if (dv_is_instance(args[0]))
        return subclass_get(vm, args[0], dv_is_none(args[1]) ? DV_EMPTY : args[1], class_);
    return dv_bind(vm, args[0], dv_is_none(args[1]) ? DV_EMPTY : args[1], class_);
}

static dv_value property_dunder_set(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_value value = count > 2 ? args[2] : DV_EMPTY;
    return property_store(vm, args[0], args[1], value) ? DV_NONE : DV_EMPTY;
}

static dv_value property_take_name(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (count != 3)
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "__set_name__() takes 2 positional arguments but %d were given",
                        (int)count - 1);
    dv_property_set_name(vm, args[0], args[2]);
    return DV_NONE;
}

static const dv_cfunction_def property_methods[] = {
    {.name = "__set_name__", .entry = property_take_name, .min = 1, .max = UINT32_MAX},
    {.name = "getter", .entry = property_getter, .min = 2, .max = 2},
    {.name = "setter", .entry = property_setter, .min = 2, .max = 2},
    {.name = "deleter", .entry = property_deleter, .min = 2, .max = 2},
    {.name = "__get__", .entry = dv_descriptor_get, .min = 2, .max = 3},
    {.name = "__set__", .entry = property_dunder_set, .min = 3, .max = 3},
    {.name = "__delete__", .entry = property_dunder_set, .min = 2, .max = 2},
    {.name = NULL}};

const dv_type dv_property_type = {
    .name = "property",
    .id = DV_T_PROPERTY,
    .traverse = property_traverse,
    .clear = property_clear,
    .release = property_release,
    .get_attribute = property_attribute,
    .set_attribute = property_set_attribute,
    .construct = property_construct,
    .adopt = property_adopt,
    .initialise = property_initialise,
    .methods = property_methods,
};

/* staticmethod and classmethod ------------------------------------------------------------------
 */

dv_value dv_method_wrapper_new(dv_vm *vm, dv_type_id type, dv_value function) {
    dv_method_wrapper *wrapper = dv_container_new(vm, sizeof *wrapper, type);
    if (!wrapper) return DV_EMPTY;
    wrapper->function = dv_retain(function);
    wrapper->attributes = DV_EMPTY;
    return dv_object_value(wrapper);
}

static dv_value wrapper_construct(dv_vm *vm, dv_type_id type, const dv_value *args, uint32_t count,
                                  dv_value keywords) {
    const char *name = vm->types[type]->name;
    if (!dv_is_empty(keywords))
        return dv_raise(vm, DV_E_TYPE_ERROR, "%s() takes no keyword arguments", name);
    if (!dv_arguments_count(vm, name, count, 1, 1)) return DV_EMPTY;
    return dv_method_wrapper_new(vm, type, args[0]);
}

static dv_value wrapper_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    dv_method_wrapper *wrapper = dv_subclass_alloc(vm, class_, sizeof *wrapper);
    if (!wrapper) return DV_EMPTY;
    wrapper->function = dv_retain(wrapped(exact));
    wrapper->attributes = DV_EMPTY;
    return dv_object_value(wrapper);
}

static dv_value static_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                 dv_value keywords) {
    return wrapper_construct(vm, DV_T_STATICMETHOD, args, count, keywords);
}

static dv_value class_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    return wrapper_construct(vm, DV_T_CLASSMETHOD, args, count, keywords);
}

static void wrapper_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const dv_method_wrapper *wrapper = (const dv_method_wrapper *)object;
    visit(vm, wrapper->function, context);
    visit(vm, wrapper->attributes, context);
}

static void wrapper_release(dv_vm *vm, dv_object *object) {
    dv_method_wrapper *wrapper = (dv_method_wrapper *)object;
    dv_release(vm, wrapper->function);
    dv_release(vm, wrapper->attributes);
    dv_base_free(vm, object, sizeof *wrapper);
}

static dv_value wrapper_repr(dv_vm *vm, dv_value self) {
    return dv_str_printf(vm, "<%T(%V)>", self, wrapped(self));
}

static dv_value *attributes_of(dv_value v) {
    return &((dv_method_wrapper *)dv_as_object(v))->attributes;
}

/* Copies the function's attribute of the name, if it has one, into the dict. */
static bool copy_attribute(dv_vm *vm, dv_value function, dv_value name, dv_value dict) {
    dv_value v = dv_is_empty(name) ? DV_EMPTY : dv_find_attribute(vm, function, name);
    if (dv_is_empty(v)) return dv_is_empty(vm->error);
    bool done = dv_dict_set(vm, dict, name, v);
    dv_release(vm, v);
    return done;
}

/* Gives the wrapper a dict, with what CPython copies from the function. */
static bool own_dict(dv_vm *vm, dv_value self) {
    if (!dv_is_empty(*attributes_of(self))) return true;
    const dv_known *known = &vm->known;
    const dv_value names[] = {known->module, known->name, known->qualname, known->doc,
                              known->annotations};
    dv_value dict = dv_dict_new(vm);
    bool done = !dv_is_empty(dict);
    for (size_t i = 0; done && i < sizeof names / sizeof *names; i++)
        done = copy_attribute(vm, wrapped(self), names[i], dict);
    if (done)
        *attributes_of(self) = dict;
    else
        dv_release(vm, dict);
    return done;
}

/* Its function, and what names that has. */
static dv_value wrapper_attribute(dv_vm *vm, dv_value self, dv_value name) {
    if (dv_str_is(name, "__func__") || dv_str_is(name, "__wrapped__"))
        return dv_retain(wrapped(self));
    if (dv_str_is(name, "__isabstractmethod__")) {
        int abstract = is_abstract(vm, wrapped(self), name);
        return abstract < 0 ? DV_EMPTY : dv_bool(abstract);
    }
    if (dv_same(name, vm->known.dict))
        return own_dict(vm, self) ? dv_retain(*attributes_of(self)) : DV_EMPTY;
    if (!dv_is_empty(*attributes_of(self)))
        return dv_retain(dv_dict_get(vm, *attributes_of(self), name));
    bool copied = dv_same(name, vm->known.annotations) || dv_same(name, vm->known.name) ||
                  dv_same(name, vm->known.qualname) || dv_same(name, vm->known.module) ||
                  dv_same(name, vm->known.doc);
    return copied ? dv_find_attribute(vm, wrapped(self), name) : DV_EMPTY;
}

static bool wrapper_set_attribute(dv_vm *vm, dv_value self, dv_value name, dv_value value) {
    if (dv_str_is(name, "__isabstractmethod__")) {
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "attribute '%S' of '%T' objects is not writable", name,
                 self);
        return false;
    }
    if (dv_str_is(name, "__func__") || dv_str_is(name, "__wrapped__")) {
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "readonly attribute");
        return false;
    }
    if (dv_is_instance(self)) return dv_instance_set_attribute(vm, self, name, value);
    if (!own_dict(vm, self)) return false;
    if (!dv_is_empty(value)) return dv_dict_set(vm, *attributes_of(self), name, value);
    int done = dv_dict_delete(vm, *attributes_of(self), name);
    if (done == 0)
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "'%T' object has no attribute '%S'", self, name);
    return done == 1;
}

static dv_value static_call(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                            dv_value keywords) {
    return dv_call(vm, wrapped(self), args, count, keywords);
}

static const dv_cfunction_def wrapper_methods[] = {
    {.name = "__get__", .entry = dv_descriptor_get, .min = 2, .max = 3}, {.name = NULL}};

const dv_type dv_staticmethod_type = {
    .name = "staticmethod",
    .id = DV_T_STATICMETHOD,
    .traverse = wrapper_traverse,
    .release = wrapper_release,
    .repr = wrapper_repr,
    .get_attribute = wrapper_attribute,
    .set_attribute = wrapper_set_attribute,
    .call = static_call,
    .construct = static_construct,
    .adopt = wrapper_adopt,
    .methods = wrapper_methods,
};

const dv_type dv_classmethod_type = {
    .name = "classmethod",
    .id = DV_T_CLASSMETHOD,
    .traverse = wrapper_traverse,
    .release = wrapper_release,
    .repr = wrapper_repr,
    .get_attribute = wrapper_attribute,
    .set_attribute = wrapper_set_attribute,
    .construct = class_construct,
    .adopt = wrapper_adopt,
    .methods = wrapper_methods,
};
