/* list.c: mutable sequences.
 *
 * Invariants (more in list.h)
 *  1. Items that leave a list are released only after the list is whole again, because a release
 *     may run dl code that uses the list.
 *  2. Sizes are checked for overflow, and memory is asked for, before anything is changed. */
#include "types/sequence/list.h"

#include <string.h>

#include "core/upcall.h"
#include "core/work.h"
#include "types/callable/arguments.h"
#include "types/sequence/iterator.h"
#include "types/sequence/list_slice.h"
#include "types/number/range.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

#define LENGTH_MAX (INT64_MAX / (int64_t)sizeof(dv_value))
#define BLOCK      65536 /* items that are made before they are counted */
#define MOVED      40    /* items that are moved in a unit of work */
#define TRIM_LIMIT 32    /* lists with no more capacity never shrink */

/* ---- Memory ------------------------------------------------------------------------------------
 */

static bool set_capacity(dv_vm *vm, dv_list *list, int64_t capacity) {
    dv_value *items =
        dv_heap_resize(&vm->heap, list->items, (size_t)list->capacity * sizeof(dv_value),
                       (size_t)capacity * sizeof(dv_value));
    if (!items) return false;
    list->items = items;
    list->capacity = capacity;
    return true;
}

bool dv_list_reserve(dv_vm *vm, dv_list *list, int64_t capacity) {
    if (capacity <= list->capacity) return true;
    if (capacity <= LENGTH_MAX && set_capacity(vm, list, capacity)) return true;
    dv_raise_memory(vm);
    return false;
}

bool dv_list_grow(dv_vm *vm, dv_list *list, int64_t capacity) {
    if (capacity <= list->capacity) return true;
    if (capacity > LENGTH_MAX / 2) {
        dv_raise_memory(vm);
        return false;
    }
    return dv_list_reserve(vm, list, (capacity + (capacity >> 3) + 6) & ~(int64_t)3);
}

void dv_list_trim(dv_vm *vm, dv_list *list) {
    if (list->capacity <= TRIM_LIMIT || list->count >= list->capacity / 2) return;
    int64_t capacity = (list->count + (list->count >> 3) + 6) & ~(int64_t)3;
    /* Where there is no memory for the smaller block, the larger one stays. */
    (void)!set_capacity(vm, list, capacity);
}

enum { MANY = 64 }; /* items whose copying counts */

static dv_list *list_with_room(dv_vm *vm, int64_t capacity) {
    if (capacity > LENGTH_MAX) {
        dv_raise_memory(vm);
        return NULL;
    }
    dv_list *list = dv_container_new(vm, sizeof(dv_list), DV_T_LIST);
    if (!list) return NULL;
    list->count = list->capacity = 0;
    list->items = NULL;
    if (capacity > 0) {
        if (DV_UNLIKELY(capacity > MANY)) dv_work_owe(vm, capacity / 8);
        list->items = dv_heap_alloc(&vm->heap, (size_t)capacity * sizeof(dv_value));
        if (!list->items) {
            dv_container_free(vm, list, sizeof(dv_list));
            dv_raise_memory(vm);
            return NULL;
        }
        list->capacity = capacity;
    }
    return list;
}

dv_value dv_list_new(dv_vm *vm, const dv_value *items, int64_t count) {
    dv_list *list = list_with_room(vm, count);
    if (!list) return DV_EMPTY;
    for (int64_t i = 0; i < count; i++) list->items[i] = dv_retain(items[i]);
    list->count = count;
    return dv_object_value(list);
}

dv_value dv_list_take(dv_vm *vm, const dv_value *items, int64_t count) {
    dv_list *list = list_with_room(vm, count);
    if (!list) {
        for (int64_t i = 0; i < count; i++) dv_release(vm, items[i]);
        return DV_EMPTY;
    }
    if (count > 0) memcpy(list->items, items, (size_t)count * sizeof(dv_value));
    list->count = count;
    return dv_object_value(list);
}

/* Releases values that are nobody's any more, the last one first as CPython does. */
static void release_items(dv_vm *vm, dv_value *items, int64_t count, int64_t capacity) {
    while (count > DV_AHEAD) {
        dv_prefetch(items[count - 1 - DV_AHEAD]);
        dv_release(vm, items[--count]);
    }
    while (count > 0) dv_release(vm, items[--count]);
    if (items) dv_heap_free(&vm->heap, items, (size_t)capacity * sizeof(dv_value));
}

static void list_empty(dv_vm *vm, dv_list *list) {
    dv_value *items = list->items;
    int64_t count = list->count, capacity = list->capacity;
    list->items = NULL;
    list->count = list->capacity = 0;
    release_items(vm, items, count, capacity);
}

