/* entry.c: the edges of regions at run time: entering, leaving, retiring (region.h). */
#include "region/run/entry.h"

#include "core/work.h"
#include "quicken/site.h"
#include "region/analyse/build.h"
#include "region/run/memory.h"
#include "region/emit/pair.h"
#include "region/analyse/promise.h"
#include "region/step/producer.h"
#include "region/region.h"
#include "region/emit/written.h"
#include "run/execute.h"
#include "run/frame.h"
#include "run/generator.h"
#include "types/callable/variable.h"
#include "types/mapping/dict.h"
#include "types/number/complex.h"
#include "types/number/int.h"
#include "types/number/range.h"
#include "types/sequence/list.h"
#include "types/sequence/sequence.h"
#include "types/sequence/tuple.h"

enum {
    ENTRY_FAILURES = 8, /* entries refused by their types until a function's region is given up */
    MOST_VERSIONS = 4,  /* regions of one loop */
    STARTS_ALLOWED =
        40, /* the same where the loop begins: until it is entered at back edges alone */
    EXITS_ALLOWED = 40, /* counted exits (failed guards, cold paths) through one exit, likewise */
    REBUILDS = 5,       /* regions of one loop that were given up until none is tried any more */
    REFUSED = 3,        /* what a refusal counts among them: none is tried after the second */
    PATIENCE =
        5000 /* rounds of a loop in which it executes about 40 times what its analysis does */
};

/* dv_site.looked. */
enum {
    POSTPONED = 1, /* its analysis had to wait once */
    LOOKED_AT =
        2 /* it was refused, or had to wait, when a loop in it was hot: that does not ask again */
};

/* Regions and their thread
 * -------------------------------------------------------------------------------- */

static void free_array(dv_vm *vm, void *data, size_t size) {
    if (data) dv_heap_free(&vm->heap, data, size ? size : 1);
}

/* What its exits name may be gone soon. */
static void forget_exit(dv_vm *vm, const dv_region *region) {
    if (vm->failed_exit && vm->failed_exit->region == region) vm->failed_exit = NULL;
}

void dv_region_free(dv_vm *vm, dv_region *region) {
    vm->quiet.declared = NULL;
    forget_exit(vm, region);
    dv_region_discharge(vm, region);
    dv_dependent_leave(vm, &region->dependent);
    free_array(vm, region->cells, region->cell_count * sizeof *region->cells);
    free_array(vm, region->exits, region->exit_count * sizeof *region->exits);
    free_array(vm, region->items, region->item_count * sizeof *region->items);
    free_array(vm, region->frames, region->frame_count * sizeof *region->frames);
    free_array(vm, region->points, region->point_count * sizeof *region->points);
    free_array(vm, region->entries, region->entry_count * sizeof *region->entries);
    free_array(vm, region->entry_items, region->entry_item_count * sizeof *region->entry_items);
    free_array(vm, region->marks, region->mark_count * sizeof *region->marks);
    free_array(vm, region->steps, region->cell_count * sizeof *region->steps);
    free_array(vm, region->origins, region->origin_count * sizeof *region->origins);
    free_array(vm, region->known, region->known_count * sizeof *region->known);
    free_array(vm, region->held, region->held_count * sizeof *region->held);
    free_array(vm, region->sources, region->source_count * sizeof *region->sources);
    dv_pin *pins = region->pins; /* of frames that were taken for being in it */
    const uint32_t count = region->pin_count, capacity = region->pin_capacity;
    dv_heap_free(&vm->heap, region, sizeof *region);
    for (uint32_t i = 0; i < count; i++) dv_release(vm, pins[i].value);
    if (pins) dv_heap_free(&vm->heap, pins, capacity * sizeof *pins);
}

static void unlink_region(dv_region *region) {
    dv_region **at = &region->thread->regions;
    while (*at && *at != region) at = &(*at)->next;
    if (*at) *at = region->next;
}

static void free_if_unused(dv_vm *vm, dv_region *region) {
    if (!region->retired || region->active > 0) return;
    unlink_region(region);
    dv_region_free(vm, region);
}

void dv_region_left(dv_vm *vm, dv_region *region, const dv_value *fp) {
    dv_region_unpin(vm, region, fp);
    region->active--;
    free_if_unused(vm, region);
}

static bool owns_cell(const dv_region *region, const dv_cell *cell) {
    return cell >= region->cells && cell < region->cells + region->cell_count;
}

static dv_region *region_of(const dv_thread *thread, const dv_cell *cell) {
    for (dv_region *region = thread->regions; region; region = region->next)
        if (owns_cell(region, cell)) return region;
    return NULL;
}

/* Where loops begin
 * ------------------------------------------------------------------------------------------------
 */

/* The JUMP_BACK of the loop that FOR_ITER at `head` begins, where it is a loop's only one. */
static const dv_cell *back_of(const dv_cell *head) {
    return head[2].target - dv_op_infos[DV_OP_JUMP_BACK].length;
}

static void end_start(dv_vm *vm, dv_entry *entry) {
    dv_cell *start = entry->start;
    entry->start = NULL;
    if (!start) return;
    const uint32_t op = dv_op_of(vm, start->h);
    if (op < DV_OP_COUNT && dv_op_infos[op].saw == DV_SAW_ENTRY)
        start->h = dv_handler_of(vm, start, entry->start_op);
}

/* Loops begin in no region of this back edge any more. */
static void end_starts(dv_vm *vm, dv_entry *entry) {
    for (; entry; entry = entry->next) end_start(vm, entry);
}

/* If the loop's iterator is made by INCA code right before its head, the region is entered there,
 * too. */
static void make_start(dv_vm *vm, dv_thread *thread, dv_entry *entry) {
    const dv_code *code = thread->code;
    dv_cell *head = (dv_cell *)entry->back[2].target;
    uint32_t pc = dv_thread_pc(thread, head);
    if ((code->words[pc] & 0xFF) != DV_OP_FOR_ITER || back_of(head) != entry->back || pc < 2)
        return;
    dv_cell *maker = thread->cells + thread->cell_at[pc - 1];
    dv_cell *call = thread->cells + thread->cell_at[pc - 2];
    uint32_t op = dv_op_of(vm, maker->h);
    if (op >= DV_OP_COUNT || dv_op_infos[op].family != DV_OP_GET_ITER) return;
    const uint32_t called = dv_op_of(vm, call->h);
    if (called < DV_OP_COUNT && dv_op_infos[called].saw == DV_SAW_RANGE) {
        entry->start = call;
        entry->start_op = called;
        call->h = dv_handler_of(vm, call, DV_OP_CALL_RANGE_REGION);
    } else if (dv_op_infos[op].saw == DV_SAW_ITERABLE || dv_op_infos[op].saw == DV_SAW_SEQUENCE) {
        entry->start = maker;
        entry->start_op = op;
        maker->h = dv_handler_of(vm, maker, DV_OP_GET_ITER_REGION);
    }
}

/* Retiring
 * ------------------------------------------------------------------------------------------------
 */

/* The loop gets a region, or none any more. */
static void set_back_edge(dv_vm *vm, dv_cell *back, uint32_t op) {
    back->h = dv_handler_of(vm, back, op);
    back[1].site.wait = 0;
}

/* It is looked at again after so many rounds.  Many are not counted, which would cost more than the
 * look; they have gone by when the VM polls at its back edge, which it does at one in 65,536. */
static void await(dv_vm *vm, dv_cell *back, uint32_t rounds) {
    back->h =
        dv_handler_of(vm, back, rounds > PATIENCE ? DV_OP_JUMP_BACK_QUIET : DV_OP_JUMP_BACK_COUNT);
    back[1].site.wait = (uint16_t)(rounds > UINT16_MAX ? UINT16_MAX : rounds);
}

/* Hook: the VM polls. */
static void sampled(dv_vm *vm, const dv_cell *ip, int64_t back_edges) {
    if (dv_op_of(vm, ip->h) != DV_OP_JUMP_BACK_QUIET) return;
    dv_site *site = &((dv_cell *)ip)[1].site;
    if (site->wait > back_edges)
        site->wait -= (uint16_t)back_edges;
    else if (site->wait)
        await(vm, (dv_cell *)ip, 1); /* now */
}

static void tell(dv_vm *vm, dv_thread *thread, const dv_loop_event *event) {
    if (DV_UNLIKELY(vm->hooks.inspect.looped != NULL)) vm->hooks.inspect.looped(vm, thread, event);
}

/* Rounds until the loop of a region given up is analysed anew.  What the program changes once it
 * often changes again, so the loop must have executed enough then. */
