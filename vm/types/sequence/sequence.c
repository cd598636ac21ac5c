/* sequence.c: the rules that str, list, tuple and range share.
 *
 * Invariants
 *  1. Comparing or printing an item may run dl code, which may change the list that it is in: items
 *     are counted while they are worked on, and the list is read again after each.
 *  2. Recursion into items goes through dv_repr, dv_compare and dv_hash, which watch the C stack.
 */
#include "types/sequence/sequence.h"
#include "core/work.h"

#include "types/class/class.h"
#include "types/class/instance.h"
#include "types/number/int.h"
#include "types/number/range.h"
#include "types/sequence/iterator.h"
#include "types/sequence/list.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

/* ---- Indices and bounds ------------------------------------------------------------------------
 */

bool dv_is_index(dv_vm *vm, dv_value v) {
    if (dv_is_any_int(v) || dv_is_bool(v)) return true;
    return (dv_has_methods(v) || dv_is_foreign(v) || dv_is_weak_proxy(v)) &&
           dv_class_find(vm, dv_class_of(vm, v), vm->known.index);
}

bool dv_sequence_index(dv_vm *vm, dv_value key, const char *refusal, int64_t *index) {
    if (DV_LIKELY(dv_is_int(key))) {
        *index = dv_as_int(key);
        return true;
    }
    if (dv_is_index(vm, key)) return dv_as_index(vm, key, index);
    dv_raise(vm, DV_E_TYPE_ERROR, refusal, key);
    return false;
}

bool dv_size_argument(dv_vm *vm, dv_value v, int64_t *size) {
    if (dv_int_to_int64(v, size)) return true;
    if (!dv_is_any_int(v))
        return dv_sequence_index(vm, v, "'%T' object cannot be interpreted as an integer", size);
    dv_raise(vm, DV_E_OVERFLOW_ERROR, "Python int too large to convert to C ssize_t");
    return false;
}

bool dv_optional_size_argument(dv_vm *vm, dv_value v, int64_t *size) {
    if (dv_int_to_int64(v, size)) return true;
    if (dv_is_any_int(v))
        dv_raise(vm, DV_E_OVERFLOW_ERROR, "cannot fit '%T' into an index-sized integer", v);
    else if (dv_is_index(vm, v))
        return dv_size_argument(vm, v, size);
    else
        dv_raise(vm, DV_E_TYPE_ERROR, "argument should be integer or None, not '%T'", v);
    return false;
}

bool dv_int_argument(dv_vm *vm, dv_value v, int64_t *number) {
    bool whole = dv_is_any_int(v);
    if (!whole && !dv_size_argument(vm, v, number)) return false;
    if (whole && !dv_int_to_int64(v, number)) *number = INT64_MAX;
    if (*number >= INT32_MIN && *number <= INT32_MAX) return true;
    dv_raise(vm, DV_E_OVERFLOW_ERROR, "Python int too large to convert to C int");
    return false;
}

bool dv_slice_bound(dv_vm *vm, dv_value v, bool none_allowed, int64_t *bound) {
    if (dv_is_int(v)) {
        *bound = dv_as_int(v);
        return true;
    }
    if (dv_int_to_int64(v, bound)) return true;
    if (dv_is_any_int(v)) {
        *bound = dv_int_sign(v) < 0 ? INT64_MIN : INT64_MAX;
        return true;
    }
    if (dv_is_index(vm, v)) return dv_as_index(vm, v, bound);
    dv_raise(vm, DV_E_TYPE_ERROR, "slice indices must be integers or %shave an __index__ method",
             none_allowed ? "None or " : "");
    return false;
}

static int64_t clip(int64_t bound, int64_t length) {
    if (bound < 0) bound = bound < -length ? 0 : bound + length;
    return bound;
}

bool dv_search_bounds(dv_vm *vm, const dv_value *args, uint32_t count, int64_t length,
                      bool none_allowed, int64_t *start, int64_t *stop) {
    *start = 0;
    *stop = length;
    if (count > 0 && !(none_allowed && dv_is_none(args[0]))) {
        if (!dv_slice_bound(vm, args[0], none_allowed, start)) return false;
        *start = clip(*start, length);
    }
    if (count > 1 && !(none_allowed && dv_is_none(args[1]))) {
        if (!dv_slice_bound(vm, args[1], none_allowed, stop)) return false;
        *stop = clip(*stop, length);
        if (*stop > length) *stop = length;
    }
    return true;
}

/* ---- Repetition and concatenation --------------------------------------------------------------
 */

