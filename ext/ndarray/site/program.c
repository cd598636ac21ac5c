/* program.c: planning fused expressions, and running their steps (program.h). */
#include "site/program.h"

#include "loops/arith.h"
#include "ufunc/operators.h"

/* ---- Planning ---- */

/* What a node's input or result is while the plan is made. */
typedef struct value {
    nd_type type;
    uint8_t place;
    bool weak; /* a number, whose type is that of its kind */
} value;

typedef struct planning {
    nd_program *program;
    const nd_kernels *kernels;
    const nd_loop *choose;
    value results[ND_NODES];
    uint32_t used; /* buffers */
    uint8_t widest;
} planning;

static bool is_buffer(uint8_t place) { return place >= ND_FIRST_BUFFER; }

static bool take_buffer(planning *x, uint8_t *place) {
    for (uint8_t i = 0; i < ND_BUFFERS; i++) {
        if (x->used >> i & 1) continue;
        x->used |= 1u << i;
        if (i >= x->program->buffer_count) x->program->buffer_count = (uint8_t)(i + 1);
        *place = (uint8_t)(ND_FIRST_BUFFER + i);
        return true;
    }
    return false;
}

static void give_buffer(planning *x, uint8_t place) {
    if (is_buffer(place)) x->used &= ~(1u << (place - ND_FIRST_BUFFER));
}

static uint8_t stride_of(planning *x, uint8_t place, nd_type type) {
    const uint8_t size = ND_DTYPE(type)->size;
    if (!is_buffer(place)) return 0;
    if (size > x->widest) x->widest = size;
    return size;
}

static nd_step *add_step(planning *x, uint8_t flags) {
    nd_step *step = &x->program->steps[x->program->step_count++];
    *step = (nd_step){.flags = flags};
    return step;
}

/* The arguments of the step from number `i` on. */
static void place_output(planning *x, nd_step *step, int i, uint8_t place, nd_type type) {
    for (; i < ND_ARGS; i++) {
        step->places[i] = place;
        step->strides[i] = stride_of(x, place, type);
        step->in_rows[i] = ND_DTYPE(type)->size;
    }
}

static void place_input(planning *x, nd_step *step, int i, const value *v) {
    step->places[i] = v->place;
    step->strides[i] = stride_of(x, v->place, v->type);
    step->in_rows[i] = v->weak ? 0 : ND_DTYPE(v->type)->size;
}

/* Numbers become elements of the type; others are cast into a buffer, if need be. */
static bool convert(planning *x, int8_t input, nd_type type, value *v) {
    uint8_t to;
    if (v->weak) {
        x->program->leaves[input].type = v->type = type;
        return true;
    }
    if (v->type == type) return true;
    if (!take_buffer(x, &to)) return false;
    nd_step *step = add_step(x, ND_FLAGS_NOT);
    step->cast = cast_between(ND_DTYPE(v->type), ND_DTYPE(type));
    place_input(x, step, 0, v);
    place_output(x, step, 1, to, type);
    give_buffer(x, v->place);
    *v = (value){type, to, false};
    return true;
}

/* The common type of the inputs (ufunc.c: common_type): ints and floats of dl are weak. */
static nd_type common_type(const value *in, int inputs) {
    if (inputs == 1) return in[0].type;
    if (!in[0].weak && !in[1].weak)
        return dtype_promote(ND_DTYPE(in[0].type), ND_DTYPE(in[1].type))->num;
    const nd_type strong = in[in[0].weak].type;
    if (in[!in[0].weak].type == ND_INT64) return strong == ND_BOOL ? ND_INT64 : strong;
    return type_is_inexact(strong) ? strong : ND_FLOAT64;
}

static bool choose_kernel(const planning *x, nd_ufunc_number number, nd_type *type,
                          const nd_kernel **kernel) {
    const nd_ufunc_facts *facts = &loops_facts[number];
    *kernel = &x->kernels[number].kernels[*type];
    if (ND_DTYPE(*type)->hot == ND_RARE) return false;
    if ((*kernel)->loop) return !(*kernel)->compares;
    if (!facts->floats || type_is_inexact(*type) ||
        (*type <= ND_UINT8 && number != ND_UFUNC_divide))
        return false;
    *type = ND_FLOAT64;
    *kernel = &x->kernels[number].kernels[*type];
    return (*kernel)->loop != NULL;
}

