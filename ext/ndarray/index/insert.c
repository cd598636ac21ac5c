/* insert.c: insert, delete, resize, take_along_axis, put_along_axis (insert.h).
 *
 * Invariants
 *  1. What NumPy does with index arrays is done with them here, too, as their errors and the order
 *     of the result in memory show it. */
#include "index/insert.h"

#include <string.h>

#include "loops/cast.h"
#include "array/compose.h"
#include "array/create.h"
#include "index/index.h"
#include "array/methods.h"
#include "sort/order.h"
#include "array/shape.h"
#include "ufunc/ufunc.h"

/* ---- Parts along an axis ---- */

/* The array that a function works on: itself, or its elements in a row. */
static dvx_value read_array(dvx_vm *vm, dvx_value v, dvx_value axis_, int *axis, nd_array **out) {
    dvx_value array = array_operand(vm, v, NULL, out);
    if (dvx_failed(array)) return array;
    if (nd_is_given(vm, axis_)) {
        if (nd_axis_of(vm, axis_, (*out)->ndim, axis)) return array;
        return compose_first(vm, DVX_FAILED, array);
    }
    *axis = 0;
    if ((*out)->ndim == 1) return array;
    array = compose_first(vm, shape_ravel(vm, array), array);
    if (!dvx_failed(array)) *out = array_of(vm, array);
    return array;
}

/* Elements `first` and so on of an axis, `count` of them: as an array that is no object. */
typedef struct part {
    nd_array array;
    dvx_axis axes[ND_MOST];
} part;
static void take_part(part *p, const nd_array *of, int axis, int64_t first, int64_t count) {
    p->array = (nd_array){.dtype = of->dtype, .ndim = of->ndim};
    memcpy(p->axes, of->axes, (size_t)of->ndim * sizeof *p->axes);
    p->array.axes = p->axes;
    p->axes[axis].count = count;
    p->array.data = of->data + (count && of->size ? first * of->axes[axis].stride : 0);
    array_update(&p->array);
}

static bool copy_part(dvx_vm *vm, nd_array *to, int64_t at, const nd_array *from, int64_t first,
                      int64_t count, int axis) {
    part source, target;
    if (count <= 0 || !to->size) return true;
    take_part(&source, from, axis, first, count);
    take_part(&target, to, axis, at, count);
    return array_pour(vm, &target.array, &source.array);
}

/* In C's order, or Fortran's where the array is in that alone. */
static dvx_value new_with(dvx_vm *vm, const nd_array *a, int axis, int64_t count, nd_array **out) {
    int64_t shape[ND_MOST];
    array_shape(a, shape);
    shape[axis] = count;
    return array_new_order(vm, a->dtype, a->ndim, shape,
                           (a->flags & ND_CONTIGUOUS) == ND_F_CONTIGUOUS, out);
}

/* (:, :, ..., index): takes `index`. */
static dvx_value key_along(dvx_vm *vm, int axis, dvx_value index) {
    dvx_value parts[ND_MOST], key = DVX_FAILED, none = nd_none(vm), slice = DVX_FAILED;
    if (dvx_failed(index)) return index;
    dvx_value maker = vm->api->builtin(vm, "slice");
    if (!dvx_failed(maker)) slice = vm->api->call(vm, maker, &none, 1);
    for (int i = 0; i < axis; i++) parts[i] = slice;
    parts[axis] = index;
    if (!dvx_failed(slice)) key = vm->api->make_tuple(vm, parts, (size_t)axis + 1);
    vm->api->release(vm, slice);
    vm->api->release(vm, maker);
    vm->api->release(vm, index);
    return key;
}

static bool raise_bounds(dvx_vm *vm, int64_t index, int axis, int64_t size) {
    return nd_fail(vm, DVX_INDEX_ERROR, "index %lld is out of bounds for axis %d with size %lld",
                   (long long)index, axis, (long long)size);
}

/* ---- delete ---- */

static dvx_value without_range(dvx_vm *vm, const nd_array *a, int axis, int64_t first,
                               int64_t count) {
    nd_array *out;
    const int64_t n = a->axes[axis].count;
    dvx_value made = new_with(vm, a, axis, n - count, &out);
    if (dvx_failed(made)) return made;
    const bool good = copy_part(vm, out, 0, a, 0, first, axis) &&
                      copy_part(vm, out, first, a, first + count, n - first - count, axis);
    return good ? made : compose_first(vm, DVX_FAILED, made);
}

