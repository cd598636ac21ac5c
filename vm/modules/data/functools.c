/* functools.c: the module functools: reduce, partial, cmp_to_key, update_wrapper and wraps.  Caches
 * are in functools_cache.c.
 *
 * Invariants
 *  1. The function of a partial is no partial without attributes: such are flattened when it is
 *     made. */
#include "modules/data/functools_parts.h"

#include "core/native.h"
#include "core/upcall.h"
#include "core/work.h"
#include "modules/modules.h"
#include "types/callable/arguments.h"
#include "types/mapping/dict.h"
#include "types/callable/function.h"
#include "types/class/instance.h"
#include "types/class/instance_dict.h"
#include "types/sequence/iterator.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/class/subclass.h"
#include "types/sequence/tuple.h"

static uint32_t named_count(dv_value keywords) {
    return dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
}

/* reduce -----------------------------------------------------------------------------------------
 */

static dv_value reduce(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (!dv_is_iterable(vm, args[1])) {
        if (!dv_is_empty(vm->error)) return DV_EMPTY;
        return dv_raise(vm, DV_E_TYPE_ERROR, "reduce() arg 2 must support iteration");
    }
    dv_value iterator = dv_iterate(vm, args[1]);
    if (dv_is_empty(iterator)) return DV_EMPTY;
    dv_value total = count == 3 ? dv_retain(args[2]) : dv_step(vm, iterator);
    if (dv_is_empty(total) && dv_is_empty(vm->error))
        dv_raise(vm, DV_E_TYPE_ERROR, "reduce() of empty iterable with no initial value");
    while (!dv_is_empty(total)) {
        dv_value item = dv_step(vm, iterator);
        if (dv_is_empty(item)) break;
        dv_value next = dv_work(vm, 1)
                            ? dv_call(vm, args[0], (dv_value[]){total, item}, 2, DV_EMPTY)
                            : DV_EMPTY;
        dv_release(vm, total);
        dv_release(vm, item);
        total = next;
    }
    dv_release(vm, iterator);
    if (dv_is_empty(vm->error)) return total;
    dv_release(vm, total);
    return DV_EMPTY;
}

/* It counts as a call of its own, as in CPython. */
static dv_value functools_reduce(dv_vm *vm, const dv_value *args, uint32_t count) {
    if (!dv_enter_native_for(vm, " while calling a Python object")) return DV_EMPTY;
    dv_value total = reduce(vm, args, count);
    dv_leave_native(vm);
    return total;
}

/* partial ----------------------------------------------------------------------------------------
 */

typedef struct partial {
    dv_object header;
    dv_value function, args; /* args: tuple */
    dv_value keywords;       /* dict */
    dv_value attributes;     /* dict or EMPTY */
} partial;

static partial *as_partial(dv_value v) { return (partial *)dv_as_object(v); }

static void partial_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const partial *p = (const partial *)object;
    visit(vm, p->function, context);
    visit(vm, p->args, context);
    visit(vm, p->keywords, context);
    visit(vm, p->attributes, context);
}

static void partial_release(dv_vm *vm, dv_object *object) {
    partial *p = (partial *)object;
    dv_release(vm, p->function);
    dv_release(vm, p->args);
    dv_release(vm, p->keywords);
    dv_release(vm, p->attributes);
    dv_base_free(vm, object, sizeof *p);
}

static dv_value partial_adopt(dv_vm *vm, dv_class *class_, dv_value exact) {
    return dv_subclass_share(vm, class_, exact, sizeof(partial));
}

/* A partial (or an instance of a subclass that is called as one) without attributes. */
static bool is_bare(dv_vm *vm, dv_value function) {
    if (!dv_has_layout(function, DV_T_PARTIAL)) return false;
    if (dv_is_shape(function, DV_T_PARTIAL)) return dv_is_empty(as_partial(function)->attributes);
    return dv_shape_at(vm, dv_as_object(function)->shape)->count == 0 &&
           !dv_defines_special(vm, function, vm->known.call);
}

