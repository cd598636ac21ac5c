/* reduce.c: reduce and accumulate (reduce.h). */
#include "ufunc/reduce.h"

#include "loops/arith.h"
#include "loops/cast.h"
#include "ufunc/error.h"
#include "ufunc/ufunc.h"
#include "ufunc/walk.h"

enum { PIECE = 8192, LONG_PIECE = 1 << 20, CHUNK = 512 };

bool reduce_axes(dvx_vm *vm, dvx_value axis, int ndim, uint32_t *mask) {
    *mask = ndim == ND_MOST ? UINT32_MAX : (1u << ndim) - 1;
    if (!nd_is_given(vm, axis)) return true;
    int i;
    if (vm->api->kind(vm, axis) != DVX_TUPLE) {
        int64_t given;
        if (!nd_read_int_no_bool(vm, axis, &given)) return false;
        /* (Of an array without axes, 0 and -1 are none.) */
        const bool none = !ndim && (given == 0 || given == -1);
        if (!none && !nd_axis(vm, given, ndim, &i)) return false;
        *mask = none ? 0 : 1u << i;
        return true;
    }
    int64_t count = vm->api->length(vm, axis);
    *mask = 0;
    for (int64_t k = 0; k < count; k++) {
        dvx_value index = vm->api->make_int(vm, k), item = vm->api->get_item(vm, axis, index);
        int64_t given;
        bool good = !dvx_failed(item) && nd_read_int_no_bool(vm, item, &given) &&
                    nd_axis(vm, given, ndim, &i);
        vm->api->release(vm, item);
        vm->api->release(vm, index);
        if (!good) return false;
        if (*mask >> i & 1) return nd_fail(vm, DVX_VALUE_ERROR, "duplicate value in 'axis'");
        *mask |= 1u << i;
    }
    return count >= 0;
}

/* ---- The reduction itself ---- */

typedef struct reduction {
    const nd_kernel *kernel;
    nd_cast cast;  /* NULL: none */
    nd_cast row;   /* the same, where elements come to one result each; also of every second one */
    int64_t size;  /* of an element of the type that it is computed in */
    int64_t piece; /* elements that are folded at once, where no cast is needed */
    char *buffer;  /* PIECE elements, or NULL */
    char *truths;  /* ... and what the mask says of them; NULL: there is none */
    int64_t held;  /* elements in the buffer */
    char *to;      /* the element that they are for */
    bool waits;    /* each element for the one before: products */
    int decided;   /* the bool that nothing changes any more, of any() and all(); else -1 */
    nd_walk inner; /* the last axes, all reduced, of one operand: none where the last one is not */
} reduction;

/* A run of elements in the buffer. */
static bool fold_run(dvx_vm *vm, void *context, char *const *data, int64_t count,
                     const int64_t *strides) {
    const reduction *r = context;
    (void)vm;
    r->kernel->fold(r->to, data[0], count, strides[0]);
    return true;
}

/* (NumPy sums each run of true elements by itself.) */
static bool fold_buffer(dvx_vm *vm, reduction *r) {
    nd_masked masked = {fold_run, r, 1};
    char *data[ND_MOST_OPERANDS] = {r->buffer, r->truths};
    const int64_t strides[ND_MOST_OPERANDS] = {r->size, 1}, held = r->held;
    r->held = 0;
    if (r->truths) return walk_masked(vm, &masked, data, held, strides);
    if (held) r->kernel->fold(r->to, r->buffer, held, r->size);
    return true;
}

/* Elements for one result, into the buffer. */
static bool gather_row(dvx_vm *vm, void *context, char *const *data, int64_t count,
                       const int64_t *strides) {
    reduction *r = context;
    const char *from = data[0], *truths = r->truths ? data[1] : NULL;
    while (count > 0) {
        int64_t n = count < PIECE - r->held ? count : PIECE - r->held;
        r->cast(r->buffer + r->held * r->size, r->size, from, strides[0], n);
        for (int64_t i = 0; r->truths && i < n; i++, truths += strides[1])
            r->truths[r->held + i] = *truths;
        r->held += n;
        from += n * strides[0];
        count -= n;
        if (r->held == PIECE && !fold_buffer(vm, r)) return false;
    }
    return true;
}

/* What folding takes, for nd_work: so many bytes at a time, but products, of which each waits for
 * the one before. */
static int64_t fold_steps(const reduction *r, int64_t count, int64_t stride) {
    enum { LEAST = 2, MOST = 24, UNKNOWN = 20, BYTES = 56 };
    const int64_t step = stride < 0 ? -stride : stride ? stride : UNKNOWN;
    const int64_t bytes = step < LEAST ? LEAST : step < MOST ? step : MOST;
    return r->waits ? count : count * bytes / BYTES;
}

