/* calculus.c: gradient, trapz, cross, convolve, correlate (calculus.h).
 *
 * Invariants
 *  1. Formulas, and the order of operations in them, are NumPy's, so that digits are. */
#include "functions/calculus.h"

#include <math.h>

#include "array/compose.h"
#include "linear/matmul.h"
#include "array/methods.h"
#include "ufunc/ufunc.h"

static double *doubles(const nd_array *a) { return (double *)(void *)a->data; }

/* A view of an array that begins `first` elements later along an axis, with so many of them. */
static dvx_value part_of(dvx_vm *vm, dvx_value v, int axis, int64_t first, int64_t count) {
    nd_array *view;
    dvx_axis axes[ND_MOST];
    const nd_array *a = array_of(vm, v);
    memcpy(axes, a->axes, (size_t)a->ndim * sizeof *axes);
    axes[axis].count = count;
    char *data = a->data + (count && a->size ? first * axes[axis].stride : 0);
    return array_view(vm, v, a, data, a->ndim, axes, &view);
}

/* ---- gradient ---- */

/* Distances along an axis: all of one length, or `count` of them. */
typedef struct spacing {
    double step;
    dvx_value held; /* an array of differences, or DVX_FAILED */
    const double *steps;
} spacing;

static double at(const double *f, int64_t stride, int64_t i) { return f[i * stride]; }

/* `n` rows of `stride` elements, along the columns. */
static void gradient_even(const double *restrict f, int64_t stride, int64_t n, double h, int order,
                          double *restrict to) {
    const double *before = f, *behind = f + 2 * stride, *last = f + (n - 1) * stride;
    double *middle = to + stride, *end = to + (n - 1) * stride;
    for (int64_t i = 0; i < (n - 2) * stride; i++) middle[i] = (behind[i] - before[i]) / (2.0 * h);
    for (int64_t i = 0; i < stride && order == 1; i++) {
        to[i] = (f[stride + i] - f[i]) / h;
        end[i] = (last[i] - last[i - stride]) / h;
    }
    for (int64_t i = 0; i < stride && order == 2; i++) {
        to[i] = -1.5 / h * f[i] + 2.0 / h * f[stride + i] + -0.5 / h * f[2 * stride + i];
        end[i] = 0.5 / h * last[i - 2 * stride] + -2.0 / h * last[i - stride] + 1.5 / h * last[i];
    }
}

static void gradient_uneven(const double *f, int64_t stride, int64_t n, const double *h, int order,
                            double *to) {
    for (int64_t i = 1; i < n - 1; i++) {
        const double left = h[i - 1], right = h[i];
        const double a = -right / (left * (left + right)), b = (right - left) / (left * right);
        const double c = left / (right * (left + right));
        to[i * stride] = a * at(f, stride, i - 1) + b * at(f, stride, i) + c * at(f, stride, i + 1);
    }
    if (order == 1) {
        to[0] = (at(f, stride, 1) - f[0]) / h[0];
        to[(n - 1) * stride] = (at(f, stride, n - 1) - at(f, stride, n - 2)) / h[n - 2];
        return;
    }
    double x = h[0], y = h[1];
    to[0] = -(2.0 * x + y) / (x * (x + y)) * f[0] + (x + y) / (x * y) * at(f, stride, 1) +
            -x / (y * (x + y)) * at(f, stride, 2);
    x = h[n - 3];
    y = h[n - 2];
    to[(n - 1) * stride] = y / (x * (x + y)) * at(f, stride, n - 3) +
                           -(y + x) / (x * y) * at(f, stride, n - 2) +
                           (2.0 * y + x) / (y * (x + y)) * at(f, stride, n - 1);
}

