/* range.c: range objects and their iterators.
 *
 * Invariants (more in range.h)
 *  1. start + i * step is within int64 for 0 <= i < length, so the item of a checked index needs no
 *     overflow check; the item behind the last one may lie outside. */
#include "types/number/range.h"

#include "core/upcall.h"
#include "core/work.h"
#include "types/callable/arguments.h"
#include "types/number/complex.h"
#include "types/number/int.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

static dv_range *as_range(dv_value v) { return (dv_range *)dv_as_object(v); }
static bool is_range(dv_value v) { return dv_is_shape(v, DV_T_RANGE); }

/* Number of items; false: more than int64 holds. */
static bool range_count(int64_t start, int64_t stop, int64_t step, int64_t *count) {
    uint64_t distance, stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step, n = 0;
    if (step > 0 ? start < stop : start > stop) {
        distance = step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
        n = (distance - 1) / stride + 1;
    }
    *count = (int64_t)n;
    return n <= INT64_MAX;
}

dv_value dv_range_new(dv_vm *vm, int64_t start, int64_t stop, int64_t step) {
    int64_t length;
    if (!range_count(start, stop, step, &length)) return dv_range_new_long(vm, start, stop, step);
    dv_range *range = dv_object_new(vm, sizeof(dv_range), DV_T_RANGE);
    if (!range) return DV_EMPTY;
    range->start = start;
    range->stop = stop;
    range->step = step;
    range->length = length;
    return dv_object_value(range);
}

static void range_release(dv_vm *vm, dv_object *object) {
    dv_heap_free(&vm->heap, object, sizeof(dv_range));
}

static dv_value range_repr(dv_vm *vm, dv_value self) {
    const dv_range *range = as_range(self);
    if (range->step == 1)
        return dv_str_printf(vm, "range(%lld, %lld)", (long long)range->start,
                             (long long)range->stop);
    return dv_str_printf(vm, "range(%lld, %lld, %lld)", (long long)range->start,
                         (long long)range->stop, (long long)range->step);
}

/* Ranges are equal when they have the same items. */
static bool range_equal(const dv_range *a, const dv_range *b) {
    if (a->length != b->length) return false;
    if (a->length == 0) return true;
    return a->start == b->start && (a->length == 1 || a->step == b->step);
}

static dv_value range_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    if (op != DV_EQ && op != DV_NE) return DV_NOTIMPLEMENTED;
    if (!is_range(a) || !is_range(b)) return dv_range_compare_long(vm, op, a, b);
    return dv_bool(range_equal(as_range(a), as_range(b)) == (op == DV_EQ));
}

static int64_t range_length(dv_vm *vm, dv_value self) {
    (void)vm;
    return as_range(self)->length;
}

static bool range_truth(dv_value self) { return as_range(self)->length != 0; }

/* start + index * step for any index of a slice's bounds; false: beyond int64. */
static bool bound_at(const dv_range *range, int64_t index, int64_t *bound) {
    __int128 exact = (__int128)index * range->step + range->start;
    *bound = (int64_t)exact;
    return exact == *bound;
}

static dv_value range_slice(dv_vm *vm, dv_value self, dv_value slice) {
    const dv_range *range = as_range(self);
    int64_t start, stop, step, count, first, last, stride;
    const dv_slice *parts = (const dv_slice *)dv_as_object(slice);
    dv_value given = parts->step;
    if (dv_is_instance(given) || dv_is_instance(parts->start) || dv_is_instance(parts->stop))
        return dv_range_slice_long(vm, self, slice); /* __index__ may give any int */
    if (dv_is_any_int(given) && !dv_int_to_int64(given, &stride))
        return dv_range_slice_long(vm, self, slice);
    if (!dv_slice_indices(vm, slice, range->length, &start, &stop, &step, &count)) return DV_EMPTY;
    if (!bound_at(range, start, &first) || !bound_at(range, stop, &last) ||
        __builtin_mul_overflow(range->step, step, &stride))
        return dv_range_slice_long(vm, self, slice);
    return dv_range_new(vm, first, last, stride);
}

static dv_value range_get_item(dv_vm *vm, dv_value self, dv_value key) {
    const dv_range *range = as_range(self);
    int64_t index;
    if (dv_is_shape(key, DV_T_SLICE)) return range_slice(vm, self, key);
    if (dv_is_any_int(key) && !dv_int_to_int64(key, &index))
        return dv_raise(vm, DV_E_INDEX_ERROR, "range object index out of range");
    if (dv_is_instance(key) && dv_is_index(vm, key)) {
        dv_value whole = dv_int_index(vm, key);
        dv_value item = dv_is_empty(whole) ? DV_EMPTY : range_get_item(vm, self, whole);
        dv_release(vm, whole);
        return item;
    }
    if (!dv_sequence_index(vm, key, "range indices must be integers or slices, not %T", &index))
        return DV_EMPTY;
    if (index < 0) index += range->length;
    if ((uint64_t)index >= (uint64_t)range->length)
        return dv_raise(vm, DV_E_INDEX_ERROR, "range object index out of range");
    return dv_int_from_int64(vm, dv_range_item(range, index));
}

