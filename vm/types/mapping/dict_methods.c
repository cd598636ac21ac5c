/* dict_methods.c: the type dict: operators and methods. */
#include "core/upcall.h"
#include "core/work.h"
#include "types/callable/arguments.h"
#include "types/mapping/dict_view.h"
#include "types/class/instance.h"
#include "types/sequence/sequence.h"
#include "types/mapping/set.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

/* ---- Operators ---------------------------------------------------------------------------------
 */

static bool append_entry(dv_builder *b, dv_value key, dv_value value) {
    dv_retain(key);
    dv_retain(value);
    bool good = dv_builder_repr(b, key);
    if (good) {
        dv_builder_text(b, ": ", 2);
        good = dv_builder_repr(b, value);
    }
    dv_release(b->vm, key);
    dv_release(b->vm, value);
    return good;
}

static dv_value repr_entries(dv_vm *vm, dv_value self) {
    dv_builder b;
    int64_t position = 0;
    dv_value key, value;
    dv_builder_init(&b, vm);
    dv_builder_char(&b, '{');
    for (bool first = true; dv_dict_walk(self, &position, &key, &value); first = false) {
        if (!first) dv_builder_text(&b, ", ", 2);
        if (dv_work(vm, 4) && append_entry(&b, key, value)) continue;
        dv_builder_discard(&b);
        return DV_EMPTY;
    }
    dv_builder_char(&b, '}');
    return dv_builder_finish(&b);
}

static dv_value dict_repr(dv_vm *vm, dv_value self) {
    struct dv_repr_guard guard;
    if (!dv_repr_enter(vm, &guard, self)) return dv_str_z(vm, "{...}");
    dv_value result = repr_entries(vm, self);
    dv_repr_leave(vm);
    return result;
}

static bool dict_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    (void)hash;
    dv_raise(vm, DV_E_TYPE_ERROR, "unhashable type: '%T'", self);
    return false;
}

/* Has other an equal value for this key?  1, 0, -1. */
static int entry_in(dv_vm *vm, dv_value other, const dv_dict_entry *entry) {
    dv_value key = dv_retain(entry->key), value = dv_retain(entry->value);
    dv_value found = dv_dict_get_hashed(vm, other, key, entry->hash);
    int equal = dv_is_empty(found)      ? 0
                : dv_same(found, value) ? 1
                                        : dv_items_equal(vm, found, value);
    dv_release(vm, key);
    dv_release(vm, value);
    return dv_is_empty(vm->error) ? equal : -1;
}

static int dicts_equal(dv_vm *vm, dv_value a, dv_value b) {
    if (dv_as_dict(a)->count != dv_as_dict(b)->count) return 0;
    int64_t position = 0;
    const dv_dict_entry *entry;
    while ((entry = dv_dict_walk_entry(a, &position))) {
        int equal = dv_work(vm, 2) ? entry_in(vm, b, entry) : -1;
        if (equal != 1) return equal;
    }
    return 1;
}

static dv_value dict_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    if (!dv_is_dict(a) || !dv_is_dict(b) || (op != DV_EQ && op != DV_NE)) return DV_NOTIMPLEMENTED;
    int equal = dicts_equal(vm, a, b);
    return equal < 0 ? DV_EMPTY : dv_bool(equal == (op == DV_EQ));
}

static dv_value dict_binary(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    if (op != DV_BINARY_OR || !dv_is_dict(a) || !dv_is_dict(b)) return DV_NOTIMPLEMENTED;
    dv_value result = dv_dict_copy_seen(vm, a);
    if (dv_is_empty(result) || dv_dict_update(vm, result, b)) return result;
    dv_release(vm, result);
    return DV_EMPTY;
}

static dv_value dict_inplace(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    if (op != DV_BINARY_OR || !dv_is_dict(a)) return DV_NOTIMPLEMENTED;
    return dv_dict_update(vm, a, b) ? dv_retain(a) : DV_EMPTY;
}

static int64_t dict_length(dv_vm *vm, dv_value self) {
    (void)vm;
    return dv_as_dict(self)->count;
}

static dv_value dict_get_item(dv_vm *vm, dv_value self, dv_value key) {
    dv_value value = dv_dict_get(vm, self, key);
    if (DV_LIKELY(!dv_is_empty(value))) return dv_retain(value);
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    bool found;
    value = dv_special_call(vm, self, vm->known.missing, &key, 1, &found);
    return found ? value : dv_raise_value(vm, DV_E_KEY_ERROR, key);
}

