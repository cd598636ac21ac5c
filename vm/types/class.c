/* class.c: class objects as values, and looking attributes up in instances (class.h). */
#include "types/class.h"

#include "core/upcall.h"
#include "types/dict.h"
#include "types/exception.h"
#include "types/function.h"
#include "types/instance.h"
#include "types/module.h"
#include "types/str.h"
#include "types/subclass.h"
#include "types/tuple.h"

dv_class *dv_class_of(dv_vm *vm, dv_value v) {
    if (dv_is_instance(v)) return dv_shape_at(vm, dv_as_object(v)->shape)->class_;
    if (dv_is_exception(v)) return dv_as_exception(v)->class_;
    return vm->classes[dv_type_of(vm, v)];
}

/* Making classes --------------------------------------------------------------------------------
 */

static bool add_method(dv_vm *vm, dv_class *class_, const dv_cfunction_def *def) {
    dv_value method = dv_cfunction_new(vm, def, DV_EMPTY, dv_object_value(class_));
    if (!dv_is_empty(method) && dv_namespace_set(vm, &class_->attributes, def->name, method))
        return true;
    class_->filled = false;
    return false;
}

bool dv_class_fill(dv_vm *vm, dv_class *class_) {
    class_->filled = true;
    const dv_type *type = class_->descriptor;
    if (type->initialise && !add_method(vm, class_, &dv_subclass_init)) return false;
    if (type->adopt && !add_method(vm, class_, &dv_subclass_make)) return false;
    if (!type->methods || (class_->base && class_->base->descriptor == type)) return true;
    for (const dv_cfunction_def *def = type->methods; def->name; def++)
        if (!add_method(vm, class_, def)) return false;
    return true;
}

/* Names in a class body that would change what the machine takes for granted about instances. */
static const char *const refused_names[] = {
    "__new__", "__setattr__", "__delattr__", "__getattribute__",  "__slots__",
    "__get__", "__set__",     "__delete__",  "__init_subclass__", NULL};

static bool check_names(dv_vm *vm, dv_value namespace) {
    for (const char *const *name = refused_names; *name; name++) {
        dv_value key = dv_str_intern(vm, *name, strlen(*name));
        if (dv_is_empty(key)) return false;
        bool there = !dv_is_empty(dv_dict_get(vm, namespace, key));
        dv_release(vm, key);
        if (there) {
            dv_raise(vm, DV_E_TYPE_ERROR, "'%s' in a class is not part of dl yet", *name);
            return false;
        }
    }
    return true;
}

static bool check_base(dv_vm *vm, dv_value base) {
    if (!dv_is_class(base)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "a base of type '%T' is not part of dl yet", base);
        return false;
    }
    const dv_class *class_ = dv_as_class(base);
    if (!class_->descriptor || class_->type == DV_T_OBJECT || class_->type == DV_T_EXCEPTION)
        return true;
    if (class_->descriptor->adopt) return true;
    const char *refusal = class_->type == DV_T_CLASS ? "subclassing '%s' is not part of dl yet"
                                                     : "type '%s' is not an acceptable base type";
    dv_raise(vm, DV_E_TYPE_ERROR, refusal, class_->descriptor->name);
    return false;
}

static bool copy_attributes(dv_vm *vm, dv_class *class_, dv_value namespace) {
    int64_t position = 0;
    dv_value key, value;
    bool has_eq = false, has_hash = false, has_doc = false;
    while (dv_dict_walk(namespace, &position, &key, &value)) {
        dv_value name = dv_str_intern_value(vm, key);
        if (dv_is_empty(name)) return false;
        has_eq |= dv_same(name, vm->known.eq);
        has_doc |= dv_same(name, vm->known.doc);
        has_hash |= dv_same(name, vm->known.hash);
        bool stored = dv_class_store(vm, class_, name, dv_retain(value));
        dv_release(vm, name);
        if (!stored) return false;
    }
    /* Docstrings are not inherited. */
    if (!has_doc && !dv_class_store(vm, class_, vm->known.doc, DV_NONE)) return false;
    /* A class that says what is equal but not how to hash is not hashable. */
    return !has_eq || has_hash || dv_class_store(vm, class_, vm->known.hash, DV_NONE);
}

