/* posix_parts.h: what the files of the module posix share: arguments that are paths or
 * descriptors. */
#ifndef DV_MODULES_POSIX_PARTS_H
#define DV_MODULES_POSIX_PARTS_H

#include "core/vm.h"
#include "types/file/host.h"

/* What a parameter takes, and how messages name it. */
typedef struct dv_path_rule {
    const char *function, *parameter, *kinds;
    bool descriptor; /* an int, too */
} dv_path_rule;

#define DV_PATH       "string, bytes or os.PathLike"
#define DV_PATH_OR_FD "string, bytes, os.PathLike or integer"

/* An argument: a descriptor, or a path that `text` keeps. */
typedef struct dv_file_argument {
    int fd; /* -1: a path */
    dv_value text;
    dv_host_path path;
} dv_file_argument;

/* False: raised. */
bool dv_file_from(dv_vm *vm, const dv_path_rule *rule, dv_value v,
                  dv_file_argument *out) DV_MUST_CHECK;
void dv_file_let_go(dv_vm *vm, dv_file_argument *f);
/* Lets go of it; OSError with its name if what was done with it has failed. */
bool dv_file_finish(dv_vm *vm, dv_file_argument *f, int failed, dv_value given) DV_MUST_CHECK;

/* posix_files.c */
dv_value dv_posix_rename(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords);
dv_value dv_posix_replace(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords);
dv_value dv_posix_symlink(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords);
dv_value dv_posix_link(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords);
dv_value dv_posix_open(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords);
dv_value dv_posix_close(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_posix_read(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_posix_write(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_posix_statvfs(dv_vm *vm, const dv_value *args, uint32_t count);
dv_value dv_posix_utime(dv_vm *vm, const dv_value *args, uint32_t count);

#endif
