/* vector.c: an extension with types: Vector, of doubles, with nearly every slot that a type can
 * have (vector_sites.c makes them fast); its iterator, which programs cannot make; and Box, which
 * holds one value and may be part of cycles. */
#include "vector_sites.h"

extern const dvx_type iterator_type, box_type;

/* ---- Vectors ---- */

static void drop(dvx_vm *vm, void *payload) {
    vector *v = payload;
    API(deallocate, v->data, (size_t)v->count * sizeof *v->data);
    resize_vector(v, NULL, 0);
}

/* Gives an empty vector `count` elements, uninitialised. */
static bool grow(dvx_vm *vm, vector *v, int64_t count) {
    if (count == 0) return true;
    double *data = API(allocate, (size_t)count * sizeof *data);
    if (data) resize_vector(v, data, count);
    return data != NULL;
}

dvx_value new_vector(dvx_vm *vm, int64_t count, vector **made) {
    void *payload;
    dvx_value v = API(make_object, &vector_type, &payload);
    if (dvx_failed(v)) return v;
    *made = payload;
    if (grow(vm, payload, count)) return v;
    API(release, v);
    return DVX_FAILED;
}

static bool append_number(dvx_vm *vm, vector *v, double x) {
    size_t size = (size_t)v->count * sizeof x;
    double *larger =
        v->data ? API(resize, v->data, size, size + sizeof x) : API(allocate, sizeof x);
    if (!larger) return false;
    larger[v->count] = x;
    resize_vector(v, larger, v->count + 1);
    return true;
}

/* Vector(items=(), scale=1.0) */
static bool fill(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    double scale = 1, x;
    (void)count;
    if (!dvx_failed(args[1]) && !API(read_float, args[1], &scale)) return false;
    drop(vm, as_vector(vm, self));
    if (dvx_failed(args[0])) return true;
    dvx_value iterator = API(iterate, args[0]), item;
    int more = dvx_failed(iterator) ? -1 : 1;
    while (more > 0 && (more = API(next, iterator, &item)) > 0) {
        if (!API(read_float, item, &x) || !append_number(vm, as_vector(vm, self), x * scale))
            more = -1;
        API(release, item);
    }
    API(release, iterator);
    return more == 0;
}

static dvx_value show(dvx_vm *vm, dvx_value self) {
    const vector *v = as_vector(vm, self);
    dvx_value list = API(make_list, NULL, 0);
    bool good = !dvx_failed(list);
    for (int64_t i = 0; i < v->count && good; i++)
        good = API(append, list, API(make_float, v->data[i]));
    dvx_value text = good ? API(repr, list) : DVX_FAILED;
    dvx_value prefix = dvx_failed(text) ? text : API(make_str, "Vector", 6);
    dvx_value result = dvx_failed(prefix) ? prefix : API(binary, DVX_ADD, prefix, text);
    API(release, prefix);
    API(release, text);
    API(release, list);
    return result;
}

static dvx_value compare(dvx_vm *vm, dvx_compare op, dvx_value self, dvx_value other) {
    const vector *a = as_vector(vm, self), *b = as_vector(vm, other);
    if (!b || (op != DVX_EQ && op != DVX_NE)) return vm->api->make_not_implemented(vm);
    return API(make_bool, is_near(a, b, state_of(vm)->tolerance) == (op == DVX_EQ));
}

/* ---- Operators ---- */

int look(dvx_vm *vm, dvx_value v, operand *out) {
    *out = (operand){as_vector(vm, v), 0};
    if (out->v) return 1;
    dvx_kind kind = API(kind, v);
    if (kind != DVX_FLOAT && kind != DVX_INT && kind != DVX_BOOL) return 0;
    return API(read_float, v, &out->number) ? 1 : -1;
}

