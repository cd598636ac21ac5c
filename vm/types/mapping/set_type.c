/* set_type.c: the types set and frozenset: operators, methods, iterators.
 *
 * Invariant 1: an exhausted iterator has set EMPTY and stays exhausted. */
#include "core/upcall.h"
#include "core/work.h"
#include "types/callable/arguments.h"
#include "types/mapping/key.h"
#include "types/sequence/list.h"
#include "types/sequence/sequence.h"
#include "types/mapping/set.h"
#include "types/text/str.h"

static bool is_frozen(dv_value v) { return dv_is_shape(v, DV_T_FROZENSET); }

/* ---- Iterators ---------------------------------------------------------------------------------
 */

static dv_value set_iterate(dv_vm *vm, dv_value self) {
    dv_set_iterator *iterator = dv_container_new(vm, sizeof(dv_set_iterator), DV_T_SET_ITERATOR);
    if (!iterator) return DV_EMPTY;
    iterator->set = dv_retain(self);
    iterator->position = 0;
    iterator->used = dv_as_set(self)->used;
    return dv_object_value(iterator);
}

static void iterator_release(dv_vm *vm, dv_object *object) {
    dv_release(vm, ((dv_set_iterator *)object)->set);
    dv_container_free(vm, object, sizeof(dv_set_iterator));
}

static void iterator_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    visit(vm, ((const dv_set_iterator *)object)->set, context);
}

static dv_value iterator_self(dv_vm *vm, dv_value self) {
    (void)vm;
    return dv_retain(self);
}

static dv_value iterator_next(dv_vm *vm, dv_value self) {
    dv_set_iterator *iterator = (dv_set_iterator *)dv_as_object(self);
    dv_value set = iterator->set;
    if (dv_is_empty(set)) return DV_EMPTY;
    if (DV_UNLIKELY(iterator->used != dv_as_set(set)->used)) {
        iterator->used = -1;
        return dv_raise(vm, DV_E_RUNTIME_ERROR, "Set changed size during iteration");
    }
    uint64_t position = iterator->position;
    const dv_set_entry *entry = dv_set_walk(set, &position);
    if (entry) {
        dv_set_iterator_advance(vm, iterator, position);
        return dv_retain(entry->key);
    }
    iterator->set = DV_EMPTY;
    dv_release(vm, set);
    return DV_EMPTY;
}

static dv_value iterator_hint(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)vm, (void)count;
    const dv_set_iterator *iterator = (const dv_set_iterator *)dv_as_object(args[0]);
    int64_t left = 0;
    uint64_t position = iterator->position;
    if (dv_is_empty(iterator->set) || iterator->used != dv_as_set(iterator->set)->used)
        return dv_int(0);
    while (dv_set_walk(iterator->set, &position)) left++;
    return dv_int(left);
}

static const dv_cfunction_def iterator_methods[] = {
    {.name = "__length_hint__", .entry = iterator_hint, .min = 1, .max = 1}, {.name = NULL}};

const dv_type dv_set_iterator_type = {
    .name = "set_iterator",
    .id = DV_T_SET_ITERATOR,
    .release = iterator_release,
    .traverse = iterator_traverse,
    .iterate = iterator_self,
    .next = iterator_next,
    .methods = iterator_methods,
};

/* ---- Operators ---------------------------------------------------------------------------------
 */

/* What iteration gives: an instance of a subclass may have its own. */
static bool append_keys(dv_vm *vm, dv_value list, dv_value set) {
    if (dv_is_instance(set)) return dv_list_extend(vm, list, set);
    uint64_t position = 0;
    const dv_set_entry *entry;
    while ((entry = dv_set_walk(set, &position)))
        if (!dv_list_append(vm, list, entry->key)) return false;
    return true;
}

static dv_value repr_keys(dv_vm *vm, dv_value self) {
    dv_value keys = dv_list_new(vm, NULL, 0), text = DV_EMPTY;
    if (dv_is_empty(keys)) return DV_EMPTY;
    if (append_keys(vm, keys, self)) {
        bool plain = dv_is_shape(self, DV_T_SET);
        dv_value items = dv_items_repr(vm, keys, "{", "}", "");
        text = plain || dv_is_empty(items) ? items : dv_str_printf(vm, "%T(%S)", self, items);
        if (!plain) dv_release(vm, items);
    }
    dv_release(vm, keys);
    return text;
}

