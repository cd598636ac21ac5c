/* collections_deque.c: collections.deque, a ring of items.
 *
 * Invariants
 *  1. Item i is ring[(head + i) & (capacity - 1)] for 0 <= i < count; capacity is 0 or a power of
 *     two, so that indexing is as fast at the middle as at the ends.
 *  2. `state` changes with every change of the number of items: iterators and searches compare it.
 *  3. count <= maximum where that is not -1.
 *  4. Releasing an item may run dl code: it is out of the ring by then. */
#include "modules/data/collections_parts.h"

#include "core/native.h"
#include "core/upcall.h"
#include "core/work.h"
#include "types/callable/arguments.h"
#include "types/class/class.h"
#include "types/number/int.h"
#include "types/sequence/iterator.h"
#include "types/sequence/list.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/class/subclass.h"
#include "types/sequence/tuple.h"

typedef struct deque {
    dv_object header;
    int64_t count, capacity, head;
    int64_t maximum; /* -1: none */
    uint64_t state;
    dv_value *ring;
} deque;

static bool is_deque(dv_value v) { return dv_has_layout(v, DV_T_DEQUE); }
static deque *as_deque(dv_value v) { return (deque *)dv_as_object(v); }

static dv_value *slot(const deque *d, int64_t i) {
    return &d->ring[(d->head + i) & (d->capacity - 1)];
}

/* The ring ---------------------------------------------------------------------------------------
 */

static bool grow(dv_vm *vm, deque *d) {
    int64_t capacity = d->capacity ? 2 * d->capacity : 8;
    if (capacity > (int64_t)1 << 58) {
        dv_raise_memory(vm);
        return false;
    }
    dv_value *ring = dv_heap_alloc(&vm->heap, (size_t)capacity * sizeof *ring);
    if (!ring) {
        dv_raise_memory(vm);
        return false;
    }
    for (int64_t i = 0; i < d->count; i++) ring[i] = *slot(d, i);
    if (d->ring) dv_heap_free(&vm->heap, d->ring, (size_t)d->capacity * sizeof *ring);
    d->ring = ring;
    d->capacity = capacity;
    d->head = 0;
    return true;
}

static dv_value take_right(deque *d) {
    d->state++;
    return *slot(d, --d->count);
}

static dv_value take_left(deque *d) {
    dv_value item = *slot(d, 0);
    d->state++;
    d->count--;
    d->head = (d->head + 1) & (d->capacity - 1);
    return item;
}

/* Append on the right or left: takes the item.  A full deque loses one at the other end. */
static bool push_right(dv_vm *vm, deque *d, dv_value item) {
    if (d->count == d->capacity && !grow(vm, d)) {
        dv_release(vm, item);
        return false;
    }
    d->state++;
    *slot(d, d->count++) = item;
    if (d->maximum >= 0 && d->count > d->maximum) dv_release(vm, take_left(d));
    return true;
}

static bool push_left(dv_vm *vm, deque *d, dv_value item) {
    if (d->count == d->capacity && !grow(vm, d)) {
        dv_release(vm, item);
        return false;
    }
    d->state++;
    d->head = (d->head - 1) & (d->capacity - 1);
    d->count++;
    *slot(d, 0) = item;
    if (d->maximum >= 0 && d->count > d->maximum) dv_release(vm, take_right(d));
    return true;
}

static void empty(dv_vm *vm, deque *d) {
    dv_value *ring = d->ring;
    int64_t count = d->count, capacity = d->capacity, head = d->head;
    d->ring = NULL;
    d->count = d->capacity = d->head = 0;
    d->state++;
    for (int64_t i = 0; i < count; i++) dv_release(vm, ring[(head + i) & (capacity - 1)]);
    if (ring) dv_heap_free(&vm->heap, ring, (size_t)capacity * sizeof *ring);
}

/* Turns the ring to the right by n places, which may be negative. */
static void rotate(dv_vm *vm, deque *d, int64_t n) {
    if (d->count < 2) return;
    n %= d->count;
    if (n < 0) n += d->count;
    d->state++;
    bool right = n <= d->count / 2;
    dv_work_owe(vm, (right ? n : d->count - n) / 6);
    for (int64_t left = right ? n : d->count - n; left > 0; left--) {
        dv_value item = right ? take_right(d) : take_left(d);
        if (right) d->head = (d->head - 1) & (d->capacity - 1);
        d->count++;
        *slot(d, right ? 0 : d->count - 1) = item;
    }
}

