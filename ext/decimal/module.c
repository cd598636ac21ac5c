/* module.c: the module, and what the dl half is given to work with.
 *
 * Invariants
 *  1. `setup` of _decimal_types.dl gets both classes and the functions below, and returns what the
 *     module has beside them. */
#include "decimal.h"

#include <string.h>

/* ---- What dl uses ---- */

static dvx_value int_of(dvx_vm *vm, const number *n) {
    if (n->is_big) return vm->api->retain(vm, n->big);
    if (n->c <= INT64_MAX) return vm->api->make_int(vm, (int64_t)n->c);
    number whole = {.c = n->c};
    char text[MOST_TEXT];
    return vm->api->make_int_text(vm, text, decimal_write(&whole, false, true, text), 10);
}

/* parts(d): kind, sign, coefficient, exponent */
static dvx_value parts(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const number *n = vm->api->check_payload(vm, args[0], &decimal_type);
    (void)count;
    if (!n) return DVX_FAILED;
    dvx_value items[] = {vm->api->make_int(vm, n->kind), vm->api->make_int(vm, n->sign),
                         int_of(vm, n), vm->api->make_int(vm, n->exponent)};
    dvx_value tuple = DVX_FAILED;
    if (!dvx_failed(items[2])) tuple = vm->api->make_tuple(vm, items, 4);
    for (int i = 0; i < 4; i++) vm->api->release(vm, items[i]);
    return tuple;
}

static bool read_coefficient(dvx_vm *vm, dvx_value v, number *n) {
    int64_t i;
    if (vm->api->read_int(vm, v, &i)) {
        n->c = (u128)i;
        return true;
    }
    vm->api->clear_error(vm);
    int small = vm->api->less(vm, v, decimal_state_of(vm)->limit);
    if (small < 0) return false;
    if (!small) {
        n->big = v;
        n->is_big = true;
        return true;
    }
    char text[MOST_TEXT];
    size_t size;
    dvx_value digits = vm->api->str(vm, v);
    bool good = !dvx_failed(digits) && vm->api->read_str(vm, digits, text, sizeof text, &size) &&
                decimal_parse(text, size, n);
    vm->api->release(vm, digits);
    return good;
}

/* make(kind, sign, coefficient, exponent): a Decimal */
static dvx_value make(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    number n = {.c = 0};
    int64_t kind, sign, exponent;
    (void)count;
    if (!vm->api->read_int(vm, args[0], &kind) || !vm->api->read_int(vm, args[1], &sign) ||
        !read_coefficient(vm, args[2], &n) || !vm->api->read_int(vm, args[3], &exponent))
        return DVX_FAILED;
    n.kind = (uint8_t)kind;
    n.sign = (uint8_t)sign;
    n.exponent = exponent;
    return decimal_make(vm, &n);
}

/* fields(context): prec, rounding, Emin, Emax, clamp, capitals, traps, status */
static dvx_value fields(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const context *c = vm->api->check_payload(vm, args[0], &context_type);
    (void)count;
    if (!c) return DVX_FAILED;
    const int64_t all[] = {c->precision, c->rounding, c->emin,  c->emax,
                           c->clamp,     c->capitals, c->traps, c->status};
    dvx_value items[LENGTH_OF(all)];
    for (size_t i = 0; i < LENGTH_OF(all); i++) items[i] = vm->api->make_int(vm, all[i]);
    dvx_value tuple = vm->api->make_tuple(vm, items, LENGTH_OF(all));
    for (size_t i = 0; i < LENGTH_OF(all); i++) vm->api->release(vm, items[i]);
    return tuple;
}

/* set_signals(context, traps, status) */
static dvx_value set_signals(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    context *c = vm->api->check_payload(vm, args[0], &context_type);
    int64_t traps, status;
    (void)count;
    if (!c || !vm->api->read_int(vm, args[1], &traps) || !vm->api->read_int(vm, args[2], &status))
        return DVX_FAILED;
    c->traps = (uint32_t)traps;
    c->status = (uint32_t)status;
    return vm->api->make_none(vm);
}

/* signal(context, status): adds the conditions, and raises */
static dvx_value signal(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    context *c = vm->api->check_payload(vm, args[0], &context_type);
    int64_t status;
    (void)count;
    if (!c || !vm->api->read_int(vm, args[1], &status)) return DVX_FAILED;
    return decimal_signal(vm, c, (uint32_t)status) ? vm->api->make_none(vm) : DVX_FAILED;
}

