/* entry.h: how control crosses the edge of a region, as handlers need it. */
#ifndef DV_REGION_ENTRY_H
#define DV_REGION_ENTRY_H

#include "run/thread.h"

/* JUMP_BACK_REGION at ip: goes on in the region's code or at the loop head in INCA code. */
const dv_cell *dv_region_enter(DV_HANDLER_PARAMETERS);
/* FOR_ITER at ip, whose loop begins and has a region: goes on in its code at the head, or at ip. */
const dv_cell *dv_region_start(DV_HANDLER_PARAMETERS);
/* JUMP_BACK_COUNT at ip: the loop is hot; tries to make a region, and enters it. */
const dv_cell *dv_region_hot(DV_HANDLER_PARAMETERS);

/* R_EXIT: leaves through the exit in the cell. */
const dv_cell *dv_region_exit(DV_HANDLER_PARAMETERS);
/* R_MAKE: the instance that the DV_EXIT_INSTANCE item and those behind it describe, to its home
 * slot; false: raised. */
bool dv_region_make(dv_vm *vm, dv_value *fp, const void *item) DV_MUST_CHECK;
/* The exception that the dv_source in the slot describes, which takes the objects behind it; or, if
 * there is no memory for it, what says so. */
dv_value dv_region_raised(dv_vm *vm, dv_value *slot);
/* What handles it ends: these objects go. */
void dv_region_forget(dv_vm *vm, dv_value *slot);
/* R_RETIRED (and stress): leaves at a back edge or resume point through that point's exit. */
const dv_cell *dv_region_retired(DV_HANDLER_PARAMETERS);

#endif
