/* finalise.h: running dl code where the last reference to something goes.
 *
 * Invariants
 *  1. What runs there changes neither the exception that is being raised nor where control is: an
 *     exception of its own is reported and forgotten.
 *     An interrupt that comes then is reported there, and comes again behind it: it is not lost.
 *  2. Meanwhile objects that die are released at once, but the queue of those that wait for their
 *     release (core/release.c) is not worked off. */
#ifndef DV_TYPES_FINALISE_H
#define DV_TYPES_FINALISE_H

#include "core/vm.h"

/* What is set aside meanwhile. */
typedef struct dv_finaliser {
    dv_value error, keywords;
    uint32_t depth;
    uint32_t interrupts; /* vm->work.interrupts of then */
} dv_finaliser;

dv_finaliser dv_finaliser_enter(dv_vm *vm);
/* Reports vm->error, if there is one, as raised by `culprit`. */
void dv_finaliser_leave(dv_vm *vm, const dv_finaliser *saved, dv_value culprit);

#endif
