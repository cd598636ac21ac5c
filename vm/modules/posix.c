/* posix.c: the module posix: the calls of the system that os (lang/lib/os.dl) offers.  All of them
 * ask types/host.h whether the program may. */
#include "modules/modules.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/upcall.h"
#include "types/bytes.h"
#include "types/dict.h"
#include "types/host.h"
#include "types/int.h"
#include "types/list.h"
#include "types/sequence.h"
#include "types/tuple.h"

/* Calls with paths -------------------------------------------------------------------------------
 */

/* The path of an argument, which may be an object with __fspath__; *text keeps it. */
static bool path_argument(dv_vm *vm, dv_value v, dv_value *text, dv_host_path *path) {
    *text = dv_host_fspath(vm, v);
    if (dv_is_empty(*text)) return false;
    if (dv_host_path_of(vm, *text, path)) return true;
    dv_release(vm, *text);
    return false;
}

/* call(path, mode) and its OSError. */
static dv_value on_path(dv_vm *vm, dv_value v, int (*call)(const char *path, unsigned mode),
                        unsigned mode) {
    dv_value text;
    dv_host_path path;
    if (!path_argument(vm, v, &text, &path)) return DV_EMPTY;
    int failed = dv_host_allows(vm);
    if (!failed && call(path.text, mode) != 0) failed = errno;
    dv_host_path_free(vm, &path);
    dv_release(vm, text);
    return failed ? dv_host_raise(vm, failed, v) : DV_NONE;
}

static int do_chdir(const char *path, unsigned mode) { return (void)mode, chdir(path); }
static int do_unlink(const char *path, unsigned mode) { return (void)mode, unlink(path); }
static int do_rmdir(const char *path, unsigned mode) { return (void)mode, rmdir(path); }
static int do_mkdir(const char *path, unsigned mode) { return mkdir(path, mode); }
static int do_chmod(const char *path, unsigned mode) { return chmod(path, mode); }

#define ON_PATH(name)                                                               \
    static dv_value posix_##name(dv_vm *vm, const dv_value *args, uint32_t count) { \
        (void)count;                                                                \
        return on_path(vm, args[0], do_##name, 0);                                  \
    }
#define ON_PATH_WITH_MODE(name)                                                     \
    static dv_value posix_##name(dv_vm *vm, const dv_value *args, uint32_t count) { \
        int64_t mode = 0777;                                                        \
        if (count > 1 && !dv_size_argument(vm, args[1], &mode)) return DV_EMPTY;    \
        return on_path(vm, args[0], do_##name, (unsigned)mode);                     \
    }

ON_PATH(chdir)
ON_PATH(unlink)
ON_PATH(rmdir)
ON_PATH_WITH_MODE(mkdir)
ON_PATH_WITH_MODE(chmod)

static dv_value posix_rename(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value from_text, to_text;
    dv_host_path from, to;
    if (!path_argument(vm, args[0], &from_text, &from)) return DV_EMPTY;
    int failed = -1;
    if (path_argument(vm, args[1], &to_text, &to)) {
        failed = dv_host_allows(vm);
        if (!failed && rename(from.text, to.text) != 0) failed = errno;
        dv_host_path_free(vm, &to);
        dv_release(vm, to_text);
        if (failed) dv_host_raise_two(vm, failed, args[0], args[1]);
    }
    dv_host_path_free(vm, &from);
    dv_release(vm, from_text);
    return failed ? DV_EMPTY : DV_NONE;
}

static dv_value posix_access(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value text;
    dv_host_path path;
    int64_t mode;
    if (!dv_size_argument(vm, args[1], &mode) || !path_argument(vm, args[0], &text, &path))
        return DV_EMPTY;
    bool can = !dv_host_allows(vm) && access(path.text, (int)mode) == 0;
    dv_host_path_free(vm, &path);
    dv_release(vm, text);
    return dv_bool(can);
}

static dv_value posix_getcwd(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    char path[8192];
    int failed = dv_host_allows(vm);
    if (failed || !getcwd(path, sizeof path))
        return dv_host_raise(vm, failed ? failed : errno, DV_EMPTY);
    return dv_host_string(vm, path, strlen(path));
}

