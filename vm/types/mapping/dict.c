/* dict.c: hash tables in insertion order.
 *
 * Invariants (more in dict.h)
 *  1. Entries and index lie in one block of the heap, the entries first.
 *  2. used + usable <= capacity, which is two thirds of CPython's index, so that loops which change
 *     a dict meanwhile see the same keys; but for the smallest dicts, the index has twice its size.
 *  3. Keys and values are released only after the dict is whole again. */
#include "types/mapping/dict.h"

#include <string.h>

#include "core/upcall.h"
#include "core/work.h"
#include "types/class/instance.h"
#include "types/sequence/iterator.h"
#include "types/mapping/key.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"

#define FIRST_SIZE   8
#define LARGEST_SIZE ((uint64_t)1 << 31) /* entry numbers are int32_t */

/* Never written to: a dict with this index has no room, and is given a block first. */
static const int32_t no_index[1] = {DV_DICT_FREE};

/* ---- Memory ------------------------------------------------------------------------------------
 */

static size_t block_size(int64_t capacity, uint64_t mask) {
    return (size_t)capacity * sizeof(dv_dict_entry) + (size_t)(mask + 1) * sizeof(int32_t);
}

static void be_empty(dv_dict *dict) {
    dict->count = dict->used = dict->capacity = dict->usable = dict->first = 0;
    dict->asks = false;
    dict->mask = 0;
    dict->index = (int32_t *)no_index;
    dict->entries = NULL;
}

dv_value dv_dict_new(dv_vm *vm) {
    dv_dict *dict = dv_container_new(vm, sizeof(dv_dict), DV_T_DICT);
    if (!dict) return DV_EMPTY;
    be_empty(dict);
    return dv_object_value(dict);
}

dv_value dv_dict_make(dv_vm *vm, dv_class *class_) {
    if (class_->descriptor) return dv_dict_new(vm);
    dv_dict *dict = dv_subclass_alloc(vm, class_, sizeof(dv_dict));
    if (!dict) return DV_EMPTY;
    be_empty(dict);
    return dv_object_value(dict);
}

dv_value dv_dict_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    dv_value self = dv_dict_make(vm, class_);
    if (dv_is_empty(self) || dv_dict_update(vm, self, exact)) return self;
    dv_release(vm, self);
    return DV_EMPTY;
}

/* Copies the live entries, closing the gaps. */
static int64_t copy_entries(dv_dict_entry *to, const dv_dict *dict) {
    if (dict->count == dict->used) {
        if (dict->used) memcpy(to, dict->entries, (size_t)dict->used * sizeof *to);
        return dict->used;
    }
    int64_t count = 0;
    for (int64_t i = 0; i < dict->used; i++)
        if (!dv_is_empty(dict->entries[i].key)) to[count++] = dict->entries[i];
    return count;
}

/* A slot that may take a new entry. */
static uint64_t slot_for_new(const dv_dict *dict, int64_t hash) {
    uint64_t perturb = (uint64_t)hash, slot = perturb & dict->mask;
    while (dict->index[slot] >= 0) slot = dv_dict_next_slot(slot, &perturb, dict->mask);
    return slot;
}

static void index_entries(dv_dict *dict) {
    memset(dict->index, 0xFF, (size_t)(dict->mask + 1) * sizeof(int32_t)); /* DV_DICT_FREE */
    for (int64_t i = 0; i < dict->used; i++)
        dict->index[slot_for_new(dict, dict->entries[i].hash)] = (int32_t)i;
}

