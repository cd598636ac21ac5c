/* order.c: sort, argsort, searchsorted, unique (order.h).
 *
 * Invariants
 *  1. All sorting is stable (merging, dividing, or by bytes), so that argsort is one of those that
 * NumPy's kinds may give, and that of kind='stable'.
 *  2. Order: nans behind all numbers; complex numbers by the real part, then the imaginary one. */
#include "sort/order.h"

#include "loops/half.h"

#include "loops/loops.h"
#include "array/compose.h"
#include "array/methods.h"
#include "sort/radix.h"

/* ---- Merging ---- */

#define LESS(a, b) ((a) < (b))

/* (Of numbers.) */
static inline bool less_complex(nd_complex a, nd_complex b) {
    return (a.real < b.real) | ((a.real == b.real) & (a.imag < b.imag));
}
static inline bool nan_complex(nd_complex x) { return (x.real != x.real) | (x.imag != x.imag); }

static inline bool other_complex(nd_complex a, nd_complex b) {
    return (a.real != b.real || a.imag != b.imag) && !(nan_complex(a) && nan_complex(b));
}

enum { FEW = 8, MOST_ROUNDS = 100 };

/* Selection in longer rows divides them at an element of a sorted sample, on the far side of where
 * the element that is looked for should be: then there is less left on its side. */
enum { SAMPLE = 63, SAMPLE_FROM = 1024, MARGIN = 5 };
static int64_t sample_place(int64_t n, int64_t k) {
    const int64_t place = (int64_t)((double)k / (double)n * SAMPLE);
    const int64_t beyond = k < n / 2 ? place + MARGIN : place - MARGIN;
    return beyond < 0 ? 0 : beyond >= SAMPLE ? SAMPLE - 1 : beyond;
}

/* How both sorts work, without branches that depend on the elements.  They are of numbers, for
 * which `less` is enough, since nans have been put behind them; `element` gives what v holds as a
 * T.
 *
 * Few elements go to the places that comparing all of them with each other says. */
#define SORT_FEW(T, S, less, element)                                        \
    {                                                                        \
        S few[FEW];                                                          \
        T x[FEW];                                                            \
        int64_t place[FEW] = {0};                                            \
        for (int64_t i = 0; i < n; i++) few[i] = v[i], x[i] = element(v[i]); \
        for (int64_t j = 1; j < n; j++)                                      \
            for (int64_t i = 0; i < j; i++) {                                \
                const bool first = less(x[j], x[i]);                         \
                place[i] += first;                                           \
                place[j] += !first;                                          \
            }                                                                \
        for (int64_t i = 0; i < n; i++) v[place[i]] = few[i];                \
        return;                                                              \
    }
/* Some more, in the same way, where there is a loop for it. */
#define SORT_SOME(T, S, element)                                              \
    {                                                                         \
        S some[ND_RANKED];                                                    \
        T x[ND_RANKED];                                                       \
        uint8_t place[ND_RANKED];                                             \
        memset(x, 0, sizeof x);                                               \
        for (int64_t i = 0; i < n; i++) some[i] = v[i], x[i] = element(v[i]); \
        s->rank((const char *)x, n, place);                                   \
        for (int64_t i = 0; i < n; i++) v[place[i]] = some[i];                \
        return;                                                               \
    }
/* Two sorted halves are merged from both ends at the same time: neither end can come to the end of
 * a half in as many steps as the first one has elements. */
#define MERGE(S, less, element)                                     \
    {                                                               \
        if (!less(element(v[half]), element(v[half - 1]))) return;  \
        memcpy(w, v, (size_t)n * sizeof *v);                        \
        int64_t i = 0, j = half, p = half - 1, q = n - 1;           \
        for (int64_t k = 0; k < half; k++) {                        \
            const bool second = less(element(w[j]), element(w[i])); \
            const bool first = less(element(w[q]), element(w[p]));  \
            v[k] = w[i ^ ((i ^ j) & -(int64_t)second)];             \
            v[n - 1 - k] = w[q ^ ((p ^ q) & -(int64_t)first)];      \
            j += second;                                            \
            i += !second;                                           \
            p -= first;                                             \
            q -= !first;                                            \
        }                                                           \
        if (n % 2) v[half] = w[i <= p ? i : j];                     \
    }
#define ITSELF(x) (x)
#define AT(x)     (of[x])

/* Nans go behind the numbers: how many numbers there are that have to be sorted. */
#define NUMBERS_FIRST(less, is_nan, element)                                                \
    int64_t used = 1, nans = 0;                                                             \
    while (used < n &&                                                                      \
           !(less(element(v[used]), element(v[used - 1])) || is_nan(element(v[used - 1])))) \
        used++;                                                                             \
    if (used >= n) return 0;                                                                \
    used = 0;                                                                               \
    for (int64_t i = 0; i < n; i++) {                                                       \
        if (is_nan(element(v[i])))                                                          \
            w[nans++] = v[i];                                                               \
        else                                                                                \
            v[used++] = v[i];                                                               \
    }                                                                                       \
    memcpy(v + used, w, (size_t)nans * sizeof *v);                                          \
    return used;

/* Do sorts of so many elements, from LONG on, go on? */
enum { LONG = 1 << 16 };
static bool sorting_goes_on(nd_sorting *s, int64_t n) {
    if (!s->stopped && !nd_work(s->vm, 2 * n)) s->stopped = true;
    return !s->stopped;
}

