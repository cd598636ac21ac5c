/* matmul.c: products of matrices (matmul.h).  The tiles that do the work are in loops.mako. */
#include "linear/matmul.h"

#include "loops/half.h"

#include <limits.h>
#include <stdio.h>

#include "loops/arith.h"
#include "ufunc/error.h"
#include "loops/loops.h"
#include "array/methods.h"
#include "loops/turn.h"
#include "ufunc/ufunc.h"

/* ---- Two matrices ---- */

/* A few bytes, without a call. */
static inline void copy_few(char *to, const char *from, size_t bytes) {
    enum { LONG = 32, SHORT = 4 }; /* (an element has at least 4) */
    for (; bytes >= LONG; bytes -= LONG, to += LONG, from += LONG) memcpy(to, from, LONG);
    for (; bytes >= SHORT; bytes -= SHORT, to += SHORT, from += SHORT) memcpy(to, from, SHORT);
}

/* ND_PANEL bytes for each row of b: so many columns, and zeros in the rest of the last vector of 64
 * bytes. */
static void pack(const nd_matrix *b, int64_t first, int64_t columns, size_t size, char *panel) {
    enum { VECTOR = 64 };
    const size_t bytes = (size_t)columns * size, rest = bytes / VECTOR * VECTOR;
    const char *from = b->data + first * b->column;
    if (bytes > rest)
        for (int64_t k = 0; k < b->rows; k++) memset(panel + k * ND_PANEL + rest, 0, VECTOR);
    if (b->column == (int64_t)size) {
        for (int64_t k = 0; k < b->rows; k++)
            copy_few(panel + k * ND_PANEL, from + k * b->row, bytes);
    } else if (b->row == (int64_t)size) {
        turn_block(b->row, panel, ND_PANEL, from, b->column, b->rows, columns);
    } else {
        for (int64_t k = 0; k < b->rows; k++)
            for (int64_t j = 0; j < columns; j++)
                memcpy(panel + k * ND_PANEL + (size_t)j * size, from + k * b->row + j * b->column,
                       size);
    }
}

/* The same of complex numbers, whose parts go into a half of the row each. */
#define PACK_PARTS(T, name)                                                                    \
    static void pack_##name(const nd_matrix *b, int64_t first, int64_t columns, char *panel) { \
        enum { HALF = ND_PANEL / 2 / sizeof(T) };                                              \
        T *to = (T *)(void *)panel;                                                            \
        memset(panel, 0, (size_t)b->rows *ND_PANEL);                                           \
        for (int64_t k = 0; k < b->rows; k++, to += 2 * HALF)                                  \
            for (int64_t j = 0; j < columns; j++) {                                            \
                const char *from = b->data + k * b->row + (first + j) * b->column;             \
                to[j] = ((const T *)(const void *)from)[0];                                    \
                to[HALF + j] = ((const T *)(const void *)from)[1];                             \
            }                                                                                  \
    }
PACK_PARTS(double, complex128)
PACK_PARTS(float, complex64)

/* One column, for which a panel would be mostly zeros: one element after the other. */
enum { NARROW = 1, WIDE = 8 /* columns of complex numbers that are worth a panel */ };
#define NARROW_PRODUCT(T, name)                                                            \
    static void multiply_narrow_##name(const nd_matrix *a, const nd_matrix *b, char *to) { \
        T *out = (T *)(void *)to;                                                          \
        for (int64_t i = 0; i < a->rows; i++)                                              \
            for (int64_t j = 0; j < b->columns; j++) {                                     \
                const char *p = a->data + i * a->row, *q = b->data + j * b->column;        \
                T sum = 0;                                                                 \
                for (int64_t k = 0; k < b->rows; k++, p += a->column, q += b->row)         \
                    sum += *(const T *)(const void *)p * *(const T *)(const void *)q;      \
                *out++ = sum;                                                              \
            }                                                                              \
    }
NARROW_PRODUCT(double, float64)
NARROW_PRODUCT(float, float32)

/* Panel by panel. */
static bool multiply_tiles(dvx_vm *vm, nd_type type, nd_gemm gemm, const nd_matrix *a,
                           const nd_matrix *b, char *out) {
    enum { LEAST = 4 }; /* columns: fewer take as long */
    _Alignas(64) char few[32 * ND_PANEL];
    const size_t size = ND_DTYPE(type)->size;
    const int64_t width = (int64_t)(ND_PANEL / size);
    const size_t needed = (size_t)b->rows * ND_PANEL;
    char *memory = NULL, *panel = few;
    if (needed > sizeof few) {
        memory = vm->api->allocate(vm, needed + 64);
        if (!memory) return false;
        panel = memory + (64 - (uintptr_t)memory % 64);
    }
    bool good = true;
    for (int64_t first = 0; good && first < b->columns; first += width) {
        const int64_t columns = b->columns - first < width ? b->columns - first : width;
        if (type == ND_COMPLEX128)
            pack_complex128(b, first, columns, panel);
        else if (type == ND_COMPLEX64)
            pack_complex64(b, first, columns, panel);
        else
            pack(b, first, columns, size, panel);
        gemm(out + first * (int64_t)size, b->columns * (int64_t)size, a->data, a->row, a->column,
             panel, b->rows, a->rows, columns);
        good = nd_work(vm, a->rows * b->rows * (columns < LEAST ? LEAST : columns) / 4);
    }
    if (memory) vm->api->deallocate(vm, memory, needed + 64);
    return good;
}

