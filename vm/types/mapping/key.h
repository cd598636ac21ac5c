/* key.h: keys of dicts and sets: their hashes and whether two are equal, with the common ones
 * (ints, strs, and tuples of these) inline.
 *
 * Invariant 1: dv_key_equal_plainly is asked of keys with equal hashes alone, and runs no code of
 * the program. */
#ifndef DV_TYPES_KEY_H
#define DV_TYPES_KEY_H

#include <string.h>

#include "core/upcall.h"
#include "types/mapping/dict.h"
#include "types/sequence/sequence.h"
#include "types/mapping/set.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

/* dv_hash. */
DV_MUST_CHECK static inline bool dv_key_hash(dv_vm *vm, dv_value key, int64_t *hash) {
    if (DV_LIKELY(dv_is_shape(key, DV_T_STR))) {
        const int64_t known = dv_as_str(key)->hash;
        *hash = known != -1 ? known : dv_str_hash(vm, key);
        return true;
    }
    if (dv_is_int(key)) {
        *hash = dv_hash_number(&vm->hash_key, dv_as_int(key));
        return true;
    }
    if (dv_is_shape(key, DV_T_TUPLE)) {
        const dv_tuple *tuple = dv_as_tuple(key);
        if (tuple->count != 2 || !dv_are_ints(tuple->items[0], tuple->items[1]))
            return dv_tuple_hash(vm, tuple, hash);
        *hash = dv_tuple_hash_ints(vm, tuple->items[0], tuple->items[1]);
        return true;
    }
    if (dv_is_textual_asked(vm, key)) {
        *hash = dv_str_hash(vm, key);
        return true;
    }
    return dv_hash(vm, key, hash);
}

/* The hash of an int, but for the one that is -1 and taken for -2. */
static inline uint64_t dv_hash_int(const dv_vm *vm, dv_value key) {
    return (uint64_t)dv_as_int(key) * vm->hash_key.factor;
}

/* Inline in handlers, whatever the compiler thinks: it sees several uses, of which one runs. */
#define DV_INLINE static inline __attribute__((always_inline))

/* The hash of an int or a str if it is known without a call. */
DV_INLINE bool dv_key_known_hash(const dv_vm *vm, dv_value key, int64_t *hash) {
    if (dv_is_int(key))
        *hash = (int64_t)dv_hash_int(vm, key);
    else if (dv_is_shape(key, DV_T_STR))
        *hash = dv_as_str(key)->hash;
    else
        return false;
    return *hash != -1; /* a str's that was never asked for; that of -1 is another */
}

/* The same of an instance that is equal to nothing else, too. */
DV_INLINE bool dv_key_plain_hash(const dv_vm *vm, dv_value key, int64_t *hash) {
    if (dv_key_known_hash(vm, key, hash)) return true;
    *hash = dv_hash_address(key.bits & DV_PAYLOAD);
    return dv_is_unequal(vm, key);
}

/* What a search ends with besides the number of an entry. */
enum { DV_KEY_ABSENT = -1, DV_KEY_UNKNOWN = -2 };

/* Number of the entry of an instance that is equal to nothing else, or DV_KEY_ABSENT.
 * DV_KEY_UNKNOWN: it is not known to be such, or another key with its hash must be asked. */
DV_INLINE int64_t dv_dict_unequal_entry(const dv_vm *vm, const dv_dict *dict, dv_value key) {
    if (!dv_is_unequal(vm, key)) return DV_KEY_UNKNOWN;
    const int64_t hash = dv_hash_address(key.bits & DV_PAYLOAD);
    uint64_t perturb = (uint64_t)hash, slot = perturb & dict->mask;
    for (;; slot = dv_dict_next_slot(slot, &perturb, dict->mask)) {
        const int32_t number = dict->index[slot];
        if (number < 0) {
            if (number == DV_DICT_FREE) return DV_KEY_ABSENT;
            continue;
        }
        if (dv_same(dict->entries[number].key, key)) return number;
        if (DV_UNLIKELY(dict->entries[number].hash == hash)) return DV_KEY_UNKNOWN;
    }
}

/* The entry of a dict where the search for a key ends if its first slot decides: it has this very
 * key; or that is an instance that is equal to nothing else.  NULL: it has not, or that must be
 * asked. */
DV_INLINE dv_dict_entry *dv_dict_first_entry(const dv_vm *vm, const dv_dict *dict, dv_value key) {
    int64_t hash;
    if (!dv_key_known_hash(vm, key, &hash)) {
        const int64_t number = dv_dict_unequal_entry(vm, dict, key);
        return number < 0 ? NULL : &dict->entries[number];
    }
    const int32_t number = dict->index[(uint64_t)hash & dict->mask];
    if (number < 0) return NULL;
    dv_dict_entry *entry = &dict->entries[number];
    return dv_same(entry->key, key) ? entry : NULL;
}

