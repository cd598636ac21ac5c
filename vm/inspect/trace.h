/* trace.h: the log of what happened to sites, loops and functions: `dynvm trace`.
 *
 * A VM that counts (profile.h) keeps it, and no other: what tells it is called from places that
 * only such a VM has, or that run when a site changes or a guard fails.  Its clock are the steps of
 * the profile, so that a log is the same in every run of a program.
 *
 * Invariants
 *  1. Of what happens to one place, the first DV_TRACE_FIRST of a kind are kept, then each whose
 *     number is a power of two; of all places together DV_TRACE_MOST.  What is not kept is counted.
 *  2. It holds no value of the program and nothing that may die before the profile: a cell is
 *     looked at only while a thread owns it, and code only of the function's own unit. */
#ifndef DV_INSPECT_TRACE_H
#define DV_INSPECT_TRACE_H

#include "inspect/json.h"
#include "inspect/profile.h"
#include "run/thread.h"

enum { DV_TRACE_FIRST = 8, DV_TRACE_MOST = 1 << 16 };

typedef enum dv_happened {
    DV_HAPPENED_WARM,      /* a function: its sites look at what they meet from now on */
    DV_HAPPENED_QUICKENED, /* a site took a derivative */
    DV_HAPPENED_MISSED,    /* its guard failed */
    DV_HAPPENED_BACKED,    /* back-off: it lost its derivative, or nothing fitted; it waits */
    DV_HAPPENED_COVERED,   /* the derivative in front of it does its work from now on */
    DV_HAPPENED_GENERIC,   /* it stays generic for good */
    DV_HAPPENED_MADE,      /* a loop is in a region now */
    DV_HAPPENED_REFUSED,   /* none could be made */
    DV_HAPPENED_ENTERED,
    DV_HAPPENED_LEFT,
    DV_HAPPENED_RETIRED, /* it was given up */
    DV_HAPPENED_KINDS
} dv_happened;

typedef struct dv_moment {
    uint64_t step;   /* when: so many steps had been begun */
    uint64_t number; /* the how manieth of its kind at its place, from 1 */
    const dv_function_counts *function;
    const dv_cell *cell;  /* of a site that has just changed; then NULL */
    const char *foreign;  /* QUICKENED: name of an extension's derivative; else NULL */
    const dv_code *in;    /* LEFT: where execution went on; NULL: not kept */
    dv_operands operands; /* that the site met; all 0: not looked at */
    uint32_t pc; /* of the site, or of the loop's JUMP_BACK; 0 for WARM and a function's region */
    uint32_t other;    /* MADE: of the region's outermost loop; LEFT: where execution went on */
    uint16_t from, to; /* dv_op of a site that changed; DV_OP_COUNT: an extension's */
    uint16_t wait;     /* BACKED: executions until it looks again */
    uint8_t kind;      /* dv_happened */
    uint8_t why; /* BACKED, GENERIC: dv_reason; REFUSED, RETIRED: dv_refusal; LEFT: dv_exited */
} dv_moment;

typedef struct dv_trace {
    dv_moment *moments;
    uint32_t count, room;
    uint32_t settled; /* those behind are of the running step: their sites are not looked at yet */
    uint64_t happened[DV_HAPPENED_KINDS];
    uint64_t dropped[DV_HAPPENED_KINDS]; /* of these, not kept */
} dv_trace;

/* Notes it, if invariant 1 keeps it; NULL: it is not kept. */
dv_moment *dv_trace_add(dv_vm *vm, dv_happened kind, const dv_function_counts *function,
                        uint32_t pc, uint64_t number);
/* A step has ended: what its changes led to is seen at the sites.  The operands are those that the
 * step met at `site`. */
void dv_trace_settle(dv_vm *vm, const dv_cell *site, const dv_operands *operands);
void dv_trace_free(dv_vm *vm, dv_trace *trace);

/* The log, oldest first: lines of text, or of JSON, of which the first is about all and each other
 * one a moment.  False: out of memory (raised). */
bool dv_inspect_trace(dv_vm *vm, const dv_page *page) DV_MUST_CHECK;
/* The same as members of a JSON object. */
void dv_trace_json(dv_vm *vm, dv_json *json);

#endif
