/* statistics.c: median, percentile, quantile, average, cov, corrcoef (statistics.h). */
#include "functions/statistics.h"

#include <fenv.h>
#include <math.h>

#include "array/compose.h"
#include "ufunc/error.h"
#include "functions/join.h"
#include "linear/matmul.h"
#include "loops/half.h"
#include "loops/cast.h"
#include "array/methods.h"
#include "sort/order.h"
#include "ufunc/reduce.h"
#include "ufunc/reductions.h"
#include "array/shape.h"
#include "ufunc/ufunc.h"

double statistics_number(const nd_array *a, int64_t i) {
    const void *at = a->data + i * a->dtype->size;
    switch (a->dtype->num) {
    case ND_FLOAT16: return (double)half_value(*(const nd_half *)at);
    case ND_UINT64: return (double)*(const uint64_t *)at;
    case ND_FLOAT32: return (double)*(const float *)at;
    case ND_FLOAT64: return *(const double *)at;
    default: return (double)type_int(a->dtype->num, at);
    }
}

/* ---- Lines ---- */

/* All elements along some axes in a row each, and the shape of what is made of them. */
typedef struct lines {
    dvx_value held;
    nd_array *a;
    int64_t count, length;
    int ndim;
    int64_t shape[ND_MOST];
    bool sorted;
} lines;

static bool sort_lines(dvx_vm *vm, lines *l) {
    const int64_t size = l->length * l->a->dtype->size;
    for (int64_t i = 0; i < l->count; i++)
        if (!order_sort(vm, l->a->dtype, l->a->data + i * size, l->length)) return false;
    l->sorted = true;
    return true;
}

/* Sees to it that elements `place`, the next one and the last one of a line are as in a sorted one.
 */
static bool settle(dvx_vm *vm, const lines *l, int64_t line, int64_t place) {
    char *data = l->a->data + line * l->length * l->a->dtype->size;
    enum { STEPS = 3 }; /* for nd_work, of an element */
    return l->sorted || (nd_work(vm, STEPS * l->length) &&
                         order_select(vm, l->a->dtype, data, l->length, place));
}

/* The axes that are given as bits; all of them where none is. */
static bool read_mask(dvx_vm *vm, dvx_value axis, int ndim, uint32_t *mask) {
    int axes[ND_MOST], count;
    if (!nd_is_given(vm, axis)) return reduce_axes(vm, axis, ndim, mask);
    if (!shape_read_axes(vm, axis, ndim, "", "repeated axis", &count, axes)) return false;
    *mask = 0;
    for (int i = 0; i < count; i++) *mask |= 1u << axes[i];
    return true;
}

static bool read_lines(dvx_vm *vm, dvx_value v, dvx_value axis, bool keep, lines *l) {
    nd_array *a, *view;
    dvx_axis axes[ND_MOST];
    uint32_t mask;
    int used = 0;
    dvx_value held = array_operand(vm, v, NULL, &a);
    *l = (lines){.held = DVX_FAILED, .count = 1, .length = 1};
    if (dvx_failed(held)) return false;
    bool good = read_mask(vm, axis, a->ndim, &mask);
    if (good && a->dtype->kind == 'c')
        good = nd_fail(vm, DVX_TYPE_ERROR, "quantiles of complex numbers are not part of ndarray");
    for (int i = 0; good && i < a->ndim; i++) {
        const bool reduced = mask >> i & 1;
        if (!reduced) axes[used++] = a->axes[i];
        if (!reduced || keep) l->shape[l->ndim++] = reduced ? 1 : a->axes[i].count;
        *(reduced ? &l->length : &l->count) *= a->axes[i].count;
    }
    for (int i = 0; good && i < a->ndim; i++)
        if (mask >> i & 1) axes[used++] = a->axes[i];
    if (good) {
        dvx_value moved = array_view(vm, held, a, a->data, a->ndim, axes, &view);
        if (!dvx_failed(moved)) l->held = array_copy(vm, view, view->dtype, 'C');
        vm->api->release(vm, moved);
    }
    vm->api->release(vm, held);
    if (dvx_failed(l->held)) return false;
    l->a = array_of(vm, l->held);
    return true;
}

