/* blas.c: OpenBLAS (blas.h). */
#include "linear/blas.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "loops/cast.h"

/* ---- Loading ---- */

/* What is looked for once in a process: the table is written by load, and read behind pthread_once.
 */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static nd_blas found;
static nd_lapack lapack[2] = {{.is_complex = false}, {.is_complex = true}};
static bool is_found;
static pthread_mutex_t users_lock = PTHREAD_MUTEX_INITIALIZER;
static int users; /* VMs that were given it; by users_lock (blas.h, invariant 4) */
#define LIBRARY "libopenblas.so.0"

typedef struct symbol {
    const char *name;
    size_t offset;
} symbol;
static const symbol symbols[] = {
    {"cblas_dgemm", offsetof(nd_blas, dgemm)},
    {"cblas_sgemm", offsetof(nd_blas, sgemm)},
    {"cblas_zgemm", offsetof(nd_blas, zgemm)},
    {"cblas_dgemv", offsetof(nd_blas, dgemv)},
    {"cblas_sgemv", offsetof(nd_blas, sgemv)},
    {"cblas_zgemv", offsetof(nd_blas, zgemv)},
    {"cblas_ddot", offsetof(nd_blas, ddot)},
    {"cblas_sdot", offsetof(nd_blas, sdot)},
    {"cblas_dsyrk", offsetof(nd_blas, dsyrk)},
    {"cblas_ssyrk", offsetof(nd_blas, ssyrk)},
    {"cblas_zdotu_sub", offsetof(nd_blas, zdotu_sub)},
    {"cblas_zdotc_sub", offsetof(nd_blas, zdotc_sub)},
    {"openblas_get_num_threads", offsetof(nd_blas, threads)},
};

