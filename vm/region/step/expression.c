/* expression.c: the transfer function of expressions of several sites of an extension, which are
 * one instruction in INCA code (plugin/expression.h), and one boxed instruction here.
 *
 * Invariants
 *  1. Where the expression does not fit the region is left in front of it, and INCA code finds out
 * whether its sites do, and how often that happens before it is given up.
 *  2. What it reads of locals is at home.  A raw local is shown there, as a number that is not
 * counted, and stays raw.
 *  3. Behind the instruction each site but the first has a cell (R_NODE), whose exit goes to that
 * site, with nothing of the expression on the stack: there it warns and raises. */
#include "region/step/step.h"

/* Can each local be put home? */
static bool can_show(const dv_build *b, const dv_foreign_expression *x) {
    for (uint32_t i = 0; i < x->local_count; i++) {
        const dv_known_value *e = &b->e[b->context->base + x->locals[i]];
        if (e->kind == DV_K_NOTHING || e->kind == DV_K_CHAR || e->kind == DV_K_COMPLEX ||
            e->kind >= DV_K_RANGE)
            return false;
        if (e->where == DV_AT_NOWHERE ||
            (dv_kind_is_raw((dv_kind)e->kind) && e->where == DV_AT_VALUE && dv_is_object(e->value)))
            return false;
    }
    return true;
}

static void show(dv_build *b, int32_t q) {
    const dv_known_value *e = &b->e[q];
    if (!dv_kind_is_raw((dv_kind)e->kind)) {
        dv_materialize(b, q);
    } else if (e->where == DV_AT_VALUE) {
        const uint32_t at = dv_region_emit(b, DV_OP_R_VALUE_B, dv_home(b, q), 0, 0);
        dv_region_emit_constant(b, at, (dv_cell){.v = e->value});
    } else if (e->kind == DV_K_INT) {
        dv_region_emit_guard(b, DV_OP_R_SHOW_I, e->slot, dv_home(b, q), 0);
    } else {
        dv_region_emit(b, e->kind == DV_K_FLOAT ? DV_OP_R_BOX_D : DV_OP_R_BOX_B, e->slot,
                       dv_home(b, q), 0);
    }
}

/* The places of the sites, without what the expression takes from the stack. */
static void emit_nodes(dv_build *b, const dv_foreign_expression *x) {
    const dv_thread *thread = b->context->thread;
    const dv_cell *first = dv_site_cell(b, b->pc);
    const uint32_t pc = b->pc;
    b->top -= (int32_t)x->below;
    for (uint32_t i = 1; i < x->node_count; i++) {
        b->pc = dv_thread_pc(thread, first + x->nodes[i]);
        b->version++;
        dv_point_add(b, b->cells.count, dv_exit_make(b, b->context, b->pc, false), true, false,
                     false);
        dv_region_emit(b, DV_OP_R_NODE, 0, 0, 0);
    }
    b->top += (int32_t)x->below;
    b->version++;
    b->pc = pc;
}

static void emit(dv_build *b, const dv_foreign_expression *x) {
    const int32_t below = (int32_t)x->below;
    for (int32_t q = b->top - below; q < b->top; q++) dv_materialize(b, q);
    dv_spill(b, false, b->top);
    dv_spill(b, true, b->top);
    for (uint32_t i = 0; i < x->local_count; i++) show(b, b->context->base + x->locals[i]);
    dv_point_add(b, b->cells.count, dv_exit_make(b, b->context, b->pc, false), true, false, false);
    const uint32_t at = dv_region_emit_guard(b, DV_OP_R_EXPRESSION, dv_home(b, b->top - below),
                                             dv_home(b, b->context->base), 0);
    dv_region_emit_constant(b, at, (dv_cell){.p = x->site});
    emit_nodes(b, x);
    if (b->emitting && !b->failed) {
        b->cells.data[at + 4].i = b->cells.count;
        DV_PUSH(b, label_uses, at + 4);
    }
}

uint32_t dv_step_expression(dv_build *b) {
    dv_foreign_expression x;
    const dv_thread *thread = b->context->thread;
    const dv_cell *cell = dv_site_cell(b, b->pc);
    if (!b->vm->hooks.plugin.expression || !b->vm->hooks.plugin.expression(b->vm, cell, &x))
        return DV_NO_PC;
    const uint32_t behind = dv_thread_pc(thread, cell + x.cells);
    if (!dv_snapshot_at(b->context, behind) || !can_show(b, &x)) return DV_NO_PC;
    dv_step_count(b, false);
    emit(b, &x);
    dv_pop(b, (int32_t)x.below);
    if (!x.stores) dv_push_known(b, DV_K_ANY, DV_AT_HOME, 0, DV_EMPTY);
    dv_step_point_after(b, behind);
    return behind;
}
