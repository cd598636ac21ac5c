/* import.c: the import statements (import.h). */
#include "import/import.h"

#include "run/execute.h"

#include <stdio.h>

#include "core/native.h"
#include "run/call.h"
#include "run/frame.h"
#include "import/import_find.h"
#include "run/thread.h"
#include "types/mapping/dict.h"
#include "types/class/directory.h"
#include "types/exception/exception.h"
#include "types/exception/hook.h"
#include "types/sequence/list.h"
#include "types/file/module.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

#define UNKNOWN_NAME "<unknown module name>"

/* ---- Tools ------------------------------------------------------------------------------------*/

/* vm->error gets attributes `name` and `path` (EMPTY: None). */
static dv_value describe(dv_vm *vm, dv_value name, dv_value path) {
    dv_value error = vm->error;
    vm->error = DV_EMPTY;
    if (dv_is_exception(error) &&
        (!dv_exception_set(vm, error, "name", name) ||
         (!dv_is_empty(path) && !dv_exception_set(vm, error, "path", path))))
        dv_error_clear(vm);
    vm->error = error;
    return DV_EMPTY;
}

/* An attribute by its C name: new; EMPTY with or without an error. */
static dv_value attribute(dv_vm *vm, dv_value v, const char *text) {
    dv_value name = dv_str_intern(vm, text, strlen(text));
    if (dv_is_empty(name)) return DV_EMPTY;
    dv_value found = dv_get_attribute(vm, v, name);
    dv_release(vm, name);
    if (dv_is_empty(found) && dv_error_is(vm, DV_E_ATTRIBUTE_ERROR)) dv_error_clear(vm);
    return found;
}

/* The position of the last dot, or -1. */
static int64_t last_dot(dv_value name) {
    const dv_str *s = dv_as_str(name);
    for (int64_t i = s->length; i-- > 0;)
        if (dv_str_at(s, i) == '.') return i;
    return -1;
}

static dv_value part(dv_vm *vm, dv_value name, int64_t from, int64_t to) {
    dv_value text = dv_str_slice(vm, name, from, to);
    dv_value interned = dv_is_empty(text) ? DV_EMPTY : dv_str_intern_value(vm, text);
    dv_release(vm, text);
    return interned;
}

/* ---- Making a module --------------------------------------------------------------------------*/

/* What the module's names are before its code runs; `file` EMPTY: none; `directories` EMPTY: it is
 * no package. */
static bool set_up(dv_vm *vm, dv_value value, dv_value name, dv_value file, dv_value directories) {
    dv_module *module = dv_as_module(value);
    bool package = !dv_is_empty(directories);
    int64_t dot = last_dot(name);
    dv_value parent = package   ? dv_retain(name)
                      : dot > 0 ? part(vm, name, 0, dot)
                                : dv_retain(vm->known.empty_str);
    if (dv_is_empty(parent) || !dv_module_set_plain(vm, module, parent)) return false;
    if (package && !dv_namespace_set(vm, &module->names, "__path__", dv_retain(directories)))
        return false;
    return dv_is_empty(file) || dv_namespace_set(vm, &module->names, "__file__", dv_retain(file));
}

static dv_value new_module(dv_vm *vm, dv_value name, const dv_module_file *found) {
    const char *slash = strrchr(found->path, '/');
    size_t size =
        found->kind == DV_MODULE_NAMESPACE ? strlen(found->path) : (size_t)(slash - found->path);
    bool package = found->kind == DV_MODULE_PACKAGE || found->kind == DV_MODULE_NAMESPACE;
    dv_value directory = package ? dv_str_new(vm, found->path, size) : DV_EMPTY;
    dv_value path = dv_is_empty(directory) ? DV_EMPTY : dv_list_new(vm, &directory, 1);
    dv_value file = found->kind == DV_MODULE_NAMESPACE ? DV_EMPTY : dv_str_z(vm, found->path);
    bool good = dv_is_empty(vm->error);
    dv_value module = good ? dv_module_named(vm, name) : DV_EMPTY;
    if (!dv_is_empty(module) && !set_up(vm, module, name, file, path)) {
        dv_release(vm, module);
        module = DV_EMPTY;
    }
    dv_release(vm, directory);
    dv_release(vm, path);
    dv_release(vm, file);
    return module;
}

/* The module is not there any more, as its code has raised. */
static void forget(dv_vm *vm, dv_value name) {
    dv_value error = vm->error;
    vm->error = DV_EMPTY;
    if (dv_dict_delete(vm, vm->modules, name) < 0) dv_error_clear(vm);
    vm->error = error;
}

