/* memoryview.c: the type memoryview (memoryview.h). */
#include "types/binary/memoryview.h"

#include "core/upcall.h"
#include "core/work.h"
#include "types/binary/array.h"
#include "types/binary/bytes.h"
#include "types/callable/arguments.h"
#include "types/number/int.h"
#include "types/number/range.h"
#include "types/sequence/iterator.h"
#include "types/sequence/list.h"
#include "types/sequence/sequence.h"
#include "types/sequence/tuple.h"

/* ---- Formats ----------------------------------------------------------------------------------*/

/* What an element is as one of an array: its kind; NULL: it is a character, or a truth, or unknown.
 */
static const dv_array_kind *kind_of(char code) {
    if (code == 'n') code = 'q';
    if (code == 'N' || code == 'P') code = 'Q';
    return code == 'u' ? NULL : dv_array_kind_of((uint32_t)code);
}

static bool is_byte(char code) { return code == 'b' || code == 'B' || code == 'c'; }

/* How it is lent; DV_NO_ELEMENT: it is no format. */
static uint32_t element_of(char code) {
    if (code == 'c' || code == '?') return DV_UINT8;
    const dv_array_kind *kind = kind_of(code);
    return kind ? kind->element : DV_NO_ELEMENT;
}

/* Of what v lends. */
static char code_of(dv_value v, const dv_buffer *b) {
    static const char codes[DV_ELEMENTS + 1] = "BbHhIiLlfd";
    if (dv_is_memoryview(v)) return dv_as_memoryview(v)->code;
    if (!dv_is_array(v)) return codes[b->element];
    char code = dv_as_array(v)->kind->code;
    return code == 'u' ? 'w' : code;
}

static void spell(const dv_memoryview *m, char out[3]) {
    if (m->at) *out++ = '@';
    *out++ = m->code;
    *out = 0;
}

/* ---- Making and releasing ---------------------------------------------------------------------*/

dv_value dv_memoryview_refuse(dv_vm *vm) {
    return dv_raise(vm, DV_E_VALUE_ERROR, "operation forbidden on released memoryview object");
}

static bool is_released(const dv_memoryview *m) { return dv_is_empty(m->view.owner); }

static bool check_usable(dv_vm *vm, const dv_memoryview *m) {
    if (DV_UNLIKELY(is_released(m))) dv_memoryview_refuse(vm);
    return !is_released(m);
}

static dv_memoryview *make(dv_vm *vm) {
    dv_memoryview *m = dv_container_new(vm, sizeof *m, DV_T_MEMORYVIEW);
    if (!m) return NULL;
    m->view.owner = DV_EMPTY;
    m->view.buffer = (dv_buffer){.element = DV_NO_ELEMENT};
    m->hashed = m->at = false;
    m->code = 'B';
    m->hash = 0;
    return m;
}

/* Another one of the same elements. */
static dv_memoryview *share(dv_vm *vm, const dv_memoryview *from) {
    if (!check_usable(vm, from)) return NULL;
    dv_memoryview *m = make(vm);
    if (!m) return NULL;
    dv_view_share(vm, &from->view, &m->view);
    m->at = from->at;
    m->code = from->code;
    return m;
}

static dv_value value_or_empty(dv_memoryview *m) { return m ? dv_object_value(m) : DV_EMPTY; }

static dv_value memoryview_construct(dv_vm *vm, const dv_value *args, uint32_t count,
                                     dv_value keywords) {
    static const char *const names[] = {"object"};
    static const dv_parameters parameters = {"memoryview", names, 1, 1, 1};
    dv_value v;
    if (!dv_arguments_sort(vm, &parameters, args, count, keywords, &v)) return DV_EMPTY;
    if (dv_is_memoryview(v)) return value_or_empty(share(vm, dv_as_memoryview(v)));
    if (!dv_lends(vm, v))
        return dv_raise(vm, DV_E_TYPE_ERROR,
                        "memoryview: a bytes-like object is required, not '%T'", v);
    dv_memoryview *m = make(vm);
    if (!m) return DV_EMPTY;
    if (dv_view_get(vm, v, false, &m->view)) {
        m->view.buffer.exports = 0;
        m->code = code_of(v, &m->view.buffer);
        return dv_object_value(m);
    }
    dv_release_object(vm, &m->header);
    return DV_EMPTY;
}

