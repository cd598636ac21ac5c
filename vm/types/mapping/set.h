/* set.h: set and frozenset: open addressing without an order of insertion.
 *
 * Invariants
 *  1. Probing, growth and shrinking are CPython 3.11's, operation by operation: the order of
 *     iteration is output.
 *  2. table has mask + 1 entries, a power of two; it is `small` or a block of the heap.  An entry
 *     without a key has hash 0 (never used) or -1 (deleted); a key's hash is never -1.
 *  3. `used` entries have a key, `fill` have or had one; fill * 5 < mask * 3 + 5, so that every
 *     search ends.
 *  4. Comparing keys may run dl code which may change the set: searches start again when the table
 *     or the entry changed meanwhile. */
#ifndef DV_TYPES_SET_H
#define DV_TYPES_SET_H

#include "core/vm.h"
#include "core/work.h"

#define DV_SET_SMALL 8

typedef struct dv_set_entry {
    int64_t hash;
    dv_value key;
} dv_set_entry;

typedef struct dv_set {
    dv_object header;
    int64_t fill, used;
    uint64_t mask;
    uint64_t finger; /* where pop() goes on */
    int64_t hash;    /* of a frozenset once it was asked for; -1 before */
    dv_set_entry *table;
    dv_set_entry small[DV_SET_SMALL];
} dv_set;

extern const dv_type dv_set_type, dv_frozenset_type, dv_set_iterator_type;

static inline bool dv_is_set(dv_value v) { return dv_has_layout(v, DV_T_SET); }
static inline bool dv_is_any_set(dv_value v) {
    return dv_has_layout(v, DV_T_SET) || dv_has_layout(v, DV_T_FROZENSET);
}
static inline dv_set *dv_as_set(dv_value v) { return (dv_set *)dv_as_object(v); }

dv_value dv_set_new(dv_vm *vm);
bool dv_set_add(dv_vm *vm, dv_value set, dv_value key) DV_MUST_CHECK; /* retains */
/* Does the set have the key?  -1: raised. */
int dv_set_contains(dv_vm *vm, dv_value set, dv_value key);
/* Has the set, frozenset or dict a tuple of these items, which need not have been made: ints, and
 * strs that know their hashes?  -1: that must be asked.  And of n raw ints. */
int dv_items_in(dv_vm *vm, const dv_value *items, int64_t n, dv_value container);
int dv_raw_items_in(dv_vm *vm, const dv_value *raw, int64_t n, dv_value container);
enum { DV_RAW_ITEMS = 4 }; /* at most */
/* Adds all items of an iterable. */
bool dv_set_update(dv_vm *vm, dv_value set, dv_value iterable) DV_MUST_CHECK;
/* A set or frozenset (by type number) of an iterable's items; EMPTY: without items. */
dv_value dv_set_from(dv_vm *vm, dv_type_id type, dv_value iterable);
dv_value dv_set_adopt(dv_vm *vm, dv_class *class_, dv_value exact); /* dv_type.adopt */
/* Walks the entries: *position starts at 0; NULL at the end.  The key is borrowed. */
static inline const dv_set_entry *dv_set_walk(dv_value self, uint64_t *position) {
    const dv_set *set = dv_as_set(self);
    for (uint64_t i = *position; i <= set->mask; i++) {
        if (dv_is_empty(set->table[i].key)) continue;
        *position = i + 1;
        return &set->table[i];
    }
    return NULL;
}

typedef struct dv_set_iterator {
    dv_object header;
    dv_value set; /* EMPTY: it is exhausted, and stays so */
    uint64_t position;
    int64_t used; /* keys that the set had at first; -1: it was seen to have another number */
} dv_set_iterator;

enum { DV_SET_GAP = 64 }; /* entries without a key: to pass over more of them is counted */

/* The key in front of `position` is taken. */
static inline void dv_set_iterator_advance(dv_vm *vm, dv_set_iterator *iterator,
                                           uint64_t position) {
    const uint64_t passed = position - iterator->position;
    if (passed > DV_SET_GAP) dv_work_owe(vm, (int64_t)passed / 8);
    iterator->position = position;
}

/* Tools of the set's own files: keys with their known hashes. */
static inline bool dv_set_never_used(const dv_set_entry *entry) {
    return dv_is_empty(entry->key) && entry->hash == 0;
}
/* Where the search for a key ends if its first entry decides, as it does for most: the entry has
 * this very key, or was never used.  NULL: the search must go on. */
static inline dv_set_entry *dv_set_first_entry(const dv_set *set, dv_value key, int64_t hash) {
    dv_set_entry *entry = &set->table[(uint64_t)hash & set->mask];
    return dv_same(entry->key, key) || dv_set_never_used(entry) ? entry : NULL;
}
bool dv_set_add_hashed(dv_vm *vm, dv_value set, dv_value key, int64_t hash) DV_MUST_CHECK;
int dv_set_contains_hashed(dv_vm *vm, dv_value set, dv_value key, int64_t hash);
int dv_set_discard_hashed(dv_vm *vm, dv_value set, dv_value key, int64_t hash); /* 1: was there */
dv_value dv_set_take_any(dv_value set); /* what pop() takes; the set is not empty */
bool dv_set_tidy(dv_vm *vm, dv_value set) DV_MUST_CHECK; /* after many deletions */
void dv_set_clear(dv_vm *vm, dv_value set);
void dv_set_swap(dv_value a, dv_value b); /* exchanges the contents */
void dv_set_release(dv_vm *vm, dv_object *object);
void dv_set_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context);

/* The operations behind methods and operators; `other` is any iterable.  The result has the type
 * of the first set. */
dv_value dv_set_copy(dv_vm *vm, dv_value set);
dv_value dv_set_intersection(dv_vm *vm, dv_value set, dv_value other);
dv_value dv_set_difference(dv_vm *vm, dv_value set, dv_value other);
dv_value dv_set_symmetric_difference(dv_vm *vm, dv_value set, dv_value other);
bool dv_set_intersection_update(dv_vm *vm, dv_value set, dv_value other) DV_MUST_CHECK;
bool dv_set_difference_update(dv_vm *vm, dv_value set, dv_value other) DV_MUST_CHECK;
bool dv_set_symmetric_difference_update(dv_vm *vm, dv_value set, dv_value other) DV_MUST_CHECK;
int dv_set_is_disjoint(dv_vm *vm, dv_value set, dv_value other); /* these: -1 raised */
int dv_set_is_subset(dv_vm *vm, dv_value set, dv_value other);
int dv_set_is_superset(dv_vm *vm, dv_value set, dv_value other);

#endif
