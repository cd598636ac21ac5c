/* operate.c: what sites with derivatives of extensions do out of line: running portable twins of
 * calls, misses, giving derivatives up (occurrence.h; the handlers of operators are in handlers.c).
 *
 * Invariants
 *  1. Handlers here are in trampoline form and call no handler that might be in tail form.
 *  2. An occurrence is found before anything runs that may change the site's cells, and is handed
 * on: it stays while its code runs. */
#include "dv_ops.h"
#include "core/upcall.h"
#include "plugin/debug.h"
#include "plugin/expression.h"
#include "plugin/handlers.h"
#include "plugin/specialise.h"
#include "quicken/fuse.h"
#include "quicken/site.h"
#include "run/execute.h"

/* ---- Handlers by form ---- */

#if DV_HAVE_TAIL
static const dv_handler tail[] = {
#define ENTRY(name) dv_h_##name,
    DV_EXTENSION_HANDLERS(ENTRY)
#undef ENTRY
};
#else
static const dv_handler tail[DV_X_COUNT];
#endif
#if DV_HAVE_TRAMPOLINE
static const dv_handler trampoline[] = {
#define ENTRY(name) dv_ht_##name,
    DV_EXTENSION_HANDLERS(ENTRY)
#undef ENTRY
};
#else
static const dv_handler trampoline[DV_X_COUNT];
#endif

dv_handler dv_extension_handler_of(const dv_vm *vm, const dv_cell *at, dv_extension_handler which) {
    bool in_tail_form = dv_handler_of(vm, at, DV_OP_NOP) == dv_handlers_tail[DV_OP_NOP];
    return DV_HAVE_TAIL && in_tail_form ? tail[which] : trampoline[which];
}

dv_extension_handler dv_extension_handler_is(dv_handler handler) {
    uint32_t i = 0;
    while (i < DV_X_COUNT && handler != tail[i] && handler != trampoline[i]) i++;
    return (dv_extension_handler)i;
}

/* ---- Running the portable twin ---- */

static dv_value raise_wrong(dv_vm *vm, const dv_extension_site *o, const char *what) {
    dv_value before = vm->error;
    vm->error = DV_EMPTY;
    dv_release(vm, before);
    return dv_raise(vm, DV_E_SYSTEM_ERROR, "derivative %s %s", o->derivative.name, what);
}

/* A deoptimisation must leave nothing behind. */
static dv_value check_deoptimised(dv_vm *vm, const dv_extension_site *o, uint64_t effects,
                                  dv_value result) {
    const char *what = NULL;
    if (!dv_is_empty(vm->error))
        what = "deoptimised with an exception set";
    else if (!dv_is_empty(result))
        what = "deoptimised with a result";
    else if (effects != vm->extensions.plugins->effects)
        what = "deoptimised after an effect";
    dv_release(vm, result);
    return what ? raise_wrong(vm, o, what) : DV_DEOPTIMISED;
}

static bool is_of_kind(dv_vm *vm, dv_value v, dvx_kind kind) {
    if (kind == DVX_FLOAT) return dv_is_float(v);
    return dv_extension_api.kind(vm, v) == kind;
}

static bool keeps_promise(dv_vm *vm, const dvx_specialisation *d, dv_value result) {
    if (d->result != DVX_ANY) return is_of_kind(vm, result, d->result);
    if (!d->result_type) return true;
    return dv_is_foreign(result) && dv_extension_type_of(vm, result)->descriptor == d->result_type;
}

static dv_value check_done(dv_vm *vm, const dv_extension_site *o, dv_value result) {
    if (o->stores && dv_is_empty(result)) result = DV_NONE;
    result = dv_extension_check(vm, o->derivative.name, result);
    if (dv_is_empty(result) || keeps_promise(vm, &o->derivative, result)) return result;
    dv_release(vm, result);
    return raise_wrong(vm, o, "gave a result of another type than it promises");
}

static bool guards(dv_vm *vm, const dv_extension_site *o, const dv_value *operands) {
    if (vm->extensions.plugins->debug) return dv_debug_site_guard(vm, o, operands);
    return o->derivative.guard(vm, operands, o->cache);
}

