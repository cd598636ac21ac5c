/* fuse.c: which expressions are fused, and how a fused one is run (fuse.h).
 *
 * The hook takes the expression's tree; types are looked at when it runs, and planned again when
 * they are others (program.h), so that the same code may see float64 arrays now and int64 arrays
 * then.
 *
 * Invariants
 *  1. The result is a new array in C order, where operation by operation would give one, too: each
 *     array's axes must fall from the outermost stride to the innermost; or in Fortran's order,
 *     where all arrays are.  Everything else is left to the sites, and so is every error, and
 *     every warning: where a flag is up that is not ignored, what has been computed is dropped, and
 *     the sites compute it again.  Nobody sees the difference, since nothing but the new array has
 *     been written.
 *  2. No operand is without dimensions: the operations in between would make numbers of them.
 *  3. What is stored, or computed in place or into an output, goes *directly* to its elements only
 * where the result is the same as by way of an array in between: no operand is read behind its
 * elements (store.h), none of the flags would raise, and each flag has a reason.  Then there is no
 * way back, and the flags are told in the end, in the order and at the places of the sites.  Else
 * there is an array in between, and invariant 1 holds up to its assignment.
 *  4. Results of few elements are *kept*, as in derive_elements.h: arrays of the program's result,
 * in one block, that go with the plan.  Where there is one, the constants have been read.
 *  5. A reduction adds in the order of reduce.c: pieces, halves, rows.  Where the order is seen and
 * is another one here, what has been computed is dropped, too. */
#include "site/fuse.h"

#include <stdlib.h>

#include "loops/arith.h"
#include "site/derive_elements.h"
#include "ufunc/error.h"
#include "ufunc/operators.h"
#include "site/place.h"
#include "site/program.h"
#include "site/store.h"
#include "ufunc/collect.h"
#include "ufunc/walk.h"

enum {
    SMALL_BYTES = 512, /* of a buffer on the stack, for few elements */
    /* Of the others: not a multiple of a page apart, where a load would wait for a store that has
     * the same low bits in its address. */
    LARGE_BYTES = ND_BLOCK_BYTES + 320,
    /* And the first one a part of a page behind the beginning of one, near which large arrays have
     * their elements: where it is there by chance, an expression takes up to a fifth longer. */
    PAGE_BYTES = 4096,
    BEHIND_PAGE = 512,
    BUFFERS_BYTES = ND_BUFFERS * LARGE_BYTES + PAGE_BYTES + BEHIND_PAGE,
    POLL_ELEMENTS = 1 << 16,
    /* Rows are computed together: from so many steps on; with so many elements between two of them,
     * which take about as long as the loop's beginning; unless that was in vain so often. */
    LEAST_STEPS = 3,
    MOST_BETWEEN = 32,
    MOST_WASTED = 4
};

/* What a site knows. */
typedef struct fused {
    nd_program program;
    bool read;    /* constants are in `elements` */
    bool running; /* or waiting, while a poll runs code of the program */
    bool stores;  /* into a part of an operand that is no leaf: SET_ITEM */
    bool has_out; /* into an operand that is no leaf: a call with an output */
    bool folds;   /* the last site is a reduction of all elements, or along an axis */
    nd_whole whole;
    int8_t axis;  /* the operand that says which */
    int8_t into;  /* whose elements are stored to (in place, if it is neither of these); -1: none */
    uint8_t last; /* the node of the last site */
    uint32_t parts;                /* bit i: of operand i only a part is meant */
    bool counts;                   /* some operation's flags count */
    uint32_t waste;                /* so often in a row no kept result could be used */
    dvx_value kept[ELEMENTS_KEPT]; /* DVX_FAILED: none */
    int8_t keys[ND_LEAVES];        /* ... which this operand says; -1: the place's key */
    _Alignas(16) char elements[ND_LEAVES][sizeof(nd_complex)];
    nd_place places[ND_LEAVES]; /* (last: not all of it is set) */
} fused;

typedef struct execution {
    fused *site;
    nd_program *program;
    nd_array *arrays[ND_LEAVES]; /* NULL: a number */
    nd_array *first;             /* of the arrays */
    nd_array *target;            /* where the result is stored; NULL: in a new array */
    const dvx_value *operands;
    dvx_value view;  /* of a part of an operand that is the result; or DVX_FAILED */
    const char *why; /* it is left to the operations one by one */
    bool flat;       /* all are of one shape, and rows, or in C order, or */
    bool turned;     /* ... in Fortran's */
    bool direct;     /* into the target, element by element */
    int axis;        /* along which parts of the expression are reduced; -1: none */
    unsigned flags;
    int64_t most; /* elements that a buffer has room for, and its bytes */
    size_t buffer_bytes;
    nd_rows rows;      /* that are computed together; pitch 0: each by itself */
    int operand_count; /* arrays, with the result */
    int wasted;        /* times that this was in vain */
    nd_places at;
    nd_array parts[ND_LEAVES]; /* of operands, and the target */
    _Alignas(16) char elements[ND_LEAVES][sizeof(nd_complex)];
} execution;

static bool refused(execution *x, const char *why) {
    x->why = why;
    return false;
}

/* The operations are executed one by one, this time. */
static dvx_outcome give_up(dvx_vm *vm, const execution *x) {
    vm->api->note(vm, x->site, x->why);
    return DVX_DEOPTIMISE;
}

static void prepare(execution *x, fused *site, const dvx_value *v) {
    x->site = site;
    x->program = &site->program;
    x->operands = v;
    x->target = NULL;
    x->direct = false;
    x->axis = -1;
}

static bool is_running(execution *x) {
    return x->site->running && !refused(x, "it is running already");
}

/* ---- Operands ---- */

static void release_kept(dvx_vm *vm, fused *f) {
    for (int i = 0; i < ELEMENTS_KEPT; i++) {
        dvx_value kept = f->kept[i];
        f->kept[i] = DVX_FAILED;
        vm->api->release(vm, kept);
    }
}

/* Reads the kinds of the leaves, and plans. */
static bool plan(dvx_vm *vm, fused *site, const dvx_value *v) {
    nd_program *p = &site->program;
    site->read = p->planned = false;
    release_kept(vm, site);
    for (uint32_t i = 0; i < p->leaf_count; i++) {
        const nd_array *a = vm->api->payload(vm, v[i], &array_type);
        nd_leaf *leaf = &p->leaves[i];
        if (leaf->kind == ND_LEAF_NONE) continue;
        leaf->kind = ND_LEAF_FLOAT;
        leaf->type = ND_FLOAT64;
        if (a)
            leaf->kind = ND_LEAF_ARRAY, leaf->type = a->dtype->num;
        else if (derive_is_int(vm, v[i]))
            leaf->kind = ND_LEAF_INT;
        else if (vm->api->kind(vm, v[i]) != DVX_FLOAT)
            return false;
    }
    if (!program_plan(vm, p)) return false;
    site->counts = false;
    for (uint32_t k = 0; k < p->step_count; k++) site->counts |= p->steps[k].flags != ND_FLAGS_NOT;
    return true;
}

/* The part of operand i, whose payload is `a`, that its key stands for. */
static inline nd_array *find_part(dvx_vm *vm, execution *x, uint32_t i, const nd_array *a) {
    const int at = x->site->keys[i];
    if (at < 0 ? place_find(&x->site->places[i], a, &x->parts[i])
               : place_find_now(vm, x->operands[at], a, &x->parts[i]))
        return &x->parts[i];
    (void)refused(x, "a key does not fit, or makes an element, or too many axes");
    return NULL;
}

/* Do its elements lie equally far apart, one after the other?  How far, in bytes. */
static inline bool is_flat(const nd_array *a) { return a->ndim == 1 || a->flags & ND_C_CONTIGUOUS; }
static inline int64_t pace_of(const nd_array *a) {
    return a->ndim == 1 ? a->axes->stride : a->dtype->size;
}

