/* create.c: array, zeros, ones, full and their like, arange (create.h). */
#include "array/create.h"

#include <math.h>

#include "loops/cast.h"
#include "array/convert.h"
#include "array/memory.h"
#include "array/methods.h"

bool create_order(dvx_vm *vm, dvx_value v, char otherwise, char *out) {
    char word[32];
    *out = otherwise;
    if (!nd_is_given(vm, v)) return true;
    nd_word(vm, v, word);
    *out = word[0] >= 'a' ? (char)(word[0] - 'a' + 'A') : word[0];
    if (word[0] && !word[1] && strchr("CFAK", *out)) return true;
    if (vm->api->kind(vm, v) == DVX_STR) {
        dvx_value error = vm->api->error_class(vm, DVX_VALUE_ERROR);
        vm->api->raise_format(vm, error, "order must be one of 'C', 'F', 'A', or 'K' (got '%S')",
                              v);
        vm->api->release(vm, error);
        return false;
    }
    char name[ND_NAME];
    return nd_fail(vm, DVX_TYPE_ERROR, "order must be str, not %s", nd_class_name(vm, v, name));
}

static dvx_value done(dvx_vm *vm, dvx_value made, bool good) {
    if (good || dvx_failed(made)) return made;
    vm->api->release(vm, made);
    return DVX_FAILED;
}

/* ---- From other values ---- */

/* Of at least so many dimensions; takes `array`. */
static dvx_value with_dimensions(dvx_vm *vm, dvx_value array, int64_t least) {
    dvx_axis axes[ND_MOST];
    nd_array *view;
    if (dvx_failed(array)) return array;
    const nd_array *a = array_of(vm, array);
    if (a->ndim >= least) return array;
    if (least > ND_MOST) {
        vm->api->release(vm, array);
        return nd_raise(vm, DVX_VALUE_ERROR,
                        "ndmin bigger than allowable number of dimensions NPY_MAXDIMS (=%d)",
                        ND_MOST);
    }
    int more = (int)least - a->ndim;
    for (int i = 0; i < more; i++) axes[i] = (dvx_axis){1, (int64_t)a->size * a->dtype->size};
    memcpy(axes + more, a->axes, (size_t)a->ndim * sizeof *axes);
    dvx_value made = array_view(vm, array, a, a->data, (int)least, axes, &view);
    vm->api->release(vm, array);
    return made;
}

/* v as an ndarray of this order, without a copy if it is one. */
static dvx_value as_array(dvx_vm *vm, dvx_value v, const nd_dtype *dtype, char order) {
    const nd_array *a = array_of(vm, v);
    if (a && !array_is_scalar(vm, v) && (!dtype || a->dtype == dtype)) {
        bool fits = order == 'C'   ? a->flags & ND_C_CONTIGUOUS
                    : order == 'F' ? a->flags & ND_F_CONTIGUOUS
                                   : true;
        if (fits) return vm->api->retain(vm, v);
    }
    return convert_copy(vm, v, dtype, order);
}

/* array(object, dtype=None, copy=True, order='K', subok=False, ndmin=0) */
static dvx_value array(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const nd_dtype *dtype;
    char order;
    int64_t least = 0;
    (void)count;
    int copy = nd_flag(vm, args[2], true);
    if (copy < 0 || !dtype_read_given(vm, args[1], NULL, &dtype) ||
        !create_order(vm, args[3], 'K', &order) ||
        (!dvx_failed(args[5]) && !nd_read_index(vm, args[5], &least)))
        return DVX_FAILED;
    dvx_value made =
        copy ? convert_copy(vm, args[0], dtype, order) : as_array(vm, args[0], dtype, order);
    return with_dimensions(vm, made, least);
}

/* asarray(a, dtype=None, order=None), asanyarray */
static dvx_value asarray(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const nd_dtype *dtype;
    char order;
    (void)count;
    if (!dtype_read_given(vm, args[1], NULL, &dtype) || !create_order(vm, args[2], 'K', &order))
        return DVX_FAILED;
    return as_array(vm, args[0], dtype, order);
}

/* Of an array alone it is the array: calls that see one need no parameters. */
static bool takes_array(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    return count == 1 && vm->api->payload(vm, args[0], &array_type);
}