static void list_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const dv_list *list = (const dv_list *)object;
    for (int64_t i = list->count - 1; i >= 0; i--) visit(vm, list->items[i], context);
}

static void list_clear_cycle(dv_vm *vm, dv_object *object) { list_empty(vm, (dv_list *)object); }

static void list_release(dv_vm *vm, dv_object *object) {
    dv_list *list = (dv_list *)object;
    dv_work_call(vm, 1);
    release_items(vm, list->items, list->count, list->capacity);
    dv_base_free(vm, object, sizeof(dv_list));
}

/* ---- Adding ------------------------------------------------------------------------------------
 */

bool dv_list_append(dv_vm *vm, dv_value self, dv_value item) {
    dv_list *list = dv_as_list(self);
    if (DV_UNLIKELY(list->count == list->capacity) && !dv_list_grow(vm, list, list->count + 1))
        return false;
    list->items[list->count++] = dv_retain(item);
    return true;
}

bool dv_list_push(dv_vm *vm, dv_value self, dv_value item) {
    dv_list *list = dv_as_list(self);
    if (DV_UNLIKELY(list->count == list->capacity) && !dv_list_grow(vm, list, list->count + 1)) {
        dv_release(vm, item);
        return false;
    }
    list->items[list->count++] = item;
    return true;
}

static bool extend_items(dv_vm *vm, dv_list *list, dv_value sequence) {
    int64_t count;
    dv_items_of(sequence, &count);
    if (list->count == 0 ? !dv_list_reserve(vm, list, count)
                         : !dv_list_grow(vm, list, list->count + count))
        return false;
    const dv_value *items = dv_items_of(sequence, &count); /* list may be sequence itself */
    if (DV_UNLIKELY(count > MANY)) dv_work_owe(vm, count / 8);
    for (int64_t i = 0; i < count; i++) list->items[list->count + i] = dv_retain(items[i]);
    list->count += count;
    return true;
}

static bool extend_range(dv_vm *vm, dv_list *list, const dv_range *range) {
    int64_t length;
    if (__builtin_add_overflow(list->count, range->length, &length)) length = INT64_MAX;
    if (list->count == 0 ? !dv_list_reserve(vm, list, length) : !dv_list_grow(vm, list, length))
        return false;
    for (int64_t i = 0, stop = 0; i < range->length;) {
        stop = range->length - i > BLOCK ? i + BLOCK : range->length;
        if (!dv_work(vm, (stop - i) / 8)) return false;
        while (i < stop) list->items[list->count++] = dv_int(dv_range_item(range, i++));
    }
    return true;
}

static bool extend_iterator(dv_vm *vm, dv_value self, dv_value iterable) {
    dv_value iterator = dv_iterate(vm, iterable);
    if (dv_is_empty(iterator)) return false;
    bool good = dv_ask_length(vm, iterable);
    while (good) {
        dv_value item = dv_step(vm, iterator);
        if (dv_is_empty(item)) break;
        good = dv_list_push(vm, self, item);
    }
    dv_release(vm, iterator);
    return good && dv_is_empty(vm->error);
}

/* An instance of a subclass, whose iterator would never reach the end of the list that grows. */
static bool extend_by_itself(dv_vm *vm, dv_value self) {
    dv_value items = dv_list_new(vm, NULL, 0);
    if (dv_is_empty(items)) return false;
    bool good = extend_iterator(vm, items, self) && extend_items(vm, dv_as_list(self), items);
    dv_release(vm, items);
    return good;
}

bool dv_list_extend(dv_vm *vm, dv_value self, dv_value iterable) {
    if (dv_is_shape(iterable, DV_T_LIST) || dv_is_shape(iterable, DV_T_TUPLE))
        return extend_items(vm, dv_as_list(self), iterable);
    if (dv_same(self, iterable)) return extend_by_itself(vm, self);
    if (dv_is_shape(iterable, DV_T_RANGE)) {
        const dv_range *range = (const dv_range *)dv_as_object(iterable);
        int64_t last = range->length ? dv_range_item(range, range->length - 1) : 0;
        if (dv_fits_int(range->start) && dv_fits_int(last))
            return extend_range(vm, dv_as_list(self), range);
    }
    return extend_iterator(vm, self, iterable);
}

/* ---- Operators ---------------------------------------------------------------------------------
 */

static dv_value list_repr(dv_vm *vm, dv_value self) {
    if (dv_as_list(self)->count == 0) return dv_str_new(vm, "[]", 2);
    return dv_items_repr(vm, self, "[", "]", "[...]");
}

