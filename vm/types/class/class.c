/* class.c: class objects as values, and calling them (class.h). */
#include "types/class/class.h"

#include "core/mro.h"
#include "core/upcall.h"
#include "types/class/class_build.h"
#include "types/class/descriptor.h"
#include "types/mapping/dict.h"
#include "types/exception/exception.h"
#include "types/callable/function.h"
#include "types/class/getter.h"
#include "types/class/instance.h"
#include "types/sequence/list.h"
#include "types/class/lookup.h"
#include "types/mapping/mapping_proxy.h"
#include "types/class/metaclass.h"
#include "types/text/str.h"
#include "types/class/subclass.h"
#include "types/sequence/tuple.h"
#include "types/class/wrapper.h"

dv_class *dv_class_of(dv_vm *vm, dv_value v) {
    if (dv_is_instance(v)) return dv_shape_at(vm, dv_as_object(v)->shape)->class_;
    if (dv_is_exception(v)) return dv_as_exception(v)->class_;
    if (dv_is_class(v) && dv_as_class(v)->metaclass) return dv_as_class(v)->metaclass;
    dv_type_id id = dv_type_of(vm, v);
    const dv_type *type = vm->types[id];
    return vm->classes[type && type->face ? type->face(v) : id];
}

int dv_class_has_instance(dv_vm *vm, dv_value wanted, dv_value v) {
    const bool several = dv_is_shape(wanted, DV_T_TUPLE);
    const int64_t count = several ? dv_as_tuple(wanted)->count : 1;
    const dv_value *classes = several ? dv_as_tuple(wanted)->items : &wanted;
    const dv_class *own = dv_class_of(vm, v);
    for (int64_t i = 0; i < count; i++) {
        if (!dv_is_class(classes[i]) || dv_as_class(classes[i])->metaclass) return -1;
        if (dv_class_is_subclass(own, dv_as_class(classes[i]))) return true;
    }
    return own->flags & (DV_CLASS_GETATTRIBUTE | DV_CLASS_CLAIMS) ? -1 : false;
}

/* Methods of built-in types ----------------------------------------------------------------------
 */

static bool add_method(dv_vm *vm, dv_class *class_, const dv_cfunction_def *def) {
    dv_value method = dv_cfunction_new(vm, def, DV_EMPTY, dv_object_value(class_));
    return !dv_is_empty(method) && dv_namespace_set(vm, &class_->attributes, def->name, method);
}

static bool add_methods(dv_vm *vm, dv_class *class_) {
    const dv_type *type = class_->descriptor;
    if (type->initialise && !add_method(vm, class_, &dv_subclass_init)) return false;
    if ((type->adopt || type->id == DV_T_BOOL) && !add_method(vm, class_, &dv_subclass_make))
        return false;
    if (!type->methods || (class_->base && class_->base->descriptor == type)) return true;
    for (const dv_cfunction_def *def = type->methods; def->name; def++)
        if (!add_method(vm, class_, def)) return false;
    return true;
}

/* Do all names that begin so belong to the language? */
static bool is_special_name(dv_value name) {
    const dv_str *text = dv_as_str(name);
    return text->length > 4 && dv_str_at(text, 0) == '_' && dv_str_at(text, 1) == '_';
}

bool dv_class_fill(dv_vm *vm, dv_class *class_, dv_value name) {
    if (class_->filled == DV_FILLED_NOT) {
        if (!add_methods(vm, class_) || !dv_getters_add(vm, class_, false)) return false;
        class_->filled = DV_FILLED_METHODS;
    }
    if (class_->filled == DV_FILLED_ALL || !(dv_is_empty(name) || is_special_name(name)))
        return true;
    if (!dv_wrappers_add(vm, class_) || !dv_getters_add(vm, class_, true)) return false;
    class_->filled = DV_FILLED_ALL;
    return true;
}

/* Class objects as values -----------------------------------------------------------------------
 */

/* "itertools.count" for the type of a module, "" for a built-in type. */
static const char *type_prefix(const dv_class *class_) {
    bool of_module = class_->descriptor && strchr(class_->descriptor->name, '.');
    return of_module ? class_->descriptor->name : "";
}

