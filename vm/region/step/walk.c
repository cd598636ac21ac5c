/* walk.c: the transfer function of loops: ranges whose iterator is virtual, lists and tuples whose
 * iterator is not made (WALK), sequences and pairs that are walked by an iterator that stays an
 * object, and back edges.
 *
 * A way to walk is a row of `walks` or of `pair_walks` here, and its instructions in
 * gen/ops/region_buffer.mako. */
#include "region/step/kind.h"
#include "region/step/producer.h"
#include "region/step/step.h"
#include "region/step/virtual.h"

/* Heads of loops
 * ------------------------------------------------------------------------------------------------
 */

/* What INCA saw that is walked. */
static dv_saw evident_walk(const dv_build *b) {
    const dv_op_info *evidence = dv_step_evidence(b);
    return evidence ? (dv_saw)evidence->saw : DV_SAW_NOTHING;
}

void dv_walk_need(dv_build *b, const dv_known_value *walk) {
    if (dv_is_empty(walk->value) || b->emitting) return;
    dv_snapshot *made = (dv_snapshot *)(uintptr_t)walk->value.bits;
    b->again |= !made->needed;
    made->needed = true;
}

/* Which walk INCA saw of the iterator that is made, if the loop's head is next; else NOTHING. */
static dv_saw next_walk(const dv_build *b, uint32_t next_pc) {
    const dv_thread *thread = b->context->thread;
    if ((thread->code->words[next_pc] & 0xFF) != DV_OP_FOR_ITER) return DV_SAW_NOTHING;
    const uint32_t op = dv_op_of(b->vm, thread->cells[thread->cell_at[next_pc]].h);
    return op < DV_OP_COUNT ? (dv_saw)dv_op_infos[op].saw : DV_SAW_NOTHING;
}

static bool is_by_index(dv_saw saw) { return saw == DV_SAW_LIST || saw == DV_SAW_TUPLE; }

/* Is the topmost entry a list or a tuple, known as such or by what INCA saw here, or where it is
 * walked (a site at which a region has been entered saw no more than that), and not by instructions
 * that take items apart? */
static bool is_walked_by_index(dv_build *b, uint32_t next_pc) {
    const dv_known_value *v = dv_top(b, 1);
    const dv_op_info *made = dv_step_evidence(b);
    const dv_saw walked = next_walk(b, next_pc);
    if (walked != DV_SAW_NOTHING && !is_by_index(walked)) return false;
    if (v->kind == DV_K_LIST || v->kind == DV_K_TUPLE) return true;
    if (v->kind == DV_K_VIRTUAL)
        return dv_is_sequence(dv_virtual_record(b, v)) &&
               dv_virtual_record(b, v)->shape->number < DV_T_COUNT;
    if (v->kind == DV_K_CONSTANT) return dv_is_shape(v->value, DV_T_TUPLE);
    if (v->kind != DV_K_ANY || !made) return false;
    return made->saw == DV_SAW_SEQUENCE || (made->saw == DV_SAW_ENTRY && is_by_index(walked));
}

uint32_t dv_step_get_iter(dv_build *b, uint32_t next_pc) {
    dv_snapshot *here = dv_snapshot_at(b->context, b->pc);
    if (b->vm->nama != DV_NAMA_VIRTUAL || here->needed || dv_step_is_cold(b) ||
        !is_walked_by_index(b, next_pc))
        return dv_step_embed(b, 1, 1, next_pc);
    const int32_t q = b->top - 1;
    const bool guarded = b->e[q].kind == DV_K_ANY, owned = dv_owned(b, b->context, b->pc, q);
    const int16_t slot = dv_triple(b, q), home = dv_home(b, q);
    dv_materialize(b, q);
    if (guarded) dv_region_emit_guard(b, DV_OP_R_GUARD_SEQUENCE, home, 0, 0);
    if (!owned) dv_region_emit(b, DV_OP_R_COPY, home, home, 0);
    dv_build_mark(b, DV_MADE_ITERATOR);
    dv_region_emit_constant(b, dv_emit_const(b, slot, DV_K_INT), (dv_cell){.i = 0});
    b->e[q] = (dv_known_value){DV_K_WALK, DV_AT_HOME, slot, dv_raw_pointer(here)};
    b->version++;
    dv_step_count(b, true);
    return next_pc;
}

