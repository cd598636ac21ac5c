/* virtual.c: instances that are not made: attributes, and where the object is needed after all
 * (virtual.h). */
#include "region/step/virtual.h"

#include "code/liveness.h"
#include "region/step/complex.h"
#include "region/step/operator.h"
#include "types/callable/function.h"
#include "types/sequence/tuple_getter.h"
#include "types/text/str.h"

static bool is_virtual(const dv_known_value *e) { return e->kind == DV_K_VIRTUAL; }

static bool holds(const dv_build *b, int32_t q, int32_t record) {
    return is_virtual(&b->e[q]) && b->e[q].slot == record;
}

int32_t dv_virtual_add(dv_build *b, dv_virtual record) {
    if (b->virtuals.count >= INT16_MAX) {
        dv_build_fail(b, DV_REFUSED_SIZE);
        return -1;
    }
    return DV_PUSH(b, virtuals, record) ? (int32_t)b->virtuals.count - 1 : -1;
}

/* Instances in instances
 * ---------------------------------------------------------------------------------------------- */

void dv_virtual_reach(const dv_virtual *records, int32_t number, dv_reached *reached) {
    if (dv_is_reached(reached, number)) return;
    reached->full |= reached->count == DV_VIRTUAL_INSTANCES;
    if (reached->full) return;
    reached->numbers[reached->count++] = (int16_t)number;
    const dv_virtual *record = &records[number];
    for (uint32_t i = 0; i < record->shape->count; i++)
        if (is_virtual(&record->values[i]))
            dv_virtual_reach(records, record->values[i].slot, reached);
}

dv_reached dv_virtual_live(dv_build *b) {
    dv_reached live = {.count = 0};
    for (int32_t q = 0; q < b->top && !b->failed; q++) /* else records may be missing */
        if (dv_has_record(&b->e[q])) dv_virtual_reach(b->virtuals.data, b->e[q].slot, &live);
    if (live.full) dv_build_fail(b, DV_REFUSED_SIZE);
    return live;
}

bool dv_virtual_has_room(dv_build *b) {
    enum { MOST_LIVE = 24 /* instances; where ways meet there may be more for a while */ };
    return dv_virtual_live(b).count < MOST_LIVE;
}

static dv_reached reach(const dv_build *b, int32_t number) {
    dv_reached reached = {.count = 0};
    if (!b->failed) dv_virtual_reach(b->virtuals.data, number, &reached);
    return reached;
}

static bool do_meet(const dv_reached *a, const dv_reached *c) {
    for (int32_t i = 0; i < a->count; i++)
        if (dv_is_reached(c, a->numbers[i])) return true;
    return false;
}

dv_reached dv_virtual_linked(dv_build *b, int32_t number) {
    dv_reached all = reach(b, number);
    if (!b->nests) return all;
    const dv_reached live = dv_virtual_live(b);
    for (int32_t before = 0; before != all.count;) {
        before = all.count;
        for (int32_t i = 0; i < live.count; i++) {
            const dv_reached from = reach(b, live.numbers[i]);
            if (do_meet(&from, &all)) dv_virtual_reach(b->virtuals.data, live.numbers[i], &all);
        }
    }
    return all;
}

/* What the number in `before` is called now. */
static int16_t renamed(const dv_reached *before, const int16_t *now, int16_t number) {
    for (int32_t i = 0; i < before->count; i++)
        if (before->numbers[i] == number) return now[i];
    return number;
}

static bool is_renamed(const dv_virtual *record, const dv_reached *before, const int16_t *now) {
    for (uint32_t i = 0; i < record->shape->count; i++)
        if (is_virtual(&record->values[i]) &&
            renamed(before, now, record->values[i].slot) != record->values[i].slot)
            return true;
    return false;
}

static void rename_values(dv_virtual *record, const dv_reached *before, const int16_t *now) {
    for (uint32_t i = 0; i < record->shape->count; i++)
        if (is_virtual(&record->values[i]))
            record->values[i].slot = renamed(before, now, record->values[i].slot);
}

/* All that hold the one instance now name the other record: entries, and other instances, which get
 * new records for it. */
static void change_record(dv_build *b, int32_t from, int32_t to) {
    dv_reached before = dv_virtual_live(b);
    int16_t now[DV_VIRTUAL_INSTANCES];
    dv_virtual_reach(b->virtuals.data, from, &before);
    const dv_virtual *record = &b->virtuals.data[to];
    for (uint32_t i = 0; i < record->shape->count; i++)
        if (is_virtual(&record->values[i]))
            dv_virtual_reach(b->virtuals.data, record->values[i].slot, &before);
    for (int32_t i = 0; i < before.count; i++)
        now[i] = before.numbers[i] == from ? (int16_t)to : before.numbers[i];
    for (bool again = true; again;) {
        again = false;
        for (int32_t i = 0; i < before.count; i++) {
            const dv_virtual old = b->virtuals.data[before.numbers[i]];
            if (now[i] != before.numbers[i] || !is_renamed(&old, &before, now)) continue;
            now[i] = (int16_t)dv_virtual_add(b, old);
            if (now[i] < 0) return;
            again = true;
        }
    }
    for (int32_t i = 0; i < before.count; i++)
        if (now[i] != before.numbers[i]) rename_values(&b->virtuals.data[now[i]], &before, now);
    for (int32_t q = 0; q < b->top; q++)
        if (dv_has_record(&b->e[q])) b->e[q].slot = renamed(&before, now, b->e[q].slot);
    if (before.full) dv_build_fail(b, DV_REFUSED_SIZE);
    b->version++;
}

bool dv_virtual_is_plain(const dv_build *b, const dv_class *class_) {
    const uint16_t special = DV_CLASS_GETATTRIBUTE | DV_CLASS_CLAIMS | DV_CLASS_CROWDED;
    return !(class_->flags & special) && !dv_class_special(class_, b->vm->known.del);
}

/* Instances that the loop carries
 * ---------------------------------------------------------------------------------------------- */

/* The local that carries the instance; -1: none does. */
static int32_t carrier_of(const dv_build *b, int32_t record) {
    for (int32_t q = 0; q < b->locals && q < b->top; q++)
        if (dv_is_carried(&b->e[q]) && b->e[q].slot == record) return q;
    return -1;
}

/* Local q, which carries an instance, is about to lose it: another local that has it carries it
 * from now on, with what q has at home; it is made if something else has it. */
static void hand_over(dv_build *b, int32_t q) {
    const int32_t record = b->e[q].slot;
    int32_t heir = -1;
    for (int32_t other = 0; other < b->top; other++)
        if (other != q && holds(b, other, record)) heir = other;
    if (heir < 0) return;
    if (heir >= b->locals || heir >= DV_LIVENESS_LOCALS) {
        dv_virtual_make(b, record);
        return;
    }
    dv_region_emit(b, DV_OP_R_BORROW, dv_home(b, q), dv_home(b, heir), 0);
    b->e[heir].value = DV_FADED;
    b->e[q].value = DV_EMPTY;
    b->faded |= UINT64_C(1) << heir;
    b->version++;
}

