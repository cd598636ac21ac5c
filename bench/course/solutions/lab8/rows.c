/* rows.c: an extension with a type, rows.Row, eight floats that are added and multiplied at once;
 * lab 8 (lesson8.md).
 *
 *     Row(first, step)      first, first + step, ...
 *     a + b, a * b          of two rows, or of a row and a number
 *     a[i]                  a float
 *     rows.made()           how many rows there have been so far
 *
 * Hot sites become GET_ROW, ADD_ROW and MUL_ROW, and whole expressions of + and * EXPRESSION_ROW,
 * which makes one row.
 *
 * Invariants
 *  1. Slots and derivatives compute with the same functions.
 *  2. A derivative that finds what it does not know deoptimises before it has any effect. */
#include <dynvm_ext.h>

enum { SIZE = 8 };

typedef struct row {
    double x[SIZE];
} row;

typedef struct state {
    int64_t made;
} state;

static const dvx_type row_type;

static row *as_row(dvx_vm *vm, dvx_value v) { return vm->api->payload(vm, v, &row_type); }

static dvx_value new_row(dvx_vm *vm, row **made) {
    void *payload;
    dvx_value v = vm->api->make_object(vm, &row_type, &payload);
    if (!dvx_failed(v)) ((state *)vm->api->state(vm, &dvx_extension))->made++;
    if (!dvx_failed(v)) *made = payload;
    return v;
}

/* ---- What rows can do ---- */

/* An operand of + and *: a row, or the same number eight times. */
typedef struct operand {
    const row *r;
    double number;
} operand;

/* 1; 0: neither a row nor a number; -1: raised. */
static int look(dvx_vm *vm, dvx_value v, operand *out) {
    *out = (operand){as_row(vm, v), 0};
    if (out->r) return 1;
    dvx_kind kind = vm->api->kind(vm, v);
    if (kind != DVX_FLOAT && kind != DVX_INT) return 0;
    return vm->api->read_float(vm, v, &out->number) ? 1 : -1;
}

static inline double at(const operand *o, int i) { return o->r ? o->r->x[i] : o->number; }

static inline double apply(uint32_t operation, double a, double b) {
    return operation == DVX_ADD ? a + b : a * b;
}

/* The slot `binary`: a + b, a * b. */
static dvx_value operate(dvx_vm *vm, dvx_binary operation, dvx_value a, dvx_value b) {
    operand x, y;
    row *made;
    int known = look(vm, a, &x);
    if (known > 0) known = look(vm, b, &y);
    if (known <= 0) return known ? DVX_FAILED : vm->api->make_not_implemented(vm);
    dvx_value result = new_row(vm, &made);
    for (int i = 0; i < SIZE && !dvx_failed(result); i++)
        made->x[i] = apply(operation, at(&x, i), at(&y, i));
    return result;
}

/* The slot `get_item`: a[i]. */
static dvx_value get_item(dvx_vm *vm, dvx_value self, dvx_value key) {
    int64_t i;
    if (!vm->api->read_index(vm, key, &i)) return DVX_FAILED;
    if (i < 0) i += SIZE;
    if (i >= 0 && i < SIZE) return vm->api->make_float(vm, as_row(vm, self)->x[i]);
    return vm->api->raise(vm, DVX_INDEX_ERROR, "row index out of range");
}

/* ---- Single sites ---- */

/* The cache of ADD_ROW and MUL_ROW: which of them it is. */
typedef struct memory {
    uint32_t operation;
} memory;

static dvx_outcome run_binary(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    const memory *m = cache;
    operand x, y;
    row *made;
    if (look(vm, v[0], &x) <= 0 || look(vm, v[1], &y) <= 0) return DVX_DEOPTIMISE;
    *result = new_row(vm, &made);
    if (dvx_failed(*result)) return DVX_ERROR;
    for (int i = 0; i < SIZE; i++) made->x[i] = apply(m->operation, at(&x, i), at(&y, i));
    return DVX_DONE;
}

static dvx_outcome run_get(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    (void)cache;
    *result = get_item(vm, v[0], v[1]);
    return dvx_failed(*result) ? DVX_ERROR : DVX_DONE;
}

#ifdef DVX_NATIVE
static inline dvx_value native_get(const dvx_value *v, void *cache) {
    (void)cache;
    if (!dv_is_int(v[1])) return DVX_FAILED;
    const int64_t i = dv_as_int(v[1]);
    return i >= 0 && i < SIZE ? dv_float(((const row *)dvx_payload_of(v[0]))->x[i]) : DVX_FAILED;
}
DVX_OPERATOR(get_native, native_get, 2)
#define GET_NATIVE get_native
#else
#define GET_NATIVE NULL
#endif

#define BINARY(title, function, inputs, bytes)                                           \
    {                                                                                    \
        .size = sizeof(dvx_specialisation), .name = title, .family = DVX_SITE_BINARY,    \
        .count = inputs, .run = function, .cache_size = bytes, .result_type = &row_type, \
        .fresh = true                                                                    \
    }
static const dvx_specialisation add_row = BINARY("ADD_ROW", run_binary, 2, sizeof(memory)),
                                multiply_row = BINARY("MUL_ROW", run_binary, 2, sizeof(memory)),
                                get_row = {.size = sizeof(dvx_specialisation),
                                           .name = "GET_ROW",
                                           .family = DVX_SITE_GET_ITEM,
                                           .count = 2,
                                           .run = run_get,
                                           .result = DVX_FLOAT,
                                           .native = GET_NATIVE};

