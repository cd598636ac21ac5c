/* select.c: where, clip, round, isclose, allclose, count_nonzero (select.h). */
#include "functions/select.h"

#include <math.h>

#include "loops/arith.h"
#include "ufunc/collect.h"
#include "array/compose.h"
#include "array/convert.h"
#include "index/index.h"
#include "array/methods.h"
#include "ufunc/reduce.h"
#include "ufunc/ufunc.h"

/* ---- where ---- */

/* Operands of a choice: the result, the condition, and what is chosen from. */
enum { CONDITION, YES, NO, RESULT };

static bool run_row(dvx_vm *vm, void *loop, char *const *data, int64_t count,
                    const int64_t *strides) {
    const int64_t steps[] = {strides[YES], strides[NO], strides[RESULT], strides[CONDITION]};
    (void)vm;
    (*(const nd_loop *)loop)((char *[]){data[YES], data[NO], data[RESULT], data[CONDITION]}, count,
                             steps);
    return true;
}

static bool run_rows(dvx_vm *vm, nd_walk *walk, int64_t size) {
    const int64_t sizes[] = {[CONDITION] = 1, [YES] = size, [NO] = size, [RESULT] = size};
    nd_loop loop = nd_state_of(vm)->tiles->choose[size];
    return collect_pays(walk) ? collect_run(vm, walk, sizes, run_row, &loop)
                              : walk_run(vm, walk, run_row, &loop);
}

static dvx_value choose(dvx_vm *vm, nd_array *const *operands, const nd_dtype *dtype) {
    nd_walk walk;
    walk_begin(&walk, 4, 0);
    nd_array *out;
    if (!array_broadcast(vm, operands, 3, &walk.ndim, walk.shape)) return DVX_FAILED;
    dvx_value made = ufunc_result(vm, dtype, operands, 3, walk.ndim, walk.shape, &out);
    if (dvx_failed(made)) return made;
    for (int i = 0; i < 4; i++) {
        const nd_array *a = i < RESULT ? operands[i] : out;
        walk.data[i] = a->data;
        array_strides_in(a, walk.ndim, walk.strides[i]);
    }
    walk_plan(&walk, RESULT, true);
    if (run_rows(vm, &walk, dtype->size)) return made;
    vm->api->release(vm, made);
    return DVX_FAILED;
}

/* Can the array be broadcast to the shape of `to`?  (Axes of one element in front count for
 * nothing, unless `most` says how many axes there may be.) */
static bool fits(dvx_vm *vm, const nd_array *to, const nd_array *a, int most, const char *what) {
    const int more = a->ndim - to->ndim;
    bool good = most < 0 || a->ndim <= most;
    for (int i = 0; good && i < a->ndim; i++)
        good = a->axes[i].count == 1 || (i >= more && a->axes[i].count == to->axes[i - more].count);
    if (good) return true;
    char of[ND_SHAPE_TEXT], into[ND_SHAPE_TEXT];
    int64_t shape[ND_MOST], target[ND_MOST];
    array_shape(a, shape);
    array_shape(to, target);
    return nd_fail(vm, DVX_VALUE_ERROR, "could not broadcast %s from shape %s into shape %s", what,
                   array_shape_text(a->ndim, shape, false, of),
                   array_shape_text(to->ndim, target, false, into));
}

bool select_copy(dvx_vm *vm, nd_array *to, const nd_array *from, const nd_array *mask) {
    nd_walk walk;
    nd_array trimmed;
    dvx_value held[2] = {DVX_FAILED, DVX_FAILED};
    const nd_array *sides[2] = {mask, from};
    if (!fits(vm, to, from, -1, "input array") || !fits(vm, to, mask, to->ndim, "where mask"))
        return false;
    bool good = true;
    for (int i = 0; good && i < 2; i++) {
        const nd_dtype *dtype = i ? to->dtype : mask->dtype;
        if (sides[i]->dtype == dtype && !array_may_overlap(sides[i], to)) continue;
        held[i] = array_copy(vm, sides[i], dtype, 'K');
        good = !dvx_failed(held[i]);
        if (good) sides[i] = array_of(vm, held[i]);
    }
    if (good && to->size) {
        walk_begin(&walk, 4, to->ndim);
        array_shape(to, walk.shape);
        for (int i = 0; i < 4; i++) {
            const nd_array *a = i == CONDITION ? sides[0] : i == YES ? sides[1] : to;
            walk.data[i] = a->data;
            if (a->ndim > to->ndim) {
                trimmed = *a;
                trimmed.axes += a->ndim - to->ndim;
                trimmed.ndim = to->ndim;
                a = &trimmed;
            }
            array_strides_in(a, walk.ndim, walk.strides[i]);
        }
        walk_plan(&walk, RESULT, true);
        good = run_rows(vm, &walk, to->dtype->size);
    }
    vm->api->release(vm, held[0]);
    vm->api->release(vm, held[1]);
    return good;
}

