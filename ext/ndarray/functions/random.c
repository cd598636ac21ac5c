/* random.c: np.random (random.h).
 *
 * Invariants
 *  1. The numbers of a seed are NumPy's, bit for bit.
 *  2. np.random is an object of RandomState: its methods are the functions of NumPy's module. */
#include "functions/random.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "functions/bits.h"
#include "array/convert.h"
#include "array/create.h"
#include "array/methods.h"

extern const dvx_type random_state_type, generator_type;

static nd_mt19937 *mt_of(dvx_vm *vm, dvx_value self) {
    return vm->api->payload(vm, self, &random_state_type);
}
static nd_pcg64 *pcg_of(dvx_vm *vm, dvx_value self) {
    return vm->api->payload(vm, self, &generator_type);
}

/* Bits that nobody can foresee, or at least the time. */
static void surprise(uint32_t words[4]) {
    FILE *source = fopen("/dev/urandom", "rb");
    struct timespec now;
    if (!source || fread(words, sizeof *words, 4, source) != 4) {
        clock_gettime(CLOCK_REALTIME, &now);
        words[0] = (uint32_t)now.tv_nsec;
        words[1] = (uint32_t)now.tv_sec;
        words[2] = words[3] = (uint32_t)clock();
    }
    if (source) fclose(source);
}

/* ---- Filling arrays ---- */

typedef void (*draw)(void *source, double *to, int64_t count);
static double draw_one(draw next, void *source) {
    double x;
    next(source, &x, 1);
    return x;
}

/* One number without a size, else an array of low + scale * numbers. */
static dvx_value fill_floats(dvx_vm *vm, dvx_value size, draw next, void *source, double low,
                             double scale) {
    int ndim;
    int64_t shape[ND_MOST];
    nd_array *a;
    if (!nd_is_given(vm, size))
        return vm->api->make_float(vm, low + scale * draw_one(next, source));
    if (!array_read_shape(vm, size, &ndim, shape)) return DVX_FAILED;
    dvx_value made = array_new(vm, ND_DTYPE(ND_FLOAT64), ndim, shape, &a);
    if (dvx_failed(made)) return made;
    double *to = (double *)(void *)a->data;
    for (int64_t done = 0, n; done < a->size; done += n) {
        n = a->size - done < ND_POLL ? a->size - done : ND_POLL;
        next(source, to + done, n);
        for (int64_t i = done; i < done + n; i++) to[i] = low + scale * to[i];
        if (!nd_work(vm, 6 * n)) {
            vm->api->release(vm, made);
            return DVX_FAILED;
        }
    }
    return made;
}

#define DRAW(name, source_type, one)                            \
    static void name(void *source, double *to, int64_t count) { \
        source_type *from = source;                             \
        for (int64_t i = 0; i < count; i++) to[i] = one;        \
    }
DRAW(mt_double, nd_mt19937, bits_mt_double(from))
DRAW(mt_normal, nd_mt19937, bits_mt_normal(from))
DRAW(mt_exponential, nd_mt19937, -__builtin_log(1.0 - bits_mt_double(from)))
DRAW(pcg_double, nd_pcg64, bits_pcg_double(from))
DRAW(pcg_normal, nd_pcg64, bits_pcg_normal(from))

/* float32 numbers: half as many bits each. */
static dvx_value fill_singles(dvx_vm *vm, dvx_value size, nd_pcg64 *pcg) {
    int ndim;
    int64_t shape[ND_MOST];
    nd_array *a;
    if (!nd_is_given(vm, size)) return vm->api->make_float(vm, (double)bits_pcg_float(pcg));
    if (!array_read_shape(vm, size, &ndim, shape)) return DVX_FAILED;
    dvx_value made = array_new(vm, ND_DTYPE(ND_FLOAT32), ndim, shape, &a);
    if (dvx_failed(made)) return made;
    float *to = (float *)(void *)a->data;
    for (int64_t i = 0; i < a->size; i++) {
        to[i] = bits_pcg_float(pcg);
        if (i % ND_POLL == ND_POLL - 1 && !nd_work(vm, 3 * ND_POLL)) {
            vm->api->release(vm, made);
            return DVX_FAILED;
        }
    }
    return made;
}

