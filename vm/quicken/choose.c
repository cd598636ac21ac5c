/* choose.c: choosing derivatives of globals, subscripts, membership and iteration (choose.h). */
#include "quicken/choose.h"

#include "dv_ops.h"
#include "run/frame.h"
#include "run/operate.h"

#include "types/binary/array.h"
#include "types/mapping/dict_view.h"
#include "types/sequence/iterator.h"
#include "types/sequence/list.h"
#include "types/mapping/set.h"
#include "types/text/str.h"

/* The cell of the global that the instruction names; NULL: the site is refused. */
static dv_global_cell *global_cell(dv_vm *vm, dv_cell *ip) {
    dv_module *module = dv_frame_thread(vm->fp)->module;
    const bool in_dict = !dv_is_empty(module->dict); /* then there are no cells */
    dv_global_cell *cell = in_dict ? NULL : dv_namespace_cell(vm, &module->names, ip[2].v);
    if (cell) return cell;
    dv_error_clear(vm);
    dv_site_refuse(vm, ip, DV_REASON_NAME);
    return NULL;
}

void dv_choose_global(dv_vm *vm, dv_cell *ip, dv_value *sp) {
    (void)sp;
    bool callee = dv_site_family(vm, ip) == DV_OP_LOAD_GLOBAL_CALLEE;
    dv_cell *cache = dv_site_cache(vm, ip);
    dv_global_cell *cell = global_cell(vm, ip);
    if (!cell) return;
    cache[0].p = cell;
    if (!dv_is_empty(cell->value)) {
        dv_site_become(vm, ip, callee ? DV_OP_LOAD_GLOBAL_CALLEE_CELL : DV_OP_LOAD_GLOBAL_CELL);
        return;
    }
    dv_global_cell *builtin = dv_namespace_find(&vm->builtins, ip[2].v);
    if (!builtin || dv_is_empty(builtin->value)) {
        dv_site_refuse(vm, ip, DV_REASON_NAME);
        return;
    }
    cache[1].p = builtin;
    dv_site_become(vm, ip, callee ? DV_OP_LOAD_GLOBAL_CALLEE_BUILTIN : DV_OP_LOAD_GLOBAL_BUILTIN);
}

void dv_choose_store_global(dv_vm *vm, dv_cell *ip, dv_value *sp) {
    (void)sp;
    dv_global_cell *cell = global_cell(vm, ip);
    if (!cell) return;
    dv_site_cache(vm, ip)[0].p = cell;
    dv_site_become(vm, ip, DV_OP_STORE_GLOBAL_CELL);
}

static bool is_array_of_numbers(dv_value v) {
    return dv_is_shape(v, DV_T_ARRAY) && dv_as_array(v)->element < DV_ELEMENTS;
}

/* An object of an extension with elements along one axis. */
static bool is_buffer_of_items(const dv_vm *vm, dv_value v) {
    if (vm->extensions.plain) return false;
    const dv_buffer *b = dv_buffer_of(vm, v);
    return b && b->dimensions == 1 && b->element < DV_ELEMENTS;
}

_Static_assert(DV_OP_LOAD_SUBSCR_FLOAT64 - DV_OP_LOAD_SUBSCR_UINT8 == DV_FLOAT64 &&
                   DV_OP_STORE_SUBSCR_FLOAT64 - DV_OP_STORE_SUBSCR_UINT8 == DV_FLOAT64 &&
                   DV_OP_LOAD_SUBSCR_BUFFER_FLOAT64 - DV_OP_LOAD_SUBSCR_BUFFER_UINT8 ==
                       DV_FLOAT64 &&
                   DV_OP_STORE_SUBSCR_BUFFER_FLOAT64 - DV_OP_STORE_SUBSCR_BUFFER_UINT8 ==
                       DV_FLOAT64,
               "derivatives are in the order of elements");

/* Regions have no raw characters beyond Latin-1. */
static void note_wide(dv_cell *ip, dv_value text) {
    if (dv_as_str(text)->kind != 1) ip[1].site.seen |= DV_SEEN_OTHER;
}