static void deque_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const deque *d = (const deque *)object;
    for (int64_t i = 0; i < d->count; i++) visit(vm, *slot(d, i), context);
}

static void deque_clear_cycle(dv_vm *vm, dv_object *object) { empty(vm, (deque *)object); }

static void deque_release(dv_vm *vm, dv_object *object) {
    empty(vm, (deque *)object);
    dv_base_free(vm, object, sizeof(deque));
}

static deque *initial(deque *d) {
    if (!d) return NULL;
    d->count = d->capacity = d->head = 0;
    d->maximum = -1;
    d->state = 0;
    d->ring = NULL;
    return d;
}

static deque *deque_new(dv_vm *vm, int64_t maximum) {
    deque *d = initial(dv_container_new(vm, sizeof *d, DV_T_DEQUE));
    if (d) d->maximum = maximum;
    return d;
}

/* Appends the items of an iterable (which may be the deque itself) on one side. */
static bool extend(dv_vm *vm, deque *d, dv_value iterable, bool left) {
    dv_value source = dv_retain(iterable);
    if (dv_same(iterable, dv_object_value(d))) {
        dv_release(vm, source);
        source = dv_list_new(vm, NULL, 0);
        if (dv_is_empty(source)) return false;
        for (int64_t i = 0; i < d->count; i++) {
            if (dv_list_append(vm, source, *slot(d, i))) continue;
            dv_release(vm, source);
            return false;
        }
    }
    dv_value iterator = dv_iterate(vm, source);
    dv_release(vm, source);
    if (dv_is_empty(iterator)) return false;
    for (;;) {
        dv_value item = dv_step(vm, iterator);
        if (dv_is_empty(item)) break;
        if (!(left ? push_left(vm, d, item) : push_right(vm, d, item))) break;
    }
    dv_release(vm, iterator);
    return dv_is_empty(vm->error);
}

/* Appends all items of another deque; nothing else runs meanwhile but releases. */
static bool append_items(dv_vm *vm, deque *d, const deque *other) {
    if (!dv_work(vm, other->count)) return false;
    for (int64_t i = 0; i < other->count; i++)
        if (!push_right(vm, d, dv_retain(*slot(other, i)))) return false;
    return true;
}

static dv_value deque_or_release(dv_vm *vm, deque *d, bool good) {
    if (good) return dv_object_value(d);
    dv_release_object(vm, &d->header);
    return DV_EMPTY;
}

/* Making ----------------------------------------------------------------------------------------
 */

static bool deque_initialise(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                             dv_value keywords) {
    static const char *const names[] = {"iterable", "maxlen"};
    const dv_parameters parameters = {"deque", names, 2, 2, 0};
    dv_value out[2];
    deque *d = as_deque(self);
    int64_t maximum = -1;
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, out)) return false;
    if (!dv_is_empty(out[1]) && !dv_is_none(out[1])) {
        if (!dv_is_integral(out[1])) {
            dv_raise(vm, DV_E_TYPE_ERROR, "an integer is required");
            return false;
        }
        if (!dv_size_argument(vm, out[1], &maximum)) return false;
        if (maximum < 0) {
            dv_raise(vm, DV_E_VALUE_ERROR, "maxlen must be non-negative");
            return false;
        }
    }
    d->maximum = maximum;
    if (d->count > 0) empty(vm, d);
    return dv_is_empty(out[0]) || extend(vm, d, out[0], false);
}

static dv_value deque_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    deque *d = deque_new(vm, -1);
    if (!d) return DV_EMPTY;
    return deque_or_release(vm, d, deque_initialise(vm, dv_object_value(d), args, count, keywords));
}

static dv_value deque_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    deque *d = initial(dv_subclass_alloc(vm, class_, sizeof *d));
    if (!d) return DV_EMPTY;
    d->maximum = as_deque(exact)->maximum;
    return deque_or_release(vm, d, append_items(vm, d, as_deque(exact)));
}

/* A deque with the same items and maximum; of a subclass through its constructor, which may give
 * anything: what is no deque is refused. */
