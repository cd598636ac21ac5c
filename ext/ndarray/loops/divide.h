/* divide.h: rests and floors of the quotients of floats (kernels.py: fmod, remainder,
 * floor_divide).
 *
 * C's fmod divides bit by bit.  Where the machine multiplies and adds with one rounding (FMA), a
 * quotient below 2**52 that is cut to a whole number is right or one too large, its rest
 * a - quotient * b is a number without rounding in both cases, and the second one shows by its
 * sign.
 *
 * Invariants
 *  1. Results, and the flags that warn, are those of the functions with fmod, bit for bit.
 *  2. Where fmod is left to do the work (nans, infinities, zeros, larger quotients), the others are
 *     computed of harmless numbers: the loops are compiled as if flags did not matter, and a
 *     compiler may compute on both sides of a condition. */
#ifndef ND_DIVIDE_H
#define ND_DIVIDE_H

#include "loops/arith.h"

typedef enum nd_division { ND_FMOD, ND_REMAINDER, ND_FLOOR } nd_division;

#define ND_SLOW_DIVISION(T, suffix)                                                        \
    static inline T divide_slowly##suffix(nd_division what, T a, T b) {                    \
        if (what == ND_FMOD) return fmod##suffix(a, b);                                    \
        return what == ND_FLOOR ? floor_divide##suffix(a, b) : remainder_of##suffix(a, b); \
    }
ND_SLOW_DIVISION(double, )
ND_SLOW_DIVISION(float, f)

#if defined(__FMA__) || defined(__FP_FAST_FMA)
/* (What is above, as steps without jumps, so that rows are vectorised.)  `small`: a number whose
 * product with a is below b where the quotient is. */
#define ND_FAST_DIVISION(T, I, suffix, small)                                                      \
    static inline I bits##suffix(T x) {                                                            \
        I bits;                                                                                    \
        memcpy(&bits, &x, sizeof x);                                                               \
        return bits;                                                                               \
    }                                                                                              \
    /* 0 if it is, and b is finite; else 1.  (Comparisons would set a flag for nans; without a     \
     * sign, bits are in the order of the numbers, with infinities and nans behind them.) */       \
    static inline I is_slow##suffix(T a, T b) {                                                    \
        const I x = bits##suffix(fabs##suffix(a) * (small)), y = bits##suffix(fabs##suffix(b));    \
        const I large = x < y ? 0 : 1, infinite = y < bits##suffix((T)INFINITY) ? 0 : 1;           \
        return large | infinite;                                                                   \
    }                                                                                              \
    static inline T divide_fast##suffix(nd_division what, T a, T b) {                              \
        const T x = fabs##suffix(a), y = fabs##suffix(b);                                          \
        const T cut = fma##suffix(-trunc##suffix(x / y), y, x);                                    \
        const T rest = copysign##suffix(cut < 0 ? cut + y : cut, a);                               \
        if (what == ND_FMOD) return rest;                                                          \
        /* 1 if there is a rest on the other side of 0. */                                         \
        const T other = rest == 0                                             ? 0                  \
                        : copysign##suffix(1, rest) == copysign##suffix(1, b) ? 0                  \
                                                                              : 1;                 \
        const T moved = other * b + rest;                                                          \
        if (what == ND_REMAINDER) return rest == 0 ? copysign##suffix(0, b) : moved;               \
        const T quotient = (a - rest) / b - other, low = floor##suffix(quotient);                  \
        const T down = quotient - low > (T)0.5 ? low + 1 : low;                                    \
        return quotient == 0 ? copysign##suffix(0, a / b) : down;                                  \
    }                                                                                              \
    /* (By way of memory: a compiler may compute of a and b themselves before the jump.) */        \
    static inline T divide##suffix(nd_division what, T a, T b) {                                   \
        if (UNLIKELY(is_slow##suffix(a, b))) return divide_slowly##suffix(what, a, b);             \
        T x = a, y = b;                                                                            \
        __asm__ volatile("" : "+m"(x), "+m"(y));                                                   \
        return divide_fast##suffix(what, x, y);                                                    \
    }                                                                                              \
    static inline void spread##suffix(T *to, const T *from, int64_t step, int64_t count) {         \
        if (step)                                                                                  \
            memcpy(to, from, (size_t)count * sizeof(T));                                           \
        else                                                                                       \
            for (int64_t i = 0; i < count; i++) to[i] = *from;                                     \
    }                                                                                              \
    /* Elements side by side, or one number for all (step 0).  The output may be an input. (Always \
     * inline, since `what` has to be a constant for the loops to become vectors.) */              \
    static inline __attribute__((always_inline)) void divide_row##suffix(                          \
        nd_division what, T *out, const T *a, int64_t step_a, const T *b, int64_t step_b,          \
        int64_t count) {                                                                           \
        enum { BLOCK = 128 };                                                                      \
        T left[BLOCK], right[BLOCK], result[BLOCK];                                                \
        for (; count > 0; count -= BLOCK) {                                                        \
            const int64_t n = count < BLOCK ? count : BLOCK;                                       \
            I slow = 0;                                                                            \
            spread##suffix(left, a, step_a, n);                                                    \
            spread##suffix(right, b, step_b, n);                                                   \
            for (int64_t i = 0; i < n; i++) slow += is_slow##suffix(left[i], right[i]);            \
            if (LIKELY(!slow))                                                                     \
                for (int64_t i = 0; i < n; i++)                                                    \
                    result[i] = divide_fast##suffix(what, left[i], right[i]);                      \
            else if (slow < n / 2)                                                                 \
                for (int64_t i = 0; i < n; i++)                                                    \
                    result[i] = divide##suffix(what, left[i], right[i]);                           \
            else                                                                                   \
                for (int64_t i = 0; i < n; i++)                                                    \
                    result[i] = divide_slowly##suffix(what, left[i], right[i]);                    \
            memcpy(out, result, (size_t)n * sizeof(T));                                            \
            a += n * step_a;                                                                       \
            b += n * step_b;                                                                       \
            out += n;                                                                              \
        }                                                                                          \
    }
ND_FAST_DIVISION(double, int64_t, , 0x1p-52)
ND_FAST_DIVISION(float, int32_t, f, 0x1p-23f)
#else
#define ND_FAST_DIVISION(T, suffix)                                                             \
    static inline T divide##suffix(nd_division what, T a, T b) {                                \
        return divide_slowly##suffix(what, a, b);                                               \
    }                                                                                           \
    static inline void divide_row##suffix(nd_division what, T *out, const T *a, int64_t step_a, \
                                          const T *b, int64_t step_b, int64_t count) {          \
        for (int64_t i = 0; i < count; i++)                                                     \
            out[i] = divide_slowly##suffix(what, a[i * step_a], b[i * step_b]);                 \
    }
ND_FAST_DIVISION(double, )
ND_FAST_DIVISION(float, f)
#endif

#endif
