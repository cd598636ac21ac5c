/* spectral.c: np.linalg's qr, eigh, eig and svd (linalg.h). */
#include <limits.h>
#include <math.h>

#include "loops/arith.h"
#include "array/compose.h"
#include "linear/apart.h"
#include "linear/linalg.h"

static int least(int a, int b) { return a < b ? a : b; }
static int most(int a, int b) { return a > b ? a : b; }

/* Blocks that one computation needs, all of them given back at once. */
enum { BLOCKS = 8 };
typedef struct blocks {
    int count;
    void *at[BLOCKS];
    size_t sizes[BLOCKS];
} blocks;

/* NULL: MemoryError. */
static void *take(dvx_vm *vm, blocks *b, double count, size_t size) {
    const double bytes = count * (double)size + 1;
    void *block =
        bytes < 1e18 ? vm->api->allocate(vm, (size_t)bytes) : vm->api->allocate(vm, SIZE_MAX / 4);
    if (!block) return NULL;
    b->sizes[b->count] = (size_t)bytes;
    return b->at[b->count++] = block;
}
static void give_all(dvx_vm *vm, blocks *b) {
    for (int i = 0; i < b->count; i++) vm->api->deallocate(vm, b->at[i], b->sizes[i]);
    b->count = 0;
}

/* All work is done: what it took is given back, and the results that there are become what is
 * returned; missing ones, if it failed. */
static void settle(dvx_vm *vm, blocks *b, const nd_stack *s, bool good, dvx_value *made,
                   int count) {
    give_all(vm, b);
    vm->api->release(vm, s->held);
    for (int i = 0; i < count; i++) {
        const bool is_there = !dvx_failed(made[i]);
        made[i] =
            good ? linalg_finish(vm, made[i], s->single) : compose_first(vm, DVX_FAILED, made[i]);
        good = good && !(is_there && dvx_failed(made[i]));
    }
}

/* ---- QR ---- */

/* The upper triangle of the first rows of a matrix in Fortran's order, in C order. */
static void copy_triangle(const char *a, int rows, int columns, int step, int64_t size, char *to) {
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++, to += size)
            if (j < i)
                memset(to, 0, (size_t)size);
            else
                memcpy(to, a + (j * step + i) * size, (size_t)size);
}

/* a, mode */
static dvx_value qr(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    char mode[32] = "reduced";
    nd_stack s;
    nd_array *q_out = NULL, *r_out;
    blocks b = {0};
    (void)count;
    if (!dvx_failed(args[2])) nd_word(vm, args[2], mode);
    if (strcmp(mode, "reduced") && strcmp(mode, "complete") && strcmp(mode, "r"))
        return nd_raise(vm, DVX_VALUE_ERROR, "Unrecognized mode '%s'", mode);
    if (!linalg_read(vm, "qr", args[1], false, &s)) return DVX_FAILED;
    const int m = s.rows, n = s.columns, k = least(m, n), columns = mode[0] == 'c' ? m : k;
    const int64_t size = linalg_size(&s);
    dvx_value made[2] = {DVX_FAILED, linalg_result(vm, &s, s.is_complex, 2, columns, n, &r_out)};
    const bool wants_q = mode[0] != 'r' || mode[1];
    bool good = !dvx_failed(made[1]);
    if (good && wants_q) {
        made[0] = linalg_result(vm, &s, s.is_complex, 2, m, columns, &q_out);
        good = !dvx_failed(made[0]);
    }
    void *a = good ? take(vm, &b, (double)m * n, (size_t)size) : NULL;
    void *tau = a ? take(vm, &b, k, (size_t)size) : NULL;
    void *q = tau ? take(vm, &b, (double)m * columns, (size_t)size) : NULL;
    good = q != NULL;
    if (good) memset(q, 0, (size_t)m * (size_t)columns * (size_t)size);
    for (int64_t i = 0; good && i < s.count; i++) {
        if (!(good = linalg_turn(vm, linalg_matrix(&s, i), m, n, size, a))) break;
        if (!k && m == columns) /* no reflection: Q is a unit matrix */
            for (int64_t j = 0; j < m; j++) ((double *)q)[(j * m + j) * (size / 8)] = 1;
        good = factor_qr(vm, s.lapack, m, n, a, tau, wants_q ? q : NULL, columns);
        if (!good) break;
        copy_triangle(a, columns, n, m, size, r_out->data + i * columns * n * size);
        if (wants_q)
            good = linalg_turn(vm, q, columns, m, size, q_out->data + i * m * columns * size);
    }
    settle(vm, &b, &s, good, made, 2);
    return wants_q ? compose_pair(vm, made[0], made[1]) : made[1];
}