dv_value dv_import_run(dv_vm *vm, dv_value name, dv_value module, dv_unit *unit) {
    dv_as_module(module)->initializing = true;
    dv_value result = dv_run_unit(vm, unit, module);
    dv_as_module(module)->initializing = false;
    dv_release(vm, result);
    if (dv_is_empty(result)) {
        forget(vm, name);
        return DV_EMPTY;
    }
    dv_value made = dv_dict_get(vm, vm->modules, name); /* it may have put another one there */
    if (!dv_is_empty(made)) return dv_retain(made);
    return dv_is_empty(vm->error) ? dv_raise_value(vm, DV_E_KEY_ERROR, name) : DV_EMPTY;
}

dv_value dv_module_run(dv_vm *vm, dv_value module, const char *text, size_t size,
                       const char *filename, unsigned how) {
    dv_unit *unit = vm->hooks.import.compile_text(vm, text, size, filename, how);
    return unit ? dv_run_unit(vm, unit, module) : DV_EMPTY;
}

/* A library module in dl. */
static dv_value load_frozen(dv_vm *vm, dv_value name, const struct dv_frozen *frozen) {
    dv_value module = dv_module_named(vm, name);
    if (dv_is_empty(module)) return DV_EMPTY;
    dv_as_module(module)->frozen = true;
    dv_value result = DV_EMPTY;
    if (set_up(vm, module, name, DV_EMPTY, DV_EMPTY) &&
        dv_dict_set(vm, vm->modules, name, module)) {
        dv_unit *unit = vm->hooks.import.unpack_frozen(vm, frozen);
        if (unit)
            result = dv_import_run(vm, name, module, unit);
        else
            forget(vm, name);
    }
    dv_release(vm, module);
    return result;
}

/* Does the name begin with just one '_'?  Such modules of the library are its own business: they
 * are not in sys.modules, and programs may have modules of the same names. */
static bool names_helper(dv_value name) {
    const dv_str *s = dv_as_str(name);
    return s->length > 1 && dv_str_at(s, 0) == '_' && dv_str_at(s, 1) != '_';
}

/* Runs the text of a helper module, which is among the helpers then. */
static bool run_helper(dv_vm *vm, dv_value name, dv_value module, const struct dv_frozen *frozen) {
    if (!set_up(vm, module, name, DV_EMPTY, DV_EMPTY)) return false;
    dv_unit *unit = vm->hooks.import.unpack_frozen(vm, frozen);
    dv_value result = unit ? dv_run_unit(vm, unit, module) : DV_EMPTY;
    dv_release(vm, result);
    return !dv_is_empty(result);
}

dv_value dv_import_helper(dv_vm *vm, dv_value name) {
    dv_value known = dv_dict_get(vm, vm->helpers, name);
    if (!dv_is_empty(known) || !dv_is_empty(vm->error)) return dv_retain(known);
    dv_value module = vm->hooks.import.load_builtin(vm, name, false);
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    bool good = true;
    if (dv_is_empty(module)) {
        const struct dv_frozen *frozen = vm->hooks.import.find_frozen(name, false);
        if (!frozen) return DV_EMPTY;
        module = dv_module_named(vm, name);
        if (dv_is_empty(module) || !dv_enter_native(vm)) {
            dv_release(vm, module);
            return DV_EMPTY;
        }
        good = run_helper(vm, name, module, frozen);
        dv_leave_native(vm);
    }
    if (good && dv_dict_set(vm, vm->helpers, name, module)) return module;
    dv_release(vm, module);
    return DV_EMPTY;
}

/* The ImportError of a compiled file gets its name and path. */
static void describe_refused(dv_vm *vm, dv_value name, const char *path) {
    dv_value error = vm->error;
    vm->error = DV_EMPTY;
    dv_value text = dv_str_z(vm, path);
    if (dv_is_empty(text)) dv_error_clear(vm);
    vm->error = error;
    describe(vm, name, text);
    dv_release(vm, text);
}

/* Compiles a file that was found, unless it is compiled, and runs it. */
static dv_value load_source(dv_vm *vm, dv_value name, const dv_module_file *found) {
    dv_value module = new_module(vm, name, found);
    if (dv_is_empty(module)) return DV_EMPTY;
    dv_value result = DV_EMPTY;
    if (dv_dict_set(vm, vm->modules, name, module)) {
        dv_unit *unit = vm->hooks.import.compile_file(vm, found->path);
        if (!unit && dv_error_is(vm, DV_E_IMPORT_ERROR)) describe_refused(vm, name, found->path);
        if (unit)
            result = dv_import_run(vm, name, module, unit);
        else
            forget(vm, name);
    }
    dv_release(vm, module);
    return result;
}

