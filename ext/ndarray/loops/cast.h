/* cast.h: copying elements with a cast from one dtype to another. */
#ifndef ND_CAST_H
#define ND_CAST_H

#include <string.h>

#include "array/dtype.h"

/* `count` elements, each `to_stride` (`from_stride`) bytes behind the one before. */
typedef void (*nd_cast)(char *to, int64_t to_stride, const char *from, int64_t from_stride,
                        int64_t count);
nd_cast cast_between(const nd_dtype *from, const nd_dtype *to);

/* `size` bytes that do not overlap. */
void cast_copy(char *to, const char *from, size_t size);

/* The same without a call, for those that a call would take longer than. */
static inline void cast_copy_few(char *to, const char *from, size_t size) {
    enum { PIECE = 16, HALF = 8, QUARTER = 4 };
    if (size >= PIECE) {
        for (size_t done = 0; done + PIECE < size; done += PIECE)
            memcpy(to + done, from + done, PIECE);
        memcpy(to + size - PIECE, from + size - PIECE, PIECE);
    } else if (size >= HALF) {
        memcpy(to, from, HALF);
        memcpy(to + size - HALF, from + size - HALF, HALF);
    } else if (size >= QUARTER) {
        memcpy(to, from, QUARTER);
        memcpy(to + size - QUARTER, from + size - QUARTER, QUARTER);
    } else {
        for (size_t i = 0; i < size; i++) to[i] = from[i];
    }
}

#endif
