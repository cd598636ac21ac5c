/* dict_view.h: keys(), values() and items() of dicts, and their iterators.
 *
 * Invariant 1: an exhausted iterator has dict EMPTY and stays exhausted. */
#ifndef DV_TYPES_DICT_VIEW_H
#define DV_TYPES_DICT_VIEW_H

#include "types/mapping/dict.h"

typedef enum dv_dict_part { DV_DICT_KEYS, DV_DICT_VALUES, DV_DICT_ITEMS } dv_dict_part;

typedef struct dv_dict_view {
    dv_object header;
    dv_value dict;
    dv_dict_part part;
} dv_dict_view;

typedef struct dv_dict_iterator {
    dv_object header;
    dv_value dict;
    int64_t position;  /* in the entries */
    int64_t count;     /* that the dict had at first; -1: it was seen to have another one */
    int64_t remaining; /* items still expected */
    dv_dict_part part;
    bool backward; /* position is behind the next entry */
} dv_dict_iterator;

dv_value dv_dict_view_new(dv_vm *vm, dv_value dict, dv_dict_part part);     /* retains */
dv_value dv_dict_iterator_new(dv_vm *vm, dv_value dict, dv_dict_part part); /* retains */
/* What reversed() makes; retains. */
dv_value dv_dict_reversed(dv_vm *vm, dv_value dict, dv_dict_part part);

/* The types as whose instances views and iterators show themselves, by dv_dict_part. */
extern const dv_type dv_dict_view_faces[3], dv_dict_iterator_faces[6];

#endif
