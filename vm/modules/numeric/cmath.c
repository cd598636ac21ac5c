/* cmath.c: the module cmath.
 *
 * Invariants
 *  1. The same operations on doubles in the same order as CPython's, so that last digits and the
 *     signs of zeros are the same.
 *  2. A function fills *out always; its status says whether that counts. */
#include <float.h>
#include <math.h>

#include "core/upcall.h"
#include "modules/numeric/cmath_parts.h"
#include "modules/modules.h"
#include "types/callable/arguments.h"
#include "types/number/complex.h"
#include "types/number/float.h"
#include "types/sequence/tuple.h"

typedef dv_complex_pair pair;
typedef dv_cmath_status status;

/* Above these the plain formulas overflow; below SQRT_SMALLEST they lose digits. */
#define LARGE         (DBL_MAX / 4.0)
#define SQRT_LARGE    6.703903964971298e+153  /* sqrt(LARGE) */
#define LOG_LARGE     708.3964185322641       /* log(LARGE) */
#define SQRT_SMALLEST 1.4916681462400413e-154 /* sqrt(DBL_MIN) */
#define SCALE_UP      53
#define SCALE_DOWN    (-27)

static bool is_finite(pair z) { return isfinite(z.re) && isfinite(z.im); }
static bool is_large(pair z) { return fabs(z.re) > LARGE || fabs(z.im) > LARGE; }

/* Infinite on the real axis only by its real part: the direction is z.im's. */
static bool is_far(pair z) { return isinf(z.re) && isfinite(z.im) && z.im != 0.0; }

static status range_status(pair z) {
    return isinf(z.re) || isinf(z.im) ? DV_CMATH_RANGE : DV_CMATH_FINE;
}

/* log|z| of a large z. */
static double log_of_large(pair z) { return log(hypot(z.re / 2.0, z.im / 2.0)) + M_LN2 * 2.0; }

/* log1p that keeps the sign of zero. */
static double log_1p(double x) { return x == 0.0 ? x : log1p(x); }

/* -i f(iz): the circular function of a hyperbolic one. */
static status turned(status (*function)(pair, pair *), pair z, pair *out) {
    pair s;
    status result = function((pair){-z.im, z.re}, &s);
    *out = (pair){s.im, -s.re};
    return result;
}

/* ---- Roots and logarithms ---------------------------------------------------------------------*/

static status c_sqrt(pair z, pair *out) {
    if (!is_finite(z)) return dv_cmath_special(DV_CMATH_SQRT, z, out);
    if (z.re == 0.0 && z.im == 0.0) {
        *out = (pair){0.0, z.im};
        return DV_CMATH_FINE;
    }
    double ax = fabs(z.re), ay = fabs(z.im), s;
    if (ax < DBL_MIN && ay < DBL_MIN) {
        ax = ldexp(ax, SCALE_UP);
        s = ldexp(sqrt(ax + hypot(ax, ldexp(ay, SCALE_UP))), SCALE_DOWN);
    } else {
        ax /= 8.0;
        s = 2.0 * sqrt(ax + hypot(ax, ay / 8.0));
    }
    double d = ay / (2.0 * s);
    *out = z.re >= 0.0 ? (pair){s, copysign(d, z.im)} : (pair){d, copysign(s, z.im)};
    return DV_CMATH_FINE;
}

static double log_of_length(double ax, double ay) {
    if (ax > LARGE || ay > LARGE) return log(hypot(ax / 2.0, ay / 2.0)) + M_LN2;
    if (ax < DBL_MIN && ay < DBL_MIN)
        return log(hypot(ldexp(ax, DBL_MANT_DIG), ldexp(ay, DBL_MANT_DIG))) - DBL_MANT_DIG * M_LN2;
    double h = hypot(ax, ay);
    if (!(0.71 <= h && h <= 1.73)) return log(h);
    double more = ax > ay ? ax : ay, less = ax > ay ? ay : ax;
    return log_1p((more - 1.0) * (more + 1.0) + less * less) / 2.0;
}

static status c_log(pair z, pair *out) {
    if (!is_finite(z)) return dv_cmath_special(DV_CMATH_LOG, z, out);
    double ax = fabs(z.re), ay = fabs(z.im);
    out->im = atan2(z.im, z.re);
    out->re = -INFINITY;
    if (ax == 0.0 && ay == 0.0) return DV_CMATH_DOMAIN;
    out->re = log_of_length(ax, ay);
    return DV_CMATH_FINE;
}

static status c_log10(pair z, pair *out) {
    status result = c_log(z, out);
    *out = (pair){out->re / M_LN10, out->im / M_LN10};
    return result;
}

/* ---- Hyperbolic and circular functions --------------------------------------------------------*/

