/* step.c: the transfer function: what one instruction does to the entries, and the cells it
 * becomes.
 *
 * One function serves both passes.  Where operands have known raw kinds, or a derivative in INCA
 * code is evidence for them (then a guard unboxes), the instruction becomes typed; the rest stays
 * as a boxed instruction on the operand stack (dv_embed); what a region cannot hold at all
 * becomes an exit. */
#include "region/step/step.h"

#include "quicken/choose.h"
#include "region/step/complex.h"
#include "region/emit/fuse.h"
#include "region/step/kind.h"
#include "region/step/operator.h"
#include "region/step/producer.h"
#include "region/step/raised.h"
#include "region/step/text.h"
#include "region/step/virtual.h"
#include "types/callable/variable.h"
#include "types/class/class.h"
#include "types/file/module.h"
#include "types/number/float.h"
#include "types/number/int.h"

static const char MODE_NAMES[7][3] = {"SS", "SK", "KS", "RS", "SR", "RK", "KR"};
static const char BRANCH_NAMES[4][3] = {"SS", "SK", "RS", "RK"};

uint32_t dv_word_operand(const dv_build *b, uint32_t pc, uint32_t i) {
    const uint32_t *words = b->context->thread->code->words;
    return i == 0 ? words[pc] >> 8 : words[pc + i];
}

uint32_t dv_step_op_in(const dv_context *context, uint32_t pc) {
    return context->thread->code->words[pc] & 0xFF;
}
uint32_t dv_step_op(const dv_build *b, uint32_t pc) { return dv_step_op_in(b->context, pc); }
uint32_t dv_step_length(const dv_build *b, uint32_t pc) {
    uint32_t n = dv_op_infos[dv_step_op(b, pc)].operand_count;
    return n > 1 ? n : 1;
}
const dv_cell *dv_site_cell(const dv_build *b, uint32_t pc) {
    return b->context->thread->cells + b->context->thread->cell_at[pc];
}

/* The instruction at pc follows directly in the same block: it may be taken together with this one.
 */
bool dv_step_follows(dv_build *b, uint32_t pc, uint32_t op) {
    dv_snapshot *at = dv_snapshot_at(b->context, pc);
    return at && !at->leader && dv_step_op(b, pc) == op;
}

const dv_op_info *dv_step_evidence(const dv_build *b) {
    uint32_t op = dv_op_of(b->vm, dv_site_cell(b, b->pc)->h);
    return op < DV_OP_COUNT ? &dv_op_infos[op] : NULL;
}

bool dv_step_is_cold(const dv_build *b) {
    const dv_cell *cell = dv_site_cell(b, b->pc);
    const dv_op_info *info = dv_step_evidence(b);
    return info && info->kind == DV_KIND_ADAPTIVE && cell[1].site.backoff == 0;
}

void dv_step_count(dv_build *b, bool typed) {
    *(typed ? &b->block->typed : &b->block->boxed) += b->weight;
    if (!typed && b->weight > b->heaviest)
        b->heaviest = b->weight, b->heaviest_in = b->context->thread->code, b->heaviest_pc = b->pc;
}

/* Operands
 * ------------------------------------------------------------------------------------------------
 */

void dv_unbox(dv_build *b, int32_t q, dv_kind kind) {
    dv_unbox_by(b, q, kind,
                kind == DV_K_INT     ? DV_OP_R_UNBOX_I
                : kind == DV_K_FLOAT ? DV_OP_R_UNBOX_D
                                     : DV_OP_R_UNBOX_B);
}

void dv_unbox_by(dv_build *b, int32_t q, dv_kind kind, uint32_t op) {
    dv_known_value *e = &b->e[q];
    dv_spill(b, kind == DV_K_FLOAT, b->top);
    int16_t home = e->where == DV_AT_ALIAS ? dv_home(b, e->slot) : dv_home(b, q);
    dv_region_emit_guard(b, op, home, 0, 0);
    b->block->converted += b->weight;
    *e = (dv_known_value){(uint8_t)kind, DV_AT_REGISTER, 0, DV_EMPTY};
    b->version++;
}

void dv_unbox_by_evidence(dv_build *b, int32_t q, uint32_t input) {
    const dv_known_value *e = &b->e[q];
    const dv_op_info *info = dv_step_evidence(b);
    if (dv_kind_is_raw(e->kind) || e->kind == DV_K_CONSTANT ||
        (e->where != DV_AT_HOME && e->where != DV_AT_ALIAS))
        return;
    if (!info || info->kind != DV_KIND_DERIVATIVE) return;
    if (info->promises == DV_PROMISES_MIXED) dv_kind_unbox(b, q, input);
    if (info->types[input] == DV_RESULT_INT) dv_unbox(b, q, DV_K_INT);
    if (info->types[input] == DV_RESULT_FLOAT) dv_unbox(b, q, DV_K_FLOAT);
    if (info->types[input] == DV_RESULT_COMPLEX) dv_complex_unbox(b, q);
}

dv_operand dv_raw_operand(const dv_known_value *e) {
    dv_operand o = {.mode = e->where == DV_AT_REGISTER ? 'R'
                            : e->where == DV_AT_VALUE  ? 'K'
                                                       : 'S',
                    .slot = e->slot};
    if (o.mode != 'K') return o;
    if (e->kind == DV_K_FLOAT)
        o.k.d = dv_as_float(e->value);
    else
        o.k.i = dv_raw_int(e->value);
    return o;
}

static int find_mode(const char (*names)[3], int n, char a, char c) {
    for (int i = 0; i < n; i++)
        if (names[i][0] == a && names[i][1] == c) return i;
    return -1;
}

dv_operand dv_converted(dv_build *b, int32_t q, bool exact) {
    const dv_known_value *e = &b->e[q];
    if (e->where == DV_AT_VALUE)
        return (dv_operand){.mode = 'K', .k.d = (double)dv_as_int(e->value)};
    dv_spill(b, true, b->top);
    bool in_register = e->where == DV_AT_REGISTER;
    if (exact)
        dv_region_emit_guard(b, in_register ? DV_OP_R_I2D_RX : DV_OP_R_I2D_SX, e->slot, 0, 0);
    else
        dv_region_emit(b, in_register ? DV_OP_R_I2D_R : DV_OP_R_I2D_S, e->slot, 0, 0);
    return (dv_operand){.mode = 'R'};
}

void dv_load_double(dv_build *b, int32_t q) {
    const dv_known_value *e = &b->e[q];
    dv_spill(b, true, b->top); /* nothing else stays in d, also where the int is a constant */
    if (e->kind == DV_K_ANY) {
        int16_t home = e->where == DV_AT_ALIAS ? dv_home(b, e->slot) : dv_home(b, q);
        dv_region_emit_guard(b, DV_OP_R_UNBOX_N, home, 0, 0);
        return;
    }
    dv_operand x = dv_converted(b, q, false);
    if (x.mode == 'K') dv_region_emit_constant(b, dv_region_emit(b, DV_OP_R_CONST_D, 0, 0, 0), x.k);
}

/* The two topmost entries as doubles. */
static void double_operands(dv_build *b, bool exact, dv_operand *x, dv_operand *y) {
    int32_t qx = b->top - 2, qy = b->top - 1;
    bool convert_x = b->e[qx].kind == DV_K_INT, convert_y = b->e[qy].kind == DV_K_INT;
    if (convert_x) *x = dv_converted(b, qx, exact);
    if (convert_x && convert_y && x->mode == 'R' && b->e[qy].where != DV_AT_VALUE) {
        dv_region_emit(b, DV_OP_R_STORE_D, b->scratch, 0, 0);
        *x = (dv_operand){.mode = 'S', .slot = b->scratch};
    }
    if (convert_y)
        *y = dv_converted(b, qy, exact);
    else
        *y = dv_raw_operand(&b->e[qy]);
    if (!convert_x) *x = dv_raw_operand(&b->e[qx]);
}

/* Two constants have no mode: the first comes into the register. */
static void separate_constants(dv_build *b, dv_operand *x, const dv_operand *y, bool doubles) {
    if (x->mode != 'K' || y->mode != 'K') return;
    dv_spill(b, doubles, b->top);
    dv_region_emit_constant(
        b, dv_region_emit(b, doubles ? DV_OP_R_CONST_D : DV_OP_R_CONST_I, 0, 0, 0), x->k);
    x->mode = 'R';
}

