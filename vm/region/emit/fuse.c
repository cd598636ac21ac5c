/* fuse.c: two instructions of a region become one (fuse.h).
 *
 * Which two, gen/ops/region_fused.mako says (`joins`), and gen/tables/sequences.csv: where the
 * table has none, they stay two. */
#include "region/emit/fuse.h"

/* The last instruction, if it has just put entry q into its register (invariant 1). */
static uint32_t maker_of(const dv_build *b, int32_t q) {
    uint32_t at = b->last_result;
    if (!b->emitting || b->failed || at == DV_NO_CELL || b->last_entry != q) return DV_NO_CELL;
    return at + dv_op_infos[b->cells.data[at].i].length == b->cells.count ? at : DV_NO_CELL;
}

/* The instruction at `at` and the one `second` in one; DV_OP_COUNT: there is none. */
static uint32_t joined_at(const dv_build *b, uint32_t at, uint32_t second) {
    return at == DV_NO_CELL ? DV_OP_COUNT : dv_op_joined((uint32_t)b->cells.data[at].i, second);
}

uint32_t dv_fuse_binary(dv_build *b, uint32_t second, const dv_operand *x, const dv_operand *y,
                        int32_t to) {
    bool left = x->mode == 'R';
    if (!left && y->mode != 'R') return DV_NO_CELL;
    uint32_t at = maker_of(b, b->top - (left ? 2 : 1)), joined = joined_at(b, at, second);
    if (joined == DV_OP_COUNT) return DV_NO_CELL;
    b->cells.data[at].i = joined;
    b->cells.data[at + 1].o.d = (left ? y : x)->slot;
    if (to >= 0) b->cells.data[at + 1].o.c = (int16_t)to;
    return at;
}

uint32_t dv_fuse_compare_jump(dv_build *b, uint32_t second, const dv_operand *x,
                              const dv_operand *y) {
    if (x->mode != 'R') return DV_NO_CELL;
    uint32_t at = maker_of(b, b->top - 2);
    if (at == DV_NO_CELL) at = maker_of(b, b->top - 1); /* they have changed places */
    uint32_t joined = joined_at(b, at, second);
    if (joined == DV_OP_COUNT) return DV_NO_CELL;
    b->cells.data[at].i = joined;
    if (y->mode == 'K')
        b->cells.data[at + 2] = y->k;
    else
        b->cells.data[at + 1].o.d = y->slot;
    b->last_result = DV_NO_CELL;
    return at;
}

bool dv_fuse_copy(dv_build *b, int32_t q, int32_t home, int16_t index) {
    uint32_t at = maker_of(b, q), joined = joined_at(b, at, DV_OP_RL_SET_I_S_R);
    if (joined == DV_OP_COUNT) joined = joined_at(b, at, DV_OP_RL_SET_D_S_R);
    if (joined == DV_OP_COUNT) return false;
    b->cells.data[at].i = joined;
    b->cells.data[at + 1].o.c = index;
    b->cells.data[at + 1].o.d = (int16_t)home;
    b->last_result = DV_NO_CELL;
    return true;
}

uint32_t dv_fuse_load(dv_build *b, uint32_t second, int32_t home, int32_t to) {
    uint32_t at = maker_of(b, b->top - 1), joined = joined_at(b, at, second);
    if (joined == DV_OP_COUNT) return DV_NO_CELL;
    dv_cell exit = {.i = dv_exit_make(b, b->context, b->pc, true)};
    if (!DV_PUSH(b, cells, exit) || !DV_PUSH(b, exit_uses, at + 4)) return at;
    b->cells.data[at].i = joined;
    b->cells.data[at + 1].o.d = (int16_t)home;
    if (to >= 0) b->cells.data[at + 1].o.c = (int16_t)to;
    return at;
}

/* The instruction before the one at `at`, in the same block; DV_NO_CELL: there is none. */
static uint32_t before(const dv_build *b, uint32_t at) {
    uint32_t n = b->starts.count;
    if (n < 2 || b->starts.data[n - 1] != at) return DV_NO_CELL;
    uint32_t first = b->starts.data[n - 2];
    bool joins = b->block->label < 0 || first >= (uint32_t)b->block->label;
    return joins && first + dv_op_infos[b->cells.data[first].i].length == at ? first : DV_NO_CELL;
}

bool dv_fuse_update(dv_build *b, int32_t q, uint32_t get, int32_t home, int16_t index,
                    dv_cell constant) {
    uint32_t at = maker_of(b, q), first = at == DV_NO_CELL ? at : before(b, at);
    if (first == DV_NO_CELL) return false;
    dv_cell *loaded = &b->cells.data[first];
    const uint32_t joined = dv_op_joined((uint32_t)loaded[0].i, (uint32_t)b->cells.data[at].i);
    if (joined == DV_OP_COUNT) return false;
    /* What was loaded is in the stack slot that the result has taken over: nobody else refers to
     * it. */
    const bool is_same =
        loaded[0].i == get || (loaded[0].i == DV_OP_RAK_GET_D_S && get == DV_OP_RA_GET_D_S);
    if (!is_same || loaded[1].o.a != home || loaded[1].o.c != dv_shadow(b, q) ||
        b->cells.data[at + 1].o.d != loaded[1].o.c)
        return false;
    const bool by_slot = loaded[0].i == DV_OP_RL_GET_D_S_S;
    if (by_slot ? loaded[1].o.b != index : loaded[2].i != constant.i) return false;
    loaded[0].i = joined;
    loaded[1].o.c = b->cells.data[at + 1].o.a;
    loaded[1].o.d = b->cells.data[at + 1].o.b;
    dv_build_cut(b, at);
    b->starts.count--;
    b->last_result = DV_NO_CELL;
    return true;
}
