/* derive_stores.c: derivatives of stores to elements and views: a[1:-1] = b (derive.h).
 *
 * Invariants
 *  1. The elements are found without an object for the view.  What is out of bounds, read-only
 *     arrays, values that are neither numbers nor arrays, and other keys are left to index.c.
 *  2. A key that is a constant is not made, and the site looks it up in its cache. */
#include "loops/cast.h"
#include "array/convert.h"
#include "array/create.h"
#include "site/derive.h"
#include "site/fuse.h"
#include "site/derive_key.h"
#include "index/index.h"

/* What a site knows. */
typedef struct store_cache {
    bool constant; /* `known` is the key */
    key known;
    dvx_value truths[2]; /* borrowed: the state has them */
} store_cache;

/* Both in a row, of the same shape and dtype: wherever they lie. */
static bool copies(const nd_array *to, const nd_array *from) {
    if (to->dtype != from->dtype || !(to->flags & from->flags & ND_C_CONTIGUOUS) ||
        !array_same_shape(to, from))
        return false;
    const size_t size = (size_t)(to->size * to->dtype->size);
    if (to->data + size <= from->data || from->data + size <= to->data)
        cast_copy(to->data, from->data, size);
    else
        memmove(to->data, from->data, size);
    return true;
}

/* Assigns a number or an array. */
static bool assign(dvx_vm *vm, const nd_array *a, key_place *place, dvx_value value) {
    const nd_array *from = vm->api->payload(vm, value, &array_type);
    char one[sizeof(nd_complex)];
    nd_array to = {
        .data = place->data, .dtype = a->dtype, .axes = place->axes, .ndim = place->ndim};
    array_update(&to);
    if (from && copies(&to, from)) return nd_quick_work(vm, to.size);
    if (from) return array_assign(vm, &to, from);
    if (!array_store(vm, a->dtype, one, value)) return false;
    return create_fill(vm, &to, one);
}

/* Operands: value, array, key. */
static dvx_outcome run_store(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    const store_cache *c = cache;
    const nd_array *a = vm->api->payload(vm, v[1], &array_type);
    bool element = false, known = false;
    key_place to;
    (void)result;
    const bool plain = !a->read_only && a->ndim > 0 &&
                       (vm->api->payload(vm, v[0], &array_type) || convert_kind(vm, v[0]));
    if (c->constant) {
        known = plain && key_find(a, &c->known, &to);
        element = key_is_element(a, &c->known);
        if (!known) return DVX_DEOPTIMISE;
    } else if (plain) {
        const int state = key_find_now(vm, a, v[2], &to, &element);
        if (state < 0) return DVX_ERROR;
        known = state > 0;
    }
    bool good;
    if (!known)
        good = index_set(vm, v[1], v[2], v[0]);
    else if (element)
        good = array_store(vm, a->dtype, to.data, v[0]);
    else
        good = assign(vm, a, &to, v[0]);
    return good ? DVX_DONE : DVX_ERROR;
}

/* ---- Native twins: elements ---- */

#ifdef DVX_NATIVE
/* The element; NULL: it is something else. */
static inline char *native_place(const nd_array *a, const store_cache *c, dvx_value key) {
    key_place to;
    if (!c->constant) return dv_is_tuple(key) ? key_element(a, key) : key_item(a, key);
    return key_find(a, &c->known, &to) && to.ndim == 0 ? to.data : NULL;
}

static inline double number_of(dvx_value v) {
    return dv_is_int(v) ? (double)dv_as_int(v) : dv_as_float(v);
}

/* Is it a number that becomes an element without a word, and without a flag? */
static inline bool fits_element(dvx_value v, nd_type type) {
    if (dv_is_int(v)) return type_holds(type, dv_as_int(v));
    if (!type_is_inexact(type) || !dv_is_float(v)) return false;
    /* (What float32 has no room for is told by others; nans go there, too.) */
    return type != ND_FLOAT32 || (dv_as_float(v) <= 1e38 && dv_as_float(v) >= -1e38);
}

/* A bool, or np.True_ or np.False_. */
static bool store_truth(const store_cache *c, const nd_array *a, dvx_value x, dvx_value key) {
    const bool truth = dv_same(x, DV_TRUE) || dv_same(x, c->truths[1]);
    if (!truth && !dv_same(x, DV_FALSE) && !dv_same(x, c->truths[0])) return false;
    bool *at = (bool *)native_place(a, c, key);
    if (at) *at = truth;
    return at;
}

