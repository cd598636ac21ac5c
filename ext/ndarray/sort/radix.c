/* radix.c: sorting by the bytes of keys (radix.h). */
#include "sort/radix.h"

#include <string.h>

/* Rows that can be divided are, up to MOST_DIVIDED elements, and MOST_CROWDED where their first
 * bytes say little. */
enum { MOST_DIVIDED = 700, MOST_CROWDED = 8192, MOST_FIRST = 4 };
enum { LONG = 1 << 16 }; /* elements, from which on interrupts are looked for */
enum { BUCKETS = 256, MOST_BYTES = 8, LEAST = 256, LEAST_PLACES = 128, LEAST_BYTES = 64 };

/* ---- Keys ---- */

/* Unsigned ints in the order of the elements. */
static inline uint32_t key_int32(int32_t x) { return (uint32_t)x ^ 0x80000000u; }
static inline uint64_t key_int64(int64_t x) { return (uint64_t)x ^ 0x8000000000000000u; }

/* Bits of negative floats go the other way around. */
#define FLOAT_KEY(T, U, name)                                      \
    static inline U key_##name(T x) {                              \
        const U sign = (U)1 << (8 * sizeof(U) - 1);                \
        U bits;                                                    \
        x += 0; /* -0.0 becomes 0.0 */                             \
        memcpy(&bits, &x, sizeof bits);                            \
        return x != x ? (U)-1 : bits & sign ? ~bits : bits | sign; \
    }
FLOAT_KEY(float, uint32_t, float32)
FLOAT_KEY(double, uint64_t, float64)
/* (A part of complex numbers.) */
static inline uint64_t key_real(nd_complex x) { return key_float64(x.real); }
static inline uint64_t key_imag(nd_complex x) { return key_float64(x.imag); }

/* ---- Sorting ---- */

/* The bytes in which keys differ, by the bits that do: how many. */
static int choose_bytes(uint64_t bits, int *shifts) {
    int used = 0;
    for (int shift = 0; shift < 64; shift += 8)
        if (bits >> shift & 255) shifts[used++] = shift;
    return used;
}

/* So many bytes that most elements have the first bits in which keys differ for themselves. */
static int least_bytes(int64_t n) {
    enum { MOST_OF_2 = 1 << 14, MOST_OF_3 = 1 << 17 };
    return n <= MOST_OF_2 ? 2 : n <= MOST_OF_3 ? 3 : 4;
}
static void choose_first(uint64_t bits, int used, int *shifts) {
    const int most = 64 - __builtin_clzll(bits), shift = most > 8 * used ? most - 8 * used : 0;
    for (int i = 0; i < used; i++) shifts[i] = shift + 8 * i;
}

/* Is it worth it to sort so many elements by all of so many bytes? */
static bool is_worth(int used, int64_t n) {
    enum { WORTH = 200 }; /* elements for each byte */
    return n >= WORTH * (int64_t)used;
}

/* Counts become places. */
static void sum_counts(int64_t *counts) {
    int64_t sum = 0;
    for (int k = 0; k < BUCKETS; k++) {
        const int64_t count = counts[k];
        counts[k] = sum;
        sum += count;
    }
}

/* One byte after the other; places differ from elements in that their keys are elsewhere.  Where
 * there are more bytes than most elements need to be told from each other, the first ones are
 * sorted by, and the few elements that they leave in disorder are inserted.  If these are not few:
 * by all bytes, where there are elements enough; or false (what is there then is not sorted, but
 * equal elements are still in their order). */