static uint32_t rounds_until_again(const dv_region *region, dv_refusal why, uint32_t tries) {
    if (why == DV_REFUSED_SHORT) return (uint32_t)PATIENCE << tries;
    const uint32_t rounds = (uint32_t)DV_HOT_ITERATIONS << tries;
    const bool patient = why == DV_REFUSED_CHANGED && !region->hopes;
    return patient && rounds < PATIENCE ? PATIENCE : rounds;
}

/* The entry is no longer one of its back edge; false: that has another one, with which the loop may
 * begin, too. */
static bool leave_back_edge(dv_vm *vm, dv_entry *entry) {
    dv_cell *back = entry->back;
    dv_entry *other = back[3].p;
    if (other == entry) {
        other = back[3].p = entry->next;
    } else {
        dv_entry *at = other;
        while (at->next != entry) at = at->next;
        at->next = entry->next;
    }
    if (other && !other->start) {
        other->start = entry->start, other->start_op = entry->start_op;
        entry->start = NULL;
    }
    end_start(vm, entry);
    return !other;
}

void dv_region_retire(dv_vm *vm, dv_region *region, dv_refusal why) {
    if (region->retired) return;
    region->retired = true;
    vm->quiet.declared = NULL; /* what goes on behind the call must look whether it is */
    forget_exit(vm, region);
    region->active++; /* what this breaks may invalidate the region itself */
    if (region->gate) {
        if (why) tell(vm, region->thread, &(dv_loop_event){.back = 0, .why = why});
        dv_function_retire(vm, region);
    }
    for (uint32_t i = 0; i < region->entry_count; i++) {
        dv_cell *back = region->entries[i].back;
        uint8_t *tries = &back[1].site.tries;
        const uint8_t more = why == DV_REFUSED_SHORT ? REFUSED : 1;
        *tries = *tries + more < REBUILDS ? *tries + more : REBUILDS;
        if (!leave_back_edge(vm, &region->entries[i])) continue;
        if (why)
            tell(vm, region->thread,
                 &(dv_loop_event){.back = dv_thread_pc(region->thread, back), .why = why});
        if (*tries < REBUILDS)
            await(vm, back, rounds_until_again(region, why, *tries));
        else
            set_back_edge(vm, back, DV_OP_JUMP_BACK_QUIET);
    }
    for (uint32_t i = 0; i < region->point_count; i++) /* all, before a cell is overwritten */
        if (region->points[i].resumes) dv_pair_part(vm, region, &region->points[i]);
    for (uint32_t i = 0; i < region->point_count; i++)
        if (region->points[i].resumes) {
            dv_cell *cell = &region->cells[region->points[i].cell];
            cell->h = dv_handler_of(vm, cell, DV_OP_R_RETIRED);
        }
    region->active--;
}

void dv_region_give_up(dv_vm *vm, dv_region *region, dv_refusal why) {
    dv_region_retire(vm, region, why);
    free_if_unused(vm, region);
}

void dv_region_invalidate(dv_vm *vm, dv_dependent *dependent) {
    dv_region *region = (dv_region *)dependent;
    dv_region_retire(vm, region, DV_REFUSED_CHANGED);
    if (region->active > 0)
        dv_region_pin(vm, region);
    else
        free_if_unused(vm, region);
}

/* Leaving
 * -------------------------------------------------------------------------------------------------
 */

typedef struct registers {
    int64_t r;
    double d;
} registers;

/* A boxed int may need memory; when there is none, MemoryError is what the program sees next. */
static dv_value box(dv_vm *vm, int64_t i) {
    if (dv_fits_int(i)) return dv_int(i);
    dv_value v = dv_int_from_int64(vm, i);
    return dv_is_empty(v) ? DV_NONE : v;
}

static dv_value box_char(dv_vm *vm, uint8_t c) {
    dv_value v = dv_str_char(vm, c);
    return dv_is_empty(v) ? DV_NONE : v;
}

static dv_value box_complex(dv_vm *vm, const dv_value *parts) {
    dv_value v = dv_complex_new(vm, dv_as_float(parts[0]), dv_as_float(parts[1]));
    return dv_is_empty(v) ? DV_NONE : v;
}

static dv_value leave_range(dv_vm *vm, dv_value *fp, const dv_exit_item *item) {
    dv_value *raw = &fp[item->from], home = fp[item->to];
    dv_range_iterator *iterator = dv_is_object(home)
                                      ? (dv_range_iterator *)dv_as_object(home)
                                      : dv_object_new(vm, sizeof *iterator, DV_T_RANGE_ITERATOR);
    if (!iterator) return DV_NONE;
    iterator->remaining = (int64_t)raw[0].bits;
    iterator->next = (int64_t)raw[1].bits;
    iterator->step = (int64_t)raw[2].bits;
    return dv_object_value(iterator);
}

/* The iterator of what is at home, which goes into it. */
static dv_value leave_walk(dv_vm *vm, dv_value *fp, const dv_exit_item *item) {
    const dv_value v = dv_walk_begin(vm, fp[item->to], (int64_t)fp[item->from].bits);
    return dv_is_empty(v) ? fp[item->to] : v;
}

/* What was raised is handled now; what was before. */
static dv_value handle(dv_vm *vm, dv_value *source) {
    const dv_value exception = dv_region_raised(vm, source), previous = vm->handled;
    vm->handled = exception;
    return previous;
}

/* What the item puts into its slot, but for an instance.  Inlined: short loops leave often. */
__attribute__((always_inline)) static inline dv_value
value_of(dv_vm *vm, dv_value *fp, const dv_exit_item *item, const registers *saved) {
    switch ((dv_exit_action)item->action) {
    case DV_EXIT_INT: return box(vm, (int64_t)fp[item->from].bits);
    case DV_EXIT_FLOAT: return fp[item->from];
    case DV_EXIT_BOOL: return dv_bool(fp[item->from].bits != 0);
    case DV_EXIT_CHAR: return box_char(vm, (uint8_t)fp[item->from].bits);
    case DV_EXIT_INT_R: return box(vm, saved->r);
    case DV_EXIT_FLOAT_D: return dv_float(saved->d);
    case DV_EXIT_BOOL_R: return dv_bool(saved->r != 0);
    case DV_EXIT_CHAR_R: return box_char(vm, (uint8_t)saved->r);
    case DV_EXIT_COMPLEX: return box_complex(vm, &fp[item->from]);
    case DV_EXIT_VALUE: return dv_retain(item->value);
    case DV_EXIT_VALUE_B: return item->value;
    case DV_EXIT_COPY: return dv_retain(fp[item->from]);
    case DV_EXIT_COPY_B: return fp[item->from];
    case DV_EXIT_COPY_FADED:
        return dv_same(fp[item->to], DV_FADED) ? dv_retain(fp[item->from]) : fp[item->to];
    case DV_EXIT_FUNCTION:
        return dv_retain(((const dv_method *)dv_as_object(fp[item->from]))->function);
    case DV_EXIT_RANGE: return leave_range(vm, fp, item);
    case DV_EXIT_WALK: return leave_walk(vm, fp, item);
    case DV_EXIT_HANDLED: return handle(vm, &fp[item->from]);
    case DV_EXIT_RAISED: return dv_region_raised(vm, &fp[item->from]);
    case DV_EXIT_CAUGHT: return dv_retain(vm->handled);
    case DV_EXIT_OTHER:
    case DV_EXIT_INSTANCE:
    case DV_EXIT_FADED: break;
    }
    return DV_NONE;
}

/* How many items belong together with this one. */
static uint32_t items_at(const dv_exit_item *item) {
    return item->action >= DV_EXIT_INSTANCE ? 1 + (uint32_t)item->from : 1;
}

/* An instance without attributes, with room for `count`; NULL: raised.  (Inlined, as what fills it:
 * functions that make what they return make little else.) */
__attribute__((always_inline)) static inline dv_instance *bare_instance(dv_vm *vm, dv_class *class_,
                                                                        uint32_t count) {
    dv_instance *self = dv_frame_instance(vm, class_, 1);
    if (self) {
        class_->header.references++;
    } else {
        dv_value v = dv_instance_new(vm, class_);
        if (dv_is_empty(v)) return NULL;
        self = (dv_instance *)dv_as_object(v);
    }
    for (uint32_t slot = self->inline_slots; slot < count; slot++)
        if (!dv_instance_room(vm, &self->header, slot)) {
            dv_release_object(vm, &self->header);
            return NULL;
        }
    return self;
}

