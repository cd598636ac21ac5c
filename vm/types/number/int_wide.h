/* int_wide.h: operators on ints of one or two limbs, in registers: hashes, random numbers and fixed
 * point are made of such. */
#ifndef DV_TYPES_INT_WIDE_H
#define DV_TYPES_INT_WIDE_H

#include "types/number/int.h"

/* *out = a op b for ints (bools count), where both and the result have two limbs at most; false:
 * not so, or it raises.  *out is EMPTY where there is no memory: raised. */
bool dv_int_wide(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b, dv_value *out);

/* a op b for exact ints of any size.  Bits of `own` (1: a, 2: b) say which operand dies: it is
 * consumed, and its block may become the result's; but nothing is where the result is EMPTY:
 * raised. */
#define DV_INT_DO(name) dv_value dv_int_do_##name(dv_vm *vm, dv_value a, dv_value b, uint32_t own)
DV_INT_DO(ADD);
DV_INT_DO(SUB);
DV_INT_DO(MUL);
DV_INT_DO(FLOORDIV);
DV_INT_DO(MOD);
DV_INT_DO(LSHIFT);
DV_INT_DO(RSHIFT);
DV_INT_DO(AND);
DV_INT_DO(OR);
DV_INT_DO(XOR);

/* Has a op b of two ints of 48 bits more of them (or is there none)? */
bool dv_int_outgrows(dv_binary_op op, dv_value a, dv_value b);

/* An int, and of no class derived from it. */
static inline bool dv_is_exact_int(dv_value v) { return dv_is_int(v) || dv_is_shape(v, DV_T_INT); }

#endif
