/* set.c: the hash table behind set and frozenset (set.h).
 *
 * Invariants
 *  1. A search looks at an entry and up to LINEAR_PROBES behind it, then jumps; it ends at an
 *     entry that was never used.  A new key goes to the last deleted entry on the way, if any.
 *  2. Keys are released only after the set is whole again. */
#include "types/sequence/iterator.h"
#include "types/mapping/set.h"

#include "core/upcall.h"
#include "core/work.h"
#include "types/mapping/dict.h"
#include "types/mapping/key.h"
#include "types/sequence/list.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

#define LINEAR_PROBES 9
#define PERTURB       5
#define MANY          50000 /* from so many keys on, tables grow more slowly */

#define DELETED_HASH (-1)

/* ---- Memory ------------------------------------------------------------------------------------
 */

/* As many entries as the smallest table has, never used (DV_EMPTY is no constant for C). */
#define NEVER_USED            \
    {                         \
        0, { DV_TAG_SPECIAL } \
    }
static const dv_set_entry never_used[DV_SET_SMALL] = {
    NEVER_USED, NEVER_USED, NEVER_USED, NEVER_USED, NEVER_USED, NEVER_USED, NEVER_USED, NEVER_USED};

static inline void empty_entries(dv_set_entry *entries) {
    memcpy(entries, never_used, sizeof never_used); /* eight stores, and no call */
}

static void empty_table(dv_set_entry *table, uint64_t mask) {
    for (uint64_t i = 0; i <= mask; i += DV_SET_SMALL) empty_entries(table + i);
}

static void be_empty(dv_set *set) {
    set->fill = set->used = 0;
    set->mask = DV_SET_SMALL - 1;
    set->hash = -1;
    set->table = set->small;
    empty_entries(set->small);
}

static dv_value set_new(dv_vm *vm, dv_type_id type) {
    dv_set *set = dv_container_new(vm, sizeof(dv_set), type);
    if (!set) return DV_EMPTY;
    set->finger = 0;
    be_empty(set);
    return dv_object_value(set);
}

dv_value dv_set_new(dv_vm *vm) { return set_new(vm, DV_T_SET); }

static void free_table(dv_vm *vm, const dv_set *set, dv_set_entry *table, uint64_t mask) {
    if (table != set->small) dv_heap_free(&vm->heap, table, (mask + 1) * sizeof(dv_set_entry));
}

/* Up to the last of the `used` keys; counted without a branch, which would be guesswork for the
 * processor. */
static void release_keys(dv_vm *vm, const dv_set_entry *table, int64_t used) {
    for (; used > 0; table++) {
        used -= !dv_is_empty(table->key);
        dv_release(vm, table->key);
    }
}

void dv_set_release(dv_vm *vm, dv_object *object) {
    dv_set *set = (dv_set *)object;
    release_keys(vm, set->table, set->used);
    free_table(vm, set, set->table, set->mask);
    dv_base_free(vm, object, sizeof(dv_set));
}

void dv_set_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const dv_set *set = (const dv_set *)object;
    for (uint64_t i = 0; i <= set->mask; i++) visit(vm, set->table[i].key, context);
}

void dv_set_clear(dv_vm *vm, dv_value self) {
    dv_set *set = dv_as_set(self);
    dv_set_entry *table = set->table, copy[DV_SET_SMALL];
    uint64_t mask = set->mask;
    int64_t used = set->used;
    bool small = table == set->small;
    if (small) memcpy(copy, table, sizeof copy);
    be_empty(set);
    release_keys(vm, small ? copy : table, used);
    if (!small) dv_heap_free(&vm->heap, table, (mask + 1) * sizeof(dv_set_entry));
}

