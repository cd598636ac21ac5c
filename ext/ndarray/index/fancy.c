/* fancy.c: subscripts with index arrays and masks (index.h).
 *
 * A subscript with index arrays picks *blocks*: the index arrays, broadcast to one shape, say where
 * each block begins, and the slices say which elements it has.  All indices are turned into
 * offsets, and checked, before anything is copied.
 *
 * Invariants
 *  1. The result lies in memory block after block, as NumPy's does, also where its axes stand in
 *     another order (a[:, [0, 1]]); a block's axes lie in it as they do in the array. */
#include <stdlib.h>

#include "loops/cast.h"
#include "array/convert.h"
#include "array/create.h"
#include "index/index.h"
#include "ufunc/ufunc.h"

typedef struct fancy {
    const nd_array *a;
    char *data; /* of the block that offset 0 has */
    int block_ndim;
    dvx_axis block[ND_MOST + ND_PARTS];
    int place_ndim; /* of the index arrays, broadcast */
    int64_t place_shape[ND_MOST];
    int64_t places;
    int before; /* so many axes of the block come before the places in the result */
    nd_array *arrays[ND_MOST];
    dvx_axis axes[ND_MOST]; /* that they index; of count 1 and stride 0 if none */
    int numbers[ND_MOST];   /* of these axes */
    int count;
    int64_t *offsets;
} fancy;

/* ---- The parts ---- */

/* Where in the result the places stand: where the index arrays stood, if these, and ints, were
 * neighbours; else in front. */
static int find_before(const nd_index *index) {
    int runs = 0, before = 0, axes = 0;
    bool in_run = false;
    for (int i = 0; i < index->count; i++) {
        const index_part *p = &index->parts[i];
        bool fancy_part = p->kind == INDEX_ARRAY || p->kind == INDEX_INT;
        if (fancy_part && !in_run) {
            if (runs++ == 0) before = axes;
        }
        in_run = fancy_part;
        if (p->kind == INDEX_REST)
            axes += (int)p->count;
        else
            axes += p->kind == INDEX_SLICE || p->kind == INDEX_NEW;
    }
    return runs == 1 ? before : 0;
}

static void add_index_array(fancy *f, const index_part *p, const nd_array *a, int axis) {
    f->arrays[f->count] = p->array;
    f->axes[f->count] = p->axis ? a->axes[axis] : (dvx_axis){1, 0};
    f->numbers[f->count++] = axis;
}

static bool raise_places(dvx_vm *vm, const fancy *f) {
    char text[1500] = "", one[ND_SHAPE_TEXT];
    int64_t shape[ND_MOST];
    for (int i = 0; i < f->count && strlen(text) + ND_SHAPE_TEXT < sizeof text; i++) {
        array_shape(f->arrays[i], shape);
        strcat(strcat(text, array_shape_text(f->arrays[i]->ndim, shape, false, one)), " ");
    }
    return nd_fail(vm, DVX_INDEX_ERROR,
                   "shape mismatch: indexing arrays could not be broadcast together with shapes %s",
                   text);
}

/* Sorts the parts into blocks and places. */
static bool begin(dvx_vm *vm, fancy *f, const nd_array *a, const nd_index *index) {
    int axis = 0;
    *f = (fancy){.a = a, .data = a->data, .before = find_before(index)};
    if (index->arrays > ND_MOST) return nd_fail(vm, DVX_INDEX_ERROR, "too many indices for array");
    for (int i = 0; i < index->count; i++) {
        const index_part *p = &index->parts[i];
        const dvx_axis *x = &a->axes[axis];
        switch (p->kind) {
        case INDEX_INT: f->data += p->start * x->stride; break;
        case INDEX_SLICE:
            if (p->count) f->data += p->start * x->stride;
            f->block[f->block_ndim++] = axis_stepped(p->count, p->step, x->stride);
            break;
        case INDEX_NEW: f->block[f->block_ndim++] = (dvx_axis){1, 0}; break;
        case INDEX_REST:
            memcpy(f->block + f->block_ndim, x, (size_t)p->count * sizeof *x);
            f->block_ndim += (int)p->count;
            break;
        case INDEX_ARRAY: add_index_array(f, p, a, axis); break;
        }
        axis += p->kind == INDEX_REST ? (int)p->count : p->axis;
    }
    if (!array_broadcast(vm, f->arrays, f->count, &f->place_ndim, f->place_shape)) {
        vm->api->clear_error(vm);
        return raise_places(vm, f);
    }
    if (f->place_ndim + f->block_ndim > ND_MOST)
        return nd_fail(vm, DVX_INDEX_ERROR,
                       "number of dimensions must be within [0, %d], indexing result would have %d",
                       (int)ND_MOST, f->place_ndim + f->block_ndim);
    f->places = 1;
    for (int i = 0; i < f->place_ndim; i++) f->places *= f->place_shape[i];
    return true;
}

/* ---- Offsets ---- */

/* Adds what one index array says to `count` offsets. */
static bool add_offsets(dvx_vm *vm, int64_t *offsets, const char *at, int64_t stride, int64_t count,
                        dvx_axis axis, int number) {
    for (int64_t k = 0; k < count; k++, at += stride) {
        int64_t i = *(const int64_t *)(const void *)at;
        if (UNLIKELY((uint64_t)i >= (uint64_t)axis.count)) {
            if (i >= 0 || i < -axis.count)
                return nd_fail(vm, DVX_INDEX_ERROR,
                               "index %lld is out of bounds for axis %d with size %lld",
                               (long long)i, number, (long long)axis.count);
            i += axis.count;
        }
        offsets[k] += i * axis.stride;
    }
    return true;
}

static bool add_array_offsets(dvx_vm *vm, fancy *f, int n) {
    int64_t strides[ND_MOST], index[ND_MOST] = {0};
    const char *at = f->arrays[n]->data;
    int inner = f->place_ndim - 1;
    array_strides_in(f->arrays[n], f->place_ndim, strides);
    int64_t row = f->place_shape[inner];
    for (int64_t done = 0; done < f->places; done += row) {
        if (!add_offsets(vm, f->offsets + done, at, strides[inner], row, f->axes[n], f->numbers[n]))
            return false;
        for (int i = inner; i-- > 0;) {
            at += strides[i];
            if (++index[i] < f->place_shape[i]) break;
            at -= f->place_shape[i] * strides[i];
            index[i] = 0;
        }
    }
    return true;
}

