/* cmath_special.c: what the functions of cmath are where a part of the argument is infinite or NaN
 * (annex G of the C standard, and CPython where that leaves a choice).
 *
 * Invariants
 *  1. Rows stand for the real part, columns for the imaginary part: -inf, negative, -0, 0,
 * positive, inf, NaN.
 *  2. U: never looked up, as the function computes it.  E: a domain error. */
#include "modules/numeric/cmath_parts.h"

#include <math.h>

#define P   3.141592653589793238462643383279502884197
#define P12 (0.5 * P)
#define P14 (0.25 * P)
#define P34 (0.75 * P)
#define I   INFINITY
#define N   NAN
#define U   -7.5
#define E   -9.5

typedef const dv_complex_pair special_table[7][7];

static const special_table acos_table = {
    {{P34, I}, {P, I}, {P, I}, {P, -I}, {P, -I}, {P34, -I}, {N, I}},
    {{P12, I}, {U, U}, {U, U}, {U, U}, {U, U}, {P12, -I}, {N, N}},
    {{P12, I}, {U, U}, {U, U}, {U, U}, {U, U}, {P12, -I}, {P12, N}},
    {{P12, I}, {U, U}, {U, U}, {U, U}, {U, U}, {P12, -I}, {P12, N}},
    {{P12, I}, {U, U}, {U, U}, {U, U}, {U, U}, {P12, -I}, {N, N}},
    {{P14, I}, {0., I}, {0., I}, {0., -I}, {0., -I}, {P14, -I}, {N, I}},
    {{N, I}, {N, N}, {N, N}, {N, N}, {N, N}, {N, -I}, {N, N}},
};
static const special_table acosh_table = {
    {{I, -P34}, {I, -P}, {I, -P}, {I, P}, {I, P}, {I, P34}, {I, N}},
    {{I, -P12}, {U, U}, {U, U}, {U, U}, {U, U}, {I, P12}, {N, N}},
    {{I, -P12}, {U, U}, {U, U}, {U, U}, {U, U}, {I, P12}, {N, N}},
    {{I, -P12}, {U, U}, {U, U}, {U, U}, {U, U}, {I, P12}, {N, N}},
    {{I, -P12}, {U, U}, {U, U}, {U, U}, {U, U}, {I, P12}, {N, N}},
    {{I, -P14}, {I, -0.}, {I, -0.}, {I, 0.}, {I, 0.}, {I, P14}, {I, N}},
    {{I, N}, {N, N}, {N, N}, {N, N}, {N, N}, {I, N}, {N, N}},
};
static const special_table asinh_table = {
    {{-I, -P14}, {-I, -0.}, {-I, -0.}, {-I, 0.}, {-I, 0.}, {-I, P14}, {-I, N}},
    {{-I, -P12}, {U, U}, {U, U}, {U, U}, {U, U}, {-I, P12}, {N, N}},
    {{-I, -P12}, {U, U}, {U, U}, {U, U}, {U, U}, {-I, P12}, {N, N}},
    {{I, -P12}, {U, U}, {U, U}, {U, U}, {U, U}, {I, P12}, {N, N}},
    {{I, -P12}, {U, U}, {U, U}, {U, U}, {U, U}, {I, P12}, {N, N}},
    {{I, -P14}, {I, -0.}, {I, -0.}, {I, 0.}, {I, 0.}, {I, P14}, {I, N}},
    {{I, N}, {N, N}, {N, -0.}, {N, 0.}, {N, N}, {I, N}, {N, N}},
};
static const special_table atanh_table = {
    {{-0., -P12}, {-0., -P12}, {-0., -P12}, {-0., P12}, {-0., P12}, {-0., P12}, {-0., N}},
    {{-0., -P12}, {U, U}, {U, U}, {U, U}, {U, U}, {-0., P12}, {N, N}},
    {{-0., -P12}, {U, U}, {U, U}, {U, U}, {U, U}, {-0., P12}, {-0., N}},
    {{0., -P12}, {U, U}, {U, U}, {U, U}, {U, U}, {0., P12}, {0., N}},
    {{0., -P12}, {U, U}, {U, U}, {U, U}, {U, U}, {0., P12}, {N, N}},
    {{0., -P12}, {0., -P12}, {0., -P12}, {0., P12}, {0., P12}, {0., P12}, {0., N}},
    {{0., -P12}, {N, N}, {N, N}, {N, N}, {N, N}, {0., P12}, {N, N}},
};
static const special_table cosh_table = {
    {{E, E}, {U, U}, {I, 0.}, {I, -0.}, {U, U}, {E, E}, {I, N}},
    {{E, E}, {U, U}, {U, U}, {U, U}, {U, U}, {E, E}, {N, N}},
    {{E, E}, {U, U}, {U, U}, {U, U}, {U, U}, {E, E}, {N, 0.}},
    {{E, E}, {U, U}, {U, U}, {U, U}, {U, U}, {E, E}, {N, 0.}},
    {{E, E}, {U, U}, {U, U}, {U, U}, {U, U}, {E, E}, {N, N}},
    {{E, E}, {U, U}, {I, -0.}, {I, 0.}, {U, U}, {E, E}, {I, N}},
    {{N, N}, {N, N}, {N, 0.}, {N, 0.}, {N, N}, {N, N}, {N, N}},
};
static const special_table exp_table = {
    {{0., 0.}, {U, U}, {0., -0.}, {0., 0.}, {U, U}, {0., 0.}, {0., 0.}},
    {{E, E}, {U, U}, {U, U}, {U, U}, {U, U}, {E, E}, {N, N}},
    {{E, E}, {U, U}, {U, U}, {U, U}, {U, U}, {E, E}, {N, N}},
    {{E, E}, {U, U}, {U, U}, {U, U}, {U, U}, {E, E}, {N, N}},
    {{E, E}, {U, U}, {U, U}, {U, U}, {U, U}, {E, E}, {N, N}},
    {{E, E}, {U, U}, {I, -0.}, {I, 0.}, {U, U}, {E, E}, {I, N}},
    {{N, N}, {N, N}, {N, -0.}, {N, 0.}, {N, N}, {N, N}, {N, N}},
};
static const special_table log_table = {
    {{I, -P34}, {I, -P}, {I, -P}, {I, P}, {I, P}, {I, P34}, {I, N}},
    {{I, -P12}, {U, U}, {U, U}, {U, U}, {U, U}, {I, P12}, {N, N}},
    {{I, -P12}, {U, U}, {U, U}, {U, U}, {U, U}, {I, P12}, {N, N}},
    {{I, -P12}, {U, U}, {U, U}, {U, U}, {U, U}, {I, P12}, {N, N}},
    {{I, -P12}, {U, U}, {U, U}, {U, U}, {U, U}, {I, P12}, {N, N}},
    {{I, -P14}, {I, -0.}, {I, -0.}, {I, 0.}, {I, 0.}, {I, P14}, {I, N}},
    {{I, N}, {N, N}, {N, N}, {N, N}, {N, N}, {I, N}, {N, N}},
};
static const special_table sinh_table = {
    {{E, E}, {U, U}, {-I, -0.}, {-I, 0.}, {U, U}, {E, E}, {I, N}},
    {{E, E}, {U, U}, {U, U}, {U, U}, {U, U}, {E, E}, {N, N}},
    {{E, E}, {U, U}, {U, U}, {U, U}, {U, U}, {E, E}, {0., N}},
    {{E, E}, {U, U}, {U, U}, {U, U}, {U, U}, {E, E}, {0., N}},
    {{E, E}, {U, U}, {U, U}, {U, U}, {U, U}, {E, E}, {N, N}},
    {{E, E}, {U, U}, {I, -0.}, {I, 0.}, {U, U}, {E, E}, {I, N}},
    {{N, N}, {N, N}, {N, -0.}, {N, 0.}, {N, N}, {N, N}, {N, N}},
};
static const special_table sqrt_table = {
    {{I, -I}, {0., -I}, {0., -I}, {0., I}, {0., I}, {I, I}, {N, I}},
    {{I, -I}, {U, U}, {U, U}, {U, U}, {U, U}, {I, I}, {N, N}},
    {{I, -I}, {U, U}, {U, U}, {U, U}, {U, U}, {I, I}, {N, N}},
    {{I, -I}, {U, U}, {U, U}, {U, U}, {U, U}, {I, I}, {N, N}},
    {{I, -I}, {U, U}, {U, U}, {U, U}, {U, U}, {I, I}, {N, N}},
    {{I, -I}, {I, -0.}, {I, -0.}, {I, 0.}, {I, 0.}, {I, I}, {I, N}},
    {{I, -I}, {N, N}, {N, N}, {N, N}, {N, N}, {I, I}, {N, N}},
};
static const special_table tanh_table = {
    {{-1., 0.}, {U, U}, {-1., -0.}, {-1., 0.}, {U, U}, {-1., 0.}, {-1., 0.}},
    {{E, E}, {U, U}, {U, U}, {U, U}, {U, U}, {E, E}, {N, N}},
    {{E, E}, {U, U}, {U, U}, {U, U}, {U, U}, {E, E}, {N, N}},
    {{E, E}, {U, U}, {U, U}, {U, U}, {U, U}, {E, E}, {N, N}},
    {{E, E}, {U, U}, {U, U}, {U, U}, {U, U}, {E, E}, {N, N}},
    {{1., 0.}, {U, U}, {1., -0.}, {1., 0.}, {U, U}, {1., 0.}, {1., 0.}},
    {{N, N}, {N, N}, {N, -0.}, {N, 0.}, {N, N}, {N, N}, {N, N}},
};
static const special_table rect_table = {
    {{E, E}, {U, U}, {-I, 0.}, {-I, -0.}, {U, U}, {E, E}, {I, N}},
    {{E, E}, {U, U}, {U, U}, {U, U}, {U, U}, {E, E}, {N, N}},
    {{0., 0.}, {U, U}, {U, U}, {U, U}, {U, U}, {0., 0.}, {0., 0.}},
    {{0., 0.}, {U, U}, {U, U}, {U, U}, {U, U}, {0., 0.}, {0., 0.}},
    {{E, E}, {U, U}, {U, U}, {U, U}, {U, U}, {E, E}, {N, N}},
    {{E, E}, {U, U}, {I, -0.}, {I, 0.}, {U, U}, {E, E}, {I, N}},
    {{N, N}, {N, N}, {N, 0.}, {N, 0.}, {N, N}, {N, N}, {N, N}},
};

static int class_of(double d) {
    if (isnan(d)) return 6;
    if (isinf(d)) return d > 0.0 ? 5 : 0;
    if (d == 0.0) return signbit(d) ? 2 : 3;
    return d > 0.0 ? 4 : 1;
}

dv_cmath_status dv_cmath_special(dv_cmath_function function, dv_complex_pair z,
                                 dv_complex_pair *out) {
    static const dv_complex_pair(*const tables[])[7] = {
        [DV_CMATH_ACOS] = acos_table,   [DV_CMATH_ACOSH] = acosh_table,
        [DV_CMATH_ASINH] = asinh_table, [DV_CMATH_ATANH] = atanh_table,
        [DV_CMATH_COSH] = cosh_table,   [DV_CMATH_EXP] = exp_table,
        [DV_CMATH_LOG] = log_table,     [DV_CMATH_SINH] = sinh_table,
        [DV_CMATH_SQRT] = sqrt_table,   [DV_CMATH_TANH] = tanh_table,
        [DV_CMATH_RECT] = rect_table};
    *out = tables[function][class_of(z.re)][class_of(z.im)];
    return out->re == E ? DV_CMATH_DOMAIN : DV_CMATH_FINE;
}