/* condition, x, y */
dvx_value select_where(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *operands[3];
    dvx_value held[3] = {DVX_FAILED, DVX_FAILED, DVX_FAILED}, made = DVX_FAILED;
    (void)count;
    if (dvx_failed(args[1]) != dvx_failed(args[2]))
        return vm->api->raise(vm, DVX_VALUE_ERROR,
                              "either both or neither of x and y should be given");
    if (dvx_failed(args[1])) {
        dvx_value a = array_from(vm, args[0], NULL);
        if (!dvx_failed(a)) made = vm->api->call_method(vm, a, "nonzero", NULL, 0);
        vm->api->release(vm, a);
        return made;
    }
    for (int i = 1; i < 3; i++) {
        held[i] = array_operand(vm, args[i], NULL, &operands[i]);
        if (dvx_failed(held[i])) break;
    }
    if (!dvx_failed(held[2])) {
        const nd_dtype *dtype = dtype_promote(operands[1]->dtype, operands[2]->dtype);
        held[0] = array_operand(vm, args[0], ND_DTYPE(ND_BOOL), &operands[0]);
        for (int i = 1; i < 3 && !dvx_failed(held[0]); i++) {
            dvx_value cast = array_operand(vm, held[i], dtype, &operands[i]);
            vm->api->release(vm, held[i]);
            held[i] = cast;
        }
        if (!dvx_failed(held[0]) && !dvx_failed(held[1]) && !dvx_failed(held[2]))
            made = choose(vm, operands, dtype);
    }
    for (int i = 0; i < 3; i++) vm->api->release(vm, held[i]);
    return made;
}

/* ---- clip ---- */

enum { MANY = 1024 };
/* Does the bound, a number, leave the dtype as it is? */
static bool suits(dvx_vm *vm, const nd_dtype *dtype, dvx_value bound) {
    const dvx_kind kind = vm->api->kind(vm, bound);
    return dtype->num == ND_FLOAT64 ? kind == DVX_FLOAT || kind == DVX_INT
                                    : dtype->num == ND_INT64 && kind == DVX_INT;
}

/* A nan without dimensions?  As a bound that is none, in NumPy 1.24 (dl does that; an array that
 * has a nan stays what it is). */
static bool is_nan(dvx_vm *vm, dvx_value bound) {
    nd_complex value = {0, 0};
    const nd_dtype *dtype = nd_is_given(vm, bound) ? convert_kind(vm, bound) : NULL;
    if (!dtype || (dtype->kind != 'f' && dtype->kind != 'c')) return false;
    if (!array_store(vm, ND_DTYPE(ND_COMPLEX128), (char *)&value, bound)) vm->api->clear_error(vm);
    return isnan(value.real) || isnan(value.imag);
}

static dvx_value clip_between(dvx_vm *vm, const dvx_value *args) {
    const bool low = nd_is_given(vm, args[1]), high = nd_is_given(vm, args[2]);
    const dvx_value out = nd_is_given(vm, args[3]) ? args[3] : DVX_FAILED;
    dvx_value operands[2] = {args[0], low ? args[1] : args[2]}, made;
    made = ufunc_call(vm, low ? ND_UFUNC_maximum : ND_UFUNC_minimum, operands,
                      low && high ? DVX_FAILED : out, NULL);
    if (!low || !high || dvx_failed(made)) return made;
    operands[0] = made;
    operands[1] = args[2];
    /* Of many elements: the array in between, which nobody else has, becomes the result.  (Hot
     * sites go through the elements once: site/fuse.c.) */
    const nd_array *between = vm->api->payload(vm, made, &array_type);
    const bool here = dvx_failed(out) && between && between->size >= MANY &&
                      vm->api->is_unique(vm, made) && suits(vm, between->dtype, args[2]);
    dvx_value result = ufunc_call(vm, ND_UFUNC_minimum, operands, here ? made : out, NULL);
    vm->api->release(vm, made);
    return result;
}