/* A new block with an index of at least `size` slots. */
static bool rebuild(dv_vm *vm, dv_dict *dict, uint64_t wanted) {
    enum { MANY = 1000 };
    uint64_t size = FIRST_SIZE;
    while (size < wanted) size *= 2;
    int64_t capacity = (int64_t)(size * 2 / 3);
    /* A third of the slots is used at most: a search seldom meets another key (measured: a program
     * on places in a plane takes 5 % less time). */
    if (size > FIRST_SIZE) size *= 2;
    char *block =
        size > LARGEST_SIZE ? NULL : dv_heap_alloc(&vm->heap, block_size(capacity, size - 1));
    if (!block) {
        dv_raise_memory(vm);
        return false;
    }
    dv_dict_entry *entries = (dv_dict_entry *)(void *)block, *old = dict->entries;
    size_t old_size = block_size(dict->capacity, dict->mask);
    dict->used = copy_entries(entries, dict);
    dict->first = 0;
    dict->entries = entries;
    dict->index = (int32_t *)(void *)(entries + capacity);
    dict->mask = size - 1;
    dict->capacity = capacity;
    dict->usable = capacity - dict->used;
    if (DV_UNLIKELY(dict->used > MANY)) dv_work_owe(vm, dict->used);
    index_entries(dict);
    if (old) dv_heap_free(&vm->heap, old, old_size);
    return true;
}

bool dv_dict_reserve(dv_vm *vm, dv_value self, int64_t count) {
    dv_dict *dict = dv_as_dict(self);
    if (count <= dict->usable) return true;
    if (count > (int64_t)LARGEST_SIZE) {
        dv_raise_memory(vm);
        return false;
    }
    return rebuild(vm, dict, ((uint64_t)(dict->count + count) * 3 + 1) / 2);
}

static void release_block(dv_vm *vm, dv_dict_entry *entries, int64_t used, size_t size) {
    if (!entries) return;
    for (int64_t i = 0; i < used; i++) {
        dv_release(vm, entries[i].key);
        dv_release(vm, entries[i].value);
    }
    dv_heap_free(&vm->heap, entries, size);
}

void dv_dict_clear(dv_vm *vm, dv_value self) {
    dv_dict *dict = dv_as_dict(self);
    dv_dict_entry *entries = dict->entries;
    int64_t used = dict->used;
    size_t size = block_size(dict->capacity, dict->mask);
    be_empty(dict);
    release_block(vm, entries, used, size);
}

void dv_dict_release(dv_vm *vm, dv_object *object) {
    dv_dict *dict = (dv_dict *)object;
    release_block(vm, dict->entries, dict->used, block_size(dict->capacity, dict->mask));
    dv_base_free(vm, object, sizeof(dv_dict));
}

void dv_dict_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const dv_dict *dict = (const dv_dict *)object;
    for (int64_t i = 0; i < dict->used; i++) {
        if (dv_is_empty(dict->entries[i].key)) continue;
        visit(vm, dict->entries[i].value, context);
        visit(vm, dict->entries[i].key, context);
    }
}

/* ---- Searching ---------------------------------------------------------------------------------
 */

/* What a search ends with besides the number of an entry. */
enum { ABSENT = DV_KEY_ABSENT, RAISED = -3 };

/* Number of the key's entry, or ABSENT, or RAISED; the slots before the given one do not decide. */
static __attribute__((noinline)) int64_t search_from(dv_vm *vm, const dv_dict *dict, dv_value key,
                                                     int64_t hash, uint64_t slot,
                                                     uint64_t perturb) {
restart:
    for (;; slot = dv_dict_next_slot(slot, &perturb, dict->mask)) {
        int32_t number = dict->index[slot];
        if (number == DV_DICT_FREE) return ABSENT;
        if (number == DV_DICT_DELETED) continue;
        const dv_dict_entry *entry = &dict->entries[number];
        if (!dv_same(entry->key, key)) {
            if (entry->hash != hash) continue;
            int equal = dv_key_equal_plainly(entry->key, key);
            if (DV_UNLIKELY(equal < 0)) {
                const dv_dict_entry *entries = dict->entries;
                const dv_value asked = entry->key;
                equal = dv_items_equal(vm, asked, key);
                if (DV_UNLIKELY(equal < 0)) return RAISED;
                /* CPython, too, takes no note of other changes. */
                if (DV_UNLIKELY(dict->entries != entries || !dv_same(entries[number].key, asked))) {
                    perturb = (uint64_t)hash;
                    slot = perturb & dict->mask;
                    goto restart;
                }
            }
            if (!equal) continue;
        }
        return number;
    }
}

