/* tuple_getter.c: the fields of named tuples (tuple_getter.h). */
#include "types/sequence/tuple_getter.h"

#include "core/upcall.h"
#include "types/text/str.h"

dv_value dv_tuple_getter_new(dv_vm *vm, int64_t index, dv_value doc) {
    dv_tuple_getter *getter = dv_container_new(vm, sizeof *getter, DV_T_TUPLE_GETTER);
    if (!getter) return DV_EMPTY;
    getter->index = index;
    getter->doc = dv_retain(doc);
    return dv_object_value(getter);
}

dv_value dv_tuple_getter_read(dv_vm *vm, dv_value v, dv_value self) {
    if (!dv_is_tuple(self))
        return dv_raise(
            vm, DV_E_TYPE_ERROR,
            "descriptor for index '%lld' for tuple subclasses doesn't apply to '%T' object",
            (long long)dv_as_tuple_getter(v)->index, self);
    dv_value item = dv_tuple_getter_item(v, self);
    if (!dv_is_empty(item)) return dv_retain(item);
    return dv_raise(vm, DV_E_INDEX_ERROR, "tuple index out of range");
}

bool dv_tuple_getter_store(dv_vm *vm, dv_value value) {
    dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "can't %s attribute", dv_is_empty(value) ? "delete" : "set");
    return false;
}

/* __get__(object[, class]) */
static dv_value getter_get(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (!dv_is_none(args[1])) return dv_tuple_getter_read(vm, args[0], args[1]);
    if (count > 2 && !dv_is_none(args[2])) return dv_retain(args[0]);
    return dv_raise(vm, DV_E_TYPE_ERROR, "__get__(None, None) is invalid");
}

/* __set__ and __delete__ */
static dv_value getter_set(dv_vm *vm, const dv_value *args, uint32_t count) {
    return dv_tuple_getter_store(vm, count > 2 ? args[2] : DV_EMPTY) ? DV_NONE : DV_EMPTY;
}

static dv_value getter_attribute(dv_vm *vm, dv_value self, dv_value name) {
    return dv_same(name, vm->known.doc) ? dv_retain(dv_as_tuple_getter(self)->doc) : DV_EMPTY;
}

static bool getter_set_attribute(dv_vm *vm, dv_value self, dv_value name, dv_value value) {
    if (!dv_same(name, vm->known.doc)) {
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR,
                 "'_collections._tuplegetter' object has no attribute '%S'", name);
        return false;
    }
    dv_value old = dv_as_tuple_getter(self)->doc;
    dv_as_tuple_getter(self)->doc = dv_is_empty(value) ? DV_NONE : dv_retain(value);
    dv_release(vm, old);
    return true;
}

static dv_value getter_repr(dv_vm *vm, dv_value self) {
    const dv_tuple_getter *getter = dv_as_tuple_getter(self);
    return dv_str_printf(vm, "_tuplegetter(%lld, %V)", (long long)getter->index, getter->doc);
}

static void getter_release(dv_vm *vm, dv_object *object) {
    dv_tuple_getter *getter = (dv_tuple_getter *)object;
    dv_release(vm, getter->doc);
    dv_container_free(vm, getter, sizeof *getter);
}

static void getter_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    visit(vm, ((const dv_tuple_getter *)object)->doc, context);
}

static void getter_clear(dv_vm *vm, dv_object *object) {
    dv_value doc = ((dv_tuple_getter *)object)->doc;
    ((dv_tuple_getter *)object)->doc = DV_NONE;
    dv_release(vm, doc);
}

static const dv_cfunction_def getter_methods[] = {
    {.name = "__get__", .entry = getter_get, .min = 2, .max = 3},
    {.name = "__set__", .entry = getter_set, .min = 3, .max = 3},
    {.name = "__delete__", .entry = getter_set, .min = 2, .max = 2},
    {.name = NULL}};

const dv_type dv_tuple_getter_type = {
    .name = "_collections._tuplegetter",
    .id = DV_T_TUPLE_GETTER,
    .release = getter_release,
    .traverse = getter_traverse,
    .clear = getter_clear,
    .repr = getter_repr,
    .get_attribute = getter_attribute,
    .set_attribute = getter_set_attribute,
    .methods = getter_methods,
};