static dv_value module_of(dv_vm *vm, const dv_class *class_) {
    const dv_global_cell *cell = dv_namespace_find(&class_->attributes, vm->known.module);
    if (cell && !dv_is_empty(cell->value)) return dv_retain(cell->value);
    const char *prefix = type_prefix(class_);
    if (!*prefix) return dv_str_z(vm, "builtins");
    return dv_str_new(vm, prefix, (size_t)(strrchr(prefix, '.') - prefix));
}

dv_value dv_class_qualified_name(dv_vm *vm, dv_class *class_) {
    bool built_in = class_->descriptor &&
                    !dv_namespace_find(&class_->attributes, vm->known.module); /* struct.error */
    if (built_in)
        return *type_prefix(class_) ? dv_str_z(vm, class_->descriptor->name)
                                    : dv_retain(class_->name);
    dv_value module = module_of(vm, class_);
    dv_value name = dv_retain(dv_class_name(class_));
    dv_value result = DV_EMPTY;
    if (!dv_is_empty(module) && !dv_is_empty(name)) {
        bool plain = !dv_is_str(module) || dv_str_is(module, "builtins");
        result = plain ? dv_str_printf(vm, "%S", name) : dv_str_printf(vm, "%S.%S", module, name);
    }
    dv_release(vm, module);
    dv_release(vm, name);
    return result;
}

dv_value dv_class_plain_repr(dv_vm *vm, dv_value self) {
    dv_value name = dv_class_qualified_name(vm, dv_as_class(self));
    if (dv_is_empty(name)) return DV_EMPTY;
    dv_value text = dv_str_printf(vm, "<class '%S'>", name);
    dv_release(vm, name);
    return text;
}

static dv_value class_repr(dv_vm *vm, dv_value self) {
    bool found;
    dv_value text = dv_metaclass_call(vm, self, vm->known.repr, NULL, 0, &found);
    if (!found) return dv_class_plain_repr(vm, self);
    if (dv_is_empty(text) || dv_is_str(text)) return text;
    dv_raise(vm, DV_E_TYPE_ERROR, "__repr__ returned non-string (type %T)", text);
    dv_release(vm, text);
    return DV_EMPTY;
}

static dv_value class_str(dv_vm *vm, dv_value self) {
    bool found = false;
    dv_value text =
        dv_as_class(self)->metaclass ? dv_special_text(vm, self, vm->known.str, &found) : DV_EMPTY;
    return found ? text : class_repr(vm, self);
}

static dv_value tuple_of(dv_vm *vm, dv_class *const *classes, uint32_t count) {
    dv_tuple *tuple = dv_tuple_alloc(vm, count);
    if (!tuple) return DV_EMPTY;
    for (uint32_t i = 0; i < count; i++) tuple->items[i] = dv_retain(dv_object_value(classes[i]));
    return dv_object_value(tuple);
}

/* What is in the namespace now: later changes do not show. */
static dv_value class_dict(dv_vm *vm, dv_class *class_) {
    if (class_->descriptor && !dv_class_fill(vm, class_, DV_EMPTY)) return DV_EMPTY;
    dv_value dict = dv_dict_new(vm);
    bool done = !dv_is_empty(dict);
    for (uint32_t i = 0; i < class_->attributes.count && done; i++) {
        const dv_global_cell *cell = class_->attributes.cells[i];
        if (!dv_is_empty(cell->value)) done = dv_dict_set(vm, dict, cell->name, cell->value);
    }
    dv_value proxy = done ? dv_mapping_proxy_new(vm, dict) : DV_EMPTY;
    dv_release(vm, dict);
    return proxy;
}

static dv_class *class_of_class(dv_vm *vm, const dv_class *class_) {
    return class_->metaclass ? class_->metaclass : vm->classes[DV_T_CLASS];
}

/* Its own; a class that annotates nothing gets an empty dict when it is asked. */
static dv_value class_annotations(dv_vm *vm, dv_class *class_) {
    const dv_global_cell *own = dv_namespace_find(&class_->attributes, vm->known.annotations);
    if (own && !dv_is_empty(own->value)) return dv_retain(own->value);
    if (class_->descriptor)
        return dv_raise(vm, DV_E_ATTRIBUTE_ERROR,
                        "type object '%S' has no attribute '__annotations__'", class_->name);
    dv_value dict = dv_dict_new(vm);
    if (dv_is_empty(dict) || dv_class_store(vm, class_, vm->known.annotations, dv_retain(dict)))
        return dict;
    dv_release(vm, dict);
    return DV_EMPTY;
}

