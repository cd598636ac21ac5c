/* derive_key.h: keys of ints, slices, None and Ellipsis at sites with a derivative: read once where
 * they are constants, else at each execution.
 *
 * Invariants
 *  1. What is out of bounds, and keys of anything but a few of these, are left to index.c.
 *  2. A key has one Ellipsis at most. */
#ifndef ND_DERIVE_KEY_H
#define ND_DERIVE_KEY_H

#include "array/array.h"

typedef enum key_kind { KEY_INT, KEY_SLICE, KEY_NEW, KEY_REST } key_kind;

/* One item of a key. */
typedef struct key_part {
    key_kind kind;
    bool has_start, has_stop;
    int64_t start, stop, step; /* an int: start */
} key_part;

enum { KEY_PARTS = ND_FEW + 2 };
typedef struct key {
    int count;
    int axes;  /* so many items are ints and slices */
    bool ints; /* all are ints */
    bool rest; /* there is an Ellipsis */
    key_part parts[KEY_PARTS];
} key;

/* What it stands for: elements of the array along these axes. */
typedef struct key_place {
    char *data;
    int ndim;
    dvx_axis axes[ND_FEW];
} key_place;

/* False: it is not made of a few such items.  (Nothing is raised.) */
bool key_read(dvx_vm *vm, dvx_value v, key *out);
/* False: index.c shall see to it. */
bool key_find(const nd_array *a, const key *k, key_place *to);
/* Does the key stand for an element, not for a view?  (One with an Ellipsis is a view.) */
static inline bool key_is_element(const nd_array *a, const key *k) {
    return k->ints && k->count == a->ndim;
}
/* The same of a key that is read now; *element: it stands for one.  1; 0: index.c shall see to it;
 * -1: raised.  (Members of slices may run code of dl, as nothing else does: so the ints are looked
 * at before, and once a slice has been read there is no way back.) */
int key_find_now(dvx_vm *vm, const nd_array *a, dvx_value v, key_place *to, bool *element);

/* Adds an item; false: there are too many. */
static inline key_part *key_add(key *k, key_kind kind) {
    if (k->count == KEY_PARTS || (kind == KEY_REST && k->rest)) return NULL;
    k->axes += kind == KEY_INT || kind == KEY_SLICE;
    k->ints &= kind == KEY_INT;
    k->rest |= kind == KEY_REST;
    key_part *p = &k->parts[k->count++];
    p->kind = kind;
    p->has_start = p->has_stop = false;
    p->step = 1;
    return p;
}

#ifdef DVX_NATIVE
/* Reads a key natively, of ints and None that are at hand: what runs no code and raises nothing.
 * False: it is something else. */
static inline bool key_read_part_natively(dvx_value v, key *out) {
    key_part *p;
    if (dv_is_int(v)) {
        if (!(p = key_add(out, KEY_INT))) return false;
        p->start = dv_as_int(v);
        return true;
    }
    if (dv_is_none(v)) return key_add(out, KEY_NEW) != NULL;
    if (dv_same(v, DV_ELLIPSIS)) return key_add(out, KEY_REST) != NULL;
    if (!dv_is_shape(v, DV_T_SLICE) || !(p = key_add(out, KEY_SLICE))) return false;
    const dv_slice *s = (const dv_slice *)(const void *)dv_as_object(v);
    p->has_start = dv_is_int(s->start), p->has_stop = dv_is_int(s->stop);
    if (p->has_start) p->start = dv_as_int(s->start);
    if (p->has_stop) p->stop = dv_as_int(s->stop);
    if (dv_is_int(s->step)) p->step = dv_as_int(s->step);
    return (p->has_start || dv_is_none(s->start)) && (p->has_stop || dv_is_none(s->stop)) &&
           (dv_is_int(s->step) || dv_is_none(s->step)) && p->step != 0 && p->step > -INT32_MAX &&
           p->step < INT32_MAX;
}

static inline bool key_read_natively(dvx_value v, key *out) {
    out->count = out->axes = 0;
    out->ints = true;
    out->rest = false;
    if (!dv_is_tuple(v)) return key_read_part_natively(v, out);
    const dv_tuple *tuple = dv_as_tuple(v);
    if (tuple->count > KEY_PARTS) return false;
    for (int64_t i = 0; i < tuple->count; i++)
        if (!key_read_part_natively(tuple->items[i], out)) return false;
    return true;
}

/* The element of a row at an int; NULL: it is something else. */
static inline char *key_item(const nd_array *a, dvx_value v) {
    if (a->ndim != 1 || !dv_is_int(v)) return NULL;
    int64_t k = dv_as_int(v);
    if (k < 0) k += a->axes->count;
    return k >= 0 && k < a->axes->count ? a->data + k * a->axes->stride : NULL;
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
