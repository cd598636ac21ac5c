/* observe.h: seeing a program's state at each loop iteration, the same at every level.
 *
 * An observed VM polls at every back edge (its countdown never gets further).  Raw values of
 * regions are read through the exit of the point where control is, without leaving the region.
 *
 * Invariant 1: observing changes nothing that a program can see, and runs no dl code. */
#ifndef DV_INSPECT_OBSERVE_H
#define DV_INSPECT_OBSERVE_H

#include "run/thread.h"

typedef struct dv_event {
    dv_vm *vm;
    dv_thread *thread;
    uint32_t pc; /* of the JUMP_BACK */
    const dv_cell *ip;
    const dv_value *fp;
} dv_event;

/* Called at each back edge; false: stop the program (KeyboardInterrupt). */
typedef bool (*dv_observer)(void *context, const struct dv_event *event);

void dv_observe(dv_vm *vm, dv_observer observer, void *context); /* NULL: no more */

/* A number for the function, the place and the values of its locals: equal for equal states. */
uint64_t dv_event_digest(const dv_event *event);
/* "name = value" of each local, cut at size - 1 bytes. */
void dv_event_locals(const dv_event *event, char *buffer, size_t size);
uint32_t dv_event_line(const dv_event *event);

#endif
