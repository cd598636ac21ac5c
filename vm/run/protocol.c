/* protocol.c: operators, comparison, truth, subscripts, iteration, ... for values of any type
 * (core/upcall.h).  Numbers first: they are what programs mostly compute with.
 *
 * Invariant 1: a type's function is called with a value of that type among its operands; what it
 * does not know it answers with NotImplemented, and the TypeErrors for that are made here. */
#include "core/upcall.h"

#include <math.h>

#include "core/native.h"
#include "core/work.h"
#include "run/operate.h"
#include "types/class/abstract.h"
#include "types/class/class.h"
#include "types/exception/exception.h"
#include "types/number/complex.h"
#include "types/number/float.h"
#include "types/text/format.h"
#include "types/callable/function.h"
#include "types/class/getter.h"
#include "types/class/instance.h"
#include "types/number/int.h"
#include "types/number/int_wide.h"
#include "types/class/metaclass.h"
#include "types/class/operator.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

/* Text and hash ---------------------------------------------------------------------------------
 */

static dv_value nameless_repr(dv_vm *vm, dv_value v) {
    return dv_str_printf(vm, "<%T object at 0x%llx>", v, dv_identity(vm, v));
}

dv_value dv_repr(dv_vm *vm, dv_value v) {
    if (dv_is_shape(v, DV_T_STR)) return dv_str_repr(vm, v);
    if (dv_is_int(v)) return dv_int_to_str(vm, v, 10, false);
    const dv_type *type = dv_behaviour_of(vm, v);
    if (!type->repr) return nameless_repr(vm, v);
    if (!dv_is_object(v)) return type->repr(vm, v);
    if (!dv_enter_native_for(vm, " while getting the repr of an object")) return DV_EMPTY;
    dv_value text = type->repr(vm, v);
    dv_leave_native(vm);
    return text;
}

dv_value dv_to_str(dv_vm *vm, dv_value v) {
    if (dv_is_shape(v, DV_T_STR)) return dv_retain(v);
    const dv_type *type = dv_behaviour_of(vm, v);
    if (!type->str) return dv_repr(vm, v);
    if (!dv_enter_native(vm)) return DV_EMPTY;
    dv_value text = type->str(vm, v);
    dv_leave_native(vm);
    return text;
}

dv_value dv_ascii(dv_vm *vm, dv_value v) { return dv_format_ascii(vm, v); }

dv_value dv_format(dv_vm *vm, dv_value v, dv_value spec) {
    bool plain = dv_is_empty(spec) || (dv_is_str(spec) && dv_as_str(spec)->length == 0);
    const dv_type *type = dv_behaviour_of(vm, v);
    bool own = type->format && dv_is_extension_type(type->id); /* is asked even for that */
    if (plain && !own && !dv_has_methods(v) && !dv_is_exception(v)) return dv_to_str(vm, v);
    if (type->format) return type->format(vm, v, plain ? vm->known.empty_str : spec);
    if (plain) return dv_to_str(vm, v);
    return dv_raise(vm, DV_E_TYPE_ERROR, "unsupported format string passed to %T.__format__", v);
}

bool dv_hash(dv_vm *vm, dv_value v, int64_t *hash) {
    if (dv_is_int(v)) {
        /* Modulo 2^61 - 1, which is beyond 48 bits. */
        *hash = dv_hash_number(&vm->hash_key, dv_as_int(v));
        return true;
    }
    if (dv_is_shape(v, DV_T_STR)) {
        *hash = dv_str_hash(vm, v);
        return true;
    }
    if (dv_is_unequal(vm, v)) {
        *hash = dv_default_hash(vm, v);
        return true;
    }
    const dv_type *type = dv_behaviour_of(vm, v);
    if (type->hash) {
        if (!dv_enter_native(vm)) return false;
        bool done = type->hash(vm, v, hash);
        dv_leave_native(vm);
        return done;
    }
    *hash = dv_is_object(v) ? dv_default_hash(vm, v) : (int64_t)(v.bits & DV_PAYLOAD) + 0x5CA1AB1E;
    return true;
}

/* Comparison ------------------------------------------------------------------------------------
 */

static dv_compare_op mirrored(dv_compare_op op) {
    switch (op) {
    case DV_LT: return DV_GT;
    case DV_LE: return DV_GE;
    case DV_GT: return DV_LT;
    case DV_GE: return DV_LE;
    default: return op;
    }
}

static const char *compare_sign(dv_compare_op op) {
    static const char *const signs[] = {"<", "<=", ">", ">=", "==", "!="};
    return signs[op];
}

