/* collect.c: walks over short rows (collect.h). */
#include "ufunc/collect.h"

#include "loops/loops.h"

enum {
    SHORT = 40,       /* elements of a row: longer ones are no worse by themselves, */
    SHORT_ONCE = 128, /* ... or where what is collected is the same for all rows */
    LEAST = 64,       /* elements of all rows */
    ELEMENTS = 512,   /* that are collected at most */
    BUFFER_BYTES = 1 << 14
};

/* 16 bytes of a repeated element. */
typedef uint64_t words __attribute__((vector_size(16)));
static inline words repeat_1(uint8_t x) {
    const uint64_t word = x * (uint64_t)0x0101010101010101;
    return (words){word, word};
}
static inline words repeat_2(uint16_t x) {
    const uint64_t word = x * (uint64_t)0x0001000100010001;
    return (words){word, word};
}
static inline words repeat_4(uint32_t x) {
    const uint64_t word = (uint64_t)x << 32 | x;
    return (words){word, word};
}
static inline words repeat_8(uint64_t x) { return (words){x, x}; }
static inline nd_complex repeat_16(nd_complex x) { return x; }

/* (Rows are short: a loop for each size, and the steps that are frequent apart.) */
#define ROWS(type, bytes, wide)                                                                    \
    static void rows_##bytes(char *to, int64_t to_row, int64_t to_step, const char *from,          \
                             int64_t from_row, int64_t from_step, int64_t rows, int64_t columns) { \
        enum { FEW = 16 / bytes };                                                                 \
        for (int64_t i = 0; i < rows; i++, to += to_row, from += from_row) {                       \
            type *t = (type *)(void *)to;                                                          \
            const type *f = (const type *)(const void *)from;                                      \
            int64_t k = 0;                                                                         \
            if (to_step == bytes && from_step == bytes) {                                          \
                for (; k + 4 <= columns; k += 4) memcpy(t + k, f + k, 4 * bytes);                  \
                for (; k < columns; k++) t[k] = f[k];                                              \
            } else if (to_step == bytes && from_step == 0) {                                       \
                const wide x = repeat_##bytes(*f);                                                 \
                for (; k + FEW <= columns; k += FEW) memcpy(t + k, &x, sizeof x);                  \
                for (; k < columns; k++) t[k] = *f;                                                \
            } else {                                                                               \
                for (; k < columns; k++)                                                           \
                    *(type *)(void *)(to + k * to_step) =                                          \
                        *(const type *)(const void *)(from + k * from_step);                       \
            }                                                                                      \
        }                                                                                          \
    }
ROWS(uint8_t, 1, words)
ROWS(uint16_t, 2, words)
ROWS(uint32_t, 4, words)
ROWS(uint64_t, 8, words)
ROWS(nd_complex, 16, nd_complex)

/* All rows are the first one: so many bytes of them are copied on and on. */
static void repeat_row(char *to, int64_t bytes, int64_t rows) {
    enum { MOST = 1 << 12 };
    const int64_t all = bytes * rows;
    int64_t done = bytes;
    for (; done < all && done <= MOST / 2; done *= 2)
        memcpy(to + done, to, (size_t)(all - done < done ? all - done : done));
    for (const int64_t part = done; done < all; done += part)
        memcpy(to + done, to, (size_t)(all - done < part ? all - done : part));
}

void collect_rows(int64_t size, char *to, int64_t to_row, int64_t to_step, const char *from,
                  int64_t from_row, int64_t from_step, int64_t rows, int64_t columns) {
    enum { MANY = 32 };
    const bool repeated =
        from_row == 0 && to_step == size && to_row == columns * size && rows > MANY;
    (size == 1   ? rows_1
     : size == 2 ? rows_2
     : size == 4 ? rows_4
     : size == 8
         ? rows_8
         : rows_16)(to, to_row, to_step, from, from_row, from_step, repeated ? 1 : rows, columns);
    if (repeated) repeat_row(to, to_row, rows);
}

/* The axes that are done at once: all from `axis` on, of `axis` itself `most` places. */
typedef struct parcel {
    const nd_walk *walk;
    const int64_t *sizes;
    int axis;
    int64_t most, inner; /* inner: elements of one place of the axis */
    struct {
        bool collected; /* else its elements lie in one row each, a step apart */
        char *buffer;
        const char *from; /* what has been collected last, so many places of it */
        int64_t places;
    } of[ND_MOST_OPERANDS];
} parcel;

/* Between an operand and its buffer. */
static void copy(const parcel *p, int operand, char *at, int64_t places, bool out) {
    const nd_walk *walk = p->walk;
    const int64_t *strides = walk->strides[operand], size = p->sizes[operand];
    const int last = walk->ndim - 1, second = last - 1;
    int64_t index[ND_MOST] = {0};
    char *buffer = p->of[operand].buffer;
    const int64_t columns = walk->shape[last], step = strides[last];
    const int64_t rows = second > p->axis ? walk->shape[second] : places, far = strides[second];
    for (;;) {
        if (out)
            collect_rows(size, at, far, step, buffer, columns * size, size, rows, columns);
        else
            collect_rows(size, buffer, columns * size, size, at, far, step, rows, columns);
        buffer += rows * columns * size;
        int axis = second - 1;
        for (; axis >= p->axis; axis--) {
            at += strides[axis];
            if (++index[axis] < (axis > p->axis ? walk->shape[axis] : places)) break;
            at -= strides[axis] * index[axis];
            index[axis] = 0;
        }
        if (axis < p->axis) return;
    }
}

