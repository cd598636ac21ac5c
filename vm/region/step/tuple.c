/* tuple.c: the transfer function of tuples that are built and unpacked: they are not built.  Nor
 * are those that are compared where they are written down (COMPARE_ITEMS), or looked for in a
 * local's set or dict.
 *
 * Between BUILD_TUPLE and the UNPACK_SEQUENCE that takes the tuple apart nothing happens but
 * returns from functions that are inlined.  So the items stay entries, which change their places in
 * one step, and no exit has to know of the tuple.
 *
 * Invariants
 *  1. Items of a tuple that functions return lie, in the end, where the outermost of these calls
 *     had its callee and the two reserved entries: no more than three.
 *  2. An item may stay in a slot of a function that has returned only if what follows puts it
 *     elsewhere at once: stores into locals, or a jump's conversions. */
#include "region/step/complex.h"
#include "region/step/raised.h"
#include "region/step/virtual.h"
#include "types/mapping/set.h"
#include "types/sequence/tuple.h"

enum { MOST_RETURNED = 3 /* items of a returned tuple that is not made */ };

static bool is_entry_value(const dv_known_value *e) { return e->kind < DV_K_UNSET; }

static bool are_items(dv_build *b, int32_t n) {
    for (int32_t i = 1; i <= n; i++)
        if (!is_entry_value(dv_top(b, i))) return false;
    return true;
}

static void count_removed(dv_build *b) {
    if (b->emitting) b->region->removed++;
    dv_build_mark(b, DV_MADE_TUPLE);
    dv_step_count(b, true);
}

/* BUILD_TUPLE and UNPACK_SEQUENCE side by side: the items change their order. */
static uint32_t reverse(dv_build *b, int32_t n, uint32_t next_pc) {
    for (int32_t low = b->top - n, high = b->top - 1; low < high; low++, high--)
        dv_exchange(b, low, high);
    count_removed(b);
    return next_pc + dv_step_length(b, next_pc);
}

/* Returned tuples
 * -----------------------------------------------------------------------------------------------
 */

/* Nothing but the n items is on the operand stack of the context, which they leave. */
static bool is_alone(const dv_context *c, int32_t top, int32_t n) {
    return top - n == c->base + (int32_t)c->thread->local_count;
}

/* The outermost of the inlined calls that end when the n entries below `top` are returned as a
 * tuple, and whose caller unpacks it; NULL: nobody does. */
static dv_context *find_unpacked(const dv_build *b, int32_t top, int32_t n) {
    for (dv_context *c = b->context; c->parent; c = c->parent) {
        const uint32_t word = c->parent->thread->code->words[c->return_pc], op = word & 0xFF;
        const bool is_call =
            c->entering == DV_ENTERS_CALL && b->e[c->base - 3].kind != DV_K_VIRTUAL;
        if (!is_call || !is_alone(c, top, c == b->context ? n : 1)) return NULL;
        if (op == DV_OP_UNPACK_SEQUENCE) return word >> 8 == (uint32_t)n ? c : NULL;
        if (op != DV_OP_RETURN) return NULL;
        top = c->base - 2; /* the result is in the callee's place */
    }
    return NULL;
}

static bool lies_in(const dv_build *b, const dv_known_value *e, int32_t first) {
    return e->where == DV_AT_SLOT && e->slot >= dv_shadow(b, first);
}

/* Do the n next instructions, from pc on, put the items into locals? */
static bool are_stored(dv_build *b, uint32_t pc, int32_t n) {
    for (int32_t i = 0; i < n; i++, pc++)
        if (!dv_step_follows(b, pc, DV_OP_STORE_LOCAL)) return false;
    return true;
}

/* Entry `from` becomes entry `to`, below all locals that end. */
static void give(dv_build *b, int32_t from, int32_t to, bool stored) {
    dv_known_value *e = &b->e[from];
    if (e->where == DV_AT_HOME)
        dv_region_emit(b, DV_OP_R_BORROW, dv_home(b, from), dv_home(b, to), 0);
    if (e->kind == DV_K_COMPLEX && e->where == DV_AT_SLOT && !stored) {
        dv_complex_move(b, from, to);
    } else if (lies_in(b, e, to) && !stored) {
        dv_region_emit(b, DV_OP_R_MOVE, e->slot, dv_shadow(b, to), 0);
        e->slot = dv_shadow(b, to);
    }
    b->e[to] = *e;
    if (b->last_entry == from) b->last_entry = to;
}

