/* assumption.h: facts that hardly ever change, checked by whoever changes them instead of whoever
 * uses them.
 *
 * A region (or site) that was built on a fact registers itself with the fact's dv_assumption.
 * Breaking the assumption calls each dependent's `invalidate` once and forgets it: time
 * proportional to the dependents.  Guards are for what varies: vm/README.md, "Staying correct".
 *
 * Invariants
 *  1. A dependent is on the lists of any number of assumptions; when it dies it leaves all of them.
 *  2. `invalidate` must not run dl code; it only rewrites cells (region/invalidate.c). */
#ifndef DV_CORE_ASSUMPTION_H
#define DV_CORE_ASSUMPTION_H

#include "core/value.h"

typedef struct dv_dependency dv_dependency;

typedef struct dv_assumption {
    dv_dependency *dependents;
    uint32_t broken; /* how often, with dependents: what keeps changing is not worth assuming */
} dv_assumption;

typedef struct dv_dependent {
    void (*invalidate)(dv_vm *vm, struct dv_dependent *dependent);
    dv_dependency *dependencies;
} dv_dependent;

/* Registers; false: out of memory (nothing raised, the caller gives its region up). */
bool dv_assumption_depend(dv_vm *vm, dv_assumption *assumption,
                          dv_dependent *dependent) DV_MUST_CHECK;
void dv_assumption_break_slow(dv_vm *vm, dv_assumption *assumption);
/* Takes a dying dependent off all lists. */
void dv_dependent_leave(dv_vm *vm, dv_dependent *dependent);

/* Stress mode: breaks those assumptions of the dependent that were never broken; false: there is
 * none. */
bool dv_dependent_break_new(dv_vm *vm, dv_dependent *dependent);

static inline void dv_assumption_break(dv_vm *vm, dv_assumption *assumption) {
    if (assumption->dependents) dv_assumption_break_slow(vm, assumption);
}

#endif