/* (Out of line: it takes addresses.) */
static DV_OUT_OF_LINE bool native_store(const dvx_value *v, void *cache) {
    const nd_array *a = dvx_payload_of(v[1]);
    const dvx_value x = v[0];
    if (a->read_only) return false;
    if (a->dtype->num == ND_BOOL) return store_truth(cache, a, x, v[2]);
    if (!fits_element(x, a->dtype->num)) return false;
    void *at = native_place(a, cache, v[2]);
    if (!at) return false;
    switch (a->dtype->num) {
    case ND_UINT8: *(uint8_t *)at = (uint8_t)dv_as_int(x); return true;
    case ND_INT32: *(int32_t *)at = (int32_t)dv_as_int(x); return true;
    case ND_INT64: *(int64_t *)at = dv_as_int(x); return true;
    case ND_FLOAT32: *(float *)at = (float)number_of(x); return true;
    case ND_FLOAT64: *(double *)at = number_of(x); return true;
    case ND_COMPLEX128: *(nd_complex *)at = (nd_complex){number_of(x), 0.0}; return true;
    default: return false;
    }
}
DVX_STORE(element_native, native_store)
#define TWIN(name) .native = name##_native
#else
#define TWIN(name) .native = NULL
#endif

/* ---- The hook ---- */

#define DERIVATIVE(title, ...)                                                \
    {                                                                         \
        .size = sizeof(dvx_specialisation), .where = DVX_HERE, .name = title, \
        .family = DVX_SITE_SET_ITEM, .count = 3, .run = run_store,            \
        .cache_size = sizeof(store_cache), .any = 1, __VA_ARGS__              \
    }
static const dvx_specialisation store = DERIVATIVE("SET_ITEM", .native = NULL),
                                constant_store = DERIVATIVE("SET_ITEM_CONST", .native = NULL),
                                element_store = DERIVATIVE("SET_ITEM_ELEMENT", TWIN(element)),
                                constant_element_store =
                                    DERIVATIVE("SET_ITEM_CONST_ELEMENT", TWIN(element));

/* A site that has been asked about more often stores something else, too. */
enum { MOST_TIMES = 2 };

/* Is it a number that the native twin may store to an element? */
static bool stores_element(dvx_vm *vm, const dvx_site *site, const store_cache *c) {
    const nd_array *a = vm->api->payload(vm, site->operands[1].value, &array_type);
    const dvx_kind kind = vm->api->kind(vm, site->operands[0].value);
    if (site->times >= MOST_TIMES || a->ndim == 0 || !key_is_element(a, &c->known) ||
        !(c->constant || a->ndim == 1 || vm->api->kind(vm, site->operands[2].value) == DVX_TUPLE))
        return false;
    if (a->dtype->num == ND_BOOL)
        return kind == DVX_BOOL || array_is_truth(vm, site->operands[0].value);
    return kind == DVX_INT || (kind == DVX_FLOAT && type_is_inexact(a->dtype->num));
}

void derive_stores(dvx_vm *vm, dvx_site *site) {
    const dvx_operand *v = site->operands;
    store_cache known;
    memset(&known, 0, sizeof known);
    memcpy(known.truths, nd_state_of(vm)->truths, sizeof known.truths);
    if (v[1].type != &array_type || v[2].type || !key_read(vm, v[2].value, &known.known)) {
        vm->api->decline(
            vm, site,
            "the subscript is not made of a few ints, slices, None and Ellipsis of an array");
        return;
    }
    const bool is_constant =
        v[2].origin == DVX_FROM_CONSTANT || (v[2].origin == DVX_FROM_SITE && v[2].pure);
    known.constant = is_constant && vm->api->drop_operand(vm, site, 2);
    const dvx_specialisation *found = known.constant ? &constant_store : &store;
    if (stores_element(vm, site, &known))
        found = known.constant ? &constant_element_store : &element_store;
    store_cache *c = vm->api->specialise(vm, site, found);
    if (!c) return;
    *c = known;
    if (!key_is_element(vm->api->payload(vm, v[1].value, &array_type), &known.known))
        fuse_site(vm, site);
}
