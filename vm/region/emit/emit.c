/* emit.c: the builder's way from entries to cells: where values are, how they get elsewhere, exits.
 *
 * In the first pass (b->emitting is false) the same functions run and change the entries in the
 * same way, but make no cells; so both passes see the same knowledge. */
#include "region/step/complex.h"
#include "region/step/producer.h"
#include "region/step/raised.h"

uint32_t dv_region_emit(dv_build *b, uint32_t op, int32_t oa, int32_t ob, int32_t oc) {
    uint32_t at = b->cells.count;
    if (!b->emitting) return at;
    uint32_t length = dv_op_infos[op].length;
    if (!DV_ROOM(b, cells, length)) return 0;
    b->cells.count += length;
    for (uint32_t i = 0; i < length; i++) b->cells.data[at + i].i = 0;
    /* The handler depends on the cell's final address: the opcode waits here (build.c, finish). */
    b->cells.data[at].i = op;
    if (length > 1) {
        b->cells.data[at + 1].o.a = (int16_t)oa;
        b->cells.data[at + 1].o.b = (int16_t)ob;
        b->cells.data[at + 1].o.c = (int16_t)oc;
        b->cells.data[at + 1].o.d = dv_home(b, b->top);
    }
    DV_PUSH(b, starts, at);
    return at;
}

void dv_region_emit_constant(dv_build *b, uint32_t cell, dv_cell constant) {
    if (b->emitting && !b->failed) b->cells.data[cell + 2] = constant;
}

uint32_t dv_region_emit_guard(dv_build *b, uint32_t op, int32_t oa, int32_t ob, int32_t oc) {
    uint32_t at = dv_region_emit(b, op, oa, ob, oc);
    dv_virtual_disturb(b);
    dv_context *otherwise = b->otherwise;
    b->otherwise = NULL;
    if (otherwise) dv_build_branch_off(b, at, otherwise);
    if (!b->emitting || b->failed || otherwise) return at;
    b->cells.data[at + 3].i = dv_exit_make(b, b->context, b->pc, true);
    DV_PUSH(b, exit_uses, at + 3);
    return at;
}

void dv_forget_shapes(dv_build *b) {
    if (!b->e) return; /* a region that was written by hand */
    for (int32_t q = 0; q < b->top; q++)
        if (dv_has_known_shape(&b->e[q])) b->e[q].value = DV_EMPTY;
}

void dv_point_add(dv_build *b, uint32_t cell, uint32_t exit, bool raises, bool resumes,
                  bool keeps_sp) {
    dv_virtual_disturb(b);
    if (resumes) dv_forget_shapes(b);
    if (resumes) dv_raised_ask(b);
    if (b->emitting)
        DV_PUSH(b, points, (dv_point){cell, exit, raises, resumes, keeps_sp, DV_NO_CELL});
}

/* Exits
 * ---------------------------------------------------------------------------------------------------
 */

bool dv_owned(dv_build *b, dv_context *context, uint32_t pc, int32_t q) {
    while (q < context->base) {
        /* Below the locals of an __init__ are the instance, and the function (virtual.c); of an
         * operator's method, how it goes on, and that itself; of a property, its function. */
        const int32_t below = context->entering == DV_ENTERS_GETTER ? 3 : DV_BELOW_INIT;
        if (context->entering != DV_ENTERS_CALL && q >= context->base - below) return true;
        pc = context->call_pc;
        context = context->parent;
    }
    if (!context->parent && dv_producer_waits(b, context) && q >= b->producer.base - 3) {
        if (q < b->producer.floor)
            context = b->producer.context, pc = b->producer.at;
        else
            q -= dv_producer_entries(b);
    }
    const dv_code *code = context->thread->code;
    int32_t depth = q - context->base - (int32_t)code->local_count + 1;
    if (depth <= 0) return true;
    uint32_t state = code->state_at[pc];
    while (state != 0 && state != DV_NO_STATE && code->states[state].depth > depth)
        state = code->states[state].below;
    return state == 0 || state == DV_NO_STATE || code->states[state].kind == DV_SLOT_OWNED;
}

