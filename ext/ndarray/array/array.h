/* array.h: the array: an object with data, dtype, axes, and the owner of the data.
 *
 * Invariants
 *  1. The element with the indices i, j, ... is at data + i * axes[0].stride + j * axes[1].stride
 *     ...; strides are in bytes and may be 0 or negative.  All these elements are aligned and lie
 * in memory that lives as long as the array.
 *  2. That memory is `inline_data` (up to ND_INLINE bytes: object, axes and data are one
 *     allocation), or `memory`, or another array's: then `base` is that array, which has no base
 *     itself, and ND_HAS_BASE is set; or ND_LENT is set, and the buffer of `base` is in use as
 * long.  With ND_RESIZED `base` is an array that only keeps memory that this one had, for views.
 *  3. `axes` is `few` for up to ND_FEW dimensions, else a block of its own.
 *  4. data, element, dimensions, read_only, exports and few are a dvx_buffer, whose float64 and
 *     int64 elements hot loops load and store without a call.  Other dtypes have DVX_OTHER_ITEMS in
 *     `dimensions`; what has no such buffer (too many dimensions or none) has ND_NO_BUFFER.  `ndim`
 *     is always right.
 *  5. size is the product of the counts; ND_C_CONTIGUOUS and ND_F_CONTIGUOUS are up to date.
 *  6. A *scalar* (type np.generic) is the same struct with 0 dimensions that nobody writes to: an
 *     element of a dtype that dl has no numbers for.  array_of takes both.
 *  7. The payload, of `ndarray` and `generic` alike, is aligned to 16 bytes.
 *  8. Counts are not negative, and the product of those that are not 0 with the size of an element
 *     fits into an int64_t, of views too: so do all products of counts of one array.  Products of
 *     counts of several arrays, or of what a program gives, go through array_count, array_measure
 *     array_larger or array_times.
 *  9. Strides by which nobody steps, as the count is 0 or 1, are as small as others, and are
 *     calculated with as they are: one that would lead out of all memory, behind a slice's step, is
 * 0. */
#ifndef ND_ARRAY_H
#define ND_ARRAY_H

#include "array/dtype.h"

enum { ND_FEW = 4, ND_INLINE = 64 };
#define ND_NO_BUFFER UINT32_MAX

enum {
    ND_C_CONTIGUOUS = 1,
    ND_F_CONTIGUOUS = 2,
    ND_HAS_BASE = 4,
    ND_TURNED = 8,   /* NumPy's would be a view of what nobody else has: flags.owndata is False */
    ND_RESIZED = 32, /* not the two others: `base` keeps memory that it had (array/shape.c) */
    ND_LENT = 16,    /* not ND_HAS_BASE: `base` is no array, and lends its buffer (array_lent) */
    ND_CONTIGUOUS = ND_C_CONTIGUOUS | ND_F_CONTIGUOUS
};

typedef struct nd_array {
    char *data;
    uint32_t element, dimensions;
    uint32_t read_only;
    uint32_t exports;
    dvx_axis few[ND_FEW];
    dvx_axis *axes;
    const nd_dtype *dtype;
    int64_t size;
    int32_t ndim;
    uint32_t flags;
    dvx_value base;
    char *memory;
    size_t memory_size;
    _Alignas(16) char inline_data[ND_INLINE];
} nd_array;

extern const dvx_type array_type, scalar_type;

/* The payload of an array or a scalar; NULL: v is neither, nothing is raised. */
static inline nd_array *array_of(dvx_vm *vm, dvx_value v) {
    nd_array *a = vm->api->payload(vm, v, &array_type);
    return LIKELY(a) ? a : vm->api->payload(vm, v, &scalar_type);
}
/* Of a self, which is one of the two. */
#define array_self array_of
static inline bool array_is_scalar(dvx_vm *vm, dvx_value v) {
    return vm->api->payload(vm, v, &scalar_type) != NULL;
}

