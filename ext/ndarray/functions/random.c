/* random.c: np.random: RandomState, whose one object it is, and Generator: what is drawn in large
 * numbers.  The other distributions, and arguments that are rare, are dl: lib/random.dl,
 * lib/distributions.dl.
 *
 * Invariants
 *  1. The numbers of a seed are NumPy's, bit for bit.
 *  2. np.random is an object of RandomState: its methods are the functions of NumPy's module.
 *  3. RandomState and Generator have the same payload, and mostly the same functions: `legacy` says
 *     which of two ways NumPy has. */
#include <math.h>

#include "functions/source.h"
#include "array/convert.h"
#include "array/create.h"
#include "array/methods.h"

extern const dvx_type random_state_type, generator_type;

/* RandomState and Generator. */
typedef struct drawer {
    nd_bits *bits; /* of `source`; NULL before it is initialised */
    dvx_value source;
    bool legacy;
    bool has_gauss; /* legacy: the second of a pair of normal numbers */
    double gauss;
} drawer;

/* NULL: raised. */
static drawer *drawer_with_bits(dvx_vm *vm, drawer *d) {
    if (LIKELY(d->bits)) return d;
    vm->api->raise(vm, DVX_VALUE_ERROR, "it has no source of bits");
    return NULL;
}
static drawer *state_of(dvx_vm *vm, dvx_value self) {
    return drawer_with_bits(vm, vm->api->payload(vm, self, &random_state_type));
}
static drawer *drawer_of(dvx_vm *vm, dvx_value self) {
    drawer *d = vm->api->payload(vm, self, &generator_type);
    return d ? drawer_with_bits(vm, d) : state_of(vm, self);
}

/* ---- What dl does ---- */

/* The function of this name in lib/random.dl, with self and the arguments that are given. */
static dvx_value leave(dvx_vm *vm, const char *name, const dvx_parameters *parameters,
                       const dvx_value *args) {
    return nd_library(vm, SOURCE_LIBRARY, name, parameters, args, 1);
}

/* Is it an argument that may be an array? */
static bool is_wide(dvx_vm *vm, dvx_value v) {
    if (dvx_failed(v)) return false;
    const dvx_kind kind = vm->api->kind(vm, v);
    return kind != DVX_INT && kind != DVX_FLOAT && kind != DVX_BOOL;
}

/* ---- Filling arrays ---- */

typedef void (*draw)(drawer *from, double *to, int64_t count);
static void draw_doubles(drawer *from, double *to, int64_t count) {
    nd_mt19937 *mt = from->bits->mt;
    if (mt)
        for (int64_t i = 0; i < count; i++) to[i] = bits_mt_double(mt);
    else
        for (int64_t i = 0; i < count; i++) to[i] = bits_double(from->bits);
}

static inline double next_double(nd_bits *bits) {
    return bits->mt ? bits_mt_double(bits->mt) : bits_double(bits);
}

/* Marsaglia's polar method (legacy-distributions.c). */
static double polar_normal(drawer *from) {
    double x, y, square;
    if (from->has_gauss) {
        from->has_gauss = false;
        return from->gauss;
    }
    do {
        x = 2.0 * next_double(from->bits) - 1.0;
        y = 2.0 * next_double(from->bits) - 1.0;
        square = x * x + y * y;
    } while (square >= 1.0 || square == 0.0);
    double scale = sqrt(-2.0 * log(square) / square);
    from->gauss = scale * x;
    from->has_gauss = true;
    return scale * y;
}
static void draw_normals(drawer *from, double *to, int64_t count) {
    if (from->legacy)
        for (int64_t i = 0; i < count; i++) to[i] = polar_normal(from);
    else
        for (int64_t i = 0; i < count; i++) to[i] = bits_draw_normal(from->bits);
}
static void draw_exponentials(drawer *from, double *to, int64_t count) {
    if (from->legacy)
        for (int64_t i = 0; i < count; i++) to[i] = -log(1.0 - next_double(from->bits));
    else
        for (int64_t i = 0; i < count; i++) to[i] = bits_draw_exponential(from->bits);
}