static dv_value deque_copy(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const deque *old = as_deque(args[0]);
    if (dv_is_shape(args[0], DV_T_DEQUE)) {
        deque *d = deque_new(vm, old->maximum);
        return d ? deque_or_release(vm, d, append_items(vm, d, old)) : DV_EMPTY;
    }
    dv_value given[2] = {args[0], dv_int(old->maximum)};
    dv_value class_ = dv_object_value(dv_class_of(vm, args[0]));
    dv_value copy = dv_call(vm, class_, given, old->maximum < 0 ? 1 : 2, DV_EMPTY);
    if (dv_is_empty(copy) || is_deque(copy)) return copy;
    dv_raise(vm, DV_E_TYPE_ERROR, "%S() must return a deque, not %T", dv_as_class(class_)->name,
             copy);
    dv_release(vm, copy);
    return DV_EMPTY;
}

/* Methods ----------------------------------------------------------------------------------------
 */

#define METHOD(name) static dv_value deque_##name(dv_vm *vm, const dv_value *args, uint32_t count)

METHOD(append) {
    (void)count;
    return push_right(vm, as_deque(args[0]), dv_retain(args[1])) ? DV_NONE : DV_EMPTY;
}

METHOD(appendleft) {
    (void)count;
    return push_left(vm, as_deque(args[0]), dv_retain(args[1])) ? DV_NONE : DV_EMPTY;
}

METHOD(pop) {
    (void)count;
    deque *d = as_deque(args[0]);
    if (d->count == 0) return dv_raise(vm, DV_E_INDEX_ERROR, "pop from an empty deque");
    return take_right(d);
}

METHOD(popleft) {
    (void)count;
    deque *d = as_deque(args[0]);
    if (d->count == 0) return dv_raise(vm, DV_E_INDEX_ERROR, "pop from an empty deque");
    return take_left(d);
}

METHOD(extend) {
    (void)count;
    return extend(vm, as_deque(args[0]), args[1], false) ? DV_NONE : DV_EMPTY;
}

METHOD(extendleft) {
    (void)count;
    return extend(vm, as_deque(args[0]), args[1], true) ? DV_NONE : DV_EMPTY;
}

METHOD(clear) {
    (void)count;
    empty(vm, as_deque(args[0]));
    return DV_NONE;
}

METHOD(rotate) {
    int64_t n = 1;
    if (!dv_arguments_count(vm, "deque.rotate", count - 1, 0, 1)) return DV_EMPTY;
    if (count == 2 && !dv_size_argument(vm, args[1], &n)) return DV_EMPTY;
    rotate(vm, as_deque(args[0]), n);
    return DV_NONE;
}

METHOD(reverse) {
    (void)count;
    const deque *d = as_deque(args[0]);
    dv_work_owe(vm, d->count / 8);
    for (int64_t i = 0, j = d->count - 1; i < j; i++, j--) {
        dv_value item = *slot(d, i);
        *slot(d, i) = *slot(d, j);
        *slot(d, j) = item;
    }
    return DV_NONE;
}

/* Does item i equal the value?  1, 0, -1 raised. */
static int equals(dv_vm *vm, const deque *d, int64_t i, dv_value value) {
    dv_value item = dv_retain(*slot(d, i));
    int equal = dv_equal(vm, item, value);
    dv_release(vm, item);
    return equal;
}

/* Index of the first item in [start, stop) that equals the value; -1: none; -2: raised, also where
 * a comparison changed the deque. */
static int64_t find(dv_vm *vm, const deque *d, dv_value value, int64_t start, int64_t stop,
                    dv_error_class error, const char *changed) {
    uint64_t state = d->state;
    for (int64_t i = start; i < stop; i++) {
        int equal = dv_work(vm, 1) ? equals(vm, d, i, value) : -1;
        if (equal < 0) return -2;
        if (equal > 0 && error != DV_E_INDEX_ERROR) return i;
        if (state != d->state) {
            dv_raise(vm, error, "%s", changed);
            return -2;
        }
        if (equal) return i;
    }
    return -1;
}

#define CHANGED "deque mutated during iteration"

METHOD(count) {
    (void)count;
    const deque *d = as_deque(args[0]);
    uint64_t state = d->state;
    int64_t found = 0;
    for (int64_t i = 0, n = d->count; i < n; i++) {
        int equal = dv_work(vm, 1) ? equals(vm, d, i, args[1]) : -1;
        if (equal < 0) return DV_EMPTY;
        found += equal;
        if (state != d->state) return dv_raise(vm, DV_E_RUNTIME_ERROR, CHANGED);
    }
    return dv_int(found);
}

