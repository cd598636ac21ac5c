/* module.c: modules (module.h). */
#include "types/file/module.h"

#include <assert.h>

#include "core/upcall.h"
#include "types/callable/arguments.h"
#include "types/class/class.h"
#include "types/class/descriptor.h"
#include "types/mapping/dict.h"
#include "types/class/directory.h"
#include "types/text/str.h"

dv_value dv_module_named(dv_vm *vm, dv_value name) {
    dv_module *module = dv_container_new(vm, sizeof *module, DV_T_MODULE);
    if (!module) return DV_EMPTY;
    dv_namespace_init(&module->names);
    module->name = dv_retain(name);
    module->serial = vm->module_count++;
    module->initializing = false;
    module->builtins = false;
    module->frozen = false;
    module->made = false;
    module->dict = module->view = DV_EMPTY;
    dv_value value = dv_object_value(module);
    if (dv_namespace_set(vm, &module->names, "__name__", dv_retain(name))) return value;
    dv_release(vm, value);
    return DV_EMPTY;
}

dv_value dv_module_new(dv_vm *vm, const char *name) {
    dv_value text = dv_str_intern(vm, name, strlen(name));
    if (dv_is_empty(text)) return DV_EMPTY;
    dv_value module = dv_module_named(vm, text);
    dv_release(vm, text);
    return module;
}

bool dv_module_set_plain(dv_vm *vm, dv_module *module, dv_value package) {
    return dv_namespace_set(vm, &module->names, "__doc__", DV_NONE) &&
           dv_namespace_set(vm, &module->names, "__package__", package) &&
           dv_namespace_set(vm, &module->names, "__loader__", DV_NONE) &&
           dv_namespace_set(vm, &module->names, "__spec__", DV_NONE);
}

dv_value dv_sys_get(dv_vm *vm, const char *name) {
    if (dv_is_empty(vm->sys.module)) return DV_EMPTY;
    dv_value text = dv_str_intern(vm, name, strlen(name));
    if (dv_is_empty(text)) {
        dv_error_clear(vm);
        return DV_EMPTY;
    }
    const dv_global_cell *cell = dv_namespace_find(&dv_as_module(vm->sys.module)->names, text);
    dv_release(vm, text);
    return cell ? cell->value : DV_EMPTY;
}

/* module(name, doc=None) */
static dv_value module_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                 dv_value keywords) {
    static const char *const names[] = {"name", "doc"};
    static const dv_parameters parameters = {"module", names, 2, 2, 1};
    dv_value out[2];
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, out)) return DV_EMPTY;
    if (!dv_is_str(out[0]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "module() argument 'name' must be str, not %T",
                        out[0]);
    dv_value module = dv_module_named(vm, out[0]);
    if (dv_is_empty(module)) return module;
    dv_as_module(module)->made = true;
    dv_value doc = dv_is_empty(out[1]) ? DV_NONE : out[1];
    if (dv_module_set_plain(vm, dv_as_module(module), DV_NONE) &&
        dv_namespace_set(vm, &dv_as_module(module)->names, "__doc__", dv_retain(doc)))
        return module;
    dv_release(vm, module);
    return DV_EMPTY;
}

static void module_release(dv_vm *vm, dv_object *object) {
    dv_module *module = (dv_module *)object;
    dv_namespace_release(vm, &module->names);
    dv_release(vm, module->dict);
    dv_release(vm, module->view);
    dv_release(vm, module->name);
    dv_container_free(vm, module, sizeof *module);
}

static void module_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const dv_module *module = (const dv_module *)object;
    dv_namespace_traverse(vm, &module->names, visit, context);
    visit(vm, module->dict, context);
    visit(vm, module->view, context);
}

static void module_clear(dv_vm *vm, dv_object *object) {
    dv_module *module = (dv_module *)object;
    const dv_value dict = module->dict, view = module->view;
    module->dict = module->view = DV_EMPTY;
    dv_namespace_clear(vm, &module->names);
    dv_release(vm, dict);
    dv_release(vm, view);
}

/* A name that the module has now: borrowed, or EMPTY. */
static dv_value look_up(dv_vm *vm, const dv_module *module, const char *text) {
    dv_value name = dv_str_intern(vm, text, strlen(text));
    if (dv_is_empty(name)) return DV_EMPTY;
    const dv_global_cell *cell = dv_namespace_find(&module->names, name);
    dv_release(vm, name);
    return cell ? cell->value : DV_EMPTY;
}

