/* plain.c: an extension on the stable table alone: every member that ABI 1.0 had is used. */
#include <dynvm_ext.h>

static const char *const kinds[] = {"any", "None",    "bool",  "int",       "float",
                                    "str", "complex", "bytes", "bytearray", "list"};

static dvx_value text(dvx_vm *vm, const char *utf8) {
    size_t size = 0;
    while (utf8[size]) size++;
    return vm->api->make_str(vm, utf8, size);
}

/* kind(v): what the table says of a value. */
static dvx_value kind(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return text(vm, kinds[vm->api->kind(vm, args[0])]);
}

static dvx_value through_int(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    int64_t i;
    return vm->api->read_int(vm, args[0], &i) ? vm->api->make_int(vm, i) : DVX_FAILED;
}

static dvx_value through_float(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    double d;
    return vm->api->read_float(vm, args[0], &d) ? vm->api->make_float(vm, d) : DVX_FAILED;
}

/* through_str(s): s, or its length in bytes if it has more than 15. */
static dvx_value through_str(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    char buffer[16];
    size_t size;
    if (!vm->api->read_str(vm, args[0], buffer, sizeof buffer, &size)) return DVX_FAILED;
    if (size >= sizeof buffer) return vm->api->make_int(vm, (int64_t)size);
    return vm->api->make_str(vm, buffer, size);
}

static dvx_value truth(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    int t = vm->api->truth(vm, args[0]);
    return t < 0 ? DVX_FAILED : vm->api->make_bool(vm, t);
}

static dvx_value less(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    int t = vm->api->less(vm, args[0], args[1]);
    return t < 0 ? DVX_FAILED : vm->api->make_bool(vm, t);
}

/* fail(n): raises the n-th error of the table. */
static dvx_value fail(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    int64_t n;
    if (!vm->api->read_int(vm, args[0], &n)) return DVX_FAILED;
    return vm->api->raise(vm, (dvx_error)n, "as asked");
}

static dvx_value bad_text(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)args, (void)count;
    return vm->api->make_str(vm, "\xC0\x80", 2);
}

/* last(...): the last argument; None without one. */
static dvx_value last(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    return count ? vm->api->retain(vm, args[count - 1]) : vm->api->make_none(vm);
}

static bool always(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)vm, (void)args, (void)count;
    return true;
}

/* Derivative of `fail`, without a native twin: counts the outcomes up.  n is a multiple of 3: does
 * the work; leaves 1: deoptimises; leaves 2: raises. */
static dvx_outcome outcome(dvx_vm *vm, const dvx_value *args, uint32_t count, dvx_value *result) {
    (void)count;
    int64_t n;
    if (!vm->api->read_int(vm, args[0], &n)) return DVX_ERROR;
    if (n % 3 == 1) return DVX_DEOPTIMISE;
    if (n % 3 == 2) {
        vm->api->raise(vm, DVX_VALUE_ERROR, "two");
        return DVX_ERROR;
    }
    *result = text(vm, "three");
    return DVX_DONE;
}

/* outcomes(n): what `outcome` does, in the ordinary way. */
static dvx_value outcomes(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    int64_t n;
    if (!vm->api->read_int(vm, args[0], &n)) return DVX_FAILED;
    if (n % 3 == 2) return vm->api->raise(vm, DVX_VALUE_ERROR, "two");
    return text(vm, n % 3 ? "one" : "three");
}

static const dvx_derivative outcome_derivative = {
    .size = sizeof(dvx_derivative),
    .name = "CALL_OUTCOME",
    .guard = always,
    .run = outcome,
    .result = DVX_STR,
};
static const dvx_derivative *const outcome_derivatives[] = {&outcome_derivative};

#define FUNCTION(function, least, most)                                                   \
    {                                                                                     \
        .size = sizeof(dvx_function), .name = #function, .entry = function, .min = least, \
        .max = most                                                                       \
    }
static const dvx_function functions[] = {
    FUNCTION(kind, 1, 1),
    FUNCTION(through_int, 1, 1),
    FUNCTION(through_float, 1, 1),
    FUNCTION(through_str, 1, 1),
    FUNCTION(truth, 1, 1),
    FUNCTION(less, 2, 2),
    FUNCTION(fail, 1, 1),
    FUNCTION(bad_text, 0, 0),
    FUNCTION(last, 0, UINT32_MAX),
    {.size = sizeof(dvx_function),
     .name = "outcomes",
     .entry = outcomes,
     .min = 1,
     .max = 1,
     .derivative_count = 1,
     .derivatives = outcome_derivatives},
};

static bool init(dvx_vm *vm, dvx_value module) {
    if (vm->api->size < sizeof(dvx_api)) return false; /* a later VM's is longer */
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!vm->api->add_function(vm, module, &functions[i])) return false;
    dvx_value answer = vm->api->make_int(vm, 42);
    bool added = vm->api->add_constant(vm, module, "answer", answer);
    vm->api->release(vm, answer);
    return added;
}

DVX_EXTENSION("plain", init);
