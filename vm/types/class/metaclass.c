/* metaclass.c: classes whose class is not `type` (metaclass.h), and the methods of `type`. */
#include "types/class/metaclass.h"

#include "core/upcall.h"
#include "types/class/class.h"
#include "types/class/class_build.h"
#include "types/mapping/dict.h"
#include "types/class/directory.h"
#include "types/class/instance.h"
#include "types/sequence/list.h"
#include "types/class/lookup.h"
#include "types/text/str_search.h"
#include "types/sequence/tuple.h"

#define METACLASS_CONFLICT                                                                         \
    "metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of the " \
    "metaclasses of all its bases"

/* Which it is -----------------------------------------------------------------------------------
 */

bool dv_metaclass_allowed(dv_vm *vm, const dv_class *base) {
    if (dv_calling_library(vm)) return true;
    dv_raise(vm, DV_E_TYPE_ERROR, "a metaclass (subclass of '%S') is not part of dl", base->name);
    return false;
}

dv_class *dv_metaclass_winner(dv_vm *vm, dv_value given, dv_value bases) {
    dv_class *type = vm->classes[DV_T_CLASS], *winner = type;
    if (!dv_is_empty(given)) {
        if (!dv_is_class(given) || !dv_class_is_subclass(dv_as_class(given), type)) {
            dv_raise(vm, DV_E_TYPE_ERROR, "the metaclass %V is not part of dl", given);
            return NULL;
        }
        winner = dv_as_class(given);
    }
    const dv_tuple *tuple = dv_as_tuple(bases);
    for (int64_t i = 0; i < tuple->count; i++) {
        if (!dv_is_class(tuple->items[i])) continue;
        dv_class *meta = dv_as_class(tuple->items[i])->metaclass;
        if (!meta || dv_class_is_subclass(winner, meta)) continue;
        if (!dv_class_is_subclass(meta, winner)) {
            dv_raise(vm, DV_E_TYPE_ERROR, METACLASS_CONFLICT);
            return NULL;
        }
        winner = meta;
    }
    return winner;
}

dv_global_cell *dv_metaclass_special(const dv_class *class_, dv_value name) {
    return class_->metaclass ? dv_class_special(class_->metaclass, name) : NULL;
}

dv_value dv_metaclass_call(dv_vm *vm, dv_value class_, dv_value name, const dv_value *args,
                           uint32_t count, bool *found) {
    *found = false;
    if (!dv_as_class(class_)->metaclass) return DV_EMPTY;
    return dv_special_call(vm, class_, name, args, count, found);
}

/* A class statement asks for the namespace ------------------------------------------------------
 */

/* Splits a dict of keyword arguments, but for `metaclass`, into values (in `args` from `count` on)
 * and a tuple of names. */
static bool add_keywords(dv_vm *vm, dv_value keywords, dv_value *args, uint32_t *count,
                         dv_value *names) {
    int64_t position = 0;
    dv_value key, value, list = dv_list_new(vm, NULL, 0);
    bool good = !dv_is_empty(list);
    while (good && dv_dict_walk(keywords, &position, &key, &value)) {
        if (!dv_is_str(key)) {
            dv_raise(vm, DV_E_TYPE_ERROR, "keywords must be strings");
            good = false;
            break;
        }
        if (dv_str_is(key, "metaclass")) continue;
        args[(*count)++] = value;
        good = dv_list_append(vm, list, key);
    }
    if (good && dv_as_list(list)->count) {
        *names = dv_tuple_new(vm, dv_as_list(list)->items, (uint32_t)dv_as_list(list)->count);
        good = !dv_is_empty(*names);
    }
    dv_release(vm, list);
    return good;
}

static dv_value call_with_dict(dv_vm *vm, dv_value callee, const dv_value *args, uint32_t count,
                               dv_value keywords) {
    if (dv_is_empty(keywords)) return dv_call(vm, callee, args, count, DV_EMPTY);
    size_t size = (count + (size_t)dv_as_dict(keywords)->count) * sizeof *args;
    dv_value *all = dv_heap_alloc(&vm->heap, size), names = DV_EMPTY, result = DV_EMPTY;
    if (!all) return dv_raise_memory(vm);
    memcpy(all, args, count * sizeof *args);
    if (add_keywords(vm, keywords, all, &count, &names))
        result = dv_call(vm, callee, all, count, names);
    dv_release(vm, names);
    dv_heap_free(&vm->heap, all, size);
    return result;
}

static dv_value given_metaclass(dv_value keywords) {
    int64_t position = 0;
    dv_value key, value;
    while (!dv_is_empty(keywords) && dv_dict_walk(keywords, &position, &key, &value))
        if (dv_is_str(key) && dv_str_is(key, "metaclass")) return value;
    return DV_EMPTY;
}

