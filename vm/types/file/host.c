/* host.c: the files of the host (host.h). */
#include "types/file/host.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/upcall.h"
#include "types/binary/bytes.h"
#include "types/exception/exception.h"
#include "types/class/instance.h"
#include "types/text/str_text.h"

int dv_host_allows(const dv_vm *vm) { return vm->sandboxed ? -EPERM : 0; }

bool dv_host_random(void *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t got = getrandom((char *)bytes + done, size - done, 0);
        if (got > 0) done += (size_t)got;
        if (got <= 0 && errno != EINTR) return false;
    }
    return true;
}

/* Descriptors ------------------------------------------------------------------------------------
 */

/* After a call was interrupted by a signal: shall it be made again? */
static bool goes_on(dv_vm *vm) { return errno == EINTR && (!vm || dv_poll_interrupt(vm)); }

int dv_host_open(dv_vm *vm, const char *path, int flags, int mode) {
    int fd = -1, refused = dv_host_allows(vm);
    if (vm->asks.open_file) refused = -vm->asks.open_file(vm->asks.file_context, path, flags, &fd);
    if (refused != 0 || fd >= 0) return refused != 0 ? refused : fd;
    do fd = open(path, flags | O_CLOEXEC, mode);
    while (fd < 0 && goes_on(vm));
    return fd >= 0 ? fd : -errno;
}

int64_t dv_host_read(dv_vm *vm, int fd, char *buffer, size_t size) {
    ssize_t got;
    do got = read(fd, buffer, size);
    while (got < 0 && goes_on(vm));
    return got >= 0 ? got : -errno;
}

int64_t dv_host_write(dv_vm *vm, int fd, const char *data, size_t size) {
    ssize_t written;
    do written = write(fd, data, size);
    while (written < 0 && goes_on(vm));
    return written >= 0 ? written : -errno;
}

int64_t dv_host_seek(int fd, int64_t offset, int whence) {
    off_t at = lseek(fd, offset, whence);
    return at >= 0 ? at : -errno;
}

int64_t dv_host_truncate(int fd, int64_t size) { return ftruncate(fd, size) == 0 ? size : -errno; }

int dv_host_close(int fd) { return close(fd) == 0 ? 0 : -errno; }

/* What is no open descriptor is nothing, of no size. */
static struct stat about(int fd) {
    struct stat found = {.st_mode = 0};
    (void)fstat(fd, &found);
    return found;
}

int64_t dv_host_size(int fd) {
    struct stat file = about(fd);
    return S_ISREG(file.st_mode) ? file.st_size : 0;
}

bool dv_host_is_directory(int fd) { return S_ISDIR(about(fd).st_mode); }

bool dv_host_is_terminal(int fd) { return isatty(fd) == 1; }

/* Paths ------------------------------------------------------------------------------------------
 */

dv_value dv_host_fspath(dv_vm *vm, dv_value v) {
    if (dv_is_str(v) || dv_is_bytes(v)) return dv_retain(v);
    bool found = false;
    dv_value path = DV_EMPTY, name = dv_str_intern(vm, "__fspath__", 10);
    if (dv_is_empty(name)) return DV_EMPTY;
    if (dv_is_instance(v)) path = dv_special_call(vm, v, name, NULL, 0, &found);
    dv_release(vm, name);
    if (!found)
        return dv_raise(vm, DV_E_TYPE_ERROR, "expected str, bytes or os.PathLike object, not %S",
                        dv_class_of(vm, v)->name);
    if (dv_is_empty(path) || dv_is_str(path) || dv_is_bytes(path)) return path;
    dv_raise(vm, DV_E_TYPE_ERROR, "expected %T.__fspath__() to return str or bytes, not %T", v,
             path);
    dv_release(vm, path);
    return DV_EMPTY;
}

/* The bytes of a path: lone surrogates stand for what was no UTF-8. */
static dv_value path_bytes(dv_vm *vm, dv_value v) {
    if (dv_is_bytes(v)) return dv_retain(v);
    dv_value errors = dv_str_z(vm, "surrogateescape");
    if (dv_is_empty(errors)) return DV_EMPTY;
    dv_value bytes = dv_encode(vm, v, DV_EMPTY, errors);
    dv_release(vm, errors);
    return bytes;
}

bool dv_host_path_of(dv_vm *vm, dv_value v, dv_host_path *out) {
    dv_value bytes = path_bytes(vm, v);
    if (dv_is_empty(bytes)) return false;
    const dv_str *s = dv_as_bytes(bytes);
    out->shown = v;
    out->size = (size_t)s->length;
    out->text = NULL;
    if (memchr(s->data, '\0', out->size))
        dv_raise(vm, DV_E_VALUE_ERROR, "embedded null byte");
    else if (!(out->text = dv_heap_alloc(&vm->heap, out->size + 1)))
        dv_raise_memory(vm);
    if (out->text) {
        memcpy(out->text, s->data, out->size);
        out->text[out->size] = '\0';
    }
    dv_release(vm, bytes);
    return out->text != NULL;
}

void dv_host_path_free(dv_vm *vm, dv_host_path *path) {
    dv_heap_free(&vm->heap, path->text, path->size + 1);
}

dv_value dv_host_string(dv_vm *vm, const char *text, size_t size) {
    if (dv_utf8_is_ascii(text, size)) return dv_str_new(vm, text, size);
    dv_value bytes = dv_bytes_new(vm, text, (int64_t)size);
    if (dv_is_empty(bytes)) return DV_EMPTY;
    dv_value errors = dv_str_z(vm, "surrogateescape");
    dv_value result = dv_is_empty(errors) ? DV_EMPTY : dv_decode(vm, bytes, DV_EMPTY, errors);
    dv_release(vm, errors);
    dv_release(vm, bytes);
    return result;
}

/* Errors -----------------------------------------------------------------------------------------
 */

dv_value dv_host_raise_two(dv_vm *vm, int number, dv_value name, dv_value other) {
    if (!dv_is_empty(vm->error)) return DV_EMPTY; /* an interrupt (host.h, invariant 2) */
    number = number < 0 ? -number : number;
    dv_value text = dv_str_z(vm, strerror(number));
    if (dv_is_empty(text)) return DV_EMPTY;
    dv_value args[5] = {dv_int(number), text, name, DV_NONE, other};
    uint32_t count = !dv_is_empty(other) ? 5 : !dv_is_empty(name) ? 3 : 2;
    dv_value exception =
        dv_exception_make(vm, dv_exception_class(vm, DV_E_OS_ERROR), args, count, DV_EMPTY);
    if (!dv_is_empty(exception)) dv_exception_raise(vm, exception, DV_EMPTY);
    dv_release(vm, exception);
    dv_release(vm, text);
    return DV_EMPTY;
}

dv_value dv_host_raise(dv_vm *vm, int number, dv_value name) {
    return dv_host_raise_two(vm, number, name, DV_EMPTY);
}
