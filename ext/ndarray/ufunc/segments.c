/* segments.c: reduceat: reductions of the parts of an axis that begin at given places (reduce.h).
 */
#include "ufunc/reduce.h"

#include <string.h>

#include "loops/arith.h"
#include "ufunc/error.h"
#include "ufunc/ufunc.h"
#include "ufunc/walk.h"

typedef struct segments {
    const nd_kernel *kernel;
    const int64_t *starts;
    int64_t parts, count, size, to_stride, from_stride; /* of the axis */
} segments;

/* A part is its first element, and what the others add to it; one that ends before it begins is
 * its first element alone.  (NumPy's sums begin so, too.)  Sums of more elements than can be added
 * without a look at interrupts have other last digits. */
static bool reduce_line(dvx_vm *vm, const segments *s, char *to, const char *line) {
    enum { AT_ONCE = 1 << 24 };
    for (int64_t i = 0; i < s->parts; i++, to += s->to_stride) {
        const int64_t start = s->starts[i], end = i + 1 < s->parts ? s->starts[i + 1] : s->count;
        const char *from = line + start * s->from_stride;
        memcpy(to, from, (size_t)s->size);
        for (int64_t at = start + 1, n; at < end; at += n) {
            n = end - at < AT_ONCE ? end - at : AT_ONCE;
            s->kernel->fold(to, line + at * s->from_stride, n, s->from_stride);
            if (!nd_work(vm, n / 4)) return false;
        }
    }
    return nd_work(vm, 16 * s->parts);
}

static bool reduce_lines(dvx_vm *vm, void *context, char *const *data, int64_t count,
                         const int64_t *strides) {
    const segments *s = context;
    for (int64_t i = 0; i < count; i++)
        if (!reduce_line(vm, s, data[0] + i * strides[0], data[1] + i * strides[1])) return false;
    return true;
}

static bool check_starts(dvx_vm *vm, nd_ufunc_number number, const int64_t *starts, int64_t parts,
                         int64_t count) {
    for (int64_t i = 0; i < parts; i++)
        if (starts[i] < 0 || starts[i] >= count)
            return nd_fail(vm, DVX_INDEX_ERROR, "index %lld out-of-bounds in %s.reduceat [0, %lld)",
                           (long long)starts[i], loops_facts[number].name, (long long)count);
    return true;
}

/* The indices as int64 in a row; *out is their array.  (Of a list NumPy takes floats, too.) */
static dvx_value read_starts(dvx_vm *vm, dvx_value indices, nd_array **out) {
    const bool given = array_of(vm, indices) != NULL;
    dvx_value held = array_operand(vm, indices, NULL, out), row = DVX_FAILED;
    if (dvx_failed(held)) return held;
    const nd_dtype *from = (*out)->dtype;
    if (given ? !dtype_is_safe(from, ND_DTYPE(ND_INT64)) : from->kind == 'c')
        nd_fail(vm, DVX_TYPE_ERROR,
                "Cannot cast array data from dtype('%s') to dtype('int64') according to the rule "
                "'safe'",
                from->name);
    else if ((*out)->ndim != 1)
        nd_fail(vm, DVX_VALUE_ERROR, "object %s for desired array",
                (*out)->ndim ? "too deep" : "of too small depth");
    else
        row = array_row(vm, held, ND_DTYPE(ND_INT64), out);
    vm->api->release(vm, held);
    return row;
}

static bool run(dvx_vm *vm, nd_ufunc_number number, const nd_array *a, int axis,
                const nd_array *starts, const nd_array *out) {
    segments s = {ufunc_kernel(vm, number, a->dtype->num),
                  (const int64_t *)(const void *)starts->data,
                  starts->size,
                  a->axes[axis].count,
                  a->dtype->size,
                  out->axes[axis].stride,
                  a->axes[axis].stride};
    nd_walk walk;
    if (!check_starts(vm, number, s.starts, s.parts, s.count)) return false;
    if (!out->size) return true;
    walk_lines(&walk, out, a, axis);
    if (error_raised(vm)) arith_clear();
    if (!walk_run(vm, &walk, reduce_lines, &s)) return false;
    const unsigned flags = loops_facts[number].warns ? error_raised(vm) : 0;
    if (flags) arith_clear();
    return !flags || error_flags(vm, "reduceat", flags);
}

static dvx_value reduce_parts(dvx_vm *vm, nd_ufunc_number number, nd_array *a, dvx_value indices,
                              dvx_value axis, nd_array **to) {
    nd_array *starts;
    int64_t shape[ND_MOST];
    int line = 0;
    if (!a->ndim) return nd_raise(vm, DVX_TYPE_ERROR, "cannot reduceat on a scalar");
    if (!dvx_failed(axis) && nd_is_none(vm, axis) && a->ndim > 1)
        return nd_raise(vm, DVX_VALUE_ERROR, "reduceat does not allow multiple axes");
    if (nd_is_given(vm, axis) && !nd_axis_of(vm, axis, a->ndim, &line)) return DVX_FAILED;
    dvx_value held = read_starts(vm, indices, &starts);
    if (dvx_failed(held)) return held;
    array_shape(a, shape);
    shape[line] = starts->size;
    dvx_value made = array_new(vm, a->dtype, a->ndim, shape, to);
    if (!dvx_failed(made) && !run(vm, number, a, line, starts, *to)) {
        vm->api->release(vm, made);
        made = DVX_FAILED;
    }
    vm->api->release(vm, held);
    return made;
}

dvx_value reduce_segments(dvx_vm *vm, nd_ufunc_number number, dvx_value array, dvx_value indices,
                          dvx_value axis, dvx_value dtype, dvx_value out) {
    const nd_reduction r = {.number = number, .dtype = dtype};
    nd_array *a, *to;
    nd_type type;
    dvx_value held = array_operand(vm, array, NULL, &a);
    if (dvx_failed(held)) return held;
    bool good = reduce_type(vm, &r, a, &type);
    if (good && !ufunc_kernel(vm, number, type)->fold)
        good = nd_fail(
            vm, DVX_TYPE_ERROR,
            ufunc_kernel(vm, number, type)->result == type
                ? "reduceat of %s is not part of ndarray"
                : "No loop matching the specified signature and casting was found for ufunc %s",
            loops_facts[number].name);
    vm->api->release(vm, held);
    if (!good) return DVX_FAILED;
    held = array_operand(vm, array, ND_DTYPE(type), &a);
    if (dvx_failed(held)) return held;
    dvx_value made = reduce_parts(vm, number, a, indices, axis, &to);
    vm->api->release(vm, held);
    return dvx_failed(made) ? made : reduce_finish(vm, made, to, out, number);
}