static void replace(dv_vm *vm, dv_value *place, dv_value value) {
    dv_value old = *place;
    *place = value;
    dv_release(vm, old);
}

static void partial_clear(dv_vm *vm, dv_object *object) {
    partial *p = (partial *)object;
    replace(vm, &p->function, DV_NONE);
    replace(vm, &p->args, dv_retain(vm->known.empty_tuple));
}

/* left + the arguments, as a tuple. */
static dv_value joined(dv_vm *vm, dv_value left, const dv_value *args, uint32_t count) {
    if (dv_is_empty(left)) return dv_tuple_new(vm, args, count);
    const dv_tuple *tuple = dv_as_tuple(left);
    dv_tuple *result = dv_tuple_alloc(vm, tuple->count + count);
    if (!result) return DV_EMPTY;
    for (int64_t i = 0; i < tuple->count; i++) result->items[i] = dv_retain(tuple->items[i]);
    for (uint32_t i = 0; i < count; i++) result->items[tuple->count + i] = dv_retain(args[i]);
    return dv_object_value(result);
}

/* A copy of the dict `base` (EMPTY: none) with keyword arguments put in. */
static dv_value merged(dv_vm *vm, dv_value base, const dv_value *values, dv_value keywords) {
    dv_value dict = dv_is_empty(base) ? dv_dict_new(vm) : dv_dict_copy(vm, base);
    uint32_t count = named_count(keywords);
    for (uint32_t i = 0; i < count && !dv_is_empty(dict); i++) {
        if (dv_dict_set(vm, dict, dv_as_tuple(keywords)->items[i], values[i])) continue;
        dv_release(vm, dict);
        return DV_EMPTY;
    }
    return dict;
}

static dv_value partial_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                  dv_value keywords) {
    uint32_t given = count - named_count(keywords);
    if (given == 0)
        return dv_raise(vm, DV_E_TYPE_ERROR, "type 'partial' takes at least one argument");
    dv_value function = args[0], left = DV_EMPTY, base = DV_EMPTY;
    if (!dv_is_callable(vm, function))
        return dv_raise(vm, DV_E_TYPE_ERROR, "the first argument must be callable");
    if (is_bare(vm, function)) {
        const partial *inner = as_partial(function);
        left = inner->args;
        base = inner->keywords;
        function = inner->function;
    }
    partial *p = dv_container_new(vm, sizeof *p, DV_T_PARTIAL);
    if (!p) return DV_EMPTY;
    p->function = dv_retain(function);
    p->attributes = DV_EMPTY;
    p->args = joined(vm, left, args + 1, given - 1);
    p->keywords = dv_is_empty(p->args) ? DV_EMPTY : merged(vm, base, args + given, keywords);
    if (!dv_is_empty(p->keywords)) return dv_object_value(p);
    dv_release_object(vm, &p->header);
    return DV_EMPTY;
}

/* With keyword arguments: those of the call replace those of the partial. */
static dv_value call_with_keywords(dv_vm *vm, const partial *p, const dv_value *args,
                                   uint32_t given, dv_value keywords) {
    dv_value dict = merged(vm, p->keywords, args + given, keywords);
    if (dv_is_empty(dict)) return DV_EMPTY;
    int64_t left = dv_as_tuple(p->args)->count, total = left + given + dv_as_dict(dict)->count;
    dv_value result = DV_EMPTY, key, value;
    dv_tuple *names = dv_tuple_alloc(vm, dv_as_dict(dict)->count);
    size_t size = ((size_t)total + 1) * sizeof(dv_value);
    dv_value *all = names ? dv_heap_alloc(&vm->heap, size) : NULL;
    if (!all) {
        if (names) {
            dv_raise_memory(vm);
            for (int64_t i = 0; i < names->count; i++) names->items[i] = DV_NONE;
            dv_release_object(vm, &names->header);
        }
        dv_release(vm, dict);
        return DV_EMPTY;
    }
    memcpy(all, dv_as_tuple(p->args)->items, (size_t)left * sizeof *all);
    memcpy(all + left, args, given * sizeof *all);
    int64_t position = 0, n = 0;
    bool strings = true;
    for (; dv_dict_walk(dict, &position, &key, &value); n++) {
        strings = strings && dv_is_str(key);
        names->items[n] = dv_retain(key);
        all[left + given + n] = value;
    }
    if (strings) /* programs may have put others into `keywords` */
        result = dv_call(vm, p->function, all, (uint32_t)total, dv_object_value(names));
    else
        dv_raise(vm, DV_E_TYPE_ERROR, "keywords must be strings");
    dv_heap_free(&vm->heap, all, size);
    dv_release_object(vm, &names->header);
    dv_release(vm, dict);
    return result;
}

