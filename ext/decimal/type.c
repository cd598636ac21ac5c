/* type.c: the class Decimal.
 *
 * Invariants
 *  1. An object has its value once `filled`; calling __init__ again changes nothing. */
#include "decimal.h"

#include <stdio.h>
#include <stdlib.h>

static const number *self_of(dvx_vm *vm, dvx_value self) {
    return vm->api->payload(vm, self, &decimal_type);
}

/* ---- Making ---- */

static bool take(dvx_vm *vm, number *to, const number *from) {
    number n = *from;
    whole c;
    if (n.is_big) { /* of an int: without its sign, and exactly an int */
        whole_of(vm, from, &c);
        bool good = whole_store(vm, &c, &n);
        whole_drop(vm, &c);
        if (!good) return false;
    }
    n.filled = true;
    *to = n;
    return true;
}

/* As decimal_parse. */
static int parse(dvx_vm *vm, dvx_value v, number *n) {
    char small[MOST_TEXT], *text = small;
    size_t size, room = sizeof small;
    if (!vm->api->read_str(vm, v, small, room, &size)) return -1;
    if (size >= room) {
        room = size + 1;
        text = vm->api->allocate(vm, room);
        if (!text) return -1;
    }
    number made;
    int found = -1;
    if (text == small || vm->api->read_str(vm, v, text, room, &size))
        found = decimal_parse(vm, text, size, &made);
    if (text != small) vm->api->deallocate(vm, text, room);
    if (found > 0) {
        made.filled = true;
        *n = made;
    }
    return found;
}

/* Decimal(value="0", context=None) */
static bool fill(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    number *n = vm->api->payload(vm, self, &decimal_type), space;
    if (n->filled) return true;
    if (dvx_failed(args[0])) return n->filled = true;
    bool with_context = !dvx_failed(args[1]) && vm->api->kind(vm, args[1]) != DVX_NONE;
    if (with_context && !vm->api->payload(vm, args[1], &context_type)) {
        vm->api->raise(vm, DVX_TYPE_ERROR, "optional argument must be a context");
        return false;
    }
    const number *from = decimal_read(vm, args[0], &space);
    if (from) return take(vm, n, from);
    if (vm->api->kind(vm, args[0]) == DVX_STR) {
        int found = parse(vm, args[0], n);
        if (found) return found > 0;
    }
    dvx_value made = decimal_call(vm, "decimal_new", args, count);
    if (dvx_failed(made)) return false;
    from = self_of(vm, made);
    n = vm->api->payload(vm, self, &decimal_type);
    bool good = from && take(vm, n, from);
    vm->api->release(vm, made);
    return good;
}

static void drop(dvx_vm *vm, void *payload) { decimal_drop(vm, payload); }

/* ---- Text ---- */

static dvx_value show(dvx_vm *vm, dvx_value self) {
    return decimal_text(vm, self_of(vm, self), true, SCIENTIFIC,
                        decimal_state_of(vm)->now->capitals);
}

static dvx_value to_str(dvx_vm *vm, dvx_value self) {
    return decimal_text(vm, self_of(vm, self), false, SCIENTIFIC,
                        decimal_state_of(vm)->now->capitals);
}

static dvx_value format(dvx_vm *vm, dvx_value self, dvx_value spec) {
    return decimal_format_text(vm, self, self_of(vm, self), spec);
}

static dvx_value to_float(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const number *n = self_of(vm, args[0]);
    if (n->kind != FINITE || n->is_big) return decimal_call(vm, "decimal_float", args, count);
    /* As one number with an exponent: no point, whatever the locale. */
    number whole = {.c = n->c, .sign = n->sign};
    char text[MOST_TEXT + 32];
    size_t size = decimal_write(&whole, SCIENTIFIC, true, text);
    sprintf(text + size, "e%lld", (long long)n->exponent);
    return vm->api->make_float(vm, strtod(text, NULL));
}

/* ---- Hash: that of an equal int, float or Fraction ---- */

