/* construct.c: the transfer function of calls of classes (virtual.h): into an __init__ that is
 * analysed inline, and those whose result is known without any code: an instance without
 * attributes, or a named tuple.
 *
 * Invariant
 *  1. What a call would look at in the class and its bases, but for the value of __init__, breaks
 * vm->class_sites when it changes. */
#include "region/step/operator.h"
#include "region/step/virtual.h"
#include "types/callable/function.h"
#include "types/class/class.h"
#include "types/sequence/tuple.h"

/* Into __init__
 * ---------------------------------------------------------------------------------------------- */

/* Did INCA code see calls that enter __init__, with all its arguments or with defaults? */
static bool is_evident(const dv_build *b) {
    const dv_op_info *evidence = dv_step_evidence(b);
    return evidence && evidence->saw == DV_SAW_INIT;
}

/* How many defaults follow n arguments; -1: the call is another one, or by a plan. */
static int32_t missing_arguments(dv_build *b, dv_function *init, int32_t n) {
    if (!is_evident(b)) return -1;
    return dv_step_missing(b, init, dv_function_thread(init)->init_arguments - n);
}

/* Does what the class is last? */
static bool class_lasts(dv_build *b, dv_class *class_) {
    class_->flags |= DV_CLASS_CACHED;
    return dv_build_depends(b, &b->vm->class_sites);
}

/* The __init__ of a class whose instances can be virtual, if n arguments and defaults are its
 * parameters, or the site has a plan for it; NULL: it has none. */
static dv_function *plain_init(dv_build *b, dv_class *class_, int32_t n) {
    dv_global_cell *cell = (dv_global_cell *)(uintptr_t)class_->constructor;
    if (!cell || !class_->root || !dv_virtual_is_plain(b, class_)) return NULL;
    if (dv_is_empty(cell->value) || !dv_is_function(cell->value)) return NULL;
    dv_function *init = dv_as_function(cell->value);
    if (missing_arguments(b, init, n) < 0 && !dv_plan_met(b, init)) return NULL;
    const bool lasts = !dv_is_empty(dv_constant_global(b, cell)) && class_lasts(b, class_);
    return lasts ? init : NULL;
}

/* The n arguments to where the parameters of __init__ are, so far up, and defaults behind them: raw
 * ones rather in slots that stay. */
static void place_arguments(dv_build *b, dv_function *init, int32_t n, int32_t missing,
                            int32_t up) {
    for (int32_t q = b->top - n; q < b->top; q++)
        if (b->e[q].where == DV_AT_REGISTER && !dv_virtual_to_slot(b, q)) dv_to_slot(b, q);
    if (missing < 0) {
        dv_plan_place(b, dv_plan_met(b, init), init, b->top - n + up - 1);
        return;
    }
    const dv_value *values = dv_frame_defaults(init, missing);
    for (int32_t i = 0; i < missing; i++) dv_push_constant(b, values[i]);
    dv_step_shift(b, n + missing, up);
}

static bool enter_init(dv_build *b, dv_class *class_, int32_t n, bool bare, uint32_t next_pc) {
    dv_function *init = plain_init(b, class_, n);
    if (!init || !dv_virtual_has_room(b)) return false;
    const int32_t missing = missing_arguments(b, init, n), up = DV_BELOW_INIT - 2 - bare;
    const int32_t count = (int32_t)dv_function_thread(init)->argument_count - 1; /* without self */
    const int32_t more = count - n + up;
    const int32_t room = missing < 0 ? dv_plan_room(dv_plan_met(b, init)) : 0;
    if (b->top + more >= b->entry_limit || b->top - n + up + room >= b->entry_limit) return false;
    b->top += more; /* as it will be */
    bool inlined = dv_build_may_inline(b, dv_function_thread(init), (uint32_t)count + 1);
    b->top -= more;
    int32_t record = inlined ? dv_virtual_add(b, (dv_virtual){.shape = class_->root}) : -1;
    if (record < 0) return false;
    dv_virtual_begin_quiet(b, next_pc);
    place_arguments(b, init, n, missing, up);
    n = count;
    const dv_thread *caller = b->context->thread;
    const dv_value next = dv_raw_pointer(caller->cells + caller->cell_at[next_pc]);
    const dv_known_value self = {DV_K_VIRTUAL, DV_AT_NOWHERE, (int16_t)record, DV_EMPTY};
    dv_known_value *below = &b->e[b->top - n - 1 - DV_BELOW_INIT];
    below[0] = below[DV_BELOW_INIT] = self;
    below[1] = (dv_known_value){DV_K_CONSTANT, DV_AT_VALUE, 0, next};
    below[2] = (dv_known_value){DV_K_CONSTANT, DV_AT_VALUE, 0, dv_object_value(init)};
    below[3] = below[4] = (dv_known_value){DV_K_RESERVED, DV_AT_NOWHERE, 0, DV_EMPTY};
    dv_build_mark(b, DV_MADE_INSTANCE);
    dv_step_count(b, true);
    dv_context *call = dv_build_inline(b, dv_function_thread(init));
    if (!call) return true;
    call->emitted |= b->emitting;
    b->virtuals.data[record].call = call; /* before the record is copied to a leader */
    dv_step_enter(b, dv_function_thread(init), next_pc, DV_ENTERS_INIT);
    return true;
}

