/* weakref_proxy.c: weakref.proxy: what is done with it is done with its object.
 *
 * Invariants
 *  1. While something is done with the object, it is referred to: nothing that dl code does
 * meanwhile ends it.
 *  2. All that takes an operand on either side, or an argument, takes a proxy's object for it. */
#include "modules/data/weakref_parts.h"

#include "core/upcall.h"
#include "types/class/instance.h"
#include "types/text/str.h"

/* The object of a proxy, and any other value itself; new, EMPTY: raised. */
static dv_value behind(dv_vm *vm, dv_value v) {
    if (!dv_is_weak_proxy(v)) return dv_retain(v);
    dv_object *target = dv_weak_target((const dv_weak *)dv_as_object(v));
    if (target) return dv_retain(dv_object_value(target));
    return dv_raise(vm, DV_E_REFERENCE_ERROR, "weakly-referenced object no longer exists");
}

static dv_value proxy_repr(dv_vm *vm, dv_value self) {
    dv_object *target = dv_weak_target((const dv_weak *)dv_as_object(self));
    const dv_value shown = target ? dv_object_value(target) : DV_NONE;
    return dv_str_printf(vm, "<weakproxy at 0x%llx to %T at 0x%llx>",
                         (unsigned long long)dv_identity(vm, self), shown,
                         (unsigned long long)dv_identity(vm, shown));
}

static dv_value next_of(dv_vm *vm, dv_value v) {
    const bool has_next = dv_is_instance(v) ? dv_has_special(vm, v, vm->known.next)
                                            : vm->types[dv_type_of(vm, v)]->next != NULL;
    if (has_next) return dv_next(vm, v);
    return dv_raise(vm, DV_E_TYPE_ERROR, "Weakref proxy referenced a non-iterator '%T' object", v);
}

/* A function of the object alone, or of it and other values. */
#define FORWARD(type_, failed, name, parameters, call) \
    static type_ proxy_##name parameters {             \
        const dv_value self = behind(vm, proxy);       \
        if (dv_is_empty(self)) return failed;          \
        type_ result = call;                           \
        dv_release(vm, self);                          \
        return result;                                 \
    }
FORWARD(dv_value, DV_EMPTY, str, (dv_vm * vm, dv_value proxy), dv_to_str(vm, self))
FORWARD(dv_value, DV_EMPTY, unary, (dv_vm * vm, dv_unary_op op, dv_value proxy),
        dv_unary(vm, op, self))
FORWARD(int64_t, -1, length, (dv_vm * vm, dv_value proxy), dv_length(vm, self))
FORWARD(int, -1, decide, (dv_vm * vm, dv_value proxy), dv_truth(vm, self))
FORWARD(bool, false, set_item, (dv_vm * vm, dv_value proxy, dv_value key, dv_value value),
        dv_set_item(vm, self, key, value))
FORWARD(int, -1, contains, (dv_vm * vm, dv_value proxy, dv_value item), dv_contains(vm, self, item))
FORWARD(dv_value, DV_EMPTY, iterate, (dv_vm * vm, dv_value proxy), dv_iterate(vm, self))
FORWARD(dv_value, DV_EMPTY, next, (dv_vm * vm, dv_value proxy), next_of(vm, self))
FORWARD(dv_value, DV_EMPTY, attribute, (dv_vm * vm, dv_value proxy, dv_value name),
        dv_get_attribute(vm, self, name))
FORWARD(bool, false, set_attribute, (dv_vm * vm, dv_value proxy, dv_value name, dv_value value),
        dv_set_attribute(vm, self, name, value))
FORWARD(dv_value, DV_EMPTY, call,
        (dv_vm * vm, dv_value proxy, const dv_value *args, uint32_t count, dv_value keywords),
        dv_call(vm, self, args, count, keywords))

/* A function of two values, of which one is a proxy at least. */
#define FORWARD_BOTH(name, parameters, call)                          \
    static dv_value proxy_##name parameters {                         \
        const dv_value x = behind(vm, a);                             \
        const dv_value y = dv_is_empty(x) ? DV_EMPTY : behind(vm, b); \
        dv_value result = dv_is_empty(y) ? DV_EMPTY : call;           \
        dv_release(vm, x);                                            \
        dv_release(vm, y);                                            \
        return result;                                                \
    }
FORWARD_BOTH(compare, (dv_vm * vm, dv_compare_op op, dv_value a, dv_value b),
             dv_compare(vm, op, x, y))
FORWARD_BOTH(binary, (dv_vm * vm, dv_binary_op op, dv_value a, dv_value b), dv_binary(vm, op, x, y))
FORWARD_BOTH(inplace, (dv_vm * vm, dv_binary_op op, dv_value a, dv_value b),
             dv_inplace(vm, op, x, y))
FORWARD_BOTH(get_item, (dv_vm * vm, dv_value a, dv_value b), dv_get_item(vm, x, y))

static bool proxy_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    (void)hash;
    dv_raise(vm, DV_E_TYPE_ERROR, "unhashable type: '%T'", self);
    return false;
}

/* The special methods that functions ask a class for: those of the object. */
static dv_value special(dv_vm *vm, const dv_cfunction_def *def, const dv_type *type,
                        const dv_value *args, uint32_t count) {
    (void)type, (void)count;
    const dv_value self = behind(vm, args[0]);
    dv_value method = dv_is_empty(self) ? DV_EMPTY : dv_get_named(vm, self, def->name);
    dv_value result = dv_is_empty(method) ? DV_EMPTY : dv_call(vm, method, NULL, 0, DV_EMPTY);
    dv_release(vm, method);
    dv_release(vm, self);
    return result;
}

#define SPECIAL(name_, flags_) \
    { .name = name_, .slot_entry = special, .min = 1, .max = 1, .flags = flags_ }
#define NUMBERS                                                                         \
    SPECIAL("__abs__", DV_CFUNCTION_WRAPPER), SPECIAL("__int__", DV_CFUNCTION_WRAPPER), \
        SPECIAL("__float__", DV_CFUNCTION_WRAPPER), SPECIAL("__index__", DV_CFUNCTION_WRAPPER)
static const dv_cfunction_def methods[] = {
    NUMBERS, SPECIAL("__bytes__", 0), SPECIAL("__reversed__", 0), {.name = NULL}};
static const dv_cfunction_def callable_methods[] = {NUMBERS, {.name = NULL}};

#define PROXY(name_, id_)                                                                 \
    .name = name_, .id = id_, .traverse = dv_weak_traverse, .clear = dv_weak_clear,       \
    .release = dv_weak_release, .repr = proxy_repr, .str = proxy_str, .hash = proxy_hash, \
    .compare = proxy_compare, .binary = proxy_binary, .inplace = proxy_inplace,           \
    .unary = proxy_unary, .length = proxy_length, .decide = proxy_decide,                 \
    .get_item = proxy_get_item, .set_item = proxy_set_item, .contains = proxy_contains,   \
    .iterate = proxy_iterate, .next = proxy_next, .get_attribute = proxy_attribute,       \
    .set_attribute = proxy_set_attribute

const dv_type dv_weak_proxy_type = {PROXY("weakref.ProxyType", DV_T_WEAK_PROXY),
                                    .methods = methods};
const dv_type dv_weak_callable_proxy_type = {
    PROXY("weakref.CallableProxyType", DV_T_WEAK_CALLABLE_PROXY), .call = proxy_call,
    .methods = callable_methods};