/* How a sequence is walked whose iterator is an object. */
typedef struct walk {
    uint32_t op;  /* DV_OP_COUNT: as it is in INCA code */
    dv_kind kind; /* of the items: INT, FLOAT, or objects */
    uint16_t seen;
} walk;

static dv_kind kind_seen(uint32_t seen) {
    return seen == DV_SEEN_INT ? DV_K_INT : seen == DV_SEEN_FLOAT ? DV_K_FLOAT : DV_K_ANY;
}

static uint32_t number_of(dv_kind kind) {
    return kind == DV_K_INT ? 0 : kind == DV_K_FLOAT ? 1 : 2;
}

/* What is walked, by what INCA saw: the instruction for items that are ints, floats and objects. */
#define BY_ITEMS(name) \
    { DV_OP_RW_##name##_I, DV_OP_RW_##name##_D, DV_OP_RW_##name##_A }
static const uint32_t walks[][3] = {
    [DV_SAW_LIST] = BY_ITEMS(LIST),
    [DV_SAW_TUPLE] = BY_ITEMS(TUPLE),
    [DV_SAW_ARRAY] = {DV_OP_RW_ARRAY_I, DV_OP_RW_ARRAY_D, DV_OP_COUNT},
    [DV_SAW_BUFFER] = {DV_OP_RW_BUFFER_I, DV_OP_RW_BUFFER_D, DV_OP_COUNT},
    [DV_SAW_BYTES] = {DV_OP_RW_BYTES_I, DV_OP_COUNT, DV_OP_COUNT},
    [DV_SAW_KEYS] = BY_ITEMS(KEYS),
    [DV_SAW_VALUES] = BY_ITEMS(VALUES),
    [DV_SAW_SET] = BY_ITEMS(SET),
    [DV_SAW_REVERSED] = BY_ITEMS(REVERSED),
    [DV_SAW_STR] = {DV_OP_COUNT, DV_OP_COUNT, DV_OP_RW_STR_A}, /* beyond Latin-1 */
};
static const uint32_t walks_by_index[][3] = {
    [DV_SAW_LIST] = BY_ITEMS(WALK_LIST), [DV_SAW_TUPLE] = BY_ITEMS(WALK_TUPLE)};
#undef BY_ITEMS

static walk choose_walk(dv_build *b) {
    const dv_saw saw = evident_walk(b);
    const uint16_t seen = dv_build_items(b, b->top - 1, dv_site_cell(b, b->pc)[1].site.seen);
    if (saw == DV_SAW_STR && !dv_build_is_wide(b, b->top - 1))
        return (walk){DV_OP_RW_STR_C, DV_K_CHAR, 0};
    if (saw >= sizeof walks / sizeof *walks || !walks[saw][2])
        return (walk){DV_OP_COUNT, DV_K_ANY, 0};
    const dv_kind kind = walks[saw][0] == DV_OP_COUNT ? DV_K_ANY : dv_kind_loaded(b, seen);
    return (walk){walks[saw][number_of(kind)], kind, seen};
}

/* The same where there is no iterator, and INCA saw a list or a tuple. */
static walk walk_by_index(dv_build *b) {
    const uint16_t seen = dv_site_cell(b, b->pc)[1].site.seen;
    const dv_kind kind = dv_kind_loaded(b, seen);
    return (walk){walks_by_index[evident_walk(b)][number_of(kind)], kind, seen};
}

/* Any iterator, as in INCA code. */
static uint32_t ask_iterator(dv_build *b, uint32_t exhausted, uint32_t next_pc) {
    const int weight = evident_walk(b) == DV_SAW_GENERATOR ? DV_RESUMING_WEIGHS : 1;
    for (int i = 0; i < weight; i++) dv_step_count(b, false);
    dv_materialize(b, b->top - 1);
    uint32_t at = dv_embed_jump(b, 0, 1, 2, next_pc);
    dv_pop(b, 2);
    dv_edge_add(b, at, b->context, exhausted, -1);
    dv_edge_resumes(b);
    dv_build_reach(b, b->context, exhausted);
    dv_push_known(b, DV_K_ANY, DV_AT_HOME, 0, DV_EMPTY);
    dv_push_known(b, DV_K_ANY, DV_AT_HOME, 0, DV_EMPTY);
    return next_pc;
}

/* The loop may end at cell `at`: then the iterator, the topmost entry, is gone. */
static void end_at(dv_build *b, uint32_t at, uint32_t exhausted, bool resumes) {
    dv_known_value iterator = *dv_top(b, 1);
    dv_pop(b, 1);
    dv_edge_add(b, at, b->context, exhausted, b->top);
    if (resumes) dv_edge_resumes(b);
    dv_build_reach(b, b->context, exhausted);
    b->e[b->top++] = iterator;
    b->version++;
}

static uint32_t walk_sequence(dv_build *b, walk w, uint32_t exhausted, uint32_t next_pc) {
    int32_t home = dv_home(b, b->top - 1);
    bool raw = dv_kind_is_raw(w.kind);
    int32_t target = raw ? dv_step_direct_target(b, next_pc, 0) : -1;
    int16_t slot = !raw          ? dv_home(b, b->top)
                   : target >= 0 ? dv_shadow(b, target)
                                 : dv_shadow(b, b->top);
    if (w.op == DV_OP_RW_STR_A) /* there may be no memory for a character */
        dv_point_add(b, b->cells.count, dv_exit_make(b, b->context, b->pc, false), true, false,
                     false);
    const int16_t index = dv_top(b, 1)->kind == DV_K_WALK ? dv_top(b, 1)->slot : 0;
    uint32_t at = dv_region_emit_guard(b, w.op, home, slot, index);
    end_at(b, at + 4, exhausted, true);
    dv_step_count(b, raw); /* INCA code stores an object in the same instruction */
    if (raw) b->block->converted += b->weight;
    if (target >= 0) return dv_finish_raw(b, DV_NO_CELL, 0, w.kind, target, next_pc);
    dv_push_known(b, w.kind, raw ? DV_AT_SLOT : DV_AT_HOME, raw ? slot : 0, DV_EMPTY);
    dv_kind_take(b, w.seen, next_pc);
    return next_pc;
}

/* Pairs
 * ---------------------------------------------------------------------------------------------------
 */

_Static_assert(DV_OP_RW_ENUMERATE_A == DV_OP_RW_ENUMERATE_I + 2 &&
                   DV_OP_RW_ENUMERATE_TUPLE_A == DV_OP_RW_ENUMERATE_TUPLE_I + 2 &&
                   DV_OP_RW_ZIP_DI == DV_OP_RW_ZIP_II + 3 &&
                   DV_OP_RW_ZIP_AA == DV_OP_RW_ZIP_II + 8 &&
                   DV_OP_RW_ITEMS_AA == DV_OP_RW_ITEMS_II + 8 &&
                   DV_OP_RW_ROWS_AA == DV_OP_RW_ROWS_II + 8,
               "pairs: kind of the first item, kind of the second one");

/* The first of these instructions, by what INCA saw; the first item of an enumerate is an int. */
static const uint32_t pair_walks[] = {
    [DV_SAW_ENUMERATE] = DV_OP_RW_ENUMERATE_I,
    [DV_SAW_ENUMERATE_TUPLE] = DV_OP_RW_ENUMERATE_TUPLE_I,
    [DV_SAW_ZIP] = DV_OP_RW_ZIP_II,
    [DV_SAW_ITEMS] = DV_OP_RW_ITEMS_II,
    [DV_SAW_ROWS] = DV_OP_RW_ROWS_II,
};

/* How pairs are walked that an UNPACK_SEQUENCE takes apart. */
typedef struct pairs {
    uint32_t op; /* DV_OP_COUNT: as in INCA code */
    dv_kind first, second;
} pairs;

static pairs choose_pairs(dv_build *b, uint32_t next_pc) {
    const dv_site *site = &dv_site_cell(b, b->pc)[1].site;
    pairs p = {DV_OP_COUNT, kind_seen(site->items.first), kind_seen(site->items.second)};
    if (!dv_step_follows(b, next_pc, DV_OP_UNPACK_SEQUENCE) ||
        dv_word_operand(b, next_pc, 0) != 2 || b->vm->nama != DV_NAMA_VIRTUAL)
        return p;
    const dv_saw saw = evident_walk(b);
    if (saw == DV_SAW_ENUMERATE_STR && !dv_build_is_wide(b, b->top - 1))
        return (pairs){DV_OP_RW_ENUMERATE_C, DV_K_INT, DV_K_CHAR};
    if (saw >= sizeof pair_walks / sizeof *pair_walks || !pair_walks[saw]) return p;
    if (saw == DV_SAW_ENUMERATE || saw == DV_SAW_ENUMERATE_TUPLE) p.first = DV_K_INT;
    p.op = pair_walks[saw] + 3 * number_of(p.first) + number_of(p.second);
    return p;
}

/* The slot for an item that becomes entry q, or at once local `target` where that is not -1. */
static int16_t item_slot(const dv_build *b, dv_kind kind, int32_t q, int32_t target) {
    return !dv_kind_is_raw(kind) ? dv_home(b, q) : dv_shadow(b, target >= 0 ? target : q);
}

static void push_item(dv_build *b, dv_kind kind, int16_t slot) {
    bool raw = dv_kind_is_raw(kind);
    dv_push_known(b, kind, raw ? DV_AT_SLOT : DV_AT_HOME, raw ? slot : 0, DV_EMPTY);
}

/* The first item ends on top; where both are raw, or the first one, stores into locals behind that
 * belong to the instruction. */
static uint32_t walk_pairs(dv_build *b, pairs p, uint32_t exhausted, uint32_t next_pc) {
    int32_t home = dv_home(b, b->top - 1), targets[2] = {-1, -1};
    uint32_t behind = next_pc + dv_step_length(b, next_pc); /* UNPACK_SEQUENCE */
    if (dv_kind_is_raw(p.first)) targets[0] = dv_step_direct_target(b, behind, 0);
    uint32_t stored = behind + (targets[0] >= 0); /* a STORE_LOCAL is one word */
    if (targets[0] >= 0 && dv_kind_is_raw(p.second)) {
        targets[1] = dv_step_direct_target(b, stored, 0);
        if (targets[1] == targets[0]) targets[1] = -1;
    }
    int16_t second = item_slot(b, p.second, b->top, targets[1]),
            first = item_slot(b, p.first, b->top + 1, targets[0]);
    uint32_t at = dv_region_emit_guard(b, p.op, home, first, second);
    end_at(b, at + 4, exhausted, true);
    if (evident_walk(b) != DV_SAW_ROWS) { /* whose tuples are there anyway */
        if (b->emitting) b->region->removed++;
        dv_build_mark(b, DV_MADE_TUPLE);
    }
    dv_step_count(b, true);
    if (targets[1] >= 0) {
        (void)dv_finish_raw(b, DV_NO_CELL, 0, p.first, targets[0], behind);
        return dv_finish_raw(b, DV_NO_CELL, 0, p.second, targets[1], stored);
    }
    push_item(b, p.second, second);
    if (targets[0] >= 0) return dv_finish_raw(b, DV_NO_CELL, 0, p.first, targets[0], behind);
    push_item(b, p.first, first);
    return behind;
}

/* Three items or more
 * -----------------------------------------------------------------------------------------------
 */

_Static_assert(DV_OP_RW_LONG_ROWS_STEP == DV_OP_RW_LONG_ROWS_I + 3 &&
                   DV_OP_RW_LONG_ZIP_STEP == DV_OP_RW_LONG_ZIP_I + 3,
               "the step is behind the kinds");

static dv_kind kind_of_part(uint32_t seen, int32_t i) {
    const uint32_t part = seen >> 2 * i & 3;
    return part == DV_PART_INT ? DV_K_INT : part == DV_PART_FLOAT ? DV_K_FLOAT : DV_K_ANY;
}

/* Numbers first: what is in a slot above the stack is nobody's when one of them is something else,
 * and the loop's head has not begun. */
static uint32_t walk_long(dv_build *b, bool zip, uint32_t exhausted, uint32_t next_pc) {
    const int32_t n = (int32_t)dv_word_operand(b, next_pc, 0), home = dv_home(b, b->top - 1);
    const uint32_t seen = dv_site_cell(b, b->pc)[1].site.seen;
    const uint32_t first = zip ? DV_OP_RW_LONG_ZIP_I : DV_OP_RW_LONG_ROWS_I;
    uint32_t at = dv_region_emit_guard(b, zip ? DV_OP_RW_LONG_ZIP : DV_OP_RW_LONG_ROWS, home, n, 0);
    end_at(b, at + 4, exhausted, true);
    for (int32_t i = 0; i < n; i++) {
        const dv_kind kind = kind_of_part(seen, i);
        if (dv_kind_is_raw(kind))
            dv_region_emit_guard(b, first + number_of(kind), home, dv_shadow(b, b->top + n - 1 - i),
                                 i);
    }
    for (int32_t i = 0; i < n; i++)
        if (!dv_kind_is_raw(kind_of_part(seen, i)))
            dv_region_emit(b, first + 2, home, dv_home(b, b->top + n - 1 - i), i);
    dv_region_emit(b, first + 3, home, n, 0);
    dv_step_count(b, true);
    if (zip) {
        if (b->emitting) b->region->removed++;
        dv_build_mark(b, DV_MADE_TUPLE);
    }
    for (int32_t i = n - 1; i >= 0; i--)
        push_item(b, kind_of_part(seen, i), item_slot(b, kind_of_part(seen, i), b->top, -1));
    return next_pc + dv_step_length(b, next_pc);
}

/* Ranges, and the choice
 * -----------------------------------------------------------------------------------------------
 */

static uint32_t walk_range(dv_build *b, uint32_t exhausted, uint32_t next_pc) {
    int32_t target = dv_step_direct_target(b, next_pc, 0);
    int16_t slot = target >= 0 ? dv_shadow(b, target) : dv_shadow(b, b->top);
    dv_snapshot *head = dv_snapshot_at(b->context, b->pc);
    uint32_t at = dv_region_emit(b, DV_OP_R_FOR_RANGE, dv_top(b, 1)->slot, slot, 0);
    if (b->emitting) head->body = (int32_t)b->cells.count, head->item = slot;
    end_at(b, at + 3, exhausted, false);
    dv_step_count(b, true);
    if (target >= 0) return dv_finish_raw(b, DV_NO_CELL, 0, DV_K_INT, target, next_pc);
    dv_push_known(b, DV_K_INT, DV_AT_SLOT, slot, DV_EMPTY);
    return next_pc;
}

uint32_t dv_step_for_iter(dv_build *b, uint32_t next_pc) {
    uint32_t exhausted = dv_word_operand(b, b->pc, 0);
    const dv_known_value *iterator = dv_top(b, 1);
    if (dv_producer_waits(b, b->context) && b->pc == b->producer.context->call_pc)
        return dv_producer_resume(b);
    if (iterator->kind == DV_K_RANGE) return walk_range(b, exhausted, next_pc);
    if (dv_step_is_cold(b)) return dv_step_leave(b);
    if (iterator->kind == DV_K_WALK && is_by_index(evident_walk(b)))
        return walk_sequence(b, walk_by_index(b), exhausted, next_pc);
    dv_materialize(b, b->top - 1);
    pairs p = choose_pairs(b, next_pc);
    if (p.op != DV_OP_COUNT && iterator->where == DV_AT_HOME)
        return walk_pairs(b, p, exhausted, next_pc);
    const dv_saw saw = evident_walk(b);
    if ((saw == DV_SAW_LONG_ZIP || saw == DV_SAW_LONG_ROWS) && iterator->where == DV_AT_HOME &&
        dv_step_follows(b, next_pc, DV_OP_UNPACK_SEQUENCE) && b->vm->nama == DV_NAMA_VIRTUAL)
        return walk_long(b, saw == DV_SAW_LONG_ZIP, exhausted, next_pc);
    const bool walks_home = iterator->where == DV_AT_HOME;
    const walk w = walks_home ? choose_walk(b) : (walk){DV_OP_COUNT, DV_K_ANY, 0};
    if (w.op == DV_OP_COUNT) {
        b->otherwise = NULL;
        return ask_iterator(b, exhausted, next_pc);
    }
    return walk_sequence(b, w, exhausted, next_pc);
}

/* Back edges
 * -----------------------------------------------------------------------------------------------
 */

_Static_assert(DV_MODED_RBI_BACK_LE_SS == DV_MODED_RBI_BACK_LT_SS + 2 * DV_BACK_FORMS,
               "comparisons are consecutive");

/* A loop whose head begins with a comparison and a jump out of it, of slots and constants: the same
 * comparison becomes the back edge, so that an iteration does not go through the head. */
static bool jump_back_comparing(dv_build *b, const dv_snapshot *head) {
    uint32_t at = (uint32_t)head->label;
    if (b->failed || head->label < 0 || at >= b->cells.count || dv_build_is_marked(b, at))
        return false;
    const uint32_t head_op = (uint32_t)b->cells.data[at].i;
    const uint32_t n = dv_moded_of(head_op) - DV_MODED_RBI_LT_SS;
    if (n > DV_MODED_RSD_NE_RK - DV_MODED_RBI_LT_SS) return false;
    uint32_t form = n % DV_BRANCH_FORMS, mode = n / DV_BRANCH_FORMS % DV_BRANCH_MODES,
             op = n / DV_BRANCH_FORMS / DV_BRANCH_MODES;
    if (form >= DV_BACK_FORMS || mode >= 2) return false; /* its result, or a register, is needed */
    const uint32_t back =
        dv_op_moded(DV_MODED_RBI_BACK_LT_SS + (op * 2 + mode) * DV_BACK_FORMS + form);
    if (back == DV_OP_COUNT) return false;
    uint32_t out = 0;
    while (out < b->edges.count && b->edges.data[out].cell != at + 3) out++;
    if (out == b->edges.count) return false;
    const dv_cell operands = b->cells.data[at + 1], constant = b->cells.data[at + 2];
    dv_edge edge = b->edges.data[out];
    edge.cell = dv_region_emit(b, back, operands.o.a, operands.o.b, 0) + 3;
    if (b->failed) return true;
    b->cells.data[edge.cell - 1] = constant;
    b->cells.data[edge.cell + 1].i = at + dv_op_infos[head_op].length;
    DV_PUSH(b, edges, edge);
    DV_PUSH(b, label_uses, edge.cell + 1);
    return true;
}

uint32_t dv_step_jump_back(dv_build *b, uint32_t next_pc) {
    (void)next_pc;
    uint32_t target = dv_word_operand(b, b->pc, 0);
    b->context = dv_context_to(b->context, target);
    dv_snapshot *head = dv_snapshot_at(b->context, target);
    b->ended = true;
    if (!b->emitting || !head) {
        dv_build_flow(b, b->context, target);
        return b->pc;
    }
    dv_convert(b, head);
    uint32_t exit = dv_exit_make(b, b->context, b->pc, false);
    dv_point_add(b, b->cells.count, exit, true, true, false);
    bool range = head->body >= 0 && b->top > 0 && dv_top(b, 1)->kind == DV_K_RANGE &&
                 dv_step_op(b, target) == DV_OP_FOR_ITER;
    if (!range) {
        if (jump_back_comparing(b, head)) return b->pc;
        uint32_t at = dv_region_emit(b, DV_OP_R_JUMP_BACK, 0, 0, 0);
        DV_PUSH(b, edges, (dv_edge){at + 3, b->context, target, NULL, 0, false, -1, NULL});
        return b->pc;
    }
    uint32_t at = dv_region_emit(b, DV_OP_R_NEXT_RANGE, dv_top(b, 1)->slot, head->item, 0);
    if (b->failed) return b->pc;
    b->cells.data[at + 4].i = head->body;
    DV_PUSH(b, label_uses, at + 4);
    dv_pop(b, 1);
    dv_edge_add(b, at + 3, b->context, dv_word_operand(b, target, 0), b->top);
    return b->pc;
}