/* Values, with room for as many; and places by the values that they are of. */
#define MERGES(T, name, less)                                                                    \
    static void merge_##name(T *v, T *w, int64_t n, nd_sorting *s) {                             \
        const int64_t half = n / 2;                                                              \
        if (n <= FEW) SORT_FEW(T, T, less, ITSELF)                                               \
        if (s->rank && n <= ND_RANKED) SORT_SOME(T, T, ITSELF)                                   \
        if (n > LONG && !sorting_goes_on(s, n)) return;                                          \
        merge_##name(v, w, half, s);                                                             \
        merge_##name(v + half, w, n - half, s);                                                  \
        MERGE(T, less, ITSELF)                                                                   \
    }                                                                                            \
    static void argmerge_##name(const T *of, int64_t *v, int64_t *w, int64_t n, nd_sorting *s) { \
        const int64_t half = n / 2;                                                              \
        if (n <= FEW) SORT_FEW(T, int64_t, less, AT)                                             \
        if (s->rank && n <= ND_RANKED) SORT_SOME(T, int64_t, AT)                                 \
        if (n > LONG && !sorting_goes_on(s, n)) return;                                          \
        argmerge_##name(of, v, w, half, s);                                                      \
        argmerge_##name(of, v + half, w, n - half, s);                                           \
        MERGE(int64_t, less, AT)                                                                 \
    }
#define SORTS(T, name, less, is_nan)                                                               \
    MERGES(T, name, less)                                                                          \
    static int64_t numbers_##name(T *v, T *w, int64_t n) { NUMBERS_FIRST(less, is_nan, ITSELF) }   \
    static int64_t places_##name(const T *of, int64_t *v, int64_t *w, int64_t n) {                 \
        (void)of; /* (where there are no nans) */                                                  \
        NUMBERS_FIRST(less, is_nan, AT)                                                            \
    }                                                                                              \
    /* A row that falls is reversed. */                                                            \
    static bool reverse_##name(T *v, int64_t n) {                                                  \
        int64_t i = 1;                                                                             \
        while (i < n && less(v[i], v[i - 1])) i++;                                                 \
        for (int64_t j = 0; i >= n && j < n / 2; j++) {                                            \
            const T x = v[j];                                                                      \
            v[j] = v[n - 1 - j];                                                                   \
            v[n - 1 - j] = x;                                                                      \
        }                                                                                          \
        return i >= n;                                                                             \
    }                                                                                              \
    /* Parts that are divided by vectors, down to those that can be ranked.  (They stay in order.) \
     */                                                                                            \
    static void divide_##name(T *v, T *w, int64_t n, nd_sorting *s, int rounds) {                  \
        while (n > ND_RANKED && rounds-- > 0 && (n <= LONG || sorting_goes_on(s, n))) {            \
            const T x = v[n / 4], y = v[n / 2], z = v[n - 1 - n / 4];                              \
            const T low = less(y, x) ? y : x, high = less(y, x) ? x : y;                           \
            const T middle = less(z, low) ? low : less(high, z) ? high : z;                        \
            int64_t used = s->part(v, w, n, &middle, false);                                       \
            if (used)                                                                              \
                divide_##name(v, w, used, s, rounds);                                              \
            else                                                                                   \
                used = s->part(v, w, n, &middle, true);                                            \
            v += used;                                                                             \
            n -= used;                                                                             \
        }                                                                                          \
        merge_##name(v, w, n, s);                                                                  \
    }                                                                                              \
    static void sort_##name(void *data, void *room, int64_t n, nd_sorting *s) {                    \
        enum { ROUNDS = 30 };                                                                      \
        if (reverse_##name(data, n)) return;                                                       \
        const int64_t used = numbers_##name(data, room, n);                                        \
        if (s->part)                                                                               \
            divide_##name(data, room, used, s, ROUNDS);                                            \
        else                                                                                       \
            merge_##name(data, room, used, s);                                                     \
    }                                                                                              \
    static void argsort_##name(const void *data, int64_t *v, int64_t *w, int64_t n,                \
                               nd_sorting *s) {                                                    \
        argmerge_##name(data, v, w, places_##name(data, v, w, n), s);                              \
    }