/* ---- Hermitian matrices ---- */

typedef void real_eigh(const char *job, const char *half, const int *n, void *a, const int *step,
                       double *w, void *work, const int *size, int *ints, const int *ints_size,
                       int *info);
typedef void complex_eigh(const char *job, const char *half, const int *n, void *a, const int *step,
                          double *w, void *work, const int *size, double *reals,
                          const int *reals_size, int *ints, const int *ints_size, int *info);

typedef struct eigh_call {
    const nd_lapack *lapack;
    const char *job;
    int n, size, reals_size, ints_size, info;
    void *a, *work;
    double *w, *reals;
    int *ints;
} eigh_call;

static void call_eigh(void *context) {
    eigh_call *c = context;
    if (c->lapack->is_complex)
        ((complex_eigh *)c->lapack->eigh)(c->job, "L", &c->n, c->a, &c->n, c->w, c->work, &c->size,
                                          c->reals, &c->reals_size, c->ints, &c->ints_size,
                                          &c->info);
    else
        ((real_eigh *)c->lapack->eigh)(c->job, "L", &c->n, c->a, &c->n, c->w, c->work, &c->size,
                                       c->ints, &c->ints_size, &c->info);
}

/* Eigenvalues, smallest first, of the lower triangle of a, and their vectors in place of it. */
static bool eigh_of(dvx_vm *vm, const nd_stack *s, const char *job, void *a, double *w) {
    blocks b = {0};
    nd_complex first = {0, 0};
    double reals = 0;
    int ints = 0;
    const int n = s->rows;
    const double n3 = (double)n * n * n;
    const size_t size = (size_t)linalg_size(s), all = (size_t)n * (size_t)n * size;
    eigh_call c = {s->lapack, job, n, -1, -1, -1, 0, a, &first, w, &reals, &ints};
    call_eigh(&c);
    c.size = factor_wanted(&first);
    c.reals_size = most(1, (int)reals);
    c.ints_size = most(1, ints);
    c.work = take(vm, &b, c.size, size);
    c.reals = c.work ? take(vm, &b, c.reals_size, sizeof reals) : NULL;
    c.ints = c.reals ? take(vm, &b, c.ints_size, sizeof ints) : NULL;
    const bool good = c.ints && apart_call(vm, n3,
                                           &(nd_apart){call_eigh,
                                                       &c,
                                                       {{&c.info, sizeof c.info},
                                                        {w, (size_t)n * sizeof *w},
                                                        {a, job[0] == 'V' ? all : 0}}});
    give_all(vm, &b);
    return good && (!c.info || linalg_fail(vm, "Eigenvalues did not converge"));
}

static nd_complex element_of(const nd_stack *s, const void *a, int64_t i) {
    const double *x = a;
    return s->is_complex ? (nd_complex){x[2 * i], x[2 * i + 1]} : (nd_complex){x[i], 0};
}
static void set_element(const nd_stack *s, void *a, int64_t i, nd_complex x) {
    memcpy((char *)a + i * linalg_size(s), &x, (size_t)linalg_size(s));
}
static nd_complex conjugate(nd_complex x) { return (nd_complex){x.real, -x.imag}; }

/* a, UPLO; vectors: (values, vectors), else the values. */
static dvx_value hermitian(dvx_vm *vm, const dvx_value *args, bool vectors) {
    char half[32] = "L";
    nd_stack s;
    nd_array *values, *out = NULL;
    blocks b = {0};
    if (!dvx_failed(args[2])) nd_word(vm, args[2], half);
    half[0] &= ~0x20; /* a capital letter */
    if ((half[0] != 'L' && half[0] != 'U') || half[1])
        return vm->api->raise(vm, DVX_VALUE_ERROR, "UPLO argument must be 'L' or 'U'");
    if (!linalg_read(vm, vectors ? "eigh" : "eigvalsh", args[1], true, &s)) return DVX_FAILED;
    const int n = s.rows;
    const int64_t size = linalg_size(&s), bytes = size * n * n;
    dvx_value made[2] = {linalg_result(vm, &s, false, 1, n, 0, &values), DVX_FAILED};
    if (vectors && !dvx_failed(made[0]))
        made[1] = linalg_result(vm, &s, s.is_complex, 2, n, n, &out);
    char *a = dvx_failed(made[vectors]) ? NULL : take(vm, &b, (double)n * n, (size_t)size);
    bool good = a != NULL;
    for (int64_t i = 0; good && n && i < s.count; i++) {
        double *w = (double *)(void *)values->data + i * n;
        /* (The upper triangle in C order is, turned around, the lower one in Fortran's, but for
         * signs of imaginary parts.) */
        if (half[0] == 'L')
            good = linalg_turn(vm, linalg_matrix(&s, i), n, n, size, a);
        else
            memcpy(a, linalg_matrix(&s, i), (size_t)bytes);
        for (int64_t k = 0; half[0] == 'U' && s.is_complex && k < (int64_t)n * n; k++)
            set_element(&s, a, k, conjugate(element_of(&s, a, k)));
        good = good && eigh_of(vm, &s, vectors ? "V" : "N", a, w);
        if (good && out) good = linalg_turn(vm, a, n, n, size, out->data + i * bytes);
    }
    settle(vm, &b, &s, good, made, 2);
    return vectors ? compose_pair(vm, made[0], made[1]) : made[0];
}

