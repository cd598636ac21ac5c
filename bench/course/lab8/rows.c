/* rows.c: an extension with a type, rows.Row, eight floats that are added and multiplied at once;
 * lab 8 (lesson8.md).
 *
 *     Row(first, step)      first, first + step, ...
 *     a + b, a * b          of two rows, or of a row and a number
 *     a[i]                  a float
 *     rows.made()           how many rows there have been so far
 *
 * Hot sites ask `specialise` what they are to become.  (Nothing, so far.)
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

/* Lab 8, task 1: the derivative GET_ROW of a[i], with a native twin.
 * Lab 8, task 2: the derivatives ADD_ROW and MUL_ROW of two rows, or of a row and a float. */

/* ---- Whole expressions ---- */

/* Lab 8, task 3: the derivative EXPRESSION_ROW of expressions that consist of these two. */

/* ---- The hook ---- */

static void specialise(dvx_vm *vm, dvx_site *site) {
    vm->api->decline(vm, site, "a Row knows no derivative for these operands");
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
