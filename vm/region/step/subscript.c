/* subscript.c: the transfer function of subscripts and len(): items of lists and tuples, elements
 * of arrays, bytes, bytearrays and objects of extensions.
 *
 * A container is known by its kind, or becomes so behind a guard if INCA saw one.  What is in it is
 * looked up at each access, as whatever calls out may have changed it; an object of an extension is
 * looked at as a whole each time. */
#include "region/emit/fuse.h"
#include "region/step/kind.h"
#include "region/step/producer.h"
#include "region/step/operator.h"
#include "region/step/raised.h"
#include "region/step/virtual.h"
#include "types/class/class.h"

/* Where a container is, and what has to happen to it afterwards. */
typedef struct container {
    dv_kind kind;     /* NOTHING: an object of an extension ... */
    uint32_t element; /* ... with items of this kind; DV_ELEMENTS: it has none */
    int32_t home;
    bool is_owned; /* by the operand stack alone: it is released behind the access */
    bool numbers;  /* its items are objects like the numbers that the elements are */
} container;

/* The container that INCA saw as an input of the site; NOTHING: none that regions know. */
static dv_kind evident_kind(const dv_build *b, uint32_t input) {
    const dv_op_info *info = dv_step_evidence(b);
    if (!info || info->kind != DV_KIND_DERIVATIVE) return DV_K_NOTHING;
    uint32_t type = info->types[input];
    if (type >= DV_RESULT_ARRAY_UINT8 && type <= DV_RESULT_ARRAY_FLOAT64)
        return (dv_kind)(DV_K_ARRAY + (type - DV_RESULT_ARRAY_UINT8));
    switch (type) {
    case DV_RESULT_LIST: return DV_K_LIST;
    case DV_RESULT_TUPLE: return DV_K_TUPLE;
    case DV_RESULT_STR: return DV_K_STR;
    case DV_RESULT_BYTES: return DV_K_BYTES;
    case DV_RESULT_BYTEARRAY: return DV_K_BYTEARRAY;
    default: return DV_K_NOTHING;
    }
}

/* Items of an object of an extension that INCA saw; DV_ELEMENTS: it saw none. */
static uint32_t evident_items(const dv_build *b, uint32_t input) {
    const dv_op_info *info = dv_step_evidence(b);
    if (!info || info->kind != DV_KIND_DERIVATIVE) return DV_ELEMENTS;
    uint32_t element = info->types[input] - (uint32_t)DV_RESULT_BUFFER_UINT8;
    return element < DV_ELEMENTS ? element : DV_ELEMENTS;
}

static void guard_container(dv_build *b, int32_t home, dv_kind kind) {
    uint32_t op = kind == DV_K_LIST        ? DV_OP_R_GUARD_LIST
                  : kind == DV_K_TUPLE     ? DV_OP_R_GUARD_TUPLE
                  : kind == DV_K_STR       ? DV_OP_R_GUARD_STR
                  : kind == DV_K_BYTES     ? DV_OP_R_GUARD_BYTES
                  : kind == DV_K_BYTEARRAY ? DV_OP_R_GUARD_BYTEARRAY
                                           : DV_OP_R_GUARD_ARRAY;
    uint32_t at = dv_region_emit_guard(b, op, home, 0, 0);
    if (op == DV_OP_R_GUARD_ARRAY)
        dv_region_emit_constant(b, at, (dv_cell){.i = (int64_t)(kind - DV_K_ARRAY)});
}

static bool is_constant(const dv_known_value *e) {
    return e->kind == DV_K_CONSTANT && e->where == DV_AT_VALUE;
}

/* A constant comes into the home slot of its entry, borrowed: nothing that runs other code is done
 * with a container there. */
static void place_value(dv_build *b, int32_t q) {
    if (!is_constant(&b->e[q])) return;
    uint32_t at = dv_region_emit(b, DV_OP_R_VALUE_B, dv_home(b, q), 0, 0);
    dv_region_emit_constant(b, at, (dv_cell){.v = b->e[q].value});
}

static bool place_constant(dv_build *b, int32_t q, container *c) {
    c->home = dv_home(b, q);
    c->kind = dv_kind_of_container(b->e[q].value);
    if (!c->kind && c->element == DV_ELEMENTS) return false;
    place_value(b, q);
    return true;
}

/* Entry q, input `input` of the instruction, is a container: for sure, or from here on. */
static bool find_container(dv_build *b, int32_t q, uint32_t input, container *c) {
    dv_known_value *e = &b->e[q];
    *c = (container){.element = evident_items(b, input)};
    if (is_constant(e)) return place_constant(b, q, c);
    if (e->where != DV_AT_HOME && e->where != DV_AT_ALIAS) return false;
    bool is_alias = e->where == DV_AT_ALIAS;
    c->home = dv_home(b, is_alias ? e->slot : q);
    c->is_owned = !is_alias && dv_owned(b, b->context, b->pc, q);
    c->kind = (dv_kind)e->kind;
    if (dv_kind_is_container(c->kind)) return true;
    c->kind = evident_kind(b, input);
    if (!c->kind) return c->element < DV_ELEMENTS;
    guard_container(b, c->home, c->kind);
    if (is_alias) b->e[e->slot].kind = (uint8_t)c->kind;
    e->kind = (uint8_t)c->kind;
    return true;
}

