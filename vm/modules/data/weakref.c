/* weakref.c: the module _weakref: references, and what leads to them.  The containers are in
 * lang/lib/weakref.dl. */
#include "modules/data/weakref_parts.h"

#include "core/upcall.h"
#include "modules/modules.h"
#include "types/callable/arguments.h"
#include "types/class/subclass.h"
#include "types/mapping/dict.h"
#include "types/sequence/list.h"
#include "types/sequence/tuple.h"
#include "types/text/str.h"

/* Making them -----------------------------------------------------------------------------------
 */

/* All of a new reference but its header. */
static bool fill(dv_vm *vm, dv_weak *weak, dv_object *target, dv_value callback) {
    weak->target = NULL;
    weak->next = weak->previous = NULL;
    weak->hash = -1;
    weak->waits = false;
    weak->callback = dv_retain(callback);
    return dv_weak_link(vm, weak, target);
}

static dv_value fill_or_release(dv_vm *vm, dv_weak *weak, dv_object *target, dv_value callback) {
    if (!weak) return DV_EMPTY;
    if (fill(vm, weak, target, callback)) return dv_object_value(weak);
    dv_release_object(vm, &weak->header);
    return DV_EMPTY;
}

dv_value dv_weak_make(dv_vm *vm, const char *function, uint32_t shape, const dv_value *args,
                      uint32_t count) {
    if (!dv_arguments_count(vm, function, count, 1, 2)) return DV_EMPTY;
    if (!dv_is_object(args[0]) || !dv_weak_allowed(vm, args[0]))
        return dv_raise(vm, DV_E_TYPE_ERROR, "cannot create weak reference to '%T' object",
                        args[0]);
    dv_object *target = dv_as_object(args[0]);
    const dv_value callback = count < 2 || dv_is_none(args[1]) ? DV_EMPTY : args[1];
    dv_weak *shared = dv_is_empty(callback) ? dv_weak_shared(vm, target, shape) : NULL;
    if (shared) return dv_retain(dv_object_value(shared));
    return fill_or_release(vm, dv_container_new(vm, sizeof(dv_weak), shape), target, callback);
}

static uint32_t named_count(dv_value keywords) {
    return dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
}

static dv_value ref_construct(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    if (!dv_arguments_count(vm, "__new__", count - named_count(keywords), 1, 2)) return DV_EMPTY;
    if (!dv_arguments_no_keywords(vm, "ref", keywords)) return DV_EMPTY;
    return dv_weak_make(vm, "__new__", DV_T_WEAK, args, count);
}

/* A subclass's is never shared. */
static dv_value ref_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    const dv_weak *from = (const dv_weak *)dv_as_object(exact);
    return fill_or_release(vm, dv_subclass_alloc(vm, class_, sizeof(dv_weak)), from->target,
                           from->callback);
}

/* All is done before; the arguments are checked again. */
static dv_value ref_init(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    (void)args;
    if (!dv_arguments_no_keywords(vm, "ref", keywords)) return DV_EMPTY;
    return dv_arguments_count(vm, "__init__", count - 1, 1, 2) ? DV_NONE : DV_EMPTY;
}

/* What they do ----------------------------------------------------------------------------------
 */

static dv_weak *as_weak(dv_value v) { return (dv_weak *)dv_as_object(v); }

void dv_weak_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    visit(vm, ((const dv_weak *)object)->callback, context);
}

void dv_weak_clear(dv_vm *vm, dv_object *object) {
    dv_weak *weak = (dv_weak *)object;
    const dv_value callback = weak->callback;
    dv_weak_unlink(vm, weak);
    weak->callback = DV_EMPTY;
    dv_release(vm, callback);
}

void dv_weak_release(dv_vm *vm, dv_object *object) {
    dv_weak_clear(vm, object);
    dv_base_free(vm, object, sizeof(dv_weak));
}

static dv_value target_of(dv_value self) {
    dv_object *target = dv_weak_target(as_weak(self));
    return target ? dv_retain(dv_object_value(target)) : DV_NONE;
}

static dv_value ref_call(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                         dv_value keywords) {
    (void)args;
    if (!dv_arguments_no_keywords(vm, "weakref", keywords)) return DV_EMPTY;
    return dv_arguments_count(vm, "weakref", count, 0, 0) ? target_of(self) : DV_EMPTY;
}

static bool ref_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    dv_weak *weak = as_weak(self);
    if (weak->hash != -1) {
        *hash = weak->hash;
        return true;
    }
    const dv_value target = target_of(self);
    if (dv_is_none(target))
        return dv_raise(vm, DV_E_TYPE_ERROR, "weak object has gone away"), false;
    const bool good = dv_hash(vm, target, hash);
    dv_release(vm, target);
    if (good) weak->hash = *hash;
    return good;
}

static bool is_ref(dv_value v) { return dv_has_layout(v, DV_T_WEAK); }

static dv_value ref_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    if ((op != DV_EQ && op != DV_NE) || !is_ref(a) || !is_ref(b)) return DV_NOTIMPLEMENTED;
    const dv_value x = target_of(a), y = target_of(b);
    dv_value result = dv_is_none(x) || dv_is_none(y) ? dv_bool(dv_same(a, b) == (op == DV_EQ))
                                                     : dv_compare(vm, op, x, y);
    dv_release(vm, x);
    dv_release(vm, y);
    return result;
}

