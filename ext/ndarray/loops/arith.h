/* arith.h: what the elements of arrays do in loops (kernels.py) where C has no operator for it.
 *
 * Invariants
 *  1. The results are NumPy's, bit for bit: ints wrap, division by zero of ints gives 0 and raises
 *     the floating point flag, complex numbers are multiplied and divided as NumPy does it.
 *  2. Nothing here depends on the instruction set. */
#ifndef ND_ARITH_H
#define ND_ARITH_H

#include <complex.h>
#include <fenv.h>
#include <float.h>
#include <math.h>

#include "array/dtype.h"

/* Sets floating point flags where no operation of the machine would.  (C's feraiseexcept sets those
 * of another unit on x86.) */
#ifdef __SSE2__
#include <xmmintrin.h>
static inline void arith_flag(unsigned flags) {
    const unsigned now = _mm_getcsr();
    if ((now & flags) != flags) _mm_setcsr(now | flags); /* (much slower than looking) */
}
/* The same as FE_DIVBYZERO, where many elements may do it: by the operation, which is quicker. */
static inline void arith_flag_zero(void) {
    double one = 1;
    const double zero = 0;
    __asm__ volatile("divsd %1, %0" : "+x"(one) : "x"(zero));
}
/* The flags that are set, among those that warn. */
enum { ARITH_WARN = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW };
static inline unsigned arith_flags(void) { return _mm_getcsr() & ARITH_WARN; }
static inline unsigned arith_underflow(void) { return _mm_getcsr() & FE_UNDERFLOW; }
static inline void arith_clear(void) {
    _mm_setcsr(_mm_getcsr() & ~(unsigned)(ARITH_WARN | FE_UNDERFLOW));
}
#else
static inline void arith_flag(unsigned flags) { feraiseexcept((int)flags); }
static inline void arith_flag_zero(void) { feraiseexcept(FE_DIVBYZERO); }
enum { ARITH_WARN = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW };
static inline unsigned arith_flags(void) { return (unsigned)fetestexcept(ARITH_WARN); }
static inline unsigned arith_underflow(void) { return (unsigned)fetestexcept(FE_UNDERFLOW); }
static inline void arith_clear(void) { feclearexcept(ARITH_WARN | FE_UNDERFLOW); }
#endif

/* The elements of a loop depend on each other in no way, though output and input may be one.
 * (clang, when it is told, complains of each loop that it does not vectorise.) */
#ifdef __clang__
#define ND_INDEPENDENT
#else
#define ND_INDEPENDENT _Pragma("GCC ivdep")
#endif

/* ---- Ints ---- */

#define ND_INT_ARITHMETIC(name, T, least)                              \
    static inline T name##_floor_divide(T a, T b) {                    \
        if (UNLIKELY(b == 0)) {                                        \
            arith_flag_zero();                                         \
            return 0;                                                  \
        }                                                              \
        if (UNLIKELY(a == (least) && b == -1)) {                       \
            arith_flag(FE_OVERFLOW);                                   \
            return a;                                                  \
        }                                                              \
        return (T)(a / b - ((a % b != 0) & ((a < 0) != (b < 0))));     \
    }                                                                  \
    static inline T name##_remainder(T a, T b) {                       \
        if (UNLIKELY(b == 0)) {                                        \
            arith_flag_zero();                                         \
            return 0;                                                  \
        }                                                              \
        if (UNLIKELY(b == -1)) return 0;                               \
        T rest = (T)(a % b);                                           \
        return (T)(rest != 0 && (a < 0) != (b < 0) ? rest + b : rest); \
    }                                                                  \
    static inline T name##_fmod(T a, T b) {                            \
        if (UNLIKELY(b == 0)) {                                        \
            arith_flag_zero();                                         \
            return 0;                                                  \
        }                                                              \
        return (T)(b == -1 ? 0 : a % b);                               \
    }
ND_INT_ARITHMETIC(int8, int8_t, INT8_MIN)
ND_INT_ARITHMETIC(int16, int16_t, INT16_MIN)
ND_INT_ARITHMETIC(int32, int32_t, INT32_MIN)
ND_INT_ARITHMETIC(int64, int64_t, INT64_MIN)

