/* sets.c: arrays as sets: in1d, isin, union1d, intersect1d, setdiff1d, setxor1d; ediff1d (sets.h).
 *
 * Invariants
 *  1. Elements are equal as `==` sees it after both arrays have been cast to a common dtype: a nan
 *     is in no set but as itself. */
#include "sort/sets.h"

#include <string.h>

#include "array/compose.h"
#include "index/index.h"
#include "functions/join.h"
#include "array/methods.h"
#include "sort/order.h"
#include "array/shape.h"
#include "ufunc/ufunc.h"

/* ---- Rows ---- */

/* All elements of v in a row, in C order. */
static dvx_value row_of(dvx_vm *vm, dvx_value v, nd_array **out) {
    dvx_value array = array_row(vm, v, NULL, out);
    if (dvx_failed(array) || (*out)->ndim == 1) return array;
    array = compose_first(vm, shape_ravel(vm, array), array);
    if (!dvx_failed(array)) *out = array_of(vm, array);
    return array;
}

static dvx_value unique_of(dvx_vm *vm, dvx_value v, nd_array **out) {
    dvx_value row = row_of(vm, v, out);
    if (dvx_failed(row)) return row;
    dvx_value made = compose_first(vm, order_unique(vm, *out), row);
    if (!dvx_failed(made)) *out = array_of(vm, made);
    return made;
}

/* The elements of both, one after the other; takes them. */
static dvx_value joined(dvx_vm *vm, dvx_value a, dvx_value b, nd_array **out) {
    const dvx_value both[2] = {a, b};
    dvx_value made = DVX_FAILED;
    if (!dvx_failed(a) && !dvx_failed(b))
        made = join_arrays(vm, both, 2, 0,
                           dtype_promote(array_of(vm, a)->dtype, array_of(vm, b)->dtype));
    vm->api->release(vm, a);
    vm->api->release(vm, b);
    if (!dvx_failed(made)) *out = array_of(vm, made);
    return made;
}

/* As they are, or as sets. */
static dvx_value members(dvx_vm *vm, dvx_value v, bool unique, nd_array **out) {
    return unique ? unique_of(vm, v, out) : row_of(vm, v, out);
}

static dvx_value new_mask(dvx_vm *vm, int64_t count, nd_array **out) {
    return array_new(vm, ND_DTYPE(ND_BOOL), 1, &count, out);
}

/* equal[i]: elements i and i + 1 of a row of `n` are. */
static void find_equal(dvx_vm *vm, const nd_array *row, char *equal) {
    const int64_t size = row->dtype->size, strides[3] = {size, size, 1};
    char *args[3] = {row->data, row->data + size, equal};
    if (row->size > 1)
        ufunc_kernel(vm, ND_UFUNC_equal, row->dtype->num)->loop(args, row->size - 1, strides);
}

/* ---- in1d ---- */

enum { BY_ANY, BY_SORTING, BY_TABLE };
static bool read_way(dvx_vm *vm, dvx_value v, int *way) {
    char word[32] = "";
    *way = BY_ANY;
    if (!nd_is_given(vm, v)) return true;
    nd_word(vm, v, word);
    *way = !strcmp(word, "sort") ? BY_SORTING : !strcmp(word, "table") ? BY_TABLE : BY_ANY;
    if (*way != BY_ANY) return true;
    dvx_value error = vm->api->error_class(vm, DVX_VALUE_ERROR);
    vm->api->raise_format(vm, error, "Invalid kind: '%S'. Please use None, 'sort' or 'table'.", v);
    vm->api->release(vm, error);
    return false;
}

static int64_t int_at(const nd_array *a, int64_t i) {
    return type_int(a->dtype->num, a->data + i * a->dtype->size);
}

/* A byte for each number between the least and the greatest element of `set`. */
typedef struct table {
    uint8_t *bytes;
    int64_t least;
    uint64_t range; /* greatest - least */
} table;

#define LOOK_UP(T, name)                                                                   \
    static void look_up_##name(const table *t, const nd_array *a, bool invert, char *to) { \
        const T *v = (const T *)(const void *)a->data;                                     \
        for (int64_t i = 0; i < a->size; i++) {                                            \
            const uint64_t place = (uint64_t)v[i] - (uint64_t)t->least;                    \
            const bool within = place <= t->range;                                         \
            to[i] = (char)((within & t->bytes[within ? place : 0]) ^ invert);              \
        }                                                                                  \
    }