static bool may_run(dv_vm *vm, const dv_extension_site *o, const dv_value *operands) {
    if (o->derivative.meta && !dv_occurrence_flags(&o->seen, operands)) return false;
    if (!o->derivative.guard) return true;
    bool fits = guards(vm, o, operands);
    if (DV_LIKELY(dv_is_empty(vm->error))) return fits;
    dv_error_clear(vm);
    return false;
}

/* The promises that most derivatives make, and keep. */
static inline bool keeps_simple_promise(const dv_vm *vm, const dvx_specialisation *d,
                                        dv_value result) {
    if (d->result == DVX_ANY)
        return !d->result_type || (dv_is_foreign(result) &&
                                   dv_extension_type_of(vm, result)->descriptor == d->result_type);
    if (d->result == DVX_INT) return dv_is_int(result);
    return d->result == DVX_FLOAT && dv_is_float(result);
}

/* What came of it, where that is not simply a result. */
static dv_value judge(dv_vm *vm, const dv_extension_site *o, uint64_t effects, dvx_outcome outcome,
                      dv_value result) {
    switch (outcome) {
    case DVX_DONE: return check_done(vm, o, result);
    case DVX_DEOPTIMISE: return check_deoptimised(vm, o, effects, result);
    case DVX_ERROR:
        dv_release(vm, result);
        if (!dv_is_empty(vm->error)) return DV_EMPTY;
        return raise_wrong(vm, o, "failed without setting an exception");
    }
    dv_release(vm, result);
    return raise_wrong(vm, o, "returned what is no outcome");
}

static inline dv_value take_result(dv_vm *vm, const dv_extension_site *o, uint64_t effects,
                                   dvx_outcome outcome, dv_value result) {
    if (DV_LIKELY(outcome == DVX_DONE && !dv_is_empty(result) && dv_is_empty(vm->error) &&
                  keeps_simple_promise(vm, &o->derivative, result)))
        return result;
    return judge(vm, o, effects, outcome, result);
}

/* Flags, a guard, or somebody who watches. */
static DV_OUT_OF_LINE dv_value run_carefully(dv_vm *vm, const dv_extension_site *o,
                                             const dv_value *operands) {
    if (!may_run(vm, o, operands)) return DV_DEOPTIMISED;
    uint64_t effects = vm->extensions.plugins->effects;
    dv_value result = DV_EMPTY;
    dvx_outcome outcome = vm->extensions.plugins->debug
                              ? dv_debug_site_run(vm, o, operands, &result)
                              : o->derivative.run(vm, operands, o->seen.cache, &result);
    return take_result(vm, o, effects, outcome, result);
}

dv_value dv_operate_run(dv_vm *vm, const dv_extension_site *o, const dv_value *operands) {
    if (DV_UNLIKELY(o->careful)) return run_carefully(vm, o, operands);
    uint64_t effects = vm->extensions.plugins->effects;
    dv_value result = DV_EMPTY;
    dvx_outcome outcome = o->derivative.run(vm, operands, o->seen.cache, &result);
    return take_result(vm, o, effects, outcome, result);
}

/* ---- Misses ---- */

/* The site's derivative has been taken away, or goes now.  Where EMPTY may stand on the stack, the
 * site stays in the hands of this room. */
void dv_operate_give_up(dv_vm *vm, dv_extension_site *o, dv_cell *ip) {
    if (o->under) {
        dv_expression_end(o);
        return;
    }
    if (o->cell == ip) {
        o->broken = true;
        dv_drop_restore(o);
    }
    if (ip->h == o->handler) {
        dv_occurrence_leave(o, ip);
        dv_site_put(vm, NULL, ip, dv_op_infos[o->family].adaptive);
    }
    if (!o->unloads) return;
    o->backoff = ip[1].site.backoff;
    o->waits = (uint32_t)DV_SITE_WAIT
               << (o->backoff < DV_SITE_BACKOFF ? o->backoff : DV_SITE_BACKOFF);
    ip->h = dv_operate_refill;
    dv_occurrence_enter(o, ip);
}

static void count_miss(dv_vm *vm, dv_extension_site *o, dv_cell *ip) {
    if (ip->h != o->handler || dv_occurrence_at(ip) != o) return; /* it is something else by now */
    if (o->under) {
        if (--ip[1].extended.misses == 0) dv_expression_end(o);
        return;
    }
    if (ip[1].site.misses <= 1) dv_occurrence_leave(o, ip);
    dv_site_missed(vm, ip, dv_op_infos[o->family].adaptive);
    if (ip->h != o->handler) dv_operate_give_up(vm, o, ip);
}

