/* collections_ordered.c: the methods of collections.OrderedDict that are C.  The class itself and
 * the rest of its methods are in lang/lib/collections.dl: it is a subclass of dict, whose order is
 * its own.
 *
 * Invariants
 *  1. What changes one key of the program's choice (update, setdefault, __init__) goes through the
 *     __setitem__ of a subclass; what takes keys away or reorders them goes past it, as in CPython.
 *  2. A dict is not walked while code of the program runs: a copy is. */
#include "modules/data/collections_parts.h"

#include "core/upcall.h"
#include "types/callable/arguments.h"
#include "types/class/class.h"
#include "types/mapping/dict.h"
#include "types/callable/function.h"
#include "types/class/instance.h"
#include "types/sequence/list.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

/* Is its class OrderedDict or a subclass of it? */
static bool is_ordered(dv_vm *vm, dv_value v) {
    return dv_is_dict(v) && dv_is_instance(v) && dv_class_of(vm, v)->flags & DV_CLASS_ORDERED;
}

/* Is it exactly an OrderedDict? */
static bool is_exact(dv_vm *vm, dv_value v) {
    return is_ordered(vm, v) && dv_class_of(vm, v)->base == vm->classes[DV_T_DICT];
}

/* Filling ----------------------------------------------------------------------------------------
 */

static bool has_own_store(dv_vm *vm, dv_value self) {
    return dv_has_special(vm, self, vm->known.setitem);
}

static bool store(dv_vm *vm, dv_value self, dv_value key, dv_value value) {
    return has_own_store(vm, self) ? dv_set_item(vm, self, key, value)
                                   : dv_dict_set(vm, self, key, value);
}

/* self[key] = value for the two items of an iterable. */
static bool store_pair(dv_vm *vm, dv_value self, dv_value pair) {
    dv_value iterator = dv_iterate(vm, pair), parts[3];
    if (dv_is_empty(iterator)) return false;
    int count = 0;
    while (count < 3 && !dv_is_empty(parts[count] = dv_next(vm, iterator))) count++;
    dv_release(vm, iterator);
    bool done = false;
    if (dv_is_empty(vm->error)) {
        if (count == 2)
            done = store(vm, self, parts[0], parts[1]);
        else if (count == 3)
            dv_raise(vm, DV_E_VALUE_ERROR, "too many values to unpack (expected 2)");
        else
            dv_raise(vm, DV_E_VALUE_ERROR, "need more than %d value%s to unpack", count,
                     count ? "" : "s");
    }
    while (count > 0) dv_release(vm, parts[--count]);
    return done;
}

static bool store_pairs(dv_vm *vm, dv_value self, dv_value pairs) {
    dv_value iterator = dv_iterate(vm, pairs);
    if (dv_is_empty(iterator)) return false;
    bool good = true;
    while (good) {
        dv_value pair = dv_next(vm, iterator);
        if (dv_is_empty(pair)) break;
        good = store_pair(vm, self, pair);
        dv_release(vm, pair);
    }
    dv_release(vm, iterator);
    return good && dv_is_empty(vm->error);
}

static bool store_dict(dv_vm *vm, dv_value self, dv_value dict) {
    if (!has_own_store(vm, self)) return dv_dict_update(vm, self, dict);
    dv_value copy = dv_dict_copy(vm, dict), key, value;
    if (dv_is_empty(copy)) return false;
    int64_t position = 0;
    bool good = true;
    while (good && dv_dict_walk(copy, &position, &key, &value))
        good = dv_set_item(vm, self, key, value);
    dv_release(vm, copy);
    return good;
}