void dv_virtual_part(dv_build *b, int32_t q) {
    if (q < b->locals && dv_is_carried(&b->e[q])) hand_over(b, q);
}

static dv_shape *shape_of_built(dv_build *b, dv_type_id type, int32_t n);

static dv_kind raw_kind(dv_value v) {
    return dv_is_int(v)     ? DV_K_INT
           : dv_is_float(v) ? DV_K_FLOAT
           : dv_is_bool(v)  ? DV_K_BOOL
                            : DV_K_NOTHING;
}

/* The values of an instance, or of a tuple, that the loop may carry, and its record, without these;
 * NULL: it may not. */
static const dv_value *begin_record(dv_build *b, dv_value object, uint32_t head,
                                    dv_virtual *record) {
    if (!dv_is_object(object)) return NULL;
    if (dv_is_plain_instance(object)) {
        const dv_instance *instance = (const dv_instance *)dv_as_object(object);
        record->shape = dv_shape_at(b->vm, instance->header.shape);
        const bool fits = !instance->overflow && !record->shape->dictionary &&
                          dv_virtual_is_plain(b, record->shape->class_);
        return fits ? instance->slots : NULL;
    }
    if (!dv_is_tuple(object)) return NULL;
    const dv_tuple *tuple = dv_as_tuple(object);
    record->built = dv_snapshot_at(b->root, head);
    if (!record->built || record->built->needed || tuple->count > DV_VIRTUAL_ATTRIBUTES)
        return NULL;
    if (dv_is_shape(object, DV_T_TUPLE)) {
        record->shape = shape_of_built(b, DV_T_TUPLE, (int32_t)tuple->count);
    } else {
        dv_class *class_ = dv_shape_at(b->vm, tuple->header.shape)->class_;
        if (dv_virtual_is_sequence(b, class_) && tuple->header.shape == class_->root->number)
            record->shape = dv_virtual_shape_of(b, class_, (int32_t)tuple->count);
    }
    return record->shape ? tuple->items : NULL;
}

bool dv_virtual_begin(dv_build *b, dv_value object, uint32_t head) {
    const int32_t q = b->top;
    const bool fits = b->vm->nama == DV_NAMA_VIRTUAL && q < DV_LIVENESS_LOCALS && !b->parameters &&
                      b->local_uses[q] & DV_LOCAL_STORED && !dv_build_is_dead(b, head, q);
    dv_virtual record = {.shape = NULL};
    const dv_value *values = fits ? begin_record(b, object, head, &record) : NULL;
    if (!values) return false;
    const int32_t twin =
        dv_build_twin(b->frame, (uint32_t)b->locals, b->live ? &b->live[head] : NULL, object);
    const uint32_t count = record.shape->count;
    if (dv_as_object(object)->references != (twin >= 0 ? 2 : 1) || count == 0 ||
        count > DV_VIRTUAL_ATTRIBUTES || b->begun + (int32_t)count > b->attribute_count / 2)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const dv_kind kind = raw_kind(values[i]);
        if (kind == DV_K_NOTHING) return false;
        record.values[i] =
            (dv_known_value){(uint8_t)kind, DV_AT_SLOT,
                             (int16_t)(b->attribute_slots + b->begun + (int32_t)i), DV_EMPTY};
    }
    if (record.shape->number >= DV_T_COUNT) {
        record.shape->class_->flags |= DV_CLASS_CACHED;
        if (!dv_build_depends(b, &b->vm->class_sites)) return false;
    }
    b->begun += (int32_t)count;
    const int32_t number = dv_virtual_add(b, record);
    dv_push_known(b, DV_K_VIRTUAL, DV_AT_NOWHERE, number, DV_FADED);
    return true;
}

/* Slots of attributes
 * ---------------------------------------------------------------------------------------------- */

static uint64_t bit_of(const dv_build *b, int32_t slot) {
    int32_t n = slot - b->attribute_slots;
    return n >= 0 && n < b->attribute_count ? UINT64_C(1) << n : 0;
}

static bool has_slot(const dv_known_value *v) {
    return v->where == DV_AT_SLOT || v->where == DV_AT_HOME;
}

/* The slots that somebody uses, as a set. */
static uint64_t used_slots(dv_build *b) {
    const dv_reached live = dv_virtual_live(b);
    uint64_t used = 0;
    for (int32_t q = 0; q < b->top; q++)
        if (b->e[q].where == DV_AT_SLOT) used |= bit_of(b, b->e[q].slot);
    for (int32_t k = 0; k < live.count; k++) {
        const dv_virtual *record = &b->virtuals.data[live.numbers[k]];
        for (uint32_t i = 0; i < record->shape->count; i++)
            if (has_slot(&record->values[i])) used |= bit_of(b, record->values[i].slot);
    }
    return used;
}

/* A slot that nobody uses; -1: there is none. */
static int32_t free_slot(dv_build *b) {
    const uint64_t used = used_slots(b);
    for (int32_t n = 0; n < b->attribute_count; n++)
        if (!(used >> n & 1)) return b->attribute_slots + n;
    return -1;
}

bool dv_virtual_to_slot(dv_build *b, int32_t q) {
    dv_known_value *e = &b->e[q];
    bool there = e->where == DV_AT_SLOT && e->slot >= b->attribute_slots &&
                 e->slot < b->attribute_slots + b->attribute_count;
    if (there) return true;
    int32_t slot = free_slot(b);
    if (slot < 0) return false;
    if (e->where == DV_AT_REGISTER)
        dv_store_register(b, q, (int16_t)slot);
    else
        dv_region_emit(b, DV_OP_R_MOVE, e->slot, slot, 0);
    e->where = DV_AT_SLOT, e->slot = (int16_t)slot;
    b->version++;
    return true;
}

/* Making room for it
 * ---------------------------------------------------------------------------------------------- */

/* The local of the loop's function that the result of the call at b->pc goes to, with nothing in
 * between but returns; -1: there is none. */
static int32_t local_for_result(const dv_build *b, uint32_t next_pc) {
    const dv_context *c = b->context;
    for (; c->parent; next_pc = c->return_pc, c = c->parent)
        if ((c->thread->code->words[next_pc] & 0xFF) != DV_OP_RETURN) return -1;
    const uint32_t word = c->thread->code->words[next_pc];
    return (word & 0xFF) == DV_OP_STORE_LOCAL ? (int32_t)(word >> 8) : -1;
}

