/* derive_elements.c: derivatives of what works element by element (derive.h).
 *
 * Invariants
 *  1. Loops run on elements of one type, which ufunc.c would choose for the same operands: what has
 *     another one is cast on the way, a block at a time.
 *  2. Flags that a loop leaves behind are told as ufunc.c tells them: at once where the loop raises
 *     them for good reasons alone, else when the elements were looked at (ufunc_reasons). */
#include "site/derive_elements.h"

#include <stdlib.h>

#include "loops/cast.h"
#include "ufunc/error.h"
#include "site/fuse.h"
#include "ufunc/operators.h"
#include "ufunc/ufunc.h"

#ifdef DVX_NATIVE
#include "site/derive_native.h"
#endif

/* ---- The ordinary way ---- */

static dvx_value input(dvx_vm *vm, const elementwise *d, const dvx_value *v, int i) {
    if (d->constant && !d->dtypes[i])
        return d->constant_is_int ? vm->api->make_int(vm, d->as_int)
                                  : vm->api->make_float(vm, d->as_float);
    return vm->api->retain(vm, v[i]);
}

static dvx_outcome ordinary(dvx_vm *vm, const elementwise *d, const dvx_value *v,
                            dvx_value *result) {
    dvx_value inputs[2] = {input(vm, d, v, 0), DVX_FAILED};
    if (d->inputs == 2) inputs[1] = input(vm, d, v, 1);
    dvx_value made = ufunc_call(vm, d->number, inputs, d->inplace ? inputs[0] : DVX_FAILED, NULL);
    vm->api->release(vm, inputs[0]);
    if (d->inputs == 2) vm->api->release(vm, inputs[1]);
    const bool equality = d->number == ND_UFUNC_equal || d->number == ND_UFUNC_not_equal;
    if (dvx_failed(made) && equality && d->first == 0) {
        /* The operators == and != may give more than that error (operators.c). */
        vm->api->clear_error(vm);
        return DVX_DEOPTIMISE;
    }
    return derive_outcome(made, result);
}

/* ---- Operands and results ---- */

/* The inputs that are arrays; false: a dtype is another one. */
static inline bool look(dvx_vm *vm, const elementwise *d, const dvx_value *v, nd_array **arrays) {
    bool good = true;
    for (int i = 0; i < d->inputs; i++) {
        arrays[i] = NULL;
        if (!d->dtypes[i]) continue;
        arrays[i] = vm->api->payload(vm, v[i], &array_type);
        if (!arrays[i]) return false;
        good &= arrays[i]->dtype == d->dtypes[i];
    }
    if (UNLIKELY(!good)) vm->api->note(vm, d, "an operand has another dtype");
    return good;
}

bool derive_read_number(dvx_vm *vm, dvx_value v, nd_type type, char *element) {
    int64_t i;
    double d;
    if (type_is_inexact(type)) {
        if (!vm->api->read_float(vm, v, &d)) return vm->api->clear_error(vm), false;
        if (type == ND_FLOAT64)
            memcpy(element, &d, sizeof d);
        else
            cast_between(ND_DTYPE(ND_FLOAT64), ND_DTYPE(type))(element, 0, (const char *)&d, 0, 1);
        return true;
    }
    if (!vm->api->read_int(vm, v, &i)) return vm->api->clear_error(vm), false;
    if (!type_holds(type, i)) return false;
    cast_between(ND_DTYPE(ND_INT64), ND_DTYPE(type))(element, 0, (const char *)&i, 0, 1);
    return true;
}

/* May the result be put into input i, of the result's shape? */
static inline bool takes_result(dvx_vm *vm, const elementwise *d, dvx_value v, const nd_array *a,
                                int i) {
    return d->temporaries >> i & 1 && a && a->dtype == d->result &&
           !(a->flags & (ND_HAS_BASE | ND_TURNED)) && !a->read_only && !a->exports &&
           vm->api->is_unique(vm, v);
}

/* ---- Kept results ---- */

/* So often in a row, and the site keeps nothing any more. */
enum { MOST_WASTE = 64 };

static void release_kept(dvx_vm *vm, void *cache) {
    elementwise *d = cache;
    d->keeps = false;
    for (int i = 0; i < ELEMENTS_KEPT; i++) {
        dvx_value kept = d->kept[i];
        d->kept[i] = DVX_FAILED;
        vm->api->release(vm, kept);
    }
}

/* Has nobody made anything else of it, and is it of this shape? */
static bool is_as_new(const nd_array *a, int ndim, const int64_t *shape) {
    if (!(a->flags & ND_C_CONTIGUOUS) || a->read_only || a->exports || a->ndim != ndim)
        return false;
    for (int i = 0; i < ndim; i++)
        if (a->axes[i].count != shape[i]) return false;
    return true;
}

