/* lookup.c: unravel_index, ravel_multi_index, lexsort, broadcast_arrays, broadcast_shapes,
 * rollaxis, apply_along_axis, divmod (lookup.h). */
#include "functions/lookup.h"

#include <string.h>

#include "functions/arrange.h"
#include "array/compose.h"
#include "array/convert.h"
#include "array/create.h"
#include "array/methods.h"
#include "sort/order.h"
#include "index/pick.h"
#include "array/shape.h"
#include "ufunc/ufunc.h"

static int64_t *ints(const nd_array *a) { return (int64_t *)(void *)a->data; }

/* Items of a sequence as arrays of int64 in C order, or (`dtype` NULL) as they are. */
typedef struct arrays {
    int count;
    dvx_value values[ND_MOST];
} arrays;

static void drop(dvx_vm *vm, arrays *list) {
    for (int i = 0; i < list->count; i++) vm->api->release(vm, list->values[i]);
    list->count = 0;
}

static bool read_order(dvx_vm *vm, dvx_value v, bool *fortran) {
    char word[32] = "C";
    if (nd_is_given(vm, v)) nd_word(vm, v, word);
    *fortran = !strcmp(word, "F");
    return *fortran || !strcmp(word, "C") ||
           nd_fail(vm, DVX_VALUE_ERROR, "only 'C' or 'F' order is permitted");
}

/* The product of counts, or ValueError. */
static bool total(dvx_vm *vm, const int64_t *shape, int ndim, const char *error, int64_t *out) {
    return array_count(ndim, shape, out) || nd_fail(vm, DVX_VALUE_ERROR, "%s", error);
}

/* ---- Numbers of elements ---- */

/* An array of int64 of int indices: TypeError. */
static dvx_value read_indices(dvx_vm *vm, dvx_value v, nd_array **out) {
    nd_array *a;
    dvx_value held = array_operand(vm, v, NULL, &a);
    if (dvx_failed(held)) return held;
    if (!dtype_is_integer(a->dtype) || a->dtype->kind == 'b') {
        const bool empty = !a->size && !array_of(vm, v);
        vm->api->release(vm, held);
        return nd_raise(vm, DVX_TYPE_ERROR,
                        empty ? "indices must be integral: the provided empty sequence was "
                                "inferred as float. Wrap it with 'np.array(indices, dtype=np.intp)'"
                              : "only int indices permitted");
    }
    return compose_first(vm, array_row(vm, held, ND_DTYPE(ND_INT64), out), held);
}

/* indices, shape, order */
static dvx_value unravel_index(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    int ndim;
    bool fortran;
    int64_t shape[ND_MOST], own[ND_MOST], size;
    nd_array *which, *parts[ND_MOST];
    dvx_value made[ND_MOST], result = DVX_FAILED;
    (void)count;
    if (!array_read_shape(vm, args[1], &ndim, shape) || !read_order(vm, args[2], &fortran) ||
        !total(vm, shape, ndim,
               "dimensions are too large; arrays and shapes with a total size "
               "greater than 'intp' are not supported.",
               &size))
        return DVX_FAILED;
    dvx_value held = read_indices(vm, args[0], &which);
    if (dvx_failed(held)) return held;
    int done = 0;
    array_shape(which, own);
    bool good = true;
    if (!ndim && which->size != 1)
        good = nd_fail(vm, DVX_VALUE_ERROR, "multiple indices are not supported for 0d arrays");
    for (int64_t n = 0; good && n < which->size; n++)
        if (ints(which)[n] < 0 || ints(which)[n] >= size)
            good =
                nd_fail(vm, DVX_VALUE_ERROR, "index %lld is out of bounds for array with size %lld",
                        (long long)ints(which)[n], (long long)size);
    for (; good && done < ndim; done++) {
        made[done] = array_new(vm, ND_DTYPE(ND_INT64), which->ndim, own, &parts[done]);
        good = !dvx_failed(made[done]);
    }
    for (int64_t n = 0; good && n < which->size; n++) {
        uint64_t left = (uint64_t)ints(which)[n];
        for (int i = 0; i < ndim; i++) {
            const int axis = fortran ? i : ndim - 1 - i;
            const uint64_t size_here = (uint64_t)shape[axis];
            uint64_t place = left;
            /* (Nothing is left behind the last one; short divisions take half the time.) */
            if (i + 1 == ndim)
                left = 0;
            else if ((left | size_here) >> 32)
                left /= size_here;
            else
                left = (uint32_t)left / (uint32_t)size_here;
            ints(parts[axis])[n] = (int64_t)(place - left * size_here);
        }
    }
    good = good && nd_work(vm, 4 * ndim * which->size);
    if (good)
        for (int i = 0; i < done; i++) made[i] = array_result(vm, made[i]);
    if (good) result = vm->api->make_tuple(vm, made, (size_t)done);
    for (int i = 0; i < done; i++) vm->api->release(vm, made[i]);
    vm->api->release(vm, held);
    return result;
}

