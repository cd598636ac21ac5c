/* dict.h: hash tables in insertion order: a compact index over an array of entries, as CPython's.
 *
 * Invariants
 *  1. entries[0 .. used-1]; a deleted entry has key EMPTY.  `count` live ones, none before `first`.
 *  2. The index has a power-of-two size; a slot holds an entry number, or -1 free, or -2 deleted.
 *     A third of it is always free, so that every search ends.  A dict that never had an entry
 *     shares a constant index of one free slot.
 *  3. Comparing keys may run dl code which may change the dict; lookups restart when the table is
 *     another one, or the key that was asked is no longer where it was. */
#ifndef DV_TYPES_DICT_H
#define DV_TYPES_DICT_H

#include "core/vm.h"

typedef struct dv_dict_entry {
    int64_t hash;
    dv_value key, value;
} dv_dict_entry;

typedef struct dv_dict {
    dv_object header;
    int64_t count;    /* live entries */
    int64_t used;     /* entries in use, deleted ones included */
    int64_t capacity; /* of entries */
    int64_t usable;   /* entries that can be added before the table is made anew */
    int32_t first;    /* no entry before this one is live */
    bool asks;        /* since it was empty it has had keys that may have an __eq__ in dl */
    uint64_t mask;    /* size of the index - 1 */
    int32_t *index;
    dv_dict_entry *entries;
} dv_dict;

/* What slots of the index hold besides numbers of entries, and where a search goes on. */
#define DV_DICT_FREE    (-1)
#define DV_DICT_DELETED (-2)
static inline uint64_t dv_dict_next_slot(uint64_t slot, uint64_t *perturb, uint64_t mask) {
    *perturb >>= 5;
    return (slot * 5 + *perturb + 1) & mask;
}

extern const dv_type dv_dict_type, dv_dict_view_type, dv_dict_iterator_type;

static inline bool dv_is_dict(dv_value v) { return dv_has_layout(v, DV_T_DICT); }
static inline dv_dict *dv_as_dict(dv_value v) { return (dv_dict *)dv_as_object(v); }

dv_value dv_dict_new(dv_vm *vm);
/* Borrowed value, or EMPTY: not found, or failed when vm->error is set (unhashable key, __eq__
 * raised). */
dv_value dv_dict_get(dv_vm *vm, dv_value dict, dv_value key);
bool dv_dict_set(dv_vm *vm, dv_value dict, dv_value key,
                 dv_value value) DV_MUST_CHECK; /* retains both */
/* dv_dict_get and dv_dict_set for a key whose hash is known: its __hash__ is not called again. */
dv_value dv_dict_get_hashed(dv_vm *vm, dv_value dict, dv_value key, int64_t hash);
bool dv_dict_set_hashed(dv_vm *vm, dv_value dict, dv_value key, int64_t hash,
                        dv_value value) DV_MUST_CHECK;
int dv_dict_delete(dv_vm *vm, dv_value dict, dv_value key); /* 1 done, 0 not there, -1 raised */
/* Walks the entries: *position starts at 0; NULL at the end.  Borrowed; the dict must not change.
 */
static inline const dv_dict_entry *dv_dict_walk_entry(dv_value self, int64_t *position) {
    const dv_dict *dict = dv_as_dict(self);
    int64_t i = *position < dict->first ? dict->first : *position;
    while (i < dict->used && dv_is_empty(dict->entries[i].key)) i++;
    *position = i + 1;
    return i < dict->used ? &dict->entries[i] : NULL;
}
/* The same for key and value; false at the end. */
static inline bool dv_dict_walk(dv_value dict, int64_t *position, dv_value *key, dv_value *value) {
    const dv_dict_entry *entry = dv_dict_walk_entry(dict, position);
    if (!entry) return false;
    *key = entry->key;
    *value = entry->value;
    return true;
}
/* The same from behind: position is at first dict->used. */
bool dv_dict_walk_back(dv_value dict, int64_t *position, dv_value *key, dv_value *value);
/* Room for `count` more keys without making the table anew. */
bool dv_dict_reserve(dv_vm *vm, dv_value dict, int64_t count) DV_MUST_CHECK;
/* A dict, or an instance of a subclass that leaves iteration to it: its entries may be read as they
 * are, as CPython does. */
bool dv_dict_is_plain(dv_vm *vm, dv_value v);
/* May v, which is no dict, have a method keys?  Of the built-in types one alone has. */
static inline bool dv_may_have_keys(dv_value v) {
    return dv_is_instance(v) || dv_is_foreign(v) || dv_is_shape(v, DV_T_MAPPING_PROXY);
}
dv_value dv_dict_make(dv_vm *vm, dv_class *class_);                  /* dv_type.make */
dv_value dv_dict_adopt(dv_vm *vm, dv_class *class_, dv_value exact); /* dv_type.adopt */
dv_value dv_dict_copy(dv_vm *vm, dv_value dict);
/* What programs see as a copy: by keys() and items if the dict is of a class with its own __iter__.
 */
dv_value dv_dict_copy_seen(dv_vm *vm, dv_value dict);
void dv_dict_release(dv_vm *vm, dv_object *object); /* dv_type.release */
void dv_dict_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context);
void dv_dict_clear(dv_vm *vm, dv_value dict);
/* Removes a key and hands its value over: *value EMPTY if it is not there; false: raised. */
bool dv_dict_pop(dv_vm *vm, dv_value dict, dv_value key, dv_value *value) DV_MUST_CHECK;
/* Makes a key the last one, or the first: 1 done, 0 not there, -1 raised. */
int dv_dict_move(dv_vm *vm, dv_value dict, dv_value key, bool last) DV_MUST_CHECK;
/* Removes the newest entry, handing key and value over; false: the dict is empty. */
bool dv_dict_pop_last(dv_value dict, dv_value *key, dv_value *value);
/* The borrowed value of a key, which is put in with `value` first if it is not there; EMPTY:
 * raised. */
dv_value dv_dict_get_or_set(dv_vm *vm, dv_value dict, dv_value key, dv_value value);
/* dict.update(other) for a mapping or an iterable of pairs. */
bool dv_dict_update(dv_vm *vm, dv_value dict, dv_value other) DV_MUST_CHECK;
/* The same for a mapping (0: it is none), whose keys the dict must not have: KeyError (-1), also
 * for one that the mapping gives twice. */
int dv_dict_merge(dv_vm *vm, dv_value dict, dv_value mapping) DV_MUST_CHECK;

#endif
