/* stream.h: sys.stdin, sys.stdout and sys.stderr: text streams that the embedder provides
 * (output, error_output, input of dv_vm). */
#ifndef DV_TYPES_STREAM_H
#define DV_TYPES_STREAM_H

#include "core/vm.h"

/* The first field of a text file (types/file/file.h). */
typedef enum dv_stream_number { DV_STDIN, DV_STDOUT, DV_STDERR, DV_NO_STREAM } dv_stream_number;

typedef struct dv_stream {
    dv_object header;
    dv_stream_number number;
} dv_stream;

/* Is it one of the standard streams, and not an opened file? */
static inline bool dv_is_standard(dv_value v) {
    return dv_is_shape(v, DV_T_STREAM) &&
           ((const dv_stream *)dv_as_object(v))->number != DV_NO_STREAM;
}

extern const dv_type dv_stream_type;

dv_value dv_stream_new(dv_vm *vm, dv_stream_number number);
/* The `buffer` of a standard stream: a binary file. */
dv_value dv_stream_binary(dv_vm *vm, dv_stream_number number);

/* Writes a str as UTF-8.  Lone surrogates: UnicodeEncodeError on stdout, escaped on stderr. */
bool dv_stream_write(dv_vm *vm, dv_stream_number number, dv_value text) DV_MUST_CHECK;
/* The text with its lone surrogates as "\\ud800": new. */
dv_value dv_stream_escape(dv_vm *vm, dv_value text);
/* sys.displayhook: unless v is None, its repr on stdout, and the builtin name `_` for it. */
bool dv_stream_display(dv_vm *vm, dv_value v) DV_MUST_CHECK;
/* Writes bytes below the text that the host has not yet let go; size 0: flushes them. */
bool dv_stream_put(dv_vm *vm, dv_stream_number number, const char *data, size_t size) DV_MUST_CHECK;
bool dv_stream_flush(dv_vm *vm, dv_stream_number number) DV_MUST_CHECK;
/* Is there no sys.stdin or sys.stdout, or is it None? */
bool dv_stream_lost(const dv_vm *vm, dv_stream_number number);
/* The next bytes of stdin; -1: raised. */
int64_t dv_stream_read(dv_vm *vm, char *buffer, size_t size);
/* A line of stdin with its newline; an empty str at the end. */
dv_value dv_stream_read_line(dv_vm *vm);

#endif