METHOD(index) {
    const deque *d = as_deque(args[0]);
    int64_t start, stop;
    if (!dv_search_bounds(vm, args + 2, count - 2, d->count, false, &start, &stop)) return DV_EMPTY;
    if (stop > d->count) stop = d->count;
    int64_t at = find(vm, d, args[1], start, stop, DV_E_RUNTIME_ERROR, CHANGED);
    if (at == -2) return DV_EMPTY;
    if (at == -1) return dv_raise(vm, DV_E_VALUE_ERROR, "%V is not in deque", args[1]);
    return dv_int(at);
}

static int deque_contains(dv_vm *vm, dv_value self, dv_value item) {
    const deque *d = as_deque(self);
    int64_t at = find(vm, d, item, 0, d->count, DV_E_RUNTIME_ERROR, CHANGED);
    return at == -2 ? -1 : at >= 0;
}

/* Takes item i out of the ring. */
static dv_value take_at(dv_vm *vm, deque *d, int64_t i) {
    rotate(vm, d, -i);
    dv_value item = take_left(d);
    rotate(vm, d, i);
    return item;
}

METHOD(remove) {
    (void)count;
    deque *d = as_deque(args[0]);
    int64_t at = find(vm, d, args[1], 0, d->count, DV_E_INDEX_ERROR, CHANGED);
    if (at == -2) return DV_EMPTY;
    if (at == -1) return dv_raise(vm, DV_E_VALUE_ERROR, "%V is not in deque", args[1]);
    dv_release(vm, take_at(vm, d, at));
    return DV_NONE;
}

METHOD(insert) {
    if (count != 3)
        return dv_raise(vm, DV_E_TYPE_ERROR, "insert() takes exactly 2 arguments (%d given)",
                        (int)count - 1);
    deque *d = as_deque(args[0]);
    int64_t at, n = d->count;
    if (!dv_size_argument(vm, args[1], &at)) return DV_EMPTY;
    if (n == d->maximum) return dv_raise(vm, DV_E_INDEX_ERROR, "deque already at its maximum size");
    dv_value item = dv_retain(args[2]);
    if (at < 0) at = at < -n ? 0 : at + n;
    if (at >= n) return push_right(vm, d, item) ? DV_NONE : DV_EMPTY;
    rotate(vm, d, -at);
    bool done = push_left(vm, d, item);
    rotate(vm, d, at);
    return done ? DV_NONE : DV_EMPTY;
}

/* Operators --------------------------------------------------------------------------------------
 */

static dv_value deque_concat(dv_vm *vm, dv_value a, dv_value b) {
    if (!is_deque(b))
        return dv_raise(vm, DV_E_TYPE_ERROR, "can only concatenate deque (not \"%T\") to deque", b);
    dv_value result = deque_copy(vm, &a, 1);
    if (dv_is_empty(result) || extend(vm, as_deque(result), b, false)) return result;
    dv_release(vm, result);
    return DV_EMPTY;
}

/* The items as a new list. */
static dv_value items_of(dv_vm *vm, const deque *d) {
    dv_value list = dv_list_new(vm, NULL, 0);
    if (dv_is_empty(list)) return DV_EMPTY;
    for (int64_t i = 0; i < d->count; i++) {
        if (dv_list_append(vm, list, *slot(d, i))) continue;
        dv_release(vm, list);
        return DV_EMPTY;
    }
    return list;
}

/* d *= times */
static bool repeat(dv_vm *vm, deque *d, int64_t times) {
    int64_t count = d->count, total;
    if (times <= 0) empty(vm, d);
    if (count == 0 || times <= 1) return true;
    bool fits = !__builtin_mul_overflow(count, times, &total);
    if (!fits || (d->maximum < 0 && total > (int64_t)1 << 58)) {
        dv_raise_memory(vm);
        return false;
    }
    /* More rounds than fill the deque would change nothing but its phase, which is whole. */
    if (d->maximum >= 0 && total > d->maximum) times = d->maximum / count + 2;
    dv_value items = items_of(vm, d);
    if (dv_is_empty(items)) return false;
    bool good = true;
    for (; good && times > 1; times--) good = extend(vm, d, items, false);
    dv_release(vm, items);
    return good;
}

static dv_value deque_binary(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    if (op == DV_BINARY_ADD && is_deque(a)) return deque_concat(vm, a, b);
    if (op != DV_BINARY_MUL) return DV_NOTIMPLEMENTED;
    dv_value sequence;
    int64_t times;
    if (!dv_repeat_operands(vm, DV_T_DEQUE, a, b, &sequence, &times)) return DV_EMPTY;
    dv_value result = deque_copy(vm, &sequence, 1);
    if (dv_is_empty(result) || repeat(vm, as_deque(result), times)) return result;
    dv_release(vm, result);
    return DV_EMPTY;
}

