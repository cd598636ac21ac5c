/* bisect.c: the module bisect: searching in sorted sequences, and inserting.
 *
 * Invariant 1: the same comparisons as CPython makes, in the same order; they may run dl code. */
#include "core/upcall.h"
#include "modules/modules.h"
#include "types/callable/arguments.h"
#include "types/number/int.h"
#include "types/sequence/list.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"

typedef struct search {
    dv_value sequence, x, key; /* key: EMPTY if there is none */
    int64_t low, high;
    bool right;
} search;

/* sequence[index] of any sequence, which may be longer than immediate ints reach. */
static dv_value item_far(dv_vm *vm, dv_value sequence, int64_t index) {
    dv_value number = dv_int_from_int64(vm, index);
    dv_value item = dv_is_empty(number) ? DV_EMPTY : dv_get_item(vm, sequence, number);
    dv_release(vm, number);
    return item;
}

/* The item at `middle`, or what the key function makes of it. */
static dv_value item_at(dv_vm *vm, const search *s, int64_t middle) {
    dv_value item;
    if (dv_is_list(s->sequence) && middle < dv_as_list(s->sequence)->count)
        item = dv_retain(dv_as_list(s->sequence)->items[middle]);
    else
        item = item_far(vm, s->sequence, middle);
    if (dv_is_empty(item) || dv_is_empty(s->key)) return item;
    dv_value key = dv_call(vm, s->key, &item, 1, DV_EMPTY);
    dv_release(vm, item);
    return key;
}

/* Does the searched place lie right of the item?  -1: raised. */
static int lies_right(dv_vm *vm, const search *s, dv_value item) {
    dv_value x = s->x;
    if (dv_are_ints(item, x))
        return s->right ? dv_as_int(x) >= dv_as_int(item) : dv_as_int(item) < dv_as_int(x);
    int less = s->right ? dv_less(vm, x, item) : dv_less(vm, item, x);
    return less < 0 || !s->right ? less : !less;
}

/* Narrows the search as long as ints of a list are compared, which runs no dl code. */
static void narrow_ints(const search *s, int64_t *low, int64_t *high) {
    const dv_list *list = dv_as_list(s->sequence);
    int64_t x = dv_as_int(s->x) + s->right;
    while (*low < *high) {
        int64_t middle = *low + (*high - *low) / 2;
        if (middle >= list->count || !dv_is_int(list->items[middle])) return;
        if (dv_as_int(list->items[middle]) < x)
            *low = middle + 1;
        else
            *high = middle;
    }
}

/* The place, or -1: raised. */
static int64_t find(dv_vm *vm, const search *s) {
    int64_t low = s->low, high = s->high;
    if (low < 0) return dv_raise(vm, DV_E_VALUE_ERROR, "lo must be non-negative"), -1;
    if (high == -1) high = dv_length(vm, s->sequence);
    if (high < 0 && !dv_is_empty(vm->error)) return -1;
    if (dv_is_list(s->sequence) && dv_is_int(s->x) && dv_is_empty(s->key))
        narrow_ints(s, &low, &high);
    while (low < high) {
        int64_t middle = (int64_t)(((uint64_t)low + (uint64_t)high) / 2);
        dv_value item = item_at(vm, s, middle);
        if (dv_is_empty(item)) return -1;
        int right = lies_right(vm, s, item);
        dv_release(vm, item);
        if (right < 0) return -1;
        if (right)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool take_arguments(dv_vm *vm, const char *function, const dv_value *args, uint32_t count,
                           dv_value keywords, search *s) {
    static const char *const names[] = {"a", "x", "lo", "hi", "key"};
    const dv_parameters parameters = {function, names, 5, 4, 2};
    dv_value given[5];
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, given)) return false;
    s->sequence = given[0];
    s->x = given[1];
    s->key = dv_is_none(given[4]) ? DV_EMPTY : given[4];
    s->low = 0;
    s->high = -1;
    if (!dv_is_empty(given[2]) && !dv_size_argument(vm, given[2], &s->low)) return false;
    return dv_is_empty(given[3]) || dv_is_none(given[3]) ||
           dv_optional_size_argument(vm, given[3], &s->high);
}

