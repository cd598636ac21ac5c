/* pick.c: put, putmask, place, compress, choose (pick.h).
 *
 * Invariants
 *  1. Elements are numbered in C order, whatever the layout of the array is. */
#include "index/pick.h"

#include <string.h>

#include "array/compose.h"
#include "functions/extra.h"
#include "index/index.h"
#include "array/methods.h"
#include "functions/select.h"
#include "array/shape.h"

/* ---- Elements by their numbers ---- */

/* An array whose elements are stored to by number: itself, or a copy in C order that goes back. */
typedef struct target {
    nd_array *a, *row;
    dvx_value copy;
} target;

static bool target_begin(dvx_vm *vm, nd_array *a, target *t) {
    *t = (target){a, a, DVX_FAILED};
    if (a->flags & ND_C_CONTIGUOUS) return true;
    t->copy = array_copy(vm, a, a->dtype, 'C');
    if (dvx_failed(t->copy)) return false;
    t->row = array_of(vm, t->copy);
    return true;
}
static void target_end(dvx_vm *vm, target *t, bool good) {
    if (good && !dvx_failed(t->copy)) array_spread(t->a, t->row);
    vm->api->release(vm, t->copy);
}

/* The values in a row, which shares no memory with the array. */
static dvx_value read_values(dvx_vm *vm, dvx_value v, const nd_array *a, nd_array **out) {
    dvx_value values = array_row(vm, v, a->dtype, out);
    if (dvx_failed(values) || !array_may_overlap(*out, a)) return values;
    values = compose_first(vm, array_copy(vm, *out, a->dtype, 'C'), values);
    if (!dvx_failed(values)) *out = array_of(vm, values);
    return values;
}

#define FOR_SIZES(X) \
    X(uint8_t, 1)    \
    X(uint32_t, 4)   \
    X(uint64_t, 8)   \
    X(nd_complex, 16)