static dvx_value eigh(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return hermitian(vm, args, true);
}
static dvx_value eigvalsh(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return hermitian(vm, args, false);
}

/* ---- Eigenvalues of any matrix ---- */

typedef void real_eig(const char *left, const char *right, const int *n, void *a, const int *step,
                      double *real, double *imag, void *vl, const int *vl_step, void *vr,
                      const int *vr_step, void *work, const int *size, int *info);
typedef void complex_eig(const char *left, const char *right, const int *n, void *a,
                         const int *step, void *w, void *vl, const int *vl_step, void *vr,
                         const int *vr_step, void *work, const int *size, double *reals, int *info);

/* `w`: two rows of real and imaginary parts, or complex numbers. */
typedef struct eig_call {
    const nd_lapack *lapack;
    const char *job;
    int n, size, info;
    void *a, *v, *work;
    double *w, *reals;
} eig_call;

static void call_eig(void *context) {
    const int one = 1;
    eig_call *c = context;
    if (c->lapack->is_complex)
        ((complex_eig *)c->lapack->eig)("N", c->job, &c->n, c->a, &c->n, c->w, NULL, &one, c->v,
                                        &c->n, c->work, &c->size, c->reals, &c->info);
    else
        ((real_eig *)c->lapack->eig)("N", c->job, &c->n, c->a, &c->n, c->w, c->w + c->n, NULL, &one,
                                     c->v, &c->n, c->work, &c->size, &c->info);
}

/* The vectors of pairs of eigenvalues share two columns: their real and their imaginary part. */
static void store_eig(const nd_stack *s, const double *w, const double *v, nd_complex *values,
                      nd_complex *vectors) {
    const int64_t n = s->rows;
    for (int64_t j = 0; j < n; j++) {
        values[j] =
            s->is_complex ? (nd_complex){w[2 * j], w[2 * j + 1]} : (nd_complex){w[j], w[n + j]};
        for (int64_t i = 0; vectors && i < n; i++) {
            nd_complex x;
            if (s->is_complex)
                x = element_of(s, v, j * n + i);
            else if (w[n + j] == 0)
                x = (nd_complex){v[j * n + i], 0};
            else if (w[n + j] > 0)
                x = (nd_complex){v[j * n + i], v[(j + 1) * n + i]};
            else
                x = (nd_complex){v[(j - 1) * n + i], -v[j * n + i]};
            vectors[i * n + j] = x;
        }
    }
}

static dvx_value real_part(dvx_vm *vm, dvx_value v) {
    v = compose_attribute(vm, v, "real");
    if (dvx_failed(v)) return v;
    return compose_first(vm, array_copy(vm, array_of(vm, v), ND_DTYPE(ND_FLOAT64), 'C'), v);
}