/* self[key] = other[key] for what the method `keys` gives. */
static bool store_keys(dv_vm *vm, dv_value self, dv_value other, dv_value method) {
    dv_value keys = dv_call(vm, method, NULL, 0, DV_EMPTY);
    dv_value iterator = dv_is_empty(keys) ? DV_EMPTY : dv_iterate(vm, keys);
    dv_release(vm, keys);
    if (dv_is_empty(iterator)) return false;
    bool good = true;
    while (good) {
        dv_value key = dv_next(vm, iterator);
        if (dv_is_empty(key)) break;
        dv_value value = dv_get_item(vm, other, key);
        good = !dv_is_empty(value) && store(vm, self, key, value);
        dv_release(vm, key);
        dv_release(vm, value);
    }
    dv_release(vm, iterator);
    return good && dv_is_empty(vm->error);
}

/* The method of that name (new); EMPTY: other has none, or raised. */
static dv_value find_method(dv_vm *vm, dv_value other, const char *name) {
    dv_value text = dv_str_intern(vm, name, strlen(name));
    if (dv_is_empty(text)) return DV_EMPTY;
    dv_value method = dv_find_attribute(vm, other, text);
    dv_release(vm, text);
    return method;
}

static bool update_from(dv_vm *vm, dv_value self, dv_value other) {
    if (dv_is_shape(other, DV_T_DICT) || is_exact(vm, other)) return store_dict(vm, self, other);
    dv_value method = find_method(vm, other, "keys");
    bool done = false;
    if (!dv_is_empty(method)) {
        done = store_keys(vm, self, other, method);
        dv_release(vm, method);
        return done;
    }
    if (!dv_is_empty(vm->error)) return false;
    method = find_method(vm, other, "items");
    if (dv_is_empty(method)) return dv_is_empty(vm->error) && store_pairs(vm, self, other);
    dv_value items = dv_call(vm, method, NULL, 0, DV_EMPTY);
    dv_release(vm, method);
    done = !dv_is_empty(items) && store_pairs(vm, self, items);
    dv_release(vm, items);
    return done;
}

/* self, perhaps something to update from, and keyword arguments. */
static bool update_all(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    if (count - named == 2 && !update_from(vm, args[0], args[1])) return false;
    for (uint32_t i = 0; i < named; i++) {
        dv_value name = dv_as_tuple(keywords)->items[i];
        if (!store(vm, args[0], name, args[count - named + i])) return false;
    }
    return true;
}

static int given(uint32_t count, dv_value keywords) {
    return (int)count - 1 - (dv_is_empty(keywords) ? 0 : (int)dv_as_tuple(keywords)->count);
}

static dv_value ordered_init(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    int positional = given(count, keywords);
    if (positional > 1)
        return dv_raise(vm, DV_E_TYPE_ERROR, "expected at most 1 arguments, got %d", positional);
    return update_all(vm, args, count, keywords) ? DV_NONE : DV_EMPTY;
}

static dv_value ordered_update(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    int positional = given(count, keywords);
    if (positional > 1)
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "update() takes at most 1 positional argument (%d given)", positional);
    return update_all(vm, args, count, keywords) ? DV_NONE : DV_EMPTY;
}

/* Without a __contains__, __getitem__ or __setitem__ of dl, it is dict's. */
static dv_value ordered_setdefault(dv_vm *vm, const dv_value *args, uint32_t count,
                                   dv_value keywords) {
    static const char *const names[] = {"key", "default"};
    const dv_parameters parameters = {"setdefault", names, 2, 2, 1};
    dv_value out[2], self = args[0];
    if (!dv_arguments_sort(vm, &parameters, args + 1, count - 1, keywords, out)) return DV_EMPTY;
    dv_value standard = dv_is_empty(out[1]) ? DV_NONE : out[1];
    if (!dv_has_special(vm, self, vm->known.contains) && !has_own_store(vm, self) &&
        !dv_has_special(vm, self, vm->known.getitem)) {
        dv_value value = dv_dict_get_or_set(vm, self, out[0], standard);
        return dv_is_empty(value) ? DV_EMPTY : dv_retain(value);
    }
    int there = dv_contains(vm, self, out[0]);
    if (there < 0) return DV_EMPTY;
    if (there) return dv_get_item(vm, self, out[0]);
    return store(vm, self, out[0], standard) ? dv_retain(standard) : DV_EMPTY;
}