/* The result goes to the place of an input that is a buffer, of elements of the same size: loops
 * may do that. */
static bool place_result(planning *x, const value *in, int inputs, nd_type type, nd_type result,
                         uint8_t *place) {
    bool there = false;
    for (int i = 0; i < inputs; i++) {
        const bool fits = is_buffer(in[i].place) && ND_DTYPE(type)->size == ND_DTYPE(result)->size;
        if (fits && !there) *place = in[i].place, there = true;
    }
    if (!there && !take_buffer(x, place)) return false;
    for (int i = 0; i < inputs; i++)
        if (in[i].place != *place) give_buffer(x, in[i].place);
    return true;
}

/* Powers with some numbers are something simpler (operators.c).  False: the number may be
 * such a one another time. */
static bool simplify(const nd_program *p, const nd_node *node, const value *in,
                     nd_ufunc_number *number) {
    if (*number != ND_UFUNC_power || node->called || !in[1].weak) return true;
    const nd_leaf *exponent = &p->leaves[node->inputs[1]];
    if (!exponent->constant) return false;
    const int simple =
        operators_simple_power(in[0].type, exponent->kind == ND_LEAF_INT, exponent->number);
    if (simple >= 0) *number = (nd_ufunc_number)simple;
    return simple >= 0 || type_is_inexact(in[0].type);
}

/* The result as elements of what it is stored into.  (Parts of complex numbers are not dropped in
 * passing.) */
static bool store_result(planning *x, uint8_t place, nd_type from) {
    nd_program *p = x->program;
    if (!p->casts_result || (from == ND_COMPLEX128 && p->into->num != ND_COMPLEX128)) return false;
    if (p->casts_result == ND_CAST_SAME_KIND && !dtype_is_same_kind(ND_DTYPE(from), p->into))
        return false;
    nd_step *step = add_step(x, ND_FLAGS_NOT);
    step->cast = cast_between(ND_DTYPE(from), p->into);
    place_input(x, step, 0, &(value){from, place, false});
    place_output(x, step, 1, ND_OUT, p->into->num);
    step->site = p->nodes[p->node_count - 1].site;
    return true;
}

static value value_of(const planning *x, int8_t input) {
    if (input < 0) return x->results[~input];
    const nd_leaf *leaf = &x->program->leaves[input];
    value v = {leaf->type, (uint8_t)input, leaf->kind != ND_LEAF_ARRAY};
    if (v.weak) v.type = leaf->kind == ND_LEAF_INT ? ND_INT64 : ND_FLOAT64;
    return v;
}

/* Is what node k makes cast to the dtype of what it is stored into? */
static bool is_cast(const nd_program *p, uint32_t k, nd_type result) {
    return k + 1 == p->node_count && p->into && p->into->num != result;
}

/* The result of node k, in `out`; behind its step. */
static bool finish_node(planning *x, uint32_t k, uint8_t out, nd_type result) {
    x->results[k] = (value){result, out, false};
    x->program->result = ND_DTYPE(result);
    return !is_cast(x->program, k, result) || store_result(x, out, result);
}