bool dv_repeat_operands(dv_vm *vm, dv_type_id type, dv_value a, dv_value b, dv_value *sequence,
                        int64_t *times) {
    bool first = dv_has_layout(a, type);
    dv_value number = first ? b : a;
    *sequence = first ? a : b;
    if (dv_int_to_int64(number, times)) return true;
    if (dv_is_any_int(number)) {
        dv_raise(vm, DV_E_OVERFLOW_ERROR, "cannot fit '%T' into an index-sized integer", number);
        return false;
    }
    /* (What an extension has knows itself how it multiplies.) */
    if (!dv_is_foreign(number) && dv_is_index(vm, number)) return dv_as_index(vm, number, times);
    dv_raise(vm, DV_E_TYPE_ERROR, "can't multiply sequence by non-int of type '%T'", number);
    return false;
}

dv_value dv_concat_refuse(dv_vm *vm, const char *name, dv_value b) {
    return dv_raise(vm, DV_E_TYPE_ERROR, "can only concatenate %s (not \"%T\") to %s", name, b,
                    name);
}

/* ---- Items of lists and tuples -----------------------------------------------------------------
 */

const dv_value *dv_items_of(dv_value sequence, int64_t *count) {
    if (dv_is_list(sequence)) {
        *count = dv_as_list(sequence)->count;
        return dv_as_list(sequence)->items;
    }
    *count = dv_as_tuple(sequence)->count;
    return dv_as_tuple(sequence)->items;
}

/* A str, or of a class derived from it that leaves __eq__ to it. */
static bool is_equal_as_str(dv_vm *vm, dv_value v) {
    if (dv_is_textual_asked(vm, v)) return true;
    return !dv_class_special_again(vm, dv_shape_at(vm, dv_as_object(v)->shape)->class_,
                                   vm->known.eq);
}

int dv_tuples_less_plainly(const dv_tuple *a, const dv_tuple *b) {
    for (int64_t i = 0; i < a->count && i < b->count; i++) {
        const dv_value x = a->items[i], y = b->items[i];
        if (dv_same(x, y)) continue;
        if (dv_are_ints(x, y)) return dv_as_int(x) < dv_as_int(y);
        const int equal = dv_equal_plainly(x, y);
        if (equal < 0) return -1;
        if (equal) continue;
        return dv_is_float(x) ? dv_as_float(x) < dv_as_float(y) : dv_str_order(x, y) < 0;
    }
    return a->count < b->count;
}

static inline bool is_unequal(dv_vm *vm, dv_value v) {
    return dv_is_plain_instance(v) &&
           dv_class_unequal(vm, dv_shape_at(vm, dv_as_object(v)->shape)->class_);
}

/* Are two instances, which are not the same, equal to nothing else?  No means that more must be
 * asked. */
static inline bool never_equal(dv_vm *vm, dv_value a, dv_value b) {
    return is_unequal(vm, a) && is_unequal(vm, b);
}

int dv_items_equal(dv_vm *vm, dv_value a, dv_value b) {
    int plainly = dv_equal_plainly(a, b);
    if (plainly < 0 && dv_is_shape(a, DV_T_TUPLE) && dv_is_shape(b, DV_T_TUPLE))
        plainly = dv_tuples_equal_plainly(dv_as_tuple(a), dv_as_tuple(b));
    if (DV_LIKELY(plainly >= 0)) return plainly;
    if (never_equal(vm, a, b)) return 0;
    if (dv_is_str(a) && dv_is_str(b) && is_equal_as_str(vm, a) && is_equal_as_str(vm, b))
        return dv_str_equal(a, b);
    dv_retain(a);
    dv_retain(b);
    int equal = dv_equal(vm, a, b);
    dv_release(vm, a);
    dv_release(vm, b);
    return equal;
}

/* What the first pair that differs says of the sequences. */
static dv_value compare_pair(dv_vm *vm, dv_compare_op op, dv_value x, dv_value y) {
    if (op == DV_EQ || op == DV_NE) return dv_bool(op == DV_NE);
    if (dv_are_ints(x, y)) return dv_bool(dv_int64s_compare(op, dv_as_int(x), dv_as_int(y)));
    return dv_compare(vm, op, x, y);
}

/* The same for pair number i of a and b, which must be asked whether it is equal; EMPTY and *equal:
 * it is, or the answer has made one of them so short that the lengths decide. */
static dv_value compare_asked(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b, int64_t i,
                              int *equal) {
    int64_t count_a, count_b;
    dv_value x = dv_retain(dv_items_of(a, &count_a)[i]), y = dv_retain(dv_items_of(b, &count_b)[i]);
    dv_value result = DV_EMPTY;
    *equal = dv_items_equal(vm, x, y);
    dv_items_of(a, &count_a);
    dv_items_of(b, &count_b);
    if (*equal == 0 && (i >= count_a || i >= count_b)) *equal = 1;
    if (*equal == 0) result = compare_pair(vm, op, x, y);
    dv_release(vm, x);
    dv_release(vm, y);
    return result;
}

