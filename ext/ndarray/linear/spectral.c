/* spectral.c: np.linalg's qr, eigh, eig, svd, and singular values (linalg.h). */
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

/* All work is done: what it took is given back, and if it failed, the two results as well; false
 * then.
 */
static bool settle(dvx_vm *vm, blocks *b, const nd_stack *s, const dvx_value made[2], bool good) {
    give_all(vm, b);
    vm->api->release(vm, s->held);
    if (good) return true;
    vm->api->release(vm, made[0]);
    vm->api->release(vm, made[1]);
    return false;
}

/* What LAPACK says of the room that it wants, in the first element of its work. */
static int wanted(const void *work) {
    double size;
    memcpy(&size, work, sizeof size);
    return size < 1 ? 1 : size > INT_MAX ? INT_MAX : (int)size;
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
    if (!linalg_read(vm, args[1], false, &s)) return DVX_FAILED;
    const int m = s.rows, n = s.columns, k = least(m, n), columns = mode[0] == 'c' ? m : k;
    const int64_t size = linalg_size(&s);
    const nd_factoring f = {blas_lapack(vm, s.is_complex), s.is_complex};
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
        good = factor_qr(vm, &f, m, n, a, tau, wants_q ? q : NULL, columns);
        if (!good) break;
        copy_triangle(a, columns, n, m, size, r_out->data + i * columns * n * size);
        if (wants_q)
            good = linalg_turn(vm, q, columns, m, size, q_out->data + i * m * columns * size);
    }
    give_all(vm, &b);
    vm->api->release(vm, s.held);
    for (int i = 0; i < 2; i++) {
        if (!good) made[i] = compose_first(vm, DVX_FAILED, made[i]);
        if (good && (i || wants_q)) made[i] = linalg_finish(vm, made[i], s.single);
        good = good && (!dvx_failed(made[i]) || (!i && !wants_q));
    }
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
    bool is_complex;
    const char *job;
    int n, size, reals_size, ints_size, info;
    void *a, *work;
    double *w, *reals;
    int *ints;
} eigh_call;

static void call_eigh(void *context) {
    eigh_call *c = context;
    if (c->is_complex)
        ((complex_eigh *)c->lapack->eigh)(c->job, "L", &c->n, c->a, &c->n, c->w, c->work, &c->size,
                                          c->reals, &c->reals_size, c->ints, &c->ints_size,
                                          &c->info);
    else
        ((real_eigh *)c->lapack->eigh)(c->job, "L", &c->n, c->a, &c->n, c->w, c->work, &c->size,
                                       c->ints, &c->ints_size, &c->info);
}