/* A local that the loop only reads: its home slot still has what it had at entry, which is no
 * counted object where the local is raw. */
static bool is_unchanged(const dv_build *b, int32_t q) {
    if (b->parameters) return false; /* who calls with raw arguments puts nothing there */
    return q < b->locals && !(b->local_uses[q] & DV_LOCAL_STORED);
}

/* Is entry q a raw local of the loop's function that is dead where execution goes on at pc? */
static bool is_lost(dv_build *b, dv_context *context, uint32_t pc, int32_t q) {
    if (!dv_kind_is_raw((dv_kind)b->e[q].kind) && b->e[q].kind != DV_K_COMPLEX) return false;
    return dv_build_is_dead_in(b, context, pc, q);
}

/* An exception that is not made: all that have it get it where that is handled. */
static void exit_raised(dv_build *b, int32_t q) {
    const dv_known_value *e = &b->e[q];
    const bool handled = e->kind == DV_K_HANDLED;
    dv_exit_item item = {.to = dv_home(b, q), .from = e->slot};
    item.action = handled ? DV_EXIT_HANDLED : DV_EXIT_RAISED;
    if (!handled && dv_raised_handled(b, q) >= 0) return;
    DV_PUSH(b, items, item);
    item.action = DV_EXIT_CAUGHT;
    for (int32_t other = 0; other < b->top && handled; other++) {
        if (b->e[other].kind != DV_K_RAISED || b->e[other].slot != e->slot) continue;
        item.to = dv_home(b, other);
        DV_PUSH(b, items, item);
    }
}

static void exit_item(dv_build *b, dv_context *context, uint32_t pc, int32_t q) {
    const dv_known_value *e = &b->e[q];
    if (e->kind == DV_K_RESERVED) return;
    if (dv_has_record(e)) {
        dv_virtual_exit(b, context, pc, q);
        return;
    }
    if (e->where == DV_AT_HOME && e->kind != DV_K_RANGE && e->kind != DV_K_WALK) return;
    if (dv_is_raised(e)) {
        exit_raised(b, q);
        return;
    }
    dv_exit_item item = {.to = dv_home(b, q), .from = e->slot};
    if (is_lost(b, context, pc, q)) {
        if (!(b->faded >> q & 1)) return;
        item.action = DV_EXIT_VALUE_B, item.value = DV_NONE; /* there may be DV_FADED */
        DV_PUSH(b, items, item);
        return;
    }
    if (e->kind == DV_K_RANGE || e->kind == DV_K_WALK) {
        item.action = e->kind == DV_K_RANGE ? DV_EXIT_RANGE : DV_EXIT_WALK;
    } else {
        const int raw = e->kind - DV_K_INT;
        switch ((dv_where)e->where) {
        case DV_AT_HOME:
        case DV_AT_NOWHERE: return;
        case DV_AT_SLOT:
            if (is_unchanged(b, q)) return;
            item.action = (uint8_t)(e->kind == DV_K_COMPLEX ? DV_EXIT_COMPLEX : DV_EXIT_INT + raw);
            break;
        case DV_AT_REGISTER: item.action = (uint8_t)(DV_EXIT_INT_R + raw); break;
        case DV_AT_VALUE:
            item.action = dv_owned(b, context, pc, q) ? DV_EXIT_VALUE : DV_EXIT_VALUE_B;
            item.value = e->value;
            if (dv_is_shape(e->value, DV_T_CODE)) { /* bound.c */
                while (context->base - 3 != q) context = context->parent;
                item.action = DV_EXIT_FUNCTION, item.from = context->method;
            }
            break;
        case DV_AT_ALIAS:
            item.action = dv_owned(b, context, pc, q) ? DV_EXIT_COPY : DV_EXIT_COPY_B;
            item.from = dv_home(b, e->slot);
            break;
        }
    }
    DV_PUSH(b, items, item);
}

