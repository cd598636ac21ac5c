/* safepoint.h: what a running VM does now and then: it counts its work, collects, is interrupted,
 * pauses.  vm->countdown goes down by one at each back edge and, where they are counted, at each
 * call; below 0 dv_slow_safepoint (engine.h) polls. */
#ifndef DV_RUN_SAFEPOINT_H
#define DV_RUN_SAFEPOINT_H

#include "core/vm.h"

/* Charges what was done since the last time to limit and slice; how much that was.  The countdown
 * must be set anew (dv_work_renew). */
int64_t dv_work_settle(dv_vm *vm);
/* Lets the program work until the limit or the slice is used up, but never more than `longest`. */
void dv_work_renew(dv_vm *vm, int64_t longest);
/* All work so far. */
uint64_t dv_work_done(const dv_vm *vm);

enum { DV_SAFEPOINT_INTERVAL = 1 << 16 };

#endif
