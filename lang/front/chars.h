/* chars.h: code points and their classes, as far as the lexer needs them. */
#ifndef DV_LANG_CHARS_H
#define DV_LANG_CHARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the code point at `at`; its size in bytes, or 0 where the bytes are not valid UTF-8. */
size_t dv_chars_decode(const char *at, const char *end, uint32_t *point);

/* Encodes a code point (a surrogate in 3 bytes too) and returns its size, 1 to 4. */
size_t dv_chars_encode(uint32_t point, char out[4]);

bool dv_chars_is_identifier_start(uint32_t point);
bool dv_chars_is_identifier_part(uint32_t point);
bool dv_chars_is_printable(uint32_t point);

/* The value of a digit in a base up to 36; 99 for anything else. */
unsigned dv_chars_digit(char c);

#endif