/* Where the mask, which it takes, is true. */
static dvx_value kept(dvx_vm *vm, dvx_value array, int axis, dvx_value mask) {
    dvx_value key = key_along(vm, axis, mask), made;
    if (dvx_failed(key)) return key;
    made = index_get(vm, array, key);
    vm->api->release(vm, key);
    return made;
}

static dvx_value all_true(dvx_vm *vm, int64_t n, nd_array **mask) {
    dvx_value made = array_new(vm, ND_DTYPE(ND_BOOL), 1, &n, mask);
    if (!dvx_failed(made)) memset((*mask)->data, true, (size_t)n);
    return made;
}

static dvx_value without_slice(dvx_vm *vm, dvx_value array, const nd_array *a, int axis,
                               dvx_value slice) {
    int64_t start, step, count;
    nd_array *mask;
    const int64_t n = a->axes[axis].count;
    if (!vm->api->read_slice(vm, slice, n, &start, &step, &count)) return DVX_FAILED;
    if (count <= 0)
        return array_copy(vm, a, a->dtype,
                          (a->flags & ND_CONTIGUOUS) == ND_F_CONTIGUOUS ? 'F' : 'C');
    if (step < 0) {
        start += (count - 1) * step;
        step = -step;
    }
    if (step == 1 || count == 1) return without_range(vm, a, axis, start, count);
    dvx_value keep = all_true(vm, n, &mask), made, sorted;
    if (dvx_failed(keep)) return keep;
    for (int64_t i = 0; i < count; i++) mask->data[start + i * step] = false;
    made = kept(vm, array, axis, keep);
    if (dvx_failed(made) || a->ndim == 1) return made;
    nd_array *out;
    sorted = new_with(vm, a, axis, n - count, &out);
    if (!dvx_failed(sorted)) array_spread(out, array_of(vm, made));
    vm->api->release(vm, made);
    return sorted;
}

/* By an array of indices, or a mask. */
static dvx_value without_places(dvx_vm *vm, dvx_value array, const nd_array *a, int axis,
                                dvx_value obj) {
    nd_array *which, *mask;
    const int64_t n = a->axes[axis].count;
    dvx_value held = array_operand(vm, obj, NULL, &which), keep = DVX_FAILED;
    if (dvx_failed(held)) return held;
    if (!which->size && !array_of(vm, obj)) held = compose_array(vm, held, ND_DTYPE(ND_INT64));
    if (dvx_failed(held)) return held;
    which = array_of(vm, held);
    if (which->size == 1 && which->dtype->kind != 'b' && dtype_is_integer(which->dtype)) {
        int64_t index;
        cast_between(which->dtype, ND_DTYPE(ND_INT64))((char *)&index, 0, which->data, 0, 1);
        vm->api->release(vm, held);
        if (index < -n || index >= n) return raise_bounds(vm, index, axis, n), DVX_FAILED;
        return without_range(vm, a, axis, index < 0 ? index + n : index, 1);
    }
    if (which->dtype->num == ND_BOOL) {
        if (which->ndim != 1 || which->size != n)
            nd_fail(vm, DVX_VALUE_ERROR,
                    "boolean array argument obj to delete must be one dimensional and match the "
                    "axis length of %lld",
                    (long long)n);
        else
            keep = compose_unary(vm, ND_UFUNC_logical_not, vm->api->retain(vm, held));
    } else {
        dvx_value key = vm->api->make_tuple(vm, &held, 1), no = vm->api->make_bool(vm, false);
        keep = dvx_failed(key) ? key : all_true(vm, n, &mask);
        if (!dvx_failed(keep) && !index_set(vm, keep, key, no))
            keep = compose_first(vm, DVX_FAILED, keep);
        vm->api->release(vm, key);
    }
    vm->api->release(vm, held);
    return dvx_failed(keep) ? keep : kept(vm, array, axis, keep);
}

/* arr, obj, axis */
static dvx_value delete_(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    int axis;
    int64_t index;
    (void)count;
    dvx_value array = read_array(vm, args[0], args[2], &axis, &a), made = DVX_FAILED;
    if (dvx_failed(array)) return array;
    const dvx_kind kind = vm->api->kind(vm, args[1]);
    if (kind == DVX_SLICE) {
        made = without_slice(vm, array, a, axis, args[1]);
    } else if (kind == DVX_INT) {
        const int64_t n = a->axes[axis].count;
        if (!nd_read_index(vm, args[1], &index)) {
        } else if (index < -n || index >= n) {
            raise_bounds(vm, index, axis, n);
        } else {
            made = without_range(vm, a, axis, index < 0 ? index + n : index, 1);
        }
    } else {
        made = without_places(vm, array, a, axis, args[1]);
    }
    vm->api->release(vm, array);
    return made;
}

