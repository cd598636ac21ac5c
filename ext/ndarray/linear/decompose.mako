/* Generated from ext/ndarray/linear/decompose.mako: decompositions of matrices of float64 and complex128
 * without a library (decompose.h). */
#include "linear/decompose.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* The product, without what C says of infinities, which takes a call. */
#define TIMES_float64(x, y)    ((x) * (y))
#define TIMES_complex128(x, y) times(x, y)
static inline double complex times(double complex x, double complex y) {
    double parts[2] = {creal(x) * creal(y) - cimag(x) * cimag(y), creal(x) * cimag(y) + cimag(x) * creal(y)};
    double complex product;
    memcpy(&product, parts, sizeof product);
    return product;
}
% for name, T, real, conj, size, size_name in (("float64", "double", "", "", "fabs", "fabs"), ("complex128", "double complex", "creal", "conj", "cabs", "size_of")):

/* ---- ${name} ---- */

% if name == "complex128":
/* LAPACK's measure of a pivot. */
static inline double size_of(double complex x) { return fabs(creal(x)) + fabs(cimag(x)); }

% endif
#define TIMES TIMES_${name}

static int lu_${name}(dvx_vm *vm, int n, void *data, int *pivots) {
    ${T} *a = data;
    const size_t size = (size_t)n;
    int singular = 0;
    for (size_t k = 0; k < size; k++) {
        ${T} *column = a + k * size;
        size_t best = k;
        for (size_t i = k + 1; i < size; i++)
            if (${size_name}(column[i]) > ${size_name}(column[best])) best = i;
        pivots[k] = (int)best + 1;
        if (column[best] == 0) {
            if (!singular) singular = (int)k + 1;
            continue;
        }
        for (size_t j = 0; best != k && j < size; j++) {
            const ${T} x = a[j * size + k];
            a[j * size + k] = a[j * size + best];
            a[j * size + best] = x;
        }
        const ${T} scale = 1 / column[k];
        for (size_t i = k + 1; i < size; i++) column[i] = TIMES(column[i], scale);
        for (size_t j = k + 1; j < size; j++) {
            ${T} *to = a + j * size;
            const ${T} x = to[k];
            if (x == 0) continue;
            for (size_t i = k + 1; i < size; i++) to[i] -= TIMES(column[i], x);
            if (!nd_work(vm, (int64_t)(size - k))) return -1;
        }
    }
    return singular;
}

static void solve_${name}(int n, const void *lu, const int *pivots, int count, void *data) {
    const ${T} *a = lu;
    const size_t size = (size_t)n;
    for (int c = 0; c < count; c++) {
        ${T} *b = (${T} *)data + (size_t)c * size;
        for (size_t k = 0; k < size; k++) {
            const size_t other = (size_t)pivots[k] - 1;
            const ${T} x = b[other];
            b[other] = b[k];
            b[k] = x;
        }
        for (size_t k = 0; k < size; k++)
            for (size_t i = k + 1; i < size; i++) b[i] -= TIMES(a[k * size + i], b[k]);
        for (size_t k = size; k-- > 0;) {
            b[k] /= a[k * size + k];
            for (size_t i = 0; i < k; i++) b[i] -= TIMES(a[k * size + i], b[k]);
        }
    }
}

static int cholesky_${name}(dvx_vm *vm, int n, void *data) {
    ${T} *a = data;
    const size_t size = (size_t)n;
    for (size_t k = 0; k < size; k++) {
        ${T} *column = a + k * size;
        for (size_t j = 0; j < k; j++) {
            const ${T} *before = a + j * size, x = ${conj}(before[k]);
            for (size_t i = k; i < size; i++) column[i] -= TIMES(before[i], x);
            if (!nd_work(vm, (int64_t)(size - k))) return -1;
        }
        const double diagonal = ${real}(column[k]);
        if (!(diagonal > 0)) return (int)k + 1;
        const double root = sqrt(diagonal);
        column[k] = root;
        for (size_t i = k + 1; i < size; i++) column[i] /= root;
    }
    return 0;
}

/* The length of a vector, which neither overflows nor underflows on the way. */
static double length_${name}(const ${T} *x, size_t count) {
    double most = 0, sum = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, ${size}(x[i]));
    if (most == 0 || !isfinite(most)) return most;
    for (size_t i = 0; i < count; i++) {
        const double part = ${size}(x[i]) / most;
        sum += part * part;
    }
    return most * sqrt(sum);
}

/* (I - tau v v^H) c for a vector v whose first element counts as 1. */
static void reflect_${name}(const ${T} *v, ${T} tau, size_t count, ${T} *c) {
    ${T} sum = c[0];
    for (size_t i = 1; i < count; i++) sum += TIMES(${conj}(v[i]), c[i]);
    sum = TIMES(sum, tau);
    c[0] -= sum;
    for (size_t i = 1; i < count; i++) c[i] -= TIMES(v[i], sum);
}

