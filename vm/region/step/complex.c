/* complex.c: the transfer function of operations on complex numbers (complex.h). */
#include "region/step/complex.h"

#include "types/number/complex.h"
#include "types/text/str.h"

/* Places
 * ---------------------------------------------------------------------------------------------- */

int16_t dv_complex_slot(dv_build *b, int32_t q) {
    if (b->complex_of[q] == 0) {
        if (b->triples + 2 > b->triple_limit) {
            dv_build_fail(b, DV_REFUSED_SLOTS);
            return 0;
        }
        b->complex_of[q] = (int16_t)b->triples;
        b->triples += 2;
    }
    return b->complex_of[q];
}

static void set_parts(dv_build *b, uint32_t at, double real, double imag) {
    if (!b->emitting || b->failed) return;
    b->cells.data[at + 2].d = real;
    b->cells.data[at + 4].d = imag;
}

void dv_complex_move(dv_build *b, int32_t q, int32_t to) {
    dv_known_value *e = &b->e[q];
    const int16_t slot = dv_complex_slot(b, to);
    if (e->where == DV_AT_VALUE) {
        const dv_complex *z = dv_as_complex(e->value);
        set_parts(b, dv_region_emit(b, DV_OP_RC_CONST, 0, 0, slot), z->real, z->imag);
    } else if (e->slot != slot) {
        dv_region_emit(b, DV_OP_RC_MOVE, e->slot, 0, slot);
    }
    *e = (dv_known_value){DV_K_COMPLEX, DV_AT_SLOT, slot, DV_EMPTY};
    b->version++;
}

void dv_complex_settle(dv_build *b, int32_t q) { dv_complex_move(b, q, q); }

static bool is_at_own(dv_build *b, int32_t q) {
    const dv_known_value *e = &b->e[q];
    return e->kind == DV_K_COMPLEX && e->where == DV_AT_SLOT && e->slot == b->complex_of[q];
}

/* The scratch slots hold one of two that change places. */
_Static_assert(DV_SCRATCH_SLOTS >= 2, "room for a complex number");

void dv_complex_exchange(dv_build *b, int32_t low, int32_t top) {
    const bool low_moves = is_at_own(b, low), top_moves = is_at_own(b, top);
    if (low_moves && top_moves) {
        const int16_t x = b->e[low].slot, y = b->e[top].slot;
        dv_region_emit(b, DV_OP_RC_MOVE, x, 0, b->scratch);
        dv_region_emit(b, DV_OP_RC_MOVE, y, 0, x);
        dv_region_emit(b, DV_OP_RC_MOVE, b->scratch, 0, y);
        b->e[low].slot = y, b->e[top].slot = x; /* they follow their values (dv_exchange) */
    } else if (low_moves) {
        dv_complex_move(b, low, top);
    } else if (top_moves) {
        dv_complex_move(b, top, low);
    }
}

void dv_complex_unbox(dv_build *b, int32_t q) {
    dv_known_value *e = &b->e[q];
    const bool alias = e->where == DV_AT_ALIAS;
    const bool owned = !alias && dv_owned(b, b->context, b->pc, q);
    const int16_t home = alias ? dv_home(b, e->slot) : dv_home(b, q);
    const int16_t slot = dv_complex_slot(b, q);
    dv_region_emit_guard(b, DV_OP_RC_UNBOX, home, 0, slot);
    *e = (dv_known_value){DV_K_COMPLEX, DV_AT_SLOT, slot, DV_EMPTY};
    b->version++;
    if (owned) dv_region_emit(b, DV_OP_R_RELEASE, home, 0, 0); /* which runs no code */
}

/* If the instruction at pc stores into a local that can take a complex number at once: its entry,
 * else -1.  `inputs` entries on top are consumed before. */