#define MULTIPLY(T, name, zero, sum)                                                          \
    static void multiply_##name(const nd_matrix *a, const nd_matrix *b, char *to) {           \
        T *out = (T *)(void *)to;                                                             \
        for (int64_t i = 0; i < a->rows; i++)                                                 \
            for (int64_t j = 0; j < b->columns; j++) {                                        \
                const char *p = a->data + i * a->row, *q = b->data + j * b->column;           \
                T total = zero;                                                               \
                for (int64_t k = 0; k < b->rows; k++, p += a->column, q += b->row) {          \
                    const T x = *(const T *)(const void *)p, y = *(const T *)(const void *)q; \
                    total = sum;                                                              \
                }                                                                             \
                *out++ = total;                                                               \
            }                                                                                 \
    }
MULTIPLY(uint8_t, uint8, 0, (uint8_t)(total + x * y))
MULTIPLY(uint16_t, int16, 0, (uint16_t)(total + (unsigned)x * y))
MULTIPLY(uint32_t, int32, 0, total + x * y)
MULTIPLY(uint64_t, int64, 0, total + x * y)

/* Ints whose rows and columns lie close together: the products of a piece, then their sum, by the
 * loops of the ufuncs, which take several at a time (in any order the sum of ints is the same). */
enum { PIECE_BYTES = 4096, FEWEST = 64 };
static void multiply_close(dvx_vm *vm, nd_type type, const nd_matrix *a, const nd_matrix *b,
                           char *out) {
    _Alignas(64) char products[PIECE_BYTES];
    const int64_t size = (int64_t)ND_DTYPE(type)->size, most = PIECE_BYTES / size;
    const int64_t strides[] = {size, size, size};
    const nd_loop multiply = ufunc_kernel(vm, ND_UFUNC_multiply, type)->loop;
    const nd_fold add = ufunc_kernel(vm, ND_UFUNC_add, type)->fold;
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < b->columns; j++, out += size) {
            char *args[] = {(char *)a->data + i * a->row, (char *)b->data + j * b->column,
                            products};
            uint64_t total = 0;
            for (int64_t left = b->rows, now; left > 0; left -= now) {
                now = left < most ? left : most;
                multiply(args, now, strides);
                add((char *)&total, products, now, size);
                args[0] += now * size;
                args[1] += now * size;
            }
            memcpy(out, &total, (size_t)size);
        }
}
static bool is_close(nd_type type, const nd_matrix *a, const nd_matrix *b) {
    const int64_t size = (int64_t)ND_DTYPE(type)->size;
    return (type == ND_UINT8 || type == ND_INT32 || type == ND_INT64) && b->rows >= FEWEST &&
           a->column == size && b->row == size;
}

#define COMPLEX(r, i) ((nd_complex){r, i})
MULTIPLY(nd_complex, complex128, COMPLEX(0, 0),
         COMPLEX(total.real + (x.real * y.real - x.imag * y.imag),
                 total.imag + (x.real * y.imag + x.imag * y.real)))

/* (Added as float32.) */
static void multiply_float16(const nd_matrix *a, const nd_matrix *b, char *to) {
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < b->columns; j++, to += sizeof(nd_half)) {
            const char *p = a->data + i * a->row, *q = b->data + j * b->column;
            float total = 0;
            for (int64_t k = 0; k < b->rows; k++, p += a->column, q += b->row)
                total += half_value(*(const nd_half *)(const void *)p) *
                         half_value(*(const nd_half *)(const void *)q);
            *(nd_half *)(void *)to = half_of((double)total);
        }
}

#define COMPLEX64(r, i) ((nd_complex64){r, i})
MULTIPLY(nd_complex64, complex64, COMPLEX64(0, 0),
         COMPLEX64(total.real + (x.real * y.real - x.imag * y.imag),
                   total.imag + (x.real * y.imag + x.imag * y.real)))

/* ---- Bools ---- */

/* Is there a place where both are true?  (In rows, a word at a time.) */
static bool meet(const char *p, int64_t p_step, const char *q, int64_t q_step, int64_t count) {
    uint64_t x, y;
    if (p_step == 1 && q_step == 1)
        for (; count >= (int64_t)sizeof x; count -= sizeof x, p += sizeof x, q += sizeof x) {
            memcpy(&x, p, sizeof x);
            memcpy(&y, q, sizeof y);
            if (x & y) return true;
        }
    for (; count > 0; count--, p += p_step, q += q_step)
        if (*p & *q) return true;
    return false;
}

