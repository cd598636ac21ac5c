/* iterator.c: iterators of list, tuple and str by index, and of instances with __getitem__;
 * enumerate. */
#include "types/sequence/iterator.h"

#include "core/upcall.h"
#include "types/callable/arguments.h"
#include "types/binary/array.h"
#include "types/binary/bytes.h"
#include "types/number/int.h"
#include "types/sequence/list.h"
#include "types/sequence/sequence.h"
#include "types/text/str_text.h"
#include "types/class/subclass.h"
#include "types/sequence/tuple.h"

const dv_value *dv_items_within(dv_value v, int64_t *count) {
    *count = 0;
    if (dv_is_shape(v, DV_T_ITERATOR)) v = ((const dv_iterator *)dv_as_object(v))->sequence;
    const bool has_items = dv_is_shape(v, DV_T_LIST) || dv_is_shape(v, DV_T_TUPLE);
    return has_items ? dv_items_of(v, count) : NULL;
}

bool dv_is_wide_text(dv_value v) {
    if (dv_is_shape(v, DV_T_ENUMERATE)) v = ((const dv_enumerate *)dv_as_object(v))->iterator;
    if (dv_is_shape(v, DV_T_ITERATOR)) v = ((const dv_iterator *)dv_as_object(v))->sequence;
    return dv_is_shape(v, DV_T_STR) && dv_as_str(v)->kind != 1;
}

/* ---- By index ----------------------------------------------------------------------------------
 */

dv_value dv_iterator_new(dv_vm *vm, dv_value sequence) {
    dv_iterator *iterator = dv_container_new(vm, sizeof(dv_iterator), DV_T_ITERATOR);
    if (!iterator) return DV_EMPTY;
    iterator->sequence = dv_retain(sequence);
    iterator->next = 0;
    iterator->type = dv_type_of(vm, sequence);
    iterator->walked = dv_is_object(sequence) ? dv_as_object(sequence)->shape : 0;
    return dv_object_value(iterator);
}

dv_value dv_walk_begin(dv_vm *vm, dv_value sequence, int64_t index) {
    dv_iterator *iterator = dv_iterator_quick(vm);
    if (!iterator) iterator = dv_container_new(vm, sizeof(dv_iterator), DV_T_ITERATOR);
    if (!iterator) return DV_EMPTY;
    iterator->sequence = sequence;
    iterator->next = index;
    iterator->type = iterator->walked = dv_as_object(sequence)->shape;
    return dv_object_value(iterator);
}

bool dv_walk_is_own(dv_value v) {
    if (!dv_is_shape(v, DV_T_ITERATOR) || dv_as_object(v)->references != 1) return false;
    const dv_iterator *walk = (const dv_iterator *)dv_as_object(v);
    return walk->walked == DV_T_LIST || walk->walked == DV_T_TUPLE;
}

int64_t dv_walk_index(dv_value iterator) {
    return ((const dv_iterator *)dv_as_object(iterator))->next;
}

dv_value dv_walk_end(dv_vm *vm, dv_value iterator) {
    const dv_value sequence = dv_iterator_exhaust((dv_iterator *)dv_as_object(iterator));
    dv_release(vm, iterator);
    return sequence;
}

static void iterator_release(dv_vm *vm, dv_object *object) {
    dv_release(vm, ((dv_iterator *)object)->sequence);
    dv_container_free(vm, object, sizeof(dv_iterator));
}

static void iterator_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    visit(vm, ((const dv_iterator *)object)->sequence, context);
}

/* The item at an index, or EMPTY at the end (or with vm->error). */
static dv_value item_at(dv_vm *vm, dv_value sequence, int64_t index) {
    if (dv_is_list(sequence)) {
        const dv_list *list = dv_as_list(sequence);
        return index < list->count ? dv_retain(list->items[index]) : DV_EMPTY;
    }
    if (dv_is_tuple(sequence)) {
        const dv_tuple *tuple = dv_as_tuple(sequence);
        return index < tuple->count ? dv_retain(tuple->items[index]) : DV_EMPTY;
    }
    if (dv_is_str(sequence)) {
        const dv_str *s = dv_as_str(sequence);
        return index < s->length ? dv_str_char(vm, dv_str_at(s, index)) : DV_EMPTY;
    }
    if (dv_is_bytes_like(sequence)) {
        const dv_str *s = dv_as_bytes(sequence);
        return index < s->length ? dv_int((uint8_t)s->data[index]) : DV_EMPTY;
    }
    if (dv_is_array(sequence)) {
        const dv_array *array = dv_as_array(sequence);
        return index < array->count ? dv_array_get(vm, array, index) : DV_EMPTY;
    }
    if (dv_has_items(vm, sequence, DV_FLOAT64)) {
        const char *at = dv_item_at(dv_buffer_of(vm, sequence), index);
        double x = 0;
        if (at) memcpy(&x, at, sizeof x);
        return at ? dv_float_foreign(x) : DV_EMPTY;
    }
    if (dv_has_items(vm, sequence, DV_INT64)) {
        const char *at = dv_item_at(dv_buffer_of(vm, sequence), index);
        int64_t x = 0;
        if (at) memcpy(&x, at, sizeof x);
        return at ? dv_int_from_int64(vm, x) : DV_EMPTY;
    }
    dv_value item = dv_get_item(vm, sequence, dv_int(index));
    if (dv_is_empty(item) &&
        (dv_error_is(vm, DV_E_INDEX_ERROR) || dv_error_is(vm, DV_E_STOP_ITERATION)))
        dv_error_clear(vm);
    return item;
}