/* What the generic instruction computes; SET_ITEM: None.  EMPTY: raised. */
static dv_value compute(dv_vm *vm, const dv_extension_site *o, const dv_cell *ip,
                        const dv_value *v) {
    switch ((dvx_family)o->kind) {
    case DVX_SITE_BINARY: return dv_binary(vm, (dv_binary_op)(o->family - DV_OP_ADD), v[0], v[1]);
    case DVX_SITE_INPLACE: return dv_inplace(vm, (dv_binary_op)(o->family - DV_OP_ADD), v[0], v[1]);
    case DVX_SITE_UNARY: return dv_unary(vm, (dv_unary_op)(o->family - DV_OP_NEG), v[0]);
    case DVX_SITE_COMPARE: return dv_compare(vm, (dv_compare_op)(o->family - DV_OP_LT), v[0], v[1]);
    case DVX_SITE_GET_ITEM: return dv_get_item(vm, v[0], v[1]);
    case DVX_SITE_SET_ITEM: return dv_set_item(vm, v[1], v[2], v[0]) ? DV_NONE : DV_EMPTY;
    default: return dv_get_attribute(vm, v[0], ip[2].v);
    }
}

static const dv_cell *leave(dv_vm *vm, const dv_extension_site *o, const dv_cell *ip, dv_value *sp,
                            dv_value *fp, uint8_t own, dv_value result) {
    uint32_t count = o->seen.count, outputs = o->kind != DVX_SITE_SET_ITEM;
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    for (uint32_t i = 0; i < count; i++)
        if (own >> i & 1) dv_release(vm, sp[(int64_t)i - (int64_t)count]);
    vm->sp = sp - count + outputs;
    if (outputs) vm->sp[-1] = result;
    return ip + o->seen.length;
}

bool dv_operate_is_named(uint32_t family) {
    return family == DV_OP_CALL_KW || family == DV_OP_CALL_METHOD_KW;
}

static bool is_call(const dv_extension_site *o) {
    return o->kind == DVX_SITE_CALL || o->kind == DVX_SITE_METHOD;
}

/* Callee of a call: below its reserved entries, and self, or EMPTY in its place. */
static dv_value *callee_of(const dv_extension_site *o, dv_value *sp) {
    return sp - o->seen.count - 2 - o->method;
}

static bool is_same_callee(const dv_extension_site *o, dv_value callee) {
    if (o->kind == DVX_SITE_METHOD || dv_is_shape(callee, DV_T_CFUNCTION))
        return dvx_is_method(&o->seen, callee);
    if (dv_is_empty(callee)) return o->drops[0].load != NULL;
    return !o->seen.callee || callee.bits == o->seen.callee;
}

/* Calls what lies below `count` arguments. */
static const dv_cell *call(dv_vm *vm, const dv_extension_site *o, const dv_cell *ip, dv_value *sp,
                           dv_value *fp, int64_t count) {
    if (!dv_operate_is_named(o->family))
        return dv_slow_call(ip + o->seen.length, sp, fp, vm, count, 0);
    vm->keywords = ip[3].v;
    return dv_slow_call_keywords(ip + o->seen.length, sp, fp, vm, count, 0);
}

/* The instruction itself, with all its operands in place. */
static const dv_cell *generic(dv_vm *vm, const dv_extension_site *o, const dv_cell *ip,
                              dv_value *sp, dv_value *fp) {
    uint8_t own = ip[1].extended.own;
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    if (is_call(o)) {
        int64_t count = ip[2].i;
        if (o->method && dv_is_empty(sp[-count - 1])) {
            memmove(sp - count - 1, sp - count, (size_t)count * sizeof *sp);
            sp--;
        } else if (o->method) {
            count++;
        }
        return call(vm, o, ip, sp, fp, count);
    }
    if (o->family == DV_OP_LOAD_METHOD) {
        if (!dv_prepare_method(vm, sp, ip[2].v)) return dv_slow_raise(ip, sp, fp, vm, 0, 0);
        vm->sp = sp + 3;
        return ip + o->seen.length;
    }
    dv_value result = compute(vm, o, ip, sp - o->seen.count);
    if (dv_is_empty(result)) return dv_slow_raise(ip, sp, fp, vm, 0, 0);
    return leave(vm, o, ip, sp, fp, own, result);
}

