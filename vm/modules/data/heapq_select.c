/* heapq_select.c: nlargest, nsmallest and merge of the module heapq, which are Python in CPython:
 * they compare the same lists and tuples in the same order.
 *
 * Invariants
 *  1. An entry of a heap is a tuple (key, order[, item]); `order` makes selection stable and keeps
 *     items from being compared.
 *  2. An entry of a merge's heap is a list [key, order, item, iterator]. */
#include "core/upcall.h"
#include "modules/data/heapq.h"
#include "types/callable/arguments.h"
#include "types/number/int.h"
#include "types/sequence/iterator.h"
#include "types/sequence/list.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

/* ---- nlargest and nsmallest -------------------------------------------------------------------*/

typedef struct selection {
    dv_value n;             /* as it was given: compared before it is known to be an int */
    dv_value iterator, key; /* key: EMPTY if there is none */
    bool largest;
    int64_t wanted;
    int64_t order;   /* of the next item, as its entry says it */
    dv_value result; /* list of entries */
} selection;

static dv_value key_of(dv_vm *vm, dv_value key, dv_value item) {
    return dv_is_empty(key) ? dv_retain(item) : dv_call(vm, key, &item, 1, DV_EMPTY);
}

/* Takes key and item. */
static dv_value make_entry(dv_vm *vm, selection *s, dv_value key, dv_value item) {
    dv_value parts[3] = {key, dv_int(s->order), item};
    s->order += s->largest ? -1 : 1;
    if (!dv_is_empty(s->key)) return dv_tuple_take(vm, parts, 3);
    dv_release(vm, item);
    return dv_tuple_take(vm, parts, 2);
}

/* The first items, as many as are wanted, become a heap. */
static bool select_first(dv_vm *vm, selection *s) {
    for (; s->wanted > 0; s->wanted--) {
        dv_value item = dv_step(vm, s->iterator);
        if (dv_is_empty(item)) break;
        dv_value key = key_of(vm, s->key, item);
        if (dv_is_empty(key)) dv_release(vm, item);
        dv_value entry = dv_is_empty(key) ? key : make_entry(vm, s, key, item);
        if (dv_is_empty(entry) || !dv_list_push(vm, s->result, entry)) return false;
    }
    return dv_is_empty(vm->error) && dv_heap_make(vm, s->result, !s->largest);
}

/* Does the key beat the one on top of the heap? */
static int beats_top(dv_vm *vm, const selection *s, dv_value key) {
    dv_value top = dv_as_tuple(dv_as_list(s->result)->items[0])->items[0];
    if (dv_are_ints(top, key))
        return s->largest ? dv_as_int(top) < dv_as_int(key) : dv_as_int(key) < dv_as_int(top);
    return s->largest ? dv_less(vm, top, key) : dv_less(vm, key, top);
}

static bool select_rest(dv_vm *vm, selection *s) {
    for (;;) {
        dv_value item = dv_step(vm, s->iterator);
        if (dv_is_empty(item)) return dv_is_empty(vm->error);
        dv_value key = key_of(vm, s->key, item);
        int beats = dv_is_empty(key) ? -1 : beats_top(vm, s, key);
        if (beats <= 0) {
            dv_release(vm, key);
            dv_release(vm, item);
            if (beats < 0) return false;
            continue;
        }
        dv_value entry = make_entry(vm, s, key, item);
        if (dv_is_empty(entry)) return false;
        dv_value old = dv_heap_replace(vm, s->result, entry, !s->largest);
        dv_release(vm, entry);
        if (dv_is_empty(old)) return false;
        dv_release(vm, old);
    }
}

/* Entries are replaced by their items. */
static void take_items(dv_vm *vm, const selection *s) {
    dv_list *list = dv_as_list(s->result);
    for (int64_t i = 0; i < list->count; i++) {
        dv_value entry = list->items[i];
        list->items[i] = dv_retain(dv_as_tuple(entry)->items[dv_is_empty(s->key) ? 0 : 2]);
        dv_release(vm, entry);
    }
}