/* Runs the code of a module, which is empty so far. */
static dv_value run_given(dv_vm *vm, dv_value name, dv_value module, const dv_host_module *found) {
    dv_value path = found->package ? dv_list_new(vm, NULL, 0) : DV_EMPTY;
    bool good = dv_is_empty(vm->error) && set_up(vm, module, name, found->file, path) &&
                dv_dict_set(vm, vm->modules, name, module);
    dv_release(vm, path);
    if (good) return dv_import_run(vm, name, module, found->unit);
    if (--found->unit->references == 0)
        found->unit->release_arena(found->unit->context, found->unit->arena);
    return DV_EMPTY;
}

/* A module that the host has; EMPTY with or without an error.  Submodules of a package of the host
 * come from the host alone: its __path__ is empty. */
static dv_value load_given(dv_vm *vm, dv_value name) {
    dv_host_module found;
    if (!vm->hooks.import.ask_module || vm->hooks.import.ask_module(vm, name, &found) <= 0)
        return DV_EMPTY;
    dv_value module = dv_module_named(vm, name), result = DV_EMPTY;
    if (!dv_is_empty(module))
        result = run_given(vm, name, module, &found);
    else if (--found.unit->references == 0)
        found.unit->release_arena(found.unit->context, found.unit->arena);
    dv_release(vm, module);
    dv_release(vm, found.file);
    return result;
}

/* A module that is complete as it is goes into sys.modules. */
static dv_value enter(dv_vm *vm, dv_value name, dv_value module) {
    if (dv_is_empty(module) || dv_dict_set(vm, vm->modules, name, module)) return module;
    dv_release(vm, module);
    return DV_EMPTY;
}

static dv_value load_file(dv_vm *vm, dv_value name, const dv_module_file *found) {
    switch (found->kind) {
    case DV_MODULE_SOURCE:
    case DV_MODULE_PACKAGE: return load_source(vm, name, found);
    case DV_MODULE_EXTENSION:
        return enter(vm, name, vm->hooks.import.load_extension(vm, name, found->path));
    case DV_MODULE_NAMESPACE: return enter(vm, name, new_module(vm, name, found));
    case DV_MODULE_NONE: break;
    }
    return DV_EMPTY;
}

/* sys.path as it is now: borrowed. */
static dv_value search_path(const dv_vm *vm) {
    const dv_global_cell *cell = vm->sys.path_cell;
    return cell && !dv_is_empty(cell->value) ? cell->value : vm->sys.path;
}

/* A module of the library, in C or in dl; EMPTY with or without an error. */
static dv_value load_library(dv_vm *vm, dv_value name, bool early) {
    dv_value module = vm->hooks.import.load_builtin(vm, name, early);
    if (!dv_is_empty(module) || !dv_is_empty(vm->error)) return enter(vm, name, module);
    const struct dv_frozen *frozen = vm->hooks.import.find_frozen(name, early);
    if (!frozen) frozen = vm->hooks.import.find_packed(vm, name);
    return frozen ? load_frozen(vm, name, frozen) : DV_EMPTY;
}

/* Where an imported module comes from, for who wants to know (python -v); NULL: our library. */
static void tell(dv_vm *vm, dv_value name, const char *path) {
    dv_value text = dv_str_printf(vm, "import %V # %s\n", name, path ? path : "library");
    if (!dv_is_empty(text)) dv_hook_write(vm, text);
    dv_error_clear(vm);
    dv_release(vm, text);
}

/* A module that is not in sys.modules; EMPTY without vm->error: there is none.  What CPython has
 * built in goes before files, the rest of our library behind them, as there, and what the host has
 * between the two.  A namespace package is found last of all. */
