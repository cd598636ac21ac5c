/* table.c: an extension that does one thing with each function that the stable table has since ABI
 * 1.1, so that scripts can see what it does. */
#include <dynvm_ext.h>

#include <string.h>

#define API(function, ...) vm->api->function(vm, __VA_ARGS__)

#define ENTRY(name) static dvx_value name(dvx_vm *vm, const dvx_value *args, uint32_t count)

static dvx_value number(dvx_vm *vm, int64_t i) { return API(make_int, i); }
static dvx_value boolean(dvx_vm *vm, int b) { return b < 0 ? DVX_FAILED : API(make_bool, b); }
static dvx_value done(dvx_vm *vm, bool d) { return d ? vm->api->make_none(vm) : DVX_FAILED; }

/* A str argument as C text; false: raised. */
static bool text_of(dvx_vm *vm, dvx_value v, char text[64]) {
    size_t size;
    if (!API(read_str, v, text, 64, &size)) return false;
    if (size < 64) return true;
    API(raise, DVX_VALUE_ERROR, "text too long");
    return false;
}

static dvx_value pair(dvx_vm *vm, dvx_value a, dvx_value b) {
    dvx_value both[] = {a, b};
    dvx_value result = API(make_tuple, both, 2);
    API(release, a);
    API(release, b);
    return result;
}

/* ---- Values ---- */

ENTRY(kind) {
    (void)count;
    static const char *const names[] = {"any",   "None",     "bool",          "int",       "float",
                                        "str",   "complex",  "bytes",         "bytearray", "list",
                                        "tuple", "dict",     "set",           "frozenset", "slice",
                                        "class", "Ellipsis", "NotImplemented"};
    const char *name = names[API(kind, args[0])];
    return API(make_str, name, strlen(name));
}
ENTRY(uint) {
    (void)count;
    uint64_t i;
    return API(read_uint, args[0], &i) ? API(make_uint, i) : DVX_FAILED;
}
ENTRY(indexed) {
    (void)count;
    int64_t i;
    return API(read_index, args[0], &i) ? number(vm, i) : DVX_FAILED;
}
ENTRY(int_text) {
    (void)count;
    char text[64];
    int64_t base;
    if (!text_of(vm, args[0], text) || !API(read_int, args[1], &base)) return DVX_FAILED;
    return API(make_int_text, text, strlen(text), (int)base);
}
ENTRY(complex_of) {
    (void)count;
    double real, imag;
    if (!API(read_complex, args[0], &real, &imag)) return DVX_FAILED;
    return API(make_complex, real, -imag);
}
/* bytes_of(b): b, or its length if that is above 8 */
ENTRY(bytes_of) {
    (void)count;
    char buffer[8];
    size_t size;
    if (!API(read_bytes, args[0], buffer, sizeof buffer, &size)) return DVX_FAILED;
    return size > sizeof buffer ? number(vm, (int64_t)size) : API(make_bytes, buffer, size);
}
ENTRY(tuple_of) { return API(make_tuple, args, count); }
ENTRY(list_of) { return API(make_list, args, count); }
/* floats_of(sequence, first): the floats from there on, in reverse */
ENTRY(floats_of) {
    (void)count;
    double row[8];
    int64_t first;
    if (!API(read_int, args[1], &first)) return DVX_FAILED;
    int64_t found = API(read_row, args[0], DVX_FLOAT, first, 8, row);
    if (found < 0) return DVX_FAILED;
    const double *last = found ? row + found - 1 : NULL;
    return API(make_row, DVX_FLOAT, DVX_FLOAT64, last, -8, (size_t)found);
}
ENTRY(ints_of) {
    (void)count;
    int64_t row[4], found = API(read_row, args[0], DVX_INT, 0, 4, row);
    return found < 0 ? DVX_FAILED : API(make_row, DVX_INT, DVX_INT64, row, 8, (size_t)found);
}
ENTRY(bools_of) {
    (void)count;
    uint8_t row[4];
    int64_t found = API(read_row, args[0], DVX_BOOL, 0, 4, row);
    return found < 0 ? DVX_FAILED : API(make_row, DVX_BOOL, DVX_UINT8, row, 1, (size_t)found);
}
ENTRY(count_of) {
    (void)count;
    return number(vm, API(read_row, args[0], DVX_ANY, 0, INT64_MAX, NULL));
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
    dvx_value all[] = {API(make_row, DVX_INT, DVX_UINT64, words, 8, 2),
                       API(make_row, DVX_INT, DVX_INT64, words, 8, 2),
                       API(make_row, DVX_INT, DVX_UINT8, bytes, 1, 2),
                       API(make_row, DVX_INT, DVX_INT8, bytes, 1, 2),
                       API(make_row, DVX_INT, DVX_UINT16, halves, 2, 2),
                       API(make_row, DVX_INT, DVX_INT16, halves, 2, 2),
                       API(make_row, DVX_INT, DVX_UINT32, words, 4, 2),
                       API(make_row, DVX_INT, DVX_INT32, words, 4, 2),
                       API(make_row, DVX_FLOAT, DVX_FLOAT32, floats, 4, 2),
                       API(make_row, DVX_COMPLEX, DVX_FLOAT64, parts, 16, 2),
                       API(make_row, DVX_INT, DVX_INT64, NULL, 8, 0)};
    dvx_value made = API(make_list, all, sizeof all / sizeof *all);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) API(release, all[i]);
    return made;
}
ENTRY(no_row) {
    (void)args, (void)count;
    return API(make_row, DVX_FLOAT, DVX_INT8, "", 1, 1);
}
ENTRY(set_of) { return API(make_set, args, count); }
ENTRY(singletons) {
    (void)args, (void)count;
    return pair(vm, vm->api->make_ellipsis(vm), vm->api->make_not_implemented(vm));
}
/* dict_of(k, v, ...) */
ENTRY(dict_of) {
    dvx_value dict = vm->api->make_dict(vm);
    for (uint32_t i = 0; i + 1 < count; i += 2)
        if (!API(set_item, dict, args[i], args[i + 1])) {
            API(release, dict);
            return DVX_FAILED;
        }
    return dict;
}
/* slice_of(slice, length): (start, step, count) as ints */
ENTRY(slice_of) {
    (void)count;
    int64_t length, start, step, items;
    if (!API(read_int, args[1], &length) ||
        !API(read_slice, args[0], length, &start, &step, &items))
        return DVX_FAILED;
    return pair(vm, number(vm, start), pair(vm, number(vm, step), number(vm, items)));
}

