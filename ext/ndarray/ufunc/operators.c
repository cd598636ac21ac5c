/* operators.c: which ufunc an operator of dl is (operators.h). */
#include "ufunc/operators.h"

#include "linear/matmul.h"
#include "array/convert.h"
#include "array/methods.h"
#include "ufunc/ufunc.h"

static const uint8_t binary_ufuncs[] = {
    [DVX_ADD] = ND_UFUNC_add,
    [DVX_SUB] = ND_UFUNC_subtract,
    [DVX_MUL] = ND_UFUNC_multiply,
    [DVX_TRUEDIV] = ND_UFUNC_divide,
    [DVX_FLOORDIV] = ND_UFUNC_floor_divide,
    [DVX_MOD] = ND_UFUNC_remainder,
    [DVX_POW] = ND_UFUNC_power,
    [DVX_LSHIFT] = ND_UFUNC_left_shift,
    [DVX_RSHIFT] = ND_UFUNC_right_shift,
    [DVX_AND] = ND_UFUNC_bitwise_and,
    [DVX_OR] = ND_UFUNC_bitwise_or,
    [DVX_XOR] = ND_UFUNC_bitwise_xor,
};
static const uint8_t unary_ufuncs[] = {
    [DVX_NEG] = ND_UFUNC_negative, [DVX_POS] = ND_UFUNC_positive, [DVX_INVERT] = ND_UFUNC_invert};
static const uint8_t compare_ufuncs[] = {
    [DVX_LT] = ND_UFUNC_less,    [DVX_LE] = ND_UFUNC_less_equal,
    [DVX_GT] = ND_UFUNC_greater, [DVX_GE] = ND_UFUNC_greater_equal,
    [DVX_EQ] = ND_UFUNC_equal,   [DVX_NE] = ND_UFUNC_not_equal};

int operators_ufunc(dvx_family family, uint32_t operation) {
    switch (family) {
    case DVX_SITE_BINARY:
    case DVX_SITE_INPLACE:
        if (operation >= LENGTH_OF(binary_ufuncs) || operation == DVX_MATMUL) return -1;
        return operation == DVX_DIVMOD ? -1 : binary_ufuncs[operation];
    case DVX_SITE_UNARY: return operation == DVX_POS ? -1 : unary_ufuncs[operation];
    case DVX_SITE_COMPARE: return compare_ufuncs[operation];
    default: return -1;
    }
}

static dvx_value divmod_of(dvx_vm *vm, dvx_value a, dvx_value b) {
    const dvx_value operands[2] = {a, b};
    dvx_value both[2] = {DVX_FAILED, DVX_FAILED}, result = DVX_FAILED;
    both[0] = ufunc_call(vm, ND_UFUNC_floor_divide, operands, DVX_FAILED, NULL);
    if (!dvx_failed(both[0]))
        both[1] = ufunc_call(vm, ND_UFUNC_remainder, operands, DVX_FAILED, NULL);
    if (!dvx_failed(both[1])) result = vm->api->make_tuple(vm, both, 2);
    vm->api->release(vm, both[0]);
    vm->api->release(vm, both[1]);
    return result;
}

int operators_simple_power(nd_type base, bool whole, double exponent) {
    /* Ints have squares alone, and they with floats another type. */
    if (!type_is_inexact(base) && (base == ND_BOOL || !whole || exponent != 2)) return -1;
    if (exponent == 2) return ND_UFUNC_square;
    if (exponent == 0.5) return ND_UFUNC_sqrt;
    if (exponent == 1) return ND_UFUNC_positive;
    if (exponent == -1) return ND_UFUNC_reciprocal;
    return -1;
}