/* Householder's reflections, with LAPACK's signs. */
static bool qr_${name}(dvx_vm *vm, int rows, int columns, void *data, void *scales) {
    ${T} *a = data, *tau = scales;
    const size_t m = (size_t)rows, n = (size_t)columns;
    for (size_t k = 0; k < m && k < n; k++) {
        ${T} *v = a + k * m + k, alpha = v[0];
        const double rest = length_${name}(v + 1, m - k - 1);
        tau[k] = 0;
        if (rest == 0${" && cimag(alpha) == 0" if name == "complex128" else ""}) continue;
        const double beta = -copysign(hypot(${size}(alpha), rest), ${real}(alpha));
        tau[k] = (beta - alpha) / beta;
        for (size_t i = 1; i < m - k; i++) v[i] /= alpha - beta;
        v[0] = beta;
        for (size_t j = k + 1; j < n; j++) {
            reflect_${name}(v, ${conj}(tau[k]), m - k, a + j * m + k);
            if (!nd_work(vm, 2 * (int64_t)(m - k))) return false;
        }
    }
    return true;
}

/* The first `columns` columns of the product of `count` reflections, in place of them. */
static bool make_q_${name}(dvx_vm *vm, int rows, int columns, int count, void *data, const void *scales) {
    ${T} *a = data;
    const ${T} *tau = scales;
    const size_t m = (size_t)rows, n = (size_t)columns;
    for (size_t j = (size_t)count; j < n; j++) {
        memset(a + j * m, 0, m * sizeof *a);
        a[j * m + j] = 1;
    }
    for (size_t k = (size_t)count; k-- > 0;) {
        ${T} *v = a + k * m + k;
        for (size_t j = k + 1; j < n; j++) {
            reflect_${name}(v, tau[k], m - k, a + j * m + k);
            if (!nd_work(vm, 2 * (int64_t)(m - k))) return false;
        }
        memset(a + k * m, 0, k * sizeof *a);
        for (size_t i = 1; i < m - k; i++) v[i] = -TIMES(tau[k], v[i]);
        v[0] = 1 - tau[k];
    }
    return true;
}

/* Turns two columns so that they are perpendicular (Hestenes), with those of v: were they not?
 * Columns that are nothing but errors of rounding never are. */
static bool turn_${name}(size_t m, ${T} *x, ${T} *y, size_t n, ${T} *v, ${T} *w, double nothing) {
    double p = 0, q = 0;
    ${T} r = 0;
    for (size_t i = 0; i < m; i++) {
        p += ${real}(TIMES(${conj}(x[i]), x[i]));
        q += ${real}(TIMES(${conj}(y[i]), y[i]));
        r += TIMES(${conj}(x[i]), y[i]);
    }
    const double across = ${size}(r);
    if (p <= nothing || q <= nothing) return false;
    if (!(across > DBL_EPSILON * sqrt(p) * sqrt(q)) || across == 0) return false;
    const double zeta = (q - p) / (2 * across);
    const double t = copysign(1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
    const double c = 1 / sqrt(1 + t * t), s = c * t;
    const ${T} phase = r / across;
    for (size_t i = 0; i < m; i++) {
        const ${T} a = x[i], b = TIMES(y[i], ${conj}(phase));
        x[i] = c * a - s * b;
        y[i] = s * a + c * b;
    }
    for (size_t i = 0; i < n; i++) {
        const ${T} a = v[i], b = TIMES(w[i], ${conj}(phase));
        v[i] = c * a - s * b;
        w[i] = s * a + c * b;
    }
    return true;
}

static int jacobi_${name}(dvx_vm *vm, int rows, int columns, void *data, void *turned) {
    ${T} *a = data, *v = turned;
    const size_t m = (size_t)rows, n = (size_t)columns;
    const double nothing = DECOMPOSE_NOTHING * (double)n * length_${name}(a, m * n);
    for (int sweep = 0; sweep < DECOMPOSE_SWEEPS; sweep++) {
        bool more = false;
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1; j < n; j++) {
                more |= turn_${name}(m, a + i * m, a + j * m, n, v + i * n, v + j * n, nothing * nothing);
                if (!nd_work(vm, 4 * (int64_t)(m + n))) return -1;
            }
        if (!more) return 1;
    }
    return 0;
}
#undef TIMES
% endfor

const nd_decompositions decompose_own[2] = {
% for name in "float64", "complex128":
    {lu_${name}, solve_${name}, cholesky_${name}, qr_${name}, make_q_${name}, jacobi_${name}},
% endfor
};
