/* derive_reads.c: derivatives of attributes, of reductions of whole arrays, and of copies
 * (derive.h).
 *
 * Invariants
 *  1. What a site keeps (a tuple, copies, views) is given to the program only while nobody else has
 * it: then it is as good as a new one. */
#include "loops/arith.h"
#include "array/compose.h"
#include "functions/select.h"
#include "site/derive_elements.h"
#include "site/derive_views.h"
#include "site/fuse.h"
#include "ufunc/error.h"
#include "array/methods.h"
#include "ufunc/ufunc.h"

/* ---- Attributes that are ints ---- */

static inline const nd_array *array_at(dvx_vm *vm, dvx_value v) {
    return vm->api->payload(vm, v, &array_type);
}

#define NUMBERS(X)                      \
    X(size, a->size)                    \
    X(ndim, a->ndim)                    \
    X(itemsize, a->dtype->size)         \
    X(nbytes, a->size * a->dtype->size) \
    X(_readable, array_gives(a))        \
    X(_writable, array_takes(a))        \
    X(_number, array_number(a))

#define RUN_NUMBER(name, value)                                                \
    static dvx_outcome run_##name(dvx_vm *vm, const dvx_value *v, void *cache, \
                                  dvx_value *result) {                         \
        const nd_array *a = array_at(vm, v[0]);                                \
        (void)cache;                                                           \
        return derive_outcome(vm->api->make_int(vm, value), result);           \
    }
NUMBERS(RUN_NUMBER)

/* The object of the dtype that the site has seen. */
typedef struct dtype_cache {
    const nd_dtype *dtype;
    dvx_value object;
} dtype_cache;

static dvx_outcome run_dtype(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    (void)cache;
    return derive_outcome(dtype_object(vm, array_at(vm, v[0])->dtype), result);
}

static void release_dtype(dvx_vm *vm, void *cache) {
    dtype_cache *c = cache;
    const dvx_value object = c->object;
    c->object = DVX_FAILED;
    vm->api->release(vm, object);
}

/* ---- shape ---- */

/* (Or strides.) */
typedef struct shape_cache {
    dvx_value tuple; /* DVX_FAILED: none */
    bool strides;
    int32_t ndim;
    int64_t shape[ND_FEW];
} shape_cache;

static inline int64_t shape_at(const shape_cache *c, const nd_array *a, int i) {
    return c->strides ? a->axes[i].stride : a->axes[i].count;
}

static void release_shape(dvx_vm *vm, void *cache) {
    shape_cache *c = cache;
    dvx_value tuple = c->tuple;
    c->tuple = DVX_FAILED;
    vm->api->release(vm, tuple);
}

static inline bool is_shape(const shape_cache *c, const nd_array *a) {
    if (a->ndim != c->ndim) return false;
    for (int i = 0; i < a->ndim; i++)
        if (shape_at(c, a, i) != c->shape[i]) return false;
    return true;
}

static dvx_outcome run_shape(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    shape_cache *c = cache;
    const nd_array *a = array_at(vm, v[0]);
    int64_t shape[ND_MOST];
    if (!dvx_failed(c->tuple) && is_shape(c, a) && vm->api->is_unique(vm, c->tuple))
        return derive_outcome(vm->api->retain(vm, c->tuple), result);
    for (int i = 0; i < a->ndim; i++) shape[i] = shape_at(c, a, i);
    dvx_value made = array_ints(vm, shape, a->ndim);
    if (dvx_failed(made)) return DVX_ERROR;
    if (a->ndim <= ND_FEW) {
        release_shape(vm, c);
        c->tuple = vm->api->retain(vm, made);
        c->ndim = a->ndim;
        memcpy(c->shape, shape, (size_t)a->ndim * sizeof *shape);
    }
    return derive_outcome(made, result);
}

/* ---- T, real, imag ---- */

typedef enum aspect { TRANSPOSED, REAL, IMAGINARY } aspect;

/* Which it is; the rest is the native twin's, which has views that the site keeps. */
typedef struct aspect_cache {
    aspect which;
    view_model model;
    kept_views kept;
} aspect_cache;

