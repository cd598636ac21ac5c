/* vector.c: an extension with types: Vector, of doubles, with nearly every slot that a type can
 * have (vector_sites.c makes them fast); its iterator, which programs cannot make; and Box, which
 * holds one value and may be part of cycles. */
#include "vector_sites.h"

extern const dvx_type iterator_type, box_type;

/* ---- Vectors ---- */

static void drop(dvx_vm *vm, void *payload) {
    vector *v = payload;
    vm->api->deallocate(vm, v->data, (size_t)v->count * sizeof *v->data);
    resize_vector(v, NULL, 0);
}

/* Gives an empty vector `count` elements, uninitialised. */
static bool grow(dvx_vm *vm, vector *v, int64_t count) {
    if (count == 0) return true;
    double *data = vm->api->allocate(vm, (size_t)count * sizeof *data);
    if (data) resize_vector(v, data, count);
    return data != NULL;
}

dvx_value new_vector(dvx_vm *vm, int64_t count, vector **made) {
    void *payload;
    dvx_value v = vm->api->make_object(vm, &vector_type, &payload);
    if (dvx_failed(v)) return v;
    *made = payload;
    if (grow(vm, payload, count)) return v;
    vm->api->release(vm, v);
    return DVX_FAILED;
}

static bool append_number(dvx_vm *vm, vector *v, double x) {
    size_t size = (size_t)v->count * sizeof x;
    double *larger = v->data ? vm->api->resize(vm, v->data, size, size + sizeof x)
                             : vm->api->allocate(vm, sizeof x);
    if (!larger) return false;
    larger[v->count] = x;
    resize_vector(v, larger, v->count + 1);
    return true;
}

/* Vector(items=(), scale=1.0) */
static bool fill(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    double scale = 1, x;
    (void)count;
    if (!dvx_failed(args[1]) && !vm->api->read_float(vm, args[1], &scale)) return false;
    drop(vm, as_vector(vm, self));
    if (dvx_failed(args[0])) return true;
    dvx_value iterator = vm->api->iterate(vm, args[0]), item;
    int more = dvx_failed(iterator) ? -1 : 1;
    while (more > 0 && (more = vm->api->next(vm, iterator, &item)) > 0) {
        if (!vm->api->read_float(vm, item, &x) ||
            !append_number(vm, as_vector(vm, self), x * scale))
            more = -1;
        vm->api->release(vm, item);
    }
    vm->api->release(vm, iterator);
    return more == 0;
}

static dvx_value show(dvx_vm *vm, dvx_value self) {
    const vector *v = as_vector(vm, self);
    dvx_value list = vm->api->make_list(vm, NULL, 0);
    bool good = !dvx_failed(list);
    for (int64_t i = 0; i < v->count && good; i++)
        good = vm->api->append(vm, list, vm->api->make_float(vm, v->data[i]));
    dvx_value text = good ? vm->api->repr(vm, list) : DVX_FAILED;
    dvx_value prefix = dvx_failed(text) ? text : vm->api->make_str(vm, "Vector", 6);
    dvx_value result = dvx_failed(prefix) ? prefix : vm->api->binary(vm, DVX_ADD, prefix, text);
    vm->api->release(vm, prefix);
    vm->api->release(vm, text);
    vm->api->release(vm, list);
    return result;
}

static dvx_value compare(dvx_vm *vm, dvx_compare op, dvx_value self, dvx_value other) {
    const vector *a = as_vector(vm, self), *b = as_vector(vm, other);
    if (!b || (op != DVX_EQ && op != DVX_NE)) return vm->api->make_not_implemented(vm);
    return vm->api->make_bool(vm, is_near(a, b, state_of(vm)->tolerance) == (op == DVX_EQ));
}

/* ---- Operators ---- */

int look(dvx_vm *vm, dvx_value v, operand *out) {
    *out = (operand){as_vector(vm, v), 0};
    if (out->v) return 1;
    dvx_kind kind = vm->api->kind(vm, v);
    if (kind != DVX_FLOAT && kind != DVX_INT && kind != DVX_BOOL) return 0;
    return vm->api->read_float(vm, v, &out->number) ? 1 : -1;
}

/* The operands' number of elements; -1: raised. */
static int64_t common_count(dvx_vm *vm, const operand *a, const operand *b) {
    if (!a->v || !b->v || a->v->count == b->v->count) return a->v ? a->v->count : b->v->count;
    dvx_value error = vm->api->error_class(vm, DVX_VALUE_ERROR);
    vm->api->raise_format(vm, error, "vectors of %lld and %lld elements", (long long)a->v->count,
                          (long long)b->v->count);
    vm->api->release(vm, error);
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
    if (op == DVX_MATMUL) return vm->api->make_float(vm, dot(x.v, y.v));
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
    return vm->api->retain(vm, self);
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
    if (!vm->api->read_index(vm, key, &i)) return NULL;
    vector *v = as_vector(vm, self);
    if (i < 0) i += v->count;
    if (i >= 0 && i < v->count) return &v->data[i];
    vm->api->raise(vm, DVX_INDEX_ERROR, "vector index out of range");
    return NULL;
}