static void end(dv_vm *vm, dv_memoryview *m) {
    m->view.buffer.element = DV_NO_ELEMENT;
    dv_view_release(vm, &m->view);
}

static void memoryview_release(dv_vm *vm, dv_object *object) {
    dv_memoryview *m = (dv_memoryview *)object;
    end(vm, m);
    dv_container_free(vm, m, sizeof *m);
}

static void memoryview_traverse(dv_vm *vm, dv_object *object, dv_visit visit, void *context) {
    visit(vm, ((dv_memoryview *)object)->view.owner, context);
}

static void memoryview_clear(dv_vm *vm, dv_object *object) {
    dv_memoryview *m = (dv_memoryview *)object;
    if (!m->view.buffer.exports) end(vm, m);
}

static dv_value method_release(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_memoryview *m = dv_as_memoryview(args[0]);
    const uint32_t exports = m->view.buffer.exports;
    if (exports)
        return dv_raise(vm, DV_E_BUFFER_ERROR, "memoryview has %d exported buffer%s", (int)exports,
                        exports == 1 ? "" : "s");
    end(vm, m);
    return DV_NONE;
}

static dv_value method_enter(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    return check_usable(vm, dv_as_memoryview(args[0])) ? dv_retain(args[0]) : DV_EMPTY;
}

/* ---- Elements ---------------------------------------------------------------------------------*/

static dv_value load(dv_vm *vm, const dv_memoryview *m, const char *at) {
    _Alignas(8) char bytes[8];
    char format[3];
    const dv_array_kind *kind = kind_of(m->code);
    if (m->code == 'c') return dv_bytes_new(vm, at, 1);
    if (m->code == '?') return dv_bool(*at != 0);
    if (kind) {
        memcpy(bytes, at, kind->size);
        return dv_array_load(vm, kind, bytes);
    }
    spell(m, format);
    return dv_raise(vm, DV_E_NOT_IMPLEMENTED_ERROR, "memoryview: format %s not supported", format);
}

/* Makes what a conversion raised CPython's. */
static bool refuse(dv_vm *vm, const dv_memoryview *m, bool type) {
    char format[3];
    spell(m, format);
    dv_error_clear(vm);
    dv_raise(vm, type ? DV_E_TYPE_ERROR : DV_E_VALUE_ERROR,
             "memoryview: invalid %s for format '%s'", type ? "type" : "value", format);
    return false;
}

/* v as the bytes of an element. */
static bool encode(dv_vm *vm, const dv_memoryview *m, dv_value v, char out[8]) {
    const dv_array_kind *kind = kind_of(m->code);
    if (m->code == 'c') {
        if (!dv_is_bytes(v) || dv_as_bytes(v)->length != 1) return refuse(vm, m, !dv_is_bytes(v));
        out[0] = dv_as_bytes(v)->data[0];
        return true;
    }
    if (m->code == '?') {
        int truth = dv_truth(vm, v);
        out[0] = truth > 0;
        return truth >= 0;
    }
    if (!kind) return dv_is_empty(load(vm, m, out)) && false;             /* which says so */
    if (m->code == 'P' && !dv_is_integral(v)) return refuse(vm, m, true); /* as in CPython */
    if (dv_array_encode(vm, kind, v, out)) return true;
    bool type = dv_error_is(vm, DV_E_TYPE_ERROR);
    if (!type && !dv_error_is(vm, DV_E_OVERFLOW_ERROR) && !dv_error_is(vm, DV_E_VALUE_ERROR))
        return false;
    return refuse(vm, m, type);
}

bool dv_memoryview_is_whole(dv_vm *vm, const dv_memoryview *m) {
    if (!check_usable(vm, m)) return false;
    if (dv_buffer_is_whole(&m->view.buffer, false)) return true;
    dv_raise(vm, DV_E_BUFFER_ERROR, "memoryview: underlying buffer is not C-contiguous");
    return false;
}

static size_t size_of(const dv_memoryview *m) { return dv_element_size(m->view.buffer.element); }

int64_t dv_memoryview_size(const dv_memoryview *m) {
    if (is_released(m)) return 0;
    int64_t size = (int64_t)size_of(m);
    for (uint32_t k = 0; k < m->view.buffer.dimensions; k++) size *= m->view.buffer.axes[k].count;
    return size;
}

