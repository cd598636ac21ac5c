/* objects.c: counting objects (objects.h). */
#include "inspect/objects.h"

#include "dv_ops.h"
#include "region/run/entry.h"
#include "run/frame.h"
#include "run/generator.h"
#include "types/class/class.h"
#include "types/mapping/dict_view.h"

const char *const dv_made_names[DV_MADE_KINDS] = {
    [DV_MADE_TUPLE] = "tuple",       [DV_MADE_LIST] = "list",   [DV_MADE_RANGE] = "range",
    [DV_MADE_ITERATOR] = "iterator", [DV_MADE_SLICE] = "slice", [DV_MADE_METHOD] = "bound method",
    [DV_MADE_INSTANCE] = "instance", [DV_MADE_DICT] = "dict",   [DV_MADE_FUNCTION] = "function",
    [DV_MADE_CELL] = "cell",
};

/* What a call makes: ranges and instances of classes of dl are counted. */
static uint8_t kind_of_call(const dv_vm *vm, const dv_cell *cell, const dv_op_info *info) {
    const int64_t count = cell[info->operand_cells[0]].i;
    const dv_value callee = vm->sp[-count - (info->effect == DV_EFFECT_CALL ? 3 : 4)];
    if (!dv_is_class(callee)) return DV_MADE_KINDS;
    const dv_class *class_ = dv_as_class(callee);
    if (!class_->descriptor) return DV_MADE_INSTANCE;
    return class_->type == DV_T_RANGE ? DV_MADE_RANGE : DV_MADE_KINDS;
}

/* Of these iterators every item is a new tuple. */
static bool makes_tuples(dv_value iterator) {
    return dv_is_shape(iterator, DV_T_ENUMERATE) || dv_is_shape(iterator, DV_T_ZIP) ||
           (dv_is_shape(iterator, DV_T_DICT_ITERATOR) &&
            ((const dv_dict_iterator *)dv_as_object(iterator))->part == DV_DICT_ITEMS);
}

/* Its __iter__ makes the iterator. */
static bool is_instance(dv_value v) {
    return dv_is_object(v) && dv_as_object(v)->shape >= DV_T_COUNT;
}

static uint8_t kind_of(const dv_vm *vm, const dv_cell *cell, const dv_op_info *info) {
    if (info->effect == DV_EFFECT_CALL || info->effect == DV_EFFECT_CALL_METHOD)
        return kind_of_call(vm, cell, info);
    switch (info->family) {
    case DV_OP_BUILD_TUPLE:
    case DV_OP_BUILD_KEY: /* there is one empty tuple */
        return cell[info->operand_cells[0]].i ? DV_MADE_TUPLE : DV_MADE_KINDS;
    case DV_OP_BUILD_LIST: return DV_MADE_LIST;
    case DV_OP_BUILD_SLICE: return DV_MADE_SLICE;
    case DV_OP_BUILD_DICT: return DV_MADE_DICT;
    case DV_OP_MAKE_FUNCTION:
    case DV_OP_MAKE_CLOSURE: return DV_MADE_FUNCTION;
    case DV_OP_MAKE_CELL: return DV_MADE_CELL;
    case DV_OP_GET_ITER: return is_instance(vm->sp[-1]) ? DV_MADE_KINDS : DV_MADE_ITERATOR;
    case DV_OP_FOR_ITER: return makes_tuples(vm->sp[-1]) ? DV_MADE_TUPLE : DV_MADE_KINDS;
    case DV_OP_LOAD_ATTR: return DV_MADE_METHOD;
    default: return DV_MADE_KINDS;
    }
}

dv_making dv_making_before(dv_vm *vm, const dv_cell *cell, uint32_t op) {
    dv_making making = {.behind = NULL};
    if (op < DV_OP_COUNT && dv_op_infos[op].kind == DV_KIND_FUSION) op = dv_op_infos[op].family;
    if (op >= DV_OP_COUNT || dv_op_infos[op].kind > DV_KIND_DERIVATIVE) return making;
    const dv_op_info *family = &dv_op_infos[dv_op_infos[op].family];
    making.kind = kind_of(vm, cell, family);
    if (making.kind == DV_MADE_KINDS) return making;
    making.op = (uint16_t)op, making.family = family->family;
    making.behind = cell + family->length;
    making.fp = vm->fp;
    if (family->family == DV_OP_GET_ITER) making.operand = vm->sp[-1];
    if (dv_op_infos[op].covers != DV_OP_NOP && making.kind != DV_MADE_METHOD) {
        const uint32_t behind = dv_op_of(vm, making.behind->h);
        if (behind < DV_OP_COUNT) making.second = making.behind + dv_op_infos[behind].length;
    }
    return making;
}

/* Was the range, or the slice, left out by a derivative that does the instruction behind as well?
 * For a range that may be to enter a region. */
static bool is_left_out(const dv_vm *vm, const dv_making *making, const dv_cell *next) {
    if (!making->second || next == making->behind) return false;
    if (making->kind == DV_MADE_SLICE || next == making->second) return true;
    return making->family == DV_OP_CALL && dv_op_infos[making->op].saw == DV_SAW_ENTRY &&
           vm->fp == making->fp && !dv_thread_owns(dv_frame_thread(vm->fp), next);
}