static dv_value deque_inplace(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    if (!is_deque(a)) return DV_NOTIMPLEMENTED;
    if (op == DV_BINARY_ADD) return extend(vm, as_deque(a), b, false) ? dv_retain(a) : DV_EMPTY;
    if (op != DV_BINARY_MUL) return DV_NOTIMPLEMENTED;
    dv_value sequence;
    int64_t times;
    if (!dv_repeat_operands(vm, DV_T_DEQUE, a, b, &sequence, &times)) return DV_EMPTY;
    return repeat(vm, as_deque(a), times) ? dv_retain(a) : DV_EMPTY;
}

static dv_value deque_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    if (!is_deque(a) || !is_deque(b)) return DV_NOTIMPLEMENTED;
    if ((op == DV_EQ || op == DV_NE) && as_deque(a)->count != as_deque(b)->count)
        return dv_bool(op == DV_NE);
    dv_value left = items_of(vm, as_deque(a));
    if (dv_is_empty(left)) return DV_EMPTY;
    dv_value right = items_of(vm, as_deque(b)), result = DV_EMPTY;
    if (!dv_is_empty(right)) result = dv_items_compare(vm, op, left, right);
    dv_release(vm, left);
    dv_release(vm, right);
    return result;
}

static dv_value deque_repr(dv_vm *vm, dv_value self) {
    struct dv_repr_guard guard;
    if (!dv_repr_enter(vm, &guard, self)) return dv_str_z(vm, "[...]");
    const deque *d = as_deque(self);
    dv_value items = items_of(vm, d), text = DV_EMPTY;
    dv_value name = dv_class_of(vm, self)->name;
    if (!dv_is_empty(items))
        text = d->maximum < 0
                   ? dv_str_printf(vm, "%S(%V)", name, items)
                   : dv_str_printf(vm, "%S(%V, maxlen=%lld)", name, items, (long long)d->maximum);
    dv_release(vm, items);
    dv_repr_leave(vm);
    return text;
}

static bool deque_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    (void)hash;
    dv_raise(vm, DV_E_TYPE_ERROR, "unhashable type: '%T'", self);
    return false;
}

static int64_t deque_length(dv_vm *vm, dv_value self) {
    (void)vm;
    return as_deque(self)->count;
}

/* A key as the number of an item. */
static bool item_number(dv_vm *vm, const deque *d, dv_value key, int64_t *i) {
    if (!dv_sequence_index(vm, key, "sequence index must be integer, not '%T'", i)) return false;
    if (*i < 0) *i += d->count;
    if ((uint64_t)*i < (uint64_t)d->count) return true;
    dv_raise(vm, DV_E_INDEX_ERROR, "deque index out of range");
    return false;
}

static dv_value deque_get_item(dv_vm *vm, dv_value self, dv_value key) {
    int64_t i;
    return item_number(vm, as_deque(self), key, &i) ? dv_retain(*slot(as_deque(self), i))
                                                    : DV_EMPTY;
}

static bool deque_set_item(dv_vm *vm, dv_value self, dv_value key, dv_value value) {
    deque *d = as_deque(self);
    int64_t i;
    if (!item_number(vm, d, key, &i)) return false;
    dv_value old;
    if (dv_is_empty(value)) {
        old = take_at(vm, d, i);
    } else {
        old = *slot(d, i);
        *slot(d, i) = dv_retain(value);
    }
    dv_release(vm, old);
    return true;
}

static dv_value deque_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    if (!dv_str_is(name, "maxlen")) return DV_EMPTY;
    int64_t maximum = as_deque(self)->maximum;
    return maximum < 0 ? DV_NONE : dv_int_from_int64(vm, maximum);
}

/* Iterators --------------------------------------------------------------------------------------
 */

typedef struct deque_iterator {
    dv_object header;
    dv_value deque;
    int64_t next, left; /* number of the next item; items left */
    uint64_t state;
} deque_iterator;

static dv_value iterator_new(dv_vm *vm, dv_value self, dv_type_id type) {
    deque_iterator *it = dv_container_new(vm, sizeof *it, type);
    if (!it) return DV_EMPTY;
    it->deque = dv_retain(self);
    it->left = as_deque(self)->count;
    it->next = type == DV_T_DEQUE_ITERATOR ? 0 : it->left - 1;
    it->state = as_deque(self)->state;
    return dv_object_value(it);
}