/* Where an index along an axis leads from `at`; NULL: IndexError. */
static char *step_to(dv_vm *vm, const dv_memoryview *m, char *at, uint32_t axis, int64_t i) {
    const dv_axis *a = &m->view.buffer.axes[axis];
    if (i < 0) i += a->count;
    if (i >= 0 && i < a->count) return at + i * a->stride;
    dv_raise(vm, DV_E_INDEX_ERROR, "index out of bounds on dimension %d", (int)axis + 1);
    return NULL;
}

typedef enum key_kind { KEY_OTHER, KEY_INDEX, KEY_SLICE, KEY_INDICES, KEY_SLICES } key_kind;

static key_kind kind_of_key(dv_vm *vm, dv_value key) {
    if (dv_is_index(vm, key)) return KEY_INDEX;
    if (dv_is_shape(key, DV_T_SLICE)) return KEY_SLICE;
    if (!dv_is_tuple(key)) return KEY_OTHER;
    const dv_tuple *keys = dv_as_tuple(key);
    int64_t indices = 0, slices = 0;
    for (int64_t i = 0; i < keys->count; i++) {
        indices += dv_is_index(vm, keys->items[i]);
        slices += dv_is_shape(keys->items[i], DV_T_SLICE);
    }
    if (indices == keys->count) return KEY_INDICES;
    return slices == keys->count ? KEY_SLICES : KEY_OTHER;
}

static char *not_implemented(dv_vm *vm, const char *what) {
    dv_raise(vm, DV_E_NOT_IMPLEMENTED_ERROR, "%s", what);
    return NULL;
}

/* Where the element is that an index or a tuple of such names; NULL: raised. */
static char *place_of(dv_vm *vm, const dv_memoryview *m, dv_value key, const char *refusal) {
    const bool several = dv_is_tuple(key);
    const dv_value *keys = several ? dv_as_tuple(key)->items : &key;
    const int64_t count = several ? dv_as_tuple(key)->count : 1;
    const uint32_t dimensions = m->view.buffer.dimensions;
    if (count < dimensions)
        return not_implemented(vm, several ? "sub-views are not implemented" : refusal);
    if (count > dimensions) {
        dv_raise(vm, DV_E_TYPE_ERROR, "cannot index %d-dimension view with %lld-element tuple",
                 (int)dimensions, (long long)count);
        return NULL;
    }
    char *at = m->view.buffer.data;
    for (uint32_t k = 0; at && k < dimensions; k++) {
        int64_t i;
        if (!dv_as_index(vm, keys[k], &i) || !check_usable(vm, m)) return NULL;
        at = step_to(vm, m, at, k, i);
    }
    return at;
}

/* Narrows the first axis. */
static bool cut(dv_vm *vm, dv_memoryview *m, dv_value slice) {
    dv_axis *axis = m->view.buffer.axes;
    int64_t start, stop, step, count;
    if (!dv_slice_indices(vm, slice, axis->count, &start, &stop, &step, &count)) return false;
    if (m->view.buffer.data)
        m->view.buffer.data = (char *)m->view.buffer.data + start * axis->stride;
    axis->count = count;
    axis->stride *= step;
    return true;
}

static dv_value get_slice(dv_vm *vm, const dv_memoryview *from, dv_value slice) {
    dv_memoryview *m = share(vm, from);
    if (!m || cut(vm, m, slice)) return value_or_empty(m);
    dv_release_object(vm, &m->header);
    return DV_EMPTY;
}

static bool is_whole(dv_value key) {
    return dv_same(key, DV_ELLIPSIS) || (dv_is_tuple(key) && dv_as_tuple(key)->count == 0);
}

