/* function.c: functions, C functions and bound methods as values (function.h).  What calling a dl
 * function does is in run/call.c. */
#include "types/callable/function.h"

#include "core/upcall.h"
#include "types/callable/arguments.h"
#include "types/class/class.h"
#include "types/class/descriptor.h"
#include "types/mapping/dict.h"
#include "types/class/getter.h"
#include "types/class/instance_dict.h"
#include "types/class/lookup.h"
#include "types/file/module.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

/* dl functions ----------------------------------------------------------------------------------
 */

/* Does it hold any of what most functions, and all comprehensions, have not?  (EMPTY is no object.)
 */
static inline bool has_rarities(const dv_function *function) {
    return ((function->defaults.bits ^ DV_EMPTY.bits) |
            (function->keyword_defaults.bits ^ DV_EMPTY.bits) |
            (function->annotations.bits ^ DV_EMPTY.bits) |
            (function->attributes.bits ^ DV_EMPTY.bits)) != 0;
}

static __attribute__((noinline)) void release_all(dv_vm *vm, dv_function *function) {
    dv_release_object(vm, function->code);
    dv_release(vm, function->globals);
    if (has_rarities(function)) {
        dv_release(vm, function->defaults);
        dv_release(vm, function->keyword_defaults);
        dv_release(vm, function->annotations);
        dv_release(vm, function->attributes);
    }
    dv_release(vm, function->closure);
    dv_release(vm, function->name);
    dv_release(vm, function->qualname);
    dv_container_free(vm, function, sizeof *function);
}

/* Does the object that v is have references from elsewhere?  (Two: both names may be one str.) */
static inline bool is_shared(dv_value v) { return dv_as_object(v)->references > 2; }

/* Functions come and go with each execution of a comprehension: nothing but what they close over
 * ends with these, and that is released last, so that no register is saved for it. */
static void function_release(dv_vm *vm, dv_object *object) {
    dv_function *function = (dv_function *)object;
    const dv_value closure = function->closure;
    if (DV_UNLIKELY(has_rarities(function) || function->code->references == 1 ||
                    !is_shared(function->globals) || !is_shared(function->name) ||
                    !is_shared(function->qualname))) {
        release_all(vm, function);
        return;
    }
    function->code->references--;
    dv_as_object(function->globals)->references--;
    dv_as_object(function->name)->references--;
    dv_as_object(function->qualname)->references--;
    dv_container_free(vm, function, sizeof *function);
    dv_release(vm, closure);
}

static void function_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const dv_function *function = (const dv_function *)object;
    visit(vm, dv_object_value(function->code), context);
    visit(vm, function->globals, context);
    visit(vm, function->defaults, context);
    visit(vm, function->keyword_defaults, context);
    visit(vm, function->closure, context);
    visit(vm, function->annotations, context);
    visit(vm, function->attributes, context);
}

static dv_value function_repr(dv_vm *vm, dv_value self) {
    return dv_str_printf(vm, "<function %S at 0x%llx>", dv_as_function(self)->qualname,
                         dv_identity(vm, self));
}

/* The dict of annotations; made of the tuple of the definition, or empty, when it is first asked
 * for. */
static dv_value function_annotations(dv_vm *vm, dv_function *function) {
    dv_value known = function->annotations;
    if (dv_is_dict(known)) return dv_retain(known);
    dv_value dict = dv_dict_new(vm);
    bool done = !dv_is_empty(dict);
    const dv_tuple *pairs = dv_is_empty(known) ? NULL : dv_as_tuple(known);
    for (int64_t i = 0; done && pairs != NULL && i < pairs->count; i += 2)
        done = dv_dict_set(vm, dict, pairs->items[i], pairs->items[i + 1]);
    if (!done) {
        dv_release(vm, dict);
        return DV_EMPTY;
    }
    function->annotations = dv_retain(dict);
    dv_release(vm, known);
    return dict;
}

/* None and `del` take them away. */
static bool set_annotations(dv_vm *vm, dv_function *function, dv_value value) {
    bool none = dv_is_empty(value) || dv_is_none(value);
    if (!none && !dv_is_dict(value)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "__annotations__ must be set to a dict object");
        return false;
    }
    dv_value old = function->annotations;
    function->annotations = none ? DV_EMPTY : dv_retain(value);
    dv_release(vm, old);
    return true;
}