static dv_value set_repr(dv_vm *vm, dv_value self) {
    struct dv_repr_guard guard;
    if (!dv_repr_enter(vm, &guard, self)) return dv_str_printf(vm, "%T(...)", self);
    dv_value text = dv_as_set(self)->used ? repr_keys(vm, self) : dv_str_printf(vm, "%T()", self);
    dv_repr_leave(vm);
    return text;
}

static bool set_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    (void)hash;
    dv_raise(vm, DV_E_TYPE_ERROR, "unhashable type: '%T'", self);
    return false;
}

static uint64_t shuffle_bits(uint64_t h) { return ((h ^ 89869747u) ^ (h << 16)) * 3644798167u; }

/* CPython's hash of a frozenset: the same for every order of the keys. */
static bool frozenset_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    dv_set *set = dv_as_set(self);
    if (set->hash == -1) {
        if (!dv_work(vm, (int64_t)(set->mask / 4))) return false;
        uint64_t h = 0, position = 0;
        const dv_set_entry *entry;
        while ((entry = dv_set_walk(self, &position))) h ^= shuffle_bits((uint64_t)entry->hash);
        h ^= ((uint64_t)set->used + 1) * 1927868237u;
        h ^= (h >> 11) ^ (h >> 25);
        h = h * 69069u + 907133923u;
        set->hash = h == UINT64_MAX ? 590923713 : (int64_t)h;
    }
    *hash = set->hash;
    return true;
}

static int sets_equal(dv_vm *vm, dv_value a, dv_value b) {
    const dv_set *x = dv_as_set(a), *y = dv_as_set(b);
    if (x->used != y->used) return 0;
    if (x->hash != -1 && y->hash != -1 && x->hash != y->hash) return 0;
    return dv_set_is_subset(vm, a, b);
}

static dv_value set_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    if (!dv_is_any_set(a) || !dv_is_any_set(b)) return DV_NOTIMPLEMENTED;
    int64_t used_a = dv_as_set(a)->used, used_b = dv_as_set(b)->used;
    int result;
    switch (op) {
    case DV_LT: result = used_a < used_b ? dv_set_is_subset(vm, a, b) : 0; break;
    case DV_LE: result = dv_set_is_subset(vm, a, b); break;
    case DV_GT: result = used_a > used_b ? dv_set_is_subset(vm, b, a) : 0; break;
    case DV_GE: result = dv_set_is_subset(vm, b, a); break;
    default: result = sets_equal(vm, a, b); break;
    }
    return result < 0 ? DV_EMPTY : dv_bool(result == (op != DV_NE));
}

/* A copy of self with the items of all the others. */
static dv_value unite(dv_vm *vm, dv_value self, const dv_value *others, uint32_t count) {
    dv_value result = dv_set_copy(vm, self);
    for (uint32_t i = 0; i < count && !dv_is_empty(result); i++) {
        if (dv_same(self, others[i]) || dv_set_update(vm, result, others[i])) continue;
        dv_release(vm, result);
        result = DV_EMPTY;
    }
    return result;
}

static dv_value set_binary(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    if (!dv_is_any_set(a) || !dv_is_any_set(b)) return DV_NOTIMPLEMENTED;
    switch (op) {
    case DV_BINARY_OR: return unite(vm, a, &b, 1);
    case DV_BINARY_AND: return dv_set_intersection(vm, a, b);
    case DV_BINARY_SUB: return dv_set_difference(vm, a, b);
    case DV_BINARY_XOR: return dv_set_symmetric_difference(vm, a, b);
    default: return DV_NOTIMPLEMENTED;
    }
}

static dv_value set_inplace(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    if (!dv_is_set(a) || !dv_is_any_set(b)) return DV_NOTIMPLEMENTED;
    bool good;
    switch (op) {
    case DV_BINARY_OR: good = dv_set_update(vm, a, b); break;
    case DV_BINARY_AND: good = dv_set_intersection_update(vm, a, b); break;
    case DV_BINARY_SUB: good = dv_set_difference_update(vm, a, b); break;
    case DV_BINARY_XOR: good = dv_set_symmetric_difference_update(vm, a, b); break;
    default: return DV_NOTIMPLEMENTED;
    }
    return good ? dv_retain(a) : DV_EMPTY;
}

static int64_t set_length(dv_vm *vm, dv_value self) {
    (void)vm;
    return dv_as_set(self)->used;
}

/* A set is asked for as the frozenset that it would be; for another unhashable key: EMPTY. */
static dv_value frozen_key(dv_vm *vm, dv_value key) {
    if (!dv_is_set(key) || !dv_error_is(vm, DV_E_TYPE_ERROR)) return DV_EMPTY;
    dv_error_clear(vm);
    return dv_set_from(vm, DV_T_FROZENSET, key);
}