/* Where random ints come from. */
typedef struct int_source {
    uint64_t (*interval)(void *state, uint64_t most);
    uint32_t (*word)(void *state);
    bool masked; /* small ints: by leaving out what is too large, not by Lemire's method */
    void *state;
} int_source;
static uint64_t mt_interval(void *state, uint64_t most) { return bits_mt_interval(state, most); }
static uint64_t pcg_interval(void *state, uint64_t most) { return bits_pcg_interval(state, most); }
static uint32_t mt_word(void *state) { return bits_mt_next(state); }
static uint32_t pcg_word(void *state) { return bits_pcg_word(state); }
static int_source of_mt(nd_mt19937 *mt) { return (int_source){mt_interval, mt_word, true, mt}; }
static int_source of_pcg(nd_pcg64 *pcg) { return (int_source){pcg_interval, pcg_word, false, pcg}; }

/* Bools and uint8 use up a word bit by bit, or byte by byte; what is left of one at the end of an
 * array is lost. */
typedef struct word_parts {
    uint32_t word;
    int left;
} word_parts;
static uint8_t next_part(const int_source *from, word_parts *parts, int bits) {
    if (parts->left) {
        parts->word >>= bits;
        parts->left--;
    } else {
        parts->word = from->word(from->state);
        parts->left = 32 / bits - 1;
    }
    return (uint8_t)(parts->word & ((1u << bits) - 1));
}

static uint8_t next_byte(const int_source *from, word_parts *parts, uint8_t most) {
    if (most == UINT8_MAX) return next_part(from, parts, 8);
    if (from->masked) {
        uint8_t mask = most, byte;
        for (int shift = 1; shift < 8; shift *= 2) mask |= (uint8_t)(mask >> shift);
        do byte = next_part(from, parts, 8) & mask;
        while (byte > most);
        return byte;
    }
    const unsigned count = most + 1u, threshold = (UINT8_MAX - most) % count;
    unsigned product;
    do product = next_part(from, parts, 8) * count;
    while ((product & UINT8_MAX) < threshold);
    return (uint8_t)(product >> 8);
}

/* An int that may lie one beyond the largest, as `high` may; *beyond: so does it.  ValueError. */
static bool read_bound(dvx_vm *vm, dvx_value v, const char *name, const nd_dtype *dtype,
                       int64_t *out, bool *beyond) {
    double d;
    uint64_t large;
    *beyond = false;
    if (vm->api->kind(vm, v) == DVX_FLOAT && vm->api->read_float(vm, v, &d) && fabs(d) < 0x1p63) {
        *out = (int64_t)d;
        return true;
    }
    if (vm->api->read_index(vm, v, out)) return true;
    if (vm->api->kind(vm, v) != DVX_INT) return false;
    vm->api->clear_error(vm);
    *beyond = vm->api->read_uint(vm, v, &large) && large == (uint64_t)1 << 63;
    vm->api->clear_error(vm);
    *out = INT64_MAX;
    return *beyond || nd_fail(vm, DVX_VALUE_ERROR, "%s is out of bounds for %s", name, dtype->name);
}

