/* tally.c: an extension whose type has a derivative for every family of sites.  A Tally is an int.
 *
 *     a + b, a - b, a * i   new Tallies: + reuses a temporary that dies; * drops a constant factor
 *     a @ b, ~a, a < b, ...  ints and bools, with native twins; likewise a[i] (a times i), a.value,
 *                            a[k] = v (a becomes k + v) and a.plus(x)
 *     a ^ x                  the value of a, whatever x is: x is dropped
 *     a & x                  a times the module's scale, under the assumption that this stays
 *     a | f                  the same plus f(): f may change the scale
 *     a ** i                 i is added; 1000 more unless a is plain, a flag that the VM looks at
 *     a += i, a(x), Tally(i)
 *
 * mode(name) says what each of them does next, in the slots as in the derivatives: "done", "error"
 * (raises ValueError), or "deoptimise", which is for derivatives alone. */
#include <dynvm_ext.h>

#include <string.h>

typedef struct tally {
    int64_t n;
    bool plain;
} tally;

typedef struct state {
    char mode; /* first letter of its name */
    int64_t scale;
    dvx_assumption *keeps_scale;
    /* Lines that `note` may write, and those that it wrote although it may not. */
    char expected[1024], surprises[1024];
} state;

extern const dvx_type tally_type;

static state *state_of(dvx_vm *vm) { return vm->api->state(vm, &dvx_extension); }
static tally *as_tally(dvx_vm *vm, dvx_value v) { return vm->api->payload(vm, v, &tally_type); }

static dvx_value new_tally(dvx_vm *vm, int64_t n) {
    void *made;
    dvx_value v = vm->api->make_object(vm, &tally_type, &made);
    if (!dvx_failed(v)) *(tally *)made = (tally){n, true};
    return v;
}

/* ---- What the instructions do ---- */

static dvx_value fail(dvx_vm *vm) { return vm->api->raise(vm, DVX_VALUE_ERROR, "as asked"); }
static bool fails(dvx_vm *vm) { return state_of(vm)->mode == 'e'; }

static bool is_number(dvx_vm *vm, dvx_value v) {
    return as_tally(vm, v) || vm->api->kind(vm, v) == DVX_INT;
}

/* The number that an operand is; false: too large. */
static bool number(dvx_vm *vm, dvx_value v, int64_t *out) {
    const tally *t = as_tally(vm, v);
    if (t) return *out = t->n, true;
    return vm->api->read_int(vm, v, out);
}

static dvx_value call_and_scale(dvx_vm *vm, dvx_value a, dvx_value f) {
    int64_t more, n = as_tally(vm, a)->n;
    dvx_value result = vm->api->call(vm, f, NULL, 0);
    if (dvx_failed(result)) return result;
    bool good = vm->api->read_int(vm, result, &more);
    vm->api->release(vm, result);
    return good ? vm->api->make_int(vm, n * state_of(vm)->scale + more) : DVX_FAILED;
}

static dvx_value operate(dvx_vm *vm, dvx_binary op, dvx_value a, dvx_value b) {
    int64_t x, y = 0;
    if (fails(vm)) return fail(vm);
    if (op == DVX_OR && as_tally(vm, a)) return call_and_scale(vm, a, b);
    bool both = op != DVX_XOR && op != DVX_AND;
    if (!is_number(vm, a) || (both && !is_number(vm, b))) return vm->api->make_not_implemented(vm);
    if (!number(vm, a, &x) || (both && !number(vm, b, &y))) return DVX_FAILED;
    switch (op) {
    case DVX_ADD: return new_tally(vm, x + y);
    case DVX_SUB: return new_tally(vm, x - y);
    case DVX_MUL: return new_tally(vm, x * y);
    case DVX_XOR: return vm->api->make_int(vm, x);
    case DVX_AND: return vm->api->make_int(vm, x * state_of(vm)->scale);
    case DVX_MATMUL: return vm->api->make_int(vm, x * y);
    case DVX_POW:
        return vm->api->make_int(vm,
                                 x + y + (as_tally(vm, a) && !as_tally(vm, a)->plain ? 1000 : 0));
    default: return vm->api->make_not_implemented(vm);
    }
}

