/* collections.c: the module collections: defaultdict.  deque is in collections_deque.c.
 *
 * Invariants
 *  1. defaultdict is made as a program would make it: a class that derives from dict, whose methods
 *     are C functions.  So all that knows dicts knows it, and only a missing key costs more. */
#include "modules/collections_parts.h"

#include "core/upcall.h"
#include "modules/modules.h"
#include "types/class.h"
#include "types/class_build.h"
#include "types/dict.h"
#include "types/function.h"
#include "types/sequence.h"
#include "types/str.h"
#include "types/tuple.h"

/* defaultdict ------------------------------------------------------------------------------------
 */

static dv_value factory_name(dv_vm *vm) { return dv_str_intern(vm, "default_factory", 15); }

/* The attribute default_factory: None where there is none. */
static dv_value factory_of(dv_vm *vm, dv_value self) {
    dv_value name = factory_name(vm);
    if (dv_is_empty(name)) return DV_EMPTY;
    dv_value factory = dv_find_attribute(vm, self, name);
    dv_release(vm, name);
    return dv_is_empty(factory) && dv_is_empty(vm->error) ? DV_NONE : factory;
}

static bool set_factory(dv_vm *vm, dv_value self, dv_value factory) {
    dv_value name = factory_name(vm);
    if (dv_is_empty(name)) return false;
    bool done = dv_set_attribute(vm, self, name, factory);
    dv_release(vm, name);
    return done;
}

static dv_value defaultdict_init(dv_vm *vm, const dv_value *args, uint32_t count,
                                 dv_value keywords) {
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    bool given = count - named > 1;
    dv_value factory = given ? args[1] : DV_NONE;
    if (!dv_is_none(factory) && !dv_is_callable(vm, factory))
        return dv_raise(vm, DV_E_TYPE_ERROR, "first argument must be callable or None");
    if (!set_factory(vm, args[0], factory)) return DV_EMPTY;
    uint32_t skipped = given ? 2 : 1;
    return dv_dict_type.initialise(vm, args[0], args + skipped, count - skipped, keywords)
               ? DV_NONE
               : DV_EMPTY;
}

static dv_value defaultdict_missing(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value factory = factory_of(vm, args[0]);
    if (dv_is_empty(factory)) return DV_EMPTY;
    if (dv_is_none(factory)) return dv_raise_value(vm, DV_E_KEY_ERROR, args[1]);
    dv_value value = dv_call(vm, factory, NULL, 0, DV_EMPTY);
    dv_release(vm, factory);
    if (dv_is_empty(value) || dv_set_item(vm, args[0], args[1], value)) return value;
    dv_release(vm, value);
    return DV_EMPTY;
}

static dv_value repr_with(dv_vm *vm, dv_value self, dv_value factory) {
    dv_value items = dv_dict_type.repr(vm, self);
    if (dv_is_empty(items)) return DV_EMPTY;
    struct dv_repr_guard guard;
    dv_value text = DV_EMPTY, name = dv_class_of(vm, self)->name;
    /* A factory that is a method of the dict would ask for this again. */
    if (!dv_repr_enter(vm, &guard, factory)) {
        text = dv_str_printf(vm, "%S(..., %S)", name, items);
    } else {
        text = dv_str_printf(vm, "%S(%V, %S)", name, factory, items);
        dv_repr_leave(vm);
    }
    dv_release(vm, items);
    return text;
}

static dv_value defaultdict_repr(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value factory = factory_of(vm, args[0]);
    if (dv_is_empty(factory)) return DV_EMPTY;
    dv_value text = repr_with(vm, args[0], factory);
    dv_release(vm, factory);
    return text;
}

/* type(like)(like.default_factory, items) */
static dv_value defaultdict_like(dv_vm *vm, dv_value like, dv_value items) {
    dv_value factory = factory_of(vm, like);
    if (dv_is_empty(factory)) return DV_EMPTY;
    dv_value result = dv_call(vm, dv_object_value(dv_class_of(vm, like)),
                              (dv_value[]){factory, items}, 2, DV_EMPTY);
    dv_release(vm, factory);
    return result;
}

