/* posix.c: the module posix: the calls of the system that os (lang/lib/os.dl) offers.  All of them
 * ask types/file/host.h whether the program may. */
#include "modules/modules.h"
#include "modules/system/posix_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/upcall.h"
#include "types/callable/arguments.h"
#include "types/binary/bytes.h"
#include "types/mapping/dict.h"
#include "types/file/host.h"
#include "types/class/instance.h"
#include "types/number/int.h"
#include "types/sequence/list.h"
#include "types/sequence/sequence.h"
#include "types/sequence/tuple.h"

/* Arguments that are paths -----------------------------------------------------------------------
 */

static dv_value refuse_path(dv_vm *vm, const dv_path_rule *rule, dv_value v) {
    return dv_raise(vm, DV_E_TYPE_ERROR, "%s: %s should be %s, not %T", rule->function,
                    rule->parameter, rule->kinds, v);
}

static bool has_fspath(dv_vm *vm, dv_value v) {
    if (!dv_is_instance(v)) return false;
    dv_value name = dv_str_intern(vm, "__fspath__", 10);
    bool found = !dv_is_empty(name) && dv_has_special(vm, v, name);
    dv_release(vm, name);
    return found;
}

static bool descriptor_argument(dv_vm *vm, dv_value v, dv_file_argument *out) {
    int64_t fd = INT64_MAX;
    dv_value whole = dv_int_index(vm, v);
    if (dv_is_empty(whole)) return false;
    if (!dv_int_to_int64(whole, &fd)) fd = dv_int_sign(whole) < 0 ? INT64_MIN : INT64_MAX;
    dv_release(vm, whole);
    out->text = DV_NONE;
    out->fd = (int)fd;
    if (fd == out->fd) return true;
    dv_raise(vm, DV_E_OVERFLOW_ERROR, "fd is %s",
             fd > 0 ? "greater than maximum" : "less than minimum");
    return false;
}

bool dv_file_from(dv_vm *vm, const dv_path_rule *rule, dv_value v, dv_file_argument *out) {
    *out = (dv_file_argument){.fd = -1, .text = DV_EMPTY};
    if (dv_is_str(v) || dv_is_bytes(v) || has_fspath(vm, v)) {
        out->text = dv_host_fspath(vm, v);
    } else if (dv_is_empty(vm->error)) {
        if (rule->descriptor && dv_is_index(vm, v)) return descriptor_argument(vm, v, out);
        refuse_path(vm, rule, v);
    }
    if (dv_is_empty(out->text)) return false;
    if (dv_host_path_of(vm, out->text, &out->path)) return true;
    bool as_bytes = dv_is_bytes(out->text);
    dv_release(vm, out->text);
    if (!as_bytes || !dv_error_is(vm, DV_E_VALUE_ERROR)) return false;
    dv_error_clear(vm);
    dv_raise(vm, DV_E_VALUE_ERROR, "%s: embedded null character in %s", rule->function,
             rule->parameter);
    return false;
}

static bool is_path(const dv_file_argument *f) { return !dv_is_none(f->text); }

/* CPython takes the descriptor -1 for a path that is not there. */
static bool is_nothing(const dv_file_argument *f) { return !is_path(f) && f->fd == -1; }

void dv_file_let_go(dv_vm *vm, dv_file_argument *f) {
    if (is_path(f)) dv_host_path_free(vm, &f->path);
    dv_release(vm, f->text);
}

bool dv_file_finish(dv_vm *vm, dv_file_argument *f, int failed, dv_value given) {
    if (failed) dv_host_raise(vm, failed, is_path(f) ? f->text : given);
    dv_file_let_go(vm, f);
    return !failed;
}

/* Calls with paths -------------------------------------------------------------------------------
 */

typedef struct path_call {
    dv_path_rule rule;
    int (*on_path)(const char *path, unsigned mode);
    int (*on_descriptor)(int fd, unsigned mode);
    bool mode_needed;
} path_call;

/* call(path, mode) and its OSError. */
static dv_value do_call(dv_vm *vm, const path_call *call, dv_value v, int64_t mode) {
    dv_file_argument file;
    if (!dv_file_from(vm, &call->rule, v, &file)) return DV_EMPTY;
    int failed = dv_host_allows(vm);
    if (!failed && is_nothing(&file)) failed = EFAULT;
    if (!failed) {
        int result = is_path(&file) ? call->on_path(file.path.text, (unsigned)mode)
                                    : call->on_descriptor(file.fd, (unsigned)mode);
        if (result != 0) failed = errno;
    }
    return dv_file_finish(vm, &file, failed, v) ? DV_NONE : DV_EMPTY;
}