static dv_value check_namespace(dv_vm *vm, const dv_class *meta, dv_value space) {
    if (dv_is_empty(space) || dv_is_dict(space)) return space;
    dv_raise(vm, DV_E_TYPE_ERROR, "%S.__prepare__() must return a mapping, not %T", meta->name,
             space);
    dv_release(vm, space);
    return DV_EMPTY;
}

/* Appends what stands for one base. */
static bool add_base(dv_vm *vm, dv_value list, dv_value base, dv_value bases) {
    static const char text[] = "__mro_entries__";
    if (dv_is_class(base)) return dv_list_append(vm, list, base);
    dv_value name = dv_str_intern(vm, text, sizeof text - 1), entries = DV_EMPTY;
    dv_value function = dv_is_empty(name) ? DV_EMPTY : dv_find_attribute(vm, base, name);
    dv_release(vm, name);
    if (dv_is_empty(function)) return dv_is_empty(vm->error) && dv_list_append(vm, list, base);
    entries = dv_call(vm, function, &bases, 1, DV_EMPTY);
    dv_release(vm, function);
    bool good = !dv_is_empty(entries) && dv_is_tuple(entries);
    if (!good && !dv_is_empty(entries))
        dv_raise(vm, DV_E_TYPE_ERROR, "__mro_entries__ must return a tuple");
    for (int64_t i = 0; good && i < dv_as_tuple(entries)->count; i++)
        good = dv_list_append(vm, list, dv_as_tuple(entries)->items[i]);
    dv_release(vm, entries);
    return good;
}

dv_value dv_metaclass_bases(dv_vm *vm, dv_value bases) {
    const dv_tuple *tuple = dv_as_tuple(bases);
    int64_t classes = 0;
    while (classes < tuple->count && dv_is_class(tuple->items[classes])) classes++;
    if (classes == tuple->count) return dv_retain(bases);
    dv_value list = dv_list_new(vm, NULL, 0), result = DV_EMPTY;
    bool good = !dv_is_empty(list);
    for (int64_t i = 0; good && i < tuple->count; i++)
        good = add_base(vm, list, tuple->items[i], bases);
    if (good) result = dv_tuple_new(vm, dv_as_list(list)->items, (uint32_t)dv_as_list(list)->count);
    dv_release(vm, list);
    return result;
}

/* ... in which a dict says what bases were written. */
static dv_value with_written(dv_vm *vm, dv_value space, dv_value bases, dv_value written) {
    static const char text[] = "__orig_bases__";
    if (dv_is_empty(space) || dv_same(bases, written)) return space;
    dv_value name = dv_str_intern(vm, text, sizeof text - 1);
    bool good = !dv_is_empty(name) && dv_set_item(vm, space, name, written);
    dv_release(vm, name);
    if (good) return space;
    dv_release(vm, space);
    return DV_EMPTY;
}

dv_value dv_metaclass_prepare(dv_vm *vm, dv_value name, dv_value bases, dv_value written,
                              dv_value keywords) {
    dv_class *meta = dv_metaclass_winner(vm, given_metaclass(keywords), bases);
    if (!meta) return DV_EMPTY;
    if (meta == vm->classes[DV_T_CLASS]) return with_written(vm, dv_dict_new(vm), bases, written);
    dv_value function = dv_get_attribute(vm, dv_object_value(meta), vm->known.prepare);
    if (dv_is_empty(function)) return DV_EMPTY;
    dv_value args[] = {name, bases};
    dv_value space = call_with_dict(vm, function, args, 2, keywords);
    dv_release(vm, function);
    return with_written(vm, check_namespace(vm, meta, space), bases, written);
}

/* ... and makes the class ------------------------------------------------------------------------
 */

dv_value dv_class_build(dv_vm *vm, dv_value name, dv_value bases, dv_value keywords,
                        dv_value namespace) {
    dv_class *meta = dv_metaclass_winner(vm, given_metaclass(keywords), bases);
    if (!meta) return DV_EMPTY;
    dv_value args[] = {dv_object_value(meta), name, bases, namespace};
    if (meta != vm->classes[DV_T_CLASS]) return call_with_dict(vm, args[0], args + 1, 3, keywords);
    if (dv_is_empty(keywords)) return dv_class_make(vm, meta, args + 1, NULL, DV_EMPTY);
    uint32_t count = 0;
    size_t size = ((size_t)dv_as_dict(keywords)->count + 1) * sizeof *args;
    dv_value *values = dv_heap_alloc(&vm->heap, size), names = DV_EMPTY, result = DV_EMPTY;
    if (!values) return dv_raise_memory(vm);
    if (add_keywords(vm, keywords, values, &count, &names))
        result = dv_class_make(vm, meta, args + 1, values, names);
    dv_release(vm, names);
    dv_heap_free(&vm->heap, values, size);
    return result;
}