void dv_virtual_begin_quiet(dv_build *b, uint32_t next_pc) {
    const int32_t q = local_for_result(b, next_pc);
    dv_snapshot *call = dv_snapshot_at(b->context, b->pc);
    if (call->disturbed || q < 0 || !dv_is_faded(&b->e[q])) return;
    dv_virtual record = *dv_virtual_record(b, &b->e[q]);
    for (uint32_t i = 0; i < record.shape->count; i++)
        if (record.values[i].where == DV_AT_SLOT)
            record.values[i] = (dv_known_value){DV_K_CONSTANT, DV_AT_VALUE, 0, DV_NONE};
    const int32_t number = dv_virtual_add(b, record);
    if (number < 0) return;
    b->e[q].slot = (int16_t)number;
    b->version++;
    b->quiet = call;
}

void dv_virtual_disturb(dv_build *b) {
    if (!b->quiet) return;
    b->quiet->disturbed = b->again = true;
    if (b->emitting) dv_build_fail(b, DV_REFUSED_MEETING);
    b->quiet = NULL;
}

/* Attributes
 * ---------------------------------------------------------------------------------------------- */

uint32_t dv_virtual_objects(const dv_virtual *records, int32_t number) {
    dv_reached all = {.count = 0};
    uint32_t n = 0;
    dv_virtual_reach(records, number, &all);
    for (int32_t k = 0; k < all.count; k++) {
        const dv_virtual *record = &records[all.numbers[k]];
        for (uint32_t i = 0; i < record->shape->count; i++)
            n += record->values[i].where == DV_AT_HOME;
    }
    return n;
}

/* The attributes of the instance, unless it is among those that are held, and then of those that it
 * alone had. */
static bool release_attributes(dv_build *b, int32_t number, dv_reached *held) {
    bool released = false;
    if (dv_is_reached(held, number) || held->count == DV_VIRTUAL_INSTANCES) return false;
    held->numbers[held->count++] = (int16_t)number; /* once */
    const dv_virtual record = b->virtuals.data[number];
    const bool backwards = dv_is_sequence(&record); /* the last item goes first */
    for (uint32_t n = 0; n < record.shape->count; n++) {
        const dv_known_value *v = &record.values[backwards ? record.shape->count - 1 - n : n];
        if (v->where == DV_AT_HOME) dv_region_emit(b, DV_OP_R_RELEASE, v->slot, 0, 0);
        released |= v->where == DV_AT_HOME;
        released |= is_virtual(v) && release_attributes(b, v->slot, held);
    }
    return released;
}

bool dv_virtual_release(dv_build *b, int32_t number) {
    dv_reached held = dv_virtual_live(b);
    return release_attributes(b, number, &held);
}

bool dv_virtual_drop(dv_build *b, int32_t q) {
    const int32_t number = b->e[q].slot;
    b->e[q] = (dv_known_value){DV_K_RESERVED, DV_AT_NOWHERE, 0, DV_EMPTY};
    b->version++;
    return dv_virtual_release(b, number);
}

static dv_value name_at(const dv_build *b) { return dv_site_cell(b, b->pc)[2].v; }

/* The number that an attribute is, an object in general, as the site saw it; false: it saw others.
 */
static bool push_number(dv_build *b, const dv_known_value *v, int32_t inputs) {
    const uint16_t seen = dv_site_cell(b, b->pc)[1].site.seen;
    if (dv_same(v->value, DV_MIXED_NUMBER)) return false;
    if (v->kind != DV_K_ANY || (seen != DV_SEEN_INT && seen != DV_SEEN_FLOAT)) return false;
    const bool is_double = seen == DV_SEEN_FLOAT;
    dv_spill(b, is_double, b->top);
    dv_region_emit_guard(b, is_double ? DV_OP_R_UNBOX_D : DV_OP_R_UNBOX_I, v->slot, 0, 0);
    dv_pop(b, inputs);
    dv_push_known(b, is_double ? DV_K_FLOAT : DV_K_INT, DV_AT_REGISTER, 0, DV_EMPTY);
    return true;
}

void dv_virtual_load_value(dv_build *b, int32_t inputs, int32_t slot, uint32_t next_pc) {
    const int32_t number = dv_top(b, inputs)->slot;
    const dv_known_value v = b->virtuals.data[number].values[slot];
    if (v.where != DV_AT_HOME) {
        dv_pop(b, inputs);
        dv_push_known(b, (dv_kind)v.kind, (dv_where)v.where, v.slot, v.value);
    } else if (!push_number(b, &v, inputs)) {
        dv_region_emit(b, DV_OP_R_COPY, v.slot, dv_home(b, b->top - inputs), 0);
        dv_pop(b, inputs);
        dv_push_known(b, (dv_kind)v.kind, DV_AT_HOME, 0, DV_EMPTY);
    }
    dv_step_count(b, v.where != DV_AT_HOME || dv_same(v.value, DV_MIXED_NUMBER));
    if (dv_virtual_release(b, number)) dv_step_point_after(b, next_pc);
}

/* The same of what the class has for all its instances: a value that is no descriptor, itself, or a
 * named tuple's field; false: it has none. */
static bool load_class_value(dv_build *b, uint32_t next_pc) {
    const int32_t number = dv_top(b, 1)->slot;
    const dv_virtual *record = &b->virtuals.data[number];
    dv_class *class_ = record->shape->class_;
    if (record->shape->number < DV_T_COUNT) return false;
    dv_value v = DV_EMPTY;
    if (dv_same(name_at(b), b->vm->known.class_)) {
        v = dv_object_value(class_);
    } else {
        dv_global_cell *cell = dv_class_find(b->vm, class_, name_at(b));
        if (!dv_is_empty(b->vm->error)) dv_error_clear(b->vm);
        const bool is_field = cell && record->built && dv_is_tuple_getter(cell->value);
        if (!cell || (dv_is_object(cell->value) && !dv_is_str(cell->value) && !is_field))
            return false;
        v = dv_constant_global(b, cell);
    }
    class_->flags |= DV_CLASS_CACHED;
    if (dv_is_empty(v) || !dv_build_depends(b, &b->vm->class_sites)) return false;
    if (dv_is_tuple_getter(v)) {
        const int64_t i = dv_as_tuple_getter(v)->index;
        if (i >= record->shape->count) return false;
        dv_virtual_load_value(b, 1, (int32_t)i, next_pc);
        return true;
    }
    dv_pop(b, 1);
    dv_push_constant(b, v);
    dv_step_count(b, true);
    if (dv_virtual_release(b, number)) dv_step_point_after(b, next_pc);
    return true;
}

bool dv_virtual_load_attribute(dv_build *b, uint32_t next_pc) {
    const dv_known_value *object = dv_top(b, 1);
    if (!is_virtual(object)) return false;
    const int32_t slot = dv_shape_slot(dv_virtual_record(b, object)->shape, name_at(b));
    if (slot < 0) return load_class_value(b, next_pc);
    dv_virtual_load_value(b, 1, slot, next_pc);
    return true;
}

/* Where the instance keeps the attribute, perhaps with a shape that it gets for it; -1: not in a
 * slot. */