static dv_value posix_readlink(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    char target[8192];
    dv_value text;
    dv_host_path path;
    if (!path_argument(vm, args[0], &text, &path)) return DV_EMPTY;
    int failed = dv_host_allows(vm);
    ssize_t size = failed ? -1 : readlink(path.text, target, sizeof target);
    if (!failed && size < 0) failed = errno;
    dv_host_path_free(vm, &path);
    dv_release(vm, text);
    return failed ? dv_host_raise(vm, failed, args[0]) : dv_host_string(vm, target, (size_t)size);
}

/* stat -------------------------------------------------------------------------------------------
 */

static double seconds(struct timespec t) { return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }

/* The ten numbers of a stat result, then the times as floats and in nanoseconds. */
static dv_value stat_tuple(dv_vm *vm, const struct stat *s) {
    const struct timespec times[] = {s->st_atim, s->st_mtim, s->st_ctim};
    dv_value items[16] = {dv_int_from_uint64(vm, s->st_mode), dv_int_from_uint64(vm, s->st_ino),
                          dv_int_from_uint64(vm, s->st_dev),  dv_int_from_uint64(vm, s->st_nlink),
                          dv_int_from_uint64(vm, s->st_uid),  dv_int_from_uint64(vm, s->st_gid),
                          dv_int_from_int64(vm, s->st_size)};
    for (int i = 0; i < 3; i++) {
        items[7 + i] = dv_int_from_int64(vm, times[i].tv_sec);
        items[10 + i] = dv_float(seconds(times[i]));
        items[13 + i] =
            dv_int_from_int64(vm, (int64_t)times[i].tv_sec * 1000000000 + times[i].tv_nsec);
    }
    if (dv_is_empty(vm->error)) return dv_tuple_take(vm, items, 16);
    for (int i = 0; i < 16; i++) dv_release(vm, items[i]);
    return DV_EMPTY;
}

/* stat(path or descriptor, follow links?) */
static dv_value posix_stat(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    struct stat about;
    int64_t fd;
    int failed = dv_host_allows(vm);
    if (dv_is_integral(args[0])) {
        if (!dv_size_argument(vm, args[0], &fd)) return DV_EMPTY;
        if (!failed && fstat((int)fd, &about) != 0) failed = errno;
    } else {
        dv_value text;
        dv_host_path path;
        if (dv_is_float(args[0]) || dv_is_none(args[0]))
            return dv_raise(vm, DV_E_TYPE_ERROR,
                            "stat: path should be string, bytes, os.PathLike or integer, not %T",
                            args[0]);
        if (!path_argument(vm, args[0], &text, &path)) return DV_EMPTY;
        bool follow = dv_same(args[1], DV_TRUE);
        if (!failed && (follow ? stat : lstat)(path.text, &about) != 0) failed = errno;
        dv_host_path_free(vm, &path);
        dv_release(vm, text);
    }
    return failed ? dv_host_raise(vm, failed, args[0]) : stat_tuple(vm, &about);
}

/* Directories ------------------------------------------------------------------------------------
 */

static bool list_names(dv_vm *vm, DIR *directory, dv_value names, bool as_bytes) {
    for (const struct dirent *entry; (entry = readdir(directory));) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        dv_value text = as_bytes ? dv_bytes_new(vm, name, (int64_t)strlen(name))
                                 : dv_host_string(vm, name, strlen(name));
        if (dv_is_empty(text) || !dv_list_push(vm, names, text)) return false;
    }
    return true;
}

static dv_value posix_listdir(dv_vm *vm, const dv_value *args, uint32_t count) {
    dv_value text, given = count && !dv_is_none(args[0]) ? args[0] : DV_EMPTY;
    dv_host_path path;
    dv_value here = dv_str_char(vm, '.');
    if (dv_is_empty(here)) return DV_EMPTY;
    bool read = path_argument(vm, dv_is_empty(given) ? here : given, &text, &path);
    if (read) {
        int failed = dv_host_allows(vm);
        DIR *directory = failed ? NULL : opendir(path.text);
        if (!failed && !directory) failed = errno;
        dv_host_path_free(vm, &path);
        bool as_bytes = dv_is_bytes(text);
        dv_release(vm, text);
        if (failed) dv_host_raise(vm, failed, dv_is_empty(given) ? here : given);
        dv_value names = failed ? DV_EMPTY : dv_list_new(vm, NULL, 0);
        bool good = !dv_is_empty(names) && list_names(vm, directory, names, as_bytes);
        if (directory) closedir(directory);
        dv_release(vm, here);
        if (good) return names;
        dv_release(vm, names);
        return DV_EMPTY;
    }
    dv_release(vm, here);
    return DV_EMPTY;
}

