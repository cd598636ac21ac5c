/* histogram.c: counts of bins, bincount, interp: what looks numbers up among others. */
#include <math.h>

#include "array/compose.h"
#include "array/convert.h"
#include "array/methods.h"

static double *doubles(const nd_array *a) { return (double *)(void *)a->data; }

/* The elements in a row, as float64. */
static dvx_value read_doubles(dvx_vm *vm, dvx_value v, nd_array **out) {
    return array_row(vm, v, ND_DTYPE(ND_FLOAT64), out);
}

/* The number of edges that are not behind x. */
static int64_t place_of(const double *edges, int64_t count, double x) {
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (x < edges[middle] || (isnan(edges[middle]) && !isnan(x)))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* An array of complex numbers, or a sequence of some: others are left to dl. */
static bool is_complex(dvx_vm *vm, dvx_value v) {
    nd_array *a = array_of(vm, v);
    if (a) return a->dtype->kind == 'c';
    if (convert_kind(vm, v)) return vm->api->kind(vm, v) == DVX_COMPLEX;
    dvx_value held = array_operand(vm, v, NULL, &a);
    const bool is = !dvx_failed(held) && a->dtype->kind == 'c';
    if (dvx_failed(held)) vm->api->clear_error(vm);
    vm->api->release(vm, held);
    return is;
}

/* ---- histogram ---- */

/* The bin of x, or -1.  The last one has its right edge, too. */
static int64_t bin_of(const double *edges, int64_t count, bool uniform, double x, double scale) {
    if (!(x >= edges[0] && x <= edges[count])) return -1;
    if (!uniform) return x == edges[count] ? count - 1 : place_of(edges, count + 1, x) - 1;
    const double at = (x - edges[0]) * scale;
    if (!(at >= 0 && at < (double)count + 1)) return -1; /* (edges that no histogram has) */
    int64_t i = (int64_t)at;
    if (i == count) i--;
    if (x < edges[i]) i--;
    if (x >= edges[i + 1] && i != count - 1) i++;
    return i;
}

/* _count_bins(a, edges, uniform, weights): counts, or sums of weights, for each bin. */
static dvx_value count_bins(dvx_vm *vm, const dvx_value *args, uint32_t n) {
    nd_array *a = NULL, *e = NULL, *w = NULL, *out = NULL;
    const bool weighted = nd_is_given(vm, args[3]);
    const int uniform = vm->api->truth(vm, args[2]);
    (void)n;
    dvx_value held[3] = {DVX_FAILED, DVX_FAILED, DVX_FAILED}, made = DVX_FAILED;
    if (uniform >= 0) held[0] = read_doubles(vm, args[0], &a);
    if (!dvx_failed(held[0])) held[1] = read_doubles(vm, args[1], &e);
    if (!dvx_failed(held[1]) && weighted) held[2] = read_doubles(vm, args[3], &w);
    if (!dvx_failed(held[2]) && w->size != a->size) {
        nd_fail(vm, DVX_VALUE_ERROR, "weights should have the same shape as a.");
    } else if (!dvx_failed(held[weighted ? 2 : 1])) {
        const int64_t count = e->size ? e->size - 1 : 0;
        const double *edges = doubles(e);
        made = array_new(vm, ND_DTYPE(w ? ND_FLOAT64 : ND_INT64), 1, &count, &out);
        const double scale = count ? (double)count / (edges[count] - edges[0]) : 0;
        if (!dvx_failed(made)) memset(out->data, 0, (size_t)count * 8);
        for (int64_t i = 0; i < a->size && count && !dvx_failed(made); i++) {
            const int64_t bin = bin_of(edges, count, uniform, doubles(a)[i], scale);
            if (i % ND_POLL == ND_POLL - 1 && !nd_work(vm, (uniform ? 10 : 30) * ND_POLL))
                made = compose_first(vm, DVX_FAILED, made);
            else if (bin >= 0 && w)
                doubles(out)[bin] += doubles(w)[i];
            else if (bin >= 0)
                ((int64_t *)(void *)out->data)[bin]++;
        }
    }
    for (int i = 0; i < 3; i++) vm->api->release(vm, held[i]);
    return made;
}

/* ---- bincount ---- */

/* How many there are of each int, or the sum of their weights. */
static dvx_value count_ints(dvx_vm *vm, const nd_array *a, const nd_array *weights, int64_t least) {
    nd_array *out;
    const int64_t *x = (const int64_t *)(const void *)a->data;
    int64_t size = least, low = 0, high = -1;
    for (int64_t i = 0; i < a->size; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    if (low < 0)
        return vm->api->raise(vm, DVX_VALUE_ERROR,
                              "'list' argument must have no negative elements");
    if (high >= size) size = high == INT64_MAX ? high : high + 1;
    dvx_value made = array_new(vm, ND_DTYPE(weights ? ND_FLOAT64 : ND_INT64), 1, &size, &out);
    if (dvx_failed(made)) return made;
    memset(out->data, 0, (size_t)size * 8);
    const double *of = weights ? doubles(weights) : NULL;
    double *sums = doubles(out);
    int64_t *counts = (int64_t *)(void *)out->data;
    const int64_t count = a->size;
    if (of)
        for (int64_t i = 0; i < count; i++) sums[x[i]] += of[i];
    else
        for (int64_t i = 0; i < count; i++) counts[x[i]]++;
    return made;
}

/* x, weights, minlength */
static dvx_value bincount(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a, *w = NULL;
    int64_t least = 0;
    (void)count;
    dvx_value held[2] = {array_operand(vm, args[0], NULL, &a), DVX_FAILED}, made = DVX_FAILED;
    bool good = !dvx_failed(held[0]);
    if (good && nd_is_given(vm, args[2])) good = nd_read_index(vm, args[2], &least);
    if (good && least < 0) good = nd_fail(vm, DVX_VALUE_ERROR, "'minlength' must not be negative");
    if (good && a->ndim != 1)
        good = nd_fail(vm, DVX_VALUE_ERROR,
                       a->ndim ? "object too deep for desired array"
                               : "object of too small depth for desired array");
    if (good && a->size && !dtype_is_safe(a->dtype, ND_DTYPE(ND_INT64)) && array_of(vm, args[0]))
        good = nd_fail(vm, DVX_TYPE_ERROR,
                       "Cannot cast array data from dtype('%s') to dtype('int64') according to "
                       "the rule 'safe'",
                       a->dtype->name);
    if (good) {
        held[0] = compose_first(vm, array_row(vm, held[0], ND_DTYPE(ND_INT64), &a), held[0]);
        good = !dvx_failed(held[0]);
    }
    if (good && nd_is_given(vm, args[1])) {
        held[1] = read_doubles(vm, args[1], &w);
        good = !dvx_failed(held[1]) &&
               (w->size == a->size ||
                nd_fail(vm, DVX_VALUE_ERROR, "The weights and list don't have the same length."));
    }
    if (good) made = count_ints(vm, a, w, least);
    vm->api->release(vm, held[0]);
    vm->api->release(vm, held[1]);
    return made;
}

/* ---- interp ---- */

typedef struct curve {
    const double *x, *y;
    int64_t count;
    double left, right;
    int64_t guess; /* the part between two points where the last number was */
} curve;

/* The part that x is in, by NumPy's search: among points that are nans, too, it is that one. */
static int64_t part_at(const curve *c, double x) {
    int64_t low = 0, high = c->count, few = 1;
    while (c->count <= 4 && few < c->count && x >= c->x[few]) few++;
    if (c->count <= 4) return few - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (x >= c->x[middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

/* NumPy's formula, which looks from the other end where there are infinities. */
static double curve_at(curve *c, double x) {
    if (isnan(x)) return c->count == 1 ? c->y[0] : x; /* as NumPy has it */
    if (x < c->x[0]) return c->left;
    int64_t i = c->guess;
    if (i + 1 >= c->count || !(c->x[i] <= x && x < c->x[i + 1]))
        i = x > c->x[c->count - 1] ? c->count : part_at(c, x);
    if (i < 0) return c->left;
    if (i >= c->count - 1) return x > c->x[c->count - 1] ? c->right : c->y[c->count - 1];
    c->guess = i;
    if (c->x[i] == x) return c->y[i];
    const double slope = (c->y[i + 1] - c->y[i]) / (c->x[i + 1] - c->x[i]);
    double y = slope * (x - c->x[i]) + c->y[i];
    if (isnan(y)) y = slope * (x - c->x[i + 1]) + c->y[i + 1];
    if (isnan(y) && c->y[i] == c->y[i + 1]) y = c->y[i];
    return y;
}

ND_PARAMETERS(interp_parameters, 3, "x", "xp", "fp", "left", "right", "period");
static dvx_value interp(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *parts[3], *out;
    int64_t shape[ND_MOST];
    dvx_value held[3] = {DVX_FAILED, DVX_FAILED, DVX_FAILED}, made = DVX_FAILED;
    bool good = true;
    curve c;
    (void)count;
    if (nd_is_given(vm, args[5]) || is_complex(vm, args[2]))
        return nd_wider(vm, "interp", &interp_parameters, args);
    for (int i = 0; good && i < 3; i++) {
        held[i] = read_doubles(vm, args[i], &parts[i]);
        good = !dvx_failed(held[i]);
        if (good && i && parts[i]->ndim != 1)
            good = nd_fail(vm, DVX_VALUE_ERROR,
                           parts[i]->ndim ? "object too deep for desired array"
                                          : "object of too small depth for desired array");
    }
    if (good && !parts[1]->size)
        good = nd_fail(vm, DVX_VALUE_ERROR, "array of sample points is empty");
    if (good && parts[1]->size != parts[2]->size)
        good = nd_fail(vm, DVX_VALUE_ERROR, "fp and xp are not of the same length.");
    if (good) {
        c = (curve){doubles(parts[1]), doubles(parts[2]), parts[1]->size, 0, 0, 0};
        c.left = c.y[0];
        c.right = c.y[c.count - 1];
        good = (!nd_is_given(vm, args[3]) || vm->api->read_float(vm, args[3], &c.left)) &&
               (!nd_is_given(vm, args[4]) || vm->api->read_float(vm, args[4], &c.right));
    }
    if (good) {
        array_shape(parts[0], shape);
        made = array_new(vm, ND_DTYPE(ND_FLOAT64), parts[0]->ndim, shape, &out);
    }
    nd_blocks b = {.total = dvx_failed(made) ? 0 : out->size};
    bool stopped = false; /* (a search for each element) */
    while (!stopped && nd_next_block(vm, &b)) {
        for (int64_t i = b.at; i < b.at + b.count; i++)
            doubles(out)[i] = curve_at(&c, doubles(parts[0])[i]);
        stopped = !nd_work(vm, 100 * b.count);
    }
    if (b.stopped || stopped) made = compose_first(vm, DVX_FAILED, made);
    for (int i = 0; i < 3; i++) vm->api->release(vm, held[i]);
    return dvx_failed(made) ? made : array_result(vm, made);
}

/* ---- Tables ---- */

ND_PARAMETERS(bincount_parameters, 1, "x", "weights", "minlength");

static const dvx_function functions[] = {
    ND_PLAIN("_count_bins", count_bins, 4, 4),
    ND_NAMED("bincount", bincount, bincount_parameters),
    ND_NAMED("interp", interp, interp_parameters),
};

bool histogram_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