/* (Real and imaginary parts of complex numbers alone.) */
static dvx_value view_aspect(dvx_vm *vm, aspect which, dvx_value of, const nd_array *a,
                             nd_array **view) {
    dvx_axis axes[ND_MOST];
    if (which != TRANSPOSED) {
        nd_array halves = *a;
        halves.dtype = ND_DTYPE(ND_FLOAT64);
        char *data = a->data + (which == IMAGINARY ? offsetof(nd_complex, imag) : 0);
        return array_view(vm, of, &halves, data, a->ndim, a->axes, view);
    }
    for (int i = 0; i < a->ndim; i++) axes[i] = a->axes[a->ndim - 1 - i];
    return array_view(vm, of, a, a->data, a->ndim, axes, view);
}

static dvx_outcome run_aspect(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    const aspect_cache *c = cache;
    const nd_array *a = array_at(vm, v[0]);
    nd_array *view;
    if (c->which != TRANSPOSED && a->dtype->num != ND_COMPLEX128) return DVX_DEOPTIMISE;
    return derive_outcome(view_aspect(vm, c->which, v[0], a, &view), result);
}

static void release_aspect(dvx_vm *vm, void *cache) {
    views_release(vm, &((aspect_cache *)cache)->kept);
}

/* ---- Copies ---- */

/* Of few elements, in one block. */
typedef struct copy_cache {
    dvx_value kept[ELEMENTS_KEPT]; /* DVX_FAILED: none */
} copy_cache;

static void release_copies(dvx_vm *vm, void *cache) {
    copy_cache *c = cache;
    for (int i = 0; i < ELEMENTS_KEPT; i++) {
        dvx_value kept = c->kept[i];
        c->kept[i] = DVX_FAILED;
        vm->api->release(vm, kept);
    }
}

static dvx_outcome run_copy(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    const nd_array *a = array_at(vm, v[0]);
    nd_array *copy;
    (void)cache;
    if (!elements_is_row(a)) return derive_outcome(array_copy(vm, a, a->dtype, 'C'), result);
    dvx_value made = array_new_like(vm, a->dtype, a, &copy);
    if (!dvx_failed(made) && !array_pour(vm, copy, a)) made = compose_first(vm, DVX_FAILED, made);
    return derive_outcome(made, result);
}

/* ---- Reductions ---- */

enum { MOST_ARGUMENTS = 16 };

static inline bool is_row(const nd_array *a) {
    return a->flags & ND_C_CONTIGUOUS && a->size > 0 && a->size <= ND_PIECE;
}

dvx_outcome derive_call(dvx_vm *vm, const dvx_function *function, const dvx_value *given,
                        uint32_t count, dvx_value *result) {
    dvx_value args[MOST_ARGUMENTS];
    for (uint32_t i = 0; i < MOST_ARGUMENTS; i++) args[i] = i < count ? given[i] : DVX_FAILED;
    return derive_outcome(
        function->entry(vm, args, function->parameters ? function->parameters->count + 1 : 1),
        result);
}

static inline double fold_float(const nd_whole *c, const nd_array *a) {
    double x = c->identity ? (double)c->first : *(const double *)(const void *)a->data;
    c->fold((char *)&x, a->data, a->size, sizeof x);
    return c->mean ? x / (double)a->size : x;
}

static dvx_outcome run_fold_float(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    const nd_whole *c = cache;
    const nd_array *a = array_at(vm, v[0]);
    if (a->dtype != c->dtype) return DVX_DEOPTIMISE;
    if (!is_row(a)) return derive_call(vm, c->method, v, 1, result);
    if (arith_flags()) arith_clear();
    const double x = fold_float(c, a);
    const unsigned flags = c->warns ? arith_flags() : 0;
    if (UNLIKELY(!nd_quick_work(vm, a->size))) return DVX_ERROR;
    if (UNLIKELY(flags)) {
        arith_clear();
        if (!error_flags(vm, "reduce", flags)) return DVX_ERROR;
    }
    return derive_outcome(vm->api->make_float(vm, x), result);
}

static dvx_outcome run_fold_int(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    const nd_whole *c = cache;
    const nd_array *a = array_at(vm, v[0]);
    if (a->dtype != c->dtype) return DVX_DEOPTIMISE;
    if (!is_row(a)) return derive_call(vm, c->method, v, 1, result);
    int64_t x = c->identity ? c->first : *(const int64_t *)(const void *)a->data;
    c->fold((char *)&x, a->data, a->size, sizeof x);
    if (UNLIKELY(!nd_quick_work(vm, a->size))) return DVX_ERROR;
    return derive_outcome(vm->api->make_int(vm, x), result);
}

