/* module.c: modules (module.h). */
#include "types/module.h"

#include "core/upcall.h"
#include "types/str.h"

dv_value dv_module_new(dv_vm *vm, const char *name) {
    dv_module *module = dv_object_new(vm, sizeof *module, DV_T_MODULE);
    if (!module) return DV_EMPTY;
    dv_namespace_init(&module->names);
    module->name = dv_str_intern(vm, name, strlen(name));
    dv_value value = dv_object_value(module);
    if (dv_is_empty(module->name) ||
        !dv_namespace_set(vm, &module->names, "__name__", dv_retain(module->name))) {
        dv_release(vm, value);
        return DV_EMPTY;
    }
    return value;
}

static void module_release(dv_vm *vm, dv_object *object) {
    dv_module *module = (dv_module *)object;
    dv_namespace_release(vm, &module->names);
    dv_release(vm, module->name);
    dv_heap_free(&vm->heap, module, sizeof *module);
}

static dv_value module_repr(dv_vm *vm, dv_value self) {
    const dv_module *module = dv_as_module(self);
    if (dv_same(self, vm->main)) return dv_str_printf(vm, "<module %V>", module->name);
    return dv_str_printf(vm, "<module %V (built-in)>", module->name);
}

static dv_value module_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    dv_module *module = dv_as_module(self);
    dv_global_cell *cell = dv_namespace_find(&module->names, name);
    if (cell && !dv_is_empty(cell->value)) return dv_retain(cell->value);
    if (dv_same(name, vm->known.class_))
        return dv_retain(dv_object_value(vm->classes[DV_T_MODULE]));
    if (dv_same(name, vm->known.doc)) return DV_NONE;
    return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "module '%S' has no attribute '%S'", module->name,
                    name);
}

static bool module_set_attribute(dv_vm *vm, dv_value self, dv_value name, dv_value value) {
    dv_module *module = dv_as_module(self);
    dv_global_cell *cell = dv_is_empty(value) ? dv_namespace_find(&module->names, name)
                                              : dv_namespace_cell(vm, &module->names, name);
    if (!cell || (dv_is_empty(value) && dv_is_empty(cell->value))) {
        if (dv_is_empty(value))
            dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "'module' object has no attribute '%S'", name);
        return false;
    }
    dv_cell_store(vm, cell, dv_retain(value));
    return true;
}

const dv_type dv_module_type = {
    .name = "module",
    .id = DV_T_MODULE,
    .release = module_release,
    .repr = module_repr,
    .get_attribute = module_get_attribute,
    .set_attribute = module_set_attribute,
};
