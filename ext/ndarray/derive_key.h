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

#ifdef DVX_NATIVE
/* The same natively, of ints and None that are at hand: what runs no code and raises nothing.
 * False: it is something else. */
static inline bool key_read_part_natively(dvx_value v, key_part *p) {
    *p = (key_part){.step = 1};
    if (dv_is_int(v)) {
        p->start = dv_as_int(v);
        return true;
    }
    if (!dv_is_shape(v, DV_T_SLICE)) return false;
    const dv_slice *s = (const dv_slice *)(const void *)dv_as_object(v);
    p->slice = true;
    p->has_start = dv_is_int(s->start), p->has_stop = dv_is_int(s->stop);
    if (p->has_start) p->start = dv_as_int(s->start);
    if (p->has_stop) p->stop = dv_as_int(s->stop);
    if (dv_is_int(s->step)) p->step = dv_as_int(s->step);
    return (p->has_start || dv_is_none(s->start)) && (p->has_stop || dv_is_none(s->stop)) &&
           (dv_is_int(s->step) || dv_is_none(s->step)) && p->step != 0 && p->step > -INT32_MAX &&
           p->step < INT32_MAX;
}

static inline bool key_read_natively(dvx_value v, key *out) {
    out->count = 1;
    if (!dv_is_tuple(v)) return key_read_part_natively(v, &out->parts[0]);
    const dv_tuple *tuple = dv_as_tuple(v);
    if (tuple->count < 1 || tuple->count > ND_FEW) return false;
    out->count = (int)tuple->count;
    for (int i = 0; i < out->count; i++)
        if (!key_read_part_natively(tuple->items[i], &out->parts[i])) return false;
    return true;
}

/* The element at ints that are the items of a tuple; NULL: it is something else. */
static inline char *key_element(const nd_array *a, dvx_value v) {
    const dv_tuple *tuple = dv_as_tuple(v);
    if (tuple->count != a->ndim) return NULL;
    char *at = a->data;
    for (int i = 0; i < a->ndim; i++) {
        if (!dv_is_int(tuple->items[i])) return NULL;
        int64_t k = dv_as_int(tuple->items[i]);
        if (k < 0) k += a->axes[i].count;
        if (k < 0 || k >= a->axes[i].count) return NULL;
        at += k * a->axes[i].stride;
    }
    return at;
}
#endif

#endif