/* Are all elements of a parcel the same step apart? */
static bool is_even(const nd_walk *walk, int operand, int axis) {
    const int64_t *strides = walk->strides[operand];
    for (int i = walk->ndim - 2; i >= axis; i--)
        if (strides[i] != strides[i + 1] * walk->shape[i + 1]) return false;
    return true;
}

bool collect_pays(const nd_walk *walk) {
    const int last = walk->ndim - 1;
    int64_t all = 1;
    if (last < 1 || walk->shape[last] > SHORT_ONCE) return false;
    for (int i = 0; i <= last; i++) all *= walk->shape[i];
    if (walk->shape[last] > SHORT && !walk_repeats(walk)) return false;
    return all >= LEAST;
}

/* How many elements may be collected of each operand: a multiple of 16, so that the next buffer is
 * aligned. */
static int64_t room_for(const nd_walk *walk, const int64_t *sizes) {
    int64_t bytes = 0;
    for (int k = 0; k < walk->operands; k++) bytes += sizes[k];
    return BUFFER_BYTES / bytes < ELEMENTS ? BUFFER_BYTES / bytes / 16 * 16 : ELEMENTS;
}

static void begin(parcel *p, const nd_walk *walk, const int64_t *sizes, int64_t room,
                  char *memory) {
    *p = (parcel){.walk = walk, .sizes = sizes, .axis = walk->ndim - 2};
    p->inner = walk->shape[walk->ndim - 1];
    while (p->axis > 0 && p->inner * walk->shape[p->axis] <= room / 2)
        p->inner *= walk->shape[p->axis--];
    p->most = room / p->inner;
    for (int k = 0; k < walk->operands; k++) {
        p->of[k].collected = !is_even(walk, k, p->axis);
        p->of[k].buffer = memory;
        if (p->of[k].collected) memory += room * sizes[k];
    }
}

/* So many places of the axis. */
static bool run_parcel(dvx_vm *vm, parcel *p, char *const *data, int64_t places, nd_row row,
                       void *context) {
    char *at[ND_MOST_OPERANDS];
    int64_t strides[ND_MOST_OPERANDS];
    const nd_walk *walk = p->walk;
    const int last = walk->ndim - 1, out = walk->operands - 1;
    for (int k = 0; k <= out; k++) {
        at[k] = data[k];
        strides[k] = walk->strides[k][last];
        if (!p->of[k].collected) continue;
        at[k] = p->of[k].buffer;
        strides[k] = p->sizes[k];
        if (k == out || (p->of[k].from == data[k] && p->of[k].places >= places)) continue;
        copy(p, k, data[k], places, false);
        p->of[k].from = data[k];
        p->of[k].places = places;
    }
    if (!row(vm, context, at, places * p->inner, strides)) return false;
    if (p->of[out].collected) copy(p, out, data[out], places, true);
    return true;
}

bool collect_run(dvx_vm *vm, const nd_walk *walk, const int64_t *sizes, nd_row row, void *context) {
    _Alignas(64) char memory[BUFFER_BYTES];
    int64_t index[ND_MOST] = {0}, done = 0;
    char *data[ND_MOST_OPERANDS];
    parcel p;
    for (int i = 0; i < walk->ndim; i++)
        if (!walk->shape[i]) return true;
    const int64_t room = room_for(walk, sizes);
    if (walk->shape[walk->ndim - 1] > room) {
        nd_walk rows;
        walk_copy(&rows, walk);
        return walk_run(vm, &rows, row, context);
    }
    begin(&p, walk, sizes, room, memory);
    memcpy(data, walk->data, (size_t)walk->operands * sizeof *data);
    for (;;) {
        for (int64_t i = 0; i < walk->shape[p.axis]; i += p.most) {
            char *at[ND_MOST_OPERANDS];
            const int64_t left = walk->shape[p.axis] - i, n = left < p.most ? left : p.most;
            for (int k = 0; k < walk->operands; k++) at[k] = data[k] + i * walk->strides[k][p.axis];
            if (!run_parcel(vm, &p, at, n, row, context)) return false;
            if ((done += n * p.inner) < 1 << 16) continue;
            if (!nd_work(vm, done)) return false;
            done = 0;
        }
        int axis = p.axis - 1;
        for (; axis >= 0; axis--) {
            for (int k = 0; k < walk->operands; k++) data[k] += walk->strides[k][axis];
            if (++index[axis] < walk->shape[axis]) break;
            for (int k = 0; k < walk->operands; k++)
                data[k] -= walk->strides[k][axis] * walk->shape[axis];
            index[axis] = 0;
        }
        if (axis < 0) return true;
    }
}
