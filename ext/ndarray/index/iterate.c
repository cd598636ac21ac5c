/* iterate.c: for loops over arrays, `flat`, and `in` (iterate.h).
 *
 * Invariants
 *  1. An iterator holds its array, or nothing once it is exhausted. */
#include "index/iterate.h"

#include "loops/cast.h"
#include "array/convert.h"
#include "array/create.h"
#include "array/methods.h"
#include "ufunc/ufunc.h"

typedef struct iterator {
    bool active, flat;
    dvx_value array;
    const nd_array *of;      /* its payload */
    const dvx_value *truths; /* the elements that it may have; NULL: others */
    int64_t next;
} iterator;

static const dvx_type iterator_type, flat_type;

static iterator *self_of(dvx_vm *vm, dvx_value self) {
    iterator *it = vm->api->payload(vm, self, &iterator_type);
    return it ? it : vm->api->payload(vm, self, &flat_type);
}

static dvx_value make(dvx_vm *vm, const dvx_type *type, dvx_value array) {
    void *payload;
    dvx_value made = vm->api->make_object(vm, type, &payload);
    if (dvx_failed(made)) return made;
    const nd_array *of = array_of(vm, array);
    *(iterator *)payload =
        (iterator){.active = true,
                   .flat = type == &flat_type,
                   .array = vm->api->retain(vm, array),
                   .of = of,
                   .truths = of->dtype->num == ND_BOOL ? nd_state_of(vm)->truths : NULL};
    return made;
}

/* The address of the element with this number, in C order. */
static char *flat_place(const nd_array *a, int64_t n) {
    char *at = a->data;
    for (int i = a->ndim; i-- > 0;) {
        at += n % a->axes[i].count * a->axes[i].stride;
        n /= a->axes[i].count;
    }
    return at;
}

static int next(dvx_vm *vm, dvx_value self, dvx_value *out) {
    iterator *it = self_of(vm, self);
    nd_array *view;
    if (!it->active) return 0;
    const nd_array *a = it->of;
    /* (Its shape may have changed.) */
    if (it->next >= (it->flat ? a->size : a->ndim ? a->axes->count : 0)) {
        if (it->flat) return 0; /* its elements can still be asked for */
        it->active = false;
        vm->api->release(vm, it->array);
        return 0;
    }
    enum { STEPS = 8 };
    if (!nd_work(vm, STEPS)) return -1;
    const int64_t n = it->next++;
    if (it->flat)
        *out = array_element(vm, a->dtype, flat_place(a, n));
    else if (a->ndim == 1 && it->truths)
        *out = vm->api->retain(vm, it->truths[*(const bool *)(a->data + n * a->axes->stride)]);
    else if (a->ndim == 1)
        *out = array_element(vm, a->dtype, a->data + n * a->axes->stride);
    else
        *out = array_view(vm, it->array, a, a->data + n * a->axes->stride, a->ndim - 1, a->axes + 1,
                          &view);
    return dvx_failed(*out) ? -1 : 1;
}

static void release(dvx_vm *vm, void *payload) {
    iterator *it = payload;
    if (it->active) vm->api->release(vm, it->array);
    it->active = false;
}

dvx_value iterate_start(dvx_vm *vm, dvx_value self) {
    const nd_array *a = array_self(vm, self);
    if (a->ndim == 0) return nd_raise(vm, DVX_TYPE_ERROR, "iteration over a 0-d array");
    if (a->dimensions == 1) return vm->api->retain(vm, self); /* by its elements */
    return make(vm, &iterator_type, self);
}

int64_t iterate_length(dvx_vm *vm, dvx_value self) {
    const nd_array *a = array_self(vm, self);
    if (a->ndim) return a->axes->count;
    nd_fail(vm, DVX_TYPE_ERROR, "len() of unsized object");
    return -1;
}

/* ---- flat ---- */

/* The flat array that a.flat[...] is about: a view of one axis if possible, else a copy. */
static dvx_value flattened(dvx_vm *vm, dvx_value array, const nd_array *a) {
    dvx_axis axis = {a->size, a->dtype->size};
    nd_array *view;
    if (a->flags & ND_C_CONTIGUOUS) return array_view(vm, array, a, a->data, 1, &axis, &view);
    dvx_value copy = array_copy(vm, a, a->dtype, 'C');
    if (dvx_failed(copy)) return copy;
    dvx_value flat =
        array_view(vm, copy, array_of(vm, copy), array_of(vm, copy)->data, 1, &axis, &view);
    vm->api->release(vm, copy);
    return flat;
}

static dvx_value flat_get(dvx_vm *vm, dvx_value self, dvx_value key) {
    iterator *it = self_of(vm, self);
    if (!it->active) return nd_raise(vm, DVX_VALUE_ERROR, "the iterator has no array");
    dvx_value flat = flattened(vm, it->array, it->of);
    if (dvx_failed(flat)) return flat;
    dvx_value found = vm->api->get_item(vm, flat, key);
    const nd_array *a = array_of(vm, found);
    if (a && a->flags & ND_HAS_BASE) { /* NumPy's a.flat[1:3] is a copy */
        dvx_value copy = array_copy(vm, a, a->dtype, 'C');
        vm->api->release(vm, found);
        found = copy;
    }
    vm->api->release(vm, flat);
    return found;
}