static dv_value memoryview_get_item(dv_vm *vm, dv_value self, dv_value key) {
    static const char sub_views[] = "multi-dimensional sub-views are not implemented";
    const dv_memoryview *m = dv_as_memoryview(self);
    if (!check_usable(vm, m)) return DV_EMPTY;
    if (m->view.buffer.dimensions == 0) {
        if (!is_whole(key))
            return dv_raise(vm, DV_E_TYPE_ERROR, "invalid indexing of 0-dim memory");
        return dv_is_tuple(key) ? load(vm, m, m->view.buffer.data) : dv_retain(self);
    }
    const key_kind kind = kind_of_key(vm, key);
    if (kind == KEY_INDEX || kind == KEY_INDICES) {
        const char *at = place_of(vm, m, key, sub_views);
        return at ? load(vm, m, at) : DV_EMPTY;
    }
    if (kind == KEY_SLICE) return get_slice(vm, m, key);
    if (kind == KEY_SLICES)
        return dv_raise(vm, DV_E_NOT_IMPLEMENTED_ERROR,
                        "multi-dimensional slicing is not implemented");
    return dv_raise(vm, DV_E_TYPE_ERROR, "memoryview: invalid slice key");
}

/* ---- Storing ----------------------------------------------------------------------------------*/

static bool store(dv_vm *vm, const dv_memoryview *m, char *at, dv_value value) {
    char bytes[8];
    if (!encode(vm, m, value, bytes) || !check_usable(vm, m)) return false;
    memcpy(at, bytes, size_of(m));
    return true;
}

/* Elements that lie somewhere, the same number of them, to the axis of `to`. */
static void scatter(const dv_buffer *to, const char *from) {
    const size_t size = dv_element_size(to->element);
    char *at = to->data;
    for (int64_t i = 0; i < to->axes[0].count; i++) {
        memcpy(at, from, size);
        at += to->axes[0].stride;
        from += size;
    }
}

static bool copy_elements(dv_vm *vm, const dv_memoryview *to, const dv_buffer *from, char code) {
    const dv_buffer *b = &to->view.buffer;
    if (from->dimensions != 1 || from->axes[0].count != b->axes[0].count || code != to->code) {
        dv_raise(vm, DV_E_VALUE_ERROR,
                 "memoryview assignment: lvalue and rvalue have different structures");
        return false;
    }
    dv_value bytes = dv_buffer_copy(vm, from, false); /* they may overlap */
    if (dv_is_empty(bytes)) return false;
    if (b->axes[0].count) scatter(b, dv_as_str(bytes)->data);
    dv_release(vm, bytes);
    return true;
}

static bool set_slice(dv_vm *vm, const dv_memoryview *m, dv_value slice, dv_value value) {
    dv_view from;
    if (!dv_view_get(vm, value, false, &from)) return false;
    char code = code_of(value, &from.buffer);
    dv_value part = get_slice(vm, m, slice);
    bool good = !dv_is_empty(part) && check_usable(vm, m) &&
                copy_elements(vm, dv_as_memoryview(part), &from.buffer, code);
    dv_release(vm, part);
    dv_view_release(vm, &from);
    return good;
}

static bool raise_type(dv_vm *vm, const char *message) {
    dv_raise(vm, DV_E_TYPE_ERROR, "%s", message);
    return false;
}

static bool memoryview_set_item(dv_vm *vm, dv_value self, dv_value key, dv_value value) {
    static const char restricted[] =
        "memoryview slice assignments are currently restricted to ndim = 1";
    const dv_memoryview *m = dv_as_memoryview(self);
    const uint32_t dimensions = m->view.buffer.dimensions;
    if (!check_usable(vm, m)) return false;
    if (m->view.buffer.read_only) return raise_type(vm, "cannot modify read-only memory");
    if (dv_is_empty(value)) return raise_type(vm, "cannot delete memory");
    if (dimensions == 0)
        return is_whole(key) ? store(vm, m, m->view.buffer.data, value)
                             : raise_type(vm, "invalid indexing of 0-dim memory");
    const key_kind kind = kind_of_key(vm, key);
    if (kind == KEY_INDEX || kind == KEY_INDICES) {
        char *at = place_of(vm, m, key, "sub-views are not implemented");
        return at && store(vm, m, at, value);
    }
    if (kind == KEY_SLICE && dimensions == 1) return set_slice(vm, m, key, value);
    if (kind == KEY_SLICE || kind == KEY_SLICES) return not_implemented(vm, restricted) != NULL;
    return raise_type(vm, "memoryview: invalid slice key");
}

/* ---- Operators --------------------------------------------------------------------------------*/

static int64_t memoryview_length(dv_vm *vm, dv_value self) {
    const dv_memoryview *m = dv_as_memoryview(self);
    if (!check_usable(vm, m)) return -1;
    return m->view.buffer.dimensions ? m->view.buffer.axes[0].count : 1;
}