/* Attributes of a class that are no attributes of its instances, and come first. */
bool dv_class_computes(const dv_vm *vm, dv_value name) {
    const dv_value names[] = {vm->known.name, vm->known.qualname, vm->known.module,
                              vm->known.doc,  vm->known.bases,    vm->known.mro,
                              vm->known.dict, vm->known.class_,   vm->known.annotations,
                              vm->known.base};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (dv_same(name, names[i])) return true;
    return false;
}

static dv_value class_computed(dv_vm *vm, dv_class *class_, dv_value name) {
    if (dv_same(name, vm->known.name)) return dv_retain(class_->name);
    if (dv_same(name, vm->known.qualname)) return dv_retain(dv_class_name(class_));
    if (dv_same(name, vm->known.module)) return module_of(vm, class_);
    if (dv_same(name, vm->known.class_))
        return dv_retain(dv_object_value(class_of_class(vm, class_)));
    if (dv_same(name, vm->known.bases)) return tuple_of(vm, class_->bases, class_->base_count);
    if (dv_same(name, vm->known.mro)) return tuple_of(vm, class_->mro, class_->mro_count);
    if (dv_same(name, vm->known.dict)) return class_dict(vm, class_);
    if (dv_same(name, vm->known.annotations)) return class_annotations(vm, class_);
    if (dv_same(name, vm->known.base))
        return class_->base ? dv_retain(dv_object_value(class_->base)) : DV_NONE;
    return DV_EMPTY;
}

dv_value dv_class_key(dv_vm *vm, const dv_class *class_) {
    if (!class_->descriptor || class_->type == DV_T_EXCEPTION) return dv_retain(class_->name);
    return dv_str_z(vm, class_->descriptor->name);
}

/* The descriptor of an attribute that no namespace has; EMPTY: there is none. */
static dv_value weakref_descriptor(dv_vm *vm, dv_class *class_, dv_value name) {
    static const dv_cfunction_def def = {.name = "__weakref__", .flags = DV_CFUNCTION_GETTER};
    if (!class_->weak || !dv_str_is(name, def.name)) return DV_EMPTY;
    while (class_->base && class_->base->weak) class_ = class_->base;
    return class_->descriptor ? DV_EMPTY
                              : dv_cfunction_new(vm, &def, DV_EMPTY, dv_object_value(class_));
}

static dv_value class_find(dv_vm *vm, dv_class *class_, dv_value name) {
    if (class_->metaclass && class_->metaclass->flags & DV_CLASS_DATA) {
        dv_value v = dv_find_data(vm, class_->metaclass, dv_object_value(class_), name);
        if (!dv_is_empty(v) || !dv_is_empty(vm->error)) return v;
    }
    if (is_special_name(name)) { /* those of class_computed are */
        dv_value v = class_computed(vm, class_, name);
        if (!dv_is_empty(v) || !dv_is_empty(vm->error)) return v;
        if (dv_same(name, vm->known.doc)) {
            const dv_global_cell *own = dv_namespace_find(&class_->attributes, name);
            if (!own || dv_is_empty(own->value))
                return dv_builtin_doc(vm, dv_class_key(vm, class_));
        }
    }
    const dv_global_cell *cell = dv_class_find(vm, class_, name);
    if (cell) return dv_bind(vm, cell->value, DV_EMPTY, class_);
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    /* Methods of classes themselves: mro(), __subclasses__(), ... */
    dv_class *meta = class_of_class(vm, class_);
    cell = dv_class_find(vm, meta, name);
    return cell ? dv_bind(vm, cell->value, dv_object_value(class_), meta)
                : weakref_descriptor(vm, class_, name);
}

static dv_value class_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    dv_value v = class_find(vm, dv_as_class(self), name);
    if (!dv_is_empty(v) || !dv_is_empty(vm->error)) return v;
    const char *prefix = type_prefix(dv_as_class(self));
    if (*prefix)
        return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "type object '%s' has no attribute '%S'", prefix,
                        name);
    return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "type object '%S' has no attribute '%S'",
                    dv_as_class(self)->name, name);
}