static dv_value partial_call(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                             dv_value keywords) {
    const partial *p = as_partial(self);
    uint32_t named = named_count(keywords);
    if (dv_as_dict(p->keywords)->count > 0)
        return call_with_keywords(vm, p, args, count - named, keywords);
    int64_t left = dv_as_tuple(p->args)->count;
    dv_value few[8], *all = few;
    size_t size = ((size_t)left + count) * sizeof *all;
    if (left + count > 8 && !(all = dv_heap_alloc(&vm->heap, size))) return dv_raise_memory(vm);
    memcpy(all, dv_as_tuple(p->args)->items, (size_t)left * sizeof *all);
    if (count) memcpy(all + left, args, count * sizeof *all);
    dv_value result = dv_call(vm, p->function, all, (uint32_t)left + count, keywords);
    if (all != few) dv_heap_free(&vm->heap, all, size);
    return result;
}

/* Appends ", key=value" for the keyword arguments. */
static bool repr_keywords(dv_builder *b, const partial *p) {
    int64_t position = 0;
    dv_value key, value;
    while (dv_dict_walk(p->keywords, &position, &key, &value)) {
        dv_builder_z(b, ", ");
        dv_retain(value);
        bool good = dv_builder_to_str(b, key);
        dv_builder_z(b, "=");
        good = good && dv_builder_repr(b, value);
        dv_release(b->vm, value);
        if (!good) return false;
    }
    return true;
}

static bool repr_parts(dv_builder *b, dv_value self) {
    const partial *p = as_partial(self);
    const dv_tuple *args = dv_as_tuple(p->args);
    if (dv_is_instance(self))
        dv_builder_str(b, dv_class_of(b->vm, self)->name);
    else
        dv_builder_z(b, "functools.partial");
    dv_builder_z(b, "(");
    if (!dv_builder_repr(b, p->function)) return false;
    for (int64_t i = 0; i < args->count; i++) {
        dv_builder_z(b, ", ");
        if (!dv_builder_repr(b, args->items[i])) return false;
    }
    if (!repr_keywords(b, p)) return false;
    dv_builder_z(b, ")");
    return true;
}

static dv_value partial_repr(dv_vm *vm, dv_value self) {
    struct dv_repr_guard guard;
    if (!dv_repr_enter(vm, &guard, self)) return dv_str_z(vm, "...");
    dv_builder b;
    dv_builder_init(&b, vm);
    bool good = repr_parts(&b, self);
    dv_repr_leave(vm);
    if (good) return dv_builder_finish(&b);
    dv_builder_discard(&b);
    return DV_EMPTY;
}

/* The dict of attributes that programs have set. */
static dv_value own_attributes(dv_vm *vm, partial *p) {
    if (dv_is_empty(p->attributes)) p->attributes = dv_dict_new(vm);
    return p->attributes;
}

static dv_value partial_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    partial *p = as_partial(self);
    if (dv_str_is(name, "func")) return dv_retain(p->function);
    if (dv_str_is(name, "args")) return dv_retain(p->args);
    if (dv_str_is(name, "keywords")) return dv_retain(p->keywords);
    if (dv_same(name, vm->known.dict)) return dv_retain(own_attributes(vm, p));
    if (dv_is_empty(p->attributes)) return DV_EMPTY;
    return dv_retain(dv_dict_get(vm, p->attributes, name));
}

