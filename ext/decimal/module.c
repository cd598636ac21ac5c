/* module.c: the module, and what the dl half is given to work with.
 *
 * Invariants
 *  1. `setup` of _decimal_types.dl gets both classes and the functions below, and returns what the
 *     module has beside them. */
#include "decimal.h"

#include <string.h>

/* ---- What dl uses ---- */

/* kind, sign, coefficient, exponent */
static dvx_value tuple_of(dvx_vm *vm, const number *n) {
    whole c;
    whole_of(vm, n, &c);
    dvx_value items[] = {vm->api->make_int(vm, n->kind), vm->api->make_int(vm, n->sign),
                         whole_value(vm, &c), vm->api->make_int(vm, n->exponent)};
    dvx_value tuple = dvx_failed(items[2]) ? DVX_FAILED : vm->api->make_tuple(vm, items, 4);
    whole_drop(vm, &c);
    vm->api->release(vm, items[3]);
    return tuple;
}

/* parts(d): kind, sign, coefficient, exponent */
static dvx_value parts(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const number *n = vm->api->check_payload(vm, args[0], &decimal_type);
    (void)count;
    return n ? tuple_of(vm, n) : DVX_FAILED;
}

/* What four items are; `big` is borrowed. */
static bool number_of(dvx_vm *vm, const dvx_value items[4], number *n) {
    int64_t kind, sign, exponent;
    if (!vm->api->read_int(vm, items[0], &kind) || !vm->api->read_int(vm, items[1], &sign) ||
        !vm->api->read_int(vm, items[3], &exponent))
        return false;
    if (decimal_read(vm, items[2], n) != n) {
        vm->api->raise(vm, DVX_TYPE_ERROR, "a coefficient is an int");
        return false;
    }
    n->kind = (uint8_t)kind;
    n->sign = (uint8_t)sign;
    n->exponent = exponent;
    return true;
}

/* make(kind, sign, coefficient, exponent): a Decimal */
static dvx_value make(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    number n;
    (void)count;
    return number_of(vm, args, &n) ? decimal_make(vm, &n) : DVX_FAILED;
}

/* The number of a tuple, which lives longer. */
static bool read_tuple(dvx_vm *vm, dvx_value tuple, number *n) {
    dvx_value items[4] = {DVX_FAILED, DVX_FAILED, DVX_FAILED, DVX_FAILED};
    for (int i = 0; i < 4; i++) {
        dvx_value key = vm->api->make_int(vm, i);
        items[i] = vm->api->get_item(vm, tuple, key);
        if (dvx_failed(items[i])) break;
    }
    bool good = !dvx_failed(items[3]) && number_of(vm, items, n);
    for (int i = 0; i < 4; i++) vm->api->release(vm, items[i]);
    return good;
}

static bool read_field(dvx_vm *vm, dvx_value work, const char *name, int64_t *out) {
    dvx_value v = vm->api->get_attribute(vm, work, name);
    bool good = !dvx_failed(v) && vm->api->read_int(vm, v, out);
    vm->api->release(vm, v);
    return good;
}

/* compute(name, w, a, b): the operation of large.c on tuples, with a Work; of another name, a is
 * only rounded. */
static dvx_value compute(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    char name[32];
    size_t size;
    context with = {.precision = 0};
    number a, b, made[2] = {{.c = 0}, {.c = 0}};
    int64_t status;
    (void)count;
    if (!vm->api->read_str(vm, args[0], name, sizeof name, &size) ||
        !read_field(vm, args[1], "prec", &with.precision) ||
        !read_field(vm, args[1], "rounding", &with.rounding) ||
        !read_field(vm, args[1], "emin", &with.emin) ||
        !read_field(vm, args[1], "emax", &with.emax) ||
        !read_field(vm, args[1], "clamp", &with.clamp) ||
        !read_field(vm, args[1], "status", &status) || !read_tuple(vm, args[2], &a) ||
        !read_tuple(vm, args[3], &b))
        return DVX_FAILED;
    job j = {.vm = vm, .with = &with, .status = (uint32_t)status};
    if (!decimal_compute(&j, decimal_find(name), &a, &b, made)) return DVX_FAILED;
    dvx_value conditions = vm->api->make_int(vm, j.status), result = DVX_FAILED;
    if (vm->api->set_attribute(vm, args[1], "status", conditions)) result = tuple_of(vm, &made[0]);
    vm->api->release(vm, conditions);
    decimal_drop(vm, &made[0]);
    return result;
}

/* digits(c): how many an int has */
static dvx_value digits(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    number n;
    whole c;
    int64_t result;
    (void)count;
    if (decimal_read(vm, args[0], &n) != &n)
        return vm->api->raise(vm, DVX_TYPE_ERROR, "a coefficient is an int");
    whole_of(vm, &n, &c);
    bool good = whole_digits(vm, &c, &result);
    whole_drop(vm, &c);
    return good ? vm->api->make_int(vm, result) : DVX_FAILED;
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

/* write(d, engineering, capital): its text */
static dvx_value write(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const number *n = vm->api->check_payload(vm, args[0], &decimal_type);
    int64_t engineering, capital;
    (void)count;
    if (!n || !vm->api->read_int(vm, args[1], &engineering) ||
        !vm->api->read_int(vm, args[2], &capital))
        return DVX_FAILED;
    return decimal_text(vm, n, false, engineering ? ENGINEERING : SCIENTIFIC, capital != 0);
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
TOOL(compute, 4);
TOOL(digits, 1);
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
    static const dvx_function *const tools[] = {
        &tool_getcontext,  &tool_parts, &tool_make, &tool_fields,  &tool_signal,
        &tool_set_signals, &tool_write, &tool_use,  &tool_compute, &tool_digits};
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
    for (size_t i = 0; i < LENGTH_OF(state->powers); i++) state->powers[i].value = DVX_FAILED;
    dvx_value module = vm->api->import(vm, "decimal");
    bool good = !dvx_failed(module) && fill_module(vm, state, module);
    vm->api->release(vm, module);
    return good;
}

static void finish(dvx_vm *vm, void *memory) {
    decimal_state *state = memory;
    vm->api->release(vm, state->current);
    vm->api->release(vm, state->rest);
    for (size_t i = 0; i < LENGTH_OF(state->powers); i++)
        vm->api->release(vm, state->powers[i].value);
}

DVX_EXTENSION_WITH_STATE("_decimal", init, sizeof(decimal_state), finish);