/* where(): numbers are as strong as arrays. */
static bool plan_choice(planning *x, uint32_t k) {
    const int8_t *inputs = x->program->nodes[k].inputs;
    value in[3] = {value_of(x, inputs[0]), value_of(x, inputs[1]), value_of(x, inputs[2])};
    const nd_type type = dtype_promote(ND_DTYPE(in[1].type), ND_DTYPE(in[2].type))->num;
    uint8_t out = ND_OUT;
    if (in[0].weak || ND_DTYPE(type)->hot == ND_RARE) return false;
    for (int i = 0; i < 3; i++)
        if (!convert(x, inputs[i], i ? type : ND_BOOL, &in[i])) return false;
    if ((k + 1 < x->program->node_count || is_cast(x->program, k, type)) &&
        !place_result(x, in + 1, 2, type, type, &out))
        return false;
    give_buffer(x, in[0].place);
    nd_step *step = add_step(x, ND_FLAGS_NOT);
    step->loop = x->choose[ND_DTYPE(type)->size];
    step->site = x->program->nodes[k].site;
    place_output(x, step, 2, out, type);
    for (int i = 0; i < 3; i++) place_input(x, step, (i + 3) % ND_ARGS, &in[i]);
    return finish_node(x, k, out, type);
}

static bool plan_node(planning *x, uint32_t k) {
    nd_program *p = x->program;
    const nd_node *node = &p->nodes[k];
    nd_ufunc_number number = (nd_ufunc_number)node->number;
    const nd_kernel *kernel;
    value in[2];
    if (p->step_count + 5 > ND_STEPS) return false;
    if (node->number == ND_CHOICE) return plan_choice(x, k);
    for (int i = 0; i < loops_facts[number].inputs; i++) in[i] = value_of(x, node->inputs[i]);
    if (!simplify(p, node, in, &number)) return false;
    const nd_ufunc_facts *facts = &loops_facts[number];
    const int inputs = facts->inputs;
    if (in[0].weak && (inputs == 1 || in[1].weak)) return false;
    const bool numbers = in[0].weak || (inputs == 2 && in[1].weak);
    if (numbers && ufunc_is_logical(number)) return false;
    nd_type type = common_type(in, inputs);
    if (!choose_kernel(x, number, &type, &kernel)) return false;
    if (number == ND_UFUNC_power && !type_is_inexact(type)) return false; /* looks at exponents */
    for (int i = 0; i < inputs; i++)
        if (!convert(x, node->inputs[i], type, &in[i])) return false;
    uint8_t out = ND_OUT;
    const nd_type result = (nd_type)kernel->result;
    if ((k + 1 < p->node_count || is_cast(p, k, result)) &&
        !place_result(x, in, inputs, type, result, &out))
        return false;
    nd_step *step = add_step(x, kernel->inexact ? ND_FLAGS_INEXACT
                                : facts->warns  ? ND_FLAGS_COUNT
                                                : ND_FLAGS_NOT);
    step->loop = kernel->loop;
    step->site = node->site;
    step->number = (uint8_t)number;
    p->inexact |= step->flags == ND_FLAGS_INEXACT;
    step->single = type == ND_FLOAT32;
    for (int i = 0; i < inputs; i++) place_input(x, step, i, &in[i]);
    place_output(x, step, inputs, out, result);
    return finish_node(x, k, out, result);
}

bool program_plan(dvx_vm *vm, nd_program *p) {
    const nd_state *state = nd_state_of(vm);
    planning x = {
        .program = p, .kernels = state->kernels, .choose = state->tiles->choose, .widest = 1};
    p->step_count = p->buffer_count = 0;
    p->planned = p->inexact = false;
    for (uint32_t k = 0; k < p->node_count; k++)
        if (!plan_node(&x, k)) return false;
    for (uint32_t i = 0; i < p->step_count; i++) {
        nd_step *step = &p->steps[i];
        step->looks = step->flags == ND_FLAGS_INEXACT || i + 2u >= p->step_count ||
                      step->flags != p->steps[i + 1].flags;
    }
    if (p->into && p->into->size > x.widest) x.widest = p->into->size;
    if (p->result->size > x.widest) x.widest = p->result->size;
    p->block = ND_BLOCK_BYTES / x.widest;
    return p->planned = true;
}

/* ---- Running ---- */

/* What libmvec sets flags for may be none of the elements' doing (ufunc.c): where all results are
 * finite, nothing has happened. */
static bool all_finite(const char *at, int64_t stride, int64_t count, bool single) {
    for (int64_t i = 0; i < count; i++, at += stride) {
        const void *p = at;
        if (!isfinite(single ? (double)*(const float *)p : *(const double *)p)) return false;
    }
    return true;
}

