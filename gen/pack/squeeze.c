/* squeeze.c: finds what bytes say again, and writes where instead (squeeze.h).
 *
 * Places that begin with the same LEAST bytes are in a chain, the last one first, of which TRIES
 * are compared.  A repetition is put off by one byte where a longer one begins there.
 */
#include "squeeze.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST = 4, FARTHEST = 65535, TRIES = 512, BUCKETS = 1 << 15 };

typedef struct squeezer {
    const uint8_t *text;
    size_t size;
    size_t *before; /* of each place: 1 + the one before it in its chain; 0: none */
    size_t last[BUCKETS];
    uint8_t *out;
} squeezer;

typedef struct repetition {
    size_t length, distance;
} repetition;

static size_t bucket(const uint8_t *at) {
    uint32_t four;
    memcpy(&four, at, sizeof four);
    return four * 2654435761u >> 17;
}

static void enter(squeezer *s, size_t at) {
    if (at + LEAST > s->size) return;
    size_t *last = &s->last[bucket(s->text + at)];
    s->before[at] = *last;
    *last = at + 1;
}

/* The longest one of what is at a place, all before which have been entered. */
static repetition find(const squeezer *s, size_t at) {
    repetition best = {0, 0};
    if (at + LEAST > s->size) return best;
    size_t earlier = s->last[bucket(s->text + at)];
    for (int i = 0; i < TRIES && earlier && at - (earlier - 1) <= FARTHEST; i++) {
        const uint8_t *a = s->text + earlier - 1, *b = s->text + at;
        size_t length = 0;
        while (at + length < s->size && a[length] == b[length]) length++;
        if (length > best.length) best = (repetition){length, at - (earlier - 1)};
        earlier = s->before[earlier - 1];
    }
    return best.length < LEAST ? (repetition){0, 0} : best;
}

static unsigned digit_of(size_t count) { return count < 15 ? (unsigned)count : 15; }

static void put_rest(squeezer *s, size_t count) {
    if (count < 15) return;
    for (count -= 15; count >= 255; count -= 255) *s->out++ = 255;
    *s->out++ = (uint8_t)count;
}

static void put_part(squeezer *s, size_t from, size_t to, repetition found) {
    const size_t again = found.length ? found.length - LEAST : 0;
    *s->out++ = (uint8_t)(digit_of(to - from) << 4 | digit_of(again));
    put_rest(s, to - from);
    memcpy(s->out, s->text + from, to - from);
    s->out += to - from;
    if (!found.length) return;
    *s->out++ = (uint8_t)found.distance;
    *s->out++ = (uint8_t)(found.distance >> 8);
    put_rest(s, again);
}

uint8_t *squeeze(const uint8_t *text, size_t size, size_t *squeezed_size) {
    squeezer *s = calloc(1, sizeof *s);
    uint8_t *out = malloc(size + size / 128 + 32);
    size_t *before = calloc(size + 1, sizeof *before);
    if (s && out && before) {
        *s = (squeezer){.text = text, .size = size, .before = before, .out = out};
        size_t at = 0, written = 0;
        while (at < size) {
            repetition found = find(s, at);
            enter(s, at);
            if (found.length && find(s, at + 1).length > found.length) found.length = 0;
            if (!found.length) {
                at++;
                continue;
            }
            put_part(s, written, at, found);
            for (size_t i = 1; i < found.length; i++) enter(s, at + i);
            written = at += found.length;
        }
        put_part(s, written, size, (repetition){0, 0});
        *squeezed_size = (size_t)(s->out - out);
    } else {
        free(out);
        out = NULL;
    }
    free(before);
    free(s);
    return out;
}
