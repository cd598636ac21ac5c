/* math.c: the module math.
 *
 * Errors do not come from errno, which need not be set (-fno-math-errno), but from the result: NaN
 * from no NaN is a domain error, infinity from a finite number a range error (or a domain error,
 * where the function has a pole there).
 *
 * Invariant 1: a raw signature of a function gives the result of `entry` wherever its `defined`
 * says so. */
#include <limits.h>
#include <math.h>

#include "core/raw.h"
#include "core/upcall.h"
#include "modules/numeric/math_parts.h"
#include "types/callable/arguments.h"
#include "types/number/float.h"
#include "types/callable/function.h"
#include "types/number/int_arith.h"
#include "types/file/module.h"
#include "types/sequence/tuple.h"

static dv_value raise_domain(dv_vm *vm) {
    return dv_raise(vm, DV_E_VALUE_ERROR, "math domain error");
}

static dv_value raise_range(dv_vm *vm) {
    return dv_raise(vm, DV_E_OVERFLOW_ERROR, "math range error");
}

/* ---- Functions from a double to a double ------------------------------------------------------*/

/* No exception for this argument and result? */
static bool is_defined(double x, double r) {
    if (isfinite(r)) return true;
    return isnan(r) ? isnan(x) : !isfinite(x);
}

/* What infinity from a finite number means. */
typedef enum pole { POLE_DOMAIN, POLE_RANGE, POLE_NONE } pole;

static dv_value unary(dv_vm *vm, dv_value v, double (*function)(double), pole pole) {
    double x;
    if (!dv_as_double(vm, v, &x)) return DV_EMPTY;
    double r = function(x);
    if (DV_LIKELY(is_defined(x, r)) || pole == POLE_NONE) return dv_float(r);
    return isnan(r) || pole == POLE_DOMAIN ? raise_domain(vm) : raise_range(vm);
}

static double degrees_of(double x) { return x * (180.0 / M_PI); }
static double radians_of(double x) { return x * (M_PI / 180.0); }

static double ulp_of(double x) {
    if (isnan(x)) return x;
    x = fabs(x);
    if (isinf(x)) return x;
    double next = nextafter(x, INFINITY);
    return isinf(next) ? x - nextafter(x, -INFINITY) : next - x;
}

#define UNARY_FUNCTIONS(X)            \
    X(acos, acos, POLE_DOMAIN)        \
    X(acosh, acosh, POLE_DOMAIN)      \
    X(asin, asin, POLE_DOMAIN)        \
    X(asinh, asinh, POLE_DOMAIN)      \
    X(atan, atan, POLE_DOMAIN)        \
    X(atanh, atanh, POLE_DOMAIN)      \
    X(cbrt, cbrt, POLE_DOMAIN)        \
    X(cos, cos, POLE_DOMAIN)          \
    X(cosh, cosh, POLE_RANGE)         \
    X(degrees, degrees_of, POLE_NONE) \
    X(erf, erf, POLE_RANGE)           \
    X(erfc, erfc, POLE_RANGE)         \
    X(exp, exp, POLE_RANGE)           \
    X(exp2, exp2, POLE_RANGE)         \
    X(expm1, expm1, POLE_RANGE)       \
    X(fabs, fabs, POLE_DOMAIN)        \
    X(log1p, log1p, POLE_DOMAIN)      \
    X(radians, radians_of, POLE_NONE) \
    X(sin, sin, POLE_DOMAIN)          \
    X(sinh, sinh, POLE_RANGE)         \
    X(sqrt, sqrt, POLE_DOMAIN)        \
    X(tan, tan, POLE_DOMAIN)          \
    X(tanh, tanh, POLE_DOMAIN)        \
    X(ulp, ulp_of, POLE_NONE)

#define DEFINE_ENTRY(name, function, pole)                                          \
    static dv_value name##_entry(dv_vm *vm, const dv_value *args, uint32_t count) { \
        (void)count;                                                                \
        return unary(vm, args[0], function, pole);                                  \
    }
UNARY_FUNCTIONS(DEFINE_ENTRY)

static dv_value gamma_entry(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    double x;
    if (!dv_as_double(vm, args[0], &x)) return DV_EMPTY;
    return unary(vm, dv_float(x), dv_math_gamma, x == 0.0 ? POLE_DOMAIN : POLE_RANGE);
}