typedef enum index_mode { MODE_RAISE, MODE_WRAP, MODE_CLIP } index_mode;
static bool read_mode(dvx_vm *vm, dvx_value v, index_mode *mode) {
    char word[32] = "raise";
    if (!dvx_failed(v)) nd_word(vm, v, word);
    *mode = !strcmp(word, "wrap") ? MODE_WRAP : !strcmp(word, "clip") ? MODE_CLIP : MODE_RAISE;
    return *mode != MODE_RAISE || !strcmp(word, "raise") ||
           nd_fail(vm, DVX_VALUE_ERROR,
                   "clipmode must be one of 'clip', 'raise', or 'wrap' (got '%s')", word);
}

/* Of each axis, or one for all. */
static bool read_modes(dvx_vm *vm, dvx_value v, int ndim, index_mode *modes) {
    const bool many = !dvx_failed(v) && vm->api->kind(vm, v) == DVX_TUPLE;
    if (many && vm->api->length(vm, v) != ndim)
        return nd_fail(vm, DVX_TYPE_ERROR, "expected sequence of length %d for the modes, got %lld",
                       ndim, (long long)vm->api->length(vm, v));
    for (int i = 0; i < ndim; i++) {
        dvx_value one = many ? vm->api->get_item(vm, v, vm->api->make_int(vm, i)) : DVX_FAILED;
        const bool good = (!many || !dvx_failed(one)) && read_mode(vm, many ? one : v, &modes[i]);
        vm->api->release(vm, one);
        if (!good) return false;
    }
    return true;
}

static bool add_axis(int64_t *to, const nd_array *which, int64_t size, int64_t n, index_mode mode) {
    for (int64_t k = 0; k < n; k++) {
        int64_t i = ints(which)[which->size == 1 ? 0 : k];
        if (i < 0 || i >= size) {
            if (mode == MODE_RAISE || size <= 0) return false;
            if (mode == MODE_CLIP)
                i = i < 0 ? 0 : size - 1;
            else if ((i %= size) < 0)
                i += size;
        }
        to[k] = (int64_t)((uint64_t)to[k] * (uint64_t)size + (uint64_t)i);
    }
    return true;
}

