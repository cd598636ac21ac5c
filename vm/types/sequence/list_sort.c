/* list_sort.c: list.sort: the stable adaptive merge sort known as timsort, with the merge order of
 * "powersort", as CPython 3.11 has it: it makes the same comparisons in the same order, which is
 * visible when __lt__ is a dl method that prints, or raises.
 *
 * The array is cut into runs that are already ascending (or strictly descending, and reversed);
 * short runs are made longer by binary insertion.  Neighbouring runs are merged when the boundary
 * between them is deep enough in a nearly balanced tree.  A merge in which one run wins many times
 * in a row gallops: it looks for the place by exponential search.
 *
 * Invariants
 *  1. While the list is sorted it is empty for everybody else; its items belong to the sorter.
 *  2. Keys and values move together (`span`); without a key function there are keys only, which
 *     are the items.
 *  3. After a failed comparison all items are still in the array, in some order. */
#include <string.h>

#include "core/upcall.h"
#include "core/work.h"
#include "types/sequence/list.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

#define MIN_GALLOP  7
#define MAX_PENDING 85 /* runs: enough for 2^64 items */
#define FEW         256
#define ONE_RUN     64   /* items: fewer are never cut into runs (min_run) */
#define BLOCK       4096 /* items, whose work is counted together */

typedef struct sorter sorter;
typedef int (*less_function)(sorter *s, dv_value a, dv_value b); /* 1, 0, -1 failed */

/* Keys, and the values that go with them (NULL: none). */
typedef struct span {
    dv_value *keys, *values;
} span;

typedef struct run {
    span base;
    int64_t length;
    int power;
} run;

/* What merging needs. */
typedef struct merging {
    run pending[MAX_PENDING];
    dv_value few[FEW];
} merging;

struct sorter {
    dv_vm *vm;
    less_function less;
    span base;
    int64_t count;
    int64_t min_gallop;
    int pending_count;
    run only, *pending; /* `only` of fewer than ONE_RUN items, else those of `merging` */
    span spare;         /* memory for merging: keys, and values behind them */
    int64_t spare_count;
    merging *merging;
};

/* ---- Comparing ---------------------------------------------------------------------------------
 */

static int less_any(sorter *s, dv_value a, dv_value b) { return dv_less(s->vm, a, b); }

static int less_int(sorter *s, dv_value a, dv_value b) {
    (void)s;
    return dv_as_int(a) < dv_as_int(b);
}

static int less_float(sorter *s, dv_value a, dv_value b) {
    (void)s;
    return dv_as_float(a) < dv_as_float(b);
}

/* Strings of one byte per code point; most pairs differ in the first. */
static int less_latin(sorter *s, dv_value va, dv_value vb) {
    (void)s;
    const dv_str *a = dv_as_str(va), *b = dv_as_str(vb);
    int64_t shorter = a->length < b->length ? a->length : b->length;
    if (shorter > 0 && a->data[0] != b->data[0]) return (uint8_t)a->data[0] < (uint8_t)b->data[0];
    int order = memcmp(a->data, b->data, (size_t)shorter);
    return order ? order < 0 : a->length < b->length;
}

static int less_str(sorter *s, dv_value a, dv_value b) {
    (void)s;
    return dv_str_order(a, b) < 0;
}

/* Tuples that are not empty; most pairs differ in the first item, which often is an int. */
static int less_tuple(sorter *s, dv_value a, dv_value b) {
    dv_value x = dv_as_tuple(a)->items[0], y = dv_as_tuple(b)->items[0];
    if (dv_are_ints(x, y) && !dv_same(x, y)) return dv_as_int(x) < dv_as_int(y);
    dv_value result = dv_items_compare(s->vm, DV_LT, a, b);
    if (dv_is_empty(result)) return -1;
    int less = dv_truth(s->vm, result);
    dv_release(s->vm, result);
    return less;
}

