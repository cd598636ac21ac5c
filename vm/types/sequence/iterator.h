/* iterator.h: iterators of list, tuple and str by index, enumerate; walking them from C.
 *
 * Invariants
 *  1. An exhausted iterator has sequence EMPTY and stays exhausted.
 *  2. `type` is the type number of the sequence, also after that; `walked` its shape, until then
 *     (an instance's may have changed since), and 0 after that. */
#ifndef DV_TYPES_ITERATOR_H
#define DV_TYPES_ITERATOR_H

#include "core/upcall.h"
#include "core/vm.h"
#include "types/sequence/list.h"
#include "types/sequence/tuple.h"
#include "types/text/str.h"

typedef struct dv_iterator {
    dv_object header;
    dv_value sequence; /* list, tuple, str, or any object with __getitem__ */
    int64_t next;
    uint32_t type, walked;
} dv_iterator;

/* Takes the sequence of an iterator that is exhausted: the caller's to release. */
static inline dv_value dv_iterator_exhaust(dv_iterator *iterator) {
    const dv_value sequence = iterator->sequence;
    iterator->sequence = DV_EMPTY;
    iterator->walked = 0;
    return sequence;
}

typedef struct dv_enumerate {
    dv_object header;
    dv_value iterator, number; /* an int of any size */
} dv_enumerate;

/* An iterator over several others: zip and map (builtins/iterators.c). */
typedef struct dv_many {
    dv_object header;
    /* Of map; zip has its first result here, and gives it out again when nobody else has it. */
    dv_value function;
    bool strict;
    uint32_t count;
    dv_value iterators[];
} dv_many;

/* filter: function and iterator; reversed: sequence and next index; iter: callable and sentinel
 * (builtins/iterators.c). */
typedef struct dv_pair_iterator {
    dv_object header;
    dv_value first, second;
    int64_t next;
} dv_pair_iterator;

extern const dv_type dv_iterator_type, dv_enumerate_type;

/* The types as whose instances dv_iterators show themselves; that of arrays comes with its module.
 */
enum { DV_ITERATOR_FACES = 7 };
extern const dv_type dv_iterator_faces[DV_ITERATOR_FACES], dv_array_iterator_type;

dv_value dv_iterator_new(dv_vm *vm, dv_value sequence); /* retains */

/* An iterator by index whose sequence, type and walked the caller fills in; NULL: there is no free
 * block (dv_iterator_new). */
static inline dv_iterator *dv_iterator_quick(dv_vm *vm) {
    if (sizeof(dv_iterator) > DV_HEAP_SMALL) return NULL; /* no free lists for sanitizers */
    const size_t class_ = (sizeof(dv_iterator) + DV_HEAP_GRAIN - 1) / DV_HEAP_GRAIN;
    dv_free_block **list = &vm->heap.parts[DV_HEAP_OBJECTS].free[class_ % DV_HEAP_CLASSES];
    dv_free_block *block = *list;
    if (DV_UNLIKELY(!block)) return NULL;
    *list = block->next;
    dv_iterator *iterator = (dv_iterator *)(void *)block;
    iterator->header.references = 1;
    iterator->header.shape = DV_T_ITERATOR;
    iterator->next = 0;
    return iterator;
}

/* The iterator and its list, if it is one of a list that is not exhausted; NULL: it is not. */
static inline dv_iterator *dv_list_walk(dv_value iterator) {
    if (!dv_is_shape(iterator, DV_T_ITERATOR)) return NULL;
    dv_iterator *walk = (dv_iterator *)dv_as_object(iterator);
    if (walk->walked != DV_T_LIST) return NULL;
    return walk->next < dv_as_list(walk->sequence)->count ? walk : NULL;
}
/* Likewise of a tuple, of a str. */
static inline dv_iterator *dv_tuple_walk(dv_value iterator) {
    if (!dv_is_shape(iterator, DV_T_ITERATOR)) return NULL;
    dv_iterator *walk = (dv_iterator *)dv_as_object(iterator);
    if (walk->walked != DV_T_TUPLE) return NULL;
    return walk->next < dv_as_tuple(walk->sequence)->count ? walk : NULL;
}
static inline dv_iterator *dv_str_walk(dv_value iterator) {
    if (!dv_is_shape(iterator, DV_T_ITERATOR)) return NULL;
    dv_iterator *walk = (dv_iterator *)dv_as_object(iterator);
    if (walk->walked != DV_T_STR) return NULL;
    return walk->next < dv_as_str(walk->sequence)->length ? walk : NULL;
}
static inline dv_value dv_list_walk_item(const dv_iterator *walk) {
    return dv_as_list(walk->sequence)->items[walk->next];
}