/* `as_float`: of ints as floats. */
static int simple_power(dvx_vm *vm, dvx_value a, dvx_value b, bool *as_float) {
    const nd_array *base = array_of(vm, a);
    dvx_kind kind = vm->api->kind(vm, b);
    double exponent;
    *as_float = false;
    if (!base || (kind != DVX_INT && kind != DVX_FLOAT)) return -1;
    if (!vm->api->read_float(vm, b, &exponent)) {
        vm->api->clear_error(vm);
        return -1;
    }
    *as_float = dtype_is_integer(base->dtype) && base->dtype->num != ND_BOOL && kind == DVX_FLOAT;
    if (*as_float) return exponent == 2 ? (int)ND_UFUNC_square : -1;
    return operators_simple_power(base->dtype->num, kind == DVX_INT, exponent);
}

/* A scalar beside a list, tuple, str or bytes: its int is a count. */
static bool repeat_items(dvx_vm *vm, dvx_value a, dvx_value b, dvx_value *result) {
    const bool first = array_is_scalar(vm, a);
    const dvx_value scalar = first ? a : b, items = first ? b : a;
    const dvx_kind kind = vm->api->kind(vm, items);
    if (kind != DVX_LIST && kind != DVX_TUPLE && kind != DVX_STR && kind != DVX_BYTES) return false;
    const nd_array *s = array_of(vm, scalar);
    if (!array_is_scalar(vm, scalar)) return false;
    if (!dtype_is_integer(s->dtype)) {
        nd_fail(vm, DVX_TYPE_ERROR, "can't multiply sequence by non-int of type 'numpy.%s'",
                s->dtype->name);
        *result = DVX_FAILED;
        return true;
    }
    dvx_value count = convert_to_list(vm, s);
    *result = dvx_failed(count) ? count : vm->api->binary(vm, DVX_MUL, items, count);
    vm->api->release(vm, count);
    return true;
}

dvx_value operators_binary(dvx_vm *vm, dvx_binary op, dvx_value a, dvx_value b) {
    const dvx_value operands[2] = {a, b};
    nd_array *x = vm->api->payload(vm, a, &array_type),
             *y = x ? vm->api->payload(vm, b, &array_type) : NULL;
    dvx_value result;
    if (op < DVX_MATMUL && op != DVX_POW && y &&
        ufunc_fast(vm, (nd_ufunc_number)binary_ufuncs[op], x, y, &result))
        return result;
    if (!x && op < DVX_MATMUL &&
        ufunc_scalars(vm, (nd_ufunc_number)binary_ufuncs[op], operands, &result))
        return result;
    if (op == DVX_MUL && !x && !y && repeat_items(vm, a, b, &result)) return result;
    if (!y && (!ufunc_knows(vm, a) || !ufunc_knows(vm, b)))
        return vm->api->make_not_implemented(vm);
    if (op == DVX_MATMUL) return matmul_values(vm, a, b, DVX_FAILED);
    if (op == DVX_DIVMOD) return divmod_of(vm, a, b);
    if (op == DVX_POW) {
        bool as_float;
        int simple = simple_power(vm, a, b, &as_float);
        if (simple >= 0)
            return ufunc_call(vm, (nd_ufunc_number)simple, operands, DVX_FAILED,
                              as_float ? ND_DTYPE(ND_FLOAT64) : NULL);
    }
    return ufunc_call(vm, (nd_ufunc_number)binary_ufuncs[op], operands, DVX_FAILED, NULL);
}

dvx_value operators_inplace(dvx_vm *vm, dvx_binary op, dvx_value self, dvx_value b) {
    const dvx_value operands[2] = {self, b};
    if (array_is_scalar(vm, self)) return operators_binary(vm, op, self, b);
    if (!ufunc_knows(vm, b)) return vm->api->make_not_implemented(vm);
    if (op == DVX_MATMUL)
        return vm->api->raise(
            vm, DVX_TYPE_ERROR,
            "In-place matrix multiplication is not (yet) supported. Use 'a = a @ b' instead "
            "of 'a @= b'.");
    if (op == DVX_POW) {
        bool as_float;
        int simple = simple_power(vm, self, b, &as_float);
        if (simple >= 0 && !as_float)
            return ufunc_call(vm, (nd_ufunc_number)simple, operands, self, NULL);
    }
    return ufunc_call(vm, (nd_ufunc_number)binary_ufuncs[op], operands, self, NULL);
}