enum { FIRST = 256 }; /* elements of what may be decided early: then more at a time */

static bool fold_direct(dvx_vm *vm, const reduction *r, char *to, const char *from) {
    int64_t count = r->inner.shape[0], stride = r->inner.strides[0][0];
    const bool ends = r->decided >= 0; /* early */
    int64_t most = ends ? FIRST : r->piece;
    for (int64_t n; count > 0 && !(ends && *to == r->decided); count -= n, from += n * stride) {
        n = count < most ? count : most;
        if (most < r->piece) most *= 2;
        r->kernel->fold(to, from, n, stride);
        if (!nd_work(vm, fold_steps(r, n, stride))) return false;
    }
    return true;
}

/* Any() and all() of what is no bool: looks at a few elements, then at more. */
static bool decide(dvx_vm *vm, const reduction *r, char *to, const char *from) {
    const int64_t stride = r->inner.strides[0][0];
    int64_t most = FIRST;
    for (int64_t left = r->inner.shape[0]; left > 0 && *to != r->decided;) {
        const int64_t n = left < most ? left : most;
        r->cast(r->buffer, r->size, from, stride, n);
        r->kernel->fold(to, r->buffer, n, r->size);
        from += n * stride;
        left -= n;
        if (most < PIECE) most *= 2;
        if (!nd_work(vm, n / 4)) return false;
    }
    return true;
}

/* A row of results, each of them of all that the inner axes have. */
static bool reduce_inner(dvx_vm *vm, void *context, char *const *data, int64_t count,
                         const int64_t *strides) {
    reduction *r = context;
    for (int64_t i = 0; i < count; i++) {
        char *to = data[0] + i * strides[0], *from = data[1] + i * strides[1];
        if (!r->buffer) {
            if (!fold_direct(vm, r, to, from)) return false;
            continue;
        }
        if (r->decided >= 0 && r->inner.ndim == 1 && !r->truths) {
            if (!decide(vm, r, to, from)) return false;
            continue;
        }
        nd_walk walk;
        walk_copy(&walk, &r->inner);
        walk.data[0] = from;
        if (r->truths) walk.data[1] = data[2] + i * strides[2];
        r->to = to;
        if (!walk_run(vm, &walk, gather_row, r) || !fold_buffer(vm, r)) return false;
    }
    return true;
}

/* A row of results, to each of which one element comes. */
static bool reduce_outer(dvx_vm *vm, void *context, char *const *data, int64_t count,
                         const int64_t *strides) {
    const reduction *r = context;
    _Alignas(64) char buffer[CHUNK * sizeof(nd_complex)];
    char *to = data[0], *from = data[1];
    (void)vm;
    if (!r->row) {
        char *args[3] = {to, from, to};
        const int64_t steps[3] = {strides[0], strides[1], strides[0]};
        r->kernel->loop(args, count, steps);
        return true;
    }
    const int64_t steps[3] = {strides[0], r->size, strides[0]};
    for (; count > 0; count -= CHUNK, to += CHUNK * strides[0], from += CHUNK * strides[1]) {
        int64_t n = count < CHUNK ? count : CHUNK;
        char *args[3] = {to, buffer, to};
        r->row(buffer, r->size, from, strides[1], n);
        r->kernel->loop(args, n, steps);
    }
    return true;
}

/* Rows that all come to the same row of results. */
typedef struct stack {
    nd_fold_rows fold;
    int64_t rows, stride;
} stack;

static bool reduce_rows(dvx_vm *vm, void *context, char *const *data, int64_t count,
                        const int64_t *strides) {
    enum { AT_ONCE = 1 << 18 }; /* elements, between looks at interrupts; and rows for a loop */
    const stack *s = context;
    const int64_t most = 4 * (1 + AT_ONCE / 4 / (count + 1));
    (void)strides;
    for (int64_t done = 0; done < s->rows; done += most) {
        const int64_t n = s->rows - done < most ? s->rows - done : most;
        s->fold(data[0], data[1] + done * s->stride, count, n, s->stride);
        if (!nd_quick_work(vm, n * count)) return false;
    }
    return true;
}

/* Is the last axis but one reduced, and are the last one's elements neighbours?  Then the former
 * leaves the walk. */