#define HASH_PRIME    (((uint64_t)1 << 61) - 1)
#define HASH_OF_TENTH ((uint64_t)2075258708292324556) /* 1 / 10 modulo the prime */

static uint64_t hash_product(uint64_t a, uint64_t b) {
    return (uint64_t)((u128)a * b % HASH_PRIME);
}

static bool hash(dvx_vm *vm, dvx_value self, int64_t *out) {
    const number *n = self_of(vm, self);
    /* From 2^61 on ints may have hashes of their own: _decimal_types.dl knows. */
    if (n->kind != FINITE || n->is_big || decimal_digits(n->c) + n->exponent > 18) {
        dvx_value result = decimal_call(vm, "decimal_hash", &self, 1);
        bool good = !dvx_failed(result) && vm->api->read_int(vm, result, out);
        vm->api->release(vm, result);
        return good;
    }
    uint64_t power = n->exponent < 0 ? HASH_OF_TENTH : 10, h = (uint64_t)(n->c % HASH_PRIME);
    for (uint64_t e = (uint64_t)(n->exponent < 0 ? -n->exponent : n->exponent); e; e >>= 1) {
        if (e & 1) h = hash_product(h, power);
        power = hash_product(power, power);
    }
    dvx_value number = vm->api->make_int(vm, n->sign ? -(int64_t)h : (int64_t)h);
    bool good = vm->api->hash(vm, number, out);
    vm->api->release(vm, number);
    return good;
}

/* ---- Operators ---- */

static bool is_number(dvx_vm *vm, dvx_value v) {
    dvx_kind kind = vm->api->kind(vm, v);
    return kind == DVX_INT || kind == DVX_BOOL || vm->api->payload(vm, v, &decimal_type);
}

static dvx_value binary(dvx_vm *vm, dvx_binary op, dvx_value a, dvx_value b) {
    static const operation operations[] = {
        [DVX_ADD] = OP_add,        [DVX_SUB] = OP_subtract,        [DVX_MUL] = OP_multiply,
        [DVX_TRUEDIV] = OP_divide, [DVX_FLOORDIV] = OP_divide_int, [DVX_MOD] = OP_remainder,
        [DVX_POW] = OP_power,      [DVX_DIVMOD] = OP_divmod,
    };
    dvx_value operands[] = {a, b, DVX_FAILED};
    if (!is_number(vm, a) || !is_number(vm, b)) return vm->api->make_not_implemented(vm);
    return decimal_perform(vm, operations[op], DVX_FAILED, ROUNDING_OF_CONTEXT, operands,
                           op == DVX_POW ? 3 : 2);
}

static dvx_value unary(dvx_vm *vm, dvx_unary op, dvx_value self) {
    return decimal_perform(vm, op == DVX_NEG ? OP_minus : OP_plus, DVX_FAILED, ROUNDING_OF_CONTEXT,
                           &self, 1);
}

static dvx_value absolute(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    return decimal_perform(vm, OP_abs, DVX_FAILED, ROUNDING_OF_CONTEXT, args, count);
}

static dvx_value compare(dvx_vm *vm, dvx_compare op, dvx_value self, dvx_value other) {
    number space;
    const number *a = self_of(vm, self), *b = decimal_read(vm, other, &space);
    int order;
    if (b && a->kind < QUIET_NAN && b->kind < QUIET_NAN) {
        if (!decimal_fast_compare(a, b, &order) && !decimal_compare(vm, a, b, &order))
            return DVX_FAILED;
        switch (op) {
        case DVX_LT: return vm->api->make_bool(vm, order < 0);
        case DVX_LE: return vm->api->make_bool(vm, order <= 0);
        case DVX_GT: return vm->api->make_bool(vm, order > 0);
        case DVX_GE: return vm->api->make_bool(vm, order >= 0);
        case DVX_EQ: return vm->api->make_bool(vm, order == 0);
        default: return vm->api->make_bool(vm, order != 0);
        }
    }
    dvx_value args[] = {vm->api->make_int(vm, op), self, other};
    dvx_value result = decimal_call(vm, "decimal_compare", args, 3);
    vm->api->release(vm, args[0]);
    return result;
}

