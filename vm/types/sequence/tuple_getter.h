/* tuple_getter.h: the descriptors of the fields of named tuples: an item by its name. */
#ifndef DV_TYPES_TUPLE_GETTER_H
#define DV_TYPES_TUPLE_GETTER_H

#include "types/sequence/tuple.h"

typedef struct dv_tuple_getter {
    dv_object header;
    int64_t index; /* not negative */
    dv_value doc;
} dv_tuple_getter;

extern const dv_type dv_tuple_getter_type;

static inline bool dv_is_tuple_getter(dv_value v) { return dv_is_shape(v, DV_T_TUPLE_GETTER); }
static inline dv_tuple_getter *dv_as_tuple_getter(dv_value v) {
    return (dv_tuple_getter *)dv_as_object(v);
}

dv_value dv_tuple_getter_new(dv_vm *vm, int64_t index, dv_value doc);

/* What the descriptor v is for self: the item, new; EMPTY: raised. */
dv_value dv_tuple_getter_read(dv_vm *vm, dv_value v, dv_value self);
/* Setting (or deleting: value EMPTY) is refused: always false. */
bool dv_tuple_getter_store(dv_vm *vm, dv_value value) DV_MUST_CHECK;

/* The same as dv_tuple_getter_read for what is known to be a tuple: borrowed; EMPTY: it is too
 * short. */
static inline dv_value dv_tuple_getter_item(dv_value v, dv_value self) {
    const int64_t index = dv_as_tuple_getter(v)->index;
    const dv_tuple *tuple = dv_as_tuple(self);
    return index < tuple->count ? tuple->items[index] : DV_EMPTY;
}

#endif