#define BY_SIZE(function, size)   \
    ((size) == 1   ? function##_1 \
     : (size) == 4 ? function##_4 \
     : (size) == 8 ? function##_8 \
                   : function##_16)

/* ---- put ---- */

typedef enum clip_mode { MODE_RAISE, MODE_WRAP, MODE_CLIP } clip_mode;
static bool read_mode(dvx_vm *vm, dvx_value v, clip_mode *mode) {
    char word[32];
    *mode = MODE_RAISE;
    if (!nd_is_given(vm, v)) return true;
    nd_word(vm, v, word);
    if (!strcmp(word, "wrap"))
        *mode = MODE_WRAP;
    else if (!strcmp(word, "clip"))
        *mode = MODE_CLIP;
    else if (strcmp(word, "raise"))
        return nd_fail(vm, DVX_VALUE_ERROR,
                       "clipmode must be one of 'clip', 'raise', or 'wrap' (got '%s')", word);
    return true;
}

static inline int64_t wrapped(int64_t i, int64_t n) {
    i %= n;
    return i < 0 ? i + n : i;
}
static inline int64_t clipped(int64_t i, int64_t n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

/* Stores to element places[i] the next value; the first place that is none, or -1. */
#define PUT(T, size)                                                                       \
    static int64_t put_##size(char *data, int64_t n, const int64_t *places, int64_t count, \
                              const char *values, int64_t value_count, clip_mode mode) {   \
        T *to = (T *)(void *)data;                                                         \
        const T *v = (const T *)(const void *)values;                                      \
        for (int64_t i = 0, k = 0; i < count; i++) {                                       \
            int64_t at = places[i];                                                        \
            if (mode == MODE_WRAP)                                                         \
                at = wrapped(at, n);                                                       \
            else if (mode == MODE_CLIP)                                                    \
                at = clipped(at, n);                                                       \
            else if (at < -n || at >= n)                                                   \
                return i;                                                                  \
            else if (at < 0)                                                               \
                at += n;                                                                   \
            to[at] = v[k];                                                                 \
            k = k + 1 < value_count ? k + 1 : 0;                                           \
        }                                                                                  \
        return -1;                                                                         \
    }
FOR_SIZES(PUT)

/* args: the array, ind, v, mode */
static dvx_value put_into(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a = array_self(vm, args[0]), *places, *values;
    clip_mode mode;
    target t;
    (void)count;
    if (!read_mode(vm, args[3], &mode)) return DVX_FAILED;
    if (a->read_only) return nd_raise(vm, DVX_VALUE_ERROR, "put: output array is read-only");
    dvx_value from = array_row(vm, args[1], ND_DTYPE(ND_INT64), &places);
    if (dvx_failed(from)) return from;
    if (array_may_overlap(places, a)) {
        from = compose_first(vm, array_copy(vm, places, places->dtype, 'C'), from);
        if (dvx_failed(from)) return from;
        places = array_of(vm, from);
    }
    dvx_value held = read_values(vm, args[2], a, &values);
    bool good = !dvx_failed(held);
    if (good && places->size && values->size) {
        if (!a->size) {
            good = nd_fail(vm, DVX_INDEX_ERROR, "cannot replace elements of an empty array");
        } else if ((good = target_begin(vm, a, &t))) {
            const int64_t *at = (const int64_t *)(const void *)places->data;
            const int64_t bad = BY_SIZE(put, a->dtype->size)(t.row->data, a->size, at, places->size,
                                                             values->data, values->size, mode);
            target_end(vm, &t, bad < 0);
            good = nd_work(vm, 2 * places->size);
            if (good && bad >= 0)
                good = nd_fail(vm, DVX_INDEX_ERROR,
                               "index %lld is out of bounds for axis 0 with size %lld",
                               (long long)at[bad], (long long)a->size);
        }
    }
    vm->api->release(vm, held);
    vm->api->release(vm, from);
    return good ? nd_none(vm) : DVX_FAILED;
}
static dvx_value put(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    char name[ND_NAME];
    if (vm->api->payload(vm, args[0], &array_type)) return put_into(vm, args, count);
    return nd_raise(vm, DVX_TYPE_ERROR, "argument 1 must be numpy.ndarray, not %s",
                    nd_class_name(vm, args[0], name));
}

/* ---- putmask and place ---- */

/* Where the mask is true: the value of the same number (cyclically), or the next one. */
#define STORE_MASKED(T, size)                                                              \
    static void masked_##size(char *data, const char *mask, int64_t n, const char *values, \
                              int64_t value_count, bool next) {                            \
        T *to = (T *)(void *)data;                                                         \
        const T *v = (const T *)(const void *)values;                                      \
        if (value_count == 1) {                                                            \
            const T x = *v;                                                                \
            for (int64_t i = 0; i < n; i++)                                                \
                if (mask[i]) to[i] = x;                                                    \
            return;                                                                        \
        }                                                                                  \
        if (value_count == n && !next) {                                                   \
            for (int64_t i = 0; i < n; i++) to[i] = mask[i] ? v[i] : to[i];                \
            return;                                                                        \
        }                                                                                  \
        for (int64_t i = 0, k = 0; i < n; i++) {                                           \
            if (mask[i]) to[i] = v[k];                                                     \
            if (!next || mask[i]) k = k + 1 < value_count ? k + 1 : 0;                     \
        }                                                                                  \
    }
FOR_SIZES(STORE_MASKED)