#define ND_UNSIGNED_ARITHMETIC(name, T)             \
    static inline T name##_floor_divide(T a, T b) { \
        if (LIKELY(b)) return a / b;                \
        arith_flag_zero();                          \
        return 0;                                   \
    }                                               \
    static inline T name##_remainder(T a, T b) {    \
        if (LIKELY(b)) return a % b;                \
        arith_flag_zero();                          \
        return 0;                                   \
    }
ND_UNSIGNED_ARITHMETIC(uint8, uint8_t)
ND_UNSIGNED_ARITHMETIC(uint16, uint16_t)
ND_UNSIGNED_ARITHMETIC(uint32, uint32_t)
ND_UNSIGNED_ARITHMETIC(uint64, uint64_t)

/* Modulo 2**64: the low bits are right for every int type.  The exponent is not negative. */
static inline uint64_t int_power(uint64_t base, uint64_t exponent) {
    uint64_t result = 1;
    for (; exponent; exponent >>= 1, base *= base)
        if (exponent & 1) result *= base;
    return result;
}

/* ---- Floats ---- */

#define ND_FLOAT_ARITHMETIC(T, suffix)                                         \
    static inline T floor_divide##suffix(T a, T b) {                           \
        if (UNLIKELY(!b)) return a / b;                                        \
        __asm__ volatile("" : "+m"(a)); /* no fmod of 0, whose flag it sets */ \
        const T r = fmod##suffix(a, b);                                        \
        T quotient = (a - r) / b;                                              \
        if (UNLIKELY(r != r)) return r; /* comparing it would set a flag */    \
        if (r != 0 && (b < 0) != (r < 0)) quotient -= 1;                       \
        if (quotient == 0) return copysign##suffix(0, a / b);                  \
        const T down = floor##suffix(quotient);                                \
        return quotient - down > (T)0.5 ? down + 1 : down;                     \
    }                                                                          \
    /* The rest alone: the quotient could set flags. */                        \
    static inline T remainder_of##suffix(T a, T b) {                           \
        T r = fmod##suffix(a, b);                                              \
        if (UNLIKELY(!b || r != r)) return r;                                  \
        if (r == 0) return copysign##suffix(0, b);                             \
        return (b < 0) != (r < 0) ? r + b : r;                                 \
    }
ND_FLOAT_ARITHMETIC(double, )
ND_FLOAT_ARITHMETIC(float, f)

/* (As ints, whose comparisons are vectorised.) */
static inline int sign_bit(double a) {
    int64_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits < 0;
}
static inline int sign_bitf(float a) {
    int32_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits < 0;
}

#define ND_LOG_ADD_EXP(T, suffix)                                               \
    static inline T log_add_exp##suffix(T a, T b) {                             \
        if (a == b) return a + (T)M_LN2;                                        \
        const T difference = a - b;                                             \
        if (difference > 0) return a + log1p##suffix(exp##suffix(-difference)); \
        if (difference <= 0) return b + log1p##suffix(exp##suffix(difference)); \
        return difference; /* a nan */                                          \
    }
ND_LOG_ADD_EXP(double, )
ND_LOG_ADD_EXP(float, f)

/* ---- Complex numbers ---- */

static inline nd_complex complex_add(nd_complex a, nd_complex b) {
    return (nd_complex){a.real + b.real, a.imag + b.imag};
}
static inline nd_complex complex_subtract(nd_complex a, nd_complex b) {
    return (nd_complex){a.real - b.real, a.imag - b.imag};
}
/* As two pairs of products, the real part's second one with its sign turned: from a difference
 * beside a sum, gcc 12 makes a fused multiply-add for AVX-512, with -ffp-contract=off too. */
static inline nd_complex complex_multiply(nd_complex a, nd_complex b) {
    typedef double pair __attribute__((vector_size(16)));
    typedef int64_t bits __attribute__((vector_size(16)));
    const pair first = (pair){a.real, a.real} * (pair){b.real, b.imag};
    const pair second = (pair){a.imag, a.imag} * (pair){b.imag, b.real};
    const pair both = first + (pair)((bits)second ^ (bits){INT64_MIN, 0});
    return (nd_complex){both[0], both[1]};
}

/* Smith's algorithm. */
/* The loops are compiled as if floating point flags did not matter, so that a compiler may divide
 * on both sides of a branch.  Here the divisions are those that NumPy does, and no others: it does
 * not know what it divides by. */
