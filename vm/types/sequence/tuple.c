/* tuple.c: immutable sequences.
 *
 * Invariant 1: the empty tuple is one object, vm->known.empty_tuple, once the VM is set up. */
#include "types/sequence/tuple.h"

#include <string.h>

#include "core/upcall.h"
#include "core/work.h"
#include "types/callable/arguments.h"
#include "types/sequence/iterator.h"
#include "types/sequence/list.h"
#include "types/number/range.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/class/instance.h"
#include "types/class/subclass.h"

#define LENGTH_MAX ((INT64_MAX - (int64_t)sizeof(dv_tuple)) / (int64_t)sizeof(dv_value))

static size_t tuple_size(int64_t count) {
    return sizeof(dv_tuple) + (size_t)count * sizeof(dv_value);
}

dv_tuple *dv_tuple_alloc(dv_vm *vm, int64_t count) {
    if (count > LENGTH_MAX) {
        dv_raise_memory(vm);
        return NULL;
    }
    dv_tuple *tuple = dv_container_new(vm, tuple_size(count), DV_T_TUPLE);
    if (tuple) tuple->count = count;
    return tuple;
}

static bool is_shared_empty(dv_vm *vm, int64_t count) {
    return count == 0 && dv_is_object(vm->known.empty_tuple);
}

dv_value dv_tuple_new(dv_vm *vm, const dv_value *items, int64_t count) {
    if (is_shared_empty(vm, count)) return dv_retain(vm->known.empty_tuple);
    dv_tuple *tuple = dv_tuple_alloc(vm, count);
    if (!tuple) return DV_EMPTY;
    for (int64_t i = 0; i < count; i++) tuple->items[i] = dv_retain(items[i]);
    return dv_object_value(tuple);
}

dv_value dv_tuple_take(dv_vm *vm, const dv_value *items, int64_t count) {
    if (is_shared_empty(vm, count)) return dv_retain(vm->known.empty_tuple);
    dv_tuple *tuple = dv_tuple_alloc(vm, count);
    if (!tuple) {
        for (int64_t i = 0; i < count; i++) dv_release(vm, items[i]);
        return DV_EMPTY;
    }
    if (count > 0) memcpy(tuple->items, items, (size_t)count * sizeof(dv_value));
    return dv_object_value(tuple);
}

dv_value dv_tuple_take_for(dv_vm *vm, dv_class *class_, const dv_value *items, int64_t count) {
    dv_tuple *tuple = dv_subclass_alloc(vm, class_, tuple_size(count));
    if (!tuple) return DV_EMPTY;
    tuple->count = count;
    if (count > 0) memcpy(tuple->items, items, (size_t)count * sizeof(dv_value));
    return dv_object_value(tuple);
}

dv_value dv_tuple_from(dv_vm *vm, dv_value iterable) {
    if (dv_is_shape(iterable, DV_T_TUPLE)) return dv_retain(iterable);
    if (dv_is_shape(iterable, DV_T_LIST))
        return dv_tuple_new(vm, dv_as_list(iterable)->items, dv_as_list(iterable)->count);
    dv_items items;
    dv_value iterator = dv_iterate(vm, iterable);
    bool good = !dv_is_empty(iterator) && dv_ask_length(vm, iterable) &&
                dv_items_drain(vm, iterator, &items);
    dv_release(vm, iterator);
    if (!good) return DV_EMPTY;
    dv_value tuple = dv_tuple_take(vm, items.data, items.count);
    items.count = 0;
    dv_items_discard(vm, &items);
    return tuple;
}

static void tuple_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const dv_tuple *tuple = (const dv_tuple *)object;
    for (int64_t i = tuple->count - 1; i >= 0; i--) visit(vm, tuple->items[i], context);
}

/* Item i, which was let go of, dies; those below it are still to be released. */
static __attribute__((noinline)) void release_rest(dv_vm *vm, dv_tuple *tuple, int64_t i) {
    dv_object_dispose(vm, dv_as_object(tuple->items[i]));
    while (i-- > 0) dv_release(vm, tuple->items[i]);
    dv_base_free(vm, &tuple->header, tuple_size(tuple->count));
}

/* Without a call, so that nothing is saved, where nothing dies with the tuple. */
static void tuple_release(dv_vm *vm, dv_object *object) {
    dv_tuple *tuple = (dv_tuple *)object;
    for (int64_t i = tuple->count; i-- > 0;) {
        if (!dv_lets_go(tuple->items[i])) continue;
        release_rest(vm, tuple, i);
        return;
    }
    dv_base_free(vm, object, tuple_size(tuple->count));
}

