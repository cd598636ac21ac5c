/* complex.h: complex numbers: immutable objects of two doubles. */
#ifndef DV_TYPES_COMPLEX_H
#define DV_TYPES_COMPLEX_H

#include "core/vm.h"
#include "types/number/int.h"

typedef struct dv_complex {
    dv_object header;
    double real, imag;
} dv_complex;

extern const dv_type dv_complex_type;

static inline bool dv_is_complex(dv_value v) { return dv_has_layout(v, DV_T_COMPLEX); }
/* An int, a float or a complex number; of instances only those that are ints or complex. */
static inline bool dv_is_plain_number(dv_value v) {
    return dv_is_integral(v) || dv_is_float(v) || dv_is_complex(v);
}
static inline dv_complex *dv_as_complex(dv_value v) { return (dv_complex *)dv_as_object(v); }

typedef struct dv_complex_parts {
    double real, imag;
} dv_complex_parts;

/* (a + ai*j) / (b + bi*j), whose divisor is not 0, as CPython divides: by Smith's method. */
static inline dv_complex_parts dv_complex_quotient(double a, double ai, double b, double bi) {
    const double size = __builtin_fabs(b), size_i = __builtin_fabs(bi);
    if (size >= size_i) {
        const double ratio = bi / b, denominator = b + bi * ratio;
        return (dv_complex_parts){(a + ai * ratio) / denominator, (ai - a * ratio) / denominator};
    }
    if (size_i >= size) {
        const double ratio = b / bi, denominator = b * ratio + bi;
        return (dv_complex_parts){(a * ratio + ai) / denominator, (ai * ratio - a) / denominator};
    }
    return (dv_complex_parts){__builtin_nan(""), __builtin_nan("")};
}

dv_value dv_complex_new(dv_vm *vm, double real, double imag);
/* The same for an operator, in an exact complex number among its operands that nobody else has, if
 * there is one.  `a` and `b` are operands that the caller owns, or anything that is no object;
 * their counts are used up, but not if memory runs out (EMPTY, raised). */
dv_value dv_complex_over(dv_vm *vm, double real, double imag, dv_value a, dv_value b);
/* What an operator puts its result into without a call: the operand that dies here, or a free
 * block; NULL, and nothing has happened: there is none.  `a` and `b` are exact complex numbers that
 * the operator owns, whose counts are used up, or no objects. */
static inline dv_complex *dv_complex_take_room(dv_vm *vm, dv_value a, dv_value b) {
    dv_complex *x = dv_is_object(a) ? dv_as_complex(a) : NULL;
    dv_complex *y = dv_is_object(b) ? dv_as_complex(b) : NULL;
    dv_complex *room = x;
    if (!x || x->header.references > 1) {
        if (y && y->header.references == 1) {
            room = y;
            y = x; /* what is left to be released */
        } else {
            room = dv_heap_part_take(&vm->heap, DV_HEAP_PLAIN, sizeof *room);
            if (DV_UNLIKELY(!room)) return NULL;
            room->header = (dv_object){.references = 1, .shape = DV_T_COMPLEX};
            if (x) x->header.references--;
        }
    }
    if (y && --y->header.references == 0) dv_heap_free(&vm->heap, y, sizeof *y);
    return room;
}
/* An argument as a complex number: complex, float, int, __complex__, __float__, __index__;
 * TypeError "must be real number, not %T". */
bool dv_complex_take(dv_vm *vm, dv_value v, double *real, double *imag) DV_MUST_CHECK;
/* a / b in place of a; false: division by zero, and a is NaN then. */
bool dv_complex_divide(double *real, double *imag, double b_real, double b_imag);
/* The same without raising: where it would, a part is infinite. */
dv_complex_parts dv_complex_power(double real, double imag, double b_real, double b_imag);
/* a ** b; ZeroDivisionError, OverflowError. */
dv_value dv_complex_pow(dv_vm *vm, double real, double imag, double b_real, double b_imag);
/* "(1+2j)", "2j" */
dv_value dv_complex_repr(dv_vm *vm, dv_value v);
/* abs(v): a float; OverflowError. */
dv_value dv_complex_abs(dv_vm *vm, dv_value v);

/* complex_text.c: complex("1+2j"); ValueError. */
dv_value dv_complex_from_str(dv_vm *vm, dv_value text);

#endif