/* From the first slot on; out of line, so that nothing is kept for it by those who seldom need it.
 */
static __attribute__((noinline)) int64_t search_all(dv_vm *vm, const dv_dict *dict, dv_value key,
                                                    int64_t hash) {
    const uint64_t perturb = (uint64_t)hash;
    return search_from(vm, dict, key, hash, perturb & dict->mask, perturb);
}

/* The same without a call until a key with the same hash must be asked: that is rare. */
static __attribute__((noinline)) int64_t find_entry(dv_vm *vm, const dv_dict *dict, dv_value key,
                                                    int64_t hash) {
    uint64_t perturb = (uint64_t)hash, slot = perturb & dict->mask;
    for (;; slot = dv_dict_next_slot(slot, &perturb, dict->mask)) {
        const int32_t number = dict->index[slot];
        if (number < 0) {
            if (number == DV_DICT_FREE) return ABSENT;
            continue;
        }
        const dv_dict_entry *entry = &dict->entries[number];
        if (dv_same(entry->key, key)) return number; /* even if its hash has become another */
        if (entry->hash != hash) continue;
        if (DV_UNLIKELY(!dv_key_same(entry->key, key))) break;
        return number;
    }
    return search_from(vm, dict, key, hash, slot, perturb);
}

/* A pair of ints, a place in a plane: such are found without a call. */
static inline bool is_place(const dv_tuple *tuple) {
    return tuple->count == 2 && dv_are_ints(tuple->items[0], tuple->items[1]);
}

static inline int64_t find_by_place(dv_vm *vm, const dv_dict *dict, const dv_tuple *place,
                                    int64_t hash) {
    const int64_t number = dv_dict_items_entry(dict, place->items, 2, false, hash);
    if (DV_LIKELY(number != DV_KEY_UNKNOWN)) return number;
    return search_all(vm, dict, dv_object_value(place), hash);
}

int64_t dv_dict_find_items(dv_vm *vm, const dv_dict *dict, const dv_value *items, int64_t n) {
    int64_t hash;
    return dv_items_known_hash(vm, items, n, &hash)
               ? dv_dict_items_entry(dict, items, n, true, hash)
               : DV_KEY_UNKNOWN;
}

static inline dv_value value_at(const dv_dict *dict, int64_t number) {
    return number >= 0 ? dict->entries[number].value : DV_EMPTY;
}

static inline dv_value get_hashed(dv_vm *vm, const dv_dict *dict, dv_value key, int64_t hash) {
    return value_at(dict, find_entry(vm, dict, key, hash));
}

/* dv_dict_get for a key that is no short text whose hash is known. */
static __attribute__((noinline)) dv_value get_asking(dv_vm *vm, const dv_dict *dict, dv_value key) {
    int64_t hash;
    return dv_key_hash(vm, key, &hash) ? get_hashed(vm, dict, key, hash) : DV_EMPTY;
}

/* The same for a tuple. */
static __attribute__((noinline)) dv_value get_by_tuple(dv_vm *vm, const dv_dict *dict,
                                                       dv_value key) {
    const dv_tuple *tuple = dv_as_tuple(key);
    if (!is_place(tuple)) return get_asking(vm, dict, key);
    const int64_t hash = dv_tuple_hash_ints(vm, tuple->items[0], tuple->items[1]);
    return value_at(dict, find_by_place(vm, dict, tuple, hash));
}

dv_value dv_dict_get(dv_vm *vm, dv_value self, dv_value key) {
    const dv_dict *dict = dv_as_dict(self);
    if (dv_is_shape(key, DV_T_TUPLE)) return get_by_tuple(vm, dict, key);
    const int64_t number = dv_dict_text_entry(vm, dict, key);
    if (number >= 0) return dict->entries[number].value;
    if (number == DV_KEY_ABSENT) return DV_EMPTY;
    return get_asking(vm, dict, key);
}

dv_value dv_dict_get_hashed(dv_vm *vm, dv_value self, dv_value key, int64_t hash) {
    return get_hashed(vm, dv_as_dict(self), key, hash);
}

