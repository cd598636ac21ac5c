/* convert.c: arrays from numbers and nested sequences, elements from numbers (convert.h).
 *
 * Invariants
 *  1. A list or tuple is read twice, for its shape and for its elements; a program may change it in
 *     between (__float__ is its own), so the second reading checks all lengths again.  Any other
 *     sequence becomes a list first, as NumPy makes one: an object may say that it has 10**10
 * items.
 *  2. Recursion goes at most ND_MOST levels deep. */
#include "array/convert.h"

#include <math.h>

#include "loops/cast.h"

/* ---- Elements ---- */

/* A number that is neither int nor float: what int(v), float(v), complex(v) make of it; new. */
static dvx_value by_class(dvx_vm *vm, dvx_value class_, dvx_value v) {
    return nd_call(vm, class_, v);
}

static bool raise_bounds(dvx_vm *vm, dvx_value v, const nd_dtype *dtype) {
    dvx_value class_ = vm->api->error_class(vm, DVX_OVERFLOW_ERROR);
    vm->api->raise_format(vm, class_, "Python integer %S out of bounds for %s", v, dtype->name);
    vm->api->release(vm, class_);
    return false;
}

static bool store_int(dvx_vm *vm, const nd_dtype *dtype, char *at, dvx_value v) {
    int64_t i;
    if (!vm->api->read_int(vm, v, &i)) {
        if (dtype->num == ND_UINT32 || dtype->num == ND_UINT64) {
            uint64_t u;
            vm->api->clear_error(vm);
            if (vm->api->read_uint(vm, v, &u)) {
                memcpy(at, &u, dtype->size);
                return dtype->num == ND_UINT64 || raise_bounds(vm, v, dtype);
            }
        }
        if (vm->api->error_matches(vm, nd_state_of(vm)->overflow_error)) {
            vm->api->clear_error(vm);
            vm->api->raise(vm, DVX_OVERFLOW_ERROR, "Python int too large to convert to C long");
        }
        return false;
    }
    if (!type_holds(dtype->num, i)) return raise_bounds(vm, v, dtype);
    cast_between(ND_DTYPE(ND_INT64), dtype)(at, 0, (const char *)&i, 0, 1);
    return true;
}

static bool store_by_class(dvx_vm *vm, const nd_dtype *dtype, char *at, dvx_value v) {
    const nd_state *state = nd_state_of(vm);
    double d;
    nd_complex c;
    bool good = false;
    dvx_value class_ = dtype->kind == 'c'   ? state->complex_
                       : dtype->kind == 'f' ? state->float_
                                            : state->int_;
    dvx_value made = by_class(vm, class_, v);
    if (dvx_failed(made)) return false;
    if (dtype->kind == 'c') {
        good = vm->api->read_complex(vm, made, &c.real, &c.imag);
        if (good) cast_between(ND_DTYPE(ND_COMPLEX128), dtype)(at, 0, (const char *)&c, 0, 1);
    } else if (dtype->kind == 'f') {
        good = vm->api->read_float(vm, made, &d);
        if (good) cast_between(ND_DTYPE(ND_FLOAT64), dtype)(at, 0, (const char *)&d, 0, 1);
    } else {
        good = store_int(vm, dtype, at, made);
    }
    vm->api->release(vm, made);
    return good;
}

static bool is_sequence(dvx_kind kind) {
    return kind == DVX_LIST || kind == DVX_TUPLE || kind == DVX_ANY;
}

/* What is a sequence is no number, whatever float() says of it. */
static bool raise_sequence(dvx_vm *vm, dvx_value v) {
    dvx_kind kind = vm->api->kind(vm, v);
    if (!is_sequence(kind) || vm->api->length(vm, v) < 0) return vm->api->clear_error(vm), false;
    return nd_fail(vm, DVX_VALUE_ERROR, "setting an array element with a sequence."), true;
}