/* Into an array that is given, or as it is returned; takes `made`. */
static dvx_value give(dvx_vm *vm, dvx_value made, dvx_value out) {
    if (dvx_failed(made)) return made;
    if (!nd_is_given(vm, out)) return array_result(vm, made);
    nd_array *to = vm->api->payload(vm, out, &array_type);
    const bool good = to ? array_writable(vm, to) && array_assign(vm, to, array_of(vm, made))
                         : nd_fail(vm, DVX_TYPE_ERROR, "return arrays must be of ArrayType");
    vm->api->release(vm, made);
    return good ? vm->api->retain(vm, out) : DVX_FAILED;
}

/* ---- median ---- */

/* a, axis, out, overwrite_input, keepdims */
static dvx_value median(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    lines l;
    nd_array *out;
    const int keep = nd_flag(vm, args[4], false);
    (void)count;
    if (keep < 0 || !read_lines(vm, args[0], args[1], keep, &l)) return DVX_FAILED;
    const nd_dtype *dtype = l.a->dtype->kind == 'f' ? l.a->dtype : ND_DTYPE(ND_FLOAT64);
    const nd_cast cast = cast_between(ND_DTYPE(ND_FLOAT64), dtype);
    dvx_value made = DVX_FAILED;
    if (l.length ||
        (error_warn(vm, "Mean of empty slice.") && error_flags(vm, "divide", FE_INVALID)))
        made = array_new(vm, dtype, l.ndim, l.shape, &out);
    for (int64_t i = 0; !dvx_failed(made) && i < l.count; i++) {
        const int64_t first = i * l.length, middle = first + l.length / 2;
        double x = NAN;
        if (l.length && !settle(vm, &l, i, l.length / 2 - (l.length % 2 == 0))) {
            made = compose_first(vm, DVX_FAILED, made);
            break;
        }
        if (l.length) {
            x = statistics_number(l.a, middle);
            if (l.length % 2 == 0) x = (statistics_number(l.a, middle - 1) + x) / 2;
            const double last = statistics_number(l.a, first + l.length - 1);
            if (isnan(last)) x = last;
        }
        cast(out->data + i * dtype->size, 0, (const char *)&x, 0, 1);
    }
    vm->api->release(vm, l.held);
    return give(vm, made, args[2]);
}

/* ---- Quantiles ---- */

typedef enum method { LINEAR, LOWER, HIGHER, MIDPOINT, NEAREST, METHODS } method;
static const char *const method_names[METHODS] = {"linear", "lower", "higher", "midpoint",
                                                  "nearest"};

static bool read_method(dvx_vm *vm, dvx_value v, method *m) {
    char word[32] = "linear";
    if (!dvx_failed(v)) nd_word(vm, v, word);
    for (*m = LINEAR; *m < METHODS; (*m)++)
        if (!strcmp(word, method_names[*m])) return true;
    return nd_fail(vm, DVX_VALUE_ERROR, "the method '%s' is not part of ndarray", word);
}

/* Elements `from` and `to` of a sorted line with weights: NumPy's way, which is exact at both ends.
 */
static double between(const nd_array *a, int64_t from, int64_t to, double weight) {
    const double x = statistics_number(a, from), y = statistics_number(a, to);
    double step = y - x;
    if (a->dtype->num == ND_FLOAT32) step = (double)(float)step;
    if (a->dtype->num == ND_FLOAT16) step = (double)half_value(half_of(step));
    return weight >= 0.5 ? y - step * (1 - weight) : x + step * weight;
}

static double interpolate(const nd_array *a, int64_t first, int64_t length, double at, bool half) {
    if (isnan(at)) return NAN;
    const double down = floor(at);
    if (at >= (double)(length - 1))
        return between(a, first + length - 1, first + length - 1, half ? 0 : at + 1);
    return between(a, first + (int64_t)down, first + (int64_t)down + 1,
                   half ? at == down ? 0 : 0.5 : at - down);
}