#define SEARCHES(T, name, before, less, is_nan, is_other)                                         \
    static void some_##name(T *v, int64_t n, nd_rank rank) {                                      \
        const nd_sorting of = {.rank = rank}, *s = &of;                                           \
        SORT_SOME(T, T, ITSELF)                                                                   \
    }                                                                                             \
    static bool is_sorted_##name(const void *data, int64_t n) {                                   \
        const T *v = data;                                                                        \
        int64_t i = 1;                                                                            \
        while (i < n && !before(v[i], v[i - 1])) i++;                                             \
        return i >= n;                                                                            \
    }                                                                                             \
    /* Sorts a few numbers; false: there is a nan among them. */                                  \
    static bool rank_##name(T *v, int64_t n, nd_rank rank) {                                      \
        bool nan = false;                                                                         \
        for (int64_t i = 0; i < n; i++) nan |= is_nan(v[i]);                                      \
        if (!nan) some_##name(v, n, rank);                                                        \
        return !nan;                                                                              \
    }                                                                                             \
    /* Elements before the one that belongs to place k come before it, the others behind.  Each   \
     * round puts what is before some element of the part that is left (then: what is not behind  \
     * it) to its beginning, without branches.  False: too many rounds. */                        \
    static bool select_##name(void *data, void *room, int64_t n, int64_t k, nd_rank rank,         \
                              nd_part part) {                                                     \
        T *v = data;                                                                              \
        uint64_t random = 1;                                                                      \
        for (int round = 0; round < MOST_ROUNDS && n > 1; round++) {                              \
            if (rank && n <= ND_RANKED && rank_##name(v, n, rank)) return true;                   \
            int64_t used = 0, end = 0;                                                            \
            T few[SAMPLE];                                                                        \
            const int64_t taken = n < SAMPLE_FROM ? 3 : SAMPLE;                                   \
            for (int64_t i = 0; i < taken; i++) {                                                 \
                random = random * 6364136223846793005u + 1442695040888963407u;                    \
                const T x = v[(int64_t)((random >> 33) % (uint64_t)n)];                           \
                int64_t j = i;                                                                    \
                for (; j > 0 && before(x, few[j - 1]); j--) few[j] = few[j - 1];                  \
                few[j] = x;                                                                       \
            }                                                                                     \
            const T middle = few[n < SAMPLE_FROM ? 1 : sample_place(n, k)];                       \
            const bool by_vectors = part && !is_nan(middle);                                      \
            if (by_vectors) used = part(v, room, n, &middle, false);                              \
            for (int64_t i = by_vectors ? n : 0; i < n; i++) {                                    \
                const T x = v[i];                                                                 \
                v[i] = v[used];                                                                   \
                v[used] = x;                                                                      \
                used += before(x, middle);                                                        \
            }                                                                                     \
            if (k < used) {                                                                       \
                n = used;                                                                         \
                continue;                                                                         \
            }                                                                                     \
            end = used;                                                                           \
            if (by_vectors) end += part(v + used, room, n - used, &middle, true);                 \
            for (int64_t i = by_vectors ? n : used; i < n; i++) {                                 \
                const T x = v[i];                                                                 \
                v[i] = v[end];                                                                    \
                v[end] = x;                                                                       \
                end += !before(middle, x);                                                        \
            }                                                                                     \
            if (k < end) return true;                                                             \
            v += end;                                                                             \
            n -= end;                                                                             \
            k -= end;                                                                             \
        }                                                                                         \
        return n <= 1;                                                                            \
    }                                                                                             \
    /* The least element goes to the first place, and the greatest one to the last. */            \
    static void bound_##name(void *data, int64_t n) {                                             \
        T *v = data;                                                                              \
        int64_t first = 0, last = 0;                                                              \
        if (!n) return;                                                                           \
        T least = v[0];                                                                           \
        for (int64_t i = 1; i < n; i++) {                                                         \
            const T x = v[i];                                                                     \
            const bool better = before(x, least);                                                 \
            least = better ? x : least;                                                           \
            first = better ? i : first;                                                           \
        }                                                                                         \
        v[first] = v[0];                                                                          \
        v[0] = least;                                                                             \
        T greatest = least;                                                                       \
        for (int64_t i = 1; i < n; i++) {                                                         \
            const T x = v[i];                                                                     \
            const bool better = before(greatest, x);                                              \
            greatest = better ? x : greatest;                                                     \
            last = better ? i : last;                                                             \
        }                                                                                         \
        v[last] = v[n - 1];                                                                       \
        v[n - 1] = greatest;                                                                      \
    }                                                                                             \
    /* `right` and `nan` (whether x is one) are constants; no branch depends on what is compared. \
     */                                                                                           \
    static inline __attribute__((always_inline))                                                  \
    int64_t bisect_##name(const T *v, int64_t low, int64_t high, T x, bool right, bool nan) {     \
        while (low < high) {                                                                      \
            const int64_t middle = low + (high - low) / 2;                                        \
            const T y = v[middle];                                                                \
            const bool further = nan     ? right | !is_nan(y)                                     \
                                 : right ? !less(x, y) & !is_nan(y)                               \
                                         : less(y, x);                                            \
            low = further ? middle + 1 : low;                                                     \
            high = further ? high : middle;                                                       \
        }                                                                                         \
        return low;                                                                               \
    }                                                                                             \
    /* Of each key the first place where it is not behind (right: is before) the element.  Each   \
     * search begins where the one before it ended, as NumPy's does, so that results are the same \
     * where the row is not sorted. */                                                            \
    static void search_##name(const void *data, int64_t n, const void *keys, int64_t first,       \
                              int64_t end, bool right, int64_t *out) {                            \
        const T *v = data, *key = keys;                                                           \
        int64_t low = 0, high = n;                                                                \
        if (first) low = high = out[first - 1];                                                   \
        for (int64_t k = first; k < end; k++) {                                                   \
            const T x = key[k], last = key[k ? k - 1 : 0];                                        \
            if (right ? !before(x, last) : before(last, x))                                       \
                high = n;                                                                         \
            else                                                                                  \
                high = high < n ? high + 1 : n, low = 0;                                          \
            if (is_nan(x))                                                                        \
                low = right ? bisect_##name(v, low, high, x, true, true)                          \
                            : bisect_##name(v, low, high, x, false, true);                        \
            else                                                                                  \
                low = right ? bisect_##name(v, low, high, x, true, false)                         \
                            : bisect_##name(v, low, high, x, false, false);                       \
            out[k] = high = low;                                                                  \
        }                                                                                         \
    }                                                                                             \
    static int64_t compact_##name(void *data, int64_t n) {                                        \
        T *v = data;                                                                              \
        int64_t used = n > 0;                                                                     \
        for (int64_t i = 1; i < n; i++) {                                                         \
            const T last = v[used - 1], x = v[i];                                                 \
            v[used] = x;                                                                          \
            used += is_other(last, x);                                                            \
        }                                                                                         \
        return used;                                                                              \
    }                                                                                             \
    static bool differ_##name(const void *a, const void *b) {                                     \
        return is_other(*(const T *)a, *(const T *)b);                                            \
    }
