/* mapping_proxy.c: read-only views of a dict (mapping_proxy.h). */
#include "types/mapping_proxy.h"

#include "types/dict.h"
#include "types/str.h"

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

static int64_t proxy_length(dv_vm *vm, dv_value self) { return dv_length(vm, dict_of(self)); }

static dv_value proxy_get_item(dv_vm *vm, dv_value self, dv_value key) {
    return dv_get_item(vm, dict_of(self), key);
}

static int proxy_contains(dv_vm *vm, dv_value self, dv_value item) {
    return dv_contains(vm, dict_of(self), item);
}

static dv_value proxy_iterate(dv_vm *vm, dv_value self) { return dv_iterate(vm, dict_of(self)); }

static dv_value proxy_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    if (op != DV_EQ && op != DV_NE) return DV_NOTIMPLEMENTED;
    if (!dv_is_shape(a, DV_T_MAPPING_PROXY)) return proxy_compare(vm, op, b, a);
    return dv_compare(vm, op, dict_of(a), b);
}

static dv_value proxy_binary(dv_vm *vm, dv_binary_op op, dv_value a, dv_value b) {
    if (op != DV_BINARY_OR) return DV_NOTIMPLEMENTED;
    if (dv_is_shape(a, DV_T_MAPPING_PROXY)) a = dict_of(a);
    if (dv_is_shape(b, DV_T_MAPPING_PROXY)) b = dict_of(b);
    return dv_binary(vm, op, a, b);
}

/* The methods of dict that change nothing. */
static dv_value proxy_attribute(dv_vm *vm, dv_value self, dv_value name) {
    static const char *const names[] = {"copy", "get", "items", "keys", "values", "__reversed__"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (dv_str_is(name, names[i])) return dv_find_attribute(vm, dict_of(self), name);
    return DV_EMPTY;
}

static dv_value proxy_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    if (count != 1 || !dv_is_empty(keywords))
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "mappingproxy() missing required argument 'mapping' (pos 1)");
    if (dv_is_dict(args[0])) return dv_mapping_proxy_new(vm, args[0]);
    return dv_raise(vm, DV_E_TYPE_ERROR, "mappingproxy() argument must be a mapping, not %T",
                    args[0]);
}

const dv_type dv_mapping_proxy_type = {
    .name = "mappingproxy",
    .id = DV_T_MAPPING_PROXY,
    .traverse = proxy_traverse,
    .release = proxy_release,
    .repr = proxy_repr,
    .str = proxy_str,
    .length = proxy_length,
    .get_item = proxy_get_item,
    .contains = proxy_contains,
    .iterate = proxy_iterate,
    .compare = proxy_compare,
    .binary = proxy_binary,
    .get_attribute = proxy_attribute,
    .construct = proxy_construct,
};
