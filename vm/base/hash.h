/* hash.h: what the hashes of texts and numbers are made with: nothing secret, as CPython with
 * PYTHONHASHSEED=0, or a key that a host has chosen.
 *
 * Invariants
 *  1. A hash is never -1, which stands for "not computed" and "failed": -2 is taken for it.
 *  2. Numbers that are equal have one hash under any key, whatever their types: the hash that
 *     CPython gives them, times the key's factor; or, where many have the same, that is from
 *     DV_HASH_MODULUS on, dv_hash_limbs. */
#ifndef DV_BASE_HASH_H
#define DV_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DV_HASH_BITS    61
#define DV_HASH_MODULUS (((uint64_t)1 << DV_HASH_BITS) - 1) /* of CPython's hashes of numbers */

typedef struct dv_sip_state {
    uint64_t v0, v1, v2, v3;
} dv_sip_state;

typedef struct dv_hash_key {
    uint64_t factor;   /* odd; 1: without a key */
    dv_sip_state text; /* what SipHash begins with */
} dv_hash_key;

/* The key of a seed; of 0: none.  Seeds below 2^32 give texts the hashes of CPython with that
 * PYTHONHASHSEED. */
dv_hash_key dv_hash_key_of(uint64_t seed);

/* The hash of a number whose hash without a key, if that were not -1, is `plain`. */
static inline int64_t dv_hash_number(const dv_hash_key *key, int64_t plain) {
    const int64_t hash = (int64_t)((uint64_t)plain * key->factor);
    return hash - (hash == -1);
}

/* The hash under a key of an integer of at least DV_HASH_MODULUS: its limbs, the lowest first, of
 * which the last is not 0. */
int64_t dv_hash_limbs(const dv_hash_key *key, const uint64_t *limbs, size_t count, bool negative);

/* SipHash-1-3 of a text's data (Aumasson and Bernstein, 2012, with fewer rounds; as CPython). */
int64_t dv_hash_text(const dv_hash_key *key, const char *data, size_t size);

#endif