/* One number without a size, else an array of low + scale * numbers. */
static dvx_value fill_floats(dvx_vm *vm, dvx_value size, draw next, drawer *from, double low,
                             double scale) {
    int ndim;
    int64_t shape[ND_MOST];
    nd_array *a;
    if (!nd_is_given(vm, size)) {
        double x;
        if (next == draw_doubles)
            x = next_double(from->bits);
        else
            next(from, &x, 1);
        return vm->api->make_float(vm, low + scale * x);
    }
    if (!array_read_shape(vm, size, &ndim, shape)) return DVX_FAILED;
    dvx_value made = array_new(vm, ND_DTYPE(ND_FLOAT64), ndim, shape, &a);
    if (dvx_failed(made)) return made;
    double *to = (double *)(void *)a->data;
    for (int64_t done = 0, n; done < a->size; done += n) {
        n = a->size - done < ND_POLL ? a->size - done : ND_POLL;
        next(from, to + done, n);
        if (low != 0 || scale != 1)
            for (int64_t i = done; i < done + n; i++) to[i] = low + scale * to[i];
        if (!nd_work(vm, 6 * n)) {
            vm->api->release(vm, made);
            return DVX_FAILED;
        }
    }
    return made;
}

/* float32 numbers: of half as many bits each. */
static dvx_value fill_singles(dvx_vm *vm, dvx_value size, float (*next)(nd_bits *), nd_bits *bits) {
    int ndim;
    int64_t shape[ND_MOST];
    nd_array *a;
    if (!nd_is_given(vm, size)) return vm->api->make_float(vm, (double)next(bits));
    if (!array_read_shape(vm, size, &ndim, shape)) return DVX_FAILED;
    dvx_value made = array_new(vm, ND_DTYPE(ND_FLOAT32), ndim, shape, &a);
    if (dvx_failed(made)) return made;
    float *to = (float *)(void *)a->data;
    for (int64_t i = 0; i < a->size; i++) {
        to[i] = next(bits);
        if (i % ND_POLL == ND_POLL - 1 && !nd_work(vm, 6 * ND_POLL)) {
            vm->api->release(vm, made);
            return DVX_FAILED;
        }
    }
    return made;
}

/* ---- Ints ---- */

/* 0 ... most, as randint and integers draw them. */
static uint64_t bounded(drawer *from, uint64_t most) {
    uint64_t x;
    bits_bounded(from->bits, from->legacy, most, &x, 1);
    return x;
}

/* Numbers of 1, 8 and 16 bits use up a word part by part; what is left of one at the end of an
 * array is lost. */
typedef struct word_parts {
    uint32_t word;
    int left;
} word_parts;
static uint32_t next_part(nd_bits *bits, word_parts *parts, int width) {
    if (parts->left) {
        parts->word >>= width;
        parts->left--;
    } else {
        parts->word = bits_word(bits);
        parts->left = 32 / width - 1;
    }
    return parts->word & ((1u << width) - 1);
}

static uint32_t next_small(const drawer *from, word_parts *parts, int width, uint32_t most) {
    const uint32_t all = (1u << width) - 1, count = most + 1;
    if (most == all) return next_part(from->bits, parts, width);
    if (from->legacy) {
        const uint32_t mask = UINT32_MAX >> __builtin_clz(most);
        uint32_t x;
        do x = next_part(from->bits, parts, width) & mask;
        while (x > most);
        return x;
    }
    const uint32_t threshold = (all - most) % count;
    uint32_t product;
    do product = next_part(from->bits, parts, width) * count;
    while ((product & all) < threshold);
    return product >> width;
}

/* A bound: an int, or a float that is cut. */
static bool read_bound(dvx_vm *vm, dvx_value v, __int128 *out) {
    double d;
    int64_t small;
    uint64_t large;
    if (vm->api->kind(vm, v) == DVX_FLOAT && vm->api->read_float(vm, v, &d) && fabs(d) < 0x1p63) {
        *out = (int64_t)d;
        return true;
    }
    if (vm->api->read_index(vm, v, &small)) {
        *out = small;
        return true;
    }
    if (vm->api->kind(vm, v) != DVX_INT) return false;
    vm->api->clear_error(vm);
    if (vm->api->read_uint(vm, v, &large)) {
        *out = large;
    } else {
        vm->api->clear_error(vm);
        *out = (__int128)1 << 100;
        if (vm->api->less(vm, v, vm->api->make_int(vm, 0)) > 0) *out = -*out;
        /* (2**64 is what uint64 leaves out.) */
        const dvx_value before = vm->api->binary(vm, DVX_SUB, v, vm->api->make_int(vm, 1));
        if (!dvx_failed(before) && vm->api->read_uint(vm, before, &large))
            *out = (__int128)large + 1;
        vm->api->clear_error(vm);
        vm->api->release(vm, before);
    }
    return true;
}