static dvx_value add_in_place(dvx_vm *vm, dvx_binary op, dvx_value self, dvx_value b) {
    int64_t y;
    (void)op;
    if (fails(vm)) return fail(vm);
    if (!is_number(vm, b)) return vm->api->make_not_implemented(vm);
    if (!number(vm, b, &y)) return DVX_FAILED;
    as_tally(vm, self)->n += y;
    return vm->api->retain(vm, self);
}

static dvx_value unary(dvx_vm *vm, dvx_unary op, dvx_value self) {
    int64_t x = as_tally(vm, self)->n;
    if (fails(vm)) return fail(vm);
    return op == DVX_NEG ? new_tally(vm, -x) : vm->api->make_int(vm, ~x);
}

static bool holds(dvx_compare op, int64_t x, int64_t y) {
    switch (op) {
    case DVX_LT: return x < y;
    case DVX_LE: return x <= y;
    case DVX_GT: return x > y;
    case DVX_GE: return x >= y;
    case DVX_EQ: return x == y;
    default: return x != y;
    }
}

static dvx_value compare(dvx_vm *vm, dvx_compare op, dvx_value self, dvx_value other) {
    int64_t x, y;
    if (fails(vm)) return fail(vm);
    if (!is_number(vm, other)) return vm->api->make_not_implemented(vm);
    if (!number(vm, self, &x) || !number(vm, other, &y)) return DVX_FAILED;
    return vm->api->make_bool(vm, holds(op, x, y));
}

static dvx_value get_item(dvx_vm *vm, dvx_value self, dvx_value key) {
    int64_t i;
    if (fails(vm)) return fail(vm);
    return vm->api->read_index(vm, key, &i) ? vm->api->make_int(vm, as_tally(vm, self)->n * i)
                                            : DVX_FAILED;
}

static bool set_item(dvx_vm *vm, dvx_value self, dvx_value key, dvx_value value) {
    int64_t k, v;
    if (fails(vm)) return fail(vm), false;
    if (!vm->api->read_int(vm, key, &k) || !vm->api->read_int(vm, value, &v)) return false;
    as_tally(vm, self)->n = k + v;
    return true;
}

static dvx_value get_value(dvx_vm *vm, dvx_value self) {
    return fails(vm) ? fail(vm) : vm->api->make_int(vm, as_tally(vm, self)->n);
}

static dvx_value get_plain(dvx_vm *vm, dvx_value self) {
    return vm->api->make_bool(vm, as_tally(vm, self)->plain);
}

static bool set_plain(dvx_vm *vm, dvx_value self, dvx_value value) {
    int truth = vm->api->truth(vm, value);
    if (truth >= 0) as_tally(vm, self)->plain = truth;
    return truth >= 0;
}

/* t.plus(x), t(x). */
static dvx_value plus(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    int64_t x;
    (void)count;
    if (fails(vm)) return fail(vm);
    return vm->api->read_int(vm, args[1], &x) ? vm->api->make_int(vm, as_tally(vm, args[0])->n + x)
                                              : DVX_FAILED;
}

static dvx_value call(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    const dvx_value both[] = {self, args[0]};
    (void)count;
    return plus(vm, both, 2);
}

static bool fill(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    int64_t n = 0;
    (void)count;
    if (fails(vm)) return fail(vm), false;
    if (!dvx_failed(args[0]) && !vm->api->read_int(vm, args[0], &n)) return false;
    *as_tally(vm, self) = (tally){n, true};
    return true;
}

/* ---- Derivatives ---- */

static dvx_outcome outcome(dvx_value result, dvx_value *out) {
    *out = result;
    return dvx_failed(result) ? DVX_ERROR : DVX_DONE;
}