/* Its attributes, objects with the counts of the region's slots; None where there was no memory for
 * a box, which is raised. */
__attribute__((always_inline)) static inline void
fill_instance(dv_vm *vm, dv_value *fp, const dv_exit_item *item, dv_instance *self) {
    for (uint32_t i = 0; i < (uint32_t)item->from; i++)
        *dv_instance_slot(self, i) = value_of(vm, fp, &item[1 + i], NULL);
}

static bool has_count_of_slot(const dv_exit_item *attribute) {
    return attribute->action == DV_EXIT_COPY_B;
}

/* For an exit: nobody looks at the region's slots any more. */
static dv_value make_instance(dv_vm *vm, dv_value *fp, const dv_exit_item *item) {
    const dv_shape *shape = dv_shape_at(vm, (uint32_t)dv_as_int(item->value));
    const uint32_t count = (uint32_t)item->from;
    dv_instance *self = bare_instance(vm, shape->class_, count);
    if (!self) {
        for (uint32_t i = 1; i <= count; i++)
            if (has_count_of_slot(&item[i])) dv_release(vm, fp[item[i].from]);
        return DV_NONE;
    }
    fill_instance(vm, fp, item, self);
    self->header.shape = shape->number;
    return dv_object_value(self);
}

/* Instances that are made together, or with tuples and lists. */
typedef struct group {
    const dv_exit_item *items[DV_EXIT_INSTANCES];
    dv_object *made[DV_EXIT_INSTANCES];
    uint32_t counts[DV_EXIT_INSTANCES];
    uint32_t count;
} group;

/* A dict with the keys that the items have. */
static dv_object *bare_dict(dv_vm *vm, const dv_exit_item *item, uint32_t count) {
    dv_value dict = dv_dict_new(vm);
    for (uint32_t i = 0; i < count && !dv_is_empty(dict); i += 2) {
        if (dv_dict_set(vm, dict, item[1 + i].value, DV_NONE)) continue;
        dv_release(vm, dict);
        dict = DV_EMPTY;
    }
    return dv_is_empty(dict) ? NULL : dv_as_object(dict);
}

static dv_object *bare_function(dv_vm *vm, const dv_exit_item *item, uint32_t count) {
    const dv_value made = dv_make_function(vm, item[1].value, NULL, 0);
    if (dv_is_empty(made) || count == 1) return dv_is_empty(made) ? NULL : dv_as_object(made);
    dv_tuple *cells = dv_tuple_alloc(vm, count - 1);
    for (uint32_t i = 0; cells && i < count - 1; i++) cells->items[i] = DV_NONE;
    if (cells) {
        dv_as_function(made)->closure = dv_object_value(cells);
        return dv_as_object(made);
    }
    dv_release(vm, made);
    return NULL;
}

static dv_object *bare_built(dv_vm *vm, const dv_exit_item *item, uint32_t count) {
    if (dv_built_type(item) == DV_T_DICT) return bare_dict(vm, item, count);
    if (dv_built_type(item) == DV_T_FUNCTION) return bare_function(vm, item, count);
    if (dv_built_type(item) == DV_T_CELL) {
        const dv_value cell = dv_variable_new(vm, DV_NONE);
        return dv_is_empty(cell) ? NULL : dv_as_object(cell);
    }
    if (dv_built_type(item) == DV_T_LIST) {
        dv_value nones[DV_BUILT_ITEMS];
        for (uint32_t i = 0; i < count; i++) nones[i] = DV_NONE;
        const dv_value list = dv_list_take(vm, nones, count);
        return dv_is_empty(list) ? NULL : dv_as_object(list);
    }
    if (dv_built_type(item) == DV_T_METHOD) {
        const dv_value method = dv_method_new(vm, DV_NONE, DV_NONE);
        return dv_is_empty(method) ? NULL : dv_as_object(method);
    }
    dv_tuple *tuple = dv_tuple_alloc(vm, count);
    for (uint32_t i = 0; tuple && i < count; i++) tuple->items[i] = DV_NONE;
    return tuple ? &tuple->header : NULL;
}

/* Is it a tuple of a class of dl? */
static bool is_named(const dv_exit_item *item) {
    return !dv_is_built(item) && (uint32_t)dv_as_int(item->value) >> DV_LAYOUT_SHIFT == DV_T_TUPLE;
}

static dv_object *bare_named(dv_vm *vm, dv_class *class_, uint32_t count) {
    dv_value nones[DV_BUILT_ITEMS];
    for (uint32_t i = 0; i < count; i++) nones[i] = DV_NONE;
    const dv_value tuple = dv_tuple_take_for(vm, class_, nones, count);
    return dv_is_empty(tuple) ? NULL : dv_as_object(tuple);
}

/* What the item describes, without attributes, or with items that are None; how many it is to have.
 * NULL: raised. */
static dv_object *bare_object(dv_vm *vm, const dv_exit_item *item, uint32_t *count) {
    if (dv_is_built(item)) return bare_built(vm, item, *count = dv_built_count(item));
    const dv_shape *shape = dv_shape_at(vm, (uint32_t)dv_as_int(item->value));
    if (is_named(item)) return bare_named(vm, shape->class_, *count = dv_named_count(item));
    dv_instance *self = bare_instance(vm, shape->class_, *count = shape->count);
    return self ? &self->header : NULL;
}

static dv_value *slot_of(const group *g, uint32_t k, uint32_t i) {
    if (is_named(g->items[k])) return &((dv_tuple *)g->made[k])->items[i];
    if (!dv_is_built(g->items[k])) return dv_instance_slot((dv_instance *)g->made[k], i);
    dv_method *method = (dv_method *)g->made[k];
    switch (dv_built_type(g->items[k])) {
    case DV_T_METHOD: return i == 0 ? &method->self : &method->function;
    case DV_T_LIST: return &((dv_list *)g->made[k])->items[i];
    case DV_T_DICT: return &((dv_dict *)g->made[k])->entries[i / 2].value;
    case DV_T_CELL: return &((dv_variable *)g->made[k])->value;
    case DV_T_FUNCTION: return &dv_as_tuple(((dv_function *)g->made[k])->closure)->items[i - 1];
    default: return &((dv_tuple *)g->made[k])->items[i];
    }
}

/* Has it been there from the beginning: a key, or the code of a function? */
static bool is_fixed(const group *g, uint32_t k, uint32_t i) {
    if (!dv_is_built(g->items[k])) return false;
    const uint32_t type = dv_built_type(g->items[k]);
    return (type == DV_T_DICT && i % 2 == 0) || (type == DV_T_FUNCTION && i == 0);
}

/* None has attributes yet; false: raised, and none is made. */
static bool make_bare(dv_vm *vm, const dv_exit_item *item, group *g) {
    const dv_exit_item *end = item + 1 + item->from;
    for (g->count = 0; item < end; item += 1 + g->counts[g->count++]) {
        g->items[g->count] = item;
        g->made[g->count] = bare_object(vm, item, &g->counts[g->count]);
        if (g->made[g->count]) continue;
        while (g->count > 0) dv_release_object(vm, g->made[--g->count]);
        return false;
    }
    return true;
}

/* As fill_instance. */
static void fill_group(dv_vm *vm, dv_value *fp, const group *g) {
    for (uint32_t k = 0; k < g->count; k++)
        for (uint32_t i = 0; i < g->counts[k]; i++) {
            const dv_exit_item *item = &g->items[k][1 + i];
            if (is_fixed(g, k, i)) continue;
            const bool other = item->action == DV_EXIT_OTHER;
            *slot_of(g, k, i) = other ? dv_retain(dv_object_value(g->made[item->from]))
                                      : value_of(vm, fp, item, NULL);
        }
}

/* They are what they are to be, where they belong. */
static void finish_group(dv_value *fp, const group *g) {
    for (uint32_t k = 0; k < g->count; k++) {
        if (!dv_is_built(g->items[k])) g->made[k]->shape = (uint32_t)dv_as_int(g->items[k]->value);
        if (g->items[k]->to >= 0)
            fp[g->items[k]->to] = dv_object_value(g->made[k]);
        else
            g->made[k]->references--; /* others have it */
    }
}

static void __attribute__((noinline))
leave_group(dv_vm *vm, dv_value *fp, const dv_exit_item *item) {
    group g;
    if (make_bare(vm, item, &g)) {
        fill_group(vm, fp, &g);
        finish_group(fp, &g);
        return;
    }
    for (const dv_exit_item *i = item, *end = item + 1 + item->from; i < end; i++) {
        if (i->action >= DV_EXIT_INSTANCE && i->to >= 0) fp[i->to] = DV_NONE;
        if (i->action < DV_EXIT_INSTANCE && has_count_of_slot(i)) dv_release(vm, fp[i->from]);
    }
}

