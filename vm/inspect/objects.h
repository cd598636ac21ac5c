/* objects.h: counting the objects that the instructions of a program make, by kind, and those that
 * they need not make: what Figure 7 of Bolz et al., "Allocation Removal by Partial Evaluation in a
 * Tracing JIT" (2011), shows.
 *
 * An object is *made* by an instruction if the instruction's result is a new one of a kind of
 * dv_made.  It is *removed* where the generic instruction would have made it, and a derivative or a
 * region has done the work without.  What C functions make on their way is not counted.  There are
 * no boxes to count: floats and ints up to 48 bits are values (core/value.h).
 *
 * Invariant: made + removed, of each kind, do not depend on the level. */
#ifndef DV_INSPECT_OBJECTS_H
#define DV_INSPECT_OBJECTS_H

#include "region/region.h"

typedef struct dv_objects {
    uint64_t made[DV_MADE_KINDS], removed[DV_MADE_KINDS];
} dv_objects;

/* What is known of an instruction before its step. */
typedef struct dv_making {
    const dv_cell *behind; /* where control goes on; NULL: it makes nothing that is counted */
    const dv_cell *second; /* the same if it has done the instruction behind as well */
    const dv_value *fp;
    dv_value operand; /* of GET_ITER */
    uint16_t family, op;
    uint8_t kind; /* dv_made */
} dv_making;

/* The instruction in the cell, generic or a derivative of one, in INCA code or in a region. */
dv_making dv_making_before(dv_vm *vm, const dv_cell *cell, uint32_t op);
/* ... was executed, and control is at `next`. */
void dv_making_after(dv_vm *vm, const dv_making *making, const dv_cell *next, dv_objects *objects);
/* Control has come to a cell of a region without what its marks say, or to what makes an object
 * there. */
void dv_objects_passed(dv_vm *vm, const dv_region *region, const dv_cell *cell,
                       dv_objects *objects);
/* The region is about to be left through the exit, which makes what nobody else has made.  (Not
 * counted is the iterator of a WALK: INCA code may have made one, which went when the region was
 * entered.) */
void dv_objects_left(const dv_exit *exit, const dv_value *fp, dv_objects *objects);

extern const char *const dv_made_names[DV_MADE_KINDS]; /* in JSON: never change */

#endif