/* low + drawn, as ints of this size. */
static void store(char *to, int size, const uint64_t *drawn, int64_t count, uint64_t low) {
#define STORE(type)           \
    if (size == sizeof(type)) \
        for (int64_t i = 0; i < count; i++) ((type *)(void *)to)[i] = (type)(low + drawn[i]);
    STORE(uint8_t)
    STORE(uint16_t)
    STORE(uint32_t)
    STORE(uint64_t)
#undef STORE
}

/* low, high, size, dtype: ints from low (0 where high is missing) to below high. */
static dvx_value fill_ints(dvx_vm *vm, const dvx_value *args, bool endpoint, drawer *from) {
    __int128 low = 0, high;
    int64_t shape[ND_MOST];
    int ndim = 0;
    word_parts parts = {0, 0};
    const nd_dtype *dtype;
    nd_array *a;
    const bool both = nd_is_given(vm, args[1]);
    if (!dtype_read_given(vm, args[3], ND_DTYPE(ND_INT64), &dtype)) return DVX_FAILED;
    if (!strchr("bui", dtype->kind))
        return nd_raise(vm, DVX_TYPE_ERROR, "Unsupported dtype dtype('%s') for %s", dtype->name,
                        from->legacy ? "randint" : "integers");
    if ((both && !read_bound(vm, args[0], &low)) || !read_bound(vm, args[both], &high))
        return DVX_FAILED;
    const int width = dtype->kind == 'b' ? 1 : 8 * dtype->size;
    const __int128 least = dtype->kind == 'i' ? -((__int128)1 << (width - 1)) : 0,
                   largest = ((__int128)1 << (width - (dtype->kind == 'i'))) - 1;
    if (low < least || high - !endpoint > largest)
        return nd_raise(vm, DVX_VALUE_ERROR, "%s is out of bounds for %s",
                        low < least ? "low" : "high", dtype->name);
    if (low > high || (low == high && !endpoint))
        return nd_raise(vm, DVX_VALUE_ERROR, low ? "low >%s high" : "high <%s 0",
                        endpoint ? "" : "=");
    const uint64_t most = (uint64_t)(high - low) - !endpoint;
    if (!nd_is_given(vm, args[2]) && dtype->num == ND_INT64)
        return vm->api->make_int(vm, (int64_t)((uint64_t)low + bounded(from, most)));
    if (nd_is_given(vm, args[2]) && !array_read_shape(vm, args[2], &ndim, shape)) return DVX_FAILED;
    dvx_value made = array_new(vm, dtype, ndim, shape, &a);
    if (dvx_failed(made)) return made;
    for (int64_t done = 0, n; done < a->size; done += n) {
        enum { SOME = 512 };
        uint64_t drawn[SOME];
        n = a->size - done < SOME ? a->size - done : SOME;
        if (width > 16 || !most)
            bits_bounded(from->bits, from->legacy, most, drawn, n);
        else
            for (int64_t i = 0; i < n; i++)
                drawn[i] = next_small(from, &parts, width, (uint32_t)most);
        store(a->data + done * dtype->size, dtype->size, drawn, n, (uint64_t)low);
        if (!nd_work(vm, 5 * n)) {
            vm->api->release(vm, made);
            return DVX_FAILED;
        }
    }
    return nd_is_given(vm, args[2]) ? made : array_result(vm, made);
}

/* ---- Parameters ---- */

ND_PARAMETERS(seed_parameters, 0, "seed");
ND_PARAMETERS(source_parameters, 1, "bit_generator");
ND_PARAMETERS(size_parameters, 0, "size");
ND_PARAMETERS(generator_parameters, 0, "size", "dtype", "out");
ND_PARAMETERS(method_parameters, 0, "size", "dtype", "method", "out");
ND_PARAMETERS(randint_parameters, 1, "low", "high", "size", "dtype");
ND_PARAMETERS(uniform_parameters, 0, "low", "high", "size");
ND_PARAMETERS(normal_parameters, 0, "loc", "scale", "size");
ND_PARAMETERS(exponential_parameters, 0, "scale", "size");
ND_PARAMETERS(integers_parameters, 1, "low", "high", "size", "dtype", "endpoint");
ND_PARAMETERS(shuffle_parameters, 1, "x", "axis");
ND_PARAMETERS(legacy_choice_parameters, 1, "a", "size", "replace", "p");
ND_PARAMETERS(choice_parameters, 1, "a", "size", "replace", "p", "axis", "shuffle");

