/* shape.c: other axes for the same elements (shape.h). */
#include "array/shape.h"

#include <stdio.h>

#include "array/create.h"
#include "array/methods.h"

/* ---- reshape ---- */

/* The shape in an error: what is to be found out is a newaxis there. */
static const char *wanted_text(int ndim, const int64_t *shape, char *to) {
    int first = 0;
    while (first < ndim && shape[first] < 0) first++;
    char *at = to + sprintf(to, "(");
    for (int i = first; i < ndim; i++) {
        if (i > first) *at++ = ',';
        at += shape[i] < 0 ? sprintf(at, "newaxis") : sprintf(at, "%lld", (long long)shape[i]);
    }
    strcpy(at, ndim == 1 && first == 0 ? ",)" : ")");
    return to;
}

/* Finds the count that is -1. */
static bool complete(dvx_vm *vm, const nd_array *a, int ndim, const int64_t *wanted,
                     int64_t *shape) {
    char text[ND_SHAPE_TEXT];
    int64_t product = 1;
    int unknown = -1;
    bool large = false;
    for (int i = 0; i < ndim; i++) {
        shape[i] = wanted[i];
        if (wanted[i] >= 0) {
            large |= __builtin_mul_overflow(product, wanted[i], &product);
        } else if (unknown >= 0) {
            return nd_fail(vm, DVX_VALUE_ERROR, "can only specify one unknown dimension");
        } else {
            unknown = i;
        }
    }
    bool good = !large;
    if (good && unknown >= 0) {
        good = product != 0 && a->size % product == 0;
        if (good) shape[unknown] = a->size / product;
    } else if (good) {
        good = product == a->size;
    }
    return good || nd_fail(vm, DVX_VALUE_ERROR, "cannot reshape array of size %lld into shape %s",
                           (long long)a->size, wanted_text(ndim, wanted, text));
}

/* The strides with which the same elements have another shape; false: they must be copied. */
static bool find_strides(const nd_array *a, int ndim, const int64_t *shape, dvx_axis *out) {
    dvx_axis old[ND_MOST];
    int olds = 0;
    for (int i = 0; i < a->ndim; i++)
        if (a->axes[i].count != 1) old[olds++] = a->axes[i];
    int i = 0, j = 1, k = 0, l = 1; /* old[i..j) has as many elements as shape[k..l) */
    while (k < ndim && i < olds) {
        int64_t have = old[i].count, want = shape[k];
        while (have != want) {
            if (want < have)
                want *= shape[l++];
            else
                have *= old[j++].count;
        }
        for (int n = i; n + 1 < j; n++)
            if (old[n].stride != old[n + 1].count * old[n + 1].stride) return false;
        int64_t stride = old[j - 1].stride;
        for (int n = l; n-- > k;) {
            out[n] = (dvx_axis){shape[n], stride};
            stride *= shape[n];
        }
        i = j++;
        k = l++;
    }
    /* Axes of one element that are left over. */
    int64_t last = k > 0 ? out[k - 1].stride : a->dtype->size;
    for (; k < ndim; k++) out[k] = (dvx_axis){shape[k], last};
    return true;
}

dvx_value shape_reshape(dvx_vm *vm, dvx_value array, int ndim, const int64_t *wanted) {
    int64_t shape[ND_MOST];
    dvx_axis axes[ND_MOST];
    nd_array *made;
    const nd_array *a = array_of(vm, array);
    if (!complete(vm, a, ndim, wanted, shape)) return DVX_FAILED;
    if (a->size == 0) {
        int64_t stride = a->dtype->size;
        size_t bytes;
        if (!array_measure(vm, a->dtype, ndim, shape, &bytes)) return DVX_FAILED;
        for (int i = ndim; i-- > 0;) {
            axes[i] = (dvx_axis){shape[i], stride};
            if (shape[i]) stride *= shape[i];
        }
        return array_view(vm, array, a, a->data, ndim, axes, &made);
    }
    if (find_strides(a, ndim, shape, axes))
        return array_view(vm, array, a, a->data, ndim, axes, &made);
    dvx_value copy = array_copy(vm, a, a->dtype, 'C');
    if (dvx_failed(copy)) return copy;
    dvx_value view = shape_reshape(vm, copy, ndim, shape);
    vm->api->release(vm, copy);
    return view;
}

