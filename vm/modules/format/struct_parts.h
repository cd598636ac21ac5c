/* struct_parts.h: what the files of the module struct share: a format as it was understood.
 *
 * Invariants
 *  1. A dv_struct never changes.  Its codes stand for items, not for padding: `offset` is where the
 *     first of `repeat` items of `size` bytes lies; a string (s, p) is one item of `size` bytes.
 *  2. `count` is the number of items that are packed and unpacked, all codes together. */
#ifndef DV_MODULES_STRUCT_PARTS_H
#define DV_MODULES_STRUCT_PARTS_H

#include "types/file/module.h"

typedef enum dv_struct_kind {
    DV_STRUCT_CHAR,
    DV_STRUCT_STRING,
    DV_STRUCT_PASCAL,
    DV_STRUCT_BOOL,
    DV_STRUCT_SIGNED,
    DV_STRUCT_UNSIGNED,
    DV_STRUCT_POINTER,
    DV_STRUCT_FLOAT
} dv_struct_kind;

typedef struct dv_struct_code {
    char format;
    uint8_t kind;
    bool big;    /* big endian */
    bool native; /* CPython has the C compiler's functions for it: other messages */
    int64_t size, offset, repeat;
} dv_struct_code;

typedef struct dv_struct {
    dv_object header;
    dv_value format; /* str */
    int64_t size, count;
    int64_t code_count;
    dv_struct_code codes[];
} dv_struct;

extern const dv_type dv_struct_type, dv_struct_iterator_type;

static inline dv_struct *dv_as_struct(dv_value v) { return (dv_struct *)dv_as_object(v); }

/* struct_format.c: a new Struct of a format (an ASCII str); struct.error. */
dv_value dv_struct_parse(dv_vm *vm, dv_value format);

/* struct_code.c: `args` are as many as the format has items; `out` has room for its size. */
bool dv_struct_pack(dv_vm *vm, const dv_struct *s, const dv_value *args, char *out) DV_MUST_CHECK;
dv_value dv_struct_unpack(dv_vm *vm, const dv_struct *s, const char *data); /* a tuple */

#endif
