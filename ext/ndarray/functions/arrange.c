/* arrange.c: views and copies of an array with its elements in another order (arrange.h). */
#include "functions/arrange.h"

#include <math.h>
#include <stdlib.h>

#include "loops/cast.h"
#include "array/create.h"
#include "array/methods.h"
#include "array/compose.h"
#include "array/shape.h"

/* ---- roll ---- */

/* A copy whose elements have moved so many places (0 ... its length - 1) along each axis, those at
 * the end to its front: each axis has two parts, or one. */
static dvx_value roll_places(dvx_vm *vm, const nd_array *a, const int64_t *shifts) {
    nd_array *whole;
    dvx_value made = array_new_like(vm, a->dtype, a, &whole);
    if (dvx_failed(made) || a->size == 0) return made;
    dvx_axis to_axes[ND_MOST], from_axes[ND_MOST];
    bool second[ND_MOST] = {false};
    nd_array to = *whole, from = *a;
    to.axes = to_axes;
    from.axes = from_axes;
    for (;;) {
        to.data = whole->data;
        from.data = a->data;
        for (int i = 0; i < a->ndim; i++) {
            const int64_t size = a->axes[i].count, n = second[i] ? shifts[i] : size - shifts[i];
            to_axes[i] = (dvx_axis){n, whole->axes[i].stride};
            from_axes[i] = (dvx_axis){n, a->axes[i].stride};
            to.data += second[i] ? 0 : shifts[i] * to_axes[i].stride;
            from.data += second[i] ? (size - shifts[i]) * from_axes[i].stride : 0;
        }
        array_update(&to);
        array_update(&from);
        if (!array_pour(vm, &to, &from)) return compose_first(vm, DVX_FAILED, made);
        int axis = a->ndim - 1;
        for (; axis >= 0; axis--) {
            second[axis] = !second[axis] && shifts[axis];
            if (second[axis]) break;
        }
        if (axis < 0) return made;
    }
}

/* How far a shift moves what already lies `before` places on: 0 to size - 1, also where size is all
 * that an int64 holds. */
static int64_t places_of(int64_t shift, int64_t size, int64_t before) {
    if (size == 0) return 0;
    const int64_t more = shift % size < 0 ? shift % size + size : shift % size;
    return more < size - before ? before + more : before - (size - more);
}

static dvx_value roll_flat(dvx_vm *vm, dvx_value array, dvx_value by) {
    int64_t shift, shape[ND_MOST];
    const nd_array *a = array_of(vm, array);
    if (!nd_read_index(vm, by, &shift)) return DVX_FAILED;
    dvx_value row = shape_ravel(vm, array);
    if (dvx_failed(row)) return row;
    shift = places_of(shift, array_of(vm, row)->size, 0);
    dvx_value rolled = roll_places(vm, array_of(vm, row), &shift);
    vm->api->release(vm, row);
    if (dvx_failed(rolled) || a->ndim == 1) return rolled;
    array_shape(a, shape);
    dvx_value made = shape_reshape(vm, rolled, a->ndim, shape);
    vm->api->release(vm, rolled);
    return made;
}

/* Shifts and axes, one of which may be a single number for all of the other. */
static dvx_value roll_axes(dvx_vm *vm, dvx_value array, dvx_value by, dvx_value along) {
    int64_t shifts[ND_MOST], wanted[ND_MOST];
    int shift_count, axis_count, axis;
    if (!array_read_ints(vm, by, &shift_count, shifts) ||
        !array_read_ints(vm, along, &axis_count, wanted))
        return DVX_FAILED;
    if (shift_count != axis_count && shift_count != 1 && axis_count != 1)
        return nd_raise(
            vm, DVX_VALUE_ERROR,
            "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is "
            "between arg 0 with shape (%d,) and arg 1 with shape (%d,).",
            shift_count, axis_count);
    int count = shift_count > axis_count ? shift_count : axis_count;
    const nd_array *a = array_of(vm, array);
    int64_t places[ND_MOST] = {0};
    for (int i = 0; i < count; i++) {
        if (!nd_axis(vm, wanted[axis_count == 1 ? 0 : i], a->ndim, &axis)) return DVX_FAILED;
        places[axis] =
            places_of(shifts[shift_count == 1 ? 0 : i], a->axes[axis].count, places[axis]);
    }
    return roll_places(vm, a, places);
}

