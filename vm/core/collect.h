/* collect.h: the cycle collector: finds the containers that only refer to each other.
 *
 * Trial deletion: every container's reference count, less the references that containers hold to
 * it, is the number of references from elsewhere: from the stack, C variables, tables of the VM.
 * What has such a reference is alive, and what can be reached from it; the others are garbage.
 *
 * Invariants
 *  1. Nothing is paid per object: containers are found by walking their pages (heap.h), and while
 *     a collection looks for garbage its marks are in the upper bits of the reference counts.  No
 *     dl code runs meanwhile, and nothing is allocated.
 *  2. A collection runs where dl code may run: at safepoints of loops and calls, and in
 *     gc.collect().  C code that can be interrupted by it holds counted references to what it
 *     uses.
 *  3. The finalisers of all garbage run before any of it is taken apart, each once, in the order in
 *     which the objects were made: __del__ of instances, and suspended generators are closed.  What
 *     can be reached again afterwards lives on.
 *  4. Objects whose release has begun have count 0 and are not looked at; while some wait for it
 *     with a link in their header (release.c), there is no collection. */
#ifndef DV_CORE_COLLECT_H
#define DV_CORE_COLLECT_H

#include "core/object.h"

typedef struct dv_collector {
    bool disabled; /* gc.disable(): only gc.collect() collects */
    bool running;
    bool wanted;              /* at the next safepoint */
    bool closes;              /* some generator has, or had, something to do when it is closed,
                               * or some weak reference a callback */
    int64_t rest;             /* of vm->countdown, which became 0 early because of that */
    int64_t collections;      /* so far */
    int64_t collected;        /* objects in all of them */
    uint32_t serial;          /* of the newest object with a finaliser (dv_instance_serial) */
    int64_t threshold[3];     /* what gc.set_threshold() was told; a first one of 0 disables */
    struct dv_ending *ending; /* while the finalisers at the end of a program run; else NULL */
} dv_collector;

void dv_collector_init(dv_vm *vm);

/* Collects all garbage.  The number of objects that were unreachable, as CPython counts them: what
 * it keeps in objects of their own counts, what it does not track is left out.  vm->error stays. */
int64_t dv_collect(dv_vm *vm);

/* The collection that the heap has asked for, if it still makes sense. */
void dv_collect_wanted(dv_vm *vm);

/* Does CPython's collector track a value like this one? */
bool dv_collect_tracks(dv_vm *vm, dv_value v);
/* Visits what an object refers to; nothing for values that are no containers. */
void dv_traverse(dv_vm *vm, dv_value v, dv_visit visit, void *context);

/* At the end of a program, while all names are there still: collects garbage, then runs the
 * finalisers of all objects that have one (collect_end.c). */
void dv_collect_finalise_all(dv_vm *vm);
/* The object, which may have a finaliser, dies meanwhile. */
void dv_collect_gone(dv_vm *vm, const dv_object *object);

/* For collect_end.c: marks all containers with DV_COLLECT_LIVE in their reference counts, and takes
 * all marks away.  False: that is not possible now. */
#define DV_COLLECT_LIVE 0x80000000u
bool dv_collect_mark(dv_vm *vm) DV_MUST_CHECK;
void dv_collect_unmark(dv_vm *vm);
/* Sorts objects with finalisers into the order in which they were made. */
void dv_collect_sort(dv_object **objects, size_t count);
/* Has it a __del__ to run, or is it a suspended generator that would notice that it is closed? */
bool dv_collect_has_finaliser(dv_vm *vm, dv_object *object);
void dv_collect_finalise(dv_vm *vm, dv_object *object);

#endif