static bool store_other(dvx_vm *vm, const nd_dtype *dtype, char *at, dvx_value v) {
    const nd_state *state = nd_state_of(vm);
    if (dtype->num == ND_BOOL) {
        nd_state *own = nd_state_of(vm);
        own->busy++;
        int truth = vm->api->truth(vm, v);
        own->busy--;
        if (truth >= 0) *at = (char)truth;
        return truth >= 0;
    }
    if (nd_is_none(vm, v) && !dtype_is_integer(dtype)) {
        double nothing = (double)NAN;
        cast_between(ND_DTYPE(ND_FLOAT64), dtype)(at, 0, (const char *)&nothing, 0, 1);
        return true;
    }
    if (store_by_class(vm, dtype, at, v)) return true;
    if (vm->api->error_matches(vm, state->type_error)) {
        dvx_value error = vm->api->fetch_error(vm);
        if (!raise_sequence(vm, v)) {
            vm->api->clear_error(vm);
            vm->api->raise_error(vm, error);
        }
        vm->api->release(vm, error);
    }
    return false;
}

/* An array of one element with axes is stored as the number float() or int() makes of it: is there
 * one? */
static bool is_number_for(const nd_array *a, const nd_dtype *dtype) {
    double d;
    if (dtype->num == ND_BOOL || dtype->kind == 'c') return true;
    if (a->dtype->kind == 'c') return false;
    if (!dtype_is_integer(dtype) || dtype_is_integer(a->dtype)) return true;
    cast_between(a->dtype, ND_DTYPE(ND_FLOAT64))((char *)&d, 0, a->data, 0, 1);
    return d >= -0x1p63 && d < 0x1p63;
}

static void store_number(const nd_dtype *dtype, char *at, const nd_array *a) {
    int64_t i;
    if (dtype->num == ND_BOOL || !dtype_is_integer(dtype) || dtype_is_integer(a->dtype)) {
        cast_between(a->dtype, dtype)(at, 0, a->data, 0, 1);
        return;
    }
    cast_between(a->dtype, ND_DTYPE(ND_INT64))((char *)&i, 0, a->data, 0, 1);
    cast_between(ND_DTYPE(ND_INT64), dtype)(at, 0, (const char *)&i, 0, 1);
}

bool array_store(dvx_vm *vm, const nd_dtype *dtype, char *at, dvx_value v) {
    const nd_array *a;
    double d;
    nd_complex z;
    switch (vm->api->kind(vm, v)) {
    case DVX_FLOAT:
        if (!vm->api->read_float(vm, v, &d)) return false;
        if (dtype_is_integer(dtype) && dtype->num != ND_BOOL && !(d > -0x1p63 && d < 0x1p63))
            return store_by_class(vm, dtype, at, v);
        cast_between(ND_DTYPE(ND_FLOAT64), dtype)(at, 0, (const char *)&d, 0, 1);
        return true;
    case DVX_COMPLEX:
        if (dtype->kind != 'c') break;
        if (!vm->api->read_complex(vm, v, &z.real, &z.imag)) return false;
        cast_between(ND_DTYPE(ND_COMPLEX128), dtype)(at, 0, (const char *)&z, 0, 1);
        return true;
    case DVX_INT:
    case DVX_BOOL:
#ifdef DVX_NATIVE
        if (dv_is_int(v) && !dtype_is_integer(dtype)) {
            d = (double)dv_as_int(v);
            cast_between(ND_DTYPE(ND_FLOAT64), dtype)(at, 0, (const char *)&d, 0, 1);
            return true;
        }
#endif
        if (dtype->num == ND_BOOL || !dtype_is_integer(dtype)) break;
        return store_int(vm, dtype, at, v);
    default: break;
    }
    a = array_of(vm, v);
    if (!a) return store_other(vm, dtype, at, v);
    if (a->size != 1 || a->ndim > 0) {
        if (a->size == 1 && is_number_for(a, dtype)) {
            store_number(dtype, at, a);
            return true;
        }
        if (a->size == 0 && dtype->num == ND_BOOL) return *at = false, true;
        if (dtype->kind == 'c')
            return nd_fail(vm, DVX_TYPE_ERROR,
                           "only length-1 arrays can be converted to Python scalars");
        return nd_fail(vm, DVX_VALUE_ERROR, "setting an array element with a sequence.");
    }
    cast_between(a->dtype, dtype)(at, 0, a->data, 0, 1);
    return true;
}

