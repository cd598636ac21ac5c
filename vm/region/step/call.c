/* call.c: the transfer function of calls: range loops, C functions with unboxed arguments, dl
 * functions that become part of the region. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "core/raw.h"
#include "region/step/complex.h"
#include "region/step/operator.h"
#include "region/step/raised.h"
#include "region/step/text.h"
#include "region/step/virtual.h"
#include "types/class/descriptor.h"
#include "types/class/class.h"
#include "types/callable/function.h"
#include "types/callable/variable.h"
#include "types/file/module.h"
#include "types/number/float.h"
#include "types/number/int.h"

/* Calls
 * ---------------------------------------------------------------------------------------------------
 */

bool dv_step_is_builtin(const dv_build *b, dv_value v, const char *name) {
    if (dv_is_empty(v) || !dv_is_object(v)) return false;
    if (!strcmp(name, "range")) return v.bits == dv_object_value(b->vm->classes[DV_T_RANGE]).bits;
    return dv_is_shape(v, DV_T_CFUNCTION) &&
           !strcmp(((dv_cfunction *)dv_as_object(v))->def->name, name) &&
           dv_is_empty(((dv_cfunction *)dv_as_object(v))->self);
}

/* range(stop): the start is put below it. */
static void insert_start(dv_build *b) {
    dv_known_value stop = *dv_top(b, 1);
    if (stop.where == DV_AT_REGISTER) {
        dv_to_slot(b, b->top - 1);
        stop = *dv_top(b, 1);
    }
    *dv_top(b, 1) = (dv_known_value){DV_K_INT, DV_AT_VALUE, 0, dv_int(0)};
    if (stop.where == DV_AT_SLOT && stop.slot == dv_shadow(b, b->top - 1)) {
        dv_region_emit(b, DV_OP_R_MOVE, stop.slot, dv_shadow(b, b->top), 0);
        stop.slot = dv_shadow(b, b->top);
    }
    dv_push_known(b, DV_K_INT, stop.where, stop.slot, stop.value);
}

/* Does a for statement begin at pc, and take the iterator?  (Comprehensions hand theirs over.) */
static bool is_walked(dv_build *b, uint32_t pc) {
    return dv_step_follows(b, pc, DV_OP_GET_ITER) &&
           dv_step_op(b, pc + dv_step_length(b, pc)) == DV_OP_FOR_ITER;
}

/* range(...) whose result is iterated at once: the iterator stays virtual. */
static uint32_t start_range(dv_build *b, int32_t n, uint32_t next_pc) {
    bool by_register = n == 3 && dv_top(b, 1)->where != DV_AT_VALUE;
    int64_t step = n == 3 && !by_register ? dv_as_int(dv_top(b, 1)->value) : 1;
    int32_t callee = b->top - n - 3;
    if (n == 3 && !by_register) dv_pop(b, 1);
    if (n == 1) insert_start(b);
    dv_to_slot(b, b->top - 2 - by_register);
    dv_to_slot(b, b->top - 1 - by_register);
    if (by_register) dv_load_register(b, b->top - 1);
    const dv_known_value *start = dv_top(b, 2 + by_register), *stop = dv_top(b, 1 + by_register);
    int16_t triple = dv_triple(b, callee);
    uint32_t at;
    if (!by_register) dv_build_mark(b, DV_MADE_RANGE), dv_build_mark(b, DV_MADE_ITERATOR);
    if (by_register) {
        at = dv_region_emit_guard(b, DV_OP_R_RANGE_BY, start->slot, stop->slot, triple);
        dv_build_mark(b, DV_MADE_RANGE), dv_build_mark(b, DV_MADE_ITERATOR);
    } else {
        at = dv_region_emit(b, DV_OP_R_RANGE, start->slot, stop->slot, triple);
        dv_region_emit_constant(b, at, (dv_cell){.i = step});
    }
    if (b->emitting && !b->failed) b->cells.data[at + 1].o.d = dv_home(b, callee);
    b->top = callee;
    dv_push_known(b, DV_K_RANGE, DV_AT_NOWHERE, triple, DV_EMPTY);
    dv_step_count(b, true);
    return next_pc + dv_step_length(b, next_pc); /* GET_ITER */
}

static bool range_fits(dv_build *b, int32_t n) {
    for (int32_t i = 1; i <= n; i++)
        if (dv_top(b, i)->kind != DV_K_INT) return false;
    if (n == 3 && dv_top(b, 1)->where == DV_AT_VALUE && dv_as_int(dv_top(b, 1)->value) == 0)
        return false;
    return n >= 1 && n <= 3;
}

/* Raw calls
 * ---------------------------------------------------------------------------------------------- */

#define ROW(result, arguments, text)                       \
    {                                                      \
        text, DV_MODED_R_RAW_##result##_##arguments##_S_R, \
            DV_MODED_R_RAW_##result##_##arguments##_R_R    \
    }