bool dv_dict_walk_back(dv_value self, int64_t *position, dv_value *key, dv_value *value) {
    const dv_dict *dict = dv_as_dict(self);
    int64_t i = (*position < dict->used ? *position : dict->used) - 1;
    while (i >= 0 && dv_is_empty(dict->entries[i].key)) i--;
    if (i < 0) return false;
    *key = dict->entries[i].key;
    *value = dict->entries[i].value;
    *position = i;
    return true;
}

/* ---- Changing ----------------------------------------------------------------------------------
 */

/* Adds a key that is not there; retains both. */
static bool add_entry(dv_vm *vm, dv_dict *dict, dv_value key, int64_t hash, dv_value value) {
    if (dict->usable == 0 && !rebuild(vm, dict, (uint64_t)dict->count * 3)) return false;
    dict->index[slot_for_new(dict, hash)] = (int32_t)dict->used;
    dict->entries[dict->used++] = (dv_dict_entry){hash, dv_retain(key), dv_retain(value)};
    dict->usable--;
    dict->count++;
    dict->asks |= dv_is_object(key) && !dv_is_shape(key, DV_T_STR) && !dv_is_shape(key, DV_T_TUPLE);
    return true;
}

/* Stores into an entry that was found, or adds one. */
static inline bool set_found(dv_vm *vm, dv_dict *dict, int64_t number, dv_value key, int64_t hash,
                             dv_value value) {
    if (number < 0) return number == ABSENT && add_entry(vm, dict, key, hash, value);
    dv_value old = dict->entries[number].value;
    dict->entries[number].value = dv_retain(value);
    dv_release(vm, old);
    return true;
}

static inline bool set_hashed(dv_vm *vm, dv_dict *dict, dv_value key, int64_t hash,
                              dv_value value) {
    return set_found(vm, dict, find_entry(vm, dict, key, hash), key, hash, value);
}

/* dv_dict_set for a pair of ints. */
static __attribute__((noinline)) bool set_place(dv_vm *vm, dv_dict *dict, dv_value key,
                                                dv_value value) {
    const dv_tuple *place = dv_as_tuple(key);
    const int64_t hash = dv_tuple_hash_ints(vm, place->items[0], place->items[1]);
    return set_found(vm, dict, find_by_place(vm, dict, place, hash), key, hash, value);
}

/* For any other key. */
static __attribute__((noinline)) bool set_asking(dv_vm *vm, dv_dict *dict, dv_value key,
                                                 dv_value value) {
    int64_t hash;
    return dv_key_hash(vm, key, &hash) && set_hashed(vm, dict, key, hash, value);
}

bool dv_dict_set(dv_vm *vm, dv_value self, dv_value key, dv_value value) {
    if (dv_is_shape(key, DV_T_TUPLE) && is_place(dv_as_tuple(key)))
        return set_place(vm, dv_as_dict(self), key, value);
    return set_asking(vm, dv_as_dict(self), key, value);
}

bool dv_dict_set_hashed(dv_vm *vm, dv_value self, dv_value key, int64_t hash, dv_value value) {
    return set_hashed(vm, dv_as_dict(self), key, hash, value);
}

dv_value dv_dict_get_or_set(dv_vm *vm, dv_value self, dv_value key, dv_value value) {
    dv_dict *dict = dv_as_dict(self);
    int64_t hash;
    if (!dv_key_hash(vm, key, &hash)) return DV_EMPTY;
    int64_t number = find_entry(vm, dict, key, hash);
    if (number == RAISED) return DV_EMPTY;
    if (number >= 0) return dict->entries[number].value;
    return add_entry(vm, dict, key, hash, value) ? value : DV_EMPTY;
}

/* Entries that a queue has lost are not walked again and again. */
static void skip_gap(dv_dict *dict) {
    while (dict->first < dict->used && dv_is_empty(dict->entries[dict->first].key)) dict->first++;
}

