/* metaclass.c: classes whose class is not `type` (metaclass.h), and the methods of `type`. */
#include "types/class/metaclass.h"

#include "core/upcall.h"
#include "types/class/class.h"
#include "types/class/class_build.h"
#include "types/mapping/dict.h"
#include "types/class/directory.h"
#include "types/class/instance.h"
#include "types/file/file.h"
#include "types/sequence/list.h"
#include "types/class/lookup.h"
#include "types/text/str_search.h"
#include "types/sequence/tuple.h"
#include "types/callable/variable.h"

#define METACLASS_CONFLICT                                                                         \
    "metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of the " \
    "metaclasses of all its bases"

/* Which it is -----------------------------------------------------------------------------------
 */

bool dv_metaclass_refuses(dv_vm *vm, dv_value name) {
    const dv_value names[] = {vm->known.get, vm->known.set, vm->known.delete_, vm->known.del};
    bool refuses = dv_str_is(name, "mro");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) refuses |= dv_same(name, names[i]);
    if (refuses) dv_raise(vm, DV_E_TYPE_ERROR, "a metaclass with %S is not part of dl", name);
    return refuses;
}

dv_class *dv_metaclass_winner(dv_vm *vm, dv_class *given, dv_value bases) {
    dv_class *winner = given;
    const dv_tuple *tuple = dv_as_tuple(bases);
    for (int64_t i = 0; i < tuple->count; i++) {
        if (!dv_is_class(tuple->items[i])) continue;
        dv_class *meta = dv_class_of(vm, tuple->items[i]);
        if (dv_class_is_subclass(winner, meta)) continue;
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

/* What makes the class (borrowed): the metaclass, or anything else that a class statement names;
 * EMPTY: raised. */
static dv_value find_maker(dv_vm *vm, dv_value keywords, dv_value bases) {
    int64_t position = 0;
    dv_value key, value, given = dv_object_value(vm->classes[DV_T_CLASS]);
    while (!dv_is_empty(keywords) && dv_dict_walk(keywords, &position, &key, &value))
        if (dv_is_str(key) && dv_str_is(key, "metaclass")) given = value;
    if (!dv_is_class(given)) return given;
    dv_class *winner = dv_metaclass_winner(vm, dv_as_class(given), bases);
    return winner ? dv_object_value(winner) : DV_EMPTY;
}

static bool is_mapping(dv_vm *vm, dv_value v) {
    if (dv_is_dict(v) || dv_has_special(vm, v, vm->known.getitem)) return true;
    const dv_type *type = vm->types[dv_type_of(vm, v)];
    return type->get_item && type->id != DV_T_OBJECT && type->id != DV_T_CLASS;
}

static dv_value check_namespace(dv_vm *vm, dv_value maker, dv_value space) {
    if (dv_is_empty(space) || is_mapping(vm, space)) return space;
    if (dv_is_class(maker))
        dv_raise(vm, DV_E_TYPE_ERROR, "%S.__prepare__() must return a mapping, not %T",
                 dv_as_class(maker)->name, space);
    else
        dv_raise(vm, DV_E_TYPE_ERROR, "<metaclass>.__prepare__() must return a mapping, not %T",
                 space);
    dv_release(vm, space);
    return DV_EMPTY;
}

/* Has what is no class an __mro_entries__? */
static bool entries_of(dv_vm *vm, dv_value base, dv_value *function) {
    *function = dv_find_named(vm, base, "__mro_entries__");
    return !dv_is_empty(*function);
}

/* Appends what stands for one base. */
static bool add_base(dv_vm *vm, dv_value list, dv_value base, dv_value bases) {
    dv_value function;
    if (dv_is_file_base(base)) {
        dv_value stands = dv_file_base(vm, base);
        bool added = !dv_is_empty(stands) && dv_list_append(vm, list, stands);
        dv_release(vm, stands);
        return added;
    }
    if (dv_is_class(base)) return dv_list_append(vm, list, base);
    if (!entries_of(vm, base, &function))
        return dv_is_empty(vm->error) && dv_list_append(vm, list, base);
    dv_value entries = dv_call(vm, function, &bases, 1, DV_EMPTY);
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
    while (classes < tuple->count && dv_is_class(tuple->items[classes]) &&
           !dv_is_file_base(tuple->items[classes]))
        classes++;
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
    dv_value maker = find_maker(vm, keywords, bases), args[] = {name, bases}, space;
    if (dv_is_empty(maker)) return DV_EMPTY;
    dv_value function = dv_same(maker, dv_object_value(vm->classes[DV_T_CLASS]))
                            ? DV_EMPTY
                            : dv_find_attribute(vm, maker, vm->known.prepare);
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    if (dv_is_empty(function)) {
        space = dv_dict_new(vm);
    } else {
        space = check_namespace(vm, maker, call_with_dict(vm, function, args, 2, keywords));
        dv_release(vm, function);
    }
    return with_written(vm, space, bases, written);
}

/* ... and makes the class ------------------------------------------------------------------------
 */

/* Methods find their class in the cell that type.__new__ was to find in the namespace. */
static bool check_cell(dv_vm *vm, dv_value cell, dv_value class_, dv_value name) {
    dv_value found = dv_as_variable(cell)->value;
    if (!dv_is_class(class_) || dv_same(found, class_)) return true;
    if (dv_is_empty(found))
        dv_raise(vm, DV_E_RUNTIME_ERROR,
                 "__class__ not set defining %V as %V. Was __classcell__ propagated to "
                 "type.__new__?",
                 name, class_);
    else
        dv_raise(vm, DV_E_TYPE_ERROR, "__class__ set to %V defining %V as %V", found, name, class_);
    return false;
}

/* Calls what makes the class. */
static dv_value build_by_call(dv_vm *vm, dv_value maker, const dv_value *parts, dv_value keywords) {
    dv_value cell = DV_EMPTY;
    if (dv_is_dict(parts[2])) cell = dv_retain(dv_dict_get(vm, parts[2], vm->known.class_cell));
    dv_value class_ = call_with_dict(vm, maker, parts, 3, keywords);
    bool good = dv_is_empty(class_) || !dv_is_shape(cell, DV_T_CELL) ||
                check_cell(vm, cell, class_, parts[0]);
    dv_release(vm, cell);
    if (good) return class_;
    dv_release(vm, class_);
    return DV_EMPTY;
}

dv_value dv_class_build(dv_vm *vm, dv_value name, dv_value bases, dv_value keywords,
                        dv_value namespace) {
    dv_value maker = find_maker(vm, keywords, bases), parts[] = {name, bases, namespace};
    if (dv_is_empty(maker)) return DV_EMPTY;
    dv_class *type = vm->classes[DV_T_CLASS];
    if (!dv_same(maker, dv_object_value(type))) return build_by_call(vm, maker, parts, keywords);
    if (dv_is_empty(keywords)) return dv_class_make(vm, type, parts, NULL, DV_EMPTY);
    uint32_t count = 0;
    size_t size = ((size_t)dv_as_dict(keywords)->count + 1) * sizeof *parts;
    dv_value *values = dv_heap_alloc(&vm->heap, size), names = DV_EMPTY, result = DV_EMPTY;
    if (!values) return dv_raise_memory(vm);
    if (add_keywords(vm, keywords, values, &count, &names))
        result = dv_class_make(vm, type, parts, values, names);
    dv_release(vm, names);
    dv_heap_free(&vm->heap, values, size);
    return result;
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
    dv_value function = DV_EMPTY;
    for (int64_t i = 0; i < tuple->count; i++) {
        if (dv_is_class(tuple->items[i])) continue;
        if (entries_of(vm, tuple->items[i], &function))
            dv_raise(vm, DV_E_TYPE_ERROR,
                     "type() doesn't support MRO entry resolution; use types.new_class()");
        else if (dv_is_empty(vm->error))
            dv_raise(vm, DV_E_TYPE_ERROR, METACLASS_CONFLICT);
        dv_release(vm, function);
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
    dv_class *winner = dv_metaclass_winner(vm, dv_as_class(args[0]), args[2]);
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
    (void)args;
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    if (count - named == 2 && named)
        return dv_raise(vm, DV_E_TYPE_ERROR, "type.__init__() takes no keyword arguments");
    if (count - named != 2 && count - named != 4)
        return dv_raise(vm, DV_E_TYPE_ERROR, "type.__init__() takes 1 or 3 arguments");
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
    int is = dv_is_instance_plainly(vm, args[1], args[0]);
    return is < 0 ? DV_EMPTY : dv_bool(is);
}

static dv_value type_subclasscheck(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int is = dv_is_subclass_plainly(vm, args[1], args[0]);
    return is < 0 ? DV_EMPTY : dv_bool(is);
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
