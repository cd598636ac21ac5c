/* posix_files.c: the part of the module posix that makes files and links, and sets their times
 * (posix_parts.h). */
#include "modules/system/posix_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/upcall.h"
#include "modules/modules.h"
#include "types/binary/bytes.h"
#include "types/callable/arguments.h"
#include "types/file/host.h"
#include "types/number/int.h"
#include "types/sequence/sequence.h"
#include "types/sequence/tuple.h"

/* ---- Calls with two paths ---------------------------------------------------------------------*/

static dv_value two_paths(dv_vm *vm, const char *function, int (*call)(const char *, const char *),
                          const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"src", "dst", "target_is_directory"};
    const uint32_t most = call == symlink ? 3 : 2; /* what Unix has no use for */
    const dv_parameters parameters = {function, names, most, most, 2};
    const dv_path_rule rules[] = {{function, "src", DV_PATH, false},
                                  {function, "dst", DV_PATH, false}};
    dv_value given[3];
    dv_file_argument from, to;
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, given)) return DV_EMPTY;
    if (!dv_file_from(vm, &rules[0], given[0], &from)) return DV_EMPTY;
    bool good = dv_file_from(vm, &rules[1], given[1], &to);
    if (good) {
        int failed = dv_host_allows(vm);
        if (!failed && call(from.path.text, to.path.text) != 0) failed = errno;
        if (failed) dv_host_raise_two(vm, failed, from.text, to.text);
        dv_file_let_go(vm, &to);
        good = !failed;
    }
    dv_file_let_go(vm, &from);
    return good ? DV_NONE : DV_EMPTY;
}

#define TWO_PATHS(name, call)                                                                      \
    dv_value dv_posix_##name(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) { \
        return two_paths(vm, #name, call, args, count, keywords);                                  \
    }

TWO_PATHS(rename, rename)
TWO_PATHS(replace, rename)
TWO_PATHS(symlink, symlink)
TWO_PATHS(link, link)

/* ---- Descriptors ------------------------------------------------------------------------------*/

/* open(path, flags, mode=0o777): a descriptor that child processes do not get. */
dv_value dv_posix_open(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"path", "flags", "mode"};
    static const dv_parameters parameters = {"open", names, 3, 3, 2};
    static const dv_path_rule rule = {"open", "path", DV_PATH, false};
    dv_value given[3];
    dv_file_argument file;
    int64_t flags, mode = 0777;
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, given)) return DV_EMPTY;
    if (!dv_int_argument(vm, given[1], &flags)) return DV_EMPTY;
    if (!dv_is_empty(given[2]) && !dv_int_argument(vm, given[2], &mode)) return DV_EMPTY;
    if (!dv_file_from(vm, &rule, given[0], &file)) return DV_EMPTY;
    int fd = dv_host_open(vm, file.path.text, (int)flags | O_CLOEXEC, (int)mode);
    return dv_file_finish(vm, &file, fd < 0 ? -fd : 0, given[0]) ? dv_int(fd) : DV_EMPTY;
}

static bool descriptor(dv_vm *vm, dv_value v, int64_t *fd) {
    if (!dv_int_argument(vm, v, fd)) return false;
    const int failed = dv_host_allows(vm);
    if (failed) dv_host_raise(vm, failed, DV_EMPTY);
    return !failed;
}

dv_value dv_posix_close(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t fd;
    if (!descriptor(vm, args[0], &fd)) return DV_EMPTY;
    const int failed = dv_host_close((int)fd);
    return failed < 0 ? dv_host_raise(vm, failed, DV_EMPTY) : DV_NONE;
}

dv_value dv_posix_read(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t fd, size;
    if (!descriptor(vm, args[0], &fd) || !dv_size_argument(vm, args[1], &size)) return DV_EMPTY;
    if (size < 0) return dv_host_raise(vm, EINVAL, DV_EMPTY);
    dv_str *bytes = dv_bytes_alloc(vm, size);
    if (!bytes) return DV_EMPTY;
    const int64_t got = dv_host_read(vm, (int)fd, (char *)bytes->data, (size_t)size);
    dv_value result = got < 0 ? dv_host_raise(vm, (int)got, DV_EMPTY)
                              : dv_bytes_new(vm, (const char *)bytes->data, got);
    dv_release_object(vm, &bytes->header);
    return result;
}

dv_value dv_posix_write(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t fd;
    if (!descriptor(vm, args[0], &fd)) return DV_EMPTY;
    dv_value bytes = dv_bytes_contents(vm, args[1]);
    if (dv_is_empty(bytes)) return DV_EMPTY;
    const dv_str *data = dv_as_str(bytes);
    const int64_t put = dv_host_write(vm, (int)fd, (const char *)data->data, (size_t)data->length);
    dv_release(vm, bytes);
    return put < 0 ? dv_host_raise(vm, (int)put, DV_EMPTY) : dv_int_from_int64(vm, put);
}

/* ---- Times ------------------------------------------------------------------------------------*/

/* utime(path, nanoseconds of access, of modification, follow links?) */
dv_value dv_posix_utime(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    static const dv_path_rule rule = {"utime", "path", DV_PATH, false};
    int64_t access, change;
    dv_file_argument file;
    if (!dv_size_argument(vm, args[1], &access) || !dv_size_argument(vm, args[2], &change))
        return DV_EMPTY;
    if (!dv_file_from(vm, &rule, args[0], &file)) return DV_EMPTY;
    enum { SECOND = 1000000000 };
    const int64_t both[] = {access, change};
    struct timespec times[2];
    for (int i = 0; i < 2; i++) {
        times[i].tv_sec = both[i] / SECOND - (both[i] % SECOND < 0);
        times[i].tv_nsec = both[i] - (int64_t)times[i].tv_sec * SECOND;
    }
    int failed = dv_host_allows(vm);
    const int flags = dv_same(args[3], DV_TRUE) ? 0 : AT_SYMLINK_NOFOLLOW;
    if (!failed && utimensat(AT_FDCWD, file.path.text, times, flags) != 0) failed = errno;
    dv_file_let_go(vm, &file);
    return failed ? dv_host_raise(vm, failed, DV_EMPTY) : DV_NONE; /* CPython's has no name */
}

/* ---- File systems -----------------------------------------------------------------------------*/

/* statvfs(path or descriptor): what os.statvfs_result names. */
dv_value dv_posix_statvfs(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    static const dv_path_rule rule = {"statvfs", "path", DV_PATH_OR_FD, true};
    struct statvfs about;
    dv_file_argument file;
    if (!dv_file_from(vm, &rule, args[0], &file)) return DV_EMPTY;
    int failed = dv_host_allows(vm);
    if (!failed) {
        int result = file.fd >= 0 ? fstatvfs(file.fd, &about) : statvfs(file.path.text, &about);
        if (result != 0) failed = errno;
    }
    if (!dv_file_finish(vm, &file, failed, args[0])) return DV_EMPTY;
    const uint64_t numbers[] = {about.f_bsize,  about.f_frsize, about.f_blocks, about.f_bfree,
                                about.f_bavail, about.f_files,  about.f_ffree,  about.f_favail,
                                about.f_flag,   about.f_namemax};
    enum { COUNT = sizeof numbers / sizeof numbers[0] };
    dv_value items[COUNT];
    for (int i = 0; i < COUNT; i++) items[i] = dv_int_from_uint64(vm, numbers[i]);
    if (dv_is_empty(vm->error)) return dv_tuple_take(vm, items, COUNT);
    for (int i = 0; i < COUNT; i++) dv_release(vm, items[i]);
    return DV_EMPTY;
}
