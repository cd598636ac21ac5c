/* table.c: an extension that does one thing with each function that the stable table has since ABI
 * 1.1, so that scripts can see what it does. */
#include <dynvm_ext.h>

#include <string.h>

#define ENTRY(name) static dvx_value name(dvx_vm *vm, const dvx_value *args, uint32_t count)

static dvx_value number(dvx_vm *vm, int64_t i) { return vm->api->make_int(vm, i); }
static dvx_value boolean(dvx_vm *vm, int b) {
    return b < 0 ? DVX_FAILED : vm->api->make_bool(vm, b);
}
static dvx_value done(dvx_vm *vm, bool d) { return d ? vm->api->make_none(vm) : DVX_FAILED; }

/* A str argument as C text; false: raised. */
static bool text_of(dvx_vm *vm, dvx_value v, char text[64]) {
    size_t size;
    if (!vm->api->read_str(vm, v, text, 64, &size)) return false;
    if (size < 64) return true;
    vm->api->raise(vm, DVX_VALUE_ERROR, "text too long");
    return false;
}

static dvx_value pair(dvx_vm *vm, dvx_value a, dvx_value b) {
    dvx_value both[] = {a, b};
    dvx_value result = vm->api->make_tuple(vm, both, 2);
    vm->api->release(vm, a);
    vm->api->release(vm, b);
    return result;
}

/* ---- Values ---- */

