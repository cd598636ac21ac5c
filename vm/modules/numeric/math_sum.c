/* math_sum.c: sums and products over many numbers: fsum, prod, hypot, dist. */
#include <math.h>
#include <string.h>

#include "core/upcall.h"
#include "core/work.h"
#include "modules/numeric/math_parts.h"
#include "types/callable/arguments.h"
#include "types/number/float.h"
#include "types/number/int.h"
#include "types/sequence/iterator.h"
#include "types/sequence/sequence.h"
#include "types/sequence/tuple.h"

/* ---- fsum: Shewchuk's exact summation ---------------------------------------------------------*/

/* Doubles that do not overlap, by growing magnitude; their sum is exact. */
typedef struct partials {
    double *data;
    int64_t count, capacity;
    double special, infinite; /* sums of the items that are not finite, and of the infinite ones */
    double few[32];
} partials;

static bool partials_push(dv_vm *vm, partials *p, double x) {
    if (p->count == p->capacity) {
        size_t old = (size_t)p->capacity * sizeof(double);
        bool first = p->data == p->few;
        double *data = dv_heap_resize(&vm->heap, first ? NULL : p->data, first ? 0 : old, 2 * old);
        if (!data) {
            dv_raise_memory(vm);
            return false;
        }
        if (first) memcpy(data, p->few, old);
        p->data = data;
        p->capacity *= 2;
    }
    p->data[p->count++] = x;
    return true;
}

static bool partials_add(dv_vm *vm, partials *p, double item) {
    double x = item;
    int64_t kept = 0;
    for (int64_t j = 0; j < p->count; j++) {
        double y = p->data[j];
        if (fabs(x) < fabs(y)) {
            double t = x;
            x = y;
            y = t;
        }
        double high = x + y, low = y - (high - x);
        if (low != 0.0) p->data[kept++] = low;
        x = high;
    }
    p->count = kept;
    if (x == 0.0) return true;
    if (isfinite(x)) return partials_push(vm, p, x);
    if (isfinite(item)) {
        dv_raise(vm, DV_E_OVERFLOW_ERROR, "intermediate overflow in fsum");
        return false;
    }
    if (isinf(item)) p->infinite += item;
    p->special += item;
    p->count = 0;
    return true;
}

/* The sum of the partials, rounded once, half to even. */
static double partials_sum(const partials *p) {
    int64_t n = p->count;
    if (n == 0) return 0.0;
    double high = p->data[--n], low = 0.0;
    while (n > 0 && low == 0.0) {
        double x = high, y = p->data[--n];
        high = x + y;
        low = y - (high - x);
    }
    if (n > 0 && low != 0.0 && (low < 0.0) == (p->data[n - 1] < 0.0)) {
        double y = low * 2.0, x = high + y;
        if (y == x - high) high = x;
    }
    return high;
}

static dv_value finish_fsum(dv_vm *vm, const partials *p) {
    if (p->special == 0.0) return dv_float(partials_sum(p));
    if (isnan(p->infinite)) return dv_raise(vm, DV_E_VALUE_ERROR, "-inf + inf in fsum");
    return dv_float(p->special);
}

static dv_value fsum(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value iterator = dv_iterate(vm, args[0]), item;
    if (dv_is_empty(iterator)) return iterator;
    partials p = {.count = 0, .capacity = 32};
    p.data = p.few;
    bool ok = true;
    while (ok && !dv_is_empty(item = dv_step(vm, iterator))) {
        double x;
        ok = dv_as_double(vm, item, &x) && partials_add(vm, &p, x);
        dv_release(vm, item);
    }
    dv_release(vm, iterator);
    dv_value r = DV_EMPTY;
    if (ok && dv_is_empty(vm->error)) r = finish_fsum(vm, &p);
    if (p.data != p.few) dv_heap_free(&vm->heap, p.data, (size_t)p.capacity * sizeof(double));
    return r;
}

/* ---- prod -------------------------------------------------------------------------------------*/

static dv_value prod(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"", "start"};
    static const dv_parameters parameters = {"prod", names, 2, 1, 1};
    dv_value given[2], item;
    if (count == 0 || (!dv_is_empty(keywords) && dv_as_tuple(keywords)->count == count))
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "prod() takes exactly 1 positional argument (0 given)");
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, given)) return DV_EMPTY;
    dv_value iterator = dv_iterate(vm, given[0]);
    if (dv_is_empty(iterator)) return iterator;
    dv_value r = dv_is_empty(given[1]) ? dv_int(1) : dv_retain(given[1]);
    while (!dv_is_empty(r) && !dv_is_empty(item = dv_step(vm, iterator))) {
        dv_value product = dv_work(vm, 2) ? dv_binary(vm, DV_BINARY_MUL, r, item) : DV_EMPTY;
        dv_release(vm, item);
        dv_release(vm, r);
        r = product;
    }
    dv_release(vm, iterator);
    if (dv_is_empty(vm->error)) return r;
    dv_release(vm, r);
    return DV_EMPTY;
}

/* ---- hypot and dist: CPython's accurate norm --------------------------------------------------*/

typedef struct double_length {
    double high, low;
} double_length;