static const struct {
    const char *signature;
    uint32_t slot, reg; /* the instruction, by where the last argument is */
} RAW[] = {
    {"d()", DV_MODED_R_RAW_D_V_S_R, DV_MODED_COUNT},
    {"q()", DV_MODED_R_RAW_Q_V_S_R, DV_MODED_COUNT},
    {"i()", DV_MODED_R_RAW_I_V_S_R, DV_MODED_COUNT},
    {"v()", DV_MODED_R_RAW_V_V_S_R, DV_MODED_COUNT},
    ROW(D, D, "d(d)"),
    ROW(D, DD, "d(dd)"),
    ROW(D, DQ, "d(dq)"),
    ROW(D, DI, "d(di)"),
    ROW(D, ID, "d(id)"),
    {"d(ddd)", DV_MODED_COUNT, DV_MODED_R_RAW_D_DDD_R_R},
    ROW(D, Q, "d(q)"),
    ROW(D, I, "d(i)"),
    ROW(Q, Q, "q(q)"),
    ROW(Q, QQ, "q(qq)"),
    ROW(Q, D, "q(d)"),
    ROW(I, I, "i(i)"),
    ROW(I, II, "i(ii)"),
    ROW(I, D, "i(d)"),
    ROW(B, D, "b(d)"),
    ROW(B, Q, "b(q)"),
    ROW(B, I, "b(i)"),
    ROW(V, I, "v(i)"),
    ROW(V, Q, "v(q)"),
    ROW(V, D, "v(d)"),
    {"d(p)", DV_MODED_R_RAW_D_P_S_R, DV_MODED_COUNT},
    {"d(pp)", DV_MODED_R_RAW_D_PP_S_R, DV_MODED_COUNT},
    ROW(D, PD, "d(pd)"),
    {"q(p)", DV_MODED_R_RAW_Q_P_S_R, DV_MODED_COUNT},
    {"b(pp)", DV_MODED_R_RAW_B_PP_S_R, DV_MODED_COUNT},
    {"v(p)", DV_MODED_R_RAW_V_P_S_R, DV_MODED_COUNT},
    {"v(pp)", DV_MODED_R_RAW_V_PP_S_R, DV_MODED_COUNT},
    ROW(V, PD, "v(pd)"),
};
#undef ROW

static int32_t raw_row(const dv_raw *raw) {
    for (int32_t i = 0; i < (int32_t)(sizeof RAW / sizeof *RAW); i++)
        if (!strcmp(RAW[i].signature, raw->signature)) return i;
    return -1;
}

/* Do the n topmost entries fit?  `exactly`: without making a double of an int.  What may be a float
 * or an int fits a double: the region leaves where it is neither.  `payloads`: the caller looks
 * whether what is passed as one is an object of the right type. */
static bool raw_fits(dv_build *b, const dv_raw *raw, int32_t n, bool exactly, bool payloads) {
    const char *types = strchr(raw->signature, '(') + 1;
    if ((int32_t)strlen(types) - 1 != n) return false;
    for (int32_t i = 0; i < n; i++) {
        const dv_known_value *e = dv_top(b, n - i);
        bool boxed = e->kind == DV_K_ANY && (e->where == DV_AT_HOME || e->where == DV_AT_ALIAS);
        if (types[i] == 'p') {
            /* (An object of its own would have to be released.) */
            if (!payloads || e->where != DV_AT_ALIAS) return false;
            continue;
        }
        if (types[i] == 'd' ? e->kind != DV_K_FLOAT && (exactly || (e->kind != DV_K_INT && !boxed))
                            : e->kind != DV_K_INT)
            return false;
    }
    return raw_row(raw) >= 0;
}

/* A function with several signatures, like abs, does something else for an int than for a float. */
static const dv_raw *choose_raw(dv_build *b, const dv_raw *raws, int32_t n, bool payloads) {
    for (const dv_raw *raw = raws; raw && raw->signature; raw++)
        if (raw_fits(b, raw, n, true, payloads)) return raw;
    bool only = raws && raws->signature && !raws[1].signature;
    return only && raw_fits(b, raws, n, false, payloads) ? raws : NULL;
}

enum { IN_REGISTER = -1 };

/* The slot into which argument i, entry q, was put as a call takes it; IN_REGISTER where it may
 * be there and that is at least as good.  Entries keep their kind: if the call leaves the
 * region, arguments are boxed again as the program gave them, 1 as 1 and not as 1.0. */
static int32_t place_argument(dv_build *b, int32_t q, char type, int32_t i, bool in_register,
                              bool has_slot_form) {
    const dv_known_value *e = &b->e[q];
    if (type == 'p') return dv_home(b, e->slot);
    if (type == 'd' && e->kind != DV_K_FLOAT) {
        dv_load_double(b, q);
        if (in_register) return IN_REGISTER;
        assert(i < DV_SCRATCH_SLOTS);
        dv_region_emit(b, DV_OP_R_STORE_D, b->scratch + i, 0, 0);
        return b->scratch + i;
    }
    if (!in_register)
        dv_to_slot(b, q);
    else if (e->where == DV_AT_VALUE || (!has_slot_form && e->where == DV_AT_SLOT))
        dv_load_register(b, q);
    return e->where == DV_AT_REGISTER ? IN_REGISTER : e->slot;
}

