/* virtual_join.c: virtual instances where ways meet (virtual.h).
 *
 * A leader has records of its own.  Its attributes are where they were on the first way to it;
 * other ways move theirs there.
 *
 * Invariants
 *  1. An instance of the leader is one instance on every way to it, which nothing holds there but
 *     the entries that hold it at the leader.
 *  2. Where an instance has faded at the leader, it has faded, or does so, on some ways to it, with
 *     the same attributes; on the others the local's value is at home.  A local for which that did
 *     not hold once is *kept* there for good, or the fixed point would not end. */
#include "code/liveness.h"
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

/* The pc in the loop's function. */
static uint32_t root_pc(const dv_context *context, uint32_t pc) {
    for (; context->parent; context = context->parent) pc = context->call_pc;
    return pc;
}

static bool is_dead_at(const way *w, int32_t q) {
    return dv_build_is_dead(w->b, root_pc(w->context, w->pc), q);
}

/* Callers of a function's region with raw arguments make no slots ready for objects. */
static bool is_open(const way *w) { return w->b->parameters && w->pc == 0 && !w->context->parent; }

/* Does an instance come to the leader in entry q that fades there, or has faded? */
static bool comes_faded(const way *w, int32_t q) {
    const dv_known_value *e = &w->b->e[q];
    if (q >= w->b->locals || q >= DV_LIVENESS_LOCALS || w->at->kept >> q & 1) return false;
    if (!dv_has_record(e)) return false;
    if (is_open(w) && dv_virtual_objects(dv_virtual_record(w->b, e)) > 0) return false;
    return dv_is_faded(e) || dv_virtual_may_fade(w->b, w->context, w->pc, q);
}

static void fade_at(const way *w, int32_t q, int32_t number) {
    w->at->entries[q] = (dv_known_value){DV_K_ANY, DV_AT_HOME, (int16_t)number, DV_FADED};
    w->b->faded |= UINT64_C(1) << q;
}