void dv_choose_subscript(dv_vm *vm, dv_cell *ip, dv_value *sp) {
    dv_value container = sp[-2], index = sp[-1];
    if (dv_is_int(index) && dv_is_shape(container, DV_T_LIST)) {
        const dv_list *list = dv_as_list(container);
        int64_t i = dv_as_int(index);
        if (i < 0) i += list->count;
        if (i >= 0 && i < list->count) ip[1].site.seen |= dv_seen(list->items[i]);
        dv_site_become(vm, ip, DV_OP_LOAD_SUBSCR_LIST);
    } else if (dv_is_int(index) && dv_is_shape(container, DV_T_TUPLE)) {
        const dv_tuple *tuple = dv_as_tuple(container);
        int64_t i = dv_as_int(index);
        if (i < 0) i += tuple->count;
        if (i >= 0 && i < tuple->count) ip[1].site.seen |= dv_seen(tuple->items[i]);
        dv_site_become(vm, ip, DV_OP_LOAD_SUBSCR_TUPLE);
    } else if (dv_is_int(index) && dv_is_shape(container, DV_T_STR)) {
        note_wide(ip, container);
        dv_site_become(vm, ip, DV_OP_LOAD_SUBSCR_STR);
    } else if (dv_is_int(index) && dv_is_shape(container, DV_T_BYTES)) {
        dv_site_become(vm, ip, DV_OP_LOAD_SUBSCR_BYTES);
    } else if (dv_is_int(index) && dv_is_shape(container, DV_T_BYTEARRAY)) {
        dv_site_become(vm, ip, DV_OP_LOAD_SUBSCR_BYTEARRAY);
    } else if (dv_is_int(index) && is_array_of_numbers(container)) {
        dv_site_become(vm, ip, DV_OP_LOAD_SUBSCR_UINT8 + dv_as_array(container)->element);
    } else if (dv_is_int(index) && is_buffer_of_items(vm, container)) {
        dv_site_become(vm, ip,
                       DV_OP_LOAD_SUBSCR_BUFFER_UINT8 + dv_buffer_of(vm, container)->element);
    } else if (dv_is_shape(container, DV_T_DICT)) {
        dv_site_become(vm, ip,
                       dv_is_shape(index, DV_T_STR) ? DV_OP_LOAD_SUBSCR_DICT_TEXT
                                                    : DV_OP_LOAD_SUBSCR_DICT);
    } else if (dv_is_plain_instance(container)) {
        dv_site_meet(ip, container, index);
        dv_site_become(vm, ip, DV_OP_LOAD_SUBSCR_DL);
    } else if (dv_operate_base(vm, container, vm->known.getitem)) {
        dv_site_become(vm, ip, DV_OP_LOAD_SUBSCR_DERIVED);
    } else if (dv_is_subclass_instance(container)) {
        dv_site_become(vm, ip, DV_OP_LOAD_SUBSCR_DERIVED_DL);
    } else if (dv_operate_type(vm, container) && dv_operate_type(vm, container)->get_item &&
               !dv_is_foreign(index)) {
        dv_site_become(vm, ip, DV_OP_LOAD_SUBSCR_TYPE);
    } else {
        dv_site_refuse(vm, ip, DV_REASON_TYPES);
    }
}

/* DV_OP_COUNT: none fits. */
static uint32_t form_of_store(dv_vm *vm, dv_value container, dv_value index) {
    bool number = dv_is_int(index);
    if (number && dv_is_shape(container, DV_T_LIST)) return DV_OP_STORE_SUBSCR_LIST;
    if (number && dv_is_shape(container, DV_T_BYTEARRAY)) return DV_OP_STORE_SUBSCR_BYTEARRAY;
    if (number && is_array_of_numbers(container))
        return DV_OP_STORE_SUBSCR_UINT8 + dv_as_array(container)->element;
    if (number && is_buffer_of_items(vm, container))
        return DV_OP_STORE_SUBSCR_BUFFER_UINT8 + dv_buffer_of(vm, container)->element;
    if (dv_is_shape(container, DV_T_DICT)) return DV_OP_STORE_SUBSCR_DICT;
    if (dv_is_plain_instance(container)) return DV_OP_STORE_SUBSCR_DL;
    if (dv_operate_base(vm, container, vm->known.setitem)) return DV_OP_STORE_SUBSCR_DERIVED;
    if (dv_is_subclass_instance(container)) return DV_OP_STORE_SUBSCR_DERIVED_DL;
    const dv_type *type = dv_operate_type(vm, container);
    return type && type->set_item && !dv_is_foreign(index) ? DV_OP_STORE_SUBSCR_TYPE : DV_OP_COUNT;
}

