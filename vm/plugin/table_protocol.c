/* table_protocol.c: the stable table: what dl code does with values (table.h). */
#include "plugin/table.h"

#include "types/class/class.h"
#include "types/sequence/list.h"
#include "types/file/module.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

/* A name that an extension wrote, interned. */
static dv_value name_of(dv_vm *vm, const char *text) {
    dv_value plain = dv_api_make_str(vm, text, strlen(text));
    if (dv_is_empty(plain)) return DV_EMPTY;
    dv_value name = dv_str_intern_value(vm, plain);
    dv_release(vm, plain);
    return name;
}

/* ---- Attributes ---- */

dvx_value dv_api_get_attribute(dvx_vm *vm, dvx_value v, const char *name) {
    dv_value key = dv_api_given(vm, v) ? name_of(vm, name) : DV_EMPTY;
    dv_value result = dv_is_empty(key) ? DV_EMPTY : dv_get_attribute(vm, v, key);
    dv_release(vm, key);
    return result;
}

int dv_api_find_attribute(dvx_vm *vm, dvx_value v, const char *name, dvx_value *out) {
    *out = DV_EMPTY;
    dv_value key = dv_api_given(vm, v) ? name_of(vm, name) : DV_EMPTY;
    if (dv_is_empty(key)) return -1;
    *out = dv_find_attribute(vm, v, key);
    dv_release(vm, key);
    return !dv_is_empty(*out) ? 1 : dv_is_empty(vm->error) ? 0 : -1;
}

bool dv_api_number_attributes(dvx_vm *vm, dvx_value find) {
    dv_value *there = &vm->extensions.number_attributes;
    if (!dv_api_given(vm, find)) return false;
    if (!dv_is_empty(*there)) {
        dv_raise(vm, DV_E_RUNTIME_ERROR, "an extension has given numbers attributes already");
        return false;
    }
    *there = dv_retain(find);
    return true;
}

/* value EMPTY: deletes. */
static bool store_attribute(dv_vm *vm, dv_value v, const char *name, dv_value value) {
    dv_value key = dv_api_given(vm, v) ? name_of(vm, name) : DV_EMPTY;
    bool done = !dv_is_empty(key) && dv_set_attribute(vm, v, key, value);
    dv_release(vm, key);
    return done;
}

bool dv_api_set_attribute(dvx_vm *vm, dvx_value v, const char *name, dvx_value value) {
    dv_api_effect(vm);
    return dv_api_given(vm, value) && store_attribute(vm, v, name, value);
}

bool dv_api_delete_attribute(dvx_vm *vm, dvx_value v, const char *name) {
    dv_api_effect(vm);
    return store_attribute(vm, v, name, DV_EMPTY);
}

/* ---- Items ---- */

int64_t dv_api_length(dvx_vm *vm, dvx_value v) {
    return dv_api_given(vm, v) ? dv_length(vm, v) : -1;
}

dvx_value dv_api_get_item(dvx_vm *vm, dvx_value v, dvx_value key) {
    if (!dv_api_given(vm, v) || !dv_api_given(vm, key)) return DV_EMPTY;
    return dv_get_item(vm, v, key);
}

bool dv_api_set_item(dvx_vm *vm, dvx_value v, dvx_value key, dvx_value value) {
    dv_api_effect(vm);
    const dv_value all[] = {v, key, value};
    return dv_api_all_given(vm, all, 3) && dv_set_item(vm, v, key, value);
}

bool dv_api_delete_item(dvx_vm *vm, dvx_value v, dvx_value key) {
    dv_api_effect(vm);
    return dv_api_given(vm, v) && dv_api_given(vm, key) && dv_set_item(vm, v, key, DV_EMPTY);
}

int dv_api_contains(dvx_vm *vm, dvx_value v, dvx_value item) {
    return dv_api_given(vm, v) && dv_api_given(vm, item) ? dv_contains(vm, v, item) : -1;
}

bool dv_api_append(dvx_vm *vm, dvx_value list, dvx_value item) {
    dv_api_effect(vm);
    if (!dv_api_given(vm, list) || !dv_api_given(vm, item)) return false;
    if (dv_is_list(list)) return dv_list_append(vm, list, item);
    dv_raise(vm, DV_E_TYPE_ERROR, "a list is required, not %T", list);
    return false;
}

/* ---- Calls ---- */

dvx_value dv_api_call(dvx_vm *vm, dvx_value callee, const dvx_value *args, uint32_t count) {
    dv_api_effect(vm);
    if (!dv_api_given(vm, callee) || !dv_api_all_given(vm, args, count)) return DV_EMPTY;
    return dv_call(vm, callee, args, count, DV_EMPTY);
}

/* Are these names that a call with `count` arguments can have? */
static bool check_names(dv_vm *vm, dv_value names, uint32_t count) {
    bool good = dv_is_tuple(names) && (uint64_t)dv_as_tuple(names)->count <= count;
    for (int64_t i = 0; good && i < dv_as_tuple(names)->count; i++)
        good = dv_is_str(dv_as_tuple(names)->items[i]);
    if (!good)
        dv_raise(vm, DV_E_TYPE_ERROR, "names of keyword arguments must be a tuple of strs, not %V",
                 names);
    return good;
}

dvx_value dv_api_call_keywords(dvx_vm *vm, dvx_value callee, const dvx_value *args, uint32_t count,
                               dvx_value names) {
    dv_api_effect(vm);
    if (!dv_api_given(vm, callee) || !dv_api_given(vm, names) ||
        !dv_api_all_given(vm, args, count) || !check_names(vm, names, count))
        return DV_EMPTY;
    return dv_call(vm, callee, args, count, dv_as_tuple(names)->count ? names : DV_EMPTY);
}