/* Gives the function a dict for what programs store in it. */
static bool own_dict(dv_vm *vm, dv_function *function) {
    if (dv_is_empty(function->attributes)) function->attributes = dv_dict_new(vm);
    return !dv_is_empty(function->attributes);
}

static bool set_dict(dv_vm *vm, dv_function *function, dv_value value) {
    if (dv_is_empty(value) || !dv_is_dict(value)) {
        if (dv_is_empty(value))
            dv_raise(vm, DV_E_TYPE_ERROR, "cannot delete __dict__");
        else
            dv_raise(vm, DV_E_TYPE_ERROR, "__dict__ must be set to a dictionary, not a '%T'",
                     value);
        return false;
    }
    dv_value old = function->attributes;
    function->attributes = dv_retain(value);
    dv_release(vm, old);
    return true;
}

static dv_value function_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    dv_function *function = dv_as_function(self);
    if (!dv_is_empty(function->attributes)) {
        dv_value v = dv_dict_get(vm, function->attributes, name);
        if (!dv_is_empty(v)) return dv_retain(v);
    }
    if (dv_same(name, vm->known.name)) return dv_retain(function->name);
    if (dv_same(name, vm->known.qualname)) return dv_retain(function->qualname);
    if (dv_same(name, vm->known.doc)) return dv_code_doc(vm, function->code);
    if (dv_same(name, vm->known.module)) return dv_retain(dv_as_module(function->globals)->name);
    if (dv_str_is(name, "__defaults__"))
        return dv_is_empty(function->defaults) ? DV_NONE : dv_retain(function->defaults);
    if (dv_same(name, vm->known.annotations)) return function_annotations(vm, function);
    if (dv_str_is(name, "__closure__"))
        return dv_is_empty(function->closure) ? DV_NONE : dv_retain(function->closure);
    if (dv_str_is(name, "__code__")) return dv_retain(dv_object_value(function->code));
    if (dv_str_is(name, "__kwdefaults__"))
        return dv_is_empty(function->keyword_defaults) ? DV_NONE
                                                       : dv_retain(function->keyword_defaults);
    if (dv_same(name, vm->known.dict))
        return own_dict(vm, function) ? dv_retain(function->attributes) : DV_EMPTY;
    if (dv_str_is(name, "__globals__")) return dv_module_globals(vm, function->globals);
    if (dv_same(name, vm->known.builtins))
        return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "'%S' of a function is not part of dl", name);
    return DV_EMPTY;
}

#define NO_DEFAULTS "__defaults__ must be set to a tuple object"

/* Replaces defaults: None and `del` take them away.  The dict and the tuple stay those that were
 * given, as in CPython. */
static bool set_defaults(dv_vm *vm, dv_value *place, dv_type_id type, const char *message,
                         dv_value value) {
    bool none = dv_is_empty(value) || dv_is_none(value);
    if (!none && !dv_has_layout(value, type)) {
        dv_raise(vm, DV_E_TYPE_ERROR, message);
        return false;
    }
    dv_value old = *place;
    *place = none ? DV_EMPTY : dv_retain(value);
    dv_release(vm, old);
    return true;
}

/* Replaces a name of the function: it must be a str. */
static bool set_text(dv_vm *vm, dv_value *place, const char *what, dv_value value) {
    if (dv_is_empty(value) || !dv_is_str(value)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "%s must be set to a string object", what);
        return false;
    }
    dv_value old = *place;
    *place = dv_retain(value);
    dv_release(vm, old);
    return true;
}

