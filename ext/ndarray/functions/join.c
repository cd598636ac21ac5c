/* join.c: several arrays become one, and one is repeated: concatenate, stack, repeat. */
#include <stdlib.h>

#include "loops/cast.h"
#include "array/compose.h"
#include "array/create.h"
#include "array/methods.h"
#include "array/shape.h"

/* ---- Lists of arrays ---- */

typedef struct arrays {
    dvx_value *values;
    int64_t count;
} arrays;

static void drop(dvx_vm *vm, arrays *list) {
    for (int64_t i = 0; i < list->count; i++) vm->api->release(vm, list->values[i]);
    if (list->values) nd_give_back(vm, list->values, list->count, sizeof *list->values);
}

/* What has been read must be dropped even if this fails. */
static bool read_arrays(dvx_vm *vm, dvx_value sequence, const char *how, arrays *out) {
    *out = (arrays){NULL, 0};
    int64_t count = vm->api->length(vm, sequence);
    if (count < 0) return false;
    if (count == 0) return nd_fail(vm, DVX_VALUE_ERROR, "need at least one array to %s", how);
    out->values = nd_room(vm, count, sizeof *out->values);
    if (!out->values) return false;
    for (int64_t i = 0; i < count; i++) out->values[i] = DVX_FAILED;
    out->count = count;
    for (int64_t i = 0; i < count; i++) {
        dvx_value item = vm->api->get_item(vm, sequence, vm->api->make_int(vm, i));
        out->values[i] = dvx_failed(item) ? item : array_from(vm, item, NULL);
        vm->api->release(vm, item);
        if (dvx_failed(out->values[i])) return false;
    }
    return true;
}

static const nd_dtype *common(dvx_vm *vm, const dvx_value *values, int64_t count) {
    const nd_dtype *d = array_of(vm, values[0])->dtype;
    for (int64_t i = 1; i < count; i++) d = dtype_promote(d, array_of(vm, values[i])->dtype);
    return d;
}

/* ---- concatenate ---- */

static bool check_shapes(dvx_vm *vm, const nd_array *first, const nd_array *a, int axis,
                         int64_t n) {
    if (a->ndim != first->ndim)
        return nd_fail(
            vm, DVX_VALUE_ERROR,
            "all the input arrays must have same number of dimensions, but the array at "
            "index 0 has %d dimension(s) and the array at index %lld has %d dimension(s)",
            first->ndim, (long long)n, a->ndim);
    for (int i = 0; i < a->ndim; i++)
        if (i != axis && a->axes[i].count != first->axes[i].count)
            return nd_fail(vm, DVX_VALUE_ERROR,
                           "all the input array dimensions except for the concatenation axis must "
                           "match exactly, but along dimension %d, the array at index 0 has size "
                           "%lld and the array at index %lld has size %lld",
                           i, (long long)first->axes[i].count, (long long)n,
                           (long long)a->axes[i].count);
    return true;
}

/* Do the arrays have the axis closer together than the other one?  1, 0, -1: they do not say. Where
 * they contradict each other, C's order wins. */
static int is_further(dvx_vm *vm, const dvx_value *values, int64_t count, int axis, int other) {
    int answer = -1;
    for (int64_t i = 0; i < count; i++) {
        const nd_array *a = array_of(vm, values[i]);
        const dvx_axis *x = &a->axes[axis], *y = &a->axes[other];
        if (x->count == 1 || y->count == 1) continue;
        if (llabs(x->stride) <= llabs(y->stride))
            answer = 0;
        else if (answer < 0)
            answer = 1;
    }
    return answer;
}

/* The order of the axes in memory that all arrays have in common, as NumPy finds it. */
static void find_order(dvx_vm *vm, const dvx_value *values, int64_t count, int ndim, int *order) {
    for (int i = 0; i < ndim; i++) order[i] = i;
    for (int i = 1; i < ndim; i++) {
        int axis = order[i], at = i;
        for (int k = i - 1; k >= 0; k--) {
            int further = is_further(vm, values, count, axis, order[k]);
            if (further == 0) break;
            if (further > 0) at = k;
        }
        memmove(order + at + 1, order + at, (size_t)(i - at) * sizeof *order);
        order[at] = axis;
    }
}