/* Do the blocks have no elements? */
static bool is_empty(const fancy *f) {
    for (int i = 0; i < f->block_ndim; i++)
        if (f->block[i].count == 0) return true;
    return false;
}

/* The memory is given back with end.  Where there is nothing to copy, NumPy does not look at the
 * indices. */
static bool find_offsets(dvx_vm *vm, fancy *f) {
    if (f->places == 0 || is_empty(f)) return true;
    size_t size = (size_t)f->places * sizeof *f->offsets;
    f->offsets = vm->api->allocate(vm, size);
    if (!f->offsets) return false;
    memset(f->offsets, 0, size);
    for (int n = 0; n < f->count; n++)
        if (!add_array_offsets(vm, f, n) || !nd_work(vm, 4 * f->places)) return false;
    return true;
}

static void end(dvx_vm *vm, fancy *f) {
    if (f->offsets) vm->api->deallocate(vm, f->offsets, (size_t)f->places * sizeof *f->offsets);
    f->offsets = NULL;
}

/* ---- Copying ---- */

/* Elements of one size, from or to offsets; `step` is the distance on the other side. */
#define MOVE(type)                                                                                 \
    static void gather_##type(char *to, const char *from, const int64_t *offsets, int64_t count) { \
        type *t = (type *)(void *)to;                                                              \
        for (int64_t i = 0; i < count; i++)                                                        \
            t[i] = *(const type *)(const void *)(from + offsets[i]);                               \
    }                                                                                              \
    static void column_##type(char *to, const char *from, int64_t step, int64_t count) {           \
        type *t = (type *)(void *)to;                                                              \
        for (; count >= 4; count -= 4, t += 4, from += 4 * step) {                                 \
            t[0] = *(const type *)(const void *)from;                                              \
            t[1] = *(const type *)(const void *)(from + step);                                     \
            t[2] = *(const type *)(const void *)(from + 2 * step);                                 \
            t[3] = *(const type *)(const void *)(from + 3 * step);                                 \
        }                                                                                          \
        for (; count > 0; count--, from += step) *t++ = *(const type *)(const void *)from;         \
    }                                                                                              \
    static void scatter_##type(char *to, const int64_t *offsets, const char *from, int64_t step,   \
                               int64_t count) {                                                    \
        for (int64_t i = 0; i < count; i++, from += step)                                          \
            *(type *)(void *)(to + offsets[i]) = *(const type *)(const void *)from;                \
    }
MOVE(uint8_t)
MOVE(uint16_t)
MOVE(uint32_t)
MOVE(uint64_t)
MOVE(nd_complex)

static void gather(char *to, const char *from, const int64_t *offsets, int64_t count, int size) {
    if (size == 8)
        gather_uint64_t(to, from, offsets, count);
    else if (size == 4)
        gather_uint32_t(to, from, offsets, count);
    else if (size == 2)
        gather_uint16_t(to, from, offsets, count);
    else if (size == 1)
        gather_uint8_t(to, from, offsets, count);
    else
        gather_nd_complex(to, from, offsets, count);
}

static void scatter(char *to, const int64_t *offsets, const char *from, int64_t step, int64_t count,
                    int size) {
    if (size == 8)
        scatter_uint64_t(to, offsets, from, step, count);
    else if (size == 4)
        scatter_uint32_t(to, offsets, from, step, count);
    else if (size == 2)
        scatter_uint16_t(to, offsets, from, step, count);
    else if (size == 1)
        scatter_uint8_t(to, offsets, from, step, count);
    else
        scatter_nd_complex(to, offsets, from, step, count);
}

/* Elements that are `step` apart. */
static void get_column(char *to, const char *from, int64_t step, int64_t count, int size) {
    if (size == 8)
        column_uint64_t(to, from, step, count);
    else if (size == 4)
        column_uint32_t(to, from, step, count);
    else if (size == 2)
        column_uint16_t(to, from, step, count);
    else if (size == 1)
        column_uint8_t(to, from, step, count);
    else
        column_nd_complex(to, from, step, count);
}

/* A block at `data` with these axes, as an array that is no object. */
static nd_array as_block(const fancy *f, char *data, dvx_axis *axes) {
    nd_array block = {.data = data, .dtype = f->a->dtype, .axes = axes, .ndim = f->block_ndim};
    array_update(&block);
    return block;
}

/* The axes of the result: places and block in the order of the subscript. */
static void result_axes(const fancy *f, const dvx_axis *places, const dvx_axis *block,
                        dvx_axis *out) {
    size_t first = (size_t)f->before;
    memcpy(out, block, first * sizeof *out);
    memcpy(out + first, places, (size_t)f->place_ndim * sizeof *out);
    memcpy(out + first + f->place_ndim, block + first,
           ((size_t)f->block_ndim - first) * sizeof *out);
}

/* The elements of a block on both sides, if each has them in one row. */
typedef struct block_row {
    int64_t count, to_step, from_step;
} block_row;

static bool is_block_row(int ndim, const dvx_axis *to, const dvx_axis *from, block_row *row) {
    *row = (block_row){1, 0, 0};
    for (int i = ndim; i-- > 0;) {
        if (to[i].count == 1) continue;
        if (row->count == 1)
            *row = (block_row){1, to[i].stride, from[i].stride};
        else if (to[i].stride != row->to_step * row->count ||
                 from[i].stride != row->from_step * row->count)
            return false;
        row->count *= to[i].count;
    }
    return true;
}