static dv_value try_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    const dv_type *type = dv_behaviour_of(vm, a);
    return type->compare ? type->compare(vm, op, a, b) : DV_NOTIMPLEMENTED;
}

/* b's class refines a's: it is asked first. */
static bool right_first(dv_vm *vm, dv_value a, dv_value b) {
    if (!dv_has_methods(b)) return false;
    bool alike = dv_is_object(a) && dv_as_object(a)->shape == dv_as_object(b)->shape;
    if (alike && dv_is_instance(b)) return false;
    dv_class *class_a = dv_class_of(vm, a), *class_b = dv_class_of(vm, b);
    return class_a != class_b && dv_class_is_subclass(class_b, class_a);
}

/* What is left when a's method has said NotImplemented; asked: b's has, too. */
static dv_value compare_rest(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b, bool asked) {
    dv_value result = asked ? DV_NOTIMPLEMENTED : try_compare(vm, mirrored(op), b, a);
    if (!dv_same(result, DV_NOTIMPLEMENTED)) return result;
    if (op == DV_EQ || op == DV_NE) return dv_bool(dv_same(a, b) == (op == DV_EQ));
    return dv_raise(vm, DV_E_TYPE_ERROR, "'%s' not supported between instances of '%T' and '%T'",
                    compare_sign(op), a, b);
}

static dv_value compare_objects(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    bool first = right_first(vm, a, b);
    dv_value result = first ? try_compare(vm, mirrored(op), b, a) : DV_NOTIMPLEMENTED;
    if (dv_same(result, DV_NOTIMPLEMENTED)) result = try_compare(vm, op, a, b);
    return dv_same(result, DV_NOTIMPLEMENTED) ? compare_rest(vm, op, a, b, first) : result;
}

/* a op b of a plain instance a; by the dl method that is asked first, where that is known, or that
 * there is none which could make two objects equal. */
static dv_value compare_plain(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    if (!dv_enter_native_for(vm, " in comparison")) return DV_EMPTY;
    const dv_special *known = dv_operate_known(vm, a, dv_comparison_name(vm, op));
    dv_value result;
    if (DV_UNLIKELY(!known || dv_operate_other(vm, a, b))) {
        result = compare_objects(vm, op, a, b);
    } else if (known->cell && dv_is_function(known->cell->value)) {
        result = dv_call_pair(vm, known->cell->value, a, b);
        if (DV_UNLIKELY(dv_same(result, DV_NOTIMPLEMENTED)))
            result = compare_rest(vm, op, a, b, false);
    } else if (!known->cell && op == DV_EQ && dv_is_plain_instance(b) &&
               dv_shape_at(vm, dv_as_object(b)->shape)->class_ == known->class_) {
        result = dv_bool(dv_same(a, b));
    } else {
        result = compare_objects(vm, op, a, b);
    }
    dv_leave_native(vm);
    return result;
}

/* Two tuples, or two lists? */
static bool are_items(dv_value a, dv_value b) {
    return (dv_is_shape(a, DV_T_TUPLE) && dv_is_shape(b, DV_T_TUPLE)) ||
           (dv_is_shape(a, DV_T_LIST) && dv_is_shape(b, DV_T_LIST));
}

/* What is neither two ints nor two floats. */
static dv_value compare_others(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    if (!dv_is_object(a) && !dv_is_object(b)) return compare_objects(vm, op, a, b);
    if (!dv_enter_native_for(vm, " in comparison")) return DV_EMPTY;
    dv_value result =
        are_items(a, b) ? dv_items_compare(vm, op, a, b) : compare_objects(vm, op, a, b);
    dv_leave_native(vm);
    return result;
}

dv_value dv_operate_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    if (dv_is_exact_int(a) && dv_is_exact_int(b)) return dv_int_compare(vm, op, a, b);
    if (dv_is_shape(a, DV_T_TUPLE) && dv_is_shape(b, DV_T_TUPLE) && vm->calls_left > 0) {
        const int plainly = dv_tuples_compare_plainly(op, dv_as_tuple(a), dv_as_tuple(b));
        if (plainly >= 0) return dv_bool(plainly);
    }
    const bool objects = dv_is_object(a) || dv_is_object(b);
    if (objects && !dv_enter_native_for(vm, " in comparison")) return DV_EMPTY;
    dv_value result = are_items(a, b) ? dv_items_compare(vm, op, a, b) : try_compare(vm, op, a, b);
    if (dv_same(result, DV_NOTIMPLEMENTED)) result = compare_rest(vm, op, a, b, false);
    if (objects) dv_leave_native(vm);
    return result;
}

