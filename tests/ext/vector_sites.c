/* vector_sites.c: what hot sites with vectors become.
 *
 *     a + b, a - b, a * b    a temporary that dies takes the result, so that `a * s + b` makes one
 *                            vector; a constant number is in the cache, and is not loaded
 *     -a                     likewise
 *     a @ b                  one loop; none for two vectors of three elements (a meta-property)
 *     a == b                 under the assumption that they are compared exactly
 *     a[i], a.x, a.norm()    numbers
 *     v[i] = x               and `v[i] = a @ (b + c)` as one instruction, which raises as the store
 *                            does what it finds when everything else is done
 *     a.times_plus(s, b)     a * s + b in one pass; s is dropped if it is a constant
 *
 * What makes no vector has a native twin; those that do cannot (they allocate).
 *
 * Invariants
 *  1. A derivative that finds something unusual deoptimises before it has any effect, or raises
 *     exactly what the slot raises. */
#include "vector_sites.h"

/* ---- New vectors ---- */

/* What a site knows of its operands. */
typedef struct memory {
    dvx_binary operation;
    uint32_t temporaries; /* bit i: the site drops operand i */
    uint32_t constant;    /* the operand that is not loaded, if any: 0 stands for itself */
    double number;        /* its value */
} memory;
enum { NO_OPERAND = UINT32_MAX };

static dvx_outcome outcome(dvx_value result, dvx_value *out) {
    *out = result;
    return dvx_failed(result) ? DVX_ERROR : DVX_DONE;
}

static int take(dvx_vm *vm, const memory *m, const dvx_value *v, uint32_t i, operand *out) {
    if (i != m->constant) return look(vm, v[i], out);
    *out = (operand){NULL, m->number};
    return 1;
}

/* A vector for the result: the first of `count` operands that dies and has its size, or a new
 * one. */
static dvx_value result_vector(dvx_vm *vm, const memory *m, const dvx_value *v, uint32_t count,
                               int64_t size, vector **made) {
    for (uint32_t i = 0; i < count; i++) {
        if (!(m->temporaries >> i & 1) || !vm->api->is_unique(vm, v[i])) continue;
        *made = as_vector(vm, v[i]);
        if (*made && (*made)->count == size) return vm->api->retain(vm, v[i]);
    }
    return new_vector(vm, size, made);
}

static dvx_outcome run_arithmetic(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    const memory *m = cache;
    operand a, b;
    vector *made;
    int known = take(vm, m, v, 0, &a);
    if (known > 0) known = take(vm, m, v, 1, &b);
    if (known <= 0) return known ? DVX_ERROR : DVX_DEOPTIMISE;
    if (a.v && b.v && a.v->count != b.v->count) return DVX_DEOPTIMISE; /* the slot raises */
    int64_t count = a.v ? a.v->count : b.v->count;
    *result = result_vector(vm, m, v, 2, count, &made);
    if (dvx_failed(*result)) return DVX_ERROR;
    for (int64_t i = 0; i < count; i++) made->data[i] = apply(m->operation, at(&a, i), at(&b, i));
    return DVX_DONE;
}

static dvx_outcome run_negate(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    const vector *a = as_vector(vm, v[0]);
    vector *made;
    *result = result_vector(vm, cache, v, 1, a->count, &made);
    if (dvx_failed(*result)) return DVX_ERROR;
    for (int64_t i = 0; i < made->count; i++) made->data[i] = -a->data[i];
    return DVX_DONE;
}

/* self, s, b: self * s + b. */
static dvx_outcome run_times_plus(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    const memory *m = cache;
    const vector *a = as_vector(vm, v[0]), *b = as_vector(vm, v[2]);
    operand s;
    vector *made;
    int known = take(vm, m, v, 1, &s);
    if (known <= 0) return known ? DVX_ERROR : DVX_DEOPTIMISE;
    if (s.v || a->count != b->count) return DVX_DEOPTIMISE;
    *result = new_vector(vm, a->count, &made);
    if (dvx_failed(*result)) return DVX_ERROR;
    for (int64_t i = 0; i < made->count; i++) made->data[i] = a->data[i] * s.number + b->data[i];
    return DVX_DONE;
}