/* Eight bools as bits, and back. */
static inline uint64_t bits_of(const char *p) {
    uint64_t x;
    memcpy(&x, p, sizeof x);
    return x * 0x0102040810204080u >> 56;
}
static inline uint64_t bools_of(uint64_t bits) {
    const uint64_t each = bits * 0x0101010101010101u & 0x8040201008040201u;
    return (each + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
}

enum { WORD = 64 };

/* A row of b as bits, of which those behind the last column are set. */
static void pack_bits(const char *from, int64_t step, int64_t columns, uint64_t *to) {
    for (; columns > 0; columns -= WORD, from += WORD * step, to++) {
        char row[WORD];
        const int64_t n = columns < WORD ? columns : WORD;
        const char *p = from;
        if (step != 1 || n < WORD) {
            memset(row, 1, sizeof row);
            for (int64_t j = 0; j < n; j++) row[j] = from[j * step];
            p = row;
        }
        *to = 0;
        for (int j = 0; j < WORD; j += 8) *to |= bits_of(p + j) << j;
    }
}

static void unpack_bits(const uint64_t *from, int64_t columns, char *to) {
    for (; columns > 0; columns -= WORD, from++) {
        uint64_t row[8];
        for (int j = 0; j < 8; j++) row[j] = bools_of(*from >> 8 * j & 255);
        const size_t n = (size_t)(columns < WORD ? columns : WORD);
        memcpy(to, row, n);
        to += n;
    }
}

static bool all_set(const uint64_t *words, int64_t count) {
    for (int64_t w = 0; w < count; w++)
        if (~words[w]) return false;
    return true;
}

/* A row of the product is that of all rows of b whose element of a's row is true: of their bits,
 * until all are set.  NumPy looks for the first such element for each column. */
static bool multiply_bits(dvx_vm *vm, const nd_matrix *a, const nd_matrix *b, char *out) {
    enum { FEW = 512, LOOK = 8 };
    uint64_t few[FEW], *memory = NULL, *bits = few;
    const int64_t words = (b->columns + WORD - 1) / WORD;
    const size_t needed = (size_t)((b->rows + 1) * words) * sizeof *bits;
    bool good = true;
    if (needed > sizeof few && !(bits = memory = vm->api->allocate(vm, needed))) return false;
    uint64_t *const row = bits + b->rows * words;
    for (int64_t k = 0; k < b->rows; k++)
        pack_bits(b->data + k * b->row, b->column, b->columns, bits + k * words);
    for (int64_t i = 0; good && i < a->rows; i++, out += b->columns) {
        const char *p = a->data + i * a->row;
        memset(row, 0, (size_t)words * sizeof *row);
        if (b->columns % WORD) row[words - 1] = ~(uint64_t)0 << b->columns % WORD;
        for (int64_t k = 0; k < b->rows; k++, p += a->column) {
            const uint64_t taken = -(uint64_t)(*p != 0), *from = bits + k * words;
            for (int64_t w = 0; w < words; w++) row[w] |= from[w] & taken;
            if (k % LOOK == LOOK - 1 && all_set(row, words)) break;
        }
        unpack_bits(row, b->columns, out);
        good = nd_work(vm, b->rows * (words + 1));
    }
    if (memory) vm->api->deallocate(vm, memory, needed);
    return good;
}

/* Of one multiplication after the other. */
static bool count_product(dvx_vm *vm, const nd_matrix *a, const nd_matrix *b) {
    enum { BEGINNING = 32 };
    const int64_t steps = a->rows * b->rows * b->columns;
    return nd_work(vm, (a->rows == 1 && b->columns == 1 ? steps / 5 * 2 : steps) + BEGINNING);
}

static bool multiply_bool(dvx_vm *vm, const nd_matrix *a, const nd_matrix *b, char *out) {
    enum { LEAST = 4 }; /* rows that are worth b's bits */
    if (a->rows >= LEAST && b->columns >= LEAST) return multiply_bits(vm, a, b, out);
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < b->columns; j++)
            *out++ =
                meet(a->data + i * a->row, a->column, b->data + j * b->column, b->row, b->rows);
    return count_product(vm, a, b);
}

/* Products with fewer multiplications than that are done sooner here: the tiles go on in order, and
 * OpenBLAS packs matrices and looks for its buffers first. */
static bool is_large(nd_type type, const nd_matrix *a, const nd_matrix *b) {
    enum { LARGE_DOT = 128, LARGE_VECTOR = 512, LARGE = 768, OF_COMPLEX = 8 };
    double work = (double)a->rows * (double)a->columns * (double)b->columns;
    if (!type_is_inexact(type) || ND_DTYPE(type)->hot == ND_RARE) return false;
    if (type == ND_COMPLEX128) work *= OF_COMPLEX;
    const bool row = a->rows == 1, column = b->columns == 1;
    return work >= (row && column ? LARGE_DOT : row || column ? LARGE_VECTOR : LARGE);
}

