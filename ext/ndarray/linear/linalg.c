/* linalg.c: the object np.linalg; solve, inv, det, slogdet, cholesky (linalg.h). */
#include "linear/linalg.h"

#include <limits.h>
#include <math.h>

#include "loops/arith.h"
#include "loops/turn.h"
#include "functions/arrange.h"
#include "array/compose.h"
#include "ufunc/error.h"
#include "linear/matmul.h"

/* ---- Stacks of matrices ---- */

bool linalg_fail(dvx_vm *vm, const char *text) {
    vm->api->raise_format(vm, nd_state_of(vm)->linalg_error, "%s", text);
    return false;
}

static bool check_square(dvx_vm *vm, const nd_array *a) {
    return a->axes[a->ndim - 1].count == a->axes[a->ndim - 2].count ||
           linalg_fail(vm, "Last 2 dimensions of the array must be square");
}

static bool read_array(dvx_vm *vm, dvx_value v, nd_array **a, dvx_value *held) {
    *held = array_operand(vm, v, NULL, a);
    if (dvx_failed(*held)) return false;
    const bool half = (*a)->dtype->num == ND_FLOAT16;
    if ((*a)->ndim >= 2 && !half) return true;
    if (half)
        nd_fail(vm, DVX_TYPE_ERROR, "array type float16 is unsupported in linalg");
    else
        vm->api->raise_format(vm, nd_state_of(vm)->linalg_error,
                              "%d-dimensional array given. Array must be at least two-dimensional",
                              (*a)->ndim);
    vm->api->release(vm, *held);
    *held = DVX_FAILED;
    return false;
}

bool linalg_read(dvx_vm *vm, const char *function, dvx_value v, bool square, nd_stack *s) {
    nd_array *a;
    dvx_value held;
    s->held = DVX_FAILED;
    if (!read_array(vm, v, &a, &held)) return false;
    const int64_t rows = a->axes[a->ndim - 2].count, columns = a->axes[a->ndim - 1].count;
    bool good = !square || check_square(vm, a);
    if (good && (rows > INT_MAX || columns > INT_MAX))
        good = nd_fail(vm, DVX_VALUE_ERROR, "the matrix is too large");
    s->is_complex = a->dtype->kind == 'c';
    s->single = a->dtype->num == ND_FLOAT32 || a->dtype->num == ND_COMPLEX64;
    s->rows = (int)rows;
    s->columns = (int)columns;
    s->count = 1;
    for (int i = 0; i < a->ndim - 2; i++) s->count *= a->axes[i].count;
    if (good && (s->lapack = blas_lapack(vm, function, s->is_complex)))
        s->held = array_row(vm, held, ND_DTYPE(s->is_complex ? ND_COMPLEX128 : ND_FLOAT64), &s->a);
    vm->api->release(vm, held);
    return !dvx_failed(s->held);
}

dvx_value linalg_result(dvx_vm *vm, const nd_stack *s, bool is_complex, int extra, int rows,
                        int columns, nd_array **out) {
    int64_t shape[ND_MOST];
    const int leading = s->a->ndim - 2;
    array_shape(s->a, shape);
    if (extra > 0) shape[leading] = rows;
    if (extra > 1) shape[leading + 1] = columns;
    return array_new(vm, ND_DTYPE(is_complex ? ND_COMPLEX128 : ND_FLOAT64), leading + extra, shape,
                     out);
}

dvx_value linalg_finish(dvx_vm *vm, dvx_value made, bool single) {
    arith_clear();
    if (single && !dvx_failed(made)) {
        const nd_array *a = array_of(vm, made);
        const nd_dtype *dtype = ND_DTYPE(a->dtype->kind == 'c' ? ND_COMPLEX64 : ND_FLOAT32);
        if (a->dtype->num == ND_FLOAT64 || a->dtype->num == ND_COMPLEX128)
            made = compose_first(vm, array_copy(vm, a, dtype, 'C'), made);
    }
    return dvx_failed(made) ? made : array_result(vm, made);
}