static bool take_rows(nd_walk *walk, const nd_kernel *kernel, int64_t size, stack *s) {
    const int last = walk->ndim - 1, axis = last - 1;
    if (last < 1 || !kernel->rows || walk->strides[0][axis] || walk->strides[0][last] != size ||
        walk->strides[1][last] != size)
        return false;
    *s = (stack){kernel->rows, walk->shape[axis], walk->strides[1][axis]};
    walk->shape[axis] = walk->shape[last];
    for (int k = 0; k < walk->operands; k++) walk->strides[k][axis] = walk->strides[k][last];
    walk->ndim--;
    return true;
}

/* Takes the axes at the end that are reduced out of the walk. */
static void split(nd_walk *walk, nd_walk *inner) {
    inner->operands = walk->operands - 1;
    int first = walk->ndim;
    while (first > 0 && walk->strides[0][first - 1] == 0) first--;
    inner->ndim = walk->ndim - first;
    for (int i = 0; i < inner->ndim; i++) {
        inner->shape[i] = walk->shape[first + i];
        for (int k = 0; k < inner->operands; k++)
            inner->strides[k][i] = walk->strides[k + 1][first + i];
    }
    walk->ndim = first;
}

static bool run(dvx_vm *vm, nd_walk *walk, const nd_kernel *kernel, nd_type type,
                const nd_dtype *from) {
    enum { BEGINNING = 64 }; /* for nd_work: what is done before a loop begins */
    reduction r;
    if (!nd_work(vm, BEGINNING)) return false;
    memset(&r, 0, offsetof(reduction, inner));
    r.kernel = kernel;
    r.size = ND_DTYPE(type)->size;
    /* (Only where sums begin anew changes what comes out; a piece is an effort, too.) */
    const bool sums = kernel == ufunc_kernel(vm, ND_UFUNC_add, type);
    r.piece = sums && type_is_inexact(type) ? PIECE : LONG_PIECE;
    r.waits = kernel == ufunc_kernel(vm, ND_UFUNC_multiply, type);
    r.decided = kernel == ufunc_kernel(vm, ND_UFUNC_logical_or, ND_BOOL)    ? true
                : kernel == ufunc_kernel(vm, ND_UFUNC_logical_and, ND_BOOL) ? false
                                                                            : -1;
    walk_begin(&r.inner, 0, 0);
    if (from->num != type) r.cast = cast_between(from, ND_DTYPE(type));
    for (int i = 0; i < walk->ndim; i++)
        if (!walk->shape[i]) return true;
    walk_plan(walk, 1, false);
    split(walk, &r.inner);
    const bool masked = walk->operands > 2;
    r.row = r.cast;
    if (!r.inner.ndim) {
        const int last = walk->ndim - 1;
        if (last >= 0 && type != ND_COMPLEX128 && walk->strides[0][last] == r.size &&
            walk->strides[1][last] == 2 * r.size)
            r.row = cast_between(from, ND_DTYPE(type));
        nd_masked some = {reduce_outer, &r, 2};
        stack s;
        if (!r.cast && !masked && take_rows(walk, kernel, r.size, &s))
            return walk_run(vm, walk, reduce_rows, &s);
        if (walk->ndim)
            return masked ? walk_run(vm, walk, walk_masked, &some)
                          : walk_run(vm, walk, reduce_outer, &r);
        walk_begin(&r.inner, walk->operands - 1, 1);
        r.inner.shape[0] = 1;
    }
    /* Where the order is nothing, a reversed row begins at its end. */
    if (r.inner.ndim == 1 && !masked && r.inner.strides[0][0] < 0 &&
        (r.decided >= 0 || (sums && !type_is_inexact(type)))) {
        walk->data[1] += (r.inner.shape[0] - 1) * r.inner.strides[0][0];
        r.inner.strides[0][0] *= -1;
    }
    nd_kernel wide = *kernel;
    const nd_fold sum = nd_state_of(vm)->tiles->sum[from->num];
    const bool whole = type == ND_INT64 || type == ND_UINT64;
    if (sums && whole && sum && r.inner.ndim == 1 && !masked) {
        wide.fold = sum;
        r.kernel = &wide;
        r.cast = NULL;
    }
    const size_t size = (size_t)(PIECE * (r.size + masked));
    if (r.cast || r.inner.ndim > 1 || masked) {
        r.cast = cast_between(from, ND_DTYPE(type));
        r.buffer = vm->api->allocate(vm, size);
        if (!r.buffer) return false;
        if (masked) r.truths = r.buffer + PIECE * r.size;
    }
    bool good = walk_run(vm, walk, reduce_inner, &r);
    if (r.buffer) vm->api->deallocate(vm, r.buffer, size);
    return good;
}