static void constant_to_register(dv_build *b, int32_t q) {
    dv_known_value *e = &b->e[q];
    bool is_double = e->kind == DV_K_FLOAT;
    dv_spill(b, is_double, b->top);
    dv_region_emit_constant(
        b, dv_region_emit(b, is_double ? DV_OP_R_CONST_D : DV_OP_R_CONST_I, 0, 0, 0),
        dv_raw_operand(e).k);
    e->where = DV_AT_REGISTER;
    b->version++;
}

/* Results
 * -------------------------------------------------------------------------------------------------
 */

int32_t dv_step_direct_target(dv_build *b, uint32_t pc, int32_t inputs) {
    if (!dv_step_follows(b, pc, DV_OP_STORE_LOCAL)) return -1;
    int32_t q = b->context->base + (int32_t)dv_word_operand(b, pc, 0);
    const dv_known_value *e = &b->e[q];
    if (!dv_kind_is_raw(e->kind) && e->where != DV_AT_VALUE)
        return -1; /* an object must be released */
    for (int32_t i = 0; i < b->top - inputs; i++)
        if (i != q && b->e[i].where == DV_AT_SLOT && b->e[i].kind != DV_K_RANGE &&
            b->e[i].slot == dv_shadow(b, q))
            return -1;
    return q;
}

/* A raw result that an instruction has put into register or into local `target`. */
uint32_t dv_finish_raw(dv_build *b, uint32_t at, int32_t inputs, dv_kind kind, int32_t target,
                       uint32_t next_pc) {
    dv_pop(b, inputs);
    if (target < 0) {
        dv_push_known(b, kind, DV_AT_REGISTER, 0, DV_EMPTY);
        b->last_result = at;
        b->last_entry = b->top - 1;
        return next_pc;
    }
    b->e[target] = (dv_known_value){(uint8_t)kind, DV_AT_SLOT, dv_shadow(b, target), DV_EMPTY};
    b->version++;
    return next_pc + dv_step_length(b, next_pc);
}

/* Of the typed operators these cannot fail. */
static bool may_exit(uint32_t base) {
    return base != DV_MODED_RD_ADD_SS_R && base != DV_MODED_RD_SUB_SS_R &&
           base != DV_MODED_RD_MUL_SS_R && base != DV_MODED_RI_AND_SS_R &&
           base != DV_MODED_RI_OR_SS_R && base != DV_MODED_RI_XOR_SS_R;
}

bool dv_step_has(uint32_t moded) { return dv_op_moded(moded) != DV_OP_COUNT; }

/* An operand that is in no register comes into one: what takes it from where it is was not made. */
static void to_register(dv_build *b, dv_operand *x, bool doubles) {
    dv_spill(b, doubles, b->top);
    if (x->mode == 'K')
        dv_region_emit_constant(
            b, dv_region_emit(b, doubles ? DV_OP_R_CONST_D : DV_OP_R_CONST_I, 0, 0, 0), x->k);
    else
        dv_region_emit(b, doubles ? DV_OP_R_LOAD_D : DV_OP_R_LOAD_I, x->slot, 0, 0);
    x->mode = 'R';
}

/* What the operator on the two topmost entries says where the second one is 0, if a handler in the
 * region catches that; NULL: nothing. */
static const char *raised_by(dv_build *b, uint32_t base) {
    const bool ints = dv_top(b, 1)->kind == DV_K_INT && dv_top(b, 2)->kind == DV_K_INT;
    const char *text = base == DV_MODED_RI_FLOORDIV_SS_R ? "integer division or modulo by zero"
                       : base == DV_MODED_RI_MOD_SS_R    ? "integer modulo by zero"
                       : base == DV_MODED_RD_MOD_SS_R    ? "float modulo"
                       : base != DV_MODED_RD_DIV_SS_R    ? NULL
                       : ints                            ? "division by zero"
                                                         : "float division by zero";
    return text && dv_top(b, 1)->where != DV_AT_VALUE && dv_raised_is_caught(b, 2) ? text : NULL;
}

/* Emits base[mode][result]: a typed operator on the two topmost entries. */
static uint32_t emit_binary(dv_build *b, uint32_t base, dv_kind kind, dv_operand x, dv_operand y,
                            uint32_t next_pc) {
    bool doubles = kind == DV_K_FLOAT;
    separate_constants(b, &x, &y, doubles);
    int32_t target = dv_step_direct_target(b, next_pc, 2);
    if (target >= b->top - 2) target = -1;
    uint32_t moded = base + 2 * (uint32_t)find_mode(MODE_NAMES, 7, x.mode, y.mode);
    if (!dv_step_has(moded)) {
        to_register(b, &x, doubles);
        moded = base + 2 * (uint32_t)find_mode(MODE_NAMES, 7, x.mode, y.mode);
    }
    if (target >= 0 && !dv_step_has(moded + 1)) target = -1; /* stored behind it */
    if (target < 0) dv_spill(b, doubles, b->top - 2);
    int32_t to = target >= 0 ? dv_shadow(b, target) : 0;
    const uint32_t op = dv_op_moded(moded + (target >= 0));
    const char *text = raised_by(b, base);
    uint32_t at =
        doubles && !text ? dv_fuse_binary(b, op, &x, &y, target >= 0 ? to : -1) : DV_NO_CELL;
    if (at != DV_NO_CELL) {
        dv_step_count(b, true);
        return dv_finish_raw(b, at, 2, kind, target, next_pc);
    }
    at = may_exit(base) ? dv_region_emit_guard(b, op, x.slot, y.slot, to)
                        : dv_region_emit(b, op, x.slot, y.slot, to);
    if (x.mode == 'K' || y.mode == 'K') dv_region_emit_constant(b, at, x.mode == 'K' ? x.k : y.k);
    if (text) dv_raised_divides(b, at, text);
    dv_step_count(b, true);
    return dv_finish_raw(b, at, 2, kind, target, next_pc);
}

/* The instruction just emitted may have called out: the world is looked at again before the next
 * one. */
void dv_step_point_after(dv_build *b, uint32_t next_pc) {
    dv_point_add(b, b->cells.count, dv_exit_make(b, b->context, next_pc, false), false, true,
                 false);
}

/* Operators
 * -----------------------------------------------------------------------------------------------
 */

/* What the derivative of an extension at the site promises to push; ANY: nothing that could be raw.
 * (In functions that are inlined it stays behind: emit.c.) */
static dv_kind promised_kind(const dv_build *b) {
    const dv_cell *site = dv_site_cell(b, b->pc);
    dv_foreign_form form = {.result = DV_RESULT_NONE_KNOWN};
    if (b->context->parent || dv_op_of(b->vm, site->h) < DV_OP_COUNT ||
        !b->vm->hooks.plugin.form(b->vm, site, &form))
        return DV_K_ANY;
    return form.result == DV_RESULT_INT     ? DV_K_INT
           : form.result == DV_RESULT_FLOAT ? DV_K_FLOAT
           : form.result == DV_RESULT_BOOL  ? DV_K_BOOL
                                            : DV_K_ANY;
}

void dv_step_take(dv_build *b, dv_kind kind, uint32_t next_pc) {
    uint32_t pc = b->pc;
    int32_t q = b->top - 1;
    b->pc = next_pc;
    if (kind == DV_K_INT) {
        dv_spill(b, false, b->top);
        dv_region_emit_guard(b, DV_OP_R_TAKE_I, dv_home(b, q), 0, 0);
        b->e[q] = (dv_known_value){DV_K_INT, DV_AT_REGISTER, 0, DV_EMPTY};
        b->version++;
    } else {
        dv_unbox(b, q, kind);
    }
    b->pc = pc;
}

uint32_t dv_step_embed(dv_build *b, int32_t inputs, int32_t outputs, uint32_t next_pc) {
    if (dv_step_is_cold(b)) {
        dv_region_emit_exit(b, b->context, b->pc, true);
        return b->pc;
    }
    dv_kind promised = outputs == 1 ? promised_kind(b) : DV_K_ANY;
    if (promised == DV_K_ANY) dv_step_count(b, false);
    dv_embed(b, inputs, outputs, next_pc);
    if (promised != DV_K_ANY) dv_step_take(b, promised, next_pc);
    return next_pc;
}

