/* operator.c: the transfer function of operators of dl classes: their method becomes part of the
 * region.
 *
 * Invariants
 *  1. The entries of a call lie as INCA code lays them (run/operate.h), so that exits within the
 *     method need to build its frame only.  The operands stay below it until it returns; its
 *     parameters are aliases of them.
 *  2. A method is entered only where INCA code would: the left operand has the shape that the site
 *     met, or is not made, and the right one is no instance of another class, which might come
 * first: it has that shape, too, or is a number, as the site met one.
 *  3. What follows a NotImplemented is up to INCA code: the region leaves in front of the RETURN.
 */
#include "region/step/operator.h"

#include "region/step/complex.h"
#include "region/step/virtual.h"
#include "run/call.h"
#include "run/operate.h"
#include "types/callable/function.h"
#include "types/class/class.h"
#include "types/class/descriptor.h"

/* Which method
 * -----------------------------------------------------------------------------------------------
 */

typedef struct operation {
    dv_global_cell *cell; /* of the method; NULL: the class has none */
    dv_operate_kind kind;
    uint32_t op;
} operation;

/* Is it the reflected method of the right operand that the derivative enters? */
static bool is_reflected(uint32_t op) {
    return op < DV_OP_COUNT && dv_op_among(dv_op_infos[op].family, DV_OP_ADD, DV_OP_XOR) &&
           dv_op_infos[op].types[0] != DV_RESULT_INSTANCE &&
           dv_op_infos[op].types[1] == DV_RESULT_INSTANCE;
}

/* Which of the operands is the instance, counted from the lowest. */
static int32_t self_of(uint32_t family, uint32_t op) {
    return family == DV_OP_STORE_SUBSCR || family == DV_OP_STORE_ATTR || is_reflected(op);
}

static dv_value comparison_name(dv_vm *vm, dv_compare_op op) {
    const dv_value names[] = {vm->known.lt, vm->known.le, vm->known.gt,
                              vm->known.ge, vm->known.eq, vm->known.ne};
    return names[op];
}

static bool asks_truth(uint32_t family) {
    return family == DV_OP_NOT || family == DV_OP_JUMP_IF_FALSE || family == DV_OP_JUMP_IF_TRUE;
}

static dv_operate_use use_of(uint32_t family) {
    return family == DV_OP_NOT             ? DV_OPERATE_OPPOSITE_VALUE
           : family == DV_OP_JUMP_IF_FALSE ? DV_OPERATE_JUMP_IF_FALSE
                                           : DV_OPERATE_JUMP_IF_TRUE;
}

/* The cell of the class with a property of that name; NULL: it has none, or sets attributes itself.
 */
static dv_global_cell *property_cell(dv_vm *vm, const dv_class *class_, dv_value name) {
    if (class_->flags & DV_CLASS_SETATTR) return NULL;
    dv_global_cell *cell = dv_class_find(vm, (dv_class *)class_, name);
    if (!dv_is_empty(vm->error)) dv_error_clear(vm);
    return cell && dv_is_shape(cell->value, DV_T_PROPERTY) ? cell : NULL;
}

/* The function that the cell has, itself or as the setter of a property. */
static dv_value method_in(const dv_global_cell *cell) {
    if (!dv_is_shape(cell->value, DV_T_PROPERTY)) return cell->value;
    return ((const dv_property *)dv_as_object(cell->value))->set;
}

