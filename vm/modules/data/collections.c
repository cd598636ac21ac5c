/* collections.c: the module _collections, the part of collections that is C: defaultdict, and the
 * constructor of named tuples, and what counts for Counter.  deque is in collections_deque.c, what
 * of OrderedDict is C in collections_ordered.c, the rest in lang/lib.
 *
 * Invariants
 *  1. defaultdict is made as a program would make it: a class that derives from dict, whose methods
 *     are C functions.  So all that knows dicts knows it, and only a missing key costs more. */
#include "modules/data/collections_parts.h"

#include "core/upcall.h"
#include "modules/modules.h"
#include "types/callable/arguments.h"
#include "types/class/class.h"
#include "types/class/class_build.h"
#include "types/mapping/dict.h"
#include "types/mapping/key.h"
#include "types/callable/function.h"
#include "types/number/int.h"
#include "types/sequence/iterator.h"
#include "types/sequence/sequence.h"
#include "types/text/str.h"
#include "types/sequence/tuple_getter.h"

/* defaultdict ------------------------------------------------------------------------------------
 */

static dv_value factory_name(dv_vm *vm) { return dv_retain(vm->known.default_factory); }

/* The attribute default_factory: None where there is none. */
static dv_value factory_of(dv_vm *vm, dv_value self) {
    dv_value name = factory_name(vm);
    if (dv_is_empty(name)) return DV_EMPTY;
    dv_value factory = dv_find_attribute(vm, self, name);
    dv_release(vm, name);
    return dv_is_empty(factory) && dv_is_empty(vm->error) ? DV_NONE : factory;
}

static bool set_factory(dv_vm *vm, dv_value self, dv_value factory) {
    dv_value name = factory_name(vm);
    if (dv_is_empty(name)) return false;
    bool done = dv_set_attribute(vm, self, name, factory);
    dv_release(vm, name);
    return done;
}

static dv_value defaultdict_init(dv_vm *vm, const dv_value *args, uint32_t count,
                                 dv_value keywords) {
    uint32_t named = dv_is_empty(keywords) ? 0 : (uint32_t)dv_as_tuple(keywords)->count;
    bool given = count - named > 1;
    dv_value factory = given ? args[1] : DV_NONE;
    if (!dv_is_none(factory) && !dv_is_callable(vm, factory))
        return dv_raise(vm, DV_E_TYPE_ERROR, "first argument must be callable or None");
    if (!set_factory(vm, args[0], factory)) return DV_EMPTY;
    uint32_t skipped = given ? 2 : 1;
    return dv_dict_type.initialise(vm, args[0], args + skipped, count - skipped, keywords)
               ? DV_NONE
               : DV_EMPTY;
}

static dv_value defaultdict_missing(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value factory = factory_of(vm, args[0]);
    if (dv_is_empty(factory)) return DV_EMPTY;
    if (dv_is_none(factory)) return dv_raise_value(vm, DV_E_KEY_ERROR, args[1]);
    dv_value value = dv_call(vm, factory, NULL, 0, DV_EMPTY);
    dv_release(vm, factory);
    if (dv_is_empty(value) || dv_set_item(vm, args[0], args[1], value)) return value;
    dv_release(vm, value);
    return DV_EMPTY;
}

static dv_value repr_with(dv_vm *vm, dv_value self, dv_value factory) {
    dv_value items = dv_dict_type.repr(vm, self);
    if (dv_is_empty(items)) return DV_EMPTY;
    struct dv_repr_guard guard;
    dv_value text = DV_EMPTY, name = dv_class_of(vm, self)->name;
    /* A factory that is a method of the dict would ask for this again. */
    if (!dv_repr_enter(vm, &guard, factory)) {
        text = dv_str_printf(vm, "%S(..., %S)", name, items);
    } else {
        text = dv_str_printf(vm, "%S(%V, %S)", name, factory, items);
        dv_repr_leave(vm);
    }
    dv_release(vm, items);
    return text;
}

static dv_value defaultdict_repr(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value factory = factory_of(vm, args[0]);
    if (dv_is_empty(factory)) return DV_EMPTY;
    dv_value text = repr_with(vm, args[0], factory);
    dv_release(vm, factory);
    return text;
}

/* type(like)(like.default_factory, items) */
static dv_value defaultdict_like(dv_vm *vm, dv_value like, dv_value items) {
    dv_value factory = factory_of(vm, like);
    if (dv_is_empty(factory)) return DV_EMPTY;
    dv_value result = dv_call(vm, dv_object_value(dv_class_of(vm, like)),
                              (dv_value[]){factory, items}, 2, DV_EMPTY);
    dv_release(vm, factory);
    return result;
}

