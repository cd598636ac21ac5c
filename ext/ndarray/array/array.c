/* array.c: making arrays, views and scalars, and what their axes say (array.h). */
#include "array/array.h"

#include <stdio.h>
#include <stdlib.h>

#include "loops/cast.h"
#include "ufunc/collect.h"
#include "array/memory.h"
#include "loops/turn.h"

/* ---- Axes ---- */

static uint32_t contiguity(const nd_array *a) {
    uint32_t flags = ND_CONTIGUOUS;
    int64_t c = a->dtype->size, f = c;
    if (a->size == 0) return flags;
    for (int i = a->ndim; i-- > 0;) {
        if (a->axes[i].count == 1) continue;
        if (a->axes[i].stride != c) flags &= ~(uint32_t)ND_C_CONTIGUOUS;
        c *= a->axes[i].count;
    }
    for (int i = 0; i < a->ndim; i++) {
        if (a->axes[i].count == 1) continue;
        if (a->axes[i].stride != f) flags &= ~(uint32_t)ND_F_CONTIGUOUS;
        f *= a->axes[i].count;
    }
    return flags;
}

/* What a buffer of up to ND_FEW axes says of itself. */
static uint32_t lent_dimensions(const nd_dtype *dtype, int ndim) {
    const bool numbers = dtype->num == ND_FLOAT64 || dtype->num == ND_INT64;
    if (!ndim) return ND_NO_BUFFER;
    return (uint32_t)ndim | (numbers ? 0 : DVX_OTHER_ITEMS);
}

void array_update(nd_array *a) {
    a->size = 1;
    for (int i = 0; i < a->ndim; i++) a->size *= a->axes[i].count;
    a->flags = (a->flags & ~(uint32_t)ND_CONTIGUOUS) | contiguity(a);
    a->element = a->dtype->element;
    a->dimensions = a->ndim <= ND_FEW ? lent_dimensions(a->dtype, a->ndim) : ND_NO_BUFFER;
}

void array_bounds(const nd_array *a, const char **low, const char **high) {
    *low = a->data;
    *high = a->data + (a->size ? a->dtype->size : 0);
    for (int i = 0; i < a->ndim && a->size; i++) {
        int64_t reach = (a->axes[i].count - 1) * a->axes[i].stride;
        if (reach < 0)
            *low += reach;
        else
            *high += reach;
    }
}

bool array_may_overlap(const nd_array *a, const nd_array *b) {
    const char *low, *high, *other_low, *other_high;
    array_bounds(a, &low, &high);
    array_bounds(b, &other_low, &other_high);
    return low < other_high && other_low < high;
}

bool array_same_shape(const nd_array *a, const nd_array *b) {
    if (a->ndim != b->ndim) return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->axes[i].count != b->axes[i].count) return false;
    return true;
}

const char *array_shape_text(int ndim, const int64_t *shape, bool spaces, char *to) {
    char *at = to;
    *at++ = '(';
    for (int i = 0; i < ndim; i++)
        at += sprintf(at, "%s%lld", !i ? "" : spaces ? ", " : ",", (long long)shape[i]);
    strcpy(at, ndim == 1 ? ",)" : ")");
    return to;
}

bool array_count(int ndim, const int64_t *shape, int64_t *out) {
    *out = 1;
    for (int i = 0; i < ndim; i++)
        if (shape[i] < 0 || __builtin_mul_overflow(*out, shape[i], out)) return false;
    return true;
}

static bool raise_too_big(dvx_vm *vm) {
    return nd_fail(vm, DVX_VALUE_ERROR,
                   "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum "
                   "possible size.");
}

bool array_larger(dvx_vm *vm, int64_t a, int64_t b, int64_t *out) {
    return !__builtin_add_overflow(a, b, out) || raise_too_big(vm);
}

bool array_times(dvx_vm *vm, int64_t a, int64_t times, int64_t *out) {
    return !__builtin_mul_overflow(a, times, out) || raise_too_big(vm);
}

bool array_measure(dvx_vm *vm, const nd_dtype *dtype, int ndim, const int64_t *shape,
                   size_t *bytes) {
    int64_t total = dtype->size;
    bool none = false;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] < 0)
            return nd_fail(vm, DVX_VALUE_ERROR, "negative dimensions are not allowed");
        none |= shape[i] == 0;
        if (shape[i] && __builtin_mul_overflow(total, shape[i], &total)) return raise_too_big(vm);
    }
    *bytes = none ? 0 : (size_t)total;
    return true;
}

static bool raise_broadcast(dvx_vm *vm, nd_array *const *operands, int count) {
    char text[1800], one[ND_SHAPE_TEXT];
    int64_t shape[ND_MOST];
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < count && used < sizeof text - ND_SHAPE_TEXT; i++) {
        array_shape(operands[i], shape);
        used += (size_t)sprintf(text + used, "%s ",
                                array_shape_text(operands[i]->ndim, shape, false, one));
    }
    return nd_fail(vm, DVX_VALUE_ERROR, "operands could not be broadcast together with shapes %s",
                   text);
}