enum {
    BLOCK = 1 << 16, /* items that are looked at before their number is counted */
    FEW = 64,        /* that need not be */
};

/* The first pair that differs decides, or else the lengths. */
dv_value dv_items_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    int64_t count_a, count_b;
    const dv_value *items_a = dv_items_of(a, &count_a), *items_b = dv_items_of(b, &count_b);
    /* As in CPython, tuples of different lengths ask their items all the same. */
    if (count_a != count_b && (op == DV_EQ || op == DV_NE) && dv_is_list(a))
        return dv_bool(op == DV_NE);
    for (int64_t i = 0;; i++) {
        int equal = 1;
        const int64_t from = i, common = count_a < count_b ? count_a : count_b;
        const int64_t stop = common - i > BLOCK ? i + BLOCK : common;
        while (i < stop && (equal = dv_equal_plainly(items_a[i], items_b[i])) == 1) i++;
        if (DV_UNLIKELY(i - from > FEW)) {
            if (!dv_work(vm, (i - from) / 4)) return DV_EMPTY;
            if (equal == 1 && i < common) {
                i--; /* a block is through, and the lists are as they were */
                continue;
            }
        }
        if (i >= common) return dv_bool(dv_int64s_compare(op, count_a, count_b));
        if (equal < 0 && never_equal(vm, items_a[i], items_b[i])) equal = 0;
        if (equal == 0) return compare_pair(vm, op, items_a[i], items_b[i]);
        if (!dv_work(vm, 4)) return DV_EMPTY; /* short items count nothing themselves */
        dv_value result = compare_asked(vm, op, a, b, i, &equal);
        if (equal != 1) return result;
        items_a = dv_items_of(a, &count_a); /* which may have run code of the program */
        items_b = dv_items_of(b, &count_b);
    }
}

/* a op b where the first items that differ are ints, floats or strs; -1: of others. */
static inline int compare_plainly(dv_compare_op op, const dv_value *a, int64_t count_a,
                                  const dv_value *b, int64_t count_b) {
    const int64_t common = count_a < count_b ? count_a : count_b;
    int equal = 1;
    int64_t i = 0;
    while (i < common && (equal = dv_equal_plainly(a[i], b[i])) == 1) i++;
    if (equal < 0) return -1;
    if (equal) return dv_int64s_compare(op, count_a, count_b);
    if (op == DV_EQ || op == DV_NE) return op == DV_NE;
    if (dv_are_ints(a[i], b[i])) return dv_int64s_compare(op, dv_as_int(a[i]), dv_as_int(b[i]));
    if (dv_is_float(a[i])) return dv_doubles_compare(op, dv_as_float(a[i]), dv_as_float(b[i]));
    return dv_int64s_compare(op, dv_str_order(a[i], b[i]), 0);
}

int dv_tuples_compare_plainly(dv_compare_op op, const dv_tuple *a, const dv_tuple *b) {
    if (a->count > FEW) return -1; /* is counted */
    return compare_plainly(op, a->items, a->count, b->items, b->count);
}

dv_value dv_compare_displays(dv_vm *vm, dv_compare_op op, const dv_value *a, int64_t count) {
    const int plainly = vm->calls_left > 0 ? compare_plainly(op, a, count, a + count, count) : -1;
    if (plainly >= 0) return dv_bool(plainly);
    dv_value result = DV_EMPTY, left = dv_tuple_new(vm, a, count);
    dv_value right = dv_is_empty(left) ? DV_EMPTY : dv_tuple_new(vm, a + count, count);
    if (!dv_is_empty(right)) result = dv_compare(vm, op, left, right);
    dv_release(vm, left);
    dv_release(vm, right);
    return result;
}

/* The same of a range; -1 unless it is simple. */
static int range_has_at_once(const dv_range *range, dv_value v) {
    int64_t from;
    if (!dv_is_int(v) || range->step != 1 ||
        __builtin_sub_overflow(dv_as_int(v), range->start, &from))
        return -1;
    return from >= 0 && from < range->length;
}

int dv_sequence_has_at_once(dv_vm *vm, dv_value sequence, dv_value v) {
    int64_t count;
    if (dv_is_shape(sequence, DV_T_RANGE))
        return range_has_at_once((const dv_range *)dv_as_object(sequence), v);
    const dv_value *items = dv_items_of(sequence, &count);
    if (count > 64) return -1; /* is counted */
    for (int64_t i = 0; i < count; i++) {
        const int equal = dv_equal_plainly(items[i], v);
        if (equal > 0 || (equal < 0 && !never_equal(vm, items[i], v))) return equal;
    }
    return 0;
}