/* Drops the locals of the contexts up to `outermost`; false: they held no objects. */
static bool drop_locals(dv_build *b, const dv_context *outermost) {
    bool released = false;
    for (const dv_context *c = b->context; c != outermost->parent; c = c->parent)
        for (uint32_t i = 0; i < c->thread->local_count; i++)
            released |= dv_step_drop_local(b, c->base + (int32_t)i);
    return released;
}

/* The pc behind the caller's UNPACK_SEQUENCE is a leader if control jumps there. */
static void make_leader(dv_build *b, dv_context *caller, uint32_t pc) {
    dv_snapshot *at = dv_snapshot_at(caller, pc);
    if (!at || at->leader) return;
    at->leader = true;
    b->again = true;
}

/* The n topmost entries are what the caller's UNPACK_SEQUENCE makes of the tuple. */
static uint32_t return_items(dv_build *b, dv_context *outermost, int32_t n) {
    dv_context *caller = outermost->parent;
    const int32_t to = outermost->base - 3, first = b->top - n;
    const uint32_t next_pc = outermost->return_pc + 1;
    for (int32_t q = first; q < b->top; q++)
        if (b->e[q].where == DV_AT_ALIAS && b->e[q].slot >= to) dv_materialize(b, q);
    bool released = false;
    dv_context *inner = b->context;
    b->context = caller;
    bool stored = outermost->branches || are_stored(b, next_pc, n);
    for (int32_t i = n; i-- > 0;) give(b, first + i, to + n - 1 - i, stored);
    b->context = inner;
    released = drop_locals(b, outermost);
    b->context = caller;
    b->top = to + n;
    b->version++;
    b->sp = -1;
    if (outermost->branches) {
        make_leader(b, caller, next_pc);
        b->ended = true;
        if (b->again) return b->pc;
    }
    if (released) dv_step_point_after(b, next_pc);
    if (outermost->branches) dv_build_flow(b, caller, next_pc);
    return outermost->branches ? b->pc : next_pc;
}

/* The home slot of the set or dict, as INCA saw it, in the local that is loaded at pc, in which the
 * tuple of n raw ints is looked for; -1: it is none. */
static int32_t searched(dv_build *b, uint32_t pc, int32_t n) {
    if (!dv_step_follows(b, pc, DV_OP_LOAD_LOCAL_B) || n > DV_RAW_ITEMS) return -1;
    const uint32_t in = pc + dv_step_length(b, pc);
    if (!dv_step_follows(b, in, DV_OP_IN)) return -1;
    const uint32_t op = dv_op_of(b->vm, dv_site_cell(b, in)->h);
    if (op >= DV_OP_COUNT || dv_op_infos[op].saw != DV_SAW_HASHED) return -1;
    for (int32_t i = 1; i <= n; i++)
        if (dv_top(b, i)->kind != DV_K_INT) return -1;
    const int32_t q = b->context->base + (int32_t)dv_word_operand(b, pc, 0);
    const dv_known_value *e = &b->e[q];
    const bool object = e->kind < DV_K_UNSET && !dv_is_faded(e);
    if (object && e->where == DV_AT_HOME) return dv_home(b, q);
    return object && e->where == DV_AT_ALIAS ? dv_home(b, e->slot) : -1;
}

/* The tuple of the n topmost entries, ints, is looked for. */
static uint32_t look_for(dv_build *b, int32_t n, int32_t home, uint32_t load) {
    const uint32_t in = load + dv_step_length(b, load);
    for (int32_t q = b->top - n; q < b->top; q++) dv_to_shadow(b, q);
    dv_spill(b, false, b->top);
    dv_region_emit_guard(b, DV_OP_R_ITEMS_IN, home, dv_shadow(b, b->top - n), n);
    count_removed(b);
    return dv_finish_raw(b, DV_NO_CELL, n, DV_K_BOOL, -1, in + dv_step_length(b, in));
}

uint32_t dv_step_build_tuple(dv_build *b, uint32_t next_pc) {
    const int32_t n = (int32_t)dv_word_operand(b, b->pc, 0);
    if (dv_raised_among(b, n, &next_pc)) return next_pc;
    if (b->vm->nama != DV_NAMA_VIRTUAL || !are_items(b, n)) return dv_step_embed(b, n, 1, next_pc);
    const int32_t home = searched(b, next_pc, n);
    if (home >= 0) return look_for(b, n, home, next_pc);
    if (dv_step_follows(b, next_pc, DV_OP_UNPACK_SEQUENCE) &&
        dv_word_operand(b, next_pc, 0) == (uint32_t)n)
        return reverse(b, n, next_pc);
    dv_context *outermost = n <= MOST_RETURNED && dv_step_follows(b, next_pc, DV_OP_RETURN)
                                ? find_unpacked(b, b->top, n)
                                : NULL;
    if (!outermost)
        return dv_virtual_build(b, DV_T_TUPLE, n, next_pc) ? next_pc
                                                           : dv_step_embed(b, n, 1, next_pc);
    count_removed(b);
    return return_items(b, outermost, n);
}

