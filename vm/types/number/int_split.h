/* int_split.h: products and quotients of long numbers, in steps between which work is counted.
 *
 * Invariants
 *  1. Limbs are GMP's, least significant first; results overlap no operand; an operand's top limb
 * may be 0, a divisor's not.
 *  2. Factors that begin at one place are one number, as in n * n. */
#ifndef DV_TYPES_INT_SPLIT_H
#define DV_TYPES_INT_SPLIT_H

#include <gmp.h>

#include "core/vm.h"

/* r = a * b, of a_count + b_count limbs; a_count >= b_count >= 1.  False: raised. */
bool dv_limbs_multiply(dv_vm *vm, mp_limb_t *r, const mp_limb_t *a, int64_t a_count,
                       const mp_limb_t *b, int64_t b_count) DV_MUST_CHECK;
/* q = a / b, of a_count - b_count + 1 limbs, and r = a % b, of b_count limbs; a_count >= b_count
 * >= 1. False: raised. */
bool dv_limbs_divide(dv_vm *vm, mp_limb_t *q, mp_limb_t *r, const mp_limb_t *a, int64_t a_count,
                     const mp_limb_t *b, int64_t b_count) DV_MUST_CHECK;

#endif