/* Of a site that keeps results, or has kept some. */
static __attribute__((noinline)) dvx_value kept_or_new(dvx_vm *vm, elementwise *d, int ndim,
                                                       const int64_t *shape, nd_array **out) {
    if (!d->keeps) {
        vm->api->count(vm, d, KEPT_NO_MORE);
        return array_new(vm, d->result, ndim, shape, out);
    }
    bool any = false, free = false;
    for (int i = 0; i < ELEMENTS_KEPT; i++) {
        any |= !dvx_failed(d->kept[i]);
        if (dvx_failed(d->kept[i]) || !vm->api->is_unique(vm, d->kept[i])) continue;
        free = true;
        *out = vm->api->payload(vm, d->kept[i], &array_type);
        if (!is_as_new(*out, ndim, shape)) continue;
        d->waste = 0;
        vm->api->count(vm, d, KEPT_AGAIN);
        return vm->api->retain(vm, d->kept[i]);
    }
    vm->api->count(vm, d, free ? KEPT_SHAPED : any ? KEPT_OWNED : KEPT_NONE);
    dvx_value made = array_new(vm, d->result, ndim, shape, out);
    if (dvx_failed(made)) return made;
    if (++d->waste > MOST_WASTE) {
        release_kept(vm, d);
    } else if ((*out)->data == (*out)->inline_data) {
        /* The older one is given up. */
        dvx_value old = d->kept[0];
        memmove(d->kept, d->kept + 1, (ELEMENTS_KEPT - 1) * sizeof *d->kept);
        d->kept[ELEMENTS_KEPT - 1] = vm->api->retain(vm, made);
        vm->api->release(vm, old);
    }
    return made;
}

/* A result in C order. */
static inline dvx_value new_result(dvx_vm *vm, elementwise *d, int ndim, const int64_t *shape,
                                   nd_array **out) {
    if (!d->keeps && d->waste <= MOST_WASTE) return array_new(vm, d->result, ndim, shape, out);
    return kept_or_new(vm, d, ndim, shape, out);
}

static dvx_value new_like(dvx_vm *vm, elementwise *d, const nd_array *like, nd_array **out) {
    int64_t shape[ND_MOST];
    if (like->ndim > ND_FEW) return array_new_like(vm, d->result, like, out);
    array_shape(like, shape);
    return new_result(vm, d, like->ndim, shape, out);
}

/* The flags that elements gave a reason for, of a loop that raises others, too. */
static unsigned find_reasons(dvx_vm *vm, const elementwise *d, char *const *args, int64_t count,
                             const int64_t *strides, unsigned flags) {
    nd_type types[3];
    for (int i = 0; i < d->inputs; i++) types[i] = d->dtypes[i] ? d->dtypes[i]->num : d->type;
    types[d->inputs] = d->result->num;
    return ufunc_reasons(vm, d->number, types, args, count, strides, flags);
}

/* Takes `made`: the result of a loop whose flags these are. */
static dvx_outcome tell(dvx_vm *vm, const elementwise *d, unsigned flags, dvx_value made,
                        dvx_value *result) {
    if (error_flags(vm, loops_facts[d->number].name, flags)) {
        *result = made;
        return DVX_DONE;
    }
    vm->api->release(vm, made);
    return DVX_ERROR;
}

/* Takes `made`: what becomes of the result after a loop for rows. */
static inline dvx_outcome finish_row(dvx_vm *vm, const elementwise *d, char *const *args,
                                     int64_t count, const int64_t *strides, dvx_value made,
                                     dvx_value *result) {
    unsigned flags = d->warns ? arith_flags() : 0;
    if (UNLIKELY(!nd_work(vm, loops_steps(d->number, count, ND_DTYPE(d->type)->size)))) {
        vm->api->release(vm, made);
        return DVX_ERROR;
    }
    if (UNLIKELY(flags)) {
        arith_clear();
        if (d->inexact) flags = find_reasons(vm, d, args, count, strides, flags);
        return tell(vm, d, flags, made, result);
    }
    *result = made;
    return DVX_DONE;
}

/* ---- Elements in rows ---- */

/* Elements that are cast: blocks of them.  `args` and `strides` are those of the elements as they
 * are. */