dvx_value shape_permute(dvx_vm *vm, dvx_value array, const int *order) {
    dvx_axis axes[ND_MOST];
    nd_array *view;
    const nd_array *a = array_of(vm, array);
    for (int i = 0; i < a->ndim; i++) axes[i] = a->axes[order[i]];
    return array_view(vm, array, a, a->data, a->ndim, axes, &view);
}

static dvx_value reversed(dvx_vm *vm, dvx_value array) {
    int order[ND_MOST];
    const nd_array *a = array_of(vm, array);
    for (int i = 0; i < a->ndim; i++) order[i] = a->ndim - 1 - i;
    return shape_permute(vm, array, order);
}

/* Fortran's order is C's of the transposed array. */
static dvx_value reshape_fortran(dvx_vm *vm, dvx_value array, int ndim, const int64_t *shape) {
    int64_t turned[ND_MOST], full[ND_MOST];
    if (!complete(vm, array_of(vm, array), ndim, shape, full)) return DVX_FAILED;
    for (int i = 0; i < ndim; i++) turned[i] = full[ndim - 1 - i];
    dvx_value t = reversed(vm, array);
    dvx_value made = dvx_failed(t) ? t : shape_reshape(vm, t, ndim, turned);
    dvx_value result = dvx_failed(made) ? made : reversed(vm, made);
    vm->api->release(vm, t);
    vm->api->release(vm, made);
    return result;
}

static dvx_value reshape_in(dvx_vm *vm, dvx_value array, int ndim, const int64_t *shape,
                            char order) {
    const nd_array *a = array_of(vm, array);
    bool fortran = order == 'F' ||
                   (order == 'A' && a->flags & ND_F_CONTIGUOUS && !(a->flags & ND_C_CONTIGUOUS));
    return fortran ? reshape_fortran(vm, array, ndim, shape)
                   : shape_reshape(vm, array, ndim, shape);
}

/* reshape(shape, order='C'), reshape(n, m, ..., order='C') */
static dvx_value reshape(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    int64_t shape[ND_MOST];
    char order;
    int ndim = 0;
    uint32_t given = 1;
    while (given < count - 1 && !dvx_failed(args[given])) given++;
    if (!create_order(vm, args[count - 1], 'C', &order)) return DVX_FAILED;
    if (given == 2) {
        if (!array_read_shape(vm, args[1], &ndim, shape)) return DVX_FAILED;
    } else {
        for (uint32_t i = 1; i < given; i++)
            if (!nd_read_int_no_bool(vm, args[i], &shape[ndim++])) return DVX_FAILED;
    }
    return reshape_in(vm, args[0], ndim, shape, order);
}
static const char *const reshape_names[] = {"shape", ".1", ".2",  ".3",  ".4",  ".5",  ".6",   ".7",
                                            ".8",    ".9", ".10", ".11", ".12", ".13", "order"};
static const dvx_parameters of_reshape = {sizeof(dvx_parameters), reshape_names,
                                          LENGTH_OF(reshape_names), LENGTH_OF(reshape_names) - 1,
                                          0};
ND_METHOD(reshape, ND_NAMED("reshape", reshape, of_reshape));

static dvx_value get_shape(dvx_vm *vm, dvx_value self) {
    const nd_array *a = array_self(vm, self);
    int64_t shape[ND_MOST];
    array_shape(a, shape);
    return array_ints(vm, shape, a->ndim);
}

