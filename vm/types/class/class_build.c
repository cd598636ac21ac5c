/* class_build.c: making classes (class_build.h). */
#include "types/class/class_build.h"

#include "core/mro.h"
#include "core/work.h"
#include "types/class/class.h"
#include "types/class/descriptor.h"
#include "types/mapping/dict.h"
#include "types/exception/exception.h"
#include "types/callable/function.h"
#include "types/class/instance.h"
#include "types/class/metaclass.h"
#include "types/class/slots.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"
#include "types/callable/variable.h"

/* Bases -----------------------------------------------------------------------------------------
 */

void dv_raise_inconsistent_bases(dv_vm *vm, dv_class *const *heads, uint32_t count) {
    dv_builder names;
    dv_builder_init(&names, vm);
    for (uint32_t i = 0; i < count; i++) {
        dv_builder_z(&names, i ? ", " : " ");
        dv_builder_str(&names, heads[i]->name);
    }
    dv_value text = dv_builder_finish(&names);
    if (dv_is_empty(text)) return;
    dv_raise(vm, DV_E_TYPE_ERROR,
             "Cannot create a consistent method resolution\norder (MRO) for bases%S", text);
    dv_release(vm, text);
}

static bool check_base(dv_vm *vm, dv_value base) {
    if (!dv_is_class(base)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "a base of type '%T' is not part of dl", base);
        return false;
    }
    const dv_class *class_ = dv_as_class(base);
    if (!class_->descriptor || class_->type == DV_T_OBJECT || class_->type == DV_T_EXCEPTION ||
        class_->type == DV_T_CLASS)
        return true;
    if (class_->descriptor->adopt) return true;
    dv_raise(vm, DV_E_TYPE_ERROR, "type '%s' is not an acceptable base type",
             class_->descriptor->name);
    return false;
}

/* Ints, tuples and bytes have no fixed size: in CPython a __dict__ makes another layout of them. */
static bool adds_dict_to_varied(const dv_class *class_) {
    bool varied =
        class_->type == DV_T_INT || class_->type == DV_T_TUPLE || class_->type == DV_T_BYTES;
    return varied && !(class_->flags & DV_CLASS_NO_DICT) &&
           (class_->base->descriptor || class_->base->flags & DV_CLASS_NO_DICT);
}

/* The class that decides the layout of a class's instances. */
static dv_class *solid_of(dv_class *class_) {
    while (!class_->descriptor && !(class_->flags & DV_CLASS_SOLID) && !adds_dict_to_varied(class_))
        class_ = class_->base;
    /* All exceptions have one layout. */
    while (class_->descriptor && class_->type == DV_T_EXCEPTION &&
           class_->base->type == DV_T_EXCEPTION)
        class_ = class_->base;
    return class_;
}

/* Of several bases the one whose layout includes that of the others; NULL: raised. */
static dv_class *best_base(dv_vm *vm, const dv_tuple *bases) {
    dv_class *best = NULL, *winner = NULL;
    for (int64_t i = 0; i < bases->count; i++) {
        if (!check_base(vm, bases->items[i])) return NULL;
        dv_class *base = dv_as_class(bases->items[i]), *solid = solid_of(base);
        if (winner && dv_class_is_subclass(winner, solid)) continue;
        if (winner && !dv_class_is_subclass(solid, winner)) {
            dv_raise(vm, DV_E_TYPE_ERROR, "multiple bases have instance lay-out conflict");
            return NULL;
        }
        winner = solid;
        best = base;
    }
    return best;
}

/* dv_class_special tells by their attributes what built-in bases do. */
static bool fill_bases(dv_vm *vm, dv_class *class_) {
    for (uint32_t i = 1; i < class_->mro_count; i++) {
        dv_class *base = class_->mro[i];
        if (base->descriptor && !dv_class_fill(vm, base, DV_EMPTY)) return false;
    }
    return true;
}

