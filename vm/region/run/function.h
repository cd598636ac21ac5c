/* function.h: functions as regions, which other regions enter with raw arguments.
 *
 * A function that calls itself, or that a region calls and cannot analyse inline, gets a region
 * that begins where it does.  Its *gate* is what callers know of it: of which kinds the arguments
 * are and the result, and where the region is.  Frames are those of any call (run/frame.h).
 *
 * Invariants
 *  1. A gate lives as long as its thread, and what it promises never changes: a region with other
 * kinds gets another gate.  One whose region has been retired is closed.
 *  2. A raw argument is in its shadow slot of the callee's frame, and its home slot holds nothing.
 *  3. fp[-2] is where a boxed result goes, also that of a frame that has left its region; the slot
 * `return_slot` says where a raw one goes, or 0: the frame was entered by INCA code. */
#ifndef DV_REGION_FUNCTION_H
#define DV_REGION_FUNCTION_H

#include "region/run/entry.h"
#include "region/analyse/lattice.h"

typedef struct dv_gate {
    struct dv_gate *next; /* of the thread's */
    const dv_cell *entry; /* the region's code; NULL: closed, and nothing fits the extent */
    dv_region *region;
    uint32_t *active;              /* the region's */
    int64_t inlined;               /* the region's */
    int64_t extent;                /* bytes of the stack that the region uses from fp on */
    uint64_t ints, floats, others; /* parameters that are not any object, by kind: INCA code may
                                      give what does not fit */
    uint64_t vacant;      /* locals without an object when it begins, from behind the first on */
    int16_t first_vacant; /* that one, or where it does no harm: there is none */
    int16_t raw;          /* the first argument's shadow slot */
    int16_t return_slot;
    uint8_t result; /* dv_kind: one of the raw ones, or ANY */
    uint8_t count;
    uint8_t parameters[]; /* their dv_kinds */
} dv_gate;

/* ENTER_COUNT at ip: the function is called often; tries to make a region, and enters it. */
const dv_cell *dv_function_hot(DV_HANDLER_PARAMETERS);
/* ENTER_REGION at ip, whose arguments are not what the region expects: goes on behind it. */
const dv_cell *dv_function_refuse(DV_HANDLER_PARAMETERS);
/* R_RETURN_ at ip, where there is more to do than to hand over the result. */
const dv_cell *dv_function_return(DV_HANDLER_PARAMETERS);

/* Puts an argument that INCA code has given, and that is to be no number, into its shadow slot;
 * false: it is not of the kind.  (What a slot holds then does not matter.) */
static inline bool dv_gate_admits(dv_value *raw, dv_value v, dv_kind kind) {
    if (kind != DV_K_BOOL) return dv_kind_of_container(v) == kind;
    raw->bits = v.bits == DV_TRUE.bits;
    return dv_is_bool(v);
}

/* Does a region that calls the function enter one of its own, or will it, if all goes well? */
bool dv_function_is_callable(const dv_thread *thread);

/* Hook: the function is warm; calls are counted of those that call themselves. */
void dv_function_warmed(dv_vm *vm, dv_object *code);
/* Its region is out of use: calls are INCA code's again, and counted, unless it was given up often.
 */
void dv_function_retire(dv_vm *vm, dv_region *region);
/* The thread dies. */
void dv_function_free(dv_vm *vm, dv_thread *thread);

#endif