/* Are they in Fortran's order?  (The strides of axes of one element say something, too.) */
static bool is_turned(const nd_array *first, uint32_t flags) {
    for (int i = 0; i < first->ndim; i++)
        if (first->axes[i].count == 1) return false;
    return flags & ND_F_CONTIGUOUS;
}

/* The arrays; false: they are not for here. */
static inline bool look(dvx_vm *vm, execution *x, const dvx_value *v) {
    const nd_program *p = x->program;
    bool same = p->planned, flat = true, fits = true;
    uint32_t flags = UINT32_MAX; /* of all arrays */
    x->first = NULL;
    for (uint32_t i = 0; i < p->leaf_count; i++) {
        x->arrays[i] = NULL;
        if (p->leaves[i].kind == ND_LEAF_NONE) {
            x->at.data[i] = x->elements[i];
            x->at.strides[i] = 0;
            continue;
        }
        if (p->planned && p->leaves[i].kind != ND_LEAF_ARRAY) continue;
        nd_array *a = vm->api->payload(vm, v[i], &array_type);
        if (a && x->site->parts >> i & 1 && !(a = find_part(vm, x, i, a))) return false;
        x->arrays[i] = a;
        if (!a) continue; /* not yet planned */
        if (UNLIKELY(a->ndim == 0)) return refused(x, "an operand is without dimensions");
        same &= p->leaves[i].type == a->dtype->num;
        if (!x->first) x->first = a;
        fits = fits && array_same_shape(a, x->first);
        flat = flat && is_flat(a);
        flags &= a->flags;
        x->at.data[i] = a->data;
        x->at.strides[i] = pace_of(a);
    }
    x->turned = x->first && !flat && fits && !x->site->folds && is_turned(x->first, flags);
    x->flat = fits && (flat || x->turned);
    if (x->first && (LIKELY(same) || plan(vm, x->site, v))) return true;
    return refused(x, "an operation has no loop for these dtypes");
}

/* (A nan that is a bound of clip is none, and warned of.) */
static inline bool read_number(dvx_vm *vm, const nd_leaf *leaf, dvx_value v, char *element) {
    double number;
    if (leaf->bound && leaf->kind == ND_LEAF_FLOAT && vm->api->read_float(vm, v, &number) &&
        isnan(number))
        return false;
    return derive_read_number(vm, v, leaf->type, element);
}

/* Numbers become elements; false: one of them has no such element. */
static inline bool read_numbers(dvx_vm *vm, execution *x, const dvx_value *v) {
    fused *site = x->site;
    for (uint32_t i = 0; i < x->program->leaf_count; i++) {
        const nd_leaf *leaf = &x->program->leaves[i];
        if (leaf->kind == ND_LEAF_ARRAY || leaf->kind == ND_LEAF_NONE) continue;
        char *element = leaf->constant ? site->elements[i] : x->elements[i];
        if (!(leaf->constant && site->read) && !read_number(vm, leaf, v[i], element))
            return refused(x, "a number has no element of the dtype, or is a nan that bounds");
        x->at.data[i] = element;
        x->at.strides[i] = 0;
    }
    return site->read = true;
}

/* ---- Targets ---- */

/* False: nothing can be stored there, or it is not for here. */
static bool find_target(dvx_vm *vm, execution *x, const dvx_value *v) {
    fused *site = x->site;
    const int into = site->into;
    nd_array *a = vm->api->payload(vm, v[into], &array_type);
    if (!a || a->read_only || a->ndim == 0)
        return refused(x, "what is stored to is no array with dimensions that may be written");
    x->target = a;
    if (site->parts >> into & 1 && !(x->target = find_part(vm, x, (uint32_t)into, a))) return false;
    if (x->program->into != a->dtype) x->program->planned = false;
    x->program->into = a->dtype;
    return true;
}

static bool is_apart(const execution *x) {
    for (uint32_t i = 0; i < x->program->leaf_count; i++)
        if (x->arrays[i] && !store_is_apart(x->target, x->arrays[i])) return false;
    return true;
}

/* Does the shape of the walk fit the target?  Its elements one by one, if *exact. */
static bool fits_target(const execution *x, const nd_walk *walk, bool *exact) {
    const nd_array *to = x->target;
    const int shift = to->ndim - walk->ndim;
    *exact = shift == 0;
    if (shift < 0) return false;
    for (int k = 0; k < walk->ndim; k++) {
        const int64_t count = to->axes[k + shift].count;
        if (walk->shape[k] != count) *exact = false;
        if (walk->shape[k] != count && walk->shape[k] != 1) return false;
    }
    return *exact || x->site->stores; /* in place, the target is among the operands */
}

/* Tells of the flags, of each operation at its place.  False: raised. */
static bool tell(dvx_vm *vm, const execution *x) {
    const nd_program *p = x->program;
    for (uint32_t k = 0; k < p->step_count; k++) {
        if (!x->at.flags[k]) continue;
        vm->api->at_node(vm, x->site, p->steps[k].site);
        if (!error_flags(vm, loops_facts[p->steps[k].number].name, x->at.flags[k])) return false;
    }
    return true;
}

/* ---- Shapes ---- */

/* Do its axes fall from the outermost stride to the innermost?  (ufunc.c: make_out.) */
static bool is_falling(const nd_array *a) {
    int64_t last = INT64_MAX;
    for (int i = 0; i < a->ndim; i++) {
        const int64_t stride = llabs(a->axes[i].stride);
        if (a->axes[i].count == 1 || stride == 0) continue;
        if (stride > last) return false;
        last = stride;
    }
    return true;
}

/* The shape of the result, as a walk over the arrays and it; false: there is none, or the result
 * would not be in C order. */
static bool broadcast(execution *x, nd_walk *walk) {
    walk->operands = walk->ndim = 0;
    for (uint32_t i = 0; i < x->program->leaf_count; i++) {
        const nd_array *a = x->arrays[i];
        if (!a) continue;
        if (!x->target && !(a->flags & ND_C_CONTIGUOUS) && !is_falling(a))
            return refused(x, "an operand is not laid out in C order");
        if (a->ndim > walk->ndim) walk->ndim = a->ndim;
    }
    for (int k = 0; k < walk->ndim; k++) walk->shape[k] = 1;
    for (uint32_t i = 0; i < x->program->leaf_count; i++) {
        const nd_array *a = x->arrays[i];
        if (!a) continue;
        const int shift = walk->ndim - a->ndim;
        for (int k = 0; k < a->ndim; k++) {
            const int64_t n = a->axes[k].count;
            if (n == 1 || n == walk->shape[k + shift]) continue;
            if (walk->shape[k + shift] != 1) return refused(x, "shapes do not fit");
            walk->shape[k + shift] = n;
        }
    }
    return true;
}

/* Have all operands no elements?  Else some operation may have a flag for some, which nothing is
 * left of in the end. */
static bool is_empty(const execution *x) {
    for (uint32_t i = 0; i < x->program->leaf_count; i++)
        if (x->arrays[i] && x->arrays[i]->size) return false;
    return true;
}

/* ---- Running ---- */

static dvx_outcome give_up_flags(dvx_vm *vm, execution *x) {
    (void)refused(x, "a floating point flag is up, which an operation tells of");
    return give_up(vm, x);
}

/* Are some of these flags told of (np.seterr)? */
static bool is_heeded(dvx_vm *vm, unsigned flags) { return flags && error_heeds(vm, flags); }

static void set_data(execution *x, char *const *data) {
    int operand = 0;
    for (uint32_t i = 0; i < x->program->leaf_count; i++)
        if (x->arrays[i]) x->at.data[i] = data[operand++];
    x->at.data[ND_OUT] = data[operand];
}

