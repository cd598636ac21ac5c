/* text.h: text that grows, and doubles and floats as decimal digits.
 *
 * Invariants
 *  1. After a failure (raised) a text takes nothing more; whoever finishes it sees it.
 *  2. Digits come from the VM's own conversions, so that no locale of the host can get in. */
#ifndef ND_TEXT_H
#define ND_TEXT_H

#include "array/dtype.h"

typedef struct nd_text {
    char *data;
    size_t size, capacity;
    bool failed;
} nd_text;

void text_add(dvx_vm *vm, nd_text *t, const char *bytes, size_t size);
void text_words(dvx_vm *vm, nd_text *t, const char *words);
void text_spaces(dvx_vm *vm, nd_text *t, int64_t count);
/* Gives the memory back. */
void text_drop(dvx_vm *vm, nd_text *t);
/* The text as a str: new; the memory is given back. */
dvx_value text_finish(dvx_vm *vm, nd_text *t);

/* A finite number: 0.d1d2d3... * 10^point; 0 has no digits. */
enum { ND_DIGITS = 400 };
typedef struct nd_decimal {
    int count, point;
    bool negative;
    char digits[ND_DIGITS];
} nd_decimal;

/* The shortest digits that make the number again, of a float of `type`; where there are more
 * than `precision` behind the point (if scientific: behind the first digit), the number rounded to
 * so many.  precision < 0: all.  Without zeros at the end. */
bool text_decimal(dvx_vm *vm, double x, nd_type type, bool scientific, int64_t precision,
                  nd_decimal *out);
/* So many digits behind the point, of the number itself, as 'e' or 'f'. */
bool text_exact(dvx_vm *vm, double x, int64_t precision, char how, nd_decimal *out);

#endif