/* The first elements along the axes become the results. */
static bool copy_first(dvx_vm *vm, const nd_array *a, const nd_walk *walk, nd_array *out) {
    nd_walk first;
    walk_copy(&first, walk);
    for (int i = 0; i < first.ndim; i++)
        if (first.strides[0][i] == 0 && first.shape[i] > 1) first.shape[i] = 1;
    nd_array of = *a, to = *out;
    dvx_axis of_axes[ND_MOST], to_axes[ND_MOST];
    for (int i = 0; i < first.ndim; i++) {
        of_axes[i] = (dvx_axis){first.shape[i], first.strides[1][i]};
        to_axes[i] = (dvx_axis){first.shape[i], first.strides[0][i]};
    }
    of.axes = of_axes, to.axes = to_axes;
    of.ndim = to.ndim = first.ndim;
    array_update(&of);
    array_update(&to);
    return array_assign(vm, &to, &of);
}

static bool raise_zero_size(dvx_vm *vm, nd_ufunc_number number) {
    return nd_fail(vm, DVX_VALUE_ERROR,
                   "zero-size array to reduction operation %s which has no identity",
                   loops_facts[number].name);
}

/* Without an identity the first elements are the beginning, and are left out then.  (Of several
 * axes they stay in: an extreme may be compared with itself.) */
static bool begin(dvx_vm *vm, nd_ufunc_number number, const nd_array *a, uint32_t mask,
                  nd_walk *walk, nd_array *out) {
    const bool several = mask & (mask - 1);
    if (several && (number == ND_UFUNC_subtract || number == ND_UFUNC_divide ||
                    number == ND_UFUNC_floor_divide || number == ND_UFUNC_remainder ||
                    number == ND_UFUNC_power))
        return nd_fail(vm, DVX_VALUE_ERROR,
                       "reduction operation '%s' is not reorderable, so at most one axis may be "
                       "specified",
                       loops_facts[number].name);
    for (int i = 0; i < a->ndim; i++)
        if (mask >> i & 1 && !a->axes[i].count) return raise_zero_size(vm, number);
    if (!copy_first(vm, a, walk, out)) return false;
    for (int i = 0; i < a->ndim && !several; i++)
        if (mask >> i & 1) {
            walk->data[1] += walk->strides[1][i];
            if (walk->shape[i]) walk->shape[i]--;
        }
    return true;
}

static void fill(nd_array *out, const char *element) {
    const nd_cast copy = cast_between(out->dtype, out->dtype);
    copy(out->data, out->dtype->size, element, 0, out->size);
}

static bool is_single_pass(dvx_vm *vm, unsigned flags, const char *name) {
    if (LIKELY(!flags)) return true;
    arith_clear();
    return error_flags(vm, name, flags);
}

/* The result's axes lie in memory as the array's do. */
static dvx_value make_result(dvx_vm *vm, nd_type type, const nd_array *a, uint32_t mask, bool keep,
                             nd_array **out) {
    int64_t shape[ND_MOST];
    int ndim = 0, number[ND_MOST], all[ND_MOST], order[ND_MOST];
    for (int i = 0; i < a->ndim; i++) {
        const bool reduced = mask >> i & 1;
        number[i] = reduced && !keep ? -1 : ndim;
        if (number[i] >= 0) shape[ndim++] = reduced ? 1 : a->axes[i].count;
    }
    if (ndim < 2 || a->flags & ND_C_CONTIGUOUS)
        return array_new(vm, ND_DTYPE(type), ndim, shape, out);
    nd_array of = *a, *input = &of;
    ufunc_order(&input, 1, a->ndim, all);
    for (int i = 0, k = 0; i < a->ndim; i++)
        if (number[all[i]] >= 0) order[k++] = number[all[i]];
    return array_new_permuted(vm, ND_DTYPE(type), ndim, shape, order, out);
}

/* The mask as the last operand of the walk, in the shape of `a`. */
static bool add_mask(dvx_vm *vm, const nd_array *a, const nd_array *where, nd_walk *walk) {
    char text[ND_SHAPE_TEXT], other[ND_SHAPE_TEXT];
    int64_t shape[ND_MOST], its[ND_MOST];
    const int shift = a->ndim - where->ndim;
    if (shift < 0)
        return nd_fail(vm, DVX_VALUE_ERROR,
                       "input operand has more dimensions than allowed by the axis remapping");
    array_shape(a, shape);
    array_shape(where, its);
    for (int i = 0; i < where->ndim; i++)
        if (its[i] != 1 && its[i] != shape[i + shift])
            return nd_fail(vm, DVX_VALUE_ERROR,
                           "operands could not be broadcast together with remapped shapes "
                           "[original->remapped]: %s %s ",
                           array_shape_text(a->ndim, shape, false, text),
                           array_shape_text(where->ndim, its, false, other));
    walk->data[2] = where->data;
    array_strides_in(where, a->ndim, walk->strides[2]);
    walk->operands = 3;
    return true;
}

