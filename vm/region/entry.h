/* entry.h: entering regions from INCA code. */
#ifndef DV_REGION_ENTRY_H
#define DV_REGION_ENTRY_H

#include "run/thread.h"

/* JUMP_BACK_REGION at ip: where to continue, the region's code or the loop head in INCA code. */
const dv_cell *dv_region_enter(dv_vm *vm, const dv_cell *ip, dv_value *sp, dv_value *fp);

#endif
