/* iterators.c: zip, map, filter, reversed, and iter(callable, sentinel).
 *
 * Invariant 1: an exhausted iterator has dropped what it iterates over and stays exhausted. */
#include "builtins/builtins.h"

#include "core/work.h"
#include "types/callable/arguments.h"
#include "types/class/class.h"
#include "types/mapping/dict.h"
#include "types/class/instance.h"
#include "types/sequence/iterator.h"
#include "types/sequence/list.h"
#include "types/number/range.h"
#include "types/text/str.h"
#include "types/class/subclass.h"
#include "types/sequence/tuple.h"

typedef dv_many many;

typedef dv_pair_iterator pair;

static dv_value self_iterate(dv_vm *vm, dv_value self) {
    (void)vm;
    return dv_retain(self);
}

/* zip and map -----------------------------------------------------------------------------------
 */

static size_t many_size(uint32_t count) { return sizeof(many) + count * sizeof(dv_value); }

static void many_release(dv_vm *vm, dv_object *object) {
    many *m = (many *)object;
    for (uint32_t i = 0; i < m->count; i++) dv_release(vm, m->iterators[i]);
    dv_release(vm, m->function);
    dv_base_free(vm, object, many_size(m->count));
}

static void many_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const many *m = (const many *)object;
    visit(vm, m->function, context);
    for (uint32_t i = 0; i < m->count; i++) visit(vm, m->iterators[i], context);
}

static dv_value many_new(dv_vm *vm, dv_type_id type, dv_value function, const dv_value *args,
                         uint32_t count) {
    many *m = dv_container_new(vm, many_size(count), type);
    if (!m) return DV_EMPTY;
    m->function = dv_retain(function);
    m->strict = false;
    m->count = count;
    for (uint32_t i = 0; i < count; i++) m->iterators[i] = DV_EMPTY;
    for (uint32_t i = 0; i < count; i++) {
        m->iterators[i] = dv_iterate(vm, args[i]);
        if (!dv_is_empty(m->iterators[i])) continue;
        dv_release_object(vm, &m->header);
        return DV_EMPTY;
    }
    return dv_object_value(m);
}

static dv_value many_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    uint32_t count = ((const many *)dv_as_object(exact))->count;
    return dv_subclass_share(vm, class_, exact, many_size(count));
}

static dv_value zip_construct(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"strict", NULL};
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    if (named > 1)
        return dv_raise(vm, DV_E_TYPE_ERROR, "zip() takes at most 1 keyword argument (%u given)",
                        named);
    if (!dv_check_keywords(vm, keywords, names, "zip")) return DV_EMPTY;
    dv_value strict = dv_keyword_argument(args, count - named, keywords, "strict");
    int is_strict = dv_is_empty(strict) ? 0 : dv_truth(vm, strict);
    if (is_strict < 0) return DV_EMPTY;
    dv_value zip = many_new(vm, DV_T_ZIP, DV_EMPTY, args, count - named);
    if (!dv_is_empty(zip)) ((many *)dv_as_object(zip))->strict = is_strict;
    return zip;
}

static dv_value raise_lengths(dv_vm *vm, uint32_t i, const char *how) {
    if (i == 1)
        return dv_raise(vm, DV_E_VALUE_ERROR, "zip() argument 2 is %s than argument 1", how);
    return dv_raise(vm, DV_E_VALUE_ERROR, "zip() argument %d is %s than arguments 1-%d",
                    (int)(i + 1), how, (int)i);
}

/* Iterator number i is exhausted: the others must be, too, if the zip is strict. */
static dv_value zip_end(dv_vm *vm, many *m, uint32_t i) {
    if (!m->strict || !dv_is_empty(vm->error)) return DV_EMPTY;
    if (i > 0) return raise_lengths(vm, i, "shorter");
    for (uint32_t j = 1; j < m->count; j++) {
        dv_value item = dv_next(vm, m->iterators[j]);
        if (!dv_is_empty(vm->error)) return DV_EMPTY;
        if (dv_is_empty(item)) continue;
        dv_release(vm, item);
        return raise_lengths(vm, j, "longer");
    }
    return DV_EMPTY;
}

/* The next item of each iterator to items[]; false: number *ended is exhausted or raised. */
static bool next_items(dv_vm *vm, many *m, dv_value *items, uint32_t *ended) {
    dv_work_owe(vm, 2 * m->count);
    for (uint32_t i = 0; i < m->count; i++) {
        items[i] = dv_step(vm, m->iterators[i]);
        if (!dv_is_empty(items[i])) continue;
        *ended = i;
        while (i-- > 0) dv_release(vm, items[i]);
        return false;
    }
    return true;
}

