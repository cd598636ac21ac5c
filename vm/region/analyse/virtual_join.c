/* virtual_join.c: virtual instances where ways meet (virtual.h).
 *
 * A leader has records of its own.  Its attributes are where they were on the first way to it;
 * other ways move theirs there.
 *
 * Invariants
 *  1. An instance of the leader is one instance on every way to it, which nothing holds there but
 *     the entries, and other instances, that hold it at the leader.
 *  2. Where an instance has faded at the leader, it has faded, or does so, on some ways to it, with
 *     the same attributes; on the others the local's value is at home.  A local for which that did
 *     not hold once is *kept* there for good, or the fixed point would not end.
 *  3. In a local that is read later on, which alone has an instance without others, it *waits*: it
 *     has faded, too, and the first load asks whether it has been made, or is another value. */
#include "code/liveness.h"
#include "region/step/producer.h"
#include "region/step/virtual.h"

static bool is_virtual(const dv_known_value *e) { return e->kind == DV_K_VIRTUAL; }

static const dv_known_value MADE = {DV_K_ANY, DV_AT_HOME, 0, DV_EMPTY};

enum { MOST_RECORDS = 48 /* of a leader, those included that it does not need any more */ };

/* The way to a leader that is looked at. */
typedef struct way {
    dv_build *b;
    dv_context *context;
    uint32_t pc;
    dv_snapshot *at;
    int16_t partners[MOST_RECORDS]; /* which instance the leader's is on this way; -1: none yet */
    dv_reached made;                /* instances that are made on this way, at the latest */
    bool boxes;                     /* attributes of different kinds may meet, as objects */
} way;

static void forget_partners(way *w) {
    for (int32_t i = 0; i < MOST_RECORDS; i++) w->partners[i] = -1;
}

static bool is_dead_at(const way *w, int32_t q) {
    return dv_build_is_dead_in(w->b, w->context, w->pc, q);
}

/* Callers of a function's region with raw arguments make no slots ready for objects. */
static bool is_open(const way *w) { return w->b->parameters && w->pc == 0 && !w->context->parent; }

static bool is_kept(const way *w, int32_t q) {
    return q >= w->b->locals || q >= DV_LIVENESS_LOCALS || w->at->kept >> q & 1;
}

/* Of the locals that alone hold the instance, the only one that is not dead at the leader, which
 * may carry it; -1: there is none. */
static int32_t live_holder(const way *w, int32_t record) {
    int32_t holder = -1, carrier = -1;
    for (int32_t q = 0; q < w->b->top; q++) {
        if (!dv_has_record(&w->b->e[q]) || w->b->e[q].slot != record) continue;
        if (is_kept(w, q)) return -1;
        if (dv_is_carried(&w->b->e[q])) carrier = q;
        if (is_dead_at(w, q)) continue;
        if (holder >= 0) return -1;
        holder = q;
    }
    return carrier < 0 || carrier == holder ? holder : -1;
}

/* Does the local alone, or with dead ones, hold an instance with raw attributes, which the loop may
 * carry? */
static bool comes_carried(const way *w, int32_t q) {
    const dv_virtual *record = dv_virtual_record(w->b, &w->b->e[q]);
    if ((w->context->parent && !dv_producer_is(w->b, w->context)) || is_open(w) || is_kept(w, q) ||
        record->shape->count == 0 || (record->built && !dv_virtual_is(record, DV_T_TUPLE)))
        return false;
    for (int32_t other = 0; other < w->b->top; other++) {
        dv_reached others = {.count = 0};
        if (other == q || !dv_has_record(&w->b->e[other])) continue;
        if (w->b->e[other].slot == w->b->e[q].slot) {
            if (live_holder(w, w->b->e[q].slot) != q) return false;
            continue;
        }
        dv_virtual_reach(w->b->virtuals.data, w->b->e[other].slot, &others);
        if (dv_is_reached(&others, w->b->e[q].slot)) return false;
    }
    for (uint32_t i = 0; i < record->shape->count; i++)
        if (!dv_kind_is_raw((dv_kind)record->values[i].kind)) return false;
    return true;
}

/* Has dead local q the instance that the leader's loop carries in another one? */
static bool comes_shared(const way *w, int32_t q) {
    const int32_t holder = live_holder(w, w->b->e[q].slot);
    if (holder < 0 || holder == q || !is_virtual(&w->b->e[holder])) return false;
    return comes_carried(w, holder);
}