uint32_t dv_step_leave(dv_build *b) {
    dv_region_emit_exit(b, b->context, b->pc, true);
    return b->pc;
}

/* First int operator of the generated table: [op][mode][result]. */
static const uint32_t INT_BASE[] = {
    [DV_BINARY_ADD] = DV_MODED_RI_ADD_SS_R,       [DV_BINARY_SUB] = DV_MODED_RI_SUB_SS_R,
    [DV_BINARY_MUL] = DV_MODED_RI_MUL_SS_R,       [DV_BINARY_FLOORDIV] = DV_MODED_RI_FLOORDIV_SS_R,
    [DV_BINARY_MOD] = DV_MODED_RI_MOD_SS_R,       [DV_BINARY_AND] = DV_MODED_RI_AND_SS_R,
    [DV_BINARY_OR] = DV_MODED_RI_OR_SS_R,         [DV_BINARY_XOR] = DV_MODED_RI_XOR_SS_R,
    [DV_BINARY_LSHIFT] = DV_MODED_RI_LSHIFT_SS_R, [DV_BINARY_RSHIFT] = DV_MODED_RI_RSHIFT_SS_R,
};
static const uint32_t DOUBLE_BASE[] = {
    [DV_BINARY_ADD] = DV_MODED_RD_ADD_SS_R, [DV_BINARY_SUB] = DV_MODED_RD_SUB_SS_R,
    [DV_BINARY_MUL] = DV_MODED_RD_MUL_SS_R, [DV_BINARY_TRUEDIV] = DV_MODED_RD_DIV_SS_R,
    [DV_BINARY_MOD] = DV_MODED_RD_MOD_SS_R,
};
_Static_assert(DV_MODED_RI_ADD_KR_S == DV_MODED_RI_ADD_SS_R + 13, "modes are consecutive");
_Static_assert(DV_MODED_RD_DIV_KR_S == DV_MODED_RD_DIV_SS_R + 13, "modes are consecutive");

/* x // 2^k and x % 2^k as shift and mask: exactly Python's results, for negative x too. */
static dv_binary_op simplify(dv_binary_op op, dv_operand *y) {
    if (y->mode != 'K' || (op != DV_BINARY_FLOORDIV && op != DV_BINARY_MOD)) return op;
    int64_t k = y->k.i;
    if (k <= 0 || (k & (k - 1)) != 0) return op;
    y->k.i = op == DV_BINARY_MOD ? k - 1 : __builtin_ctzll((uint64_t)k);
    return op == DV_BINARY_MOD ? DV_BINARY_AND : DV_BINARY_RSHIFT;
}

static bool is_raw_bool(const dv_known_value *e) {
    return e->kind == DV_K_BOOL && e->where >= DV_AT_SLOT && e->where <= DV_AT_VALUE;
}

/* Raw bools are 0 and 1: a sum or product of them is that of ints, also behind an exit that boxes
 * them as such in front of the operation. */
static void count_bools(dv_build *b) {
    for (int32_t q = b->top - 2; q < b->top; q++)
        if (!dv_is_raw_number(&b->e[q]) && !is_raw_bool(&b->e[q])) return;
    for (int32_t q = b->top - 2; q < b->top; q++) {
        dv_known_value *e = &b->e[q];
        if (e->kind == DV_K_BOOL && e->where == DV_AT_VALUE)
            e->value = dv_int(dv_same(e->value, DV_TRUE));
        if (e->kind == DV_K_BOOL) e->kind = DV_K_INT;
    }
}

/* x ** y: a float where y is a constant below 0.  Others may not fit: where INCA has seen that they
 * do, they do again. */
static uint32_t step_int_power(dv_build *b, uint32_t next_pc) {
    const dv_known_value *y = dv_top(b, 1);
    const bool constant = y->where == DV_AT_VALUE;
    const int64_t exponent = constant ? dv_raw_int(y->value) : 0;
    if (exponent < 0) return dv_step_raw(b, dv_float_raw(DV_BINARY_POW), next_pc);
    if (exponent == 2 && dv_top(b, 2)->where != DV_AT_VALUE) {
        dv_to_slot(b, b->top - 2);
        const dv_operand x = dv_raw_operand(dv_top(b, 2));
        return emit_binary(b, DV_MODED_RI_MUL_SS_R, DV_K_INT, x, x, next_pc);
    }
    const dv_op_info *info = dv_step_evidence(b);
    if (!info || info->kind != DV_KIND_DERIVATIVE || info->result != DV_RESULT_INT)
        return dv_step_embed(b, 2, 1, next_pc);
    return dv_step_raw(b, &dv_int_raw_power, next_pc);
}

uint32_t dv_step_binary(dv_build *b, uint32_t next_pc) {
    dv_binary_op op = (dv_binary_op)dv_op_infos[dv_step_op(b, b->pc)].which;
    dv_unbox_by_evidence(b, b->top - 2, 0);
    dv_unbox_by_evidence(b, b->top - 1, 1);
    const bool bitwise = op == DV_BINARY_AND || op == DV_BINARY_OR || op == DV_BINARY_XOR;
    const dv_known_value *x = dv_top(b, 2), *y = dv_top(b, 1);
    if (bitwise && is_raw_bool(x) && is_raw_bool(y))
        return emit_binary(b, INT_BASE[op], DV_K_BOOL, dv_raw_operand(x), dv_raw_operand(y),
                           next_pc);
    if (bitwise || op == DV_BINARY_ADD || op == DV_BINARY_SUB || op == DV_BINARY_MUL)
        count_bools(b);
    if (dv_complex_binary(b, op, &next_pc)) return next_pc;
    if (op == DV_BINARY_ADD && dv_text_append(b, &next_pc)) return next_pc;
    if (!dv_is_raw_number(x) || !dv_is_raw_number(y))
        return dv_operator_enter(b, next_pc) ? 0 : dv_step_embed(b, 2, 1, next_pc);
    bool ints = x->kind == DV_K_INT && y->kind == DV_K_INT;
    if (op == DV_BINARY_POW && ints) return step_int_power(b, next_pc);
    if (!ints && dv_float_raw(op)) return dv_step_raw(b, dv_float_raw(op), next_pc);
    if (ints && op < sizeof INT_BASE / sizeof *INT_BASE && INT_BASE[op]) {
        dv_operand left = dv_raw_operand(x), right = dv_raw_operand(y);
        op = simplify(op, &right);
        return emit_binary(b, INT_BASE[op], DV_K_INT, left, right, next_pc);
    }
    if (op >= sizeof DOUBLE_BASE / sizeof *DOUBLE_BASE || !DOUBLE_BASE[op])
        return dv_step_embed(b, 2, 1, next_pc);
    dv_operand left, right;
    double_operands(b, ints, &left,
                    &right); /* only a quotient of two ints needs exact conversions */
    return emit_binary(b, DOUBLE_BASE[op], DV_K_FLOAT, left, right, next_pc);
}

static uint32_t step_unary(dv_build *b, bool fits, uint32_t op, uint32_t next_pc) {
    if (!fits) return dv_operator_enter(b, next_pc) ? 0 : dv_step_embed(b, 1, 1, next_pc);
    const dv_kind kind = (dv_kind)dv_top(b, 1)->kind;
    dv_load_register(b, b->top - 1);
    if (op == DV_OP_R_NOT)
        dv_region_emit(b, op, 0, 0, 0);
    else
        dv_region_emit_guard(b, op, 0, 0, 0);
    dv_step_count(b, true);
    return dv_finish_raw(b, DV_NO_CELL, 1, kind, -1, next_pc);
}

uint32_t dv_step_negate(dv_build *b, uint32_t next_pc) {
    dv_unbox_by_evidence(b, b->top - 1, 0);
    if (dv_complex_negate(b, &next_pc)) return next_pc;
    const dv_known_value *x = dv_top(b, 1);
    const uint32_t op = x->kind == DV_K_FLOAT ? DV_OP_R_NEG_D : DV_OP_R_NEG_I;
    return step_unary(b, dv_is_raw_number(x), op, next_pc);
}

uint32_t dv_step_not(dv_build *b, uint32_t next_pc) {
    dv_unbox_by_evidence(b, b->top - 1, 0);
    return step_unary(b, dv_top(b, 1)->kind == DV_K_BOOL, DV_OP_R_NOT, next_pc);
}