dv_value dv_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    if (dv_are_ints(a, b)) return dv_bool(dv_int64s_compare(op, dv_as_int(a), dv_as_int(b)));
    if (dv_is_float(a) && dv_is_float(b))
        return dv_bool(dv_doubles_compare(op, dv_as_float(a), dv_as_float(b)));
    return dv_is_plain_instance(a) ? compare_plain(vm, op, a, b) : compare_others(vm, op, a, b);
}

dv_value dv_compare_reflected(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    if (!dv_enter_native_for(vm, " in comparison")) return DV_EMPTY;
    dv_value result = compare_rest(vm, op, a, b, false);
    dv_leave_native(vm);
    return result;
}

static int truth_of_result(dv_vm *vm, dv_value result) {
    if (dv_same(result, DV_TRUE)) return 1;
    if (dv_same(result, DV_FALSE)) return 0;
    if (dv_is_empty(result)) return -1;
    int truth = dv_truth(vm, result);
    dv_release(vm, result);
    return truth;
}

int dv_equal(dv_vm *vm, dv_value a, dv_value b) {
    if (dv_same(a, b)) return 1;
    if (dv_is_shape(a, DV_T_STR) && dv_is_shape(b, DV_T_STR)) return dv_str_equal_counted(vm, a, b);
    return truth_of_result(vm, dv_compare(vm, DV_EQ, a, b));
}

int dv_less(dv_vm *vm, dv_value a, dv_value b) {
    if (dv_are_ints(a, b)) return dv_as_int(a) < dv_as_int(b);
    if (dv_is_shape(a, DV_T_TUPLE) && dv_is_shape(b, DV_T_TUPLE)) {
        int less = dv_tuples_less_plainly(dv_as_tuple(a), dv_as_tuple(b));
        if (less >= 0) return less;
    }
    return truth_of_result(vm, dv_compare(vm, DV_LT, a, b));
}

/* Truth and length ------------------------------------------------------------------------------
 */

static int instance_truth(dv_vm *vm, dv_value v) {
    bool found;
    dv_value result = dv_special_call(vm, v, vm->known.bool_, NULL, 0, &found);
    if (found) return dv_is_empty(result) ? -1 : dv_truth_returned(vm, result);
    const dv_type *layout = vm->types[dv_type_of(vm, v)];
    /* What has a truth and no length has the method __bool__, which comes before any __len__. */
    if (layout->truth && !layout->length) return layout->truth(dv_number_of(v));
    if (!dv_class_special_again(vm, dv_class_of(vm, v), vm->known.len)) {
        if (layout->truth) return layout->truth(dv_number_of(v));
        if (layout->id == DV_T_OBJECT || !layout->length) return 1;
    }
    int64_t length = dv_length(vm, v);
    return length < 0 ? -1 : length != 0;
}

int dv_truth(dv_vm *vm, dv_value v) {
    if (dv_is_bool(v)) return dv_same(v, DV_TRUE);
    if (dv_is_int(v)) return dv_as_int(v) != 0;
    if (dv_is_float(v)) return dv_as_float(v) != 0;
    if (dv_is_none(v)) return 0;
    if (dv_is_instance(v) || dv_is_exception(v)) return instance_truth(vm, v);
    const dv_type *type = dv_behaviour_of(vm, v);
    if (type->truth) return type->truth(v);
    if (type->decide) return type->decide(vm, v);
    if (!type->length) return 1;
    int64_t length = type->length(vm, v);
    return length < 0 ? -1 : length != 0;
}

int64_t dv_length(dv_vm *vm, dv_value v) {
    const dv_type *type = dv_behaviour_of(vm, v);
    if (type->length) return type->length(vm, v);
    dv_raise(vm, DV_E_TYPE_ERROR, "object of type '%T' has no len()", v);
    return -1;
}

/* Operators -------------------------------------------------------------------------------------
 */

static const char *const binary_signs[DV_BINARY_OPS] = {
    "+", "-", "*", "/", "//", "%", "** or pow()", "@", "<<", ">>", "&", "|", "^", "divmod()"};
static const char *const inplace_signs[DV_BINARY_OPS] = {
    "+=", "-=", "*=", "/=", "//=", "%=", "**=", "@=", "<<=", ">>=", "&=", "|=", "^="};