static dv_value load(dv_vm *vm, dv_value name, dv_value directories) {
    bool top = dv_is_empty(directories);
    dv_value module = top ? enter(vm, name, vm->hooks.import.load_hosted(vm, name)) : DV_EMPTY;
    if (top && dv_is_empty(module) && dv_is_empty(vm->error)) module = load_library(vm, name, true);
    if (dv_is_empty(module) && dv_is_empty(vm->error)) module = load_given(vm, name);
    if (!dv_is_empty(module) && vm->sys.flags[DV_FLAG_VERBOSE]) tell(vm, name, NULL);
    if (!dv_is_empty(module) || !dv_is_empty(vm->error)) return module;
    size_t size = sizeof(dv_module_file);
    dv_module_file *found = dv_heap_alloc(&vm->heap, size);
    if (!found) return dv_raise_memory(vm);
    dv_value path = dv_retain(top ? search_path(vm) : directories);
    bool good = dv_module_find(vm, name, path, found);
    dv_release(vm, path);
    bool late = good && top && !names_helper(name) &&
                (found->kind == DV_MODULE_NONE || found->kind == DV_MODULE_NAMESPACE);
    if (late) module = load_library(vm, name, false);
    bool from_file = good && dv_is_empty(module) && dv_is_empty(vm->error);
    if (from_file) module = load_file(vm, name, found);
    if (vm->sys.flags[DV_FLAG_VERBOSE] && !dv_is_empty(module))
        tell(vm, name, from_file ? found->path : NULL);
    dv_heap_free(&vm->heap, found, size);
    return module;
}

/* ---- Absolute imports -------------------------------------------------------------------------*/

/* What sys.modules knows: new; EMPTY with or without an error. */
static dv_value known_module(dv_vm *vm, dv_value name) {
    dv_value known = dv_dict_get(vm, vm->modules, name);
    if (dv_is_empty(known) || !dv_is_none(known)) return dv_retain(known);
    dv_raise(vm, DV_E_MODULE_NOT_FOUND_ERROR, "import of %S halted; None in sys.modules", name);
    return describe(vm, name, DV_EMPTY);
}

static dv_value raise_not_found(dv_vm *vm, dv_value name) {
    const char *why = vm->hooks.import.why_absent(name);
    dv_raise(vm, DV_E_MODULE_NOT_FOUND_ERROR, why ? why : "No module named %V", name);
    return describe(vm, name, DV_EMPTY);
}

/* A module of the library below another one of the library (collections.abc), of which the parent
 * is no package, or one without directories; EMPTY with or without an error. */
static dv_value load_library_child(dv_vm *vm, dv_value name, dv_value parent) {
    dv_value file = attribute(vm, parent, "__file__");
    if (!dv_is_empty(file) || !dv_is_empty(vm->error)) {
        dv_release(vm, file);
        return DV_EMPTY;
    }
    return load_library(vm, name, false);
}

/* Makes a module (owned) an attribute of its parent. */
static dv_value bind_child(dv_vm *vm, dv_value name, dv_value parent, dv_value module) {
    if (dv_is_empty(module)) return DV_EMPTY;
    dv_value last = part(vm, name, last_dot(name) + 1, dv_as_str(name)->length);
    bool bound = !dv_is_empty(last) && dv_set_attribute(vm, parent, last, module);
    dv_release(vm, last);
    if (bound) return module;
    dv_release(vm, module);
    return DV_EMPTY;
}

static dv_value import_child(dv_vm *vm, dv_value name, dv_value parent_name, dv_value parent) {
    dv_value known = known_module(vm, name); /* the parent may have imported it */
    if (!dv_is_empty(known) || !dv_is_empty(vm->error)) return known;
    dv_value directories = attribute(vm, parent, "__path__");
    if (dv_is_empty(directories)) {
        if (!dv_is_empty(vm->error)) return DV_EMPTY;
        dv_value module = load_library_child(vm, name, parent);
        if (!dv_is_empty(module) || !dv_is_empty(vm->error))
            return bind_child(vm, name, parent, module);
        const char *why = vm->hooks.import.why_absent(name);
        dv_raise(vm, DV_E_MODULE_NOT_FOUND_ERROR,
                 why ? why : "No module named %V; %V is not a package", name, parent_name);
        return describe(vm, name, DV_EMPTY);
    }
    dv_value module = load(vm, name, directories);
    dv_release(vm, directories);
    if (dv_is_empty(module) && dv_is_empty(vm->error))
        module = load_library_child(vm, name, parent);
    if (dv_is_empty(module)) return dv_is_empty(vm->error) ? raise_not_found(vm, name) : DV_EMPTY;
    return bind_child(vm, name, parent, module);
}

static dv_value import_missing(dv_vm *vm, dv_value name) {
    int64_t dot = last_dot(name);
    if (dot < 0) {
        dv_value module = load(vm, name, DV_EMPTY);
        return dv_is_empty(module) && dv_is_empty(vm->error) ? raise_not_found(vm, name) : module;
    }
    dv_value parent_name = part(vm, name, 0, dot);
    dv_value parent = dv_is_empty(parent_name) ? DV_EMPTY : dv_import(vm, parent_name);
    dv_value module = dv_is_empty(parent) ? DV_EMPTY : import_child(vm, name, parent_name, parent);
    dv_release(vm, parent);
    dv_release(vm, parent_name);
    return module;
}

