/* virtual_join.c: virtual instances where ways meet (virtual.h).
 *
 * A leader has records of its own.  Its attributes are where they were on the first way to it;
 * other ways move theirs there.
 *
 * Invariant
 *  1. An instance of the leader is one instance on every way to it, which nothing holds there but
 *     the entries that hold it at the leader, and locals that are dead. */
#include "region/virtual.h"

static bool is_virtual(const dv_known_value *e) { return e->kind == DV_K_VIRTUAL; }

static const dv_known_value MADE = {DV_K_ANY, DV_AT_HOME, 0, DV_EMPTY};

/* The way to a leader that is looked at. */
typedef struct way {
    dv_build *b;
    dv_context *context;
    uint32_t pc;
    dv_snapshot *at;
} way;

static bool holds_at(const way *w, int32_t q, uint32_t number) {
    return is_virtual(&w->at->entries[q]) && w->at->entries[q].slot == (int32_t)number;
}

static bool is_kept(const way *w, int32_t q) {
    return is_virtual(&w->b->e[q]) && !dv_virtual_is_lost(w->b, w->context, w->pc, q);
}

/* The leader's record for the instance in the entries, by number; -1: it has none yet. */
static int32_t number_at(const way *w, int32_t record, int32_t below) {
    for (int32_t q = 0; q < below; q++)
        if (is_virtual(&w->at->entries[q]) && w->b->e[q].slot == record)
            return w->at->entries[q].slot;
    return -1;
}

/* The attribute's slot as a set. */
static uint64_t bit_of(const way *w, const dv_known_value *v) {
    return v->where == DV_AT_SLOT || v->where == DV_AT_HOME
               ? UINT64_C(1) << (v->slot - w->b->attribute_slots)
               : 0;
}

/* A slot for an attribute that no record of the leader uses; -1: there is none. */
static int32_t free_slot_at(const way *w) {
    uint64_t used = 0;
    for (uint32_t r = 0; r < w->at->record_count; r++) {
        const dv_virtual *record = &w->at->records[r];
        for (uint32_t i = 0; i < record->shape->count; i++) used |= bit_of(w, &record->values[i]);
    }
    for (int32_t n = 0; n < w->b->attribute_count; n++)
        if (!(used >> n & 1)) return w->b->attribute_slots + n;
    return -1;
}

/* Instances that share a slot on the first way may not do so on another one: each attribute gets a
 * slot of its own; false: there are not enough. */
static bool separate(const way *w, uint32_t number) {
    dv_virtual *record = &w->at->records[number];
    uint64_t used = 0;
    for (uint32_t r = 0; r < number; r++)
        for (uint32_t i = 0; i < w->at->records[r].shape->count; i++)
            used |= bit_of(w, &w->at->records[r].values[i]);
    for (uint32_t i = 0; i < record->shape->count; i++) {
        uint64_t bit = bit_of(w, &record->values[i]);
        if (used & bit) {
            int32_t slot = free_slot_at(w);
            if (slot < 0) return false;
            record->values[i].slot = (int16_t)slot;
        }
        used |= bit_of(w, &record->values[i]);
    }
    return true;
}

static void make_at(const way *w, uint32_t number) {
    for (int32_t q = 0; q < w->at->top; q++)
        if (holds_at(w, q, number)) w->at->entries[q] = MADE;
}

void dv_virtual_arrive(dv_build *b, dv_context *context, uint32_t pc, dv_snapshot *at) {
    const way w = {b, context, pc, at};
    uint32_t most = 0;
    at->record_count = 0;
    for (int32_t q = 0; q < b->top; q++) most += is_virtual(&b->e[q]);
    if (at->head || most == 0) return;
    at->records = dv_build_get(b, most * sizeof *at->records);
    for (int32_t q = 0; q < b->top && at->records; q++) {
        if (!is_virtual(&b->e[q])) continue;
        int32_t number = number_at(&w, b->e[q].slot, q);
        if (number < 0) {
            number = (int32_t)at->record_count++;
            at->records[number] = *dv_virtual_record(b, &b->e[q]);
        }
        at->entries[q] = (dv_known_value){DV_K_VIRTUAL, DV_AT_NOWHERE, (int16_t)number, DV_EMPTY};
    }
    for (uint32_t number = 0; number < at->record_count; number++)
        if (!separate(&w, number)) make_at(&w, number);
}