static dv_value defaultdict_copy(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return defaultdict_like(vm, args[0], args[0]);
}

/* left | right, with the factory of `like` */
static dv_value defaultdict_union(dv_vm *vm, dv_value like, dv_value left, dv_value right) {
    if (!dv_is_dict(left) || !dv_is_dict(right)) return DV_NOTIMPLEMENTED;
    dv_value result = defaultdict_like(vm, like, left);
    if (dv_is_empty(result)) return DV_EMPTY;
    /* The class of a program may give anything. */
    if (!dv_is_dict(result))
        dv_raise(vm, DV_E_SYSTEM_ERROR, "bad argument to internal function");
    else if (dv_dict_update(vm, result, right))
        return result;
    dv_release(vm, result);
    return DV_EMPTY;
}

static dv_value defaultdict_or(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return defaultdict_union(vm, args[0], args[0], args[1]);
}

static dv_value defaultdict_ror(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return defaultdict_union(vm, args[0], args[1], args[0]);
}

static const dv_cfunction_def defaultdict_methods[] = {
    {.name = "__init__", .keyword_entry = defaultdict_init, .min = 1, .max = UINT32_MAX},
    {.name = "__missing__", .entry = defaultdict_missing, .min = 2, .max = 2},
    {.name = "__repr__", .entry = defaultdict_repr, .min = 1, .max = 1},
    {.name = "copy", .entry = defaultdict_copy, .min = 1, .max = 1},
    {.name = "__copy__", .entry = defaultdict_copy, .min = 1, .max = 1},
    {.name = "__or__", .entry = defaultdict_or, .min = 2, .max = 2},
    {.name = "__ror__", .entry = defaultdict_ror, .min = 2, .max = 2},
    {.name = NULL}};

/* Named tuples -----------------------------------------------------------------------------------
 */

/* Sorts keywords and defaults in, with the messages of a Python function `T.__new__`.  The fields'
 * values (borrowed) go to out[1 ..]. */
static bool bind_fields(dv_vm *vm, dv_value spec, const dv_value *args, uint32_t count,
                        dv_value keywords, dv_value *out) {
    const dv_value *parts = dv_as_tuple(spec)->items; /* "T.__new__", fields, defaults or None */
    const dv_tuple *fields = dv_as_tuple(parts[1]);
    uint32_t total = (uint32_t)fields->count + 1, texts = 0, known = 0;
    if (!dv_is_none(parts[2])) known = (uint32_t)dv_as_tuple(parts[2])->count;
    size_t size = (total + 1) * sizeof(char *), length;
    char **names = dv_heap_alloc(&vm->heap, size);
    if (!names) {
        dv_raise_memory(vm);
        return false;
    }
    for (; texts <= total; texts++) {
        dv_value text = texts == 0 ? parts[0] : texts == 1 ? parts[3] : fields->items[texts - 2];
        if (!(names[texts] = dv_str_utf8(vm, text, &length))) break;
    }
    const dv_parameters parameters = {names[0], (const char *const *)names + 1, total, total,
                                      known < total ? total - known : 0};
    bool good = texts > total && dv_arguments_bind(vm, &parameters, args, count, keywords, out);
    while (texts-- > 0) dv_heap_free(&vm->heap, names[texts], strlen(names[texts]) + 1);
    dv_heap_free(&vm->heap, names, size);
    for (uint32_t i = 0; good && i < total; i++)
        if (dv_is_empty(out[i])) out[i] = dv_as_tuple(parts[2])->items[known - (total - i)];
    return good;
}

static void refuse_class(dv_vm *vm, dv_value name) {
    dv_raise(vm, DV_E_TYPE_ERROR, "tuple.__new__(%S): %S is not a subtype of tuple", name, name);
}