static dv_kind raw_result(char type) {
    return type == 'd' ? DV_K_FLOAT : type == 'b' ? DV_K_BOOL : DV_K_INT;
}

static void set_raw(dv_build *b, uint32_t at, const dv_raw *raw, uint32_t type) {
    if (!b->emitting || b->failed) return;
    b->cells.data[at + 2].i = type;
    b->cells.data[at + 4].p = (void *)(uintptr_t)raw;
}

/* A call of a C function whose `inputs` entries end in its n arguments; `type` is that of objects
 * whose payloads it takes. */
static uint32_t call_raw(dv_build *b, const dv_raw *raw, uint32_t type, int32_t n, int32_t inputs,
                         uint32_t next_pc) {
    const char result = raw->signature[0], *types = strchr(raw->signature, '(') + 1;
    int32_t row = raw_row(raw), slots[3] = {0};
    const bool has_slot = RAW[row].slot < DV_MODED_COUNT;
    const bool is_root =
        n == 1 && raw->pure && raw->entry == (dv_raw_entry)(double (*)(double))sqrt;
    const bool has_register =
        is_root || (RAW[row].reg < DV_MODED_COUNT && dv_step_has(RAW[row].reg));
    for (int32_t i = 0; i < n; i++)
        slots[i] =
            place_argument(b, b->top - n + i, types[i], i, i == n - 1 && has_register, has_slot);
    dv_spill(b, result == 'd', b->top - inputs);
    bool in_register = n > 0 && slots[n - 1] == IN_REGISTER;
    if (in_register) slots[n - 1] = 0; /* not looked at */
    uint32_t op = DV_OP_R_SQRT;
    if (!is_root)
        op = dv_op_moded(in_register ? RAW[row].reg : RAW[row].slot);
    else {
        if (!in_register) dv_load_register(b, b->top - 1);
        op = DV_OP_R_SQRT;
    }
    if (!raw->pure) /* what it calls back shows a traceback through here */
        dv_point_add(b, b->cells.count, dv_exit_make(b, b->context, b->pc, false), true, false,
                     false);
    uint32_t at = dv_region_emit_guard(b, op, slots[0], slots[1], 0);
    if (op != DV_OP_R_SQRT) set_raw(b, at, raw, type);
    dv_step_count(b, true);
    if (result == 'v') {
        dv_pop(b, inputs);
        dv_push_constant(b, DV_NONE);
    } else {
        next_pc = dv_finish_raw(b, op == DV_OP_R_SQRT ? DV_NO_CELL : at, inputs, raw_result(result),
                                -1, next_pc);
    }
    if (!raw->pure) dv_step_point_after(b, next_pc);
    return next_pc;
}

uint32_t dv_step_raw(dv_build *b, const dv_raw *raw, uint32_t next_pc) {
    return call_raw(b, raw, 0, 2, 2, next_pc);
}

/* divmod(x, y) of two ints or two floats, whose tuple is taken apart at once: remainder and
 * quotient come where the callee and a reserved entry were, the quotient on top. */
static bool divide_both(dv_build *b, uint32_t *next_pc) {
    const int32_t inputs = 5, rest = b->top - inputs, quotient = rest + 1;
    const dv_kind kind = (dv_kind)dv_top(b, 1)->kind;
    if (!dv_is_raw_number(dv_top(b, 1)) || dv_top(b, 2)->kind != kind ||
        !dv_step_follows(b, *next_pc, DV_OP_UNPACK_SEQUENCE) ||
        dv_word_operand(b, *next_pc, 0) != 2)
        return false;
    dv_to_slot(b, b->top - 2);
    dv_to_slot(b, b->top - 1);
    const int16_t x = dv_top(b, 2)->slot, y = dv_top(b, 1)->slot;
    if (kind == DV_K_INT) {
        dv_region_emit_guard(b, DV_OP_RI_MOD_SS_S, x, y, dv_shadow(b, rest));
        dv_region_emit_guard(b, DV_OP_RI_FLOORDIV_SS_S, x, y, dv_shadow(b, quotient));
    } else {
        dv_spill(b, true, b->top);
        dv_region_emit_guard(b, DV_OP_RD_MOD_SS_S, x, y, dv_shadow(b, rest));
        set_raw(b, dv_region_emit_guard(b, DV_OP_R_RAW_D_DD_S_S, x, y, dv_shadow(b, quotient)),
                dv_float_raw(DV_BINARY_FLOORDIV), 0);
    }
    dv_step_count(b, true);
    dv_build_mark(b, DV_MADE_TUPLE);
    dv_pop(b, inputs);
    dv_push_known(b, kind, DV_AT_SLOT, dv_shadow(b, rest), DV_EMPTY);
    dv_push_known(b, kind, DV_AT_SLOT, dv_shadow(b, quotient), DV_EMPTY);
    *next_pc += dv_step_length(b, *next_pc);
    return true;
}