/* The operands' number of elements; -1: raised. */
static int64_t common_count(dvx_vm *vm, const operand *a, const operand *b) {
    if (!a->v || !b->v || a->v->count == b->v->count) return a->v ? a->v->count : b->v->count;
    dvx_value error = API(error_class, DVX_VALUE_ERROR);
    API(raise_format, error, "vectors of %lld and %lld elements", (long long)a->v->count,
        (long long)b->v->count);
    API(release, error);
    return -1;
}

static dvx_value operate(dvx_vm *vm, dvx_binary op, dvx_value a, dvx_value b) {
    operand x, y;
    int known = look(vm, a, &x);
    if (known > 0) known = look(vm, b, &y);
    if (known > 0 && op == DVX_MATMUL && (!x.v || !y.v)) known = 0;
    if (known <= 0) return known ? DVX_FAILED : vm->api->make_not_implemented(vm);
    int64_t count = common_count(vm, &x, &y);
    if (count < 0) return DVX_FAILED;
    if (op == DVX_MATMUL) return API(make_float, dot(x.v, y.v));
    vector *made;
    dvx_value result = new_vector(vm, count, &made);
    if (dvx_failed(result)) return result;
    for (int64_t i = 0; i < count; i++) made->data[i] = apply(op, at(&x, i), at(&y, i));
    return result;
}

static dvx_value operate_in_place(dvx_vm *vm, dvx_binary op, dvx_value self, dvx_value b) {
    operand x = {as_vector(vm, self), 0}, y;
    int known = look(vm, b, &y);
    if (known <= 0) return known ? DVX_FAILED : vm->api->make_not_implemented(vm);
    int64_t count = common_count(vm, &x, &y);
    if (count < 0) return DVX_FAILED;
    vector *v = as_vector(vm, self);
    for (int64_t i = 0; i < count; i++) v->data[i] = apply(op, v->data[i], at(&y, i));
    return API(retain, self);
}

static dvx_value negate(dvx_vm *vm, dvx_unary op, dvx_value self) {
    vector *made;
    (void)op;
    dvx_value result = new_vector(vm, as_vector(vm, self)->count, &made);
    if (dvx_failed(result)) return result;
    for (int64_t i = 0; i < made->count; i++) made->data[i] = -as_vector(vm, self)->data[i];
    return result;
}

/* ---- Items ---- */

static bool truth(const void *payload) {
    const vector *v = payload;
    for (int64_t i = 0; i < v->count; i++)
        if (v->data[i] != 0) return true;
    return false;
}

static int64_t length(dvx_vm *vm, dvx_value self) { return as_vector(vm, self)->count; }

double *element(dvx_vm *vm, dvx_value self, dvx_value key) {
    int64_t i;
    if (!API(read_index, key, &i)) return NULL;
    vector *v = as_vector(vm, self);
    if (i < 0) i += v->count;
    if (i >= 0 && i < v->count) return &v->data[i];
    API(raise, DVX_INDEX_ERROR, "vector index out of range");
    return NULL;
}

static dvx_value slice(dvx_vm *vm, dvx_value self, dvx_value key) {
    int64_t start, step, count;
    vector *made;
    if (!API(read_slice, key, as_vector(vm, self)->count, &start, &step, &count)) return DVX_FAILED;
    dvx_value result = new_vector(vm, count, &made);
    if (dvx_failed(result)) return result;
    for (int64_t i = 0; i < count; i++) made->data[i] = as_vector(vm, self)->data[start + i * step];
    return result;
}

static dvx_value get_item(dvx_vm *vm, dvx_value self, dvx_value key) {
    if (API(kind, key) == DVX_SLICE) return slice(vm, self, key);
    const double *x = element(vm, self, key);
    return x ? API(make_float, *x) : DVX_FAILED;
}

static bool set_item(dvx_vm *vm, dvx_value self, dvx_value key, dvx_value value) {
    double number;
    if (!API(read_float, value, &number)) return false;
    double *x = element(vm, self, key);
    if (x) *x = number;
    return x != NULL;
}