static dv_value tuple_repr(dv_vm *vm, dv_value self) {
    int64_t count = dv_as_tuple(self)->count;
    if (count == 0) return dv_str_new(vm, "()", 2);
    return dv_items_repr(vm, self, "(", count == 1 ? ",)" : ")", "(...)");
}

/* The same from item i on, where one must be asked. */
static __attribute__((noinline)) bool hash_on(dv_vm *vm, const dv_tuple *tuple, int64_t i,
                                              uint64_t mixed, int64_t *hash) {
    for (; i < tuple->count; i++) {
        int64_t lane;
        if (!dv_hash(vm, tuple->items[i], &lane)) return false;
        mixed = dv_tuple_mix(mixed, lane);
    }
    *hash = dv_tuple_mixed(mixed, tuple->count);
    return true;
}

bool dv_items_known_hash(dv_vm *vm, const dv_value *items, int64_t n, int64_t *hash) {
    uint64_t mixed = DV_TUPLE_PRIME5;
    for (int64_t i = 0; i < n; i++) {
        const bool text = dv_is_shape(items[i], DV_T_STR);
        if (text ? dv_as_str(items[i])->hash == -1 : !dv_is_int(items[i])) return false;
        mixed = dv_tuple_mix(mixed, text ? dv_as_str(items[i])->hash : dv_int_lane(vm, items[i]));
    }
    *hash = dv_tuple_mixed(mixed, n);
    return true;
}

bool dv_tuple_hash(dv_vm *vm, const dv_tuple *tuple, int64_t *hash) {
    uint64_t mixed = DV_TUPLE_PRIME5;
    const int64_t count = tuple->count;
    if (DV_UNLIKELY(count > 64) && !dv_work(vm, count / 4)) return false;
    for (int64_t i = 0; i < count; i++) {
        const dv_value item = tuple->items[i];
        int64_t lane;
        if (dv_is_int(item))
            lane = dv_int_lane(vm, item);
        else if (dv_is_shape(item, DV_T_STR) && dv_as_str(item)->hash != -1)
            lane = dv_as_str(item)->hash;
        else if (dv_is_unequal(vm, item))
            lane = dv_default_hash(vm, item);
        else
            return hash_on(vm, tuple, i, mixed, hash);
        mixed = dv_tuple_mix(mixed, lane);
    }
    *hash = dv_tuple_mixed(mixed, count);
    return true;
}

static bool tuple_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    return dv_tuple_hash(vm, dv_as_tuple(self), hash);
}

static dv_value tuple_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    if (!dv_is_tuple(a) || !dv_is_tuple(b)) return DV_NOTIMPLEMENTED;
    return dv_items_compare(vm, op, a, b);
}

static dv_value tuple_concat(dv_vm *vm, dv_value a, dv_value b) {
    const dv_tuple *first = dv_as_tuple(a), *second = dv_as_tuple(b);
    if (second->count == 0) return dv_plain(vm, a);
    if (first->count == 0) return dv_plain(vm, b);
    dv_tuple *tuple = dv_tuple_alloc(vm, first->count + second->count);
    if (!tuple) return DV_EMPTY;
    dv_value *to = tuple->items;
    for (int64_t i = 0; i < first->count; i++) *to++ = dv_retain(first->items[i]);
    for (int64_t i = 0; i < second->count; i++) *to++ = dv_retain(second->items[i]);
    return dv_object_value(tuple);
}

static dv_value tuple_repeat(dv_vm *vm, dv_value self, int64_t times) {
    const dv_tuple *from = dv_as_tuple(self);
    int64_t length;
    if (times <= 0 || from->count == 0) return dv_tuple_new(vm, NULL, 0);
    if (times == 1) return dv_plain(vm, self);
    /* Reference counts have 32 bits. */
    if (__builtin_mul_overflow(from->count, times, &length) || times > INT32_MAX)
        return dv_raise_memory(vm);
    dv_tuple *tuple = dv_tuple_alloc(vm, length);
    if (!tuple) return DV_EMPTY;
    for (int64_t i = 0; i < from->count; i++)
        if (dv_is_object(from->items[i]))
            dv_as_object(from->items[i])->references += (uint32_t)times;
    for (int64_t t = 0; t < times; t++)
        memcpy(tuple->items + t * from->count, from->items, (size_t)from->count * sizeof(dv_value));
    return dv_object_value(tuple);
}