/* ---- RandomState and Generator ---- */

static void hold(dvx_vm *vm, drawer *d, dvx_value held, bool legacy) {
    const drawer before = *d;
    *d = (drawer){.bits = &source_of(vm, held)->bits, .source = held, .legacy = legacy};
    if (before.bits) vm->api->release(vm, before.source);
}

static void release_drawer(dvx_vm *vm, void *payload) {
    drawer *d = payload;
    if (d->bits) vm->api->release(vm, d->source);
}

static bool fill_generator(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    char name[ND_NAME];
    (void)count;
    if (!source_of(vm, args[0]))
        return nd_fail(vm, DVX_ATTRIBUTE_ERROR, "'%s' object has no attribute 'capsule'",
                       nd_class_name(vm, args[0], name));
    hold(vm, vm->api->payload(vm, self, &generator_type), vm->api->retain(vm, args[0]), false);
    return true;
}

/* Of MT19937, anew: None and ints here, arrays in dl. */
static bool seed_state(dvx_vm *vm, drawer *d, dvx_value v) {
    uint32_t words[4];
    int64_t seed;
    nd_mt19937 *mt = d->bits->mt;
    if (!mt) return nd_fail(vm, DVX_TYPE_ERROR, "can only re-seed a MT19937 BitGenerator");
    d->has_gauss = false;
    if (!nd_is_given(vm, v)) {
        source_surprise(words);
        bits_mt_seed_words(mt, words, 4);
        return true;
    }
    if (vm->api->kind(vm, v) != DVX_INT && vm->api->kind(vm, v) != DVX_BOOL) {
        const dvx_value both[2] = {d->source, v};
        dvx_value done = nd_call_library(vm, SOURCE_LIBRARY, "seed_legacy", both, 2);
        vm->api->release(vm, done);
        return !dvx_failed(done);
    }
    if (!vm->api->read_index(vm, v, &seed)) {
        vm->api->clear_error(vm);
        seed = -1;
    }
    if (seed < 0 || seed > UINT32_MAX)
        return nd_fail(vm, DVX_VALUE_ERROR, "Seed must be between 0 and 2**32 - 1");
    bits_mt_seed(mt, (uint32_t)seed);
    return true;
}

static bool fill_state(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    drawer *d = vm->api->payload(vm, self, &random_state_type);
    void *payload;
    (void)count;
    if (!dvx_failed(args[0]) && source_of(vm, args[0])) {
        hold(vm, d, vm->api->retain(vm, args[0]), true);
        return true;
    }
    dvx_value made = vm->api->make_object(vm, &mt19937_type, &payload);
    if (dvx_failed(made)) return false;
    if (!source_has_room(vm, payload)) {
        vm->api->release(vm, made);
        return false;
    }
    hold(vm, d, made, true);
    return seed_state(vm, d, args[0]);
}

static dvx_value seed(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    enum { STEPS = 1500 }; /* the generator has 624 words, which are made twice */
    drawer *d = drawer_of(vm, args[0]);
    return d && seed_state(vm, d, args[1]) && nd_work(vm, STEPS) ? nd_none(vm) : DVX_FAILED;
}

static dvx_value default_rng(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    void *payload;
    bool known;
    (void)count;
    if (!dvx_failed(args[1]) && vm->api->payload(vm, args[1], &generator_type))
        return vm->api->retain(vm, args[1]);
    const bool is_source = !dvx_failed(args[1]) && source_of(vm, args[1]);
    dvx_value held =
        is_source ? vm->api->retain(vm, args[1]) : vm->api->make_object(vm, &pcg64_type, &payload);
    if (dvx_failed(held)) return held;
    if (!is_source && !(source_seed(vm, payload, args[1], &known) &&
                        (known || source_fill(vm, held, args + 1, 1)))) {
        vm->api->release(vm, held);
        return DVX_FAILED;
    }
    dvx_value made = vm->api->make_object(vm, &generator_type, &payload);
    if (dvx_failed(made))
        vm->api->release(vm, held);
    else
        hold(vm, payload, held, false);
    return made;
}