static int set_contains(dv_vm *vm, dv_value self, dv_value key) {
    int result = dv_set_contains(vm, self, key);
    if (DV_LIKELY(result >= 0)) return result;
    dv_value frozen = frozen_key(vm, key);
    if (dv_is_empty(frozen)) return -1;
    result = dv_set_contains(vm, self, frozen);
    dv_release(vm, frozen);
    return result;
}

/* ---- Methods of both ---------------------------------------------------------------------------
 */

static dv_value set_copy(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return is_frozen(args[0]) ? dv_retain(args[0]) : dv_set_copy(vm, args[0]);
}

static dv_value set_union(dv_vm *vm, const dv_value *args, uint32_t count) {
    return unite(vm, args[0], args + 1, count - 1);
}

static dv_value intersect_all(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (count == 1) return dv_set_copy(vm, args[0]);
    dv_value result = dv_retain(args[0]);
    for (uint32_t i = 1; i < count && !dv_is_empty(result); i++) {
        dv_value smaller = dv_set_intersection(vm, result, args[i]);
        dv_release(vm, result);
        result = smaller;
    }
    return result;
}

static dv_value set_difference(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (count == 1) return dv_set_copy(vm, args[0]);
    dv_value result = dv_set_difference(vm, args[0], args[1]);
    for (uint32_t i = 2; i < count && !dv_is_empty(result); i++) {
        if (dv_set_difference_update(vm, result, args[i])) continue;
        dv_release(vm, result);
        result = DV_EMPTY;
    }
    return result;
}

static dv_value set_symmetric_difference(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_set_symmetric_difference(vm, args[0], args[1]);
}

static dv_value answer(int result) { return result < 0 ? DV_EMPTY : dv_bool(result); }

static dv_value set_isdisjoint(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return answer(dv_set_is_disjoint(vm, args[0], args[1]));
}

static dv_value set_issubset(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return answer(dv_set_is_subset(vm, args[0], args[1]));
}

static dv_value set_issuperset(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return answer(dv_set_is_superset(vm, args[0], args[1]));
}

/* ---- Methods of set ----------------------------------------------------------------------------
 */

static dv_value set_add(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_set_add(vm, args[0], args[1]) ? DV_NONE : DV_EMPTY;
}

static dv_value set_clear(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_set_clear(vm, args[0]);
    return DV_NONE;
}

static int discard(dv_vm *vm, dv_value self, dv_value key) {
    int64_t hash;
    return dv_key_hash(vm, key, &hash) ? dv_set_discard_hashed(vm, self, key, hash) : -1;
}

static int discard_any(dv_vm *vm, dv_value self, dv_value key) {
    int result = discard(vm, self, key);
    if (result >= 0) return result;
    dv_value frozen = frozen_key(vm, key);
    if (dv_is_empty(frozen)) return -1;
    result = discard(vm, self, frozen);
    dv_release(vm, frozen);
    return result;
}

static dv_value set_discard(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return discard_any(vm, args[0], args[1]) < 0 ? DV_EMPTY : DV_NONE;
}

static const dv_declared remove_raises = {DV_E_KEY_ERROR, 2, NULL};

static dv_value set_remove(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int result = discard_any(vm, args[0], args[1]);
    if (result == 0) return dv_raise_declared(vm, &remove_raises, args[1]);
    return result < 0 ? DV_EMPTY : DV_NONE;
}

static dv_value set_pop(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (dv_as_set(args[0])->used == 0) return dv_raise(vm, DV_E_KEY_ERROR, "pop from an empty set");
    return dv_set_take_any(args[0]);
}

static dv_value set_update(dv_vm *vm, const dv_value *args, uint32_t count) {
    for (uint32_t i = 1; i < count; i++)
        if (!dv_set_update(vm, args[0], args[i])) return DV_EMPTY;
    return DV_NONE;
}

static dv_value set_intersection_update(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_value result = intersect_all(vm, args, count);
    if (dv_is_empty(result)) return DV_EMPTY;
    dv_set_swap(args[0], result);
    dv_release(vm, result);
    return DV_NONE;
}

static dv_value set_difference_update(dv_vm *vm, const dv_value *args, uint32_t count) {
    for (uint32_t i = 1; i < count; i++)
        if (!dv_set_difference_update(vm, args[0], args[i])) return DV_EMPTY;
    return DV_NONE;
}

static dv_value set_symmetric_difference_update(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_set_symmetric_difference_update(vm, args[0], args[1]) ? DV_NONE : DV_EMPTY;
}

