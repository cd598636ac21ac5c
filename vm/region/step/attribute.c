/* attribute.c: the transfer function of attributes of instances: loads, stores and methods by
 * shape.
 *
 * The site's derivative says which shape INCA code has met and where the attribute is.  The first
 * access tests the shape; those behind it (RAK_) do not, until foreign code may have run or a loop
 * goes round: only that changes the shape of an object, as no instruction of a region adds or
 * deletes an attribute.  A method of the shape's class is a constant under the assumption on the
 * class's cell; what else a class can change (a descriptor of the name, __getattribute__) breaks
 * vm->class_sites. */
#include "quicken/polymorphic.h"
#include "region/emit/fuse.h"
#include "region/step/kind.h"
#include "region/step/operator.h"
#include "region/step/virtual.h"
#include "types/callable/function.h"
#include "types/class/descriptor.h"

/* What a site remembers of a shape: where the attribute is, or the class's cell with the method. */
typedef struct met {
    dv_cell where;
    dv_global_cell *cell;
} met;

/* The function that the class's cell has, itself or as a static or class method; else what it has.
 */
static dv_value callee_of(const dv_global_cell *cell) {
    const dv_value unbound = dv_method_unbound(cell->value);
    return dv_is_empty(unbound) ? cell->value : unbound;
}

/* Of one of several shapes; false: nothing that a region can rely on. */
static bool remember(const dv_poly_entry *entry, dv_saw saw, bool stores, met *shape) {
    shape->where = (dv_cell){.s = {(int32_t)entry->shape, (int32_t)entry->offset}};
    shape->cell = (dv_global_cell *)(uintptr_t)entry->cell;
    if (saw == DV_SAW_METHOD || saw == DV_SAW_UNBOUND)
        return entry->cell && dv_is_function(callee_of(entry->cell));
    if (saw == DV_SAW_BOUND) return entry->cell && entry->other == DV_T_FUNCTION;
    if (saw == DV_SAW_PROPERTY) return entry->cell && !stores && entry->other == DV_T_PROPERTY;
    return !entry->cell && entry->offset && (!stores || entry->other == entry->shape);
}

/* The shapes that the attribute or method site at b->pc has met, and whose classes are there: how
 * many. */
static uint32_t find_shapes(dv_build *b, dv_saw saw, met shapes[DV_POLY_ENTRIES]) {
    const dv_op_info *evidence = dv_step_evidence(b);
    if (!evidence) return 0;
    const dv_cell *cache = dv_site_cell(b, b->pc) + evidence->cache_cell;
    uint32_t count = 0;
    if (evidence->saw == saw) {
        if (!dv_shape_lives(b->vm, (uint32_t)cache[0].s.a)) return 0;
        shapes[count++] = (met){cache[0], saw == DV_SAW_SLOT ? NULL : cache[1].p};
    } else if (evidence->cached[0] == DV_CACHED_ENTRIES) {
        const dv_poly_entry *entries = ((const dv_poly *)cache[0].p)->entries;
        const bool stores = evidence->family == DV_OP_STORE_ATTR;
        for (uint32_t i = 0; i < DV_POLY_ENTRIES && entries[i].shape; i++) {
            if (!dv_shape_lives(b->vm, entries[i].shape)) continue;
            if (!remember(&entries[i], saw, stores, &shapes[count++])) return 0;
        }
    }
    return count > 0 && dv_build_depends(b, &b->vm->class_sites) ? count : 0;
}

/* The home slot of the object that entry q is; -1: it is none, or raw. */
static int32_t object_home(const dv_build *b, int32_t q) {
    const dv_known_value *e = &b->e[q];
    if (e->where == DV_AT_ALIAS) return dv_home(b, e->slot);
    return e->where == DV_AT_HOME ? dv_home(b, q) : -1;
}

/* Does entry q count as a reference of its own? */
static bool is_owned(dv_build *b, int32_t q) {
    return b->e[q].where == DV_AT_HOME && dv_owned(b, b->context, b->pc, q);
}

/* The object at home slot `home` was a temporary one of the instruction just emitted. */
static void release_operand(dv_build *b, int32_t home, uint32_t next_pc) {
    dv_region_emit(b, DV_OP_R_RELEASE, home, 0, 0);
    dv_step_point_after(b, next_pc);
}

