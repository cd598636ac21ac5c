/* range_long.c: ranges of which a part or the length does not fit in int64 (range.h), and what
 * they share with the others where speed does not matter.
 *
 * Invariants
 *  1. The parts are exact ints (dv_int_index), step is not 0; length is counted once, when the
 * range is made.
 *  2. Programs see one type: objects of DV_T_LONG_RANGE show themselves as DV_T_RANGE. */
#include <math.h>

#include "core/upcall.h"
#include "core/work.h"
#include "types/number/int.h"
#include "types/number/range.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

typedef struct long_range {
    dv_object header;
    dv_range_parts parts;
} long_range;

typedef struct long_iterator {
    dv_object header;
    dv_value next, step, remaining;
} long_iterator;

static const dv_range_parts *parts_of(dv_value v) {
    return &((long_range *)dv_as_object(v))->parts;
}

/* ---- Arithmetic -------------------------------------------------------------------------------*/

/* a op b, taking both; EMPTY where one of them is. */
static dv_value calculate(dv_vm *vm, dv_value a, dv_binary_op op, dv_value b) {
    dv_value r = dv_is_empty(a) || dv_is_empty(b) ? DV_EMPTY : dv_int_binary(vm, op, a, b);
    dv_release(vm, a);
    dv_release(vm, b);
    return r;
}

static bool is_less(dv_vm *vm, dv_value a, dv_value b) {
    return dv_same(dv_int_compare(vm, DV_LT, a, b), DV_TRUE);
}

static bool is_same(dv_vm *vm, dv_value a, dv_value b) {
    return dv_same(dv_int_compare(vm, DV_EQ, a, b), DV_TRUE);
}

/* How many items: (distance - 1) // |step| + 1. */
static dv_value count_items(dv_vm *vm, dv_value start, dv_value stop, dv_value step) {
    bool up = dv_int_sign(step) > 0;
    dv_value low = up ? start : stop, high = up ? stop : start;
    if (!is_less(vm, low, high)) return dv_int(0);
    dv_value stride = up ? dv_retain(step) : dv_int_unary(vm, DV_UNARY_NEG, step);
    dv_value last = calculate(vm, dv_retain(high), DV_BINARY_SUB, dv_retain(low));
    last = calculate(vm, last, DV_BINARY_SUB, dv_int(1));
    return calculate(vm, calculate(vm, last, DV_BINARY_FLOORDIV, stride), DV_BINARY_ADD, dv_int(1));
}

/* start + index * step */
static dv_value item_at(dv_vm *vm, const dv_range_parts *p, dv_value index) {
    dv_value way = calculate(vm, dv_retain(index), DV_BINARY_MUL, dv_retain(p->step));
    return calculate(vm, way, DV_BINARY_ADD, dv_retain(p->start));
}

/* ---- Making -----------------------------------------------------------------------------------*/

static dv_value long_new(dv_vm *vm, dv_value start, dv_value stop, dv_value step) {
    dv_value length = count_items(vm, start, stop, step);
    long_range *range =
        dv_is_empty(length) ? NULL : dv_object_new(vm, sizeof *range, DV_T_LONG_RANGE);
    if (!range) {
        dv_release(vm, length);
        return DV_EMPTY;
    }
    range->parts = (dv_range_parts){dv_retain(start), dv_retain(stop), dv_retain(step), length};
    return dv_object_value(range);
}

dv_value dv_range_of(dv_vm *vm, dv_value start, dv_value stop, dv_value step) {
    int64_t a, b, c;
    if (dv_int_sign(step) == 0)
        return dv_raise(vm, DV_E_VALUE_ERROR, "range() arg 3 must not be zero");
    if (dv_int_to_int64(start, &a) && dv_int_to_int64(stop, &b) && dv_int_to_int64(step, &c))
        return dv_range_new(vm, a, b, c);
    return long_new(vm, start, stop, step);
}

dv_value dv_range_new_long(dv_vm *vm, int64_t start, int64_t stop, int64_t step) {
    dv_value a = dv_int_from_int64(vm, start), b = dv_int_from_int64(vm, stop);
    dv_value c = dv_int_from_int64(vm, step);
    bool good = !dv_is_empty(a) && !dv_is_empty(b) && !dv_is_empty(c);
    dv_value range = good ? long_new(vm, a, b, c) : DV_EMPTY;
    dv_release(vm, a);
    dv_release(vm, b);
    dv_release(vm, c);
    return range;
}

