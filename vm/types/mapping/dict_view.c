/* dict_view.c: keys(), values() and items() of dicts, and their iterators. */
#include "types/mapping/dict_view.h"

#include "core/upcall.h"
#include "core/work.h"
#include "types/mapping/mapping_proxy.h"
#include "types/sequence/sequence.h"
#include "types/mapping/set.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

static dv_dict_view *as_view(dv_value v) { return (dv_dict_view *)dv_as_object(v); }
static dv_dict_iterator *as_iterator(dv_value v) { return (dv_dict_iterator *)dv_as_object(v); }

/* Messages tell instances of OrderedDict from other dicts. */
static bool is_ordered(const dv_vm *vm, dv_value dict) {
    return dv_is_instance(dict) &&
           dv_shape_at(vm, dv_as_object(dict)->shape)->class_->flags & DV_CLASS_ORDERED;
}

static dv_type_id iterator_face(dv_value self) {
    const dv_dict_iterator *iterator = as_iterator(self);
    int first = iterator->backward ? DV_T_DICT_REVERSE_KEY_ITERATOR : DV_T_DICT_KEY_ITERATOR;
    return (dv_type_id)(first + (int)iterator->part);
}

static dv_type_id view_face(dv_value self) {
    return (dv_type_id)(DV_T_DICT_KEYS + (int)as_view(self)->part);
}

/* ---- Iterators ---------------------------------------------------------------------------------
 */

dv_value dv_dict_iterator_new(dv_vm *vm, dv_value dict, dv_dict_part part) {
    dv_dict_iterator *iterator = dv_container_new(vm, sizeof(dv_dict_iterator), DV_T_DICT_ITERATOR);
    if (!iterator) return DV_EMPTY;
    iterator->dict = dv_retain(dict);
    iterator->position = 0;
    iterator->count = iterator->remaining = dv_as_dict(dict)->count;
    iterator->part = part;
    iterator->backward = false;
    return dv_object_value(iterator);
}

dv_value dv_dict_reversed(dv_vm *vm, dv_value dict, dv_dict_part part) {
    dv_value result = dv_dict_iterator_new(vm, dict, part);
    if (dv_is_empty(result)) return DV_EMPTY;
    as_iterator(result)->backward = true;
    as_iterator(result)->position = dv_as_dict(dict)->used;
    return result;
}

static void iterator_release(dv_vm *vm, dv_object *object) {
    dv_release(vm, ((dv_dict_iterator *)object)->dict);
    dv_container_free(vm, object, sizeof(dv_dict_iterator));
}

static void iterator_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    visit(vm, ((const dv_dict_iterator *)object)->dict, context);
}

static void exhaust(dv_vm *vm, dv_dict_iterator *iterator) {
    dv_value dict = iterator->dict;
    iterator->dict = DV_EMPTY;
    dv_release(vm, dict);
}

static dv_value part_of(dv_vm *vm, dv_dict_part part, dv_value key, dv_value value) {
    if (part == DV_DICT_KEYS) return dv_retain(key);
    if (part == DV_DICT_VALUES) return dv_retain(value);
    return dv_tuple_new(vm, (dv_value[]){key, value}, 2);
}

/* The next entry, borrowed; false: there is none, or an exception. */
static inline bool next_entry(dv_vm *vm, dv_dict_iterator *iterator, dv_value *key,
                              dv_value *value) {
    if (dv_is_empty(iterator->dict)) return false;
    if (DV_UNLIKELY(iterator->count != dv_as_dict(iterator->dict)->count)) {
        iterator->count = -1; /* and it stays so */
        dv_raise(vm, DV_E_RUNTIME_ERROR,
                 is_ordered(vm, iterator->dict) ? "OrderedDict mutated during iteration"
                                                : "dictionary changed size during iteration");
        return false;
    }
    const int64_t before = iterator->position;
    bool more = iterator->backward
                    ? dv_dict_walk_back(iterator->dict, &iterator->position, key, value)
                    : dv_dict_walk(iterator->dict, &iterator->position, key, value);
    if (!more) {
        exhaust(vm, iterator);
        return false;
    }
    const int64_t passed =
        iterator->backward ? before - iterator->position : iterator->position - before;
    if (DV_UNLIKELY(passed > 64)) dv_work_owe(vm, passed / 8); /* entries without a key */
    if (DV_UNLIKELY(iterator->remaining == 0)) {
        exhaust(vm, iterator);
        dv_raise(vm, DV_E_RUNTIME_ERROR, "dictionary keys changed during iteration");
        return false;
    }
    iterator->remaining--;
    return true;
}

