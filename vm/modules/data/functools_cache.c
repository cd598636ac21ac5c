/* functools_cache.c: functools.lru_cache and cache.
 *
 * Invariants
 *  1. A bounded cache keeps, for each key of its dict, a link; the links are in a ring from the
 *     oldest to the newest.  The dict owns them; the ring is without references.
 *  2. A link that is freed leaves the ring first, so that the ring has live links only, whatever dl
 *     code does while keys are compared.  Links outside the ring have prev NULL. */
#include "modules/data/functools_parts.h"

#include "core/upcall.h"
#include "modules/modules.h"
#include "types/callable/arguments.h"
#include "types/class/class.h"
#include "types/mapping/dict.h"
#include "types/callable/function.h"
#include "types/number/int.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/sequence/tuple.h"

typedef struct link {
    dv_object header;
    struct link *prev, *next;
    dv_value key, result;
} link;

typedef struct cache {
    dv_object header;
    dv_value function, attributes; /* attributes: dict */
    dv_value entries;              /* dict: key -> link, or result if unbounded */
    dv_value mark;                 /* an object that stands between arguments and keywords */
    link ring;                     /* next: oldest; prev: newest */
    int64_t maximum;               /* -1: unbounded */
    int64_t hits, misses;
    bool typed;
} cache;

static cache *as_cache(dv_value v) { return (cache *)dv_as_object(v); }
static link *as_link(dv_value v) { return (link *)dv_as_object(v); }

/* The ring ---------------------------------------------------------------------------------------
 */

static void ring_remove(link *l) {
    l->prev->next = l->next;
    l->next->prev = l->prev;
    l->prev = l->next = NULL;
}

static void ring_append(cache *c, link *l) {
    l->prev = c->ring.prev;
    l->next = &c->ring;
    l->prev->next = l;
    c->ring.prev = l;
}

/* The ring holds no references. */
static void link_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const link *l = (const link *)object;
    visit(vm, l->key, context);
    visit(vm, l->result, context);
}

static void link_release(dv_vm *vm, dv_object *object) {
    link *l = (link *)object;
    if (l->prev) ring_remove(l);
    dv_release(vm, l->key);
    dv_release(vm, l->result);
    dv_container_free(vm, l, sizeof *l);
}

const dv_type dv_cache_link_type = {.name = "functools._lru_list_elem",
                                    .id = DV_T_CACHE_LINK,
                                    .traverse = link_traverse,
                                    .release = link_release};

static dv_value link_new(dv_vm *vm, dv_value key, dv_value result) {
    link *l = dv_container_new(vm, sizeof *l, DV_T_CACHE_LINK);
    if (!l) return DV_EMPTY;
    l->prev = l->next = NULL;
    l->key = dv_retain(key);
    l->result = dv_retain(result);
    return dv_object_value(l);
}

static void cache_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    const cache *c = (const cache *)object;
    visit(vm, c->entries, context);
    visit(vm, c->function, context);
    visit(vm, c->attributes, context);
    visit(vm, c->mark, context);
}

static void cache_release(dv_vm *vm, dv_object *object) {
    cache *c = (cache *)object;
    /* Links may outlive the cache in the queue of what is released. */
    while (c->ring.next != &c->ring) ring_remove(c->ring.next);
    dv_release(vm, c->entries);
    dv_release(vm, c->function);
    dv_release(vm, c->attributes);
    dv_release(vm, c->mark);
    dv_container_free(vm, c, sizeof *c);
}

/* Keys -------------------------------------------------------------------------------------------
 */

/* The key of a call: a lone int or str itself, else a tuple of the arguments, then the mark and the
 * keywords with their values, then their types if the cache is `typed`. */
