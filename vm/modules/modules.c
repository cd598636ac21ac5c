/* modules.c: importing, and the table of built-in modules (modules.h). */
#include "modules/modules.h"

#include "core/upcall.h"
#include "types/dict.h"
#include "types/exception.h"
#include "types/function.h"
#include "types/list.h"
#include "types/str.h"

typedef struct builtin_module {
    const char *name;
    bool (*fill)(dv_vm *vm, dv_module *module);
} builtin_module;

static const builtin_module builtin_modules[] = {
    {"bisect", dv_bisect_fill},       {"heapq", dv_heapq_fill},
    {"itertools", dv_itertools_fill}, {"math", dv_math_fill},
    {"random", dv_random_fill},       {"sys", dv_sys_fill},
    {"time", dv_time_fill},           {NULL, NULL},
};

bool dv_module_add(dv_vm *vm, dv_module *module, const char *name, dv_value value) {
    return !dv_is_empty(value) && dv_namespace_set(vm, &module->names, name, value);
}

bool dv_module_add_functions(dv_vm *vm, dv_module *module, const dv_cfunction_def *functions) {
    for (const dv_cfunction_def *def = functions; def->name; def++) {
        dv_value function = dv_cfunction_new(vm, def, DV_EMPTY, dv_object_value(module));
        if (!dv_module_add(vm, module, def->name, function)) return false;
    }
    return true;
}

/* "count" of "itertools.count". */
static const char *short_name(const dv_type *type) {
    const char *dot = strrchr(type->name, '.');
    return dot ? dot + 1 : type->name;
}

bool dv_module_know_type(dv_vm *vm, const dv_type *type) {
    if (vm->classes[type->id]) return true;
    dv_value name = dv_str_intern(vm, short_name(type), strlen(short_name(type)));
    if (dv_is_empty(name)) return false;
    dv_class *class_ = dv_class_new(vm, name, vm->classes[DV_T_OBJECT], type->id);
    dv_release(vm, name);
    if (!class_) return false;
    class_->descriptor = type;
    vm->types[type->id] = type;
    vm->classes[type->id] = class_;
    return true;
}

bool dv_module_add_type(dv_vm *vm, dv_module *module, const dv_type *type) {
    return dv_module_know_type(vm, type) &&
           dv_module_add(vm, module, short_name(type),
                         dv_retain(dv_object_value(vm->classes[type->id])));
}

bool dv_modules_setup(dv_vm *vm) {
    vm->modules = dv_dict_new(vm);
    if (dv_is_empty(vm->modules)) return false;
    vm->arguments = dv_list_new(vm, NULL, 0);
    if (dv_is_empty(vm->arguments)) return false;
    vm->main = dv_module_new(vm, "__main__");
    return !dv_is_empty(vm->main) && dv_dict_set(vm, vm->modules, vm->known.main, vm->main);
}

static const builtin_module *find_builtin(dv_value name) {
    for (const builtin_module *m = builtin_modules; m->name; m++)
        if (dv_str_is(name, m->name)) return m;
    return NULL;
}

/* A module that is imported for the first time; EMPTY without vm->error: there is none. */
static dv_value make_module(dv_vm *vm, dv_value name) {
    const builtin_module *builtin = find_builtin(name);
    if (!builtin)
        return vm->hooks.import_extension ? vm->hooks.import_extension(vm, name) : DV_EMPTY;
    dv_value module = dv_module_new(vm, builtin->name);
    if (dv_is_empty(module) || builtin->fill(vm, dv_as_module(module))) return module;
    dv_release(vm, module);
    return DV_EMPTY;
}

static dv_value raise_not_found(dv_vm *vm, dv_value name) {
    dv_raise(vm, DV_E_MODULE_NOT_FOUND_ERROR, "No module named %V", name);
    dv_value error = vm->error;
    vm->error = DV_EMPTY;
    if (!dv_exception_set(vm, error, "name", name)) dv_error_clear(vm);
    vm->error = error;
    return DV_EMPTY;
}

dv_value dv_import(dv_vm *vm, dv_value name) {
    dv_value known = dv_dict_get(vm, vm->modules, name);
    if (!dv_is_empty(known)) return dv_retain(known);
    dv_value module = make_module(vm, name);
    if (dv_is_empty(module)) return dv_is_empty(vm->error) ? raise_not_found(vm, name) : DV_EMPTY;
    if (dv_dict_set(vm, vm->modules, name, module)) return module;
    dv_release(vm, module);
    return DV_EMPTY;
}