/* Library modules may import helpers, and what a host forbids to programs. */
static dv_value import_for(dv_vm *vm, dv_value name, bool library) {
    if (names_helper(name) && library) {
        dv_value helper = dv_import_helper(vm, name);
        if (!dv_is_empty(helper) || !dv_is_empty(vm->error)) return helper;
    }
    if (vm->hooks.import.may_import && !library && !vm->hooks.import.may_import(vm, name))
        return DV_EMPTY;
    dv_value known = known_module(vm, name);
    if (!dv_is_empty(known) || !dv_is_empty(vm->error)) return known;
    if (!dv_enter_native(vm)) return DV_EMPTY;
    dv_value module = import_missing(vm, name);
    dv_leave_native(vm);
    return module;
}

dv_value dv_import(dv_vm *vm, dv_value name) {
    return import_for(vm, name, dv_calling_library(vm));
}

dv_value dv_import_asked(dv_vm *vm, dv_value name) { return import_for(vm, name, false); }

/* ---- The main program -----------------------------------------------------------------------*/

/* The source file of a module whose parents are imported first; EMPTY without an error: none. */
static dv_value main_file(dv_vm *vm, dv_value name, bool *package) {
    int64_t dot = last_dot(name);
    dv_value directories = dv_retain(search_path(vm)), file = DV_EMPTY;
    if (dot >= 0) {
        dv_release(vm, directories);
        dv_value parent_name = part(vm, name, 0, dot);
        dv_value parent = dv_is_empty(parent_name) ? DV_EMPTY : dv_import(vm, parent_name);
        directories = dv_is_empty(parent) ? DV_EMPTY : attribute(vm, parent, "__path__");
        dv_release(vm, parent_name);
        dv_release(vm, parent);
        if (dv_is_empty(directories)) return DV_EMPTY;
    }
    dv_module_file *found = dv_heap_alloc(&vm->heap, sizeof *found);
    if (!found) {
        dv_release(vm, directories);
        return dv_raise_memory(vm);
    }
    if (dv_module_find(vm, name, directories, found)) {
        *package = found->kind == DV_MODULE_PACKAGE;
        if (*package || found->kind == DV_MODULE_SOURCE) file = dv_str_z(vm, found->path);
    }
    dv_release(vm, directories);
    dv_heap_free(&vm->heap, found, sizeof *found);
    return file;
}

static dv_value raise_no_main(dv_vm *vm, dv_value name, dv_value full) {
    if (dv_same(name, full)) {
        const char *why = vm->hooks.import.why_absent(name);
        return dv_raise(vm, DV_E_IMPORT_ERROR, why ? why : "No module named %S", name);
    }
    return dv_raise(vm, DV_E_IMPORT_ERROR,
                    "No module named %S; %V is a package and cannot be directly executed", full,
                    name);
}

/* __package__ and __file__ of the main module. */
static bool describe_main(dv_vm *vm, dv_value full, dv_value file) {
    dv_namespace *names = &dv_as_module(vm->main)->names;
    int64_t dot = last_dot(full);
    dv_value parent = dv_str_slice(vm, full, 0, dot < 0 ? 0 : dot);
    return !dv_is_empty(parent) && dv_namespace_set(vm, names, "__package__", parent) &&
           dv_namespace_set(vm, names, "__file__", dv_retain(file));
}

dv_value dv_import_main(dv_vm *vm, dv_value name) {
    bool package = false;
    dv_value file = main_file(vm, name, &package), full = dv_retain(name);
    if (package) {
        dv_release(vm, file);
        dv_release(vm, full);
        full = dv_str_printf(vm, "%S.__main__", name);
        if (dv_is_empty(full)) return DV_EMPTY;
        file = main_file(vm, full, &package);
    }
    if (dv_is_empty(file) && dv_is_empty(vm->error)) {
        if (!names_helper(full) && (vm->hooks.import.find_frozen(full, false) ||
                                    vm->hooks.import.find_frozen(full, true))) {
            dv_release(vm, full);
            return DV_NONE;
        }
        raise_no_main(vm, name, full);
    }
    bool good = !dv_is_empty(file) && describe_main(vm, full, file);
    dv_release(vm, full);
    if (good) return file;
    dv_release(vm, file);
    return DV_EMPTY;
}

/* ---- Relative imports -------------------------------------------------------------------------*/

