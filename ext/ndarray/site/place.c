/* place.c: parts of arrays by keys (place.h). */
#include "site/place.h"

static bool is_known(const nd_place *p, const nd_array *a) {
    if (a->dtype != p->dtype || a->ndim != p->ndim_of) return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->axes[i].count != p->of[i].count || a->axes[i].stride != p->of[i].stride)
            return false;
    return true;
}

static inline bool find(const key *k, const nd_array *a, nd_array *out) {
    key_place to;
    if (!key_find(a, k, &to) || to.ndim == 0) return false;
    out->data = to.data;
    out->dtype = a->dtype;
    out->ndim = to.ndim;
    out->flags = ND_HAS_BASE;
    out->axes = out->few;
    memcpy(out->few, to.axes, sizeof out->few);
    array_update(out);
    return true;
}

static bool learn(nd_place *p, const nd_array *a) {
    nd_array part;
    if (!find(&p->key, a, &part)) return false;
    p->dtype = a->dtype;
    p->ndim_of = a->ndim;
    p->ndim = part.ndim;
    p->offset = part.data - a->data;
    p->size = part.size;
    p->flags = part.flags;
    memcpy(p->of, a->axes, (size_t)a->ndim * sizeof *p->of);
    memcpy(p->axes, part.few, sizeof p->axes);
    return true;
}

bool place_find(nd_place *known, const nd_array *a, nd_array *out) {
    if (!is_known(known, a) && !learn(known, a)) return false;
    out->data = a->data + known->offset;
    out->dtype = known->dtype;
    out->ndim = known->ndim;
    out->size = known->size;
    out->flags = known->flags;
    out->axes = out->few;
    memcpy(out->few, known->axes, sizeof out->few);
    return true;
}

#ifdef DVX_NATIVE
/* Row i of two axes, without a key that is read. */
static inline bool find_row(int64_t i, const nd_array *a, nd_array *out) {
    const dvx_axis *rows = &a->axes[0], *columns = &a->axes[1];
    if (i < 0) i += rows->count;
    if (i < 0 || i >= rows->count) return false;
    const bool in_a_row = columns->count <= 1 || columns->stride == a->dtype->size;
    out->data = a->data + i * rows->stride;
    out->dtype = a->dtype;
    out->ndim = 1;
    out->size = columns->count;
    out->flags = ND_HAS_BASE | (in_a_row ? ND_CONTIGUOUS : 0u);
    out->axes = out->few;
    out->few[0] = *columns;
    return true;
}
#endif

bool place_find_now(dvx_vm *vm, dvx_value v, const nd_array *a, nd_array *out) {
    key k;
#ifdef DVX_NATIVE
    (void)vm;
    if (dv_is_int(v) && a->ndim == 2) return find_row(dv_as_int(v), a, out);
    return key_read_natively(v, &k) && find(&k, a, out);
#else
    return key_read(vm, v, &k) && find(&k, a, out);
#endif
}