/* A new class without attributes. */
static dv_class *make(dv_vm *vm, dv_value name, const dv_tuple *bases) {
    dv_class *object = vm->classes[DV_T_OBJECT];
    if (bases->count == 0) return dv_class_new(vm, name, object, DV_T_OBJECT);
    dv_class *base = best_base(vm, bases);
    if (!base) return NULL;
    size_t size = (size_t)bases->count * sizeof(dv_class *);
    dv_class **list = dv_heap_alloc(&vm->heap, size);
    if (!list) {
        dv_raise_memory(vm);
        return NULL;
    }
    for (int64_t i = 0; i < bases->count; i++) list[i] = dv_as_class(bases->items[i]);
    dv_class *class_ =
        dv_class_new_of(vm, name, list, (uint32_t)bases->count, base, (dv_type_id)base->type);
    dv_heap_free(&vm->heap, list, size);
    return class_;
}

/* The namespace ---------------------------------------------------------------------------------
 */

/* Functions of these names are static or class methods without saying so. */
static dv_value wrap_implied(dv_vm *vm, dv_value name, dv_value value) {
    if (!dv_is_function(value)) return dv_retain(value);
    if (dv_same(name, vm->known.new_)) return dv_method_wrapper_new(vm, DV_T_STATICMETHOD, value);
    if (dv_same(name, vm->known.init_subclass) || dv_same(name, vm->known.class_getitem))
        return dv_method_wrapper_new(vm, DV_T_CLASSMETHOD, value);
    return dv_retain(value);
}

static bool set_qualname(dv_vm *vm, dv_class *class_, dv_value value) {
    if (!dv_is_str(value)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "type __qualname__ must be a str, not %T", value);
        return false;
    }
    class_->qualname = dv_retain(value);
    return true;
}

static bool set_class_cell(dv_vm *vm, dv_class *class_, dv_value cell) {
    if (!dv_is_shape(cell, DV_T_CELL)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "__classcell__ must be a nonlocal cell, not %V", cell);
        return false;
    }
    dv_value old = dv_as_variable(cell)->value;
    dv_as_variable(cell)->value = dv_retain(dv_object_value(class_));
    dv_release(vm, old);
    return true;
}

static bool copy_attribute(dv_vm *vm, dv_class *class_, dv_value name, dv_value value) {
    if (dv_same(name, vm->known.qualname)) return set_qualname(vm, class_, value);
    if (dv_same(name, vm->known.class_cell)) return set_class_cell(vm, class_, value);
    if (class_->type == DV_T_CLASS && dv_metaclass_refuses(vm, name)) return false;
    dv_value wrapped = wrap_implied(vm, name, value);
    return !dv_is_empty(wrapped) && dv_class_store(vm, class_, name, wrapped);
}

static bool copy_attributes(dv_vm *vm, dv_class *class_, dv_value namespace) {
    int64_t position = 0;
    dv_value key, value;
    bool has_eq = false, has_hash = false;
    while (dv_dict_walk(namespace, &position, &key, &value)) {
        if (!dv_is_str(key)) continue;
        dv_value name = dv_str_intern_value(vm, key);
        if (dv_is_empty(name)) return false;
        has_eq |= dv_same(name, vm->known.eq);
        has_hash |= dv_same(name, vm->known.hash);
        bool stored = copy_attribute(vm, class_, name, value);
        dv_release(vm, name);
        if (!stored) return false;
    }
    if (dv_is_empty(class_->qualname)) class_->qualname = dv_retain(class_->name);
    if (!dv_namespace_find(&class_->attributes, vm->known.doc) &&
        !dv_class_store(vm, class_, vm->known.doc, DV_NONE))
        return false;
    /* A class that says what is equal but not how to hash is not hashable. */
    return !has_eq || has_hash || dv_class_store(vm, class_, vm->known.hash, DV_NONE);
}

/* What the new class is told to -----------------------------------------------------------------
 */

