/* factor.c: matrices as products (factor.h). */
#include "linear/factor.h"

#include <limits.h>

#include "loops/arith.h"

static int least(int a, int b) { return a < b ? a : b; }
static int most(int a, int b) { return a > b ? a : b; }

static size_t size_of(const nd_lapack *f) {
    return f->is_complex ? sizeof(nd_complex) : sizeof(double);
}

/* The element in this row and column. */
static char *at(const nd_lapack *f, const void *a, int rows, int64_t row, int64_t column) {
    return (char *)(uintptr_t)a + (column * rows + row) * (int64_t)size_of(f);
}

/* ---- Steps ---- */

/* Multiplications at once, some 10 ms; columns of a panel. */
static const double at_once = 1e8;
enum { PANEL = 64 };

static bool is_large(double multiplications) { return multiplications > at_once; }

/* Counts multiplications, of which a machine does several in a nanosecond. */
static bool count(dvx_vm *vm, double multiplications) {
    enum { CALL = 400 };
    const int64_t most = INT64_MAX / 64;
    return nd_work(vm, CALL + (multiplications < 1e18 ? (int64_t)(multiplications / 4) : most));
}

/* Columns, or rows, at once where each of them takes so many multiplications. */
static int step_for(double each) {
    const double some = at_once / (each > 1 ? each : 1);
    return some > INT_MAX / 2 ? INT_MAX / 2 : most(1, (int)some);
}

static const double one[2] = {1, 0}, minus_one[2] = {-1, 0};

/* C -= A op(B), for a C of m rows and n columns. */
static void subtract_product(dvx_vm *vm, const nd_lapack *f, const char *turn, int m, int n, int k,
                             int step, const char *a, const char *b, char *c, bool *good) {
    const int rows = step_for((double)n * k);
    for (int i = 0; *good && k && i < m; i += rows) {
        const int some = least(rows, m - i);
        const int64_t offset = i * (int64_t)size_of(f);
        f->gemm("N", turn, &some, &n, &k, minus_one, a + offset, &step, b, &step, one, c + offset,
                &step);
        *good = count(vm, (double)some * n * k);
    }
}

/* ---- LU ---- */

/* Swaps rows as pivots first to end - 1 say, in some columns. */
static void swap_rows(const nd_lapack *f, int n, void *a, int from, int to, const int *pivots,
                      int first, int end) {
    const size_t size = size_of(f);
    char x[sizeof(nd_complex)];
    for (int j = from; j < to; j++)
        for (int i = first; i < end; i++) {
            char *p = at(f, a, n, i, j), *q = at(f, a, n, pivots[i] - 1, j);
            memcpy(x, p, size);
            memcpy(p, q, size);
            memcpy(q, x, size);
        }
}

/* Panel after panel, each of which hears from those on its left. */
static int lu_panels(dvx_vm *vm, const nd_lapack *f, int n, void *a, int *pivots, bool *good) {
    int singular = 0;
    for (int k = 0; *good && k < n; k += PANEL) {
        const int width = least(PANEL, n - k), rows = n - k;
        int info = 0;
        char *panel = at(f, a, n, 0, k), *below = at(f, a, n, k, k);
        swap_rows(f, n, a, k, k + width, pivots, 0, k);
        if (k) f->trsm("L", "L", "N", "U", &k, &width, one, a, &n, panel, &n);
        *good = count(vm, (double)k * k * width / 2);
        subtract_product(vm, f, "N", rows, width, k, n, at(f, a, n, k, 0), panel, below, good);
        if (!*good) break;
        f->getrf(&rows, &width, below, &n, pivots + k, &info);
        if (info && !singular) singular = k + info;
        for (int i = k; i < k + width; i++) pivots[i] += k;
        swap_rows(f, n, a, 0, k, pivots, k, k + width);
        *good = count(vm, (double)rows * width * width + (double)k * width);
    }
    return singular;
}

int factor_lu(dvx_vm *vm, const nd_lapack *f, int n, void *a, int *pivots, bool *good) {
    const double all = (double)n * n * n / 3;
    int info = 0;
    *good = true;
    if (!n) return 0;
    if (is_large(all)) return lu_panels(vm, f, n, a, pivots, good);
    f->getrf(&n, &n, a, &n, pivots, &info);
    *good = count(vm, all + (double)n * n);
    return info;
}

void factor_solve(dvx_vm *vm, const nd_lapack *f, int n, const void *a, const int *pivots,
                  int sides, void *b, bool *good) {
    const int columns = step_for((double)n * n);
    *good = true;
    for (int i = 0; *good && n && i < sides; i += columns) {
        const int some = least(columns, sides - i);
        int info = 0;
        char *part = at(f, b, n, 0, i);
        f->getrs("N", &n, &some, a, &n, pivots, part, &n, &info);
        *good = count(vm, (double)n * n * some);
    }
}

/* ---- Cholesky ---- */