/* (All nans are the same one.) */
#define NO_NAN(x)         false
#define IS_NAN(x)         ((x) != (x))
#define OTHER(a, b)       ((a) != (b))
#define OTHER_FLOAT(a, b) ((a) != (b) && ((a) == (a) || (b) == (b)))
enum { FEW_IN_LINES = 9 };
/* Lines of a few elements, one behind the other: each element goes along those before it that are
 * sorted, and changes places with all that are greater.  Up to one that has a nan, or all: so many
 * are done. */
#define FEW_LINES(T, name, is_nan)                                                  \
    static int64_t lines_##name(void *data, int64_t n, int64_t lines) {             \
        T *v = data;                                                                \
        for (int64_t k = 0; k < lines; k++, v += n) {                               \
            bool nan = is_nan(v[0]);                                                \
            for (int64_t i = 1; i < n; i++) nan |= is_nan(v[i]);                    \
            if (nan) return k;                                                      \
            for (int64_t i = 1; i < n; i++) {                                       \
                T x = v[i];                                                         \
                bool moved = false;                                                 \
                for (int64_t j = 0; j < i; j++) {                                   \
                    const T other = v[j];                                           \
                    moved |= x < other;                                             \
                    v[j] = moved ? x : other;                                       \
                    x = moved ? other : x;                                          \
                }                                                                   \
                v[i] = x;                                                           \
            }                                                                       \
        }                                                                           \
        return lines;                                                               \
    }                                                                               \
    /* And the places of their elements, 0 and so on to begin with. */              \
    static int64_t place_lines_##name(const void *data, int64_t *places, int64_t n, \
                                      int64_t lines) {                              \
        const T *from = data;                                                       \
        for (int64_t k = 0; k < lines; k++, from += n, places += n) {               \
            T v[FEW_IN_LINES];                                                      \
            bool nan = false;                                                       \
            for (int64_t i = 0; i < n; i++) v[i] = from[i], nan |= is_nan(from[i]); \
            if (nan) return k;                                                      \
            for (int64_t i = 1; i < n; i++) {                                       \
                T x = v[i];                                                         \
                int64_t place = i;                                                  \
                bool moved = false;                                                 \
                for (int64_t j = 0; j < i; j++) {                                   \
                    const T other = v[j];                                           \
                    const int64_t its = places[j];                                  \
                    moved |= x < other;                                             \
                    v[j] = moved ? x : other;                                       \
                    x = moved ? other : x;                                          \
                    places[j] = moved ? place : its;                                \
                    place = moved ? its : place;                                    \
                }                                                                   \
                v[i] = x;                                                           \
                places[i] = place;                                                  \
            }                                                                       \
        }                                                                           \
        return lines;                                                               \
    }
#define SORTED(T, name, before, is_nan, is_other) \
    SORTS(T, name, LESS, is_nan)                  \
    FEW_LINES(T, name, is_nan)                    \
    SEARCHES(T, name, before, LESS, is_nan, is_other)
SORTED(int8_t, int8, LESS, NO_NAN, OTHER)
SORTED(uint8_t, uint8, LESS, NO_NAN, OTHER)
SORTED(int16_t, int16, LESS, NO_NAN, OTHER)
SORTED(uint16_t, uint16, LESS, NO_NAN, OTHER)
SORTED(int32_t, int32, LESS, NO_NAN, OTHER)
SORTED(uint32_t, uint32, LESS, NO_NAN, OTHER)
SORTED(int64_t, int64, LESS, NO_NAN, OTHER)
SORTED(uint64_t, uint64, LESS, NO_NAN, OTHER)
SORTED(float, float32, BEFORE_FLOAT, IS_NAN, OTHER_FLOAT)
SORTED(double, float64, BEFORE_FLOAT, IS_NAN, OTHER_FLOAT)

/* Nans of complex numbers have an order of their own: they are merged by themselves.  Long rows of
 * numbers are sorted by the bytes of their real parts; those that have the same one come then. */
MERGES(nd_complex, complex128, less_complex)
MERGES(nd_complex, nans, before_complex)
SEARCHES(nd_complex, complex128, before_complex, before_complex, NO_NAN, other_complex)

#define SPLIT(S, element)                 \
    int64_t used = 0, nans = 0;           \
    for (int64_t i = 0; i < n; i++) {     \
        const S x = v[i];                 \
        w[nans] = x;                      \
        v[used] = x;                      \
        nans += nan_complex(element(x));  \
        used += !nan_complex(element(x)); \
    }                                     \
    memcpy(v + used, w, (size_t)nans * sizeof *v);