LOOK_UP(uint8_t, 1)
LOOK_UP(int32_t, 4)
LOOK_UP(int64_t, 8)

static void bounds_of(const nd_array *a, int64_t *least, int64_t *most) {
    *least = *most = int_at(a, 0);
    for (int64_t i = 1; i < a->size; i++) {
        const int64_t x = int_at(a, i);
        *least = x < *least ? x : *least;
        *most = x > *most ? x : *most;
    }
}

static uint64_t greatest_of(const nd_array *a) {
    switch (a->dtype->num) {
    case ND_INT64: return INT64_MAX;
    case ND_INT32: return INT32_MAX;
    default: return UINT8_MAX;
    }
}

/* Would the places of elements in the table be too large for their dtype?  (Not for ours: it is
 * what NumPy refuses.) */
static bool overflows(const nd_array *a, int64_t least, int64_t most) {
    int64_t own_least, own_most;
    bounds_of(a, &own_least, &own_most);
    const int64_t upper = own_most < most ? own_most : most;
    return upper >= least && (uint64_t)upper - (uint64_t)least > greatest_of(a);
}

/* False: the table would be too large (nothing is raised), or *good is false. */
static bool by_table(dvx_vm *vm, const nd_array *a, const nd_array *set, int way, bool invert,
                     char *to, bool *good) {
    table t;
    int64_t least, most;
    bounds_of(set, &least, &most);
    t.least = least;
    t.range = (uint64_t)most - (uint64_t)least;
    if (t.range > greatest_of(set) || (way == BY_TABLE && overflows(a, least, most))) {
        if (way == BY_TABLE)
            *good = nd_fail(vm, DVX_RUNTIME_ERROR,
                            "You have specified kind='table', but the range of values in `ar2` or "
                            "`ar1` exceed the maximum integer of the datatype. Please set `kind` "
                            "to None or 'sort'.");
        return false;
    }
    if (way != BY_TABLE && t.range > 6 * (uint64_t)(a->size + set->size)) return false;
    const size_t size = (size_t)t.range + 1;
    t.bytes = vm->api->allocate(vm, size);
    if (!t.bytes) return *good = false;
    memset(t.bytes, 0, size);
    for (int64_t i = 0; i < set->size; i++)
        t.bytes[(uint64_t)int_at(set, i) - (uint64_t)least] = true;
    (a->dtype->size == 1   ? look_up_1
     : a->dtype->size == 4 ? look_up_4
                           : look_up_8)(&t, a, invert, to);
    vm->api->deallocate(vm, t.bytes, size);
    return true;
}

/* Each element is compared with all those of a small set, a block at a time. */
enum { SMALL_SET = 12, BLOCK = 1024 };
static void by_comparing(dvx_vm *vm, const nd_array *a, const nd_array *set, char *to) {
    const int64_t size = a->dtype->size, strides[3] = {size, 0, 1};
    const nd_loop equal = ufunc_kernel(vm, ND_UFUNC_equal, a->dtype->num)->loop;
    for (int64_t i = 0; i < a->size; i += BLOCK) {
        const int64_t count = a->size - i < BLOCK ? a->size - i : BLOCK;
        for (int64_t k = 0; k < set->size; k++) {
            _Alignas(64) char found[BLOCK];
            char *restrict answers = to + i;
            char *args[3] = {a->data + i * size, set->data + k * size, k ? found : answers};
            equal(args, count, strides);
            for (int64_t n = 0; k && n < count; n++) answers[n] |= found[n];
        }
    }
}

/* A place for each element where it would be in the sorted set; then it is looked at. */
static bool by_searching(dvx_vm *vm, const nd_array *a, const nd_array *set, char *to) {
    int64_t *places;
    nd_array *sorted, room;
    const int64_t size = a->dtype->size, strides[3] = {size, size, 1};
    const nd_loop equal = ufunc_kernel(vm, ND_UFUNC_equal, a->dtype->num)->loop;
    dvx_value held = array_copy(vm, set, set->dtype, 'C');
    if (dvx_failed(held)) return false;
    sorted = array_of(vm, held);
    bool good = order_sort(vm, sorted->dtype, sorted->data, sorted->size);
    places = good ? vm->api->allocate(vm, BLOCK * sizeof *places) : NULL;
    for (int64_t i = 0; places && good && i < a->size; i += BLOCK) {
        _Alignas(16) char found[BLOCK * sizeof(nd_complex)];
        room = *a;
        room.data = a->data + i * size;
        room.size = a->size - i < BLOCK ? a->size - i : BLOCK;
        good = order_search(vm, a->dtype, sorted, &room, false, places);
        if (!good) break;
        for (int64_t n = 0; n < room.size; n++) {
            const int64_t at = places[n] < sorted->size ? places[n] : sorted->size - 1;
            memcpy(found + n * size, sorted->data + at * size, (size_t)size);
        }
        char *args[3] = {room.data, found, to + i};
        equal(args, room.size, strides);
        good = nd_work(vm, 10 * room.size);
    }
    good = good && places;
    vm->api->deallocate(vm, places, BLOCK * sizeof *places);
    vm->api->release(vm, held);
    return good;
}