static dv_value deque_iterate(dv_vm *vm, dv_value self) {
    return iterator_new(vm, self, DV_T_DEQUE_ITERATOR);
}

METHOD(reversed) {
    (void)count;
    return iterator_new(vm, args[0], DV_T_DEQUE_REVERSED);
}

static void iterator_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const deque_iterator *it = (const deque_iterator *)object;
    visit(vm, it->deque, context);
}

static void iterator_release(dv_vm *vm, dv_object *object) {
    dv_release(vm, ((deque_iterator *)object)->deque);
    dv_container_free(vm, object, sizeof(deque_iterator));
}

static dv_value iterator_self(dv_vm *vm, dv_value self) {
    (void)vm;
    return dv_retain(self);
}

static dv_value iterator_step(dv_vm *vm, dv_value self, int64_t step) {
    deque_iterator *it = (deque_iterator *)dv_as_object(self);
    const deque *d = as_deque(it->deque);
    if (DV_UNLIKELY(it->state != d->state)) {
        it->left = 0;
        return dv_raise(vm, DV_E_RUNTIME_ERROR, CHANGED);
    }
    if (it->left == 0) return DV_EMPTY;
    dv_value item = *slot(d, it->next);
    it->next += step;
    it->left--;
    return dv_retain(item);
}

static dv_value iterator_next(dv_vm *vm, dv_value self) { return iterator_step(vm, self, 1); }
static dv_value reversed_next(dv_vm *vm, dv_value self) { return iterator_step(vm, self, -1); }

METHOD(length_hint) {
    (void)vm, (void)count;
    return dv_int(((deque_iterator *)dv_as_object(args[0]))->left);
}

static const dv_cfunction_def iterator_methods[] = {
    {.name = "__length_hint__", .entry = deque_length_hint, .min = 1, .max = 1}, {.name = NULL}};

const dv_type dv_deque_iterator_type = {.name = "_collections._deque_iterator",
                                        .id = DV_T_DEQUE_ITERATOR,
                                        .traverse = iterator_traverse,
                                        .release = iterator_release,
                                        .iterate = iterator_self,
                                        .next = iterator_next,
                                        .methods = iterator_methods};

const dv_type dv_deque_reversed_type = {.name = "_collections._deque_reverse_iterator",
                                        .id = DV_T_DEQUE_REVERSED,
                                        .traverse = iterator_traverse,
                                        .release = iterator_release,
                                        .iterate = iterator_self,
                                        .next = reversed_next,
                                        .methods = iterator_methods};

#define ROW(method, least, most) \
    { .name = #method, .entry = deque_##method, .min = least, .max = most }

static const dv_cfunction_def deque_methods[] = {
    ROW(append, 2, 2),
    ROW(appendleft, 2, 2),
    ROW(clear, 1, 1),
    ROW(copy, 1, 1),
    ROW(count, 2, 2),
    ROW(extend, 2, 2),
    ROW(extendleft, 2, 2),
    ROW(index, 2, 4),
    ROW(insert, 1, UINT32_MAX),
    ROW(pop, 1, 1),
    ROW(popleft, 1, 1),
    ROW(remove, 2, 2),
    ROW(reverse, 1, 1),
    ROW(rotate, 1, UINT32_MAX),
    {.name = "__copy__", .entry = deque_copy, .min = 1, .max = 1},
    {.name = "__reversed__", .entry = deque_reversed, .min = 1, .max = 1},
    {.name = NULL}};

const dv_type dv_deque_type = {.name = "collections.deque",
                               .id = DV_T_DEQUE,
                               .weakly = true,
                               .traverse = deque_traverse,
                               .clear = deque_clear_cycle,
                               .release = deque_release,
                               .repr = deque_repr,
                               .hash = deque_hash,
                               .compare = deque_compare,
                               .binary = deque_binary,
                               .inplace = deque_inplace,
                               .length = deque_length,
                               .get_item = deque_get_item,
                               .set_item = deque_set_item,
                               .contains = deque_contains,
                               .iterate = deque_iterate,
                               .get_attribute = deque_get_attribute,
                               .construct = deque_construct,
                               .adopt = deque_adopt,
                               .initialise = deque_initialise,
                               .methods = deque_methods};