void dv_range_parts_drop(dv_vm *vm, const dv_range_parts *parts) {
    dv_release(vm, parts->start);
    dv_release(vm, parts->stop);
    dv_release(vm, parts->step);
    dv_release(vm, parts->length);
}

bool dv_range_parts_take(dv_vm *vm, dv_value v, dv_range_parts *out) {
    if (dv_is_shape(v, DV_T_LONG_RANGE)) {
        const dv_range_parts *p = parts_of(v);
        *out = (dv_range_parts){dv_retain(p->start), dv_retain(p->stop), dv_retain(p->step),
                                dv_retain(p->length)};
        return true;
    }
    const dv_range *range = (const dv_range *)dv_as_object(v);
    out->start = dv_int_from_int64(vm, range->start);
    out->stop = dv_int_from_int64(vm, range->stop);
    out->step = dv_int_from_int64(vm, range->step);
    out->length = dv_int_from_int64(vm, range->length);
    if (!dv_is_empty(out->start) && !dv_is_empty(out->stop) && !dv_is_empty(out->step) &&
        !dv_is_empty(out->length))
        return true;
    dv_range_parts_drop(vm, out);
    return false;
}

static void long_release(dv_vm *vm, dv_object *object) {
    dv_range_parts_drop(vm, &((long_range *)object)->parts);
    dv_heap_free(&vm->heap, object, sizeof(long_range));
}

static dv_type_id long_face(dv_value self) {
    (void)self;
    return DV_T_RANGE;
}

/* ---- As a whole -------------------------------------------------------------------------------*/

static dv_value long_repr(dv_vm *vm, dv_value self) {
    const dv_range_parts *p = parts_of(self);
    if (dv_same(p->step, dv_int(1))) return dv_str_printf(vm, "range(%V, %V)", p->start, p->stop);
    return dv_str_printf(vm, "range(%V, %V, %V)", p->start, p->stop, p->step);
}

/* The hash of (length, start, step), with None for what does not matter. */
bool dv_range_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    dv_range_parts p;
    if (!dv_range_parts_take(vm, self, &p)) return false;
    bool empty = dv_same(p.length, dv_int(0)), single = dv_same(p.length, dv_int(1));
    dv_value items[3] = {p.length, empty ? DV_NONE : p.start, empty || single ? DV_NONE : p.step};
    dv_value tuple = dv_tuple_new(vm, items, 3);
    bool good = !dv_is_empty(tuple) && dv_hash(vm, tuple, hash);
    dv_release(vm, tuple);
    dv_range_parts_drop(vm, &p);
    return good;
}

static bool same_items(dv_vm *vm, const dv_range_parts *a, const dv_range_parts *b) {
    if (!is_same(vm, a->length, b->length)) return false;
    if (dv_same(a->length, dv_int(0))) return true;
    if (!is_same(vm, a->start, b->start)) return false;
    return dv_same(a->length, dv_int(1)) || is_same(vm, a->step, b->step);
}

dv_value dv_range_compare_long(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    if (!dv_is_range(a) || !dv_is_range(b) || (op != DV_EQ && op != DV_NE))
        return DV_NOTIMPLEMENTED;
    dv_range_parts left, right;
    if (!dv_range_parts_take(vm, a, &left)) return DV_EMPTY;
    dv_value result = DV_EMPTY;
    if (dv_range_parts_take(vm, b, &right)) {
        result = dv_bool(same_items(vm, &left, &right) == (op == DV_EQ));
        dv_range_parts_drop(vm, &right);
    }
    dv_range_parts_drop(vm, &left);
    return result;
}

static int64_t long_length(dv_vm *vm, dv_value self) {
    int64_t length;
    if (dv_int_to_int64(parts_of(self)->length, &length)) return length;
    dv_raise(vm, DV_E_OVERFLOW_ERROR, "Python int too large to convert to C ssize_t");
    return -1;
}

static bool long_truth(dv_value self) { return dv_int_sign(parts_of(self)->length) != 0; }

/* ---- Items ------------------------------------------------------------------------------------*/