/* reduce_array of the elements where the mask, which is broadcast to the shape of `a`, is true. */
static dvx_value reduce_masked(dvx_vm *vm, nd_ufunc_number number, const nd_array *a, uint32_t mask,
                               nd_type type, bool keep, const char *initial, const nd_array *where,
                               nd_array **out) {
    const nd_ufunc_facts *facts = &loops_facts[number];
    const nd_kernel *kernel = ufunc_kernel(vm, number, type);
    nd_walk walk;
    walk_begin(&walk, 2, a->ndim);
    _Alignas(16) char identity[sizeof(nd_complex)];
    if (!kernel->fold)
        return nd_raise(
            vm, DVX_TYPE_ERROR,
            "No loop matching the specified signature and casting was found for ufunc %s",
            facts->name);
    if (where && !initial && !facts->has_identity)
        return nd_raise(vm, DVX_VALUE_ERROR,
                        "reduction operation '%s' does not have an identity, so to use a where "
                        "mask one has to specify 'initial'",
                        facts->name);
    if (where && !add_mask(vm, a, where, &walk)) return DVX_FAILED;
    dvx_value made = make_result(vm, type, a, mask, keep, out);
    if (dvx_failed(made)) return DVX_FAILED;
    for (int i = 0, k = 0; i < a->ndim; i++) {
        const bool reduced = mask >> i & 1;
        walk.shape[i] = a->axes[i].count;
        walk.strides[0][i] = reduced || a->axes[i].count == 1 ? 0 : (*out)->axes[k].stride;
        walk.strides[1][i] = a->axes[i].stride;
        k += !reduced || keep;
    }
    walk.data[0] = (*out)->data;
    walk.data[1] = a->data;
    bool good = true;
    if (!initial && facts->has_identity) {
        int64_t i = facts->identity;
        cast_between(ND_DTYPE(ND_INT64), ND_DTYPE(type))(identity, 0, (const char *)&i, 0, 1);
        initial = identity;
    }
    if (initial)
        fill(*out, initial);
    else
        good = begin(vm, number, a, mask, &walk, *out);
    if (error_raised(vm)) arith_clear();
    /* (Without an axis and a beginning, the first elements are all.) */
    good = good && (!(initial || mask) || run(vm, &walk, kernel, type, a->dtype)) &&
           is_single_pass(vm, facts->warns ? error_raised(vm) : 0, "reduce");
    if (good) return made;
    vm->api->release(vm, made);
    return DVX_FAILED;
}

dvx_value reduce_array(dvx_vm *vm, nd_ufunc_number number, const nd_array *a, uint32_t mask,
                       nd_type type, bool keep, const char *initial, nd_array **out) {
    return reduce_masked(vm, number, a, mask, type, keep, initial, NULL, out);
}

dvx_value reduce_finish(dvx_vm *vm, dvx_value made, const nd_array *a, dvx_value out,
                        nd_ufunc_number number) {
    if (dvx_failed(made)) return DVX_FAILED;
    if (!nd_is_given(vm, out)) return array_result(vm, made);
    nd_array *to = vm->api->payload(vm, out, &array_type);
    bool good = false;
    if (!to)
        nd_fail(vm, DVX_TYPE_ERROR, "output must be an array");
    else if (to->ndim != a->ndim)
        nd_fail(vm, DVX_VALUE_ERROR,
                "output parameter for reduction operation %s has the wrong number of dimensions: "
                "Found %d but expected %d",
                loops_facts[number].name, (int)to->ndim, (int)a->ndim);
    else if (!dtype_is_same_kind(a->dtype, to->dtype))
        error_ufunc(vm,
                    "Cannot cast ufunc '%s' output from dtype('%s') to dtype('%s') with casting "
                    "rule 'same_kind'",
                    loops_facts[number].name, a->dtype->name, to->dtype->name);
    else
        good = array_writable(vm, to) && array_assign(vm, to, a);
    vm->api->release(vm, made);
    return good ? vm->api->retain(vm, out) : DVX_FAILED;
}