void dv_set_swap(dv_value x, dv_value y) {
    dv_set *a = dv_as_set(x), *b = dv_as_set(y);
    dv_set old = *a;
    dv_object header = b->header;
    bool a_small = a->table == a->small, b_small = b->table == b->small;
    uint64_t finger = b->finger; /* stays, as in CPython */
    *a = *b;
    *b = old;
    b->header = header;
    a->header = old.header;
    a->finger = old.finger;
    b->finger = finger;
    if (a_small) b->table = b->small;
    if (b_small) a->table = a->small;
}

/* ---- Probing -----------------------------------------------------------------------------------
 */

static inline uint64_t linear_end(uint64_t slot, uint64_t mask) {
    return slot + LINEAR_PROBES <= mask ? slot + LINEAR_PROBES : slot;
}

/* Puts a key that is not there into a table without deleted entries, where its first one is taken.
 */
static void insert_further(dv_set_entry *table, uint64_t mask, dv_value key, int64_t hash) {
    uint64_t perturb = (uint64_t)hash, slot = perturb & mask;
    for (;; slot = (slot * 5 + 1 + perturb) & mask) {
        uint64_t end = linear_end(slot, mask);
        for (uint64_t i = slot; i <= end; i++) {
            if (!dv_is_empty(table[i].key)) continue;
            table[i] = (dv_set_entry){hash, key};
            return;
        }
        perturb >>= PERTURB;
    }
}

/* The `used` keys of a table. */
static void insert_all(dv_set_entry *to, uint64_t to_mask, const dv_set_entry *from, int64_t used) {
    for (; used > 0; from++) {
        if (dv_is_empty(from->key)) continue;
        dv_set_entry *first = &to[(uint64_t)from->hash & to_mask];
        if (DV_LIKELY(dv_is_empty(first->key)))
            *first = *from;
        else
            insert_further(to, to_mask, from->key, from->hash);
        used--;
    }
}

/* A table for more than `wanted` keys, without deleted entries. */
static bool resize(dv_vm *vm, dv_set *set, uint64_t wanted) {
    uint64_t size = DV_SET_SMALL, old_mask = set->mask;
    dv_set_entry *old = set->table, *table = set->small, copy[DV_SET_SMALL];
    while (size <= wanted) size *= 2;
    if (size > DV_SET_SMALL) {
        table = size > SIZE_MAX / sizeof *table
                    ? NULL
                    : dv_heap_alloc(&vm->heap, size * sizeof(dv_set_entry));
        if (!table) {
            dv_raise_memory(vm);
            return false;
        }
    } else if (old == table) {
        if (set->fill == set->used) return true;
        memcpy(copy, table, sizeof copy);
        old = copy;
    }
    empty_table(table, size - 1);
    insert_all(table, size - 1, old, set->used);
    set->table = table;
    set->mask = size - 1;
    set->fill = set->used;
    if (old != copy) free_table(vm, set, old, old_mask);
    return true;
}

static uint64_t roomy(const dv_set *set) {
    return (uint64_t)set->used * (set->used > MANY ? 2 : 4);
}

/* Is the entry's key equal to this one, whose hash it has?  1, 0, -1 raised, 2: the set changed. */
static inline int entry_equals(dv_vm *vm, const dv_set *set, const dv_set_entry *entry,
                               dv_value key) {
    if (dv_same(entry->key, key)) return 1;
    int plainly = dv_key_equal_plainly(entry->key, key);
    if (DV_LIKELY(plainly >= 0)) return plainly;
    const dv_set_entry *table = set->table;
    uint64_t mask = set->mask;
    dv_value start = dv_retain(entry->key);
    int equal = dv_items_equal(vm, start, key);
    bool changed = set->table != table || set->mask != mask || !dv_same(entry->key, start);
    dv_release(vm, start);
    return equal < 0 ? -1 : changed ? 2 : equal;
}