/* Is the int none of int64, but of uint64? */
static bool is_beyond(dvx_vm *vm, dvx_value v) {
    int64_t i;
    uint64_t u;
#ifdef DVX_NATIVE
    if (dv_is_int(v)) return false;
#endif
    if (vm->api->read_int(vm, v, &i)) return false;
    vm->api->clear_error(vm);
    if (vm->api->read_uint(vm, v, &u)) return true;
    vm->api->clear_error(vm);
    return false;
}

const nd_dtype *convert_kind(dvx_vm *vm, dvx_value v) {
    switch (vm->api->kind(vm, v)) {
    case DVX_FLOAT: return ND_DTYPE(ND_FLOAT64);
    case DVX_INT: return ND_DTYPE(is_beyond(vm, v) ? ND_UINT64 : ND_INT64);
    case DVX_BOOL: return ND_DTYPE(ND_BOOL);
    case DVX_COMPLEX: return ND_DTYPE(ND_COMPLEX128);
    case DVX_ANY: break;
    default: return NULL;
    }
    const nd_array *a = array_of(vm, v);
    return a && a->ndim == 0 ? a->dtype : NULL;
}

/* ---- The shape of nested sequences ---- */

typedef struct discovery {
    dvx_value lists;       /* a list of those that other sequences have become, in their order */
    int64_t next;          /* `fill`: which of them is next */
    const nd_dtype *dtype; /* of all elements so far; NULL: none */
    bool any;              /* a dtype is given: all that is no sequence is an element */
    int64_t shape[ND_MOST];
    int ndim;    /* of the elements; -1: none has been seen */
    int levels;  /* of sequences that have been entered */
    int regular; /* so many axes are regular; ND_MOST + 1: all */
} discovery;

static bool refuse(dvx_vm *vm, dvx_value v) {
    char name[ND_NAME];
    return nd_fail(vm, DVX_TYPE_ERROR, "arrays of %s objects are not part of dl",
                   nd_class_name(vm, v, name));
}

static void irregular(discovery *d, int depth) {
    if (depth < d->regular) d->regular = depth;
}

static void see_element(discovery *d, const nd_dtype *dtype, int depth) {
    d->dtype = d->dtype && dtype ? dtype_promote(d->dtype, dtype) : dtype;
    if (d->ndim < 0)
        d->ndim = depth;
    else if (d->ndim != depth)
        irregular(d, depth < d->ndim ? depth : d->ndim);
    if (depth < d->levels) irregular(d, depth);
}

static void see_count(discovery *d, int depth, int64_t count) {
    if (d->ndim >= 0 && depth >= d->ndim) {
        irregular(d, d->ndim);
    } else if (depth == d->levels) {
        d->shape[d->levels++] = count;
    } else if (d->shape[depth] != count) {
        irregular(d, depth);
    }
}

/* A sequence that is neither list nor tuple as a list; DVX_FAILED: raised, or (nothing is raised)
 * it is no sequence: what has items but no order, or no length. */
static dvx_value list_of(dvx_vm *vm, dvx_value v) {
    dvx_value found = DVX_FAILED, made = DVX_FAILED;
    const int64_t count = vm->api->length(vm, v);
    if (count < 0) return vm->api->clear_error(vm), made;
    if (count > INT64_MAX / 8) return vm->api->raise(vm, DVX_MEMORY_ERROR, "");
    const int has = vm->api->find_attribute(vm, v, "__getitem__", &found);
    vm->api->release(vm, found);
    if (has <= 0) return made;
    /* (There must be room for all that it says it has, before the first one is asked for.) */
    const size_t size = (size_t)(count ? count : 1) * sizeof(dvx_value);
    void *room = vm->api->allocate(vm, size);
    if (!room) return made;
    vm->api->deallocate(vm, room, size);
    dvx_value class_ = vm->api->builtin(vm, "list");
    if (!dvx_failed(class_)) made = vm->api->call(vm, class_, &v, 1);
    vm->api->release(vm, class_);
    return made;
}

static bool discover(dvx_vm *vm, discovery *d, dvx_value v, int depth);