static dvx_outcome give_array(dvx_vm *vm, const dvx_value *args, uint32_t count,
                              dvx_value *result) {
    if (!takes_array(vm, args, count)) return DVX_DEOPTIMISE;
    *result = vm->api->retain(vm, args[0]);
    return DVX_DONE;
}

static const dvx_derivative array_as_it_is = {.size = sizeof(dvx_derivative),
                                              .where = DVX_HERE,
                                              .name = "CALL_ASARRAY",
                                              .guard = takes_array,
                                              .run = give_array};
static const dvx_derivative *const as_arrays[] = {&array_as_it_is};

/* The same of arrays with an axis at least that are laid out as they shall be. */
#define LAID_OUT(layout, title, flag)                                                       \
    static bool takes_##layout(dvx_vm *vm, const dvx_value *args, uint32_t count) {         \
        const nd_array *a = count == 1 ? vm->api->payload(vm, args[0], &array_type) : NULL; \
        return a && a->ndim > 0 && a->flags & (flag);                                       \
    }                                                                                       \
    static dvx_outcome give_##layout(dvx_vm *vm, const dvx_value *args, uint32_t count,     \
                                     dvx_value *result) {                                   \
        if (!takes_##layout(vm, args, count)) return DVX_DEOPTIMISE;                        \
        *result = vm->api->retain(vm, args[0]);                                             \
        return DVX_DONE;                                                                    \
    }                                                                                       \
    static const dvx_derivative layout##_as_it_is = {.size = sizeof(dvx_derivative),        \
                                                     .where = DVX_HERE,                     \
                                                     .name = title,                         \
                                                     .guard = takes_##layout,               \
                                                     .run = give_##layout};                 \
    static const dvx_derivative *const as_##layout[] = {&layout##_as_it_is}
LAID_OUT(contiguous, "CALL_ASCONTIGUOUSARRAY", ND_C_CONTIGUOUS);
LAID_OUT(fortran, "CALL_ASFORTRANARRAY", ND_F_CONTIGUOUS);

static dvx_value ascontiguousarray(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const nd_dtype *dtype;
    (void)count;
    if (!dtype_read_given(vm, args[1], NULL, &dtype)) return DVX_FAILED;
    return with_dimensions(vm, as_array(vm, args[0], dtype, 'C'), 1);
}

static dvx_value asfortranarray(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const nd_dtype *dtype;
    (void)count;
    if (!dtype_read_given(vm, args[1], NULL, &dtype)) return DVX_FAILED;
    return with_dimensions(vm, as_array(vm, args[0], dtype, 'F'), 1);
}

/* copy(a, order='K') */
static dvx_value copy(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    char order;
    (void)count;
    if (!create_order(vm, args[1], 'K', &order)) return DVX_FAILED;
    return convert_copy(vm, args[0], NULL, order);
}

/* ---- Of one value ---- */

static bool is_zero(const char *value, size_t size) {
    while (size-- > 0)
        if (value[size]) return false;
    return true;
}

/* (The first bytes are copied by the vectors that memcpy has; PATTERN is a multiple of all sizes.)
 */
enum { PATTERN = 4096, ROW = 64 };
bool create_fill(dvx_vm *vm, nd_array *a, const char *value) {
    size_t size = a->dtype->size;
    nd_array one = {.dtype = a->dtype};
    if (a->flags & ND_CONTIGUOUS) {
        const size_t bytes = (size_t)a->size * size, block = bytes < PATTERN ? bytes : PATTERN;
        if (is_zero(value, size)) return nd_clear(vm, a->data, bytes);
        cast_between(a->dtype, a->dtype)(a->data, (int64_t)size, value, 0, (int64_t)(block / size));
        for (size_t done = block; done < bytes; done += block) {
            memcpy(a->data + done, a->data, bytes - done < block ? bytes - done : block);
            if (!nd_work(vm, (int64_t)(block / 64))) return false;
        }
        return nd_work(vm, (int64_t)(block / 64));
    }
    dvx_axis *inner = a->axes + a->ndim - 1;
    if (a->size && a->ndim > 1 && inner->stride == (int64_t)size &&
        inner->count * inner->stride >= ROW) {
        /* The first row, and copies of it: these are made by wider instructions than the fill. */
        cast_between(a->dtype, a->dtype)(a->data, inner->stride, value, 0, inner->count);
        nd_array row = {.data = a->data, .dtype = a->dtype, .axes = inner, .ndim = 1};
        array_update(&row);
        return array_pour(vm, a, &row);
    }
    one.data = one.inline_data;
    one.axes = one.few;
    memcpy(one.data, value, size);
    array_update(&one);
    return array_pour(vm, a, &one);
}

dvx_value create_zeros(dvx_vm *vm, const nd_dtype *dtype, int ndim, const int64_t *shape,
                       nd_array **out) {
    dvx_value made = array_new(vm, dtype, ndim, shape, out);
    return done(vm, made,
                !dvx_failed(made) &&
                    nd_clear(vm, (*out)->data, (size_t)(*out)->size * dtype->size));
}

/* What the functions of a shape share: a new array of args[0], args[dtype], args[order]. */
static dvx_value of_shape(dvx_vm *vm, const dvx_value *args, nd_array **out) {
    const nd_dtype *dtype;
    int64_t shape[ND_MOST];
    int ndim;
    char order;
    if (!array_read_shape(vm, args[0], &ndim, shape) ||
        !dtype_read_given(vm, args[1], ND_DTYPE(ND_FLOAT64), &dtype) ||
        !create_order(vm, args[2], 'C', &order))
        return DVX_FAILED;
    return array_new_order(vm, dtype, ndim, shape, order == 'F', out);
}

/* ndarray(shape, dtype=float, buffer=None, offset=0, strides=None, order=None) */
static const char *const empty_names[] = {"shape", "dtype", "buffer", "offset", "strides", "order"};
const dvx_parameters create_empty_parameters = {sizeof(dvx_parameters), empty_names,
                                                LENGTH_OF(empty_names), LENGTH_OF(empty_names), 1};
bool create_empty(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    const nd_dtype *dtype;
    int64_t shape[ND_MOST];
    int ndim;
    char order;
    nd_array *a = array_of(vm, self);
    (void)count;
    if (nd_is_given(vm, args[2]) || !dvx_failed(args[3]) || nd_is_given(vm, args[4]) || a->dtype)
        return nd_fail(vm, DVX_TYPE_ERROR,
                       "arrays of a buffer, an offset or strides are not part of ndarray");
    return array_read_shape(vm, args[0], &ndim, shape) &&
           dtype_read_given(vm, args[1], ND_DTYPE(ND_FLOAT64), &dtype) &&
           create_order(vm, args[5], 'C', &order) &&
           array_fill_in(vm, a, dtype, ndim, shape, order == 'F');
}

/* Fills with an int of dl. */
static bool fill_int(dvx_vm *vm, nd_array *a, int64_t i) {
    char value[16];
    cast_between(ND_DTYPE(ND_INT64), a->dtype)(value, 0, (const char *)&i, 0, 1);
    return create_fill(vm, a, value);
}

/* zeros(shape, dtype=float, order='C') */
static dvx_value zeros(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    (void)count;
    dvx_value made = of_shape(vm, args, &a);
    return done(vm, made, !dvx_failed(made) && fill_int(vm, a, 0));
}
static dvx_value ones(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    (void)count;
    dvx_value made = of_shape(vm, args, &a);
    return done(vm, made, !dvx_failed(made) && fill_int(vm, a, 1));
}

/* Fills with a value, or with the elements of an array that fits. */
static bool fill_value(dvx_vm *vm, nd_array *a, dvx_value v) {
    char given[16], value[16];
    nd_array *from;
    const nd_dtype *kind = convert_kind(vm, v);
    if (kind) { /* cast as an array would be */
        if (!array_store(vm, kind, given, v)) return false;
        cast_between(kind, a->dtype)(value, 0, given, 0, 1);
        return create_fill(vm, a, value);
    }
    dvx_value array = array_operand(vm, v, NULL, &from);
    bool good = !dvx_failed(array) && array_assign(vm, a, from);
    vm->api->release(vm, array);
    return good;
}

/* full(shape, fill_value, dtype=None, order='C') */
static dvx_value full(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a, *from;
    (void)count;
    const dvx_value rest[3] = {args[0], args[2], args[3]};
    if (nd_is_given(vm, args[2]) || vm->api->kind(vm, args[1]) == DVX_FLOAT) {
        dvx_value made = of_shape(vm, rest, &a);
        return done(vm, made, !dvx_failed(made) && fill_value(vm, a, args[1]));
    }
    dvx_value value = array_operand(vm, args[1], NULL, &from);
    if (dvx_failed(value)) return value;
    const dvx_value typed[3] = {args[0], nd_state_of(vm)->dtypes[from->dtype->num], args[3]};
    dvx_value made = of_shape(vm, typed, &a);
    made = done(vm, made, !dvx_failed(made) && array_assign(vm, a, from));
    vm->api->release(vm, value);
    return made;
}

/* A new array like args[0], with args[dtype], args[order], args[shape] if given. */
static dvx_value like(dvx_vm *vm, dvx_value of, dvx_value type, dvx_value order_, dvx_value shape_,
                      nd_array **out) {
    const nd_dtype *dtype;
    nd_array *a;
    int64_t shape[ND_MOST];
    int ndim;
    char order;
    dvx_value made = DVX_FAILED, array = array_operand(vm, of, NULL, &a);
    if (dvx_failed(array)) return array;
    if (dtype_read_given(vm, type, a->dtype, &dtype) && create_order(vm, order_, 'K', &order)) {
        array_shape(a, shape);
        ndim = a->ndim;
        bool good = !nd_is_given(vm, shape_) || array_read_shape(vm, shape_, &ndim, shape);
        if (good && order == 'K' && !nd_is_given(vm, shape_))
            made = array_new_like(vm, dtype, a, out);
        else if (good)
            made = array_new_order(vm, dtype, ndim, shape, order == 'F', out);
    }
    vm->api->release(vm, array);
    return made;
}

/* The elements of a new array that nobody sets are those of an array that is gone, or zeros: memory
 * that others have had is not for programs. */
static bool clear_foreign(dvx_vm *vm, nd_array *a) {
    const size_t bytes = (size_t)a->size * a->dtype->size;
    return (bytes > ND_UNALIGNED && !memory_is_foreign(vm)) || nd_clear(vm, a->data, bytes);
}

/* empty(shape, dtype=float, order='C') */
static dvx_value empty(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    (void)count;
    dvx_value made = of_shape(vm, args, &a);
    return done(vm, made, !dvx_failed(made) && clear_foreign(vm, a));
}

/* empty_like(prototype, dtype=None, order='K', subok=True, shape=None) */
static dvx_value empty_like(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    (void)count;
    dvx_value made = like(vm, args[0], args[1], args[2], args[4], &a);
    return done(vm, made, !dvx_failed(made) && clear_foreign(vm, a));
}
static dvx_value zeros_like(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    (void)count;
    dvx_value made = like(vm, args[0], args[1], args[2], args[4], &a);
    return done(vm, made, !dvx_failed(made) && fill_int(vm, a, 0));
}
static dvx_value ones_like(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    (void)count;
    dvx_value made = like(vm, args[0], args[1], args[2], args[4], &a);
    return done(vm, made, !dvx_failed(made) && fill_int(vm, a, 1));
}
/* full_like(a, fill_value, dtype=None, order='K', subok=True, shape=None) */
static dvx_value full_like(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    (void)count;
    dvx_value made = like(vm, args[0], args[2], args[3], args[5], &a);
    return done(vm, made, !dvx_failed(made) && fill_value(vm, a, args[1]));
}

/* ---- Rows of numbers ---- */

/* As NumPy: the first two elements are converted to the dtype, the others follow at their distance.
 * False: interrupted. */
static bool fill_ints(dvx_vm *vm, int64_t *to, int64_t count, int64_t first, int64_t second) {
    uint64_t step = (uint64_t)second - (uint64_t)first;
    nd_blocks b = {.total = count};
    while (nd_next_block(vm, &b))
        for (int64_t i = b.at; i < b.at + b.count; i++)
            to[i] = (int64_t)((uint64_t)first + (uint64_t)i * step);
    return !b.stopped;
}
#define FILL(T, name)                                                                    \
    static bool fill_##name(dvx_vm *vm, T *to, int64_t count, T first, T second) {       \
        const T step = second - first;                                                   \
        nd_blocks b = {.total = count};                                                  \
        while (nd_next_block(vm, &b))                                                    \
            for (int64_t i = b.at; i < b.at + b.count; i++) to[i] = first + (T)i * step; \
        to[0] = first;                                                                   \
        if (count > 1) to[1] = second;                                                   \
        return !b.stopped;                                                               \
    }