/* The entry that says what is known of the object that entry q is. */
static dv_known_value *holder(dv_build *b, int32_t q) {
    return &b->e[b->e[q].where == DV_AT_ALIAS ? b->e[q].slot : q];
}

bool dv_shape_is_known(dv_build *b, int32_t q, uint32_t shape) {
    const dv_known_value *e = holder(b, q);
    return dv_has_known_shape(e) && dv_as_int(e->value) == (int64_t)shape;
}

void dv_shape_note(dv_build *b, int32_t q, uint32_t shape) {
    dv_known_value *e = holder(b, q);
    if (e->kind == DV_K_ANY && e->where == DV_AT_HOME) e->value = dv_int(shape);
}

_Static_assert(DV_OP_RAK_SET_B - DV_OP_RAK_GET_I_R == DV_OP_RA_SET_B - DV_OP_RA_GET_I_R,
               "the same in the same order");

/* The form of an instruction RA_ on the object that entry q is, whose shape is known behind it. */
static uint32_t form_for(dv_build *b, uint32_t op, int32_t q, dv_cell where) {
    if (dv_shape_is_known(b, q, (uint32_t)where.s.a))
        return op + (DV_OP_RAK_GET_I_R - DV_OP_RA_GET_I_R);
    dv_shape_note(b, q, (uint32_t)where.s.a);
    return op;
}

static uint32_t load_number(dv_build *b, dv_kind kind, int32_t home, bool owned, dv_cell where,
                            uint32_t next_pc) {
    int32_t target = owned ? -1 : dv_step_direct_target(b, next_pc, 1);
    if (target < 0) dv_spill(b, kind == DV_K_FLOAT, b->top - 1);
    uint32_t op = kind == DV_K_INT ? DV_OP_RA_GET_I_R : DV_OP_RA_GET_D_R;
    op = form_for(b, op, b->top - 1, where) + (target >= 0);
    uint32_t at = dv_region_emit_guard(b, op, home, 0, target >= 0 ? dv_shadow(b, target) : 0);
    dv_region_emit_constant(b, at, where);
    dv_step_count(b, true);
    next_pc = dv_finish_raw(b, owned ? DV_NO_CELL : at, 1, kind, target, next_pc);
    if (owned) release_operand(b, home, next_pc);
    return next_pc;
}

/* How many entries the instruction at pc, which changes nothing and runs no other code, puts on the
 * stack; its inputs are on top.  -2: it is none of these, or INCA has not seen numbers. */
static int32_t pushed_purely(dv_build *b, uint32_t before, uint32_t pc) {
    const uint32_t op = dv_step_op(b, pc);
    const dv_cell *site = dv_site_cell(b, pc);
    const uint32_t now = dv_op_of(b->vm, site->h);
    switch (op) {
    case DV_OP_LOAD_LOCAL:
    case DV_OP_LOAD_LOCAL_B:
    case DV_OP_LOAD_CONST:
    case DV_OP_LOAD_CONST_B: return 1;
    case DV_OP_LOAD_ATTR:
        return now < DV_OP_COUNT && dv_op_infos[now].saw == DV_SAW_SLOT &&
                       site[1].site.seen == DV_SEEN_INT &&
                       dv_step_op(b, before) == DV_OP_LOAD_LOCAL_B
                   ? 0
                   : -2;
    case DV_OP_ADD:
    case DV_OP_SUB:
    case DV_OP_MUL:
    case DV_OP_FLOORDIV:
    case DV_OP_MOD:
    case DV_OP_AND:
    case DV_OP_RSHIFT: {
        const dv_op_info *info = now < DV_OP_COUNT ? &dv_op_infos[now] : NULL;
        const bool ints = info && info->kind == DV_KIND_DERIVATIVE &&
                          info->types[0] == DV_RESULT_INT && info->types[1] == DV_RESULT_INT;
        return ints ? -1 : -2;
    }
    default: return -2;
    }
}

/* Do the instructions at `before` and pc ask whether what is below them is None? */
static bool asks_for_none(dv_build *b, uint32_t before, uint32_t pc) {
    const uint32_t op = dv_step_op(b, pc), constant = dv_step_op(b, before);
    return op == DV_OP_IS && (constant == DV_OP_LOAD_CONST || constant == DV_OP_LOAD_CONST_B) &&
           dv_is_none(dv_site_cell(b, before)[1].v);
}

