/* lstsq.c: np.linalg's lstsq, pinv, matrix_rank, cond: what is made of singular values (linalg.h).
 */
#include <float.h>
#include <math.h>

#include "loops/arith.h"
#include "array/compose.h"
#include "linear/linalg.h"
#include "linear/matmul.h"
#include "ufunc/ufunc.h"

/* a with an axis of one element behind its own. */
static dvx_value with_axis(dvx_vm *vm, dvx_value v) {
    nd_array *a, *view;
    dvx_axis axes[ND_MOST];
    dvx_value held = array_operand(vm, v, NULL, &a);
    if (dvx_failed(held)) return held;
    memcpy(axes, a->axes, (size_t)a->ndim * sizeof *axes);
    axes[a->ndim] = (dvx_axis){1, 0};
    return compose_first(vm, array_view(vm, held, a, a->data, a->ndim + 1, axes, &view), held);
}

/* The largest element along the last axis, which stays; 0 where there is none. */
static dvx_value largest(dvx_vm *vm, dvx_value values) {
    return compose_reduce(vm, ND_UFUNC_maximum, vm->api->retain(vm, values), -1, true);
}

/* a, tol */
static dvx_value matrix_rank(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    (void)count;
    dvx_value held = array_operand(vm, args[1], NULL, &a);
    if (dvx_failed(held)) return held;
    if (a->ndim < 2) {
        dvx_value any = compose_reduce(vm, ND_UFUNC_logical_or, held, COMPOSE_ALL, false);
        const int truth = dvx_failed(any) ? -1 : vm->api->truth(vm, any);
        vm->api->release(vm, any);
        return truth < 0 ? DVX_FAILED : vm->api->make_int(vm, truth);
    }
    const int64_t size = a->axes[a->ndim - 2].count > a->axes[a->ndim - 1].count
                             ? a->axes[a->ndim - 2].count
                             : a->axes[a->ndim - 1].count;
    const double epsilon = a->dtype->num == ND_FLOAT32 ? FLT_EPSILON : DBL_EPSILON;
    dvx_value values = linalg_singular(vm, held), bound = DVX_FAILED;
    vm->api->release(vm, held);
    if (dvx_failed(values)) return values;
    if (nd_is_given(vm, args[2])) {
        bound = with_axis(vm, args[2]);
    } else {
        bound = compose_number(vm, ND_UFUNC_multiply, largest(vm, values), (double)size);
        bound = compose_number(vm, ND_UFUNC_multiply, bound, epsilon);
    }
    return compose_reduce(vm, ND_UFUNC_add, compose_binary(vm, ND_UFUNC_greater, values, bound), -1,
                          false);
}

/* 1 / s where s is more than the bound, else 0, in place. */
static bool invert_values(dvx_vm *vm, dvx_value values, dvx_value bound) {
    nd_array *b, *s;
    dvx_value wide = array_operand(vm, values, NULL, &s);
    const int64_t last = s->ndim ? s->axes[s->ndim - 1].count : 1;
    vm->api->release(vm, wide);
    dvx_value row = array_row(vm, bound, s->dtype, &b);
    if (dvx_failed(row)) return false;
    for (int64_t i = 0; i < s->size; i++) {
        const int64_t k = b->size == 1 ? 0 : i / last;
        if (s->dtype->num == ND_FLOAT32) {
            float *x = (float *)(void *)s->data + i;
            *x = *x > ((const float *)(const void *)b->data)[k] ? 1 / *x : 0;
        } else {
            double *x = (double *)(void *)s->data + i;
            *x = *x > ((const double *)(const void *)b->data)[k] ? 1 / *x : 0;
        }
    }
    vm->api->release(vm, row);
    return true;
}

/* (Vt)^T s (U^T b) of a decomposition; b missing: (Vt)^T s U^T.  With inverted values it is the
 * pseudo-inverse of the conjugate of what was decomposed.  Takes the parts. */
static dvx_value join_parts(dvx_vm *vm, dvx_value parts[3], dvx_value b) {
    dvx_value u = compose_turned(vm, parts[0]), vt = DVX_FAILED, right;
    if (!dvx_failed(u))
        vt = compose_turned(vm, parts[2]);
    else
        vm->api->release(vm, parts[2]);
    if (dvx_failed(vt))
        right = compose_first(vm, DVX_FAILED, u);
    else if (dvx_failed(b))
        right = u;
    else
        right = compose_first(vm, matmul_values(vm, u, b, DVX_FAILED), u);
    dvx_value s = dvx_failed(right) ? DVX_FAILED : with_axis(vm, parts[1]);
    vm->api->release(vm, parts[1]);
    right = compose_binary(vm, ND_UFUNC_multiply, s, right);
    dvx_value made = dvx_failed(right) ? right : matmul_values(vm, vt, right, DVX_FAILED);
    vm->api->release(vm, vt);
    vm->api->release(vm, right);
    return made;
}