bool array_broadcast(dvx_vm *vm, nd_array *const *operands, int count, int *ndim, int64_t *shape) {
    *ndim = 0;
    for (int i = 0; i < count; i++)
        if (operands[i]->ndim > *ndim) *ndim = operands[i]->ndim;
    for (int k = 0; k < *ndim; k++) shape[k] = 1;
    for (int i = 0; i < count; i++) {
        int shift = *ndim - operands[i]->ndim;
        for (int k = 0; k < operands[i]->ndim; k++) {
            int64_t n = operands[i]->axes[k].count;
            if (n == 1 || n == shape[k + shift]) continue;
            if (shape[k + shift] != 1) return raise_broadcast(vm, operands, count);
            shape[k + shift] = n;
        }
    }
    int64_t all;
    return LIKELY(array_count(*ndim, shape, &all)) ||
           nd_fail(vm, DVX_VALUE_ERROR, "iterator is too large");
}

void array_strides_in(const nd_array *a, int ndim, int64_t *strides) {
    int shift = ndim - a->ndim;
    for (int k = 0; k < ndim; k++)
        strides[k] = k < shift || a->axes[k - shift].count == 1 ? 0 : a->axes[k - shift].stride;
}

dvx_value array_ints(dvx_vm *vm, const int64_t *ints, int count) {
    dvx_value few[ND_MOST] = {DVX_FAILED};
    for (int i = 0; i < count; i++) few[i] = vm->api->make_int(vm, ints[i]);
    dvx_value tuple = vm->api->make_tuple(vm, few, (size_t)count);
    for (int i = 0; i < count; i++) vm->api->release(vm, few[i]);
    return tuple;
}

/* `read`: an int. */
static bool read_shape(dvx_vm *vm, dvx_value v, int *ndim, int64_t shape[ND_MOST],
                       bool (*read)(dvx_vm *vm, dvx_value v, int64_t *out)) {
    dvx_kind kind = vm->api->kind(vm, v);
    if (kind == DVX_INT) {
        *ndim = 1;
        return vm->api->read_int(vm, v, shape);
    }
    int64_t count = kind == DVX_BOOL ? -1 : vm->api->length(vm, v);
    if (count < 0) {
        vm->api->clear_error(vm);
        *ndim = 1;
        if (read(vm, v, shape)) return true;
        vm->api->clear_error(vm);
        dvx_value error = vm->api->error_class(vm, DVX_TYPE_ERROR);
        vm->api->raise_format(vm, error,
                              "expected a sequence of integers or a single integer, got '%V'", v);
        vm->api->release(vm, error);
        return false;
    }
    if (count > ND_MOST)
        return nd_fail(vm, DVX_VALUE_ERROR,
                       "maximum supported dimension for an ndarray is 32, found %lld",
                       (long long)count);
    *ndim = (int)count;
    int done = 0;
#ifdef DVX_NATIVE
    for (; dv_is_tuple(v) && done < *ndim && dv_is_int(dv_as_tuple(v)->items[done]); done++)
        shape[done] = dv_as_int(dv_as_tuple(v)->items[done]);
#endif
    for (int i = done; i < *ndim; i++) {
        dvx_value item = vm->api->get_item(vm, v, vm->api->make_int(vm, i));
        bool good = !dvx_failed(item) && read(vm, item, &shape[i]);
        vm->api->release(vm, item);
        if (!good) return false;
    }
    return true;
}

bool array_read_shape(dvx_vm *vm, dvx_value v, int *ndim, int64_t shape[ND_MOST]) {
    nd_state *state = nd_state_of(vm);
    state->busy++;
    bool good = read_shape(vm, v, ndim, shape, nd_read_int_no_bool);
    state->busy--;
    return good;
}

bool array_read_ints(dvx_vm *vm, dvx_value v, int *count, int64_t ints[ND_MOST]) {
    nd_state *state = nd_state_of(vm);
    state->busy++;
    bool good = read_shape(vm, v, count, ints, nd_read_index);
    state->busy--;
    return good;
}

/* ---- Making ---- */

/* MemoryError with NumPy's words. */
static bool raise_memory(dvx_vm *vm, const nd_dtype *dtype, int ndim, const int64_t *shape,
                         size_t bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    char text[ND_SHAPE_TEXT], amount[40];
    int unit = 0;
    double x = (double)bytes;
    while (x >= 1023.5 && unit < 6) x /= 1024, unit++;
    /* Three digits, and always a point (but for bytes). */
    int behind = x < 9.995 ? 2 : x < 99.95 ? 1 : 0;
    long long scale = behind == 2 ? 100 : behind == 1 ? 10 : 1;
    long long all = (long long)(x * (double)scale + 0.5);
    if (unit == 0)
        snprintf(amount, sizeof amount, "%lld bytes", (long long)bytes);
    else if (behind == 0)
        snprintf(amount, sizeof amount, "%lld. %s", all, units[unit]);
    else
        snprintf(amount, sizeof amount, "%lld.%0*lld %s", all / scale, behind, all % scale,
                 units[unit]);
    return nd_fail(vm, DVX_MEMORY_ERROR,
                   "Unable to allocate %s for an array with shape %s and data type %s", amount,
                   array_shape_text(ndim, shape, true, text), dtype->name);
}

