/* derive_classes.c: derivatives of calls of np.float64 and its like with a number (derive.h). */
#include "site/derive.h"

/* What a site knows. */
typedef struct class_cache {
    const nd_dtype *dtype;
    dvx_value callee;    /* borrowed: the state has it */
    bool dropped;        /* the callee is not loaded */
    dvx_value truths[2]; /* borrowed, too */
} class_cache;

static dvx_outcome run_class(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    const class_cache *c = cache;
    if (!c->dropped && !vm->api->same(vm, v[0], c->callee)) return DVX_DEOPTIMISE;
    return derive_outcome(dtype_convert(vm, c->dtype, v[1]), result);
}

#ifdef DVX_NATIVE
/* Numbers that are what they become, and ints as floats. */
static inline dvx_value native_class(const dvx_value *v, dvx_value callee, void *cache) {
    const class_cache *c = cache;
    const dvx_value x = v[0];
    if (!dv_is_empty(callee) && !dv_same(callee, c->callee)) return DVX_FAILED;
    switch (c->dtype->num) {
    case ND_FLOAT64:
        return dv_is_float(x) ? x
               : dv_is_int(x) ? dv_float_foreign((double)dv_as_int(x))
                              : DVX_FAILED;
    case ND_INT64: return dv_is_int(x) ? x : DVX_FAILED;
    case ND_BOOL:
        return dv_is_bool(x)  ? dv_retain(c->truths[dv_same(x, DV_TRUE)])
               : dv_is_int(x) ? dv_retain(c->truths[dv_as_int(x) != 0])
                              : DVX_FAILED;
    default: return DVX_FAILED;
    }
}
DVX_CALL(class_native, native_class, 1)
#define TWIN .native = class_native, .native_method = class_native_method
#else
#define TWIN .native = NULL
#endif

#define DERIVATIVE(...)                                                                           \
    {                                                                                             \
        .size = sizeof(dvx_specialisation), .where = DVX_HERE, .name = "CALL_DTYPE",              \
        .family = DVX_SITE_CALL, .count = 2, .run = run_class, .cache_size = sizeof(class_cache), \
        .any = 2, __VA_ARGS__                                                                     \
    }
static const dvx_specialisation number = DERIVATIVE(TWIN), other = DERIVATIVE(.native = NULL);

void derive_class(dvx_vm *vm, dvx_site *site) {
    /* (As an operand of others it has nothing to say.) */
    if (site->family != DVX_SITE_CALL || !dtype_is_class(vm, site->operands[0].value)) return;
    const nd_dtype *dtype = dtype_of_object(vm, site->operands[0].value);
    if (site->count != 2 || !dvx_failed(site->keywords)) {
        vm->api->decline(vm, site, "of dtypes only calls with one value have derivatives");
        return;
    }
    const dvx_kind kind = vm->api->kind(vm, site->operands[1].value);
    const bool is_number =
        site->times < 2 && ((dtype->num == ND_BOOL && (kind == DVX_BOOL || kind == DVX_INT)) ||
                            (dtype->num == ND_INT64 && kind == DVX_INT) ||
                            (dtype->num == ND_FLOAT64 && (kind == DVX_FLOAT || kind == DVX_INT)));
    /* (The state's own: the operand is lent for this call alone.) */
    const nd_state *state = nd_state_of(vm);
    const class_cache known = {.dtype = dtype,
                               .callee = state->classes[dtype->num],
                               .truths = {state->truths[0], state->truths[1]}};
    const bool dropped =
        site->operands[0].origin == DVX_FROM_GLOBAL && vm->api->drop_operand(vm, site, 0);
    class_cache *c = vm->api->specialise(vm, site, is_number ? &number : &other);
    if (!c) return;
    *c = known;
    c->dropped = dropped;
}