static status c_exp(pair z, pair *out) {
    if (is_far(z)) {
        double size = z.re > 0.0 ? INFINITY : 0.0;
        *out = (pair){copysign(size, cos(z.im)), copysign(size, sin(z.im))};
        return DV_CMATH_FINE;
    }
    if (!is_finite(z)) return dv_cmath_special(DV_CMATH_EXP, z, out);
    if (z.re > LOG_LARGE) {
        double l = exp(z.re - 1.0);
        *out = (pair){l * cos(z.im) * M_E, l * sin(z.im) * M_E};
    } else {
        double l = exp(z.re);
        *out = (pair){l * cos(z.im), l * sin(z.im)};
    }
    return range_status(*out);
}

static status c_cosh(pair z, pair *out) {
    if (is_far(z)) {
        *out = (pair){copysign(INFINITY, cos(z.im)), copysign(INFINITY, sin(z.im))};
        if (z.re < 0.0) out->im = -out->im;
        return DV_CMATH_FINE;
    }
    if (!is_finite(z)) return dv_cmath_special(DV_CMATH_COSH, z, out);
    if (fabs(z.re) > LOG_LARGE) {
        double x = z.re - copysign(1.0, z.re);
        *out = (pair){cos(z.im) * cosh(x) * M_E, sin(z.im) * sinh(x) * M_E};
    } else {
        *out = (pair){cos(z.im) * cosh(z.re), sin(z.im) * sinh(z.re)};
    }
    return range_status(*out);
}

static status c_sinh(pair z, pair *out) {
    if (is_far(z)) {
        *out = (pair){copysign(INFINITY, cos(z.im)), copysign(INFINITY, sin(z.im))};
        if (z.re < 0.0) out->re = -out->re;
        return DV_CMATH_FINE;
    }
    if (!is_finite(z)) return dv_cmath_special(DV_CMATH_SINH, z, out);
    if (fabs(z.re) > LOG_LARGE) {
        double x = z.re - copysign(1.0, z.re);
        *out = (pair){cos(z.im) * sinh(x) * M_E, sin(z.im) * cosh(x) * M_E};
    } else {
        *out = (pair){cos(z.im) * sinh(z.re), sin(z.im) * cosh(z.re)};
    }
    return range_status(*out);
}

static status c_tanh(pair z, pair *out) {
    if (is_far(z)) {
        *out = (pair){copysign(1.0, z.re), copysign(0.0, 2.0 * sin(z.im) * cos(z.im))};
        return DV_CMATH_FINE;
    }
    if (!is_finite(z)) return dv_cmath_special(DV_CMATH_TANH, z, out);
    if (fabs(z.re) > LOG_LARGE) {
        out->re = copysign(1.0, z.re);
        out->im = 4.0 * sin(z.im) * cos(z.im) * exp(-2.0 * fabs(z.re));
        return DV_CMATH_FINE;
    }
    double tx = tanh(z.re), ty = tan(z.im), cx = 1.0 / cosh(z.re), both = tx * ty;
    double denominator = 1.0 + both * both;
    *out = (pair){tx * (1.0 + ty * ty) / denominator, ((ty / denominator) * cx) * cx};
    return DV_CMATH_FINE;
}

static status c_cos(pair z, pair *out) { return c_cosh((pair){-z.im, z.re}, out); }
static status c_sin(pair z, pair *out) { return turned(c_sinh, z, out); }
static status c_tan(pair z, pair *out) { return turned(c_tanh, z, out); }

/* ---- Their inverses ---------------------------------------------------------------------------*/

static pair root(double re, double im) {
    pair r;
    c_sqrt((pair){re, im}, &r);
    return r;
}

static status c_acos(pair z, pair *out) {
    if (!is_finite(z)) return dv_cmath_special(DV_CMATH_ACOS, z, out);
    if (is_large(z)) {
        double l = log_of_large(z);
        out->re = atan2(fabs(z.im), z.re);
        out->im = z.re < 0.0 ? -copysign(l, z.im) : copysign(l, -z.im);
        return DV_CMATH_FINE;
    }
    pair s1 = root(1.0 - z.re, -z.im), s2 = root(1.0 + z.re, z.im);
    *out = (pair){2.0 * atan2(s1.re, s2.re), asinh(s2.re * s1.im - s2.im * s1.re)};
    return DV_CMATH_FINE;
}

static status c_acosh(pair z, pair *out) {
    if (!is_finite(z)) return dv_cmath_special(DV_CMATH_ACOSH, z, out);
    if (is_large(z)) {
        *out = (pair){log_of_large(z), atan2(z.im, z.re)};
        return DV_CMATH_FINE;
    }
    pair s1 = root(z.re - 1.0, z.im), s2 = root(z.re + 1.0, z.im);
    *out = (pair){asinh(s1.re * s2.re + s1.im * s2.im), 2.0 * atan2(s1.im, s2.re)};
    return DV_CMATH_FINE;
}