/* What `mode` asks for first of all. */
#define RUN(name)                                                                             \
    static dvx_outcome name(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) { \
        (void)v, (void)cache, (void)result;                                                   \
        if (state_of(vm)->mode == 'd') return DVX_DEOPTIMISE;                                 \
        if (fails(vm)) return fail(vm), DVX_ERROR;

/* The operator is in the cache of sites that have one. */
typedef struct memory {
    uint32_t operation;
    bool reuses;
    int64_t number;
} memory;

RUN(run_add)
const memory *m = cache;
tally *a = as_tally(vm, v[0]);
int64_t y;
if (!is_number(vm, v[1])) return DVX_DEOPTIMISE;
if (!number(vm, v[1], &y)) return DVX_ERROR;
if (m->operation == DVX_SUB) y = -y;
if (!m->reuses || !vm->api->is_unique(vm, v[0])) return outcome(new_tally(vm, a->n + y), result);
a->n += y;
return outcome(vm->api->retain(vm, v[0]), result);
}
RUN(run_times)
return outcome(new_tally(vm, as_tally(vm, v[0])->n *((const memory *)cache)->number), result);
}
RUN(run_matmul)
return outcome(vm->api->make_int(vm, as_tally(vm, v[0])->n *as_tally(vm, v[1])->n), result);
}
RUN(run_value)
return outcome(vm->api->make_int(vm, as_tally(vm, v[0])->n), result);
}
RUN(run_scale)
return outcome(vm->api->make_int(vm, as_tally(vm, v[0])->n *((const memory *)cache)->number),
               result);
}
RUN(run_call_and_scale)
return outcome(call_and_scale(vm, v[0], v[1]), result);
}
RUN(run_power)
int64_t y;
if (!vm->api->read_int(vm, v[1], &y)) return DVX_ERROR;
return outcome(vm->api->make_int(vm, as_tally(vm, v[0])->n + y), result);
}
RUN(run_inplace)
return outcome(add_in_place(vm, DVX_ADD, v[0], v[1]), result);
}
RUN(run_negate)
return outcome(new_tally(vm, -as_tally(vm, v[0])->n), result);
}
RUN(run_invert)
return outcome(vm->api->make_int(vm, ~as_tally(vm, v[0])->n), result);
}
RUN(run_compare)
bool b = holds((dvx_compare)((const memory *)cache)->operation, as_tally(vm, v[0])->n,
               as_tally(vm, v[1])->n);
return outcome(vm->api->make_bool(vm, b), result);
}
RUN(run_get)
return outcome(get_item(vm, v[0], v[1]), result);
}
RUN(run_set)
if (!set_item(vm, v[1], v[2], v[0])) return DVX_ERROR;
return DVX_DONE;
}
RUN(run_plus)
return outcome(plus(vm, v, 2), result);
}
RUN(run_make)
int64_t n;
if (!vm->api->read_int(vm, v[1], &n)) return DVX_ERROR;
return outcome(new_tally(vm, n), result);
}

#ifdef DVX_NATIVE
/* Native twins know no mode: they stand only where it is "done" (the guard), and the state's
 * address is in none of their hands. */
static inline const tally *native_tally(dvx_value v) { return dvx_payload_of(v); }

static inline dvx_value native_int(int64_t i) { return dv_fits_int(i) ? dv_int(i) : DVX_FAILED; }

typedef struct native_memory {
    memory m;
    const state *state;
} native_memory;

static inline bool is_done(const void *cache) {
    return ((const native_memory *)cache)->state->mode == 'o';
}

#define NATIVE(name, value)                                                  \
    static inline dvx_value native_##name(const dvx_value *v, void *cache) { \
        if (!is_done(cache)) return DVX_FAILED;                              \
        return value;                                                        \
    }
NATIVE(matmul, native_int(native_tally(v[0])->n *native_tally(v[1])->n))
NATIVE(invert, native_int(~native_tally(v[0])->n))
NATIVE(compare, dv_bool(holds((dvx_compare)((const memory *)cache)->operation,
                              native_tally(v[0])->n, native_tally(v[1])->n)))