/* Behind the access; the entries are as they are then. */
static void let_go(dv_build *b, const container *c, uint32_t next_pc) {
    if (!c->is_owned) return;
    dv_region_emit(b, DV_OP_R_RELEASE, c->home, 0, 0);
    dv_step_point_after(b, next_pc);
}

static uint32_t index_mode(const dv_known_value *index) {
    char mode = dv_raw_operand(index).mode;
    return mode == 'S' ? 0 : mode == 'K' ? 1 : 2;
}

static uint32_t emit_access(dv_build *b, uint32_t op, const container *c,
                            const dv_known_value *index, int32_t third) {
    uint32_t at = dv_region_emit_guard(b, op, c->home, index->slot, third);
    if (index->where == DV_AT_VALUE)
        dv_region_emit_constant(b, at, (dv_cell){.i = dv_raw_int(index->value)});
    dv_step_count(b, true);
    return at;
}

/* Loads
 * ------------------------------------------------------------------------------------------------
 */

_Static_assert(DV_MODED_RL_GET_I_R_S == DV_MODED_RL_GET_I_S_R + 5 &&
                   DV_MODED_RT_GET_I_R_S == DV_MODED_RT_GET_I_S_R + 5 &&
                   DV_MODED_RS_CHAR_R_S == DV_MODED_RS_CHAR_S_R + 5,
               "modes are consecutive");
_Static_assert(DV_MODED_RE_GET_FLOAT64_R_S ==
                   DV_MODED_RE_GET_BYTES_S_R + 6 * (DV_K_ARRAY + DV_FLOAT64 - DV_K_BYTES) + 5,
               "containers and modes are consecutive");

static bool has_floats(const container *c) {
    uint32_t element = c->kind ? (uint32_t)c->kind - DV_K_ARRAY : c->element;
    return element == DV_FLOAT32 || element == DV_FLOAT64;
}

static dv_kind kind_of_items(const container *c) { return has_floats(c) ? DV_K_FLOAT : DV_K_INT; }

/* An item that stays boxed, to the container's place. */
static uint32_t get_object(dv_build *b, const container *c, bool is_list, uint32_t next_pc) {
    const dv_known_value *index = dv_top(b, 1);
    uint32_t base = is_list ? DV_OP_RL_GET_L_S : DV_OP_RL_GET_A_S;
    if (c->kind == DV_K_TUPLE) base = is_list ? DV_OP_RT_GET_L_S : DV_OP_RT_GET_A_S;
    const uint32_t at = emit_access(b, base + index_mode(index), c, index, dv_home(b, b->top - 2));
    dv_raised_indexes(b, at, c->kind == DV_K_LIST, c->home);
    dv_pop(b, 2);
    dv_push_known(b, is_list ? DV_K_LIST : DV_K_ANY, DV_AT_HOME, 0, DV_EMPTY);
    return next_pc;
}

static uint32_t get_raw(dv_build *b, const container *c, dv_kind kind, uint32_t base,
                        uint32_t next_pc) {
    const dv_known_value *index = dv_top(b, 1);
    uint32_t moded = base + index_mode(index) * 2;
    if (!dv_step_has(moded)) {
        dv_load_register(b, b->top - 1);
        moded = base + index_mode(index) * 2;
    }
    int32_t target = c->is_owned ? -1 : dv_step_direct_target(b, next_pc, 2);
    if (target >= 0 && !dv_step_has(moded + 1)) target = -1;
    if (target < 0) dv_spill(b, kind == DV_K_FLOAT, b->top - 2);
    int32_t to = target >= 0 ? dv_shadow(b, target) : -1;
    const uint32_t op = dv_op_moded(moded + (target >= 0));
    const bool items = c->kind == DV_K_LIST || c->kind == DV_K_TUPLE;
    const bool caught = items && dv_raised_is_caught(b, 0);
    const bool fuses = c->kind == DV_K_LIST && !caught && !b->otherwise;
    uint32_t at = fuses ? dv_fuse_load(b, op, c->home, to) : DV_NO_CELL;
    if (at != DV_NO_CELL)
        dv_step_count(b, true);
    else
        at = emit_access(b, op, c, index, to >= 0 ? to : 0);
    if (caught) dv_raised_indexes(b, at, c->kind == DV_K_LIST, c->home);
    next_pc = dv_finish_raw(b, at, 2, kind, target, next_pc);
    let_go(b, c, next_pc);
    return next_pc;
}

