/* list_slice.c: slices of lists, read, assigned and deleted.
 *
 * Invariant 1: items that leave the list are released only after the list is whole again, because
 * a release may run dl code that uses the list. */
#include "types/sequence/list_slice.h"

#include <string.h>

#include "core/upcall.h"
#include "core/work.h"
#include "types/number/range.h"
#include "types/sequence/sequence.h"
#include "types/sequence/tuple.h"

dv_value dv_list_get_slice(dv_vm *vm, dv_value list, dv_value slice) {
    int64_t start, stop, step;
    if (!dv_slice_unpack(vm, slice, &start, &stop, &step)) return DV_EMPTY;
    int64_t count = dv_slice_adjust(dv_as_list(list)->count, &start, &stop, step);
    const dv_value *items = dv_as_list(list)->items;
    if (step == 1) return dv_list_new(vm, items + (count ? start : 0), count);
    dv_value result = dv_list_new(vm, NULL, 0);
    if (dv_is_empty(result) || count == 0) return result;
    dv_list *to = dv_as_list(result);
    if (!dv_list_reserve(vm, to, count)) {
        dv_release(vm, result);
        return DV_EMPTY;
    }
    dv_work_owe(vm, count / 8);
    for (int64_t i = 0; i < count; i++) to->items[i] = dv_retain(items[start + i * step]);
    to->count = count;
    return result;
}

bool dv_list_splice(dv_vm *vm, dv_list *list, int64_t start, int64_t stop, const dv_value *values,
                    int64_t count) {
    int64_t old = stop - start, tail = list->count - stop;
    dv_value few[16], *removed = few;
    if (old > (int64_t)(sizeof few / sizeof *few)) {
        removed = dv_heap_alloc(&vm->heap, (size_t)old * sizeof(dv_value));
        if (!removed) {
            dv_raise_memory(vm);
            return false;
        }
    }
    bool good = count <= old || dv_list_grow(vm, list, list->count - old + count);
    if (good) {
        if (old > 0) memcpy(removed, list->items + start, (size_t)old * sizeof(dv_value));
        dv_work_owe(vm, (tail + count + old) / 40);
        if (tail > 0 && count != old)
            memmove(list->items + start + count, list->items + stop,
                    (size_t)tail * sizeof(dv_value));
        if (count > 0) memcpy(list->items + start, values, (size_t)count * sizeof(dv_value));
        list->count += count - old;
        dv_list_trim(vm, list);
        for (int64_t i = old - 1; i >= 0; i--) dv_release(vm, removed[i]);
    }
    if (removed != few) dv_heap_free(&vm->heap, removed, (size_t)old * sizeof(dv_value));
    return good;
}

/* del list[start::step], count items of them; step may be negative. */
static bool delete_stepped(dv_vm *vm, dv_list *list, int64_t start, int64_t step, int64_t count) {
    if (step < 0) {
        start += step * (count - 1);
        step = -step;
    }
    dv_value *removed = dv_heap_alloc(&vm->heap, (size_t)count * sizeof(dv_value));
    if (!removed) {
        dv_raise_memory(vm);
        return false;
    }
    int64_t to = start;
    for (int64_t i = 0; i < count; i++) {
        int64_t at = start + i * step;
        int64_t next = i + 1 < count ? at + step : list->count;
        removed[i] = list->items[at];
        memmove(list->items + to, list->items + at + 1, (size_t)(next - at - 1) * sizeof(dv_value));
        to += next - at - 1;
    }
    list->count -= count;
    dv_list_trim(vm, list);
    for (int64_t i = 0; i < count; i++) dv_release(vm, removed[i]);
    dv_heap_free(&vm->heap, removed, (size_t)count * sizeof(dv_value));
    return true;
}

/* list[start::step] = values, as many of them as there are places.  The values are exchanged with
 * the old items, which the caller then discards. */
static void exchange_stepped(dv_list *list, int64_t start, int64_t step, dv_items *values) {
    for (int64_t i = 0; i < values->count; i++) {
        dv_value *place = &list->items[start + i * step], old = *place;
        *place = values->data[i];
        values->data[i] = old;
    }
}

/* The values of an assignment to the list; step 1 and others have different messages. */
static bool collect_values(dv_vm *vm, const dv_list *list, dv_value value, int64_t step,
                           dv_items *out) {
    if (dv_is_shape(value, DV_T_LIST) || dv_is_shape(value, DV_T_TUPLE))
        return dv_items_collect(vm, value, out);
    /* The list itself is not asked for an iterator, even if its class has an __iter__. */
    dv_value iterator = dv_same(value, dv_object_value(list))
                            ? dv_list_new(vm, list->items, list->count)
                            : dv_iterate(vm, value);
    if (dv_is_empty(iterator)) {
        if (!dv_error_is(vm, DV_E_TYPE_ERROR)) return false;
        dv_error_clear(vm);
        dv_raise(vm, DV_E_TYPE_ERROR,
                 step == 1 ? "can only assign an iterable"
                           : "must assign iterable to extended slice");
        return false;
    }
    bool good = dv_items_collect(vm, iterator, out);
    dv_release(vm, iterator);
    return good;
}

static bool assign(dv_vm *vm, dv_list *list, int64_t start, int64_t stop, int64_t step,
                   dv_value value) {
    dv_items values;
    if (!collect_values(vm, list, value, step, &values)) return false;
    /* Only now, as collecting may have changed the list. */
    int64_t count = dv_slice_adjust(list->count, &start, &stop, step);
    bool good = true;
    if (step == 1) {
        good = dv_list_splice(vm, list, start, start + count, values.data, values.count);
        if (good) values.count = 0;
    } else if (values.count != count) {
        dv_raise(vm, DV_E_VALUE_ERROR,
                 "attempt to assign sequence of size %lld to extended slice of size %lld",
                 (long long)values.count, (long long)count);
        good = false;
    } else {
        exchange_stepped(list, start, step, &values);
        dv_work_owe(vm, count);
    }
    dv_items_discard(vm, &values);
    return good;
}

bool dv_list_set_slice(dv_vm *vm, dv_value self, dv_value slice, dv_value value) {
    dv_list *list = dv_as_list(self);
    int64_t start, stop, step;
    if (!dv_slice_unpack(vm, slice, &start, &stop, &step)) return false;
    if (!dv_is_empty(value)) return assign(vm, list, start, stop, step, value);
    int64_t count = dv_slice_adjust(list->count, &start, &stop, step);
    if (count == 0) return true;
    if (step == 1) return dv_list_splice(vm, list, start, start + count, NULL, 0);
    return delete_stepped(vm, list, start, step, count);
}