static int32_t place_for(dv_build *b, dv_virtual *record, dv_value name) {
    int32_t slot = dv_shape_slot(record->shape, name);
    if (slot >= 0) return slot;
    const dv_class *class_ = record->shape->class_;
    if (class_->flags & DV_CLASS_DATA) {
        const dv_global_cell *cell = dv_class_find(b->vm, record->shape->class_, name);
        bool failed = !dv_is_empty(b->vm->error);
        if (failed) dv_error_clear(b->vm);
        if (failed || (cell && dv_is_data_descriptor(b->vm, cell->value))) return -1;
    }
    dv_shape *child = dv_shape_child(record->shape, name);
    if (!child || child->dictionary || child->count > DV_VIRTUAL_ATTRIBUTES) return -1;
    record->shape = child;
    return (int32_t)child->count - 1;
}

/* The object of entry q to a slot of attributes, which owns it; false: none is free. */
static bool object_to_slot(dv_build *b, int32_t q) {
    dv_known_value *e = &b->e[q];
    const int32_t slot = free_slot(b);
    if (slot < 0) return false;
    const bool alias = e->where == DV_AT_ALIAS;
    const bool moves = !alias && dv_owned(b, b->context, b->pc, q);
    dv_region_emit(b, moves ? DV_OP_R_BORROW : DV_OP_R_COPY,
                   alias ? dv_home(b, e->slot) : dv_home(b, q), slot, 0);
    e->where = DV_AT_HOME, e->slot = (int16_t)slot;
    e->value = DV_EMPTY; /* records know no shapes: they outlast what changes them */
    b->version++;
    return true;
}

/* How many entries, and attributes of instances, are in the slot. */
static int32_t users_of(dv_build *b, int16_t slot) {
    const dv_reached live = dv_virtual_live(b);
    int32_t n = 0;
    for (int32_t q = 0; q < b->top; q++) n += b->e[q].where == DV_AT_SLOT && b->e[q].slot == slot;
    for (int32_t k = 0; k < live.count; k++) {
        const dv_virtual *record = &b->virtuals.data[live.numbers[k]];
        for (uint32_t i = 0; i < record->shape->count; i++)
            n += has_slot(&record->values[i]) && record->values[i].slot == slot;
    }
    return n;
}

void dv_virtual_box(dv_build *b, int32_t number, uint32_t i) {
    dv_virtual record = b->virtuals.data[number];
    dv_known_value *v = &record.values[i];
    const bool stays = v->where == DV_AT_SLOT && users_of(b, v->slot) == 1;
    const int32_t slot = stays ? v->slot : free_slot(b);
    if (slot < 0) {
        dv_build_fail(b, DV_REFUSED_SLOTS);
        return;
    }
    if (v->where == DV_AT_VALUE)
        dv_region_emit_constant(b, dv_region_emit(b, DV_OP_R_VALUE, slot, 0, 0),
                                (dv_cell){.v = v->value});
    else if (v->where == DV_AT_ALIAS)
        dv_region_emit(b, DV_OP_R_COPY, dv_home(b, v->slot), slot, 0);
    else
        dv_box(b, (dv_kind)v->kind, v->slot, (int16_t)slot);
    *v = (dv_known_value){DV_K_ANY, DV_AT_HOME, (int16_t)slot, DV_EMPTY};
    const int32_t to = dv_virtual_add(b, record);
    if (to >= 0) change_record(b, number, to);
}

/* Entry q becomes what a record says of an attribute's value; false: it cannot be one. */
static bool make_value(dv_build *b, int32_t q) {
    const dv_known_value *e = &b->e[q];
    if (e->where == DV_AT_VALUE || is_virtual(e)) return true;
    if (e->kind == DV_K_COMPLEX || e->kind == DV_K_CHAR) dv_materialize(b, q);
    if (dv_kind_is_raw((dv_kind)e->kind)) return dv_virtual_to_slot(b, q);
    bool object = e->where == DV_AT_HOME || e->where == DV_AT_ALIAS;
    return object && e->kind < DV_K_UNSET && object_to_slot(b, q);
}

/* Does one of the instances reach itself? */
static bool has_circle(const dv_build *b, const dv_reached *all) {
    for (int32_t k = 0; k < all->count; k++) {
        const dv_virtual *record = &b->virtuals.data[all->numbers[k]];
        for (uint32_t i = 0; i < record->shape->count; i++) {
            if (!is_virtual(&record->values[i])) continue;
            const dv_reached from = reach(b, record->values[i].slot);
            if (dv_is_reached(&from, all->numbers[k])) return true;
        }
    }
    return false;
}

/* Would the store of the value, an attribute of the instance, leave a circle and objects? */
static bool makes_circle(dv_build *b, const dv_known_value *value, int32_t record) {
    if (!b->nests && !is_virtual(value)) return false;
    const dv_reached live = dv_virtual_live(b);
    bool circle = is_virtual(value) && value->slot == record;
    bool objects = value->where == DV_AT_HOME || value->where == DV_AT_ALIAS;
    if (is_virtual(value)) {
        const dv_reached from = reach(b, value->slot);
        circle |= dv_is_reached(&from, record);
    }
    for (int32_t k = 0; k < live.count && !objects; k++)
        objects = dv_virtual_objects(b->virtuals.data, live.numbers[k]) > 0;
    return objects && (circle || has_circle(b, &live));
}

/* Where a store has its value and the instance, counted from the topmost entry, and how many
 * entries it takes; `calls`: those of a call, whose result is None. */
typedef struct store {
    int32_t value, object, inputs;
    bool calls;
} store;

/* The lowest of the topmost entries is the value, the one above it the instance. */
static store store_below(int32_t inputs) { return (store){inputs, inputs - 1, inputs, false}; }

/* May the value go into the instance, whose record may change?  False: it is made, with its value
 * if the loop carries that. */
static bool may_store(dv_build *b, const store *s) {
    const dv_known_value *value = dv_top(b, s->value), *object = dv_top(b, s->object);
    const int32_t from = object->slot;
    if (is_virtual(value) && carrier_of(b, value->slot) >= 0) dv_virtual_make(b, value->slot);
    if (!is_virtual(object)) return false; /* it was the value, too */
    if (carrier_of(b, from) < 0 && !makes_circle(b, value, from)) return true;
    dv_virtual_make(b, from);
    return false;
}

