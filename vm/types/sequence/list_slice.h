/* list_slice.h: slices of lists, read, assigned and deleted. */
#ifndef DV_TYPES_LIST_SLICE_H
#define DV_TYPES_LIST_SLICE_H

#include "types/sequence/list.h"

dv_value dv_list_get_slice(dv_vm *vm, dv_value list, dv_value slice);
/* value EMPTY deletes. */
bool dv_list_set_slice(dv_vm *vm, dv_value list, dv_value slice, dv_value value) DV_MUST_CHECK;
/* Puts `count` values in the place of items[start .. stop-1].  Takes their ownership, except when
 * it fails. */
bool dv_list_splice(dv_vm *vm, dv_list *list, int64_t start, int64_t stop, const dv_value *values,
                    int64_t count) DV_MUST_CHECK;

#endif
