/* objects.c: builtins about objects of any type: len, repr, isinstance, getattr, iter, sorted, ...
 */
#include "builtins/builtins.h"

#include "core/native.h"
#include "types/callable/arguments.h"
#include "types/class/class.h"
#include "types/class/directory.h"
#include "types/number/int.h"
#include "types/sequence/iterator.h"
#include "types/sequence/list.h"
#include "types/file/module.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

static dv_value truth(int value) { return value < 0 ? DV_EMPTY : dv_bool(value); }

static dv_value builtin_len(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t length = dv_length(vm, args[0]);
    return length < 0 ? DV_EMPTY : dv_int_from_int64(vm, length);
}

static dv_value builtin_repr(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!dv_is_instance(args[0])) return dv_repr(vm, args[0]);
    /* As deep as in CPython, where the call of the function and the repr count. */
    if (!dv_enter_native_for(vm, " while calling a Python object")) return DV_EMPTY;
    dv_value text = dv_repr(vm, args[0]);
    dv_leave_native(vm);
    return text;
}

static dv_value builtin_ascii(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_ascii(vm, args[0]);
}

static dv_value builtin_format(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (count == 2 && !dv_is_str(args[1]))
        return dv_arguments_refuse(vm, "format() argument 2", "str", args[1]);
    return dv_format(vm, args[0], count == 2 ? args[1] : DV_EMPTY);
}

static dv_value builtin_hash(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t hash;
    return dv_hash(vm, args[0], &hash) ? dv_int_from_int64(vm, hash) : DV_EMPTY;
}

/* The address of an object, or what stands for it; equal immediate values have equal ids. */
static dv_value builtin_id(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (dv_is_object(args[0])) return dv_int((int64_t)dv_identity(vm, args[0]));
    return dv_int_from_uint64(vm, args[0].bits);
}

static dv_value builtin_callable(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_bool(dv_is_callable(vm, args[0]));
}

static dv_value builtin_isinstance(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    bool plain = dv_is_class(args[1]) && !dv_as_class(args[1])->metaclass;
    const dv_class *own = dv_class_of(vm, args[0]);
    if (plain && dv_class_is_subclass(own, dv_as_class(args[1]))) return DV_TRUE;
    if (plain && !(own->flags & (DV_CLASS_GETATTRIBUTE | DV_CLASS_CLAIMS))) return DV_FALSE;
    return truth(dv_is_instance_of(vm, args[0], args[1]));
}

static dv_value builtin_issubclass(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return truth(dv_is_subclass_of(vm, args[0], args[1]));
}

/* Attributes ------------------------------------------------------------------------------------
 */

/* The name of an attribute as an interned str, new. */
static dv_value attribute_name(dv_vm *vm, dv_value name) {
    if (dv_is_str(name)) return dv_str_intern_value(vm, name);
    return dv_raise(vm, DV_E_TYPE_ERROR, "attribute name must be string, not '%T'", name);
}

static dv_value builtin_getattr(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_value name = attribute_name(vm, args[1]);
    if (dv_is_empty(name)) return DV_EMPTY;
    dv_value result =
        count == 3 ? dv_find_attribute(vm, args[0], name) : dv_get_attribute(vm, args[0], name);
    dv_release(vm, name);
    if (count == 3 && dv_is_empty(result) && dv_is_empty(vm->error)) return dv_retain(args[2]);
    return result;
}

static dv_value builtin_hasattr(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value name = attribute_name(vm, args[1]);
    if (dv_is_empty(name)) return DV_EMPTY;
    dv_value result = dv_find_attribute(vm, args[0], name);
    dv_release(vm, name);
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    dv_release(vm, result);
    return dv_bool(!dv_is_empty(result));
}

static dv_value set_attribute(dv_vm *vm, dv_value object, dv_value name_given, dv_value value) {
    dv_value name = attribute_name(vm, name_given);
    if (dv_is_empty(name)) return DV_EMPTY;
    bool done = dv_set_attribute(vm, object, name, value);
    dv_release(vm, name);
    return done ? DV_NONE : DV_EMPTY;
}

static dv_value builtin_setattr(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return set_attribute(vm, args[0], args[1], args[2]);
}

static dv_value builtin_delattr(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return set_attribute(vm, args[0], args[1], DV_EMPTY);
}

static dv_value builtin_dir(dv_vm *vm, const dv_value *args, uint32_t count) {
    return count ? dv_directory(vm, args[0]) : dv_directory_here(vm);
}

static dv_value builtin_vars(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (count == 0) return dv_calling_locals(vm, "vars");
    dv_value dict = dv_find_attribute(vm, args[0], vm->known.dict);
    if (dv_is_empty(dict) && dv_is_empty(vm->error))
        dv_raise(vm, DV_E_TYPE_ERROR, "vars() argument must have __dict__ attribute");
    return dict;
}

/* Iteration -------------------------------------------------------------------------------------
 */

