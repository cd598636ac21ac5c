/* turn.c: copying elements that lie across (turn.h).  Squares of a few elements are turned within
 * vectors of 16 bytes; of each line of the cache that is read all is used before it has to go. */
#include "loops/turn.h"

#include <string.h>

typedef int64_t vector8 __attribute__((vector_size(16)));
typedef int32_t vector4 __attribute__((vector_size(16)));
typedef uint8_t vector1 __attribute__((vector_size(16)));

static inline void turn_square8(char *to, int64_t to_row, const char *from, int64_t from_column) {
    vector8 a, b;
    memcpy(&a, from, sizeof a);
    memcpy(&b, from + from_column, sizeof b);
    const vector8 above = __builtin_shufflevector(a, b, 0, 2);
    const vector8 below = __builtin_shufflevector(a, b, 1, 3);
    memcpy(to, &above, sizeof above);
    memcpy(to + to_row, &below, sizeof below);
}

#define LOW4(a, b)  __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH4(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
static inline void turn_square4(char *to, int64_t to_row, const char *from, int64_t from_column) {
    vector4 v[4];
    for (int i = 0; i < 4; i++) memcpy(&v[i], from + i * from_column, sizeof v[i]);
    const vector4 low[2] = {LOW4(v[0], v[2]), LOW4(v[1], v[3])};
    const vector4 high[2] = {HIGH4(v[0], v[2]), HIGH4(v[1], v[3])};
    v[0] = LOW4(low[0], low[1]);
    v[1] = HIGH4(low[0], low[1]);
    v[2] = LOW4(high[0], high[1]);
    v[3] = HIGH4(high[0], high[1]);
    for (int i = 0; i < 4; i++) memcpy(to + i * to_row, &v[i], sizeof v[i]);
}

/* (Eight columns of eight bytes; each step takes vectors with pairs twice as wide.) */
#define LOW1(a, b) \
    __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH1(a, b) \
    __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
static inline void turn_square1(char *to, int64_t to_row, const char *from, int64_t from_column) {
    vector1 v[8];
    for (int i = 0; i < 8; i++) {
        vector8 row = {0};
        memcpy(&row, from + i * from_column, sizeof row[0]);
        v[i] = (vector1)row;
    }
    const vector1 x[4] = {LOW1(v[0], v[4]), LOW1(v[1], v[5]), LOW1(v[2], v[6]), LOW1(v[3], v[7])};
    const vector1 y[4] = {LOW1(x[0], x[2]), HIGH1(x[0], x[2]), LOW1(x[1], x[3]), HIGH1(x[1], x[3])};
    const vector1 z[4] = {LOW1(y[0], y[2]), HIGH1(y[0], y[2]), LOW1(y[1], y[3]), HIGH1(y[1], y[3])};
    for (int i = 0; i < 4; i++) {
        const vector8 two = (vector8)z[i];
        const int64_t above = two[0], below = two[1];
        memcpy(to + 2 * i * to_row, &above, sizeof above);
        memcpy(to + (2 * i + 1) * to_row, &below, sizeof below);
    }
}

#define ONE(size)                                                                    \
    static inline void turn_square##size(char *to, int64_t to_row, const char *from, \
                                         int64_t from_column) {                      \
        (void)to_row;                                                                \
        (void)from_column;                                                           \
        memcpy(to, from, size);                                                      \
    }
ONE(2)
ONE(16)

/* Squares of `side` elements, `across` of them at a time; what is left at both edges, one by one.
 * So many columns are done at once that their lines stay in the cache. */
enum { COLUMNS = 32 };
#define TURN(size, side, across)                                                                 \
    static void turn_##size(char *to, int64_t to_row, const char *from, int64_t from_column,     \
                            int64_t rows, int64_t columns) {                                     \
        enum { STEP = (side) * (across) };                                                       \
        const int64_t even = columns - columns % (side);                                         \
        int64_t i = 0;                                                                           \
        for (; i + STEP <= rows; i += STEP)                                                      \
            for (int64_t j = 0; j < even; j += (side))                                           \
                for (int k = 0; k < STEP; k += (side))                                           \
                    turn_square##size(to + (i + k) * to_row + j * (size), to_row,                \
                                      from + j * from_column + (i + k) * (size), from_column);   \
        for (int64_t k = 0; k < rows; k++)                                                       \
            for (int64_t j = k < i ? even : 0; j < columns; j++)                                 \
                memcpy(to + k * to_row + j * (size), from + j * from_column + k * (size), size); \
    }
TURN(8, 2, 4)
TURN(4, 4, 2)
TURN(1, 8, 1)
TURN(2, 1, 4)
TURN(16, 1, 4)

void turn_block(int64_t size, char *to, int64_t to_row, const char *from, int64_t from_column,
                int64_t rows, int64_t columns) {
    for (; columns > 0; columns -= COLUMNS, to += COLUMNS * size, from += COLUMNS * from_column) {
        const int64_t n = columns < COLUMNS ? columns : COLUMNS;
        switch (size) {
        case 1: turn_1(to, to_row, from, from_column, rows, n); break;
        case 2: turn_2(to, to_row, from, from_column, rows, n); break;
        case 4: turn_4(to, to_row, from, from_column, rows, n); break;
        case 8: turn_8(to, to_row, from, from_column, rows, n); break;
        default: turn_16(to, to_row, from, from_column, rows, n); break;
        }
    }
}
