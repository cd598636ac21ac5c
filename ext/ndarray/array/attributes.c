/* attributes.c: what attributes and small methods tell of an array (methods.h). */
#include "loops/cast.h"
#include "array/convert.h"
#include "array/create.h"
#include "array/methods.h"

#define SELF(a) const nd_array *a = array_self(vm, self)

static dvx_value get_strides(dvx_vm *vm, dvx_value self) {
    SELF(a);
    int64_t strides[ND_MOST];
    for (int i = 0; i < a->ndim; i++) strides[i] = a->axes[i].stride;
    return array_ints(vm, strides, a->ndim);
}
ND_ATTRIBUTE(strides, get_strides, NULL);

#define NUMBER(name, value)                                   \
    static dvx_value get_##name(dvx_vm *vm, dvx_value self) { \
        SELF(a);                                              \
        return vm->api->make_int(vm, value);                  \
    }                                                         \
    ND_ATTRIBUTE(name, get_##name, NULL)
NUMBER(ndim, a->ndim);
NUMBER(size, a->size);
NUMBER(itemsize, a->dtype->size);
NUMBER(nbytes, a->size * a->dtype->size);

static dvx_value get_dtype(dvx_vm *vm, dvx_value self) {
    SELF(a);
    return dtype_object(vm, a->dtype);
}
ND_ATTRIBUTE(dtype, get_dtype, NULL);

static dvx_value get_base(dvx_vm *vm, dvx_value self) {
    SELF(a);
    return a->flags & (ND_HAS_BASE | ND_LENT) ? vm->api->retain(vm, a->base) : nd_none(vm);
}
ND_ATTRIBUTE(base, get_base, NULL);

/* ---- Conversions ---- */

int attributes_truth(dvx_vm *vm, dvx_value self) {
    bool b;
    const nd_array *a = array_self(vm, self);
    if (a->size > 1) {
        nd_fail(vm, DVX_VALUE_ERROR,
                "The truth value of an array with more than one element is ambiguous. Use a.any() "
                "or a.all()");
        return -1;
    }
    if (a->size == 0) return 0;
    cast_between(a->dtype, ND_DTYPE(ND_BOOL))((char *)&b, 0, a->data, 0, 1);
    return b;
}

bool attributes_scalar_truth(const void *payload) {
    const nd_array *a = payload;
    bool b;
    if (LIKELY(a->dtype->num == ND_BOOL)) return *(const bool *)a->data;
    cast_between(a->dtype, ND_DTYPE(ND_BOOL))((char *)&b, 0, a->data, 0, 1);
    return b;
}

/* An element as an int or a float, where that is a conversion of C; DVX_FAILED: it is not. */
static dvx_value convert_number(dvx_vm *vm, const nd_array *a, dvx_kind kind) {
    const void *at = a->data;
    int64_t i;
    double d;
    switch (a->dtype->num) {
    case ND_UINT64:
        i = *(const int64_t *)at;
        if (i < 0) return DVX_FAILED;
        break;
    default: i = type_int(a->dtype->num, at); break;
    case ND_FLOAT32:
    case ND_FLOAT64:
        d = a->dtype->num == ND_FLOAT32 ? (double)*(const float *)at : *(const double *)at;
        if (kind == DVX_FLOAT) return vm->api->make_float(vm, d);
        /* (Others are too large, or no numbers.) */
        return kind == DVX_INT && d > -0x1p63 && d < 0x1p63 ? vm->api->make_int(vm, (int64_t)d)
                                                            : DVX_FAILED;
    case ND_FLOAT16:
    case ND_COMPLEX64:
    case ND_COMPLEX128: return DVX_FAILED;
    }
    if (kind == DVX_INT) return vm->api->make_int(vm, i);
    return kind == DVX_FLOAT ? vm->api->make_float(vm, (double)i) : DVX_FAILED;
}

/* The only element as a number of that kind, whose class is class_. */
static dvx_value as_number(dvx_vm *vm, dvx_value self, dvx_value class_, dvx_kind kind) {
    const nd_array *a = array_self(vm, self);
    if (a->size != 1)
        return nd_raise(vm, DVX_TYPE_ERROR,
                        "only size-1 arrays can be converted to Python scalars");
    dvx_value number = convert_number(vm, a, kind);
    if (!dvx_failed(number)) return number;
    nd_array one = *a;
    one.ndim = 0;
    number = convert_to_list(vm, &one);
    if (dvx_failed(number) || vm->api->kind(vm, number) == kind) return number;
    dvx_value made = vm->api->call(vm, class_, &number, 1);
    vm->api->release(vm, number);
    return made;
}
static dvx_value as_int(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return as_number(vm, args[0], nd_state_of(vm)->int_, DVX_INT);
}
ND_METHOD(__int__, ND_PLAIN("__int__", as_int, 1, 1));
static dvx_value as_float(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return as_number(vm, args[0], nd_state_of(vm)->float_, DVX_FLOAT);
}
ND_METHOD(__float__, ND_PLAIN("__float__", as_float, 1, 1));
static dvx_value as_complex(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return as_number(vm, args[0], nd_state_of(vm)->complex_, DVX_COMPLEX);
}
ND_METHOD(__complex__, ND_PLAIN("__complex__", as_complex, 1, 1));

static dvx_value as_index(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const nd_array *a = array_self(vm, args[0]);
    (void)count;
    if (array_is_truth(vm, args[0]))
        return nd_deprecated(vm, "In future, it will be an error for 'np.bool_' scalars to be "
                                 "interpreted as an index")
                   ? vm->api->make_int(vm, *a->data)
                   : DVX_FAILED;
    if (a->ndim || !dtype_is_integer(a->dtype) || a->dtype->num == ND_BOOL)
        return nd_raise(vm, DVX_TYPE_ERROR,
                        "only integer scalar arrays can be converted to a scalar index");
    return convert_to_list(vm, a);
}
ND_METHOD(__index__, ND_PLAIN("__index__", as_index, 1, 1));

static dvx_value tolist(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return convert_to_list(vm, array_self(vm, args[0]));
}
ND_METHOD(tolist, ND_PLAIN("tolist", tolist, 1, 1));

/* item(*index): a number of dl */
static dvx_value item(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const nd_array *a = array_self(vm, args[0]);
    nd_array one = *a;
    int64_t i = 0;
    one.ndim = 0;
    if (count == 1) {
        if (a->size == 1) return convert_to_list(vm, &one);
        return nd_raise(vm, DVX_VALUE_ERROR,
                        "can only convert an array of size 1 to a Python scalar");
    }
    /* Without a key; errors are told by what follows. */
    if ((int)count - 1 == a->ndim && a->ndim) {
        int axis = 0;
        for (; axis < a->ndim; axis++) {
            const int64_t size = a->axes[axis].count;
            if (vm->api->kind(vm, args[axis + 1]) != DVX_INT) break;
            if (!vm->api->read_int(vm, args[axis + 1], &i)) break;
            if (i < 0) i += size;
            if (i < 0 || i >= size) break;
            one.data += i * a->axes[axis].stride;
        }
        if (axis == a->ndim) return convert_to_list(vm, &one);
        vm->api->clear_error(vm);
        one.data = a->data;
    }
    bool tuple = count == 2 && vm->api->kind(vm, args[1]) == DVX_TUPLE;
    if (!tuple && count == 2 && a->ndim != 1) {
        if (!nd_read_index(vm, args[1], &i)) return DVX_FAILED;
        if (i < -a->size || i >= a->size)
            return nd_raise(vm, DVX_INDEX_ERROR, "index %lld is out of bounds for size %lld",
                            (long long)i, (long long)a->size);
        for (int k = a->ndim; k-- > 0; i = (i < 0 ? i + a->size : i) / a->axes[k].count)
            one.data += (i < 0 ? i + a->size : i) % a->axes[k].count * a->axes[k].stride;
        return convert_to_list(vm, &one);
    }
    dvx_value key =
        tuple ? vm->api->retain(vm, args[1]) : vm->api->make_tuple(vm, args + 1, count - 1);
    if (dvx_failed(key)) return key;
    if (vm->api->length(vm, key) != a->ndim) {
        vm->api->release(vm, key);
        return nd_raise(vm, DVX_VALUE_ERROR, "incorrect number of indices for array");
    }
    dvx_value found = vm->api->get_item(vm, args[0], key);
    vm->api->release(vm, key);
    const nd_array *scalar = array_of(vm, found);
    if (!scalar) return found;
    dvx_value number = convert_to_list(vm, scalar);
    vm->api->release(vm, found);
    return number;
}
ND_METHOD(item, ND_PLAIN("item", item, 1, ND_ANY));

/* ---- Copies ---- */

/* astype(dtype, order='K', casting='unsafe', subok=True, copy=True) */
static dvx_value astype(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    char order, casting[32];
    const nd_array *a = array_self(vm, args[0]);
    const nd_dtype *dtype = dtype_read(vm, args[1]);
    int copy = nd_flag(vm, args[5], true);
    (void)count;
    if (!dtype || copy < 0 || !create_order(vm, args[2], 'K', &order)) return DVX_FAILED;
    nd_word(vm, args[3], casting);
    bool refused = (!strcmp(casting, "safe") && !dtype_is_safe(a->dtype, dtype)) ||
                   (!strcmp(casting, "same_kind") && !dtype_is_same_kind(a->dtype, dtype)) ||
                   ((!strcmp(casting, "no") || !strcmp(casting, "equiv")) && dtype != a->dtype);
    if (refused)
        return nd_raise(vm, DVX_TYPE_ERROR,
                        "Cannot cast array data from dtype('%s') to dtype('%s') according to the "
                        "rule '%s'",
                        a->dtype->name, dtype->name, casting);
    bool fits = order == 'C'   ? a->flags & ND_C_CONTIGUOUS
                : order == 'F' ? a->flags & ND_F_CONTIGUOUS
                               : true;
    if (!copy && dtype == a->dtype && fits) return vm->api->retain(vm, args[0]);
    dvx_value made = array_copy(vm, a, dtype, order);
    return array_is_scalar(vm, args[0]) ? array_result(vm, made) : made;
}
ND_PARAMETERS(of_astype, 1, "dtype", "order", "casting", "subok", "copy");
ND_METHOD(astype, ND_NAMED("astype", astype, of_astype));

/* copy(order='C') */
static dvx_value copy(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    char order;
    (void)count;
    if (!create_order(vm, args[1], 'C', &order)) return DVX_FAILED;
    if (array_is_scalar(vm, args[0])) return vm->api->retain(vm, args[0]);
    const nd_array *a = array_self(vm, args[0]);
    return array_copy(vm, a, a->dtype, order);
}
ND_PARAMETERS(of_copy, 0, "order");
ND_METHOD(copy, ND_NAMED("copy", copy, of_copy));

/* __deepcopy__(memo) */
static dvx_value copy_deeply(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    const dvx_value plain[2] = {args[0], DVX_FAILED};
    return copy(vm, plain, 2);
}
ND_METHOD(__copy__, ND_PLAIN("__copy__", copy_deeply, 1, 1));
ND_METHOD(__deepcopy__, ND_PLAIN("__deepcopy__", copy_deeply, 2, 2));

/* round(scalar): an int; round(scalar, n): a scalar. */
static dvx_value round_scalar(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const bool digits = count > 1 && nd_is_given(vm, args[1]);
    if (digits) return vm->api->call_method(vm, args[0], "round", args + 1, 1);
    dvx_value number = convert_to_list(vm, array_self(vm, args[0]));
    dvx_value round = dvx_failed(number) ? number : vm->api->builtin(vm, "round");
    dvx_value made = dvx_failed(round) ? round : vm->api->call(vm, round, &number, 1);
    vm->api->release(vm, round);
    vm->api->release(vm, number);
    return made;
}
ND_METHOD(__round__, ND_PLAIN("__round__", round_scalar, 1, 2));

static dvx_value fill(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    char one[16];
    nd_array *a = array_self(vm, args[0]);
    (void)count;
    if (!array_writable(vm, a) || !array_store(vm, a->dtype, one, args[1])) return DVX_FAILED;
    return create_fill(vm, a, one) ? nd_none(vm) : DVX_FAILED;
}
ND_PARAMETERS(of_fill, 1, "value");
ND_METHOD(fill, ND_NAMED("fill", fill, of_fill));

/* tobytes(order='C') */
static dvx_value tobytes(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    char order;
    (void)count;
    const nd_array *a = array_self(vm, args[0]);
    if (!create_order(vm, args[1], 'C', &order)) return DVX_FAILED;
    const size_t size = (size_t)a->size * a->dtype->size;
    if (a->flags & ND_C_CONTIGUOUS && order != 'F') return vm->api->make_bytes(vm, a->data, size);
    dvx_value copy = array_copy(vm, a, a->dtype, order);
    if (dvx_failed(copy)) return copy;
    a = array_of(vm, copy);
    dvx_value bytes = vm->api->make_bytes(vm, a->data, size);
    vm->api->release(vm, copy);
    return bytes;
}
ND_METHOD(tobytes, ND_NAMED("tobytes", tobytes, of_copy));