static bool function_set_attribute(dv_vm *vm, dv_value self, dv_value name, dv_value value) {
    dv_function *function = dv_as_function(self);
    if (dv_same(name, vm->known.name)) return set_text(vm, &function->name, "__name__", value);
    if (dv_same(name, vm->known.qualname))
        return set_text(vm, &function->qualname, "__qualname__", value);
    if (dv_same(name, vm->known.annotations)) return set_annotations(vm, function, value);
    if (dv_same(name, vm->known.dict)) return set_dict(vm, function, value);
    if (dv_str_is(name, "__defaults__")) {
        /* Regions know those of an __init__, and ask to be told of changes of its class. */
        if (vm->hooks.quicken.forget_classes) vm->hooks.quicken.forget_classes(vm);
        return set_defaults(vm, &function->defaults, DV_T_TUPLE, NO_DEFAULTS, value);
    }
    if (dv_str_is(name, "__kwdefaults__"))
        return set_defaults(vm, &function->keyword_defaults, DV_T_DICT,
                            "__kwdefaults__ must be set to a dict object", value);
    if (dv_str_is(name, "__code__")) {
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "attribute '%S' of functions is read-only in dl", name);
        return false;
    }
    if (dv_same(name, vm->known.class_)) {
        dv_raise(vm, DV_E_TYPE_ERROR, DV_CLASS_IS_FIXED);
        return false;
    }
    if (dv_str_is(name, "__closure__") || dv_str_is(name, "__globals__") ||
        dv_same(name, vm->known.builtins)) {
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "readonly attribute");
        return false;
    }
    if (dv_is_empty(value)) {
        int done =
            dv_is_empty(function->attributes) ? 0 : dv_dict_delete(vm, function->attributes, name);
        if (done == 0)
            dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "'function' object has no attribute '%S'", name);
        return done == 1;
    }
    return own_dict(vm, function) && dv_dict_set(vm, function->attributes, name, value);
}

/* function.__get__(object, class) */
static dv_value function_get(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (!dv_is_none(args[1])) return dv_method_new(vm, args[0], args[1]);
    if (count > 2 && !dv_is_none(args[2])) return dv_retain(args[0]);
    return dv_raise(vm, DV_E_TYPE_ERROR, "__get__(None, None) is invalid");
}

/* Is it a tuple of cells, one for each free variable of the code?  None stands for no cells. */
static bool check_closure(dv_vm *vm, dv_value code, dv_value closure) {
    dv_value names = dv_find_named(vm, code, "co_freevars");
    if (dv_is_empty(names)) return false;
    const int64_t wanted = dv_as_tuple(names)->count;
    dv_release(vm, names);
    const bool none = dv_is_none(closure);
    if (!dv_is_tuple(closure) && (wanted || !none)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "arg 5 (closure) must be %s",
                 wanted ? "tuple" : "None or tuple");
        return false;
    }
    const int64_t count = none ? 0 : dv_as_tuple(closure)->count;
    if (count != wanted) {
        dv_value name = dv_find_named(vm, code, "co_name");
        if (!dv_is_empty(name))
            dv_raise(vm, DV_E_VALUE_ERROR, "%S requires closure of length %lld, not %lld", name,
                     (long long)wanted, (long long)count);
        dv_release(vm, name);
        return false;
    }
    for (int64_t i = 0; i < count; i++) {
        const dv_value cell = dv_as_tuple(closure)->items[i];
        if (dv_is_shape(cell, DV_T_CELL)) continue;
        dv_raise(vm, DV_E_TYPE_ERROR, "arg 5 (closure) expected cell, found %T", cell);
        return false;
    }
    return true;
}

static bool check_construct(dv_vm *vm, const dv_value given[5]) {
    if (!dv_is_shape(given[0], DV_T_CODE))
        dv_arguments_refuse(vm, "function() argument 'code'", "code", given[0]);
    else if (!dv_is_dict(given[1]))
        dv_arguments_refuse(vm, "function() argument 'globals'", "dict", given[1]);
    else if (!dv_is_none(given[2]) && !dv_is_str(given[2]))
        dv_raise(vm, DV_E_TYPE_ERROR, "arg 3 (name) must be None or string");
    else if (!dv_is_none(given[3]) && !dv_is_tuple(given[3]))
        dv_raise(vm, DV_E_TYPE_ERROR, "arg 4 (defaults) must be None or tuple");
    return dv_is_empty(vm->error) && check_closure(vm, given[0], given[4]);
}

/* types.FunctionType(code, globals, name=None, argdefs=None, closure=None) */
static dv_value function_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                   dv_value keywords) {
    static const char *const names[] = {"code", "globals", "name", "argdefs", "closure"};
    static const dv_parameters parameters = {"function", names, 5, 5, 2};
    dv_value given[5];
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, given)) return DV_EMPTY;
    for (int i = 2; i < 5; i++)
        if (dv_is_empty(given[i])) given[i] = DV_NONE;
    if (!check_construct(vm, given)) return DV_EMPTY;
    dv_value made = dv_function_of(vm, given[0], given[1]);
    if (dv_is_empty(made)) return DV_EMPTY;
    dv_function *function = dv_as_function(made);
    if (!dv_is_none(given[2])) set_text(vm, &function->name, "__name__", given[2]);
    if (!dv_is_none(given[3])) function->defaults = dv_retain(given[3]);
    if (!dv_is_none(given[4]) && dv_as_tuple(given[4])->count)
        function->closure = dv_retain(given[4]);
    return made;
}

