/* store.c: the site of a store by itself (store.h).
 *
 * Invariant 1: the derivative does what the slot does, with the same function: what it is for is
 * that expressions may end in it (ext/README.md, "whole expressions"). */
#include "store.h"

#include "derive.h"
#include "fuse.h"
#include "index.h"
#include "place.h"

/* What a site knows. */
typedef struct store {
    dvx_value key; /* that is not loaded, or DVX_FAILED */
} store;

static dvx_outcome run(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    const store *s = cache;
    const dvx_value key = dvx_failed(s->key) ? v[2] : s->key;
    (void)result;
    return index_set(vm, v[1], key, v[0]) ? DVX_DONE : DVX_ERROR;
}

static void release(dvx_vm *vm, void *cache) {
    store *s = cache;
    dvx_value key = s->key;
    s->key = DVX_FAILED;
    API(release, key);
}

static const dvx_specialisation set_item = {.size = sizeof(dvx_specialisation),
                                            .name = "SET_ITEM",
                                            .family = DVX_SITE_SET_ITEM,
                                            .count = 3,
                                            .run = run,
                                            .cache_size = sizeof(store),
                                            .release = release};

void store_site(dvx_vm *vm, dvx_site *site) {
    const dvx_operand *v = site->operands;
    const bool computed =
        v[0].type == &array_type && v[0].origin == DVX_FROM_SITE && v[0].maker != NULL;
    if (v[1].type != &array_type || !computed) {
        API(decline, site, "stores have derivatives where an expression of arrays is stored");
        return;
    }
    const bool constant =
        v[2].origin == DVX_FROM_CONSTANT || (v[2].origin == DVX_FROM_SITE && v[2].pure);
    if (!constant || !place_is_plain(vm, v[2].value)) {
        API(decline, site, "the subscript is not made of constant ints and slices");
        return;
    }
    const bool dropped = API(drop_operand, site, 2);
    store *s = API(specialise, site, &set_item);
    if (!s) return;
    s->key = dropped ? API(retain, v[2].value) : DVX_FAILED;
    fuse_site(vm, site);
}

bool store_is_apart(const nd_array *to, const nd_array *from) {
    if (!array_may_overlap(to, from)) return true;
    if (to->data != from->data || to->dtype != from->dtype || to->ndim != from->ndim) return false;
    for (int i = 0; i < to->ndim; i++)
        if (to->axes[i].count != from->axes[i].count || to->axes[i].stride != from->axes[i].stride)
            return false;
    return true;
}