/* A global of the running module: borrowed, or EMPTY. */
static dv_value global(dv_vm *vm, const char *text) {
    dv_value name = dv_str_intern(vm, text, strlen(text));
    if (dv_is_empty(name)) return DV_EMPTY;
    const dv_global_cell *cell = dv_namespace_find(&dv_frame_thread(vm->fp)->module->names, name);
    dv_release(vm, name);
    return cell ? cell->value : DV_EMPTY;
}

/* The package that the running module belongs to; an empty str: none. */
static dv_value own_package(dv_vm *vm) {
    dv_value package = global(vm, "__package__");
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    if (!dv_is_empty(package) && !dv_is_none(package)) {
        if (dv_is_str(package)) return dv_retain(package);
        return dv_raise(vm, DV_E_TYPE_ERROR, "package must be a string");
    }
    dv_value name = global(vm, "__name__");
    if (dv_is_empty(name))
        return dv_is_empty(vm->error) ? dv_raise(vm, DV_E_KEY_ERROR, "'__name__' not in globals")
                                      : DV_EMPTY;
    if (!dv_is_str(name)) return dv_raise(vm, DV_E_TYPE_ERROR, "__name__ must be a string");
    if (!dv_is_empty(global(vm, "__path__"))) return dv_retain(name);
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    int64_t dot = last_dot(name);
    return dv_str_slice(vm, name, 0, dot < 0 ? 0 : dot);
}

static dv_value relative(dv_vm *vm, dv_value name, int64_t level) {
    dv_value base = own_package(vm);
    if (dv_is_empty(base)) return DV_EMPTY;
    int64_t end = dv_as_str(base)->length;
    if (end == 0) {
        dv_release(vm, base);
        return dv_raise(vm, DV_E_IMPORT_ERROR,
                        "attempted relative import with no known parent package");
    }
    for (; level > 1; level--) {
        int64_t dot = end;
        while (dot-- > 0 && dv_str_at(dv_as_str(base), dot) != '.') {}
        if (dot < 0) {
            dv_release(vm, base);
            return dv_raise(vm, DV_E_IMPORT_ERROR,
                            "attempted relative import beyond top-level package");
        }
        end = dot;
    }
    dv_value package = part(vm, base, 0, end);
    dv_release(vm, base);
    if (dv_is_empty(package) || dv_as_str(name)->length == 0) return package;
    dv_value full = dv_str_printf(vm, "%S.%S", package, name);
    dv_release(vm, package);
    return full;
}

/* The absolute name for the operand of an import instruction: new. */
static dv_value absolute(dv_vm *vm, dv_value name) {
    const dv_str *s = dv_as_str(name);
    int64_t level = 0;
    while (level < s->length && dv_str_at(s, level) == '.') level++;
    if (level == 0) return dv_retain(name);
    dv_value rest = dv_str_slice(vm, name, level, s->length);
    if (dv_is_empty(rest)) return DV_EMPTY;
    dv_value full = relative(vm, rest, level);
    dv_release(vm, rest);
    return full;
}

/* ---- Statements -------------------------------------------------------------------------------*/

dv_value dv_import_name(dv_vm *vm, dv_value name) {
    dv_value module = dv_import(vm, name);
    const dv_str *s = dv_as_str(name);
    int64_t dot = 0;
    while (dot < s->length && dv_str_at(s, dot) != '.') dot++;
    if (dv_is_empty(module) || dot == s->length) return module;
    dv_release(vm, module);
    dv_value first = part(vm, name, 0, dot);
    if (dv_is_empty(first)) return DV_EMPTY;
    module = dv_import(vm, first);
    dv_release(vm, first);
    return module;
}

dv_value dv_import_as(dv_vm *vm, dv_value name) {
    dv_value at = dv_import_name(vm, name);
    int64_t size = dv_as_str(name)->length, from = 0;
    while (from < size && dv_str_at(dv_as_str(name), from) != '.') from++;
    while (!dv_is_empty(at) && from < size) {
        int64_t to = ++from;
        while (to < size && dv_str_at(dv_as_str(name), to) != '.') to++;
        dv_value next_name = part(vm, name, from, to);
        dv_value next = dv_is_empty(next_name) ? DV_EMPTY : dv_import_from(vm, at, next_name);
        dv_release(vm, next_name);
        dv_release(vm, at);
        at = next;
        from = to;
    }
    return at;
}

/* Imports the submodule NAME of a package unless that is an attribute.  It may be missing: then
 * IMPORT_FROM says so. */