static bool set_name(dv_vm *vm, dv_class *class_, dv_value name, dv_value value) {
    if (!dv_has_methods(value)) {
        if (dv_is_shape(value, DV_T_PROPERTY)) dv_property_set_name(vm, value, name);
        return true;
    }
    dv_value args[] = {dv_object_value(class_), name};
    bool found;
    dv_value result = dv_special_call(vm, value, vm->known.set_name, args, 2, &found);
    if (!found && dv_has_layout(value, DV_T_PROPERTY)) dv_property_set_name(vm, value, name);
    if (!found) return true;
    dv_release(vm, result);
    if (!dv_is_empty(result)) return true;
    dv_value cause = vm->error;
    vm->error = DV_EMPTY;
    dv_raise(vm, DV_E_RUNTIME_ERROR, "Error calling __set_name__ on '%T' instance %V in '%S'",
             value, name, class_->name);
    if (dv_is_exception(vm->error)) {
        dv_as_exception(vm->error)->cause = dv_retain(cause);
        dv_release(vm, dv_as_exception(vm->error)->context);
        dv_as_exception(vm->error)->context = dv_retain(cause);
        dv_as_exception(vm->error)->suppress_context = true;
    }
    dv_release(vm, cause);
    return false;
}

static bool set_names(dv_vm *vm, dv_class *class_, dv_value namespace) {
    int64_t position = 0;
    dv_value key, value;
    while (dv_dict_walk(namespace, &position, &key, &value))
        if (dv_is_str(key) && !set_name(vm, class_, key, value)) return false;
    return true;
}

dv_value dv_object_init_subclass(dv_vm *vm, const dv_value *args, uint32_t count,
                                 dv_value keywords) {
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    dv_value name = dv_class_name(dv_as_class(args[0]));
    if (named)
        return dv_raise(vm, DV_E_TYPE_ERROR, "%S.__init_subclass__() takes no keyword arguments",
                        name);
    if (count == 1) return DV_NONE;
    return dv_raise(vm, DV_E_TYPE_ERROR, "%S.__init_subclass__() takes no arguments (%d given)",
                    name, (int)count - 1);
}

static bool init_subclass(dv_vm *vm, dv_class *class_, const dv_value *values, dv_value names) {
    const dv_global_cell *cell = dv_class_find_behind(vm, class_, 1, vm->known.init_subclass);
    if (!cell) return dv_is_empty(vm->error);
    dv_value function = dv_bind(vm, cell->value, DV_EMPTY, class_);
    if (dv_is_empty(function)) return false;
    uint32_t count = dv_is_empty(names) ? 0 : (uint32_t)dv_as_tuple(names)->count;
    dv_value result = dv_call(vm, function, values, count, names);
    dv_release(vm, function);
    dv_release(vm, result);
    return !dv_is_empty(result);
}

enum { EXPECTED_MAX = 32 };

/* How many attributes an instance will have: as many as the __init__ functions of the class and its
 * bases set, or as their __slots__ name. */
static uint32_t expected_attributes(dv_vm *vm, const dv_class *class_) {
    dv_text names[EXPECTED_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < class_->mro_count; i++) {
        const dv_global_cell *cell = dv_namespace_find(&class_->mro[i]->attributes, vm->known.init);
        if (cell && dv_is_function(cell->value))
            count = dv_code_stored_attributes(dv_code_source(dv_as_function(cell->value)->code),
                                              names, count, EXPECTED_MAX);
    }
    const uint32_t named = dv_slots_named(class_);
    return named > count ? named : count;
}

static bool fill(dv_vm *vm, dv_class *class_, dv_value namespace) {
    if (!copy_attributes(vm, class_, namespace) || !dv_slots_add(vm, class_, namespace))
        return false;
    dv_class_expect(class_, expected_attributes(vm, class_));
    if (class_->type == DV_T_OBJECT && !dv_shape_root(vm, class_)) return false;
    class_->flags |= DV_CLASS_READY;
    return true;
}

dv_value dv_class_make(dv_vm *vm, dv_class *meta, const dv_value *parts, const dv_value *values,
                       dv_value names) {
    enum { WORK = 300 };
    dv_value name = parts[0], namespace = parts[2];
    dv_work_owe(vm, WORK);
    dv_class *class_ = make(vm, name, dv_as_tuple(parts[1]));
    if (!class_) return DV_EMPTY;
    if (meta != vm->classes[DV_T_CLASS]) {
        class_->metaclass = meta;
        meta->header.references++;
    }
    if (fill_bases(vm, class_) && fill(vm, class_, namespace) && set_names(vm, class_, namespace) &&
        init_subclass(vm, class_, values, names))
        return dv_object_value(class_);
    dv_release_object(vm, &class_->header);
    return DV_EMPTY;
}