/* The quantiles q of all lines, those of one q after those of another. */
static bool fill_quantiles(dvx_vm *vm, lines *l, const double *q, int64_t count, method m,
                           nd_array *out) {
    enum { MANY = 8 }; /* sorting is not slower */
    if (count >= MANY && !sort_lines(vm, l)) return false;
    const int size = l->a->dtype->size;
    const bool floats = l->a->dtype->kind == 'f';
    int64_t k = 0;
    for (int64_t j = 0; j < count; j++) {
        const double exact = (double)(l->length - 1) * q[j];
        const double at = m == LOWER      ? floor(exact)
                          : m == HIGHER   ? ceil(exact)
                          : m == NEAREST  ? rint(exact)
                          : m == MIDPOINT ? 0.5 * (floor(exact) + ceil(exact))
                                          : exact;
        for (int64_t i = 0; i < l->count; i++, k++) {
            const int64_t first = i * l->length, last = first + l->length - 1;
            if (!settle(vm, l, i, (int64_t)floor(at))) return false;
            const bool nan = floats && isnan(statistics_number(l->a, last));
            if (m != LINEAR && m != MIDPOINT)
                memcpy(out->data + k * size, l->a->data + (nan ? last : first + (int64_t)at) * size,
                       (size_t)size);
            else
                ((double *)(void *)out->data)[k] =
                    nan ? NAN : interpolate(l->a, first, l->length, at, m == MIDPOINT);
        }
    }
    return true;
}

/* a, q, axis, out, overwrite_input, method, keepdims; q is divided by `scale`. */
static dvx_value quantiles(dvx_vm *vm, const dvx_value *args, double scale, const char *refusal) {
    lines l = {.held = DVX_FAILED};
    nd_array *q, *out;
    method m;
    const int keep = nd_flag(vm, args[6], false);
    if (keep < 0 || !read_method(vm, args[5], &m)) return DVX_FAILED;
    dvx_value held = array_operand(vm, args[1], ND_DTYPE(ND_FLOAT64), &q), made = DVX_FAILED;
    if (!dvx_failed(held)) held = compose_first(vm, array_copy(vm, q, q->dtype, 'C'), held);
    if (dvx_failed(held)) return held;
    q = array_of(vm, held);
    double *values = (double *)(void *)q->data;
    bool good = true;
    for (int64_t i = 0; i < q->size; i++) {
        values[i] /= scale;
        good &= values[i] >= 0 && values[i] <= 1;
    }
    if (!good) nd_fail(vm, DVX_VALUE_ERROR, "%s", refusal);
    good = good && read_lines(vm, args[0], args[2], keep, &l);
    if (good && !l.length && l.count && q->size)
        good = nd_fail(vm, DVX_INDEX_ERROR, "cannot do a non-empty take from an empty axes.");
    if (good && l.ndim + q->ndim > ND_MOST)
        good = nd_fail(vm, DVX_VALUE_ERROR, "maximum supported dimension for an ndarray is 32");
    if (good) {
        int64_t shape[2 * ND_MOST];
        array_shape(q, shape);
        memcpy(shape + q->ndim, l.shape, (size_t)l.ndim * sizeof *shape);
        const bool taken = m != LINEAR && m != MIDPOINT;
        made =
            array_new(vm, taken ? l.a->dtype : ND_DTYPE(ND_FLOAT64), q->ndim + l.ndim, shape, &out);
        if (!dvx_failed(made) && out->size && !fill_quantiles(vm, &l, values, q->size, m, out))
            made = compose_first(vm, DVX_FAILED, made);
    }
    vm->api->release(vm, l.held);
    vm->api->release(vm, held);
    return give(vm, made, args[3]);
}

static dvx_value percentile(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return quantiles(vm, args, 100, "Percentiles must be in the range [0, 100]");
}
static dvx_value quantile(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return quantiles(vm, args, 1, "Quantiles must be in the range [0, 1]");
}

/* ---- average ---- */

/* Weights of one dimension along an axis, as an array that is broadcast. */
static dvx_value weights_along(dvx_vm *vm, dvx_value weights, const nd_array *w, const nd_array *a,
                               int axis) {
    nd_array *view;
    dvx_axis axes[ND_MOST];
    for (int i = 0; i < a->ndim; i++) axes[i] = i == axis ? w->axes[0] : (dvx_axis){1, 0};
    return array_view(vm, weights, w, w->data, a->ndim, axes, &view);
}

