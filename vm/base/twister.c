/* twister.c: the Mersenne Twister MT19937 by M. Matsumoto and T. Nishimura (twister.h).  Includes
 * nothing of the VM. */
#include "base/twister.h"

#define N DV_TWISTER_WORDS
#define M 397

static void seed_word(dv_twister *t, uint32_t seed) {
    t->state[0] = seed;
    for (uint32_t i = 1; i < N; i++)
        t->state[i] = 1812433253u * (t->state[i - 1] ^ t->state[i - 1] >> 30) + i;
}

/* The word before number i, stirred. */
static uint32_t stirred(const dv_twister *t, size_t i, uint32_t factor) {
    return (t->state[i - 1] ^ t->state[i - 1] >> 30) * factor;
}

static size_t advance(dv_twister *t, size_t i) {
    if (++i < N) return i;
    t->state[0] = t->state[N - 1];
    return 1;
}

void dv_twister_seed(dv_twister *t, const uint32_t *key, size_t count) {
    size_t i = 1, k = 0;
    seed_word(t, 19650218u);
    for (size_t left = count > N ? count : N; left; left--) {
        t->state[i] = (t->state[i] ^ stirred(t, i, 1664525u)) + key[k] + (uint32_t)k;
        i = advance(t, i);
        if (++k >= count) k = 0;
    }
    for (size_t left = N - 1; left; left--) {
        t->state[i] = (t->state[i] ^ stirred(t, i, 1566083941u)) - (uint32_t)i;
        i = advance(t, i);
    }
    t->state[0] = 0x80000000u;
    t->next = N;
}

static uint32_t twist(uint32_t high, uint32_t low) {
    uint32_t y = (high & 0x80000000u) | (low & 0x7fffffffu);
    return y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
}

void dv_twister_refill(dv_twister *t) {
    uint32_t *s = t->state;
    t->next = 0;
    if (t->refill) {
        t->refill(s);
        return;
    }
    for (int i = 0; i < N - M; i++) s[i] = s[i + M] ^ twist(s[i], s[i + 1]);
    for (int i = N - M; i < N - 1; i++) s[i] = s[i + M - N] ^ twist(s[i], s[i + 1]);
    s[N - 1] = s[M - 1] ^ twist(s[N - 1], s[0]);
}