/* low, high, size, dtype: ints from low (0 where high is missing) to below high. */
static dvx_value fill_ints(dvx_vm *vm, const dvx_value *args, bool endpoint, int_source source) {
    static const struct {
        int64_t least, most;
    } limits[] = {[ND_BOOL] = {0, 1},
                  [ND_UINT8] = {0, UINT8_MAX},
                  [ND_INT32] = {INT32_MIN, INT32_MAX},
                  [ND_INT64] = {INT64_MIN, INT64_MAX}};
    int64_t low = 0, high, shape[ND_MOST];
    int ndim = 0;
    word_parts parts = {0, 0};
    const nd_dtype *dtype;
    nd_array *a;
    const bool both = nd_is_given(vm, args[1]);
    bool beyond = false;
    if (!dtype_read_given(vm, args[3], ND_DTYPE(ND_INT64), &dtype)) return DVX_FAILED;
    if (dtype->num > ND_INT64 || dtype->hot == ND_RARE)
        return nd_raise(vm, DVX_TYPE_ERROR, "Unsupported dtype dtype('%s') for %s", dtype->name,
                        source.masked ? "randint" : "integers");
    if ((both && !read_bound(vm, args[0], "low", dtype, &low, &beyond)) || beyond ||
        !read_bound(vm, args[both], "high", dtype, &high, &beyond))
        return beyond ? vm->api->raise(vm, DVX_VALUE_ERROR, "low >= high") : DVX_FAILED;
    if (beyond && (endpoint || dtype->num != ND_INT64))
        return nd_raise(vm, DVX_VALUE_ERROR, "high is out of bounds for %s", dtype->name);
    /* (The highest one is then the largest int, which is not left out.) */
    endpoint |= beyond;
    if (low < limits[dtype->num].least ||
        (high > limits[dtype->num].most && high - !endpoint > limits[dtype->num].most))
        return nd_raise(vm, DVX_VALUE_ERROR, "%s is out of bounds for %s",
                        low < limits[dtype->num].least ? "low" : "high", dtype->name);
    if (low > high || (low == high && !endpoint))
        return vm->api->raise(vm, DVX_VALUE_ERROR,
                              endpoint ? "low > high"
                              : both   ? "low >= high"
                                       : "high <= 0");
    const uint64_t most = (uint64_t)high - (uint64_t)low - !endpoint;
    if (nd_is_given(vm, args[2]) && !array_read_shape(vm, args[2], &ndim, shape)) return DVX_FAILED;
    dvx_value made = array_new(vm, dtype, ndim, shape, &a);
    if (dvx_failed(made)) return made;
    for (int64_t i = 0; i < a->size; i++) {
        if (i % ND_POLL == ND_POLL - 1 && !nd_work(vm, 5 * ND_POLL)) {
            vm->api->release(vm, made);
            return DVX_FAILED;
        }
        const bool small = dtype->num <= ND_UINT8;
        const uint64_t found = !most                   ? 0
                               : dtype->num == ND_BOOL ? next_part(&source, &parts, 1)
                               : small                 ? next_byte(&source, &parts, (uint8_t)most)
                                                       : source.interval(source.state, most);
        const int64_t x = (int64_t)((uint64_t)low + found);
        if (dtype->num == ND_INT64)
            ((int64_t *)(void *)a->data)[i] = x;
        else if (dtype->num == ND_INT32)
            ((int32_t *)(void *)a->data)[i] = (int32_t)x;
        else
            ((uint8_t *)(void *)a->data)[i] = (uint8_t)x;
    }
    return nd_is_given(vm, args[2]) ? made : array_result(vm, made);
}

/* ---- RandomState ---- */

static bool seed_with(dvx_vm *vm, nd_mt19937 *mt, dvx_value v) {
    uint32_t words[4];
    int64_t seed;
    if (!nd_is_given(vm, v)) {
        surprise(words);
        bits_mt_seed_words(mt, words, 4);
        return true;
    }
    if (vm->api->kind(vm, v) == DVX_INT || vm->api->kind(vm, v) == DVX_BOOL) {
        if (!vm->api->read_index(vm, v, &seed)) {
            vm->api->clear_error(vm);
            seed = -1;
        }
        if (seed < 0 || seed > UINT32_MAX)
            return nd_fail(vm, DVX_VALUE_ERROR, "Seed must be between 0 and 2**32 - 1");
        bits_mt_seed(mt, (uint32_t)seed);
        return true;
    }
    return nd_fail(vm, DVX_TYPE_ERROR, "seeds that are no ints are not part of ndarray");
}

static bool fill_state(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    (void)count;
    return seed_with(vm, mt_of(vm, self), args[0]);
}

static dvx_value seed(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    enum { STEPS = 1500 }; /* the generator has 624 words, which are made twice */
    return seed_with(vm, mt_of(vm, args[0]), args[1]) && nd_work(vm, STEPS) ? nd_none(vm)
                                                                            : DVX_FAILED;
}

static dvx_value random_sample(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return fill_floats(vm, args[1], mt_double, mt_of(vm, args[0]), 0, 1);
}

/* rand(2, 3): the shape as arguments. */
static dvx_value fill_by_arguments(dvx_vm *vm, const dvx_value *args, uint32_t count, draw next) {
    nd_mt19937 *mt = mt_of(vm, args[0]);
    if (count == 1) return vm->api->make_float(vm, draw_one(next, mt));
    dvx_value size = vm->api->make_tuple(vm, args + 1, count - 1);
    if (dvx_failed(size)) return size;
    dvx_value made = fill_floats(vm, size, next, mt, 0, 1);
    vm->api->release(vm, size);
    return made;
}
static dvx_value rand_of_shape(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    return fill_by_arguments(vm, args, count, mt_double);
}
static dvx_value randn(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    return fill_by_arguments(vm, args, count, mt_normal);
}

