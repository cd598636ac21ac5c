/* closure.c: the transfer function of functions that the loop makes, and of the variables that they
 * share (virtual.h).
 *
 * A function is a record whose first value is its code, a constant, and whose others are its cells.
 * A call of it is analysed inline, and COPY_FREE there hands the cells over.  What is analysed
 * inline may make cells, too: each is a record with one value.
 *
 * Invariants
 *  1. A cell of the loop's own function is in its local for as long as the region runs: what has it
 * is an alias of that.
 *  2. The functions and cells of what is analysed inline are never built at once, since
 * instructions that are not analysed would look for them in a frame that is not there. */
#include "region/step/virtual.h"

/* Is entry q a function that has not been made? */
static const dv_virtual *function_at(const dv_build *b, int32_t q) {
    const dv_known_value *e = &b->e[q];
    const dv_virtual *record = e->kind == DV_K_VIRTUAL ? dv_virtual_record(b, e) : NULL;
    return record && dv_virtual_is(record, DV_T_FUNCTION) ? record : NULL;
}

/* The cell in entry q to the top. */
static void push_cell(dv_build *b, int32_t q) {
    const dv_known_value *e = &b->e[q];
    if (e->where == DV_AT_HOME || e->where == DV_AT_ALIAS)
        dv_push_known(b, DV_K_ANY, DV_AT_ALIAS, e->where == DV_AT_ALIAS ? e->slot : q, DV_EMPTY);
    else
        dv_push_known(b, (dv_kind)e->kind, (dv_where)e->where, e->slot, e->value);
}

uint32_t dv_step_make_function(dv_build *b, uint32_t next_pc) {
    const int32_t defaults = (int32_t)dv_word_operand(b, b->pc, 1);
    const dv_value thread = dv_site_cell(b, b->pc)[1].v;
    const dv_code *code = dv_thread_code(dv_as_object(thread));
    const int32_t cells = (int32_t)code->free_count, first = b->context->base;
    if (defaults == 0 && cells < DV_VIRTUAL_ATTRIBUTES && b->top + cells + 2 < b->entry_limit) {
        const int32_t top = b->top;
        dv_push_constant(b, thread);
        for (int32_t i = 0; i < cells; i++) push_cell(b, first + (int32_t)code->free_from[i]);
        if (dv_virtual_build(b, DV_T_FUNCTION, cells + 1, next_pc)) return next_pc;
        b->top = top;
        b->version++;
    }
    return b->context->parent ? dv_step_leave(b) : dv_step_embed(b, defaults, 1, next_pc);
}

bool dv_closure_call(dv_build *b, int32_t n, uint32_t next_pc) {
    const dv_virtual *function = function_at(b, b->top - n - 3);
    if (!function) return false;
    dv_thread *thread = (dv_thread *)(void *)dv_as_object(function->values[0].value);
    if (!dv_build_may_inline(b, thread, (uint32_t)n)) return false;
    dv_step_count(b, true);
    (void)dv_step_enter(b, thread, next_pc, DV_ENTERS_CALL);
    return true;
}

bool dv_closure_copy(dv_build *b) {
    const dv_context *c = b->context;
    const dv_virtual *function = function_at(b, c->base - 3);
    if (c->entering != DV_ENTERS_CALL || !function) return false;
    const int32_t count = (int32_t)function->shape->count - 1;
    const int32_t first = c->base + (int32_t)c->thread->local_count - count;
    for (int32_t i = 0; i < count; i++) {
        const dv_known_value v = function->values[1 + i];
        b->e[first + i] = v;
        if (v.where != DV_AT_HOME) continue;
        dv_region_emit(b, DV_OP_R_COPY, v.slot, dv_home(b, first + i), 0);
        b->e[first + i] = (dv_known_value){DV_K_ANY, DV_AT_HOME, 0, DV_EMPTY};
    }
    b->version++;
    return true;
}

uint32_t dv_step_make_cell(dv_build *b, uint32_t next_pc) {
    const int32_t q = b->context->base + (int32_t)dv_word_operand(b, b->pc, 0);
    return b->context->parent && dv_virtual_build_cell(b, q) ? next_pc : dv_step_leave(b);
}

uint32_t dv_closure_load_cell(dv_build *b, int32_t cell, uint32_t next_pc) {
    const dv_virtual *record = dv_virtual_record(b, &b->e[cell]);
    const dv_known_value *v = &record->values[0];
    if (b->top >= b->entry_limit || (v->where == DV_AT_VALUE && dv_is_empty(v->value)))
        return dv_step_leave(b); /* it has no value */
    dv_push_known(b, DV_K_VIRTUAL, DV_AT_NOWHERE, b->e[cell].slot, DV_EMPTY);
    dv_virtual_load_value(b, 1, 0, next_pc);
    return next_pc;
}

bool dv_closure_store_cell(dv_build *b, uint32_t next_pc) {
    const int32_t cell = b->context->base + (int32_t)dv_word_operand(b, b->pc, 0);
    if (b->e[cell].kind != DV_K_VIRTUAL || b->top >= b->entry_limit) return false;
    dv_push_known(b, DV_K_VIRTUAL, DV_AT_NOWHERE, b->e[cell].slot, DV_EMPTY);
    if (dv_virtual_store_value(b, 2, 0, next_pc)) return true;
    dv_pop(b, 1);
    return false;
}