/* As its list, which is kept for `fill`. */
static bool discover_other(dvx_vm *vm, discovery *d, dvx_value v, int depth) {
    dvx_value list = list_of(vm, v);
    if (!dvx_failed(list)) {
        const bool good = vm->api->append(vm, d->lists, list) && discover(vm, d, list, depth);
        vm->api->release(vm, list);
        return good;
    }
    dvx_value error = vm->api->fetch_error(vm);
    if (!dvx_failed(error) && vm->api->is_instance(vm, error, nd_state_of(vm)->type_error) <= 0) {
        vm->api->raise_error(vm, error);
        vm->api->release(vm, error);
        return false;
    }
    vm->api->release(vm, error);
    return d->any ? (see_element(d, NULL, depth), true) : refuse(vm, v);
}

static bool discover(dvx_vm *vm, discovery *d, dvx_value v, int depth) {
    const nd_dtype *dtype = convert_kind(vm, v);
    if (dtype) return see_element(d, dtype, depth), true;
    const nd_array *a = array_of(vm, v);
    if (a) {
        for (int i = 0; i < a->ndim && depth < ND_MOST; i++)
            see_count(d, depth++, a->axes[i].count);
        return see_element(d, a->dtype, depth), true;
    }
    if (vm->api->kind(vm, v) == DVX_ANY) return discover_other(vm, d, v, depth);
    int64_t count = is_sequence(vm->api->kind(vm, v)) ? vm->api->length(vm, v) : -2;
    if (count < 0) {
        if (count == -1) vm->api->clear_error(vm);
        return d->any ? (see_element(d, NULL, depth), true) : refuse(vm, v);
    }
    if (depth >= ND_MOST) return irregular(d, depth), true;
    see_count(d, depth, count);
    for (int64_t i = 0; i < count; i++) {
        dvx_value item = vm->api->get_item(vm, v, vm->api->make_int(vm, i));
        bool good = !dvx_failed(item) && discover(vm, d, item, depth + 1);
        vm->api->release(vm, item);
        if (!good || (i % ND_POLL == ND_POLL - 1 && !vm->api->poll(vm))) return false;
    }
    return true;
}

static bool raise_irregular(dvx_vm *vm, const discovery *d) {
    char text[ND_SHAPE_TEXT];
    return nd_fail(vm, DVX_VALUE_ERROR,
                   "setting an array element with a sequence. The requested array has an "
                   "inhomogeneous shape after %d dimensions. The detected shape was %s + "
                   "inhomogeneous part.",
                   d->regular, array_shape_text(d->regular, d->shape, true, text));
}

/* ---- Their elements ---- */

static bool raise_changed(dvx_vm *vm) {
    return nd_fail(vm, DVX_RUNTIME_ERROR, "the sequence has changed while an array was made of it");
}

/* The part of `to` behind the first `depth` indices, at `at`. */
static nd_array part_of(const nd_array *to, int depth, char *at) {
    nd_array part = {.data = at, .dtype = to->dtype, .axes = to->axes + depth};
    part.ndim = to->ndim - depth;
    array_update(&part);
    return part;
}

static bool fill(dvx_vm *vm, nd_array *to, discovery *d, dvx_value v, int depth, char *at) {
    if (depth == to->ndim) return array_store(vm, to->dtype, at, v);
    const nd_array *a = array_of(vm, v);
    if (a) {
        nd_array part = part_of(to, depth, at);
        return array_same_shape(&part, a) ? array_assign(vm, &part, a) : raise_changed(vm);
    }
    if (vm->api->kind(vm, v) == DVX_ANY) {
        if (d->next >= vm->api->length(vm, d->lists)) return raise_changed(vm);
        dvx_value list = vm->api->get_item(vm, d->lists, vm->api->make_int(vm, d->next++));
        const bool good = fill(vm, to, d, list, depth, at);
        vm->api->release(vm, list);
        return good;
    }
    int64_t count = vm->api->length(vm, v);
    if (count < 0) return false;
    if (count != to->axes[depth].count) return raise_changed(vm);
    for (int64_t i = 0; i < count; i++, at += to->axes[depth].stride) {
        dvx_value item = vm->api->get_item(vm, v, vm->api->make_int(vm, i));
        bool good = !dvx_failed(item) && fill(vm, to, d, item, depth + 1, at);
        vm->api->release(vm, item);
        if (!good || (i % ND_POLL == ND_POLL - 1 && !vm->api->poll(vm))) return false;
    }
    return true;
}