/* Where a site met an int with digits first, others like it come here: for the portable twin. */
#define OF_INT(v, ...) (dv_is_int(v) ? native_int(__VA_ARGS__) : DVX_FAILED)
NATIVE(get, OF_INT(v[1], native_tally(v[0])->n *dv_as_int(v[1])))
NATIVE(value, native_int(native_tally(v[0])->n))
NATIVE(plus, OF_INT(v[1], native_tally(v[0])->n + dv_as_int(v[1])))
NATIVE(power, OF_INT(v[1], native_tally(v[0])->n + dv_as_int(v[1])))
static inline bool native_set(const dvx_value *v, void *cache) {
    if (!is_done(cache) || !dv_is_int(v[0]) || !dv_is_int(v[2])) return false;
    ((tally *)dvx_payload_of(v[1]))->n = dv_as_int(v[2]) + dv_as_int(v[0]);
    return true;
}
DVX_OPERATOR(matmul_native, native_matmul, 2)
DVX_OPERATOR(power_native, native_power, 2)
DVX_OPERATOR(invert_native, native_invert, 1)
DVX_OPERATOR(compare_native, native_compare, 2)
DVX_OPERATOR(get_native, native_get, 2)
DVX_ATTRIBUTE(value_native, native_value)
DVX_METHOD_CALL(plus_native, native_plus, 2)
DVX_STORE(set_native, native_set)
static inline dvx_value native_call(const dvx_value *arguments, dvx_value callee, void *cache) {
    if (!is_done(cache) || !dv_is_int(arguments[0])) return DVX_FAILED;
    return native_int(native_tally(callee)->n + dv_as_int(arguments[0]));
}
DVX_CALL(call_native, native_call, 1)
#define CALL_TWIN(name) .native = name##_native, .native_method = name##_native_method
#define TWIN(name)      .native = name##_native
#else
typedef struct native_memory {
    memory m;
    const state *state;
} native_memory;
#define TWIN(name)      .native = NULL
#define CALL_TWIN(name) .native = NULL
#endif

#define DERIVATIVE(id, title, site, inputs, function, ...)                     \
    static const dvx_specialisation id = {.size = sizeof(dvx_specialisation),  \
                                          .name = title,                       \
                                          .family = DVX_SITE_##site,           \
                                          .count = inputs,                     \
                                          .run = function,                     \
                                          .cache_size = sizeof(native_memory), \
                                          __VA_ARGS__};

DERIVATIVE(add_, "ADD_TALLY", BINARY, 2, run_add, .result_type = &tally_type)
DERIVATIVE(times_, "MUL_TALLY_CONST", BINARY, 2, run_times, .result_type = &tally_type,
           .fresh = true, .pure = true)
DERIVATIVE(matmul_, "MATMUL_TALLY", BINARY, 2, run_matmul, .result = DVX_INT, .pure = true,
           TWIN(matmul))
DERIVATIVE(xor_, "XOR_TALLY", BINARY, 2, run_value, .result = DVX_INT, .any = 2)
DERIVATIVE(and_, "AND_TALLY_SCALE", BINARY, 2, run_scale, .result = DVX_INT, .any = 2)
DERIVATIVE(or_, "OR_TALLY_CALL", BINARY, 2, run_call_and_scale, .any = 2)
DERIVATIVE(power_, "POW_TALLY_PLAIN", BINARY, 2, run_power, .result = DVX_INT, .meta = 1,
           TWIN(power))
DERIVATIVE(inplace_, "IADD_TALLY", INPLACE, 2, run_inplace, .result_type = &tally_type)
DERIVATIVE(negate_, "NEG_TALLY", UNARY, 1, run_negate, .result_type = &tally_type)
DERIVATIVE(invert_, "INVERT_TALLY", UNARY, 1, run_invert, .result = DVX_INT, TWIN(invert))
DERIVATIVE(compare_, "COMPARE_TALLY", COMPARE, 2, run_compare, .result = DVX_BOOL, TWIN(compare))
DERIVATIVE(get_, "GET_TALLY", GET_ITEM, 2, run_get, .result = DVX_INT, TWIN(get))
DERIVATIVE(set_, "SET_TALLY", SET_ITEM, 3, run_set, TWIN(set))
DERIVATIVE(value_, "VALUE_TALLY", ATTRIBUTE, 1, run_value, .result = DVX_INT, TWIN(value))
DERIVATIVE(call_, "CALL_TALLY", CALL, 2, run_plus, .result = DVX_INT, CALL_TWIN(call))
DERIVATIVE(make_, "MAKE_TALLY", CALL, 2, run_make, .result_type = &tally_type, .fresh = true)
DERIVATIVE(plus_, "PLUS_TALLY", METHOD, 2, run_plus, .result = DVX_INT, TWIN(plus))

