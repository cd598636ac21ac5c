/* cmath_parts.h: what the files of the module cmath share. */
#ifndef DV_MODULES_CMATH_PARTS_H
#define DV_MODULES_CMATH_PARTS_H

typedef struct dv_complex_pair {
    double re, im;
} dv_complex_pair;

typedef enum dv_cmath_status { DV_CMATH_FINE, DV_CMATH_DOMAIN, DV_CMATH_RANGE } dv_cmath_status;

typedef enum dv_cmath_function {
    DV_CMATH_ACOS,
    DV_CMATH_ACOSH,
    DV_CMATH_ASINH,
    DV_CMATH_ATANH,
    DV_CMATH_COSH,
    DV_CMATH_EXP,
    DV_CMATH_LOG,
    DV_CMATH_SINH,
    DV_CMATH_SQRT,
    DV_CMATH_TANH,
    DV_CMATH_RECT
} dv_cmath_function;

/* The function's value where a part of z is not finite (cmath_special.c). */
dv_cmath_status dv_cmath_special(dv_cmath_function function, dv_complex_pair z,
                                 dv_complex_pair *out);

#endif
