/* observe.h: seeing a program's state at each loop iteration, and what dies, the same at every
 * level.
 *
 * An observed VM polls at every back edge (its countdown never gets further).  Raw values of
 * regions are read through the exit of the point where control is, without leaving the region.
 *
 * What dies unseen is no event: an object without __del__ may never have been made at another
 * level. The same holds for deaths in a collection that the program has not asked for, since its
 * time depends on how much was allocated.
 *
 * Invariant 1: observing changes nothing that a program can see, and runs no dl code. */
#ifndef DV_INSPECT_OBSERVE_H
#define DV_INSPECT_OBSERVE_H

#include "run/thread.h"

typedef struct dv_event {
    dv_vm *vm;
    const dv_object *dead; /* its __del__ or finally clauses are about to run; NULL: a back edge */
    /* Of a back edge: */
    dv_thread *thread;
    uint32_t pc; /* of the JUMP_BACK */
    const dv_cell *ip;
    const dv_value *fp;
    uint32_t base; /* the slot there where the function's locals begin: it may be analysed inline */
} dv_event;

/* Called at each back edge and death; false: stop the program (KeyboardInterrupt). */
typedef bool (*dv_observer)(void *context, const struct dv_event *event);

void dv_observe(dv_vm *vm, dv_observer observer, void *context); /* NULL: no more */

/* A number for the function, the place and the values of its locals, or for what dies and its
 * attributes: equal for equal states.  Numbers and texts that look like addresses are all equal. */
uint64_t dv_event_digest(const dv_event *event);
/* "name = value" of each local, or "CLASS dies: name = value" of each attribute, cut at size - 1
 * bytes. */
void dv_event_locals(const dv_event *event, char *buffer, size_t size);
uint32_t dv_event_line(const dv_event *event); /* 0: something dies */

#endif