/* What search (below) does, for a key whose first entry does not decide. */
static dv_set_entry *search_on(dv_vm *vm, dv_set *set, dv_value key, int64_t hash,
                               dv_set_entry **deleted) {
restart:
    *deleted = NULL;
    uint64_t mask = set->mask, perturb = (uint64_t)hash, slot = perturb & mask;
    for (;; slot = (slot * 5 + 1 + perturb) & mask) {
        uint64_t end = linear_end(slot, mask);
        for (uint64_t i = slot; i <= end; i++) {
            dv_set_entry *entry = &set->table[i];
            if (dv_set_never_used(entry)) return entry;
            if (entry->hash != hash) {
                if (entry->hash == DELETED_HASH) *deleted = entry;
                continue;
            }
            int equal = entry_equals(vm, set, entry, key);
            if (equal < 0) return NULL;
            if (equal == 1) return entry;
            if (equal == 2) goto restart;
        }
        perturb >>= PERTURB;
        if (!dv_work(vm, 1)) return NULL;
    }
}

/* The entry of a key, or the one that was never used where the search for it ended; NULL: raised.
 * *deleted is the last deleted entry on the way, or NULL. */
static inline dv_set_entry *search(dv_vm *vm, dv_set *set, dv_value key, int64_t hash,
                                   dv_set_entry **deleted) {
    dv_set_entry *entry = dv_set_first_entry(set, key, hash);
    *deleted = NULL;
    if (DV_LIKELY(entry)) return entry;
    entry = &set->table[(uint64_t)hash & set->mask];
    if (entry->hash == hash && !dv_is_empty(entry->key) && dv_key_same(entry->key, key))
        return entry;
    return search_on(vm, set, key, hash, deleted);
}

static inline dv_set_entry *find(dv_vm *vm, dv_set *set, dv_value key, int64_t hash) {
    dv_set_entry *deleted;
    return search(vm, set, key, hash, &deleted);
}

/* ---- Keys --------------------------------------------------------------------------------------
 */

static inline bool add_hashed(dv_vm *vm, dv_set *set, dv_value key, int64_t hash) {
    dv_set_entry *deleted, *entry = search(vm, set, key, hash, &deleted);
    if (!entry) return false;
    if (!dv_is_empty(entry->key)) return true;
    *(deleted ? deleted : entry) = (dv_set_entry){hash, dv_retain(key)};
    set->used++;
    if (deleted) return true;
    set->fill++;
    if ((uint64_t)set->fill * 5 < set->mask * 3) return true;
    return resize(vm, set, roomy(set));
}

bool dv_set_add_hashed(dv_vm *vm, dv_value self, dv_value key, int64_t hash) {
    return add_hashed(vm, dv_as_set(self), key, hash);
}

int dv_set_contains_hashed(dv_vm *vm, dv_value self, dv_value key, int64_t hash) {
    const dv_set_entry *entry = find(vm, dv_as_set(self), key, hash);
    return entry ? !dv_is_empty(entry->key) : -1;
}

static dv_value take(dv_set *set, dv_set_entry *entry) {
    dv_value key = entry->key;
    *entry = (dv_set_entry){DELETED_HASH, DV_EMPTY};
    set->used--;
    return key;
}

int dv_set_discard_hashed(dv_vm *vm, dv_value self, dv_value key, int64_t hash) {
    dv_set_entry *entry = find(vm, dv_as_set(self), key, hash);
    if (!entry) return -1;
    if (dv_is_empty(entry->key)) return 0;
    dv_release(vm, take(dv_as_set(self), entry));
    return 1;
}

dv_value dv_set_take_any(dv_value self) {
    dv_set *set = dv_as_set(self);
    uint64_t slot = set->finger & set->mask;
    while (dv_is_empty(set->table[slot].key)) slot = (slot + 1) & set->mask;
    set->finger = slot + 1;
    return take(set, &set->table[slot]);
}

bool dv_set_tidy(dv_vm *vm, dv_value self) {
    dv_set *set = dv_as_set(self);
    if ((uint64_t)(set->fill - set->used) <= set->mask / 4) return true;
    return resize(vm, set, roomy(set));
}