enum { BLOCK = 256 };
static void run_blocks(const elementwise *d, char **args, int64_t count, const int64_t *strides) {
    _Alignas(64) char buffers[2][BLOCK * sizeof(nd_complex)];
    const int64_t size = ND_DTYPE(d->type)->size;
    char *at[3], *out = args[d->inputs];
    for (int64_t done = 0; done < count; done += BLOCK) {
        const int64_t n = count - done < BLOCK ? count - done : BLOCK;
        int64_t steps[3] = {0, 0, 0};
        for (int i = 0; i < d->inputs; i++) {
            at[i] = args[i] + done * strides[i];
            steps[i] = strides[i];
            if (!d->casts[i]) continue;
            d->casts[i](buffers[i], size, at[i], strides[i], n);
            at[i] = buffers[i];
            steps[i] = size;
        }
        at[d->inputs] = out + done * strides[d->inputs];
        steps[d->inputs] = strides[d->inputs];
        d->loop(at, n, steps);
    }
}

static inline void run_loop(const elementwise *d, char **args, int64_t count,
                            const int64_t *strides) {
    if (UNLIKELY(d->casting))
        run_blocks(d, args, count, strides);
    else
        d->loop(args, count, strides);
}

/* ---- Other layouts: few elements, few axes ---- */

/* More than so many are left to ufunc.c, which looks for the best order of axes, and so are more
 * rows of so few elements, which it makes longer. */
enum { MOST_ELEMENTS = 2048, MOST_ROWS = 32, SHORT_ROW = 8 };

typedef struct layout {
    int ndim;
    int64_t shape[ND_FEW], strides[3][ND_FEW];
    char *data[3];
} layout;

static void lay_out(layout *l, int operand, const nd_array *a) {
    const int shift = l->ndim - a->ndim;
    l->data[operand] = a->data;
    for (int k = 0; k < l->ndim; k++)
        l->strides[operand][k] =
            k < shift || a->axes[k - shift].count == 1 ? 0 : a->axes[k - shift].stride;
}

/* The common shape; false: there is none, or ufunc.c is as good. */
static bool broadcast(layout *l, nd_array *const *arrays, int inputs) {
    int64_t size = 1;
    l->ndim = 0;
    for (int i = 0; i < inputs; i++)
        if (arrays[i] && arrays[i]->ndim > l->ndim) l->ndim = arrays[i]->ndim;
    if (l->ndim == 0 || l->ndim > ND_FEW) return false;
    for (int k = 0; k < l->ndim; k++) {
        l->shape[k] = 1;
        for (int i = 0; i < inputs; i++) {
            const int shift = arrays[i] ? l->ndim - arrays[i]->ndim : l->ndim;
            const int64_t n = k < shift ? 1 : arrays[i]->axes[k - shift].count;
            if (n == 1 || n == l->shape[k]) continue;
            if (l->shape[k] != 1) return false;
            l->shape[k] = n;
        }
        if (l->shape[k] > MOST_ELEMENTS) return false;
        size *= l->shape[k];
    }
    const int64_t row = l->shape[l->ndim - 1];
    return size > 0 && size <= MOST_ELEMENTS && (row > SHORT_ROW || size <= MOST_ROWS * row);
}

static bool has_shape(const layout *l, const nd_array *a) {
    if (!a || a->ndim != l->ndim) return false;
    for (int k = 0; k < l->ndim; k++)
        if (a->axes[k].count != l->shape[k]) return false;
    return true;
}

/* Does an input have axes that are not in C order?  Then ufunc.c finds the order of the result. */
static bool is_swapped(const layout *l, int inputs) {
    for (int k = 0; k < inputs; k++)
        for (int j = 1; j < l->ndim; j++)
            for (int i = 0; i < j; i++)
                if (l->strides[k][i] && llabs(l->strides[k][j]) > llabs(l->strides[k][i]))
                    return true;
    return false;
}

static dvx_value result_of(dvx_vm *vm, elementwise *d, const layout *l, const dvx_value *v,
                           nd_array *const *arrays, nd_array **out) {
    for (int i = 0; i < d->inputs; i++) {
        if (!has_shape(l, arrays[i]) || !(arrays[i]->flags & ND_C_CONTIGUOUS) ||
            !takes_result(vm, d, v[i], arrays[i], i))
            continue;
        *out = arrays[i];
        return vm->api->retain(vm, v[i]);
    }
    return new_result(vm, d, l->ndim, l->shape, out);
}

/* Calls `row` for each row. */
static inline __attribute__((always_inline)) void
each_row(const elementwise *d, layout *l, void *context,
         void (*row)(const elementwise *d, void *context, char **args, int64_t count,
                     const int64_t *strides)) {
    int64_t index[ND_FEW] = {0};
    const int last = l->ndim - 1, operands = d->inputs + 1;
    int64_t strides[3];
    for (int j = 0; j < operands; j++) strides[j] = l->strides[j][last];
    for (;;) {
        char *args[3] = {l->data[0], l->data[1], l->data[2]};
        row(d, context, args, l->shape[last], strides);
        int k = last;
        while (k-- > 0) {
            for (int j = 0; j < operands; j++) l->data[j] += l->strides[j][k];
            if (++index[k] < l->shape[k]) break;
            for (int j = 0; j < operands; j++) l->data[j] -= l->shape[k] * l->strides[j][k];
            index[k] = 0;
        }
        if (k < 0) return;
    }
}