/* Raw entry q into its register (nothing else lives there afterwards). */
void dv_load_register(dv_build *b, int32_t q) {
    dv_known_value *e = &b->e[q];
    if (e->where == DV_AT_REGISTER) return;
    if (e->where == DV_AT_VALUE) {
        constant_to_register(b, q);
        return;
    }
    bool is_double = e->kind == DV_K_FLOAT;
    dv_spill(b, is_double, b->top);
    dv_region_emit(b, is_double ? DV_OP_R_LOAD_D : DV_OP_R_LOAD_I, e->slot, 0, 0);
    e->where = DV_AT_REGISTER;
    b->version++;
}

/* Comparisons and branches
 * -------------------------------------------------------------------------------- */

/* Generated per comparison and mode: RBI, RBDT, RBDF, RSI, RSD. */
enum { FORM_RBI = 0, FORM_RBDT = 1, FORM_RBDF = 2, FORM_RSI = 3, FORM_RSD = 4 };
_Static_assert(DV_MODED_RBI_LE_SS == DV_MODED_RBI_LT_SS + DV_BRANCH_FORMS * DV_BRANCH_MODES,
               "comparisons are consecutive");
_Static_assert(DV_MODED_RSD_LT_RK == DV_MODED_RBI_LT_SS + DV_BRANCH_FORMS * DV_BRANCH_MODES - 1,
               "forms are consecutive");

static dv_compare_op mirrored(dv_compare_op op) {
    static const dv_compare_op MIRROR[] = {DV_GT, DV_GE, DV_LT, DV_LE, DV_EQ, DV_NE};
    return MIRROR[op];
}
static dv_compare_op inverted(dv_compare_op op) {
    static const dv_compare_op INVERSE[] = {DV_GE, DV_GT, DV_LE, DV_LT, DV_NE, DV_EQ};
    return INVERSE[op];
}

static uint32_t moded_compare(dv_compare_op op, uint32_t form, const dv_operand *x,
                              const dv_operand *y) {
    const uint32_t mode = (uint32_t)find_mode(BRANCH_NAMES, 4, x->mode, y->mode);
    return DV_MODED_RBI_LT_SS + ((uint32_t)op * DV_BRANCH_MODES + mode) * DV_BRANCH_FORMS + form;
}

static uint32_t emit_compare(dv_build *b, dv_compare_op op, uint32_t form, dv_operand x,
                             dv_operand y, bool doubles) {
    separate_constants(b, &x, &y, doubles);
    if (x.mode == 'K' || y.mode == 'R') {
        dv_operand t = x;
        x = y, y = t;
        op = mirrored(op);
    }
    uint32_t moded = moded_compare(op, form, &x, &y);
    if (!dv_step_has(moded)) {
        to_register(b, &x, doubles);
        moded = moded_compare(op, form, &x, &y);
    }
    const uint32_t code = dv_op_moded(moded);
    if (form == FORM_RBDT || form == FORM_RBDF) {
        uint32_t fused = dv_fuse_compare_jump(b, code, &x, &y);
        if (fused != DV_NO_CELL) {
            dv_step_count(b, true);
            return fused;
        }
    }
    uint32_t at = dv_region_emit(b, code, x.slot, y.slot, 0);
    if (y.mode == 'K') dv_region_emit_constant(b, at, y.k);
    dv_step_count(b, true);
    return at;
}

static uint32_t emit_compare_jump(dv_build *b, dv_compare_op op, bool doubles, bool jump_if,
                                  dv_operand x, dv_operand y) {
    if (!doubles) return emit_compare(b, jump_if ? op : inverted(op), FORM_RBI, x, y, false);
    return emit_compare(b, op, jump_if ? FORM_RBDT : FORM_RBDF, x, y, true);
}

uint32_t dv_step_unless_zero(dv_build *b, int32_t q) {
    const dv_known_value *e = &b->e[q];
    const bool doubles = e->kind == DV_K_FLOAT;
    const dv_operand zero = {.mode = 'K', .k.i = 0};
    return emit_compare_jump(b, DV_EQ, doubles, false, dv_raw_operand(e), zero);
}

uint32_t dv_compare_raw(dv_build *b, dv_compare_op op, dv_operand left, dv_operand right,
                        bool doubles, uint32_t next_pc) {
    bool jump_false = dv_step_follows(b, next_pc, DV_OP_JUMP_IF_FALSE);
    if (jump_false || dv_step_follows(b, next_pc, DV_OP_JUMP_IF_TRUE)) {
        uint32_t target = dv_word_operand(b, next_pc, 0);
        uint32_t at = emit_compare_jump(b, op, doubles, !jump_false, left, right);
        dv_pop(b, 2);
        dv_edge_add(b, at + 3, b->context, target, -1);
        dv_build_reach(b, b->context, target);
        return next_pc + dv_step_length(b, next_pc);
    }
    dv_spill(b, false, b->top - 2);
    emit_compare(b, op, doubles ? FORM_RSD : FORM_RSI, left, right, doubles);
    return dv_finish_raw(b, DV_NO_CELL, 2, DV_K_BOOL, -1, next_pc);
}

/* The topmost entries go; false: they released nothing. */
static bool use_up(dv_build *b, int32_t inputs) {
    bool released = false;
    for (int32_t q = b->top - inputs; q < b->top; q++) {
        released |= dv_operator_drop(b, q);
        b->e[q] = (dv_known_value){DV_K_RESERVED, DV_AT_NOWHERE, 0, DV_EMPTY};
    }
    dv_pop(b, inputs);
    dv_step_count(b, true);
    return released;
}

uint32_t dv_step_replace(dv_build *b, int32_t inputs, const dv_known_value *v, uint32_t next_pc) {
    const bool released = use_up(b, inputs);
    dv_push_known(b, (dv_kind)v->kind, (dv_where)v->where, v->slot, v->value);
    if (released) dv_step_point_after(b, next_pc);
    return next_pc;
}

uint32_t dv_step_answer(dv_build *b, int32_t inputs, dv_value answer, uint32_t next_pc) {
    const bool released = use_up(b, inputs);
    dv_push_constant(b, answer);
    if (released) dv_step_point_after(b, next_pc);
    return next_pc;
}

/* x is None: where that leads anywhere, recursion ends at it. */
/* Is x the same object as y, where that is known; -1: it is not known. */
static int is_same(const dv_known_value *x, const dv_known_value *y) {
    const bool value = x->kind != DV_K_NOTHING && x->kind < DV_K_UNSET;
    if (x->kind != DV_K_VIRTUAL && y->kind == DV_K_VIRTUAL) return is_same(y, x);
    if (x->kind == DV_K_VIRTUAL && y->kind == DV_K_VIRTUAL) return x->slot == y->slot;
    if (x->kind == DV_K_VIRTUAL) return y->kind != DV_K_NOTHING && y->kind < DV_K_UNSET ? 0 : -1;
    const bool constants = x->where == DV_AT_VALUE && y->where == DV_AT_VALUE;
    if (constants && dv_is_class(x->value) && dv_is_class(y->value))
        return dv_same(x->value, y->value);
    const bool none = y->where == DV_AT_VALUE && dv_is_none(y->value);
    return none && value && (x->where == DV_AT_VALUE || x->kind < DV_K_CONSTANT)
               ? dv_same(x->value, DV_NONE) && x->where == DV_AT_VALUE
               : -1;
}

/* Is it what == compares by identity: an instance that is not made, of a class without such a
 * method, or what has none for it? */
static bool compares_identity(dv_build *b, const dv_known_value *e) {
    if (e->kind != DV_K_VIRTUAL)
        return dv_is_raw_number(e) || (e->where == DV_AT_VALUE && dv_is_none(e->value));
    const dv_virtual *record = dv_virtual_record(b, e);
    dv_class *class_ = record->shape->class_;
    if (record->built || dv_class_special(class_, b->vm->known.eq) ||
        dv_class_special(class_, b->vm->known.ne))
        return false;
    class_->flags |= DV_CLASS_CACHED;
    return dv_build_depends(b, &b->vm->class_sites);
}