/* Where the frame of an inlined function returns to. */
static const dv_cell *link_of(const dv_context *c) {
    const dv_thread *caller = c->parent->thread;
    switch (c->entering) {
    case DV_ENTERS_INIT: return dv_construct_cell;
    case DV_ENTERS_OPERATOR:
    case DV_ENTERS_COMPARISON:
    case DV_ENTERS_NEW: return dv_operate_cell;
    case DV_ENTERS_CALL:
    case DV_ENTERS_GETTER: break;
    }
    return caller->cells + caller->cell_at[c->return_pc];
}

/* What the call of an inlined function counts as. */
static uint8_t calls_of(const dv_context *c) { return c->entering >= DV_ENTERS_COMPARISON ? 2 : 1; }

uint32_t dv_exit_make(dv_build *b, dv_context *context, uint32_t pc, bool counts) {
    dv_virtual_disturb(b);
    if (!b->emitting) return 0;
    if (counts && !b->charged && b->last_exit.context == context && b->last_exit.pc == pc &&
        b->last_exit.version == b->version)
        return b->last_exit.exit;
    dv_exit x = {.pc = pc, .thread = context->thread, .learns = b->learns, .counts = counts};
    x.folds = dv_producer_folds(b, context);
    x.top = (int16_t)(dv_home(b, b->top) - x.folds);
    x.first_item = b->items.count;
    x.first_frame = b->frames.count;
    for (int32_t q = 0; q < b->top; q++) exit_item(b, context, pc, q);
    x.item_count = b->items.count - x.first_item;
    for (dv_context *c = context; c->parent; c = c->parent) {
        const uint8_t calls = b->charged ? 0 : calls_of(c);
        const int16_t base = (int16_t)(dv_home(b, c->base) - x.folds);
        DV_PUSH(b, frames,
                (dv_exit_frame){base, calls, dv_producer_is(b, c), link_of(c), c->parent->thread,
                                c->call_pc});
    }
    x.frame_count = b->frames.count - x.first_frame;
    uint32_t number = b->exits.count;
    DV_PUSH(b, exits, x);
    if (counts && !b->charged) {
        b->last_exit.context = context, b->last_exit.pc = pc;
        b->last_exit.version = b->version, b->last_exit.exit = number;
    }
    return number;
}

void dv_region_emit_exit(dv_build *b, dv_context *context, uint32_t pc, bool counts) {
    b->ended = true;
    dv_virtual_disturb(b);
    if (!b->emitting || b->failed) return;
    uint32_t exit = dv_exit_make(b, context, pc, counts);
    uint32_t at = dv_region_emit(b, DV_OP_R_EXIT, counts, 0, 0); /* to tell it from a guard's */
    if (!b->failed) b->cells.data[at + 2].i = exit;
}

void dv_edge_add(dv_build *b, uint32_t cell, dv_context *context, uint32_t pc, int32_t release) {
    dv_virtual_disturb(b);
    if (!b->emitting || b->failed) return;
    context = dv_context_to(context, pc);
    dv_known_value *copy = dv_build_get(b, (size_t)(b->top + 1) * sizeof *copy);
    if (!copy) return;
    memcpy(copy, b->e, (size_t)b->top * sizeof *copy);
    DV_PUSH(b, edges, (dv_edge){cell, context, pc, copy, b->top, false, release, NULL});
}

/* Entries
 * -------------------------------------------------------------------------------------------------
 */

int16_t dv_triple(dv_build *b, int32_t q) {
    if (b->triple_of[q] == 0) {
        if (b->triples + 3 > b->triple_limit) {
            dv_build_fail(b, DV_REFUSED_SLOTS);
            return 0;
        }
        b->triple_of[q] = (int16_t)b->triples;
        b->triples += 3;
    }
    return b->triple_of[q];
}