static inline void loop_of_row(const elementwise *d, void *context, char **args, int64_t count,
                               const int64_t *strides) {
    (void)context;
    run_loop(d, args, count, strides);
}
static void run_layout(const elementwise *d, layout *l) { each_row(d, l, NULL, loop_of_row); }

typedef struct reasons {
    dvx_vm *vm;
    unsigned wanted, found;
} reasons;
static void reasons_of_row(const elementwise *d, void *context, char **args, int64_t count,
                           const int64_t *strides) {
    reasons *r = context;
    if (r->found != r->wanted) r->found |= find_reasons(r->vm, d, args, count, strides, r->wanted);
}

/* Inputs of any layout; a number is at `element`. */
static dvx_outcome run_any(dvx_vm *vm, elementwise *d, const dvx_value *v, nd_array *const *arrays,
                           char *element, dvx_value *result) {
    layout l;
    nd_array *out;
    if (!broadcast(&l, arrays, d->inputs)) return ordinary(vm, d, v, result);
    for (int i = 0; i < d->inputs; i++) {
        if (arrays[i]) {
            lay_out(&l, i, arrays[i]);
        } else {
            l.data[i] = element;
            memset(l.strides[i], 0, sizeof l.strides[i]);
        }
    }
    if (is_swapped(&l, d->inputs)) return ordinary(vm, d, v, result);
    dvx_value made = result_of(vm, d, &l, v, arrays, &out);
    if (dvx_failed(made)) return DVX_ERROR;
    lay_out(&l, d->inputs, out);
    elements_begin(d);
    run_layout(d, &l);
    unsigned flags = d->warns ? arith_flags() : 0;
    if (UNLIKELY(flags)) {
        arith_clear();
        reasons r = {vm, flags, 0};
        if (d->inexact) each_row(d, &l, &r, reasons_of_row);
        return tell(vm, d, d->inexact ? r.found : flags, made, result);
    }
    *result = made;
    return DVX_DONE;
}

/* ---- Results that are new, or dying operands ---- */

static dvx_outcome run_arrays(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    elementwise *d = cache;
    nd_array *a[2], *out;
    if (!look(vm, d, v, a)) return DVX_DEOPTIMISE;
    if (!elements_is_short(a[0]) || !elements_is_row(a[1]) || !elements_same_shape(a[0], a[1]))
        return run_any(vm, d, v, a, NULL, result);
    dvx_value made;
    if (takes_result(vm, d, v[0], a[0], 0))
        out = a[0], made = vm->api->retain(vm, v[0]);
    else if (takes_result(vm, d, v[1], a[1], 1))
        out = a[1], made = vm->api->retain(vm, v[1]);
    else
        made = new_like(vm, d, a[0], &out);
    if (UNLIKELY(dvx_failed(made))) return DVX_ERROR;
    char *args[3] = {a[0]->data, a[1]->data, out->data};
    const int64_t strides[3] = {d->dtypes[0]->size, d->dtypes[1]->size, d->result->size};
    elements_begin(d);
    run_loop(d, args, out->size, strides);
    return finish_row(vm, d, args, out->size, strides, made, result);
}
#define run_pair run_arrays

static dvx_outcome run_number(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    elementwise *d = cache;
    nd_array *a[2], *out;
    _Alignas(16) char number[sizeof(nd_complex)], *element = d->element;
    if (!look(vm, d, v, a)) return DVX_DEOPTIMISE;
    const int array = a[0] ? 0 : 1;
    if (!d->constant) {
        element = number;
        if (!derive_read_number(vm, v[!array], d->type, number)) return ordinary(vm, d, v, result);
    }
    if (!elements_is_short(a[array])) return run_any(vm, d, v, a, element, result);
    dvx_value made;
    if (takes_result(vm, d, v[array], a[array], array))
        out = a[array], made = vm->api->retain(vm, v[array]);
    else
        made = new_like(vm, d, a[array], &out);
    if (UNLIKELY(dvx_failed(made))) return DVX_ERROR;
    char *args[3];
    int64_t strides[3];
    args[array] = a[array]->data, strides[array] = a[array]->dtype->size;
    args[!array] = element, strides[!array] = 0;
    args[2] = out->data, strides[2] = d->result->size;
    elements_begin(d);
    run_loop(d, args, out->size, strides);
    return finish_row(vm, d, args, out->size, strides, made, result);
}