bool matmul_into(dvx_vm *vm, nd_type type, const nd_matrix *a, const nd_matrix *b, char *out) {
    bool good;
    if (is_large(type, a, b) && blas_multiply(vm, ND_DTYPE(type)->size, a, b, out, &good))
        return good;
    return matmul_in_order(vm, type, a, b, out);
}

/* So many rows at once that an interrupt waits for some ms. */
static int64_t rows_at_once(const nd_matrix *a, const nd_matrix *b) {
    const double work = (double)b->rows * (double)b->columns, rows = 1e7 / (work > 1 ? work : 1);
    return rows >= (double)a->rows ? a->rows : rows < 8 ? 8 : (int64_t)rows;
}

/* So many products in each sum; a panel of more rows would be too large. */
static int64_t sums_at_once(int64_t rows, const nd_matrix *b) {
    enum { LEAST = 16, MOST = 1 << 18 };
    const double each = (double)rows * (double)b->columns, count = 1e8 / (each > 1 ? each : 1);
    return count >= MOST ? MOST : count < LEAST ? LEAST : (int64_t)count;
}

static bool multiply_in_order(dvx_vm *vm, nd_type type, const nd_matrix *a, const nd_matrix *b,
                              char *out);

/* Sums of very many products: `most` of these at a time, whose sums are added. */
static bool multiply_long(dvx_vm *vm, nd_type type, const nd_matrix *a, const nd_matrix *b,
                          char *out, int64_t most) {
    const int64_t count = a->rows * b->columns, size = ND_DTYPE(type)->size;
    const int64_t strides[] = {size, size, size};
    const nd_loop add = ufunc_kernel(vm, ND_UFUNC_add, type)->loop;
    nd_matrix x = *a, y = *b;
    x.columns = y.rows = most;
    char *sums = nd_room(vm, count, (size_t)size), *args[] = {out, sums, out};
    bool good = sums && multiply_in_order(vm, type, &x, &y, out);
    for (int64_t done = most; good && done < b->rows; done += most) {
        x.columns = y.rows = b->rows - done < most ? b->rows - done : most;
        x.data = a->data + done * a->column;
        y.data = b->data + done * b->row;
        good = multiply_in_order(vm, type, &x, &y, sums);
        if (good) add(args, count, strides);
    }
    if (sums) nd_give_back(vm, sums, count, (size_t)size);
    return good;
}

bool matmul_in_order(dvx_vm *vm, nd_type type, const nd_matrix *a, const nd_matrix *b, char *out) {
    const int64_t most = rows_at_once(a, b), size = ND_DTYPE(type)->size;
    const int64_t sums = sums_at_once(most, b);
    if (LIKELY(most >= a->rows && sums >= b->rows)) return multiply_in_order(vm, type, a, b, out);
    nd_matrix part = *a;
    for (int64_t done = 0; done < a->rows; done += most) {
        part.rows = a->rows - done < most ? a->rows - done : most;
        part.data = a->data + done * a->row;
        char *to = out + done * b->columns * size;
        if (!(sums >= b->rows ? multiply_in_order(vm, type, &part, b, to)
                              : multiply_long(vm, type, &part, b, to, sums)))
            return false;
    }
    return true;
}

static bool multiply_in_order(dvx_vm *vm, nd_type type, const nd_matrix *a, const nd_matrix *b,
                              char *out) {
    const nd_tiles *tiles = nd_state_of(vm)->tiles;
    if (b->columns <= NARROW && (type == ND_FLOAT64 || type == ND_FLOAT32)) {
        (type == ND_FLOAT64 ? multiply_narrow_float64 : multiply_narrow_float32)(a, b, out);
        return count_product(vm, a, b);
    }
    if (is_close(type, a, b)) {
        multiply_close(vm, type, a, b, out);
        return count_product(vm, a, b);
    }
    const bool is_wide = a->rows > 1 && b->columns >= WIDE;
    switch (type) {
    case ND_FLOAT64: return multiply_tiles(vm, type, tiles->float64, a, b, out);
    case ND_FLOAT32: return multiply_tiles(vm, type, tiles->float32, a, b, out);
    case ND_BOOL: return multiply_bool(vm, a, b, out);
    case ND_INT8:
    case ND_UINT8: multiply_uint8(a, b, out); break;
    case ND_INT16:
    case ND_UINT16: multiply_int16(a, b, out); break;
    case ND_INT32:
    case ND_UINT32: multiply_int32(a, b, out); break;
    case ND_INT64:
    case ND_UINT64: multiply_int64(a, b, out); break;
    case ND_FLOAT16: multiply_float16(a, b, out); break;
    case ND_COMPLEX64:
        if (is_wide) return multiply_tiles(vm, type, tiles->complex64, a, b, out);
        multiply_complex64(a, b, out);
        break;
    case ND_COMPLEX128:
        if (is_wide) return multiply_tiles(vm, type, tiles->complex128, a, b, out);
        multiply_complex128(a, b, out);
        break;
    }
    return count_product(vm, a, b);
}

