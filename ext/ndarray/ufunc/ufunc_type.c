/* ufunc_type.c: the type `ufunc`, whose objects are np.add and its like: calls, outer, reduce,
 * accumulate, reduceat, at (ufunc.h). */
#include "ufunc/ufunc.h"

#include "ufunc/at.h"
#include "site/derive.h"
#include "array/methods.h"
#include "ufunc/reduce.h"

static nd_ufunc_number number_of(dvx_vm *vm, dvx_value self) {
    return ufunc_number_of(vm->api->payload(vm, self, &ufunc_object_type));
}

static dvx_value show(dvx_vm *vm, dvx_value self) {
    char text[64] = "<ufunc '";
    strcat(strcat(text, loops_facts[number_of(vm, self)].name), "'>");
    return nd_str(vm, text);
}

/* ---- Calls ---- */

/* What is given by position: two operands and the output, or one and the output; "x3" and "out"
 * differ, for what may be a tuple by keyword alone. */
static const char *const call_names[] = {"x1",      "x2",    "x3",    "dtype", "where",
                                         "casting", "order", "subok", "out"};
static const dvx_parameters call_parameters = {sizeof(dvx_parameters), call_names,
                                               LENGTH_OF(call_names), 3, 0};

/* The one entry of a tuple. */
static bool only_entry(dvx_vm *vm, dvx_value tuple, dvx_value *entry) {
    if (vm->api->length(vm, tuple) != 1)
        return nd_fail(vm, DVX_VALUE_ERROR,
                       "The 'out' tuple must have exactly one entry per ufunc output");
    dvx_value index = vm->api->make_int(vm, 0);
    *entry = vm->api->get_item(vm, tuple, index);
    vm->api->release(vm, index);
    return !dvx_failed(*entry);
}

/* The output by position or by keyword; out= may be a tuple of one, *held. */
static bool read_out(dvx_vm *vm, dvx_value third, dvx_value named, dvx_value *held,
                     dvx_value *out) {
    dvx_value v = dvx_failed(third) ? named : third;
    *out = *held = DVX_FAILED;
    if (!dvx_failed(third) && !dvx_failed(named))
        return nd_fail(vm, DVX_TYPE_ERROR,
                       "cannot specify 'out' as both a positional and keyword argument");
    if (!dvx_failed(named) && vm->api->kind(vm, named) == DVX_TUPLE) {
        if (!only_entry(vm, named, held)) return false;
        v = *held;
    }
    if (!nd_is_given(vm, v)) return true;
    if (!vm->api->payload(vm, v, &array_type))
        return nd_fail(vm, DVX_TYPE_ERROR, "return arrays must be of ArrayType");
    *out = v;
    return true;
}

static bool check_casting(dvx_vm *vm, const dvx_value *args) {
    char word[32];
    nd_word(vm, args[5], word);
    if (word[0] && strcmp(word, "same_kind"))
        return nd_fail(vm, DVX_TYPE_ERROR, "casting='%s' is not part of ndarray", word);
    return true;
}

/* The operands and the output: those of a unary ufunc are one place further to the left. */
static dvx_value call_ufunc(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    const nd_ufunc_number number = number_of(vm, self);
    const nd_ufunc_facts *facts = &loops_facts[number];
    const nd_dtype *dtype = NULL;
    dvx_value out;
    (void)count;
    int given = 0;
    while (given < 3 && !dvx_failed(args[given])) given++;
    if (given > facts->inputs + 1 || given < facts->inputs)
        return nd_raise(vm, DVX_TYPE_ERROR,
                        "%s() takes from %d to %d positional arguments but %d were given",
                        facts->name, facts->inputs, facts->inputs + 1, given);
    dvx_value result = DVX_FAILED, held;
    const dvx_value third = given > facts->inputs ? args[facts->inputs] : DVX_FAILED;
    if (read_out(vm, third, args[8], &held, &out) && check_casting(vm, args) &&
        dtype_read_given(vm, args[3], NULL, &dtype))
        result = dvx_failed(args[4]) ? ufunc_call(vm, number, args, out, dtype)
                                     : ufunc_call_where(vm, number, args, out, dtype, args[4]);
    vm->api->release(vm, held);
    return result;
}

