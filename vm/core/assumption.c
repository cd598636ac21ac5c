/* assumption.c: who depends on what (assumption.h).
 *
 * Invariant 1: a dependency is on two lists, its assumption's and its dependent's. */
#include "core/assumption.h"

#include "core/vm.h"

struct dv_dependency {
    dv_assumption *assumption;
    dv_dependent *dependent;
    dv_dependency *next_of_assumption;
    dv_dependency **previous_of_assumption;
    dv_dependency *next_of_dependent;
};

bool dv_assumption_depend(dv_vm *vm, dv_assumption *assumption, dv_dependent *dependent) {
    for (dv_dependency *d = dependent->dependencies; d; d = d->next_of_dependent)
        if (d->assumption == assumption) return true;
    dv_dependency *dependency = dv_heap_alloc(&vm->heap, sizeof *dependency);
    if (!dependency) return false;
    dependency->assumption = assumption;
    dependency->dependent = dependent;
    dependency->next_of_assumption = assumption->dependents;
    dependency->previous_of_assumption = &assumption->dependents;
    if (assumption->dependents)
        assumption->dependents->previous_of_assumption = &dependency->next_of_assumption;
    assumption->dependents = dependency;
    dependency->next_of_dependent = dependent->dependencies;
    dependent->dependencies = dependency;
    return true;
}

static void leave_assumption(dv_dependency *dependency) {
    *dependency->previous_of_assumption = dependency->next_of_assumption;
    if (dependency->next_of_assumption)
        dependency->next_of_assumption->previous_of_assumption = dependency->previous_of_assumption;
}

static void leave_dependent(dv_dependency *dependency) {
    dv_dependency **at = &dependency->dependent->dependencies;
    while (*at != dependency) at = &(*at)->next_of_dependent;
    *at = dependency->next_of_dependent;
}

/* A dependent may die while it is invalidated, and takes itself off other lists, so each step
 * starts at the head again. */
void dv_assumption_break_slow(dv_vm *vm, dv_assumption *assumption) {
    assumption->broken++;
    while (assumption->dependents) {
        dv_dependency *dependency = assumption->dependents;
        dv_dependent *dependent = dependency->dependent;
        leave_assumption(dependency);
        leave_dependent(dependency);
        dv_heap_free(&vm->heap, dependency, sizeof *dependency);
        dependent->invalidate(vm, dependent);
    }
}

void dv_dependent_leave(dv_vm *vm, dv_dependent *dependent) {
    while (dependent->dependencies) {
        dv_dependency *dependency = dependent->dependencies;
        dependent->dependencies = dependency->next_of_dependent;
        leave_assumption(dependency);
        dv_heap_free(&vm->heap, dependency, sizeof *dependency);
    }
}

static dv_assumption *find_unbroken(const dv_dependent *dependent) {
    for (const dv_dependency *d = dependent->dependencies; d; d = d->next_of_dependent)
        if (d->assumption->broken == 0) return d->assumption;
    return NULL;
}

bool dv_dependent_break_new(dv_vm *vm, dv_dependent *dependent) {
    bool broke = false;
    for (dv_assumption *a; (a = find_unbroken(dependent)); broke = true)
        dv_assumption_break_slow(vm, a);
    return broke;
}
