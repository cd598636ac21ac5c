/* lookup.c: unravel_index, ravel_multi_index, broadcast_arrays, broadcast_shapes, divmod
 * (lookup.h). */
#include "functions/lookup.h"

#include <string.h>

#include "array/compose.h"
#include "array/methods.h"
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

static const dvx_function functions[] = {
    ND_NAMED("unravel_index", unravel_index, of_unravel),
    ND_NAMED("ravel_multi_index", ravel_multi_index, of_ravel_multi),
    ND_PLAIN("broadcast_arrays", broadcast_arrays, 0, ND_ANY),
    ND_PLAIN("broadcast_shapes", broadcast_shapes, 0, ND_ANY),
    ND_PLAIN("divmod", divmod_, 2, 2),
};

bool lookup_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