static const char *const clip_names[] = {"a",       "a_min", "a_max", "out",
                                         "casting", "dtype", "order", "where"};
static const dvx_parameters clip_parameters = {sizeof(dvx_parameters), clip_names,
                                               LENGTH_OF(clip_names), 4, 1};
static const char *const clip_method_names[] = {"min",   "max",   "out",  "casting",
                                                "dtype", "order", "where"};
static const dvx_parameters clip_method_parameters = {sizeof(dvx_parameters), clip_method_names,
                                                      LENGTH_OF(clip_method_names), 3, 0};

/* a, min, max, out, and keywords of ufuncs, which are rare; `wider`: what is to be done with nans.
 */
static dvx_value clip_any(dvx_vm *vm, const dvx_value *args, const char *wider) {
    const bool nans = is_nan(vm, args[1]) || is_nan(vm, args[2]);
    if (UNLIKELY(nans || !dvx_failed(args[4]) || !dvx_failed(args[5]) || !dvx_failed(args[6]) ||
                 !dvx_failed(args[7])))
        return nd_wider(vm, nans ? wider : "clip", &clip_parameters, args);
    if (!nd_is_given(vm, args[1]) && !nd_is_given(vm, args[2]))
        return vm->api->raise(vm, DVX_VALUE_ERROR, "One of max or min must be given");
    return clip_between(vm, args);
}

dvx_value select_clip(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return clip_any(vm, args, "clip");
}

static dvx_value clip_method_of(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return clip_any(vm, args, "clip_method");
}

/* ---- round ---- */

/* To so many digits behind the point, as NumPy does it: a power of ten, rint, and back. */
/* The operation on what the one before has made, in its place. */
static dvx_value then(dvx_vm *vm, nd_ufunc_number number, dvx_value made, const double *other) {
    if (dvx_failed(made)) return made;
    if (!vm->api->payload(vm, made, &array_type))
        return other ? compose_number(vm, number, made, *other) : compose_unary(vm, number, made);
    const dvx_value operands[2] = {made, other ? vm->api->make_float(vm, *other) : DVX_FAILED};
    dvx_value result = DVX_FAILED;
    if (!other || !dvx_failed(operands[1])) result = ufunc_call(vm, number, operands, made, NULL);
    vm->api->release(vm, operands[1]);
    return compose_first(vm, result, made);
}

static dvx_value round_floats(dvx_vm *vm, dvx_value a, int64_t decimals) {
    if (!decimals) return compose_unary(vm, ND_UFUNC_rint, a);
    const double scale = pow(10, (double)(decimals < 0 ? -decimals : decimals));
    const nd_ufunc_number to = decimals > 0 ? ND_UFUNC_multiply : ND_UFUNC_divide;
    const nd_ufunc_number back = decimals > 0 ? ND_UFUNC_divide : ND_UFUNC_multiply;
    dvx_value made = then(vm, ND_UFUNC_rint, compose_number(vm, to, a, scale), NULL);
    return then(vm, back, made, &scale);
}

ND_PARAMETERS(round_parameters, 1, "a", "decimals", "out");

/* a, decimals, out; of complex numbers it is dl code */
static dvx_value round_to(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a, *out = NULL;
    int64_t decimals = 0;
    (void)count;
    if (nd_is_given(vm, args[1]) && !nd_read_index(vm, args[1], &decimals)) return DVX_FAILED;
    if (nd_is_given(vm, args[2]) && !(out = vm->api->payload(vm, args[2], &array_type)))
        return vm->api->raise(vm, DVX_TYPE_ERROR, "return arrays must be of ArrayType");
    dvx_value held = array_operand(vm, args[0], NULL, &a), made;
    if (dvx_failed(held)) return held;
    if (a->dtype->kind == 'c')
        return compose_first(vm, nd_wider(vm, "round", &round_parameters, args), held);
    if (a->dtype->kind == 'f' || a->dtype->num == ND_BOOL)
        made = round_floats(vm, vm->api->retain(vm, held), decimals);
    else if (decimals >= 0)
        made = vm->api->retain(vm, held); /* (NumPy gives the array itself, too.) */
    else
        made = compose_array(vm, round_floats(vm, vm->api->retain(vm, held), decimals), a->dtype);
    made = compose_array(vm, made, NULL);
    vm->api->release(vm, held);
    if (dvx_failed(made)) return made;
    if (!out) return array_result(vm, made);
    const bool good = array_writable(vm, out) && array_assign(vm, out, array_of(vm, made));
    vm->api->release(vm, made);
    return good ? vm->api->retain(vm, args[2]) : DVX_FAILED;
}

