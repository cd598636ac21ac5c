/* sets.c: which elements are in a set: in1d, isin (sets.h).
 *
 * Invariants
 *  1. Elements are equal as `==` sees it after both arrays have been cast to a common dtype: a nan
 *     is in no set but as itself. */
#include "sort/sets.h"

#include <string.h>

#include "array/compose.h"
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

static dvx_value new_mask(dvx_vm *vm, int64_t count, nd_array **out) {
    return array_new(vm, ND_DTYPE(ND_BOOL), 1, &count, out);
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

/* ---- Tables ---- */

static const char *const in1d_names[] = {"ar1", "ar2", "assume_unique", "invert", "kind"};
static const dvx_parameters of_in1d = {sizeof(dvx_parameters), in1d_names, 5, 4, 2};
static const char *const isin_names[] = {"element", "test_elements", "assume_unique", "invert",
                                         "kind"};
static const dvx_parameters of_isin = {sizeof(dvx_parameters), isin_names, 5, 4, 2};
static const dvx_function functions[] = {
    ND_NAMED("in1d", in1d, of_in1d),
    ND_NAMED("isin", isin, of_isin),
};

bool sets_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