/* Room for the axes. */
static bool set_up(dvx_vm *vm, nd_array *a, const nd_dtype *dtype, int ndim) {
    a->dtype = dtype;
    a->axes = a->few;
    a->data = a->inline_data;
    if (UNLIKELY(ndim > ND_FEW)) {
        a->axes = vm->api->allocate(vm, (size_t)ndim * sizeof *a->axes);
        if (!a->axes) return false;
    }
    a->ndim = ndim;
    return true;
}

/* It counts as work, as views and small arrays have nothing else that does. */
static dvx_value make(dvx_vm *vm, const dvx_type *type, void **payload) {
    enum { STEPS = 96 };
    return nd_work(vm, STEPS) ? vm->api->make_object(vm, type, payload) : DVX_FAILED;
}

/* An object with room for the axes. */
static dvx_value begin(dvx_vm *vm, const dvx_type *type, const nd_dtype *dtype, int ndim,
                       nd_array **out) {
    void *payload;
    dvx_value made = make(vm, type, &payload);
    if (UNLIKELY(dvx_failed(made))) return made;
    *out = payload;
    if (LIKELY(set_up(vm, payload, dtype, ndim))) return made;
    vm->api->release(vm, made);
    return DVX_FAILED;
}

static dvx_value raise_too_many(dvx_vm *vm, int ndim) {
    return nd_raise(vm, DVX_VALUE_ERROR,
                    "maximum supported dimension for an ndarray is 32, found %d", ndim);
}

/* Room for elements, which counts as work on them; false: raised. */
static bool take_memory(dvx_vm *vm, nd_array *a, size_t bytes, const int64_t *shape) {
    enum { BEGINNING = 32 };
    if (UNLIKELY(!nd_work(vm, BEGINNING + (int64_t)(bytes / 96)))) return false;
    a->memory_size = bytes;
    a->memory = memory_take(vm, &a->memory_size);
    if (UNLIKELY(!a->memory)) {
        vm->api->clear_error(vm);
        return raise_memory(vm, a->dtype, a->ndim, shape, bytes);
    }
    a->data = memory_begin(a->memory, bytes);
    return true;
}

static dvx_value new_of_size(dvx_vm *vm, const nd_dtype *dtype, int ndim, const int64_t *shape,
                             nd_array **out) {
    size_t bytes = 0;
    if (ndim > ND_MOST) return raise_too_many(vm, ndim);
    if (!array_measure(vm, dtype, ndim, shape, &bytes)) return DVX_FAILED;
    dvx_value made = begin(vm, &array_type, dtype, ndim, out);
    if (UNLIKELY(dvx_failed(made))) return made;
    nd_array *a = *out;
    for (int i = 0; i < ndim; i++) a->axes[i].count = shape[i];
    if (bytes <= ND_INLINE || take_memory(vm, a, bytes, shape)) return made;
    vm->api->release(vm, made);
    return DVX_FAILED;
}

/* (0 where there are no elements, as NumPy has it.) */
static void set_strides(nd_array *a, bool fortran, bool none) {
    int64_t stride = none ? 0 : a->dtype->size;
    for (int k = 0; k < a->ndim; k++) {
        dvx_axis *axis = &a->axes[fortran ? k : a->ndim - 1 - k];
        axis->stride = stride;
        if (axis->count > 1) stride *= axis->count;
    }
}

static bool is_empty(int ndim, const int64_t *shape) {
    for (int i = 0; i < ndim; i++)
        if (shape[i] == 0) return true;
    return false;
}

dvx_value array_new_order(dvx_vm *vm, const nd_dtype *dtype, int ndim, const int64_t *shape,
                          bool fortran, nd_array **out) {
    dvx_value made = new_of_size(vm, dtype, ndim, shape, out);
    if (UNLIKELY(dvx_failed(made))) return made;
    set_strides(*out, fortran, is_empty(ndim, shape));
    array_update(*out);
    return made;
}

bool array_fill_in(dvx_vm *vm, nd_array *a, const nd_dtype *dtype, int ndim, const int64_t *shape,
                   bool fortran) {
    size_t bytes = 0;
    if (!array_measure(vm, dtype, ndim, shape, &bytes) || !set_up(vm, a, dtype, ndim)) return false;
    for (int i = 0; i < ndim; i++) a->axes[i].count = shape[i];
    if (bytes > ND_INLINE && !take_memory(vm, a, bytes, shape)) return false;
    set_strides(a, fortran, is_empty(ndim, shape));
    array_update(a);
    return nd_clear(vm, a->data, bytes);
}