static bool __attribute__((noinline))
make_group(dv_vm *vm, dv_value *fp, const dv_exit_item *item) {
    group g;
    if (!make_bare(vm, item, &g)) return false;
    fill_group(vm, fp, &g);
    if (dv_is_empty(vm->error)) {
        finish_group(fp, &g);
        return true;
    }
    for (uint32_t k = 0; k < g.count; k++) /* as below */
        for (uint32_t i = 0; i < g.counts[k]; i++) {
            if (is_fixed(&g, k, i)) continue;
            if (!has_count_of_slot(&g.items[k][1 + i])) dv_release(vm, *slot_of(&g, k, i));
            *slot_of(&g, k, i) = DV_NONE;
        }
    while (g.count > 0) dv_release_object(vm, g.made[--g.count]);
    return false;
}

/* Is there nothing to be made, because the local has an object? */
static bool is_there(const dv_value *fp, const dv_exit_item *item) {
    return item->action == DV_EXIT_FADED && !dv_same(fp[item->to], DV_FADED);
}

static inline void leave_instance(dv_vm *vm, dv_value *fp, const dv_exit_item *item) {
    if (is_there(fp, item)) return;
    if (DV_UNLIKELY(item->nests))
        leave_group(vm, fp, item);
    else
        fp[item->to] = make_instance(vm, fp, item);
}

static bool __attribute__((noinline)) make_one(dv_vm *vm, dv_value *fp, const dv_exit_item *made) {
    const dv_shape *shape = dv_shape_at(vm, (uint32_t)dv_as_int(made->value));
    const uint32_t count = (uint32_t)made->from;
    dv_instance *self = bare_instance(vm, shape->class_, count);
    if (!self) return false;
    fill_instance(vm, fp, made, self);
    if (dv_is_empty(vm->error)) {
        self->header.shape = shape->number;
        fp[made->to] = dv_object_value(self);
        return true;
    }
    /* The exit makes it anew: objects stay the region's. */
    for (uint32_t i = 0; i < count; i++)
        if (!has_count_of_slot(&made[1 + i])) dv_release(vm, *dv_instance_slot(self, i));
    dv_release_object(vm, &self->header);
    return false;
}

/* (Two functions: what groups need on the stack, one alone does not.) */
bool dv_region_make(dv_vm *vm, dv_value *fp, const void *item) {
    const dv_exit_item *made = item;
    return DV_UNLIKELY(made->nests) ? make_group(vm, fp, made) : make_one(vm, fp, made);
}

/* Does nothing happen when attribute i of one that dies goes: a number, a str, or what somebody
 * else has, too? */
static bool goes_in_silence(const dv_instance *dying, uint32_t i, uint32_t count) {
    const dv_value v = dying->slots[i];
    if (!dv_is_object(v) || dv_as_object(v)->shape <= DV_T_STR) return true;
    uint32_t own = 0;
    for (uint32_t k = 0; k < count; k++) own += dv_same(dying->slots[k], v);
    return dv_as_object(v)->references > own;
}

static inline bool may_renew(const dv_vm *vm, const dv_exit_item *made, dv_value dying) {
    if (!dv_is_object(dying) || dv_as_object(dying)->references != 1 ||
        dv_as_object(dying)->shape != (uint32_t)dv_as_int(made->value) || vm->collector.ending)
        return false;
    const dv_instance *instance = (const dv_instance *)dv_as_object(dying);
    const uint32_t count = (uint32_t)made->from;
    bool may = !instance->overflow && !instance->ending;
    for (uint32_t i = 0; i < count && may; i++) may = goes_in_silence(instance, i, count);
    return may;
}

bool dv_region_may_renew(const dv_vm *vm, const void *item, dv_value dying) {
    return may_renew(vm, item, dying);
}

/* An attribute of an instance: a double, mostly. */
static inline dv_value attribute_of(dv_vm *vm, dv_value *fp, const dv_exit_item *item) {
    if (DV_LIKELY(item->action == DV_EXIT_FLOAT)) return fp[item->from];
    return value_of(vm, fp, item, NULL);
}

bool dv_region_renew(dv_vm *vm, dv_value *fp, const void *item, dv_value dying) {
    const dv_exit_item *made = item;
    const uint32_t count = (uint32_t)made->from;
    if (!may_renew(vm, made, dying)) return make_one(vm, fp, made);
    dv_value values[DV_BUILT_ITEMS];
    for (uint32_t i = 0; i < count; i++) values[i] = attribute_of(vm, fp, &made[1 + i]);
    if (DV_UNLIKELY(!dv_is_empty(vm->error))) { /* as in make_one */
        for (uint32_t i = 0; i < count; i++)
            if (!has_count_of_slot(&made[1 + i])) dv_release(vm, values[i]);
        return false;
    }
    dv_instance *instance = (dv_instance *)dv_as_object(dying);
    for (uint32_t i = 0; i < count; i++) {
        const dv_value old = instance->slots[i];
        instance->slots[i] = values[i];
        if (DV_UNLIKELY(dv_is_object(old))) dv_release(vm, old);
    }
    instance->serial = DV_UNLIKELY(vm->finalisers) ? ++vm->collector.serial : 0;
    fp[made->to] = dv_retain(dying);
    return true;
}

/* The safepoints' counter goes down by one in each round, also of loops in what the region calls.
 * Whoever sets it anew makes the sum one that no rounds make, mostly, or at worst a region is given
 * up that paid.  One that pays is not looked at any more: counting
 * costs, too. */
static void judge_entries(dv_vm *vm, dv_region *region) {
    const int64_t least = region->least_rounds, rounds = region->rounds;
    region->rounds = region->entries_counted = 0;
    if (rounds < least) dv_region_retire(vm, region, DV_REFUSED_SHORT);
    if (rounds >= least) region->least_rounds = 0;
}

/* An exception ends a round: perhaps many do from now on.  `inside`: the region has not been left.
 */
static void judge_again(const dv_vm *vm, dv_region *region, bool inside) {
    if (region->least_rounds) return;
    region->least_rounds = region->pays_from;
    region->entries_counted = 0;
    region->rounds = inside ? -dv_work_rounds(vm) : 0;
}

static uint32_t *holders_of(const dv_held *held, const dv_value *fp) {
    return held->cell ? &held->cell->holders : &dv_as_variable(fp[held->local])->holders;
}

static inline void count_leaving(dv_vm *vm, dv_region *region, const dv_value *fp) {
    region->active--;
    for (uint32_t i = 0; i < region->held_count; i++) --*holders_of(&region->held[i], fp);
    if (!region->least_rounds) return;
    region->rounds += dv_work_rounds(vm);
    if (region->active > 0) return;
    if (region->entered == 1) /* the loop became hot in it: others may well be shorter */
        region->rounds = region->entries_counted = 0;
    else if (region->entries_counted >= DV_REGION_WINDOW)
        judge_entries(vm, region);
}

static inline void count_entering(dv_vm *vm, dv_region *region, const dv_value *fp) {
    for (uint32_t i = 0; i < region->held_count; i++) ++*holders_of(&region->held[i], fp);
    region->active++;
    region->entered++;
    if (region->least_rounds) region->entries_counted++, region->rounds -= dv_work_rounds(vm);
}

/* The generator that the loop walks
 * ------------------------------------------------------------------------------------------------
 */

/* So many slots its frame takes while it waits, from the iterator's on. */
static uint32_t slots_of(const dv_producer *producer) {
    return (uint32_t)(producer->stack + producer->saved - (producer->base - 3));
}

/* Its frame comes to where the region has it, and what the loop's body has on the operand stack
 * above that; false: it is not as the region expects, and nothing has changed.  It does not know
 * yet. */
static bool unfold(dv_vm *vm, const dv_region *region, const dv_entry *entry, dv_value *fp) {
    const dv_producer *producer = &region->producer;
    dv_value *base = fp + producer->base, *above = base - 3;
    if (!dv_is_generator(base[-4])) return false;
    const dv_generator *g = dv_as_generator(base[-4]);
    const uint32_t locals = producer->thread->local_count;
    const uint32_t twins = producer->twin >= 0 && dv_same(fp[producer->twin], base[-4]);
    if (!dv_producer_is_ready(vm, g, producer->thread, producer->at, 1 + twins)) return false;
    memmove(above + slots_of(producer), above, entry->above * sizeof *above);
    memcpy(base, g->slots, locals * sizeof *base);
    memcpy(fp + producer->stack, g->slots + locals, producer->saved * sizeof *base);
    return true;
}