static dvx_value store_masked(dvx_vm *vm, const dvx_value *args, const char *name, bool next) {
    nd_array *a = array_of(vm, args[0]), *mask, *values;
    target t;
    if (a->read_only && next)
        return nd_raise(vm, DVX_VALUE_ERROR, "WRITEBACKIFCOPY base is read-only");
    if (a->read_only) return nd_raise(vm, DVX_VALUE_ERROR, "%s: output array is read-only", name);
    dvx_value held = array_row(vm, args[1], ND_DTYPE(ND_BOOL), &mask);
    if (dvx_failed(held)) return held;
    bool good = mask->size == a->size ||
                nd_fail(vm, DVX_VALUE_ERROR, "%s: mask and data must be the same size", name);
    if (good && array_may_overlap(mask, a)) {
        held = compose_first(vm, array_copy(vm, mask, mask->dtype, 'C'), held);
        if (dvx_failed(held)) return held;
        mask = array_of(vm, held);
    }
    const nd_array *of = array_of(vm, args[2]);
    if (good && of && of->ndim && !dtype_is_safe(of->dtype, a->dtype))
        good = nd_fail(vm, DVX_TYPE_ERROR,
                       "Cannot cast array data from dtype('%s') to dtype('%s') according to the "
                       "rule 'safe'",
                       of->dtype->name, a->dtype->name);
    dvx_value given = good ? read_values(vm, args[2], a, &values) : DVX_FAILED;
    good = !dvx_failed(given);
    if (good && !values->size) {
        if (next && a->size && memchr(mask->data, 1, (size_t)a->size))
            good = nd_fail(vm, DVX_VALUE_ERROR, "Cannot insert from an empty array!");
    } else if (good && a->size && (good = target_begin(vm, a, &t))) {
        BY_SIZE(masked, a->dtype->size)
        (t.row->data, mask->data, a->size, values->data, values->size, next);
        target_end(vm, &t, true);
        good = nd_quick_work(vm, 3 * a->size);
    }
    vm->api->release(vm, given);
    vm->api->release(vm, held);
    return good ? nd_none(vm) : DVX_FAILED;
}
static dvx_value putmask(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    char name[ND_NAME];
    (void)count;
    if (vm->api->payload(vm, args[0], &array_type)) return store_masked(vm, args, "putmask", false);
    return nd_raise(vm, DVX_TYPE_ERROR, "putmask() argument 1 must be numpy.ndarray, not %s",
                    nd_class_name(vm, args[0], name));
}
static dvx_value place(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    char name[ND_NAME];
    (void)count;
    if (vm->api->payload(vm, args[0], &array_type)) return store_masked(vm, args, "place", true);
    return nd_raise(vm, DVX_TYPE_ERROR, "argument 1 must be numpy.ndarray, not %s",
                    nd_class_name(vm, args[0], name));
}

/* ---- compress ---- */

/* The elements (axis None), or parts along an axis, where the mask, a row, is true. */
static dvx_value take_true(dvx_vm *vm, dvx_value array, const nd_array *mask, dvx_value axis) {
    dvx_value places[ND_MOST], made = DVX_FAILED;
    nd_array *a = array_of(vm, array);
    if (a->size == mask->size && (a->ndim == 1 || !nd_is_given(vm, axis)) &&
        (a->ndim == 1 || a->flags & ND_C_CONTIGUOUS) && !nd_is_given(vm, axis)) {
        dvx_value row = shape_ravel(vm, array);
        if (!dvx_failed(row)) made = fancy_get_mask(vm, array_of(vm, row), mask);
        vm->api->release(vm, row);
        return made;
    }
    if (!fancy_nonzero(vm, mask, places)) return DVX_FAILED;
    made = extra_take(vm, array, places[0], axis);
    vm->api->release(vm, places[0]);
    return made;
}

/* args: a, condition, axis, out */
static dvx_value compress_of(dvx_vm *vm, dvx_value array_, dvx_value condition, dvx_value axis,
                             dvx_value out) {
    nd_array *a, *mask;
    dvx_value made = DVX_FAILED;
    if (nd_is_given(vm, out))
        return nd_raise(vm, DVX_TYPE_ERROR, "compress(out=...) is not part of ndarray");
    dvx_value held = array_row(vm, condition, ND_DTYPE(ND_BOOL), &mask);
    if (dvx_failed(held)) return held;
    dvx_value array = DVX_FAILED;
    if (mask->ndim != 1)
        nd_fail(vm, DVX_VALUE_ERROR, "condition must be a 1-d array");
    else
        array = array_operand(vm, array_, NULL, &a);
    if (!dvx_failed(array)) made = take_true(vm, array, mask, axis);
    vm->api->release(vm, array);
    vm->api->release(vm, held);
    return made;
}
static dvx_value compress(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return compress_of(vm, args[1], args[0], args[2], args[3]);
}
static dvx_value compress_method(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return compress_of(vm, args[0], args[1], args[2], args[3]);
}

/* ---- Lists of arrays ---- */

typedef struct arrays {
    int count;
    dvx_value values[ND_MOST];
} arrays;

static void drop(dvx_vm *vm, arrays *list) {
    for (int i = 0; i < list->count; i++) vm->api->release(vm, list->values[i]);
    list->count = 0;
}