/* partial.__dict__ = value */
static bool set_dict(dv_vm *vm, partial *p, dv_value value) {
    if (dv_is_empty(value)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "cannot delete __dict__");
        return false;
    }
    if (!dv_is_dict(value)) {
        dv_raise(vm, DV_E_TYPE_ERROR, "__dict__ must be set to a dictionary, not a '%T'", value);
        return false;
    }
    replace(vm, &p->attributes, dv_retain(value));
    return true;
}

static bool partial_set_attribute(dv_vm *vm, dv_value self, dv_value name, dv_value value) {
    if (dv_str_is(name, "func") || dv_str_is(name, "args") || dv_str_is(name, "keywords")) {
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "readonly attribute");
        return false;
    }
    if (dv_is_instance(self)) return dv_instance_set_attribute(vm, self, name, value);
    if (dv_same(name, vm->known.dict)) return set_dict(vm, as_partial(self), value);
    dv_value attributes = own_attributes(vm, as_partial(self));
    if (dv_is_empty(attributes)) return false;
    if (!dv_is_empty(value)) return dv_dict_set(vm, attributes, name, value);
    int done = dv_dict_delete(vm, attributes, name);
    if (done == 0)
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "'functools.partial' object has no attribute '%S'",
                 name);
    return done == 1;
}

/* The attributes, which instances of subclasses have as all instances: new; None: there are none.
 */
static dv_value state_attributes(dv_vm *vm, dv_value self) {
    if (!dv_is_instance(self)) {
        dv_value own = as_partial(self)->attributes;
        return dv_is_empty(own) ? DV_NONE : dv_retain(own);
    }
    return dv_get_attribute(vm, self, vm->known.dict);
}

/* What copies are made of: the class, its argument, and the state for __setstate__. */
static dv_value partial_reduce(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const partial *p = as_partial(args[0]);
    dv_value attributes = state_attributes(vm, args[0]);
    if (dv_is_empty(attributes)) return DV_EMPTY;
    dv_value parts[3] = {dv_retain(dv_object_value(dv_class_of(vm, args[0])))};
    dv_value state[4] = {p->function, p->args, p->keywords, attributes};
    parts[1] = dv_tuple_new(vm, &p->function, 1);
    parts[2] = dv_is_empty(parts[1]) ? DV_EMPTY : dv_tuple_new(vm, state, 4);
    dv_release(vm, attributes);
    if (!dv_is_empty(parts[2])) return dv_tuple_take(vm, parts, 3);
    dv_release(vm, parts[0]);
    dv_release(vm, parts[1]);
    return DV_EMPTY;
}

static bool set_attributes(dv_vm *vm, dv_value self, dv_value attributes) {
    bool none = dv_is_none(attributes);
    if (!dv_is_instance(self)) {
        replace(vm, &as_partial(self)->attributes, none ? DV_EMPTY : dv_retain(attributes));
        return true;
    }
    dv_value dict = none ? dv_dict_new(vm) : dv_retain(attributes);
    bool done = !dv_is_empty(dict) && dv_set_attribute(vm, self, vm->known.dict, dict);
    dv_release(vm, dict);
    return done;
}