/* The cheapest comparison that fits all keys. */
static less_function choose_less(const dv_value *keys, int64_t count) {
    bool ints = true, floats = true, strs = true, latin = true, tuples = true;
    for (int64_t i = 0; i < count && (ints || floats || strs || tuples); i++) {
        ints = ints && dv_is_int(keys[i]);
        floats = floats && dv_is_float(keys[i]);
        strs = strs && dv_is_shape(keys[i], DV_T_STR);
        latin = strs && latin && dv_as_str(keys[i])->kind == 1;
        tuples = tuples && dv_is_shape(keys[i], DV_T_TUPLE) && dv_as_tuple(keys[i])->count > 0;
    }
    if (strs) return latin ? less_latin : less_str;
    if (tuples) return less_tuple;
    return ints ? less_int : floats ? less_float : less_any;
}

/* Counts comparisons, and moves after them. */
static bool count_work(sorter *s, int64_t comparisons) {
    const bool numbers = s->less == less_int || s->less == less_float;
    return dv_work(s->vm, numbers ? 3 * comparisons / 2 : 4 * comparisons);
}

/* ---- Spans -------------------------------------------------------------------------------------
 */

static span span_at(span s, int64_t i) {
    return (span){s.keys + i, s.values ? s.values + i : NULL};
}

static void span_copy(span to, int64_t i, span from, int64_t k, int64_t count) {
    memcpy(to.keys + i, from.keys + k, (size_t)count * sizeof(dv_value));
    if (to.values) memcpy(to.values + i, from.values + k, (size_t)count * sizeof(dv_value));
}

static void span_move(span to, int64_t i, span from, int64_t k, int64_t count) {
    memmove(to.keys + i, from.keys + k, (size_t)count * sizeof(dv_value));
    if (to.values) memmove(to.values + i, from.values + k, (size_t)count * sizeof(dv_value));
}

static void span_set(span to, int64_t i, span from, int64_t k) {
    to.keys[i] = from.keys[k];
    if (to.values) to.values[i] = from.values[k];
}

static void reverse_values(dv_value *values, int64_t count) {
    for (int64_t i = 0, k = count - 1; i < k; i++, k--) {
        dv_value v = values[i];
        values[i] = values[k];
        values[k] = v;
    }
}

static void span_reverse(span s, int64_t count) {
    reverse_values(s.keys, count);
    if (s.values) reverse_values(s.values, count);
}

/* ---- Runs --------------------------------------------------------------------------------------
 */

/* Length of the run that begins at keys[0]; -1: failed.  A run descends only strictly, so that
 * reversing it keeps equal keys in order. */
static int64_t count_run(sorter *s, const dv_value *keys, int64_t count, bool *descending) {
    *descending = false;
    if (count < 2) return count;
    int first = s->less(s, keys[1], keys[0]);
    if (first < 0) return -1;
    *descending = first == 1;
    int64_t n = 2;
    for (int64_t counted = n; n < count; n++) {
        int less = s->less(s, keys[n], keys[n - 1]);
        if (less < 0) return -1;
        if (less != first) break;
        if (n - counted < BLOCK) continue;
        if (!count_work(s, BLOCK)) return -1;
        counted = n;
    }
    return n;
}

/* Sorts the first `count` keys, of which the first `sorted` already are, by binary insertion. */
static bool insertion_sort(sorter *s, span base, int64_t count, int64_t sorted) {
    for (int64_t i = sorted ? sorted : 1; i < count; i++) {
        int64_t low = 0, high = i;
        dv_value key = base.keys[i];
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            int less = s->less(s, key, base.keys[middle]);
            if (less < 0) return false;
            if (less)
                high = middle;
            else
                low = middle + 1;
        }
        dv_value value = base.values ? base.values[i] : DV_EMPTY;
        span_move(base, low + 1, base, low, i - low);
        base.keys[low] = key;
        if (base.values) base.values[low] = value;
    }
    return true;
}

/* Runs are at least so long: between 32 and 64, such that count / result is a power of 2 or a bit
 * less. */
