/* operate.c: what becomes of the result of an operator's method (operate.h). */
#include "run/operate.h"

#include "core/upcall.h"
#include "run/engine.h"
#include "types/class/class.h"
#include "types/class/instance.h"
#include "types/number/int.h"

/* The truth of a result, which it takes. */
static dv_value truth_of(dv_vm *vm, dv_value result, bool wanted) {
    int truth = dv_truth(vm, result);
    dv_release_outer(vm, result);
    return truth < 0 ? DV_EMPTY : dv_bool((truth != 0) == wanted);
}

dv_value dv_operated(dv_vm *vm, uint32_t how, dv_value a, dv_value b, dv_value result) {
    dv_operate_kind kind = DV_OPERATE_KIND(how);
    bool knows = !dv_same(result, DV_NOTIMPLEMENTED);
    switch (kind) {
    case DV_OPERATE_ITEM: return result;
    case DV_OPERATE_IN: return truth_of(vm, result, true);
    case DV_OPERATE_OPPOSITE:
        return knows ? truth_of(vm, result, false) : dv_compare_reflected(vm, DV_NE, a, b);
    case DV_OPERATE_COMPARE:
        return knows ? result : dv_compare_reflected(vm, (dv_compare_op)DV_OPERATE_OP(how), a, b);
    default: break;
    }
    if (knows) return result;
    dv_binary_op op = (dv_binary_op)DV_OPERATE_OP(how);
    if (kind == DV_OPERATE_REFLECTED) return dv_binary_refuse(vm, op, a, b);
    return dv_binary_rest(vm, op, a, b, kind != DV_OPERATE_BINARY, kind != DV_OPERATE_INPLACE);
}

/* The truth that __bool__ or __len__ has returned, which is taken; -1: raised. */
static int truth_by(dv_vm *vm, dv_operate_kind kind, dv_value result) {
    if (kind == DV_OPERATE_BOOL) return dv_truth_returned(vm, result);
    int64_t length = dv_length_returned(vm, result);
    return length < 0 ? -1 : length != 0;
}

/* Where a truth leads; the value of `not a` is put in the operand's place. */
static const dv_cell *use_truth(dv_operate_use use, int truth, const dv_cell *behind,
                                dv_value **sp) {
    if (use == DV_OPERATE_OPPOSITE_VALUE) {
        *(*sp)++ = dv_bool(!truth);
        return behind;
    }
    return truth == (use == DV_OPERATE_JUMP_IF_TRUE) ? behind[-1].target : behind;
}

/* The truth of the operand below sp. */
static const dv_cell *finish_truth(dv_vm *vm, uint32_t how, dv_value result, const dv_cell *behind,
                                   dv_value *sp) {
    int truth = truth_by(vm, DV_OPERATE_KIND(how), result);
    if (truth < 0) return NULL;
    if (how & 1) dv_release_outer(vm, sp[-1]);
    sp--;
    const dv_cell *next = use_truth((dv_operate_use)DV_OPERATE_OP(how), truth, behind, &sp);
    vm->sp = sp;
    return next;
}

/* What takes the place of `count` operands, of which `owned` are released (a mask); EMPTY: raised.
 */
static const dv_cell *finish_value(dv_vm *vm, dv_value value, uint32_t count, uint32_t owned,
                                   const dv_cell *behind, dv_value *sp) {
    if (dv_is_empty(value)) return NULL;
    dv_value *bottom = sp - count;
    for (uint32_t i = 0; i < count; i++)
        if (owned >> i & 1) dv_release_outer(vm, bottom[i]);
    *bottom = value;
    vm->sp = bottom + 1;
    return behind;
}

/* The same for a statement, whose method's result counts for nothing. */
static const dv_cell *finish_statement(dv_vm *vm, dv_value result, uint32_t count, uint32_t owned,
                                       const dv_cell *behind, dv_value *sp) {
    dv_release_outer(vm, result);
    for (uint32_t i = 0; i < count; i++)
        if (owned >> i & 1) dv_release_outer(vm, sp[(int64_t)i - count]);
    vm->sp = sp - count;
    return behind;
}

/* What the __new__ of the class has returned takes the place of the call, once it is initialised.
 */
static const dv_cell *finish_new(dv_vm *vm, uint32_t count, dv_value result, const dv_cell *behind,
                                 dv_value *sp) {
    dv_value *args = sp - count;
    const dv_value made = dv_class_made(vm, dv_as_class(args[-3]), result, args, count, DV_EMPTY);
    vm->calls_left++;
    return finish_value(vm, made, count + 3, ~(uint32_t)6, behind, sp);
}

static const dv_cell *finish(dv_vm *vm, uint32_t how, dv_value result, const dv_cell *behind,
                             dv_value *sp) {
    int64_t length;
    switch (DV_OPERATE_KIND(how)) {
    case DV_OPERATE_STORE: return finish_statement(vm, result, 3, how & 7, behind, sp);
    case DV_OPERATE_SET:
    case DV_OPERATE_DELETE: return finish_statement(vm, result, 2, how & 3, behind, sp);
    case DV_OPERATE_UNARY: return finish_value(vm, result, 1, how & 1, behind, sp);
    case DV_OPERATE_ITER:
        return finish_value(vm, dv_iterator_returned(vm, result), 1, how & 1, behind, sp);
    case DV_OPERATE_LENGTH: /* callee, two entries of the call, argument */
        length = dv_length_returned(vm, result);
        return finish_value(vm, length < 0 ? DV_EMPTY : dv_int_from_int64(vm, length), 4, 9, behind,
                            sp);
    case DV_OPERATE_NEW: return finish_new(vm, DV_OPERATE_OP(how), result, behind, sp);
    case DV_OPERATE_NEXT:
        *sp = result;
        vm->sp = sp + 1;
        return behind;
    default: return finish_truth(vm, how, result, behind, sp);
    }
}

const dv_cell *dv_slow_operated(DV_HANDLER_PARAMETERS) {
    (void)r, (void)d;
    uint32_t how = (uint32_t)sp[-3].bits;
    const dv_cell *behind = (const dv_cell *)(uintptr_t)sp[-2].bits;
    dv_value result = sp[-1];
    sp -= 3;
    vm->ip = ip = behind - 1, vm->sp = sp, vm->fp = fp;
    const dv_cell *next = finish(vm, how, result, behind, sp);
    return next ? next : dv_slow_raise(ip, sp, fp, vm, 0, 0);
}

const dv_type *dv_operate_truth_base(dv_vm *vm, dv_value v) {
    if (!dv_is_subclass_instance(v)) return NULL;
    const dv_class *class_ = dv_shape_at(vm, dv_as_object(v)->shape)->class_;
    const bool left = class_->left & DV_LEFT_TRUTH && class_->left_then == vm->names_changed;
    if (left) return vm->types[class_->type];
    const dv_type *base = dv_operate_base(vm, v, vm->known.bool_);
    if (!base || !base->length || base->id >= DV_T_EXTENSION ||
        !dv_operate_base(vm, v, vm->known.len))
        return NULL;
    dv_operate_note_left(vm, v, DV_LEFT_TRUTH);
    return base;
}