static void get_blocks(const fancy *f, nd_array *result) {
    /* The result has the places first, and then the axes of a block. */
    dvx_axis *axes = result->axes + f->place_ndim, own[ND_MOST];
    memcpy(own, f->block, (size_t)f->block_ndim * sizeof *own);
    nd_array to = as_block(f, result->data, axes), from = as_block(f, f->data, own);
    int64_t step = to.size * f->a->dtype->size;
    const bool rows = from.flags & ND_C_CONTIGUOUS;
    block_row row;
    const bool one = is_block_row(f->block_ndim, axes, own, &row);
    const int size = f->a->dtype->size;
    const bool column = one && row.to_step == size;
    for (int64_t i = 0; i < f->places; i++, to.data += step) {
        from.data = f->data + f->offsets[i];
        if (rows)
            memcpy(to.data, from.data, (size_t)step);
        else if (column)
            get_column(to.data, from.data, row.from_step, row.count, size);
        else
            array_spread(&to, &from);
    }
}

/* The strides of the result's blocks, whose axes are these, as the array's blocks have them. */
static void arrange_blocks(const fancy *f, dvx_axis *axes) {
    int order[ND_MOST];
    dvx_axis own[ND_MOST];
    memcpy(own, f->block, (size_t)f->block_ndim * sizeof *own);
    nd_array of = as_block(f, f->data, own), *block = &of;
    if (f->block_ndim < 2 || of.size == 0 || of.flags & ND_C_CONTIGUOUS) return;
    ufunc_order(&block, 1, f->block_ndim, order);
    int64_t stride = f->a->dtype->size;
    for (int i = f->block_ndim; i-- > 0;) {
        axes[order[i]].stride = stride;
        stride *= axes[order[i]].count;
    }
}

static bool is_trivial(const nd_array *a) { return a->ndim <= 1 || a->flags & ND_C_CONTIGUOUS; }

static bool is_turned(const nd_array *a) {
    for (int i = 0; i < a->ndim; i++)
        if (a->axes[i].stride == 0) return false;
    return !is_trivial(a);
}

/* The elements of `made` in the order that `like` has in memory; takes `made`. */
static dvx_value in_order_of(dvx_vm *vm, const nd_array *like, dvx_value made, const nd_array *a) {
    nd_array *copy;
    const dvx_value other = array_new_like(vm, a->dtype, like, &copy);
    const bool good = !dvx_failed(other) && array_assign(vm, copy, a);
    vm->api->release(vm, made);
    if (good) return other;
    vm->api->release(vm, other);
    return DVX_FAILED;
}

static dvx_value get_places(dvx_vm *vm, const fancy *f) {
    nd_array *result;
    int64_t shape[ND_MOST];
    int ndim = f->place_ndim + f->block_ndim;
    memcpy(shape, f->place_shape, (size_t)f->place_ndim * sizeof *shape);
    for (int i = 0; i < f->block_ndim; i++) shape[f->place_ndim + i] = f->block[i].count;
    dvx_value made = array_new(vm, f->a->dtype, ndim, shape, &result);
    if (dvx_failed(made)) return made;
    arrange_blocks(f, result->axes + f->place_ndim);
    if (result->size) {
        if (f->block_ndim == 0)
            gather(result->data, f->data, f->offsets, f->places, f->a->dtype->size);
        else
            get_blocks(f, result);
    }
    dvx_axis axes[ND_MOST];
    result_axes(f, result->axes, result->axes + f->place_ndim, axes);
    memcpy(result->axes, axes, (size_t)ndim * sizeof *axes);
    array_update(result);
    if (f->before) result->flags |= ND_TURNED;
    /* (One array of indices of a row: the result lies in memory as that does, as NumPy has it.) */
    const nd_array *only = f->arrays[0];
    return f->a->ndim == 1 && f->count == 1 && f->block_ndim == 0 && is_turned(only)
               ? in_order_of(vm, only, made, result)
               : made;
}

/* Elements of one size, to and from the places that a row of indices of one size says.  get_...:
 * the number of those that were within bounds.  put_...: all are (so many_... are); step 0 stores
 * one element everywhere. */
#define BY_INDICES(type, integer)                                                              \
    static int64_t get_##type##_by_##integer(char *to, const nd_array *a, const char *which,   \
                                             int64_t count) {                                  \
        const dvx_axis axis = a->axes[0];                                                      \
        const uint64_t size = (uint64_t)axis.count;                                            \
        const integer *indices = (const integer *)(const void *)which;                         \
        type *t = (type *)(void *)to;                                                          \
        const type *all = (const type *)(const void *)a->data;                                 \
        const bool near = axis.stride == (int64_t)sizeof(type);                                \
        for (int64_t n = 0; n < count; n++) {                                                  \
            /* (Four at once are four loads that wait for nothing.) */                         \
            for (const integer *x = indices + n;                                               \
                 near && count - n > 4 && (uint64_t)x[0] < size && (uint64_t)x[1] < size &&    \
                 (uint64_t)x[2] < size && (uint64_t)x[3] < size;                               \
                 x += 4, n += 4) {                                                             \
                t[n] = all[x[0]];                                                              \
                t[n + 1] = all[x[1]];                                                          \
                t[n + 2] = all[x[2]];                                                          \
                t[n + 3] = all[x[3]];                                                          \
            }                                                                                  \
            int64_t i = indices[n];                                                            \
            if (UNLIKELY((uint64_t)i >= size)) {                                               \
                if (i >= 0 || i < -axis.count) return n;                                       \
                i += axis.count;                                                               \
            }                                                                                  \
            t[n] = *(const type *)(const void *)(a->data + i * axis.stride);                   \
        }                                                                                      \
        return count;                                                                          \
    }                                                                                          \
    static void put_##type##_by_##integer(const nd_array *a, const char *which, int64_t count, \
                                          const char *from, int64_t step) {                    \
        const dvx_axis axis = a->axes[0];                                                      \
        const integer *indices = (const integer *)(const void *)which;                         \
        const type *f = (const type *)(const void *)from;                                      \
        for (int64_t n = 0; n < count; n++) {                                                  \
            const int64_t i = indices[n] < 0 ? indices[n] + axis.count : indices[n];           \
            *(type *)(void *)(a->data + i * axis.stride) = f[n * step];                        \
        }                                                                                      \
    }