static int32_t direct_target(dv_build *b, uint32_t pc, int32_t inputs) {
    if (!dv_step_follows(b, pc, DV_OP_STORE_LOCAL)) return -1;
    const int32_t q = b->context->base + (int32_t)dv_word_operand(b, pc, 0);
    const dv_known_value *e = &b->e[q];
    const bool raw = dv_kind_is_raw((dv_kind)e->kind) || e->kind == DV_K_COMPLEX;
    if (!raw && e->where != DV_AT_VALUE) return -1; /* an object must be released */
    const int16_t own = dv_complex_slot(b, q), shadow = dv_shadow(b, q);
    for (int32_t i = 0; i < b->top - inputs; i++)
        if (i != q && b->e[i].where == DV_AT_SLOT && b->e[i].kind != DV_K_RANGE &&
            (b->e[i].slot == own || b->e[i].slot == shadow))
            return -1;
    return q;
}

/* Results
 * ---------------------------------------------------------------------------------------------- */

/* Where the result of an instruction goes that takes `inputs` entries. */
typedef struct destination {
    int32_t target; /* a local, or -1 */
    int16_t slot;
} destination;

static destination find_destination(dv_build *b, int32_t inputs, uint32_t next_pc) {
    const int32_t target = direct_target(b, next_pc, inputs);
    return (destination){target, dv_complex_slot(b, target >= 0 ? target : b->top - inputs)};
}

/* The result is there.  Result: the next pc. */
static uint32_t finish(dv_build *b, destination to, int32_t inputs, uint32_t next_pc) {
    const dv_known_value result = {DV_K_COMPLEX, DV_AT_SLOT, to.slot, DV_EMPTY};
    dv_pop(b, inputs);
    dv_step_count(b, true);
    if (to.target < 0) {
        dv_push_known(b, DV_K_COMPLEX, DV_AT_SLOT, to.slot, DV_EMPTY);
        return next_pc;
    }
    b->e[to.target] = result;
    b->version++;
    return next_pc + dv_step_length(b, next_pc);
}

/* Operators
 * ---------------------------------------------------------------------------------------------- */

/* In the order of gen/ops/region_complex.mako. */
static const char MODE_NAMES[5][3] = {"SS", "SK", "KS", "SD", "DS"};
_Static_assert(DV_OP_RC_ADD_DS == DV_OP_RC_ADD_SS + 4 && DV_OP_RC_DIV_DS == DV_OP_RC_DIV_SS + 4,
               "modes are consecutive");

typedef struct operand {
    char mode;
    int16_t slot;
    dv_complex_parts k;
} operand;

static operand take_real(dv_build *b, int32_t q) {
    const dv_known_value *e = &b->e[q];
    if (e->where == DV_AT_VALUE) {
        const double x = e->kind == DV_K_INT ? (double)dv_as_int(e->value) : dv_as_float(e->value);
        return (operand){.mode = 'K', .k = {x, 0.0}};
    }
    if (e->kind == DV_K_INT)
        (void)dv_converted(b, q, false); /* to d: it is no constant */
    else
        dv_load_register(b, q);
    return (operand){.mode = 'D'};
}

static operand take(dv_build *b, int32_t q) {
    const dv_known_value *e = &b->e[q];
    if (e->kind != DV_K_COMPLEX) return take_real(b, q);
    if (e->where == DV_AT_SLOT) return (operand){.mode = 'S', .slot = e->slot};
    const dv_complex *z = dv_as_complex(e->value);
    return (operand){.mode = 'K', .k = {z->real, z->imag}};
}

static uint32_t base_of(dv_binary_op op) {
    switch (op) {
    case DV_BINARY_ADD: return DV_OP_RC_ADD_SS;
    case DV_BINARY_SUB: return DV_OP_RC_SUB_SS;
    case DV_BINARY_MUL: return DV_OP_RC_MUL_SS;
    case DV_BINARY_TRUEDIV: return DV_OP_RC_DIV_SS;
    default: return DV_OP_COUNT;
    }
}

static uint32_t mode_of(char x, char y) {
    uint32_t i = 0;
    while (i < 4 && (MODE_NAMES[i][0] != x || MODE_NAMES[i][1] != y)) i++;
    return i;
}