/* __name__ and __qualname__ */
static bool set_text(dv_vm *vm, dv_class *class_, dv_value *place, dv_value name, dv_value value) {
    if (dv_is_empty(value) || !dv_is_str(value)) {
        if (dv_is_empty(value))
            dv_raise(vm, DV_E_TYPE_ERROR, "cannot delete '%S' attribute of immutable type '%S'",
                     name, class_->name);
        else
            dv_raise(vm, DV_E_TYPE_ERROR, "can only assign string to %S.%S, not '%T'", class_->name,
                     name, value);
        return false;
    }
    dv_value old = *place;
    *place = dv_retain(value);
    dv_release(vm, old);
    return true;
}

/* __abstractmethods__ says whether there can be instances. */
static bool note_abstract(dv_vm *vm, dv_class *class_, dv_value value) {
    int truth = dv_is_empty(value) ? 0 : dv_truth(vm, value);
    if (truth < 0) return false;
    if (!truth == !(class_->flags & DV_CLASS_ABSTRACT)) return true;
    class_->flags ^= DV_CLASS_ABSTRACT;
    dv_class_touch(vm, class_);
    return true;
}

static bool refuse_immutable(dv_vm *vm, const dv_class *class_, dv_value name) {
    const char *prefix = type_prefix(class_); /* with its module, where it has one */
    if (*prefix)
        dv_raise(vm, DV_E_TYPE_ERROR, "cannot set '%S' attribute of immutable type '%s'", name,
                 prefix);
    else
        dv_raise(vm, DV_E_TYPE_ERROR, "cannot set '%S' attribute of immutable type '%S'", name,
                 class_->name);
    return false;
}

static bool class_set_attribute(dv_vm *vm, dv_value self, dv_value name, dv_value value) {
    dv_class *class_ = dv_as_class(self);
    if (class_->descriptor) return refuse_immutable(vm, class_, name);
    if (dv_same(name, vm->known.name)) return set_text(vm, class_, &class_->name, name, value);
    if (dv_same(name, vm->known.qualname))
        return set_text(vm, class_, &class_->qualname, name, value);
    if (dv_same(name, vm->known.bases) || dv_same(name, vm->known.mro) ||
        dv_same(name, vm->known.dict) || dv_same(name, vm->known.class_)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "setting %S of a class is not part of dl", name);
        return false;
    }
    if (class_->type == DV_T_CLASS && dv_metaclass_refuses(vm, name)) return false;
    if (dv_same(name, vm->known.abstractmethods) && !note_abstract(vm, class_, value)) return false;
    if (dv_is_empty(value) && (dv_same(name, vm->known.doc) || dv_same(name, vm->known.module))) {
        dv_raise(vm, DV_E_TYPE_ERROR, "cannot delete '%S' attribute of immutable type '%S'", name,
                 class_->name);
        return false;
    }
    if (dv_is_empty(value)) {
        const dv_global_cell *cell = dv_namespace_find(&class_->attributes, name);
        if (!cell || dv_is_empty(cell->value)) {
            dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "type object '%S' has no attribute '%S'",
                     class_->name, name);
            return false;
        }
    }
    return dv_class_store(vm, class_, name, dv_retain(value));
}

/* Calling a class -------------------------------------------------------------------------------
 */

/* What __init__ of dl returned. */
static bool check_initialised(dv_vm *vm, dv_value result) {
    if (dv_is_none(result)) return true;
    if (!dv_is_empty(result))
        dv_raise(vm, DV_E_TYPE_ERROR, "__init__() should return None, not '%T'", result);
    dv_release(vm, result);
    return false;
}

/* Runs the __init__ of a new instance, which is consumed on failure. */
static dv_value initialise(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                           dv_value keywords) {
    const dv_class *class_ = dv_class_of(vm, self);
    const dv_global_cell *init = dv_class_special_again(vm, class_, vm->known.init);
    const dv_type *layout = vm->types[class_->type];
    bool done = true;
    if (init) {
        dv_value function = dv_retain(init->value);
        dv_value result = dv_call_with_self(vm, function, self, args, count, keywords);
        dv_release(vm, function);
        done = check_initialised(vm, result);
    } else if (class_->type == DV_T_EXCEPTION) {
        done = dv_exception_initialise(vm, self, args, count, keywords);
    } else if (layout->initialise) {
        done = dv_subclass_initialise(vm, self, args, count, keywords);
    }
    if (done) return self;
    dv_release(vm, self);
    return DV_EMPTY;
}