static dv_value partial_setstate(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    partial *p = as_partial(args[0]);
    const dv_tuple *state = dv_is_tuple(args[1]) ? dv_as_tuple(args[1]) : NULL;
    if (!state || state->count != 4 || !dv_is_callable(vm, state->items[0]) ||
        !dv_is_tuple(state->items[1]) ||
        !(dv_is_none(state->items[2]) || dv_is_dict(state->items[2])) ||
        !(dv_is_none(state->items[3]) || dv_is_dict(state->items[3])))
        return dv_raise(vm, DV_E_TYPE_ERROR, "invalid partial state");
    dv_value given = dv_plain(vm, state->items[1]);
    dv_value keywords = dv_is_none(state->items[2]) ? dv_dict_new(vm)
                        : dv_is_shape(state->items[2], DV_T_DICT)
                            ? dv_retain(state->items[2])
                            : dv_dict_copy(vm, state->items[2]);
    if (dv_is_empty(given) || dv_is_empty(keywords)) {
        dv_release(vm, given);
        dv_release(vm, keywords);
        return DV_EMPTY;
    }
    replace(vm, &p->function, dv_retain(state->items[0]));
    replace(vm, &p->args, given);
    replace(vm, &p->keywords, keywords);
    return set_attributes(vm, args[0], state->items[3]) ? DV_NONE : DV_EMPTY;
}

static const dv_cfunction_def partial_methods[] = {
    {.name = "__reduce__", .entry = partial_reduce, .min = 1, .max = 1},
    {.name = "__setstate__", .entry = partial_setstate, .min = 2, .max = 2},
    {.name = NULL}};

static const dv_type partial_type = {.name = "functools.partial",
                                     .id = DV_T_PARTIAL,
                                     .weakly = true,
                                     .traverse = partial_traverse,
                                     .clear = partial_clear,
                                     .release = partial_release,
                                     .repr = partial_repr,
                                     .get_attribute = partial_get_attribute,
                                     .set_attribute = partial_set_attribute,
                                     .call = partial_call,
                                     .construct = partial_construct,
                                     .adopt = partial_adopt,
                                     .methods = partial_methods};

/* cmp_to_key -------------------------------------------------------------------------------------
 */

/* What cmp_to_key returns (object EMPTY), and the keys that it makes. */
typedef struct key_wrapper {
    dv_object header;
    dv_value compare, object;
} key_wrapper;

static key_wrapper *as_key(dv_value v) { return (key_wrapper *)dv_as_object(v); }

static void key_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const key_wrapper *key = (const key_wrapper *)object;
    visit(vm, key->compare, context);
    visit(vm, key->object, context);
}

static void key_release(dv_vm *vm, dv_object *object) {
    dv_release(vm, ((key_wrapper *)object)->compare);
    dv_release(vm, ((key_wrapper *)object)->object);
    dv_container_free(vm, object, sizeof(key_wrapper));
}

static dv_value key_new(dv_vm *vm, dv_value compare, dv_value object) {
    key_wrapper *key = dv_container_new(vm, sizeof *key, DV_T_KEY_WRAPPER);
    if (!key) return DV_EMPTY;
    key->compare = dv_retain(compare);
    key->object = dv_retain(object);
    return dv_object_value(key);
}

static dv_value functools_cmp_to_key(dv_vm *vm, const dv_value *args, uint32_t count,
                                     dv_value keywords) {
    static const char *const names[] = {"mycmp"};
    const dv_parameters parameters = {"cmp_to_key", names, 1, 1, 1};
    dv_value compare;
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, &compare)) return DV_EMPTY;
    return key_new(vm, compare, DV_EMPTY);
}

static dv_value key_call(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                         dv_value keywords) {
    static const char *const names[] = {"obj"};
    const dv_parameters parameters = {"K", names, 1, 1, 1};
    dv_value object;
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, &object)) return DV_EMPTY;
    return key_new(vm, as_key(self)->compare, object);
}

static dv_value key_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    if (!dv_is_shape(a, DV_T_KEY_WRAPPER) || !dv_is_shape(b, DV_T_KEY_WRAPPER))
        return dv_raise(vm, DV_E_TYPE_ERROR, "other argument must be K instance");
    if (dv_is_empty(as_key(a)->object) || dv_is_empty(as_key(b)->object))
        return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "object");
    dv_value order = dv_call(vm, as_key(a)->compare,
                             (dv_value[]){as_key(a)->object, as_key(b)->object}, 2, DV_EMPTY);
    if (dv_is_empty(order)) return DV_EMPTY;
    dv_value result = dv_compare(vm, op, order, dv_int(0));
    dv_release(vm, order);
    return result;
}