static dvx_value get_source(dvx_vm *vm, dvx_value self) {
    const drawer *d = drawer_of(vm, self);
    return d ? vm->api->retain(vm, d->source) : DVX_FAILED;
}
static dvx_value get_gauss(dvx_vm *vm, dvx_value self) {
    const drawer *d = drawer_of(vm, self);
    if (!d) return DVX_FAILED;
    return d->has_gauss ? vm->api->make_float(vm, d->gauss) : nd_none(vm);
}
static bool set_gauss(dvx_vm *vm, dvx_value self, dvx_value v) {
    drawer *d = drawer_of(vm, self);
    if (!d) return false;
    d->has_gauss = !nd_is_none(vm, v);
    return !d->has_gauss || vm->api->read_float(vm, v, &d->gauss);
}

/* ---- What they draw ---- */

/* Numbers of a standard distribution: size; of a Generator dtype and out, too. */
static dvx_value standard(dvx_vm *vm, const char *name, const dvx_parameters *parameters,
                          const dvx_value *args, draw next, float (*next_single)(nd_bits *)) {
    drawer *d = drawer_of(vm, args[0]);
    const nd_dtype *dtype;
    if (!d) return DVX_FAILED;
    for (uint32_t i = 2; i < parameters->count; i++)
        if (nd_is_given(vm, args[i + 1])) return leave(vm, name, parameters, args);
    if (!dtype_read_given(vm, args[2], ND_DTYPE(ND_FLOAT64), &dtype)) return DVX_FAILED;
    if (dtype->num == ND_FLOAT32) return fill_singles(vm, args[1], next_single, d->bits);
    if (dtype->num == ND_FLOAT64) return fill_floats(vm, args[1], next, d, 0, 1);
    return nd_raise(vm, DVX_TYPE_ERROR, "Unsupported dtype dtype('%s') for %s", dtype->name, name);
}
#define STANDARD(name, text, parameters, next, next_single)                                \
    static dvx_value state_##name(dvx_vm *vm, const dvx_value *args, uint32_t count) {     \
        drawer *d = state_of(vm, args[0]);                                                 \
        (void)count;                                                                       \
        return d ? fill_floats(vm, args[1], next, d, 0, 1) : DVX_FAILED;                   \
    }                                                                                      \
    static dvx_value generator_##name(dvx_vm *vm, const dvx_value *args, uint32_t count) { \
        (void)count;                                                                       \
        return standard(vm, text, &parameters, args, next, next_single);                   \
    }
STANDARD(random, "random", generator_parameters, draw_doubles, bits_float)
STANDARD(normal, "standard_normal", generator_parameters, draw_normals, bits_single_normal)
STANDARD(exponential, "standard_exponential", method_parameters, draw_exponentials,
         bits_single_exponential)

/* rand(2, 3): the shape as arguments. */
static dvx_value fill_by_arguments(dvx_vm *vm, drawer *d, const dvx_value *args, uint32_t count,
                                   draw next) {
    dvx_value size = vm->api->make_tuple(vm, args + 1, count - 1);
    if (dvx_failed(size)) return size;
    dvx_value made = fill_floats(vm, size, next, d, 0, 1);
    vm->api->release(vm, size);
    return made;
}
static dvx_value rand_of_shape(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    drawer *d = state_of(vm, args[0]);
    if (!d) return DVX_FAILED;
    if (count == 1) return vm->api->make_float(vm, next_double(d->bits));
    return fill_by_arguments(vm, d, args, count, draw_doubles);
}
static dvx_value randn(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    drawer *d = state_of(vm, args[0]);
    if (!d) return DVX_FAILED;
    if (count == 1) return vm->api->make_float(vm, polar_normal(d));
    return fill_by_arguments(vm, d, args, count, draw_normals);
}

