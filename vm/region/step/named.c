/* named.c: the transfer function of calls with keywords: of dl functions that are analysed inline,
 * and of classes whose instances are not made (virtual.h).
 *
 * The site's plan (run/plan.h) says which argument is which parameter.  What the builder does with
 * entries is what INCA code does with values, in the same order, so exits behind it find each
 * parameter where its frame has it.
 *
 * Invariants
 *  1. Arguments change places when it is certain that the function is entered: an exit in front of
 * the call finds them as the program has written them.
 *  2. A plan is asked while the region is built, and not kept: the site may get another one. */
#include "region/step/complex.h"
#include "region/step/virtual.h"
#include "run/plan.h"
#include "types/callable/function.h"
#include "types/class/class.h"

const dv_plan *dv_plan_met(dv_build *b, const dv_function *function) {
    const dv_op_info *evidence = dv_step_evidence(b);
    const dv_thread *thread = dv_function_thread(function);
    if (!evidence || evidence->cached[0] != DV_CACHED_PLAN) return NULL;
    const dv_plan *plan = dv_site_cell(b, b->pc)[evidence->cache_cell].p;
    const bool fits = plan->serial == thread->serial && plan->count == plan->filled &&
                      thread->exact_arguments == (int64_t)thread->argument_count;
    return fits && dv_step_missing(b, function, plan->missing) >= 0 ? plan : NULL;
}

int32_t dv_plan_room(const dv_plan *plan) {
    int32_t room = 0;
    for (uint32_t i = 0; i < plan->count; i++)
        if (plan->steps[i].to >= room) room = plan->steps[i].to + 1;
    return room;
}

static void move_argument(dv_build *b, int32_t from, int32_t to) {
    dv_known_value *e = &b->e[from];
    if (e->where == DV_AT_HOME)
        dv_region_emit(b, DV_OP_R_BORROW, dv_home(b, from), dv_home(b, to), 0);
    if (e->kind == DV_K_COMPLEX && e->where == DV_AT_SLOT) {
        dv_complex_move(b, from, to);
    } else if (e->where == DV_AT_SLOT && e->slot == dv_shadow(b, from)) {
        dv_region_emit(b, DV_OP_R_MOVE, e->slot, dv_shadow(b, to), 0);
        e->slot = dv_shadow(b, to);
    }
    b->e[to] = *e;
}

void dv_plan_place(dv_build *b, const dv_plan *plan, const dv_function *function, int32_t frame) {
    const dv_value *values = plan->missing ? dv_frame_defaults(function, plan->missing) : NULL;
    for (uint32_t i = 0; i < plan->moves; i++)
        move_argument(b, frame + plan->steps[i].from, frame + plan->steps[i].to);
    for (uint32_t i = plan->moves; i < plan->filled; i++)
        b->e[frame + plan->steps[i].to] =
            (dv_known_value){DV_K_CONSTANT, DV_AT_VALUE, 0, values[plan->steps[i].from]};
    b->top = frame + (int32_t)dv_function_thread(function)->argument_count;
    b->version++;
}

/* Into the function, whose first argument, or self, is entry `frame`; false: it may not be analysed
 * inline. */
static bool enter_function(dv_build *b, const dv_function *function, int32_t frame,
                           uint32_t next_pc) {
    dv_thread *thread = dv_function_thread(function);
    const dv_plan *plan = dv_plan_met(b, function);
    if (!plan || frame + dv_plan_room(plan) >= b->entry_limit) return false;
    const int32_t top = b->top;
    b->top = frame + (int32_t)thread->argument_count; /* as it will be */
    const bool inlined = dv_build_may_inline(b, thread, thread->argument_count);
    b->top = top;
    if (!inlined) return false;
    for (int32_t q = frame; q < top; q++)
        if (b->e[q].where == DV_AT_REGISTER) dv_to_slot(b, q);
    dv_plan_place(b, plan, function, frame);
    (void)dv_step_enter(b, thread, next_pc, DV_ENTERS_CALL);
    return true;
}

uint32_t dv_step_call_named(dv_build *b, uint32_t next_pc) {
    const int32_t n = (int32_t)dv_word_operand(b, b->pc, 0),
                  self = dv_step_op(b, b->pc) == DV_OP_CALL_METHOD_KW;
    const dv_known_value *callee = dv_top(b, n + self + 3);
    if (callee->kind == DV_K_CONSTANT && dv_is_function(callee->value) &&
        enter_function(b, dv_as_function(callee->value), b->top - n - self, next_pc))
        return b->failed ? b->pc : 0;
    const bool bare =
        self && dv_top(b, n + 1)->where == DV_AT_VALUE && dv_is_empty(dv_top(b, n + 1)->value);
    if (callee->kind == DV_K_CONSTANT && self == bare &&
        dv_virtual_make_of(b, callee->value, n, 3 + self, &next_pc))
        return next_pc;
    if (callee->kind == DV_K_CONSTANT && self == bare && dv_is_class(callee->value) &&
        dv_virtual_construct(b, dv_as_class(callee->value), n, bare, &next_pc))
        return next_pc;
    return dv_step_embed(b, n + self + 3, 1, next_pc);
}
