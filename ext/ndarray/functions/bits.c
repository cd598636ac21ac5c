/* bits.c: random bits and numbers (bits.h). */
#include "functions/bits.h"

#include <math.h>

/* ---- MT19937 ---- */

void bits_mt_seed(nd_mt19937 *mt, uint32_t seed) {
    for (uint32_t i = 0; i < ND_MT_WORDS; i++) {
        mt->words[i] = seed;
        seed = 1812433253u * (seed ^ (seed >> 30)) + i + 1;
    }
    mt->position = ND_MT_WORDS;
}

void bits_mt_seed_words(nd_mt19937 *mt, const uint32_t *key, int64_t count) {
    uint32_t *w = mt->words, i = 1;
    int64_t k = 0;
    bits_mt_seed(mt, 19650218u);
    for (int64_t left = count > ND_MT_WORDS ? count : ND_MT_WORDS; left > 0; left--) {
        w[i] = (w[i] ^ ((w[i - 1] ^ (w[i - 1] >> 30)) * 1664525u)) + key[k] + (uint32_t)k;
        if (++i == ND_MT_WORDS) w[0] = w[ND_MT_WORDS - 1], i = 1;
        if (++k == count) k = 0;
    }
    for (int left = ND_MT_WORDS - 1; left > 0; left--) {
        w[i] = (w[i] ^ ((w[i - 1] ^ (w[i - 1] >> 30)) * 1566083941u)) - i;
        if (++i == ND_MT_WORDS) w[0] = w[ND_MT_WORDS - 1], i = 1;
    }
    w[0] = 0x80000000u;
}

/* Of the first bit of a word, the others of the next one, and a word that is far away. */
static inline uint32_t twist(uint32_t word, uint32_t next, uint32_t far) {
    const uint32_t y = (word & 0x80000000u) | (next & 0x7FFFFFFFu);
    return far ^ (y >> 1) ^ (-(y & 1) & 0x9908B0DFu);
}

/* (Several loops, so that places are sums and not rests: they become vectors.) */
void bits_mt_generate(nd_mt19937 *mt) {
    enum { FAR = 397, LAST = ND_MT_WORDS - 1, BEFORE = ND_MT_WORDS - FAR };
    uint32_t *w = mt->words;
    for (int i = 0; i < BEFORE; i++) w[i] = twist(w[i], w[i + 1], w[i + FAR]);
    for (int i = BEFORE; i < LAST; i++) w[i] = twist(w[i], w[i + 1], w[i - BEFORE]);
    w[LAST] = twist(w[LAST], w[0], w[FAR - 1]);
    bits_mt_temper(mt);
    mt->position = 0;
}

void bits_mt_temper(nd_mt19937 *mt) {
    const uint32_t *w = mt->words;
    for (int i = 0; i < ND_MT_WORDS; i++) {
        uint32_t y = w[i];
        y ^= y >> 11;
        y ^= y << 7 & 0x9D2C5680u;
        y ^= y << 15 & 0xEFC60000u;
        mt->tempered[i] = y ^ (y >> 18);
    }
}

/* ---- SeedSequence ---- */

#define MULTIPLIER_A 0x931e8875u
#define MULTIPLIER_B 0x58f38dedu

static uint32_t hash_word(uint32_t value, uint32_t *constant) {
    value ^= *constant;
    *constant *= MULTIPLIER_A;
    value *= *constant;
    return value ^ (value >> 16);
}

static uint32_t mix(uint32_t x, uint32_t y) {
    uint32_t result = 0xca01f9ddu * x - 0x4973f715u * y;
    return result ^ (result >> 16);
}

void bits_pool(uint32_t *pool, size_t size, const uint32_t *entropy, size_t count) {
    uint32_t constant = 0x43b0d7e5u;
    for (size_t i = 0; i < size; i++) pool[i] = hash_word(i < count ? entropy[i] : 0, &constant);
    for (size_t from = 0; from < size; from++)
        for (size_t to = 0; to < size; to++)
            if (from != to) pool[to] = mix(pool[to], hash_word(pool[from], &constant));
    for (size_t from = size; from < count; from++)
        for (size_t to = 0; to < size; to++)
            pool[to] = mix(pool[to], hash_word(entropy[from], &constant));
}

void bits_pool_words(const uint32_t *pool, size_t size, uint32_t *out, size_t made) {
    uint32_t constant = 0x8b51f9ddu;
    for (size_t i = 0; i < made; i++) {
        uint32_t value = pool[i % size] ^ constant;
        constant *= MULTIPLIER_B;
        value *= constant;
        out[i] = value ^ (value >> 16);
    }
}