static dvx_outcome run_one(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    elementwise *d = cache;
    nd_array *a[2] = {NULL, NULL}, *out;
    if (!look(vm, d, v, a)) return DVX_DEOPTIMISE;
    if (!elements_is_short(a[0])) return run_any(vm, d, v, a, NULL, result);
    dvx_value made;
    if (takes_result(vm, d, v[0], a[0], 0))
        out = a[0], made = vm->api->retain(vm, v[0]);
    else
        made = new_like(vm, d, a[0], &out);
    if (UNLIKELY(dvx_failed(made))) return DVX_ERROR;
    char *args[2] = {a[0]->data, out->data};
    const int64_t strides[2] = {d->dtypes[0]->size, d->result->size};
    elements_begin(d);
    run_loop(d, args, out->size, strides);
    return finish_row(vm, d, args, out->size, strides, made, result);
}

/* ---- In place ---- */

/* Is no element of `b` read after that of `a` at another place has been written? */
static bool is_apart(const nd_array *a, const nd_array *b) {
    if (!array_may_overlap(a, b)) return true;
    if (a->data != b->data || a->dtype != b->dtype || a->ndim != b->ndim) return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->axes[i].count != b->axes[i].count || a->axes[i].stride != b->axes[i].stride)
            return false;
    return true;
}

/* Into input 0, which has the result's shape.  (A loop that is computed again would see other
 * elements: those that raise flags without a reason have no derivatives here.) */
static dvx_outcome finish_inplace(dvx_vm *vm, const elementwise *d, const dvx_value *v,
                                  int64_t count, dvx_value *result) {
    const unsigned flags = d->warns ? arith_flags() : 0;
    if (UNLIKELY(flags)) {
        arith_clear();
        if (!error_flags(vm, loops_facts[d->number].name, flags)) return DVX_ERROR;
    }
    if (UNLIKELY(!nd_work(vm, loops_steps(d->number, count, ND_DTYPE(d->type)->size))))
        return DVX_ERROR;
    *result = vm->api->retain(vm, v[0]);
    return DVX_DONE;
}

static dvx_outcome run_inplace_any(dvx_vm *vm, const elementwise *d, const dvx_value *v,
                                   nd_array *const *a, char *element, dvx_value *result) {
    layout l;
    if (!broadcast(&l, a, 2) || !has_shape(&l, a[0])) return ordinary(vm, d, v, result);
    lay_out(&l, 0, a[0]);
    lay_out(&l, 2, a[0]);
    if (a[1]) {
        lay_out(&l, 1, a[1]);
    } else {
        l.data[1] = element;
        memset(l.strides[1], 0, sizeof l.strides[1]);
    }
    elements_begin(d);
    run_layout(d, &l);
    return finish_inplace(vm, d, v, a[0]->size, result);
}

static dvx_outcome run_inplace_arrays(dvx_vm *vm, const dvx_value *v, void *cache,
                                      dvx_value *result) {
    const elementwise *d = cache;
    nd_array *a[2];
    if (!look(vm, d, v, a)) return DVX_DEOPTIMISE;
    if (a[0]->read_only || !is_apart(a[0], a[1])) return ordinary(vm, d, v, result);
    if (!elements_is_short(a[0]) || !elements_is_row(a[1]) || !elements_same_shape(a[0], a[1]))
        return run_inplace_any(vm, d, v, a, NULL, result);
    char *args[3] = {a[0]->data, a[1]->data, a[0]->data};
    const int64_t size = d->result->size, strides[3] = {size, size, size};
    elements_begin(d);
    d->loop(args, a[0]->size, strides);
    return finish_inplace(vm, d, v, a[0]->size, result);
}

static dvx_outcome run_inplace_number(dvx_vm *vm, const dvx_value *v, void *cache,
                                      dvx_value *result) {
    elementwise *d = cache;
    nd_array *a[2];
    _Alignas(16) char number[sizeof(nd_complex)], *element = d->element;
    if (!look(vm, d, v, a)) return DVX_DEOPTIMISE;
    if (!d->constant) {
        element = number;
        if (!derive_read_number(vm, v[1], d->type, number)) return ordinary(vm, d, v, result);
    }
    if (a[0]->read_only) return ordinary(vm, d, v, result);
    if (!elements_is_short(a[0])) return run_inplace_any(vm, d, v, a, element, result);
    char *args[3] = {a[0]->data, element, a[0]->data};
    const int64_t size = d->result->size, strides[3] = {size, 0, size};
    elements_begin(d);
    d->loop(args, a[0]->size, strides);
    return finish_inplace(vm, d, v, a[0]->size, result);
}

/* ---- Calls of ufuncs: operand 0 is the callee ---- */