/* As the derivatives choose it (gen/ops/arith.mako, compare.mako, data.mako). */
static operation find_operation(dv_vm *vm, const dv_class *class_, uint32_t family,
                                const dv_cell *site) {
    operation found = {NULL, DV_OPERATE_ITEM, 0};
    if (family == DV_OP_LOAD_SUBSCR) {
        found.cell = dv_class_special(class_, vm->known.getitem);
    } else if (family == DV_OP_STORE_SUBSCR) {
        found.kind = DV_OPERATE_STORE;
        found.cell = dv_class_special(class_, vm->known.setitem);
    } else if (family == DV_OP_STORE_ATTR) {
        found.kind = DV_OPERATE_SET;
        found.cell = property_cell(vm, class_, site[2].v);
    } else if (family == DV_OP_NEG) {
        found.kind = DV_OPERATE_UNARY;
        found.cell = dv_class_special(class_, vm->known.neg);
    } else if (asks_truth(family)) {
        found.kind = DV_OPERATE_BOOL, found.op = use_of(family);
        found.cell = dv_class_special(class_, vm->known.bool_);
    } else if (dv_op_among(family, DV_OP_LT, DV_OP_NE)) {
        found.kind = DV_OPERATE_COMPARE, found.op = family - DV_OP_LT;
        found.cell = dv_class_special(class_, comparison_name(vm, (dv_compare_op)found.op));
    } else if (is_reflected(dv_op_of(vm, site->h))) {
        found.kind = DV_OPERATE_REFLECTED, found.op = family - DV_OP_ADD;
        found.cell = dv_class_special(class_, vm->known.reflected[found.op]);
    } else if (dv_op_among(family, DV_OP_ADD, DV_OP_XOR)) {
        const bool inplace = site[1].site.own & DV_OWN_INPLACE;
        found.op = family - DV_OP_ADD;
        found.kind = DV_OPERATE_INPLACE;
        if (inplace) found.cell = dv_class_special(class_, vm->known.inplace[found.op]);
        if (found.cell) return found;
        found.kind = inplace ? DV_OPERATE_FALLEN : DV_OPERATE_BINARY;
        found.cell = dv_class_special(class_, vm->known.binary[found.op]);
    }
    return found;
}

/* Can its result be NotImplemented? */
static bool may_decline(dv_operate_kind kind) {
    return kind != DV_OPERATE_ITEM && kind != DV_OPERATE_UNARY && kind != DV_OPERATE_STORE &&
           kind != DV_OPERATE_SET && kind != DV_OPERATE_BOOL;
}

bool dv_operator_is_entered(uint32_t op) {
    if (op >= DV_OP_COUNT || dv_op_infos[op].kind != DV_KIND_DERIVATIVE) return false;
    const uint32_t family = dv_op_infos[op].family;
    return dv_op_infos[op].types[self_of(family, op)] == DV_RESULT_INSTANCE &&
           (dv_op_among(family, DV_OP_ADD, DV_OP_XOR) || dv_op_among(family, DV_OP_LT, DV_OP_NE) ||
            family == DV_OP_NEG || family == DV_OP_LOAD_SUBSCR || family == DV_OP_STORE_SUBSCR);
}

/* The class of the shape that the site met; NULL: it is not known. */
static dv_class *class_met(dv_vm *vm, const dv_cell *site) {
    const uint32_t number = site[1].site.met & DV_MET_SHAPE;
    const dv_shape *shape = number >= DV_T_COUNT ? dv_shape_at(vm, number) : NULL;
    return shape ? shape->class_ : NULL;
}

dv_value dv_operator_met(dv_vm *vm, const dv_cell *site, uint32_t op) {
    const dv_class *class_ = dv_operator_is_entered(op) ? class_met(vm, site) : NULL;
    if (!class_) return DV_EMPTY;
    const dv_global_cell *cell = find_operation(vm, class_, dv_op_infos[op].family, site).cell;
    return cell && dv_is_function(cell->value) ? cell->value : DV_EMPTY;
}

/* Does what lookups find in the class last, but for values? */
static bool lasts(dv_build *b, dv_class *class_) {
    class_->flags |= DV_CLASS_CACHED;
    return dv_build_depends(b, &b->vm->class_sites);
}

/* The method if it lasts: the assumption on its cell covers its value, vm->class_sites that no
 * other one comes before it. */
static dv_value lasting_method(dv_build *b, dv_class *class_, const operation *found) {
    if (!found->cell || !dv_is_function(method_in(found->cell))) return DV_EMPTY;
    const bool is_same = lasts(b, class_) && !dv_is_empty(dv_constant_global(b, found->cell));
    return is_same ? method_in(found->cell) : DV_EMPTY;
}