/* np.sum(a): operand 0 is the function. */
static dvx_outcome run_call_float(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    return run_fold_float(vm, v + 1, cache, result);
}
static dvx_outcome run_call_int(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    return run_fold_int(vm, v + 1, cache, result);
}

/* Along an axis, the first argument. */
static dvx_outcome run_along(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    return derive_call(vm, ((const nd_whole *)cache)->method, v, 2, result);
}
static dvx_outcome run_call_along(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    return run_along(vm, v + 1, cache, result);
}

/* Functions of three arguments. */
static dvx_outcome run_three(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    return derive_call(vm, ((const nd_whole *)cache)->method, v, 3, result);
}
static dvx_outcome run_call_three(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    return run_three(vm, v + 1, cache, result);
}

/* ---- Other methods ---- */

/* The cache has the attribute, or the method, whose parameters are all left out. */
static dvx_outcome run_attribute(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    return derive_outcome((*(const dvx_attribute **)cache)->get(vm, v[0]), result);
}

static dvx_outcome run_method(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    return derive_call(vm, *(const dvx_function **)cache, v, 1, result);
}

/* ---- Native twins ---- */

#ifdef DVX_NATIVE
/* They count no work: what takes longer than a microsecond is done by those above. */
static inline bool is_few(const nd_array *a) { return is_row(a) && a->size <= 1024; }