FILL(double, doubles)
FILL(float, floats)

dvx_value create_range(dvx_vm *vm, int64_t count, nd_array **out) {
    dvx_value made = array_new(vm, ND_DTYPE(ND_INT64), 1, &count, out);
    if (dvx_failed(made)) return made;
    return done(vm, made, fill_ints(vm, (int64_t *)(void *)(*out)->data, count, 0, 1));
}

/* What arange goes by: doubles, or ints if all three are. */
typedef struct progression {
    bool ints;
    int64_t start, step;
    double first, by;
    int64_t count;
} progression;

static bool count_ints(dvx_vm *vm, progression *p, int64_t stop) {
    int64_t distance;
    if (p->step == 0) return nd_fail(vm, DVX_ZERO_DIVISION_ERROR, "division by zero");
    if (__builtin_sub_overflow(stop, p->start, &distance) ||
        (distance == INT64_MIN && p->step == -1))
        return nd_fail(vm, DVX_VALUE_ERROR, "Maximum allowed size exceeded");
    p->count = distance / p->step + (distance % p->step != 0 && (distance < 0) == (p->step < 0));
    if (p->count < 0) p->count = 0;
    return true;
}

static bool count_floats(dvx_vm *vm, progression *p, double stop) {
    if (p->by == 0) return nd_fail(vm, DVX_ZERO_DIVISION_ERROR, "float division by zero");
    const double distance = stop - p->first, ratio = distance / p->by;
    double count = ceil(ratio);
    if (ratio == 0 && distance != 0) count = signbit(ratio) ? 0 : 1; /* (the step is infinite) */
    if (count != count) return nd_fail(vm, DVX_VALUE_ERROR, "arange: cannot compute length");
    if (!(count < 0x1p62)) return nd_fail(vm, DVX_VALUE_ERROR, "Maximum allowed size exceeded");
    p->count = count > 0 ? (int64_t)count : 0;
    return true;
}