static bool is_ufunc(dvx_vm *vm, const elementwise *d, dvx_value callee) {
    if (d->first == 2) return true; /* it is not loaded */
    const nd_ufunc_object *u = vm->api->payload(vm, callee, &ufunc_object_type);
    return u && ufunc_number_of(u) == d->number;
}

#define CALL_OF(name)                                                                             \
    static dvx_outcome run_call_##name(dvx_vm *vm, const dvx_value *v, void *cache,               \
                                       dvx_value *result) {                                       \
        return is_ufunc(vm, cache, v[0]) ? run_##name(vm, v + 1, cache, result) : DVX_DEOPTIMISE; \
    }
CALL_OF(arrays)
CALL_OF(number)
CALL_OF(one)

/* ---- Descriptors ---- */

#define ELEMENTWISE(title, site, operands, function, ...)                       \
    {                                                                           \
        .size = sizeof(dvx_specialisation), .where = DVX_HERE, .name = title,   \
        .family = DVX_SITE_##site, .count = operands, .run = function,          \
        .cache_size = sizeof(elementwise), .release = release_kept, __VA_ARGS__ \
    }
#ifndef DVX_NATIVE
#define TWIN(name)      .native = NULL
#define CALL_TWIN(name) .native = NULL
#endif
#include "derivatives.inc"

/* a ** 2 and its like. */
static const dvx_specialisation of_simple_power[ND_HOT_TYPES] = {
    [ND_HOT_UINT8] = ELEMENTWISE("POW_UINT8_SIMPLE", BINARY, 2, run_one, .native = NULL),
    [ND_HOT_INT32] = ELEMENTWISE("POW_INT32_SIMPLE", BINARY, 2, run_one, .native = NULL),
    [ND_HOT_INT64] = ELEMENTWISE("POW_INT64_SIMPLE", BINARY, 2, run_one, .native = NULL),
    [ND_HOT_FLOAT32] = ELEMENTWISE("POW_FLOAT32_SIMPLE", BINARY, 2, run_one, .native = NULL),
    [ND_HOT_FLOAT64] = ELEMENTWISE("POW_FLOAT64_SIMPLE", BINARY, 2, run_one, .native = NULL),
    [ND_HOT_COMPLEX128] = ELEMENTWISE("POW_COMPLEX128_SIMPLE", BINARY, 2, run_one, .native = NULL),
};

/* ---- The hook ---- */

/* A site on its way to a derivative. */
typedef struct draft {
    elementwise d;
    form form;
    int array;        /* the first input that is one */
    nd_type types[2]; /* of arrays */
    bool small, rare; /* `rare`: an array is of a dtype without derivatives */
    const char *reason;
} draft;
/* A site that has been specialised more often sees different things. */
enum { MOST_TIMES = 4 };

static bool refuse(draft *x, const char *reason) {
    x->reason = reason;
    return false;
}

/* Which ufunc it is; operands that are none of its inputs are left out. */
static bool choose_ufunc(dvx_vm *vm, const dvx_site *site, draft *x) {
    const nd_ufunc_object *u;
    x->d.first = 0;
    x->d.inplace = site->family == DVX_SITE_INPLACE;
    if (site->family > DVX_SITE_COMPARE) { /* no operator: a call */
        u = vm->api->payload(vm, site->operands[0].value, &ufunc_object_type);
        if (!u) return refuse(x, "the callee is no ufunc");
        x->d.number = ufunc_number_of(u);
        x->d.first = 1;
    } else {
        const int number = operators_ufunc(site->family, site->operation);
        if (number < 0)
            return refuse(x, "unary +, products of matrices and divmod have no derivatives");
        x->d.number = (nd_ufunc_number)number;
    }
    x->d.inputs = loops_facts[x->d.number].inputs;
    return site->count == (uint32_t)(x->d.inputs + x->d.first) ||
           refuse(x, "the ufunc is called with other arguments than its inputs");
}

/* The inputs: arrays, or one array and one number, which may be a constant. */
static bool choose_form(dvx_vm *vm, dvx_site *site, draft *x) {
    elementwise *d = &x->d;
    const dvx_operand *inputs = site->operands + d->first;
    int number = -1;
    for (int i = 0; i < d->inputs; i++) {
        const nd_array *a = inputs[i].type == &array_type
                                ? vm->api->payload(vm, inputs[i].value, &array_type)
                                : NULL;
        d->temporaries |= (uint8_t)(inputs[i].temporary << i);
        if (a) {
            d->dtypes[i] = a->dtype;
            x->types[i] = a->dtype->num;
            x->rare |= a->dtype->hot == ND_RARE;
        } else if (number < 0 && (vm->api->kind(vm, inputs[i].value) == DVX_FLOAT ||
                                  derive_is_int(vm, inputs[i].value))) {
            number = i;
        } else {
            return refuse(x, "an operand is neither an array nor an int or float");
        }
    }
    x->array = number == 0;
    x->form = d->inputs == 1 ? ONE : number < 0 ? ARRAYS : number == 1 ? RIGHT : LEFT;
    if (x->array >= d->inputs) return refuse(x, "no operand is an array");
    return !d->inplace || d->dtypes[0] || refuse(x, "the left operand is no array");
}

