/* element.h: elements as text: the width and precision that all elements of an array have in common
 * when it is printed.
 *
 * Use: element_begin, element_see for each element that will be printed, element_ready,
 * element_write for each. */
#ifndef ND_ELEMENT_H
#define ND_ELEMENT_H

#include "array/text.h"

/* Floats: how NumPy's FloatingFormat does it. */
typedef struct float_format {
    nd_type type;
    char sign; /* '-': only of negative numbers; '+': always */
    bool suppress;
    int64_t precision;
    /* What has been seen. */
    bool finite, other, negative_infinity;
    double largest, smallest; /* of the finite absolute values that are not 0; 0: none */
    int left, right;          /* characters at most, if not exponential */
    int mantissa_left, mantissa_right, exponent; /* the same, if exponential */
    /* What follows from it. */
    bool exponential;
    int pad_left, pad_right;
} float_format;

typedef struct element_format {
    const nd_dtype *dtype;
    bool single_value; /* an array without dimensions */
    int width;         /* of ints and bools */
    float_format real, imaginary;
} element_format;

void element_begin(element_format *f, const nd_dtype *dtype, const nd_print *options,
                   bool single_value);
bool element_see(dvx_vm *vm, element_format *f, const char *at);
void element_ready(element_format *f);
bool element_write(dvx_vm *vm, const element_format *f, const char *at, nd_text *to);

/* str of a single element. */
bool element_plain(dvx_vm *vm, const nd_dtype *dtype, const char *at, nd_text *to);

#endif