void dv_step_shift(dv_build *b, int32_t n, int32_t by) {
    const int32_t from = b->top - n, to = from + by;
    for (int32_t k = n; k-- > 0;) {
        const int32_t i = by < 0 ? n - 1 - k : k;
        dv_known_value *e = &b->e[from + i];
        if (e->where == DV_AT_HOME)
            dv_region_emit(b, DV_OP_R_BORROW, dv_home(b, from + i), dv_home(b, to + i), 0);
        if (e->kind == DV_K_COMPLEX && e->where == DV_AT_SLOT) dv_complex_move(b, from + i, to + i);
        /* What lies where it belongs could otherwise not go there any more once others lie there.
         */
        if (n > by && e->where == DV_AT_SLOT && e->slot == dv_shadow(b, from + i)) {
            dv_region_emit(b, DV_OP_R_MOVE, e->slot, dv_shadow(b, to + i), 0);
            e->slot = dv_shadow(b, to + i);
        }
        b->e[to + i] = *e;
    }
    b->top += by;
    b->version++;
}

uint32_t dv_step_enter(dv_build *b, dv_thread *callee, uint32_t next_pc, dv_entering entering) {
    dv_context *context = dv_build_inline(b, callee);
    if (!context) return b->pc;
    context->return_pc = next_pc;
    context->entering = entering;
    const int32_t calls = dv_inlined_calls(context);
    if (calls > b->region->inlined) b->region->inlined = (int16_t)calls;
    /* Parameters are read any number of times: none of them stays in a register. */
    for (int32_t q = context->base; q < b->top; q++)
        if (b->e[q].where == DV_AT_REGISTER) dv_to_slot(b, q);
    for (uint32_t i = callee->argument_count; i < callee->local_count; i++)
        dv_push_known(b, DV_K_UNSET, DV_AT_VALUE, 0, DV_EMPTY);
    b->context = context;
    if (context->branches) {
        dv_build_flow(b, context, 0);
        if (b->emitting) dv_build_range(b, context);
        b->ended = true;
    }
    return 0;
}

/* Who gives a function other defaults breaks vm->class_sites. */
int32_t dv_step_missing(dv_build *b, const dv_function *function, int64_t missing) {
    if (missing <= 0) return missing < 0 ? -1 : 0;
    bool known = dv_frame_defaults(function, missing) && dv_build_depends(b, &b->vm->class_sites);
    return known ? (int32_t)missing : -1;
}

bool dv_step_may_inline(dv_build *b, const dv_function *function, int32_t n, int32_t more) {
    const int64_t exact = dv_function_thread(function)->exact_arguments;
    const int32_t missing = dv_step_missing(b, function, exact - n - more);
    if (missing < 0 || b->top + more + missing >= b->entry_limit) return false;
    b->top += more + missing; /* as it will be */
    const bool inlined =
        dv_build_may_inline(b, dv_function_thread(function), (uint32_t)(n + more + missing));
    b->top -= more + missing;
    return inlined;
}

bool dv_step_inline(dv_build *b, const dv_function *function, int32_t n, bool bare,
                    uint32_t next_pc) {
    dv_thread *thread = dv_function_thread(function);
    const int32_t missing = dv_step_missing(b, function, thread->exact_arguments - n);
    if (!dv_step_may_inline(b, function, n, 0)) return false;
    if (bare) {
        for (int32_t i = 1; i <= n; i++)
            if (dv_top(b, i)->where == DV_AT_REGISTER) dv_to_slot(b, b->top - i);
        dv_step_shift(b, n, -1);
    }
    const dv_value *values = dv_frame_defaults(function, missing);
    for (int32_t i = 0; i < missing; i++) dv_push_constant(b, values[i]);
    (void)dv_step_enter(b, thread, next_pc, DV_ENTERS_CALL);
    return true;
}

const dv_raw *dv_step_class_raws(const dv_vm *vm, const void *class_) {
    return class_ == vm->classes[DV_T_INT]     ? dv_int_raws
           : class_ == vm->classes[DV_T_FLOAT] ? dv_float_raws
                                               : NULL;
}

/* The signatures by which a region may call the object, or NULL. */
static const dv_raw *raws_of(dv_build *b, dv_value callee) {
    if (!dv_is_object(callee)) return NULL;
    if (dv_is_class(callee)) return dv_step_class_raws(b->vm, dv_as_object(callee));
    if (!dv_is_shape(callee, DV_T_CFUNCTION)) {
        const dv_type *type = b->vm->types[dv_type_of(b->vm, callee)];
        return type->raw ? type->raw(b->vm, callee) : NULL;
    }
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(callee);
    return dv_is_empty(function->self) ? function->def->raw : NULL;
}