static bool list_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    (void)hash;
    dv_raise(vm, DV_E_TYPE_ERROR, "unhashable type: '%T'", self);
    return false;
}

static dv_value list_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    if (!dv_is_list(a) || !dv_is_list(b)) return DV_NOTIMPLEMENTED;
    return dv_items_compare(vm, op, a, b);
}

static dv_value list_concat(dv_vm *vm, dv_value a, dv_value b) {
    const dv_list *first = dv_as_list(a), *second = dv_as_list(b);
    dv_list *list = list_with_room(vm, first->count + second->count);
    if (!list) return DV_EMPTY;
    dv_value *to = list->items;
    for (int64_t i = 0; i < first->count; i++) *to++ = dv_retain(first->items[i]);
    for (int64_t i = 0; i < second->count; i++) *to++ = dv_retain(second->items[i]);
    list->count = first->count + second->count;
    return dv_object_value(list);
}

/* Fills to[0 .. times*count-1] with copies of items. */
static void repeat_items(dv_value *to, const dv_value *items, int64_t count, int64_t times) {
    for (int64_t i = 0; i < count; i++)
        if (dv_is_object(items[i])) dv_as_object(items[i])->references += (uint32_t)times;
    if (count == 1) {
        dv_value item = items[0];
        for (int64_t i = 0; i < times; i++) to[i] = item;
        return;
    }
    for (int64_t t = 0; t < times; t++, to += count)
        memcpy(to, items, (size_t)count * sizeof(dv_value));
}

/* Reference counts have 32 bits: refuses what could make one overflow. */
static bool references_fit(const dv_value *items, int64_t count, int64_t length) {
    if (length <= INT32_MAX) return true;
    for (int64_t i = 0; i < count; i++)
        if (dv_is_object(items[i])) return false;
    return true;
}

static dv_value list_repeat(dv_vm *vm, dv_value self, int64_t times) {
    const dv_list *from = dv_as_list(self);
    int64_t length;
    if (times < 0) times = 0;
    if (__builtin_mul_overflow(from->count, times, &length)) length = INT64_MAX;
    if (!references_fit(from->items, from->count, length)) return dv_raise_memory(vm);
    dv_list *list = list_with_room(vm, length);
    if (!list) return DV_EMPTY;
    if (length > 0) repeat_items(list->items, from->items, from->count, times);
    list->count = length;
    return dv_object_value(list);
}

static dv_value list_binary(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    if (op == DV_BINARY_ADD && dv_is_list(a))
        return dv_is_list(b) ? list_concat(vm, a, b) : dv_concat_refuse(vm, "list", b);
    if (op == DV_BINARY_MUL) {
        dv_value sequence;
        int64_t times;
        if (!dv_repeat_operands(vm, DV_T_LIST, a, b, &sequence, &times)) return DV_EMPTY;
        return list_repeat(vm, sequence, times);
    }
    return DV_NOTIMPLEMENTED;
}

static bool repeat_in_place(dv_vm *vm, dv_list *list, int64_t times) {
    int64_t count = list->count, length;
    if (count == 0 || times == 1) return true;
    if (times <= 0) {
        list_empty(vm, list);
        return true;
    }
    if (__builtin_mul_overflow(count, times, &length)) length = INT64_MAX;
    if (!references_fit(list->items, count, length)) length = INT64_MAX;
    if (!dv_list_reserve(vm, list, length)) return false;
    repeat_items(list->items + count, list->items, count, times - 1);
    list->count = length;
    return true;
}

static dv_value list_inplace(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    if (!dv_is_list(a)) return list_binary(vm, op, a, b);
    if (op == DV_BINARY_ADD) return dv_list_extend(vm, a, b) ? dv_retain(a) : DV_EMPTY;
    if (op != DV_BINARY_MUL) return DV_NOTIMPLEMENTED;
    dv_value sequence;
    int64_t times;
    if (!dv_repeat_operands(vm, DV_T_LIST, a, b, &sequence, &times)) return DV_EMPTY;
    return repeat_in_place(vm, dv_as_list(a), times) ? dv_retain(a) : DV_EMPTY;
}

static int64_t list_length(dv_vm *vm, dv_value self) {
    (void)vm;
    return dv_as_list(self)->count;
}

/* ---- Items -------------------------------------------------------------------------------------
 */

#define REFUSE_INDEX "list indices must be integers or slices, not %T"