/* The value is the attribute in this slot from now on, of an instance with this shape. */
static bool store_value(dv_build *b, const store *s, dv_shape *shape, int32_t slot,
                        uint32_t next_pc) {
    const int32_t from = dv_top(b, s->object)->slot;
    dv_virtual record = b->virtuals.data[from];
    const uint32_t count = record.shape->count;
    if (!make_value(b, b->top - s->value)) return false;
    const dv_known_value old = record.values[slot];
    record.shape = shape;
    if (record.built && (uint32_t)slot > count) record.values[count] = *dv_top(b, 1); /* its key */
    record.values[slot] = *dv_top(b, s->value);
    b->nests |= is_virtual(dv_top(b, s->value));
    int32_t to = dv_virtual_add(b, record);
    if (to < 0) return false;
    change_record(b, from, to);
    to = dv_top(b, s->object)->slot;
    dv_pop(b, s->inputs);
    if (s->calls) dv_push_constant(b, DV_NONE);
    dv_step_count(b, record.values[slot].where != DV_AT_HOME);
    bool released = (uint32_t)slot < count && old.where == DV_AT_HOME;
    if (released) dv_region_emit(b, DV_OP_R_RELEASE, old.slot, 0, 0);
    if ((uint32_t)slot < count && is_virtual(&old)) released |= dv_virtual_release(b, old.slot);
    released |= dv_virtual_release(b, to);
    if (released) dv_step_point_after(b, next_pc);
    return true;
}

bool dv_virtual_store_value(dv_build *b, int32_t inputs, int32_t slot, uint32_t next_pc) {
    const store s = store_below(inputs);
    return may_store(b, &s) &&
           store_value(b, &s, dv_virtual_record(b, dv_top(b, s.object))->shape, slot, next_pc);
}

static bool store_attribute(dv_build *b, const store *s, dv_value name, uint32_t next_pc) {
    if (!may_store(b, s)) return false;
    dv_virtual record = *dv_virtual_record(b, dv_top(b, s->object));
    const int32_t slot = place_for(b, &record, name);
    return slot >= 0 && store_value(b, s, record.shape, slot, next_pc);
}

bool dv_virtual_store_attribute(dv_build *b, uint32_t next_pc) {
    const store s = store_below(2);
    const dv_known_value *object = dv_top(b, s.object);
    return is_virtual(object) &&
           !(dv_virtual_record(b, object)->shape->class_->flags & DV_CLASS_SETATTR) &&
           store_attribute(b, &s, name_at(b), next_pc);
}

/* Is it a constant, and a name that objects give no meaning to? */
static bool is_ordinary(const dv_known_value *e) {
    if (e->where != DV_AT_VALUE || !dv_is_str(e->value)) return false;
    const dv_str *name = dv_as_str(e->value);
    return name->length > 1 ? dv_str_at(name, 0) != '_' || dv_str_at(name, 1) != '_' : true;
}

bool dv_virtual_set_attribute(dv_build *b, uint32_t next_pc) {
    const store s = {1, 3, 7, true};
    const dv_known_value *object = dv_top(b, s.object), *name = dv_top(b, 2);
    return is_virtual(object) && !dv_virtual_record(b, object)->built && is_ordinary(name) &&
           store_attribute(b, &s, name->value, next_pc);
}

/* Tuples and lists
 * ---------------------------------------------------------------------------------------------- */

/* Those with the same number of items have the same one. */
static dv_shape *shape_of_built(dv_build *b, dv_type_id type, int32_t n) {
    enum { EACH = DV_VIRTUAL_ATTRIBUTES + 1 };
    static const uint8_t types[] = {DV_T_TUPLE, DV_T_LIST,     DV_T_METHOD,
                                    DV_T_DICT,  DV_T_FUNCTION, DV_T_CELL};
    if (!b->built) b->built = dv_build_get(b, sizeof types * EACH * sizeof *b->built);
    if (!b->built) return NULL;
    uint32_t row = 0;
    while (types[row] != type) row++;
    dv_shape *shape = &b->built[row * EACH + n];
    shape->number = type;
    shape->count = (uint32_t)n;
    shape->class_ = b->vm->classes[type];
    return shape;
}

dv_shape *dv_virtual_shape_of(dv_build *b, dv_class *class_, int32_t n) {
    dv_shape *shape = b->named;
    while (shape && (shape->class_ != class_ || shape->count != (uint32_t)n))
        shape = shape->sibling;
    if (shape || n > DV_VIRTUAL_ATTRIBUTES || !class_->root) return shape;
    shape = dv_build_get(b, sizeof *shape);
    if (!shape) return NULL;
    *shape = (dv_shape){.number = class_->root->number,
                        .count = (uint32_t)n,
                        .class_ = class_,
                        .sibling = b->named};
    return b->named = shape;
}

/* Can the n topmost entries be values of a record, and is there room for them? */
static bool are_values(dv_build *b, int32_t n) {
    if (n > DV_VIRTUAL_ATTRIBUTES || !dv_virtual_has_room(b)) return false;
    for (int32_t q = b->top - n; q < b->top; q++)
        if (b->e[q].kind >= DV_K_UNSET) return false;
    return b->attribute_count - __builtin_popcountll(used_slots(b)) >= n;
}

/* Is it the object of a local that the region does not change? */
static bool is_kept_by_local(const dv_build *b, const dv_known_value *e) {
    return e->where == DV_AT_ALIAS && e->slot < b->locals &&
           !(b->local_uses[e->slot] & DV_LOCAL_STORED);
}

bool dv_virtual_build(dv_build *b, dv_type_id type, int32_t n, uint32_t next_pc) {
    dv_shape *shape = n <= DV_VIRTUAL_ATTRIBUTES ? shape_of_built(b, type, n) : NULL;
    return shape && dv_virtual_build_as(b, shape, n, next_pc);
}

bool dv_virtual_build_as(dv_build *b, dv_shape *shape, int32_t n, uint32_t next_pc) {
    dv_snapshot *built = dv_snapshot_at(b->context, b->pc);
    const uint32_t type = shape->number; /* or of an instance */
    const int32_t first = b->top - n;
    const bool at_once = built->needed && !(type == DV_T_FUNCTION && b->context->parent);
    if (b->vm->nama != DV_NAMA_VIRTUAL || at_once || !are_values(b, n)) return false;
    dv_virtual_begin_quiet(b, next_pc);
    for (int32_t q = first; q < b->top; q++) { /* what can leave comes before what moves objects */
        if (b->e[q].kind == DV_K_COMPLEX || b->e[q].kind == DV_K_CHAR) dv_materialize(b, q);
        if (is_virtual(&b->e[q]) && carrier_of(b, b->e[q].slot) >= 0)
            dv_virtual_make(b, b->e[q].slot);
    }
    const int32_t number = dv_virtual_add(b, (dv_virtual){.shape = shape, .built = built});
    if (number < 0) return false;
    dv_push_known(b, DV_K_VIRTUAL, DV_AT_NOWHERE, number, DV_EMPTY); /* to have what is in it */
    for (int32_t i = 0; i < n; i++) {
        const dv_known_value *e = &b->e[first + i];
        const bool is_cell =
            type == DV_T_FUNCTION && e->where == DV_AT_ALIAS && e->slot < b->locals;
        if (!is_cell && !(type == DV_T_METHOD && is_kept_by_local(b, e)))
            (void)make_value(b, first + i);
        b->virtuals.data[number].values[i] = b->e[first + i];
        b->nests |= is_virtual(&b->e[first + i]);
    }
    dv_pop(b, n + 1);
    dv_push_known(b, DV_K_VIRTUAL, DV_AT_NOWHERE, number, DV_EMPTY);
    if (b->emitting) b->region->removed++;
    dv_build_mark(b, type < DV_T_COUNT ? dv_built_kind(type) : DV_MADE_INSTANCE);
    dv_step_count(b, true);
    return true;
}