/* ---- Whole expressions ---- */

/* The operations of an expression of +, -, * and unary -, as they are executed, so
 * that there is no vector but the result. */
enum { MOST_STEPS = 16, NEGATE = DVX_MUL + 1 };
typedef struct program {
    uint32_t count;
    uint32_t temporaries;
    struct {
        uint32_t operation;
        int32_t inputs[2]; /* of dvx_node */
    } steps[MOST_STEPS];
} program;

/* The elements from `first` on, a block at a time: what is between the operations stays near. */
enum { BLOCK = 64 };
typedef double block[BLOCK];

/* Elements of an operand, or a number as often as there are elements in a block. */
static const double *elements(const operand *o, int64_t first, int64_t count, double *same) {
    if (o->v) return o->v->data + first;
    for (int64_t i = 0; i < count; i++) same[i] = o->number;
    return same;
}

static void compute(const program *p, const operand *operands, int64_t first, int64_t count,
                    double *out) {
    block made[MOST_STEPS], same[2];
    for (uint32_t k = 0; k < p->count; k++) {
        const double *x[2];
        double *to = k + 1 == p->count ? out : made[k];
        uint32_t operation = p->steps[k].operation;
        for (int j = 0; j < 2; j++) {
            int32_t input = p->steps[k].inputs[j];
            x[j] = input < 0 ? made[~input] : elements(&operands[input], first, count, same[j]);
        }
        for (int64_t i = 0; i < count; i++)
            to[i] = operation == NEGATE ? -x[0][i] : apply((dvx_binary)operation, x[0][i], x[1][i]);
    }
}

static dvx_outcome run_program(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    const program *p = cache;
    const memory m = {.temporaries = p->temporaries, .constant = NO_OPERAND};
    operand operands[DVX_MOST_OPERANDS];
    uint32_t count = 0;
    int64_t size = -1;
    for (uint32_t k = 0; k < p->count; k++)
        for (int j = 0; j < 2; j++)
            if (p->steps[k].inputs[j] >= (int32_t)count)
                count = (uint32_t)p->steps[k].inputs[j] + 1;
    for (uint32_t i = 0; i < count; i++) {
        if (look(vm, v[i], &operands[i]) <= 0) return vm->api->clear_error(vm), DVX_DEOPTIMISE;
        if (!operands[i].v) continue;
        if (size >= 0 && operands[i].v->count != size) return DVX_DEOPTIMISE; /* a site raises */
        size = operands[i].v->count;
    }
    vector *made;
    *result = result_vector(vm, &m, v, count, size, &made);
    if (dvx_failed(*result)) return DVX_ERROR;
    for (int64_t i = 0; i < size; i += BLOCK)
        compute(p, operands, i, size - i < BLOCK ? size - i : BLOCK, made->data + i);
    return DVX_DONE;
}

/* ---- Numbers ---- */

static dvx_outcome run_dot(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    const vector *a = as_vector(vm, v[0]), *b = as_vector(vm, v[1]);
    (void)cache;
    if (a->count != b->count) return DVX_DEOPTIMISE;
    return outcome(vm->api->make_float(vm, dot(a, b)), result);
}