int64_t dv_items_find(dv_vm *vm, dv_value sequence, dv_value item, int64_t start, int64_t stop) {
    for (int64_t i = start;; i++) {
        int64_t count;
        const dv_value *items = dv_items_of(sequence, &count);
        int equal = 0;
        if (count > stop) count = stop;
        const int64_t from = i, end = count - i > BLOCK ? i + BLOCK : count;
        while (i < end && (equal = dv_equal_plainly(items[i], item)) <= 0) {
            if (equal < 0 && !never_equal(vm, items[i], item)) break;
            equal = 0;
            i++;
        }
        if (DV_UNLIKELY(i - from > FEW) && !dv_work(vm, (i - from) / 4)) return -2;
        if (i >= count) return -1;
        if (equal == 0) { /* a block is through */
            i--;
            continue;
        }
        if (equal < 0) equal = dv_items_equal(vm, items[i], item);
        if (equal < 0) return -2;
        if (equal) return i;
    }
}

int64_t dv_items_count(dv_vm *vm, dv_value sequence, dv_value item) {
    int64_t found = 0, count;
    for (int64_t i = 0;; i++) {
        const dv_value *items = dv_items_of(sequence, &count);
        if (i >= count) return found;
        if (i % 2 == 0 && !dv_work(vm, 1)) return -1; /* two plain comparisons take a unit */
        int equal = dv_items_equal(vm, items[i], item);
        if (equal < 0) return -1;
        found += equal;
    }
}

/* ---- repr --------------------------------------------------------------------------------------
 */

bool dv_repr_enter(dv_vm *vm, struct dv_repr_guard *guard, dv_value v) {
    for (struct dv_repr_guard *outer = vm->repr_guard; outer; outer = outer->next)
        if (outer->object == dv_as_object(v)) return false;
    guard->object = dv_as_object(v);
    guard->next = vm->repr_guard;
    vm->repr_guard = guard;
    return true;
}

void dv_repr_leave(dv_vm *vm) { vm->repr_guard = vm->repr_guard->next; }

static bool append_items(dv_builder *b, dv_value sequence) {
    for (int64_t i = 0;; i++) {
        int64_t count;
        const dv_value *items = dv_items_of(sequence, &count);
        if (i >= count) return true;
        if (!dv_work(b->vm, 2)) return false;
        if (i > 0) dv_builder_text(b, ", ", 2);
        dv_value item = dv_retain(items[i]);
        bool good = dv_builder_repr(b, item);
        dv_release(b->vm, item);
        if (!good) return false;
    }
}

dv_value dv_items_repr(dv_vm *vm, dv_value sequence, const char *open, const char *close,
                       const char *recursive) {
    struct dv_repr_guard guard;
    if (!dv_repr_enter(vm, &guard, sequence)) return dv_str_z(vm, recursive);
    dv_value result = DV_EMPTY;
    dv_builder b;
    dv_builder_init(&b, vm);
    dv_builder_z(&b, open);
    bool good = append_items(&b, sequence);
    dv_builder_z(&b, close);
    if (good)
        result = dv_builder_finish(&b);
    else
        dv_builder_discard(&b);
    dv_repr_leave(vm);
    return result;
}

/* ---- Collecting --------------------------------------------------------------------------------
 */

void dv_items_discard(dv_vm *vm, dv_items *items) {
    for (int64_t i = 0; i < items->count; i++) dv_release(vm, items->data[i]);
    if (items->data) dv_heap_free(&vm->heap, items->data, (size_t)items->room * sizeof(dv_value));
    *items = (dv_items){NULL, 0, 0};
}

/* Takes the ownership of item, also on failure. */
static bool items_add(dv_vm *vm, dv_items *items, dv_value item) {
    if (items->count == items->room) {
        int64_t room = items->room + items->room / 2 + 8;
        dv_value *data =
            dv_heap_resize(&vm->heap, items->data, (size_t)items->room * sizeof(dv_value),
                           (size_t)room * sizeof(dv_value));
        if (!data) {
            dv_release(vm, item);
            dv_raise_memory(vm);
            return false;
        }
        items->data = data;
        items->room = room;
    }
    items->data[items->count++] = item;
    return true;
}