static dv_value defaultdict_copy(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return defaultdict_like(vm, args[0], args[0]);
}

/* left | right, with the factory of `like` */
static dv_value defaultdict_union(dv_vm *vm, dv_value like, dv_value left, dv_value right) {
    if (!dv_is_dict(left) || !dv_is_dict(right)) return DV_NOTIMPLEMENTED;
    dv_value result = defaultdict_like(vm, like, left);
    if (dv_is_empty(result) || dv_dict_update(vm, result, right)) return result;
    dv_release(vm, result);
    return DV_EMPTY;
}

static dv_value defaultdict_or(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return defaultdict_union(vm, args[0], args[0], args[1]);
}

static dv_value defaultdict_ror(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return defaultdict_union(vm, args[0], args[1], args[0]);
}

static const dv_cfunction_def defaultdict_methods[] = {
    {.name = "__init__", .keyword_entry = defaultdict_init, .min = 1, .max = UINT32_MAX},
    {.name = "__missing__", .entry = defaultdict_missing, .min = 2, .max = 2},
    {.name = "__repr__", .entry = defaultdict_repr, .min = 1, .max = 1},
    {.name = "copy", .entry = defaultdict_copy, .min = 1, .max = 1},
    {.name = "__copy__", .entry = defaultdict_copy, .min = 1, .max = 1},
    {.name = "__or__", .entry = defaultdict_or, .min = 2, .max = 2},
    {.name = "__ror__", .entry = defaultdict_ror, .min = 2, .max = 2},
    {.name = NULL}};

/* Classes made here ------------------------------------------------------------------------------
 */

/* Puts a value (owned; EMPTY: making it failed) into a class. */
static bool put(dv_vm *vm, dv_class *class_, const char *name, dv_value value) {
    if (dv_is_empty(value)) return false;
    dv_value key = dv_str_intern(vm, name, strlen(name));
    if (dv_is_empty(key)) {
        dv_release(vm, value);
        return false;
    }
    bool done = dv_class_store(vm, class_, key, value);
    dv_release(vm, key);
    return done;
}

/* A class that derives from a built-in type, with C functions as methods. */
static dv_value class_with(dv_vm *vm, const char *name, dv_type_id base,
                           const dv_cfunction_def *methods) {
    dv_value text = dv_str_z(vm, name), namespace = dv_dict_new(vm), class_ = DV_EMPTY;
    dv_value parent = dv_object_value(vm->classes[base]), bases = dv_tuple_new(vm, &parent, 1);
    if (!dv_is_empty(text) && !dv_is_empty(namespace) && !dv_is_empty(bases))
        class_ = dv_class_build(vm, text, bases, DV_EMPTY, namespace);
    dv_release(vm, bases);
    dv_release(vm, text);
    dv_release(vm, namespace);
    bool good = !dv_is_empty(class_) &&
                put(vm, dv_as_class(class_), "__module__", dv_str_z(vm, "collections"));
    for (const dv_cfunction_def *def = methods; good && def->name; def++)
        good = put(vm, dv_as_class(class_), def->name, dv_cfunction_new(vm, def, DV_EMPTY, class_));
    if (good) return class_;
    dv_release(vm, class_);
    return DV_EMPTY;
}

bool dv_collections_fill(dv_vm *vm, dv_module *module) {
    return dv_module_add_type(vm, module, &dv_deque_type) &&
           dv_module_know_type(vm, &dv_deque_iterator_type) &&
           dv_module_know_type(vm, &dv_deque_reversed_type) &&
           dv_module_add(vm, module, "defaultdict",
                         class_with(vm, "defaultdict", DV_T_DICT, defaultdict_methods));
}