/* ---- insert ---- */

/* The values with at least the array's axes; `moved`: the first of them becomes `axis`. */
static dvx_value read_values(dvx_vm *vm, dvx_value v, const nd_array *a, int axis, bool moved,
                             nd_array **out) {
    int order[ND_MOST];
    dvx_value values = array_operand(vm, v, a->dtype, out);
    if (dvx_failed(values)) return values;
    if ((*out)->ndim < a->ndim)
        values = compose_first(vm, shape_at_least(vm, values, a->ndim), values);
    if (dvx_failed(values)) return values;
    *out = array_of(vm, values);
    if (!moved || axis == 0) return values;
    for (int i = 0; i < (*out)->ndim; i++) order[i] = i < axis ? i + 1 : i == axis ? 0 : i;
    values = compose_permuted(vm, values, order);
    if (!dvx_failed(values)) *out = array_of(vm, values);
    return values;
}

static dvx_value insert_at(dvx_vm *vm, const nd_array *a, int axis, int64_t index, dvx_value v,
                           bool moved) {
    nd_array *values, *out;
    part target;
    const int64_t n = a->axes[axis].count;
    dvx_value held = read_values(vm, v, a, axis, moved, &values);
    if (dvx_failed(held)) return held;
    const int64_t more = values->axes[axis].count;
    int64_t all;
    dvx_value made =
        array_larger(vm, n, more, &all) ? new_with(vm, a, axis, all, &out) : DVX_FAILED;
    if (!dvx_failed(made)) {
        take_part(&target, out, axis, index, more);
        if (!copy_part(vm, out, 0, a, 0, index, axis) ||
            !copy_part(vm, out, index + more, a, index, n - index, axis) ||
            !array_assign(vm, &target.array, values))
            made = compose_first(vm, DVX_FAILED, made);
    }
    vm->api->release(vm, held);
    return made;
}

/* Places in the result: those in the array and, of each, how many are inserted before it. */
static bool spread_places(dvx_vm *vm, int64_t *places, int64_t count, int64_t n) {
    int64_t *order;
    const size_t size = (size_t)count * sizeof *order;
    if (!count) return true;
    for (int64_t i = 0; i < count; i++)
        if (places[i] < 0) places[i] += n;
    order = vm->api->allocate(vm, size);
    if (!order) return false;
    const bool good = order_places(vm, ND_DTYPE(ND_INT64), (const char *)places, order, count);
    for (int64_t i = 0; good && i < count; i++)
        places[order[i]] = (int64_t)((uint64_t)places[order[i]] + (uint64_t)i);
    vm->api->deallocate(vm, order, size);
    return good;
}

static bool set_along(dvx_vm *vm, dvx_value to, int axis, dvx_value index, dvx_value value) {
    dvx_value key = key_along(vm, axis, vm->api->retain(vm, index));
    const bool good = !dvx_failed(key) && index_set(vm, to, key, value);
    vm->api->release(vm, key);
    return good;
}

static dvx_value insert_all(dvx_vm *vm, dvx_value array, const nd_array *a, int axis,
                            dvx_value indices, dvx_value v) {
    nd_array *which = array_of(vm, indices), *mask, *out;
    const int64_t n = a->axes[axis].count, count = which->size;
    int64_t all;
    if (!array_larger(vm, n, count, &all)) return DVX_FAILED;
    dvx_value made = DVX_FAILED, keep = all_true(vm, all, &mask),
              no = vm->api->make_bool(vm, false);
    if (dvx_failed(keep)) return keep;
    if (spread_places(vm, (int64_t *)(void *)which->data, count, n) &&
        index_set(vm, keep, indices, no))
        made = new_with(vm, a, axis, all, &out);
    if (!dvx_failed(made) &&
        (!set_along(vm, made, axis, indices, v) || !set_along(vm, made, axis, keep, array)))
        made = compose_first(vm, DVX_FAILED, made);
    vm->api->release(vm, keep);
    return made;
}

static bool raise_place(dvx_vm *vm, dvx_value obj, int axis, int64_t n) {
    dvx_value error = vm->api->error_class(vm, DVX_INDEX_ERROR);
    vm->api->raise_format(vm, error, "index %S is out of bounds for axis %d with size %lld", obj,
                          axis, (long long)n);
    vm->api->release(vm, error);
    return false;
}