/* Other ways
 * ---------------------------------------------------------------------------------------------- */

static bool is_at_leader(const dv_snapshot *at, uint32_t number) {
    for (int32_t q = 0; q < at->top; q++)
        if (is_virtual(&at->entries[q]) && at->entries[q].slot == (int32_t)number) return true;
    return false;
}

/* The record on this way of the leader's instance, if that is in the same entries; -1: it is not.
 */
static int32_t partner_of(const way *w, uint32_t number) {
    int32_t partner = -1;
    for (int32_t q = 0; q < w->b->top; q++) {
        if (!holds_at(w, q, number)) continue;
        if (!is_virtual(&w->b->e[q]) || (partner >= 0 && w->b->e[q].slot != partner)) return -1;
        partner = w->b->e[q].slot;
    }
    for (int32_t q = 0; q < w->b->top; q++)
        if (!holds_at(w, q, number) && is_kept(w, q) && w->b->e[q].slot == partner) return -1;
    return partner;
}

/* What is known of an attribute on all ways; false: nothing that could stay virtual. */
static bool join_value(const way *w, dv_known_value *known, const dv_known_value *v,
                       bool *changed) {
    if (known->where == DV_AT_HOME && v->where == DV_AT_HOME) {
        *changed |= known->kind != v->kind && known->kind != DV_K_ANY;
        if (known->kind != v->kind) known->kind = DV_K_ANY;
        return true;
    }
    if (known->kind != v->kind || v->where == DV_AT_HOME) return false;
    bool same =
        known->where == DV_AT_VALUE && v->where == DV_AT_VALUE && dv_same(known->value, v->value);
    if (known->where == DV_AT_SLOT || same) return true;
    int32_t slot = dv_kind_is_raw((dv_kind)v->kind) ? free_slot_at(w) : -1;
    if (slot < 0) return false;
    *known = (dv_known_value){v->kind, DV_AT_SLOT, (int16_t)slot, DV_EMPTY};
    *changed = true;
    return true;
}

static bool join_record(const way *w, uint32_t number, bool *changed) {
    int32_t partner = partner_of(w, number);
    dv_virtual *known = &w->at->records[number];
    if (partner < 0 || w->b->virtuals.data[partner].shape != known->shape) return false;
    for (uint32_t i = 0; i < known->shape->count; i++)
        if (!join_value(w, &known->values[i], &w->b->virtuals.data[partner].values[i], changed))
            return false;
    return true;
}

bool dv_virtual_join(dv_build *b, dv_context *context, uint32_t pc, dv_snapshot *at) {
    const way w = {b, context, pc, at};
    bool changed = false;
    for (uint32_t number = 0; number < at->record_count; number++) {
        if (!is_at_leader(at, number) || join_record(&w, number, &changed)) continue;
        make_at(&w, number);
        changed = true;
    }
    return changed;
}

/* Emission
 * ---------------------------------------------------------------------------------------------- */

void dv_virtual_load(dv_build *b, const dv_snapshot *at) {
    if (!b->emitting) b->virtuals.count = 0;
    const int32_t first = (int32_t)b->virtuals.count;
    if (at->record_count == 0) return;
    if (first + (int32_t)at->record_count > INT16_MAX) {
        dv_build_fail(b, DV_REFUSED_SIZE);
        return;
    }
    for (uint32_t i = 0; i < at->record_count; i++)
        if (!DV_PUSH(b, virtuals, at->records[i])) return;
    for (int32_t q = 0; q < b->top; q++)
        if (is_virtual(&b->e[q])) b->e[q].slot = (int16_t)(b->e[q].slot + first);
}

static uint32_t root_pc(const dv_build *b) {
    uint32_t pc = b->pc;
    for (const dv_context *c = b->context; c->parent; c = c->parent) pc = c->call_pc;
    return pc;
}

/* The attribute that is an object; NULL: there is not exactly one. */
static const dv_known_value *only_object(const dv_virtual *record) {
    const dv_known_value *v = record->values;
    if (dv_virtual_objects(record) != 1) return NULL;
    while (v->where != DV_AT_HOME) v++;
    return v;
}

/* A dead local keeps an object alive until it is stored to, also if the instance around that object
 * is forgotten. */
