/* histogram.c: histogram, bincount, interp, and steps through a row: what looks numbers
 * up among others (statistics.h). */
#include <math.h>

#include "array/compose.h"
#include "array/convert.h"
#include "array/methods.h"
#include "sort/order.h"
#include "functions/statistics.h"
#include "ufunc/ufunc.h"

static double *doubles(const nd_array *a) { return (double *)(void *)a->data; }

/* The elements in a row, as float64. */
static dvx_value read_doubles(dvx_vm *vm, dvx_value v, nd_array **out) {
    return array_row(vm, v, ND_DTYPE(ND_FLOAT64), out);
}

static dvx_value new_doubles(dvx_vm *vm, int64_t count, nd_array **out) {
    return array_new(vm, ND_DTYPE(ND_FLOAT64), 1, &count, out);
}

/* The number of edges that are not behind x (right), or before it. */
static int64_t place_of(const double *edges, int64_t count, double x, bool right) {
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const double e = edges[middle];
        const bool before =
            right ? !(x < e || (isnan(e) && !isnan(x))) : e < x || (isnan(x) && !isnan(e));
        if (before)
            low = middle + 1;
        else
            high = middle;
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

typedef struct bins {
    dvx_value held;
    nd_array *edges;
    int64_t count;
    bool uniform;
    double first, last;
} bins;

/* Both limits as they were given, in a list. */
static dvx_value ends_of(dvx_vm *vm, dvx_value range) {
    dvx_value items[2] = {DVX_FAILED, DVX_FAILED}, made = DVX_FAILED;
    items[0] = vm->api->get_item(vm, range, vm->api->make_int(vm, 0));
    if (!dvx_failed(items[0])) items[1] = vm->api->get_item(vm, range, vm->api->make_int(vm, 1));
    if (!dvx_failed(items[1])) made = vm->api->make_list(vm, items, 2);
    vm->api->release(vm, items[0]);
    vm->api->release(vm, items[1]);
    return made;
}

/* The limits of the range: given, or those of the elements. */
static bool read_range(dvx_vm *vm, dvx_value range, const nd_array *a, bins *b) {
    b->first = 0;
    b->last = 1;
    const bool given = nd_is_given(vm, range);
    if (given) {
        double *const ends[2] = {&b->first, &b->last};
        for (int i = 0; i < 2; i++) {
            dvx_value index = vm->api->make_int(vm, i), item = vm->api->get_item(vm, range, index);
            const bool good = !dvx_failed(item) && vm->api->read_float(vm, item, ends[i]);
            vm->api->release(vm, item);
            if (!good) return false;
        }
        if (b->first > b->last)
            return nd_fail(vm, DVX_VALUE_ERROR, "max must be larger than min in range parameter.");
    } else if (a->size) {
        b->first = b->last = doubles(a)[0];
        for (int64_t i = 0; i < a->size; i++) {
            const double x = doubles(a)[i];
            if (x < b->first || isnan(x)) b->first = x;
            if (x > b->last || isnan(x)) b->last = x;
            if (isnan(x)) break;
        }
    }
    if (!isfinite(b->first) || !isfinite(b->last)) {
        const dvx_value ends[2] = {vm->api->make_float(vm, b->first),
                                   vm->api->make_float(vm, b->last)};
        dvx_value pair = given ? ends_of(vm, range) : vm->api->make_list(vm, ends, 2),
                  text = DVX_FAILED;
        char shown[120] = "";
        size_t size;
        if (!dvx_failed(pair)) text = vm->api->repr(vm, pair);
        if (!dvx_failed(text) && vm->api->read_str(vm, text, shown, sizeof shown, &size))
            nd_fail(vm, DVX_VALUE_ERROR, "%s range of %s is not finite",
                    given ? "supplied" : "autodetected", shown);
        vm->api->release(vm, text);
        vm->api->release(vm, pair);
        return false;
    }
    if (b->first == b->last) b->first -= 0.5, b->last += 0.5;
    return true;
}

static bool read_bins(dvx_vm *vm, dvx_value v, dvx_value range, const nd_array *a, bins *b) {
    int64_t count = 10;
    *b = (bins){.held = DVX_FAILED};
    if (dvx_failed(v) || vm->api->kind(vm, v) == DVX_INT) {
        if (!dvx_failed(v) && !vm->api->read_index(vm, v, &count)) return false;
        if (count < 1)
            return nd_fail(vm, DVX_VALUE_ERROR, "`bins` must be positive, when an integer");
        if (!read_range(vm, range, a, b)) return false;
        b->uniform = true;
        b->count = count;
        int64_t edges;
        if (!array_larger(vm, count, 1, &edges)) return false;
        b->held = new_doubles(vm, edges, &b->edges);
        if (dvx_failed(b->held)) return false;
        const double step = (b->last - b->first) / (double)count;
        for (int64_t i = 0; i < count; i++) doubles(b->edges)[i] = (double)i * step + b->first;
        doubles(b->edges)[count] = b->last;
        return true;
    }
    b->held = read_doubles(vm, v, &b->edges);
    if (dvx_failed(b->held)) return false;
    bool good =
        b->edges->ndim == 1 || nd_fail(vm, DVX_VALUE_ERROR, "`bins` must be 1d, when an array");
    for (int64_t i = 1; good && i < b->edges->size; i++)
        if (doubles(b->edges)[i - 1] > doubles(b->edges)[i])
            good =
                nd_fail(vm, DVX_VALUE_ERROR, "`bins` must increase monotonically, when an array");
    b->count = b->edges->size ? b->edges->size - 1 : 0;
    if (!good) b->held = compose_first(vm, DVX_FAILED, b->held);
    return good;
}

/* The bin of x, or -1.  The last one has its right edge, too. */
static int64_t bin_of(const bins *b, double x, double scale) {
    const double *edges = doubles(b->edges);
    if (!b->uniform) {
        if (!b->count || !(x >= edges[0] && x <= edges[b->count])) return -1;
        if (x == edges[b->count]) return b->count - 1;
        return place_of(edges, b->edges->size, x, true) - 1;
    }
    if (!(x >= b->first && x <= b->last)) return -1;
    int64_t i = (int64_t)((x - b->first) * scale);
    if (i == b->count) i--;
    if (x < edges[i]) i--;
    if (x >= edges[i + 1] && i != b->count - 1) i++;
    return i;
}

/* Counts, or sums of weights, for each bin. */
static dvx_value count_bins(dvx_vm *vm, const bins *b, const nd_array *a, const nd_array *weights) {
    nd_array *out;
    dvx_value made = array_new(vm, ND_DTYPE(weights ? ND_FLOAT64 : ND_INT64), 1, &b->count, &out);
    if (dvx_failed(made)) return made;
    const double scale = (double)b->count / (b->last - b->first);
    memset(out->data, 0, (size_t)b->count * 8);
    for (int64_t i = 0; i < a->size; i++) {
        const int64_t bin = bin_of(b, doubles(a)[i], scale);
        if (i % ND_POLL == ND_POLL - 1 && !nd_work(vm, (b->uniform ? 10 : 30) * ND_POLL))
            return compose_first(vm, DVX_FAILED, made);
        if (bin < 0) continue;
        if (weights)
            doubles(out)[bin] += doubles(weights)[i];
        else
            ((int64_t *)(void *)out->data)[bin]++;
    }
    return made;
}

/* Parts of the whole by the widths of their bins. */
static dvx_value densities(dvx_vm *vm, dvx_value counts, const bins *b) {
    nd_array *widths;
    dvx_value sum =
        compose_reduce(vm, ND_UFUNC_add, vm->api->retain(vm, counts), COMPOSE_ALL, false);
    dvx_value held = dvx_failed(sum) ? DVX_FAILED : new_doubles(vm, b->count, &widths);
    if (dvx_failed(held)) return compose_first(vm, DVX_FAILED, compose_first(vm, counts, sum));
    for (int64_t i = 0; i < b->count; i++)
        doubles(widths)[i] = doubles(b->edges)[i + 1] - doubles(b->edges)[i];
    return compose_binary(vm, ND_UFUNC_divide, compose_binary(vm, ND_UFUNC_divide, counts, held),
                          sum);
}

ND_PARAMETERS(histogram_parameters, 1, "a", "bins", "range", "density", "weights");
static dvx_value histogram(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a, *w = NULL;
    bins b = {.held = DVX_FAILED};
    const int density = nd_is_given(vm, args[3]) ? vm->api->truth(vm, args[3]) : 0;
    (void)count;
    if (density < 0) return DVX_FAILED;
    if (is_complex(vm, args[0]) || (nd_is_given(vm, args[4]) && is_complex(vm, args[4])))
        return nd_wider(vm, "histogram", &histogram_parameters, args);
    dvx_value held[2] = {read_doubles(vm, args[0], &a), DVX_FAILED}, made = DVX_FAILED;
    bool good = !dvx_failed(held[0]);
    if (good && nd_is_given(vm, args[4])) {
        held[1] = read_doubles(vm, args[4], &w);
        good = !dvx_failed(held[1]);
        if (good && !array_same_shape(a, w))
            good = nd_fail(vm, DVX_VALUE_ERROR, "weights should have the same shape as a.");
    }
    if (good && read_bins(vm, args[1], args[2], a, &b)) {
        made = count_bins(vm, &b, a, w);
        if (density && !dvx_failed(made)) made = densities(vm, made, &b);
        if (!dvx_failed(made) && !b.uniform) /* the edges as they were given */
            b.held = compose_first(vm, array_from(vm, args[1], NULL), b.held);
        made = dvx_failed(made) ? compose_first(vm, made, b.held) : compose_pair(vm, made, b.held);
    }
    vm->api->release(vm, held[0]);
    vm->api->release(vm, held[1]);
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
    ND_NAMED("histogram", histogram, histogram_parameters),
    ND_NAMED("bincount", bincount, bincount_parameters),
    ND_NAMED("interp", interp, interp_parameters),
};

bool histogram_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