/* T.__new__(class_, ...); args[0] is what it is bound to, args[1] the class. */
static dv_value named_tuple_new(dv_vm *vm, const dv_value *args, uint32_t count,
                                dv_value keywords) {
    int64_t fields = dv_as_tuple(dv_as_tuple(args[0])->items[1])->count;
    const dv_value *given = args + 1;
    dv_value few[9], *bound = few;
    size_t size = ((size_t)fields + 1) * sizeof *bound;
    bool good = true, plain = count == fields + 2 && dv_is_empty(keywords);
    if (!plain) {
        if (fields > 8 && !(bound = dv_heap_alloc(&vm->heap, size))) return dv_raise_memory(vm);
        good = bind_fields(vm, args[0], args + 1, count - 1, keywords, bound);
        given = bound;
    }
    dv_value exact = DV_EMPTY, self = DV_EMPTY;
    if (good && !dv_is_class(given[0]))
        dv_raise(vm, DV_E_TYPE_ERROR, "tuple.__new__(X): X is not a type object (%T)", given[0]);
    else if (good && dv_as_class(given[0])->type != DV_T_TUPLE)
        refuse_class(vm, dv_as_class(given[0])->name);
    else if (good)
        exact = dv_tuple_new(vm, given + 1, fields);
    if (!dv_is_empty(exact)) self = dv_tuple_type.adopt(vm, dv_as_class(given[0]), exact);
    dv_release(vm, exact);
    if (bound != few) dv_heap_free(&vm->heap, bound, size);
    return self;
}

static const dv_cfunction_def named_tuple_def = {.name = "__new__",
                                                 .keyword_entry = named_tuple_new,
                                                 .min = 1,
                                                 .max = UINT32_MAX,
                                                 .flags = DV_CFUNCTION_FIELDS};

/* _tuple_maker(name, fields, defaults or None): the function __new__ of a named tuple. */
static dv_value collections_tuple_maker(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    if (!dv_is_str(args[0]) || !dv_is_tuple(args[1]) ||
        !(dv_is_none(args[2]) || dv_is_tuple(args[2])))
        return dv_raise(vm, DV_E_TYPE_ERROR, "_tuple_maker() expected a name and two tuples");
    dv_value name = dv_str_printf(vm, "%S.__new__", args[0]), self = dv_str_z(vm, "_cls");
    dv_value spec = DV_EMPTY, result = DV_EMPTY;
    if (!dv_is_empty(name) && !dv_is_empty(self))
        spec = dv_tuple_new(vm, (dv_value[]){name, args[1], args[2], self}, 4);
    if (!dv_is_empty(spec)) result = dv_cfunction_new(vm, &named_tuple_def, spec, DV_EMPTY);
    dv_release(vm, spec);
    dv_release(vm, name);
    dv_release(vm, self);
    return result;
}

/* _tuple_getter(index, doc): the attribute of a named tuple's class for a field. */
static dv_value collections_tuple_getter(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    int64_t index;
    if (!dv_is_integral(args[0]) || !dv_int_to_int64(args[0], &index) || index < 0)
        return dv_raise(vm, DV_E_TYPE_ERROR, "_tuple_getter() expected an index");
    return dv_tuple_getter_new(vm, index, args[1]);
}

/* Counting ---------------------------------------------------------------------------------------
 */

/* The value of an item that is found without a call; NULL: that must be asked. */
static dv_value *plain_count(const dv_vm *vm, dv_value dict, dv_value item) {
    const int64_t number = dv_dict_plain_entry(vm, dv_as_dict(dict), item);
    return number < 0 ? NULL : &dv_as_dict(dict)->entries[number].value;
}

static bool count_one(dv_vm *vm, dv_value dict, dv_value item) {
    dv_value *plain = plain_count(vm, dict, item);
    if (plain && dv_is_int(*plain) && dv_fits_int(dv_as_int(*plain) + 1)) {
        *plain = dv_int(dv_as_int(*plain) + 1);
        return true;
    }
    int64_t hash;
    if (!dv_hash(vm, item, &hash)) return false;
    dv_value old = dv_retain(dv_dict_get_hashed(vm, dict, item, hash));
    if (dv_is_empty(old))
        return dv_is_empty(vm->error) && dv_dict_set_hashed(vm, dict, item, hash, dv_int(1));
    dv_value sum = dv_binary(vm, DV_BINARY_ADD, old, dv_int(1));
    dv_release(vm, old);
    bool done = !dv_is_empty(sum) && dv_dict_set_hashed(vm, dict, item, hash, sum);
    dv_release(vm, sum);
    return done;
}

/* The same through methods that a subclass of dict has: dict[item] = get(item, 0) + 1. */
static bool count_slowly(dv_vm *vm, dv_value dict, dv_value get, dv_value item) {
    dv_value old = dv_call(vm, get, (dv_value[]){item, dv_int(0)}, 2, DV_EMPTY);
    if (dv_is_empty(old)) return false;
    dv_value sum = dv_binary(vm, DV_BINARY_ADD, old, dv_int(1));
    dv_release(vm, old);
    bool done = !dv_is_empty(sum) && dv_set_item(vm, dict, item, sum);
    dv_release(vm, sum);
    return done;
}