uint32_t dv_virtual_constructed(dv_build *b) {
    dv_context *context = b->context;
    const dv_known_value *v = dv_top(b, 1);
    if (v->kind != DV_K_CONSTANT || !dv_is_none(v->value)) return dv_step_leave(b);
    bool released = false;
    for (int32_t q = context->base; q < context->base + (int32_t)context->thread->local_count; q++)
        released |= dv_step_drop_local(b, q);
    b->top = context->base - DV_BELOW_INIT + 1;
    b->version++;
    b->sp = -1;
    b->context = context->parent;
    if (released) dv_step_point_after(b, context->return_pc);
    if (context->branches) dv_build_flow(b, b->context, context->return_pc);
    return context->return_pc;
}

/* Without any code
 * ---------------------------------------------------------------------------------------------- */

/* The topmost entries, of which no one owns an object, become a new instance without attributes. */
static bool make_bare(dv_build *b, dv_class *class_, int32_t inputs, uint32_t *next_pc) {
    const bool plain = class_->root && dv_virtual_is_plain(b, class_);
    if (!plain || !dv_virtual_has_room(b) || !class_lasts(b, class_)) return false;
    const int32_t number = dv_virtual_add(b, (dv_virtual){.shape = class_->root});
    if (number < 0) return false;
    dv_virtual_begin_quiet(b, *next_pc);
    dv_pop(b, inputs);
    dv_push_known(b, DV_K_VIRTUAL, DV_AT_NOWHERE, number, DV_EMPTY);
    if (b->emitting) b->region->removed++;
    dv_build_mark(b, DV_MADE_INSTANCE);
    dv_step_count(b, true);
    return true;
}

/* Which of a call's arguments, by number, are the items of a named tuple; -1: its default. */
typedef struct fields {
    const dv_tuple *names, *defaults;
    int32_t count;
    int8_t from[DV_VIRTUAL_ATTRIBUTES];
} fields;