static void set_strides(execution *x, const int64_t (*strides)[ND_MOST], int axis) {
    int operand = 0;
    for (uint32_t i = 0; i < x->program->leaf_count; i++)
        if (x->arrays[i]) x->at.strides[i] = axis < 0 ? 0 : strides[operand++][axis];
    x->at.strides[ND_OUT] = axis < 0 ? 0 : strides[operand][axis];
    program_place(x->program, &x->at);
}

static bool run_row(dvx_vm *vm, void *context, char *const *data, int64_t count,
                    const int64_t *strides) {
    execution *x = context;
    (void)strides;
    set_data(x, data);
    x->flags = program_run(x->program, &x->at, count);
    return x->direct || !is_heeded(vm, x->flags);
}

/* How far apart the rows of the last two axes are, if they are so in all arrays that are read, and
 * it pays to compute what lies between them, too: then a loop's beginning is paid once for many
 * rows.  (What lies between two rows of an array is in the array's memory.)  0: they are not. */
static int64_t pitch_of(const execution *x, const nd_walk *walk) {
    const int last = walk->ndim - 1;
    int64_t pitch = 0;
    int operand = 0;
    if (last < 1 || x->program->step_count < LEAST_STEPS) return 0;
    for (uint32_t i = 0; i < x->program->leaf_count; i++) {
        if (!x->arrays[i]) continue;
        const int64_t size = x->arrays[i]->dtype->size;
        const int64_t stride = walk->strides[operand][last], far = walk->strides[operand][last - 1];
        operand++;
        if (stride == 0 && far == 0) continue;
        if (stride != size || far < size || far % size || (pitch && far / size != pitch)) return 0;
        pitch = far / size;
    }
    const int64_t columns = walk->shape[last], between = pitch - columns;
    const bool pays = between >= 0 && between <= columns / 4 + MOST_BETWEEN;
    return pays && pitch + columns <= x->most ? pitch : 0;
}

/* All rows of the last two axes; `count` is that of rows, `strides` what is between them. */
static bool run_rows(dvx_vm *vm, void *context, char *const *data, int64_t count,
                     const int64_t *strides) {
    execution *x = context;
    nd_rows *rows = &x->rows;
    char *at[ND_LEAVES + 1];
    const int operands = x->operand_count;
    const int64_t group = (x->most - rows->columns) / rows->pitch + 1;
    for (int k = 0; k < operands; k++) at[k] = data[k];
    rows->out_pitch = strides[operands - 1];
    for (int64_t left = count; left > 0; left -= rows->count) {
        rows->count = left < group ? left : group;
        set_data(x, at);
        x->flags = 0;
        const bool together =
            x->wasted < MOST_WASTED && program_rows(x->program, &x->at, rows, &x->flags);
        x->wasted += !together;
        for (int64_t r = 0; r < rows->count; r++) {
            if (!together) {
                set_data(x, at);
                x->flags |= program_run(x->program, &x->at, rows->columns);
            }
            for (int k = 0; k < operands; k++) at[k] += strides[k];
        }
        if (!x->direct && is_heeded(vm, x->flags)) return false;
        if (!nd_work(vm, rows->count * rows->pitch)) return false;
    }
    return true;
}

/* Short rows, collected into longer ones. */
static bool run_parcel(dvx_vm *vm, void *context, char *const *data, int64_t count,
                       const int64_t *strides) {
    execution *x = context;
    int operand = 0;
    for (uint32_t i = 0; i < x->program->leaf_count; i++)
        if (x->arrays[i]) x->at.strides[i] = strides[operand++];
    x->at.strides[ND_OUT] = strides[operand];
    program_place(x->program, &x->at);
    return run_row(vm, context, data, count, strides);
}

static dvx_outcome run_collected(dvx_vm *vm, execution *x, const nd_walk *walk,
                                 const nd_array *out) {
    int64_t sizes[ND_LEAVES + 1];
    int operand = 0;
    for (uint32_t i = 0; i < x->program->leaf_count; i++)
        if (x->arrays[i]) sizes[operand++] = x->arrays[i]->dtype->size;
    sizes[operand] = out->dtype->size;
    if (collect_run(vm, walk, sizes, run_parcel, x)) return DVX_DONE;
    return !x->direct && is_heeded(vm, x->flags) ? give_up_flags(vm, x) : DVX_ERROR;
}

/* `from`: the indices of the walk's first elements; NULL: it is over all. */
static dvx_outcome run_walk(dvx_vm *vm, execution *x, nd_walk *walk, const int64_t *from,
                            nd_array *out) {
    for (uint32_t i = 0; i < x->program->leaf_count; i++) {
        if (!x->arrays[i]) continue;
        char **data = &walk->data[walk->operands];
        int64_t *strides = walk->strides[walk->operands++];
        array_strides_in(x->arrays[i], walk->ndim, strides);
        *data = x->arrays[i]->data;
        for (int k = 0; from && k < walk->ndim; k++) *data += from[k] * strides[k];
    }
    walk->data[walk->operands] = out->data;
    array_strides_in(out, walk->ndim, walk->strides[walk->operands++]);
    walk_plan(walk, 0, true);
    set_strides(x, walk->strides, walk->ndim - 1);
    x->rows.pitch = pitch_of(x, walk);
    if (x->rows.pitch) {
        x->rows.columns = walk->shape[--walk->ndim];
        x->operand_count = walk->operands;
        x->wasted = 0;
    }
    x->flags = 0;
    if (!x->rows.pitch && collect_pays(walk)) return run_collected(vm, x, walk, out);
    if (walk_run(vm, walk, x->rows.pitch ? run_rows : run_row, x)) return DVX_DONE;
    return !x->direct && is_heeded(vm, x->flags) ? give_up_flags(vm, x) : DVX_ERROR;
}

/* Elements that lie in a row each, of any stride. */
static dvx_outcome run_flat(dvx_vm *vm, execution *x, nd_array *out) {
    x->at.data[ND_OUT] = out->data;
    x->at.strides[ND_OUT] = pace_of(out);
    program_place(x->program, &x->at);
    const int64_t steps = x->program->step_count;
    for (int64_t left = out->size; left > 0; left -= POLL_ELEMENTS) {
        const unsigned flags =
            program_run(x->program, &x->at, left < POLL_ELEMENTS ? left : POLL_ELEMENTS);
        if (UNLIKELY(flags) && !x->direct && is_heeded(vm, flags)) return give_up_flags(vm, x);
        if (!nd_work(vm, steps * (left < POLL_ELEMENTS ? left : POLL_ELEMENTS) / 4))
            return DVX_ERROR;
    }
    return DVX_DONE;
}

/* What an expression that stores, or computes in place, leaves. */
static dvx_value result_of(dvx_vm *vm, const execution *x) {
    if (x->site->stores) return vm->api->make_none(vm);
    return vm->api->retain(vm, dvx_failed(x->view) ? x->operands[x->site->into] : x->view);
}

/* The view that out= is given as. */
static bool make_view(dvx_vm *vm, execution *x) {
    const int into = x->site->into;
    const nd_array *part = &x->parts[into];
    nd_array *made;
    x->view = DVX_FAILED;
    if (!x->site->has_out || !(x->site->parts >> into & 1)) return true;
    x->view =
        array_view(vm, x->operands[into], vm->api->payload(vm, x->operands[into], &array_type),
                   part->data, part->ndim, part->axes, &made);
    return !dvx_failed(x->view);
}

static dvx_outcome compute_directly(dvx_vm *vm, execution *x, nd_walk *walk, dvx_value *result) {
    if (arith_flags()) arith_clear();
    memset(x->at.flags, 0, x->program->step_count * sizeof *x->at.flags);
    const dvx_outcome outcome =
        walk ? run_walk(vm, x, walk, NULL, x->target) : run_flat(vm, x, x->target);
    if (outcome != DVX_DONE) return outcome;
    if (!tell(vm, x)) return DVX_ERROR;
    *result = result_of(vm, x);
    return DVX_DONE;
}