/* How many bytes C may read where they are, in its order, and write; -1: it may not.  (Bools and
 * complex numbers have no buffer, nor have arrays of no or many axes.) */
static inline int64_t array_gives(const nd_array *a) {
    const bool may =
        a->dimensions != ND_NO_BUFFER && a->element <= DVX_FLOAT64 && a->flags & ND_C_CONTIGUOUS;
    return may ? a->size * a->dtype->size : -1;
}
static inline int64_t array_takes(const nd_array *a) { return a->read_only ? -1 : array_gives(a); }
/* Of the dtype. */
static inline int64_t array_number(const nd_array *a) { return a->dtype->num; }

/* ---- Making ---- */

/* A new array in C order; its elements are not set.  ValueError, MemoryError. */
dvx_value array_new(dvx_vm *vm, const nd_dtype *dtype, int ndim, const int64_t *shape,
                    nd_array **out);
/* With the axes of `like`, and its order in memory, as far as that is possible (order 'K'). */
dvx_value array_new_like(dvx_vm *vm, const nd_dtype *dtype, const nd_array *like, nd_array **out);
/* In Fortran's order if so. */
dvx_value array_new_order(dvx_vm *vm, const nd_dtype *dtype, int ndim, const int64_t *shape,
                          bool fortran, nd_array **out);
/* An object of zeros is made such an array, with zeros as elements. */
bool array_fill_in(dvx_vm *vm, nd_array *a, const nd_dtype *dtype, int ndim, const int64_t *shape,
                   bool fortran);
/* Its axes lie in memory in this order, the last one closest together. */
dvx_value array_new_permuted(dvx_vm *vm, const nd_dtype *dtype, int ndim, const int64_t *shape,
                             const int *order, nd_array **out);
/* Another array on the data of `of`, whose payload is `a`. */
dvx_value array_view(dvx_vm *vm, dvx_value of, const nd_array *a, char *data, int ndim,
                     const dvx_axis *axes, nd_array **out);
/* An array of one axis on the elements from `data` on, which are in the buffer that was got from
 * view->owner: it is given back when the array ends, or at once where there is no memory. */
dvx_value array_lent(dvx_vm *vm, dvx_view *view, char *data, const nd_dtype *dtype, int64_t count);
/* May ND_LENT `a` be written to, for all that its owner says?  Nothing is raised. */
bool array_lends_writable(dvx_vm *vm, const nd_array *a);
/* The same with the axes, dtype and flags of a view that was made before, of up to ND_FEW axes. */
dvx_value array_view_again(dvx_vm *vm, dvx_value of, const nd_array *a, char *data,
                           const nd_array *model);
/* np.True_ or np.False_: all elements of bool arrays are these two. */
static inline dvx_value array_truth(dvx_vm *vm, bool truth) {
    return vm->api->retain(vm, nd_state_of(vm)->truths[truth]);
}
static inline bool array_is_truth(dvx_vm *vm, dvx_value v) {
    const nd_array *a = vm->api->payload(vm, v, &scalar_type);
    return a && a->dtype->num == ND_BOOL;
}
bool array_make_truths(dvx_vm *vm, dvx_value module);
/* The element at `at` as dl sees it: a number, or a scalar. */
dvx_value array_element(dvx_vm *vm, const nd_dtype *dtype, const char *at);
/* A result: of 0 dimensions the element, else the array itself; takes `array`. */
dvx_value array_result(dvx_vm *vm, dvx_value array);
/* A copy in C order ('C'), Fortran's ('F'), or its own ('K'). */
dvx_value array_copy(dvx_vm *vm, const nd_array *a, const nd_dtype *dtype, char order);

/* np.asarray(v, dtype): v itself if it is such an array, else a new array of numbers and nested
 * sequences; dtype NULL: what fits.  A scalar comes back as it is. */