/* Distances: a number, or the places of the elements. */
static bool read_spacing(dvx_vm *vm, dvx_value v, int64_t count, spacing *s) {
    nd_array *a;
    *s = (spacing){1, DVX_FAILED, NULL};
    if (dvx_failed(v)) return true;
    dvx_value held = array_operand(vm, v, ND_DTYPE(ND_FLOAT64), &a);
    if (!dvx_failed(held)) held = compose_first(vm, array_copy(vm, a, a->dtype, 'C'), held);
    if (dvx_failed(held)) return false;
    a = array_of(vm, held);
    double *x = doubles(a);
    bool good = true, even = true;
    if (!a->ndim)
        s->step = x[0];
    else if (a->ndim > 1)
        good = nd_fail(vm, DVX_VALUE_ERROR, "distances must be either scalars or 1d");
    else if (a->size != count)
        good = nd_fail(vm, DVX_VALUE_ERROR,
                       "when 1d, distances must match the length of the corresponding dimension");
    if (!good || !a->ndim) {
        vm->api->release(vm, held);
        return good;
    }
    for (int64_t i = 0; i + 1 < count; i++) {
        x[i] = x[i + 1] - x[i];
        even &= x[i] == x[0];
    }
    s->held = held;
    s->steps = even ? NULL : x;
    if (count > 1) s->step = x[0];
    return true;
}

/* Along one axis of an array in C order. */
static dvx_value gradient_along(dvx_vm *vm, const nd_array *a, int axis, const spacing *s,
                                int order, const nd_dtype *dtype) {
    nd_array *out;
    int64_t shape[ND_MOST], stride = 1;
    const int64_t n = a->axes[axis].count;
    array_shape(a, shape);
    dvx_value made = array_new(vm, a->dtype, a->ndim, shape, &out);
    if (dvx_failed(made)) return made;
    for (int i = axis + 1; i < a->ndim; i++) stride *= a->axes[i].count;
    for (int64_t i = 0; i < a->size; i += n * stride) {
        if (!nd_work(vm, n * stride)) return compose_first(vm, DVX_FAILED, made);
        const double *from = doubles(a) + i;
        double *to = doubles(out) + i;
        if (!s->steps) gradient_even(from, stride, n, s->step, order, to);
        for (int64_t k = 0; s->steps && k < stride; k++)
            gradient_uneven(from + k, stride, n, s->steps, order, to + k);
    }
    return compose_array(vm, made, dtype);
}

enum { SPACINGS = 4 }; /* at most so many are given by position */

/* args: f, spacings, axis, edge_order; the axes that are asked for, and their distances. */
static dvx_value gradient_of(dvx_vm *vm, const nd_array *a, const nd_dtype *dtype,
                             const dvx_value *args, int64_t order) {
    dvx_value made[ND_MOST], result = DVX_FAILED;
    int axis = 0, count = a->ndim, given = 0, done = 0;
    const bool one = nd_is_given(vm, args[1 + SPACINGS]);
    if (one && !nd_axis_of(vm, args[1 + SPACINGS], a->ndim, &axis)) return DVX_FAILED;
    if (one) count = 1;
    while (given < SPACINGS && !dvx_failed(args[1 + given])) given++;
    const nd_array *only = given == 1 && count != 1 ? array_of(vm, args[1]) : NULL;
    if ((given > 1 && given != count) || (only && only->ndim))
        return vm->api->raise(vm, DVX_TYPE_ERROR, "invalid number of arguments");
    if (order > 2)
        return vm->api->raise(vm, DVX_VALUE_ERROR, "'edge_order' greater than 2 not supported");
    bool good = true;
    for (; good && done < count; done++) {
        spacing s;
        const int along = one ? axis : done;
        made[done] = DVX_FAILED;
        good = read_spacing(vm, given ? args[given > 1 ? 1 + done : 1] : DVX_FAILED,
                            a->axes[along].count, &s);
        if (good && a->axes[along].count < order + 1)
            good = nd_fail(vm, DVX_VALUE_ERROR,
                           "Shape of array too small to calculate a numerical gradient, at least "
                           "(edge_order + 1) elements are required.");
        if (good) made[done] = gradient_along(vm, a, along, &s, (int)order, dtype);
        vm->api->release(vm, s.held);
        good = good && !dvx_failed(made[done]);
    }
    if (good)
        result =
            count == 1 ? vm->api->retain(vm, made[0]) : vm->api->make_list(vm, made, (size_t)count);
    for (int i = 0; i < done; i++) vm->api->release(vm, made[i]);
    return result;
}

