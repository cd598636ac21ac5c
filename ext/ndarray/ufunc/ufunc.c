/* ufunc.c: how a function that works element by element is computed (ufunc.h): which loop, on what
 * shape, with which casts, into which array.  The type `ufunc` is in ufunc_type.c. */
#include "ufunc/ufunc.h"

#include "loops/arith.h"
#include "loops/cast.h"
#include "ufunc/error.h"
#include "loops/turn.h"
#include "ufunc/collect.h"
#include "ufunc/walk.h"

#include <stdlib.h>

/* Elements that are cast at a time. */
enum { CHUNK = 512, MOST_INPUTS = 2 };

/* An input: an array, or a number of dl that is an element as soon as the type is known. */
typedef struct operand {
    nd_array *array; /* NULL: a number */
    dvx_value held;  /* a reference to the array */
    dvx_value value; /* the number, borrowed */
    nd_type type;
    bool weak;
    _Alignas(16) char element[sizeof(nd_complex)];
} operand;

typedef struct call {
    nd_ufunc_number number;
    int inputs;
    operand in[MOST_INPUTS];
    nd_type type; /* that the loop computes in */
    const nd_kernel *kernel;
    nd_array *out;
    nd_array *mask;      /* where it is computed; NULL: everywhere */
    dvx_value mask_held; /* a reference to it */
    int ndim;
    int64_t shape[ND_MOST];
} call;

/* ---- Operands ---- */

bool ufunc_knows(dvx_vm *vm, dvx_value v) {
    switch (vm->api->kind(vm, v)) {
    case DVX_INT:
    case DVX_BOOL:
    case DVX_FLOAT:
    case DVX_COMPLEX:
    case DVX_LIST:
    case DVX_TUPLE: return true;
    default: return array_of(vm, v) != NULL;
    }
}

static bool read_operand(dvx_vm *vm, dvx_value v, operand *o) {
    o->array = NULL;
    o->held = DVX_FAILED;
    o->value = v;
    o->weak = true;
    switch (vm->api->kind(vm, v)) {
    case DVX_INT: o->type = ND_INT64; return true;
    case DVX_FLOAT: o->type = ND_FLOAT64; return true;
    case DVX_COMPLEX: o->type = ND_COMPLEX128; return true;
    case DVX_BOOL:
        o->type = ND_BOOL;
        o->weak = false;
        return true;
    default: break;
    }
    o->held = array_operand(vm, v, NULL, &o->array);
    if (dvx_failed(o->held)) return false;
    o->type = o->array->dtype->num;
    o->weak = false;
    return true;
}

static void release_operands(dvx_vm *vm, call *c) {
    for (int i = 0; i < c->inputs; i++) vm->api->release(vm, c->in[i].held);
    vm->api->release(vm, c->mask_held);
}

bool ufunc_mask(dvx_vm *vm, dvx_value where, dvx_value *held, nd_array **mask) {
    *held = DVX_FAILED;
    *mask = NULL;
    if (dvx_failed(where) || vm->api->same(vm, where, vm->api->make_bool(vm, true))) return true;
    const nd_array *given = array_of(vm, where);
    if (given && given->dtype->num != ND_BOOL)
        return nd_fail(vm, DVX_TYPE_ERROR,
                       "Cannot cast %s from dtype('%s') to dtype('bool') according to the rule "
                       "'safe'",
                       given->ndim ? "array data" : "scalar", given->dtype->name);
    *held = array_operand(vm, where, ND_DTYPE(ND_BOOL), mask);
    return !dvx_failed(*held);
}

/* ---- Types ---- */

static nd_type promote(nd_type a, nd_type b) {
    return dtype_promote(ND_DTYPE(a), ND_DTYPE(b))->num;
}

/* The type of all inputs together. */
static void common_type(const operand *in, int inputs, nd_type *out) {
    int strong = -1, weak = -1;
    for (int i = 0; i < inputs; i++) {
        int *kind = in[i].weak ? &weak : &strong;
        *kind = *kind < 0 ? (int)in[i].type : (int)promote((nd_type)*kind, in[i].type);
    }
    if (strong < 0 || weak < 0) {
        *out = (nd_type)(strong < 0 ? weak : strong);
    } else if (weak == ND_INT64) {
        *out = strong == ND_BOOL ? ND_INT64 : (nd_type)strong;
    } else if (weak == ND_FLOAT64) {
        *out = type_is_inexact((nd_type)strong) ? (nd_type)strong : ND_FLOAT64;
    } else {
        *out = type_is_inexact((nd_type)strong) ? type_as_complex((nd_type)strong) : ND_COMPLEX128;
    }
}

/* Of two ints: functions of floats make a float of each by itself. */
static nd_type widest(const operand *in, nd_type common) {
    if (in[0].weak || in[1].weak) return common;
    return type_as_float(in[0].type) > type_as_float(in[1].type) ? in[0].type : in[1].type;
}

static bool raise_no_loop(dvx_vm *vm, nd_ufunc_number number, nd_type common) {
    const nd_ufunc_facts *facts = &loops_facts[number];
    if (number == ND_UFUNC_subtract && common == ND_BOOL)
        return nd_fail(vm, DVX_TYPE_ERROR,
                       "numpy boolean subtract, the `-` operator, is not supported, use the "
                       "bitwise_xor, the `^` operator, or the logical_xor function instead.");
    if (number == ND_UFUNC_negative && common == ND_BOOL)
        return nd_fail(vm, DVX_TYPE_ERROR,
                       "The numpy boolean negative, the `-` operator, is not supported, use the "
                       "`~` operator or the logical_not function instead.");
    if ((number == ND_UFUNC_sign || number == ND_UFUNC_positive) && common == ND_BOOL)
        return error_ufunc(vm,
                           "ufunc '%s' did not contain a loop with signature matching types "
                           "<class 'numpy.dtype[bool_]'> -> None",
                           facts->name);
    return nd_fail(vm, DVX_TYPE_ERROR,
                   "ufunc '%s' not supported for the input types, and the inputs could not be "
                   "safely coerced to any supported types according to the casting rule ''safe''",
                   facts->name);
}