/* ---- Rows of numbers ---- */

/* How many items v has, if it is a list or a tuple and no instance of a subclass; else 0. */
static int64_t row_length(dvx_vm *vm, dvx_value v) {
    return vm->api->read_row(vm, v, DVX_ANY, 0, INT64_MAX, NULL);
}

/* The shape of nested lists, as the first ones have it, and of which kind the first element is;
 * DVX_ANY: there is none, or what it is in may run code of the program. */
static dvx_kind first_number(dvx_vm *vm, dvx_value v, int64_t *shape, int *ndim) {
    dvx_value item = vm->api->retain(vm, v);
    *ndim = 0;
    for (int64_t length; *ndim < ND_MOST && (length = row_length(vm, item)) > 0; ++*ndim) {
        dvx_value list = item;
        item = vm->api->get_item(vm, list, vm->api->make_int(vm, 0));
        vm->api->release(vm, list);
        if (dvx_failed(item)) return vm->api->clear_error(vm), DVX_ANY;
        shape[*ndim] = length;
    }
    dvx_kind kind = vm->api->kind(vm, item);
    vm->api->release(vm, item);
    return *ndim > 0 && (kind == DVX_FLOAT || kind == DVX_INT || kind == DVX_BOOL) ? kind : DVX_ANY;
}

/* Nested lists, as elements of 8 bytes (of bools 1) one behind the other, of which *out is the
 * next. 1; 0: they are not as regular as `shape` says, or their elements not of the kind; -1:
 * raised. */
static int read_rows(dvx_vm *vm, dvx_value v, dvx_kind kind, const int64_t *shape, int ndim,
                     char **out) {
    if (row_length(vm, v) != *shape) return 0;
    if (ndim == 1) {
        const int64_t count = vm->api->read_row(vm, v, kind, 0, *shape, *out);
        *out += count * (kind == DVX_BOOL ? 1 : 8);
        if (!nd_work(vm, count / 4)) return -1;
        return count == *shape;
    }
    for (int64_t i = 0; i < *shape; i++) {
        dvx_value item = vm->api->get_item(vm, v, vm->api->make_int(vm, i));
        const int read =
            dvx_failed(item) ? -1 : read_rows(vm, item, kind, shape + 1, ndim - 1, out);
        vm->api->release(vm, item);
        if (read <= 0) return read;
    }
    return 1;
}

/* Is that what was raised? */
static bool is_too_large(dvx_vm *vm) {
    const dvx_error errors[] = {DVX_MEMORY_ERROR, DVX_VALUE_ERROR};
    bool matches = false;
    for (size_t i = 0; i < LENGTH_OF(errors); i++) {
        dvx_value class_ = vm->api->error_class(vm, errors[i]);
        matches |= vm->api->error_matches(vm, class_);
        vm->api->release(vm, class_);
    }
    return matches;
}

/* An array of nested lists of floats, ints or bools, which most are.  1; 0: it is none of that; -1:
 * raised. */
static int from_rows(dvx_vm *vm, dvx_value v, const nd_dtype *dtype, dvx_value *made) {
    static const dvx_kind kinds[ND_TYPES] = {
        [ND_BOOL] = DVX_BOOL, [ND_INT64] = DVX_INT, [ND_FLOAT64] = DVX_FLOAT};
    int64_t shape[ND_MOST];
    int ndim, read = 0;
    const dvx_kind first = first_number(vm, v, shape, &ndim);
    if (first == DVX_ANY) return 0;
    dvx_kind kind = first;
    if (dtype) {
        kind = kinds[dtype->num];
        if (kind == DVX_ANY) return 0;
    }
    do {
        nd_array *a;
        const int num = kind == DVX_BOOL ? ND_BOOL : kind == DVX_INT ? ND_INT64 : ND_FLOAT64;
        *made = array_new(vm, ND_DTYPE(num), ndim, shape, &a);
        /* (An array that is too large is perhaps none: they may be irregular.) */
        if (dvx_failed(*made)) {
            if (!is_too_large(vm)) return -1;
            vm->api->clear_error(vm);
            return 0;
        }
        char *out = a->data;
        read = read_rows(vm, v, kind, shape, ndim, &out);
        if (read == 1) return 1;
        vm->api->release(vm, *made);
        /* Ints, and later a float. */
        kind = kind == DVX_INT && !dtype ? DVX_FLOAT : DVX_ANY;
    } while (read == 0 && kind != DVX_ANY);
    return read;
}

