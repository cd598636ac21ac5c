/* half.h: float16, which few compilers and processors have: its bits, and the numbers that they
 * mean.
 *
 * Invariants
 *  1. Rounding is to the nearest, and in the middle to the even one.  What becomes infinite raises
 *     FE_OVERFLOW, as in NumPy. */
#ifndef ND_HALF_H
#define ND_HALF_H

#include "loops/arith.h"

static inline float half_value(nd_half h) {
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = h & 0x7FFF;
    uint32_t bits =
        sign | (rest >= 0x7C00 ? 0x7F800000 | (rest & 0x3FF) << 13 : (rest << 13) + (112 << 23));
    float x;
    if (rest < 0x400) return (sign ? -1.0F : 1.0F) * (float)rest * 0x1p-24F;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline nd_half half_of(double x) {
    uint64_t bits;
    const double size = fabs(x);
    memcpy(&bits, &size, sizeof bits);
    const uint32_t sign = signbit(x) ? 0x8000 : 0;
    if (x != x) {
        const uint32_t rest = (uint32_t)(bits >> 42) & 0x3FF;
        return (nd_half)(sign | 0x7C00 | (rest ? rest : 1));
    }
    if (size >= 65520) {
        if (size <= DBL_MAX) arith_flag(FE_OVERFLOW);
        return (nd_half)(sign | 0x7C00);
    }
    if (size < 0x1p-14) return (nd_half)(sign | (uint32_t)rint(size * 0x1p24));
    const uint64_t cut = bits & (((uint64_t)1 << 42) - 1), middle = (uint64_t)1 << 41;
    const uint32_t down = (uint32_t)(bits >> 42) - ((1023 - 15) << 10);
    return (nd_half)(sign | (down + (cut > middle || (cut == middle && (down & 1)))));
}

/* nextafter of two numbers that are float16. */
static inline float half_next(float a, float b) {
    if (a != a || b != b) return a + b;
    if (a == b) return a; /* (C's is b, which differs in the sign of 0) */
    if (a == 0) return b > 0 ? 0x1p-24F : -0x1p-24F;
    const nd_half bits = half_of((double)a);
    const float next = half_value((nd_half)((a < b) == (a > 0) ? bits + 1 : bits - 1));
    if (isinf(next)) arith_flag(FE_OVERFLOW);
    return next;
}

#endif