/* The number of elements, where there are some, but not too many, in few axes; else 0. */
static int64_t count_few(int ndim, const int64_t *shape) {
    const int64_t most = (int64_t)1 << 31;
    int64_t size = 1;
    if (ndim > ND_FEW) return 0;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] <= 0 || shape[i] > most || size > most) return 0;
        size *= shape[i];
    }
    return size <= most ? size : 0;
}

/* (All that is known of such an array is set directly: this is on the way of every small
 * operation.) */
dvx_value array_new(dvx_vm *vm, const nd_dtype *dtype, int ndim, const int64_t *shape,
                    nd_array **out) {
    void *payload;
    const int64_t size = count_few(ndim, shape);
    if (!size) return array_new_order(vm, dtype, ndim, shape, false, out);
    dvx_value made = make(vm, &array_type, &payload);
    if (UNLIKELY(dvx_failed(made))) return made;
    nd_array *a = *out = payload;
    a->dtype = dtype;
    a->axes = a->few;
    a->ndim = ndim;
    a->size = size;
    a->element = dtype->element;
    a->dimensions = lent_dimensions(dtype, ndim);
    int64_t stride = dtype->size;
    int long_axes = 0;
    for (int i = ndim; i-- > 0;) {
        a->few[i] = (dvx_axis){shape[i], stride};
        stride *= shape[i];
        long_axes += shape[i] != 1;
    }
    a->flags = long_axes > 1 ? ND_C_CONTIGUOUS : ND_CONTIGUOUS;
    a->data = a->inline_data;
    const size_t bytes = (size_t)size * dtype->size;
    if (bytes <= ND_INLINE || take_memory(vm, a, bytes, shape)) return made;
    vm->api->release(vm, made);
    return DVX_FAILED;
}

dvx_value array_new_permuted(dvx_vm *vm, const nd_dtype *dtype, int ndim, const int64_t *shape,
                             const int *order, nd_array **out) {
    dvx_value made = new_of_size(vm, dtype, ndim, shape, out);
    if (UNLIKELY(dvx_failed(made))) return made;
    int64_t stride = is_empty(ndim, shape) ? 0 : dtype->size;
    for (int i = ndim; i-- > 0;) {
        dvx_axis *axis = &(*out)->axes[order[i]];
        axis->stride = stride;
        if (axis->count > 1) stride *= axis->count;
    }
    array_update(*out);
    return made;
}