static dv_value with_path(dv_vm *vm, const path_call *call, const dv_value *args, uint32_t count,
                          dv_value keywords) {
    static const char *const names[] = {"path"};
    const dv_parameters parameters = {call->rule.function, names, 1, 1, 1};
    dv_value given;
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, &given)) return DV_EMPTY;
    return do_call(vm, call, given, 0);
}

static dv_value with_mode(dv_vm *vm, const path_call *call, const dv_value *args, uint32_t count,
                          dv_value keywords) {
    static const char *const names[] = {"path", "mode"};
    const dv_parameters parameters = {call->rule.function, names, 2, 2, call->mode_needed ? 2 : 1};
    dv_value given[2];
    int64_t mode = 0777;
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, given)) return DV_EMPTY;
    if (!dv_is_empty(given[1]) && !dv_int_argument(vm, given[1], &mode)) return DV_EMPTY;
    return do_call(vm, call, given[0], mode);
}

static int do_chdir(const char *path, unsigned mode) { return (void)mode, chdir(path); }
static int do_fchdir(int fd, unsigned mode) { return (void)mode, fchdir(fd); }
static int do_unlink(const char *path, unsigned mode) { return (void)mode, unlink(path); }
static int do_rmdir(const char *path, unsigned mode) { return (void)mode, rmdir(path); }
static int do_mkdir(const char *path, unsigned mode) { return mkdir(path, mode); }
static int do_chmod(const char *path, unsigned mode) { return chmod(path, mode); }
static int do_fchmod(int fd, unsigned mode) { return fchmod(fd, mode); }

/* The function of the module: bind (with_path or with_mode) and call. */
#define PATH_FUNCTION(name, bind, kinds, verb, fd_call, needed)                         \
    static dv_value posix_##name(dv_vm *vm, const dv_value *args, uint32_t count,       \
                                 dv_value keywords) {                                   \
        static const path_call call = {.rule = {#name, "path", kinds, fd_call != NULL}, \
                                       .on_path = do_##verb,                            \
                                       .on_descriptor = fd_call,                        \
                                       .mode_needed = needed};                          \
        return bind(vm, &call, args, count, keywords);                                  \
    }

PATH_FUNCTION(chdir, with_path, DV_PATH_OR_FD, chdir, do_fchdir, false)
PATH_FUNCTION(unlink, with_path, DV_PATH, unlink, NULL, false)
PATH_FUNCTION(remove, with_path, DV_PATH, unlink, NULL, false)
PATH_FUNCTION(rmdir, with_path, DV_PATH, rmdir, NULL, false)
PATH_FUNCTION(mkdir, with_mode, DV_PATH, mkdir, NULL, false)
PATH_FUNCTION(chmod, with_mode, DV_PATH_OR_FD, chmod, do_fchmod, true)

static dv_value posix_access(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"path", "mode"};
    static const dv_parameters parameters = {"access", names, 2, 2, 2};
    static const dv_path_rule rule = {"access", "path", DV_PATH, false};
    dv_value given[2];
    dv_file_argument file;
    int64_t mode;
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, given)) return DV_EMPTY;
    if (!dv_file_from(vm, &rule, given[0], &file)) return DV_EMPTY;
    bool good = dv_int_argument(vm, given[1], &mode);
    bool can = good && !dv_host_allows(vm) && access(file.path.text, (int)mode) == 0;
    dv_file_let_go(vm, &file);
    return good ? dv_bool(can) : DV_EMPTY;
}

static dv_value posix_getcwd(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    char path[8192];
    int failed = dv_host_allows(vm);
    if (!failed && !getcwd(path, sizeof path)) failed = errno;
    if (failed) return dv_host_raise(vm, failed, DV_EMPTY);
    return dv_host_string(vm, path, strlen(path));
}

