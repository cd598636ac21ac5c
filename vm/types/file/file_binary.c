/* file_binary.c: binary files: BufferedReader, BufferedWriter, BufferedRandom and FileIO, which
 * differ in what they refuse and in the buffer that FileIO does not keep (file.h). */
#define _GNU_SOURCE /* SEEK_HOLE */
#include "types/binary/buffer.h"
#include "types/file/file.h"

#include <errno.h>
#include <unistd.h>

#include "core/upcall.h"
#include "types/file/host.h"
#include "types/number/int.h"
#include "types/sequence/sequence.h"

static bool is_raw(const dv_file *f) { return f->header.shape == DV_T_FILE_IO; }

/* CPython's messages name the method, but for FileIO. */
static bool check_open(dv_vm *vm, const dv_file *f, const char *message) {
    return dv_file_check_open(vm, f, is_raw(f) ? "I/O operation on closed file" : message);
}

static bool check_reads(dv_vm *vm, const dv_file *f, const char *message, const char *what) {
    if (!check_open(vm, f, message)) return false;
    if (f->readable) return true;
    dv_file_unsupported(vm, is_raw(f) ? "File not open for reading" : what);
    return false;
}

/* Reading ----------------------------------------------------------------------------------------
 */

/* The first `size` bytes of what was read. */
static dv_value take(dv_vm *vm, dv_file *f, size_t size) {
    dv_value bytes = dv_bytes_new(vm, f->buffer ? f->buffer + f->start : "", (int64_t)size);
    if (!dv_is_empty(bytes)) f->start += size;
    return bytes;
}

static bool fill_up_to(dv_vm *vm, dv_file *f, size_t size) {
    while (f->end - f->start < size) {
        size_t missing = size - (f->end - f->start);
        int64_t got = dv_file_fill(vm, f, missing > DV_FILE_CHUNK ? missing : DV_FILE_CHUNK);
        if (got <= 0) return got == 0;
    }
    return true;
}

static dv_value read_sized(dv_vm *vm, dv_file *f, int64_t size) {
    bool filled = true;
    if (size < 0)
        filled = dv_file_fill_all(vm, f);
    else if (is_raw(f) && size > 0)
        filled = dv_file_fill(vm, f, (size_t)size) >= 0;
    else if (!is_raw(f))
        filled = fill_up_to(vm, f, (size_t)size);
    if (!filled) return DV_EMPTY;
    size_t there = f->end - f->start;
    return take(vm, f, size < 0 || (size_t)size > there ? there : (size_t)size);
}

static dv_value binary_read(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_file *f = dv_as_file(args[0]);
    int64_t size;
    if (!dv_file_size_argument(vm, args, count, &size) ||
        !check_reads(vm, f, "read of closed file", "read"))
        return DV_EMPTY;
    if (size < -1) return dv_raise(vm, DV_E_VALUE_ERROR, "read length must be non-negative or -1");
    return read_sized(vm, f, size);
}

/* Of a FileIO, which is not asked whether it is open for reading. */
static dv_value raw_readall(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_file *f = dv_as_file(args[0]);
    return check_open(vm, f, NULL) ? read_sized(vm, f, -1) : DV_EMPTY;
}

/* What is there, or what one call of the host gives. */
static dv_value read_once(dv_vm *vm, dv_file *f, int64_t size) {
    if (size > 0 && f->start == f->end && dv_file_fill(vm, f, DV_FILE_CHUNK) < 0) return DV_EMPTY;
    size_t there = f->end - f->start;
    return take(vm, f, (size_t)size > there ? there : (size_t)size);
}

static dv_value binary_read1(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_file *f = dv_as_file(args[0]);
    int64_t size;
    if (!dv_file_size_argument(vm, args, count, &size) ||
        !check_reads(vm, f, "read of closed file", "read1"))
        return DV_EMPTY;
    return read_once(vm, f, size < 0 ? DV_FILE_CHUNK : size);
}

static dv_value binary_peek(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_file *f = dv_as_file(args[0]);
    if (!check_reads(vm, f, "peek of closed file", "peek")) return DV_EMPTY;
    if (f->start == f->end && dv_file_fill(vm, f, DV_FILE_CHUNK) < 0) return DV_EMPTY;
    return dv_bytes_new(vm, f->buffer ? f->buffer + f->start : "", (int64_t)(f->end - f->start));
}

static dv_value binary_readinto(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_file *f = dv_as_file(args[0]);
    dv_view view;
    int64_t size;
    if (!dv_view_room(vm, args[1], "readinto", &view, &size)) return DV_EMPTY;
    bool reads = check_reads(vm, f, "readinto of closed file", "readinto");
    return dv_view_fill(vm, &view, reads ? read_sized(vm, f, size) : DV_EMPTY);
}