static dv_value make_key(dv_vm *vm, const cache *c, const dv_value *args, uint32_t count,
                         dv_value keywords) {
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    if (!c->typed && count == 1 && named == 0 && (dv_is_any_int(args[0]) || dv_is_str(args[0])))
        return dv_retain(args[0]);
    uint32_t given = count - named;
    int64_t size = given + (named ? 1 + 2 * (int64_t)named : 0) + (c->typed ? count : 0), n = 0;
    dv_tuple *key = dv_tuple_alloc(vm, size);
    if (!key) return DV_EMPTY;
    for (uint32_t i = 0; i < given; i++) key->items[n++] = dv_retain(args[i]);
    if (named) key->items[n++] = dv_retain(c->mark);
    for (uint32_t i = 0; i < named; i++) {
        key->items[n++] = dv_retain(dv_as_tuple(keywords)->items[i]);
        key->items[n++] = dv_retain(args[given + i]);
    }
    for (uint32_t i = 0; c->typed && i < count; i++)
        key->items[n++] = dv_retain(dv_object_value(dv_class_of(vm, args[i])));
    return dv_object_value(key);
}

/* Calls ------------------------------------------------------------------------------------------
 */

static bool forget_oldest(dv_vm *vm, cache *c) {
    link *oldest = c->ring.next;
    if (oldest == &c->ring) return true;
    dv_retain(dv_object_value(oldest));
    ring_remove(oldest);
    int done = dv_dict_delete(vm, c->entries, oldest->key);
    dv_release_object(vm, &oldest->header);
    return done >= 0;
}

/* Puts a result into a bounded cache. */
static bool remember(dv_vm *vm, cache *c, dv_value key, dv_value result) {
    if (!dv_is_empty(dv_dict_get(vm, c->entries, key))) return true; /* the call has done so */
    if (!dv_is_empty(vm->error)) return false;
    if (dv_as_dict(c->entries)->count >= c->maximum && !forget_oldest(vm, c)) return false;
    dv_value entry = link_new(vm, key, result);
    if (dv_is_empty(entry)) return false;
    bool done = dv_dict_set(vm, c->entries, key, entry);
    /* Comparing keys may have cleared the cache. */
    if (done && dv_as_object(entry)->references > 1) ring_append(c, as_link(entry));
    dv_release(vm, entry);
    return done;
}

static dv_value bounded_call(dv_vm *vm, cache *c, dv_value key, const dv_value *args,
                             uint32_t count, dv_value keywords) {
    dv_value entry = dv_dict_get(vm, c->entries, key);
    if (!dv_is_empty(entry)) {
        link *l = as_link(entry);
        if (l->prev) {
            ring_remove(l);
            ring_append(c, l);
        }
        c->hits++;
        return dv_retain(l->result);
    }
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    c->misses++;
    dv_value result = dv_call(vm, c->function, args, count, keywords);
    if (dv_is_empty(result) || remember(vm, c, key, result)) return result;
    dv_release(vm, result);
    return DV_EMPTY;
}

static dv_value unbounded_call(dv_vm *vm, cache *c, dv_value key, const dv_value *args,
                               uint32_t count, dv_value keywords) {
    dv_value known = dv_dict_get(vm, c->entries, key);
    if (!dv_is_empty(known)) {
        c->hits++;
        return dv_retain(known);
    }
    if (!dv_is_empty(vm->error)) return DV_EMPTY;
    c->misses++;
    dv_value result = dv_call(vm, c->function, args, count, keywords);
    if (dv_is_empty(result) || dv_dict_set(vm, c->entries, key, result)) return result;
    dv_release(vm, result);
    return DV_EMPTY;
}

static dv_value cache_call(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                           dv_value keywords) {
    cache *c = as_cache(self);
    if (c->maximum == 0) {
        c->misses++;
        return dv_call(vm, c->function, args, count, keywords);
    }
    dv_value key = make_key(vm, c, args, count, keywords);
    if (dv_is_empty(key)) return DV_EMPTY;
    dv_retain(self);
    dv_value result = c->maximum < 0 ? unbounded_call(vm, c, key, args, count, keywords)
                                     : bounded_call(vm, c, key, args, count, keywords);
    dv_release(vm, self);
    dv_release(vm, key);
    return result;
}