static dv_value list_get_item(dv_vm *vm, dv_value self, dv_value key) {
    const dv_list *list = dv_as_list(self);
    int64_t index;
    if (dv_is_shape(key, DV_T_SLICE)) return dv_list_get_slice(vm, self, key);
    if (!dv_sequence_index(vm, key, REFUSE_INDEX, &index)) return DV_EMPTY;
    if (index < 0) index += list->count;
    if ((uint64_t)index >= (uint64_t)list->count)
        return dv_raise(vm, DV_E_INDEX_ERROR, "list index out of range");
    return dv_retain(list->items[index]);
}

/* Takes the item out of the list; the caller owns it then. */
static dv_value list_take_out(dv_vm *vm, dv_list *list, int64_t index) {
    dv_value *place = list->items + index, item = *place;
    const int64_t behind = --list->count - index;
    if (behind) {
        memmove(place, place + 1, (size_t)behind * sizeof(dv_value));
        dv_work_owe(vm, behind / MOVED);
    }
    dv_list_trim(vm, list);
    return item;
}

static bool list_set_item(dv_vm *vm, dv_value self, dv_value key, dv_value value) {
    dv_list *list = dv_as_list(self);
    int64_t index;
    if (dv_is_shape(key, DV_T_SLICE)) return dv_list_set_slice(vm, self, key, value);
    if (!dv_sequence_index(vm, key, REFUSE_INDEX, &index)) return false;
    if (index < 0) index += list->count;
    if ((uint64_t)index >= (uint64_t)list->count) {
        dv_raise(vm, DV_E_INDEX_ERROR, "list assignment index out of range");
        return false;
    }
    dv_value old;
    if (dv_is_empty(value)) {
        old = list_take_out(vm, list, index);
    } else {
        old = list->items[index];
        list->items[index] = dv_retain(value);
    }
    dv_release(vm, old);
    return true;
}

static int list_contains(dv_vm *vm, dv_value self, dv_value item) {
    int64_t at = dv_items_find(vm, self, item, 0, INT64_MAX);
    return at == -2 ? -1 : at >= 0;
}

/* ---- Methods -----------------------------------------------------------------------------------
 */

static dv_value list_append(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_list_append(vm, args[0], args[1]) ? DV_NONE : DV_EMPTY;
}

static dv_value list_extend(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_list_extend(vm, args[0], args[1]) ? DV_NONE : DV_EMPTY;
}

static dv_value list_insert(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_list *list = dv_as_list(args[0]);
    int64_t index;
    if (!dv_size_argument(vm, args[1], &index)) return DV_EMPTY;
    if (list->count == list->capacity && !dv_list_grow(vm, list, list->count + 1)) return DV_EMPTY;
    if (index < 0) index = index < -list->count ? 0 : index + list->count;
    if (index > list->count) index = list->count;
    dv_work_owe(vm, (list->count - index) / MOVED);
    memmove(list->items + index + 1, list->items + index,
            (size_t)(list->count - index) * sizeof(dv_value));
    list->items[index] = dv_retain(args[2]);
    list->count++;
    return DV_NONE;
}

static const dv_declared pop_raises = {DV_E_INDEX_ERROR, 0, "pop from empty list"};
static const dv_declared remove_raises = {DV_E_VALUE_ERROR, 0, "list.remove(x): x not in list"};
static const dv_declared index_raises = {DV_E_VALUE_ERROR, 2, "%V is not in list"};

static dv_value list_pop(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_list *list = dv_as_list(args[0]);
    int64_t index = -1;
    if (count > 1 && !dv_size_argument(vm, args[1], &index)) return DV_EMPTY;
    if (list->count == 0) return dv_raise_declared(vm, &pop_raises, DV_EMPTY);
    if (index < 0) index += list->count;
    if ((uint64_t)index >= (uint64_t)list->count)
        return dv_raise(vm, DV_E_INDEX_ERROR, "pop index out of range");
    return list_take_out(vm, list, index);
}

static dv_value list_remove(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t at = dv_items_find(vm, args[0], args[1], 0, INT64_MAX);
    if (at == -2) return DV_EMPTY;
    dv_list *list = dv_as_list(args[0]);
    if (at < 0) return dv_raise_declared(vm, &remove_raises, DV_EMPTY);
    if (at < list->count) dv_release(vm, list_take_out(vm, list, at));
    return DV_NONE;
}

static dv_value list_reverse(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_list *list = dv_as_list(args[0]);
    if (!dv_work(vm, list->count / MOVED)) return DV_EMPTY;
    for (int64_t i = 0, k = list->count - 1; i < k; i++, k--) {
        dv_value item = list->items[i];
        list->items[i] = list->items[k];
        list->items[k] = item;
    }
    return DV_NONE;
}