/* The new array goes to the target.  (Memory may run out, where the two overlap.) */
static dvx_outcome assign(dvx_vm *vm, const execution *x, const nd_array *from, dvx_value *result) {
    vm->api->at_node(vm, x->site, x->site->last);
    const bool good = array_assign(vm, x->target, from);
    vm->api->release(vm, *result);
    *result = good ? result_of(vm, x) : DVX_FAILED;
    return good ? DVX_DONE : DVX_ERROR;
}

/* ---- Reductions ---- */

/* Elements: in the first-level cache, and enough for what a part costs; where lines are longer and
 * walks cost nothing, what the memory is at in between. */
enum { PART = 2048, PART_OF_LINE = 512 };

/* The expression's elements in C order, a part of them at a time: up to `most` indices of the axis
 * `by`, with all that is behind it.  Of the axis that is reduced there are `lines` indices, with
 * `inner` elements behind each. */
typedef struct along {
    const nd_walk *walk; /* the expression's shape */
    const nd_kernel *kernel;
    nd_array part; /* memory for one, and its shape */
    dvx_axis axes[ND_MOST];
    char *out;
    bool identity;  /* the result has it already */
    unsigned flags; /* of the reduction */
    int by;
    int64_t limit, most, behind, lines, inner, size;
} along;

static size_t choose_part(along *l) {
    const nd_walk *walk = l->walk;
    l->by = walk->ndim - 1;
    for (l->behind = 1; l->by > 0 && l->behind * walk->shape[l->by] <= l->limit;)
        l->behind *= walk->shape[l->by--];
    l->most = l->limit / l->behind;
    if (l->most > walk->shape[l->by]) l->most = walk->shape[l->by];
    return (size_t)(l->most * l->behind * l->size);
}

/* Rows of `width` elements, the first one number `i` of the axis, onto one. */
static void fold_lines(const along *l, char *to, const char *from, int64_t i, int64_t rows,
                       int64_t width) {
    const int64_t bytes = width * l->size;
    if (i == 0 && !l->identity) {
        memcpy(to, from, (size_t)bytes);
        from += bytes;
        rows--;
    }
    if (l->inner > 1)
        l->kernel->rows(to, from, width, rows, bytes);
    else if (rows)
        l->kernel->fold(to, from, rows, l->size);
}

/* The part of `count` elements from number `done` on. */
static void fold_part(const along *l, int64_t done, int64_t count) {
    const int64_t whole = l->lines * l->inner, i = done / l->inner % l->lines;
    const char *from = l->part.data;
    char *to = l->out + (done / whole * l->inner + done % l->inner) * l->size;
    const int64_t width = count < l->inner ? count : l->inner;
    const int64_t rows = count < whole ? count / width : l->lines;
    for (; count > 0; count -= rows * width, from += rows * width * l->size, to += width * l->size)
        fold_lines(l, to, from, i, rows, width);
}

/* Where operands are broadcast, or lie otherwise. */
static dvx_outcome walk_part(dvx_vm *vm, execution *x, along *l, int64_t done, int64_t count) {
    nd_walk of;
    int64_t from[ND_MOST], stride = l->size;
    of.operands = 0;
    of.ndim = l->walk->ndim;
    for (int k = of.ndim - 1; k >= 0; k--) {
        const int64_t n = l->walk->shape[k];
        from[k] = done % n;
        done /= n;
        of.shape[k] = k < l->by ? 1 : k == l->by ? count / l->behind : n;
        l->axes[k] = (dvx_axis){of.shape[k], stride};
        stride *= of.shape[k];
    }
    return run_walk(vm, x, &of, from, &l->part);
}

/* Computes `count` elements from number `done` on. */
static dvx_outcome compute_part(dvx_vm *vm, execution *x, along *l, int64_t done, int64_t count) {
    x->at.data[ND_OUT] = l->part.data;
    l->flags |= arith_flags();
    if (UNLIKELY(l->flags)) arith_clear();
    if (!x->flat) return walk_part(vm, x, l, done, count);
    x->flags = program_run(x->program, &x->at, count);
    if (is_heeded(vm, x->flags)) return give_up_flags(vm, x);
    return nd_quick_work(vm, count * x->program->step_count) ? DVX_DONE : DVX_ERROR;
}

/* In NumPy's order: a sum of more floats than a part has is that of its halves (loops.mako). */
static dvx_outcome add_to(dvx_vm *vm, execution *x, along *l, int64_t done, int64_t n, char *to);

static dvx_outcome add_halves(dvx_vm *vm, execution *x, along *l, int64_t done, int64_t n,
                              char *sum) {
    static const double zero = -0.0;
    dvx_outcome outcome;
    if (n <= l->limit) {
        cast_between(ND_DTYPE(ND_FLOAT64), l->part.dtype)(sum, 0, (const char *)&zero, 0, 1);
        outcome = compute_part(vm, x, l, done, n);
        if (outcome == DVX_DONE) l->kernel->fold(sum, l->part.data, n, l->size);
        return outcome;
    }
    const int64_t half = n / 2 - n / 2 % 8;
    outcome = add_halves(vm, x, l, done, half, sum);
    return outcome == DVX_DONE ? add_to(vm, x, l, done + half, n - half, sum) : outcome;
}

static dvx_outcome add_to(dvx_vm *vm, execution *x, along *l, int64_t done, int64_t n, char *to) {
    _Alignas(8) char sum[sizeof(double)];
    char *args[3] = {to, sum, to};
    static const int64_t none[3] = {0, 0, 0};
    const dvx_outcome outcome = add_halves(vm, x, l, done, n, sum);
    if (outcome == DVX_DONE) l->kernel->loop(args, 1, none);
    return outcome;
}

/* Each part is computed, and reduced while it is in the cache. */
static dvx_outcome reduce_parts(dvx_vm *vm, execution *x, along *l, int64_t size) {
    const nd_ufunc_number number = x->site->whole.number;
    const bool halves = number == ND_UFUNC_add && l->inner == 1 && l->lines > l->limit &&
                        type_is_inexact(l->part.dtype->num);
    for (int64_t done = 0, count; done < size; done += count) {
        const int64_t of = halves ? l->lines : l->walk->shape[l->by];
        const int64_t left = of - (halves ? done : done / l->behind) % of;
        const int64_t most = halves ? ND_PIECE : l->most;
        count = (left < most ? left : most) * (halves ? 1 : l->behind);
        const dvx_outcome outcome =
            halves ? add_to(vm, x, l, done, count, l->out + done / l->lines * l->size)
                   : compute_part(vm, x, l, done, count);
        if (outcome != DVX_DONE) return outcome;
        if (!halves) fold_part(l, done, count);
        l->flags |= arith_flags();
        if (loops_facts[number].warns && is_heeded(vm, l->flags)) return give_up_flags(vm, x);
    }
    return DVX_DONE;
}

/* In the program's buffers that are left, if they are large enough. */
static dvx_outcome compute_parts(dvx_vm *vm, execution *x, along *l, int64_t size) {
    const uint32_t used = x->program->buffer_count;
    const size_t bytes = choose_part(l);
    const bool fits = bytes <= (ND_BUFFERS - used) * x->buffer_bytes;
    l->part.data = fits ? x->at.data[ND_FIRST_BUFFER + used] : vm->api->allocate(vm, bytes);
    if (!l->part.data) return DVX_ERROR;
    const dvx_outcome outcome = reduce_parts(vm, x, l, size);
    if (!fits) vm->api->deallocate(vm, l->part.data, bytes);
    return outcome;
}

