/* random_distributions.c: numbers that are distributed in other ways than evenly (random.h).
 *
 * Invariant 1: the same operations on doubles in the same order as in CPython's random.py, so that
 * the results are the same to the last bit. */
#include <math.h>

#include "core/upcall.h"
#include "modules/numeric/random.h"
#include "types/number/float.h"

/* Written out, because the compiler's exp and log need not round like the library's. */
#define NV_MAGIC 1.7155277699214135 /* 4 * exp(-0.5) / sqrt(2) */
#define LOG_4    1.3862943611198906
#define SG_MAGIC 2.504077396776274 /* 1 + log(4.5) */
#define TWO_PI   6.283185307179586

static double next(dv_random *r) { return dv_twister_double(&r->twister); }

static bool doubles(dv_vm *vm, const dv_value *given, uint32_t count, double *out) {
    for (uint32_t i = 0; i < count; i++)
        if (!dv_is_empty(given[i]) && !dv_as_double(vm, given[i], &out[i])) return false;
    return true;
}

static bool is_plain(dv_value v) { return dv_is_float(v) || dv_is_int(v); }

static double plain(dv_value v) { return dv_is_int(v) ? (double)dv_as_int(v) : dv_as_float(v); }

static dv_value raise_zero(dv_vm *vm) {
    return dv_raise(vm, DV_E_ZERO_DIVISION_ERROR, "float division by zero");
}

dv_value dv_random_uniform(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    DV_RANDOM_BIND("uniform", 3, 3, "a", "b");
    dv_random *r = dv_as_random(given[0]);
    dv_value a = given[1], b = given[2];
    if (DV_LIKELY(is_plain(a) && is_plain(b)))
        return dv_float(plain(a) + (plain(b) - plain(a)) * next(r));
    dv_value width = dv_binary(vm, DV_BINARY_SUB, b, a);
    if (dv_is_empty(width)) return DV_EMPTY;
    dv_value part = dv_binary(vm, DV_BINARY_MUL, width, dv_float(next(r)));
    dv_release(vm, width);
    if (dv_is_empty(part)) return DV_EMPTY;
    dv_value result = dv_binary(vm, DV_BINARY_ADD, a, part);
    dv_release(vm, part);
    return result;
}

dv_value dv_random_triangular(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    DV_RANDOM_BIND("triangular", 1, 4, "low", "high", "mode");
    double x[3] = {0.0, 1.0, 0.0}, c = 0.5;
    bool has_mode = !dv_is_empty(given[3]) && !dv_is_none(given[3]);
    if (!doubles(vm, given + 1, has_mode ? 3 : 2, x)) return DV_EMPTY;
    double low = x[0], high = x[1], u = next(dv_as_random(given[0]));
    if (has_mode) {
        if (high - low == 0.0) return dv_is_empty(given[1]) ? dv_float(low) : dv_retain(given[1]);
        c = (x[2] - low) / (high - low);
    }
    if (u > c) {
        u = 1.0 - u;
        c = 1.0 - c;
        low = x[1];
        high = x[0];
    }
    if (u * c < 0.0) return dv_raise(vm, DV_E_VALUE_ERROR, "math domain error");
    return dv_float(low + (high - low) * sqrt(u * c));
}

static double normal(dv_random *r, double mu, double sigma) {
    for (;;) {
        double u1 = next(r), u2 = 1.0 - next(r);
        double z = NV_MAGIC * (u1 - 0.5) / u2;
        if (z * z / 4.0 <= -log(u2)) return mu + z * sigma;
    }
}

dv_value dv_random_normalvariate(dv_vm *vm, const dv_value *args, uint32_t count,
                                 dv_value keywords) {
    DV_RANDOM_BIND("normalvariate", 1, 3, "mu", "sigma");
    double x[2] = {0.0, 1.0};
    if (!doubles(vm, given + 1, 2, x)) return DV_EMPTY;
    return dv_float(normal(dv_as_random(given[0]), x[0], x[1]));
}

dv_value dv_random_gauss(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    DV_RANDOM_BIND("gauss", 1, 3, "mu", "sigma");
    dv_random *r = dv_as_random(given[0]);
    double x[2] = {0.0, 1.0}, z = r->gauss_next;
    if (!doubles(vm, given + 1, 2, x)) return DV_EMPTY;
    bool had = r->has_gauss;
    r->has_gauss = !had;
    if (!had) {
        double angle = next(r) * TWO_PI;
        double radius = sqrt(-2.0 * log(1.0 - next(r)));
        z = cos(angle) * radius;
        r->gauss_next = sin(angle) * radius;
    }
    return dv_float(x[0] + z * x[1]);
}

dv_value dv_random_lognormvariate(dv_vm *vm, const dv_value *args, uint32_t count,
                                  dv_value keywords) {
    DV_RANDOM_BIND("lognormvariate", 3, 3, "mu", "sigma");
    double x[2];
    if (!doubles(vm, given + 1, 2, x)) return DV_EMPTY;
    double exponent = normal(dv_as_random(given[0]), x[0], x[1]), result = exp(exponent);
    if (isinf(result) && isfinite(exponent))
        return dv_raise(vm, DV_E_OVERFLOW_ERROR, "math range error");
    return dv_float(result);
}