/* The type of the loop, as ufunc.c chooses it. */
static bool choose_type(dvx_vm *vm, const dvx_site *site, draft *x) {
    elementwise *d = &x->d;
    const nd_ufunc_facts *facts = &loops_facts[d->number];
    nd_type type = x->types[x->array];
    if (x->form == ARRAYS) {
        type = dtype_promote(d->dtypes[0], d->dtypes[1])->num;
    } else if (x->form != ONE) {
        const dvx_operand *number = &site->operands[d->first + !x->array];
        if (vm->api->kind(vm, number->value) == DVX_FLOAT)
            type = type_is_inexact(type) ? type : ND_FLOAT64;
        else
            type = type == ND_BOOL ? ND_INT64 : type;
    }
    if (ND_DTYPE(type)->hot == ND_RARE || x->rare)
        return refuse(x, "rare dtypes have no derivatives");
    if (!ufunc_kernel(vm, d->number, type)->loop) {
        if (!facts->floats || type_is_inexact(type) ||
            (type <= ND_UINT8 && d->number != ND_UFUNC_divide))
            return refuse(x, "the ufunc has no loop for these dtypes");
        type = ND_FLOAT64;
    }
    if (d->number == ND_UFUNC_power && !type_is_inexact(type))
        return refuse(x, "exponents of powers of ints are looked at first");
    const nd_kernel *kernel = ufunc_kernel(vm, d->number, type);
    if (kernel->compares) return refuse(x, "comparing a complex nan is told");
    if (type == ND_FLOAT32 && x->form != ARRAYS && x->form != ONE && ufunc_is_logical(d->number))
        return refuse(x, "the truth of a number is looked at, not of its element");
    d->type = type;
    d->loop = kernel->loop;
    d->result = ND_DTYPE(kernel->result);
    d->warns = facts->warns;
    d->inexact = kernel->inexact;
    for (int i = 0; i < d->inputs; i++) {
        if (!d->dtypes[i] || x->types[i] == type) continue;
        d->casts[i] = cast_between(d->dtypes[i], ND_DTYPE(type));
        d->casting = true;
    }
    if (d->inexact) d->temporaries = 0;
    if (d->inplace && (d->inexact || d->casting || d->result != d->dtypes[0]))
        return refuse(x, "in place, the result must have the array's dtype without a cast");
    return true;
}

/* Results that lie in their objects are kept.  The native twin, for arrays of one shape in rows,
 * needs some that are there already. */
static void choose_kept(dvx_vm *vm, const dvx_site *site, draft *x) {
    elementwise *d = &x->d;
    const nd_array *like = NULL;
    bool rows = true;
    for (int i = 0; i < d->inputs; i++) {
        if (!d->dtypes[i]) continue;
        const nd_array *a = vm->api->payload(vm, site->operands[d->first + i].value, &array_type);
        if (a->size * d->result->size > ND_INLINE) return;
        rows &= elements_is_row(a) && a->ndim <= ND_FEW && a->size;
        rows &= !like || elements_same_shape(a, like);
        like = a;
    }
    if (site->times >= MOST_TIMES) {
        d->waste = MOST_WASTE + 1;
        return;
    }
    d->keeps = !d->inplace;
    x->small = rows && !d->casting && !d->inexact;
    for (int i = 0; x->small && !d->inplace && i < ELEMENTS_KEPT; i++) {
        nd_array *out;
        d->kept[i] = array_new_like(vm, d->result, like, &out);
        if (!dvx_failed(d->kept[i])) continue;
        vm->api->clear_error(vm);
        x->small = false;
    }
}

static const dvx_specialisation *descriptor(const dvx_site *site, const draft *x) {
    const elementwise *d = &x->d;
    const int t = ND_DTYPE(x->types[x->array])->hot, first = ND_DTYPE(x->types[0])->hot,
              second = ND_DTYPE(x->types[1])->hot;
    const bool pair = x->form == ARRAYS && x->types[0] != x->types[1];
    const bool small = x->small && (t == ND_HOT_FLOAT64 || t == ND_HOT_INT64);
    const dvx_specialisation *found = NULL;
    switch (site->family) {
    case DVX_SITE_BINARY:
        found = pair ? &of_binary_pair[site->operation][first][second]
                     : &of_binary[small][site->operation][x->form][t];
        break;
    case DVX_SITE_COMPARE:
        found = pair ? &of_compare_pair[site->operation][first][second]
                     : &of_compare[small][site->operation][x->form][t];
        break;
    case DVX_SITE_INPLACE:
        found = pair ? NULL : &of_inplace[small][site->operation][x->form][t];
        break;
    case DVX_SITE_UNARY: found = &of_unary[small][site->operation][x->form][t]; break;
    default: found = pair ? NULL : &of_call[small][d->number][x->form][t]; break;
    }
    return found && found->name ? found : NULL;
}