static bool are_finite(const nd_stack *s) {
    const int64_t count = s->a->size * (s->is_complex ? 2 : 1);
    const double *x = (const double *)(const void *)s->a->data;
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static dvx_value general(dvx_vm *vm, dvx_value v, bool vectors) {
    nd_stack s;
    nd_array *values, *out = NULL;
    blocks b = {0};
    if (!linalg_read(vm, vectors ? "eig" : "eigvals", v, true, &s)) return DVX_FAILED;
    const int n = s.rows;
    const size_t size = (size_t)linalg_size(&s);
    bool real = !s.is_complex, good = true;
    if (!are_finite(&s)) good = linalg_fail(vm, "Array must not contain infs or NaNs");
    dvx_value made[2] = {DVX_FAILED, DVX_FAILED};
    if (good) made[0] = linalg_result(vm, &s, true, 1, n, 0, &values);
    if (vectors && !dvx_failed(made[0])) made[1] = linalg_result(vm, &s, true, 2, n, n, &out);
    good = good && !dvx_failed(made[vectors]);
    double *w = good ? take(vm, &b, 2.0 * n, sizeof *w) : NULL;
    double *reals = w ? take(vm, &b, 2.0 * n, sizeof *reals) : NULL;
    void *a = reals ? take(vm, &b, (double)n * n, size) : NULL;
    void *space = a ? take(vm, &b, (double)n * n, size) : NULL;
    nd_complex first = {0, 0};
    eig_call c = {.lapack = s.lapack,
                  .job = vectors ? "V" : "N",
                  .n = n,
                  .size = -1,
                  .a = a,
                  .v = space,
                  .work = &first,
                  .w = w,
                  .reals = reals};
    if (space && n && s.count) {
        call_eig(&c);
        c.size = factor_wanted(&first);
        c.work = take(vm, &b, c.size, size);
    }
    good = space && c.work;
    const nd_apart parts = {call_eig,
                            &c,
                            {{&c.info, sizeof c.info},
                             {w, 2 * (size_t)n * sizeof *w},
                             {space, vectors ? (size_t)n * (size_t)n * size : 0}}};
    for (int64_t i = 0; good && n && i < s.count; i++) {
        good = linalg_turn(vm, linalg_matrix(&s, i), n, n, (int64_t)size, a);
        if (!(good = good && apart_call(vm, (vectors ? 8.0 : 5.0) * n * n * n, &parts))) break;
        if (c.info) good = linalg_fail(vm, "Eigenvalues did not converge");
        for (int j = 0; j < n; j++) real &= s.is_complex || w[n + j] == 0;
        if (good)
            store_eig(&s, w, space, (nd_complex *)(void *)values->data + i * n,
                      out ? (nd_complex *)(void *)out->data + i * n * n : NULL);
    }
    for (int i = 0; good && real && i <= vectors; i++) {
        made[i] = real_part(vm, made[i]);
        good = !dvx_failed(made[i]);
    }
    settle(vm, &b, &s, good, made, 2);
    return vectors ? compose_pair(vm, made[0], made[1]) : made[0];
}

static dvx_value eig(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return general(vm, args[1], true);
}
static dvx_value eigvals(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return general(vm, args[1], false);
}

/* ---- Singular values ---- */

typedef void real_svd(const char *job, const int *m, const int *n, void *a, const int *step,
                      double *s, void *u, const int *u_step, void *vt, const int *vt_step,
                      void *work, const int *size, int *ints, int *info);
typedef void complex_svd(const char *job, const int *m, const int *n, void *a, const int *step,
                         double *s, void *u, const int *u_step, void *vt, const int *vt_step,
                         void *work, const int *size, double *reals, int *ints, int *info);

/* What is asked for: 'N', no vectors; 'S', as many as there are values; 'A', all. */
typedef struct factors {
    char job;
    int columns, rows; /* of u, of vt */
    void *a, *u, *vt;
    double *values;
} factors;

typedef struct svd_call {
    const nd_stack *s;
    const factors *f;
    void *work;
    int size, info;
    double *reals;
    int *ints;
} svd_call;

static void call_svd(void *context) {
    svd_call *c = context;
    const factors *f = c->f;
    const int m = c->s->rows, n = c->s->columns, step = most(1, m), vt_step = most(1, f->rows);
    if (c->s->is_complex)
        ((complex_svd *)c->s->lapack->svd)(&f->job, &m, &n, f->a, &step, f->values, f->u, &step,
                                           f->vt, &vt_step, c->work, &c->size, c->reals, c->ints,
                                           &c->info);
    else
        ((real_svd *)c->s->lapack->svd)(&f->job, &m, &n, f->a, &step, f->values, f->u, &step, f->vt,
                                        &vt_step, c->work, &c->size, c->ints, &c->info);
}

static bool svd_of(dvx_vm *vm, const nd_stack *s, factors *f) {
    blocks b = {0};
    nd_complex first = {0, 0};
    const int few = least(s->rows, s->columns), many = most(s->rows, s->columns);
    const double square = (double)few * few;
    const double reals_size = s->is_complex ? 7.0 * few + 5 * square + 2.0 * many * few : 1;
    const size_t size = (size_t)linalg_size(s), vectors = f->job == 'N' ? 0 : size;
    svd_call c = {s, f, &first, -1, 0, NULL, take(vm, &b, 8.0 * few, sizeof(int))};
    c.reals = c.ints ? take(vm, &b, reals_size, sizeof *c.reals) : NULL;
    bool good = c.reals != NULL;
    if (good) {
        call_svd(&c);
        c.size = factor_wanted(&first);
        good = (c.work = take(vm, &b, c.size, size));
    }
    good =
        good && apart_call(vm, 2 * square * many,
                           &(nd_apart){call_svd,
                                       &c,
                                       {{&c.info, sizeof c.info},
                                        {f->values, (size_t)few * sizeof *f->values},
                                        {f->u, (size_t)s->rows * (size_t)f->columns * vectors},
                                        {f->vt, (size_t)f->rows * (size_t)s->columns * vectors}}});
    give_all(vm, &b);
    return good && (!c.info || linalg_fail(vm, "SVD did not converge"));
}

/* The decomposition with all vectors (job is 'A') or those that belong to values ('S'): u, values,
 * vt; with 'N' the values alone.  Any of those is missing: raised. */
static void decompose(dvx_vm *vm, dvx_value v, char job, dvx_value out[3]) {
    nd_stack s;
    nd_array *u = NULL, *values = NULL, *vt = NULL;
    blocks b = {0};
    for (int i = 0; i < 3; i++) out[i] = DVX_FAILED;
    if (!linalg_read(vm, "svd", v, false, &s)) return;
    const int m = s.rows, n = s.columns, k = least(m, n);
    const int64_t size = linalg_size(&s);
    factors f = {.job = job, .columns = job == 'A' ? m : k, .rows = job == 'A' ? n : k};
    out[1] = linalg_result(vm, &s, false, 1, k, 0, &values);
    bool good = !dvx_failed(out[1]);
    if (good && job != 'N') {
        out[0] = linalg_result(vm, &s, s.is_complex, 2, m, f.columns, &u);
        good = !dvx_failed(out[0]);
        if (good) out[2] = linalg_result(vm, &s, s.is_complex, 2, f.rows, n, &vt);
        good = good && !dvx_failed(out[2]);
    }
    f.a = good ? take(vm, &b, (double)m * n, (size_t)size) : NULL;
    f.u = f.a ? take(vm, &b, (double)m * f.columns, (size_t)size) : NULL;
    f.vt = f.u ? take(vm, &b, (double)f.rows * n, (size_t)size) : NULL;
    good = f.vt != NULL;
    for (int64_t i = 0; good && i < s.count; i++) {
        f.values = (double *)(void *)values->data + i * k;
        if (!(good = linalg_turn(vm, linalg_matrix(&s, i), m, n, size, f.a))) break;
        if (!k) { /* unit matrices, of which one is empty */
            for (int64_t j = 0; j < (int64_t)m * f.columns; j++)
                set_element(&s, f.u, j, (nd_complex){j % (m + 1) == 0, 0});
            for (int64_t j = 0; j < (int64_t)n * f.rows; j++)
                set_element(&s, f.vt, j, (nd_complex){j % (n + 1) == 0, 0});
        } else {
            good = svd_of(vm, &s, &f);
        }
        if (good && u)
            good = linalg_turn(vm, f.u, f.columns, m, size, u->data + i * m * f.columns * size);
        if (good && vt)
            good = linalg_turn(vm, f.vt, n, f.rows, size, vt->data + i * f.rows * n * size);
    }
    settle(vm, &b, &s, good, out, 3);
}

/* a, full_matrices, compute_uv */
static dvx_value svd(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    dvx_value parts[3];
    (void)count;
    const int full = nd_flag(vm, args[2], true),
              vectors = full < 0 ? -1 : nd_flag(vm, args[3], true);
    if (vectors < 0) return DVX_FAILED;
    decompose(vm, args[1], vectors ? full ? 'A' : 'S' : 'N', parts);
    return vectors ? compose_tuple(vm, parts, 3) : parts[1];
}

/* ---- Tables ---- */

ND_PARAMETERS(one_parameters, 1, "a");
ND_PARAMETERS(qr_parameters, 1, "a", "mode");
ND_PARAMETERS(eigh_parameters, 1, "a", "UPLO");
ND_PARAMETERS(svd_parameters, 1, "a", "full_matrices", "compute_uv");
const dvx_function linalg_qr = ND_NAMED("qr", qr, qr_parameters);
const dvx_function linalg_eigh = ND_NAMED("eigh", eigh, eigh_parameters);
const dvx_function linalg_eigvalsh = ND_NAMED("eigvalsh", eigvalsh, eigh_parameters);
const dvx_function linalg_eig = ND_NAMED("eig", eig, one_parameters);
const dvx_function linalg_eigvals = ND_NAMED("eigvals", eigvals, one_parameters);
const dvx_function linalg_svd = ND_NAMED("svd", svd, svd_parameters);
