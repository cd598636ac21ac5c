/* random_choices.c: choosing from sequences and mixing them (random.h).
 *
 * Invariant 1: reading or writing an item may run dl code, so lengths are what they were at the
 * start, as in CPython, and items are fetched one by one. */
#include <math.h>

#include "core/upcall.h"
#include "core/work.h"
#include "modules/numeric/random.h"
#include "types/number/float.h"
#include "types/number/int.h"
#include "types/sequence/list.h"
#include "types/file/module.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

static dv_value item_at(dv_vm *vm, dv_value sequence, int64_t i) {
    if (dv_is_list(sequence) && i < dv_as_list(sequence)->count)
        return dv_retain(dv_as_list(sequence)->items[i]);
    return dv_get_item(vm, sequence, dv_int(i));
}

dv_value dv_random_choice(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    DV_RANDOM_BIND("choice", 2, 2, "seq");
    int64_t length = dv_length(vm, given[1]);
    if (length < 0) return DV_EMPTY;
    if (length == 0) return dv_raise(vm, DV_E_INDEX_ERROR, "Cannot choose from an empty sequence");
    uint64_t i = dv_random_below(dv_as_random(given[0]), (uint64_t)length);
    return item_at(vm, given[1], (int64_t)i);
}

/* x[i], x[j] = x[j], x[i] */
static bool swap_items(dv_vm *vm, dv_value x, int64_t i, int64_t j) {
    if (dv_is_list(x) && i < dv_as_list(x)->count) {
        dv_value *items = dv_as_list(x)->items, item = items[i];
        items[i] = items[j];
        items[j] = item;
        return true;
    }
    dv_value at_j = dv_get_item(vm, x, dv_int(j));
    if (dv_is_empty(at_j)) return false;
    dv_value at_i = dv_get_item(vm, x, dv_int(i));
    bool good = !dv_is_empty(at_i) && dv_set_item(vm, x, dv_int(i), at_j) &&
                dv_set_item(vm, x, dv_int(j), at_i);
    dv_release(vm, at_i);
    dv_release(vm, at_j);
    return good;
}

dv_value dv_random_shuffle(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    DV_RANDOM_BIND("shuffle", 2, 2, "x");
    int64_t length = dv_length(vm, given[1]);
    if (length < 0) return DV_EMPTY;
    for (int64_t i = length - 1; i > 0; i--) {
        uint64_t j = dv_random_below(dv_as_random(given[0]), (uint64_t)i + 1);
        if (!dv_work(vm, 2) || !swap_items(vm, given[1], i, (int64_t)j)) return DV_EMPTY;
    }
    return DV_NONE;
}

/* ---- sample -----------------------------------------------------------------------------------*/

/* isinstance(v, Sequence): 1, 0, -1 raised. */
static int is_sequence(dv_vm *vm, dv_value v) {
    switch (dv_type_of(vm, v)) {
    case DV_T_STR:
    case DV_T_TUPLE:
    case DV_T_LIST:
    case DV_T_RANGE:
    case DV_T_ARRAY:
    case DV_T_BYTES:
    case DV_T_BYTEARRAY: return 1;
    default: break;
    }
    dv_value name = dv_str_z(vm, "collections.abc");
    dv_value module = dv_is_empty(name) ? DV_EMPTY : dv_import(vm, name);
    dv_value class_ = dv_is_empty(module) ? DV_EMPTY : dv_get_named(vm, module, "Sequence");
    int answer = dv_is_empty(class_) ? -1 : dv_is_instance_of(vm, v, class_);
    dv_release(vm, name);
    dv_release(vm, module);
    dv_release(vm, class_);
    return answer;
}

/* Above this many items CPython remembers what was chosen instead of copying the population. */
static double pool_limit(int64_t k) {
    double limit = 21.0;
    if (k > 5) limit += pow(4.0, ceil(log((double)k * 3.0) / log(4.0)));
    return limit;
}