/* ---- Whole expressions ---- */

/* The operations in the order of execution: input i >= 0 is an operand, else the result of step
 * ~i. */
enum { MOST_STEPS = 8, MOST_OPERANDS = MOST_STEPS + 1 };
typedef struct program {
    uint32_t count, operand_count;
    struct {
        uint32_t operation;
        int32_t inputs[2];
    } steps[MOST_STEPS];
} program;

static dvx_outcome run_program(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    const program *p = cache;
    operand operands[MOST_OPERANDS];
    row *made;
    for (uint32_t k = 0; k < p->operand_count; k++)
        if (look(vm, v[k], &operands[k]) <= 0) return vm->api->clear_error(vm), DVX_DEOPTIMISE;
    *result = new_row(vm, &made);
    if (dvx_failed(*result)) return DVX_ERROR;
    for (int i = 0; i < SIZE; i++) {
        double done[MOST_STEPS];
        for (uint32_t k = 0; k < p->count; k++) {
            double x[2];
            for (int j = 0; j < 2; j++) {
                int32_t input = p->steps[k].inputs[j];
                x[j] = input < 0 ? done[~input] : at(&operands[input], i);
            }
            done[k] = apply(p->steps[k].operation, x[0], x[1]);
        }
        made->x[i] = done[p->count - 1];
    }
    return DVX_DONE;
}

/* By the number of operands. */
#define EXPRESSION(n) BINARY("EXPRESSION_ROW", run_program, n, sizeof(program))
static const dvx_specialisation expressions[MOST_OPERANDS + 1] = {
    EXPRESSION(0), EXPRESSION(1), EXPRESSION(2), EXPRESSION(3), EXPRESSION(4),
    EXPRESSION(5), EXPRESSION(6), EXPRESSION(7), EXPRESSION(8), EXPRESSION(9)};

static bool make_program(program *p, const dvx_expression *x) {
    *p = (program){.count = x->node_count, .operand_count = x->operand_count};
    if (p->count < 2 || p->count > MOST_STEPS || p->operand_count > MOST_OPERANDS) return false;
    for (uint32_t k = 0; k < p->count; k++) {
        const dvx_node *node = &x->nodes[k];
        if (node->derivative != &add_row && node->derivative != &multiply_row) return false;
        p->steps[k].operation = node->operation;
        p->steps[k].inputs[0] = node->inputs[0];
        p->steps[k].inputs[1] = node->inputs[1];
    }
    return true;
}

/* Of the expressions that end in the site, the largest that is all + and *. */
static void fuse(dvx_vm *vm, dvx_site *site) {
    const dvx_expression *x = vm->api->expression(vm, site);
    program p;
    while (x && !make_program(&p, x)) x = vm->api->smaller_expression(vm, site);
    program *cache = x ? vm->api->fuse(vm, site, &expressions[x->operand_count]) : NULL;
    if (cache) *cache = p;
}

/* ---- The hook ---- */

static bool is_known(dvx_vm *vm, const dvx_operand *o) {
    return o->type == &row_type || vm->api->kind(vm, o->value) == DVX_FLOAT;
}

static void specialise(dvx_vm *vm, dvx_site *site) {
    const dvx_operand *v = site->operands;
    if (site->family == DVX_SITE_GET_ITEM && v[0].type == &row_type &&
        vm->api->kind(vm, v[1].value) == DVX_INT) {
        vm->api->specialise(vm, site, &get_row);
    } else if (site->family == DVX_SITE_BINARY && is_known(vm, &v[0]) && is_known(vm, &v[1])) {
        const bool adds = site->operation == DVX_ADD;
        memory *m = vm->api->specialise(vm, site, adds ? &add_row : &multiply_row);
        if (!m) return;
        m->operation = site->operation;
        fuse(vm, site);
    } else {
        vm->api->decline(vm, site, "a Row knows no derivative for these operands");
    }
}

/* ---- The type and the module ---- */

static bool fill(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    double first, step;
    (void)count;
    if (!vm->api->read_float(vm, args[0], &first) || !vm->api->read_float(vm, args[1], &step))
        return false;
    for (int i = 0; i < SIZE; i++) as_row(vm, self)->x[i] = first + i * step;
    ((state *)vm->api->state(vm, &dvx_extension))->made++;
    return true;
}

static int64_t length(dvx_vm *vm, dvx_value self) {
    (void)vm, (void)self;
    return SIZE;
}

static const dvx_parameters parameters = {.size = sizeof(dvx_parameters),
                                          .names = (const char *const[]){"first", "step"},
                                          .count = 2,
                                          .positional = 2,
                                          .required = 2};

static const dvx_type row_type = {
    .size = sizeof(dvx_type),
    .name = "Row",
    .payload = sizeof(row),
    .initialise = fill,
    .parameters = &parameters,
    .binary = operate,
    .binary_operators = DVX_BIT(DVX_ADD) | DVX_BIT(DVX_MUL),
    .length = length,
    .get_item = get_item,
    .specialise = specialise,
};

static dvx_value made(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)args, (void)count;
    return vm->api->make_int(vm, ((state *)vm->api->state(vm, &dvx_extension))->made);
}

static const dvx_function made_function = {
    .size = sizeof(dvx_function), .name = "made", .entry = made};

static bool init(dvx_vm *vm, dvx_value module) {
    return vm->api->add_function(vm, module, &made_function) &&
           vm->api->add_type(vm, module, &row_type);
}

DVX_EXTENSION_WITH_STATE("rows", init, sizeof(state), NULL);