static dv_value bisect(dv_vm *vm, const char *function, bool right, const dv_value *args,
                       uint32_t count, dv_value keywords) {
    search s = {.right = right, .high = -1};
    if (count == 2 && dv_is_empty(keywords)) {
        s.sequence = args[0];
        s.x = args[1];
        s.key = DV_EMPTY;
    } else if (!take_arguments(vm, function, args, count, keywords, &s)) {
        return DV_EMPTY;
    }
    int64_t place = find(vm, &s);
    return place < 0 ? DV_EMPTY : dv_int_from_int64(vm, place);
}

static dv_value insert(dv_vm *vm, dv_value sequence, int64_t place, dv_value x) {
    dv_value name = dv_str_intern(vm, "insert", 6);
    if (dv_is_empty(name)) return DV_EMPTY;
    dv_value method = dv_get_attribute(vm, sequence, name);
    dv_release(vm, name);
    if (dv_is_empty(method)) return DV_EMPTY;
    dv_value arguments[2] = {dv_int_from_int64(vm, place), x}, result = DV_EMPTY;
    if (!dv_is_empty(arguments[0])) result = dv_call(vm, method, arguments, 2, DV_EMPTY);
    dv_release(vm, arguments[0]);
    dv_release(vm, method);
    dv_release(vm, result);
    return dv_is_empty(result) ? DV_EMPTY : DV_NONE;
}

/* With a key function it is the key of x that is looked for. */
static dv_value insort(dv_vm *vm, const char *function, bool right, const dv_value *args,
                       uint32_t count, dv_value keywords) {
    search s = {.right = right};
    if (!take_arguments(vm, function, args, count, keywords, &s)) return DV_EMPTY;
    dv_value x = s.x;
    if (!dv_is_empty(s.key)) s.x = dv_call(vm, s.key, &x, 1, DV_EMPTY);
    if (dv_is_empty(s.x)) return DV_EMPTY;
    int64_t place = find(vm, &s);
    if (!dv_is_empty(s.key)) dv_release(vm, s.x);
    return place < 0 ? DV_EMPTY : insert(vm, s.sequence, place, x);
}

#define ENTRY(function, name, right)                                              \
    static dv_value name##_entry(dv_vm *vm, const dv_value *args, uint32_t count, \
                                 dv_value keywords) {                             \
        return function(vm, #name, right, args, count, keywords);                 \
    }
ENTRY(bisect, bisect_left, false)
ENTRY(bisect, bisect_right, true)
ENTRY(insort, insort_left, false)
ENTRY(insort, insort_right, true)

static const dv_cfunction_def functions[] = {
    {.name = "bisect_left", .keyword_entry = bisect_left_entry, .min = 0, .max = UINT32_MAX},
    {.name = "bisect_right", .keyword_entry = bisect_right_entry, .min = 0, .max = UINT32_MAX},
    {.name = "insort_left", .keyword_entry = insort_left_entry, .min = 0, .max = UINT32_MAX},
    {.name = "insort_right", .keyword_entry = insort_right_entry, .min = 0, .max = UINT32_MAX},
    {.name = NULL}};

/* Makes a second name for what the module has already. */
static bool alias(dv_vm *vm, dv_module *module, const char *name, const char *of) {
    dv_value existing = dv_str_intern(vm, of, strlen(of));
    if (dv_is_empty(existing)) return false;
    dv_global_cell *cell = dv_namespace_find(&module->names, existing);
    dv_release(vm, existing);
    return dv_module_add(vm, module, name, dv_retain(cell->value));
}

bool dv_bisect_fill(dv_vm *vm, dv_module *module) {
    return dv_module_add_functions_of(vm, module, "_bisect", functions) &&
           alias(vm, module, "bisect", "bisect_right") &&
           alias(vm, module, "insort", "insort_right");
}
