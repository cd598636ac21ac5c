/* operator_getter.c: operator.attrgetter, itemgetter and methodcaller.
 *
 * Invariants
 *  1. `given` is the tuple of all arguments, those of keywords last, whose names are in `keywords`.
 *  2. Of an attrgetter `paths` has for each argument its interned name, or the tuple of the names
 *     between its dots; of a methodcaller it is the interned name. */
#include "modules/data/operator_parts.h"

#include "core/upcall.h"
#include "types/callable/arguments.h"
#include "types/class/class.h"
#include "types/sequence/list.h"
#include "types/class/lookup.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

typedef struct getter {
    dv_object header;
    dv_value given, keywords, paths;
} getter;

static getter *as_getter(dv_value v) { return (getter *)dv_as_object(v); }

static void getter_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const getter *g = (const getter *)object;
    visit(vm, g->given, context);
    visit(vm, g->keywords, context);
    visit(vm, g->paths, context);
}

static void getter_release(dv_vm *vm, dv_object *object) {
    getter *g = (getter *)object;
    dv_release(vm, g->given);
    dv_release(vm, g->keywords);
    dv_release(vm, g->paths);
    dv_container_free(vm, g, sizeof *g);
}

static dv_value getter_new(dv_vm *vm, dv_type_id type, const dv_value *args, uint32_t count,
                           dv_value keywords) {
    getter *g = dv_container_new(vm, sizeof *g, type);
    if (!g) return DV_EMPTY;
    g->given = dv_tuple_new(vm, args, count);
    g->keywords = dv_retain(keywords);
    g->paths = DV_EMPTY;
    if (!dv_is_empty(g->given)) return dv_object_value(g);
    dv_release_object(vm, &g->header);
    return DV_EMPTY;
}

/* "name('a', k=2)" with the name of the type. */
static dv_value getter_repr(dv_vm *vm, dv_value self) {
    const getter *g = as_getter(self);
    const dv_tuple *given = dv_as_tuple(g->given);
    int64_t named = dv_is_empty(g->keywords) ? 0 : dv_as_tuple(g->keywords)->count;
    dv_builder b;
    dv_builder_init(&b, vm);
    dv_builder_z(&b, vm->types[dv_as_object(self)->shape]->name);
    dv_builder_z(&b, "(");
    for (int64_t i = 0; i < given->count; i++) {
        if (i > 0) dv_builder_z(&b, ", ");
        if (i >= given->count - named) {
            dv_builder_str(&b, dv_as_tuple(g->keywords)->items[i - (given->count - named)]);
            dv_builder_z(&b, "=");
        }
        if (dv_builder_repr(&b, given->items[i])) continue;
        dv_builder_discard(&b);
        return DV_EMPTY;
    }
    dv_builder_z(&b, ")");
    return dv_builder_finish(&b);
}

/* methodcaller with keyword arguments: functools.partial(methodcaller, name, **keywords). */
static dv_value partial_of(dv_vm *vm, dv_value class_, const getter *g) {
    const dv_tuple *given = dv_as_tuple(g->given), *names = dv_as_tuple(g->keywords);
    dv_value module = dv_str_intern(vm, "functools", 9), name = dv_str_intern(vm, "partial", 7);
    dv_value functools =
        dv_is_empty(module) || dv_is_empty(name) ? DV_EMPTY : dv_import(vm, module);
    dv_value partial = dv_is_empty(functools) ? DV_EMPTY : dv_get_attribute(vm, functools, name);
    dv_value result = DV_EMPTY;
    size_t size = ((size_t)names->count + 2) * sizeof(dv_value);
    dv_value *args = dv_is_empty(partial) ? NULL : dv_heap_alloc(&vm->heap, size);
    if (args) {
        args[0] = class_;
        args[1] = given->items[0];
        memcpy(args + 2, given->items + given->count - names->count, size - 2 * sizeof *args);
        result = dv_call(vm, partial, args, (uint32_t)names->count + 2, g->keywords);
        dv_heap_free(&vm->heap, args, size);
    } else if (!dv_is_empty(partial)) {
        dv_raise_memory(vm);
    }
    dv_release(vm, module);
    dv_release(vm, name);
    dv_release(vm, functools);
    dv_release(vm, partial);
    return result;
}

