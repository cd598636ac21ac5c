/* nan.c: nansum, nanprod, nanmax, nanmin, nanmean, nanvar, nanstd, nan_to_num (calculus.h). */
#include <float.h>
#include <math.h>

#include "functions/calculus.h"
#include "array/compose.h"
#include "ufunc/error.h"
#include "array/methods.h"
#include "ufunc/reduce.h"
#include "ufunc/reductions.h"
#include "ufunc/ufunc.h"

static bool has_nans(const nd_dtype *dtype) { return dtype->kind == 'f' || dtype->kind == 'c'; }

/* Is there a nan? */
static bool is_nan(const nd_array *a, int64_t i) {
    nd_complex x;
    cast_between(a->dtype, ND_DTYPE(ND_COMPLEX128))((char *)&x, 0, a->data + i * a->dtype->size, 0,
                                                    1);
    return isnan(x.real) || isnan(x.imag);
}

static void set_number(nd_array *a, int64_t i, double x) {
    cast_between(ND_DTYPE(ND_FLOAT64), a->dtype)(a->data + i * a->dtype->size, 0, (const char *)&x,
                                                 0, 1);
}

/* A row whose nans become a number; `mask` as below. */
#define REPLACE(T, name)                                                                   \
    static void replace_##name(T *to, const T *x, int64_t count, T number, double *mask) { \
        for (int64_t i = 0; mask && i < count; i++) mask[i] = x[i] == x[i] ? 1 : 0;        \
        for (int64_t i = 0; i < count; i++) to[i] = x[i] == x[i] ? x[i] : number;          \
    }
REPLACE(double, float64)
REPLACE(float, float32)
static void replace_complex128(nd_complex *to, const nd_complex *x, int64_t count, double number,
                               double *mask) {
    for (int64_t i = 0; i < count; i++) {
        const bool nan = (x[i].real != x[i].real) | (x[i].imag != x[i].imag);
        if (mask) mask[i] = !nan;
        to[i] = (nd_complex){nan ? number : x[i].real, nan ? 0 : x[i].imag};
    }
}

/* The same of any dtype. */
static void replace_rare(nd_array *c, const char *from, double number, double *mask) {
    nd_array x = *c;
    x.data = (char *)(uintptr_t)from;
    for (int64_t i = 0; i < c->size; i++) {
        const bool nan = is_nan(&x, i);
        if (mask) mask[i] = !nan;
        memcpy(c->data + i * c->dtype->size, from + i * c->dtype->size, c->dtype->size);
        if (nan) set_number(c, i, number);
    }
}

/* A copy whose nans are a number; *mask (not NULL) has 0.0 for each of them, else 1.0.  Both lie in
 * memory as the array does. */
static dvx_value without_nans(dvx_vm *vm, const nd_array *a, double number, dvx_value *mask) {
    nd_array *m = NULL, *c;
    const bool row = a->flags & ND_C_CONTIGUOUS;
    dvx_value copy = row ? array_new_like(vm, a->dtype, a, &c) : array_copy(vm, a, a->dtype, 'K');
    if (dvx_failed(copy)) return copy;
    if (!row) c = array_of(vm, copy);
    if (mask) {
        *mask = array_new_like(vm, ND_DTYPE(ND_FLOAT64), c, &m);
        if (dvx_failed(*mask)) return compose_first(vm, *mask, copy);
    }
    double *known = m ? (double *)(void *)m->data : NULL;
    void *to = c->data;
    const void *from = row ? a->data : c->data;
    if (c->dtype->num == ND_FLOAT64)
        replace_float64(to, from, c->size, number, known);
    else if (c->dtype->num == ND_FLOAT32)
        replace_float32(to, from, c->size, (float)number, known);
    else if (c->dtype->hot == ND_RARE)
        replace_rare(c, from, number, known);
    else
        replace_complex128(to, from, c->size, number, known);
    return copy;
}

