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
/* A tuple whose items the caller fills in before anybody else sees it; NULL: raised. */
dv_tuple *dv_tuple_alloc(dv_vm *vm, int64_t count);
dv_value dv_tuple_from(dv_vm *vm, dv_value iterable); /* tuple(iterable) */
/* hash() of a tuple: what dv_hash does, without the way there. */
bool dv_tuple_hash(dv_vm *vm, const dv_tuple *tuple, int64_t *hash) DV_MUST_CHECK;

#endif