static inline dv_many *dv_as_many(dv_value v) { return (dv_many *)dv_as_object(v); }

/* Does the zip walk n different lists, none at its end, and has it no result to give out again? */
static inline bool dv_zip_walks_lists(const dv_many *zip, int64_t n) {
    if (zip->count != (uint32_t)n || !dv_is_empty(zip->function)) return false;
    for (int64_t i = 0; i < n; i++) {
        if (!dv_list_walk(zip->iterators[i])) return false;
        for (int64_t j = 0; j < i; j++)
            if (dv_same(zip->iterators[i], zip->iterators[j])) return false;
    }
    return true;
}
static inline dv_value dv_zip_item(const dv_many *zip, int64_t i) {
    return dv_list_walk_item((const dv_iterator *)dv_as_object(zip->iterators[i]));
}
static inline void dv_zip_advance(dv_many *zip, int64_t n) {
    for (int64_t i = 0; i < n; i++) ((dv_iterator *)dv_as_object(zip->iterators[i]))->next++;
}

/* The tuple of n items that the iterator of a list gives next; NULL: it gives something else. */
static inline dv_tuple *dv_row_walk(dv_value iterator, int64_t n) {
    const dv_iterator *walk = dv_list_walk(iterator);
    const dv_value row = walk ? dv_list_walk_item(walk) : DV_EMPTY;
    return dv_is_shape(row, DV_T_TUPLE) && dv_as_tuple(row)->count == n ? dv_as_tuple(row) : NULL;
}

static inline dv_iterator *dv_as_walk(dv_value v) { return (dv_iterator *)dv_as_object(v); }
static inline dv_tuple *dv_as_row(dv_value iterator) {
    return dv_as_tuple(dv_list_walk_item(dv_as_walk(iterator)));
}

/* The next item of a reversed() of a list; NULL: there is none, or it is one of something else. */
static inline const dv_value *dv_list_reversed_item(const dv_pair_iterator *walk) {
    if (!dv_is_shape(walk->first, DV_T_LIST) || walk->next < 0) return NULL;
    const dv_list *list = dv_as_list(walk->first);
    return walk->next < list->count ? &list->items[walk->next] : NULL;
}

/* The next item of an iterator of a list or a tuple that is not exhausted; NULL: it is not. */
static inline const dv_value *dv_items_walk(dv_value iterator) {
    if (!dv_is_shape(iterator, DV_T_ITERATOR)) return NULL;
    const dv_iterator *walk = (const dv_iterator *)dv_as_object(iterator);
    if (walk->walked == DV_T_LIST) {
        const dv_list *list = dv_as_list(walk->sequence);
        return walk->next < list->count ? &list->items[walk->next] : NULL;
    }
    if (walk->walked != DV_T_TUPLE) return NULL;
    const dv_tuple *tuple = dv_as_tuple(walk->sequence);
    return walk->next < tuple->count ? &tuple->items[walk->next] : NULL;
}

/* dv_next for loops of C: what they walk is a list, a tuple or a str most often. */
static inline dv_value dv_step(dv_vm *vm, dv_value iterator) {
    /* A round is counted; where that is to be looked at, dv_next does. */
    if (dv_is_shape(iterator, DV_T_ITERATOR) && DV_LIKELY(--vm->work_left >= 0)) {
        dv_iterator *walk = (dv_iterator *)dv_as_object(iterator);
        if (DV_LIKELY(walk->walked == DV_T_LIST)) {
            const dv_list *list = dv_as_list(walk->sequence);
            if (DV_LIKELY(walk->next < list->count)) return dv_retain(list->items[walk->next++]);
        } else if (walk->walked == DV_T_TUPLE) {
            const dv_tuple *tuple = dv_as_tuple(walk->sequence);
            if (DV_LIKELY(walk->next < tuple->count)) return dv_retain(tuple->items[walk->next++]);
        } else if (walk->walked == DV_T_STR) {
            const dv_str *s = dv_as_str(walk->sequence);
            if (DV_LIKELY(walk->next < s->length))
                return dv_str_char(vm, dv_str_at(s, walk->next++));
        }
    }
    return dv_next(vm, iterator);
}

#endif