#ifdef __SSE2__
#define ARITH_OPAQUE(x) __asm__("" : "+x"(x))
#else
#define ARITH_OPAQUE(x) __asm__("" : "+m"(x))
#endif
static __attribute__((noinline)) nd_complex complex_divide_by_zero(nd_complex a, double zero) {
    return (nd_complex){a.real / zero, a.imag / zero};
}
/* Comparing with a nan is invalid, but not each compiler's comparison says so. */
static inline void complex_note_unordered(nd_complex z) {
    if (UNLIKELY((z.real != z.real) | (z.imag != z.imag))) arith_flag(FE_INVALID);
}
#define ND_COMPLEX_DIVISION(T, name)                                                            \
    static inline nd_complex name##_divide(nd_complex a, nd_complex b) {                        \
        complex_note_unordered(b);                                                              \
        const bool wide = fabs(b.real) >= fabs(b.imag);                                         \
        const T small = (T)(wide ? b.imag : b.real);                                            \
        T large = (T)(wide ? b.real : b.imag);                                                  \
        ARITH_OPAQUE(large);                                                                    \
        if (UNLIKELY(large == 0 && small == 0)) return complex_divide_by_zero(a, fabs(b.real)); \
        const T ratio = small / large, scale = 1 / (large + small * ratio);                     \
        const T real = (T)a.real, imag = (T)a.imag;                                             \
        const T first = wide ? real : imag, second = wide ? imag : real;                        \
        const T rest = wide ? imag - real * ratio : imag * ratio - real;                        \
        return (nd_complex){(first + second * ratio) * scale, rest * scale};                    \
    }                                                                                           \
    static inline nd_complex name##_reciprocal(nd_complex a) {                                  \
        complex_note_unordered(a);                                                              \
        const bool wide = fabs(a.imag) <= fabs(a.real);                                         \
        const T small = (T)(wide ? a.imag : a.real);                                            \
        T large = (T)(wide ? a.real : a.imag);                                                  \
        ARITH_OPAQUE(large);                                                                    \
        const T ratio = small / large, divisor = large + small * ratio;                         \
        const T real = wide ? 1 : ratio, imag = wide ? -ratio : -1;                             \
        return (nd_complex){real / divisor, imag / divisor};                                    \
    }
ND_COMPLEX_DIVISION(double, complex)
ND_COMPLEX_DIVISION(float, complex64)

/* Numbers of complex64 are computed as these, where it makes no difference; products do. */
static inline nd_complex widen_complex(nd_complex64 a) { return (nd_complex){a.real, a.imag}; }
static inline nd_complex64 narrow_complex(nd_complex a) {
    return (nd_complex64){(float)a.real, (float)a.imag};
}
static inline nd_complex complex64_multiply(nd_complex a, nd_complex b) {
    const nd_complex64 x = narrow_complex(a), y = narrow_complex(b);
    return (nd_complex){x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real};
}

static inline int complex_truth(nd_complex a) { return (a.real != 0) | (a.imag != 0); }
static inline int complex_nan(nd_complex a) { return (a.real != a.real) | (a.imag != a.imag); }
static inline bool complex_equal(nd_complex a, nd_complex b) {
    return (a.real == b.real) & (a.imag == b.imag);
}

/* By the real part, then by the imaginary one; nans of the other part count.  (Without jumps, for
 * vectors.  That comparing with a nan is invalid, kernels.py says; whether NumPy has compared it,
 * ufunc.c looks.) */
#define ND_COMPLEX_ORDER(name, operator, strict)                           \
    static inline bool complex_##name(nd_complex a, nd_complex b) {        \
        const bool before = a.real strict b.real, same = a.real == b.real; \
        const bool numbers = (a.imag == a.imag) & (b.imag == b.imag);      \
        return (before & numbers) | (same & (a.imag operator b.imag));     \
    }
ND_COMPLEX_ORDER(less, <, <)
ND_COMPLEX_ORDER(less_equal, <=, <)
ND_COMPLEX_ORDER(greater, >, >)
ND_COMPLEX_ORDER(greater_equal, >=, >)