/* The first result once more, which nobody else has, with the next items; an old item goes when its
 * successor is there, as in CPython. */
static inline dv_value zip_again(dv_vm *vm, many *m, uint32_t count) {
    dv_value result = dv_retain(m->function);
    dv_value *kept = dv_as_tuple(result)->items;
    for (uint32_t i = 0; i < count; i++) {
        dv_value item = dv_step(vm, m->iterators[i]);
        if (dv_is_empty(item)) {
            dv_release(vm, result);
            return zip_end(vm, m, i);
        }
        dv_value old = kept[i];
        kept[i] = item;
        dv_release(vm, old);
    }
    return result;
}

/* Has nobody else the result of before? */
static bool is_free(const many *m) {
    return !dv_is_empty(m->function) && dv_as_object(m->function)->references == 1;
}

static dv_value zip_next(dv_vm *vm, dv_value self) {
    many *m = (many *)dv_as_object(self);
    if (m->count == 0) return DV_EMPTY;
    if (is_free(m)) return zip_again(vm, m, m->count);
    dv_value few[8], *items = few;
    size_t size = m->count * sizeof *items;
    if (m->count > 8 && !(items = dv_heap_alloc(&vm->heap, size))) return dv_raise_memory(vm);
    uint32_t ended;
    dv_value result = next_items(vm, m, items, &ended) ? dv_tuple_take(vm, items, m->count)
                                                       : zip_end(vm, m, ended);
    if (dv_is_empty(m->function) && !dv_is_empty(result)) m->function = dv_retain(result);
    if (items != few) dv_heap_free(&vm->heap, items, size);
    return result;
}

/* The items of a zip of two; -1: it is another one.  The tuple is not given out, but it holds the
 * items until the next ones are there, as in CPython. */
static int zip_next_pair(dv_vm *vm, dv_value self, dv_value *out) {
    many *m = (many *)dv_as_object(self);
    if (m->count != 2) return -1;
    const dv_value pair = is_free(m) ? zip_again(vm, m, 2) : zip_next(vm, self);
    if (dv_is_empty(pair)) return 0; /* the end, or raised */
    const dv_value *items = dv_as_tuple(pair)->items;
    out[0] = dv_retain(items[0]);
    out[1] = dv_retain(items[1]);
    dv_release(vm, pair);
    return 1;
}

static dv_value map_construct(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    if (!dv_arguments_no_keywords(vm, "map", keywords)) return DV_EMPTY;
    if (count < 2) return dv_raise(vm, DV_E_TYPE_ERROR, "map() must have at least two arguments.");
    return many_new(vm, DV_T_MAP, args[0], args + 1, count - 1);
}

static dv_value map_next_of_one(dv_vm *vm, const many *m) {
    dv_value item = dv_step(vm, m->iterators[0]);
    if (dv_is_empty(item)) return DV_EMPTY;
    dv_value result = dv_call(vm, m->function, &item, 1, DV_EMPTY);
    dv_release(vm, item);
    return result;
}

static dv_value map_next(dv_vm *vm, dv_value self) {
    many *m = (many *)dv_as_object(self);
    if (m->count == 1) return map_next_of_one(vm, m);
    dv_value few[8], *items = few;
    size_t size = m->count * sizeof *items;
    if (m->count > 8 && !(items = dv_heap_alloc(&vm->heap, size))) return dv_raise_memory(vm);
    uint32_t ended;
    dv_value result = DV_EMPTY;
    if (next_items(vm, m, items, &ended)) {
        result = dv_call(vm, m->function, items, m->count, DV_EMPTY);
        for (uint32_t i = 0; i < m->count; i++) dv_release(vm, items[i]);
    }
    if (items != few) dv_heap_free(&vm->heap, items, size);
    return result;
}

const dv_type dv_zip_type = {.name = "zip",
                             .id = DV_T_ZIP,
                             .release = many_release,
                             .traverse = many_traverse,
                             .iterate = self_iterate,
                             .next = zip_next,
                             .next_pair = zip_next_pair,
                             .construct = zip_construct,
                             .adopt = many_adopt};

const dv_type dv_map_type = {.name = "map",
                             .id = DV_T_MAP,
                             .release = many_release,
                             .traverse = many_traverse,
                             .iterate = self_iterate,
                             .next = map_next,
                             .construct = map_construct,
                             .adopt = many_adopt,
                             .ignores_keywords = true};

/* filter ----------------------------------------------------------------------------------------
 */