static inline dvx_value small_int(int64_t i) {
    return i >= DV_INT_MIN && i <= DV_INT_MAX ? dv_int(i) : DVX_FAILED;
}
#define NATIVE_NUMBER(name, value)                                           \
    static inline dvx_value native_##name(const dvx_value *v, void *cache) { \
        const nd_array *a = dvx_payload_of(v[0]);                            \
        (void)cache;                                                         \
        return small_int(value);                                             \
    }                                                                        \
    DVX_ATTRIBUTE(name##_native, native_##name)
NUMBERS(NATIVE_NUMBER)

static inline dvx_value native_dtype(const dvx_value *v, void *cache) {
    const dtype_cache *c = cache;
    if (((const nd_array *)dvx_payload_of(v[0]))->dtype != c->dtype) return DVX_FAILED;
    dv_as_object(c->object)->references++;
    return c->object;
}
DVX_ATTRIBUTE(dtype_native, native_dtype)

static inline dvx_value native_shape(const dvx_value *v, void *cache) {
    const shape_cache *c = cache;
    if (dvx_failed(c->tuple) || dv_as_object(c->tuple)->references != 1 ||
        !is_shape(c, dvx_payload_of(v[0])))
        return DVX_FAILED;
    dv_as_object(c->tuple)->references++;
    return c->tuple;
}
DVX_ATTRIBUTE(shape_native, native_shape)

static inline dvx_value native_aspect(const dvx_value *v, void *cache) {
    const aspect_cache *c = cache;
    if (!views_is_known(&c->model, dvx_payload_of(v[0]))) return DVX_FAILED;
    return views_again(&c->kept, &c->model, v[0]);
}
DVX_ATTRIBUTE(aspect_native, native_aspect)

/* squeeze() where there is nothing to leave out, and `real` of what is real: the array itself. */
static inline dvx_value native_itself(const dvx_value *v) {
    dv_as_object(v[0])->references++;
    return v[0];
}

static inline dvx_value native_squeeze(const dvx_value *v, void *cache) {
    const nd_array *a = dvx_payload_of(v[0]);
    (void)cache;
    for (int i = 0; i < a->ndim; i++)
        if (a->axes[i].count == 1) return DVX_FAILED;
    return native_itself(v);
}
DVX_METHOD_CALL(squeeze_native, native_squeeze, 1)

static inline dvx_value native_real(const dvx_value *v, void *cache) {
    const nd_array *a = dvx_payload_of(v[0]);
    (void)cache;
    return a->dtype->kind == 'c' ? DVX_FAILED : native_itself(v);
}
DVX_ATTRIBUTE(real_native, native_real)

static inline dvx_value native_copy(const dvx_value *v, void *cache) {
    const copy_cache *c = cache;
    const nd_array *a = dvx_payload_of(v[0]);
    const int64_t bytes = a->size * a->dtype->size;
    if (!elements_is_row(a) || bytes > ND_INLINE) return DVX_FAILED;
    for (int i = 0; i < ELEMENTS_KEPT; i++) {
        if (dv_is_empty(c->kept[i]) || dv_as_object(c->kept[i])->references != 1) continue;
        nd_array *copy = dvx_payload_of(c->kept[i]);
        if (copy->dtype != a->dtype || !elements_is_row(copy) || copy->read_only || copy->exports ||
            !elements_same_shape(copy, a))
            continue;
        memcpy(copy->data, a->data, (size_t)bytes);
        dv_as_object(c->kept[i])->references++;
        return c->kept[i];
    }
    return DVX_FAILED;
}
DVX_METHOD_CALL(copy_native, native_copy, 1)

/* (Out of line: the loops take addresses.)  Flags of before show when the loop runs again. */
static DV_OUT_OF_LINE dvx_value native_fold_float(const dvx_value *v, void *cache) {
    const nd_whole *c = cache;
    const nd_array *a = dvx_payload_of(v[0]);
    if (a->dtype != c->dtype || !is_few(a)) return DVX_FAILED;
    double x = fold_float(c, a);
    if (!c->warns || LIKELY(!arith_flags())) return dv_float_foreign(x);
    arith_clear();
    x = fold_float(c, a);
    return arith_flags() ? DVX_FAILED : dv_float_foreign(x);
}
DVX_METHOD_CALL(fold_float_native, native_fold_float, 1)

static DV_OUT_OF_LINE dvx_value native_fold_int(const dvx_value *v, void *cache) {
    const nd_whole *c = cache;
    const nd_array *a = dvx_payload_of(v[0]);
    if (a->dtype != c->dtype || !is_few(a)) return DVX_FAILED;
    int64_t x = c->identity ? c->first : *(const int64_t *)(const void *)a->data;
    c->fold((char *)&x, a->data, a->size, sizeof x);
    return small_int(x);
}
DVX_METHOD_CALL(fold_int_native, native_fold_int, 1)
#define TWIN(name) .native = name##_native
#else
#define TWIN(name) .native = NULL
#endif

/* ---- Descriptors ---- */

#define DERIVATIVE(title, site, function, ...)                                \
    {                                                                         \
        .size = sizeof(dvx_specialisation), .where = DVX_HERE, .name = title, \
        .family = DVX_SITE_##site, .count = 1, .run = function, __VA_ARGS__   \
    }

#define OF_NUMBER(name, value)                                                                     \
    {#name, DERIVATIVE("ATTRIBUTE_" #name, ATTRIBUTE, run_##name, .result = DVX_INT, .pure = true, \
                       TWIN(name))},
static const struct {
    const char *name;
    dvx_specialisation derivative;
} numbers[] = {NUMBERS(OF_NUMBER)};

static const dvx_specialisation
    dtype_ = DERIVATIVE("ATTRIBUTE_dtype", ATTRIBUTE, run_dtype, .cache_size = sizeof(dtype_cache),
                        .release = release_dtype, TWIN(dtype)),
    portable_dtype = DERIVATIVE("ATTRIBUTE_dtype", ATTRIBUTE, run_dtype),
    shape_ = DERIVATIVE("ATTRIBUTE_shape", ATTRIBUTE, run_shape, .cache_size = sizeof(shape_cache),
                        .release = release_shape, TWIN(shape)),
    portable_shape = DERIVATIVE("ATTRIBUTE_shape", ATTRIBUTE, run_shape,
                                .cache_size = sizeof(shape_cache), .release = release_shape),
    attribute_ = DERIVATIVE("ATTRIBUTE_ALONE", ATTRIBUTE, run_attribute,
                            .cache_size = sizeof(dvx_attribute *)),
    real_ = DERIVATIVE("ATTRIBUTE_real", ATTRIBUTE, run_attribute,
                       .cache_size = sizeof(dvx_attribute *), TWIN(real)),
    squeeze_ = DERIVATIVE("SQUEEZE", METHOD, run_method, .cache_size = sizeof(dvx_function *),
                          TWIN(squeeze)),
    method_ =
        DERIVATIVE("CALL_METHOD_ALONE", METHOD, run_method, .cache_size = sizeof(dvx_function *)),
    copy_ = DERIVATIVE("COPY_SMALL", METHOD, run_copy, .cache_size = sizeof(copy_cache),
                       .release = release_copies, TWIN(copy)),
    portable_copy = DERIVATIVE("COPY", METHOD, run_copy, .result_type = &array_type, .fresh = true);