/* The definition of the C function that INCA saw at the call, or NULL. */
static const dv_cfunction_def *evident_function(const dv_build *b) {
    const dv_cell *site = dv_site_cell(b, b->pc);
    uint32_t op = dv_op_of(b->vm, site->h);
    dv_foreign_form form = {.callee = NULL};
    if (op >= DV_OP_COUNT && b->vm->hooks.plugin.form &&
        b->vm->hooks.plugin.form(b->vm, site, &form))
        return form.callee;
    if (op >= DV_OP_COUNT || dv_op_infos[op].saw != DV_SAW_FUNCTION) return NULL;
    return site[dv_op_infos[op].cache_cell].p;
}

/* A C function that a local holds is the one that INCA saw, behind a guard.  Result: its signature,
 * or NULL. */
static const dv_raw *guard_function(dv_build *b, const dv_known_value *callee, int32_t n) {
    const dv_cfunction_def *def = callee->where == DV_AT_ALIAS ? evident_function(b) : NULL;
    const dv_raw *raw = def ? choose_raw(b, def->raw, n, false) : NULL;
    if (!raw) return NULL;
    uint32_t at = dv_region_emit_guard(b, DV_OP_R_GUARD_FUNCTION, dv_home(b, callee->slot), 0, 0);
    dv_region_emit_constant(b, at, (dv_cell){.p = (void *)(uintptr_t)def});
    return raw;
}

uint32_t dv_payload_type(dv_value callee) {
    if (!dv_is_shape(callee, DV_T_CFUNCTION)) return 0;
    const dv_cfunction *method = (const dv_cfunction *)dv_as_object(callee);
    const dv_raw *raw = method->def->raw;
    bool takes = raw && raw->signature && strchr(raw->signature, 'p') &&
                 dv_is_empty(method->self) && dv_is_class(method->owner);
    return takes ? dv_as_class(method->owner)->type : 0;
}

/* A call of an extension's method by the payloads of objects, the n topmost entries: of self, which
 * is of its type (dv_step_method), and of others, at which the instruction looks. */
static bool call_payloads(dv_build *b, dv_value callee, int32_t n, uint32_t *next_pc) {
    const uint32_t type = dv_payload_type(callee);
    const dv_raw *raw =
        type ? choose_raw(b, ((const dv_cfunction *)dv_as_object(callee))->def->raw, n, true)
             : NULL;
    if (!raw) return false;
    *next_pc = call_raw(b, raw, type, n, n + 3, *next_pc);
    return true;
}

/* locals(), eval() and the like see what is in the home slots. */
static bool reads_frame(dv_value v) {
    return dv_is_shape(v, DV_T_CFUNCTION) &&
           ((const dv_cfunction *)dv_as_object(v))->def->inlined == DV_INLINED_FRAME;
}

/* super()
 * ---------------------------------------------------------------------------------------------- */

/* The function that is analysed inline; NULL: it is the loop's, or not known. */
static const dv_function *inlined_function(const dv_build *b) {
    if (!b->context->parent) return NULL;
    const dv_known_value *callee = &b->e[b->context->base - 3];
    const bool known = callee->where == DV_AT_VALUE && dv_is_function(callee->value);
    return known ? dv_as_function(callee->value) : NULL;
}

/* Cells of a function that is a constant are constants, too; those of one that is not made are its
 * values. */
uint32_t dv_step_copy_free(dv_build *b, uint32_t next_pc) {
    if (b->context->parent && dv_closure_copy(b)) return next_pc;
    const dv_function *function = inlined_function(b);
    if (!function) return dv_step_leave(b);
    const dv_tuple *closure = dv_as_tuple(function->closure);
    const int32_t count = (int32_t)closure->count;
    const int32_t free = b->context->base + (int32_t)b->context->thread->local_count - count;
    for (int32_t i = 0; i < count; i++)
        b->e[free + i] = (dv_known_value){DV_K_CONSTANT, DV_AT_VALUE, 0, closure->items[i]};
    b->version++;
    return next_pc;
}

/* The class of self, or that which it is, if its instance is virtual or its shape known; NULL: it
 * is not. */
static dv_class *class_of_self(const dv_build *b, const dv_known_value *e) {
    if (e->where == DV_AT_VALUE && dv_is_class(e->value)) {
        dv_class *class_ = dv_as_class(e->value);
        return class_->metaclass ? NULL : class_;
    }
    if (e->kind == DV_K_VIRTUAL) {
        const dv_virtual *record = dv_virtual_record(b, e);
        return record->built ? NULL : record->shape->class_; /* or a cell has it */
    }
    if (e->where == DV_AT_ALIAS) e = &b->e[e->slot];
    if (!dv_has_known_shape(e) || dv_as_int(e->value) < DV_T_COUNT) return NULL;
    return dv_shape_at(b->vm, (uint32_t)dv_as_int(e->value))->class_;
}

