/* state.h: what the site of an instruction has become: its form, what its inline cache holds, what
 * it saw, and its counters; as text and as JSON.
 *
 * Invariant 1: a cache holds no references, so what it points to may be gone; before a pointer is
 * followed, something that is alive must lead to the same object. */
#ifndef DV_INSPECT_STATE_H
#define DV_INSPECT_STATE_H

#include "dv_ops.h"
#include "inspect/json.h"
#include "run/thread.h"

/* What a cache holds, in the order in which it is said. */
typedef enum dv_fact_kind {
    DV_FACT_SHAPE,      /* text: class of the instances that it knows, or a built-in type */
    DV_FACT_ATTRIBUTES, /* number: how many attributes they have */
    DV_FACT_SLOT,       /* number: where the attribute is in them */
    DV_FACT_ADDS,       /* number: attributes they have after the store */
    DV_FACT_CLASS,      /* text: the class whose attribute it is */
    DV_FACT_CALLEE,     /* text: what is called */
    DV_FACT_MODULE,     /* text: the module whose attribute it is */
    DV_FACT_GLOBAL,     /* text: name of a global or builtin */
    DV_FACT_KINDS
} dv_fact_kind;

typedef struct dv_fact {
    dv_fact_kind kind;
    uint32_t entry; /* polymorphic caches have several */
    uint32_t number;
    char text[64];
    uint32_t size;
} dv_fact;

typedef struct dv_site_state {
    const char *form; /* NULL: the generic instruction */
    dv_op_kind kind;
    const char *tier;   /* of an extension's derivative: "native" or "portable"; else NULL */
    const char *reason; /* adaptive: why it has no derivative; NULL: it has not looked yet */
    uint32_t seen;      /* DV_SEEN_...: types of results */
    uint32_t seen_with; /* likewise: of what comes with them, where pairs are taken apart */
    uint32_t misses;    /* since it was chosen */
    uint32_t backoff, waits;
    uint32_t iterations_left; /* of a back edge until a region is tried; 0: it does not count */
    uint32_t fact_count;
    dv_fact facts[16];
    dv_foreign_report report; /* of extensions; all 0: there is none */
} dv_site_state;

/* Looks at the instruction at pc. */
void dv_state_look(dv_vm *vm, const dv_thread *thread, uint32_t pc, dv_site_state *state);

/* Why an adaptive site (dv_reason) has no derivative; NULL: there is no reason. */
const char *dv_state_reason(unsigned reason);

/* Nothing if the instruction is the generic one. */
void dv_state_text(const dv_site_state *state, const dv_page *page, dv_line *line);
/* Members of the instruction's object. */
void dv_state_json(const dv_site_state *state, dv_json *json);

#endif