static uint32_t get_item(dv_build *b, const container *c, uint16_t seen, uint32_t next_pc) {
    bool of_tuple = c->kind == DV_K_TUPLE;
    const dv_kind kind = dv_kind_loaded(b, seen);
    if (kind == DV_K_INT)
        return get_raw(b, c, DV_K_INT, of_tuple ? DV_MODED_RT_GET_I_S_R : DV_MODED_RL_GET_I_S_R,
                       next_pc);
    if (kind == DV_K_FLOAT)
        return get_raw(b, c, DV_K_FLOAT, of_tuple ? DV_MODED_RT_GET_D_S_R : DV_MODED_RL_GET_D_S_R,
                       next_pc);
    if (c->is_owned) return dv_step_embed(b, 2, 1, next_pc);
    (void)get_object(b, c, dv_kind_others(seen) == DV_SEEN_LIST, next_pc);
    dv_kind_take(b, seen, next_pc);
    return next_pc;
}

_Static_assert(DV_OP_RX_GET_FLOAT64_R == DV_OP_RX_GET_UINT8_S + 2 * DV_FLOAT64 + 1 &&
                   DV_OP_RX_GET_TRUTH_S == DV_OP_RX_GET_UINT8_S + 2 * DV_ELEMENTS,
               "elements and modes are consecutive");

/* The index of an access to an object of an extension: in its slot, or in the register. */
static uint32_t place_index(dv_build *b, int32_t q) {
    if (b->e[q].where == DV_AT_VALUE) dv_load_register(b, q);
    return b->e[q].where == DV_AT_REGISTER;
}

/* In front of an access to an object of an extension; behind it, along how many axes it is. */
static void guard_numbers(dv_build *b, const container *c) {
    if (c->numbers) dv_region_emit_guard(b, DV_OP_R_GUARD_NUMBERS, c->home, 0, 0);
}

static void set_axes(dv_build *b, uint32_t at, const container *c, int64_t n) {
    dv_region_emit_constant(b, at, (dv_cell){.i = n | (c->numbers ? DV_OTHER_ITEMS : 0)});
}

static uint32_t get_foreign(dv_build *b, const container *c, uint32_t next_pc) {
    uint32_t mode = place_index(b, b->top - 1);
    dv_spill(b, has_floats(c), b->top - 2);
    guard_numbers(b, c);
    set_axes(b, emit_access(b, DV_OP_RX_GET_UINT8_S + 2 * c->element + mode, c, dv_top(b, 1), 0), c,
             1);
    next_pc = dv_finish_raw(b, DV_NO_CELL, 2, kind_of_items(c), -1, next_pc);
    let_go(b, c, next_pc);
    return next_pc;
}

/* Items like numbers
 * ------------------------------------------------------------------------------------------------
 */

/* An extension's object in entry q, a constant or as the frame has it, whose items along n axes are
 * objects like the numbers that its elements are. */
static bool find_numbers(dv_build *b, int32_t q, int32_t n, container *c) {
    const dv_known_value *e = &b->e[q];
    const bool local = e->where == DV_AT_ALIAS && e->kind == DV_K_ANY;
    if ((!local && !is_constant(e)) || b->vm->extensions.plain) return false;
    const dv_buffer *buffer = dv_numbers_of(b->vm, local ? dv_build_lasting(b, q) : e->value);
    if (!buffer || (int64_t)buffer->dimensions != (n | DV_OTHER_ITEMS)) return false;
    *c = (container){
        .home = dv_home(b, local ? e->slot : q), .element = buffer->element, .numbers = true};
    if (c->element == DV_TRUTH) c->element = DV_ELEMENTS; /* their instructions are behind others */
    return c->element <= DV_ELEMENTS;
}

/* Is the int an element as it is?  (Beside bools any is an int.) */
static bool holds(uint32_t element, int64_t i) {
    if (element == DV_ELEMENTS) return true;
    const bool is_signed = element & 1;
    const int bits = 8 * (int)dv_element_size(element) - is_signed;
    if (i < 0) return is_signed && i >= -(INT64_C(1) << (bits - 1)) * 2;
    return bits >= 63 || i >> bits == 0;
}

/* Is the item that is loaded asked for nothing but its number: by a jump, by int() or float(), or
 * by a comparison with a constant and a jump?  (Its `inputs` are on top.) */
static bool is_number_enough(dv_build *b, const container *c, int32_t inputs, uint32_t next_pc) {
    const uint32_t compare = next_pc + 1, op = dv_step_op(b, next_pc);
    if (!dv_step_follows(b, next_pc, op)) return false;
    if (op == DV_OP_JUMP_IF_FALSE || op == DV_OP_JUMP_IF_TRUE) return true;
    if (op == DV_OP_CALL && dv_word_operand(b, next_pc, 0) == 1) {
        const dv_known_value *callee = dv_top(b, inputs + 3);
        return callee->where == DV_AT_VALUE && dv_is_class(callee->value) &&
               dv_step_class_raws(b->vm, dv_as_class(callee->value));
    }
    if (dv_steps[op] != dv_step_load_constant || has_floats(c)) return false;
    const dv_value k = dv_site_cell(b, next_pc)[1].v;
    const uint32_t by = dv_step_op(b, compare), jump = compare + dv_step_length(b, compare);
    return dv_is_int(k) && holds(c->element, dv_as_int(k)) && dv_steps[by] == dv_step_compare &&
           dv_step_follows(b, compare, by) &&
           (dv_step_follows(b, jump, DV_OP_JUMP_IF_FALSE) ||
            dv_step_follows(b, jump, DV_OP_JUMP_IF_TRUE));
}