/* What of the elements of `a` is in `set`: rows, in C order. */
static bool find_members(dvx_vm *vm, const nd_array *a, const nd_array *set, bool invert, int way,
                         char *to) {
    const bool ints = dtype_is_integer(a->dtype) && dtype_is_integer(set->dtype);
    bool good = true;
    if (way == BY_TABLE && !ints)
        return nd_fail(vm, DVX_VALUE_ERROR,
                       "The 'table' method is only supported for boolean or integer arrays. Please "
                       "select 'sort' or None for kind.");
    if (!set->size || !a->size) {
        memset(to, invert, (size_t)a->size);
        return true;
    }
    const bool hot = a->dtype->hot != ND_RARE && set->dtype->hot != ND_RARE;
    if (ints && hot && way != BY_SORTING && by_table(vm, a, set, way, invert, to, &good))
        return true;
    if (!good) return false;
    const nd_dtype *dtype = dtype_promote(a->dtype, set->dtype);
    nd_array *x, *y;
    dvx_value held = array_copy(vm, set, dtype, 'C'), other = DVX_FAILED;
    if (!dvx_failed(held) && a->dtype != dtype) other = array_copy(vm, a, dtype, 'C');
    good = !dvx_failed(held) && (a->dtype == dtype || !dvx_failed(other));
    if (good) {
        y = array_of(vm, held);
        x = a->dtype == dtype ? NULL : array_of(vm, other);
        if (set->size <= SMALL_SET)
            by_comparing(vm, x ? x : a, y, to);
        else
            good = by_searching(vm, x ? x : a, y, to);
    }
    vm->api->release(vm, held);
    vm->api->release(vm, other);
    for (int64_t i = 0; good && invert && i < a->size; i++) to[i] ^= 1;
    return good;
}

/* args: two arrays, assume_unique, invert, kind; in a row, or in the shape of the first one. */
static dvx_value is_in(dvx_vm *vm, const dvx_value *args, bool shaped) {
    int way;
    int64_t shape[ND_MOST];
    nd_array *first, *a, *set, *mask;
    const int invert = nd_flag(vm, args[3], false);
    if (invert < 0 || !read_way(vm, args[4], &way)) return DVX_FAILED;
    dvx_value held = array_operand(vm, args[0], NULL, &first), made = DVX_FAILED, other;
    if (dvx_failed(held)) return held;
    dvx_value row = row_of(vm, held, &a);
    other = dvx_failed(row) ? row : row_of(vm, args[1], &set);
    if (!dvx_failed(other)) {
        array_shape(first, shape);
        made = shaped ? array_new(vm, ND_DTYPE(ND_BOOL), first->ndim, shape, &mask)
                      : new_mask(vm, a->size, &mask);
        if (!dvx_failed(made) && !find_members(vm, a, set, invert, way, mask->data))
            made = compose_first(vm, DVX_FAILED, made);
    }
    vm->api->release(vm, other);
    vm->api->release(vm, row);
    vm->api->release(vm, held);
    return made;
}
static dvx_value in1d(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return is_in(vm, args, false);
}
static dvx_value isin(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return is_in(vm, args, true);
}

/* ---- Sets of two sets ---- */

static dvx_value union1d(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    (void)count;
    dvx_value first = row_of(vm, args[0], &a);
    if (dvx_failed(first)) return first;
    dvx_value whole = joined(vm, first, row_of(vm, args[1], &a), &a);
    return dvx_failed(whole) ? whole : compose_first(vm, order_unique(vm, a), whole);
}