/* multi_index, dims, mode, order */
static dvx_value ravel_multi_index(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    int ndim, whole_ndim;
    bool fortran, good = true;
    int64_t dims[ND_MOST], shape[ND_MOST], size;
    index_mode modes[ND_MOST];
    arrays list = {0};
    nd_array *parts[ND_MOST], *out;
    dvx_value made = DVX_FAILED;
    (void)count;
    if (!array_read_shape(vm, args[1], &ndim, dims) || !read_order(vm, args[3], &fortran) ||
        !read_modes(vm, args[2], ndim, modes) ||
        !total(vm, dims, ndim,
               "invalid dims: array size defined by dims is larger than the "
               "maximum possible size.",
               &size))
        return DVX_FAILED;
    const int64_t given = vm->api->length(vm, args[0]);
    if (given < 0) return DVX_FAILED;
    if (given != ndim)
        return nd_raise(vm, DVX_VALUE_ERROR,
                        "parameter multi_index must be a sequence of length %d", ndim);
    for (int i = 0; good && i < ndim; i++) {
        dvx_value item = vm->api->get_item(vm, args[0], vm->api->make_int(vm, i));
        dvx_value row = dvx_failed(item) ? item : read_indices(vm, item, &parts[i]);
        vm->api->release(vm, item);
        good = !dvx_failed(row);
        if (good) list.values[list.count++] = row;
    }
    good = good && array_broadcast(vm, parts, ndim, &whole_ndim, shape);
    for (int i = 0; good && i < ndim; i++) {
        if (parts[i]->size == 1 || parts[i]->ndim == whole_ndim) {
            int64_t n = 1;
            for (int k = 0; k < whole_ndim; k++) n *= shape[k];
            if (parts[i]->size == 1 || parts[i]->size == n) continue;
        }
        dvx_value wide = array_new(vm, ND_DTYPE(ND_INT64), whole_ndim, shape, &out);
        good = !dvx_failed(wide);
        if (!good) break;
        good = !out->size || array_pour(vm, out, parts[i]);
        vm->api->release(vm, list.values[i]);
        list.values[i] = wide;
        parts[i] = out;
    }
    if (good) made = array_new(vm, ND_DTYPE(ND_INT64), whole_ndim, shape, &out);
    if (!dvx_failed(made)) {
        if (out->size) memset(out->data, 0, (size_t)out->size * sizeof(int64_t));
        const bool empty = size == 0 && out->size;
        good = !empty ||
               nd_fail(vm, DVX_VALUE_ERROR, "cannot unravel if shape has zero entries (is empty).");
        for (int i = 0; good && i < ndim; i++) {
            const int axis = fortran ? ndim - 1 - i : i;
            good = add_axis(ints(out), parts[axis], dims[axis], out->size, modes[axis]);
        }
        if (!good) {
            made = compose_first(vm, DVX_FAILED, made);
            if (!empty) nd_fail(vm, DVX_VALUE_ERROR, "invalid entry in coordinates array");
        }
    }
    drop(vm, &list);
    return dvx_failed(made) ? made : array_result(vm, made);
}

/* ---- lexsort ---- */

/* Sorts the places of a line of elements, of size bytes, by what they are. */
static bool sort_by(dvx_vm *vm, const nd_dtype *dtype, const char *line, int64_t n, int64_t *places,
                    char *row, int64_t *order) {
    const size_t size = dtype->size;
    for (int64_t i = 0; i < n; i++)
        memcpy(row + (size_t)i * size, line + (size_t)places[i] * size, size);
    if (!order_places(vm, dtype, row, order, n)) return false;
    for (int64_t i = 0; i < n; i++) order[i] = places[order[i]];
    memcpy(places, order, (size_t)n * sizeof *places);
    return true;
}

static dvx_value sort_all(dvx_vm *vm, const arrays *lines, int64_t n) {
    nd_array *first = array_of(vm, lines->values[0]), *out;
    int64_t shape[ND_MOST], *order;
    const size_t room = (size_t)(n ? n : 1) * sizeof(nd_complex);
    array_shape(first, shape);
    dvx_value made = array_new(vm, ND_DTYPE(ND_INT64), first->ndim, shape, &out);
    if (dvx_failed(made)) return made;
    char *row = vm->api->allocate(vm, room);
    order = row ? vm->api->allocate(vm, room) : NULL;
    bool good = order != NULL;
    for (int64_t done = 0; good && n && done < first->size; done += n) {
        int64_t *places = ints(out) + done;
        for (int64_t i = 0; i < n; i++) places[i] = i;
        for (int k = 0; good && k < lines->count; k++) {
            const nd_array *a = array_of(vm, lines->values[k]);
            good = sort_by(vm, a->dtype, a->data + done * a->dtype->size, n, places, row, order);
        }
    }
    vm->api->deallocate(vm, order, room);
    vm->api->deallocate(vm, row, room);
    return good ? made : compose_first(vm, DVX_FAILED, made);
}