void dv_push_known(dv_build *b, dv_kind kind, dv_where where, int32_t slot, dv_value value) {
    if (b->top >= b->entry_limit) {
        dv_build_fail(b, DV_REFUSED_SLOTS);
        return;
    }
    b->e[b->top++] = (dv_known_value){(uint8_t)kind, (uint8_t)where, (int16_t)slot, value};
    b->version++;
}

/* After a failure the rest of an instruction may push less than it pops. */
void dv_pop(dv_build *b, int32_t n) {
    if (b->failed) return;
    b->top -= n;
    b->version++;
}

static void set_where(dv_build *b, int32_t q, dv_where where, int32_t slot) {
    b->e[q].where = (uint8_t)where;
    b->e[q].slot = (int16_t)slot;
    b->version++;
}

/* The instruction that stores the register that entry q is in. */
static uint32_t store_of(const dv_build *b, int32_t q) {
    return b->e[q].kind == DV_K_FLOAT ? DV_OP_R_STORE_D : DV_OP_R_STORE_I;
}

/* If the value in a register was made by the very last instruction, that one puts it into the slot.
 */
static bool redirect(dv_build *b, int32_t q, int16_t slot) {
    uint32_t at = b->last_result;
    if (!b->emitting || b->failed || at == DV_NO_CELL || q != b->last_entry) return false;
    const uint32_t op = (uint32_t)b->cells.data[at].i;
    if (at + dv_op_infos[op].length != b->cells.count) return false;
    const uint32_t joined = dv_op_joined(op, store_of(b, q));
    if (joined == DV_OP_COUNT)
        return false; /* not every form with a register is made with a slot */
    b->cells.data[at].i = joined;
    b->cells.data[at + 1].o.c = slot;
    b->last_result = DV_NO_CELL;
    return true;
}

void dv_store_register(dv_build *b, int32_t q, int16_t slot) {
    if (redirect(b, q, slot)) return;
    dv_region_emit(b, store_of(b, q), slot, 0, 0);
}

void dv_spill(dv_build *b, bool doubles, int32_t keep) {
    int32_t q = keep < b->top ? keep : b->top;
    while (--q >= b->locals) /* locals are never in registers, and of others one is */
        if (b->e[q].where == DV_AT_REGISTER && (b->e[q].kind == DV_K_FLOAT) == doubles) {
            dv_store_register(b, q, dv_shadow(b, q));
            set_where(b, q, DV_AT_SLOT, dv_shadow(b, q));
            return;
        }
}

static dv_cell raw_constant(const dv_known_value *e) {
    if (e->kind == DV_K_FLOAT) return (dv_cell){.d = dv_as_float(e->value)};
    return (dv_cell){.i =
                         e->kind == DV_K_INT ? dv_as_int(e->value) : e->value.bits == DV_TRUE.bits};
}

/* A raw entry to its own shadow slot. */
void dv_to_shadow(dv_build *b, int32_t q) {
    dv_known_value *e = &b->e[q];
    if (e->kind == DV_K_COMPLEX) {
        dv_complex_settle(b, q);
        return;
    }
    int16_t slot = dv_shadow(b, q);
    if (e->where == DV_AT_SLOT && e->slot == slot) return;
    if (e->where == DV_AT_SLOT)
        dv_region_emit(b, DV_OP_R_MOVE, e->slot, slot, 0);
    else if (e->where == DV_AT_REGISTER)
        dv_store_register(b, q, slot);
    else
        dv_region_emit_constant(b, dv_emit_const(b, slot, (dv_kind)e->kind), raw_constant(e));
    set_where(b, q, DV_AT_SLOT, slot);
}

void dv_to_slot(dv_build *b, int32_t q) {
    if (b->e[q].where != DV_AT_SLOT) dv_to_shadow(b, q);
}

static uint32_t box_op(dv_kind kind) {
    return kind == DV_K_INT     ? DV_OP_R_BOX_I
           : kind == DV_K_FLOAT ? DV_OP_R_BOX_D
           : kind == DV_K_BOOL  ? DV_OP_R_BOX_B
                                : DV_OP_R_BOX_C;
}