/* a.shape = ...: without a copy. */
static bool set_shape(dvx_vm *vm, dvx_value self, dvx_value value) {
    int64_t wanted[ND_MOST], shape[ND_MOST];
    dvx_axis axes[ND_MOST], *block = NULL;
    int ndim;
    nd_array *a = array_self(vm, self);
    if (dvx_failed(value)) return nd_fail(vm, DVX_ATTRIBUTE_ERROR, "Cannot delete array shape");
    if (!array_read_shape(vm, value, &ndim, wanted) || !complete(vm, a, ndim, wanted, shape))
        return false;
    if (a->exports || nd_state_of(vm)->busy || array_is_scalar(vm, self))
        return nd_fail(vm, DVX_BUFFER_ERROR, "the array is in use");
    size_t bytes;
    if (!array_measure(vm, a->dtype, ndim, shape, &bytes)) return false;
    if (a->size == 0)
        for (int i = 0; i < ndim; i++) axes[i] = (dvx_axis){shape[i], 0};
    else if (!find_strides(a, ndim, shape, axes))
        return nd_fail(vm, DVX_ATTRIBUTE_ERROR,
                       "Incompatible shape for in-place modification. Use `.reshape()` to make a "
                       "copy with the desired shape.");
    if (ndim > ND_FEW && !(block = vm->api->allocate(vm, (size_t)ndim * sizeof *block)))
        return false;
    if (a->axes != a->few) vm->api->deallocate(vm, a->axes, (size_t)a->ndim * sizeof *a->axes);
    a->axes = block ? block : a->few;
    a->ndim = ndim;
    memcpy(a->axes, axes, (size_t)ndim * sizeof *axes);
    array_update(a);
    return true;
}
ND_ATTRIBUTE(shape, get_shape, set_shape);

/* ---- resize ---- */

/* `a` becomes what `fresh` is, whose elements are as many as are wanted, and `fresh` what `a` was.
 */
static void exchange(nd_array *a, nd_array *fresh) {
    const nd_array old = *a;
    const bool few = old.axes == a->few;
    a->memory = fresh->memory;
    a->memory_size = fresh->memory_size;
    a->data = fresh->memory ? fresh->data : a->inline_data;
    if (!fresh->memory) memcpy(a->inline_data, fresh->inline_data, ND_INLINE);
    memcpy(a->few, fresh->few, sizeof a->few);
    a->axes = fresh->axes == fresh->few ? a->few : fresh->axes;
    a->ndim = fresh->ndim;
    fresh->memory = old.memory;
    fresh->memory_size = old.memory_size;
    fresh->data = old.memory ? old.data : fresh->inline_data;
    fresh->axes = few ? fresh->few : old.axes;
    fresh->ndim = old.ndim;
    fresh->base = old.base;
    fresh->flags = old.flags;
    a->flags &= ~(uint32_t)ND_RESIZED;
    array_update(a);
}

/* Views may look at the memory that was `of`'s, where others have it, too: it lasts as long as `of`
 * does. */
static void retire(dvx_vm *vm, dvx_value of, nd_array *a, dvx_value old) {
    if (vm->api->is_unique(vm, of)) {
        vm->api->release(vm, old);
        return;
    }
    a->base = old;
    a->flags |= ND_RESIZED;
}

static dvx_value resize_to(dvx_vm *vm, dvx_value self, int ndim, const int64_t *shape) {
    nd_array *a = array_self(vm, self), *fresh;
    size_t bytes;
    if (!(a->flags & ND_CONTIGUOUS))
        return nd_raise(vm, DVX_VALUE_ERROR, "resize only works on single-segment arrays");
    for (int i = 0; i < ndim; i++)
        if (shape[i] < 0) return nd_raise(vm, DVX_VALUE_ERROR, "negative dimensions not allowed");
    if (!array_measure(vm, a->dtype, ndim, shape, &bytes)) return DVX_FAILED;
    const size_t before = (size_t)a->size * a->dtype->size;
    if (bytes == before) {
        const dvx_value given = array_ints(vm, shape, ndim);
        const bool good = !dvx_failed(given) && set_shape(vm, self, given);
        vm->api->release(vm, given);
        return good ? nd_none(vm) : DVX_FAILED;
    }
    if (a->flags & (ND_HAS_BASE | ND_LENT))
        return nd_raise(vm, DVX_VALUE_ERROR, "cannot resize this array: it does not own its data");
    if (a->exports || nd_state_of(vm)->busy)
        return nd_raise(vm, DVX_BUFFER_ERROR, "the array is in use");
    const bool fortran = !(a->flags & ND_C_CONTIGUOUS);
    const dvx_value made = array_new_order(vm, a->dtype, ndim, shape, fortran, &fresh);
    if (dvx_failed(made)) return made;
    const size_t kept = bytes < before ? bytes : before;
    memcpy(fresh->data, a->data, kept);
    if (!nd_clear(vm, fresh->data + kept, bytes - kept)) {
        vm->api->release(vm, made);
        return DVX_FAILED;
    }
    exchange(a, fresh);
    retire(vm, self, a, made);
    return nd_none(vm);
}

