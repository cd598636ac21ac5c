/* index.c: reading subscripts; elements and views (index.h). */
#include "index/index.h"

#include "array/convert.h"
#include "array/create.h"

/* ---- Reading ---- */

static bool raise_kind(dvx_vm *vm) {
    return nd_fail(vm, DVX_INDEX_ERROR,
                   "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and "
                   "integer or boolean arrays are valid indices");
}

/* A sequence as an index array or mask. */
static dvx_value index_sequence(dvx_vm *vm, dvx_value v) {
    const nd_state *state = nd_state_of(vm);
    nd_array *a;
    dvx_value array = array_operand(vm, v, NULL, &a);
    if (dvx_failed(array)) {
        if (vm->api->error_matches(vm, state->type_error)) {
            vm->api->clear_error(vm);
            raise_kind(vm);
        }
        return array;
    }
    if (dtype_is_integer(a->dtype)) return array;
    dvx_value ints = a->size == 0 ? array_from(vm, array, ND_DTYPE(ND_INT64)) : DVX_FAILED;
    if (a->size) raise_kind(vm);
    vm->api->release(vm, array);
    return ints;
}

static index_part *add_part(dvx_vm *vm, nd_index *index, index_kind kind) {
    if (index->count == ND_PARTS) {
        nd_fail(vm, DVX_INDEX_ERROR, "too many indices for array");
        return NULL;
    }
    index_part *part = &index->parts[index->count++];
    *part = (index_part){.kind = kind, .axis = kind != INDEX_NEW && kind != INDEX_REST};
    part->slice = part->owner = DVX_FAILED;
    index->arrays += kind == INDEX_ARRAY;
    return part;
}

/* Takes `array`. */
static bool add_array(dvx_vm *vm, nd_index *index, dvx_value array) {
    if (dvx_failed(array)) return false;
    index_part *part = add_part(vm, index, INDEX_ARRAY);
    if (!part) return vm->api->release(vm, array), false;
    part->owner = array;
    part->array = array_of(vm, array);
    return true;
}

/* True and False: an axis of one or no element. */
static bool add_truth(dvx_vm *vm, nd_index *index, bool truth) {
    nd_array *a;
    int64_t count = truth;
    if (!add_array(vm, index, create_zeros(vm, ND_DTYPE(ND_INT64), 1, &count, &a))) return false;
    index->parts[index->count - 1].axis = false;
    return true;
}

/* Does the bool array fit the axes from `axis` on?  (One without elements fits all, for NumPy.) */
static bool check_mask(dvx_vm *vm, const nd_array *a, const nd_array *mask, int axis) {
    for (int i = 0; i < mask->ndim && axis + i < a->ndim; i++)
        if (mask->axes[i].count && mask->axes[i].count != a->axes[axis + i].count)
            return nd_fail(
                vm, DVX_INDEX_ERROR,
                "boolean index did not match indexed array along dimension %d; dimension "
                "is %lld but corresponding boolean dimension is %lld",
                axis + i, (long long)a->axes[axis + i].count, (long long)mask->axes[i].count);
    return true;
}

static bool add_mask(dvx_vm *vm, nd_index *index, const nd_array *mask) {
    dvx_value places[ND_MOST];
    if (mask->ndim == 0) return add_truth(vm, index, *mask->data);
    if (!fancy_nonzero(vm, mask, places)) return false;
    bool good = true;
    for (int i = 0; i < mask->ndim; i++) {
        if (good)
            good = add_array(vm, index, places[i]);
        else
            vm->api->release(vm, places[i]);
    }
    return good;
}

static bool add_elements(dvx_vm *vm, nd_index *index, dvx_value array, const nd_array *a) {
    int64_t i;
    if (a->dtype->num == ND_BOOL) return add_mask(vm, index, a);
    if (!dtype_is_integer(a->dtype))
        return nd_fail(vm, DVX_INDEX_ERROR,
                       "arrays used as indices must be of integer (or boolean) type");
    if (a->ndim > 0) return add_array(vm, index, array_from(vm, array, ND_DTYPE(ND_INT64)));
    index_part *part = add_part(vm, index, INDEX_INT);
    if (!part || !array_store(vm, ND_DTYPE(ND_INT64), (char *)&i, array)) return false;
    part->start = i;
    index->copied |= !array_is_scalar(vm, array);
    return true;
}