static dv_value raise_operands(dv_vm *vm, const char *sign, dv_value a, dv_value b) {
    const char *hint = ""; /* to those who remember Python 2 */
    if (strcmp(sign, ">>") == 0 && dv_is_shape(a, DV_T_CFUNCTION) &&
        strcmp(((const dv_cfunction *)dv_as_object(a))->def->name, "print") == 0)
        hint = ". Did you mean \"print(<message>, file=<output_stream>)\"?";
    return dv_raise(vm, DV_E_TYPE_ERROR, "unsupported operand type(s) for %s: '%T' and '%T'%s",
                    sign, a, b, hint);
}

static bool is_exact_int(dv_value v) { return dv_is_int(v) || dv_is_shape(v, DV_T_INT); }

/* The operator by what the two types know; NotImplemented where neither knows it. */
static dv_value binary_by_types(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b, bool inplace) {
    const dv_type *left = dv_behaviour_of(vm, a), *right = dv_behaviour_of(vm, b);
    dv_value result = DV_NOTIMPLEMENTED;
    /* Sequences refuse, and the type of an extension is asked first, as CPython asks it. */
    if ((op == DV_BINARY_ADD || op == DV_BINARY_MUL) && dv_is_extension_type(right->id) &&
        !dv_is_extension_type(left->id) && left->contains && right->binary) {
        result = right->binary(vm, op, a, b);
        if (!dv_same(result, DV_NOTIMPLEMENTED)) return result;
    }
    if (inplace && left->inplace) {
        result = left->inplace(vm, op, a, b);
        if (!dv_same(result, DV_NOTIMPLEMENTED)) return result;
    }
    if (left->binary) result = left->binary(vm, op, a, b);
    if (!dv_same(result, DV_NOTIMPLEMENTED) || right == left) return result;
    /* As in CPython, `{} *= [1]` does not ask the list. */
    if (inplace && op == DV_BINARY_MUL && left->contains && !dv_is_class(a)) return result;
    return right->binary ? right->binary(vm, op, a, b) : DV_NOTIMPLEMENTED;
}

/* Only DV_INT_MIN // -1 does not fit, by one. */
static dv_value divmod_ints(dv_vm *vm, int64_t x, int64_t y) {
    dv_value pair[2] = {dv_int_from_int64(vm, dv_floordiv64(x, y)), dv_int(dv_floormod64(x, y))};
    return dv_is_empty(pair[0]) ? DV_EMPTY : dv_tuple_take(vm, pair, 2);
}

static dv_value binary_ints(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    int64_t x = dv_as_int(a), y = dv_as_int(b), result;
    switch (op) {
    case DV_BINARY_ADD: result = x + y; break;
    case DV_BINARY_SUB: result = x - y; break;
    case DV_BINARY_MUL:
        if (__builtin_mul_overflow(x, y, &result)) return dv_int_binary(vm, op, a, b);
        break;
    case DV_BINARY_FLOORDIV:
        if (y == 0) return dv_int_binary(vm, op, a, b);
        result = dv_floordiv64(x, y);
        break;
    case DV_BINARY_MOD:
        if (y == 0) return dv_int_binary(vm, op, a, b);
        result = dv_floormod64(x, y);
        break;
    case DV_BINARY_AND: result = x & y; break;
    case DV_BINARY_OR: result = x | y; break;
    case DV_BINARY_XOR: result = x ^ y; break;
    case DV_BINARY_TRUEDIV:
        /* Both are exact as doubles, so that the quotient is correctly rounded. */
        if (y != 0) return dv_float((double)x / (double)y);
        return dv_int_binary(vm, op, a, b);
    case DV_BINARY_DIVMOD:
        if (y == 0) return dv_int_binary(vm, op, a, b);
        return divmod_ints(vm, x, y);
    default: return dv_int_binary(vm, op, a, b);
    }
    return dv_fits_int(result) ? dv_int(result) : dv_int_from_int64(vm, result);
}

/* The operators of floats that cannot raise; EMPTY: another operator. */
static dv_value binary_floats(dv_binary_op op, double x, double y) {
    switch (op) {
    case DV_BINARY_ADD: return dv_float(x + y);
    case DV_BINARY_SUB: return dv_float(x - y);
    case DV_BINARY_MUL: return dv_float(x * y);
    case DV_BINARY_TRUEDIV: return y != 0 ? dv_float(x / y) : DV_EMPTY;
    default: return DV_EMPTY;
    }
}