ENTRY(kind) {
    (void)count;
    static const char *const names[] = {"any",   "None",     "bool",          "int",       "float",
                                        "str",   "complex",  "bytes",         "bytearray", "list",
                                        "tuple", "dict",     "set",           "frozenset", "slice",
                                        "class", "Ellipsis", "NotImplemented"};
    const char *name = names[vm->api->kind(vm, args[0])];
    return vm->api->make_str(vm, name, strlen(name));
}
ENTRY(uint) {
    (void)count;
    uint64_t i;
    return vm->api->read_uint(vm, args[0], &i) ? vm->api->make_uint(vm, i) : DVX_FAILED;
}
ENTRY(indexed) {
    (void)count;
    int64_t i;
    return vm->api->read_index(vm, args[0], &i) ? number(vm, i) : DVX_FAILED;
}
ENTRY(int_text) {
    (void)count;
    char text[64];
    int64_t base;
    if (!text_of(vm, args[0], text) || !vm->api->read_int(vm, args[1], &base)) return DVX_FAILED;
    return vm->api->make_int_text(vm, text, strlen(text), (int)base);
}
/* limbs(i): its size and limbs, and the int that they make with a zero limb behind them */
ENTRY(limbs) {
    (void)count;
    uint64_t word, copy[9] = {0};
    int64_t size;
    const uint64_t *limbs = vm->api->int_limbs(vm, args[0], &word, &size);
    if (!limbs) return DVX_FAILED;
    const int64_t used = size < 0 ? -size : size;
    dvx_value all[10] = {number(vm, size)};
    for (int64_t i = 0; i < used && i < 8; i++) {
        copy[i] = limbs[i];
        all[i + 1] = vm->api->make_uint(vm, limbs[i]);
    }
    all[used + 1] = vm->api->make_int_limbs(vm, copy, size < 0 ? size - 1 : size + 1);
    dvx_value made = vm->api->make_tuple(vm, all, (size_t)used + 2);
    for (int64_t i = 0; i < used + 2; i++) vm->api->release(vm, all[i]);
    return made;
}
ENTRY(complex_of) {
    (void)count;
    double real, imag;
    if (!vm->api->read_complex(vm, args[0], &real, &imag)) return DVX_FAILED;
    return vm->api->make_complex(vm, real, -imag);
}
/* bytes_of(b): b, or its length if that is above 8 */
ENTRY(bytes_of) {
    (void)count;
    char buffer[8];
    size_t size;
    if (!vm->api->read_bytes(vm, args[0], buffer, sizeof buffer, &size)) return DVX_FAILED;
    return size > sizeof buffer ? number(vm, (int64_t)size) : vm->api->make_bytes(vm, buffer, size);
}
ENTRY(tuple_of) { return vm->api->make_tuple(vm, args, count); }
ENTRY(list_of) { return vm->api->make_list(vm, args, count); }
/* floats_of(sequence, first): the floats from there on, in reverse */
ENTRY(floats_of) {
    (void)count;
    double row[8];
    int64_t first;
    if (!vm->api->read_int(vm, args[1], &first)) return DVX_FAILED;
    int64_t found = vm->api->read_row(vm, args[0], DVX_FLOAT, first, 8, row);
    if (found < 0) return DVX_FAILED;
    const double *last = found ? row + found - 1 : NULL;
    return vm->api->make_row(vm, DVX_FLOAT, DVX_FLOAT64, last, -8, (size_t)found);
}
ENTRY(ints_of) {
    (void)count;
    int64_t row[4], found = vm->api->read_row(vm, args[0], DVX_INT, 0, 4, row);
    return found < 0 ? DVX_FAILED
                     : vm->api->make_row(vm, DVX_INT, DVX_INT64, row, 8, (size_t)found);
}
ENTRY(bools_of) {
    (void)count;
    uint8_t row[4];
    int64_t found = vm->api->read_row(vm, args[0], DVX_BOOL, 0, 4, row);
    return found < 0 ? DVX_FAILED
                     : vm->api->make_row(vm, DVX_BOOL, DVX_UINT8, row, 1, (size_t)found);
}
ENTRY(count_of) {
    (void)count;
    return number(vm, vm->api->read_row(vm, args[0], DVX_ANY, 0, INT64_MAX, NULL));
}
/* rows(): one of each element; and what is refused */
ENTRY(rows) {
    (void)count;
    static const uint64_t words[] = {UINT64_MAX, 0x8000000000000000u};
    static const int8_t bytes[] = {-1, 2};
    static const uint16_t halves[] = {65535, 3};
    static const float floats[] = {0.5f, -1};
    static const double parts[] = {1, 2, 3, -4};
    (void)args;
    dvx_value all[] = {vm->api->make_row(vm, DVX_INT, DVX_UINT64, words, 8, 2),
                       vm->api->make_row(vm, DVX_INT, DVX_INT64, words, 8, 2),
                       vm->api->make_row(vm, DVX_INT, DVX_UINT8, bytes, 1, 2),
                       vm->api->make_row(vm, DVX_INT, DVX_INT8, bytes, 1, 2),
                       vm->api->make_row(vm, DVX_INT, DVX_UINT16, halves, 2, 2),
                       vm->api->make_row(vm, DVX_INT, DVX_INT16, halves, 2, 2),
                       vm->api->make_row(vm, DVX_INT, DVX_UINT32, words, 4, 2),
                       vm->api->make_row(vm, DVX_INT, DVX_INT32, words, 4, 2),
                       vm->api->make_row(vm, DVX_FLOAT, DVX_FLOAT32, floats, 4, 2),
                       vm->api->make_row(vm, DVX_COMPLEX, DVX_FLOAT64, parts, 16, 2),
                       vm->api->make_row(vm, DVX_INT, DVX_INT64, NULL, 8, 0)};
    dvx_value made = vm->api->make_list(vm, all, sizeof all / sizeof *all);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) vm->api->release(vm, all[i]);
    return made;
}
ENTRY(no_row) {
    (void)args, (void)count;
    return vm->api->make_row(vm, DVX_FLOAT, DVX_INT8, "", 1, 1);
}
ENTRY(set_of) { return vm->api->make_set(vm, args, count); }
ENTRY(singletons) {
    (void)args, (void)count;
    return pair(vm, vm->api->make_ellipsis(vm), vm->api->make_not_implemented(vm));
}
/* dict_of(k, v, ...) */
ENTRY(dict_of) {
    dvx_value dict = vm->api->make_dict(vm);
    for (uint32_t i = 0; i + 1 < count; i += 2)
        if (!vm->api->set_item(vm, dict, args[i], args[i + 1])) {
            vm->api->release(vm, dict);
            return DVX_FAILED;
        }
    return dict;
}
/* slice_of(slice, length): (start, step, count) as ints */
ENTRY(slice_of) {
    (void)count;
    int64_t length, start, step, items;
    if (!vm->api->read_int(vm, args[1], &length) ||
        !vm->api->read_slice(vm, args[0], length, &start, &step, &items))
        return DVX_FAILED;
    return pair(vm, number(vm, start), pair(vm, number(vm, step), number(vm, items)));
}

/* ---- Attributes and items ---- */