/* Has it an __init__ that is not object's (`__init__ = object.__init__`)? */
static bool overrides_init(dv_vm *vm, dv_class *class_) {
    const dv_global_cell *cell = dv_class_special(class_, vm->known.init);
    if (!cell || !dv_is_shape(cell->value, DV_T_CFUNCTION)) return cell != NULL;
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(cell->value);
    return function->def->keyword_entry != dv_object_init;
}

static dv_value raise_takes_none(dv_vm *vm, const dv_class *class_) {
    return dv_raise(vm, DV_E_TYPE_ERROR, "%S() takes no arguments", class_->name);
}

/* "a, b" of the names of methods that are still abstract. */
static dv_value abstract_names(dv_vm *vm, dv_value names, int64_t *count) {
    dv_value list = dv_list_new(vm, NULL, 0), text = DV_EMPTY, comma = dv_str_z(vm, ", ");
    if (!dv_is_empty(list) && !dv_is_empty(comma) && dv_list_extend(vm, list, names) &&
        dv_list_sort(vm, list, DV_EMPTY, false)) {
        *count = dv_as_list(list)->count;
        text = dv_str_join(vm, comma, dv_as_list(list)->items, *count);
    }
    dv_release(vm, comma);
    dv_release(vm, list);
    return text;
}

static dv_value raise_abstract(dv_vm *vm, dv_class *class_) {
    const dv_global_cell *cell = dv_namespace_find(&class_->attributes, vm->known.abstractmethods);
    int64_t count = 0;
    if (!cell || dv_is_empty(cell->value))
        return dv_raise_value(vm, DV_E_ATTRIBUTE_ERROR, vm->known.abstractmethods);
    dv_value names = abstract_names(vm, cell->value, &count);
    if (dv_is_empty(names)) return DV_EMPTY;
    dv_raise(vm, DV_E_TYPE_ERROR, "Can't instantiate abstract class %S with abstract method%s %S",
             class_->name, count == 1 ? "" : "s", names);
    dv_release(vm, names);
    return DV_EMPTY;
}

static dv_value new_plain(dv_vm *vm, dv_class *class_) {
    if (class_->flags & DV_CLASS_ABSTRACT) return raise_abstract(vm, class_);
    return dv_instance_new(vm, class_);
}

dv_value dv_object_new_of(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    if (count == 0) return dv_raise(vm, DV_E_TYPE_ERROR, "object.__new__(): not enough arguments");
    if (!dv_is_class(args[0]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "object.__new__(X): X is not a type object (%T)",
                        args[0]);
    dv_class *class_ = dv_as_class(args[0]);
    (void)keywords;
    if (class_->type != DV_T_OBJECT) {
        const dv_class *base = class_; /* the first whose __new__ is that of a built-in type */
        while (base->flags & DV_CLASS_NEW) base = base->base;
        return dv_raise(vm, DV_E_TYPE_ERROR, "object.__new__(%S) is not safe, use %S.__new__()",
                        class_->name, base->name);
    }
    if (count > 1 && dv_class_special(class_, vm->known.new_))
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "object.__new__() takes exactly one argument (the type to instantiate)");
    if (count > 1 && !overrides_init(vm, class_)) return raise_takes_none(vm, class_);
    if (!class_->descriptor) return new_plain(vm, class_);
    return class_->descriptor->construct(vm, NULL, 0, DV_EMPTY);
}

dv_value dv_object_init(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    (void)keywords;
    if (count == 1) return DV_NONE;
    dv_class *class_ = dv_class_of(vm, args[0]);
    if (overrides_init(vm, class_))
        return dv_raise(
            vm, DV_E_TYPE_ERROR,
            "object.__init__() takes exactly one argument (the instance to initialize)");
    /* Who has a __new__ of its own has looked at the arguments there. */
    if (class_->type != DV_T_OBJECT || dv_class_special(class_, vm->known.new_)) return DV_NONE;
    return dv_raise(vm, DV_E_TYPE_ERROR,
                    "%S.__init__() takes exactly one argument (the instance to initialize)",
                    class_->name);
}