dvx_value array_from(dvx_vm *vm, dvx_value v, const nd_dtype *dtype);
/* The same, and *out is its payload. */
dvx_value array_operand(dvx_vm *vm, dvx_value v, const nd_dtype *dtype, nd_array **out);
/* The same as an array in C order whose elements are where they must be: data can be read in a row.
 */
dvx_value array_row(dvx_vm *vm, dvx_value v, const nd_dtype *dtype, nd_array **out);

/* ---- Elements ---- */

/* Stores v, a number or an array of one element, converted as NumPy does. */
bool array_store(dvx_vm *vm, const nd_dtype *dtype, char *at, dvx_value v);
/* Copies the elements of `from`, broadcast to `to`, with a cast; both may overlap. */
bool array_assign(dvx_vm *vm, nd_array *to, const nd_array *from);
/* The same where no element can be in both and the shapes fit: false: interrupted; and of what is
 * small, so that it cannot fail. */
bool array_pour(dvx_vm *vm, nd_array *to, const nd_array *from);
void array_spread(nd_array *to, const nd_array *from);
/* ValueError: the array is read-only. */
bool array_writable(dvx_vm *vm, const nd_array *a);

/* ---- Axes ---- */

/* The product of counts, from the first on; false, and nothing is raised: some are negative, or it
 * is too large.  (Behind a 0 nothing is, as NumPy has it.) */
bool array_count(int ndim, const int64_t *shape, int64_t *out);
/* The size of all elements of an array of this shape in bytes.  ValueError: invariant 8. */
bool array_measure(dvx_vm *vm, const nd_dtype *dtype, int ndim, const int64_t *shape,
                   size_t *bytes);
/* A count that becomes larger, a + b, or `times` as large: ValueError. */
bool array_larger(dvx_vm *vm, int64_t a, int64_t b, int64_t *out);
bool array_times(dvx_vm *vm, int64_t a, int64_t times, int64_t *out);
/* The axis of `count` elements that lie `step` elements of another one apart (invariant 9). */
static inline dvx_axis axis_stepped(int64_t count, int64_t step, int64_t stride) {
    const int64_t most = (int64_t)1 << 48;
    dvx_axis axis = {count, 0};
    if (__builtin_mul_overflow(step, stride, &axis.stride) || axis.stride > most ||
        axis.stride < -most)
        axis.stride = 0;
    return axis;
}

/* Sets size and flags, and the buffer's words, by the axes. */
void array_update(nd_array *a);
/* Do the two share memory, as far as their bounds tell? */
bool array_may_overlap(const nd_array *a, const nd_array *b);
/* The first byte of the elements, and the first behind them. */
void array_bounds(const nd_array *a, const char **low, const char **high);
static inline void array_shape(const nd_array *a, int64_t *shape) {
    for (int i = 0; i < a->ndim; i++) shape[i] = a->axes[i].count;
}
bool array_same_shape(const nd_array *a, const nd_array *b);
/* The common shape of operands: ValueError "operands could not be broadcast together ...". */
bool array_broadcast(dvx_vm *vm, nd_array *const *operands, int count, int *ndim, int64_t *shape);
/* The strides of `a` when it is broadcast to a shape that it fits. */
void array_strides_in(const nd_array *a, int ndim, int64_t *strides);
/* Writes "(2,3)" or "(2, 3)". */
enum { ND_SHAPE_TEXT = 24 * ND_MOST + 4 };
const char *array_shape_text(int ndim, const int64_t *shape, bool spaces, char *to);
/* A shape as programs give it: an int or a sequence of ints.  TypeError, ValueError. */
bool array_read_shape(dvx_vm *vm, dvx_value v, int *ndim, int64_t shape[ND_MOST]);
/* The same of other ints, which bools are, too. */
bool array_read_ints(dvx_vm *vm, dvx_value v, int *count, int64_t ints[ND_MOST]);
/* (2, 3) as a tuple: new */
dvx_value array_ints(dvx_vm *vm, const int64_t *ints, int count);

#endif