static dvx_value integers(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    drawer *d = drawer_of(vm, args[0]);
    const dvx_parameters *parameters = count > 5 ? &integers_parameters : &randint_parameters;
    if (!d) return DVX_FAILED;
    if (is_wide(vm, args[1]) || (nd_is_given(vm, args[2]) && is_wide(vm, args[2])))
        return leave(vm, "integers", parameters, args);
    const int endpoint = count > 5 ? nd_flag(vm, args[5], false) : false;
    return endpoint < 0 ? DVX_FAILED : fill_ints(vm, args + 1, endpoint, d);
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
    drawer *d = drawer_of(vm, args[0]);
    double low = 0, high = 1;
    (void)count;
    if (!d) return DVX_FAILED;
    if (is_wide(vm, args[1]) || is_wide(vm, args[2]))
        return leave(vm, "uniform", &uniform_parameters, args);
    if (!read_two(vm, args + 1, &low, &high)) return DVX_FAILED;
    if (!isfinite(high - low))
        return vm->api->raise(vm, DVX_OVERFLOW_ERROR,
                              d->legacy ? "Range exceeds valid bounds"
                                        : "high - low range exceeds valid bounds");
    if (!d->legacy && signbit(high - low))
        return vm->api->raise(vm, DVX_VALUE_ERROR, "high - low < 0");
    return fill_floats(vm, args[3], draw_doubles, d, low, high - low);
}

static dvx_value normal(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    drawer *d = drawer_of(vm, args[0]);
    double mean = 0, deviation = 1;
    (void)count;
    if (!d) return DVX_FAILED;
    if (is_wide(vm, args[1]) || is_wide(vm, args[2]))
        return leave(vm, "normal", &normal_parameters, args);
    if (!read_two(vm, args + 1, &mean, &deviation) || !check_scale(vm, deviation))
        return DVX_FAILED;
    return fill_floats(vm, args[3], draw_normals, d, mean, deviation);
}

static dvx_value exponential(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    drawer *d = drawer_of(vm, args[0]);
    double scale = 1;
    (void)count;
    if (!d) return DVX_FAILED;
    if (is_wide(vm, args[1])) return leave(vm, "exponential", &exponential_parameters, args);
    if (!dvx_failed(args[1]) && !vm->api->read_float(vm, args[1], &scale)) return DVX_FAILED;
    if (!check_scale(vm, scale)) return DVX_FAILED;
    return fill_floats(vm, args[2], draw_exponentials, d, 0, scale);
}

/* _below(most, masked): 0 ... most, one of them. */
static dvx_value below(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    drawer *d = drawer_of(vm, args[0]);
    uint64_t most;
    if (!d || !vm->api->read_uint(vm, args[1], &most)) return DVX_FAILED;
    return vm->api->make_uint(vm, count > 2 ? bits_masked(d->bits, most) : bounded(d, most));
}

/* ---- Permutations ---- */

/* Swaps lines of `size` bytes; where that is a constant, without calls of memcpy. */
static inline __attribute__((always_inline)) bool swap_lines(dvx_vm *vm, nd_bits *bits, char *data,
                                                             int64_t count, int64_t stride,
                                                             char *room, size_t size) {
    for (int64_t i = count - 1; i > 0; i--) {
        if (i % ND_POLL == 0 && !nd_work(vm, 10 * ND_POLL)) return false;
        int64_t j = (int64_t)bits_masked(bits, (uint64_t)i);
        char *x = data + i * stride, *y = data + j * stride;
        if (i == j) continue;
        memcpy(room, x, size);
        memcpy(x, y, size);
        memcpy(y, room, size);
    }
    return true;
}

/* Swaps elements of an array along its first axis. */
static bool shuffle_array(dvx_vm *vm, nd_bits *bits, const nd_array *a, char *room, size_t line) {
    const int64_t count = a->axes[0].count, stride = a->axes[0].stride;
    char few[sizeof(int64_t)];
    if (line == sizeof(int64_t))
        return swap_lines(vm, bits, a->data, count, stride, few, sizeof(int64_t));
    if (line == sizeof(int32_t))
        return swap_lines(vm, bits, a->data, count, stride, few, sizeof(int32_t));
    if (line == 1) return swap_lines(vm, bits, a->data, count, stride, few, 1);
    return swap_lines(vm, bits, a->data, count, stride, room, line);
}

/* An array whose lines lie in one piece each; others are left to dl. */
static bool shuffle_rows(dvx_vm *vm, dvx_value self, dvx_value x, nd_bits *bits) {
    const nd_array *a = array_of(vm, x);
    size_t line = a->dtype->size;
    for (int i = a->ndim - 1; i > 0; i--) {
        if (a->axes[i].count > 1 && a->axes[i].stride != (int64_t)line) {
            const dvx_value both[2] = {self, x};
            dvx_value done = nd_call_library(vm, SOURCE_LIBRARY, "shuffle_view", both, 2);
            vm->api->release(vm, done);
            return !dvx_failed(done);
        }
        line *= (size_t)a->axes[i].count;
    }
    if (!line || a->axes[0].count < 2) return true;
    char *room = vm->api->allocate(vm, line);
    if (!room) return false;
    const bool good = shuffle_array(vm, bits, a, room, line);
    vm->api->deallocate(vm, room, line);
    return good;
}

