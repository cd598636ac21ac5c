/* derive_key.h: keys of ints and slices at sites with a derivative: read once where they are
 * constants, else at each execution.
 *
 * Invariants
 *  1. What is out of bounds, and keys of anything but a few ints and slices, are left to index.c.
 */
#ifndef ND_DERIVE_KEY_H
#define ND_DERIVE_KEY_H

#include "array.h"

/* One item of a key. */
typedef struct key_part {
    bool slice, has_start, has_stop;
    int64_t start, stop, step; /* an int: start */
} key_part;

typedef struct key {
    int count;
    key_part parts[ND_FEW];
} key;

/* What it stands for: elements of the array along these axes. */
typedef struct key_place {
    char *data;
    int ndim;
    dvx_axis axes[ND_FEW];
} key_place;

/* False: it is not made of a few ints and slices.  (Nothing is raised.) */
bool key_read(dvx_vm *vm, dvx_value v, key *out);
bool key_is_all_ints(const key *k);
/* False: index.c shall see to it. */
bool key_find(const nd_array *a, const key *k, key_place *to);
/* The same of a key that is read now; *slices: there are some.  1; 0: index.c shall see to it; -1:
 * raised.  (Members of slices may run code of dl, as nothing else does: so the ints are looked at
 * before, and once a slice has been read there is no way back.) */
int key_find_now(dvx_vm *vm, const nd_array *a, dvx_value v, key_place *to, bool *slices);

#endif
