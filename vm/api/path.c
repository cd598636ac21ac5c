/* path.c: where a program's modules are (path.h). */
#include "api/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "api/bundled.h"
#include "types/sequence/list.h"
#include "types/file/module.h"
#include "types/text/str.h"

static bool append(dv_vm *vm, const char *directory) {
    char absolute[DV_LONGEST_PATH];
    dv_value text = dv_host_text(vm, dv_absolute_path(directory, absolute));
    bool good = !dv_is_empty(text) && dv_list_append(vm, vm->sys.path, text);
    dv_release(vm, text);
    return good;
}

static bool append_environment(dv_vm *vm) {
    const bool ignored = vm->sandboxed || vm->sys.flags[DV_FLAG_IGNORE_ENVIRONMENT];
    const char *at = ignored ? NULL : getenv("DYNVM_PATH");
    while (at && *at) {
        char directory[DV_LONGEST_PATH];
        size_t size = strcspn(at, ":");
        if (size > 0 && size < sizeof directory) {
            memcpy(directory, at, size);
            directory[size] = '\0';
            if (!append(vm, directory)) return false;
        }
        at += size;
        at += *at == ':';
    }
    return true;
}

static bool append_bundled(dv_vm *vm, const char *told) {
    if (vm->sandboxed) return true; /* it loads nothing, and need not know where it is */
    if (told) return !*told || append(vm, told);
    char found[PATH_MAX];
    return !dv_bundled_find(found) || append(vm, found);
}

bool dv_path_setup(dv_vm *vm, const char *extension_path) {
    return append_environment(vm) && append_bundled(vm, extension_path);
}

/* The directory of the file that a script's path leads to through links: new. */
static dv_value directory_of(dv_vm *vm, const char *script) {
    if (vm->sandboxed) return dv_str_empty(vm); /* it imports nothing from there */
    char *real = realpath(script, NULL); /* NULL: there is no such file, as its opening will tell */
    if (!real) return dv_str_empty(vm);
    char *slash = strrchr(real, '/');
    slash[slash == real] = '\0';
    dv_value directory = dv_host_text(vm, real);
    free(real);
    return directory;
}

/* The program's own directory becomes the first entry, unless it is that already. */
static bool put_first(dv_vm *vm, dv_value directory) {
    dv_list *path = dv_as_list(vm->sys.path);
    if (path->count > 0 && dv_is_str(path->items[0]) && dv_str_equal(path->items[0], directory))
        return true;
    dv_value none = DV_NONE;
    if (!dv_list_append(vm, vm->sys.path, none)) return false;
    memmove(path->items + 1, path->items, (size_t)(path->count - 1) * sizeof(dv_value));
    path->items[0] = dv_retain(directory);
    return true;
}

/* Takes `directory`, which is EMPTY with vm->error set, or without: there is none. */
static bool begin(dv_vm *vm, dv_value directory) {
    if (dv_is_empty(directory) && !dv_is_empty(vm->error)) return false;
    bool good = dv_is_empty(directory) || put_first(vm, directory);
    dv_release(vm, directory);
    return good;
}

static bool set_file(dv_vm *vm, const char *script) {
    dv_value file = dv_host_text(vm, script);
    return !dv_is_empty(file) &&
           dv_namespace_set(vm, &dv_as_module(vm->main)->names, "__file__", file);
}

bool dv_path_begin(dv_vm *vm, const char *script) {
    dv_value first = DV_EMPTY;
    if (!vm->sys.flags[DV_FLAG_SAFE_PATH])
        first = script ? directory_of(vm, script) : dv_str_empty(vm);
    return begin(vm, first) && (!script || set_file(vm, script));
}

bool dv_path_begin_directory(dv_vm *vm, const char *directory, const char *script) {
    dv_value package = dv_str_empty(vm);
    return begin(vm, dv_host_text(vm, directory)) && set_file(vm, script) &&
           !dv_is_empty(package) &&
           dv_namespace_set(vm, &dv_as_module(vm->main)->names, "__package__", package);
}

static bool is_kind(const char *path, mode_t kind) {
    struct stat about;
    return stat(path, &about) == 0 && (about.st_mode & S_IFMT) == kind;
}

bool dv_path_is_directory(const char *path) { return is_kind(path, S_IFDIR); }

bool dv_path_main(const char *directory, char script[DV_LONGEST_PATH]) {
    static const char *const names[] = {"__main__.dl", "__main__.py"};
    size_t length = strlen(directory);
    const char *slash = length && directory[length - 1] == '/' ? "" : "/";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int size = snprintf(script, DV_LONGEST_PATH, "%s%s%s", directory, slash, names[i]);
        if (size < DV_LONGEST_PATH && is_kind(script, S_IFREG)) return true;
    }
    return false;
}
