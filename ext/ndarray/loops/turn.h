/* turn.h: copying elements that lie across, as those of a transposed array do. */
#ifndef ND_TURN_H
#define ND_TURN_H

#include "array/dtype.h"

/* Is it worth it?  (Elements of 16 bytes beyond the caches come as quickly one row after the
 * other.) */
static inline bool turn_pays(int64_t size, int64_t rows, int64_t columns) {
    enum { LEAST = 8, MOST_WIDE = 1 << 18 };
    if (rows < LEAST || columns < LEAST) return false;
    return size < (int64_t)sizeof(nd_complex) || rows < MOST_WIDE / columns;
}

/* `rows` rows of `columns` neighbours, each `to_row` bytes behind the one before, from columns: the
 * neighbour below is the next element of `from`, that on the right is `from_column` bytes behind.
 * `size` is 1, 4, 8 or 16; the two do not overlap. */
void turn_block(int64_t size, char *to, int64_t to_row, const char *from, int64_t from_column,
                int64_t rows, int64_t columns);

#endif
