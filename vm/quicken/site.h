/* site.h: life of a site: warm-up, choosing a derivative, misses, back-off (PEP 659; the
 * tour is vm/quicken/README.md).
 *
 *     generic --(function is warm)--> adaptive --(types fit a derivative)--> derivative
 *        ^                               |  ^                                   |
 *        +--- waits 2^backoff times -----+  +---- DV_SITE_MISSES failed guards --+
 *
 * Invariants
 *  1. All forms of a family have one length and one layout; only the handler cell, the site cell
 * and the inline cache change.
 *  2. A guard that fails executes the generic instruction for this once. */
#ifndef DV_QUICKEN_SITE_H
#define DV_QUICKEN_SITE_H

#include "run/engine.h"

enum {
    DV_HOT_ITERATIONS = 500, /* iterations of a loop in a warm function until a region is tried */
    DV_SITE_MISSES = 8,      /* failed guards until a derivative is given up */
    DV_SITE_WAIT = 16,       /* executions until a site that nothing fitted tries again ... */
    DV_SITE_BACKOFF = 10,    /* ... doubled so many times at most */
    DV_SITE_ANY_SIZE = 3,    /* after so many, operators that met long ints take them of any size */
};

/* Why a site stayed generic (shown by `dynvm explain`). */
typedef enum dv_reason {
    DV_REASON_NONE,
    DV_REASON_TYPES,
    DV_REASON_CALLEE,
    DV_REASON_NAME,
    DV_REASON_CLASS,       /* what it stores to is a class, which caches and regions rely on */
    DV_REASON_SHAPES,      /* no reason: it has seen a second shape and is about to keep several */
    DV_REASON_ENTRIES,     /* likewise, and its cache has room for them (quicken/polymorphic.h) */
    DV_REASON_MEGAMORPHIC, /* it has seen more shapes than it can keep */
    DV_REASON_COVERED      /* no reason: the derivative in front of it does its work */
} dv_reason;

/* Types of results that a site was seen to have, and of what a STORE_SUBSCR stored, as bits of
 * dv_site.seen: evidence for regions. */
enum {
    DV_SEEN_INT = 1,
    DV_SEEN_FLOAT = 2,
    DV_SEEN_BOOL = 4,
    DV_SEEN_NONE = 8,
    DV_SEEN_STR = 16,
    DV_SEEN_LIST = 32,
    DV_SEEN_TUPLE = 64,
    DV_SEEN_OTHER = 128
};

/* The same of items that a loop takes apart, three or more: two bits for each, the first one's
 * lowest. */
enum { DV_PART_INT = 1, DV_PART_FLOAT = 2, DV_PART_OTHER = 3, DV_MOST_PARTS = 8 };

/* dv_site.met: the number of the shape that the left operand had, if there is room for it, and what
 * the right one was: an object of the same shape, a number of this type, or (0) none of these, or
 * one of them in turn. */
enum {
    DV_MET_SHAPE = 0x3FFF,
    DV_MET_SAME = 0x4000,
    DV_MET_INT = 0x8000,
    DV_MET_FLOAT = 0xC000,
    DV_MET_RIGHT = 0xC000
};

struct dv_thread;

static inline uint16_t dv_seen(dv_value v) {
    if (dv_is_int(v)) return DV_SEEN_INT;
    if (dv_is_float(v)) return DV_SEEN_FLOAT;
    if (dv_is_bool(v)) return DV_SEEN_BOOL;
    if (dv_is_none(v)) return DV_SEEN_NONE;
    if (dv_is_shape(v, DV_T_STR)) return DV_SEEN_STR;
    if (dv_is_shape(v, DV_T_LIST)) return DV_SEEN_LIST;
    return dv_is_shape(v, DV_T_TUPLE) ? DV_SEEN_TUPLE : DV_SEEN_OTHER;
}

/* Notes whom it meets: the site is about to take such a derivative for the instance
 * a and the other operand (for an operator with one, a again). */
static inline void dv_site_meet(dv_cell *ip, dv_value a, dv_value b) {
    const uint32_t shape = dv_as_object(a)->shape, before = ip[1].site.met;
    const bool same = dv_is_object(b) && dv_as_object(b)->shape == shape;
    uint32_t right = same             ? DV_MET_SAME
                     : dv_is_int(b)   ? DV_MET_INT
                     : dv_is_float(b) ? DV_MET_FLOAT
                                      : 0;
    if ((before & DV_MET_SHAPE) == shape && (before & DV_MET_RIGHT) != right) right = 0;
    ip[1].site.met = shape > DV_MET_SHAPE ? 0 : (uint16_t)(shape | right);
}

/* The site takes this form (same family). */
void dv_site_become(dv_vm *vm, dv_cell *ip, uint32_t op);
/* Its family (the generic opcode; DV_OP_COUNT: an extension's handler is there) and the first cell
 * of its cache. */
uint32_t dv_site_family(dv_vm *vm, const dv_cell *ip);
dv_cell *dv_site_cache(dv_vm *vm, dv_cell *ip);
/* The same, for this reason; one that had room for some shapes is megamorphic now. */
void dv_site_refuse(dv_vm *vm, dv_cell *ip, dv_reason reason);
/* The work of the site at ip is done by the derivative in front of it: as regions ask, it is one
 * that is executed, but it does not find out anything. */
void dv_site_covered(dv_vm *vm, dv_cell *ip);
/* No derivative of the VM fits: one of an extension whose object is among the operands (below
 * vm->sp), or back to generic execution for a while. */
void dv_site_unsuitable(dv_vm *vm, dv_cell *ip);

/* The site stays generic for good. */
void dv_site_megamorphic(dv_vm *vm, dv_cell *ip);

/* A region found the evidence of the thread's site wrong: the site becomes adaptive and chooses at
 * its next execution. */
void dv_site_reconsider(dv_vm *vm, struct dv_thread *thread, dv_cell *ip);

/* Sets the hook of run/ that starts all this (api calls it unless --level=generic). */
void dv_quicken_setup(dv_vm *vm);

/* Makes all sites of a thread adaptive. */
void dv_quicken_warm(dv_vm *vm, dv_object *thread);

#endif
