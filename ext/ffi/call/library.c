/* library.c: functions, variables and constants of shared libraries (library.h).
 *
 * What a name stands for is found at its first use: functions and constants are then kept,
 * variables are read each time. */
#include "call/library.h"

#include <dlfcn.h>
#include <stdio.h>

#include "data/cdata.h"
#include "data/convert.h"
#include "call/sites.h"

typedef struct library {
    scope *scope;
    void *handle; /* of dlopen; NULL: closed */
    char *name;
    size_t name_size;
    dvx_value kept; /* dict of functions and constants; zero bits before it is made */
    bool has_kept;
    uint64_t serial;
    dvx_assumption *open; /* broken when it is closed */
} library;

static library *library_of(dvx_vm *vm, dvx_value v) {
    return vm->api->payload(vm, v, &library_type);
}

/* ---- Opening ---- */

/* The file that the linker would find for a short name: lib<name>.so. */
static void *open_short(const char *name, int flags) {
    char file[300];
    static const char *const endings[] = {"", ".6", ".1", ".0", ".2", ".3"};
    for (size_t i = 0; i < LENGTH_OF(endings); i++) {
        snprintf(file, sizeof file, "lib%s.so%s", name, endings[i]);
        void *handle = dlopen(file, flags);
        if (handle) return handle;
    }
    return NULL;
}

static void *open_file(dvx_vm *vm, const char *name, int flags) {
    char first[700] = "";
    void *handle = NULL;
    if (strchr(name, '.') || strchr(name, '/')) {
        handle = dlopen(name, flags);
        if (handle) return handle;
        snprintf(first, sizeof first, "cannot load library '%s': %s.  Additionally, ", name,
                 dlerror());
    } else {
        handle = open_short(name, flags);
    }
    if (!handle)
        ffi_fail(vm, DVX_OS_ERROR,
                 "%sctypes.util.find_library() did not manage to locate a library called '%s'",
                 first, name);
    return handle;
}

static dvx_value wrap(dvx_vm *vm, scope *s, void *handle, const char *name) {
    void *payload;
    size_t size = strlen(name);
    char *copy = vm->api->allocate(vm, size + 1);
    dvx_value made = copy ? vm->api->make_object(vm, &library_type, &payload) : DVX_FAILED;
    if (dvx_failed(made)) {
        vm->api->deallocate(vm, copy, copy ? size + 1 : 0);
        dlclose(handle);
        return made;
    }
    memcpy(copy, name, size + 1);
    library *l = payload;
    *l = (library){.scope = scope_share(s), .handle = handle, .name = copy, .name_size = size};
    l->serial = ++ffi_state_of(vm)->library_count;
    l->kept = vm->api->make_dict(vm);
    l->has_kept = !dvx_failed(l->kept);
    l->open = l->has_kept ? vm->api->make_assumption(vm) : NULL;
    if (l->open) return made;
    vm->api->release(vm, made);
    return DVX_FAILED;
}

static dvx_value open_address(dvx_vm *vm, scope *s, const cdata *c) {
    char name[64];
    if (!ctype_is_void_pointer(c->type))
        return ffi_raise(vm, DVX_TYPE_ERROR,
                         "dlopen() takes a file name or 'void *' handle, not '%s'", c->type->name);
    if (!c->data) return ffi_raise(vm, DVX_RUNTIME_ERROR, "cannot call dlopen(NULL)");
    snprintf(name, sizeof name, "%p", (void *)c->data);
    return wrap(vm, s, c->data, name);
}

dvx_value library_open(dvx_vm *vm, scope *s, dvx_value name, int64_t flags) {
    int mode = (int)flags;
    if (!(mode & (RTLD_LAZY | RTLD_NOW))) mode |= RTLD_NOW;
    const cdata *c = cdata_of(vm, name);
    if (c) return open_address(vm, s, c);
    if (vm->api->kind(vm, name) == DVX_NONE) return wrap(vm, s, dlopen(NULL, mode), "<None>");
    if (vm->api->kind(vm, name) != DVX_STR)
        return ffi_raise(vm, DVX_TYPE_ERROR,
                         "dlopen(name): name must be a file name, None, or an "
                         "already-opened 'void *' handle");
    size_t size;
    char *text = ffi_text(vm, name, &size);
    if (!text) return DVX_FAILED;
    void *handle = open_file(vm, text, mode);
    dvx_value made = handle ? wrap(vm, s, handle, text) : DVX_FAILED;
    vm->api->deallocate(vm, text, size + 1);
    return made;
}