/* __reduce__ of all three, for copy: what makes such a getter, and the arguments. */
static dv_value getter_reduce(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const getter *g = as_getter(args[0]);
    const dv_tuple *given = dv_as_tuple(g->given);
    dv_value class_ = dv_object_value(dv_class_of(vm, args[0]));
    dv_value parts[2];
    if (dv_is_empty(g->keywords)) {
        parts[0] = dv_retain(class_);
        parts[1] = dv_retain(g->given);
    } else {
        int64_t named = dv_as_tuple(g->keywords)->count;
        parts[0] = partial_of(vm, class_, g);
        if (dv_is_empty(parts[0])) return DV_EMPTY;
        parts[1] = dv_tuple_new(vm, given->items + 1, given->count - named - 1);
        if (dv_is_empty(parts[1])) {
            dv_release(vm, parts[0]);
            return DV_EMPTY;
        }
    }
    return dv_tuple_take(vm, parts, 2);
}

static const dv_cfunction_def getter_methods[] = {
    {.name = "__reduce__", .entry = getter_reduce, .min = 1, .max = 1}, {.name = NULL}};

/* What all three take when they are called: one object. */
static bool one_object(dv_vm *vm, const char *name, uint32_t count, dv_value keywords) {
    return dv_arguments_no_keywords(vm, name, keywords) &&
           dv_arguments_count(vm, name, count, 1, 1);
}

/* A result for each argument of the getter: the one alone, or a tuple. */
static dv_value collect(dv_vm *vm, const getter *g, dv_value object,
                        dv_value (*get)(dv_vm *vm, const getter *g, int64_t i, dv_value object)) {
    int64_t count = dv_as_tuple(g->given)->count;
    if (count == 1) return get(vm, g, 0, object);
    dv_tuple *results = dv_tuple_alloc(vm, count);
    if (!results) return DV_EMPTY;
    for (int64_t i = 0; i < count; i++) results->items[i] = DV_NONE;
    for (int64_t i = 0; i < count; i++) {
        dv_value result = get(vm, g, i, object);
        if (dv_is_empty(result)) {
            dv_release_object(vm, &results->header);
            return DV_EMPTY;
        }
        results->items[i] = result;
    }
    return dv_object_value(results);
}

/* itemgetter -------------------------------------------------------------------------------------
 */

static dv_value itemgetter_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                     dv_value keywords) {
    if (!dv_arguments_no_keywords(vm, "itemgetter", keywords) ||
        !dv_arguments_count(vm, "itemgetter", count ? 1 : 0, 1, 1))
        return DV_EMPTY;
    return getter_new(vm, DV_T_ITEMGETTER, args, count, DV_EMPTY);
}

static dv_value get_item(dv_vm *vm, const getter *g, int64_t i, dv_value object) {
    dv_value key = dv_as_tuple(g->given)->items[i];
    if (dv_is_int(key) && (dv_is_shape(object, DV_T_TUPLE) || dv_is_shape(object, DV_T_LIST))) {
        int64_t count, index = dv_as_int(key);
        const dv_value *items = dv_items_of(object, &count);
        if (index >= 0 && index < count) return dv_retain(items[index]);
    }
    return dv_get_item(vm, object, key);
}

static dv_value itemgetter_call(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    if (!one_object(vm, "itemgetter", count, keywords)) return DV_EMPTY;
    return collect(vm, as_getter(self), args[0], get_item);
}

const dv_type dv_itemgetter_type = {.name = "operator.itemgetter",
                                    .id = DV_T_ITEMGETTER,
                                    .traverse = getter_traverse,
                                    .release = getter_release,
                                    .repr = getter_repr,
                                    .call = itemgetter_call,
                                    .construct = itemgetter_construct,
                                    .methods = getter_methods};

/* attrgetter -------------------------------------------------------------------------------------
 */

/* The interned names between the dots of a str, in a tuple. */
static dv_value split_path(dv_vm *vm, dv_value name) {
    dv_value names = dv_list_new(vm, NULL, 0);
    if (dv_is_empty(names)) return DV_EMPTY;
    const dv_str *s = dv_as_str(name);
    for (int64_t start = 0, end; start <= s->length; start = end + 1) {
        for (end = start; end < s->length && dv_str_at(s, end) != '.';) end++;
        dv_value part = dv_str_slice(vm, name, start, end);
        dv_value interned = dv_is_empty(part) ? DV_EMPTY : dv_str_intern_value(vm, part);
        dv_release(vm, part);
        if (dv_is_empty(interned) || !dv_list_push(vm, names, interned)) {
            dv_release(vm, names);
            return DV_EMPTY;
        }
    }
    dv_value path = dv_tuple_from(vm, names);
    dv_release(vm, names);
    return path;
}

static dv_value attribute_path(dv_vm *vm, dv_value name) {
    if (!dv_is_str(name)) return dv_raise(vm, DV_E_TYPE_ERROR, "attribute name must be a string");
    const dv_str *s = dv_as_str(name);
    for (int64_t i = 0; i < s->length; i++)
        if (dv_str_at(s, i) == '.') return split_path(vm, name);
    return dv_str_intern_value(vm, name);
}