/* Is what the instruction at b->pc loads only the container of a subscript that is typed, or
 * compared with None, and does nothing run until there that could take it from the object?  Then
 * nobody needs to count it: the entry is an alias of itself, whose home slot exits and boxed
 * instructions count. */
static bool is_only_looked_at(dv_build *b, uint32_t pc) {
    int32_t above = 0;
    for (uint32_t before = b->pc;; before = pc, pc += dv_step_length(b, pc)) {
        if (!dv_step_follows(b, pc, dv_step_op(b, pc))) return false;
        if (dv_subscripts_purely(b, pc, above) || (above == 1 && asks_for_none(b, before, pc)))
            return true;
        const int32_t more = pushed_purely(b, before, pc);
        if (more == -2 || above + more < 0) return false;
        above += more;
    }
}

static uint32_t load_object(dv_build *b, bool is_list, int32_t home, dv_cell where,
                            uint32_t next_pc) {
    const bool borrowed = is_only_looked_at(b, next_pc);
    const uint32_t what = is_list    ? borrowed ? DV_OP_RA_GET_LB : DV_OP_RA_GET_L
                          : borrowed ? DV_OP_RA_GET_AB
                                     : DV_OP_RA_GET_A;
    const uint32_t op = form_for(b, what, b->top - 1, where);
    uint32_t at = dv_region_emit_guard(b, op, home, 0, dv_home(b, b->top - 1));
    dv_region_emit_constant(b, at, where);
    dv_pop(b, 1);
    dv_push_known(b, is_list ? DV_K_LIST : DV_K_ANY, borrowed ? DV_AT_ALIAS : DV_AT_HOME,
                  borrowed ? b->top : 0, DV_EMPTY);
    dv_step_count(b, false); /* what is done with it may count, not this */
    return at;
}

void dv_shape_guard(dv_build *b, int32_t q, int32_t home, dv_cell where) {
    if (dv_shape_is_known(b, q, (uint32_t)where.s.a)) return;
    const uint32_t at = dv_region_emit_guard(b, DV_OP_RA_GUARD, home, 0, 0);
    dv_region_emit_constant(b, at, where);
    dv_shape_note(b, q, (uint32_t)where.s.a);
}

/* The shape that the object at `home`, entry q, has from here on, of those that the site met: one
 * that is known, or the only one (which nobody has tested yet), or, behind a test, the one that it
 * is the turn of, and the others are in branches.  False: none of these. */
static bool meet_shape(dv_build *b, dv_saw saw, int32_t q, int32_t home, met *shape) {
    met shapes[DV_POLY_ENTRIES];
    const uint32_t count = find_shapes(b, saw, shapes),
                   choice = dv_build_choice(b) % DV_CHOICE_KIND;
    if (count == 1) *shape = shapes[0];
    if (count <= 1) return count;
    for (uint32_t i = 0; i < count; i++)
        if (dv_shape_is_known(b, q, (uint32_t)shapes[i].where.s.a)) {
            *shape = shapes[i];
            return true;
        }
    if (choice >= count || dv_has_known_shape(holder(b, q))) return false;
    *shape = shapes[choice];
    if (choice + 1 == count) return true;
    dv_context *branch = dv_build_branch(b, dv_build_choice(b) + 1);
    if (!branch) return false;
    const uint32_t test = dv_region_emit(b, DV_OP_RA_GUARD, home, 0, 0);
    dv_region_emit_constant(b, test, shape->where);
    dv_build_branch_off(b, test, branch);
    dv_shape_note(b, q, (uint32_t)shape->where.s.a);
    return true;
}

uint32_t dv_step_load_slot(dv_build *b, uint32_t next_pc) {
    int32_t q = b->top - 1, home = object_home(b, q);
    met shape;
    if (home < 0 || !meet_shape(b, DV_SAW_SLOT, q, home, &shape))
        return dv_step_embed(b, 1, 1, next_pc);
    uint16_t seen = dv_site_cell(b, b->pc)[1].site.seen;
    bool owned = is_owned(b, q);
    if (dv_kind_varies(seen)) dv_shape_guard(b, q, home, shape.where);
    const dv_kind kind = dv_kind_loaded(b, seen);
    if (kind != DV_K_ANY) return load_number(b, kind, home, owned, shape.where, next_pc);
    if (owned) return dv_step_embed(b, 1, 1, next_pc); /* the result takes the object's place */
    load_object(b, dv_kind_others(seen) == DV_SEEN_LIST, home, shape.where, next_pc);
    dv_kind_take(b, seen, next_pc);
    return next_pc;
}

