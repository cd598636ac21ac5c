/* file.c: what text and binary files share: the buffer between them and the descriptor, closing,
 * and the methods that are the same for both (file.h). */
#include "types/file/file.h"

#include <unistd.h>

#include "core/upcall.h"
#include "types/exception/exception.h"
#include "types/file/host.h"
#include "types/number/int.h"
#include "types/sequence/list.h"
#include "types/file/module.h"
#include "types/sequence/sequence.h"
#include "types/sequence/tuple.h"

/* Errors -----------------------------------------------------------------------------------------
 */

/* The class is made with the module io, which a program that only calls open() has not imported. */
dv_value dv_file_unsupported(dv_vm *vm, const char *what) {
    dv_value io = dv_str_intern(vm, "io", 2), name = dv_str_intern(vm, "UnsupportedOperation", 20);
    dv_value module = DV_EMPTY, class_ = DV_EMPTY, text = dv_str_z(vm, what), error = DV_EMPTY;
    if (!dv_is_empty(io) && !dv_is_empty(name) && !dv_is_empty(text)) module = dv_import(vm, io);
    if (!dv_is_empty(module)) class_ = dv_get_attribute(vm, module, name);
    if (!dv_is_empty(class_)) error = dv_call(vm, class_, &text, 1, DV_EMPTY);
    if (!dv_is_empty(error)) dv_exception_raise(vm, error, DV_EMPTY);
    dv_release(vm, io);
    dv_release(vm, name);
    dv_release(vm, module);
    dv_release(vm, class_);
    dv_release(vm, text);
    dv_release(vm, error);
    return DV_EMPTY;
}

bool dv_file_check_open(dv_vm *vm, const dv_file *f, const char *message) {
    if (!f->closed) return true;
    dv_raise(vm, DV_E_VALUE_ERROR, "%s", message);
    return false;
}

/* Making and closing -----------------------------------------------------------------------------
 */

dv_file *dv_file_new(dv_vm *vm, dv_type_id type) {
    dv_file *f = dv_object_new(vm, sizeof *f, type);
    if (!f) return NULL;
    dv_object header = f->header;
    *f = (dv_file){.header = header,
                   .number = DV_NO_STREAM,
                   .fd = -1,
                   .name = DV_NONE,
                   .mode = DV_NONE,
                   .encoding = DV_NONE,
                   .errors = DV_NONE,
                   .binary = DV_EMPTY,
                   .strict = true,
                   .plain = true};
    return f;
}

static void free_buffer(dv_vm *vm, dv_file *f) {
    if (f->buffer) dv_heap_free(&vm->heap, f->buffer, f->capacity);
    f->buffer = NULL;
    f->capacity = f->start = f->end = f->valid = f->pending = 0;
}

bool dv_file_close(dv_vm *vm, dv_file *f) {
    if (f->closed) return true;
    bool flushed = dv_file_flush(vm, f);
    int closed = f->fd >= 0 && !f->keeps_fd ? dv_host_close(f->fd) : 0;
    f->closed = true;
    if (!dv_is_empty(f->binary)) {
        dv_as_file(f->binary)->closed = true;
        dv_as_file(f->binary)->number = DV_NO_STREAM;
    }
    f->fd = -1;
    f->number =
        DV_NO_STREAM; /* who knows a standard stream by that need not ask whether it is open */
    free_buffer(vm, f);
    if (flushed && closed < 0) dv_host_raise(vm, closed, DV_EMPTY);
    return flushed && closed == 0;
}

/* What a file that nobody closed still keeps back; nobody hears of errors. */
static void write_last(const dv_file *f) {
    for (size_t done = 0; done < f->pending;) {
        int64_t written = dv_host_write(NULL, f->fd, f->buffer + done, f->pending - done);
        if (written < 0) return;
        done += (size_t)written;
    }
}