void dv_choose_store_subscript(dv_vm *vm, dv_cell *ip, dv_value *sp) {
    uint32_t op = form_of_store(vm, sp[-2], sp[-1]);
    if (op == DV_OP_COUNT) {
        dv_site_refuse(vm, ip, DV_REASON_TYPES);
        return;
    }
    if (op == DV_OP_STORE_SUBSCR_DL)
        dv_site_meet(ip, sp[-2], sp[-1]);
    else
        ip[1].site.seen |= dv_seen(sp[-3]);
    dv_site_become(vm, ip, op);
}

/* IN becomes that form, with the jump behind it if there is one with it. */
static void become_contains(dv_vm *vm, dv_cell *ip, uint32_t form) {
    const uint32_t behind = dv_site_family(vm, ip + dv_op_infos[form].length);
    const uint32_t joined = dv_op_joined(form, behind);
    dv_site_become(vm, ip, joined == DV_OP_COUNT ? form : joined);
}

void dv_choose_contains(dv_vm *vm, dv_cell *ip, dv_value *sp) {
    dv_value item = sp[-2], container = sp[-1];
    if (dv_is_shape(item, DV_T_STR) && dv_is_shape(container, DV_T_STR))
        become_contains(vm, ip, DV_OP_IN_STR);
    else if (dv_is_shape(container, DV_T_DICT))
        become_contains(vm, ip, DV_OP_IN_DICT);
    else if ((dv_is_shape(container, DV_T_SET) || dv_is_shape(container, DV_T_FROZENSET)) &&
             !dv_is_set(item))
        become_contains(vm, ip, DV_OP_IN_SET);
    else if (dv_operate_type(vm, container) && dv_operate_type(vm, container)->contains)
        become_contains(vm, ip, DV_OP_IN_TYPE);
    else if (dv_is_plain_instance(container))
        dv_site_become(vm, ip, DV_OP_IN_DL);
    else if (dv_operate_base(vm, container, vm->known.contains))
        become_contains(vm, ip, DV_OP_IN_DERIVED);
    else if (dv_is_subclass_instance(container))
        dv_site_become(vm, ip, DV_OP_IN_DERIVED_DL);
    else
        dv_site_refuse(vm, ip, DV_REASON_TYPES);
}

/* Two items that the site saw together. */
static void note_pair(dv_cell *ip, dv_value first, dv_value second) {
    ip[1].site.items.first |= (uint8_t)dv_seen(first);
    ip[1].site.items.second |= (uint8_t)dv_seen(second);
}

/* The derivative for an iterator of a dict; DV_OP_COUNT: those of all built-in types fit. */
static uint32_t dict_walk_form(dv_cell *ip, dv_value iterator, bool unpacks) {
    const dv_dict_iterator *walk = (const dv_dict_iterator *)dv_as_object(iterator);
    if (walk->backward || (walk->part == DV_DICT_ITEMS && !unpacks)) return DV_OP_COUNT;
    const dv_dict *dict = dv_is_empty(walk->dict) ? NULL : dv_as_dict(walk->dict);
    const dv_dict_entry *entry =
        dict && walk->position < dict->used ? &dict->entries[walk->position] : NULL;
    if (entry && !dv_is_empty(entry->key)) {
        if (walk->part == DV_DICT_ITEMS)
            note_pair(ip, entry->key, entry->value);
        else
            ip[1].site.seen |= dv_seen(walk->part == DV_DICT_KEYS ? entry->key : entry->value);
    }
    return walk->part == DV_DICT_KEYS     ? DV_OP_FOR_ITER_DICT_KEYS
           : walk->part == DV_DICT_VALUES ? DV_OP_FOR_ITER_DICT_VALUES
                                          : DV_OP_FOR_ITER_DICT_ITEMS;
}

/* The type of the list or tuple that an iterator walks or has walked; DV_T_COUNT: of none. */
static uint32_t walked_type(dv_value iterator) {
    if (!dv_is_shape(iterator, DV_T_ITERATOR)) return DV_T_COUNT;
    const uint32_t type = ((const dv_iterator *)dv_as_object(iterator))->type;
    return type == DV_T_LIST || type == DV_T_TUPLE ? type : DV_T_COUNT;
}

