/* derive_out.c: derivatives of calls of ufuncs with an output, `np.add(a, b, out=c)` and
 * `np.add(a, b, c)` (derive.h).
 *
 * Invariants
 *  1. Elements that lie in rows, of the loop's own dtypes, are computed here; everything else is
 *     ufunc_call's, at each execution: so the site never misses but where it is another ufunc.
 *  2. The loop runs into the output only where no input is overwritten before it is read, and where
 *     each flag has a reason (derive_elements.c). */
#include "loops/arith.h"
#include "site/derive.h"
#include "ufunc/error.h"
#include "site/fuse.h"
#include "site/store.h"
#include "ufunc/ufunc.h"

typedef struct with_out {
    nd_ufunc_number number;
    bool dropped; /* the callee is not loaded */
} with_out;

/* Is it an array in a row, of `dtype` and of the output's shape? */
static bool is_row_like(const nd_array *a, const nd_dtype *dtype, const nd_array *out) {
    return a->dtype == dtype && a->flags & ND_C_CONTIGUOUS && a->ndim > 0 &&
           array_same_shape(a, out) && store_is_apart(out, a);
}

/* A number beside arrays of this type, which it does not change. */
static bool read_number(dvx_vm *vm, dvx_value v, nd_type type, char *element) {
    const bool fits = derive_is_int(vm, v)
                          ? type != ND_BOOL
                          : vm->api->kind(vm, v) == DVX_FLOAT && type_is_inexact(type);
    return fits && derive_read_number(vm, v, type, element);
}

/* The loop itself.  False: it is ufunc_call's, and nothing has happened; *good: nothing raised. */
static bool run_rows(dvx_vm *vm, nd_ufunc_number number, const dvx_value *v, bool *good) {
    const nd_ufunc_facts *facts = &loops_facts[number];
    const int inputs = facts->inputs;
    nd_array *arrays[2] = {NULL, NULL}, *out = vm->api->payload(vm, v[inputs], &array_type);
    const nd_dtype *dtype = NULL;
    _Alignas(16) char element[sizeof(nd_complex)];
    char *args[3] = {NULL, NULL, NULL};
    int64_t strides[3] = {0, 0, 0};
    for (int i = 0; i < inputs; i++) {
        arrays[i] = vm->api->payload(vm, v[i], &array_type);
        if (arrays[i]) dtype = arrays[i]->dtype;
    }
    if (!out || !dtype || out->read_only || number == ND_UFUNC_power || ufunc_is_logical(number) ||
        !(out->flags & ND_C_CONTIGUOUS))
        return false;
    const nd_kernel *kernel = ufunc_kernel(vm, number, dtype->num);
    if (!kernel->loop || kernel->inexact || out->dtype->num != kernel->result ||
        out->size > 1 << 21)
        return false;
    for (int i = 0; i < inputs; i++) {
        if (arrays[i] ? !is_row_like(arrays[i], dtype, out)
                      : !read_number(vm, v[i], dtype->num, element))
            return false;
        args[i] = arrays[i] ? arrays[i]->data : element;
        strides[i] = arrays[i] ? dtype->size : 0;
    }
    args[inputs] = out->data;
    strides[inputs] = out->dtype->size;
    if (arith_flags()) arith_clear();
    kernel->loop(args, out->size, strides);
    const unsigned flags = arith_flags();
    *good = nd_work(vm, loops_steps(number, out->size, dtype->size));
    if (LIKELY(!flags) || !*good) return true;
    arith_clear();
    if (facts->warns) *good = error_flags(vm, facts->name, flags);
    return true;
}

static dvx_outcome run(dvx_vm *vm, const dvx_value *v, void *cache, dvx_value *result) {
    const with_out *d = cache;
    const int inputs = loops_facts[d->number].inputs;
    bool good;
    if (!d->dropped) {
        const nd_ufunc_object *u = vm->api->payload(vm, v[0], &ufunc_object_type);
        if (!u || ufunc_number_of(u) != d->number) {
            vm->api->note(vm, cache, "it is another ufunc");
            return DVX_DEOPTIMISE;
        }
    }
    v++;
    if (run_rows(vm, d->number, v, &good))
        return derive_outcome(good ? vm->api->retain(vm, v[inputs]) : DVX_FAILED, result);
    return derive_outcome(ufunc_call(vm, d->number, v, v[inputs], NULL), result);
}

/* By the number of inputs. */
#define OUT(inputs)                                                                      \
    {                                                                                    \
        .size = sizeof(dvx_specialisation), .where = DVX_HERE, .name = "CALL_UFUNC_OUT", \
        .family = DVX_SITE_CALL, .count = (inputs) + 2, .run = run,                      \
        .cache_size = sizeof(with_out), .any = ~(~0u << (inputs + 1)) & ~1u,             \
        .result_type = &array_type, .keywords = true,                                    \
    }
static const dvx_specialisation of_out[] = {[1] = OUT(1), [2] = OUT(2)};

/* Are its operands the ufunc, its inputs and an output? */
static bool has_out(dvx_vm *vm, const dvx_site *site) {
    const nd_ufunc_object *u = vm->api->payload(vm, site->operands[0].value, &ufunc_object_type);
    if (!u) return false;
    const int inputs = loops_facts[ufunc_number_of(u)].inputs;
    return site->count == (uint32_t)inputs + 2 && derive_names(vm, site->keywords, "out") &&
           site->operands[inputs + 1].type == &array_type;
}

bool derive_out(dvx_vm *vm, dvx_site *site) {
    if (!has_out(vm, site)) return false;
    const nd_ufunc_object *u = vm->api->payload(vm, site->operands[0].value, &ufunc_object_type);
    const nd_ufunc_number number = ufunc_number_of(u);
    const bool dropped =
        site->operands[0].origin == DVX_FROM_GLOBAL && vm->api->drop_operand(vm, site, 0);
    with_out *cache = vm->api->specialise(vm, site, &of_out[loops_facts[number].inputs]);
    if (!cache) return true;
    *cache = (with_out){number, dropped};
    fuse_site(vm, site);
    return true;
}