/* The value, entry q, into the attribute of the object above it: the instruction's cell. */
static uint32_t store_value(dv_build *b, int32_t q, int32_t home, dv_cell where) {
    const dv_known_value *e = &b->e[q];
    if (e->kind == DV_K_INT || e->kind == DV_K_FLOAT) {
        if (e->where == DV_AT_VALUE) dv_load_register(b, q);
        uint32_t op = e->kind == DV_K_INT ? DV_OP_RA_SET_I_R : DV_OP_RA_SET_D_R;
        op = form_for(b, op, q + 1, where) + (e->where == DV_AT_SLOT);
        return dv_region_emit_guard(b, op, home, 0, e->slot);
    }
    uint32_t op = DV_OP_RA_SET_B;
    int16_t from = dv_home(b, q);
    if (e->kind == DV_K_VIRTUAL)
        dv_virtual_make_for(
            b, e->slot,
            (dv_virtual_place){.op = DV_OP_RA_RENEW, .home = (int16_t)home, .where = where});
    if (e->where == DV_AT_ALIAS) {
        from = dv_home(b, e->slot);
    } else {
        dv_materialize(b, q);
        if (dv_owned(b, b->context, b->pc, q)) op = DV_OP_RA_SET_V;
    }
    return dv_region_emit_guard(b, form_for(b, op, q + 1, where), home, 0, from);
}

uint32_t dv_step_store_slot(dv_build *b, uint32_t next_pc) {
    int32_t q = b->top - 1, home = object_home(b, q);
    met shape;
    if (home < 0 || b->e[q - 1].kind >= DV_K_RANGE || !meet_shape(b, DV_SAW_SLOT, q, home, &shape))
        return dv_step_embed(b, 2, 0, next_pc);
    bool owned = is_owned(b, q), raw = dv_is_raw_number(&b->e[q - 1]);
    if (!owned && b->e[q - 1].kind == DV_K_FLOAT &&
        dv_fuse_update(b, q - 1, DV_OP_RA_GET_D_S, home, 0, shape.where)) {
        dv_pop(b, 2);
        dv_step_count(b, true);
        return next_pc;
    }
    uint32_t at = store_value(b, q - 1, home, shape.where);
    dv_region_emit_constant(b, at, shape.where);
    dv_pop(b, 2);
    dv_step_count(b, raw);
    /* Who leaves because of what died here has let go of the object, too. */
    if (owned)
        release_operand(b, home, next_pc);
    else if (!raw)
        dv_step_point_after(b, next_pc);
    return next_pc;
}

/* Of the shapes that the site met, that of the instance in entry q, which is virtual. */
static bool meet_virtual(dv_build *b, dv_saw saw, int32_t q, met *shape) {
    met shapes[DV_POLY_ENTRIES];
    const uint32_t number = dv_virtual_record(b, &b->e[q])->shape->number;
    const uint32_t count = find_shapes(b, saw, shapes);
    for (uint32_t i = 0; i < count; i++) {
        if ((uint32_t)shapes[i].where.s.a != number) continue;
        *shape = shapes[i];
        return true;
    }
    return false;
}

/* The same of any object. */
static bool meet(dv_build *b, dv_saw saw, int32_t q, met *shape) {
    if (b->e[q].kind == DV_K_VIRTUAL) return meet_virtual(b, saw, q, shape);
    const int32_t home = object_home(b, q);
    return home >= 0 && meet_shape(b, saw, q, home, shape);
}