static bool is_int(dvx_vm *vm, dvx_value v) {
    const nd_dtype *d = convert_kind(vm, v);
    return d && dtype_is_integer(d);
}

/* A bound as a double, and as an int if it is one. */
static bool read_bound(dvx_vm *vm, dvx_value v, bool ints, int64_t *i, double *d) {
    if (!convert_kind(vm, v)) {
        char name[ND_NAME];
        return nd_fail(vm, DVX_TYPE_ERROR, "bounds of arange of type '%s' are not part of dl",
                       nd_class_name(vm, v, name));
    }
    if (!array_store(vm, ND_DTYPE(ints ? ND_INT64 : ND_FLOAT64), ints ? (char *)i : (char *)d, v))
        return false;
    if (ints) *d = (double)*i;
    return true;
}

static bool read_progression(dvx_vm *vm, const dvx_value *args, progression *p) {
    int64_t stop_int = 0;
    double stop = 0;
    dvx_value zero = vm->api->make_int(vm, 0), one = vm->api->make_int(vm, 1);
    if (dvx_failed(args[0]) && dvx_failed(args[1]))
        return nd_fail(vm, DVX_TYPE_ERROR, "arange() requires stop to be specified.");
    bool both = nd_is_given(vm, args[1]);
    dvx_value a = both && nd_is_given(vm, args[0]) ? args[0] : zero, b = both ? args[1] : args[0];
    dvx_value c = nd_is_given(vm, args[2]) ? args[2] : one;
    p->ints = is_int(vm, a) && is_int(vm, b) && is_int(vm, c);
    return read_bound(vm, a, p->ints, &p->start, &p->first) &&
           read_bound(vm, b, p->ints, &stop_int, &stop) &&
           read_bound(vm, c, p->ints, &p->step, &p->by) &&
           (p->ints ? count_ints(vm, p, stop_int) : count_floats(vm, p, stop));
}