/* ---- Attributes and items ---- */

ENTRY(get) {
    (void)count;
    char name[64];
    return text_of(vm, args[1], name) ? API(get_attribute, args[0], name) : DVX_FAILED;
}
ENTRY(find) {
    (void)count;
    char name[64];
    dvx_value found;
    if (!text_of(vm, args[1], name)) return DVX_FAILED;
    int result = API(find_attribute, args[0], name, &found);
    return result < 0 ? DVX_FAILED : result ? found : number(vm, -1);
}
ENTRY(set) {
    (void)count;
    char name[64];
    return done(vm, text_of(vm, args[1], name) && API(set_attribute, args[0], name, args[2]));
}
ENTRY(delete) {
    (void)count;
    char name[64];
    return done(vm, text_of(vm, args[1], name) && API(delete_attribute, args[0], name));
}
ENTRY(length) {
    (void)count;
    int64_t n = API(length, args[0]);
    return n < 0 ? DVX_FAILED : number(vm, n);
}
ENTRY(get_item) {
    (void)count;
    return API(get_item, args[0], args[1]);
}
ENTRY(set_item) {
    (void)count;
    return done(vm, API(set_item, args[0], args[1], args[2]));
}
ENTRY(delete_item) {
    (void)count;
    return done(vm, API(delete_item, args[0], args[1]));
}
ENTRY(contains) {
    (void)count;
    return boolean(vm, API(contains, args[0], args[1]));
}
ENTRY(append) {
    (void)count;
    return done(vm, API(append, args[0], args[1]));
}

/* ---- Calls and iteration ---- */

ENTRY(call) { return API(call, args[0], args + 1, count - 1); }
/* call_named(f, names, args...) */
ENTRY(call_named) { return API(call_keywords, args[0], args + 2, count - 2, args[1]); }
ENTRY(call_method) {
    char name[64];
    if (!text_of(vm, args[1], name)) return DVX_FAILED;
    return API(call_method, args[0], name, args + 2, count - 2);
}
/* collect(iterable): its items from the last to the first */
ENTRY(collect) {
    (void)count;
    dvx_value list = API(make_list, NULL, 0), item;
    dvx_value iterator = API(iterate, args[0]);
    int more = dvx_failed(iterator) ? -1 : 1;
    while (more > 0 && (more = API(next, iterator, &item)) > 0) {
        if (!API(append, list, item)) more = -1;
        API(release, item);
    }
    API(release, iterator);
    dvx_value result = more < 0 ? DVX_FAILED : API(call_method, list, "reverse", NULL, 0);
    bool good = !dvx_failed(result);
    API(release, result);
    if (good) return list;
    API(release, list);
    return DVX_FAILED;
}

/* ---- Operators, text, classes ---- */