#define WITHIN(integer)                                                                    \
    static int64_t many_within_##integer(const char *which, int64_t count, int64_t size) { \
        const integer *indices = (const integer *)(const void *)which;                     \
        for (int64_t n = 0; n < count; n++)                                                \
            if (UNLIKELY(indices[n] < -size || indices[n] >= size)) return n;              \
        return count;                                                                      \
    }
#define BY_ALL_INDICES(integer)     \
    BY_INDICES(uint8_t, integer)    \
    BY_INDICES(uint32_t, integer)   \
    BY_INDICES(uint64_t, integer)   \
    BY_INDICES(nd_complex, integer) \
    WITHIN(integer)
BY_ALL_INDICES(int64_t)
BY_ALL_INDICES(int32_t)
BY_ALL_INDICES(uint8_t)
BY_INDICES(uint16_t, int64_t)

typedef struct by_indices {
    int64_t (*get)(char *to, const nd_array *a, const char *which, int64_t count);
    void (*put)(const nd_array *a, const char *which, int64_t count, const char *from,
                int64_t step);
    int64_t (*within)(const char *which, int64_t count, int64_t size);
} by_indices;

#define OF_SIZE(integer, size)                                                                     \
    ((size) == 8   ? (by_indices){get_uint64_t_by_##integer, put_uint64_t_by_##integer,            \
                                  many_within_##integer}                                           \
     : (size) == 4 ? (by_indices){get_uint32_t_by_##integer, put_uint32_t_by_##integer,            \
                                  many_within_##integer}                                           \
     : (size) == 1                                                                                 \
         ? (by_indices){get_uint8_t_by_##integer, put_uint8_t_by_##integer, many_within_##integer} \
         : (by_indices){get_nd_complex_by_##integer, put_nd_complex_by_##integer,                  \
                        many_within_##integer})
static by_indices by_indices_of(const nd_array *which, int size) {
    if (size == 2) /* (of int64 alone) */
        return (by_indices){get_uint16_t_by_int64_t, put_uint16_t_by_int64_t, many_within_int64_t};
    return which->dtype->num == ND_INT64   ? OF_SIZE(int64_t, size)
           : which->dtype->num == ND_INT32 ? OF_SIZE(int32_t, size)
                                           : OF_SIZE(uint8_t, size);
}

/* The index at this place. */
static int64_t index_at(const nd_array *which, int64_t n) {
    return type_int(which->dtype->num, which->data + n * which->dtype->size);
}

dvx_value fancy_get_row(dvx_vm *vm, const nd_array *a, const nd_array *which) {
    nd_array *result;
    int64_t shape[ND_MOST];
    const by_indices by = by_indices_of(which, a->dtype->size);
    array_shape(which, shape);
    dvx_value made = array_new(vm, a->dtype, which->ndim, shape, &result);
    if (dvx_failed(made)) return made;
    int64_t done = 0;
    nd_blocks b = {.total = which->size};
    while (nd_next_block(vm, &b)) {
        const int64_t n = by.get(result->data + b.at * a->dtype->size, a,
                                 which->data + b.at * which->dtype->size, b.count);
        done = b.at + n;
        if (n < b.count) break;
    }
    if (LIKELY(done == which->size && !b.stopped)) return made;
    vm->api->release(vm, made);
    if (b.stopped) return DVX_FAILED;
    return nd_raise(vm, DVX_INDEX_ERROR, "index %lld is out of bounds for axis 0 with size %lld",
                    (long long)index_at(which, done), (long long)a->axes[0].count);
}

dvx_value fancy_get(dvx_vm *vm, const nd_array *a, const nd_index *index) {
    fancy f;
    dvx_value result = DVX_FAILED;
    if (!begin(vm, &f, a, index)) return result;
    if (find_offsets(vm, &f)) result = get_places(vm, &f);
    end(vm, &f);
    return result;
}

/* ---- Assignment ---- */

/* The value's strides along the result's axes: ValueError if it does not fit. */
static bool fit_value(dvx_vm *vm, const fancy *f, const nd_array *value, int64_t *strides) {
    char of[ND_SHAPE_TEXT], into[ND_SHAPE_TEXT];
    dvx_axis places[ND_MOST], all[ND_MOST];
    int64_t shape[ND_MOST], own[ND_MOST];
    int ndim = f->place_ndim + f->block_ndim;
    for (int i = 0; i < f->place_ndim; i++) places[i] = (dvx_axis){f->place_shape[i], 0};
    result_axes(f, places, f->block, all);
    for (int i = 0; i < ndim; i++) shape[i] = all[i].count;
    nd_array trimmed = *value;
    /* (Of no elements, any axes in front of others that have none may be too many.) */
    const bool none = value->size == 0 && (f->places == 0 || is_empty(f));
    while (trimmed.ndim > ndim && (none || trimmed.axes->count == 1))
        trimmed.ndim--, trimmed.axes++;
    int shift = ndim - trimmed.ndim;
    bool good = shift >= 0, is_left = value->size > 0;
    for (int i = 0; good && i < trimmed.ndim; i++) {
        good = trimmed.axes[i].count == 1 || trimmed.axes[i].count == shape[i + shift];
        is_left |= trimmed.axes[i].count == 0;
    }
    good &= is_left;
    if (good) {
        array_strides_in(&trimmed, ndim, strides);
        return true;
    }
    array_shape(value, own);
    return nd_fail(vm, DVX_VALUE_ERROR,
                   "shape mismatch: value array of shape %s could not be broadcast to indexing "
                   "result of shape %s",
                   array_shape_text(value->ndim, own, false, of),
                   array_shape_text(ndim, shape, false, into));
}

static bool set_blocks(dvx_vm *vm, const fancy *f, const nd_array *value, const int64_t *strides) {
    int64_t index[ND_MOST] = {0};
    const int64_t *place_strides = strides + f->before;
    dvx_axis to_axes[ND_MOST], from_axes[ND_MOST];
    memcpy(to_axes, f->block, (size_t)f->block_ndim * sizeof *to_axes);
    for (int i = 0; i < f->block_ndim; i++)
        from_axes[i] =
            (dvx_axis){f->block[i].count, strides[i < f->before ? i : i + f->place_ndim]};
    nd_array to = as_block(f, f->data, to_axes), from = as_block(f, value->data, from_axes);
    from.dtype = value->dtype;
    if (to.size == 0) return true;
    block_row row;
    const bool one = is_block_row(f->block_ndim, to_axes, from_axes, &row);
    const nd_cast move = cast_between(from.dtype, to.dtype);
    for (int64_t n = 0; n < f->places; n++) {
        to.data = f->data + f->offsets[n];
        if (one)
            move(to.data, row.to_step, from.data, row.from_step, row.count);
        else
            array_spread(&to, &from);
        for (int i = f->place_ndim; i-- > 0;) {
            from.data += place_strides[i];
            if (++index[i] < f->place_shape[i]) break;
            from.data -= f->place_shape[i] * place_strides[i];
            index[i] = 0;
        }
        if (!nd_work(vm, to.size + 8)) return false;
    }
    return true;
}

static bool set_places(dvx_vm *vm, fancy *f, const nd_array *value) {
    int64_t strides[ND_MOST];
    if (!fit_value(vm, f, value, strides)) return false;
    if (!find_offsets(vm, f)) return false;
    if (is_empty(f)) return true;
    if (f->places == 0) return true;
    bool simple = f->block_ndim == 0 && value->dtype == f->a->dtype &&
                  (f->place_ndim == 1 || value->size == 1);
    if (simple)
        scatter(f->data, f->offsets, value->data, value->size == 1 ? 0 : strides[0], f->places,
                f->a->dtype->size);
    else if (!set_blocks(vm, f, value, strides))
        return false;
    return nd_work(vm, f->places);
}

/* NumPy does not look for overlaps where elements of one axis are set one after the other. */
static bool is_in_order(const nd_array *a, const fancy *f, const nd_array *value) {
    return a->ndim == 1 && f->block_ndim == 0 && f->count == 1 && f->place_ndim > 0 &&
           value->dtype == a->dtype && is_trivial(f->arrays[0]) && is_trivial(value) &&
           array_same_shape(f->arrays[0], value);
}

/* `value` as an array that shares no memory with `a`. */
static dvx_value separate(dvx_vm *vm, const nd_array *a, const fancy *f, dvx_value value,
                          nd_array **out) {
    dvx_value array = index_value(vm, value, a->dtype, out);
    if (dvx_failed(array) || !array_may_overlap(a, *out)) return array;
    if (f && is_in_order(a, f, *out)) return array;
    dvx_value copy = array_copy(vm, *out, (*out)->dtype, 'K');
    vm->api->release(vm, array);
    if (!dvx_failed(copy)) *out = array_of(vm, copy);
    return copy;
}

/* Are the elements of these arrays of one shape the same ones? */
static bool is_same_place(const nd_array *a, const nd_array *b) {
    if (a->data != b->data || a->dtype != b->dtype) return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->axes[i].stride != b->axes[i].stride && a->axes[i].count > 1) return false;
    return true;
}

bool fancy_set(dvx_vm *vm, nd_array *a, const nd_index *index, dvx_value value) {
    fancy f;
    nd_array *from;
    if (!begin(vm, &f, a, index)) return false;
    dvx_value array = separate(vm, a, &f, value, &from);
    bool good = !dvx_failed(array) && set_places(vm, &f, from);
    vm->api->release(vm, array);
    end(vm, &f);
    return good;
}

/* Has the array, whose elements are neighbours, some between these two places? */
static bool has_some_between(const nd_array *a, const char *low, const char *high) {
    return a->data < high && low < a->data + a->size * a->dtype->size;
}

bool fancy_set_row(dvx_vm *vm, const nd_array *a, const nd_array *which, dvx_value value,
                   bool *good) {
    const by_indices by = by_indices_of(which, a->dtype->size);
    const nd_array *array = array_of(vm, value);
    const char *low, *high;
    _Alignas(16) char number[sizeof(nd_complex)];
    array_bounds(a, &low, &high);
    if (has_some_between(which, low, high)) return false;
    if (array && (array->dtype != a->dtype || !(array->flags & ND_C_CONTIGUOUS) ||
                  !array_same_shape(array, which)))
        return false;
    if (!array && !convert_kind(vm, value)) return false;
    if (by.within(which->data, which->size, a->axes[0].count) < which->size) return false;
    *good = array || array_store(vm, a->dtype, number, value);
    if (*good) by.put(a, which->data, which->size, array ? array->data : number, array != NULL);
    *good = *good && nd_work(vm, 2 * which->size);
    return true;
}

/* ---- Masks ---- */

enum { PIECE = 512, LONG_PIECE = 1 << 20 };
/* A mask and another array of its shape, in C order: a row after the other, in pieces whose
 * elements of the mask are neighbours. */
typedef struct mask_walk {
    dvx_vm *vm;
    bool stopped; /* raised before the end: each piece counts as work */
    const nd_array *mask;
    int outer;                        /* axes in front of the rows */
    int64_t length, step, other_step; /* elements of a row; from one to the next */
    int64_t index[ND_MOST];           /* of the row, along the outer axes */
    const char *row;
    char *other_row;
    const dvx_axis *other_axes;
    int64_t left; /* rows, with this one */
    /* The piece: its place in the row, elements. */
    int64_t begin, count;
    const char *at;
    char *other;
    char copy[PIECE]; /* of what are no neighbours */
} mask_walk;

static void begin_piece(mask_walk *w) {
    const char *from = w->row + w->begin * w->step;
    w->other = w->other_row + w->begin * w->other_step;
    w->count = w->length - w->begin;
    w->at = from;
    if (w->count > LONG_PIECE) w->count = LONG_PIECE;
    if (w->step == 1 || !w->left) return;
    if (w->count > PIECE) w->count = PIECE;
    for (int64_t i = 0; i < w->count; i++) w->copy[i] = from[i * w->step];
    w->at = w->copy;
}

/* `merged`: axes along which both arrays go on as they do in rows are part of these. */
static void begin_walk(dvx_vm *vm, mask_walk *w, const nd_array *mask, const nd_array *other,
                       bool merged) {
    int outer = mask->ndim - 1;
    w->vm = vm;
    w->stopped = false;
    w->mask = mask;
    w->row = mask->data;
    w->other_row = other->data;
    w->other_axes = other->axes;
    w->length = mask->axes[outer].count;
    w->step = mask->axes[outer].stride;
    w->other_step = other->axes[outer].stride;
    while (merged && outer > 0 && mask->axes[outer - 1].stride == w->length * w->step &&
           other->axes[outer - 1].stride == w->length * w->other_step)
        w->length *= mask->axes[--outer].count;
    w->outer = outer;
    memset(w->index, 0, (size_t)outer * sizeof *w->index);
    w->left = w->length ? mask->size / w->length : 0;
    w->begin = 0;
    begin_piece(w);
}

static void next_row(mask_walk *w) {
    for (int i = w->outer; i-- > 0;) {
        w->row += w->mask->axes[i].stride;
        w->other_row += w->other_axes[i].stride;
        if (++w->index[i] < w->mask->axes[i].count) return;
        w->row -= w->mask->axes[i].count * w->mask->axes[i].stride;
        w->other_row -= w->mask->axes[i].count * w->other_axes[i].stride;
        w->index[i] = 0;
    }
}

static void next_piece(mask_walk *w) {
    if (!nd_work(w->vm, w->count / 4)) {
        w->stopped = true;
        w->left = 0;
        return;
    }
    w->begin += w->count;
    if (w->begin == w->length) {
        w->begin = 0;
        if (--w->left == 0) return;
        next_row(w);
    }
    begin_piece(w);
}

/* Eight elements of a mask, bytes that are 0 or 1, at once. */
static inline uint64_t eight(const char *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static int64_t count_row(const char *at, int64_t count) {
    int64_t found = 0;
    while (count >= 8) {
        /* The bytes of so many words are added without a carry from one to the next. */
        int64_t words = count / 8 < 255 ? count / 8 : 255;
        uint64_t bytes = 0;
        for (int64_t i = 0; i < words; i++) bytes += eight(at + 8 * i);
        for (; bytes; bytes >>= 8) found += (int64_t)(bytes & 0xFF);
        at += 8 * words;
        count -= 8 * words;
    }
    for (int64_t i = 0; i < count; i++) found += at[i];
    return found;
}

int64_t fancy_count(dvx_vm *vm, const nd_array *mask) {
    mask_walk w;
    int64_t count = 0;
    if (mask->flags & ND_CONTIGUOUS) {
        nd_blocks b = {.total = mask->size, .quick = true};
        while (nd_next_block(vm, &b)) count += count_row(mask->data + b.at, b.count);
        return b.stopped ? -1 : count;
    }
    for (begin_walk(vm, &w, mask, mask, true); w.left > 0; next_piece(&w))
        count += count_row(w.at, w.count);
    return w.stopped ? -1 : count;
}

enum { RUN_NONE, RUN_ALL, RUN_MIXED };
/* How a row of a mask goes on: *size elements, which are all true, all false, or up to eight. */
static inline int next_run(const char *mask, int64_t left, int64_t *size) {
    const uint64_t all = 0x0101010101010101;
    *size = left >= 8 ? 8 : 1;
    const uint64_t word = *size == 8 ? eight(mask) : *mask ? all : 0;
    if (word && word != all) return RUN_MIXED;
    if (*size < 8) return word ? RUN_ALL : RUN_NONE;
    for (const char *at = mask + 8; left - *size >= 32; at += 32, *size += 32)
        if (((eight(at) ^ word) | (eight(at + 8) ^ word) | (eight(at + 16) ^ word) |
             (eight(at + 24) ^ word)) != 0)
            break;
    while (left - *size >= 8 && eight(mask + *size) == word) *size += 8;
    return word ? RUN_ALL : RUN_NONE;
}

/* Elements of one size, along a row.  Masks may have no pattern that a processor could learn, so
 * eight elements, if any is chosen, are handled without branches: pick_... stores each, where the
 * next one overwrites those that are not chosen, and so needs room for eight; put_... stores what
 * was there where it does not choose; put_each_..., too, and reads as many elements, if so many are
 * left.  Where all eight are chosen, more often are, and they go in one run. */
#define MASKED(type)                                                                              \
    static inline void run_##type(char *to, int64_t to_step, const char *from, int64_t from_step, \
                                  int64_t count) {                                                \
        if (to_step == (int64_t)sizeof(type) && from_step == (int64_t)sizeof(type)) {             \
            memcpy(to, from, (size_t)count * sizeof(type));                                       \
            return;                                                                               \
        }                                                                                         \
        for (int64_t i = 0; i < count; i++)                                                       \
            *(type *)(void *)(to + i * to_step) =                                                 \
                *(const type *)(const void *)(from + i * from_step);                              \
    }                                                                                             \
    static char *pick_##type(char *to, const char *end, const mask_walk *w) {                     \
        const int64_t step = w->other_step;                                                       \
        const char *mask = w->at, *from = w->other;                                               \
        type *t = (type *)(void *)to;                                                             \
        for (int64_t left = w->count, size; left > 0; left -= size) {                             \
            const int run = next_run(mask, left, &size);                                          \
            if (run == RUN_ALL) {                                                                 \
                run_##type((char *)t, sizeof(type), from, step, size);                            \
                t += size;                                                                        \
            } else if (run == RUN_MIXED && end - (char *)t >= 8 * (int64_t)sizeof *t) {           \
                for (int i = 0; i < 8; i++) {                                                     \
                    *t = *(const type *)(const void *)(from + i * step);                          \
                    t += mask[i];                                                                 \
                }                                                                                 \
            } else if (run == RUN_MIXED) {                                                        \
                for (int64_t i = 0; i < 8; i++)                                                   \
                    if (mask[i]) *t++ = *(const type *)(const void *)(from + i * step);           \
            }                                                                                     \
            mask += size;                                                                         \
            from += size * step;                                                                  \
        }                                                                                         \
        return (char *)t;                                                                         \
    }                                                                                             \
    static void put_##type(const mask_walk *w, const char *value) {                               \
        const int64_t step = w->other_step;                                                       \
        const char *mask = w->at;                                                                 \
        const type v = *(const type *)(const void *)value;                                        \
        char *to = w->other;                                                                      \
        for (int64_t left = w->count, size; left > 0; left -= size) {                             \
            const int run = next_run(mask, left, &size);                                          \
            if (run == RUN_ALL && step == (int64_t)sizeof v) {                                    \
                for (int64_t i = 0; i < size; i++) ((type *)(void *)to)[i] = v;                   \
            } else if (run == RUN_ALL) {                                                          \
                for (int64_t i = 0; i < size; i++) *(type *)(void *)(to + i * step) = v;          \
            } else if (run == RUN_MIXED) {                                                        \
                for (int i = 0; i < 8; i++) {                                                     \
                    type *t = (type *)(void *)(to + i * step);                                    \
                    *t = mask[i] ? v : *t;                                                        \
                }                                                                                 \
            }                                                                                     \
            mask += size;                                                                         \
            to += size * step;                                                                    \
        }                                                                                         \
    }                                                                                             \
    static int64_t put_each_##type(const mask_walk *w, const char *from, int64_t step,            \
                                   int64_t count) {                                               \
        const char *mask = w->at;                                                                 \
        const int64_t to_step = w->other_step, all = count;                                       \
        char *to = w->other;                                                                      \
        for (int64_t left = w->count, size; left > 0; left -= size) {                             \
            const int run = next_run(mask, left, &size);                                          \
            if (run == RUN_ALL) {                                                                 \
                run_##type(to, to_step, from, step, size);                                        \
                from += size * step;                                                              \
                count -= size;                                                                    \
            } else if (run == RUN_MIXED && count >= 8) {                                          \
                for (int i = 0; i < 8; i++) {                                                     \
                    type *t = (type *)(void *)(to + i * to_step);                                 \
                    const char here = mask[i]; /* (the mask may be what is stored to) */          \
                    *t = here ? *(const type *)(const void *)from : *t;                           \
                    from += step & -(int64_t)here;                                                \
                    count -= here;                                                                \
                }                                                                                 \
            } else if (run == RUN_MIXED) {                                                        \
                for (int i = 0; i < 8; i++)                                                       \
                    if (mask[i]) {                                                                \
                        *(type *)(void *)(to + i * to_step) = *(const type *)(const void *)from;  \
                        from += step;                                                             \
                        count--;                                                                  \
                    }                                                                             \
            }                                                                                     \
            mask += size;                                                                         \
            to += size * to_step;                                                                 \
        }                                                                                         \
        return all - count;                                                                       \
    }
MASKED(uint8_t)
MASKED(uint16_t)
MASKED(uint32_t)
MASKED(uint64_t)
MASKED(nd_complex)

typedef struct masked {
    char *(*pick)(char *to, const char *end, const mask_walk *w);
    void (*put)(const mask_walk *w, const char *value);
    /* `count` elements are left; so many have been stored */
    int64_t (*put_each)(const mask_walk *w, const char *from, int64_t step, int64_t count);
} masked;

static masked masked_of_size(int size) {
    return size == 1   ? (masked){pick_uint8_t, put_uint8_t, put_each_uint8_t}
           : size == 2 ? (masked){pick_uint16_t, put_uint16_t, put_each_uint16_t}
           : size == 4 ? (masked){pick_uint32_t, put_uint32_t, put_each_uint32_t}
           : size == 8 ? (masked){pick_uint64_t, put_uint64_t, put_each_uint64_t}
                       : (masked){pick_nd_complex, put_nd_complex, put_each_nd_complex};
}

dvx_value fancy_get_mask(dvx_vm *vm, const nd_array *a, const nd_array *mask) {
    mask_walk w;
    nd_array *result;
    int64_t count = fancy_count(vm, mask);
    if (count < 0) return DVX_FAILED;
    masked of = masked_of_size(a->dtype->size);
    dvx_value made = array_new(vm, a->dtype, 1, &count, &result);
    if (dvx_failed(made)) return made;
    char *to = result->data;
    const char *end = to + count * a->dtype->size;
    for (begin_walk(vm, &w, mask, a, true); w.left > 0; next_piece(&w)) to = of.pick(to, end, &w);
    if (!w.stopped) return made;
    vm->api->release(vm, made);
    return DVX_FAILED;
}

static bool check_mask_value(dvx_vm *vm, const nd_array *value, const nd_array *mask) {
    if (value->ndim > 1)
        return nd_fail(
            vm, DVX_TYPE_ERROR,
            "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, "
            "input has %d dimensions",
            value->ndim);
    if (value->size == 1) return true;
    const int64_t count = fancy_count(vm, mask);
    if (value->size == count) return true;
    if (count < 0) return false;
    return nd_fail(vm, DVX_VALUE_ERROR,
                   "NumPy boolean array indexing assignment cannot assign %lld input values to the "
                   "%lld output values where the mask is true",
                   (long long)value->size, (long long)count);
}

/* Stores values, which have the array's dtype and do not overlap with it. */
static bool set_mask(dvx_vm *vm, const nd_array *a, const nd_array *mask, const nd_array *from) {
    mask_walk w;
    masked of = masked_of_size(a->dtype->size);
    int64_t done = 0;
    for (begin_walk(vm, &w, mask, a, true); w.left > 0; next_piece(&w))
        if (from->size == 1)
            of.put(&w, from->data);
        else if (done < from->size)
            done += of.put_each(&w, from->data + done * from->axes->stride, from->axes->stride,
                                from->size - done);
    return !w.stopped;
}

/* `array` is replaced by what `made` is, unless that has failed. */
static bool replace(dvx_vm *vm, dvx_value *array, nd_array **out, dvx_value made) {
    vm->api->release(vm, *array);
    *array = made;
    if (dvx_failed(made)) return false;
    *out = array_of(vm, made);
    return true;
}

bool fancy_set_mask(dvx_vm *vm, nd_array *a, const nd_array *mask, dvx_value value) {
    nd_array *from;
    dvx_value array = separate(vm, a, NULL, value, &from), copy = DVX_FAILED;
    bool good = !dvx_failed(array) && check_mask_value(vm, from, mask);
    if (good && from->dtype != a->dtype)
        good = replace(vm, &array, &from, array_copy(vm, from, a->dtype, 'C'));
    /* a[m] = ... where the mask is part of the array itself.  (Where it is the array, element for
     * element, each piece is read before it is stored to.) */
    if (good && array_may_overlap(a, mask) && !is_same_place(a, mask)) {
        copy = array_copy(vm, mask, mask->dtype, 'C');
        good = !dvx_failed(copy);
        if (good) mask = array_of(vm, copy);
    }
    good = good && set_mask(vm, a, mask, from);
    vm->api->release(vm, copy);
    vm->api->release(vm, array);
    return good;
}

/* ---- nonzero ---- */

/* One bit for each of eight bytes that are 0 or 1. */
static inline uint64_t bits_of(uint64_t bytes) {
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    return bytes * 0x0102040810204080 >> 56;
}

enum { GROUP = 64, FEW_TRUE = 20 };

/* The places of a few true elements of a group, `found` of them: four at a time, as what is behind
 * the last one is overwritten.  (The highest bit stands for no place.) */
static inline int64_t *places_of_few(int64_t *to, const uint64_t *words, int64_t found,
                                     int64_t first) {
    uint64_t bits = 0;
    for (int k = 0; k < GROUP / 8; k++) bits |= bits_of(words[k]) << 8 * k;
    for (int64_t i = 0; i < found; i += 4)
        for (int k = 0; k < 4; k++) {
            to[i + k] = first + __builtin_ctzll(bits | (uint64_t)1 << 63);
            bits &= bits - 1;
        }
    return to + found;
}

/* Those of so many elements, a multiple of 8, without branches: `to` has room for one that is not
 * there. */
static inline int64_t *places_of_many(int64_t *to, const char *mask, int64_t count, int64_t first) {
    for (int64_t i = 0; i < count; i += 8)
        for (int k = 0; k < 8; k++) {
            *to = first + i + k;
            to += mask[i + k];
        }
    return to;
}

/* The places of a piece's true elements; `end`: of all there is room for. */
static int64_t *find_true(int64_t *to, const int64_t *end, const mask_walk *w) {
    const uint64_t each = 0x0101010101010101;
    const char *mask = w->at;
    int64_t i = 0;
    for (; i + GROUP <= w->count; i += GROUP) {
        const int64_t at = w->begin + i;
        uint64_t words[GROUP / 8], sum = 0;
        for (int k = 0; k < GROUP / 8; k++) sum += words[k] = eight(mask + i + 8 * k);
        if (!sum) continue;
        const int64_t found = (int64_t)(sum * each >> 56);
        if (found == GROUP)
            for (int k = 0; k < GROUP; k++) *to++ = at + k;
        else if (found <= FEW_TRUE && end - to >= found + 3)
            to = places_of_few(to, words, found, at);
        else if (end - to > found)
            to = places_of_many(to, mask + i, GROUP, at);
        else
            break;
    }
    for (; i < w->count; i++) {
        const bool eight_left = w->count - i >= 8;
        if (eight_left && !eight(mask + i)) {
            i += 7;
        } else if (eight_left && end - to > 8) {
            to = places_of_many(to, mask + i, 8, w->begin + i);
            i += 7;
        } else if (mask[i]) {
            *to++ = w->begin + i;
        }
    }
    return to;
}

/* Places in a row become those along the axes: the last one's are where the former were. */
static void split_places(const nd_array *mask, int64_t *const *to, int64_t count) {
    for (int n = mask->ndim - 1; n > 0; n--) {
        const uint32_t axis = (uint32_t)mask->axes[n].count;
        int64_t *whole = to[n - 1], *rest = to[n];
        for (int64_t i = 0; i < count; i++) {
            const uint32_t place = (uint32_t)rest[i];
            whole[i] = place / axis;
            rest[i] = place % axis;
        }
    }
}

/* Are there too many rows to go through each by itself? */
static bool has_short_rows(const nd_array *mask) {
    enum { SHORT_ROW = 32 };
    return mask->ndim > 1 && mask->flags & ND_C_CONTIGUOUS && mask->size <= UINT32_MAX &&
           mask->axes[mask->ndim - 1].count <= SHORT_ROW;
}

static bool drop_places(dvx_vm *vm, const dvx_value *out, int count) {
    while (count-- > 0) vm->api->release(vm, out[count]);
    return false;
}

bool fancy_nonzero(dvx_vm *vm, const nd_array *mask, dvx_value out[ND_MOST]) {
    mask_walk w;
    int64_t count = fancy_count(vm, mask), *to[ND_MOST] = {NULL};
    const int last = mask->ndim - 1;
    if (count < 0) return false;
    for (int n = 0; n < mask->ndim; n++) {
        nd_array *a;
        out[n] = array_new(vm, ND_DTYPE(ND_INT64), 1, &count, &a);
        if (dvx_failed(out[n])) return drop_places(vm, out, n);
        to[n] = (int64_t *)(void *)a->data;
    }
    const int64_t *end = to[last] + count;
    if (has_short_rows(mask)) {
        const dvx_axis whole = {mask->size, 1};
        nd_array row = *mask;
        row.axes = (dvx_axis *)&whole;
        row.ndim = 1;
        int64_t *at = to[last];
        for (begin_walk(vm, &w, &row, &row, false); w.left > 0; next_piece(&w))
            at = find_true(at, end, &w);
        if (!w.stopped) split_places(mask, to, count);
        return !w.stopped || drop_places(vm, out, mask->ndim);
    }
    for (begin_walk(vm, &w, mask, mask, false); w.left > 0; next_piece(&w)) {
        int64_t *behind = find_true(to[last], end, &w);
        for (int n = 0; n < last; n++)
            for (int64_t i = 0; i < behind - to[last]; i++) *to[n]++ = w.index[n];
        to[last] = behind;
    }
    return !w.stopped || drop_places(vm, out, mask->ndim);
}