/* Eigenvalues, smallest first, of the lower triangle of a, and their vectors in place of it. */
static bool eigh_library(dvx_vm *vm, const nd_lapack *lapack, const nd_stack *s, const char *job,
                         void *a, double *w) {
    blocks b = {0};
    nd_complex first = {0, 0};
    double reals = 0;
    int ints = 0;
    const int n = s->rows;
    const double n3 = (double)n * n * n;
    const size_t size = (size_t)linalg_size(s), all = (size_t)n * (size_t)n * size;
    eigh_call c = {lapack, s->is_complex, job, n, -1, -1, -1, 0, a, &first, w, &reals, &ints};
    call_eigh(&c);
    c.size = wanted(&first);
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

static double column_length(const nd_stack *s, const void *a, int64_t rows, int64_t column) {
    double sum = 0;
    for (int64_t i = 0; i < rows; i++) {
        const nd_complex x = element_of(s, a, column * rows + i);
        sum = hypot(sum, hypot(x.real, x.imag));
    }
    return sum;
}

/* Places of numbers, the largest first (or the smallest). */
static void order_places(const double *w, int n, bool down, int *places) {
    for (int i = 0; i < n; i++) {
        int k = i;
        for (; k > 0 && (down ? w[places[k - 1]] < w[i] : w[places[k - 1]] > w[i]); k--)
            places[k] = places[k - 1];
        places[k] = i;
    }
}

static bool turn_all(dvx_vm *vm, const nd_stack *s, bool finite, int64_t rows, int64_t columns,
                     void *a, void *v, const char *failure) {
    const int done =
        finite ? decompose_own[s->is_complex].jacobi(vm, (int)rows, (int)columns, a, v) : 0;
    return done > 0 || (!done && linalg_fail(vm, failure));
}

/* By the singular values of A + cI, all of whose eigenvalues are positive. */
static bool eigh_own(dvx_vm *vm, const nd_stack *s, void *a, double *w) {
    blocks b = {0};
    const int64_t n = s->rows, size = linalg_size(s);
    void *shifted = take(vm, &b, (double)n * (double)n, (size_t)size);
    void *v = shifted ? take(vm, &b, (double)n * (double)n, (size_t)size) : NULL;
    double *lengths = v ? take(vm, &b, (double)n, sizeof *lengths) : NULL;
    int *places = lengths ? take(vm, &b, (double)n, sizeof *places) : NULL;
    double shift = 0;
    bool good = places != NULL;
    for (int64_t j = 0; good && j < n; j++)
        for (int64_t i = j; i < n; i++) {
            nd_complex x = element_of(s, a, j * n + i);
            if (i == j) x.imag = 0;
            set_element(s, shifted, j * n + i, x);
            set_element(s, shifted, i * n + j, conjugate(x));
        }
    for (int64_t j = 0; good && j < n; j++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++) {
            const nd_complex x = element_of(s, shifted, j * n + i);
            sum += hypot(x.real, x.imag);
            set_element(s, v, j * n + i, (nd_complex){i == j, 0});
        }
        shift = fmax(shift, sum);
    }
    for (int64_t i = 0; good && i < n; i++) {
        nd_complex x = element_of(s, shifted, i * n + i);
        x.real += shift;
        set_element(s, shifted, i * n + i, x);
    }
    if (good)
        good = turn_all(vm, s, isfinite(shift), n, n, shifted, v, "Eigenvalues did not converge");
    for (int64_t j = 0; good && j < n; j++) lengths[j] = column_length(s, shifted, n, j);
    if (good) order_places(lengths, (int)n, false, places);
    for (int64_t j = 0; good && j < n; j++) {
        w[j] = lengths[places[j]] - shift;
        memcpy((char *)a + j * n * size, (char *)v + places[j] * n * size, (size_t)(n * size));
    }
    give_all(vm, &b);
    return good;
}

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
    if (!linalg_read(vm, args[1], true, &s)) return DVX_FAILED;
    const int n = s.rows;
    const int64_t size = linalg_size(&s), bytes = size * n * n;
    const nd_lapack *lapack = blas_lapack(vm, s.is_complex);
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
        good = good && (lapack ? eigh_library(vm, lapack, &s, vectors ? "V" : "N", a, w)
                               : eigh_own(vm, &s, a, w));
        if (good && out) good = linalg_turn(vm, a, n, n, size, out->data + i * bytes);
    }
    if (!settle(vm, &b, &s, made, good)) return DVX_FAILED;
    made[0] = linalg_finish(vm, made[0], s.single);
    if (!vectors) return made[0];
    if (!dvx_failed(made[0])) made[1] = linalg_finish(vm, made[1], s.single);
    return compose_pair(vm, made[0], made[1]);
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
    bool is_complex;
    const char *job;
    int n, size, info;
    void *a, *v, *work;
    double *w, *reals;
} eig_call;