bool dv_virtual_is_sequence(const dv_build *b, const dv_class *class_) {
    const dv_vm *vm = b->vm;
    const dv_value asked[] = {vm->known.getitem, vm->known.len, vm->known.iter, vm->known.bool_};
    if (class_->type != DV_T_TUPLE || !dv_virtual_is_plain(b, class_)) return false;
    for (uint32_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (dv_class_special(class_, asked[i])) return false;
    return true;
}

/* What the __new__ of a named tuple makes for the class; false: it raises, or the class is no plain
 * one. */
static bool find_fields(dv_build *b, dv_class *class_, dv_value maker, fields *f) {
    if (!dv_virtual_is_sequence(b, class_)) return false;
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(maker);
    const dv_value *parts = dv_as_tuple(function->self)->items;
    f->names = dv_as_tuple(parts[1]);
    f->defaults = dv_is_none(parts[2]) ? NULL : dv_as_tuple(parts[2]);
    f->count = (int32_t)f->names->count;
    return f->count <= DV_VIRTUAL_ATTRIBUTES;
}

/* n arguments, the last ones with these names (EMPTY: none); false: the call raises. */
static bool bind_fields(fields *f, int32_t n, dv_value keywords) {
    const int32_t named = dv_is_empty(keywords) ? 0 : (int32_t)dv_as_tuple(keywords)->count;
    if (n > f->count || named > n) return false;
    for (int32_t i = 0; i < f->count; i++) f->from[i] = (int8_t)(i < n - named ? i : -1);
    for (int32_t k = 0; k < named; k++) {
        const dv_value name = dv_as_tuple(keywords)->items[k];
        int32_t i = n - named;
        while (i < f->count && !dv_same(f->names->items[i], name)) i++;
        if (i == f->count) return false;
        f->from[i] = (int8_t)(n - named + k);
    }
    const int32_t optional = f->defaults ? (int32_t)f->defaults->count : 0;
    for (int32_t i = 0; i < f->count - optional; i++)
        if (f->from[i] < 0) return false;
    return true;
}

/* The items of the virtual tuple on top, which has the arguments as its first ones. */
static void order_items(dv_build *b, const fields *f) {
    const int16_t number = dv_top(b, 1)->slot;
    const dv_virtual given = b->virtuals.data[number];
    for (int32_t i = 0; i < f->count; i++) {
        if (f->from[i] >= 0) {
            b->virtuals.data[number].values[i] = given.values[f->from[i]];
            continue;
        }
        const int64_t optional = f->defaults->count;
        dv_push_constant(b, f->defaults->items[optional - (f->count - i)]);
        b->virtuals.data[number].values[i] = *dv_top(b, 1);
        dv_pop(b, 1);
    }
}

/* A named tuple, of n arguments above so many entries that no one owns an object of. */
static bool make_fields(dv_build *b, dv_class *class_, dv_value maker, int32_t n, int32_t below,
                        uint32_t *next_pc) {
    fields f;
    if (!find_fields(b, class_, maker, &f) || !class_lasts(b, class_)) return false;
    const bool named =
        dv_step_op(b, b->pc) == DV_OP_CALL_KW || dv_step_op(b, b->pc) == DV_OP_CALL_METHOD_KW;
    if (!bind_fields(&f, n, named ? dv_site_cell(b, b->pc)[3].v : DV_EMPTY)) return false;
    dv_shape *shape = dv_virtual_shape_of(b, class_, f.count);
    if (!shape || !dv_virtual_build_as(b, shape, n, *next_pc)) return false;
    order_items(b, &f);
    b->e[b->top - 1 - below] = *dv_top(b, 1);
    b->top -= below;
    b->version++;
    return true;
}

bool dv_virtual_construct(dv_build *b, dv_class *class_, int32_t n, bool bare, uint32_t *next_pc) {
    if (b->vm->nama != DV_NAMA_VIRTUAL) return false;
    if (enter_init(b, class_, n, bare, *next_pc)) {
        *next_pc = 0;
        return true;
    }
    if (!bare && dv_operator_enter_new(b, class_, n, *next_pc)) {
        *next_pc = 0;
        return true;
    }
    if (n == 0 && class_->constructor == &dv_no_constructor)
        return make_bare(b, class_, 3 + bare, next_pc);
    if (class_->type != DV_T_TUPLE) return false;
    (void)dv_class_takes_fields(b->vm, class_, 0); /* it looks for them */
    if (class_->fields == UINT32_MAX) return false;
    const dv_value maker = dv_constant_global(b, dv_class_special(class_, b->vm->known.new_));
    return !dv_is_empty(maker) && make_fields(b, class_, maker, n, 3 + bare, next_pc);
}

bool dv_virtual_is_maker(dv_value v) {
    if (!dv_is_shape(v, DV_T_CFUNCTION)) return false;
    const dv_cfunction_def *def = ((const dv_cfunction *)dv_as_object(v))->def;
    return def->keyword_entry == dv_object_new_of || def->flags & DV_CFUNCTION_FIELDS;
}

bool dv_virtual_make_of(dv_build *b, dv_value maker, int32_t n, int32_t below, uint32_t *next_pc) {
    const dv_known_value *e = n > 0 ? dv_top(b, n) : NULL;
    if (b->vm->nama != DV_NAMA_VIRTUAL || !dv_virtual_is_maker(maker) || !e ||
        e->where != DV_AT_VALUE || !dv_is_class(e->value))
        return false;
    dv_class *class_ = dv_as_class(e->value);
    const dv_cfunction_def *def = ((const dv_cfunction *)dv_as_object(maker))->def;
    if (def->flags & DV_CFUNCTION_FIELDS)
        return make_fields(b, class_, maker, n - 1, below + 1, next_pc);
    const bool plain =
        class_->type == DV_T_OBJECT && !class_->descriptor && !(class_->flags & DV_CLASS_ABSTRACT);
    return n == 1 && plain && make_bare(b, class_, below + 1, next_pc);
}

bool dv_virtual_load_class(dv_build *b, uint32_t next_pc) {
    const dv_known_value *object = dv_top(b, 1);
    if (object->kind != DV_K_VIRTUAL || !dv_same(dv_site_cell(b, b->pc)[2].v, b->vm->known.class_))
        return false;
    dv_class *class_ = dv_virtual_record(b, object)->shape->class_;
    if (dv_virtual_record(b, object)->shape->number < DV_T_COUNT || !class_lasts(b, class_))
        return false;
    const int32_t number = object->slot;
    dv_pop(b, 1);
    dv_step_push_call(b, dv_object_value(class_), DV_EMPTY);
    dv_step_count(b, true);
    if (dv_virtual_release(b, number)) dv_step_point_after(b, next_pc);
    return true;
}
