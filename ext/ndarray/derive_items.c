/* derive_items.c: derivatives of subscripts of ints and slices: elements and views (derive.h).
 *
 * Invariants
 *  1. What a key is made of is known when the site is specialised, if it is a constant (then it is
 * not made at all), and otherwise read at each execution.
 *  2. What is out of bounds, and keys with anything but ints and slices, are left to index.c. */
#include "derive.h"
#include "index.h"

/* One item of a key. */
typedef struct part {
    bool slice, has_start, has_stop;
    int64_t start, stop, step; /* an int: start */
} part;

typedef struct key {
    int count;
    part parts[ND_FEW];
} key;

/* What a site knows. */
typedef struct item_cache {
    bool constant; /* `known` is the key */
    key known;
    /* What a constant key has made of an array with the axes and dtype of `of`: a view that is
     * `offset` bytes behind its elements; ndim -1: nothing yet. */
    nd_array of, view;
    int64_t offset;
} item_cache;

/* ---- Reading keys ---- */

/* A member of a slice: an int, or None (*has is false). */
static bool read_member(dvx_vm *vm, dvx_value slice, const char *name, bool *has, int64_t *out) {
    dvx_value v = API(get_attribute, slice, name);
    const dvx_kind kind = dvx_failed(v) ? DVX_ANY : API(kind, v);
    *has = kind == DVX_INT;
    bool good = kind == DVX_NONE || (*has && API(read_int, v, out));
    API(release, v);
    if (!good) vm->api->clear_error(vm);
    return good;
}

static bool read_part(dvx_vm *vm, dvx_value v, part *p) {
    bool has_step = false;
    *p = (part){.step = 1};
    if (API(kind, v) == DVX_INT) {
        if (API(read_int, v, &p->start)) return true;
        vm->api->clear_error(vm);
        return false;
    }
    if (API(kind, v) != DVX_SLICE) return false;
    p->slice = true;
    return read_member(vm, v, "start", &p->has_start, &p->start) &&
           read_member(vm, v, "stop", &p->has_stop, &p->stop) &&
           read_member(vm, v, "step", &has_step, &p->step) && p->step != 0 &&
           p->step > -INT32_MAX && p->step < INT32_MAX;
}

/* False: it is not made of a few ints and slices.  (Nothing is raised.) */
static bool read_key(dvx_vm *vm, dvx_value v, key *out) {
    out->count = 1;
    if (API(kind, v) != DVX_TUPLE) return read_part(vm, v, &out->parts[0]);
    const int64_t count = API(length, v);
    if (count < 1 || count > ND_FEW) return false;
    out->count = (int)count;
    for (int i = 0; i < out->count; i++) {
        dvx_value index = API(make_int, i), item = API(get_item, v, index);
        const bool good = !dvx_failed(item) && read_part(vm, item, &out->parts[i]);
        API(release, item);
        API(release, index);
        if (!good) return false;
    }
    return true;
}

/* ---- Elements and views ---- */

typedef struct place {
    char *data;
    int ndim;
    dvx_axis axes[ND_FEW];
} place;

static inline int64_t clamp(int64_t i, int64_t count, int64_t low, int64_t high) {
    if (i < 0) i += count;
    return i < low ? low : i > high ? high : i;
}

/* The slice's part of an axis, as slice.indices() has it. */
static inline void take_slice(const part *p, const dvx_axis *axis, place *to) {
    const int64_t n = axis->count, low = p->step > 0 ? 0 : -1, high = p->step > 0 ? n : n - 1;
    const int64_t start = p->has_start ? clamp(p->start, n, low, high) : p->step > 0 ? low : high;
    const int64_t stop = p->has_stop ? clamp(p->stop, n, low, high) : p->step > 0 ? high : low;
    int64_t count = 0;
    if (p->step == 1)
        count = stop > start ? stop - start : 0;
    else if (p->step > 0)
        count = stop > start ? (stop - start - 1) / p->step + 1 : 0;
    else
        count = start > stop ? (start - stop - 1) / -p->step + 1 : 0;
    if (count) to->data += start * axis->stride;
    to->axes[to->ndim++] = (dvx_axis){count, p->step * axis->stride};
}