static dvx_value join_arrays(dvx_vm *vm, const dvx_value *values, int64_t count, int axis,
                             const nd_dtype *dtype) {
    const nd_array *first = array_of(vm, values[0]);
    int64_t shape[ND_MOST], total = 0;
    nd_array *whole;
    for (int64_t i = 0; i < count; i++) {
        const nd_array *a = array_of(vm, values[i]);
        if (!check_shapes(vm, first, a, axis, i)) return DVX_FAILED;
        if (!array_larger(vm, total, a->axes[axis].count, &total)) return DVX_FAILED;
    }
    array_shape(first, shape);
    shape[axis] = total;
    int order[ND_MOST];
    find_order(vm, values, count, first->ndim, order);
    dvx_value made = array_new_permuted(vm, dtype, first->ndim, shape, order, &whole);
    if (dvx_failed(made)) return made;
    dvx_axis axes[ND_MOST];
    memcpy(axes, whole->axes, (size_t)whole->ndim * sizeof *axes);
    nd_array part = {.data = whole->data, .dtype = dtype, .axes = axes, .ndim = whole->ndim};
    for (int64_t i = 0; i < count; i++) {
        const nd_array *a = array_of(vm, values[i]);
        axes[axis].count = a->axes[axis].count;
        array_update(&part);
        if (part.size && !array_pour(vm, &part, a)) {
            vm->api->release(vm, made);
            return DVX_FAILED;
        }
        part.data += axes[axis].count * axes[axis].stride;
    }
    return made;
}

/* Along an axis; None: all in one row first. */
static dvx_value concatenate_read(dvx_vm *vm, arrays *list, dvx_value axis_, dvx_value type) {
    const nd_dtype *dtype;
    int axis = 0;
    if (!dtype_read_given(vm, type, common(vm, list->values, list->count), &dtype))
        return DVX_FAILED;
    if (!dvx_failed(axis_) && nd_is_none(vm, axis_)) {
        for (int64_t i = 0; i < list->count; i++) {
            dvx_value row = shape_ravel(vm, list->values[i]);
            vm->api->release(vm, list->values[i]);
            list->values[i] = row;
            if (dvx_failed(row)) return row;
        }
    } else {
        int ndim = array_of(vm, list->values[0])->ndim;
        if (ndim == 0)
            return nd_raise(vm, DVX_VALUE_ERROR, "zero-dimensional arrays cannot be concatenated");
        if (!dvx_failed(axis_) && !nd_axis_no_bool(vm, axis_, ndim, &axis)) return DVX_FAILED;
    }
    return join_arrays(vm, list->values, list->count, axis, dtype);
}

/* concatenate(arrays, axis=0, out=None, dtype=None) */
static dvx_value concatenate(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    arrays list;
    (void)count;
    if (nd_is_given(vm, args[2]))
        return nd_raise(vm, DVX_TYPE_ERROR, "concatenate(out=...) is not part of dl");
    dvx_value made = DVX_FAILED;
    if (read_arrays(vm, args[0], "concatenate", &list))
        made = concatenate_read(vm, &list, args[1], args[3]);
    drop(vm, &list);
    return made;
}

/* A new axis of one element. */
static dvx_value with_axis(dvx_vm *vm, dvx_value array, int at) {
    int64_t shape[ND_MOST + 1];
    const nd_array *a = array_of(vm, array);
    for (int i = 0; i <= a->ndim; i++)
        shape[i] = i < at ? a->axes[i].count : i == at ? 1 : a->axes[i - 1].count;
    return shape_reshape(vm, array, a->ndim + 1, shape);
}