static dv_value memoryview_iterate(dv_vm *vm, dv_value self) {
    const dv_memoryview *m = dv_as_memoryview(self);
    if (!check_usable(vm, m)) return DV_EMPTY;
    if (m->view.buffer.dimensions == 1) return dv_iterator_new(vm, self);
    if (m->view.buffer.dimensions == 0)
        return dv_raise(vm, DV_E_TYPE_ERROR, "invalid indexing of 0-dim memory");
    return dv_raise(vm, DV_E_NOT_IMPLEMENTED_ERROR,
                    "multi-dimensional sub-views are not implemented");
}

static bool have_one_shape(const dv_buffer *a, const dv_buffer *b) {
    if (a->dimensions != b->dimensions) return false;
    for (uint32_t k = 0; k < a->dimensions; k++)
        if (a->axes[k].count != b->axes[k].count) return false;
    return true;
}

/* Are the elements from `axis` on equal?  1, 0, or -1: raised. */
static int equal_from(dv_vm *vm, const dv_memoryview *a, const char *x, const dv_memoryview *b,
                      const char *y, uint32_t axis) {
    const dv_buffer *of_a = &a->view.buffer, *of_b = &b->view.buffer;
    if (axis == of_a->dimensions) {
        dv_value left = dv_work(vm, 1) ? load(vm, a, x) : DV_EMPTY, right = DV_EMPTY;
        if (!dv_is_empty(left)) right = load(vm, b, y);
        int equal = dv_is_empty(right) ? -1 : dv_array_equal(vm, left, right);
        dv_release(vm, left);
        dv_release(vm, right);
        return equal;
    }
    int equal = 1;
    for (int64_t i = 0; equal == 1 && i < of_a->axes[axis].count; i++)
        equal = equal_from(vm, a, x + i * of_a->axes[axis].stride, b,
                           y + i * of_b->axes[axis].stride, axis + 1);
    return equal;
}

static int equal(dv_vm *vm, const dv_memoryview *a, const dv_memoryview *b) {
    if (is_released(a) || is_released(b)) return a == b;
    const dv_buffer *x = &a->view.buffer, *y = &b->view.buffer;
    if (!have_one_shape(x, y)) return 0;
    const bool known = (kind_of(a->code) || element_of(a->code) == DV_UINT8) &&
                       (kind_of(b->code) || element_of(b->code) == DV_UINT8);
    if (!known) return 0;
    bool bytes = a->code == b->code && is_byte(a->code) && dv_buffer_is_whole(x, false) &&
                 dv_buffer_is_whole(y, false);
    const int64_t size = bytes ? dv_memoryview_size(a) : 0;
    if (bytes) return size == 0 || memcmp(x->data, y->data, (size_t)size) == 0;
    return equal_from(vm, a, x->data, b, y->data, 0);
}

static dv_value memoryview_compare(dv_vm *vm, dv_compare_op op, dv_value a, dv_value b) {
    if ((op != DV_EQ && op != DV_NE) || !dv_is_memoryview(a) || !dv_lends(vm, b))
        return DV_NOTIMPLEMENTED;
    dv_value other = dv_is_memoryview(b) || is_released(dv_as_memoryview(a))
                         ? dv_retain(b)
                         : memoryview_construct(vm, &b, 1, DV_EMPTY);
    if (dv_is_empty(other)) { /* its elements cannot be lent */
        if (!dv_error_is(vm, DV_E_BUFFER_ERROR)) return DV_EMPTY;
        dv_error_clear(vm);
        return DV_NOTIMPLEMENTED;
    }
    int is = dv_is_memoryview(other) ? equal(vm, dv_as_memoryview(a), dv_as_memoryview(other)) : 0;
    dv_release(vm, other);
    return is < 0 ? DV_EMPTY : dv_bool(is == (op == DV_EQ));
}