/* Entering it
 * -----------------------------------------------------------------------------------------------
 */

static bool is_object(const dv_known_value *e) {
    return e->where == DV_AT_HOME || e->where == DV_AT_ALIAS;
}

/* The class of the left operand, entry q; NULL: not known. */
static dv_class *class_of(const dv_build *b, int32_t q) {
    const dv_known_value *e = &b->e[q];
    if (e->kind == DV_K_VIRTUAL) return dv_virtual_record(b, e)->shape->class_;
    return e->kind == DV_K_ANY && is_object(e) ? class_met(b->vm, dv_site_cell(b, b->pc)) : NULL;
}

/* Can entry q be known to be no instance of another class, perhaps by a look at its shape? */
static bool is_no_other(const dv_build *b, int32_t q, const dv_class *class_) {
    const dv_known_value *e = &b->e[q];
    if (e->kind == DV_K_VIRTUAL)
        return dv_virtual_record(b, e)->shape->number < DV_T_COUNT ||
               dv_virtual_record(b, e)->shape->class_ == class_;
    if (e->kind == DV_K_ANY) return dv_site_cell(b, b->pc)[1].site.met & DV_MET_RIGHT;
    if (e->kind == DV_K_CONSTANT) return !dv_is_instance(e->value);
    return e->kind < DV_K_CONSTANT && e->kind != DV_K_NOTHING;
}

/* Leaves unless the object, entry q, has the shape that the site met. */
static void guard_shape(dv_build *b, int32_t q) {
    const dv_known_value *e = &b->e[q];
    if (!is_object(e) || e->kind != DV_K_ANY || asks_truth(dv_step_op(b, b->pc))) return;
    const uint32_t number = dv_site_cell(b, b->pc)[1].site.met & DV_MET_SHAPE;
    const int32_t home = dv_home(b, e->where == DV_AT_ALIAS ? e->slot : q);
    dv_shape_guard(b, q, home, (dv_cell){.s.a = (int32_t)number});
}

/* Leaves unless the right operand, entry q, is what the site met. */
static void guard_right(dv_build *b, int32_t q) {
    const uint32_t met = dv_site_cell(b, b->pc)[1].site.met & DV_MET_RIGHT;
    if (b->e[q].kind != DV_K_ANY || met == DV_MET_SAME)
        guard_shape(b, q);
    else
        dv_unbox(b, q, met == DV_MET_INT ? DV_K_INT : DV_K_FLOAT);
}

/* A parameter that is the operand in entry q. */
static void push_parameter(dv_build *b, int32_t q) {
    const dv_known_value e = b->e[q];
    if (e.where == DV_AT_HOME)
        dv_push_known(b, (dv_kind)e.kind, DV_AT_ALIAS, q, DV_EMPTY);
    else
        dv_push_known(b, (dv_kind)e.kind, (dv_where)e.where, e.slot, e.value);
}

/* What lies below the parameters. */
static void push_below(dv_build *b, uint32_t how, dv_value method, uint32_t next_pc) {
    const dv_thread *caller = b->context->thread;
    const dv_value next = dv_raw_pointer(caller->cells + caller->cell_at[next_pc]);
    dv_push_known(b, DV_K_CONSTANT, DV_AT_VALUE, 0, dv_int(how));
    dv_push_known(b, DV_K_CONSTANT, DV_AT_VALUE, 0, next);
    dv_push_known(b, DV_K_CONSTANT, DV_AT_VALUE, 0, method);
    dv_push_known(b, DV_K_RESERVED, DV_AT_NOWHERE, 0, DV_EMPTY);
    dv_push_known(b, DV_K_RESERVED, DV_AT_NOWHERE, 0, DV_EMPTY);
}

