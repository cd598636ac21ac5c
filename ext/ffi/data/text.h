/* text.h: char, wchar_t, char16_t and char32_t, and their arrays, as bytes and str. */
#ifndef FFI_TEXT_H
#define FFI_TEXT_H

#include "data/cdata.h"

/* One character: bytes of length 1, or str. */
dvx_value text_of_char(dvx_vm *vm, const ctype *type, const char *data);
bool text_write_char(dvx_vm *vm, const ctype *type, char *data, dvx_value v);
/* The code of a character at data. */
uint32_t text_code(const ctype *type, const char *data);

/* `count` characters as bytes or str. */
dvx_value text_of_chars(dvx_vm *vm, const ctype *item, const char *data, int64_t count);
/* So many units of `item` (more than one byte) a str takes; -1: raised. */
int64_t text_units(dvx_vm *vm, const ctype *item, dvx_value str);
/* Writes bytes or str to an array of `length` (-1: enough), with a zero behind it where it fits. */
bool text_write(dvx_vm *vm, const ctype *item, const ctype *shown, int64_t length, char *data,
                dvx_value v);

/* ffi.string and ffi.unpack of characters: how many there are before a zero, at most `most`. */
int64_t text_length(const ctype *item, const char *data, int64_t most);

/* The field that a str names; NULL: KeyError. */
const ctype_field *text_find_field(dvx_vm *vm, const ctype *type, dvx_value name);

#endif