/* Is the number a constant?  Then it is an element in the cache, and is not loaded. */
static void choose_constant(dvx_vm *vm, dvx_site *site, draft *x) {
    elementwise *d = &x->d;
    const uint32_t i = (uint32_t)(d->first + !x->array);
    const dvx_operand *o = &site->operands[i];
    if (o->origin != DVX_FROM_CONSTANT && o->origin != DVX_FROM_GLOBAL) return;
    d->constant_is_int = vm->api->kind(vm, o->value) == DVX_INT;
    if (!derive_read_number(vm, o->value, d->type, d->element)) return;
    bool good = d->constant_is_int ? vm->api->read_int(vm, o->value, &d->as_int)
                                   : vm->api->read_float(vm, o->value, &d->as_float);
    if (!good) vm->api->clear_error(vm);
    if (!good || !vm->api->drop_operand(vm, site, i)) return;
    d->constant = true;
    x->form = x->form == RIGHT ? RIGHT_CONST : LEFT_CONST;
}

/* a ** 2: the ufunc that stands for it; false: the exponent may be such a number another time. */
static bool choose_power(dvx_vm *vm, dvx_site *site, draft *x) {
    elementwise *d = &x->d;
    const dvx_operand *exponent = &site->operands[1];
    double number = 0;
    if (d->number != ND_UFUNC_power || site->family == DVX_SITE_CALL || x->form != RIGHT)
        return true;
    if (exponent->origin != DVX_FROM_CONSTANT)
        return refuse(x, "the exponent may be a number that stands for another function");
    if (!vm->api->read_float(vm, exponent->value, &number)) return vm->api->clear_error(vm), false;
    const bool whole = vm->api->kind(vm, exponent->value) == DVX_INT;
    const int simple = operators_simple_power(x->types[0], whole, number);
    if (simple < 0)
        return type_is_inexact(x->types[0]) || refuse(x, "such powers of ints have no derivatives");
    if (d->inplace || !vm->api->drop_operand(vm, site, 1))
        return refuse(x, "in place, such powers have no derivatives");
    d->number = (nd_ufunc_number)simple;
    d->inputs = 1;
    x->form = ONE;
    return true;
}

/* Is operand 0 of a call a global that keeps its value?  Then it is not loaded. */
static void choose_callee(dvx_vm *vm, dvx_site *site, draft *x) {
    if (x->d.first == 1 && site->operands[0].origin == DVX_FROM_GLOBAL &&
        vm->api->drop_operand(vm, site, 0))
        x->d.first = 2;
}

static void install(dvx_vm *vm, dvx_site *site, draft *x, const dvx_specialisation *found) {
    elementwise *cache = vm->api->specialise(vm, site, found);
    if (!cache) {
        release_kept(vm, &x->d);
        return;
    }
    *cache = x->d;
    fuse_site(vm, site);
}

void derive_elements(dvx_vm *vm, dvx_site *site) {
    draft x;
    memset(&x, 0, sizeof x);
    for (int i = 0; i < ELEMENTS_KEPT; i++) x.d.kept[i] = DVX_FAILED;
    if (!choose_ufunc(vm, site, &x) || !choose_form(vm, site, &x) || !choose_power(vm, site, &x) ||
        !choose_type(vm, site, &x)) {
        vm->api->decline(vm, site, x.reason);
        return;
    }
    const bool simple_power = site->family == DVX_SITE_BINARY && site->operation == DVX_POW &&
                              x.d.number != ND_UFUNC_power;
    if (simple_power) {
        choose_kept(vm, site, &x);
        install(vm, site, &x, &of_simple_power[ND_DTYPE(x.types[0])->hot]);
        return;
    }
    if (x.form == RIGHT || x.form == LEFT) choose_constant(vm, site, &x);
    choose_kept(vm, site, &x);
    const dvx_specialisation *found = descriptor(site, &x);
    if (!found) {
        release_kept(vm, &x.d);
        vm->api->decline(vm, site, "there is no derivative for these dtypes");
        return;
    }
    choose_callee(vm, site, &x);
    install(vm, site, &x, found);
}