bool linalg_turn(dvx_vm *vm, const char *from, int64_t rows, int64_t columns, int64_t size,
                 char *to) {
    enum { AT_ONCE = 1 << 20 };
    const int64_t some = columns > AT_ONCE / 16 ? 16 : AT_ONCE / (columns + 1);
    for (int64_t i = 0; i < rows; i += some) {
        const int64_t count = rows - i < some ? rows - i : some;
        turn_block(size, to + i * size, rows * size, from + i * columns * size, columns * size,
                   columns, count);
        if (!nd_work(vm, count * columns)) return false;
    }
    return true;
}

/* ---- LU ---- */

/* Room for a matrix, its pivots, and right sides. */
typedef struct room {
    char *a, *b;
    int *pivots;
    size_t size;
} room;

static bool make_room(dvx_vm *vm, const nd_stack *s, int64_t right, room *r) {
    const size_t size = (size_t)linalg_size(s), n = (size_t)s->rows;
    r->size = size * n * (n + (size_t)right) + sizeof(int) * n + 1;
    r->a = vm->api->allocate(vm, r->size);
    if (!r->a) return false;
    r->b = r->a + size * n * n;
    r->pivots = (int *)(void *)(r->b + size * n * (size_t)right);
    return true;
}

/* Solves what is in the room for `count` right sides; false: raised, or LinAlgError. */
static bool solve_in(dvx_vm *vm, const nd_stack *s, const room *r, int count) {
    bool good;
    const bool singular = factor_lu(vm, s->lapack, s->rows, r->a, r->pivots, &good);
    if (!good || singular) return good && linalg_fail(vm, "Singular matrix");
    factor_solve(vm, s->lapack, s->rows, r->a, r->pivots, count, r->b, &good);
    return good;
}

static void set_diagonal(char *a, int64_t n, bool is_complex) {
    const int64_t step = is_complex ? 2 : 1;
    double *to = (double *)(void *)a;
    memset(a, 0, (size_t)(n * n * step) * sizeof *to);
    for (int64_t i = 0; i < n; i++) to[(i * n + i) * step] = 1;
}

static dvx_value inv(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_stack s;
    nd_array *out;
    room r;
    (void)count;
    if (!linalg_read(vm, "inv", args[1], true, &s)) return DVX_FAILED;
    const int n = s.rows;
    const int64_t size = linalg_size(&s), bytes = size * n * n;
    dvx_value made = DVX_FAILED;
    if (make_room(vm, &s, n, &r)) {
        made = linalg_result(vm, &s, s.is_complex, 2, n, n, &out);
        bool good = !dvx_failed(made);
        for (int64_t i = 0; good && n && i < s.count; i++) {
            good = linalg_turn(vm, linalg_matrix(&s, i), n, n, size, r.a);
            if (!good) break;
            set_diagonal(r.b, n, s.is_complex);
            good = nd_quick_work(vm, (int64_t)n * n) && solve_in(vm, &s, &r, n) &&
                   linalg_turn(vm, r.b, n, n, size, out->data + i * bytes);
        }
        if (!good) made = compose_first(vm, DVX_FAILED, made);
        vm->api->deallocate(vm, r.a, r.size);
    }
    vm->api->release(vm, s.held);
    return linalg_finish(vm, made, s.single);
}

/* ---- solve ---- */

static bool check_sides(dvx_vm *vm, const nd_array *a, const nd_array *b, bool vector) {
    const char *name = vector ? "solve1" : "solve";
    const char *signature = vector ? "(m,m),(m)->(m)" : "(m,m),(m,n)->(m,n)";
    if (!vector && b->ndim < 2)
        return nd_fail(vm, DVX_VALUE_ERROR,
                       "%s: Input operand 1 does not have enough dimensions (has %d, gufunc core "
                       "with signature %s requires 2)",
                       name, b->ndim, signature);
    if (!vector && b->axes[b->ndim - 1].count > INT_MAX)
        return nd_fail(vm, DVX_VALUE_ERROR, "the matrix is too large");
    const int64_t n = a->axes[a->ndim - 1].count, rows = b->axes[b->ndim - (vector ? 1 : 2)].count;
    return n == rows || nd_fail(vm, DVX_VALUE_ERROR,
                                "%s: Input operand 1 has a mismatch in its core dimension 0, with "
                                "gufunc signature %s (size %lld is different from %lld)",
                                name, signature, (long long)rows, (long long)n);
}