/* What has been read must be dropped even so. */
static bool read_arrays(dvx_vm *vm, dvx_value sequence, arrays *list) {
    const int64_t count = vm->api->length(vm, sequence);
    list->count = 0;
    if (count < 0) return false;
    if (count > ND_MOST - 1)
        return nd_fail(vm, DVX_VALUE_ERROR, "Need at least 0 and at most 32 array objects.");
    for (int64_t i = 0; i < count; i++) {
        dvx_value item = vm->api->get_item(vm, sequence, vm->api->make_int(vm, i));
        dvx_value array = dvx_failed(item) ? item : array_from(vm, item, NULL);
        vm->api->release(vm, item);
        if (dvx_failed(array)) return false;
        list->values[list->count++] = array;
    }
    return true;
}

static const nd_dtype *common(dvx_vm *vm, const arrays *list) {
    const nd_dtype *d = array_of(vm, list->values[0])->dtype;
    for (int i = 1; i < list->count; i++)
        d = dtype_promote(d, array_of(vm, list->values[i])->dtype);
    return d;
}

bool pick_broadcast(dvx_vm *vm, const dvx_value *values, int count, int *ndim, int64_t *shape) {
    int64_t all;
    *ndim = 0;
    for (int i = 0; i < count; i++) {
        const nd_array *a = array_of(vm, values[i]);
        if (a->ndim > *ndim) *ndim = a->ndim;
    }
    for (int axis = 0; axis < *ndim; axis++) {
        int first = -1;
        shape[axis] = 1;
        for (int i = 0; i < count; i++) {
            const nd_array *a = array_of(vm, values[i]), *b;
            const int own = axis + a->ndim - *ndim;
            if (own < 0 || a->axes[own].count == 1) continue;
            if (shape[axis] == 1) {
                shape[axis] = a->axes[own].count;
                first = i;
            } else if (shape[axis] != a->axes[own].count) {
                char one[ND_SHAPE_TEXT], other[ND_SHAPE_TEXT];
                int64_t of[ND_MOST], with[ND_MOST];
                b = array_of(vm, values[first]);
                array_shape(b, of);
                array_shape(a, with);
                return nd_fail(vm, DVX_VALUE_ERROR,
                               "shape mismatch: objects cannot be broadcast to a single shape.  "
                               "Mismatch is between arg %d with shape %s and arg %d with shape %s.",
                               first, array_shape_text(b->ndim, of, true, one), i,
                               array_shape_text(a->ndim, with, true, other));
            }
        }
    }
    return array_count(*ndim, shape, &all) ||
           nd_fail(vm, DVX_VALUE_ERROR, "broadcast dimensions too large.");
}

/* ---- choose ---- */

enum { CHOICES = ND_MOST };
#define CHOOSE(T, size)                                                                        \
    static bool choose_##size(char *to, const int64_t *which, int64_t n, char *const *choices, \
                              const bool *single, int64_t count, clip_mode mode) {             \
        T *out = (T *)(void *)to;                                                              \
        for (int64_t i = 0; i < n; i++) {                                                      \
            int64_t k = which[i];                                                              \
            if (k < 0 || k >= count) {                                                         \
                if (mode == MODE_RAISE) return false;                                          \
                k = mode == MODE_WRAP ? wrapped(k, count) : clipped(k, count);                 \
            }                                                                                  \
            out[i] = ((const T *)(const void *)choices[k])[single[k] ? 0 : i];                 \
        }                                                                                      \
        return true;                                                                           \
    }
FOR_SIZES(CHOOSE)

/* An array as a row of elements of a shape, or a single one. */
static dvx_value spread_out(dvx_vm *vm, dvx_value v, const nd_dtype *dtype, int ndim,
                            const int64_t *shape, bool keep, nd_array **out) {
    nd_array *a;
    dvx_value array = array_row(vm, v, dtype, &a);
    *out = a;
    if (dvx_failed(array) || (a->size == 1 && keep)) return array;
    bool same = a->ndim == ndim;
    for (int i = 0; same && i < ndim; i++) same = a->axes[i].count == shape[i];
    if (same) return array;
    dvx_value made = array_new(vm, dtype, ndim, shape, out);
    if (!dvx_failed(made) && (*out)->size && !array_pour(vm, *out, a))
        made = compose_first(vm, DVX_FAILED, made);
    vm->api->release(vm, array);
    return made;
}