/* ---- Operands ---- */

/* Both operands as arrays of one dtype; to be released. */
typedef struct pair {
    dvx_value held[2];
    nd_array *a, *b;
    const nd_dtype *dtype;
} pair;

static void release_pair(dvx_vm *vm, pair *p) {
    vm->api->release(vm, p->held[0]);
    vm->api->release(vm, p->held[1]);
}

static bool cast_one(dvx_vm *vm, dvx_value *held, nd_array **a, const nd_dtype *dtype) {
    if ((*a)->dtype == dtype) return true;
    dvx_value cast = array_operand(vm, *held, dtype, a);
    vm->api->release(vm, *held);
    *held = cast;
    return !dvx_failed(cast);
}

static bool read_pair(dvx_vm *vm, dvx_value a, dvx_value b, pair *p) {
    p->held[1] = DVX_FAILED;
    p->held[0] = array_operand(vm, a, NULL, &p->a);
    if (dvx_failed(p->held[0])) return false;
    p->held[1] = array_operand(vm, b, NULL, &p->b);
    if (!dvx_failed(p->held[1])) {
        p->dtype = dtype_promote(p->a->dtype, p->b->dtype);
        if (cast_one(vm, &p->held[0], &p->a, p->dtype) &&
            cast_one(vm, &p->held[1], &p->b, p->dtype))
            return true;
    }
    release_pair(vm, p);
    return false;
}

/* ---- @ ---- */

#define SIGNATURE "(n?,k),(k,m?)->(n?,m?)"

static bool check_matmul(dvx_vm *vm, const nd_array *a, const nd_array *b) {
    for (int i = 0; i < 2; i++)
        if (!(i ? b : a)->ndim)
            return nd_fail(
                vm, DVX_VALUE_ERROR,
                "matmul: Input operand %d does not have enough dimensions (has 0, gufunc "
                "core with signature " SIGNATURE " requires 1)",
                i);
    int64_t inner = a->axes[a->ndim - 1].count;
    int64_t other = b->axes[b->ndim > 1 ? b->ndim - 2 : 0].count;
    return inner == other ||
           nd_fail(vm, DVX_VALUE_ERROR,
                   "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc "
                   "signature " SIGNATURE " (size %lld is different from %lld)",
                   (long long)other, (long long)inner);
}

/* The last two axes; a vector is a row on the left, a column on the right. */
static nd_matrix last_axes(const nd_array *a, bool left) {
    const dvx_axis *last = &a->axes[a->ndim - 1];
    if (a->ndim > 1)
        return (nd_matrix){a->data, last[-1].count, last->count, last[-1].stride, last->stride};
    if (left) return (nd_matrix){a->data, 1, last->count, 0, last->stride};
    return (nd_matrix){a->data, last->count, 1, last->stride, 0};
}

/* "(2,3,4)->(2,newaxis,newaxis) ": the axes, and those in front of the last two. */
static size_t write_stack(const nd_array *a, char *to, size_t room) {
    size_t used = 0;
    for (int i = 0; i < a->ndim; i++)
        used += (size_t)snprintf(to + used, room - used, "%s%lld", i ? "," : "(",
                                 (long long)a->axes[i].count);
    used += (size_t)snprintf(to + used, room - used, ")->(");
    for (int i = 0; i < a->ndim - 2; i++)
        used += (size_t)snprintf(to + used, room - used, "%lld,", (long long)a->axes[i].count);
    return used + (size_t)snprintf(to + used, room - used, "newaxis,newaxis) ");
}

/* Stacks that do not fit: NumPy tells how it has arranged them. */
static bool fail_stack(dvx_vm *vm, const nd_array *a, const nd_array *b) {
    enum { AXIS = 44 }; /* characters: a number of 20 digits, and that once more */
    char shapes[2 * ND_MOST * AXIS + 64];
    const size_t used = write_stack(a, shapes, sizeof shapes);
    write_stack(b, shapes + used, sizeof shapes - used);
    return nd_fail(vm, DVX_VALUE_ERROR,
                   "operands could not be broadcast together with remapped shapes "
                   "[original->remapped]: %s and requested shape (%lld,%lld)",
                   shapes, (long long)a->axes[a->ndim - 2].count,
                   (long long)b->axes[b->ndim - 1].count);
}