static void sort_complex128(void *data, void *room, int64_t n, nd_sorting *s) {
    nd_complex *v = data, *w = room;
    if (is_sorted_complex128(v, n)) return;
    SPLIT(nd_complex, ITSELF)
    merge_nans(v + used, w, nans, s);
    if (!radix_sort_complex(s, v, w, used, false)) {
        merge_complex128(v, w, used, s);
        return;
    }
    for (int64_t i = 0, end; i < used; i = end) {
        for (end = i + 1; end < used && v[end].real == v[i].real;) end++;
        if (end - i > 1 && !radix_sort_complex(s, v + i, w, end - i, true))
            merge_complex128(v + i, w, end - i, s);
    }
}

static void argsort_complex128(const void *data, int64_t *v, int64_t *w, int64_t n, nd_sorting *s) {
    const nd_complex *of = data;
    if (is_sorted_complex128(of, n)) return;
    SPLIT(int64_t, AT)
    argmerge_nans(of, v + used, w, nans, s);
    if (nans || !radix_sort_complex_places(s, of, v, w, used)) { /* (of all elements) */
        argmerge_complex128(of, v, w, used, s);
        return;
    }
    for (int64_t i = 0, end; i < used; i = end) {
        for (end = i + 1; end < used && of[v[end]].real == of[v[i]].real;) end++;
        if (end - i > 1) argmerge_complex128(of, v + i, w, end - i, s);
    }
}