/* What is above goes back, where so many entries are. */
static void fold(const dv_region *region, dv_value *fp, uint32_t count) {
    dv_value *above = fp + region->producer.base - 3;
    memmove(above, above + slots_of(&region->producer), count * sizeof *above);
}

/* An exit from the loop's body: the generator waits again. */
static void __attribute__((noinline))
put_back(const dv_region *region, const dv_exit *exit, dv_value *fp) {
    const dv_producer *producer = &region->producer;
    const dv_value *base = fp + producer->base;
    dv_generator *g = dv_as_generator(base[-4]);
    const uint32_t locals = producer->thread->local_count;
    memcpy(g->slots, base, locals * sizeof *base);
    memcpy(g->slots + locals, fp + producer->stack, producer->saved * sizeof *base);
    g->saved = producer->saved;
    g->at = producer->at;
    g->next = producer->at + dv_op_infos[DV_OP_YIELD].length;
    g->state = DV_GENERATOR_SUSPENDED;
    fold(region, fp, (uint32_t)(exit->top - (producer->base - 3)));
}

/* An exit from its own code: it runs, for the FOR_ITER of the frame at fp. */
static void run_on(dv_vm *vm, const dv_producer *producer, dv_value *fp) {
    dv_value *base = fp + producer->base;
    dv_generator *g = dv_as_generator(base[-4]);
    base[-3] = g->function;
    g->resumer = DV_RESUMER_FOR;
    g->end = producer->end;
    dv_generator_runs(vm, g, base);
}

/* The instruction has seen what it has put on the operand stack. */
static void learn(const dv_exit *exit, const dv_value *fp) {
    dv_cell *cell = exit->thread->cells + exit->thread->cell_at[exit->learns];
    cell[1].site.seen |= dv_seen(fp[exit->top - 1]);
}

/* Does what the exit says: afterwards the frames are as INCA code expects them at the exit's pc.
 * The result is the cell there; vm->fp is the innermost frame. */
static const dv_cell *take_exit(dv_vm *vm, dv_region *region, dv_exit *exit, dv_value *fp,
                                const registers *saved, dv_leaving how) {
    if (DV_UNLIKELY(vm->hooks.inspect.left != NULL)) vm->hooks.inspect.left(vm, exit, fp, (int)how);
    const dv_exit_item *item = &region->items[exit->first_item];
    for (const dv_exit_item *end = item + exit->item_count; item < end; item += items_at(item))
        if (DV_UNLIKELY(item->action >= DV_EXIT_INSTANCE))
            leave_instance(vm, fp, item);
        else
            fp[item->to] = value_of(vm, fp, item, saved);
    if (DV_UNLIKELY(exit->folds)) put_back(region, exit, fp);
    dv_value *caller = fp;
    for (uint32_t i = exit->frame_count; i-- > 0;) { /* outermost first */
        const dv_exit_frame *frame = &region->frames[exit->first_frame + i];
        dv_value *base = fp + frame->base;
        if (DV_UNLIKELY(frame->produces)) run_on(vm, &region->producer, fp);
        base[-2] = dv_raw_pointer(frame->link);
        base[-1] = dv_raw_pointer(caller);
        vm->calls_left -= frame->calls;
        caller = base;
    }
    vm->fp = caller;
    const dv_cell *cell = exit->thread->cells + exit->thread->cell_at[exit->pc];
    if (exit->counts && !region->retired) {
        vm->failed_exit = exit;
        if (++exit->taken >= EXITS_ALLOWED) {
            if (exit->learns != DV_NO_PC) learn(exit, fp);
            dv_site_reconsider(vm, (dv_thread *)exit->thread, (dv_cell *)cell);
            dv_region_retire(vm, region, DV_REFUSED_GUARDS);
        }
    }
    vm->ip = cell;
    dv_region_unpin(vm, region, fp);
    count_leaving(vm, region, fp);
    free_if_unused(vm, region);
    return cell;
}

static dv_region *running_region(const dv_value *fp, const dv_cell *cell) {
    return region_of(dv_frame_thread(fp), cell);
}

const dv_cell *dv_region_exit(DV_HANDLER_PARAMETERS) {
    (void)sp;
    dv_exit *exit = ip[2].p;
    const registers saved = {r, d};
    vm->ip = ip, vm->fp = fp;
    dv_value *top = fp + exit->top;
    vm->sp = top + exit->folds;
    const dv_cell *next = take_exit(vm, exit->region, exit, fp, &saved, DV_LEAVES_AT_EXIT);
    vm->sp = top;
    if (dv_is_empty(vm->error)) return next;
    return dv_slow_raise(next, vm->sp, vm->fp, vm, 0, 0);
}

/* The point at this cell, or for exceptions the last one before it. */
static const dv_point *find_point(const dv_region *region, uint32_t cell, bool raises) {
    const dv_point *found = NULL;
    for (uint32_t i = 0; i < region->point_count && region->points[i].cell <= cell; i++) {
        const dv_point *point = &region->points[i];
        if (raises ? point->raises : point->resumes && point->cell == cell) found = point;
    }
    return found;
}

const dv_cell *dv_region_retired(DV_HANDLER_PARAMETERS) {
    (void)sp;
    dv_region *region = running_region(fp, ip);
    const dv_point *point = find_point(region, (uint32_t)(ip - region->cells), false);
    dv_exit *exit = &region->exits[point->exit];
    const registers saved = {r, d};
    dv_value *top = fp + exit->top;
    vm->ip = ip, vm->sp = top + exit->folds, vm->fp = fp;
    const dv_cell *next = take_exit(vm, region, exit, fp, &saved, DV_LEAVES_AT_SAFEPOINT);
    vm->sp = top;
    if (dv_is_empty(vm->error)) return next;
    return dv_slow_raise(next, vm->sp, vm->fp, vm, 0, 0);
}

static const dv_exit *exit_at(const dv_thread *thread, const dv_cell *ip,
                              const dv_region **region) {
    *region = region_of(thread, ip);
    if (!*region) return NULL;
    const dv_point *point = find_point(*region, (uint32_t)(ip - (*region)->cells), false);
    return point ? &(*region)->exits[point->exit] : NULL;
}

uint32_t dv_region_pc(dv_thread **thread, const dv_cell *ip, uint32_t *base) {
    const dv_region *region;
    const dv_exit *exit = exit_at(*thread, ip, &region);
    if (!exit) return DV_NO_PC;
    *thread = (dv_thread *)exit->thread;
    const int16_t *inner = exit->frame_count ? &region->frames[exit->first_frame].base : NULL;
    *base = inner ? (uint32_t)(*inner + exit->folds) : 0;
    return exit->pc;
}

uint32_t dv_region_inlined(const dv_thread **thread, const dv_cell *ip, uint32_t out) {
    const dv_region *region = region_of(*thread, ip);
    const dv_point *point =
        region ? find_point(region, (uint32_t)(ip - region->cells), true) : NULL;
    const dv_exit *exit = point ? &region->exits[point->exit] : NULL;
    if (!exit || out > exit->frame_count) return DV_NO_PC;
    const dv_exit_frame *inner = out ? &region->frames[exit->first_frame + out - 1] : NULL;
    *thread = inner ? inner->caller : exit->thread;
    return inner ? inner->pc : exit->pc;
}

dv_peek dv_region_peek(const dv_thread *thread, const dv_cell *ip, const dv_value *fp,
                       uint32_t slot) {
    const dv_region *region;
    const dv_exit *exit = exit_at(thread, ip, &region);
    for (uint32_t i = 0; exit && i < exit->item_count; i++) {
        const dv_exit_item *item = &region->items[exit->first_item + i];
        if (item->to != (int16_t)slot) continue;
        if (item->action == DV_EXIT_FADED && dv_same(fp[slot], DV_FADED))
            return (dv_peek){.made = item, .value = DV_NONE};
        if (item->action == DV_EXIT_INT)
            return (dv_peek){.is_raw_int = true, .integer = (int64_t)fp[item->from].bits};
        if (item->action == DV_EXIT_CHAR)
            return (dv_peek){.is_raw_char = true, .integer = (uint8_t)fp[item->from].bits};
        if (item->action == DV_EXIT_VALUE || item->action == DV_EXIT_VALUE_B)
            return (dv_peek){.value = item->value};
        if (item->action == DV_EXIT_FLOAT) return (dv_peek){.value = fp[item->from]};
        if (item->action == DV_EXIT_COMPLEX)
            return (dv_peek){.is_raw_complex = true,
                             .real = dv_as_float(fp[item->from]),
                             .imag = dv_as_float(fp[item->from + 1])};
        if (item->action == DV_EXIT_BOOL)
            return (dv_peek){.value = dv_bool(fp[item->from].bits != 0)};
    }
    return (dv_peek){.value = dv_same(fp[slot], DV_FADED) ? DV_NONE : fp[slot]};
}