/* " (name)" of what has a __name__, or ""; new. */
static dv_value name_of(dv_vm *vm, dv_value target) {
    dv_value name = dv_find_attribute(vm, target, vm->known.name);
    if (dv_is_empty(name) && !dv_is_empty(vm->error)) return DV_EMPTY;
    dv_value text = dv_is_empty(name) || !dv_is_str(name) ? dv_retain(vm->known.empty_str)
                                                          : dv_str_printf(vm, " (%S)", name);
    dv_release(vm, name);
    return text;
}

static dv_value ref_repr(dv_vm *vm, dv_value self) {
    const unsigned long long at = dv_identity(vm, self);
    const dv_value target = target_of(self);
    if (dv_is_none(target)) return dv_str_printf(vm, "<weakref at 0x%llx; dead>", at);
    const dv_value name = name_of(vm, target);
    dv_value text = DV_EMPTY;
    if (!dv_is_empty(name))
        text = dv_str_printf(vm, "<weakref at 0x%llx; to '%T' at 0x%llx%S>", at, target,
                             (unsigned long long)dv_identity(vm, target), name);
    dv_release(vm, name);
    dv_release(vm, target);
    return text;
}

static dv_value ref_attribute(dv_vm *vm, dv_value self, dv_value name) {
    (void)vm;
    if (!dv_str_is(name, "__callback__")) return DV_EMPTY;
    const dv_weak *weak = as_weak(self);
    return dv_is_empty(weak->callback) || !dv_weak_target(weak) ? DV_NONE
                                                                : dv_retain(weak->callback);
}

static const dv_cfunction_def ref_methods[] = {{.name = "__init__",
                                                .keyword_entry = ref_init,
                                                .min = 1,
                                                .max = UINT32_MAX,
                                                .flags = DV_CFUNCTION_WRAPPER},
                                               {.name = NULL}};

static const dv_type ref_type = {.name = "weakref.ReferenceType",
                                 .id = DV_T_WEAK,
                                 .traverse = dv_weak_traverse,
                                 .clear = dv_weak_clear,
                                 .release = dv_weak_release,
                                 .repr = ref_repr,
                                 .hash = ref_hash,
                                 .compare = ref_compare,
                                 .get_attribute = ref_attribute,
                                 .call = ref_call,
                                 .construct = ref_construct,
                                 .adopt = ref_adopt,
                                 .methods = ref_methods,
                                 .ignores_keywords = true};

/* The module ------------------------------------------------------------------------------------
 */

static dv_value weakref_proxy(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    if (!dv_arguments_no_keywords(vm, "_weakref.proxy", keywords)) return DV_EMPTY;
    const bool callable = count > 0 && dv_is_callable(vm, args[0]);
    return dv_weak_make(vm, "proxy", callable ? DV_T_WEAK_CALLABLE_PROXY : DV_T_WEAK_PROXY, args,
                        count);
}

static const dv_weak *first_of(dv_vm *vm, dv_value v) {
    return dv_is_object(v) ? dv_weak_first(vm, dv_as_object(v)) : NULL;
}

static dv_value weakref_getweakrefcount(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t result = 0;
    for (const dv_weak *weak = first_of(vm, args[0]); weak; weak = weak->next) result++;
    return dv_int(result);
}

static dv_value weakref_getweakrefs(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value list = dv_list_new(vm, NULL, 0);
    for (const dv_weak *weak = first_of(vm, args[0]); weak && !dv_is_empty(list);
         weak = weak->next) {
        if (weak->header.references == 0 || dv_list_append(vm, list, dv_object_value(weak)))
            continue;
        dv_release(vm, list);
        list = DV_EMPTY;
    }
    return list;
}

/* Takes the item out of the dict if its value, a reference, has no object any longer. */
static dv_value weakref_remove_dead(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_value value = dv_dict_get(vm, args[0], args[1]);
    if (dv_is_empty(value)) return dv_is_empty(vm->error) ? DV_NONE : DV_EMPTY;
    if (!is_ref(value) || dv_weak_target(as_weak(value))) return DV_NONE;
    return dv_set_item(vm, args[0], args[1], DV_EMPTY) ? DV_NONE : DV_EMPTY;
}

/* What is called when the program ends, before anything is finalised. */
static dv_value weakref_run_at_exit(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_value old = vm->at_exit;
    vm->at_exit = dv_retain(args[0]);
    dv_release(vm, old);
    return DV_NONE;
}

static const dv_cfunction_def functions[] = {
    {.name = "proxy", .keyword_entry = weakref_proxy, .min = 0, .max = UINT32_MAX},
    {.name = "getweakrefcount", .entry = weakref_getweakrefcount, .min = 1, .max = 1},
    {.name = "getweakrefs", .entry = weakref_getweakrefs, .min = 1, .max = 1},
    {.name = "_remove_dead_weakref", .entry = weakref_remove_dead, .min = 2, .max = 2},
    {.name = "run_at_exit", .entry = weakref_run_at_exit, .min = 1, .max = 1},
    {.name = NULL}};

bool dv_weakref_fill(dv_vm *vm, dv_module *module) {
    if (!dv_module_add_functions(vm, module, functions) ||
        !dv_module_add_type(vm, module, &ref_type) ||
        !dv_module_add_type(vm, module, &dv_weak_proxy_type) ||
        !dv_module_add_type(vm, module, &dv_weak_callable_proxy_type))
        return false;
    vm->classes[DV_T_WEAK_PROXY]->flags |= DV_CLASS_CLAIMS;
    vm->classes[DV_T_WEAK_CALLABLE_PROXY]->flags |= DV_CLASS_CLAIMS;
    return dv_module_add(vm, module, "ref", dv_retain(dv_object_value(vm->classes[DV_T_WEAK])));
}
