/* collections_parts.h: the parts of the module collections that have files of their own. */
#ifndef DV_MODULES_COLLECTIONS_PARTS_H
#define DV_MODULES_COLLECTIONS_PARTS_H

#include "types/file/module.h"

/* Fills the new module collections with its classes. */
bool dv_collections_fill(dv_vm *vm, dv_module *module) DV_MUST_CHECK;

/* collections_ordered.c: gives the class OrderedDict those of its methods that are C; its
 * decorator. */
dv_value dv_collections_ordered(dv_vm *vm, const dv_value *args, uint32_t count);

/* collections_deque.c */
extern const dv_type dv_deque_type, dv_deque_iterator_type, dv_deque_reversed_type;

#endif
