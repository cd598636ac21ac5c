/* derive_scalars.c: derivatives of operators and comparisons of scalars, by themselves and beside
 * numbers (derive.h).
 *
 * Invariants
 *  1. Both operands are elements of one dtype: a number is one that does not change it.
 *  2. A result is a scalar that the site keeps and that nobody else has, else a new one.  What
 *     raises flags is executed the ordinary way. */
#include "loops/arith.h"
#include "site/derive.h"
#include "ufunc/operators.h"
#include "ufunc/ufunc.h"

enum { SCALARS_KEPT = 2 };

/* What a site knows. */
typedef struct scalar_cache {
    nd_ufunc_number number;
    const nd_dtype *dtype, *result;
    nd_loop loop;
    bool warns;
    uint8_t inputs;
    bool scalar[2];               /* operand i is one, else a number */
    dvx_value kept[SCALARS_KEPT]; /* DVX_FAILED: none; of results that are bools: False_, True_ */
} scalar_cache;

static dvx_outcome run_scalars(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    const scalar_cache *c = cache;
    const bool good = c->inputs == 1 ? ufunc_scalar(vm, c->number, v[0], result)
                                     : ufunc_scalars(vm, c->number, v, result);
    if (!good) return DVX_DEOPTIMISE;
    return dvx_failed(*result) ? DVX_ERROR : DVX_DONE;
}

static void release_scalars(dvx_vm *vm, void *cache) {
    scalar_cache *c = cache;
    for (int i = 0; i < SCALARS_KEPT; i++) {
        const dvx_value kept = c->kept[i];
        c->kept[i] = DVX_FAILED;
        vm->api->release(vm, kept);
    }
}

/* ---- The native twin ---- */

#ifdef DVX_NATIVE
/* A number as an element; false: it is none of the dtype. */
static inline bool native_number(nd_type type, dvx_value v, void *to) {
    if (type == ND_FLOAT32 && (dv_is_float(v) || dv_is_int(v))) {
        *(float *)to = (float)(dv_is_float(v) ? dv_as_float(v) : (double)dv_as_int(v));
        return true;
    }
    if (!dv_is_int(v)) return false;
    const int64_t i = dv_as_int(v);
    memcpy(to, &i, sizeof i); /* (the lowest bytes are the first) */
    return dtype_is_integer(ND_DTYPE(type)) && type != ND_BOOL && type_holds(type, i);
}

/* (Out of line, so that the handler has no locals whose address is taken.)  Flags of before show
 * when the loop runs again. */
static DV_OUT_OF_LINE dvx_value compute_scalars(const dvx_value *v, void *cache) {
    const scalar_cache *c = cache;
    _Alignas(16) char numbers[2][16], out[16];
    char *args[3] = {numbers[0], numbers[1]};
    const int64_t strides[3] = {0};
    args[c->inputs] = out;
    for (int i = 0; i < c->inputs; i++) {
        if (!c->scalar[i]) {
            if (!native_number(c->dtype->num, v[i], args[i])) return DVX_FAILED;
            continue;
        }
        const nd_array *a = dvx_payload_of(v[i]);
        if (a->dtype != c->dtype) return DVX_FAILED;
        args[i] = a->data;
    }
    c->loop(args, 1, strides);
    if (c->warns && UNLIKELY(arith_flags())) {
        arith_clear();
        c->loop(args, 1, strides);
        if (arith_flags()) return DVX_FAILED;
    }
    if (c->result->num == ND_BOOL) return dv_retain(c->kept[out[0] != 0]);
    for (int i = 0; i < SCALARS_KEPT; i++) {
        const dvx_value kept = c->kept[i];
        if (dv_is_empty(kept) || dv_as_object(kept)->references != 1) continue;
        nd_array *to = dvx_payload_of(kept);
        memcpy(to->data, out, c->result->size);
        dv_as_object(kept)->references++;
        return kept;
    }
    return DVX_FAILED;
}
DVX_OPERATOR(scalars_native, compute_scalars, 2)
DVX_OPERATOR(scalar_native, compute_scalars, 1)
#define NATIVE     .native = scalars_native
#define NATIVE_ONE .native = scalar_native
#else
#define NATIVE     .native = NULL
#define NATIVE_ONE .native = NULL
#endif