static bool truth(const void *payload) {
    const number *n = payload;
    return n->kind != FINITE || n->is_big || n->c;
}

/* ---- Methods ---- */

PARAMETERS(one_operand, 0, 1, "context");
PARAMETERS(two_operands, 1, 1, "other", "context");
PARAMETERS(three_operands, 2, 1, "other", "third", "context");
PARAMETERS(like_another, 1, 2, "exp", "rounding", "context");
PARAMETERS(to_an_integer, 0, 2, "rounding", "context");
PARAMETERS(constructor, 0, 2, "value", "context");

static dvx_value operate(dvx_vm *vm, operation op, const dvx_value *args, uint32_t operands) {
    return decimal_perform(vm, op, args[operands], ROUNDING_OF_CONTEXT, args, operands);
}

#define OPERATION_METHOD(called, operands, given)                                     \
    static dvx_value op_##called(dvx_vm *vm, const dvx_value *args, uint32_t count) { \
        (void)count;                                                                  \
        return operate(vm, OP_##called, args, operands);                              \
    }                                                                                 \
    static const dvx_function method_##called = {.size = sizeof(dvx_function),        \
                                                 .name = #called,                     \
                                                 .entry = op_##called,                \
                                                 .parameters = &(given)};
/* clang-format off */
#define EACH_OPERATION(X) \
    X(exp, 1, one_operand) \
    X(ln, 1, one_operand) \
    X(log10, 1, one_operand) \
    X(logb, 1, one_operand) \
    X(logical_invert, 1, one_operand) \
    X(next_minus, 1, one_operand) \
    X(next_plus, 1, one_operand) \
    X(normalize, 1, one_operand) \
    X(sqrt, 1, one_operand) \
    X(remainder_near, 2, two_operands) \
    X(compare, 2, two_operands) \
    X(compare_signal, 2, two_operands) \
    X(compare_total, 2, two_operands) \
    X(compare_total_mag, 2, two_operands) \
    X(max, 2, two_operands) \
    X(max_mag, 2, two_operands) \
    X(min, 2, two_operands) \
    X(min_mag, 2, two_operands) \
    X(next_toward, 2, two_operands) \
    X(logical_and, 2, two_operands) \
    X(logical_or, 2, two_operands) \
    X(logical_xor, 2, two_operands) \
    X(rotate, 2, two_operands) \
    X(scaleb, 2, two_operands) \
    X(shift, 2, two_operands) \
    X(fma, 3, three_operands)
/* clang-format on */
EACH_OPERATION(OPERATION_METHOD)

static dvx_value quantize(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    int64_t rounding;
    (void)count;
    if (!decimal_read_rounding(vm, args[2], &rounding)) return DVX_FAILED;
    return decimal_perform(vm, OP_quantize, args[3], rounding, args, 2);
}
static dvx_value to_integral_exact(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    int64_t rounding;
    (void)count;
    if (!decimal_read_rounding(vm, args[1], &rounding)) return DVX_FAILED;
    return decimal_perform(vm, OP_to_integral_exact, args[2], rounding, args, 1);
}
static dvx_value to_integral_value(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    int64_t rounding;
    (void)count;
    if (!decimal_read_rounding(vm, args[1], &rounding)) return DVX_FAILED;
    return decimal_perform(vm, OP_to_integral_value, args[2], rounding, args, 1);
}
#define WITH_ROUNDING(called, function, given)    \
    static const dvx_function method_##called = { \
        .size = sizeof(dvx_function), .name = #called, .entry = function, .parameters = &(given)}
WITH_ROUNDING(quantize, quantize, like_another);
WITH_ROUNDING(to_integral_exact, to_integral_exact, to_an_integer);
WITH_ROUNDING(to_integral_value, to_integral_value, to_an_integer);
WITH_ROUNDING(to_integral, to_integral_value, to_an_integer);

