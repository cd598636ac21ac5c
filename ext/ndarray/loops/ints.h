/* ints.h: rows of ints, divided and raised to powers (kernels.py: floor_divide, remainder, power).
 * Steps without jumps, so that compilers make vectors of them; a division of ints is none of a
 * vector.
 *
 * Invariants
 *  1. Results and flags are those of arith.h, which has the same for single elements.
 *  2. The elements lie side by side, or (step 0) are one number for all.  The output may be an
 * input.
 */
#ifndef ND_INTS_H
#define ND_INTS_H

#include "loops/arith.h"

/* ---- Division by one number ---- */

/* Floors, or what is left, of a row of elements divided by one positive number.  Doubles do it,
 * which vectors can divide: below 2**52 a quotient that is rounded up to a whole number is one, as
 * the others are further away from it than half the distance of neighbouring doubles.  Blocks with
 * larger elements are divided one by one.  False: b is not such a number. */
static inline bool int64_divide_row(int64_t *out, const int64_t *a, int64_t count, int64_t b,
                                    bool rest) {
    enum { BLOCK = 512 };
    const int64_t limit = (int64_t)1 << 52;
    if (b <= 0 || b >= limit) return false;
    for (; count > 0; count -= BLOCK, a += BLOCK, out += BLOCK) {
        const int64_t n = count < BLOCK ? count : BLOCK;
        uint64_t large = 0;
        for (int64_t i = 0; i < n; i++) large |= ((uint64_t)a[i] + (uint64_t)limit) >> 53;
        for (int64_t i = 0; large && i < n; i++)
            out[i] = rest ? int64_remainder(a[i], b) : int64_floor_divide(a[i], b);
        if (large) continue;
        const double divisor = (double)b;
        for (int64_t i = 0; i < n; i++) {
            int64_t q = (int64_t)((double)a[i] / divisor), r = a[i] - q * b;
            q -= r < 0;
            r += r < 0 ? b : 0;
            out[i] = rest ? r : q;
        }
    }
    return true;
}

/* The same of 32 bits, by multiplication: 1/b as a double is made greater by more than its error,
 * so that quotients that are whole numbers do not come out below them; others are at least 1/b away
 * from the next one, and it is made greater by less than 2**-18 / b. */
static inline bool int32_divide_row(int32_t *out, const int32_t *a, int64_t count, int32_t b,
                                    bool rest) {
    if (b <= 0) return false;
    const double factor = 1.0 / b * (1 + 0x1p-50);
    for (int64_t i = 0; i < count; i++) {
        int32_t q = (int32_t)((double)a[i] * factor), r = a[i] - q * b;
        q -= r < 0;
        r += r < 0 ? b : 0;
        out[i] = rest ? r : q;
    }
    return true;
}

/* The same of 8 bits, by multiplication with 2**16 / b, rounded up: that is too much by less than
 * 1/256, and other quotients are at least 1/b away from the next whole number. */
static inline bool uint8_divide_row(uint8_t *out, const uint8_t *a, int64_t count, uint8_t b,
                                    bool rest) {
    if (b <= 1) return false;
    const uint16_t factor = (uint16_t)(0xFFFF / b + 1), divisor = b;
    ND_INDEPENDENT
    for (int64_t i = 0; i < count; i++) {
        const uint16_t x = a[i], q = (uint16_t)(((uint32_t)x * factor) >> 16);
        out[i] = (uint8_t)(rest ? x - q * divisor : q);
    }
    return true;
}

/* ---- Division by each its own ---- */

/* The flags of a row in which there was something to note.  (The loops are compiled as if flags did
 * not matter, so that a compiler may divide by 0 and choose afterwards.) */
static inline void int_flags(unsigned before, unsigned noted) {
    arith_clear();
    arith_flag(before | noted);
}

/* As floats: a quotient, if it is no whole number, is further away from the next one than it is
 * rounded.  What there is no quotient of is divided by 1, which gives the result of the smallest
 * int and -1, and noted. */