static const char *const gradient_names[] = {"f", "", " ", "  ", "   ", "axis", "edge_order"};
static const dvx_parameters gradient_parameters = {sizeof(dvx_parameters), gradient_names,
                                                   LENGTH_OF(gradient_names), 1 + SPACINGS, 1};

static dvx_value gradient(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    int64_t order = 1;
    (void)count;
    const dvx_value along = args[1 + SPACINGS];
    if (nd_is_given(vm, along) &&
        (vm->api->kind(vm, along) == DVX_TUPLE || vm->api->kind(vm, along) == DVX_LIST))
        return nd_wider(vm, "gradient", &gradient_parameters, args);
    if (nd_is_given(vm, args[2 + SPACINGS]) && !nd_read_index(vm, args[2 + SPACINGS], &order))
        return DVX_FAILED;
    dvx_value held = array_operand(vm, args[0], NULL, &a), made = DVX_FAILED;
    if (dvx_failed(held)) return held;
    const nd_dtype *dtype = ND_DTYPE(a->dtype->kind == 'f' ? a->dtype->num : ND_FLOAT64);
    if (a->dtype->kind == 'c') {
        made = nd_wider(vm, "gradient", &gradient_parameters, args);
    } else {
        dvx_value row = array_row(vm, held, ND_DTYPE(ND_FLOAT64), &a);
        if (!dvx_failed(row)) made = gradient_of(vm, a, dtype, args, order);
        vm->api->release(vm, row);
    }
    vm->api->release(vm, held);
    return made;
}

/* ---- trapz ---- */

/* y, x, dx, axis */
static dvx_value trapz(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *y, *x = NULL;
    int axis;
    double step = 1;
    (void)count;
    if (nd_is_given(vm, args[2]) && !vm->api->read_float(vm, args[2], &step)) return DVX_FAILED;
    dvx_value held = array_operand(vm, args[0], NULL, &y), widths = DVX_FAILED, places = DVX_FAILED;
    if (dvx_failed(held)) return held;
    axis = y->ndim - 1;
    bool good = true;
    if (!y->ndim || dvx_failed(args[3])) {
        if (!y->ndim) good = nd_axis(vm, -1, 0, &axis);
    } else {
        good = nd_axis_of(vm, args[3], y->ndim, &axis);
    }
    const int64_t n = good ? y->axes[axis].count : 0, m = n ? n - 1 : 0;
    if (good && nd_is_given(vm, args[1])) {
        places = array_operand(vm, args[1], NULL, &x);
        good = !dvx_failed(places);
        if (good && !x->ndim) good = nd_axis(vm, axis, 0, &axis);
    }
    if (good && x) {
        const int along = x->ndim == 1 ? 0 : axis;
        const int64_t points = x->axes[along].count;
        const int64_t between = points ? points - 1 : 0;
        dvx_value right = part_of(vm, places, along, 1, between), left = DVX_FAILED;
        if (!dvx_failed(right)) left = part_of(vm, places, along, 0, between);
        widths = compose_binary(vm, ND_UFUNC_subtract, right, left);
        good = !dvx_failed(widths);
        nd_array *view;
        if (good && x->ndim == 1 && y->ndim > 1) { /* along its own axis */
            const nd_array *w = array_of(vm, widths);
            dvx_axis axes[ND_MOST];
            for (int i = 0; i < y->ndim; i++) axes[i] = i == axis ? w->axes[0] : (dvx_axis){1, 0};
            widths =
                compose_first(vm, array_view(vm, widths, w, w->data, y->ndim, axes, &view), widths);
            good = !dvx_failed(widths);
        }
    } else if (good) {
        widths = vm->api->make_float(vm, step);
    }
    dvx_value made = DVX_FAILED;
    if (good) {
        dvx_value right = part_of(vm, held, axis, 1, m), left = DVX_FAILED;
        if (!dvx_failed(right)) left = part_of(vm, held, axis, 0, m);
        made = compose_binary(vm, ND_UFUNC_add, right, left);
        if (!dvx_failed(made)) {
            made = compose_binary(vm, ND_UFUNC_multiply, widths, made);
            widths = DVX_FAILED;
        }
        made = compose_number(vm, ND_UFUNC_divide, made, 2.0);
        made = compose_reduce(vm, ND_UFUNC_add, made, axis, false);
    }
    vm->api->release(vm, widths);
    vm->api->release(vm, places);
    vm->api->release(vm, held);
    return made;
}