static bool leave_object(dv_build *b, int32_t q) {
    const int32_t number = b->e[q].slot;
    const dv_known_value *object = only_object(dv_virtual_record(b, &b->e[q]));
    if (!object || !dv_build_is_dead(b, root_pc(b), q)) return false;
    for (int32_t other = 0; other < b->top; other++)
        if (other != q && is_virtual(&b->e[other]) && b->e[other].slot == number) return false;
    dv_region_emit(b, DV_OP_R_BORROW, object->slot, dv_home(b, q), 0);
    return true;
}

void dv_virtual_drop_dead(dv_build *b, const dv_snapshot *to) {
    for (int32_t q = 0; q < b->locals && q < b->top; q++) {
        if (!is_virtual(&b->e[q]) || is_virtual(&to->entries[q])) continue;
        if (dv_virtual_is_lost(b, b->context, b->pc, q)) {
            uint32_t at = dv_region_emit(b, DV_OP_R_VALUE_B, dv_home(b, q), 0, 0);
            dv_region_emit_constant(b, at, (dv_cell){.v = DV_NONE});
        } else if (!leave_object(b, q)) {
            continue;
        }
        b->e[q] = MADE;
        b->version++;
    }
}

bool dv_virtual_conversion_needed(const dv_build *b, const dv_known_value *e, const dv_snapshot *to,
                                  const dv_known_value *t) {
    const dv_virtual *from = dv_virtual_record(b, e), *known = &to->records[t->slot];
    for (uint32_t i = 0; i < known->shape->count; i++)
        if (known->values[i].where != from->values[i].where ||
            known->values[i].slot != from->values[i].slot)
            return true;
    return false;
}

/* Attributes that change their slots, all at once. */
typedef struct moves {
    int16_t from[DV_ATTRIBUTE_SLOTS], to[DV_ATTRIBUTE_SLOTS];
    int32_t count;
} moves;

static bool is_read(const moves *m, int16_t slot) {
    for (int32_t i = 0; i < m->count; i++)
        if (m->from[i] == slot) return true;
    return false;
}

/* A move whose slot is not read by another one comes first; in a circle one value steps aside. */
static void do_moves(dv_build *b, moves *m) {
    while (m->count > 0) {
        int32_t i = 0;
        while (i < m->count && is_read(m, m->to[i])) i++;
        if (i < m->count) {
            dv_region_emit(b, DV_OP_R_MOVE, m->from[i], m->to[i], 0);
            m->count--;
            m->from[i] = m->from[m->count], m->to[i] = m->to[m->count];
            continue;
        }
        const int16_t aside = m->from[0];
        dv_region_emit(b, DV_OP_R_MOVE, aside, b->scratch, 0);
        for (int32_t k = 0; k < m->count; k++)
            if (m->from[k] == aside) m->from[k] = b->scratch;
    }
}

static void store_constant(dv_build *b, const dv_known_value *v, int16_t slot) {
    uint32_t at = dv_emit_const(b, slot, (dv_kind)v->kind);
    dv_region_emit_constant(b, at, dv_raw_operand(v).k);
}

/* The entry that holds the leader's instance. */
static int32_t holder_at(const dv_snapshot *to, uint32_t number) {
    int32_t q = 0;
    while (!is_virtual(&to->entries[q]) || to->entries[q].slot != (int32_t)number) q++;
    return q;
}

void dv_virtual_convert(dv_build *b, const dv_snapshot *to) {
    moves m = {.count = 0};
    if (!b->emitting || b->failed) return;
    for (int pass = 0; pass < 2; pass++) { /* constants only when all else has been read */
        for (uint32_t number = 0; number < to->record_count; number++) {
            if (!is_at_leader(to, number)) continue;
            const dv_virtual *from = dv_virtual_record(b, &b->e[holder_at(to, number)]);
            const dv_virtual *known = &to->records[number];
            for (uint32_t i = 0; i < known->shape->count; i++) {
                const dv_known_value *v = &from->values[i];
                const int16_t slot = known->values[i].slot;
                if (known->values[i].where == DV_AT_VALUE) continue;
                if (pass == 1 && v->where == DV_AT_VALUE) store_constant(b, v, slot);
                if (pass == 0 && v->where != DV_AT_VALUE && v->slot != slot)
                    m.from[m.count] = v->slot, m.to[m.count++] = slot;
            }
        }
        if (pass == 0) do_moves(b, &m);
    }
}