/* *get becomes the method get of a dict whose class has its own get or __setitem__. */
static bool own_get(dv_vm *vm, dv_value dict, dv_value *get) {
    dv_value name = dv_str_intern(vm, "get", 3);
    if (dv_is_empty(name)) return false;
    dv_class *class_ = dv_class_of(vm, dict);
    if (dv_class_special(class_, name) || dv_class_special(class_, vm->known.setitem))
        *get = dv_get_attribute(vm, dict, name);
    dv_release(vm, name);
    return dv_is_empty(vm->error);
}

/* _count_elements(dict, iterable): adds 1 to the value of each item. */
static dv_value collections_count(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_value dict = args[0], get = DV_EMPTY;
    if (!dv_is_dict(dict))
        return dv_raise(vm, DV_E_TYPE_ERROR, "_count_elements() expected a dict, not %T", dict);
    dv_value iterator = dv_iterate(vm, args[1]);
    if (dv_is_empty(iterator)) return DV_EMPTY;
    bool good = own_get(vm, dict, &get);
    while (good) {
        dv_value item = dv_step(vm, iterator);
        if (dv_is_empty(item)) break;
        good = dv_is_empty(get) ? count_one(vm, dict, item) : count_slowly(vm, dict, get, item);
        dv_release(vm, item);
    }
    dv_release(vm, get);
    dv_release(vm, iterator);
    return dv_is_empty(vm->error) ? DV_NONE : DV_EMPTY;
}

static const dv_cfunction_def functions[] = {
    {.name = "_count_elements", .entry = collections_count, .min = 2, .max = 2},
    {.name = "_ordered", .entry = dv_collections_ordered, .min = 1, .max = 1},
    {.name = "_tuple_getter", .entry = collections_tuple_getter, .min = 2, .max = 2},
    {.name = "_tuple_maker", .entry = collections_tuple_maker, .min = 3, .max = 3},
    {.name = NULL}};

/* Classes made here ------------------------------------------------------------------------------
 */

/* Puts a value (owned; EMPTY: making it failed) into a class. */
static bool put(dv_vm *vm, dv_class *class_, const char *name, dv_value value) {
    if (dv_is_empty(value)) return false;
    dv_value key = dv_str_intern(vm, name, strlen(name));
    if (dv_is_empty(key)) {
        dv_release(vm, value);
        return false;
    }
    bool done = dv_class_store(vm, class_, key, value);
    dv_release(vm, key);
    return done;
}

/* A class that derives from a built-in type, with C functions as methods. */
static dv_value class_with(dv_vm *vm, const char *name, dv_type_id base,
                           const dv_cfunction_def *methods) {
    dv_value text = dv_str_z(vm, name), namespace = dv_dict_new(vm), class_ = DV_EMPTY;
    dv_value parent = dv_object_value(vm->classes[base]), bases = dv_tuple_new(vm, &parent, 1);
    if (!dv_is_empty(text) && !dv_is_empty(namespace) && !dv_is_empty(bases))
        class_ = dv_class_build(vm, text, bases, DV_EMPTY, namespace);
    dv_release(vm, bases);
    dv_release(vm, text);
    dv_release(vm, namespace);
    bool good = !dv_is_empty(class_) &&
                put(vm, dv_as_class(class_), "__module__", dv_str_z(vm, "collections"));
    for (const dv_cfunction_def *def = methods; good && def->name; def++)
        good = put(vm, dv_as_class(class_), def->name, dv_cfunction_new(vm, def, DV_EMPTY, class_));
    if (good) dv_as_class(class_)->flags |= DV_CLASS_FULL_NAME;
    if (good) dv_as_class(class_)->weak = false; /* in CPython it is a type of C */
    if (good) return class_;
    dv_release(vm, class_);
    return DV_EMPTY;
}

bool dv_collections_fill(dv_vm *vm, dv_module *module) {
    return dv_module_add_functions(vm, module, functions) &&
           dv_module_add_type(vm, module, &dv_deque_type) &&
           dv_module_know_type(vm, &dv_deque_iterator_type) &&
           dv_module_know_type(vm, &dv_deque_reversed_type) &&
           dv_module_know_type(vm, &dv_tuple_getter_type) &&
           dv_module_add(vm, module, "defaultdict",
                         class_with(vm, "defaultdict", DV_T_DICT, defaultdict_methods));
}
