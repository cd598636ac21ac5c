/* float.h: floats are immediate values; here is what they can do. */
#ifndef DV_TYPES_FLOAT_H
#define DV_TYPES_FLOAT_H

#include "core/raw.h"
#include "core/vm.h"

extern const dv_type dv_float_type;

/* An instance of a dl class that derives from float. */
typedef struct dv_float_object {
    dv_object header;
    double value;
} dv_float_object;

/* The float that an instance of a subclass of float is; other values are themselves. */
static inline dv_value dv_number_of(dv_value v) {
    if (!dv_has_layout(v, DV_T_FLOAT)) return v;
    return dv_float(((const dv_float_object *)dv_as_object(v))->value);
}

/* C's fmod.  It is exact, and so is the instruction that x86 has for it; libm goes from bit to bit.
 */
static inline double dv_fmod(double a, double b) {
#ifdef __x86_64__
    long double rest = a;
    const long double divisor = b;
    uint16_t status;
    do __asm__("fprem\n\tfnstsw %1" : "+t"(rest), "=a"(status) : "u"(divisor) : "cc");
    while (status & 0x400); /* it is not less than the divisor yet */
    return (double)rest;
#else
    return __builtin_fmod(a, b);
#endif
}

/* Python's // and % on doubles (b != 0). */
double dv_float_floordiv(double a, double b);
static inline double dv_float_mod(double a, double b) {
    const double m = dv_fmod(a, b);
    if (m == 0.0) return __builtin_copysign(0.0, b);
    return (b < 0) != (m < 0) ? m + b : m;
}
/* a ** b as Python; may raise ZeroDivisionError, OverflowError (a complex number where a is
 * negative and b has a fraction). */
dv_value dv_float_pow(dv_vm *vm, double a, double b);
/* What C says it is; where that is not finite, though both operands are, dv_float_pow says more. */
double dv_float_power(double a, double b);
/* For regions: // and ** of floats, NULL for other operators; float(x). */
const dv_raw *dv_float_raw(dv_binary_op op);
extern const dv_raw dv_float_raws[];
/* The value as a double: float, int, bool, instances with __float__ or __index__; TypeError "must
 * be real number, not %T". */
bool dv_as_double(dv_vm *vm, dv_value v, double *out) DV_MUST_CHECK;
/* The same as float(v) does it: the __float__ of a subclass of float counts too. */
bool dv_float_convert(dv_vm *vm, dv_value v, double *out) DV_MUST_CHECK;
/* Shortest repr ("1.0", "1e+16", "inf"); returns the length; buffer of at least 32 bytes. */
size_t dv_float_repr(double d, char *buffer);
/* "e+05": the exponent as repr and format write it; returns the length (at most 5). */
size_t dv_float_write_exponent(int exponent, char letter, char *out);
/* round(d) as a double; round(d, digits), infinite where that is too large. */
double dv_float_whole(double d);
double dv_float_to_digits(double d, int64_t digits);
/* round(d) as an int, or round(d, digits) as a float. */
dv_value dv_float_round(dv_vm *vm, double d, bool has_digits, int64_t digits);
int64_t dv_float_hash(const dv_vm *vm, double d);
/* The number that a str says, as float(text); ValueError. */
dv_value dv_float_from_str(dv_vm *vm, dv_value text);

#endif
