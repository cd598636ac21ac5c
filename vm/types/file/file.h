/* file.h: files: the buffer that text and binary files share, and open().
 *
 * Invariants
 *  1. buffer[start .. end-1] was read from the descriptor and not yet by the program;
 *     buffer[0 .. pending-1] was written by the program and not yet to the descriptor.  One of the
 *     two is empty.
 *  2. Of a text file buffer[start .. valid-1] can be handed out: it is text in the file's codec (of
 *     UTF-8 whole code points).  The rest is the beginning of a code point, or not yet looked at.
 *  3. `position` is where the descriptor is, for what can seek (else it only counts).
 *  4. Standard streams are text files without a descriptor, and so are the binary files that are
 *     their `buffer`: they write and read through the embedder's functions, and what they write is
 *     not kept back here.  Text is read from what `buffer` has read first.
 *  5. A file is closed when it is released.  fd is -1 from closing on. */
#ifndef DV_TYPES_FILE_H
#define DV_TYPES_FILE_H

#include "types/binary/bytes.h"
#include "types/file/stream.h"

enum { DV_FILE_CHUNK = 8192 }; /* read at a time, and collected before writing */

typedef enum dv_newline {
    DV_NEWLINE_UNIVERSAL, /* None: every line end is read as '\n' */
    DV_NEWLINE_KEEP,      /* '': lines end at any, which stays as it is */
    DV_NEWLINE_LF,
    DV_NEWLINE_CR,
    DV_NEWLINE_CRLF
} dv_newline;

/* The kinds of line ends that were read; what the attribute newlines tells. */
enum { DV_SEEN_CR = 1, DV_SEEN_LF = 2, DV_SEEN_CRLF = 4 };

typedef struct dv_file {
    dv_object header;
    dv_stream_number number; /* DV_NO_STREAM: an opened file */
    int fd;
    bool closed, keeps_fd, readable, writable, can_seek, appends;
    char *buffer;
    size_t capacity, start, end, valid, pending;
    int64_t position;
    dv_value name, mode;
    /* Text files alone. */
    dv_value encoding, errors;
    dv_codec codec;
    dv_newline newline;
    uint8_t seen_ends; /* of its input: dv_line_end bits */
    dv_value binary;   /* of a standard stream: its `buffer`, once asked for; else EMPTY */
    bool strict;       /* errors are raised */
    bool plain;        /* all of the buffer is ASCII, or each byte is a character anyway */
    bool has_cr;       /* there may be a '\r' in the buffer */
    bool waits_cr;     /* the last thing looked at was a '\r': a '\n' may follow */
    bool at_end;       /* the last read found the end */
    bool by_line;      /* writing a '\n' flushes */
    bool iterates;     /* next() has been called: tell() does not work */
    bool mended;       /* errors= has changed what is in the buffer: neither does tell() */
} dv_file;

extern const dv_type dv_buffered_reader_type, dv_buffered_writer_type, dv_buffered_random_type,
    dv_file_io_type;

static inline dv_file *dv_as_file(dv_value v) { return (dv_file *)dv_as_object(v); }

/* A file of a type without a descriptor yet; NULL: raised. */
dv_file *dv_file_new(dv_vm *vm, dv_type_id type);
void dv_file_release(dv_vm *vm, dv_object *object);

/* open(), with arguments as a program gives them. */
dv_value dv_file_open(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords);
/* FileIO(); TextIOWrapper() of the binary file behind a standard stream.  That of anything else,
 * and Buffered...(), are objects of classes in dl (lang/lib/files/_io_layers.dl). */
dv_value dv_file_io_construct(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords);
dv_value dv_stream_construct(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords);
dv_value dv_buffered_reader_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                      dv_value keywords);
dv_value dv_buffered_writer_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                      dv_value keywords);
dv_value dv_buffered_random_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                      dv_value keywords);

/* Is v one of the machine's classes that stand for classes in dl when others derive from them? */
bool dv_is_file_base(dv_value v);
/* ... and for which. */
dv_value dv_file_base(dv_vm *vm, dv_value class_);