static bool import_submodule(dv_vm *vm, dv_value package, dv_value name) {
    dv_value interned = dv_str_intern_value(vm, name);
    dv_value found = dv_is_empty(interned) ? DV_EMPTY : dv_get_attribute(vm, package, interned);
    dv_release(vm, interned);
    dv_release(vm, found);
    if (!dv_is_empty(found)) return true;
    if (!dv_error_is(vm, DV_E_ATTRIBUTE_ERROR)) return false;
    dv_error_clear(vm);
    dv_value owner = attribute(vm, package, "__name__");
    if (dv_is_empty(owner)) return dv_is_empty(vm->error);
    dv_value full = dv_str_printf(vm, "%S.%S", owner, name);
    dv_release(vm, owner);
    if (dv_is_empty(full)) return false;
    dv_value module = dv_import(vm, full);
    dv_release(vm, module);
    bool good = !dv_is_empty(module);
    if (!good && dv_error_is(vm, DV_E_MODULE_NOT_FOUND_ERROR)) {
        dv_value missing = dv_exception_get(vm->error, "name");
        bool halted = dv_is_none(dv_dict_get(vm, vm->modules, full));
        good =
            !halted && !dv_is_empty(missing) && dv_is_str(missing) && dv_str_equal(missing, full);
        if (good) dv_error_clear(vm);
    }
    dv_release(vm, full);
    return good;
}

static bool import_submodules(dv_vm *vm, dv_value package, const dv_value *names, int64_t count,
                              bool of_all);

/* `from package import *`: the submodules that __all__ names. */
static bool import_all_submodules(dv_vm *vm, dv_value package) {
    dv_value all = attribute(vm, package, "__all__");
    if (dv_is_empty(all)) return dv_is_empty(vm->error);
    dv_value list = dv_list_new(vm, NULL, 0);
    bool good =
        !dv_is_empty(list) && dv_list_extend(vm, list, all) &&
        import_submodules(vm, package, dv_as_list(list)->items, dv_as_list(list)->count, true);
    dv_release(vm, list);
    dv_release(vm, all);
    return good;
}

static bool raise_no_name(dv_vm *vm, dv_value module, const char *where, dv_value item) {
    dv_value owner = attribute(vm, module, "__name__");
    if (dv_is_empty(owner) && !dv_is_empty(vm->error)) return false;
    dv_raise(vm, DV_E_TYPE_ERROR, "%s in %S.%s must be str, not %T",
             strcmp(where, "__dict__") == 0 ? "Key" : "Item",
             dv_is_empty(owner) ? vm->known.empty_str : owner, where, item);
    dv_release(vm, owner);
    return false;
}

static bool import_submodules(dv_vm *vm, dv_value package, const dv_value *names, int64_t count,
                              bool of_all) {
    for (int64_t i = 0; i < count; i++) {
        if (!dv_is_str(names[i])) return raise_no_name(vm, package, "__all__", names[i]);
        if (!of_all && dv_str_is(names[i], "*")) {
            if (!import_all_submodules(vm, package)) return false;
        } else if (!import_submodule(vm, package, names[i])) {
            return false;
        }
    }
    return true;
}

dv_value dv_import_module(dv_vm *vm, dv_value name, dv_value names) {
    dv_value full = absolute(vm, name);
    if (dv_is_empty(full)) return DV_EMPTY;
    dv_value module = dv_import(vm, full);
    dv_release(vm, full);
    if (dv_is_empty(module)) return DV_EMPTY;
    dv_value path = attribute(vm, module, "__path__");
    bool good = dv_is_empty(vm->error);
    if (!dv_is_empty(path))
        good = import_submodules(vm, module, dv_as_tuple(names)->items, dv_as_tuple(names)->count,
                                 false);
    dv_release(vm, path);
    if (good) return module;
    dv_release(vm, module);
    return DV_EMPTY;
}

static dv_value raise_cannot_import(dv_vm *vm, dv_value module, dv_value owner, dv_value name) {
    dv_value file = attribute(vm, module, "__file__");
    if (dv_is_empty(file) && !dv_is_empty(vm->error)) return DV_EMPTY;
    if (!dv_is_empty(file) && dv_is_str(file)) {
        bool partial = dv_is_module(module) && dv_as_module(module)->initializing;
        dv_raise(vm, DV_E_IMPORT_ERROR,
                 partial ? "cannot import name %V from partially initialized module %V (most "
                           "likely due to a circular import) (%S)"
                         : "cannot import name %V from %V (%S)",
                 name, owner, file);
    } else {
        dv_raise(vm, DV_E_IMPORT_ERROR, "cannot import name %V from %V (unknown location)", name,
                 owner);
    }
    describe(vm, dv_str_is(owner, UNKNOWN_NAME) ? DV_NONE : owner, file);
    dv_release(vm, file);
    return DV_EMPTY;
}