/* False: index.c shall see to it. */
static inline bool find_place(const nd_array *a, const key *k, place *to) {
    if (a->ndim > ND_FEW || k->count > a->ndim) return false;
    to->data = a->data;
    to->ndim = 0;
    for (int i = 0; i < k->count; i++) {
        const part *p = &k->parts[i];
        const dvx_axis *axis = &a->axes[i];
        if (p->slice) {
            take_slice(p, axis, to);
            continue;
        }
        const int64_t at = p->start < 0 ? p->start + axis->count : p->start;
        if (UNLIKELY(at < 0 || at >= axis->count)) return false;
        to->data += at * axis->stride;
    }
    for (int i = k->count; i < a->ndim; i++) to->axes[to->ndim++] = a->axes[i];
    return true;
}

/* The same of a key that is read now.  1; 0: index.c shall see to it; -1: raised.  (Members of
 * slices may run code of dl, as nothing else does: so the ints are looked at before, and once a
 * slice has been read there is no way back.) */
static int read_place(dvx_vm *vm, const nd_array *a, dvx_value v, place *to, bool *slices) {
    dvx_value items[ND_FEW] = {v};
    int64_t count = 1, starts[ND_FEW], steps[ND_FEW], counts[ND_FEW];
    bool slice[ND_FEW] = {false};
    if (API(kind, v) == DVX_TUPLE) count = API(length, v);
    if (a->ndim > ND_FEW || count < 1 || count > a->ndim) return 0;
    const bool tuple = API(kind, v) == DVX_TUPLE;
    int got = 0, state = 1;
    for (; got < (int)count && state > 0; got++) {
        if (tuple) items[got] = API(get_item, v, API(make_int, got));
        const dvx_kind kind = API(kind, items[got]);
        slice[got] = kind == DVX_SLICE;
        *slices |= slice[got];
        if (slice[got]) continue;
        const int64_t n = a->axes[got].count;
        if (kind != DVX_INT || !API(read_int, items[got], &starts[got])) {
            vm->api->clear_error(vm);
            state = 0;
            continue;
        }
        if (starts[got] < 0) starts[got] += n;
        if (starts[got] < 0 || starts[got] >= n) state = 0;
    }
    nd_state *busy = *slices && state > 0 ? nd_state_of(vm) : NULL;
    if (busy) busy->busy++;
    for (int i = 0; busy && i < got && state > 0; i++)
        if (slice[i] &&
            !API(read_slice, items[i], a->axes[i].count, &starts[i], &steps[i], &counts[i]))
            state = -1;
    if (busy) busy->busy--;
    for (int i = 0; tuple && i < got; i++) API(release, items[i]);
    if (state <= 0) return state;
    to->data = a->data;
    to->ndim = 0;
    for (int i = 0; i < got; i++) {
        if (!slice[i] || counts[i]) to->data += starts[i] * a->axes[i].stride;
        if (slice[i]) to->axes[to->ndim++] = (dvx_axis){counts[i], steps[i] * a->axes[i].stride};
    }
    for (int i = got; i < a->ndim; i++) to->axes[to->ndim++] = a->axes[i];
    return 1;
}

static bool is_all_ints(const key *k) {
    for (int i = 0; i < k->count; i++)
        if (k->parts[i].slice) return false;
    return true;
}

/* Is the array laid out as the one that the last view was made of? */
static inline bool is_known(const item_cache *c, const nd_array *a) {
    if (a->ndim != c->of.ndim || a->dtype != c->of.dtype) return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->axes[i].count != c->of.few[i].count || a->axes[i].stride != c->of.few[i].stride)
            return false;
    return true;
}

static void learn(item_cache *c, const nd_array *a, const nd_array *view) {
    c->of.ndim = a->ndim;
    c->of.dtype = a->dtype;
    memcpy(c->of.few, a->axes, (size_t)a->ndim * sizeof *a->axes);
    c->view = *view;
    c->offset = view->data - a->data;
}