/* An axis that is given, and not 0. */
static bool is_other_axis(dvx_vm *vm, dvx_value axis) {
    int64_t n;
    return !dvx_failed(axis) &&
           !(vm->api->kind(vm, axis) == DVX_INT && vm->api->read_index(vm, axis, &n) && !n);
}

static dvx_value shuffle(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    drawer *d = drawer_of(vm, args[0]);
    const nd_array *a = vm->api->payload(vm, args[1], &array_type);
    if (!d) return DVX_FAILED;
    if (count > 2 && is_other_axis(vm, args[2]))
        return leave(vm, "shuffle", &shuffle_parameters, args);
    if (a) {
        if (!a->ndim) return vm->api->raise(vm, DVX_TYPE_ERROR, "len() of unsized object");
        if (!array_writable(vm, a)) {
            vm->api->clear_error(vm);
            return vm->api->raise(vm, DVX_VALUE_ERROR, "array is read-only");
        }
        return shuffle_rows(vm, args[0], args[1], d->bits) ? nd_none(vm) : DVX_FAILED;
    }
    const dvx_value own[3] = {args[0], args[1], DVX_FAILED};
    return leave(vm, "shuffle", &shuffle_parameters, own);
}

static dvx_value permutation(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    drawer *d = drawer_of(vm, args[0]);
    nd_array *a;
    int64_t n;
    dvx_value made;
    if (!d) return DVX_FAILED;
    if (count > 2 && is_other_axis(vm, args[2]))
        return leave(vm, "permutation", &shuffle_parameters, args);
    if (vm->api->kind(vm, args[1]) == DVX_INT) {
        if (!vm->api->read_index(vm, args[1], &n)) return DVX_FAILED;
        made = create_range(vm, n < 0 ? 0 : n, &a);
    } else {
        made = convert_copy(vm, args[1], NULL, 'C');
        a = dvx_failed(made) ? NULL : array_of(vm, made);
    }
    if (dvx_failed(made)) return made;
    if (!a->ndim && d->legacy)
        vm->api->raise(vm, DVX_INDEX_ERROR, "x must be an integer or at least 1-dimensional");
    else if (!a->ndim)
        nd_axis(vm, 0, 0, &(int){0});
    else if (shuffle_rows(vm, args[0], made, d->bits))
        return made;
    vm->api->release(vm, made);
    return DVX_FAILED;
}

/* One of an int's range, or many, each as likely; the rest is left to dl. */
static dvx_value choice(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    drawer *d = drawer_of(vm, args[0]);
    int64_t n;
    if (!d) return DVX_FAILED;
    if (vm->api->kind(vm, args[1]) == DVX_INT && nd_flag(vm, args[3], true) == 1 &&
        !nd_is_given(vm, args[4]) && vm->api->read_index(vm, args[1], &n) && n > 0) {
        const dvx_value bounds[4] = {args[1], DVX_FAILED, args[2], DVX_FAILED};
        return fill_ints(vm, bounds, false, d);
    }
    vm->api->clear_error(vm);
    return leave(vm, "choice", count > 5 ? &choice_parameters : &legacy_choice_parameters, args);
}

/* ---- Tables ---- */