static dvx_value slice(dvx_vm *vm, dvx_value self, dvx_value key) {
    int64_t start, step, count;
    vector *made;
    if (!vm->api->read_slice(vm, key, as_vector(vm, self)->count, &start, &step, &count))
        return DVX_FAILED;
    dvx_value result = new_vector(vm, count, &made);
    if (dvx_failed(result)) return result;
    for (int64_t i = 0; i < count; i++) made->data[i] = as_vector(vm, self)->data[start + i * step];
    return result;
}

static dvx_value get_item(dvx_vm *vm, dvx_value self, dvx_value key) {
    if (vm->api->kind(vm, key) == DVX_SLICE) return slice(vm, self, key);
    const double *x = element(vm, self, key);
    return x ? vm->api->make_float(vm, *x) : DVX_FAILED;
}

static bool set_item(dvx_vm *vm, dvx_value self, dvx_value key, dvx_value value) {
    double number;
    if (!vm->api->read_float(vm, value, &number)) return false;
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
    if (!vm->api->read_float(vm, item, &x)) return -1;
    const vector *v = as_vector(vm, self);
    for (int64_t i = 0; i < v->count; i++)
        if (v->data[i] == x) return 1;
    return 0;
}

/* v(index, otherwise=None) */
static dvx_value call(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    int64_t i;
    (void)count;
    if (!vm->api->read_index(vm, args[0], &i)) return DVX_FAILED;
    const vector *v = as_vector(vm, self);
    if (i >= 0 && i < v->count) return vm->api->make_float(vm, v->data[i]);
    return dvx_failed(args[1]) ? vm->api->make_none(vm) : vm->api->retain(vm, args[1]);
}

/* ---- Iterators ---- */

typedef struct iterator {
    dvx_value vector; /* or zero bits, a valid value that is no vector: all is done */
    int64_t next;
} iterator;

static dvx_value iterate(dvx_vm *vm, dvx_value self) {
    void *payload;
    dvx_value made = vm->api->make_object(vm, &iterator_type, &payload);
    if (!dvx_failed(made)) ((iterator *)payload)->vector = vm->api->retain(vm, self);
    return made;
}

static int next(dvx_vm *vm, dvx_value self, dvx_value *out) {
    iterator *it = vm->api->payload(vm, self, &iterator_type);
    const vector *v = as_vector(vm, it->vector);
    if (!v || it->next >= v->count) return 0;
    *out = vm->api->make_float(vm, v->data[it->next++]);
    return dvx_failed(*out) ? -1 : 1;
}

static void drop_iterator(dvx_vm *vm, void *payload) {
    vm->api->release(vm, ((iterator *)payload)->vector);
}

/* ---- Methods and attributes ---- */

static dvx_value norm(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    const vector *v = as_vector(vm, args[0]);
    return vm->api->make_float(vm, sqrt(dot(v, v)));
}

static dvx_value append(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        double x;
        if (!vm->api->read_float(vm, args[i], &x) || !append_number(vm, as_vector(vm, args[0]), x))
            return DVX_FAILED;
    }
    return vm->api->make_none(vm);
}

/* v.scaled(factor=2.0) */
static dvx_value scaled(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    dvx_value factor =
        dvx_failed(args[1]) ? vm->api->make_float(vm, 2) : vm->api->retain(vm, args[1]);
    dvx_value result = operate(vm, DVX_MUL, args[0], factor);
    vm->api->release(vm, factor);
    return result;
}

/* v.times_plus(s, b): v * s + b, as the operators have it */
dvx_value times_plus(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    if (!vm->api->check_payload(vm, args[2], &vector_type)) return DVX_FAILED;
    dvx_value product = vm->api->binary(vm, DVX_MUL, args[0], args[1]);
    dvx_value result =
        dvx_failed(product) ? product : vm->api->binary(vm, DVX_ADD, product, args[2]);
    vm->api->release(vm, product);
    return result;
}

