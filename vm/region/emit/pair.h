/* pair.h: two or more instructions of a region that stand one behind the other, in one handler
 * (gen/ops/region_pairs.mako).
 *
 * Invariants
 *  1. Cells stay as they are, but for the handler in the first one's: the others can be jumped to,
 *     exited from and retired as ever.
 *  2. Where the cell of another one than the first is overwritten (R_RETIRED), those before it do
 *     their own work only.
 */
#ifndef DV_REGION_PAIR_H
#define DV_REGION_PAIR_H

#include "dv_ops.h"
#include "region/region.h"

/* Joins what can be joined of the instructions that begin at the cells in `starts` (ascending),
 * where their opcodes still are. */
void dv_pair_join(dv_region *region, const uint32_t *starts, uint32_t count);

/* The first instruction of a pair, which may begin with a pair itself. */
static inline uint32_t dv_pair_first(uint32_t op) {
    while (dv_op_infos[op].kind == DV_KIND_PAIR) op = dv_op_infos[op].family;
    return op;
}

/* Takes the instruction at the point out of the pairs that it is not the first one of.  No cell of
 * the region may have been overwritten yet. */
void dv_pair_part(dv_vm *vm, dv_region *region, const dv_point *point);

#endif