static void call_eig(void *context) {
    const int one = 1;
    eig_call *c = context;
    if (c->is_complex)
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

/* Real if all eigenvalues are. */
static dvx_value finish_eig(dvx_vm *vm, dvx_value v, bool real, bool single) {
    if (dvx_failed(v)) return v;
    if (!real) return v;
    v = compose_attribute(vm, v, "real");
    if (dvx_failed(v)) return v;
    return compose_first(
        vm, array_copy(vm, array_of(vm, v), ND_DTYPE(single ? ND_FLOAT32 : ND_FLOAT64), 'C'), v);
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
    if (!linalg_read(vm, v, true, &s)) return DVX_FAILED;
    const int n = s.rows;
    const size_t size = (size_t)linalg_size(&s);
    const nd_lapack *lapack = blas_lapack(vm, s.is_complex);
    bool real = !s.is_complex, good = true;
    if (!are_finite(&s))
        good = linalg_fail(vm, "Array must not contain infs or NaNs");
    else if (!lapack && n && s.count)
        good = linalg_fail(vm, "eigenvalues of general matrices need LAPACK (libopenblas.so.0)");
    dvx_value made[2] = {DVX_FAILED, DVX_FAILED};
    if (good) made[0] = linalg_result(vm, &s, true, 1, n, 0, &values);
    if (vectors && !dvx_failed(made[0])) made[1] = linalg_result(vm, &s, true, 2, n, n, &out);
    good = good && !dvx_failed(made[vectors]);
    double *w = good ? take(vm, &b, 2.0 * n, sizeof *w) : NULL;
    double *reals = w ? take(vm, &b, 2.0 * n, sizeof *reals) : NULL;
    void *a = reals ? take(vm, &b, (double)n * n, size) : NULL;
    void *space = a ? take(vm, &b, (double)n * n, size) : NULL;
    nd_complex first = {0, 0};
    eig_call c = {.lapack = lapack,
                  .is_complex = s.is_complex,
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
        c.size = wanted(&first);
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
        if (!(good = good && apart_call(vm, 8.0 * n * n * n, &parts))) break;
        if (c.info) good = linalg_fail(vm, "Eigenvalues did not converge");
        for (int j = 0; j < n; j++) real &= s.is_complex || w[n + j] == 0;
        if (good)
            store_eig(&s, w, space, (nd_complex *)(void *)values->data + i * n,
                      out ? (nd_complex *)(void *)out->data + i * n * n : NULL);
    }
    if (!settle(vm, &b, &s, made, good)) return DVX_FAILED;
    arith_clear();
    made[0] = finish_eig(vm, made[0], real, s.single);
    if (!vectors) return made[0];
    if (!dvx_failed(made[0])) made[1] = finish_eig(vm, made[1], real, s.single);
    return compose_pair(vm, made[0], made[1]);
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
    const nd_lapack *lapack;
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
        ((complex_svd *)c->lapack->svd)(&f->job, &m, &n, f->a, &step, f->values, f->u, &step, f->vt,
                                        &vt_step, c->work, &c->size, c->reals, c->ints, &c->info);
    else
        ((real_svd *)c->lapack->svd)(&f->job, &m, &n, f->a, &step, f->values, f->u, &step, f->vt,
                                     &vt_step, c->work, &c->size, c->ints, &c->info);
}

static bool svd_library(dvx_vm *vm, const nd_lapack *lapack, const nd_stack *s, factors *f) {
    blocks b = {0};
    nd_complex first = {0, 0};
    const int few = least(s->rows, s->columns), many = most(s->rows, s->columns);
    const double square = (double)few * few;
    const double reals_size = s->is_complex ? 7.0 * few + 5 * square + 2.0 * many * few : 1;
    const size_t size = (size_t)linalg_size(s), vectors = f->job == 'N' ? 0 : size;
    svd_call c = {lapack, s, f, &first, -1, 0, NULL, take(vm, &b, 8.0 * few, sizeof(int))};
    c.reals = c.ints ? take(vm, &b, reals_size, sizeof *c.reals) : NULL;
    bool good = c.reals != NULL;
    if (good) {
        call_svd(&c);
        c.size = wanted(&first);
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

/* The transposed conjugate of a matrix with so many rows. */
static void turn_around(const nd_stack *s, const void *a, int64_t rows, int64_t columns, void *to) {
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++)
            set_element(s, to, i * columns + j, conjugate(element_of(s, a, j * rows + i)));
}

/* The number of singular values that are more than errors of rounding. */
static int64_t rank_of(const double *lengths, const int *places, int64_t count) {
    const double small = DECOMPOSE_NOTHING * (double)count * sqrt((double)count);
    int64_t rank = 0;
    while (rank < count && lengths[places[rank]] > small * lengths[places[0]]) rank++;
    return rank;
}

/* The columns of u, of length 1 as far as they are more than errors of rounding, in order; then
 * what is missing to `columns` that are perpendicular: those of Q of a QR decomposition. */
static bool complete(dvx_vm *vm, const nd_stack *s, const void *turned, const double *lengths,
                     const int *places, int64_t rows, int64_t rank, int64_t columns, void *u) {
    const int64_t size = linalg_size(s);
    for (int64_t j = 0; j < rank; j++)
        for (int64_t i = 0; i < rows; i++) {
            nd_complex x = element_of(s, turned, places[j] * rows + i);
            x.real /= lengths[places[j]];
            x.imag /= lengths[places[j]];
            set_element(s, u, j * rows + i, x);
        }
    if (rank == columns) return true;
    blocks b = {0};
    char *q = take(vm, &b, (double)rows * (double)columns, (size_t)size);
    void *tau = q ? take(vm, &b, (double)columns, (size_t)size) : NULL;
    bool good = tau != NULL;
    if (good) {
        memcpy(q, u, (size_t)(rank * rows * size));
        const nd_decompositions *own = &decompose_own[s->is_complex];
        good = own->qr(vm, (int)rows, (int)rank, q, tau) &&
               own->make_q(vm, (int)rows, (int)columns, (int)rank, q, tau);
        memcpy((char *)u + rank * rows * size, q + rank * rows * size,
               (size_t)((columns - rank) * rows * size));
    }
    give_all(vm, &b);
    return good;
}

/* By turning the columns of the matrix, or of its transposed conjugate where that is higher. */
static bool svd_own(dvx_vm *vm, const nd_stack *s, factors *f) {
    blocks b = {0};
    const bool wide = s->rows < s->columns;
    const int64_t high = most(s->rows, s->columns), low = least(s->rows, s->columns);
    const int64_t size = linalg_size(s), columns = wide ? f->rows : f->columns;
    void *turned = take(vm, &b, (double)high * (double)low, (size_t)size);
    void *v = turned ? take(vm, &b, (double)low * (double)low, (size_t)size) : NULL;
    void *left = v ? take(vm, &b, (double)high * (double)columns, (size_t)size) : NULL;
    char *right = left ? take(vm, &b, (double)low * (double)low, (size_t)size) : NULL;
    double *lengths = right ? take(vm, &b, (double)low, sizeof *lengths) : NULL;
    int *places = lengths ? take(vm, &b, (double)low, sizeof *places) : NULL;
    bool good = places != NULL, finite = true;
    for (int64_t i = 0; good && i < high * low; i++) {
        const nd_complex x = element_of(s, f->a, i);
        finite &= isfinite(x.real) && isfinite(x.imag);
    }
    if (good && wide)
        turn_around(s, f->a, low, high, turned);
    else if (good)
        memcpy(turned, f->a, (size_t)(high * low * size));
    for (int64_t i = 0; good && i < low * low; i++)
        set_element(s, v, i, (nd_complex){i % (low + 1) == 0, 0});
    if (good) good = turn_all(vm, s, finite, high, low, turned, v, "SVD did not converge");
    for (int64_t j = 0; good && j < low; j++) lengths[j] = column_length(s, turned, high, j);
    if (good) order_places(lengths, (int)low, true, places);
    const int64_t rank = good ? rank_of(lengths, places, low) : 0;
    for (int64_t j = 0; good && j < low; j++) f->values[j] = j < rank ? lengths[places[j]] : 0;
    if (good && f->job != 'N') {
        good = complete(vm, s, turned, lengths, places, high, rank, columns, wide ? left : f->u);
        for (int64_t j = 0; j < low; j++)
            memcpy(right + j * low * size, (char *)v + places[j] * low * size,
                   (size_t)(low * size));
        if (wide) {
            memcpy(f->u, right, (size_t)(low * low * size));
            turn_around(s, left, high, columns, f->vt);
        } else {
            turn_around(s, right, low, low, f->vt);
        }
    }
    give_all(vm, &b);
    return good;
}

bool linalg_decompose(dvx_vm *vm, dvx_value v, char job, bool *single, dvx_value out[3]) {
    nd_stack s;
    nd_array *u = NULL, *values = NULL, *vt = NULL;
    blocks b = {0};
    for (int i = 0; i < 3; i++) out[i] = DVX_FAILED;
    if (!linalg_read(vm, v, false, &s)) return false;
    const int m = s.rows, n = s.columns, k = least(m, n);
    const int64_t size = linalg_size(&s);
    factors f = {.job = job, .columns = job == 'A' ? m : k, .rows = job == 'A' ? n : k};
    const nd_lapack *lapack = blas_lapack(vm, s.is_complex);
    *single = s.single;
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
            good = lapack ? svd_library(vm, lapack, &s, &f) : svd_own(vm, &s, &f);
        }
        if (good && u)
            good = linalg_turn(vm, f.u, f.columns, m, size, u->data + i * m * f.columns * size);
        if (good && vt)
            good = linalg_turn(vm, f.vt, n, f.rows, size, vt->data + i * f.rows * n * size);
    }
    give_all(vm, &b);
    vm->api->release(vm, s.held);
    for (int i = 0; !good && i < 3; i++) out[i] = compose_first(vm, DVX_FAILED, out[i]);
    return good;
}

dvx_value linalg_singular(dvx_vm *vm, dvx_value v) {
    dvx_value parts[3];
    bool single;
    if (!linalg_decompose(vm, v, 'N', &single, parts)) return DVX_FAILED;
    return linalg_finish(vm, parts[1], single);
}

/* a, full_matrices, compute_uv */
static dvx_value svd(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    dvx_value parts[3];
    bool single;
    (void)count;
    const int full = nd_flag(vm, args[2], true),
              vectors = full < 0 ? -1 : nd_flag(vm, args[3], true);
    if (vectors < 0) return DVX_FAILED;
    if (!vectors) return linalg_singular(vm, args[1]);
    if (!linalg_decompose(vm, args[1], full ? 'A' : 'S', &single, parts)) return DVX_FAILED;
    bool good = true;
    for (int i = 0; i < 3; i++) {
        parts[i] =
            good ? linalg_finish(vm, parts[i], single) : compose_first(vm, DVX_FAILED, parts[i]);
        good = good && !dvx_failed(parts[i]);
    }
    return compose_triple(vm, parts[0], parts[1], parts[2]);
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