/* Is the result of the instruction, which may have entered a region, new and of the kind? */
static bool is_made(const dv_vm *vm, const dv_making *making, const dv_cell *next) {
    if (making->kind == DV_MADE_INSTANCE) /* or its __init__ runs: in a frame above */
        return next == making->behind || vm->fp > making->fp;
    if (next != making->behind && dv_op_infos[making->op].saw != DV_SAW_ENTRY) return false;
    const dv_value result = vm->sp[-1];
    switch (making->family) {
    case DV_OP_BUILD_TUPLE:
    case DV_OP_BUILD_KEY:
    case DV_OP_FOR_ITER: return dv_is_shape(result, DV_T_TUPLE);
    case DV_OP_GET_ITER: /* a region that was entered may have a list in its place (WALK) */
        return vm->fp == making->fp &&
               (result.bits != making->operand.bits || dv_is_shape(result, DV_T_LIST) ||
                dv_is_shape(result, DV_T_TUPLE));
    case DV_OP_LOAD_ATTR:
        return dv_is_shape(result, DV_T_METHOD) && dv_as_object(result)->references == 1;
    default: return true;
    }
}

/* Does a generator yield the tuple to who takes it apart?  Where nobody looks at each instruction,
 * as who counts does, BUILD_TUPLE_YIELD stands there. */
static bool is_handed_over(dv_vm *vm, const dv_making *making) {
    if (making->family != DV_OP_BUILD_TUPLE || dv_op_of(vm, making->behind->h) != DV_OP_YIELD)
        return false;
    const dv_cell *link = dv_frame_link(making->fp);
    const int64_t n = making->behind[-1].i;
    return n <= DV_MOST_HANDED && dv_op_of(vm, link->h) == DV_OP_UNPACK_SEQUENCE && link[1].i == n;
}

void dv_making_after(dv_vm *vm, const dv_making *making, const dv_cell *next, dv_objects *objects) {
    if (!making->behind) return;
    if (is_left_out(vm, making, next) || is_handed_over(vm, making)) {
        objects->removed[making->kind]++;
        objects->made[DV_MADE_ITERATOR] += making->kind == DV_MADE_RANGE;
    } else {
        objects->made[making->kind] += is_made(vm, making, next);
    }
}

/* What a region has counted as removed is made after all. */
static void make_after_all(dv_objects *objects, dv_made kind) {
    objects->removed[kind]--;
    objects->made[kind]++;
}

static void make_instances(dv_objects *objects, const dv_exit_item *item) {
    for (const dv_exit_item *end = item + 1 + item->from; item < end; item++)
        if (item->action >= DV_EXIT_INSTANCE)
            make_after_all(objects, dv_is_built(item) ? dv_built_kind(dv_built_type(item))
                                                      : DV_MADE_INSTANCE);
}

/* Will one that dies become the new one? */
static bool renews(const dv_vm *vm, const dv_cell *cell, uint32_t op) {
    const dv_value *fp = vm->fp;
    dv_value dying = DV_EMPTY;
    if (op == DV_OP_RA_RENEW) dying = dv_dying_attribute(fp[cell[1].o.b], cell[3]);
    if (op == DV_OP_RL_RENEW) dying = dv_dying_item(fp[cell[1].o.b], (int64_t)fp[cell[1].o.c].bits);
    return !dv_is_empty(dying) && dv_region_may_renew(vm, cell[2].p, dying);
}

void dv_objects_passed(dv_vm *vm, const dv_region *region, const dv_cell *cell,
                       dv_objects *objects) {
    const uint32_t at = (uint32_t)(cell - region->cells);
    uint32_t low = 0, high = region->mark_count; /* sorted by cell */
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (region->marks[middle].cell < at)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < region->mark_count && region->marks[low].cell == at; low++)
        objects->removed[region->marks[low].kind]++;
    const dv_exit_item *item = cell[2].p;
    const uint32_t op = dv_op_of(vm, cell->h);
    const bool faded = op == DV_OP_R_MAKE_FADED && dv_same(vm->fp[cell[1].o.a], DV_FADED);
    if (dv_op_makes(op) && !renews(vm, cell, op) && (op != DV_OP_R_MAKE_FADED || faded))
        make_instances(objects, item);
}

void dv_objects_left(const dv_exit *exit, const dv_value *fp, dv_objects *objects) {
    for (uint32_t i = 0; i < exit->item_count; i++) {
        const dv_exit_item *item = &exit->region->items[exit->first_item + i];
        if (item->action >= DV_EXIT_INSTANCE) {
            if (item->action == DV_EXIT_INSTANCE || dv_same(fp[item->to], DV_FADED))
                make_instances(objects, item);
            i += (uint32_t)item->from;
        }
        if (item->action == DV_EXIT_RANGE && !dv_is_object(fp[item->to]))
            make_after_all(objects, DV_MADE_ITERATOR);
    }
}