/* ---- The hook ---- */

static const char *const families[] = {"binary", "inplace",   "unary", "compare", "get",
                                       "set",    "attribute", "call",  "method"};
static const char *const origins[] = {"?", "const", "local", "global", "site"};

static void put(char *line, const char *part) {
    if (strlen(line) + strlen(part) < 200) strcat(line, part);
}

/* The family and the operands' origins as a line, which must be one of those expected.  (What is
 * seen depends on levels, so programs cannot get at it.) */
static void note(dvx_vm *vm, const dvx_site *site) {
    char line[256] = "";
    state *s = state_of(vm);
    if (!s->expected[0]) return;
    put(line, families[site->family]);
    for (uint32_t i = 0; i < site->count && i < 4; i++) {
        const dvx_operand *o = &site->operands[i];
        put(line, " ");
        put(line, origins[o->origin]);
        if (o->temporary) put(line, "/dies");
        if (o->pure) put(line, "/pure");
        if (o->maker) put(line, "/");
        if (o->maker) put(line, o->maker->name);
    }
    put(line, "\n");
    if (strstr(s->expected, line) || strlen(s->surprises) + strlen(line) >= sizeof s->surprises)
        return;
    strcat(s->surprises, line);
}

static const dvx_specialisation *of_operator(const dvx_site *site, bool both) {
    switch (site->operation) {
    case DVX_ADD:
    case DVX_SUB: return &add_;
    case DVX_MUL: return &times_;
    case DVX_MATMUL: return both ? &matmul_ : NULL;
    case DVX_XOR: return &xor_;
    case DVX_AND: return &and_;
    case DVX_OR: return &or_;
    default: return &power_;
    }
}

static const dvx_specialisation *choose(dvx_vm *vm, const dvx_site *site) {
    const dvx_operand *v = site->operands;
    bool first = v[0].type == &tally_type;
    bool both = first && site->count > 1 && v[1].type == &tally_type;
    bool with_int = site->count > 1 && vm->api->kind(vm, v[1].value) == DVX_INT && !v[1].type;
    switch (site->family) {
    case DVX_SITE_BINARY:
        if (site->operation == DVX_POW && !with_int) return NULL;
        return first ? of_operator(site, both) : NULL;
    case DVX_SITE_INPLACE: return site->operation == DVX_ADD && first ? &inplace_ : NULL;
    case DVX_SITE_UNARY: return site->operation == DVX_NEG ? &negate_ : &invert_;
    case DVX_SITE_COMPARE: return both ? &compare_ : NULL;
    case DVX_SITE_GET_ITEM: return first && with_int ? &get_ : NULL;
    case DVX_SITE_SET_ITEM:
        return v[1].type && vm->api->kind(vm, v[0].value) == DVX_INT ? &set_ : NULL;
    case DVX_SITE_ATTRIBUTE: {
        char name[8];
        size_t size;
        bool named =
            vm->api->read_str(vm, site->name, name, sizeof name, &size) && size < sizeof name;
        return named && strcmp(name, "value") == 0 ? &value_ : NULL;
    }
    case DVX_SITE_CALL:
        return site->count != 2 ? NULL : v[0].type ? &call_ : with_int ? &make_ : NULL;
    default: return site->count == 2 && with_int ? &plus_ : NULL;
    }
}

static void specialise(dvx_vm *vm, dvx_site *site) {
    const dvx_specialisation *d = choose(vm, site);
    state *s = state_of(vm);
    note(vm, site);
    if (!d) {
        vm->api->decline(vm, site, "a Tally knows no derivative for these operands");
        return;
    }
    int64_t number = 0;
    if (d == &times_ &&
        (site->operands[1].type || !vm->api->read_int(vm, site->operands[1].value, &number) ||
         !vm->api->drop_operand(vm, site, 1)))
        return;
    if (d == &xor_) (void)vm->api->drop_operand(vm, site, 1);
    native_memory *m = vm->api->specialise(vm, site, d);
    if (!m) return;
    *m = (native_memory){.m = {.operation = site->operation,
                               .reuses = site->operands[0].temporary,
                               .number = d == &and_ ? s->scale : number},
                         .state = s};
    if (d == &and_ || d == &or_) (void)vm->api->assume(vm, site, s->keeps_scale);
}