/* In which order extremes of floats are found is seen of nans and zeros. */
static bool shows_order(const along *l, nd_type type, int64_t count) {
    if (l->identity || !type_is_inexact(type) || l->inner > 1 || l->lines <= l->limit) return false;
    for (int64_t i = 0; i < count; i++) {
        const void *p = l->out + i * l->size;
        const double found = type == ND_FLOAT32 ? (double)*(const float *)p : *(const double *)p;
        if (found != found || found == 0) return true;
    }
    return false;
}

/* Into l->out, `count` results. */
static dvx_outcome fold_all(dvx_vm *vm, execution *x, along *l, int64_t count) {
    const nd_whole *whole = &x->site->whole;
    const nd_dtype *dtype = l->part.dtype;
    const nd_cast cast = cast_between(ND_DTYPE(ND_INT64), dtype);
    _Alignas(8) char lines[sizeof(double)];
    char *args[3] = {l->out, lines, l->out};
    const int64_t strides[3] = {l->size, 0, l->size};
    if (l->identity) cast(l->out, l->size, (const char *)&whole->first, 0, count);
    x->at.strides[ND_OUT] = l->size;
    program_place(x->program, &x->at);
    if (arith_flags()) arith_clear();
    const dvx_outcome outcome = compute_parts(vm, x, l, count * l->lines);
    if (outcome != DVX_DONE) return outcome;
    x->why = "zeros or nans are extremes";
    if (shows_order(l, dtype->num, count)) return give_up(vm, x);
    if (!whole->mean) return DVX_DONE;
    cast(lines, 0, (const char *)&l->lines, 0, 1);
    ufunc_kernel(vm, ND_UFUNC_divide, dtype->num)->loop(args, count, strides);
    return is_heeded(vm, arith_flags()) ? give_up_flags(vm, x) : DVX_DONE;
}

/* `walk`: the expression's shape. */
static dvx_outcome compute_fold(dvx_vm *vm, execution *x, const nd_walk *walk, dvx_value *result) {
    const nd_dtype *dtype = x->program->result;
    _Alignas(8) char element[sizeof(double)];
    int64_t shape[ND_MOST], count = 1;
    nd_array *out = NULL;
    along l = {.kernel = ufunc_kernel(vm, x->site->whole.number, dtype->num),
               .walk = walk,
               .out = element,
               .identity = x->site->whole.identity,
               .lines = walk->shape[x->axis],
               .inner = 1,
               .size = dtype->size};
    for (int k = 0; k < walk->ndim - 1; k++) count *= shape[k] = walk->shape[k + (k >= x->axis)];
    for (int k = x->axis + 1; k < walk->ndim; k++) l.inner *= walk->shape[k];
    l.limit = x->flat && l.inner == 1 && l.lines > PART ? PART_OF_LINE : PART;
    if (walk->ndim > 1) {
        *result = array_new(vm, dtype, walk->ndim - 1, shape, &out);
        if (dvx_failed(*result)) return DVX_ERROR;
        l.out = out->data;
    }
    l.part.dtype = dtype;
    l.part.axes = l.axes;
    l.part.ndim = walk->ndim;
    const dvx_outcome outcome = fold_all(vm, x, &l, count);
    if (outcome == DVX_DONE && !out)
        return derive_outcome(array_element(vm, dtype, element), result);
    if (outcome == DVX_DONE) return outcome;
    vm->api->release(vm, *result);
    *result = DVX_FAILED;
    return outcome;
}

/* ---- Running it ---- */

static dvx_outcome compute(dvx_vm *vm, execution *x, nd_walk *walk, dvx_value *result) {
    const nd_dtype *dtype = x->target ? x->program->into : x->program->result;
    int64_t shape[ND_MOST];
    nd_array *out;
    if (x->axis >= 0) return compute_fold(vm, x, walk, result);
    if (x->direct) return compute_directly(vm, x, walk, result);
    if (x->turned) array_shape(x->first, shape);
    *result = walk        ? array_new(vm, dtype, walk->ndim, walk->shape, &out)
              : x->turned ? array_new_order(vm, dtype, x->first->ndim, shape, true, &out)
                          : array_new_like(vm, dtype, x->first, &out);
    if (UNLIKELY(dvx_failed(*result))) return DVX_ERROR;
    if (arith_flags()) arith_clear();
    const dvx_outcome outcome = walk ? run_walk(vm, x, walk, NULL, out) : run_flat(vm, x, out);
    if (LIKELY(outcome == DVX_DONE)) return x->target ? assign(vm, x, out, result) : outcome;
    vm->api->release(vm, *result);
    *result = DVX_FAILED;
    return outcome;
}

static void place_buffers(execution *x, char *memory, size_t bytes) {
    x->buffer_bytes = bytes;
    for (uint32_t i = 0; i < ND_BUFFERS; i++) x->at.data[ND_FIRST_BUFFER + i] = memory + i * bytes;
}

/* The buffers of large arrays are kept; while code of a program runs (a signal's handler, within a
 * poll), somebody else may need some, too. */
static dvx_outcome compute_large(dvx_vm *vm, execution *x, nd_walk *walk, dvx_value *result) {
    nd_state *state = nd_state_of(vm);
    const size_t size = BUFFERS_BYTES;
    char *memory = state->buffers;
    state->buffers = NULL;
    if (!memory) memory = vm->api->allocate(vm, size);
    if (!memory) return DVX_ERROR;
    char *page = memory + (-(uintptr_t)memory & (PAGE_BYTES - 1));
    place_buffers(x, page + BEHIND_PAGE, LARGE_BYTES);
    const dvx_outcome outcome = compute(vm, x, walk, result);
    if (state->buffers) vm->api->deallocate(vm, state->buffers, size);
    state->buffers = memory;
    return outcome;
}

static dvx_outcome compute_small(dvx_vm *vm, execution *x, nd_walk *walk, dvx_value *result) {
    _Alignas(64) char memory[ND_BUFFERS * SMALL_BYTES];
    place_buffers(x, memory, SMALL_BYTES);
    return compute(vm, x, walk, result);
}

/* `walk` NULL: all elements lie in a row each. */
static inline dvx_outcome compute_size(dvx_vm *vm, execution *x, int64_t size, nd_walk *walk,
                                       dvx_value *result) {
    const bool small = (size_t)size <= SMALL_BYTES / sizeof(nd_complex);
    x->site->running = true;
    x->most = small ? SMALL_BYTES / (int64_t)sizeof(nd_complex) : x->program->block;
    const dvx_outcome outcome =
        small ? compute_small(vm, x, walk, result) : compute_large(vm, x, walk, result);
    x->site->running = false;
    return outcome;
}

static dvx_outcome run_other(dvx_vm *vm, execution *x, dvx_value *result) {
    nd_walk walk;
    int64_t size;
    bool exact = false;
    if (!broadcast(x, &walk)) return give_up(vm, x);
    if (!array_count(walk.ndim, walk.shape, &size) || (size == 0 && !is_empty(x))) {
        (void)refused(x, "the result has no elements, or too many");
        return give_up(vm, x);
    }
    if (x->target && !fits_target(x, &walk, &exact)) {
        (void)refused(x, "the result has not the shape of what it is stored to");
        return give_up(vm, x);
    }
    x->direct &= exact;
    return compute_size(vm, x, size, &walk, result);
}

/* ---- Few elements ---- */

/* So often in a row, and nothing is kept until there is another plan. */
enum { MOST_WASTE = 64 };

/* May the result be kept, and is it worth it?  All buffers of so few elements have ND_INLINE bytes,
 * too. */
static bool is_to_keep(const execution *x) {
    const nd_program *p = x->program;
    if (!x->flat || x->site->parts || x->first->ndim > ND_FEW ||
        x->first->size > p->block * ND_INLINE / ND_BLOCK_BYTES)
        return false;
    for (uint32_t k = 0; k < p->step_count; k++)
        if (!p->steps[k].loop) return false;
    for (uint32_t i = 0; i < p->leaf_count; i++)
        if (x->arrays[i] && !(x->arrays[i]->flags & ND_C_CONTIGUOUS)) return false;
    return true;
}