dv_value dv_class_build(dv_vm *vm, dv_value name, dv_value base, dv_value namespace) {
    dv_class *parent = vm->classes[DV_T_OBJECT];
    if (!dv_is_none(base)) {
        if (!check_base(vm, base)) return DV_EMPTY;
        parent = dv_as_class(base);
    }
    if (!check_names(vm, namespace)) return DV_EMPTY;
    dv_class *class_ = dv_class_new(vm, name, parent, (dv_type_id)parent->type);
    if (!class_) return DV_EMPTY;
    if (!copy_attributes(vm, class_, namespace) ||
        (class_->type == DV_T_OBJECT && !dv_shape_root(vm, class_))) {
        dv_release_object(vm, &class_->header);
        return DV_EMPTY;
    }
    return dv_object_value(class_);
}

/* Attributes of instances -----------------------------------------------------------------------
 */

/* Is this a function that binds when it is found in a class? */
static bool binds(dv_value v) {
    if (dv_is_function(v) || dv_is_shape(v, DV_T_CACHE)) return true;
    if (!dv_is_shape(v, DV_T_CFUNCTION)) return false;
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(v);
    return dv_is_empty(function->self) && dv_is_class(function->owner) &&
           !(function->def->flags & (DV_CFUNCTION_STATIC | DV_CFUNCTION_CLASS));
}

static bool binds_to_class(dv_value v) {
    if (!dv_is_shape(v, DV_T_CFUNCTION)) return false;
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(v);
    return dv_is_empty(function->self) && (function->def->flags & DV_CFUNCTION_CLASS);
}

/* What v, found in a class, is as an attribute of self. */
static dv_value bind(dv_vm *vm, dv_value v, dv_value self, dv_class *class_) {
    if (binds(v)) {
        if (!dv_is_shape(v, DV_T_CFUNCTION)) return dv_method_new(vm, v, self);
        const dv_cfunction *function = (const dv_cfunction *)dv_as_object(v);
        return dv_cfunction_new(vm, function->def, self, function->owner);
    }
    if (binds_to_class(v)) {
        const dv_cfunction *function = (const dv_cfunction *)dv_as_object(v);
        return dv_cfunction_new(vm, function->def, dv_object_value(class_), function->owner);
    }
    return dv_retain(v);
}

static dv_value raise_no_attribute(dv_vm *vm, dv_value self, dv_value name) {
    return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "'%T' object has no attribute '%S'", self, name);
}

/* The functions find_... have the result EMPTY without vm->error where there is no such attribute.
 */
static dv_value find_of_instance(dv_vm *vm, dv_value self, dv_value name) {
    dv_object *object = dv_as_object(self);
    dv_shape *shape = dv_shape_at(vm, object->shape);
    int32_t slot = dv_shape_find(vm, shape, name);
    if (slot >= 0) return dv_retain(*dv_attribute_slot(object, (uint32_t)slot));
    dv_class *class_ = shape->class_;
    dv_global_cell *cell = dv_class_find(vm, class_, name);
    if (cell) return bind(vm, cell->value, self, class_);
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    if (dv_same(name, vm->known.class_)) return dv_retain(dv_object_value(class_));
    if (dv_same(name, vm->known.doc)) return DV_NONE;
    const dv_type *layout = vm->types[class_->type];
    if (layout->get_attribute) {
        dv_value v = layout->get_attribute(vm, self, name);
        if (!dv_is_empty(v) || !dv_is_empty(vm->error)) return v;
    }
    bool found;
    return dv_special_call(vm, self, vm->known.getattr, &name, 1, &found);
}