static dv_value iterator_next(dv_vm *vm, dv_value self) {
    dv_dict_iterator *iterator = as_iterator(self);
    dv_value key, value;
    if (!next_entry(vm, iterator, &key, &value)) return DV_EMPTY;
    if (iterator->part == DV_DICT_ITEMS) dv_work_owe(vm, 3); /* a tuple */
    return part_of(vm, iterator->part, key, value);
}

static int iterator_next_pair(dv_vm *vm, dv_value self, dv_value *out) {
    dv_dict_iterator *iterator = as_iterator(self);
    if (iterator->part != DV_DICT_ITEMS) return -1;
    if (!next_entry(vm, iterator, &out[0], &out[1])) return 0;
    dv_retain(out[0]);
    dv_retain(out[1]);
    return 1;
}

static dv_value iterator_self(dv_vm *vm, dv_value self) {
    (void)vm;
    return dv_retain(self);
}

static dv_value iterator_hint(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)vm, (void)count;
    const dv_dict_iterator *iterator = as_iterator(args[0]);
    bool valid =
        !dv_is_empty(iterator->dict) && iterator->count == dv_as_dict(iterator->dict)->count;
    return dv_int(valid ? iterator->remaining : 0);
}

static const dv_cfunction_def iterator_methods[] = {
    {.name = "__length_hint__", .entry = iterator_hint, .min = 1, .max = 1}, {.name = NULL}};

#define ITERATOR_SLOTS                                                                 \
    .face = iterator_face, .release = iterator_release, .traverse = iterator_traverse, \
    .iterate = iterator_self, .next = iterator_next, .next_pair = iterator_next_pair,  \
    .methods = iterator_methods

const dv_type dv_dict_iterator_type = {
    .name = "dict_iterator", .id = DV_T_DICT_ITERATOR, ITERATOR_SLOTS};

const dv_type dv_dict_iterator_faces[6] = {
    {.name = "dict_keyiterator", .id = DV_T_DICT_KEY_ITERATOR, ITERATOR_SLOTS},
    {.name = "dict_valueiterator", .id = DV_T_DICT_VALUE_ITERATOR, ITERATOR_SLOTS},
    {.name = "dict_itemiterator", .id = DV_T_DICT_ITEM_ITERATOR, ITERATOR_SLOTS},
    {.name = "dict_reversekeyiterator", .id = DV_T_DICT_REVERSE_KEY_ITERATOR, ITERATOR_SLOTS},
    {.name = "dict_reversevalueiterator", .id = DV_T_DICT_REVERSE_VALUE_ITERATOR, ITERATOR_SLOTS},
    {.name = "dict_reverseitemiterator", .id = DV_T_DICT_REVERSE_ITEM_ITERATOR, ITERATOR_SLOTS},
};

/* ---- Views -------------------------------------------------------------------------------------
 */

dv_value dv_dict_view_new(dv_vm *vm, dv_value dict, dv_dict_part part) {
    dv_dict_view *view = dv_container_new(vm, sizeof(dv_dict_view), DV_T_DICT_VIEW);
    if (!view) return DV_EMPTY;
    view->dict = dv_retain(dict);
    view->part = part;
    return dv_object_value(view);
}

static void view_release(dv_vm *vm, dv_object *object) {
    dv_release(vm, ((dv_dict_view *)object)->dict);
    dv_container_free(vm, object, sizeof(dv_dict_view));
}

static void view_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    visit(vm, ((const dv_dict_view *)object)->dict, context);
}