static void refill(const dv_extension_site *o, const dv_cell *ip, dv_value *sp,
                   const dv_value *fp) {
    if (!o->unloads) return;
    if (o->kind == DVX_SITE_CALL && dv_is_empty(*callee_of(o, sp))) {
        dv_value *callee = callee_of(o, sp);
        *callee = dv_retain(o->drops[0].original);
    }
    dv_drop_refill(o, ip, sp - o->seen.count, fp);
}

/* Operand i of an expression. */
static dv_value expression_operand(const dv_extension_site *o, uint32_t i, const dv_value *sp,
                                   const dv_value *fp) {
    const dv_drop *drop = &o->drops[i];
    if (!drop->load) return sp[(int64_t)o->slots[i] - (int64_t)o->below];
    if (!dv_is_empty(drop->original)) return drop->original;
    return *(const dv_value *)(const void *)((const char *)fp + drop->local);
}

/* Why a site misses, as far as `run` does not say (dvx_api.note).  The operands are in place. */
static void note_miss(dv_extension_site *o, dv_value *sp, const dv_value *fp) {
    uint32_t count = o->seen.count;
    bool fits = true;
    for (uint32_t i = o->kind == DVX_SITE_CALL && !o->under; i < count; i++) {
        dv_value v = o->under ? expression_operand(o, i, sp, fp) : sp[(int64_t)i - (int64_t)count];
        fits &= ((dv_operand_key_of(v) ^ o->seen.keys[i]) & o->seen.masks[i]) == 0;
    }
    if (!fits)
        dv_notes_add(&o->notes, "an operand is of another type", 1);
    else if (is_call(o) && !o->under && !is_same_callee(o, *callee_of(o, sp)))
        dv_notes_add(&o->notes, "the callee is another one", 1);
}

const dv_cell *dv_operate_miss(DV_HANDLER_PARAMETERS) {
    dv_extension_site *o = (dv_extension_site *)(intptr_t)r;
    (void)d;
    if (o->under) { /* the first site by itself, for this once */
        note_miss(o, sp, fp);
        count_miss(vm, o, (dv_cell *)ip);
        o = (dv_extension_site *)(uintptr_t)o->under;
        refill(o, ip, sp, fp);
        return generic(vm, o, ip, sp, fp);
    }
    refill(o, ip, sp, fp);
    note_miss(o, sp, fp);
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    count_miss(vm, o, (dv_cell *)ip);
    return generic(vm, o, ip, sp, fp);
}

static const dv_cell *site_miss(DV_HANDLER_PARAMETERS) {
    (void)r;
    return dv_operate_miss(ip, sp, fp, vm, (int64_t)(intptr_t)dv_occurrence_at(ip), d);
}

/* A site that has lost a derivative with dropped operands: a suspended activation may come back
 * with EMPTY on its stack at any time.  Executes the instruction itself; an operator asks again now
 * and then, while its operands are all there. */
static const dv_cell *refilling(DV_HANDLER_PARAMETERS) {
    dv_extension_site *o = dv_occurrence_at(ip);
    (void)r, (void)d;
    refill(o, ip, sp, fp);
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    bool asks = o->waits && --o->waits == 0 && o->cell == ip && !is_call(o);
    if (asks && !dv_specialise_again(vm, o->cell, o))
        o->waits = (uint32_t)DV_SITE_WAIT << DV_SITE_BACKOFF;
    return generic(vm, o, ip, sp, fp);
}
const dv_handler dv_operate_refill = refilling;

/* ---- Calls ---- */

static const dv_cell *finish_call(dv_vm *vm, const dv_extension_site *o, const dv_cell *ip,
                                  dv_value *sp, dv_value *fp, dv_value result) {
    uint32_t arguments = o->seen.count - (o->kind == DVX_SITE_CALL);
    dv_value *callee = callee_of(o, sp), function = *callee;
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    for (uint32_t i = 1; i <= arguments; i++) dv_release(vm, sp[-(int64_t)i]);
    *callee = result;
    vm->sp = callee + 1;
    dv_release(vm, function);
    return ip + o->seen.length;
}

