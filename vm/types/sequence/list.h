/* list.h: mutable sequences.
 *
 * Invariants
 *  1. items[0 .. count-1] are owned values, capacity >= count; items is NULL when capacity is 0.
 *  2. Anything that may run dl code (comparison, release of an element) may change the list: loops
 *     re-read count and items after it. */
#ifndef DV_TYPES_LIST_H
#define DV_TYPES_LIST_H

#include "core/vm.h"

typedef struct dv_list {
    dv_object header;
    int64_t count, capacity;
    dv_value *items;
} dv_list;

extern const dv_type dv_list_type;

static inline bool dv_is_list(dv_value v) { return dv_has_layout(v, DV_T_LIST); }
static inline dv_list *dv_as_list(dv_value v) { return (dv_list *)dv_as_object(v); }

dv_value dv_list_new(dv_vm *vm, const dv_value *items, int64_t count); /* retains the items */
dv_value dv_list_take(dv_vm *vm, const dv_value *items,
                      int64_t count); /* takes their ownership, even on failure */
bool dv_list_append(dv_vm *vm, dv_value list, dv_value item) DV_MUST_CHECK; /* retains */
bool dv_list_push(dv_vm *vm, dv_value list,
                  dv_value item) DV_MUST_CHECK; /* takes the item's ownership, even on failure */
bool dv_list_grow(dv_vm *vm, dv_list *list,
                  int64_t capacity) DV_MUST_CHECK; /* room for at least so many */
bool dv_list_reserve(dv_vm *vm, dv_list *list,
                     int64_t capacity) DV_MUST_CHECK; /* the same without reserve for more */
void dv_list_trim(dv_vm *vm, dv_list *list);          /* gives memory back after a removal */
bool dv_list_extend(dv_vm *vm, dv_value list, dv_value iterable) DV_MUST_CHECK;
bool dv_list_sort(dv_vm *vm, dv_value list, dv_value key,
                  bool reverse) DV_MUST_CHECK; /* stable; key EMPTY or None */

/* list.__reversed__ (builtins/iterators.c) */
dv_value dv_list_reversed(dv_vm *vm, const dv_value *args, uint32_t count);

#endif
