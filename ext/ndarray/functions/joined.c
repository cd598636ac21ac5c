/* joined.c: r_, c_, s_ and index_exp: arrays that are written as subscripts (join.h). */
#include "functions/join.h"

#include <math.h>

#include "array/compose.h"
#include "array/convert.h"
#include "array/methods.h"
#include "array/shape.h"

/* What has been read of a key: arrays, and what their dtype comes from. */
typedef struct parts {
    dvx_value *values;
    bool *numbers; /* which of them were numbers */
    int64_t count;
    const nd_dtype *arrays, *scalars; /* NULL: there is none */
} parts;

/* A function of the module, called. */
static dvx_value call_named(dvx_vm *vm, const char *name, const dvx_value *args, uint32_t count) {
    dvx_value module = vm->api->import(vm, "ndarray");
    if (dvx_failed(module)) return module;
    dvx_value function = compose_first(vm, vm->api->get_attribute(vm, module, name), module);
    if (dvx_failed(function)) return function;
    return compose_first(vm, vm->api->call(vm, function, args, count), function);
}

/* start:stop:step is arange, start:stop:count*1j is linspace. */
static dvx_value read_slice(dvx_vm *vm, dvx_value slice) {
    static const char *const names[3] = {"start", "stop", "step"};
    dvx_value ends[3], made = DVX_FAILED;
    double real, imaginary;
    int read = 0;
    for (; read < 3; read++) {
        ends[read] = vm->api->get_attribute(vm, slice, names[read]);
        if (dvx_failed(ends[read])) break;
        if (nd_is_none(vm, ends[read]) && read != 1) {
            vm->api->release(vm, ends[read]);
            ends[read] = vm->api->make_int(vm, read == 0 ? 0 : 1);
        }
    }
    if (read == 3 && vm->api->kind(vm, ends[2]) == DVX_COMPLEX) {
        if (vm->api->read_complex(vm, ends[2], &real, &imaginary)) {
            const double size = hypot(real, imaginary);
            vm->api->release(vm, ends[2]);
            ends[2] = vm->api->make_int(vm, size < 0x1p53 ? (int64_t)size : INT64_MAX);
            made = call_named(vm, "linspace", ends, 3);
        }
    } else if (read == 3) {
        made = call_named(vm, "arange", ends, 3);
    }
    while (read--) vm->api->release(vm, ends[read]);
    return made;
}

static void note(const nd_dtype **common, const nd_dtype *dtype) {
    *common = *common ? dtype_promote(*common, dtype) : dtype;
}

/* A row as a column. */
static dvx_value as_column(dvx_vm *vm, dvx_value row) {
    const int64_t shape[2] = {array_of(vm, row)->size, 1};
    return compose_first(vm, shape_reshape(vm, row, 2, shape), row);
}

static bool read_part(dvx_vm *vm, dvx_value item, bool columns, parts *p) {
    const dvx_kind kind = vm->api->kind(vm, item);
    const bool number = kind == DVX_BOOL || kind == DVX_INT || kind == DVX_FLOAT ||
                        kind == DVX_COMPLEX || array_is_scalar(vm, item);
    nd_array *a;
    dvx_value made;
    if (kind == DVX_STR)
        return nd_fail(vm, DVX_VALUE_ERROR, "directives of r_ and c_ are not part of ndarray");
    if (kind == DVX_SLICE)
        made = read_slice(vm, item);
    else
        made = array_operand(vm, item, NULL, &a);
    if (dvx_failed(made)) return false;
    made = compose_first(vm, shape_at_least(vm, made, 1), made);
    if (!dvx_failed(made) && columns && array_of(vm, made)->ndim == 1) made = as_column(vm, made);
    if (dvx_failed(made)) return false;
    note(number ? &p->scalars : &p->arrays, array_of(vm, made)->dtype);
    p->numbers[p->count] = number;
    p->values[p->count++] = made;
    return true;
}

