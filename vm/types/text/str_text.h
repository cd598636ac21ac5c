/* str_text.h: what the files of str share: UTF-8 and releasing.
 */
#ifndef DV_TYPES_STR_TEXT_H
#define DV_TYPES_STR_TEXT_H

#include "types/text/str.h"

bool dv_utf8_is_ascii(const char *text, size_t size);
/* The code point at *at of UTF-8 text, which is moved behind it. */
uint32_t dv_utf8_next(const char *text, size_t size, size_t *at);
/* Writes up to 4 bytes; returns how many. */
size_t dv_utf8_put(uint32_t code_point, char *out);

void dv_str_release(dv_vm *vm, dv_object *object);

#endif