static status c_asinh(pair z, pair *out) {
    if (!is_finite(z)) return dv_cmath_special(DV_CMATH_ASINH, z, out);
    if (is_large(z)) {
        double l = log_of_large(z);
        out->re = z.im >= 0.0 ? copysign(l, z.re) : -copysign(l, -z.re);
        out->im = atan2(z.im, fabs(z.re));
        return DV_CMATH_FINE;
    }
    pair s1 = root(1.0 + z.im, -z.re), s2 = root(1.0 - z.im, z.re);
    *out = (pair){asinh(s1.re * s2.im - s2.re * s1.im), atan2(z.im, s1.re * s2.re - s1.im * s2.im)};
    return DV_CMATH_FINE;
}

/* atanh of a finite z in the right half plane. */
static status right_atanh(pair z, pair *out) {
    double ay = fabs(z.im);
    if (z.re > SQRT_LARGE || ay > SQRT_LARGE) {
        double h = hypot(z.re / 2.0, z.im / 2.0);
        *out = (pair){z.re / 4.0 / h / h, -copysign(M_PI / 2.0, -z.im)};
        return DV_CMATH_FINE;
    }
    if (z.re == 1.0 && ay < SQRT_SMALLEST) {
        *out = (pair){INFINITY, z.im};
        if (ay == 0.0) return DV_CMATH_DOMAIN;
        *out = (pair){-log(sqrt(ay) / sqrt(hypot(ay, 2.0))), copysign(atan2(2.0, -ay) / 2.0, z.im)};
        return DV_CMATH_FINE;
    }
    double rest = 1.0 - z.re;
    *out = (pair){log_1p(4.0 * z.re / (rest * rest + ay * ay)) / 4.0,
                  -atan2(-2.0 * z.im, rest * (1.0 + z.re) - ay * ay) / 2.0};
    return DV_CMATH_FINE;
}

static status c_atanh(pair z, pair *out) {
    if (!is_finite(z)) return dv_cmath_special(DV_CMATH_ATANH, z, out);
    if (!signbit(z.re)) return right_atanh(z, out);
    status result = right_atanh((pair){-z.re, -z.im}, out);
    *out = (pair){-out->re, -out->im};
    return result;
}

static status c_asin(pair z, pair *out) { return turned(c_asinh, z, out); }
static status c_atan(pair z, pair *out) { return turned(c_atanh, z, out); }

static status c_rect(double r, double phi, pair *out) {
    pair z = {r, phi};
    if (is_far(z)) {
        *out = (pair){copysign(INFINITY, cos(phi)), copysign(INFINITY, sin(phi))};
        if (r < 0.0) *out = (pair){-out->re, -out->im};
    } else if (!is_finite(z)) {
        return dv_cmath_special(DV_CMATH_RECT, z, out);
    } else if (phi == 0.0) {
        *out = (pair){r, r * phi};
    } else {
        *out = (pair){r * cos(phi), r * sin(phi)};
    }
    return DV_CMATH_FINE;
}

/* ---- Functions of the module ------------------------------------------------------------------*/

static dv_value raise_status(dv_vm *vm, status s) {
    if (s == DV_CMATH_DOMAIN) return dv_raise(vm, DV_E_VALUE_ERROR, "math domain error");
    return dv_raise(vm, DV_E_OVERFLOW_ERROR, "math range error");
}

static dv_value finish(dv_vm *vm, status s, pair z) {
    return DV_LIKELY(s == DV_CMATH_FINE) ? dv_complex_new(vm, z.re, z.im) : raise_status(vm, s);
}

static dv_value unary(dv_vm *vm, dv_value v, status (*function)(pair, pair *)) {
    pair z, r;
    if (!dv_complex_take(vm, v, &z.re, &z.im)) return DV_EMPTY;
    status s = function(z, &r);
    return finish(vm, s, r);
}

#define UNARY_FUNCTIONS(X) \
    X(acos)                \
    X(acosh)               \
    X(asin)                \
    X(asinh)               \
    X(atan)                \
    X(atanh)               \
    X(cos)                 \
    X(cosh)                \
    X(exp)                 \
    X(log10)               \
    X(sin)                 \
    X(sinh)                \
    X(sqrt)                \
    X(tan)                 \
    X(tanh)

#define DEFINE_UNARY(name)                                                          \
    static dv_value name##_entry(dv_vm *vm, const dv_value *args, uint32_t count) { \
        (void)count;                                                                \
        return unary(vm, args[0], c_##name);                                        \
    }
UNARY_FUNCTIONS(DEFINE_UNARY)