/* Index of an int, or -1. */
static int64_t find_int(const dv_range *range, int64_t i) {
    if (range->length == 0) return -1;
    int64_t last = dv_range_item(range, range->length - 1);
    if (range->step > 0 ? i < range->start || i > last : i > range->start || i < last) return -1;
    uint64_t distance, stride;
    if (range->step > 0) {
        distance = (uint64_t)i - (uint64_t)range->start;
        stride = (uint64_t)range->step;
    } else {
        distance = (uint64_t)range->start - (uint64_t)i;
        stride = 0 - (uint64_t)range->step;
    }
    return distance % stride == 0 ? (int64_t)(distance / stride) : -1;
}

/* Index of the first item that equals the value; -1: none; -2: raised. */
static int64_t range_find(dv_vm *vm, const dv_range *range, dv_value item) {
    int64_t i;
    if (!dv_is_instance(item) && dv_int_to_int64(item, &i)) return find_int(range, i);
    if (!dv_is_instance(item) && dv_is_float(item)) {
        double d = dv_as_float(item);
        if (!(d >= -0x1p63 && d < 0x1p63) || d != (double)(int64_t)d) return -1;
        return find_int(range, (int64_t)d);
    }
    if (dv_is_shape(item, DV_T_COMPLEX)) {
        const dv_complex *z = dv_as_complex(item);
        return z->imag == 0.0 ? range_find(vm, range, dv_float(z->real)) : -1;
    }
    /* No other built-in type has values that equal an int. */
    if (!dv_has_methods(item) && !dv_is_foreign(item)) return -1;
    for (i = 0; i < range->length; i++) {
        if (!dv_work(vm, 3)) return -2;
        dv_value number = dv_int_from_int64(vm, dv_range_item(range, i));
        if (dv_is_empty(number)) return -2;
        int equal = dv_equal(vm, number, item);
        dv_release(vm, number);
        if (equal) return equal < 0 ? -2 : i;
    }
    return -1;
}

static int range_contains(dv_vm *vm, dv_value self, dv_value item) {
    int64_t at = range_find(vm, as_range(self), item);
    return at == -2 ? -1 : at >= 0;
}

static dv_value range_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    const dv_range *range = as_range(self);
    if (dv_str_is(name, "start")) return dv_int_from_int64(vm, range->start);
    if (dv_str_is(name, "stop")) return dv_int_from_int64(vm, range->stop);
    if (dv_str_is(name, "step")) return dv_int_from_int64(vm, range->step);
    return DV_EMPTY;
}

static dv_value range_index(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!is_range(args[0])) return dv_range_index_long(vm, args[0], args[1]);
    int64_t at = range_find(vm, as_range(args[0]), args[1]);
    if (at == -2) return DV_EMPTY;
    if (at >= 0) return dv_int_from_int64(vm, at);
    if (dv_is_any_int(args[1]) || dv_is_bool(args[1]))
        return dv_raise(vm, DV_E_VALUE_ERROR, "%V is not in range", args[1]);
    return dv_raise(vm, DV_E_VALUE_ERROR, "sequence.index(x): x not in sequence");
}

/* A range has each item once, but an instance may equal several of them. */
static dv_value range_count_method(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!is_range(args[0])) return dv_range_count_long(vm, args[0], args[1]);
    const dv_range *range = as_range(args[0]);
    if (!dv_is_instance(args[1]) && !dv_is_foreign(args[1]))
        return dv_int(range_find(vm, range, args[1]) >= 0);
    int64_t found = 0;
    for (int64_t i = 0; i < range->length; i++) {
        if (!dv_work(vm, 3)) return DV_EMPTY;
        dv_value number = dv_int_from_int64(vm, dv_range_item(range, i));
        if (dv_is_empty(number)) return DV_EMPTY;
        int equal = dv_equal(vm, number, args[1]);
        dv_release(vm, number);
        if (equal < 0) return DV_EMPTY;
        found += equal;
    }
    return dv_int_from_int64(vm, found);
}

