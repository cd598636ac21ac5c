/* elementary.h: elementary functions of a vector, where libmvec has slower ones, calls scalar
 * functions, or raises flags without a reason: exp, exp2 and tanh of float64 and float32; with
 * AVX-512 also log, log1p and log10 of float64, log2 and pow of both, and sin and cos of float32
 * (kernels.py: OWN), and sin and cos of large float64 (kernels.py: Range).
 *
 * Included by the generated loops once for each instruction set, behind their vectors: double_v and
 * float_v, their bits as ints double_m and float_m, which are masks, too, choose_ and any_.
 *
 * Invariants
 *  1. An element of the result depends on the same element of the operands alone: what a
 *     neighbour makes slower comes out the same.
 *  2. Floating point flags that warn are raised where the function has a reason, and nowhere else:
 *     elements beyond the range of the steps here are replaced by harmless ones, numbers are
 *     compared as ints, and the flags that are due are raised by arith_flag, or by the C function
 *     that is called for single elements.
 *  3. Results are within 2 units in the last place, those of tanh, and of sin and cos of float32
 *     beyond 2**16, within 3. */
#ifndef ND_ELEMENTARY_H
#define ND_ELEMENTARY_H

#ifdef __FMA__

/* The bits of numbers: of |x|, in the order of the numbers, with infinity and nans behind them. */
#define BITS_OF(T, number) ((T##_m)((T)(number) - (T##_v){0}))
#define SIZE_OF(T, x)      ((T##_m)(x) & ~BITS_OF(T, -0.0))
#define IS_NAN(T, x)       (SIZE_OF(T, x) > BITS_OF(T, INFINITY))

