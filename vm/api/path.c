/* path.c: where a program's modules are (path.h). */
#include "api/path.h"

#include <stdlib.h>

#include "api/bundled.h"
#include "api/compile.h"
#include "types/list.h"
#include "types/module.h"
#include "types/str.h"

static bool append(dv_vm *vm, const char *directory) {
    char absolute[DV_LONGEST_PATH];
    dv_value text = dv_host_text(vm, dv_absolute_path(directory, absolute));
    bool good = !dv_is_empty(text) && dv_list_append(vm, vm->path, text);
    dv_release(vm, text);
    return good;
}

static bool append_environment(dv_vm *vm) {
    const char *at = getenv("DYNVM_PATH");
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
    char *real = realpath(script, NULL); /* NULL: there is no such file, as its opening will tell */
    if (!real) return dv_str_empty(vm);
    char *slash = strrchr(real, '/');
    slash[slash == real] = '\0';
    dv_value directory = dv_host_text(vm, real);
    free(real);
    return directory;
}

bool dv_path_begin(dv_vm *vm, const char *script) {
    dv_list *path = dv_as_list(vm->path);
    dv_value first = script ? directory_of(vm, script) : dv_str_empty(vm);
    if (dv_is_empty(first)) return false;
    bool good = true;
    if (path->count == 0 || !dv_is_str(path->items[0]) || !dv_str_equal(path->items[0], first)) {
        dv_value none = DV_NONE;
        good = dv_list_append(vm, vm->path, none);
        if (good) {
            memmove(path->items + 1, path->items, (size_t)(path->count - 1) * sizeof(dv_value));
            path->items[0] = dv_retain(first);
        }
    }
    dv_release(vm, first);
    if (!good || !script) return good;
    dv_value file = dv_host_text(vm, script);
    return !dv_is_empty(file) &&
           dv_namespace_set(vm, &dv_as_module(vm->main)->names, "__file__", file);
}