static bool attrgetter_paths(dv_vm *vm, getter *g) {
    const dv_tuple *given = dv_as_tuple(g->given);
    dv_tuple *paths = dv_tuple_alloc(vm, given->count);
    if (!paths) return false;
    for (int64_t i = 0; i < given->count; i++) paths->items[i] = DV_NONE;
    g->paths = dv_object_value(paths);
    for (int64_t i = 0; i < given->count; i++) {
        dv_value path = attribute_path(vm, given->items[i]);
        if (dv_is_empty(path)) return false;
        paths->items[i] = path;
    }
    return true;
}

static dv_value attrgetter_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                     dv_value keywords) {
    if (!dv_arguments_no_keywords(vm, "attrgetter", keywords) ||
        !dv_arguments_count(vm, "attrgetter", count ? 1 : 0, 1, 1))
        return DV_EMPTY;
    dv_value self = getter_new(vm, DV_T_ATTRGETTER, args, count, DV_EMPTY);
    if (dv_is_empty(self) || attrgetter_paths(vm, as_getter(self))) return self;
    dv_release(vm, self);
    return DV_EMPTY;
}

static dv_value get_attribute(dv_vm *vm, const getter *g, int64_t i, dv_value object) {
    dv_value path = dv_as_tuple(g->paths)->items[i];
    if (dv_is_str(path)) return dv_get_attribute(vm, object, path);
    const dv_tuple *names = dv_as_tuple(path);
    dv_retain(object);
    for (int64_t j = 0; j < names->count && !dv_is_empty(object); j++) {
        dv_value inner = dv_get_attribute(vm, object, names->items[j]);
        dv_release(vm, object);
        object = inner;
    }
    return object;
}

static dv_value attrgetter_call(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    if (!one_object(vm, "attrgetter", count, keywords)) return DV_EMPTY;
    return collect(vm, as_getter(self), args[0], get_attribute);
}

const dv_type dv_attrgetter_type = {.name = "operator.attrgetter",
                                    .id = DV_T_ATTRGETTER,
                                    .traverse = getter_traverse,
                                    .release = getter_release,
                                    .repr = getter_repr,
                                    .call = attrgetter_call,
                                    .construct = attrgetter_construct,
                                    .methods = getter_methods};

/* methodcaller -----------------------------------------------------------------------------------
 */

static dv_value methodcaller_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                       dv_value keywords) {
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    if (count == named)
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "methodcaller needs at least one argument, the method name");
    if (!dv_is_str(args[0])) return dv_raise(vm, DV_E_TYPE_ERROR, "method name must be a string");
    dv_value self = getter_new(vm, DV_T_METHODCALLER, args, count, keywords);
    if (dv_is_empty(self)) return DV_EMPTY;
    as_getter(self)->paths = dv_str_intern_value(vm, args[0]);
    if (!dv_is_empty(as_getter(self)->paths)) return self;
    dv_release(vm, self);
    return DV_EMPTY;
}

static dv_value methodcaller_call(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                                  dv_value keywords) {
    if (!one_object(vm, "methodcaller", count, keywords)) return DV_EMPTY;
    const getter *g = as_getter(self);
    const dv_tuple *given = dv_as_tuple(g->given);
    bool is_method;
    dv_value method = dv_load_method(vm, args[0], g->paths, &is_method);
    if (dv_is_empty(method)) return DV_EMPTY;
    /* The name's place in front of the arguments is that of the object. */
    dv_value few[8], *all = few;
    size_t size = (size_t)given->count * sizeof *all;
    if (given->count > 8 && !(all = dv_heap_alloc(&vm->heap, size))) {
        dv_release(vm, method);
        return dv_raise_memory(vm);
    }
    memcpy(all, given->items, size);
    all[0] = args[0];
    uint32_t skipped = is_method ? 0 : 1;
    dv_value result =
        dv_call(vm, method, all + skipped, (uint32_t)given->count - skipped, g->keywords);
    if (all != few) dv_heap_free(&vm->heap, all, size);
    dv_release(vm, method);
    return result;
}

const dv_type dv_methodcaller_type = {.name = "operator.methodcaller",
                                      .id = DV_T_METHODCALLER,
                                      .traverse = getter_traverse,
                                      .release = getter_release,
                                      .repr = getter_repr,
                                      .call = methodcaller_call,
                                      .construct = methodcaller_construct,
                                      .methods = getter_methods};