/* Numbers take the arrays' dtype where their kind is not beyond theirs. */
static bool cast_numbers(dvx_vm *vm, parts *p, const nd_dtype **common) {
    static const char kinds[] = "buifc";
    const nd_dtype *to = p->arrays ? p->arrays : p->scalars;
    if (p->arrays && p->scalars && strchr(kinds, p->scalars->kind) > strchr(kinds, p->arrays->kind))
        to = dtype_promote(p->arrays, p->scalars);
    for (int64_t i = 0; i < p->count; i++) {
        if (!p->numbers[i]) continue;
        p->values[i] =
            compose_first(vm, array_copy(vm, array_of(vm, p->values[i]), to, 'C'), p->values[i]);
        if (dvx_failed(p->values[i])) return false;
    }
    *common = to;
    return true;
}

static dvx_value join_key(dvx_vm *vm, dvx_value key, int64_t count, bool columns) {
    const bool tuple = vm->api->kind(vm, key) == DVX_TUPLE;
    const size_t size = (size_t)count * sizeof(dvx_value), flags = (size_t)count * sizeof(bool);
    const nd_dtype *common;
    parts p = {vm->api->allocate(vm, size), vm->api->allocate(vm, flags), 0, NULL, NULL};
    dvx_value made = DVX_FAILED;
    bool good = p.values && p.numbers;
    for (int64_t i = 0; good && i < count; i++) {
        dvx_value item =
            tuple ? vm->api->get_item(vm, key, vm->api->make_int(vm, i)) : vm->api->retain(vm, key);
        good = !dvx_failed(item) && read_part(vm, item, columns, &p);
        vm->api->release(vm, item);
    }
    if (good && cast_numbers(vm, &p, &common)) {
        const int last = array_of(vm, p.values[0])->ndim - 1;
        made = join_arrays(vm, p.values, count, columns ? last : 0, common);
    }
    for (int64_t i = 0; i < p.count; i++) vm->api->release(vm, p.values[i]);
    if (p.values) vm->api->deallocate(vm, p.values, size);
    if (p.numbers) vm->api->deallocate(vm, p.numbers, flags);
    return made;
}

static dvx_value join_by(dvx_vm *vm, dvx_value key, bool columns) {
    const int64_t count = vm->api->kind(vm, key) == DVX_TUPLE ? vm->api->length(vm, key) : 1;
    if (!count)
        return vm->api->raise(vm, DVX_VALUE_ERROR, "need at least one array to concatenate");
    return join_key(vm, key, count, columns);
}

static dvx_value get_rows(dvx_vm *vm, dvx_value self, dvx_value key) {
    (void)self;
    return join_by(vm, key, false);
}
static dvx_value get_columns(dvx_vm *vm, dvx_value self, dvx_value key) {
    (void)self;
    return join_by(vm, key, true);
}
static dvx_value get_key(dvx_vm *vm, dvx_value self, dvx_value key) {
    (void)self;
    return vm->api->retain(vm, key);
}
static dvx_value get_tuple(dvx_vm *vm, dvx_value self, dvx_value key) {
    (void)self;
    return vm->api->kind(vm, key) == DVX_TUPLE ? vm->api->retain(vm, key)
                                               : vm->api->make_tuple(vm, &key, 1);
}

#define SUBSCRIPTED(variable, name_, get) \
    static const dvx_type variable = {    \
        .size = sizeof(dvx_type), .name = name_, .payload = 1, .get_item = get}
SUBSCRIPTED(rows_type, "RClass", get_rows);
SUBSCRIPTED(columns_type, "CClass", get_columns);
SUBSCRIPTED(key_type, "IndexExpression", get_key);
SUBSCRIPTED(tuple_type, "TupleExpression", get_tuple);

static const struct {
    const char *name;
    const dvx_type *type;
} objects[] = {
    {"r_", &rows_type}, {"c_", &columns_type}, {"s_", &key_type}, {"index_exp", &tuple_type}};

bool joined_register(dvx_vm *vm, dvx_value module) {
    bool good = true;
    for (size_t i = 0; good && i < LENGTH_OF(objects); i++) {
        void *payload;
        good = vm->api->add_type(vm, module, objects[i].type);
        dvx_value made = good ? vm->api->make_object(vm, objects[i].type, &payload) : DVX_FAILED;
        good =
            good && !dvx_failed(made) && vm->api->add_constant(vm, module, objects[i].name, made);
        if (!dvx_failed(made)) vm->api->release(vm, made);
    }
    return good;
}