static dvx_value randint(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return fill_ints(vm, args + 1, false, of_mt(mt_of(vm, args[0])));
}

static dvx_value raise_range(dvx_vm *vm, const char *text) {
    return nd_raise(vm, DVX_OVERFLOW_ERROR, "%s", text);
}

/* Scales are not negative, not even -0.0; they may be nans. */
static bool check_scale(dvx_vm *vm, double scale) {
    return isnan(scale) || !signbit(scale) || nd_fail(vm, DVX_VALUE_ERROR, "scale < 0");
}

/* Two floats that may be missing. */
static bool read_two(dvx_vm *vm, const dvx_value *args, double *x, double *y) {
    return (dvx_failed(args[0]) || vm->api->read_float(vm, args[0], x)) &&
           (dvx_failed(args[1]) || vm->api->read_float(vm, args[1], y));
}

static dvx_value uniform(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    double low = 0, high = 1;
    (void)count;
    if (!read_two(vm, args + 1, &low, &high)) return DVX_FAILED;
    if (!isfinite(high - low)) return raise_range(vm, "Range exceeds valid bounds");
    return fill_floats(vm, args[3], mt_double, mt_of(vm, args[0]), low, high - low);
}

static dvx_value normal(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    double mean = 0, deviation = 1;
    (void)count;
    if (!read_two(vm, args + 1, &mean, &deviation)) return DVX_FAILED;
    if (!check_scale(vm, deviation)) return DVX_FAILED;
    return fill_floats(vm, args[3], mt_normal, mt_of(vm, args[0]), mean, deviation);
}

static dvx_value standard_normal(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return fill_floats(vm, args[1], mt_normal, mt_of(vm, args[0]), 0, 1);
}

static dvx_value exponential(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    double scale = 1;
    (void)count;
    if (!dvx_failed(args[1]) && !vm->api->read_float(vm, args[1], &scale)) return DVX_FAILED;
    if (!check_scale(vm, scale)) return DVX_FAILED;
    return fill_floats(vm, args[2], mt_exponential, mt_of(vm, args[0]), 0, scale);
}

/* ---- Permutations ---- */

/* Swaps lines of `size` bytes; where that is a constant, without calls of memcpy. */
static inline __attribute__((always_inline)) bool swap_lines(dvx_vm *vm, nd_mt19937 *mt, char *data,
                                                             int64_t count, int64_t stride,
                                                             char *room, size_t size) {
    for (int64_t i = count - 1; i > 0; i--) {
        if (i % ND_POLL == 0 && !nd_work(vm, 10 * ND_POLL)) return false;
        int64_t j = (int64_t)bits_mt_interval(mt, (uint64_t)i);
        char *x = data + i * stride, *y = data + j * stride;
        if (i == j) continue;
        memcpy(room, x, size);
        memcpy(x, y, size);
        memcpy(y, room, size);
    }
    return true;
}

/* Swaps elements of an array along its first axis. */
static bool shuffle_array(dvx_vm *vm, nd_mt19937 *mt, const nd_array *a, char *room, size_t line) {
    const int64_t count = a->axes[0].count, stride = a->axes[0].stride;
    char few[sizeof(int64_t)];
    if (line == sizeof(int64_t))
        return swap_lines(vm, mt, a->data, count, stride, few, sizeof(int64_t));
    if (line == sizeof(int32_t))
        return swap_lines(vm, mt, a->data, count, stride, few, sizeof(int32_t));
    if (line == 1) return swap_lines(vm, mt, a->data, count, stride, few, 1);
    return swap_lines(vm, mt, a->data, count, stride, room, line);
}

/* An array whose lines lie in one piece each. */
static bool shuffle_rows(dvx_vm *vm, nd_mt19937 *mt, const nd_array *a) {
    size_t line = a->dtype->size;
    for (int i = a->ndim - 1; i > 0; i--) {
        if (a->axes[i].count > 1 && a->axes[i].stride != (int64_t)line)
            return nd_fail(vm, DVX_TYPE_ERROR, "shuffle of such views is not part of ndarray");
        line *= (size_t)a->axes[i].count;
    }
    if (!line || a->axes[0].count < 2) return true;
    char *room = vm->api->allocate(vm, line);
    if (!room) return false;
    const bool good = shuffle_array(vm, mt, a, room, line);
    vm->api->deallocate(vm, room, line);
    return good;
}