static dv_value iterator_next(dv_vm *vm, dv_value self) {
    dv_iterator *iterator = (dv_iterator *)dv_as_object(self);
    dv_value sequence = iterator->sequence;
    if (dv_is_empty(sequence)) return DV_EMPTY;
    dv_value item = item_at(vm, sequence, iterator->next);
    if (DV_LIKELY(!dv_is_empty(item))) {
        iterator->next++;
    } else if (dv_is_empty(vm->error) && !dv_is_empty(iterator->sequence)) {
        dv_release(vm, dv_iterator_exhaust(iterator));
    }
    return item;
}

/* Of built-in sequences and their subclasses what they hold, whatever their __len__ says. */
static int64_t length_of(dv_vm *vm, dv_value sequence) {
    if (dv_is_list(sequence)) return dv_as_list(sequence)->count;
    if (dv_is_tuple(sequence)) return dv_as_tuple(sequence)->count;
    if (dv_is_str(sequence)) return dv_as_str(sequence)->length;
    if (dv_is_bytes_like(sequence)) return dv_as_bytes(sequence)->length;
    if (dv_is_array(sequence)) return dv_as_array(sequence)->count;
    return dv_length_hint(vm, sequence, -1);
}

/* How many items are left, as far as the sequence knows. */
static dv_value iterator_hint(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_iterator *iterator = (const dv_iterator *)dv_as_object(args[0]);
    if (dv_is_empty(iterator->sequence)) return dv_int(0);
    int64_t length = length_of(vm, iterator->sequence);
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    if (length < 0) return DV_NOTIMPLEMENTED;
    return dv_int(length > iterator->next ? length - iterator->next : 0);
}

static const dv_cfunction_def iterator_methods[] = {
    {.name = "__length_hint__", .entry = iterator_hint, .min = 1, .max = 1}, {.name = NULL}};

static dv_value iterator_self(dv_vm *vm, dv_value self) {
    (void)vm;
    return dv_retain(self);
}

static dv_type_id iterator_face(dv_value self) {
    const dv_iterator *iterator = (const dv_iterator *)dv_as_object(self);
    const dv_str *s = dv_is_str(iterator->sequence) ? dv_as_str(iterator->sequence) : NULL;
    bool ascii = s && !dv_is_instance(iterator->sequence) && s->kind == 1 &&
                 dv_utf8_is_ascii(s->data, (size_t)s->length);
    switch (iterator->type) {
    case DV_T_LIST: return DV_T_LIST_ITERATOR;
    case DV_T_TUPLE: return DV_T_TUPLE_ITERATOR;
    case DV_T_STR: return ascii ? DV_T_STR_ASCII_ITERATOR : DV_T_STR_ITERATOR;
    case DV_T_ARRAY: return DV_T_ARRAY_ITERATOR;
    case DV_T_BYTES: return DV_T_BYTES_ITERATOR;
    case DV_T_BYTEARRAY: return DV_T_BYTEARRAY_ITERATOR;
    case DV_T_MEMORYVIEW: return DV_T_MEMORY_ITERATOR;
    default: return DV_T_ITERATOR;
    }
}

#define ITERATOR_SLOTS                                                                 \
    .face = iterator_face, .release = iterator_release, .traverse = iterator_traverse, \
    .iterate = iterator_self, .next = iterator_next, .methods = iterator_methods

const dv_type dv_iterator_type = {.name = "iterator", .id = DV_T_ITERATOR, ITERATOR_SLOTS};

