/* fuse.c: two instructions of a region become one (fuse.h).
 *
 * Opcodes are found by arithmetic on the order in which gen/ops makes them; the assertions say
 * which order that is. */
#include "region/fuse.h"

enum {
    OPERATORS = 3,    /* sum, difference, product */
    FIRST_MODES = 4,  /* SS SK KS RS */
    NUMBER_MODES = 7, /* of RD_..., of which the first four are these */
    SIDES = 2,        /* the register is the left operand, or the right one */
    RESULTS = 2,      /* to the register, or to a slot */
    SECONDS = OPERATORS * SIDES * RESULTS,
    INDEX_MODES = 3,
    COMPARE_MODES = 2, /* of the second operand: slot, constant */
    JUMPS = 2          /* if it holds, if not */
};
_Static_assert(DV_OP_RD_SUB_SS_R == DV_OP_RD_ADD_SS_R + NUMBER_MODES * RESULTS &&
                   DV_OP_RD_ADD_RS_R == DV_OP_RD_ADD_SS_R + 3 * RESULTS,
               "numbers: operators, modes, results");
_Static_assert(DV_OP_RD_SUB_SS_ADD_RS_R == DV_OP_RD_ADD_SS_ADD_RS_R + FIRST_MODES * SECONDS &&
                   DV_OP_RD_ADD_SS_MUL_RS_R == DV_OP_RD_ADD_SS_ADD_RS_R + 2 * SIDES * RESULTS &&
                   DV_OP_RD_ADD_SS_ADD_SR_R == DV_OP_RD_ADD_SS_ADD_RS_R + RESULTS,
               "fused numbers: operator, mode, second operator, side, result");
_Static_assert(DV_OP_RD_SUB_SS_RBDT_LT_RS ==
                       DV_OP_RD_ADD_SS_RBDT_LT_RS + 6 * COMPARE_MODES * JUMPS &&
                   DV_OP_RD_ADD_SS_RBDT_LE_RS ==
                       DV_OP_RD_ADD_SS_RBDT_LT_RS + COMPARE_MODES * JUMPS &&
                   DV_OP_RD_ADD_SS_RBDF_LT_RS == DV_OP_RD_ADD_SS_RBDT_LT_RS + 1,
               "fused jumps: operator, comparison, mode, jump");
_Static_assert(DV_OP_RL_GET_D_K_ADD_RS_R == DV_OP_RL_GET_D_S_ADD_RS_R + SECONDS &&
                   DV_OP_RL_GET_D_K_R == DV_OP_RL_GET_D_S_R + RESULTS,
               "items: mode of the index, second operation");

_Static_assert(DV_OP_RI_SUB_SS_R == DV_OP_RI_ADD_SS_R + NUMBER_MODES * RESULTS &&
                   DV_OP_RI_ADD_SK_R == DV_OP_RI_ADD_SS_R + RESULTS &&
                   DV_OP_RI_SUB_SS_GET_I_R == DV_OP_RI_ADD_SS_GET_I_R + 2 * 2 * RESULTS &&
                   DV_OP_RI_ADD_SK_GET_I_R == DV_OP_RI_ADD_SS_GET_I_R + 2 * RESULTS &&
                   DV_OP_RI_ADD_SS_GET_D_R == DV_OP_RI_ADD_SS_GET_I_R + RESULTS,
               "indices: operator, mode, kind, result");

/* The last instruction, if it has just put entry q into its register (invariant 1). */
static uint32_t maker_of(const dv_build *b, int32_t q) {
    uint32_t at = b->last_result;
    if (!b->emitting || b->failed || at == DV_NO_CELL || b->last_entry != q) return DV_NO_CELL;
    return at + dv_op_infos[b->cells.data[at].i].length == b->cells.count ? at : DV_NO_CELL;
}

/* The first of the fusions of an instruction with second ones, or 0. */
static uint32_t fusions_of(uint32_t op) {
    uint32_t n = op - DV_OP_RD_ADD_SS_R, mode = n / RESULTS % NUMBER_MODES;
    if (n < OPERATORS * NUMBER_MODES * RESULTS && n % RESULTS == 0 && mode < FIRST_MODES)
        return DV_OP_RD_ADD_SS_ADD_RS_R +
               (n / RESULTS / NUMBER_MODES * FIRST_MODES + mode) * SECONDS;
    n = op - DV_OP_RL_GET_D_S_R;
    if (n < INDEX_MODES * RESULTS && n % RESULTS == 0)
        return DV_OP_RL_GET_D_S_ADD_RS_R + n / RESULTS * SECONDS;
    if (op == DV_OP_RAK_GET_D_R) return DV_OP_RAK_GET_D_ADD_RS_R;
    return op == DV_OP_RA_GET_D_R ? DV_OP_RA_GET_D_ADD_RS_R : 0;
}

uint32_t dv_fuse_binary(dv_build *b, uint32_t base, const dv_operand *x, const dv_operand *y,
                        int32_t to) {
    uint32_t op = (base - DV_OP_RD_ADD_SS_R) / (NUMBER_MODES * RESULTS);
    bool left = x->mode == 'R';
    if (op >= OPERATORS || (left ? y : x)->mode != 'S' || (!left && y->mode != 'R'))
        return DV_NO_CELL;
    uint32_t at = maker_of(b, b->top - (left ? 2 : 1));
    uint32_t first = at == DV_NO_CELL ? 0 : fusions_of((uint32_t)b->cells.data[at].i);
    if (!first) return DV_NO_CELL;
    b->cells.data[at].i = first + (op * SIDES + !left) * RESULTS + (to >= 0);
    b->cells.data[at + 1].o.d = (left ? y : x)->slot;
    if (to >= 0) b->cells.data[at + 1].o.c = (int16_t)to;
    return at;
}

