/* generic.c: list[int] and int | None, which library code makes (lang/lib/_generic_alias.dl). */
#include "core/shape.h"
#include "core/upcall.h"
#include "types/class/class.h"
#include "types/file/module.h"
#include "types/text/str.h"

/* Calls a function of the library module. */
static dv_value call_library(dv_vm *vm, const char *function, dv_value a, dv_value b) {
    dv_value name = dv_str_z(vm, "_generic_alias"),
             text = dv_str_intern(vm, function, strlen(function));
    dv_value module =
        dv_is_empty(name) || dv_is_empty(text) ? DV_EMPTY : dv_import_helper(vm, name);
    dv_value callee = dv_is_empty(module) ? DV_EMPTY : dv_get_attribute(vm, module, text);
    dv_value args[] = {a, b};
    dv_value result = dv_is_empty(callee) ? DV_EMPTY : dv_call(vm, callee, args, 2, DV_EMPTY);
    dv_release(vm, callee);
    dv_release(vm, module);
    dv_release(vm, text);
    dv_release(vm, name);
    return result;
}

/* Instances of the class, or of its base, contain others. */
static bool is_generic(const dv_class *class_) {
    switch ((dv_type_id)class_->type) {
    case DV_T_TUPLE:
    case DV_T_LIST:
    case DV_T_DICT:
    case DV_T_SET:
    case DV_T_FROZENSET:
    case DV_T_ENUMERATE:
    case DV_T_DEQUE: return true;
    case DV_T_CLASS: return class_->descriptor == &dv_class_type;
    default: return false;
    }
}

dv_value dv_class_subscript(dv_vm *vm, dv_value class_, dv_value key) {
    dv_value function = dv_find_attribute(vm, class_, vm->known.class_getitem);
    if (!dv_is_empty(function)) {
        dv_value result = dv_call(vm, function, &key, 1, DV_EMPTY);
        dv_release(vm, function);
        return result;
    }
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    if (is_generic(dv_as_class(class_))) return call_library(vm, "GenericAlias", class_, key);
    return dv_raise(vm, DV_E_TYPE_ERROR, "type '%S' is not subscriptable",
                    dv_as_class(class_)->name);
}

dv_value dv_class_union(dv_vm *vm, dv_value a, dv_value b) {
    return call_library(vm, "union", a, b);
}