static bool swap_items(dvx_vm *vm, dvx_value list, int64_t i, int64_t j) {
    dvx_value at[2] = {vm->api->make_int(vm, i), vm->api->make_int(vm, j)};
    dvx_value items[2] = {vm->api->get_item(vm, list, at[0]), DVX_FAILED};
    if (!dvx_failed(items[0])) items[1] = vm->api->get_item(vm, list, at[1]);
    bool good = !dvx_failed(items[1]) && vm->api->set_item(vm, list, at[0], items[1]) &&
                vm->api->set_item(vm, list, at[1], items[0]);
    for (int k = 0; k < 2; k++) {
        vm->api->release(vm, at[k]);
        vm->api->release(vm, items[k]);
    }
    return good;
}

static dvx_value shuffle(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_mt19937 *mt = mt_of(vm, args[0]);
    const nd_array *a = vm->api->payload(vm, args[1], &array_type);
    (void)count;
    if (a) {
        if (!a->ndim) return vm->api->raise(vm, DVX_TYPE_ERROR, "len() of unsized object");
        return array_writable(vm, a) && shuffle_rows(vm, mt, a) ? nd_none(vm) : DVX_FAILED;
    }
    int64_t length = vm->api->length(vm, args[1]);
    if (length < 0) return DVX_FAILED;
    for (int64_t i = length - 1; i > 0; i--)
        if (!swap_items(vm, args[1], i, (int64_t)bits_mt_interval(mt, (uint64_t)i)))
            return DVX_FAILED;
    return nd_none(vm);
}

static dvx_value permute(dvx_vm *vm, nd_mt19937 *mt, dvx_value v) {
    nd_array *a;
    int64_t n;
    dvx_value made;
    if (vm->api->kind(vm, v) == DVX_INT) {
        if (!vm->api->read_index(vm, v, &n)) return DVX_FAILED;
        made = create_range(vm, n < 0 ? 0 : n, &a);
    } else {
        made = convert_copy(vm, v, NULL, 'C');
        a = dvx_failed(made) ? NULL : array_of(vm, made);
    }
    if (dvx_failed(made)) return made;
    if (!a->ndim)
        vm->api->raise(vm, DVX_INDEX_ERROR, "x must be an integer or at least 1-dimensional");
    else if (shuffle_rows(vm, mt, a))
        return made;
    vm->api->release(vm, made);
    return DVX_FAILED;
}

static dvx_value permutation(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return permute(vm, mt_of(vm, args[0]), args[1]);
}

/* ---- choice ---- */

/* The first `size` of a permutation, in this shape. */
static dvx_value without_repetition(dvx_vm *vm, nd_mt19937 *mt, int64_t population,
                                    dvx_value size) {
    int ndim = 0;
    int64_t shape[ND_MOST], wanted = 1;
    nd_array *view;
    const bool single = !nd_is_given(vm, size);
    if (!single && !array_read_shape(vm, size, &ndim, shape)) return DVX_FAILED;
    for (int i = 0; i < ndim; i++)
        if (shape[i] < 0)
            return nd_raise(vm, DVX_VALUE_ERROR, "negative dimensions are not allowed");
    if (!array_count(ndim, shape, &wanted) || wanted > population)
        return vm->api->raise(vm, DVX_VALUE_ERROR,
                              "Cannot take a larger sample than population when 'replace=False'");
    dvx_value count = vm->api->make_int(vm, population), all = permute(vm, mt, count),
              made = DVX_FAILED;
    vm->api->release(vm, count);
    if (dvx_failed(all)) return all;
    const nd_array *a = array_of(vm, all);
    if (single) {
        made = vm->api->make_int(vm, *(const int64_t *)(const void *)a->data);
    } else {
        dvx_axis axes[ND_MOST];
        int64_t stride = sizeof(int64_t);
        for (int i = ndim - 1; i >= 0; i--) {
            axes[i] = (dvx_axis){shape[i], stride};
            if (wanted) stride *= shape[i];
        }
        dvx_value part = array_view(vm, all, a, a->data, ndim, axes, &view);
        if (!dvx_failed(part)) made = array_copy(vm, view, view->dtype, 'C');
        vm->api->release(vm, part);
    }
    vm->api->release(vm, all);
    return made;
}

