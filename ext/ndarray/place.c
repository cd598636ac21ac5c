/* place.c: parts of arrays by constant keys (place.h). */
#include "place.h"

#include "index.h"

static bool is_plain_part(dvx_vm *vm, dvx_value part) {
    switch (API(kind, part)) {
    case DVX_INT:
    case DVX_SLICE:
    case DVX_NONE:
    case DVX_ELLIPSIS: return true;
    default: return false;
    }
}

bool place_is_plain(dvx_vm *vm, dvx_value key) {
    if (API(kind, key) != DVX_TUPLE) return is_plain_part(vm, key);
    bool plain = true;
    const int64_t count = API(length, key);
    for (int64_t i = 0; plain && i < count; i++) {
        dvx_value index = API(make_int, i), part = API(get_item, key, index);
        plain = !dvx_failed(part) && is_plain_part(vm, part);
        API(release, part);
        API(release, index);
    }
    if (!plain) vm->api->clear_error(vm);
    return plain;
}

static void copy_header(nd_array *to, const nd_array *from) {
    *to = *from;
    memcpy(to->few, from->axes, (size_t)from->ndim * sizeof *to->few);
}

/* Is the array laid out as the one that the last view was made of? */
static bool is_known(const nd_place *p, const nd_array *a) {
    if (a->ndim != p->of.ndim || a->dtype != p->of.dtype) return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->axes[i].count != p->of.few[i].count || a->axes[i].stride != p->of.few[i].stride)
            return false;
    return true;
}

static bool learn(dvx_vm *vm, nd_place *p, dvx_value self, const nd_array *a, dvx_value key) {
    if (a->ndim > ND_FEW) return false;
    dvx_value made = index_get(vm, self, key);
    const nd_array *view = API(payload, made, &array_type);
    const bool good = view && view->flags & ND_HAS_BASE && view->ndim > 0 && view->ndim <= ND_FEW;
    if (good) {
        copy_header(&p->of, a);
        copy_header(&p->view, view);
        p->offset = view->data - a->data;
    }
    API(release, made);
    if (!good) vm->api->clear_error(vm);
    return good;
}

bool place_find(dvx_vm *vm, nd_place *known, dvx_value self, const nd_array *a, dvx_value key,
                nd_array *out) {
    if (!is_known(known, a) && !learn(vm, known, self, a, key)) return false;
    *out = known->view;
    out->axes = out->few;
    out->data = a->data + known->offset;
    return true;
}
