/* Generated from gen/ops by gen/render.py. */
#include "dv_steps.h"

dv_step_function *const dv_steps[DV_OP_GENERIC_COUNT] = {
% for i in model.generic():
% if i.region not in isa.REGION:
    [DV_OP_${i.name}] = ${i.region},
% endif
% endfor
};
