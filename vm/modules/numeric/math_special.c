/* math_special.c: gamma and lgamma as CPython computes them (Lanczos' approximation), because the C
 * library's give other last digits. */
#include <math.h>

#include "modules/numeric/math_parts.h"

#define PI     3.141592653589793238462643383279502884197
#define LOG_PI 1.144729885849400174143427351353058711647

/* sin(pi * x) of a finite x, accurate near the zeros. */
static double sin_pi(double x) {
    double y = fmod(fabs(x), 2.0), r;
    switch ((int)round(2.0 * y)) {
    case 0: r = sin(PI * y); break;
    case 1: r = cos(PI * (y - 0.5)); break;
    case 2: r = sin(PI * (1.0 - y)); break; /* not -sin(y - 1): 0.0, not -0.0, at y == 1 */
    case 3: r = -cos(PI * (y - 1.5)); break;
    default: r = sin(PI * (y - 2.0)); break;
    }
    return copysign(1.0, x) * r;
}

#define LANCZOS_COUNT        13
#define LANCZOS_G            6.024680040776729583740234375
#define LANCZOS_G_MINUS_HALF 5.524680040776729583740234375

static const double numerator[LANCZOS_COUNT] = {
    23531376880.410759688572007674451636754734846804940,
    42919803642.649098768957899047001988850926355848959,
    35711959237.355668049440185451547166705960488635843,
    17921034426.037209699919755754458931112671403265390,
    6039542586.3520280050642916443072979210699388420708,
    1439720407.3117216736632230727949123939715485786372,
    248874557.86205415651146038641322942321632125127801,
    31426415.585400194380614231628318205362874684987640,
    2876370.6289353724412254090516208496135991145378768,
    186056.26539522349504029498971604569928220784236328,
    8071.6720023658162106380029022722506138218516325024,
    210.82427775157934587250973392071336271166969580291,
    2.5066282746310002701649081771338373386264310793408};

/* x * (x + 1) * ... * (x + LANCZOS_COUNT - 2) */
static const double denominator[LANCZOS_COUNT] = {
    0.0,       39916800.0, 120543840.0, 150917976.0, 105258076.0, 45995730.0, 13339535.0,
    2637558.0, 357423.0,   32670.0,     1925.0,      66.0,        1.0};

#define FACTORIALS 23
static const double factorials[FACTORIALS] = {1.0,
                                              1.0,
                                              2.0,
                                              6.0,
                                              24.0,
                                              120.0,
                                              720.0,
                                              5040.0,
                                              40320.0,
                                              362880.0,
                                              3628800.0,
                                              39916800.0,
                                              479001600.0,
                                              6227020800.0,
                                              87178291200.0,
                                              1307674368000.0,
                                              20922789888000.0,
                                              355687428096000.0,
                                              6402373705728000.0,
                                              121645100408832000.0,
                                              2432902008176640000.0,
                                              51090942171709440000.0,
                                              1124000727777607680000.0};

/* The rational function of Lanczos' formula for x > 0; in powers of 1/x where x is large, so that
 * nothing overflows. */
static double lanczos_sum(double x) {
    double above = 0.0, below = 0.0;
    if (x < 5.0) {
        for (int i = LANCZOS_COUNT - 1; i >= 0; i--) {
            above = above * x + numerator[i];
            below = below * x + denominator[i];
        }
    } else {
        for (int i = 0; i < LANCZOS_COUNT; i++) {
            above = above / x + numerator[i];
            below = below / x + denominator[i];
        }
    }
    return above / below;
}

/* r * base^exponent (or divided by it), in two steps where one could overflow. */
static double times_power(double r, double base, double x, bool divide) {
    if (x < 140.0) {
        double power = pow(base, x - 0.5);
        return divide ? r / power : r * power;
    }
    double root = pow(base, x / 2.0 - 0.25);
    return divide ? r / root / root : r * root * root;
}

static double lanczos_gamma(double x) {
    double magnitude = fabs(x), y = magnitude + LANCZOS_G_MINUS_HALF, z, r;
    /* z: what was lost when y was rounded */
    if (magnitude > LANCZOS_G_MINUS_HALF)
        z = (y - magnitude) - LANCZOS_G_MINUS_HALF;
    else
        z = (y - LANCZOS_G_MINUS_HALF) - magnitude;
    z = z * LANCZOS_G / y;
    if (x < 0.0) {
        r = -PI / sin_pi(magnitude) / magnitude * exp(y) / lanczos_sum(magnitude);
        r -= z * r;
    } else {
        r = lanczos_sum(magnitude) / exp(y);
        r += z * r;
    }
    return times_power(r, y, magnitude, x < 0.0);
}

double dv_math_gamma(double x) {
    if (!isfinite(x)) return x < 0 ? NAN : x;
    if (x == 0.0) return copysign(INFINITY, x);
    if (x == floor(x)) {
        if (x < 0.0) return NAN;
        if (x <= FACTORIALS) return factorials[(int)x - 1];
    }
    if (fabs(x) < 1e-20) return 1.0 / x;
    if (fabs(x) > 200.0) return x < 0.0 ? 0.0 / sin_pi(x) : INFINITY;
    return lanczos_gamma(x);
}

double dv_math_lgamma(double x) {
    if (!isfinite(x)) return isnan(x) ? x : INFINITY;
    if (x == floor(x) && x <= 2.0) return x <= 0.0 ? INFINITY : 0.0;
    double magnitude = fabs(x);
    if (magnitude < 1e-20) return -log(magnitude);
    double r = log(lanczos_sum(magnitude)) - LANCZOS_G;
    r += (magnitude - 0.5) * (log(magnitude + LANCZOS_G - 0.5) - 1);
    if (x < 0.0) r = LOG_PI - log(fabs(sin_pi(magnitude))) - log(magnitude) - r;
    return r;
}