ENTRY(get) {
    (void)count;
    char name[64];
    return text_of(vm, args[1], name) ? vm->api->get_attribute(vm, args[0], name) : DVX_FAILED;
}
ENTRY(find) {
    (void)count;
    char name[64];
    dvx_value found;
    if (!text_of(vm, args[1], name)) return DVX_FAILED;
    int result = vm->api->find_attribute(vm, args[0], name, &found);
    return result < 0 ? DVX_FAILED : result ? found : number(vm, -1);
}
ENTRY(set) {
    (void)count;
    char name[64];
    return done(vm,
                text_of(vm, args[1], name) && vm->api->set_attribute(vm, args[0], name, args[2]));
}
ENTRY(delete) {
    (void)count;
    char name[64];
    return done(vm, text_of(vm, args[1], name) && vm->api->delete_attribute(vm, args[0], name));
}
ENTRY(length) {
    (void)count;
    int64_t n = vm->api->length(vm, args[0]);
    return n < 0 ? DVX_FAILED : number(vm, n);
}
ENTRY(get_item) {
    (void)count;
    return vm->api->get_item(vm, args[0], args[1]);
}
ENTRY(set_item) {
    (void)count;
    return done(vm, vm->api->set_item(vm, args[0], args[1], args[2]));
}
ENTRY(delete_item) {
    (void)count;
    return done(vm, vm->api->delete_item(vm, args[0], args[1]));
}
ENTRY(contains) {
    (void)count;
    return boolean(vm, vm->api->contains(vm, args[0], args[1]));
}
ENTRY(append) {
    (void)count;
    return done(vm, vm->api->append(vm, args[0], args[1]));
}

/* ---- Calls and iteration ---- */

ENTRY(call) { return vm->api->call(vm, args[0], args + 1, count - 1); }
/* call_named(f, names, args...) */
ENTRY(call_named) { return vm->api->call_keywords(vm, args[0], args + 2, count - 2, args[1]); }
ENTRY(call_method) {
    char name[64];
    if (!text_of(vm, args[1], name)) return DVX_FAILED;
    return vm->api->call_method(vm, args[0], name, args + 2, count - 2);
}
/* collect(iterable): its items from the last to the first */
ENTRY(collect) {
    (void)count;
    dvx_value list = vm->api->make_list(vm, NULL, 0), item;
    dvx_value iterator = vm->api->iterate(vm, args[0]);
    int more = dvx_failed(iterator) ? -1 : 1;
    while (more > 0 && (more = vm->api->next(vm, iterator, &item)) > 0) {
        if (!vm->api->append(vm, list, item)) more = -1;
        vm->api->release(vm, item);
    }
    vm->api->release(vm, iterator);
    dvx_value result = more < 0 ? DVX_FAILED : vm->api->call_method(vm, list, "reverse", NULL, 0);
    bool good = !dvx_failed(result);
    vm->api->release(vm, result);
    if (good) return list;
    vm->api->release(vm, list);
    return DVX_FAILED;
}

/* ---- Operators, text, classes ---- */

ENTRY(binary) {
    (void)count;
    int64_t op;
    return vm->api->read_int(vm, args[0], &op)
               ? vm->api->binary(vm, (dvx_binary)op, args[1], args[2])
               : DVX_FAILED;
}
ENTRY(inplace) {
    (void)count;
    int64_t op;
    if (!vm->api->read_int(vm, args[0], &op)) return DVX_FAILED;
    return vm->api->inplace(vm, (dvx_binary)op, args[1], args[2]);
}
ENTRY(unary) {
    (void)count;
    int64_t op;
    return vm->api->read_int(vm, args[0], &op) ? vm->api->unary(vm, (dvx_unary)op, args[1])
                                               : DVX_FAILED;
}
ENTRY(compare) {
    (void)count;
    int64_t op;
    if (!vm->api->read_int(vm, args[0], &op)) return DVX_FAILED;
    return vm->api->compare(vm, (dvx_compare)op, args[1], args[2]);
}
ENTRY(equal) {
    (void)count;
    return pair(vm, boolean(vm, vm->api->equal(vm, args[0], args[1])),
                boolean(vm, vm->api->same(vm, args[0], args[1])));
}
ENTRY(hash) {
    (void)count;
    int64_t h;
    return vm->api->hash(vm, args[0], &h) ? number(vm, h) : DVX_FAILED;
}
ENTRY(text) {
    (void)count;
    return pair(vm, vm->api->repr(vm, args[0]), vm->api->str(vm, args[0]));
}
ENTRY(format) {
    (void)count;
    char spec[64];
    return text_of(vm, args[1], spec) ? vm->api->format(vm, args[0], spec) : DVX_FAILED;
}
ENTRY(class_of) {
    (void)count;
    return vm->api->class_of(vm, args[0]);
}
ENTRY(is_instance) {
    (void)count;
    return boolean(vm, vm->api->is_instance(vm, args[0], args[1]));
}
ENTRY(is_subclass) {
    (void)count;
    return boolean(vm, vm->api->is_subclass(vm, args[0], args[1]));
}
ENTRY(import_it) {
    (void)count;
    char name[64];
    return text_of(vm, args[0], name) ? vm->api->import(vm, name) : DVX_FAILED;
}
ENTRY(builtin) {
    (void)count;
    char name[64];
    return text_of(vm, args[0], name) ? vm->api->builtin(vm, name) : DVX_FAILED;
}