/* An int or a bool that is no object. */
static bool is_small(dv_value v) { return dv_is_int(v) || dv_is_bool(v); }
static dv_value small_int(dv_value v) { return dv_is_int(v) ? v : dv_int(dv_same(v, DV_TRUE)); }

dv_value dv_operate_types(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b, bool inplace) {
    if (is_small(a) && is_small(b) && !(dv_is_bool(a) && dv_is_bool(b)))
        return dv_int_binary(vm, op, small_int(a), small_int(b));
    if (is_exact_int(a) && is_exact_int(b)) return dv_int_binary(vm, op, a, b);
    return binary_by_types(vm, op, a, b, inplace);
}

dv_value dv_operate_either(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b, bool inplace) {
    if (dv_are_ints(a, b) && op != DV_BINARY_MATMUL) return binary_ints(vm, op, a, b);
    if (dv_is_float(a) && dv_is_float(b)) {
        dv_value result = binary_floats(op, dv_as_float(a), dv_as_float(b));
        if (!dv_is_empty(result)) return result;
    }
    if (is_exact_int(a) && is_exact_int(b) && op != DV_BINARY_MATMUL)
        return dv_int_binary(vm, op, a, b);
    const bool asked = dv_has_methods(a) || dv_has_methods(b);
    dv_value result =
        asked ? dv_instance_binary(vm, op, a, b, inplace) : binary_by_types(vm, op, a, b, inplace);
    if (!dv_same(result, DV_NOTIMPLEMENTED)) return result;
    return raise_operands(vm, inplace ? inplace_signs[op] : binary_signs[op], a, b);
}

dv_value dv_binary(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    return dv_operate_either(vm, op, a, b, false);
}

dv_value dv_inplace(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    return dv_operate_either(vm, op, a, b, true);
}

dv_value dv_binary_rest(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b, bool inplace,
                        bool asked) {
    dv_value result = dv_instance_binary_rest(vm, op, a, b, inplace, asked);
    if (!dv_same(result, DV_NOTIMPLEMENTED)) return result;
    return raise_operands(vm, inplace ? inplace_signs[op] : binary_signs[op], a, b);
}

dv_value dv_binary_refuse(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    return raise_operands(vm, binary_signs[op], a, b);
}

dv_value dv_unary(dv_vm *vm, dv_unary_op op, dv_value a) {
    if (dv_is_float(a) && op != DV_UNARY_INVERT)
        return op == DV_UNARY_NEG ? dv_float(-dv_as_float(a)) : a;
    const dv_type *type = dv_behaviour_of(vm, a);
    dv_value result = type->unary ? type->unary(vm, op, a) : DV_NOTIMPLEMENTED;
    if (!dv_same(result, DV_NOTIMPLEMENTED)) return result;
    static const char *const signs[] = {"unary -", "unary +", "unary ~"};
    /* A method of dl may return it, too. */
    const dv_value names[] = {vm->known.neg, vm->known.pos, vm->known.invert};
    if (dv_has_methods(a) && dv_class_special(dv_class_of(vm, a), names[op])) return result;
    return dv_raise(vm, DV_E_TYPE_ERROR, "bad operand type for %s: '%T'", signs[op], a);
}

dv_value dv_power(dv_vm *vm, dv_value a, dv_value b, dv_value modulus) {
    if (dv_is_empty(modulus) || dv_is_none(modulus)) return dv_binary(vm, DV_BINARY_POW, a, b);
    dv_value rest[] = {b, modulus};
    bool found;
    dv_value own = dv_special_call(vm, a, vm->known.binary[DV_BINARY_POW], rest, 2, &found);
    if (found && !dv_same(own, DV_NOTIMPLEMENTED)) return own;
    if (!found && dv_is_integral(a) && dv_is_integral(b) && dv_is_integral(modulus))
        return dv_int_pow_mod(vm, a, b, modulus);
    /* Numbers are asked in this order: floats refuse, complex ones if the first two are numbers. */
    const dv_value operands[] = {a, b, modulus};
    for (int i = found; i < 3; i++) {
        const dv_value asked = dv_number_of(operands[i]);
        if (dv_is_float(asked))
            return dv_raise(vm, DV_E_TYPE_ERROR,
                            "pow() 3rd argument not allowed unless all arguments are integers");
        if (dv_is_complex(asked) && dv_is_plain_number(dv_number_of(a)) &&
            dv_is_plain_number(dv_number_of(b)))
            return dv_raise(vm, DV_E_VALUE_ERROR, "complex modulo");
    }
    return dv_raise(vm, DV_E_TYPE_ERROR,
                    "unsupported operand type(s) for ** or pow(): '%T', '%T', '%T'", a, b, modulus);
}