bool reduce_type(dvx_vm *vm, const nd_reduction *r, const nd_array *a, nd_type *out) {
    const nd_dtype *dtype = NULL;
    if (!dtype_read_given(vm, r->dtype, NULL, &dtype)) return false;
    if (dtype) return *out = dtype->num, true;
    nd_type type = a->dtype->num;
    if ((r->number == ND_UFUNC_add || r->number == ND_UFUNC_multiply) && type < ND_INT64)
        type = a->dtype->kind == 'u' ? ND_UINT64 : ND_INT64;
    if (r->number >= ND_UFUNC_logical_and && r->number <= ND_UFUNC_logical_xor) type = ND_BOOL;
    return ufunc_type(vm, r->number, type, out);
}

/* Is there a result that no element goes into?  (With initial=None there must be none.) */
static bool makes_of_nothing(const nd_array *a, uint32_t mask) {
    bool nothing = false;
    for (int i = 0; i < a->ndim; i++) {
        if (a->axes[i].count) continue;
        if (!(mask >> i & 1)) return false;
        nothing = true;
    }
    return nothing;
}

/* A result is not broadcast into an output that is larger. */
static bool fits_output(dvx_vm *vm, const nd_array *a, uint32_t mask, const nd_array *made,
                        dvx_value out) {
    const nd_array *to = vm->api->payload(vm, out, &array_type);
    int64_t shape[ND_MOST], wide[ND_MOST];
    char texts[2][ND_SHAPE_TEXT];
    bool fits = true;
    if (!to || to->ndim != made->ndim) return true; /* reduce_finish */
    array_shape(a, shape);
    array_shape(a, wide);
    for (int i = 0, k = 0; i < a->ndim; i++) {
        const bool reduced = mask >> i & 1;
        if (reduced && made->ndim < a->ndim) continue;
        const int64_t count = to->axes[k++].count;
        if (reduced && count != 1)
            return nd_fail(vm, DVX_VALUE_ERROR,
                           "operand was set up as a reduction along axis %d, but the length of the "
                           "axis is %lld (it has to be 1)",
                           i, (long long)count);
        if (shape[i] != 1 || count == 1) continue;
        wide[i] = count;
        fits = false;
    }
    return fits || nd_fail(vm, DVX_VALUE_ERROR,
                           "non-broadcastable operand with shape %s doesn't match the broadcast "
                           "shape %s",
                           array_shape_text(a->ndim, shape, false, texts[0]),
                           array_shape_text(a->ndim, wide, false, texts[1]));
}

static dvx_value reduce_given(dvx_vm *vm, const nd_array *a, const nd_reduction *r) {
    nd_type type;
    uint32_t mask;
    nd_array *out;
    _Alignas(16) char initial[sizeof(nd_complex)];
    const bool given = nd_is_given(vm, r->initial);
    int keep = nd_is_given(vm, r->keepdims) ? vm->api->truth(vm, r->keepdims) : 0;
    if (keep < 0 || !reduce_type(vm, r, a, &type)) return DVX_FAILED;
    if (r->first_axis && dvx_failed(r->axis)) {
        mask = a->ndim > 0;
    } else if (!reduce_axes(vm, r->axis, a->ndim, &mask)) {
        return DVX_FAILED;
    }
    if (given && !array_store(vm, ND_DTYPE(type), initial, r->initial)) return DVX_FAILED;
    nd_array *where;
    dvx_value held;
    if (!ufunc_mask(vm, r->where, &held, &where)) return DVX_FAILED;
    if (UNLIKELY(!dvx_failed(r->initial) && !given && makes_of_nothing(a, mask))) {
        vm->api->release(vm, held);
        raise_zero_size(vm, r->number);
        return DVX_FAILED;
    }
    dvx_value made =
        reduce_masked(vm, r->number, a, mask, type, keep, given ? initial : NULL, where, &out);
    vm->api->release(vm, held);
    if (!dvx_failed(made) && nd_is_given(vm, r->out) && !fits_output(vm, a, mask, out, r->out)) {
        vm->api->release(vm, made);
        return DVX_FAILED;
    }
    return dvx_failed(made) ? made : reduce_finish(vm, made, out, r->out, r->number);
}

/* All of a few floats in a row. */
static bool is_simple(dvx_vm *vm, const nd_array *a, const nd_reduction *r) {
    return a && a->dtype->num == ND_FLOAT64 && a->flags & ND_C_CONTIGUOUS && a->size <= PIECE &&
           a->size > 0 && (!r->first_axis || a->ndim == 1) && !nd_is_given(vm, r->axis) &&
           !nd_is_given(vm, r->dtype) && !nd_is_given(vm, r->out) &&
           !nd_is_given(vm, r->keepdims) && !nd_is_given(vm, r->initial) && dvx_failed(r->where);
}