/* keys, axis */
static dvx_value lexsort(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    arrays lines = {0};
    nd_array *a, *b;
    int axis = 0;
    int64_t along = -1;
    dvx_value result = DVX_FAILED;
    (void)count;
    const bool numbers = convert_kind(vm, args[0]) != NULL;
    const int64_t given = numbers ? 0 : vm->api->length(vm, args[0]);
    if (given < 0) return DVX_FAILED;
    if (!given)
        return nd_raise(vm, DVX_TYPE_ERROR, "need sequence of keys with len > 0 in lexsort");
    if (given > ND_MOST)
        return nd_raise(vm, DVX_TYPE_ERROR, "lexsort by more than 32 keys is not part of ndarray");
    if (!dvx_failed(args[1]) && !nd_read_index(vm, args[1], &along)) return DVX_FAILED;
    arrays keys = {0};
    bool good = true;
    for (int i = 0; good && i < given; i++) {
        dvx_value item = vm->api->get_item(vm, args[0], vm->api->make_int(vm, i));
        dvx_value key = dvx_failed(item) ? item : array_operand(vm, item, NULL, &a);
        vm->api->release(vm, item);
        good = !dvx_failed(key);
        if (!good) break;
        keys.values[keys.count++] = key;
        b = array_of(vm, keys.values[0]);
        if (!array_same_shape(a, b))
            good = nd_fail(vm, DVX_VALUE_ERROR, "all keys need to be the same shape");
    }
    if (good) {
        b = array_of(vm, keys.values[0]);
        if (!b->ndim) {
            good = along == 0 || along == -1 || nd_axis(vm, along, 0, &axis);
            if (good) result = vm->api->make_int(vm, 0);
            good = false;
        } else {
            good = nd_axis(vm, along, b->ndim, &axis);
        }
    }
    int of;
    for (int i = 0; good && i < keys.count; i++) {
        dvx_value line = order_lines(vm, keys.values[i], vm->api->make_int(vm, axis), &of, &a);
        good = !dvx_failed(line);
        if (good) lines.values[lines.count++] = line;
    }
    if (good) {
        a = array_of(vm, lines.values[0]);
        result = sort_all(vm, &lines, a->axes[a->ndim - 1].count);
        if (!dvx_failed(result)) result = order_turned_back(vm, result, axis);
    }
    drop(vm, &lines);
    drop(vm, &keys);
    return result;
}

/* ---- Broadcasting ---- */

static dvx_value broadcast_arrays(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    arrays list = {0};
    int ndim;
    int64_t shape[ND_MOST];
    nd_array *a, *view;
    dvx_value made = DVX_FAILED;
    bool good = count <= ND_MOST || nd_fail(vm, DVX_TYPE_ERROR,
                                            "broadcasting of more than 32 arrays is not part of "
                                            "ndarray");
    for (uint32_t i = 0; good && i < count; i++) {
        dvx_value array = array_operand(vm, args[i], NULL, &a);
        good = !dvx_failed(array);
        if (good) list.values[list.count++] = array;
    }
    good = good && pick_broadcast(vm, list.values, list.count, &ndim, shape);
    for (int i = 0; good && i < list.count; i++) {
        int64_t strides[ND_MOST];
        dvx_axis axes[ND_MOST];
        a = array_of(vm, list.values[i]);
        array_strides_in(a, ndim, strides);
        for (int k = 0; k < ndim; k++) axes[k] = (dvx_axis){shape[k], strides[k]};
        dvx_value wide = array_view(vm, list.values[i], a, a->data, ndim, axes, &view);
        vm->api->release(vm, list.values[i]);
        list.values[i] = wide;
        good = !dvx_failed(wide);
        if (!good) list.values[i] = nd_none(vm);
    }
    if (good) made = vm->api->make_list(vm, list.values, (size_t)list.count);
    drop(vm, &list);
    return made;
}

