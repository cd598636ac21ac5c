/* factor.c: matrices as products (factor.h). */
#include "linear/factor.h"

#include <limits.h>

#include "linear/apart.h"
#include "loops/arith.h"

static int least(int a, int b) { return a < b ? a : b; }
static int most(int a, int b) { return a > b ? a : b; }

static size_t size_of(const nd_lapack *f) {
    return f->is_complex ? sizeof(nd_complex) : sizeof(double);
}

/* ---- Steps ---- */

/* Multiplications at once, some 10 ms. */
static const double at_once = 1e8;

/* About so many ns: a machine does several multiplications in one. */
static double ns_of(double multiplications) {
    enum { CALL = 400 };
    return CALL + multiplications / 4;
}
static bool count(dvx_vm *vm, double multiplications) {
    const double ns = ns_of(multiplications);
    return nd_work(vm, ns < 1e17 ? (int64_t)ns : INT64_MAX / 64);
}

/* Columns at once where each of them takes so many multiplications. */
static int step_for(double each) {
    const double some = at_once / (each > 1 ? each : 1);
    return some > INT_MAX / 2 ? INT_MAX / 2 : most(1, (int)some);
}

/* A call that factors a matrix in place. */
typedef struct factoring {
    const nd_lapack *lapack;
    int m, n, columns, room, info, *pivots;
    void *a, *scales, *q, *work;
} factoring;

static size_t bytes_of(const factoring *c, int rows, int columns) {
    return size_of(c->lapack) * (size_t)rows * (size_t)columns;
}

/* ---- LU ---- */

static void call_lu(void *context) {
    factoring *c = context;
    c->lapack->getrf(&c->n, &c->n, c->a, &c->n, c->pivots, &c->info);
}

int factor_lu(dvx_vm *vm, const nd_lapack *f, int n, void *a, int *pivots, bool *good) {
    factoring c = {.lapack = f, .m = n, .n = n, .a = a, .pivots = pivots};
    const nd_apart parts = {
        call_lu,
        &c,
        {{&c.info, sizeof c.info}, {a, bytes_of(&c, n, n)}, {pivots, (size_t)n * sizeof *pivots}}};
    /* n * n * n / 3 multiplications, mostly of blocks, which take half the time. */
    *good = !n || apart_call(vm, ns_of((double)n * n * n / 6 + (double)n * n), &parts);
    return c.info;
}

void factor_solve(dvx_vm *vm, const nd_lapack *f, int n, const void *a, const int *pivots,
                  int sides, void *b, bool *good) {
    const int columns = step_for((double)n * n);
    *good = true;
    for (int i = 0; *good && n && i < sides; i += columns) {
        const int some = least(columns, sides - i);
        int info = 0;
        char *part = (char *)b + (int64_t)i * n * (int64_t)size_of(f);
        f->getrs("N", &n, &some, a, &n, pivots, part, &n, &info);
        *good = count(vm, (double)n * n * some / 4);
    }
}

/* ---- Cholesky ---- */

static void call_cholesky(void *context) {
    factoring *c = context;
    c->lapack->potrf("L", &c->n, c->a, &c->n, &c->info);
}

int factor_cholesky(dvx_vm *vm, const nd_lapack *f, int n, void *a, bool *good) {
    factoring c = {.lapack = f, .n = n, .a = a};
    const nd_apart parts = {call_cholesky, &c, {{&c.info, sizeof c.info}, {a, bytes_of(&c, n, n)}}};
    *good = apart_call(vm, ns_of((double)n * n * n / 6 + (double)n * n), &parts);
    return c.info;
}

/* ---- QR ---- */

int factor_wanted(const void *work) {
    double size;
    memcpy(&size, work, sizeof size);
    return size < 1 ? 1 : size > INT_MAX ? INT_MAX : (int)size;
}

static void call_qr(void *context) {
    factoring *c = context;
    const nd_lapack *f = c->lapack;
    const int k = least(c->m, c->n);
    f->geqrf(&c->m, &c->n, c->a, &c->m, c->scales, c->work, &c->room, &c->info);
    if (!c->q) return;
    memcpy(c->q, c->a, bytes_of(c, c->m, least(c->n, c->columns)));
    f->make_q(&c->m, &c->columns, &k, c->q, &c->m, c->scales, c->work, &c->room, &c->info);
}

bool factor_qr(dvx_vm *vm, const nd_lapack *f, int m, int n, void *a, void *scales, void *q,
               int columns) {
    const int k = least(m, n), ask = -1;
    nd_complex first[2] = {{0, 0}, {0, 0}};
    factoring c = {f, m, n, columns, 0, 0, NULL, a, scales, q, NULL};
    if (!k) return true;
    f->geqrf(&m, &n, a, &m, scales, &first[0], &ask, &c.info);
    if (q) f->make_q(&m, &columns, &k, q, &m, scales, &first[1], &ask, &c.info);
    c.room = most(factor_wanted(&first[0]), factor_wanted(&first[1]));
    c.work = vm->api->allocate(vm, (size_t)c.room * size_of(f));
    if (!c.work) return false;
    const nd_apart parts = {
        call_qr, &c, {{a, bytes_of(&c, m, n)}, {q, q ? bytes_of(&c, m, columns) : 0}}};
    const double all = 2.0 * m * k * most(n, q ? columns : 0);
    const bool good = apart_call(vm, ns_of(all), &parts);
    vm->api->deallocate(vm, c.work, (size_t)c.room * size_of(f));
    return good;
}