/* ---- cross ---- */

/* The component i of the vectors along the last axis. */
static dvx_value component(dvx_vm *vm, dvx_value v, int i) {
    nd_array *view;
    const nd_array *a = array_of(vm, v);
    return array_view(vm, v, a, a->data + i * a->axes[a->ndim - 1].stride, a->ndim - 1, a->axes,
                      &view);
}

/* a[i] * b[k] - a[k] * b[i]; those that one of them does not have are 0. */
static dvx_value cross_component(dvx_vm *vm, const dvx_value *both, const int64_t *sizes, int i,
                                 int k) {
    dvx_value products[2] = {DVX_FAILED, DVX_FAILED};
    bool there[2];
    for (int p = 0; p < 2; p++) {
        const int of_a = p ? k : i, of_b = p ? i : k;
        there[p] = of_a < sizes[0] && of_b < sizes[1];
        if (!there[p]) continue;
        dvx_value x = component(vm, both[0], of_a), y = DVX_FAILED;
        if (!dvx_failed(x)) y = component(vm, both[1], of_b);
        products[p] = compose_binary(vm, ND_UFUNC_multiply, x, y);
        if (dvx_failed(products[p])) return compose_first(vm, DVX_FAILED, products[0]);
    }
    if (there[0] && there[1])
        return compose_binary(vm, ND_UFUNC_subtract, products[0], products[1]);
    return there[0] ? products[0] : compose_unary(vm, ND_UFUNC_negative, products[1]);
}

/* The common shape of all axes but the last ones. */
static bool broadcast_leading(dvx_vm *vm, nd_array *const *operands, int *ndim, int64_t *shape) {
    nd_array parts[2] = {*operands[0], *operands[1]}, *leading[2] = {&parts[0], &parts[1]};
    char one[ND_SHAPE_TEXT], two[ND_SHAPE_TEXT];
    int64_t shapes[2][ND_MOST];
    for (int i = 0; i < 2; i++) {
        parts[i].ndim--;
        array_shape(&parts[i], shapes[i]);
    }
    if (array_broadcast(vm, leading, 2, ndim, shape)) return true;
    vm->api->clear_error(vm);
    return nd_fail(vm, DVX_VALUE_ERROR,
                   "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is "
                   "between arg 0 with shape %s and arg 1 with shape %s.",
                   array_shape_text(parts[0].ndim, shapes[0], true, one),
                   array_shape_text(parts[1].ndim, shapes[1], true, two));
}

