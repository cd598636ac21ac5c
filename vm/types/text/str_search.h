/* str_search.h: finding text in text. */
#ifndef DV_TYPES_STR_SEARCH_H
#define DV_TYPES_STR_SEARCH_H

#include "types/text/str.h"

/* Position of the first (last) occurrence of `part` that lies within s[start:stop]; -1: none.
 * 0 <= start and stop <= length; start > stop finds nothing, not even the empty string. */
int64_t dv_str_find(const dv_str *s, const dv_str *part, int64_t start, int64_t stop);
/* The last place; its work is counted as it goes on; false: raised. */
bool dv_str_seek_last(dv_vm *vm, const dv_str *s, const dv_str *part, int64_t start, int64_t stop,
                      int64_t *hit) DV_MUST_CHECK;

/* The same for one code point. */
int64_t dv_str_find_char(const dv_str *s, uint32_t c, int64_t start, int64_t stop);

/* Does `part` stand at position `at`? */
bool dv_str_matches(const dv_str *s, const dv_str *part, int64_t at);

bool dv_str_seek_long(dv_vm *vm, const dv_str *s, const dv_str *part, int64_t start, int64_t stop,
                      int64_t *hit) DV_MUST_CHECK;

/* dv_str_find whose work is counted as it goes on; false: raised. */
DV_MUST_CHECK static inline bool dv_str_seek(dv_vm *vm, const dv_str *s, const dv_str *part,
                                             int64_t start, int64_t stop, int64_t *hit) {
    enum { SHORT = 1 << 12 }; /* done within a round that counts */
    if (stop - start > SHORT) return dv_str_seek_long(vm, s, part, start, stop, hit);
    *hit = dv_str_find(s, part, start, stop);
    return true;
}

/* Number of occurrences that do not overlap; the work is counted, too. */
bool dv_str_count(dv_vm *vm, const dv_str *s, const dv_str *part, int64_t start, int64_t stop,
                  int64_t *count) DV_MUST_CHECK;

#endif
