/* dtoa.h: doubles to text and back, correctly rounded and free of locales.  Includes nothing of the
 * VM, so that lang may use it. */
#ifndef DV_CORE_DTOA_H
#define DV_CORE_DTOA_H

#include <stdbool.h>
#include <stddef.h>

/* A decimal floating-point literal (digits, '.', exponent; no sign, no underscores; "inf" and "nan"
 * are not literals); false: not one. */
bool dv_dtoa_parse(const char *text, size_t size, double *out);

/* Digits of |d| (finite): shortest that reads back as d (mode 'r'), or `precision` significant
 * digits
 * ('e', at least 1), or `precision` digits behind the point ('f').  Writes digits without point, at
 * most `capacity`, and the decimal exponent: value = 0.DIGITS * 10^*point.  Returns the number of
 * digits.  Zero is "0" with *point 1. */
size_t dv_dtoa_digits(double d, char mode, int precision, char *digits, size_t capacity,
                      int *point);

#endif