/* The process ------------------------------------------------------------------------------------
 */

/* The environment as a dict; a sandboxed program sees none. */
static dv_value environment(dv_vm *vm) {
    extern char **environ;
    dv_value all = dv_dict_new(vm);
    for (char **at = environ; !dv_is_empty(all) && !vm->sandboxed && at && *at; at++) {
        const char *equals = strchr(*at, '=');
        if (!equals) continue;
        dv_value name = dv_host_string(vm, *at, (size_t)(equals - *at));
        dv_value value = dv_host_string(vm, equals + 1, strlen(equals + 1));
        bool done = !dv_is_empty(name) && !dv_is_empty(value) && dv_dict_set(vm, all, name, value);
        dv_release(vm, name);
        dv_release(vm, value);
        if (done) continue;
        dv_release(vm, all);
        return DV_EMPTY;
    }
    return all;
}

static dv_value posix_getpid(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    return dv_int_from_int64(vm, getpid());
}

static dv_value posix_getppid(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    return dv_int_from_int64(vm, getppid());
}

static dv_value posix_getuid(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    return dv_int_from_int64(vm, getuid());
}

static dv_value posix_cpu_count(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)vm, (void)args, (void)count;
    long number = sysconf(_SC_NPROCESSORS_ONLN);
    return number > 0 ? dv_int(number) : DV_NONE;
}

static dv_value posix_urandom(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t size;
    if (!dv_size_argument(vm, args[0], &size)) return DV_EMPTY;
    if (size < 0) return dv_raise(vm, DV_E_VALUE_ERROR, "negative argument not allowed");
    dv_str *bytes = dv_bytes_alloc(vm, size);
    if (!bytes) return DV_EMPTY;
    for (int64_t done = 0; done < size;) {
        ssize_t got = getrandom(bytes->data + done, (size_t)(size - done), 0);
        if (got > 0) done += got;
        if (got > 0 || errno == EINTR) continue;
        dv_release_object(vm, &bytes->header);
        return dv_host_raise(vm, errno, DV_EMPTY);
    }
    return dv_object_value(bytes);
}

static dv_value posix_strerror(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t number;
    if (!dv_size_argument(vm, args[0], &number)) return DV_EMPTY;
    return dv_str_z(vm, strerror((int)number));
}

/* (columns, lines) of the terminal at a descriptor. */
static dv_value posix_terminal_size(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t fd;
    struct winsize size;
    if (!dv_size_argument(vm, args[0], &fd)) return DV_EMPTY;
    if (ioctl((int)fd, TIOCGWINSZ, &size) != 0) return dv_host_raise(vm, errno, DV_EMPTY);
    dv_value items[2] = {dv_int(size.ws_col), dv_int(size.ws_row)};
    return dv_tuple_new(vm, items, 2);
}

static dv_value posix_fspath(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_host_fspath(vm, args[0]);
}

#define ROW(function, least, most) \
    { .name = #function, .entry = posix_##function, .min = least, .max = most }

static const dv_cfunction_def functions[] = {
    ROW(access, 2, 2),        ROW(chdir, 1, 1),   ROW(chmod, 2, 2),   ROW(cpu_count, 0, 0),
    ROW(fspath, 1, 1),        ROW(getcwd, 0, 0),  ROW(getpid, 0, 0),  ROW(getppid, 0, 0),
    ROW(getuid, 0, 0),        ROW(listdir, 0, 1), ROW(mkdir, 1, 2),   ROW(readlink, 1, 1),
    ROW(rename, 2, 2),        ROW(rmdir, 1, 1),   ROW(stat, 2, 2),    ROW(strerror, 1, 1),
    ROW(terminal_size, 1, 1), ROW(unlink, 1, 1),  ROW(urandom, 1, 1), {.name = NULL}};

bool dv_posix_fill(dv_vm *vm, dv_module *module) {
    return dv_module_add_functions(vm, module, functions) &&
           dv_module_add(vm, module, "environment", environment(vm));
}