/* Where the running sum of p passes numbers between 0 and 1. */
static dvx_value by_probability(dvx_vm *vm, nd_mt19937 *mt, int64_t population, dvx_value p,
                                dvx_value size) {
    nd_array *weights, *out;
    int ndim = 0;
    int64_t shape[ND_MOST];
    if (nd_is_given(vm, size) && !array_read_shape(vm, size, &ndim, shape)) return DVX_FAILED;
    dvx_value held = convert_copy(vm, p, ND_DTYPE(ND_FLOAT64), 'C');
    if (dvx_failed(held)) return held;
    weights = array_of(vm, held);
    double *sums = (double *)(void *)weights->data, total = 0;
    dvx_value made = DVX_FAILED;
    if (weights->ndim != 1 || weights->size != population) {
        vm->api->raise(vm, DVX_VALUE_ERROR,
                       weights->ndim != 1 ? "'p' must be 1-dimensional"
                                          : "'a' and 'p' must have same size");
    } else {
        bool negative = false;
        for (int64_t i = 0; i < population; i++) {
            negative |= sums[i] < 0;
            sums[i] = total = i ? total + sums[i] : sums[i];
        }
        if (negative)
            vm->api->raise(vm, DVX_VALUE_ERROR, "probabilities are not non-negative");
        else if (isnan(total))
            vm->api->raise(vm, DVX_VALUE_ERROR, "probabilities contain NaN");
        else if (!(__builtin_fabs(total - 1) <= 1.5e-8))
            vm->api->raise(vm, DVX_VALUE_ERROR, "probabilities do not sum to 1");
        else
            made = array_new(vm, ND_DTYPE(ND_INT64), ndim, shape, &out);
    }
    for (int64_t i = 0; !dvx_failed(made) && i < out->size; i++) {
        double x = bits_mt_double(mt);
        int64_t low = 0, high = population;
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            if (sums[middle] / total <= x)
                low = middle + 1;
            else
                high = middle;
        }
        ((int64_t *)(void *)out->data)[i] = low;
        if (i % ND_POLL == ND_POLL - 1 && !nd_work(vm, 20 * ND_POLL)) {
            vm->api->release(vm, made);
            made = DVX_FAILED;
        }
    }
    vm->api->release(vm, held);
    return dvx_failed(made) ? made : array_result(vm, made);
}

/* choice(a, size=None, replace=True, p=None) */
static dvx_value choice(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_mt19937 *mt = mt_of(vm, args[0]);
    int64_t population;
    int replace = nd_flag(vm, args[3], true);
    const bool range = vm->api->kind(vm, args[1]) == DVX_INT;
    (void)count;
    if (replace < 0) return DVX_FAILED;
    if (!replace && nd_is_given(vm, args[4])) {
        dvx_value all[5] = {args[0], args[1], args[2], args[3], args[4]};
        if (dvx_failed(all[2])) all[2] = nd_none(vm);
        return nd_call_library(vm, "_ndarray.wider", "choice", all, 5);
    }
    int64_t wanted = -1, shape[ND_MOST];
    int ndim = 0;
    if (nd_is_given(vm, args[2]) &&
        (!array_read_shape(vm, args[2], &ndim, shape) || !array_count(ndim, shape, &wanted)))
        wanted = -1, vm->api->clear_error(vm); /* (told by what follows) */
    if (range) {
        if (!vm->api->read_index(vm, args[1], &population)) return DVX_FAILED;
        if (population <= 0 && wanted)
            return vm->api->raise(vm, DVX_VALUE_ERROR,
                                  "a must be greater than 0 unless no samples are taken");
    } else {
        nd_array *from;
        dvx_value held = array_operand(vm, args[1], NULL, &from);
        if (dvx_failed(held)) return held;
        const bool one = from->ndim == 1, single = !from->ndim;
        population = from->size;
        vm->api->release(vm, held);
        if (!one)
            return vm->api->raise(vm, DVX_VALUE_ERROR,
                                  single ? "a must be 1-dimensional or an integer"
                                         : "a must be 1-dimensional");
        if (!population && wanted)
            return vm->api->raise(vm, DVX_VALUE_ERROR,
                                  "'a' cannot be empty unless no samples are taken");
    }
    dvx_value places = DVX_FAILED;
    if (replace && nd_is_given(vm, args[4])) {
        places = by_probability(vm, mt, population, args[4], args[2]);
    } else if (replace) {
        /* (Of none, none are drawn.) */
        const dvx_value bounds[4] = {vm->api->make_int(vm, population > 0 ? population : 1),
                                     DVX_FAILED, args[2], DVX_FAILED};
        places = fill_ints(vm, bounds, false, of_mt(mt));
        vm->api->release(vm, bounds[0]);
    } else {
        places = without_repetition(vm, mt, population, args[2]);
    }
    if (range || dvx_failed(places)) return places;
    dvx_value from = array_from(vm, args[1], NULL), result = DVX_FAILED;
    if (!dvx_failed(from)) result = vm->api->get_item(vm, from, places);
    vm->api->release(vm, from);
    vm->api->release(vm, places);
    return result;
}

