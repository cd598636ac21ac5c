/* choose_data.c: choosing derivatives of truth tests, slices, iterators and generators (choose.h).
 */
#include "dv_ops.h"
#include "quicken/choose.h"

#include "core/shape.h"
#include "run/operate.h"
#include "types/binary/buffer.h"
#include "types/callable/generator.h"
#include "types/mapping/key.h"
#include "types/number/range.h"

/* The derivatives of a family by what is tested. */
typedef struct truth_forms {
    uint32_t of_bool, of_int, of_float, of_str, of_list, of_tuple, of_dict, of_set, of_type,
        of_instance;
} truth_forms;

static const truth_forms forms[] = {
    {DV_OP_JUMP_IF_FALSE_BOOL, DV_OP_JUMP_IF_FALSE_INT, DV_OP_JUMP_IF_FALSE_FLOAT,
     DV_OP_JUMP_IF_FALSE_STR, DV_OP_JUMP_IF_FALSE_LIST, DV_OP_JUMP_IF_FALSE_TUPLE,
     DV_OP_JUMP_IF_FALSE_DICT, DV_OP_JUMP_IF_FALSE_SET, DV_OP_JUMP_IF_FALSE_TYPE,
     DV_OP_JUMP_IF_FALSE_INSTANCE},
    {DV_OP_JUMP_IF_TRUE_BOOL, DV_OP_JUMP_IF_TRUE_INT, DV_OP_JUMP_IF_TRUE_FLOAT,
     DV_OP_JUMP_IF_TRUE_STR, DV_OP_JUMP_IF_TRUE_LIST, DV_OP_JUMP_IF_TRUE_TUPLE,
     DV_OP_JUMP_IF_TRUE_DICT, DV_OP_JUMP_IF_TRUE_SET, DV_OP_JUMP_IF_TRUE_TYPE,
     DV_OP_JUMP_IF_TRUE_INSTANCE},
};

/* Any other object of which a built-in type says alone whether it is true. */
static bool is_plainly_true(dv_vm *vm, dv_value v) {
    const dv_type *type = dv_operate_truth_type(vm, v);
    return type && (type == dv_behaviour_of(vm, v) || dv_is_subclass_instance(v));
}

static uint32_t truth_form(dv_vm *vm, const truth_forms *f, dv_value v) {
    if (dv_is_bool(v)) return f->of_bool;
    if (dv_is_int(v)) return f->of_int;
    if (dv_is_float(v)) return f->of_float;
    /* All forms know None; where it is met first, instances are what is most likely to come. */
    if (dv_is_none(v) || dv_is_plain_instance(v)) return f->of_instance;
    switch (dv_is_object(v) ? dv_as_object(v)->shape : DV_T_COUNT) {
    case DV_T_STR: return f->of_str;
    case DV_T_LIST: return f->of_list;
    case DV_T_TUPLE: return f->of_tuple;
    case DV_T_DICT: return f->of_dict;
    case DV_T_SET: return f->of_set;
    default: return is_plainly_true(vm, v) ? f->of_type : DV_OP_COUNT;
    }
}

void dv_choose_truth(dv_vm *vm, dv_cell *ip, dv_value *sp) {
    dv_value v = sp[-1];
    const truth_forms *f = &forms[dv_site_family(vm, ip) == DV_OP_JUMP_IF_TRUE];
    uint32_t op = truth_form(vm, f, v);
    if (op == DV_OP_COUNT)
        dv_site_unsuitable(vm, ip);
    else
        dv_site_become(vm, ip, op);
}

/* The derivative that does the work of the subscript behind the slice, too. */
static uint32_t slice_form(dv_vm *vm, const dv_cell *behind) {
    switch (dv_site_family(vm, behind)) {
    case DV_OP_LOAD_SUBSCR: return DV_OP_BUILD_SLICE_LOAD_SUBSCR;
    case DV_OP_STORE_SUBSCR: return DV_OP_BUILD_SLICE_STORE_SUBSCR;
    case DV_OP_DELETE_SUBSCR: return DV_OP_BUILD_SLICE_DELETE_SUBSCR;
    default: return DV_OP_COUNT;
    }
}

void dv_choose_slice(dv_vm *vm, dv_cell *ip, dv_value *sp) {
    int64_t n = ip[2].i;
    const dv_value *parts = sp - n;
    dv_cell *behind = ip + dv_op_infos[DV_OP_BUILD_SLICE].length;
    uint32_t op = slice_form(vm, behind);
    bool plain = dv_is_index_part(parts[0]) && dv_is_index_part(parts[1]) &&
                 (n == 2 || dv_is_index_part(parts[2]));
    if (op == DV_OP_COUNT || !plain || !dv_slice_suits(parts[-1])) {
        dv_site_unsuitable(vm, ip);
        return;
    }
    dv_site_covered(vm, behind);
    dv_site_become(vm, ip, op);
}