ND_PARAMETERS(cross_parameters, 2, "a", "b", "axisa", "axisb", "axisc", "axis");
static dvx_value cross(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *operands[2], *out = NULL, *view;
    int64_t sizes[2] = {0, 0}, shape[ND_MOST];
    dvx_value both[2] = {DVX_FAILED, DVX_FAILED}, made = DVX_FAILED;
    bool good = true;
    int ndim;
    (void)count;
    for (int i = 2; i < 6; i++)
        if (!dvx_failed(args[i])) return nd_wider(vm, "cross", &cross_parameters, args);
    for (int i = 0; good && i < 2; i++) {
        both[i] = array_operand(vm, args[i], NULL, &operands[i]);
        good = !dvx_failed(both[i]) &&
               (operands[i]->ndim || nd_axis_named(vm, -1, 0, i ? "axisb: " : "axisa: ", &ndim));
        if (good) sizes[i] = operands[i]->axes[operands[i]->ndim - 1].count;
    }
    if (good && (sizes[0] < 2 || sizes[0] > 3 || sizes[1] < 2 || sizes[1] > 3))
        good = nd_fail(vm, DVX_VALUE_ERROR,
                       "incompatible dimensions for cross product\n(dimension must be 2 or 3)");
    good = good && broadcast_leading(vm, operands, &ndim, shape);
    if (good) shape[ndim] = 3;
    if (good && sizes[0] == 2 && sizes[1] == 2) {
        made = cross_component(vm, both, sizes, 0, 1);
    } else if (good) {
        static const int from[3] = {1, 2, 0}, to[3] = {2, 0, 1};
        for (int i = 0; good && i < 3; i++) {
            nd_array *p;
            dvx_value part = cross_component(vm, both, sizes, from[i], to[i]);
            part = dvx_failed(part) ? part
                                    : compose_first(vm, array_operand(vm, part, NULL, &p), part);
            good = !dvx_failed(part);
            if (good && !i)
                made = array_new(vm, dtype_promote(operands[0]->dtype, operands[1]->dtype),
                                 ndim + 1, shape, &out);
            good = good && !dvx_failed(made);
            if (good) {
                dvx_value place = array_view(vm, made, out, out->data + i * out->dtype->size,
                                             out->ndim - 1, out->axes, &view);
                good = !dvx_failed(place) && array_assign(vm, view, p);
                vm->api->release(vm, place);
            }
            vm->api->release(vm, part);
        }
        if (!good) made = compose_first(vm, DVX_FAILED, made);
    }
    vm->api->release(vm, both[0]);
    vm->api->release(vm, both[1]);
    return made;
}

/* ---- convolve ---- */

/* Of the shorter row, as far as it slides along the other one; OpenBLAS is better at longer ones.
 */
enum { SHORT = 64 };

/* The places where the shorter row lies over the other one as a whole are one product: of the
 * shorter one, from its end, and a matrix whose rows are the other one from each of its places on.
 */
static bool slide_inside(dvx_vm *vm, const nd_array *a, const nd_array *b, int64_t first,
                         int64_t count, char *out) {
    const int64_t size = a->dtype->size;
    const nd_slide along = nd_state_of(vm)->tiles->slide[a->dtype->num];
    if (along) {
        char turned[SHORT * sizeof(double)];
        for (int64_t i = 0; i < b->size; i++)
            memcpy(turned + i * size, b->data + (b->size - 1 - i) * size, (size_t)size);
        along(out, a->data + first * size, turned, b->size, count);
        return vm->api->poll(vm);
    }
    const nd_matrix x = {b->data + (b->size - 1) * size, 1, b->size, 0, -size};
    const nd_matrix y = {a->data + first * size, b->size, count, size, size};
    return matmul_in_order(vm, a->dtype->num, &x, &y, out);
}

/* Sums of products where a row and a shorter one, of `size` elements each, lie over each other. */
static bool slide(dvx_vm *vm, const nd_array *a, const nd_array *b, int64_t first, nd_array *out) {
    enum { MANY = 16 };
    const int64_t size = a->dtype->size, end = first + out->size;
    /* The places of the product; none: from is `end`. */
    int64_t from = first < b->size - 1 ? b->size - 1 : first, to = end < a->size ? end : a->size;
    if (b->size > SHORT || to - from < MANY) from = to = end;
    if (from < to &&
        !slide_inside(vm, a, b, from - b->size + 1, to - from, out->data + (from - first) * size))
        return false;
    for (int64_t i = 0; i < out->size; i++) {
        if (first + i == from) i += to - from;
        if (i >= out->size) break;
        const int64_t place = first + i, low = place < b->size - 1 ? 0 : place - b->size + 1;
        const int64_t high = place < a->size - 1 ? place : a->size - 1;
        /* The second row runs backwards. */
        const nd_matrix x = {a->data + low * size, 1, high - low + 1, 0, size};
        const nd_matrix y = {b->data + (place - low) * size, high - low + 1, 1, -size, 0};
        if (!matmul_into(vm, a->dtype->num, &x, &y, out->data + i * size)) return false;
    }
    return true;
}

