/* unit.h: units that no front end made: their memory.
 *
 * Invariants
 *  1. The memory comes from the heap, counted, and goes with the unit's last reference.
 *  2. It is aligned for every type, and not zeroed. */
#ifndef DV_CORE_UNIT_H
#define DV_CORE_UNIT_H

#include "code/code.h"
#include "core/heap.h"

/* An empty unit with one reference, whose `allocate` gives memory of the heap; NULL: none left. */
dv_unit *dv_unit_new(dv_heap *heap);

/* Lets one reference go. */
void dv_unit_release(dv_unit *unit);

#endif