static void pair_release(dv_vm *vm, dv_object *object) {
    pair *p = (pair *)object;
    dv_release(vm, p->first);
    dv_release(vm, p->second);
    dv_base_free(vm, object, sizeof *p);
}

static void pair_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const pair *p = (const pair *)object;
    visit(vm, p->first, context);
    visit(vm, p->second, context);
}

/* Retains the first, takes the second. */
static dv_value pair_new(dv_vm *vm, dv_type_id type, dv_value first, dv_value second) {
    pair *p = dv_container_new(vm, sizeof *p, type);
    if (!p) {
        dv_release(vm, second);
        return DV_EMPTY;
    }
    p->first = dv_retain(first);
    p->second = second;
    p->next = 0;
    return dv_object_value(p);
}

static dv_value pair_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    return dv_subclass_share(vm, class_, exact, sizeof(pair));
}

static dv_value filter_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                 dv_value keywords) {
    if (!dv_arguments_no_keywords(vm, "filter", keywords) ||
        !dv_arguments_count(vm, "filter", count, 2, 2))
        return DV_EMPTY;
    dv_value iterator = dv_iterate(vm, args[1]);
    return dv_is_empty(iterator) ? DV_EMPTY : pair_new(vm, DV_T_FILTER, args[0], iterator);
}

/* Does filter's function keep the item?  -1: raised. */
static int keeps(dv_vm *vm, dv_value function, dv_value item) {
    if (dv_is_none(function)) return dv_truth(vm, item);
    dv_value result = dv_call(vm, function, &item, 1, DV_EMPTY);
    if (dv_is_empty(result)) return -1;
    int kept = dv_truth(vm, result);
    dv_release(vm, result);
    return kept;
}

static dv_value filter_next(dv_vm *vm, dv_value self) {
    pair *p = (pair *)dv_as_object(self);
    for (;;) {
        dv_value item = dv_step(vm, p->second);
        if (dv_is_empty(item)) return DV_EMPTY;
        int kept = keeps(vm, p->first, item);
        if (kept > 0) return item;
        dv_release(vm, item);
        if (kept < 0) return DV_EMPTY;
    }
}

const dv_type dv_filter_type = {.name = "filter",
                                .id = DV_T_FILTER,
                                .release = pair_release,
                                .traverse = pair_traverse,
                                .iterate = self_iterate,
                                .next = filter_next,
                                .construct = filter_construct,
                                .adopt = pair_adopt,
                                .ignores_keywords = true};

/* reversed --------------------------------------------------------------------------------------
 */

static bool is_reversible(dv_vm *vm, dv_value v) {
    if (dv_is_plain_instance(v) || dv_is_class(v)) return dv_has_special(vm, v, vm->known.getitem);
    const dv_type *type = vm->types[dv_type_of(vm, v)];
    if (type->get_item && type->length) return true;
    return dv_is_instance(v) && !dv_is_dict(v) && dv_has_special(vm, v, vm->known.getitem);
}

static dv_value reverse(dv_vm *vm, dv_value sequence, int64_t length, bool of_list) {
    dv_value result = pair_new(vm, DV_T_REVERSED, sequence, dv_bool(of_list));
    if (!dv_is_empty(result)) ((pair *)dv_as_object(result))->next = length - 1;
    return result;
}

dv_value dv_list_reversed(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return reverse(vm, args[0], dv_as_list(args[0])->count, true);
}