static bool fill_progression(dvx_vm *vm, nd_array *a, const progression *p) {
    double first = p->first, second = p->first + p->by;
    int64_t start = p->start, next = (int64_t)((uint64_t)p->start + (uint64_t)p->step);
    void *to = a->data;
    if (p->ints && dtype_is_integer(a->dtype)) {
        return fill_ints(vm, to, a->size, start, next);
    } else if (dtype_is_integer(a->dtype)) {
        nd_cast cast = cast_between(ND_DTYPE(ND_FLOAT64), ND_DTYPE(ND_INT64));
        cast((char *)&start, 0, (const char *)&first, 0, 1);
        cast((char *)&next, 0, (const char *)&second, 0, 1);
        return fill_ints(vm, to, a->size, start, next);
    } else if (a->dtype->num == ND_FLOAT32) {
        return fill_floats(vm, to, a->size, (float)first, (float)second);
    }
    return fill_doubles(vm, to, a->size, first, second);
}

/* The first two ints must fit the dtype. */
static bool check_first(dvx_vm *vm, const nd_dtype *dtype, const progression *p) {
    char one[16];
    if (!p->ints || !dtype_is_integer(dtype) || dtype->num == ND_BOOL) return true;
    for (int64_t i = 0; i < 2 && i < p->count; i++) {
        dvx_value v = vm->api->make_int(vm, p->start + i * p->step);
        bool good = !dvx_failed(v) && array_store(vm, dtype, one, v);
        vm->api->release(vm, v);
        if (!good) return false;
    }
    return true;
}

