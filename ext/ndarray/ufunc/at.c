/* at.c: ufunc.at (at.h): np.add.at(a, indices, b) is a[indices] += b, once for each index, also
 * where an element comes more than once.
 *
 * Invariants
 *  1. Elements are done in the order of the indices, each with what is there by then.
 *  2. Results are cast to the array's dtype, whatever it is, as NumPy 1.24 does it. */
#include "ufunc/at.h"

#include <string.h>

#include "loops/arith.h"
#include "loops/cast.h"
#include "array/compose.h"
#include "array/create.h"
#include "ufunc/error.h"
#include "index/index.h"
#include "array/methods.h"
#include "array/shape.h"
#include "ufunc/ufunc.h"

/* The places of a[indices] in a, in C order, in the shape of the subscript: what the subscript
 * makes of the numbers of all elements. */
static dvx_value places_of(dvx_vm *vm, const nd_array *a, dvx_value indices, nd_array **out) {
    nd_array *row;
    int64_t shape[ND_MOST];
    dvx_value numbers = create_range(vm, a->size, &row), made;
    if (dvx_failed(numbers)) return numbers;
    array_shape(a, shape);
    numbers = compose_first(vm, shape_reshape(vm, numbers, a->ndim, shape), numbers);
    if (dvx_failed(numbers)) return numbers;
    made = compose_first(vm, index_get(vm, numbers, indices), numbers);
    if (dvx_failed(made)) return made;
    made = compose_first(vm, array_row(vm, made, ND_DTYPE(ND_INT64), out), made);
    return made;
}

/* The common case: a row, and indices for its only axis.  DVX_FAILED: it is another, and nothing is
 * raised. */
static dvx_value quick_places(dvx_vm *vm, const nd_array *a, dvx_value indices, nd_array **out) {
    nd_array *which = array_of(vm, indices);
    const int64_t n = a->size;
    bool negative = false, good = true;
    if (a->ndim != 1 || !which || which->dtype->num != ND_INT64 || which->ndim < 1 ||
        !(which->flags & ND_C_CONTIGUOUS))
        return DVX_FAILED;
    const int64_t *at = (const int64_t *)(const void *)which->data;
    for (int64_t i = 0; i < which->size; i++) {
        negative |= at[i] < 0;
        good &= at[i] < n && at[i] >= -n;
    }
    if (!good || negative || array_may_overlap(which, a)) return DVX_FAILED;
    *out = which;
    return vm->api->retain(vm, indices);
}

/* The same for an array in C order and a tuple of an index array for each axis, all of one shape.
 */
static dvx_value tuple_places(dvx_vm *vm, const nd_array *a, dvx_value indices, nd_array **out) {
    dvx_value held[ND_MOST], made = DVX_FAILED;
    const nd_array *which[ND_MOST];
    int64_t shape[ND_MOST];
    int read = 0;
    if (vm->api->kind(vm, indices) != DVX_TUPLE || a->ndim < 2 ||
        vm->api->length(vm, indices) != a->ndim)
        return DVX_FAILED;
    bool good = true;
    for (; good && read < a->ndim; read++) {
        held[read] = vm->api->get_item(vm, indices, vm->api->make_int(vm, read));
        const nd_array *w = which[read] = dvx_failed(held[read]) ? NULL : array_of(vm, held[read]);
        good = w && w->dtype->num == ND_INT64 && w->ndim > 0 && w->flags & ND_C_CONTIGUOUS &&
               array_same_shape(w, which[0]);
    }
    if (good) {
        array_shape(which[0], shape);
        made = array_new(vm, ND_DTYPE(ND_INT64), which[0]->ndim, shape, out);
    }
    if (!dvx_failed(made)) {
        int64_t *to = (int64_t *)(void *)(*out)->data;
        memset(to, 0, (size_t)(*out)->size * sizeof *to);
        for (int k = 0; k < a->ndim; k++) {
            const int64_t *at = (const int64_t *)(const void *)which[k]->data;
            const int64_t n = a->axes[k].count;
            for (int64_t i = 0; i < (*out)->size; i++) {
                good &= at[i] < n && at[i] >= -n;
                to[i] = to[i] * n + (at[i] < 0 ? at[i] + n : at[i]);
            }
            if (!good) break;
        }
        if (!good) made = compose_first(vm, DVX_FAILED, made);
    }
    for (int i = 0; i < read; i++) vm->api->release(vm, held[i]);
    vm->api->clear_error(vm);
    return made;
}

