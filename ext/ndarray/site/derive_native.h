/* derive_native.h: native twins of derivatives for few elements, for derive_elements.c alone: a
 * handler's address must be known where descriptors are made.
 *
 * Invariants
 *  1. They have no result but those that the site keeps, and are not made where a result needs
 * memory.
 *  2. Where flags are raised the result counts for nothing, and the operation is executed the
 * ordinary way.  In place the elements are computed aside first. */
#ifndef ND_DERIVE_NATIVE_H
#define ND_DERIVE_NATIVE_H

#include "loops/arith.h"
#include "site/derive_elements.h"
#include "ufunc/ufunc.h"

#define TWIN(name) .native = elements_##name##_native
#define CALL_TWIN(name) \
    .native = elements_call_##name##_native, .native_method = elements_call_##name##_native_method

static inline nd_array *array_at(dvx_value v) { return dvx_payload_of(v); }

/* The kept result that nobody else has, if it has this shape; DVX_FAILED: none. */
static inline dvx_value kept_result(const elementwise *d, const nd_array *like) {
    for (int i = 0; i < ELEMENTS_KEPT; i++) {
        const dvx_value kept = d->kept[i];
        if (dv_is_empty(kept) || dv_as_object(kept)->references != 1) continue;
        const nd_array *out = array_at(kept);
        if (elements_is_row(out) && !out->read_only && !out->exports &&
            elements_same_shape(out, like))
            return kept;
    }
    return DVX_FAILED;
}

/* Runs the loop, whose output is no input; false: it raises flags.  (Reading the register of flags
 * costs some ns.  So it is read once: flags that were there before show when the loop runs again.)
 */
static inline bool run_quietly(const elementwise *d, char **args, int64_t count,
                               const int64_t *strides) {
    d->loop(args, count, strides);
    if (!d->warns || LIKELY(!arith_flags())) return true;
    arith_clear();
    d->loop(args, count, strides);
    return !arith_flags();
}

/* A result is handed out with a reference of its own. */
static inline dvx_value hand_out(dvx_value result) {
    dv_as_object(result)->references++;
    return result;
}

/* Reads what is no array; false: it is not the kind of number that the loop computes with. */
static inline bool native_number(const elementwise *d, dvx_value v, void *to) {
    if (d->type == ND_FLOAT64) {
        double x;
        if (dv_is_float(v))
            x = dv_as_float(v);
        else if (dv_is_int(v))
            x = (double)dv_as_int(v);
        else
            return false;
        memcpy(to, &x, sizeof x);
        return true;
    }
    if (!dv_is_int(v)) return false;
    int64_t i = dv_as_int(v);
    memcpy(to, &i, sizeof i);
    return true;
}

/* (Out of line, so that the handlers have no locals whose address is taken.) */
static DV_OUT_OF_LINE dvx_value compute_arrays(const dvx_value *v, void *cache) {
    const elementwise *d = cache;
    const nd_array *a = array_at(v[0]), *b = array_at(v[1]);
    if (a->dtype != d->dtypes[0] || b->dtype != d->dtypes[1] || !elements_is_row(a) ||
        !elements_is_row(b) || !elements_same_shape(a, b))
        return DVX_FAILED;
    const dvx_value result = kept_result(d, a);
    if (dv_is_empty(result)) return DVX_FAILED;
    nd_array *out = array_at(result);
    char *args[3] = {a->data, b->data, out->data};
    const int64_t strides[3] = {a->dtype->size, b->dtype->size, d->result->size};
    return run_quietly(d, args, a->size, strides) ? hand_out(result) : DVX_FAILED;
}

static DV_OUT_OF_LINE dvx_value compute_number(const dvx_value *v, void *cache) {
    elementwise *d = cache;
    const int array = !d->dtypes[0];
    const nd_array *a = array_at(v[array]);
    int64_t number;
    char *element = d->element;
    if (a->dtype != d->dtypes[array] || !elements_is_row(a)) return DVX_FAILED;
    if (!d->constant) {
        if (!native_number(d, v[!array], &number)) return DVX_FAILED;
        element = (char *)&number;
    }
    const dvx_value result = kept_result(d, a);
    if (dv_is_empty(result)) return DVX_FAILED;
    nd_array *out = array_at(result);
    char *args[3] = {NULL, NULL, out->data};
    int64_t strides[3] = {0, 0, d->result->size};
    args[array] = a->data, strides[array] = a->dtype->size;
    args[!array] = element;
    return run_quietly(d, args, a->size, strides) ? hand_out(result) : DVX_FAILED;
}