static bool select_many(dv_vm *vm, selection *s) {
    if (!select_first(vm, s)) return false;
    if (dv_as_list(s->result)->count == 0) return true;
    if (!select_rest(vm, s) || !dv_list_sort(vm, s->result, DV_EMPTY, s->largest)) return false;
    take_items(vm, s);
    return true;
}

/* min or max of the iterator, if it has items. */
static bool select_one(dv_vm *vm, selection *s) {
    dv_value best = DV_EMPTY, best_key = DV_EMPTY, item;
    int better = 1;
    while (better >= 0 && !dv_is_empty(item = dv_step(vm, s->iterator))) {
        dv_value key = key_of(vm, s->key, item);
        better = dv_is_empty(key) ? -1 : 1;
        if (better > 0 && !dv_is_empty(best)) {
            dv_value r = dv_compare(vm, s->largest ? DV_GT : DV_LT, key, best_key);
            better = dv_is_empty(r) ? -1 : dv_truth(vm, r);
            dv_release(vm, r);
        }
        dv_release(vm, better > 0 ? best : item);
        dv_release(vm, better > 0 ? best_key : key);
        if (better <= 0) continue;
        best = item;
        best_key = key;
    }
    dv_release(vm, best_key);
    if (dv_is_empty(best)) return dv_is_empty(vm->error);
    if (dv_is_empty(vm->error)) return dv_list_push(vm, s->result, best);
    dv_release(vm, best);
    return false;
}

/* The number of items that are wanted; false: raised. */
static bool read_wanted(dv_vm *vm, selection *s) {
    dv_value whole = dv_int_index(vm, s->n);
    if (dv_is_empty(whole)) return false;
    if (!dv_int_to_int64(whole, &s->wanted))
        s->wanted = dv_int_sign(whole) < 0 ? INT64_MIN : INT64_MAX;
    dv_release(vm, whole);
    return true;
}

/* nlargest numbers its items 0, -1, ... and so asks for -n. */
static bool check_negation(dv_vm *vm, const selection *s) {
    if (!s->largest || dv_is_any_int(s->n)) return true;
    dv_value negative = dv_unary(vm, DV_UNARY_NEG, s->n);
    dv_release(vm, negative);
    return !dv_is_empty(negative);
}

/* All items are wanted: sorted(iterable, key)[:n]. */
static bool select_all(dv_vm *vm, selection *s, dv_value iterable) {
    if (!dv_list_extend(vm, s->result, iterable) ||
        !dv_list_sort(vm, s->result, s->key, s->largest) ||
        !dv_slice_bound(vm, s->n, true, &s->wanted))
        return false;
    int64_t wanted = s->wanted;
    dv_list *list = dv_as_list(s->result);
    while (list->count > (wanted < 0 ? 0 : wanted)) dv_release(vm, list->items[--list->count]);
    dv_list_trim(vm, list);
    return true;
}

/* len(v) where v has one, else -1; false: raised. */
static bool length_of(dv_vm *vm, dv_value v, int64_t *length) {
    *length = dv_length(vm, v);
    if (*length >= 0) return true;
    if (!dv_error_is(vm, DV_E_TYPE_ERROR) && !dv_error_is(vm, DV_E_ATTRIBUTE_ERROR)) return false;
    dv_error_clear(vm);
    return true;
}

/* n == number or n >= number: 1, 0, -1 raised. */
static int wanted_is(dv_vm *vm, const selection *s, dv_compare_op op, int64_t number) {
    dv_value result = dv_compare(vm, op, s->n, dv_int(number));
    if (dv_is_empty(result)) return -1;
    int truth = dv_truth(vm, result);
    dv_release(vm, result);
    return truth;
}