static int64_t min_run(int64_t count) {
    int64_t bits = 0;
    while (count >= 64) {
        bits |= count & 1;
        count >>= 1;
    }
    return count + bits;
}

/* ---- Galloping ---------------------------------------------------------------------------------
 * Both return k in 0 .. count; keys[k-1] < key <= keys[k] (left), or keys[k-1] <= key < keys[k]
 * (right).  `hint` is where the search begins.  -1: failed. */

/* Is keys[i] before the place that is looked for? */
static int before(sorter *s, bool right, dv_value key, dv_value other) {
    if (!right) return s->less(s, other, key);
    int less = s->less(s, key, other);
    return less < 0 ? -1 : !less;
}

static int64_t gallop(sorter *s, bool right, dv_value key, const dv_value *keys, int64_t count,
                      int64_t hint) {
    int64_t last = 0, offset = 1, limit;
    int forward = before(s, right, key, keys[hint]);
    if (forward < 0) return -1;
    limit = forward ? count - hint : hint + 1;
    while (offset < limit) { /* doubles the offset until the place is passed */
        int is_before = before(s, right, key, keys[forward ? hint + offset : hint - offset]);
        if (is_before < 0) return -1;
        if (is_before != forward) break;
        last = offset;
        offset = offset > INT64_MAX / 2 ? limit : offset * 2 + 1;
    }
    if (offset > limit) offset = limit;
    int64_t low = forward ? hint + last : hint - offset;
    int64_t high = forward ? hint + offset : hint - last;
    for (low++; low < high;) {
        int64_t middle = low + (high - low) / 2;
        int is_before = before(s, right, key, keys[middle]);
        if (is_before < 0) return -1;
        if (is_before)
            low = middle + 1;
        else
            high = middle;
    }
    return high;
}

/* ---- Merging -----------------------------------------------------------------------------------
 */

static void free_spare(sorter *s) {
    if (s->spare.keys && s->spare.keys != s->merging->few) {
        size_t columns = s->base.values ? 2 : 1;
        dv_heap_free(&s->vm->heap, s->spare.keys,
                     columns * (size_t)s->spare_count * sizeof(dv_value));
    }
    s->spare.keys = NULL;
    s->spare_count = 0;
}

/* Memory for merging `count` items. */
static bool need_spare(sorter *s, int64_t count) {
    int64_t columns = s->base.values ? 2 : 1;
    if (count <= s->spare_count) return true;
    free_spare(s);
    if (count * columns <= FEW) {
        s->spare.keys = s->merging->few;
        s->spare_count = FEW / columns;
    } else {
        s->spare.keys = dv_heap_alloc(&s->vm->heap, (size_t)(columns * count) * sizeof(dv_value));
        if (!s->spare.keys) {
            dv_raise_memory(s->vm);
            return false;
        }
        s->spare_count = count;
    }
    s->spare.values = s->base.values ? s->spare.keys + s->spare_count : NULL;
    return true;
}

/* Merges the runs a and b, which lie side by side, count_a <= count_b, from the left.  It is known
 * that b[0] < a[0], and that a's last key comes after all of b. */
