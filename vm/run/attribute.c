/* attribute.c: attributes of values of any type (core/upcall.h). */
#include "core/upcall.h"

#include "types/exception.h"
#include "types/lookup.h"

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

bool dv_set_attribute(dv_vm *vm, dv_value v, dv_value name, dv_value value) {
    if (dv_is_plain_instance(v) && !dv_is_empty(value)) {
        const dv_shape *shape = dv_shape_at(vm, dv_as_object(v)->shape);
        const uint16_t special =
            DV_CLASS_SETATTR | DV_CLASS_DATA | DV_CLASS_NO_DICT | DV_CLASS_CROWDED;
        if (!(shape->class_->flags & special) && !shape->dictionary &&
            !dv_same(name, vm->known.dict) && !dv_same(name, vm->known.class_))
            return dv_instance_store(vm, dv_as_object(v), name, value);
    }
    return dv_value_set_attribute(vm, v, name, value);
}