/* ---- Methods ---- */

static dvx_value outer(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const nd_ufunc_number number = number_of(vm, args[0]);
    (void)count;
    if (loops_facts[number].inputs != 2)
        return vm->api->raise(vm, DVX_VALUE_ERROR,
                              "outer product only supported for binary functions");
    nd_array *a, *b, *view;
    dvx_value held[2] = {array_operand(vm, args[1], NULL, &a), DVX_FAILED}, result = DVX_FAILED;
    if (dvx_failed(held[0])) return DVX_FAILED;
    held[1] = array_operand(vm, args[2], NULL, &b);
    if (!dvx_failed(held[1]) && a->ndim + b->ndim > ND_MOST) {
        nd_fail(vm, DVX_VALUE_ERROR,
                "maximum supported dimension for an ndarray is 32, but `%s.outer()` result would "
                "have %d.",
                loops_facts[number].name, (int)(a->ndim + b->ndim));
    } else if (!dvx_failed(held[1])) {
        dvx_axis axes[ND_MOST];
        int ndim = a->ndim + b->ndim;
        memcpy(axes, a->axes, (size_t)a->ndim * sizeof *axes);
        for (int i = a->ndim; i < ndim; i++) axes[i] = (dvx_axis){1, 0};
        dvx_value operands[2] = {array_view(vm, held[0], a, a->data, ndim, axes, &view), held[1]};
        if (!dvx_failed(operands[0])) result = ufunc_call(vm, number, operands, DVX_FAILED, NULL);
        vm->api->release(vm, operands[0]);
    }
    vm->api->release(vm, held[0]);
    vm->api->release(vm, held[1]);
    return result;
}

static bool check_binary(dvx_vm *vm, nd_ufunc_number number, const char *what) {
    return loops_facts[number].inputs == 2 ||
           nd_fail(vm, DVX_VALUE_ERROR, "%s only supported for binary functions", what);
}

static dvx_value reduce(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const nd_ufunc_number number = number_of(vm, args[0]);
    (void)count;
    if (!check_binary(vm, number, "reduce")) return DVX_FAILED;
    nd_reduction r = {.number = number,
                      .axis = args[2],
                      .first_axis = true,
                      .dtype = args[3],
                      .out = args[4],
                      .keepdims = args[5],
                      .initial = args[6],
                      .where = args[7]};
    return reduce_call(vm, args[1], &r);
}

static dvx_value accumulate(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const nd_ufunc_number number = number_of(vm, args[0]);
    (void)count;
    if (!check_binary(vm, number, "accumulate")) return DVX_FAILED;
    return reduce_accumulate(vm, number, args[1], args[2], true, args[3], args[4]);
}

static dvx_value reduceat(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const nd_ufunc_number number = number_of(vm, args[0]);
    (void)count;
    if (!check_binary(vm, number, "reduceat")) return DVX_FAILED;
    return reduce_segments(vm, number, args[1], args[2], args[3], args[4], args[5]);
}

ND_PARAMETERS(outer_parameters, 2, "A", "B");
ND_PARAMETERS(reduce_parameters, 1, "array", "axis", "dtype", "out", "keepdims", "initial",
              "where");
ND_PARAMETERS(at_parameters, 2, "a", "indices", "b");
ND_PARAMETERS(accumulate_parameters, 1, "array", "axis", "dtype", "out");
ND_PARAMETERS(reduceat_parameters, 2, "array", "indices", "axis", "dtype", "out");
static const dvx_function outer_method = ND_NAMED("outer", outer, outer_parameters);
static const dvx_function reduce_method = ND_NAMED("reduce", reduce, reduce_parameters);
static const dvx_function accumulate_method =
    ND_NAMED("accumulate", accumulate, accumulate_parameters);