/* Chooses k of n places by taking them out of a pool. */
static bool places_from_pool(dv_vm *vm, dv_random *r, int64_t n, int64_t k, int64_t *places) {
    size_t size = (size_t)n * sizeof(int64_t);
    int64_t *pool = dv_heap_alloc(&vm->heap, size);
    if (!pool) return dv_raise_memory(vm), false;
    dv_work_owe(vm, k);
    for (int64_t i = 0; i < n; i++) pool[i] = i;
    for (int64_t i = 0; i < k; i++) {
        uint64_t j = dv_random_below(r, (uint64_t)(n - i));
        places[i] = pool[j];
        pool[j] = pool[n - i - 1];
    }
    dv_heap_free(&vm->heap, pool, size);
    return true;
}

/* Puts x into an open-addressing table of places + 1; false: it was there. */
static bool remember(uint64_t *table, uint64_t mask, uint64_t x) {
    uint64_t i = x * 0x9E3779B97F4A7C15u >> 20 & mask;
    for (; table[i]; i = (i + 1) & mask)
        if (table[i] == x + 1) return false;
    table[i] = x + 1;
    return true;
}

/* Chooses k of n places by drawing again what was drawn before. */
static bool places_by_trial(dv_vm *vm, dv_random *r, int64_t n, int64_t k, int64_t *places) {
    uint64_t room = 16;
    while (room < 2 * (uint64_t)k) room *= 2;
    uint64_t *table = dv_heap_alloc(&vm->heap, room * sizeof *table);
    if (!table) return dv_raise_memory(vm), false;
    memset(table, 0, room * sizeof *table);
    dv_work_owe(vm, 6 * k);
    for (int64_t i = 0; i < k; i++) {
        uint64_t j = dv_random_below(r, (uint64_t)n);
        while (!remember(table, room - 1, j)) j = dv_random_below(r, (uint64_t)n);
        places[i] = (int64_t)j;
    }
    dv_heap_free(&vm->heap, table, room * sizeof *table);
    return true;
}

/* k different places below n, in a block of the heap; NULL: raised. */
static int64_t *choose_places(dv_vm *vm, dv_random *r, int64_t n, int64_t k) {
    if (k < 0 || k > n) {
        dv_raise(vm, DV_E_VALUE_ERROR, "Sample larger than population or is negative");
        return NULL;
    }
    size_t size = ((size_t)k + 1) * sizeof(int64_t);
    int64_t *places = dv_heap_alloc(&vm->heap, size);
    if (!places) return dv_raise_memory(vm), NULL;
    bool pool = (double)n <= pool_limit(k);
    if (k == 0 ||
        (pool ? places_from_pool(vm, r, n, k, places) : places_by_trial(vm, r, n, k, places)))
        return places;
    dv_heap_free(&vm->heap, places, size);
    return NULL;
}

/* All items, of which CPython takes one by one: nobody asks how many there are. */
static bool collect_numbers(dv_vm *vm, dv_value iterable, dv_items *out) {
    dv_value iterator = dv_iterate(vm, iterable);
    bool good = !dv_is_empty(iterator) && dv_items_drain(vm, iterator, out);
    dv_release(vm, iterator);
    return good;
}

/* The running sums of counts as int64s in a block of the heap of n + 1; NULL: raised. */
static int64_t *sum_counts(dv_vm *vm, dv_value counts, int64_t n) {
    dv_items items;
    if (!collect_numbers(vm, counts, &items)) return NULL;
    int64_t *sums = NULL, total = 0, one;
    bool good = false;
    if (items.count != n)
        dv_raise(vm, DV_E_VALUE_ERROR, "The number of counts does not match the population");
    else if (n == 0)
        dv_raise(vm, DV_E_INDEX_ERROR, "pop from empty list");
    else if (!(sums = dv_heap_alloc(&vm->heap, ((size_t)n + 1) * sizeof *sums)))
        dv_raise_memory(vm);
    else
        good = true;
    for (int64_t i = 0; good && i < n; i++) {
        good = dv_int_to_int64(items.data[i], &one) && !__builtin_add_overflow(total, one, &total);
        sums[i] = total;
        if (!good) dv_raise(vm, DV_E_TYPE_ERROR, "Counts must be integers");
    }
    if (good && total <= 0) {
        dv_raise(vm, DV_E_VALUE_ERROR, "Total of counts must be greater than zero");
        good = false;
    }
    dv_items_discard(vm, &items);
    if (good) return sums;
    if (sums) dv_heap_free(&vm->heap, sums, ((size_t)n + 1) * sizeof *sums);
    return NULL;
}