uint32_t dv_fuse_compare_jump(dv_build *b, dv_compare_op op, bool jump_if, const dv_operand *x,
                              const dv_operand *y) {
    if (x->mode != 'R' || (y->mode != 'S' && y->mode != 'K')) return DV_NO_CELL;
    uint32_t at = maker_of(b, b->top - 2);
    if (at == DV_NO_CELL) at = maker_of(b, b->top - 1); /* they have changed places */
    if (at == DV_NO_CELL) return at;
    uint32_t n = (uint32_t)b->cells.data[at].i - DV_OP_RD_ADD_SS_R;
    if (n >= OPERATORS * NUMBER_MODES * RESULTS || n % (NUMBER_MODES * RESULTS)) return DV_NO_CELL;
    n = n / (NUMBER_MODES * RESULTS) * 6 + (uint32_t)op;
    b->cells.data[at].i =
        DV_OP_RD_ADD_SS_RBDT_LT_RS + (n * COMPARE_MODES + (y->mode == 'K')) * JUMPS + !jump_if;
    if (y->mode == 'K')
        b->cells.data[at + 2] = y->k;
    else
        b->cells.data[at + 1].o.d = y->slot;
    b->last_result = DV_NO_CELL;
    return at;
}

bool dv_fuse_copy(dv_build *b, int32_t q, int32_t home, int16_t index) {
    uint32_t at = maker_of(b, q), op = at == DV_NO_CELL ? 0 : (uint32_t)b->cells.data[at].i;
    if (op != DV_OP_RL_GET_I_S_R && op != DV_OP_RL_GET_D_S_R) return false;
    b->cells.data[at].i = op == DV_OP_RL_GET_I_S_R ? DV_OP_RL_COPY_I : DV_OP_RL_COPY_D;
    b->cells.data[at + 1].o.c = index;
    b->cells.data[at + 1].o.d = (int16_t)home;
    b->last_result = DV_NO_CELL;
    return true;
}

uint32_t dv_fuse_load(dv_build *b, bool is_double, int32_t home, int32_t to) {
    uint32_t at = maker_of(b, b->top - 1);
    if (at == DV_NO_CELL) return at;
    uint32_t n = (uint32_t)b->cells.data[at].i - DV_OP_RI_ADD_SS_R, mode = n / RESULTS;
    bool subtracts = mode >= NUMBER_MODES;
    if (subtracts) mode -= NUMBER_MODES;
    if (n >= 2 * NUMBER_MODES * RESULTS || n % RESULTS || mode > 1) return DV_NO_CELL;
    dv_cell exit = {.i = dv_exit_make(b, b->context, b->pc, true)};
    if (!DV_PUSH(b, cells, exit) || !DV_PUSH(b, exit_uses, at + 4)) return at;
    b->cells.data[at].i =
        DV_OP_RI_ADD_SS_GET_I_R + ((subtracts * 2 + mode) * 2 + is_double) * RESULTS + (to >= 0);
    b->cells.data[at + 1].o.d = (int16_t)home;
    if (to >= 0) b->cells.data[at + 1].o.c = (int16_t)to;
    return at;
}

_Static_assert(DV_OP_RL_UPDATE_SUB_S == DV_OP_RL_UPDATE_ADD_S + 4 &&
                   DV_OP_RL_UPDATE_ADD_K == DV_OP_RL_UPDATE_ADD_S + 1 &&
                   DV_OP_RA_UPDATE_ADD == DV_OP_RL_UPDATE_ADD_S + 2 &&
                   DV_OP_RAK_UPDATE_ADD == DV_OP_RL_UPDATE_ADD_S + 3,
               "updates: operator, what is updated");

/* What is updated, as `op` loads it; -1: nothing. */
static int32_t updated(uint32_t op) {
    switch (op) {
    case DV_OP_RL_GET_D_S_S: return 0;
    case DV_OP_RL_GET_D_K_S: return 1;
    case DV_OP_RA_GET_D_S: return 2;
    case DV_OP_RAK_GET_D_S: return 3;
    default: return -1;
    }
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
    uint32_t op = (uint32_t)b->cells.data[at].i;
    bool adds = op == DV_OP_RD_MUL_SS_ADD_SR_R;
    if (!adds && op != DV_OP_RD_MUL_SS_SUB_SR_R) return false;
    dv_cell *loaded = &b->cells.data[first];
    /* What was loaded is in the stack slot that the result has taken over: nobody else refers to
     * it. */
    const int32_t what = updated((uint32_t)loaded[0].i);
    const bool is_same = loaded[0].i == get || (what == 3 && get == DV_OP_RA_GET_D_S);
    if (!is_same || loaded[1].o.a != home || loaded[1].o.c != dv_shadow(b, q) ||
        b->cells.data[at + 1].o.d != loaded[1].o.c)
        return false;
    if (what == 0 ? loaded[1].o.b != index : loaded[2].i != constant.i) return false;
    loaded[0].i = (adds ? DV_OP_RL_UPDATE_ADD_S : DV_OP_RL_UPDATE_SUB_S) + (uint32_t)what;
    loaded[1].o.c = b->cells.data[at + 1].o.a;
    loaded[1].o.d = b->cells.data[at + 1].o.b;
    dv_build_cut(b, at);
    b->starts.count--;
    b->last_result = DV_NO_CELL;
    return true;
}