/* The class in which the inlined function is; EMPTY: not known. */
static dv_value class_of_function(const dv_build *b) {
    const dv_function *function = inlined_function(b);
    const bool closes = function && dv_is_shape(function->closure, DV_T_TUPLE) &&
                        dv_as_tuple(function->closure)->count == 1;
    return closes ? dv_as_variable(dv_as_tuple(function->closure)->items[0])->value : DV_EMPTY;
}

/* What super(start, self).name finds: an attribute of a class behind that one, in the order of the
 * class of self; EMPTY: not known. */
static dv_value found_behind(dv_build *b, dv_value start, const dv_known_value *self,
                             dv_value name) {
    dv_class *class_ = dv_is_empty(start) ? NULL : class_of_self(b, self);
    uint32_t from = 0;
    if (!class_) return DV_EMPTY;
    while (from < class_->mro_count && !dv_same(dv_object_value(class_->mro[from]), start)) from++;
    if (from == class_->mro_count) return DV_EMPTY;
    dv_global_cell *cell = dv_class_find_behind(b->vm, class_, from + 1, name);
    if (!dv_is_empty(b->vm->error)) dv_error_clear(b->vm);
    if (!cell || dv_is_empty(cell->value)) return DV_EMPTY;
    class_->flags |= DV_CLASS_CACHED;
    return dv_build_depends(b, &b->vm->class_sites) ? dv_constant_global(b, cell) : DV_EMPTY;
}

/* Object.__init__, which does nothing without arguments. */
static bool is_object_init(dv_value v) {
    return dv_is_shape(v, DV_T_CFUNCTION) &&
           ((const dv_cfunction *)dv_as_object(v))->def->keyword_entry == dv_object_init;
}

/* What is called where `found` was found for self, and with which self: it, its class, or EMPTY;
 * false: neither is known. */
static bool bind_found(const dv_build *b, dv_value *found, dv_known_value *self) {
    const dv_known_value none = {DV_K_CONSTANT, DV_AT_VALUE, 0, DV_EMPTY};
    const bool of_class = self->where == DV_AT_VALUE && dv_is_class(self->value);
    const dv_value unbound = dv_method_unbound(*found);
    if (dv_is_function(*found) || is_object_init(*found)) return !of_class;
    if (dv_is_shape(*found, DV_T_CLASSMETHOD)) {
        self->value = dv_object_value(class_of_self(b, self));
        *self = (dv_known_value){DV_K_CONSTANT, DV_AT_VALUE, 0, self->value};
    } else {
        *self = none;
    }
    if (!dv_is_empty(unbound)) *found = unbound;
    return !dv_is_empty(unbound) || dv_virtual_is_maker(*found);
}

/* super(), or super(class, self), and the LOAD_METHOD behind it.  Self is a parameter of the
 * function that is analysed inline, or the topmost entry; false: not known. */
static bool call_super(dv_build *b, int32_t n, uint32_t *next_pc) {
    if (!dv_step_follows(b, *next_pc, DV_OP_LOAD_METHOD)) return false;
    const int32_t q = n ? b->top - 1 : b->context->base;
    const dv_value start = n ? dv_top(b, 2)->value : class_of_function(b);
    dv_known_value self = b->e[q];
    if (n && (self.where == DV_AT_HOME || dv_top(b, 2)->where != DV_AT_VALUE)) return false;
    dv_value found = found_behind(b, start, &self, dv_site_cell(b, *next_pc)[2].v);
    if (dv_is_empty(found) || !bind_found(b, &found, &self)) return false;
    dv_pop(b, 3 + n);
    dv_push_constant(b, found);
    dv_push_known(b, DV_K_RESERVED, DV_AT_NOWHERE, 0, DV_EMPTY);
    dv_push_known(b, DV_K_RESERVED, DV_AT_NOWHERE, 0, DV_EMPTY);
    if (self.where == DV_AT_HOME)
        dv_push_known(b, (dv_kind)self.kind, DV_AT_ALIAS, q, DV_EMPTY);
    else
        dv_push_known(b, (dv_kind)self.kind, (dv_where)self.where, self.slot, self.value);
    dv_step_count(b, true);
    *next_pc += dv_step_length(b, *next_pc);
    return true;
}

static bool is_super(const dv_build *b, const dv_known_value *callee) {
    return callee->where == DV_AT_VALUE &&
           dv_same(callee->value, dv_object_value(b->vm->classes[DV_T_SUPER]));
}

/* May what is called without arguments be super, which looks at the frame? */
static bool may_be_super(const dv_build *b, const dv_known_value *callee) {
    if (!b->context->parent || b->context->thread->code->free_count == 0) return false;
    return callee->where != DV_AT_VALUE || is_super(b, callee);
}

/* What object has under the name (__setattr__, __new__), which nobody can change. */
static dv_value of_object(dv_build *b, dv_value name) {
    const dv_global_cell *cell = dv_class_find(b->vm, b->vm->classes[DV_T_OBJECT], name);
    if (!dv_is_empty(b->vm->error)) dv_error_clear(b->vm);
    return cell ? cell->value : DV_EMPTY;
}