static dv_value posix_readlink(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"path"};
    static const dv_parameters parameters = {"readlink", names, 1, 1, 1};
    static const dv_path_rule rule = {"readlink", "path", DV_PATH, false};
    char target[8192];
    dv_value given;
    dv_file_argument file;
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, &given)) return DV_EMPTY;
    if (!dv_file_from(vm, &rule, given, &file)) return DV_EMPTY;
    int failed = dv_host_allows(vm);
    ssize_t size = failed ? 0 : readlink(file.path.text, target, sizeof target);
    if (size < 0) failed = errno;
    bool as_bytes = dv_is_bytes(file.text);
    if (!dv_file_finish(vm, &file, failed, given)) return DV_EMPTY;
    return as_bytes ? dv_bytes_new(vm, target, size) : dv_host_string(vm, target, (size_t)size);
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
    static const dv_path_rule stat_rule = {"stat", "path", DV_PATH_OR_FD, true},
                              lstat_rule = {"lstat", "path", DV_PATH, false};
    (void)count;
    bool follow = dv_same(args[1], DV_TRUE);
    struct stat about;
    dv_file_argument file;
    if (!dv_file_from(vm, follow ? &stat_rule : &lstat_rule, args[0], &file)) return DV_EMPTY;
    int failed = dv_host_allows(vm);
    if (!failed && is_nothing(&file)) failed = EFAULT;
    if (!failed) {
        int result = !is_path(&file) ? fstat(file.fd, &about)
                     : follow        ? stat(file.path.text, &about)
                                     : lstat(file.path.text, &about);
        if (result != 0) failed = errno;
    }
    return dv_file_finish(vm, &file, failed, args[0]) ? stat_tuple(vm, &about) : DV_EMPTY;
}

/* fstat(descriptor) */
static dv_value posix_fstat(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t fd;
    struct stat about;
    if (!dv_int_argument(vm, args[0], &fd)) return DV_EMPTY;
    int failed = dv_host_allows(vm);
    if (!failed && fstat((int)fd, &about) != 0) failed = errno;
    return failed ? dv_host_raise(vm, failed, DV_EMPTY) : stat_tuple(vm, &about);
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

/* The names in a directory, which is closed then. */
static dv_value names_in(dv_vm *vm, DIR *directory, bool as_bytes) {
    dv_value names = dv_list_new(vm, NULL, 0);
    bool good = !dv_is_empty(names) && list_names(vm, directory, names, as_bytes);
    closedir(directory);
    if (good) return names;
    dv_release(vm, names);
    return DV_EMPTY;
}

/* A descriptor stays open, and where it is read from next. */
static DIR *open_descriptor(int fd) {
    int own = dup(fd);
    DIR *directory = own < 0 ? NULL : fdopendir(own);
    if (directory) rewinddir(directory);
    if (!directory && own >= 0) {
        int failed = errno;
        close(own);
        errno = failed;
    }
    return directory;
}

static dv_value posix_listdir(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"path"};
    static const dv_parameters parameters = {"listdir", names, 1, 1, 0};
    static const dv_path_rule rule = {"listdir", "path",
                                      "string, bytes, os.PathLike, integer or None", true};
    dv_value given;
    dv_file_argument file;
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, &given)) return DV_EMPTY;
    bool here = dv_is_empty(given) || dv_is_none(given);
    if (!here && !dv_file_from(vm, &rule, given, &file)) return DV_EMPTY;
    if (!here) here = is_nothing(&file);
    int failed = dv_host_allows(vm);
    DIR *directory = NULL;
    if (!failed) {
        directory = here             ? opendir(".")
                    : is_path(&file) ? opendir(file.path.text)
                                     : open_descriptor(file.fd);
        if (!directory) failed = errno;
    }
    bool as_bytes = !here && dv_is_bytes(file.text);
    /* A descriptor that is none has no name in the message of listdir. */
    if (!here && !dv_file_finish(vm, &file, failed, failed == EBADF ? DV_EMPTY : given))
        return DV_EMPTY;
    if (!failed) return names_in(vm, directory, as_bytes);
    dv_value dot = dv_str_char(vm, '.');
    if (!dv_is_empty(dot)) dv_host_raise(vm, failed, dot);
    dv_release(vm, dot);
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

/* What says which process this is, or whose: none of a sandboxed program's business. */
static dv_value own_number(dv_vm *vm, int64_t number) {
    const int refused = dv_host_allows(vm);
    return refused ? dv_host_raise(vm, -refused, DV_EMPTY) : dv_int_from_int64(vm, number);
}

static dv_value posix_getpid(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    return own_number(vm, getpid());
}

static dv_value posix_getppid(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    return own_number(vm, getppid());
}

static dv_value posix_getuid(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    return own_number(vm, getuid());
}