/* ---- Comparisons of whole arrays ---- */

typedef struct tolerance {
    double relative, absolute;
    bool equal_nan, all, wide;
} tolerance;

/* (Two arrays of float32 are compared in that type, as NumPy does it.  Without jumps, for vectors,
 * and with `truth` as wide as the elements.) */
#define CLOSE_ONE(T, truth, x, y)                                                \
    const truth finite = (truth)(__builtin_isfinite(x) & __builtin_isfinite(y)); \
    const truth near = FABS((x) - (y)) <= absolute + relative * FABS(y);         \
    const truth same = ((x) == (y)) | (equal_nan & ((x) != (x)) & ((y) != (y))); \
    const truth close = (finite & near) | (~finite & same);
#define FABS(x) _Generic((x), float : __builtin_fabsf, double : __builtin_fabs)(x)
#define CLOSE_REAL(T, truth, name)                                                              \
    static bool close_##name##_row(dvx_vm *vm, void *context, char *const *data, int64_t count, \
                                   const int64_t *strides) {                                    \
        enum { SIZE = sizeof(T) };                                                              \
        tolerance *t = context;                                                                 \
        const T relative = (T)t->relative, absolute = (T)t->absolute;                           \
        const truth equal_nan = t->equal_nan;                                                   \
        truth all = 1;                                                                          \
        (void)vm;                                                                               \
        if (strides[0] == 1 && strides[1] == SIZE && strides[2] == SIZE) {                      \
            uint8_t *restrict to = (uint8_t *)data[0];                                          \
            const T *xs = (const T *)(const void *)data[1];                                     \
            const T *ys = (const T *)(const void *)data[2];                                     \
            for (int64_t i = 0; i < count; i++) {                                               \
                const T x = xs[i], y = ys[i];                                                   \
                CLOSE_ONE(T, truth, x, y)                                                       \
                to[i] = (uint8_t)close;                                                         \
                all &= close;                                                                   \
            }                                                                                   \
        } else {                                                                                \
            for (int64_t i = 0; i < count; i++) {                                               \
                const T x = *(const T *)(const void *)(data[1] + i * strides[1]);               \
                const T y = *(const T *)(const void *)(data[2] + i * strides[2]);               \
                CLOSE_ONE(T, truth, x, y)                                                       \
                data[0][i * strides[0]] = (char)close;                                          \
                all &= close;                                                                   \
            }                                                                                   \
        }                                                                                       \
        t->all &= all != 0;                                                                     \
        return true;                                                                            \
    }
CLOSE_REAL(double, int64_t, real)
CLOSE_REAL(float, int32_t, single)

ND_PARAMETERS(close_parameters, 2, "a", "b", "rtol", "atol", "equal_nan");