/* Subscripts ------------------------------------------------------------------------------------
 */

/* What has no items: numbers may have been given some by an extension. */
static __attribute__((noinline)) dv_value get_given_item(dv_vm *vm, dv_value container,
                                                         dv_value key) {
    dv_value getter = dv_number_attribute(vm, container, vm->known.getitem);
    if (!dv_is_empty(getter)) {
        dv_value item = dv_call(vm, getter, &key, 1, DV_EMPTY);
        dv_release(vm, getter);
        return item;
    }
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    return dv_raise(vm, DV_E_TYPE_ERROR, "'%T' object is not subscriptable", container);
}

dv_value dv_get_item(dv_vm *vm, dv_value container, dv_value key) {
    const dv_type *type = dv_behaviour_of(vm, container);
    return type->get_item ? type->get_item(vm, container, key) : get_given_item(vm, container, key);
}

/* CPython makes a number of the index before it finds that a sequence cannot be changed. */
bool dv_refuse_item(dv_vm *vm, dv_value container, dv_value key, bool deletes, bool sequence) {
    int64_t index;
    bool number = sequence && dv_is_index(vm, key);
    if (number && !dv_as_index(vm, key, &index)) return false;
    dv_raise(vm, DV_E_TYPE_ERROR,
             !deletes ? "'%T' object does not support item assignment"
             : number ? "'%T' object doesn't support item deletion"
                      : "'%T' object does not support item deletion",
             container);
    return false;
}

bool dv_set_item(dv_vm *vm, dv_value container, dv_value key, dv_value value) {
    const dv_type *type = dv_behaviour_of(vm, container);
    if (type->set_item) return type->set_item(vm, container, key, value);
    return dv_refuse_item(vm, container, key, dv_is_empty(value), type->length != NULL);
}

dv_value dv_iterate_searched(dv_vm *vm, dv_value container) {
    dv_value iterator = dv_iterate(vm, container);
    if (!dv_is_empty(iterator) || !dv_error_is(vm, DV_E_TYPE_ERROR)) return iterator;
    dv_error_clear(vm);
    return dv_raise(vm, DV_E_TYPE_ERROR, "argument of type '%T' is not iterable", container);
}

int dv_contains_by_iteration(dv_vm *vm, dv_value container, dv_value item) {
    dv_value iterator = dv_iterate_searched(vm, container);
    if (dv_is_empty(iterator)) return -1;
    int result = 0;
    while (result == 0) {
        dv_value v = dv_next(vm, iterator);
        if (dv_is_empty(v)) break;
        result = dv_equal(vm, v, item);
        dv_release(vm, v);
    }
    dv_release(vm, iterator);
    return dv_is_empty(vm->error) ? result : -1;
}

int dv_contains(dv_vm *vm, dv_value container, dv_value item) {
    const dv_type *type = dv_behaviour_of(vm, container);
    if (type->contains) return type->contains(vm, container, item);
    if (type->iterate || type->next) return dv_contains_by_iteration(vm, container, item);
    dv_raise(vm, DV_E_TYPE_ERROR, "argument of type '%T' is not iterable", container);
    return -1;
}

bool dv_as_index(dv_vm *vm, dv_value v, int64_t *index) {
    if (dv_int_to_int64(v, index)) return true;
    dv_value converted = dv_int_index(vm, v);
    if (dv_is_empty(converted)) return false;
    bool fits = dv_int_to_int64(converted, index);
    dv_release(vm, converted);
    if (!fits) dv_raise(vm, DV_E_INDEX_ERROR, "cannot fit '%T' into an index-sized integer", v);
    return fits;
}

/* Iteration -------------------------------------------------------------------------------------
 */

dv_value dv_iterate(dv_vm *vm, dv_value v) {
    const dv_type *type = dv_behaviour_of(vm, v);
    if (type->iterate) return type->iterate(vm, v);
    if (type->next) return dv_retain(v);
    return dv_raise(vm, DV_E_TYPE_ERROR, "'%T' object is not iterable", v);
}

dv_value dv_next(dv_vm *vm, dv_value iterator) {
    const dv_type *type = dv_behaviour_of(vm, iterator);
    if (!dv_native_room(vm)) return DV_EMPTY; /* iterators of iterators of ... */
    if (!dv_work(vm, 1)) return DV_EMPTY;     /* loops in C have no other safepoint */
    if (type->next) return type->next(vm, iterator);
    if (dv_has_methods(iterator)) return dv_object_next(vm, iterator);
    return dv_raise(vm, DV_E_TYPE_ERROR, "'%T' object is not an iterator", iterator);
}