/* Attributes of a value of a built-in type: methods of its class, then what the type computes. */
static dv_value find_of_builtin(dv_vm *vm, dv_value self, dv_value name) {
    if (dv_is_exception(self) && !dv_is_empty(dv_as_exception(self)->attributes)) {
        dv_value v = dv_dict_get(vm, dv_as_exception(self)->attributes, name);
        if (!dv_is_empty(v)) return dv_retain(v);
    }
    dv_class *class_ = dv_class_of(vm, self);
    dv_global_cell *cell = dv_class_find(vm, class_, name);
    if (cell) return bind(vm, cell->value, self, class_);
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    if (dv_same(name, vm->known.class_)) return dv_retain(dv_object_value(class_));
    const dv_type *type = vm->types[dv_type_of(vm, self)];
    if (type->get_attribute) {
        dv_value v = type->get_attribute(vm, self, name);
        if (!dv_is_empty(v) || !dv_is_empty(vm->error)) return v;
    }
    return dv_same(name, vm->known.doc) ? DV_NONE : DV_EMPTY;
}

dv_value dv_instance_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    dv_value v = find_of_instance(vm, self, name);
    if (!dv_is_empty(v) || !dv_is_empty(vm->error)) return v;
    return raise_no_attribute(vm, self, name);
}

dv_value dv_value_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    if (dv_is_instance(self)) return dv_instance_get_attribute(vm, self, name);
    if (dv_is_module(self) || dv_is_class(self))
        return vm->types[dv_as_object(self)->shape]->get_attribute(vm, self, name);
    dv_value v = find_of_builtin(vm, self, name);
    if (!dv_is_empty(v) || !dv_is_empty(vm->error)) return v;
    return raise_no_attribute(vm, self, name);
}

dv_value dv_value_find_attribute(dv_vm *vm, dv_value self, dv_value name) {
    dv_value v = dv_is_instance(self)                      ? find_of_instance(vm, self, name)
                 : dv_is_module(self) || dv_is_class(self) ? dv_value_get_attribute(vm, self, name)
                                                           : find_of_builtin(vm, self, name);
    if (dv_is_empty(v) && dv_error_is(vm, DV_E_ATTRIBUTE_ERROR)) dv_error_clear(vm);
    return v;
}

/* Is `name` of self found in its class and a function there, so that calling it needs no bound
 * method? */
static dv_value find_method(dv_vm *vm, dv_value self, dv_value name) {
    if (dv_is_module(self) || dv_is_class(self)) return DV_EMPTY;
    dv_class *class_;
    if (dv_is_instance(self)) {
        dv_shape *shape = dv_shape_at(vm, dv_as_object(self)->shape);
        if (dv_shape_find(vm, shape, name) >= 0) return DV_EMPTY;
        class_ = shape->class_;
    } else {
        if (dv_is_exception(self) && !dv_is_empty(dv_as_exception(self)->attributes))
            return DV_EMPTY;
        if (dv_is_function(self)) return DV_EMPTY;
        class_ = dv_class_of(vm, self);
    }
    dv_global_cell *cell = dv_class_find(vm, class_, name);
    return cell && binds(cell->value) ? dv_retain(cell->value) : DV_EMPTY;
}

dv_value dv_load_method(dv_vm *vm, dv_value self, dv_value name, bool *is_method) {
    dv_value function = find_method(vm, self, name);
    *is_method = !dv_is_empty(function);
    if (*is_method) return function;
    return dv_is_empty(vm->error) ? dv_get_attribute(vm, self, name) : DV_EMPTY;
}

/* Class objects as values -----------------------------------------------------------------------
 */

static dv_value class_text(dv_vm *vm, dv_class *class_, dv_value name, const char *fallback) {
    dv_global_cell *cell = dv_namespace_find(&class_->attributes, name);
    if (cell && !dv_is_empty(cell->value)) return dv_retain(cell->value);
    return fallback ? dv_str_z(vm, fallback) : dv_retain(class_->name);
}

/* "itertools.count" for the type of a module, "" for a built-in type. */
static const char *type_prefix(const dv_class *class_) {
    bool of_module = class_->descriptor && strchr(class_->descriptor->name, '.');
    return of_module ? class_->descriptor->name : "";
}

