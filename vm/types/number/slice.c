/* slice.c: slice objects and the arithmetic of slices. */
#include "core/upcall.h"
#include "types/callable/arguments.h"
#include "types/number/int.h"
#include "types/number/range.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

static dv_slice *as_slice(dv_value v) { return (dv_slice *)dv_as_object(v); }

dv_value dv_slice_new(dv_vm *vm, dv_value start, dv_value stop, dv_value step) {
    dv_slice *slice = dv_container_new(vm, sizeof(dv_slice), DV_T_SLICE);
    if (!slice) return DV_EMPTY;
    slice->start = dv_retain(start);
    slice->stop = dv_retain(stop);
    slice->step = dv_retain(step);
    return dv_object_value(slice);
}

/* A slice that its user cannot keep: built-in sequences read it before they do anything else. */
static dv_slice passing(dv_value start, dv_value stop, dv_value step) {
    return (dv_slice){{.references = 2, .shape = DV_T_SLICE}, start, stop, step};
}

dv_value dv_slice_load(dv_vm *vm, dv_value container, dv_value start, dv_value stop,
                       dv_value step) {
    dv_slice slice = passing(start, stop, step);
    return vm->types[dv_as_object(container)->shape]->get_item(vm, container,
                                                               dv_object_value(&slice));
}

/* No sequence is as long as the largest int that is no object. */
static dv_value clipped(int64_t bound) {
    return dv_int(bound < DV_INT_MIN ? DV_INT_MIN : bound > DV_INT_MAX ? DV_INT_MAX : bound);
}

dv_value dv_slice_between(dv_vm *vm, dv_value container, int64_t start, int64_t stop,
                          int64_t step) {
    return dv_slice_load(vm, container, clipped(start), clipped(stop), clipped(step));
}

bool dv_slice_store(dv_vm *vm, dv_value container, dv_value start, dv_value stop, dv_value step,
                    dv_value value) {
    dv_slice slice = passing(start, stop, step);
    return dv_set_item(vm, container, dv_object_value(&slice), value);
}

bool dv_slice_unpack(dv_vm *vm, dv_value v, int64_t *start, int64_t *stop, int64_t *step) {
    const dv_slice *slice = as_slice(v);
    *step = 1;
    if (!dv_is_none(slice->step)) {
        if (!dv_slice_bound(vm, slice->step, true, step)) return false;
        if (*step == 0) {
            dv_raise(vm, DV_E_VALUE_ERROR, "slice step cannot be zero");
            return false;
        }
        if (*step < -INT64_MAX) *step = -INT64_MAX; /* so that -step exists */
    }
    *start = *step < 0 ? INT64_MAX : 0;
    *stop = *step < 0 ? INT64_MIN : INT64_MAX;
    return (dv_is_none(slice->start) || dv_slice_bound(vm, slice->start, true, start)) &&
           (dv_is_none(slice->stop) || dv_slice_bound(vm, slice->stop, true, stop));
}

static int64_t adjust_bound(int64_t bound, int64_t length, bool backward) {
    if (bound < 0) {
        bound += length;
        return bound >= 0 ? bound : backward ? -1 : 0;
    }
    return bound < length ? bound : backward ? length - 1 : length;
}

int64_t dv_slice_adjust(int64_t length, int64_t *start, int64_t *stop, int64_t step) {
    *start = adjust_bound(*start, length, step < 0);
    *stop = adjust_bound(*stop, length, step < 0);
    if (step < 0) return *stop < *start ? (*start - *stop - 1) / -step + 1 : 0;
    return *start < *stop ? (*stop - *start - 1) / step + 1 : 0;
}

bool dv_slice_indices(dv_vm *vm, dv_value slice, int64_t length, int64_t *start, int64_t *stop,
                      int64_t *step, int64_t *count) {
    if (!dv_slice_unpack(vm, slice, start, stop, step)) return false;
    *count = dv_slice_adjust(length, start, stop, *step);
    return true;
}

static void slice_release(dv_vm *vm, dv_object *object) {
    dv_slice *slice = (dv_slice *)object;
    dv_release(vm, slice->step);
    dv_release(vm, slice->start);
    dv_release(vm, slice->stop);
    dv_container_free(vm, slice, sizeof(dv_slice));
}

static void slice_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const dv_slice *slice = (const dv_slice *)object;
    visit(vm, slice->start, context);
    visit(vm, slice->stop, context);
    visit(vm, slice->step, context);
}

static dv_value slice_repr(dv_vm *vm, dv_value self) {
    const dv_slice *slice = as_slice(self);
    return dv_str_printf(vm, "slice(%V, %V, %V)", slice->start, slice->stop, slice->step);
}

static bool slice_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    (void)hash;
    dv_raise(vm, DV_E_TYPE_ERROR, "unhashable type: '%T'", self);
    return false;
}

static dv_value slice_tuple(dv_vm *vm, dv_value self) {
    const dv_slice *slice = as_slice(self);
    return dv_tuple_new(vm, (dv_value[]){slice->start, slice->stop, slice->step}, 3);
}

