/* noop.c: a type whose operators do nothing at all: ~x and x @ x are None.  What the optimisation
 * interface itself costs is measured with it (bench/extension.py). */
#include <dynvm_ext.h>

extern const dvx_type noop_type;

static dvx_value unary(dvx_vm *vm, dvx_unary op, dvx_value self) {
    (void)op, (void)self;
    return vm->api->make_none(vm);
}

static dvx_value binary(dvx_vm *vm, dvx_binary op, dvx_value a, dvx_value b) {
    (void)op, (void)a, (void)b;
    return vm->api->make_none(vm);
}

static dvx_outcome run(dvx_vm *vm, const dvx_value *operands, void *cache, dvx_value *result) {
    (void)vm, (void)operands;
    *result = *(const dvx_value *)cache; /* None, which is no object */
    return DVX_DONE;
}

#ifdef DVX_NATIVE
static inline dvx_value none(const dvx_value *operands, void *cache) {
    (void)operands, (void)cache;
    return DV_NONE;
}
DVX_OPERATOR(none_1, none, 1)
DVX_OPERATOR(none_2, none, 2)
#define TWIN(name) .native = name
#else
#define TWIN(name) .native = NULL
#endif

static const dvx_specialisation invert = {.size = sizeof invert,
                                          .name = "INVERT_NOOP",
                                          .family = DVX_SITE_UNARY,
                                          .count = 1,
                                          .run = run,
                                          .cache_size = sizeof(dvx_value),
                                          .pure = true,
                                          TWIN(none_1)};
static const dvx_specialisation matmul = {.size = sizeof matmul,
                                          .name = "MATMUL_NOOP",
                                          .family = DVX_SITE_BINARY,
                                          .count = 2,
                                          .run = run,
                                          .cache_size = sizeof(dvx_value),
                                          .pure = true,
                                          TWIN(none_2)};

static void specialise(dvx_vm *vm, dvx_site *site) {
    dvx_value *cache =
        vm->api->specialise(vm, site, site->family == DVX_SITE_UNARY ? &invert : &matmul);
    if (cache) *cache = vm->api->make_none(vm);
}

static bool fill(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    (void)vm, (void)self, (void)args, (void)count;
    return true;
}

const dvx_type noop_type = {
    .size = sizeof(dvx_type),
    .name = "Noop",
    .initialise = fill,
    .unary = unary,
    .binary = binary,
    .unary_operators = DVX_BIT(DVX_INVERT),
    .binary_operators = DVX_BIT(DVX_MATMUL),
    .specialise = specialise,
};

static bool init(dvx_vm *vm, dvx_value module) { return vm->api->add_type(vm, module, &noop_type); }

DVX_EXTENSION("noop", init);
