/* call_star.c: calls with `*` and `**` (CALL_EX): the arguments are pushed one by one, and from
 * there on it is a call like others (call.h).
 *
 * Invariant 1: a call that raises leaves the callee and its two reserved entries, which the state
 * of CALL_EX's pc says are there; what it says is above them is gone. */
#include <string.h>

#include "run/call.h"
#include "core/work.h"
#include "run/execute.h"
#include "types/mapping/dict.h"
#include "types/sequence/list.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

/* The positional arguments become a tuple or a list. */
static bool make_positional(dv_vm *vm, dv_value callee, dv_value *args) {
    if (dv_is_shape(*args, DV_T_TUPLE) || dv_is_shape(*args, DV_T_LIST)) return true;
    dv_value given = *args, tuple = dv_tuple_from(vm, given);
    if (dv_is_empty(tuple)) {
        if (!dv_error_is(vm, DV_E_TYPE_ERROR) || dv_is_iterable(vm, given)) return false;
        dv_error_clear(vm);
        dv_value name = dv_callee_name(vm, callee);
        if (!dv_is_empty(name))
            dv_raise(vm, DV_E_TYPE_ERROR, "%S argument after * must be an iterable, not %T", name,
                     given);
        dv_release(vm, name);
        return false;
    }
    *args = tuple;
    dv_release(vm, given);
    return true;
}

/* The mapping with the names becomes a dict: one that nothing can change before its values are
 * pushed is taken as it is, for others there is a copy. */
static bool make_named(dv_vm *vm, dv_value callee, dv_value positional, dv_value *mapping) {
    const bool fixed = dv_is_shape(positional, DV_T_TUPLE) || dv_is_shape(positional, DV_T_LIST);
    if (fixed && dv_dict_is_plain(vm, *mapping)) return true;
    dv_value given = *mapping, dict = dv_dict_new(vm);
    if (dv_is_empty(dict)) return false;
    if (!dv_merge_keywords(vm, callee, dict, given)) return dv_release(vm, dict), false;
    *mapping = dict;
    dv_release(vm, given);
    return true;
}

enum { MANY = 64 };

/* Is there room for so many entries above sp?  False: raised. */
static bool has_room(dv_vm *vm, const dv_value *sp, int64_t count) {
    if (count < vm->stack_end - sp) return true;
    dv_raise(vm, DV_E_RECURSION_ERROR, "maximum recursion depth exceeded");
    return false;
}

/* The keys of a dict as a tuple of names; EMPTY: raised. */
static dv_value names_of(dv_vm *vm, dv_value dict) {
    dv_tuple *names = dv_tuple_alloc(vm, dv_as_dict(dict)->count);
    if (!names) return DV_EMPTY;
    dv_value key, value;
    bool good = true;
    int64_t n = 0;
    for (int64_t position = 0; n < names->count && dv_dict_walk(dict, &position, &key, &value);) {
        good = good && dv_is_str(key);
        names->items[n++] = dv_retain(key);
    }
    if (good) return dv_object_value(names);
    dv_release(vm, dv_object_value(names));
    return dv_raise(vm, DV_E_TYPE_ERROR, "keywords must be strings");
}

/* Pushes the items of a tuple or list that stands at `to`, and takes its place; the result is
 * behind them. */
static dv_value *push_items(dv_vm *vm, dv_value *to) {
    const dv_value given = *to;
    const bool is_list = dv_is_shape(given, DV_T_LIST);
    const dv_value *items = is_list ? dv_as_list(given)->items : dv_as_tuple(given)->items;
    const int64_t count = is_list ? dv_as_list(given)->count : dv_as_tuple(given)->count;
    if (DV_UNLIKELY(count > MANY)) dv_work_owe(vm, count); /* also for who looks at them */
    if (is_list && dv_as_object(given)->references == 1) { /* as of `*[...]`: takes them over */
        for (int64_t i = 0; i < count; i++) to[i] = items[i];
        dv_as_list(given)->count = 0;
    } else {
        for (int64_t i = 0; i < count; i++) to[i] = dv_retain(items[i]);
    }
    vm->sp = to + count;
    dv_release(vm, given);
    return to + count;
}

static dv_value *push_values(dv_vm *vm, dv_value dict, dv_value *to) {
    dv_value key, value;
    for (int64_t position = 0; dv_dict_walk(dict, &position, &key, &value);)
        *to++ = dv_retain(value);
    vm->sp = to;
    dv_release(vm, dict);
    return to;
}

static int64_t count_of(dv_value positional) {
    return dv_is_shape(positional, DV_T_LIST) ? dv_as_list(positional)->count
                                              : dv_as_tuple(positional)->count;
}

/* ip is already behind the call. */
const dv_cell *dv_slow_call_ex(DV_HANDLER_PARAMETERS) {
    (void)d;
    dv_value *frame = sp - 1 - r, names = DV_EMPTY;
    vm->ip = ip - 1, vm->sp = sp, vm->fp = fp;
    if (r && !make_named(vm, frame[-3], *frame, sp - 1))
        return dv_slow_raise(ip - 1, sp, fp, vm, 0, 0);
    dv_value dict = r ? sp[-1] : DV_EMPTY;
    const int64_t named = r ? dv_as_dict(dict)->count : 0;
    if (!make_positional(vm, frame[-3], frame) || !has_room(vm, sp, count_of(*frame) + named) ||
        (named && dv_is_empty(names = names_of(vm, dict))))
        return dv_slow_raise(ip - 1, sp, fp, vm, 0, 0);
    sp = push_items(vm, frame);
    if (r) sp = push_values(vm, dict, sp);
    const dv_cell *next = dv_call_entries(vm, ip, sp, fp, (uint32_t)(sp - frame), names);
    dv_release(vm, names);
    return next;
}
