/* entry.h: how control crosses the edge of a region, as handlers need it. */
#ifndef DV_REGION_ENTRY_H
#define DV_REGION_ENTRY_H

#include "dv_ops.h"
#include "run/thread.h"
#include "types/sequence/list.h"

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
static inline bool dv_op_makes(uint32_t op) {
    return op == DV_OP_R_MAKE || op == DV_OP_R_MAKE_FADED || op == DV_OP_RA_RENEW ||
           op == DV_OP_RL_RENEW;
}
/* RA_RENEW, RL_RENEW: the same of one that takes the place of `dying` next, or of EMPTY.  If that
 * dies of it, unseen and in silence, is of the same shape, and nobody was told its address, it
 * becomes the new one: may it? */
bool dv_region_may_renew(const dv_vm *vm, const void *item, dv_value dying);
bool dv_region_renew(dv_vm *vm, dv_value *fp, const void *item, dv_value dying) DV_MUST_CHECK;
/* What the attribute at `where`, if the object is of that shape, or the item of the list has now.
 */
static inline dv_value dv_dying_attribute(dv_value object, dv_cell where) {
    if (!dv_is_object(object) || dv_as_object(object)->shape != (uint32_t)where.s.a)
        return DV_EMPTY;
    return *(dv_value *)(void *)((char *)dv_as_object(object) + where.s.b);
}
static inline dv_value dv_dying_item(dv_value list, int64_t i) {
    const int64_t count = dv_is_shape(list, DV_T_LIST) ? dv_as_list(list)->count : 0;
    if (i < 0) i += count;
    return i >= 0 && i < count ? dv_as_list(list)->items[i] : DV_EMPTY;
}
/* RAISE with so many operands, the topmost values, or RERAISE: the exception, an object, goes
 * behind the slot, with its traceback up to where the region catches it; false: it goes where
 * vm->error does. */
enum { DV_RAISES_AGAIN = 3 };
bool dv_region_raise(dv_vm *vm, dv_value *slot, const void *source, int32_t count) DV_MUST_CHECK;
/* The exception that the dv_source in the slot describes, which takes the objects behind it; or, if
 * there is no memory for it, what says so, which is raised then, too. */
dv_value dv_region_raised(dv_vm *vm, dv_value *slot);
/* What handles it ends: these objects go. */
void dv_region_forget(dv_vm *vm, dv_value *slot);
/* R_RETIRED (and stress): leaves at a back edge or resume point through that point's exit. */
const dv_cell *dv_region_retired(DV_HANDLER_PARAMETERS);

#endif