/* range() of arguments that are not all int64. */
static dv_value construct_long(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_value parts[3] = {dv_int(0), DV_EMPTY, dv_int(1)};
    if (count == 1) {
        parts[1] = dv_int_index(vm, args[0]);
    } else {
        parts[0] = dv_int_index(vm, args[0]);
        if (!dv_is_empty(parts[0])) parts[1] = dv_int_index(vm, args[1]);
        if (!dv_is_empty(parts[1]) && count == 3) parts[2] = dv_int_index(vm, args[2]);
    }
    bool good = !dv_is_empty(parts[1]) && !dv_is_empty(parts[2]);
    dv_value range = good ? dv_range_of(vm, parts[0], parts[1], parts[2]) : DV_EMPTY;
    for (int i = 0; i < 3; i++) dv_release(vm, parts[i]);
    return range;
}

static dv_value range_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    int64_t given[3] = {0, 0, 1};
    if (!dv_arguments_no_keywords(vm, "range", keywords) ||
        !dv_arguments_count(vm, "range", count, 1, 3))
        return DV_EMPTY;
    for (uint32_t i = 0; i < count; i++)
        if (!dv_int_to_int64(args[i], &given[i])) return construct_long(vm, args, count);
    if (count == 1) return dv_range_new(vm, 0, given[0], 1);
    if (given[2] == 0) return dv_raise(vm, DV_E_VALUE_ERROR, "range() arg 3 must not be zero");
    return dv_range_new(vm, given[0], given[1], given[2]);
}

/* ---- Iterator ----------------------------------------------------------------------------------
 */

dv_value dv_range_iterator_new(dv_vm *vm, int64_t first, int64_t step, int64_t length) {
    dv_range_iterator *iterator = dv_object_new(vm, sizeof(dv_range_iterator), DV_T_RANGE_ITERATOR);
    if (!iterator) return DV_EMPTY;
    iterator->next = first;
    iterator->step = step;
    iterator->remaining = length;
    return dv_object_value(iterator);
}

static dv_value range_iterate(dv_vm *vm, dv_value self) {
    const dv_range *range = as_range(self);
    return dv_range_iterator_new(vm, range->start, range->step, range->length);
}

static dv_value range_reversed(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_range *range = as_range(args[0]);
    if (!is_range(args[0]) || range->step == INT64_MIN) return dv_range_reverse_long(vm, args[0]);
    int64_t last = range->length ? dv_range_item(range, range->length - 1) : 0;
    return dv_range_iterator_new(vm, last, -range->step, range->length);
}

static void iterator_release(dv_vm *vm, dv_object *object) {
    dv_heap_free(&vm->heap, object, sizeof(dv_range_iterator));
}

static dv_value iterator_next(dv_vm *vm, dv_value self) {
    dv_range_iterator *iterator = (dv_range_iterator *)dv_as_object(self);
    if (iterator->remaining == 0) return DV_EMPTY;
    dv_value item = dv_int_from_int64(vm, iterator->next);
    if (dv_is_empty(item)) return DV_EMPTY;
    /* Behind the last item the sum may leave int64; it is not used then. */
    iterator->next = (int64_t)((uint64_t)iterator->next + (uint64_t)iterator->step);
    iterator->remaining--;
    return item;
}

static dv_value iterator_self(dv_vm *vm, dv_value self) {
    (void)vm;
    return dv_retain(self);
}

static dv_value iterator_hint(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_int_from_int64(vm, ((const dv_range_iterator *)dv_as_object(args[0]))->remaining);
}

static const dv_cfunction_def iterator_methods[] = {
    {.name = "__length_hint__", .entry = iterator_hint, .min = 1, .max = 1}, {.name = NULL}};

const dv_type dv_range_iterator_type = {
    .name = "range_iterator",
    .id = DV_T_RANGE_ITERATOR,
    .release = iterator_release,
    .iterate = iterator_self,
    .next = iterator_next,
    .methods = iterator_methods,
};

static const dv_cfunction_def range_methods[] = {
    {.name = "index", .entry = range_index, .min = 2, .max = 2},
    {.name = "count", .entry = range_count_method, .min = 2, .max = 2},
    {.name = "__reversed__", .entry = range_reversed, .min = 1, .max = 1},
    {.name = NULL},
};

const dv_type dv_range_type = {
    .name = "range",
    .id = DV_T_RANGE,
    .release = range_release,
    .repr = range_repr,
    .hash = dv_range_hash,
    .compare = range_compare,
    .length = range_length,
    .truth = range_truth,
    .get_item = range_get_item,
    .contains = range_contains,
    .iterate = range_iterate,
    .get_attribute = range_get_attribute,
    .construct = range_construct,
    .methods = range_methods,
};