/* Indices as a new array of int64, or what has no such elements as it is. */
static dvx_value read_indices(dvx_vm *vm, dvx_value obj, int axis, int64_t n, nd_array **out) {
    int64_t start, step, count;
    if (vm->api->kind(vm, obj) == DVX_SLICE) {
        if (!vm->api->read_slice(vm, obj, n, &start, &step, &count)) return DVX_FAILED;
        dvx_value made = array_new(vm, ND_DTYPE(ND_INT64), 1, &count, out);
        for (int64_t i = 0; !dvx_failed(made) && i < count; i++)
            ((int64_t *)(void *)(*out)->data)[i] = start + i * step;
        return made;
    }
    dvx_value held = array_operand(vm, obj, NULL, out), made = DVX_FAILED;
    if (dvx_failed(held)) return held;
    const nd_array *a = *out;
    bool good = true;
    if (a->dtype->num == ND_BOOL) {
        dvx_value warning = vm->api->builtin(vm, "FutureWarning");
        good = !dvx_failed(warning) &&
               vm->api->warn(
                   vm, warning,
                   "in the future insert will treat boolean arrays and array-likes as a boolean "
                   "index instead of casting it to integer");
        vm->api->release(vm, warning);
    } else if (a->ndim > 1) {
        good = nd_fail(vm, DVX_VALUE_ERROR,
                       "index array argument obj to insert must be one dimensional or scalar");
    }
    if (good && !dtype_is_integer(a->dtype) && (a->size || array_of(vm, obj))) {
        double index = 0;
        if (a->size == 1 && a->dtype->kind == 'f')
            cast_between(a->dtype, ND_DTYPE(ND_FLOAT64))((char *)&index, 0, a->data, 0, 1);
        if (a->size == 1 && (index < (double)-n || index > (double)n))
            good = raise_place(vm, obj, axis, n);
        else if (a->size == 1)
            good = nd_fail(vm, DVX_TYPE_ERROR,
                           "slice indices must be integers or None or have an __index__ method");
        else
            good = nd_fail(vm, DVX_INDEX_ERROR,
                           "arrays used as indices must be of integer (or boolean) type");
    }
    if (good) made = array_copy(vm, a, ND_DTYPE(ND_INT64), 'C');
    if (!dvx_failed(made)) *out = array_of(vm, made);
    vm->api->release(vm, held);
    return made;
}

/* arr, obj, values, axis */
static dvx_value insert(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a, *which;
    int axis;
    (void)count;
    dvx_value array = read_array(vm, args[0], args[3], &axis, &a), made = DVX_FAILED;
    if (dvx_failed(array)) return array;
    const int64_t n = a->axes[axis].count;
    dvx_value indices = read_indices(vm, args[1], axis, n, &which);
    if (!dvx_failed(indices) && which->size == 1) {
        const int64_t index = *(const int64_t *)(const void *)which->data;
        if (index < -n || index > n)
            raise_place(vm, args[1], axis, n);
        else
            made = insert_at(vm, a, axis, index < 0 ? index + n : index, args[2], !which->ndim);
    } else if (!dvx_failed(indices)) {
        made = insert_all(vm, array, a, axis, indices, args[2]);
    }
    vm->api->release(vm, indices);
    vm->api->release(vm, array);
    return made;
}

/* ---- resize ---- */

/* a, new_shape */
static dvx_value resize(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    enum { AT_ONCE = 1 << 24 }; /* bytes */
    nd_array *a, *out;
    int ndim;
    int64_t shape[ND_MOST];
    (void)count;
    if (!array_read_shape(vm, args[1], &ndim, shape)) return DVX_FAILED;
    for (int i = 0; i < ndim; i++)
        if (shape[i] < 0)
            return nd_raise(vm, DVX_VALUE_ERROR,
                            "all elements of `new_shape` must be non-negative");
    dvx_value row = array_row(vm, args[0], NULL, &a);
    if (dvx_failed(row)) return row;
    dvx_value made = a->size ? array_new(vm, a->dtype, ndim, shape, &out)
                             : create_zeros(vm, a->dtype, ndim, shape, &out);
    if (!dvx_failed(made) && a->size) {
        const size_t one = (size_t)(a->size * a->dtype->size);
        const size_t all = (size_t)(out->size * out->dtype->size);
        size_t done = one < all ? one : all;
        if (done) memcpy(out->data, a->data, done);
        for (; done && done < all && !dvx_failed(made);) {
            const size_t twice = done < all - done ? done : all - done;
            const size_t more = twice < AT_ONCE ? twice : AT_ONCE / one * one + one;
            memcpy(out->data + done, out->data, more < twice ? more : twice);
            done += more < twice ? more : twice;
            if (!nd_work(vm, (int64_t)(twice < AT_ONCE ? twice : AT_ONCE) / 8))
                made = compose_first(vm, DVX_FAILED, made);
        }
    }
    vm->api->release(vm, row);
    return made;
}