/* The first of n running sums above x; n - 1 if it is only the last. */
static int64_t place_of_count(const int64_t *sums, int64_t n, int64_t x) {
    int64_t low = 0, high = n - 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (x < sums[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static dv_value items_at(dv_vm *vm, dv_value population, const int64_t *places, int64_t k) {
    dv_value list = dv_list_new(vm, NULL, 0);
    bool good = !dv_is_empty(list);
    for (int64_t i = 0; good && i < k; i++) {
        dv_value item = dv_work(vm, 4) ? item_at(vm, population, places[i]) : DV_EMPTY;
        good = !dv_is_empty(item) && dv_list_push(vm, list, item);
    }
    if (good) return list;
    dv_release(vm, list);
    return DV_EMPTY;
}

static dv_value sample_counted(dv_vm *vm, dv_random *r, dv_value population, int64_t n, int64_t k,
                               dv_value counts) {
    int64_t *sums = sum_counts(vm, counts, n);
    if (!sums) return DV_EMPTY;
    dv_value result = DV_EMPTY;
    int64_t *places = choose_places(vm, r, sums[n - 1], k);
    if (places) {
        for (int64_t i = 0; i < k; i++) places[i] = place_of_count(sums, n, places[i]);
        result = items_at(vm, population, places, k);
        dv_heap_free(&vm->heap, places, ((size_t)k + 1) * sizeof *places);
    }
    dv_heap_free(&vm->heap, sums, ((size_t)n + 1) * sizeof *sums);
    return result;
}

dv_value dv_random_sample(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    DV_RANDOM_BIND("sample", 3, 3, "population", "k", "counts");
    dv_random *r = dv_as_random(given[0]);
    int64_t k;
    int fits = is_sequence(vm, given[1]);
    if (fits == 0)
        dv_raise(vm, DV_E_TYPE_ERROR,
                 "Population must be a sequence.  For dicts or sets, use sorted(d).");
    if (fits <= 0) return DV_EMPTY;
    int64_t n = dv_length(vm, given[1]);
    if (n < 0 || !dv_size_argument(vm, given[2], &k)) return DV_EMPTY;
    if (!dv_is_empty(given[3]) && !dv_is_none(given[3]))
        return sample_counted(vm, r, given[1], n, k, given[3]);
    int64_t *places = choose_places(vm, r, n, k);
    if (!places) return DV_EMPTY;
    dv_value result = items_at(vm, given[1], places, k);
    dv_heap_free(&vm->heap, places, ((size_t)k + 1) * sizeof *places);
    return result;
}

/* ---- choices ----------------------------------------------------------------------------------*/

typedef struct weighing {
    double *sums; /* running sums of the weights */
    int64_t count;
    double total;
} weighing;

static void weighing_drop(dv_vm *vm, weighing *w) {
    if (w->sums) dv_heap_free(&vm->heap, w->sums, ((size_t)w->count + 1) * sizeof *w->sums);
}

/* Replaces weights by their running sums. */
static bool accumulate(dv_vm *vm, dv_items *items) {
    for (int64_t i = 1; i < items->count; i++) {
        dv_value sum = dv_binary(vm, DV_BINARY_ADD, items->data[i - 1], items->data[i]);
        if (dv_is_empty(sum)) return false;
        dv_release(vm, items->data[i]);
        items->data[i] = sum;
    }
    return true;
}

static bool check_weights(dv_vm *vm, const weighing *w, int64_t n) {
    const char *wrong = NULL;
    if (w->count != n)
        wrong = "The number of weights does not match the population";
    else if (w->total <= 0.0)
        wrong = "Total of weights must be greater than zero";
    else if (!isfinite(w->total))
        wrong = "Total of weights must be finite";
    if (wrong) dv_raise(vm, DV_E_VALUE_ERROR, "%s", wrong);
    return !wrong;
}

/* sums[-1] + 0.0 */
static bool take_total(dv_vm *vm, const dv_items *sums, double *total) {
    dv_value sum = dv_binary(vm, DV_BINARY_ADD, sums->data[sums->count - 1], dv_float(0.0));
    bool good = !dv_is_empty(sum) && dv_as_double(vm, sum, total);
    dv_release(vm, sum);
    return good;
}

static bool take_weights(dv_vm *vm, dv_value weights, bool cumulative, int64_t n, weighing *w) {
    dv_items items;
    if (!collect_numbers(vm, weights, &items)) return false;
    bool good = cumulative || accumulate(vm, &items);
    w->count = items.count;
    if (good) {
        w->sums = dv_heap_alloc(&vm->heap, ((size_t)items.count + 1) * sizeof *w->sums);
        if (!w->sums) good = false, dv_raise_memory(vm);
    }
    if (good && items.count == n && n > 0) good = take_total(vm, &items, &w->total);
    for (int64_t i = 0; good && i < items.count; i++)
        good = dv_as_double(vm, items.data[i], &w->sums[i]);
    dv_items_discard(vm, &items);
    if (!good) return false;
    if (w->count == 0 && n == 0)
        return dv_raise(vm, DV_E_INDEX_ERROR, "list index out of range"), false;
    return check_weights(vm, w, n);
}

/* As bisect_right over all sums but the last. */
static int64_t place_of_weight(const weighing *w, double x) {
    int64_t low = 0, high = w->count - 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (x < w->sums[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static dv_value choose(dv_vm *vm, dv_random *r, dv_value population, int64_t n, int64_t k,
                       const weighing *w) {
    dv_value list = dv_list_new(vm, NULL, 0);
    bool good = !dv_is_empty(list);
    for (int64_t i = 0; good && i < k; i++) {
        double x = dv_twister_double(&r->twister);
        int64_t place = w->sums ? place_of_weight(w, x * w->total) : (int64_t)floor(x * (double)n);
        dv_value item = dv_work(vm, 4) ? item_at(vm, population, place) : DV_EMPTY;
        good = !dv_is_empty(item) && dv_list_push(vm, list, item);
    }
    if (good) return list;
    dv_release(vm, list);
    return DV_EMPTY;
}

static bool is_given(dv_value v) { return !dv_is_empty(v) && !dv_is_none(v); }

dv_value dv_random_choices(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    DV_RANDOM_BIND("choices", 2, 3, "population", "weights", "cum_weights", "k");
    int64_t n = dv_length(vm, given[1]), k = 1;
    if (n < 0) return DV_EMPTY;
    bool cumulative = is_given(given[3]);
    if (cumulative && is_given(given[2]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "Cannot specify both weights and cumulative weights");
    if (!cumulative && is_given(given[2]) && dv_is_integral(given[2]))
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "The number of choices must be a keyword argument: k=%V", given[2]);
    weighing w = {NULL, 0, 0.0};
    bool good = true;
    if (cumulative || is_given(given[2]))
        good = take_weights(vm, cumulative ? given[3] : given[2], cumulative, n, &w);
    if (good && !dv_is_empty(given[4])) good = dv_size_argument(vm, given[4], &k);
    dv_value result = good ? choose(vm, dv_as_random(given[0]), given[1], n, k, &w) : DV_EMPTY;
    weighing_drop(vm, &w);
    return result;
}