/* What the metaclass has ------------------------------------------------------------------------
 */

int64_t dv_metaclass_length(dv_vm *vm, dv_value self) {
    bool found;
    int64_t length = -1;
    dv_value v = dv_metaclass_call(vm, self, vm->known.len, NULL, 0, &found);
    if (!found)
        dv_raise(vm, DV_E_TYPE_ERROR, "object of type '%T' has no len()", self);
    else if (!dv_is_empty(v) && !dv_as_index(vm, v, &length))
        length = -1;
    dv_release(vm, v);
    return length;
}

dv_value dv_metaclass_get_item(dv_vm *vm, dv_value self, dv_value key) {
    bool found;
    dv_value v = dv_metaclass_call(vm, self, vm->known.getitem, &key, 1, &found);
    return found ? v : dv_class_subscript(vm, self, key);
}

bool dv_metaclass_set_item(dv_vm *vm, dv_value self, dv_value key, dv_value value) {
    return dv_refuse_item(vm, self, key, dv_is_empty(value), false);
}

int dv_metaclass_contains(dv_vm *vm, dv_value self, dv_value item) {
    bool found;
    dv_value v = dv_metaclass_call(vm, self, vm->known.contains, &item, 1, &found);
    if (!found) dv_raise(vm, DV_E_TYPE_ERROR, "argument of type '%T' is not iterable", self);
    int truth = dv_is_empty(v) ? -1 : dv_truth(vm, v);
    dv_release(vm, v);
    return truth;
}

dv_value dv_metaclass_iterate(dv_vm *vm, dv_value self) {
    bool found;
    dv_value v = dv_metaclass_call(vm, self, vm->known.iter, NULL, 0, &found);
    return found ? v : dv_raise(vm, DV_E_TYPE_ERROR, "'%T' object is not iterable", self);
}

/* Methods of type -------------------------------------------------------------------------------
 * Whoever calls one has seen that self is a class (function.c), but for the static __new__. */

static bool check_argument(dv_vm *vm, bool good, int number, const char *wanted, dv_value v) {
    if (!good)
        dv_raise(vm, DV_E_TYPE_ERROR, "type.__new__() argument %d must be %s, not %T", number,
                 wanted, v);
    return good;
}

static bool check_metaclass(dv_vm *vm, dv_value v) {
    if (!dv_is_class(v)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "type.__new__(X): X is not a type object (%T)", v);
        return false;
    }
    const dv_class *class_ = dv_as_class(v);
    if (dv_class_is_subclass(class_, vm->classes[DV_T_CLASS])) return true;
    dv_raise(vm, DV_E_TYPE_ERROR, "type.__new__(%S): %S is not a subtype of type", class_->name,
             class_->name);
    return false;
}

/* The same with a copy of the namespace, which says the module. */
static dv_value make_with_module(dv_vm *vm, dv_class *meta, const dv_value *args,
                                 const dv_value *values, dv_value names) {
    dv_value namespace = dv_dict_copy_seen(vm, args[2]), module = DV_EMPTY, class_ = DV_EMPTY;
    if (!dv_is_empty(namespace)) module = dv_calling_module(vm);
    dv_value parts[] = {args[0], args[1], namespace};
    if (!dv_is_empty(module) &&
        !dv_is_empty(dv_dict_get_or_set(vm, namespace, vm->known.module, module)))
        class_ = dv_class_make(vm, meta, parts, values, names);
    dv_release(vm, module);
    dv_release(vm, namespace);
    return class_;
}

/* What type() asks of its arguments beyond their types. */
static bool check_parts(dv_vm *vm, dv_value name, dv_value bases) {
    const dv_tuple *tuple = dv_as_tuple(bases);
    const dv_str *text = dv_as_str(name);
    for (int64_t i = 0; i < tuple->count; i++) {
        if (dv_is_class(tuple->items[i])) continue;
        dv_raise(vm, DV_E_TYPE_ERROR, METACLASS_CONFLICT);
        return false;
    }
    if (dv_str_find_char(text, 0, 0, text->length) < 0) return true;
    dv_raise(vm, DV_E_VALUE_ERROR, "type name must not contain null characters");
    return false;
}

