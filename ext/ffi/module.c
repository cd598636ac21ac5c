/* module.c: the extension `ffi`: the class FFI and what belongs to the module (module.h). */
#include "module.h"

#include <dlfcn.h>
#include <stdio.h>

#include "data/buffer.h"
#include "call/callback.h"
#include "ctype/ctype.h"
#include "ctype/layout.h"
#include "data/lend.h"
#include "call/library.h"
#include "parse/parser.h"

extern const dvx_type decorator_type;

typedef struct ffi_object {
    scope *scope; /* NULL until it is needed */
} ffi_object;

scope *module_scope(dvx_vm *vm, dvx_value self) {
    ffi_object *object = vm->api->payload(vm, self, &ffi_class);
    if (!object->scope) object->scope = scope_new(vm);
    return object->scope;
}

ctype *module_type(dvx_vm *vm, dvx_value self, dvx_value v, const char *what, bool functions) {
    char few[128], name[FFI_NAME];
    size_t size;
    if (vm->api->kind(vm, v) != DVX_STR) {
        ctype *type = ctype_of_object(vm, v);
        if (type) return layout_of(vm, type) ? type : NULL;
        ffi_fail(vm, DVX_TYPE_ERROR, "%sargument 1 must be _cffi_backend.CType, not %s", what,
                 ffi_class_name(vm, v, name));
        return NULL;
    }
    scope *s = module_scope(vm, self);
    if (!s || !vm->api->read_str(vm, v, few, sizeof few, &size)) return NULL;
    char *text = size < sizeof few ? few : ffi_text(vm, v, &size);
    ctype *type = text ? parser_type(vm, s, text, size, functions) : NULL;
    if (text && text != few) vm->api->deallocate(vm, text, size + 1);
    return type;
}

static bool is_given(dvx_vm *vm, dvx_value v) {
    return !dvx_failed(v) && vm->api->kind(vm, v) != DVX_NONE;
}

/* ---- cdef ---- */

/* packed=True is pack=1. */
static bool read_pack(dvx_vm *vm, dvx_value packed, dvx_value pack, uint32_t *out) {
    int64_t size = 0;
    int is_packed = dvx_failed(packed) ? 0 : vm->api->truth(vm, packed);
    if (is_packed < 0 || (is_given(vm, pack) && !vm->api->read_index(vm, pack, &size)))
        return false;
    if (is_packed && vm->api->equal(vm, packed, vm->api->make_bool(vm, true)) <= 0)
        return ffi_fail(vm, DVX_VALUE_ERROR,
                        "'packed' should be False or True; use 'pack' to give another value");
    if (is_packed && size)
        return ffi_fail(vm, DVX_VALUE_ERROR, "cannot give both 'pack' and 'packed'");
    if (size & (size - 1))
        return ffi_fail(vm, DVX_VALUE_ERROR, "'pack' must be a power of two, not %lld",
                        (long long)size);
    *out = is_packed ? 1 : size > UINT16_MAX ? 0 : (uint32_t)size;
    return true;
}

/* cdef(csource, override=False, packed=False, pack=None) */
static MODULE_METHOD(cdef) {
    parser_options options = {0};
    size_t size;
    (void)count;
    scope *s = module_scope(vm, args[0]);
    if (!s) return DVX_FAILED;
    if (vm->api->kind(vm, args[1]) != DVX_STR)
        return ffi_raise(vm, DVX_TYPE_ERROR, "cdef() argument must be a string");
    int override = dvx_failed(args[2]) ? 0 : vm->api->truth(vm, args[2]);
    if (override < 0 || !read_pack(vm, args[3], args[4], &options.pack)) return DVX_FAILED;
    options.override = override;
    char *text = ffi_text(vm, args[1], &size);
    if (!text) return DVX_FAILED;
    bool good = parser_declare(vm, s, text, size, &options);
    vm->api->deallocate(vm, text, size + 1);
    return good ? ffi_none(vm) : DVX_FAILED;
}