/* The older one goes. */
static void keep(dvx_vm *vm, fused *f, dvx_value made) {
    if (f->waste >= MOST_WASTE) {
        release_kept(vm, f);
        return;
    }
    f->waste++;
    dvx_value old = f->kept[0];
    memmove(f->kept, f->kept + 1, (ELEMENTS_KEPT - 1) * sizeof *f->kept);
    f->kept[ELEMENTS_KEPT - 1] = vm->api->retain(vm, made);
    vm->api->release(vm, old);
}

static inline bool is_row_like(const nd_array *a, const nd_array *like) {
    if (!elements_is_row(a)) return false;
    return a->ndim == 1 && like->ndim == 1 ? a->size == like->size : elements_same_shape(a, like);
}

/* A kept result that nobody else has, of this shape; NULL: none. */
static inline nd_array *kept_like(dvx_vm *vm, const fused *f, const nd_array *like, dvx_value *of) {
    bool free = false;
    for (int i = ELEMENTS_KEPT; i-- > 0;) {
        const dvx_value kept = f->kept[i];
        if (dvx_failed(kept) || !vm->api->is_unique(vm, kept)) continue;
        free = true;
        nd_array *a = vm->api->payload(vm, kept, &array_type);
        if (a->read_only || a->exports || !is_row_like(a, like)) continue;
        *of = kept;
        return a;
    }
    vm->api->count(vm, f, free ? KEPT_SHAPED : KEPT_OWNED);
    return NULL;
}

/* Into a kept result, with the steps of the plan one after the other: what costs time with so few
 * elements is everything else.  False, before any effect: it is not for here, or some flag is up.
 */
static bool run_few(dvx_vm *vm, fused *f, const dvx_value *v, dvx_value *result) {
    const nd_program *p = &f->program;
    const nd_array *first = NULL;
    char *data[ND_PLACES];
    _Alignas(16) char numbers[ND_LEAVES][sizeof(nd_complex)], buffers[ND_BUFFERS][ND_INLINE];
    for (uint32_t i = 0; i < p->leaf_count; i++) {
        const nd_leaf *leaf = &p->leaves[i];
        if (leaf->kind == ND_LEAF_NONE) continue;
        if (leaf->kind != ND_LEAF_ARRAY) {
            data[i] = leaf->constant ? f->elements[i] : numbers[i];
            if (!leaf->constant && !read_number(vm, leaf, v[i], numbers[i])) return false;
            continue;
        }
        const nd_array *a = vm->api->payload(vm, v[i], &array_type);
        if (!a || a->dtype->num != leaf->type || !is_row_like(a, first ? first : a)) return false;
        first = a;
        data[i] = a->data;
    }
    nd_array *out = kept_like(vm, f, first, result);
    if (!out) return false;
    data[ND_OUT] = out->data;
    for (uint32_t i = 0; i < p->buffer_count; i++) data[ND_FIRST_BUFFER + i] = buffers[i];
    const nd_step *const end = p->steps + p->step_count;
    for (const nd_step *step = p->steps; step < end; step++) {
        char *args[] = {data[step->places[0]], data[step->places[1]], data[step->places[2]],
                        data[step->places[3]]};
        step->loop(args, out->size, step->in_rows);
    }
    if (f->counts && UNLIKELY(arith_flags())) return false;
    f->waste = 0;
    vm->api->count(vm, f, KEPT_AGAIN);
    vm->api->retain(vm, *result);
    return true;
}

/* ---- Whole expressions ---- */

static __attribute__((noinline)) dvx_outcome run_many(dvx_vm *vm, const dvx_value *v, fused *site,
                                                      dvx_value *result) {
    execution x;
    prepare(&x, site, v);
    if (is_running(&x) || !look(vm, &x, v) || !read_numbers(vm, &x, v)) return give_up(vm, &x);
    if (!x.flat) return run_other(vm, &x, result);
    const dvx_outcome outcome = compute_size(vm, &x, x.first->size, NULL, result);
    if (outcome == DVX_DONE && is_to_keep(&x)) keep(vm, site, *result);
    return outcome;
}

static dvx_outcome run(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    fused *site = cache;
    if (!dvx_failed(site->kept[ELEMENTS_KEPT - 1]) && run_few(vm, site, v, result)) return DVX_DONE;
    *result = DVX_FAILED;
    return run_many(vm, v, site, result);
}

/* By way of an array in between. */
static dvx_outcome fold_array(dvx_vm *vm, execution *x, dvx_value *result) {
    const nd_whole *whole = &x->site->whole;
    dvx_value array = DVX_FAILED;
    x->axis = -1;
    const dvx_outcome outcome = run_other(vm, x, &array);
    if (outcome != DVX_DONE) return outcome;
    vm->api->at_node(vm, x->site, x->site->last);
    const dvx_value given[2] = {array, x->operands[x->site->axis]};
    const dvx_outcome folded = derive_call(vm, whole->method, given, 1 + whole->along, result);
    vm->api->release(vm, array);
    return folded;
}

/* Which axis it is; false: there is none.  (All elements are a single one, if they lie in rows.) */
static bool find_axis(dvx_vm *vm, execution *x, nd_walk *walk, int64_t *size) {
    const fused *site = x->site;
    int64_t axis = 0;
    if (!site->whole.along) {
        walk->ndim = 1;
        walk->shape[0] = *size = x->first->size;
        x->axis = 0;
        return x->flat && *size;
    }
    if (!derive_is_int(vm, x->operands[site->axis]) ||
        !vm->api->read_int(vm, x->operands[site->axis], &axis))
        return vm->api->clear_error(vm), false;
    if (axis < 0) axis += walk->ndim;
    x->axis = (int)axis;
    return axis >= 0 && axis < walk->ndim && array_count(walk->ndim, walk->shape, size) && *size;
}

/* What a method makes of all elements, or along an axis, in parts: where it computes with these
 * elements as they are. */
static dvx_outcome run_fold(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    execution x;
    nd_walk walk;
    int64_t size;
    prepare(&x, cache, v);
    if (is_running(&x) || !look(vm, &x, v) || !read_numbers(vm, &x, v)) return give_up(vm, &x);
    const nd_whole *whole = &x.site->whole;
    const nd_type type = x.program->result->num;
    if (whole->along && !broadcast(&x, &walk)) return give_up(vm, &x);
    const bool as_they_are =
        type == ND_FLOAT64 || type == ND_FLOAT32 || (type == ND_INT64 && !whole->mean);
    if (!as_they_are || !find_axis(vm, &x, &walk, &size)) return fold_array(vm, &x, result);
    return compute_size(vm, &x, size, &walk, result);
}

/* Else by way of an array in between. */
static bool can_go_directly(dvx_vm *vm, const execution *x) {
    const char *why = NULL;
    if (x->program->inexact)
        why = "flags may have no reason: by way of an array in between";
    else if (!is_apart(x))
        why = "the target overlaps what is read: by way of an array in between";
    else if (error_raises(vm))
        why = "np.seterr says raise: by way of an array in between";
    if (why) vm->api->note(vm, x->site, why);
    return !why;
}

static dvx_outcome compute_into(dvx_vm *vm, execution *x, dvx_value *result) {
    const bool lies = x->turned ? x->target->flags & ND_F_CONTIGUOUS : is_flat(x->target);
    if (x->flat && lies && array_same_shape(x->target, x->first))
        return compute_size(vm, x, x->first->size, NULL, result);
    return run_other(vm, x, result);
}

/* Stores, expressions in place, and with an output. */
static dvx_outcome run_into(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    execution x;
    prepare(&x, cache, v);
    if (is_running(&x) || !find_target(vm, &x, v) || !look(vm, &x, v) || !read_numbers(vm, &x, v))
        return give_up(vm, &x);
    x.direct = can_go_directly(vm, &x);
    if (!make_view(vm, &x)) return DVX_ERROR;
    const dvx_outcome outcome = compute_into(vm, &x, result);
    vm->api->release(vm, x.view);
    return outcome;
}