/* ---- The hook ---- */

#define DERIVATIVE(site, operands, ...)                                                  \
    {                                                                                    \
        .size = sizeof(dvx_specialisation), .where = DVX_HERE, .name = #site "_SCALARS", \
        .family = DVX_SITE_##site, .count = operands, .run = run_scalars,                \
        .cache_size = sizeof(scalar_cache), .release = release_scalars, __VA_ARGS__      \
    }
/* With kept results, and without. */
static const dvx_specialisation binary_[2] = {DERIVATIVE(BINARY, 2), DERIVATIVE(BINARY, 2, NATIVE)},
                                inplace[2] = {DERIVATIVE(INPLACE, 2),
                                              DERIVATIVE(INPLACE, 2, NATIVE)},
                                compare[2] = {DERIVATIVE(COMPARE, 2),
                                              DERIVATIVE(COMPARE, 2, NATIVE)},
                                unary[2] = {DERIVATIVE(UNARY, 1), DERIVATIVE(UNARY, 1, NATIVE_ONE)};

/* Which operands are scalars, and of which dtype; false: there is no derivative for them. */
static bool choose(dvx_vm *vm, const dvx_site *site, scalar_cache *c) {
    const int number = operators_ufunc(site->family, site->operation);
    if (number < 0 || number == ND_UFUNC_power) return false;
    c->number = (nd_ufunc_number)number;
    c->inputs = loops_facts[number].inputs;
    if (site->count != c->inputs) return false;
    for (int i = 0; i < c->inputs; i++) {
        const dvx_value v = site->operands[i].value;
        const dvx_kind kind = vm->api->kind(vm, v);
        c->scalar[i] = site->operands[i].type == &scalar_type;
        if (!c->scalar[i]) {
            if (kind != DVX_INT && kind != DVX_FLOAT) return false;
            continue;
        }
        const nd_array *a = vm->api->payload(vm, v, &scalar_type);
        if (c->dtype && c->dtype != a->dtype) return false;
        c->dtype = a->dtype;
    }
    if (!c->dtype) return false;
    const nd_kernel *kernel = ufunc_kernel(vm, c->number, c->dtype->num);
    if (!kernel->loop) return false;
    c->loop = kernel->loop;
    c->result = ND_DTYPE(kernel->result);
    c->warns = loops_facts[number].warns || kernel->compares;
    return true;
}

/* Scalars to keep; false: there are none. */
static bool keep(dvx_vm *vm, scalar_cache *c) {
    static const char zeros[16];
    const nd_type type = c->result->num;
    for (int i = 0; i < SCALARS_KEPT; i++) {
        c->kept[i] = type == ND_BOOL ? array_truth(vm, i) : array_element(vm, c->result, zeros);
        if (dvx_failed(c->kept[i])) return vm->api->clear_error(vm), false;
        if (!array_is_scalar(vm, c->kept[i])) return false; /* a number of dl */
    }
    return true;
}

static void derive(dvx_vm *vm, dvx_site *site) {
    scalar_cache known;
    memset(&known, 0, sizeof known);
    for (int i = 0; i < SCALARS_KEPT; i++) known.kept[i] = DVX_FAILED;
    const dvx_family family = site->family;
    const dvx_specialisation *found = family == DVX_SITE_BINARY    ? binary_
                                      : family == DVX_SITE_INPLACE ? inplace
                                      : family == DVX_SITE_COMPARE ? compare
                                      : family == DVX_SITE_UNARY   ? unary
                                                                   : NULL;
    if (!found || !choose(vm, site, &known)) {
        vm->api->decline(vm, site, "of scalars only operators of one dtype have derivatives");
        return;
    }
    scalar_cache *c = vm->api->specialise(vm, site, &found[keep(vm, &known)]);
    if (c)
        *c = known;
    else
        release_scalars(vm, &known);
}

void derive_scalars(dvx_vm *vm, dvx_site *site) { derive_quiet(vm, site, derive); }