bool dv_virtual_build_cell(dv_build *b, int32_t q) {
    dv_shape *shape = shape_of_built(b, DV_T_CELL, 1);
    const bool unset = b->e[q].kind == DV_K_UNSET;
    if (b->vm->nama != DV_NAMA_VIRTUAL || !shape || !dv_virtual_has_room(b) ||
        (!unset && b->e[q].kind > DV_K_UNSET) || free_slot(b) < 0)
        return false;
    if (unset) b->e[q] = (dv_known_value){DV_K_CONSTANT, DV_AT_VALUE, 0, DV_EMPTY};
    if (is_virtual(&b->e[q]) && carrier_of(b, b->e[q].slot) >= 0) dv_virtual_make(b, b->e[q].slot);
    if (!make_value(b, q)) return false;
    const int32_t number = dv_virtual_add(
        b, (dv_virtual){
               .shape = shape, .built = dv_snapshot_at(b->context, b->pc), .values = {b->e[q]}});
    if (number < 0) return false;
    b->nests |= is_virtual(&b->e[q]);
    b->e[q] = (dv_known_value){DV_K_VIRTUAL, DV_AT_NOWHERE, (int16_t)number, DV_EMPTY};
    b->version++;
    if (b->emitting) b->region->removed++;
    dv_build_mark(b, DV_MADE_CELL);
    dv_step_count(b, true);
    return true;
}

bool dv_virtual_may_bind(dv_build *b) {
    return b->vm->nama == DV_NAMA_VIRTUAL && !dv_snapshot_at(b->context, b->pc)->needed &&
           b->top + 2 < b->entry_limit && dv_virtual_has_room(b);
}

bool dv_virtual_bind(dv_build *b, dv_value function, uint32_t next_pc) {
    const dv_known_value *self = dv_top(b, 1);
    if (is_virtual(self) && carrier_of(b, self->slot) >= 0) dv_virtual_make(b, self->slot);
    dv_push_constant(b, function);
    if (dv_virtual_build(b, DV_T_METHOD, 2, next_pc)) return true;
    dv_pop(b, 1);
    return false;
}

bool dv_virtual_is_method(const dv_build *b, int32_t q) {
    if (!is_virtual(&b->e[q])) return false;
    const dv_virtual *record = dv_virtual_record(b, &b->e[q]);
    return record->shape->number == DV_T_METHOD && record->values[1].where == DV_AT_VALUE;
}

void dv_virtual_unbind(dv_build *b, int32_t n) {
    const int32_t q = b->top - n - 3, to = b->top - n, number = b->e[q].slot;
    const dv_known_value self = b->virtuals.data[number].values[0];
    b->e[q] = b->virtuals.data[number].values[1];
    dv_step_shift(b, n, 1);
    const dv_reached held = dv_virtual_live(b);
    if (self.where == DV_AT_HOME)
        dv_region_emit(b, dv_is_reached(&held, number) ? DV_OP_R_COPY : DV_OP_R_BORROW, self.slot,
                       dv_home(b, to), 0);
    b->e[to] = self;
    if (self.where == DV_AT_HOME) b->e[to].slot = 0;
    b->version++;
}

/* Keys that are looked at: strs and small ints. */
static bool is_key(const dv_known_value *e) {
    return e->where == DV_AT_VALUE && (e->kind == DV_K_INT || dv_is_shape(e->value, DV_T_STR));
}

static bool is_same_key(dv_value a, dv_value b) {
    return dv_same(a, b) || (dv_is_object(a) && dv_is_object(b) && dv_str_equal(a, b));
}

/* The place of the key's value in the dict, perhaps one behind what it has; -1: not known. */
static int32_t place_of_key(const dv_virtual *record, const dv_known_value *key) {
    uint32_t i = 0;
    if (!is_key(key)) return -1;
    while (i < record->shape->count && !is_same_key(record->values[i].value, key->value)) i += 2;
    return (int32_t)i + 1;
}

bool dv_virtual_build_dict(dv_build *b, int32_t n, uint32_t next_pc) {
    for (int32_t q = b->top - 2 * n; q < b->top; q += 2) {
        if (!is_key(&b->e[q])) return false;
        for (int32_t other = b->top - 2 * n; other < q; other += 2)
            if (is_same_key(b->e[q].value, b->e[other].value)) return false;
    }
    return dv_virtual_build(b, DV_T_DICT, 2 * n, next_pc);
}

/* Which item of the one below it the topmost entry is the index or the key of, of a dict perhaps
 * one that it has not got; -1: none that is known. */
static int32_t item_at(dv_build *b, bool changes) {
    const dv_known_value *built = dv_top(b, 2), *index = dv_top(b, 1);
    if (!is_virtual(built)) return -1;
    const dv_virtual *record = dv_virtual_record(b, built);
    if (dv_virtual_is(record, DV_T_DICT)) return place_of_key(record, index);
    if (index->kind != DV_K_INT || index->where != DV_AT_VALUE) return -1;
    const int64_t count = record->shape->count, i = dv_raw_int(index->value);
    const bool fits = dv_is_sequence(record) && (!changes || dv_virtual_is(record, DV_T_LIST));
    if (!fits || i < -count || i >= count) return -1;
    return (int32_t)(i < 0 ? i + count : i);
}

bool dv_virtual_load_item(dv_build *b, uint32_t next_pc) {
    const int32_t i = item_at(b, false);
    if (i < 0 || (uint32_t)i >= dv_virtual_record(b, dv_top(b, 2))->shape->count) return false;
    dv_virtual_load_value(b, 2, i, next_pc);
    return true;
}

bool dv_virtual_store_item(dv_build *b, uint32_t next_pc) {
    const int32_t i = item_at(b, true);
    const store s = store_below(3);
    if (i < 0 || i >= DV_VIRTUAL_ATTRIBUTES || !may_store(b, &s)) return false;
    dv_shape *shape = dv_virtual_record(b, dv_top(b, 2))->shape;
    if ((uint32_t)i >= shape->count) shape = shape_of_built(b, DV_T_DICT, i + 1); /* a new key */
    return shape && store_value(b, &s, shape, i, next_pc);
}

bool dv_virtual_length(dv_build *b, int32_t inputs, uint32_t next_pc) {
    if (!is_virtual(dv_top(b, 1))) return false;
    const int32_t number = dv_top(b, 1)->slot;
    const dv_virtual *record = &b->virtuals.data[number];
    const bool is_dict = dv_virtual_is(record, DV_T_DICT);
    if (!is_dict && !dv_is_sequence(record)) return false;
    const int64_t count = record->shape->count >> is_dict;
    dv_pop(b, inputs);
    dv_push_constant(b, dv_int(count));
    dv_step_count(b, true);
    if (dv_virtual_release(b, number)) dv_step_point_after(b, next_pc);
    return true;
}