/* Would objects be released if entry q, an operand or a local, were used up? */
static bool has_objects(dv_build *b, int32_t q) {
    const dv_known_value *e = &b->e[q];
    if (e->kind != DV_K_VIRTUAL) return e->where == DV_AT_HOME && dv_owned(b, b->context, b->pc, q);
    return dv_virtual_objects(b->virtuals.data, e->slot) > 0;
}

/* The class of entry q, if it is not made or its shape known; NULL: it is not. */
static dv_class *class_known(dv_build *b, int32_t q) {
    const dv_known_value *e = &b->e[q];
    if (e->kind == DV_K_VIRTUAL) return dv_virtual_record(b, e)->shape->class_;
    if (e->where == DV_AT_ALIAS) e = &b->e[e->slot];
    if (!dv_has_known_shape(e) || dv_as_int(e->value) < DV_T_COUNT) return NULL;
    return dv_shape_at(b->vm, (uint32_t)dv_as_int(e->value))->class_;
}

/* The same of the operand whose truth is asked for.  Sites of such questions remember no shapes,
 * and what is asked must not die between the answer and the jump. */
static dv_class *class_asked(dv_build *b, int32_t q) {
    return has_objects(b, q) ? NULL : class_known(b, q);
}

/* Is entry q an instance that is not made?  Then its class says which method it is, whatever the
 * site met. */
static bool is_unmade(const dv_build *b, int32_t q) {
    const dv_known_value *e = &b->e[q];
    return e->kind == DV_K_VIRTUAL && dv_virtual_record(b, e)->shape->number >= DV_T_COUNT;
}

bool dv_operator_enter(dv_build *b, uint32_t next_pc) {
    const dv_cell *site = dv_site_cell(b, b->pc);
    const uint32_t family = dv_step_op(b, b->pc);
    const int32_t count = (int32_t)dv_op_infos[family].inputs;
    const uint32_t op = dv_op_of(b->vm, site->h);
    const int32_t bottom = b->top - count, self = bottom + self_of(family, op);
    const bool met = dv_operator_is_entered(op), sets = family == DV_OP_STORE_ATTR;
    dv_class *class_ = asks_truth(family)          ? class_asked(b, self)
                       : sets                      ? class_known(b, self)
                       : met || is_unmade(b, self) ? class_of(b, self)
                                                   : NULL;
    if (!class_) return false;
    const operation found = find_operation(b->vm, class_, family, site);
    const bool reflected = found.kind == DV_OPERATE_REFLECTED;
    const bool two = may_decline(found.kind) && !reflected;
    if (two && !(is_no_other(b, self + 1, class_) && (met || b->e[self + 1].kind != DV_K_ANY)))
        return false;
    if (reflected && !dv_is_raw_number(&b->e[bottom])) return false;
    for (int32_t q = bottom; q < b->top; q++)
        if (b->e[q].kind >= DV_K_UNSET) return false;
    const int32_t more = DV_BELOW_OPERATOR + count;
    if (b->top + more >= b->entry_limit) return false;
    const dv_value method = lasting_method(b, class_, &found);
    if (dv_is_empty(method)) return false;
    b->top += more; /* as it will be */
    const bool inlined =
        dv_build_may_inline(b, dv_function_thread(dv_as_function(method)), (uint32_t)count);
    b->top -= more;
    if (!inlined) return false;
    if (!sets) guard_shape(b, self);
    if (two) guard_right(b, self + 1);
    for (int32_t q = bottom; q < b->top; q++)
        if (b->e[q].where == DV_AT_REGISTER) dv_to_slot(b, q);
    const uint32_t own = site[1].site.own & ((1u << count) - 1);
    const uint32_t how = DV_OPERATE_HOW(found.kind, found.op, own);
    push_below(b, how, method, next_pc);
    for (int32_t i = 0; i < count; i++) /* from self on; a value that is stored is the last */
        push_parameter(b, bottom + (self - bottom + i) % count);
    dv_step_count(b, true);
    dv_step_enter(b, dv_function_thread(dv_as_function(method)), next_pc,
                  DV_OPERATE_COUNTS(how) ? DV_ENTERS_COMPARISON : DV_ENTERS_OPERATOR);
    return true;
}