/* Of two vectors with the flag.  It begins with 0, as the loop does: -0.0 is not 0.0. */
static inline double dot_3(const vector *a, const vector *b) {
    const double *x = a->data, *y = b->data;
    return 0.0 + x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

static dvx_outcome run_dot_3(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    (void)cache;
    return outcome(vm->api->make_float(vm, dot_3(as_vector(vm, v[0]), as_vector(vm, v[1]))),
                   result);
}

static dvx_outcome run_equal(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    bool equal = is_near(as_vector(vm, v[0]), as_vector(vm, v[1]), 0);
    return outcome(vm->api->make_bool(vm, equal == (*(uint32_t *)cache == DVX_EQ)), result);
}

static dvx_outcome run_get(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    const double *x = element(vm, v[0], v[1]);
    (void)cache;
    return x ? outcome(vm->api->make_float(vm, *x), result) : DVX_ERROR;
}

static dvx_outcome run_set(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    double number, *x;
    (void)cache, (void)result;
    if (!vm->api->read_float(vm, v[0], &number)) return DVX_ERROR;
    if (!(x = element(vm, v[1], v[2]))) return DVX_ERROR;
    *x = number;
    return DVX_DONE;
}

/* `v[i] = a @ (b + c)`: which operands of the expression these are. */
typedef struct dot_store {
    int32_t a, b, c, v, i;
} dot_store;

static dvx_outcome run_dot_store(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    const dot_store *s = cache;
    const vector *a = as_vector(vm, v[s->a]), *b = as_vector(vm, v[s->b]),
                 *c = as_vector(vm, v[s->c]);
    double sum = 0;
    if (a->count != b->count || a->count != c->count) return DVX_DEOPTIMISE;
    for (int64_t k = 0; k < a->count; k++) sum += a->data[k] * (b->data[k] + c->data[k]);
    const dvx_value x[] = {vm->api->make_float(vm, sum), v[s->v], v[s->i]};
    vm->api->at_node(vm, cache, 2);
    const dvx_outcome outcome = run_set(vm, x, NULL, result);
    vm->api->release(vm, x[0]);
    return outcome;
}

static dvx_outcome run_coordinate(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    const vector *a = as_vector(vm, v[0]);
    int64_t i = *(const int64_t *)cache;
    return i < a->count ? outcome(vm->api->make_float(vm, a->data[i]), result) : DVX_DEOPTIMISE;
}

static dvx_outcome run_norm(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    const vector *a = as_vector(vm, v[0]);
    (void)cache;
    return outcome(vm->api->make_float(vm, sqrt(dot(a, a))), result);
}

/* ---- Their native twins ---- */

#ifdef DVX_NATIVE
static inline const vector *native_vector(dvx_value v) { return dvx_payload_of(v); }

static inline dvx_value native_dot(const dvx_value *v, void *cache) {
    const vector *a = native_vector(v[0]), *b = native_vector(v[1]);
    (void)cache;
    return a->count == b->count ? dv_float(dot(a, b)) : DVX_FAILED;
}
static inline dvx_value native_dot_3(const dvx_value *v, void *cache) {
    (void)cache;
    return dv_float(dot_3(native_vector(v[0]), native_vector(v[1])));
}
static inline dvx_value native_equal(const dvx_value *v, void *cache) {
    bool equal = is_near(native_vector(v[0]), native_vector(v[1]), 0);
    return dv_bool(equal == (*(uint32_t *)cache == DVX_EQ));
}
static inline dvx_value native_get(const dvx_value *v, void *cache) {
    const vector *a = native_vector(v[0]);
    (void)cache;
    if (!dv_is_int(v[1])) return DVX_FAILED;
    int64_t i = dv_as_int(v[1]);
    if (i < 0) i += a->count;
    return i >= 0 && i < a->count ? dv_float(a->data[i]) : DVX_FAILED;
}
static inline dvx_value native_coordinate(const dvx_value *v, void *cache) {
    const vector *a = native_vector(v[0]);
    int64_t i = *(const int64_t *)cache;
    return i < a->count ? dv_float(a->data[i]) : DVX_FAILED;
}
static inline dvx_value native_norm(const dvx_value *v, void *cache) {
    const vector *a = native_vector(v[0]);
    (void)cache;
    return dv_float(sqrt(dot(a, a)));
}
DVX_OPERATOR(dot_native, native_dot, 2)
DVX_OPERATOR(dot_3_native, native_dot_3, 2)
DVX_OPERATOR(equal_native, native_equal, 2)
DVX_OPERATOR(get_native, native_get, 2)
DVX_ATTRIBUTE(coordinate_native, native_coordinate)
DVX_METHOD_CALL(norm_native, native_norm, 1)
#define TWIN(name) .native = name##_native
#else
#define TWIN(name) .native = NULL
#endif

/* ---- Derivatives ---- */

#define DERIVATIVE(title, site, inputs, function, ...)                                \
    {                                                                                 \
        .size = sizeof(dvx_specialisation), .name = title, .family = DVX_SITE_##site, \
        .count = inputs, .run = function, .cache_size = sizeof(memory), __VA_ARGS__   \
    }
#define MAKES_VECTOR .result_type = &vector_type
#define MAKES_FLOAT  .result = DVX_FLOAT

/* By the number of operands. */
#define FUSED(n, site)                                                                            \
    {                                                                                             \
        .size = sizeof(dvx_specialisation), .name = "EXPRESSION_VECTOR",                          \
        .family = DVX_SITE_##site, .count = n, .run = run_program, .cache_size = sizeof(program), \
        MAKES_VECTOR                                                                              \
    }
static const dvx_specialisation fused[][DVX_MOST_OPERANDS + 1] = {
    {FUSED(0, BINARY), FUSED(1, BINARY), FUSED(2, BINARY), FUSED(3, BINARY), FUSED(4, BINARY),
     FUSED(5, BINARY), FUSED(6, BINARY), FUSED(7, BINARY), FUSED(8, BINARY)},
    {FUSED(0, UNARY), FUSED(1, UNARY), FUSED(2, UNARY), FUSED(3, UNARY), FUSED(4, UNARY),
     FUSED(5, UNARY), FUSED(6, UNARY), FUSED(7, UNARY), FUSED(8, UNARY)}};

/* By operator, and by what the operands are. */
enum { TWO_VECTORS, WITH_NUMBER, WITH_CONSTANT };
#define ARITHMETIC(name)                                                                \
    {                                                                                   \
        DERIVATIVE(name "_VECTOR", BINARY, 2, run_arithmetic, MAKES_VECTOR),            \
            DERIVATIVE(name "_VECTOR_NUMBER", BINARY, 2, run_arithmetic, MAKES_VECTOR), \
            DERIVATIVE(name "_VECTOR_CONST", BINARY, 2, run_arithmetic, MAKES_VECTOR)   \
    }
static const dvx_specialisation arithmetic[][3] = {
    [DVX_ADD] = ARITHMETIC("ADD"), [DVX_SUB] = ARITHMETIC("SUB"), [DVX_MUL] = ARITHMETIC("MUL")};

static const dvx_specialisation
    negate_ = DERIVATIVE("NEG_VECTOR", UNARY, 1, run_negate, MAKES_VECTOR),
    dot_ = DERIVATIVE("DOT_VECTOR", BINARY, 2, run_dot, MAKES_FLOAT, .pure = true, TWIN(dot)),
    dot_3_ = DERIVATIVE("DOT_VECTOR_3", BINARY, 2, run_dot_3, MAKES_FLOAT, .pure = true,
                        .meta = DVX_BIT(0) | DVX_BIT(1), TWIN(dot_3)),
    equal_ = DERIVATIVE("EQUAL_VECTOR", COMPARE, 2, run_equal, .result = DVX_BOOL, .pure = true,
                        TWIN(equal)),
    get_ = DERIVATIVE("GET_VECTOR_INT", GET_ITEM, 2, run_get, MAKES_FLOAT, TWIN(get)),
    set_ = DERIVATIVE("SET_VECTOR", SET_ITEM, 3, run_set, .native = NULL),
    dot_store_ = {.size = sizeof(dvx_specialisation),
                  .name = "EXPRESSION_DOT_STORE",
                  .family = DVX_SITE_SET_ITEM,
                  .count = 5,
                  .run = run_dot_store,
                  .cache_size = sizeof(dot_store)},
    coordinate_ = DERIVATIVE("COORDINATE_VECTOR", ATTRIBUTE, 1, run_coordinate, MAKES_FLOAT,
                             .pure = true, TWIN(coordinate)),
    norm_ = DERIVATIVE("NORM_VECTOR", METHOD, 1, run_norm, MAKES_FLOAT, .pure = true, TWIN(norm)),
    times_plus_ =
        DERIVATIVE("TIMES_PLUS_VECTOR", METHOD, 3, run_times_plus, MAKES_VECTOR, .fresh = true),
    times_plus_constant = DERIVATIVE("TIMES_PLUS_VECTOR_CONST", METHOD, 3, run_times_plus,
                                     MAKES_VECTOR, .fresh = true);

/* ---- The hook ---- */

static bool is_vector(const dvx_operand *o) { return o->type == &vector_type; }

/* Not of a subclass, which may have operators of its own. */
static bool is_exact_int(dvx_vm *vm, dvx_value v) {
    dvx_value zero = vm->api->make_int(vm, 0), a = vm->api->class_of(vm, v),
              b = vm->api->class_of(vm, zero);
    bool same = vm->api->same(vm, a, b);
    vm->api->release(vm, a);
    vm->api->release(vm, b);
    vm->api->release(vm, zero);
    return same;
}

static bool is_number(dvx_vm *vm, const dvx_operand *o) {
    return vm->api->kind(vm, o->value) == DVX_FLOAT || is_exact_int(vm, o->value);
}

/* Is operand i a number that stays what it is, and need not be loaded any more? */
static bool drop_constant(dvx_vm *vm, dvx_site *site, uint32_t i, memory *m) {
    const dvx_operand *o = &site->operands[i];
    if (o->origin != DVX_FROM_CONSTANT && o->origin != DVX_FROM_GLOBAL) return false;
    if (vm->api->kind(vm, o->value) != DVX_FLOAT) return false; /* reading an int may raise */
    if (!vm->api->read_float(vm, o->value, &m->number) || !vm->api->drop_operand(vm, site, i))
        return false;
    m->constant = i;
    return true;
}

static const dvx_specialisation *of_binary(dvx_vm *vm, dvx_site *site, memory *m) {
    const dvx_operand *v = site->operands;
    bool both = is_vector(&v[0]) && is_vector(&v[1]);
    if (site->operation == DVX_MATMUL) {
        if (!both) return NULL;
        bool spatial = as_vector(vm, v[0].value)->spatial && as_vector(vm, v[1].value)->spatial;
        return spatial ? &dot_3_ : &dot_;
    }
    if (site->operation > DVX_MUL) return NULL;
    const dvx_specialisation *forms = arithmetic[site->operation];
    if (both) return &forms[TWO_VECTORS];
    uint32_t other = is_vector(&v[0]);
    if (!is_number(vm, &v[other])) return NULL;
    return &forms[drop_constant(vm, site, other, m) ? WITH_CONSTANT : WITH_NUMBER];
}

static const dvx_specialisation *of_compare(const dvx_site *site) {
    bool equality = site->operation == DVX_EQ || site->operation == DVX_NE;
    return equality && is_vector(&site->operands[0]) && is_vector(&site->operands[1]) ? &equal_
                                                                                      : NULL;
}

static const dvx_specialisation *of_method(dvx_vm *vm, dvx_site *site, memory *m) {
    const dvx_operand *v = site->operands;
    if (strcmp(site->method->name, "norm") == 0) return site->count == 1 ? &norm_ : NULL;
    if (site->method->entry != times_plus || site->count != 3) return NULL;
    if (!is_number(vm, &v[1]) || !is_vector(&v[2])) return NULL;
    return drop_constant(vm, site, 1, m) ? &times_plus_constant : &times_plus_;
}

static const dvx_specialisation *choose(dvx_vm *vm, dvx_site *site, memory *m) {
    const dvx_operand *v = site->operands;
    switch (site->family) {
    case DVX_SITE_BINARY: return of_binary(vm, site, m);
    case DVX_SITE_UNARY: return site->operation == DVX_NEG ? &negate_ : NULL;
    case DVX_SITE_COMPARE: return of_compare(site);
    case DVX_SITE_GET_ITEM:
        return is_vector(&v[0]) && vm->api->kind(vm, v[1].value) == DVX_INT && !v[1].type ? &get_
                                                                                          : NULL;
    case DVX_SITE_SET_ITEM: return is_vector(&v[1]) ? &set_ : NULL;
    case DVX_SITE_ATTRIBUTE: return coordinate(vm, site->name) < 0 ? NULL : &coordinate_;
    case DVX_SITE_METHOD: return of_method(vm, site, m);
    default: return NULL;
    }
}

/* Nodes ADD, @ and SET_ITEM. */
static void fuse_store(dvx_vm *vm, dvx_site *site) {
    const dvx_expression *x = vm->api->expression(vm, site);
    while (x && x->node_count > 3) x = vm->api->smaller_expression(vm, site);
    if (!x || x->node_count != 3 || x->operand_count != 5) return;
    const dvx_node *add = &x->nodes[0], *at = &x->nodes[1], *set = &x->nodes[2];
    const bool fits = add->derivative == &arithmetic[DVX_ADD][TWO_VECTORS] &&
                      (at->derivative == &dot_ || at->derivative == &dot_3_) &&
                      at->inputs[1] == ~0 && set->inputs[0] == ~1;
    if (!fits || add->inputs[0] < 0 || set->inputs[1] < 0 || x->key < 0) return;
    dot_store *s = vm->api->fuse(vm, site, &dot_store_);
    const dot_store known = {at->inputs[0], add->inputs[0], add->inputs[1], set->inputs[1], x->key};
    if (s) *s = known;
}

/* Is it one of the operations, on vectors or with numbers? */
static bool make_step(program *p, const dvx_node *node) {
    bool negates = node->family == DVX_SITE_UNARY && node->operation == DVX_NEG;
    bool plain = node->family == DVX_SITE_BINARY && node->operation <= DVX_MUL;
    if ((!negates && !plain) || p->count == MOST_STEPS) return false;
    p->steps[p->count].operation = negates ? NEGATE : node->operation;
    p->steps[p->count].inputs[0] = node->inputs[0];
    p->steps[p->count++].inputs[1] = node->inputs[negates ? 0 : 1];
    return true;
}

static bool make_program(program *p, const dvx_expression *x) {
    *p = (program){0};
    for (uint32_t i = 0; i < x->node_count; i++)
        if (!make_step(p, &x->nodes[i])) return false;
    return true;
}

static void fuse(dvx_vm *vm, dvx_site *site) {
    const dvx_expression *x = vm->api->expression(vm, site);
    program p;
    while (x && !make_program(&p, x)) x = vm->api->smaller_expression(vm, site);
    if (!x) return;
    for (uint32_t i = 0; i < x->operand_count; i++)
        p.temporaries |= (uint32_t)x->operands[i].temporary << i;
    program *cache =
        vm->api->fuse(vm, site, &fused[site->family == DVX_SITE_UNARY][x->operand_count]);
    if (cache) *cache = p;
}

void specialise_vector(dvx_vm *vm, dvx_site *site) {
    memory m = {.operation = (dvx_binary)site->operation, .constant = NO_OPERAND};
    bool exact = state_of(vm)->tolerance == 0;
    const dvx_specialisation *d = choose(vm, site, &m);
    if (d == &equal_ && !exact) {
        vm->api->decline(vm, site, "vectors are compared within a tolerance");
        return;
    }
    if (!d) {
        vm->api->decline(vm, site, "a Vector knows no derivative for these operands");
        return;
    }
    for (uint32_t i = 0; i < site->count; i++)
        m.temporaries |= (uint32_t)site->operands[i].temporary << i;
    void *cache = vm->api->specialise(vm, site, d);
    if (!cache) return;
    if (d == &coordinate_)
        *(int64_t *)cache = coordinate(vm, site->name);
    else
        *(memory *)cache = m;
    if (d->result_type == &vector_type && site->family != DVX_SITE_METHOD) fuse(vm, site);
    if (d == &set_) fuse_store(vm, site);
    if (d == &equal_) (void)vm->api->assume(vm, site, state_of(vm)->exact);
}