static bool is_shared_kind(declaration_kind kind) {
    return kind <= DECLARED_ENUM || kind == DECLARED_INTEGER;
}

/* include(ffi): its types and integer constants are known here, too. */
static MODULE_METHOD(include) {
    char name[FFI_NAME];
    (void)count;
    if (!vm->api->payload(vm, args[1], &ffi_class))
        return ffi_raise(
            vm, DVX_TYPE_ERROR,
            "ffi.include() expects an argument that is also of type cffi.FFI, not '%s'",
            ffi_class_name(vm, args[1], name));
    scope *to = module_scope(vm, args[0]), *from = to ? module_scope(vm, args[1]) : NULL;
    if (!from) return DVX_FAILED;
    if (to == from) return ffi_raise(vm, DVX_VALUE_ERROR, "self.include(self)");
    for (uint32_t i = 0; i < from->count; i++) {
        const declaration *d = &from->declarations[i];
        if (!is_shared_kind(d->kind) || scope_find(to, d->kind, d->name, d->size)) continue;
        declaration *made = scope_add(vm, to, d->kind, d->name, d->size, d->type);
        if (!made) return DVX_FAILED;
        made->value = d->value;
    }
    return ffi_none(vm);
}

/* ---- Libraries ---- */

/* dlopen(name, flags=0) */
static MODULE_METHOD(open_library) {
    int64_t flags = 0;
    (void)count;
    scope *s = module_scope(vm, args[0]);
    if (!s || (!dvx_failed(args[2]) && !vm->api->read_index(vm, args[2], &flags)))
        return DVX_FAILED;
    return library_open(vm, s, args[1], flags);
}

static MODULE_METHOD(close_library) {
    (void)count;
    return library_close(vm, args[1]) ? ffi_none(vm) : DVX_FAILED;
}

/* ---- Types ---- */

static MODULE_METHOD(type_of) {
    (void)count;
    const cdata *c = cdata_of(vm, args[1]);
    if (c) return ctype_object(vm, c->type);
    if (vm->api->kind(vm, args[1]) == DVX_STR) {
        ctype *type = module_type(vm, args[0], args[1], "typeof() ", false);
        return type ? ctype_object(vm, type) : DVX_FAILED;
    }
    dvx_value class_ = vm->api->class_of(vm, args[1]),
              error = vm->api->error_class(vm, DVX_TYPE_ERROR);
    vm->api->raise_format(vm, error, "%S", class_);
    vm->api->release(vm, class_);
    vm->api->release(vm, error);
    return DVX_FAILED;
}

static MODULE_METHOD(size_of) {
    (void)count;
    const cdata *c = cdata_of(vm, args[1]);
    bool typed = vm->api->kind(vm, args[1]) == DVX_STR || ctype_of_object(vm, args[1]);
    if (!c && !typed) return ffi_raise(vm, DVX_TYPE_ERROR, "expected a 'cdata' or 'ctype' object");
    ctype *type = c ? c->type : module_type(vm, args[0], args[1], "sizeof() ", false);
    if (!type) return DVX_FAILED;
    int64_t size = c ? cdata_size(c) : type->size;
    if (size >= 0) return vm->api->make_int(vm, size);
    return ffi_raise(vm, DVX_VALUE_ERROR, "ctype '%s' is of unknown size", type->name);
}

static MODULE_METHOD(align_of) {
    (void)count;
    const ctype *type = module_type(vm, args[0], args[1], "alignof() ", false);
    if (!type) return DVX_FAILED;
    bool known = type->size >= 0 || type->kind == CTYPE_ARRAY;
    if (known) return vm->api->make_int(vm, type->align);
    return ffi_raise(vm, DVX_VALUE_ERROR, "ctype '%s' is of unknown alignment", type->name);
}

