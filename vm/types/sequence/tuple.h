/* tuple.h: immutable sequences.
 *
 * Invariant 1: items[0 .. count-1] are owned values; they never change after the tuple is
 * published, but for the result of a zip that only the zip has any more. */
#ifndef DV_TYPES_TUPLE_H
#define DV_TYPES_TUPLE_H

#include "core/vm.h"

typedef struct dv_tuple {
    dv_object header;
    int64_t count;
    dv_value items[];
} dv_tuple;

extern const dv_type dv_tuple_type;

static inline bool dv_is_tuple(dv_value v) { return dv_has_layout(v, DV_T_TUPLE); }
static inline dv_tuple *dv_as_tuple(dv_value v) { return (dv_tuple *)dv_as_object(v); }

dv_value dv_tuple_new(dv_vm *vm, const dv_value *items, int64_t count); /* retains the items */
dv_value dv_tuple_take(dv_vm *vm, const dv_value *items,
                       int64_t count); /* takes their ownership, even on failure */
/* The same of a class derived from tuple; but on failure the items stay the caller's. */
dv_value dv_tuple_take_for(dv_vm *vm, dv_class *class_, const dv_value *items, int64_t count);
/* A tuple whose items the caller fills in before anybody else sees it; NULL: raised. */
dv_tuple *dv_tuple_alloc(dv_vm *vm, int64_t count);
dv_value dv_tuple_from(dv_vm *vm, dv_value iterable); /* tuple(iterable) */
/* CPython's tuple hash is xxHash's 64-bit mixing of the items' hashes. */
#define DV_TUPLE_PRIME1 11400714785074694791u
#define DV_TUPLE_PRIME2 14029467366897019727u
#define DV_TUPLE_PRIME5 2870177450012600261u

static inline uint64_t dv_tuple_mix(uint64_t mixed, int64_t hash) {
    mixed += (uint64_t)hash * DV_TUPLE_PRIME2;
    return (mixed << 31 | mixed >> 33) * DV_TUPLE_PRIME1;
}

static inline int64_t dv_tuple_mixed(uint64_t mixed, int64_t count) {
    mixed += (uint64_t)count ^ (DV_TUPLE_PRIME5 ^ 3527539u);
    return mixed == UINT64_MAX ? 1546275796 : (int64_t)mixed;
}

/* The hash of an immediate int. */
static inline int64_t dv_int_lane(const dv_vm *vm, dv_value v) {
    return dv_hash_number(&vm->hash_key, dv_as_int(v));
}

/* The hash of a tuple of two such: places in a plane are common keys. */
static inline int64_t dv_tuple_hash_ints(const dv_vm *vm, dv_value first, dv_value second) {
    const uint64_t mixed = dv_tuple_mix(DV_TUPLE_PRIME5, dv_int_lane(vm, first));
    return dv_tuple_mixed(dv_tuple_mix(mixed, dv_int_lane(vm, second)), 2);
}

/* The hash of a tuple of these items, if they are ints and strs that know theirs. */
bool dv_items_known_hash(dv_vm *vm, const dv_value *items, int64_t n, int64_t *hash);

/* Frees a dead tuple with which nothing else dies, as few take anything with them; false: something
 * does, and it is to be released as any other object. */
static inline bool dv_tuple_free_alone(dv_vm *vm, dv_tuple *tuple) {
    const size_t size = sizeof *tuple + (size_t)tuple->count * sizeof(dv_value);
    if (tuple->header.shape != DV_T_TUPLE || DV_UNLIKELY(size > DV_HEAP_SMALL)) return false;
    for (dv_value *item = tuple->items + tuple->count; item-- > tuple->items;) {
        if (!dv_is_object(*item)) continue;
        if (dv_as_object(*item)->references == 1) return false;
        dv_as_object(*item)->references--;
        *item = DV_NONE; /* so that nobody releases it again, if one in front of it dies */
    }
    dv_heap_part_free(&vm->heap, DV_HEAP_OBJECTS, tuple, size);
    return true;
}

/* hash() of a tuple: what dv_hash does, without the way there. */
bool dv_tuple_hash(dv_vm *vm, const dv_tuple *tuple, int64_t *hash) DV_MUST_CHECK;

#endif