static dv_value lgamma_entry(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    double x;
    if (!dv_as_double(vm, args[0], &x)) return DV_EMPTY;
    return unary(vm, dv_float(x), dv_math_lgamma, x <= 0.0 ? POLE_DOMAIN : POLE_RANGE);
}

/* ---- Logarithms, of ints of any size ----------------------------------------------------------*/

static dv_value logarithm(dv_vm *vm, dv_value v, double (*function)(double)) {
    if (!dv_has_layout(v, DV_T_INT)) return unary(vm, v, function, POLE_DOMAIN);
    dv_int_view view;
    dv_int_look(v, &view);
    if (view.negative || view.count == 0) return raise_domain(vm);
    int64_t exponent;
    uint64_t mantissa = dv_int_leading(&view, &exponent);
    double x = dv_int_scale(mantissa, exponent);
    if (!isinf(x)) return dv_float(function(x));
    int shift = 64 - __builtin_clzll(mantissa);
    x = dv_int_scale(mantissa, -shift); /* in 0.5 .. 1 */
    return dv_float(function(x) + function(2.0) * (double)(exponent + shift));
}

static dv_value log_entry(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (count < 1 || count > 2)
        return dv_raise(vm, DV_E_TYPE_ERROR, "math.log requires 1 to 2 arguments");
    dv_value r = logarithm(vm, args[0], log);
    if (count == 1 || dv_is_empty(r)) return r;
    dv_value base = logarithm(vm, args[1], log);
    if (dv_is_empty(base)) return base;
    if (dv_as_float(base) == 0.0)
        return dv_raise(vm, DV_E_ZERO_DIVISION_ERROR, "float division by zero");
    return dv_float(dv_as_float(r) / dv_as_float(base));
}

static dv_value log2_entry(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return logarithm(vm, args[0], log2);
}

static dv_value log10_entry(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return logarithm(vm, args[0], log10);
}

/* ---- Functions of two doubles -----------------------------------------------------------------*/

static bool two_doubles(dv_vm *vm, const dv_value *args, double *x, double *y) {
    return dv_as_double(vm, args[0], x) && dv_as_double(vm, args[1], y);
}

/* NaN from no NaN is a domain error. */
static dv_value binary(dv_vm *vm, const dv_value *args, double (*function)(double, double)) {
    double x, y;
    if (!two_doubles(vm, args, &x, &y)) return DV_EMPTY;
    double r = function(x, y);
    return isnan(r) && !isnan(x) && !isnan(y) ? raise_domain(vm) : dv_float(r);
}

#define BINARY_FUNCTIONS(X) \
    X(atan2)                \
    X(copysign)             \
    X(fmod)                 \
    X(nextafter)            \
    X(remainder)

#define DEFINE_BINARY(name)                                                         \
    static dv_value name##_entry(dv_vm *vm, const dv_value *args, uint32_t count) { \
        (void)count;                                                                \
        return binary(vm, args, name);                                              \
    }
BINARY_FUNCTIONS(DEFINE_BINARY)

static dv_value pow_entry(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    double x, y;
    if (!two_doubles(vm, args, &x, &y)) return DV_EMPTY;
    double r = pow(x, y);
    if (isfinite(r) || !isfinite(x) || !isfinite(y)) return dv_float(r);
    return isnan(r) || x == 0.0 ? raise_domain(vm) : raise_range(vm);
}

static dv_value ldexp_entry(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    double x;
    int64_t exponent;
    if (!dv_as_double(vm, args[0], &x)) return DV_EMPTY;
    if (!dv_is_integral(args[1]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "Expected an int as second argument to ldexp.");
    if (!dv_int_to_int64(args[1], &exponent))
        exponent = dv_int_sign(args[1]) < 0 ? INT64_MIN : INT64_MAX;
    if (x == 0.0 || !isfinite(x)) return dv_float(x);
    int limited = exponent > INT_MAX ? INT_MAX : exponent < INT_MIN ? INT_MIN : (int)exponent;
    double r = ldexp(x, limited);
    return isinf(r) ? raise_range(vm) : dv_float(r);
}

static dv_value isclose(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"a", "b", "rel_tol", "abs_tol"};
    static const dv_parameters parameters = {"isclose", names, 4, 2, 2};
    dv_value given[4];
    double value[4] = {0.0, 0.0, 1e-09, 0.0};
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, given)) return DV_EMPTY;
    for (int i = 0; i < 4; i++)
        if (!dv_is_empty(given[i]) && !dv_as_double(vm, given[i], &value[i])) return DV_EMPTY;
    double a = value[0], b = value[1], relative = value[2], absolute = value[3];
    if (relative < 0.0 || absolute < 0.0)
        return dv_raise(vm, DV_E_VALUE_ERROR, "tolerances must be non-negative");
    if (a == b) return DV_TRUE;
    if (isinf(a) || isinf(b)) return DV_FALSE;
    double difference = fabs(b - a);
    return dv_bool(difference <= fabs(relative * b) || difference <= fabs(relative * a) ||
                   difference <= absolute);
}