/* The slot with real entry q as a double; an int is converted into slot `aside`. */
static int16_t real_slot(dv_build *b, int32_t q, int16_t aside) {
    if (b->e[q].kind == DV_K_FLOAT) {
        dv_to_slot(b, q);
        return b->e[q].slot;
    }
    dv_load_double(b, q);
    dv_region_emit(b, DV_OP_R_STORE_D, aside, 0, 0);
    return aside;
}

static void put_zero(dv_build *b, int16_t slot) {
    dv_region_emit_constant(b, dv_region_emit(b, DV_OP_R_CONST, slot, 0, 0), (dv_cell){.d = 0.0});
}

/* z ** 2 */
static bool square(dv_build *b, uint32_t *next_pc) {
    const dv_known_value *exponent = dv_top(b, 1);
    if (dv_top(b, 2)->kind != DV_K_COMPLEX || exponent->kind != DV_K_INT ||
        exponent->where != DV_AT_VALUE || dv_as_int(exponent->value) != 2)
        return false;
    if (dv_top(b, 2)->where == DV_AT_VALUE) dv_complex_settle(b, b->top - 2);
    const destination to = find_destination(b, 2, *next_pc);
    dv_region_emit_guard(b, DV_OP_RC_SQUARE, dv_top(b, 2)->slot, 0, to.slot);
    *next_pc = finish(b, to, 2, *next_pc);
    return true;
}

/* Other powers: the exponent comes to two slots, too. */
static bool power(dv_build *b, uint32_t *next_pc) {
    const int32_t base = b->top - 2, exponent = b->top - 1;
    if (b->e[base].kind != DV_K_COMPLEX ||
        (b->e[exponent].kind != DV_K_COMPLEX && !dv_is_raw_number(&b->e[exponent])))
        return false;
    if (b->e[base].where == DV_AT_VALUE) dv_complex_settle(b, base);
    int16_t slot = b->scratch;
    if (b->e[exponent].kind == DV_K_COMPLEX) {
        if (b->e[exponent].where == DV_AT_VALUE) dv_complex_settle(b, exponent);
        slot = b->e[exponent].slot;
    } else {
        const int16_t real = real_slot(b, exponent, slot);
        if (real != slot) dv_region_emit(b, DV_OP_R_MOVE, real, slot, 0);
        put_zero(b, (int16_t)(slot + 1));
    }
    const destination to = find_destination(b, 2, *next_pc);
    dv_region_emit_guard(b, DV_OP_RC_POW, b->e[base].slot, slot, to.slot);
    *next_pc = finish(b, to, 2, *next_pc);
    return true;
}

bool dv_complex_binary(dv_build *b, dv_binary_op op, uint32_t *next_pc) {
    const dv_known_value *left = dv_top(b, 2), *right = dv_top(b, 1);
    const bool complex = left->kind == DV_K_COMPLEX, both = complex && right->kind == left->kind;
    if (op == DV_BINARY_POW) return square(b, next_pc) || power(b, next_pc);
    if (base_of(op) == DV_OP_COUNT) return false;
    if (!both && !(complex ? dv_is_raw_number(right)
                           : right->kind == DV_K_COMPLEX && dv_is_raw_number(left)))
        return false;
    /* Each mode has a complex number in slots. */
    if (complex && left->where == DV_AT_VALUE && (!both || right->where == DV_AT_VALUE))
        dv_complex_settle(b, b->top - 2);
    else if (!complex && right->where == DV_AT_VALUE)
        dv_complex_settle(b, b->top - 1);
    const operand x = take(b, b->top - 2), y = take(b, b->top - 1);
    const destination to = find_destination(b, 2, *next_pc);
    const uint32_t code = base_of(op) + mode_of(x.mode, y.mode);
    const uint32_t at = op == DV_BINARY_TRUEDIV
                            ? dv_region_emit_guard(b, code, x.slot, y.slot, to.slot)
                            : dv_region_emit(b, code, x.slot, y.slot, to.slot);
    if (x.mode == 'K') set_parts(b, at, x.k.real, x.k.imag);
    if (y.mode == 'K') set_parts(b, at, y.k.real, y.k.imag);
    *next_pc = finish(b, to, 2, *next_pc);
    return true;
}