/* Vector.zeros(count), of the class that it is called on */
static dvx_value zeros(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    int64_t n;
    (void)count;
    if (!vm->api->read_int(vm, args[1], &n)) return DVX_FAILED;
    dvx_value items = vm->api->make_list(vm, NULL, 0), zero = vm->api->make_int(vm, 0);
    bool good = !dvx_failed(items);
    for (int64_t i = 0; i < n && good; i++) good = vm->api->append(vm, items, zero);
    dvx_value result = good ? vm->api->call(vm, args[0], &items, 1) : DVX_FAILED;
    vm->api->release(vm, items);
    return result;
}

/* Vector.dot(a, b) */
static dvx_value dot_method(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    if (!vm->api->check_payload(vm, args[0], &vector_type) ||
        !vm->api->check_payload(vm, args[1], &vector_type))
        return DVX_FAILED;
    return operate(vm, DVX_MATMUL, args[0], args[1]);
}

static dvx_value get_size(dvx_vm *vm, dvx_value self) {
    return vm->api->make_int(vm, as_vector(vm, self)->count);
}

static dvx_value get_first(dvx_vm *vm, dvx_value self) {
    return get_item(vm, self, vm->api->make_int(vm, 0));
}

static bool set_first(dvx_vm *vm, dvx_value self, dvx_value value) {
    return set_item(vm, self, vm->api->make_int(vm, 0), value);
}

/* x, y and z are elements. */
int64_t coordinate(dvx_vm *vm, dvx_value name) {
    char text[2];
    size_t size;
    if (!vm->api->read_str(vm, name, text, sizeof text, &size)) return -1;
    return size == 1 && text[0] >= 'x' && text[0] <= 'z' ? text[0] - 'x' : -1;
}

static int find_coordinate(dvx_vm *vm, dvx_value self, dvx_value name, dvx_value *out) {
    int64_t i = coordinate(vm, name);
    const vector *v = as_vector(vm, self);
    if (i < 0 || i >= v->count) return 0;
    *out = vm->api->make_float(vm, v->data[i]);
    return 1;
}

static int set_coordinate(dvx_vm *vm, dvx_value self, dvx_value name, dvx_value value) {
    int64_t i = coordinate(vm, name);
    if (i < 0 || i >= as_vector(vm, self)->count) return 0;
    if (!dvx_failed(value)) return set_item(vm, self, vm->api->make_int(vm, i), value) ? 1 : -1;
    return delete_item(vm, self, vm->api->make_int(vm, i)) ? 1 : -1;
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
    if (full) vm->api->release(vm, old);
}

static void box_traverse(dvx_vm *vm, void *payload, dvx_visit visit, void *context) {
    const box *b = payload;
    if (b->full) visit(vm, b->value, context);
}

static bool box_put(dvx_vm *vm, dvx_value self, dvx_value value) {
    box *b = vm->api->payload(vm, self, &box_type);
    value = vm->api->retain(vm, value);
    box_clear(vm, b);
    *b = (box){value, true};
    return true;
}

static dvx_value box_get(dvx_vm *vm, dvx_value self) {
    const box *b = vm->api->payload(vm, self, &box_type);
    return b->full ? vm->api->retain(vm, b->value)
                   : vm->api->raise(vm, DVX_VALUE_ERROR, "the box is empty");
}

static bool box_fill(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    (void)count;
    return dvx_failed(args[0]) || box_put(vm, self, args[0]);
}

static bool box_hash(dvx_vm *vm, dvx_value self, int64_t *out) {
    const box *b = vm->api->payload(vm, self, &box_type);
    *out = 17;
    return !b->full || vm->api->hash(vm, b->value, out);
}

static dvx_value box_compare(dvx_vm *vm, dvx_compare op, dvx_value self, dvx_value other) {
    const box *a = vm->api->payload(vm, self, &box_type),
              *b = vm->api->payload(vm, other, &box_type);
    if (!b) return vm->api->make_not_implemented(vm);
    if (!a->full || !b->full) return vm->api->raise(vm, DVX_VALUE_ERROR, "the box is empty");
    return vm->api->compare(vm, op, a->value, b->value);
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
    if (!vm->api->read_float(vm, args[0], &tolerance)) return DVX_FAILED;
    s->tolerance = tolerance;
    vm->api->break_assumption(vm, s->exact);
    return vm->api->make_none(vm);
}

static bool init(dvx_vm *vm, dvx_value module) {
    state *s = state_of(vm);
    s->exact = vm->api->make_assumption(vm);
    return s->exact && vm->api->add_type(vm, module, &vector_type) &&
           vm->api->add_type(vm, module, &iterator_type) &&
           vm->api->add_type(vm, module, &box_type) &&
           vm->api->add_function(
               vm, module, METHOD(.name = "tolerance", .entry = set_tolerance, .min = 1, .max = 1));
}

DVX_EXTENSION_WITH_STATE("vector", init, sizeof(state), NULL);
