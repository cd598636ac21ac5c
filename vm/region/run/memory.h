/* memory.h: the memory that the regions of a VM take, and the bound of it.
 *
 * A region's bytes are those of its stream, its exits with what they name, its entries and
 * constants.  Shadow slots are no part of it: frames of functions with loops have them anyway
 * (run/thread.h), on the stack that is reserved.
 *
 * Invariants
 *  1. vm->regions.bytes is the sum of `bytes` of all regions in the lists of threads, retired ones
 *     that somebody is still in included.
 *  2. It exceeds the limit by no more than the region that is being admitted. */
#ifndef DV_REGION_MEMORY_H
#define DV_REGION_MEMORY_H

#include "region/region.h"

/* Charges for a new region, which is in no list yet.  If that exceeds the limit, the coldest ones
 * that nobody is in are given up; false: there was no room all the same, nothing is charged. */
bool dv_region_admit(dv_vm *vm, dv_region *region) DV_MUST_CHECK;
/* The region is about to be freed. */
void dv_region_discharge(dv_vm *vm, dv_region *region);

#endif