static bool merge_low(sorter *s, span a, int64_t count_a, span b, int64_t count_b) {
    if (!need_spare(s, count_a)) return false;
    span to = a, spare = s->spare;
    int64_t at_a = 0, at_b = 0, at = 0, min_gallop = s->min_gallop;
    bool good = false;
    span_copy(spare, 0, a, 0, count_a);
    span_set(to, at++, b, at_b++);
    if (at_b == count_b) goto rest_of_a;
    if (count_a == 1) goto rest_of_b;
    for (int64_t counted = 0, stop = at_b;;) {
        int64_t wins_a = 0, wins_b = 0;
        /* One at a time, until one run seems to win consistently. */
        for (;;) {
            int less = s->less(s, b.keys[at_b], spare.keys[at_a]);
            if (less < 0) goto failed;
            if (less) {
                span_set(to, at++, b, at_b++);
                wins_b++;
                wins_a = 0;
                if (at_b >= stop) { /* all of b, or so much that it is to be counted */
                    if (at_b == count_b) goto rest_of_a;
                    if (!count_work(s, at - counted)) goto failed;
                    counted = at;
                    stop = count_b - at_b > BLOCK ? at_b + BLOCK : count_b;
                }
                if (wins_b >= min_gallop) break;
            } else {
                span_set(to, at++, spare, at_a++);
                wins_a++;
                wins_b = 0;
                if (at_a == count_a - 1) goto rest_of_b;
                if (wins_a >= min_gallop) break;
            }
        }
        min_gallop++;
        do {
            min_gallop -= min_gallop > 1;
            s->min_gallop = min_gallop;
            wins_a = gallop(s, true, b.keys[at_b], spare.keys + at_a, count_a - at_a, 0);
            if (wins_a < 0) goto failed;
            span_copy(to, at, spare, at_a, wins_a);
            at += wins_a;
            at_a += wins_a;
            if (at_a == count_a - 1) goto rest_of_b;
            /* Not possible with a consistent comparison, but a dl method may be anything. */
            if (at_a == count_a) goto rest_of_a;
            span_set(to, at++, b, at_b++);
            if (at_b == count_b) goto rest_of_a;
            wins_b = gallop(s, false, spare.keys[at_a], b.keys + at_b, count_b - at_b, 0);
            if (wins_b < 0) goto failed;
            span_move(to, at, b, at_b, wins_b);
            at += wins_b;
            at_b += wins_b;
            if (at_b == count_b) goto rest_of_a;
            span_set(to, at++, spare, at_a++);
            if (at_a == count_a - 1) goto rest_of_b;
        } while (wins_a >= MIN_GALLOP || wins_b >= MIN_GALLOP);
        min_gallop++; /* leaving this mode costs */
        s->min_gallop = min_gallop;
    }
rest_of_a:
    good = true;
failed:
    span_copy(to, at, spare, at_a, count_a - at_a);
    return good;
rest_of_b: /* the last key of a comes after all of b */
    span_move(to, at, b, at_b, count_b - at_b);
    span_copy(to, at + count_b - at_b, spare, at_a, 1);
    return true;
}

/* The same from the right, count_a >= count_b. */
static bool merge_high(sorter *s, span a, int64_t count_a, span b, int64_t count_b) {
    if (!need_spare(s, count_b)) return false;
    span to = a, spare = s->spare; /* what is left of a and of b ends at at_a and at_b */
    int64_t at_a = count_a, at_b = count_b, at = count_a + count_b, min_gallop = s->min_gallop;
    bool good = false;
    span_copy(spare, 0, b, 0, count_b);
    span_set(to, --at, a, --at_a);
    if (at_a == 0) goto rest_of_b;
    if (at_b == 1) goto rest_of_a;
    for (int64_t left = at, stop = at_a;;) {
        int64_t wins_a = 0, wins_b = 0, place;
        for (;;) {
            int less = s->less(s, spare.keys[at_b - 1], a.keys[at_a - 1]);
            if (less < 0) goto failed;
            if (less) {
                span_set(to, --at, a, --at_a);
                wins_a++;
                wins_b = 0;
                if (at_a <= stop) {
                    if (at_a == 0) goto rest_of_b;
                    if (!count_work(s, left - at)) goto failed;
                    left = at;
                    stop = at_a > BLOCK ? at_a - BLOCK : 0;
                }
                if (wins_a >= min_gallop) break;
            } else {
                span_set(to, --at, spare, --at_b);
                wins_b++;
                wins_a = 0;
                if (at_b == 1) goto rest_of_a;
                if (wins_b >= min_gallop) break;
            }
        }
        min_gallop++;
        do {
            min_gallop -= min_gallop > 1;
            s->min_gallop = min_gallop;
            place = gallop(s, true, spare.keys[at_b - 1], a.keys, at_a, at_a - 1);
            if (place < 0) goto failed;
            wins_a = at_a - place;
            at -= wins_a;
            at_a -= wins_a;
            span_move(to, at, a, at_a, wins_a);
            if (at_a == 0) goto rest_of_b;
            span_set(to, --at, spare, --at_b);
            if (at_b == 1) goto rest_of_a;
            place = gallop(s, false, a.keys[at_a - 1], spare.keys, at_b, at_b - 1);
            if (place < 0) goto failed;
            wins_b = at_b - place;
            at -= wins_b;
            at_b -= wins_b;
            span_copy(to, at, spare, at_b, wins_b);
            if (at_b == 1) goto rest_of_a;
            if (at_b == 0) goto rest_of_b; /* as above: an inconsistent comparison */
            span_set(to, --at, a, --at_a);
            if (at_a == 0) goto rest_of_b;
        } while (wins_a >= MIN_GALLOP || wins_b >= MIN_GALLOP);
        min_gallop++;
        s->min_gallop = min_gallop;
    }
rest_of_b:
    good = true;
failed:
    span_copy(to, at - at_b, spare, 0, at_b);
    return good;
rest_of_a: /* the first key of b comes before all that is left of a */
    span_move(to, at - at_a, a, 0, at_a);
    span_copy(to, at - at_a - 1, spare, 0, 1);
    return true;
}