/* The module of a class that has no attribute for it. */
static dv_value class_module(dv_vm *vm, const dv_class *class_) {
    const char *prefix = type_prefix(class_);
    if (!*prefix) return dv_str_z(vm, "builtins");
    return dv_str_new(vm, prefix, (size_t)(strrchr(prefix, '.') - prefix));
}

dv_value dv_class_qualified_name(dv_vm *vm, dv_class *class_) {
    if (class_->descriptor)
        return *type_prefix(class_) ? dv_str_z(vm, class_->descriptor->name)
                                    : dv_retain(class_->name);
    dv_value module = class_text(vm, class_, vm->known.module, "builtins");
    dv_value name = class_text(vm, class_, vm->known.qualname, NULL);
    dv_value result = DV_EMPTY;
    if (!dv_is_empty(module) && !dv_is_empty(name)) {
        bool plain = !dv_is_str(module) || dv_str_is(module, "builtins");
        result = plain ? dv_str_printf(vm, "%S", name) : dv_str_printf(vm, "%S.%S", module, name);
    }
    dv_release(vm, module);
    dv_release(vm, name);
    return result;
}

static dv_value class_repr(dv_vm *vm, dv_value self) {
    dv_value name = dv_class_qualified_name(vm, dv_as_class(self));
    if (dv_is_empty(name)) return DV_EMPTY;
    dv_value text = dv_str_printf(vm, "<class '%S'>", name);
    dv_release(vm, name);
    return text;
}

static dv_value class_mro(dv_vm *vm, dv_class *class_, bool first_base_only) {
    dv_value list[64];
    int64_t count = 0;
    if (first_base_only) {
        if (class_->base) list[count++] = dv_object_value(class_->base);
    } else {
        for (; class_ && count < 64; class_ = class_->base) list[count++] = dv_object_value(class_);
    }
    return dv_tuple_new(vm, list, count);
}

/* Attributes that every class has without a cell. */
static dv_value class_computed(dv_vm *vm, dv_class *class_, dv_value name) {
    if (dv_same(name, vm->known.name)) return dv_retain(class_->name);
    if (dv_same(name, vm->known.qualname)) return dv_retain(class_->name);
    if (dv_same(name, vm->known.module)) return class_module(vm, class_);
    if (dv_same(name, vm->known.doc)) return DV_NONE;
    if (dv_same(name, vm->known.class_)) return dv_retain(dv_object_value(vm->classes[DV_T_CLASS]));
    if (dv_str_is(name, "__bases__")) return class_mro(vm, class_, true);
    if (dv_str_is(name, "__mro__")) return class_mro(vm, class_, false);
    if (dv_str_is(name, "__base__"))
        return class_->base ? dv_retain(dv_object_value(class_->base)) : DV_NONE;
    return DV_EMPTY;
}

static dv_value class_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    dv_class *class_ = dv_as_class(self);
    if (dv_same(name, vm->known.name)) return dv_retain(class_->name);
    dv_global_cell *cell = dv_class_find(vm, class_, name);
    if (!cell && !dv_is_empty(vm->error)) return DV_EMPTY;
    if (cell) {
        if (binds_to_class(cell->value)) return bind(vm, cell->value, self, class_);
        return dv_retain(cell->value);
    }
    dv_value v = class_computed(vm, class_, name);
    if (!dv_is_empty(v) || !dv_is_empty(vm->error)) return v;
    if (*type_prefix(class_))
        return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "type object '%s' has no attribute '%S'",
                        type_prefix(class_), name);
    return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "type object '%S' has no attribute '%S'",
                    class_->name, name);
}