static const dv_cfunction_def function_methods[] = {
    {.name = "__get__", .entry = function_get, .min = 2, .max = 3, .flags = DV_CFUNCTION_WRAPPER},
    {.name = NULL}};

const dv_type dv_function_type = {
    .name = "function",
    .id = DV_T_FUNCTION,
    .weakly = true,
    .release = function_release,
    .traverse = function_traverse,
    .repr = function_repr,
    .get_attribute = function_get_attribute,
    .set_attribute = function_set_attribute,
    .construct = function_construct,
    .methods = function_methods,
};

/* C functions -----------------------------------------------------------------------------------
 */

dv_value dv_cfunction_new(dv_vm *vm, const dv_cfunction_def *def, dv_value self, dv_value owner) {
    dv_cfunction *function = dv_container_new(vm, sizeof *function, DV_T_CFUNCTION);
    if (!function) return DV_EMPTY;
    function->def = def;
    function->self = dv_retain(self);
    function->owner = dv_retain(owner);
    return dv_object_value(function);
}

static void cfunction_release(dv_vm *vm, dv_object *object) {
    dv_cfunction *function = (dv_cfunction *)object;
    dv_release(vm, function->self);
    dv_release(vm, function->owner);
    dv_container_free(vm, function, sizeof *function);
}

static void cfunction_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const dv_cfunction *function = (const dv_cfunction *)object;
    visit(vm, function->self, context);
    visit(vm, function->owner, context);
}

static bool is_method(const dv_cfunction *function) { return dv_is_class(function->owner); }

static bool is_wrapper(const dv_cfunction *function) {
    return function->def->flags & DV_CFUNCTION_WRAPPER;
}

static bool is_unbound_method(const dv_cfunction *function) {
    return is_method(function) && dv_is_empty(function->self) &&
           !(function->def->flags & DV_CFUNCTION_STATIC);
}

static dv_type_id cfunction_face(dv_value self) {
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(self);
    bool unbound = is_unbound_method(function);
    if (function->def->flags & DV_CFUNCTION_FIELD) return DV_T_MEMBER;
    if (dv_is_getter(self)) return DV_T_GETSET_DESCRIPTOR;
    if (is_wrapper(function)) return unbound ? DV_T_WRAPPER_DESCRIPTOR : DV_T_METHOD_WRAPPER;
    return unbound ? DV_T_METHOD_DESCRIPTOR : DV_T_CFUNCTION;
}

/* How the repr of what stands in a class begins. */
static const char *kind_of(const dv_cfunction *function) {
    if (function->def->flags & DV_CFUNCTION_FIELD) return "member";
    if (function->def->flags & DV_CFUNCTION_GETTER) return "attribute";
    return is_wrapper(function) ? "slot wrapper" : "method";
}

static dv_value cfunction_repr(dv_vm *vm, dv_value self) {
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(self);
    const char *name = function->def->name;
    if (is_unbound_method(function))
        return dv_str_printf(vm, "<%s '%s' of '%S' objects>", kind_of(function), name,
                             dv_as_class(function->owner)->name);
    if (is_wrapper(function))
        return dv_str_printf(vm, "<method-wrapper '%s' of %T object at 0x%llx>", name,
                             function->self, dv_identity(vm, function->self));
    if (!dv_is_empty(function->self))
        return dv_str_printf(vm, "<built-in method %s of %T object at 0x%llx>", name,
                             function->self, dv_identity(vm, function->self));
    return dv_str_printf(vm, "<built-in function %s>", name);
}

/* "list.append" for methods, "len" for functions. */
static dv_value cfunction_qualname(dv_vm *vm, const dv_cfunction *function) {
    if (is_method(function))
        return dv_str_printf(vm, "%S.%s", dv_as_class(function->owner)->name, function->def->name);
    return dv_str_z(vm, function->def->name);
}

/* As messages name it: like the qualified name, with the module if that is not the builtins. */
static dv_value message_name(dv_vm *vm, const dv_cfunction *function) {
    if (dv_is_module(function->owner))
        return dv_str_printf(vm, "%S.%s", dv_as_module(function->owner)->name, function->def->name);
    return cfunction_qualname(vm, function);
}

