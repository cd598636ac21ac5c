/* table_row.c: the stable table: numbers that stand in a row, in C and in lists (table.h).
 *
 * A value of its own for each number, asked for and released through the table, takes fifty times
 * as long as the number. */
#include "plugin/table.h"

#include "types/binary/buffer.h"
#include "types/number/int.h"
#include "types/sequence/list.h"
#include "types/sequence/tuple.h"

/* ---- From lists and tuples ---- */

/* Each of these reads items up to the first one that is something else, and says how many. */

static int64_t read_bools(const dv_value *items, int64_t count, uint8_t *out) {
    int64_t i = 0;
    for (; i < count && dv_is_bool(items[i]); i++) out[i] = dv_same(items[i], DV_TRUE);
    return i;
}

static int64_t read_ints(const dv_value *items, int64_t count, int64_t *out) {
    int64_t i = 0;
    for (; i < count; i++) {
        if (dv_is_bool(items[i]))
            out[i] = dv_same(items[i], DV_TRUE);
        else if (!dv_int_to_word(items[i], &out[i]))
            break;
    }
    return i;
}

static int64_t read_floats(const dv_value *items, int64_t count, double *out) {
    int64_t i = 0, word;
    for (; i < count; i++) {
        if (DV_LIKELY(dv_is_float(items[i])))
            out[i] = dv_as_float(items[i]);
        else if (read_ints(&items[i], 1, &word))
            out[i] = (double)word;
        else
            break;
    }
    return i;
}

int64_t dv_api_read_row(dvx_vm *vm, dvx_value sequence, dvx_kind kind, int64_t first, int64_t count,
                        void *out) {
    if (!dv_api_given(vm, sequence)) return -1;
    const dv_value *items;
    int64_t length;
    if (dv_is_shape(sequence, DV_T_LIST)) {
        items = dv_as_list(sequence)->items;
        length = dv_as_list(sequence)->count;
    } else if (dv_is_shape(sequence, DV_T_TUPLE)) {
        items = dv_as_tuple(sequence)->items;
        length = dv_as_tuple(sequence)->count;
    } else {
        return 0;
    }
    if (first < 0 || first >= length || count <= 0) return 0;
    if (count > length - first) count = length - first;
    switch (kind) {
    case DVX_BOOL: return read_bools(items + first, count, out);
    case DVX_INT: return read_ints(items + first, count, out);
    case DVX_FLOAT: return read_floats(items + first, count, out);
    case DVX_ANY: return count;
    default: return 0;
    }
}

/* ---- To lists ---- */

/* The number at `at`; EMPTY: out of memory. */
static inline dv_value number_at(dv_vm *vm, uint32_t element, const char *at) {
    switch (element) {
    case DV_UINT8: return dv_int(*(const uint8_t *)at);
    case DV_INT8: return dv_int(*(const int8_t *)at);
    case DV_UINT16: return dv_int(*(const uint16_t *)(const void *)at);
    case DV_INT16: return dv_int(*(const int16_t *)(const void *)at);
    case DV_UINT32: return dv_int(*(const uint32_t *)(const void *)at);
    case DV_INT32: return dv_int(*(const int32_t *)(const void *)at);
    case DV_UINT64: return dv_int_from_uint64(vm, *(const uint64_t *)(const void *)at);
    case DV_INT64: return dv_int_from_int64(vm, *(const int64_t *)(const void *)at);
    case DV_FLOAT32: return dv_float_foreign((double)*(const float *)(const void *)at);
    default: return dv_float_foreign(*(const double *)(const void *)at);
    }
}

/* Appends to `list`, which has the room; false: out of memory.  Inlined with each element by
 * itself, so that loops do not ask. */
static inline __attribute__((always_inline)) bool
fill(dv_vm *vm, dv_list *list, uint32_t element, const char *at, int64_t stride, int64_t count) {
    for (int64_t i = 0; i < count; i++) { /* (behind the last one there may be no address) */
        dv_value item = number_at(vm, element, at + i * stride);
        if (dv_is_empty(item)) return false;
        list->items[i] = item;
        list->count = i + 1;
    }
    return true;
}

static void fill_bools(dv_list *list, const char *at, int64_t stride, int64_t count) {
    for (int64_t i = 0; i < count; i++) list->items[i] = dv_bool(at[i * stride] != 0);
    list->count = count;
}

static bool fill_complex(dv_vm *vm, dv_list *list, const char *at, int64_t stride, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        const double *parts = (const void *)(at + i * stride);
        dv_value item = dv_api_make_complex(vm, parts[0], parts[1]);
        if (dv_is_empty(item)) return false;
        list->items[i] = item;
        list->count = i + 1;
    }
    return true;
}

static bool fill_by_element(dv_vm *vm, dv_list *list, uint32_t element, const char *at,
                            int64_t stride, int64_t count) {
    switch (element) {
    case DV_FLOAT64: return fill(vm, list, DV_FLOAT64, at, stride, count);
    case DV_INT64: return fill(vm, list, DV_INT64, at, stride, count);
    default: return fill(vm, list, element, at, stride, count);
    }
}

dvx_value dv_api_make_row(dvx_vm *vm, dvx_kind kind, uint32_t element, const void *data,
                          int64_t stride, size_t count) {
    const bool float64 = element == DV_FLOAT64;
    const bool known = kind == DVX_BOOL      ? element == DV_UINT8
                       : kind == DVX_INT     ? element < DV_FLOAT32
                       : kind == DVX_FLOAT   ? float64 || element == DV_FLOAT32
                       : kind == DVX_COMPLEX ? float64
                                             : false;
    if (!known)
        return dv_raise(vm, DV_E_SYSTEM_ERROR, "an extension asked for a row of no numbers");
    dv_value made = dv_list_new(vm, NULL, 0);
    if (dv_is_empty(made)) return DV_EMPTY;
    dv_list *list = dv_as_list(made);
    bool good = dv_list_reserve(vm, list, count <= INT64_MAX ? (int64_t)count : INT64_MAX);
    if (good && kind == DVX_BOOL)
        fill_bools(list, data, stride, (int64_t)count);
    else if (good && kind == DVX_COMPLEX)
        good = fill_complex(vm, list, data, stride, (int64_t)count);
    else if (good)
        good = fill_by_element(vm, list, element, data, stride, (int64_t)count);
    if (good) return made;
    dv_release(vm, made);
    return DV_EMPTY;
}