/* Those that refuse bools, which others compute as int8. */
static bool has_no_bool(nd_ufunc_number number) {
    return number == ND_UFUNC_subtract || number == ND_UFUNC_negative || number == ND_UFUNC_sign ||
           number == ND_UFUNC_positive;
}

bool ufunc_type(dvx_vm *vm, nd_ufunc_number number, nd_type common, nd_type *out) {
    *out = common;
    if (LIKELY(ufunc_kernel(vm, number, common)->loop != NULL)) return true;
    if (loops_facts[number].floats && !type_is_inexact(common)) {
        *out = number == ND_UFUNC_divide ? ND_FLOAT64 : type_as_float(common);
        return true;
    }
    *out = ND_INT8;
    if (common == ND_BOOL && !has_no_bool(number) && ufunc_kernel(vm, number, ND_INT8)->loop)
        return true;
    return raise_no_loop(vm, number, common);
}

/* dtype= chooses the loop by its result. */
static bool type_by_result(dvx_vm *vm, call *c, const nd_dtype *dtype) {
    for (int t = 0; t < ND_TYPES; t++) {
        const nd_kernel *k = ufunc_kernel(vm, c->number, (nd_type)t);
        if (!k->loop || k->result != dtype->num) continue;
        for (int i = 0; i < c->inputs; i++)
            if (!c->in[i].weak && !dtype_is_same_kind(ND_DTYPE(c->in[i].type), ND_DTYPE(t)))
                return error_ufunc(vm,
                                   "Cannot cast ufunc '%s' input %d from dtype('%s') to "
                                   "dtype('%s') with casting rule 'same_kind'",
                                   loops_facts[c->number].name, i, ND_DTYPE(c->in[i].type)->name,
                                   ND_DTYPE(t)->name);
        c->type = (nd_type)t;
        return true;
    }
    return nd_fail(vm, DVX_TYPE_ERROR,
                   "No loop matching the specified signature and casting was found for ufunc %s",
                   loops_facts[c->number].name);
}

static bool choose_type(dvx_vm *vm, call *c, const nd_dtype *dtype) {
    nd_type common = ND_BOOL;
    if (dtype) {
        if (!type_by_result(vm, c, dtype)) return false;
    } else {
        common_type(c->in, c->inputs, &common);
        if (loops_facts[c->number].floats && c->inputs == 2 && !type_is_inexact(common))
            common = widest(c->in, common);
        if (!ufunc_type(vm, c->number, common, &c->type)) return false;
    }
    c->kernel = ufunc_kernel(vm, c->number, c->type);
    return true;
}

/* ---- Numbers as elements ---- */

static bool store_number(dvx_vm *vm, operand *o, nd_type type) {
    double d;
    if ((o->type == ND_INT64 || o->type == ND_FLOAT64) && type_is_inexact(type)) {
        if (!vm->api->read_float(vm, o->value, &d)) return false;
        cast_between(ND_DTYPE(ND_FLOAT64), ND_DTYPE(type))(o->element, 0, (const char *)&d, 0, 1);
        return true;
    }
    return array_store(vm, ND_DTYPE(type), o->element, o->value);
}

/* Numbers, and single elements that need a cast, lie in `element`, of the loop's type. */
static bool store_elements(dvx_vm *vm, call *c) {
    for (int i = 0; i < c->inputs; i++) {
        operand *o = &c->in[i];
        if (!o->array && ufunc_is_logical(c->number)) {
            /* Numbers that the type does not hold have a truth, too. */
            const int truth = vm->api->truth(vm, o->value);
            const bool as_bool = truth > 0;
            if (truth < 0) return false;
            cast_between(ND_DTYPE(ND_BOOL), ND_DTYPE(c->type))(o->element, 0,
                                                               (const char *)&as_bool, 0, 1);
        } else if (!o->array) {
            if (!store_number(vm, o, c->type)) return false;
        } else if (o->array->size == 1 && o->type != c->type) {
            cast_between(ND_DTYPE(o->type), ND_DTYPE(c->type))(o->element, 0, o->array->data, 0, 1);
        }
    }
    return true;
}
static bool is_element(const call *c, const operand *o) {
    return !o->array || (o->array->size == 1 && o->type != c->type);
}

/* ---- Shapes and the output ---- */

/* The shape of the inputs; an output that is given must have it, or have room for it. */
static bool find_shape(dvx_vm *vm, call *c) {
    char text[ND_SHAPE_TEXT], other[ND_SHAPE_TEXT];
    int64_t shape[ND_MOST];
    nd_array *arrays[MOST_INPUTS + 2], number = {.ndim = 0};
    int count = 0;
    for (int i = 0; i < c->inputs; i++) arrays[count++] = c->in[i].array ? c->in[i].array : &number;
    if (c->out) arrays[count++] = c->out;
    if (c->mask) arrays[count++] = c->mask;
    if (!array_broadcast(vm, arrays, count, &c->ndim, c->shape)) return false;
    if (!c->out) return true;
    array_shape(c->out, shape);
    if (c->out->ndim == c->ndim && !memcmp(shape, c->shape, (size_t)c->ndim * sizeof *shape))
        return true;
    return nd_fail(vm, DVX_VALUE_ERROR,
                   "non-broadcastable output operand with shape %s doesn't match the broadcast "
                   "shape %s",
                   array_shape_text(c->out->ndim, shape, false, text),
                   array_shape_text(c->ndim, c->shape, false, other));
}

static bool check_out(dvx_vm *vm, call *c) {
    const nd_dtype *result = ND_DTYPE(c->kernel->result);
    return dtype_is_same_kind(result, c->out->dtype) ||
           error_ufunc(vm,
                       "Cannot cast ufunc '%s' output from dtype('%s') to dtype('%s') with "
                       "casting rule 'same_kind'",
                       loops_facts[c->number].name, result->name, c->out->dtype->name);
}

/* Must axis i of a result come behind axis j > i in memory?  -1: no input tells.  NumPy's rule:
 * each input tells by its strides, where neither is 0; where they disagree, C order wins. */