/* ---- PCG64 (O'Neill, HMC-CS-2014-0905: XSL-RR 128/64) ---- */

static inline void step(nd_bits *pcg) {
    const unsigned __int128 multiplier =
        (unsigned __int128)2549297995355413924u << 64 | 4865540595714422341u;
    pcg->state = pcg->state * multiplier + pcg->increment;
}

void bits_pcg_seed(nd_bits *pcg, const uint32_t *entropy, size_t count) {
    uint32_t pool[ND_POOL], words[8];
    unsigned __int128 halves[4];
    bits_pool(pool, ND_POOL, entropy, count);
    bits_pool_words(pool, ND_POOL, words, 8);
    for (int i = 0; i < 4; i++) halves[i] = (uint64_t)words[2 * i + 1] << 32 | words[2 * i];
    pcg->increment = (halves[2] << 64 | halves[3]) << 1 | 1;
    pcg->state = 0;
    step(pcg);
    pcg->state += halves[0] << 64 | halves[1];
    step(pcg);
    pcg->has_half = pcg->half = 0;
}

static inline uint64_t pcg_next(nd_bits *pcg) {
    step(pcg);
    uint64_t high = (uint64_t)(pcg->state >> 64), value = high ^ (uint64_t)pcg->state;
    unsigned turn = high >> 58;
    return value >> turn | value << (-turn & 63);
}

/* ---- Either ---- */

/* (`mt` is a constant where these are used, so that no loop asks again which source it is.) */
#define ALWAYS static inline __attribute__((always_inline))

ALWAYS uint64_t next_of(nd_bits *bits, bool mt) {
    if (!mt) return pcg_next(bits);
    const uint64_t high = bits_mt_next(bits->mt);
    return high << 32 | bits_mt_next(bits->mt);
}

ALWAYS uint32_t word_of(nd_bits *bits, bool mt) {
    if (mt) return bits_mt_next(bits->mt);
    if (bits->has_half) {
        bits->has_half = 0;
        return bits->half;
    }
    uint64_t next = pcg_next(bits);
    bits->has_half = 1;
    bits->half = (uint32_t)(next >> 32);
    return (uint32_t)next;
}

ALWAYS double double_of(nd_bits *bits, bool mt) {
    if (mt) return bits_mt_double(bits->mt);
    return (double)(pcg_next(bits) >> 11) * (1.0 / 9007199254740992.0);
}

uint64_t bits_next(nd_bits *bits) { return bits->mt ? next_of(bits, true) : next_of(bits, false); }
uint32_t bits_word(nd_bits *bits) { return bits->mt ? word_of(bits, true) : word_of(bits, false); }
double bits_double(nd_bits *bits) {
    return bits->mt ? double_of(bits, true) : double_of(bits, false);
}
float bits_float(nd_bits *bits) { return (float)(bits_word(bits) >> 8) * 0x1p-24f; }

ALWAYS uint64_t masked_of(nd_bits *bits, uint64_t most, bool mt) {
    const uint64_t mask = most ? UINT64_MAX >> __builtin_clzll(most) : 0;
    uint64_t value;
    if (!most) return 0;
    if (most <= UINT32_MAX) {
        do value = word_of(bits, mt) & mask;
        while (value > most);
        return value;
    }
    do value = next_of(bits, mt) & mask;
    while (value > most);
    return value;
}

ALWAYS uint64_t lemire_of(nd_bits *bits, uint64_t most, bool mt) {
    if (!most) return 0;
    if (most < UINT32_MAX) {
        const uint32_t count = (uint32_t)most + 1;
        uint64_t product = (uint64_t)word_of(bits, mt) * count;
        if ((uint32_t)product < count) {
            const uint32_t threshold = (UINT32_MAX - (uint32_t)most) % count;
            while ((uint32_t)product < threshold) product = (uint64_t)word_of(bits, mt) * count;
        }
        return product >> 32;
    }
    if (most == UINT32_MAX) return word_of(bits, mt);
    if (most == UINT64_MAX) return next_of(bits, mt);
    const uint64_t count = most + 1;
    unsigned __int128 product = (unsigned __int128)next_of(bits, mt) * count;
    if ((uint64_t)product < count) {
        const uint64_t threshold = (UINT64_MAX - most) % count;
        while ((uint64_t)product < threshold)
            product = (unsigned __int128)next_of(bits, mt) * count;
    }
    return (uint64_t)(product >> 64);
}