void dv_file_release(dv_vm *vm, dv_object *object) {
    dv_file *f = (dv_file *)object;
    if (!f->closed && f->number == DV_NO_STREAM) {
        write_last(f);
        if (f->fd >= 0 && !f->keeps_fd) (void)dv_host_close(f->fd);
    }
    free_buffer(vm, f);
    dv_release(vm, f->name);
    dv_release(vm, f->mode);
    dv_release(vm, f->encoding);
    dv_release(vm, f->errors);
    dv_release(vm, f->binary);
    dv_heap_free(&vm->heap, f, sizeof *f);
}

/* Reading ----------------------------------------------------------------------------------------
 */

bool dv_file_room(dv_vm *vm, dv_file *f, size_t size) {
    if (f->start == f->end) f->start = f->end = f->valid = 0;
    if (f->capacity - f->end >= size) return true;
    if (f->start > 0) {
        memmove(f->buffer, f->buffer + f->start, f->end - f->start);
        f->end -= f->start;
        f->valid -= f->start;
        f->start = 0;
        if (f->capacity - f->end >= size) return true;
    }
    size_t wanted = f->end + size, grown = f->capacity + f->capacity / 2;
    size_t capacity = wanted > grown ? wanted : grown;
    char *buffer = dv_heap_resize(&vm->heap, f->buffer, f->capacity, capacity);
    if (!buffer) {
        dv_raise_memory(vm);
        return false;
    }
    f->buffer = buffer;
    f->capacity = capacity;
    return true;
}

/* What the `buffer` of a standard stream has read and not handed out. */
static int64_t take_over(dv_file *binary, char *to, size_t size) {
    size_t there = binary->end - binary->start;
    if (size > there) size = there;
    if (size) memcpy(to, binary->buffer + binary->start, size);
    binary->start += size;
    return (int64_t)size;
}

static int64_t read_some(dv_vm *vm, dv_file *f, char *to, size_t size) {
    if (f->number == DV_NO_STREAM) return dv_host_read(vm, f->fd, to, size);
    int64_t got = dv_is_empty(f->binary) ? 0 : take_over(dv_as_file(f->binary), to, size);
    if (got > 0) return got;
    return dv_stream_read(vm, to, size);
}

int64_t dv_file_fill(dv_vm *vm, dv_file *f, size_t size) {
    if (f->pending && !dv_file_flush(vm, f)) return -1;
    if (!dv_file_room(vm, f, size)) return -1;
    int64_t got = read_some(vm, f, f->buffer + f->end, size);
    if (got < 0) {
        if (dv_is_empty(vm->error)) dv_host_raise(vm, (int)got, DV_EMPTY);
        return -1;
    }
    f->end += (size_t)got;
    f->position += got;
    return dv_poll_interrupt(vm) ? got : -1;
}

bool dv_file_fill_all(dv_vm *vm, dv_file *f) {
    if (f->pending && !dv_file_flush(vm, f)) return false;
    int64_t size = dv_host_size(f->fd);
    size_t step = size > f->position ? (size_t)(size - f->position) + 1 : DV_FILE_CHUNK;
    for (;;) {
        int64_t got = dv_file_fill(vm, f, step);
        if (got <= 0) return got == 0;
        step = DV_FILE_CHUNK;
        if (f->capacity - f->end > step) step = f->capacity - f->end;
    }
}

/* Writing ----------------------------------------------------------------------------------------
 */

int64_t dv_file_write_once(dv_vm *vm, dv_file *f, const char *data, size_t size) {
    int64_t written = dv_host_write(vm, f->fd, data, size);
    if (written < 0) {
        dv_host_raise(vm, (int)written, DV_EMPTY);
        return -1;
    }
    /* Where appending puts them the host alone knows. */
    int64_t end = f->appends && f->can_seek ? dv_host_seek(f->fd, 0, SEEK_CUR) : -1;
    f->position = end >= 0 ? end : f->position + written;
    return written;
}