/* ar1, ar2, assume_unique */
static dvx_value setdiff1d(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a, *b, *mask;
    const int unique = nd_flag(vm, args[2], false);
    (void)count;
    if (unique < 0) return DVX_FAILED;
    dvx_value first = members(vm, args[0], !unique, &a), made = DVX_FAILED;
    if (dvx_failed(first)) return first;
    dvx_value other = row_of(vm, args[1], &b);
    dvx_value keep = dvx_failed(other) ? other : new_mask(vm, a->size, &mask);
    if (!dvx_failed(keep) && find_members(vm, a, b, true, BY_ANY, mask->data))
        made = fancy_get_mask(vm, a, mask);
    vm->api->release(vm, keep);
    vm->api->release(vm, other);
    vm->api->release(vm, first);
    return made;
}

/* ar1, ar2, assume_unique */
static dvx_value setxor1d(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a, *mask;
    const int unique = nd_flag(vm, args[2], false);
    (void)count;
    if (unique < 0) return DVX_FAILED;
    dvx_value first = members(vm, args[0], !unique, &a);
    if (dvx_failed(first)) return first;
    dvx_value whole = joined(vm, first, members(vm, args[1], !unique, &a), &a);
    if (dvx_failed(whole) || a->size == 0) return whole;
    dvx_value keep = new_mask(vm, a->size, &mask), made = DVX_FAILED;
    if (!dvx_failed(keep) && order_sort(vm, a->dtype, a->data, a->size)) {
        const int64_t n = a->size;
        find_equal(vm, a, mask->data);
        mask->data[n - 1] = false;
        for (int64_t i = n - 1; i >= 0; i--)
            mask->data[i] = !(mask->data[i] | (i ? mask->data[i - 1] : 0));
        made = fancy_get_mask(vm, a, mask);
    }
    vm->api->release(vm, keep);
    vm->api->release(vm, whole);
    return made;
}

/* Places of the elements of a row in the array that they came from: those of the first one of
 * each, where `index` is given. */
static void move_places(int64_t *places, int64_t count, int64_t offset, const nd_array *index) {
    const int64_t *of = index ? (const int64_t *)(const void *)index->data : NULL;
    for (int64_t i = 0; i < count; i++) {
        places[i] -= offset;
        if (of) places[i] = of[places[i]];
    }
}

/* The different elements of a row, and the place of the first one of each. */
static dvx_value unique_places(dvx_vm *vm, const nd_array *row, dvx_value *values) {
    nd_array *places, *mask;
    dvx_value held = array_new(vm, ND_DTYPE(ND_INT64), 1, &row->size, &places), made = DVX_FAILED;
    *values = DVX_FAILED;
    if (dvx_failed(held)) return held;
    dvx_value sorted = DVX_FAILED, keep = DVX_FAILED, unique = DVX_FAILED;
    if (order_places(vm, row->dtype, row->data, (int64_t *)(void *)places->data, row->size))
        sorted = fancy_get_row(vm, row, places);
    if (!dvx_failed(sorted)) keep = new_mask(vm, row->size, &mask);
    if (!dvx_failed(keep)) {
        const nd_array *s = array_of(vm, sorted);
        /* (Nans are one element here, as in unique.) */
        const bool nans = s->dtype->kind == 'f' || s->dtype->kind == 'c';
        find_equal(vm, s, mask->data);
        memmove(mask->data + (s->size > 0), mask->data, (size_t)(s->size ? s->size - 1 : 0));
        if (s->size) mask->data[0] = false;
        for (int64_t i = 0; i < s->size; i++) mask->data[i] ^= 1;
        if (nans && s->size) {
            unique = order_unique(vm, row);
            int64_t kept = dvx_failed(unique) ? -1 : fancy_count(vm, mask);
            const int64_t wanted = kept < 0 ? 0 : array_of(vm, unique)->size;
            if (kept < 0) {
                vm->api->release(vm, unique);
                unique = DVX_FAILED;
            }
            /* All nans are behind all numbers: what is too much is at the end. */
            for (int64_t i = s->size - 1; kept > wanted && i >= 0; i--, kept--)
                mask->data[i] = false;
        } else {
            unique = fancy_get_mask(vm, s, mask);
        }
        if (!dvx_failed(unique)) made = fancy_get_mask(vm, places, mask);
    }
    if (dvx_failed(made))
        vm->api->release(vm, unique);
    else
        *values = unique;
    vm->api->release(vm, keep);
    vm->api->release(vm, sorted);
    vm->api->release(vm, held);
    return made;
}