static const dvx_function state_functions[] = {
    ND_NAMED("seed", seed, seed_parameters),
    ND_NAMED("random_sample", state_random, size_parameters),
    ND_NAMED("random", state_random, size_parameters),
    ND_NAMED("ranf", state_random, size_parameters),
    ND_NAMED("sample", state_random, size_parameters),
    ND_PLAIN("rand", rand_of_shape, 1, ND_ANY),
    ND_PLAIN("randn", randn, 1, ND_ANY),
    ND_NAMED("randint", integers, randint_parameters),
    ND_NAMED("standard_normal", state_normal, size_parameters),
    ND_NAMED("standard_exponential", state_exponential, size_parameters),
    ND_PLAIN("shuffle", shuffle, 2, 2),
    ND_PLAIN("permutation", permutation, 2, 2),
    ND_NAMED("choice", choice, legacy_choice_parameters),
    ND_NAMED("default_rng", default_rng, seed_parameters),
};
static const dvx_function both_functions[] = {
    ND_NAMED("uniform", uniform, uniform_parameters),
    ND_NAMED("normal", normal, normal_parameters),
    ND_NAMED("exponential", exponential, exponential_parameters),
    ND_PLAIN("_below", below, 2, 3),
};
static const dvx_function generator_functions[] = {
    ND_NAMED("random", generator_random, generator_parameters),
    ND_NAMED("standard_normal", generator_normal, generator_parameters),
    ND_NAMED("standard_exponential", generator_exponential, method_parameters),
    ND_NAMED("integers", integers, integers_parameters),
    ND_NAMED("shuffle", shuffle, shuffle_parameters),
    ND_NAMED("permutation", permutation, shuffle_parameters),
    ND_NAMED("choice", choice, choice_parameters),
};
#define B(i) &both_functions[i]
#define S(i) &state_functions[i]
#define G(i) &generator_functions[i]
static const dvx_function *const state_methods[] = {B(0), B(1), B(2),  B(3),  S(0),  S(1),
                                                    S(2), S(3), S(4),  S(5),  S(6),  S(7),
                                                    S(8), S(9), S(10), S(11), S(12), S(13)};
static const dvx_function *const generator_methods[] = {B(0), B(1), B(2), B(3), G(0), G(1),
                                                        G(2), G(3), G(4), G(5), G(6)};

/* np.random.RandomState and its like: they are attributes of objects, for np.random is one. */
#define CLASS(function, name, type)                         \
    static dvx_value function(dvx_vm *vm, dvx_value self) { \
        (void)self;                                         \
        return vm->api->type_class(vm, &type);              \
    }                                                       \
    static const dvx_attribute function##_attribute = {sizeof(dvx_attribute), name, function, NULL};
CLASS(state_class, "RandomState", random_state_type)
CLASS(generator_class, "Generator", generator_type)
CLASS(mt19937_class, "MT19937", mt19937_type)
CLASS(pcg64_class, "PCG64", pcg64_type)
static const dvx_attribute legacy_source = {sizeof(dvx_attribute), "_bit_generator", get_source,
                                            NULL};
static const dvx_attribute generator_source = {sizeof(dvx_attribute), "bit_generator", get_source,
                                               NULL};
static const dvx_attribute gauss = {sizeof(dvx_attribute), "_gauss", get_gauss, set_gauss};
static const dvx_attribute *const state_attributes[] = {
    &state_class_attribute,   &generator_class_attribute,
    &mt19937_class_attribute, &pcg64_class_attribute,
    &legacy_source,           &gauss};
static const dvx_attribute *const generator_attributes[] = {&generator_source};

const dvx_type random_state_type = {
    .size = sizeof(dvx_type),
    .name = "RandomState",
    .payload = sizeof(drawer),
    .initialise = fill_state,
    .parameters = &seed_parameters,
    .release = release_drawer,
    .method_count = LENGTH_OF(state_methods),
    .methods = state_methods,
    .attribute_count = LENGTH_OF(state_attributes),
    .attributes = state_attributes,
    .find_attribute = source_attribute,
};
const dvx_type generator_type = {
    .size = sizeof(dvx_type),
    .name = "Generator",
    .payload = sizeof(drawer),
    .initialise = fill_generator,
    .parameters = &source_parameters,
    .release = release_drawer,
    .method_count = LENGTH_OF(generator_methods),
    .methods = generator_methods,
    .attribute_count = LENGTH_OF(generator_attributes),
    .attributes = generator_attributes,
    .find_attribute = source_attribute,
};

bool random_register(dvx_vm *vm, dvx_value module) {
    void *payload;
    const dvx_value none[1] = {DVX_FAILED};
    if (!source_register(vm, module) || !vm->api->add_type(vm, module, &random_state_type) ||
        !vm->api->add_type(vm, module, &generator_type))
        return false;
    dvx_value state = vm->api->make_object(vm, &random_state_type, &payload);
    bool good = !dvx_failed(state) && fill_state(vm, state, none, 1) &&
                vm->api->add_constant(vm, module, "random", state);
    vm->api->release(vm, state);
    return good;
}