bool library_close(dvx_vm *vm, dvx_value v) {
    library *l = vm->api->check_payload(vm, v, &library_type);
    if (!l) return false;
    if (l->handle) dlclose(l->handle);
    l->handle = NULL;
    dvx_value old = l->kept;
    dvx_value fresh = vm->api->make_dict(vm);
    if (dvx_failed(fresh)) return false;
    l->kept = fresh;
    vm->api->break_assumption(vm, l->open);
    vm->api->release(vm, old);
    return true;
}

uint64_t library_serial(dvx_vm *vm, dvx_value v) {
    const library *l = library_of(vm, v);
    return l && l->handle ? l->serial : 0;
}

bool library_kept(dvx_vm *vm, dvx_value v, dvx_value name, dvx_value *kept) {
    const library *l = library_of(vm, v);
    int found = vm->api->contains(vm, l->kept, name);
    *kept = found > 0 ? vm->api->get_item(vm, l->kept, name) : DVX_FAILED;
    if (!dvx_failed(*kept)) return true;
    vm->api->clear_error(vm);
    return false;
}

/* Functions and constants that were used once stay what they are until the library is closed. */
static bool lasting(dvx_vm *vm, dvx_value self, dvx_value name, dvx_value *out,
                    dvx_assumption **until) {
    *until = library_of(vm, self)->open;
    return library_kept(vm, self, name, out);
}

/* ---- Names ---- */

/* The address of a symbol; NULL: raised. */
static char *symbol(dvx_vm *vm, const library *l, const char *name, const char *what) {
    if (!l->handle)
        return ffi_fail(vm, DVX_VALUE_ERROR, "library '%s' has already been closed", l->name), NULL;
    dlerror();
    char *address = dlsym(l->handle, name);
    const char *error = address ? NULL : dlerror();
    if (address) return address;
    bool variable = strcmp(what, "variable") == 0;
    ffi_fail(vm, variable ? DVX_KEY_ERROR : DVX_ATTRIBUTE_ERROR,
             "%s '%s' not found in library '%s': %s", what, name, l->name, error ? error : "NULL");
    return NULL;
}

static dvx_value constant(dvx_vm *vm, const declaration *d) {
    return d->value < 0 ? vm->api->make_int(vm, (int64_t)d->value)
                        : vm->api->make_uint(vm, (uint64_t)d->value);
}

static dvx_value function(dvx_vm *vm, const library *l, const declaration *d) {
    ctype *type = ctype_pointer_to(vm, d->type);
    char *address = type ? symbol(vm, l, d->name, "function/symbol") : NULL;
    return address ? cdata_make(vm, type, address, NULL) : DVX_FAILED;
}

static dvx_value read_variable(dvx_vm *vm, const library *l, const declaration *d) {
    char *address = symbol(vm, l, d->name, "variable");
    return address ? convert_read(vm, d->type, address, NULL) : DVX_FAILED;
}

/* 1: *out is new and may be kept (*keeps); 0: there is none of this name; -1: raised. */
static int look_up(dvx_vm *vm, const library *l, const char *name, size_t size, dvx_value *out,
                   bool *keeps) {
    const declaration *d;
    *keeps = true;
    if ((d = scope_find(l->scope, DECLARED_FUNCTION, name, size))) {
        *out = function(vm, l, d);
    } else if ((d = scope_find(l->scope, DECLARED_VARIABLE, name, size))) {
        *out = read_variable(vm, l, d);
        *keeps = false;
    } else if ((d = scope_find(l->scope, DECLARED_INTEGER, name, size))) {
        *out = constant(vm, d);
    } else if (scope_find(l->scope, DECLARED_CONSTANT, name, size)) {
        *out =
            ffi_raise(vm, DVX_NOT_IMPLEMENTED_ERROR,
                      "non-integer constant '%s' cannot be accessed from a dlopen() library", name);
    } else {
        return 0;
    }
    return dvx_failed(*out) ? -1 : 1;
}