static dv_value list_index(dv_vm *vm, const dv_value *args, uint32_t count) {
    int64_t start, stop, length = dv_as_list(args[0])->count;
    if (!dv_search_bounds(vm, args + 2, count - 2, length, false, &start, &stop)) return DV_EMPTY;
    if (count < 4) stop = INT64_MAX; /* the list may grow meanwhile */
    int64_t at = dv_items_find(vm, args[0], args[1], start, stop);
    if (at == -2) return DV_EMPTY;
    if (at < 0) return dv_raise_declared(vm, &index_raises, args[1]);
    return dv_int(at);
}

static dv_value list_count(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t found = dv_items_count(vm, args[0], args[1]);
    return found < 0 ? DV_EMPTY : dv_int(found);
}

static dv_value list_copy(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_list_new(vm, dv_as_list(args[0])->items, dv_as_list(args[0])->count);
}

static dv_value list_clear(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    list_empty(vm, dv_as_list(args[0]));
    return DV_NONE;
}

static dv_value list_sort(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"key", "reverse"};
    static const dv_parameters parameters = {"sort", names, 2, 0, 0};
    dv_value out[2];
    if (!dv_arguments_sort(vm, &parameters, args + 1, count - 1, keywords, out)) return DV_EMPTY;
    bool reverse = false;
    if (!dv_is_empty(out[1])) {
        int64_t number;
        if (!dv_size_argument(vm, out[1], &number)) return DV_EMPTY;
        reverse = number != 0;
    }
    return dv_list_sort(vm, args[0], out[0], reverse) ? DV_NONE : DV_EMPTY;
}

static dv_value list_construct(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    if (!dv_arguments_no_keywords(vm, "list", keywords) ||
        !dv_arguments_count(vm, "list", count, 0, 1))
        return DV_EMPTY;
    dv_value list = dv_list_new(vm, NULL, 0);
    if (dv_is_empty(list) || count == 0 || dv_list_extend(vm, list, args[0])) return list;
    dv_release(vm, list);
    return DV_EMPTY;
}

static dv_value list_make(dv_vm *vm, dv_class *class_) {
    if (class_->descriptor) return dv_list_new(vm, NULL, 0);
    dv_list *list = dv_subclass_alloc(vm, class_, sizeof(dv_list));
    if (!list) return DV_EMPTY;
    list->count = list->capacity = 0;
    list->items = NULL;
    return dv_object_value(list);
}

static dv_value list_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    dv_value self = list_make(vm, class_);
    if (dv_is_empty(self) || dv_list_extend(vm, self, exact)) return self;
    dv_release(vm, self);
    return DV_EMPTY;
}

static bool list_initialise(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                            dv_value keywords) {
    if (!dv_arguments_no_keywords(vm, "list", keywords) ||
        !dv_arguments_count(vm, "list", count, 0, 1))
        return false;
    list_empty(vm, dv_as_list(self));
    return count == 0 || dv_list_extend(vm, self, args[0]);
}

static const dv_cfunction_def list_methods[] = {
    {.name = "append", .entry = list_append, .min = 2, .max = 2, .inlined = DV_INLINED_APPEND},
    {.name = "extend", .entry = list_extend, .min = 2, .max = 2},
    {.name = "__reversed__", .entry = dv_list_reversed, .min = 1, .max = 1},
    {.name = "insert", .entry = list_insert, .min = 3, .max = 3},
    {.name = "pop", .entry = list_pop, .min = 1, .max = 2, .raises = &pop_raises},
    {.name = "remove", .entry = list_remove, .min = 2, .max = 2, .raises = &remove_raises},
    {.name = "reverse", .entry = list_reverse, .min = 1, .max = 1},
    {.name = "index", .entry = list_index, .min = 2, .max = 4, .raises = &index_raises},
    {.name = "count", .entry = list_count, .min = 2, .max = 2},
    {.name = "copy", .entry = list_copy, .min = 1, .max = 1},
    {.name = "clear", .entry = list_clear, .min = 1, .max = 1},
    {.name = "sort", .keyword_entry = list_sort, .min = 1, .max = UINT32_MAX},
    {.name = NULL},
};

const dv_type dv_list_type = {
    .name = "list",
    .id = DV_T_LIST,
    .release = list_release,
    .traverse = list_traverse,
    .clear = list_clear_cycle,
    .repr = list_repr,
    .hash = list_hash,
    .compare = list_compare,
    .binary = list_binary,
    .inplace = list_inplace,
    .length = list_length,
    .get_item = list_get_item,
    .set_item = list_set_item,
    .contains = list_contains,
    .iterate = dv_iterator_new,
    .construct = list_construct,
    .adopt = list_adopt,
    .make = list_make,
    .ignores_keywords = true,
    .initialise = list_initialise,
    .methods = list_methods,
};
