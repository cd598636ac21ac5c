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
    mt->has_gauss = false;
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
    for (int i = 0; i < ND_MT_WORDS; i++) {
        uint32_t y = w[i];
        y ^= y >> 11;
        y ^= y << 7 & 0x9D2C5680u;
        y ^= y << 15 & 0xEFC60000u;
        mt->tempered[i] = y ^ (y >> 18);
    }
    mt->position = 0;
}

double bits_mt_normal(nd_mt19937 *mt) {
    double x, y, square;
    if (mt->has_gauss) {
        mt->has_gauss = false;
        return mt->gauss;
    }
    do {
        x = 2.0 * bits_mt_double(mt) - 1.0;
        y = 2.0 * bits_mt_double(mt) - 1.0;
        square = x * x + y * y;
    } while (square >= 1.0 || square == 0.0);
    double scale = sqrt(-2.0 * log(square) / square);
    mt->gauss = scale * x;
    mt->has_gauss = true;
    return scale * y;
}

static uint64_t mask_of(uint64_t most) { return most ? UINT64_MAX >> __builtin_clzll(most) : 0; }

uint64_t bits_mt_interval(nd_mt19937 *mt, uint64_t most) {
    const uint64_t mask = mask_of(most);
    uint64_t value;
    if (!most) return 0;
    if (most <= UINT32_MAX) {
        do value = bits_mt_next(mt) & mask;
        while (value > most);
        return value;
    }
    do {
        value = (uint64_t)bits_mt_next(mt) << 32;
        value = (value | bits_mt_next(mt)) & mask;
    } while (value > most);
    return value;
}

/* ---- SeedSequence ---- */

enum { POOL = 4 };
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

static void fill_pool(uint32_t pool[POOL], const uint32_t *entropy, size_t count) {
    uint32_t constant = 0x43b0d7e5u;
    for (size_t i = 0; i < POOL; i++) pool[i] = hash_word(i < count ? entropy[i] : 0, &constant);
    for (size_t from = 0; from < POOL; from++)
        for (size_t to = 0; to < POOL; to++)
            if (from != to) pool[to] = mix(pool[to], hash_word(pool[from], &constant));
    for (size_t from = POOL; from < count; from++)
        for (size_t to = 0; to < POOL; to++)
            pool[to] = mix(pool[to], hash_word(entropy[from], &constant));
}

/* ---- PCG64 ---- */

static void step(nd_pcg64 *pcg) {
    const unsigned __int128 multiplier =
        (unsigned __int128)2549297995355413924u << 64 | 4865540595714422341u;
    pcg->state = pcg->state * multiplier + pcg->increment;
}

void bits_pcg_seed(nd_pcg64 *pcg, const uint32_t *entropy, size_t count) {
    uint32_t pool[POOL], constant = 0x8b51f9ddu;
    uint64_t words[4] = {0};
    fill_pool(pool, entropy, count);
    for (int i = 0; i < 8; i++) {
        uint32_t value = pool[i % POOL] ^ constant;
        constant *= MULTIPLIER_B;
        value *= constant;
        words[i / 2] |= (uint64_t)(value ^ (value >> 16)) << (i % 2 * 32);
    }
    pcg->increment = ((unsigned __int128)words[2] << 64 | words[3]) << 1 | 1;
    pcg->state = 0;
    step(pcg);
    pcg->state += (unsigned __int128)words[0] << 64 | words[1];
    step(pcg);
    pcg->has_half = false;
}

uint64_t bits_pcg_next(nd_pcg64 *pcg) {
    step(pcg);
    uint64_t high = (uint64_t)(pcg->state >> 64), value = high ^ (uint64_t)pcg->state;
    unsigned turn = high >> 58;
    return value >> turn | value << (-turn & 63);
}

uint32_t bits_pcg_word(nd_pcg64 *pcg) {
    if (pcg->has_half) {
        pcg->has_half = false;
        return pcg->half;
    }
    uint64_t next = bits_pcg_next(pcg);
    pcg->has_half = true;
    pcg->half = (uint32_t)(next >> 32);
    return (uint32_t)next;
}

double bits_pcg_double(nd_pcg64 *pcg) {
    return (double)(bits_pcg_next(pcg) >> 11) * (1.0 / 9007199254740992.0);
}

float bits_pcg_float(nd_pcg64 *pcg) { return (float)(bits_pcg_word(pcg) >> 8) * 0x1p-24f; }

static uint64_t interval32(nd_pcg64 *pcg, uint32_t most) {
    if (most == UINT32_MAX) return bits_pcg_word(pcg);
    const uint32_t count = most + 1;
    uint64_t product = (uint64_t)bits_pcg_word(pcg) * count;
    if ((uint32_t)product < count) {
        const uint32_t threshold = (UINT32_MAX - most) % count;
        while ((uint32_t)product < threshold) product = (uint64_t)bits_pcg_word(pcg) * count;
    }
    return product >> 32;
}

uint64_t bits_pcg_interval(nd_pcg64 *pcg, uint64_t most) {
    if (!most) return 0;
    if (most <= UINT32_MAX) return interval32(pcg, (uint32_t)most);
    if (most == UINT64_MAX) return bits_pcg_next(pcg);
    const uint64_t count = most + 1;
    unsigned __int128 product = (unsigned __int128)bits_pcg_next(pcg) * count;
    if ((uint64_t)product < count) {
        const uint64_t threshold = (UINT64_MAX - most) % count;
        while ((uint64_t)product < threshold)
            product = (unsigned __int128)bits_pcg_next(pcg) * count;
    }
    return (uint64_t)(product >> 64);
}

/* Beyond the last strip. */
static double normal_tail(nd_pcg64 *pcg, bool negative) {
    const double edge = 3.6541528853610087963519472518, inverse = 0.27366123732975827203338247596;
    for (;;) {
        double x = -inverse * log1p(-bits_pcg_double(pcg)), y = -log1p(-bits_pcg_double(pcg));
        if (y + y > x * x) return negative ? -(edge + x) : edge + x;
    }
}

double bits_pcg_normal(nd_pcg64 *pcg) {
    for (;;) {
        uint64_t bits = bits_pcg_next(pcg), mantissa = bits >> 9 & 0x000FFFFFFFFFFFFF;
        const unsigned strip = bits & 255;
        double x = (double)mantissa * bits_normal_widths[strip];
        if (bits >> 8 & 1) x = -x;
        if (mantissa < bits_normal_limits[strip]) return x;
        if (!strip) return normal_tail(pcg, mantissa >> 8 & 1);
        const double low = bits_normal_heights[strip], high = bits_normal_heights[strip - 1];
        if ((high - low) * bits_pcg_double(pcg) + low < exp(-0.5 * x * x)) return x;
    }
}
