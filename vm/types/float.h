/* float.h: floats are immediate values; here is what they can do. */
#ifndef DV_TYPES_FLOAT_H
#define DV_TYPES_FLOAT_H

#include "core/vm.h"

extern const dv_type dv_float_type;

/* Python's // and % on doubles (b != 0). */
double dv_float_floordiv(double a, double b);
double dv_float_mod(double a, double b);
/* a ** b as Python; may raise ZeroDivisionError, OverflowError (complex results are refused). */
dv_value dv_float_pow(dv_vm *vm, double a, double b);
/* The value as a double: float, int, bool; TypeError "must be real number, not %T". */
bool dv_as_double(dv_vm *vm, dv_value v, double *out) DV_MUST_CHECK;
/* Shortest repr ("1.0", "1e+16", "inf"); returns the length; buffer of at least 32 bytes. */
size_t dv_float_repr(double d, char *buffer);

#endif