/* __self__ of what is no unbound method: of functions their module. */
static dv_value bound_to(dv_vm *vm, const dv_cfunction *function) {
    if (!dv_is_empty(function->self)) return dv_retain(function->self);
    if (function->def->flags & DV_CFUNCTION_STATIC && function->def->name[0] != '_')
        return DV_NONE; /* CPython's static methods are bound to nothing, its __new__ to the class
                         */
    if (!dv_is_empty(function->owner)) return dv_retain(function->owner);
    return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "'__self__' of '%s' is not part of dl",
                    function->def->name);
}

static dv_value cfunction_doc(dv_vm *vm, const dv_cfunction *function) {
    if (!is_method(function)) return dv_builtin_doc(vm, message_name(vm, function));
    dv_value owner = dv_class_key(vm, dv_as_class(function->owner));
    dv_value name =
        dv_is_empty(owner) ? DV_EMPTY : dv_str_printf(vm, "%S.%s", owner, function->def->name);
    dv_release(vm, owner);
    return dv_builtin_doc(vm, name);
}

/* Of __new__ of a named tuple: None, or a tuple; of other functions NULL. */
static dv_value *defaults_of(const dv_cfunction *function) {
    return function->def->flags & DV_CFUNCTION_FIELDS ? &dv_as_tuple(function->self)->items[2]
                                                      : NULL;
}

static dv_value cfunction_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(self);
    if (dv_same(name, vm->known.doc)) return cfunction_doc(vm, function);
    if (dv_same(name, vm->known.name)) return dv_str_z(vm, function->def->name);
    if (dv_same(name, vm->known.qualname)) return cfunction_qualname(vm, function);
    if (dv_same(name, vm->known.module) && !is_unbound_method(function)) {
        if (dv_is_module(function->owner)) return dv_retain(dv_as_module(function->owner)->name);
        return is_method(function) ? DV_NONE : dv_str_z(vm, "builtins");
    }
    if (dv_str_is(name, "__self__") && !is_unbound_method(function)) return bound_to(vm, function);
    const dv_value *defaults = defaults_of(function);
    if (defaults && dv_str_is(name, "__defaults__")) return dv_retain(*defaults);
    if (dv_str_is(name, "__objclass__") && (is_unbound_method(function) || is_wrapper(function)))
        return dv_retain(function->owner);
    return DV_EMPTY;
}

/* (Programs set the defaults of a named tuple's __new__.) */
static bool cfunction_set_attribute(dv_vm *vm, dv_value self, dv_value name, dv_value value) {
    dv_value *defaults = defaults_of((const dv_cfunction *)dv_as_object(self));
    if (!defaults || !dv_str_is(name, "__defaults__")) return dv_attribute_refuse(vm, self, name);
    if (!set_defaults(vm, defaults, DV_T_TUPLE, NO_DEFAULTS, value)) return false;
    if (dv_is_empty(*defaults)) *defaults = DV_NONE;
    return true;
}

static dv_value raise_count(dv_vm *vm, const dv_cfunction *function, uint32_t given) {
    const dv_cfunction_def *def = function->def;
    bool counts_self = is_method(function) && !(def->flags & DV_CFUNCTION_STATIC);
    uint32_t hidden = counts_self ? 1 : 0;
    uint32_t min = def->min - hidden, max = def->max == UINT32_MAX ? def->max : def->max - hidden;
    given -= hidden;
    if (min == max && max <= 1) {
        dv_value name = message_name(vm, function);
        if (dv_is_empty(name)) return DV_EMPTY;
        dv_raise(vm, DV_E_TYPE_ERROR, "%S() takes %s (%d given)", name,
                 max == 0 ? "no arguments" : "exactly one argument", (int)given);
        dv_release(vm, name);
        return DV_EMPTY;
    }
    const char *bound = min == max ? "" : given < min ? "at least " : "at most ";
    uint32_t wanted = given < min ? min : max;
    return dv_raise(vm, DV_E_TYPE_ERROR, "%s expected %s%d argument%s, got %d", def->name, bound,
                    (int)wanted, wanted == 1 ? "" : "s", (int)given);
}