static dvx_outcome run_item(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    item_cache *c = cache;
    const nd_array *a = API(payload, v[0], &array_type);
    bool slices = false;
    place to;
    if (is_known(c, a))
        return derive_outcome(array_view_again(vm, v[0], a, a->data + c->offset, &c->view), result);
    if (c->constant) {
        if (!find_place(a, &c->known, &to)) return DVX_DEOPTIMISE;
        slices = !is_all_ints(&c->known);
    } else {
        const int state = read_place(vm, a, v[1], &to, &slices);
        if (state < 0) return DVX_ERROR;
        if (!state) return derive_outcome(index_get(vm, v[0], v[1]), result);
    }
    if (to.ndim == 0 && !slices)
        return derive_outcome(array_element(vm, a->dtype, to.data), result);
    nd_array *view;
    dvx_value made = array_view(vm, v[0], a, to.data, to.ndim, to.axes, &view);
    if (c->constant && !dvx_failed(made)) learn(c, a, view);
    return derive_outcome(made, result);
}

/* ---- Native twins: elements ---- */

#ifdef DVX_NATIVE
/* The element at ints that are the items of a tuple; NULL: it is something else. */
static inline const void *native_place(const dvx_value *v) {
    const nd_array *a = dvx_payload_of(v[0]);
    const dv_tuple *key = dv_as_tuple(v[1]);
    if (key->count != a->ndim) return NULL;
    const char *at = a->data;
    for (int i = 0; i < a->ndim; i++) {
        if (!dv_is_int(key->items[i])) return NULL;
        int64_t k = dv_as_int(key->items[i]);
        if (k < 0) k += a->axes[i].count;
        if (k < 0 || k >= a->axes[i].count) return NULL;
        at += k * a->axes[i].stride;
    }
    return at;
}

static inline nd_type native_type(const dvx_value *v) {
    return ((const nd_array *)dvx_payload_of(v[0]))->dtype->num;
}

static inline dvx_value native_float(const dvx_value *v, void *cache) {
    const double *at = native_type(v) == ND_FLOAT64 ? native_place(v) : NULL;
    (void)cache;
    return at ? dv_float_foreign(*at) : DVX_FAILED;
}

static inline dvx_value native_int(const dvx_value *v, void *cache) {
    const int64_t *at = native_type(v) == ND_INT64 ? native_place(v) : NULL;
    (void)cache;
    return at && dv_fits_int(*at) ? dv_int(*at) : DVX_FAILED;
}
DVX_OPERATOR(float_native, native_float, 2)
DVX_OPERATOR(int_native, native_int, 2)
#define TWIN(name) .native = name##_native
#else
#define TWIN(name) .native = NULL
#endif

/* ---- The hook ---- */

#define DERIVATIVE(title, ...)                                                          \
    {                                                                                   \
        .size = sizeof(dvx_specialisation), .name = title, .family = DVX_SITE_GET_ITEM, \
        .count = 2, .run = run_item, .cache_size = sizeof(item_cache), __VA_ARGS__      \
    }
static const dvx_specialisation item = DERIVATIVE("GET_ITEM", .native = NULL),
                                constant_item = DERIVATIVE("GET_ITEM_CONST", .native = NULL),
                                float_item = DERIVATIVE("GET_ITEM_FLOAT64", TWIN(float)),
                                int_item = DERIVATIVE("GET_ITEM_INT64", TWIN(int));

static const dvx_specialisation *choose(const nd_array *a, bool constant, const key *k,
                                        bool tuple) {
    if (constant) return &constant_item;
    if (!tuple || k->count != a->ndim || !is_all_ints(k)) return &item;
    return a->dtype->num == ND_FLOAT64 ? &float_item
           : a->dtype->num == ND_INT64 ? &int_item
                                       : &item;
}

void derive_items(dvx_vm *vm, dvx_site *site) {
    const dvx_operand *v = site->operands;
    item_cache known;
    memset(&known, 0, sizeof known);
    if (v[0].type != &array_type) {
        API(decline, site,
            "subscripts of scalars, and subscripts that are arrays, have no derivative");
        return;
    }
    if (v[1].type || !read_key(vm, v[1].value, &known.known)) {
        API(decline, site, "the subscript is not made of a few ints and slices");
        return;
    }
    const bool is_constant =
        v[1].origin == DVX_FROM_CONSTANT || (v[1].origin == DVX_FROM_SITE && v[1].pure);
    known.of.ndim = -1;
    known.constant = is_constant && API(drop_operand, site, 1);
    const nd_array *a = API(payload, v[0].value, &array_type);
    item_cache *c =
        API(specialise, site,
            choose(a, known.constant, &known.known, API(kind, v[1].value) == DVX_TUPLE));
    if (c) *c = known;
}