/* The number of fields that a call of the class takes, plus 1; UINT32_MAX: it is another call. */
static uint32_t find_fields(dv_vm *vm, dv_class *class_) {
    const uint32_t needed = DV_CLASS_READY | DV_CLASS_NEW;
    if (class_->type != DV_T_TUPLE || class_->descriptor || class_->metaclass ||
        (class_->flags & needed) != needed || dv_class_special(class_, vm->known.init))
        return UINT32_MAX;
    const dv_global_cell *cell = dv_class_find(vm, class_, vm->known.new_);
    if (!dv_is_empty(vm->error)) dv_error_clear(vm);
    if (!cell || !dv_is_shape(cell->value, DV_T_CFUNCTION)) return UINT32_MAX;
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(cell->value);
    if (!(function->def->flags & DV_CFUNCTION_FIELDS)) return UINT32_MAX;
    return (uint32_t)dv_as_tuple(dv_as_tuple(function->self)->items[1])->count + 1;
}

bool dv_class_takes_fields(dv_vm *vm, dv_class *class_, uint32_t count) {
    if (DV_UNLIKELY(!class_->fields)) class_->fields = find_fields(vm, class_);
    return class_->fields == count + 1;
}

dv_value dv_class_made(dv_vm *vm, const dv_class *class_, dv_value self, const dv_value *args,
                       uint32_t count, dv_value keywords) {
    if (dv_is_empty(self) || !dv_class_is_subclass(dv_class_of(vm, self), class_)) return self;
    return initialise(vm, self, args, count, keywords);
}

/* Through a __new__ of dl. */
static dv_value call_own_new(dv_vm *vm, dv_class *class_, const dv_value *args, uint32_t count,
                             dv_value keywords) {
    const dv_global_cell *cell = dv_class_find(vm, class_, vm->known.new_);
    if (!cell) return DV_EMPTY;
    dv_value function = dv_bind(vm, cell->value, DV_EMPTY, class_);
    if (dv_is_empty(function)) return DV_EMPTY;
    dv_value self = dv_call_in_front(vm, function, dv_object_value(class_), args, count, keywords);
    dv_release(vm, function);
    return dv_class_made(vm, class_, self, args, count, keywords);
}

static dv_value call_dl_class(dv_vm *vm, dv_class *class_, const dv_value *args, uint32_t count,
                              dv_value keywords) {
    bool plain = class_->type == DV_T_OBJECT;
    if (plain && count > 0 && !overrides_init(vm, class_)) return raise_takes_none(vm, class_);
    dv_value self =
        plain ? new_plain(vm, class_) : dv_subclass_new(vm, class_, args, count, keywords);
    return dv_is_empty(self) ? self : initialise(vm, self, args, count, keywords);
}

static dv_value call_exception_class(dv_vm *vm, dv_class *class_, const dv_value *args,
                                     uint32_t count, dv_value keywords) {
    dv_value self = dv_exception_make(vm, class_, args, count, keywords);
    if (dv_is_empty(self) || dv_exception_is_made(vm, self, keywords)) return self;
    return initialise(vm, self, args, count, keywords);
}

/* Of type and the classes that derive from it: type(x), type(name, bases, namespace). */
static dv_value call_metaclass(dv_vm *vm, dv_class *class_, const dv_value *args, uint32_t count,
                               dv_value keywords) {
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    if (class_->descriptor) {
        if (count == 1 && !named) return dv_retain(dv_object_value(dv_class_of(vm, args[0])));
        if (count == named + 1)
            return dv_raise(vm, DV_E_TYPE_ERROR, "type() takes no keyword arguments");
        if (count - named != 3)
            return dv_raise(vm, DV_E_TYPE_ERROR, "type() takes 1 or 3 arguments");
    }
    return call_own_new(vm, class_, args, count, keywords);
}

/* An extension's type. */
static dv_value make_foreign(dv_vm *vm, dv_class *class_, const dv_value *args, uint32_t count,
                             dv_value keywords) {
    dv_value self = class_->descriptor->make(vm, class_);
    if (dv_is_empty(self)) return DV_EMPTY;
    if (class_->descriptor->initialise(vm, self, args, count, keywords)) return self;
    dv_release(vm, self);
    return DV_EMPTY;
}