/* a + b without loss, |a| >= |b|. */
static double_length sum_exact(double a, double b) {
    double x = a + b;
    return (double_length){x, (a - x) + b};
}

static double_length halves(double x) {
    double t = x * 134217729.0; /* 2^27 + 1 */
    double high = t - (t - x);
    return (double_length){high, x - high};
}

/* The product of two numbers with these halves, without loss (Dekker).  Rounds as CPython does: the
 * high part is not always what the processor makes of the product. */
static inline double_length product_exact(double_length a, double_length b) {
    double p = a.high * b.high;
    double q = a.high * b.low + a.low * b.high;
    double z = p + q;
    return (double_length){z, p - z + q + a.low * b.low};
}

/* The norm of the scaled vector. */
static double norm_scaled(const double *vector, int64_t count, double scale) {
    double sum = 1.0, lost_products = 0.0, lost_sums = 0.0;
    for (int64_t i = 0; i < count; i++) {
        double_length x = halves(vector[i] * scale), square = product_exact(x, x);
        double_length s = sum_exact(sum, square.high);
        sum = s.high;
        lost_products += square.low;
        lost_sums += s.low;
    }
    double h = sqrt(sum - 1.0 + (lost_products + lost_sums));
    double_length x = halves(h);
    double_length square = product_exact((double_length){-x.high, -x.low}, x);
    double_length s = sum_exact(sum, square.high);
    lost_products += square.low;
    lost_sums += s.low;
    double rest = s.high - 1.0 + (lost_products + lost_sums);
    return h + rest / (2.0 * h);
}

static double norm_tiny(const double *vector, int64_t count, double max) {
    double sum = 1.0, lost = 0.0;
    for (int64_t i = 0; i < count; i++) {
        double x = vector[i] / max;
        double_length s = sum_exact(sum, x * x);
        sum = s.high;
        lost += s.low;
    }
    return max * sqrt(sum - 1.0 + lost);
}

/* 2^exponent, which is a normal number. */
static double power_of_two(int exponent) {
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* The length of a vector of magnitudes. */
static double norm(const double *vector, int64_t count) {
    double max = 0.0;
    bool has_nan = false;
    for (int64_t i = 0; i < count; i++) {
        has_nan |= isnan(vector[i]);
        if (vector[i] > max) max = vector[i];
    }
    if (isinf(max)) return max;
    if (has_nan) return NAN;
    if (max == 0.0 || count <= 1) return max;
    int exponent;
    frexp(max, &exponent);
    /* 2^-exponent would overflow */
    if (exponent < -1023) return norm_tiny(vector, count, max);
    /* Scaling is exact, and so as well done by products as by calls and quotients. */
    if (exponent > -1022 && exponent < 1022)
        return norm_scaled(vector, count, power_of_two(-exponent)) * power_of_two(exponent);
    return ldexp(norm_scaled(vector, count, ldexp(1.0, -exponent)), exponent);
}

/* dv_as_double; mostly it is one. */
static inline bool as_double(dv_vm *vm, dv_value v, double *out) {
    if (DV_UNLIKELY(!dv_is_float(v))) return dv_as_double(vm, v, out);
    *out = dv_as_float(v);
    return true;
}

/* Magnitudes of the values, or of their differences where `others` is given. */
static dv_value norm_of(dv_vm *vm, const dv_value *values, const dv_value *others, int64_t count) {
    double few[8], *vector = few;
    size_t size = (size_t)count * sizeof(double);
    if (count > 8) vector = dv_heap_alloc(&vm->heap, size);
    if (!vector) return dv_raise_memory(vm);
    bool ok = true;
    for (int64_t i = 0; i < count && ok; i++) {
        double x, y = 0.0;
        ok = as_double(vm, values[i], &x) && (!others || as_double(vm, others[i], &y));
        if (ok) vector[i] = fabs(x - y);
    }
    dv_value r = ok ? dv_float(norm(vector, count)) : DV_EMPTY;
    if (vector != few) dv_heap_free(&vm->heap, vector, size);
    return r;
}

static dv_value hypot_entry(dv_vm *vm, const dv_value *args, uint32_t count) {
    return norm_of(vm, args, NULL, count);
}

static dv_value dist(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_items p, q;
    dv_value r = DV_EMPTY;
    if (!dv_items_collect(vm, args[0], &p)) return DV_EMPTY;
    if (dv_items_collect(vm, args[1], &q)) {
        if (p.count == q.count)
            r = norm_of(vm, p.data, q.data, p.count);
        else
            dv_raise(vm, DV_E_VALUE_ERROR, "both points must have the same number of dimensions");
        dv_items_discard(vm, &q);
    }
    dv_items_discard(vm, &p);
    return r;
}

const dv_cfunction_def dv_math_sum_functions[] = {
    {.name = "dist", .entry = dist, .min = 2, .max = 2},
    {.name = "fsum", .entry = fsum, .min = 1, .max = 1},
    {.name = "hypot", .entry = hypot_entry, .min = 0, .max = UINT32_MAX},
    {.name = "prod", .keyword_entry = prod, .min = 0, .max = UINT32_MAX},
    {.name = NULL},
};
