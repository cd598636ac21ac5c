/* reductions.c: sum prod min max any all ptp mean var std argmin argmax cumsum cumprod,
 * as functions of the module and as methods.
 *
 * Invariants
 *  1. A function and the method of its name have the same entry: args[0] is the array. */

#include "array/compose.h"

#include <stdlib.h>

#include "loops/cast.h"
#include "array/convert.h"
#include "ufunc/error.h"
#include "array/methods.h"
#include "ufunc/reduce.h"
#include "ufunc/ufunc.h"
#include "ufunc/walk.h"

/* ---- Parameters ---- */

#define SUM_PARAMETERS    "axis", "dtype", "out", "keepdims", "initial", "where"
#define MAX_PARAMETERS    "axis", "out", "keepdims", "initial", "where"
#define TRUTH_PARAMETERS  "axis", "out", "keepdims", "where"
#define PTP_PARAMETERS    "axis", "out", "keepdims"
#define MEAN_PARAMETERS   "axis", "dtype", "out", "keepdims", "where"
#define VAR_PARAMETERS    "axis", "dtype", "out", "ddof", "keepdims", "where"
#define SEARCH_PARAMETERS "axis", "out", "keepdims"
#define RUN_PARAMETERS    "axis", "dtype", "out"
#define BOTH(name, ...)                                  \
    ND_PARAMETERS(name##_function, 1, "a", __VA_ARGS__); \
    ND_PARAMETERS(name##_method, 0, __VA_ARGS__)
BOTH(sum, SUM_PARAMETERS);
BOTH(max, MAX_PARAMETERS);
BOTH(truth, TRUTH_PARAMETERS);
BOTH(ptp, PTP_PARAMETERS);
BOTH(mean, MEAN_PARAMETERS);
BOTH(var, VAR_PARAMETERS);
BOTH(search, SEARCH_PARAMETERS);
BOTH(run, RUN_PARAMETERS);

/* ---- What is one reduction ---- */

/* a, axis, dtype, out, keepdims, initial, where */
static dvx_value reduce_with(dvx_vm *vm, const dvx_value *args, nd_ufunc_number number) {
    const nd_reduction r = {.number = number,
                            .axis = args[1],
                            .dtype = args[2],
                            .out = args[3],
                            .keepdims = args[4],
                            .initial = args[5],
                            .where = args[6]};
    return reduce_call(vm, args[0], &r);
}

/* a, axis, out, keepdims, initial, where */
static dvx_value reduce_same(dvx_vm *vm, const dvx_value *args, nd_ufunc_number number) {
    const dvx_value all[7] = {args[0], args[1], DVX_FAILED, args[2], args[3], args[4], args[5]};
    return reduce_with(vm, all, number);
}

#define REDUCTION(name, with, ufunc)                                           \
    static dvx_value name(dvx_vm *vm, const dvx_value *args, uint32_t count) { \
        (void)count;                                                           \
        return with(vm, args, ND_UFUNC_##ufunc);                               \
    }
REDUCTION(sum, reduce_with, add)
REDUCTION(prod, reduce_with, multiply)
REDUCTION(maximum, reduce_same, maximum)
REDUCTION(minimum, reduce_same, minimum)

/* a, axis, out, keepdims, where */
static dvx_value reduce_truth(dvx_vm *vm, const dvx_value *args, nd_ufunc_number number) {
    const dvx_value all[7] = {args[0], args[1], DVX_FAILED, args[2], args[3], DVX_FAILED, args[4]};
    return reduce_with(vm, all, number);
}
REDUCTION(any, reduce_truth, logical_or)
REDUCTION(all, reduce_truth, logical_and)

/* a, axis, out, keepdims */
static dvx_value ptp(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const dvx_value all[7] = {args[0], args[1],    DVX_FAILED, DVX_FAILED,
                              args[3], DVX_FAILED, DVX_FAILED};
    dvx_value both[2] = {reduce_with(vm, all, ND_UFUNC_maximum), DVX_FAILED}, result = DVX_FAILED;
    (void)count;
    if (!dvx_failed(both[0])) both[1] = reduce_with(vm, all, ND_UFUNC_minimum);
    if (!dvx_failed(both[1]))
        result = ufunc_call(vm, ND_UFUNC_subtract, both,
                            nd_is_given(vm, args[2]) ? args[2] : DVX_FAILED, NULL);
    vm->api->release(vm, both[0]);
    vm->api->release(vm, both[1]);
    return result;
}

/* ---- Mean, variance ---- */

/* How many elements come to one result. */
static int64_t count_along(const nd_array *a, uint32_t mask) {
    int64_t count = 1;
    for (int i = 0; i < a->ndim; i++)
        if (mask >> i & 1) count *= a->axes[i].count;
    return count;
}

static nd_type mean_type(const nd_array *a, const nd_dtype *dtype) {
    if (dtype) return dtype->num;
    return dtype_is_integer(a->dtype) ? ND_FLOAT64 : a->dtype->num;
}

/* The arguments that mean, var and std have in common. */
typedef struct moment {
    nd_array *a;
    dvx_value held, out;
    uint32_t mask;
    nd_type type;
    bool keep;
} moment;

/* ---- Mean ---- */

/* The sum divided by the number of elements: an array. */
static dvx_value mean_of(dvx_vm *vm, const nd_array *a, uint32_t mask, nd_type type, bool keep,
                         nd_array **out) {
    dvx_value sum = reduce_array(vm, ND_UFUNC_add, a, mask, type, keep, NULL, out);
    if (dvx_failed(sum)) return DVX_FAILED;
    const dvx_value operands[2] = {sum, vm->api->make_int(vm, count_along(a, mask))};
    /* (Divided by an int64, and rounded: of complex64 that shows.) */
    const nd_dtype *wide = type == ND_COMPLEX64 ? ND_DTYPE(ND_COMPLEX128) : NULL;
    dvx_value result =
        ufunc_call(vm, ND_UFUNC_divide, operands, type_is_inexact(type) ? sum : DVX_FAILED, wide);
    vm->api->release(vm, operands[1]);
    vm->api->release(vm, sum);
    return result;
}

static bool read_moment(dvx_vm *vm, const dvx_value *args, dvx_value keepdims, moment *m) {
    const nd_dtype *dtype = NULL;
    int keep = nd_is_given(vm, keepdims) ? vm->api->truth(vm, keepdims) : 0;
    m->out = args[3];
    m->keep = keep > 0;
    m->held = keep < 0 ? DVX_FAILED : array_operand(vm, args[0], NULL, &m->a);
    if (dvx_failed(m->held)) return false;
    if (dtype_read_given(vm, args[2], NULL, &dtype) &&
        reduce_axes(vm, args[1], m->a->ndim, &m->mask)) {
        m->type = mean_type(m->a, dtype);
        return true;
    }
    vm->api->release(vm, m->held);
    return false;
}

/* Is there a mask?  (Means and variances with one are dl code.) */
static bool is_masked(dvx_vm *vm, dvx_value where) {
    return !dvx_failed(where) && !vm->api->same(vm, where, vm->api->make_bool(vm, true));
}

static dvx_value finish_moment(dvx_vm *vm, const moment *m, dvx_value made) {
    nd_array *a = dvx_failed(made) ? NULL : array_of(vm, made);
    if (dvx_failed(made) || !a) return made;
    return reduce_finish(vm, made, a, m->out, ND_UFUNC_add);
}

/* a, axis, dtype, out, keepdims, where */
static dvx_value mean(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    moment m;
    nd_array *out;
    (void)count;
    if (is_masked(vm, args[5])) return nd_wider(vm, "mean", &mean_function, args);
    if (!read_moment(vm, args, args[4], &m)) return DVX_FAILED;
    dvx_value made = DVX_FAILED;
    /* (Summed as float32, divided, and rounded.) */
    const bool half =
        m.type == ND_FLOAT16 && !nd_is_given(vm, args[2]) && !nd_is_given(vm, args[3]);
    if (half) m.type = ND_FLOAT32;
    if (count_along(m.a, m.mask) || error_warn(vm, "Mean of empty slice."))
        made = mean_of(vm, m.a, m.mask, m.type, m.keep, &out);
    made = finish_moment(vm, &m, made);
    vm->api->release(vm, m.held);
    if (half && !dvx_failed(made))
        made = array_result(vm, compose_array(vm, made, ND_DTYPE(ND_FLOAT16)));
    return made;
}

/* (a - mean)**2, as an array of floats. */
static dvx_value squares(dvx_vm *vm, const moment *m, dvx_value mean) {
    dvx_value operands[2] = {m->held, mean};
    dvx_value difference = ufunc_call(vm, ND_UFUNC_subtract, operands, DVX_FAILED, NULL);
    if (dvx_failed(difference)) return difference;
    const bool is_array = vm->api->payload(vm, difference, &array_type); /* (or it is a number) */
    operands[0] = operands[1] = difference;
    return compose_first(
        vm, ufunc_call(vm, ND_UFUNC_multiply, operands, is_array ? difference : DVX_FAILED, NULL),
        difference);
}

static dvx_value variance_of(dvx_vm *vm, const moment *m, double ddof) {
    nd_array *out, *a;
    const double divisor = (double)count_along(m->a, m->mask) - ddof;
    if (divisor <= 0 && !error_warn(vm, "Degrees of freedom <= 0 for slice")) return DVX_FAILED;
    dvx_value mean = mean_of(vm, m->a, m->mask, m->type, true, &out);
    if (dvx_failed(mean)) return DVX_FAILED;
    dvx_value square = squares(vm, m, mean);
    vm->api->release(vm, mean);
    if (dvx_failed(square)) return DVX_FAILED;
    dvx_value held = array_operand(vm, square, NULL, &a);
    vm->api->release(vm, square);
    if (dvx_failed(held)) return DVX_FAILED;
    dvx_value sum = reduce_array(vm, ND_UFUNC_add, a, m->mask, a->dtype->num, m->keep, NULL, &out);
    vm->api->release(vm, held);
    if (dvx_failed(sum)) return DVX_FAILED;
    const dvx_value operands[2] = {sum, vm->api->make_float(vm, divisor > 0 ? divisor : 0)};
    dvx_value result = ufunc_call(vm, ND_UFUNC_divide, operands, sum, NULL);
    vm->api->release(vm, operands[1]);
    vm->api->release(vm, sum);
    return result;
}

/* a, axis, dtype, out, ddof, keepdims, where; of complex numbers, too, it is dl code */
static dvx_value spread(dvx_vm *vm, const dvx_value *args, bool root) {
    moment m;
    double ddof = 0;
    const char *name = root ? "std" : "var";
    if (is_masked(vm, args[6])) return nd_wider(vm, name, &var_function, args);
    if (nd_is_given(vm, args[4]) && !vm->api->read_float(vm, args[4], &ddof)) return DVX_FAILED;
    if (!read_moment(vm, args, args[5], &m)) return DVX_FAILED;
    const bool wide = m.a->dtype->kind == 'c' || ND_DTYPE(m.type)->kind == 'c';
    dvx_value made = wide ? nd_wider(vm, name, &var_function, args) : variance_of(vm, &m, ddof);
    vm->api->release(vm, m.held);
    if (wide) return made;
    if (root && !dvx_failed(made)) {
        dvx_value result = ufunc_call(vm, ND_UFUNC_sqrt, &made, made, NULL);
        vm->api->release(vm, made);
        made = result;
    }
    return finish_moment(vm, &m, made);
}
static dvx_value var(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return spread(vm, args, false);
}
static dvx_value std(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return spread(vm, args, true);
}

/* ---- Places of extremes ---- */

/* Dtypes of 32 and 64 bits have loops for it (loops.h).  Of others lines are looked through a part
 * at a time: its extreme, and, where that is the best so far, its place; then for the element
 * within the best part alone.  Lines whose elements do not lie in a row are copied into parts, as
 * many of them at a time as lie side by side (with a step between them that is no power of 2: their
 * elements would share few lines of the cache). */
enum { LONG_PART = 1024, PART = 256, PART_STEP = PART + 8, SIDE = 8 };

typedef struct search search;
/* Lines a step apart, and where their places go. */
typedef void search_lines(const search *s, const char *from, int64_t step, int64_t lines, char *to,
                          int64_t to_step);
struct search {
    nd_fold fold;
    nd_finder find;
    nd_cast copy;
    nd_line_place place;
    nd_line_places places;
    int64_t count, stride, size; /* of a line */
    bool apart;                  /* elements do not lie in a row */
    bool greatest;
    search_lines *few; /* of few elements; or NULL */
};

/* Is there a better element than the best so far (the line's first one, to begin with)?  It becomes
 * the best. */
static bool search_part(const search *s, char *best, const char *part, int64_t count) {
    _Alignas(16) char now[sizeof(nd_complex)];
    memcpy(now, best, (size_t)s->size);
    s->fold(now, part, count, s->size);
    /* (It may be equal and have other bits: 0.0 and -0.0.) */
    if (s->find(now, best, 1) == 0) return false;
    memcpy(best, now, (size_t)s->size);
    return true;
}

static int64_t search_line(const search *s, const char *line) {
    _Alignas(16) char best[sizeof(nd_complex)];
    int64_t from = 0;
    if (s->place) return s->place(line, s->count);
    memcpy(best, line, (size_t)s->size);
    for (int64_t i = 0; i < s->count; i += LONG_PART) {
        const int64_t left = s->count - i, n = left < LONG_PART ? left : LONG_PART;
        if (search_part(s, best, line + i * s->size, n)) from = i;
    }
    return from + s->find(best, line + from * s->size, s->count - from);
}

/* Elements of `lines` lines, from `from` on, into a row each: line by line, or side by side, as
 * they lie closer together.  (By size, as a copy of so many bytes would be a call.) */
#define GATHER(T)                                                                                 \
    static void gather_##T(const search *s, const char *from, int64_t step, int64_t lines,        \
                           int64_t count, T *to) {                                                \
        const int64_t stride = s->stride;                                                         \
        if (llabs(stride) < llabs(step)) {                                                        \
            for (int64_t j = 0; j < lines; j++)                                                   \
                s->copy((char *)(to + j * PART_STEP), sizeof(T), from + j * step, stride, count); \
        } else if (lines == SIDE && step == sizeof(T)) {                                          \
            for (int64_t k = 0; k < count; k++) {                                                 \
                T row[SIDE];                                                                      \
                memcpy(row, from + k * stride, sizeof row);                                       \
                for (int64_t j = 0; j < SIDE; j++) to[j * PART_STEP + k] = row[j];                \
            }                                                                                     \
        } else if (lines == SIDE && step == 2 * sizeof(T)) {                                      \
            for (int64_t k = 0; k < count; k++) {                                                 \
                const T *row = (const T *)(const void *)(from + k * stride);                      \
                for (int64_t j = 0; j < SIDE; j++) to[j * PART_STEP + k] = row[2 * j];            \
            }                                                                                     \
        } else if (lines < SIDE / 2) {                                                            \
            for (int64_t j = 0; j < lines; j++)                                                   \
                s->copy((char *)(to + j * PART_STEP), sizeof(T), from + j * step, stride, count); \
        } else {                                                                                  \
            for (int64_t k = 0; k < count; k++)                                                   \
                for (int64_t j = 0; j < lines; j++)                                               \
                    to[j * PART_STEP + k] =                                                       \
                        *(const T *)(const void *)(from + j * step + k * stride);                 \
        }                                                                                         \
    }
GATHER(uint8_t)
GATHER(uint16_t)
GATHER(uint32_t)
GATHER(uint64_t)
GATHER(nd_complex)

static void gather(const search *s, const char *from, int64_t step, int64_t lines, int64_t count,
                   void *to) {
    switch (s->size) {
    case 1: gather_uint8_t(s, from, step, lines, count, to); break;
    case 2: gather_uint16_t(s, from, step, lines, count, to); break;
    case 4: gather_uint32_t(s, from, step, lines, count, to); break;
    case 8: gather_uint64_t(s, from, step, lines, count, to); break;
    default: gather_nd_complex(s, from, step, lines, count, to); break;
    }
}

/* The place of the best element of a part, if it is better than the best so far, which it becomes;
 * else -1. */
static int64_t search_whole_part(const search *s, char *best, const char *part, int64_t count) {
    if (!s->place) return search_part(s, best, part, count) ? s->find(best, part, count) : -1;
    const int64_t place = s->place(part, count);
    return search_part(s, best, part + place * s->size, 1) ? place : -1;
}

static bool search_apart(dvx_vm *vm, const search *s, const char *from, int64_t step, int64_t lines,
                         char *to, int64_t to_step) {
    _Alignas(64) char parts[SIDE * PART_STEP * sizeof(nd_complex)];
    _Alignas(16) char best[SIDE][sizeof(nd_complex)];
    int64_t places[SIDE] = {0};
    for (int64_t j = 0; j < lines; j++) memcpy(best[j], from + j * step, (size_t)s->size);
    for (int64_t i = 0; i < s->count; i += PART) {
        const int64_t n = s->count - i < PART ? s->count - i : PART;
        gather(s, from + i * s->stride, step, lines, n, parts);
        for (int64_t j = 0; j < lines; j++) {
            const int64_t place = search_whole_part(s, best[j], parts + j * PART_STEP * s->size, n);
            if (place >= 0) places[j] = i + place;
        }
        if (!nd_work(vm, n * lines / 4)) return false;
    }
    for (int64_t j = 0; j < lines; j++) *(int64_t *)(void *)(to + j * to_step) = places[j];
    return true;
}

/* Lines of a few neighbours: without calls.  (The first nan is the best.) */
enum { FEW = 8 };
#define SEARCH_FEW(T)                                                                          \
    static void search_few_##T(const search *s, const char *from, int64_t step, int64_t lines, \
                               char *to, int64_t to_step) {                                    \
        for (int64_t i = 0; i < lines; i++, from += step, to += to_step) {                     \
            const T *line = (const T *)(const void *)from;                                     \
            T best = line[0];                                                                  \
            int64_t place = 0;                                                                 \
            for (int64_t k = 1; k < s->count; k++) {                                           \
                const T x = line[k];                                                           \
                const bool further = s->greatest ? x > best : x < best;                        \
                const bool better = (further | (x != x)) & (best == best);                     \
                place = better ? k : place;                                                    \
                best = better ? x : best;                                                      \
            }                                                                                  \
            *(int64_t *)(void *)to = place;                                                    \
        }                                                                                      \
    }
SEARCH_FEW(uint8_t)
SEARCH_FEW(int32_t)
SEARCH_FEW(int64_t)
SEARCH_FEW(float)
SEARCH_FEW(double)

static search_lines *search_few(nd_type type) {
    static search_lines *const of[ND_TYPES] = {
        [ND_BOOL] = search_few_uint8_t,  [ND_UINT8] = search_few_uint8_t,
        [ND_INT32] = search_few_int32_t, [ND_INT64] = search_few_int64_t,
        [ND_FLOAT32] = search_few_float, [ND_FLOAT64] = search_few_double};
    return of[type];
}

static bool search_row(dvx_vm *vm, void *context, char *const *data, int64_t count,
                       const int64_t *strides) {
    const search *s = context;
    const int64_t side = ND_NEIGHBOURS / s->size;
    int64_t i = 0;
    if (s->few) {
        s->few(s, data[1], strides[1], count, data[0], strides[0]);
        return nd_work(vm, count * s->count / 4);
    }
    const bool other = strides[1] == 2 * s->size;
    if (s->apart && s->places && (other || strides[1] == s->size))
        for (; i + side <= count; i += side) {
            s->places(data[1] + i * strides[1], other, s->count, s->stride,
                      data[0] + i * strides[0], strides[0]);
            if (!nd_work(vm, side * s->count / 4)) return false;
        }
    for (; i < count; i += s->apart ? SIDE : 1) {
        char *to = data[0] + i * strides[0];
        const char *line = data[1] + i * strides[1];
        if (!s->apart) *(int64_t *)(void *)to = search_line(s, line);
        if (s->apart ? !search_apart(vm, s, line, strides[1], count - i < SIDE ? count - i : SIDE,
                                     to, strides[0])
                     : !nd_quick_work(vm, s->count))
            return false;
    }
    return true;
}

/* Of all elements in a row, or along an axis. */
static dvx_value search_array(dvx_vm *vm, const nd_array *a, int axis, bool keep,
                              nd_ufunc_number number, const char *what, nd_array **out) {
    const nd_tiles *tiles = nd_state_of(vm)->tiles;
    const nd_type type = a->dtype->num;
    const bool greatest = number == ND_UFUNC_maximum, few = a->axes[axis].count <= ND_MOST_PLACES;
    search s = {.fold = ufunc_kernel(vm, number, type)->fold,
                .find = tiles->find[type],
                .copy = cast_between(a->dtype, a->dtype),
                .count = a->axes[axis].count,
                .stride = a->axes[axis].stride,
                .size = a->dtype->size,
                .greatest = greatest,
                .apart = a->axes[axis].count > 1 && a->axes[axis].stride != a->dtype->size};
    if (few) s.place = greatest ? tiles->place_maximum[type] : tiles->place_minimum[type];
    if (few) s.places = greatest ? tiles->places_maximum[type] : tiles->places_minimum[type];
    if (!s.apart && s.count <= (s.size == 1 ? FEW / 2 : FEW)) s.few = search_few(type);
    nd_walk walk;
    walk_begin(&walk, 2, 0);
    int64_t shape[ND_MOST];
    int ndim = 0;
    for (int i = 0; i < a->ndim; i++) {
        if (i != axis) walk.strides[1][walk.ndim] = a->axes[i].stride;
        if (i != axis) walk.shape[walk.ndim++] = a->axes[i].count;
        if (i != axis || keep) shape[ndim++] = i == axis ? 1 : a->axes[i].count;
    }
    dvx_value made = array_new(vm, ND_DTYPE(ND_INT64), ndim, shape, out);
    if (dvx_failed(made)) return DVX_FAILED;
    bool good = true;
    if ((*out)->size && !s.count)
        good = nd_fail(vm, DVX_VALUE_ERROR, "attempt to get %s of an empty sequence", what);
    for (int i = walk.ndim - 1, k = ndim - 1; i >= 0; i--, k--) {
        if (keep && k == axis) k--;
        walk.strides[0][i] = (*out)->axes[k].stride;
    }
    walk.data[0] = (*out)->data;
    walk.data[1] = a->data;
    if (good && walk_run(vm, &walk, search_row, &s)) return made;
    vm->api->release(vm, made);
    return DVX_FAILED;
}

/* a, axis, out, keepdims */
static dvx_value search_with(dvx_vm *vm, const dvx_value *args, nd_ufunc_number number,
                             const char *what) {
    nd_array *a, *out;
    int axis = 0, keep = nd_is_given(vm, args[3]) ? vm->api->truth(vm, args[3]) : 0;
    const bool flat = !nd_is_given(vm, args[1]);
    if (keep < 0) return DVX_FAILED;
    dvx_value held = flat ? array_row(vm, args[0], NULL, &a) : array_operand(vm, args[0], NULL, &a);
    if (dvx_failed(held)) return DVX_FAILED;
    nd_array row = *a;
    dvx_axis whole = {a->size, a->dtype->size}, ones[ND_MOST];
    dvx_value made = DVX_FAILED;
    if (flat || !a->ndim) row.axes = &whole, row.ndim = 1;
    if (flat || nd_axis_no_bool(vm, args[1], row.ndim, &axis))
        made = search_array(vm, &row, axis, keep && !flat, number, what, &out);
    if (!dvx_failed(made) && flat && keep) {
        for (int i = 0; i < a->ndim; i++) ones[i] = (dvx_axis){1, 0};
        dvx_value view = array_view(vm, made, out, out->data, a->ndim, ones, &out);
        vm->api->release(vm, made);
        made = view;
    }
    vm->api->release(vm, held);
    return dvx_failed(made) ? made : reduce_finish(vm, made, out, args[2], number);
}
static dvx_value argmax(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return search_with(vm, args, ND_UFUNC_maximum, "argmax");
}
static dvx_value argmin(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return search_with(vm, args, ND_UFUNC_minimum, "argmin");
}

/* ---- Running sums ---- */

/* a, axis, dtype, out */
static dvx_value cumsum(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return reduce_accumulate(vm, ND_UFUNC_add, args[0], args[1], false, args[2], args[3]);
}
static dvx_value cumprod(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return reduce_accumulate(vm, ND_UFUNC_multiply, args[0], args[1], false, args[2], args[3]);
}

/* ---- Tables ---- */

ND_METHOD(sum, ND_NAMED("sum", sum, sum_method));
ND_METHOD(prod, ND_NAMED("prod", prod, sum_method));
ND_METHOD(max, ND_NAMED("max", maximum, max_method));
ND_METHOD(min, ND_NAMED("min", minimum, max_method));
ND_METHOD(any, ND_NAMED("any", any, truth_method));
ND_METHOD(all, ND_NAMED("all", all, truth_method));
ND_METHOD(ptp, ND_NAMED("ptp", ptp, ptp_method));
ND_METHOD(mean, ND_NAMED("mean", mean, mean_method));
ND_METHOD(var, ND_NAMED("var", var, var_method));
ND_METHOD(std, ND_NAMED("std", std, var_method));
ND_METHOD(argmax, ND_NAMED("argmax", argmax, search_method));
ND_METHOD(argmin, ND_NAMED("argmin", argmin, search_method));
ND_METHOD(cumsum, ND_NAMED("cumsum", cumsum, run_method));
ND_METHOD(cumprod, ND_NAMED("cumprod", cumprod, run_method));

static const dvx_function functions[] = {
    ND_NAMED("sum", sum, sum_function),          ND_NAMED("prod", prod, sum_function),
    ND_NAMED("product", prod, sum_function),     ND_NAMED("max", maximum, max_function),
    ND_NAMED("amax", maximum, max_function),     ND_NAMED("min", minimum, max_function),
    ND_NAMED("amin", minimum, max_function),     ND_NAMED("any", any, truth_function),
    ND_NAMED("all", all, truth_function),        ND_NAMED("ptp", ptp, ptp_function),
    ND_NAMED("mean", mean, mean_function),       ND_NAMED("var", var, var_function),
    ND_NAMED("std", std, var_function),          ND_NAMED("argmax", argmax, search_function),
    ND_NAMED("argmin", argmin, search_function), ND_NAMED("cumsum", cumsum, run_function),
    ND_NAMED("cumprod", cumprod, run_function),
};

bool reductions_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