bool dv_is_iterable(dv_vm *vm, dv_value v) {
    if (dv_is_class(v) || dv_is_instance(v))
        return dv_defines_special(vm, v, vm->known.iter) ||
               dv_has_special(vm, v, vm->known.getitem) ||
               (dv_is_subclass_instance(v) && vm->types[dv_type_of(vm, v)]->iterate);
    const dv_type *type = dv_behaviour_of(vm, v);
    return type->iterate != NULL || type->next != NULL;
}

/* Classes ---------------------------------------------------------------------------------------
 */

bool dv_is_callable(dv_vm *vm, dv_value v) {
    if (dv_is_function(v) || dv_is_shape(v, DV_T_METHOD)) return true;
    if (dv_is_instance(v) && dv_defines_special(vm, v, vm->known.call))
        return dv_has_special(vm, v, vm->known.call);
    if (dv_is_instance(v))
        return dv_is_subclass_instance(v) && vm->types[dv_type_of(vm, v)]->call != NULL;
    return !dv_is_shape(v, DV_T_OBJECT) && !dv_is_getter(v) && dv_behaviour_of(vm, v)->call != NULL;
}

/* What isinstance (`hook` is __instancecheck__) and issubclass are asked about. */
typedef struct class_check {
    dv_value subject;
    const dv_class *class_; /* of the instance, or the subject; NULL: the subject is no class */
    dv_value hook;
    const char *refusal, *recursion;
} class_check;

/* Bases of what is no class ---------------------------------------------------------------------
 */

/* v.__bases__ if that is a tuple (new); EMPTY: it is not, or raised. */
static dv_value bases_of(dv_vm *vm, dv_value v) {
    dv_value bases = dv_find_attribute(vm, v, vm->known.bases);
    if (dv_is_empty(bases) || dv_is_tuple(bases)) return bases;
    dv_release(vm, bases);
    return DV_EMPTY;
}

static bool check_bases(dv_vm *vm, dv_value v, const char *refusal) {
    if (dv_is_class(v)) return true;
    dv_value bases = bases_of(vm, v);
    if (dv_is_empty(bases) && dv_is_empty(vm->error)) dv_raise(vm, DV_E_TYPE_ERROR, "%s", refusal);
    bool good = !dv_is_empty(bases);
    dv_release(vm, bases);
    return good;
}

static int derives(dv_vm *vm, dv_value derived, dv_value from);

static int one_derives(dv_vm *vm, const dv_tuple *bases, dv_value from) {
    if (!dv_enter_native_for(vm, " in __issubclass__")) return -1;
    int result = 0;
    for (int64_t i = 0; i < bases->count && result == 0; i++)
        result = derives(vm, bases->items[i], from);
    dv_leave_native(vm);
    return result;
}

/* Is `from` reached from `derived` through __bases__?  -1: raised. */
static int derives(dv_vm *vm, dv_value derived, dv_value from) {
    dv_value bases = DV_EMPTY;
    int result = 0;
    while (result == 0) {
        if (dv_same(derived, from)) {
            result = 1;
            break;
        }
        dv_value more = dv_work(vm, 10) ? bases_of(vm, derived) : DV_EMPTY;
        dv_release(vm, bases);
        bases = more;
        if (dv_is_empty(bases)) break;
        if (dv_as_tuple(bases)->count != 1) {
            result = one_derives(vm, dv_as_tuple(bases), from);
            break;
        }
        derived = dv_as_tuple(bases)->items[0];
    }
    dv_release(vm, bases);
    return dv_is_empty(vm->error) ? result : -1;
}

/* Does the subject's class derive from `type`, or does its __class__ say so? */
static int check_class(dv_vm *vm, const class_check *check, dv_value type) {
    const uint16_t says = DV_CLASS_GETATTRIBUTE | DV_CLASS_CLAIMS;
    if (dv_class_is_subclass(check->class_, dv_as_class(type))) return 1;
    if (DV_LIKELY(!(check->class_->flags & says)) || !dv_same(check->hook, vm->known.instancecheck))
        return 0;
    dv_value claimed = dv_find_attribute(vm, check->subject, vm->known.class_);
    int result = !dv_is_empty(claimed) && dv_is_class(claimed) &&
                 dv_class_is_subclass(dv_as_class(claimed), dv_as_class(type));
    dv_release(vm, claimed);
    return dv_is_empty(vm->error) ? result : -1;
}