dv_value dv_class_construct(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                            dv_value keywords) {
    dv_class *class_ = dv_as_class(self);
    if (class_->flags & DV_CLASS_NEW) return call_own_new(vm, class_, args, count, keywords);
    if (class_->type == DV_T_EXCEPTION)
        return call_exception_class(vm, class_, args, count, keywords);
    if (class_->type == DV_T_CLASS) return call_metaclass(vm, class_, args, count, keywords);
    if (!class_->descriptor) return call_dl_class(vm, class_, args, count, keywords);
    if (class_->descriptor->construct)
        return class_->descriptor->construct(vm, args, count, keywords);
    if (class_->descriptor->make && class_->descriptor->initialise)
        return make_foreign(vm, class_, args, count, keywords);
    return dv_raise(vm, DV_E_TYPE_ERROR, "cannot create '%s' instances", class_->descriptor->name);
}

static dv_value class_call(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                           dv_value keywords) {
    dv_global_cell *cell = dv_metaclass_special(dv_as_class(self), vm->known.call);
    if (!cell) return dv_class_construct(vm, self, args, count, keywords);
    dv_value function = dv_retain(cell->value);
    dv_value result = dv_call_with_self(vm, function, self, args, count, keywords);
    dv_release(vm, function);
    return result;
}

/* Operators are asked of the metaclass.  A class is true, unless that says otherwise. */
static int class_decide(dv_vm *vm, dv_value self) {
    if (!dv_as_class(self)->metaclass) return 1;
    bool found;
    dv_value result = dv_special_call(vm, self, vm->known.bool_, NULL, 0, &found);
    if (found) return dv_is_empty(result) ? -1 : dv_truth_returned(vm, result);
    if (!dv_has_special(vm, self, vm->known.len)) return 1;
    int64_t length = dv_object_length(vm, self);
    return length < 0 ? -1 : length != 0;
}

static bool class_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    if (dv_as_class(self)->metaclass) return dv_object_hash(vm, self, hash);
    *hash = dv_default_hash(vm, self);
    return true;
}

static dv_value class_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    return dv_as_class(a)->metaclass ? dv_object_compare(vm, op, a, b) : DV_NOTIMPLEMENTED;
}

static dv_value class_get_item(dv_vm *vm, dv_value self, dv_value key) {
    bool found;
    dv_value v = dv_metaclass_call(vm, self, vm->known.getitem, &key, 1, &found);
    return found ? v : dv_class_subscript(vm, self, key);
}

/* int | None */
static dv_value class_binary(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    if (op != DV_BINARY_OR) return DV_NOTIMPLEMENTED;
    bool fits = (dv_is_class(a) || dv_is_none(a)) && (dv_is_class(b) || dv_is_none(b));
    return fits ? dv_class_union(vm, a, b) : DV_NOTIMPLEMENTED;
}

const dv_type dv_class_type = {
    .name = "type",
    .binary = class_binary,
    .id = DV_T_CLASS,
    .weakly = true,
    .release = dv_class_release,
    .traverse = dv_class_traverse,
    .clear = dv_class_clear,
    .repr = class_repr,
    .str = class_str,
    .hash = class_hash,
    .compare = class_compare,
    .unary = dv_object_unary,
    .length = dv_object_length,
    .decide = class_decide,
    .get_item = class_get_item,
    .set_item = dv_object_set_item,
    .contains = dv_object_contains,
    .iterate = dv_object_iterate,
    .format = dv_object_format,
    .get_attribute = class_get_attribute,
    .set_attribute = class_set_attribute,
    .call = class_call,
    .methods = dv_metaclass_methods,
};

/* Classes of types ------------------------------------------------------------------------------
 */

bool dv_class_know(dv_vm *vm, const dv_type *type) {
    if (vm->classes[type->id]) return true;
    const char *dot = strrchr(type->name, '.');
    const char *name = dot ? dot + 1 : type->name;
    dv_value text = dv_str_intern(vm, name, strlen(name));
    if (dv_is_empty(text)) return false;
    dv_class *class_ = dv_class_new(vm, text, vm->classes[DV_T_OBJECT], type->id);
    dv_release(vm, text);
    if (!class_) return false;
    class_->descriptor = type;
    class_->weak = type->weakly;
    vm->types[type->id] = type;
    vm->classes[type->id] = class_;
    return true;
}
