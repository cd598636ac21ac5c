/* pad.c: pad, fill_diagonal, tril_indices, triu_indices (pad.h). */
#include "functions/pad.h"

#include "loops/cast.h"
#include "array/compose.h"
#include "array/convert.h"
#include "array/create.h"
#include "array/methods.h"

/* ---- pad ---- */

/* (From WIDER on they are dl code: lib/wider.dl.) */
typedef enum mode { CONSTANT, EDGE, REFLECT, SYMMETRIC, WRAP, EMPTY, WIDER, MODES = 11 } mode;
static const char *const mode_names[MODES] = {"constant", "edge",   "reflect",     "symmetric",
                                              "wrap",     "empty",  "linear_ramp", "maximum",
                                              "mean",     "median", "minimum"};

/* How much goes in front of each axis, and behind it. */
typedef struct widths {
    int64_t before[ND_MOST], after[ND_MOST];
} widths;

static bool read_mode(dvx_vm *vm, dvx_value v, mode *m) {
    char word[32] = "constant";
    if (nd_is_given(vm, v) && !nd_word(vm, v, word))
        return nd_fail(vm, DVX_TYPE_ERROR,
                       "modes of pad that are no names are not part of ndarray");
    for (*m = CONSTANT; *m < MODES; (*m)++)
        if (!strcmp(word, mode_names[*m])) return true;
    return nd_fail(vm, DVX_VALUE_ERROR, "mode '%s' is not supported", word);
}

/* One number for all, a pair for all, or pairs for each axis: what broadcasts to (ndim, 2). */
static bool read_widths(dvx_vm *vm, dvx_value v, int ndim, widths *w) {
    nd_array *a;
    bool good = true;
    dvx_value held = array_operand(vm, v, NULL, &a);
    if (dvx_failed(held)) return false;
    if (!dtype_is_integer(a->dtype)) {
        vm->api->release(vm, held);
        return nd_fail(vm, DVX_TYPE_ERROR, "`pad_width` must be of integral type.");
    }
    vm->api->release(vm, held);
    held = array_row(vm, v, ND_DTYPE(ND_INT64), &a);
    if (dvx_failed(held)) return false;
    const int64_t *number = (const int64_t *)(const void *)a->data;
    const int64_t columns = a->ndim ? a->axes[a->ndim - 1].count : 1;
    const int64_t rows = a->ndim > 1 ? a->axes[0].count : 1;
    if (a->ndim > 2 || (columns != 1 && columns != 2) || (rows != 1 && rows != ndim)) {
        char shape[ND_SHAPE_TEXT];
        int64_t counts[ND_MOST];
        array_shape(a, counts);
        good = nd_fail(vm, DVX_VALUE_ERROR,
                       "operands could not be broadcast together with remapped shapes "
                       "[original->remapped]: %s  and requested shape (%d,2)",
                       array_shape_text(a->ndim, counts, false, shape), ndim);
    }
    for (int i = 0; good && i < ndim; i++) {
        const int64_t *row = number + (rows > 1 ? i * columns : 0);
        w->before[i] = row[0];
        w->after[i] = row[columns - 1];
        if (row[0] < 0 || row[columns - 1] < 0)
            good = nd_fail(vm, DVX_VALUE_ERROR, "index can't contain negative values");
    }
    vm->api->release(vm, held);
    return good;
}

/* Which of `count` places a place before (below 0) or behind them repeats. */
static int64_t source_of(mode m, int64_t at, int64_t count) {
    if (m == EDGE || (m == REFLECT && count == 1)) return at < 0 ? 0 : count - 1;
    const int64_t period = m == WRAP ? count : m == SYMMETRIC ? 2 * count : 2 * (count - 1);
    at %= period;
    if (at < 0) at += period;
    if (at < count) return at;
    return m == SYMMETRIC ? period - 1 - at : period - at;
}

/* `count` parts of an axis of the array, from `at` on, all else as it is. */
static nd_array slab_of(const nd_array *a, dvx_axis *axes, int axis, int64_t at, int64_t count) {
    nd_array slab = *a;
    slab.axes = axes;
    slab.data += at * a->axes[axis].stride;
    for (int i = 0; i < a->ndim; i++) axes[i] = a->axes[i];
    axes[axis].count = count;
    array_update(&slab);
    return slab;
}

/* One axis after the other: what is in front and behind is `value`, or copied from what is between,
 * in the full length of the axes that are done, and the former one of those that are not. */