static inline bool add(dv_vm *vm, dv_set *set, dv_value key) {
    int64_t hash;
    return dv_key_hash(vm, key, &hash) && add_hashed(vm, set, key, hash);
}

bool dv_set_add(dv_vm *vm, dv_value self, dv_value key) { return add(vm, dv_as_set(self), key); }

int dv_set_contains(dv_vm *vm, dv_value self, dv_value key) {
    int64_t hash;
    return dv_key_hash(vm, key, &hash) ? dv_set_contains_hashed(vm, self, key, hash) : -1;
}

/* The same of items, without a call. */
DV_INLINE int set_has_items(const dv_set *set, const dv_value *items, int64_t n, bool texts,
                            int64_t hash) {
    uint64_t mask = set->mask, perturb = (uint64_t)hash, slot = perturb & mask;
    for (;; slot = (slot * 5 + 1 + perturb) & mask) {
        const uint64_t end = linear_end(slot, mask);
        for (uint64_t i = slot; i <= end; i++) {
            const dv_set_entry *entry = &set->table[i];
            if (dv_set_never_used(entry)) return 0;
            if (entry->hash == hash) return dv_key_has_items(entry->key, items, n, texts) ? 1 : -1;
        }
        perturb >>= PERTURB;
    }
}

static inline int has_items(dv_value container, const dv_value *items, int64_t n, bool texts,
                            int64_t hash) {
    if (!dv_is_shape(container, DV_T_DICT))
        return set_has_items(dv_as_set(container), items, n, texts, hash);
    const int64_t number = dv_dict_items_entry(dv_as_dict(container), items, n, texts, hash);
    return number == DV_KEY_UNKNOWN ? -1 : number >= 0;
}

int dv_items_in(dv_vm *vm, const dv_value *items, int64_t n, dv_value container) {
    int64_t hash;
    if (!dv_is_shape(container, DV_T_DICT) && !dv_is_shape(container, DV_T_SET) &&
        !dv_is_shape(container, DV_T_FROZENSET))
        return -1;
    if (n == 2 && dv_are_ints(items[0], items[1])) /* a place in a plane */
        return has_items(container, items, 2, false, dv_tuple_hash_ints(vm, items[0], items[1]));
    if (!dv_items_known_hash(vm, items, n, &hash)) return -1;
    return has_items(container, items, n, true, hash);
}

int dv_raw_items_in(dv_vm *vm, const dv_value *raw, int64_t n, dv_value container) {
    dv_value items[DV_RAW_ITEMS];
    for (int64_t i = 0; i < n; i++) {
        if (!dv_fits_int((int64_t)raw[i].bits)) return -1;
        items[i] = dv_int((int64_t)raw[i].bits);
    }
    return dv_items_in(vm, items, n, container);
}

/* ---- Filling -----------------------------------------------------------------------------------
 */

/* One big step instead of many small ones, unless so many more keys fit. */
static bool reserve(dv_vm *vm, dv_set *set, int64_t more) {
    if ((uint64_t)(set->fill + more) * 5 < set->mask * 3) return true;
    return resize(vm, set, (uint64_t)(set->used + more) * 2);
}

static void retain_keys(const dv_set_entry *entry, int64_t used) {
    for (; used > 0; entry++) {
        used -= !dv_is_empty(entry->key);
        dv_retain(entry->key);
    }
}

/* The `used` keys of a table without deleted entries, retained, into an empty one of its size. */
static void copy_keys(dv_set_entry *to, const dv_set_entry *from, int64_t used) {
    for (; used > 0; from++, to++) {
        used -= !dv_is_empty(from->key);
        *to = (dv_set_entry){from->hash, dv_retain(from->key)};
    }
}