static dvx_value reduce_simple(dvx_vm *vm, const nd_array *a, const nd_kernel *kernel,
                               const nd_ufunc_facts *facts) {
    double result = facts->has_identity ? facts->identity : *(const double *)(const void *)a->data;
    if (error_raised(vm)) arith_clear();
    kernel->fold((char *)&result, a->data, a->size, sizeof result);
    if (facts->warns && !is_single_pass(vm, error_raised(vm), "reduce")) return DVX_FAILED;
    return vm->api->make_float(vm, result);
}

static bool is_foldable(nd_ufunc_number number) {
    return number == ND_UFUNC_add || number == ND_UFUNC_multiply || number == ND_UFUNC_maximum ||
           number == ND_UFUNC_minimum;
}

dvx_value reduce_call(dvx_vm *vm, dvx_value array, const nd_reduction *r) {
    nd_array *a = vm->api->payload(vm, array, &array_type);
    if (is_foldable(r->number) && is_simple(vm, a, r))
        return reduce_simple(vm, a, ufunc_kernel(vm, r->number, ND_FLOAT64),
                             &loops_facts[r->number]);
    dvx_value held = array_operand(vm, array, NULL, &a);
    if (dvx_failed(held)) return DVX_FAILED;
    dvx_value result = reduce_given(vm, a, r);
    vm->api->release(vm, held);
    return result;
}

/* ---- accumulate ---- */

/* Sums and products of numbers, which wait for each other: no calls in between.  (Of ints modulo
 * 2**n.) */
#define RUNNING(T, name, what, combine)                                                     \
    static void what##_##name(char *to, const char *from, int64_t count, int64_t to_stride, \
                              int64_t from_stride) {                                        \
        T sum = *(const T *)(const void *)from, *out = (T *)(void *)to;                     \
        const T *in = (const T *)(const void *)from;                                        \
        if (to_stride == sizeof(T) && from_stride == sizeof(T)) {                           \
            int64_t i = 1;                                                                  \
            for (; i + 4 <= count; i += 4) {                                                \
                out[i] = sum = combine(sum, in[i]);                                         \
                out[i + 1] = sum = combine(sum, in[i + 1]);                                 \
                out[i + 2] = sum = combine(sum, in[i + 2]);                                 \
                out[i + 3] = sum = combine(sum, in[i + 3]);                                 \
            }                                                                               \
            for (; i < count; i++) out[i] = sum = combine(sum, in[i]);                      \
            return;                                                                         \
        }                                                                                   \
        for (int64_t i = 1; i < count; i++) {                                               \
            sum = combine(sum, *(const T *)(const void *)(from + i * from_stride));         \
            *(T *)(void *)(to + i * to_stride) = sum;                                       \
        }                                                                                   \
    }
#define PLUS(a, b)  ((a) + (b))
#define TIMES(a, b) ((a) * (b))
/* (A nan stays.) */
#define GREATER(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
#define LESSER(a, b)  ((a) < (b) || (a) != (a) ? (a) : (b))
RUNNING(uint32_t, int32, sum, PLUS)
RUNNING(uint64_t, int64, sum, PLUS)
RUNNING(float, float32, sum, PLUS)
RUNNING(double, float64, sum, PLUS)
RUNNING(nd_complex, complex128, sum, complex_add)
RUNNING(uint32_t, int32, product, TIMES)
RUNNING(uint64_t, int64, product, TIMES)
RUNNING(float, float32, product, TIMES)
RUNNING(double, float64, product, TIMES)
RUNNING(uint8_t, uint8, greatest, GREATER)
RUNNING(int32_t, int32, greatest, GREATER)
RUNNING(int64_t, int64, greatest, GREATER)
RUNNING(float, float32, greatest, GREATER)
RUNNING(double, float64, greatest, GREATER)
RUNNING(uint8_t, uint8, least, LESSER)
RUNNING(int32_t, int32, least, LESSER)
RUNNING(int64_t, int64, least, LESSER)
RUNNING(float, float32, least, LESSER)
RUNNING(double, float64, least, LESSER)
/* The elements behind the first one of a line, which is there. */
typedef void (*running)(char *to, const char *from, int64_t count, int64_t to_stride,
                        int64_t from_stride);
static const running running_sums[ND_TYPES] = {[ND_INT32] = sum_int32,
                                               [ND_INT64] = sum_int64,
                                               [ND_FLOAT32] = sum_float32,
                                               [ND_FLOAT64] = sum_float64,
                                               [ND_COMPLEX128] = sum_complex128};
#define EXTREMES(what)                                                                          \
    {                                                                                           \
        [ND_BOOL] = what##_uint8, [ND_UINT8] = what##_uint8, [ND_INT32] = what##_int32,         \
        [ND_INT64] = what##_int64, [ND_FLOAT32] = what##_float32, [ND_FLOAT64] = what##_float64 \
    }
