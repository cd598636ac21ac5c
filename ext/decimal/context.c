/* context.c: the class Context: precision, rounding, limits and conditions, and the operations as
 * methods.
 *
 * Invariants
 *  1. A context is always valid: what is set is checked first. */
#include "decimal.h"

#include <stdio.h>

static context *self_of(dvx_vm *vm, dvx_value self) {
    return vm->api->payload(vm, self, &context_type);
}

/* ---- Attributes ---- */

static bool set_within(dvx_vm *vm, dvx_value v, int64_t least, int64_t most, int64_t *out,
                       const char *range) {
    int64_t i;
    if (dvx_failed(v)) {
        vm->api->raise(vm, DVX_ATTRIBUTE_ERROR, "context attributes cannot be deleted");
        return false;
    }
    dvx_kind kind = vm->api->kind(vm, v);
    if (!vm->api->read_int(vm, v, &i)) {
        vm->api->clear_error(vm);
        if (kind == DVX_INT)
            vm->api->raise(vm, DVX_OVERFLOW_ERROR, "Python int too large to convert to C ssize_t");
        else
            vm->api->raise(vm, DVX_TYPE_ERROR, "an integer is required");
        return false;
    }
    if (i < least || i > most) {
        vm->api->raise(vm, DVX_VALUE_ERROR, range);
        return false;
    }
    *out = i;
    return true;
}

#define FIELD(id, called, member, least, most, range)                             \
    static dvx_value get_##id(dvx_vm *vm, dvx_value self) {                       \
        return vm->api->make_int(vm, self_of(vm, self)->member);                  \
    }                                                                             \
    static bool set_##id(dvx_vm *vm, dvx_value self, dvx_value v) {               \
        return set_within(vm, v, least, most, &self_of(vm, self)->member, range); \
    }                                                                             \
    static const dvx_attribute attribute_##id = {                                 \
        .size = sizeof(dvx_attribute), .name = called, .get = get_##id, .set = set_##id};
FIELD(prec, "prec", precision, 1, MOST_EXPONENT, "valid range for prec is [1, MAX_PREC]")
FIELD(emin, "Emin", emin, -MOST_EXPONENT, 0, "valid range for Emin is [MIN_EMIN, 0]")
FIELD(emax, "Emax", emax, 0, MOST_EXPONENT, "valid range for Emax is [0, MAX_EMAX]")
FIELD(capitals, "capitals", capitals, 0, 1, "valid values for capitals are 0 or 1")
FIELD(clamp, "clamp", clamp, 0, 1, "valid values for clamp are 0 or 1")

static dvx_value get_rounding(dvx_vm *vm, dvx_value self) {
    return decimal_call(vm, "context_rounding", &self, 1);
}
static bool set_rounding(dvx_vm *vm, dvx_value self, dvx_value v) {
    int64_t rounding;
    if (dvx_failed(v)) {
        vm->api->raise(vm, DVX_ATTRIBUTE_ERROR, "context attributes cannot be deleted");
        return false;
    }
    if (!decimal_read_rounding(vm, v, &rounding)) return false;
    if (rounding == ROUNDING_OF_CONTEXT) { /* None: as any other wrong type */
        dvx_value wrong = vm->api->make_int(vm, 0);
        decimal_read_rounding(vm, wrong, &rounding);
        return false;
    }
    self_of(vm, self)->rounding = rounding;
    return true;
}
static const dvx_attribute attribute_rounding = {
    .size = sizeof(dvx_attribute), .name = "rounding", .get = get_rounding, .set = set_rounding};

/* Flags and traps are objects of dl, made when somebody asks for them. */
#define SIGNALS(which)                                                                       \
    static dvx_value get_##which(dvx_vm *vm, dvx_value self) {                               \
        return decimal_call(vm, "context_" #which, &self, 1);                                \
    }                                                                                        \
    static bool set_##which(dvx_vm *vm, dvx_value self, dvx_value v) {                       \
        dvx_value args[] = {self, v};                                                        \
        if (dvx_failed(v)) {                                                                 \
            vm->api->raise(vm, DVX_ATTRIBUTE_ERROR, "context attributes cannot be deleted"); \
            return false;                                                                    \
        }                                                                                    \
        dvx_value result = decimal_call(vm, "context_set_" #which, args, 2);                 \
        vm->api->release(vm, result);                                                        \
        return !dvx_failed(result);                                                          \
    }                                                                                        \
    static const dvx_attribute attribute_##which = {                                         \
        .size = sizeof(dvx_attribute), .name = #which, .get = get_##which, .set = set_##which};
SIGNALS(flags)
SIGNALS(traps)

static const dvx_attribute *const attributes[] = {
    &attribute_prec,     &attribute_rounding, &attribute_emin,  &attribute_emax,
    &attribute_capitals, &attribute_clamp,    &attribute_flags, &attribute_traps};

/* ---- Making ---- */

PARAMETERS(constructor, 0, 8, "prec", "rounding", "Emin", "Emax", "capitals", "clamp", "flags",
           "traps");

