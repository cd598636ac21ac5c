/* consume.c: what builtins make of what a generator yields, item by item (consume.h). */
#include "run/consume.h"

#include "dv_ops.h"
#include "run/engine.h"
#include "types/mapping/set.h"
#include "types/text/str_split.h"
#include "types/sequence/tuple.h"

/* ---- The beginning ---- */

enum { FIRST_ROOM = 4 };

/* What the kind begins with; EMPTY: nothing, or raised. */
static dv_value first_total(dv_vm *vm, dv_consume_kind kind) {
    if (kind == DV_CONSUME_SUM) return dv_int(0);
    if (kind == DV_CONSUME_SET) return dv_set_new(vm);
    if (kind < DV_CONSUME_LIST) return DV_EMPTY;
    dv_value list = dv_list_new(vm, NULL, 0); /* with room, so that the frame stays at the first */
    if (dv_is_empty(list) || dv_list_reserve(vm, dv_as_list(list), FIRST_ROOM)) return list;
    dv_release_outer(vm, list);
    return DV_EMPTY;
}

const dv_cell *dv_slow_consume(DV_HANDLER_PARAMETERS) {
    (void)d;
    const dv_cell *next = dv_as_generator(sp[-1])->next;
    vm->ip = ip - 1, vm->sp = sp, vm->fp = fp;
    dv_value total = first_total(vm, (dv_consume_kind)r);
    if (!dv_is_empty(vm->error)) return dv_slow_raise(ip - 1, sp, fp, vm, 0, 0);
    vm->fp = dv_consume_enter(vm, (dv_consume_kind)r, total, ip, fp, &vm->sp);
    return next;
}

/* ---- Items ----
 *
 * Each takes an item: 1: on to the next one; 0: *total is the result already; -1: raised. */

static int take_truth(dv_vm *vm, bool until, dv_value *total, dv_value item) {
    int truth = dv_truth(vm, item);
    dv_release_outer(vm, item);
    if (truth < 0) return -1;
    if (truth != until) return 1;
    *total = dv_bool(until);
    return 0;
}

static int take_sum(dv_vm *vm, dv_value *total, dv_value item) {
    dv_value sum = dv_binary(vm, DV_BINARY_ADD, *total, item), old = *total;
    *total = DV_EMPTY;
    dv_release_outer(vm, old);
    dv_release_outer(vm, item);
    *total = sum;
    return dv_is_empty(sum) ? -1 : 1;
}

static int take_extreme(dv_vm *vm, dv_compare_op op, dv_value *total, dv_value item) {
    int better = 1;
    if (!dv_is_empty(*total)) {
        dv_value result = dv_compare(vm, op, item, *total);
        better = dv_is_empty(result) ? -1 : dv_truth(vm, result);
        dv_release_outer(vm, result);
    }
    dv_value dropped = better > 0 ? *total : item;
    if (better > 0) *total = item;
    dv_release_outer(vm, dropped);
    return better < 0 ? -1 : 1;
}

static int take_key(dv_vm *vm, dv_value set, dv_value item) {
    bool good = dv_set_add(vm, set, item);
    dv_release_outer(vm, item);
    return good ? 1 : -1;
}

static int take(dv_vm *vm, dv_consume_kind kind, dv_value *total, dv_value item) {
    switch (kind) {
    case DV_CONSUME_SUM: return take_sum(vm, total, item);
    case DV_CONSUME_ALL: return take_truth(vm, false, total, item);
    case DV_CONSUME_ANY: return take_truth(vm, true, total, item);
    case DV_CONSUME_MIN: return take_extreme(vm, DV_LT, total, item);
    case DV_CONSUME_MAX: return take_extreme(vm, DV_GT, total, item);
    case DV_CONSUME_SET: return take_key(vm, *total, item);
    default: return dv_list_push(vm, *total, item) ? 1 : -1;
    }
}

/* ---- Ends ---- */

static dv_value tuple_of(dv_vm *vm, dv_value items) {
    dv_list *list = dv_as_list(items);
    int64_t count = list->count;
    list->count = 0; /* the tuple has them, or nobody */
    return dv_tuple_take(vm, list->items, count);
}

/* The generator has finished: the result, new, for the total, which stays the frame's.  `args` is
 * the generator, behind the str that joins. */