_Static_assert(DV_OP_BUILD_KEY_LOAD_FLOAT64 - DV_OP_BUILD_KEY_LOAD_UINT8 == DV_FLOAT64 &&
                   DV_OP_BUILD_KEY_STORE_FLOAT64 - DV_OP_BUILD_KEY_STORE_UINT8 == DV_FLOAT64,
               "derivatives are in the order of elements");

/* The derivative that does the work of the subscript behind the key, too; DV_OP_COUNT: none. */
static uint32_t key_form(dv_vm *vm, const dv_cell *behind, const dv_value *indices, int64_t n) {
    if (vm->extensions.plain) return DV_OP_COUNT;
    const dv_buffer *b = dv_buffer_of(vm, indices[-1]);
    if (!b || b->element >= DV_ELEMENTS || !dv_items_along(vm, indices[-1], b->element, n))
        return DV_OP_COUNT;
    for (int64_t i = 0; i < n; i++)
        if (!dv_is_int(indices[i])) return DV_OP_COUNT;
    switch (dv_site_family(vm, behind)) { /* (in regions it may be something else) */
    case DV_OP_LOAD_SUBSCR: return DV_OP_BUILD_KEY_LOAD_UINT8 + b->element;
    case DV_OP_STORE_SUBSCR: return DV_OP_BUILD_KEY_STORE_UINT8 + b->element;
    default: return DV_OP_COUNT;
    }
}

void dv_choose_key(dv_vm *vm, dv_cell *ip, dv_value *sp) {
    const int64_t n = ip[2].i;
    const dv_value *indices = sp - n;
    dv_cell *behind = ip + dv_op_infos[DV_OP_BUILD_KEY].length;
    const bool is_place = dv_is_shape(indices[-1], DV_T_DICT) &&
                          dv_dict_find_items(vm, dv_as_dict(indices[-1]), indices, n) >= 0;
    const uint32_t family = dv_site_family(vm, behind);
    if (is_place && (family == DV_OP_LOAD_SUBSCR || family == DV_OP_STORE_SUBSCR)) {
        dv_site_covered(vm, behind);
        dv_site_become(vm, ip,
                       family == DV_OP_LOAD_SUBSCR ? DV_OP_BUILD_KEY_LOAD_DICT
                                                   : DV_OP_BUILD_KEY_STORE_DICT);
        return;
    }
    if (!dv_is_foreign(indices[-1])) {
        dv_site_become(vm, ip, DV_OP_BUILD_KEY_TUPLE);
        return;
    }
    const uint32_t op = key_form(vm, behind, indices, n);
    if (op == DV_OP_COUNT) {
        dv_site_unsuitable(vm, ip);
        return;
    }
    if (op >= DV_OP_BUILD_KEY_STORE_UINT8) ip[1].site.seen |= dv_seen(indices[-2]);
    dv_site_covered(vm, behind);
    dv_site_become(vm, ip, op);
}

void dv_choose_get_iter(dv_vm *vm, dv_cell *ip, dv_value *sp) {
    dv_value v = sp[-1];
    uint32_t shape = dv_is_object(v) ? dv_as_object(v)->shape : DV_T_COUNT;
    if (dv_is_plain_instance(v))
        dv_site_become(vm, ip, DV_OP_GET_ITER_DL);
    else if (shape < DV_T_COUNT && (vm->types[shape]->iterate || vm->types[shape]->next))
        dv_site_become(vm, ip,
                       dv_is_shape(v, DV_T_LIST) || dv_is_shape(v, DV_T_TUPLE)
                           ? DV_OP_GET_ITER_SEQUENCE
                           : DV_OP_GET_ITER_TYPE);
    else
        dv_site_unsuitable(vm, ip);
}

void dv_choose_send(dv_vm *vm, dv_cell *ip, dv_value *sp) {
    const dv_type *type = dv_operate_type(vm, sp[-2]);
    if (dv_is_generator(sp[-2]))
        dv_site_become(vm, ip, DV_OP_SEND_GENERATOR);
    else if (type && type->next && dv_is_none(sp[-1]))
        dv_site_become(vm, ip, DV_OP_SEND_NEXT);
    else
        dv_site_refuse(vm, ip, DV_REASON_TYPES);
}
