/* twister.h: the Mersenne Twister MT19937 as CPython's random uses it. */
#ifndef DV_BASE_TWISTER_H
#define DV_BASE_TWISTER_H

#include <stddef.h>
#include <stdint.h>

#define DV_TWISTER_WORDS 624

typedef struct dv_twister {
    uint32_t next; /* index of the next word; DV_TWISTER_WORDS: make new ones first */
    uint32_t state[DV_TWISTER_WORDS];
    /* Makes new words in another way; NULL: as the Mersenne Twister does. */
    void (*refill)(uint32_t *state);
} dv_twister;

/* Seeds from `count` words, at least one. */
void dv_twister_seed(dv_twister *t, const uint32_t *key, size_t count);
void dv_twister_refill(dv_twister *t);

static inline uint32_t dv_twister_word(dv_twister *t) {
    if (t->next >= DV_TWISTER_WORDS) dv_twister_refill(t);
    uint32_t y = t->state[t->next++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}

/* Uniform in [0, 1) with 53 bits. */
static inline double dv_twister_double(dv_twister *t) {
    uint32_t a = dv_twister_word(t) >> 5, b = dv_twister_word(t) >> 6;
    return (a * 67108864.0 + b) * (1.0 / 9007199254740992.0);
}

#endif