/* Both operands with the same axes in front of their own, which are 2, and 1 or 2. */
static bool broadcast_sides(dvx_vm *vm, dvx_value *held, nd_array **both, int own) {
    nd_array x = *both[0], y = *both[1], *leading[2] = {&x, &y};
    int64_t shape[ND_MOST + 2];
    int ndim;
    x.ndim -= 2;
    y.ndim -= own;
    if (!array_broadcast(vm, leading, 2, &ndim, shape)) return false;
    for (int i = 0; i < 2; i++) {
        const int last = i ? own : 2;
        if (both[i]->ndim - last == ndim && array_same_shape(leading[0], leading[1])) continue;
        for (int k = 0; k < last; k++)
            shape[ndim + k] = both[i]->axes[both[i]->ndim - last + k].count;
        held[i] = compose_first(vm, arrange_broadcast(vm, held[i], ndim + last, shape), held[i]);
        if (dvx_failed(held[i])) return false;
        both[i] = array_of(vm, held[i]);
    }
    return true;
}

/* The solutions for a stack, whose right sides are in the array b. */
static dvx_value solve_stack(dvx_vm *vm, const nd_stack *s, const nd_array *b, bool vector) {
    nd_array *out;
    room r;
    const int n = s->rows, columns = vector ? 1 : (int)b->axes[b->ndim - 1].count;
    const int64_t size = linalg_size(s), bytes = size * n * columns;
    if (!make_room(vm, s, columns, &r)) return DVX_FAILED;
    dvx_value made = linalg_result(vm, s, s->is_complex, vector ? 1 : 2, n, columns, &out);
    bool good = !dvx_failed(made);
    for (int64_t i = 0; good && n && i < s->count; i++)
        good = linalg_turn(vm, linalg_matrix(s, i), n, n, size, r.a) &&
               linalg_turn(vm, b->data + i * bytes, n, columns, size, r.b) &&
               solve_in(vm, s, &r, columns) &&
               linalg_turn(vm, r.b, columns, n, size, out->data + i * bytes);
    vm->api->deallocate(vm, r.a, r.size);
    return good ? made : compose_first(vm, DVX_FAILED, made);
}

/* a, b */
static dvx_value solve(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *both[2], *right;
    dvx_value held[2] = {DVX_FAILED, DVX_FAILED}, made = DVX_FAILED;
    nd_stack s = {.held = DVX_FAILED};
    bool single = false;
    (void)count;
    if (!read_array(vm, args[1], &both[0], &held[0])) return DVX_FAILED;
    if (check_square(vm, both[0])) held[1] = array_operand(vm, args[2], NULL, &both[1]);
    if (!dvx_failed(held[1])) {
        const bool vector = both[1]->ndim == both[0]->ndim - 1;
        const nd_dtype *dtype = dtype_promote(both[0]->dtype, both[1]->dtype);
        single = dtype->num == ND_FLOAT32 || dtype->num == ND_COMPLEX64;
        dtype = ND_DTYPE(dtype->kind == 'c' ? ND_COMPLEX128 : ND_FLOAT64);
        if (check_sides(vm, both[0], both[1], vector) &&
            broadcast_sides(vm, held, both, vector ? 1 : 2)) {
            held[0] = compose_array(vm, held[0], dtype);
            if (!dvx_failed(held[0]) && linalg_read(vm, "solve", held[0], true, &s)) {
                held[1] = compose_first(vm, array_row(vm, held[1], dtype, &right), held[1]);
                if (!dvx_failed(held[1])) made = solve_stack(vm, &s, right, vector);
            }
        }
    }
    vm->api->release(vm, s.held);
    vm->api->release(vm, held[0]);
    vm->api->release(vm, held[1]);
    return linalg_finish(vm, made, single);
}