/* type.__new__(meta, name, bases, namespace, **keywords) */
static dv_value type_new(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    if (count == 0) return dv_raise(vm, DV_E_TYPE_ERROR, "type.__new__(): not enough arguments");
    if (!check_metaclass(vm, args[0])) return DV_EMPTY;
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    if (count - named != 4)
        return dv_raise(vm, DV_E_TYPE_ERROR, "type.__new__() takes exactly 3 arguments (%d given)",
                        (int)(count - named - 1));
    if (!check_argument(vm, dv_is_str(args[1]), 1, "str", args[1]) ||
        !check_argument(vm, dv_is_tuple(args[2]), 2, "tuple", args[2]) ||
        !check_argument(vm, dv_is_dict(args[3]), 3, "dict", args[3]) ||
        !check_parts(vm, args[1], args[2]))
        return DV_EMPTY;
    dv_class *winner = dv_metaclass_winner(vm, args[0], args[2]);
    if (!winner) return DV_EMPTY;
    if (dv_object_value(winner).bits == args[0].bits || !(winner->flags & DV_CLASS_NEW))
        return make_with_module(vm, winner, args + 1, args + 4, keywords);
    dv_value function = dv_get_attribute(vm, dv_object_value(winner), vm->known.new_);
    if (dv_is_empty(function)) return DV_EMPTY;
    dv_value result =
        dv_call_in_front(vm, function, dv_object_value(winner), args + 1, count - 1, keywords);
    dv_release(vm, function);
    return result;
}

static dv_value type_init(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    (void)vm, (void)args, (void)count, (void)keywords;
    return DV_NONE;
}

static dv_value type_call(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    return dv_class_construct(vm, args[0], args + 1, count - 1, keywords);
}

static dv_value type_prepare(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    (void)args, (void)count, (void)keywords;
    return dv_dict_new(vm);
}

static dv_value type_instancecheck(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_bool(dv_class_is_subclass(dv_class_of(vm, args[1]), dv_as_class(args[0])));
}

static dv_value type_subclasscheck(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!dv_is_class(args[1]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "issubclass() arg 1 must be a class");
    return dv_bool(dv_class_is_subclass(dv_as_class(args[1]), dv_as_class(args[0])));
}

static dv_value type_repr(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_class_plain_repr(vm, args[0]);
}

static dv_value tuple_of_order(dv_vm *vm, const dv_class *class_) {
    dv_value list = dv_list_new(vm, NULL, 0);
    bool good = !dv_is_empty(list);
    for (uint32_t i = 0; good && i < class_->mro_count; i++)
        good = dv_list_append(vm, list, dv_object_value(class_->mro[i]));
    if (good) return list;
    dv_release(vm, list);
    return DV_EMPTY;
}

static dv_value type_mro(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return tuple_of_order(vm, dv_as_class(args[0]));
}

static bool is_base(const dv_class *base, const dv_class *class_) {
    for (uint32_t i = 0; i < class_->base_count; i++)
        if (class_->bases[i] == base) return true;
    return false;
}

static dv_value type_subclasses(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_class *class_ = dv_as_class(args[0]);
    dv_value list = dv_list_new(vm, NULL, 0);
    for (dv_class *c = class_->next; c && !dv_is_empty(list); c = c->next) {
        if (!is_base(class_, c) || dv_list_append(vm, list, dv_object_value(c))) continue;
        dv_release(vm, list);
        list = DV_EMPTY;
    }
    return list;
}

const dv_cfunction_def dv_metaclass_methods[] = {
    {.name = "mro", .entry = type_mro, .min = 1, .max = 1},
    {.name = "__subclasses__", .entry = type_subclasses, .min = 1, .max = 1},
    {.name = "__dir__", .entry = dv_class_dir, .min = 1, .max = 1},
    {.name = "__new__",
     .keyword_entry = type_new,
     .min = 0,
     .max = UINT32_MAX,
     .flags = DV_CFUNCTION_STATIC},
    {.name = "__init__",
     .keyword_entry = type_init,
     .min = 1,
     .max = UINT32_MAX,
     .flags = DV_CFUNCTION_WRAPPER},
    {.name = "__call__",
     .keyword_entry = type_call,
     .min = 1,
     .max = UINT32_MAX,
     .flags = DV_CFUNCTION_WRAPPER},
    {.name = "__prepare__",
     .keyword_entry = type_prepare,
     .min = 1,
     .max = UINT32_MAX,
     .flags = DV_CFUNCTION_CLASS},
    {.name = "__instancecheck__", .entry = type_instancecheck, .min = 2, .max = 2},
    {.name = "__subclasscheck__", .entry = type_subclasscheck, .min = 2, .max = 2},
    {.name = "__repr__", .entry = type_repr, .min = 1, .max = 1, .flags = DV_CFUNCTION_WRAPPER},
    {.name = NULL}};
