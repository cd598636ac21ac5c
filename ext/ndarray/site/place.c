/* place.c: parts of arrays by constant keys (place.h). */
#include "site/place.h"

#include "index/index.h"

static bool is_plain_part(dvx_vm *vm, dvx_value part, bool *view) {
    const dvx_kind kind = vm->api->kind(vm, part);
    const bool other = kind == DVX_SLICE || kind == DVX_NONE || kind == DVX_ELLIPSIS;
    *view |= other;
    return other || kind == DVX_INT;
}

bool place_is_plain(dvx_vm *vm, dvx_value key) {
    bool plain = true, view = false;
    if (vm->api->kind(vm, key) != DVX_TUPLE) return is_plain_part(vm, key, &view) && view;
    const int64_t count = vm->api->length(vm, key);
    for (int64_t i = 0; plain && i < count; i++) {
        dvx_value index = vm->api->make_int(vm, i), part = vm->api->get_item(vm, key, index);
        plain = !dvx_failed(part) && is_plain_part(vm, part, &view);
        vm->api->release(vm, part);
        vm->api->release(vm, index);
    }
    if (!plain) vm->api->clear_error(vm);
    return plain && view;
}

static bool is_known(const nd_place *p, const nd_array *a) {
    if (a->dtype != p->dtype || a->ndim != p->ndim_of) return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->axes[i].count != p->of[i].count || a->axes[i].stride != p->of[i].stride)
            return false;
    return true;
}

static bool learn(dvx_vm *vm, nd_place *p, dvx_value self, const nd_array *a, dvx_value key) {
    if (a->ndim > ND_FEW) return false;
    dvx_value made = index_get(vm, self, key);
    const nd_array *view = vm->api->payload(vm, made, &array_type);
    const bool good = view && view->flags & ND_HAS_BASE && view->ndim > 0 && view->ndim <= ND_FEW;
    if (good) {
        *p = (nd_place){.dtype = a->dtype,
                        .ndim_of = a->ndim,
                        .ndim = view->ndim,
                        .offset = view->data - a->data,
                        .size = view->size,
                        .flags = view->flags & ND_CONTIGUOUS};
        memcpy(p->of, a->axes, (size_t)a->ndim * sizeof *p->of);
        memcpy(p->axes, view->axes, (size_t)view->ndim * sizeof *p->axes);
    }
    vm->api->release(vm, made);
    if (!good) vm->api->clear_error(vm);
    return good;
}

bool place_find(dvx_vm *vm, nd_place *known, dvx_value self, const nd_array *a, dvx_value key,
                nd_array *out) {
    if (!is_known(known, a) && !learn(vm, known, self, a, key)) return false;
    out->data = a->data + known->offset;
    out->dtype = known->dtype;
    out->ndim = known->ndim;
    out->size = known->size;
    out->flags = known->flags | ND_HAS_BASE;
    out->axes = out->few;
    memcpy(out->few, known->axes, sizeof out->few);
    return true;
}
