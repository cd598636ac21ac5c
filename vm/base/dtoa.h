/* dtoa.h: doubles to text and back, correctly rounded and free of locales.  Includes nothing of the
 * VM, so that lang may use it. */
#ifndef DV_BASE_DTOA_H
#define DV_BASE_DTOA_H

#include <stdbool.h>
#include <stddef.h>

/* No double has more significant digits than that (exactly 767). */
#define DV_DTOA_DIGITS 800

/* A decimal floating-point literal (digits, '.', exponent; no sign, no underscores; "inf" and "nan"
 * are not literals); false: not one.  Overflow gives infinity. */
bool dv_dtoa_parse(const char *text, size_t size, double *out);

/* Digits of |d| (finite): shortest that reads back as d (mode 'r'), or `precision` significant
 * digits ('e', at least 1), or `precision` digits behind the point ('f'; a negative precision
 * rounds before the point).  Writes digits without point, at most `capacity` (DV_DTOA_DIGITS is
 * always enough), and the decimal exponent: value = 0.DIGITS * 10^*point.  Returns the number of
 * digits.  Zeros at the end are not written, so fewer digits than asked for may come.  Zero is "0"
 * with *point 1, also when it comes from rounding. */
size_t dv_dtoa_digits(double d, char mode, int precision, char *digits, size_t capacity,
                      int *point);

/* Writes the decimal digits of n without leading zeros ("0" for 0); at most 20. */
size_t dv_dtoa_decimal(unsigned long long n, char *digits);

#endif