void dv_box(dv_build *b, dv_kind kind, int16_t slot, int16_t home) {
    b->block->converted += b->weight;
    if (kind == DV_K_INT || kind == DV_K_CHAR) /* there may be no memory for it */
        dv_point_add(b, b->cells.count, dv_exit_make(b, b->context, b->pc, false), true, false,
                     false);
    dv_region_emit(b, box_op(kind), slot, home, 0);
}

void dv_materialize(dv_build *b, int32_t q) {
    dv_known_value *e = &b->e[q];
    if (e->kind == DV_K_VIRTUAL) dv_virtual_make(b, e->slot);
    if (e->kind == DV_K_RANGE || (e->kind == DV_K_WALK && b->emitting))
        dv_build_fail(b, DV_REFUSED_ITERATOR);
    if (e->kind == DV_K_WALK) {
        dv_walk_need(b, e);
        *e = (dv_known_value){DV_K_ANY, DV_AT_HOME, 0, DV_EMPTY};
        b->version++;
    }
    if (dv_is_raised(e)) dv_raised_show(b, q);
    if (e->where == DV_AT_HOME || e->where == DV_AT_NOWHERE) return;
    bool counted = e->where == DV_AT_VALUE || e->where == DV_AT_ALIAS;
    bool owned = counted && dv_owned(b, b->context, b->pc, q);
    if (e->where == DV_AT_VALUE) {
        uint32_t at =
            dv_region_emit(b, owned ? DV_OP_R_VALUE : DV_OP_R_VALUE_B, dv_home(b, q), 0, 0);
        dv_region_emit_constant(b, at, (dv_cell){.v = e->value});
    } else if (e->where == DV_AT_ALIAS) {
        dv_region_emit(b, owned ? DV_OP_R_COPY : DV_OP_R_BORROW, dv_home(b, e->slot), dv_home(b, q),
                       0);
    } else if (e->kind == DV_K_COMPLEX) {
        dv_point_add(b, b->cells.count, dv_exit_make(b, b->context, b->pc, false), true, false,
                     false);
        dv_region_emit(b, DV_OP_RC_BOX, e->slot, dv_home(b, q), 0);
    } else {
        dv_to_slot(b, q);
        dv_box(b, (dv_kind)e->kind, e->slot, dv_home(b, q));
    }
    if (e->kind <= DV_K_COMPLEX || e->kind == DV_K_CONSTANT) e->kind = DV_K_ANY;
    e->value = DV_EMPTY;
    set_where(b, q, DV_AT_HOME, 0);
}

void dv_claim(dv_build *b, int32_t local) {
    int16_t slot = dv_shadow(b, local);
    for (int32_t q = 0; q < b->top; q++) {
        if (q == local) continue;
        if (b->e[q].where == DV_AT_SLOT && b->e[q].kind != DV_K_RANGE &&
            (b->e[q].slot == slot || b->e[q].slot == b->complex_of[local]))
            dv_to_shadow(b, q);
        else if (b->e[q].where == DV_AT_ALIAS && b->e[q].slot == local)
            dv_materialize(b, q);
    }
}

void dv_claim_slot(dv_build *b, int16_t slot) {
    for (int32_t q = 0; q < b->top; q++) {
        const dv_known_value *e = &b->e[q];
        if (e->where == DV_AT_SLOT && e->slot == slot && dv_kind_is_raw((dv_kind)e->kind))
            dv_to_shadow(b, q);
    }
}

/* Joins
 * ---------------------------------------------------------------------------------------------------
 */

/* A dead local: what it has does not matter (build.c). */
static bool is_other_number(const dv_known_value *e, const dv_known_value *to) {
    return dv_kind_is_raw((dv_kind)e->kind) && dv_kind_is_raw((dv_kind)to->kind) &&
           e->kind != to->kind;
}