/* With kept views, and without. */
#define ASPECT(title)                                                                    \
    {                                                                                    \
        DERIVATIVE(title, ATTRIBUTE, run_aspect, .cache_size = sizeof(aspect_cache),     \
                   .release = release_aspect, TWIN(aspect)),                             \
            DERIVATIVE(title, ATTRIBUTE, run_aspect, .cache_size = sizeof(aspect_cache), \
                       .result_type = &array_type, .fresh = true)                        \
    }
static const dvx_specialisation aspects[][2] = {[TRANSPOSED] = ASPECT("ATTRIBUTE_T"),
                                                [REAL] = ASPECT("ATTRIBUTE_real"),
                                                [IMAGINARY] = ASPECT("ATTRIBUTE_imag")};

#define FOLD_OF(title, site, n, function, ...)                                                  \
    {                                                                                           \
        .size = sizeof(dvx_specialisation), .where = DVX_HERE, .name = title,                   \
        .family = DVX_SITE_##site, .count = n, .run = function, .cache_size = sizeof(nd_whole), \
        __VA_ARGS__                                                                             \
    }
#define FOLD(title)                                                                              \
    {                                                                                            \
        FOLD_OF(title "_FLOAT64", METHOD, 1, run_fold_float, .result = DVX_FLOAT,                \
                TWIN(fold_float)),                                                               \
            FOLD_OF(title "_INT64", METHOD, 1, run_fold_int, .result = DVX_INT, TWIN(fold_int)), \
            FOLD_OF("CALL_" title "_FLOAT64", CALL, 2, run_call_float, .result = DVX_FLOAT),     \
            FOLD_OF("CALL_" title "_INT64", CALL, 2, run_call_int, .result = DVX_INT),           \
            FOLD_OF(title "_AXIS", METHOD, 2, run_along, .keywords = true),                      \
            FOLD_OF("CALL_" title "_AXIS", CALL, 3, run_call_along, .keywords = true)            \
    }
enum { ALONG = 4, FOLD_FORMS = 6 };
static const struct {
    const dvx_function *method;
    nd_ufunc_number number;
    bool mean;
    dvx_specialisation derivatives[FOLD_FORMS]; /* of float64, int64; of the functions; ALONG */
} folds[] = {
    {&method_sum, ND_UFUNC_add, false, FOLD("SUM")},
    {&method_prod, ND_UFUNC_multiply, false, FOLD("PROD")},
    {&method_max, ND_UFUNC_maximum, false, FOLD("MAX")},
    {&method_min, ND_UFUNC_minimum, false, FOLD("MIN")},
    {&method_mean, ND_UFUNC_add, true, FOLD("MEAN")},
};

bool derive_whole(dvx_vm *vm, const dvx_specialisation *by, nd_whole *out) {
    size_t i = 0;
    while (i < LENGTH_OF(folds) &&
           (by < folds[i].derivatives || by >= folds[i].derivatives + FOLD_FORMS))
        i++;
    if (i == LENGTH_OF(folds)) return false;
    const nd_ufunc_facts *facts = &loops_facts[folds[i].number];
    const nd_type type = (by - folds[i].derivatives) % 2 ? ND_INT64 : ND_FLOAT64;
    *out = (nd_whole){.method = folds[i].method,
                      .dtype = ND_DTYPE(type),
                      .number = folds[i].number,
                      .fold = ufunc_kernel(vm, folds[i].number, type)->fold,
                      .identity = facts->has_identity,
                      .warns = facts->warns,
                      .mean = folds[i].mean,
                      .along = by >= folds[i].derivatives + ALONG,
                      .first = facts->identity};
    return true;
}

static const dvx_specialisation threes[] = {
    FOLD_OF("CALL_WHERE", CALL, 4, run_call_three, .inner = true),
    FOLD_OF("CALL_CLIP", CALL, 4, run_call_three, .inner = true),
    FOLD_OF("CLIP", METHOD, 3, run_three, .inner = true)};