/* a, rcond */
static dvx_value pinv(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a, *out;
    dvx_value held, parts[3], rcond, made = DVX_FAILED;
    bool single;
    (void)count;
    if (!linalg_read_array(vm, args[1], &a, &held)) return DVX_FAILED;
    const int64_t rows = a->axes[a->ndim - 2].count, columns = a->axes[a->ndim - 1].count;
    if (!rows || !columns) {
        int64_t shape[ND_MOST];
        array_shape(a, shape);
        shape[a->ndim - 2] = columns;
        shape[a->ndim - 1] = rows;
        return compose_first(vm, array_new(vm, a->dtype, a->ndim, shape, &out), held);
    }
    dvx_value other = compose_unary(vm, ND_UFUNC_conjugate, held);
    if (dvx_failed(other)) return other;
    bool good = linalg_decompose(vm, other, 'S', &single, parts);
    vm->api->release(vm, other);
    if (!good) return DVX_FAILED;
    for (int i = 0; i < 3; i++) {
        parts[i] =
            good ? linalg_finish(vm, parts[i], single) : compose_first(vm, DVX_FAILED, parts[i]);
        good = good && !dvx_failed(parts[i]);
    }
    rcond = good ? dvx_failed(args[2]) ? vm->api->make_float(vm, 1e-15) : with_axis(vm, args[2])
                 : DVX_FAILED;
    dvx_value most_ = dvx_failed(rcond) ? DVX_FAILED : largest(vm, parts[1]);
    dvx_value bound = compose_binary(vm, ND_UFUNC_multiply, rcond, most_);
    if (!dvx_failed(bound) && invert_values(vm, parts[1], bound))
        made = join_parts(vm, parts, DVX_FAILED);
    else
        for (int i = 0; i < 3; i++) vm->api->release(vm, parts[i]);
    vm->api->release(vm, bound);
    return made;
}

/* The sum of |b - a x|**2 for each column. */
static dvx_value residuals(dvx_vm *vm, dvx_value a, dvx_value b, dvx_value x) {
    dvx_value product = matmul_values(vm, a, x, DVX_FAILED);
    if (dvx_failed(product)) return product;
    dvx_value rest = compose_binary(vm, ND_UFUNC_subtract, vm->api->retain(vm, b), product);
    dvx_value size = compose_unary(vm, ND_UFUNC_absolute, rest);
    return compose_reduce(vm, ND_UFUNC_add, compose_unary(vm, ND_UFUNC_square, size), 0, false);
}

static bool read_rcond(dvx_vm *vm, dvx_value v, int64_t size, double *rcond) {
    if (dvx_failed(v)) {
        dvx_value class_ = vm->api->builtin(vm, "FutureWarning");
        *rcond = -1;
        const bool good =
            !dvx_failed(class_) &&
            vm->api->warn(
                vm, class_,
                "`rcond` parameter will change to the default of machine precision times ``max(M, "
                "N)`` where M and N are the input matrix dimensions.\nTo use the future default "
                "and silence this warning we advise to pass `rcond=None`, to keep using the old, "
                "explicitly pass `rcond=-1`.");
        vm->api->release(vm, class_);
        return good;
    }
    *rcond = DBL_EPSILON * (double)size;
    return nd_is_none(vm, v) || vm->api->read_float(vm, v, rcond);
}