static dv_value finish(dv_vm *vm, dv_consume_kind kind, dv_value total, const dv_value *args) {
    dv_value joined[2] = {args[-1], total};
    switch (kind) {
    case DV_CONSUME_ALL: return DV_TRUE;
    case DV_CONSUME_ANY: return DV_FALSE;
    case DV_CONSUME_TUPLE: return tuple_of(vm, total);
    case DV_CONSUME_JOIN: return dv_str_join_method(vm, joined, 2);
    case DV_CONSUME_SORTED:
        return dv_list_sort(vm, total, DV_EMPTY, false) ? dv_retain(total) : DV_EMPTY;
    default: break;
    }
    if (!dv_is_empty(total)) return dv_retain(total);
    return dv_raise(vm, DV_E_VALUE_ERROR, "%s() arg is an empty sequence",
                    kind == DV_CONSUME_MIN ? "min" : "max");
}

/* The stack: callee R R [self] generator | ...; the call's result takes the place of these. */
static const dv_cell *leave(dv_vm *vm, dv_consume_kind kind, dv_value *top, dv_value result,
                            const dv_cell *behind) {
    dv_value *place = top - (kind == DV_CONSUME_JOIN ? 5 : 4);
    for (dv_value *at = top - 1; at > place + 2; at--) {
        vm->sp = at;
        dv_release_outer(vm, *at);
    }
    dv_value callee = *place;
    vm->sp = place;
    dv_release_outer(vm, callee);
    *place = result;
    vm->sp = place + 1;
    return behind;
}

/* Room for the generator's frame again?  Whoever wants attention is heard first. */
static bool has_room(dv_vm *vm, const dv_generator *g, const dv_value *frame) {
    if (DV_LIKELY(dv_generator_fits(vm, g, frame))) return true;
    if (!dv_poll_calls(vm)) return false;
    const bool runs = g->state == DV_GENERATOR_RUNNING;
    if (!runs && dv_frame_has_room(vm, dv_generator_thread(g), frame)) return true;
    if (runs)
        dv_raise(vm, DV_E_VALUE_ERROR, "generator already executing");
    else
        dv_raise(vm, DV_E_RECURSION_ERROR, "maximum recursion depth exceeded");
    return false;
}

const dv_cell *dv_slow_yield(DV_HANDLER_PARAMETERS) {
    (void)r, (void)d;
    const dv_value value = sp[-1];
    dv_value *caller = dv_frame_caller(fp);
    const dv_cell *next = ip + dv_op_infos[DV_OP_YIELD].length;
    dv_generator_suspend(vm, vm->generator, fp, sp - 1, ip, next, false);
    fp[-3] = value;
    vm->sp = fp - 2;
    vm->fp = caller;
    return dv_consume_cell;
}

/* sp: generator | kind | total | next ip | value. */
const dv_cell *dv_slow_consumed(DV_HANDLER_PARAMETERS) {
    (void)r, (void)d;
    dv_value value = sp[-1], *top = sp - 4;
    const dv_cell *behind = (const dv_cell *)(uintptr_t)sp[-2].bits;
    dv_consume_kind kind = (dv_consume_kind)dv_as_int(sp[-4]);
    dv_generator *g = dv_as_generator(top[-1]);
    ip = behind - 1;
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    int more = 1;
    if (g->state != DV_GENERATOR_FINISHED)
        more = take(vm, kind, &sp[-3], value);
    else
        dv_release_outer(vm, value);
    dv_value total = sp[-3], result = total;
    if (more > 0) {
        bool finished = g->state == DV_GENERATOR_FINISHED;
        if (!finished && has_room(vm, g, top + 6)) {
            vm->sp = top;
            vm->fp = dv_consume_enter(vm, kind, total, behind, fp, &vm->sp);
            return g->next;
        }
        result = finished ? finish(vm, kind, total, top - 1) : DV_EMPTY;
        if (dv_is_empty(result)) more = -1;
        dv_release_outer(vm, total);
    } else if (more < 0) {
        dv_release_outer(vm, total);
    }
    vm->sp = top;
    return more < 0 ? dv_slow_raise(ip, top, fp, vm, 0, 0) : leave(vm, kind, top, result, behind);
}