bool dv_virtual_unpack(dv_build *b, uint32_t count) {
    if (!is_virtual(dv_top(b, 1))) return false;
    const int32_t number = dv_top(b, 1)->slot;
    const dv_virtual record = b->virtuals.data[number];
    if (!dv_is_sequence(&record) || record.shape->count != count) return false;
    dv_pop(b, 1);
    const dv_reached held = dv_virtual_live(b);
    const bool moves = !dv_is_reached(&held, number);
    for (uint32_t i = count; i-- > 0;) {
        const dv_known_value v = record.values[i];
        if (v.where == DV_AT_HOME) {
            dv_region_emit(b, moves ? DV_OP_R_BORROW : DV_OP_R_COPY, v.slot, dv_home(b, b->top), 0);
            dv_push_known(b, (dv_kind)v.kind, DV_AT_HOME, 0, DV_EMPTY);
        } else {
            dv_push_known(b, (dv_kind)v.kind, (dv_where)v.where, v.slot, v.value);
        }
    }
    dv_step_count(b, true);
    return true;
}

/* Making it
 * ---------------------------------------------------------------------------------------------- */

/* The lowest entry that holds the instance, or in which it has faded, or the one that carries it.
 */
static int32_t first_holder(const dv_build *b, int32_t record) {
    const int32_t carrier = carrier_of(b, record);
    int32_t q = 0;
    if (carrier >= 0) return carrier;
    while (q < b->top && !(dv_has_record(&b->e[q]) && b->e[q].slot == record)) q++;
    return q;
}

/* Is entry q a local of the loop's function that nobody reads from pc on? */
static bool is_dead(const dv_build *b, const dv_context *context, uint32_t pc, int32_t q) {
    for (; context->parent; context = context->parent) pc = context->call_pc;
    return dv_build_is_dead(b, pc, q);
}

bool dv_virtual_may_fade(dv_build *b, const dv_context *context, uint32_t pc, int32_t q) {
    const dv_reached all = dv_virtual_linked(b, b->e[q].slot);
    for (int32_t other = 0; other < b->top; other++) {
        if (!dv_has_record(&b->e[other]) || !dv_is_reached(&all, b->e[other].slot)) continue;
        if (!is_dead(b, context, pc, other)) return false;
        if (other != q && b->e[other].slot == b->e[q].slot) return false;
    }
    return true;
}

static uint8_t action_for(const dv_known_value *e) {
    if (is_virtual(e)) return DV_EXIT_OTHER;
    if (e->where == DV_AT_VALUE) return DV_EXIT_VALUE;
    if (e->where == DV_AT_HOME) return DV_EXIT_COPY_B; /* its count goes to the instance */
    if (e->where == DV_AT_ALIAS) return DV_EXIT_COPY;
    return e->kind == DV_K_INT ? DV_EXIT_INT : e->kind == DV_K_FLOAT ? DV_EXIT_FLOAT : DV_EXIT_BOOL;
}

static int16_t place_in(const dv_reached *all, int32_t number) {
    int16_t i = 0;
    while (i < all->count && all->numbers[i] != number) i++;
    return i;
}

static void push_instance(dv_build *b, const dv_reached *all, int32_t number, int16_t to,
                          dv_exit_action action) {
    const dv_virtual *record = &b->virtuals.data[number];
    const dv_exit_item made = {
        .to = to,
        .from = (int16_t)record->shape->count,
        .action = (uint8_t)action,
        .value = record->shape->number < DV_T_COUNT
                     ? dv_built_value(record->shape->number, record->shape->count)
                 : record->built ? dv_named_value(record->shape->number, record->shape->count)
                                 : dv_int(record->shape->number)};
    DV_PUSH(b, items, made);
    for (uint32_t i = 0; i < record->shape->count; i++) {
        const dv_known_value *e = &record->values[i];
        const bool alias = e->where == DV_AT_ALIAS;
        const dv_exit_item item = {.to = -1,
                                   .from = is_virtual(e) ? place_in(all, e->slot)
                                           : alias       ? dv_home(b, e->slot)
                                                         : e->slot,
                                   .action = action_for(e),
                                   .value = e->value};
        DV_PUSH(b, items, item);
    }
}

/* The items that make the instances, each in the home slot of the first entry that holds it. */
static void push_items(dv_build *b, const dv_reached *all, dv_exit_action action) {
    const uint32_t first = b->items.count;
    for (int32_t k = 0; k < all->count; k++) {
        const int32_t holder = first_holder(b, all->numbers[k]);
        push_instance(b, all, all->numbers[k], holder < b->top ? dv_home(b, holder) : -1,
                      k == 0 ? action : DV_EXIT_INSTANCE);
    }
    if (b->failed) return;
    b->items.data[first].from = (int16_t)(b->items.count - first - 1);
    for (uint32_t i = first; i < b->items.count; i++)
        b->items.data[first].nests |= b->items.data[i].action == DV_EXIT_OTHER;
    for (int32_t k = 0; k < all->count; k++)
        b->items.data[first].nests |= b->virtuals.data[all->numbers[k]].built != NULL;
}

/* The first entry that holds one of the instances. */
static int32_t first_of(const dv_build *b, const dv_reached *all) {
    int32_t q = 0;
    while (q < b->top && !(dv_has_record(&b->e[q]) && dv_is_reached(all, b->e[q].slot))) q++;
    return q;
}

/* Is entry q a dead local that has what another one carries? */
static bool has_carried(const dv_build *b, int32_t q) {
    return dv_is_faded(&b->e[q]) && carrier_of(b, b->e[q].slot) >= 0;
}

/* Other locals that have what local q carries get it, too, dead ones if it has not been made in
 * them. */
static void push_shared(dv_build *b, int32_t q) {
    for (int32_t other = 0; other < b->locals; other++) {
        const bool faded = dv_is_faded(&b->e[other]);
        const dv_exit_item copy = {.to = dv_home(b, other),
                                   .from = dv_home(b, q),
                                   .action = faded ? DV_EXIT_COPY_FADED : DV_EXIT_COPY};
        if (other != q && dv_has_record(&b->e[other]) && b->e[other].slot == b->e[q].slot)
            DV_PUSH(b, items, copy);
    }
}

