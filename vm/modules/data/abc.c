/* abc.c: the module _abc: the class ABCMeta, and what lang/lib/abc.dl, collections/abc.dl, enum.dl
 * and _protocol.dl ask of it.  The answers are in types/abstract.c. */
#include <assert.h>
#include <string.h>

#include "core/upcall.h"
#include "modules/modules.h"
#include "types/class/abstract.h"
#include "types/callable/arguments.h"
#include "types/class/class.h"
#include "types/class/class_build.h"
#include "types/class/descriptor.h"
#include "types/mapping/dict.h"
#include "types/callable/function.h"
#include "types/class/instance.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

/* Methods of ABCMeta ----------------------------------------------------------------------------
 */

/* A class that does not say its module is of abc, where CPython has this function in Python. */
static bool set_module(dv_vm *vm, dv_value class_, dv_value namespace) {
    assert(dv_is_class(class_) && dv_is_dict(namespace)); /* type.__new__ has seen to it */
    if (!dv_is_empty(dv_dict_get(vm, namespace, vm->known.module))) return true;
    dv_value module = dv_str_z(vm, "abc");
    bool done = dv_is_empty(vm->error) && !dv_is_empty(module) &&
                dv_set_attribute(vm, class_, vm->known.module, module);
    dv_release(vm, module);
    return done;
}

/* ABCMeta.__new__(meta, name, bases, namespace, **keywords) */
static dv_value meta_new(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"mcls", "name", "bases", "namespace"};
    static const dv_parameters parameters = {"ABCMeta.__new__", names, 4, 4, 4};
    dv_value given[4], type = dv_object_value(vm->classes[DV_T_CLASS]);
    uint32_t positional = count;
    if (!dv_is_empty(keywords)) positional -= (uint32_t)dv_as_tuple(keywords)->count;
    if (!dv_arguments_bind(vm, &parameters, args, positional, DV_EMPTY, given)) return DV_EMPTY;
    dv_value function = dv_get_attribute(vm, type, vm->known.new_);
    if (dv_is_empty(function)) return DV_EMPTY;
    dv_value class_ = dv_call(vm, function, args, count, keywords);
    dv_release(vm, function);
    /* Another __new__ of a metaclass may have made what is no class. */
    if (dv_is_empty(class_) || !dv_is_class(class_)) return class_;
    if (set_module(vm, class_, given[3]) && dv_abstract_collect(vm, class_)) return class_;
    dv_release(vm, class_);
    return DV_EMPTY;
}

static dv_value truth(int answer) { return answer < 0 ? DV_EMPTY : dv_bool(answer); }

/* Methods of ABCMeta are called with a class as self: cfunctions check the class that they are of.
 */