/* x == y and x != y of complex numbers. */
bool dv_complex_compare(dv_build *b, dv_compare_op op, uint32_t *next_pc) {
    if ((op != DV_EQ && op != DV_NE) || dv_top(b, 2)->kind != DV_K_COMPLEX ||
        dv_top(b, 1)->kind != DV_K_COMPLEX)
        return false;
    for (int32_t q = b->top - 2; q < b->top; q++)
        if (b->e[q].where == DV_AT_VALUE) dv_complex_settle(b, q);
    dv_spill(b, false, b->top - 2);
    dv_region_emit(b, op == DV_EQ ? DV_OP_RC_EQ : DV_OP_RC_NE, dv_top(b, 2)->slot,
                   dv_top(b, 1)->slot, 0);
    dv_step_count(b, true);
    *next_pc = dv_finish_raw(b, DV_NO_CELL, 2, DV_K_BOOL, -1, *next_pc);
    return true;
}

bool dv_complex_negate(dv_build *b, uint32_t *next_pc) {
    if (dv_top(b, 1)->kind != DV_K_COMPLEX) return false;
    if (dv_top(b, 1)->where == DV_AT_VALUE) dv_complex_settle(b, b->top - 1);
    const destination to = find_destination(b, 1, *next_pc);
    dv_region_emit(b, DV_OP_RC_NEG, dv_top(b, 1)->slot, 0, to.slot);
    *next_pc = finish(b, to, 1, *next_pc);
    return true;
}

/* Parts, size, construction
 * ---------------------------------------------------------------------------------------------- */

bool dv_complex_load_attribute(dv_build *b, uint32_t *next_pc) {
    const dv_value name = dv_site_cell(b, b->pc)[2].v;
    if (dv_top(b, 1)->kind != DV_K_COMPLEX) return false;
    const bool real = dv_str_is(name, "real");
    if (!real && !dv_str_is(name, "imag")) return false;
    if (dv_top(b, 1)->where == DV_AT_VALUE) dv_complex_settle(b, b->top - 1);
    dv_spill(b, true, b->top - 1);
    dv_region_emit(b, real ? DV_OP_RC_REAL : DV_OP_RC_IMAG, dv_top(b, 1)->slot, 0, 0);
    dv_step_count(b, true);
    *next_pc = dv_finish_raw(b, DV_NO_CELL, 1, DV_K_FLOAT, -1, *next_pc);
    return true;
}

/* Entries of a call below its arguments: the callee and two reserved ones. */
enum { BELOW_ARGUMENTS = 3 };

bool dv_complex_size(dv_build *b, uint32_t *next_pc) {
    const int32_t inputs = BELOW_ARGUMENTS + 1;
    if (dv_top(b, 1)->kind != DV_K_COMPLEX) return false;
    if (dv_top(b, 1)->where == DV_AT_VALUE) dv_complex_settle(b, b->top - 1);
    dv_spill(b, true, b->top - inputs);
    dv_region_emit_guard(b, DV_OP_RC_ABS, dv_top(b, 1)->slot, 0, 0);
    dv_step_count(b, true);
    *next_pc = dv_finish_raw(b, DV_NO_CELL, inputs, DV_K_FLOAT, -1, *next_pc);
    return true;
}

bool dv_complex_construct(dv_build *b, int32_t n, uint32_t *next_pc) {
    if (n < 1 || n > 2) return false;
    for (int32_t i = 1; i <= n; i++)
        if (!dv_is_raw_number(dv_top(b, i))) return false;
    const int16_t real = real_slot(b, b->top - n, b->scratch);
    int16_t imag = b->scratch + 1;
    if (n == 2)
        imag = real_slot(b, b->top - 1, imag);
    else
        put_zero(b, imag);
    const destination to = find_destination(b, BELOW_ARGUMENTS + n, *next_pc);
    dv_region_emit(b, DV_OP_RC_MAKE, real, imag, to.slot);
    *next_pc = finish(b, to, BELOW_ARGUMENTS + n, *next_pc);
    return true;
}