/* A context that cannot be used would be one too many: the payload is right before dl sees it. */
static bool fill(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    dvx_value all[9];
    *self_of(vm, self) = (context){.precision = 28,
                                   .emin = -999999,
                                   .emax = 999999,
                                   .rounding = ROUND_HALF_EVEN,
                                   .capitals = 1};
    all[0] = self;
    for (uint32_t i = 0; i < count && i < 8; i++) all[1 + i] = args[i];
    /* decimal_call takes eight: flags and traps go as one. */
    dvx_value pair[2], none = vm->api->make_none(vm);
    for (uint32_t i = 0; i < 2; i++) pair[i] = dvx_failed(args[6 + i]) ? none : args[6 + i];
    all[7] = vm->api->make_tuple(vm, pair, 2);
    dvx_value result = dvx_failed(all[7]) ? DVX_FAILED : decimal_call(vm, "context_new", all, 8);
    vm->api->release(vm, all[7]);
    vm->api->release(vm, none);
    vm->api->release(vm, result);
    return !dvx_failed(result);
}

static dvx_value show(dvx_vm *vm, dvx_value self) {
    return decimal_call(vm, "context_repr", &self, 1);
}

/* ---- Methods ---- */

PARAMETERS(arguments_2, 2, 0, "a", "b");
PARAMETERS(arguments_3, 3, 0, "a", "b", "c");
PARAMETERS(power_arguments, 2, 1, "a", "b", "modulo");

/* Of one operand: by position alone. */
#define arguments_one   NULL
#define arguments_two   &arguments_2
#define arguments_three &arguments_3
#define arguments_power &power_arguments

#define OPERATION(called, operands, given)                                                         \
    static dvx_value op_##called(dvx_vm *vm, const dvx_value *args, uint32_t count) {              \
        (void)count;                                                                               \
        return decimal_perform(vm, OP_##called, args[0], ROUNDING_OF_CONTEXT, args + 1, operands); \
    }                                                                                              \
    static const dvx_function method_##called = {.size = sizeof(dvx_function),                     \
                                                 .name = #called,                                  \
                                                 .entry = op_##called,                             \
                                                 .min = 1 + (operands),                            \
                                                 .max = 1 + (operands),                            \
                                                 .parameters = arguments_##given};
#include "operations.inc"
#undef OPERATION

#define DL_METHOD(called, inputs, given)                                              \
    static dvx_value dl_##called(dvx_vm *vm, const dvx_value *args, uint32_t count) { \
        return decimal_call(vm, "context_" #called, args, count);                     \
    }                                                                                 \
    static const dvx_function dl_method_##called = {.size = sizeof(dvx_function),     \
                                                    .name = #called,                  \
                                                    .entry = dl_##called,             \
                                                    .min = 1 + (inputs),              \
                                                    .max = 1 + (inputs),              \
                                                    .parameters = given};
/* clang-format off */
#define EACH_IN_DL(X) \
    X(clear_flags, 0, NULL) \
    X(clear_traps, 0, NULL) \
    X(copy, 0, NULL) \
    X(__copy__, 0, NULL) \
    X(__reduce__, 0, NULL) \
    X(Etiny, 0, NULL) \
    X(Etop, 0, NULL) \
    X(radix, 0, NULL) \
    X(create_decimal_from_float, 1, NULL) \
    X(canonical, 1, NULL) \
    X(copy_decimal, 1, NULL) \
    X(copy_abs, 1, NULL) \
    X(copy_negate, 1, NULL) \
    X(copy_sign, 2, &arguments_2) \
    X(is_canonical, 1, NULL) \
    X(is_finite, 1, NULL) \
    X(is_infinite, 1, NULL) \
    X(is_nan, 1, NULL) \
    X(is_normal, 1, NULL) \
    X(is_qnan, 1, NULL) \
    X(is_signed, 1, NULL) \
    X(is_snan, 1, NULL) \
    X(is_subnormal, 1, NULL) \
    X(is_zero, 1, NULL) \
    X(number_class, 1, NULL) \
    X(same_quantum, 2, &arguments_2) \
    X(_apply, 1, NULL) \
    X(to_sci_string, 1, NULL) \
    X(to_eng_string, 1, NULL) \
    X(to_integral, 1, NULL)
/* clang-format on */
EACH_IN_DL(DL_METHOD)

static dvx_value create_decimal(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    dvx_value given[] = {args[0], count > 1 && !dvx_failed(args[1]) ? vm->api->retain(vm, args[1])
                                                                    : vm->api->make_int(vm, 0)};
    dvx_value result = decimal_call(vm, "context_create_decimal", given, 2);
    vm->api->release(vm, given[1]);
    return result;
}
static const dvx_function method_create_decimal = {.size = sizeof(dvx_function),
                                                   .name = "create_decimal",
                                                   .entry = create_decimal,
                                                   .min = 1,
                                                   .max = 2};

#define LISTED(called, ...)                &dl_method_##called,
#define OPERATION(called, operands, given) &method_##called,
static const dvx_function *const methods[] = {&method_create_decimal, EACH_IN_DL(LISTED)
#include "operations.inc"
#undef OPERATION
};

const dvx_type context_type = {
    .size = sizeof(dvx_type),
    .name = "Context",
    .doc = "The context affects almost all operations and controls rounding,\nOver/Underflow, "
           "raising of exceptions and much more.\n",
    .payload = sizeof(context),
    .base = true,
    .initialise = fill,
    .parameters = &constructor,
    .repr = show,
    .method_count = LENGTH_OF(methods),
    .methods = methods,
    .attribute_count = LENGTH_OF(attributes),
    .attributes = attributes,
};