/* a, axis, dtype, out, keepdims */
static dvx_value reduce_others(dvx_vm *vm, const dvx_value *args, nd_ufunc_number number,
                               double identity) {
    nd_array *a;
    const nd_reduction r = {.number = number,
                            .axis = args[1],
                            .dtype = args[2],
                            .out = args[3],
                            .keepdims = args[4],
                            .initial = DVX_FAILED,
                            .where = DVX_FAILED};
    dvx_value held = array_operand(vm, args[0], NULL, &a);
    if (!dvx_failed(held) && has_nans(a->dtype))
        held = compose_first(vm, without_nans(vm, a, identity, NULL), held);
    return dvx_failed(held) ? held : compose_first(vm, reduce_call(vm, held, &r), held);
}
static dvx_value nansum(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return reduce_others(vm, args, ND_UFUNC_add, 0);
}
static dvx_value nanprod(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return reduce_others(vm, args, ND_UFUNC_multiply, 1);
}

/* a, axis, out, keepdims */
static dvx_value extreme(dvx_vm *vm, const dvx_value *args, nd_ufunc_number number) {
    nd_array *a;
    bool nan = false;
    const nd_reduction r = {.number = number,
                            .axis = args[1],
                            .dtype = DVX_FAILED,
                            .out = args[2],
                            .keepdims = args[3],
                            .initial = DVX_FAILED,
                            .where = DVX_FAILED};
    dvx_value made = reduce_call(vm, args[0], &r);
    dvx_value row = dvx_failed(made) ? made : array_row(vm, made, NULL, &a);
    if (dvx_failed(row)) return compose_first(vm, row, made);
    for (int64_t i = 0; has_nans(a->dtype) && i < a->size; i++) nan |= is_nan(a, i);
    vm->api->release(vm, row);
    if (!nan || error_warn(vm, "All-NaN slice encountered")) return made;
    return compose_first(vm, DVX_FAILED, made);
}
static dvx_value nanmax(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return extreme(vm, args, ND_UFUNC_fmax);
}
static dvx_value nanmin(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return extreme(vm, args, ND_UFUNC_fmin);
}

/* ---- Moments ---- */

/* What the moments of an array are made of. */
typedef struct moments {
    dvx_value numbers, mask; /* 0 for nans; 1.0 for numbers, and 0.0 for nans */
    dvx_value axis;
} moments;

static bool read_moments(dvx_vm *vm, dvx_value v, dvx_value axis, moments *m) {
    nd_array *a;
    *m = (moments){DVX_FAILED, DVX_FAILED, dvx_failed(axis) ? nd_none(vm) : axis};
    dvx_value held = array_operand(vm, v, NULL, &a);
    if (!dvx_failed(held) && !has_nans(a->dtype)) {
        held = compose_first(vm, array_operand(vm, held, ND_DTYPE(ND_FLOAT64), &a), held);
    }
    if (dvx_failed(held)) return false;
    m->numbers = compose_first(vm, without_nans(vm, a, 0, &m->mask), held);
    return !dvx_failed(m->numbers);
}

/* numbers of sums; is there one that is not positive? */
static bool any_bad(dvx_vm *vm, dvx_value counts, bool *bad) {
    nd_array *a;
    dvx_value row = array_row(vm, counts, ND_DTYPE(ND_FLOAT64), &a);
    if (dvx_failed(row)) return false;
    *bad = false;
    for (int64_t i = 0; i < a->size; i++) *bad |= !(((const double *)(const void *)a->data)[i] > 0);
    vm->api->release(vm, row);
    return true;
}

/* Sums divided by counts, as the sums' dtype has it; both are taken. */
static dvx_value divided(dvx_vm *vm, dvx_value sums, dvx_value counts) {
    const nd_array *a = dvx_failed(sums) ? NULL : array_of(vm, sums);
    const bool single = a && a->dtype->kind == 'f' && a->dtype->num != ND_FLOAT64;
    const nd_dtype *dtype = single ? a->dtype : NULL;
    nd_state *state = nd_state_of(vm);
    uint8_t modes[ND_FLOAT_ERRORS];
    memcpy(modes, state->float_errors, sizeof modes);
    memset(state->float_errors, 1, sizeof modes);
    dvx_value made = compose_binary(vm, ND_UFUNC_divide, sums, counts);
    memcpy(state->float_errors, modes, sizeof modes);
    if (!single || dvx_failed(made)) return made;
    made = compose_array(vm, made, dtype);
    return dvx_failed(made) ? made : array_result(vm, made);
}

