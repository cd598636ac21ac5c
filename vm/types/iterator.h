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
    dv_value iterator, number; /* an int of any size */
} dv_enumerate;

extern const dv_type dv_iterator_type, dv_enumerate_type;

/* The types as whose instances dv_iterators show themselves; that of arrays comes with its module.
 */
enum { DV_ITERATOR_FACES = 6 };
extern const dv_type dv_iterator_faces[DV_ITERATOR_FACES], dv_array_iterator_type;

dv_value dv_iterator_new(dv_vm *vm, dv_value sequence); /* retains */

#endif