/* ---- Determinants ---- */

/* As a sign, or a number of length 1, and a logarithm: NumPy's way, which does not overflow. */
static bool determinant(dvx_vm *vm, const nd_stack *s, int64_t i, const room *r, nd_complex *sign,
                        double *log_) {
    const int n = s->rows;
    const int64_t size = linalg_size(s);
    bool good;
    if (!linalg_turn(vm, linalg_matrix(s, i), n, n, size, r->a)) return false;
    *sign = (nd_complex){1, 0};
    *log_ = 0;
    const bool singular = factor_lu(vm, s->lapack, n, r->a, r->pivots, &good);
    if (!good) return false;
    if (singular) {
        *sign = (nd_complex){0, 0};
        *log_ = -INFINITY;
        return true;
    }
    for (int64_t k = 0; k < n; k++) {
        const double *at = (const double *)(const void *)(r->a + (k * n + k) * size);
        if (r->pivots[k] != k + 1) sign->real = -sign->real, sign->imag = -sign->imag;
        const double length = s->is_complex ? hypot(at[0], at[1]) : fabs(at[0]);
        const nd_complex direction = s->is_complex ? (nd_complex){at[0] / length, at[1] / length}
                                                   : (nd_complex){at[0] < 0 ? -1 : 1, 0};
        *sign = s->is_complex ? complex_multiply(*sign, direction)
                              : (nd_complex){sign->real * direction.real, 0};
        *log_ += log(length);
    }
    return true;
}

static void store_number(nd_array *a, int64_t i, nd_complex x) {
    memcpy(a->data + i * a->dtype->size, &x, a->dtype->size);
}

/* The determinants, or (logs not NULL) their signs and logarithms. */
static dvx_value determinants(dvx_vm *vm, dvx_value v, bool *single, dvx_value *logs) {
    nd_stack s;
    nd_array *out, *second = NULL;
    room r;
    if (!linalg_read(vm, logs ? "slogdet" : "det", v, true, &s)) return DVX_FAILED;
    dvx_value made = DVX_FAILED;
    *single = s.single;
    if (make_room(vm, &s, 0, &r)) {
        made = linalg_result(vm, &s, s.is_complex, 0, 0, 0, &out);
        bool good = !dvx_failed(made);
        if (good && logs) {
            *logs = linalg_result(vm, &s, false, 0, 0, 0, &second);
            good = !dvx_failed(*logs);
        }
        for (int64_t i = 0; good && i < s.count; i++) {
            nd_complex sign;
            double log_;
            good = determinant(vm, &s, i, &r, &sign, &log_);
            if (!good) break;
            if (second) {
                ((double *)(void *)second->data)[i] = log_;
            } else {
                const nd_complex size = {exp(log_), 0};
                sign = s.is_complex ? complex_multiply(sign, size)
                                    : (nd_complex){sign.real * size.real, 0};
            }
            store_number(out, i, sign);
        }
        if (!good) made = compose_first(vm, DVX_FAILED, made);
        vm->api->deallocate(vm, r.a, r.size);
    }
    vm->api->release(vm, s.held);
    return made;
}

static dvx_value det(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    bool single = false;
    (void)count;
    if (arith_flags()) arith_clear();
    dvx_value made = determinants(vm, args[1], &single, NULL);
    if (!dvx_failed(made) && !error_flags(vm, "det", arith_flags() & FE_OVERFLOW))
        made = compose_first(vm, DVX_FAILED, made);
    return linalg_finish(vm, made, single);
}

static dvx_value slogdet(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    bool single = false;
    dvx_value logs = DVX_FAILED;
    (void)count;
    dvx_value signs = determinants(vm, args[1], &single, &logs);
    signs = linalg_finish(vm, signs, single);
    if (!dvx_failed(signs)) logs = linalg_finish(vm, logs, single);
    return compose_pair(vm, signs, logs);
}

/* ---- Cholesky ---- */