#define DV_KEY_SHORT 32 /* bytes of texts that are compared without a call: four words */

/* Is it textual with the same short text as another such? */
static inline bool dv_key_same_text(const dv_vm *vm, dv_value a, dv_value b) {
    if (!dv_is_textual(vm, a)) return false;
    const dv_str *s = dv_as_str(a), *t = dv_as_str(b);
    const size_t size = (size_t)s->length * s->kind;
    return s->length == t->length && s->kind == t->kind && size <= DV_KEY_SHORT &&
           dv_texts_same(s->data, t->data, size);
}

/* Number of the first entry with a hash, where the search for a key ends if no other has that hash;
 * DV_KEY_ABSENT: there is none.  Keys that keep their hashes, and they alone, may be looked for by
 * them: others are found by identity, too. */
static inline int64_t dv_dict_hash_entry(const dv_dict *dict, int64_t hash) {
    const uint64_t mask = dict->mask;
    uint64_t perturb = (uint64_t)hash, slot = perturb & mask;
    for (;; slot = dv_dict_next_slot(slot, &perturb, mask)) {
        const int32_t number = dict->index[slot];
        if (DV_LIKELY(number >= 0)) {
            if (dict->entries[number].hash == hash) return number;
        } else if (number == DV_DICT_FREE) {
            return DV_KEY_ABSENT;
        }
    }
}

/* The same for a str, which may say where it was found last, in this dict or another: those that
 * are made of one sequence of keys, or copied, agree.  Then the index, and the branch behind it
 * that nobody foretells, are not needed (measured: a solver of sudokus takes 11 % less time).  Not
 * if another key with that hash, to which the index may lead before, could have to be asked. */
DV_INLINE int64_t dv_dict_hinted_entry(const dv_dict *dict, dv_str *key, int64_t hash) {
    const int64_t hint = key->hint;
    if (hint < dict->used && dict->entries[hint].hash == hash &&
        DV_LIKELY(!dv_is_empty(dict->entries[hint].key) && !dict->asks))
        return hint;
    const int64_t number = dv_dict_hash_entry(dict, hash);
    /* Where dicts do not agree, one of them keeps its hints for a while: a key of two such dicts in
     * turn would else take 1.4 times as long.  Any number will do. */
    if (key->misses++ % 8 == 0) key->hint = (uint16_t)number;
    return number;
}

/* Number of the entry of a textual key whose hash is known, if a search that calls nothing finds
 * this very key or a short str of its text; DV_KEY_UNKNOWN: that must be asked. */
DV_INLINE int64_t dv_dict_text_entry(const dv_vm *vm, const dv_dict *dict, dv_value key) {
    if (!dv_is_textual(vm, key) || dv_as_str(key)->hash == -1) return DV_KEY_UNKNOWN;
    const int64_t hash = dv_as_str(key)->hash;
    uint64_t perturb = (uint64_t)hash, slot = perturb & dict->mask;
    for (;; slot = dv_dict_next_slot(slot, &perturb, dict->mask)) {
        const int32_t number = dict->index[slot];
        if (number == DV_DICT_FREE) return DV_KEY_ABSENT;
        if (number == DV_DICT_DELETED) continue;
        const dv_dict_entry *entry = &dict->entries[number];
        if (dv_same(entry->key, key)) return number;
        if (entry->hash == hash)
            return dv_key_same_text(vm, entry->key, key) ? number : DV_KEY_UNKNOWN;
    }
}

/* The same for the other keys that calls are not needed for: an int that its first slot decides. */
DV_INLINE int64_t dv_dict_known_entry(const dv_vm *vm, const dv_dict *dict, dv_value key) {
    if (!dv_is_int(key)) return dv_dict_text_entry(vm, dict, key);
    const int32_t number = dict->index[dv_hash_int(vm, key) & dict->mask];
    return number >= 0 && dv_same(dict->entries[number].key, key) ? number : DV_KEY_UNKNOWN;
}

/* Number of the entry of an int, a str or an instance that is equal to nothing else, or
 * DV_KEY_ABSENT.  DV_KEY_UNKNOWN: a str whose hash is not known yet or that is long, any other key,
 * and what may be equal but is of another type. */
DV_INLINE int64_t dv_dict_plain_entry(const dv_vm *vm, const dv_dict *dict, dv_value key) {
    int64_t hash;
    if (!dv_key_known_hash(vm, key, &hash)) return dv_dict_unequal_entry(vm, dict, key);
    const int64_t number = dv_is_int(key) ? dv_dict_hash_entry(dict, hash)
                                          : dv_dict_hinted_entry(dict, dv_as_str(key), hash);
    if (number == DV_KEY_ABSENT) return number;
    const dv_value found = dict->entries[number].key;
    if (dv_same(found, key)) return number;
    if (dv_is_int(key) || DV_UNLIKELY(!dv_is_shape(found, DV_T_STR))) return DV_KEY_UNKNOWN;
    const dv_str *s = dv_as_str(key), *t = dv_as_str(found);
    const size_t size = (size_t)s->length * s->kind;
    const bool equal = s->length == t->length && s->kind == t->kind && size <= DV_KEY_SHORT &&
                       dv_texts_same(s->data, t->data, size);
    return equal ? number : DV_KEY_UNKNOWN;
}