ENTRY(binary) {
    (void)count;
    int64_t op;
    return API(read_int, args[0], &op) ? API(binary, (dvx_binary)op, args[1], args[2]) : DVX_FAILED;
}
ENTRY(inplace) {
    (void)count;
    int64_t op;
    if (!API(read_int, args[0], &op)) return DVX_FAILED;
    return API(inplace, (dvx_binary)op, args[1], args[2]);
}
ENTRY(unary) {
    (void)count;
    int64_t op;
    return API(read_int, args[0], &op) ? API(unary, (dvx_unary)op, args[1]) : DVX_FAILED;
}
ENTRY(compare) {
    (void)count;
    int64_t op;
    if (!API(read_int, args[0], &op)) return DVX_FAILED;
    return API(compare, (dvx_compare)op, args[1], args[2]);
}
ENTRY(equal) {
    (void)count;
    return pair(vm, boolean(vm, API(equal, args[0], args[1])),
                boolean(vm, API(same, args[0], args[1])));
}
ENTRY(hash) {
    (void)count;
    int64_t h;
    return API(hash, args[0], &h) ? number(vm, h) : DVX_FAILED;
}
ENTRY(text) {
    (void)count;
    return pair(vm, API(repr, args[0]), API(str, args[0]));
}
ENTRY(format) {
    (void)count;
    char spec[64];
    return text_of(vm, args[1], spec) ? API(format, args[0], spec) : DVX_FAILED;
}
ENTRY(class_of) {
    (void)count;
    return API(class_of, args[0]);
}
ENTRY(is_instance) {
    (void)count;
    return boolean(vm, API(is_instance, args[0], args[1]));
}
ENTRY(is_subclass) {
    (void)count;
    return boolean(vm, API(is_subclass, args[0], args[1]));
}
ENTRY(import_it) {
    (void)count;
    char name[64];
    return text_of(vm, args[0], name) ? API(import, name) : DVX_FAILED;
}
ENTRY(builtin) {
    (void)count;
    char name[64];
    return text_of(vm, args[0], name) ? API(builtin, name) : DVX_FAILED;
}

/* ---- Errors ---- */

/* raise_it(class, v): every directive of formats */
ENTRY(raise_it) {
    (void)count;
    return API(raise_format, args[0], "%s %d%% %c %lld %zu %x, %V, %S, %T", "text", -5, 'c',
               (long long)1 << 40, (size_t)7, 255, args[1], args[1], args[1]);
}
ENTRY(raise_badly) {
    (void)count;
    return API(raise_format, args[0], "%g", 1.5);
}
ENTRY(raise_again) {
    (void)count;
    return API(raise_error, args[0]);
}
/* caught(f, classes): what f raised, if it is one of these; else that goes on */
ENTRY(caught) {
    (void)count;
    dvx_value result = API(call, args[0], NULL, 0);
    if (!dvx_failed(result)) return result;
    return API(error_matches, args[1]) ? vm->api->fetch_error(vm) : DVX_FAILED;
}
ENTRY(ignored) {
    (void)count;
    dvx_value result = API(call, args[0], NULL, 0);
    vm->api->clear_error(vm);
    API(release, result);
    return boolean(vm, dvx_failed(vm->api->fetch_error(vm)));
}
ENTRY(error_class) {
    (void)count;
    int64_t n;
    return API(read_int, args[0], &n) ? API(error_class, (dvx_error)n) : DVX_FAILED;
}

/* ---- The machine ---- */

/* memory(n): n bytes allocated, doubled and given back */
ENTRY(memory) {
    (void)count;
    int64_t n;
    if (!API(read_int, args[0], &n)) return DVX_FAILED;
    char *block = API(allocate, (size_t)n);
    if (!block) return DVX_FAILED;
    memset(block, 7, (size_t)n);
    char *larger = API(resize, block, (size_t)n, 2 * (size_t)n);
    bool good = larger && larger[n - 1] == 7;
    API(deallocate, larger ? larger : block, larger ? 2 * (size_t)n : (size_t)n);
    return larger ? boolean(vm, good) : DVX_FAILED;
}
/* deep(n): recursion in C */
ENTRY(deep) {
    int64_t n;
    if (!vm->api->poll(vm) || !vm->api->work(vm, 1) || !API(read_int, args[0], &n))
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
    int64_t *calls = API(state, &dvx_extension);
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
    dvx_value product = API(binary, DVX_MUL, args[0], height);
    if (count != 3 || dvx_failed(product) || dvx_failed(args[2])) return product;
    dvx_value scaled = API(binary, DVX_MUL, product, args[2]);
    API(release, product);
    return scaled;
}

/* ---- Misuse that is noticed ---- */

ENTRY(silent) {
    (void)vm, (void)args, (void)count;
    return DVX_FAILED;
}
ENTRY(both) {
    (void)args, (void)count;
    API(raise, DVX_VALUE_ERROR, "lost");
    return API(make_str, "result", 6);
}
ENTRY(chained) {
    (void)count;
    return API(get_item, API(get_attribute, args[0], "nothing"), args[0]);
}
ENTRY(nothing) {
    (void)args, (void)count;
    return API(repr, DVX_FAILED);
}

#define FUNCTION(name_, min_, max_) \
    { .size = sizeof(dvx_function), .name = #name_, .entry = name_, .min = min_, .max = max_ }
static const dvx_function functions[] = {
    FUNCTION(kind, 1, 1),
    FUNCTION(uint, 1, 1),
    FUNCTION(indexed, 1, 1),
    FUNCTION(int_text, 2, 2),
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
    {.size = sizeof(dvx_function), .name = "area", .entry = area, .parameters = &area_parameters},
};

static bool init(dvx_vm *vm, dvx_value module) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!vm->api->add_function(vm, module, &functions[i])) return false;
    return true;
}

DVX_EXTENSION_WITH_STATE("table", init, sizeof(int64_t), NULL);
