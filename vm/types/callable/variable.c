/* variable.c: cells as values (variable.h). */
#include "types/callable/variable.h"

#include "core/upcall.h"
#include "types/text/str.h"

dv_value dv_variable_new(dv_vm *vm, dv_value value) {
    dv_variable *variable = dv_container_new(vm, sizeof *variable, DV_T_CELL);
    if (!variable) return DV_EMPTY;
    variable->value = value;
    variable->holders = 0;
    return dv_object_value(variable);
}

static void variable_release(dv_vm *vm, dv_object *object) {
    dv_variable *variable = (dv_variable *)object;
    const dv_value value = variable->value;
    dv_container_free(vm, variable, sizeof *variable);
    dv_release(vm, value); /* last: no register is saved for it */
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
    unsigned long long at = dv_identity(vm, self);
    if (dv_is_empty(value)) return dv_str_printf(vm, "<cell at 0x%llx: empty>", at);
    return dv_str_printf(vm, "<cell at 0x%llx: %T object at 0x%llx>", at, value,
                         dv_identity(vm, value));
}

static dv_value variable_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    if (!dv_str_is(name, "cell_contents")) return DV_EMPTY;
    const dv_value value = dv_as_variable(self)->value;
    if (dv_is_empty(value)) return dv_raise(vm, DV_E_VALUE_ERROR, "Cell is empty");
    return dv_retain(value);
}

static bool variable_set_attribute(dv_vm *vm, dv_value self, dv_value name, dv_value value) {
    if (!dv_str_is(name, "cell_contents")) {
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "'cell' object has no attribute '%S'", name);
        return false;
    }
    dv_variable *variable = dv_as_variable(self);
    dv_variable_disturb(vm, variable);
    dv_value old = variable->value;
    variable->value = dv_retain(value);
    dv_release(vm, old);
    return true;
}

/* By what is in them; an empty one is less than others. */
static dv_value variable_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    if (!dv_is_shape(a, DV_T_CELL) || !dv_is_shape(b, DV_T_CELL)) return DV_NOTIMPLEMENTED;
    dv_value left = dv_as_variable(a)->value, right = dv_as_variable(b)->value;
    if (dv_is_empty(left) || dv_is_empty(right))
        return dv_bool(dv_int64s_compare(op, !dv_is_empty(left), !dv_is_empty(right)));
    dv_retain(left);
    dv_retain(right);
    dv_value result = dv_compare(vm, op, left, right);
    dv_release(vm, left);
    dv_release(vm, right);
    return result;
}

static bool variable_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    (void)hash;
    dv_raise(vm, DV_E_TYPE_ERROR, "unhashable type: '%T'", self);
    return false;
}

/* types.CellType(), types.CellType(contents) */
static dv_value variable_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                   dv_value keywords) {
    if (!dv_is_empty(keywords))
        return dv_raise(vm, DV_E_TYPE_ERROR, "cell() takes no keyword arguments");
    if (count > 1)
        return dv_raise(vm, DV_E_TYPE_ERROR, "cell expected at most 1 argument, got %d",
                        (int)count);
    dv_value value = count ? dv_retain(args[0]) : DV_EMPTY;
    dv_value made = dv_variable_new(vm, value);
    if (dv_is_empty(made)) dv_release(vm, value);
    return made;
}

const dv_type dv_variable_type = {
    .name = "cell",
    .id = DV_T_CELL,
    .release = variable_release,
    .traverse = variable_traverse,
    .clear = variable_clear,
    .repr = variable_repr,
    .hash = variable_hash,
    .compare = variable_compare,
    .get_attribute = variable_get_attribute,
    .set_attribute = variable_set_attribute,
    .construct = variable_construct,
};
