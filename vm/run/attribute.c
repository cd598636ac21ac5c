/* attribute.c: attributes of values of any type (core/upcall.h). */
#include "core/upcall.h"

#include "types/class.h"
#include "types/exception.h"
#include "types/str.h"

/* What suggestions in tracebacks are made from: which attribute of which object was missing. */
static void note_missing(dv_vm *vm, dv_value v, dv_value name) {
    dv_value error = vm->error;
    if (!dv_is_empty(dv_exception_get(vm, error, "name"))) return;
    vm->error = DV_EMPTY;
    if (!dv_exception_set(vm, error, "name", name) || !dv_exception_set(vm, error, "obj", v))
        dv_error_clear(vm);
    vm->error = error;
}

dv_value dv_get_attribute(dv_vm *vm, dv_value v, dv_value name) {
    dv_value result = dv_value_get_attribute(vm, v, name);
    if (dv_is_empty(result) && dv_error_is(vm, DV_E_ATTRIBUTE_ERROR)) note_missing(vm, v, name);
    return result;
}

dv_value dv_find_attribute(dv_vm *vm, dv_value v, dv_value name) {
    return dv_value_find_attribute(vm, v, name);
}

/* A value of a type without attributes of its own: the message depends on whether its class has
 * one of this name. */
static bool refuse(dv_vm *vm, dv_value v, dv_value name) {
    bool there = dv_class_find(vm, dv_class_of(vm, v), name) != NULL;
    if (!dv_is_empty(vm->error)) return false;
    dv_raise(vm, DV_E_ATTRIBUTE_ERROR,
             there ? "'%T' object attribute '%S' is read-only"
                   : "'%T' object has no attribute '%S'",
             v, name);
    return false;
}

bool dv_set_attribute(dv_vm *vm, dv_value v, dv_value name, dv_value value) {
    if (dv_is_plain_instance(v) && !dv_is_empty(value))
        return dv_instance_store(vm, dv_as_object(v), name, value);
    const dv_type *type = dv_behaviour_of(vm, v);
    return type->set_attribute ? type->set_attribute(vm, v, name, value) : refuse(vm, v, name);
}
