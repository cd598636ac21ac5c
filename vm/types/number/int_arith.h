/* int_arith.h: arithmetic on ints that do not fit in a machine word; shared by the int_*.c files,
 * format.c and math.c.
 *
 * Invariant 1: a dv_int_view borrows its limbs: from the heap int, which must outlive it, or from
 * its own field `word`, so views are passed by pointer and never copied. */
#ifndef DV_TYPES_INT_ARITH_H
#define DV_TYPES_INT_ARITH_H

#include "types/number/int.h"

/* Larger numbers are refused with MemoryError (2 GB). */
#define DV_INT_MAX_LIMBS ((int64_t)1 << 28)

/* Sign and magnitude of any int or bool; `count` is 0 for zero. */
typedef struct dv_int_view {
    const uint64_t *limbs;
    int64_t count;
    bool negative;
    uint64_t word;
} dv_int_view;

void dv_int_look(dv_value v, dv_int_view *view);
uint64_t dv_int_view_bits(const dv_int_view *view);

size_t dv_bigint_size(int64_t limbs); /* bytes of such a block */
/* A block for `limbs` limbs (at least 1); NULL: MemoryError raised. */
dv_bigint *dv_bigint_new(dv_vm *vm, int64_t limbs);
void dv_bigint_free(dv_vm *vm, dv_bigint *b);
/* Makes the value of the first `count` limbs: cuts leading zeros, shrinks, or becomes immediate. */
dv_value dv_bigint_finish(dv_vm *vm, dv_bigint *b, int64_t count, bool negative);
dv_value dv_int_from_int128(dv_vm *vm, __int128 i);

/* Memory that GMP will take for itself while it multiplies, divides or converts `limbs` limbs is
 * charged like ours.  False: MemoryError raised. */
typedef struct dv_int_reserve {
    void *block;
    size_t size;
} dv_int_reserve;
bool dv_int_reserve_take(dv_vm *vm, dv_int_reserve *reserve, int64_t limbs) DV_MUST_CHECK;
void dv_int_reserve_drop(dv_vm *vm, dv_int_reserve *reserve);

/* mantissa * 2^exponent to the nearest double, ties to even; infinity if too large.  The lowest bit
 * of the mantissa may stand for anything lost below it ("sticky") if it has more than 54 bits. */
double dv_int_scale(uint64_t mantissa, int64_t exponent);
/* The leading bits of |view|: |view| = mantissa * 2^*exponent, with a sticky lowest bit. */
uint64_t dv_int_leading(const dv_int_view *view, int64_t *exponent);

dv_value dv_int_add(dv_vm *vm, const dv_int_view *a, const dv_int_view *b, bool subtract);
dv_value dv_int_multiply(dv_vm *vm, const dv_int_view *a, const dv_int_view *b);
/* Floor division; b is not 0; either result may be NULL. */
bool dv_int_divide(dv_vm *vm, const dv_int_view *a, const dv_int_view *b, dv_value *quotient,
                   dv_value *remainder) DV_MUST_CHECK;
dv_value dv_int_true_divide(dv_vm *vm, const dv_int_view *a, const dv_int_view *b);
dv_value dv_int_power(dv_vm *vm, dv_value base, dv_value exponent); /* exponent >= 0 */
dv_value dv_int_shift_left(dv_vm *vm, const dv_int_view *a, uint64_t bits);
dv_value dv_int_shift_right(dv_vm *vm, const dv_int_view *a, uint64_t bits);
dv_value dv_int_bitwise(dv_vm *vm, dv_binary_op op, const dv_int_view *a, const dv_int_view *b);
dv_value dv_int_negate(dv_vm *vm, const dv_int_view *a);
dv_value dv_int_copy(dv_vm *vm, const dv_int_view *a);
dv_value dv_int_gcd(dv_vm *vm, dv_value a, dv_value b); /* not negative (int_gcd.c) */
/* The same of two words; negative where the result has 64 bits. */
int64_t dv_int64s_gcd(int64_t a, int64_t b);
dv_value dv_int_isqrt(dv_vm *vm, dv_value a); /* a >= 0 */

/* Digits of |v| in base 2, 8, 10 or 16, lower case, without sign, in a block of the VM's heap of
 * *capacity bytes, of which *size are used; NULL: raised (4300-digit limit, memory). */
char *dv_int_digits(dv_vm *vm, dv_value v, int base, size_t *size, size_t *capacity);

/* White space cut off both ends of text, digits of any script made ASCII; *block (of *capacity
 * bytes on the VM's heap) is what must be freed, NULL if nothing had to be copied.  Text that is no
 * ASCII afterwards has '?' where it went wrong.  False: raised. */
typedef struct dv_numeric_text {
    const char *text;
    size_t size;
    char *block;
    size_t capacity;
} dv_numeric_text;
bool dv_numeric_text_take(dv_vm *vm, const char *utf8, size_t size,
                          dv_numeric_text *out) DV_MUST_CHECK;
void dv_numeric_text_drop(dv_vm *vm, dv_numeric_text *text);

#endif