/* Is the record one of an instance that local q alone has of the entries, and may wait there? */
static bool is_alone(const dv_build *b, const dv_known_value *entries, int32_t q,
                     const dv_virtual *record) {
    if (q >= b->locals || b->local_uses[q] & DV_LOCAL_CHECKED) return false;
    for (int32_t other = 0; other < b->top; other++)
        if (other != q && dv_has_record(&entries[other]) && entries[other].slot == entries[q].slot)
            return false;
    return !record->built && record->shape->count > 0;
}

/* May local q, which is read later on, have its instance there unmade on this way, and another
 * value at home on others?  The instance has no other one, nor has one it. */
static bool may_wait(dv_build *b, int32_t q) {
    return is_alone(b, b->e, q, dv_virtual_record(b, &b->e[q])) &&
           dv_virtual_linked(b, b->e[q].slot).count == 1;
}

/* The same of what comes to the leader. */
static bool comes_waiting(const way *w, int32_t q) {
    return dv_has_record(&w->b->e[q]) && !is_kept(w, q) && !is_open(w) &&
           w->at->entries[q].kind < DV_K_UNSET && may_wait(w->b, q);
}

/* Does an instance come to the leader in entry q that fades there, or has faded, and so do those
 * that it is linked with? */
static bool comes_faded(const way *w, int32_t q) {
    dv_build *b = w->b;
    const dv_known_value *e = &b->e[q];
    if (!dv_has_record(e) || is_kept(w, q)) return false;
    if (comes_shared(w, q)) return true;
    if (is_open(w) && dv_virtual_objects(b->virtuals.data, e->slot) > 0) return false;
    if (!b->nests) return dv_is_faded(e) || dv_virtual_may_fade(b, w->context, w->pc, q);
    const dv_reached all = dv_virtual_linked(b, e->slot);
    for (int32_t other = 0; other < b->top; other++) {
        if (!dv_has_record(&b->e[other]) || !dv_is_reached(&all, b->e[other].slot)) continue;
        if (is_kept(w, other) || dv_is_faded(&b->e[other]) != dv_is_faded(e)) return false;
    }
    return dv_is_faded(e) || dv_virtual_may_fade(b, w->context, w->pc, q);
}

static void fade_at(const way *w, int32_t q, int32_t number) {
    w->at->entries[q] = (dv_known_value){DV_K_ANY, DV_AT_HOME, (int16_t)number, DV_FADED};
    w->b->faded |= UINT64_C(1) << q;
}

/* The instances that it has, as a set. */
static uint64_t numbers_of(const dv_virtual *record) {
    uint64_t numbers = 0;
    for (uint32_t i = 0; i < record->shape->count; i++)
        if (is_virtual(&record->values[i])) numbers |= UINT64_C(1) << record->values[i].slot;
    return numbers;
}

/* The leader's instances that this one is linked with, as a set. */
static uint64_t linked_at(const way *w, int32_t number) {
    uint64_t all = UINT64_C(1) << number;
    for (uint64_t before = 0; before != all;) {
        before = all;
        for (uint32_t r = 0; r < w->at->record_count; r++) {
            const dv_virtual *record = &w->at->records[r];
            if (all >> r & 1) all |= numbers_of(record);
            if (numbers_of(record) & all) all |= UINT64_C(1) << r;
        }
    }
    return all;
}

static bool has_one_of(const way *w, int32_t q, uint64_t numbers) {
    return dv_has_record(&w->at->entries[q]) && numbers >> w->at->entries[q].slot & 1;
}

/* Nothing fades in local q, nor in those with what is linked with that. */
static void keep_at(const way *w, int32_t q) {
    const uint64_t all = linked_at(w, w->at->entries[q].slot);
    for (int32_t other = 0; other < w->at->top; other++)
        if (has_one_of(w, other, all)) {
            dv_virtual_need(w->b, &w->at->records[w->at->entries[other].slot]);
            w->at->entries[other] = MADE;
            w->at->kept |= UINT64_C(1) << other;
        }
}

/* The leader has it made, and all that it is linked with. */
static void make_at(const way *w, int32_t number) {
    const uint64_t all = linked_at(w, number);
    for (int32_t q = 0; q < w->at->top; q++)
        if (has_one_of(w, q, all)) w->at->entries[q] = MADE;
    for (uint32_t r = 0; r < w->at->record_count; r++)
        if (all >> r & 1) dv_virtual_need(w->b, &w->at->records[r]);
}

