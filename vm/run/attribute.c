/* attribute.c: attributes of values of any type (core/upcall.h). */
#include "core/upcall.h"

#include <string.h>

#include "types/exception/exception.h"
#include "types/class/lookup.h"
#include "types/text/str.h"

dv_value dv_get_attribute(dv_vm *vm, dv_value v, dv_value name) {
    dv_value result = dv_value_get_attribute(vm, v, name);
    if (dv_is_empty(result) && dv_error_is(vm, DV_E_ATTRIBUTE_ERROR)) dv_note_missing(vm, v, name);
    return result;
}

dv_value dv_find_attribute(dv_vm *vm, dv_value v, dv_value name) {
    return dv_value_find_attribute(vm, v, name);
}

static dv_value ask_named(dv_vm *vm, dv_value v, const char *text,
                          dv_value (*ask)(dv_vm *, dv_value, dv_value)) {
    dv_value name = dv_str_intern(vm, text, strlen(text));
    if (dv_is_empty(name)) return DV_EMPTY;
    dv_value result = ask(vm, v, name);
    dv_release(vm, name);
    return result;
}

dv_value dv_get_named(dv_vm *vm, dv_value v, const char *name) {
    return ask_named(vm, v, name, dv_get_attribute);
}

dv_value dv_find_named(dv_vm *vm, dv_value v, const char *name) {
    return ask_named(vm, v, name, dv_find_attribute);
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
