/* cast_for.c: casts between all dtypes for one instruction set (cast.h), compiled once for each,
 * like the loops, with ND_TABLE the name of theirs.  One table row for each type that is cast from.
 *
 * Invariants
 *  1. What C leaves open is as on x86: a float that does not fit an int becomes the smallest int
 *     (of 32 bits also for uint8, which takes its lowest byte). */
#include <string.h>

#include "loops/to_ints.h"

#if ND_WIDTH == 64
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h> /* (a tenth of the other) */
#endif

/* Whether it is 0, of 32 bits, which SSE2 can compare. */
static inline uint32_t halves_of(int64_t x) { return (uint32_t)((uint64_t)x >> 32) | (uint32_t)x; }

/* From a type with numbers `real` to one of each. */
#define TO_truth(x)      (_Generic((x), int64_t : halves_of((int64_t)(x)), default : (x)) != 0)
#define TO_uint8(x)      ((uint8_t)FLOAT_OR_INT(x, to_int32))
#define TO_int32(x)      ((int32_t)FLOAT_OR_INT(x, to_int32))
#define TO_int64(x)      ((int64_t)FLOAT_OR_INT(x, to_int64))
#define TO_float32(x)    ((float)(x))
#define TO_float64(x)    ((double)(x))
#define TO_complex128(x) ((nd_complex){(double)(x), 0})
/* The conversion for floats; ints are left to C, which wraps. */
#define FLOAT_OR_INT(x, convert) \
    _Generic((x), float : convert((double)(x)), double : convert((double)(x)), default : (x))

typedef bool type_truth;
typedef uint8_t type_uint8;
typedef int32_t type_int32;
typedef int64_t type_int64;
typedef float type_float32;
typedef double type_float64;
typedef nd_complex type_complex128;