static bool make_borders(dvx_vm *vm, nd_array *out, const nd_array *a, const widths *w, mode m,
                         const char *value) {
    dvx_axis axes[ND_MOST], to_axes[ND_MOST], from_axes[ND_MOST];
    nd_array region = *out;
    region.axes = axes;
    for (int i = 0; i < a->ndim; i++) {
        axes[i] = (dvx_axis){a->axes[i].count, out->axes[i].stride};
        region.data += w->before[i] * axes[i].stride;
    }
    for (int k = 0; k < a->ndim; k++) {
        const int64_t count = a->axes[k].count;
        region.data -= w->before[k] * axes[k].stride;
        axes[k].count = out->axes[k].count;
        const int64_t behind = w->before[k] + count;
        if (m == CONSTANT) {
            nd_array front = slab_of(&region, to_axes, k, 0, w->before[k]);
            if (!create_fill(vm, &front, value)) return false;
            nd_array back = slab_of(&region, to_axes, k, behind, w->after[k]);
            if (!create_fill(vm, &back, value)) return false;
            continue;
        }
        for (int64_t i = 0; i < axes[k].count; i++) {
            if (i == w->before[k]) i = behind;
            if (i == axes[k].count) break;
            nd_array to = slab_of(&region, to_axes, k, i, 1);
            const int64_t source = source_of(m, i - w->before[k], count) + w->before[k];
            const nd_array from = slab_of(&region, from_axes, k, source, 1);
            if (!array_pour(vm, &to, &from)) return false;
        }
    }
    return true;
}

/* The part of the new array that the old one is. */
static bool copy_middle(dvx_vm *vm, nd_array *out, const nd_array *a, const widths *w) {
    dvx_axis axes[ND_MOST];
    nd_array middle = *out;
    middle.axes = axes;
    for (int i = 0; i < a->ndim; i++) {
        axes[i] = (dvx_axis){a->axes[i].count, out->axes[i].stride};
        middle.data += w->before[i] * axes[i].stride;
    }
    array_update(&middle);
    return array_pour(vm, &middle, a);
}

/* What the mode cannot do. */
static bool check_mode(dvx_vm *vm, mode m, const nd_array *a, const widths *w) {
    for (int i = 0; m != CONSTANT && m != EMPTY && i < a->ndim; i++) {
        const int64_t count = a->axes[i].count;
        if (!count && (w->before[i] || w->after[i]))
            return nd_fail(vm, DVX_VALUE_ERROR,
                           "can't extend empty axis %d using modes other than 'constant' or "
                           "'empty'",
                           i);
        if (m == WRAP && (w->before[i] > count || w->after[i] > count))
            return nd_fail(vm, DVX_TYPE_ERROR,
                           "pad with mode 'wrap' by more than an axis has is not part of ndarray");
    }
    return true;
}

ND_PARAMETERS(of_pad, 2, "array", "pad_width", "mode", "constant_values");

/* array, pad_width, mode, constant_values */
static dvx_value pad(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a, *out;
    widths w;
    mode m = CONSTANT;
    int64_t shape[ND_MOST];
    char value[sizeof(nd_complex)] = {0};
    dvx_value made = DVX_FAILED, held = array_operand(vm, args[0], NULL, &a);
    (void)count;
    if (dvx_failed(held)) return held;
    bool good = read_widths(vm, args[1], a->ndim, &w) && read_mode(vm, args[2], &m);
    const bool constant = good && m < WIDER && nd_is_given(vm, args[3]);
    if (constant && !convert_kind(vm, args[3]))
        good = nd_fail(vm, DVX_TYPE_ERROR,
                       "constant_values that are no single number are not part of ndarray");
    if (good && constant) good = array_store(vm, a->dtype, value, args[3]);
    good = good && check_mode(vm, m, a, &w);
    if (good && m >= WIDER) {
        made = nd_wider(vm, "pad", &of_pad, args);
        vm->api->release(vm, held);
        return made;
    }
    for (int i = 0; good && i < a->ndim; i++)
        good = array_larger(vm, a->axes[i].count, w.before[i], &shape[i]) &&
               array_larger(vm, shape[i], w.after[i], &shape[i]);
    const bool fortran = (a->flags & ND_CONTIGUOUS) == ND_F_CONTIGUOUS;
    if (good) made = array_new_order(vm, a->dtype, a->ndim, shape, fortran, &out);
    if (!dvx_failed(made) &&
        !((m != EMPTY || create_fill(vm, out, value)) && copy_middle(vm, out, a, &w) &&
          (m == EMPTY || make_borders(vm, out, a, &w, m, value))))
        made = compose_first(vm, DVX_FAILED, made);
    vm->api->release(vm, held);
    return made;
}

