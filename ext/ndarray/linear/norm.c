/* norm.c: np.linalg.norm (linalg.h). */
#include <math.h>

#include "array/compose.h"
#include "linear/linalg.h"
#include "linear/matmul.h"
#include "array/shape.h"
#include "ufunc/ufunc.h"

/* Which norm: a number, or one of the words. */
typedef enum norm_kind { NUMBER, DEFAULT, FROBENIUS, NUCLEAR, OTHER } norm_kind;
typedef struct norm_order {
    norm_kind kind;
    double number;
    dvx_value given;
} norm_order;

static bool read_order(dvx_vm *vm, dvx_value v, norm_order *o) {
    char word[32];
    *o = (norm_order){DEFAULT, NAN, v};
    if (!nd_is_given(vm, v)) return true;
    o->kind = NUMBER;
    if (vm->api->kind(vm, v) != DVX_STR) return vm->api->read_float(vm, v, &o->number);
    nd_word(vm, v, word);
    o->kind = !strcmp(word, "fro") || !strcmp(word, "f") ? FROBENIUS
              : !strcmp(word, "nuc")                     ? NUCLEAR
                                                         : OTHER;
    return true;
}

/* |x|**2 as floats. */
static dvx_value squares(dvx_vm *vm, dvx_value x) {
    if (array_of(vm, x)->dtype->kind != 'c')
        return compose_with(vm, ND_UFUNC_multiply, vm->api->retain(vm, x), x);
    dvx_value other = ufunc_call(vm, ND_UFUNC_conjugate, &x, DVX_FAILED, NULL);
    return compose_attribute(vm, compose_with(vm, ND_UFUNC_multiply, other, x), "real");
}

/* The length of all elements in a row, in the order of memory, with NumPy's products. */
static dvx_value length_of_all(dvx_vm *vm, dvx_value x, int ndim, bool keep) {
    const bool is_complex = array_of(vm, x)->dtype->kind == 'c';
    const dvx_value order = nd_str(vm, "K");
    dvx_value row = DVX_FAILED, sum = DVX_FAILED;
    if (!dvx_failed(order)) row = vm->api->call_method(vm, x, "ravel", &order, 1);
    vm->api->release(vm, order);
    for (int i = 0; !dvx_failed(row) && i < (is_complex ? 2 : 1); i++) {
        dvx_value part = is_complex ? vm->api->get_attribute(vm, row, i ? "imag" : "real")
                                    : vm->api->retain(vm, row);
        dvx_value square = dvx_failed(part) ? part : matmul_values(vm, part, part, DVX_FAILED);
        vm->api->release(vm, part);
        sum = i ? compose_binary(vm, ND_UFUNC_add, sum, square) : square;
        if (dvx_failed(sum)) break;
    }
    vm->api->release(vm, row);
    sum = compose_unary(vm, ND_UFUNC_sqrt, sum);
    if (!keep || dvx_failed(sum)) return sum;
    sum = compose_array(vm, sum, NULL);
    return dvx_failed(sum) ? sum : compose_first(vm, shape_at_least(vm, sum, ndim), sum);
}

static dvx_value magnitude(dvx_vm *vm, dvx_value x) {
    return compose_unary(vm, ND_UFUNC_absolute, vm->api->retain(vm, x));
}

/* Of the vectors along an axis. */
static dvx_value norm_of_vectors(dvx_vm *vm, dvx_value x, int axis, const norm_order *o,
                                 bool keep) {
    const nd_dtype *dtype = array_of(vm, x)->dtype;
    if (o->kind == DEFAULT || o->number == 2)
        return compose_unary(vm, ND_UFUNC_sqrt,
                             compose_reduce(vm, ND_UFUNC_add, squares(vm, x), axis, keep));
    if (o->kind != NUMBER) {
        char word[32];
        return nd_raise(vm, DVX_VALUE_ERROR, "Invalid norm order '%s' for vectors",
                        nd_word(vm, o->given, word));
    }
    if (isinf(o->number))
        return compose_reduce(vm, o->number > 0 ? ND_UFUNC_maximum : ND_UFUNC_minimum,
                              magnitude(vm, x), axis, keep);
    if (o->number == 1) return compose_reduce(vm, ND_UFUNC_add, magnitude(vm, x), axis, keep);
    if (o->number == 0) {
        const nd_dtype *real =
            ND_DTYPE(type_is_inexact(dtype->num) ? type_as_float(dtype->num) : ND_FLOAT64);
        dvx_value other = compose_number(vm, ND_UFUNC_not_equal, vm->api->retain(vm, x), 0);
        return compose_reduce(vm, ND_UFUNC_add, compose_array(vm, other, real), axis, keep);
    }
    dvx_value powers = compose_with(vm, ND_UFUNC_power, magnitude(vm, x), o->given);
    return compose_number(vm, ND_UFUNC_power, compose_reduce(vm, ND_UFUNC_add, powers, axis, keep),
                          1 / o->number);
}

/* Sums of magnitudes along one axis, of which the largest or smallest along the other. */
static dvx_value norm_of_sums(dvx_vm *vm, dvx_value x, int summed, int other, bool smallest) {
    return compose_reduce(vm, smallest ? ND_UFUNC_minimum : ND_UFUNC_maximum,
                          compose_reduce(vm, ND_UFUNC_add, magnitude(vm, x), summed, false),
                          other > summed ? other - 1 : other, false);
}