static dv_value meta_subclasscheck(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    assert(dv_is_class(args[0]));
    if (!dv_is_class(args[1]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "issubclass() arg 1 must be a class");
    return truth(dv_abstract_check(vm, args[1], args[0]));
}

static dv_value ask_subclass(dv_vm *vm, dv_value abstract, dv_value class_) {
    bool found;
    dv_value answer = dv_special_call(vm, abstract, vm->known.subclasscheck, &class_, 1, &found);
    assert(found); /* every metaclass has it */
    return answer;
}

/* The class that the instance names comes before its class. */
static dv_value meta_instancecheck(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    assert(dv_is_class(args[0]));
    dv_value class_ = dv_object_value(dv_class_of(vm, args[1]));
    if (!(dv_as_class(class_)->flags & (DV_CLASS_GETATTRIBUTE | DV_CLASS_CLAIMS)))
        return ask_subclass(vm, args[0], class_);
    dv_value claimed = dv_get_attribute(vm, args[1], vm->known.class_);
    if (dv_is_empty(claimed)) return DV_EMPTY;
    dv_value answer = ask_subclass(vm, args[0], claimed);
    bool other = !dv_same(claimed, class_);
    dv_release(vm, claimed);
    if (dv_is_empty(answer) || !other) return answer;
    int truth = dv_truth(vm, answer);
    if (truth > 0) return answer;
    dv_release(vm, answer);
    return truth < 0 ? DV_EMPTY : ask_subclass(vm, args[0], class_);
}

static dv_value meta_register(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    assert(dv_is_class(args[0]));
    if (!dv_is_class(args[1])) return dv_raise(vm, DV_E_TYPE_ERROR, "Can only register classes");
    return dv_abstract_register(vm, args[0], args[1]) ? dv_retain(args[1]) : DV_EMPTY;
}

static const dv_cfunction_def meta_methods[] = {
    {.name = "__new__",
     .keyword_entry = meta_new,
     .min = 1,
     .max = UINT32_MAX,
     .flags = DV_CFUNCTION_STATIC},
    {.name = "__instancecheck__", .entry = meta_instancecheck, .min = 2, .max = 2},
    {.name = "__subclasscheck__", .entry = meta_subclasscheck, .min = 2, .max = 2},
    {.name = "register", .entry = meta_register, .min = 2, .max = 2},
    {.name = NULL}};

static bool put(dv_vm *vm, dv_value class_, const char *name, dv_value value) {
    if (dv_is_empty(value)) return false;
    dv_value key = dv_str_intern(vm, name, strlen(name));
    bool done = !dv_is_empty(key) && dv_class_store(vm, dv_as_class(class_), key, dv_retain(value));
    dv_release(vm, key);
    dv_release(vm, value);
    return done;
}

static dv_value make_meta(dv_vm *vm) {
    dv_value name = dv_str_z(vm, "ABCMeta"), space = dv_dict_new(vm), class_ = DV_EMPTY;
    dv_value type = dv_object_value(vm->classes[DV_T_CLASS]), bases = dv_tuple_new(vm, &type, 1);
    dv_value parts[] = {name, bases, space};
    if (!dv_is_empty(name) && !dv_is_empty(space) && !dv_is_empty(bases))
        class_ = dv_class_make(vm, vm->classes[DV_T_CLASS], parts, NULL, DV_EMPTY);
    dv_release(vm, bases);
    dv_release(vm, space);
    dv_release(vm, name);
    bool good = !dv_is_empty(class_) && put(vm, class_, "__module__", dv_str_z(vm, "abc"));
    for (const dv_cfunction_def *def = meta_methods; good && def->name; def++)
        good = put(vm, class_, def->name, dv_cfunction_new(vm, def, DV_EMPTY, class_));
    if (good) return class_;
    dv_release(vm, class_);
    return DV_EMPTY;
}

/* Functions -------------------------------------------------------------------------------------
 */

/* has_methods(class, *names): True, or NotImplemented where one is missing. */
static dv_value abc_has_methods(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (!dv_is_class(args[0]))
        return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "'%T' object has no attribute '__mro__'",
                        args[0]);
    for (uint32_t i = 1; i < count; i++) {
        if (!dv_is_str(args[i])) return DV_NOTIMPLEMENTED;
        dv_value name = dv_str_intern_value(vm, args[i]);
        if (dv_is_empty(name)) return DV_EMPTY;
        int has = dv_abstract_has(vm, dv_as_class(args[0]), name);
        dv_release(vm, name);
        if (has <= 0) return has ? DV_EMPTY : DV_NOTIMPLEMENTED;
    }
    return DV_TRUE;
}

/* update(class): sets its __abstractmethods__ anew. */
static dv_value abc_update(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!dv_is_class(args[0]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "update() arg 1 must be a class");
    if (!dv_abstract_collect(vm, args[0])) return DV_EMPTY;
    return DV_NONE;
}

static dv_value abc_cache_token(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    return dv_int(vm->registrations);
}

/* of_instances(property): the property, which from now on is no attribute of the class itself. */
static dv_value abc_of_instances(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!dv_is_shape(args[0], DV_T_PROPERTY))
        return dv_raise(vm, DV_E_TYPE_ERROR, "of_instances() arg 1 must be a property");
    ((dv_property *)dv_as_object(args[0]))->of_instances = true;
    return dv_retain(args[0]);
}

/* collection(class, kind): what patterns take instances of the class, and of those below it, for
 * (DV_COLLECTION_...); the class. */
static dv_value abc_collection(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)vm, (void)count;
    assert(dv_is_class(args[0]) && dv_is_int(args[1])); /* nobody but the library calls this */
    dv_as_class(args[0])->collection = (uint8_t)dv_as_int(args[1]);
    return dv_retain(args[0]);
}

/* full_name(class): the class, which messages name with its module from now on, as types of C. */
static dv_value abc_full_name(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)vm, (void)count;
    assert(dv_is_class(args[0])); /* nobody but the library calls this */
    dv_as_class(args[0])->flags |= DV_CLASS_FULL_NAME;
    return dv_retain(args[0]);
}

static const dv_cfunction_def functions[] = {
    {.name = "collection", .entry = abc_collection, .min = 2, .max = 2},
    {.name = "full_name", .entry = abc_full_name, .min = 1, .max = 1},
    {.name = "has_methods", .entry = abc_has_methods, .min = 1, .max = UINT32_MAX},
    {.name = "of_instances", .entry = abc_of_instances, .min = 1, .max = 1},
    {.name = "update", .entry = abc_update, .min = 1, .max = 1},
    {.name = "get_cache_token", .entry = abc_cache_token, .min = 0, .max = 0},
    {.name = NULL}};

bool dv_abc_fill(dv_vm *vm, dv_module *module) {
    return dv_module_add_functions(vm, module, functions) &&
           dv_module_add(vm, module, "ABCMeta", make_meta(vm));
}