/* What is called, with the object that is the topmost entry as self. */
static void push_callee(dv_build *b, dv_value callee) {
    const dv_known_value self = *dv_top(b, 1);
    const int16_t home = dv_home(b, b->top - 1);
    dv_pop(b, 1);
    dv_push_constant(b, callee);
    dv_push_known(b, DV_K_RESERVED, DV_AT_NOWHERE, 0, DV_EMPTY);
    dv_push_known(b, DV_K_RESERVED, DV_AT_NOWHERE, 0, DV_EMPTY);
    if (self.where == DV_AT_HOME) dv_region_emit(b, DV_OP_R_BORROW, home, dv_home(b, b->top), 0);
    dv_push_known(b, (dv_kind)self.kind, (dv_where)self.where, self.slot, self.value);
    dv_step_count(b, true);
}

/* The same of a static or class method, `found`: of the object only the class is asked, and then it
 * is let go of. */
static void push_unbound(dv_build *b, dv_value found, const met *shape, uint32_t next_pc) {
    const int32_t q = b->top - 1;
    if (b->e[q].kind != DV_K_VIRTUAL) dv_shape_guard(b, q, object_home(b, q), shape->where);
    const bool released = dv_operator_drop(b, q);
    dv_pop(b, 1);
    dv_value self = DV_EMPTY;
    if (dv_is_shape(found, DV_T_CLASSMETHOD))
        self = dv_object_value(dv_shape_at(b->vm, (uint32_t)shape->where.s.a)->class_);
    dv_step_push_call(b, dv_method_unbound(found), self);
    dv_step_count(b, true);
    if (released) dv_step_point_after(b, next_pc);
}

bool dv_step_method(dv_build *b, uint32_t next_pc) {
    const int32_t q = b->top - 1;
    const dv_known_value self = b->e[q];
    met shape;
    if (!meet(b, DV_SAW_METHOD, q, &shape) && !meet(b, DV_SAW_UNBOUND, q, &shape)) return false;
    dv_value callee = dv_constant_global(b, shape.cell);
    if (!dv_is_empty(dv_method_unbound(callee))) {
        push_unbound(b, callee, &shape, next_pc);
        return true;
    }
    const bool appends = shape.where.s.a == DV_T_LIST && dv_step_is_append(callee);
    const bool by_payload =
        !dv_is_empty(callee) && dv_payload_type(callee) == (uint32_t)shape.where.s.a;
    if (dv_is_empty(callee) || (!dv_is_function(callee) && !appends && !by_payload)) return false;
    if (self.kind != DV_K_VIRTUAL && !(appends && self.kind == DV_K_LIST))
        dv_shape_guard(b, q, object_home(b, q), shape.where);
    push_callee(b, callee); /* self with its shape */
    return true;
}

bool dv_step_bind(dv_build *b, uint32_t next_pc) {
    const int32_t q = b->top - 1;
    met shape;
    if (!dv_virtual_may_bind(b) || !meet(b, DV_SAW_BOUND, q, &shape)) return false;
    const dv_value function = dv_constant_global(b, shape.cell);
    if (dv_is_empty(function) || !dv_is_function(function)) return false;
    if (b->e[q].kind != DV_K_VIRTUAL) dv_shape_guard(b, q, object_home(b, q), shape.where);
    return dv_virtual_bind(b, function, next_pc);
}

bool dv_step_load_property(dv_build *b, uint32_t next_pc) {
    const int32_t q = b->top - 1;
    const dv_known_value *self = &b->e[q];
    const bool is_virtual = self->kind == DV_K_VIRTUAL;
    met shape;
    if (!is_virtual && self->where == DV_AT_HOME && !is_owned(b, q)) return false;
    if (!meet(b, DV_SAW_PROPERTY, q, &shape)) return false;
    const dv_value found = dv_constant_global(b, shape.cell);
    if (!dv_is_shape(found, DV_T_PROPERTY)) return false;
    const dv_value getter = ((const dv_property *)dv_as_object(found))->get;
    if (!dv_is_function(getter) || b->top + 3 >= b->entry_limit) return false;
    b->top += 3; /* as it will be */
    const bool inlined = dv_build_may_inline(b, dv_function_thread(dv_as_function(getter)), 1);
    b->top -= 3;
    if (!inlined) return false;
    if (!is_virtual) dv_shape_guard(b, q, object_home(b, q), shape.where);
    push_callee(b, getter);
    dv_step_enter(b, dv_function_thread(dv_as_function(getter)), next_pc, DV_ENTERS_GETTER);
    return true;
}