/* a, b, rtol, atol, equal_nan: an array of bools, or what dl makes of complex numbers (`name`). */
static dvx_value compare_close(dvx_vm *vm, const dvx_value *args, const char *name, tolerance *t) {
    nd_array *operands[2], *out;
    nd_walk walk;
    walk_begin(&walk, 3, 0);
    int equal_nan = nd_flag(vm, args[4], false);
    dvx_value made = DVX_FAILED;
    *t = (tolerance){1e-5, 1e-8, equal_nan > 0, true, false};
    if (equal_nan < 0 ||
        (!dvx_failed(args[2]) && !vm->api->read_float(vm, args[2], &t->relative)) ||
        (!dvx_failed(args[3]) && !vm->api->read_float(vm, args[3], &t->absolute)))
        return DVX_FAILED;
    dvx_value held[2] = {array_operand(vm, args[0], NULL, &operands[0]), DVX_FAILED};
    if (!dvx_failed(held[0])) held[1] = array_operand(vm, args[1], NULL, &operands[1]);
    const bool real =
        !dvx_failed(held[1]) && operands[0]->dtype->kind != 'c' && operands[1]->dtype->kind != 'c';
    if (!dvx_failed(held[1]) && !real) {
        t->wide = true;
        vm->api->release(vm, held[1]);
        return compose_first(vm, nd_wider(vm, name, &close_parameters, args), held[0]);
    }
    const bool single =
        real && operands[0]->dtype->num == ND_FLOAT32 && operands[1]->dtype->num == ND_FLOAT32;
    for (int i = 0; i < 2 && !dvx_failed(held[1]) && !single; i++) {
        dvx_value cast = array_operand(vm, held[i], ND_DTYPE(ND_FLOAT64), &operands[i]);
        vm->api->release(vm, held[i]);
        held[i] = cast;
    }
    if (!dvx_failed(held[0]) && !dvx_failed(held[1]) &&
        array_broadcast(vm, operands, 2, &walk.ndim, walk.shape))
        made = array_new(vm, ND_DTYPE(ND_BOOL), walk.ndim, walk.shape, &out);
    for (int i = 0; i < 3 && !dvx_failed(made); i++) {
        const nd_array *a = i ? operands[i - 1] : out;
        walk.data[i] = a->data;
        array_strides_in(a, walk.ndim, walk.strides[i]);
    }
    const nd_row row = single ? close_single_row : close_real_row;
    if (!dvx_failed(made) && !(nd_work(vm, out->size) && walk_run(vm, &walk, row, t))) {
        vm->api->release(vm, made);
        made = DVX_FAILED;
    }
    vm->api->release(vm, held[0]);
    vm->api->release(vm, held[1]);
    return made;
}

static dvx_value isclose(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    tolerance t;
    (void)count;
    dvx_value made = compare_close(vm, args, "isclose", &t);
    return dvx_failed(made) || t.wide ? made : array_result(vm, made);
}

static dvx_value allclose(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    tolerance t;
    (void)count;
    dvx_value made = compare_close(vm, args, "allclose", &t);
    if (dvx_failed(made) || t.wide) return made;
    vm->api->release(vm, made);
    return vm->api->make_bool(vm, t.all);
}

static dvx_value reduce_all(dvx_vm *vm, nd_ufunc_number number, dvx_value v, dvx_value axis) {
    const nd_reduction r = {.number = number,
                            .axis = axis,
                            .dtype = DVX_FAILED,
                            .out = DVX_FAILED,
                            .keepdims = DVX_FAILED,
                            .initial = DVX_FAILED,
                            .where = DVX_FAILED};
    return reduce_call(vm, v, &r);
}

/* a, axis */
static dvx_value count_nonzero(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a = array_of(vm, args[0]);
    (void)count;
    bool all = dvx_failed(args[1]) || vm->api->kind(vm, args[1]) == DVX_NONE;
    if (all && a && a->ndim > 0 && a->flags & ND_C_CONTIGUOUS) {
        const nd_counter counter = nd_state_of(vm)->tiles->count[a->dtype->num];
        if (counter && !nd_quick_work(vm, a->size)) return DVX_FAILED;
        if (counter) return vm->api->make_int(vm, counter(a->data, a->size));
    }
    dvx_value held = array_operand(vm, args[0], ND_DTYPE(ND_BOOL), &a);
    if (dvx_failed(held)) return held;
    all &= a->ndim > 0;
    const int64_t found = all ? fancy_count(vm, a) : 0;
    dvx_value made = DVX_FAILED;
    if (!all)
        made = reduce_all(vm, ND_UFUNC_add, held, args[1]);
    else if (found >= 0)
        made = vm->api->make_int(vm, found);
    vm->api->release(vm, held);
    return made;
}

/* ---- Tables ---- */

ND_PARAMETERS(where_parameters, 1, "condition", "x", "y");
ND_PARAMETERS(count_parameters, 1, "a", "axis");
ND_PARAMETERS(round_method_parameters, 0, "decimals", "out");
ND_METHOD(round, ND_NAMED("round", round_to, round_method_parameters));
ND_METHOD(clip, ND_NAMED("clip", clip_method_of, clip_method_parameters));

static const dvx_function functions[] = {
    ND_SHOWN("where", select_where, where_parameters),
    ND_SHOWN("clip", select_clip, clip_parameters),
    ND_NAMED("round", round_to, round_parameters),
    ND_NAMED("round_", round_to, round_parameters),
    ND_NAMED("around", round_to, round_parameters),
    ND_NAMED("isclose", isclose, close_parameters),
    ND_NAMED("allclose", allclose, close_parameters),
    ND_NAMED("count_nonzero", count_nonzero, count_parameters),
};

bool select_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