/* Values for all places: elements of `type` in a row, or a single one. */
static dvx_value values_for(dvx_vm *vm, dvx_value v, const nd_dtype *dtype, const nd_array *a,
                            const nd_array *places, nd_array **out) {
    nd_array *b, to = *places, *copy;
    dvx_value given = array_operand(vm, v, dtype, &b);
    if (dvx_failed(given)) return given;
    int64_t shape[ND_MOST], ndim_shape[ND_MOST];
    int ndim;
    nd_array *both[2] = {(nd_array *)places, b};
    bool good = array_broadcast(vm, both, 2, &ndim, shape);
    if (!good) vm->api->clear_error(vm);
    array_shape(places, ndim_shape);
    if (!good || ndim != places->ndim ||
        memcmp(shape, ndim_shape, (size_t)ndim * sizeof *shape) != 0)
        good = nd_fail(vm, DVX_VALUE_ERROR, "array is not broadcastable to correct shape");
    if (good && b->size == 1 && !array_may_overlap(b, a)) {
        *out = b;
        return given;
    }
    dvx_value made = DVX_FAILED;
    if (good) made = array_new(vm, dtype, to.ndim, shape, &copy);
    if (!dvx_failed(made)) {
        if (copy->size && !array_pour(vm, copy, b)) {
            vm->api->release(vm, made);
            made = DVX_FAILED;
        }
        *out = copy;
    }
    vm->api->release(vm, given);
    return made;
}

/* Where loops have a name of their own here: without a call for each element. */
#define EACH(T, expression)                            \
    {                                                  \
        T *x = (T *)(void *)data;                      \
        const T *v = (const T *)(const void *)values;  \
        for (int64_t i = 0; i < count; i++) {          \
            const T a = x[places[i]], b = v[i & many]; \
            x[places[i]] = (T)(expression);            \
        }                                              \
        return true;                                   \
    }
#define WRAPPED(T, U, op) EACH(T, (U)a op(U) b)
/* `many`: -1, all bits, where there is a value for each place, else 0.  False: there is no such
 * loop. */
static bool run_own(nd_ufunc_number number, nd_type type, char *data, const int64_t *places,
                    int64_t count, const char *values, int64_t many) {
    switch (number) {
    case ND_UFUNC_add:
        if (type == ND_FLOAT64) EACH(double, a + b)
        if (type == ND_FLOAT32) EACH(float, a + b)
        if (type == ND_INT64) WRAPPED(int64_t, uint64_t, +)
        if (type == ND_INT32) WRAPPED(int32_t, uint32_t, +)
        if (type == ND_UINT8) WRAPPED(uint8_t, uint32_t, +)
        return false;
    case ND_UFUNC_subtract:
        if (type == ND_FLOAT64) EACH(double, a - b)
        if (type == ND_FLOAT32) EACH(float, a - b)
        if (type == ND_INT64) WRAPPED(int64_t, uint64_t, -)
        if (type == ND_INT32) WRAPPED(int32_t, uint32_t, -)
        return false;
    case ND_UFUNC_multiply:
        if (type == ND_FLOAT64) EACH(double, a *b)
        if (type == ND_FLOAT32) EACH(float, a *b)
        if (type == ND_INT64) WRAPPED(int64_t, uint64_t, *)
        return false;
    case ND_UFUNC_maximum:
        if (type == ND_FLOAT64) EACH(double, a > b || a != a ? a : b)
        if (type == ND_INT64) EACH(int64_t, a > b ? a : b)
        return false;
    case ND_UFUNC_minimum:
        if (type == ND_FLOAT64) EACH(double, a < b || a != a ? a : b)
        if (type == ND_INT64) EACH(int64_t, a < b ? a : b)
        return false;
    default: return false;
    }
}