static bool flat_set(dvx_vm *vm, dvx_value self, dvx_value key, dvx_value value) {
    iterator *it = self_of(vm, self);
    if (!it->active) return nd_fail(vm, DVX_VALUE_ERROR, "the iterator has no array");
    nd_array *a = array_of(vm, it->array);
    if (!array_writable(vm, a)) return false;
    dvx_value flat = flattened(vm, it->array, a);
    bool good = !dvx_failed(flat) && vm->api->set_item(vm, flat, key, value);
    if (good && !(a->flags & ND_C_CONTIGUOUS)) {
        nd_array shaped = *array_of(vm, flat), order = *a;
        dvx_axis axes[ND_MOST];
        int64_t stride = a->dtype->size;
        for (int i = a->ndim; i-- > 0; stride *= a->axes[i].count)
            axes[i] = (dvx_axis){a->axes[i].count, stride};
        shaped.axes = axes;
        shaped.ndim = order.ndim;
        good = array_assign(vm, a, &shaped);
    }
    vm->api->release(vm, flat);
    return good;
}

static int64_t flat_length(dvx_vm *vm, dvx_value self) {
    const iterator *it = self_of(vm, self);
    return it->active ? it->of->size : 0;
}

static dvx_value get_flat(dvx_vm *vm, dvx_value self) { return make(vm, &flat_type, self); }

/* a.flat = value: as often as it takes. */
static bool set_flat(dvx_vm *vm, dvx_value self, dvx_value value) {
    nd_array *a = array_self(vm, self), *from;
    if (dvx_failed(value)) return nd_fail(vm, DVX_ATTRIBUTE_ERROR, "Cannot delete flat iterator");
    if (!array_writable(vm, a)) return false;
    dvx_value row = array_row(vm, value, a->dtype, &from);
    if (dvx_failed(row)) return false;
    bool good = true;
    if (array_may_overlap(a, from)) {
        dvx_value copy = array_copy(vm, from, from->dtype, 'C');
        vm->api->release(vm, row);
        row = copy;
        good = !dvx_failed(copy);
        if (good) from = array_of(vm, copy);
    }
    size_t size = a->dtype->size;
    for (int64_t i = 0; good && from->size && i < a->size; i++)
        memcpy(flat_place(a, i), from->data + i % from->size * (int64_t)size, size);
    vm->api->release(vm, row);
    return good;
}
ND_ATTRIBUTE(flat, get_flat, set_flat);

/* ---- in ---- */

/* Is a number of that dtype compared as one of the array's dtype?  (To floats it bends.) */
static bool is_compared_directly(const nd_array *a, const nd_dtype *number) {
    const nd_type num = a->dtype->num;
    if (num == ND_INT64) return number->num == ND_INT64 || number->num == ND_BOOL;
    return (num == ND_FLOAT64 || num == ND_FLOAT32) &&
           (number->num == ND_FLOAT64 || number->num == ND_INT64 || number->num == ND_BOOL);
}

/* Does an element of a row equal this one of its dtype?  1, 0, -1: raised. */
static int row_has(dvx_vm *vm, const nd_array *a, const char *number, nd_loop equal) {
    enum { PIECE = 4096 };
    bool same[PIECE];
    const int64_t strides[] = {a->dtype->size, 0, 1};
    for (int64_t i = 0; i < a->size; i += PIECE) {
        const int64_t n = a->size - i < PIECE ? a->size - i : PIECE;
        char *args[] = {a->data + i * a->dtype->size, (char *)number, (char *)same};
        equal(args, n, strides);
        if (memchr(same, true, (size_t)n)) return 1;
        if (!nd_quick_work(vm, n)) return -1;
    }
    return 0;
}

int iterate_contains(dvx_vm *vm, dvx_value self, dvx_value item) {
    _Alignas(16) char number[16];
    const nd_array *a = array_self(vm, self);
    const nd_dtype *dtype = convert_kind(vm, item);
    if (dtype && vm->api->kind(vm, item) != DVX_ANY && a->flags & ND_C_CONTIGUOUS &&
        is_compared_directly(a, dtype))
        return array_store(vm, a->dtype, number, item)
                   ? row_has(vm, a, number, ufunc_kernel(vm, ND_UFUNC_equal, a->dtype->num)->loop)
                   : -1;
    /* (a == item).any() */
    dvx_value equal = vm->api->compare(vm, DVX_EQ, self, item);
    if (dvx_failed(equal)) return -1;
    const nd_array *which = array_of(vm, equal);
    int found = which ? 0 : vm->api->truth(vm, equal);
    for (int64_t i = 0; which && i < which->size && !found; i++)
        found = nd_work(vm, 16) ? *(const bool *)flat_place(which, i) : -1;
    vm->api->release(vm, equal);
    return found;
}

static const dvx_type iterator_type = {.size = sizeof(dvx_type),
                                       .name = "iterator",
                                       .payload = sizeof(iterator),
                                       .release = release,
                                       .next = next};
static const dvx_type flat_type = {.size = sizeof(dvx_type),
                                   .name = "flatiter",
                                   .payload = sizeof(iterator),
                                   .release = release,
                                   .next = next,
                                   .length = flat_length,
                                   .get_item = flat_get,
                                   .set_item = flat_set};

bool iterate_register(dvx_vm *vm, dvx_value module) {
    return vm->api->add_type(vm, module, &iterator_type) &&
           vm->api->add_type(vm, module, &flat_type);
}