static bool is_storable_number(const container *c, dv_kind value) {
    if (has_floats(c)) return value == DV_K_INT || value == DV_K_FLOAT;
    return value == (c->element == DV_ELEMENTS ? DV_K_BOOL : DV_K_INT);
}

/* An item of a dict where a handler in the region catches the KeyError; false: it stays boxed. */
static bool look_up(dv_build *b, uint32_t next_pc) {
    const dv_op_info *info = dv_step_evidence(b);
    const int32_t dict = b->top - 2, key = b->top - 1;
    const dv_known_value *e = &b->e[dict];
    if (!info || info->kind != DV_KIND_DERIVATIVE || info->types[0] != DV_RESULT_DICT ||
        (e->where != DV_AT_ALIAS && !is_constant(e)) || b->e[key].kind >= DV_K_UNSET ||
        b->e[key].kind == DV_K_VIRTUAL || !dv_raised_is_caught(b, 1))
        return false;
    const bool raw = dv_kind_is_raw((dv_kind)b->e[key].kind);
    place_value(b, dict);
    dv_materialize(b, key);
    const int16_t home = dv_home(b, e->where == DV_AT_ALIAS ? e->slot : dict);
    const uint32_t at =
        dv_region_emit_guard(b, DV_OP_R_LOOKUP, home, dv_home(b, key), dv_home(b, dict));
    dv_raised_lookup(b, at);
    const bool owned = !raw && dv_owned(b, b->context, b->pc, key);
    dv_pop(b, 2);
    dv_push_known(b, DV_K_ANY, DV_AT_HOME, 0, DV_EMPTY);
    dv_step_count(b, true);
    if (!owned) return true;
    dv_region_emit(b, DV_OP_R_RELEASE, dv_home(b, key), 0, 0);
    dv_step_point_after(b, next_pc);
    return true;
}

uint32_t dv_step_load_subscript(dv_build *b, uint32_t next_pc) {
    if (dv_virtual_load_item(b, next_pc) || look_up(b, next_pc)) return next_pc;
    uint16_t seen = dv_site_cell(b, b->pc)[1].site.seen;
    container c;
    dv_unbox_by_evidence(b, b->top - 1, 1);
    if (dv_top(b, 1)->kind == DV_K_INT && find_numbers(b, b->top - 2, 1, &c) &&
        is_number_enough(b, &c, 2, next_pc)) {
        place_value(b, b->top - 2);
        return get_foreign(b, &c, next_pc);
    }
    if (dv_top(b, 1)->kind != DV_K_INT || dv_step_is_cold(b) ||
        !find_container(b, b->top - 2, 0, &c))
        return dv_operator_enter(b, next_pc) ? 0 : dv_step_embed(b, 2, 1, next_pc);
    if (!c.kind) return get_foreign(b, &c, next_pc);
    if (c.kind == DV_K_STR)
        return dv_build_is_wide(b, b->top - 2)
                   ? dv_step_embed(b, 2, 1, next_pc)
                   : get_raw(b, &c, DV_K_CHAR, DV_MODED_RS_CHAR_S_R, next_pc);
    if (c.kind == DV_K_LIST || c.kind == DV_K_TUPLE)
        return get_item(b, &c, dv_build_items(b, b->top - 2, seen), next_pc);
    uint32_t base = DV_MODED_RE_GET_BYTES_S_R + 6 * (uint32_t)(c.kind - DV_K_BYTES);
    return get_raw(b, &c, kind_of_items(&c), base, next_pc);
}

/* Stores
 * -----------------------------------------------------------------------------------------------
 */

_Static_assert(DV_MODED_RL_SET_D_R_S == DV_MODED_RL_SET_D_S_R + 5, "modes are consecutive");
_Static_assert(DV_MODED_RE_SET_FLOAT64_R_S == DV_MODED_RE_SET_BYTEARRAY_S_R +
                                                  6 * (DV_K_ARRAY + DV_FLOAT64 - DV_K_BYTEARRAY) +
                                                  5,
               "containers and modes are consecutive");

/* What is stored becomes raw if INCA saw a number. */
static void unbox_stored(dv_build *b, int32_t q) {
    const dv_known_value *e = &b->e[q];
    uint16_t seen = dv_site_cell(b, b->pc)[1].site.seen;
    if (e->kind != DV_K_ANY || (e->where != DV_AT_HOME && e->where != DV_AT_ALIAS)) return;
    if (seen == DV_SEEN_INT) dv_unbox(b, q, DV_K_INT);
    if (seen == DV_SEEN_FLOAT) dv_unbox(b, q, DV_K_FLOAT);
}