static inline void int32_divide_rows(int32_t *out, const int32_t *a, int64_t step_a,
                                     const int32_t *b, int64_t count, bool rest) {
    const int32_t first = *a;
    const unsigned before = arith_flags();
    unsigned zeros = 0, large = 0;
    ND_INDEPENDENT
    for (int64_t i = 0; i < count; i++) {
        const int32_t x = step_a ? a[i] : first, y = b[i];
        const bool zero = y == 0, most = (x == INT32_MIN) & (y == -1);
        const int32_t by = (zero | most) ? 1 : y;
        const int32_t cut = (int32_t)((double)x / (double)by), left = x - cut * by;
        const bool other = (left != 0) & ((left ^ by) < 0);
        const int32_t moved = rest ? left + (other ? by : 0) : cut - other;
        out[i] = (zero | (rest & most)) ? 0 : moved;
        zeros |= zero;
        large |= most;
    }
    if (UNLIKELY(zeros | large))
        int_flags(before, (zeros ? FE_DIVBYZERO : 0) | (large && !rest ? FE_OVERFLOW : 0));
}

static inline void uint8_divide_rows(uint8_t *out, const uint8_t *a, int64_t step_a,
                                     const uint8_t *b, int64_t count, bool rest) {
    const uint8_t first = *a;
    const unsigned before = arith_flags();
    unsigned zeros = 0;
    ND_INDEPENDENT
    for (int64_t i = 0; i < count; i++) {
        const uint8_t x = step_a ? a[i] : first, y = b[i];
        const int32_t by = y ? y : 1, cut = (int32_t)((float)x / (float)by);
        out[i] = (uint8_t)(!y ? 0 : rest ? x - cut * by : cut);
        zeros |= y == 0;
    }
    if (UNLIKELY(zeros)) int_flags(before, FE_DIVBYZERO);
}

/* ---- Powers ---- */

/* By squares, a block at a time: bit after bit of the exponents, which are not negative, as long as
 * one of them has more. */
#define ND_POWER_ROW(T, U, name)                                                              \
    static inline void name##_power_row(T *out, const T *a, int64_t step_a, const T *b,       \
                                        int64_t step_b, int64_t count) {                      \
        enum { BLOCK = 256 };                                                                 \
        U base[BLOCK], exponent[BLOCK], power[BLOCK];                                         \
        const U same_base = (U)*a, same_exponent = (U)*b;                                     \
        for (; count > 0; count -= BLOCK, a += BLOCK * step_a, b += BLOCK * step_b) {         \
            const int64_t n = count < BLOCK ? count : BLOCK;                                  \
            U left = same_exponent;                                                           \
            for (int64_t i = 0; i < n; i++) base[i] = step_a ? (U)a[i] : same_base;           \
            for (int64_t i = 0; i < n; i++) power[i] = 1;                                     \
            for (int64_t i = 0; step_b && i < n; i++) left |= exponent[i] = (U)b[i];          \
            for (; left; left >>= 1) {                                                        \
                if (step_b)                                                                   \
                    for (int64_t i = 0; i < n; i++) {                                         \
                        power[i] = (U)(power[i] * (exponent[i] & 1 ? base[i] : 1));           \
                        exponent[i] >>= 1;                                                    \
                    }                                                                         \
                else if (left & 1)                                                            \
                    for (int64_t i = 0; i < n; i++) power[i] = (U)(power[i] * base[i]);       \
                for (int64_t i = 0; left > 1 && i < n; i++) base[i] = (U)(base[i] * base[i]); \
            }                                                                                 \
            for (int64_t i = 0; i < n; i++) out[i] = (T)power[i];                             \
            out += n;                                                                         \
        }                                                                                     \
    }
ND_POWER_ROW(uint8_t, uint8_t, uint8)
ND_POWER_ROW(int32_t, uint32_t, int32)
ND_POWER_ROW(int64_t, uint64_t, int64)

#endif