dv_value dv_random_expovariate(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    DV_RANDOM_BIND("expovariate", 2, 2, "lambd");
    double lambda;
    if (!doubles(vm, given + 1, 1, &lambda)) return DV_EMPTY;
    double exponent = -log(1.0 - next(dv_as_random(given[0])));
    return lambda == 0.0 ? raise_zero(vm) : dv_float(exponent / lambda);
}

dv_value dv_random_vonmisesvariate(dv_vm *vm, const dv_value *args, uint32_t count,
                                   dv_value keywords) {
    DV_RANDOM_BIND("vonmisesvariate", 3, 3, "mu", "kappa");
    dv_random *random = dv_as_random(given[0]);
    double x[2], z, d, u;
    if (!doubles(vm, given + 1, 2, x)) return DV_EMPTY;
    if (x[1] <= 1e-6) return dv_float(TWO_PI * next(random));
    double s = 0.5 / x[1], r = s + sqrt(1.0 + s * s);
    do {
        z = cos(M_PI * next(random));
        d = z / (r + z);
        u = next(random);
    } while (!(u < 1.0 - d * d || u <= (1.0 - d) * exp(d)));
    double q = 1.0 / r, f = (q + z) / (1.0 + q * z);
    double angle = next(random) > 0.5 ? x[0] + acos(f) : x[0] - acos(f);
    return dv_float(dv_float_mod(angle, TWO_PI));
}

/* alpha > 1: R. Cheng's rejection method. */
static double gamma_large(dv_random *r, double alpha, double beta) {
    double inverse = sqrt(2.0 * alpha - 1.0), b = alpha - LOG_4, c = alpha + inverse;
    for (;;) {
        double u1 = next(r);
        if (!(1e-7 < u1 && u1 < 0.9999999)) continue;
        double u2 = 1.0 - next(r);
        double v = log(u1 / (1.0 - u1)) / inverse;
        double x = alpha * exp(v), z = u1 * u1 * u2, t = b + c * v - x;
        if (t + SG_MAGIC - 4.5 * z >= 0.0 || t >= log(z)) return x * beta;
    }
}

/* alpha < 1: algorithm GS of Ahrens and Dieter. */
static double gamma_small(dv_random *r, double alpha, double beta) {
    for (;;) {
        double u = next(r), b = (M_E + alpha) / M_E, p = b * u;
        double x = p <= 1.0 ? pow(p, 1.0 / alpha) : -log((b - p) / alpha);
        double u1 = next(r);
        if (p > 1.0 ? u1 <= pow(x, alpha - 1.0) : u1 <= exp(-x)) return x * beta;
    }
}

/* False: raised. */
static bool gamma_variate(dv_vm *vm, dv_random *r, double alpha, double beta, double *out) {
    if (alpha <= 0.0 || beta <= 0.0) {
        dv_raise(vm, DV_E_VALUE_ERROR, "gammavariate: alpha and beta must be > 0.0");
        return false;
    }
    if (alpha > 1.0)
        *out = gamma_large(r, alpha, beta);
    else if (alpha == 1.0)
        *out = -log(1.0 - next(r)) * beta;
    else
        *out = gamma_small(r, alpha, beta);
    return true;
}

dv_value dv_random_gammavariate(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    DV_RANDOM_BIND("gammavariate", 3, 3, "alpha", "beta");
    double x[2], result;
    if (!doubles(vm, given + 1, 2, x)) return DV_EMPTY;
    if (!gamma_variate(vm, dv_as_random(given[0]), x[0], x[1], &result)) return DV_EMPTY;
    return dv_float(result);
}

dv_value dv_random_betavariate(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    DV_RANDOM_BIND("betavariate", 3, 3, "alpha", "beta");
    double x[2], y, z;
    dv_random *r = dv_as_random(given[0]);
    if (!doubles(vm, given + 1, 2, x) || !gamma_variate(vm, r, x[0], 1.0, &y)) return DV_EMPTY;
    if (y == 0.0) return dv_float(0.0);
    return gamma_variate(vm, r, x[1], 1.0, &z) ? dv_float(y / (y + z)) : DV_EMPTY;
}

dv_value dv_random_paretovariate(dv_vm *vm, const dv_value *args, uint32_t count,
                                 dv_value keywords) {
    DV_RANDOM_BIND("paretovariate", 2, 2, "alpha");
    double alpha;
    if (!doubles(vm, given + 1, 1, &alpha)) return DV_EMPTY;
    double u = 1.0 - next(dv_as_random(given[0]));
    return alpha == 0.0 ? raise_zero(vm) : dv_float_pow(vm, u, -1.0 / alpha);
}

dv_value dv_random_weibullvariate(dv_vm *vm, const dv_value *args, uint32_t count,
                                  dv_value keywords) {
    DV_RANDOM_BIND("weibullvariate", 3, 3, "alpha", "beta");
    double x[2];
    if (!doubles(vm, given + 1, 2, x)) return DV_EMPTY;
    double u = 1.0 - next(dv_as_random(given[0]));
    if (x[1] == 0.0) return raise_zero(vm);
    dv_value power = dv_float_pow(vm, -log(u), 1.0 / x[1]);
    return dv_is_empty(power) ? power : dv_float(x[0] * dv_as_float(power));
}