nd_three derive_three(const dvx_specialisation *by) {
    if (by < threes || by >= threes + LENGTH_OF(threes)) return ND_NO_THREE;
    return by == threes ? ND_WHERE : ND_CLIP;
}

/* ---- The hooks ---- */

/* A native twin finds a tuple at its first execution. */
static void derive_shape(dvx_vm *vm, dvx_site *site, const nd_array *a, bool strides) {
    const shape_cache which = {.strides = strides};
    int64_t shape[ND_MOST];
    for (int i = 0; i < a->ndim; i++) shape[i] = shape_at(&which, a, i);
    const bool few = a->ndim <= ND_FEW && site->times < 2;
    dvx_value tuple = few ? array_ints(vm, shape, a->ndim) : DVX_FAILED;
    if (few && dvx_failed(tuple)) vm->api->clear_error(vm);
    shape_cache *c = vm->api->specialise(vm, site, dvx_failed(tuple) ? &portable_shape : &shape_);
    if (!c) {
        vm->api->release(vm, tuple);
        return;
    }
    c->tuple = tuple;
    c->strides = strides;
    c->ndim = a->ndim;
    if (few) memcpy(c->shape, shape, (size_t)a->ndim * sizeof *shape);
}

/* (One that sees several dtypes keeps none.) */
static void derive_dtype(dvx_vm *vm, dvx_site *site, const nd_dtype *dtype) {
    dtype_cache *c = vm->api->specialise(vm, site, site->times < 2 ? &dtype_ : &portable_dtype);
    if (c && site->times < 2) *c = (dtype_cache){dtype, dtype_object(vm, dtype)};
}

/* A site that has been asked about more often sees different things, or its views are kept. */
enum { MOST_TIMES = 2 };

/* Views for the native twin; false: there are none. */
static bool prepare_aspect(dvx_vm *vm, const dvx_site *site, aspect_cache *c) {
    const dvx_value of = site->operands[0].value;
    const nd_array *a = array_at(vm, of);
    nd_array *view;
    if (site->times >= MOST_TIMES || !views_may_keep(vm, &site->operands[0])) return false;
    dvx_value made = view_aspect(vm, c->which, of, a, &view);
    if (dvx_failed(made)) return vm->api->clear_error(vm), false;
    const bool kept = views_keep(vm, &c->kept, of, a, view);
    if (kept) views_learn(&c->model, a, view);
    vm->api->release(vm, made);
    return kept;
}

static void derive_aspect(dvx_vm *vm, dvx_site *site, aspect which) {
    aspect_cache known;
    memset(&known, 0, sizeof known);
    known.which = which;
    const bool kept = prepare_aspect(vm, site, &known);
    aspect_cache *c = vm->api->specialise(vm, site, &aspects[which][!kept]);
    if (c)
        *c = known;
    else if (kept)
        views_release(vm, &known.kept);
}

static void derive_copy(dvx_vm *vm, dvx_site *site, const nd_array *a) {
    copy_cache known = {{DVX_FAILED, DVX_FAILED}};
    bool small = elements_is_row(a) && a->ndim <= ND_FEW && a->size * a->dtype->size <= ND_INLINE &&
                 site->times < MOST_TIMES;
    for (int i = 0; small && i < ELEMENTS_KEPT; i++) {
        nd_array *copy;
        known.kept[i] = array_new_like(vm, a->dtype, a, &copy);
        if (!dvx_failed(known.kept[i])) continue;
        vm->api->clear_error(vm);
        small = false;
    }
    copy_cache *c = small ? vm->api->specialise(vm, site, &copy_) : NULL;
    if (c)
        *c = known;
    else
        release_copies(vm, &known);
    if (!small) vm->api->specialise(vm, site, &portable_copy);
}

/* Any other attribute: it is not looked for again. */
static void derive_other(dvx_vm *vm, dvx_site *site, const char *name) {
    static const dvx_attribute *const all[] = {&attribute_base, &attribute_flags, &attribute_flat,
                                               &attribute_real, &attribute_imag};
    for (size_t i = 0; i < LENGTH_OF(all); i++) {
        if (strcmp(name, all[i]->name) != 0) continue;
        const bool itself = all[i] == &attribute_real && site->times < 2;
        const dvx_attribute **known = vm->api->specialise(vm, site, itself ? &real_ : &attribute_);
        if (known) *known = all[i];
        return;
    }
    vm->api->decline(vm, site, "this attribute of arrays has no derivative");
}