static dvx_value read_weights(dvx_vm *vm, dvx_value v, dvx_value axis, const nd_array *a) {
    nd_array *w;
    int along;
    dvx_value weights = array_operand(vm, v, NULL, &w);
    if (dvx_failed(weights) || array_same_shape(w, a)) return weights;
    bool good = false;
    if (!nd_is_given(vm, axis))
        nd_fail(vm, DVX_TYPE_ERROR, "Axis must be specified when shapes of a and weights differ.");
    else if (w->ndim != 1)
        nd_fail(vm, DVX_TYPE_ERROR, "1D weights expected when shapes of a and weights differ.");
    else if (nd_axis_of(vm, axis, a->ndim, &along))
        good =
            w->size == a->axes[along].count ||
            nd_fail(vm, DVX_VALUE_ERROR, "Length of weights not compatible with specified axis.");
    return compose_first(vm, good ? weights_along(vm, weights, w, a, along) : DVX_FAILED, weights);
}

static bool any_zero(dvx_vm *vm, dvx_value v) {
    nd_array *a;
    bool zero = false;
    dvx_value held = array_row(vm, v, ND_DTYPE(ND_COMPLEX128), &a);
    if (dvx_failed(held)) return true;
    for (int64_t i = 0; i < a->size; i++) {
        const nd_complex x = ((const nd_complex *)(const void *)a->data)[i];
        zero |= x.real == 0 && x.imag == 0;
    }
    vm->api->release(vm, held);
    if (zero) {
        dvx_value class_ = vm->api->builtin(vm, "ZeroDivisionError");
        if (!dvx_failed(class_))
            vm->api->raise_format(vm, class_, "Weights sum to zero, can't be normalized");
        vm->api->release(vm, class_);
    }
    return zero;
}

/* The sum along an axis, or of all elements, computed in a dtype. */
static dvx_value sum_of(dvx_vm *vm, dvx_value v, dvx_value axis, const nd_dtype *dtype, bool keep) {
    v = compose_array(vm, v, dtype);
    return compose_along(vm, ND_UFUNC_add, v, axis, keep);
}

/* The weights' sum becomes as large as the average, which returned= gives back. */
static dvx_value with_sum(dvx_vm *vm, dvx_value average, dvx_value sum) {
    nd_array *a, *s;
    dvx_value held[2] = {array_operand(vm, average, NULL, &a), DVX_FAILED}, made = DVX_FAILED;
    if (!dvx_failed(held[0])) held[1] = array_operand(vm, sum, NULL, &s);
    if (!dvx_failed(held[1])) made = array_copy(vm, a, a->dtype, 'C');
    if (!dvx_failed(made)) array_spread(array_of(vm, made), s);
    vm->api->release(vm, held[0]);
    vm->api->release(vm, held[1]);
    vm->api->release(vm, sum);
    if (dvx_failed(made)) return compose_first(vm, made, average);
    return compose_pair(vm, average, array_result(vm, made));
}

/* a, axis, weights, returned, keepdims */
static dvx_value average(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    const int returned = nd_flag(vm, args[3], false);
    const int keep = returned < 0 ? -1 : nd_flag(vm, args[4], false);
    (void)count;
    if (keep < 0) return DVX_FAILED;
    const dvx_value axis = dvx_failed(args[1]) ? nd_none(vm) : args[1];
    dvx_value held = array_operand(vm, args[0], NULL, &a), made = DVX_FAILED, sum = DVX_FAILED;
    if (dvx_failed(held)) return held;
    if (!nd_is_given(vm, args[2])) {
        made = reductions_mean(vm, held, axis, keep);
        nd_array *m;
        dvx_value mean = dvx_failed(made) ? made : array_operand(vm, made, NULL, &m);
        if (returned && !dvx_failed(mean))
            sum = vm->api->make_float(vm, m->size ? (double)a->size / (double)m->size : NAN);
        vm->api->release(vm, mean);
    } else {
        dvx_value weights = read_weights(vm, args[2], axis, a);
        if (!dvx_failed(weights)) {
            const nd_dtype *dtype = dtype_promote(a->dtype, array_of(vm, weights)->dtype);
            if (dtype_is_integer(a->dtype)) dtype = dtype_promote(dtype, ND_DTYPE(ND_FLOAT64));
            sum = sum_of(vm, vm->api->retain(vm, weights), axis, dtype, keep);
            if (!dvx_failed(sum) && !any_zero(vm, sum)) {
                dvx_value cast = compose_array(vm, vm->api->retain(vm, held), dtype);
                made = compose_with(vm, ND_UFUNC_multiply, cast, weights);
                made = sum_of(vm, made, axis, dtype, keep);
                made = compose_with(vm, ND_UFUNC_divide, made, sum);
            }
        }
        vm->api->release(vm, weights);
    }
    vm->api->release(vm, held);
    if (returned && !dvx_failed(made)) return with_sum(vm, made, sum);
    vm->api->release(vm, sum);
    return made;
}