/* What takes no context and needs no dl. */
#define QUESTION(name, answer)                                                 \
    static dvx_value name(dvx_vm *vm, const dvx_value *args, uint32_t count) { \
        const number *n = self_of(vm, args[0]);                                \
        (void)count;                                                           \
        return vm->api->make_bool(vm, answer);                                 \
    }                                                                          \
    METHOD(method_##name, name, 0);
QUESTION(is_finite, n->kind == FINITE)
QUESTION(is_infinite, n->kind == INFINITE)
QUESTION(is_nan, n->kind >= QUIET_NAN)
QUESTION(is_qnan, n->kind == QUIET_NAN)
QUESTION(is_snan, n->kind == SIGNALLING_NAN)
QUESTION(is_signed, n->sign)
QUESTION(is_zero, !truth(n))

/* pow(self, other, modulo); ** asks `binary`. */
static dvx_value power(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    if (count < 3 || vm->api->kind(vm, args[2]) == DVX_NONE)
        return binary(vm, DVX_POW, args[0], args[1]);
    if (!is_number(vm, args[1]) || !is_number(vm, args[2]))
        return vm->api->make_not_implemented(vm);
    return decimal_perform(vm, OP_power, DVX_FAILED, ROUNDING_OF_CONTEXT, args, 3);
}
static const dvx_function method_power = {
    .size = sizeof(dvx_function), .name = "__pow__", .entry = power, .min = 2, .max = 3};

/* What is called NAME in Python and decimal_NAME in dl; with `given` parameters. */
#define DL_METHOD(called, function, given)                                            \
    static dvx_value dl_##called(dvx_vm *vm, const dvx_value *args, uint32_t count) { \
        return decimal_call(vm, function, args, count);                               \
    }                                                                                 \
    static const dvx_function method_##called = {.size = sizeof(dvx_function),        \
                                                 .name = #called,                     \
                                                 .entry = dl_##called,                \
                                                 .min = 1,                            \
                                                 .max = 1,                            \
                                                 .parameters = given};
/* int(self); for NaNs and infinities, dl raises. */
static dvx_value to_int(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    static const context down = {.rounding = ROUND_DOWN};
    const number *n = self_of(vm, args[0]);
    if (n->kind != FINITE) return decimal_call(vm, "decimal_int", args, count);
    job j = {.vm = vm, .with = &down};
    number result;
    whole c;
    if (!dvx_work(vm, 50) || !decimal_whole(&j, n, &result)) return DVX_FAILED;
    whole_of(vm, &result, &c);
    dvx_value v = vm->api->make_int_limbs(vm, c.limbs, n->sign ? -c.count : c.count);
    whole_drop(vm, &c);
    decimal_drop(vm, &result);
    return v;
}
static const dvx_function method_int = {
    .size = sizeof(dvx_function), .name = "__int__", .entry = to_int, .min = 1, .max = 1};
static const dvx_function method_trunc = {
    .size = sizeof(dvx_function), .name = "__trunc__", .entry = to_int, .min = 1, .max = 1};
PARAMETERS(maybe_digits, 0, 1, "ndigits");
PARAMETERS(a_memo, 1, 0, "memo");
#define EACH_IN_DL(X)                                       \
    X(as_tuple, "decimal_as_tuple", NULL)                   \
    X(as_integer_ratio, "decimal_as_integer_ratio", NULL)   \
    X(adjusted, "decimal_adjusted", NULL)                   \
    X(canonical, "decimal_same", NULL)                      \
    X(conjugate, "decimal_same", NULL)                      \
    X(is_canonical, "decimal_true", NULL)                   \
    X(copy_abs, "decimal_copy_abs", NULL)                   \
    X(copy_negate, "decimal_copy_negate", NULL)             \
    X(copy_sign, "decimal_copy_sign", &two_operands)        \
    X(is_normal, "decimal_is_normal", &one_operand)         \
    X(is_subnormal, "decimal_is_subnormal", &one_operand)   \
    X(number_class, "decimal_number_class", &one_operand)   \
    X(radix, "decimal_radix", NULL)                         \
    X(same_quantum, "decimal_same_quantum", &two_operands)  \
    X(to_eng_string, "decimal_to_eng_string", &one_operand) \
    X(__floor__, "decimal_floor", NULL)                     \
    X(__ceil__, "decimal_ceil", NULL)                       \
    X(__complex__, "decimal_complex", NULL)                 \
    X(__round__, "decimal_round", &maybe_digits)            \
    X(__copy__, "decimal_same", NULL)                       \
    X(__deepcopy__, "decimal_deepcopy", &a_memo)            \
    X(__reduce__, "decimal_reduce", NULL)