/* Has a standard stream nothing in its buffers that was read and not handed out? */
static inline bool dv_file_is_fresh(const dv_file *f) {
    return f->start == f->end && dv_is_empty(f->binary) && !f->closed;
}

/* More input behind `end`: at most `size` bytes.  The number; 0 at the end, -1 raised. */
int64_t dv_file_fill(dv_vm *vm, dv_file *f, size_t size);
/* All the rest of the input behind `end`. */
bool dv_file_fill_all(dv_vm *vm, dv_file *f) DV_MUST_CHECK;
bool dv_file_room(dv_vm *vm, dv_file *f, size_t size) DV_MUST_CHECK; /* that many behind `end` */
/* Writes, keeping back what fits into the buffer. */
bool dv_file_put(dv_vm *vm, dv_file *f, const char *data, size_t size) DV_MUST_CHECK;
/* Writes past the buffer, as much as the host takes at once: the number, -1 raised. */
int64_t dv_file_write_once(dv_vm *vm, dv_file *f, const char *data, size_t size);
/* Asks the host where the descriptor is; false: raised, for example because it is closed. */
bool dv_file_locate(dv_vm *vm, dv_file *f) DV_MUST_CHECK;
bool dv_file_flush(dv_vm *vm, dv_file *f) DV_MUST_CHECK;
bool dv_file_close(dv_vm *vm, dv_file *f) DV_MUST_CHECK;
/* Moves the descriptor; what was read is forgotten.  The new position; -1: raised. */
int64_t dv_file_seek(dv_vm *vm, dv_file *f, int64_t offset, int whence);
/* A text file's write(). */
bool dv_file_write_text(dv_vm *vm, dv_file *f, dv_value text) DV_MUST_CHECK;

/* Raise; false and EMPTY. */
dv_value dv_file_unsupported(dv_vm *vm, const char *what); /* io.UnsupportedOperation */
bool dv_file_check_open(dv_vm *vm, const dv_file *f, const char *message) DV_MUST_CHECK;

/* The argument of read() and its like: None or -1: everything. */
bool dv_file_size_argument(dv_vm *vm, const dv_value *args, uint32_t count,
                           int64_t *size) DV_MUST_CHECK;

/* Methods and attributes that all files have. */
#define DV_FILE_METHODS                                                                 \
    {.name = "close", .entry = dv_file_method_close, .min = 1, .max = 1},               \
        {.name = "fileno", .entry = dv_file_method_fileno, .min = 1, .max = 1},         \
        {.name = "isatty", .entry = dv_file_method_isatty, .min = 1, .max = 1},         \
        {.name = "readable", .entry = dv_file_method_readable, .min = 1, .max = 1},     \
        {.name = "writable", .entry = dv_file_method_writable, .min = 1, .max = 1},     \
        {.name = "seekable", .entry = dv_file_method_seekable, .min = 1, .max = 1},     \
        {.name = "readlines", .entry = dv_file_method_readlines, .min = 1, .max = 2},   \
        {.name = "writelines", .entry = dv_file_method_writelines, .min = 2, .max = 2}, \
        {.name = "__enter__", .entry = dv_file_method_enter, .min = 1, .max = 1}, {     \
        .name = "__exit__", .entry = dv_file_method_exit, .min = 1, .max = UINT32_MAX   \
    }
dv_value dv_file_method_close(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_file_method_fileno(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_file_method_isatty(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_file_method_readable(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_file_method_writable(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_file_method_seekable(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_file_method_readlines(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_file_method_writelines(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_file_method_enter(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_file_method_exit(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_file_get_attribute(dv_vm *vm, dv_value self, dv_value name);
dv_value dv_file_iterate(dv_vm *vm, dv_value self);
/* None, the one kind of line end that was seen, or a tuple of them. */
dv_value dv_file_newlines(dv_vm *vm, unsigned seen);

#endif
