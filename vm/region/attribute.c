/* attribute.c: the transfer function of attributes of instances: loads, stores and methods by
 * shape.
 *
 * The site's derivative says which shape INCA code has met and where the attribute is.  The first
 * access tests the shape; those behind it (RAK_) do not, until foreign code may have run or a loop
 * goes round: only that changes the shape of an object, as no instruction of a region adds or
 * deletes an attribute.  A method of the shape's class is a constant under the assumption on the
 * class's cell; what else a class can change (a descriptor of the name, __getattribute__) breaks
 * vm->class_sites. */
#include "region/fuse.h"
#include "region/virtual.h"

/* What the attribute or method site at b->pc remembers, if that is what its derivative
 * saw. */
static const dv_cell *site_cache(dv_build *b, dv_saw saw) {
    const dv_op_info *evidence = dv_step_evidence(b);
    if (!evidence || evidence->saw != saw || !dv_build_depends(b, &b->vm->class_sites)) return NULL;
    return dv_site_cell(b, b->pc) + evidence->cache_cell;
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

uint32_t dv_step_load_slot(dv_build *b, uint32_t next_pc) {
    int32_t q = b->top - 1, home = object_home(b, q);
    const dv_cell *cache = home < 0 ? NULL : site_cache(b, DV_SAW_SLOT);
    uint16_t seen = dv_site_cell(b, b->pc)[1].site.seen;
    if (!cache) return dv_step_embed(b, 1, 1, next_pc);
    bool owned = is_owned(b, q);
    if (seen == DV_SEEN_INT || seen == DV_SEEN_FLOAT)
        return load_number(b, seen == DV_SEEN_INT ? DV_K_INT : DV_K_FLOAT, home, owned, cache[0],
                           next_pc);
    if (owned) return dv_step_embed(b, 1, 1, next_pc); /* the result takes the object's place */
    load_object(b, seen == DV_SEEN_LIST, home, cache[0], next_pc);
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
    const dv_cell *cache = home < 0 ? NULL : site_cache(b, DV_SAW_SLOT);
    if (!cache || b->e[q - 1].kind >= DV_K_RANGE) return dv_step_embed(b, 2, 0, next_pc);
    bool owned = is_owned(b, q), raw = dv_is_raw_number(&b->e[q - 1]);
    if (!owned && b->e[q - 1].kind == DV_K_FLOAT &&
        dv_fuse_update(b, q - 1, DV_OP_RA_GET_D_S, home, 0, cache[0])) {
        dv_pop(b, 2);
        dv_step_count(b, true);
        return next_pc;
    }
    uint32_t at = store_value(b, q - 1, home, cache[0]);
    dv_region_emit_constant(b, at, cache[0]);
    dv_pop(b, 2);
    dv_step_count(b, raw);
    if (!raw) dv_step_point_after(b, next_pc);
    if (owned) release_operand(b, home, next_pc);
    return next_pc;
}

bool dv_step_method(dv_build *b) {
    int32_t q = b->top - 1, home = object_home(b, q);
    dv_known_value self = b->e[q];
    const bool is_virtual = self.kind == DV_K_VIRTUAL;
    const dv_cell *cache = home < 0 && !is_virtual ? NULL : site_cache(b, DV_SAW_METHOD);
    if (!cache) return false;
    if (is_virtual && dv_virtual_record(b, &self)->shape->number != (uint32_t)cache[0].s.a)
        return false;
    dv_value callee = dv_constant_global(b, cache[1].p);
    const bool appends = cache[0].s.a == DV_T_LIST && dv_step_is_append(callee);
    const bool by_payload =
        !dv_is_empty(callee) && dv_payload_type(callee) == (uint32_t)cache[0].s.a;
    if (dv_is_empty(callee) || (!dv_is_function(callee) && !appends && !by_payload)) return false;
    if (!is_virtual && !(appends && self.kind == DV_K_LIST)) dv_shape_guard(b, q, home, cache[0]);
    self = b->e[q]; /* with its shape */
    dv_pop(b, 1);
    dv_push_constant(b, callee);
    dv_push_known(b, DV_K_RESERVED, DV_AT_NOWHERE, 0, DV_EMPTY);
    dv_push_known(b, DV_K_RESERVED, DV_AT_NOWHERE, 0, DV_EMPTY);
    if (self.where == DV_AT_HOME) dv_region_emit(b, DV_OP_R_BORROW, home, dv_home(b, b->top), 0);
    dv_push_known(b, self.kind, self.where, self.slot, self.value);
    dv_step_count(b, true);
    return true;
}