/* x == y or x != y, if one is not made and both are compared by identity. */
static bool compare_identity(dv_build *b, dv_compare_op op, uint32_t *next_pc) {
    const dv_known_value *x = dv_top(b, 2), *y = dv_top(b, 1);
    const bool one = x->kind == DV_K_VIRTUAL || y->kind == DV_K_VIRTUAL;
    if (!one || (op != DV_EQ && op != DV_NE)) return false;
    if (!compares_identity(b, x) || !compares_identity(b, y)) return false;
    *next_pc = dv_step_answer(b, 2, dv_bool(is_same(x, y) == (op == DV_EQ)), *next_pc);
    return true;
}

uint32_t dv_compare_entries(dv_build *b, dv_compare_op op, uint32_t next_pc) {
    dv_unbox_by_evidence(b, b->top - 2, 0);
    dv_unbox_by_evidence(b, b->top - 1, 1);
    const dv_known_value *x = dv_top(b, 2), *y = dv_top(b, 1);
    if (dv_complex_compare(b, op, &next_pc) || dv_text_compare(b, op, &next_pc) ||
        compare_identity(b, op, &next_pc))
        return next_pc;
    if (!dv_is_raw_number(x) || !dv_is_raw_number(y))
        return dv_operator_enter(b, next_pc) ? 0 : dv_step_embed(b, 2, 1, next_pc);
    bool doubles = x->kind != DV_K_INT || y->kind != DV_K_INT;
    dv_operand left = dv_raw_operand(x), right = dv_raw_operand(y);
    if (doubles) double_operands(b, true, &left, &right);
    return dv_compare_raw(b, op, left, right, doubles, next_pc);
}

uint32_t dv_step_compare(dv_build *b, uint32_t next_pc) {
    const uint32_t op = dv_step_op(b, b->pc);
    return dv_compare_entries(b, (dv_compare_op)dv_op_infos[op].which, next_pc);
}

uint32_t dv_step_is(dv_build *b, uint32_t next_pc) {
    const int32_t q = b->top - 2;
    const dv_known_value x = b->e[q], *y = dv_top(b, 1);
    const bool is_object = x.kind == DV_K_ANY && (x.where == DV_AT_HOME || x.where == DV_AT_ALIAS);
    const int same = is_same(&x, y);
    if (same >= 0) return dv_step_answer(b, 2, dv_bool(same), next_pc);
    if (!is_object || y->where != DV_AT_VALUE || !dv_is_none(y->value))
        return dv_step_embed(b, 2, 1, next_pc);
    const bool owned = x.where == DV_AT_HOME && dv_owned(b, b->context, b->pc, q);
    const int16_t home = dv_home(b, x.where == DV_AT_ALIAS ? x.slot : q);
    dv_spill(b, false, q);
    dv_region_emit(b, DV_OP_R_IS_NONE, home, 0, 0);
    dv_step_count(b, true);
    next_pc = dv_finish_raw(b, DV_NO_CELL, 2, DV_K_BOOL, -1, next_pc);
    if (!owned) return next_pc;
    dv_region_emit(b, DV_OP_R_RELEASE, home, 0, 0);
    dv_step_point_after(b, next_pc);
    return next_pc;
}

/* The truth of what is known; -1: it is not known. */
static int truth_of(dv_build *b, const dv_known_value *x) {
    if (x->kind == DV_K_VIRTUAL) {
        const dv_class *class_ = dv_virtual_record(b, x)->shape->class_;
        if (dv_virtual_record(b, x)->built) return dv_virtual_record(b, x)->shape->count > 0;
        return dv_class_special(class_, b->vm->known.bool_) ||
                       dv_class_special(class_, b->vm->known.len)
                   ? -1
                   : 1;
    }
    if (x->kind == DV_K_CHAR) return 1;
    if (x->where != DV_AT_VALUE) return -1;
    if (x->kind == DV_K_BOOL) return dv_same(x->value, DV_TRUE);
    return x->kind == DV_K_CONSTANT && dv_is_none(x->value) ? 0 : -1;
}

uint32_t dv_step_branch(dv_build *b, uint32_t next_pc) {
    const bool jump_if = dv_step_op(b, b->pc) == DV_OP_JUMP_IF_TRUE;
    uint32_t target = dv_word_operand(b, b->pc, 0);
    const int truth = truth_of(b, dv_top(b, 1));
    if (truth >= 0) {
        const uint32_t to = truth == jump_if ? target : next_pc;
        if (use_up(b, 1)) dv_step_point_after(b, to);
        if (to == target) dv_build_flow(b, b->context, target);
        return next_pc;
    }
    const dv_known_value *x = dv_top(b, 1);
    if (x->kind == DV_K_INT || x->kind == DV_K_FLOAT) { /* its truth: x != 0 */
        bool doubles = x->kind == DV_K_FLOAT;
        dv_operand zero = {.mode = 'K', .k.i = 0};
        uint32_t at = emit_compare_jump(b, DV_NE, doubles, jump_if, dv_raw_operand(x), zero);
        dv_pop(b, 1);
        dv_edge_add(b, at + 3, b->context, target, -1);
    } else if (x->kind == DV_K_BOOL) {
        dv_load_register(b, b->top - 1);
        uint32_t at = dv_region_emit(b, jump_if ? DV_OP_R_IF_TRUE : DV_OP_R_IF_FALSE, 0, 0, 0);
        dv_pop(b, 1);
        dv_edge_add(b, at + 3, b->context, target, -1);
    } else if (dv_operator_enter(b, next_pc)) {
        return 0;
    } else {
        uint32_t at = dv_embed_jump(b, 1, 0, 2, next_pc);
        dv_edge_add(b, at, b->context, target, -1);
        dv_edge_resumes(b);
    }
    dv_build_reach(b, b->context, target);
    return next_pc;
}

/* The same where the topmost entry is a number or a bool, which stays if control jumps. */
static void jump_or_pop(dv_build *b, bool jump_if, uint32_t target) {
    const int32_t q = b->top - 1;
    const bool doubles = b->e[q].kind == DV_K_FLOAT;
    uint32_t at;
    if (b->e[q].kind == DV_K_BOOL) {
        dv_load_register(b, q);
        at = dv_region_emit(b, jump_if ? DV_OP_R_IF_TRUE : DV_OP_R_IF_FALSE, 0, 0, 0);
        b->e[q] = (dv_known_value){DV_K_BOOL, DV_AT_VALUE, 0, dv_bool(jump_if)};
        b->version++;
        dv_step_count(b, true);
    } else {
        const dv_operand zero = {.mode = 'K', .k.i = 0};
        dv_to_slot(b, q);
        at = emit_compare_jump(b, DV_NE, doubles, jump_if, dv_raw_operand(&b->e[q]), zero);
    }
    dv_edge_add(b, at + 3, b->context, target, -1);
    dv_build_reach(b, b->context, target);
    dv_pop(b, 1);
}

uint32_t dv_step_jump_or_pop(dv_build *b, uint32_t next_pc) {
    uint32_t target = dv_word_operand(b, b->pc, 0);
    const bool jump_if = dv_step_op(b, b->pc) == DV_OP_JUMP_IF_TRUE_OR_POP;
    const dv_known_value *x = dv_top(b, 1);
    const int truth = truth_of(b, x);
    if (truth == jump_if) {
        dv_build_flow(b, b->context, target);
        return next_pc;
    }
    if (truth >= 0) {
        if (use_up(b, 1)) dv_step_point_after(b, next_pc);
        return next_pc;
    }
    if (dv_is_raw_number(x) || is_raw_bool(x)) {
        jump_or_pop(b, jump_if, target);
        return next_pc;
    }
    uint32_t at = dv_embed_jump(b, 1, 1, 1, DV_NO_PC);
    dv_edge_add(b, at, b->context, target, -1);
    dv_edge_resumes(b);
    dv_build_reach(b, b->context, target);
    dv_pop(b, 1);
    b->sp = b->top;
    dv_step_point_after(b, next_pc);
    return next_pc;
}

/* Locals and constants
 * ------------------------------------------------------------------------------------ */

void dv_push_constant(dv_build *b, dv_value v) {
    dv_kind kind = dv_is_int(v)     ? DV_K_INT
                   : dv_is_float(v) ? DV_K_FLOAT
                   : dv_is_bool(v)  ? DV_K_BOOL
                                    : DV_K_CONSTANT;
    if (dv_is_shape(v, DV_T_COMPLEX)) kind = DV_K_COMPLEX;
    dv_push_known(b, kind, DV_AT_VALUE, 0, v);
}