/* What `number` makes of the singular values of the matrices of two axes. */
static dvx_value norm_of_values(dvx_vm *vm, dvx_value x, int row, int column,
                                nd_ufunc_number number) {
    int order[ND_MOST], used = 0;
    const int ndim = array_of(vm, x)->ndim;
    for (int i = 0; i < ndim; i++)
        if (i != row && i != column) order[used++] = i;
    order[used++] = row;
    order[used] = column;
    dvx_value moved = compose_permuted(vm, vm->api->retain(vm, x), order);
    if (dvx_failed(moved)) return moved;
    dvx_value values = compose_first(vm, linalg_singular(vm, moved), moved);
    return compose_reduce(vm, number, values, -1, false);
}

/* Of the matrices along two axes, without keepdims. */
static dvx_value norm_of_matrices(dvx_vm *vm, dvx_value x, int row, int column,
                                  const norm_order *o) {
    if (o->kind == DEFAULT || o->kind == FROBENIUS) {
        const dvx_value axes[2] = {vm->api->make_int(vm, row), vm->api->make_int(vm, column)};
        dvx_value both = vm->api->make_tuple(vm, axes, 2);
        dvx_value sum = dvx_failed(both) ? DVX_FAILED : squares(vm, x);
        sum = compose_first(vm, compose_along(vm, ND_UFUNC_add, sum, both, false), both);
        return compose_unary(vm, ND_UFUNC_sqrt, sum);
    }
    if (o->kind == NUCLEAR) return norm_of_values(vm, x, row, column, ND_UFUNC_add);
    if (o->number == 2) return norm_of_values(vm, x, row, column, ND_UFUNC_maximum);
    if (o->number == -2) return norm_of_values(vm, x, row, column, ND_UFUNC_minimum);
    if (fabs(o->number) == 1) return norm_of_sums(vm, x, row, column, o->number < 0);
    if (isinf(o->number)) return norm_of_sums(vm, x, column, row, o->number < 0);
    return vm->api->raise(vm, DVX_VALUE_ERROR, "Invalid norm order for matrices.");
}

static dvx_value keep_axes(dvx_vm *vm, dvx_value made, const nd_array *x, int row, int column) {
    int64_t shape[ND_MOST];
    made = compose_array(vm, made, NULL);
    if (dvx_failed(made)) return made;
    array_shape(x, shape);
    shape[row] = shape[column] = 1;
    return compose_first(vm, shape_reshape(vm, made, x->ndim, shape), made);
}

/* axis= : none, an int, or a tuple of them. */
static bool read_axes(dvx_vm *vm, dvx_value axis, int ndim, int *count, int *axes) {
    *count = ndim;
    for (int i = 0; i < ndim; i++) axes[i] = i;
    if (!nd_is_given(vm, axis)) return true;
    if (vm->api->kind(vm, axis) == DVX_TUPLE) {
        int64_t length = vm->api->length(vm, axis);
        if (length != 1 && length != 2)
            return nd_fail(vm, DVX_VALUE_ERROR, "Improper number of dimensions to norm.");
        return shape_read_axes(vm, axis, ndim, "", "Duplicate axes given.", count, axes);
    }
    *count = 1;
    if (nd_axis_of(vm, axis, ndim, axes)) return true;
    if (!vm->api->error_matches(vm, nd_state_of(vm)->type_error)) return false;
    vm->api->clear_error(vm);
    return nd_fail(vm, DVX_TYPE_ERROR, "'axis' must be None, an integer or a tuple of integers");
}

static dvx_value norm_of(dvx_vm *vm, dvx_value x, const dvx_value *args) {
    nd_array *a = array_of(vm, x);
    norm_order o;
    int axes[ND_MOST], count;
    const int keep = nd_flag(vm, args[3], false);
    if (keep < 0 || !read_order(vm, args[1], &o)) return DVX_FAILED;
    if (!nd_is_given(vm, args[2]) && (o.kind == DEFAULT || (o.kind == FROBENIUS && a->ndim == 2) ||
                                      (o.number == 2 && a->ndim == 1)))
        return length_of_all(vm, x, a->ndim, keep);
    if (!read_axes(vm, args[2], a->ndim, &count, axes)) return DVX_FAILED;
    if (count == 1) return norm_of_vectors(vm, x, axes[0], &o, keep);
    if (count != 2)
        return vm->api->raise(vm, DVX_VALUE_ERROR, "Improper number of dimensions to norm.");
    dvx_value made = norm_of_matrices(vm, x, axes[0], axes[1], &o);
    return keep ? keep_axes(vm, made, a, axes[0], axes[1]) : made;
}

dvx_value linalg_norm(dvx_vm *vm, const dvx_value *args) {
    nd_array *a;
    dvx_value x = array_operand(vm, args[0], NULL, &a);
    if (!dvx_failed(x) && dtype_is_integer(a->dtype))
        x = compose_array(vm, x, ND_DTYPE(ND_FLOAT64));
    return dvx_failed(x) ? x : compose_first(vm, norm_of(vm, x, args), x);
}

static dvx_value norm(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return linalg_norm(vm, args + 1);
}

ND_PARAMETERS(norm_parameters, 1, "x", "ord", "axis", "keepdims");
const dvx_function linalg_norm_function = ND_NAMED("norm", norm, norm_parameters);