/* (The parts, not the numbers, are chosen: of these gcc makes no vectors.) */
static inline nd_complex complex_choose(bool first, nd_complex a, nd_complex b) {
    return (nd_complex){first ? a.real : b.real, first ? a.imag : b.imag};
}
/* (That the first one stays is a function of its own: folds jump if it does not.) */
#define ND_COMPLEX_EXTREME(name, first_nan, order)                        \
    static inline bool complex_stays_##name(nd_complex a, nd_complex b) { \
        return complex_nan(first_nan) | complex_##order(a, b);            \
    }                                                                     \
    static inline nd_complex complex_##name(nd_complex a, nd_complex b) { \
        return complex_choose(complex_stays_##name(a, b), a, b);          \
    }
ND_COMPLEX_EXTREME(maximum, a, greater_equal)
ND_COMPLEX_EXTREME(minimum, a, less_equal)
ND_COMPLEX_EXTREME(fmax, b, greater_equal)
ND_COMPLEX_EXTREME(fmin, b, less_equal)

static inline nd_complex complex_sign(nd_complex a) {
    const nd_complex zero = {0, 0};
    const double sign = complex_greater(a, zero) ? 1 : complex_less(a, zero) ? -1 : 0;
    return (nd_complex){complex_nan(a) ? NAN : sign, 0};
}

/* (Not all compilers have CMPLX.) */
static inline double complex complex_to_c(nd_complex a) {
    double complex c;
    memcpy(&c, &a, sizeof c);
    return c;
}
static inline nd_complex complex_of_c(double complex c) { return (nd_complex){creal(c), cimag(c)}; }
#define complex_call(function, a)   complex_of_c(function(complex_to_c(a)))
#define complex64_call(function, a) complex_of_c(function((float complex)complex_to_c(a)))

/* As NumPy has them: by way of exp, log and functions of the parts. */
static inline nd_complex complex_exp2(nd_complex a) {
    return complex_call(cexp, ((nd_complex){a.real * M_LN2, a.imag * M_LN2}));
}
static inline nd_complex complex_log2(nd_complex a) {
    const nd_complex log = complex_call(clog, a);
    return (nd_complex){log.real * M_LOG2E, log.imag * M_LOG2E};
}
static inline nd_complex complex_log10(nd_complex a) {
    const nd_complex log = complex_call(clog, a);
    return (nd_complex){log.real * M_LOG10E, log.imag * M_LOG10E};
}
static inline nd_complex complex_log1p(nd_complex a) {
    return (nd_complex){log(hypot(a.real + 1, a.imag)), atan2(a.imag, a.real + 1)};
}
static inline nd_complex complex_expm1(nd_complex a) {
    const double half = sin(a.imag / 2);
    return (nd_complex){expm1(a.real) * cos(a.imag) - 2 * half * half, exp(a.real) * sin(a.imag)};
}

/* Small integral exponents by multiplication, as NumPy does. */
#define ND_COMPLEX_POWER(name, T, general)                                                    \
    static inline nd_complex name##_power(nd_complex a, nd_complex b) {                       \
        const nd_complex one = {1, 0};                                                        \
        if (b.real == 0 && b.imag == 0) return one;                                           \
        if (a.real == 0 && a.imag == 0) {                                                     \
            if (b.real > 0 && b.imag == 0) return (nd_complex){0, 0};                         \
            arith_flag(FE_INVALID);                                                           \
            return (nd_complex){NAN, NAN};                                                    \
        }                                                                                     \
        if (b.imag == 0 && b.real > -100 && b.real < 100 && b.real == (double)(int)b.real) {  \
            int n = (int)b.real;                                                              \
            if (n == 1) return a;                                                             \
            if (n == 2) return name##_multiply(a, a);                                         \
            if (n == 3) return name##_multiply(a, name##_multiply(a, a));                     \
            nd_complex result = one, power = a;                                               \
            unsigned left = (unsigned)(n < 0 ? -n : n);                                       \
            for (unsigned mask = 1;;) {                                                       \
                if (left & mask) result = name##_multiply(result, power);                     \
                mask <<= 1;                                                                   \
                if (left < mask) break;                                                       \
                power = name##_multiply(power, power);                                        \
            }                                                                                 \
            return n < 0 ? name##_divide(one, result) : result;                               \
        }                                                                                     \
        return complex_of_c(general((T complex)complex_to_c(a), (T complex)complex_to_c(b))); \
    }
ND_COMPLEX_POWER(complex, double, cpow)
ND_COMPLEX_POWER(complex64, float, cpowf)

#endif