enum {
    MOVES = 4,
    MORE_MOVES = 12,
    SPARE_MOVES = 256
}; /* for each element; in long rows; besides */
#define BY_BYTES(what, S, T, U, name, element)                                                    \
    static bool insert_##what##_##name(const T *of, S *v, int64_t n) {                            \
        int64_t moves = SPARE_MOVES;                                                              \
        (void)of;                                                                                 \
        U last = 0;                                                                               \
        for (int64_t i = 0; i < n && moves >= 0;                                                  \
             i++, moves += n < MOST_CROWDED ? MOVES : MORE_MOVES) {                               \
            S x = v[i];                                                                           \
            const S kept = x;                                                                     \
            const U key = key_##name(element);                                                    \
            int64_t j = i;                                                                        \
            if (key >= last) {                                                                    \
                last = key;                                                                       \
                continue;                                                                         \
            }                                                                                     \
            for (; j > 0; j--) {                                                                  \
                x = v[j - 1];                                                                     \
                if (key_##name(element) <= key) break;                                            \
                v[j] = x;                                                                         \
            }                                                                                     \
            v[j] = kept;                                                                          \
            moves -= i - j;                                                                       \
        }                                                                                         \
        return moves >= 0;                                                                        \
    }                                                                                             \
    /* Do many of some elements that lie far from each other have the same first bits? */         \
    static bool is_crowded_##what##_##name(const T *of, int64_t n, int shift) {                   \
        enum { SOME = 16, MORE = 64, MORE_FROM = 1 << 13 };                                       \
        const int64_t count = n < MORE_FROM ? SOME : MORE;                                        \
        U keys[MORE];                                                                             \
        int same = 0;                                                                             \
        for (int64_t i = 0; i < count; i++) {                                                     \
            keys[i] = key_##name(of[i * (n / count)]) >> shift;                                   \
            for (int64_t j = 0; j < i; j++) same += keys[i] == keys[j];                           \
        }                                                                                         \
        return same >= count / SOME;                                                              \
    }                                                                                             \
    static void pass_##what##_##name(nd_sorting *s, const T *of, S *v, S *w, int64_t n,           \
                                     const int *shifts, int used) {                               \
        S *from = v, *to = w;                                                                     \
        for (int b = 0; b < used; b++) {                                                          \
            if (n > LONG && !s->stopped) s->stopped = !nd_work(s->vm, 4 * n);                     \
            if (s->stopped) return;                                                               \
            int64_t at[BUCKETS] = {0};                                                            \
            for (int64_t i = 0; i < n; i++) at[key_##name(of[i]) >> shifts[b] & (BUCKETS - 1)]++; \
            sum_counts(at);                                                                       \
            for (int64_t i = 0; i < n; i++) {                                                     \
                const S x = from[i];                                                              \
                to[at[key_##name(element) >> shifts[b] & (BUCKETS - 1)]++] = x;                   \
            }                                                                                     \
            S *other = from;                                                                      \
            from = to;                                                                            \
            to = other;                                                                           \
        }                                                                                         \
        if (from != v) memcpy(v, from, (size_t)n * sizeof *v);                                    \
    }                                                                                             \
    static bool what##_##name(nd_sorting *s, const T *of, S *v, S *w, int64_t n) {                \
        const bool divides = s->part != NULL;                                                     \
        int shifts[MOST_BYTES], first[MOST_BYTES];                                                \
        bool sorted = true, falling = true;                                                       \
        U bits = 0;                                                                               \
        for (int64_t i = 1; i < n; i++) {                                                         \
            const U last = key_##name(of[i - 1]), key = key_##name(of[i]);                        \
            bits |= last ^ key;                                                                   \
            sorted &= last <= key;                                                                \
            falling &= last > key;                                                                \
        }                                                                                         \
        for (int64_t i = 0; falling && i < n / 2; i++) {                                          \
            const S x = v[i];                                                                     \
            v[i] = v[n - 1 - i];                                                                  \
            v[n - 1 - i] = x;                                                                     \
        }                                                                                         \
        if (sorted || falling) return true;                                                       \
        const int all = choose_bytes(bits, shifts);                                               \
        const bool worth = is_worth(all, n);                                                      \
        if (divides && n < MOST_DIVIDED && (all > 3 || !worth)) return false;                     \
        for (int some = least_bytes(n); some <= MOST_FIRST && (some + 1 < all || !worth);         \
             some++) {                                                                            \
            choose_first(bits, some, first);                                                      \
            if (is_crowded_##what##_##name(of, n, first[0])) continue;                            \
            pass_##what##_##name(s, of, v, w, n, first, some);                                    \
            if (s->stopped) return true;                                                          \
            if (insert_##what##_##name(of, v, n)) return true;                                    \
            break;                                                                                \
        }                                                                                         \
        if (divides && n < MOST_CROWDED && all > MOST_FIRST) return false;                        \
        if (worth) pass_##what##_##name(s, of, v, w, n, shifts, all);                             \
        return worth;                                                                             \
    }
#define RADIX(T, U, name)            \
    BY_BYTES(sort, T, T, U, name, x) \
    BY_BYTES(places, int64_t, T, U, name, of[x])
RADIX(int32_t, uint32_t, int32)
RADIX(int64_t, uint64_t, int64)
RADIX(float, uint32_t, float32)
RADIX(double, uint64_t, float64)
RADIX(nd_complex, uint64_t, real)
BY_BYTES(sort, nd_complex, nd_complex, uint64_t, imag, x)

/* (Four counts of each, so that equal neighbours do not wait for each other.) */
static bool sort_uint8(uint8_t *v, int64_t n) {
    enum { COUNTS = 4 };
    int64_t counts[COUNTS][BUCKETS] = {{0}};
    for (int64_t i = 0; i < n; i++) counts[i % COUNTS][v[i]]++;
    for (int k = 0; k < BUCKETS; k++) {
        int64_t count = 0;
        for (int i = 0; i < COUNTS; i++) count += counts[i][k];
        memset(v, k, (size_t)count);
        v += count;
    }
    return true;
}

/* (Few of them have few counts, most of which are 0.) */
static bool sort_few_uint8(uint8_t *v, int64_t n) {
    uint8_t counts[BUCKETS] = {0};
    uint64_t eight;
    for (int64_t i = 0; i < n; i++) counts[v[i]]++;
    for (int k = 0; k < BUCKETS; k += 8) {
        memcpy(&eight, counts + k, sizeof eight);
        if (!eight) continue;
        for (int j = k; j < k + 8; j++)
            for (int left = counts[j]; left > 0; left--) *v++ = (uint8_t)j;
    }
    return true;
}

static bool sort_bool(uint8_t *v, int64_t n) {
    int64_t ones = 0;
    for (int64_t i = 0; i < n; i++) ones += v[i];
    memset(v, 0, (size_t)(n - ones));
    memset(v + n - ones, 1, (size_t)ones);
    return true;
}

static bool places_uint8(const uint8_t *of, int64_t *v, int64_t n) {
    int64_t at[BUCKETS] = {0};
    for (int64_t i = 0; i < n; i++) at[of[i]]++;
    sum_counts(at);
    for (int64_t i = 0; i < n; i++) v[at[of[i]]++] = i;
    return true;
}

bool radix_sort(nd_sorting *s, nd_type type, void *data, void *room, int64_t n) {
    if (type == ND_BOOL) return sort_bool(data, n);
    if (type == ND_UINT8 && n >= LEAST_BYTES && n <= UINT8_MAX) return sort_few_uint8(data, n);
    if (type == ND_UINT8 && n > UINT8_MAX) return sort_uint8(data, n);
    if (n < LEAST) return false;
    switch (type) {
    case ND_INT32: return sort_int32(s, data, data, room, n);
    case ND_INT64: return sort_int64(s, data, data, room, n);
    case ND_FLOAT32: return sort_float32(s, data, data, room, n);
    case ND_FLOAT64: return sort_float64(s, data, data, room, n);
    default: return false;
    }
}

bool radix_sort_places(nd_sorting *s, nd_type type, const void *data, int64_t *places,
                       int64_t *room, int64_t n) {
    if ((type == ND_BOOL || type == ND_UINT8) && n >= LEAST_BYTES)
        return places_uint8(data, places, n);
    if (n < LEAST_PLACES) return false;
    switch (type) {
    case ND_INT32: return places_int32(s, data, places, room, n);
    case ND_INT64: return places_int64(s, data, places, room, n);
    case ND_FLOAT32: return places_float32(s, data, places, room, n);
    case ND_FLOAT64: return places_float64(s, data, places, room, n);
    default: return false;
    }
}

bool radix_sort_complex(nd_sorting *s, nd_complex *data, nd_complex *room, int64_t n, bool imag) {
    if (n < LEAST) return false;
    return imag ? sort_imag(s, data, data, room, n) : sort_real(s, data, data, room, n);
}

bool radix_sort_complex_places(nd_sorting *s, const nd_complex *data, int64_t *places,
                               int64_t *room, int64_t n) {
    return n >= LEAST && places_real(s, data, places, room, n);
}
