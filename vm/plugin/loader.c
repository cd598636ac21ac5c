/* loader.c: `import` of extensions: checking the descriptor of NAME.so, making its module
 * (plugin.h).
 *
 * import/import.c finds the file.  The first of its name counts: if that cannot be loaded,
 * ImportError says why. */
#define _GNU_SOURCE /* dladdr */
#include "plugin/plugin.h"

#include <dlfcn.h>
#include <stdio.h>

#include "core/collect.h"
#include "core/upcall.h"
#include "dv_code_format.h"
#include "modules/frozen.h"
#include "plugin/debug.h"
#include "plugin/extension.h"
#include "plugin/occurrence.h"
#include "plugin/origin.h"
#include "plugin/trace.h"
#include "plugin/type.h"
#include "types/file/module.h"
#include "types/text/str.h"

enum { LONGEST_NAME = 128 };

/* The prefix of the descriptor that never changes. */
#define FIXED_PREFIX (offsetof(struct dvx_extension, abi_minor) + sizeof(uint16_t))

/* Copies the last part of a module's name; false: no extension is called so. */
static bool copy_name(dv_vm *vm, dv_value name, char *out) {
    size_t size;
    char *utf8 = dv_str_utf8(vm, name, &size);
    if (!utf8) return false;
    const char *dot = strrchr(utf8, '.');
    const char *last = dot ? dot + 1 : utf8;
    size_t length = strlen(last);
    bool fits = length < LONGEST_NAME;
    if (fits)
        memcpy(out, last, length + 1);
    else
        dv_raise(vm, DV_E_IMPORT_ERROR, "the name of extension %V is too long", name);
    dv_heap_free(&vm->heap, utf8, size + 1);
    return fits;
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
    if (descriptor->size < DV_SIZE_UP_TO(struct dvx_extension, init) || !descriptor->name ||
        !descriptor->init) {
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

static bool check_package(dv_vm *vm, const char *name, const dv_packed_library *packed) {
    if (!packed || packed->format == DV_CODE_FORMAT) return true;
    dv_raise(vm, DV_E_IMPORT_ERROR, "extension '%s' has modules that another dynvm has compiled",
             name);
    return false;
}

/* ---- Files that are no library of this machine ---- */

/* The beginning of an ELF file; the fields are where every class has them. */
typedef struct elf_start {
    unsigned char magic[4], class_, order, rest[10];
    uint16_t kind, machine;
} elf_start;

static bool read_start(const char *path, elf_start *start) {
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    bool whole = fread(start, 1, sizeof *start, file) == sizeof *start;
    fclose(file);
    return whole;
}

/* What dlopen refused: says why in words of our own where we know; `reason` is the linker's, and
 * alone CPython's text. */
static void raise_unloadable(dv_vm *vm, const char *name, const char *path, const char *reason) {
    static const char undefined[] = "undefined symbol: ";
    elf_start start, own;
    Dl_info self;
    const char *symbol = strstr(reason, undefined);
    bool whole = read_start(path, &start);
    bool known = whole && dladdr(&dv_extension_api, &self);
    if (known) memcpy(&own, self.dli_fbase, sizeof own);
    if (!whole)
        dv_raise(vm, DV_E_IMPORT_ERROR, "%s", reason);
    else if (known && memcmp(start.magic, own.magic, sizeof own.magic) != 0)
        dv_raise(vm, DV_E_IMPORT_ERROR, "extension '%s' cannot be loaded: '%s' is no shared object",
                 name, path);
    else if (known && (start.class_ != own.class_ || start.order != own.order ||
                       start.machine != own.machine))
        dv_raise(vm, DV_E_IMPORT_ERROR,
                 "extension '%s' cannot be loaded: '%s' was built for another machine", name, path);
    else if (symbol)
        dv_raise(vm, DV_E_IMPORT_ERROR,
                 "extension '%s' cannot be loaded: '%s' needs the symbol '%s', which nothing "
                 "provides",
                 name, path, symbol + sizeof undefined - 1);
    else
        dv_raise(vm, DV_E_IMPORT_ERROR, "extension '%s' cannot be loaded: %s", name, reason);
}

/* ---- Loading ---- */

/* What the VM knows of an extension from now on; NULL: raised. */
static dv_extension *enrol(dv_vm *vm, const struct dvx_extension *descriptor, void *library) {
    dv_extension *extension = dv_heap_alloc(&vm->heap, sizeof *extension);
    if (!extension) {
        dv_raise_memory(vm);
        return NULL;
    }
    *extension = (dv_extension){.descriptor = descriptor, .library = library};
    size_t size = descriptor->size, whole = sizeof extension->described;
    memcpy(&extension->described, descriptor, size < whole ? size : whole);
    extension->native = descriptor->fingerprint == DVX_FINGERPRINT;
    extension->next = vm->extensions.plugins->extensions;
    vm->extensions.plugins->extensions = extension;
    return extension;
}

static dv_extension *open_library(dv_vm *vm, const char *name, const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        raise_unloadable(vm, name, path, dlerror());
        return NULL;
    }
    const struct dvx_extension *descriptor = dlsym(library, "dvx_extension");
    const dv_packed_library *packed = dlsym(library, "dvx_library");
    if (!descriptor)
        dv_raise(vm, DV_E_IMPORT_ERROR,
                 "'%s' is no extension of dynvm: it exports no 'dvx_extension'", path);
    if (descriptor && check(vm, name, descriptor) && check_package(vm, name, packed)) {
        dv_extension *extension = enrol(vm, descriptor, library);
        if (extension && packed) extension->modules = packed->modules;
        if (extension) return extension;
    }
    dlclose(library);
    return NULL;
}

/* Calls `init`, whose word about success must agree with vm->error. */
static bool initialise(dv_vm *vm, dv_extension *extension, dv_value module) {
    dv_extension *outer = vm->extensions.plugins->loading;
    vm->extensions.plugins->loading = extension;
    bool done = vm->extensions.plugins->debug ? dv_debug_initialise(vm, extension, module)
                                              : extension->described.init(vm, module);
    vm->extensions.plugins->loading = outer;
    bool raised = !dv_is_empty(vm->error);
    if (done && raised) dv_error_clear(vm);
    if (done == raised)
        dv_raise(vm, DV_E_SYSTEM_ERROR,
                 done ? "initialization of %s raised unreported exception"
                      : "initialization of %s failed without raising an exception",
                 extension->described.name);
    return done && !raised;
}

static bool make_state(dv_vm *vm, dv_extension *extension) {
    size_t size = extension->described.state_size;
    if (!size) return true;
    extension->state = dv_heap_alloc(&vm->heap, size);
    if (extension->state)
        memset(extension->state, 0, size);
    else
        dv_raise_memory(vm);
    return extension->state != NULL;
}

/* A new module, filled by the extension; NULL: raised already. */
static dv_value make_module(dv_vm *vm, dv_value wanted, dv_extension *extension) {
    if (!extension || !make_state(vm, extension)) return DV_EMPTY;
    dv_oint_setup(vm);
    dv_value module = dv_module_named(vm, wanted);
    if (dv_is_empty(module) || initialise(vm, extension, module)) return module;
    dv_release(vm, module);
    return DV_EMPTY;
}

static dv_value load_extension(dv_vm *vm, dv_value wanted, const char *path) {
    char name[LONGEST_NAME];
    if (!copy_name(vm, wanted, name)) return DV_EMPTY;
    return make_module(vm, wanted, open_library(vm, name, path));
}

static const dv_frozen *find_packed(const dv_vm *vm, dv_value name) {
    const dv_frozen *found = NULL;
    for (dv_extension *e = vm->extensions.plugins->extensions; e && !found; e = e->next)
        if (e->modules) found = dv_frozen_find(e->modules, name);
    return found;
}

/* ---- The host's own ---- */

static dv_host_extension *find_hosted(const dv_vm *vm, const char *name) {
    dv_host_extension *hosted = vm->extensions.plugins->hosted;
    while (hosted && strcmp(hosted->name, name) != 0) hosted = hosted->next;
    return hosted;
}

bool dv_plugin_add(dv_vm *vm, const char *name, dv_plugin_init *init) {
    const size_t size = strlen(name) + 1;
    if (!init) {
        dv_raise(vm, DV_E_VALUE_ERROR, "extension '%s' has no function that fills its module",
                 name);
        return false;
    }
    if (find_hosted(vm, name) || size > LONGEST_NAME) {
        dv_raise(vm, DV_E_VALUE_ERROR,
                 size > LONGEST_NAME ? "the name of extension '%s' is too long"
                                     : "there is an extension '%s' already",
                 name);
        return false;
    }
    dv_host_extension *hosted = dv_heap_alloc(&vm->heap, sizeof *hosted + size);
    if (!hosted) {
        dv_raise_memory(vm);
        return false;
    }
    memcpy(hosted->name, name, size);
    hosted->descriptor = (struct dvx_extension){.size = sizeof hosted->descriptor,
                                                .abi_major = DVX_ABI_MAJOR,
                                                .abi_minor = DVX_ABI_MINOR,
                                                .name = hosted->name,
                                                .init = init};
    hosted->next = vm->extensions.plugins->hosted;
    vm->extensions.plugins->hosted = hosted;
    return true;
}

static dv_value load_hosted(dv_vm *vm, dv_value wanted) {
    char name[LONGEST_NAME];
    if (!vm->extensions.plugins->hosted) return DV_EMPTY;
    if (!copy_name(vm, wanted, name)) return DV_EMPTY;
    const dv_host_extension *hosted = find_hosted(vm, name);
    return hosted ? make_module(vm, wanted, enrol(vm, &hosted->descriptor, NULL)) : DV_EMPTY;
}

/* ---- Beginning and end ---- */

/* The stable table, or those that watch in front of it. */
static void choose_table(dv_vm *vm) {
    vm->extensions.plugins->traced = vm->extensions.plugins->checked = vm->api = &dv_extension_api;
    if (vm->extensions.watch & DV_WATCH_TRACE)
        vm->extensions.plugins->checked = vm->api = &dv_trace_api;
    if (vm->extensions.plugins->debug) vm->api = &dv_debug_api;
}

bool dv_plugin_setup(dv_vm *vm) {
    vm->extensions.plugins = dv_heap_alloc(&vm->heap, sizeof *vm->extensions.plugins);
    if (!vm->extensions.plugins) return false;
    memset(vm->extensions.plugins, 0, sizeof *vm->extensions.plugins);
    if ((vm->extensions.watch & DV_WATCH_DEBUG) && !dv_debug_setup(vm)) return false;
    choose_table(vm);
    vm->hooks.import.load_extension = load_extension;
    vm->hooks.import.load_hosted = load_hosted;
    vm->hooks.import.find_packed = find_packed;
    return true;
}

/* Its state goes first, as `finish` may still use the table. */
static void finish(dv_vm *vm, dv_extension *extension) {
    size_t size = extension->described.state_size;
    if (!extension->state) return;
    if (extension->described.finish && vm->extensions.plugins->debug)
        dv_debug_finish(vm, extension);
    else if (extension->described.finish)
        extension->described.finish(vm, extension->state);
    dv_error_clear(vm);
    dv_heap_free(&vm->heap, extension->state, size);
    extension->state = NULL;
}

void dv_plugin_discard(dv_vm *vm) {
    if (!vm->extensions.plugins) return;
    /* Objects in cycles may hold what is not in the VM's heap, and need their types to let it go.
     */
    if (vm->extensions.plugins->extensions) dv_collect(vm), dv_extension_release_all(vm);
    dv_occurrence_discard(vm);
    dv_origin_forget(vm);
    for (dv_extension *e = vm->extensions.plugins->extensions; e; e = e->next) finish(vm, e);
    if (vm->extensions.plugins->debug) dv_debug_discard(vm);
    dv_extension *extension = vm->extensions.plugins->extensions;
    while (extension) {
        dv_extension *next = extension->next;
        dv_extension_free_types(vm, extension->types);
        dv_extension_free_functions(vm, extension->functions);
        if (extension->library) dlclose(extension->library);
        dv_heap_free(&vm->heap, extension, sizeof *extension);
        extension = next;
    }
    for (dv_host_extension *hosted = vm->extensions.plugins->hosted; hosted;) {
        dv_host_extension *next = hosted->next;
        dv_heap_free(&vm->heap, hosted, sizeof *hosted + strlen(hosted->name) + 1);
        hosted = next;
    }
    dv_heap_free(&vm->heap, vm->extensions.plugins, sizeof *vm->extensions.plugins);
    vm->extensions.plugins = NULL;
}