/* An exception was raised in INCA code.  If a region was left there just before that, the
 * instruction would have raised it in any region: the exit does not count, if rounds do. */
static const dv_cell *excuse(dv_vm *vm, const dv_cell *ip) {
    dv_exit *exit = vm->failed_exit;
    vm->failed_exit = NULL;
    if (!exit || exit->thread->cells + exit->thread->cell_at[exit->pc] != ip) return ip;
    if (exit->taken > 0 && exit->region->pays_from) exit->taken--;
    judge_again(vm, exit->region, false);
    return ip;
}

/* Hook of the unwinder: an exception was raised at ip. */
static const dv_cell *leave(dv_vm *vm, const dv_cell *ip) {
    dv_value *fp = vm->fp;
    dv_region *region = running_region(fp, ip);
    if (!region) return excuse(vm, ip);
    const dv_point *point = find_point(region, (uint32_t)(ip - region->cells), true);
    dv_exit *exit = &region->exits[point->exit];
    const registers saved = {vm->r, vm->d};
    judge_again(vm, region, true);
    if (!point->keeps_sp) vm->sp = fp + exit->top + exit->folds;
    dv_value *sp = vm->sp - exit->folds;
    const dv_cell *next = take_exit(vm, region, exit, fp, &saved, DV_LEAVES_RAISING);
    dv_error_clear(vm); /* the exception on its way comes before a MemoryError of its exit */
    vm->sp = sp;
    return next;
}

/* Entering
 * ------------------------------------------------------------------------------------------------
 */

static bool unbox_complex(dv_value *raw, dv_value v) {
    if (!dv_is_shape(v, DV_T_COMPLEX)) return false;
    raw[0] = dv_float(dv_as_complex(v)->real);
    raw[1] = dv_float(dv_as_complex(v)->imag);
    return true;
}

/* Of a dead local the char does not matter. */
static bool unbox_char(dv_value *raw, dv_value v, bool dead) {
    if (!dv_is_shape(v, DV_T_STR)) return false;
    const dv_str *s = dv_as_str(v);
    raw->bits = (uint8_t)s->data[0];
    return dead || (s->length == 1 && s->kind == 1);
}

static void unbox_range(dv_value *raw, const dv_range_iterator *iterator) {
    raw[0].bits = (uint64_t)iterator->remaining;
    raw[1].bits = (uint64_t)iterator->next;
    raw[2].bits = (uint64_t)iterator->step;
}

/* Attribute i of the object, which has nothing but those; EMPTY: it has more, or other ones. */
static dv_value plain_attribute(dv_object *object, const dv_entry_item *item) {
    const dv_value v = dv_object_value(object);
    if (dv_is_plain_instance(v)) {
        const dv_instance *instance = (const dv_instance *)object;
        return instance->overflow ? DV_EMPTY : instance->slots[item->attribute]; /* weak.h */
    }
    const dv_tuple *tuple = (const dv_tuple *)object;
    if (tuple->count != item->items) return DV_EMPTY;
    const bool bare = !dv_is_subclass_instance(v) ||
                      (!dv_attributes_of(object)->values && !dv_attributes_of(object)->ending);
    return bare ? tuple->items[item->attribute] : DV_EMPTY;
}

static bool unbox_attribute(const dv_value *fp, dv_value *raw, dv_value v,
                            const dv_entry_item *item) {
    *raw = DV_NONE;
    if (!item->shape) return true;
    if (!dv_is_object(v) || dv_as_object(v)->shape != item->shape) return false;
    dv_object *object = dv_as_object(v);
    const bool twin = item->twin >= 0 && dv_same(fp[item->twin], v);
    if (object->references != 1u + twin) return false;
    v = plain_attribute(object, item);
    *raw = v;
    if (item->of == DV_K_FLOAT) return dv_is_float(v);
    raw->bits = item->of == DV_K_INT ? (uint64_t)dv_as_int(v) : v.bits == DV_TRUE.bits;
    return item->of == DV_K_INT ? dv_is_int(v) : dv_is_bool(v);
}

/* An int that is an object. */
static bool unbox_word(dv_value *raw, dv_value v, const dv_entry_item *item, bool *takes) {
    int64_t word;
    if (!item->wide || !dv_is_object(v) || !dv_int_to_word(v, &word)) return false;
    raw->bits = (uint64_t)word;
    *takes |= item->taken;
    return true;
}

/* Nobody else has the iterator; what it walks takes its place (take_objects). */
static bool unbox_walk(dv_value *raw, dv_value v, bool *takes) {
    if (!dv_walk_is_own(v)) return false;
    raw->bits = (uint64_t)dv_walk_index(v);
    return *takes = true;
}

/* Puts what the item names where the region has it; false: it is not what the region expects.  What
 * is in shadow slots then does not matter. */
static inline bool enter_item(dv_value *fp, const dv_entry_item *item, bool *takes) {
    const dv_value v = fp[item->home];
    dv_value *raw = &fp[item->raw];
    switch ((dv_kind)item->kind) {
    case DV_K_INT:
        raw->bits = (uint64_t)dv_as_int(v);
        return DV_LIKELY(dv_is_int(v)) || unbox_word(raw, v, item, takes);
    case DV_K_FLOAT: *raw = v; return dv_is_float(v);
    case DV_K_BOOL: raw->bits = v.bits == DV_TRUE.bits; return dv_is_bool(v);
    case DV_K_CHAR: return unbox_char(raw, v, item->dead);
    case DV_K_COMPLEX: return unbox_complex(raw, v);
    case DV_K_ANY: return !dv_is_empty(v);
    case DV_K_NOTHING: return true;
    case DV_K_LIST: return dv_is_shape(v, DV_T_LIST);
    case DV_K_VIRTUAL: return unbox_attribute(fp, raw, v, item);
    case DV_K_RANGE:
        if (!dv_is_shape(v, DV_T_RANGE_ITERATOR)) return false;
        if (dv_as_object(v)->references != 1u + (item->twin >= 0 && dv_same(fp[item->twin], v)))
            return false;
        unbox_range(raw, (const dv_range_iterator *)dv_as_object(v));
        return true;
    case DV_K_WALK: return unbox_walk(raw, v, takes);
    default: return dv_kind_is_container(item->kind) && dv_kind_of_container(v) == item->kind;
    }
}

/* Are its first item, if that is a number, and so perhaps all, of the other kind of numbers? */
static bool begins_otherwise(dv_value v, uint16_t kind) {
    int64_t count;
    const dv_value *items = dv_items_within(v, &count);
    const uint16_t first = count ? dv_seen(items[0]) : kind;
    return first != kind && first & (DV_SEEN_INT | DV_SEEN_FLOAT);
}

/* A dead local may hold anything that is not counted: region and exits store to it before they look
 * at it. */
static bool unbox_entry(const dv_region *region, const dv_entry *entry, dv_value *fp, bool *takes) {
    const dv_entry_item *item = &region->entry_items[entry->first_item];
    for (const dv_entry_item *end = item + entry->item_count; item < end; item++) {
        if ((!item->dead || dv_is_object(fp[item->home])) && !enter_item(fp, item, takes))
            return false;
        if (item->first && begins_otherwise(fp[item->home], item->first)) return false;
    }
    return true;
}

/* A variable changed while it was held. */
static void note_disturbed(dv_region *region, dv_global_cell *cell) {
    uint8_t *often = &region->thread->disturbed;
    if (cell)
        cell->disturbed++;
    else if (*often < UINT8_MAX)
        ++*often;
}

/* What the region holds comes into its slots; false: a value is not what the region
 * expects, or is held by somebody who would not see what is stored to it. */