static bool delete_item(dvx_vm *vm, dvx_value self, dvx_value key) {
    double *x = element(vm, self, key);
    if (!x) return false;
    vector *v = as_vector(vm, self);
    vector left = {NULL, 0, false};
    if (!grow(vm, &left, v->count - 1)) return false;
    int64_t gap = x - v->data;
    for (int64_t i = 0; i < left.count; i++) left.data[i] = v->data[i + (i >= gap)];
    drop(vm, v);
    *v = left;
    return true;
}

static int contains(dvx_vm *vm, dvx_value self, dvx_value item) {
    double x;
    if (!API(read_float, item, &x)) return -1;
    const vector *v = as_vector(vm, self);
    for (int64_t i = 0; i < v->count; i++)
        if (v->data[i] == x) return 1;
    return 0;
}

/* v(index, otherwise=None) */
static dvx_value call(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    int64_t i;
    (void)count;
    if (!API(read_index, args[0], &i)) return DVX_FAILED;
    const vector *v = as_vector(vm, self);
    if (i >= 0 && i < v->count) return API(make_float, v->data[i]);
    return dvx_failed(args[1]) ? vm->api->make_none(vm) : API(retain, args[1]);
}

/* ---- Iterators ---- */

typedef struct iterator {
    dvx_value vector; /* or zero bits, a valid value that is no vector: all is done */
    int64_t next;
} iterator;

static dvx_value iterate(dvx_vm *vm, dvx_value self) {
    void *payload;
    dvx_value made = API(make_object, &iterator_type, &payload);
    if (!dvx_failed(made)) ((iterator *)payload)->vector = API(retain, self);
    return made;
}

static int next(dvx_vm *vm, dvx_value self, dvx_value *out) {
    iterator *it = API(payload, self, &iterator_type);
    const vector *v = as_vector(vm, it->vector);
    if (!v || it->next >= v->count) return 0;
    *out = API(make_float, v->data[it->next++]);
    return dvx_failed(*out) ? -1 : 1;
}

static void drop_iterator(dvx_vm *vm, void *payload) {
    API(release, ((iterator *)payload)->vector);
}

/* ---- Methods and attributes ---- */

static dvx_value norm(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    const vector *v = as_vector(vm, args[0]);
    return API(make_float, sqrt(dot(v, v)));
}

static dvx_value append(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        double x;
        if (!API(read_float, args[i], &x) || !append_number(vm, as_vector(vm, args[0]), x))
            return DVX_FAILED;
    }
    return vm->api->make_none(vm);
}

/* v.scaled(factor=2.0) */
static dvx_value scaled(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    dvx_value factor = dvx_failed(args[1]) ? API(make_float, 2) : API(retain, args[1]);
    dvx_value result = operate(vm, DVX_MUL, args[0], factor);
    API(release, factor);
    return result;
}

/* v.times_plus(s, b): v * s + b, as the operators have it */
dvx_value times_plus(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    if (!API(check_payload, args[2], &vector_type)) return DVX_FAILED;
    dvx_value product = API(binary, DVX_MUL, args[0], args[1]);
    dvx_value result = dvx_failed(product) ? product : API(binary, DVX_ADD, product, args[2]);
    API(release, product);
    return result;
}

/* Vector.zeros(count), of the class that it is called on */
static dvx_value zeros(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    int64_t n;
    (void)count;
    if (!API(read_int, args[1], &n)) return DVX_FAILED;
    dvx_value items = API(make_list, NULL, 0), zero = API(make_int, 0);
    bool good = !dvx_failed(items);
    for (int64_t i = 0; i < n && good; i++) good = API(append, items, zero);
    dvx_value result = good ? API(call, args[0], &items, 1) : DVX_FAILED;
    API(release, items);
    return result;
}

/* Vector.dot(a, b) */
static dvx_value dot_method(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    if (!API(check_payload, args[0], &vector_type) || !API(check_payload, args[1], &vector_type))
        return DVX_FAILED;
    return operate(vm, DVX_MATMUL, args[0], args[1]);
}