/* ---- The module ---- */

static dvx_value set_mode(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    char name[16];
    size_t size;
    (void)count;
    if (!vm->api->read_str(vm, args[0], name, sizeof name, &size)) return DVX_FAILED;
    state_of(vm)->mode = strcmp(name, "done") == 0 ? 'o' : name[0];
    return vm->api->make_none(vm);
}

static dvx_value set_scale(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    state *s = state_of(vm);
    (void)count;
    if (!vm->api->read_int(vm, args[0], &s->scale)) return DVX_FAILED;
    vm->api->break_assumption(vm, s->keeps_scale);
    return vm->api->make_none(vm);
}

/* expect(lines): what the hook may see from now on; "": anything. */
static dvx_value expect(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    state *s = state_of(vm);
    size_t size;
    (void)count;
    if (!vm->api->read_str(vm, args[0], s->expected, sizeof s->expected, &size)) return DVX_FAILED;
    return vm->api->make_none(vm);
}

/* surprises(): what else it has seen; forgets them. */
static dvx_value surprises(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    state *s = state_of(vm);
    (void)args, (void)count;
    dvx_value v = vm->api->make_str(vm, s->surprises, strlen(s->surprises));
    s->surprises[0] = '\0';
    return v;
}

#define FUNCTION(title, function, arguments)                                              \
    &(const dvx_function) {                                                               \
        .size = sizeof(dvx_function), .name = title, .entry = function, .min = arguments, \
        .max = arguments                                                                  \
    }
#define PARAMETERS(...) \
    &(const dvx_parameters) { .size = sizeof(dvx_parameters), __VA_ARGS__ }

static const char *const argument[] = {"n"};
static const dvx_function *const methods[] = {FUNCTION("plus", plus, 2)};
static const dvx_attribute *const attributes[] = {
    &(const dvx_attribute){sizeof(dvx_attribute), "value", get_value, NULL},
    &(const dvx_attribute){sizeof(dvx_attribute), "plain", get_plain, set_plain},
};

const dvx_type tally_type = {
    .size = sizeof(dvx_type),
    .name = "Tally",
    .payload = sizeof(tally),
    .base = true,
    .initialise = fill,
    .parameters = PARAMETERS(.names = argument, .count = 1, .positional = 1),
    .compare = compare,
    .binary = operate,
    .inplace = add_in_place,
    .unary = unary,
    .binary_operators = DVX_BIT(DVX_ADD) | DVX_BIT(DVX_SUB) | DVX_BIT(DVX_MUL) |
                        DVX_BIT(DVX_MATMUL) | DVX_BIT(DVX_XOR) | DVX_BIT(DVX_AND) |
                        DVX_BIT(DVX_OR) | DVX_BIT(DVX_POW),
    .inplace_operators = DVX_BIT(DVX_ADD),
    .unary_operators = DVX_BIT(DVX_NEG) | DVX_BIT(DVX_INVERT),
    .get_item = get_item,
    .set_item = set_item,
    .call = call,
    .call_parameters = PARAMETERS(.names = argument, .count = 1, .positional = 1, .required = 1),
    .method_count = 1,
    .methods = methods,
    .attribute_count = 2,
    .attributes = attributes,
    .specialise = specialise,
    .meta = offsetof(tally, plain),
    .has_meta = true,
};

static bool init(dvx_vm *vm, dvx_value module) {
    state *s = state_of(vm);
    *s = (state){.mode = 'o', .scale = 1};
    s->keeps_scale = vm->api->make_assumption(vm);
    return s->keeps_scale && vm->api->add_type(vm, module, &tally_type) &&
           vm->api->add_function(vm, module, FUNCTION("mode", set_mode, 1)) &&
           vm->api->add_function(vm, module, FUNCTION("scale", set_scale, 1)) &&
           vm->api->add_function(vm, module, FUNCTION("expect", expect, 1)) &&
           vm->api->add_function(vm, module, FUNCTION("surprises", surprises, 0));
}

DVX_EXTENSION_WITH_STATE("tally", init, sizeof(state), NULL);