static dv_value buffered_readinto1(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_file *f = dv_as_file(args[0]);
    dv_view view;
    int64_t size;
    if (!dv_view_room(vm, args[1], "readinto1", &view, &size)) return DV_EMPTY;
    bool reads = check_reads(vm, f, "readinto of closed file", "readinto");
    return dv_view_fill(vm, &view, reads ? read_once(vm, f, size) : DV_EMPTY);
}

/* A line of at most `limit` bytes (-1: of any length), with its '\n'; empty at the end. */
static dv_value read_line(dv_vm *vm, dv_file *f, int64_t limit) {
    for (size_t looked = 0;;) {
        size_t there = f->end - f->start;
        if (limit >= 0 && there > (size_t)limit) there = (size_t)limit;
        const char *from = f->buffer + f->start;
        const char *newline = there > looked ? memchr(from + looked, '\n', there - looked) : NULL;
        if (newline) return take(vm, f, (size_t)(newline - from) + 1);
        if (limit >= 0 && there == (size_t)limit) return take(vm, f, there);
        looked = there;
        int64_t got = dv_file_fill(vm, f, DV_FILE_CHUNK);
        if (got < 0) return DV_EMPTY;
        if (got == 0) return take(vm, f, there);
    }
}

static dv_value binary_readline(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_file *f = dv_as_file(args[0]);
    int64_t limit;
    if (!dv_file_size_argument(vm, args, count, &limit) ||
        !check_reads(vm, f, "readline of closed file", "read"))
        return DV_EMPTY;
    return read_line(vm, f, limit);
}

static dv_value binary_next(dv_vm *vm, dv_value self) {
    dv_file *f = dv_as_file(self);
    if (!check_reads(vm, f, "readline of closed file", "read")) return DV_EMPTY;
    dv_value line = read_line(vm, f, -1);
    if (dv_is_empty(line) || dv_as_str(line)->length > 0) return line;
    dv_release(vm, line);
    return DV_EMPTY;
}

/* Writing and moving -----------------------------------------------------------------------------
 */

/* What was read and not yet taken is given back: the next byte is where the program thinks. */
static bool give_back(dv_vm *vm, dv_file *f) {
    if (f->start == f->end) return true;
    return dv_file_seek(vm, f, (int64_t)f->start - (int64_t)f->end, SEEK_CUR) >= 0;
}

static dv_value write_bytes(dv_vm *vm, dv_file *f, const dv_str *bytes) {
    if (!f->writable && !is_raw(f)) return dv_file_unsupported(vm, "write");
    if (!check_open(vm, f, "write to closed file")) return DV_EMPTY;
    if (!f->writable) return dv_file_unsupported(vm, "File not open for writing");
    size_t size = (size_t)bytes->length;
    if (!give_back(vm, f)) return DV_EMPTY;
    if (is_raw(f)) {
        int64_t written = dv_file_write_once(vm, f, bytes->data, size);
        /* One that an interrupt has cut short: the next may wait for ever. */
        return written < 0 || !dv_poll_interrupt(vm) ? DV_EMPTY : dv_int(written);
    }
    return dv_file_put(vm, f, bytes->data, size) ? dv_int(bytes->length) : DV_EMPTY;
}

static dv_value binary_write(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value bytes = dv_bytes_contents(vm, args[1]);
    if (dv_is_empty(bytes)) return DV_EMPTY;
    dv_value written = write_bytes(vm, dv_as_file(args[0]), dv_as_str(bytes));
    dv_release(vm, bytes);
    return written;
}

static dv_value binary_flush(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_file *f = dv_as_file(args[0]);
    const char *message = f->writable ? "flush of closed file" : "I/O operation on closed file.";
    if (!check_open(vm, f, message)) return DV_EMPTY;
    return dv_file_flush(vm, f) ? DV_NONE : DV_EMPTY;
}

/* A FileIO leaves this to the host. */
static bool check_seeks(dv_vm *vm, const dv_file *f) {
    if (f->can_seek || is_raw(f)) return true;
    dv_file_unsupported(vm, "File or stream is not seekable.");
    return false;
}

/* An int beyond int64 is another error for each kind of file. */
static bool place_argument(dv_vm *vm, bool is_long, dv_value v, int64_t *place) {
    if (!dv_is_any_int(v) || dv_int_to_int64(v, place)) return dv_size_argument(vm, v, place);
    if (is_long)
        dv_raise(vm, DV_E_OVERFLOW_ERROR, "Python int too large to convert to C long");
    else
        dv_raise(vm, DV_E_VALUE_ERROR, "cannot fit '%T' into an offset-sized integer", v);
    return false;
}