static bool is_storable(const container *c, dv_kind value) {
    if (c->kind == DV_K_TUPLE || c->kind == DV_K_STR) return false;
    if (c->kind == DV_K_LIST || has_floats(c)) return value == DV_K_INT || value == DV_K_FLOAT;
    return c->kind != DV_K_BYTES && (value == DV_K_INT || value == DV_K_BOOL);
}

/* The entry that is stored, in a slot or in its register: not a constant, and as a double if it
 * must be (the entry stays an int then). */
static dv_operand stored_operand(dv_build *b, int32_t q, bool doubles) {
    const dv_known_value *e = &b->e[q];
    if (!doubles || e->kind != DV_K_INT) {
        if (e->where == DV_AT_VALUE) dv_to_slot(b, q);
        return dv_raw_operand(&b->e[q]);
    }
    dv_operand x = dv_converted(b, q, false);
    if (x.mode != 'K') return x;
    dv_spill(b, true, b->top);
    dv_region_emit_constant(b, dv_region_emit(b, DV_OP_R_CONST_D, 0, 0, 0), x.k);
    return (dv_operand){.mode = 'R'};
}

_Static_assert(DV_OP_RX_SET_FLOAT64_R == DV_OP_RX_SET_UINT8_S + 2 * DV_FLOAT64 + 1 &&
                   DV_OP_RX_SET_TRUTH_S == DV_OP_RX_SET_UINT8_S + 2 * DV_ELEMENTS,
               "elements and modes are consecutive");

static uint32_t set_foreign(dv_build *b, const container *c, uint32_t next_pc) {
    bool doubles = has_floats(c);
    dv_operand v = stored_operand(b, b->top - 3, doubles);
    if (v.mode == 'R') {
        v.slot = b->scratch;
        dv_region_emit(b, doubles ? DV_OP_R_STORE_D : DV_OP_R_STORE_I, v.slot, 0, 0);
    }
    uint32_t mode = place_index(b, b->top - 1);
    guard_numbers(b, c);
    set_axes(b,
             emit_access(b, DV_OP_RX_SET_UINT8_S + 2 * c->element + mode, c, dv_top(b, 1), v.slot),
             c, 1);
    dv_pop(b, 3);
    let_go(b, c, next_pc);
    return next_pc;
}

/* A number in its register, stored into a list: is that a part of what loaded it? */
static bool fuses(dv_build *b, const container *c) {
    int32_t qv = b->top - 3;
    const dv_known_value *index = dv_top(b, 1);
    if (index->where == DV_AT_SLOT)
        return dv_fuse_copy(b, qv, c->home, index->slot) ||
               dv_fuse_update(b, qv, DV_OP_RL_GET_D_S_S, c->home, index->slot, (dv_cell){0});
    return index->where == DV_AT_VALUE && dv_fuse_update(b, qv, DV_OP_RL_GET_D_K_S, c->home, 0,
                                                         (dv_cell){.i = dv_raw_int(index->value)});
}

/* The index comes into its slot, and the value into its register: every kind of store is made for
 * these. */
static void place_access(dv_build *b, int32_t index, dv_operand *value, bool doubles) {
    dv_to_slot(b, index);
    if (value->mode == 'R') return;
    dv_spill(b, doubles, b->top);
    dv_region_emit(b, doubles ? DV_OP_R_LOAD_D : DV_OP_R_LOAD_I, value->slot, 0, 0);
    value->mode = 'R';
}

/* Instance qv, which is stored to the list with the index that is the topmost entry, is made. */
static void make_for_item(dv_build *b, int32_t qv, const container *list) {
    dv_virtual_place place = {
        .op = DV_OP_RL_RENEW, .home = (int16_t)list->home, .index = b->scratch};
    if (dv_top(b, 1)->where == DV_AT_VALUE) {
        const uint32_t at = dv_region_emit(b, DV_OP_R_CONST, b->scratch, 0, 0);
        dv_region_emit_constant(b, at, (dv_cell){.i = dv_raw_int(dv_top(b, 1)->value)});
    } else {
        dv_to_slot(b, b->top - 1);
        place.index = dv_top(b, 1)->slot;
    }
    dv_virtual_make_for(b, b->e[qv].slot, place);
}