static bool hold(dv_region *region, dv_value *fp) {
    for (uint32_t i = 0; i < region->held_count; i++) {
        const dv_held *held = &region->held[i];
        const dv_value v = held->cell ? held->cell->value : dv_as_variable(fp[held->local])->value;
        if (*holders_of(held, fp) > 0) {
            note_disturbed(region, held->cell);
            return false;
        }
        switch ((dv_kind)held->kind) {
        case DV_K_INT:
            fp[held->slot].bits = (uint64_t)dv_as_int(v);
            if (!dv_is_int(v)) return false;
            break;
        case DV_K_FLOAT:
            fp[held->slot] = v;
            if (!dv_is_float(v)) return false;
            break;
        default:
            fp[held->slot].bits = v.bits == DV_TRUE.bits;
            if (!dv_is_bool(v)) return false;
            break;
        }
    }
    return true;
}

/* Hook: somebody else changes a global that regions hold, or a shared variable (NULL), and which
 * that is they do not know.  They are given up, and who is in them leaves. */
static void disturbed(dv_vm *vm, dv_global_cell *cell) {
    for (dv_thread *thread = vm->codes; thread; thread = thread->next)
        for (dv_region *region = thread->regions, *next; region; region = next) {
            next = region->next;
            for (uint32_t i = 0; i < region->held_count; i++)
                if (region->held[i].cell == cell && region->active > 0 && !region->retired) {
                    note_disturbed(region, cell);
                    dv_region_invalidate(vm, &region->dependent);
                }
        }
}

/* Complex numbers, chars and ints that the region has unboxed and will store to, and iterators. */
static void take_objects(dv_vm *vm, const dv_region *region, const dv_entry *entry, dv_value *fp) {
    const dv_entry_item *item = &region->entry_items[entry->first_item];
    for (const dv_entry_item *end = item + entry->item_count; item < end; item++) {
        if (!item->taken) continue;
        const dv_value v = fp[item->home];
        fp[item->home] = item->kind == DV_K_WALK ? dv_walk_end(vm, v) : DV_NONE;
        if (item->kind != DV_K_WALK) dv_release(vm, v);
    }
}

static const dv_cell *enter(dv_vm *vm, dv_region *region, const dv_entry *entry, dv_value *fp,
                            bool takes) {
    if (DV_UNLIKELY(takes)) take_objects(vm, region, entry, fp);
    if (region->producer.thread)
        dv_as_generator(fp[region->producer.base - 4])->state = DV_GENERATOR_RUNNING;
    if (region->gate) fp[region->gate->return_slot].bits = 0; /* the result is to be boxed */
    count_entering(vm, region, fp);
    return region->cells + entry->cell;
}

/* Of the stack, and of the depth of recursion for what was analysed inline. */
static bool has_room(const dv_vm *vm, const dv_region *region, const dv_value *fp) {
    return fp + region->extent <= vm->stack_end && vm->calls_left >= region->inlined;
}

static const dv_cell *refuse(dv_vm *vm, dv_cell *back, dv_value *fp);

/* Of the regions of the loop, the latest first, the one that fits what the frame at fp holds, which
 * goes on there; NULL: none does. */
static const dv_cell *enter_one(dv_vm *vm, const dv_entry *entry, dv_value *fp) {
    for (; entry; entry = entry->next) {
        dv_region *region = entry->region;
        const bool produces = region->producer.thread;
        if (!has_room(vm, region, fp) || (produces && !unfold(vm, region, entry, fp))) continue;
        bool takes = entry->takes;
        if (unbox_entry(region, entry, fp, &takes) && hold(region, fp))
            return enter(vm, region, entry, fp, takes);
        if (produces) fold(region, fp, entry->above);
    }
    return NULL;
}

const dv_cell *dv_region_enter(DV_HANDLER_PARAMETERS) {
    (void)r, (void)d;
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    const dv_cell *entered = enter_one(vm, ip[3].p, fp);
    return entered ? entered : refuse(vm, (dv_cell *)ip, fp);
}

const dv_cell *dv_region_start(DV_HANDLER_PARAMETERS) {
    (void)r, (void)d;
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    dv_entry *entry = back_of(ip)[3].p;
    const dv_cell *entered = enter_one(vm, entry, fp);
    if (entered) {
        entry->start_failures = 0;
        return entered;
    }
    if (++entry->start_failures >= STARTS_ALLOWED) end_starts(vm, entry);
    return ip;
}

/* A loop is hot
 * --------------------------------------------------------------------------------------------- */

static bool was_seen_twice(dv_vm *vm, const dv_thread *thread, uint32_t pc) {
    const dv_cell *back = thread->cells + thread->cell_at[pc];
    uint32_t op = dv_op_of(vm, back->h);
    return op == DV_OP_JUMP_BACK_REGION ||
           (op == DV_OP_JUMP_BACK_COUNT &&
            (back[1].site.looked == POSTPONED || back[1].site.wait + 2u <= DV_HOT_ITERATIONS));
}

static uint32_t words_at(const dv_code *code, uint32_t pc) {
    uint32_t n = dv_op_infos[code->words[pc] & 0xFF].operand_count;
    return n > 1 ? n : 1;
}

/* Too little of a loop's work could be typed: is a yield to blame? */
static dv_refusal blamed(const dv_code *in, uint32_t pc) {
    return in && dv_op_yields(in->words[pc] & 0xFF) ? DV_REFUSED_YIELD : DV_REFUSED_BOXED;
}

static bool has_region(dv_vm *vm, const dv_cell *back) {
    return dv_op_of(vm, back->h) == DV_OP_JUMP_BACK_REGION;
}

/* The latest region that the loop with this JUMP_BACK has. */
static dv_region *latest_of(const dv_cell *back) { return ((const dv_entry *)back[3].p)->region; }

/* The entry comes before those of other regions of the loop; smaller regions inside are replaced.
 */
static void join_back_edge(dv_vm *vm, dv_entry *entry) {
    dv_cell *back = entry->back;
    const dv_region *region = entry->region, *old = has_region(vm, back) ? latest_of(back) : NULL;
    if (old && (old->begin != region->begin || old->end != region->end)) {
        const uint8_t tries = back[1].site.tries;
        while (has_region(vm, back)) dv_region_give_up(vm, latest_of(back), DV_REFUSED_NOT);
        back[1].site.tries = tries;
    }
    entry->next = has_region(vm, back) ? back[3].p : NULL;
    back[3].p = entry;
}

void dv_region_install(dv_vm *vm, dv_region *region, uint32_t back) {
    dv_thread *thread = region->thread;
    region->next = thread->regions;
    thread->regions = region;
    for (uint32_t i = 0; i < region->entry_count; i++) {
        dv_entry *entry = &region->entries[i];
        join_back_edge(vm, entry);
        set_back_edge(vm, entry->back, DV_OP_JUMP_BACK_REGION);
        const bool walks = region->producer.thread && entry->above == 0;
        if (!walks) make_start(vm, thread, entry); /* no generator waits where it begins */
        const uint32_t pc = dv_thread_pc(thread, entry->back);
        tell(vm, thread,
             &(dv_loop_event){
                 .back = pc, .region = back, .removed = pc == back ? region->removed : 0});
    }
}

/* The loop that ends in `back` gets a region if it can; its loops then enter it. */
static bool try_loop(dv_vm *vm, dv_thread *thread, const dv_value *fp, uint32_t back,
                     uint32_t hot) {
    const dv_code *code = thread->code;
    uint32_t head = code->words[back] >> 8;
    dv_loop_event event = {.back = back};
    dv_region *region =
        code->written ? dv_region_from_text(vm, thread, back)
                      : dv_region_build(vm, thread, fp, head, back, code->words[hot] >> 8, &event);
    if (event.why == DV_REFUSED_BOXED) event.why = blamed(event.in, event.pc);
    if (region && !dv_region_admit(vm, region)) {
        dv_region_free(vm, region);
        region = NULL, event.why = DV_REFUSED_ROOM;
    }
    if (!region && code->written) return false;
    if (!region) {
        tell(vm, thread, &event);
        dv_cell *edge = thread->cells + thread->cell_at[back];
        if ((event.why == DV_REFUSED_SIZE || event.why == DV_REFUSED_FRAME) &&
            dv_op_of(vm, edge->h) == DV_OP_JUMP_BACK_COUNT)
            set_back_edge(vm, edge, DV_OP_JUMP_BACK_QUIET); /* for good */
        if ((event.why == DV_REFUSED_BOXED || event.why == DV_REFUSED_YIELD) && back != hot)
            edge[1].site.looked = LOOKED_AT;
        return false;
    }
    dv_region_install(vm, region, back);
    return true;
}

/* May it be analysed now?  What promises little is analysed when that no longer matters, and only
 * if at least half of it would be typed: most such loops get no region in the end.  A loop is
 * looked at once, however many loops in it become hot. */