/* The logarithm of 0 is an error alone, or as the base. */
static dv_value log_entry(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (count == 1) return unary(vm, args[0], c_log);
    pair z, base;
    if (!dv_complex_take(vm, args[0], &z.re, &z.im)) return DV_EMPTY;
    c_log(z, &z);
    if (!dv_complex_take(vm, args[1], &base.re, &base.im)) return DV_EMPTY;
    status s = c_log(base, &base);
    if (s != DV_CMATH_FINE || !dv_complex_divide(&z.re, &z.im, base.re, base.im))
        return raise_status(vm, DV_CMATH_DOMAIN);
    return dv_complex_new(vm, z.re, z.im);
}

/* A result that is too small for a double is an error, as the C library reports it to CPython. */
static dv_value phase_entry(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    pair z;
    if (!dv_complex_take(vm, args[0], &z.re, &z.im)) return DV_EMPTY;
    double phase = atan2(z.im, z.re);
    if (phase == 0.0 && z.im != 0.0 && isfinite(z.re)) return raise_status(vm, DV_CMATH_RANGE);
    return dv_float(phase);
}

static dv_value polar_entry(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    pair z;
    if (!dv_complex_take(vm, args[0], &z.re, &z.im)) return DV_EMPTY;
    double length = hypot(z.re, z.im);
    if (isinf(length) && is_finite(z)) return raise_status(vm, DV_CMATH_RANGE);
    dv_value items[2] = {dv_float(length), dv_float(atan2(z.im, z.re))};
    return dv_tuple_take(vm, items, 2);
}

static dv_value rect_entry(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    double r, phi;
    if (!dv_as_double(vm, args[0], &r) || !dv_as_double(vm, args[1], &phi)) return DV_EMPTY;
    pair z;
    status s = c_rect(r, phi, &z);
    return finish(vm, s, z);
}

static dv_value isfinite_entry(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    pair z;
    return dv_complex_take(vm, args[0], &z.re, &z.im) ? dv_bool(is_finite(z)) : DV_EMPTY;
}

static dv_value isinf_entry(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    pair z;
    if (!dv_complex_take(vm, args[0], &z.re, &z.im)) return DV_EMPTY;
    return dv_bool(isinf(z.re) || isinf(z.im));
}

static dv_value isnan_entry(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    pair z;
    if (!dv_complex_take(vm, args[0], &z.re, &z.im)) return DV_EMPTY;
    return dv_bool(isnan(z.re) || isnan(z.im));
}

static bool is_close(pair a, pair b, double relative, double absolute) {
    if (a.re == b.re && a.im == b.im) return true;
    if (isinf(a.re) || isinf(a.im) || isinf(b.re) || isinf(b.im)) return false;
    double difference = hypot(a.re - b.re, a.im - b.im);
    return difference <= relative * hypot(b.re, b.im) ||
           difference <= relative * hypot(a.re, a.im) || difference <= absolute;
}

static dv_value isclose_entry(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"a", "b", "rel_tol", "abs_tol"};
    static const dv_parameters parameters = {"isclose", names, 4, 2, 2};
    dv_value given[4];
    pair a, b;
    double tolerance[2] = {1e-09, 0.0};
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, given) ||
        !dv_complex_take(vm, given[0], &a.re, &a.im) ||
        !dv_complex_take(vm, given[1], &b.re, &b.im))
        return DV_EMPTY;
    for (int i = 0; i < 2; i++)
        if (!dv_is_empty(given[2 + i]) && !dv_as_double(vm, given[2 + i], &tolerance[i]))
            return DV_EMPTY;
    if (tolerance[0] < 0.0 || tolerance[1] < 0.0)
        return dv_raise(vm, DV_E_VALUE_ERROR, "tolerances must be non-negative");
    return dv_bool(is_close(a, b, tolerance[0], tolerance[1]));
}

#define ROW(name_) {.name = #name_, .entry = name_##_entry, .min = 1, .max = 1},

static const dv_cfunction_def functions[] = {
    UNARY_FUNCTIONS(ROW) ROW(phase) ROW(polar) ROW(isfinite) ROW(isinf)
        ROW(isnan){.name = "rect", .entry = rect_entry, .min = 2, .max = 2},
    {.name = "log", .entry = log_entry, .min = 1, .max = 2},
    {.name = "isclose", .keyword_entry = isclose_entry, .min = 0, .max = UINT32_MAX},
    {.name = NULL}};

bool dv_cmath_fill(dv_vm *vm, dv_module *module) {
    static const struct {
        const char *name;
        double value;
    } constants[] = {
        {"pi", M_PI}, {"e", M_E}, {"tau", 2.0 * M_PI}, {"inf", INFINITY}, {"nan", NAN}};
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (!dv_module_add(vm, module, constants[i].name, dv_float(constants[i].value)))
            return false;
    return dv_module_add(vm, module, "infj", dv_complex_new(vm, 0.0, INFINITY)) &&
           dv_module_add(vm, module, "nanj", dv_complex_new(vm, 0.0, NAN)) &&
           dv_module_add_functions(vm, module, functions);
}
