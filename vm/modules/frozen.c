/* frozen.c: reads the squeezed texts of library modules in dl (frozen.h). */
#include "modules/frozen.h"

/* What a digit says with the bytes at *at that go on with it. */
static size_t whole_count(unsigned digit, const uint8_t **at) {
    size_t count = digit;
    if (digit == 15) {
        do count += **at;
        while (*(*at)++ == 255);
    }
    return count;
}

void dv_frozen_restore(const uint8_t *squeezed, char *text, size_t size) {
    const uint8_t *from = squeezed;
    char *to = text, *end = text + size;
    while (true) {
        const unsigned digits = *from++;
        const size_t plain = whole_count(digits >> 4, &from);
        memcpy(to, from, plain);
        from += plain;
        to += plain;
        if (to == end) return;
        const size_t distance = from[0] | (size_t)from[1] << 8;
        from += 2;
        size_t count = whole_count(digits & 15, &from) + 4;
        for (const char *back = to - distance; count; count--) *to++ = *back++;
    }
}
