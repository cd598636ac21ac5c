/* bits.h: sources of random bits, MT19937 and PCG64 seeded through SeedSequence, and the numbers
 * that NumPy makes of them, bit for bit: those that are asked for in large numbers.  The
 * distributions that are left are made of these in dl (lib/random.dl).
 *
 * Invariants
 *  1. What a function draws is what NumPy's function of the same task draws from the same source.
 */
#ifndef ND_BITS_H
#define ND_BITS_H

#include "base.h"

enum { ND_MT_WORDS = 624 };
typedef struct nd_mt19937 {
    uint32_t words[ND_MT_WORDS];
    uint32_t position;
    uint32_t
        tempered[ND_MT_WORDS]; /* what is given out, from `position` on; all at once, by vectors */
} nd_mt19937;

/* A source: MT19937, or PCG64 where `mt` is NULL. */
typedef struct nd_bits {
    nd_mt19937 *mt;
    unsigned __int128 state, increment;
    uint32_t half; /* of the last 64 bits, when half of them were asked for */
    uint32_t has_half;
} nd_bits;

/* Matsumoto and Nishimura, init_genrand and init_by_array. */
void bits_mt_seed(nd_mt19937 *mt, uint32_t seed);
void bits_mt_seed_words(nd_mt19937 *mt, const uint32_t *key, int64_t count);
void bits_mt_generate(nd_mt19937 *mt); /* the next words */
void bits_mt_temper(nd_mt19937 *mt);   /* `tempered`, of `words` */
static inline uint32_t bits_mt_next(nd_mt19937 *mt) {
    if (mt->position == ND_MT_WORDS) bits_mt_generate(mt);
    return mt->tempered[mt->position++];
}
static inline double bits_mt_double(nd_mt19937 *mt) {
    const uint32_t high = bits_mt_next(mt) >> 5, low = bits_mt_next(mt) >> 6;
    return (high * 67108864.0 + low) * 0x1p-53;
}

/* SeedSequence (M. E. O'Neill's seed_seq_fe, as in NumPy's bit_generator.pyx): `entropy` is mixed
 * into a pool of `size` words, and `made` words are made of that. */
enum { ND_POOL = 4, ND_POOL_MOST = 4096 };
void bits_pool(uint32_t *pool, size_t size, const uint32_t *entropy, size_t count);
void bits_pool_words(const uint32_t *pool, size_t size, uint32_t *out, size_t made);
/* PCG64(SeedSequence(entropy)) */
void bits_pcg_seed(nd_bits *bits, const uint32_t *entropy, size_t count);

uint32_t bits_word(nd_bits *bits);
uint64_t bits_next(nd_bits *bits);
double bits_double(nd_bits *bits);
float bits_float(nd_bits *bits);
/* 0 ... most, by leaving out what is too large; else by Lemire's method (ACM TOMACS 29, 2019). */
uint64_t bits_masked(nd_bits *bits, uint64_t most);
void bits_bounded(nd_bits *bits, bool masked, uint64_t most, uint64_t *to, int64_t count);

/* Marsaglia and Tsang's ziggurats (J. Stat. Softw. 5, 2000): which mantissas lie inside a strip,
 * what one unit of the mantissa is, and the density at the strip's edge (ziggurat.mako). */
typedef struct nd_ziggurat {
    uint64_t limits[256];
    double widths[256], heights[256];
} nd_ziggurat;
extern const nd_ziggurat bits_normal, bits_exp;
double bits_draw_normal(nd_bits *bits);
double bits_draw_exponential(nd_bits *bits);
float bits_single_normal(nd_bits *bits);
float bits_single_exponential(nd_bits *bits);

#endif