/* roll(a, shift, axis=None) */
static dvx_value roll(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    (void)count;
    dvx_value array = array_operand(vm, args[0], NULL, &a);
    if (dvx_failed(array)) return array;
    dvx_value made = nd_is_given(vm, args[2]) ? roll_axes(vm, array, args[1], args[2])
                                              : roll_flat(vm, array, args[1]);
    vm->api->release(vm, array);
    return made;
}

/* ---- Diagonals ---- */

/* (NumPy reads it as an int of C.) */
static bool check_offset(dvx_vm *vm, int64_t offset) {
    return offset == (int32_t)offset ||
           nd_fail(vm, DVX_OVERFLOW_ERROR, "signed integer is %s",
                   offset > 0 ? "greater than maximum" : "less than minimum");
}

/* A read-only view of a diagonal, as the last axis. */
static dvx_value view_diagonal(dvx_vm *vm, dvx_value array, int64_t offset, int one, int other) {
    dvx_axis axes[ND_MOST];
    nd_array *view;
    int ndim = 0;
    const nd_array *a = array_of(vm, array);
    if (one == other) return nd_raise(vm, DVX_VALUE_ERROR, "axis1 and axis2 cannot be the same");
    int64_t rows = a->axes[one].count, columns = a->axes[other].count;
    char *data = a->data;
    if (offset >= 0)
        columns -= offset;
    else
        rows += offset;
    int64_t length = rows < columns ? rows : columns;
    if (length < 0) length = 0;
    if (length && a->size)
        data += offset >= 0 ? offset * a->axes[other].stride : -offset * a->axes[one].stride;
    for (int i = 0; i < a->ndim; i++)
        if (i != one && i != other) axes[ndim++] = a->axes[i];
    axes[ndim++] = (dvx_axis){length, a->axes[one].stride + a->axes[other].stride};
    dvx_value made = array_view(vm, array, a, data, ndim, axes, &view);
    if (!dvx_failed(made)) view->read_only = 1;
    return made;
}

/* diagonal(offset=0, axis1=0, axis2=1) */
static dvx_value diagonal(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const nd_array *a = array_self(vm, args[0]);
    int64_t offset = 0, first = 0, second = 1;
    int one, other;
    (void)count;
    if (a->ndim < 2)
        return nd_raise(vm, DVX_VALUE_ERROR, "diag requires an array of at least two dimensions");
    if ((!dvx_failed(args[1]) &&
         (!nd_read_index(vm, args[1], &offset) || !check_offset(vm, offset))) ||
        (!dvx_failed(args[2]) && !nd_read_index(vm, args[2], &first)) ||
        (!dvx_failed(args[3]) && !nd_read_index(vm, args[3], &second)) ||
        !nd_axis_named(vm, first, a->ndim, "axis1: ", &one) ||
        !nd_axis_named(vm, second, a->ndim, "axis2: ", &other))
        return DVX_FAILED;
    return view_diagonal(vm, args[0], offset, one, other);
}
ND_PARAMETERS(of_diagonal, 0, "offset", "axis1", "axis2");
ND_METHOD(diagonal, ND_NAMED("diagonal", diagonal, of_diagonal));

static dvx_value diagonal_function(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    dvx_value array = array_operand(vm, args[0], NULL, &a);
    if (dvx_failed(array)) return array;
    const dvx_value own[4] = {array, args[1], args[2], args[3]};
    dvx_value made = diagonal(vm, own, count);
    vm->api->release(vm, array);
    return made;
}

/* ---- Broadcasting ---- */

static dvx_value raise_no_fit(dvx_vm *vm, const nd_array *a, int ndim, const int64_t *wanted) {
    char of[ND_SHAPE_TEXT], into[ND_SHAPE_TEXT];
    int64_t shape[ND_MOST];
    if (a->ndim > ndim)
        return nd_raise(vm, DVX_VALUE_ERROR,
                        "input operand has more dimensions than allowed by the axis remapping");
    array_shape(a, shape);
    return nd_raise(vm, DVX_VALUE_ERROR,
                    "operands could not be broadcast together with remapped shapes "
                    "[original->remapped]: %s  and requested shape %s",
                    array_shape_text(a->ndim, shape, false, of),
                    array_shape_text(ndim, wanted, false, into));
}