/* + of bools makes a copy, which NumPy deprecates. */
static dvx_value plus_bool(dvx_vm *vm, const nd_array *a) {
    const bool good = nd_deprecated(
        vm, "Applying '+' to a non-numerical array is ill-defined. Returning a copy, but "
            "in the future this will error.");
    return good ? array_copy(vm, a, a->dtype, 'K') : DVX_FAILED;
}

dvx_value operators_unary(dvx_vm *vm, dvx_unary op, dvx_value self) {
    const nd_array *a = array_of(vm, self);
    if (op == DVX_POS && a->dtype->num == ND_BOOL) return array_result(vm, plus_bool(vm, a));
    return ufunc_call(vm, (nd_ufunc_number)unary_ufuncs[op], &self, DVX_FAILED, NULL);
}

/* What no number can be equal to: all elements differ. */
static dvx_value differs(dvx_vm *vm, const nd_array *a, bool value) {
    nd_array *out;
    dvx_value made = array_new_like(vm, ND_DTYPE(ND_BOOL), a, &out);
    if (dvx_failed(made)) return made;
    memset(out->data, value, (size_t)out->size);
    return array_result(vm, made);
}

/* == and != of what cannot be compared are not an error in NumPy 1.24: then objects are compared.
 */
static dvx_value fail_comparison(dvx_vm *vm, dvx_compare op) {
    static const dvx_error kinds[] = {DVX_VALUE_ERROR, DVX_TYPE_ERROR, DVX_OVERFLOW_ERROR};
    bool known = false;
    for (size_t i = 0; i < LENGTH_OF(kinds) && !known; i++) {
        dvx_value class_ = vm->api->error_class(vm, kinds[i]);
        known = vm->api->error_matches(vm, class_);
        vm->api->release(vm, class_);
    }
    if (!known || (op != DVX_EQ && op != DVX_NE)) return DVX_FAILED;
    vm->api->clear_error(vm);
    const bool good =
        nd_deprecated(vm, "elementwise comparison failed; this will raise an error in the future.");
    return good ? vm->api->make_not_implemented(vm) : DVX_FAILED;
}

dvx_value operators_compare(dvx_vm *vm, dvx_compare op, dvx_value self, dvx_value other) {
    const dvx_value operands[2] = {self, other};
    nd_array *x = vm->api->payload(vm, self, &array_type),
             *y = vm->api->payload(vm, other, &array_type);
    dvx_value result;
    if (x && y && ufunc_fast(vm, (nd_ufunc_number)compare_ufuncs[op], x, y, &result)) return result;
    if (!x && ufunc_scalars(vm, (nd_ufunc_number)compare_ufuncs[op], operands, &result))
        return result;
    if (!ufunc_knows(vm, other)) {
        if (nd_is_none(vm, other) && (op == DVX_EQ || op == DVX_NE))
            return differs(vm, array_of(vm, self), op == DVX_NE);
        return vm->api->make_not_implemented(vm);
    }
    result = ufunc_call(vm, (nd_ufunc_number)compare_ufuncs[op], operands, DVX_FAILED, NULL);
    return LIKELY(!dvx_failed(result)) ? result : fail_comparison(vm, op);
}

static dvx_value absolute(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return ufunc_call(vm, ND_UFUNC_absolute, args, DVX_FAILED, NULL);
}
ND_METHOD(absolute, ND_PLAIN("__abs__", absolute, 1, 1));

static dvx_value conjugate(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    const nd_array *a = array_self(vm, args[0]);
    if (a->dtype->kind != 'c') return vm->api->retain(vm, args[0]);
    return ufunc_call(vm, ND_UFUNC_conjugate, args, DVX_FAILED, NULL);
}
ND_METHOD(conj, ND_PLAIN("conj", conjugate, 1, 1));
ND_METHOD(conjugate, ND_PLAIN("conjugate", conjugate, 1, 1));