static int is_swapped(int inputs, int64_t (*strides)[ND_MOST], int i, int j) {
    int swapped = -1;
    for (int k = 0; k < inputs; k++) {
        if (!strides[k][i] || !strides[k][j]) continue;
        if (llabs(strides[k][j]) <= llabs(strides[k][i]))
            swapped = 0;
        else if (swapped < 0)
            swapped = 1;
    }
    return swapped;
}

/* Axes from the last one on are put where they belong among those behind them. */
void ufunc_order(nd_array *const *inputs, int count, int ndim, int *order) {
    int64_t strides[ND_RESULT_INPUTS][ND_MOST];
    int known = 0;
    for (int i = 0; i < count; i++)
        if (inputs[i]) array_strides_in(inputs[i], ndim, strides[known++]);
    for (int i = ndim; i-- > 0;) {
        int at = i;
        for (int k = i + 1; k < ndim; k++) {
            const int swapped = is_swapped(known, strides, i, order[k]);
            if (swapped == 0) break;
            if (swapped > 0) at = k;
        }
        for (int k = i; k < at; k++) order[k] = order[k + 1];
        order[at] = i;
    }
}

dvx_value ufunc_result(dvx_vm *vm, const nd_dtype *dtype, nd_array *const *inputs, int count,
                       int ndim, const int64_t *shape, nd_array **out) {
    int order[ND_MOST];
    bool plain = true;
    for (int i = 0; i < count; i++) {
        const nd_array *a = inputs[i];
        if (!a) continue;
        plain &= a->ndim < 2 || a->flags & ND_C_CONTIGUOUS;
    }
    if (plain || ndim < 2) return array_new(vm, dtype, ndim, shape, out);
    ufunc_order(inputs, count, ndim, order);
    return array_new_permuted(vm, dtype, ndim, shape, order, out);
}

static bool has_shape(const nd_array *a, int ndim, const int64_t *shape) {
    bool good = a->ndim == ndim;
    for (int i = 0; good && i < ndim; i++) good = a->axes[i].count == shape[i];
    return good;
}

/* Are all inputs, none of which is cast, in Fortran's order?  Then the result is, which also says
 * what the strides of axes of one element are. */
static bool is_fortran(const call *c) {
    bool fortran = true, plain = true;
    for (int i = 0; i < c->inputs; i++) {
        const nd_array *a = c->in[i].array;
        if (!a) continue;
        fortran &=
            c->in[i].type == c->type &&
            (a->ndim == 0 || (a->flags & ND_F_CONTIGUOUS && has_shape(a, c->ndim, c->shape)));
        plain &= a->ndim == 0 || a->flags & ND_C_CONTIGUOUS;
    }
    return fortran && !plain;
}

static dvx_value make_out(dvx_vm *vm, call *c) {
    nd_array *inputs[MOST_INPUTS];
    for (int i = 0; i < c->inputs; i++) inputs[i] = c->in[i].array;
    if (is_fortran(c))
        return array_new_order(vm, ND_DTYPE(c->kernel->result), c->ndim, c->shape, true, &c->out);
    return ufunc_result(vm, ND_DTYPE(c->kernel->result), inputs, c->inputs, c->ndim, c->shape,
                        &c->out);
}

/* Is the input the output, element for element? */
static bool is_same_place(const call *c, const nd_array *a) {
    int64_t mine[ND_MOST], its[ND_MOST];
    if (a->data != c->out->data || a->dtype->size != c->out->dtype->size) return false;
    array_strides_in(a, c->ndim, mine);
    array_strides_in(c->out, c->ndim, its);
    return !memcmp(mine, its, (size_t)c->ndim * sizeof *mine);
}

/* A mask, too. */
static bool separate_mask(dvx_vm *vm, call *c) {
    if (!c->mask || !array_may_overlap(c->mask, c->out)) return true;
    dvx_value copy = array_copy(vm, c->mask, c->mask->dtype, 'K');
    if (dvx_failed(copy)) return false;
    vm->api->release(vm, c->mask_held);
    c->mask_held = copy;
    c->mask = array_of(vm, copy);
    return true;
}

/* Loops that do nothing but one operation for an element after the other. */
static bool goes_forward(const call *c) {
    switch (c->number) {
    case ND_UFUNC_add:
    case ND_UFUNC_subtract:
    case ND_UFUNC_multiply:
    case ND_UFUNC_divide:
    case ND_UFUNC_maximum:
    case ND_UFUNC_minimum:
    case ND_UFUNC_bitwise_and:
    case ND_UFUNC_bitwise_or:
    case ND_UFUNC_bitwise_xor: return ND_DTYPE(c->type)->kind != 'c';
    default: return false;
    }
}

/* Is each element of the input read before another one is written to its place?  One axis is gone
 * along in the direction in which the input is ahead.  (Functions of libmvec and their like may
 * compute elements twice.) */
static bool is_ahead(const call *c, const operand *o) {
    const nd_array *a = o->array;
    if (c->ndim != 1 || a->ndim != 1 || c->mask || !goes_forward(c) || a->dtype != c->out->dtype ||
        o->type != c->type)
        return false;
    const int64_t stride = c->out->axes->stride;
    return a->axes->stride == stride && a->size == c->out->size &&
           (stride > 0 ? a->data >= c->out->data : a->data <= c->out->data);
}

/* Inputs that the output would overwrite too early are copied. */
static bool separate(dvx_vm *vm, call *c) {
    for (int i = 0; i < c->inputs; i++) {
        operand *o = &c->in[i];
        if (is_element(c, o) || !array_may_overlap(o->array, c->out) || is_same_place(c, o->array))
            continue;
        if (is_ahead(c, o)) continue;
        dvx_value copy = array_copy(vm, o->array, o->array->dtype, 'K');
        if (dvx_failed(copy)) return false;
        vm->api->release(vm, o->held);
        o->held = copy;
        o->array = array_of(vm, copy);
    }
    return separate_mask(vm, c);
}

/* ---- Running the loop ---- */

typedef struct execution {
    nd_loop loop;
    int inputs;
    nd_cast casts[MOST_INPUTS + 1]; /* of inputs, then of the output; NULL: none */
    int64_t sizes[MOST_INPUTS + 1]; /* of elements in the loop */
} execution;