/* The slot that holds the number of a live entry. */
static uint64_t slot_of(const dv_dict *dict, int64_t number) {
    uint64_t perturb = (uint64_t)dict->entries[number].hash, slot = perturb & dict->mask;
    while (dict->index[slot] != number) slot = dv_dict_next_slot(slot, &perturb, dict->mask);
    return slot;
}

/* Takes an entry out; its key and value become the caller's. */
static dv_dict_entry take_out(dv_dict *dict, int64_t number) {
    dv_dict_entry entry = dict->entries[number];
    dict->index[slot_of(dict, number)] = DV_DICT_DELETED;
    dict->entries[number].key = dict->entries[number].value = DV_EMPTY;
    dict->count--;
    if (number == dict->first) skip_gap(dict);
    return entry;
}

bool dv_dict_pop(dv_vm *vm, dv_value self, dv_value key, dv_value *value) {
    dv_dict *dict = dv_as_dict(self);
    int64_t hash;
    *value = DV_EMPTY;
    if (!dv_key_hash(vm, key, &hash)) return false;
    int64_t number = find_entry(vm, dict, key, hash);
    if (number < 0) return number == ABSENT;
    dv_dict_entry entry = take_out(dict, number);
    *value = entry.value;
    dv_release(vm, entry.key);
    return true;
}

int dv_dict_delete(dv_vm *vm, dv_value self, dv_value key) {
    dv_value value;
    if (!dv_dict_pop(vm, self, key, &value)) return -1;
    if (dv_is_empty(value)) return 0;
    dv_release(vm, value);
    return 1;
}

bool dv_dict_pop_last(dv_value self, dv_value *key, dv_value *value) {
    dv_dict *dict = dv_as_dict(self);
    if (dict->count == 0) return false;
    int64_t number = dict->used - 1;
    while (dv_is_empty(dict->entries[number].key)) number--;
    dv_dict_entry entry = take_out(dict, number);
    dict->used = number; /* what lay behind was deleted before */
    if (dict->first > number) dict->first = number;
    *key = entry.key;
    *value = entry.value;
    return true;
}

/* The entries of a dict without gaps into one that never had any, and the same table. */
static bool clone(dv_vm *vm, dv_dict *to, const dv_dict *from) {
    char *block = dv_heap_alloc(&vm->heap, block_size(from->capacity, from->mask));
    if (!block) {
        dv_raise_memory(vm);
        return false;
    }
    to->entries = (dv_dict_entry *)(void *)block;
    to->index = (int32_t *)(void *)(to->entries + from->capacity);
    for (int64_t i = 0; i < from->used; i++) {
        const dv_dict_entry *entry = &from->entries[i];
        to->entries[i] =
            (dv_dict_entry){entry->hash, dv_retain(entry->key), dv_retain(entry->value)};
    }
    memcpy(to->index, from->index, (size_t)(from->mask + 1) * sizeof(int32_t));
    to->count = to->used = from->used;
    to->capacity = from->capacity;
    to->usable = from->usable;
    to->mask = from->mask;
    to->asks = from->asks;
    return true;
}

/* Has the dict room behind the last entry, or no gap between the others? */
static bool can_move(const dv_dict *dict, bool last) {
    return last ? dict->usable > 0 : dict->used == dict->count;
}

int dv_dict_move(dv_vm *vm, dv_value self, dv_value key, bool last) {
    dv_dict *dict = dv_as_dict(self);
    int64_t hash, number;
    if (!dv_key_hash(vm, key, &hash)) return -1;
    do { /* again if __eq__ of a key changed that */
        if (!can_move(dict, last) && !rebuild(vm, dict, (uint64_t)dict->count * 3)) return -1;
        number = find_entry(vm, dict, key, hash);
        if (number < 0) return number == ABSENT ? 0 : -1;
        if (number == (last ? dict->used - 1 : 0)) return 1;
    } while (!can_move(dict, last));
    dv_dict_entry entry = dict->entries[number];
    if (last) {
        dict->index[slot_of(dict, number)] = (int32_t)dict->used;
        dict->entries[number].key = dict->entries[number].value = DV_EMPTY;
        dict->entries[dict->used++] = entry;
        dict->usable--;
        skip_gap(dict);
        return 1;
    }
    dv_work_owe(vm, dict->used);
    memmove(dict->entries + 1, dict->entries, (size_t)number * sizeof entry);
    dict->entries[0] = entry;
    index_entries(dict);
    return 1;
}

