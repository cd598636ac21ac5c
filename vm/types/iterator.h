/* iterator.h: iterators of list, tuple and str by index, enumerate.
 *
 * Invariants
 *  1. An exhausted iterator has sequence EMPTY and stays exhausted.
 *  2. `type` is the type number of the sequence, also after that. */
#ifndef DV_TYPES_ITERATOR_H
#define DV_TYPES_ITERATOR_H

#include "core/vm.h"

typedef struct dv_iterator {
    dv_object header;
    dv_value sequence; /* list, tuple, str, or any object with __getitem__ */
    int64_t next;
    uint32_t type;
} dv_iterator;

typedef struct dv_enumerate {
    dv_object header;
    dv_value iterator;
    int64_t next;
} dv_enumerate;

extern const dv_type dv_iterator_type, dv_enumerate_type;

dv_value dv_iterator_new(dv_vm *vm, dv_value sequence); /* retains */

/* "list_iterator", "tuple_iterator", "str_iterator", "iterator": CPython has a type for each. */
const char *dv_iterator_name(dv_value iterator);

#endif