/* (x, residuals, rank, singular values) of two matrices of one dtype, float64 or complex128. */
static dvx_value least_squares(dvx_vm *vm, dvx_value a, dvx_value b, double rcond, bool vector,
                               bool single) {
    dvx_value parts[3], items[4] = {DVX_FAILED, DVX_FAILED, DVX_FAILED, DVX_FAILED}, result;
    bool ignored;
    dvx_value other = ufunc_call(vm, ND_UFUNC_conjugate, &a, DVX_FAILED, NULL);
    if (dvx_failed(other)) return other;
    const bool decomposed = linalg_decompose(vm, other, 'S', &ignored, parts);
    vm->api->release(vm, other);
    if (!decomposed) return DVX_FAILED;
    nd_array *s = array_of(vm, parts[1]), *m = array_of(vm, a), *empty;
    const double *values = (const double *)(const void *)s->data;
    const double bound = (rcond < 0 ? DBL_EPSILON : rcond) * (s->size ? values[0] : 0);
    const int64_t none = 0;
    int64_t rank = 0;
    for (int64_t i = 0; i < s->size; i++) rank += values[i] > bound;
    items[3] = array_copy(vm, s, s->dtype, 'C');
    bool good = !dvx_failed(items[3]);
    dvx_value limit = good ? vm->api->make_float(vm, bound) : DVX_FAILED;
    if (good && invert_values(vm, parts[1], limit)) {
        items[0] = join_parts(vm, parts, b);
    } else {
        for (int i = 0; i < 3; i++) vm->api->release(vm, parts[i]);
    }
    vm->api->release(vm, limit);
    good = !dvx_failed(items[0]);
    if (good)
        items[1] = rank == m->axes[1].count && m->axes[0].count > m->axes[1].count
                       ? residuals(vm, a, b, items[0])
                       : array_new(vm, ND_DTYPE(ND_FLOAT64), 1, &none, &empty);
    good = good && !dvx_failed(items[1]);
    if (good && vector)
        items[0] =
            compose_first(vm, vm->api->call_method(vm, items[0], "ravel", NULL, 0), items[0]);
    good = good && !dvx_failed(items[0]);
    items[2] = vm->api->make_int(vm, rank);
    for (int i = 0; good && i < 4; i++) {
        if (i != 2) items[i] = linalg_finish(vm, items[i], single);
        good = !dvx_failed(items[i]);
    }
    result = good ? vm->api->make_tuple(vm, items, 4) : DVX_FAILED;
    for (int i = 0; i < 4; i++) vm->api->release(vm, items[i]);
    return result;
}

/* a, b, rcond */
static dvx_value lstsq(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *both[2];
    dvx_value held[2] = {array_operand(vm, args[1], NULL, &both[0]), DVX_FAILED};
    dvx_value made = DVX_FAILED;
    double rcond;
    (void)count;
    if (!dvx_failed(held[0])) held[1] = array_operand(vm, args[2], NULL, &both[1]);
    bool good = !dvx_failed(held[1]);
    const bool vector = good && both[1]->ndim == 1;
    if (good && vector) {
        held[1] = compose_first(vm, with_axis(vm, held[1]), held[1]);
        good = !dvx_failed(held[1]);
        if (good) both[1] = array_of(vm, held[1]);
    }
    for (int i = 0; good && i < 2; i++)
        if (both[i]->ndim != 2) {
            vm->api->raise_format(vm, nd_state_of(vm)->linalg_error,
                                  "%d-dimensional array given. Array must be two-dimensional",
                                  both[i]->ndim);
            good = false;
        }
    if (good && both[0]->axes[0].count != both[1]->axes[0].count)
        good = linalg_fail(vm, "Incompatible dimensions");
    if (good) {
        const int64_t rows = both[0]->axes[0].count, columns = both[0]->axes[1].count;
        const nd_dtype *dtype = dtype_promote(both[0]->dtype, both[1]->dtype);
        const bool single = dtype->num == ND_FLOAT32 && both[0]->dtype == both[1]->dtype;
        dtype = ND_DTYPE(dtype->kind == 'c' ? ND_COMPLEX128 : ND_FLOAT64);
        good = read_rcond(vm, args[3], rows > columns ? rows : columns, &rcond);
        for (int i = 0; good && i < 2; i++) {
            held[i] = compose_array(vm, held[i], dtype);
            good = !dvx_failed(held[i]);
        }
        if (good) made = least_squares(vm, held[0], held[1], rcond, vector, single);
    }
    vm->api->release(vm, held[0]);
    vm->api->release(vm, held[1]);
    return made;
}

/* The condition by singular values: the largest by the smallest, or (p is -2) the other way round.
 */
static dvx_value condition(dvx_vm *vm, dvx_value x, bool inverse) {
    dvx_value values = linalg_singular(vm, x), ends[2] = {DVX_FAILED, DVX_FAILED};
    if (dvx_failed(values)) return values;
    nd_array *s = array_of(vm, values), *view;
    const dvx_axis last = s->axes[s->ndim - 1];
    for (int i = 0; i < 2 && (!i || !dvx_failed(ends[0])); i++) {
        char *data = s->data + ((i == 0) == inverse ? (last.count - 1) * last.stride : 0);
        ends[i] = array_view(vm, values, s, data, s->ndim - 1, s->axes, &view);
    }
    vm->api->release(vm, values);
    return compose_binary(vm, ND_UFUNC_divide, ends[0], ends[1]);
}

