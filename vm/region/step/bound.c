/* bound.c: the transfer function of calls of bound methods that were made before: `f = obj.method`
 * in front of the loop, or as an argument or a global; and of those that the region has not made
 * (virtual.h).
 *
 * A local that the loop only reads holds now what it will hold each time: what that is says which
 * function to expect, and a guard tests it at each call.  A method of a dl class is analysed
 * inline: its frame begins with self, so the arguments move up by one entry.  append of a list
 * becomes the instruction that `list.append(x)` is.
 *
 * Invariant
 *  1. The region does not keep alive what a local holds.  It knows the method's code, not the
 * function: which one that is at each call, exits read from the bound method. */
#include "region/step/step.h"
#include "region/step/virtual.h"
#include "types/callable/function.h"

/* The object that the callee is, as far as is known; EMPTY: nothing is. */
static dv_value evident_callee(const dv_build *b, const dv_known_value *callee) {
    if (callee->kind == DV_K_CONSTANT && callee->where == DV_AT_VALUE) return callee->value;
    const int32_t q = callee->slot;
    const bool lasts =
        callee->where == DV_AT_ALIAS && q < b->locals && !(b->local_uses[q] & DV_LOCAL_STORED);
    return lasts ? b->frame[dv_home(b, q)] : DV_EMPTY;
}

/* A bound method of a dl function, inline. */
static bool enter_method(dv_build *b, int32_t n, const dv_method *method, uint32_t *next_pc) {
    const int32_t q = b->top - n - 3, self = b->top - n;
    if (!dv_is_function(method->function) || b->top + 1 >= b->entry_limit) return false;
    dv_function *function = dv_as_function(method->function);
    b->top++; /* as it will be */
    const bool inlined = dv_build_may_inline(b, dv_function_thread(function), (uint32_t)n + 1);
    b->top--;
    const bool is_local = b->e[q].where == DV_AT_ALIAS; /* then its cells are not known */
    if (!inlined || (is_local && dv_function_thread(function)->code->free_count > 0) ||
        (is_local && !dv_function_lasts(b, dv_function_thread(function))))
        return false;
    const int16_t bound = is_local ? dv_home(b, b->e[q].slot) : 0;
    const dv_value code = dv_object_value(function->code);
    if (is_local) {
        uint32_t at = dv_region_emit_guard(b, DV_OP_R_GUARD_BOUND, bound, 0, 0);
        dv_region_emit_constant(b, at, (dv_cell){.v = code});
    }
    for (int32_t i = 1; i <= n; i++)
        if (dv_top(b, i)->where == DV_AT_REGISTER) dv_to_slot(b, b->top - i);
    dv_step_shift(b, n, 1);
    if (is_local) {
        dv_region_emit(b, DV_OP_R_SELF, bound, dv_home(b, self), 0);
    } else {
        uint32_t at = dv_region_emit(b, DV_OP_R_VALUE, dv_home(b, self), 0, 0);
        dv_region_emit_constant(b, at, (dv_cell){.v = method->self});
    }
    b->e[self] = (dv_known_value){DV_K_ANY, DV_AT_HOME, 0, DV_EMPTY};
    b->e[q] = (dv_known_value){DV_K_CONSTANT, DV_AT_VALUE, 0, is_local ? code : method->function};
    b->version++;
    dv_step_count(b, true);
    dv_context *call = dv_build_inline(b, dv_function_thread(function));
    if (!call) return true;
    call->method = bound;
    *next_pc = dv_step_enter(b, dv_function_thread(function), *next_pc, DV_ENTERS_CALL);
    return true;
}

/* append of a list, which comes borrowed to where the callee's first reserved entry is. */
static bool call_append(dv_build *b, const dv_cfunction *function, uint32_t *next_pc) {
    const int32_t q = b->top - 4, list = q + 1;
    if (function->def->inlined != DV_INLINED_APPEND || !dv_is_shape(function->self, DV_T_LIST) ||
        !dv_step_may_append(b))
        return false;
    if (b->e[q].where == DV_AT_ALIAS) {
        uint32_t at = dv_region_emit_guard(b, DV_OP_R_GUARD_BOUND_C, dv_home(b, b->e[q].slot),
                                           dv_home(b, list), 0);
        dv_region_emit_constant(b, at, (dv_cell){.p = (void *)(uintptr_t)function->def});
    } else {
        uint32_t at = dv_region_emit(b, DV_OP_R_VALUE_B, dv_home(b, list), 0, 0);
        dv_region_emit_constant(b, at, (dv_cell){.v = function->self});
    }
    b->e[list] = (dv_known_value){DV_K_LIST, DV_AT_HOME, 0, DV_EMPTY};
    b->version++;
    *next_pc = dv_step_append(b, list, 4, *next_pc);
    return true;
}

/* A bound method that was not made, inline. */
static bool enter_virtual(dv_build *b, int32_t n, uint32_t next_pc) {
    const dv_virtual *method = dv_virtual_record(b, &b->e[b->top - n - 3]);
    const dv_function *function = dv_as_function(method->values[1].value);
    if (b->top + 1 >= b->entry_limit || !dv_step_may_inline(b, function, n, 1)) return false;
    for (int32_t i = 1; i <= n; i++)
        if (dv_top(b, i)->where == DV_AT_REGISTER) dv_to_slot(b, b->top - i);
    dv_virtual_unbind(b, n);
    dv_step_count(b, true);
    return dv_step_inline(b, function, n + 1, false, next_pc);
}

bool dv_step_call_bound(dv_build *b, int32_t n, uint32_t *next_pc) {
    if (dv_closure_call(b, n, *next_pc)) {
        *next_pc = b->failed ? b->pc : 0;
        return true;
    }
    if (dv_virtual_is_method(b, b->top - n - 3)) {
        if (!enter_virtual(b, n, *next_pc)) return false;
        *next_pc = b->failed ? b->pc : 0;
        return true;
    }
    const dv_value callee = evident_callee(b, dv_top(b, n + 3));
    if (dv_is_empty(callee) || dv_step_is_cold(b)) return false;
    if (dv_is_shape(callee, DV_T_METHOD))
        return enter_method(b, n, (const dv_method *)dv_as_object(callee), next_pc);
    return n == 1 && dv_is_shape(callee, DV_T_CFUNCTION) &&
           call_append(b, (const dv_cfunction *)dv_as_object(callee), next_pc);
}
