/* norm.c: np.linalg.norm (linalg.h): lengths of vectors. */
#include "array/compose.h"
#include "linear/linalg.h"
#include "linear/matmul.h"
#include "array/shape.h"
#include "ufunc/ufunc.h"

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

/* Of the vectors along an axis. */
static dvx_value length_along(dvx_vm *vm, dvx_value x, const dvx_value *args, bool keep) {
    int axis;
    if (!nd_axis_of(vm, args[2], array_of(vm, x)->ndim, &axis)) return DVX_FAILED;
    return compose_unary(vm, ND_UFUNC_sqrt,
                         compose_reduce(vm, ND_UFUNC_add, squares(vm, x), axis, keep));
}

ND_PARAMETERS(norm_parameters, 1, "x", "ord", "axis", "keepdims");

/* Lengths; other norms, and those of several axes, are in dl. */
static dvx_value norm(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    (void)count;
    args++;
    const bool along = nd_is_given(vm, args[2]);
    if (nd_is_given(vm, args[1]) || (along && vm->api->kind(vm, args[2]) != DVX_INT))
        return nd_wider(vm, "norm", &norm_parameters, args);
    const int keep = nd_flag(vm, args[3], false);
    dvx_value x = keep < 0 ? DVX_FAILED : array_operand(vm, args[0], NULL, &a);
    if (!dvx_failed(x) && dtype_is_integer(a->dtype))
        x = compose_array(vm, x, ND_DTYPE(ND_FLOAT64)); /* `a` may be gone */
    if (dvx_failed(x)) return x;
    const int ndim = array_of(vm, x)->ndim;
    return compose_first(
        vm, along ? length_along(vm, x, args, keep) : length_of_all(vm, x, ndim, keep), x);
}

const dvx_function linalg_norm = ND_NAMED("norm", norm, norm_parameters);