static void convert_entry(dv_build *b, int32_t q, const dv_known_value *to) {
    dv_known_value *e = &b->e[q];
    if (e->kind == DV_K_RANGE || e->kind == DV_K_RESERVED || dv_is_raised(to)) return;
    if (to->kind == DV_K_WALK) return;
    if (is_other_number(e, to)) return;
    if (dv_kind_is_raw(to->kind) && e->kind == DV_K_NOTHING) { /* dead: any value will do */
        (void)dv_emit_const(b, dv_shadow(b, q), (dv_kind)to->kind);
        *e = (dv_known_value){to->kind, DV_AT_SLOT, dv_shadow(b, q), DV_EMPTY};
    } else if (to->kind == DV_K_COMPLEX && e->kind == DV_K_NOTHING) {
        *e = (dv_known_value){DV_K_COMPLEX, DV_AT_SLOT, dv_complex_slot(b, q), DV_EMPTY};
    } else if (dv_kind_is_raw(to->kind) || to->kind == DV_K_COMPLEX) {
        dv_to_shadow(b, q);
    } else if (to->kind == DV_K_CONSTANT) {
        return;
    } else {
        dv_materialize(b, q);
        e->kind = to->kind;
    }
}

void dv_convert(dv_build *b, const dv_snapshot *to) {
    if (b->failed) return; /* a snapshot may have no entries then */
    dv_virtual_restore(b, to);
    for (int32_t q = 0; q < b->top; q++)
        if (!dv_virtual_stays(b, to, q)) convert_entry(b, q, &to->entries[q]);
    dv_virtual_convert(b, to);
}

bool dv_conversion_needed(dv_build *b, const dv_known_value *entries, int32_t top,
                          const dv_snapshot *to) {
    for (int32_t q = 0; q < top; q++) {
        const dv_known_value *e = &entries[q], *t = &to->entries[q];
        if (e->kind == DV_K_RANGE || e->kind == DV_K_RESERVED || t->kind == DV_K_CONSTANT ||
            t->kind == DV_K_WALK || dv_is_raised(t))
            continue;
        if (is_other_number(e, t)) continue;
        if (dv_has_record(t) || dv_is_faded(e)) {
            if (dv_virtual_conversion_needed(b, e, to, t)) return true;
            continue;
        }
        if (t->kind == DV_K_COMPLEX) {
            if (e->where != DV_AT_SLOT || e->slot != t->slot) return true;
            continue;
        }
        if (dv_kind_is_raw(t->kind) ? e->where != DV_AT_SLOT || e->slot != dv_shadow(b, q)
                                    : e->where != DV_AT_HOME)
            return true;
    }
    return false;
}

/* Boxed instructions
 * -------------------------------------------------------------------------------------- */

/* The instruction at b->pc as it stands in INCA code, on the operand stack.  Fused forms read the
 * cells behind them, which are others here: they become adaptive again. */
static uint32_t copied_op(uint32_t op) {
    if (dv_op_infos[op].family == DV_OP_BUILD_SLICE || dv_op_infos[op].saw == DV_SAW_PAIR)
        return op;                                 /* dv_step_embed_both */
    if (dv_op_infos[op].family == DV_OP_BUILD_KEY) /* the others look at the container, which may */
        return DV_OP_BUILD_KEY;                    /* not be on the stack yet */
    const dv_op_info *info = &dv_op_infos[op];
    if (info->saw == DV_SAW_ENTRY) return info->adaptive; /* no head is behind the copy */
    bool fused = info->kind == DV_KIND_DERIVATIVE && dv_op_infos[info->family].outputs == 1 &&
                 info->covers != DV_OP_NOP;
    return fused ? info->adaptive : op;
}

/* Copied sites that remember a class forget it with the whole region. */
static bool depend_on_classes(dv_build *b, uint32_t generic) {
    bool remembers =
        generic == DV_OP_LOAD_ATTR || generic == DV_OP_STORE_ATTR || generic == DV_OP_LOAD_METHOD;
    return !remembers || dv_build_depends(b, &b->vm->class_sites);
}

