/* squeezed.c: restores what has been squeezed (squeezed.h). */
#include "code/squeezed.h"

#include <stdbool.h>
#include <string.h>

/* What a digit says with the bytes at *at that go on with it. */
static size_t whole_count(unsigned digit, const uint8_t **at) {
    size_t count = digit;
    if (digit == 15) {
        do count += **at;
        while (*(*at)++ == 255);
    }
    return count;
}

/* Eight at a time, up to seven more than asked for. */
static void copy(char *to, const void *from, size_t count) {
    const char *at = from, *end = to + count;
    for (; to < end; to += 8, at += 8) memcpy(to, at, 8);
}

void dv_squeezed_restore(const uint8_t *squeezed, void *room, size_t size) {
    const uint8_t *from = squeezed;
    char *to = room, *end = to + size;
    while (true) {
        const unsigned digits = *from++;
        const size_t plain = whole_count(digits >> 4, &from);
        copy(to, from, plain);
        from += plain;
        to += plain;
        if (to == end) break;
        const size_t distance = from[0] | (size_t)from[1] << 8;
        from += 2;
        const size_t count = whole_count(digits & 15, &from) + 4;
        const char *back = to - distance;
        if (distance >= 8)
            copy(to, back, count);
        else
            for (size_t i = 0; i < count; i++) to[i] = back[i];
        to += count;
    }
    memset(end, 0, DV_SQUEEZED_SLACK);
}