#define LAPACK(letter, q, e)                                                                  \
    {                                                                                         \
        {#letter "getrf_", offsetof(nd_lapack, getrf)},                                       \
            {#letter "getrs_", offsetof(nd_lapack, getrs)},                                   \
            {#letter "potrf_", offsetof(nd_lapack, potrf)},                                   \
            {#letter "geqrf_", offsetof(nd_lapack, geqrf)}, {q, offsetof(nd_lapack, make_q)}, \
            {e, offsetof(nd_lapack, eigh)}, {#letter "gesdd_", offsetof(nd_lapack, svd)},     \
            {#letter "geev_", offsetof(nd_lapack, eig)},                                      \
    }
static const symbol lapack_symbols[2][8] = {LAPACK(d, "dorgqr_", "dsyevd_"),
                                            LAPACK(z, "zungqr_", "zheevd_")};

static bool find_all(void *library, const symbol *wanted, size_t count, void *table) {
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(library, wanted[i].name);
        if (!address) return false;
        memcpy((char *)table + wanted[i].offset, &address, sizeof address);
    }
    return true;
}

static void load(void) {
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    is_found = library && find_all(library, symbols, LENGTH_OF(symbols), &found);
    for (int i = 0; i < 2; i++)
        is_found = is_found &&
                   find_all(library, lapack_symbols[i], LENGTH_OF(lapack_symbols[i]), &lapack[i]);
}

/* So much memory, of which a few MB are ever used, OpenBLAS has for itself and its buffers. */
enum { ROOM = 16 << 20 };
enum { NOT_ASKED, THERE, MISSING, NO_ROOM };

static void count_user(int change) {
    pthread_mutex_lock(&users_lock);
    users += change;
    pthread_mutex_unlock(&users_lock);
}

const nd_blas *blas_find(dvx_vm *vm) {
    nd_state *state = nd_state_of(vm);
    if (UNLIKELY(state->blas == NOT_ASKED)) {
        void *room = vm->api->allocate(vm, ROOM);
        state->blas = NO_ROOM;
        if (room) {
            vm->api->deallocate(vm, room, ROOM);
            pthread_once(&once, load);
            state->blas = is_found ? THERE : MISSING;
            if (is_found) count_user(1);
        } else {
            vm->api->clear_error(vm);
        }
    }
    return state->blas == THERE ? &found : NULL;
}

void blas_finish(dvx_vm *vm) {
    if (nd_state_of(vm)->blas == THERE) count_user(-1);
}

pid_t blas_fork(void) {
    pthread_mutex_lock(&users_lock);
    const pid_t child = users == 1 || found.threads() == 1 ? fork() : -1;
    pthread_mutex_unlock(&users_lock);
    return child;
}

const nd_lapack *blas_lapack(dvx_vm *vm, const char *function, bool is_complex) {
    if (blas_find(vm)) return &lapack[is_complex];
    if (nd_state_of(vm)->blas == NO_ROOM)
        nd_fail(vm, DVX_MEMORY_ERROR, "np.linalg.%s needs OpenBLAS, which needs %d MB", function,
                ROOM >> 20);
    else
        nd_fail(vm, DVX_IMPORT_ERROR,
                "np.linalg.%s needs OpenBLAS: " LIBRARY " is missing (Debian: libopenblas0)",
                function);
    return NULL;
}

/* ---- Products ---- */

/* How CBLAS sees a matrix: `row` elements from one row to the next, or the other way round. */
typedef struct layout {
    const void *data;
    int row, turn;
} layout;

static bool lay_out(const nd_matrix *m, int64_t size, layout *to) {
    const bool plain = m->column == size || m->columns == 1;
    const bool turned = !plain && (m->row == size || m->rows == 1);
    /* A single row or column has a stride that nobody goes, but that must not be too small. */
    const int64_t least = turned ? m->rows : m->columns;
    int64_t row = turned ? m->column : m->row;
    if ((turned ? m->columns : m->rows) == 1) row = least * size;
    if (!(plain || turned) || row % size || row < least * size || row / size > INT_MAX)
        return false;
    *to = (layout){m->data, (int)(row / size), turned ? BLAS_TRANSPOSED : BLAS_PLAIN};
    return true;
}

/* The step between the elements of a vector. */
static bool step_of(int64_t stride, int64_t size, int *to) {
    if (stride <= 0 || stride % size || stride / size > INT_MAX) return false;
    *to = (int)(stride / size);
    return true;
}

static bool multiply_vectors(const nd_blas *blas, int64_t size, const nd_matrix *a,
                             const nd_matrix *b, char *out) {
    int x, y;
    const int n = (int)b->rows;
    if (!step_of(a->column, size, &x) || !step_of(b->row, size, &y)) return false;
    if (size == sizeof(double))
        *(double *)(void *)out = blas->ddot(n, (const void *)a->data, x, (const void *)b->data, y);
    else if (size == sizeof(float))
        *(float *)(void *)out = blas->sdot(n, (const void *)a->data, x, (const void *)b->data, y);
    else if (x != 1 || y != 1)
        return false;
    else
        blas->zdotu_sub(n, a->data, x, b->data, y, out);
    return true;
}

static const double one[2] = {1, 0}, zero[2] = {0, 0};

/* A matrix and a vector: `across`, the vector is a row on its left. */
static bool multiply_vector(const nd_blas *blas, int64_t size, const nd_matrix *m, const char *data,
                            int64_t stride, bool across, char *out) {
    layout l;
    int x;
    if (!lay_out(m, size, &l) || !step_of(stride, size, &x)) return false;
    const bool stored = l.turn == BLAS_PLAIN;
    const int rows = (int)(stored ? m->rows : m->columns);
    const int columns = (int)(stored ? m->columns : m->rows);
    const int turn = stored != across ? BLAS_PLAIN : BLAS_TRANSPOSED;
    const int64_t results = across ? m->columns : m->rows;
    /* (Not all its kernels leave alone what is there when it is multiplied by 0.) */
    memset(out, 0, (size_t)(results * size));
    if (size == sizeof(double))
        blas->dgemv(BLAS_ROWS, turn, rows, columns, 1, l.data, l.row, (const void *)data, x, 0,
                    (void *)out, 1);
    else if (size == sizeof(float))
        blas->sgemv(BLAS_ROWS, turn, rows, columns, 1, l.data, l.row, (const void *)data, x, 0,
                    (void *)out, 1);
    else
        blas->zgemv(BLAS_ROWS, turn, rows, columns, one, l.data, l.row, data, x, zero, out, 1);
    return true;
}

/* So much of an axis at once that an interrupt waits for some 20 ms; `across`: the multiplications
 * for each of its elements. */
static int64_t at_once(int64_t all, double across) {
    enum { LEAST = 256 };
    const double most = 3e8 / (across > 1 ? across : 1);
    return most > (double)all ? all : most < LEAST ? LEAST : (int64_t)most;
}

/* A matrix of real numbers and the same one transposed, as NumPy does it: half of the product, and
 * that once more. */
#define MIRROR(T, name)                                                        \
    static void mirror_##name(T *to, int64_t n) {                              \
        enum { BLOCK = 16 }; /* rows whose columns share lines of the cache */ \
        for (int64_t from = 0; from < n; from += BLOCK)                        \
            for (int64_t j = from; j < n; j++)                                 \
                for (int64_t i = from; i < from + BLOCK && i < j; i++)         \
                    to[j * n + i] = to[i * n + j];                             \
    }
MIRROR(double, doubles)
MIRROR(float, floats)

static bool multiply_by_itself(const nd_blas *blas, int64_t size, const layout *x, int n, int k,
                               char *out) {
    enum { MOST = 31 }; /* 2**30 multiplications, between which there is no look at interrupts */
    if ((double)n * n * k > (double)((int64_t)1 << MOST)) return false;
    if (size == sizeof(double)) {
        blas->dsyrk(BLAS_ROWS, BLAS_UPPER, x->turn, n, k, 1, x->data, x->row, 0, (void *)out, n);
        mirror_doubles((void *)out, n);
    } else {
        blas->ssyrk(BLAS_ROWS, BLAS_UPPER, x->turn, n, k, 1, x->data, x->row, 0, (void *)out, n);
        mirror_floats((void *)out, n);
    }
    return true;
}

static bool multiply_matrices(dvx_vm *vm, const nd_blas *blas, int64_t size, const nd_matrix *a,
                              const nd_matrix *b, char *out, bool *good) {
    layout x, y;
    if (!lay_out(a, size, &x) || !lay_out(b, size, &y)) return false;
    const int n = (int)b->columns, k = (int)b->rows;
    const double inner = (double)b->rows;
    const int64_t rows = at_once(a->rows, inner * n);
    const int64_t columns = at_once(n, inner * (double)rows);
    const bool is_square = x.data == y.data && x.row == y.row && x.turn != y.turn && a->rows == n;
    if (is_square && size <= (int64_t)sizeof(double) &&
        multiply_by_itself(blas, size, &x, n, k, out)) {
        *good = nd_work(vm, (int64_t)((double)n * n * k / 28));
        return true;
    }
    for (int64_t done = 0; *good && done < a->rows; done += rows)
        for (int64_t first = 0; *good && first < n; first += columns) {
            const int m = (int)(a->rows - done < rows ? a->rows - done : rows);
            const int part = (int)(n - first < columns ? n - first : columns);
            const char *from = a->data + done * a->row;
            const void *by = b->data + first * b->column;
            char *to = out + (done * n + first) * size;
            if (size == sizeof(double))
                blas->dgemm(BLAS_ROWS, x.turn, y.turn, m, part, k, 1, (const void *)from, x.row, by,
                            y.row, 0, (void *)to, n);
            else if (size == sizeof(float))
                blas->sgemm(BLAS_ROWS, x.turn, y.turn, m, part, k, 1, (const void *)from, x.row, by,
                            y.row, 0, (void *)to, n);
            else
                blas->zgemm(BLAS_ROWS, x.turn, y.turn, m, part, k, one, from, x.row, by, y.row,
                            zero, to, n);
            /* (A product of complex numbers is four.) */
            const double bytes =
                size == sizeof(nd_complex) ? 2.0 * sizeof(nd_complex) : (double)size;
            *good = nd_work(vm, (int64_t)(inner * m * part * bytes / 96));
        }
    return true;
}

/* Does OpenBLAS take it as it lies there?  `in_row`: a vector of neighbours. */
static bool is_taken(const nd_matrix *m, int64_t size, bool in_row) {
    layout l;
    int step;
    if (m->rows > 1 && m->columns > 1) return lay_out(m, size, &l);
    if (m->rows == 1 && m->columns == 1) return true;
    const int64_t stride = m->rows == 1 ? m->column : m->row;
    return in_row ? stride == size : step_of(stride, size, &step);
}

/* What runs backwards or has gaps both ways is copied, in the order in which it lies there: NULL,
 * and nothing is raised, where there is no memory for it.  (One element that stands for many is
 * left where it is: there may be any number of them.) */
static char *straighten(dvx_vm *vm, int64_t size, nd_matrix *m) {
    if ((!m->row && m->rows > 1) || (!m->column && m->columns > 1)) return NULL;
    const nd_dtype *dtype = ND_DTYPE(size == sizeof(float)    ? ND_FLOAT32
                                     : size == sizeof(double) ? ND_FLOAT64
                                                              : ND_COMPLEX128);
    const nd_cast copy = cast_between(dtype, dtype);
    char *memory = vm->api->allocate(vm, (size_t)(m->rows * m->columns * size));
    if (!memory) return vm->api->clear_error(vm), NULL;
    const bool by_row = m->rows == 1 || (m->columns > 1 && llabs(m->column) <= llabs(m->row));
    const int64_t outer = by_row ? m->rows : m->columns, inner = by_row ? m->columns : m->rows;
    const int64_t outer_step = by_row ? m->row : m->column, step = by_row ? m->column : m->row;
    for (int64_t i = 0; i < outer; i++)
        copy(memory + i * inner * size, size, m->data + i * outer_step, step, inner);
    m->data = memory;
    m->row = by_row ? inner * size : size;
    m->column = by_row ? size : inner * size;
    return memory;
}

static bool multiply_straight(dvx_vm *vm, const nd_blas *blas, int64_t size, const nd_matrix *a,
                              const nd_matrix *b, char *out, bool *good) {
    if (a->rows > 1 && b->columns > 1) return multiply_matrices(vm, blas, size, a, b, out, good);
    bool done;
    if (a->rows > 1)
        done = multiply_vector(blas, size, a, b->data, b->row, false, out);
    else if (b->columns > 1)
        done = multiply_vector(blas, size, b, a->data, a->column, true, out);
    else
        done = multiply_vectors(blas, size, a, b, out);
    if (done) *good = nd_work(vm, a->rows * b->columns * b->rows * size / 32);
    return done;
}

bool blas_multiply(dvx_vm *vm, size_t size, const nd_matrix *a, const nd_matrix *b, char *out,
                   bool *good) {
    const int64_t bytes = (int64_t)size;
    *good = true;
    if (a->rows > INT_MAX || a->columns > INT_MAX || b->columns > INT_MAX) return false;
    const nd_blas *blas = blas_find(vm);
    if (!blas) return false;
    /* (With gaps, OpenBLAS 0.3.21 reads an element behind the last one of complex vectors.) */
    const bool in_row = size == sizeof(nd_complex) && a->rows == 1 && b->columns == 1;
    nd_matrix both[2] = {*a, *b};
    char *copies[2] = {NULL, NULL};
    bool done = true;
    for (int i = 0; i < 2; i++)
        if (!is_taken(&both[i], bytes, in_row))
            done = done && (copies[i] = straighten(vm, bytes, &both[i]));
    if (done) done = multiply_straight(vm, blas, bytes, &both[0], &both[1], out, good);
    for (int i = 0; i < 2; i++)
        if (copies[i])
            vm->api->deallocate(vm, copies[i], (size_t)(both[i].rows * both[i].columns) * size);
    return done;
}
