/* slice.c: the transfer function of slices: BUILD_SLICE with the subscript behind it, without the
 * slice.
 *
 * INCA code has a derivative that does both instructions for built-in sequences.  A load whose
 * bounds are raw ints, or left out, becomes one instruction that takes them from slots; all others
 * stay as that derivative, with the subscript behind it, on the operand stack.
 *
 * Invariant
 *  1. Bounds that are left out are the ints that slices of CPython have there: the instruction has
 * no None. */
#include "region/step/step.h"

/* A slice of a sequence that is to be loaded. */
typedef struct slice {
    int32_t q;       /* entry of the container; start, stop and perhaps the step are behind it */
    int32_t parts;   /* two or three */
    int64_t step;    /* a constant */
    int16_t home;    /* of the container */
    bool is_owned;   /* by the operand stack alone */
    int16_t slot[2]; /* of start and stop */
} slice;

static bool is_none(const dv_known_value *e) {
    return e->kind == DV_K_CONSTANT && e->where == DV_AT_VALUE && dv_is_none(e->value);
}

static bool find_step(const dv_build *b, slice *s) {
    s->step = 1;
    if (s->parts == 2) return true;
    const dv_known_value *e = &b->e[s->q + 3];
    if (is_none(e)) return true;
    if (e->kind != DV_K_INT || e->where != DV_AT_VALUE) return false;
    s->step = dv_as_int(e->value);
    return s->step != 0;
}

static bool are_bounds(const dv_build *b, int32_t q) {
    for (int32_t i = q; i < q + 2; i++)
        if (b->e[i].kind != DV_K_INT && !is_none(&b->e[i])) return false;
    return true;
}

/* Where the container is: a constant comes into its stack slot, borrowed. */
static bool find_container(dv_build *b, slice *s) {
    const dv_known_value *e = &b->e[s->q];
    s->home = dv_home(b, e->where == DV_AT_ALIAS ? e->slot : s->q);
    s->is_owned = e->where == DV_AT_HOME && dv_owned(b, b->context, b->pc, s->q);
    if (e->where == DV_AT_HOME || e->where == DV_AT_ALIAS) return true;
    if (e->kind != DV_K_CONSTANT || e->where != DV_AT_VALUE) return false;
    uint32_t at = dv_region_emit(b, DV_OP_R_VALUE_B, s->home, 0, 0);
    dv_region_emit_constant(b, at, (dv_cell){.v = e->value});
    return true;
}

/* Bound i into a slot. */
static void place_bound(dv_build *b, slice *s, int32_t i) {
    const int32_t q = s->q + 1 + i;
    if (!is_none(&b->e[q])) {
        dv_to_slot(b, q);
        s->slot[i] = b->e[q].slot;
        return;
    }
    const bool at_end = (i == 1) == (s->step > 0); /* behind the last item, or before the first */
    const int64_t bound = at_end ? INT64_MAX : i == 0 ? 0 : INT64_MIN;
    s->slot[i] = dv_shadow(b, q);
    dv_region_emit_constant(b, dv_region_emit(b, DV_OP_R_CONST, s->slot[i], 0, 0),
                            (dv_cell){.i = bound});
}

/* What raises is the subscript, which has None in the slice's place (gen/ops/data.mako). */
static void point_raising(dv_build *b, const slice *s, uint32_t subscript) {
    const dv_known_value start = b->e[s->q + 1];
    const uint32_t pc = b->pc;
    b->top = s->q + 1;
    dv_push_constant(b, DV_NONE);
    b->pc = subscript;
    dv_point_add(b, b->cells.count, dv_exit_make(b, b->context, subscript, false), true, false,
                 false);
    b->pc = pc;
    b->e[s->q + 1] = start;
    b->top = s->q + 1 + s->parts;
    b->version++;
}

static uint32_t load_slice(dv_build *b, slice *s, uint32_t subscript) {
    const uint32_t next_pc = subscript + dv_step_length(b, subscript);
    const dv_kind kind = (dv_kind)b->e[s->q].kind;
    place_bound(b, s, 0);
    place_bound(b, s, 1);
    dv_spill(b, false, b->top);
    dv_spill(b, true, b->top);
    point_raising(b, s, subscript);
    uint32_t at = dv_region_emit_guard(b, DV_OP_R_SLICE, s->home, s->slot[0], s->slot[1]);
    dv_build_mark(b, DV_MADE_SLICE);
    if (b->emitting && !b->failed) {
        b->cells.data[at + 2].i = s->step;
        b->cells.data[at + 4].s.a = dv_home(b, s->q);
        b->cells.data[at + 4].s.b = s->is_owned;
    }
    dv_step_count(b, false); /* the object that it makes costs what it costs in INCA code */
    dv_pop(b, s->parts + 1);
    dv_push_known(b, dv_kind_is_container(kind) ? kind : DV_K_ANY, DV_AT_HOME, 0, DV_EMPTY);
    dv_step_point_after(b, next_pc);
    return next_pc;
}

uint32_t dv_step_embed_both(dv_build *b, int32_t parts, uint32_t subscript) {
    const uint32_t next_pc = subscript + dv_step_length(b, subscript), pc = b->pc;
    const dv_op_info *info = &dv_op_infos[dv_step_op(b, subscript)];
    for (int32_t q = b->top - parts - (info->inputs - 1); q < b->top; q++) dv_materialize(b, q);
    dv_step_count(b, false);
    dv_embed(b, parts, 1, subscript);
    b->pc = subscript;
    dv_embed(b, info->inputs, info->outputs, next_pc);
    b->pc = pc;
    return next_pc;
}

uint32_t dv_step_build_slice(dv_build *b, uint32_t next_pc) {
    const int32_t n = (int32_t)dv_word_operand(b, b->pc, 0);
    const dv_op_info *evidence = dv_step_evidence(b);
    if (!evidence || evidence->covers == DV_OP_NOP) return dv_step_embed(b, n, 1, next_pc);
    slice s = {.q = b->top - n - 1, .parts = n};
    if (evidence->covers == DV_OP_LOAD_SUBSCR && find_step(b, &s) && are_bounds(b, s.q + 1) &&
        find_container(b, &s))
        return load_slice(b, &s, next_pc);
    return dv_step_embed_both(b, n, next_pc);
}