uint64_t bits_masked(nd_bits *bits, uint64_t most) {
    return bits->mt ? masked_of(bits, most, true) : masked_of(bits, most, false);
}
void bits_bounded(nd_bits *bits, bool masked, uint64_t most, uint64_t *to, int64_t count) {
#define FILL(of, mt) \
    for (int64_t i = 0; i < count; i++) to[i] = of(bits, most, mt)
    if (masked && bits->mt)
        FILL(masked_of, true);
    else if (masked)
        FILL(masked_of, false);
    else if (bits->mt)
        FILL(lemire_of, true);
    else
        FILL(lemire_of, false);
#undef FILL
}

/* ---- Ziggurats (NumPy's distributions.c) ---- */

/* Beyond the last strip. */
static double normal_tail(nd_bits *bits, bool negative) {
    const double edge = 3.6541528853610087963519472518, inverse = 0.27366123732975827203338247596;
    for (;;) {
        double x = -inverse * log1p(-bits_double(bits)), y = -log1p(-bits_double(bits));
        if (y + y > x * x) return negative ? -(edge + x) : edge + x;
    }
}

ALWAYS double normal_of(nd_bits *bits, bool mt) {
    for (;;) {
        uint64_t drawn = next_of(bits, mt), mantissa = drawn >> 9 & 0x000FFFFFFFFFFFFF;
        const unsigned strip = drawn & 255;
        double x = (double)mantissa * bits_normal.widths[strip];
        if (drawn >> 8 & 1) x = -x;
        if (mantissa < bits_normal.limits[strip]) return x;
        if (!strip) return normal_tail(bits, mantissa >> 8 & 1);
        const double low = bits_normal.heights[strip], high = bits_normal.heights[strip - 1];
        if ((high - low) * double_of(bits, mt) + low < exp(-0.5 * x * x)) return x;
    }
}

ALWAYS double exponential_of(nd_bits *bits, bool mt) {
    const double edge = 7.69711747013104972;
    for (;;) {
        const uint64_t drawn = next_of(bits, mt) >> 3, mantissa = drawn >> 8;
        const unsigned strip = drawn & 255;
        const double x = (double)mantissa * bits_exp.widths[strip];
        if (mantissa < bits_exp.limits[strip]) return x;
        if (!strip) return edge - log1p(-double_of(bits, mt));
        const double low = bits_exp.heights[strip], high = bits_exp.heights[strip - 1];
        if ((high - low) * double_of(bits, mt) + low < exp(-x)) return x;
    }
}

double bits_draw_normal(nd_bits *bits) {
    return bits->mt ? normal_of(bits, true) : normal_of(bits, false);
}
double bits_draw_exponential(nd_bits *bits) {
    return bits->mt ? exponential_of(bits, true) : exponential_of(bits, false);
}

/* The same with float32, whose tables are the others, rounded: mantissas have 23 bits. */
static inline uint32_t single_limit(uint64_t limit, int bits_less) {
    return (uint32_t)((limit + ((uint64_t)1 << (bits_less - 1))) >> bits_less);
}

float bits_single_normal(nd_bits *bits) {
    const float edge = 3.6541528853610087963519472518f, inverse = 0.27366123732975827203338247596f;
    for (;;) {
        const uint32_t drawn = bits_word(bits), mantissa = drawn >> 9, strip = drawn & 255;
        float x = (float)mantissa * (float)(bits_normal.widths[strip] * 0x1p29);
        const bool negative = drawn >> 8 & 1;
        if (negative) x = -x;
        if (mantissa < single_limit(bits_normal.limits[strip], 29)) return x;
        while (!strip) {
            const float far = -inverse * log1pf(-bits_float(bits)), y = -log1pf(-bits_float(bits));
            if (y + y > far * far) return mantissa >> 8 & 1 ? -(edge + far) : edge + far;
        }
        const float low = (float)bits_normal.heights[strip],
                    high = (float)bits_normal.heights[strip - 1];
        if ((double)((high - low) * bits_float(bits) + low) < exp(-0.5 * (double)x * (double)x))
            return x;
    }
}

float bits_single_exponential(nd_bits *bits) {
    const float edge = 7.69711747013104972f;
    enum { NEXT = 226 }; /* NumPy's table has the next larger number here */
    for (;;) {
        const uint32_t drawn = bits_word(bits) >> 1, mantissa = drawn >> 8, strip = drawn & 255;
        float width = (float)(bits_exp.widths[strip] * 0x1p30);
        if (strip == NEXT) width = nextafterf(width, 1);
        const float x = (float)mantissa * width;
        if (mantissa < single_limit(bits_exp.limits[strip], 30)) return x;
        if (!strip) return edge - log1pf(-bits_float(bits));
        const float low = (float)bits_exp.heights[strip], high = (float)bits_exp.heights[strip - 1];
        if ((high - low) * bits_float(bits) + low < expf(-x)) return x;
    }
}