static dvx_value from_number(dvx_vm *vm, dvx_value v, const nd_dtype *dtype) {
    nd_array *a;
    dvx_value made = array_new(vm, dtype, 0, NULL, &a);
    if (dvx_failed(made) || array_store(vm, dtype, a->data, v)) return made;
    vm->api->release(vm, made);
    return DVX_FAILED;
}

/* A new array of what is no array. */
static dvx_value from_sequence(dvx_vm *vm, dvx_value v, const nd_dtype *dtype, bool fortran) {
    nd_array *a;
    const nd_dtype *kind = convert_kind(vm, v);
    if (kind) return from_number(vm, v, dtype ? dtype : kind);
    nd_state *state = nd_state_of(vm);
    dvx_value rows;
    const int read = fortran ? 0 : from_rows(vm, v, dtype, &rows);
    if (read != 0) return read > 0 ? rows : DVX_FAILED;
    discovery d = {.lists = vm->api->make_list(vm, NULL, 0), .any = dtype != NULL, .ndim = -1};
    d.regular = ND_MOST + 1;
    dvx_value made = DVX_FAILED;
    state->busy++;
    if (!dvx_failed(d.lists) && discover(vm, &d, v, 0)) {
        const int ndim = d.ndim >= 0 ? d.ndim : d.levels;
        if (!dtype) dtype = d.dtype ? d.dtype : ND_DTYPE(ND_FLOAT64);
        if (d.regular <= ND_MOST)
            raise_irregular(vm, &d);
        else
            made = array_new_order(vm, dtype, ndim, d.shape, fortran, &a);
        if (!dvx_failed(made) && a->size && !fill(vm, a, &d, v, 0, a->data)) {
            vm->api->release(vm, made);
            made = DVX_FAILED;
        }
    }
    state->busy--;
    vm->api->release(vm, d.lists);
    return made;
}

dvx_value array_from(dvx_vm *vm, dvx_value v, const nd_dtype *dtype) {
    const nd_array *a = array_of(vm, v);
    if (!a) return from_sequence(vm, v, dtype, false);
    if (!dtype || a->dtype == dtype) return vm->api->retain(vm, v);
    return array_copy(vm, a, dtype, 'K');
}

dvx_value array_operand(dvx_vm *vm, dvx_value v, const nd_dtype *dtype, nd_array **out) {
    dvx_value array = array_from(vm, v, dtype);
    if (!dvx_failed(array)) *out = array_of(vm, array);
    return array;
}

dvx_value array_row(dvx_vm *vm, dvx_value v, const nd_dtype *dtype, nd_array **out) {
    dvx_value array = array_operand(vm, v, dtype, out);
    if (dvx_failed(array) || (*out)->flags & ND_C_CONTIGUOUS) return array;
    dvx_value copy = array_copy(vm, *out, (*out)->dtype, 'C');
    vm->api->release(vm, array);
    if (!dvx_failed(copy)) *out = array_of(vm, copy);
    return copy;
}

dvx_value convert_copy(dvx_vm *vm, dvx_value v, const nd_dtype *dtype, char order) {
    const nd_array *a = array_of(vm, v);
    if (!a) return from_sequence(vm, v, dtype, order == 'F');
    return array_copy(vm, a, dtype ? dtype : a->dtype, order);
}

/* ---- Lists ---- */