dv_value dv_dict_copy(dv_vm *vm, dv_value self) {
    const dv_dict *from = dv_as_dict(self);
    dv_value copy = dv_dict_new(vm);
    if (dv_is_empty(copy) || from->count == 0) return copy;
    dv_dict *to = dv_as_dict(copy);
    if (from->count == from->used) {
        if (clone(vm, to, from)) return copy;
        dv_release(vm, copy);
        return DV_EMPTY;
    }
    if (!dv_dict_reserve(vm, copy, from->count)) {
        dv_release(vm, copy);
        return DV_EMPTY;
    }
    to->asks = from->asks;
    to->used = to->count = copy_entries(to->entries, from);
    to->usable = to->capacity - to->used;
    for (int64_t i = 0; i < to->used; i++) {
        dv_retain(to->entries[i].key);
        dv_retain(to->entries[i].value);
    }
    index_entries(to);
    return copy;
}

/* ---- update ------------------------------------------------------------------------------------
 */

/* Nothing was deleted and the table is not too large: CPython copies such a dict into an empty one
 * without comparing keys. */
static bool is_dense(const dv_dict *dict) {
    const uint64_t slots = dict->mask + 1, size = slots > FIRST_SIZE ? slots / 2 : slots;
    return dict->used == dict->count &&
           (size == FIRST_SIZE || size / 2 * 2 / 3 < (uint64_t)dict->count);
}

static bool update_from_dict(dv_vm *vm, dv_value self, dv_value other) {
    if (dv_same(self, other) || dv_as_dict(other)->count == 0) return true;
    if (!dv_as_dict(self)->entries && is_dense(dv_as_dict(other)))
        return clone(vm, dv_as_dict(self), dv_as_dict(other));
    /* As in CPython: room for all, unless half of them fit already. */
    if (dv_as_dict(self)->usable * 3 < dv_as_dict(other)->count * 2 &&
        !dv_dict_reserve(vm, self, dv_as_dict(other)->count))
        return false;
    int64_t position = 0, count = dv_as_dict(other)->count;
    const dv_dict_entry *entry;
    bool distinct = dv_as_dict(self)->count == 0 && is_dense(dv_as_dict(other));
    while ((entry = dv_dict_walk_entry(other, &position))) {
        if (!dv_work(vm, 2)) return false;
        dv_value key = dv_retain(entry->key), value = dv_retain(entry->value);
        bool good = distinct ? add_entry(vm, dv_as_dict(self), key, entry->hash, value)
                             : dv_dict_set_hashed(vm, self, key, entry->hash, value);
        dv_release(vm, key);
        dv_release(vm, value);
        if (!good) return false;
        if (dv_as_dict(other)->count != count) {
            dv_raise(vm, DV_E_RUNTIME_ERROR, "dict mutated during update");
            return false;
        }
    }
    return true;
}

/* KeyError if the dict has the key. */
static bool check_absent(dv_vm *vm, dv_value self, dv_value key) {
    if (!dv_is_empty(dv_dict_get(vm, self, key))) dv_raise_value(vm, DV_E_KEY_ERROR, key);
    return dv_is_empty(vm->error);
}

/* From an object with keys() and __getitem__; `once`: KeyError for a key that is there already. */
static bool update_from_keys(dv_vm *vm, dv_value self, dv_value other, dv_value keys_method,
                             bool once) {
    dv_value keys = dv_call(vm, keys_method, NULL, 0, DV_EMPTY);
    if (dv_is_empty(keys)) return false;
    dv_value iterator = dv_iterate(vm, keys);
    dv_release(vm, keys);
    if (dv_is_empty(iterator)) return false;
    bool good = true;
    while (good) {
        dv_value key = dv_step(vm, iterator);
        if (dv_is_empty(key)) break;
        good = !once || check_absent(vm, self, key);
        dv_value value = good ? dv_get_item(vm, other, key) : DV_EMPTY;
        good = !dv_is_empty(value) && dv_dict_set(vm, self, key, value);
        dv_release(vm, key);
        dv_release(vm, value);
    }
    dv_release(vm, iterator);
    return good && dv_is_empty(vm->error);
}