/* The axes before the last two, broadcast. */
static bool stack_shape(dvx_vm *vm, const nd_array *a, const nd_array *b, int *ndim,
                        int64_t *shape) {
    nd_array x = *a, y = *b, *both[2] = {&x, &y};
    x.ndim = a->ndim > 2 ? a->ndim - 2 : 0;
    y.ndim = b->ndim > 2 ? b->ndim - 2 : 0;
    for (int i = 1; i <= x.ndim && i <= y.ndim; i++) {
        const int64_t m = x.axes[x.ndim - i].count, n = y.axes[y.ndim - i].count;
        if (m != n && m != 1 && n != 1) return fail_stack(vm, a, b);
    }
    return array_broadcast(vm, both, 2, ndim, shape);
}

/* Matrices that one and the same matrix multiplies are rows of one matrix, where they lie equally
 * far apart as their rows do: one product of many rows takes far less time than many of a few.  How
 * many axes are left. */
static int fold_stack(int ndim, const int64_t *shape, const int64_t steps[2][ND_MOST],
                      nd_matrix *a) {
    for (; ndim && !steps[1][ndim - 1]; ndim--) {
        const int64_t count = shape[ndim - 1], step = steps[0][ndim - 1];
        if (count == 1) continue;
        const int64_t rows = a->rows * count, row = a->rows > 1 ? a->row : step;
        if (step != row * a->rows) break;
        /* (Rows that overlap, or that lie backwards, are none for OpenBLAS.) */
        if (row < a->columns * a->column && (row <= 0 || a->column < rows * row)) break;
        a->rows = rows;
        a->row = row;
    }
    return ndim;
}

static bool multiply_stack(dvx_vm *vm, const pair *p, int ndim, const int64_t *shape, char *out) {
    nd_array x = *p->a, y = *p->b;
    nd_matrix a = last_axes(p->a, true), b = last_axes(p->b, false);
    int64_t steps[2][ND_MOST], index[ND_MOST] = {0}, count = 1;
    x.ndim = x.ndim > 2 ? x.ndim - 2 : 0;
    y.ndim = y.ndim > 2 ? y.ndim - 2 : 0;
    array_strides_in(&x, ndim, steps[0]);
    array_strides_in(&y, ndim, steps[1]);
    ndim = fold_stack(ndim, shape, steps, &a);
    for (int i = 0; i < ndim; i++) count *= shape[i];
    for (; count > 0; count--) {
        if (!matmul_into(vm, p->dtype->num, &a, &b, out)) return false;
        out += a.rows * b.columns * p->dtype->size;
        for (int i = ndim - 1; i >= 0; i--) {
            a.data += steps[0][i];
            b.data += steps[1][i];
            if (++index[i] < shape[i]) break;
            a.data -= steps[0][i] * shape[i];
            b.data -= steps[1][i] * shape[i];
            index[i] = 0;
        }
    }
    return true;
}

static dvx_value matmul_pair(dvx_vm *vm, const pair *p, nd_array **out) {
    int64_t shape[ND_MOST + 2];
    int ndim, stack;
    if (!check_matmul(vm, p->a, p->b) || !stack_shape(vm, p->a, p->b, &stack, shape))
        return DVX_FAILED;
    ndim = stack;
    if (p->a->ndim > 1) shape[ndim++] = p->a->axes[p->a->ndim - 2].count;
    if (p->b->ndim > 1) shape[ndim++] = p->b->axes[p->b->ndim - 1].count;
    dvx_value made = array_new(vm, p->dtype, ndim, shape, out);
    if (dvx_failed(made)) return made;
    if (!(*out)->size || multiply_stack(vm, p, stack, shape, (*out)->data)) return made;
    vm->api->release(vm, made);
    return DVX_FAILED;
}

/* `exact`: of dot(), which writes to nothing but what it would make itself. */
static dvx_value into_out(dvx_vm *vm, dvx_value made, const nd_array *a, dvx_value out,
                          bool exact) {
    if (dvx_failed(made)) return DVX_FAILED;
    if (!nd_is_given(vm, out)) return array_result(vm, made);
    nd_array *to = vm->api->payload(vm, out, &array_type);
    bool good = false;
    if (!to)
        nd_fail(vm, DVX_TYPE_ERROR,
                exact ? "'out' must be an array" : "return arrays must be of ArrayType");
    else if (exact ? to->dtype != a->dtype || to->ndim != a->ndim || to->read_only ||
                         !(to->flags & ND_C_CONTIGUOUS)
                   : !array_same_shape(to, a) || !dtype_is_same_kind(a->dtype, to->dtype))
        nd_fail(vm, DVX_VALUE_ERROR,
                "output array is not acceptable (must have the right "
                "datatype, number of dimensions, and be a C-Array)");
    else if (!array_same_shape(to, a))
        nd_fail(vm, DVX_VALUE_ERROR, "output array has wrong dimensions");
    else
        good = array_writable(vm, to) && array_assign(vm, to, a);
    vm->api->release(vm, made);
    if (!good) return DVX_FAILED;
    return exact ? array_result(vm, vm->api->retain(vm, out)) : vm->api->retain(vm, out);
}

