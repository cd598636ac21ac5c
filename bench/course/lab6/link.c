/* link.c: puts the lab's transfer function in front of the machine's, for INVERT alone.
 *
 * The linker's --wrap sends calls of dv_step here.  In dynvm itself one would write
 * region="dv_step_invert" into the block of INVERT (gen/ops/arith.mako) instead, and build all of
 * it again. */
#include "region/step/step.h"

uint32_t dv_step_invert(dv_build *b, uint32_t next_pc);
uint32_t __real_dv_step(dv_build *b);
uint32_t __wrap_dv_step(dv_build *b);

uint32_t __wrap_dv_step(dv_build *b) {
    if (dv_step_op(b, b->pc) != DV_OP_INVERT) return __real_dv_step(b);
    return dv_step_invert(b, b->pc + dv_step_length(b, b->pc));
}