static const dvx_function reduceat_method = ND_NAMED("reduceat", reduceat, reduceat_parameters);
static const dvx_function at_method = ND_NAMED("at", at_call, at_parameters);
static const dvx_function *const methods[] = {&outer_method, &reduce_method, &accumulate_method,
                                              &reduceat_method, &at_method};

/* ---- Attributes ---- */

static dvx_value get_name(dvx_vm *vm, dvx_value self) {
    return nd_str(vm, loops_facts[number_of(vm, self)].name);
}
static dvx_value get_inputs(dvx_vm *vm, dvx_value self) {
    return vm->api->make_int(vm, loops_facts[number_of(vm, self)].inputs);
}
static dvx_value get_outputs(dvx_vm *vm, dvx_value self) {
    (void)self;
    return vm->api->make_int(vm, 1);
}
static dvx_value get_arguments(dvx_vm *vm, dvx_value self) {
    return vm->api->make_int(vm, loops_facts[number_of(vm, self)].inputs + 1);
}
static dvx_value get_identity(dvx_vm *vm, dvx_value self) {
    const nd_ufunc_number number = number_of(vm, self);
    const nd_ufunc_facts *facts = &loops_facts[number];
    if (!facts->has_identity) return nd_none(vm);
    if (number >= ND_UFUNC_logical_and && number <= ND_UFUNC_logical_xor)
        return vm->api->make_bool(vm, facts->identity != 0);
    return vm->api->make_int(vm, facts->identity);
}

#define ATTRIBUTE(variable, name, get) \
    static const dvx_attribute variable = {sizeof(dvx_attribute), name, get, NULL}
ATTRIBUTE(name_attribute, "__name__", get_name);
ATTRIBUTE(inputs_attribute, "nin", get_inputs);
ATTRIBUTE(outputs_attribute, "nout", get_outputs);
ATTRIBUTE(arguments_attribute, "nargs", get_arguments);
ATTRIBUTE(identity_attribute, "identity", get_identity);
static const dvx_attribute *const attributes[] = {&name_attribute, &inputs_attribute,
                                                  &outputs_attribute, &arguments_attribute,
                                                  &identity_attribute};

const dvx_type ufunc_object_type = {
    .size = sizeof(dvx_type),
    .name = "ufunc",
    .payload = sizeof(nd_ufunc_object),
    .repr = show,
    .specialise = derive_ufunc,
    .call = call_ufunc,
    .call_parameters = &call_parameters,
    .method_count = LENGTH_OF(methods),
    .methods = methods,
    .attribute_count = LENGTH_OF(attributes),
    .attributes = attributes,
};

/* ---- The module ---- */

static const struct {
    const char *name;
    nd_ufunc_number number;
} aliases[] = {
    {"true_divide", ND_UFUNC_divide}, {"mod", ND_UFUNC_remainder},      {"abs", ND_UFUNC_absolute},
    {"conj", ND_UFUNC_conjugate},     {"bitwise_not", ND_UFUNC_invert},
};

bool ufunc_register(dvx_vm *vm, dvx_value module) {
    nd_state_of(vm)->kernels = loops_best();
    bool good = vm->api->add_type(vm, module, &ufunc_object_type);
    for (uint32_t i = 0; good && i < ND_UFUNCS; i++) {
        void *payload;
        dvx_value object = vm->api->make_object(vm, &ufunc_object_type, &payload);
        good = !dvx_failed(object);
        if (!good) break;
        ((nd_ufunc_object *)payload)->number = i;
        good = vm->api->add_constant(vm, module, loops_facts[i].name, object);
        for (size_t k = 0; good && k < LENGTH_OF(aliases); k++)
            if (aliases[k].number == i)
                good = vm->api->add_constant(vm, module, aliases[k].name, object);
        vm->api->release(vm, object);
    }
    return good;
}