uint32_t dv_step_call(dv_build *b, uint32_t next_pc) {
    const int32_t n = (int32_t)dv_word_operand(b, b->pc, 0),
                  self = dv_step_op(b, b->pc) == DV_OP_CALL_METHOD;
    const dv_known_value callee = *dv_top(b, n + self + 3);
    if (n == 0 && !self && may_be_super(b, &callee))
        return call_super(b, 0, &next_pc) ? next_pc : dv_step_leave(b);
    if (n == 2 && !self && is_super(b, &callee) && call_super(b, 2, &next_pc)) return next_pc;
    const bool bare =
        self && dv_top(b, n + 1)->where == DV_AT_VALUE && dv_is_empty(dv_top(b, n + 1)->value);
    if (callee.kind == DV_K_CONSTANT && reads_frame(callee.value)) return dv_step_leave(b);
    if (callee.kind == DV_K_CONSTANT && (!self || bare)) {
        if (!self && b->vm->nama != DV_NAMA_SEQUENCE &&
            dv_step_is_builtin(b, callee.value, "range") && range_fits(b, n) &&
            is_walked(b, next_pc))
            return start_range(b, n, next_pc);
        const dv_raw *raw = choose_raw(b, raws_of(b, callee.value), n, false);
        if (raw) return call_raw(b, raw, 0, n, n + self + 3, next_pc);
        if (dv_virtual_make_of(b, callee.value, n, 3 + self, &next_pc)) return next_pc;
        if (self && n == 3 && dv_same(callee.value, of_object(b, b->vm->known.setattr)) &&
            dv_virtual_set_attribute(b, next_pc))
            return next_pc;
        if (!self && n == 2 && dv_step_is_builtin(b, callee.value, "divmod") &&
            divide_both(b, &next_pc))
            return next_pc;
        if (!self && n == 1 && dv_step_is_builtin(b, callee.value, "abs") &&
            dv_complex_size(b, &next_pc))
            return next_pc;
        if (!self && dv_same(callee.value, dv_object_value(b->vm->classes[DV_T_COMPLEX])) &&
            dv_complex_construct(b, n, &next_pc))
            return next_pc;
        if (!self && dv_step_ask(b, callee.value, n, &next_pc)) return next_pc;
        if (!self && n == 1 && dv_step_is_builtin(b, callee.value, "ord") &&
            dv_text_ord(b, &next_pc))
            return next_pc;
        if (!self && n == 1 && dv_step_is_builtin(b, callee.value, "chr") &&
            dv_text_chr(b, &next_pc))
            return next_pc;
        if (!self && dv_step_is_builtin(b, callee.value, "len") && n == 1 &&
            (dv_virtual_length(b, 4, next_pc) || dv_step_length_of(b, 4)))
            return next_pc;
        if (dv_is_function(callee.value) &&
            dv_step_inline(b, dv_as_function(callee.value), n, bare, next_pc))
            return b->failed ? b->pc : 0;
        if (!self && dv_is_class(callee.value) &&
            dv_raised_call(b, dv_as_class(callee.value), n, next_pc))
            return b->pc;
        if (dv_is_class(callee.value) &&
            dv_virtual_construct(b, dv_as_class(callee.value), n, bare, &next_pc))
            return next_pc;
        if (!self && dv_step_call_bound(b, n, &next_pc)) return next_pc;
    } else if (!self) {
        if (dv_step_call_bound(b, n, &next_pc)) return next_pc;
        const dv_raw *raw = guard_function(b, &callee, n);
        if (raw) return call_raw(b, raw, 0, n, n + 3, next_pc);
    }
    const bool with_self = self && !bare && callee.kind == DV_K_CONSTANT;
    const bool method = with_self && dv_top(b, n + 1)->where != DV_AT_VALUE;
    if (method && n == 0 && is_object_init(callee.value))
        return dv_step_answer(b, 4, DV_NONE, next_pc);
    if (method && n == 1 && dv_step_is_append(callee.value))
        return dv_step_append(b, b->top - 2, 5, next_pc);
    if (with_self && dv_is_function(callee.value) &&
        dv_step_inline(b, dv_as_function(callee.value), n + 1, false, next_pc))
        return b->failed ? b->pc : 0;
    if (method && call_payloads(b, callee.value, n + 1, &next_pc)) return next_pc;
    bool known = callee.kind == DV_K_CONSTANT && dv_is_function(callee.value) && (!self || method);
    if (known && dv_function_call(b, callee.value, n + self, next_pc)) return next_pc;
    return dv_step_embed(b, n + self + 3, 1, next_pc);
}

/* What object.name(...) calls, if that lasts; self is the class where it is a class's method of the
 * class, else absent. */
