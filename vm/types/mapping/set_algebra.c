/* set_algebra.c: union, intersection, difference of sets, and what contains what (set.h).
 *
 * Invariants
 *  1. Which set is walked, which is asked, and whether a copy is thinned out or an empty set is
 *     filled are as in CPython 3.11, since they decide the order of the result.
 *  2. A key is retained while dl code may run: it may remove the key from the set it was found in.
 */
#include "core/upcall.h"
#include "core/work.h"
#include "types/mapping/dict.h"
#include "types/sequence/iterator.h"
#include "types/mapping/set.h"

/* Results are no instances of subclasses. */
static dv_type_id type_of(dv_value set) { return dv_is_set(set) ? DV_T_SET : DV_T_FROZENSET; }

static int64_t size_of(dv_value set) { return dv_as_set(set)->used; }

/* What is done with each key: 1 go on, 0 stop, -1 raised. */
typedef int (*dv_set_step)(dv_vm *vm, dv_value a, dv_value b, dv_value key, int64_t hash);

static inline int walk_set(dv_vm *vm, dv_value walked, dv_set_step step, dv_value a, dv_value b) {
    uint64_t position = 0;
    const dv_set_entry *entry;
    int result = 1;
    dv_retain(walked);
    while (result == 1 && (entry = dv_set_walk(walked, &position))) {
        dv_value key = dv_retain(entry->key);
        result = dv_work(vm, 1) ? step(vm, a, b, key, entry->hash) : -1;
        dv_release(vm, key);
    }
    dv_release(vm, walked);
    return result;
}

static int walk_dict(dv_vm *vm, dv_value walked, dv_set_step step, dv_value a, dv_value b) {
    int64_t position = 0;
    const dv_dict_entry *entry;
    int result = 1;
    while (result == 1 && (entry = dv_dict_walk_entry(walked, &position)) != NULL) {
        dv_value key = dv_retain(entry->key);
        result = dv_work(vm, 2) ? step(vm, a, b, key, entry->hash) : -1;
        dv_release(vm, key);
    }
    return result;
}

/* Any iterable. */
static int walk(dv_vm *vm, dv_value walked, dv_set_step step, dv_value a, dv_value b) {
    if (dv_is_any_set(walked)) return walk_set(vm, walked, step, a, b);
    dv_value iterator = dv_iterate(vm, walked);
    if (dv_is_empty(iterator)) return -1;
    int result = 1;
    while (result == 1) {
        int64_t hash;
        dv_value key = dv_step(vm, iterator);
        if (dv_is_empty(key)) break;
        result = dv_hash(vm, key, &hash) ? step(vm, a, b, key, hash) : -1;
        dv_release(vm, key);
    }
    dv_release(vm, iterator);
    return dv_is_empty(vm->error) ? result : -1;
}

/* `set`, filled by a walk that ended with `result`; EMPTY where it raised. */
static dv_value finish(dv_vm *vm, dv_value set, int result) {
    if (result >= 0) return set;
    dv_release(vm, set);
    return DV_EMPTY;
}

/* ---- Steps -------------------------------------------------------------------------------------
 */

static inline int has(dv_vm *vm, dv_value set, dv_value key, int64_t hash) {
    const dv_set_entry *entry = dv_set_first_entry(dv_as_set(set), key, hash);
    return entry ? !dv_is_empty(entry->key) : dv_set_contains_hashed(vm, set, key, hash);
}

/* a: the set asked; b: the set that takes what is in both. */
static int step_add_common(dv_vm *vm, dv_value a, dv_value b, dv_value key, int64_t hash) {
    int there = has(vm, a, key, hash);
    if (there <= 0) return there < 0 ? -1 : 1;
    return dv_set_add_hashed(vm, b, key, hash) ? 1 : -1;
}

/* a: the set or dict asked; b: the set that takes what is not in it. */
static int step_add_missing(dv_vm *vm, dv_value a, dv_value b, dv_value key, int64_t hash) {
    int there;
    if (dv_is_shape(a, DV_T_DICT)) {
        there = !dv_is_empty(dv_dict_get_hashed(vm, a, key, hash));
        if (!there && !dv_is_empty(vm->error)) there = -1;
    } else {
        there = has(vm, a, key, hash);
    }
    if (there) return there;
    return dv_set_add_hashed(vm, b, key, hash) ? 1 : -1;
}

static int step_discard(dv_vm *vm, dv_value a, dv_value b, dv_value key, int64_t hash) {
    (void)b;
    return dv_set_discard_hashed(vm, a, key, hash) < 0 ? -1 : 1;
}

static int step_toggle(dv_vm *vm, dv_value a, dv_value b, dv_value key, int64_t hash) {
    (void)b;
    int there = dv_set_discard_hashed(vm, a, key, hash);
    if (there) return there;
    return dv_set_add_hashed(vm, a, key, hash) ? 1 : -1;
}

static int step_must_have(dv_vm *vm, dv_value a, dv_value b, dv_value key, int64_t hash) {
    (void)b;
    return has(vm, a, key, hash);
}

