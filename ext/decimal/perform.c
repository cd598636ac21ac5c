/* perform.c: an operation from its operands to its result: in C, or in dl.
 *
 * Invariants
 *  1. The context has its conditions before the result exists, as in CPython: what is trapped is
 *     raised, and nothing is returned. */
#include "decimal.h"

#include <string.h>

static const char *const names[] = {
#define OPERATION(name, operands, parameters) #name,
#include "operations.inc"
#undef OPERATION
};
_Static_assert(LENGTH_OF(names) == OPERATIONS, "a name for each operation");

const number *decimal_read(dvx_vm *vm, dvx_value v, number *space) {
    const number *n = vm->api->payload(vm, v, &decimal_type);
    if (n) return n;
    dvx_kind kind = vm->api->kind(vm, v);
    if (kind != DVX_INT && kind != DVX_BOOL) return NULL;
    uint64_t word;
    int64_t size;
    const uint64_t *limbs = vm->api->int_limbs(vm, v, &word, &size);
    *space = (number){.sign = size < 0};
    const int64_t count = size < 0 ? -size : size;
    if (count <= 2) space->c = ((u128)(count > 1 ? limbs[1] : 0) << 64) | (count ? limbs[0] : 0);
    if (count > 2 || space->c >= decimal_powers[SMALL_DIGITS]) {
        space->big = v;
        space->is_big = true;
    }
    return space;
}

dvx_value decimal_make(dvx_vm *vm, const number *n) {
    enum { WORK = 80 }; /* of an operation */
    void *payload;
    if (!dvx_work(vm, WORK)) return DVX_FAILED;
    dvx_value result = vm->api->make_object(vm, &decimal_type, &payload);
    if (dvx_failed(result)) return result;
    number *made = payload;
    *made = *n;
    made->filled = true;
    if (made->is_big) vm->api->retain(vm, made->big);
    return result;
}

dvx_value decimal_call(dvx_vm *vm, const char *name, const dvx_value *args, uint32_t count) {
    dvx_value given[8], none = vm->api->make_none(vm);
    if (count > LENGTH_OF(given)) return vm->api->raise(vm, DVX_TYPE_ERROR, "too many arguments");
    for (uint32_t i = 0; i < count; i++) given[i] = dvx_failed(args[i]) ? none : args[i];
    dvx_value result = vm->api->call_method(vm, decimal_state_of(vm)->rest, name, given, count);
    vm->api->release(vm, none);
    return result;
}

bool decimal_signal(dvx_vm *vm, context *with, uint32_t status) {
    with->status |= status;
    if (!(status & with->traps)) return true;
    dvx_value bits = vm->api->make_int(vm, status & with->traps);
    dvx_value result = decimal_call(vm, "raise_signals", &bits, 1);
    vm->api->release(vm, bits);
    vm->api->release(vm, result);
    return false;
}

static const char *const roundings[ROUNDINGS] = {
    "ROUND_UP",      "ROUND_DOWN",      "ROUND_CEILING",   "ROUND_FLOOR",
    "ROUND_HALF_UP", "ROUND_HALF_DOWN", "ROUND_HALF_EVEN", "ROUND_05UP"};

bool decimal_read_rounding(dvx_vm *vm, dvx_value v, int64_t *out) {
    char text[32];
    size_t size;
    *out = ROUNDING_OF_CONTEXT;
    dvx_kind kind = dvx_failed(v) ? DVX_NONE : vm->api->kind(vm, v);
    if (kind == DVX_NONE) return true;
    if (kind == DVX_STR && !vm->api->read_str(vm, v, text, sizeof text, &size)) return false;
    if (kind == DVX_STR && size < sizeof text)
        for (*out = 0; *out < ROUNDINGS; ++*out)
            if (!strcmp(text, roundings[*out])) return true;
    vm->api->raise(vm, DVX_TYPE_ERROR,
                   "valid values for rounding are:\n  [ROUND_CEILING, ROUND_FLOOR, ROUND_UP, "
                   "ROUND_DOWN,\n   ROUND_HALF_UP, ROUND_HALF_DOWN, ROUND_HALF_EVEN,\n   "
                   "ROUND_05UP]");
    return false;
}

operation decimal_find(const char *name) {
    operation op = 0;
    while (op < OPERATIONS && strcmp(names[op], name)) op++;
    return op;
}

/* The operation, which is one of large.c. */
static dvx_value compute(dvx_vm *vm, operation op, context *now, const context *by, const number *a,
                         const number *b) {
    enum { WORK = 150 }; /* what GMP does in place at most, on average */
    job j = {.vm = vm, .with = by};
    number made[2] = {{.c = 0}, {.c = 0}};
    dvx_value results[2] = {DVX_FAILED, DVX_FAILED}, pair = DVX_FAILED;
    if (!dvx_work(vm, WORK) || !decimal_compute(&j, op, a, b, made)) return DVX_FAILED;
    if (decimal_signal(vm, now, j.status)) results[0] = decimal_make(vm, &made[0]);
    if (op == OP_divmod && !dvx_failed(results[0])) {
        results[1] = decimal_make(vm, &made[1]);
        if (!dvx_failed(results[1])) pair = vm->api->make_tuple(vm, results, 2);
    }
    decimal_drop(vm, &made[0]);
    decimal_drop(vm, &made[1]);
    if (op != OP_divmod) return results[0];
    vm->api->release(vm, results[0]);
    vm->api->release(vm, results[1]);
    return pair;
}

static dvx_value in_dl(dvx_vm *vm, operation op, dvx_value with, int64_t rounding,
                       const dvx_value *operands, uint32_t count) {
    dvx_value args[8];
    args[0] = vm->api->make_str(vm, names[op], strlen(names[op]));
    args[1] = with;
    args[2] = vm->api->make_int(vm, rounding);
    for (uint32_t i = 0; i < count; i++) args[3 + i] = operands[i];
    dvx_value result =
        dvx_failed(args[0]) ? DVX_FAILED : decimal_call(vm, "perform", args, count + 3);
    vm->api->release(vm, args[0]);
    vm->api->release(vm, args[2]);
    return result;
}

dvx_value decimal_perform(dvx_vm *vm, operation op, dvx_value with, int64_t rounding,
                          const dvx_value *operands, uint32_t count) {
    decimal_state *state = decimal_state_of(vm);
    number spaces[2], made;
    const number *a, *b = NULL;
    context *now = state->now;
    if (dvx_failed(with) || vm->api->kind(vm, with) == DVX_NONE)
        with = state->current;
    else if (!(now = vm->api->payload(vm, with, &context_type)))
        return vm->api->raise(vm, DVX_TYPE_ERROR, "optional argument must be a context");
    context other;
    const context *by = now;
    if (rounding != ROUNDING_OF_CONTEXT) {
        other = *now;
        other.rounding = rounding;
        by = &other;
    }
    uint32_t status;
    const bool in_c = op <= LAST_IN_C && (a = decimal_read(vm, operands[0], &spaces[0])) &&
                      (count < 2 || (b = decimal_read(vm, operands[1], &spaces[1])));
    if (in_c && decimal_fast(op, by, a, b, &made, &status))
        return decimal_signal(vm, now, status) ? decimal_make(vm, &made) : DVX_FAILED;
    vm->api->retain(vm, with); /* dl code may set another context */
    dvx_value result =
        in_c ? compute(vm, op, now, by, a, b) : in_dl(vm, op, with, rounding, operands, count);
    vm->api->release(vm, with);
    return result;
}