/* a.resize(shape, refcheck=True), a.resize(n, m, ..., refcheck=True).  Nobody counts references to
 * arrays here: views keep the memory that they look at, and refcheck says nothing. */
static dvx_value resize(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    int64_t shape[ND_MOST];
    int ndim = 0;
    uint32_t given = 1;
    while (given < count - 1 && !dvx_failed(args[given])) given++;
    if (given == 1 || (given == 2 && nd_is_none(vm, args[1]))) return nd_none(vm);
    if (given == 2) {
        if (!array_read_ints(vm, args[1], &ndim, shape)) return DVX_FAILED;
    } else {
        for (uint32_t i = 1; i < given; i++)
            if (!nd_read_int_no_bool(vm, args[i], &shape[ndim++])) return DVX_FAILED;
    }
    return resize_to(vm, args[0], ndim, shape);
}
static const char *const resize_names[] = {"new_shape", ".1",  ".2",  ".3",  ".4",
                                           ".5",        ".6",  ".7",  ".8",  ".9",
                                           ".10",       ".11", ".12", ".13", "refcheck"};
static const dvx_parameters of_resize = {sizeof(dvx_parameters), resize_names,
                                         LENGTH_OF(resize_names), LENGTH_OF(resize_names) - 1, 0};
ND_METHOD(resize, ND_NAMED("resize", resize, of_resize));

/* ---- ravel ---- */

dvx_value shape_ravel(dvx_vm *vm, dvx_value array) {
    const int64_t all = -1;
    const nd_array *a = array_of(vm, array);
    nd_array *view;
    dvx_axis none = {0, a->dtype->size};
    if (a->size == 0) return array_view(vm, array, a, a->data, 1, &none, &view);
    return shape_reshape(vm, array, 1, &all);
}

/* Of elements that lie in a row in memory, in the order in which they lie there. */
static dvx_value row_of(dvx_vm *vm, dvx_value array, const nd_array *a) {
    nd_array *view;
    dvx_axis axis = {a->size, a->dtype->size};
    return array_view(vm, array, a, a->data, 1, &axis, &view);
}

/* A copy with one axis. */
static dvx_value flatten_in(dvx_vm *vm, const nd_array *a, char order) {
    dvx_value copy = array_copy(vm, a, a->dtype, order);
    if (dvx_failed(copy)) return copy;
    nd_array *c = array_of(vm, copy);
    if (c->axes != c->few) vm->api->deallocate(vm, c->axes, (size_t)c->ndim * sizeof *c->axes);
    c->axes = c->few;
    c->few[0] = (dvx_axis){c->size, c->dtype->size};
    c->ndim = 1;
    array_update(c);
    return copy;
}