void dv_virtual_exit(dv_build *b, dv_context *context, uint32_t pc, int32_t q) {
    const int32_t first = first_holder(b, b->e[q].slot);
    const bool carries = dv_is_carried(&b->e[q]);
    if (first == q) {
        const dv_reached all = dv_virtual_linked(b, b->e[q].slot);
        if (carries || first_of(b, &all) == q)
            push_items(b, &all,
                       is_virtual(&b->e[q]) && !carries ? DV_EXIT_INSTANCE : DV_EXIT_FADED);
        if (carries) push_shared(b, q);
        return;
    }
    if (q < b->locals && carrier_of(b, b->e[q].slot) >= 0) return;
    const dv_exit_item copy = {.to = dv_home(b, q),
                               .from = dv_home(b, first),
                               .action =
                                   dv_owned(b, context, pc, q) ? DV_EXIT_COPY : DV_EXIT_COPY_B};
    DV_PUSH(b, items, copy);
}

/* May other entries name entry q's home slot instead of a copy of it?  That of a local, that of
 * the result below an __init__, and those of operands below an operator's method are there as long
 * as those above it. */
static bool is_lasting(const dv_build *b, int32_t q) {
    for (const dv_context *c = b->context; c; c = c->parent) {
        if (q >= c->base) return q < c->base + (int32_t)c->thread->code->local_count;
        if (c->entering == DV_ENTERS_INIT && q == c->base - DV_BELOW_INIT) return true;
        const bool operates = c->entering > DV_ENTERS_INIT;
        if (operates && q >= dv_operator_bottom(c) && q < c->base - DV_BELOW_OPERATOR) return true;
    }
    return false;
}

/* The instances come to be, the first one in the home slot of entry q; the operands of the
 * instruction that are not its own say where it goes next. */
static void emit_make(dv_build *b, dv_virtual_place place, const dv_reached *all, int32_t q,
                      dv_exit_action action) {
    dv_spill(b, false, b->top); /* what is in registers is lost if there is no memory */
    dv_spill(b, true, b->top);
    dv_point_add(b, b->cells.count, dv_exit_make(b, b->context, b->pc, false), true, false, false);
    uint32_t at = dv_region_emit(b, place.op, dv_home(b, q), place.home, place.index);
    for (int32_t k = 0; k < all->count; k++) dv_virtual_need(b, &b->virtuals.data[all->numbers[k]]);
    if (!b->emitting || b->failed) return;
    b->cells.data[at + 2].i = b->items.count;
    if (place.op == DV_OP_RA_RENEW) b->cells.data[at + 3] = place.where;
    for (int32_t k = 0; k < all->count; k++)
        if (b->virtuals.data[all->numbers[k]].call)
            b->virtuals.data[all->numbers[k]].call->made = true;
    push_items(b, all, action);
}

void dv_virtual_restore(dv_build *b, const dv_snapshot *to) {
    if (!b->faded) return;
    for (int32_t q = 0; q < b->locals && q < b->top; q++) {
        const dv_known_value *t = &to->entries[q];
        if (dv_is_carried(&b->e[q]) && dv_is_faded(t) && dv_virtual_objects(to->records, t->slot))
            dv_virtual_make(b, b->e[q].slot); /* or who has these would depend on the way */
        if (!dv_is_faded(&b->e[q]) || dv_is_faded(&to->entries[q])) continue;
        if (has_carried(b, q)) {
            dv_virtual_make(b, b->e[q].slot);
            continue;
        }
        const dv_reached all = dv_virtual_linked(b, b->e[q].slot);
        emit_make(b, (dv_virtual_place){.op = DV_OP_R_MAKE_FADED}, &all, first_of(b, &all),
                  DV_EXIT_FADED);
        for (int32_t other = 0; other < b->locals && other < b->top; other++)
            if (dv_is_faded(&b->e[other]) && dv_is_reached(&all, b->e[other].slot))
                b->e[other].value = DV_EMPTY;
        b->version++;
    }
}

bool dv_virtual_resolve(dv_build *b, int32_t q) {
    const bool made = dv_build_choice(b);
    dv_context *otherwise = made ? NULL : dv_build_branch(b, 1);
    if (b->ended || b->failed) return false;
    if (otherwise) {
        const uint32_t at = dv_region_emit(b, DV_OP_R_IF_MADE, dv_home(b, q), 0, 0);
        dv_build_branch_off(b, at, otherwise);
        b->e[q] = (dv_known_value){DV_K_VIRTUAL, DV_AT_NOWHERE, b->e[q].slot, DV_EMPTY};
    } else {
        const dv_reached all = dv_virtual_linked(b, b->e[q].slot);
        if (!made)
            emit_make(b, (dv_virtual_place){.op = DV_OP_R_MAKE_FADED}, &all, q, DV_EXIT_FADED);
        b->e[q] = (dv_known_value){DV_K_ANY, DV_AT_HOME, 0, DV_EMPTY};
    }
    b->version++;
    return true;
}

/* What the entries that hold the instance, which has been made, are now. */
static void note_made(dv_build *b, int32_t record) {
    const int32_t first = first_holder(b, record);
    const bool lasting = is_lasting(b, first);
    for (int32_t q = 0; q < b->top; q++) {
        if (!holds(b, q, record)) continue;
        b->e[q] = (dv_known_value){DV_K_ANY, DV_AT_HOME, 0, DV_EMPTY};
        if (q == first) continue;
        if (lasting) {
            b->e[q] = (dv_known_value){DV_K_ANY, DV_AT_ALIAS, (int16_t)first, DV_EMPTY};
        } else {
            bool owned = dv_owned(b, b->context, b->pc, q);
            dv_region_emit(b, owned ? DV_OP_R_COPY : DV_OP_R_BORROW, dv_home(b, first),
                           dv_home(b, q), 0);
        }
    }
}

void dv_virtual_make_for(dv_build *b, int32_t record, dv_virtual_place place) {
    const dv_reached all = dv_virtual_linked(b, record);
    const int32_t carrier = carrier_of(b, record);
    const bool carried = carrier >= 0;
    if (all.count != 1 || has_circle(b, &all) || b->virtuals.data[record].built)
        place.op = DV_OP_R_MAKE;
    if (carried) place.op = DV_OP_R_MAKE_FADED;
    emit_make(b, place, &all, first_holder(b, record), carried ? DV_EXIT_FADED : DV_EXIT_INSTANCE);
    for (int32_t q = 0; q < b->top && carried; q++) {
        if (!dv_is_faded(&b->e[q]) || b->e[q].slot != record) continue;
        dv_region_emit(b, DV_OP_R_COPY_FADED, dv_home(b, carrier), dv_home(b, q), 0);
        b->e[q].value = DV_EMPTY;
    }
    for (int32_t k = 0; k < all.count; k++) note_made(b, all.numbers[k]);
    b->version++;
}

void dv_virtual_make(dv_build *b, int32_t record) {
    dv_virtual_make_for(b, record, (dv_virtual_place){.op = DV_OP_R_MAKE});
}

uint32_t dv_virtual_count(const dv_context *context) {
    uint32_t n = context->entering == DV_ENTERS_INIT && context->emitted && !context->made;
    for (const dv_context *c = context->inlined; c; c = c->siblings) n += dv_virtual_count(c);
    return n;
}