dv_value dv_import_from(dv_vm *vm, dv_value module, dv_value name) {
    dv_value v = dv_get_attribute(vm, module, name);
    if (!dv_is_empty(v) || !dv_error_is(vm, DV_E_ATTRIBUTE_ERROR)) return v;
    dv_error_clear(vm);
    dv_value owner = attribute(vm, module, "__name__");
    if (dv_is_empty(owner) && !dv_is_empty(vm->error)) return DV_EMPTY;
    if (!dv_is_empty(owner) && dv_is_str(owner)) {
        dv_value full = dv_str_printf(vm, "%S.%S", owner, name);
        dv_value known = dv_is_empty(full) ? DV_EMPTY : dv_dict_get(vm, vm->modules, full);
        dv_release(vm, full);
        v = dv_retain(known);
    } else {
        dv_release(vm, owner);
        owner = dv_str_z(vm, UNKNOWN_NAME);
    }
    if (dv_is_empty(v) && dv_is_empty(vm->error)) raise_cannot_import(vm, module, owner, name);
    dv_release(vm, owner);
    return v;
}

/* ---- import * ---------------------------------------------------------------------------------*/

/* The module's public names as a list. */
static dv_value public_names(dv_vm *vm, dv_value module) {
    dv_value list = dv_list_new(vm, NULL, 0);
    if (dv_is_empty(list)) return DV_EMPTY;
    dv_value late = dv_module_late(vm, module);
    bool good = dv_is_empty(vm->error) && (dv_is_empty(late) || dv_list_extend(vm, list, late));
    dv_release(vm, late);
    if (!good) {
        dv_release(vm, list);
        return DV_EMPTY;
    }
    const dv_namespace *names = &dv_as_module(module)->names;
    for (uint32_t i = 0; i < names->count; i++) {
        const dv_global_cell *cell = names->cells[i];
        const dv_str *name = dv_as_str(cell->name);
        if (dv_is_empty(cell->value) || (name->length > 0 && dv_str_at(name, 0) == '_')) continue;
        if (!dv_list_append(vm, list, cell->name)) {
            dv_release(vm, list);
            return DV_EMPTY;
        }
    }
    return list;
}

/* The names that `import *` takes: a new list; *where is what they come from. */
static dv_value starred_names(dv_vm *vm, dv_value module, const char **where) {
    dv_value all = attribute(vm, module, "__all__");
    *where = dv_is_empty(all) ? "__dict__" : "__all__";
    if (dv_is_empty(all)) {
        if (!dv_is_empty(vm->error)) return DV_EMPTY;
        if (dv_is_module(module)) return public_names(vm, module);
        return dv_raise(vm, DV_E_IMPORT_ERROR,
                        "from-import-* object has no __dict__ and no __all__");
    }
    dv_value list = dv_list_new(vm, NULL, 0);
    if (!dv_is_empty(list) && !dv_list_extend(vm, list, all)) {
        dv_release(vm, list);
        list = DV_EMPTY;
    }
    dv_release(vm, all);
    return list;
}

static bool take_name(dv_vm *vm, dv_value module, dv_value name) {
    dv_value interned = dv_str_intern_value(vm, name);
    dv_value v = dv_is_empty(interned) ? DV_EMPTY : dv_get_attribute(vm, module, interned);
    const dv_thread *thread = dv_frame_thread(vm->fp);
    if (thread->code->flags & DV_CODE_CLASS) { /* evaluated text: no class body has a star */
        const bool stored = !dv_is_empty(v) && dv_store_name(vm, vm->fp, interned, v);
        dv_release(vm, v);
        dv_release(vm, interned);
        return stored;
    }
    dv_namespace *names = &thread->module->names;
    dv_global_cell *cell = dv_is_empty(v) ? NULL : dv_namespace_cell(vm, names, interned);
    dv_release(vm, interned);
    if (cell)
        dv_cell_store(vm, cell, v);
    else
        dv_release(vm, v);
    return cell != NULL;
}

bool dv_import_star(dv_vm *vm, dv_value module) {
    const char *where;
    dv_value list = starred_names(vm, module, &where);
    bool good = !dv_is_empty(list);
    for (int64_t i = 0; good && i < dv_as_list(list)->count; i++) {
        dv_value name = dv_as_list(list)->items[i];
        good =
            dv_is_str(name) ? take_name(vm, module, name) : raise_no_name(vm, module, where, name);
    }
    dv_release(vm, list);
    return good;
}