static dvx_value sum_along(dvx_vm *vm, dvx_value v, const moments *m, bool keep) {
    return compose_along(vm, ND_UFUNC_add, v, m->axis, keep);
}

/* a, axis, keepdims */
static dvx_value nanmean(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    moments m;
    bool bad;
    const int keep = nd_flag(vm, args[2], false);
    const nd_array *given = array_of(vm, args[0]);
    (void)count;
    if (keep < 0) return DVX_FAILED;
    if (given && !has_nans(given->dtype)) return reductions_mean(vm, args[0], args[1], keep);
    dvx_value made = DVX_FAILED;
    if (read_moments(vm, args[0], args[1], &m)) {
        dvx_value counts = sum_along(vm, vm->api->retain(vm, m.mask), &m, keep);
        if (!dvx_failed(counts) && any_bad(vm, counts, &bad) &&
            (!bad || error_warn(vm, "Mean of empty slice")))
            made = divided(vm, sum_along(vm, vm->api->retain(vm, m.numbers), &m, keep), counts);
        else
            vm->api->release(vm, counts);
    }
    vm->api->release(vm, m.numbers);
    vm->api->release(vm, m.mask);
    return made;
}

/* |x - mean|**2 of the numbers, 0 for nans. */
static dvx_value squares_of(dvx_vm *vm, const moments *m) {
    dvx_value counts = sum_along(vm, vm->api->retain(vm, m->mask), m, true);
    if (dvx_failed(counts)) return counts;
    dvx_value mean = divided(vm, sum_along(vm, vm->api->retain(vm, m->numbers), m, true), counts);
    if (dvx_failed(mean)) return mean;
    dvx_value rest = compose_binary(vm, ND_UFUNC_subtract, vm->api->retain(vm, m->numbers), mean);
    rest = compose_array(vm, rest, NULL);
    if (dvx_failed(rest)) return rest;
    rest =
        compose_first(vm, array_copy(vm, array_of(vm, rest), array_of(vm, rest)->dtype, 'C'), rest);
    dvx_value mask =
        dvx_failed(rest) ? rest : array_copy(vm, array_of(vm, m->mask), ND_DTYPE(ND_FLOAT64), 'C');
    if (dvx_failed(mask)) return compose_first(vm, mask, rest);
    nd_array *r = array_of(vm, rest);
    const double *numbers = (const double *)(const void *)array_of(vm, mask)->data;
    for (int64_t i = 0; i < r->size; i++)
        if (numbers[i] == 0) set_number(r, i, 0);
    vm->api->release(vm, mask);
    if (array_of(vm, rest)->dtype->kind != 'c') return compose_unary(vm, ND_UFUNC_square, rest);
    dvx_value other = ufunc_call(vm, ND_UFUNC_conjugate, &rest, DVX_FAILED, NULL);
    return compose_attribute(vm, compose_binary(vm, ND_UFUNC_multiply, rest, other), "real");
}

/* a, axis, ddof, keepdims */
static dvx_value spread(dvx_vm *vm, const dvx_value *args, bool root) {
    moments m;
    double ddof = 0;
    bool bad;
    const int keep = nd_flag(vm, args[3], false);
    if (keep < 0 || (nd_is_given(vm, args[2]) && !vm->api->read_float(vm, args[2], &ddof)))
        return DVX_FAILED;
    const nd_array *given = array_of(vm, args[0]);
    if (given && !has_nans(given->dtype))
        return reductions_spread(vm, args[0], args[1], args[2], keep, root);
    dvx_value made = DVX_FAILED;
    if (read_moments(vm, args[0], args[1], &m)) {
        dvx_value sums = sum_along(vm, squares_of(vm, &m), &m, keep);
        dvx_value counts =
            dvx_failed(sums) ? sums : sum_along(vm, vm->api->retain(vm, m.mask), &m, keep);
        counts = compose_number(vm, ND_UFUNC_subtract, counts, ddof);
        if (!dvx_failed(counts) && any_bad(vm, counts, &bad) &&
            (!bad || error_warn(vm, "Degrees of freedom <= 0 for slice."))) {
            /* What is not positive gives nan. */
            counts = compose_number(vm, ND_UFUNC_maximum, counts, 0);
            made = divided(vm, sums, counts);
        } else {
            vm->api->release(vm, sums);
            vm->api->release(vm, counts);
        }
    }
    vm->api->release(vm, m.numbers);
    vm->api->release(vm, m.mask);
    return root ? compose_unary(vm, ND_UFUNC_sqrt, made) : made;
}
static dvx_value nanvar(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return spread(vm, args, false);
}
static dvx_value nanstd(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return spread(vm, args, true);
}