/* Two rows, and which of their common places are asked for. */
static dvx_value convolve_rows(dvx_vm *vm, const dvx_value *args, const char *mode, bool turn) {
    nd_array *a, *b, *out;
    dvx_value held[2] = {array_operand(vm, args[0], NULL, &a), DVX_FAILED}, made = DVX_FAILED;
    if (!dvx_failed(held[0])) held[1] = array_operand(vm, args[1], NULL, &b);
    bool good = !dvx_failed(held[1]);
    if (good && (a->ndim > 1 || b->ndim > 1))
        good = nd_fail(vm, DVX_VALUE_ERROR, "object too deep for desired array");
    if (good && (!a->size || !b->size))
        good = turn ? nd_fail(vm, DVX_VALUE_ERROR, "%s array argument cannot be empty",
                              a->size ? "second" : "first")
                    : nd_fail(vm, DVX_VALUE_ERROR, "%s cannot be empty",
                              a->size || b->size ? "v" : "a");
    if (good) {
        const nd_dtype *dtype = dtype_promote(a->dtype, b->dtype);
        if (turn && b->ndim) { /* a correlation is a convolution with the conjugate turned around */
            nd_array *view;
            const dvx_axis back = {b->size, -b->axes[0].stride};
            char *last = b->data + (b->size - 1) * b->axes[0].stride;
            held[1] = compose_first(vm, array_view(vm, held[1], b, last, 1, &back, &view), held[1]);
            held[1] = compose_unary(vm, ND_UFUNC_conjugate, held[1]);
        }
        for (int i = 0; good && i < 2; i++) {
            if (dvx_failed(held[i]))
                good = false;
            else
                held[i] = compose_first(vm, array_row(vm, held[i], dtype, i ? &b : &a), held[i]);
            good = good && !dvx_failed(held[i]);
        }
    }
    if (good) {
        const int64_t small = a->size < b->size ? a->size : b->size;
        const int64_t large = a->size < b->size ? b->size : a->size;
        int64_t size = large + small - 1, first = 0;
        if (mode[0] == 's') size = large, first = (small - 1) / 2;
        if (mode[0] == 'v') size = large - small + 1, first = small - 1;
        /* Where the first row is the shorter one, NumPy exchanges them, and turns the result of a
         * correlation around: its middle may lie one place further. */
        if (turn && mode[0] == 's' && a->size < b->size) first = small - 1 - first;
        made = array_new(vm, a->dtype, 1, &size, &out);
        if (!dvx_failed(made) && !slide(vm, a, b, first, out))
            made = compose_first(vm, DVX_FAILED, made);
    }
    vm->api->release(vm, held[0]);
    vm->api->release(vm, held[1]);
    return made;
}

/* a, v, mode */
static dvx_value convolve_with(dvx_vm *vm, const dvx_value *args, const char *otherwise,
                               bool turn) {
    char mode[32];
    strcpy(mode, otherwise);
    if (!dvx_failed(args[2])) nd_word(vm, args[2], mode);
    if (strcmp(mode, "full") && strcmp(mode, "same") && strcmp(mode, "valid"))
        return nd_raise(vm, DVX_VALUE_ERROR,
                        "mode must be one of 'valid', 'same', or 'full' (got '%s')", mode);
    return convolve_rows(vm, args, mode, turn);
}
static dvx_value convolve(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return convolve_with(vm, args, "full", false);
}
static dvx_value correlate(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return convolve_with(vm, args, "valid", true);
}

/* ---- Tables ---- */

/* (Spacings have no names: none that a program could use.) */
ND_PARAMETERS(trapz_parameters, 1, "y", "x", "dx", "axis");
ND_PARAMETERS(convolve_parameters, 2, "a", "v", "mode");

static const dvx_function functions[] = {
    ND_NAMED("gradient", gradient, gradient_parameters),
    ND_NAMED("trapz", trapz, trapz_parameters),
    ND_NAMED("cross", cross, cross_parameters),
    ND_NAMED("convolve", convolve, convolve_parameters),
    ND_NAMED("correlate", correlate, convolve_parameters),
};

bool calculus_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