static bool may_try(dv_vm *vm, dv_thread *thread, const dv_value *fp, uint32_t back, bool is_hot) {
    const uint32_t head = thread->code->words[back] >> 8;
    dv_site *site = &thread->cells[thread->cell_at[back] + 1].site;
    if (vm->stress.quicken_at_once || vm->nama == DV_NAMA_SEQUENCE || thread->code->written)
        return true;
    if (back - head >= DV_MOST_WORDS) return true; /* it is refused at once */
    if (site->looked == LOOKED_AT || (site->looked == POSTPONED && !is_hot)) return false;
    const dv_generator *producer = dv_producer_walked(vm, thread, fp, head);
    const dv_promise promise =
        dv_region_promise(vm, thread, head, back, producer ? dv_generator_thread(producer) : NULL);
    const uint64_t least = site->looked == POSTPONED ? promise.boxed : 2 * promise.boxed;
    if (promise.typed >= least) return true;
    if (!is_hot) site->looked = LOOKED_AT;
    tell(vm, thread,
         &(dv_loop_event){.back = back,
                          .why = blamed(thread->code, promise.pc),
                          .in = thread->code,
                          .pc = promise.pc});
    return false;
}

typedef struct attempt {
    uint32_t analysed; /* words */
    bool waits;        /* the hot loop itself has not been analysed */
} attempt;

/* Outermost loop first that was seen to go round twice, then further in, down to the one at `hot`.
 */
static bool try_loops(dv_vm *vm, dv_thread *thread, const dv_value *fp, uint32_t hot,
                      attempt *attempt) {
    const dv_code *code = thread->code;
    uint32_t limit = code->word_count;
    for (;;) {
        uint32_t back = hot;
        for (uint32_t pc = hot; pc < limit; pc += words_at(code, pc))
            if ((code->words[pc] & 0xFF) == DV_OP_JUMP_BACK &&
                code->words[pc] >> 8 <= code->words[hot] >> 8 &&
                (pc == hot || was_seen_twice(vm, thread, pc)))
                back = pc;
        uint32_t size = back + 1 - (code->words[back] >> 8);
        if (!may_try(vm, thread, fp, back, back == hot)) {
            attempt->waits = back == hot;
        } else {
            if (try_loop(vm, thread, fp, back, hot)) return true;
            attempt->analysed += size;
        }
        if (back == hot) return false;
        limit = back;
    }
}

/* Rounds of the hot loop that pay for the analysis of so many words. */
static uint32_t rounds_for(const dv_thread *thread, uint32_t hot, uint32_t words) {
    uint32_t size = hot + 1 - (thread->code->words[hot] >> 8);
    return words >= size ? PATIENCE * (words / size) : PATIENCE;
}

/* No region was made for the loop: it is tried again, or never. */
static void try_later(dv_vm *vm, dv_thread *thread, dv_cell *back, const attempt *attempt) {
    dv_site *site = &back[1].site;
    const uint32_t pc = dv_thread_pc(thread, back);
    const bool gives_up = attempt->waits && site->looked == POSTPONED;
    if (attempt->waits)
        site->looked = POSTPONED;
    else
        site->tries += REFUSED;
    if (site->tries < REBUILDS && !gives_up)
        await(vm, back, rounds_for(thread, pc, attempt->analysed) << site->tries);
    else
        set_back_edge(vm, back, DV_OP_JUMP_BACK_QUIET);
}

const dv_cell *dv_region_hot(DV_HANDLER_PARAMETERS) {
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    dv_thread *thread = dv_frame_thread(fp);
    dv_cell *back = (dv_cell *)ip;
    const dv_cell *head = ip[2].target;
    attempt attempt = {0, false};
    if (!try_loops(vm, thread, fp, dv_thread_pc(thread, ip), &attempt)) {
        try_later(vm, thread, back, &attempt);
        return head;
    }
    if (dv_op_of(vm, back->h) != DV_OP_JUMP_BACK_REGION) {
        set_back_edge(vm, back, DV_OP_JUMP_BACK_QUIET);
        return head;
    }
    return dv_region_enter(ip, sp, fp, vm, r, d);
}

/* Other kinds
 * --------------------------------------------------------------------------------------------- */

/* The region of the loop that was entered least. */
static dv_region *coldest_of(const dv_cell *back) {
    const dv_entry *entry = back[3].p;
    dv_region *coldest = entry->region;
    for (; entry; entry = entry->next)
        if (entry->region->entered <= coldest->entered) coldest = entry->region;
    return coldest;
}

static uint32_t versions_of(const dv_cell *back) {
    uint32_t count = 0;
    for (const dv_entry *entry = back[3].p; entry; entry = entry->next) count++;
    return count;
}

/* Another region of the loops around the JUMP_BACK, for what the frame holds now; NULL: that cannot
 * be, or there were enough. */
static dv_region *new_version(dv_vm *vm, dv_cell *back, const dv_value *fp) {
    const dv_region *region = latest_of(back);
    dv_thread *thread = region->thread;
    const uint32_t pc = dv_thread_pc(thread, back), outermost = region->end - 1; /* one word */
    dv_loop_event event = {.back = outermost};
    if (region->gate || thread->code->written || back[1].site.tries >= REBUILDS) return NULL;
    dv_region *other = dv_region_build(vm, thread, fp, region->begin, outermost,
                                       thread->code->words[pc] >> 8, &event);
    back[1].site.tries += other ? 1 : REFUSED;
    if (!other || dv_region_admit(vm, other)) return other;
    dv_region_free(vm, other);
    return NULL;
}

/* One goes that was not entered since the last time, or is a function's. */
static void drop_version(dv_vm *vm, const dv_cell *back) {
    dv_region *coldest = coldest_of(back);
    if (coldest->entered == 0 || coldest->gate)
        dv_region_give_up(vm, coldest, DV_REFUSED_TYPES);
    else
        coldest->entered = 0;
}

/* No region of the loop fits what the frame at fp holds.  Where that happens often there will be
 * one that does, or in the end none. */
static const dv_cell *refuse(dv_vm *vm, dv_cell *back, dv_value *fp) {
    dv_site *site = &back[1].site;
    const dv_region *latest = latest_of(back);
    const dv_cell *head = back[2].target;
    if (!has_room(vm, latest, fp)) return head;
    uint32_t most = vm->stress.quicken_at_once ? 2 : (uint32_t)DV_HOT_ITERATIONS << site->tries;
    if (latest->gate) most = ENTRY_FAILURES;
    if (++site->wait < most) return head;
    site->wait = 0;
    dv_region *other = new_version(vm, back, fp);
    if (!other) {
        if (has_region(vm, back)) drop_version(vm, back);
        return head;
    }
    if (has_region(vm, back) && versions_of(back) >= MOST_VERSIONS)
        dv_region_give_up(vm, coldest_of(back), DV_REFUSED_TYPES);
    dv_region_install(vm, other, other->end - 1);
    const dv_cell *entered = has_region(vm, back) ? enter_one(vm, back[3].p, fp) : NULL;
    return entered ? entered : head;
}

static void release_code(dv_vm *vm, dv_object *object) {
    dv_thread *thread = (dv_thread *)object;
    while (thread->regions) {
        dv_region *region = thread->regions;
        thread->regions = region->next;
        dv_region_free(vm, region);
    }
    dv_function_free(vm, thread);
}

/* The VM ends. */
static void discard(dv_vm *vm) {
    for (dv_thread *thread = vm->codes; thread;) {
        dv_region *region = thread->regions;
        if (!region) {
            thread = thread->next;
            continue;
        }
        dv_region_retire(vm, region, DV_REFUSED_NOT);
        unlink_region(region);
        dv_region_free(vm, region);
    }
}

static void break_assumptions(dv_vm *vm, const dv_cell *ip, dv_value *fp) {
    dv_region *region = running_region(fp, ip);
    if (region) dv_dependent_break_new(vm, &region->dependent);
}

void dv_region_setup(dv_vm *vm) {
    vm->hooks.region.break_assumptions = break_assumptions;
    vm->hooks.region.discard = discard;
    vm->hooks.region.disturbed = disturbed;
    vm->hooks.region.inlined = dv_region_inlined;
    vm->hooks.region.leave = leave;
    vm->hooks.region.sampled = sampled;
    vm->hooks.region.depart = dv_region_retired;
    vm->hooks.region.release_code = release_code;
    vm->hooks.region.warmed = dv_function_warmed;
}