/* One element after the other, by the ufunc's loop, with casts to its type and back. */
static void run_each(const nd_kernel *kernel, int inputs, nd_type type, nd_array *a,
                     const int64_t *places, int64_t count, const char *values, int64_t step) {
    _Alignas(16) char x[sizeof(nd_complex)], y[sizeof(nd_complex)];
    const nd_cast in = cast_between(a->dtype, ND_DTYPE(type));
    const nd_cast back = cast_between(ND_DTYPE(kernel->result), a->dtype);
    const int64_t strides[3] = {0};
    for (int64_t i = 0; i < count; i++) {
        char *at = a->data + places[i] * a->dtype->size;
        char *args[3] = {x, inputs == 2 ? (char *)values + i * step : y, y};
        in(x, 0, at, 0, 1);
        kernel->loop(args, 1, strides);
        back(at, 0, y, 0, 1);
    }
}

/* The type that a and b are computed in. */
static bool find_type(dvx_vm *vm, nd_ufunc_number number, const nd_array *a, dvx_value v,
                      nd_type *type) {
    const nd_dtype *common = a->dtype;
    if (loops_facts[number].inputs == 2) {
        nd_array *b;
        dvx_value held = array_operand(vm, v, NULL, &b);
        if (dvx_failed(held)) return false;
        common = dtype_promote(a->dtype, b->dtype);
        vm->api->release(vm, held);
    }
    return ufunc_type(vm, number, common->num, type);
}

static bool run_at(dvx_vm *vm, nd_ufunc_number number, nd_array *a, nd_type type,
                   const nd_array *places, const nd_array *values) {
    const nd_ufunc_facts *facts = &loops_facts[number];
    const nd_kernel *kernel = ufunc_kernel(vm, number, type);
    const int64_t *at = (const int64_t *)(const void *)places->data, count = places->size;
    const bool many = values && values->size == count && count != 1;
    dvx_value copy = DVX_FAILED;
    nd_array *row = a;
    if (!(a->flags & ND_C_CONTIGUOUS)) {
        copy = array_copy(vm, a, a->dtype, 'C');
        if (dvx_failed(copy)) return false;
        row = array_of(vm, copy);
    }
    if (error_raised(vm)) arith_clear();
    const bool own = a->dtype->num == type && kernel->result == type;
    const int64_t step = many ? values->dtype->size : 0;
    nd_blocks b = {.total = count};
    while (nd_next_block(vm, &b)) {
        const char *from = values ? values->data + b.at * step : NULL;
        if (!own || !run_own(number, type, row->data, at + b.at, b.count, from, -(int64_t)many))
            run_each(kernel, facts->inputs, type, row, at + b.at, b.count, from, step);
    }
    const unsigned flags = error_raised(vm);
    if (flags) arith_clear();
    if (row != a) array_spread(a, row);
    vm->api->release(vm, copy);
    return !b.stopped && (!flags || !facts->warns || error_flags(vm, "at", flags));
}

dvx_value at_call(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const nd_ufunc_number number =
        ufunc_number_of(vm->api->payload(vm, args[0], &ufunc_object_type));
    const nd_ufunc_facts *facts = &loops_facts[number];
    nd_array *a = vm->api->payload(vm, args[1], &array_type), *places, *values = NULL;
    nd_type type;
    (void)count;
    if (facts->inputs == 2 && dvx_failed(args[3]))
        return vm->api->raise(vm, DVX_VALUE_ERROR, "second operand needed for ufunc");
    if (facts->inputs == 1 && !dvx_failed(args[3]))
        return vm->api->raise(vm, DVX_VALUE_ERROR, "second operand provided when ufunc is unary");
    if (!a) return vm->api->raise(vm, DVX_TYPE_ERROR, "first operand must be array");
    if (!find_type(vm, number, a, args[3], &type) || !array_writable(vm, a)) return DVX_FAILED;
    dvx_value held = quick_places(vm, a, args[2], &places), other = DVX_FAILED;
    if (dvx_failed(held)) held = tuple_places(vm, a, args[2], &places);
    if (dvx_failed(held)) held = places_of(vm, a, args[2], &places);
    if (dvx_failed(held)) return held;
    bool good = true;
    if (facts->inputs == 2) {
        other = values_for(vm, args[3], ND_DTYPE(type), a, places, &values);
        good = !dvx_failed(other);
    }
    good = good && (!places->size || run_at(vm, number, a, type, places, values));
    vm->api->release(vm, other);
    vm->api->release(vm, held);
    return good ? nd_none(vm) : DVX_FAILED;
}