uint32_t dv_step_store_subscript(dv_build *b, uint32_t next_pc) {
    int32_t qv = b->top - 3, qi = b->top - 1;
    container c;
    if (dv_virtual_store_item(b, next_pc)) return next_pc;
    dv_unbox_by_evidence(b, qi, 2);
    if (b->e[qi].kind == DV_K_INT && find_numbers(b, b->top - 2, 1, &c) &&
        is_storable_number(&c, (dv_kind)b->e[qv].kind)) {
        place_value(b, b->top - 2);
        return set_foreign(b, &c, next_pc);
    }
    if (b->e[qi].kind != DV_K_INT || dv_step_is_cold(b) || !find_container(b, b->top - 2, 1, &c))
        return dv_operator_enter(b, next_pc) ? 0 : dv_step_embed(b, 3, 0, next_pc);
    unbox_stored(b, qv);
    if (b->e[qv].kind == DV_K_VIRTUAL && c.kind == DV_K_LIST) make_for_item(b, qv, &c);
    if (!is_storable(&c, (dv_kind)b->e[qv].kind)) return dv_step_embed(b, 3, 0, next_pc);
    if (!c.kind) return set_foreign(b, &c, next_pc);
    uint32_t base = DV_MODED_RE_SET_BYTEARRAY_S_R + 6 * (uint32_t)(c.kind - DV_K_BYTEARRAY);
    if (c.kind == DV_K_LIST)
        base = b->e[qv].kind == DV_K_FLOAT ? DV_MODED_RL_SET_D_S_R : DV_MODED_RL_SET_I_S_R;
    dv_operand v = stored_operand(b, qv, has_floats(&c));
    const dv_known_value *index = &b->e[qi];
    if (c.kind == DV_K_LIST && v.mode == 'R' && !c.is_owned && fuses(b, &c)) {
        dv_step_count(b, true);
        dv_pop(b, 3);
        let_go(b, &c, next_pc);
        return next_pc;
    }
    uint32_t moded = base + (v.mode == 'S' ? 3u : 0u) + index_mode(index);
    if (!dv_step_has(moded)) {
        place_access(b, qi, &v, has_floats(&c));
        moded = base;
    }
    emit_access(b, dv_op_moded(moded), &c, index, v.slot);
    dv_pop(b, 3);
    let_go(b, &c, next_pc);
    return next_pc;
}

/* Several indices: BUILD_KEY with the subscript behind it
 * ------------------------------------------------------------------------------------------------
 */

_Static_assert(DV_OP_RX_GET_PAIR_FLOAT64 == DV_OP_RX_GET_PAIR_UINT8 + DV_FLOAT64 &&
                   DV_OP_RX_SET_PAIR_FLOAT64 == DV_OP_RX_SET_PAIR_UINT8 + DV_FLOAT64 &&
                   DV_OP_RX_GET_ALL_FLOAT64 == DV_OP_RX_GET_ALL_UINT8 + DV_FLOAT64 &&
                   DV_OP_RX_SET_ALL_FLOAT64 == DV_OP_RX_SET_ALL_UINT8 + DV_FLOAT64,
               "elements are consecutive");

/* Entry q, an int for all that INCA saw, comes into a slot, one of a pair into any; false: it is
 * something else. */
static bool place_index_of(dv_build *b, int32_t q, bool pair) {
    const dv_known_value *e = &b->e[q];
    if (e->kind == DV_K_ANY && (e->where == DV_AT_HOME || e->where == DV_AT_ALIAS))
        dv_unbox(b, q, DV_K_INT);
    if (b->e[q].kind != DV_K_INT) return false;
    if (pair)
        dv_to_slot(b, q);
    else
        dv_to_shadow(b, q);
    return true;
}

/* The container in entry q, whose items along n axes INCA saw, and the indices behind it. */
static bool place_indices(dv_build *b, int32_t q, int32_t n, container *c) {
    const dv_known_value *e = &b->e[q];
    if (e->where != DV_AT_HOME && e->where != DV_AT_ALIAS && !is_constant(e)) return false;
    c->home = dv_home(b, e->where == DV_AT_ALIAS ? e->slot : q);
    c->is_owned = e->where == DV_AT_HOME && dv_owned(b, b->context, b->pc, q);
    place_value(b, q);
    for (int32_t i = 1; i <= n; i++)
        if (!place_index_of(b, q + i, n == 2)) return false;
    return true;
}

/* The instruction for a pair of indices, or for those in the topmost n slots. */
static void access_along(dv_build *b, const container *c, int32_t n, uint32_t pair, uint32_t all) {
    guard_numbers(b, c);
    const uint32_t at =
        n == 2 ? dv_region_emit_guard(b, pair + c->element, c->home, dv_top(b, 2)->slot,
                                      dv_top(b, 1)->slot)
               : dv_region_emit_guard(b, all + c->element, c->home, dv_shadow(b, b->top - n), n);
    set_axes(b, at, c, n);
    dv_step_count(b, true);
}

static uint32_t get_along(dv_build *b, const container *c, int32_t n, uint32_t next_pc) {
    dv_spill(b, has_floats(c), b->top - n - 1);
    access_along(b, c, n, DV_OP_RX_GET_PAIR_UINT8, DV_OP_RX_GET_ALL_UINT8);
    next_pc = dv_finish_raw(b, DV_NO_CELL, n + 1, kind_of_items(c), -1, next_pc);
    let_go(b, c, next_pc);
    return next_pc;
}