const dv_type dv_iterator_faces[DV_ITERATOR_FACES] = {
    {.name = "list_iterator", .id = DV_T_LIST_ITERATOR, ITERATOR_SLOTS},
    {.name = "tuple_iterator", .id = DV_T_TUPLE_ITERATOR, ITERATOR_SLOTS},
    {.name = "str_iterator", .id = DV_T_STR_ITERATOR, ITERATOR_SLOTS},
    {.name = "str_ascii_iterator", .id = DV_T_STR_ASCII_ITERATOR, ITERATOR_SLOTS},
    {.name = "bytes_iterator", .id = DV_T_BYTES_ITERATOR, ITERATOR_SLOTS},
    {.name = "bytearray_iterator", .id = DV_T_BYTEARRAY_ITERATOR, ITERATOR_SLOTS},
    {.name = "memory_iterator", .id = DV_T_MEMORY_ITERATOR, ITERATOR_SLOTS},
};

const dv_type dv_array_iterator_type = {
    .name = "array.arrayiterator", .id = DV_T_ARRAY_ITERATOR, ITERATOR_SLOTS};

/* ---- enumerate ---------------------------------------------------------------------------------
 */

static void enumerate_release(dv_vm *vm, dv_object *object) {
    dv_release(vm, ((dv_enumerate *)object)->iterator);
    dv_release(vm, ((dv_enumerate *)object)->number);
    dv_base_free(vm, object, sizeof(dv_enumerate));
}

static void enumerate_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    visit(vm, ((const dv_enumerate *)object)->iterator, context);
    visit(vm, ((const dv_enumerate *)object)->number, context);
}

static int enumerate_next_pair(dv_vm *vm, dv_value self, dv_value *out) {
    dv_enumerate *e = (dv_enumerate *)dv_as_object(self);
    out[1] = dv_step(vm, e->iterator);
    if (dv_is_empty(out[1])) return 0;
    out[0] = e->number;
    if (DV_LIKELY(dv_is_int(out[0]) && dv_fits_int(dv_as_int(out[0]) + 1))) {
        e->number = dv_int(dv_as_int(out[0]) + 1);
        return 1;
    }
    dv_value next = dv_binary(vm, DV_BINARY_ADD, out[0], dv_int(1));
    if (dv_is_empty(next)) {
        dv_release(vm, out[1]);
        return 0;
    }
    e->number = next; /* the old one goes to the caller */
    return 1;
}

static dv_value enumerate_next(dv_vm *vm, dv_value self) {
    dv_value pair[2];
    return enumerate_next_pair(vm, self, pair) == 1 ? dv_tuple_take(vm, pair, 2) : DV_EMPTY;
}

static dv_value enumerate_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                    dv_value keywords) {
    static const char *const names[] = {"iterable", "start"}, *const rest[] = {"", "start"};
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    /* Once `iterable` is given by position, CPython does not know its name any more. */
    const dv_parameters parameters = {"enumerate", count > named ? rest : names, 2, 2, 1};
    dv_value out[2];
    if (count == 1 && named == 1 && !dv_str_is(dv_as_tuple(keywords)->items[0], "iterable"))
        return dv_raise(vm, DV_E_TYPE_ERROR, "'%S' is an invalid keyword argument for enumerate()",
                        dv_as_tuple(keywords)->items[0]);
    if (count == 0)
        return dv_raise(vm, DV_E_TYPE_ERROR, "enumerate() missing required argument 'iterable'");
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, out)) return DV_EMPTY;
    dv_value start = dv_is_empty(out[1]) ? dv_int(0) : dv_int_index(vm, out[1]);
    if (dv_is_empty(start)) return DV_EMPTY;
    dv_value iterator = dv_iterate(vm, out[0]);
    if (dv_is_empty(iterator)) {
        dv_release(vm, start);
        return DV_EMPTY;
    }
    dv_enumerate *e = dv_container_new(vm, sizeof(dv_enumerate), DV_T_ENUMERATE);
    if (!e) {
        dv_release(vm, iterator);
        dv_release(vm, start);
        return DV_EMPTY;
    }
    e->iterator = iterator;
    e->number = start;
    return dv_object_value(e);
}

static dv_value enumerate_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    return dv_subclass_share(vm, class_, exact, sizeof(dv_enumerate));
}

const dv_type dv_enumerate_type = {
    .name = "enumerate",
    .id = DV_T_ENUMERATE,
    .release = enumerate_release,
    .traverse = enumerate_traverse,
    .iterate = iterator_self,
    .next = enumerate_next,
    .next_pair = enumerate_next_pair,
    .construct = enumerate_construct,
    .adopt = enumerate_adopt,
};
