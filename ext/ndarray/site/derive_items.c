/* derive_items.c: derivatives of subscripts of ints, slices, None and Ellipsis: elements and views
 * (derive.h).
 *
 * Invariants
 *  1. What a key is made of is known when the site is specialised, if it is a constant (then it is
 * not made at all), and otherwise read at each execution.
 *  2. What is out of bounds, and keys with anything else, are left to index.c.
 *  3. A native twin has views that the site keeps: there are some before its first execution. */
#include "site/derive.h"
#include "site/derive_key.h"
#include "site/derive_views.h"
#include "index/index.h"

/* What a site knows. */
typedef struct item_cache {
    bool constant; /* `known` is the key */
    bool element;  /* ... and the native twin knows where its element is: `model`, without a view */
    key known;
    view_model model; /* what a constant key has made of the last array */
    kept_views kept;
    dvx_value truths[2]; /* borrowed: the state has them */
} item_cache;

static dvx_outcome run_item(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    item_cache *c = cache;
    const nd_array *a = vm->api->payload(vm, v[0], &array_type);
    const view_model *m = &c->model;
    bool element;
    key_place to;
    if (!c->element && views_is_known(m, a))
        return derive_outcome(array_view_again(vm, v[0], a, a->data + m->offset, &m->view), result);
    if (c->constant) {
        if (!key_find(a, &c->known, &to)) return DVX_DEOPTIMISE;
        element = key_is_element(a, &c->known);
    } else {
        const int state = key_find_now(vm, a, v[1], &to, &element);
        if (state < 0) return DVX_ERROR;
        if (!state) return derive_outcome(index_get(vm, v[0], v[1]), result);
    }
    if (element) return derive_outcome(array_element(vm, a->dtype, to.data), result);
    nd_array *view;
    dvx_value made = array_view(vm, v[0], a, to.data, to.ndim, to.axes, &view);
    if (c->constant && !dvx_failed(made)) views_learn(&c->model, a, view);
    return derive_outcome(made, result);
}

static void release_items(dvx_vm *vm, void *cache) {
    views_release(vm, &((item_cache *)cache)->kept);
}

/* ---- Native twins ---- */

#ifdef DVX_NATIVE
static inline nd_type native_type(const dvx_value *v) {
    return ((const nd_array *)dvx_payload_of(v[0]))->dtype->num;
}

static inline const void *native_place(const dvx_value *v, const item_cache *c) {
    const nd_array *a = dvx_payload_of(v[0]);
    if (!c->element) return key_element(a, v[1]);
    return views_is_known(&c->model, a) ? a->data + c->model.offset : NULL;
}

static inline dvx_value native_float(const dvx_value *v, void *cache) {
    const double *at = native_type(v) == ND_FLOAT64 ? native_place(v, cache) : NULL;
    return at ? dv_float_foreign(*at) : DVX_FAILED;
}

static inline dvx_value native_int(const dvx_value *v, void *cache) {
    const int64_t *at = native_type(v) == ND_INT64 ? native_place(v, cache) : NULL;
    return at && dv_fits_int(*at) ? dv_int(*at) : DVX_FAILED;
}

/* (Ints, too: of bools there is no buffer.) */
static inline dvx_value native_bool(const dvx_value *v, void *cache) {
    const item_cache *c = cache;
    const nd_array *a = dvx_payload_of(v[0]);
    if (a->dtype->num != ND_BOOL) return DVX_FAILED;
    const bool *at =
        dv_is_tuple(v[1]) ? (const bool *)key_element(a, v[1]) : (const bool *)key_item(a, v[1]);
    return at ? dv_retain(c->truths[*at]) : DVX_FAILED;
}
DVX_OPERATOR(bool_native, native_bool, 2)
DVX_OPERATOR(float_native, native_float, 2)
DVX_OPERATOR(int_native, native_int, 2)

static inline dvx_value native_view(const dvx_value *v, void *cache) {
    const item_cache *c = cache;
    if (!views_is_known(&c->model, dvx_payload_of(v[0]))) return DVX_FAILED;
    return views_again(&c->kept, &c->model, v[0]);
}
DVX_OPERATOR(view_native, native_view, 2)

