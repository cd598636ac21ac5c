/* kind.h: branches by kind: where a site saw values of several kinds, the instruction goes on with
 * one of them, and what it leaves for where it is another one is a branch (dv_build_branch).
 *
 * Invariants
 *  1. A guard that fails has changed nothing, so the branch begins with the same instruction: it is
 *     an exit that stays in the region.
 *  2. The last kind of all has a guard that leaves, or none: where everything else has been tried,
 *     the value is an object. */
#ifndef DV_REGION_KIND_H
#define DV_REGION_KIND_H

#include "region/step/step.h"

/* The kind of the value that the site at b->pc loads: INT or FLOAT, for which the very next guard
 * is, or ANY.  (b->ended: all is to be begun anew.) */
dv_kind dv_kind_loaded(dv_build *b, uint16_t seen);
/* The others, where numbers are left out. */
static inline uint16_t dv_kind_others(uint16_t seen) {
    return seen & (uint16_t) ~(DV_SEEN_INT | DV_SEEN_FLOAT);
}
static inline bool dv_kind_varies(uint16_t seen) {
    return seen & (DV_SEEN_INT | DV_SEEN_FLOAT) && seen & (seen - 1);
}

/* Behind such a load: the topmost entry is an object of what is left of `seen`.  Where that are
 * bools alone it is one. */
void dv_kind_take(dv_build *b, uint16_t seen, uint32_t next_pc);

/* Entry q, an object that is operand `input` of an instruction whose operands were ints and floats
 * in turn, becomes a number. */
void dv_kind_unbox(dv_build *b, int32_t q, uint32_t input);

#endif