static dv_value tuple_binary(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    if (op == DV_BINARY_ADD && dv_is_tuple(a))
        return dv_is_tuple(b) ? tuple_concat(vm, a, b) : dv_concat_refuse(vm, "tuple", b);
    if (op == DV_BINARY_MUL) {
        dv_value sequence;
        int64_t times;
        if (!dv_repeat_operands(vm, DV_T_TUPLE, a, b, &sequence, &times)) return DV_EMPTY;
        return tuple_repeat(vm, sequence, times);
    }
    return DV_NOTIMPLEMENTED;
}

static int64_t tuple_length(dv_vm *vm, dv_value self) {
    (void)vm;
    return dv_as_tuple(self)->count;
}

static dv_value tuple_slice(dv_vm *vm, dv_value self, dv_value slice) {
    const dv_tuple *from = dv_as_tuple(self);
    int64_t start, stop, step, count;
    if (!dv_slice_indices(vm, slice, from->count, &start, &stop, &step, &count)) return DV_EMPTY;
    if (count == from->count && step == 1) return dv_plain(vm, self);
    if (step == 1 || count == 0) return dv_tuple_new(vm, from->items + (count ? start : 0), count);
    dv_tuple *tuple = dv_tuple_alloc(vm, count);
    if (!tuple) return DV_EMPTY;
    for (int64_t i = 0; i < count; i++) tuple->items[i] = dv_retain(from->items[start + i * step]);
    return dv_object_value(tuple);
}

static dv_value tuple_get_item(dv_vm *vm, dv_value self, dv_value key) {
    const dv_tuple *tuple = dv_as_tuple(self);
    int64_t index;
    if (dv_is_shape(key, DV_T_SLICE)) return tuple_slice(vm, self, key);
    if (!dv_sequence_index(vm, key, "tuple indices must be integers or slices, not %T", &index))
        return DV_EMPTY;
    if (index < 0) index += tuple->count;
    if ((uint64_t)index >= (uint64_t)tuple->count)
        return dv_raise(vm, DV_E_INDEX_ERROR, "tuple index out of range");
    return dv_retain(tuple->items[index]);
}

static int tuple_contains(dv_vm *vm, dv_value self, dv_value item) {
    int64_t at = dv_items_find(vm, self, item, 0, INT64_MAX);
    return at == -2 ? -1 : at >= 0;
}

static dv_value tuple_index(dv_vm *vm, const dv_value *args, uint32_t count) {
    int64_t start, stop, length = dv_as_tuple(args[0])->count;
    if (!dv_search_bounds(vm, args + 2, count - 2, length, false, &start, &stop)) return DV_EMPTY;
    int64_t at = dv_items_find(vm, args[0], args[1], start, stop);
    if (at == -2) return DV_EMPTY;
    if (at < 0) return dv_raise(vm, DV_E_VALUE_ERROR, "tuple.index(x): x not in tuple");
    return dv_int(at);
}

static dv_value tuple_count(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t found = dv_items_count(vm, args[0], args[1]);
    return found < 0 ? DV_EMPTY : dv_int(found);
}

static dv_value tuple_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    if (!dv_arguments_no_keywords(vm, "tuple", keywords) ||
        !dv_arguments_count(vm, "tuple", count, 0, 1))
        return DV_EMPTY;
    return count ? dv_tuple_from(vm, args[0]) : dv_tuple_new(vm, NULL, 0);
}

static dv_value tuple_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    const dv_tuple *from = dv_as_tuple(exact);
    dv_tuple *tuple = dv_subclass_alloc(vm, class_, tuple_size(from->count));
    if (!tuple) return DV_EMPTY;
    tuple->count = from->count;
    for (int64_t i = 0; i < from->count; i++) tuple->items[i] = dv_retain(from->items[i]);
    return dv_object_value(tuple);
}

static const dv_cfunction_def tuple_methods[] = {
    {.name = "index", .entry = tuple_index, .min = 2, .max = 4},
    {.name = "count", .entry = tuple_count, .min = 2, .max = 2},
    {.name = NULL},
};

const dv_type dv_tuple_type = {
    .name = "tuple",
    .id = DV_T_TUPLE,
    .release = tuple_release,
    .traverse = tuple_traverse,
    .repr = tuple_repr,
    .hash = tuple_hash,
    .compare = tuple_compare,
    .binary = tuple_binary,
    .length = tuple_length,
    .get_item = tuple_get_item,
    .contains = tuple_contains,
    .iterate = dv_iterator_new,
    .construct = tuple_construct,
    .adopt = tuple_adopt,
    .ignores_keywords = true,
    .methods = tuple_methods,
};