/* Rare dtypes: with nans in the order. */
#define ORDERED(T, name, before, is_other)                                          \
    MERGES(T, name, before)                                                         \
    SEARCHES(T, name, before, before, NO_NAN, is_other)                             \
    static void sort_##name(void *data, void *room, int64_t n, nd_sorting *s) {     \
        if (!is_sorted_##name(data, n)) merge_##name(data, room, n, s);             \
    }                                                                               \
    static void argsort_##name(const void *data, int64_t *v, int64_t *w, int64_t n, \
                               nd_sorting *s) {                                     \
        if (!is_sorted_##name(data, n)) argmerge_##name(data, v, w, n, s);          \
    }
#define BEFORE_HALF(a, b)      BEFORE_FLOAT(half_value(a), half_value(b))
#define OTHER_HALF(a, b)       OTHER_FLOAT(half_value(a), half_value(b))
#define BEFORE_COMPLEX64(a, b) before_complex(widen_complex(a), widen_complex(b))
#define OTHER_COMPLEX64(a, b)  other_complex(widen_complex(a), widen_complex(b))
ORDERED(nd_half, float16, BEFORE_HALF, OTHER_HALF)
ORDERED(nd_complex64, complex64, BEFORE_COMPLEX64, OTHER_COMPLEX64)

typedef struct sorts {
    void (*sort)(void *data, void *room, int64_t n, nd_sorting *s);
    void (*argsort)(const void *data, int64_t *places, int64_t *room, int64_t n, nd_sorting *s);
    bool (*is_sorted)(const void *data, int64_t n);
    bool (*select)(void *data, void *room, int64_t n, int64_t k, nd_rank rank, nd_part part);
    void (*bound)(void *data, int64_t n);
    /* (Keys from `first` to `end`; those before have been looked for.) */
    void (*search)(const void *data, int64_t n, const void *keys, int64_t first, int64_t end,
                   bool right, int64_t *out);
    bool (*differ)(const void *a, const void *b);
    int64_t (*compact)(void *data, int64_t n); /* the first ones of those that are equal */
    /* Of lines of up to FEW_IN_LINES elements; or NULL. */
    int64_t (*lines)(void *data, int64_t n, int64_t lines);
    int64_t (*place_lines)(const void *data, int64_t *places, int64_t n, int64_t lines);
} sorts;
#define ENTRY(name, ...)                                                                           \
    {                                                                                              \
        sort_##name, argsort_##name, is_sorted_##name, select_##name, bound_##name, search_##name, \
            differ_##name, compact_##name, __VA_ARGS__                                             \
    }
#define ENTRY_OF(name) ENTRY(name, lines_##name, place_lines_##name)
static const sorts all_sorts[ND_TYPES] = {ENTRY_OF(uint8),
                                          ENTRY_OF(int8),
                                          ENTRY_OF(uint8),
                                          ENTRY_OF(int16),
                                          ENTRY_OF(uint16),
                                          ENTRY_OF(int32),
                                          ENTRY_OF(uint32),
                                          ENTRY_OF(int64),
                                          ENTRY_OF(uint64),
                                          ENTRY(float16, NULL, NULL),
                                          ENTRY_OF(float32),
                                          ENTRY_OF(float64),
                                          ENTRY(complex64, NULL, NULL),
                                          ENTRY(complex128, NULL, NULL)};

/* Lines of a few elements are sorted many at once, by the tiles; where these give up, lines up to
 * `again` come by themselves first. */
enum { LINES = 1 << 12 /* between looks at interrupts */, FROM_BLOCK = 5, APART = 16 };
static int64_t in_blocks(int64_t done, int64_t i, int64_t *again) {
    if (!done) *again = i + APART;
    return done;
}
static int64_t few_of(int64_t lines) { return lines < LINES ? lines : LINES; }

/* How many lines from line i on have been sorted so. */
static int64_t sort_few(const nd_tiles *tiles, nd_type type, void *data, int64_t count, int64_t i,
                        int64_t lines, int64_t *again) {
    const sorts *s = &all_sorts[type];
    const bool blocks = tiles->sort_lines[type] && count >= FROM_BLOCK;
    if (blocks && count <= ND_IN_NETWORK && i >= *again) {
        const int64_t done = tiles->sort_lines[type](data, count, few_of(lines - i));
        if (in_blocks(done, i, again)) return done;
    }
    if (!s->lines || count > FEW_IN_LINES) return 0;
    return s->lines(data, count, blocks && lines - i > APART ? APART : few_of(lines - i));
}
static int64_t place_few(const nd_tiles *tiles, nd_type type, const void *data, int64_t *places,
                         int64_t count, int64_t i, int64_t lines, int64_t *again) {
    const sorts *s = &all_sorts[type];
    const bool blocks = tiles->place_lines[type] && count >= FROM_BLOCK;
    if (blocks && count <= ND_IN_NETWORK && i >= *again) {
        const int64_t done = tiles->place_lines[type](data, places, count, few_of(lines - i));
        if (in_blocks(done, i, again)) return done;
    }
    if (!s->place_lines || count > FEW_IN_LINES) return 0;
    return s->place_lines(data, places, count,
                          blocks && lines - i > APART ? APART : few_of(lines - i));
}

/* `lines` rows, one behind the other. */
static bool sort_rows(dvx_vm *vm, const nd_dtype *dtype, char *data, int64_t count, int64_t lines) {
    if (count < 2) return true;
    const size_t size = (size_t)count * dtype->size;
    const nd_tiles *tiles = nd_state_of(vm)->tiles;
    nd_sorting sorting = {vm, tiles->rank[dtype->num], tiles->part[dtype->num], false};
    void *room = vm->api->allocate(vm, size);
    bool good = room != NULL;
    int64_t again = 0;
    for (int64_t i = 0; good && i < lines; i++, data += size) {
        const int64_t done = sort_few(tiles, dtype->num, data, count, i, lines, &again);
        i += done;
        data += done * (int64_t)size;
        if (i < lines && !radix_sort(&sorting, dtype->num, data, room, count))
            all_sorts[dtype->num].sort(data, room, count, &sorting);
        good = !sorting.stopped && nd_work(vm, (done + 1) * count * 6);
    }
    if (room) vm->api->deallocate(vm, room, size);
    return good;
}

bool order_sort(dvx_vm *vm, const nd_dtype *dtype, char *data, int64_t count) {
    return sort_rows(vm, dtype, data, count, 1);
}

bool order_select(dvx_vm *vm, const nd_dtype *dtype, char *data, int64_t count, int64_t place) {
    const sorts *s = &all_sorts[dtype->num];
    const int64_t behind = place + 1;
    if (s->is_sorted(data, count) ||
        (s->lines && count <= FEW_IN_LINES && s->lines(data, count, 1)))
        return vm->api->poll(vm);
    const nd_tiles *tiles = nd_state_of(vm)->tiles;
    const size_t size = (size_t)count * dtype->size;
    const nd_part part = tiles->part[dtype->num];
    void *room = part ? vm->api->allocate(vm, size) : NULL;
    if (part && !room) return false;
    const bool selected = s->select(data, room, count, place, tiles->rank[dtype->num], part);
    if (part) vm->api->deallocate(vm, room, size);
    if (!selected) return order_sort(vm, dtype, data, count);
    s->bound(data + behind * dtype->size, count - behind);
    return vm->api->poll(vm);
}

/* The places of `lines` rows' elements, likewise. */
static bool sort_places(dvx_vm *vm, const nd_dtype *dtype, const char *data, int64_t *places,
                        int64_t count, int64_t lines) {
    const size_t size = (size_t)count * sizeof *places;
    const nd_tiles *tiles = nd_state_of(vm)->tiles;
    nd_sorting sorting = {vm, tiles->rank[dtype->num], NULL, false};
    for (int64_t i = 0; i < lines; i++)
        for (int64_t k = 0; k < count; k++) places[i * count + k] = k;
    if (count < 2) return true;
    int64_t *room = vm->api->allocate(vm, size);
    bool good = room != NULL;
    int64_t again = 0;
    for (int64_t i = 0; good && i < lines; i++, data += count * dtype->size, places += count) {
        const int64_t done = place_few(tiles, dtype->num, data, places, count, i, lines, &again);
        i += done;
        data += done * count * dtype->size;
        places += done * count;
        if (i < lines && !radix_sort_places(&sorting, dtype->num, data, places, room, count))
            all_sorts[dtype->num].argsort(data, places, room, count, &sorting);
        good = !sorting.stopped && nd_work(vm, (done + 1) * count * 6);
    }
    if (room) vm->api->deallocate(vm, room, size);
    return good;
}

/* ---- Lines of arrays ---- */

/* A copy whose lines along `axis` lie in a row each: that axis comes last. */
static dvx_value lines_of(dvx_vm *vm, dvx_value v, int axis, nd_array **out) {
    nd_array *a, *view;
    dvx_axis axes[ND_MOST];
    int used = 0;
    dvx_value held = array_operand(vm, v, NULL, &a);
    if (dvx_failed(held)) return held;
    for (int i = 0; i < a->ndim; i++)
        if (i != axis) axes[used++] = a->axes[i];
    axes[used] = a->axes[axis];
    dvx_value moved = array_view(vm, held, a, a->data, a->ndim, axes, &view), copy = DVX_FAILED;
    if (!dvx_failed(moved)) copy = array_copy(vm, view, view->dtype, 'C');
    if (!dvx_failed(copy)) *out = array_of(vm, copy);
    vm->api->release(vm, moved);
    vm->api->release(vm, held);
    return copy;
}

dvx_value order_turned_back(dvx_vm *vm, dvx_value made, int axis) {
    const nd_array *a = array_of(vm, made);
    nd_array *view;
    dvx_axis axes[ND_MOST];
    if (axis == a->ndim - 1) return made;
    for (int i = 0, k = 0; i < a->ndim; i++)
        axes[i] = i == axis ? a->axes[a->ndim - 1] : a->axes[k++];
    dvx_value moved = array_view(vm, made, a, a->data, a->ndim, axes, &view), copy = DVX_FAILED;
    if (!dvx_failed(moved)) copy = array_copy(vm, view, view->dtype, 'C');
    vm->api->release(vm, moved);
    vm->api->release(vm, made);
    return copy;
}

dvx_value order_lines(dvx_vm *vm, dvx_value v, dvx_value axis, int *of, nd_array **out) {
    nd_array *a, *view;
    dvx_value held = array_operand(vm, v, NULL, &a), copy = DVX_FAILED;
    if (dvx_failed(held)) return held;
    if (!dvx_failed(axis) && nd_is_none(vm, axis)) {
        *of = 0;
        copy = array_copy(vm, a, a->dtype, 'C');
        const dvx_axis whole = {a->size, a->dtype->size};
        if (!dvx_failed(copy)) {
            nd_array *c = array_of(vm, copy);
            dvx_value row = array_view(vm, copy, c, c->data, 1, &whole, &view);
            vm->api->release(vm, copy);
            copy = row;
            *out = view;
        }
    } else if (!a->ndim) {
        vm->api->raise_format(vm, nd_state_of(vm)->axis_error,
                              "axis -1 is out of bounds for array of dimension 0");
    } else {
        *of = a->ndim - 1;
        if (dvx_failed(axis) || nd_axis_of(vm, axis, a->ndim, of))
            copy = lines_of(vm, held, *of, out);
    }
    vm->api->release(vm, held);
    return copy;
}

static bool sort_lines(dvx_vm *vm, const nd_array *a) {
    const int64_t count = a->axes[a->ndim - 1].count;
    return !a->size || sort_rows(vm, a->dtype, a->data, count, a->size / count);
}

/* a, axis, kind */
static dvx_value sort(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    int axis;
    (void)count;
    dvx_value made = order_lines(vm, args[0], args[1], &axis, &a);
    if (dvx_failed(made)) return made;
    if (sort_lines(vm, a)) return order_turned_back(vm, made, axis);
    vm->api->release(vm, made);
    return DVX_FAILED;
}

static dvx_value sort_in_place(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *self = array_self(vm, args[0]);
    if (!array_writable(vm, self)) return DVX_FAILED;
    dvx_value sorted = sort(vm, args, count);
    if (dvx_failed(sorted)) return sorted;
    bool good = array_assign(vm, self, array_of(vm, sorted));
    vm->api->release(vm, sorted);
    return good ? nd_none(vm) : DVX_FAILED;
}

static dvx_value argsort(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a, *out;
    int axis;
    int64_t shape[ND_MOST];
    (void)count;
    if (!dvx_failed(args[1]) && vm->api->kind(vm, args[1]) == DVX_BOOL)
        return nd_raise(vm, DVX_TYPE_ERROR, "an integer is required for the axis");
    dvx_value lines = order_lines(vm, args[0], args[1], &axis, &a);
    if (dvx_failed(lines)) return lines;
    array_shape(a, shape);
    dvx_value made = array_new(vm, ND_DTYPE(ND_INT64), a->ndim, shape, &out);
    const int64_t length = a->axes[a->ndim - 1].count;
    const bool good = !dvx_failed(made) &&
                      (!a->size || sort_places(vm, a->dtype, a->data, (int64_t *)(void *)out->data,
                                               length, a->size / length));
    vm->api->release(vm, lines);
    if (good) return order_turned_back(vm, made, axis);
    vm->api->release(vm, made);
    return DVX_FAILED;
}

/* ---- searchsorted ---- */

static bool order_search(dvx_vm *vm, const nd_dtype *dtype, const nd_array *row,
                         const nd_array *keys, bool right, int64_t *places) {
    nd_blocks b = {.total = keys->size};
    while (nd_next_block(vm, &b)) {
        all_sorts[dtype->num].search(row->data, row->size, keys->data, b.at, b.at + b.count, right,
                                     places);
        if (!nd_work(vm, 100 * b.count)) return false;
    }
    return !b.stopped;
}

/* a, v, side */
static dvx_value searchsorted(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    char word[32] = "left";
    nd_array *a, *v, *out;
    (void)count;
    if (nd_is_given(vm, args[2])) nd_word(vm, args[2], word);
    if (strcmp(word, "left") && strcmp(word, "right"))
        return nd_raise(vm, DVX_VALUE_ERROR, "search side must be 'left' or 'right' (got '%s')",
                        word);
    dvx_value both[2] = {array_operand(vm, args[0], NULL, &a), DVX_FAILED}, made = DVX_FAILED;
    if (!dvx_failed(both[0])) both[1] = array_operand(vm, args[1], NULL, &v);
    if (!dvx_failed(both[1])) {
        const nd_dtype *dtype = dtype_promote(a->dtype, v->dtype);
        int64_t shape[ND_MOST];
        for (int i = 0; i < 2; i++) {
            dvx_value row = array_row(vm, both[i], dtype, i ? &v : &a);
            vm->api->release(vm, both[i]);
            both[i] = row;
        }
        if (dvx_failed(both[0]) || dvx_failed(both[1])) {
        } else if (a->ndim != 1) {
            vm->api->raise(vm, DVX_VALUE_ERROR, "object too deep for desired array");
        } else {
            array_shape(v, shape);
            made = array_new(vm, ND_DTYPE(ND_INT64), v->ndim, shape, &out);
        }
        if (!dvx_failed(made) &&
            !order_search(vm, dtype, a, v, word[0] == 'r', (int64_t *)(void *)out->data)) {
            vm->api->release(vm, made);
            made = DVX_FAILED;
        }
    }
    vm->api->release(vm, both[0]);
    vm->api->release(vm, both[1]);
    return dvx_failed(made) ? made : array_result(vm, made);
}

/* ---- unique ---- */

/* Where the elements of a sorted row begin: their number. */
static int64_t mark_groups(const nd_array *a, int64_t *starts) {
    int64_t groups = 0;
    const int64_t size = a->dtype->size;
    for (int64_t i = 0; i < a->size; i++) {
        const char *at = a->data + i * size;
        if (i && !all_sorts[a->dtype->num].differ(at - size, at)) continue;
        starts[groups++] = i;
    }
    return groups;
}

static dvx_value ints_of(dvx_vm *vm, int64_t count, int64_t **out) {
    nd_array *a;
    dvx_value made = array_new(vm, ND_DTYPE(ND_INT64), 1, &count, &a);
    *out = dvx_failed(made) ? NULL : (int64_t *)(void *)a->data;
    return made;
}

/* Values alone, or with how many there are of each. */
static bool unique_values(dvx_vm *vm, const nd_array *row, bool counted, dvx_value *values,
                          dvx_value *numbers) {
    nd_array *sorted, *out;
    int64_t *counts = NULL, groups = 0;
    dvx_value held = array_copy(vm, row, row->dtype, 'C'), starts = DVX_FAILED;
    if (dvx_failed(held)) return false;
    sorted = array_of(vm, held);
    bool good = order_sort(vm, row->dtype, sorted->data, sorted->size);
    if (good && counted) {
        int64_t *at;
        starts = ints_of(vm, sorted->size, &at);
        good = !dvx_failed(starts);
        if (good) groups = mark_groups(sorted, at);
        if (good) *numbers = ints_of(vm, groups, &counts);
        good = good && !dvx_failed(*numbers);
        for (int64_t g = 0; good && g < groups; g++)
            counts[g] = (g + 1 < groups ? at[g + 1] : sorted->size) - at[g];
    }
    if (good) {
        groups = all_sorts[row->dtype->num].compact(sorted->data, sorted->size);
        *values = array_new(vm, row->dtype, 1, &groups, &out);
        good = !dvx_failed(*values);
        if (good && groups) memcpy(out->data, sorted->data, (size_t)(groups * row->dtype->size));
    }
    vm->api->release(vm, starts);
    vm->api->release(vm, held);
    return good;
}

/* ar, return_index, return_inverse, return_counts, axis */
ND_PARAMETERS(unique_parameters, 1, "ar", "return_index", "return_inverse", "return_counts",
              "axis");
static dvx_value unique(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    int flags[3];
    nd_array *row;
    (void)count;
    for (int i = 0; i < 3; i++)
        if ((flags[i] = nd_flag(vm, args[i + 1], false)) < 0) return DVX_FAILED;
    if (flags[0] || flags[1] || nd_is_given(vm, args[4]))
        return nd_wider(vm, "unique", &unique_parameters, args);
    dvx_value held = array_row(vm, args[0], NULL, &row), values = DVX_FAILED, counts = DVX_FAILED;
    const bool good = !dvx_failed(held) && unique_values(vm, row, flags[2], &values, &counts);
    vm->api->release(vm, held);
    if (good) return flags[2] ? compose_pair(vm, values, counts) : values;
    vm->api->release(vm, counts);
    return compose_first(vm, DVX_FAILED, values);
}

/* ---- Tables ---- */

ND_PARAMETERS(sort_parameters, 1, "a", "axis", "kind");
ND_PARAMETERS(sort_method_parameters, 0, "axis", "kind");
ND_PARAMETERS(search_parameters, 2, "a", "v", "side");
ND_PARAMETERS(search_method_parameters, 1, "v", "side");
ND_METHOD(sort, ND_NAMED("sort", sort_in_place, sort_method_parameters));
ND_METHOD(argsort, ND_NAMED("argsort", argsort, sort_method_parameters));
ND_METHOD(searchsorted, ND_NAMED("searchsorted", searchsorted, search_method_parameters));

static const dvx_function functions[] = {
    ND_NAMED("sort", sort, sort_parameters),
    ND_NAMED("argsort", argsort, sort_parameters),
    ND_NAMED("searchsorted", searchsorted, search_parameters),
    ND_NAMED("unique", unique, unique_parameters),
};

bool order_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