#if ND_WIDTH == 64
static inline double_v fma_double(double_v a, double_v b, double_v c) {
    return (double_v)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
static inline float_v fma_float(float_v a, float_v b, float_v c) {
    return (float_v)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
#else
static inline double_v fma_double(double_v a, double_v b, double_v c) {
    return (double_v)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
static inline float_v fma_float(float_v a, float_v b, float_v c) {
    return (float_v)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
#endif
/* a*b + c with numbers. */
#define FMA(T, a, b, c) fma_##T(a, (T##_v){0} + (T)(b), c)

/* terms[0] + terms[1]*x + ...; the number of terms is a constant where it is called. */
#define POLYNOMIAL(T)                                                                      \
    static inline T##_v polynomial_##T(T##_v x, const T *terms, size_t count) {            \
        T##_v sum = (T##_v){0} + terms[count - 1];                                         \
        for (size_t i = count - 1; i-- > 0;) sum = fma_##T(sum, x, (T##_v){0} + terms[i]); \
        return sum;                                                                        \
    }
POLYNOMIAL(double)
POLYNOMIAL(float)

/* ---- exp ---- */

/* x = k * ln(2) + r, and exp(r) = 1 + r + r*r * E(r); terms of E from a Chebyshev interpolation
 * between -ln(2)/2 and ln(2)/2. */
static const double exp_terms_double[] = {
    0x1.0000000000001p-1,  0x1.5555555555556p-3,  0x1.5555555553d63p-5,  0x1.11111111109b3p-7,
    0x1.6c16c1788bd90p-10, 0x1.a01a01a7c41d5p-13, 0x1.a019b90d2ae7ap-16, 0x1.71de0dae63bb3p-19,
    0x1.289185613a3d6p-22, 0x1.af38a9b0ec855p-26};
static const float exp_terms_float[] = {0x1p-1f, 0x1.5554dcp-3f, 0x1.55551ap-5f, 0x1.120b6ep-7f,
                                        0x1.6d110ap-10f};

/* DIGITS of a fraction; LN2_HIGH times k is exact; beyond FAST results are no normal numbers, or
 * nearly so; beyond MOST they are infinite or 0 (FAST_2, MOST_2: those of exp2); beyond ONE tanh
 * is 1. */
#define ROUND_double                                                            \
    0x1.8p52 /* added to a number: the last bits of the sum are its nearest int \
              */
#define DIGITS_double   52
#define LN2_HIGH_double 0x1.62e42fefa3000p-1
#define LN2_LOW_double  0x1.3de6af278ece6p-42
#define FAST_double     708
#define MOST_double     746
#define FAST_2_double   1022
#define MOST_2_double   1076
#define ONE_double      20
#define ROUND_float     0x1.8p23
#define DIGITS_float    23
#define LN2_HIGH_float  0x1.63p-1
#define LN2_LOW_float   -0x1.bd0106p-13
#define FAST_float      87
#define MOST_float      104
#define FAST_2_float    126
#define MOST_2_float    151
#define ONE_float       10

/* 2**k * exp(r), with r and k from `name`_reduce, of x whose result is a normal number; and of
 * others: 2**k in two steps, the second of which overflows where the result does.  (Of x beyond
 * MOST it is that of MOST.) */
#define EXP_WITH(T, name, fast, most)                                                          \
    static __attribute__((noinline)) T##_v name##_slow_##T(T##_v x) {                          \
        const T##_m size = SIZE_OF(T, x), sign = BITS_OF(T, -0.0), one = BITS_OF(T, 1);        \
        const T##_m beyond = size > BITS_OF(T, most), infinite = size >= BITS_OF(T, INFINITY); \
        const T##_v limit = (T##_v)(BITS_OF(T, most) | ((T##_m)x & sign));                     \
        const T##_v number = choose_##T(beyond, limit, x);                                     \
        T##_m k;                                                                               \
        const T##_v r = name##_reduce_##T(choose_##T(infinite, (T##_v){0}, number), &k);       \
        k -= BITS_OF(T, ROUND_##T);                                                            \
        const T##_m half = k >> 1;                                                             \
        const T##_v part = (T##_v)((T##_m)exp_rest_##T(r) + (half << DIGITS_##T));             \
        const T##_v y = part * (T##_v)(one + ((k - half) << DIGITS_##T));                      \
        const T##_v end = choose_##T((T##_m)x == BITS_OF(T, -INFINITY), (T##_v){0}, x);        \
        return choose_##T(infinite, end, y);                                                   \
    }                                                                                          \
    static inline T##_v own_##name##_##T(T##_v x) {                                            \
        T##_m k;                                                                               \
        if (UNLIKELY(any_##T(BITS_OF(T, fast) - SIZE_OF(T, x)))) return name##_slow_##T(x);    \
        const T##_v r = name##_reduce_##T(x, &k);                                              \
        return (T##_v)((T##_m)exp_rest_##T(r) + (k << DIGITS_##T));                            \
    }

#define EXP(T)                                                                                \
    /* r; *k has the exponent of 2 as its last bits. */                                       \
    static inline T##_v exp_reduce_##T(T##_v x, T##_m *k) {                                   \
        const T##_v sum = FMA(T, x, M_LOG2E, (T##_v){0} + (T)ROUND_##T);                      \
        const T##_v whole = sum - (T)ROUND_##T;                                               \
        *k = (T##_m)sum;                                                                      \
        return FMA(T, whole, -LN2_LOW_##T, FMA(T, whole, -LN2_HIGH_##T, x));                  \
    }                                                                                         \
    static inline T##_v exp2_reduce_##T(T##_v x, T##_m *k) {                                  \
        const T##_v sum = x + (T)ROUND_##T;                                                   \
        *k = (T##_m)sum;                                                                      \
        return (x - (sum - (T)ROUND_##T)) * (T)M_LN2;                                         \
    }                                                                                         \
    /* exp(r) - 1 and exp(r) */                                                               \
    static inline T##_v exp_less_##T(T##_v r) {                                               \
        return fma_##T(r * r, polynomial_##T(r, exp_terms_##T, LENGTH_OF(exp_terms_##T)), r); \
    }                                                                                         \
    static inline T##_v exp_rest_##T(T##_v r) { return exp_less_##T(r) + 1; }                 \
    EXP_WITH(T, exp, FAST_##T, MOST_##T)                                                      \
    EXP_WITH(T, exp2, FAST_2_##T, MOST_2_##T)                                                 \
    /* y / (y + 2), where y = exp(2*|x|) - 1, with the sign of x. */                          \
    static inline T##_v own_tanh_##T(T##_v x) {                                               \
        const T##_m size = SIZE_OF(T, x), one = BITS_OF(T, 1);                                \
        const T##_m large = size > BITS_OF(T, ONE_##T);                                       \
        const T##_v z = choose_##T(large, (T##_v){0} + (T)ONE_##T, (T##_v)size);              \
        T##_m k;                                                                              \
        const T##_v r = exp_reduce_##T(z + z, &k);                                            \
        const T##_v power = (T##_v)(one + (k << DIGITS_##T));                                 \
        const T##_v y = fma_##T(power, exp_less_##T(r), power - 1), tanh = y / (y + 2);       \
        const T##_m sign = (T##_m)x & BITS_OF(T, -0.0);                                       \
        return choose_##T(IS_NAN(T, x), x, (T##_v)((T##_m)tanh | sign));                      \
    }
EXP(double)
EXP(float)

#if ND_WIDTH == 64
/* ---- log ---- */

/* x = 2**k * m, with m from 0.75 to 1.5; c is 1/m, rounded to a multiple of 1/16; and
 * log(x) = k * ln(2) - log(c) + log(1 + r), with r = m*c - 1, which is exact.  -log(c) for 16*c,
 * from 11 to 21, modulo 16: in two parts, the first of which may be added to k * LN2_HIGH without
 * rounding. */
static const double log_high[16] = {0,
                                    -0x1.f0a30c0110000p-5,
                                    -0x1.e27076e2b0000p-4,
                                    -0x1.5ff3070a78000p-3,
                                    -0x1.c8ff7c79a8000p-3,
                                    -0x1.1675cababa000p-2,
                                    0,
                                    0,
                                    0,
                                    0,
                                    0,
                                    0x1.7fafa3bd82000p-2,
                                    0x1.269621134e000p-2,
                                    0x1.a93ed3c8ac000p-3,
                                    0x1.1178e82280000p-3,
                                    0x1.08598b59e0000p-4};
static const double log_low[16] = {0,
                                   -0x1.8a9985f325c5cp-43,
                                   0x1.a342c2af0003cp-45,
                                   -0x1.3d3c873e20a07p-43,
                                   -0x1.a21ac25d81ef3p-43,
                                   -0x1.8380e731f55c4p-44,
                                   0,
                                   0,
                                   0,
                                   0,
                                   0,
                                   -0x1.5c8243204959ap-43,
                                   -0x1.1b61f10522625p-44,
                                   0x1.9e36f2bea77a6p-43,
                                   -0x1.b8421cc74be04p-43,
                                   0x1.d034451fecdfbp-43};
/* The sums of both. */
static const double log_whole[16] = {0,
                                     -0x1.f0a30c01162a6p-5,
                                     -0x1.e27076e2af2e6p-4,
                                     -0x1.5ff3070a793d4p-3,
                                     -0x1.c8ff7c79a9a22p-3,
                                     -0x1.1675cababa60ep-2,
                                     0,
                                     0,
                                     0,
                                     0,
                                     0,
                                     0x1.7fafa3bd8151cp-2,
                                     0x1.269621134db92p-2,
                                     0x1.a93ed3c8ad9e3p-3,
                                     0x1.1178e8227e47cp-3,
                                     0x1.08598b59e3a07p-4};
/* log(1 + r) = r - r*r/2 + r*r*r * P(r). */
static const double log_terms[] = {
    0x1.5555555555555p-2, -0x1.0000000000001p-2, 0x1.999999999999cp-3, -0x1.5555555550fb3p-3,
    0x1.249249248e394p-3, -0x1.00000027ff732p-3, 0x1.c71c7211c6f1dp-4, -0x1.99986d9970048p-4,
    0x1.745bff42c3467p-4, -0x1.57413cfebb73fp-4, 0x1.3cded151f3888p-4};
static const double log_few_terms[] = {
    0x1.5555555555555p-2,  -0x1.ffffffffff2b8p-3, 0x1.9999999998d57p-3,
    -0x1.555555677f5abp-3, 0x1.2492493556d31p-3,  -0x1.ffff2965a9df9p-4,
    0x1.c71babac8808ep-4,  -0x1.9b6edef2664e5p-4, 0x1.760e475e5641bp-4};

static inline double_v log_table(const double *table, __m512i index) {
    return (double_v)_mm512_permutex2var_pd(_mm512_loadu_pd(table), index,
                                            _mm512_loadu_pd(table + 8));
}

/* Whether there is one that is not normal (all the classes that the instruction knows), or
 * negative.
 */
static inline bool any_odd(double_v x) { return _mm512_fpclass_pd_mask((__m512d)x, 0xff); }

/* r; of normal numbers. */
static inline double_v log_reduce(double_v x, double_v *k, __m512i *index) {
    const __m512d m = _mm512_getmant_pd((__m512d)x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_zero);
    const double_v sum = (double_v)_mm512_rcp14_pd(m) + 0x1.8p48; /* its last bits are 16*c */
    *k = (double_v)_mm512_getexp_pd((__m512d)x) - (double_v)_mm512_getexp_pd(m);
    *index = (__m512i)sum;
    return fma_double((double_v)m, sum - 0x1.8p48, (double_v){0} - 1);
}

/* log(x) + more * log(2).  (Where k is not 0, the result is not small: one number is enough.) */
static inline double_v log_normal(double_v x, double_v more) {
    double_v k;
    __m512i index;
    const double_v r = log_reduce(x, &k, &index);
    const double_v p = polynomial_double(r, log_few_terms, LENGTH_OF(log_few_terms));
    const double_v whole = FMA(double, k + more, M_LN2, log_table(log_whole, index));
    return whole + fma_double(r * r, fma_double(r, p, (double_v){0} - 0.5), r);
}

/* Logarithms to another base: with the first parts of what is added, a sum without rounding, so
 * that whole numbers come out as such. */
typedef struct log_base {
    double factor, of_2[2]; /* log(e), log(2) */
    double high[16], low[16];
} log_base;
static const log_base base_2 = {
    0x1.71547652b82fep+0,
    {1, 0},
    {0, -0x1.663f6fac90000p-4, -0x1.5c01a39fbc000p-3, -0x1.fbc16b9028000p-3, -0x1.49a784bcd2000p-2,
     -0x1.91bba891f2000p-2, 0, 0, 0, 0, 0, 0x1.14c560fe69000p-1, 0x1.a8ff971810000p-2,
     0x1.32bfee370e000p-2, 0x1.8a8980abfc000p-3, 0x1.7d60496cf8000p-4},
    {0, -0x1.3167ccc538261p-44, -0x1.6879fa00b120ap-43, 0x1.7f5dc57266758p-43,
     0x1.1d406db502403p-44, 0x1.1ee969a95f529p-43, 0, 0, 0, 0, 0, -0x1.41dfc7d7c3321p-43,
     0x1.4bc302ffa76fbp-43, 0x1.cd0cb4492f1bcp-43, -0x1.66cccab240e90p-46, 0x1.da6339da288fcp-43}};
static const log_base base_10 = {
    0x1.bcb7b1526e50ep-2,
    {0x1.34413509f7000p-2, 0x1.3fde623e2566bp-43},
    {0, -0x1.af5f92b000000p-6, -0x1.a30a9d60a0000p-5, -0x1.31b3055c48000p-4, -0x1.8cf1838868000p-4,
     -0x1.e3bc1ab0e0000p-4, 0, 0, 0, 0, 0, 0x1.4d43f8275c000p-3, 0x1.ffbfc2bbc8000p-4,
     0x1.715d0ce368000p-4, 0x1.db11ed7670000p-5, 0x1.cb38fccd80000p-6},
    {0, -0x1.cc1f4dbc14db5p-43, 0x1.0163d7e67d282p-45, 0x1.dcffc97be8c9cp-45, 0x1.bf9b26ba70341p-43,
     -0x1.9fe3d562a53f0p-44, 0, 0, 0, 0, 0, -0x1.b7cd59750ce36p-43, -0x1.ff229f20ed3d2p-46,
     -0x1.41149840eaa65p-46, -0x1.502f348f0f913p-43, 0x1.7fb6d2d6528c7p-43}};

static inline double_v log_to(const log_base *base, double_v x, double_v more) {
    double_v k;
    __m512i index;
    const double_v r = log_reduce(x, &k, &index);
    const double_v p = polynomial_double(r, log_few_terms, LENGTH_OF(log_few_terms));
    const double_v rest = fma_double(r * r, fma_double(r, p, (double_v){0} - 0.5), r);
    const double_v high = FMA(double, k + more, base->of_2[0], log_table(base->high, index));
    const double_v low = FMA(double, k + more, base->of_2[1], log_table(base->low, index));
    return high + FMA(double, rest, base->factor, low);
}

/* One instruction puts right what became of nans (which stay), zeros (-infinity, a pole), infinity
 * (itself) and negative numbers (nan, invalid), and raises the flags. */
enum { LOG_ODD = 0x03530422, LOG_FLAGS = 0x61 };
static inline double_v log_fixed(double_v y, double_v x) {
    return (double_v)_mm512_fixupimm_pd((__m512d)y, (__m512d)x, _mm512_set1_epi64(LOG_ODD),
                                        LOG_FLAGS);
}

/* With numbers among them that are not normal, or negative.  (No base: e.) */
static __attribute__((noinline)) double_v log_slow(const log_base *base, double_v x) {
    enum { SMALL = 0x20 };
    if (LIKELY(!_mm512_fpclass_pd_mask((__m512d)x, SMALL))) {
        const __mmask8 odd = _mm512_fpclass_pd_mask((__m512d)x, 0xff);
        const double_v one = (double_v)_mm512_mask_mov_pd((__m512d)x, odd, _mm512_set1_pd(1));
        return log_fixed(base ? log_to(base, one, (double_v){0}) : log_normal(one, (double_v){0}),
                         x);
    }
    const double_m size = SIZE_OF(double, x), infinite = BITS_OF(double, INFINITY);
    const double_m nan = size > infinite, zero = size == 0;
    const double_m invalid = ((double_m)x < 0) & ~nan & ~zero;
    const double_m none = nan | zero | invalid | (size == infinite);
    const double_m small = ~none & (size < BITS_OF(double, DBL_MIN));
    const double_v given = choose_double(none, (double_v){0} + 1, x);
    const double_v one = (double_v){0} + 1;
    const double_v normal = given * choose_double(small, one * 0x1p54, one);
    const double_v more = choose_double(small, (double_v){0} - 54, (double_v){0});
    const double_v y = base ? log_to(base, normal, more) : log_normal(normal, more);
    if (any_double(invalid)) arith_flag(FE_INVALID);
    if (any_double(zero)) arith_flag(FE_DIVBYZERO);
    const double_v end = choose_double(invalid, (double_v){0} + NAN, x); /* nan, infinity */
    return choose_double(zero, (double_v){0} - INFINITY, choose_double(none, end, y));
}

static inline double_v own_log_double(double_v x) {
    return UNLIKELY(any_odd(x)) ? log_slow(NULL, x) : log_normal(x, (double_v){0});
}
static inline double_v own_log2_double(double_v x) {
    return UNLIKELY(any_odd(x)) ? log_slow(&base_2, x) : log_to(&base_2, x, (double_v){0});
}
static inline double_v own_log10_double(double_v x) {
    return UNLIKELY(any_odd(x)) ? log_slow(&base_10, x) : log_to(&base_10, x, (double_v){0});
}

/* log(1 + x) = log(u) + rest / u, where u is 1 + x, rounded, and rest, what the rounding has left,
 * is exact.  It is 2**-53 / |x| of the result, at most, so that 1/u may have a relative error of
 * |x|: where that is less than 1, 1 - (u - 1) will do, else an approximate quotient. */
static __attribute__((noinline)) double_v log1p_slow(double_v x) {
    const double_v u = x + 1;
    const double_m size = SIZE_OF(double, x), zero = size == 0; /* its sign stays */
    const double_m odd = ((double_m)u <= 0) | (size >= BITS_OF(double, INFINITY));
    const double_v given = choose_double(odd, (double_v){0}, x), sum = given + 1, part = sum - 1;
    const double_v rest = (1 - (sum - part)) + (given - part);
    const double_m small = size < BITS_OF(double, 1);
    const double_v inverse =
        choose_double(small, 1 - part, (double_v)_mm512_rcp14_pd((__m512d)sum));
    const double_v log = log_fixed(log_normal(u, (double_v){0}), u);
    const double_v y = fma_double(rest, inverse, log);
    return choose_double(zero, x, choose_double(odd, log, y));
}
static inline double_v own_log1p_double(double_v x) {
    /* (Of 0, what is subtracted makes the greatest of all.) */
    const __m512i size = (__m512i)(SIZE_OF(double, x) - 1),
                  one = _mm512_set1_epi64(0x3ff0000000000000 - 1);
    const double_v u = x + 1;
    const __mmask8 large = _mm512_cmpge_epu64_mask(size, one);
    if (UNLIKELY(large && any_odd(u))) return log1p_slow(x);
    /* (What is behind must not be computed before: infinity - infinity is invalid.) */
    __asm__ volatile("" : "+v"(x));
    const double_v part = u - 1;
    double_v rest = x - part, inverse = 1 - part;
    if (UNLIKELY(large)) {
        const double_m small = SIZE_OF(double, x) < BITS_OF(double, 1);
        rest += 1 - (u - part);
        inverse = choose_double(small, inverse, (double_v)_mm512_rcp14_pd((__m512d)u));
    }
    const double_v y = fma_double(rest, inverse, log_normal(u, (double_v){0}));
    return (double_v)((double_m)y | ((double_m)x & BITS_OF(double, -0.0))); /* (-0.0) */
}

/* log2 of float32, by steps of that type; log2(1 + r) = r * L(r).  (-log2(c) in two parts, as
 * above, of 16 in one register.) */
static const float log2_float_high[16] = {0,
                                          -0x1.663f70p-4f,
                                          -0x1.5c01a4p-3f,
                                          -0x1.fbc16cp-3f,
                                          -0x1.49a784p-2f,
                                          -0x1.91bba8p-2f,
                                          0,
                                          0,
                                          0,
                                          0,
                                          0x1.5b2c3ep-1f,
                                          0x1.14c560p-1f,
                                          0x1.a8ff98p-2f,
                                          0x1.32bfeep-2f,
                                          0x1.8a8980p-3f,
                                          0x1.7d604ap-4f};
static const float log2_float_low[16] = {0,
                                         0x1.4dbb3ap-30f,
                                         0x1.810a5ep-29f,
                                         0x1.bf65fep-29f,
                                         -0x1.79a372p-27f,
                                         -0x1.23e2e2p-27f,
                                         0,
                                         0,
                                         0,
                                         0,
                                         -0x1.79a372p-27f,
                                         0x1.fcd160p-26f,
                                         -0x1.cfdeb4p-27f,
                                         0x1.b87734p-29f,
                                         0x1.57f7a6p-28f,
                                         -0x1.260896p-29f};
static const float log2_float_terms[] = {0x1.715476p+0f,  -0x1.715476p-1f, 0x1.ec706cp-2f,
                                         -0x1.71544ap-2f, 0x1.2845e8p-2f,  -0x1.eddb22p-3f};
static inline float_v log2_normal(float_v x) {
    const __m512 m = _mm512_getmant_ps((__m512)x, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_zero);
    const float_v sum = (float_v)_mm512_rcp14_ps(m) + 0x1.8p19f; /* its last bits are 16*c */
    const float_v k = (float_v)_mm512_getexp_ps((__m512)x) - (float_v)_mm512_getexp_ps(m);
    const float_v r = fma_float((float_v)m, sum - 0x1.8p19f, (float_v){0} - 1);
    const float_v high =
        (float_v)_mm512_permutexvar_ps((__m512i)sum, _mm512_loadu_ps(log2_float_high));
    const float_v low =
        (float_v)_mm512_permutexvar_ps((__m512i)sum, _mm512_loadu_ps(log2_float_low));
    const float_v l = polynomial_float(r, log2_float_terms, LENGTH_OF(log2_float_terms));
    return (k + high) + fma_float(r, l, low);
}
/* Those that are not normal, or negative, as float64. */
static __attribute__((noinline)) float_v log2f_slow(float_v x) {
    enum { SMALL = 0x20 };
    if (LIKELY(!_mm512_fpclass_ps_mask((__m512)x, SMALL)))
        return (float_v)_mm512_fixupimm_ps((__m512)log2_normal(x), (__m512)x,
                                           _mm512_set1_epi32(LOG_ODD), LOG_FLAGS);
    const __m512 one = _mm512_set1_ps(1);
    const __mmask16 odd = _mm512_fpclass_ps_mask((__m512)x, 0xff);
    const __m512 y = (__m512)log2_normal((float_v)_mm512_mask_mov_ps((__m512)x, odd, one));
    const __m512 others = _mm512_mask_mov_ps(one, odd, (__m512)x);
    const __m256 first = _mm512_castps512_ps256(others), second = _mm512_extractf32x8_ps(others, 1);
    const double_v low = log_slow(&base_2, (double_v)_mm512_cvtps_pd(first));
    const double_v high = log_slow(&base_2, (double_v)_mm512_cvtps_pd(second));
    const __m512 both = _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)low)),
                                           _mm512_cvtpd_ps((__m512d)high), 1);
    return (float_v)_mm512_mask_mov_ps(y, odd, both);
}
static inline float_v own_log2_float(float_v x) {
    return UNLIKELY(_mm512_fpclass_ps_mask((__m512)x, 0xff)) ? log2f_slow(x) : log2_normal(x);
}

/* ---- pow ---- */

/* exp(y * log(x)) of positive normal x, with the logarithm and the product as sums of two numbers:
 * all that comes is added to the smaller one.  Of what is beyond the range of exp, *beyond, the
 * result is 1. */
static inline double_v pow_normal(double_v x, double_v y, double_m *beyond) {
    double_v whole;
    double_m k;
    __m512i index;
    const double_v r = log_reduce(x, &whole, &index), square = r * r, half = square * -0.5;
    const double_v table = FMA(double, whole, LN2_HIGH_double, log_table(log_high, index));
    const double_v first = table + r, second = first + half;
    double_v low = FMA(double, whole, LN2_LOW_double, log_table(log_low, index));
    low = FMA(double, fma_double(r, r, -square), -0.5, low);
    low += ((table - first) + r) + ((first - second) + half);
    low = fma_double(r * square, polynomial_double(r, log_terms, LENGTH_OF(log_terms)), low);
    const double_v log = second + low, rest = (second - log) + low;
    double_v product = y * log, error = fma_double(y, rest, fma_double(y, log, -product));
    *beyond = BITS_OF(double, FAST_double) < SIZE_OF(double, product);
    if (UNLIKELY(any_double(*beyond))) {
        product = choose_double(*beyond, (double_v){0}, product);
        error = choose_double(*beyond, (double_v){0}, error);
    }
    const double_v end = exp_rest_double(exp_reduce_double(product, &k) + error);
    return (double_v)((double_m)end + (k << DIGITS_double));
}

/* Where C's function is to be asked, or x is negative. */
static __attribute__((noinline)) double_v pow_slow(double_v x, double_v y) {
    const double_m size = SIZE_OF(double, x), sign = BITS_OF(double, -0.0);
    const double_m negative = (double_m)x < 0;
    double_m beyond, slow = (size < BITS_OF(double, DBL_MIN)) | (size > BITS_OF(double, DBL_MAX)) |
                            (SIZE_OF(double, y) > BITS_OF(double, 0x1p900));
    const double_v exponent = choose_double(slow, (double_v){0} + 1, y), half = exponent * 0.5;
    const double_v base = (double_v)((double_m)choose_double(slow, (double_v){0} + 1, x) & ~sign);
    const double_m odd = (double_v)_mm512_roundscale_pd((__m512d)half, 8) != half;
    slow |= negative & ((double_v)_mm512_roundscale_pd((__m512d)exponent, 8) != exponent);
    double_v result = pow_normal(base, exponent, &beyond);
    result = (double_v)((double_m)result ^ (negative & odd & sign));
    slow |= beyond;
    if (any_double(slow))
        for (int i = 0; i < LANES_double; i++)
            if (slow[i]) result[i] = pow(x[i], y[i]);
    return result;
}

static inline double_v own_pow_double(double_v x, double_v y) {
    double_m beyond;
    const double_m large = BITS_OF(double, 0x1p900) - SIZE_OF(double, y);
    if (UNLIKELY(any_odd(x) || any_double(large))) return pow_slow(x, y);
    const double_v result = pow_normal(x, y, &beyond);
    return UNLIKELY(any_double(beyond)) ? pow_slow(x, y) : result;
}

/* ---- pow of float32 ---- */

/* In float64, with as many terms as float32 needs: log2(x) is exact to 2**-31, of which y * log2(x)
 * is at most 150 times where the result is a number.  log2(1 + r) = r * L(r), and 2**r = P(r)
 * between -0.5 and 0.5, from Chebyshev interpolations; -log2(c) as in log_high. */
static const double log2_single_table[16] = {0,
                                             -0x1.663f6fac91316p-4,
                                             -0x1.5c01a39fbd688p-3,
                                             -0x1.fbc16b902680ap-3,
                                             -0x1.49a784bcd1b8bp-2,
                                             -0x1.91bba891f1709p-2,
                                             0,
                                             0,
                                             0,
                                             0,
                                             0,
                                             0x1.14c560fe68af9p-1,
                                             0x1.a8ff971810a5ep-2,
                                             0x1.32bfee370ee68p-2,
                                             0x1.8a8980abfbd32p-3,
                                             0x1.7d60496cfbb4cp-4};
static const double log2_single_terms[] = {0x1.7154765304b7ap+0, -0x1.715476533e200p-1,
                                           0x1.ec7077b4b5e6ap-2, -0x1.7154550510407p-2,
                                           0x1.282a231e62187p-2, -0x1.edaa86cfee196p-3};
static const double exp2_single_terms[] = {
    0x1.0000000000000p+0, 0x1.62e430d034702p-1,  0x1.ebfbe045f4d3cp-3, 0x1.c6aecc669b6ddp-5,
    0x1.3b2a1b7152befp-7, 0x1.5f48c04f62e50p-10, 0x1.443fffc90db59p-13};

/* Of positive x.  (What is too large for float32, or too small, the last conversion makes of it.)
 */
static inline __m256 pow_half(__m256 base, __m256 exponent) {
    double_v k;
    __m512i index;
    const double_v r = log_reduce((double_v)_mm512_cvtps_pd(base), &k, &index);
    const double_v l = polynomial_double(r, log2_single_terms, LENGTH_OF(log2_single_terms));
    const double_v log = fma_double(r, l, log_table(log2_single_table, index) + k);
    const double_v product = (double_v)_mm512_cvtps_pd(exponent) * log;
    const double_v whole = (double_v)_mm512_roundscale_pd((__m512d)product, 8);
    const double_v p =
        polynomial_double(product - whole, exp2_single_terms, LENGTH_OF(exp2_single_terms));
    return _mm512_cvtpd_ps(_mm512_scalef_pd((__m512d)p, (__m512d)whole));
}
static inline float_v pow_positive(float_v x, float_v y) {
    const __m256 low =
        pow_half(_mm512_castps512_ps256((__m512)x), _mm512_castps512_ps256((__m512)y));
    const __m256 high =
        pow_half(_mm512_extractf32x8_ps((__m512)x, 1), _mm512_extractf32x8_ps((__m512)y, 1));
    return (float_v)_mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}

/* Is there an x that is not positive, 0, infinite or nan, or a y that is infinite or nan? */
static inline bool any_odd_power(float_v x, float_v y) {
    enum { NOT_FINITE = 0x99, NOT_POSITIVE = 0xdf };
    return _mm512_fpclass_ps_mask((__m512)x, NOT_POSITIVE) |
           _mm512_fpclass_ps_mask((__m512)y, NOT_FINITE);
}

/* Then C's function is asked, but for whole powers of negative numbers. */
static __attribute__((noinline)) float_v powf_slow(float_v x, float_v y) {
    const float_m size = SIZE_OF(float, x), sign = BITS_OF(float, -0.0), negative = (float_m)x < 0;
    float_m slow = (size == 0) | (size > BITS_OF(float, FLT_MAX)) |
                   (SIZE_OF(float, y) > BITS_OF(float, FLT_MAX));
    const float_v one = (float_v){0} + 1, exponent = choose_float(slow, one, y);
    const float_v half = exponent * 0.5f;
    const float_m odd = (float_v)_mm512_roundscale_ps((__m512)half, 8) != half;
    slow |= negative & ((float_v)_mm512_roundscale_ps((__m512)exponent, 8) != exponent);
    const float_v base = (float_v)((float_m)choose_float(slow, one, x) & ~sign);
    float_v result = pow_positive(base, choose_float(slow, one, exponent));
    result = (float_v)((float_m)result ^ (negative & odd & sign));
    if (any_float(slow))
        for (int i = 0; i < LANES_float; i++)
            if (slow[i]) result[i] = powf(x[i], y[i]);
    return result;
}

static inline float_v own_pow_float(float_v x, float_v y) {
    return UNLIKELY(any_odd_power(x, y)) ? powf_slow(x, y) : pow_positive(x, y);
}

/* ---- hypot ---- */

/* Where the squares are numbers of normal size, or zeros; else it is C's function. */
static inline double_v own_hypot(double_v x, double_v y) {
    return (double_v)_mm512_sqrt_pd((__m512d)fma_double(x, x, y * y));
}
static __attribute__((noinline)) double_v hypot_slow(double_v x, double_v y, double_m slow) {
    const double_v zero = {0};
    const double_v root = own_hypot(choose_double(slow, zero, x), choose_double(slow, zero, y));
    /* By the exponent of the greater one, which is added again behind the root. */
    const double_m a = SIZE_OF(double, x), b = SIZE_OF(double, y),
                   infinity = BITS_OF(double, INFINITY);
    const double_m infinite = (a == infinity) | (b == infinity),
                   odd = (a >= infinity) | (b >= infinity);
    const double_m plain = odd | ~slow;
    const double_v u = choose_double(plain, zero + 1, (double_v)a);
    const double_v v = choose_double(plain, zero + 1, (double_v)b);
    const double_v exponent = (double_v)_mm512_getexp_pd(_mm512_max_pd((__m512d)u, (__m512d)v));
    const __m512d scaled =
        (__m512d)own_hypot((double_v)_mm512_scalef_pd((__m512d)u, (__m512d)-exponent),
                           (double_v)_mm512_scalef_pd((__m512d)v, (__m512d)-exponent));
    const double_v size = (double_v)_mm512_scalef_pd(scaled, (__m512d)exponent);
    const double_v end = choose_double(infinite, zero + INFINITY, zero + NAN);
    return choose_double(odd & slow, end, choose_double(slow, size, root));
}

/* Sizes of complex numbers that lie side by side: the greater part decides whether squares fit. */
static inline double_v own_size(const char *p) {
    const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    const __m512d low = _mm512_loadu_pd(p), high = _mm512_loadu_pd(p + 64);
    const double_v x = (double_v)_mm512_permutex2var_pd(low, even, high);
    const double_v y =
        (double_v)_mm512_permutex2var_pd(low, _mm512_or_si512(even, _mm512_set1_epi64(1)), high);
    const __m512i most = _mm512_max_epi64((__m512i)SIZE_OF(double, x), (__m512i)SIZE_OF(double, y));
    const double_m size = (double_m)most;
    const double_m slow =
        ((size < BITS_OF(double, 0x1p-500)) & (size != 0)) | (size > BITS_OF(double, 0x1p500));
    return UNLIKELY(any_double(slow)) ? hypot_slow(x, y, slow) : own_hypot(x, y);
}

/* ---- sin and cos ---- */

/* x = k * pi/2 + r, in float64, where that is exact enough for numbers of up to 2**28; the
 * polynomials of the rest in float32. */
static const float sin_terms[] = {-0x1.555556p-3f, 0x1.11110ep-7f, -0x1.a013a2p-13f,
                                  0x1.6dbbeep-19f};
static const float cos_terms[] = {0x1.555554p-5f, -0x1.6c12cep-10f, 0x1.9bd670p-16f};

/* r of eight elements; *k: four times the quarters, as far as ints have room. */
static inline __m256 quarters(__m256 given, __m256i *k) {
    const double_v x = (double_v)_mm512_cvtps_pd(given);
    const double_v sum = FMA(double, x, M_2_PI, (double_v){0} + ROUND_double);
    const double_v whole = sum - ROUND_double;
    *k = _mm512_cvtepi64_epi32((__m512i)sum);
    return _mm512_cvtpd_ps((__m512d)FMA(double, whole, -0x1.1a62633145c07p-54,
                                        FMA(double, whole, -0x1.921fb54442d18p+0, x)));
}

/* The rest's sine, k quarters on. */
static inline float_v sine_of(float_v r, float_m k) {
    const float_v square = r * r;
    /* (A product, for the sign of -0.0.) */
    const float_v s =
        r * fma_float(square, polynomial_float(square, sin_terms, LENGTH_OF(sin_terms)),
                      (float_v){0} + 1);
    const float_v c =
        fma_float(square * square, polynomial_float(square, cos_terms, LENGTH_OF(cos_terms)),
                  FMA(float, square, -0.5, (float_v){0} + 1));
    return (float_v)((float_m)choose_float((k & 1) != 0, c, s) ^ ((k & 2) << 30));
}

/* sin(x + quarter * pi/2) of numbers of up to 2**20: the first part of k * pi/2 is taken away
 * without rounding, and the smallest rest that a float32 has there is about as large as k times the
 * third one.
 */
static inline float_v small_sine(float_v x, int quarter) {
    const float_v sum = FMA(float, x, M_2_PI, (float_v){0} + 0x1.8p23f), whole = sum - 0x1.8p23f;
    const float_v r =
        FMA(float, whole, -0x1.84698ap-48f,
            FMA(float, whole, -0x1.4442dp-24f, FMA(float, whole, -0x1.921fb4p+0f, x)));
    return sine_of(r, (float_m)sum + (int32_t)quarter);
}

/* The same of larger ones. */
static inline float_v sine(float_v x, int quarter) {
    __m256i k0, k1;
    const __m256 r0 = quarters(_mm512_castps512_ps256((__m512)x), &k0);
    const __m256 r1 = quarters(_mm512_extractf32x8_ps((__m512)x, 1), &k1);
    const float_v r = (float_v)_mm512_insertf32x8(_mm512_castps256_ps512(r0), r1, 1);
    const float_m k =
        (float_m)_mm512_inserti32x8(_mm512_castsi256_si512(k0), k1, 1) + (int32_t)quarter;
    return sine_of(r, k);
}

#define SINE(name, quarter)                                                                        \
    static __attribute__((noinline)) float_v name##_slow(float_v x) {                              \
        const float_m large = SIZE_OF(float, x) > BITS_OF(float, 0x1p20);                          \
        const float_m slow = SIZE_OF(float, x) > BITS_OF(float, 0x1p28);                           \
        float_v y = sine(choose_float(slow, (float_v){0}, x), quarter);                            \
        if (any_float(~large))                                                                     \
            y = choose_float(large, y, small_sine(choose_float(large, (float_v){0}, x), quarter)); \
        if (any_float(slow))                                                                       \
            for (int i = 0; i < LANES_float; i++)                                                  \
                if (slow[i]) y[i] = name##f(x[i]);                                                 \
        return y;                                                                                  \
    }                                                                                              \
    static inline float_v own_##name##_float(float_v x) {                                          \
        const bool slow = any_float(BITS_OF(float, 0x1p20) - SIZE_OF(float, x));                   \
        return UNLIKELY(slow) ? name##_slow(x) : small_sine(x, quarter);                           \
    }
SINE(sin, 0)
SINE(cos, 1)

/* Of float64, where libmvec calls the scalar function: of sizes from 1 to MOST_SINE.  They are at
 * most 2**50 since the quarters' number k, which the sum with ROUND has as its last bits, may be
 * wrong by little only.  x less k times the first part of pi/2 is a number without rounding; with
 * the second part it is the sum of two, since what cancels can leave 2**-58 of it. */
#define MOST_SINE 0x1p50
static const double large_sin_terms[] = {
    -1.0 / 6,        1.0 / 120,        -1.0 / 5040,          1.0 / 362880,
    -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000};
static const double large_cos_terms[] = {
    1.0 / 24,        -1.0 / 720,         1.0 / 40320,          -1.0 / 3628800,
    1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000, -1.0 / 6402373705728000};

static inline double_v large_sine(double_v x, int64_t quarter) {
    const double_v sum = FMA(double, x, M_2_PI, (double_v){0} + ROUND_double);
    const double_v k = sum - ROUND_double;
    const double_v first = FMA(double, k, -0x1.921fb54442d18p+0, x);
    const double_v part = k * 0x1.1a62633145c07p-54;
    const double_v part_rest = FMA(double, k, 0x1.1a62633145c07p-54, -part);
    const double_v high = first - part, back = first - high;
    const double_v lost = (first - (high + back)) + (back - part);
    const double_v low = FMA(double, k, 0x1.f1976b7ed8fbcp-110, lost - part_rest);
    const double_v r = high + low, rest = (high - r) + low, square = r * r;
    const double_v p = polynomial_double(square, large_sin_terms, LENGTH_OF(large_sin_terms));
    const double_v s = r + fma_double(r * square, p, rest);
    const double_v q = polynomial_double(square, large_cos_terms, LENGTH_OF(large_cos_terms));
    const double_v c =
        FMA(double, square, -0.5, (double_v){0} + 1) + fma_double(square * square, q, -r * rest);
    const double_m turns = (double_m)sum + quarter;
    return (double_v)((double_m)choose_double((turns & 1) != 0, c, s) ^ ((turns & 2) << 62));
}

#define LARGE_SINE(name, quarter)                                                      \
    static __attribute__((noinline)) double_v large_##name##_double(double_v x) {      \
        const double_m beyond = SIZE_OF(double, x) > BITS_OF(double, MOST_SINE);       \
        double_v y = large_sine(choose_double(beyond, (double_v){0} + 1, x), quarter); \
        if (any_double(beyond))                                                        \
            for (int i = 0; i < LANES_double; i++)                                     \
                if (beyond[i]) y[i] = name(x[i]);                                      \
        return y;                                                                      \
    }
LARGE_SINE(sin, 0)
LARGE_SINE(cos, 1)
#endif
#endif
#endif