#define CAST_ONE(from_, to_, load, convert, i)    \
    *(type_##to_ *)(void *)(to + (i)*to_stride) = \
        convert(load(*(const type_##from_ *)(const void *)(from + (i)*from_stride)))
/* (Four at a time: less waits for the pointer.) */
#define FILL_APART(to_, v)                                                                   \
    do {                                                                                     \
        for (; count >= 4; count -= 4, to += 4 * to_stride) {                                \
            *(type_##to_ *)(void *)to = v;                                                   \
            *(type_##to_ *)(void *)(to + to_stride) = v;                                     \
            *(type_##to_ *)(void *)(to + 2 * to_stride) = v;                                 \
            *(type_##to_ *)(void *)(to + 3 * to_stride) = v;                                 \
        }                                                                                    \
        for (int64_t i = 0; i < count; i++) *(type_##to_ *)(void *)(to + i * to_stride) = v; \
    } while (0)
#define CAST(from_, to_, load, convert)                                                          \
    static void from_##_to_##to_(char *to, int64_t to_stride, const char *from,                  \
                                 int64_t from_stride, int64_t count) {                           \
        if (from_stride == 0 && count > 0) {                                                     \
            const type_##to_ v = convert(load(*(const type_##from_ *)(const void *)from));       \
            type_##to_ *t = (type_##to_ *)(void *)to;                                            \
            if (to_stride == (int64_t)sizeof v)                                                  \
                for (int64_t i = 0; i < count; i++) t[i] = v;                                    \
            else                                                                                 \
                FILL_APART(to_, v);                                                              \
            return;                                                                              \
        }                                                                                        \
        if (to_stride == (int64_t)sizeof(type_##to_) &&                                          \
            from_stride == (int64_t)sizeof(type_##from_)) {                                      \
            /* (The two may be the same place, but do not overlap otherwise.) */                 \
            if (__builtin_types_compatible_p(type_##from_, type_##to_) ||                        \
                (__builtin_types_compatible_p(type_##from_, bool) && sizeof(type_##to_) == 1)) { \
                if (to != from) cast_copy(to, from, (size_t)count * sizeof(type_##to_));         \
                return;                                                                          \
            }                                                                                    \
            type_##to_ *t = (type_##to_ *)(void *)to;                                            \
            const type_##from_ *f = (const type_##from_ *)(const void *)from;                    \
            for (int64_t i = 0; i < count; i++) t[i] = convert(load(f[i]));                      \
            return;                                                                              \
        }                                                                                        \
        /* (Steps that the compiler knows it makes vectors of.) */                               \
        if (to_stride == (int64_t)sizeof(type_##to_) &&                                          \
            from_stride == 2 * (int64_t)sizeof(type_##from_)) {                                  \
            type_##to_ *t = (type_##to_ *)(void *)to;                                            \
            const type_##from_ *f = (const type_##from_ *)(const void *)from;                    \
            for (int64_t i = 0; i < count; i++) t[i] = convert(load(f[2 * i]));                  \
            return;                                                                              \
        }                                                                                        \
        if (to_stride == (int64_t)sizeof(type_##to_) &&                                          \
            from_stride == -(int64_t)sizeof(type_##from_)) {                                     \
            type_##to_ *t = (type_##to_ *)(void *)to;                                            \
            const type_##from_ *f = (const type_##from_ *)(const void *)from;                    \
            for (int64_t i = 0; i < count; i++) t[i] = convert(load(f[-i]));                     \
            return;                                                                              \
        }                                                                                        \
        for (; count >= 4; count -= 4, to += 4 * to_stride, from += 4 * from_stride) {           \
            CAST_ONE(from_, to_, load, convert, 0);                                              \
            CAST_ONE(from_, to_, load, convert, 1);                                              \
            CAST_ONE(from_, to_, load, convert, 2);                                              \
            CAST_ONE(from_, to_, load, convert, 3);                                              \
        }                                                                                        \
        for (int64_t i = 0; i < count; i++) CAST_ONE(from_, to_, load, convert, i);              \
    }
#define ITSELF(x) (x)
#define REAL(x)   ((x).real)
/* (Of a byte that is read as a bool, gcc makes no vector.) */
#define AS_BYTE(x) (*(const uint8_t *)(const void *)&(x))
#define NONZERO(x) ((x).real != 0 || (x).imag != 0)

#define CASTS(from_, load)                 \
    CAST(from_, truth, load, TO_truth)     \
    CAST(from_, uint8, load, TO_uint8)     \
    CAST(from_, int32, load, TO_int32)     \
    CAST(from_, int64, load, TO_int64)     \
    CAST(from_, float32, load, TO_float32) \
    CAST(from_, float64, load, TO_float64) \
    CAST(from_, complex128, load, TO_complex128)
CASTS(truth, AS_BYTE)
CASTS(uint8, ITSELF)
CASTS(int32, ITSELF)
CASTS(int64, ITSELF)
CASTS(float32, ITSELF)
CASTS(float64, ITSELF)
CAST(complex128, truth, NONZERO, ITSELF)
CAST(complex128, uint8, REAL, TO_uint8)
CAST(complex128, int32, REAL, TO_int32)
CAST(complex128, int64, REAL, TO_int64)
CAST(complex128, float32, REAL, TO_float32)
CAST(complex128, float64, REAL, TO_float64)
CAST(complex128, complex128, ITSELF, ITSELF)

/* Rows of floats to ints of 32 bits and less: four with one instruction, which does with what does
 * not fit as above, and no compiler knows. */
#ifdef __SSE2__
static inline __m128i four_float32(const float *f) { return _mm_cvttps_epi32(_mm_loadu_ps(f)); }
static inline __m128i four_float64(const double *f) {
    return _mm_unpacklo_epi64(_mm_cvttpd_epi32(_mm_loadu_pd(f)),
                              _mm_cvttpd_epi32(_mm_loadu_pd(f + 2)));
}
static inline __m128d two_complex128(const nd_complex *f) {
    return _mm_unpacklo_pd(_mm_loadu_pd(&f[0].real), _mm_loadu_pd(&f[1].real));
}
static inline __m128i four_complex128(const nd_complex *f) {
    return _mm_unpacklo_epi64(_mm_cvttpd_epi32(two_complex128(f)),
                              _mm_cvttpd_epi32(two_complex128(f + 2)));
}
enum { SIXTEEN = 16, SOME = 128 };
/* What lies apart goes through a row. */
#define BESIDE(from_, to_, row_)                                                    \
    while (to_stride == (int64_t)sizeof(type_##to_) && from_stride &&               \
           from_stride != (int64_t)sizeof(type_##from_) && count >= SIXTEEN) {      \
        type_##from_ row[SOME];                                                     \
        const int64_t n = count < SOME ? count : SOME, size = (int64_t)sizeof *row; \
        from_##_to_##from_((char *)row, size, from, from_stride, n);                \
        row_(to, to_stride, (const char *)row, size, n);                            \
        count -= n, to += n * to_stride, from += n * from_stride;                   \
    }
#define CAST_ROW(from_, to_, store)                                                            \
    static void from_##_row_to_##to_(char *to, int64_t to_stride, const char *from,            \
                                     int64_t from_stride, int64_t count) {                     \
        if (to_stride == (int64_t)sizeof(type_##to_) &&                                        \
            from_stride == (int64_t)sizeof(type_##from_))                                      \
            for (; count >= SIXTEEN;                                                           \
                 count -= SIXTEEN, to += SIXTEEN * to_stride, from += SIXTEEN * from_stride) { \
                const type_##from_ *f = (const type_##from_ *)(const void *)from;              \
                const __m128i a = four_##from_(f), b = four_##from_(f + 4),                    \
                              c = four_##from_(f + 8), d = four_##from_(f + 12);               \
                store((__m128i *)(void *)to, a, b, c, d);                                      \
            }                                                                                  \
        BESIDE(from_, to_, from_##_row_to_##to_)                                               \
        from_##_to_##to_(to, to_stride, from, from_stride, count);                             \
    }
static inline void store_int32(__m128i *to, __m128i a, __m128i b, __m128i c, __m128i d) {
    _mm_storeu_si128(to, a);
    _mm_storeu_si128(to + 1, b);
    _mm_storeu_si128(to + 2, c);
    _mm_storeu_si128(to + 3, d);
}
/* The lowest bytes. */
static inline void store_uint8(__m128i *to, __m128i a, __m128i b, __m128i c, __m128i d) {
    const __m128i byte = _mm_set1_epi32(0xFF);
    const __m128i low = _mm_packs_epi32(_mm_and_si128(a, byte), _mm_and_si128(b, byte));
    const __m128i high = _mm_packs_epi32(_mm_and_si128(c, byte), _mm_and_si128(d, byte));
    _mm_storeu_si128(to, _mm_packus_epi16(low, high));
}
CAST_ROW(float32, uint8, store_uint8)
CAST_ROW(float32, int32, store_int32)
CAST_ROW(float64, uint8, store_uint8)
CAST_ROW(float64, int32, store_int32)
CAST_ROW(complex128, uint8, store_uint8)
CAST_ROW(complex128, int32, store_int32)
#define TO_SMALL(from_) from_##_row_to_uint8, from_##_row_to_int32

/* To int64, where there is an instruction for it. */
#if ND_WIDTH == 64
#define CAST_WIDE(from_, eight)                                                                    \
    static void from_##_row_to_int64(char *to, int64_t to_stride, const char *from,                \
                                     int64_t from_stride, int64_t count) {                         \
        enum { EIGHT = 8 };                                                                        \
        if (to_stride == (int64_t)sizeof(int64_t) && from_stride == (int64_t)sizeof(type_##from_)) \
            for (; count >= EIGHT;                                                                 \
                 count -= EIGHT, to += EIGHT * to_stride, from += EIGHT * from_stride)             \
                _mm512_storeu_si512(to, eight);                                                    \
        BESIDE(from_, int64, from_##_row_to_int64)                                                 \
        from_##_to_int64(to, to_stride, from, from_stride, count);                                 \
    }
CAST_WIDE(float32, _mm512_cvttps_epi64(_mm256_loadu_ps((const float *)(const void *)from)))
CAST_WIDE(float64, _mm512_cvttpd_epi64(_mm512_loadu_pd(from)))
#define float32_best_to_int64    float32_row_to_int64
#define float64_best_to_int64    float64_row_to_int64
#define complex128_best_to_int64 complex128_to_int64
#endif
#else
#define TO_SMALL(from_) from_##_to_uint8, from_##_to_int32
#endif
#ifndef float64_best_to_int64
#define float32_best_to_int64    float32_to_int64
#define float64_best_to_int64    float64_to_int64
#define complex128_best_to_int64 complex128_to_int64
#endif

#define ROW(from_)                                                              \
    {                                                                           \
        from_##_to_truth, from_##_to_uint8, from_##_to_int32, from_##_to_int64, \
            from_##_to_float32, from_##_to_float64, from_##_to_complex128       \
    }
#define FLOAT_ROW(from_)                                                              \
    {                                                                                 \
        from_##_to_truth, TO_SMALL(from_), from_##_best_to_int64, from_##_to_float32, \
            from_##_to_float64, from_##_to_complex128                                 \
    }
#define CASTS_OF(table)  table##_casts
#define ALL_CASTS(table) CASTS_OF(table)
extern const nd_cast ALL_CASTS(ND_TABLE)[ND_HOT_TYPES][ND_HOT_TYPES];
const nd_cast ALL_CASTS(ND_TABLE)[ND_HOT_TYPES][ND_HOT_TYPES] = {
    ROW(truth),         ROW(uint8),         ROW(int32),           ROW(int64),
    FLOAT_ROW(float32), FLOAT_ROW(float64), FLOAT_ROW(complex128)};