/* The elements that both have, and their places: a tuple of three. */
static dvx_value intersect_places(dvx_vm *vm, dvx_value rows[2], const dvx_value index[2]) {
    nd_array *whole, *places, *mask;
    const int64_t size = array_of(vm, rows[0])->size;
    dvx_value made = DVX_FAILED, items[3] = {DVX_FAILED, DVX_FAILED, DVX_FAILED};
    dvx_value all = joined(vm, vm->api->retain(vm, rows[0]), vm->api->retain(vm, rows[1]), &whole),
              order, sorted;
    if (dvx_failed(all)) return all;
    order = array_new(vm, ND_DTYPE(ND_INT64), 1, &whole->size, &places);
    sorted = DVX_FAILED;
    if (!dvx_failed(order) &&
        order_places(vm, whole->dtype, whole->data, (int64_t *)(void *)places->data, whole->size))
        sorted = fancy_get_row(vm, whole, places);
    dvx_value keep = dvx_failed(sorted) ? sorted : new_mask(vm, whole->size, &mask);
    if (!dvx_failed(keep)) {
        const int64_t n = whole->size;
        find_equal(vm, array_of(vm, sorted), mask->data);
        if (n) mask->data[n - 1] = false;
        items[0] = fancy_get_mask(vm, array_of(vm, sorted), mask);
        if (!dvx_failed(items[0])) items[1] = fancy_get_mask(vm, places, mask);
        if (n) {
            memmove(mask->data + 1, mask->data, (size_t)(n - 1));
            mask->data[0] = false;
        }
        if (!dvx_failed(items[1])) items[2] = fancy_get_mask(vm, places, mask);
        for (int i = 0; !dvx_failed(items[2]) && i < 2; i++) {
            const nd_array *found = array_of(vm, items[1 + i]);
            move_places((int64_t *)(void *)found->data, found->size, i ? size : 0,
                        dvx_failed(index[i]) ? NULL : array_of(vm, index[i]));
        }
        if (!dvx_failed(items[2])) made = vm->api->make_tuple(vm, items, 3);
    }
    for (int i = 0; i < 3; i++) vm->api->release(vm, items[i]);
    vm->api->release(vm, keep);
    vm->api->release(vm, sorted);
    vm->api->release(vm, order);
    vm->api->release(vm, all);
    return made;
}

/* ar1, ar2, assume_unique, return_indices */
static dvx_value intersect1d(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a, *mask;
    const int unique = nd_flag(vm, args[2], false), places = nd_flag(vm, args[3], false);
    dvx_value rows[2] = {DVX_FAILED, DVX_FAILED}, index[2] = {DVX_FAILED, DVX_FAILED};
    dvx_value made = DVX_FAILED;
    bool good = unique >= 0 && places >= 0;
    (void)count;
    for (int i = 0; good && i < 2; i++) {
        rows[i] = members(vm, args[i], !unique && !places, &a);
        good = !dvx_failed(rows[i]);
        if (!good || unique || !places) continue;
        dvx_value values;
        index[i] = unique_places(vm, a, &values);
        vm->api->release(vm, rows[i]);
        rows[i] = values;
        good = !dvx_failed(index[i]);
    }
    if (good && places) {
        made = intersect_places(vm, rows, index);
    } else if (good) {
        dvx_value whole =
            joined(vm, vm->api->retain(vm, rows[0]), vm->api->retain(vm, rows[1]), &a);
        dvx_value keep = dvx_failed(whole) ? whole : new_mask(vm, a->size, &mask);
        if (!dvx_failed(keep) && order_sort(vm, a->dtype, a->data, a->size)) {
            find_equal(vm, a, mask->data);
            if (a->size) mask->data[a->size - 1] = false;
            made = fancy_get_mask(vm, a, mask);
        }
        vm->api->release(vm, keep);
        vm->api->release(vm, whole);
    }
    for (int i = 0; i < 2; i++) {
        vm->api->release(vm, rows[i]);
        vm->api->release(vm, index[i]);
    }
    return made;
}

/* ---- ediff1d ---- */

/* One end as a row of the dtype of the array, or nothing. */
static bool read_end(dvx_vm *vm, dvx_value v, const nd_dtype *dtype, const char *name,
                     dvx_value *held, nd_array **out) {
    *held = DVX_FAILED;
    *out = NULL;
    if (!nd_is_given(vm, v)) return true;
    dvx_value row = row_of(vm, v, out);
    if (dvx_failed(row)) return false;
    if (!dtype_is_same_kind((*out)->dtype, dtype)) {
        vm->api->release(vm, row);
        return nd_fail(vm, DVX_TYPE_ERROR,
                       "dtype of `%s` must be compatible with input `ary` under the `same_kind` "
                       "rule.",
                       name);
    }
    *held = row;
    return true;
}