static dvx_value cholesky(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_stack s;
    nd_array *out;
    room r;
    (void)count;
    if (!linalg_read(vm, "cholesky", args[1], true, &s)) return DVX_FAILED;
    dvx_value made = DVX_FAILED;
    const int n = s.rows;
    const int64_t size = linalg_size(&s);
    if (make_room(vm, &s, 0, &r)) {
        made = linalg_result(vm, &s, s.is_complex, 2, n, n, &out);
        bool good = !dvx_failed(made);
        for (int64_t i = 0; good && n && i < s.count; i++) {
            char *to = out->data + i * n * n * size;
            if (!(good = linalg_turn(vm, linalg_matrix(&s, i), n, n, size, r.a))) break;
            const bool fails = factor_cholesky(vm, s.lapack, n, r.a, &good);
            if (good && fails)
                good = linalg_fail(vm, "Matrix is not positive definite");
            else if (good)
                good = linalg_turn(vm, r.a, n, n, size, to);
            for (int64_t k = 0; good && k < n; k++)
                memset(to + (k * n + k + 1) * size, 0, (size_t)((n - k - 1) * size));
        }
        if (!good) made = compose_first(vm, DVX_FAILED, made);
        vm->api->deallocate(vm, r.a, r.size);
    }
    vm->api->release(vm, s.held);
    return linalg_finish(vm, made, s.single);
}

/* ---- Tables ---- */

ND_PARAMETERS(one_parameters, 1, "a");
ND_PARAMETERS(solve_parameters, 2, "a", "b");
static const dvx_function functions[] = {
    ND_NAMED("solve", solve, solve_parameters),     ND_NAMED("inv", inv, one_parameters),
    ND_NAMED("det", det, one_parameters),           ND_NAMED("slogdet", slogdet, one_parameters),
    ND_NAMED("cholesky", cholesky, one_parameters),
};
#define F(i) &functions[i]
static const dvx_function *const methods[] = {
    F(0),         F(1),
    F(2),         F(3),
    F(4),         &linalg_qr,
    &linalg_eigh, &linalg_eigvalsh,
    &linalg_eig,  &linalg_eigvals,
    &linalg_svd,
};

static dvx_value get_error(dvx_vm *vm, dvx_value self) {
    (void)self;
    return vm->api->retain(vm, nd_state_of(vm)->linalg_error);
}
static const dvx_attribute error_attribute = {sizeof(dvx_attribute), "LinAlgError", get_error,
                                              NULL};
static const dvx_attribute *const attributes[] = {&error_attribute};
/* The rest is in dl (lib/linear.dl): 1, 0, -1. */
static int find_attribute(dvx_vm *vm, dvx_value self, dvx_value name, dvx_value *out) {
    (void)self;
    *out = nd_call_library(vm, "_ndarray.linear", "find", &name, 1);
    if (dvx_failed(*out)) return -1;
    if (vm->api->kind(vm, *out) != DVX_NOT_IMPLEMENTED) return 1;
    vm->api->release(vm, *out);
    *out = DVX_FAILED;
    return 0;
}

static const dvx_type linalg_type = {
    .size = sizeof(dvx_type),
    .name = "linalg",
    .payload = 1,
    .method_count = LENGTH_OF(methods),
    .methods = methods,
    .attribute_count = LENGTH_OF(attributes),
    .attributes = attributes,
    .find_attribute = find_attribute,
};

bool linalg_register(dvx_vm *vm, dvx_value module) {
    void *payload;
    nd_state *state = nd_state_of(vm);
    state->linalg_error =
        error_make_class(vm, "LinAlgError", vm->api->builtin(vm, "Exception"), "numpy.linalg");
    if (dvx_failed(state->linalg_error) || !vm->api->add_type(vm, module, &linalg_type))
        return false;
    dvx_value linalg = vm->api->make_object(vm, &linalg_type, &payload);
    const bool good = !dvx_failed(linalg) && vm->api->add_constant(vm, module, "linalg", linalg);
    vm->api->release(vm, linalg);
    return good;
}