/* ---- nan_to_num ---- */

static double replaced(double x, const double *by, bool single) {
    const double most = single ? FLT_MAX : DBL_MAX;
    if (isnan(x)) return by[0];
    if (!isinf(x)) return x;
    if (x > 0) return isnan(by[1]) ? most : by[1];
    return isnan(by[2]) ? -most : by[2];
}

/* x, nan, posinf, neginf */
static dvx_value nan_to_num(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    double by[3] = {0, NAN, NAN};
    (void)count;
    for (int i = 0; i < 3; i++)
        if (nd_is_given(vm, args[i + 1]) && !vm->api->read_float(vm, args[i + 1], &by[i]))
            return DVX_FAILED;
    dvx_value held = array_operand(vm, args[0], NULL, &a);
    if (dvx_failed(held)) return held;
    dvx_value made = compose_first(vm, array_copy(vm, a, a->dtype, 'K'), held);
    if (dvx_failed(made)) return made;
    a = array_of(vm, made);
    const bool half = a->dtype->num == ND_FLOAT16;
    if (half) {
        /* (By way of float32; its greatest numbers are others.) */
        if (by[1] != by[1]) by[1] = 65504;
        if (by[2] != by[2]) by[2] = -65504;
        made = compose_array(vm, made, ND_DTYPE(ND_FLOAT32));
        if (dvx_failed(made)) return made;
        a = array_of(vm, made);
    }
    const bool single = type_as_float(a->dtype->num) == ND_FLOAT32;
    const int64_t parts = a->dtype->kind == 'c' ? 2 * a->size : has_nans(a->dtype) ? a->size : 0;
    nd_blocks b = {.total = parts};
    while (nd_next_block(vm, &b))
        for (int64_t i = b.at; i < b.at + b.count; i++)
            if (single) {
                float *x = (float *)(void *)a->data + i;
                *x = (float)replaced((double)*x, by, true);
            } else {
                double *x = (double *)(void *)a->data + i;
                *x = replaced(*x, by, false);
            }
    if (half) made = compose_array(vm, made, ND_DTYPE(ND_FLOAT16));
    return b.stopped ? compose_first(vm, DVX_FAILED, made) : array_result(vm, made);
}

/* ---- Tables ---- */

ND_PARAMETERS(sum_parameters, 1, "a", "axis", "dtype", "out", "keepdims");
ND_PARAMETERS(extreme_parameters, 1, "a", "axis", "out", "keepdims");
/* (NumPy has dtype and out between these, which are not part of ndarray: by name only.) */
#define BY_NAME(list, positional_, ...)                                       \
    static const char *const list##_names[] = {__VA_ARGS__};                  \
    static const dvx_parameters list = {sizeof(dvx_parameters), list##_names, \
                                        LENGTH_OF(list##_names), positional_, 1}
BY_NAME(mean_parameters, 2, "a", "axis", "keepdims");
BY_NAME(spread_parameters, 2, "a", "axis", "ddof", "keepdims");
BY_NAME(replace_parameters, 1, "x", "nan", "posinf", "neginf");

static const dvx_function functions[] = {
    ND_NAMED("nansum", nansum, sum_parameters),
    ND_NAMED("nanprod", nanprod, sum_parameters),
    ND_NAMED("nanmax", nanmax, extreme_parameters),
    ND_NAMED("nanmin", nanmin, extreme_parameters),
    ND_NAMED("nanmean", nanmean, mean_parameters),
    ND_NAMED("nanvar", nanvar, spread_parameters),
    ND_NAMED("nanstd", nanstd, spread_parameters),
    ND_NAMED("nan_to_num", nan_to_num, replace_parameters),
};

bool nan_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