static int64_t view_length(dv_vm *vm, dv_value self) {
    (void)vm;
    return dv_as_dict(as_view(self)->dict)->count;
}

static dv_value view_iterate(dv_vm *vm, dv_value self) {
    return dv_dict_iterator_new(vm, as_view(self)->dict, as_view(self)->part);
}

/* All items as a list, as CPython prints them. */
static dv_value view_items(dv_vm *vm, dv_value self) {
    dv_items items;
    if (!dv_items_collect(vm, self, &items)) return DV_EMPTY;
    dv_value tuple = dv_tuple_take(vm, items.data, items.count);
    items.count = 0;
    dv_items_discard(vm, &items);
    return tuple;
}

static dv_value view_repr(dv_vm *vm, dv_value self) {
    static const char *const begins[] = {"odict_keys([", "odict_values([", "odict_items(["};
    struct dv_repr_guard guard;
    if (!dv_repr_enter(vm, &guard, self)) return dv_str_z(vm, "...");
    dv_value items = view_items(vm, self), result = DV_EMPTY;
    if (!dv_is_empty(items)) {
        const char *begin = begins[as_view(self)->part] + !is_ordered(vm, as_view(self)->dict);
        result = dv_items_repr(vm, items, begin, "])", "...");
        dv_release(vm, items);
    }
    dv_repr_leave(vm);
    return result;
}

static int items_contain(dv_vm *vm, dv_value dict, dv_value item) {
    if (!dv_is_tuple(item) || dv_as_tuple(item)->count != 2) return 0;
    dv_value value = dv_dict_get(vm, dict, dv_as_tuple(item)->items[0]);
    if (dv_is_empty(value)) return dv_is_empty(vm->error) ? 0 : -1;
    return dv_items_equal(vm, value, dv_as_tuple(item)->items[1]);
}

static int values_contain(dv_vm *vm, dv_value dict, dv_value item) {
    int64_t position = 0;
    dv_value key, value;
    while (dv_dict_walk(dict, &position, &key, &value)) {
        int equal = dv_work(vm, 1) ? dv_items_equal(vm, value, item) : -1;
        if (equal) return equal;
    }
    return 0;
}

static int view_contains(dv_vm *vm, dv_value self, dv_value item) {
    dv_value dict = as_view(self)->dict;
    if (as_view(self)->part == DV_DICT_ITEMS) return items_contain(vm, dict, item);
    if (as_view(self)->part == DV_DICT_VALUES) return values_contain(vm, dict, item);
    if (!dv_is_empty(dv_dict_get(vm, dict, item))) return 1;
    return dv_is_empty(vm->error) ? 0 : -1;
}

/* Are all items of a in b?  1, 0, -1. */
static int all_contained(dv_vm *vm, dv_value a, dv_value b) {
    dv_value iterator = dv_iterate(vm, a);
    if (dv_is_empty(iterator)) return -1;
    int contained = 1;
    while (contained == 1) {
        dv_value item = dv_next(vm, iterator);
        if (dv_is_empty(item)) break;
        contained = dv_contains(vm, b, item);
        dv_release(vm, item);
    }
    dv_release(vm, iterator);
    return dv_is_empty(vm->error) ? contained : -1;
}

/* A view of keys or items: it compares and computes like a set. */
static bool is_set_like(dv_value v) {
    return dv_is_shape(v, DV_T_DICT_VIEW) && as_view(v)->part != DV_DICT_VALUES;
}

static dv_value compare_sets(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    int64_t count_a = dv_length(vm, a), count_b = dv_length(vm, b);
    bool possible, swap = op == DV_GT || op == DV_GE;
    switch (op) {
    case DV_LT: possible = count_a < count_b; break;
    case DV_LE: possible = count_a <= count_b; break;
    case DV_GT: possible = count_a > count_b; break;
    case DV_GE: possible = count_a >= count_b; break;
    default: possible = count_a == count_b;
    }
    int contained = 0;
    if (possible) contained = swap ? all_contained(vm, b, a) : all_contained(vm, a, b);
    return contained < 0 ? DV_EMPTY : dv_bool((contained == 1) == (op != DV_NE));
}