void derive_attribute(dvx_vm *vm, dvx_site *site) {
    char name[32];
    nd_word(vm, site->name, name);
    if (site->operands[0].type != &array_type) {
        vm->api->decline(vm, site, "attributes of scalars have no derivatives");
        return;
    }
    for (size_t i = 0; i < LENGTH_OF(numbers); i++)
        if (!strcmp(name, numbers[i].name)) {
            vm->api->specialise(vm, site, &numbers[i].derivative);
            return;
        }
    const bool is_complex = array_at(vm, site->operands[0].value)->dtype->num == ND_COMPLEX128;
    if (!strcmp(name, "dtype"))
        derive_dtype(vm, site, array_at(vm, site->operands[0].value)->dtype);
    else if (!strcmp(name, "shape"))
        derive_shape(vm, site, array_at(vm, site->operands[0].value), false);
    else if (!strcmp(name, "strides"))
        derive_shape(vm, site, array_at(vm, site->operands[0].value), true);
    else if (!strcmp(name, "T"))
        derive_aspect(vm, site, TRANSPOSED);
    else if (is_complex && (!strcmp(name, "real") || !strcmp(name, "imag")))
        derive_aspect(vm, site, name[0] == 'r' ? REAL : IMAGINARY);
    else
        derive_other(vm, site, name);
}

/* A method without arguments whose parameters may all be left out: nothing has to be sorted. */
static void derive_alone(dvx_vm *vm, dvx_site *site) {
    const dvx_function *method = site->method;
    const dvx_parameters *list = method->parameters;
    if (list ? list->required || list->count >= MOST_ARGUMENTS : method->min > 1) {
        vm->api->decline(vm, site, "the method needs arguments");
        return;
    }
    const bool itself = method == &method_squeeze && site->times < 2;
    const dvx_function **known = vm->api->specialise(vm, site, itself ? &squeeze_ : &method_);
    if (known) *known = method;
}

/* False: it is no such call. */
static bool derive_call_of_three(dvx_vm *vm, dvx_site *site) {
    const dvx_function *method = site->method;
    const uint32_t self = site->family == DVX_SITE_CALL;
    const int which = method->entry == select_where  ? 0
                      : method->entry == select_clip ? 1
                      : method == &method_clip       ? 2
                                                     : -1;
    if (which < 0 || site->count != self + 3 || !dvx_failed(site->keywords)) return false;
    nd_whole *c = vm->api->specialise(vm, site, &threes[which]);
    if (c) c->method = method, fuse_site(vm, site);
    return true;
}

void derive_method(dvx_vm *vm, dvx_site *site) {
    const uint32_t self = site->family == DVX_SITE_CALL;
    const dvx_operand *of = &site->operands[self];
    const nd_array *a = of->type == &array_type ? array_at(vm, of->value) : NULL;
    const bool along = site->count == self + 2 && derive_names(vm, site->keywords, "axis") &&
                       derive_is_int(vm, of[1].value);
    if (a && derive_call_of_three(vm, site)) return;
    if (!a || (site->count != self + 1 && !along)) {
        vm->api->decline(vm, site,
                         "of methods only copy and reductions, also along axis=, have derivatives");
        return;
    }
    if (site->method == &method_copy && !self && !along) {
        derive_copy(vm, site, a);
        return;
    }
    const bool is_float = a->dtype->num == ND_FLOAT64;
    for (size_t i = 0; i < LENGTH_OF(folds); i++) {
        if (site->method != folds[i].method) continue;
        if (!along && !is_float && (a->dtype->num != ND_INT64 || folds[i].mean)) break;
        const dvx_specialisation *by =
            &folds[i].derivatives[along ? ALONG + self : !is_float + 2 * self];
        nd_whole *c = vm->api->specialise(vm, site, by);
        if (c && derive_whole(vm, by, c)) fuse_site(vm, site);
        return;
    }
    if (self || along)
        vm->api->decline(vm, site, "this call of a function of an array has no derivative");
    else
        derive_alone(vm, site);
}