/* ---- The hook ---- */

static void release(dvx_vm *vm, void *cache) { release_kept(vm, cache); }

/* By what the last site is, and the number of operands. */
#define FUSED(n, site, title, function, type)                                                \
    {                                                                                        \
        .size = sizeof(dvx_specialisation), .where = DVX_HERE, .name = title,                \
        .family = DVX_SITE_##site, .count = n, .run = function, .cache_size = sizeof(fused), \
        .result_type = type, .release = release,                                             \
    }
#define FUSED_FOUR(n, ...)                                                       \
    FUSED(n, __VA_ARGS__), FUSED(n + 1, __VA_ARGS__), FUSED(n + 2, __VA_ARGS__), \
        FUSED(n + 3, __VA_ARGS__)
#define FUSED_ALL(...)                                                                       \
    {                                                                                        \
        FUSED_FOUR(0, __VA_ARGS__), FUSED_FOUR(4, __VA_ARGS__), FUSED_FOUR(8, __VA_ARGS__),  \
            FUSED_FOUR(12, __VA_ARGS__), FUSED_FOUR(16, __VA_ARGS__), FUSED(20, __VA_ARGS__) \
    }
_Static_assert(DVX_MOST_OPERANDS == 20, "one for each number of operands");
static const dvx_specialisation descriptors[][DVX_MOST_OPERANDS + 1] = {
    [DVX_SITE_BINARY] = FUSED_ALL(BINARY, "FUSED_EXPRESSION", run, &array_type),
    [DVX_SITE_UNARY] = FUSED_ALL(UNARY, "FUSED_EXPRESSION", run, &array_type),
    [DVX_SITE_COMPARE] = FUSED_ALL(COMPARE, "FUSED_EXPRESSION", run, &array_type),
    [DVX_SITE_CALL] = FUSED_ALL(CALL, "FUSED_EXPRESSION", run, &array_type),
    [DVX_SITE_INPLACE] = FUSED_ALL(INPLACE, "FUSED_INPLACE", run_into, &array_type),
    [DVX_SITE_SET_ITEM] = FUSED_ALL(SET_ITEM, "FUSED_STORE", run_into, NULL),
    [DVX_SITE_METHOD] = FUSED_ALL(METHOD, "FUSED_EXPRESSION", run, &array_type)};
static const dvx_specialisation of_out[DVX_MOST_OPERANDS + 1] =
    FUSED_ALL(CALL, "FUSED_OUT", run_into, &array_type);
static const dvx_specialisation of_fold[][DVX_MOST_OPERANDS + 1] = {
    FUSED_ALL(METHOD, "FUSED_REDUCTION", run_fold, NULL),
    FUSED_ALL(CALL, "FUSED_REDUCTION", run_fold, NULL)};

/* What the nodes of an expression are for the program: leaves i, and results ~i. */
typedef struct reading {
    const dvx_expression *x;
    fused *f;
    const char *reason; /* why it is not for here; NULL: there is nothing to fuse */
    int8_t inputs[ND_NODES];
} reading;

static bool refuse(reading *r, const char *reason) {
    r->reason = reason;
    return false;
}

static int8_t input_of(const reading *r, int32_t input) {
    return input < 0 ? r->inputs[~input] : (int8_t)input;
}

/* The ufunc of a node; -1: it is none, or has other arguments. */
static int ufunc_of(dvx_vm *vm, const reading *r, uint32_t i) {
    const dvx_node *node = &r->x->nodes[i];
    int number = operators_ufunc(node->family, node->operation);
    if (node->family == DVX_SITE_CALL) {
        const nd_ufunc_object *u = vm->api->payload(vm, node->name, &ufunc_object_type);
        if (u) number = (int)ufunc_number_of(u);
    }
    const bool has_out = r->f->has_out && i == r->f->last;
    return number >= 0 && loops_facts[number].inputs + has_out == (int)node->count ? number : -1;
}

/* The operand is meant with the node's key: its name, or operand `at`. */
static bool take_part(dvx_vm *vm, reading *r, int32_t operand, const dvx_node *node, int32_t at) {
    const bool varies = dvx_failed(node->name);
    fused *f = r->f;
    if (operand < 0 || r->x->operands[operand].type != &array_type || (varies && at < 0))
        return refuse(r, "a subscript is of what an operation has made, or its key is");
    key *k = &f->places[operand].key;
    f->places[operand].dtype = NULL;
    if (varies ? r->x->operands[at].type || derive_is_element(node->derivative)
               : !key_read(vm, node->name, k) || k->ints)
        return refuse(r, "a subscript makes no view of slices");
    f->keys[operand] = varies ? (int8_t)at : -1;
    if (varies) f->program.leaves[at].kind = ND_LEAF_NONE;
    f->parts |= 1u << operand;
    return true;
}

/* A node of the program, and its result. */
static bool add_node(reading *r, uint32_t i, uint8_t number, const int8_t *inputs) {
    nd_program *p = &r->f->program;
    if (p->node_count == ND_NODES) return refuse(r, "it has too many operations");
    nd_node *to = &p->nodes[p->node_count];
    *to = (nd_node){
        .number = number, .site = (uint8_t)i, .called = r->x->nodes[i].family >= DVX_SITE_CALL};
    memcpy(to->inputs, inputs, sizeof to->inputs);
    r->inputs[i] = (int8_t)~p->node_count++;
    return true;
}

/* An array is clipped by the bounds that are not None, one after the other. */
static bool read_clip(dvx_vm *vm, reading *r, uint32_t i, const int8_t *inputs) {
    static const uint8_t numbers[] = {0, ND_UFUNC_maximum, ND_UFUNC_minimum};
    r->inputs[i] = inputs[0];
    for (int k = 1; k < 3; k++) {
        const int8_t bound = inputs[k];
        nd_leaf *leaf = bound < 0 ? NULL : &r->f->program.leaves[bound];
        const dvx_value v = leaf ? r->x->operands[bound].value : DVX_FAILED;
        if (leaf) leaf->bound = true;
        if (!dvx_failed(v) && vm->api->kind(vm, v) == DVX_NONE)
            leaf->kind = ND_LEAF_NONE;
        else if (!add_node(r, i, numbers[k], (const int8_t[]){r->inputs[i], bound, 0}))
            return false;
    }
    return r->inputs[i] != inputs[0] || refuse(r, "nothing is clipped");
}

/* A subscript becomes its leaf, everything else a node of the program. */
static bool read_node(dvx_vm *vm, reading *r, uint32_t i) {
    const dvx_node *from = &r->x->nodes[i];
    const nd_three three = derive_three(from->derivative);
    int8_t inputs[3] = {0};
    if (from->family == DVX_SITE_GET_ITEM) {
        r->inputs[i] = (int8_t)from->inputs[0];
        return take_part(vm, r, from->inputs[0], from, from->inputs[1]);
    }
    const int number = three ? ND_CHOICE : ufunc_of(vm, r, i);
    if (number < 0) return refuse(r, "it has an operation that is not element by element");
    for (int k = 0; k < program_inputs(number); k++) inputs[k] = input_of(r, from->inputs[k]);
    return three == ND_CLIP ? read_clip(vm, r, i, inputs) : add_node(r, i, (uint8_t)number, inputs);
}

/* Is it a number that is always the same? */
static bool read_constant(dvx_vm *vm, const dvx_operand *o, double *number) {
    if (o->origin != DVX_FROM_CONSTANT) return false;
    const dvx_kind kind = vm->api->kind(vm, o->value);
    if (kind != DVX_FLOAT && kind != DVX_INT) return false;
    if (vm->api->read_float(vm, o->value, number)) return true;
    vm->api->clear_error(vm);
    return false;
}

