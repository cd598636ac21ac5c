/* plan.h: how the arguments of one call come to be the parameters of one dl function: found out
 * once at the site, and then done without looking at a name.
 *
 * A call pushes its arguments in the order in which they are written; the frame wants one value for
 * each parameter.  A plan is a list of steps from the one to the other: arguments that move (in an
 * order in which none overwrites one that is still to move), defaults of positional parameters, and
 * defaults of keyword-only ones.
 *
 * Invariants
 *  1. A plan is for all functions made of one code object, which its thread's serial names: that
 *     number is never used again, so a plan never follows what it does not own.
 *  2. What may differ between these functions, or change, is their defaults: dv_plan_fits looks at
 *     all that the plan needs before anything is moved.
 *  3. A plan is in a block of the thread in whose code the site is, found again by the site: a site
 *     that chooses anew writes over its old plan. */
#ifndef DV_RUN_PLAN_H
#define DV_RUN_PLAN_H

#include "run/frame.h"
#include "types/mapping/dict.h"

enum { DV_PLAN_STEPS = 32, DV_PLAN_PARAMETERS = 20 };

/* Places of arguments and parameters count from the frame's local 0. */
typedef struct dv_plan_step {
    int16_t from; /* place; number among the missing defaults; entry in the dict of defaults */
    int16_t to;
} dv_plan_step;

typedef struct dv_plan {
    dv_site_block block;
    uint64_t serial; /* of the thread whose functions it is for */
    uint16_t moves;  /* steps that move arguments, */
    uint16_t filled; /* and, behind them, up to where they are defaults of positional parameters, */
    uint16_t count;  /* and, behind these, up to where they are those of keyword-only ones */
    uint16_t missing; /* so many of the last defaults of positional parameters are looked at */
    dv_plan_step steps[DV_PLAN_STEPS];
} dv_plan;

/* A call: `count` arguments, the last ones named by `keywords` unless it is EMPTY, of which the
 * first is at place `base` and belongs to parameter number `first`. */
typedef struct dv_plan_call {
    uint32_t count;
    dv_value keywords;
    int32_t base;
    uint32_t first;
} dv_plan_call;

/* The site's plan for a call of the function; NULL: it needs more than a plan can do, or there is
 * no memory (nothing is raised). */
const dv_plan *dv_plan_make(dv_vm *vm, const dv_cell *site, const dv_function *function,
                            const dv_plan_call *call);

/* Does the plan still do for this function? */
static inline bool dv_plan_fits(const dv_plan *plan, const dv_function *function) {
    const dv_thread *thread = dv_function_thread(function);
    if (thread->serial != plan->serial) return false;
    if (plan->missing && !dv_frame_defaults(function, plan->missing)) return false;
    for (uint32_t i = plan->filled; i < plan->count; i++) {
        if (dv_is_empty(function->keyword_defaults)) return false;
        const dv_dict *dict = dv_as_dict(function->keyword_defaults);
        const dv_plan_step *step = &plan->steps[i];
        if (step->from >= dict->used ||
            dict->entries[step->from].key.bits != thread->parameters[step->to].bits)
            return false;
    }
    return true;
}

/* Carries it out: afterwards all parameters are in place. */
static inline void dv_plan_do(const dv_plan *plan, const dv_function *function, dv_value *frame) {
    const dv_plan_step *step = plan->steps;
    for (const dv_plan_step *end = plan->steps + plan->moves; step < end; step++)
        frame[step->to] = frame[step->from];
    if (DV_LIKELY(plan->count == plan->moves)) return;
    if (plan->missing) {
        const dv_value *values = dv_frame_defaults(function, plan->missing);
        for (const dv_plan_step *end = plan->steps + plan->filled; step < end; step++)
            frame[step->to] = dv_retain(values[step->from]);
    }
    for (const dv_plan_step *end = plan->steps + plan->count; step < end; step++)
        frame[step->to] =
            dv_retain(dv_as_dict(function->keyword_defaults)->entries[step->from].value);
}

#endif