static dv_value binary_seek(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_file *f = dv_as_file(args[0]);
    int64_t offset, whence = SEEK_SET;
    if (count > 2 && !dv_int_argument(vm, args[2], &whence)) return DV_EMPTY;
    if (!is_raw(f) && (whence < SEEK_SET || whence > SEEK_HOLE))
        return dv_raise(vm, DV_E_VALUE_ERROR, "whence value %d unsupported", (int)whence);
    if (!check_open(vm, f, "seek of closed file") || !check_seeks(vm, f) ||
        !place_argument(vm, is_raw(f), args[1], &offset) || !dv_file_flush(vm, f))
        return DV_EMPTY;
    if (whence == SEEK_CUR) offset += (int64_t)f->start - (int64_t)f->end;
    int64_t at = dv_file_seek(vm, f, offset, (int)whence);
    return at < 0 ? DV_EMPTY : dv_int_from_int64(vm, at);
}

static int64_t place_of(const dv_file *f) {
    return f->position - (int64_t)(f->end - f->start) + (int64_t)f->pending;
}

static dv_value binary_tell(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_file *f = dv_as_file(args[0]);
    if (!check_open(vm, f, "I/O operation on closed file")) return DV_EMPTY;
    if (!f->can_seek) return dv_host_raise(vm, ESPIPE, DV_EMPTY);
    if (!dv_file_locate(vm, f)) return DV_EMPTY;
    return dv_int_from_int64(vm, place_of(f));
}

static dv_value binary_truncate(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_file *f = dv_as_file(args[0]);
    int64_t size;
    if (!check_open(vm, f, "truncate of closed file")) return DV_EMPTY;
    if (!f->writable)
        return dv_file_unsupported(vm, is_raw(f) ? "File not open for writing" : "truncate");
    if (count < 2 || dv_is_none(args[1]))
        size = place_of(f);
    else if (!place_argument(vm, true, args[1], &size))
        return DV_EMPTY;
    if (!give_back(vm, f) || !dv_file_flush(vm, f)) return DV_EMPTY;
    int64_t done = dv_host_truncate(f->fd, size);
    return done < 0 ? dv_host_raise(vm, (int)done, DV_EMPTY) : dv_int_from_int64(vm, size);
}

/* The types --------------------------------------------------------------------------------------
 */

static dv_value binary_repr(dv_vm *vm, dv_value self) {
    const dv_file *f = dv_as_file(self);
    const char *type = vm->types[f->header.shape]->name;
    if (!is_raw(f)) return dv_str_printf(vm, "<%s name=%V>", type, f->name);
    if (f->closed) return dv_str_printf(vm, "<%s [closed]>", type);
    return dv_str_printf(vm, "<%s name=%V mode=%V closefd=%s>", type, f->name, f->mode,
                         f->keeps_fd ? "False" : "True");
}

#define METHODS                                                             \
    {.name = "read", .entry = binary_read, .min = 1, .max = 2},             \
        {.name = "readinto", .entry = binary_readinto, .min = 2, .max = 2}, \
        {.name = "readline", .entry = binary_readline, .min = 1, .max = 2}, \
        {.name = "write", .entry = binary_write, .min = 2, .max = 2},       \
        {.name = "flush", .entry = binary_flush, .min = 1, .max = 1},       \
        {.name = "seek", .entry = binary_seek, .min = 2, .max = 3},         \
        {.name = "tell", .entry = binary_tell, .min = 1, .max = 1},         \
        {.name = "truncate", .entry = binary_truncate, .min = 1, .max = 2}, DV_FILE_METHODS

static const dv_cfunction_def buffered_methods[] = {
    METHODS,
    {.name = "read1", .entry = binary_read1, .min = 1, .max = 2},
    {.name = "readinto1", .entry = buffered_readinto1, .min = 2, .max = 2},
    {.name = "peek", .entry = binary_peek, .min = 1, .max = 2},
    {.name = NULL}};

static const dv_cfunction_def raw_methods[] = {
    METHODS, {.name = "readall", .entry = raw_readall, .min = 1, .max = 1}, {.name = NULL}};

#define BINARY_TYPE(variable, text, number, table, maker)             \
    const dv_type variable = {.name = text,                           \
                              .id = number,                           \
                              .weakly = true,                         \
                              .release = dv_file_release,             \
                              .repr = binary_repr,                    \
                              .iterate = dv_file_iterate,             \
                              .next = binary_next,                    \
                              .get_attribute = dv_file_get_attribute, \
                              .construct = maker,                     \
                              .methods = table}

BINARY_TYPE(dv_buffered_reader_type, "_io.BufferedReader", DV_T_BUFFERED_READER, buffered_methods,
            dv_buffered_reader_construct);
BINARY_TYPE(dv_buffered_writer_type, "_io.BufferedWriter", DV_T_BUFFERED_WRITER, buffered_methods,
            dv_buffered_writer_construct);
BINARY_TYPE(dv_buffered_random_type, "_io.BufferedRandom", DV_T_BUFFERED_RANDOM, buffered_methods,
            dv_buffered_random_construct);
BINARY_TYPE(dv_file_io_type, "_io.FileIO", DV_T_FILE_IO, raw_methods, dv_file_io_construct);