/* Is args[0] what a method of a built-in type takes as self? */
static bool check_self(dv_vm *vm, const dv_cfunction *function, const dv_value *args,
                       uint32_t count) {
    const dv_class *class_ = dv_as_class(function->owner);
    const char *name = function->def->name;
    if (count == 0) {
        if (is_wrapper(function))
            dv_raise(vm, DV_E_TYPE_ERROR, "descriptor '%s' of '%S' object needs an argument", name,
                     class_->name);
        else
            dv_raise(vm, DV_E_TYPE_ERROR, "unbound method %S.%s() needs an argument", class_->name,
                     name);
        return false;
    }
    if (dv_class_is_subclass(dv_class_of(vm, args[0]), class_)) return true;
    if (is_wrapper(function)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "descriptor '%s' requires a '%S' object but received a '%T'",
                 name, class_->name, args[0]);
        return false;
    }
    dv_raise(vm, DV_E_TYPE_ERROR, "descriptor '%s' for '%S' objects doesn't apply to a '%T' object",
             name, class_->name, args[0]);
    return false;
}

/* "expected 1 argument, got 0" */
static dv_value raise_wrapper_count(dv_vm *vm, const dv_cfunction_def *def, uint32_t given) {
    const char *bound = def->min == def->max ? "" : given < def->min ? "at least " : "at most ";
    uint32_t wanted = (given < def->min ? def->min : def->max) - 1;
    const char *nameless = def->max > 2 ? " " : ""; /* where CPython's message begins with a name */
    return dv_raise(vm, DV_E_TYPE_ERROR, "%sexpected %s%d argument%s, got %d", nameless, bound,
                    (int)wanted, wanted == 1 ? "" : "s", (int)given - 1);
}

/* Whose slot counts: the type of the function's class, or of self where that only shows itself as
 * of the class. */
static const dv_type *slot_type(dv_vm *vm, const dv_cfunction *function, dv_value self) {
    const dv_type *own = vm->types[dv_type_of(vm, self)];
    return own->face ? own : dv_as_class(function->owner)->descriptor;
}

static dv_value refuse_keywords(dv_vm *vm, const dv_cfunction *function) {
    dv_value name = message_name(vm, function);
    if (dv_is_empty(name)) return DV_EMPTY;
    dv_raise(vm, DV_E_TYPE_ERROR, "%S() takes no keyword arguments", name);
    dv_release(vm, name);
    return DV_EMPTY;
}

/* A function of an extension. */
static dv_value call_foreign(dv_vm *vm, const dv_cfunction *function, const dv_value *args,
                             uint32_t count, dv_value keywords) {
    const dv_cfunction_def *def = function->def;
    bool named = !dv_is_empty(keywords) && dv_as_tuple(keywords)->count > 0;
    if (named && !(def->flags & DV_CFUNCTION_NAMED)) return refuse_keywords(vm, function);
    if (count < def->min || count > def->max) return raise_count(vm, function, count);
    return def->foreign_entry(vm, def, args, count, keywords);
}

/* A function whose entry takes no keywords and is a slot wrapper, or works on a slot; or one of an
 * extension. */
__attribute__((noinline)) static dv_value call_wrapper(dv_vm *vm, const dv_cfunction *function,
                                                       const dv_value *args, uint32_t count,
                                                       dv_value keywords) {
    const dv_cfunction_def *def = function->def;
    if (def->foreign_entry) return call_foreign(vm, function, args, count, keywords);
    if (!dv_is_empty(keywords) && dv_as_tuple(keywords)->count > 0)
        return dv_raise(vm, DV_E_TYPE_ERROR, "wrapper %s() takes no keyword arguments", def->name);
    if (count < def->min || count > def->max)
        return is_wrapper(function) ? raise_wrapper_count(vm, def, count)
                                    : raise_count(vm, function, count);
    if (def->entry) return def->entry(vm, args, count);
    return def->slot_entry(vm, def, slot_type(vm, function, args[0]), args, count);
}

/* T.__new__(C, ...): may T make instances of C? */
static bool check_new(dv_vm *vm, const dv_cfunction *function, const dv_value *args,
                      uint32_t count) {
    const dv_class *owner = dv_as_class(function->owner);
    if (count == 0) {
        dv_raise(vm, DV_E_TYPE_ERROR, "%S.__new__(): not enough arguments", owner->name);
        return false;
    }
    if (!dv_is_class(args[0])) {
        dv_raise(vm, DV_E_TYPE_ERROR, "%S.__new__(X): X is not a type object (%T)", owner->name,
                 args[0]);
        return false;
    }
    const dv_class *class_ = dv_as_class(args[0]);
    if (!dv_class_is_subclass(class_, owner)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "%S.__new__(%S): %S is not a subtype of %S", owner->name,
                 class_->name, class_->name, owner->name);
        return false;
    }
    if (class_->type == owner->type || owner->type == DV_T_OBJECT) return true;
    while (!class_->descriptor) class_ = class_->base;
    dv_raise(vm, DV_E_TYPE_ERROR, "%S.__new__(%S) is not safe, use %S.__new__()", owner->name,
             dv_as_class(args[0])->name, class_->name);
    return false;
}