static dv_value method_constant(dv_build *b, const dv_known_value *object, dv_value *self) {
    const dv_value name = dv_site_cell(b, b->pc)[2].v;
    if (object->kind == DV_K_CONSTANT &&
        dv_same(object->value, dv_object_value(b->vm->classes[DV_T_OBJECT])) &&
        (dv_same(name, b->vm->known.setattr) || dv_same(name, b->vm->known.new_)))
        return of_object(b, name);
    const dv_value v = dv_attribute_constant(b, object);
    if (dv_is_empty(v) || !dv_is_class(object->value)) return v;
    const bool of_class = dv_is_shape(v, DV_T_CLASSMETHOD);
    if (!of_class && !dv_is_shape(v, DV_T_STATICMETHOD))
        return dv_is_function(v) || dv_virtual_is_maker(v) ? v : DV_EMPTY;
    if (of_class) *self = object->value;
    return ((const dv_method_wrapper *)dv_as_object(v))->function;
}

void dv_step_push_call(dv_build *b, dv_value callee, dv_value self) {
    dv_push_constant(b, callee);
    dv_push_known(b, DV_K_RESERVED, DV_AT_NOWHERE, 0, DV_EMPTY);
    dv_push_known(b, DV_K_RESERVED, DV_AT_NOWHERE, 0, DV_EMPTY);
    dv_push_known(b, DV_K_CONSTANT, DV_AT_VALUE, 0, self);
}

/* module.name(...) and Class.name(...): the function is known. */
uint32_t dv_step_load_method(dv_build *b, uint32_t next_pc) {
    const dv_known_value object = *dv_top(b, 1);
    if (dv_text_ask(b, &next_pc)) return next_pc;
    if (dv_virtual_load_class(b, next_pc)) return next_pc;
    dv_value self = DV_EMPTY, v = method_constant(b, &object, &self);
    if (!dv_is_empty(v)) {
        dv_pop(b, 1);
        dv_step_push_call(b, v, self);
        return next_pc;
    }
    if (dv_step_method(b, next_pc)) return next_pc;
    next_pc = dv_step_embed(b, 1, 4, next_pc);
    if (!b->ended) {
        dv_known_value self = *dv_top(b, 1);
        dv_mark_reserved(b, 3);
        *dv_top(b, 1) = self;
    }
    return next_pc;
}

bool dv_step_drop_local(dv_build *b, int32_t q) {
    if (b->e[q].kind == DV_K_VIRTUAL) return dv_virtual_drop(b, q);
    if (b->e[q].kind == DV_K_RAISED) {
        const dv_known_value e = b->e[q];
        b->e[q] = (dv_known_value){DV_K_RESERVED, DV_AT_NOWHERE, 0, DV_EMPTY};
        return dv_raised_drop(b, &e);
    }
    if (b->e[q].where != DV_AT_HOME) return false;
    dv_region_emit(b, DV_OP_R_RELEASE, dv_home(b, q), 0, 0);
    if (dv_is_faded(&b->e[q])) (void)dv_virtual_drop(b, q);
    return true;
}

uint32_t dv_step_returned(dv_build *b, bool released) {
    const dv_context *context = b->context;
    b->version++;
    b->sp = -1;
    b->context = context->parent;
    if (released) dv_step_point_after(b, context->return_pc);
    if (context->branches) {
        dv_build_flow(b, b->context, context->return_pc);
        b->ended = true;
    }
    return context->return_pc;
}

uint32_t dv_step_return(dv_build *b, uint32_t next_pc) {
    (void)next_pc;
    dv_context *context = b->context;
    if (!context->parent && b->parameters) return dv_function_leave(b);
    if (!context->parent) { /* the loop ends here, as it may */
        dv_region_emit_exit(b, context, b->pc, false);
        return b->pc;
    }
    if (context->entering == DV_ENTERS_INIT) return dv_virtual_constructed(b);
    if (context->entering > DV_ENTERS_INIT) return dv_operator_return(b);
    int32_t to = context->base - 3, top = b->top - 1;
    const dv_known_value callee = b->e[to];
    dv_known_value v = b->e[top];
    /* What lies in the callee's slots must leave them. */
    if (v.kind == DV_K_COMPLEX && v.where == DV_AT_SLOT) {
        dv_complex_move(b, top, to);
        v = b->e[top];
    } else if (v.where == DV_AT_SLOT && v.slot > dv_shadow(b, to)) {
        dv_load_register(b, top);
        v = b->e[top];
    }
    bool object = v.where == DV_AT_HOME || (v.where == DV_AT_ALIAS && v.slot >= context->base),
         released = false;
    if (object) dv_materialize(b, top);
    if (object) { /* the callee's slot is free: functions that are inlined are constants, not on the
                     stack */
        dv_region_emit(b, DV_OP_R_BORROW, dv_home(b, top), dv_home(b, to), 0);
        v = (dv_known_value){v.kind, DV_AT_HOME, 0, DV_EMPTY};
    }
    for (int32_t q = context->base; q < context->base + (int32_t)context->thread->local_count; q++)
        released |= dv_step_drop_local(b, q);
    b->top = to;
    b->e[b->top++] = v;
    if (callee.kind == DV_K_VIRTUAL) released |= dv_virtual_release(b, callee.slot);
    return dv_step_returned(b, released);
}
