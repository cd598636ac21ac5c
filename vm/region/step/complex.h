/* complex.h: complex numbers in regions: raw, as two doubles in slots side by side (internal to
 * region/).
 *
 * Invariants
 *  1. An entry of kind COMPLEX is a constant, or AT_SLOT: its real part is in that slot, its
 *     imaginary part in the next one.  It is never in a register.
 *  2. Such slots are an entry's own (dv_complex_slot), or those of a local that it was loaded from;
 *     whoever changes a local first moves what refers to it (dv_claim).
 *  3. A complex number in a local that the loop stores to is no object at home while control is in
 *     the region: entering takes it apart, exits make it. */
#ifndef DV_REGION_COMPLEX_H
#define DV_REGION_COMPLEX_H

#include "region/step/step.h"

/* The first of entry q's own two slots; 0 and b->failed if there are none left. */
int16_t dv_complex_slot(dv_build *b, int32_t q);
/* Entry q, raw or a constant, to its own slots, or to those of entry `to`. */
void dv_complex_settle(dv_build *b, int32_t q);
void dv_complex_move(dv_build *b, int32_t q, int32_t to);
/* Two entries of the operand stack change places; one of them at least is complex. */
void dv_complex_exchange(dv_build *b, int32_t low, int32_t top);
/* A boxed entry that INCA saw to be complex becomes raw, behind a guard. */
void dv_complex_unbox(dv_build *b, int32_t q);

/* The operator on the two topmost entries, of which one is complex and the other a raw number;
 * false: they are others, or there is no instruction for it. */
bool dv_complex_binary(dv_build *b, dv_binary_op op, uint32_t *next_pc);
/* == and != of two complex numbers */
bool dv_complex_compare(dv_build *b, dv_compare_op op, uint32_t *next_pc);
/* -z */
bool dv_complex_negate(dv_build *b, uint32_t *next_pc);
/* z.real and z.imag */
bool dv_complex_load_attribute(dv_build *b, uint32_t *next_pc);
/* abs(z) */
bool dv_complex_size(dv_build *b, uint32_t *next_pc);
/* complex(x), complex(x, y) of n raw numbers */
bool dv_complex_construct(dv_build *b, int32_t n, uint32_t *next_pc);

#endif