static bool dict_set_item(dv_vm *vm, dv_value self, dv_value key, dv_value value) {
    if (!dv_is_empty(value)) return dv_dict_set(vm, self, key, value);
    int deleted = dv_dict_delete(vm, self, key);
    if (deleted == 0) dv_raise_value(vm, DV_E_KEY_ERROR, key);
    return deleted == 1;
}

static int dict_contains(dv_vm *vm, dv_value self, dv_value key) {
    if (!dv_is_empty(dv_dict_get(vm, self, key))) return 1;
    return dv_is_empty(vm->error) ? 0 : -1;
}

static dv_value dict_iterate(dv_vm *vm, dv_value self) {
    return dv_dict_iterator_new(vm, self, DV_DICT_KEYS);
}

/* ---- Methods -----------------------------------------------------------------------------------
 */

static dv_value dict_keys(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_dict_view_new(vm, args[0], DV_DICT_KEYS);
}

static dv_value dict_values(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_dict_view_new(vm, args[0], DV_DICT_VALUES);
}

static dv_value dict_items(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_dict_view_new(vm, args[0], DV_DICT_ITEMS);
}

static dv_value dict_get(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_value value = dv_dict_get(vm, args[0], args[1]);
    if (!dv_is_empty(value)) return dv_retain(value);
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    return count > 2 ? dv_retain(args[2]) : DV_NONE;
}

static const dv_declared pop_raises = {DV_E_KEY_ERROR, 2, NULL};

static dv_value dict_pop(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_value value = DV_EMPTY;
    /* An empty dict does not look at the key, as in CPython: it may even be unhashable. */
    if (dv_as_dict(args[0])->count > 0 && !dv_dict_pop(vm, args[0], args[1], &value))
        return DV_EMPTY;
    if (!dv_is_empty(value)) return value;
    return count > 2 ? dv_retain(args[2]) : dv_raise_declared(vm, &pop_raises, args[1]);
}

static dv_value dict_popitem(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value pair[2];
    if (!dv_dict_pop_last(args[0], &pair[0], &pair[1]))
        return dv_raise(vm, DV_E_KEY_ERROR, "popitem(): dictionary is empty");
    return dv_tuple_take(vm, pair, 2);
}

static dv_value dict_setdefault(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_value standard = count > 2 ? args[2] : DV_NONE;
    dv_value value = dv_dict_get_or_set(vm, args[0], args[1], standard);
    return dv_is_empty(value) ? DV_EMPTY : dv_retain(value);
}

/* Arguments of dict() and update(): at most one positional one, then keywords. */
static bool update_all(dv_vm *vm, const char *function, dv_value dict, const dv_value *args,
                       uint32_t count, dv_value keywords) {
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    uint32_t positional = count - named;
    if (!dv_arguments_count(vm, function, positional, 0, 1)) return false;
    if (positional && !dv_dict_update(vm, dict, args[0])) return false;
    for (uint32_t i = 0; i < named; i++)
        if (!dv_dict_set(vm, dict, dv_as_tuple(keywords)->items[i], args[positional + i]))
            return false;
    return true;
}

static dv_value dict_update(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    return update_all(vm, "update", args[0], args + 1, count - 1, keywords) ? DV_NONE : DV_EMPTY;
}

static dv_value dict_copy(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_dict_copy_seen(vm, args[0]);
}

static dv_value dict_clear(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_dict_clear(vm, args[0]);
    return DV_NONE;
}

/* The next key of a dict or set with its hash, which is not asked for again; EMPTY: the last. */
static dv_value next_hashed(dv_value keys, uint64_t *position, int64_t *hash) {
    if (dv_is_shape(keys, DV_T_DICT)) {
        int64_t at = (int64_t)*position;
        const dv_dict_entry *entry = dv_dict_walk_entry(keys, &at);
        if (!entry) return DV_EMPTY;
        *position = (uint64_t)at;
        *hash = entry->hash;
        return entry->key;
    }
    const dv_set_entry *entry = dv_set_walk(keys, position);
    if (!entry) return DV_EMPTY;
    *hash = entry->hash;
    return entry->key;
}