/* Over pairs that an UNPACK_SEQUENCE takes apart; DV_OP_COUNT: over something else. */
static uint32_t form_of_pairs(dv_vm *vm, dv_cell *ip, dv_value iterator) {
    if (dv_is_shape(iterator, DV_T_ENUMERATE)) {
        const dv_enumerate *e = (const dv_enumerate *)dv_as_object(iterator);
        const dv_iterator *chars = dv_str_walk(e->iterator);
        const dv_value *item = dv_items_walk(e->iterator);
        if (chars) note_wide(ip, chars->sequence);
        if (chars) return DV_OP_FOR_ITER_ENUMERATE_STR;
        if (!item) return DV_OP_FOR_ITER_PAIR;
        note_pair(ip, dv_int(0), *item);
        return dv_list_walk(e->iterator) ? DV_OP_FOR_ITER_ENUMERATE
                                         : DV_OP_FOR_ITER_ENUMERATE_TUPLE;
    }
    if (dv_is_shape(iterator, DV_T_ZIP)) {
        const dv_many *zip = (const dv_many *)dv_as_object(iterator);
        if (zip->count != 2) return DV_OP_FOR_ITER_PAIR;
        const uint32_t left = walked_type(zip->iterators[0]),
                       right = walked_type(zip->iterators[1]);
        if (left == DV_T_COUNT || right == DV_T_COUNT) return DV_OP_FOR_ITER_PAIR;
        const dv_value *first = dv_items_walk(zip->iterators[0]),
                       *second = dv_items_walk(zip->iterators[1]);
        const bool lists = left == DV_T_LIST && right == DV_T_LIST;
        if (first && second)
            note_pair(ip, *first, *second);
        else if (lists) /* of whose items a region would know nothing */
            return DV_OP_FOR_ITER_PAIR;
        return lists ? DV_OP_FOR_ITER_ZIP : DV_OP_FOR_ITER_ZIP_ITEMS;
    }
    return vm->types[dv_as_object(iterator)->shape]->next_pair ? DV_OP_FOR_ITER_PAIR : DV_OP_COUNT;
}

/* Notes what the next item is; at the end, what the last one was. */
static void note_item(dv_cell *ip, const dv_value *items, int64_t count, int64_t next) {
    if (count > 0) ip[1].site.seen |= dv_seen(items[next < count ? next : count - 1]);
}

static uint32_t set_walk_form(dv_cell *ip, dv_value iterator) {
    const dv_set_iterator *walk = (const dv_set_iterator *)dv_as_object(iterator);
    uint64_t position = walk->position;
    const dv_set_entry *entry = dv_is_empty(walk->set) ? NULL : dv_set_walk(walk->set, &position);
    if (entry) ip[1].site.seen |= dv_seen(entry->key);
    return DV_OP_FOR_ITER_SET;
}

static uint32_t reversed_walk_form(dv_cell *ip, dv_value iterator) {
    const dv_value *item = dv_list_reversed_item((const dv_pair_iterator *)dv_as_object(iterator));
    if (!item) return DV_OP_COUNT;
    ip[1].site.seen |= dv_seen(*item);
    return DV_OP_FOR_ITER_REVERSED;
}

static void note_part(dv_cell *ip, int64_t i, dv_value item) {
    const unsigned part = dv_is_int(item)     ? DV_PART_INT
                          : dv_is_float(item) ? DV_PART_FLOAT
                                              : DV_PART_OTHER;
    ip[1].site.seen |= (uint16_t)(part << 2 * i);
}

/* Over a list of tuples of n, or a zip of n lists, that an UNPACK_SEQUENCE takes apart;
 * DV_OP_COUNT: over something else. */
static uint32_t form_of_parts(dv_cell *ip, dv_value iterator, int64_t n) {
    const dv_tuple *row = dv_row_walk(iterator, n);
    const dv_many *zip = dv_is_shape(iterator, DV_T_ZIP) ? dv_as_many(iterator) : NULL;
    if (row && n == 2) {
        note_pair(ip, row->items[0], row->items[1]);
        return DV_OP_FOR_ITER_ROWS;
    }
    if (n < 3 || n > DV_MOST_PARTS || (!row && (!zip || !dv_zip_walks_lists(zip, n))))
        return DV_OP_COUNT;
    for (int64_t i = 0; i < n; i++) note_part(ip, i, row ? row->items[i] : dv_zip_item(zip, i));
    return row ? DV_OP_FOR_ITER_LONG_ROWS : DV_OP_FOR_ITER_LONG_ZIP;
}