/* ---- Generator ---- */

/* The words of an int of any size, the lowest first; 0: raised. */
static size_t entropy_of(dvx_vm *vm, dvx_value v, uint32_t words[64]) {
    uint64_t small;
    if (!nd_is_given(vm, v)) {
        surprise(words);
        return 4;
    }
    if (vm->api->kind(vm, v) != DVX_INT)
        return nd_fail(vm, DVX_TYPE_ERROR, "seeds that are no ints are not part of ndarray");
    if (!vm->api->read_uint(vm, v, &small)) {
        vm->api->clear_error(vm);
        if (vm->api->less(vm, v, vm->api->make_int(vm, 0)) > 0)
            return nd_fail(vm, DVX_VALUE_ERROR, "expected non-negative integer");
        return nd_fail(vm, DVX_VALUE_ERROR, "seeds beyond 64 bits are not part of ndarray");
    }
    words[0] = (uint32_t)small;
    words[1] = (uint32_t)(small >> 32);
    return words[1] ? 2 : 1;
}

static dvx_value default_rng(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    uint32_t words[64];
    void *payload;
    (void)count;
    if (vm->api->payload(vm, args[1], &generator_type)) return vm->api->retain(vm, args[1]);
    size_t used = entropy_of(vm, args[1], words);
    if (!used) return DVX_FAILED;
    dvx_value made = vm->api->make_object(vm, &generator_type, &payload);
    if (!dvx_failed(made)) bits_pcg_seed(payload, words, used);
    return made;
}

static dvx_value generator_random(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const nd_dtype *dtype;
    nd_pcg64 *pcg = pcg_of(vm, args[0]);
    (void)count;
    if (!dtype_read_given(vm, args[2], ND_DTYPE(ND_FLOAT64), &dtype)) return DVX_FAILED;
    if (dtype->num == ND_FLOAT32) return fill_singles(vm, args[1], pcg);
    if (dtype->num == ND_FLOAT64) return fill_floats(vm, args[1], pcg_double, pcg, 0, 1);
    return nd_raise(vm, DVX_TYPE_ERROR, "Unsupported dtype dtype('%s') for random", dtype->name);
}

static dvx_value generator_standard_normal(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const nd_dtype *dtype;
    (void)count;
    if (!dtype_read_given(vm, args[2], ND_DTYPE(ND_FLOAT64), &dtype)) return DVX_FAILED;
    if (dtype->num == ND_FLOAT64)
        return fill_floats(vm, args[1], pcg_normal, pcg_of(vm, args[0]), 0, 1);
    return nd_raise(vm, DVX_TYPE_ERROR, "Unsupported dtype dtype('%s') for standard_normal",
                    dtype->name);
}

static dvx_value generator_normal(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    double mean = 0, deviation = 1;
    (void)count;
    if (!read_two(vm, args + 1, &mean, &deviation)) return DVX_FAILED;
    if (!check_scale(vm, deviation)) return DVX_FAILED;
    return fill_floats(vm, args[3], pcg_normal, pcg_of(vm, args[0]), mean, deviation);
}

static dvx_value generator_uniform(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    double low = 0, high = 1;
    (void)count;
    if (!read_two(vm, args + 1, &low, &high)) return DVX_FAILED;
    if (!isfinite(high - low)) return raise_range(vm, "high - low range exceeds valid bounds");
    if (signbit(high - low)) return vm->api->raise(vm, DVX_VALUE_ERROR, "high - low < 0");
    return fill_floats(vm, args[3], pcg_double, pcg_of(vm, args[0]), low, high - low);
}

static dvx_value generator_integers(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    int endpoint = nd_flag(vm, args[5], false);
    (void)count;
    if (endpoint < 0) return DVX_FAILED;
    return fill_ints(vm, args + 1, endpoint, of_pcg(pcg_of(vm, args[0])));
}

/* ---- Tables ---- */