/* What the entries hold on this way, and the leader does not, is made. */
static void need_others(const way *w) {
    dv_build *b = w->b;
    dv_reached all = {.count = 0};
    for (int32_t q = 0; q < b->top; q++)
        if (dv_has_record(&b->e[q]) && !dv_has_record(&w->at->entries[q]))
            dv_virtual_reach(b->virtuals.data, b->e[q].slot, &all);
    for (int32_t k = 0; k < all.count; k++) dv_virtual_need(b, &b->virtuals.data[all.numbers[k]]);
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

/* The same of all that it has. */
static bool separate_all(const way *w, int32_t number) {
    dv_reached all = {.count = 0};
    dv_virtual_reach(w->at->records, number, &all);
    bool done = !all.full;
    for (int32_t k = 0; k < all.count; k++) done = done && separate(w, (uint32_t)all.numbers[k]);
    return done;
}

static void carry_at(const way *w, int32_t q) {
    w->at->entries[q].value = DV_FADED;
    w->b->faded |= UINT64_C(1) << q;
}

/* Frames that enter have any values: none is a constant; false: there are not enough slots. */
static bool has_slots_at(const way *w, int32_t number) {
    dv_virtual *record = &w->at->records[number];
    for (uint32_t i = 0; i < record->shape->count; i++) {
        dv_known_value *v = &record->values[i];
        const int32_t slot = v->where == DV_AT_VALUE ? free_slot_at(w) : v->slot;
        if (slot < 0) return false;
        *v = (dv_known_value){v->kind, DV_AT_SLOT, (int16_t)slot, DV_EMPTY};
    }
    return true;
}

/* Records for what is `record` on this way, and for what it has; the number of the first.  There is
 * room. */
static int32_t add_records(way *w, int32_t record) {
    for (uint32_t n = 0; n < w->at->record_count; n++)
        if (w->partners[n] == record) return (int32_t)n;
    const uint32_t number = w->at->record_count++;
    dv_virtual *copy = &w->at->records[number];
    *copy = w->b->virtuals.data[record];
    w->partners[number] = (int16_t)record;
    for (uint32_t i = 0; i < copy->shape->count; i++)
        if (is_virtual(&copy->values[i]))
            copy->values[i].slot = (int16_t)add_records(w, copy->values[i].slot);
    return (int32_t)number;
}

void dv_virtual_arrive(dv_build *b, dv_context *context, uint32_t pc, dv_snapshot *at) {
    at->record_count = 0;
    if (b->virtuals.count == 0 || b->failed) return;
    const dv_reached live = dv_virtual_live(b);
    if (live.count == 0) return;
    way w = {.b = b, .context = context, .pc = pc, .at = at};
    forget_partners(&w);
    at->records = dv_build_get(b, (size_t)live.count * sizeof *at->records);
    for (int32_t q = 0; q < b->top && at->records && !b->failed; q++) {
        const dv_known_value *e = &b->e[q];
        bool fades = (dv_is_faded(e) || at->head) && comes_faded(&w, q);
        if (!fades && (dv_is_faded(e) || (at->head && is_virtual(e) && !comes_carried(&w, q))))
            fades = comes_waiting(&w, q);
        if (fades) {
            const int32_t number = add_records(&w, e->slot);
            fade_at(&w, q, number);
            if (!separate_all(&w, number)) keep_at(&w, q);
        }
        if (!is_virtual(e) || dv_is_faded(&at->entries[q])) continue;
        if (at->head && !comes_carried(&w, q)) continue;
        const int32_t number = add_records(&w, e->slot);
        at->entries[q] = (dv_known_value){DV_K_VIRTUAL, DV_AT_NOWHERE, (int16_t)number, DV_EMPTY};
        if (at->head || dv_is_carried(e)) carry_at(&w, q);
    }
    for (int32_t q = 0; q < b->top && !b->failed; q++)
        if (is_virtual(&at->entries[q]) && !(separate_all(&w, at->entries[q].slot) &&
                                             (!at->head || has_slots_at(&w, at->entries[q].slot))))
            make_at(&w, at->entries[q].slot);
    need_others(&w);
}

/* Other ways
 * ---------------------------------------------------------------------------------------------- */

/* Has faded local q what another one carries, at the leader as on the way to it? */
static bool is_shared(const dv_build *b, const dv_known_value *at, int32_t q) {
    for (int32_t other = 0; other < b->locals && other < b->top; other++)
        if (dv_is_carried(&at[other]) && at[other].slot == at[q].slot && is_virtual(&b->e[other]) &&
            b->e[other].slot == b->e[q].slot)
            return true;
    return false;
}

/* Is entry q left as it is where control meets, with records of its own? */
static bool stays(dv_build *b, const dv_context *context, uint32_t pc, const dv_snapshot *to,
                  int32_t q) {
    const dv_known_value *e = &b->e[q], *t = &to->entries[q];
    if (is_virtual(t)) return true;
    if (!dv_is_faded(t) || !is_virtual(e)) return dv_is_faded(t) && dv_is_faded(e);
    return dv_virtual_may_fade(b, context, pc, q) || may_wait(b, q) || is_shared(b, to->entries, q);
}

/* The attribute is an object on all ways, if it is none yet; false: it cannot be one. */
static bool box_value(const way *w, dv_known_value *known, const dv_known_value *v, bool *changed) {
    if (!w->boxes || is_virtual(known) || is_virtual(v)) return false;
    if (known->where == DV_AT_HOME && known->kind == DV_K_ANY) return true;
    const bool has_none = known->where == DV_AT_VALUE || known->where == DV_AT_ALIAS;
    const int32_t slot = has_none ? free_slot_at(w) : known->slot;
    if (slot < 0) return false;
    const bool mixed = known->kind != v->kind && dv_is_raw_number(known) && dv_is_raw_number(v);
    *known =
        (dv_known_value){DV_K_ANY, DV_AT_HOME, (int16_t)slot, mixed ? DV_MIXED_NUMBER : DV_EMPTY};
    *changed = true;
    return true;
}

/* What is known of an attribute on all ways; false: nothing that could stay virtual. */
static bool join_value(const way *w, dv_known_value *known, const dv_known_value *v,
                       bool *changed) {
    if (known->where == DV_AT_HOME && v->where == DV_AT_HOME) {
        *changed |= known->kind != v->kind && known->kind != DV_K_ANY;
        if (known->kind != v->kind) known->kind = DV_K_ANY;
        return true;
    }
    if (known->kind != v->kind || v->where == DV_AT_HOME || known->where == DV_AT_HOME)
        return box_value(w, known, v, changed);
    bool same =
        known->where == v->where &&
        (known->where == DV_AT_VALUE ? dv_same(known->value, v->value)
                                     : known->where == DV_AT_ALIAS && known->slot == v->slot);
    if (known->where == DV_AT_SLOT || same) return true;
    if (!dv_kind_is_raw((dv_kind)v->kind)) return box_value(w, known, v, changed);
    const int32_t slot = free_slot_at(w);
    if (slot < 0) return false;
    *known = (dv_known_value){v->kind, DV_AT_SLOT, (int16_t)slot, DV_EMPTY};
    *changed = true;
    return true;
}

/* The leader's instance is `record` on this way, and so are those that they have; false: they
 * cannot be. */
static bool join_record(way *w, int32_t number, int32_t record, bool *changed) {
    if (w->partners[number] >= 0) return w->partners[number] == record;
    for (uint32_t n = 0; n < w->at->record_count; n++)
        if (w->partners[n] == record) return false;
    dv_virtual *known = &w->at->records[number];
    const dv_virtual *here = &w->b->virtuals.data[record];
    if (dv_is_reached(&w->made, record) || here->shape != known->shape) return false;
    w->partners[number] = (int16_t)record;
    for (uint32_t i = 0; i < known->shape->count; i++) {
        dv_known_value *k = &known->values[i];
        const dv_known_value *v = &here->values[i];
        if (is_virtual(k) && is_virtual(v) ? !join_record(w, k->slot, v->slot, changed)
                                           : !join_value(w, k, v, changed))
            return false;
    }
    return true;
}

/* Records of their own for what has faded in entry q on this way; -1: there is no room. */
static int32_t add_faded(way *w, int32_t q) {
    const uint32_t count = w->at->record_count;
    dv_reached all = {.count = 0};
    dv_virtual_reach(w->b->virtuals.data, w->b->e[q].slot, &all);
    if (all.full || count + (uint32_t)all.count > MOST_RECORDS) return -1;
    dv_virtual *records = dv_build_get(w->b, (count + (uint32_t)all.count) * sizeof *records);
    if (!records) return -1;
    if (count) memcpy(records, w->at->records, count * sizeof *records);
    w->at->records = records;
    const int32_t number = add_records(w, w->b->e[q].slot);
    if (separate_all(w, number)) return number;
    w->at->record_count = count;
    return -1;
}

/* A dead local has what the leader carries on this way; it has its value at home on others. */
static bool join_shared(way *w, int32_t q) {
    if (dv_has_record(&w->at->entries[q]) || !dv_has_record(&w->b->e[q]) || is_kept(w, q) ||
        !comes_shared(w, q))
        return false;
    const int32_t holder = live_holder(w, w->b->e[q].slot);
    if (!dv_is_carried(&w->at->entries[holder])) return false;
    fade_at(w, q, w->at->entries[holder].slot);
    return true;
}

/* May attributes of the instance in entry q become objects where the ways meet?  Not if it is
 * carried: then the object may be there, too, which has them. */
static bool may_box(const way *w, int32_t q) {
    return !dv_is_carried(&w->at->entries[q]) && !dv_is_carried(&w->b->e[q]);
}

/* Is another thing known of a local in which an instance has faded on some way?  None waits where
 * the local may have no value. */
static bool join_faded(way *w, int32_t q) {
    const dv_known_value *known = &w->at->entries[q];
    bool changed = false;
    if (dv_is_faded(known) && !is_dead_at(w, q) && w->b->e[q].kind >= DV_K_UNSET) {
        keep_at(w, q);
        return true;
    }
    if (is_virtual(known) || !(comes_faded(w, q) || comes_waiting(w, q))) return false;
    if (dv_is_faded(known) && !stays(w->b, w->context, w->pc, w->at, q)) return false;
    if (!dv_is_faded(known)) {
        const int32_t number = add_faded(w, q);
        if (number >= 0)
            fade_at(w, q, number);
        else
            w->at->kept |= UINT64_C(1) << q;
        return number >= 0;
    }
    w->boxes = may_box(w, q);
    if (join_record(w, known->slot, w->b->e[q].slot, &changed)) return changed;
    keep_at(w, q);
    return true;
}

/* Has the instance in local q not been made, while one that it is linked with at the leader has, or
 * the other way round?  Then none of them fades there. */
static bool meets_made(const way *w, int32_t q) {
    if (!dv_is_faded(&w->at->entries[q])) return false;
    const uint64_t all = linked_at(w, w->at->entries[q].slot);
    for (int32_t other = 0; other < q; other++)
        if (has_one_of(w, other, all) && !dv_is_carried(&w->at->entries[other]) &&
            comes_faded(w, other) != comes_faded(w, q)) {
            keep_at(w, q);
            return true;
        }
    return false;
}

/* What the leader has in entry q fades there, and what is linked with it: dead locals alone have
 * them; false: they do not. */
static bool fades_at(const way *w, int32_t q) {
    const dv_known_value *entries = w->at->entries;
    const uint64_t all = linked_at(w, entries[q].slot);
    for (int32_t other = 0; other < w->at->top; other++) {
        if (!has_one_of(w, other, all)) continue;
        if (is_kept(w, other) || !is_dead_at(w, other)) return false;
        if (is_open(w) && dv_virtual_objects(w->at->records, entries[other].slot) > 0) return false;
        for (int32_t below = 0; below < other; below++)
            if (has_one_of(w, below, all) && entries[below].slot == entries[other].slot)
                return false;
    }
    for (int32_t other = 0; other < w->at->top; other++)
        if (has_one_of(w, other, all)) fade_at(w, other, entries[other].slot);
    return true;
}

/* What the leader has in local q alone waits there for its first use, as this way has another
 * value; false: it does not. */
static bool waits_at(const way *w, int32_t q) {
    const dv_known_value *entries = w->at->entries;
    const int32_t number = entries[q].slot;
    if (is_kept(w, q) || is_open(w) || w->b->e[q].kind >= DV_K_UNSET ||
        !is_alone(w->b, entries, q, &w->at->records[number]) ||
        linked_at(w, number) != UINT64_C(1) << number)
        return false;
    fade_at(w, q, number);
    return true;
}

/* Does a local carry the leader's instance? */
static bool is_carried_at(const way *w, int32_t number) {
    for (int32_t q = 0; q < w->at->top; q++)
        if (dv_is_carried(&w->at->entries[q]) && w->at->entries[q].slot == number) return true;
    return false;
}

/* The instances of the leader and those of this way, anew; true: one is not what it was. */
static bool fails_to_match(way *w, bool *changed) {
    dv_build *b = w->b;
    forget_partners(w);
    w->made.count = 0;
    for (int32_t q = 0; q < b->top; q++)
        if (dv_has_record(&b->e[q]) && !stays(b, w->context, w->pc, w->at, q))
            dv_virtual_reach(b->virtuals.data, b->e[q].slot, &w->made);
    for (int32_t q = 0; q < b->top; q++) {
        const dv_known_value *known = &w->at->entries[q];
        if (!is_virtual(known)) continue;
        w->boxes = may_box(w, q);
        if (is_virtual(&b->e[q]) && join_record(w, known->slot, b->e[q].slot, changed)) {
            if (dv_is_carried(known) || !dv_is_carried(&b->e[q])) continue;
            if (is_carried_at(w, known->slot))
                make_at(w, known->slot);
            else
                carry_at(w, q);
            return true;
        }
        if (!fades_at(w, q) && !waits_at(w, q)) make_at(w, known->slot);
        return true;
    }
    return false;
}

bool dv_virtual_join(dv_build *b, dv_context *context, uint32_t pc, dv_snapshot *at) {
    bool changed = false;
    if ((at->record_count == 0 && b->virtuals.count == 0) || b->failed) return false;
    way w = {.b = b, .context = context, .pc = pc, .at = at};
    for (int32_t q = 0; q < b->top && q < b->locals; q++) changed |= join_shared(&w, q);
    while (fails_to_match(&w, &changed)) changed = true;
    for (int32_t q = 0; q < b->top && q < b->locals; q++) changed |= join_faded(&w, q);
    for (int32_t q = 0; q < b->top && q < b->locals && b->nests; q++) changed |= meets_made(&w, q);
    need_others(&w);
    if (w.made.full) dv_build_fail(b, DV_REFUSED_SIZE);
    return changed;
}

/* Emission
 * ---------------------------------------------------------------------------------------------- */

/* The leader's records, from this number on. */
static void push_records(dv_build *b, const dv_snapshot *at, int32_t first) {
    for (uint32_t i = 0; i < at->record_count; i++) {
        dv_virtual record = at->records[i];
        for (uint32_t k = 0; k < record.shape->count; k++)
            if (is_virtual(&record.values[k])) record.values[k].slot += (int16_t)first;
        if (!DV_PUSH(b, virtuals, record)) return;
    }
}

void dv_virtual_load(dv_build *b, const dv_snapshot *at) {
    if (!b->emitting) b->virtuals.count = 0;
    const int32_t first = (int32_t)b->virtuals.count;
    if (at->record_count == 0) return;
    if (first + (int32_t)at->record_count > INT16_MAX) {
        dv_build_fail(b, DV_REFUSED_SIZE);
        return;
    }
    push_records(b, at, first);
    for (int32_t q = 0; q < b->top; q++)
        if (dv_has_record(&b->e[q])) b->e[q].slot = (int16_t)(b->e[q].slot + first);
}

bool dv_virtual_stays(dv_build *b, const dv_snapshot *to, int32_t q) {
    if (to->record_count == 0) return false;
    const uint32_t pc = b->context->begin + (uint32_t)(to - b->context->at);
    return stays(b, b->context, pc, to, q);
}

bool dv_virtual_conversion_needed(const dv_build *b, const dv_known_value *e, const dv_snapshot *to,
                                  const dv_known_value *t) {
    if (!dv_has_record(t)) return true;
    const dv_virtual *known = &to->records[t->slot];
    if (!dv_has_record(e))
        return e->where != DV_AT_HOME || dv_virtual_objects(to->records, t->slot) > 0;
    if (e->kind != t->kind || dv_is_carried(e) != dv_is_carried(t)) return true;
    const dv_virtual *from = dv_virtual_record(b, e);
    for (uint32_t i = 0; i < known->shape->count; i++)
        if (is_virtual(&known->values[i]) || known->values[i].where != from->values[i].where ||
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

static void put_value(dv_build *b, dv_value v, int16_t slot) {
    uint32_t at = dv_region_emit(b, DV_OP_R_VALUE_B, slot, 0, 0);
    dv_region_emit_constant(b, at, (dv_cell){.v = v});
}

/* The leader's instance is `record` on this way. */
static void pair_up(way *w, int32_t number, int32_t record) {
    if (w->partners[number] >= 0) return;
    w->partners[number] = (int16_t)record;
    const dv_virtual *known = &w->at->records[number];
    for (uint32_t i = 0; i < known->shape->count; i++)
        if (is_virtual(&known->values[i]))
            pair_up(w, known->values[i].slot, w->b->virtuals.data[record].values[i].slot);
}

/* Where the leader's attributes of an instance come from: slots, or in the second pass constants.
 * From a local that has its value at home come no objects. */
static void convert_record(const way *w, int32_t number, bool constants, moves *m) {
    dv_build *b = w->b;
    const dv_virtual *known = &w->at->records[number];
    const int32_t record = w->partners[number];
    for (uint32_t i = 0; i < known->shape->count; i++) {
        const int16_t slot = known->values[i].slot;
        if (known->values[i].where == DV_AT_VALUE || known->values[i].where == DV_AT_ALIAS ||
            is_virtual(&known->values[i]))
            continue;
        if (record < 0) {
            if (constants && known->values[i].where == DV_AT_HOME) put_value(b, DV_NONE, slot);
            continue;
        }
        const dv_known_value *v = &b->virtuals.data[record].values[i];
        if (constants && v->where == DV_AT_VALUE) store_constant(b, v, slot);
        if (!constants && v->where != DV_AT_VALUE && v->slot != slot)
            m->from[m->count] = v->slot, m->to[m->count++] = slot;
    }
}

/* Which of the leader's instances are which on this way. */
static void pair_all(way *w, dv_reached *used) {
    forget_partners(w);
    for (int32_t q = 0; q < w->at->top; q++) {
        const dv_known_value *t = &w->at->entries[q];
        if (!dv_has_record(t)) continue;
        dv_virtual_reach(w->at->records, t->slot, used);
        if (dv_has_record(&w->b->e[q])) pair_up(w, t->slot, w->b->e[q].slot);
    }
}

/* One of the attributes that are objects at the leader becomes one, too; false: all are. */
static bool box_one(way *w) {
    dv_build *b = w->b;
    for (uint32_t n = 0; n < w->at->record_count; n++) {
        const dv_virtual *known = &w->at->records[n];
        for (uint32_t i = 0; i < known->shape->count && w->partners[n] >= 0; i++) {
            const bool is_object = b->virtuals.data[w->partners[n]].values[i].where == DV_AT_HOME;
            if (known->values[i].where != DV_AT_HOME || is_object) continue;
            dv_virtual_box(b, w->partners[n], i);
            return true;
        }
    }
    return false;
}

/* Now all is as the leader has it. */
static void take_records(dv_build *b, const dv_snapshot *to) {
    const int32_t first = (int32_t)b->virtuals.count;
    if (first + (int32_t)to->record_count > INT16_MAX) {
        dv_build_fail(b, DV_REFUSED_SIZE);
        return;
    }
    push_records(b, to, first);
    for (int32_t q = 0; q < to->top; q++) {
        const dv_known_value *t = &to->entries[q];
        if (!dv_has_record(t)) continue;
        const bool may_be_home = dv_is_faded(t) || dv_is_carried(t);
        if (may_be_home && is_virtual(&b->e[q]) && !dv_is_carried(&b->e[q]))
            put_value(b, DV_FADED, dv_home(b, q));
        b->e[q] = *t;
        b->e[q].slot = (int16_t)(t->slot + first);
    }
    b->version++;
}

void dv_virtual_convert(dv_build *b, const dv_snapshot *to) {
    if (!b->emitting || b->failed || to->record_count == 0) return;
    way w = {.b = b, .at = (dv_snapshot *)to};
    moves m = {.count = 0};
    dv_reached used = {.count = 0};
    do pair_all(&w, &used);
    while (box_one(&w) && !b->failed);
    if (used.full) dv_build_fail(b, DV_REFUSED_SIZE);
    for (int pass = 0; pass < 2; pass++) { /* constants only when all else has been read */
        for (int32_t k = 0; k < used.count; k++) convert_record(&w, used.numbers[k], pass == 1, &m);
        if (pass == 0) do_moves(b, &m);
    }
    take_records(b, to);
}