/* Asks n and the iterable what CPython asks, in its order. */
static bool select_items(dv_vm *vm, selection *s, dv_value iterable) {
    int64_t length;
    int one = wanted_is(vm, s, DV_EQ, 1), all = 0;
    if (one < 0) return false;
    if (!one && !length_of(vm, iterable, &length)) return false;
    if (!one && length >= 0) all = wanted_is(vm, s, DV_GE, length);
    if (all) return all > 0 && select_all(vm, s, iterable);
    s->iterator = dv_iterate(vm, iterable);
    if (dv_is_empty(s->iterator)) return false;
    if (one) return select_one(vm, s);
    return check_negation(vm, s) && read_wanted(vm, s) && select_many(vm, s);
}

static dv_value run_selection(dv_vm *vm, const char *name, bool largest, const dv_value *args,
                              uint32_t count, dv_value keywords) {
    static const char *const names[] = {"n", "iterable", "key"};
    const dv_parameters parameters = {name, names, 3, 3, 2};
    dv_value given[3];
    if (!dv_arguments_bind(vm, &parameters, args, count, keywords, given)) return DV_EMPTY;
    selection s = {.n = given[0], .iterator = DV_EMPTY, .key = given[2], .largest = largest};
    if (dv_is_none(s.key)) s.key = DV_EMPTY;
    s.result = dv_list_new(vm, NULL, 0);
    bool good = !dv_is_empty(s.result) && select_items(vm, &s, given[1]);
    dv_release(vm, s.iterator);
    if (good) return s.result;
    dv_release(vm, s.result);
    return DV_EMPTY;
}

static dv_value nlargest(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    return run_selection(vm, "nlargest", true, args, count, keywords);
}

static dv_value nsmallest(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    return run_selection(vm, "nsmallest", false, args, count, keywords);
}

/* ---- merge ------------------------------------------------------------------------------------*/

typedef enum merge_state { MERGE_NEW, MERGE_MANY, MERGE_ONE, MERGE_DONE } merge_state;

typedef struct merge {
    dv_object header;
    dv_value key;  /* EMPTY if there is none */
    dv_value heap; /* before the start: list of the iterables */
    bool reverse;
    merge_state state;
} merge;

static void merge_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const merge *m = (const merge *)object;
    visit(vm, m->key, context);
    visit(vm, m->heap, context);
}

static void merge_release(dv_vm *vm, dv_object *object) {
    merge *m = (merge *)object;
    dv_release(vm, m->key);
    dv_release(vm, m->heap);
    dv_container_free(vm, m, sizeof *m);
}

static dv_value merge_iterate(dv_vm *vm, dv_value self) {
    (void)vm;
    return dv_retain(self);
}

/* The entry of an iterator (taken) with its first item; EMPTY without vm->error: it has none. */
static dv_value first_entry(dv_vm *vm, const merge *m, int64_t order, dv_value iterator) {
    dv_value item = dv_step(vm, iterator);
    dv_value key = dv_is_empty(item) ? item : key_of(vm, m->key, item);
    if (dv_is_empty(key)) {
        dv_release(vm, item);
        dv_release(vm, iterator);
        return DV_EMPTY;
    }
    dv_value parts[4] = {key, dv_int(m->reverse ? -order : order), item, iterator};
    return dv_list_take(vm, parts, 4);
}

static bool merge_start(dv_vm *vm, merge *m) {
    dv_value heap = dv_list_new(vm, NULL, 0);
    if (dv_is_empty(heap)) return false;
    dv_value iterables = m->heap;
    m->heap = heap;
    bool good = true;
    for (int64_t i = 0; good && i < dv_as_list(iterables)->count; i++) {
        dv_value iterator = dv_iterate(vm, dv_as_list(iterables)->items[i]);
        dv_value entry = dv_is_empty(iterator) ? iterator : first_entry(vm, m, i, iterator);
        good = dv_is_empty(entry) ? dv_is_empty(vm->error) : dv_list_push(vm, heap, entry);
    }
    dv_release(vm, iterables);
    m->state = dv_as_list(heap)->count > 1 ? MERGE_MANY : MERGE_ONE;
    return good && dv_heap_make(vm, heap, m->reverse);
}