/* stack(arrays, axis=0) */
static dvx_value stack(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    arrays list;
    int axis = 0;
    (void)count;
    dvx_value made = DVX_FAILED;
    if (nd_is_given(vm, args[2]))
        return nd_raise(vm, DVX_TYPE_ERROR, "stack(out=...) is not part of dl");
    if (!read_arrays(vm, args[0], "stack", &list)) goto end;
    const nd_array *first = array_of(vm, list.values[0]);
    for (int64_t i = 1; i < list.count; i++)
        if (!array_same_shape(first, array_of(vm, list.values[i]))) {
            nd_fail(vm, DVX_VALUE_ERROR, "all input arrays must have the same shape");
            goto end;
        }
    if (!dvx_failed(args[1]) && !nd_axis_of(vm, args[1], first->ndim + 1, &axis)) goto end;
    for (int64_t i = 0; i < list.count; i++) {
        dvx_value wider = with_axis(vm, list.values[i], axis);
        vm->api->release(vm, list.values[i]);
        list.values[i] = wider;
        if (dvx_failed(wider)) goto end;
    }
    made = join_arrays(vm, list.values, list.count, axis, common(vm, list.values, list.count));
end:
    drop(vm, &list);
    return made;
}

/* ---- repeat ---- */

/* One block, again and again. */
static char *fill_blocks(char *to, const char *from, size_t bytes, int64_t count) {
    enum { SHORT = 256 };
    if (bytes == sizeof(int64_t)) {
        int64_t element;
        memcpy(&element, from, sizeof element);
        for (int64_t k = 0; k < count; k++) ((int64_t *)(void *)to)[k] = element;
        return to + count * (int64_t)bytes;
    }
    if (bytes == sizeof(nd_complex)) {
        nd_complex element;
        memcpy(&element, from, sizeof element);
        for (int64_t k = 0; k < count; k++, to += bytes) memcpy(to, &element, sizeof element);
        return to;
    }
    if (bytes <= SHORT)
        for (int64_t k = 0; k < count; k++, to += bytes) cast_copy_few(to, from, bytes);
    else
        for (int64_t k = 0; k < count; k++, to += bytes) memcpy(to, from, bytes);
    return to;
}

/* The same of an array in C order: `outer` times `size` blocks of so many bytes. */
static bool repeat_blocks(dvx_vm *vm, char *to, const char *from, int64_t outer, int64_t size,
                          size_t bytes, const int64_t *times, bool one) {
    enum { LOOK = 1 << 22 }; /* bytes */
    const int64_t most = LOOK / (int64_t)bytes + 1;
    int64_t steps = 0;
    for (; outer > 0; outer--)
        for (int64_t i = 0; i < size; i++, from += bytes)
            for (int64_t left = one ? *times : times[i], n; left > 0; left -= n) {
                n = left < most ? left : most;
                to = fill_blocks(to, from, bytes, n);
                steps += 4 + n * (int64_t)bytes / 8;
                if (steps < ND_POLL) continue;
                if (!nd_work(vm, steps)) return false;
                steps = 0;
            }
    return nd_work(vm, steps);
}

/* Copies each slice along the axis as often as `times` says (one number: for all). */
static dvx_value repeat_slices(dvx_vm *vm, const nd_array *a, int axis, const int64_t *times,
                               bool one) {
    int64_t shape[ND_MOST], total = 0;
    nd_array *whole;
    int64_t size = a->axes[axis].count;
    bool good = !one || array_times(vm, size, *times, &total);
    for (int64_t i = 0; good && !one && i < size; i++)
        good = array_larger(vm, total, times[i], &total);
    if (!good) return DVX_FAILED;
    array_shape(a, shape);
    shape[axis] = total;
    dvx_value made = array_new(vm, a->dtype, a->ndim, shape, &whole);
    if (dvx_failed(made) || whole->size == 0) return made;
    if (a->flags & ND_C_CONTIGUOUS) {
        int64_t outer = 1;
        for (int i = 0; i < axis; i++) outer *= shape[i];
        const int64_t block = a->size / outer / size * a->dtype->size;
        if (repeat_blocks(vm, whole->data, a->data, outer, size, (size_t)block, times, one))
            return made;
        vm->api->release(vm, made);
        return DVX_FAILED;
    }
    dvx_axis to_axes[ND_MOST], from_axes[ND_MOST];
    memcpy(to_axes, whole->axes, (size_t)a->ndim * sizeof *to_axes);
    memcpy(from_axes, a->axes, (size_t)a->ndim * sizeof *from_axes);
    nd_array to = {.data = whole->data, .dtype = a->dtype, .axes = to_axes, .ndim = a->ndim};
    nd_array from = {.data = a->data, .dtype = a->dtype, .axes = from_axes, .ndim = a->ndim};
    from_axes[axis].stride = 0;
    for (int64_t i = 0; i < size; i++, from.data += a->axes[axis].stride) {
        to_axes[axis].count = from_axes[axis].count = one ? *times : times[i];
        if (to_axes[axis].count == 0) continue;
        array_update(&to);
        if (!array_pour(vm, &to, &from)) {
            vm->api->release(vm, made);
            return DVX_FAILED;
        }
        to.data += to_axes[axis].count * to_axes[axis].stride;
    }
    return made;
}