dvx_value dv_api_call_method(dvx_vm *vm, dvx_value v, const char *name, const dvx_value *args,
                             uint32_t count) {
    dv_api_effect(vm);
    dv_value method = dv_api_get_attribute(vm, v, name);
    if (dv_is_empty(method)) return DV_EMPTY;
    dv_value result = dv_api_call(vm, method, args, count);
    dv_release(vm, method);
    return result;
}

dvx_value dv_api_iterate(dvx_vm *vm, dvx_value v) {
    return dv_api_given(vm, v) ? dv_iterate(vm, v) : DV_EMPTY;
}

int dv_api_next(dvx_vm *vm, dvx_value iterator, dvx_value *out) {
    dv_api_effect(vm);
    *out = dv_api_given(vm, iterator) ? dv_next(vm, iterator) : DV_EMPTY;
    return !dv_is_empty(*out) ? 1 : dv_is_empty(vm->error) ? 0 : -1;
}

/* ---- Operators and text ---- */

static dv_value bad_operator(dv_vm *vm, unsigned op) {
    return dv_raise(vm, DV_E_SYSTEM_ERROR, "an extension asked for operator %d, which there is not",
                    (int)op);
}

dvx_value dv_api_binary(dvx_vm *vm, dvx_binary op, dvx_value a, dvx_value b) {
    if (!dv_api_given(vm, a) || !dv_api_given(vm, b)) return DV_EMPTY;
    if ((unsigned)op > DVX_DIVMOD) return bad_operator(vm, op);
    return dv_binary(vm, (dv_binary_op)op, a, b);
}

dvx_value dv_api_inplace(dvx_vm *vm, dvx_binary op, dvx_value a, dvx_value b) {
    dv_api_effect(vm);
    if (!dv_api_given(vm, a) || !dv_api_given(vm, b)) return DV_EMPTY;
    if ((unsigned)op >= DVX_DIVMOD) return bad_operator(vm, op);
    return dv_inplace(vm, (dv_binary_op)op, a, b);
}

dvx_value dv_api_unary(dvx_vm *vm, dvx_unary op, dvx_value v) {
    if (!dv_api_given(vm, v)) return DV_EMPTY;
    if ((unsigned)op > DVX_INVERT) return bad_operator(vm, op);
    return dv_unary(vm, (dv_unary_op)op, v);
}

dvx_value dv_api_compare(dvx_vm *vm, dvx_compare op, dvx_value a, dvx_value b) {
    if (!dv_api_given(vm, a) || !dv_api_given(vm, b)) return DV_EMPTY;
    if ((unsigned)op > DVX_NE) return bad_operator(vm, op);
    return dv_compare(vm, (dv_compare_op)op, a, b);
}

int dv_api_equal(dvx_vm *vm, dvx_value a, dvx_value b) {
    return dv_api_given(vm, a) && dv_api_given(vm, b) ? dv_equal(vm, a, b) : -1;
}

bool dv_api_same(dvx_vm *vm, dvx_value a, dvx_value b) {
    (void)vm;
    return dv_same(a, b);
}

bool dv_api_hash(dvx_vm *vm, dvx_value v, int64_t *out) {
    return dv_api_given(vm, v) && dv_hash(vm, v, out);
}

dvx_value dv_api_repr(dvx_vm *vm, dvx_value v) {
    return dv_api_given(vm, v) ? dv_repr(vm, v) : DV_EMPTY;
}

dvx_value dv_api_str(dvx_vm *vm, dvx_value v) {
    return dv_api_given(vm, v) ? dv_to_str(vm, v) : DV_EMPTY;
}

dvx_value dv_api_format(dvx_vm *vm, dvx_value v, const char *spec) {
    dv_value text = dv_api_given(vm, v) ? dv_api_make_str(vm, spec, strlen(spec)) : DV_EMPTY;
    dv_value result = dv_is_empty(text) ? DV_EMPTY : dv_format(vm, v, text);
    dv_release(vm, text);
    return result;
}

/* ---- Classes and names ---- */

dvx_value dv_api_class_of(dvx_vm *vm, dvx_value v) {
    return dv_api_given(vm, v) ? dv_retain(dv_object_value(dv_class_of(vm, v))) : DV_EMPTY;
}

int dv_api_is_instance(dvx_vm *vm, dvx_value v, dvx_value classes) {
    return dv_api_given(vm, v) && dv_api_given(vm, classes) ? dv_is_instance_of(vm, v, classes)
                                                            : -1;
}

int dv_api_is_subclass(dvx_vm *vm, dvx_value class_, dvx_value classes) {
    return dv_api_given(vm, class_) && dv_api_given(vm, classes)
               ? dv_is_subclass_of(vm, class_, classes)
               : -1;
}

dvx_value dv_api_import(dvx_vm *vm, const char *name) {
    dv_value key = name_of(vm, name);
    dv_value module = dv_is_empty(key) ? DV_EMPTY : dv_import(vm, key);
    dv_release(vm, key);
    return module;
}

dvx_value dv_api_builtin(dvx_vm *vm, const char *name) {
    dv_value key = name_of(vm, name);
    if (dv_is_empty(key)) return DV_EMPTY;
    const dv_global_cell *cell = dv_namespace_find(&vm->builtins, key);
    dv_value result = cell && !dv_is_empty(cell->value)
                          ? dv_retain(cell->value)
                          : dv_raise(vm, DV_E_NAME_ERROR, "name '%S' is not defined", key);
    dv_release(vm, key);
    return result;
}