/* Row i of two axes. */
static inline dvx_value native_row(const dvx_value *v, void *cache) {
    const item_cache *c = cache;
    const nd_array *a = dvx_payload_of(v[0]);
    if (a->ndim != 2 || !dv_is_int(v[1])) return DVX_FAILED;
    const dvx_axis *rows = &a->axes[0], *columns = &a->axes[1];
    int64_t i = dv_as_int(v[1]);
    if (i < 0) i += rows->count;
    if (i < 0 || i >= rows->count) return DVX_FAILED;
    dvx_value found = DVX_FAILED;
    nd_array *row = views_find(&c->kept, v[0], &found);
    if (!row) return DVX_FAILED;
    const bool in_a_row = columns->count <= 1 || columns->stride == a->dtype->size;
    row->data = a->data + i * rows->stride;
    row->element = a->dtype->element;
    row->dimensions =
        a->dimensions == ND_NO_BUFFER ? ND_NO_BUFFER : 1 | (a->dimensions & DVX_OTHER_ITEMS);
    row->read_only = a->read_only;
    row->few[0] = *columns;
    row->dtype = a->dtype;
    row->size = columns->count;
    row->ndim = 1;
    row->flags = ND_HAS_BASE | (in_a_row ? (uint32_t)ND_CONTIGUOUS : 0u);
    return views_hand_out(found);
}
DVX_OPERATOR(row_native, native_row, 2)

/* Any view, by a key that is read now.  (Out of line: it takes addresses.) */
static DV_OUT_OF_LINE dvx_value native_keyed(const dvx_value *v, void *cache) {
    const item_cache *c = cache;
    const nd_array *a = dvx_payload_of(v[0]);
    key k;
    key_place to;
    if (!key_read_natively(v[1], &k) || key_is_element(a, &k) || !key_find(a, &k, &to))
        return DVX_FAILED;
    dvx_value found = DVX_FAILED;
    nd_array *view = views_find(&c->kept, v[0], &found);
    if (!view) return DVX_FAILED;
    view->data = to.data;
    view->read_only = a->read_only;
    view->dtype = a->dtype;
    view->ndim = to.ndim;
    for (int i = 0; i < to.ndim; i++) view->few[i] = to.axes[i];
    array_update(view);
    return views_hand_out(found);
}
DVX_OPERATOR(keyed_native, native_keyed, 2)
#define TWIN(name) .native = name##_native
#else
#define TWIN(name) .native = NULL
#endif

/* ---- The hook ---- */

#define DERIVATIVE(title, ...)                                                  \
    {                                                                           \
        .size = sizeof(dvx_specialisation), .where = DVX_HERE, .name = title,   \
        .family = DVX_SITE_GET_ITEM, .count = 2, .run = run_item,               \
        .cache_size = sizeof(item_cache), .release = release_items, __VA_ARGS__ \
    }
static const dvx_specialisation item = DERIVATIVE("GET_ITEM", .native = NULL),
                                row_item = DERIVATIVE("GET_ITEM_ROW", TWIN(row)),
                                constant_item = DERIVATIVE("GET_ITEM_CONST", .native = NULL),
                                view_item = DERIVATIVE("GET_ITEM_VIEW", TWIN(view)),
                                keyed_item = DERIVATIVE("GET_ITEM_SLICE", TWIN(keyed)),
                                float_const_item =
                                    DERIVATIVE("GET_ITEM_CONST_FLOAT64", TWIN(float)),
                                int_const_item = DERIVATIVE("GET_ITEM_CONST_INT64", TWIN(int)),
                                bool_item = DERIVATIVE("GET_ITEM_BOOL", TWIN(bool)),
                                float_item = DERIVATIVE("GET_ITEM_FLOAT64", TWIN(float)),
                                int_item = DERIVATIVE("GET_ITEM_INT64", TWIN(int));

bool derive_is_element(const dvx_specialisation *by) {
    return by == &float_item || by == &int_item || by == &bool_item;
}