dvx_value arrange_broadcast(dvx_vm *vm, dvx_value array, int ndim, const int64_t *shape) {
    dvx_axis axes[ND_MOST];
    nd_array *view;
    int64_t strides[ND_MOST];
    const nd_array *a = array_of(vm, array);
    int shift = ndim - a->ndim;
    if (shift < 0) return raise_no_fit(vm, a, ndim, shape);
    for (int i = 0; i < ndim; i++)
        if (shape[i] < 0)
            return nd_raise(vm, DVX_VALUE_ERROR,
                            "all elements of broadcast shape must be non-negative");
    for (int i = 0; i < a->ndim; i++)
        if (a->axes[i].count != 1 && a->axes[i].count != shape[i + shift])
            return raise_no_fit(vm, a, ndim, shape);
    int64_t all;
    if (!array_count(ndim, shape, &all))
        return nd_raise(vm, DVX_VALUE_ERROR, "iterator is too large");
    array_strides_in(a, ndim, strides);
    for (int i = 0; i < ndim; i++) axes[i] = (dvx_axis){shape[i], strides[i]};
    dvx_value made = array_view(vm, array, a, a->data, ndim, axes, &view);
    if (!dvx_failed(made)) view->read_only = 1;
    return made;
}

/* broadcast_to(array, shape) */
static dvx_value broadcast_to(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    int64_t shape[ND_MOST];
    int ndim;
    (void)count;
    if (!array_read_shape(vm, args[1], &ndim, shape)) return DVX_FAILED;
    dvx_value array = array_operand(vm, args[0], NULL, &a);
    if (dvx_failed(array)) return array;
    dvx_value made = arrange_broadcast(vm, array, ndim, shape);
    vm->api->release(vm, array);
    return made;
}

/* Are all elements of such a view among those of the array that owns the memory?  (These lie in a
 * row, whichever of its axes comes first.) */
static bool is_within(const nd_array *owner, const char *data, int size, int ndim,
                      const dvx_axis *axes) {
    int64_t least = data - owner->data, most = least + size, way;
    for (int i = 0; i < ndim; i++) {
        if (axes[i].count == 0) return true;
        if (__builtin_mul_overflow(axes[i].count - 1, axes[i].stride, &way) ||
            __builtin_add_overflow(way < 0 ? least : most, way, way < 0 ? &least : &most))
            return false;
    }
    return least >= 0 && most <= owner->size * owner->dtype->size;
}

static int64_t step_of(dvx_axis axis) { return axis.count > 1 ? llabs(axis.stride) : 0; }

/* May two elements of such a view share memory?  (Axis by axis, the closest one first, each steps
 * over what lies in those before, or they may.) */
static bool may_meet(int64_t size, int ndim, const dvx_axis *axes) {
    bool done[ND_MOST] = {false};
    for (int i = 0; i < ndim; i++)
        if (axes[i].count == 0) return false;
    for (int round = 0; round < ndim; round++) {
        int next = -1;
        for (int i = 0; i < ndim; i++)
            if (!done[i] && (next < 0 || step_of(axes[i]) < step_of(axes[next]))) next = i;
        done[next] = true;
        if (axes[next].count > 1 && step_of(axes[next]) < size) return true;
        size += (axes[next].count - 1) * step_of(axes[next]);
    }
    return false;
}

/* strided(array, shape, strides): the view that is asked for.  NumPy's may lie anywhere, and may be
 * written to where elements share memory, with results that depend on the order. */