static void list_store(dv_vm *vm, dv_value list, int64_t i, dv_value item) {
    dv_value old = dv_as_list(list)->items[i];
    dv_as_list(list)->items[i] = item;
    dv_release(vm, old);
}

/* The iterator on top moves on; without more items it leaves the heap. */
static bool merge_advance(dv_vm *vm, merge *m) {
    dv_value top = dv_retain(dv_as_list(m->heap)->items[0]);
    dv_value old = DV_EMPTY, item = dv_step(vm, dv_as_list(top)->items[3]);
    if (!dv_is_empty(item)) {
        dv_value key = key_of(vm, m->key, item);
        if (dv_is_empty(key)) {
            dv_release(vm, item);
        } else {
            list_store(vm, top, 0, key);
            list_store(vm, top, 2, item);
            old = dv_heap_replace(vm, m->heap, top, m->reverse);
        }
    } else if (dv_is_empty(vm->error)) {
        old = dv_heap_pop(vm, m->heap, m->reverse);
    }
    dv_release(vm, top);
    if (dv_is_empty(old)) return false;
    dv_release(vm, old);
    if (dv_as_list(m->heap)->count == 1) m->state = MERGE_ONE;
    return true;
}

static dv_value merge_item(dv_vm *vm, merge *m) {
    if (m->state == MERGE_NEW) {
        if (!merge_start(vm, m)) return DV_EMPTY;
    } else if (m->state == MERGE_ONE) {
        return dv_step(vm, dv_as_list(dv_as_list(m->heap)->items[0])->items[3]);
    } else if (!merge_advance(vm, m)) {
        return DV_EMPTY;
    }
    const dv_list *heap = dv_as_list(m->heap);
    return heap->count ? dv_retain(dv_as_list(heap->items[0])->items[2]) : DV_EMPTY;
}

static dv_value merge_next(dv_vm *vm, dv_value self) {
    merge *m = (merge *)dv_as_object(self);
    if (m->state == MERGE_DONE) return DV_EMPTY;
    dv_value item = merge_item(vm, m);
    if (dv_is_empty(item)) m->state = MERGE_DONE;
    return item;
}

static dv_value merge_function(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    dv_value key = DV_EMPTY;
    int reverse = 0;
    for (uint32_t i = 0; i < named; i++) {
        dv_value name = dv_as_tuple(keywords)->items[i], value = args[count - named + i];
        if (dv_str_is(name, "key"))
            key = value;
        else if (dv_str_is(name, "reverse"))
            reverse = dv_truth(vm, value);
        else
            return dv_raise(vm, DV_E_TYPE_ERROR, "merge() got an unexpected keyword argument '%S'",
                            name);
        if (reverse < 0) return DV_EMPTY;
    }
    dv_value iterables = dv_list_new(vm, args, count - named);
    if (dv_is_empty(iterables)) return DV_EMPTY;
    merge *m = dv_container_new(vm, sizeof *m, DV_T_HEAPQ_MERGE);
    if (!m) {
        dv_release(vm, iterables);
        return DV_EMPTY;
    }
    m->key = dv_is_none(key) ? DV_EMPTY : dv_retain(key);
    m->heap = iterables;
    m->reverse = reverse;
    m->state = MERGE_NEW;
    return dv_object_value(m);
}

const dv_type dv_heapq_merge_type = {
    .name = "generator",
    .id = DV_T_HEAPQ_MERGE,
    .traverse = merge_traverse,
    .release = merge_release,
    .iterate = merge_iterate,
    .next = merge_next,
};

const dv_cfunction_def dv_heapq_select_functions[] = {
    {.name = "nlargest", .keyword_entry = nlargest, .min = 0, .max = UINT32_MAX},
    {.name = "nsmallest", .keyword_entry = nsmallest, .min = 0, .max = UINT32_MAX},
    {.name = "merge", .keyword_entry = merge_function, .min = 0, .max = UINT32_MAX},
    {.name = NULL}};