dvx_value array_new_like(dvx_vm *vm, const nd_dtype *dtype, const nd_array *like, nd_array **out) {
    int64_t shape[ND_MOST];
    int order[ND_MOST];
    array_shape(like, shape);
    if (like->flags & ND_C_CONTIGUOUS || like->ndim <= 1)
        return array_new(vm, dtype, like->ndim, shape, out);
    /* The axes by falling distance of their elements in memory; equal ones stay as they are. */
    for (int i = 0; i < like->ndim; i++) {
        int at = i;
        int64_t reach = llabs(like->axes[i].stride);
        for (; at > 0 && llabs(like->axes[order[at - 1]].stride) < reach; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return array_new_permuted(vm, dtype, like->ndim, shape, order, out);
}

/* Why there is no such view. */
static dvx_value refuse_view(dvx_vm *vm, const nd_dtype *dtype, int ndim, const dvx_axis *axes) {
    int64_t shape[ND_MOST];
    size_t bytes;
    for (int i = 0; i < ndim; i++) shape[i] = axes[i].count;
    array_measure(vm, dtype, ndim, shape, &bytes);
    return DVX_FAILED;
}

/* Do the axes keep invariant 8? */
static bool is_measured(const nd_dtype *dtype, int ndim, const dvx_axis *axes) {
    int64_t total = dtype->size;
    bool good = true;
    for (int i = 0; i < ndim; i++)
        good &= axes[i].count >= 0 &&
                (!axes[i].count || !__builtin_mul_overflow(total, axes[i].count, &total));
    return good;
}

/* Directly, as array_new does it. */
static dvx_value few_view(dvx_vm *vm, dvx_value of, const nd_array *a, char *data, int ndim,
                          const dvx_axis *axes, nd_array **out) {
    void *payload;
    if (UNLIKELY(!is_measured(a->dtype, ndim, axes))) return refuse_view(vm, a->dtype, ndim, axes);
    dvx_value made = make(vm, &array_type, &payload);
    if (UNLIKELY(dvx_failed(made))) return made;
    nd_array *view = *out = payload;
    const nd_dtype *dtype = view->dtype = a->dtype;
    view->axes = view->few;
    view->ndim = ndim;
    view->data = data;
    view->read_only = a->read_only;
    view->element = dtype->element;
    view->dimensions = lent_dimensions(dtype, ndim);
    view->base = vm->api->retain(vm, a->flags & ND_HAS_BASE ? a->base : of);
    int64_t size = 1, next = dtype->size;
    bool c_order = true, f_order = true;
    for (int i = ndim; i-- > 0;) {
        view->few[i] = axes[i];
        size *= axes[i].count;
        if (axes[i].count == 1) continue;
        c_order &= axes[i].stride == next;
        next *= axes[i].count;
    }
    next = dtype->size;
    for (int i = 0; i < ndim; i++) {
        if (axes[i].count == 1) continue;
        f_order &= axes[i].stride == next;
        next *= axes[i].count;
    }
    view->size = size;
    view->flags = ND_HAS_BASE | (c_order || !size ? ND_C_CONTIGUOUS : 0u) |
                  (f_order || !size ? ND_F_CONTIGUOUS : 0u);
    return made;
}

dvx_value array_view(dvx_vm *vm, dvx_value of, const nd_array *a, char *data, int ndim,
                     const dvx_axis *axes, nd_array **out) {
    if (LIKELY(ndim <= ND_FEW)) return few_view(vm, of, a, data, ndim, axes, out);
    if (ndim > ND_MOST) return raise_too_many(vm, ndim);
    if (!is_measured(a->dtype, ndim, axes)) return refuse_view(vm, a->dtype, ndim, axes);
    dvx_value made = begin(vm, &array_type, a->dtype, ndim, out);
    if (UNLIKELY(dvx_failed(made))) return made;
    nd_array *view = *out;
    memcpy(view->axes, axes, (size_t)ndim * sizeof *axes);
    view->data = data;
    view->read_only = a->read_only;
    view->base = vm->api->retain(vm, a->flags & ND_HAS_BASE ? a->base : of);
    view->flags = ND_HAS_BASE;
    array_update(view);
    return made;
}

dvx_value array_lent(dvx_vm *vm, dvx_view *view, char *data, const nd_dtype *dtype, int64_t count) {
    nd_array *a;
    dvx_value made = begin(vm, &array_type, dtype, 1, &a);
    if (dvx_failed(made)) {
        vm->api->buffer_release(vm, view);
        return made;
    }
    a->axes[0] = (dvx_axis){count, dtype->size};
    a->data = data;
    a->read_only = view->buffer.read_only;
    a->base = view->owner;
    a->flags = ND_LENT | ND_TURNED;
    a->memory_size = SIZE_MAX; /* so that no site keeps a view of it (site/derive_views.h) */
    array_update(a);
    return made;
}

bool array_lends_writable(dvx_vm *vm, const nd_array *a) {
    dvx_view view;
    if (vm->api->buffer_get(vm, a->base, true, &view)) {
        vm->api->buffer_release(vm, &view);
        return true;
    }
    vm->api->clear_error(vm);
    return false;
}

dvx_value array_view_again(dvx_vm *vm, dvx_value of, const nd_array *a, char *data,
                           const nd_array *model) {
    void *payload;
    dvx_value made = make(vm, &array_type, &payload);
    if (UNLIKELY(dvx_failed(made))) return made;
    nd_array *view = payload;
    view->data = data;
    view->element = model->element;
    view->dimensions = model->dimensions;
    view->read_only = a->read_only;
    memcpy(view->few, model->few, sizeof view->few);
    view->axes = view->few;
    view->dtype = model->dtype;
    view->size = model->size;
    view->ndim = model->ndim;
    view->flags = model->flags;
    view->base = vm->api->retain(vm, a->flags & ND_HAS_BASE ? a->base : of);
    return made;
}

static dvx_value new_scalar(dvx_vm *vm, const nd_dtype *dtype, const char *at) {
    nd_array *scalar;
    dvx_value made = begin(vm, &scalar_type, dtype, 0, &scalar);
    if (dvx_failed(made)) return made;
    memcpy(scalar->data, at, dtype->size);
    scalar->read_only = 1;
    array_update(scalar);
    return made;
}

bool array_make_truths(dvx_vm *vm, dvx_value module) {
    static const char *const names[2] = {"False_", "True_"};
    for (int i = 0; i < 2; i++) {
        const bool element = i;
        const dvx_value made = new_scalar(vm, ND_DTYPE(ND_BOOL), (const char *)&element);
        nd_state_of(vm)->truths[i] = made;
        if (dvx_failed(made) || !vm->api->add_constant(vm, module, names[i], made)) return false;
    }
    return true;
}

dvx_value array_element(dvx_vm *vm, const nd_dtype *dtype, const char *at) {
    const void *p = at;
    switch (dtype->num) {
    case ND_BOOL: return array_truth(vm, *(const bool *)p);
    case ND_INT64: return vm->api->make_int(vm, *(const int64_t *)p);
    case ND_FLOAT64: return vm->api->make_float(vm, *(const double *)p);
    case ND_COMPLEX128:
        return vm->api->make_complex(vm, ((const nd_complex *)p)->real,
                                     ((const nd_complex *)p)->imag);
    default: return new_scalar(vm, dtype, at);
    }
}

dvx_value array_result(dvx_vm *vm, dvx_value array) {
    if (dvx_failed(array)) return array;
    const nd_array *a = array_of(vm, array);
    if (a->ndim || array_is_scalar(vm, array)) return array;
    dvx_value element = array_element(vm, a->dtype, a->data);
    vm->api->release(vm, array);
    return element;
}

dvx_value array_copy(dvx_vm *vm, const nd_array *a, const nd_dtype *dtype, char order) {
    nd_array *copy;
    int64_t shape[ND_MOST];
    array_shape(a, shape);
    bool fortran = order == 'F' ||
                   (order == 'A' && a->flags & ND_F_CONTIGUOUS && !(a->flags & ND_C_CONTIGUOUS));
    dvx_value made = order == 'K' ? array_new_like(vm, dtype, a, &copy)
                                  : array_new_order(vm, dtype, a->ndim, shape, fortran, &copy);
    if (dvx_failed(made) || array_assign(vm, copy, a)) return made;
    vm->api->release(vm, made);
    return DVX_FAILED;
}

bool array_writable(dvx_vm *vm, const nd_array *a) {
    return !a->read_only || nd_fail(vm, DVX_VALUE_ERROR, "assignment destination is read-only");
}

/* ---- Assignment ---- */

/* Two operands of one shape, walked along together. */
typedef struct walk {
    int ndim;
    int64_t count[ND_MOST], to_stride[ND_MOST], from_stride[ND_MOST];
    char *to;
    const char *from;
} walk;

/* Adds an axis so that the strides of `to` fall; what runs backwards in `to` is turned round. */
static void add_axis(walk *w, int64_t count, int64_t to_stride, int64_t from_stride) {
    if (count == 1) return;
    if (to_stride < 0) {
        w->to += (count - 1) * to_stride;
        w->from += (count - 1) * from_stride;
        to_stride = -to_stride;
        from_stride = -from_stride;
    }
    int at = w->ndim++;
    for (; at > 0 && w->to_stride[at - 1] < to_stride; at--) {
        w->count[at] = w->count[at - 1];
        w->to_stride[at] = w->to_stride[at - 1];
        w->from_stride[at] = w->from_stride[at - 1];
    }
    w->count[at] = count;
    w->to_stride[at] = to_stride;
    w->from_stride[at] = from_stride;
}

/* Axes that follow each other in both become one. */
static void merge_axes(walk *w) {
    int last = 0;
    for (int i = 1; i < w->ndim; i++) {
        if (w->to_stride[last] == w->to_stride[i] * w->count[i] &&
            w->from_stride[last] == w->from_stride[i] * w->count[i]) {
            w->count[last] *= w->count[i];
        } else {
            last++;
            w->count[last] = w->count[i];
        }
        w->to_stride[last] = w->to_stride[i];
        w->from_stride[last] = w->from_stride[i];
    }
    if (w->ndim) w->ndim = last + 1;
}

/* Goes on along the first `axes` axes; false: that was the last place. */
static bool next_place(walk *w, int64_t *index, int axes) {
    for (int i = axes - 1; i >= 0; i--) {
        w->to += w->to_stride[i];
        w->from += w->from_stride[i];
        if (++index[i] < w->count[i]) return true;
        w->to -= w->count[i] * w->to_stride[i];
        w->from -= w->count[i] * w->from_stride[i];
        index[i] = 0;
    }
    return false;
}

/* Casts rows of a few elements: some hundred rows at once, the first elements of all of them, then
 * the second ones. */
static void walk_across(walk *w, nd_cast cast) {
    enum { ROWS = 256 };
    int64_t index[ND_MOST] = {0};
    const int inner = w->ndim - 1, across = inner - 1;
    const int64_t to_row = w->to_stride[across], from_row = w->from_stride[across];
    do {
        for (int64_t i = 0; i < w->count[across]; i += ROWS) {
            const int64_t rows = w->count[across] - i < ROWS ? w->count[across] - i : ROWS;
            char *to = w->to + i * to_row;
            const char *from = w->from + i * from_row;
            for (int64_t j = 0; j < w->count[inner]; j++)
                cast(to + j * w->to_stride[inner], to_row, from + j * w->from_stride[inner],
                     from_row, rows);
        }
    } while (next_place(w, index, across));
}

/* Casts row after row. */
static void walk_along(walk *w, nd_cast cast) {
    enum { FEW = 8 };
    int64_t index[ND_MOST] = {0};
    int inner = w->ndim - 1;
    if (w->ndim == 0) {
        cast(w->to, 0, w->from, 0, 1);
        return;
    }
    if (inner > 0 && w->count[inner] < FEW && w->count[inner] < w->count[inner - 1]) {
        walk_across(w, cast);
        return;
    }
    for (;;) {
        cast(w->to, w->to_stride[inner], w->from, w->from_stride[inner], w->count[inner]);
        if (!next_place(w, index, inner)) return;
    }
}

/* Rows of neighbours in both, of so few bytes that a call for each would take longer. */
static bool has_short_rows(const walk *w, int64_t size) {
    enum { SHORT = 256 };
    const int inner = w->ndim - 1;
    return inner > 0 && w->to_stride[inner] == size && w->from_stride[inner] == size &&
           w->count[inner] * size <= SHORT;
}

#define COPY_ROWS(bytes)                           \
    for (int64_t i = 0; i < w->count[across]; i++) \
    cast_copy_few(w->to + i * w->to_stride[across], w->from + i * w->from_stride[across], bytes)

static void walk_short_rows(walk *w, int64_t size) {
    int64_t index[ND_MOST] = {0};
    const int across = w->ndim - 2;
    const size_t bytes = (size_t)(w->count[across + 1] * size);
    do {
        switch (bytes) { /* (Those whose size the compiler knows are single instructions.) */
        case 8: COPY_ROWS(8); break;
        case 16: COPY_ROWS(16); break;
        case 24: COPY_ROWS(24); break;
        case 32: COPY_ROWS(32); break;
        case 64: COPY_ROWS(64); break;
        default: COPY_ROWS(bytes); break;
        }
    } while (next_place(w, index, across));
}

/* Other short rows that are not cast. */
static void walk_short(walk *w, int64_t size) {
    int64_t index[ND_MOST] = {0};
    const int inner = w->ndim - 1, outer = inner - 1;
    do
        collect_rows(size, w->to, w->to_stride[outer], w->to_stride[inner], w->from,
                     w->from_stride[outer], w->from_stride[inner], w->count[outer],
                     w->count[inner]);
    while (next_place(w, index, outer));
}

/* Rows of neighbours from columns of neighbours?  Then the two axes leave the walk. */
static bool take_turned(walk *w, int64_t size, walk *two) {
    const int inner = w->ndim - 1;
    int across = inner;
    if (inner < 1 || w->to_stride[inner] != size || !w->from_stride[inner]) return false;
    while (across >= 0 && w->from_stride[across] != size) across--;
    if (across < 0 || across == inner || !turn_pays(size, w->count[across], w->count[inner]))
        return false;
    for (int i = 0; i < 2; i++) {
        const int axis = i ? inner : across;
        two->count[i] = w->count[axis];
        two->to_stride[i] = w->to_stride[axis];
        two->from_stride[i] = w->from_stride[axis];
    }
    w->ndim -= 2;
    for (int i = across; i < w->ndim; i++) {
        w->count[i] = w->count[i + 1];
        w->to_stride[i] = w->to_stride[i + 1];
        w->from_stride[i] = w->from_stride[i + 1];
    }
    return true;
}

static void walk_turned(walk *w, int64_t size, const walk *two) {
    int64_t index[ND_MOST] = {0};
    for (;;) {
        turn_block(size, w->to, two->to_stride[0], w->from, two->from_stride[1], two->count[0],
                   two->count[1]);
        if (!next_place(w, index, w->ndim)) return;
    }
}

/* The end of `a[::2] += b`: all elements are where they belong. */
static bool is_itself(const nd_array *to, const int64_t *strides) {
    bool same = true;
    for (int i = 0; i < to->ndim; i++)
        same &= to->axes[i].count == 1 || to->axes[i].stride == strides[i];
    return same;
}

void array_spread(nd_array *to, const nd_array *from) {
    enum { SHORT_ROW = 32 };
    walk two;
    int64_t strides[ND_MOST];
    walk w = {.to = to->data, .from = from->data};
    if (!to->size) return;
    array_strides_in(from, to->ndim, strides);
    if (to->data == from->data && to->dtype == from->dtype && is_itself(to, strides)) return;
    for (int i = 0; i < to->ndim; i++)
        add_axis(&w, to->axes[i].count, to->axes[i].stride, strides[i]);
    merge_axes(&w);
    if (from->dtype == to->dtype && has_short_rows(&w, to->dtype->size))
        walk_short_rows(&w, to->dtype->size);
    else if (from->dtype == to->dtype && take_turned(&w, from->dtype->size, &two))
        walk_turned(&w, from->dtype->size, &two);
    else if (from->dtype == to->dtype && w.ndim > 1 && w.count[w.ndim - 1] <= SHORT_ROW)
        walk_short(&w, from->dtype->size);
    else
        walk_along(&w, cast_between(from->dtype, to->dtype));
}

/* The same of arrays that have the same counts, and whose axes are the caller's, by halves. */
static bool spread_half(dvx_vm *vm, nd_array *to, nd_array *from) {
    enum { AT_ONCE = 1 << 20 };
    int axis = 0;
    if (to->size <= AT_ONCE) {
        array_spread(to, from);
        return nd_work(vm, to->size / 4);
    }
    for (int i = 1; i < to->ndim; i++)
        if (to->axes[i].count > 1 &&
            (to->axes[axis].count == 1 || llabs(to->axes[i].stride) > llabs(to->axes[axis].stride)))
            axis = i;
    dvx_axis *const x = &to->axes[axis], *const y = &from->axes[axis];
    char *const start = to->data, *const source = from->data;
    const int64_t all = x->count, half = all / 2;
    bool good = true;
    for (int i = 0; good && i < 2; i++) {
        x->count = y->count = i ? all - half : half;
        to->data = start + (i ? half * x->stride : 0);
        from->data = source + (i ? half * y->stride : 0);
        array_update(to);
        array_update(from);
        good = spread_half(vm, to, from);
    }
    x->count = y->count = all;
    to->data = start;
    from->data = source;
    return good;
}

bool array_pour(dvx_vm *vm, nd_array *to, const nd_array *from) {
    enum { MANY = 1 << 18 };
    if (LIKELY(to->size < MANY)) {
        array_spread(to, from);
        return nd_work(vm, to->size / 4);
    }
    dvx_axis axes[ND_MOST], others[ND_MOST];
    nd_array one = *to, other = *from;
    int64_t strides[ND_MOST];
    array_strides_in(from, to->ndim, strides);
    for (int i = 0; i < to->ndim; i++) {
        axes[i] = to->axes[i];
        others[i] = (dvx_axis){to->axes[i].count, strides[i]};
    }
    one.axes = axes;
    other.axes = others;
    other.ndim = to->ndim;
    return spread_half(vm, &one, &other);
}

/* Does `from` fit `to`?  *trimmed is it without leading axes of one element that are too many. */
static bool fits(dvx_vm *vm, const nd_array *to, const nd_array *from, nd_array *trimmed) {
    char of[ND_SHAPE_TEXT], into[ND_SHAPE_TEXT];
    int64_t shape[ND_MOST];
    *trimmed = *from;
    while (trimmed->ndim > to->ndim && trimmed->axes->count == 1) trimmed->ndim--, trimmed->axes++;
    int shift = to->ndim - trimmed->ndim;
    bool good = shift >= 0;
    for (int i = 0; good && i < trimmed->ndim; i++)
        good = trimmed->axes[i].count == 1 || trimmed->axes[i].count == to->axes[i + shift].count;
    if (good) return true;
    array_shape(trimmed, shape);
    array_shape_text(trimmed->ndim, shape, false, of);
    array_shape(to, shape);
    return nd_fail(vm, DVX_VALUE_ERROR,
                   "could not broadcast input array from shape %s into shape %s", of,
                   array_shape_text(to->ndim, shape, false, into));
}

static int64_t common_divisor(int64_t a, int64_t b) {
    for (a = a < 0 ? -a : a, b = b < 0 ? -b : b; b;) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Do elements of the two lie between each other, as those of two columns do?  All distances between
 * elements of one are multiples of the divisor. */
static bool are_interleaved(const nd_array *a, const nd_array *b) {
    int64_t divisor = 0;
    for (int i = 0; i < a->ndim; i++)
        if (a->axes[i].count > 1) divisor = common_divisor(divisor, a->axes[i].stride);
    for (int i = 0; i < b->ndim; i++)
        if (b->axes[i].count > 1) divisor = common_divisor(divisor, b->axes[i].stride);
    if (divisor == 0) return false;
    int64_t between = (int64_t)(intptr_t)((uintptr_t)b->data - (uintptr_t)a->data) % divisor;
    if (between < 0) between += divisor;
    return between >= a->dtype->size && divisor - between >= b->dtype->size;
}

/* Would elements be read after they have been written? */
static bool needs_copy(const nd_array *to, const nd_array *from) {
    if (!array_may_overlap(to, from) || are_interleaved(to, from)) return false;
    if (to->data != from->data || to->dtype != from->dtype || !array_same_shape(to, from))
        return true;
    for (int i = 0; i < to->ndim; i++)
        if (to->axes[i].stride != from->axes[i].stride && to->axes[i].count > 1) return true;
    return false;
}

bool array_assign(dvx_vm *vm, nd_array *to, const nd_array *from) {
    nd_array trimmed, *copy;
    int64_t shape[ND_MOST];
    if (!fits(vm, to, from, &trimmed)) return false;
    if (to->size == 0) return true;
    if (to->size >= ND_HEAVY) vm->api->heavy(vm);
    if (LIKELY(!needs_copy(to, &trimmed))) return array_pour(vm, to, &trimmed);
    array_shape(&trimmed, shape);
    dvx_value made = array_new(vm, from->dtype, trimmed.ndim, shape, &copy);
    if (dvx_failed(made)) return false;
    const bool good = array_pour(vm, copy, &trimmed) && array_pour(vm, to, copy);
    vm->api->release(vm, made);
    return good;
}