/* The columns that fill up a panel set flags, too: only what the product shows is told. */
static bool warn(dvx_vm *vm, const nd_array *product) {
    unsigned flags = arith_flags(), seen = 0;
    if (LIKELY(!flags)) return true;
    arith_clear();
    const bool single = product->dtype->num == ND_FLOAT32;
    if (!single && product->dtype->num != ND_FLOAT64) return true;
    for (int64_t i = 0; i < product->size; i++) {
        double x = single ? (double)((const float *)(const void *)product->data)[i]
                          : ((const double *)(const void *)product->data)[i];
        if (isnan(x)) seen |= FE_INVALID;
        if (isinf(x)) seen |= FE_OVERFLOW;
    }
    return error_flags(vm, "matmul", flags & seen);
}

dvx_value matmul_values(dvx_vm *vm, dvx_value a, dvx_value b, dvx_value out) {
    pair p;
    nd_array *product;
    if (!read_pair(vm, a, b, &p)) return DVX_FAILED;
    if (arith_flags()) arith_clear();
    dvx_value made = matmul_pair(vm, &p, &product);
    release_pair(vm, &p);
    if (!dvx_failed(made) && !warn(vm, product)) {
        vm->api->release(vm, made);
        made = DVX_FAILED;
    }
    return into_out(vm, made, product, out, false);
}

static dvx_value matmul(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return matmul_values(vm, args[0], args[1], args[2]);
}

/* ---- Contractions ---- */

/* The axes of `a` in this order, as a view, or as an array in a row. */
static dvx_value permuted(dvx_vm *vm, dvx_value of, const nd_array *a, const int *order,
                          bool in_row, nd_array **out) {
    dvx_axis axes[ND_MOST];
    for (int i = 0; i < a->ndim; i++) axes[i] = a->axes[order[i]];
    dvx_value moved = array_view(vm, of, a, a->data, a->ndim, axes, out);
    if (dvx_failed(moved) || !in_row) return moved;
    dvx_value row = array_row(vm, moved, NULL, out);
    vm->api->release(vm, moved);
    return row;
}

/* Can a matrix be multiplied as it lies there?  (Steps of one element one way, and of whole rows
 * the other.) */
static bool is_matrix(const nd_array *a, int count) {
    if (a->ndim != 2 || count != 1) return false;
    const int64_t size = a->dtype->size, first = a->axes[0].stride, second = a->axes[1].stride;
    return (second == size && first >= a->axes[1].count * size) ||
           (first == size && second >= a->axes[0].count * size);
}

/* Sums over the last axes of a and the first ones of b, `count` of them: an array. */
static dvx_value contract(dvx_vm *vm, const pair *p, const int *order_a, const int *order_b,
                          int count, nd_array **out) {
    nd_array *x, *y;
    int64_t shape[2 * ND_MOST], inner = 1, rows = 1, columns = 1;
    int ndim = 0;
    for (int i = 0; i < p->a->ndim - count; i++)
        rows *= shape[ndim++] = p->a->axes[order_a[i]].count;
    for (int i = 0; i < count; i++) inner *= p->b->axes[order_b[i]].count;
    for (int i = count; i < p->b->ndim; i++)
        columns *= shape[ndim++] = p->b->axes[order_b[i]].count;
    const bool plain = is_matrix(p->a, count) && is_matrix(p->b, count);
    dvx_value held[2] = {DVX_FAILED, DVX_FAILED};
    held[0] = permuted(vm, p->held[0], p->a, order_a, !plain, &x);
    if (!dvx_failed(held[0])) held[1] = permuted(vm, p->held[1], p->b, order_b, !plain, &y);
    dvx_value made = dvx_failed(held[1]) ? DVX_FAILED : array_new(vm, p->dtype, ndim, shape, out);
    if (!dvx_failed(made) && (*out)->size) {
        const int64_t size = p->dtype->size;
        const nd_matrix a =
            plain ? last_axes(x, true) : (nd_matrix){x->data, rows, inner, inner * size, size};
        const nd_matrix b = plain ? last_axes(y, false)
                                  : (nd_matrix){y->data, inner, columns, columns * size, size};
        if (!matmul_into(vm, p->dtype->num, &a, &b, (*out)->data)) {
            vm->api->release(vm, made);
            made = DVX_FAILED;
        }
    }
    vm->api->release(vm, held[0]);
    vm->api->release(vm, held[1]);
    return made;
}

