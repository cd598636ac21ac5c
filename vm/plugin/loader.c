/* loader.c: `import` of extensions: finding NAME.so, checking its descriptor, making its module
 * (plugin.h).
 *
 * An extension is looked for beside the importing script, then in the directories of DYNVM_PATH.
 * The first file of its name counts: if that cannot be loaded, ImportError says why. */
#include "plugin/plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/upcall.h"
#include "plugin/extension.h"
#include "run/frame.h"
#include "types/module.h"
#include "types/str.h"

enum { LONGEST_NAME = 128, LONGEST_PATH = 4096 };

/* The prefix of the descriptor that never changes. */
#define FIXED_PREFIX (offsetof(struct dvx_extension, abi_minor) + sizeof(uint16_t))

/* ---- Finding the file ---- */

/* Copies a name that may be part of a path; false: it is none. */
static bool copy_name(dv_vm *vm, dv_value name, char *out) {
    size_t size;
    char *utf8 = dv_str_utf8(vm, name, &size);
    if (!utf8) {
        dv_error_clear(vm);
        return false;
    }
    bool fits = size > 0 && size < LONGEST_NAME && !memchr(utf8, '/', size) &&
                !memchr(utf8, '\0', size) && utf8[0] != '.';
    if (fits) memcpy(out, utf8, size + 1);
    dv_heap_free(&vm->heap, utf8, size + 1);
    return fits;
}

static bool is_file(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

/* The file of an extension in a directory, whose name is `size` bytes; an empty one is the current.
 */
static bool find_in(const char *directory, size_t size, const char *name, char *path) {
    if (size == 0) directory = ".", size = 1;
    int length = snprintf(path, LONGEST_PATH, "%.*s/%s.so", (int)size, directory, name);
    return length > 0 && length < LONGEST_PATH && is_file(path);
}

/* Beside the file of the code that imports; text without a file ("<string>") is in the current
 * directory. */
static bool find_beside_script(dv_vm *vm, const char *name, char *path) {
    dv_text file = dv_frame_thread(vm->fp)->code->unit->filename;
    size_t size = file.size;
    while (size > 0 && file.data[size - 1] != '/') size--;
    return find_in(file.data, size > 1 ? size - 1 : size, name, path);
}

static bool find_file(dv_vm *vm, const char *name, char *path) {
    if (find_beside_script(vm, name, path)) return true;
    const char *at = getenv("DYNVM_PATH");
    while (at && *at) {
        size_t size = strcspn(at, ":");
        if (find_in(at, size, name, path)) return true;
        at += size;
        at += *at == ':';
    }
    return false;
}

/* ---- Checking the descriptor ---- */

static bool check(dv_vm *vm, const char *name, const struct dvx_extension *descriptor) {
    if (descriptor->size >= FIXED_PREFIX &&
        (descriptor->abi_major != DVX_ABI_MAJOR || descriptor->abi_minor > DVX_ABI_MINOR)) {
        dv_raise(vm, DV_E_IMPORT_ERROR,
                 "extension '%s' needs ABI %d.%d, but this dynvm has ABI %d.%d", name,
                 descriptor->abi_major, descriptor->abi_minor, DVX_ABI_MAJOR, DVX_ABI_MINOR);
        return false;
    }
    if (descriptor->size < sizeof *descriptor || !descriptor->name || !descriptor->init) {
        dv_raise(vm, DV_E_IMPORT_ERROR, "extension '%s' has a malformed descriptor", name);
        return false;
    }
    if (strcmp(descriptor->name, name) != 0) {
        dv_raise(vm, DV_E_IMPORT_ERROR, "the file of extension '%s' contains extension '%s'", name,
                 descriptor->name);
        return false;
    }
    return true;
}

/* ---- Loading ---- */

static dv_extension *open_library(dv_vm *vm, const char *name, const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        dv_raise(vm, DV_E_IMPORT_ERROR, "%s", dlerror());
        return NULL;
    }
    const struct dvx_extension *descriptor = dlsym(library, "dvx_extension");
    if (!descriptor)
        dv_raise(vm, DV_E_IMPORT_ERROR,
                 "'%s' is no extension of dynvm: it exports no 'dvx_extension'", path);
    dv_extension *extension = NULL;
    if (descriptor && check(vm, name, descriptor)) {
        extension = dv_heap_alloc(&vm->heap, sizeof *extension);
        if (!extension) dv_raise_memory(vm);
    }
    if (!extension) {
        dlclose(library);
        return NULL;
    }
    *extension = (dv_extension){.descriptor = descriptor, .library = library};
    extension->native = descriptor->fingerprint == DVX_FINGERPRINT;
    extension->next = vm->plugins->extensions;
    vm->plugins->extensions = extension;
    return extension;
}

/* Calls `init`, whose word about success must agree with vm->error. */
static bool initialise(dv_vm *vm, dv_extension *extension, dv_value module) {
    dv_extension *outer = vm->plugins->loading;
    vm->plugins->loading = extension;
    bool done = extension->descriptor->init(vm, module);
    vm->plugins->loading = outer;
    bool raised = !dv_is_empty(vm->error);
    if (done && raised) dv_error_clear(vm);
    if (done == raised)
        dv_raise(vm, DV_E_SYSTEM_ERROR,
                 done ? "initialization of %s raised unreported exception"
                      : "initialization of %s failed without raising an exception",
                 extension->descriptor->name);
    return done && !raised;
}

static dv_value import_extension(dv_vm *vm, dv_value wanted) {
    char name[LONGEST_NAME], path[LONGEST_PATH];
    if (!copy_name(vm, wanted, name) || !find_file(vm, name, path)) return DV_EMPTY;
    dv_extension *extension = open_library(vm, name, path);
    if (!extension) return DV_EMPTY;
    dv_oint_setup(vm);
    dv_value module = dv_module_new(vm, name);
    if (dv_is_empty(module) || initialise(vm, extension, module)) return module;
    dv_release(vm, module);
    return DV_EMPTY;
}

/* ---- Beginning and end ---- */

bool dv_plugin_setup(dv_vm *vm) {
    vm->plugins = dv_heap_alloc(&vm->heap, sizeof *vm->plugins);
    if (!vm->plugins) return false;
    memset(vm->plugins, 0, sizeof *vm->plugins);
    vm->api = &dv_extension_api;
    vm->hooks.import_extension = import_extension;
    return true;
}

static void free_functions(dv_vm *vm, dv_extension_function *function) {
    while (function) {
        dv_extension_function *next = function->next;
        uint32_t count = function->described->derivative_count;
        dv_heap_free(&vm->heap, function, sizeof *function + count * sizeof *function->cases);
        function = next;
    }
}

void dv_plugin_discard(dv_vm *vm) {
    if (!vm->plugins) return;
    dv_extension *extension = vm->plugins->extensions;
    while (extension) {
        dv_extension *next = extension->next;
        free_functions(vm, extension->functions);
        dlclose(extension->library);
        dv_heap_free(&vm->heap, extension, sizeof *extension);
        extension = next;
    }
    dv_heap_free(&vm->heap, vm->plugins, sizeof *vm->plugins);
    vm->plugins = NULL;
}