/* ---- cov, corrcoef ---- */

/* Variables as rows of a new matrix of this dtype. */
static dvx_value read_variables(dvx_vm *vm, dvx_value v, const nd_dtype *dtype, bool by_row) {
    nd_array *a;
    dvx_value held = array_operand(vm, v, dtype, &a);
    if (dvx_failed(held)) return held;
    if (a->ndim > 2) {
        nd_fail(vm, DVX_VALUE_ERROR, "m has more than 2 dimensions");
        return compose_first(vm, DVX_FAILED, held);
    }
    held = compose_first(vm, shape_at_least(vm, held, 2), held);
    if (dvx_failed(held)) return held;
    if (!by_row && array_of(vm, held)->axes[0].count != 1) held = compose_turned(vm, held);
    if (dvx_failed(held)) return held;
    return compose_first(vm, array_copy(vm, array_of(vm, held), dtype, 'K'), held);
}

static dvx_value both_variables(dvx_vm *vm, dvx_value m, dvx_value y, bool by_row) {
    nd_array *a, *b = NULL;
    dvx_value held[2] = {array_operand(vm, m, NULL, &a), DVX_FAILED}, made = DVX_FAILED;
    if (dvx_failed(held[0])) return DVX_FAILED;
    const bool second = nd_is_given(vm, y);
    if (second) held[1] = array_operand(vm, y, NULL, &b);
    if (!second || !dvx_failed(held[1])) {
        const nd_dtype *dtype = dtype_promote(a->dtype, ND_DTYPE(ND_FLOAT64));
        if (second) dtype = dtype_promote(dtype, b->dtype);
        dvx_value rows[2] = {read_variables(vm, held[0], dtype, by_row), DVX_FAILED};
        if (!second || dvx_failed(rows[0])) {
            made = rows[0];
        } else {
            rows[1] = read_variables(vm, held[1], dtype, by_row);
            if (!dvx_failed(rows[1])) made = join_arrays(vm, rows, 2, 0, dtype);
            vm->api->release(vm, rows[0]);
            vm->api->release(vm, rows[1]);
        }
    }
    vm->api->release(vm, held[0]);
    vm->api->release(vm, held[1]);
    return made;
}

/* Axes of one element go. */
static dvx_value squeezed(dvx_vm *vm, dvx_value v) {
    if (dvx_failed(v)) return v;
    v = compose_first(vm, vm->api->call_method(vm, v, "squeeze", NULL, 0), v);
    return dvx_failed(v) || !array_of(vm, v) ? v : array_result(vm, v);
}

static dvx_value covariance(dvx_vm *vm, dvx_value m, dvx_value y, bool by_row, double ddof) {
    nd_array *empty;
    dvx_value x = both_variables(vm, m, y, by_row);
    if (dvx_failed(x)) return x;
    const nd_array *a = array_of(vm, x);
    const int64_t none[2] = {0, 0};
    if (!a->axes[0].count) return compose_first(vm, array_new(vm, a->dtype, 2, none, &empty), x);
    const bool is_complex = a->dtype->kind == 'c';
    double factor = (double)a->axes[1].count - ddof;
    dvx_value last = vm->api->make_int(vm, 1), mean = reductions_mean(vm, x, last, true);
    if (!dvx_failed(mean) && factor <= 0) {
        factor = 0;
        if (!error_warn(vm, "Degrees of freedom <= 0 for slice"))
            mean = compose_first(vm, DVX_FAILED, mean);
    }
    x = compose_binary(vm, ND_UFUNC_subtract, x, mean);
    /* (A view, so that the product is seen to be symmetric.) */
    dvx_value other = dvx_failed(x) ? x : compose_turned(vm, vm->api->retain(vm, x));
    if (is_complex) other = compose_unary(vm, ND_UFUNC_conjugate, other);
    dvx_value made = dvx_failed(other) ? other : matmul_values(vm, x, other, DVX_FAILED);
    vm->api->release(vm, x);
    vm->api->release(vm, other);
    dvx_value scale = dvx_failed(made) ? DVX_FAILED : vm->api->make_float(vm, factor);
    const dvx_value operands[2] = {vm->api->make_int(vm, 1), scale};
    if (!dvx_failed(made))
        scale =
            compose_first(vm, ufunc_call(vm, ND_UFUNC_divide, operands, DVX_FAILED, NULL), scale);
    made = compose_binary(vm, ND_UFUNC_multiply, made, scale);
    return squeezed(vm, made);
}