/* uname(): the five names of the system, and that of the C library. */
static dv_value posix_uname(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    const int refused = dv_host_allows(vm);
    if (refused) return dv_host_raise(vm, -refused, DV_EMPTY);
    struct utsname names;
    char library[64] = "";
    if (uname(&names) < 0) return dv_host_raise(vm, errno, DV_EMPTY);
#ifdef _CS_GNU_LIBC_VERSION
    (void)confstr(_CS_GNU_LIBC_VERSION, library, sizeof library);
#endif
    dv_value items[] = {dv_str_z(vm, names.sysname), dv_str_z(vm, names.nodename),
                        dv_str_z(vm, names.release), dv_str_z(vm, names.version),
                        dv_str_z(vm, names.machine), dv_str_z(vm, library)};
    return dv_tuple_take(vm, items, 6);
}

static dv_value posix_cpu_count(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)args, (void)count;
    long number = vm->sandboxed ? 0 : sysconf(_SC_NPROCESSORS_ONLN);
    return number > 0 ? dv_int(number) : DV_NONE;
}

static dv_value posix_urandom(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t size;
    if (!dv_size_argument(vm, args[0], &size)) return DV_EMPTY;
    if (size < 0) return dv_raise(vm, DV_E_VALUE_ERROR, "negative argument not allowed");
    dv_str *bytes = dv_bytes_alloc(vm, size);
    if (!bytes) return DV_EMPTY;
    if (!dv_host_random(bytes->data, (size_t)size)) {
        dv_release_object(vm, &bytes->header);
        return dv_host_raise(vm, errno, DV_EMPTY);
    }
    return dv_object_value(bytes);
}

static dv_value posix_strerror(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t number;
    if (!dv_int_argument(vm, args[0], &number)) return DV_EMPTY;
    return dv_str_z(vm, strerror((int)number));
}

/* (columns, lines) of the terminal at a descriptor. */
static dv_value posix_terminal_size(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t fd;
    struct winsize size;
    if (!dv_int_argument(vm, args[0], &fd)) return DV_EMPTY;
    int failed = -dv_host_allows(vm);
    if (!failed && ioctl((int)fd, TIOCGWINSZ, &size) != 0) failed = errno;
    if (failed) return dv_host_raise(vm, failed, DV_EMPTY);
    dv_value items[2] = {dv_int(size.ws_col), dv_int(size.ws_row)};
    return dv_tuple_new(vm, items, 2);
}

static dv_value posix_fspath(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return dv_host_fspath(vm, args[0]);
}

#define ROW(function, least, most) \
    { .name = #function, .entry = posix_##function, .min = least, .max = most }
#define KEYWORD_ROW(function) \
    { .name = #function, .keyword_entry = posix_##function, .min = 0, .max = UINT32_MAX }

/* Those in posix_files.c. */
#define FILES_ROW(function, number) \
    { .name = #function, .entry = dv_posix_##function, .min = number, .max = number }
#define FILES_KEYWORD_ROW(function) \
    { .name = #function, .keyword_entry = dv_posix_##function, .min = 0, .max = UINT32_MAX }

static const dv_cfunction_def functions[] = {KEYWORD_ROW(access),
                                             KEYWORD_ROW(chdir),
                                             KEYWORD_ROW(chmod),
                                             KEYWORD_ROW(listdir),
                                             KEYWORD_ROW(mkdir),
                                             KEYWORD_ROW(readlink),
                                             KEYWORD_ROW(remove),
                                             KEYWORD_ROW(rmdir),
                                             KEYWORD_ROW(unlink),
                                             ROW(cpu_count, 0, 0),
                                             ROW(fspath, 1, 1),
                                             ROW(fstat, 1, 1),
                                             ROW(getcwd, 0, 0),
                                             ROW(getpid, 0, 0),
                                             ROW(getppid, 0, 0),
                                             ROW(getuid, 0, 0),
                                             ROW(stat, 2, 2),
                                             ROW(strerror, 1, 1),
                                             ROW(terminal_size, 1, 1),
                                             ROW(uname, 0, 0),
                                             ROW(urandom, 1, 1),
                                             FILES_KEYWORD_ROW(link),
                                             FILES_KEYWORD_ROW(open),
                                             FILES_KEYWORD_ROW(rename),
                                             FILES_KEYWORD_ROW(replace),
                                             FILES_KEYWORD_ROW(symlink),
                                             FILES_ROW(close, 1),
                                             FILES_ROW(read, 2),
                                             FILES_ROW(statvfs, 1),
                                             FILES_ROW(utime, 4),
                                             FILES_ROW(write, 2),
                                             {.name = NULL}};

bool dv_posix_fill(dv_vm *vm, dv_module *module) {
    return dv_module_add_functions(vm, module, functions) &&
           dv_module_add(vm, module, "environment", environment(vm));
}