static dvx_value broadcast_shapes(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    arrays list = {0};
    int ndim = 0;
    int64_t shape[ND_MOST];
    bool good = count <= ND_MOST || nd_fail(vm, DVX_TYPE_ERROR,
                                            "broadcasting of more than 32 shapes is not part of "
                                            "ndarray");
    for (uint32_t i = 0; good && i < count; i++) {
        nd_array *one, *view;
        dvx_axis axes[ND_MOST];
        const int64_t none = 1;
        good = array_read_shape(vm, args[i], &ndim, shape);
        for (int k = 0; good && k < ndim; k++)
            if (shape[k] < 0)
                good = nd_fail(vm, DVX_VALUE_ERROR, "negative dimensions are not allowed");
        dvx_value made = good ? array_new(vm, ND_DTYPE(ND_BOOL), 1, &none, &one) : DVX_FAILED;
        for (int k = 0; good && k < ndim; k++) axes[k] = (dvx_axis){shape[k], 0};
        if (!dvx_failed(made))
            made = compose_first(vm, array_view(vm, made, one, one->data, ndim, axes, &view), made);
        good = !dvx_failed(made);
        if (good) list.values[list.count++] = made;
    }
    good = good && pick_broadcast(vm, list.values, list.count, &ndim, shape);
    drop(vm, &list);
    return good ? array_ints(vm, shape, ndim) : DVX_FAILED;
}

/* a, axis, start */
static dvx_value rollaxis(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    int axis, order[ND_MOST], used = 0;
    int64_t start = 0;
    (void)count;
    dvx_value array = array_operand(vm, args[0], NULL, &a), made = DVX_FAILED;
    if (dvx_failed(array)) return array;
    const int n = a->ndim;
    bool good = nd_axis_of(vm, args[1], n, &axis) &&
                (dvx_failed(args[2]) || nd_read_index(vm, args[2], &start));
    if (good && start < 0) start += n;
    if (good && (start < 0 || start > n)) {
        vm->api->raise_format(vm, nd_state_of(vm)->axis_error,
                              "'start' arg requires %d <= start < %d, but %lld was passed in", -n,
                              n + 1, (long long)(start < 0 ? start - n + n : start));
        good = false;
    }
    if (good) {
        int64_t to = axis < start ? start - 1 : start;
        for (int i = 0, k = 0; i < n; i++) {
            if (i == to) {
                order[used++] = axis;
                continue;
            }
            if (k == axis) k++;
            order[used++] = k++;
        }
        made = shape_permute(vm, array, order);
    }
    vm->api->release(vm, array);
    return made;
}

/* ---- apply_along_axis ---- */

enum { EXTRA = 8 }; /* arguments behind the line */

/* The function's result for the line at `data`, as an array. */
static dvx_value apply(dvx_vm *vm, const dvx_value *args, dvx_value array, const nd_array *a,
                       char *data, dvx_axis line) {
    dvx_value given[1 + EXTRA];
    nd_array *view;
    uint32_t used = 1;
    enum { STEPS = 1000 }; /* of a call */
    if (!nd_work(vm, STEPS)) return DVX_FAILED;
    given[0] = array_view(vm, array, a, data, 1, &line, &view);
    if (dvx_failed(given[0])) return DVX_FAILED;
    while (used <= EXTRA && !dvx_failed(args[2 + used])) {
        given[used] = args[2 + used];
        used++;
    }
    dvx_value made = vm->api->call(vm, args[0], given, used);
    vm->api->release(vm, given[0]);
    return compose_array(vm, made, NULL);
}

