/* operate.c: what becomes of the result of an operator's method (operate.h). */
#include "run/operate.h"

#include "core/upcall.h"

/* The truth of a result, which it takes. */
static dv_value truth_of(dv_vm *vm, dv_value result, bool wanted) {
    int truth = dv_truth(vm, result);
    dv_release(vm, result);
    return truth < 0 ? DV_EMPTY : dv_bool((truth != 0) == wanted);
}

dv_value dv_operated(dv_vm *vm, uint32_t how, dv_value a, dv_value b, dv_value result) {
    dv_operate_kind kind = DV_OPERATE_KIND(how);
    bool knows = !dv_same(result, DV_NOTIMPLEMENTED);
    switch (kind) {
    case DV_OPERATE_ITEM: return result;
    case DV_OPERATE_IN:
    case DV_OPERATE_NOT_IN: return truth_of(vm, result, kind == DV_OPERATE_IN);
    case DV_OPERATE_OPPOSITE:
        return knows ? truth_of(vm, result, false) : dv_compare_reflected(vm, DV_NE, a, b);
    case DV_OPERATE_COMPARE:
        return knows ? result : dv_compare_reflected(vm, (dv_compare_op)(how >> 8), a, b);
    default: break;
    }
    if (knows) return result;
    dv_binary_op op = (dv_binary_op)(how >> 8);
    return dv_binary_rest(vm, op, a, b, kind != DV_OPERATE_BINARY, kind != DV_OPERATE_INPLACE);
}