/* Something with __index__. */
static bool add_object(dvx_vm *vm, nd_index *index, dvx_value v) {
    int64_t i;
    dvx_kind kind = vm->api->kind(vm, v);
    const nd_array *a = array_of(vm, v);
    if (a) return add_elements(vm, index, v, a);
    if (kind != DVX_ANY) return raise_kind(vm);
    if (!nd_read_index(vm, v, &i)) return vm->api->clear_error(vm), raise_kind(vm);
    index_part *part = add_part(vm, index, INDEX_INT);
    if (part) part->start = i;
    return part != NULL;
}

static bool add_item(dvx_vm *vm, nd_index *index, dvx_value v) {
    index_part *part;
    int64_t i;
    switch (vm->api->kind(vm, v)) {
    case DVX_INT:
        if (!vm->api->read_int(vm, v, &i)) {
            vm->api->clear_error(vm);
            return raise_kind(vm);
        }
        part = add_part(vm, index, INDEX_INT);
        if (part) part->start = i;
        return part != NULL;
    case DVX_SLICE:
        part = add_part(vm, index, INDEX_SLICE);
        if (part) part->slice = v;
        return part != NULL;
    case DVX_NONE: return add_part(vm, index, INDEX_NEW) != NULL;
    case DVX_ELLIPSIS:
        if (index->rest)
            return nd_fail(vm, DVX_INDEX_ERROR, "an index can only have a single ellipsis ('...')");
        index->rest = true;
        return add_part(vm, index, INDEX_REST) != NULL;
    case DVX_BOOL: return add_truth(vm, index, vm->api->truth(vm, v) > 0);
    default: return add_object(vm, index, v);
    }
}

/* An item of a key; sequences become arrays.  Takes `item`. */
static bool hold(dvx_vm *vm, nd_index *index, dvx_value item) {
    if (dvx_failed(item)) return false;
    dvx_kind kind = vm->api->kind(vm, item);
    bool sequence = kind == DVX_LIST || kind == DVX_TUPLE ||
                    (kind == DVX_ANY && !array_of(vm, item) && vm->api->length(vm, item) >= 0);
    if (kind == DVX_ANY) vm->api->clear_error(vm);
    if (sequence) {
        dvx_value array = index_sequence(vm, item);
        vm->api->release(vm, item);
        if (dvx_failed(array)) return false;
        item = array;
    }
    index->held[index->held_count++] = item;
    return add_item(vm, index, item);
}

static bool add_items(dvx_vm *vm, nd_index *index, dvx_value key) {
    int64_t count = vm->api->length(vm, key);
    for (int64_t i = 0; i < count; i++) {
        if (i == ND_PARTS) return nd_fail(vm, DVX_INDEX_ERROR, "too many indices for array");
        if (!hold(vm, index, vm->api->get_item(vm, key, vm->api->make_int(vm, i)))) return false;
    }
    return count >= 0;
}

static bool raise_too_many(dvx_vm *vm, const nd_array *a, int used) {
    return nd_fail(vm, DVX_INDEX_ERROR,
                   "too many indices for array: array is %d-dimensional, but %d were indexed",
                   a->ndim, used);
}

/* Every axis gets a part: what is missing is a REST, whose number of axes is known now. */
static bool spread_rest(dvx_vm *vm, nd_index *index, const nd_array *a) {
    int used = 0;
    for (int i = 0; i < index->count; i++) used += index->parts[i].axis;
    if (used > a->ndim) return raise_too_many(vm, a, used);
    if (!index->rest && used < a->ndim && !add_part(vm, index, INDEX_REST)) return false;
    for (int i = 0; i < index->count; i++)
        if (index->parts[i].kind == INDEX_REST) index->parts[i].count = a->ndim - used;
    return true;
}

/* Bool arrays are checked against the axes that they stand for, before they are read. */
static bool check_masks(dvx_vm *vm, const nd_array *a, const nd_index *index) {
    int axis = 0, used = 0, counts[ND_PARTS];
    for (int i = 0; i < index->held_count; i++) {
        dvx_value v = index->held[i];
        const nd_array *mask = array_of(vm, v);
        dvx_kind kind = vm->api->kind(vm, v);
        bool is_mask = mask && mask->dtype->num == ND_BOOL;
        counts[i] =
            is_mask ? mask->ndim : kind != DVX_NONE && kind != DVX_ELLIPSIS && kind != DVX_BOOL;
        used += counts[i];
    }
    if (used > a->ndim) return raise_too_many(vm, a, used);
    for (int i = 0; i < index->held_count; i++) {
        dvx_value v = index->held[i];
        if (vm->api->kind(vm, v) == DVX_ELLIPSIS && a->ndim > used) axis += a->ndim - used;
        if (counts[i] && array_of(vm, v) && array_of(vm, v)->dtype->num == ND_BOOL &&
            !check_mask(vm, a, array_of(vm, v), axis))
            return false;
        axis += counts[i];
    }
    return true;
}