/* The results, one behind the other, with the axes of each last. */
static dvx_value apply_all(dvx_vm *vm, const dvx_value *args, dvx_value array, const nd_array *a,
                           int axis, nd_array **out, int *own) {
    int64_t index[ND_MOST] = {0}, shape[ND_MOST];
    int others[ND_MOST], ndim = 0;
    const dvx_axis line = a->axes[axis];
    int64_t left = 1;
    for (int i = 0; i < a->ndim; i++)
        if (i != axis) others[ndim++] = i;
    for (int i = 0; i < ndim; i++) left *= shape[i] = a->axes[others[i]].count;
    if (!left)
        return nd_raise(vm, DVX_VALUE_ERROR,
                        "Cannot apply_along_axis when any iteration dimensions are 0");
    dvx_value made = DVX_FAILED;
    for (int64_t done = 0; done < left; done++) {
        char *data = a->data;
        for (int i = 0; i < ndim; i++) data += index[i] * a->axes[others[i]].stride;
        dvx_value one = apply(vm, args, array, a, data, line);
        if (dvx_failed(one)) return compose_first(vm, one, made);
        const nd_array *result = array_of(vm, one);
        bool good = true;
        if (!done) {
            *own = result->ndim;
            if (ndim + *own > ND_MOST)
                good = nd_fail(vm, DVX_VALUE_ERROR,
                               "maximum supported dimension for an ndarray is 32, found %d",
                               ndim + *own);
            for (int i = 0; good && i < *own; i++) shape[ndim + i] = result->axes[i].count;
            if (good) made = create_zeros(vm, result->dtype, ndim + *own, shape, out);
            good = !dvx_failed(made);
        }
        if (good) {
            nd_array part = {.dtype = (*out)->dtype, .ndim = *own, .axes = (*out)->axes + ndim};
            part.data = (*out)->data;
            for (int i = 0; i < ndim; i++) part.data += index[i] * (*out)->axes[i].stride;
            array_update(&part);
            good = array_assign(vm, &part, result);
        }
        vm->api->release(vm, one);
        if (!good) return compose_first(vm, DVX_FAILED, made);
        for (int i = ndim; i-- > 0;) {
            if (++index[i] < shape[i]) break;
            index[i] = 0;
        }
    }
    return made;
}

/* func1d, axis, arr, and what the function gets behind the line */
static dvx_value apply_along_axis(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a, *out = NULL, *view;
    int axis, own = 0, order[ND_MOST], used = 0;
    (void)count;
    dvx_value array = array_operand(vm, args[2], NULL, &a), made = DVX_FAILED;
    if (dvx_failed(array)) return array;
    /* (A view of its own, whose shape the function cannot set.) */
    array = compose_first(vm, array_view(vm, array, a, a->data, a->ndim, a->axes, &view), array);
    if (dvx_failed(array)) return array;
    a = view;
    if (nd_axis_of(vm, args[1], a->ndim, &axis)) {
        dvx_value moved[3 + EXTRA] = {args[0], array, array};
        memcpy(moved + 3, args + 3, EXTRA * sizeof *moved);
        made = apply_all(vm, moved, array, a, axis, &out, &own);
    }
    vm->api->release(vm, array);
    if (dvx_failed(made)) return made;
    const int ndim = out->ndim;
    for (int i = 0; i < axis; i++) order[used++] = i;
    for (int i = ndim - own; i < ndim; i++) order[used++] = i;
    for (int i = axis; i < ndim - own; i++) order[used++] = i;
    return compose_permuted(vm, made, order);
}

/* ---- divmod ---- */

static dvx_value divmod_(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    dvx_value quotient = ufunc_call(vm, ND_UFUNC_floor_divide, args, DVX_FAILED, NULL);
    if (dvx_failed(quotient)) return quotient;
    return compose_pair(vm, quotient, ufunc_call(vm, ND_UFUNC_remainder, args, DVX_FAILED, NULL));
}

/* ---- Tables ---- */

ND_PARAMETERS(of_unravel, 2, "indices", "shape", "order");
ND_PARAMETERS(of_ravel_multi, 2, "multi_index", "dims", "mode", "order");
ND_PARAMETERS(of_lexsort, 1, "keys", "axis");
ND_PARAMETERS(of_rollaxis, 2, "a", "axis", "start");
ND_PARAMETERS(of_apply, 3, "func1d", "axis", "arr", ".0", ".1", ".2", ".3", ".4", ".5", ".6", ".7");

static const dvx_function functions[] = {
    ND_NAMED("unravel_index", unravel_index, of_unravel),
    ND_NAMED("ravel_multi_index", ravel_multi_index, of_ravel_multi),
    ND_NAMED("lexsort", lexsort, of_lexsort),
    ND_PLAIN("broadcast_arrays", broadcast_arrays, 0, ND_ANY),
    ND_PLAIN("broadcast_shapes", broadcast_shapes, 0, ND_ANY),
    ND_NAMED("rollaxis", rollaxis, of_rollaxis),
    ND_NAMED("apply_along_axis", apply_along_axis, of_apply),
    ND_PLAIN("divmod", divmod_, 2, 2),
};

bool lookup_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
