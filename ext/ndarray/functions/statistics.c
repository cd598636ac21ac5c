/* statistics.c: median, percentile, quantile (statistics.h). */
#include "functions/statistics.h"

#include <fenv.h>
#include <math.h>

#include "array/compose.h"
#include "ufunc/error.h"
#include "loops/half.h"
#include "loops/cast.h"
#include "array/methods.h"
#include "sort/order.h"
#include "ufunc/reduce.h"
#include "array/shape.h"

static double number_at(const nd_array *a, int64_t i) {
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
            x = number_at(l.a, middle);
            if (l.length % 2 == 0) x = (number_at(l.a, middle - 1) + x) / 2;
            const double last = number_at(l.a, first + l.length - 1);
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
    const double x = number_at(a, from), y = number_at(a, to);
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
            const bool nan = floats && isnan(number_at(l->a, last));
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

/* ---- Tables ---- */

ND_PARAMETERS(median_parameters, 1, "a", "axis", "out", "overwrite_input", "keepdims");
ND_PARAMETERS(quantile_parameters, 2, "a", "q", "axis", "out", "overwrite_input", "method",
              "keepdims");
static const dvx_function functions[] = {
    ND_NAMED("median", median, median_parameters),
    ND_NAMED("percentile", percentile, quantile_parameters),
    ND_NAMED("quantile", quantile, quantile_parameters),
};

bool statistics_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
