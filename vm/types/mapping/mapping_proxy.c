/* mapping_proxy.c: read-only views of a dict (mapping_proxy.h). */
#include "types/mapping/mapping_proxy.h"

#include "types/callable/arguments.h"
#include "types/mapping/dict.h"
#include "types/text/str.h"

typedef struct dv_mapping_proxy {
    dv_object header;
    dv_value dict;
} dv_mapping_proxy;

static dv_value dict_of(dv_value v) { return ((dv_mapping_proxy *)dv_as_object(v))->dict; }

dv_value dv_mapping_proxy_new(dv_vm *vm, dv_value dict) {
    dv_mapping_proxy *proxy = dv_container_new(vm, sizeof *proxy, DV_T_MAPPING_PROXY);
    if (!proxy) return DV_EMPTY;
    proxy->dict = dv_retain(dict);
    return dv_object_value(proxy);
}

static void proxy_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const dv_mapping_proxy *proxy = (const dv_mapping_proxy *)object;
    visit(vm, proxy->dict, context);
}

static void proxy_release(dv_vm *vm, dv_object *object) {
    dv_release(vm, ((dv_mapping_proxy *)object)->dict);
    dv_container_free(vm, object, sizeof(dv_mapping_proxy));
}

static dv_value proxy_repr(dv_vm *vm, dv_value self) {
    return dv_str_printf(vm, "mappingproxy(%V)", dict_of(self));
}

/* The text of the dict itself. */
static dv_value proxy_str(dv_vm *vm, dv_value self) { return dv_to_str(vm, dict_of(self)); }

static bool proxy_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    (void)hash;
    dv_raise(vm, DV_E_TYPE_ERROR, "unhashable type: '%T'", self);
    return false;
}

static int64_t proxy_length(dv_vm *vm, dv_value self) { return dv_length(vm, dict_of(self)); }

static dv_value proxy_get_item(dv_vm *vm, dv_value self, dv_value key) {
    return dv_get_item(vm, dict_of(self), key);
}

static int proxy_contains(dv_vm *vm, dv_value self, dv_value item) {
    return dv_contains(vm, dict_of(self), item);
}

static dv_value proxy_iterate(dv_vm *vm, dv_value self) { return dv_iterate(vm, dict_of(self)); }

/* The dict is compared: where it does not fit, the other side is asked what it thinks of it. */
static dv_value proxy_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    return dv_compare(vm, op, dict_of(a), b);
}

static dv_value proxy_binary(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    if (op != DV_BINARY_OR) return DV_NOTIMPLEMENTED;
    if (dv_is_shape(a, DV_T_MAPPING_PROXY)) a = dict_of(a);
    if (dv_is_shape(b, DV_T_MAPPING_PROXY)) b = dict_of(b);
    return dv_binary(vm, op, a, b);
}

static dv_value proxy_inplace(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    if (op != DV_BINARY_OR) return proxy_binary(vm, op, a, b);
    return dv_raise(vm, DV_E_TYPE_ERROR, "'|=' is not supported by %T; use '|' instead", a);
}

/* Methods: those of dict that change nothing ----------------------------------------------------
 */

static dv_value call(dv_vm *vm, const char *method, const dv_value *args, uint32_t count) {
    dv_value name = dv_str_intern(vm, method, strlen(method));
    dv_value bound = dv_is_empty(name) ? DV_EMPTY : dv_get_attribute(vm, dict_of(args[0]), name);
    dv_value result =
        dv_is_empty(bound) ? DV_EMPTY : dv_call(vm, bound, args + 1, count - 1, DV_EMPTY);
    dv_release(vm, name);
    dv_release(vm, bound);
    return result;
}

#define DELEGATE(function, method)                                              \
    static dv_value function(dv_vm *vm, const dv_value *args, uint32_t count) { \
        return call(vm, method, args, count);                                   \
    }

DELEGATE(method_copy, "copy")
DELEGATE(method_get, "get")
DELEGATE(method_items, "items")
DELEGATE(method_keys, "keys")
DELEGATE(method_values, "values")
DELEGATE(method_reversed, "__reversed__")

static const dv_cfunction_def methods[] = {
    {.name = "copy", .entry = method_copy, .min = 1, .max = 1},
    {.name = "get", .entry = method_get, .min = 2, .max = 3},
    {.name = "items", .entry = method_items, .min = 1, .max = 1},
    {.name = "keys", .entry = method_keys, .min = 1, .max = 1},
    {.name = "values", .entry = method_values, .min = 1, .max = 1},
    {.name = "__reversed__", .entry = method_reversed, .min = 1, .max = 1},
    {.name = NULL}};

static dv_value proxy_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    static const char *const names[] = {"mapping"};
    static const dv_parameters parameters = {"mappingproxy", names, 1, 1, 1};
    dv_value mapping;
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, &mapping)) return DV_EMPTY;
    if (dv_is_dict(mapping)) return dv_mapping_proxy_new(vm, mapping);
    if (dv_is_instance(mapping))
        return dv_raise(vm, DV_E_TYPE_ERROR, "mappingproxy() of a '%T' object is not part of dl",
                        mapping);
    return dv_raise(vm, DV_E_TYPE_ERROR, "mappingproxy() argument must be a mapping, not %T",
                    mapping);
}

const dv_type dv_mapping_proxy_type = {
    .name = "mappingproxy",
    .id = DV_T_MAPPING_PROXY,
    .traverse = proxy_traverse,
    .release = proxy_release,
    .repr = proxy_repr,
    .str = proxy_str,
    .hash = proxy_hash,
    .length = proxy_length,
    .get_item = proxy_get_item,
    .contains = proxy_contains,
    .iterate = proxy_iterate,
    .compare = proxy_compare,
    .binary = proxy_binary,
    .inplace = proxy_inplace,
    .construct = proxy_construct,
    .methods = methods,
};