static dv_value reversed_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                   dv_value keywords) {
    if (!dv_arguments_no_keywords(vm, "reversed", keywords) ||
        !dv_arguments_count(vm, "reversed", count, 1, 1))
        return DV_EMPTY;
    if (dv_is_shape(args[0], DV_T_LIST)) return dv_list_reversed(vm, args, 1);
    bool found;
    if (dv_defines_special(vm, args[0], vm->known.reversed) &&
        !dv_has_special(vm, args[0], vm->known.reversed))
        return dv_raise(vm, DV_E_TYPE_ERROR, "'%T' object is not reversible", args[0]);
    dv_value own = dv_special_call(vm, args[0], vm->known.reversed, NULL, 0, &found);
    if (found) return own;
    if (!dv_is_plain_instance(args[0]) &&
        dv_class_find(vm, dv_class_of(vm, args[0]), vm->known.reversed)) {
        dv_value method = dv_get_attribute(vm, args[0], vm->known.reversed);
        if (!dv_is_empty(method)) own = dv_call(vm, method, NULL, 0, DV_EMPTY);
        dv_release(vm, method);
        return own;
    }
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    if (!is_reversible(vm, args[0]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "'%T' object is not reversible", args[0]);
    int64_t length = dv_length(vm, args[0]);
    return length < 0 ? DV_EMPTY : reverse(vm, args[0], length, false);
}

static dv_value reversed_item(dv_vm *vm, const pair *p) {
    if (dv_is_list(p->first)) {
        const dv_list *list = dv_as_list(p->first);
        return p->next < list->count ? dv_retain(list->items[p->next]) : DV_EMPTY;
    }
    dv_value item = dv_get_item(vm, p->first, dv_int(p->next));
    if (dv_is_empty(item) &&
        (dv_error_is(vm, DV_E_INDEX_ERROR) || dv_error_is(vm, DV_E_STOP_ITERATION)))
        dv_error_clear(vm);
    return item;
}

static dv_value reversed_next(dv_vm *vm, dv_value self) {
    pair *p = (pair *)dv_as_object(self);
    dv_value item = p->next >= 0 ? reversed_item(vm, p) : DV_EMPTY;
    p->next--;
    if (!dv_is_empty(item)) return item;
    p->next = -1;
    dv_value done = p->first;
    p->first = DV_EMPTY;
    dv_release(vm, done);
    return DV_EMPTY;
}

static dv_value reversed_hint(dv_vm *vm, const dv_value *args, uint32_t count) {
    const pair *p = (const pair *)dv_as_object(args[0]);
    (void)count;
    if (dv_is_empty(p->first)) return dv_int(0);
    int64_t length = dv_is_list(p->first) ? dv_as_list(p->first)->count : dv_length(vm, p->first);
    if (length < 0) return DV_EMPTY;
    return dv_int(length > p->next ? p->next + 1 : 0);
}

static const dv_cfunction_def reversed_methods[] = {
    {.name = "__length_hint__", .entry = reversed_hint, .min = 1, .max = 1}, {.name = NULL}};

/* What reversed() has got from a __reversed__ may be anything; CPython makes an instance of the
 * subclass only where it has not. */
static dv_value reversed_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    bool made = dv_is_shape(exact, DV_T_REVERSED) &&
                dv_same(((pair *)dv_as_object(exact))->second, DV_FALSE);
    return made ? pair_adopt(vm, class_, exact) : dv_retain(exact);
}

static dv_type_id reversed_face(dv_value self) {
    const pair *p = (const pair *)dv_as_object(self);
    return p->second.bits == DV_TRUE.bits ? DV_T_LIST_REVERSE_ITERATOR : DV_T_REVERSED;
}

#define REVERSED_SLOTS                                                         \
    .face = reversed_face, .release = pair_release, .traverse = pair_traverse, \
    .iterate = self_iterate, .next = reversed_next, .methods = reversed_methods

const dv_type dv_reversed_type = {.name = "reversed",
                                  .id = DV_T_REVERSED,
                                  REVERSED_SLOTS,
                                  .construct = reversed_construct,
                                  .adopt = reversed_adopt,
                                  .ignores_keywords = true};

const dv_type dv_list_reverse_type = {
    .name = "list_reverseiterator", .id = DV_T_LIST_REVERSE_ITERATOR, REVERSED_SLOTS};

/* iter(callable, sentinel) ----------------------------------------------------------------------
 */

dv_value dv_call_iterator_new(dv_vm *vm, dv_value callable, dv_value sentinel) {
    return pair_new(vm, DV_T_CALL_ITERATOR, callable, dv_retain(sentinel));
}

static dv_value call_iterator_next(dv_vm *vm, dv_value self) {
    pair *p = (pair *)dv_as_object(self);
    if (dv_is_empty(p->first)) return DV_EMPTY;
    dv_value item = dv_work(vm, 2) ? dv_call(vm, p->first, NULL, 0, DV_EMPTY) : DV_EMPTY;
    int same = -1;
    if (dv_is_empty(item)) {
        if (dv_error_is(vm, DV_E_STOP_ITERATION)) dv_error_clear(vm);
    } else {
        same = dv_equal(vm, item, p->second);
    }
    if (same == 0) return item;
    dv_release(vm, item);
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    dv_value done = p->first;
    p->first = DV_EMPTY;
    dv_release(vm, done);
    return DV_EMPTY;
}

const dv_type dv_call_iterator_type = {.name = "callable_iterator",
                                       .id = DV_T_CALL_ITERATOR,
                                       .release = pair_release,
                                       .traverse = pair_traverse,
                                       .iterate = self_iterate,
                                       .next = call_iterator_next};