/* The text that goes to the place of the declarator, as cffi spaces it. */
static void space_name(const ctype *type, const char *given, size_t size, char *out, size_t room) {
    while (size && (*given == ' ' || *given == '\n' || *given == '\t')) given++, size--;
    while (size && (given[size - 1] == ' ' || given[size - 1] == '\n' || given[size - 1] == '\t'))
        size--;
    bool array = type->name[type->position] == '[';
    if (size && *given == '*' && array)
        snprintf(out, room, "(%.*s)", (int)size, given);
    else
        snprintf(out, room, "%s%.*s", size && *given != '[' && *given != '(' ? " " : "", (int)size,
                 given);
}

/* getctype(cdecl, replace_with='') */
static MODULE_METHOD(get_c_type) {
    char spaced[600], given[512] = "";
    size_t size = 0;
    (void)count;
    const ctype *type = module_type(vm, args[0], args[1], "getcname() ", false);
    if (!type ||
        (!dvx_failed(args[2]) && !vm->api->read_str(vm, args[2], given, sizeof given, &size)))
        return DVX_FAILED;
    if (size >= sizeof given)
        return ffi_raise(vm, DVX_VALUE_ERROR,
                         "names of more than %zu characters are not part of dl", sizeof given - 1);
    space_name(type, given, size, spaced, sizeof spaced);
    char *name = ctype_name_with(vm, type, spaced, &size);
    dvx_value made = name ? vm->api->make_str(vm, name, size) : DVX_FAILED;
    vm->api->deallocate(vm, name, name ? size + 1 : 0);
    return made;
}

static bool append_sorted(dvx_vm *vm, dvx_value list, const scope *s, declaration_kind kind) {
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->declarations[i].kind != kind) continue;
        dvx_value name = vm->api->make_str(vm, s->declarations[i].name, s->declarations[i].size);
        bool good = vm->api->append(vm, list, name);
        vm->api->release(vm, name);
        if (!good) return false;
    }
    return ffi_forget(vm, vm->api->call_method(vm, list, "sort", NULL, 0));
}

/* The names of typedefs, structs and unions. */
static MODULE_METHOD(list_types) {
    static const declaration_kind kinds[] = {DECLARED_TYPEDEF, DECLARED_STRUCT, DECLARED_UNION};
    dvx_value lists[3], made = DVX_FAILED;
    bool good = true;
    (void)count;
    const scope *s = module_scope(vm, args[0]);
    if (!s) return DVX_FAILED;
    for (int i = 0; i < 3; i++) {
        lists[i] = good ? vm->api->make_list(vm, NULL, 0) : DVX_FAILED;
        good = good && !dvx_failed(lists[i]) && append_sorted(vm, lists[i], s, kinds[i]);
    }
    if (good) made = vm->api->make_tuple(vm, lists, 3);
    for (int i = 0; i < 3; i++) vm->api->release(vm, lists[i]);
    return made;
}

/* ---- Callbacks ---- */

/* What ffi.callback gives without a function: it takes one. */
typedef struct decorator {
    ctype *type; /* NULL: made by nobody */
    dvx_value error, onerror;
} decorator;

static void release_decorator(dvx_vm *vm, void *payload) {
    decorator *d = payload;
    if (!d->type) return;
    vm->api->release(vm, d->error);
    vm->api->release(vm, d->onerror);
}

static dvx_value make_callback(dvx_vm *vm, ctype *type, dvx_value function, dvx_value error,
                               dvx_value onerror) {
    dvx_value callable = vm->api->builtin(vm, "callable"),
              answer = vm->api->call(vm, callable, &function, 1);
    int good = dvx_failed(answer) ? -1 : vm->api->truth(vm, answer);
    vm->api->release(vm, callable);
    vm->api->release(vm, answer);
    if (good < 0) return DVX_FAILED;
    if (!good)
        return ffi_raise(vm, DVX_TYPE_ERROR, "the 'python_callable' argument is not callable");
    return callback_new(vm, type, function, error, onerror);
}

