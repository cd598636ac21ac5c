/* extra.c: flags, take, nonzero, copyto, may_share_memory. */
#include "array/compose.h"
#include "array/convert.h"
#include "index/index.h"
#include "array/methods.h"
#include "functions/select.h"
#include "array/shape.h"

/* ---- flags ---- */

/* _flags(a): C order, Fortran's, its own data, writeable, aligned: a bit for each. */
static dvx_value flags_of(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const nd_array *a = array_of(vm, args[0]);
    (void)count;
    if (!a) return nd_raise(vm, DVX_TYPE_ERROR, "an array is needed");
    const bool bits[] = {a->flags & ND_C_CONTIGUOUS, a->flags & ND_F_CONTIGUOUS,
                         !(a->flags & (ND_HAS_BASE | ND_TURNED)), !a->read_only, true};
    int64_t all = 0;
    for (size_t i = 0; i < LENGTH_OF(bits); i++) all |= (int64_t)bits[i] << i;
    return vm->api->make_int(vm, all);
}

static dvx_value get_flags(dvx_vm *vm, dvx_value self) {
    return nd_call_library(vm, "_ndarray.flags", "flagsobj", &self, 1);
}
ND_ATTRIBUTE(flags, get_flags, NULL);

/* What other extensions ask, each for one number. */
#define NUMBER(name, value)                                        \
    static dvx_value get_##name(dvx_vm *vm, dvx_value self) {      \
        return vm->api->make_int(vm, value(array_self(vm, self))); \
    }                                                              \
    ND_ATTRIBUTE(name, get_##name, NULL)
NUMBER(_readable, array_gives);
NUMBER(_writable, array_takes);
NUMBER(_number, array_number);

/* Only what owns its data, or looks at what can be written to, may become writeable again. */
static bool set_writable(dvx_vm *vm, nd_array *a, dvx_value value) {
    int on = vm->api->truth(vm, value);
    if (on < 0) return false;
    if (a->exports) return nd_fail(vm, DVX_BUFFER_ERROR, "the array is in use");
    const nd_array *base = a->flags & ND_HAS_BASE ? array_of(vm, a->base) : NULL;
    const bool fixed = base                 ? base->read_only
                       : a->flags & ND_LENT ? !array_lends_writable(vm, a)
                                            : false;
    if (on && fixed)
        return nd_fail(vm, DVX_VALUE_ERROR, "cannot set WRITEABLE flag to True of this array");
    a->read_only = !on;
    return true;
}

/* setflags(write=None) */
static dvx_value setflags(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    if (!nd_is_given(vm, args[1]) || set_writable(vm, array_self(vm, args[0]), args[1]))
        return nd_none(vm);
    return DVX_FAILED;
}
ND_PARAMETERS(of_setflags, 0, "write");
ND_METHOD(setflags, ND_NAMED("setflags", setflags, of_setflags));

/* ---- take ---- */

/* a[:, indices]: any axis, any layout. */
static dvx_value take_by_key(dvx_vm *vm, dvx_value from, dvx_value ints, int axis) {
    dvx_value parts[ND_MOST + 1], key = DVX_FAILED, made = DVX_FAILED, slice = DVX_FAILED;
    dvx_value none = nd_none(vm), maker = vm->api->builtin(vm, "slice");
    if (!dvx_failed(maker)) slice = vm->api->call(vm, maker, &none, 1);
    for (int i = 0; i < axis; i++) parts[i] = slice;
    parts[axis] = ints;
    if (!dvx_failed(slice)) key = vm->api->make_tuple(vm, parts, (size_t)axis + 1);
    if (!dvx_failed(key)) made = vm->api->get_item(vm, from, key);
    vm->api->release(vm, key);
    vm->api->release(vm, slice);
    vm->api->release(vm, maker);
    return made;
}

static dvx_value take_of(dvx_vm *vm, dvx_value array, dvx_value indices, dvx_value axis_) {
    dvx_value from, ints, made = DVX_FAILED;
    const nd_array *a;
    nd_array *which;
    int axis = 0;
    if (nd_is_given(vm, axis_)) {
        if (!nd_axis_no_bool(vm, axis_, array_of(vm, array)->ndim, &axis)) return DVX_FAILED;
        from = vm->api->retain(vm, array);
    } else {
        from = shape_ravel(vm, array);
        if (dvx_failed(from)) return from;
    }
    dvx_value index = array_operand(vm, indices, NULL, &which);
    ints = dvx_failed(index) ? index : array_operand(vm, index, ND_DTYPE(ND_INT64), &which);
    if (!dvx_failed(ints)) {
        made = axis ? take_by_key(vm, from, ints, axis) : index_get(vm, from, ints);
    }
    a = dvx_failed(made) ? NULL : array_of(vm, made);
    if (a && (!(a->flags & ND_C_CONTIGUOUS) || a->flags & ND_TURNED)) {
        /* (Other than a subscript's, the result is in C order, and no view.) */
        dvx_value copy = array_copy(vm, a, a->dtype, 'C');
        vm->api->release(vm, made);
        made = copy;
    }
    vm->api->release(vm, ints);
    vm->api->release(vm, index);
    vm->api->release(vm, from);
    return made;
}

ND_PARAMETERS(of_a_take, 2, "a", "indices", "axis", "out", "mode");
static dvx_value take(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a;
    (void)count;
    if (!dvx_failed(args[3]) || !dvx_failed(args[4])) return nd_wider(vm, "take", &of_a_take, args);
    dvx_value array = array_operand(vm, args[0], NULL, &a);
    if (dvx_failed(array)) return array;
    dvx_value made = take_of(vm, array, args[1], args[2]);
    vm->api->release(vm, array);
    return made;
}
ND_PARAMETERS(of_take, 1, "indices", "axis", "out", "mode");
ND_METHOD(take, ND_NAMED("take", take, of_take));

/* ---- nonzero ---- */

/* The places of what is not 0, as arrays of numbers, one for each axis. */
static dvx_value nonzero(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    dvx_value places[ND_MOST], made = DVX_FAILED;
    nd_array *mask;
    (void)count;
    dvx_value bools = array_operand(vm, args[0], NULL, &mask);
    if (!dvx_failed(bools) && mask->dtype->num != ND_BOOL)
        bools = compose_first(vm, array_from(vm, bools, ND_DTYPE(ND_BOOL)), bools);
    if (!dvx_failed(bools)) bools = compose_first(vm, shape_at_least(vm, bools, 1), bools);
    if (dvx_failed(bools)) return bools;
    mask = array_of(vm, bools);
    if (fancy_nonzero(vm, mask, places)) {
        made = vm->api->make_tuple(vm, places, (size_t)mask->ndim);
        for (int i = 0; i < mask->ndim; i++) vm->api->release(vm, places[i]);
    }
    vm->api->release(vm, bools);
    return made;
}
ND_METHOD(nonzero, ND_PLAIN("nonzero", nonzero, 1, 1));

/* ---- What dl does ---- */

#define IN_DL(name, file, function, ...)                                                 \
    ND_PARAMETERS(of_##name##_method, __VA_ARGS__);                                      \
    static dvx_value name##_in_dl(dvx_vm *vm, const dvx_value *args, uint32_t count) {   \
        (void)count;                                                                     \
        return nd_library(vm, "_ndarray." file, function, &of_##name##_method, args, 1); \
    }                                                                                    \
    ND_METHOD(name, ND_NAMED(#name, name##_in_dl, of_##name##_method))
IN_DL(put, "picking", "put", 2, "indices", "values", "mode");
IN_DL(compress, "picking", "compress_method", 1, "condition", "axis", "out");
IN_DL(choose, "picking", "choose", 1, "choices", "out", "mode");
IN_DL(trace, "diagonals", "trace", 0, "offset", "axis1", "axis2", "dtype", "out");
IN_DL(tofile, "files", "tofile", 1, "fid", "sep", "format");

/* ---- copyto, shares_memory ---- */

/* What `casting` allows: ints of dl go into all int dtypes. */
static bool check_casting(dvx_vm *vm, dvx_value v, const nd_dtype *from, const nd_dtype *to,
                          dvx_value casting) {
    char word[32] = "same_kind";
    const int good = dtype_casts(vm, from, to, casting, word);
    if (good < 0) return false;
    const bool number = convert_kind(vm, v) != NULL;
    return good || (number && dtype_is_integer(from) && dtype_is_integer(to)) ||
           nd_fail(vm, DVX_TYPE_ERROR,
                   "Cannot cast %s from dtype('%s') to dtype('%s') according to the rule '%s'",
                   number ? "scalar" : "array data", from->name, to->name, word);
}

/* copyto(dst, src, casting, where) */
static dvx_value copyto(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *from, *mask, *to = array_of(vm, args[0]);
    char name[ND_NAME];
    (void)count;
    if (!to)
        return nd_raise(vm, DVX_TYPE_ERROR, "copyto() argument 1 must be numpy.ndarray, not %s",
                        nd_class_name(vm, args[0], name));
    if (!array_writable(vm, to)) return DVX_FAILED;
    dvx_value array = array_operand(vm, args[1], NULL, &from), held = DVX_FAILED;
    if (dvx_failed(array)) return array;
    bool good = check_casting(vm, args[1], from->dtype, to->dtype, args[2]);
    if (good && !dvx_failed(args[3])) {
        held = array_operand(vm, args[3], ND_DTYPE(ND_BOOL), &mask);
        good = !dvx_failed(held) && select_copy(vm, to, from, mask);
    } else {
        good = good && array_assign(vm, to, from);
    }
    vm->api->release(vm, held);
    vm->api->release(vm, array);
    return good ? nd_none(vm) : DVX_FAILED;
}

/* may_share_memory(a, b): by their bounds */
static dvx_value may_share(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    nd_array *a, *b;
    (void)count;
    dvx_value one = array_operand(vm, args[0], NULL, &a);
    dvx_value other = dvx_failed(one) ? one : array_operand(vm, args[1], NULL, &b);
    dvx_value answer = dvx_failed(other) ? other : vm->api->make_bool(vm, array_may_overlap(a, b));
    vm->api->release(vm, one);
    vm->api->release(vm, other);
    return answer;
}

ND_PARAMETERS(of_a, 1, "a");
ND_PARAMETERS(of_copyto, 2, "dst", "src", "casting", "where");

static const dvx_function functions[] = {
    ND_PLAIN("_flags", flags_of, 1, 1),
    ND_NAMED("nonzero", nonzero, of_a),
    ND_NAMED("take", take, of_a_take),
    ND_NAMED("copyto", copyto, of_copyto),
    ND_PLAIN("may_share_memory", may_share, 2, 2),
};

bool extra_register(dvx_vm *vm, dvx_value module) { return ND_ADD_ALL(functions); }