/* write(d, engineering, capital): its text, or None if it is large */
static dvx_value write(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const number *n = vm->api->check_payload(vm, args[0], &decimal_type);
    char text[MOST_TEXT];
    int64_t engineering, capital;
    (void)count;
    if (!n || !vm->api->read_int(vm, args[1], &engineering) ||
        !vm->api->read_int(vm, args[2], &capital))
        return DVX_FAILED;
    size_t size = decimal_write(n, engineering != 0, capital != 0, text);
    return size ? vm->api->make_str(vm, text, size) : vm->api->make_none(vm);
}

static dvx_value getcontext(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)args, (void)count;
    return vm->api->retain(vm, decimal_state_of(vm)->current);
}

/* use(context): it is the current one from now on */
static dvx_value use(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    decimal_state *state = decimal_state_of(vm);
    context *c = vm->api->check_payload(vm, args[0], &context_type);
    (void)count;
    if (!c) return DVX_FAILED;
    dvx_value before = state->current;
    state->current = vm->api->retain(vm, args[0]);
    state->now = c;
    vm->api->release(vm, before);
    return vm->api->make_none(vm);
}

#define TOOL(id, inputs)                    \
    static const dvx_function tool_##id = { \
        .size = sizeof(dvx_function), .name = #id, .entry = id, .min = inputs, .max = inputs}
TOOL(parts, 1);
TOOL(make, 4);
TOOL(fields, 1);
TOOL(set_signals, 3);
TOOL(signal, 2);
TOOL(write, 3);
TOOL(use, 1);
TOOL(getcontext, 0);

/* ---- The module ---- */

static bool add_all(dvx_vm *vm, dvx_value module, dvx_value pairs) {
    int64_t count = vm->api->length(vm, pairs);
    bool good = count >= 0;
    for (int64_t i = 0; good && i < count; i += 2) {
        dvx_value at = vm->api->make_int(vm, i), behind = vm->api->make_int(vm, i + 1);
        dvx_value name = vm->api->get_item(vm, pairs, at);
        dvx_value value = dvx_failed(name) ? DVX_FAILED : vm->api->get_item(vm, pairs, behind);
        char text[64];
        size_t size;
        good = !dvx_failed(value) && vm->api->read_str(vm, name, text, sizeof text, &size) &&
               vm->api->add_constant(vm, module, text, value);
        vm->api->release(vm, name);
        vm->api->release(vm, value);
        vm->api->release(vm, at);
        vm->api->release(vm, behind);
    }
    return good;
}

static bool fill_module(dvx_vm *vm, decimal_state *state, dvx_value module) {
    static const dvx_function *const tools[] = {&tool_getcontext, &tool_parts,  &tool_make,
                                                &tool_fields,     &tool_signal, &tool_set_signals,
                                                &tool_write,      &tool_use};
    if (!vm->api->add_type(vm, module, &decimal_type) ||
        !vm->api->add_type(vm, module, &context_type))
        return false;
    for (size_t i = 0; i < LENGTH_OF(tools); i++)
        if (!vm->api->add_function(vm, module, tools[i])) return false;
    state->rest = vm->api->import(vm, "_decimal_types");
    if (dvx_failed(state->rest)) return false;
    dvx_value pairs = vm->api->call_method(vm, state->rest, "setup", &module, 1);
    bool good = !dvx_failed(pairs) && add_all(vm, module, pairs);
    vm->api->release(vm, pairs);
    for (size_t i = 1; good && i < LENGTH_OF(tools); i++) /* dl has them now, and nobody else */
        good = vm->api->delete_attribute(vm, module, tools[i]->name);
    return good;
}

/* Everything goes into the module decimal, which is about to import this one. */
static bool init(dvx_vm *vm, dvx_value own) {
    decimal_state *state = decimal_state_of(vm);
    (void)own;
    state->current = state->rest = DVX_FAILED;
    state->limit = vm->api->make_int_text(vm, "100000000000000000000000000000000000000", 39, 10);
    dvx_value module = dvx_failed(state->limit) ? DVX_FAILED : vm->api->import(vm, "decimal");
    bool good = !dvx_failed(module) && fill_module(vm, state, module);
    vm->api->release(vm, module);
    return good;
}

static void finish(dvx_vm *vm, void *memory) {
    decimal_state *state = memory;
    vm->api->release(vm, state->current);
    vm->api->release(vm, state->rest);
    vm->api->release(vm, state->limit);
}

DVX_EXTENSION_WITH_STATE("_decimal", init, sizeof(decimal_state), finish);