static int step_must_lack(dv_vm *vm, dv_value a, dv_value b, dv_value key, int64_t hash) {
    (void)b;
    int there = has(vm, a, key, hash);
    return there < 0 ? -1 : !there;
}

/* ---- New sets ----------------------------------------------------------------------------------
 */

dv_value dv_set_copy(dv_vm *vm, dv_value self) { return dv_set_from(vm, type_of(self), self); }

dv_value dv_set_intersection(dv_vm *vm, dv_value self, dv_value other) {
    if (dv_same(self, other)) return dv_set_copy(vm, self);
    dv_value result = dv_set_from(vm, type_of(self), DV_EMPTY);
    if (dv_is_empty(result)) return DV_EMPTY;
    if (dv_is_any_set(other) && size_of(other) > size_of(self))
        return finish(vm, result, walk(vm, self, step_add_common, other, result));
    return finish(vm, result, walk(vm, other, step_add_common, self, result));
}

static dv_value thinned_copy(dv_vm *vm, dv_value self, dv_value other) {
    dv_value result = dv_set_copy(vm, self);
    if (dv_is_empty(result) || dv_set_difference_update(vm, result, other)) return result;
    dv_release(vm, result);
    return DV_EMPTY;
}

dv_value dv_set_difference(dv_vm *vm, dv_value self, dv_value other) {
    if (!dv_is_any_set(other) && !dv_is_shape(other, DV_T_DICT))
        return thinned_copy(vm, self, other);
    int64_t size = dv_is_shape(other, DV_T_DICT) ? dv_as_dict(other)->count : size_of(other);
    if (size_of(self) >> 2 > size) return thinned_copy(vm, self, other);
    dv_value result = dv_set_from(vm, type_of(self), DV_EMPTY);
    if (dv_is_empty(result)) return DV_EMPTY;
    return finish(vm, result, walk_set(vm, self, step_add_missing, other, result));
}

dv_value dv_set_symmetric_difference(dv_vm *vm, dv_value self, dv_value other) {
    dv_value result = dv_set_from(vm, type_of(self), other);
    if (dv_is_empty(result) || dv_set_symmetric_difference_update(vm, result, self)) return result;
    dv_release(vm, result);
    return DV_EMPTY;
}

/* ---- In place ----------------------------------------------------------------------------------
 */

bool dv_set_intersection_update(dv_vm *vm, dv_value self, dv_value other) {
    dv_value result = dv_set_intersection(vm, self, other);
    if (dv_is_empty(result)) return false;
    dv_set_swap(self, result);
    dv_release(vm, result);
    return true;
}

bool dv_set_difference_update(dv_vm *vm, dv_value self, dv_value other) {
    if (dv_same(self, other)) {
        dv_set_clear(vm, self);
        return true;
    }
    bool huge = dv_is_any_set(other) && size_of(other) >> 3 > size_of(self);
    dv_value gone = huge ? dv_set_intersection(vm, self, other) : dv_retain(other);
    if (dv_is_empty(gone)) return false;
    int result = walk(vm, gone, step_discard, self, DV_EMPTY);
    dv_release(vm, gone);
    return result >= 0 && dv_set_tidy(vm, self);
}

bool dv_set_symmetric_difference_update(dv_vm *vm, dv_value self, dv_value other) {
    if (dv_same(self, other)) {
        dv_set_clear(vm, self);
        return true;
    }
    if (dv_is_shape(other, DV_T_DICT))
        return walk_dict(vm, other, step_toggle, self, DV_EMPTY) >= 0;
    dv_value keys = dv_is_any_set(other) ? dv_retain(other) : dv_set_from(vm, type_of(self), other);
    if (dv_is_empty(keys)) return false;
    int result = walk_set(vm, keys, step_toggle, self, DV_EMPTY);
    dv_release(vm, keys);
    return result >= 0;
}

/* ---- Questions ---------------------------------------------------------------------------------
 */

int dv_set_is_disjoint(dv_vm *vm, dv_value self, dv_value other) {
    if (dv_same(self, other)) return size_of(self) == 0;
    if (dv_is_any_set(other) && size_of(other) > size_of(self))
        return walk(vm, self, step_must_lack, other, DV_EMPTY);
    return walk(vm, other, step_must_lack, self, DV_EMPTY);
}

int dv_set_is_subset(dv_vm *vm, dv_value self, dv_value other) {
    if (dv_is_any_set(other)) {
        if (size_of(self) > size_of(other)) return 0;
        return walk_set(vm, self, step_must_have, other, DV_EMPTY);
    }
    dv_value common = dv_set_intersection(vm, self, other);
    if (dv_is_empty(common)) return -1;
    bool all = size_of(common) == size_of(self);
    dv_release(vm, common);
    return all;
}

int dv_set_is_superset(dv_vm *vm, dv_value self, dv_value other) {
    if (dv_is_any_set(other)) return dv_set_is_subset(vm, other, self);
    return walk(vm, other, step_must_have, self, DV_EMPTY);
}