/* (inner turns the last two axes of b around first.) */
static bool raise_aligned(dvx_vm *vm, const nd_array *a, int i, const nd_array *b, int j) {
    char one[ND_SHAPE_TEXT], two[ND_SHAPE_TEXT];
    int64_t shape[ND_MOST], other[ND_MOST] = {0};
    array_shape(a, shape);
    array_shape(b, other);
    if (b->ndim > 1 && j == b->ndim - 1) {
        int64_t last = other[j];
        other[j] = other[j - 1];
        other[--j] = last;
    }
    return nd_fail(
        vm, DVX_VALUE_ERROR, "shapes %s and %s not aligned: %lld (dim %d) != %lld (dim %d)",
        array_shape_text(a->ndim, shape, false, one), array_shape_text(b->ndim, other, false, two),
        (long long)shape[i], i, (long long)other[j], j);
}

/* Sums over the last axis of a and one of b. */
static dvx_value dot_along(dvx_vm *vm, const pair *p, int axis, nd_array **out) {
    int order_a[ND_MOST], order_b[ND_MOST], used = 1;
    const int last = p->a->ndim - 1;
    if (p->a->axes[last].count != p->b->axes[axis].count) {
        raise_aligned(vm, p->a, last, p->b, axis);
        return DVX_FAILED;
    }
    for (int i = 0; i <= last; i++) order_a[i] = i;
    order_b[0] = axis;
    for (int i = 0; i < p->b->ndim; i++)
        if (i != axis) order_b[used++] = i;
    return contract(vm, p, order_a, order_b, 1, out);
}

static dvx_value dot_values(dvx_vm *vm, dvx_value a, dvx_value b, dvx_value to, bool inner) {
    pair p;
    nd_array *out = NULL;
    const dvx_value operands[2] = {a, b};
    if (!read_pair(vm, a, b, &p)) return DVX_FAILED;
    if (!p.a->ndim || !p.b->ndim) {
        release_pair(vm, &p);
        dvx_value product = ufunc_call(vm, ND_UFUNC_multiply, operands, DVX_FAILED, NULL);
        if (dvx_failed(product) || !nd_is_given(vm, to)) return product;
        dvx_value array = array_operand(vm, product, NULL, &out);
        vm->api->release(vm, product);
        return into_out(vm, array, out, to, true);
    }
    dvx_value made;
    if (!inner && p.a->ndim <= 2 && p.b->ndim <= 2 &&
        p.a->axes[p.a->ndim - 1].count == p.b->axes[0].count)
        made = matmul_pair(vm, &p, &out);
    else
        made = dot_along(vm, &p, inner || p.b->ndim == 1 ? p.b->ndim - 1 : p.b->ndim - 2, &out);
    release_pair(vm, &p);
    return into_out(vm, made, out, to, true);
}

static dvx_value dot(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return dot_values(vm, args[0], args[1], args[2], false);
}
static dvx_value inner(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return dot_values(vm, args[0], args[1], DVX_FAILED, true);
}

/* a and b in a row each. */
static dvx_value rows_of(dvx_vm *vm, const dvx_value *args, dvx_value *rows) {
    nd_array *a, *view;
    rows[1] = DVX_FAILED;
    for (int i = 0; i < 2; i++) {
        dvx_value held = array_row(vm, args[i], NULL, &a);
        if (dvx_failed(held)) break;
        const dvx_axis whole = {a->size, a->dtype->size};
        rows[i] = array_view(vm, held, a, a->data, 1, &whole, &view);
        vm->api->release(vm, held);
        if (dvx_failed(rows[i])) break;
        if (i == 1) return rows[0];
    }
    return DVX_FAILED;
}

static dvx_value outer(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    dvx_value rows[2] = {DVX_FAILED, DVX_FAILED}, result = DVX_FAILED;
    (void)count;
    if (!dvx_failed(rows_of(vm, args, rows))) {
        nd_array *view;
        const nd_array *a = array_of(vm, rows[0]);
        const dvx_axis axes[2] = {a->axes[0], {1, 0}};
        dvx_value column = array_view(vm, rows[0], a, a->data, 2, axes, &view);
        const dvx_value operands[2] = {column, rows[1]};
        if (!dvx_failed(column))
            result = ufunc_call(vm, ND_UFUNC_multiply, operands,
                                nd_is_given(vm, args[2]) ? args[2] : DVX_FAILED, NULL);
        vm->api->release(vm, column);
    }
    vm->api->release(vm, rows[0]);
    vm->api->release(vm, rows[1]);
    return result;
}

/* ---- Tables ---- */

ND_PARAMETERS(product_parameters, 2, "a", "b", "out");
ND_PARAMETERS(dot_method_parameters, 1, "b", "out");
ND_METHOD(dot, ND_NAMED("dot", dot, dot_method_parameters));

static const dvx_function functions[] = {
    ND_NAMED("matmul", matmul, product_parameters),
    ND_NAMED("dot", dot, product_parameters),
    ND_NAMED("outer", outer, product_parameters),
    ND_PLAIN("inner", inner, 2, 2),
};

bool matmul_register(dvx_vm *vm, dvx_value module) {
    nd_state_of(vm)->tiles = loops_tiles();
    return ND_ADD_ALL(functions);
}