static int check_by_bases(dv_vm *vm, const class_check *check, dv_value type) {
    bool of_instance = dv_same(check->hook, vm->known.instancecheck);
    if (check->class_ && dv_is_class(type)) return check_class(vm, check, type);
    if (!of_instance && !check_bases(vm, check->subject, "issubclass() arg 1 must be a class"))
        return -1;
    if (!check_bases(vm, type, check->refusal)) return -1;
    if (!of_instance) return derives(vm, check->subject, type);
    dv_value class_ = dv_find_attribute(vm, check->subject, vm->known.class_);
    int result = dv_is_empty(class_) ? 0 : derives(vm, class_, type);
    dv_release(vm, class_);
    return dv_is_empty(vm->error) ? result : -1;
}

/* The check by an object that is no class (a union, for example), or by a metaclass. */
static int check_by_hook(dv_vm *vm, const class_check *check, dv_value type) {
    bool found;
    dv_value answer = dv_special_call(vm, type, check->hook, &check->subject, 1, &found);
    if (!found && dv_is_empty(vm->error)) return check_by_bases(vm, check, type);
    if (dv_is_empty(answer)) return -1;
    int result = dv_truth(vm, answer);
    dv_release(vm, answer);
    return result;
}

/* What an abstract class has said before; -1: ask.  A metaclass whose hook is of dl (that of
 * protocols) may know more than that the class is no subclass. */
static int known_answer(dv_vm *vm, const class_check *check, dv_value type) {
    int answer = dv_abstract_answer(vm, check->class_, type);
    if (answer != 0) return answer;
    if (check->class_->flags & (DV_CLASS_GETATTRIBUTE | DV_CLASS_CLAIMS)) return -1;
    const dv_global_cell *hook = dv_metaclass_special(dv_as_class(type), check->hook);
    return hook && dv_is_shape(hook->value, DV_T_CFUNCTION) ? 0 : -1;
}

static int class_in(dv_vm *vm, const class_check *check, dv_value type) {
    if (!check->class_ && dv_is_class(type) && !dv_as_class(type)->metaclass)
        return check_by_bases(vm, check, type);
    /* An instance of the very class is one; whether that is its own subclass, the metaclass says.
     */
    bool exact = dv_is_class(type) && check->class_ == dv_as_class(type) &&
                 dv_same(check->hook, vm->known.instancecheck);
    if (dv_is_class(type) && (!dv_as_class(type)->metaclass || exact))
        return check_class(vm, check, type);
    if (!dv_is_tuple(type)) {
        int answer = check->class_ && dv_is_class(type) ? known_answer(vm, check, type) : -1;
        return answer >= 0 ? answer : check_by_hook(vm, check, type);
    }
    if (!dv_enter_native_for(vm, check->recursion)) return -1;
    const dv_tuple *types = dv_as_tuple(type);
    int result = 0;
    for (int64_t i = 0; i < types->count && result == 0; i++)
        result = dv_work(vm, 1) ? class_in(vm, check, types->items[i]) : -1;
    dv_leave_native(vm);
    return result;
}

static class_check of_instance(dv_vm *vm, dv_value v) {
    return (class_check){v, dv_class_of(vm, v), vm->known.instancecheck,
                         "isinstance() arg 2 must be a type, a tuple of types, or a union",
                         " in __instancecheck__"};
}

static class_check of_subclass(dv_vm *vm, dv_value class_) {
    return (class_check){class_, dv_is_class(class_) ? dv_as_class(class_) : NULL,
                         vm->known.subclasscheck,
                         "issubclass() arg 2 must be a class, a tuple of classes, or a union",
                         " in __subclasscheck__"};
}

int dv_is_instance_of(dv_vm *vm, dv_value v, dv_value type) {
    class_check check = of_instance(vm, v);
    return class_in(vm, &check, type);
}

int dv_is_subclass_of(dv_vm *vm, dv_value class_, dv_value type) {
    class_check check = of_subclass(vm, class_);
    return class_in(vm, &check, type);
}

int dv_is_instance_plainly(dv_vm *vm, dv_value v, dv_value type) {
    class_check check = of_instance(vm, v);
    return check_by_bases(vm, &check, type);
}

int dv_is_subclass_plainly(dv_vm *vm, dv_value class_, dv_value type) {
    class_check check = of_subclass(vm, class_);
    return check_by_bases(vm, &check, type);
}