/* m, y, rowvar, bias, ddof */
static dvx_value cov(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const int by_row = nd_flag(vm, args[2], true);
    const int bias = by_row < 0 ? -1 : nd_flag(vm, args[3], false);
    double ddof = bias ? 0 : 1;
    (void)count;
    if (bias < 0) return DVX_FAILED;
    if (nd_is_given(vm, args[4])) {
        if (!vm->api->read_float(vm, args[4], &ddof)) return DVX_FAILED;
        if (ddof != floor(ddof)) return vm->api->raise(vm, DVX_VALUE_ERROR, "ddof must be integer");
    }
    return covariance(vm, args[0], args[1], by_row, ddof);
}

/* Real and imaginary parts within -1 and 1, in place. */
static void keep_within_one(nd_array *c) {
    const int64_t parts = c->size * (c->dtype->kind == 'c' ? 2 : 1);
    double *x = (double *)(void *)c->data;
    for (int64_t i = 0; i < parts; i++) x[i] = x[i] > 1 ? 1 : x[i] < -1 ? -1 : x[i];
}

/* x, y, rowvar */
static dvx_value corrcoef(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const int by_row = nd_flag(vm, args[2], true);
    (void)count;
    if (by_row < 0) return DVX_FAILED;
    dvx_value c = covariance(vm, args[0], args[1], by_row, 1);
    if (dvx_failed(c)) return c;
    const nd_array *a = array_of(vm, c);
    if (!a || a->ndim != 2) { /* of one variable: a number */
        const dvx_value twice[2] = {c, c};
        return compose_first(vm, ufunc_call(vm, ND_UFUNC_divide, twice, DVX_FAILED, NULL), c);
    }
    nd_array *view, *wide;
    const dvx_axis diagonal = {a->axes[0].count, a->axes[0].stride + a->axes[1].stride};
    dvx_value deviation = array_view(vm, c, a, a->data, 1, &diagonal, &view);
    deviation = compose_unary(vm, ND_UFUNC_sqrt, compose_attribute(vm, deviation, "real"));
    if (dvx_failed(deviation)) return compose_first(vm, DVX_FAILED, c);
    const nd_array *d = array_of(vm, deviation);
    const dvx_axis column[2] = {d->axes[0], {1, 0}};
    dvx_value other = array_view(vm, deviation, d, d->data, 2, column, &wide);
    c = compose_binary(vm, ND_UFUNC_divide, c, other);
    c = compose_binary(vm, ND_UFUNC_divide, c, deviation);
    if (!dvx_failed(c)) keep_within_one(array_of(vm, c));
    return c;
}

/* ---- Tables ---- */

ND_PARAMETERS(median_parameters, 1, "a", "axis", "out", "overwrite_input", "keepdims");
ND_PARAMETERS(quantile_parameters, 2, "a", "q", "axis", "out", "overwrite_input", "method",
              "keepdims");
ND_PARAMETERS(average_parameters, 1, "a", "axis", "weights", "returned", "keepdims");
ND_PARAMETERS(cov_parameters, 1, "m", "y", "rowvar", "bias", "ddof");
ND_PARAMETERS(corrcoef_parameters, 1, "x", "y", "rowvar");

static const dvx_function functions[] = {
    ND_NAMED("median", median, median_parameters),
    ND_NAMED("percentile", percentile, quantile_parameters),
    ND_NAMED("quantile", quantile, quantile_parameters),
    ND_NAMED("average", average, average_parameters),
    ND_NAMED("cov", cov, cov_parameters),
    ND_NAMED("corrcoef", corrcoef, corrcoef_parameters),
};

bool statistics_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