/* The cache as an object -------------------------------------------------------------------------
 */

static dv_value maximum_value(dv_vm *vm, const cache *c) {
    return c->maximum < 0 ? DV_NONE : dv_int_from_int64(vm, c->maximum);
}

static dv_value cache_clear(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    cache *c = as_cache(args[0]);
    c->hits = c->misses = 0;
    dv_dict_clear(vm, c->entries);
    return DV_NONE;
}

static dv_value cache_parameters(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const cache *c = as_cache(args[0]);
    dv_value dict = dv_dict_new(vm), maximum = maximum_value(vm, c);
    dv_value names[2] = {dv_str_z(vm, "maxsize"), dv_str_z(vm, "typed")};
    bool good = !dv_is_empty(dict) && !dv_is_empty(maximum) && !dv_is_empty(names[0]) &&
                !dv_is_empty(names[1]) && dv_dict_set(vm, dict, names[0], maximum) &&
                dv_dict_set(vm, dict, names[1], dv_bool(c->typed));
    dv_release(vm, maximum);
    dv_release(vm, names[0]);
    dv_release(vm, names[1]);
    if (good) return dict;
    dv_release(vm, dict);
    return DV_EMPTY;
}

static dv_value cache_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    if (dv_same(name, vm->known.dict)) return dv_retain(as_cache(self)->attributes);
    return dv_retain(dv_dict_get(vm, as_cache(self)->attributes, name));
}

static bool cache_set_attribute(dv_vm *vm, dv_value self, dv_value name, dv_value value) {
    dv_value attributes = as_cache(self)->attributes;
    if (!dv_is_empty(value)) return dv_dict_set(vm, attributes, name, value);
    int done = dv_dict_delete(vm, attributes, name);
    if (done == 0)
        dv_raise(vm, DV_E_ATTRIBUTE_ERROR,
                 "'functools._lru_cache_wrapper' object has no attribute '%S'", name);
    return done == 1;
}

/* cache_info -------------------------------------------------------------------------------------
 */

/* A named tuple, whose class is dl code (lang/lib/_functools_cache.dl). */
static dv_value cache_info(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const cache *c = as_cache(args[0]);
    dv_value name = dv_str_intern(vm, "_CacheInfo", 10), class_ = DV_EMPTY, info = DV_EMPTY;
    if (!dv_is_empty(name)) class_ = dv_module_borrow(vm, "functools", "_functools_cache", name);
    dv_value fields[] = {dv_int(c->hits), dv_int(c->misses), DV_EMPTY,
                         dv_int(dv_as_dict(c->entries)->count)};
    if (!dv_is_empty(class_)) fields[2] = maximum_value(vm, c);
    if (!dv_is_empty(fields[2])) info = dv_call(vm, class_, fields, 4, DV_EMPTY);
    dv_release(vm, fields[2]);
    dv_release(vm, class_);
    dv_release(vm, name);
    return info;
}

static const dv_cfunction_def cache_methods[] = {
    {.name = "cache_info", .entry = cache_info, .min = 1, .max = 1},
    {.name = "cache_clear", .entry = cache_clear, .min = 1, .max = 1},
    {.name = "cache_parameters", .entry = cache_parameters, .min = 1, .max = 1},
    {.name = NULL}};

const dv_type dv_cache_type = {.name = "functools._lru_cache_wrapper",
                               .id = DV_T_CACHE,
                               .weakly = true,
                               .traverse = cache_traverse,
                               .release = cache_release,
                               .get_attribute = cache_get_attribute,
                               .set_attribute = cache_set_attribute,
                               .call = cache_call,
                               .methods = cache_methods};

/* Making caches ----------------------------------------------------------------------------------
 */