/* arange([start,] stop, step=1, dtype=None) */
static dvx_value arange(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const nd_dtype *dtype;
    progression p = {0};
    nd_array *a;
    (void)count;
    if (!read_progression(vm, args, &p) ||
        !dtype_read_given(vm, args[3], ND_DTYPE(p.ints ? ND_INT64 : ND_FLOAT64), &dtype))
        return DVX_FAILED;
    /* Types without a loop of their own are cast from one that has. */
    bool direct = dtype->num == ND_INT64 || dtype->num == ND_FLOAT64 || dtype->num == ND_FLOAT32;
    const nd_dtype *by = direct ? dtype : ND_DTYPE(dtype_is_integer(dtype) ? ND_INT64 : ND_FLOAT64);
    if (!check_first(vm, dtype, &p)) return DVX_FAILED;
    dvx_value made = array_new(vm, by, 1, &p.count, &a);
    if (dvx_failed(made)) return made;
    if (a->size && !fill_progression(vm, a, &p)) return done(vm, made, false);
    if (direct) return made;
    dvx_value cast = array_copy(vm, a, dtype, 'C');
    vm->api->release(vm, made);
    return cast;
}

/* ---- Foreign memory ---- */

/* Do its elements lie in a row?  And how many bytes are they? */
static bool is_in_a_row(const dvx_buffer *b, int64_t *bytes) {
    static const uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8}; /* dvx_element */
    *bytes = sizes[b->element];
    bool good = true;
    for (uint32_t i = b->dimensions; i-- > 0;) {
        good = good && (b->axes[i].count <= 1 || b->axes[i].stride == *bytes);
        *bytes *= b->axes[i].count;
    }
    return good || !*bytes;
}

/* How many elements there are from `offset` bytes on; -1: raised. */
static int64_t count_lent(dvx_vm *vm, const nd_dtype *dtype, int64_t bytes, int64_t offset,
                          int64_t count) {
    const char *why = NULL;
    if (offset < 0 || offset > bytes) {
        nd_fail(vm, DVX_VALUE_ERROR,
                "offset must be non-negative and no greater than buffer length (%lld)",
                (long long)bytes);
        return -1;
    }
    if (count < 0 && (bytes - offset) % dtype->size)
        why = "buffer size must be a multiple of element size";
    else if (count > (bytes - offset) / dtype->size)
        why = "buffer is smaller than requested size";
    if (!why) return count < 0 ? (bytes - offset) / dtype->size : count;
    nd_fail(vm, DVX_VALUE_ERROR, "%s", why);
    return -1;
}