/* Does an extension execute other sites with this one? */
static bool is_expression(dv_vm *vm, const dv_cell *site) {
    dv_foreign_form form = {.expression = false};
    return vm->hooks.plugin.form(vm, site, &form) && form.expression;
}

int32_t dv_inlined_calls(const dv_context *context) {
    int32_t calls = 0;
    for (; context->parent; context = context->parent) calls += calls_of(context);
    return calls;
}

void dv_charge(dv_build *b, bool charged) {
    const int32_t calls = dv_inlined_calls(b->context);
    if (calls) dv_region_emit(b, DV_OP_R_DEPTH, charged ? calls : -calls, 0, 0);
    b->charged = charged;
}

static bool is_call(uint32_t op) {
    return op == DV_OP_CALL || op == DV_OP_CALL_METHOD || op == DV_OP_CALL_KW ||
           op == DV_OP_CALL_METHOD_KW;
}

static uint32_t embed(dv_build *b, int32_t inputs, int32_t outputs, uint32_t next_pc) {
    uint32_t at = 0;
    dv_raised_show_all(b);
    for (int32_t q = b->top - inputs; q < b->top; q++) dv_materialize(b, q);
    for (int32_t q = b->locals; q < b->top; q++) /* what is borrowed (attribute.c) */
        if (b->e[q].where == DV_AT_ALIAS && b->e[q].slot == q) dv_materialize(b, q);
    dv_spill(b, false, b->top);
    dv_spill(b, true, b->top);
    if (b->sp != b->top) dv_region_emit(b, DV_OP_R_SET_SP, dv_home(b, b->top), 0, 0);
    const bool calls = is_call(b->context->thread->code->words[b->pc] & 0xFF);
    if (calls) dv_raised_quietly(b);
    if (calls) dv_charge(b, true);
    const dv_thread *thread = b->context->thread;
    const dv_cell *original = thread->cells + thread->cell_at[b->pc];
    if (b->emitting) {
        uint32_t op = dv_op_of(b->vm, original->h), generic = thread->code->words[b->pc] & 0xFF;
        if (!depend_on_classes(b, generic)) return 0;
        dv_point_add(b, b->cells.count, dv_exit_make(b, b->context, b->pc, false), true, false,
                     true);
        at = b->cells.count;
        for (uint32_t i = 0; i < dv_op_infos[generic].length; i++)
            if (!DV_PUSH(b, cells, original[i])) return 0;
        if (dv_producer_is_passed(b)) b->cells.data[at + 1].i += dv_producer_folds(b, b->context);
        if (op >= DV_OP_COUNT && (b->context->parent || is_expression(b->vm, original))) {
            /* What an extension keeps for the site goes with the code of the function inlined. */
            op = dv_op_infos[generic].adaptive;
            b->cells.data[at + 1].site = (dv_site){.own = (uint8_t)original[1].extended.own};
        }
        if (op < DV_OP_COUNT) { /* else an extension's handler, which works anywhere */
            b->cells.data[at].i = copied_op(op);
            DV_PUSH(b, starts, at);
        }
    }
    dv_pop(b, inputs);
    for (int32_t i = 0; i < outputs; i++) dv_push_known(b, DV_K_ANY, DV_AT_HOME, 0, DV_EMPTY);
    b->sp = b->top;
    dv_forget_shapes(b);
    if (next_pc != DV_NO_PC)
        dv_point_add(b, b->cells.count, dv_exit_make(b, b->context, next_pc, false), false, true,
                     false);
    if (calls) dv_charge(b, false);
    return at;
}

void dv_embed(dv_build *b, int32_t inputs, int32_t outputs, uint32_t next_pc) {
    embed(b, inputs, outputs, next_pc);
}

uint32_t dv_embed_jump(dv_build *b, int32_t inputs, int32_t outputs, uint32_t target_cell,
                       uint32_t next_pc) {
    return embed(b, inputs, outputs, next_pc) + target_cell;
}