static void keep_at(const way *w, int32_t q) {
    w->at->entries[q] = MADE;
    w->at->kept |= UINT64_C(1) << q;
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

static bool is_at_leader(const dv_snapshot *at, uint32_t number) {
    for (int32_t q = 0; q < at->top; q++)
        if (is_virtual(&at->entries[q]) && at->entries[q].slot == (int32_t)number) return true;
    return false;
}

/* A record for what entry q holds on the first way; its number. */
static int32_t first_record(const way *w, int32_t q) {
    w->at->records[w->at->record_count] = *dv_virtual_record(w->b, &w->b->e[q]);
    return (int32_t)w->at->record_count++;
}

void dv_virtual_arrive(dv_build *b, dv_context *context, uint32_t pc, dv_snapshot *at) {
    const way w = {b, context, pc, at};
    uint32_t most = 0;
    at->record_count = 0;
    if (b->virtuals.count == 0) return;
    for (int32_t q = 0; q < b->top; q++) most += dv_has_record(&b->e[q]);
    if (most == 0) return;
    at->records = dv_build_get(b, most * sizeof *at->records);
    for (int32_t q = 0; q < b->top && at->records; q++) {
        const dv_known_value *e = &b->e[q];
        if ((dv_is_faded(e) || at->head) && comes_faded(&w, q)) {
            const int32_t number = first_record(&w, q);
            fade_at(&w, q, number);
            if (!separate(&w, (uint32_t)number)) keep_at(&w, q);
        }
        if (!is_virtual(e) || at->head) continue;
        int32_t number = number_at(&w, e->slot, q);
        if (number < 0) number = first_record(&w, q);
        at->entries[q] = (dv_known_value){DV_K_VIRTUAL, DV_AT_NOWHERE, (int16_t)number, DV_EMPTY};
    }
    for (uint32_t number = 0; number < at->record_count; number++)
        if (is_at_leader(at, number) && !separate(&w, number)) make_at(&w, number);
}

/* Other ways
 * ---------------------------------------------------------------------------------------------- */

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
        if (!holds_at(w, q, number) && is_virtual(&w->b->e[q]) && w->b->e[q].slot == partner)
            return -1;
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

static bool join_record(const way *w, uint32_t number, int32_t partner, bool *changed) {
    dv_virtual *known = &w->at->records[number];
    if (partner < 0 || w->b->virtuals.data[partner].shape != known->shape) return false;
    for (uint32_t i = 0; i < known->shape->count; i++)
        if (!join_value(w, &known->values[i], &w->b->virtuals.data[partner].values[i], changed))
            return false;
    return true;
}

/* A record of its own for what has faded in entry q on this way; -1: there is no room. */
static int32_t add_record(const way *w, int32_t q) {
    const uint32_t number = w->at->record_count;
    dv_virtual *records = dv_build_get(w->b, (number + 1) * sizeof *records);
    if (!records) return -1;
    if (number) memcpy(records, w->at->records, number * sizeof *records);
    w->at->records = records;
    (void)first_record(w, q);
    if (separate(w, number)) return (int32_t)number;
    w->at->record_count--;
    return -1;
}

/* Is another thing known of a local in which an instance has faded on some way? */
static bool join_faded(const way *w, int32_t q) {
    const dv_known_value *known = &w->at->entries[q];
    bool changed = false;
    if (is_virtual(known) || !comes_faded(w, q)) return false;
    if (!dv_is_faded(known)) {
        const int32_t number = add_record(w, q);
        if (number >= 0)
            fade_at(w, q, number);
        else
            w->at->kept |= UINT64_C(1) << q;
        return number >= 0;
    }
    if (join_record(w, (uint32_t)known->slot, w->b->e[q].slot, &changed)) return changed;
    keep_at(w, q);
    return true;
}

/* The dead local that alone holds the leader's instance, if that may fade; -1: there is none. */
static int32_t fading_at(const way *w, uint32_t number) {
    int32_t q = 0;
    while (!holds_at(w, q, number)) q++;
    for (int32_t other = q + 1; other < w->at->top; other++)
        if (holds_at(w, other, number)) return -1;
    const bool objects = dv_virtual_objects(&w->at->records[number]) > 0;
    const bool kept = q >= DV_LIVENESS_LOCALS || w->at->kept >> q & 1;
    return kept || !is_dead_at(w, q) || (objects && is_open(w)) ? -1 : q;
}

bool dv_virtual_join(dv_build *b, dv_context *context, uint32_t pc, dv_snapshot *at) {
    const way w = {b, context, pc, at};
    bool changed = false;
    if (at->record_count == 0 && b->virtuals.count == 0) return false;
    for (uint32_t number = 0; number < at->record_count; number++) {
        if (!is_at_leader(at, number) || join_record(&w, number, partner_of(&w, number), &changed))
            continue;
        const int32_t q = fading_at(&w, number);
        if (q >= 0)
            fade_at(&w, q, (int32_t)number);
        else
            make_at(&w, number);
        changed = true;
    }
    for (int32_t q = 0; q < b->top && q < b->locals; q++) changed |= join_faded(&w, q);
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
        if (dv_has_record(&b->e[q])) b->e[q].slot = (int16_t)(b->e[q].slot + first);
}

bool dv_virtual_stays(const dv_build *b, const dv_snapshot *to, int32_t q) {
    const dv_known_value *e = &b->e[q], *t = &to->entries[q];
    if (to->record_count == 0) return false;
    if (is_virtual(t)) return true;
    const uint32_t pc = b->context->begin + (uint32_t)(to - b->context->at);
    return dv_is_faded(t) &&
           (dv_is_faded(e) || (is_virtual(e) && dv_virtual_may_fade(b, b->context, pc, q)));
}

bool dv_virtual_conversion_needed(const dv_build *b, const dv_known_value *e, const dv_snapshot *to,
                                  const dv_known_value *t) {
    if (!dv_has_record(t)) return true;
    const dv_virtual *known = &to->records[t->slot];
    if (!dv_has_record(e)) return e->where != DV_AT_HOME || dv_virtual_objects(known) > 0;
    if (e->kind != t->kind) return true;
    const dv_virtual *from = dv_virtual_record(b, e);
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

/* The entry that holds the leader's instance, or in which it has faded. */
static int32_t holder_at(const dv_snapshot *to, uint32_t number) {
    int32_t q = 0;
    while (!dv_has_record(&to->entries[q]) || to->entries[q].slot != (int32_t)number) q++;
    return q;
}

static bool is_used(const dv_snapshot *to, uint32_t number) {
    for (int32_t q = 0; q < to->top; q++)
        if (dv_has_record(&to->entries[q]) && to->entries[q].slot == (int32_t)number) return true;
    return false;
}

static void put_value(dv_build *b, dv_value v, int16_t slot) {
    uint32_t at = dv_region_emit(b, DV_OP_R_VALUE_B, slot, 0, 0);
    dv_region_emit_constant(b, at, (dv_cell){.v = v});
}

/* Where the leader's attributes of an instance come from: slots, or in the second pass constants.
 * From a local that has its value at home come no objects. */
static void convert_record(dv_build *b, const dv_virtual *known, const dv_known_value *e,
                           bool constants, moves *m) {
    for (uint32_t i = 0; i < known->shape->count; i++) {
        const int16_t slot = known->values[i].slot;
        if (known->values[i].where == DV_AT_VALUE) continue;
        if (!dv_has_record(e)) {
            if (constants && known->values[i].where == DV_AT_HOME) put_value(b, DV_NONE, slot);
            continue;
        }
        const dv_known_value *v = &dv_virtual_record(b, e)->values[i];
        if (constants && v->where == DV_AT_VALUE) store_constant(b, v, slot);
        if (!constants && v->where != DV_AT_VALUE && v->slot != slot)
            m->from[m->count] = v->slot, m->to[m->count++] = slot;
    }
}

/* Now all is as the leader has it. */
static void finish_fading(dv_build *b, const dv_snapshot *to) {
    for (int32_t q = 0; q < b->locals && q < to->top; q++) {
        const dv_known_value *t = &to->entries[q];
        if (!dv_is_faded(t)) continue;
        if (is_virtual(&b->e[q])) put_value(b, DV_FADED, dv_home(b, q));
        b->e[q] = *t;
        b->e[q].slot = (int16_t)b->virtuals.count;
        b->version++;
        if (b->virtuals.count >= INT16_MAX) dv_build_fail(b, DV_REFUSED_SIZE);
        if (!DV_PUSH(b, virtuals, to->records[t->slot])) return;
    }
}

void dv_virtual_convert(dv_build *b, const dv_snapshot *to) {
    moves m = {.count = 0};
    if (!b->emitting || b->failed || to->record_count == 0) return;
    for (int pass = 0; pass < 2; pass++) { /* constants only when all else has been read */
        for (uint32_t number = 0; number < to->record_count; number++)
            if (is_used(to, number))
                convert_record(b, &to->records[number], &b->e[holder_at(to, number)], pass == 1,
                               &m);
        if (pass == 0) do_moves(b, &m);
    }
    finish_fading(b, to);
}