/* The number that is stored is in its register. */
static uint32_t set_along(dv_build *b, const container *c, int32_t n, uint32_t next_pc) {
    const int32_t q = b->top - n - 2;
    if (has_floats(c) && b->e[q].kind == DV_K_INT)
        dv_load_double(b, q);
    else
        dv_load_register(b, q);
    access_along(b, c, n, DV_OP_RX_SET_PAIR_UINT8, DV_OP_RX_SET_ALL_UINT8);
    dv_pop(b, n + 2);
    let_go(b, c, next_pc);
    return next_pc;
}

/* Items like numbers along two axes; the pc behind the subscript, or DV_NO_PC: they are no such. */
static uint32_t step_number_pair(dv_build *b, uint32_t next_pc) {
    container c;
    if (!find_numbers(b, b->top - 3, 2, &c) || dv_top(b, 1)->kind != DV_K_INT ||
        dv_top(b, 2)->kind != DV_K_INT)
        return DV_NO_PC;
    const uint32_t end = next_pc + dv_step_length(b, next_pc);
    const bool loads = dv_step_follows(b, next_pc, DV_OP_LOAD_SUBSCR);
    if (loads ? !is_number_enough(b, &c, 3, end)
              : !dv_step_follows(b, next_pc, DV_OP_STORE_SUBSCR) ||
                    !is_storable_number(&c, (dv_kind)dv_top(b, 4)->kind))
        return DV_NO_PC;
    if (!place_indices(b, b->top - 3, 2, &c)) return DV_NO_PC;
    return loads ? get_along(b, &c, 2, end) : set_along(b, &c, 2, end);
}

/* A key of an item along several axes that is loaded, or stored, next. */
uint32_t dv_step_build_key(dv_build *b, uint32_t next_pc) {
    const int32_t n = (int32_t)dv_word_operand(b, b->pc, 0);
    const dv_op_info *evidence = dv_step_evidence(b);
    container c = {.kind = DV_K_NOTHING};
    const uint32_t behind = n == 2 ? step_number_pair(b, next_pc) : DV_NO_PC;
    if (behind != DV_NO_PC) return behind;
    if (evidence && evidence->saw == DV_SAW_PAIR) return dv_step_embed_both(b, n, next_pc);
    if (!evidence || evidence->covers == DV_OP_NOP ||
        !dv_step_follows(b, next_pc, evidence->covers)) {
        const bool asks = dv_operator_is_entered(dv_op_of(b->vm, dv_site_cell(b, next_pc)->h));
        return asks && dv_virtual_build(b, DV_T_TUPLE, n, next_pc)
                   ? next_pc
                   : dv_step_embed(b, n, 1, next_pc);
    }
    const bool loads = evidence->covers == DV_OP_LOAD_SUBSCR;
    c.element = evidence->which;
    if (!place_indices(b, b->top - n - 1, n, &c)) return dv_step_embed(b, n, 1, next_pc);
    const uint32_t end = next_pc + dv_step_length(b, next_pc);
    if (loads) return get_along(b, &c, n, end);
    unbox_stored(b, b->top - n - 2);
    if (!is_storable(&c, (dv_kind)dv_top(b, n + 2)->kind)) return dv_step_embed(b, n, 1, next_pc);
    return set_along(b, &c, n, end);
}

/* Seen from an attribute that is the container
 * ------------------------------------------------------------------------------------------------
 */

bool dv_subscripts_purely(dv_build *b, uint32_t pc, int32_t above) {
    const uint32_t op = dv_step_op(b, pc), pc_now = b->pc;
    const uint32_t now = dv_op_of(b->vm, dv_site_cell(b, pc)->h);
    if (op == DV_OP_BUILD_KEY)
        return above == (int32_t)dv_word_operand(b, pc, 0) && now < DV_OP_COUNT &&
               dv_op_infos[now].covers != DV_OP_NOP && dv_op_infos[now].saw != DV_SAW_PAIR;
    if (above != 1 || (op != DV_OP_LOAD_SUBSCR && op != DV_OP_STORE_SUBSCR)) return false;
    const uint32_t input = op == DV_OP_STORE_SUBSCR;
    const uint16_t seen = dv_site_cell(b, pc)[1].site.seen;
    if (input && seen != DV_SEEN_INT && seen != DV_SEEN_FLOAT) return false;
    b->pc = pc;
    const dv_op_info *info = dv_step_evidence(b);
    const bool typed = info && info->kind == DV_KIND_DERIVATIVE &&
                       info->types[input + 1] == DV_RESULT_INT &&
                       (evident_kind(b, input) || evident_items(b, input) < DV_ELEMENTS);
    b->pc = pc_now;
    return typed;
}

/* Appending
 * ------------------------------------------------------------------------------------------------
 */

bool dv_step_is_append(dv_value v) {
    if (!dv_is_shape(v, DV_T_CFUNCTION)) return false;
    const dv_cfunction *function = (const dv_cfunction *)dv_as_object(v);
    return function->def->inlined == DV_INLINED_APPEND && dv_is_empty(function->self);
}