/* ---- Errors ---- */

/* raise_it(class, v): every directive of formats */
ENTRY(raise_it) {
    (void)count;
    return vm->api->raise_format(vm, args[0], "%s %d%% %c %lld %zu %x, %V, %S, %T", "text", -5, 'c',
                                 (long long)1 << 40, (size_t)7, 255, args[1], args[1], args[1]);
}
ENTRY(raise_badly) {
    (void)count;
    return vm->api->raise_format(vm, args[0], "%g", 1.5);
}
ENTRY(raise_again) {
    (void)count;
    return vm->api->raise_error(vm, args[0]);
}
/* caught(f, classes): what f raised, if it is one of these; else that goes on */
ENTRY(caught) {
    (void)count;
    dvx_value result = vm->api->call(vm, args[0], NULL, 0);
    if (!dvx_failed(result)) return result;
    return vm->api->error_matches(vm, args[1]) ? vm->api->fetch_error(vm) : DVX_FAILED;
}
ENTRY(ignored) {
    (void)count;
    dvx_value result = vm->api->call(vm, args[0], NULL, 0);
    vm->api->clear_error(vm);
    vm->api->release(vm, result);
    return boolean(vm, dvx_failed(vm->api->fetch_error(vm)));
}
ENTRY(error_class) {
    (void)count;
    int64_t n;
    return vm->api->read_int(vm, args[0], &n) ? vm->api->error_class(vm, (dvx_error)n) : DVX_FAILED;
}

/* ---- The machine ---- */

/* memory(n): n bytes allocated, doubled and given back */
ENTRY(memory) {
    (void)count;
    int64_t n;
    if (!vm->api->read_int(vm, args[0], &n)) return DVX_FAILED;
    char *block = vm->api->allocate(vm, (size_t)n);
    if (!block) return DVX_FAILED;
    memset(block, 7, (size_t)n);
    char *larger = vm->api->resize(vm, block, (size_t)n, 2 * (size_t)n);
    bool good = larger && larger[n - 1] == 7;
    vm->api->deallocate(vm, larger ? larger : block, larger ? 2 * (size_t)n : (size_t)n);
    return larger ? boolean(vm, good) : DVX_FAILED;
}
/* deep(n): recursion in C */
ENTRY(deep) {
    int64_t n;
    if (!vm->api->poll(vm) || !vm->api->work(vm, 1) || !vm->api->read_int(vm, args[0], &n))
        return DVX_FAILED;
    if (n == 0) return number(vm, 0);
    if (!vm->api->enter(vm)) return DVX_FAILED;
    dvx_value less = number(vm, n - 1);
    dvx_value result = deep(vm, &less, count);
    vm->api->leave(vm);
    return result;
}
ENTRY(counted) {
    (void)args, (void)count;
    int64_t *calls = vm->api->state(vm, &dvx_extension);
    return number(vm, ++*calls);
}

/* ---- Keywords ---- */

static const char *const area_names[] = {"width", "height", "scale"};
static const dvx_parameters area_parameters = {.size = sizeof(dvx_parameters),
                                               .names = area_names,
                                               .count = 3,
                                               .positional = 2,
                                               .required = 1};
/* area(width, height=1, *, scale=1) */
ENTRY(area) {
    dvx_value one = number(vm, 1);
    dvx_value height = dvx_failed(args[1]) ? one : args[1];
    dvx_value product = vm->api->binary(vm, DVX_MUL, args[0], height);
    if (count != 3 || dvx_failed(product) || dvx_failed(args[2])) return product;
    dvx_value scaled = vm->api->binary(vm, DVX_MUL, product, args[2]);
    vm->api->release(vm, product);
    return scaled;
}