static void put_end(const nd_array *from, nd_array *whole, int64_t at) {
    if (!from || !from->size) return;
    dvx_axis axis = {from->size, whole->dtype->size};
    nd_array part = {.data = whole->data + at * whole->dtype->size, .dtype = whole->dtype};
    part.axes = &axis;
    part.ndim = 1;
    array_update(&part);
    array_spread(&part, from);
}

/* ary, to_end, to_begin */
static dvx_value ediff1d(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a, *end, *begin, *whole;
    dvx_value ends[2] = {DVX_FAILED, DVX_FAILED}, made = DVX_FAILED;
    (void)count;
    dvx_value row = row_of(vm, args[0], &a);
    if (dvx_failed(row)) return row;
    nd_type type;
    if (a->dtype->num == ND_BOOL && !ufunc_type(vm, ND_UFUNC_subtract, ND_BOOL, &type))
        return compose_first(vm, DVX_FAILED, row);
    if (read_end(vm, args[2], a->dtype, "to_begin", &ends[0], &begin) &&
        read_end(vm, args[1], a->dtype, "to_end", &ends[1], &end)) {
        const int64_t inner = a->size ? a->size - 1 : 0, first = begin ? begin->size : 0;
        const int64_t size = first + inner + (end ? end->size : 0);
        made = array_new(vm, a->dtype, 1, &size, &whole);
        if (!dvx_failed(made)) {
            const int64_t step = a->dtype->size, strides[3] = {step, step, step};
            char *operands[3] = {a->data + step, a->data, whole->data + first * step};
            put_end(begin, whole, 0);
            put_end(end, whole, first + inner);
            /* (Of floats through the ufunc, whose warnings are told.) */
            if (inner && dtype_is_integer(a->dtype)) {
                ufunc_kernel(vm, ND_UFUNC_subtract, a->dtype->num)->loop(operands, inner, strides);
            } else if (inner) {
                dvx_axis axis = {inner, step};
                nd_array *view[3];
                dvx_value held[3] = {DVX_FAILED, DVX_FAILED, DVX_FAILED}, done = DVX_FAILED;
                held[0] = array_view(vm, row, a, operands[0], 1, &axis, &view[0]);
                if (!dvx_failed(held[0]))
                    held[1] = array_view(vm, row, a, operands[1], 1, &axis, &view[1]);
                if (!dvx_failed(held[1]))
                    held[2] = array_view(vm, made, whole, operands[2], 1, &axis, &view[2]);
                if (!dvx_failed(held[2]))
                    done = ufunc_call(vm, ND_UFUNC_subtract, held, held[2], NULL);
                if (dvx_failed(done)) made = compose_first(vm, DVX_FAILED, made);
                vm->api->release(vm, done);
                for (int i = 0; i < 3; i++) vm->api->release(vm, held[i]);
            }
        }
    }
    vm->api->release(vm, ends[0]);
    vm->api->release(vm, ends[1]);
    vm->api->release(vm, row);
    return made;
}

/* ---- Tables ---- */

static const char *const in1d_names[] = {"ar1", "ar2", "assume_unique", "invert", "kind"};
static const dvx_parameters of_in1d = {sizeof(dvx_parameters), in1d_names, 5, 4, 2};
static const char *const isin_names[] = {"element", "test_elements", "assume_unique", "invert",
                                         "kind"};
static const dvx_parameters of_isin = {sizeof(dvx_parameters), isin_names, 5, 4, 2};
ND_PARAMETERS(of_two, 2, "ar1", "ar2");
ND_PARAMETERS(of_sets, 2, "ar1", "ar2", "assume_unique");
ND_PARAMETERS(of_intersect, 2, "ar1", "ar2", "assume_unique", "return_indices");
ND_PARAMETERS(of_ediff, 1, "ary", "to_end", "to_begin");

static const dvx_function functions[] = {
    ND_NAMED("in1d", in1d, of_in1d),         ND_NAMED("isin", isin, of_isin),
    ND_NAMED("union1d", union1d, of_two),    ND_NAMED("setdiff1d", setdiff1d, of_sets),
    ND_NAMED("setxor1d", setxor1d, of_sets), ND_NAMED("intersect1d", intersect1d, of_intersect),
    ND_NAMED("ediff1d", ediff1d, of_ediff),
};

bool sets_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