/* A copy that nobody can write to: of elements that are not aligned, or bools, which any byte but 0
 * makes True. */
static dvx_value copy_lent(dvx_vm *vm, const char *data, const nd_dtype *dtype, int64_t count) {
    nd_array *a;
    dvx_value made = array_new(vm, dtype, 1, &count, &a);
    if (dvx_failed(made)) return made;
    // The data of an empty buffer may be NULL, which memcpy must not see.
    if (count) memcpy(a->data, data, (size_t)(count * dtype->size));
    for (int64_t i = 0; dtype->num == ND_BOOL && i < count; i++) a->data[i] = a->data[i] != 0;
    a->read_only = 1;
    return made;
}

static dvx_value frombuffer(dvx_vm *vm, const dvx_value *args, uint32_t n) {
    const nd_dtype *dtype;
    int64_t count = -1, offset = 0, bytes;
    dvx_view view;
    (void)n;
    if (!dtype_read_given(vm, args[1], ND_DTYPE(ND_FLOAT64), &dtype) ||
        (!dvx_failed(args[2]) && !vm->api->read_int(vm, args[2], &count)) ||
        (!dvx_failed(args[3]) && !vm->api->read_int(vm, args[3], &offset)) ||
        !vm->api->buffer_get(vm, args[0], false, &view))
        return DVX_FAILED;
    const bool good = is_in_a_row(&view.buffer, &bytes);
    if (!good) nd_fail(vm, DVX_VALUE_ERROR, "ndarray is not C-contiguous");
    count = good ? count_lent(vm, dtype, bytes, offset, count) : -1;
    char *data = count > 0 ? (char *)view.buffer.data + offset : NULL;
    const int64_t unit = dtype->size > 8 ? 8 : dtype->size;
    if (count > 0 && dtype->num != ND_BOOL && (uintptr_t)data % (uintptr_t)unit == 0)
        return array_lent(vm, &view, data, dtype, count);
    dvx_value made = count < 0 ? DVX_FAILED : copy_lent(vm, data, dtype, count);
    vm->api->buffer_release(vm, &view);
    return made;
}

/* ---- The module ---- */

ND_PARAMETERS(of_object, 1, "object", "dtype", "copy", "order", "subok", "ndmin");
ND_PARAMETERS(of_a, 1, "a", "dtype", "order");
ND_PARAMETERS(of_copy, 1, "a", "order", "subok");
ND_PARAMETERS(by_shape, 1, "shape", "dtype", "order");
ND_PARAMETERS(of_full, 2, "shape", "fill_value", "dtype", "order");
ND_PARAMETERS(of_prototype, 1, "prototype", "dtype", "order", "subok", "shape");
ND_PARAMETERS(like_a, 1, "a", "dtype", "order", "subok", "shape");
ND_PARAMETERS(like_full, 2, "a", "fill_value", "dtype", "order", "subok", "shape");
ND_PARAMETERS(of_arange, 0, "start", "stop", "step", "dtype");
ND_PARAMETERS(of_buffer, 1, "buffer", "dtype", "count", "offset");

static const dvx_function functions[] = {
    ND_NAMED("array", array, of_object),
    ND_DERIVED("asarray", asarray, of_a, as_arrays),
    ND_DERIVED("asanyarray", asarray, of_a, as_arrays),
    ND_DERIVED("ascontiguousarray", ascontiguousarray, of_a, as_contiguous),
    ND_DERIVED("asfortranarray", asfortranarray, of_a, as_fortran),
    ND_NAMED("copy", copy, of_copy),
    ND_NAMED("zeros", zeros, by_shape),
    ND_NAMED("empty", empty, by_shape),
    ND_NAMED("ones", ones, by_shape),
    ND_NAMED("full", full, of_full),
    ND_NAMED("empty_like", empty_like, of_prototype),
    ND_NAMED("zeros_like", zeros_like, like_a),
    ND_NAMED("ones_like", ones_like, like_a),
    ND_NAMED("full_like", full_like, like_full),
    ND_NAMED("arange", arange, of_arange),
    ND_NAMED("frombuffer", frombuffer, of_buffer),
};

bool create_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
