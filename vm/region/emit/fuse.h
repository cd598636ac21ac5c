/* fuse.h: two instructions of a region become one (gen/ops/region_fused.mako).
 *
 * Invariants
 *  1. The first instruction is the last one emitted, and what it has put into a register is an
 *     operand of the second one: nobody else wants it.
 *  2. Where one of them leaves the region through the first one's exit, it is as before both: the
 *     first one has no effect but its result, and the second one none before it knows that it
 * stays. Where the second one has an exit of its own, because its site's evidence may be wrong, the
 *     first one's result is in its register. */
#ifndef DV_REGION_FUSE_H
#define DV_REGION_FUSE_H

#include "region/step/step.h"

/* Emits an operator on doubles (`second`, as it is by itself), the two topmost entries, one of them
 * in d, as a part of the instruction before it.  The result is in d, or in slot `to` if that is not
 * negative. Result: the cell, or DV_NO_CELL where they don't fuse. */
uint32_t dv_fuse_binary(dv_build *b, uint32_t second, const dv_operand *x, const dv_operand *y,
                        int32_t to);

/* The same for a jump after the comparison of x, in d, with y: the target is its cell 3. */
uint32_t dv_fuse_compare_jump(dv_build *b, uint32_t second, const dv_operand *x,
                              const dv_operand *y);

/* Stores the number that entry q is, if it has just been loaded from a list, into the list in home
 * slot `home` at the index in slot `index`; false: they don't fuse. */
bool dv_fuse_copy(dv_build *b, int32_t q, int32_t home, int16_t index);

/* Stores the double that entry q is where `get`, two instructions ago, has loaded what it was made
 * from: `list[i] = list[i] + x * y` of the list in home slot `home`, the same item (its index in
 * slot `index` or `constant`); `attribute = attribute + x * y` likewise.  false: they don't fuse.
 */
bool dv_fuse_update(dv_build *b, int32_t q, uint32_t get, int32_t home, int16_t index,
                    dv_cell constant);

/* Loads a number (`second`, as it does that by itself) from the list in home slot `home` at the
 * topmost entry, the sum or difference that has just been put into r; the result is in r or d, or
 * in slot `to` if that is not negative. Result: the cell, or DV_NO_CELL where they don't fuse. */
uint32_t dv_fuse_load(dv_build *b, uint32_t second, int32_t home, int32_t to);

#endif