/* NumPy makes a copy of what is not contiguous, even if one stride would do. */
static dvx_value ravel_copying(dvx_vm *vm, dvx_value array, char order) {
    const nd_array *a = array_of(vm, array);
    if (order == 'K' && a->flags & ND_C_CONTIGUOUS) order = 'C';
    if (order == 'K' && a->flags & ND_F_CONTIGUOUS) order = 'F';
    if (order == 'A')
        order = a->flags & ND_F_CONTIGUOUS && !(a->flags & ND_C_CONTIGUOUS) ? 'F' : 'C';
    bool lies = order == 'F'   ? a->flags & ND_F_CONTIGUOUS
                : order == 'C' ? a->flags & ND_C_CONTIGUOUS
                               : false;
    if (lies) return row_of(vm, array, a);
    return flatten_in(vm, a, order);
}

/* ravel(order='C') */
static dvx_value ravel(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    char order;
    (void)count;
    if (!create_order(vm, args[1], 'C', &order)) return DVX_FAILED;
    return ravel_copying(vm, args[0], order);
}
ND_PARAMETERS(of_order, 0, "order");
ND_METHOD(ravel, ND_NAMED("ravel", ravel, of_order));

/* flatten(order='C'): always a copy */
static dvx_value flatten(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    char order;
    (void)count;
    if (!create_order(vm, args[1], 'C', &order)) return DVX_FAILED;
    return flatten_in(vm, array_self(vm, args[0]), order);
}
ND_METHOD(flatten, ND_NAMED("flatten", flatten, of_order));

/* ---- transpose ---- */

/* The axes that these numbers name, each one once. */
static bool find_axes(dvx_vm *vm, const int64_t *wanted, int count, int ndim, const char *what,
                      const char *repeated, int axes[ND_MOST]) {
    for (int i = 0; i < count; i++) {
        if (!nd_axis_named(vm, wanted[i], ndim, what, &axes[i])) return false;
        for (int k = 0; k < i; k++)
            if (axes[k] == axes[i]) return nd_fail(vm, DVX_VALUE_ERROR, "%s", repeated);
    }
    return true;
}

bool shape_read_axes(dvx_vm *vm, dvx_value v, int ndim, const char *what, const char *repeated,
                     int *count, int axes[ND_MOST]) {
    int64_t wanted[ND_MOST];
    return array_read_ints(vm, v, count, wanted) &&
           find_axes(vm, wanted, *count, ndim, what, repeated, axes);
}

static dvx_value transpose_in(dvx_vm *vm, dvx_value array, const int64_t *wanted, int count) {
    const nd_array *a = array_of(vm, array);
    int order[ND_MOST];
    if (count != a->ndim) return nd_raise(vm, DVX_VALUE_ERROR, "axes don't match array");
    if (!find_axes(vm, wanted, count, a->ndim, "", "repeated axis in transpose", order))
        return DVX_FAILED;
    return shape_permute(vm, array, order);
}

static dvx_value transpose_by(dvx_vm *vm, dvx_value array, dvx_value axes) {
    int count;
    int64_t wanted[ND_MOST];
    if (!array_read_shape(vm, axes, &count, wanted)) return DVX_FAILED;
    return transpose_in(vm, array, wanted, count);
}

/* transpose(), transpose(axes), transpose(i, j, ...) */
static dvx_value transpose(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    if (count == 1 || (count == 2 && nd_is_none(vm, args[1]))) return reversed(vm, args[0]);
    if (count == 2) return transpose_by(vm, args[0], args[1]);
    int64_t wanted[ND_MOST];
    uint32_t ints = 0; /* so many are ints that can be read without a tuple */
    while (ints < count - 1 && ints < ND_MOST && vm->api->kind(vm, args[ints + 1]) == DVX_INT &&
           vm->api->read_int(vm, args[ints + 1], &wanted[ints]))
        ints++;
    if (ints == count - 1) return transpose_in(vm, args[0], wanted, (int)ints);
    vm->api->clear_error(vm);
    dvx_value axes = vm->api->make_tuple(vm, args + 1, count - 1);
    dvx_value made = dvx_failed(axes) ? axes : transpose_by(vm, args[0], axes);
    vm->api->release(vm, axes);
    return made;
}
ND_METHOD(transpose, ND_PLAIN("transpose", transpose, 1, ND_ANY));