uint32_t dv_step_load_constant(dv_build *b, uint32_t next_pc) {
    const dv_value v = dv_site_cell(b, b->pc)[1].v;
    if (!dv_step_return_constants(b, v, &next_pc)) dv_push_constant(b, v);
    return next_pc;
}

uint32_t dv_step_load_local(dv_build *b, uint32_t next_pc) {
    const uint32_t op = dv_step_op(b, b->pc);
    int32_t q = b->context->base + (int32_t)dv_word_operand(b, b->pc, 0);
    if (dv_is_faded(&b->e[q]) && !dv_virtual_resolve(b, q)) return next_pc;
    const dv_known_value e = b->e[q];
    if (e.kind == DV_K_UNSET && (op == DV_OP_LOAD_LOCAL_CHECK || op == DV_OP_LOAD_OUTER_CHECK)) {
        if (b->context->parent || e.where != DV_AT_HOME) return dv_step_leave(b);
        return dv_step_embed(b, 0, 1, next_pc);
    }
    if (e.kind == DV_K_RAISED) return dv_raised_load(b, q, next_pc);
    if (e.where == DV_AT_HOME)
        dv_push_known(b, e.kind == DV_K_UNSET ? DV_K_ANY : e.kind, DV_AT_ALIAS, q, DV_EMPTY);
    else
        dv_push_known(b, e.kind, e.where, e.slot, e.kind == DV_K_VIRTUAL ? DV_EMPTY : e.value);
    return next_pc;
}

static bool holds_object(const dv_known_value *e) {
    return e->where == DV_AT_HOME || dv_is_carried(e);
}

static uint32_t store_local(dv_build *b, uint32_t next_pc) {
    int32_t q = b->context->base + (int32_t)dv_word_operand(b, b->pc, 0), top = b->top - 1;
    dv_claim(b, q);
    dv_known_value *to = &b->e[q], *v = &b->e[top];
    bool drops = holds_object(to);
    if (v->kind == DV_K_VIRTUAL) {
        if (drops) dv_region_emit(b, DV_OP_R_RELEASE, dv_home(b, q), 0, 0);
        *to = *v;
        dv_pop(b, 1);
        if (drops) dv_step_point_after(b, next_pc);
        return next_pc;
    }
    if (v->kind == DV_K_COMPLEX) {
        dv_complex_move(b, top, q);
        *to = *v;
        dv_pop(b, 1);
        if (!drops) return next_pc;
        dv_region_emit(b, DV_OP_R_RELEASE, dv_home(b, q), 0, 0);
        dv_step_point_after(b, next_pc);
        return next_pc;
    }
    if (dv_kind_is_raw(v->kind)) {
        int16_t slot = dv_shadow(b, q);
        dv_operand o = dv_raw_operand(v);
        if (o.mode == 'R')
            dv_store_register(b, top, slot);
        else if (o.mode == 'S')
            dv_region_emit(b, DV_OP_R_MOVE, o.slot, slot, 0);
        else
            dv_region_emit_constant(b, dv_emit_const(b, slot, (dv_kind)v->kind), o.k);
        dv_kind kind = v->kind;
        dv_pop(b, 1);
        *to = (dv_known_value){(uint8_t)kind, DV_AT_SLOT, slot, DV_EMPTY};
        if (!drops) return next_pc;
        dv_region_emit(b, DV_OP_R_RELEASE, dv_home(b, q), 0, 0);
        dv_step_point_after(b, next_pc);
        return next_pc;
    }
    if (v->where == DV_AT_ALIAS && v->slot == q) { /* x = x */
        dv_pop(b, 1);
        return next_pc;
    }
    dv_kind kind = dv_kind_is_container((dv_kind)v->kind) ? (dv_kind)v->kind : DV_K_ANY;
    dv_materialize(b, top);
    dv_pop(b, 1);
    if (drops)
        dv_region_emit(b, DV_OP_R_STORE_HOME, dv_home(b, top), 0, dv_home(b, q));
    else
        dv_region_emit(b, DV_OP_R_BORROW, dv_home(b, top), dv_home(b, q), 0);
    *to = (dv_known_value){(uint8_t)kind, DV_AT_HOME, 0, DV_EMPTY};
    b->version++;
    if (drops) dv_step_point_after(b, next_pc);
    return next_pc; /* it costs what it costs in INCA code: no weight */
}

/* Nothing is left at home but what exits put there, unless the value must be released. */
uint32_t dv_step_clear_local(dv_build *b, uint32_t next_pc) {
    const int32_t q = b->context->base + (int32_t)dv_word_operand(b, b->pc, 0);
    dv_claim(b, q);
    dv_virtual_part(b, q);
    const dv_known_value old = b->e[q];
    const bool drops = holds_object(&old);
    if (drops) dv_region_emit(b, DV_OP_R_RELEASE, dv_home(b, q), 0, 0);
    b->e[q] = (dv_known_value){DV_K_UNSET, DV_AT_VALUE, 0, DV_EMPTY};
    b->version++;
    const bool ends = (dv_has_record(&old) && dv_virtual_release(b, old.slot)) ||
                      (old.kind == DV_K_RAISED && dv_raised_drop(b, &old));
    if (drops || ends) dv_step_point_after(b, next_pc);
    return next_pc;
}

uint32_t dv_step_store_local(dv_build *b, uint32_t next_pc) {
    const int32_t q = b->context->base + (int32_t)dv_word_operand(b, b->pc, 0);
    if (b->quiet && q < b->locals) b->quiet = NULL;
    const dv_known_value *v = dv_top(b, 1);
    if (v->where == DV_AT_VALUE && dv_step_follows(b, next_pc, DV_OP_DELETE_LOCAL) &&
        dv_word_operand(b, next_pc, 0) == dv_word_operand(b, b->pc, 0)) { /* `as e` ends */
        dv_pop(b, 1);
        return dv_step_clear_local(b, next_pc + 1);
    }
    if (dv_is_carried(&b->e[q]) && v->kind == DV_K_VIRTUAL && v->slot == b->e[q].slot) {
        dv_pop(b, 1); /* x = x */
        return next_pc;
    }
    dv_virtual_part(b, q);
    const dv_known_value old = b->e[q];
    if (v->kind == DV_K_RAISED && dv_raised_name(b, q)) return next_pc;
    next_pc = store_local(b, next_pc);
    if (old.kind == DV_K_RAISED && dv_raised_drop(b, &old)) dv_step_point_after(b, next_pc);
    if (dv_has_record(&old) && dv_virtual_release(b, old.slot)) dv_step_point_after(b, next_pc);
    return next_pc;
}

/* The value of a global as a constant under an assumption; EMPTY: not constant. */
dv_value dv_constant_global(dv_build *b, dv_global_cell *cell) {
    if (!cell || dv_is_empty(cell->value) || cell->constant.broken > 1) return DV_EMPTY;
    return dv_build_depends(b, &cell->constant) ? cell->value : DV_EMPTY;
}

dv_value dv_attribute_constant(dv_build *b, const dv_known_value *object) {
    if (object->kind != DV_K_CONSTANT) return DV_EMPTY;
    dv_value name = dv_site_cell(b, b->pc)[2].v;
    if (dv_is_module(object->value))
        return dv_constant_global(b, dv_namespace_find(&dv_as_module(object->value)->names, name));
    dv_global_cell *of_class = dv_class_cell(b->vm, object->value, name);
    if (of_class && (dv_step_op(b, b->pc) == DV_OP_LOAD_METHOD ||
                     dv_class_gives_as_it_is(b->vm, of_class->value, &(uint32_t){0})))
        return dv_build_depends(b, &b->vm->class_sites) ? dv_constant_global(b, of_class)
                                                        : DV_EMPTY;
    const dv_type *type = b->vm->types[dv_type_of(b->vm, object->value)];
    if (!type->lasting_attribute) return DV_EMPTY;
    dv_assumption *until = NULL;
    dv_value v = type->lasting_attribute(b->vm, object->value, name, &until);
    if (dv_is_empty(v)) return v;
    const bool lasts = !until || dv_build_depends(b, until);
    dv_release(b->vm, v); /* the object keeps it */
    return lasts ? v : DV_EMPTY;
}