static dv_value call_entry(dv_vm *vm, const dv_cfunction *function, const dv_value *args,
                           uint32_t count, dv_value keywords) {
    const dv_cfunction_def *def = function->def;
    if (def->keyword_entry) {
        uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
        if (count - named < def->min || (count - named > def->max && named == 0))
            if (named == 0) return raise_count(vm, function, count);
        return def->keyword_entry(vm, args, count, keywords);
    }
    if (DV_UNLIKELY(!def->entry || def->flags & DV_CFUNCTION_WRAPPER))
        return call_wrapper(vm, function, args, count, keywords);
    if (!dv_is_empty(keywords) && dv_as_tuple(keywords)->count > 0)
        return refuse_keywords(vm, function);
    if (count < def->min || count > def->max) return raise_count(vm, function, count);
    return def->entry(vm, args, count);
}

/* Of a getter or a __new__. */
__attribute__((noinline)) static bool may_call(dv_vm *vm, dv_value callee, const dv_value *args,
                                               uint32_t count) {
    if (!dv_is_getter(callee))
        return check_new(vm, (const dv_cfunction *)dv_as_object(callee), args, count);
    dv_raise(vm, DV_E_TYPE_ERROR, "'%T' object is not callable", callee);
    return false;
}

static dv_value cfunction_call(dv_vm *vm, dv_value callee, const dv_value *args, uint32_t count,
                               dv_value keywords) {
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(callee);
    if (dv_is_empty(function->self)) {
        const uint32_t rare = DV_CFUNCTION_GETTER | DV_CFUNCTION_NEW;
        if (DV_UNLIKELY(function->def->flags & rare) && !may_call(vm, callee, args, count))
            return DV_EMPTY;
        if (is_unbound_method(function) && !check_self(vm, function, args, count)) return DV_EMPTY;
        return call_entry(vm, function, args, count, keywords);
    }
    dv_value few[6], *all = few;
    size_t size = (count + 1) * sizeof *all;
    if (count + 1 > 6 && !(all = dv_heap_alloc(&vm->heap, size))) return dv_raise_memory(vm);
    all[0] = function->self;
    if (count) memcpy(all + 1, args, count * sizeof *args);
    dv_value result = call_entry(vm, function, all, count + 1, keywords);
    if (all != few) dv_heap_free(&vm->heap, all, size);
    return result;
}

/* Bound methods of one object are equal if their functions are; methods of types share those of
 * their slots (__repr__) with other types. */
static dv_value cfunction_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    (void)vm;
    if (!dv_is_shape(b, DV_T_CFUNCTION) || (op != DV_EQ && op != DV_NE)) return DV_NOTIMPLEMENTED;
    const dv_cfunction *fa = (const dv_cfunction *)dv_as_object(a);
    const dv_cfunction *fb = (const dv_cfunction *)dv_as_object(b);
    bool same = fa->def == fb->def && dv_same(fa->self, fb->self) &&
                (!dv_is_empty(fa->self) || dv_same(fa->owner, fb->owner));
    return dv_bool(same == (op == DV_EQ));
}

static bool cfunction_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(self);
    dv_value of = dv_is_empty(function->self) ? function->owner : function->self;
    const uint64_t def = dv_identity_of(vm, (uintptr_t)function->def);
    *hash = (int64_t)(def >> 4 ^ dv_identity(vm, of));
    return true;
}

/* clang-format off */
#define CFUNCTION(shown, number) \
    .name = shown, .id = number, \
    .face = cfunction_face, .release = cfunction_release, .traverse = cfunction_traverse, \
    .repr = cfunction_repr, .hash = cfunction_hash, .compare = cfunction_compare, \
    .get_attribute = cfunction_get_attribute, .set_attribute = cfunction_set_attribute, \
    .call = cfunction_call
/* clang-format on */