/* It was specialised for a callee without self, and now there is one. */
static const dv_cell *miss_with_self(dv_vm *vm, const dv_cell *ip, dv_value *sp, dv_value *fp,
                                     int64_t occurrence) {
    dv_extension_site *o = (dv_extension_site *)(intptr_t)occurrence;
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    count_miss(vm, o, (dv_cell *)ip);
    return call(vm, o, ip, sp, fp, ip[2].i + 1);
}

static const dv_cell *run_call(DV_HANDLER_PARAMETERS) {
    const dv_extension_site *o = dv_occurrence_at(ip);
    dv_value *operands = sp - o->seen.count, *callee = callee_of(o, sp);
    bool copies = o->kind == DVX_SITE_CALL;
    r = (int64_t)(intptr_t)o;
    if (copies && o->method && !dv_is_empty(operands[0])) return miss_with_self(vm, ip, sp, fp, r);
    if (copies) operands[0] = *callee; /* into a reserved entry, or self, which is EMPTY */
    dv_value result = DV_DEOPTIMISED;
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    if (is_same_callee(o, *callee) && dv_occurrence_fits(&o->seen, operands, o->seen.count) &&
        !GUARD_FAILS())
        result = dv_operate_run(vm, o, operands);
    if (copies && o->method) operands[0] = DV_EMPTY;
    if (dv_is_empty(result)) return dv_slow_raise(ip, sp, fp, vm, 0, 0);
    if (dv_operate_is_rare(result)) return dv_operate_miss(ip, sp, fp, vm, r, d);
    return finish_call(vm, o, ip, sp, fp, result);
}

/* ---- Attributes that are called ---- */

/* LOAD_METHOD: what a derivative of the family ATTRIBUTE finds is the callee, and there is no self.
 */
static const dv_cell *run_callee(DV_HANDLER_PARAMETERS) {
    const dv_extension_site *o = dv_occurrence_at(ip);
    dv_value result = DV_DEOPTIMISED, object = sp[-1];
    r = (int64_t)(intptr_t)o;
    vm->ip = ip, vm->sp = sp, vm->fp = fp;
    if (dv_occurrence_fits(&o->seen, sp - 1, 1) && !GUARD_FAILS())
        result = dv_operate_run(vm, o, sp - 1);
    if (dv_is_empty(result)) return dv_slow_raise(ip, sp, fp, vm, 0, 0);
    if (dv_operate_is_rare(result)) return dv_operate_miss(ip, sp, fp, vm, r, d);
    sp[-1] = result;
    sp[2] = DV_EMPTY;
    vm->sp = sp + 3;
    dv_release(vm, object);
    return ip + o->seen.length;
}

/* A native twin is done, but an object dies: r: bits of the result. */
static const dv_cell *site_finish(DV_HANDLER_PARAMETERS) {
    const dv_extension_site *o = dv_occurrence_at(ip);
    dv_value result = {(uint64_t)r};
    (void)d;
    if (is_call(o)) return finish_call(vm, o, ip, sp, fp, result);
    return leave(vm, o, ip, sp, fp, ip[1].extended.own, result);
}

/* ---- Choosing the handler ---- */

/* The native twin for the layout of the site; NULL: there is none. */
static dv_handler twin_of(const dv_extension_site *o) {
    if (dv_operate_is_named(o->family)) return NULL;
    if (o->kind != DVX_SITE_CALL) return o->derivative.native;
    if (o->derivative.meta) return NULL;
    return o->method ? o->derivative.native_method : o->derivative.native;
}

dv_handler dv_operate_handler(const dv_vm *vm, const dv_extension_site *o, bool native) {
    if (o->family == DV_OP_LOAD_METHOD) return run_callee; /* twins are laid out as LOAD_ATTR */
    const dv_handler twin = twin_of(o);
    if (native && twin) return twin;
    if (is_call(o)) return run_call;
    if (o->kind == DVX_SITE_ATTRIBUTE)
        return dv_extension_handler_of(vm, o->cell, DV_X_extension_attribute);
    static const dv_extension_handler by_count[] = {DV_X_COUNT, DV_X_extension_1, DV_X_extension_2,
                                                    DV_X_extension_3};
    return dv_extension_handler_of(vm, o->cell, by_count[o->derivative.count]);
}

void dv_operate_setup(dv_vm *vm) {
    vm->extensions.plugins->native.site_miss = site_miss;
    vm->extensions.plugins->native.site_finish = site_finish;
    vm->extensions.plugins->native.site_raise = dv_slow_raise;
}