bool dv_operator_enter_new(dv_build *b, dv_class *class_, int32_t n, uint32_t next_pc) {
    const dv_value function = dv_call_new_of(b->vm, dv_object_value(class_));
    if (dv_is_empty(function) || n >= DV_OPERATE_ARGUMENTS || dv_step_op(b, b->pc) != DV_OP_CALL ||
        dv_class_special(class_, b->vm->known.init) || !lasts(b, class_) ||
        dv_is_empty(dv_constant_global(b, dv_class_special(class_, b->vm->known.new_))))
        return false;
    const int32_t bottom = b->top - n - 3, more = DV_BELOW_OPERATOR + n + 1;
    for (int32_t q = b->top - n; q < b->top; q++)
        if (b->e[q].kind >= DV_K_UNSET) return false;
    if (b->top + more >= b->entry_limit) return false;
    dv_thread *thread = dv_function_thread(dv_as_function(function));
    b->top += more; /* as it will be */
    const bool inlined = dv_build_may_inline(b, thread, (uint32_t)n + 1);
    b->top -= more;
    if (!inlined) return false;
    for (int32_t q = b->top - n; q < b->top; q++)
        if (b->e[q].where == DV_AT_REGISTER) dv_to_slot(b, q);
    push_below(b, DV_OPERATE_HOW(DV_OPERATE_NEW, n, 0), function, next_pc);
    push_parameter(b, bottom);
    for (int32_t i = 0; i < n; i++) push_parameter(b, bottom + 3 + i);
    dv_step_count(b, true);
    dv_step_enter(b, thread, next_pc, DV_ENTERS_NEW);
    return true;
}

/* Leaving it
 * -----------------------------------------------------------------------------------------------
 */

int32_t dv_operator_bottom(const dv_context *context) {
    const uint32_t family = dv_step_op_in(context->parent, context->call_pc);
    const dv_code *code = context->parent->thread->code;
    const int32_t inputs = context->entering == DV_ENTERS_NEW
                               ? 3 + (int32_t)(code->words[context->call_pc] >> 8)
                               : (int32_t)dv_op_infos[family].inputs;
    return context->base - DV_BELOW_OPERATOR - inputs;
}

bool dv_operator_drop(dv_build *b, int32_t q) {
    if (b->e[q].kind == DV_K_VIRTUAL) return dv_virtual_drop(b, q);
    if (b->e[q].where != DV_AT_HOME || !dv_owned(b, b->context, b->pc, q)) return false;
    dv_region_emit(b, DV_OP_R_RELEASE, dv_home(b, q), 0, 0);
    return true;
}

/* Leaves if the method's result, the topmost entry, might be NotImplemented; false: it is. */
static bool guard_answer(dv_build *b) {
    const dv_known_value *v = dv_top(b, 1);
    if (v->kind == DV_K_CONSTANT) return !dv_same(v->value, DV_NOTIMPLEMENTED);
    if (v->kind != DV_K_ANY) return true;
    const int32_t home = dv_home(b, v->where == DV_AT_ALIAS ? v->slot : b->top - 1);
    dv_region_emit_guard(b, DV_OP_R_GUARD_ANSWER, home, 0, 0);
    return true;
}

/* The result, the topmost entry, leaves what will be free or taken by others: the slots of the
 * method and those of the operands, from entry `to` on.  Is it an object then that must move? */
static bool leave_slots(dv_build *b, int32_t to) {
    const int32_t top = b->top - 1;
    const dv_known_value v = b->e[top];
    if (v.kind == DV_K_COMPLEX && v.where == DV_AT_SLOT)
        dv_complex_move(b, top, to);
    else if (v.where == DV_AT_SLOT && v.slot >= dv_shadow(b, to))
        dv_load_register(b, top);
    const bool moves = v.where == DV_AT_HOME || (v.where == DV_AT_ALIAS && v.slot >= to);
    if (moves) dv_materialize(b, top);
    return moves;
}