/* Merges the pending runs i and i+1. */
static bool merge_at(sorter *s, int i) {
    span a = s->pending[i].base, b = s->pending[i + 1].base;
    int64_t count_a = s->pending[i].length, count_b = s->pending[i + 1].length;
    s->pending[i].length = count_a + count_b;
    if (i == s->pending_count - 3) s->pending[i + 1] = s->pending[i + 2];
    s->pending_count--;
    /* What of a comes before b[0], and of b after a's last, is in place already. */
    int64_t skip = gallop(s, true, b.keys[0], a.keys, count_a, 0);
    if (skip < 0) return false;
    a = span_at(a, skip);
    count_a -= skip;
    if (count_a == 0) return true;
    count_b = gallop(s, false, a.keys[count_a - 1], b.keys, count_b, count_b - 1);
    if (count_b <= 0) return count_b == 0;
    return count_a <= count_b ? merge_low(s, a, count_a, b, count_b)
                              : merge_high(s, a, count_a, b, count_b);
}

/* Depth in the tree of the boundary between two runs: the first binary digit in which the
 * fractions (middle of the run) / count differ. */
static int power_of(int64_t start, int64_t first, int64_t second, int64_t count) {
    int power = 0;
    int64_t a = 2 * start + first, b = a + first + second;
    for (;;) {
        power++;
        if (a >= count) {
            a -= count;
            b -= count;
        } else if (b >= count) {
            return power;
        }
        a <<= 1;
        b <<= 1;
    }
}

/* A new run of `length` begins behind the pending ones: merges those that lie deeper. */
static bool merge_deeper(sorter *s, int64_t length) {
    if (s->pending_count == 0) return true;
    run *last = &s->pending[s->pending_count - 1];
    int power = power_of(last->base.keys - s->base.keys, last->length, length, s->count);
    while (s->pending_count > 1 && s->pending[s->pending_count - 2].power > power)
        if (!merge_at(s, s->pending_count - 2)) return false;
    s->pending[s->pending_count - 1].power = power;
    return true;
}

static bool merge_all(sorter *s) {
    while (s->pending_count > 1) {
        int i = s->pending_count - 2;
        if (i > 0 && s->pending[i - 1].length < s->pending[i + 1].length) i--;
        if (!merge_at(s, i)) return false;
    }
    return true;
}

