/* promise.h: what a loop promises, at a glance and before it is analysed (internal to region/). */
#ifndef DV_REGION_PROMISE_H
#define DV_REGION_PROMISE_H

#include "run/thread.h"

typedef struct dv_promise {
    uint64_t typed, boxed; /* work, weighted by loop depth as the builder does */
    uint32_t pc;           /* of the instruction on objects that weighs most */
} dv_promise;

/* Of the loop from pc `head` to its JUMP_BACK at `back`.  `producer`: the code of the generator
 * that the loop walks, if that is part of the region; else NULL. */
dv_promise dv_region_promise(dv_vm *vm, const dv_thread *thread, uint32_t head, uint32_t back,
                             const dv_thread *producer);

#endif
