/* invert.c: what regions do with ~x, the transfer function of INVERT; lab 6 (lesson6.md).
 *
 * The lab's check links it into a dynvm of its own (link.c).  dynvm itself has none: there, INVERT
 * stays the boxed instruction that it was.
 *
 * Invariants
 *  1. Entries stay as they are until the instruction is emitted: its exit is made from them.
 *  2. The function runs in both passes, and says the same in both. */
#include "region/step/step.h"

uint32_t dv_step_invert(dv_build *b, uint32_t next_pc);

/* ~x of an int is -1 - x, and x ^ -1: there is a region instruction for that. */
uint32_t dv_step_invert(dv_build *b, uint32_t next_pc) {
    dv_unbox_by_evidence(b, b->top - 1, 0);
    if (dv_top(b, 1)->kind != DV_K_INT) return dv_step_embed(b, 1, 1, next_pc);
    dv_load_register(b, b->top - 1);
    const uint32_t at = dv_region_emit(b, DV_OP_RI_XOR_RK_R, 0, 0, 0);
    dv_region_emit_constant(b, at, (dv_cell){.i = -1});
    dv_step_count(b, true);
    return dv_finish_raw(b, DV_NO_CELL, 1, DV_K_INT, -1, next_pc);
}