static bool key_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    (void)hash;
    dv_raise(vm, DV_E_TYPE_ERROR, "unhashable type: '%T'", self);
    return false;
}

static dv_value key_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    (void)vm;
    return dv_str_is(name, "obj") ? dv_retain(as_key(self)->object) : DV_EMPTY;
}

static const dv_type key_type = {.name = "functools.KeyWrapper",
                                 .id = DV_T_KEY_WRAPPER,
                                 .traverse = key_traverse,
                                 .release = key_release,
                                 .hash = key_hash,
                                 .compare = key_compare,
                                 .get_attribute = key_get_attribute,
                                 .call = key_call};

/* update_wrapper, wraps --------------------------------------------------------------------------
 */

static const char *const assigned_names[] = {"__module__", "__name__", "__qualname__", "__doc__",
                                             "__annotations__"};

/* wrapper.name = wrapped.name, if it is there. */
static bool copy_attribute(dv_vm *vm, dv_value wrapper, dv_value wrapped, dv_value name) {
    dv_value value = dv_find_attribute(vm, wrapped, name);
    if (dv_is_empty(value)) return dv_is_empty(vm->error);
    bool done = dv_set_attribute(vm, wrapper, name, value);
    dv_release(vm, value);
    return done;
}

/* getattr(wrapper, name).update(getattr(wrapped, name, {})).  Functions have no __dict__ here, so
 * theirs is set by attributes. */
static bool update_attribute(dv_vm *vm, dv_value wrapper, dv_value wrapped, dv_value name) {
    dv_value from;
    if (dv_is_function(wrapped) && dv_same(name, vm->known.dict)) {
        from = dv_retain(dv_as_function(wrapped)->attributes);
    } else {
        from = dv_find_attribute(vm, wrapped, name);
        if (!dv_is_empty(vm->error)) return false;
    }
    bool good = true;
    int64_t position = 0;
    dv_value key, value;
    while (good && dv_is_dict(from) && dv_dict_walk(from, &position, &key, &value))
        good = dv_set_attribute(vm, wrapper, key, value);
    dv_release(vm, from);
    return good;
}

static bool set_wrapped(dv_vm *vm, dv_value wrapper, dv_value wrapped) {
    dv_value name = dv_str_intern(vm, "__wrapped__", 11);
    if (dv_is_empty(name)) return false;
    bool done = dv_set_attribute(vm, wrapper, name, wrapped);
    dv_release(vm, name);
    return done;
}

bool dv_functools_update(dv_vm *vm, dv_value wrapper, dv_value wrapped) {
    for (size_t i = 0; i < sizeof assigned_names / sizeof *assigned_names; i++) {
        dv_value name = dv_str_intern(vm, assigned_names[i], strlen(assigned_names[i]));
        if (dv_is_empty(name)) return false;
        bool done = copy_attribute(vm, wrapper, wrapped, name);
        dv_release(vm, name);
        if (!done) return false;
    }
    return update_attribute(vm, wrapper, wrapped, vm->known.dict) &&
           set_wrapped(vm, wrapper, wrapped);
}

/* getattr(wrapper, name).update(getattr(wrapped, name, {})) for any name. */
static bool update_named(dv_vm *vm, dv_value wrapper, dv_value wrapped, dv_value name) {
    if (dv_same(name, vm->known.dict)) return update_attribute(vm, wrapper, wrapped, name);
    dv_value to = dv_get_attribute(vm, wrapper, name);
    if (dv_is_empty(to)) return false;
    dv_value from = dv_find_attribute(vm, wrapped, name);
    if (dv_is_empty(from) && dv_is_empty(vm->error)) from = dv_dict_new(vm);
    dv_value method = dv_str_intern(vm, "update", 6), update = DV_EMPTY, result = DV_EMPTY;
    if (!dv_is_empty(from) && !dv_is_empty(method)) update = dv_get_attribute(vm, to, method);
    if (!dv_is_empty(update)) result = dv_call(vm, update, &from, 1, DV_EMPTY);
    bool done = !dv_is_empty(result);
    dv_release(vm, result);
    dv_release(vm, update);
    dv_release(vm, method);
    dv_release(vm, from);
    dv_release(vm, to);
    return done;
}