/* Taking away, reordering ------------------------------------------------------------------------
 */

static dv_value ordered_pop(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"key", "default"};
    const dv_parameters parameters = {"pop", names, 2, 2, 1};
    dv_value out[2], value = DV_EMPTY;
    if (!dv_arguments_sort(vm, &parameters, args + 1, count - 1, keywords, out) ||
        !dv_dict_pop(vm, args[0], out[0], &value))
        return DV_EMPTY;
    if (!dv_is_empty(value)) return value;
    return dv_is_empty(out[1]) ? dv_raise_value(vm, DV_E_KEY_ERROR, out[0]) : dv_retain(out[1]);
}

/* The truth of the argument `last`, which is true if it is not given; -1: raised. */
static int is_last(dv_vm *vm, dv_value argument) {
    return dv_is_empty(argument) ? 1 : dv_truth(vm, argument);
}

static dv_value ordered_popitem(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    static const char *const names[] = {"last"};
    const dv_parameters parameters = {"popitem", names, 1, 1, 0};
    dv_value out[1], pair[2];
    if (!dv_arguments_sort(vm, &parameters, args + 1, count - 1, keywords, out)) return DV_EMPTY;
    int last = is_last(vm, out[0]);
    if (last < 0) return DV_EMPTY;
    if (dv_as_dict(args[0])->count == 0) return dv_raise(vm, DV_E_KEY_ERROR, "dictionary is empty");
    if (last) {
        dv_dict_pop_last(args[0], &pair[0], &pair[1]);
        return dv_tuple_take(vm, pair, 2);
    }
    int64_t position = 0;
    const dv_dict_entry *first = dv_dict_walk_entry(args[0], &position);
    pair[0] = dv_retain(first->key);
    pair[1] = DV_EMPTY;
    if (dv_dict_pop(vm, args[0], pair[0], &pair[1]) && !dv_is_empty(pair[1]))
        return dv_tuple_take(vm, pair, 2);
    /* Its hash or what it equals has changed since it was stored. */
    if (dv_is_empty(vm->error)) dv_raise_value(vm, DV_E_KEY_ERROR, pair[0]);
    dv_release(vm, pair[0]);
    return DV_EMPTY;
}

static dv_value ordered_move_to_end(dv_vm *vm, const dv_value *args, uint32_t count,
                                    dv_value keywords) {
    static const char *const names[] = {"key", "last"};
    const dv_parameters parameters = {"move_to_end", names, 2, 2, 1};
    dv_value out[2];
    if (!dv_arguments_sort(vm, &parameters, args + 1, count - 1, keywords, out)) return DV_EMPTY;
    int last = is_last(vm, out[1]);
    if (last < 0) return DV_EMPTY;
    int moved = dv_dict_move(vm, args[0], out[0], last);
    if (moved == 0 && dv_is_none(out[0])) return dv_raise(vm, DV_E_KEY_ERROR, ""); /* as CPython */
    if (moved == 0) return dv_raise_value(vm, DV_E_KEY_ERROR, out[0]);
    return moved < 0 ? DV_EMPTY : DV_NONE;
}

/* Comparing and showing --------------------------------------------------------------------------
 */

/* Have two dicts that are equal the same order?  -1: raised. */
static int same_order(dv_vm *vm, dv_value a, dv_value b) {
    int64_t at_a = 0, at_b = 0;
    dv_value x, y, value;
    while (dv_dict_walk(a, &at_a, &x, &value) && dv_dict_walk(b, &at_b, &y, &value)) {
        int equal = dv_items_equal(vm, x, y);
        if (equal != 1) return equal;
    }
    return 1;
}