/* ---- Diagonals and triangles ---- */

/* a, val, wrap */
static dvx_value fill_diagonal(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    char value[sizeof(nd_complex)];
    nd_array *a = vm->api->payload(vm, args[0], &array_type);
    (void)count;
    if (!a || a->ndim < 2) return nd_raise(vm, DVX_VALUE_ERROR, "array must be at least 2-d");
    if (!dvx_failed(args[2]) && nd_flag(vm, args[2], false) != 0)
        return nd_raise(vm, DVX_TYPE_ERROR, "fill_diagonal with wrap is not part of ndarray");
    if (!convert_kind(vm, args[1]))
        return nd_raise(vm, DVX_TYPE_ERROR,
                        "fill_diagonal with anything but a number is not part of ndarray");
    int64_t length = a->axes[0].count, step = 0;
    for (int i = 0; i < a->ndim; i++) {
        if (a->ndim > 2 && a->axes[i].count != a->axes[0].count)
            return nd_raise(vm, DVX_VALUE_ERROR, "All dimensions of input must be of equal length");
        if (a->axes[i].count < length) length = a->axes[i].count;
        step += a->axes[i].stride;
    }
    if (!array_writable(vm, a) || !array_store(vm, a->dtype, value, args[1])) return DVX_FAILED;
    cast_between(a->dtype, a->dtype)(a->data, step, value, 0, length);
    return nd_work(vm, length) ? nd_none(vm) : DVX_FAILED;
}

/* Rows and columns of the elements of an n x m array on one side of a diagonal, by rows. */
static dvx_value triangle(dvx_vm *vm, const dvx_value *args, bool upper) {
    int64_t n, m, k = 0, used = 0;
    nd_array *rows, *columns;
    if (!vm->api->read_index(vm, args[0], &n) ||
        (nd_is_given(vm, args[1]) && !vm->api->read_index(vm, args[1], &k)))
        return DVX_FAILED;
    m = n;
    if (nd_is_given(vm, args[2]) && !vm->api->read_index(vm, args[2], &m)) return DVX_FAILED;
    if (n < 0) n = 0;
    if (m < 0) m = 0;
    if (n > INT32_MAX || m > INT32_MAX || k > INT32_MAX || k < -INT32_MAX)
        return nd_raise(vm, DVX_VALUE_ERROR, "array is too big");
    dvx_value both[2] = {DVX_FAILED, DVX_FAILED};
    for (int pass = 0; pass < 2; pass++) {
        int64_t next = 0;
        for (int64_t i = 0; i < n; i++) {
            const int64_t edge = i + k + !upper; /* the first column behind the lower part */
            const int64_t split = edge < 0 ? 0 : edge > m ? m : edge;
            const int64_t first = upper ? split : 0, end = upper ? m : split;
            if (!pass) {
                used += end - first;
                continue;
            }
            if (!nd_work(vm, 2 * (end - first))) {
                vm->api->release(vm, both[1]);
                return compose_first(vm, DVX_FAILED, both[0]);
            }
            for (int64_t j = first; j < end; j++, next++) {
                ((int64_t *)(void *)rows->data)[next] = i;
                ((int64_t *)(void *)columns->data)[next] = j;
            }
        }
        if (pass) break;
        both[0] = array_new(vm, ND_DTYPE(ND_INT64), 1, &used, &rows);
        if (!dvx_failed(both[0])) both[1] = array_new(vm, ND_DTYPE(ND_INT64), 1, &used, &columns);
        if (dvx_failed(both[1])) return compose_first(vm, DVX_FAILED, both[0]);
    }
    return compose_pair(vm, both[0], both[1]);
}

static dvx_value tril_indices(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return triangle(vm, args, false);
}
static dvx_value triu_indices(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return triangle(vm, args, true);
}

/* ---- The module ---- */

ND_PARAMETERS(of_diagonal, 2, "a", "val", "wrap");
ND_PARAMETERS(of_triangle, 1, "n", "k", "m");

static const dvx_function functions[] = {
    ND_NAMED("pad", pad, of_pad),
    ND_NAMED("fill_diagonal", fill_diagonal, of_diagonal),
    ND_NAMED("tril_indices", tril_indices, of_triangle),
    ND_NAMED("triu_indices", triu_indices, of_triangle),
};

bool pad_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