static bool class_set_attribute(dv_vm *vm, dv_value self, dv_value name, dv_value value) {
    dv_class *class_ = dv_as_class(self);
    if (class_->descriptor) {
        dv_raise(vm, DV_E_TYPE_ERROR, "cannot set '%S' attribute of immutable type '%S'", name,
                 class_->name);
        return false;
    }
    if (dv_is_empty(value)) {
        dv_global_cell *cell = dv_namespace_find(&class_->attributes, name);
        if (!cell || dv_is_empty(cell->value)) {
            dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "type object '%S' has no attribute '%S'",
                     class_->name, name);
            return false;
        }
    }
    if (dv_same(name, vm->known.name) && dv_is_str(value)) {
        dv_value old = class_->name;
        class_->name = dv_retain(value);
        dv_release(vm, old);
        return true;
    }
    return dv_class_store(vm, class_, name, dv_retain(value));
}

/* Calling a class -------------------------------------------------------------------------------
 */

static dv_value call_type(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    if (count == 1 && dv_is_empty(keywords))
        return dv_retain(dv_object_value(dv_class_of(vm, args[0])));
    if (count == 3)
        return dv_raise(vm, DV_E_TYPE_ERROR, "type() with three arguments is not part of dl yet");
    return dv_raise(vm, DV_E_TYPE_ERROR, "type() takes 1 or 3 arguments");
}

/* Runs __init__ of a new instance, which is consumed on failure. */
static dv_value initialise(dv_vm *vm, dv_value self, dv_value init, const dv_value *args,
                           uint32_t count, dv_value keywords) {
    dv_retain(init);
    dv_value result = dv_call_with_self(vm, init, self, args, count, keywords);
    dv_release(vm, init);
    if (dv_is_none(result)) return self;
    if (!dv_is_empty(result)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "__init__() should return None, not '%T'", result);
        dv_release(vm, result);
    }
    dv_release(vm, self);
    return DV_EMPTY;
}

static dv_value call_dl_class(dv_vm *vm, dv_class *class_, const dv_value *args, uint32_t count,
                              dv_value keywords) {
    dv_global_cell *init = dv_class_special(class_, vm->known.init);
    const dv_type *layout = class_->type == DV_T_OBJECT ? NULL : vm->types[class_->type];
    if (!layout && !init && count > 0)
        return dv_raise(vm, DV_E_TYPE_ERROR, "%S() takes no arguments", class_->name);
    dv_value self =
        layout ? dv_subclass_new(vm, class_, args, count, keywords) : dv_instance_new(vm, class_);
    if (dv_is_empty(self)) return self;
    if (init) return initialise(vm, self, init->value, args, count, keywords);
    if (!layout || !layout->initialise || layout->initialise(vm, self, args, count, keywords))
        return self;
    dv_release(vm, self);
    return DV_EMPTY;
}

static dv_value call_exception_class(dv_vm *vm, dv_class *class_, const dv_value *args,
                                     uint32_t count, dv_value keywords) {
    dv_global_cell *init = dv_class_special(class_, vm->known.init);
    dv_value self = dv_exception_make(vm, class_, args, count, keywords);
    if (dv_is_empty(self)) return self;
    if (init) return initialise(vm, self, init->value, args, count, keywords);
    if (dv_exception_initialise(vm, self, args, count, keywords)) return self;
    dv_release(vm, self);
    return DV_EMPTY;
}

static dv_value class_call(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                           dv_value keywords) {
    dv_class *class_ = dv_as_class(self);
    if (class_->type == DV_T_EXCEPTION)
        return call_exception_class(vm, class_, args, count, keywords);
    if (!class_->descriptor) return call_dl_class(vm, class_, args, count, keywords);
    if (class_->type == DV_T_CLASS) return call_type(vm, args, count, keywords);
    if (class_->descriptor->construct)
        return class_->descriptor->construct(vm, args, count, keywords);
    return dv_raise(vm, DV_E_TYPE_ERROR, "cannot create '%S' instances", class_->name);
}

const dv_type dv_class_type = {
    .name = "type",
    .id = DV_T_CLASS,
    .release = dv_class_release,
    .repr = class_repr,
    .get_attribute = class_get_attribute,
    .set_attribute = class_set_attribute,
    .call = class_call,
};