static int cholesky_panels(dvx_vm *vm, const nd_lapack *f, int n, void *a, bool *good) {
    int info = 0;
    for (int k = 0; *good && k < n; k += PANEL) {
        const int width = least(PANEL, n - k), rows = n - k - width;
        char *row = at(f, a, n, k, 0), *corner = at(f, a, n, k, k);
        subtract_product(vm, f, "C", n - k, width, k, n, row, row, corner, good);
        if (!*good) break;
        f->potrf("L", &width, corner, &n, &info);
        if (info) return k + info;
        if (rows)
            f->trsm("R", "L", "C", "N", &rows, &width, one, corner, &n, at(f, a, n, k + width, k),
                    &n);
        *good = count(vm, (double)rows * width * width);
    }
    return 0;
}

int factor_cholesky(dvx_vm *vm, const nd_lapack *f, int n, void *a, bool *good) {
    const double all = (double)n * n * n / 6;
    int info = 0;
    *good = true;
    if (is_large(all)) return cholesky_panels(vm, f, n, a, good);
    f->potrf("L", &n, a, &n, &info);
    *good = count(vm, all + (double)n * n);
    return info;
}

/* ---- QR ---- */

/* Reflects columns of c, from row k on, by those of a panel. */
static void reflect(dvx_vm *vm, const nd_lapack *f, const char *turn, int m, int k, int width,
                    void *a, void *scales, void *c, int from, int to, void *work, int room,
                    bool *good) {
    const int rows = m - k, columns = least(step_for(2.0 * rows * width), 512);
    for (int j = from; *good && j < to; j += columns) {
        const int some = least(columns, to - j);
        int info = 0;
        f->reflect("L", turn, &rows, &some, &width, at(f, a, m, k, k), &m, at(f, scales, 1, 0, k),
                   at(f, c, m, k, j), &m, work, &room, &info);
        *good = count(vm, 2.0 * rows * width * some);
    }
}

static void qr_panels(dvx_vm *vm, const nd_lapack *f, int m, int n, void *a, void *scales, void *q,
                      int columns, void *work, int room, bool *good) {
    const int k = least(m, n), last = (k - 1) / PANEL * PANEL;
    const char *turn = f->is_complex ? "C" : "T";
    for (int i = 0; *good && i < k; i += PANEL) {
        const int width = least(PANEL, k - i), rows = m - i;
        int info = 0;
        f->geqrf(&rows, &width, at(f, a, m, i, i), &m, at(f, scales, 1, 0, i), work, &room, &info);
        *good = count(vm, (double)rows * width * width);
        reflect(vm, f, turn, m, i, width, a, scales, a, i + width, n, work, room, good);
    }
    for (int i = 0; q && i < columns; i++) memcpy(at(f, q, m, i, i), one, size_of(f));
    for (int i = last; *good && q && i >= 0; i -= PANEL)
        reflect(vm, f, "N", m, i, least(PANEL, k - i), a, scales, q, i, columns, work, room, good);
}

int factor_wanted(const void *work) {
    double size;
    memcpy(&size, work, sizeof size);
    return size < 1 ? 1 : size > INT_MAX ? INT_MAX : (int)size;
}

static void qr_at_once(const nd_lapack *f, int m, int n, void *a, void *scales, void *q,
                       int columns, void *work, int room) {
    const int k = least(m, n);
    int info = 0;
    f->geqrf(&m, &n, a, &m, scales, work, &room, &info);
    if (!q) return;
    memcpy(q, a, size_of(f) * (size_t)m * (size_t)least(n, columns));
    f->make_q(&m, &columns, &k, q, &m, scales, work, &room, &info);
}

bool factor_qr(dvx_vm *vm, const nd_lapack *f, int m, int n, void *a, void *scales, void *q,
               int columns) {
    enum {
        MOST_BLOCK = 64,
        TRIANGLE = 65 * 64 /* what LAPACK's reflections take beside columns */
    };
    const int k = least(m, n), ask = -1;
    const double all = (double)m * k * most(n, q ? columns : 0);
    const bool large = is_large(all);
    nd_complex first[2] = {{0, 0}, {0, 0}};
    bool good = true;
    int info = 0, room = 512 * MOST_BLOCK + TRIANGLE;
    if (!k) return true;
    if (!large) {
        f->geqrf(&m, &n, a, &m, scales, &first[0], &ask, &info);
        if (q) f->make_q(&m, &columns, &k, q, &m, scales, &first[1], &ask, &info);
        room = most(factor_wanted(&first[0]), factor_wanted(&first[1]));
    }
    void *work = vm->api->allocate(vm, (size_t)room * size_of(f));
    if (!work) return false;
    if (large) {
        qr_panels(vm, f, m, n, a, scales, q, columns, work, room, &good);
    } else {
        qr_at_once(f, m, n, a, scales, q, columns, work, room);
        good = count(vm, 2 * all);
    }
    vm->api->deallocate(vm, work, (size_t)room * size_of(f));
    return good;
}