/* ---- Along an axis ---- */

/* The key that picks indices[i, j, ...] along one axis and i, j, ... along the others. */
static dvx_value places_along(dvx_vm *vm, const nd_array *a, dvx_value indices_, int axis) {
    nd_array *indices;
    dvx_value parts[ND_MOST], key = DVX_FAILED;
    int done = 0;
    dvx_value held = array_operand(vm, indices_, NULL, &indices);
    if (dvx_failed(held)) return held;
    bool good = true;
    if (indices->dtype->kind == 'b' || !dtype_is_integer(indices->dtype))
        good = nd_fail(vm, DVX_INDEX_ERROR, "`indices` must be an integer array");
    else if (indices->ndim != a->ndim)
        good = nd_fail(vm, DVX_VALUE_ERROR,
                       "`indices` and `arr` must have the same number of dimensions");
    for (; good && done < a->ndim; done++) {
        nd_array *row;
        int64_t shape[ND_MOST];
        parts[done] =
            done == axis ? vm->api->retain(vm, held) : create_range(vm, a->axes[done].count, &row);
        for (int i = 0; i < a->ndim; i++) shape[i] = i == done ? -1 : 1;
        if (done != axis && !dvx_failed(parts[done]))
            parts[done] =
                compose_first(vm, shape_reshape(vm, parts[done], a->ndim, shape), parts[done]);
        if (dvx_failed(parts[done])) good = false;
    }
    if (good) key = vm->api->make_tuple(vm, parts, (size_t)done);
    for (int i = 0; i < done; i++) vm->api->release(vm, parts[i]);
    vm->api->release(vm, held);
    return key;
}

/* arr, indices, axis */
static dvx_value take_along_axis(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    int axis;
    (void)count;
    dvx_value array = read_array(vm, args[0], args[2], &axis, &a), made = DVX_FAILED;
    if (dvx_failed(array)) return array;
    dvx_value key = places_along(vm, a, args[1], axis);
    if (!dvx_failed(key)) made = index_get(vm, array, key);
    vm->api->release(vm, key);
    vm->api->release(vm, array);
    return made;
}

/* arr, indices, values, axis */
static dvx_value put_along_axis(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    int axis = 0;
    (void)count;
    nd_array *a = vm->api->payload(vm, args[0], &array_type);
    if (!a)
        return vm->api->raise(vm, DVX_TYPE_ERROR, "put_along_axis() argument 1 must be an array");
    if (nd_is_given(vm, args[3]) && !nd_axis_of(vm, args[3], a->ndim, &axis)) return DVX_FAILED;
    dvx_value array = vm->api->retain(vm, args[0]), row = DVX_FAILED;
    bool copied = false;
    if (!nd_is_given(vm, args[3])) {
        row = shape_ravel(vm, args[0]);
        if (dvx_failed(row)) return compose_first(vm, row, array);
        copied = !array_may_overlap(array_of(vm, row), a);
        vm->api->release(vm, array);
        array = row;
    }
    dvx_value key = places_along(vm, array_of(vm, array), args[1], axis);
    bool good = !dvx_failed(key) && array_writable(vm, a) && index_set(vm, array, key, args[2]);
    if (good && copied) {
        int64_t shape[ND_MOST];
        array_shape(a, shape);
        dvx_value back = shape_reshape(vm, array, a->ndim, shape);
        good = !dvx_failed(back) && array_assign(vm, a, array_of(vm, back));
        vm->api->release(vm, back);
    }
    vm->api->release(vm, key);
    vm->api->release(vm, array);
    return good ? nd_none(vm) : DVX_FAILED;
}

/* ---- Tables ---- */

ND_PARAMETERS(of_delete, 2, "arr", "obj", "axis");
ND_PARAMETERS(of_insert, 3, "arr", "obj", "values", "axis");
ND_PARAMETERS(of_resize, 2, "a", "new_shape");
ND_PARAMETERS(of_take_along, 3, "arr", "indices", "axis");
ND_PARAMETERS(of_put_along, 4, "arr", "indices", "values", "axis");

static const dvx_function functions[] = {
    ND_NAMED("delete", delete_, of_delete),
    ND_NAMED("insert", insert, of_insert),
    ND_NAMED("resize", resize, of_resize),
    ND_NAMED("take_along_axis", take_along_axis, of_take_along),
    ND_NAMED("put_along_axis", put_along_axis, of_put_along),
};

bool insert_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
