/* variable.c: cells as values (variable.h). */
#include "types/variable.h"

#include "core/upcall.h"
#include "types/str.h"

dv_value dv_variable_new(dv_vm *vm, dv_value value) {
    dv_variable *variable = dv_container_new(vm, sizeof *variable, DV_T_CELL);
    if (!variable) return DV_EMPTY;
    variable->value = value;
    return dv_object_value(variable);
}

static void variable_release(dv_vm *vm, dv_object *object) {
    dv_variable *variable = (dv_variable *)object;
    dv_release(vm, variable->value);
    dv_container_free(vm, variable, sizeof *variable);
}

static void variable_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    visit(vm, ((const dv_variable *)object)->value, context);
}

static void variable_clear(dv_vm *vm, dv_object *object) {
    dv_variable *variable = (dv_variable *)object;
    dv_value old = variable->value;
    variable->value = DV_EMPTY;
    dv_release(vm, old);
}

static dv_value variable_repr(dv_vm *vm, dv_value self) {
    const dv_value value = dv_as_variable(self)->value;
    unsigned long long at = (unsigned long long)(uintptr_t)dv_as_object(self);
    if (dv_is_empty(value)) return dv_str_printf(vm, "<cell at 0x%llx: empty>", at);
    return dv_str_printf(vm, "<cell at 0x%llx: %T object at 0x%llx>", at, value,
                         (unsigned long long)value.bits & DV_PAYLOAD);
}

static dv_value variable_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    if (!dv_str_is(name, "cell_contents")) return DV_EMPTY;
    const dv_value value = dv_as_variable(self)->value;
    if (dv_is_empty(value)) return dv_raise(vm, DV_E_VALUE_ERROR, "Cell is empty");
    return dv_retain(value);
}

const dv_type dv_variable_type = {
    .name = "cell",
    .id = DV_T_CELL,
    .release = variable_release,
    .traverse = variable_traverse,
    .clear = variable_clear,
    .repr = variable_repr,
    .get_attribute = variable_get_attribute,
};
