/* to_ints.h: floats as ints, where C leaves open what comes out (cast_for.c, rare_loops.mako).
 *
 * Invariants
 *  1. On each processor it is what x86-64 does: the smallest int for what no int holds.  */
#ifndef ND_TO_INTS_H
#define ND_TO_INTS_H

#include "loops/cast.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

/* (That is what the instruction does; in C it would be two comparisons more.) */
static inline int64_t to_int64(double d) {
#ifdef __SSE2__
    return _mm_cvttsd_si64(_mm_set_sd(d));
#else
    return d >= -0x1p63 && d < 0x1p63 ? (int64_t)d : INT64_MIN;
#endif
}
static inline int32_t to_int32(double d) {
#ifdef __SSE2__
    return _mm_cvttsd_si32(_mm_set_sd(d));
#else
    return d > -2147483649.0 && d < 2147483648.0 ? (int32_t)d : INT32_MIN;
#endif
}
/* (As gcc compiles C's conversion: what int64 does not hold is 2**63 less first.) */
static inline uint64_t to_uint64(double d) {
    return d >= 0x1p63 ? (uint64_t)to_int64(d - 0x1p63) ^ 0x8000000000000000u
                       : (uint64_t)to_int64(d);
}

#endif
