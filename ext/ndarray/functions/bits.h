/* bits.h: sources of random bits, and the numbers that NumPy makes of them, bit for bit: MT19937
 * with what RandomState does, PCG64 seeded through SeedSequence with what Generator does. */
#ifndef ND_BITS_H
#define ND_BITS_H

#include "base.h"

enum { ND_MT_WORDS = 624 };
typedef struct nd_mt19937 {
    uint32_t words[ND_MT_WORDS];
    uint32_t
        tempered[ND_MT_WORDS]; /* what is given out, from `position` on; all at once, by vectors */
    uint32_t position;
    bool has_gauss; /* the second of a pair of normal numbers */
    double gauss;
} nd_mt19937;

void bits_mt_seed(nd_mt19937 *mt, uint32_t seed);
void bits_mt_seed_words(nd_mt19937 *mt, const uint32_t *key, int64_t count);
void bits_mt_generate(nd_mt19937 *mt); /* the next words */
static inline uint32_t bits_mt_next(nd_mt19937 *mt) {
    if (mt->position == ND_MT_WORDS) bits_mt_generate(mt);
    return mt->tempered[mt->position++];
}
static inline double bits_mt_double(nd_mt19937 *mt) {
    const uint32_t high = bits_mt_next(mt) >> 5, low = bits_mt_next(mt) >> 6;
    return (high * 67108864.0 + low) * 0x1p-53;
}
double bits_mt_normal(nd_mt19937 *mt);
/* 0 ... most, by leaving out what is too large. */
uint64_t bits_mt_interval(nd_mt19937 *mt, uint64_t most);

typedef struct nd_pcg64 {
    unsigned __int128 state, increment;
    bool has_half;
    uint32_t half; /* of the last 64 bits, when half of them were asked for */
} nd_pcg64;

/* SeedSequence(entropy), whose words are given, the lowest first. */
void bits_pcg_seed(nd_pcg64 *pcg, const uint32_t *entropy, size_t count);
uint64_t bits_pcg_next(nd_pcg64 *pcg);
uint32_t bits_pcg_word(nd_pcg64 *pcg); /* half of the next bits, then the other half */
double bits_pcg_double(nd_pcg64 *pcg);
float bits_pcg_float(nd_pcg64 *pcg);
double bits_pcg_normal(nd_pcg64 *pcg);
/* 0 ... most, by Lemire's method. */
uint64_t bits_pcg_interval(nd_pcg64 *pcg, uint64_t most);

/* Of the ziggurat (ziggurat.mako): which mantissas lie inside a strip, what one unit of the
 * mantissa is, and the density at the strip's edge. */
extern const uint64_t bits_normal_limits[256];
extern const double bits_normal_widths[256], bits_normal_heights[256];

#endif