static dv_value set_construct(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    if (!dv_arguments_no_keywords(vm, "set", keywords) ||
        !dv_arguments_count(vm, "set", count, 0, 1))
        return DV_EMPTY;
    return dv_set_from(vm, DV_T_SET, count ? args[0] : DV_EMPTY);
}

static bool set_initialise(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                           dv_value keywords) {
    if (!dv_arguments_no_keywords(vm, "set", keywords)) return false;
    if (count > 1) {
        dv_raise(vm, DV_E_TYPE_ERROR, "%T expected at most 1 argument, got %d", self, (int)count);
        return false;
    }
    dv_set_clear(vm, self);
    return count == 0 || dv_set_update(vm, self, args[0]);
}

static dv_value frozenset_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                    dv_value keywords) {
    if (!dv_arguments_no_keywords(vm, "frozenset", keywords) ||
        !dv_arguments_count(vm, "frozenset", count, 0, 1))
        return DV_EMPTY;
    if (count && is_frozen(args[0])) return dv_retain(args[0]);
    return dv_set_from(vm, DV_T_FROZENSET, count ? args[0] : DV_EMPTY);
}

/* ---- The types ---------------------------------------------------------------------------------
 */

/* clang-format off */
#define METHODS_OF_BOTH \
    {.name = "copy", .entry = set_copy, .min = 1, .max = 1}, \
    {.name = "union", .entry = set_union, .min = 1, .max = UINT32_MAX}, \
    {.name = "intersection", .entry = intersect_all, .min = 1, .max = UINT32_MAX}, \
    {.name = "difference", .entry = set_difference, .min = 1, .max = UINT32_MAX}, \
    {.name = "symmetric_difference", .entry = set_symmetric_difference, .min = 2, .max = 2}, \
    {.name = "isdisjoint", .entry = set_isdisjoint, .min = 2, .max = 2}, \
    {.name = "issubset", .entry = set_issubset, .min = 2, .max = 2}, \
    {.name = "issuperset", .entry = set_issuperset, .min = 2, .max = 2}
/* clang-format on */

static const dv_cfunction_def set_methods[] = {
    METHODS_OF_BOTH,
    {.name = "add", .entry = set_add, .min = 2, .max = 2, .inlined = DV_INLINED_ADD},
    {.name = "clear", .entry = set_clear, .min = 1, .max = 1},
    {.name = "discard", .entry = set_discard, .min = 2, .max = 2},
    {.name = "remove", .entry = set_remove, .min = 2, .max = 2, .raises = &remove_raises},
    {.name = "pop", .entry = set_pop, .min = 1, .max = 1},
    {.name = "update", .entry = set_update, .min = 1, .max = UINT32_MAX},
    {.name = "intersection_update", .entry = set_intersection_update, .min = 1, .max = UINT32_MAX},
    {.name = "difference_update", .entry = set_difference_update, .min = 1, .max = UINT32_MAX},
    {.name = "symmetric_difference_update",
     .entry = set_symmetric_difference_update,
     .min = 2,
     .max = 2},
    {.name = NULL},
};

static const dv_cfunction_def frozenset_methods[] = {
    METHODS_OF_BOTH,
    {.name = NULL},
};

static void set_clear_cycle(dv_vm *vm, dv_object *object) {
    dv_set_clear(vm, dv_object_value(object));
}

const dv_type dv_set_type = {
    .name = "set",
    .id = DV_T_SET,
    .weakly = true,
    .release = dv_set_release,
    .traverse = dv_set_traverse,
    .clear = set_clear_cycle,
    .repr = set_repr,
    .hash = set_hash,
    .compare = set_compare,
    .binary = set_binary,
    .inplace = set_inplace,
    .length = set_length,
    .contains = set_contains,
    .iterate = set_iterate,
    .construct = set_construct,
    .adopt = dv_set_adopt,
    .initialise = set_initialise,
    .methods = set_methods,
};

const dv_type dv_frozenset_type = {
    .name = "frozenset",
    .id = DV_T_FROZENSET,
    .weakly = true,
    .release = dv_set_release,
    .traverse = dv_set_traverse,
    .repr = set_repr,
    .hash = frozenset_hash,
    .compare = set_compare,
    .binary = set_binary,
    .length = set_length,
    .contains = set_contains,
    .iterate = set_iterate,
    .construct = frozenset_construct,
    .adopt = dv_set_adopt,
    .ignores_keywords = true,
    .methods = frozenset_methods,
};