static dvx_value decorate(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    const decorator *d = vm->api->payload(vm, self, &decorator_type);
    (void)count;
    return make_callback(vm, d->type, args[0], d->error, d->onerror);
}

static const char *const decorator_names[] = {"python_callable"};
static const dvx_parameters decorator_parameters = {sizeof(dvx_parameters), decorator_names, 1, 1,
                                                    1};

const dvx_type decorator_type = {
    .size = sizeof(dvx_type),
    .name = "callback_decorator",
    .payload = sizeof(decorator),
    .release = release_decorator,
    .call = decorate,
    .call_parameters = &decorator_parameters,
};

/* callback(cdecl, python_callable=None, error=None, onerror=None) */
static MODULE_METHOD(callback) {
    void *payload;
    (void)count;
    dvx_value none = ffi_none(vm);
    dvx_value error = dvx_failed(args[3]) ? none : args[3];
    dvx_value onerror = dvx_failed(args[4]) ? none : args[4];
    ctype *type = module_type(vm, args[0], args[1], "callback() ", true);
    if (!type) return DVX_FAILED;
    if (is_given(vm, args[2])) return make_callback(vm, type, args[2], error, onerror);
    dvx_value made = vm->api->make_object(vm, &decorator_type, &payload);
    if (!dvx_failed(made))
        *(decorator *)payload =
            (decorator){type, vm->api->retain(vm, error), vm->api->retain(vm, onerror)};
    return made;
}

/* ---- What is not there ---- */

static MODULE_METHOD(refuse) {
    (void)args, (void)count;
    return ffi_raise(vm, DVX_NOT_IMPLEMENTED_ERROR,
                     "this method of FFI needs a C compiler and is not part of dl");
}

/* ---- Attributes ---- */

static dvx_value get_errno(dvx_vm *vm, dvx_value self) {
    (void)self;
    return vm->api->make_int(vm, ffi_state_of(vm)->saved_errno);
}

static bool set_errno(dvx_vm *vm, dvx_value self, dvx_value v) {
    int64_t value;
    (void)self;
    if (!vm->api->read_index(vm, v, &value)) return false;
    if (value != (int)value) return ffi_fail(vm, DVX_OVERFLOW_ERROR, "errno value too large");
    ffi_state_of(vm)->saved_errno = (int)value;
    return true;
}

static dvx_value get_null(dvx_vm *vm, dvx_value self) {
    (void)self;
    return vm->api->retain(vm, ffi_state_of(vm)->null);
}
static dvx_value get_cdata(dvx_vm *vm, dvx_value self) {
    (void)self;
    return vm->api->type_class(vm, &cdata_type);
}
static dvx_value get_ctype(dvx_vm *vm, dvx_value self) {
    (void)self;
    return vm->api->type_class(vm, &ctype_type);
}
static dvx_value get_buffer(dvx_vm *vm, dvx_value self) {
    (void)self;
    return vm->api->type_class(vm, &buffer_type);
}

#define FLAG(name)                                            \
    static dvx_value get_##name(dvx_vm *vm, dvx_value self) { \
        return (void)self, vm->api->make_int(vm, name);       \
    }
FLAG(RTLD_LAZY)
FLAG(RTLD_NOW)
FLAG(RTLD_GLOBAL)
FLAG(RTLD_LOCAL)
FLAG(RTLD_NODELETE)
FLAG(RTLD_NOLOAD)
#undef FLAG

#define ATTRIBUTE(name, get, set) \
    &(const dvx_attribute) { sizeof(dvx_attribute), name, get, set }