/* One element of an iterable of pairs. */
static bool update_from_pair(dv_vm *vm, dv_value self, dv_value element, int64_t number) {
    dv_items pair;
    if (!dv_items_iterate(vm, element, &pair)) {
        if (dv_error_is(vm, DV_E_TYPE_ERROR)) {
            dv_error_clear(vm);
            dv_raise(vm, DV_E_TYPE_ERROR,
                     "cannot convert dictionary update sequence element #%lld to a sequence",
                     (long long)number);
        }
        return false;
    }
    bool good = pair.count == 2;
    if (!good)
        dv_raise(vm, DV_E_VALUE_ERROR,
                 "dictionary update sequence element #%lld has length %lld; 2 is required",
                 (long long)number, (long long)pair.count);
    else
        good = dv_dict_set(vm, self, pair.data[0], pair.data[1]);
    dv_items_discard(vm, &pair);
    return good;
}

static bool update_from_pairs(dv_vm *vm, dv_value self, dv_value iterable) {
    dv_value iterator = dv_iterate(vm, iterable);
    if (dv_is_empty(iterator)) return false;
    bool good = true;
    for (int64_t number = 0; good; number++) {
        dv_value element = dv_step(vm, iterator);
        if (dv_is_empty(element)) break;
        good = update_from_pair(vm, self, element, number);
        dv_release(vm, element);
    }
    dv_release(vm, iterator);
    return good && dv_is_empty(vm->error);
}

bool dv_dict_is_plain(dv_vm *vm, dv_value v) {
    return dv_is_dict(v) && (!dv_is_instance(v) || !dv_defines_special(vm, v, vm->known.iter));
}

dv_value dv_dict_copy_seen(dv_vm *vm, dv_value dict) {
    if (dv_dict_is_plain(vm, dict)) return dv_dict_copy(vm, dict);
    dv_value copy = dv_dict_new(vm);
    bool empty = dv_as_dict(dict)->count == 0; /* then CPython asks nothing */
    if (dv_is_empty(copy) || empty || dv_dict_update(vm, copy, dict)) return copy;
    dv_release(vm, copy);
    return DV_EMPTY;
}

/* From an object whose attribute keys is looked for; 0: it has none; -1: raised. */
static int update_from_mapping(dv_vm *vm, dv_value self, dv_value other, bool once) {
    dv_value name = dv_str_intern(vm, "keys", 4);
    if (dv_is_empty(name)) return -1;
    dv_value method = dv_find_attribute(vm, other, name);
    dv_release(vm, name);
    if (dv_is_empty(method)) return dv_is_empty(vm->error) ? 0 : -1;
    bool good = update_from_keys(vm, self, other, method, once);
    dv_release(vm, method);
    return good ? 1 : -1;
}

bool dv_dict_update(dv_vm *vm, dv_value self, dv_value other) {
    if (dv_dict_is_plain(vm, other)) return update_from_dict(vm, self, other);
    int done = dv_may_have_keys(other) ? update_from_mapping(vm, self, other, false) : 0;
    return done ? done > 0 : update_from_pairs(vm, self, other);
}

int dv_dict_merge(dv_vm *vm, dv_value self, dv_value other) {
    dv_value key, value;
    if (!dv_dict_is_plain(vm, other))
        return dv_may_have_keys(other) ? update_from_mapping(vm, self, other, true) : 0;
    for (int64_t at = 0; dv_dict_walk(other, &at, &key, &value);)
        if (!check_absent(vm, self, key) || !dv_dict_set(vm, self, key, value)) return -1;
    return 1;
}
