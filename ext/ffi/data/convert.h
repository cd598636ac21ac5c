/* convert.h: C values in memory from and to values of dl, by cffi's rules.
 *
 * Invariants
 *  1. NaNs that come from C memory are made canonical by the table's make_float.
 *  2. Writing checks before it writes, but for arrays and structs, which are filled one by one. */
#ifndef FFI_CONVERT_H
#define FFI_CONVERT_H

#include "data/cdata.h"

/* What dl sees of the C value at `data`; cdatas that refer to it share the block. */
dvx_value convert_read(dvx_vm *vm, ctype *type, char *data, cdata_block *block);
bool convert_write(dvx_vm *vm, ctype *type, char *data, dvx_value v);
dvx_value convert_read_field(dvx_vm *vm, const ctype_field *field, char *data, cdata_block *block);
/* A field of the struct at data; a flexible array ends at `end` (NULL: where nobody knows). */
bool convert_write_field(dvx_vm *vm, const ctype_field *field, char *data, const char *end,
                         dvx_value v);
bool convert_write_record(dvx_vm *vm, ctype *type, char *data, const char *end, dvx_value v);
/* Fills the array at data, of `length` items (-1: as many as it needs). */
bool convert_write_array(dvx_vm *vm, ctype *item, const ctype *shown, int64_t length, char *data,
                         dvx_value v);

/* Initialisers of ffi.new: how many items `v` asks for in an open array, -1: raised; *given says
 * whether v holds items at all. */
int64_t convert_new_length(dvx_vm *vm, const ctype *item, dvx_value v, bool *given);
/* The size of a struct with a flexible array that this initialises; -1: raised. */
int64_t convert_flexible_size(dvx_vm *vm, ctype *type, dvx_value v);

/* ffi.cast */
dvx_value convert_cast(dvx_vm *vm, ctype *type, dvx_value v);

/* Integers of 1 to 8 bytes. */
int64_t convert_load_signed(const char *data, int64_t size);
uint64_t convert_load_unsigned(const char *data, int64_t size);
void convert_store(char *data, int64_t size, uint64_t bits);

/* A pointer argument that is no cdata: how much memory an array of the list's (...) items takes, 0:
 * it is none of these; -1: raised. */
int64_t convert_temporary_size(dvx_vm *vm, const ctype *pointer, dvx_value v, int64_t *length);

/* The value of an enum as its name, or its number. */
dvx_value convert_enum_text(dvx_vm *vm, const ctype *type, const char *data, bool with_value);

#endif