/* Does `each` with every name of an iterable. */
static bool for_names(dv_vm *vm, dv_value wrapper, dv_value wrapped, dv_value names,
                      bool (*each)(dv_vm *, dv_value, dv_value, dv_value)) {
    dv_value iterator = dv_iterate(vm, names);
    if (dv_is_empty(iterator)) return false;
    for (bool good = true; good;) {
        dv_value given = dv_step(vm, iterator);
        if (dv_is_empty(given)) break;
        dv_value name = DV_EMPTY;
        if (dv_is_str(given))
            name = dv_str_intern_value(vm, given);
        else
            dv_raise(vm, DV_E_TYPE_ERROR, "attribute name must be string, not '%T'", given);
        good = !dv_is_empty(name) && each(vm, wrapper, wrapped, name);
        dv_release(vm, name);
        dv_release(vm, given);
    }
    dv_release(vm, iterator);
    return dv_is_empty(vm->error);
}

/* With the arguments wrapper, wrapped, assigned, updated (the last two EMPTY: defaults). */
static dv_value update(dv_vm *vm, const dv_value *given, dv_value assigned, dv_value updated) {
    bool good;
    if (dv_is_empty(assigned) && dv_is_empty(updated)) {
        good = dv_functools_update(vm, given[0], given[1]);
    } else {
        good = for_names(vm, given[0], given[1], assigned, copy_attribute) &&
               for_names(vm, given[0], given[1], updated, update_named) &&
               set_wrapped(vm, given[0], given[1]);
    }
    return good ? dv_retain(given[0]) : DV_EMPTY;
}

static dv_value assigned_tuple(dv_vm *vm) {
    dv_value names[5];
    for (size_t i = 0; i < 5; i++) names[i] = dv_str_z(vm, assigned_names[i]);
    for (size_t i = 0; i < 5; i++) {
        if (!dv_is_empty(names[i])) continue;
        for (size_t j = 0; j < 5; j++) dv_release(vm, names[j]);
        return DV_EMPTY;
    }
    return dv_tuple_take(vm, names, 5);
}

static dv_value updated_tuple(dv_vm *vm) { return dv_tuple_new(vm, &vm->known.dict, 1); }

/* Fills in what was not given of assigned and updated, if one of them was; the results are owned.
 */
static bool complete_names(dv_vm *vm, dv_value *assigned, dv_value *updated) {
    dv_retain(*assigned);
    dv_retain(*updated);
    if (dv_is_empty(*assigned) && dv_is_empty(*updated)) return true;
    if (dv_is_empty(*assigned)) *assigned = assigned_tuple(vm);
    if (dv_is_empty(*updated)) *updated = updated_tuple(vm);
    if (!dv_is_empty(*assigned) && !dv_is_empty(*updated)) return true;
    dv_release(vm, *assigned);
    dv_release(vm, *updated);
    return false;
}

static dv_value functools_update_wrapper(dv_vm *vm, const dv_value *args, uint32_t count,
                                         dv_value keywords) {
    static const char *const names[] = {"wrapper", "wrapped", "assigned", "updated"};
    const dv_parameters parameters = {"update_wrapper", names, 4, 4, 2};
    dv_value given[4];
    if (!dv_arguments_bind(vm, &parameters, args, count, keywords, given) ||
        !complete_names(vm, &given[2], &given[3]))
        return DV_EMPTY;
    dv_value result = update(vm, given, given[2], given[3]);
    dv_release(vm, given[2]);
    dv_release(vm, given[3]);
    return result;
}