ND_PARAMETERS(seed_parameters, 0, "seed");
ND_PARAMETERS(size_parameters, 0, "size");
ND_PARAMETERS(generator_parameters, 0, "size", "dtype");
ND_PARAMETERS(randint_parameters, 1, "low", "high", "size", "dtype");
ND_PARAMETERS(uniform_parameters, 0, "low", "high", "size");
ND_PARAMETERS(normal_parameters, 0, "loc", "scale", "size");
ND_PARAMETERS(exponential_parameters, 0, "scale", "size");
ND_PARAMETERS(choice_parameters, 1, "a", "size", "replace", "p");
ND_PARAMETERS(integers_parameters, 1, "low", "high", "size", "dtype", "endpoint");

static const dvx_function state_functions[] = {
    ND_NAMED("seed", seed, seed_parameters),
    ND_NAMED("random_sample", random_sample, size_parameters),
    ND_NAMED("random", random_sample, size_parameters),
    ND_NAMED("ranf", random_sample, size_parameters),
    ND_NAMED("sample", random_sample, size_parameters),
    ND_PLAIN("rand", rand_of_shape, 1, ND_ANY),
    ND_PLAIN("randn", randn, 1, ND_ANY),
    ND_NAMED("randint", randint, randint_parameters),
    ND_NAMED("uniform", uniform, uniform_parameters),
    ND_NAMED("normal", normal, normal_parameters),
    ND_NAMED("standard_normal", standard_normal, size_parameters),
    ND_NAMED("exponential", exponential, exponential_parameters),
    ND_PLAIN("shuffle", shuffle, 2, 2),
    ND_PLAIN("permutation", permutation, 2, 2),
    ND_NAMED("choice", choice, choice_parameters),
    ND_NAMED("default_rng", default_rng, seed_parameters),
};
static const dvx_function generator_functions[] = {
    ND_NAMED("random", generator_random, generator_parameters),
    ND_NAMED("standard_normal", generator_standard_normal, generator_parameters),
    ND_NAMED("normal", generator_normal, normal_parameters),
    ND_NAMED("uniform", generator_uniform, uniform_parameters),
    ND_NAMED("integers", generator_integers, integers_parameters),
};
#define S(i) &state_functions[i]
static const dvx_function *const state_methods[] = {S(0),  S(1),  S(2),  S(3), S(4),  S(5),
                                                    S(6),  S(7),  S(8),  S(9), S(10), S(11),
                                                    S(12), S(13), S(14), S(15)};
#define G(i) &generator_functions[i]
static const dvx_function *const generator_methods[] = {G(0), G(1), G(2), G(3), G(4)};

/* np.random.RandomState, np.random.Generator */
static dvx_value get_state_class(dvx_vm *vm, dvx_value self) {
    (void)self;
    return vm->api->type_class(vm, &random_state_type);
}
static dvx_value get_generator_class(dvx_vm *vm, dvx_value self) {
    (void)self;
    return vm->api->type_class(vm, &generator_type);
}
static const dvx_attribute state_class = {sizeof(dvx_attribute), "RandomState", get_state_class,
                                          NULL};
static const dvx_attribute generator_class = {sizeof(dvx_attribute), "Generator",
                                              get_generator_class, NULL};
static const dvx_attribute *const state_attributes[] = {&state_class, &generator_class};

const dvx_type random_state_type = {
    .size = sizeof(dvx_type),
    .name = "RandomState",
    .payload = sizeof(nd_mt19937),
    .initialise = fill_state,
    .parameters = &seed_parameters,
    .method_count = LENGTH_OF(state_methods),
    .methods = state_methods,
    .attribute_count = LENGTH_OF(state_attributes),
    .attributes = state_attributes,
};
const dvx_type generator_type = {
    .size = sizeof(dvx_type),
    .name = "Generator",
    .payload = sizeof(nd_pcg64),
    .method_count = LENGTH_OF(generator_methods),
    .methods = generator_methods,
};

bool random_register(dvx_vm *vm, dvx_value module) {
    void *payload;
    if (!vm->api->add_type(vm, module, &random_state_type) ||
        !vm->api->add_type(vm, module, &generator_type))
        return false;
    dvx_value state = vm->api->make_object(vm, &random_state_type, &payload);
    bool good = !dvx_failed(state) && seed_with(vm, payload, DVX_FAILED) &&
                vm->api->add_constant(vm, module, "random", state);
    vm->api->release(vm, state);
    return good;
}