static dvx_value choose_of(dvx_vm *vm, dvx_value index, dvx_value choices, clip_mode mode) {
    arrays list;
    nd_array *which, *a, *made_array;
    int ndim;
    int64_t shape[ND_MOST];
    dvx_value made = DVX_FAILED, places = DVX_FAILED;
    if (!read_arrays(vm, choices, &list)) goto end;
    if (!list.count) {
        nd_fail(vm, DVX_VALUE_ERROR, "0-length sequence.");
        goto end;
    }
    places = array_operand(vm, index, NULL, &which);
    if (dvx_failed(places)) goto end;
    if (!dtype_is_integer(which->dtype)) {
        nd_fail(vm, DVX_TYPE_ERROR,
                "Cannot cast array data from dtype('%s') to dtype('int64') according to the rule "
                "'safe'",
                which->dtype->name);
        goto end;
    }
    const nd_dtype *dtype = common(vm, &list);
    dvx_value all[ND_MOST + 1];
    memcpy(all, list.values, (size_t)list.count * sizeof *all);
    all[list.count] = places;
    if (!pick_broadcast(vm, all, list.count + 1, &ndim, shape)) goto end;
    char *rows[CHOICES];
    bool single[CHOICES];
    places = compose_first(
        vm, spread_out(vm, places, ND_DTYPE(ND_INT64), ndim, shape, false, &which), places);
    bool good = !dvx_failed(places);
    for (int i = 0; good && i < list.count; i++) {
        dvx_value row = spread_out(vm, list.values[i], dtype, ndim, shape, true, &a);
        vm->api->release(vm, list.values[i]);
        list.values[i] = row;
        good = !dvx_failed(row);
        if (!good) break;
        rows[i] = a->data;
        single[i] = a->size == 1;
    }
    if (good) made = array_new(vm, dtype, ndim, shape, &made_array);
    if (!dvx_failed(made) &&
        !BY_SIZE(choose, dtype->size)(made_array->data, (const int64_t *)(const void *)which->data,
                                      made_array->size, rows, single, list.count, mode)) {
        made = compose_first(vm, DVX_FAILED, made);
        nd_fail(vm, DVX_VALUE_ERROR, "invalid entry in choice array");
    }
end:
    vm->api->release(vm, places);
    drop(vm, &list);
    return dvx_failed(made) ? made : array_result(vm, made);
}
ND_PARAMETERS(of_choose, 2, "a", "choices", "out", "mode");
static dvx_value choose(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    clip_mode mode;
    (void)count;
    if (nd_is_given(vm, args[2])) return nd_wider(vm, "choose", &of_choose, args);
    if (!read_mode(vm, args[3], &mode)) return DVX_FAILED;
    return choose_of(vm, args[0], args[1], mode);
}

/* ---- Tables ---- */

ND_PARAMETERS(of_put, 3, "a", "ind", "v", "mode");
ND_PARAMETERS(of_put_method, 2, "indices", "values", "mode");
ND_PARAMETERS(of_putmask, 3, "a", "mask", "values");
ND_PARAMETERS(of_place, 3, "arr", "mask", "vals");
ND_PARAMETERS(of_compress, 2, "condition", "a", "axis", "out");
ND_PARAMETERS(of_compress_method, 1, "condition", "axis", "out");
ND_PARAMETERS(of_choose_method, 1, "choices", "out", "mode");
ND_METHOD(put, ND_NAMED("put", put_into, of_put_method));
ND_METHOD(compress, ND_NAMED("compress", compress_method, of_compress_method));
ND_METHOD(choose, ND_NAMED("choose", choose, of_choose_method));

static const dvx_function functions[] = {
    ND_NAMED("put", put, of_put),          ND_NAMED("putmask", putmask, of_putmask),
    ND_NAMED("place", place, of_place),    ND_NAMED("compress", compress, of_compress),
    ND_NAMED("choose", choose, of_choose),
};

bool pick_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