/* Slices compare like the tuples of their parts. */
static dv_value slice_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    if (!dv_is_shape(a, DV_T_SLICE) || !dv_is_shape(b, DV_T_SLICE)) return DV_NOTIMPLEMENTED;
    dv_value left = slice_tuple(vm, a), right = slice_tuple(vm, b), result = DV_EMPTY;
    if (!dv_is_empty(left) && !dv_is_empty(right)) result = dv_items_compare(vm, op, left, right);
    dv_release(vm, left);
    dv_release(vm, right);
    return result;
}

static dv_value slice_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    const dv_slice *slice = as_slice(self);
    (void)vm;
    if (dv_str_is(name, "start")) return dv_retain(slice->start);
    if (dv_str_is(name, "stop")) return dv_retain(slice->stop);
    if (dv_str_is(name, "step")) return dv_retain(slice->step);
    return DV_EMPTY;
}

/* A bound of a slice as an int; *bound is `otherwise` where it is None. */
static bool long_bound(dv_vm *vm, dv_value v, dv_value otherwise, dv_value *bound) {
    *bound = DV_EMPTY;
    if (dv_is_none(v))
        *bound = dv_retain(otherwise);
    else if (dv_is_index(vm, v))
        *bound = dv_int_index(vm, v);
    else
        dv_raise(vm, DV_E_TYPE_ERROR,
                 "slice indices must be integers or None or have an __index__ method");
    return !dv_is_empty(*bound);
}

static bool is_less(dv_vm *vm, dv_value a, dv_value b) {
    return dv_same(dv_int_compare(vm, DV_LT, a, b), DV_TRUE);
}

/* Start or stop: negative ones count from the end, and all are clipped to lower .. upper. */
static bool clipped_bound(dv_vm *vm, dv_value v, dv_value otherwise, dv_value length,
                          dv_value lower, dv_value upper, dv_value *bound) {
    if (!long_bound(vm, v, otherwise, bound)) return false;
    if (dv_is_none(v)) return true;
    if (dv_int_sign(*bound) < 0) {
        dv_value sum = dv_int_binary(vm, DV_BINARY_ADD, *bound, length);
        dv_release(vm, *bound);
        *bound = sum;
        if (dv_is_empty(sum)) return false;
    }
    dv_value limit = is_less(vm, *bound, lower)   ? lower
                     : is_less(vm, upper, *bound) ? upper
                                                  : *bound;
    dv_value kept = dv_retain(limit);
    dv_release(vm, *bound);
    *bound = kept;
    return true;
}

/* Start and stop, when the step is known; lower and upper are the bounds that start and stop may
 * have. */
static bool long_ends(dv_vm *vm, const dv_slice *slice, dv_value length, dv_value lower,
                      dv_value upper, dv_value bounds[3]) {
    bool backward = dv_int_sign(bounds[2]) < 0;
    dv_value first = backward ? upper : lower, last = backward ? lower : upper;
    if (!clipped_bound(vm, slice->start, first, length, lower, upper, &bounds[0])) return false;
    if (clipped_bound(vm, slice->stop, last, length, lower, upper, &bounds[1])) return true;
    dv_release(vm, bounds[0]);
    return false;
}

bool dv_slice_long_indices(dv_vm *vm, dv_value v, dv_value length, dv_value bounds[3]) {
    const dv_slice *slice = as_slice(v);
    if (!long_bound(vm, slice->step, dv_int(1), &bounds[2])) return false;
    bool good = false, backward = dv_int_sign(bounds[2]) < 0;
    if (dv_int_sign(bounds[2]) == 0) {
        dv_raise(vm, DV_E_VALUE_ERROR, "slice step cannot be zero");
    } else {
        dv_value upper =
            backward ? dv_int_binary(vm, DV_BINARY_SUB, length, dv_int(1)) : dv_retain(length);
        good = !dv_is_empty(upper) &&
               long_ends(vm, slice, length, dv_int(backward ? -1 : 0), upper, bounds);
        dv_release(vm, upper);
    }
    if (!good) dv_release(vm, bounds[2]);
    return good;
}

static dv_value slice_indices(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value length = dv_int_index(vm, args[1]), bounds[3], result = DV_EMPTY;
    if (dv_is_empty(length)) return DV_EMPTY;
    if (dv_int_sign(length) < 0)
        dv_raise(vm, DV_E_VALUE_ERROR, "length should not be negative");
    else if (dv_slice_long_indices(vm, args[0], length, bounds))
        result = dv_tuple_take(vm, bounds, 3);
    dv_release(vm, length);
    return result;
}

static dv_value slice_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    if (!dv_arguments_no_keywords(vm, "slice", keywords) ||
        !dv_arguments_count(vm, "slice", count, 1, 3))
        return DV_EMPTY;
    if (count == 1) return dv_slice_new(vm, DV_NONE, args[0], DV_NONE);
    return dv_slice_new(vm, args[0], args[1], count == 3 ? args[2] : DV_NONE);
}

static const dv_cfunction_def slice_methods[] = {
    {.name = "indices", .entry = slice_indices, .min = 2, .max = 2},
    {.name = NULL},
};

const dv_type dv_slice_type = {
    .name = "slice",
    .id = DV_T_SLICE,
    .release = slice_release,
    .traverse = slice_traverse,
    .repr = slice_repr,
    .hash = slice_hash,
    .compare = slice_compare,
    .get_attribute = slice_get_attribute,
    .construct = slice_construct,
    .methods = slice_methods,
};