/* Are two objects with the same hash the same, or strs with the same short text, or tuples of the
 * same items?  No means only that more must be asked.  Calls nothing. */
static inline bool dv_key_same(dv_value a, dv_value b) {
    if (dv_same(a, b)) return true;
    if (!dv_is_object(a) || !dv_is_object(b)) return false;
    const uint32_t shape = dv_as_object(a)->shape;
    if (shape != dv_as_object(b)->shape) return false;
    if (shape == DV_T_STR) {
        const dv_str *s = dv_as_str(a), *t = dv_as_str(b);
        const size_t size = (size_t)s->length * s->kind;
        if (s->length != t->length || s->kind != t->kind) return false;
        return size <= DV_KEY_SHORT && dv_texts_same(s->data, t->data, size);
    }
    if (shape != DV_T_TUPLE) return false;
    const dv_tuple *s = dv_as_tuple(a), *t = dv_as_tuple(b);
    int64_t left = s->count;
    if (left != t->count) return false;
    while (left > 0 && dv_same(s->items[left - 1], t->items[left - 1])) left--;
    return left == 0;
}

/* Is it a tuple of these items, ints or (`texts`) strs?  No means only that more must be asked. */
DV_INLINE bool dv_key_has_items(dv_value key, const dv_value *items, int64_t n, bool texts) {
    if (!dv_is_shape(key, DV_T_TUPLE) || dv_as_tuple(key)->count != n) return false;
    const dv_value *own = dv_as_tuple(key)->items;
    for (int64_t i = 0; i < n; i++)
        if (!dv_same(own[i], items[i]) && !(texts && dv_key_same(own[i], items[i]))) return false;
    return true;
}

/* The same of a tuple with these items, which need not have been made, by its hash
 * (dv_tuple_hash_ints, dv_items_known_hash). */
DV_INLINE int64_t dv_dict_items_entry(const dv_dict *dict, const dv_value *items, int64_t n,
                                      bool texts, int64_t hash) {
    const int64_t number = dv_dict_hash_entry(dict, hash);
    if (number == DV_KEY_ABSENT) return number;
    return dv_key_has_items(dict->entries[number].key, items, n, texts) ? number : DV_KEY_UNKNOWN;
}

/* The same of any ints and strs, by the hash that they have; DV_KEY_UNKNOWN: one does not know it.
 */
int64_t dv_dict_find_items(dv_vm *vm, const dv_dict *dict, const dv_value *items, int64_t n);

/* Does the dict, or the set, have the key?  -1: that must be asked; of the set, its first slot does
 * not decide. */
DV_INLINE int dv_dict_first_has(const dv_vm *vm, const dv_dict *dict, dv_value key) {
    const int64_t number = dv_dict_plain_entry(vm, dict, key);
    return number == DV_KEY_UNKNOWN ? -1 : number >= 0;
}
DV_INLINE int dv_set_first_has(const dv_vm *vm, const dv_set *set, dv_value key) {
    int64_t hash;
    if (!dv_key_plain_hash(vm, key, &hash)) return -1;
    const dv_set_entry *entry = dv_set_first_entry(set, key, hash);
    return entry ? dv_same(entry->key, key) : -1;
}

/* Adds a key to a set, taking its reference: 1; or it is there: 0.  -1: its first slot does not
 * decide, or the table would have to grow. */
DV_INLINE int dv_set_first_add(const dv_vm *vm, dv_set *set, dv_value key) {
    int64_t hash;
    if (!dv_key_plain_hash(vm, key, &hash)) return -1;
    dv_set_entry *entry = dv_set_first_entry(set, key, hash);
    if (!entry) return -1;
    if (dv_same(entry->key, key)) return 0;
    if ((uint64_t)(set->fill + 1) * 5 >= set->mask * 3) return -1;
    *entry = (dv_set_entry){hash, key};
    set->used++;
    set->fill++;
    return 1;
}

/* Are two different objects with the same hash equal?  -1: that must be asked (dv_items_equal). */
static inline int dv_key_equal_plainly(dv_value a, dv_value b) {
    if (dv_is_shape(a, DV_T_STR) && dv_is_shape(b, DV_T_STR)) return dv_str_equal(a, b);
    if (!dv_is_shape(a, DV_T_TUPLE) || !dv_is_shape(b, DV_T_TUPLE)) return -1;
    return dv_tuples_equal_plainly(dv_as_tuple(a), dv_as_tuple(b));
}

#endif
