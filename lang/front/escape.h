/* escape.h: the text of string literals: escapes are replaced by what they stand for. */
#ifndef DV_LANG_ESCAPE_H
#define DV_LANG_ESCAPE_H

#include "lang/diag.h"

typedef struct dv_escape_buffer {
    char *data;
    uint32_t size, capacity;
} dv_escape_buffer;

bool dv_escape_append(dv_front *front, dv_escape_buffer *buffer, const char *data, uint32_t size);

typedef enum dv_escape_kind { DV_ESCAPE_RAW, DV_ESCAPE_TEXT, DV_ESCAPE_BYTES } dv_escape_kind;

/* Appends what stands between the quotes, escapes replaced.  False with *problem set (to a message)
 * if an escape is wrong, false with *problem empty if memory runs out. */
bool dv_escape_decode(dv_front *front, dv_escape_buffer *buffer, dv_escape_kind kind,
                      const char *at, const char *end, char problem[128]);

#endif
