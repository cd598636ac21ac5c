/* small_sums.h: sums of small ints as int64, a part of loops.mako: compiled for each instruction
 * set, with its ND_WIDTH and AT. */
#ifndef ND_SMALL_SUMS_H
#define ND_SMALL_SUMS_H

/* Bytes of words in pairs, 16 bits for each, as often as these are enough; then the pairs. */
#define PAIRS    0x00ff00ff00ff00ffu
#define BOTH(w)  (((w)&PAIRS) + ((w) >> 8 & PAIRS))
#define FOURS(w) (((w)&0x0000ffff0000ffffu) + ((w) >> 16 & 0x0000ffff0000ffffu))
typedef uint64_t words __attribute__((vector_size(ND_WIDTH)));
static void sum_bytes(char *to, const char *from, int64_t count, int64_t stride) {
    enum { MOST = 65535 / (2 * 255), LANES = ND_WIDTH / 8 };
    uint64_t sum = 0, word;
    if (stride == 1) {
        while (count >= ND_WIDTH) {
            words pairs = {0}, next;
            for (int k = 0; k < MOST && count >= ND_WIDTH;
                 k++, count -= ND_WIDTH, from += ND_WIDTH) {
                memcpy(&next, from, sizeof next);
                pairs += BOTH(next);
            }
            next = FOURS(pairs);
            next = (next & UINT32_MAX) + (next >> 32);
            for (int k = 0; k < LANES; k++) sum += next[k];
        }
        for (; count >= 8; count -= 8, from += 8) {
            memcpy(&word, from, sizeof word);
            word = FOURS(BOTH(word));
            sum += (word & UINT32_MAX) + (word >> 32);
        }
    }
    for (; count > 0; count--, from += stride) sum += AT(const uint8_t, from);
    AT(int64_t, to) += (int64_t)sum;
}
static void sum_ints(char *to, const char *from, int64_t count, int64_t stride) {
    int64_t sum = 0;
    if (stride == sizeof(int32_t))
        for (int64_t i = 0; i < count; i++)
            sum += AT(const int32_t, from + i * (int64_t)sizeof(int32_t));
    else
        for (; count > 0; count--, from += stride) sum += AT(const int32_t, from);
    AT(int64_t, to) += sum;
}

#endif