/* The answer, the topmost entry, is taken: the question goes on with it. */
static uint32_t answer(dv_build *b, uint32_t family) {
    const dv_context *context = b->context;
    const int32_t q = b->top - 1;
    b->context = context->parent, b->pc = context->call_pc;
    b->version++;
    b->sp = -1;
    uint32_t next_pc = context->return_pc;
    if (family != DV_OP_NOT) {
        next_pc = dv_step_branch(b, next_pc);
    } else if (b->e[q].where == DV_AT_VALUE) {
        b->e[q].value = dv_bool(!dv_same(b->e[q].value, DV_TRUE));
    } else {
        dv_load_register(b, q);
        dv_region_emit(b, DV_OP_R_NOT, 0, 0, 0);
    }
    if (!context->branches || b->ended) return next_pc;
    dv_build_flow(b, b->context, next_pc);
    b->ended = true;
    return next_pc;
}

/* RETURN of a __bool__.  What it says must be a bool, and nothing dies then. */
static uint32_t return_truth(dv_build *b, uint32_t family) {
    const dv_context *context = b->context;
    const int32_t to = dv_operator_bottom(context), top = b->top - 1;
    const int32_t locals = (int32_t)context->thread->local_count;
    bool leaves = b->e[top].kind != DV_K_BOOL || has_objects(b, to);
    for (int32_t i = 0; i < locals; i++) leaves |= has_objects(b, context->base + i);
    if (leaves) return dv_step_leave(b);
    (void)leave_slots(b, to);
    const dv_known_value v = b->e[top];
    for (int32_t i = 0; i < locals; i++) (void)dv_step_drop_local(b, context->base + i);
    (void)dv_operator_drop(b, to);
    b->top = to;
    b->e[b->top++] = v;
    return answer(b, family);
}

/* May what __new__ has returned be the result of the call?  An instance of a class that derives
 * from this one might have an __init__. */
static bool is_result(const dv_build *b, const dv_class *class_, const dv_known_value *v) {
    if (v->kind == DV_K_CONSTANT) return !dv_is_instance(v->value);
    if (v->kind != DV_K_VIRTUAL) return v->kind < DV_K_CONSTANT;
    const dv_class *its = dv_virtual_record(b, v)->shape->class_;
    return its == class_ || !dv_class_is_subclass(its, class_);
}

uint32_t dv_operator_return(dv_build *b) {
    const dv_context *context = b->context;
    const uint32_t family = dv_step_op_in(context->parent, context->call_pc);
    if (asks_truth(family)) return return_truth(b, family);
    const int32_t to = dv_operator_bottom(context), top = b->top - 1;
    const bool is_store = family == DV_OP_STORE_SUBSCR || family == DV_OP_STORE_ATTR;
    const bool makes = context->entering == DV_ENTERS_NEW;
    const bool declines = !makes && !is_store && family != DV_OP_LOAD_SUBSCR && family != DV_OP_NEG;
    if (makes && !is_result(b, dv_as_class(b->e[to].value), &b->e[top])) return dv_step_leave(b);
    if (declines && !guard_answer(b)) return dv_step_leave(b);
    const bool moves = !is_store && leave_slots(b, to);
    const dv_known_value v = b->e[top];
    bool released = false;
    for (int32_t i = 0; i < (int32_t)context->thread->local_count; i++)
        released |= dv_step_drop_local(b, context->base + i);
    if (is_store) released |= dv_operator_drop(b, top);
    for (int32_t q = to; q < context->base - DV_BELOW_OPERATOR; q++)
        released |= dv_operator_drop(b, q);
    if (moves) dv_region_emit(b, DV_OP_R_BORROW, dv_home(b, top), dv_home(b, to), 0);
    b->top = to;
    if (!is_store) b->e[b->top++] = v;
    return dv_step_returned(b, released);
}
