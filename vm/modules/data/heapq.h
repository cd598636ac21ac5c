/* heapq.h: what the files of the module heapq share. */
#ifndef DV_MODULES_HEAPQ_H
#define DV_MODULES_HEAPQ_H

#include "core/vm.h"

extern const dv_type dv_heapq_merge_type;

/* heapq_select.c: nlargest, nsmallest, merge; up to an entry without a name. */
extern const dv_cfunction_def dv_heapq_select_functions[];

/* Of a dl list; `max`: the largest item is on top. */
bool dv_heap_make(dv_vm *vm, dv_value list, bool max) DV_MUST_CHECK;
dv_value dv_heap_pop(dv_vm *vm, dv_value list, bool max);
/* Puts the item in and takes the top out, which is the result. */
dv_value dv_heap_replace(dv_vm *vm, dv_value list, dv_value item, bool max);

#endif