static dvx_value get_size(dvx_vm *vm, dvx_value self) {
    return API(make_int, as_vector(vm, self)->count);
}

static dvx_value get_first(dvx_vm *vm, dvx_value self) {
    return get_item(vm, self, API(make_int, 0));
}

static bool set_first(dvx_vm *vm, dvx_value self, dvx_value value) {
    return set_item(vm, self, API(make_int, 0), value);
}

/* x, y and z are elements. */
int64_t coordinate(dvx_vm *vm, dvx_value name) {
    char text[2];
    size_t size;
    if (!API(read_str, name, text, sizeof text, &size)) return -1;
    return size == 1 && text[0] >= 'x' && text[0] <= 'z' ? text[0] - 'x' : -1;
}

static int find_coordinate(dvx_vm *vm, dvx_value self, dvx_value name, dvx_value *out) {
    int64_t i = coordinate(vm, name);
    const vector *v = as_vector(vm, self);
    if (i < 0 || i >= v->count) return 0;
    *out = API(make_float, v->data[i]);
    return 1;
}

static int set_coordinate(dvx_vm *vm, dvx_value self, dvx_value name, dvx_value value) {
    int64_t i = coordinate(vm, name);
    if (i < 0 || i >= as_vector(vm, self)->count) return 0;
    if (!dvx_failed(value)) return set_item(vm, self, API(make_int, i), value) ? 1 : -1;
    return delete_item(vm, self, API(make_int, i)) ? 1 : -1;
}

#define NAMES(...) \
    (const char *const[]) { __VA_ARGS__ }
#define PARAMETERS(...) \
    &(const dvx_parameters) { .size = sizeof(dvx_parameters), __VA_ARGS__ }
#define METHOD(...) \
    &(const dvx_function) { .size = sizeof(dvx_function), __VA_ARGS__ }

static const dvx_function *const methods[] = {
    METHOD(.name = "norm", .entry = norm, .min = 1, .max = 1),
    METHOD(.name = "__abs__", .entry = norm, .min = 1, .max = 1),
    METHOD(.name = "__float__", .entry = norm, .min = 1, .max = 1),
    METHOD(.name = "append", .entry = append, .min = 1, .max = UINT32_MAX),
    METHOD(.name = "times_plus", .entry = times_plus, .min = 3, .max = 3),
    METHOD(.name = "scaled", .entry = scaled,
           .parameters = PARAMETERS(.names = NAMES("factor"), .count = 1, .positional = 1)),
    METHOD(.name = "zeros", .entry = zeros, .min = 2, .max = 2, .binding = DVX_CLASS_METHOD),
    METHOD(.name = "dot", .entry = dot_method, .min = 2, .max = 2, .binding = DVX_STATIC_METHOD),
};

static const dvx_attribute *const attributes[] = {
    &(const dvx_attribute){sizeof(dvx_attribute), "size", get_size, NULL},
    &(const dvx_attribute){sizeof(dvx_attribute), "first", get_first, set_first},
};

enum { ARITHMETIC = DVX_BIT(DVX_ADD) | DVX_BIT(DVX_SUB) | DVX_BIT(DVX_MUL) };

const dvx_type vector_type = {
    .size = sizeof(dvx_type),
    .name = "Vector",
    .doc = "A vector of floats.",
    .payload = sizeof(vector),
    .base = true,
    .initialise = fill,
    .parameters = PARAMETERS(.names = NAMES("items", "scale"), .count = 2, .positional = 2),
    .release = drop,
    .repr = show,
    .compare = compare,
    .binary = operate,
    .inplace = operate_in_place,
    .unary = negate,
    .binary_operators = ARITHMETIC | DVX_BIT(DVX_MATMUL),
    .inplace_operators = ARITHMETIC,
    .unary_operators = DVX_BIT(DVX_NEG),
    .truth = truth,
    .length = length,
    .get_item = get_item,
    .set_item = set_item,
    .delete_item = delete_item,
    .contains = contains,
    .iterate = iterate,
    .call = call,
    .call_parameters = PARAMETERS(.names = NAMES("index", "otherwise"), .count = 2, .positional = 2,
                                  .required = 1),
    .method_count = sizeof methods / sizeof *methods,
    .methods = methods,
    .attribute_count = sizeof attributes / sizeof *attributes,
    .attributes = attributes,
    .find_attribute = find_coordinate,
    .set_attribute = set_coordinate,
    .specialise = specialise_vector,
    .meta = offsetof(vector, spatial),
    .has_meta = true,
};