static dv_value view_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    if (is_set_like(a) && (is_set_like(b) || dv_is_any_set(b))) return compare_sets(vm, op, a, b);
    return DV_NOTIMPLEMENTED;
}

/* The view's items as a set; any iterable may stand in the view's place. */
static dv_value to_set(dv_vm *vm, dv_value v) {
    bool keys = dv_is_shape(v, DV_T_DICT_VIEW) && as_view(v)->part == DV_DICT_KEYS;
    return dv_set_from(vm, DV_T_SET, keys ? as_view(v)->dict : v);
}

/* Adds the items of an iterable that the view has. */
static bool add_common(dv_vm *vm, dv_value set, dv_value view, dv_value iterable) {
    dv_value iterator = dv_iterate(vm, iterable);
    if (dv_is_empty(iterator)) return false;
    bool good = true;
    while (good) {
        dv_value item = dv_next(vm, iterator);
        if (dv_is_empty(item)) break;
        int there = view_contains(vm, view, item);
        good = there >= 0 && (!there || dv_set_add(vm, set, item));
        dv_release(vm, item);
    }
    dv_release(vm, iterator);
    return good && dv_is_empty(vm->error);
}

/* Which operand is walked decides the order, as in CPython. */
static dv_value intersect(dv_vm *vm, dv_value view, dv_value other) {
    if (!is_set_like(view)) {
        dv_value swapped = view;
        view = other;
        other = swapped;
    }
    if (dv_is_set(other) && view_length(vm, view) <= dv_as_set(other)->used)
        return dv_set_intersection(vm, other, view);
    if (is_set_like(other) && view_length(vm, other) > view_length(vm, view)) {
        dv_value swapped = view;
        view = other;
        other = swapped;
    }
    dv_value result = dv_set_new(vm);
    if (dv_is_empty(result) || add_common(vm, result, view, other)) return result;
    dv_release(vm, result);
    return DV_EMPTY;
}

/* Takes a pair out of `rest` (a dict) or else adds it to the set. */
static bool toggle_pair(dv_vm *vm, dv_value set, dv_value rest, dv_value key, dv_value value) {
    dv_value found = dv_retain(dv_dict_get(vm, rest, key));
    int equal = dv_is_empty(found) ? 0 : dv_items_equal(vm, found, value);
    dv_release(vm, found);
    if (equal < 0 || !dv_is_empty(vm->error)) return false;
    if (equal) return dv_dict_delete(vm, rest, key) >= 0;
    dv_value pair = dv_tuple_new(vm, (dv_value[]){key, value}, 2);
    bool good = !dv_is_empty(pair) && dv_set_add(vm, set, pair);
    dv_release(vm, pair);
    return good;
}

static bool toggle_pairs(dv_vm *vm, dv_value set, dv_value rest, dv_value dict) {
    int64_t position = 0;
    dv_value key, value;
    while (dv_dict_walk(dict, &position, &key, &value)) {
        dv_retain(key);
        dv_retain(value);
        bool good = toggle_pair(vm, set, rest, key, value);
        dv_release(vm, key);
        dv_release(vm, value);
        if (!good) return false;
    }
    dv_value pairs = dv_dict_view_new(vm, rest, DV_DICT_ITEMS);
    bool good = !dv_is_empty(pairs) && dv_set_update(vm, set, pairs);
    dv_release(vm, pairs);
    return good;
}

/* items() ^ items(): values that are in both need not be hashable. */
static dv_value items_xor(dv_vm *vm, dv_value a, dv_value b) {
    dv_value rest = dv_dict_copy(vm, as_view(a)->dict), result = DV_EMPTY;
    if (dv_is_empty(rest)) return DV_EMPTY;
    result = dv_set_new(vm);
    if (!dv_is_empty(result) && !toggle_pairs(vm, result, rest, as_view(b)->dict)) {
        dv_release(vm, result);
        result = DV_EMPTY;
    }
    dv_release(vm, rest);
    return result;
}