static bool run_row(dvx_vm *vm, void *context, char *const *data, int64_t count,
                    const int64_t *strides) {
    char *args[ND_MOST_OPERANDS];
    (void)vm;
    memcpy(args, data, sizeof args);
    ((const execution *)context)->loop(args, count, strides);
    return true;
}

/* A row in chunks, each of them cast into buffers, computed, and cast into its place. */
static bool run_cast(dvx_vm *vm, void *context, char *const *data, int64_t count,
                     const int64_t *strides) {
    const execution *e = context;
    _Alignas(64) char buffers[MOST_INPUTS + 1][CHUNK * sizeof(nd_complex)];
    char *at[MOST_INPUTS + 1], *args[MOST_INPUTS + 1];
    int64_t steps[MOST_INPUTS + 1];
    (void)vm;
    for (int i = 0; i <= e->inputs; i++) {
        at[i] = data[i];
        steps[i] = e->casts[i] ? e->sizes[i] : strides[i];
    }
    for (; count > 0; count -= CHUNK) {
        const int64_t n = count < CHUNK ? count : CHUNK;
        for (int i = 0; i <= e->inputs; i++) {
            args[i] = e->casts[i] ? buffers[i] : at[i];
            if (e->casts[i] && i < e->inputs)
                e->casts[i](buffers[i], e->sizes[i], at[i], strides[i], n);
        }
        e->loop(args, n, steps);
        if (e->casts[e->inputs])
            e->casts[e->inputs](at[e->inputs], strides[e->inputs], buffers[e->inputs],
                                e->sizes[e->inputs], n);
        for (int i = 0; i <= e->inputs; i++) at[i] += n * strides[i];
    }
    return true;
}

static void plan(const call *c, nd_walk *walk, execution *e) {
    walk->operands = c->inputs + 1;
    walk->ndim = c->ndim;
    memcpy(walk->shape, c->shape, (size_t)c->ndim * sizeof *walk->shape);
    e->loop = c->kernel->loop;
    e->inputs = c->inputs;
    for (int i = 0; i < c->inputs; i++) {
        operand *o = (operand *)&c->in[i];
        e->casts[i] = NULL;
        e->sizes[i] = ND_DTYPE(c->type)->size;
        if (is_element(c, o)) {
            walk->data[i] = o->element;
            memset(walk->strides[i], 0, (size_t)c->ndim * sizeof *walk->strides[i]);
            continue;
        }
        walk->data[i] = o->array->data;
        array_strides_in(o->array, c->ndim, walk->strides[i]);
        if (o->type != c->type) e->casts[i] = cast_between(o->array->dtype, ND_DTYPE(c->type));
    }
    walk->data[c->inputs] = c->out->data;
    array_strides_in(c->out, c->ndim, walk->strides[c->inputs]);
    e->casts[c->inputs] = c->out->dtype->num == c->kernel->result
                              ? NULL
                              : cast_between(ND_DTYPE(c->kernel->result), c->out->dtype);
    e->sizes[c->inputs] = ND_DTYPE(c->kernel->result)->size;
    if (c->mask) {
        walk->data[walk->operands] = c->mask->data;
        array_strides_in(c->mask, c->ndim, walk->strides[walk->operands++]);
    }
    walk_plan(walk, c->inputs, true);
}

static bool is_negative_row(dvx_vm *vm, void *context, char *const *data, int64_t count,
                            const int64_t *strides) {
    const nd_type type = *(const nd_type *)context;
    for (int64_t i = 0; i < count; i++) {
        if (type_int(type, data[0] + i * strides[0]) < 0)
            return nd_fail(vm, DVX_VALUE_ERROR,
                           "Integers to negative integer powers are not allowed.");
    }
    return true;
}

/* Ints have no powers with negative exponents. */
static bool check_power(dvx_vm *vm, const call *c) {
    nd_walk walk;
    nd_type type = c->type;
    if (c->number != ND_UFUNC_power || ND_DTYPE(type)->kind != 'i') return true;
    walk_begin(&walk, 1, 0);
    const operand *o = &c->in[1];
    if (is_element(c, o)) {
        walk.data[0] = (char *)o->element;
    } else {
        type = o->type;
        if (ND_DTYPE(type)->kind != 'i') return true;
        walk.data[0] = o->array->data;
        walk.ndim = o->array->ndim;
        array_shape(o->array, walk.shape);
        array_strides_in(o->array, walk.ndim, walk.strides[0]);
        walk_plan(&walk, 0, false);
    }
    return walk_run(vm, &walk, is_negative_row, &type);
}

/* ---- Flags ---- */

/* What libmvec sets flags for may be none of the elements' doing: there must be a nan or an
 * infinity that comes from nothing such. */
typedef struct evidence {
    nd_ufunc_number number;
    bool any_input; /* they are not known any more */
    int inputs;
    nd_type types[3];       /* of inputs and output */
    unsigned flags, wanted; /* found; and looked for: then there is no need to go on */
} evidence;

static inline double element_at(nd_type type, const char *at) {
    const void *p = at;
    double d;
    if (type == ND_FLOAT64) return *(const double *)p;
    if (type == ND_FLOAT32) return *(const float *)p;
    cast_between(ND_DTYPE(type), ND_DTYPE(ND_FLOAT64))((char *)&d, 0, at, 0, 1);
    return d;
}

/* How many elements in front are finite. */
#define COUNT_FINITE(T)                                                                 \
    static int64_t count_finite_##T(const char *at, int64_t stride, int64_t count) {    \
        int64_t i = 0;                                                                  \
        while (i < count && isfinite(*(const T *)(const void *)(at + i * stride))) i++; \
        return i;                                                                       \
    }
COUNT_FINITE(double)
COUNT_FINITE(float)

/* Where a finite x has an infinite result: is that a pole?  Else it is too large. */
static bool is_pole(nd_ufunc_number number, double x) {
    switch (number) {
    case ND_UFUNC_power: return x == 0;
    case ND_UFUNC_log:
    case ND_UFUNC_log2:
    case ND_UFUNC_log10:
    case ND_UFUNC_log1p:
    case ND_UFUNC_arctanh: return true;
    default: return false;
    }
}