/* What wraps() returns is bound to the tuple (wrapped, assigned, updated) or (wrapped,). */
static dv_value wraps_apply(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_tuple *bound = dv_as_tuple(args[0]);
    const dv_value given[2] = {args[1], bound->items[0]};
    bool full = bound->count == 3;
    return update(vm, given, full ? bound->items[1] : DV_EMPTY, full ? bound->items[2] : DV_EMPTY);
}

static const dv_cfunction_def wraps_def = {
    .name = "update_wrapper", .entry = wraps_apply, .min = 2, .max = 2};

static dv_value functools_wraps(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    static const char *const names[] = {"wrapped", "assigned", "updated"};
    const dv_parameters parameters = {"wraps", names, 3, 3, 1};
    dv_value given[3];
    if (!dv_arguments_bind(vm, &parameters, args, count, keywords, given) ||
        !complete_names(vm, &given[1], &given[2]))
        return DV_EMPTY;
    dv_value bound = dv_tuple_new(vm, given, dv_is_empty(given[1]) ? 1 : 3);
    dv_release(vm, given[1]);
    dv_release(vm, given[2]);
    if (dv_is_empty(bound)) return DV_EMPTY;
    dv_value result = dv_cfunction_new(vm, &wraps_def, bound, DV_EMPTY);
    dv_release(vm, bound);
    return result;
}

/* The module -------------------------------------------------------------------------------------
 */

/* __getattr__ of the module: what is dl code, in the library module _functools_classes. */
static dv_value functools_getattr(dv_vm *vm, const dv_value *args, uint32_t count) {
    static const char *const names[] = {"cached_property",      "partialmethod",  "singledispatch",
                                        "singledispatchmethod", "total_ordering", NULL};
    (void)count;
    const char *const *name = names;
    while (*name && !(dv_is_str(args[0]) && dv_str_is(args[0], *name))) name++;
    if (*name) return dv_module_borrow(vm, "functools", "_functools_classes", args[0]);
    return dv_raise(vm, DV_E_ATTRIBUTE_ERROR, "module 'functools' has no attribute '%S'", args[0]);
}

static const char *const all_names[] = {"update_wrapper",
                                        "wraps",
                                        "WRAPPER_ASSIGNMENTS",
                                        "WRAPPER_UPDATES",
                                        "total_ordering",
                                        "cache",
                                        "cmp_to_key",
                                        "lru_cache",
                                        "reduce",
                                        "partial",
                                        "partialmethod",
                                        "singledispatch",
                                        "singledispatchmethod",
                                        "cached_property",
                                        NULL};

static const dv_cfunction_def c_functions[] = {
    {.name = "reduce", .entry = functools_reduce, .min = 2, .max = 3},
    {.name = "cmp_to_key", .keyword_entry = functools_cmp_to_key, .min = 0, .max = UINT32_MAX},
    {.name = NULL}};

static const dv_cfunction_def functions[] = {
    {.name = "__getattr__", .entry = functools_getattr, .min = 1, .max = 1},
    {.name = "update_wrapper",
     .keyword_entry = functools_update_wrapper,
     .min = 0,
     .max = UINT32_MAX},
    {.name = "wraps", .keyword_entry = functools_wraps, .min = 0, .max = UINT32_MAX},
    {.name = NULL}};

bool dv_functools_fill(dv_vm *vm, dv_module *module) {
    return dv_module_add_functions_of(vm, module, "_functools", c_functions) &&
           dv_module_add_functions(vm, module, functions) &&
           dv_module_add_functions(vm, module, dv_functools_cache_functions) &&
           dv_module_add(vm, module, "WRAPPER_ASSIGNMENTS", assigned_tuple(vm)) &&
           dv_module_add(vm, module, "WRAPPER_UPDATES", updated_tuple(vm)) &&
           dv_module_add(vm, module, "__all__", dv_names(vm, all_names)) &&
           dv_module_add_type(vm, module, &partial_type) && dv_module_know_type(vm, &key_type) &&
           dv_module_know_type(vm, &dv_cache_type) && dv_module_know_type(vm, &dv_cache_link_type);
}