static bool check_int(dvx_vm *vm, int64_t *i, int axis, int64_t size) {
    if (LIKELY(*i >= 0 && *i < size)) return true;
    if (*i < 0 && *i >= -size) return *i += size, true;
    return nd_fail(vm, DVX_INDEX_ERROR, "index %lld is out of bounds for axis %d with size %lld",
                   (long long)*i, axis, (long long)size);
}

/* Ints and slices, by the axes that they stand for. */
static bool resolve(dvx_vm *vm, nd_index *index, const nd_array *a) {
    int axis = 0;
    for (int i = 0; i < index->count; i++) {
        index_part *p = &index->parts[i];
        if (p->kind == INDEX_INT && !check_int(vm, &p->start, axis, a->axes[axis].count))
            return false;
        if (p->kind == INDEX_SLICE &&
            !vm->api->read_slice(vm, p->slice, a->axes[axis].count, &p->start, &p->step, &p->count))
            return false;
        axis += p->kind == INDEX_REST ? (int)p->count : p->axis;
    }
    return true;
}

static bool read_key(dvx_vm *vm, const nd_array *a, dvx_value key, nd_index *out) {
    out->count = out->arrays = out->held_count = 0;
    out->rest = out->copied = false;
    if (vm->api->kind(vm, key) == DVX_TUPLE) {
        if (!add_items(vm, out, key)) return false;
    } else {
        if (!hold(vm, out, vm->api->retain(vm, key))) return false;
    }
    return (!out->arrays || check_masks(vm, a, out)) && spread_rest(vm, out, a) &&
           resolve(vm, out, a);
}

/* Reads the key for the array: IndexError and what converting raises.  It must be dropped even so.
 */
static bool index_read(dvx_vm *vm, const nd_array *a, dvx_value key, nd_index *out) {
    nd_state *state = nd_state_of(vm);
    state->busy++;
    bool good = read_key(vm, a, key, out);
    state->busy--;
    return good;
}

static void index_drop(dvx_vm *vm, nd_index *index) {
    for (int i = 0; i < index->count; i++)
        if (index->parts[i].kind == INDEX_ARRAY) vm->api->release(vm, index->parts[i].owner);
    for (int i = 0; i < index->held_count; i++) vm->api->release(vm, index->held[i]);
}

/* ---- Views ---- */

static bool make_view(dvx_vm *vm, const nd_array *a, const nd_index *index, index_view *out) {
    int axis = 0;
    out->data = a->data;
    out->ndim = 0;
    for (int i = 0; i < index->count; i++) {
        const index_part *p = &index->parts[i];
        const dvx_axis *x = &a->axes[axis];
        switch (p->kind) {
        case INDEX_INT: out->data += p->start * x->stride; break;
        case INDEX_SLICE:
            if (p->count) out->data += p->start * x->stride;
            out->axes[out->ndim++] = axis_stepped(p->count, p->step, x->stride);
            break;
        case INDEX_NEW: out->axes[out->ndim++] = (dvx_axis){1, 0}; break;
        default:
            memcpy(out->axes + out->ndim, x, (size_t)p->count * sizeof *x);
            out->ndim += (int)p->count;
            break;
        }
        axis += p->kind == INDEX_REST ? (int)p->count : p->axis;
    }
    if (out->ndim <= ND_MOST) return true;
    return nd_fail(vm, DVX_INDEX_ERROR,
                   "number of dimensions must be within [0, %d], indexing result would have %d",
                   (int)ND_MOST, out->ndim);
}

/* Only ints, one for each axis: an element. */
static bool is_element(const nd_array *a, const nd_index *index) {
    if (index->rest || index->count < a->ndim) return false;
    for (int i = 0; i < index->count; i++)
        if (index->parts[i].kind != INDEX_INT) return false;
    return true;
}

/* Is the key a bool array of the array's shape? */
static bool is_whole_mask(const nd_array *a, const nd_array *mask) {
    return mask && mask->dtype->num == ND_BOOL && a->ndim && array_same_shape(mask, a);
}

/* The one item of a key that is a tuple, where that is a list or an array, or DVX_FAILED (nothing
 * is raised): bool arrays of the array's shape have ways and errors of their own, there too. */