static bool memoryview_hash(dv_vm *vm, dv_value self, int64_t *hash) {
    dv_memoryview *m = dv_as_memoryview(self);
    if (!m->hashed) {
        if (!check_usable(vm, m)) return false;
        if (!m->view.buffer.read_only) {
            dv_raise(vm, DV_E_VALUE_ERROR, "cannot hash writable memoryview object");
            return false;
        }
        if (!is_byte(m->code)) {
            dv_raise(vm, DV_E_VALUE_ERROR,
                     "memoryview: hashing is restricted to formats 'B', 'b' or 'c'");
            return false;
        }
        if (!dv_hash(vm, m->view.owner, &m->hash)) return false; /* is it hashable? */
        dv_value bytes = dv_buffer_copy(vm, &m->view.buffer, false);
        m->hashed = !dv_is_empty(bytes) && dv_hash(vm, bytes, &m->hash);
        dv_release(vm, bytes);
    }
    *hash = m->hash;
    return m->hashed;
}

static dv_value memoryview_repr(dv_vm *vm, dv_value self) {
    bool released = is_released(dv_as_memoryview(self));
    return dv_str_printf(vm, released ? "<released memory at 0x%llx>" : "<memory at 0x%llx>",
                         dv_identity(vm, self));
}

/* ---- Attributes -------------------------------------------------------------------------------*/

static dv_value axes_tuple(dv_vm *vm, const dv_buffer *b, bool strides) {
    dv_value ints[DV_MOST_AXES];
    for (uint32_t k = 0; k < b->dimensions; k++)
        ints[k] = dv_int(strides ? b->axes[k].stride : b->axes[k].count);
    return dv_tuple_new(vm, ints, b->dimensions);
}

static dv_value memoryview_get_attribute(dv_vm *vm, dv_value self, dv_value name) {
    static const char *const names[] = {"obj",          "nbytes",       "readonly",   "itemsize",
                                        "format",       "ndim",         "shape",      "strides",
                                        "c_contiguous", "f_contiguous", "contiguous", "suboffsets"};
    const dv_memoryview *m = dv_as_memoryview(self);
    const dv_buffer *b = &m->view.buffer;
    char format[3];
    size_t which = 0;
    while (which < sizeof names / sizeof *names && !dv_str_is(name, names[which])) which++;
    if (which == sizeof names / sizeof *names) return DV_EMPTY;
    if (!check_usable(vm, m)) return DV_EMPTY;
    spell(m, format);
    switch (which) {
    case 0: return dv_retain(m->view.owner);
    case 1: return dv_int(dv_memoryview_size(m));
    case 2: return dv_bool(b->read_only);
    case 3: return dv_int((int64_t)size_of(m));
    case 4: return dv_str_z(vm, format);
    case 5: return dv_int(b->dimensions);
    case 6: return axes_tuple(vm, b, false);
    case 7: return axes_tuple(vm, b, true);
    case 8: return dv_bool(dv_buffer_is_whole(b, false));
    case 9: return dv_bool(dv_buffer_is_whole(b, true));
    case 10: return dv_bool(dv_buffer_is_whole(b, false) || dv_buffer_is_whole(b, true));
    default: return dv_tuple_new(vm, NULL, 0);
    }
}

/* ---- Copies -----------------------------------------------------------------------------------*/

static dv_value method_tobytes(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"order"};
    static const dv_parameters parameters = {"tobytes", names, 1, 1, 0};
    const dv_memoryview *m = dv_as_memoryview(args[0]);
    dv_value order;
    if (!dv_arguments_sort(vm, &parameters, args + 1, count - 1, keywords, &order) ||
        !check_usable(vm, m))
        return DV_EMPTY;
    bool given = !dv_is_empty(order) && !dv_is_none(order);
    if (given && !dv_is_str(order))
        return dv_arguments_refuse(vm, "tobytes() argument 'order'", "str or None", order);
    if (given && !dv_str_is(order, "C") && !dv_str_is(order, "F") && !dv_str_is(order, "A"))
        return dv_raise(vm, DV_E_VALUE_ERROR, "order must be 'C', 'F' or 'A'");
    const dv_buffer *b = &m->view.buffer;
    bool columns =
        given &&
        (dv_str_is(order, "F") ||
         (dv_str_is(order, "A") && !dv_buffer_is_whole(b, false) && dv_buffer_is_whole(b, true)));
    return dv_buffer_copy(vm, b, columns);
}