static bool is_items(dv_value v) {
    return dv_is_shape(v, DV_T_DICT_VIEW) && as_view(v)->part == DV_DICT_ITEMS;
}

static dv_value view_binary(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    if (!is_set_like(a) && !is_set_like(b)) return DV_NOTIMPLEMENTED;
    if (op != DV_BINARY_OR && op != DV_BINARY_AND && op != DV_BINARY_SUB && op != DV_BINARY_XOR)
        return DV_NOTIMPLEMENTED;
    if (op == DV_BINARY_AND) return intersect(vm, a, b);
    if (op == DV_BINARY_XOR && is_items(a) && is_items(b)) return items_xor(vm, a, b);
    dv_value result = to_set(vm, a);
    if (dv_is_empty(result)) return DV_EMPTY;
    bool good = op == DV_BINARY_OR    ? dv_set_update(vm, result, b)
                : op == DV_BINARY_SUB ? dv_set_difference_update(vm, result, b)
                                      : dv_set_symmetric_difference_update(vm, result, b);
    if (good) return result;
    dv_release(vm, result);
    return DV_EMPTY;
}

static bool view_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    if (as_view(self)->part == DV_DICT_VALUES) {
        *hash = (int64_t)((uintptr_t)dv_as_object(self) >> 4);
        return true;
    }
    dv_raise(vm, DV_E_TYPE_ERROR, "unhashable type: '%T'", self);
    return false;
}

static dv_value view_isdisjoint(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value self = args[0], other = args[1];
    if (dv_same(self, other)) return dv_bool(view_length(vm, self) == 0);
    bool sized = dv_is_any_set(other) || is_set_like(other);
    if (sized && dv_length(vm, other) > view_length(vm, self)) {
        self = args[1];
        other = args[0];
    }
    dv_value iterator = dv_iterate(vm, other);
    if (dv_is_empty(iterator)) return DV_EMPTY;
    int contained = 0;
    while (contained == 0) {
        dv_value item = dv_next(vm, iterator);
        if (dv_is_empty(item)) break;
        contained = dv_contains(vm, self, item);
        dv_release(vm, item);
    }
    dv_release(vm, iterator);
    return dv_is_empty(vm->error) && contained >= 0 ? dv_bool(!contained) : DV_EMPTY;
}

static dv_value view_reversed(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_dict_view *view = as_view(args[0]);
    return dv_dict_reversed(vm, view->dict, view->part);
}

/* view.mapping is a read-only view of the dict. */
static dv_value view_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    if (!dv_str_is(name, "mapping")) return DV_EMPTY;
    return dv_mapping_proxy_new(vm, as_view(self)->dict);
}

#define REVERSED_METHOD \
    { .name = "__reversed__", .entry = view_reversed, .min = 1, .max = 1 }

static const dv_cfunction_def set_view_methods[] = {
    {.name = "isdisjoint", .entry = view_isdisjoint, .min = 2, .max = 2},
    REVERSED_METHOD,
    {.name = NULL},
};

static const dv_cfunction_def values_methods[] = {
    REVERSED_METHOD,
    {.name = NULL},
};

#define VIEW_SLOTS                                                                            \
    .face = view_face, .release = view_release, .traverse = view_traverse, .repr = view_repr, \
    .hash = view_hash, .compare = view_compare, .binary = view_binary, .length = view_length, \
    .contains = view_contains, .iterate = view_iterate, .get_attribute = view_get_attribute

const dv_type dv_dict_view_type = {.name = "dict_view", .id = DV_T_DICT_VIEW, VIEW_SLOTS};

const dv_type dv_dict_view_faces[3] = {
    {.name = "dict_keys", .id = DV_T_DICT_KEYS, VIEW_SLOTS, .methods = set_view_methods},
    {.name = "dict_values", .id = DV_T_DICT_VALUES, VIEW_SLOTS, .methods = values_methods},
    {.name = "dict_items", .id = DV_T_DICT_ITEMS, VIEW_SLOTS, .methods = set_view_methods},
};