/* Adds to `done` what was written. */
static bool write_all(dv_vm *vm, dv_file *f, const char *data, size_t size, size_t *done) {
    while (*done < size) {
        int64_t written = dv_file_write_once(vm, f, data + *done, size - *done);
        if (written < 0) return false;
        *done += (size_t)written;
        if (!dv_poll_interrupt(vm)) return false;
    }
    return true;
}

bool dv_file_flush(dv_vm *vm, dv_file *f) {
    if (f->number == DV_STDIN) return true;
    if (f->number != DV_NO_STREAM)
        return f->header.shape == DV_T_STREAM ? dv_stream_flush(vm, f->number)
                                              : dv_stream_put(vm, f->number, "", 0);
    if (!f->pending) return true;
    size_t done = 0;
    bool good = write_all(vm, f, f->buffer, f->pending, &done);
    f->pending -= done;
    memmove(f->buffer, f->buffer + done, f->pending);
    return good;
}

bool dv_file_put(dv_vm *vm, dv_file *f, const char *data, size_t size) {
    if (f->number != DV_NO_STREAM) return size == 0 || dv_stream_put(vm, f->number, data, size);
    if (f->pending + size > DV_FILE_CHUNK && !dv_file_flush(vm, f)) return false;
    size_t done = 0;
    if (size > DV_FILE_CHUNK) return write_all(vm, f, data, size, &done);
    f->start = f->end = f->valid = 0;
    if (!dv_file_room(vm, f, DV_FILE_CHUNK)) return false;
    memcpy(f->buffer + f->pending, data, size);
    f->pending += size;
    return true;
}

bool dv_file_locate(dv_vm *vm, dv_file *f) {
    int64_t at = dv_host_seek(f->fd, 0, SEEK_CUR);
    if (at >= 0)
        f->position = at;
    else
        dv_host_raise(vm, (int)at, DV_EMPTY);
    return at >= 0;
}

int64_t dv_file_seek(dv_vm *vm, dv_file *f, int64_t offset, int whence) {
    if (!dv_file_flush(vm, f)) return -1;
    int64_t at = dv_host_seek(f->fd, offset, whence);
    if (at < 0) {
        dv_host_raise(vm, (int)at, DV_EMPTY);
        return -1;
    }
    f->start = f->end = f->valid = 0;
    f->position = at;
    f->plain = true;
    f->has_cr = f->waits_cr = f->at_end = f->iterates = f->mended = false;
    f->seen_ends = 0;
    return at;
}

/* Methods ----------------------------------------------------------------------------------------
 */

#define CLOSED "I/O operation on closed file."

bool dv_file_size_argument(dv_vm *vm, const dv_value *args, uint32_t count, int64_t *size) {
    *size = -1;
    return count < 2 || dv_is_none(args[1]) || dv_optional_size_argument(vm, args[1], size);
}

dv_value dv_file_method_close(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_file_close(vm, dv_as_file(args[0])) ? DV_NONE : DV_EMPTY;
}

dv_value dv_file_method_fileno(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_file *f = dv_as_file(args[0]);
    if (!dv_file_check_open(vm, f, "I/O operation on closed file")) return DV_EMPTY;
    return dv_int(f->number == DV_NO_STREAM ? f->fd : (int)f->number);
}

dv_value dv_file_method_isatty(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_file *f = dv_as_file(args[0]);
    if (!dv_file_check_open(vm, f, "I/O operation on closed file")) return DV_EMPTY;
    if (f->number == DV_NO_STREAM) return dv_bool(dv_host_is_terminal(f->fd));
    return dv_bool(!vm->sandboxed && dv_host_is_terminal((int)f->number));
}

static dv_value tell_whether(dv_vm *vm, const dv_file *f, bool can) {
    return dv_file_check_open(vm, f, "I/O operation on closed file") ? dv_bool(can) : DV_EMPTY;
}