static bool find_evidence(dvx_vm *vm, void *context, char *const *data, int64_t count,
                          const int64_t *strides) {
    evidence *e = context;
    const char *result = data[e->inputs];
    const int64_t step = strides[e->inputs];
    const bool single = e->types[e->inputs] == ND_FLOAT32;
    (void)vm;
    for (int64_t i = 0; (e->flags & e->wanted) != e->wanted; i++) {
        double in[2] = {0, 0};
        i += single ? count_finite_float(result + i * step, step, count - i)
                    : count_finite_double(result + i * step, step, count - i);
        if (i == count) break;
        const double out = element_at(e->types[e->inputs], result + i * step);
        bool nan = false, infinite = false;
        for (int k = 0; k < e->inputs && !e->any_input; k++) {
            in[k] = element_at(e->types[k], data[k] + i * strides[k]);
            nan |= isnan(in[k]);
            infinite |= isinf(in[k]);
        }
        if (isnan(out)) {
            if (!nan) e->flags |= FE_INVALID;
        } else if (!infinite) {
            const bool pole = is_pole(e->number, in[0]);
            e->flags |= e->any_input ? FE_DIVBYZERO | FE_OVERFLOW
                        : pole       ? FE_DIVBYZERO
                                     : FE_OVERFLOW;
        }
    }
    return true;
}

/* An underflow shows in the result, or was one of a square on the way to it. */
static bool find_tiny(dvx_vm *vm, void *context, char *const *data, int64_t count,
                      const int64_t *strides) {
    evidence *e = context;
    const nd_type type = e->types[e->inputs];
    (void)vm;
    for (int64_t i = 0; i < count; i++) {
        const double out = element_at(type, data[e->inputs] + i * strides[e->inputs]);
        if (fabs(out) < (type == ND_FLOAT32 ? FLT_MIN : DBL_MIN)) e->flags |= FE_UNDERFLOW;
    }
    return true;
}

unsigned ufunc_reasons(dvx_vm *vm, nd_ufunc_number number, const nd_type *types, char *const *data,
                       int64_t count, const int64_t *strides, unsigned flags) {
    evidence found = {.number = number, .inputs = loops_facts[number].inputs, .wanted = flags};
    memcpy(found.types, types, (size_t)(found.inputs + 1) * sizeof *types);
    find_evidence(vm, &found, data, count, strides);
    return flags & found.flags;
}

typedef struct comparison {
    const call *call;
    bool invalid;
} comparison;

static nd_complex complex_at(const call *c, int i, const char *at) {
    nd_complex x;
    const bool is_cast = i < c->inputs && !is_element(c, &c->in[i]);
    const nd_dtype *from = ND_DTYPE(is_cast ? c->in[i].type : c->type);
    if (i == c->inputs) return (nd_complex){0, 0}; /* sign compares with 0 */
    cast_between(from, ND_DTYPE(ND_COMPLEX128))((char *)&x, 0, at, 0, 1);
    return x;
}

/* Does NumPy compare a nan by < here?  Real parts (with less and its like, where no imaginary one
 * is a nan), and imaginary ones where real ones are equal. */
static bool find_invalid(dvx_vm *vm, void *context, char *const *data, int64_t count,
                         const int64_t *strides) {
    comparison *found = context;
    (void)vm;
    for (int64_t k = 0; k < count && !found->invalid; k++) {
        const nd_complex a = complex_at(found->call, 0, data[0] + k * strides[0]);
        const nd_complex b = complex_at(found->call, 1, data[1] + k * strides[1]);
        const bool real = isnan(a.real) || isnan(b.real), imag = isnan(a.imag) || isnan(b.imag);
        found->invalid = imag ? a.real == b.real || (real && found->call->inputs == 1) : real;
    }
    return true;
}

static bool is_invalid(dvx_vm *vm, const call *c, const nd_walk *walk) {
    comparison found = {.call = c};
    nd_walk again;
    walk_copy(&again, walk);
    walk_run(vm, &again, find_invalid, &found);
    return found.invalid;
}

/* All rows, or what the mask leaves of them. */
static bool run_all(dvx_vm *vm, const call *c, nd_walk *walk, nd_row row, void *context) {
    nd_masked masked = {row, context, c->inputs + 1};
    enum { FARTHEST = 64 }; /* bytes of the cache that are read for an element */
    int64_t bytes = c->out->dtype->size;
    for (int k = 0; walk->ndim && k <= c->inputs; k++) {
        const int64_t stride = llabs(walk->strides[k][walk->ndim - 1]);
        if (stride > bytes) bytes = stride < FARTHEST ? stride : FARTHEST;
    }
    const int64_t effort = loops_steps(c->number, WALK_PART, bytes);
    return c->mask ? walk_run(vm, walk, walk_masked, &masked)
                   : walk_work(vm, walk, effort, row, context);
}

static unsigned true_flags(dvx_vm *vm, const call *c, const nd_walk *walk, const execution *e,
                           unsigned flags) {
    evidence found = {.number = c->number, .inputs = c->inputs};
    if (c->kernel->inexact)
        found.wanted = flags & ~(unsigned)FE_UNDERFLOW;
    else
        found.flags = ~(unsigned)FE_UNDERFLOW;
    if (ND_DTYPE(c->type)->kind == 'c' || e->casts[c->inputs]) return flags;
    for (int i = 0; i < c->inputs; i++) {
        found.types[i] = e->casts[i] ? c->in[i].type : c->type;
        found.any_input |= walk->data[i] == walk->data[c->inputs];
    }
    found.types[c->inputs] = c->type;
    nd_walk again;
    walk_copy(&again, walk);
    run_all(vm, c, &again, find_evidence, &found);
    walk_copy(&again, walk);
    if (flags & FE_UNDERFLOW) run_all(vm, c, &again, find_tiny, &found);
    return flags & found.flags;
}

/* ---- Inputs that lie across ---- */