static dv_value module_repr(dv_vm *vm, dv_value self) {
    const dv_module *module = dv_as_module(self);
    dv_value name = look_up(vm, module, "__name__");
    dv_value file = look_up(vm, module, "__file__");
    dv_value path = look_up(vm, module, "__path__");
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    if (dv_is_empty(name) && module->made) return dv_str_z(vm, "<module '?'>");
    if (dv_is_empty(name)) name = module->name;
    if (!dv_is_empty(file)) return dv_str_printf(vm, "<module %V from %V>", name, file);
    if (dv_same(self, vm->main) || module->made) return dv_str_printf(vm, "<module %V>", name);
    if (!dv_is_empty(path)) return dv_str_printf(vm, "<module %V (namespace)>", name);
    const char *kind = module->frozen ? "frozen" : "built-in";
    return dv_str_printf(vm, "<module %V (%s)>", name, kind);
}

/* No such name: the module's own __getattr__ may know it. */
static dv_value missing_attribute(dv_vm *vm, const dv_module *module, dv_value name) {
    const dv_global_cell *cell = dv_namespace_find(&module->names, vm->known.getattr);
    if (cell && !dv_is_empty(cell->value)) {
        dv_value function = dv_retain(cell->value);
        dv_value result = dv_call(vm, function, &name, 1, DV_EMPTY);
        dv_release(vm, function);
        return result;
    }
    cell = dv_namespace_find(&module->names, vm->known.name);
    assert(cell); /* made with the module; cells stay */
    if (dv_is_empty(cell->value) || !dv_is_str(cell->value))
        return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "module has no attribute '%S'", name);
    return dv_raise(vm, DV_E_ATTRIBUTE_ERROR,
                    module->initializing ? "partially initialized module '%S' has no attribute "
                                           "'%S' (most likely due to a circular import)"
                                         : "module '%S' has no attribute '%S'",
                    cell->value, name);
}

/* A module that annotates nothing gets an empty dict when it is asked. */
static dv_value new_annotations(dv_vm *vm, dv_module *module) {
    dv_value dict = dv_dict_new(vm);
    if (dv_is_empty(dict) ||
        dv_namespace_set(vm, &module->names, "__annotations__", dv_retain(dict)))
        return dict;
    dv_release(vm, dict);
    return DV_EMPTY;
}

/* Is it one of the library in C, which keeps no docstring? */
static bool is_builtin(dv_vm *vm, const dv_module *module) {
    return !module->frozen && !module->made && dv_as_object(vm->main) != &module->header &&
           dv_is_empty(look_up(vm, module, "__file__")) &&
           dv_is_empty(look_up(vm, module, "__path__"));
}

static dv_value module_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    dv_module *module = dv_as_module(self);
    dv_global_cell *cell = dv_namespace_find(&module->names, name);
    if (cell && dv_is_none(cell->value) && dv_same(name, vm->known.doc) && is_builtin(vm, module))
        return dv_builtin_doc(vm, dv_retain(module->name));
    if (cell && !dv_is_empty(cell->value)) return dv_retain(cell->value);
    if (dv_same(name, vm->known.class_))
        return dv_retain(dv_object_value(vm->classes[DV_T_MODULE]));
    if (dv_same(name, vm->known.doc)) return DV_NONE;
    if (dv_same(name, vm->known.dict)) return dv_module_globals(vm, self);
    if (dv_same(name, vm->known.annotations)) return new_annotations(vm, module);
    dv_class *class_ = vm->classes[DV_T_MODULE];
    const dv_global_cell *method = dv_class_find(vm, class_, name);
    if (method) return dv_bind(vm, method->value, self, class_);
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    return missing_attribute(vm, module, name);
}

static bool set_name(dv_vm *vm, dv_namespace *names, dv_value name, dv_value value) {
    dv_global_cell *cell =
        dv_is_empty(value) ? dv_namespace_find(names, name) : dv_namespace_cell(vm, names, name);
    if (!cell || (dv_is_empty(value) && dv_is_empty(cell->value))) {
        if (dv_is_empty(value))
            dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "'module' object has no attribute '%S'", name);
        return false;
    }
    dv_cell_store(vm, cell, dv_retain(value));
    return true;
}

static bool module_set_attribute(dv_vm *vm, dv_value self, dv_value name, dv_value value) {
    dv_module *module = dv_as_module(self);
    if (dv_same(name, vm->known.dict))
        return (void)dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "readonly attribute"), false;
    if (module->builtins && !set_name(vm, &vm->builtins, name, value)) return false;
    return set_name(vm, &module->names, name, value);
}

static const dv_cfunction_def module_methods[] = {
    {.name = "__dir__", .entry = dv_module_dir, .min = 1, .max = 1}, {.name = NULL}};

const dv_type dv_module_type = {
    .name = "module",
    .id = DV_T_MODULE,
    .weakly = true,
    .release = module_release,
    .traverse = module_traverse,
    .clear = module_clear,
    .repr = module_repr,
    .get_attribute = module_get_attribute,
    .set_attribute = module_set_attribute,
    .methods = module_methods,
    .construct = module_construct,
};
