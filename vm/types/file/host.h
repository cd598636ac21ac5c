/* host.h: the files of the host.
 *
 * Invariants
 *  1. Whatever a program does to files goes through dv_host_allows first: in a sandboxed VM it
 *     fails with EPERM before anything is touched.  The exception is dv_host_open, where a host
 * that has a hook for it decides.
 *  2. The functions return a negative errno where they fail; they raise nothing.  dv_host_raise
 *     makes the OSError.  The exception: calls that wait and have a VM raise KeyboardInterrupt when
 *     that is interrupted, and return -EINTR, of which dv_host_raise then says nothing. */
#ifndef DV_TYPES_HOST_H
#define DV_TYPES_HOST_H

#include "core/vm.h"

/* A path as the host's functions take it; `text` is on the VM's heap. */
typedef struct dv_host_path {
    char *text;
    size_t size;
    dv_value shown; /* as error messages name it: borrowed */
} dv_host_path;

/* 0, or -EPERM in a sandboxed VM. */
int dv_host_allows(const dv_vm *vm);

/* A descriptor, as the host's hook says; flags and mode as open(2) has them. */
int dv_host_open(dv_vm *vm, const char *path, int flags, int mode);
int64_t dv_host_read(dv_vm *vm, int fd, char *buffer, size_t size);
/* How much was written: it may be less.  vm NULL: is not interrupted. */
int64_t dv_host_write(dv_vm *vm, int fd, const char *data, size_t size);
int64_t dv_host_seek(int fd, int64_t offset, int whence);
int64_t dv_host_truncate(int fd, int64_t size);
int dv_host_close(int fd);
/* A regular file's size, 0 for what is none. */
int64_t dv_host_size(int fd);
bool dv_host_is_directory(int fd);
bool dv_host_is_terminal(int fd);

/* So many random bytes of the system. */
bool dv_host_random(void *bytes, size_t size) DV_MUST_CHECK;

/* os.fspath: a str or bytes (new); TypeError. */
dv_value dv_host_fspath(dv_vm *vm, dv_value v);
/* The text of a str or bytes without zero bytes; false: raised.  Given back with
 * dv_host_path_free. */
bool dv_host_path_of(dv_vm *vm, dv_value v, dv_host_path *out) DV_MUST_CHECK;
void dv_host_path_free(dv_vm *vm, dv_host_path *path);

/* A str of a text of the host: what is no UTF-8 in it is kept as lone surrogates. */
dv_value dv_host_string(dv_vm *vm, const char *text, size_t size);

/* Raises the OSError of this errno (its sign does not matter); names EMPTY: it has none. */
dv_value dv_host_raise(dv_vm *vm, int number, dv_value name);
dv_value dv_host_raise_two(dv_vm *vm, int number, dv_value name, dv_value other);

#endif