/* Inputs whose neighbours are not those of the output (`a + a.T`) are turned, a block at a time,
 * and computed from there. */
enum { TURNED_ROWS = 16, TURNED_BYTES = 1 << 14 };
typedef struct turned {
    const execution *e;
    int64_t rows, columns;
    int64_t steps[2][MOST_INPUTS + 1]; /* from row to row, and within rows */
    bool across[MOST_INPUTS];
} turned;

static void run_block(const turned *t, char *const *data, int64_t rows, int64_t columns) {
    _Alignas(64) char buffers[MOST_INPUTS][TURNED_BYTES];
    int64_t down[MOST_INPUTS + 1], steps[MOST_INPUTS + 1];
    char *at[MOST_INPUTS + 1], *args[MOST_INPUTS + 1];
    for (int k = 0; k <= t->e->inputs; k++) {
        at[k] = data[k];
        down[k] = t->steps[0][k];
        steps[k] = t->steps[1][k];
        if (k == t->e->inputs || !t->across[k]) continue;
        const int64_t size = t->e->sizes[k];
        turn_block(size, buffers[k], columns * size, data[k], steps[k], rows, columns);
        at[k] = buffers[k];
        down[k] = columns * size;
        steps[k] = size;
    }
    for (int64_t i = 0; i < rows; i++) {
        for (int k = 0; k <= t->e->inputs; k++) args[k] = at[k] + i * down[k];
        t->e->loop(args, columns, steps);
    }
}

/* (The rows of the walk are those of its other axes.) */
static bool run_turned(dvx_vm *vm, void *context, char *const *data, int64_t count,
                       const int64_t *strides) {
    const turned *t = context;
    const int64_t size = t->e->sizes[0];
    const int64_t rows = size == 1 ? 4 * TURNED_ROWS : TURNED_ROWS;
    const int64_t columns = size == 1 ? TURNED_BYTES / rows : TURNED_BYTES / rows / 16;
    int64_t done = 0;
    for (int64_t n = 0; n < count; n++)
        for (int64_t i = 0; i < t->rows; i += rows) {
            for (int64_t j = 0; j < t->columns; j += columns) {
                char *at[MOST_INPUTS + 1];
                for (int k = 0; k <= t->e->inputs; k++)
                    at[k] = data[k] + n * strides[k] + i * t->steps[0][k] + j * t->steps[1][k];
                run_block(t, at, t->rows - i < rows ? t->rows - i : rows,
                          t->columns - j < columns ? t->columns - j : columns);
            }
            if ((done += rows * t->columns) < 1 << 16) continue;
            if (!nd_work(vm, done)) return false;
            done = 0;
        }
    return true;
}

/* Takes the two axes out of `rest`; false: no input lies across. */
static bool find_turned(const nd_walk *walk, const execution *e, nd_walk *rest, turned *t) {
    const int last = walk->ndim - 1, out = e->inputs;
    int axis = -1;
    if (last < 1 || walk->strides[out][last] != e->sizes[out]) return false;
    for (int k = 0; k < e->inputs && axis < 0; k++)
        for (int i = 0; i < last && axis < 0; i++)
            if (walk->strides[k][i] == e->sizes[k] && walk->strides[k][last] != 0 &&
                turn_pays(e->sizes[k], walk->shape[i], walk->shape[last]))
                axis = i;
    if (axis < 0) return false;
    walk_copy(rest, walk);
    *t = (turned){.e = e, .rows = walk->shape[axis], .columns = walk->shape[last]};
    for (int k = 0; k <= e->inputs; k++) {
        t->steps[0][k] = walk->strides[k][axis];
        t->steps[1][k] = walk->strides[k][last];
        if (k < e->inputs) t->across[k] = t->steps[0][k] == e->sizes[k] && t->steps[1][k] != 0;
        for (int i = axis; i < last - 1; i++) rest->strides[k][i] = walk->strides[k][i + 1];
    }
    for (int i = axis; i < last - 1; i++) rest->shape[i] = walk->shape[i + 1];
    rest->ndim -= 2;
    return true;
}

/* Short rows, one for each place along the last axis but one, whose strides run_short gets. */
typedef struct short_rows {
    const execution *e;
    int64_t count, strides[MOST_INPUTS + 1];
} short_rows;

static bool run_short(dvx_vm *vm, void *context, char *const *data, int64_t rows,
                      const int64_t *next) {
    const short_rows *s = context;
    const nd_loop loop = s->e->loop;
    char *at[MOST_INPUTS + 1];
    (void)vm;
    memcpy(at, data, sizeof at);
    for (int64_t i = 0; i < rows; i++) {
        char *args[MOST_INPUTS + 1];
        memcpy(args, at, sizeof args);
        loop(args, s->count, s->strides);
        for (int k = 0; k <= s->e->inputs; k++) at[k] += next[k];
    }
    return true;
}

/* Takes the last axis out of the walk. */
static bool find_short(const nd_walk *walk, const execution *e, nd_walk *rest, short_rows *s) {
    /* Elements of a row: what is longer does not need it; and those between looks at interrupts. */
    enum { MOST = 1 << 10, MOST_ROWS = 1 << 10 };
    const int last = walk->ndim - 1;
    if (last < 1 || walk->shape[last] > MOST || walk->shape[last - 1] > MOST_ROWS) return false;
    walk_copy(rest, walk);
    rest->ndim--;
    *s = (short_rows){.e = e, .count = walk->shape[last]};
    for (int k = 0; k <= e->inputs; k++) s->strides[k] = walk->strides[k][last];
    return true;
}

static bool run_whole(dvx_vm *vm, const call *c, nd_walk *walk, execution *e) {
    nd_walk rest;
    turned t;
    short_rows s;
    bool casts = false;
    for (int i = 0; i <= c->inputs; i++) casts |= e->casts[i] != NULL;
    if (!casts && !c->mask && find_turned(walk, e, &rest, &t))
        return walk_run(vm, &rest, run_turned, &t);
    if (!c->mask && collect_pays(walk)) {
        int64_t sizes[MOST_INPUTS + 1];
        for (int i = 0; i < c->inputs; i++)
            sizes[i] = is_element(c, &c->in[i]) ? e->sizes[i] : c->in[i].array->dtype->size;
        sizes[c->inputs] = c->out->dtype->size;
        return collect_run(vm, walk, sizes, casts ? run_cast : run_row, e);
    }
    if (!casts && !c->mask && find_short(walk, e, &rest, &s))
        return walk_run(vm, &rest, run_short, &s);
    return run_all(vm, c, walk, casts ? run_cast : run_row, e);
}