static dv_value builtin_iter(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (count == 1) return dv_iterate(vm, args[0]);
    if (!dv_is_callable(vm, args[0]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "iter(v, w): v must be callable");
    return dv_call_iterator_new(vm, args[0], args[1]);
}

static dv_value builtin_next(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (count == 1) return dv_next_or_stop(vm, args[0]);
    dv_value item = dv_step(vm, args[0]);
    if (!dv_is_empty(item) || !dv_is_empty(vm->error)) return item;
    return dv_retain(args[1]);
}

/* any (stop_at true) and all (stop_at false). */
static dv_value test_items(dv_vm *vm, dv_value iterable, bool stop_at) {
    dv_value iterator = dv_iterate(vm, iterable);
    if (dv_is_empty(iterator)) return DV_EMPTY;
    bool stopped = false;
    while (!stopped) {
        dv_value item = dv_step(vm, iterator);
        if (dv_is_empty(item)) break;
        int value = dv_is_bool(item) ? dv_same(item, DV_TRUE) : dv_truth(vm, item);
        dv_release(vm, item);
        if (value < 0) break;
        stopped = (value != 0) == stop_at;
    }
    dv_release(vm, iterator);
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    return dv_bool(stopped == stop_at);
}

static dv_value builtin_any(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return test_items(vm, args[0], true);
}

static dv_value builtin_all(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return test_items(vm, args[0], false);
}

/* The argument `reverse` of a sort: an int. */
static bool sort_backwards(dv_vm *vm, dv_value reverse, int *backwards) {
    int64_t number;
    if (dv_is_empty(reverse)) return true;
    if (!dv_int_argument(vm, reverse, &number)) return false;
    *backwards = number != 0;
    return true;
}

static dv_value builtin_sorted(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"key", "reverse", NULL};
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    if (!dv_arguments_count(vm, "sorted", count - named, 1, 1)) return DV_EMPTY;
    dv_value list = dv_list_new(vm, NULL, 0);
    if (dv_is_empty(list)) return DV_EMPTY;
    int backwards = 0;
    /* As in CPython, where the items are collected before list.sort sees the keywords. */
    if (dv_list_extend(vm, list, args[0]) && dv_check_keywords(vm, keywords, names, "sort") &&
        sort_backwards(vm, dv_keyword_argument(args, 1, keywords, "reverse"), &backwards) &&
        dv_list_sort(vm, list, dv_keyword_argument(args, 1, keywords, "key"), backwards))
        return list;
    dv_release(vm, list);
    return DV_EMPTY;
}

/* Modules and the end ---------------------------------------------------------------------------
 */

/* What `import a.b` binds is a: the module of the name up to its first dot. */
static dv_value import_first(dv_vm *vm, dv_value name) {
    const dv_str *s = dv_as_str(name);
    int64_t dot = 0;
    while (dot < s->length && dv_str_at(s, dot) != '.') dot++;
    dv_value first = dv_str_slice(vm, name, 0, dot);
    if (dv_is_empty(first)) return DV_EMPTY;
    dv_value module = dv_import(vm, first);
    dv_release(vm, first);
    return module;
}

static dv_value builtin_import(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"name", "globals", "locals", "fromlist", "level"};
    static const dv_parameters parameters = {"__import__", names, 5, 5, 1};
    dv_value given[5];
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, given)) return DV_EMPTY;
    if (!dv_is_str(given[0])) return dv_raise(vm, DV_E_TYPE_ERROR, "module name must be a string");
    if (!dv_is_empty(given[4]) && given[4].bits != dv_int(0).bits)
        return dv_raise(vm, DV_E_NOT_IMPLEMENTED_ERROR,
                        "a level as argument of __import__() is not part of dl");
    if (dv_as_str(given[0])->length == 0)
        return dv_raise(vm, DV_E_VALUE_ERROR, "Empty module name");
    int from = dv_is_empty(given[3]) ? 0 : dv_truth(vm, given[3]);
    if (from < 0) return DV_EMPTY;
    dv_value module = dv_import_asked(vm, given[0]);
    if (dv_is_empty(module) || from) return module;
    dv_release(vm, module);
    return import_first(vm, given[0]);
}

const dv_cfunction_def dv_builtin_objects[] = {
    {.name = "len", .entry = builtin_len, .min = 1, .max = 1, .inlined = DV_INLINED_LEN},
    {.name = "repr", .entry = builtin_repr, .min = 1, .max = 1},
    {.name = "ascii", .entry = builtin_ascii, .min = 1, .max = 1},
    {.name = "format", .entry = builtin_format, .min = 1, .max = 2},
    {.name = "hash", .entry = builtin_hash, .min = 1, .max = 1},
    {.name = "id", .entry = builtin_id, .min = 1, .max = 1},
    {.name = "callable", .entry = builtin_callable, .min = 1, .max = 1},
    {.name = "isinstance",
     .entry = builtin_isinstance,
     .min = 2,
     .max = 2,
     .inlined = DV_INLINED_ISINSTANCE},
    {.name = "issubclass", .entry = builtin_issubclass, .min = 2, .max = 2},
    {.name = "getattr", .entry = builtin_getattr, .min = 2, .max = 3},
    {.name = "hasattr", .entry = builtin_hasattr, .min = 2, .max = 2},
    {.name = "setattr", .entry = builtin_setattr, .min = 3, .max = 3},
    {.name = "delattr", .entry = builtin_delattr, .min = 2, .max = 2},
    {.name = "dir", .entry = builtin_dir, .min = 0, .max = 1},
    {.name = "vars", .entry = builtin_vars, .min = 0, .max = 1, .inlined = DV_INLINED_FRAME},
    {.name = "iter", .entry = builtin_iter, .min = 1, .max = 2},
    {.name = "next", .entry = builtin_next, .min = 1, .max = 2, .raises = &dv_stop_raises},
    {.name = "any", .entry = builtin_any, .min = 1, .max = 1, .inlined = DV_INLINED_ANY},
    {.name = "all", .entry = builtin_all, .min = 1, .max = 1, .inlined = DV_INLINED_ALL},
    {.name = "sorted",
     .keyword_entry = builtin_sorted,
     .min = 0,
     .max = UINT32_MAX,
     .inlined = DV_INLINED_SORTED},
    {.name = "__import__", .keyword_entry = builtin_import, .min = 0, .max = UINT32_MAX},
    {.name = NULL}};