static dv_value method_hex(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    const dv_memoryview *m = dv_as_memoryview(args[0]);
    if (count > 3)
        return dv_raise(vm, DV_E_TYPE_ERROR, "hex() takes at most 2 arguments (%d given)",
                        (int)count - 1);
    if (!check_usable(vm, m)) return DV_EMPTY;
    dv_value bytes = dv_buffer_copy(vm, &m->view.buffer, false);
    if (dv_is_empty(bytes)) return DV_EMPTY;
    dv_value all[3] = {bytes, count > 1 ? args[1] : DV_EMPTY, count > 2 ? args[2] : DV_EMPTY};
    dv_value text = dv_bytes_hex(vm, all, count, keywords);
    dv_release(vm, bytes);
    return text;
}

static dv_value list_from(dv_vm *vm, const dv_memoryview *m, const char *at, uint32_t axis) {
    const dv_buffer *b = &m->view.buffer;
    if (axis == b->dimensions) return dv_work(vm, 1) ? load(vm, m, at) : DV_EMPTY;
    dv_value list = dv_list_new(vm, NULL, 0);
    for (int64_t i = 0; !dv_is_empty(list) && i < b->axes[axis].count; i++) {
        dv_value v = list_from(vm, m, at + i * b->axes[axis].stride, axis + 1);
        bool good = !dv_is_empty(v) && dv_list_append(vm, list, v);
        dv_release(vm, v);
        if (good) continue;
        dv_release(vm, list);
        list = DV_EMPTY;
    }
    return list;
}

static dv_value method_tolist(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    const dv_memoryview *m = dv_as_memoryview(args[0]);
    return check_usable(vm, m) ? list_from(vm, m, m->view.buffer.data, 0) : DV_EMPTY;
}

static dv_value method_toreadonly(dv_vm *vm, const dv_value *args, uint32_t count) {
    (void)count;
    dv_memoryview *m = share(vm, dv_as_memoryview(args[0]));
    if (m) m->view.buffer.read_only = true;
    return value_or_empty(m);
}

/* ---- cast() -----------------------------------------------------------------------------------*/

/* m, of one axis, as elements of another format. */
static bool cast_format(dv_vm *vm, dv_memoryview *m, dv_value format) {
    const dv_str *text = dv_as_str(format);
    const bool at = text->length == 2 && dv_str_at(text, 0) == '@';
    const uint32_t last = text->length == 1 + at ? dv_str_at(text, at) : 0;
    const char code = last < 128 ? (char)last : 0;
    const uint32_t element = element_of(code);
    if (element == DV_NO_ELEMENT) {
        dv_raise(vm, DV_E_VALUE_ERROR,
                 "memoryview: destination format must be a native single character format prefixed "
                 "with an optional '@'");
        return false;
    }
    if (!is_byte(m->code) && !is_byte(code))
        return raise_type(vm, "memoryview: cannot cast between two non-byte formats");
    const int64_t size = (int64_t)dv_element_size(element), all = dv_memoryview_size(m);
    if (all % size) return raise_type(vm, "memoryview: length is not a multiple of itemsize");
    dv_buffer *b = &m->view.buffer;
    m->code = code;
    m->at = at;
    b->element = element;
    b->dimensions = 1;
    b->axes[0] = (dv_axis){all / size, size};
    return true;
}

/* m, of one axis, as several. */
static bool cast_shape(dv_vm *vm, dv_memoryview *m, const dv_value *shape, int64_t count) {
    dv_buffer *b = &m->view.buffer;
    int64_t counts[DV_MOST_AXES], product = (int64_t)size_of(m);
    const int64_t all = dv_memoryview_size(m);
    for (int64_t k = 0; k < count; k++) {
        if (!dv_is_any_int(shape[k]) && !dv_is_bool(shape[k]))
            return raise_type(vm, "memoryview.cast(): elements of shape must be integers");
        if (!dv_int_to_int64(shape[k], &counts[k])) {
            dv_raise(vm, DV_E_OVERFLOW_ERROR, "Python int too large to convert to C ssize_t");
            return false;
        }
        if (counts[k] <= 0) {
            dv_raise(vm, DV_E_VALUE_ERROR,
                     "memoryview.cast(): elements of shape must be integers > 0");
            return false;
        }
        if (__builtin_mul_overflow(product, counts[k], &product)) {
            dv_raise(vm, DV_E_VALUE_ERROR, "memoryview.cast(): product(shape) > SSIZE_MAX");
            return false;
        }
    }
    if (product != all)
        return raise_type(vm, "memoryview: product(shape) * itemsize != buffer size");
    b->dimensions = (uint32_t)count;
    int64_t stride = (int64_t)size_of(m);
    for (int64_t k = count; k-- > 0; stride *= counts[k]) b->axes[k] = (dv_axis){counts[k], stride};
    return true;
}