static bool sort_runs(sorter *s) {
    int64_t left = s->count, shortest = min_run(left);
    span at = s->base;
    while (left > 0) {
        bool descending;
        int64_t length = count_run(s, at.keys, left, &descending);
        if (length < 0) return false;
        if (descending) span_reverse(at, length);
        if (!count_work(s, length)) return false;
        if (length < shortest) {
            int64_t forced = left < shortest ? left : shortest;
            if (!count_work(s, 4 * forced)) return false;
            if (!insertion_sort(s, at, forced, length)) return false;
            length = forced;
        }
        if (!merge_deeper(s, length)) return false;
        s->pending[s->pending_count++] = (run){at, length, 0};
        at = span_at(at, length);
        left -= length;
    }
    return merge_all(s);
}

/* ---- list.sort ---------------------------------------------------------------------------------
 */

/* key(item) for each item; on failure those that were made are released again. */
static bool make_keys(dv_vm *vm, dv_value function, const dv_value *items, int64_t count,
                      dv_value *keys) {
    for (int64_t i = 0; i < count; i++) {
        keys[i] = dv_work(vm, 2) ? dv_call(vm, function, &items[i], 1, DV_EMPTY) : DV_EMPTY;
        if (!dv_is_empty(keys[i])) continue;
        while (i > 0) dv_release(vm, keys[--i]);
        return false;
    }
    return true;
}

/* Sorts the items in place, by the keys that go with them (NULL: by themselves). */
static bool sort_items(sorter *s, dv_value *items, int64_t count, dv_value *keys, bool reverse) {
    s->base = keys ? (span){keys, items} : (span){items, NULL};
    s->count = count;
    s->min_gallop = MIN_GALLOP;
    s->pending_count = 0;
    s->spare = (span){NULL, NULL};
    s->spare_count = 0;
    s->pending = &s->only;
    s->merging = NULL;
    s->less = choose_less(s->base.keys, count);
    if (count >= ONE_RUN) {
        s->merging = dv_heap_alloc(&s->vm->heap, sizeof(merging));
        if (!s->merging) {
            dv_raise_memory(s->vm);
            return false;
        }
        s->pending = s->merging->pending;
    }
    /* Reversed before and after, so that equal keys keep their order. */
    if (reverse) span_reverse(s->base, count);
    bool good = count < 2 || sort_runs(s);
    if (reverse) span_reverse(s->base, count);
    free_spare(s);
    if (s->merging) dv_heap_free(&s->vm->heap, s->merging, sizeof(merging));
    return good;
}

static bool sort_by_key(sorter *s, dv_value *items, int64_t count, dv_value key, bool reverse) {
    dv_vm *vm = s->vm;
    if (dv_is_empty(key) || dv_is_none(key)) return sort_items(s, items, count, NULL, reverse);
    size_t size = (size_t)count * sizeof(dv_value);
    if (count == 0) return true;
    dv_value *keys = dv_heap_alloc(&vm->heap, size);
    if (!keys) {
        dv_raise_memory(vm);
        return false;
    }
    bool good = make_keys(vm, key, items, count, keys);
    if (good) {
        good = sort_items(s, items, count, keys, reverse);
        for (int64_t i = 0; i < count; i++) dv_release(vm, keys[i]);
    }
    dv_heap_free(&vm->heap, keys, size);
    return good;
}

bool dv_list_sort(dv_vm *vm, dv_value self, dv_value key, bool reverse) {
    dv_list *list = dv_as_list(self);
    sorter s = {.vm = vm};
    dv_value *items = list->items;
    int64_t count = list->count, capacity = list->capacity;
    list->items = NULL;
    list->count = list->capacity = 0;
    bool good = sort_by_key(&s, items, count, key, reverse);

    dv_value *added = list->items;
    int64_t added_count = list->count, added_capacity = list->capacity;
    list->items = items;
    list->count = count;
    list->capacity = capacity;
    if (added_capacity == 0) return good;
    if (good) dv_raise(vm, DV_E_VALUE_ERROR, "list modified during sort");
    while (added_count > 0) dv_release(vm, added[--added_count]);
    dv_heap_free(&vm->heap, added, (size_t)added_capacity * sizeof(dv_value));
    return false;
}