static dvx_value get_T(dvx_vm *vm, dvx_value self) {
    if (array_is_scalar(vm, self)) return vm->api->retain(vm, self);
    return reversed(vm, self);
}
ND_ATTRIBUTE(T, get_T, NULL);

/* swapaxes(axis1, axis2) */
static dvx_value swapaxes(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const nd_array *a = array_self(vm, args[0]);
    int one, other, order[ND_MOST];
    (void)count;
    int64_t first, second;
    if (!nd_read_index(vm, args[1], &first) || !nd_read_index(vm, args[2], &second) ||
        !nd_axis_named(vm, first, a->ndim, "axis1: ", &one) ||
        !nd_axis_named(vm, second, a->ndim, "axis2: ", &other))
        return DVX_FAILED;
    for (int i = 0; i < a->ndim; i++) order[i] = i == one ? other : i == other ? one : i;
    return shape_permute(vm, args[0], order);
}
ND_PARAMETERS(of_two_axes, 2, "axis1", "axis2");
ND_METHOD(swapaxes, ND_NAMED("swapaxes", swapaxes, of_two_axes));

/* squeeze(axis=None) */
static dvx_value squeeze(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const nd_array *a = array_self(vm, args[0]);
    nd_array *view;
    dvx_axis axes[ND_MOST];
    int drop[ND_MOST], drops = 0, ndim = 0;
    bool dropped[ND_MOST] = {false};
    (void)count;
    bool given = nd_is_given(vm, args[1]);
    if (given && vm->api->kind(vm, args[1]) == DVX_BOOL)
        return nd_raise(vm, DVX_TYPE_ERROR, "an integer is required for the axis");
    if (given &&
        !shape_read_axes(vm, args[1], a->ndim, "", "duplicate value in 'axis'", &drops, drop))
        return DVX_FAILED;
    for (int i = 0; i < drops; i++) {
        if (a->axes[drop[i]].count != 1)
            return nd_raise(vm, DVX_VALUE_ERROR,
                            "cannot select an axis to squeeze out which has size not equal to one");
        dropped[drop[i]] = true;
    }
    for (int i = 0; i < a->ndim; i++)
        if (given ? !dropped[i] : a->axes[i].count != 1) axes[ndim++] = a->axes[i];
    if (ndim == a->ndim) return vm->api->retain(vm, args[0]);
    return array_view(vm, args[0], a, a->data, ndim, axes, &view);
}
ND_PARAMETERS(of_axis, 0, "axis");
ND_METHOD(squeeze, ND_NAMED("squeeze", squeeze, of_axis));

dvx_value shape_at_least(dvx_vm *vm, dvx_value array, int ndim) {
    dvx_axis axes[ND_MOST];
    nd_array *view;
    const nd_array *a = array_of(vm, array);
    int more = ndim - a->ndim;
    if (more <= 0) return vm->api->retain(vm, array);
    for (int i = 0; i < ndim; i++) axes[i] = i < more ? (dvx_axis){1, 0} : a->axes[i - more];
    /* (Of an array without axes, NumPy makes reshape(1, ...).) */
    for (int i = 0; i < ndim && a->ndim == 0; i++) axes[i].stride = a->dtype->size;
    return array_view(vm, array, a, a->data, ndim, axes, &view);
}

/* ---- The functions of the module that are the methods ---- */

/* method(args[0] as an array, args[1], ...) */
static dvx_value of_method(dvx_vm *vm, const dvx_function *method, const dvx_value *args,
                           uint32_t count) {
    nd_array *a;
    dvx_value own[4];
    dvx_value array = array_operand(vm, args[0], NULL, &a);
    if (dvx_failed(array)) return array;
    own[0] = array;
    memcpy(own + 1, args + 1, (count - 1) * sizeof *own);
    dvx_value made = method->entry(vm, own, count);
    vm->api->release(vm, array);
    return made;
}