static bool check_cast(dv_vm *vm, const dv_memoryview *m, dv_value shape) {
    const dv_buffer *b = &m->view.buffer;
    if (!dv_buffer_is_whole(b, false))
        return raise_type(vm, "memoryview: casts are restricted to C-contiguous views");
    const bool shaped = !dv_is_empty(shape);
    if ((shaped || b->dimensions != 1) && dv_memoryview_size(m) == 0)
        return raise_type(vm, "memoryview: cannot cast view with zeros in shape or strides");
    if (!shaped) return true;
    if (!dv_is_list(shape) && !dv_is_tuple(shape))
        return raise_type(vm, "shape must be a list or a tuple");
    int64_t count;
    dv_items_of(shape, &count);
    if (count > DV_MOST_AXES) {
        dv_raise(vm, DV_E_VALUE_ERROR,
                 count > 64 ? "memoryview: number of dimensions must not exceed 64"
                            : "a memoryview of more than 8 dimensions is not part of dl");
        return false;
    }
    if (b->dimensions != 1 && count != 1)
        return raise_type(vm, "memoryview: cast must be 1D -> ND or ND -> 1D");
    return true;
}

static dv_value method_cast(dv_vm *vm, const dv_value *args, uint32_t count, dv_value keywords) {
    static const char *const names[] = {"format", "shape"};
    static const dv_parameters parameters = {"cast", names, 2, 2, 1};
    const dv_memoryview *from = dv_as_memoryview(args[0]);
    dv_value given[2];
    if (!dv_arguments_sort(vm, &parameters, args + 1, count - 1, keywords, given)) return DV_EMPTY;
    if (!dv_is_str(given[0]))
        return dv_arguments_refuse(vm, "cast() argument 'format'", "str", given[0]);
    if (!check_usable(vm, from) || !check_cast(vm, from, given[1])) return DV_EMPTY;
    dv_memoryview *m = share(vm, from);
    if (!m) return DV_EMPTY;
    int64_t axes = 0;
    const dv_value *shape = dv_is_empty(given[1]) ? NULL : dv_items_of(given[1], &axes);
    const bool shaped = !dv_is_empty(given[1]);
    if (cast_format(vm, m, given[0]) && (!shaped || cast_shape(vm, m, shape, axes)))
        return dv_object_value(m);
    dv_release_object(vm, &m->header);
    return DV_EMPTY;
}

/* ---- The type ---------------------------------------------------------------------------------*/

static const dv_cfunction_def memoryview_methods[] = {
    {.name = "release", .entry = method_release, .min = 1, .max = 1},
    {.name = "tobytes", .keyword_entry = method_tobytes, .min = 1, .max = UINT32_MAX},
    {.name = "hex", .keyword_entry = method_hex, .min = 1, .max = UINT32_MAX},
    {.name = "tolist", .entry = method_tolist, .min = 1, .max = 1},
    {.name = "cast", .keyword_entry = method_cast, .min = 1, .max = UINT32_MAX},
    {.name = "toreadonly", .entry = method_toreadonly, .min = 1, .max = 1},
    {.name = "__enter__", .entry = method_enter, .min = 1, .max = 1},
    {.name = "__exit__", .entry = method_release, .min = 1, .max = UINT32_MAX},
    {.name = NULL}};

const dv_type dv_memoryview_type = {
    .name = "memoryview",
    .id = DV_T_MEMORYVIEW,
    .weakly = true,
    .release = memoryview_release,
    .traverse = memoryview_traverse,
    .clear = memoryview_clear,
    .repr = memoryview_repr,
    .hash = memoryview_hash,
    .compare = memoryview_compare,
    .length = memoryview_length,
    .get_item = memoryview_get_item,
    .set_item = memoryview_set_item,
    .iterate = memoryview_iterate,
    .get_attribute = memoryview_get_attribute,
    .construct = memoryview_construct,
    .buffer = offsetof(dv_memoryview, view.buffer),
    .buffer_axes = DV_MOST_AXES,
    .methods = memoryview_methods,
};