static bool execute(dvx_vm *vm, call *c) {
    const nd_ufunc_facts *facts = &loops_facts[c->number];
    nd_walk walk;
    execution e;
    plan(c, &walk, &e);
    /* (An input that is the output is not there any more afterwards.) */
    bool is_output = false;
    for (int i = 0; i < c->inputs; i++) is_output |= walk.data[i] == walk.data[c->inputs];
    const bool looks = c->kernel->compares && is_output;
    const bool invalid = looks && is_invalid(vm, c, &walk);
    if (error_raised(vm)) arith_clear();
    if (!run_whole(vm, c, &walk, &e)) return false;
    unsigned flags = error_raised(vm);
    if (LIKELY(!flags)) return true;
    arith_clear();
    if (c->kernel->compares)
        return !(looks ? invalid : is_invalid(vm, c, &walk)) ||
               error_flags(vm, facts->name, FE_INVALID);
    if (!facts->warns) return true;
    if (c->kernel->inexact || flags & FE_UNDERFLOW) flags = true_flags(vm, c, &walk, &e, flags);
    return error_flags(vm, facts->name, flags);
}

static dvx_value run(dvx_vm *vm, call *c, dvx_value out, const nd_dtype *dtype, bool keep) {
    c->out = dvx_failed(out) ? NULL : array_of(vm, out);
    if (c->out && c->out->read_only)
        return nd_raise(vm, DVX_VALUE_ERROR, "output array is read-only");
    if (!choose_type(vm, c, dtype) || !store_elements(vm, c) || (c->out && !check_out(vm, c)) ||
        !find_shape(vm, c) || !check_power(vm, c))
        return DVX_FAILED;
    dvx_value result = c->out ? vm->api->retain(vm, out) : make_out(vm, c);
    if (dvx_failed(result)) return DVX_FAILED;
    if (c->mask && dvx_failed(out))
        memset(c->out->data, 0, (size_t)(c->out->size * c->out->dtype->size));
    if ((!dvx_failed(out) && !separate(vm, c)) || !execute(vm, c)) {
        vm->api->release(vm, result);
        return DVX_FAILED;
    }
    return keep || !dvx_failed(out) ? result : array_result(vm, result);
}

/* ---- Without detours ---- */

/* Computes elements that lie in a row each, or are one number (step 0), into a new array like `a`.
 * False: there is no such loop, or complex numbers may have been compared with nans; the ordinary
 * way, which tells, is to be taken. */
enum { LONG_ROW = 1 << 21 };
static bool run_rows(dvx_vm *vm, nd_ufunc_number number, nd_array *a, char **args, int64_t *strides,
                     dvx_value *result) {
    const nd_ufunc_facts *facts = &loops_facts[number];
    const nd_kernel *kernel = ufunc_kernel(vm, number, a->dtype->num);
    nd_array *out;
    /* (Long rows go in parts, between which there are looks at interrupts.) */
    if (UNLIKELY(!kernel->loop || a->size > LONG_ROW || error_heeds_underflow(vm))) return false;
    const nd_dtype *dtype = ND_DTYPE(kernel->result);
    *result = array_new_like(vm, dtype, a, &out);
    if (UNLIKELY(dvx_failed(*result))) return true;
    args[facts->inputs] = out->data;
    strides[facts->inputs] = dtype->size;
    if (arith_flags()) arith_clear();
    kernel->loop(args, a->size, strides);
    unsigned flags = arith_flags();
    if (UNLIKELY(!nd_work(vm, loops_steps(number, a->size, a->dtype->size)))) {
        vm->api->release(vm, *result);
        *result = DVX_FAILED;
        return true;
    }
    if (LIKELY(!flags) || !(facts->warns || kernel->compares)) return true;
    if (kernel->compares) {
        vm->api->release(vm, *result);
        return false;
    }
    arith_clear();
    if (kernel->inexact) {
        const nd_type type = a->dtype->num, types[3] = {type, type, type};
        flags = ufunc_reasons(vm, number, types, args, a->size, strides, flags);
    }
    if (error_flags(vm, facts->name, flags)) return true;
    vm->api->release(vm, *result);
    *result = DVX_FAILED;
    return true;
}

bool ufunc_fast(dvx_vm *vm, nd_ufunc_number number, nd_array *a, nd_array *b, dvx_value *result) {
    if (a->dtype != b->dtype || !(a->flags & b->flags & ND_C_CONTIGUOUS) || a->ndim == 0 ||
        number == ND_UFUNC_power || !array_same_shape(a, b))
        return false;
    char *args[3] = {a->data, b->data, NULL};
    int64_t strides[3] = {a->dtype->size, a->dtype->size, 0};
    return run_rows(vm, number, a, args, strides, result);
}

/* A number beside an array that it does not change the type of, as an element. */
static bool read_element(dvx_vm *vm, dvx_value v, nd_type type, void *element) {
    const dvx_kind kind = vm->api->kind(vm, v);
    bool good = false;
    if (type == ND_FLOAT64 && (kind == DVX_FLOAT || kind == DVX_INT))
        good = vm->api->read_float(vm, v, element);
    else if (type == ND_INT64 && kind == DVX_INT)
        good = vm->api->read_int(vm, v, element);
    else
        return false;
    if (!good) vm->api->clear_error(vm);
    return good;
}