dv_value dv_step_global(dv_build *b, dv_module *module, dv_value name) {
    dv_vm *vm = b->vm;
    if (!dv_is_empty(module->dict)) return DV_EMPTY;
    dv_global_cell *cell = dv_namespace_cell(vm, &module->names, name);
    if (!cell) { /* not "no constant": emission, asking again, could then find one */
        dv_error_clear(vm);
        dv_build_fail(b, DV_REFUSED_MEMORY);
        return DV_EMPTY;
    }
    if (!dv_is_empty(cell->value)) return dv_constant_global(b, cell);
    if (cell->constant.broken > 1 || !dv_build_depends(b, &cell->constant)) return DV_EMPTY;
    return dv_constant_global(b, dv_namespace_find(&vm->builtins, name));
}

/* The global of that name, if the region holds it; NULL: it does not. */
static dv_held *find_held(dv_build *b, dv_value name) {
    const dv_global_cell *cell =
        b->held.count ? dv_namespace_find(&b->context->thread->module->names, name) : NULL;
    for (uint32_t i = 0; cell && i < b->held.count; i++)
        if (b->held.data[i].cell == cell && b->held.data[i].kind != DV_K_NOTHING)
            return &b->held.data[i];
    return NULL;
}

/* The variable in the local with the cell, likewise. */
static dv_held *find_shared(dv_build *b, int32_t local) {
    for (uint32_t i = 0; i < b->held.count; i++)
        if (!b->held.data[i].cell && b->held.data[i].local == local &&
            b->held.data[i].kind != DV_K_NOTHING)
            return &b->held.data[i];
    return NULL;
}

/* A number goes to the slot and to the variable itself; what is of another kind than that had when
 * the analysis began makes it one that is not held.  `op` is the first of six instructions. */
static uint32_t store_held(dv_build *b, dv_held *held, uint32_t op, uint32_t next_pc) {
    const dv_known_value *e = dv_top(b, 1);
    if (!held) return dv_step_embed(b, 1, 0, next_pc);
    if (e->kind != held->kind) {
        held->kind = DV_K_NOTHING;
        b->again = b->ended = true;
        return b->pc;
    }
    if (e->where == DV_AT_VALUE) dv_load_register(b, b->top - 1);
    op += e->kind == DV_K_INT ? 0 : e->kind == DV_K_FLOAT ? 2 : 4;
    const bool in_register = e->where == DV_AT_REGISTER;
    const int16_t from = e->slot;
    b->top--; /* what is stored may stay where it is */
    dv_claim_slot(b, held->slot);
    b->top++;
    const uint32_t at =
        dv_region_emit_guard(b, op + !in_register, held->slot, from, held->cell ? 0 : held->local);
    if (held->cell) dv_region_emit_constant(b, at, (dv_cell){.p = held->cell});
    dv_pop(b, 1);
    return next_pc;
}

uint32_t dv_step_store_global(dv_build *b, uint32_t next_pc) {
    dv_held *held = find_held(b, dv_site_cell(b, b->pc)[2].v);
    return store_held(b, held, DV_OP_RG_STORE_I_R, next_pc);
}

uint32_t dv_step_store_cell(dv_build *b, uint32_t next_pc) {
    if (b->context->parent) return dv_closure_store_cell(b, next_pc) ? next_pc : dv_step_leave(b);
    dv_held *held = find_shared(b, (int32_t)dv_word_operand(b, b->pc, 0));
    return store_held(b, held, DV_OP_RV_STORE_I_R, next_pc);
}

uint32_t dv_step_load_global(dv_build *b, uint32_t next_pc) {
    const bool callee = dv_step_op(b, b->pc) == DV_OP_LOAD_GLOBAL_CALLEE;
    const dv_cell *site = dv_site_cell(b, b->pc);
    const dv_held *held = callee ? NULL : find_held(b, site[2].v);
    if (held) {
        dv_push_known(b, (dv_kind)held->kind, DV_AT_SLOT, held->slot, DV_EMPTY);
        return next_pc;
    }
    dv_value v = dv_step_global(b, b->context->thread->module, site[2].v);
    if (dv_is_empty(v)) {
        next_pc = dv_step_embed(b, 0, callee ? 3 : 1, next_pc);
        if (callee && !b->ended) dv_mark_reserved(b, 2);
        return next_pc;
    }
    dv_push_constant(b, v);
    if (!callee) return next_pc;
    dv_push_known(b, DV_K_RESERVED, DV_AT_NOWHERE, 0, DV_EMPTY);
    dv_push_known(b, DV_K_RESERVED, DV_AT_NOWHERE, 0, DV_EMPTY);
    return next_pc;
}

/* module.name is a constant like a global; so are attributes of objects that say so. */
uint32_t dv_step_load_attribute(dv_build *b, uint32_t next_pc) {
    const dv_known_value object = *dv_top(b, 1);
    dv_unbox_by_evidence(b, b->top - 1, 0);
    if (dv_complex_load_attribute(b, &next_pc)) return next_pc;
    dv_value v = dv_attribute_constant(b, &object);
    if (dv_is_empty(v))
        return dv_virtual_load_attribute(b, next_pc) || dv_step_bind(b, next_pc) ? next_pc
               : dv_step_load_property(b, next_pc)                               ? 0
                                                   : dv_step_load_slot(b, next_pc);
    dv_pop(b, 1);
    dv_push_constant(b, v);
    return next_pc;
}

void dv_mark_reserved(dv_build *b, int32_t n) {
    for (int32_t i = 1; i <= n; i++)
        *dv_top(b, i) = (dv_known_value){DV_K_RESERVED, DV_AT_NOWHERE, 0, DV_EMPTY};
}

/* Is it a built-in class, which never dies? */
static bool is_builtin_class(const dv_build *b, dv_value v) {
    return dv_is_class(v) && b->vm->classes[dv_as_class(v)->type] == dv_as_class(v);
}

/* A variable that a closure shares. */
uint32_t dv_step_load_cell(dv_build *b, uint32_t next_pc) {
    const int32_t cell = b->context->base + (int32_t)dv_word_operand(b, b->pc, 0);
    const dv_known_value *e = &b->e[cell];
    if (e->kind == DV_K_VIRTUAL) return dv_closure_load_cell(b, cell, next_pc);
    const dv_held *held = find_shared(b, e->where == DV_AT_ALIAS ? e->slot : cell);
    if (held) {
        dv_push_known(b, (dv_kind)held->kind, DV_AT_SLOT, held->slot, DV_EMPTY);
        return next_pc;
    }
    int16_t home = dv_home(b, e->where == DV_AT_ALIAS ? e->slot : cell);
    if (e->where == DV_AT_VALUE) {
        const uint32_t at = dv_region_emit(b, DV_OP_R_VALUE_B, home = b->scratch, 0, 0);
        dv_region_emit_constant(b, at, (dv_cell){.v = e->value});
        const dv_value v = dv_as_variable(e->value)->value;
        if (is_builtin_class(b, v)) {
            const uint32_t guard = dv_region_emit_guard(b, DV_OP_R_GUARD_CELL, home, 0, 0);
            dv_region_emit_constant(b, guard, (dv_cell){.v = v});
            dv_push_constant(b, v);
            return next_pc;
        }
    }
    dv_region_emit_guard(b, DV_OP_R_LOAD_CELL, home, 0, dv_home(b, b->top));
    dv_push_known(b, DV_K_ANY, DV_AT_HOME, 0, DV_EMPTY);
    dv_step_count(b, false); /* an object is counted, as in INCA code */
    return next_pc;
}

/* Others
 * --------------------------------------------------------------------------------------------------
 */

uint32_t dv_step_pop(dv_build *b, uint32_t next_pc) {
    const dv_known_value *v = dv_top(b, 1);
    bool release = v->where == DV_AT_HOME || v->kind == DV_K_RANGE;
    int32_t q = b->top - 1;
    if (v->kind == DV_K_RAISED) {
        dv_pop(b, 1);
        if (dv_raised_is_shown(b, q)) dv_raised_show(b, q - 1);
        return next_pc;
    }
    if (v->kind == DV_K_VIRTUAL) {
        bool released = dv_virtual_drop(b, q);
        dv_pop(b, 1);
        if (released) dv_step_point_after(b, next_pc);
        return next_pc;
    }
    dv_pop(b, 1);
    if (release) {
        dv_region_emit(b, DV_OP_R_RELEASE, dv_home(b, q), 0, 0);
        dv_step_point_after(b, next_pc);
    }
    return next_pc;
}