static dvx_value ravel_function(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    return of_method(vm, &method_ravel, args, count);
}
static dvx_value transpose_function(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    return of_method(vm, &method_transpose, args, dvx_failed(args[1]) ? 1 : count);
}
/* reshape(a, newshape, order='C') */
static dvx_value reshape_function(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    return of_method(vm, &method_reshape, args, count);
}

/* ---- view ---- */

/* Would an element of the dtype lie where its loops expect it? */
static bool is_aligned(const nd_array *a, const nd_dtype *dtype) {
    int64_t all = (int64_t)(uintptr_t)a->data;
    for (int i = 0; i < a->ndim - 1; i++) all |= a->axes[i].count > 1 ? a->axes[i].stride : 0;
    if (a->dtype->size == dtype->size && a->ndim) all |= a->axes[a->ndim - 1].stride;
    return all % dtype->alignment == 0;
}

/* The last axis of elements of another size. */
static bool resize_axis(dvx_vm *vm, const nd_array *a, dvx_axis *axis, int64_t size) {
    const int64_t old = a->dtype->size;
    if (!a->ndim)
        return nd_fail(vm, DVX_VALUE_ERROR,
                       "Changing the dtype of a 0d array is only supported if the itemsize is "
                       "unchanged");
    if (axis->count != 1 && a->size && axis->stride != old)
        return nd_fail(
            vm, DVX_VALUE_ERROR,
            "To change to a dtype of a different size, the last axis must be contiguous");
    if (size < old && old % size)
        return nd_fail(vm, DVX_VALUE_ERROR,
                       "When changing to a smaller dtype, its size must be a divisor of the size "
                       "of original dtype");
    if (axis->count * old % size)
        return nd_fail(vm, DVX_VALUE_ERROR,
                       "When changing to a larger dtype, its size must be a divisor of the total "
                       "size in bytes of the last axis of the array.");
    *axis = (dvx_axis){axis->count * old / size, size};
    return true;
}

/* dtype, type: the same memory as elements of another dtype.  (What is no bool must not be seen as
 * one, and no bool become anything else.) */
static dvx_value view(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a = array_self(vm, args[0]), *made, of = *a;
    dvx_axis axes[ND_MOST] = {{0, 0}};
    dvx_value class_ = vm->api->class_of(vm, args[0]);
    (void)count;
    of.dtype = a->dtype;
    const bool same = nd_is_given(vm, args[1]) && vm->api->same(vm, args[1], class_);
    vm->api->release(vm, class_);
    if (!same && !dtype_read_given(vm, args[1], a->dtype, &of.dtype)) return DVX_FAILED;
    const bool other = of.dtype != a->dtype;
    if (other && of.dtype->num == ND_BOOL)
        return nd_raise(vm, DVX_TYPE_ERROR, "views as bools are not part of ndarray");
    memcpy(axes, a->axes, (size_t)a->ndim * sizeof *axes);
    if (of.dtype->size != a->dtype->size &&
        !resize_axis(vm, a, &axes[a->ndim ? a->ndim - 1 : 0], of.dtype->size))
        return DVX_FAILED;
    if (other && a->size && !is_aligned(a, of.dtype))
        return nd_raise(vm, DVX_VALUE_ERROR,
                        "views with elements that are not aligned are not part of ndarray");
    dvx_value result = array_view(vm, args[0], &of, a->data, a->ndim, axes, &made);
    if (!dvx_failed(result) && other && a->dtype->num == ND_BOOL) made->read_only = 1;
    return result;
}
ND_PARAMETERS(of_view, 0, "dtype", "type");
ND_METHOD(view, ND_NAMED("view", view, of_view));

ND_PARAMETERS(of_a_order, 1, "a", "order");
ND_PARAMETERS(of_a_axes, 1, "a", "axes");
ND_PARAMETERS(of_newshape, 2, "a", "newshape", "order");

static const dvx_function functions[] = {
    ND_NAMED("reshape", reshape_function, of_newshape),
    ND_NAMED("ravel", ravel_function, of_a_order),
    ND_NAMED("transpose", transpose_function, of_a_axes),
};

bool shape_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
