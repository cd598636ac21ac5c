/* int.h: ints of any size.
 *
 * Invariants
 *  1. An int that fits in 48 bits is immediate (core/value.h); a heap int never does.  (Instances
 * of subclasses have a heap int's layout whatever their value is; results of operators have not.)
 *  2. A heap int is sign and magnitude: |size| limbs, least significant first, the top limb not 0,
 *     the number's sign in the sign of `size`.  One limb is the common "heap int64" case.
 *  3. Limbs are handled with GMP's mpn_* functions on memory from the VM's heap, charged before the
 *     call, so that memory limits hold. */
#ifndef DV_TYPES_INT_H
#define DV_TYPES_INT_H

#include "core/raw.h"
#include "core/upcall.h"
#include "core/vm.h"

typedef struct dv_bigint {
    dv_object header;
    int32_t size;
    uint32_t capacity; /* limbs in the block, at least |size| */
    uint64_t limbs[];
} dv_bigint;

extern const dv_type dv_int_type, dv_bool_type;

dv_value dv_int_from_int64(dv_vm *vm, int64_t i);
dv_value dv_int_from_uint64(dv_vm *vm, uint64_t i);
dv_value dv_int_from_double(dv_vm *vm,
                            double d); /* truncates; OverflowError, ValueError for inf, nan */
/* Digits in base 2..36 (or 0: by prefix) with optional sign, white space around them, underscores
 * where Python's int() allows them.  *valid false: it is no such text, EMPTY, nothing raised; the
 * 4300-digit limit in base 10 is raised. */
dv_value dv_int_from_text(dv_vm *vm, const char *text, size_t size, int base, bool *valid);
/* The ValueError for text that is no number; it shows the repr of `shown`.  EMPTY. */
dv_value dv_int_raise_invalid(dv_vm *vm, dv_value shown, int base);
extern const dv_declared dv_int_raises;                               /* that of base 10 */
dv_value dv_int_from_hex(dv_vm *vm, const char *digits, size_t size); /* DV_CONST_BIGINT */
/* True and *out if v is an int (or bool) within int64; else false, nothing raised. */
bool dv_int_to_int64(dv_value v, int64_t *out);
/* The same for exact ints alone: no bool, no instance of a subclass. */
static inline bool dv_int_to_word(dv_value v, int64_t *out) {
    if (dv_is_int(v)) {
        *out = dv_as_int(v);
        return true;
    }
    if (!dv_is_shape(v, DV_T_INT)) return false;
    const dv_bigint *b = (const dv_bigint *)dv_as_object(v);
    int64_t sign = b->size;
    if ((sign != 1 && sign != -1) || b->limbs[0] > (uint64_t)INT64_MAX) return false;
    *out = sign * (int64_t)b->limbs[0];
    return true;
}
bool dv_int_is_word(dv_value v); /* would dv_int_to_word give one? */
/* i as a value.  a and b are operands that die now if they are heap ints (exact ones), whose block
 * may become the result's: consumed, unless the result is EMPTY. */
dv_value dv_int_over(dv_vm *vm, int64_t i, dv_value a, dv_value b);
/* Nearest double, ties to even; OverflowError "int too large to convert to float". */
bool dv_int_to_double(dv_vm *vm, dv_value v, double *out) DV_MUST_CHECK;
int dv_int_sign(dv_value v);
static inline bool dv_is_any_int(dv_value v) {
    return dv_is_int(v) || dv_has_layout(v, DV_T_INT);
} /* not bool */
static inline bool dv_is_integral(dv_value v) {
    return dv_is_int(v) || dv_is_bool(v) || dv_has_layout(v, DV_T_INT);
} /* int or bool */

/* a op b for ints of any size (bools count as ints): the slow path behind the immediate cases. */
dv_value dv_int_binary(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b);
/* Exact; NotImplemented unless both are ints or bools. */
dv_value dv_int_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b);
dv_value dv_int_unary(dv_vm *vm, dv_unary_op op, dv_value a);
dv_value dv_int_to_str(dv_vm *vm, dv_value v, int base, bool prefix); /* decimal: base 10 */
int64_t dv_int_hash(const dv_vm *vm, dv_value v);
uint64_t dv_int_bit_length(dv_value v);

/* a // b and a % b at once (b may be 0: ZeroDivisionError); both results new. */
bool dv_int_divmod(dv_vm *vm, dv_value a, dv_value b, dv_value *quotient,
                   dv_value *remainder) DV_MUST_CHECK;
/* pow(a, b, c) for ints. */
dv_value dv_int_pow_mod(dv_vm *vm, dv_value a, dv_value b, dv_value c);
/* round(v, digits), half to even; digits is an int of any size. */
dv_value dv_int_round(dv_vm *vm, dv_value v, dv_value digits);

/* v as an int: ints themselves, bools as 0 and 1, instances through __index__; TypeError
 * "'%T' object cannot be interpreted as an integer".  (operator.index) */
dv_value dv_int_index(dv_vm *vm, dv_value v);
/* What int(v) makes of a value that is not text: also floats, __int__ and __trunc__.  EMPTY without
 * vm->error: v is no number. */
dv_value dv_int_convert(dv_vm *vm, dv_value v);
/* int(v) */
dv_value dv_int_of(dv_vm *vm, dv_value v);
/* Is it a number to CPython's functions: a number, or of a class with __index__, __int__ or
 * __float__?  -1: raised. */
int dv_is_number(dv_vm *vm, dv_value v) DV_MUST_CHECK;
/* Calls the special method of that name (one of vm->known), if the class of v, a dl class or an
 * extension's, defines it; *found tells. */
dv_value dv_number_special(dv_vm *vm, dv_value v, dv_value name, bool *found);

/* x ** y; false: it does not fit, or y < 0. */
bool dv_int64_power(int64_t x, int64_t y, int64_t *out);
int64_t dv_int64_power_or_min(int64_t x, int64_t y); /* INT64_MIN: it does not fit */
/* For regions: int ** int, int(x), round(x) and round(x, digits). */
extern const dv_raw dv_int_raw_power, dv_int_raws[], dv_round_raws[];

/* Floor division and modulo of int64 as Python defines them; b != 0, and not INT64_MIN / -1. */
static inline int64_t dv_floordiv64(int64_t a, int64_t b) {
    int64_t q = a / b;
    return q - ((a % b != 0) & ((a ^ b) < 0));
}
static inline int64_t dv_floormod64(int64_t a, int64_t b) {
    int64_t m = a % b;
    return m + ((m != 0 && (m ^ b) < 0) ? b : 0);
}

#endif