static dvx_value condition_by_norm(dvx_vm *vm, dvx_value x, dvx_value p) {
    const dvx_value axes[2] = {vm->api->make_int(vm, -2), vm->api->make_int(vm, -1)};
    dvx_value inverse = linalg_inverse(vm, x, true), norms[2] = {DVX_FAILED, DVX_FAILED};
    if (dvx_failed(inverse)) return inverse;
    dvx_value pair = vm->api->make_tuple(vm, axes, 2);
    for (int i = 0; i < 2 && !dvx_failed(pair) && (!i || !dvx_failed(norms[0])); i++) {
        const dvx_value args[4] = {i ? inverse : x, p, pair, DVX_FAILED};
        norms[i] = linalg_norm(vm, args);
    }
    vm->api->release(vm, pair);
    vm->api->release(vm, inverse);
    return compose_binary(vm, ND_UFUNC_multiply, norms[0], norms[1]);
}

/* A nan that does not come from one in x is infinity. */
static dvx_value without_nan(dvx_vm *vm, dvx_value made, nd_array *x) {
    nd_array *a, *out;
    if (dvx_failed(made)) return made;
    dvx_value row = array_row(vm, made, ND_DTYPE(ND_FLOAT64), &a);
    const nd_dtype *dtype = array_of(vm, made) ? array_of(vm, made)->dtype : ND_DTYPE(ND_FLOAT64);
    vm->api->release(vm, made);
    if (dvx_failed(row)) return row;
    dvx_value copy = array_copy(vm, a, ND_DTYPE(ND_FLOAT64), 'C'), whole = DVX_FAILED;
    vm->api->release(vm, row);
    if (dvx_failed(copy)) return copy;
    out = array_of(vm, copy);
    nd_array *c;
    dvx_value plain = array_copy(vm, x, ND_DTYPE(ND_COMPLEX128), 'C');
    if (dvx_failed(plain)) return compose_first(vm, plain, copy);
    c = array_of(vm, plain);
    const int64_t each = out->size ? c->size / out->size : 0;
    const nd_complex *from = (const nd_complex *)(const void *)c->data;
    for (int64_t i = 0; i < out->size; i++) {
        double *to = (double *)(void *)out->data + i;
        bool seen = false;
        for (int64_t k = i * each; k < (i + 1) * each; k++) seen |= complex_nan(from[k]);
        if (isnan(*to) && !seen) *to = INFINITY;
    }
    vm->api->release(vm, plain);
    whole = dtype->kind == 'f' ? array_copy(vm, out, dtype, 'C') : vm->api->retain(vm, copy);
    vm->api->release(vm, copy);
    return dvx_failed(whole) ? whole : array_result(vm, whole);
}

/* x, p */
static dvx_value cond(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    dvx_value held, made;
    double p = 2;
    (void)count;
    if (!linalg_read_array(vm, args[1], &a, &held)) return DVX_FAILED;
    if (!a->size && (!a->axes[a->ndim - 1].count || !a->axes[a->ndim - 2].count)) {
        vm->api->release(vm, held);
        linalg_fail(vm, "cond is not defined on empty arrays");
        return DVX_FAILED;
    }
    const bool number = nd_is_given(vm, args[2]) && vm->api->kind(vm, args[2]) != DVX_STR;
    if (number && !vm->api->read_float(vm, args[2], &p)) return compose_first(vm, DVX_FAILED, held);
    /* What is not a number, or 0, is no error here: no warnings. */
    nd_state *state = nd_state_of(vm);
    uint8_t modes[ND_FLOAT_ERRORS];
    memcpy(modes, state->float_errors, sizeof modes);
    memset(state->float_errors, 1, sizeof modes);
    const bool by_norm = nd_is_given(vm, args[2]) && !(number && (p == 2 || p == -2));
    if (!by_norm)
        made = condition(vm, held, p == -2);
    else
        made = linalg_check_square(vm, a) ? condition_by_norm(vm, held, args[2]) : DVX_FAILED;
    memcpy(state->float_errors, modes, sizeof modes);
    made = without_nan(vm, made, a);
    if (by_norm && a->dtype->kind == 'c') { /* as NumPy has it */
        made = compose_array(vm, made, ND_DTYPE(ND_COMPLEX128));
        if (!dvx_failed(made)) made = array_result(vm, made);
    }
    vm->api->release(vm, held);
    return made;
}

/* ---- Tables ---- */

ND_PARAMETERS(lstsq_parameters, 2, "a", "b", "rcond");
ND_PARAMETERS(pinv_parameters, 1, "a", "rcond");
ND_PARAMETERS(rank_parameters, 1, "A", "tol");
ND_PARAMETERS(cond_parameters, 1, "x", "p");
const dvx_function linalg_lstsq = ND_NAMED("lstsq", lstsq, lstsq_parameters);
const dvx_function linalg_pinv = ND_NAMED("pinv", pinv, pinv_parameters);
const dvx_function linalg_rank = ND_NAMED("matrix_rank", matrix_rank, rank_parameters);
const dvx_function linalg_cond = ND_NAMED("cond", cond, cond_parameters);