static const dvx_attribute *const attributes[] = {
    ATTRIBUTE("errno", get_errno, set_errno),
    ATTRIBUTE("NULL", get_null, NULL),
    ATTRIBUTE("CData", get_cdata, NULL),
    ATTRIBUTE("CType", get_ctype, NULL),
    ATTRIBUTE("buffer", get_buffer, NULL),
    ATTRIBUTE("RTLD_LAZY", get_RTLD_LAZY, NULL),
    ATTRIBUTE("RTLD_NOW", get_RTLD_NOW, NULL),
    ATTRIBUTE("RTLD_GLOBAL", get_RTLD_GLOBAL, NULL),
    ATTRIBUTE("RTLD_LOCAL", get_RTLD_LOCAL, NULL),
    ATTRIBUTE("RTLD_NODELETE", get_RTLD_NODELETE, NULL),
    ATTRIBUTE("RTLD_NOLOAD", get_RTLD_NOLOAD, NULL),
};

/* ---- The class ---- */

static bool initialise(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    (void)count;
    if (is_given(vm, args[0]))
        return ffi_fail(vm, DVX_NOT_IMPLEMENTED_ERROR, "other backends are not part of dl");
    return module_scope(vm, self) != NULL;
}

static void release(dvx_vm *vm, void *payload) {
    scope_release(vm, ((ffi_object *)payload)->scope);
}

#define NAMES(...) \
    (const char *const[]) { __VA_ARGS__ }
#define KEYWORDS(text, function, all, least, ...)                       \
    &(const dvx_function) {                                             \
        .size = sizeof(dvx_function), .name = text, .entry = function,  \
        .parameters = &(const dvx_parameters) {                         \
            sizeof(dvx_parameters), NAMES(__VA_ARGS__), all, all, least \
        }                                                               \
    }
#define METHOD(text, function, least, most)                                                      \
    &(const dvx_function) {                                                                      \
        .size = sizeof(dvx_function), .name = text, .entry = function, .min = least, .max = most \
    }
#define REFUSED(text) METHOD(text, refuse, 1, UINT32_MAX)

static const dvx_function *const methods[] = {
    KEYWORDS("cdef", cdef, 4, 1, "csource", "override", "packed", "pack"),
    KEYWORDS("include", include, 1, 1, "ffi_to_include"),
    KEYWORDS("dlopen", open_library, 2, 1, "name", "flags"),
    KEYWORDS("dlclose", close_library, 1, 1, "lib"),
    KEYWORDS("typeof", type_of, 1, 1, "cdecl"),
    KEYWORDS("sizeof", size_of, 1, 1, "cdecl"),
    KEYWORDS("alignof", align_of, 1, 1, "cdecl"),
    KEYWORDS("getctype", get_c_type, 2, 1, "cdecl", "replace_with"),
    METHOD("list_types", list_types, 1, 1),
    KEYWORDS("callback", callback, 4, 1, "cdecl", "python_callable", "error", "onerror"),
    KEYWORDS("new", memory_new, 2, 1, "cdecl", "init"),
    KEYWORDS("cast", memory_cast, 2, 2, "cdecl", "source"),
    KEYWORDS("string", memory_string, 2, 1, "cdata", "maxlen"),
    KEYWORDS("unpack", memory_unpack, 2, 2, "cdata", "length"),
    KEYWORDS("memmove", memory_memmove, 3, 3, "dest", "src", "n"),
    KEYWORDS("gc", memory_gc, 3, 2, "cdata", "destructor", "size"),
    KEYWORDS("release", memory_release, 1, 1, "x"),
    KEYWORDS("new_handle", memory_new_handle, 1, 1, "x"),
    KEYWORDS("from_handle", memory_from_handle, 1, 1, "x"),
    KEYWORDS("from_buffer", lend_from_buffer, 3, 1, "cdecl", "python_buffer", "require_writable"),
    METHOD("addressof", memory_addressof, 2, UINT32_MAX),
    METHOD("offsetof", memory_offsetof, 3, UINT32_MAX),
    REFUSED("new_allocator"),
    REFUSED("verify"),
    REFUSED("set_source"),
    REFUSED("compile"),
    REFUSED("def_extern"),
    REFUSED("embedding_api"),
    REFUSED("embedding_init_code"),
    REFUSED("init_once"),
};