static bool collect_copy(dv_vm *vm, dv_value sequence, dv_items *out) {
    int64_t count;
    const dv_value *items = dv_items_of(sequence, &count);
    if (count == 0) return true;
    out->data = dv_heap_alloc(&vm->heap, (size_t)count * sizeof(dv_value));
    if (!out->data) {
        dv_raise_memory(vm);
        return false;
    }
    for (int64_t i = 0; i < count; i++) out->data[i] = dv_retain(items[i]);
    out->count = out->room = count;
    return true;
}

/* Could asking for the length run dl code? */
static bool tells_length(dv_value v) {
    if (dv_is_instance(v) || dv_is_shape(v, DV_T_REVERSED)) return true;
    return dv_is_shape(v, DV_T_ITERATOR) &&
           dv_is_instance(((const dv_iterator *)dv_as_object(v))->sequence);
}

bool dv_ask_length(dv_vm *vm, dv_value iterable) {
    return !tells_length(iterable) || dv_length_hint(vm, iterable, 0) >= 0;
}

bool dv_items_collect(dv_vm *vm, dv_value iterable, dv_items *out) {
    *out = (dv_items){NULL, 0, 0};
    if (dv_is_shape(iterable, DV_T_LIST) || dv_is_shape(iterable, DV_T_TUPLE))
        return collect_copy(vm, iterable, out);
    dv_value iterator = dv_iterate(vm, iterable);
    if (dv_is_empty(iterator)) return false;
    bool good = dv_ask_length(vm, iterable) && dv_items_drain(vm, iterator, out);
    dv_release(vm, iterator);
    return good;
}

bool dv_items_iterate(dv_vm *vm, dv_value iterable, dv_items *out) {
    *out = (dv_items){NULL, 0, 0};
    if (dv_is_shape(iterable, DV_T_LIST) || dv_is_shape(iterable, DV_T_TUPLE))
        return collect_copy(vm, iterable, out);
    dv_value iterator = dv_iterate(vm, iterable);
    if (dv_is_empty(iterator)) return false;
    bool good = dv_items_collect(vm, iterator, out);
    dv_release(vm, iterator);
    return good;
}

bool dv_items_drain(dv_vm *vm, dv_value iterator, dv_items *out) {
    *out = (dv_items){NULL, 0, 0};
    bool good = true;
    while (good) {
        dv_value item = dv_step(vm, iterator);
        if (dv_is_empty(item)) break;
        good = items_add(vm, out, item);
    }
    good = good && dv_is_empty(vm->error);
    if (!good) dv_items_discard(vm, out);
    return good;
}

/* Length hints ----------------------------------------------------------------------------------
 */

/* len(v) of what has one; -1: it has none, or raised. */
static int64_t length_if_any(dv_vm *vm, dv_value v) {
    bool has = dv_is_instance(v)
                   ? dv_has_special(vm, v, vm->known.len) ||
                         (dv_is_subclass_instance(v) && vm->types[dv_type_of(vm, v)]->length)
                   : vm->types[dv_type_of(vm, v)]->length != NULL;
    if (!has) return -1;
    int64_t length = dv_length(vm, v);
    if (length < 0 && dv_error_is(vm, DV_E_TYPE_ERROR)) dv_error_clear(vm);
    return length;
}

/* What __length_hint__ returned (owned), as a number that was checked. */
static int64_t checked_hint(dv_vm *vm, dv_value hint, int64_t otherwise) {
    int64_t size = -1;
    if (dv_same(hint, DV_NOTIMPLEMENTED)) return otherwise;
    if (!dv_is_integral(hint))
        dv_raise(vm, DV_E_TYPE_ERROR, "__length_hint__ must be an integer, not %T", hint);
    else if (dv_size_argument(vm, hint, &size) && size < 0)
        dv_raise(vm, DV_E_VALUE_ERROR, "__length_hint__() should return >= 0");
    dv_release(vm, hint);
    return dv_is_empty(vm->error) ? size : -1;
}

int64_t dv_length_hint(dv_vm *vm, dv_value v, int64_t otherwise) {
    int64_t length = length_if_any(vm, v);
    if (length >= 0 || !dv_is_empty(vm->error)) return length;
    const dv_global_cell *cell = dv_class_find(vm, dv_class_of(vm, v), vm->known.length_hint);
    if (!cell) return dv_is_empty(vm->error) ? otherwise : -1;
    dv_value method = dv_retain(cell->value);
    dv_value hint = dv_call_with_self(vm, method, v, NULL, 0, DV_EMPTY);
    dv_release(vm, method);
    if (!dv_is_empty(hint)) return checked_hint(vm, hint, otherwise);
    if (!dv_error_is(vm, DV_E_TYPE_ERROR)) return -1;
    dv_error_clear(vm);
    return otherwise;
}