/* Equal as dicts, and in the same order if both have one; -1: raised, -2: no dict. */
static int equal(dv_vm *vm, dv_value a, dv_value b) {
    if (!dv_is_dict(b)) return -2;
    dv_value as_dicts = dv_dict_type.compare(vm, DV_EQ, a, b);
    if (dv_is_empty(as_dicts)) return -1;
    if (!dv_same(as_dicts, DV_TRUE)) return 0;
    return is_ordered(vm, b) ? same_order(vm, a, b) : 1;
}

static dv_value ordered_eq(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int result = equal(vm, args[0], args[1]);
    return result == -2 ? DV_NOTIMPLEMENTED : result < 0 ? DV_EMPTY : dv_bool(result);
}

static dv_value ordered_ne(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int result = equal(vm, args[0], args[1]);
    return result == -2 ? DV_NOTIMPLEMENTED : result < 0 ? DV_EMPTY : dv_bool(!result);
}

/* The pairs as a list: what items() of a subclass gives. */
static dv_value list_of_items(dv_vm *vm, dv_value self) {
    dv_value method = find_method(vm, self, "items");
    if (dv_is_empty(method)) return DV_EMPTY;
    dv_value items = dv_call(vm, method, NULL, 0, DV_EMPTY), list = DV_EMPTY;
    dv_release(vm, method);
    if (!dv_is_empty(items)) list = dv_list_new(vm, NULL, 0);
    if (!dv_is_empty(list) && !dv_list_extend(vm, list, items)) {
        dv_release(vm, list);
        list = DV_EMPTY;
    }
    dv_release(vm, items);
    return list;
}

static dv_value ordered_repr(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value name = dv_class_of(vm, args[0])->name, text = DV_EMPTY;
    if (dv_as_dict(args[0])->count == 0) return dv_str_printf(vm, "%S()", name);
    struct dv_repr_guard guard;
    if (!dv_repr_enter(vm, &guard, args[0])) return dv_str_z(vm, "...");
    dv_value items = list_of_items(vm, args[0]);
    if (!dv_is_empty(items)) text = dv_str_printf(vm, "%S(%V)", name, items);
    dv_release(vm, items);
    dv_repr_leave(vm);
    return text;
}

/* The class -------------------------------------------------------------------------------------
 */

#define NAMED(name_) \
    { .name = #name_, .keyword_entry = ordered_##name_, .min = 1, .max = UINT32_MAX }
#define SPECIAL(name_, entry_, count_) \
    { .name = name_, .entry = entry_, .min = count_, .max = count_, .flags = DV_CFUNCTION_WRAPPER }

static const dv_cfunction_def methods[] = {{.name = "__init__",
                                            .keyword_entry = ordered_init,
                                            .min = 1,
                                            .max = UINT32_MAX,
                                            .flags = DV_CFUNCTION_WRAPPER},
                                           NAMED(update),
                                           NAMED(setdefault),
                                           NAMED(pop),
                                           NAMED(popitem),
                                           NAMED(move_to_end),
                                           SPECIAL("__eq__", ordered_eq, 2),
                                           SPECIAL("__ne__", ordered_ne, 2),
                                           SPECIAL("__repr__", ordered_repr, 1),
                                           {.name = NULL}};

dv_value dv_collections_ordered(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_class *class_ = dv_as_class(args[0]);
    class_->flags |= DV_CLASS_FULL_NAME | DV_CLASS_ORDERED;
    for (const dv_cfunction_def *def = methods; def->name; def++) {
        dv_value name = dv_str_intern(vm, def->name, strlen(def->name));
        dv_value method =
            dv_is_empty(name) ? DV_EMPTY : dv_cfunction_new(vm, def, DV_EMPTY, args[0]);
        bool done = !dv_is_empty(method) && dv_class_store(vm, class_, name, method);
        dv_release(vm, name);
        if (!done) return DV_EMPTY;
    }
    return dv_retain(args[0]);
}
