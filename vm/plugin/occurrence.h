/* occurrence.h: what the VM keeps for each site that an extension was asked about: its derivative,
 * occurrence cache, dropped operands, and why it has none.
 *
 * Invariants
 *  1. A site with a derivative has the address of its occurrence in its site cell, in place of its
 * counters, which `backoff` keeps; so has the copy of it in a region.  So an occurrence, with its
 * cache, stays until the code that it belongs to goes (or the VM ends), even where its site has
 * become something else; a site that was specialised DV_MOST_OCCURRENCES times stays generic, so
 * that this is bounded.
 *  2. Breaking an assumption makes the keys of its dependents fit no value: copies fail their
 * guards from then on, with nothing to look for.
 *  3. `cell` is the site itself: copies in regions are found by their address alone. */
#ifndef DV_PLUGIN_OCCURRENCE_H
#define DV_PLUGIN_OCCURRENCE_H

#include "core/assumption.h"
#include "plugin/type.h"
#include "run/thread.h"

enum {
    DV_MOST_OCCURRENCES = 32,
    DV_MOST_NODES = 32,
    DV_MOST_CALLEES = 4,
    DV_MOST_BELOW = 32,
    DV_MOST_NUMBERS = 40,
    DV_KEY_PARTS = 6 /* of a key */
};

/* A callee among the entries of the stack that an expression takes (expression.h). */
typedef struct dv_expression_callee {
    uint8_t slot;
    bool method; /* there is an entry for self */
    dv_value value;
} dv_expression_callee;

/* Where an operand of an expression is read when it runs: at this offset in bytes from the first
 * entry of the stack that the expression takes, from the frame's locals, from the site's own drops
 * (of what does not vary), or from the numbers that it has computed. */
typedef enum dv_read_base {
    DV_READ_ENTRY,
    DV_READ_LOCAL,
    DV_READ_DROP,
    DV_READ_NUMBER,
    DV_READ_BASES
} dv_read_base;
typedef struct dv_expression_read {
    dv_read_base base;
    int64_t offset;
} dv_expression_read;

/* A number that an expression computes, before anything else, of those in front of it: `2.0 * dx`
 * is three.  So are keys, `[1:n, i]`: objects that the site keeps, whose parts are set again. */
typedef enum dv_number_is {
    DV_NUMBER_CONSTANT,
    DV_NUMBER_LOCAL,
    DV_NUMBER_RESULT,
    DV_NUMBER_SLICE,
    DV_NUMBER_TUPLE
} dv_number_is;
typedef struct dv_expression_number {
    uint8_t is;                  /* dv_number_is */
    uint8_t operation;           /* dv_binary_op; of a key: how many parts */
    uint8_t parts[DV_KEY_PARTS]; /* its operands */
    union {
        dv_value constant; /* an int or float: not counted; a key, which is */
        int64_t local;     /* offset in bytes from the frame's locals */
    } from;
} dv_expression_number;

typedef struct dv_extension_site dv_extension_site;

/* An operand that is not loaded any more (drop.c). */
typedef struct dv_drop {
    dv_cell *load; /* of the operand; NULL: it is not dropped */
    dv_handler was, now;
    dv_value original;      /* counted; EMPTY: the local is read again */
    int64_t local;          /* ... at this offset */
    dv_global_cell *global; /* whose value it is, or NULL */
    uint32_t cells;         /* of the instructions that make it of constants; 0: it is a load */
} dv_drop;

struct dv_extension_site {
    dv_site_block block; /* freed with the thread */
    dv_occurrence seen;
    dvx_specialisation derivative; /* name NULL: it has none */
    const dvx_specialisation *descriptor;
    dv_handler handler;
    /* Of an expression (expression.h): the occurrence of its first site, how many entries of the
     * stack it takes, which of them are operands (not of those that are dropped), which of all
     * are owned, what callees must be among them, what numbers it computes, and where its sites
     * are, in cells from the first one. */
    const dv_extension_site *under;
    uint32_t below;
    uint8_t slots[DV_MOST_OPERANDS];
    dv_expression_read reads[DV_MOST_OPERANDS];
    uint8_t callee_count;
    uint32_t owned;
    dv_expression_callee callees[DV_MOST_CALLEES];
    uint32_t number_count;
    dv_expression_number numbers[DV_MOST_NUMBERS];
    uint32_t node_count;
    uint16_t nodes[DV_MOST_NODES];
    const dv_cell *running_at;     /* the instruction of a region that is executing it; or NULL */
    const dv_extension_type *type; /* whose `specialise` has made it */
    dv_cell *cell;
    uint32_t number; /* in the table of all */
    uint32_t family; /* the generic opcode */
    uint32_t kind;   /* dvx_family */
    bool copy;       /* of a site, in a region: nobody finds it by its cell, which may be gone */
    uint8_t backoff; /* of the site, for when it is no longer the derivative's */
    bool method;     /* laid out as CALL_METHOD; of kind CALL: its self is EMPTY */
    bool careful;    /* there is more to do than to call `run` (operate.c) */
    bool stores;     /* it ends in a SET_ITEM: nothing is pushed */
    bool broken;     /* an assumption was, or the site has given it up */
    bool unloads;    /* operands are dropped, or were: EMPTY may stand on the stack */
    uint32_t
        waits; /* where it unloads and was given up: executions until it is asked about again */
    uint32_t times; /* which derivative of the site it is */
    const char *reason;
    /* Of the expression that ends here: its derivative; or why it has none. */
    const char *fused, *unfused;
    dv_notes notes, counts; /* dv_foreign_report */
    dv_dependent dependent;
    dv_drop drops[DV_MOST_OPERANDS];
    dv_extension_site *next; /* of the same hash; newer ones of a cell first */
    size_t cache_size;
    _Alignas(16) char cache[];
};