/* A BufferedReader never can write, and a BufferedWriter never read: closed or not. */
dv_value dv_file_method_readable(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_file *f = dv_as_file(args[0]);
    return f->header.shape == DV_T_BUFFERED_WRITER ? DV_FALSE : tell_whether(vm, f, f->readable);
}

dv_value dv_file_method_writable(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_file *f = dv_as_file(args[0]);
    return f->header.shape == DV_T_BUFFERED_READER ? DV_FALSE : tell_whether(vm, f, f->writable);
}

dv_value dv_file_method_seekable(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_file *f = dv_as_file(args[0]);
    return tell_whether(vm, f, f->can_seek);
}

dv_value dv_file_method_readlines(dv_vm *vm, const dv_value *args, uint32_t count) {
    int64_t hint, size = 0;
    if (!dv_file_size_argument(vm, args, count, &hint)) return DV_EMPTY;
    dv_value lines = dv_list_new(vm, NULL, 0);
    if (dv_is_empty(lines) || !dv_file_check_open(vm, dv_as_file(args[0]), CLOSED)) {
        dv_release(vm, lines);
        return DV_EMPTY;
    }
    const dv_type *type = vm->types[dv_as_object(args[0])->shape];
    for (;;) {
        dv_value line = type->next(vm, args[0]);
        if (dv_is_empty(line)) break;
        size += dv_as_str(line)->length;
        if (!dv_list_push(vm, lines, line)) break;
        if (hint > 0 && size > hint) return lines;
    }
    if (dv_is_empty(vm->error)) return lines;
    dv_release(vm, lines);
    return DV_EMPTY;
}

dv_value dv_file_method_writelines(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!dv_file_check_open(vm, dv_as_file(args[0]), CLOSED)) return DV_EMPTY;
    dv_value name = dv_str_intern(vm, "write", 5);
    dv_value write = dv_is_empty(name) ? DV_EMPTY : dv_get_attribute(vm, args[0], name);
    dv_value iterator = dv_is_empty(write) ? DV_EMPTY : dv_iterate(vm, args[1]);
    while (!dv_is_empty(iterator)) {
        dv_value line = dv_next(vm, iterator);
        if (dv_is_empty(line)) break;
        dv_value result = dv_call(vm, write, &line, 1, DV_EMPTY);
        dv_release(vm, line);
        dv_release(vm, result);
        if (dv_is_empty(result)) break;
    }
    dv_release(vm, iterator);
    dv_release(vm, write);
    dv_release(vm, name);
    return dv_is_empty(vm->error) ? DV_NONE : DV_EMPTY;
}

dv_value dv_file_method_enter(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_file_check_open(vm, dv_as_file(args[0]), CLOSED) ? dv_retain(args[0]) : DV_EMPTY;
}

dv_value dv_file_method_exit(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_file_method_close(vm, args, 1);
}

dv_value dv_file_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    (void)vm;
    const dv_file *f = dv_as_file(self);
    if (dv_str_is(name, "closed")) return dv_bool(f->closed);
    if (dv_str_is(name, "name")) return dv_retain(f->name);
    if (dv_str_is(name, "mode")) return dv_retain(f->mode);
    return DV_EMPTY;
}

dv_value dv_file_newlines(dv_vm *vm, unsigned seen) {
    static const char *const texts[] = {"\r", "\n", "\r\n"};
    dv_value found[3];
    int64_t count = 0;
    for (unsigned i = 0; i < 3; i++)
        if (seen >> i & 1) found[count++] = dv_str_z(vm, texts[i]);
    if (count == 0) return DV_NONE;
    if (count == 1) return found[0];
    dv_value all = dv_is_empty(vm->error) ? dv_tuple_new(vm, found, count) : DV_EMPTY;
    while (count > 0) dv_release(vm, found[--count]);
    return all;
}

dv_value dv_file_iterate(dv_vm *vm, dv_value self) {
    return dv_file_check_open(vm, dv_as_file(self), CLOSED) ? dv_retain(self) : DV_EMPTY;
}