/* ---- Classification and parts -----------------------------------------------------------------*/

static dv_value isnan_entry(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    double x;
    return dv_as_double(vm, args[0], &x) ? dv_bool(isnan(x)) : DV_EMPTY;
}

static dv_value isinf_entry(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    double x;
    return dv_as_double(vm, args[0], &x) ? dv_bool(isinf(x)) : DV_EMPTY;
}

static dv_value isfinite_entry(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    double x;
    return dv_as_double(vm, args[0], &x) ? dv_bool(isfinite(x)) : DV_EMPTY;
}

static dv_value modf_entry(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    double x, whole;
    if (!dv_as_double(vm, args[0], &x)) return DV_EMPTY;
    double fraction = modf(x, &whole);
    dv_value items[2] = {dv_float(fraction), dv_float(whole)};
    return dv_tuple_take(vm, items, 2);
}

static dv_value frexp_entry(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    double x;
    int exponent = 0;
    if (!dv_as_double(vm, args[0], &x)) return DV_EMPTY;
    if (isfinite(x) && x != 0.0) x = frexp(x, &exponent);
    dv_value items[2] = {dv_float(x), dv_int(exponent)};
    return dv_tuple_take(vm, items, 2);
}

/* ---- Rounding to ints -------------------------------------------------------------------------*/

static dv_value round_with(dv_vm *vm, dv_value v, dv_value special, double (*function)(double)) {
    double x;
    if (DV_LIKELY(dv_is_float(v))) return dv_int_from_double(vm, function(dv_as_float(v)));
    if (dv_is_integral(v)) return dv_int_index(vm, v);
    bool found;
    dv_value r = dv_number_special(vm, v, special, &found);
    if (found) return r;
    return dv_as_double(vm, v, &x) ? dv_int_from_double(vm, function(x)) : DV_EMPTY;
}

static dv_value floor_entry(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return round_with(vm, args[0], vm->known.floor, floor);
}

static dv_value ceil_entry(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return round_with(vm, args[0], vm->known.ceil, ceil);
}

static dv_value trunc_entry(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (dv_is_float(args[0])) return dv_int_from_double(vm, dv_as_float(args[0]));
    if (dv_is_integral(args[0])) return dv_int_index(vm, args[0]);
    bool found;
    dv_value r = dv_number_special(vm, args[0], vm->known.trunc, &found);
    if (found) return r;
    return dv_raise(vm, DV_E_TYPE_ERROR, "type %T doesn't define __trunc__ method", args[0]);
}

/* ---- For regions (core/raw.h) -----------------------------------------------------------------*/

static bool unary_defined(const dv_raw_value *arguments, dv_raw_value result) {
    return is_defined(arguments[0].d, result.d);
}
static bool binary_defined(const dv_raw_value *arguments, dv_raw_value result) {
    return !isnan(result.d) || isnan(arguments[0].d) || isnan(arguments[1].d);
}
static bool pow_defined(const dv_raw_value *arguments, dv_raw_value result) {
    return isfinite(result.d) || !isfinite(arguments[0].d) || !isfinite(arguments[1].d);
}
static bool is_no_minimum(const dv_raw_value *arguments, dv_raw_value result) {
    (void)arguments;
    return result.i != INT64_MIN;
}

