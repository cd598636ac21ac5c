/* pair.h: two instructions of a region that stand one behind the other, in one handler
 * (gen/ops/region_pairs.mako).
 *
 * Invariants
 *  1. Cells stay as they are, but for the handler in the first one's: the second instruction can be
 *     jumped to, exited from and retired as ever.
 *  2. Where the second one's cell is overwritten (R_RETIRED), the first one does its own work only.
 */
#ifndef DV_REGION_PAIR_H
#define DV_REGION_PAIR_H

#include "region/region.h"

/* Joins what can be joined of the instructions that begin at the cells in `starts` (ascending),
 * where their opcodes still are. */
void dv_pair_join(dv_region *region, const uint32_t *starts, uint32_t count);

/* Takes the instruction at the point out of the pair that it is the second one of, if it is. */
void dv_pair_part(dv_vm *vm, dv_region *region, const dv_point *point);

#endif