static dvx_value only_item(dvx_vm *vm, dvx_value key) {
    if (vm->api->kind(vm, key) != DVX_TUPLE || vm->api->length(vm, key) != 1) return DVX_FAILED;
    dvx_value item = vm->api->get_item(vm, key, vm->api->make_int(vm, 0));
    if (vm->api->kind(vm, item) == DVX_LIST || array_of(vm, item)) return item;
    vm->api->release(vm, item);
    return DVX_FAILED;
}

/* Can fancy_get_row (and fancy_set_row) do it? */
static bool is_row(const nd_array *a, const nd_array *which) {
    return which && dtype_is_integer(which->dtype) && which->dtype->num != ND_BOOL && which->ndim &&
           which->dtype->hot != ND_RARE && (a->dtype->size != 2 || which->dtype->num == ND_INT64) &&
           a->ndim == 1 && which->flags & ND_C_CONTIGUOUS;
}

/* ---- Slots ---- */

static dvx_value get_read(dvx_vm *vm, dvx_value self, const nd_array *a, const nd_index *index) {
    index_view v;
    nd_array *view;
    if (index->arrays) return fancy_get(vm, a, index);
    if (!make_view(vm, a, index, &v)) return DVX_FAILED;
    if (is_element(a, index)) return array_element(vm, a->dtype, v.data);
    dvx_value made = array_view(vm, self, a, v.data, v.ndim, v.axes, &view);
    if (dvx_failed(made) || !index->copied) return made;
    dvx_value copy = array_copy(vm, view, view->dtype, 'K');
    vm->api->release(vm, made);
    return copy;
}

/* An int as the index of an array with one axis. */
static bool read_place(dvx_vm *vm, const nd_array *a, dvx_value key, int64_t *i) {
    if (vm->api->read_int(vm, key, i)) return check_int(vm, i, 0, a->axes->count);
    vm->api->clear_error(vm);
    return raise_kind(vm);
}

/* Is the key a tuple of ints, one for each axis, all within bounds?  Then *at is the element. (What
 * is wrong with other keys depends on all their items: index_read knows the order.) */
static bool read_places(dvx_vm *vm, const nd_array *a, dvx_value key, char **at) {
    int64_t i;
    if (vm->api->kind(vm, key) != DVX_TUPLE || a->ndim == 0 || vm->api->length(vm, key) != a->ndim)
        return false;
    *at = a->data;
    for (int axis = 0; axis < a->ndim; axis++) {
        dvx_value item = vm->api->get_item(vm, key, vm->api->make_int(vm, axis));
        bool is_int = vm->api->kind(vm, item) == DVX_INT,
             good = is_int && vm->api->read_int(vm, item, &i);
        vm->api->release(vm, item);
        if (!is_int) return false;
        if (!good) return vm->api->clear_error(vm), false;
        int64_t size = a->axes[axis].count;
        if (i < 0) i += size;
        if (i < 0 || i >= size) return false;
        *at += i * a->axes[axis].stride;
    }
    return true;
}

dvx_value index_get(dvx_vm *vm, dvx_value self, dvx_value key) {
    nd_index index;
    int64_t i;
    char *at;
    const nd_array *a = array_self(vm, self), *other;
    if (a->ndim && vm->api->kind(vm, key) == DVX_INT) {
        nd_array *view;
        if (!read_place(vm, a, key, &i)) return DVX_FAILED;
        char *part = a->data + i * a->axes->stride;
        if (a->ndim == 1) return array_element(vm, a->dtype, part);
        return array_view(vm, self, a, part, a->ndim - 1, a->axes + 1, &view);
    }
    const dvx_kind kind = vm->api->kind(vm, key);
    nd_array *whole;
    if (kind == DVX_ELLIPSIS) return array_view(vm, self, a, a->data, a->ndim, a->axes, &whole);
    if (kind == DVX_NONE && a->ndim < ND_MOST) {
        dvx_axis axes[ND_MOST];
        axes[0] = (dvx_axis){1, 0};
        memcpy(axes + 1, a->axes, (size_t)a->ndim * sizeof *axes);
        return array_view(vm, self, a, a->data, a->ndim + 1, axes, &whole);
    }
    if (read_places(vm, a, key, &at)) return array_element(vm, a->dtype, at);
    other = array_of(vm, key);
    if (is_whole_mask(a, other)) return fancy_get_mask(vm, a, other);
    if (is_row(a, other)) return fancy_get_row(vm, a, other);
    dvx_value result = DVX_FAILED, only = only_item(vm, key);
    if (!dvx_failed(only)) {
        result = index_get(vm, self, only);
        vm->api->release(vm, only);
        return result;
    }
    if (vm->api->kind(vm, key) == DVX_LIST) {
        dvx_value array = index_sequence(vm, key);
        if (!dvx_failed(array)) result = index_get(vm, self, array);
        vm->api->release(vm, array);
        return result;
    }
    if (index_read(vm, a, key, &index)) result = get_read(vm, self, a, &index);
    index_drop(vm, &index);
    return result;
}