static dv_value cache_new(dv_vm *vm, dv_value function, int64_t maximum, bool typed) {
    if (!dv_is_callable(vm, function))
        return dv_raise(vm, DV_E_TYPE_ERROR, "the first argument must be callable");
    cache *c = dv_container_new(vm, sizeof *c, DV_T_CACHE);
    if (!c) return DV_EMPTY;
    c->ring.prev = c->ring.next = &c->ring;
    c->function = dv_retain(function);
    c->maximum = maximum;
    c->hits = c->misses = 0;
    c->typed = typed;
    c->entries = dv_dict_new(vm);
    c->attributes = dv_is_empty(c->entries) ? DV_EMPTY : dv_dict_new(vm);
    c->mark =
        dv_is_empty(c->attributes) ? DV_EMPTY : dv_object_type.construct(vm, NULL, 0, DV_EMPTY);
    dv_value self = dv_object_value(c);
    if (!dv_is_empty(c->mark) && dv_functools_update(vm, self, function)) return self;
    dv_release(vm, self);
    return DV_EMPTY;
}

/* The decorator that lru_cache(n, typed) returns is bound to the tuple (n or -1, typed). */
static dv_value decorate(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_value *bound = dv_as_tuple(args[0])->items;
    return cache_new(vm, args[1], dv_as_int(bound[0]), dv_same(bound[1], DV_TRUE));
}

static const dv_cfunction_def decorator = {
    .name = "decorating_function", .entry = decorate, .min = 2, .max = 2};

static dv_value decorator_new(dv_vm *vm, int64_t maximum, bool typed) {
    dv_value bound = dv_tuple_new(vm, (dv_value[]){dv_int(maximum), dv_bool(typed)}, 2);
    if (dv_is_empty(bound)) return DV_EMPTY;
    dv_value result = dv_cfunction_new(vm, &decorator, bound, DV_EMPTY);
    dv_release(vm, bound);
    return result;
}

#define MAXIMUM ((int64_t)1 << 46) /* more than a dict can have */

static dv_value functools_lru_cache(dv_vm *vm, const dv_value *args, uint32_t count,
                                    dv_value keywords) {
    static const char *const names[] = {"maxsize", "typed"};
    const dv_parameters parameters = {"lru_cache", names, 2, 2, 0};
    dv_value given[2];
    if (!dv_arguments_bind(vm, &parameters, args, count, keywords, given)) return DV_EMPTY;
    int typed = dv_is_empty(given[1]) ? 0 : dv_truth(vm, given[1]);
    if (typed < 0) return DV_EMPTY;
    if (dv_is_empty(given[0])) return decorator_new(vm, 128, typed);
    if (dv_is_integral(given[0])) {
        int64_t maximum;
        if (dv_int_sign(given[0]) < 0)
            maximum = 0;
        else if (!dv_optional_size_argument(vm, given[0], &maximum))
            return DV_EMPTY;
        return decorator_new(vm, maximum < MAXIMUM ? maximum : MAXIMUM, typed);
    }
    if (dv_is_none(given[0])) return decorator_new(vm, -1, typed);
    if (dv_is_callable(vm, given[0]) && (dv_is_empty(given[1]) || dv_is_bool(given[1])))
        return cache_new(vm, given[0], 128, typed);
    return dv_raise(vm, DV_E_TYPE_ERROR,
                    "Expected first argument to be an integer, a callable, or None");
}

static dv_value functools_cache(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    static const char *const names[] = {"user_function"};
    const dv_parameters parameters = {"cache", names, 1, 1, 1};
    dv_value function;
    if (!dv_arguments_bind(vm, &parameters, args, count, keywords, &function)) return DV_EMPTY;
    return cache_new(vm, function, -1, false);
}

const dv_cfunction_def dv_functools_cache_functions[] = {
    {.name = "lru_cache", .keyword_entry = functools_lru_cache, .min = 0, .max = UINT32_MAX},
    {.name = "cache", .keyword_entry = functools_cache, .min = 0, .max = UINT32_MAX},
    {.name = NULL}};
