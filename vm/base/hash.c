/* hash.c: keys of hashes, and SipHash (hash.h). */
#include "base/hash.h"

#include <string.h>

static dv_sip_state sip_begin(uint64_t key0, uint64_t key1) {
    return (dv_sip_state){key0 ^ 0x736F6D6570736575u, key1 ^ 0x646F72616E646F6Du,
                          key0 ^ 0x6C7967656E657261u, key1 ^ 0x7465646279746573u};
}

/* CPython's way from a seed to secret bytes (lcg_urandom in Python/bootstrap_hash.c), with the
 * seed's upper half mixed in. */
dv_hash_key dv_hash_key_of(uint64_t seed) {
    if (seed == 0) return (dv_hash_key){1, sip_begin(0, 0)};
    uint64_t secret[3] = {0};
    uint32_t x = (uint32_t)seed;
    for (int i = 0; i < 24; i++) {
        x = x * 214013 + 2531011;
        secret[i / 8] |= (uint64_t)(x >> 16 & 0xFF) << (8 * (i % 8));
    }
    const uint64_t upper = (seed >> 32) * 0x9E3779B97F4A7C15u;
    return (dv_hash_key){(secret[2] ^ upper) | 1, sip_begin(secret[0] ^ upper, secret[1])};
}

static uint64_t word_at(const char *data) {
    uint64_t word;
    memcpy(&word, data, sizeof word);
    return word;
}

static uint64_t rotate(uint64_t x, int bits) { return x << bits | x >> (64 - bits); }

/* Inline, so that the state stays in registers: a round waits for nothing but its own results. */
static inline __attribute__((always_inline)) void sip_round(dv_sip_state *s) {
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = rotate(s->v1, 13) ^ s->v0;
    s->v3 = rotate(s->v3, 16) ^ s->v2;
    s->v0 = rotate(s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = rotate(s->v1, 17) ^ s->v2;
    s->v3 = rotate(s->v3, 21) ^ s->v0;
    s->v2 = rotate(s->v2, 32);
}

/* The bytes behind the last whole word of a text, the first one lowest.  They are read in pieces
 * that may overlap, as nothing before the text or behind it may be read. */
static uint64_t last_bytes(const char *data, size_t size) {
    const size_t rest = size % 8;
    if (rest == 0) return 0;
    if (size > 8) return word_at(data + size - 8) >> (8 * (8 - rest));
    if (rest >= 4) {
        uint32_t first, last;
        memcpy(&first, data, 4);
        memcpy(&last, data + rest - 4, 4);
        return first | (uint64_t)last << (8 * (rest - 4));
    }
    const uint8_t *bytes = (const uint8_t *)data;
    return bytes[0] | (uint64_t)bytes[rest / 2] << (8 * (rest / 2)) |
           (uint64_t)bytes[rest - 1] << (8 * (rest - 1));
}

int64_t dv_hash_text(const dv_hash_key *key, const char *data, size_t size) {
    if (size == 0) return 0;
    dv_sip_state s = key->text;
    const uint64_t last = (uint64_t)size << 56 | last_bytes(data, size);
    for (size_t at = 0; at + 8 <= size; at += 8) {
        const uint64_t word = word_at(data + at);
        s.v3 ^= word;
        sip_round(&s);
        s.v0 ^= word;
    }
    s.v3 ^= last;
    sip_round(&s);
    s.v0 ^= last;
    s.v2 ^= 0xFF;
    sip_round(&s);
    sip_round(&s);
    sip_round(&s);
    const int64_t hash = (int64_t)((s.v0 ^ s.v1) ^ (s.v2 ^ s.v3));
    return hash == -1 ? -2 : hash;
}

int64_t dv_hash_limbs(const dv_hash_key *key, const uint64_t *limbs, size_t count, bool negative) {
    const int64_t hash = dv_hash_text(key, (const char *)limbs, count * sizeof *limbs);
    return negative && hash != 1 ? (int64_t) - (uint64_t)hash : hash;
}
