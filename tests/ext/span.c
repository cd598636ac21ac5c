/* span.c: a type whose methods loops call with the payloads of objects: signatures with p. */
#include <math.h>
#include <stdio.h>

#include <dynvm_ext.h>

typedef struct span {
    double low, high;
    int64_t calls; /* of what has an effect */
} span;

static const dvx_type span_type;

static span *of(dvx_vm *vm, dvx_value v) { return vm->api->check_payload(vm, v, &span_type); }

/* ---- What loops call ---- */

static double length(const span *s) { return s->high - s->low; }

/* A nan: they have nothing in common, which is an error. */
static double common(const span *s, const span *t) {
    const double low = fmax(s->low, t->low), high = fmin(s->high, t->high);
    return low <= high ? high - low : NAN;
}
static bool has_common(const dvx_number *arguments, dvx_number result) {
    (void)arguments;
    return !isnan(result.d);
}

static double at(const span *s, double part) { return s->low + part * (s->high - s->low); }
static bool touches(const span *s, const span *t) { return s->low <= t->high && t->low <= s->high; }
static int64_t calls_of(const span *s) { return s->calls; }
static void count(span *s) { s->calls++; }
static void grow(span *s, double by) { s->high += by, s->calls++; }
static void take(span *s, const span *t) { s->low = t->low, s->high = t->high, s->calls++; }

/* ---- The same with values ---- */

static dvx_value length_boxed(dvx_vm *vm, const dvx_value *args, uint32_t n) {
    (void)n;
    return vm->api->make_float(vm, length(of(vm, args[0])));
}

static dvx_value common_boxed(dvx_vm *vm, const dvx_value *args, uint32_t n) {
    const span *t = of(vm, args[1]);
    (void)n;
    if (!t) return DVX_FAILED;
    const double found = common(of(vm, args[0]), t);
    return isnan(found) ? vm->api->raise(vm, DVX_VALUE_ERROR, "nothing in common")
                        : vm->api->make_float(vm, found);
}

static dvx_value at_boxed(dvx_vm *vm, const dvx_value *args, uint32_t n) {
    double part;
    (void)n;
    if (!vm->api->read_float(vm, args[1], &part)) return DVX_FAILED;
    return vm->api->make_float(vm, at(of(vm, args[0]), part));
}

static dvx_value touches_boxed(dvx_vm *vm, const dvx_value *args, uint32_t n) {
    const span *t = of(vm, args[1]);
    (void)n;
    return t ? vm->api->make_bool(vm, touches(of(vm, args[0]), t)) : DVX_FAILED;
}

static dvx_value calls_boxed(dvx_vm *vm, const dvx_value *args, uint32_t n) {
    (void)n;
    return vm->api->make_int(vm, calls_of(of(vm, args[0])));
}

static dvx_value count_boxed(dvx_vm *vm, const dvx_value *args, uint32_t n) {
    (void)n;
    count(of(vm, args[0]));
    return vm->api->make_none(vm);
}

static dvx_value grow_boxed(dvx_vm *vm, const dvx_value *args, uint32_t n) {
    double by;
    (void)n;
    if (!vm->api->read_float(vm, args[1], &by)) return DVX_FAILED;
    grow(of(vm, args[0]), by);
    return vm->api->make_none(vm);
}

static dvx_value take_boxed(dvx_vm *vm, const dvx_value *args, uint32_t n) {
    const span *t = of(vm, args[1]);
    (void)n;
    if (!t) return DVX_FAILED;
    take(of(vm, args[0]), t);
    return vm->api->make_none(vm);
}

/* ---- The type ---- */

#define RAW(name, text, ...)              \
    static const dvx_raw raw_##name[] = { \
        {.signature = text, .entry = (void (*)(void))name, __VA_ARGS__}, {.signature = NULL}}
RAW(length, "d(p)", .pure = true);
RAW(common, "d(pp)", .pure = true, .defined = has_common);
RAW(at, "d(pd)", .pure = true);
RAW(touches, "b(pp)", .pure = true);
RAW(calls_of, "q(p)", .pure = false);
RAW(count, "v(p)", .pure = false);
RAW(grow, "v(pd)", .pure = false);
RAW(take, "v(pp)", .pure = false);

#define METHOD(text, c_name, boxed, arguments)                                        \
    &(const dvx_function) {                                                           \
        .size = sizeof(dvx_function), .name = text, .entry = boxed, .min = arguments, \
        .max = arguments, .raw = raw_##c_name                                         \
    }

static const dvx_function *const methods[] = {
    METHOD("length", length, length_boxed, 1),
    METHOD("common", common, common_boxed, 2),
    METHOD("at", at, at_boxed, 2),
    METHOD("touches", touches, touches_boxed, 2),
    METHOD("calls", calls_of, calls_boxed, 1),
    METHOD("count", count, count_boxed, 1),
    METHOD("grow", grow, grow_boxed, 2),
    METHOD("take", take, take_boxed, 2),
};

static bool initialise(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t n) {
    span *s = of(vm, self);
    (void)n;
    return vm->api->read_float(vm, args[0], &s->low) && vm->api->read_float(vm, args[1], &s->high);
}

static const char *const names[] = {"low", "high"};
static const dvx_parameters ends = {
    .size = sizeof ends, .names = names, .count = 2, .positional = 2, .required = 2};

static const dvx_type span_type = {.size = sizeof span_type,
                                   .name = "Span",
                                   .payload = sizeof(span),
                                   .base = true,
                                   .initialise = initialise,
                                   .parameters = &ends,
                                   .method_count = sizeof methods / sizeof *methods,
                                   .methods = methods};

/* A function that is no method has no self whose payload it could take. */
static const dvx_function misplaced = {.size = sizeof misplaced,
                                       .name = "misplaced",
                                       .entry = length_boxed,
                                       .min = 1,
                                       .max = 1,
                                       .raw = raw_length};

static bool init(dvx_vm *vm, dvx_value module) {
    if (vm->api->add_function(vm, module, &misplaced)) return false; /* it must be refused */
    vm->api->clear_error(vm);
    return vm->api->add_type(vm, module, &span_type);
}

DVX_EXTENSION("span", init);