struct dvx_assumption {
    dv_assumption assumption;
    dvx_assumption *next;
};

/* A new one for the cell of `owner`, NULL: for a copy of a site; its memory belongs to the running
 * frame's code.  NULL: out of memory, or the site has had too many. */
dv_extension_site *dv_occurrence_new(dv_vm *vm, dv_cell *cell, uint32_t family, size_t cache_size,
                                     const dv_thread *owner);
/* It was made, and its site does not become it. */
void dv_occurrence_void(dv_vm *vm, dv_extension_site *o);
/* The newest one of a cell; NULL: there is none. */
dv_extension_site *dv_occurrence_of(const dv_vm *vm, const dv_cell *cell);
/* Releases what all of them hold; their memory goes with the code. */
void dv_occurrence_discard(dv_vm *vm);

/* Of a site that has a derivative, or refills. */
static inline dv_extension_site *dv_occurrence_at(const dv_cell *cell) {
    uintptr_t seen = (uintptr_t)cell[1].extended.occurrence;
    return (dv_extension_site *)(seen - offsetof(dv_extension_site, seen));
}
/* The same of any instruction that is not the VM's; NULL: it is something else. */
dv_extension_site *dv_occurrence_if_any(const dv_vm *vm, const dv_cell *cell);

/* The site cell while the derivative stands there, and when it does not any more. */
void dv_occurrence_enter(const dv_extension_site *o, dv_cell *cell);
void dv_occurrence_leave(const dv_extension_site *o, dv_cell *cell);

/* The operands' values stand where `run` reads them: an occurrence expects exactly these types. */
void dv_occurrence_expect(dv_vm *vm, dv_extension_site *o, const dv_value *operands);

/* drop.c */

/* The loads of the dropped operands push EMPTY from now on. */
void dv_drop_install(dv_vm *vm, dv_extension_site *o);
/* They load again. */
void dv_drop_restore(dv_extension_site *o);
/* Puts the originals where EMPTY stands among the operands. */
void dv_drop_refill(const dv_extension_site *o, const dv_cell *ip, dv_value *operands,
                    const dv_value *fp);
/* Does the new occurrence of a site drop all that the former one does, with the same originals?
 * What is on the stack of suspended activations is then refilled by either. */
bool dv_drop_covers(const dv_extension_site *former, const dv_extension_site *o);
/* May operand i, which the instruction at `load` pushes, be dropped at the site, to which ways are
 * straight (dv_origin_straight)?  Fills in *drop; else *reason says why not. */
bool dv_drop_prepare(dv_vm *vm, dv_thread *thread, uint32_t load, uint32_t site, uint32_t straight,
                     dv_value value, dv_drop *drop, const char **reason);
/* The cell of the global or builtin that the instruction loads without looking; NULL: none. */
dv_global_cell *dv_drop_global(dv_vm *vm, const dv_cell *load);
/* Is this one of the handlers in the cells of such loads? */
bool dv_drop_is_load(dv_handler handler);

/* operate.c */

/* Is this opcode a call with keywords? */
bool dv_operate_is_named(uint32_t family);
/* The handler of the occurrence: the native twin, or one around the portable one. */
dv_handler dv_operate_handler(const dv_vm *vm, const dv_extension_site *o, bool native);
/* The site is the derivative's no longer: what stands there now. */
void dv_operate_give_up(dv_vm *vm, dv_extension_site *o, dv_cell *ip);
void dv_operate_setup(dv_vm *vm);
extern const dv_handler
    dv_operate_refill; /* of a site that lost a derivative with dropped operands */

#endif