dvx_value index_get_scalar(dvx_vm *vm, dvx_value self, dvx_value key) {
    const nd_array *a = array_self(vm, self);
    dvx_kind kind = vm->api->kind(vm, key);
    if (kind == DVX_TUPLE && vm->api->length(vm, key) == 0) return vm->api->retain(vm, self);
    if (kind == DVX_ELLIPSIS) return array_copy(vm, a, a->dtype, 'C');
    const dvx_value args[2] = {self, key};
    return nd_call_library(vm, "_ndarray.scalars", "item", args, 2);
}

dvx_value index_value(dvx_vm *vm, dvx_value v, const nd_dtype *dtype, nd_array **out) {
    return array_operand(vm, v, array_of(vm, v) ? NULL : dtype, out);
}

/* Sequences may not be nested deeper than there are axes. */
static bool check_depth(dvx_vm *vm, dvx_value value, const nd_array *from, const nd_array *to) {
    if (from->ndim <= to->ndim || array_of(vm, value)) return true;
    return nd_fail(vm, DVX_VALUE_ERROR,
                   "setting an array element with a sequence. The requested array would exceed the "
                   "maximum number of dimension of %d.",
                   to->ndim);
}

/* Assigns to the elements of a view, which is no object. */
static bool set_view(dvx_vm *vm, const nd_array *a, const index_view *v, dvx_value value) {
    char one[16];
    dvx_axis axes[ND_MOST];
    nd_array to = {.data = v->data, .dtype = a->dtype, .axes = axes, .ndim = v->ndim}, *from;
    memcpy(axes, v->axes, (size_t)v->ndim * sizeof *axes);
    array_update(&to);
    if (convert_kind(vm, value)) {
        if (!array_store(vm, a->dtype, one, value)) return false;
        return create_fill(vm, &to, one);
    }
    dvx_value array = index_value(vm, value, a->dtype, &from);
    bool good =
        !dvx_failed(array) && check_depth(vm, value, from, &to) && array_assign(vm, &to, from);
    vm->api->release(vm, array);
    return good;
}

static bool set_read(dvx_vm *vm, nd_array *a, const nd_index *index, dvx_value value) {
    index_view v;
    if (index->arrays) return fancy_set(vm, a, index, value);
    if (!make_view(vm, a, index, &v)) return false;
    if (is_element(a, index)) return array_store(vm, a->dtype, v.data, value);
    return set_view(vm, a, &v, value);
}

bool index_set(dvx_vm *vm, dvx_value self, dvx_value key, dvx_value value) {
    nd_index index;
    int64_t i;
    char *at;
    nd_array *a = array_self(vm, self);
    const nd_array *other;
    if (!array_writable(vm, a)) return false;
    if (a->ndim == 1 && vm->api->kind(vm, key) == DVX_INT) {
        if (!read_place(vm, a, key, &i)) return false;
        return array_store(vm, a->dtype, a->data + i * a->axes->stride, value);
    }
    if (read_places(vm, a, key, &at)) return array_store(vm, a->dtype, at, value);
    other = array_of(vm, key);
    if (is_whole_mask(a, other)) return fancy_set_mask(vm, a, other, value);
    bool stored;
    if (is_row(a, other) && fancy_set_row(vm, a, other, value, &stored)) return stored;
    dvx_value only = only_item(vm, key);
    if (!dvx_failed(only)) {
        bool done = index_set(vm, self, only, value);
        vm->api->release(vm, only);
        return done;
    }
    if (vm->api->kind(vm, key) == DVX_LIST) {
        dvx_value array = index_sequence(vm, key);
        bool done = !dvx_failed(array) && index_set(vm, self, array, value);
        vm->api->release(vm, array);
        return done;
    }
    bool good = index_read(vm, a, key, &index) && set_read(vm, a, &index, value);
    index_drop(vm, &index);
    return good;
}

bool index_delete(dvx_vm *vm, dvx_value self, dvx_value key) {
    (void)self, (void)key;
    return nd_fail(vm, DVX_VALUE_ERROR, "cannot delete array elements");
}