static dvx_value strided(dvx_vm *vm, const dvx_value *args, uint32_t n) {
    int64_t shape[ND_MOST], strides[ND_MOST];
    dvx_axis axes[ND_MOST];
    int ndim, also;
    nd_array *view;
    const nd_array *a = array_of(vm, args[0]);
    (void)n;
    if (!a) return nd_raise(vm, DVX_TYPE_ERROR, "an array is needed");
    if (!array_read_shape(vm, args[1], &ndim, shape) ||
        !array_read_ints(vm, args[2], &also, strides))
        return DVX_FAILED;
    if (also != ndim)
        return nd_raise(vm, DVX_VALUE_ERROR, "mismatch in length of strides and shape");
    for (int i = 0; i < ndim; i++) {
        axes[i] = (dvx_axis){shape[i], strides[i]};
        if (shape[i] < 0)
            return nd_raise(vm, DVX_VALUE_ERROR, "negative dimensions are not allowed");
        if (strides[i] % a->dtype->size)
            return nd_raise(vm, DVX_VALUE_ERROR,
                            "strides that lead between elements are not part of dl");
    }
    const nd_array *owner = a->flags & ND_HAS_BASE ? array_of(vm, a->base) : a;
    if (!is_within(owner, a->data, a->dtype->size, ndim, axes))
        return nd_raise(vm, DVX_VALUE_ERROR, "the view would reach beyond the memory of its array");
    dvx_value made = array_view(vm, args[0], a, a->data, ndim, axes, &view);
    if (!dvx_failed(made) && may_meet(a->dtype->size, ndim, axes)) view->read_only = 1;
    return made;
}

/* ---- Parts of complex numbers ---- */

static dvx_value part_of(dvx_vm *vm, dvx_value self, bool imaginary) {
    const nd_array *a = array_self(vm, self);
    nd_array *view, halves = *a;
    if (a->dtype->kind == 'c') {
        halves.dtype = ND_DTYPE(type_as_float(a->dtype->num));
        return array_view(vm, self, &halves, a->data + (imaginary ? halves.dtype->size : 0),
                          a->ndim, a->axes, &view);
    }
    if (!imaginary) return vm->api->retain(vm, self);
    dvx_value zeros = array_new_like(vm, a->dtype, a, &view);
    if (dvx_failed(zeros)) return zeros;
    memset(view->data, 0, (size_t)view->size * a->dtype->size);
    view->read_only = 1;
    return array_is_scalar(vm, self) ? array_result(vm, zeros) : zeros;
}

static bool set_part(dvx_vm *vm, dvx_value self, dvx_value value, bool imaginary) {
    nd_array *from;
    nd_array *a = array_self(vm, self);
    if (dvx_failed(value))
        return nd_fail(vm, DVX_ATTRIBUTE_ERROR, "Cannot delete array %s part",
                       imaginary ? "imaginary" : "real");
    if (imaginary && a->dtype->kind != 'c')
        return nd_fail(vm, DVX_TYPE_ERROR, "array does not have imaginary part to set");
    if (!array_writable(vm, a)) return false;
    dvx_value part = part_of(vm, self, imaginary);
    dvx_value array = dvx_failed(part) ? part : array_operand(vm, value, NULL, &from);
    bool good = !dvx_failed(array) && array_assign(vm, array_of(vm, part), from);
    vm->api->release(vm, array);
    vm->api->release(vm, part);
    return good;
}

static dvx_value get_real(dvx_vm *vm, dvx_value self) { return part_of(vm, self, false); }
static dvx_value get_imag(dvx_vm *vm, dvx_value self) { return part_of(vm, self, true); }
static bool set_real(dvx_vm *vm, dvx_value self, dvx_value value) {
    return set_part(vm, self, value, false);
}
static bool set_imag(dvx_vm *vm, dvx_value self, dvx_value value) {
    return set_part(vm, self, value, true);
}
ND_ATTRIBUTE(real, get_real, set_real);
ND_ATTRIBUTE(imag, get_imag, set_imag);

ND_PARAMETERS(of_roll, 2, "a", "shift", "axis");
ND_PARAMETERS(of_a_diagonal, 1, "a", "offset", "axis1", "axis2");
ND_PARAMETERS(of_broadcast_to, 2, "array", "shape");

static const dvx_function functions[] = {
    ND_NAMED("roll", roll, of_roll),
    ND_NAMED("diagonal", diagonal_function, of_a_diagonal),
    ND_NAMED("broadcast_to", broadcast_to, of_broadcast_to),
    ND_PLAIN("_strided", strided, 3, 3),
};

bool arrange_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
