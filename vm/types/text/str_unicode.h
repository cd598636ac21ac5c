/* str_unicode.h: properties and case mappings of code points (tables made by
 * gen/tables/unicode.py). */
#ifndef DV_TYPES_STR_UNICODE_H
#define DV_TYPES_STR_UNICODE_H

#include <stdbool.h>
#include <stdint.h>
#include "unicode_tables.h"

#define DV_UNICODE_MAX 0x10FFFFu

static inline const dv_unicode_record *dv_unicode_find(uint32_t c) {
    if (c > DV_UNICODE_MAX) return &dv_unicode_records[0];
    uint32_t block = dv_unicode_blocks[c >> DV_UNICODE_SHIFT];
    uint32_t offset = c & ((1u << DV_UNICODE_SHIFT) - 1);
    return &dv_unicode_records[dv_unicode_index[(block << DV_UNICODE_SHIFT) + offset]];
}

/* Its properties (DV_UNICODE_ALPHA, ...).  Nearly all text is Latin, for which one load does. */
static inline uint32_t dv_unicode_flags(uint32_t c) {
    return c < DV_UNICODE_LATIN ? dv_unicode_latin[c] : dv_unicode_find(c)->flags;
}

/* Has c any of these properties? */
static inline bool dv_unicode_is(uint32_t c, uint32_t flags) {
    return (dv_unicode_flags(c) & flags) != 0;
}

/* Applies one of the four mappings of c's record; returns how many code points (1 to 3) it wrote.
 */
static inline int dv_unicode_map(uint32_t c, int32_t mapping, uint32_t out[3]) {
    if (!(mapping > 0 && (mapping & DV_UNICODE_MANY))) {
        out[0] = (uint32_t)((int32_t)c + mapping);
        return 1;
    }
    int count = (mapping >> 16) & 15;
    for (int i = 0; i < count; i++) out[i] = dv_unicode_many[(mapping & 0xFFFF) + i];
    return count;
}

#endif