static const dvx_parameters ffi_parameters = {sizeof(dvx_parameters), NAMES("backend"), 1, 1, 0};

const dvx_type ffi_class = {
    .size = sizeof(dvx_type),
    .name = "FFI",
    .doc = "C declarations, and what can be done with them.",
    .payload = sizeof(ffi_object),
    .base = true,
    .initialise = initialise,
    .parameters = &ffi_parameters,
    .release = release,
    .method_count = LENGTH_OF(methods),
    .methods = methods,
    .attribute_count = LENGTH_OF(attributes),
    .attributes = attributes,
};

/* ---- The module ---- */

/* class name(Exception), in module cffi */
static dvx_value make_error(dvx_vm *vm, dvx_value module, const char *name) {
    dvx_value base = vm->api->builtin(vm, "Exception"), bases = vm->api->make_tuple(vm, &base, 1);
    dvx_value members = vm->api->make_dict(vm), key = ffi_str(vm, "__module__");
    dvx_value home = ffi_str(vm, "cffi"), type = vm->api->builtin(vm, "type"), made = DVX_FAILED;
    dvx_value args[] = {ffi_str(vm, name), bases, members};
    bool good = !dvx_failed(bases) && !dvx_failed(args[0]) && !dvx_failed(members) &&
                !dvx_failed(type) && vm->api->set_item(vm, members, key, home);
    if (good) made = vm->api->call(vm, type, args, 3);
    if (!dvx_failed(made) && !vm->api->add_constant(vm, module, name, made)) {
        vm->api->release(vm, made);
        made = DVX_FAILED;
    }
    dvx_value all[] = {base, bases, members, key, home, type, args[0]};
    for (size_t i = 0; i < LENGTH_OF(all); i++) vm->api->release(vm, all[i]);
    return made;
}

static bool make_values(dvx_vm *vm, dvx_value module, ffi_state *state) {
    state->cdef_error = make_error(vm, module, "CDefError");
    if (dvx_failed(state->cdef_error)) return false;
    state->error_count++;
    state->ffi_error = make_error(vm, module, "FFIError");
    if (dvx_failed(state->ffi_error)) return false;
    state->error_count++;
    state->null = cdata_make(vm, state->void_pointer, NULL, NULL);
    state->ready = !dvx_failed(state->null);
    return state->ready;
}

/* A program with ffi can do whatever the process can, so the host must have allowed it. */
static bool check_allowed(dvx_vm *vm) {
    if (vm->api->allows_foreign(vm)) return true;
    dvx_value class_ = vm->api->builtin(vm, "PermissionError");
    if (!dvx_failed(class_))
        vm->api->raise_format(vm, class_, "the host does not allow programs to call C functions");
    vm->api->release(vm, class_);
    return false;
}

static bool init(dvx_vm *vm, dvx_value module) {
    ffi_state *state = ffi_state_of(vm);
    return check_allowed(vm) && vm->api->add_type(vm, module, &ffi_class) &&
           cdata_setup(vm, module) && ctype_setup_classes(vm, module) &&
           vm->api->add_type(vm, module, &buffer_type) &&
           vm->api->add_type(vm, module, &library_type) &&
           vm->api->add_type(vm, module, &decorator_type) && ctype_setup(vm, state) &&
           make_values(vm, module, state);
}

static void finish(dvx_vm *vm, void *memory) {
    ffi_state *state = memory;
    if (state->error_count > 0) vm->api->release(vm, state->cdef_error);
    if (state->error_count > 1) vm->api->release(vm, state->ffi_error);
    if (state->ready) vm->api->release(vm, state->null);
    ctype_free_all(vm, state);
    vm->api->deallocate(vm, state->handles, state->handle_size * sizeof *state->handles);
}

DVX_EXTENSION_WITH_STATE("ffi", init, sizeof(ffi_state), finish);