const dvx_type iterator_type = {
    .size = sizeof(dvx_type),
    .name = "VectorIterator",
    .payload = sizeof(iterator),
    .release = drop_iterator,
    .next = next,
};

/* ---- Boxes ---- */

typedef struct box {
    dvx_value value;
    bool full;
} box;

static void box_clear(dvx_vm *vm, void *payload) {
    box *b = payload;
    bool full = b->full;
    dvx_value old = b->value;
    b->full = false;
    if (full) API(release, old);
}

static void box_traverse(dvx_vm *vm, void *payload, dvx_visit visit, void *context) {
    const box *b = payload;
    if (b->full) visit(vm, b->value, context);
}

static bool box_put(dvx_vm *vm, dvx_value self, dvx_value value) {
    box *b = API(payload, self, &box_type);
    value = API(retain, value);
    box_clear(vm, b);
    *b = (box){value, true};
    return true;
}

static dvx_value box_get(dvx_vm *vm, dvx_value self) {
    const box *b = API(payload, self, &box_type);
    return b->full ? API(retain, b->value) : API(raise, DVX_VALUE_ERROR, "the box is empty");
}

static bool box_fill(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    (void)count;
    return dvx_failed(args[0]) || box_put(vm, self, args[0]);
}

static bool box_hash(dvx_vm *vm, dvx_value self, int64_t *out) {
    const box *b = API(payload, self, &box_type);
    *out = 17;
    return !b->full || API(hash, b->value, out);
}

static dvx_value box_compare(dvx_vm *vm, dvx_compare op, dvx_value self, dvx_value other) {
    const box *a = API(payload, self, &box_type), *b = API(payload, other, &box_type);
    if (!b) return vm->api->make_not_implemented(vm);
    if (!a->full || !b->full) return API(raise, DVX_VALUE_ERROR, "the box is empty");
    return API(compare, op, a->value, b->value);
}

static const dvx_attribute *const box_attributes[] = {
    &(const dvx_attribute){sizeof(dvx_attribute), "value", box_get, box_put},
};

const dvx_type box_type = {
    .size = sizeof(dvx_type),
    .name = "Box",
    .payload = sizeof(box),
    .base = true,
    .initialise = box_fill,
    .parameters = PARAMETERS(.names = NAMES("value"), .count = 1, .positional = 1),
    .release = box_clear,
    .traverse = box_traverse,
    .clear = box_clear,
    .hash = box_hash,
    .compare = box_compare,
    .attribute_count = 1,
    .attributes = box_attributes,
};

/* ---- The module ---- */

/* tolerance(t): elements that differ by t at most are equal from now on. */
static dvx_value set_tolerance(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    state *s = state_of(vm);
    double tolerance;
    (void)count;
    if (!API(read_float, args[0], &tolerance)) return DVX_FAILED;
    s->tolerance = tolerance;
    API(break_assumption, s->exact);
    return vm->api->make_none(vm);
}

static bool init(dvx_vm *vm, dvx_value module) {
    state *s = state_of(vm);
    s->exact = vm->api->make_assumption(vm);
    return s->exact && API(add_type, module, &vector_type) &&
           API(add_type, module, &iterator_type) && API(add_type, module, &box_type) &&
           API(add_function, module,
               METHOD(.name = "tolerance", .entry = set_tolerance, .min = 1, .max = 1));
}

DVX_EXTENSION_WITH_STATE("vector", init, sizeof(state), NULL);