dv_value dv_range_slice_long(dv_vm *vm, dv_value self, dv_value slice) {
    dv_range_parts p;
    dv_value bounds[3];
    if (!dv_range_parts_take(vm, self, &p)) return DV_EMPTY;
    dv_value result = DV_EMPTY;
    if (dv_slice_long_indices(vm, slice, p.length, bounds)) {
        dv_value start = item_at(vm, &p, bounds[0]), stop = item_at(vm, &p, bounds[1]);
        dv_value step = calculate(vm, bounds[2], DV_BINARY_MUL, dv_retain(p.step));
        if (!dv_is_empty(start) && !dv_is_empty(stop) && !dv_is_empty(step))
            result = dv_range_of(vm, start, stop, step);
        dv_release(vm, start);
        dv_release(vm, stop);
        dv_release(vm, step);
        dv_release(vm, bounds[0]);
        dv_release(vm, bounds[1]);
    }
    dv_range_parts_drop(vm, &p);
    return result;
}

static dv_value long_get_item(dv_vm *vm, dv_value self, dv_value key) {
    const dv_range_parts *p = parts_of(self);
    if (dv_is_shape(key, DV_T_SLICE)) return dv_range_slice_long(vm, self, key);
    if (!dv_is_index(vm, key))
        return dv_raise(vm, DV_E_TYPE_ERROR, "range indices must be integers or slices, not %T",
                        key);
    dv_value index = dv_int_index(vm, key);
    if (!dv_is_empty(index) && dv_int_sign(index) < 0)
        index = calculate(vm, index, DV_BINARY_ADD, dv_retain(p->length));
    if (dv_is_empty(index)) return DV_EMPTY;
    dv_value item = DV_EMPTY;
    if (dv_int_sign(index) >= 0 && is_less(vm, index, p->length))
        item = item_at(vm, p, index);
    else
        dv_raise(vm, DV_E_INDEX_ERROR, "range object index out of range");
    dv_release(vm, index);
    return item;
}

/* Index of an int; None: it is not among the items; EMPTY: raised. */
static dv_value find_int(dv_vm *vm, const dv_range_parts *p, dv_value number) {
    bool up = dv_int_sign(p->step) > 0;
    if (up ? is_less(vm, number, p->start) || !is_less(vm, number, p->stop)
           : is_less(vm, p->start, number) || !is_less(vm, p->stop, number))
        return DV_NONE;
    dv_value way = calculate(vm, dv_retain(number), DV_BINARY_SUB, dv_retain(p->start));
    dv_value index, rest;
    if (dv_is_empty(way)) return DV_EMPTY;
    bool good = dv_int_divmod(vm, way, p->step, &index, &rest);
    dv_release(vm, way);
    if (!good) return DV_EMPTY;
    bool found = dv_int_sign(rest) == 0;
    dv_release(vm, rest);
    if (found) return index;
    dv_release(vm, index);
    return DV_NONE;
}

/* The same by comparing all items. */
static dv_value find_by_equality(dv_vm *vm, const dv_range_parts *p, dv_value item) {
    dv_value index = dv_int(0);
    while (!dv_is_empty(index) && is_less(vm, index, p->length)) {
        dv_value number = dv_work(vm, 10) ? item_at(vm, p, index) : DV_EMPTY;
        int equal = dv_is_empty(number) ? -1 : dv_equal(vm, number, item);
        dv_release(vm, number);
        if (equal > 0) return index;
        if (equal < 0) {
            dv_release(vm, index);
            return DV_EMPTY;
        }
        index = calculate(vm, index, DV_BINARY_ADD, dv_int(1));
    }
    dv_release(vm, index);
    return dv_is_empty(index) ? DV_EMPTY : DV_NONE;
}

static dv_value find(dv_vm *vm, const dv_range_parts *p, dv_value item) {
    if (dv_is_integral(item) && !dv_is_subclass_instance(item)) return find_int(vm, p, item);
    if (dv_is_float(item)) {
        double d = dv_as_float(item);
        if (d - d != 0.0 || d != trunc(d)) return DV_NONE;
        dv_value whole = dv_int_from_double(vm, d);
        if (dv_is_empty(whole)) return DV_EMPTY;
        dv_value index = find_int(vm, p, whole);
        dv_release(vm, whole);
        return index;
    }
    /* No other built-in type has values that equal an int. */
    if (!dv_is_instance(item) && !dv_is_foreign(item)) return DV_NONE;
    return find_by_equality(vm, p, item);
}

static int long_contains(dv_vm *vm, dv_value self, dv_value item) {
    dv_value index = find(vm, parts_of(self), item);
    dv_release(vm, index);
    return dv_is_empty(index) ? -1 : !dv_is_none(index);
}