/* What elements become in a list, and what they are in C. */
static const struct row_kind {
    dvx_kind kind;
    dvx_element element;
} row_kinds[ND_TYPES] = {
    [ND_BOOL] = {DVX_BOOL, DVX_UINT8},       [ND_INT8] = {DVX_INT, DVX_INT8},
    [ND_UINT8] = {DVX_INT, DVX_UINT8},       [ND_INT16] = {DVX_INT, DVX_INT16},
    [ND_UINT16] = {DVX_INT, DVX_UINT16},     [ND_INT32] = {DVX_INT, DVX_INT32},
    [ND_UINT32] = {DVX_INT, DVX_UINT32},     [ND_INT64] = {DVX_INT, DVX_INT64},
    [ND_UINT64] = {DVX_INT, DVX_UINT64},     [ND_FLOAT32] = {DVX_FLOAT, DVX_FLOAT32},
    [ND_FLOAT64] = {DVX_FLOAT, DVX_FLOAT64}, [ND_COMPLEX128] = {DVX_COMPLEX, DVX_FLOAT64},
};

/* A list of the elements along one axis. */
static dvx_value row_list(dvx_vm *vm, const nd_dtype *dtype, const dvx_axis *axis, const char *at) {
    const struct row_kind *row = &row_kinds[dtype->num];
    nd_blocks b = {.total = axis->count};
    nd_next_block(vm, &b);
    dvx_value list =
        vm->api->make_row(vm, row->kind, row->element, at, axis->stride, (size_t)b.count);
    while (!dvx_failed(list) && nd_next_block(vm, &b)) {
        dvx_value more = vm->api->make_row(vm, row->kind, row->element, at + b.at * axis->stride,
                                           axis->stride, (size_t)b.count);
        dvx_value both = dvx_failed(more) ? more : vm->api->inplace(vm, DVX_ADD, list, more);
        vm->api->release(vm, more);
        vm->api->release(vm, list);
        list = nd_work(vm, 8 * b.count) ? both : (vm->api->release(vm, both), DVX_FAILED);
    }
    if (!b.stopped) return list;
    vm->api->release(vm, list);
    return DVX_FAILED;
}

static dvx_value to_list(dvx_vm *vm, const nd_array *a, int depth, const char *at) {
    const dvx_axis *axis = &a->axes[depth];
    if (depth + 1 == a->ndim) return row_list(vm, a->dtype, axis, at);
    dvx_value list = vm->api->make_list(vm, NULL, 0);
    for (int64_t i = 0; i < axis->count && !dvx_failed(list); i++) {
        dvx_value item = to_list(vm, a, depth + 1, at + i * axis->stride);
        bool good = !dvx_failed(item) && vm->api->append(vm, list, item) &&
                    (i % ND_POLL != ND_POLL - 1 || vm->api->poll(vm));
        vm->api->release(vm, item);
        if (good) continue;
        vm->api->release(vm, list);
        list = DVX_FAILED;
    }
    return list;
}

/* (Scalars become numbers, too.) */
static dvx_value number_at(dvx_vm *vm, const nd_dtype *dtype, const char *at) {
    switch (dtype->num) {
    case ND_BOOL: return vm->api->make_bool(vm, *(const bool *)at);
    case ND_UINT64: return vm->api->make_uint(vm, *(const uint64_t *)(const void *)at);
    case ND_FLOAT32: return vm->api->make_float(vm, (double)*(const float *)(const void *)at);
    case ND_FLOAT64:
    case ND_COMPLEX128: return array_element(vm, dtype, at);
    default: return vm->api->make_int(vm, type_int(dtype->num, at));
    }
}

dvx_value convert_to_list(dvx_vm *vm, const nd_array *a) {
    if (a->dtype->hot == ND_RARE && type_is_inexact(a->dtype->num)) {
        dvx_value wide =
            array_copy(vm, a, ND_DTYPE(a->dtype->kind == 'c' ? ND_COMPLEX128 : ND_FLOAT64), 'C');
        dvx_value list = dvx_failed(wide) ? wide : convert_to_list(vm, array_of(vm, wide));
        vm->api->release(vm, wide);
        return list;
    }
    return a->ndim ? to_list(vm, a, 0, a->data) : number_at(vm, a->dtype, a->data);
}
