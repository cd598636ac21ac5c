/* name.h: identifiers, one object for each spelling, so that names compare by address. */
#ifndef DV_LANG_NAME_H
#define DV_LANG_NAME_H

#include "lang/diag.h"

typedef struct dv_name {
    struct dv_name *next; /* in its bucket */
    dv_text text;         /* points into memory that lives as long as the unit */
    uint32_t hash;
    const void *mark; /* lang/compile/scope.c: the call that was the last to name an argument so */
} dv_name;

bool dv_name_table_make(dv_front *front);

/* The name with this text, which is not copied; NULL when memory runs out. */
dv_name *dv_name_intern(dv_front *front, dv_text text);

bool dv_name_is(const dv_name *name, const char *text);

uint32_t dv_hash_bytes(const void *data, size_t size, uint32_t seed);

/* From pointers to numbers; kept in the scratch arena. */
typedef struct dv_index_map {
    struct dv_index_slot *slots;
    uint32_t used, capacity;
} dv_index_map;

/* The number stored for the key; DV_NO_INDEX if there is none. */
uint32_t dv_index_map_get(const dv_index_map *map, const void *key);
bool dv_index_map_put(dv_front *front, dv_index_map *map, const void *key, uint32_t index);

#define DV_NO_INDEX UINT32_MAX

/* For messages: "%.*s". */
#define DV_NAME_ARGS(name) (int)(name)->text.size, (name)->text.data

#endif