static int find(dvx_vm *vm, dvx_value self, dvx_value name, dvx_value *out) {
    const library *l = library_of(vm, self);
    size_t size;
    bool keeps;
    int found = vm->api->contains(vm, l->kept, name);
    if (found < 0) return -1;
    if (found) {
        *out = vm->api->get_item(vm, l->kept, name);
        return dvx_failed(*out) ? -1 : 1;
    }
    char *text = ffi_text(vm, name, &size);
    if (!text) return -1;
    found = look_up(vm, l, text, size, out, &keeps);
    if (found == 0) ffi_fail(vm, DVX_ATTRIBUTE_ERROR, "%s", text), found = -1;
    vm->api->deallocate(vm, text, size + 1);
    if (found > 0 && keeps && !vm->api->set_item(vm, l->kept, name, *out)) {
        vm->api->release(vm, *out);
        return -1;
    }
    return found;
}

static int set(dvx_vm *vm, dvx_value self, dvx_value name, dvx_value v) {
    const library *l = library_of(vm, self);
    size_t size;
    if (dvx_failed(v))
        return ffi_fail(vm, DVX_ATTRIBUTE_ERROR, "C attribute cannot be deleted"), -1;
    char *text = ffi_text(vm, name, &size);
    if (!text) return -1;
    const declaration *d = scope_find(l->scope, DECLARED_VARIABLE, text, size);
    char *address = d ? symbol(vm, l, text, "variable") : NULL;
    bool known = scope_find(l->scope, DECLARED_FUNCTION, text, size) ||
                 scope_find(l->scope, DECLARED_INTEGER, text, size);
    if (!d)
        ffi_fail(vm, DVX_ATTRIBUTE_ERROR,
                 known ? "cannot write to function or constant '%s'" : "%s", text);
    vm->api->deallocate(vm, text, size + 1);
    return address && convert_write(vm, d->type, address, v) ? 1 : -1;
}

dvx_value library_address(dvx_vm *vm, dvx_value v, dvx_value name) {
    const library *l = library_of(vm, v);
    size_t size;
    char *text = ffi_text(vm, name, &size);
    if (!text) return DVX_FAILED;
    dvx_value made = DVX_FAILED;
    const declaration *d = scope_find(l->scope, DECLARED_VARIABLE, text, size);
    const declaration *f = scope_find(l->scope, DECLARED_FUNCTION, text, size);
    if (f) {
        made = function(vm, l, f);
    } else if (d) {
        char *address = symbol(vm, l, text, "function/symbol");
        ctype *type = d->type->kind == CTYPE_ARRAY ? d->type : ctype_pointer_to(vm, d->type);
        if (address && type) made = cdata_make(vm, type, address, NULL);
    } else {
        ffi_fail(vm, DVX_ATTRIBUTE_ERROR, "%s", text);
    }
    vm->api->deallocate(vm, text, size + 1);
    return made;
}

/* ---- The type ---- */

static void release(dvx_vm *vm, void *payload) {
    library *l = payload;
    if (l->has_kept) vm->api->release(vm, l->kept);
    /* Functions of it may still be called: the library stays in the process. */
    vm->api->deallocate(vm, l->name, l->name_size + 1);
    scope_release(vm, l->scope);
}

static dvx_value names(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const library *l = library_of(vm, args[0]);
    (void)count;
    dvx_value list = vm->api->make_list(vm, NULL, 0);
    bool good = !dvx_failed(list);
    for (uint32_t i = 0; i < l->scope->count && good; i++) {
        const declaration *d = &l->scope->declarations[i];
        if (d->kind < DECLARED_FUNCTION || d->kind > DECLARED_INTEGER) continue;
        dvx_value name = vm->api->make_str(vm, d->name, d->size);
        good = vm->api->append(vm, list, name);
        vm->api->release(vm, name);
    }
    if (good) return list;
    vm->api->release(vm, list);
    return DVX_FAILED;
}

static const dvx_function names_method = {
    .size = sizeof(dvx_function), .name = "__dir__", .entry = names, .min = 1, .max = 1};
static const dvx_function *const methods[] = {&names_method};

const dvx_type library_type = {
    .size = sizeof(dvx_type),
    .name = "FFILibrary",
    .doc = "A shared library.",
    .payload = sizeof(library),
    .release = release,
    .method_count = LENGTH_OF(methods),
    .methods = methods,
    .find_attribute = find,
    .set_attribute = set,
    .specialise = sites_specialise_library,
    .lasting_attribute = lasting,
};