static bool set_hashed_keys(dv_vm *vm, dv_value dict, dv_value keys, dv_value value) {
    uint64_t position = 0;
    int64_t hash;
    bool good = true;
    while (good) {
        dv_value key = dv_retain(next_hashed(keys, &position, &hash));
        if (dv_is_empty(key)) break;
        good = dv_work(vm, 2) && dv_dict_set_hashed(vm, dict, key, hash, value);
        dv_release(vm, key);
    }
    return good;
}

static bool set_keys(dv_vm *vm, dv_value dict, dv_value iterable, dv_value value) {
    bool known = dv_is_shape(iterable, DV_T_DICT) || dv_is_shape(iterable, DV_T_SET) ||
                 dv_is_shape(iterable, DV_T_FROZENSET);
    if (known && dv_is_shape(dict, DV_T_DICT)) return set_hashed_keys(vm, dict, iterable, value);
    dv_value iterator = dv_iterate(vm, iterable);
    if (dv_is_empty(iterator)) return false;
    bool good = true, exact = dv_is_shape(dict, DV_T_DICT);
    while (good) {
        dv_value key = dv_next(vm, iterator);
        if (dv_is_empty(key)) break;
        good = exact ? dv_dict_set(vm, dict, key, value) : dv_set_item(vm, dict, key, value);
        dv_release(vm, key);
    }
    dv_release(vm, iterator);
    return good && dv_is_empty(vm->error);
}

/* args[0] is the class. */
static dv_value dict_fromkeys(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_value dict = dv_call(vm, args[0], NULL, 0, DV_EMPTY);
    if (dv_is_empty(dict)) return DV_EMPTY;
    if (set_keys(vm, dict, args[1], count > 2 ? args[2] : DV_NONE)) return dict;
    dv_release(vm, dict);
    return DV_EMPTY;
}

static dv_value dict_construct(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    dv_value dict = dv_dict_new(vm);
    if (dv_is_empty(dict) || update_all(vm, "dict", dict, args, count, keywords)) return dict;
    dv_release(vm, dict);
    return DV_EMPTY;
}

static bool dict_initialise(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                            dv_value keywords) {
    return update_all(vm, "dict", self, args, count, keywords);
}

static dv_value dict_reversed(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_dict_reversed(vm, args[0], DV_DICT_KEYS);
}

static const dv_cfunction_def dict_methods[] = {
    {.name = "keys", .entry = dict_keys, .min = 1, .max = 1},
    {.name = "values", .entry = dict_values, .min = 1, .max = 1},
    {.name = "items", .entry = dict_items, .min = 1, .max = 1},
    {.name = "get", .entry = dict_get, .min = 2, .max = 3, .inlined = DV_INLINED_GET},
    {.name = "pop", .entry = dict_pop, .min = 2, .max = 3, .raises = &pop_raises},
    {.name = "popitem", .entry = dict_popitem, .min = 1, .max = 1},
    {.name = "setdefault", .entry = dict_setdefault, .min = 2, .max = 3},
    {.name = "update", .keyword_entry = dict_update, .min = 1, .max = UINT32_MAX},
    {.name = "copy", .entry = dict_copy, .min = 1, .max = 1},
    {.name = "clear", .entry = dict_clear, .min = 1, .max = 1},
    {.name = "__reversed__", .entry = dict_reversed, .min = 1, .max = 1},
    {.name = "fromkeys", .entry = dict_fromkeys, .min = 2, .max = 3, .flags = DV_CFUNCTION_CLASS},
    {.name = NULL},
};

static void dict_clear_cycle(dv_vm *vm, dv_object *object) {
    dv_dict_clear(vm, dv_object_value(object));
}

const dv_type dv_dict_type = {
    .name = "dict",
    .id = DV_T_DICT,
    .release = dv_dict_release,
    .traverse = dv_dict_traverse,
    .clear = dict_clear_cycle,
    .repr = dict_repr,
    .hash = dict_hash,
    .compare = dict_compare,
    .binary = dict_binary,
    .inplace = dict_inplace,
    .length = dict_length,
    .get_item = dict_get_item,
    .set_item = dict_set_item,
    .contains = dict_contains,
    .iterate = dict_iterate,
    .construct = dict_construct,
    .adopt = dv_dict_adopt,
    .make = dv_dict_make,
    .initialise = dict_initialise,
    .methods = dict_methods,
};
