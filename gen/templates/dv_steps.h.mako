/* Generated from gen/ops by gen/render.py: the transfer functions of instructions, which say what regions do with them.
 * They go by the names in the blocks, and stand in vm/region. */
#ifndef DV_STEPS_H
#define DV_STEPS_H

#include "region/analyse/build.h"

/* Analyses the instruction at b->pc, and in the last pass writes it.  Result: the pc to go on with. */
typedef uint32_t dv_step_function(dv_build *b, uint32_t next_pc);

% for name in model.steps():
dv_step_function ${name};
% endfor

/* By opcode; NULL: regions have the instruction in another way (dv_op_region). */
extern dv_step_function *const dv_steps[DV_OP_GENERIC_COUNT];

#endif