/* A site that has been specialised more often sees different things, or its views are kept by
 * others. */
enum { MOST_TIMES = 2 };

/* What the key makes of the array that is here; NULL: no view that can be kept. */
static const dvx_specialisation *choose_view(dvx_vm *vm, const dvx_site *site, item_cache *c,
                                             bool tuple) {
    const nd_array *a = vm->api->payload(vm, site->operands[0].value, &array_type);
    const bool is_row = !c->constant && !tuple && a->ndim == 2 && c->known.ints;
    const bool is_keyed = !c->constant && !is_row && !key_is_element(a, &c->known);
    key_place to;
    nd_array *view;
    if (site->times >= MOST_TIMES || !views_may_keep(vm, &site->operands[0]) ||
        !(c->constant || is_row || is_keyed) || key_is_element(a, &c->known) ||
        !key_find(a, &c->known, &to))
        return NULL;
    const dvx_value of = site->operands[0].value;
    dvx_value made = array_view(vm, of, a, to.data, to.ndim, to.axes, &view);
    if (dvx_failed(made)) return vm->api->clear_error(vm), NULL;
    const bool kept = views_keep(vm, &c->kept, of, a, view);
    if (kept && c->constant) views_learn(&c->model, a, view);
    vm->api->release(vm, made);
    return !kept ? NULL : is_row ? &row_item : is_keyed ? &keyed_item : &view_item;
}

/* Of a constant key and an array of float64 or int64; NULL: it is no element of these. */
static const dvx_specialisation *choose_element(const nd_array *a, item_cache *c) {
    const bool is_float = a->dtype->num == ND_FLOAT64;
    key_place to;
    if (!c->constant || (!is_float && a->dtype->num != ND_INT64) || a->ndim == 0 ||
        !key_is_element(a, &c->known) || !key_find(a, &c->known, &to))
        return NULL;
    const nd_array at = {.data = to.data};
    views_learn(&c->model, a, &at);
    c->element = true;
    return is_float ? &float_const_item : &int_const_item;
}

static const dvx_specialisation *choose(dvx_vm *vm, const dvx_site *site, item_cache *c) {
    const nd_array *a = vm->api->payload(vm, site->operands[0].value, &array_type);
    const bool tuple = vm->api->kind(vm, site->operands[1].value) == DVX_TUPLE;
    const dvx_specialisation *with_view = choose_view(vm, site, c, tuple);
    if (with_view) return with_view;
    const dvx_specialisation *element = site->times < MOST_TIMES ? choose_element(a, c) : NULL;
    if (element) return element;
    if (c->constant) return &constant_item;
    if (a->dtype->num == ND_BOOL && key_is_element(a, &c->known)) return &bool_item;
    if (!tuple || !key_is_element(a, &c->known)) return &item;
    return a->dtype->num == ND_FLOAT64 ? &float_item
           : a->dtype->num == ND_INT64 ? &int_item
                                       : &item;
}

void derive_items(dvx_vm *vm, dvx_site *site) {
    const dvx_operand *v = site->operands;
    item_cache known;
    memset(&known, 0, sizeof known);
    memcpy(known.truths, nd_state_of(vm)->truths, sizeof known.truths);
    for (int i = 0; i < VIEWS_KEPT; i++) known.kept.views[i] = DVX_FAILED;
    if (v[0].type != &array_type) {
        vm->api->decline(
            vm, site, "subscripts of scalars, and subscripts that are arrays, have no derivative");
        return;
    }
    if (v[1].type || !key_read(vm, v[1].value, &known.known)) {
        vm->api->decline(vm, site,
                         "the subscript is not made of a few ints, slices, None and Ellipsis");
        return;
    }
    const bool is_constant =
        v[1].origin == DVX_FROM_CONSTANT || (v[1].origin == DVX_FROM_SITE && v[1].pure);
    known.model.of.ndim = -1;
    known.constant = is_constant && vm->api->drop_operand(vm, site, 1);
    item_cache *c = vm->api->specialise(vm, site, choose(vm, site, &known));
    if (c)
        *c = known;
    else
        views_release(vm, &known.kept);
}