static DV_OUT_OF_LINE dvx_value compute_one(const dvx_value *v, void *cache) {
    const elementwise *d = cache;
    const nd_array *a = array_at(v[0]);
    if (a->dtype != d->dtypes[0] || !elements_is_row(a)) return DVX_FAILED;
    const dvx_value result = kept_result(d, a);
    if (dv_is_empty(result)) return DVX_FAILED;
    nd_array *out = array_at(result);
    char *args[2] = {a->data, out->data};
    const int64_t strides[2] = {a->dtype->size, d->result->size};
    return run_quietly(d, args, a->size, strides) ? hand_out(result) : DVX_FAILED;
}

/* ---- In place ---- */

/* Computes aside, and then into the array. */
static inline dvx_value compute_into(const elementwise *d, dvx_value self, nd_array *a,
                                     const char *other, int64_t stride) {
    _Alignas(64) char result[ND_INLINE];
    const int64_t size = a->dtype->size;
    char *args[3] = {a->data, (char *)(uintptr_t)other, result};
    const int64_t strides[3] = {size, stride, size};
    if (a->size * size > ND_INLINE) return DVX_FAILED;
    if (!run_quietly(d, args, a->size, strides)) return DVX_FAILED;
    memcpy(a->data, result, (size_t)(a->size * size));
    return hand_out(self);
}

static DV_OUT_OF_LINE dvx_value compute_inplace_arrays(const dvx_value *v, void *cache) {
    const elementwise *d = cache;
    nd_array *a = array_at(v[0]);
    const nd_array *b = array_at(v[1]);
    if (a->dtype != d->dtypes[0] || b->dtype != d->dtypes[1] || !elements_is_row(a) ||
        !elements_is_row(b) || a->read_only || !elements_same_shape(a, b))
        return DVX_FAILED;
    return compute_into(d, v[0], a, b->data, b->dtype->size);
}

static DV_OUT_OF_LINE dvx_value compute_inplace_number(const dvx_value *v, void *cache) {
    const elementwise *d = cache;
    nd_array *a = array_at(v[0]);
    int64_t number;
    if (a->dtype != d->dtypes[0] || !elements_is_row(a) || a->read_only) return DVX_FAILED;
    if (d->constant) return compute_into(d, v[0], a, d->element, 0);
    if (!native_number(d, v[1], &number)) return DVX_FAILED;
    return compute_into(d, v[0], a, (const char *)&number, 0);
}

/* ---- Calls ---- */

/* Is the callee the ufunc that the site has seen?  (Its type is.) */
static inline bool is_callee(const elementwise *d, dvx_value callee) {
    return dv_is_empty(callee) ||
           ufunc_number_of((const nd_ufunc_object *)dvx_payload_of(callee)) == d->number;
}

#define CALL_COMPUTED(name)                                                                  \
    static inline dvx_value call_##name(const dvx_value *v, dvx_value callee, void *cache) { \
        return is_callee(cache, callee) ? compute_##name(v, cache) : DVX_FAILED;             \
    }
CALL_COMPUTED(arrays)
CALL_COMPUTED(number)
CALL_COMPUTED(one)

/* ---- Handlers ---- */

DVX_OPERATOR(elements_arrays_native, compute_arrays, 2)
DVX_OPERATOR(elements_number_native, compute_number, 2)
DVX_OPERATOR(elements_one_native, compute_one, 1)
DVX_OPERATOR(elements_inplace_arrays_native, compute_inplace_arrays, 2)
DVX_OPERATOR(elements_inplace_number_native, compute_inplace_number, 2)
DVX_CALL(elements_call_arrays_native, call_arrays, 2)
DVX_CALL(elements_call_number_native, call_number, 2)
DVX_CALL(elements_call_one_native, call_one, 1)
#endif