/* ---- Misuse that is noticed ---- */

ENTRY(silent) {
    (void)vm, (void)args, (void)count;
    return DVX_FAILED;
}
ENTRY(both) {
    (void)args, (void)count;
    vm->api->raise(vm, DVX_VALUE_ERROR, "lost");
    return vm->api->make_str(vm, "result", 6);
}
ENTRY(chained) {
    (void)count;
    return vm->api->get_item(vm, vm->api->get_attribute(vm, args[0], "nothing"), args[0]);
}
ENTRY(nothing) {
    (void)args, (void)count;
    return vm->api->repr(vm, DVX_FAILED);
}

#define FUNCTION(name_, min_, max_) \
    { .size = sizeof(dvx_function), .name = #name_, .entry = name_, .min = min_, .max = max_ }
ENTRY(give_numbers) {
    (void)count;
    return done(vm, vm->api->number_attributes(vm, args[0]));
}

static const dvx_function functions[] = {
    FUNCTION(kind, 1, 1),
    FUNCTION(uint, 1, 1),
    FUNCTION(indexed, 1, 1),
    FUNCTION(int_text, 2, 2),
    FUNCTION(limbs, 1, 1),
    FUNCTION(complex_of, 1, 1),
    FUNCTION(bytes_of, 1, 1),
    FUNCTION(tuple_of, 0, UINT32_MAX),
    FUNCTION(list_of, 0, UINT32_MAX),
    FUNCTION(floats_of, 2, 2),
    FUNCTION(ints_of, 1, 1),
    FUNCTION(bools_of, 1, 1),
    FUNCTION(count_of, 1, 1),
    FUNCTION(rows, 0, 0),
    FUNCTION(no_row, 0, 0),
    FUNCTION(set_of, 0, UINT32_MAX),
    FUNCTION(dict_of, 0, UINT32_MAX),
    FUNCTION(singletons, 0, 0),
    FUNCTION(slice_of, 2, 2),
    FUNCTION(get, 2, 2),
    FUNCTION(find, 2, 2),
    FUNCTION(set, 3, 3),
    FUNCTION(delete, 2, 2),
    FUNCTION(length, 1, 1),
    FUNCTION(get_item, 2, 2),
    FUNCTION(set_item, 3, 3),
    FUNCTION(delete_item, 2, 2),
    FUNCTION(contains, 2, 2),
    FUNCTION(append, 2, 2),
    FUNCTION(call, 1, UINT32_MAX),
    FUNCTION(call_named, 2, UINT32_MAX),
    FUNCTION(call_method, 2, UINT32_MAX),
    FUNCTION(collect, 1, 1),
    FUNCTION(binary, 3, 3),
    FUNCTION(inplace, 3, 3),
    FUNCTION(unary, 2, 2),
    FUNCTION(compare, 3, 3),
    FUNCTION(equal, 2, 2),
    FUNCTION(hash, 1, 1),
    FUNCTION(text, 1, 1),
    FUNCTION(format, 2, 2),
    FUNCTION(class_of, 1, 1),
    FUNCTION(is_instance, 2, 2),
    FUNCTION(is_subclass, 2, 2),
    FUNCTION(import_it, 1, 1),
    FUNCTION(builtin, 1, 1),
    FUNCTION(raise_it, 2, 2),
    FUNCTION(raise_badly, 1, 1),
    FUNCTION(raise_again, 1, 1),
    FUNCTION(caught, 2, 2),
    FUNCTION(ignored, 1, 1),
    FUNCTION(error_class, 1, 1),
    FUNCTION(memory, 1, 1),
    FUNCTION(deep, 1, 1),
    FUNCTION(counted, 0, 0),
    FUNCTION(silent, 0, 0),
    FUNCTION(both, 0, 0),
    FUNCTION(chained, 1, 1),
    FUNCTION(nothing, 0, 0),
    FUNCTION(give_numbers, 1, 1),
    {.size = sizeof(dvx_function), .name = "area", .entry = area, .parameters = &area_parameters},
};

static bool init(dvx_vm *vm, dvx_value module) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!vm->api->add_function(vm, module, &functions[i])) return false;
    return true;
}

DVX_EXTENSION_WITH_STATE("table", init, sizeof(int64_t), NULL);