/* A call with an output: it is an operand, or a part of one that is a node in front of the call. */
static bool read_out(dvx_vm *vm, reading *r, const dvx_node *last) {
    const dvx_expression *x = r->x;
    fused *f = r->f;
    const nd_ufunc_object *u = vm->api->payload(vm, last->name, &ufunc_object_type);
    if (!u || loops_facts[u->number].inputs + 1 != (int)last->count) return u != NULL;
    int32_t into = last->count == 3 ? x->key : last->inputs[1];
    if (into < 0 && x->nodes[~into].family == DVX_SITE_GET_ITEM) into = x->nodes[~into].inputs[0];
    if (into < 0 || x->operands[into].type != &array_type)
        return refuse(r, "the output is no array, or one that an operation has made");
    f->has_out = true;
    f->into = (int8_t)into;
    f->program.casts_result = ND_CAST_SAME_KIND;
    f->program.leaves[into].kind = ND_LEAF_NONE;
    return true;
}

/* The last site, if it stores: where. */
static bool read_target(dvx_vm *vm, reading *r) {
    const dvx_expression *x = r->x;
    const dvx_node *last = &x->nodes[x->node_count - 1];
    fused *f = r->f;
    f->last = (uint8_t)(x->node_count - 1);
    f->into = -1;
    f->stores = last->family == DVX_SITE_SET_ITEM;
    f->folds = derive_whole(vm, last->derivative, &f->whole);
    if (f->folds && f->whole.along) {
        if (last->inputs[1] < 0) return refuse(r, "the axis is an array's");
        f->axis = (int8_t)last->inputs[1];
        f->program.leaves[f->axis].kind = ND_LEAF_NONE;
    }
    if (derive_three(last->derivative)) return true;
    if (last->family == DVX_SITE_CALL && !f->folds) return read_out(vm, r, last);
    if (last->family == DVX_SITE_METHOD && !f->folds)
        return refuse(r, "it has an operation that is not element by element");
    if (!f->stores && last->family != DVX_SITE_INPLACE) return true;
    const int32_t into = last->inputs[f->stores];
    if (into < 0 || x->operands[into].type != &array_type)
        return refuse(r, "what is stored to is no array, or one that an operation has made");
    f->into = (int8_t)into;
    if (!f->stores) return true;
    f->program.casts_result = ND_CAST_ANY;
    f->program.leaves[into].kind = ND_LEAF_NONE;
    if (last->inputs[0] != ~(int32_t)(x->node_count - 2))
        return refuse(r, "what is stored is not made directly in front of the store");
    return take_part(vm, r, into, last, x->key);
}

/* Nodes behind the program: a store, or a reduction. */
static uint32_t ends(const fused *f) { return f->stores || f->folds; }

static bool read_nodes(dvx_vm *vm, reading *r) {
    const dvx_expression *x = r->x;
    for (uint32_t i = 0; i < x->node_count - ends(r->f); i++) {
        const bool inner = i + 1 < x->node_count;
        if (inner && x->nodes[i].family == DVX_SITE_INPLACE)
            return refuse(r, "an operator in place is part of it");
        if (!read_node(vm, r, i)) return false;
    }
    return true;
}

/* Those that compute; what finds their operands and stores the result has no array in between. */
static uint32_t count_operations(const dvx_expression *x) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < x->node_count; i++)
        count += x->nodes[i].family <= DVX_SITE_COMPARE || x->nodes[i].family >= DVX_SITE_CALL;
    return count;
}

static bool read_tree(dvx_vm *vm, const dvx_expression *x, fused *f, const char **reason) {
    nd_program *p = &f->program;
    reading r = {.x = x, .f = f};
    memset(f, 0, offsetof(fused, places));
    for (int i = 0; i < ELEMENTS_KEPT; i++) f->kept[i] = DVX_FAILED;
    if (x->node_count > ND_NODES || x->operand_count > ND_LEAVES) {
        *reason = "it has more operands or operations than a program has room for";
        return false;
    }
    if (!read_target(vm, &r) || !read_nodes(vm, &r))
        return *reason = count_operations(x) > 1 ? r.reason : NULL, false;
    if (ends(f) && r.inputs[x->node_count - 2] >= 0) return false;
    /* (Of a single operation there is nothing in between, and its own site goes through the rows of
     * views in less time.) */
    if (p->node_count + ends(f) < 2) return false;
    p->leaf_count = (uint8_t)x->operand_count;
    for (uint32_t i = 0; i < x->operand_count; i++)
        p->leaves[i].constant = read_constant(vm, &x->operands[i], &p->leaves[i].number);
    return true;
}

/* What few elements cost, in ns: an operation by its native twin, another site, a store, and a
 * fused expression with its operations; one whose results are kept, as those of native twins are.
 * (Measured.) */
enum {
    NATIVE_COST = 17,
    SITE_COST = 50,
    STORE_COST = 140,
    FUSED_COST = 75,
    NODE_COST = 8,
    KEPT_COST = 34,
    KEPT_NODE_COST = 6
};

/* Are the operations one by one faster?  When there are more elements their derivatives miss, and
 * the hook is asked again. */
static bool is_too_small(dvx_vm *vm, const dvx_site *site, const dvx_expression *x,
                         const fused *f) {
    const nd_dtype *dtype = NULL;
    bool keeps =
        f->into < 0 && !f->folds && !f->parts; /* (What is cast on the way is not: is_to_keep.) */
    uint32_t alone = 0;
    for (uint32_t i = 0; i < site->count; i++) {
        const nd_array *a = vm->api->payload(vm, site->operands[i].value, &array_type);
        if (a && (uint64_t)a->size * a->dtype->size > ND_INLINE) return false;
    }
    for (uint32_t i = 0; i < x->operand_count; i++) {
        const nd_array *a = vm->api->payload(vm, x->operands[i].value, &array_type);
        if (!a) continue;
        if (dtype && a->dtype != dtype) keeps = false;
        dtype = a->dtype;
    }
    for (uint32_t i = 0; i < x->node_count; i++)
        alone += x->nodes[i].family == DVX_SITE_SET_ITEM ? STORE_COST
                 : x->nodes[i].derivative->native        ? NATIVE_COST
                                                         : SITE_COST;
    if (keeps) return alone < KEPT_COST + KEPT_NODE_COST * x->node_count;
    return alone < FUSED_COST + NODE_COST * x->node_count;
}

void fuse_site(dvx_vm *vm, dvx_site *site) {
    fused f;
    const char *reason = NULL, *smaller;
    if (site->family > DVX_SITE_COMPARE && site->family != DVX_SITE_SET_ITEM &&
        site->family != DVX_SITE_CALL && site->family != DVX_SITE_METHOD)
        return;
    const dvx_expression *x = vm->api->expression(vm, site);
    if (x && !read_tree(vm, x, &f, &reason)) {
        do x = vm->api->smaller_expression(vm, site);
        while (x && !read_tree(vm, x, &f, &smaller));
    }
    if (x && is_too_small(vm, site, x, &f)) {
        reason = "of so few elements the operations one by one are faster";
        x = NULL;
    }
    if (!x) {
        if (reason) vm->api->decline(vm, site, reason);
        return;
    }
    fused *cache =
        vm->api->fuse(vm, site,
                      f.has_out ? &of_out[x->operand_count]
                      : f.folds ? &of_fold[site->family == DVX_SITE_CALL][x->operand_count]
                                : &descriptors[site->family][x->operand_count]);
    if (!cache) return;
    *cache = f;
}

void fuse_finish(dvx_vm *vm) {
    nd_state *state = nd_state_of(vm);
    if (state->buffers) vm->api->deallocate(vm, state->buffers, BUFFERS_BYTES);
    state->buffers = NULL;
}