/* A whole number; INT64_MIN where it is none or may need more than 64 bits. */
static int64_t whole(double x) { return fabs(x) <= 0x1p62 ? (int64_t)x : INT64_MIN; }
static int64_t same_int64(int64_t x) { return x; }
static int64_t floor_raw(double x) { return whole(floor(x)); }
static int64_t ceil_raw(double x) { return whole(ceil(x)); }
static int64_t trunc_raw(double x) { return whole(trunc(x)); }
static bool isnan_raw(double x) { return isnan(x); }
static bool isinf_raw(double x) { return isinf(x); }
static bool isfinite_raw(double x) { return isfinite(x); }

/* ---- The module -------------------------------------------------------------------------------*/

#define RAW(signature, function, defined) \
    ((const dv_raw[]){{signature, (dv_raw_entry)(function), true, defined, NULL}, {0}})
#define UNARY_ROW(name_, function, pole) \
    {.name = #name_,                     \
     .entry = name_##_entry,             \
     .min = 1,                           \
     .max = 1,                           \
     .raw = RAW("d(d)", (double (*)(double))function, unary_defined)},
#define BINARY_ROW(name_)    \
    {.name = #name_,         \
     .entry = name_##_entry, \
     .min = 2,               \
     .max = 2,               \
     .raw = RAW("d(dd)", (double (*)(double, double))name_, binary_defined)},
#define PLAIN_ROW(name_) {.name = #name_, .entry = name_##_entry, .min = 1, .max = 1},
/* What makes whole numbers takes ints as they are: not all of them are doubles. */
#define WHOLE_ROW(name_)                                                                     \
    {.name = #name_,                                                                         \
     .entry = name_##_entry,                                                                 \
     .min = 1,                                                                               \
     .max = 1,                                                                               \
     .raw = (const dv_raw[]){{"q(q)", (dv_raw_entry)same_int64, true, NULL, NULL},           \
                             {"q(d)", (dv_raw_entry)name_##_raw, true, is_no_minimum, NULL}, \
                             {0}}},
#define TYPED_ROW(name_, signature, defined) \
    {.name = #name_,                         \
     .entry = name_##_entry,                 \
     .min = 1,                               \
     .max = 1,                               \
     .raw = RAW(signature, name_##_raw, defined)},

static const dv_cfunction_def functions[] = {
    UNARY_FUNCTIONS(UNARY_ROW) UNARY_ROW(gamma, dv_math_gamma, ) UNARY_ROW(lgamma, dv_math_lgamma, )
        UNARY_ROW(log2, log2, ) UNARY_ROW(log10, log10, ) BINARY_FUNCTIONS(BINARY_ROW)
            WHOLE_ROW(ceil) WHOLE_ROW(floor) WHOLE_ROW(trunc) TYPED_ROW(isfinite, "b(d)", NULL)
                TYPED_ROW(isinf, "b(d)", NULL) TYPED_ROW(isnan, "b(d)", NULL) PLAIN_ROW(frexp)
                    PLAIN_ROW(modf){
                        .name = "isclose", .keyword_entry = isclose, .min = 0, .max = UINT32_MAX},
    {.name = "ldexp", .entry = ldexp_entry, .min = 2, .max = 2},
    {.name = "pow",
     .entry = pow_entry,
     .min = 2,
     .max = 2,
     .raw = RAW("d(dd)", (double (*)(double, double))pow, pow_defined)},
    {.name = "log",
     .entry = log_entry,
     .min = 0,
     .max = UINT32_MAX,
     .raw = RAW("d(d)", (double (*)(double))log, unary_defined)},
    {.name = NULL},
};

static bool set_functions(dv_vm *vm, dv_module *module, const dv_cfunction_def *defs) {
    for (; defs->name; defs++) {
        dv_value f = dv_cfunction_new(vm, defs, DV_EMPTY, dv_object_value(module));
        if (dv_is_empty(f) || !dv_namespace_set(vm, &module->names, defs->name, f)) return false;
    }
    return true;
}

bool dv_math_fill(dv_vm *vm, dv_module *module) {
    static const struct {
        const char *name;
        double value;
    } constants[] = {
        {"pi", M_PI}, {"e", M_E}, {"tau", 2.0 * M_PI}, {"inf", INFINITY}, {"nan", NAN}};
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (!dv_namespace_set(vm, &module->names, constants[i].name, dv_float(constants[i].value)))
            return false;
    return set_functions(vm, module, functions) &&
           set_functions(vm, module, dv_math_integer_functions) &&
           set_functions(vm, module, dv_math_sum_functions);
}