dv_value dv_range_index_long(dv_vm *vm, dv_value self, dv_value item) {
    dv_value index = find(vm, parts_of(self), item);
    if (!dv_is_none(index)) return index;
    if (dv_is_any_int(item) || dv_is_bool(item))
        return dv_raise(vm, DV_E_VALUE_ERROR, "%V is not in range", item);
    return dv_raise(vm, DV_E_VALUE_ERROR, "sequence.index(x): x not in sequence");
}

dv_value dv_range_count_long(dv_vm *vm, dv_value self, dv_value item) {
    int found = long_contains(vm, self, item);
    return found < 0 ? DV_EMPTY : dv_int(found);
}

static dv_value long_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    (void)vm;
    const dv_range_parts *p = parts_of(self);
    if (dv_str_is(name, "start")) return dv_retain(p->start);
    if (dv_str_is(name, "stop")) return dv_retain(p->stop);
    if (dv_str_is(name, "step")) return dv_retain(p->step);
    return DV_EMPTY;
}

/* ---- Iterator ---------------------------------------------------------------------------------*/

/* Takes the first item and the step (EMPTY: raised). */
static dv_value iterator_new(dv_vm *vm, dv_value first, dv_value step, dv_value length) {
    long_iterator *iterator = NULL;
    if (!dv_is_empty(first) && !dv_is_empty(step))
        iterator = dv_object_new(vm, sizeof *iterator, DV_T_LONG_RANGE_ITERATOR);
    if (!iterator) {
        dv_release(vm, first);
        dv_release(vm, step);
        return DV_EMPTY;
    }
    iterator->next = first;
    iterator->step = step;
    iterator->remaining = dv_retain(length);
    return dv_object_value(iterator);
}

static dv_value long_iterate(dv_vm *vm, dv_value self) {
    const dv_range_parts *p = parts_of(self);
    return iterator_new(vm, dv_retain(p->start), dv_retain(p->step), p->length);
}

dv_value dv_range_reverse_long(dv_vm *vm, dv_value self) {
    dv_range_parts p;
    if (!dv_range_parts_take(vm, self, &p)) return DV_EMPTY;
    dv_value index = calculate(vm, dv_retain(p.length), DV_BINARY_SUB, dv_int(1));
    dv_value last = dv_is_empty(index) ? DV_EMPTY : item_at(vm, &p, index);
    dv_value r = iterator_new(vm, last, dv_int_unary(vm, DV_UNARY_NEG, p.step), p.length);
    dv_release(vm, index);
    dv_range_parts_drop(vm, &p);
    return r;
}

static void iterator_release(dv_vm *vm, dv_object *object) {
    long_iterator *iterator = (long_iterator *)object;
    dv_release(vm, iterator->next);
    dv_release(vm, iterator->step);
    dv_release(vm, iterator->remaining);
    dv_heap_free(&vm->heap, object, sizeof *iterator);
}

static dv_value iterator_next(dv_vm *vm, dv_value self) {
    long_iterator *it = (long_iterator *)dv_as_object(self);
    if (dv_int_sign(it->remaining) == 0) return DV_EMPTY;
    dv_value next = dv_int_binary(vm, DV_BINARY_ADD, it->next, it->step);
    if (dv_is_empty(next)) return DV_EMPTY;
    dv_value left = dv_int_binary(vm, DV_BINARY_SUB, it->remaining, dv_int(1));
    if (dv_is_empty(left)) {
        dv_release(vm, next);
        return DV_EMPTY;
    }
    dv_value item = it->next;
    dv_release(vm, it->remaining);
    it->next = next;
    it->remaining = left;
    return item;
}

static dv_value iterator_self(dv_vm *vm, dv_value self) {
    (void)vm;
    return dv_retain(self);
}

const dv_type dv_long_range_iterator_type = {
    .name = "longrange_iterator",
    .id = DV_T_LONG_RANGE_ITERATOR,
    .release = iterator_release,
    .iterate = iterator_self,
    .next = iterator_next,
};

const dv_type dv_long_range_type = {
    .name = "range",
    .id = DV_T_LONG_RANGE,
    .face = long_face,
    .release = long_release,
    .repr = long_repr,
    .hash = dv_range_hash,
    .compare = dv_range_compare_long,
    .length = long_length,
    .truth = long_truth,
    .get_item = long_get_item,
    .contains = long_contains,
    .iterate = long_iterate,
    .get_attribute = long_get_attribute,
};