uint32_t dv_step_build_list(dv_build *b, uint32_t next_pc) {
    const int32_t n = (int32_t)dv_word_operand(b, b->pc, 0);
    return n > 0 && dv_virtual_build(b, DV_T_LIST, n, next_pc) ? next_pc
                                                               : dv_step_embed(b, n, 1, next_pc);
}

uint32_t dv_step_build_dict(dv_build *b, uint32_t next_pc) {
    const int32_t n = (int32_t)dv_word_operand(b, b->pc, 0);
    return dv_virtual_build_dict(b, n, next_pc) ? next_pc : dv_step_embed(b, 2 * n, 1, next_pc);
}

bool dv_step_return_constants(dv_build *b, dv_value v, uint32_t *next_pc) {
    if (!dv_is_shape(v, DV_T_TUPLE) || b->vm->nama != DV_NAMA_VIRTUAL ||
        !dv_step_follows(b, *next_pc, DV_OP_RETURN))
        return false;
    const dv_tuple *tuple = dv_as_tuple(v);
    if (tuple->count > MOST_RETURNED) return false;
    const int32_t n = (int32_t)tuple->count;
    dv_context *outermost = find_unpacked(b, b->top + n, n);
    if (!outermost) return false;
    for (int32_t i = 0; i < n; i++) dv_push_constant(b, tuple->items[i]);
    dv_step_count(b, true);
    *next_pc = b->failed ? b->pc : return_items(b, outermost, n);
    return true;
}

/* The items of a constant tuple are constants, too. */
uint32_t dv_step_unpack(dv_build *b, uint32_t next_pc) {
    uint32_t count = dv_word_operand(b, b->pc, 0);
    if (dv_virtual_unpack(b, count)) return next_pc;
    const dv_known_value *e = dv_top(b, 1);
    if (e->kind != DV_K_CONSTANT || !dv_is_shape(e->value, DV_T_TUPLE) ||
        dv_as_tuple(e->value)->count != count)
        return dv_step_embed(b, 1, (int32_t)count, next_pc);
    const dv_value *items = dv_as_tuple(e->value)->items;
    dv_pop(b, 1);
    for (uint32_t i = count; i-- > 0;) dv_push_constant(b, items[i]);
    dv_step_count(b, true);
    return next_pc;
}

/* Comparisons of tuples as they are written down
 * -----------------------------------------------------------------------------------------------
 */

/* Do the items at the same place, `half` apart, have raw values of one kind? */
static bool are_comparable(dv_build *b, int32_t half) {
    for (int32_t q = b->top - half; q < b->top; q++) {
        const uint8_t kind = b->e[q].kind;
        if (kind != b->e[q - half].kind || (kind != DV_K_INT && kind != DV_K_FLOAT)) return false;
    }
    return half > 0;
}

uint32_t dv_step_compare_items(dv_build *b, uint32_t next_pc) {
    const int32_t n = (int32_t)dv_word_operand(b, b->pc, 0), half = n / 2;
    if (!are_comparable(b, half)) return dv_step_embed(b, n, 1, next_pc);
    for (int32_t q = b->top - n; q < b->top; q++) dv_to_slot(b, q);
    dv_spill(b, false, b->top);
    for (int32_t q = b->top - half; q < b->top; q++) {
        const bool first = q == b->top - half;
        if (b->e[q].kind == DV_K_INT)
            dv_region_emit(b, first ? DV_OP_RO_FIRST_I : DV_OP_RO_NEXT_I, b->e[q - half].slot,
                           b->e[q].slot, 0);
        else
            dv_region_emit_guard(b, first ? DV_OP_RO_FIRST_D : DV_OP_RO_NEXT_D, b->e[q - half].slot,
                                 b->e[q].slot, 0);
    }
    dv_region_emit_guard(b, DV_OP_RO_IS, (int32_t)dv_word_operand(b, b->pc, 1), 0, 0);
    dv_step_count(b, true);
    return dv_finish_raw(b, DV_NO_CELL, n, DV_K_BOOL, -1, next_pc);
}