static const dv_cfunction_def descriptor_methods[] = {{.name = "__get__",
                                                       .entry = dv_descriptor_get,
                                                       .min = 2,
                                                       .max = 3,
                                                       .flags = DV_CFUNCTION_WRAPPER},
                                                      {.name = NULL}};

const dv_type dv_cfunction_type = {CFUNCTION("builtin_function_or_method", DV_T_CFUNCTION),
                                   .weakly = true};
const dv_type dv_cfunction_faces[DV_CFUNCTION_FACES] = {
    {CFUNCTION("wrapper_descriptor", DV_T_WRAPPER_DESCRIPTOR), .methods = descriptor_methods},
    {CFUNCTION("method-wrapper", DV_T_METHOD_WRAPPER)},
    {CFUNCTION("method_descriptor", DV_T_METHOD_DESCRIPTOR), .methods = descriptor_methods},
    {CFUNCTION("getset_descriptor", DV_T_GETSET_DESCRIPTOR), .methods = descriptor_methods},
};

/* Bound methods ---------------------------------------------------------------------------------
 */

dv_value dv_method_new(dv_vm *vm, dv_value function, dv_value self) {
    dv_method *method = dv_container_new(vm, sizeof *method, DV_T_METHOD);
    if (!method) return DV_EMPTY;
    method->function = dv_retain(function);
    method->self = dv_retain(self);
    return dv_object_value(method);
}

static void method_release(dv_vm *vm, dv_object *object) {
    dv_method *method = (dv_method *)object;
    dv_release(vm, method->function);
    dv_release(vm, method->self);
    dv_container_free(vm, method, sizeof *method);
}

static void method_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const dv_method *method = (const dv_method *)object;
    visit(vm, method->function, context);
    visit(vm, method->self, context);
}

static dv_value method_repr(dv_vm *vm, dv_value self) {
    const dv_method *method = (const dv_method *)dv_as_object(self);
    dv_value name = dv_find_attribute(vm, method->function, vm->known.qualname);
    if (dv_is_empty(name) && dv_is_empty(vm->error))
        name = dv_find_attribute(vm, method->function, vm->known.name);
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    bool named = !dv_is_empty(name) && dv_is_str(name);
    dv_value text = named ? dv_str_printf(vm, "<bound method %S of %V>", name, method->self)
                          : dv_str_printf(vm, "<bound method ? of %V>", method->self);
    dv_release(vm, name);
    return text;
}

static dv_value method_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    const dv_method *method = (const dv_method *)dv_as_object(self);
    if (dv_str_is(name, "__self__")) return dv_retain(method->self);
    if (dv_str_is(name, "__func__")) return dv_retain(method->function);
    return dv_get_attribute(vm, method->function, name);
}

static dv_value method_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    (void)vm;
    if (!dv_is_shape(b, DV_T_METHOD) || (op != DV_EQ && op != DV_NE)) return DV_NOTIMPLEMENTED;
    const dv_method *ma = (const dv_method *)dv_as_object(a);
    const dv_method *mb = (const dv_method *)dv_as_object(b);
    bool same = dv_same(ma->function, mb->function) && dv_same(ma->self, mb->self);
    return dv_bool(same == (op == DV_EQ));
}

static bool method_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    const dv_method *method = (const dv_method *)dv_as_object(self);
    *hash = (int64_t)(dv_identity(vm, method->function) >> 4 ^ dv_identity(vm, method->self));
    return true;
}

/* types.MethodType(function, instance) */
static dv_value method_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                 dv_value keywords) {
    if (!dv_is_empty(keywords))
        return dv_raise(vm, DV_E_TYPE_ERROR, "method() takes no keyword arguments");
    if (count != 2)
        return dv_raise(vm, DV_E_TYPE_ERROR, "method expected 2 arguments, got %d", (int)count);
    if (!dv_is_callable(vm, args[0]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "first argument must be callable");
    if (dv_is_none(args[1])) return dv_raise(vm, DV_E_TYPE_ERROR, "instance must not be None");
    return dv_method_new(vm, args[0], args[1]);
}

const dv_type dv_method_type = {
    .name = "method",
    .id = DV_T_METHOD,
    .weakly = true,
    .release = method_release,
    .traverse = method_traverse,
    .repr = method_repr,
    .hash = method_hash,
    .compare = method_compare,
    .get_attribute = method_get_attribute,
    .construct = method_construct,
};