EACH_IN_DL(DL_METHOD)

static dvx_value from_float(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    return decimal_call(vm, "decimal_from_float", args, count);
}
static const dvx_function method_from_float = {.size = sizeof(dvx_function),
                                               .name = "from_float",
                                               .entry = from_float,
                                               .min = 2,
                                               .max = 2,
                                               .binding = DVX_CLASS_METHOD};
static const dvx_function method_abs = {
    .size = sizeof(dvx_function), .name = "__abs__", .entry = absolute, .min = 1, .max = 1};
static const dvx_function method_float = {
    .size = sizeof(dvx_function), .name = "__float__", .entry = to_float, .min = 1, .max = 1};

static dvx_value get_real(dvx_vm *vm, dvx_value self) { return vm->api->retain(vm, self); }
static dvx_value get_imag(dvx_vm *vm, dvx_value self) {
    static const number zero = {.c = 0};
    (void)self;
    return decimal_make(vm, &zero);
}
static const dvx_attribute real = {.size = sizeof real, .name = "real", .get = get_real};
static const dvx_attribute imag = {.size = sizeof imag, .name = "imag", .get = get_imag};
static const dvx_attribute *const attributes[] = {&real, &imag};

#define LISTED(name, ...) &method_##name,
static const dvx_function *const methods[] = {EACH_OPERATION(LISTED) EACH_IN_DL(LISTED) &
                                                  method_quantize,
                                              &method_to_integral_exact,
                                              &method_to_integral_value,
                                              &method_to_integral,
                                              &method_is_finite,
                                              &method_is_infinite,
                                              &method_is_nan,
                                              &method_is_qnan,
                                              &method_is_snan,
                                              &method_is_signed,
                                              &method_is_zero,
                                              &method_from_float,
                                              &method_abs,
                                              &method_int,
                                              &method_trunc,
                                              &method_power,
                                              &method_float};

const dvx_type decimal_type = {
    .size = sizeof(dvx_type),
    .name = "Decimal",
    .doc =
        "Construct a new Decimal object. 'value' can be an integer, string, tuple,\nor another "
        "Decimal object. If no value is given, return Decimal('0'). The\ncontext does not affect "
        "the conversion and is only passed to determine if\nthe InvalidOperation trap is "
        "active.\n",
    .payload = sizeof(number),
    .base = true,
    .traits = DVX_FILLED_BY_NEW,
    .initialise = fill,
    .parameters = &constructor,
    .release = drop,
    .repr = show,
    .str = to_str,
    .format = format,
    .hash = hash,
    .compare = compare,
    .binary = binary,
    .unary = unary,
    .binary_operators = DVX_BIT(DVX_ADD) | DVX_BIT(DVX_SUB) | DVX_BIT(DVX_MUL) |
                        DVX_BIT(DVX_TRUEDIV) | DVX_BIT(DVX_FLOORDIV) | DVX_BIT(DVX_MOD) |
                        DVX_BIT(DVX_POW) | DVX_BIT(DVX_DIVMOD),
    .unary_operators = DVX_BIT(DVX_NEG) | DVX_BIT(DVX_POS),
    .truth = truth,
    .method_count = LENGTH_OF(methods),
    .methods = methods,
    .attribute_count = LENGTH_OF(attributes),
    .attributes = attributes,
};
