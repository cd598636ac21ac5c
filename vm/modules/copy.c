/* copy.c: the module _copy, which lang/lib/copy.dl asks for the attributes of instances. */
#include "core/shape.h"
#include "core/upcall.h"
#include "modules/modules.h"
#include "types/dict.h"
#include "types/exception.h"

/* From the first attribute that was added on. */
static bool add_attributes(dv_vm *vm, dv_value dict, dv_object *object) {
    dv_shape *last = dv_shape_at(vm, object->shape);
    for (uint32_t i = 0; i < last->count; i++) {
        const dv_shape *shape = last;
        while (shape->count > i + 1) shape = shape->parent;
        dv_value value = *dv_attribute_slot(object, i);
        if (!dv_is_empty(value) && !dv_dict_set(vm, dict, shape->name, value)) return false;
    }
    return true;
}

/* attributes(object): a new dict; None for what is no instance of a dl class. */
static dv_value attributes(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (dv_is_shape(args[0], DV_T_EXCEPTION)) {
        dv_value own = dv_as_exception(args[0])->attributes;
        return dv_is_dict(own) ? dv_dict_copy(vm, own) : DV_NONE;
    }
    if (!dv_is_instance(args[0])) return DV_NONE;
    dv_value dict = dv_dict_new(vm);
    if (dv_is_empty(dict) || add_attributes(vm, dict, dv_as_object(args[0]))) return dict;
    dv_release(vm, dict);
    return DV_EMPTY;
}

static const dv_cfunction_def functions[] = {
    {.name = "attributes", .entry = attributes, .min = 1, .max = 1}, {.name = NULL}};

bool dv_copy_fill(dv_vm *vm, dv_module *module) {
    return dv_module_add_functions(vm, module, functions);
}