static bool update_from_set(dv_vm *vm, dv_value self, dv_value from) {
    dv_set *set = dv_as_set(self);
    const dv_set *other = dv_as_set(from);
    if (set == other || other->used == 0) return true;
    if (!reserve(vm, set, other->used)) return false;
    if (set->fill == 0) {
        dv_work_owe(vm, other->used);
        bool alike = set->mask == other->mask && other->fill == other->used;
        if (alike) {
            copy_keys(set->table, other->table, other->used);
        } else {
            insert_all(set->table, set->mask, other->table, other->used);
            retain_keys(set->table, other->used);
        }
        set->fill = set->used = other->used;
        return true;
    }
    for (uint64_t i = 0; i <= other->mask; i++) {
        dv_set_entry entry = other->table[i];
        if (dv_is_empty(entry.key)) continue;
        if (!dv_work(vm, 2)) return false;
        dv_retain(entry.key);
        bool good = add_hashed(vm, set, entry.key, entry.hash);
        dv_release(vm, entry.key);
        if (!good) return false;
    }
    return true;
}

static bool update_from_dict(dv_vm *vm, dv_value self, dv_value dict) {
    if (!reserve(vm, dv_as_set(self), dv_as_dict(dict)->count)) return false;
    int64_t position = 0;
    const dv_dict_entry *entry;
    while ((entry = dv_dict_walk_entry(dict, &position)) != NULL) {
        if (!dv_work(vm, 2)) return false;
        dv_value key = dv_retain(entry->key);
        bool good = add_hashed(vm, dv_as_set(self), key, entry->hash);
        dv_release(vm, key);
        if (!good) return false;
    }
    return true;
}

static bool update_from_tuple(dv_vm *vm, dv_value self, dv_value from) {
    const dv_tuple *tuple = dv_as_tuple(from);
    for (int64_t i = 0; i < tuple->count; i++)
        if (!dv_work(vm, 2) || !add(vm, dv_as_set(self), tuple->items[i])) return false;
    return true;
}

/* Hashing and comparing may change the list: as under an iterator, its length is looked at again
 * for every item. */
static bool update_from_list(dv_vm *vm, dv_value self, dv_value from) {
    const dv_list *list = dv_as_list(from);
    for (int64_t i = 0; i < list->count; i++) {
        if (!dv_work(vm, 2)) return false;
        dv_value key = dv_retain(list->items[i]);
        bool good = add(vm, dv_as_set(self), key);
        dv_release(vm, key);
        if (!good) return false;
    }
    return true;
}

bool dv_set_update(dv_vm *vm, dv_value self, dv_value iterable) {
    if (dv_is_any_set(iterable)) return update_from_set(vm, self, iterable);
    if (dv_is_shape(iterable, DV_T_DICT)) return update_from_dict(vm, self, iterable);
    if (dv_is_shape(iterable, DV_T_LIST)) return update_from_list(vm, self, iterable);
    if (dv_is_shape(iterable, DV_T_TUPLE)) return update_from_tuple(vm, self, iterable);
    dv_value iterator = dv_iterate(vm, iterable);
    if (dv_is_empty(iterator)) return false;
    bool good = true;
    while (good) {
        dv_value key = dv_step(vm, iterator);
        if (dv_is_empty(key)) break;
        good = add(vm, dv_as_set(self), key);
        dv_release(vm, key);
    }
    dv_release(vm, iterator);
    return good && dv_is_empty(vm->error);
}

dv_value dv_set_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    dv_set *set = dv_subclass_alloc(vm, class_, sizeof(dv_set));
    if (!set) return DV_EMPTY;
    set->finger = 0;
    be_empty(set);
    dv_value self = dv_object_value(set);
    if (dv_set_update(vm, self, exact)) return self;
    dv_release(vm, self);
    return DV_EMPTY;
}

dv_value dv_set_from(dv_vm *vm, dv_type_id type, dv_value iterable) {
    dv_value set = set_new(vm, type);
    if (dv_is_empty(set) || dv_is_empty(iterable) || dv_set_update(vm, set, iterable)) return set;
    dv_release(vm, set);
    return DV_EMPTY;
}
