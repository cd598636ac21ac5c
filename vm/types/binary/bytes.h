/* bytes.h: bytes and bytearray.
 *
 * Invariants
 *  1. A bytes object is laid out like a str of kind 1 (types/text/str.h), so that what searches and
 *     builds text serves both; only the type number differs, and it is never interned.
 *  2. A bytearray holds a bytes object.  It is written to only while the bytearray has the only
 *     reference, and copied before that otherwise: whoever needs contents that stay the same while
 *     dl code runs retains the bytes object.
 *  3. While there are views of a bytearray, its bytes object is neither replaced nor resized, and
 *     nobody is given it to keep (dv_bytes_shared): it is written to where it is. */
#ifndef DV_TYPES_BYTES_H
#define DV_TYPES_BYTES_H

#include "types/text/str.h"

typedef struct dv_bytearray {
    dv_object header;
    dv_value bytes;
    uint32_t exports; /* views of the contents (types/binary/buffer.h) */
} dv_bytearray;

extern const dv_type dv_bytes_type, dv_bytearray_type;

static inline bool dv_is_bytes(dv_value v) { return dv_has_layout(v, DV_T_BYTES); }
static inline bool dv_is_bytearray(dv_value v) { return dv_has_layout(v, DV_T_BYTEARRAY); }
static inline bool dv_is_bytes_like(dv_value v) { return dv_is_bytes(v) || dv_is_bytearray(v); }
/* The bytes object of a bytes or bytearray, borrowed. */
static inline dv_value dv_bytes_of(dv_value v) {
    return dv_is_bytearray(v) ? ((dv_bytearray *)dv_as_object(v))->bytes : v;
}
static inline dv_str *dv_as_bytes(dv_value v) { return dv_as_str(dv_bytes_of(v)); }

/* The contents for somebody who keeps them, as bytes: new. */
dv_value dv_bytes_shared(dv_vm *vm, dv_value v);
/* Adds a view of a bytearray, and tells where its contents are; NULL: raised. */
char *dv_bytearray_export(dv_vm *vm, dv_value bytearray);
dv_str *dv_bytes_alloc(dv_vm *vm, int64_t length); /* the caller fills in the data; NULL: raised */
dv_value dv_bytes_new(dv_vm *vm, const char *data, int64_t length);
/* What was built, of code points below 256, as bytes. */
dv_value dv_bytes_finish(dv_builder *b);
/* s[start:stop] of a bytes object; clipped by the caller. */
dv_value dv_bytes_slice(dv_vm *vm, dv_value bytes, int64_t start, int64_t stop);
/* The same of a bytes or bytearray. */
dv_value dv_bytes_part(dv_vm *vm, dv_value v, int64_t start, int64_t stop);
/* A bytearray with these contents; takes the ownership of bytes (EMPTY: raised already). */
dv_value dv_bytearray_take(dv_vm *vm, dv_value bytes);
/* The same where `like` is a bytearray, else the bytes themselves. */
dv_value dv_bytes_as(dv_vm *vm, dv_value like, dv_value bytes);
/* Overwrites bytes of a bytearray from `start` on, which must be there. */
bool dv_bytearray_write(dv_vm *vm, dv_value bytearray, int64_t start, const char *data,
                        int64_t count) DV_MUST_CHECK;
/* New reference to the contents of a bytes-like object; EMPTY: TypeError. */
dv_value dv_bytes_contents(dv_vm *vm, dv_value v);
/* bytes(v) for whatever is no int and no str: bytes-like, __bytes__, or an iterable of ints. */
dv_value dv_bytes_from(dv_vm *vm, dv_value v, const char *type);
/* The arguments of bytes() and bytearray() turned to a bytes object. */
dv_value dv_bytes_build(dv_vm *vm, const char *type, const dv_value *args, uint32_t count,
                        dv_value keywords);
/* An int in range(256); `refusal` is the ValueError. */
bool dv_byte_of(dv_vm *vm, dv_value v, const char *refusal, uint8_t *out) DV_MUST_CHECK;
dv_value dv_bytes_repr(dv_vm *vm, dv_value v);

/* What both types share. */
dv_value dv_bytes_hex(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords);
extern const dv_cfunction_def dv_bytes_methods[], dv_bytearray_methods[];
dv_value dv_bytes_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b);
dv_value dv_bytes_binary(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b);
int64_t dv_bytes_length(dv_vm *vm, dv_value self);
int dv_bytes_contains(dv_vm *vm, dv_value self, dv_value item);
dv_value dv_bytes_subscript(dv_vm *vm, dv_value self, dv_value key);

/* Methods of bytearray alone (types/binary/bytearray.c). */
dv_value dv_bytearray_append(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_bytearray_clear(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_bytearray_copy(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_bytearray_extend(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_bytearray_insert(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_bytearray_pop(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_bytearray_remove(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_bytearray_reverse(dv_vm *vm, const dv_value *args, uint32_t count);

typedef enum dv_codec {
    DV_UTF8,
    DV_ASCII,
    DV_LATIN1,
    DV_UTF16, /* this and those behind it are not for files */
    DV_UTF16_LE,
    DV_UTF16_BE,
    DV_UTF32,
    DV_UTF32_LE,
    DV_UTF32_BE,
    DV_UNICODE_ESCAPE,
    DV_RAW_UNICODE_ESCAPE,
    DV_UTF8_SIG, /* utf-8 behind a mark */
    DV_CODEC_UNKNOWN
} dv_codec;
dv_codec dv_codec_named(dv_value name); /* name: str or EMPTY */
/* Codecs (types/binary/codec.c).  encoding and errors are str or EMPTY. */
dv_value dv_encode(dv_vm *vm, dv_value s, dv_value encoding, dv_value errors); /* bytes */
dv_value dv_decode(dv_vm *vm, dv_value bytes, dv_value encoding, dv_value errors);
dv_value dv_encode_method(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords);
dv_value dv_decode_method(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords);

#endif