/* Is the raw entry in a slot of its own? */
static bool is_in_shadow(const dv_build *b, int32_t q) {
    const dv_known_value *e = &b->e[q];
    return dv_kind_is_raw((dv_kind)e->kind) && e->where == DV_AT_SLOT && e->slot == dv_shadow(b, q);
}

uint32_t dv_step_copy(dv_build *b, uint32_t next_pc) {
    int32_t q = b->top - (int32_t)dv_word_operand(b, b->pc, 0);
    const dv_known_value *e = &b->e[q];
    if (e->where == DV_AT_REGISTER) dv_to_slot(b, q);
    if (is_in_shadow(b, q)) {
        dv_region_emit(b, DV_OP_R_MOVE, e->slot, dv_shadow(b, b->top), 0);
        dv_push_known(b, (dv_kind)e->kind, DV_AT_SLOT, dv_shadow(b, b->top), DV_EMPTY);
        return next_pc;
    }
    bool own =
        e->kind == DV_K_COMPLEX && e->where == DV_AT_SLOT && e->slot == dv_complex_slot(b, q);
    if (own) {
        dv_push_known(b, DV_K_COMPLEX, DV_AT_SLOT, e->slot, DV_EMPTY);
        dv_complex_settle(b, b->top - 1);
        return next_pc;
    }
    if (e->where == DV_AT_VALUE || e->where == DV_AT_ALIAS || e->where == DV_AT_SLOT ||
        e->kind == DV_K_VIRTUAL) {
        dv_push_known(b, (dv_kind)e->kind, (dv_where)e->where, e->slot, e->value);
        return next_pc;
    }
    if (e->kind >= DV_K_WALK) return dv_step_leave(b);
    dv_region_emit(b, DV_OP_R_COPY, dv_home(b, q), dv_home(b, b->top), 0);
    dv_push_known(b, e->kind, DV_AT_HOME, 0, DV_EMPTY);
    return next_pc;
}

static void move_raw(dv_build *b, dv_known_value *e, int16_t slot) {
    dv_region_emit(b, DV_OP_R_MOVE, e->slot, slot, 0);
    e->slot = slot;
}

void dv_exchange(dv_build *b, int32_t low, int32_t top) {
    dv_known_value *x = &b->e[low], *y = &b->e[top];
    if (x->kind == DV_K_COMPLEX || y->kind == DV_K_COMPLEX) dv_complex_exchange(b, low, top);
    if (is_in_shadow(b, low) && is_in_shadow(b, top)) dv_load_register(b, low);
    if (is_in_shadow(b, low))
        move_raw(b, x, dv_shadow(b, top));
    else if (is_in_shadow(b, top))
        move_raw(b, y, dv_shadow(b, low));
    if (x->where == DV_AT_HOME && y->where == DV_AT_HOME)
        dv_region_emit(b, DV_OP_R_EXCHANGE, dv_home(b, low), dv_home(b, top), 0);
    else if (x->where == DV_AT_HOME)
        dv_region_emit(b, DV_OP_R_BORROW, dv_home(b, low), dv_home(b, top), 0);
    else if (y->where == DV_AT_HOME)
        dv_region_emit(b, DV_OP_R_BORROW, dv_home(b, top), dv_home(b, low), 0);
    dv_known_value t = *x;
    *x = *y;
    *y = t;
    b->version++;
    if (b->last_entry == top)
        b->last_entry = low;
    else if (b->last_entry == low)
        b->last_entry = top;
}

uint32_t dv_step_swap(dv_build *b, uint32_t next_pc) {
    int32_t low = b->top - (int32_t)dv_word_operand(b, b->pc, 0), top = b->top - 1;
    const bool returns = b->e[low].kind == DV_K_HANDLED && b->e[top].kind < DV_K_UNSET;
    if (!returns && (b->e[low].kind >= DV_K_RANGE || b->e[top].kind >= DV_K_RANGE)) {
        /* A `return` puts its value below the iterators of the loops that it ends: as it may. */
        dv_region_emit_exit(b, b->context, b->pc, false);
        return b->pc;
    }
    dv_exchange(b, low, top);
    return next_pc;
}

/* An instruction that no region has.  A region left at each of them would be given up soon, so they
 * weigh as much as a loop of boxed ones. */
static uint32_t step_unknown(dv_build *b) {
    for (int i = 0; i < DV_LEAVING_WEIGHT; i++) dv_step_count(b, false);
    return dv_step_leave(b);
}

/* Is the global still the builtin?  Then that is all that there is to know. */
uint32_t dv_step_if_builtin(dv_build *b, uint32_t next_pc) {
    const dv_known_value v = *dv_top(b, 1);
    if (v.where != DV_AT_VALUE) return step_unknown(b);
    dv_pop(b, 1);
    if (!dv_same(v.value, b->vm->known.consumers[dv_word_operand(b, b->pc, 1)])) return next_pc;
    dv_build_flow(b, b->context, dv_word_operand(b, b->pc, 0));
    b->ended = true;
    return b->pc;
}

/* A generator's frame moves when it is resumed, so the region ends here, as it may; it is entered
 * again at a back edge. */
static uint32_t step_yield(dv_build *b) {
    if (dv_producer_is(b, b->context)) return dv_producer_yield(b);
    for (int i = 0; i < DV_YIELD_WEIGHS; i++) dv_step_count(b, false);
    dv_region_emit_exit(b, b->context, b->pc, false);
    return b->pc;
}

uint32_t dv_step_nop(dv_build *b, uint32_t next_pc) {
    (void)b;
    return next_pc;
}

uint32_t dv_step_enter_comprehension(dv_build *b, uint32_t next_pc) {
    dv_region_emit_guard(b, DV_OP_R_ENTER_COMPREHENSION, 0, 0, 0);
    return next_pc;
}

uint32_t dv_step_leave_comprehension(dv_build *b, uint32_t next_pc) {
    dv_region_emit(b, DV_OP_R_DEPTH, -1, 0, 0);
    return dv_step_clear_local(b, next_pc);
}

uint32_t dv_step_prepare_call(dv_build *b, uint32_t next_pc) {
    dv_push_known(b, DV_K_RESERVED, DV_AT_NOWHERE, 0, DV_EMPTY);
    dv_push_known(b, DV_K_RESERVED, DV_AT_NOWHERE, 0, DV_EMPTY);
    return next_pc;
}

uint32_t dv_step_jump(dv_build *b, uint32_t next_pc) {
    (void)next_pc;
    dv_build_flow(b, b->context, dv_word_operand(b, b->pc, 0));
    b->ended = true;
    return b->pc;
}

uint32_t dv_step_store_attribute(dv_build *b, uint32_t next_pc) {
    if (dv_operator_enter(b, next_pc)) return 0;
    return dv_virtual_store_attribute(b, next_pc) ? next_pc : dv_step_store_slot(b, next_pc);
}

uint32_t dv_step(dv_build *b) {
    const uint32_t op = dv_step_op(b, b->pc), behind = dv_step_expression(b);
    if (behind != DV_NO_PC) return behind;
    const uint32_t next_pc = b->pc + dv_step_length(b, b->pc);
    const dv_op_info *info = &dv_op_infos[op];
    if (dv_producer_is_left(b)) {
        dv_region_emit_exit(b, b->context, b->pc, false); /* as it may */
        return b->pc;
    }
    switch ((dv_op_region)info->region) {
    case DV_REGION_STEPS: return dv_steps[op](b, next_pc);
    case DV_REGION_LEAVES: return step_unknown(b);
    case DV_REGION_RARE: return dv_step_leave(b);
    case DV_REGION_YIELDS: return step_yield(b);
    case DV_REGION_EMBEDS: break;
    }
    const uint32_t n = info->operand_count > 0 ? dv_word_operand(b, b->pc, 0) : 0,
                   m = info->operand_count > 1 ? dv_word_operand(b, b->pc, 1) : 0;
    return dv_step_embed(b, (int32_t)dv_op_takes(info, n, m), (int32_t)dv_op_puts(info, n, m),
                         next_pc);
}