static const running running_maxima[ND_TYPES] = EXTREMES(greatest);
static const running running_minima[ND_TYPES] = EXTREMES(least);
static const running running_products[ND_TYPES] = {[ND_INT32] = product_int32,
                                                   [ND_INT64] = product_int64,
                                                   [ND_FLOAT32] = product_float32,
                                                   [ND_FLOAT64] = product_float64};

typedef struct accumulation {
    nd_loop loop;
    running quick;                               /* in place of the loop; NULL: none */
    int64_t count, size, to_stride, from_stride; /* of a line */
} accumulation;

static bool accumulate_row(dvx_vm *vm, void *context, char *const *data, int64_t count,
                           const int64_t *strides) {
    const accumulation *c = context;
    static const int64_t none[3] = {0, 0, 0};
    for (int64_t i = 0; i < count; i++) {
        char *to = data[0] + i * strides[0], *from = data[1] + i * strides[1];
        memmove(to, from, (size_t)c->size);
        if (!nd_work(vm, c->quick ? c->count : 4 * c->count)) return false;
        if (c->quick) {
            c->quick(to, from, c->count, c->to_stride, c->from_stride);
            continue;
        }
        for (int64_t k = 1; k < c->count; k++) {
            char *args[3] = {to, from + k * c->from_stride, to + c->to_stride};
            c->loop(args, 1, none);
            to += c->to_stride;
        }
    }
    return true;
}

static bool accumulate_into(dvx_vm *vm, nd_ufunc_number number, const nd_array *a, int axis,
                            const nd_array *out) {
    const nd_type type = a->dtype->num;
    accumulation c = {ufunc_kernel(vm, number, type)->loop,
                      number == ND_UFUNC_add        ? running_sums[type]
                      : number == ND_UFUNC_multiply ? running_products[type]
                      : number == ND_UFUNC_maximum  ? running_maxima[type]
                      : number == ND_UFUNC_minimum  ? running_minima[type]
                                                    : NULL,
                      a->axes[axis].count,
                      a->dtype->size,
                      out->axes[axis].stride,
                      a->axes[axis].stride};
    nd_walk walk;
    if (!a->size) return true;
    walk_lines(&walk, out, a, axis);
    if (error_raised(vm)) arith_clear();
    return walk_run(vm, &walk, accumulate_row, &c) &&
           is_single_pass(vm, loops_facts[number].warns ? error_raised(vm) : 0, "accumulate");
}

dvx_value reduce_accumulate(dvx_vm *vm, nd_ufunc_number number, dvx_value array, dvx_value axis,
                            bool first_axis, dvx_value dtype, dvx_value out) {
    const nd_reduction r = {.number = number, .dtype = dtype};
    nd_array *a, *to;
    nd_type type;
    int line = 0;
    dvx_value held = array_operand(vm, array, NULL, &a), made = DVX_FAILED;
    if (dvx_failed(held)) return DVX_FAILED;
    bool good = reduce_type(vm, &r, a, &type), flat = !nd_is_given(vm, axis) && !first_axis;
    if (good && !ufunc_kernel(vm, number, type)->fold)
        good = nd_fail(vm, DVX_TYPE_ERROR, "accumulate of %s is not part of ndarray",
                       loops_facts[number].name);
    vm->api->release(vm, held);
    if (!good) return DVX_FAILED;
    held = flat ? array_row(vm, array, ND_DTYPE(type), &a)
                : array_operand(vm, array, ND_DTYPE(type), &a);
    if (dvx_failed(held)) return DVX_FAILED;
    nd_array row = *a;
    dvx_axis whole = {a->size, a->dtype->size};
    if (flat || (!a->ndim && !first_axis)) row.axes = &whole, row.ndim = 1;
    if (!row.ndim)
        nd_fail(vm, DVX_TYPE_ERROR, "cannot accumulate on a scalar");
    else if (!nd_is_given(vm, axis) || nd_axis_no_bool(vm, axis, row.ndim, &line)) {
        int64_t shape[ND_MOST];
        nd_array *like = &row;
        array_shape(&row, shape);
        made = ufunc_result(vm, ND_DTYPE(type), &like, 1, row.ndim, shape, &to);
    }
    if (!dvx_failed(made) && !accumulate_into(vm, number, &row, line, to)) {
        vm->api->release(vm, made);
        made = DVX_FAILED;
    }
    vm->api->release(vm, held);
    return dvx_failed(made) ? made : reduce_finish(vm, made, to, out, number);
}