/* Over a list, tuple or str; DV_OP_COUNT: over another sequence.  Notes what its next item is. */
static uint32_t form_of_walk(dv_vm *vm, dv_cell *ip, const dv_iterator *walk, bool stores) {
    if (dv_is_shape(walk->sequence, DV_T_LIST)) {
        const dv_list *list = dv_as_list(walk->sequence);
        note_item(ip, list->items, list->count, walk->next);
        return stores ? DV_OP_FOR_ITER_LIST_STORE : DV_OP_FOR_ITER_LIST;
    }
    if (dv_is_shape(walk->sequence, DV_T_TUPLE)) {
        const dv_tuple *tuple = dv_as_tuple(walk->sequence);
        note_item(ip, tuple->items, tuple->count, walk->next);
        return stores ? DV_OP_FOR_ITER_TUPLE_STORE : DV_OP_FOR_ITER_TUPLE;
    }
    if (dv_is_shape(walk->sequence, DV_T_ARRAY)) {
        const dv_array_kind *kind = dv_as_array(walk->sequence)->kind;
        ip[1].site.seen |= kind->code == 'u' ? DV_SEEN_STR
                           : kind->is_float  ? DV_SEEN_FLOAT
                                             : DV_SEEN_INT;
        return DV_OP_FOR_ITER_ARRAY;
    }
    if (dv_is_shape(walk->sequence, DV_T_BYTES) || dv_is_shape(walk->sequence, DV_T_BYTEARRAY)) {
        ip[1].site.seen |= DV_SEEN_INT;
        return DV_OP_FOR_ITER_BYTES;
    }
    if (dv_is_shape(walk->sequence, DV_T_STR)) {
        note_wide(ip, walk->sequence);
        return stores ? DV_OP_FOR_ITER_STR_STORE : DV_OP_FOR_ITER_STR;
    }
    const bool floats = dv_has_items(vm, walk->sequence, DV_FLOAT64);
    if (vm->extensions.plain || (!floats && !dv_has_items(vm, walk->sequence, DV_INT64)))
        return DV_OP_COUNT;
    ip[1].site.seen |= floats ? DV_SEEN_FLOAT : DV_SEEN_INT;
    return DV_OP_FOR_ITER_BUFFER;
}

/* The derivative for an iterator of a built-in type with what is behind the FOR_ITER. */
static uint32_t form_of_iteration(dv_vm *vm, dv_cell *ip, dv_value iterator) {
    const dv_cell *behind = ip + dv_op_infos[DV_OP_FOR_ITER].length;
    uint32_t after = dv_op_of(vm, behind->h), op = DV_OP_COUNT;
    const int64_t parts = after == DV_OP_UNPACK_SEQUENCE ? behind[1].i : 0;
    bool unpacks = parts == 2;
    bool stores = after == DV_OP_STORE_LOCAL;
    if (dv_is_shape(iterator, DV_T_RANGE_ITERATOR)) {
        ip[1].site.seen |= dv_seen(dv_int(0));
        return stores ? DV_OP_FOR_ITER_RANGE_STORE : DV_OP_FOR_ITER_RANGE;
    }
    if (dv_is_shape(iterator, DV_T_GENERATOR)) return DV_OP_FOR_ITER_GENERATOR;
    if (dv_is_shape(iterator, DV_T_SET_ITERATOR)) return set_walk_form(ip, iterator);
    if (dv_is_shape(iterator, DV_T_REVERSED)) op = reversed_walk_form(ip, iterator);
    if (parts >= 2) op = form_of_parts(ip, iterator, parts);
    if (op == DV_OP_COUNT && dv_is_shape(iterator, DV_T_ITERATOR))
        op = form_of_walk(vm, ip, (const dv_iterator *)dv_as_object(iterator), stores);
    if (dv_is_shape(iterator, DV_T_DICT_ITERATOR)) op = dict_walk_form(ip, iterator, unpacks);
    if (op == DV_OP_COUNT && unpacks) op = form_of_pairs(vm, ip, iterator);
    if (op != DV_OP_COUNT) return op;
    const dv_type *type = vm->types[dv_as_object(iterator)->shape];
    return type->next ? DV_OP_FOR_ITER_NEXT : DV_OP_COUNT;
}

void dv_choose_iteration(dv_vm *vm, dv_cell *ip, dv_value *sp) {
    bool plain = dv_is_object(sp[-1]) && dv_as_object(sp[-1])->shape < DV_T_COUNT;
    uint32_t op = plain ? form_of_iteration(vm, ip, sp[-1]) : DV_OP_COUNT;
    if (dv_is_plain_instance(sp[-1])) op = DV_OP_FOR_ITER_DL;
    if (op != DV_OP_COUNT)
        dv_site_become(vm, ip, op);
    else
        dv_site_refuse(vm, ip, DV_REASON_TYPES);
}
