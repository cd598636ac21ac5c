/* faulty.c: extensions that must not be loaded, or not run natively.  Compiled once for each CASE.
 */
#define DVX_NATIVE <plugin/native.h>
#include <dynvm_ext.h>

enum { NEWER_MAJOR = 1, NEWER_MINOR, RENAMED, SHORT, RAISES, SILENT, LIES, STALE, SYMBOL };

static dvx_value twice(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    double d;
    return vm->api->read_float(vm, args[0], &d) ? vm->api->make_float(vm, d + d) : DVX_FAILED;
}

static bool is_float(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    return vm->api->kind(vm, args[count - 1]) == DVX_FLOAT;
}

static dvx_outcome twice_float(dvx_vm *vm, const dvx_value *args, uint32_t count,
                               dvx_value *result) {
    if (!is_float(vm, args, count)) return DVX_DEOPTIMISE;
    *result = twice(vm, args, count);
    return DVX_DONE;
}

/* Of another build: running it would be the end. */
static const dv_cell *crash(DV_HANDLER_PARAMETERS) {
    (void)ip, (void)sp, (void)fp, (void)vm, (void)r, (void)d;
    __builtin_trap();
}

static const dvx_derivative twice_derivative = {.size = sizeof(dvx_derivative),
                                                .name = "CALL_TWICE_FLOAT",
                                                .guard = is_float,
                                                .run = twice_float,
                                                .result = DVX_FLOAT,
                                                .native_call = crash,
                                                .native_call_method = crash,
                                                .native_count = 1};
static const dvx_derivative *const derivatives[] = {&twice_derivative};
static const dvx_function function = {.size = sizeof(dvx_function),
                                      .name = "twice",
                                      .entry = twice,
                                      .min = 1,
                                      .max = 1,
                                      .derivative_count = 1,
                                      .derivatives = derivatives};

void nobody_provides_this(void);

static bool init(dvx_vm *vm, dvx_value module) {
    if (CASE == SYMBOL) nobody_provides_this();
    if (CASE == STALE) return vm->api->add_function(vm, module, &function);
    if (CASE == RAISES || CASE == LIES) vm->api->raise(vm, DVX_VALUE_ERROR, "not today");
    return CASE == LIES;
}

const struct dvx_extension dvx_extension = {
    .size = CASE == SHORT ? 16 : sizeof(struct dvx_extension),
    .abi_major = DVX_ABI_MAJOR + (CASE == NEWER_MAJOR),
    .abi_minor = DVX_ABI_MINOR + (CASE == NEWER_MINOR),
    .name = CASE == RENAMED ? "somebody_else" : NAME,
    .fingerprint = DVX_FINGERPRINT + 1,
    .init = init,
};