static bool run_with_number(dvx_vm *vm, nd_ufunc_number number, const dvx_value *inputs, int array,
                            dvx_value *result) {
    nd_array *a = vm->api->payload(vm, inputs[array], &array_type);
    int64_t element;
    if (!(a->flags & ND_C_CONTIGUOUS) || a->ndim == 0 || number == ND_UFUNC_power ||
        !read_element(vm, inputs[!array], a->dtype->num, &element))
        return false;
    char *args[3] = {0};
    int64_t strides[3] = {0};
    args[array] = a->data;
    args[!array] = (char *)&element;
    strides[array] = a->dtype->size;
    return run_rows(vm, number, a, args, strides, result);
}

/* A number beside a scalar that it does not change the type of, as an element. */
static bool read_beside(dvx_vm *vm, dvx_value v, nd_type type, void *element) {
    const dvx_kind kind = vm->api->kind(vm, v);
    const bool whole = kind == DVX_INT, single = type == ND_FLOAT32;
    int64_t i = 0;
    double d = 0;
    if ((!whole && (kind != DVX_FLOAT || !single)) ||
        !(single ? vm->api->read_float(vm, v, &d) : vm->api->read_int(vm, v, &i))) {
        vm->api->clear_error(vm);
        return false;
    }
    if (single)
        *(float *)element = (float)d;
    else
        memcpy(element, &i, sizeof i); /* (the lowest bytes are the first) */
    return single || (type != ND_BOOL && dtype_is_integer(ND_DTYPE(type)) && type_holds(type, i));
}

bool ufunc_scalars(dvx_vm *vm, nd_ufunc_number number, const dvx_value *inputs, dvx_value *result) {
    nd_array *of[2] = {vm->api->payload(vm, inputs[0], &scalar_type),
                       vm->api->payload(vm, inputs[1], &scalar_type)};
    const nd_ufunc_facts *facts = &loops_facts[number];
    if ((!of[0] && !of[1]) || number == ND_UFUNC_power || ufunc_is_logical(number)) return false;
    const nd_dtype *dtype = of[!of[0]]->dtype;
    const nd_kernel *kernel = ufunc_kernel(vm, number, dtype->num);
    _Alignas(16) char elements[3][16];
    char *args[3] = {elements[0], elements[1], elements[2]};
    const int64_t strides[3] = {0};
    if (!kernel->loop || facts->inputs != 2 || error_heeds_underflow(vm)) return false;
    for (int i = 0; i < 2; i++) {
        if (of[i] ? of[i]->dtype != dtype : !read_beside(vm, inputs[i], dtype->num, args[i]))
            return false;
        if (of[i]) args[i] = of[i]->data;
    }
    const bool warns = facts->warns || kernel->compares;
    if (warns && arith_flags()) arith_clear();
    kernel->loop(args, 1, strides);
    if (warns && UNLIKELY(arith_flags())) return false;
    *result = array_element(vm, ND_DTYPE(kernel->result), args[2]);
    return true;
}

bool ufunc_scalar(dvx_vm *vm, nd_ufunc_number number, dvx_value input, dvx_value *result) {
    const nd_array *a = vm->api->payload(vm, input, &scalar_type);
    const int64_t strides[2] = {0};
    _Alignas(16) char element[16];
    if (!a) return false;
    const nd_kernel *kernel = ufunc_kernel(vm, number, a->dtype->num);
    if (!kernel->loop || error_heeds_underflow(vm)) return false;
    if (arith_flags()) arith_clear();
    kernel->loop((char *[]){a->data, element}, 1, strides);
    if (UNLIKELY(arith_flags())) return false;
    *result = array_element(vm, ND_DTYPE(kernel->result), element);
    return true;
}

/* The ordinary cases. */
static bool run_quick(dvx_vm *vm, nd_ufunc_number number, const dvx_value *inputs,
                      dvx_value *result) {
    nd_array *a = vm->api->payload(vm, inputs[0], &array_type);
    if (loops_facts[number].inputs == 1) {
        if (!a) return ufunc_scalar(vm, number, inputs[0], result);
        if (!(a->flags & ND_C_CONTIGUOUS) || a->ndim == 0) return false;
        char *args[2] = {a->data, NULL};
        int64_t strides[2] = {a->dtype->size, 0};
        return run_rows(vm, number, a, args, strides, result);
    }
    nd_array *b = vm->api->payload(vm, inputs[1], &array_type);
    if (a && b) return ufunc_fast(vm, number, a, b, result);
    if (!a && !b) return ufunc_scalars(vm, number, inputs, result);
    return run_with_number(vm, number, inputs, !a, result);
}

/* ---- From outside ---- */

dvx_value ufunc_call(dvx_vm *vm, nd_ufunc_number number, const dvx_value *inputs, dvx_value out,
                     const nd_dtype *dtype) {
    dvx_value result = DVX_FAILED;
    if (dvx_failed(out) && !dtype && run_quick(vm, number, inputs, &result)) return result;
    return ufunc_call_where(vm, number, inputs, out, dtype, DVX_FAILED);
}

dvx_value ufunc_call_where(dvx_vm *vm, nd_ufunc_number number, const dvx_value *inputs,
                           dvx_value out, const nd_dtype *dtype, dvx_value where) {
    call c;
    dvx_value result = DVX_FAILED;
    c.number = number;
    c.inputs = 0;
    bool good = ufunc_mask(vm, where, &c.mask_held, &c.mask);
    for (int i = 0; good && i < loops_facts[number].inputs; i++) {
        good = read_operand(vm, inputs[i], &c.in[i]);
        c.inputs++;
    }
    if (good) result = run(vm, &c, out, dtype, false);
    release_operands(vm, &c);
    return result;
}

dvx_value ufunc_arrays(dvx_vm *vm, nd_ufunc_number number, nd_array *a, nd_array *b,
                       nd_array **out) {
    call c;
    c.number = number;
    c.mask = NULL;
    c.mask_held = DVX_FAILED;
    c.inputs = b ? 2 : 1;
    for (int i = 0; i < c.inputs; i++) {
        operand *o = &c.in[i];
        *o = (operand){.array = i ? b : a, .held = DVX_FAILED};
        o->type = o->array->dtype->num;
    }
    dvx_value result = run(vm, &c, DVX_FAILED, NULL, true);
    release_operands(vm, &c);
    *out = dvx_failed(result) ? NULL : c.out;
    return result;
}