static bool check_times(dvx_vm *vm, const nd_array *times, int64_t size) {
    const int64_t *n = (const int64_t *)(const void *)times->data;
    if (times->ndim > 1) return nd_fail(vm, DVX_VALUE_ERROR, "object too deep for desired array");
    if (times->size != 1 && times->size != size)
        return nd_fail(vm, DVX_VALUE_ERROR,
                       "operands could not be broadcast together with shape (%lld,) (%lld,)",
                       (long long)size, (long long)times->size);
    for (int64_t i = 0; i < times->size; i++)
        if (n[i] < 0)
            return nd_fail(vm, DVX_VALUE_ERROR, "%s",
                           times->size == 1 ? "negative dimensions are not allowed"
                                            : "repeats may not contain negative values.");
    return true;
}

/* repeat(a, repeats, axis=None) */
static dvx_value repeat_array(dvx_vm *vm, dvx_value array, dvx_value repeats, dvx_value axis_) {
    nd_array *times;
    int axis = 0;
    dvx_value made = DVX_FAILED, row = DVX_FAILED, flat;
    if (nd_is_given(vm, axis_)) {
        flat = shape_at_least(vm, array, 1);
        if (dvx_failed(flat)) return flat;
        if (!nd_axis_no_bool(vm, axis_, array_of(vm, flat)->ndim, &axis))
            return vm->api->release(vm, flat), made;
    } else {
        flat = shape_ravel(vm, array);
    }
    if (!dvx_failed(flat)) row = array_row(vm, repeats, NULL, &times);
    if (!dvx_failed(row)) {
        dvx_value ints = array_row(vm, row, ND_DTYPE(ND_INT64), &times);
        const nd_array *a = array_of(vm, flat);
        if (!dvx_failed(ints) && check_times(vm, times, a->axes[axis].count))
            made = repeat_slices(vm, a, axis, (const int64_t *)(const void *)times->data,
                                 times->size == 1);
        vm->api->release(vm, ints);
    }
    vm->api->release(vm, row);
    vm->api->release(vm, flat);
    return made;
}
static dvx_value repeat(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    (void)count;
    dvx_value array = array_operand(vm, args[0], NULL, &a);
    if (dvx_failed(array)) return array;
    dvx_value made = repeat_array(vm, array, args[1], args[2]);
    vm->api->release(vm, array);
    return made;
}
ND_PARAMETERS(of_repeats, 1, "repeats", "axis");
ND_METHOD(repeat, ND_NAMED("repeat", repeat, of_repeats));

ND_PARAMETERS(of_concatenate, 1, ".arrays", "axis", "out", "dtype");
ND_PARAMETERS(of_stack, 1, "arrays", "axis", "out");
ND_PARAMETERS(of_repeat, 2, "a", "repeats", "axis");

static const dvx_function functions[] = {
    ND_NAMED("concatenate", concatenate, of_concatenate),
    ND_NAMED("stack", stack, of_stack),
    ND_NAMED("repeat", repeat, of_repeat),
};

bool join_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