/* The topmost entry, whose count the list takes, into the list that is entry q. */
static void append(dv_build *b, int32_t q) {
    const int32_t item = b->top - 1;
    const dv_kind kind = (dv_kind)b->e[item].kind;
    const bool raw = dv_is_raw_number(&b->e[item]);
    if (raw)
        dv_to_slot(b, item);
    else
        dv_materialize(b, item);
    dv_spill(b, false, item); /* what is in registers is lost if there is no memory */
    dv_spill(b, true, item);
    const uint32_t op = !raw                 ? DV_OP_RL_APPEND_V
                        : kind == DV_K_FLOAT ? DV_OP_RL_APPEND_D
                                             : DV_OP_RL_APPEND_I;
    const int16_t list = dv_home(b, b->e[q].where == DV_AT_ALIAS ? b->e[q].slot : q);
    dv_point_add(b, b->cells.count, dv_exit_make(b, b->context, b->pc, false), true, false, false);
    dv_region_emit(b, op, list, raw ? b->e[item].slot : dv_home(b, item), 0);
    dv_step_count(b, true);
}

bool dv_step_may_append(dv_build *b) {
    return dv_top(b, 1)->kind < DV_K_UNSET && dv_owned(b, b->context, b->pc, b->top - 1);
}

static bool may_append(dv_build *b, int32_t q) {
    return (b->e[q].where == DV_AT_HOME || b->e[q].where == DV_AT_ALIAS) && dv_step_may_append(b);
}

uint32_t dv_step_append(dv_build *b, int32_t q, int32_t inputs, uint32_t next_pc) {
    if (!may_append(b, q)) return dv_step_embed(b, inputs, 1, next_pc);
    const bool owned = b->e[q].where == DV_AT_HOME && dv_owned(b, b->context, b->pc, q);
    const int16_t home = dv_home(b, q);
    append(b, q);
    dv_pop(b, inputs);
    if (dv_step_follows(b, next_pc, DV_OP_POP_TOP))
        next_pc += dv_step_length(b, next_pc);
    else
        dv_push_constant(b, DV_NONE);
    if (owned) {
        dv_region_emit(b, DV_OP_R_RELEASE, home, 0, 0);
        dv_step_point_after(b, next_pc);
    }
    return next_pc;
}

uint32_t dv_step_list_append(dv_build *b, uint32_t next_pc) {
    const int32_t q = dv_producer_below(b, 1 + (int32_t)dv_word_operand(b, b->pc, 0));
    if (b->e[q].kind != DV_K_LIST || !may_append(b, q)) return dv_step_embed(b, 1, 0, next_pc);
    append(b, q);
    dv_pop(b, 1);
    return next_pc;
}

/* Patterns
 * -----------------------------------------------------------------------------------------------
 */

/* A number is no sequence; of a tuple or list in a local the length is compared. */
uint32_t dv_step_match_sequence(dv_build *b, uint32_t next_pc) {
    const uint32_t n = dv_word_operand(b, b->pc, 0);
    const dv_known_value *e = dv_top(b, 1);
    container c;
    if (dv_kind_is_raw((dv_kind)e->kind) || e->kind == DV_K_COMPLEX) {
        dv_pop(b, 1);
        dv_push_constant(b, DV_FALSE);
        return next_pc;
    }
    if (dv_step_is_cold(b) || e->where != DV_AT_ALIAS || !find_container(b, b->top - 1, 0, &c) ||
        (c.kind != DV_K_LIST && c.kind != DV_K_TUPLE) || !dv_step_length_of(b, 1))
        return dv_step_embed(b, 1, 1, next_pc);
    dv_push_constant(b, dv_int(n >> 1));
    return dv_compare_entries(b, n & 1 ? DV_GE : DV_EQ, next_pc);
}

/* Length
 * -----------------------------------------------------------------------------------------------
 */

bool dv_step_length_of(dv_build *b, int32_t inputs) {
    const dv_known_value *e = dv_top(b, 1);
    dv_kind kind = (dv_kind)e->kind;
    if (!dv_kind_is_container(kind) || e->where != DV_AT_ALIAS) return false;
    uint32_t op = kind == DV_K_LIST        ? DV_OP_RL_LENGTH
                  : kind == DV_K_TUPLE     ? DV_OP_RT_LENGTH
                  : kind == DV_K_STR       ? DV_OP_RS_LENGTH
                  : kind == DV_K_BYTES     ? DV_OP_RE_LENGTH_BYTES
                  : kind == DV_K_BYTEARRAY ? DV_OP_RE_LENGTH_BYTEARRAY
                                           : DV_OP_RE_LENGTH_ARRAY;
    int32_t home = dv_home(b, e->slot);
    dv_spill(b, false, b->top);
    dv_region_emit(b, op, home, 0, 0);
    dv_pop(b, inputs);
    dv_push_known(b, DV_K_INT, DV_AT_REGISTER, 0, DV_EMPTY);
    return true;
}