static unsigned look(const nd_step *step, char *const *args, const int64_t *strides,
                     int64_t count) {
    unsigned flags = arith_flags();
    if (LIKELY(!flags)) return 0;
    arith_clear();
    if (step->flags == ND_FLAGS_NOT) return 0;
    if (step->flags == ND_FLAGS_INEXACT && all_finite(args[2], strides[2], count, step->single))
        return 0;
    return flags;
}

void program_place(const nd_program *p, nd_places *at) {
    for (uint32_t k = 0; k < p->step_count; k++) {
        const nd_step *step = &p->steps[k];
        for (int i = 0; i < ND_ARGS; i++)
            at->steps[k][i] = step->strides[i] ? step->strides[i] : at->strides[step->places[i]];
    }
}

static inline void run_step(const nd_step *step, char **args, const int64_t *strides,
                            int64_t count) {
    if (LIKELY(step->loop != NULL))
        step->loop(args, count, strides);
    else
        step->cast(args[1], strides[1], args[0], strides[0], count);
}

/* The steps from `first` on, before `end`: their flags that count; `each`: of each step, kept. */
static inline unsigned run_steps(const nd_program *p, nd_places *at, uint32_t first, uint32_t end,
                                 int64_t count, bool each) {
    unsigned flags = 0;
    for (uint32_t k = first; k < end; k++) {
        const nd_step *step = &p->steps[k];
        char *args[ND_ARGS] = {at->data[step->places[0]], at->data[step->places[1]],
                               at->data[step->places[2]], at->data[step->places[3]]};
        run_step(step, args, at->steps[k], count);
        if (!each && !step->looks) continue;
        const unsigned raised = look(step, args, at->steps[k], count);
        if (each) at->flags[k] |= raised;
        flags |= raised;
    }
    return flags;
}

static unsigned run_block(const nd_program *p, nd_places *at, int64_t count) {
    const uint32_t last = p->step_count - 1u;
    const unsigned flags = run_steps(p, at, 0, last, count, false);
    /* Whose are they?  Once more: only the last step writes what was not the block's own. */
    if (UNLIKELY(flags) && p->into) (void)run_steps(p, at, 0, last, count, true);
    return flags | run_steps(p, at, last, last + 1, count, p->into != NULL);
}

unsigned program_run(const nd_program *p, nd_places *at, int64_t count) {
    unsigned flags = 0;
    for (int64_t n; count > 0; count -= n) {
        n = count < p->block ? count : p->block;
        flags |= run_block(p, at, n);
        for (uint32_t i = 0; i < p->leaf_count; i++) at->data[i] += n * at->strides[i];
        at->data[ND_OUT] += n * at->strides[ND_OUT];
    }
    return flags;
}

bool program_rows(const nd_program *p, nd_places *at, const nd_rows *rows, unsigned *flags) {
    const uint32_t last = p->step_count - 1u;
    const int64_t all = (rows->count - 1) * rows->pitch + rows->columns;
    if (run_steps(p, at, 0, last, all, false)) return false;
    const nd_step *step = &p->steps[last];
    const bool inexact = step->flags == ND_FLAGS_INEXACT;
    const int64_t *strides = at->steps[last];
    char *args[ND_ARGS];
    int64_t pitches[ND_ARGS];
    for (int i = 0; i < ND_ARGS; i++) {
        args[i] = at->data[step->places[i]];
        pitches[i] = step->places[i] == ND_OUT ? rows->out_pitch : rows->pitch * strides[i];
    }
    unsigned raised = 0;
    for (int64_t r = 0; r < rows->count; r++) {
        run_step(step, args, strides, rows->columns);
        if (inexact || r + 1 == rows->count) raised |= look(step, args, strides, rows->columns);
        for (int i = 0; i < ND_ARGS; i++) args[i] += pitches[i];
    }
    if (p->into) at->flags[last] |= raised;
    *flags |= raised;
    return true;
}
