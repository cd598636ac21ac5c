/* import_find.c: where the file of a module is (import_find.h). */
#include "import/import_find.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/upcall.h"
#include "types/sequence/list.h"
#include "types/text/str.h"

enum { LONGEST_NAME = 255 };

/* What a str is as part of a path; false: it is none. */
static bool copy_text(dv_vm *vm, dv_value text, char *out, size_t room) {
    if (!dv_is_str(text)) return false;
    size_t size;
    char *utf8 = dv_str_utf8(vm, text, &size);
    if (!utf8) {
        dv_error_clear(vm); /* lone surrogates: no file of ours is called so */
        return false;
    }
    bool fits = size < room && !memchr(utf8, '\0', size);
    if (fits) memcpy(out, utf8, size + 1);
    dv_heap_free(&vm->heap, utf8, size + 1);
    return fits;
}

static bool is_kind(const char *path, mode_t kind) {
    struct stat about;
    return stat(path, &about) == 0 && (about.st_mode & S_IFMT) == kind;
}

/* Appends to the path that is `length` bytes long; false: too long. */
static bool extend(char *path, size_t length, const char *more) {
    size_t size = strlen(more);
    if (length + size >= DV_LONGEST_MODULE_PATH) return false;
    memcpy(path + length, more, size + 1);
    return true;
}

/* The directory of an entry of sys.path, absolute, with a final '/'; its length, or 0. */
static size_t begin_path(const char *entry, char *path) {
    size_t length = 0;
    if (entry[0] != '/') {
        if (!getcwd(path, DV_LONGEST_MODULE_PATH)) return 0;
        length = strlen(path);
        if (!extend(path, length, "/")) return 0;
        length += path[length - 1] != '/';
    }
    if (!extend(path, length, entry)) return 0;
    length += strlen(entry);
    if (path[length - 1] == '/') return length;
    return extend(path, length, "/") ? length + 1 : 0;
}

/* Is there a file for the module in a directory?  NAMESPACE is the last resort of all. */
static dv_module_kind find_in(const char *entry, const char *name, char *path) {
    static const struct {
        const char *ending;
        dv_module_kind kind;
    } endings[] = {{"/__init__.dl", DV_MODULE_PACKAGE},
                   {"/__init__.py", DV_MODULE_PACKAGE},
                   {"/__init__.dlc", DV_MODULE_PACKAGE},
                   {".dl", DV_MODULE_SOURCE},
                   {".py", DV_MODULE_SOURCE},
                   {".so", DV_MODULE_EXTENSION},
                   {".dlc", DV_MODULE_SOURCE}};
    size_t length = begin_path(entry, path);
    if (length == 0 || !extend(path, length, name)) return DV_MODULE_NONE;
    length += strlen(name);
    bool directory = is_kind(path, S_IFDIR);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (endings[i].kind == DV_MODULE_PACKAGE && !directory) continue;
        if (extend(path, length, endings[i].ending) && is_kind(path, S_IFREG))
            return endings[i].kind;
    }
    path[length] = '\0';
    return directory ? DV_MODULE_NAMESPACE : DV_MODULE_NONE;
}

/* The last part of a dotted name; false: it cannot be a file's. */
static bool last_part(dv_vm *vm, dv_value name, char *out) {
    char whole[DV_LONGEST_MODULE_PATH];
    if (!copy_text(vm, name, whole, sizeof whole) || strchr(whole, '/')) return false;
    const char *dot = strrchr(whole, '.');
    const char *last = dot ? dot + 1 : whole;
    size_t size = strlen(last);
    if (size == 0 || size > LONGEST_NAME) return false;
    memcpy(out, last, size + 1);
    return true;
}

bool dv_module_find(dv_vm *vm, dv_value name, dv_value directories, dv_module_file *found) {
    char last[LONGEST_NAME + 1], entry[DV_LONGEST_MODULE_PATH], path[DV_LONGEST_MODULE_PATH];
    found->kind = DV_MODULE_NONE;
    if (vm->sandboxed || !last_part(vm, name, last)) return dv_is_empty(vm->error);
    dv_value list = dv_list_new(vm, NULL, 0);
    if (dv_is_empty(list)) return false;
    bool good = dv_list_extend(vm, list, directories);
    for (int64_t i = 0; good && i < dv_as_list(list)->count; i++) {
        if (!copy_text(vm, dv_as_list(list)->items[i], entry, sizeof entry)) continue;
        dv_module_kind kind = find_in(entry, last, path);
        if (kind == DV_MODULE_NONE ||
            (kind == DV_MODULE_NAMESPACE && found->kind == DV_MODULE_NAMESPACE))
            continue;
        found->kind = kind;
        memcpy(found->path, path, strlen(path) + 1);
        if (kind != DV_MODULE_NAMESPACE) break;
    }
    dv_release(vm, list);
    return good;
}
