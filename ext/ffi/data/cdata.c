/* cdata.c: making cdatas, and what dl does with them: fields, items, slices, sums, comparison
 * (cdata.h). */
#include "data/cdata.h"

#include <complex.h>
#include <stdio.h>
#include <stdlib.h>

#include "call/call.h"
#include "call/callback.h"
#include "data/convert.h"
#include "ctype/layout.h"
#include "data/lend.h"
#include "call/sites.h"
#include "data/text.h"

extern const dvx_type iterator_type;

/* ---- Memory ---- */

cdata_block *cdata_new_block(dvx_vm *vm, size_t size) {
    if (size > PTRDIFF_MAX - sizeof(cdata_block)) {
        vm->api->raise(vm, DVX_MEMORY_ERROR, "");
        return NULL;
    }
    cdata_block *block = ffi_new(vm, sizeof *block + size + !size);
    if (!block) return NULL;
    block->references = 1;
    block->size = size;
    block->data = block->own;
    return block;
}

cdata_block *cdata_lent_block(dvx_vm *vm, const dvx_view *view, size_t size) {
    cdata_block *block = cdata_new_block(vm, sizeof *view);
    if (!block) return NULL;
    memcpy(block->own, view, sizeof *view);
    block->lent = true;
    block->size = size;
    block->data = view->buffer.data;
    return block;
}

void cdata_drop_block(dvx_vm *vm, cdata_block *block) {
    if (!block || --block->references != 0) return;
    size_t own = block->lent ? sizeof(dvx_view) : block->size + !block->size;
    if (block->lent) vm->api->buffer_release(vm, (dvx_view *)(void *)block->own);
    vm->api->deallocate(vm, block, sizeof *block + own);
}

/* ---- Making ---- */

dvx_value cdata_make_at(dvx_vm *vm, ctype *type, char *data, cdata_block *block, cdata **made) {
    void *payload;
    dvx_value v = vm->api->make_object(vm, &cdata_type, &payload);
    if (dvx_failed(v)) return v;
    cdata *c = *made = payload;
    c->type = type;
    c->data = data;
    c->length = -1;
    c->block = cdata_share(block);
    return v;
}

dvx_value cdata_make(dvx_vm *vm, ctype *type, char *data, cdata_block *block) {
    cdata *ignored;
    return cdata_make_at(vm, type, data, block, &ignored);
}

dvx_value cdata_make_primitive(dvx_vm *vm, ctype *type, const void *bytes) {
    cdata *c;
    dvx_value v = cdata_make_at(vm, type, NULL, NULL, &c);
    if (!dvx_failed(v)) memcpy(c->bytes, bytes, (size_t)type->size);
    return v;
}

cdata *cdata_argument(dvx_vm *vm, dvx_value v, const char *what) {
    char name[FFI_NAME];
    cdata *c = cdata_of(vm, v);
    if (!c)
        ffi_fail(vm, DVX_TYPE_ERROR, "%s argument 1 must be _cffi_backend._CDataBase, not %s", what,
                 ffi_class_name(vm, v, name));
    return c;
}

int64_t cdata_size(const cdata *c) {
    if (c->type->kind == CTYPE_ARRAY && c->type->length < 0) return c->length * c->type->item->size;
    if (c->role == CDATA_OWNING && ctype_is_record(c->type) && c->type->flexible && c->block)
        return (int64_t)c->block->size;
    return c->type->size;
}

/* ---- The end ---- */

void cdata_unraisable(dvx_vm *vm, const char *message, dvx_value about, const char *after) {
    char few[400], *text = few;
    dvx_value error = vm->api->fetch_error(vm);
    dvx_value shown = dvx_failed(about) ? vm->api->make_str(vm, "", 0) : vm->api->repr(vm, about);
    size_t size = 0;
    if (dvx_failed(shown) || !vm->api->read_str(vm, shown, NULL, 0, &size))
        vm->api->clear_error(vm);
    size_t whole = strlen(message) + size + strlen(after) + 1;
    if (whole > sizeof few) text = vm->api->allocate(vm, whole);
    if (!text) vm->api->clear_error(vm), text = few, whole = sizeof few, size = 0;
    size_t at = (size_t)snprintf(text, whole, "%s", message);
    if (size && vm->api->read_str(vm, shown, text + at, size + 1, &size)) at += size;
    snprintf(text + at, whole - at, "%s", after);
    vm->api->release(vm, shown);
    vm->api->raise_error(vm, error);
    vm->api->report_error(vm, text);
    vm->api->release(vm, error);
    if (text != few) vm->api->deallocate(vm, text, whole);
}

/* Calls the destructor of ffi.gc, once. */
static void destroy(dvx_vm *vm, cdata *c) {
    dvx_value destructor = c->first, origin = c->second;
    c->role = CDATA_PLAIN;
    if (!ffi_forget(vm, vm->api->call(vm, destructor, &origin, 1)))
        cdata_unraisable(vm, "Exception ignored from callback for ffi.gc ", origin, "");
    vm->api->release(vm, destructor);
    vm->api->release(vm, origin);
}

/* Drops what the role holds. */
static void drop_role(dvx_vm *vm, cdata *c) {
    dvx_value first = c->first, second = c->second;
    cdata_role role = c->role;
    if (role == CDATA_HANDLE) handle_forget(vm, c);
    c->role = CDATA_PLAIN;
    if (role >= CDATA_GC) vm->api->release(vm, first);
    if (role == CDATA_GC || role == CDATA_CALLBACK) vm->api->release(vm, second);
}

static void release(dvx_vm *vm, void *payload) {
    cdata *c = payload;
    call_raw_free(vm, c);
    if (c->role == CDATA_GC) destroy(vm, c);
    if (c->role == CDATA_CALLBACK) callback_free(vm, c->callback);
    drop_role(vm, c);
    cdata_drop_block(vm, c->block);
}

static void traverse(dvx_vm *vm, void *payload, dvx_visit visit, void *context) {
    const cdata *c = payload;
    if (c->role >= CDATA_GC) visit(vm, c->first, context);
    if (c->role == CDATA_GC || c->role == CDATA_CALLBACK) visit(vm, c->second, context);
    /* The view's reference has to be seen once: where others share it, they keep the owner. */
    if (c->block && c->block->lent && c->block->references == 1)
        visit(vm, ((const dvx_view *)(const void *)c->block->own)->owner, context);
}

/* Memory of an object of dl: the cdata has none from now on. */
static void give_back(dvx_vm *vm, cdata *c) {
    cdata_block *block = c->block;
    dvx_value owner = c->first;
    c->ended = true;
    c->block = NULL;
    c->data = NULL;
    c->first = ffi_none(vm);
    cdata_drop_block(vm, block);
    vm->api->release(vm, owner);
}

/* The code of a callback stays until the end: C may still have its address. */
static void clear(dvx_vm *vm, void *payload) {
    cdata *c = payload;
    if (c->role == CDATA_CALLBACK) {
        dvx_value first = c->first, second = c->second;
        c->first = c->second = ffi_none(vm);
        vm->api->release(vm, first);
        vm->api->release(vm, second);
    } else {
        if (c->role == CDATA_LENT) give_back(vm, c);
        drop_role(vm, c);
    }
}

bool cdata_check_memory(dvx_vm *vm, const cdata *c) {
    if (c->role != CDATA_LENT || !c->ended) return true;
    return ffi_fail(vm, DVX_RUNTIME_ERROR, "the memory of cdata '%s' has been released",
                    c->type->name);
}

bool cdata_end(dvx_vm *vm, cdata *c) {
    bool ends = (c->role == CDATA_OWNING && !ctype_is_record(c->type)) || c->role == CDATA_GC ||
                c->role == CDATA_BUFFER || c->role == CDATA_LENT || c->ended;
    if (!ends)
        return ffi_fail(vm, DVX_VALUE_ERROR,
                        "only 'cdata' object from ffi.new(), ffi.gc(), ffi.from_buffer() or "
                        "ffi.new_allocator()() can be used with the 'with' keyword or "
                        "ffi.release()");
    if (c->role == CDATA_GC) {
        c->ended = true;
        destroy(vm, c);
    }
    if (c->role == CDATA_LENT && !c->ended) give_back(vm, c);
    return true;
}

/* ---- Text ---- */

static dvx_value shown_value(dvx_vm *vm, cdata *c) {
    char text[64];
    long double wide;
    if (c->type->kind == CTYPE_ENUM) return convert_enum_text(vm, c->type, c->bytes, true);
    if (c->type->kind == CTYPE_LONG_DOUBLE) {
        memcpy(&wide, c->bytes, sizeof wide);
        snprintf(text, sizeof text, "%LE", wide);
        return ffi_str(vm, text);
    }
    if (ctype_is_primitive(c->type)) {
        dvx_value v = convert_read(vm, c->type, c->bytes, NULL);
        dvx_value made = vm->api->repr(vm, v);
        vm->api->release(vm, v);
        return made;
    }
    if (c->type->kind == CTYPE_ARRAY && c->type->length < 0)
        snprintf(text, sizeof text, "sliced length %lld", (long long)c->length);
    else if (c->data)
        snprintf(text, sizeof text, "%p", (void *)c->data);
    else
        snprintf(text, sizeof text, "NULL");
    return ffi_str(vm, text);
}

/* "buffer len 3 from 'bytearray' object" */
static dvx_value shown_lender(dvx_vm *vm, const cdata *c) {
    char text[FFI_NAME + 64], length[32] = "";
    size_t size;
    if (c->ended) return ffi_str(vm, "buffer RELEASED");
    dvx_value name = lend_type_name(vm, c->first);
    char *shown = dvx_failed(name) ? NULL : ffi_text(vm, name, &size);
    vm->api->release(vm, name);
    if (!shown) return DVX_FAILED;
    if (c->type->kind == CTYPE_ARRAY)
        snprintf(length, sizeof length, "len %lld ", (long long)cdata_length(c));
    snprintf(text, sizeof text, "buffer %sfrom '%.200s' object", length, shown);
    vm->api->deallocate(vm, shown, size + 1);
    return ffi_str(vm, text);
}

static dvx_value repr(dvx_vm *vm, dvx_value self) {
    char text[64];
    cdata *c = cdata_of(vm, self);
    dvx_value what;
    const char *extra = "";
    if (c->role == CDATA_OWNING) {
        int64_t size = c->type->kind == CTYPE_POINTER ? c->type->item->size : cdata_size(c);
        if (c->type->kind == CTYPE_POINTER && ctype_is_record(c->type->item) &&
            c->type->item->flexible)
            size = (int64_t)c->block->size;
        snprintf(text, sizeof text, "owning %lld bytes", (long long)size);
        what = ffi_str(vm, text);
    } else if (c->role == CDATA_LENT) {
        what = shown_lender(vm, c);
    } else if (c->role == CDATA_CALLBACK || c->role == CDATA_HANDLE) {
        dvx_value shown = vm->api->repr(vm, c->first);
        what = vm->api->make_str(vm, c->role == CDATA_HANDLE ? "handle to " : "calling ",
                                 c->role == CDATA_HANDLE ? 10 : 8);
        dvx_value joined = vm->api->binary(vm, DVX_ADD, what, shown);
        vm->api->release(vm, what);
        vm->api->release(vm, shown);
        what = joined;
    } else {
        what = shown_value(vm, c);
        if (ctype_is_record(c->type)) extra = " &";
    }
    if (dvx_failed(what)) return what;
    size_t size;
    char *shown = ffi_text(vm, what, &size), *whole = NULL;
    size_t most = size + c->type->name_size + 32;
    if (shown) whole = vm->api->allocate(vm, most);
    dvx_value made = DVX_FAILED;
    if (whole) {
        snprintf(whole, most, "<cdata '%s%s' %s>", c->type->name, extra, shown);
        made = ffi_str(vm, whole);
    }
    vm->api->deallocate(vm, whole, whole ? most : 0);
    vm->api->deallocate(vm, shown, shown ? size + 1 : 0);
    vm->api->release(vm, what);
    return made;
}

/* ---- Items ---- */

static bool is_whole_owner(const cdata *c) {
    return c->role == CDATA_OWNING && c->type->kind == CTYPE_POINTER;
}

char *cdata_item(dvx_vm *vm, cdata *c, int64_t i) {
    const ctype *type = c->type;
    if (!cdata_check_memory(vm, c)) return NULL;
    if (type->kind == CTYPE_POINTER) {
        if (is_whole_owner(c) && i != 0)
            return ffi_fail(vm, DVX_INDEX_ERROR, "cdata '%s' can only be indexed by 0", type->name),
                   NULL;
        if (!c->data)
            return ffi_fail(vm, DVX_RUNTIME_ERROR,
                            "cannot dereference null pointer from cdata '%s'", type->name),
                   NULL;
        if (type->item->size < 0)
            return ffi_fail(vm, DVX_TYPE_ERROR, "cdata '%s' is opaque", type->item->name), NULL;
    } else if (type->kind == CTYPE_ARRAY) {
        int64_t length = cdata_length(c);
        if (i < 0) return ffi_fail(vm, DVX_INDEX_ERROR, "negative index"), NULL;
        if (i >= length)
            return ffi_fail(vm, DVX_INDEX_ERROR,
                            "index too large for cdata '%s' (expected %lld < %lld)", type->name,
                            (long long)i, (long long)length),
                   NULL;
    } else {
        return ffi_fail(vm, DVX_TYPE_ERROR, "cdata of type '%s' cannot be indexed", type->name),
               NULL;
    }
    return c->data + i * type->item->size;
}

/* An index or distance; an int that is too large raises this error. */
static bool read_offset(dvx_vm *vm, dvx_value v, dvx_error error, int64_t *out) {
    if (vm->api->kind(vm, v) != DVX_INT) return vm->api->read_index(vm, v, out);
    if (vm->api->read_int(vm, v, out)) return true;
    vm->api->clear_error(vm);
    return ffi_fail(vm, error, "cannot fit 'int' into an index-sized integer");
}

/* A bound of a slice. */
static bool read_bound(dvx_vm *vm, dvx_value v, int64_t *out) {
    if (vm->api->read_int(vm, v, out)) return true;
    vm->api->clear_error(vm);
    return ffi_fail(vm, DVX_TYPE_ERROR, "an integer is required");
}

/* The part [start:stop] of an array; false: raised. */
static bool slice_bounds(dvx_vm *vm, cdata *c, dvx_value slice, int64_t *start, int64_t *count) {
    static const char *const names[] = {"start", "stop", "step"};
    int64_t bounds[3] = {0, 0, 0};
    if (!cdata_check_memory(vm, c)) return false;
    for (int i = 0; i < 3; i++) {
        dvx_value v = vm->api->get_attribute(vm, slice, names[i]);
        bool missing = vm->api->kind(vm, v) == DVX_NONE,
             good = missing || read_bound(vm, v, &bounds[i]);
        vm->api->release(vm, v);
        if (!good) return false;
        if (missing != (i == 2))
            return i < 2 ? ffi_fail(vm, DVX_INDEX_ERROR, "slice %s must be specified", names[i])
                         : ffi_fail(vm, DVX_INDEX_ERROR, "slice with step not supported");
    }
    if (bounds[0] > bounds[1]) return ffi_fail(vm, DVX_INDEX_ERROR, "slice start > stop");
    if (c->type->kind == CTYPE_ARRAY) {
        if (bounds[0] < 0) return ffi_fail(vm, DVX_INDEX_ERROR, "negative index");
        if (bounds[1] > cdata_length(c))
            return ffi_fail(vm, DVX_INDEX_ERROR, "index too large (expected %lld <= %lld)",
                            (long long)bounds[1], (long long)cdata_length(c));
    } else if (c->type->kind != CTYPE_POINTER) {
        return ffi_fail(vm, DVX_TYPE_ERROR, "cdata of type '%s' cannot be indexed", c->type->name);
    } else if (!c->data) {
        return ffi_fail(vm, DVX_RUNTIME_ERROR, "cannot dereference null pointer from cdata '%s'",
                        c->type->name);
    }
    *start = bounds[0];
    *count = bounds[1] - bounds[0];
    return true;
}

static dvx_value get_slice(dvx_vm *vm, cdata *c, dvx_value slice) {
    int64_t start, count;
    if (!slice_bounds(vm, c, slice, &start, &count)) return DVX_FAILED;
    ctype *array = ctype_array_of(vm, c->type->item, -1);
    if (!array) return DVX_FAILED;
    cdata *made;
    dvx_value v = cdata_make_at(vm, array, c->data + start * c->type->item->size, c->block, &made);
    if (!dvx_failed(v)) made->length = count;
    return v;
}

static dvx_value get_item(dvx_vm *vm, dvx_value self, dvx_value key) {
    cdata *c = cdata_of(vm, self);
    int64_t i;
    if (vm->api->kind(vm, key) == DVX_SLICE) return get_slice(vm, c, key);
    if (!read_offset(vm, key, DVX_INDEX_ERROR, &i)) return DVX_FAILED;
    char *data = cdata_item(vm, c, i);
    if (!data) return DVX_FAILED;
    dvx_value v = convert_read(vm, c->type->item, data, c->block);
    if (is_whole_owner(c) && ctype_is_record(c->type->item) && !dvx_failed(v))
        cdata_of(vm, v)->role = CDATA_OWNING;
    return v;
}

static bool wrong_count(dvx_vm *vm, int64_t wanted, int64_t got) {
    if (got < wanted)
        return ffi_fail(vm, DVX_VALUE_ERROR, "need %lld values to unpack, got %lld",
                        (long long)wanted, (long long)got);
    return ffi_fail(vm, DVX_VALUE_ERROR, "got more than %lld values to unpack", (long long)wanted);
}

static bool set_items(dvx_vm *vm, ctype *item, char *data, int64_t count, dvx_value values) {
    dvx_value iterator = vm->api->iterate(vm, values), v;
    int64_t i = 0;
    int more = dvx_failed(iterator) ? -1 : 1;
    while (more > 0 && (more = vm->api->next(vm, iterator, &v)) > 0) {
        bool good = i < count ? convert_write(vm, item, data + i * item->size, v)
                              : wrong_count(vm, count, i + 1);
        vm->api->release(vm, v);
        i++;
        if (!good) more = -1;
    }
    vm->api->release(vm, iterator);
    return more == 0 && (i == count || wrong_count(vm, count, i));
}

static bool set_slice(dvx_vm *vm, cdata *c, dvx_value slice, dvx_value v) {
    int64_t start, count;
    if (!slice_bounds(vm, c, slice, &start, &count)) return false;
    ctype *item = c->type->item;
    char *data = c->data + start * item->size;
    const cdata *given = cdata_of(vm, v);
    if (given && given->type->kind == CTYPE_ARRAY && given->type->item == item &&
        cdata_length(given) == count) {
        if (!cdata_check_memory(vm, given)) return false;
        memmove(data, given->data, (size_t)(count * item->size));
        return true;
    }
    bool bytes = vm->api->kind(vm, v) == DVX_BYTES || vm->api->kind(vm, v) == DVX_BYTEARRAY;
    if (bytes && item->kind == CTYPE_CHAR && item->size == 1) {
        size_t size = (size_t)vm->api->length(vm, v);
        if ((int64_t)size == count) return vm->api->read_bytes(vm, v, data, size, &size);
        return ffi_fail(vm, DVX_VALUE_ERROR, "need a string of length %lld, got %zu",
                        (long long)count, size);
    }
    return set_items(vm, item, data, count, v);
}

static bool set_item(dvx_vm *vm, dvx_value self, dvx_value key, dvx_value v) {
    cdata *c = cdata_of(vm, self);
    int64_t i;
    if (vm->api->kind(vm, key) == DVX_SLICE) return set_slice(vm, c, key, v);
    if (!read_offset(vm, key, DVX_INDEX_ERROR, &i)) return false;
    char *data = cdata_item(vm, c, i);
    return data && convert_write(vm, c->type->item, data, v);
}

static bool delete_item(dvx_vm *vm, dvx_value self, dvx_value key) {
    (void)self, (void)key;
    return ffi_fail(vm, DVX_TYPE_ERROR, "'del x[n]' not supported for cdata objects");
}

static int64_t length(dvx_vm *vm, dvx_value self) {
    const cdata *c = cdata_of(vm, self);
    if (c->type->kind == CTYPE_ARRAY) return cdata_length(c);
    ffi_fail(vm, DVX_TYPE_ERROR, "cdata of type '%s' has no len()", c->type->name);
    return -1;
}

/* ---- Iteration ---- */

typedef struct iterator {
    dvx_value array; /* or zero bits: all is done */
    int64_t next;
} iterator;

static dvx_value iterate(dvx_vm *vm, dvx_value self) {
    const cdata *c = cdata_of(vm, self);
    void *payload;
    if (c->type->kind != CTYPE_ARRAY)
        return ffi_raise(vm, DVX_TYPE_ERROR, "cdata '%s' does not support iteration",
                         c->type->name);
    dvx_value made = vm->api->make_object(vm, &iterator_type, &payload);
    if (!dvx_failed(made)) ((iterator *)payload)->array = vm->api->retain(vm, self);
    return made;
}

static int next(dvx_vm *vm, dvx_value self, dvx_value *out) {
    iterator *it = vm->api->payload(vm, self, &iterator_type);
    cdata *c = cdata_of(vm, it->array);
    if (!c || it->next >= cdata_length(c)) return 0;
    if (!cdata_check_memory(vm, c)) return -1;
    ctype *item = c->type->item;
    *out = convert_read(vm, item, c->data + it->next++ * item->size, c->block);
    return dvx_failed(*out) ? -1 : 1;
}

static void drop_iterator(dvx_vm *vm, void *payload) {
    vm->api->release(vm, ((iterator *)payload)->array);
}

static void traverse_iterator(dvx_vm *vm, void *payload, dvx_visit visit, void *context) {
    visit(vm, ((iterator *)payload)->array, context);
}

static void clear_iterator(dvx_vm *vm, void *payload) {
    iterator *it = payload;
    dvx_value old = it->array;
    it->array = ffi_none(vm);
    vm->api->release(vm, old);
}

const dvx_type iterator_type = {
    .size = sizeof(dvx_type),
    .name = "CDataIterator",
    .payload = sizeof(iterator),
    .release = drop_iterator,
    .traverse = traverse_iterator,
    .clear = clear_iterator,
    .next = next,
};

/* ---- Fields ---- */

/* The struct or union that a cdata is or points to; NULL: none. */
static const ctype *record_of(const cdata *c) {
    const ctype *type = c->type->kind == CTYPE_POINTER ? c->type->item : c->type;
    return ctype_is_record(type) ? type : NULL;
}

/* 1: *field is it, 0: the cdata has no fields, or the name is one that the class may have; -1. */
static int find_field(dvx_vm *vm, const cdata *c, dvx_value name, const ctype_field **field) {
    char few[64];
    size_t size;
    const ctype *type = record_of(c);
    if (!vm->api->read_str(vm, name, few, sizeof few, &size)) return -1;
    char *text = size < sizeof few ? few : ffi_text(vm, name, &size);
    if (!text) return -1;
    *field = type ? ctype_find_field(type, text, size) : NULL;
    if (!*field && !type)
        ffi_fail(vm, DVX_ATTRIBUTE_ERROR, "cdata '%s' has no attribute '%s'", c->type->name, text);
    else if (!*field && !type->complete)
        ffi_fail(vm, DVX_ATTRIBUTE_ERROR, "cdata '%s' points to an opaque type: cannot %s fields",
                 c->type->name, "read");
    else if (!*field)
        ffi_fail(vm, DVX_ATTRIBUTE_ERROR, "cdata '%s' has no field '%s'", c->type->name, text);
    if (text != few) vm->api->deallocate(vm, text, size + 1);
    if (!*field) return -1;
    if (c->data) return 1;
    ffi_fail(vm, DVX_RUNTIME_ERROR, "cannot dereference null pointer from cdata '%s'",
             c->type->name);
    return -1;
}

static int get_field(dvx_vm *vm, dvx_value self, dvx_value name, dvx_value *out) {
    const cdata *c = cdata_of(vm, self);
    const ctype_field *field;
    int found = find_field(vm, c, name, &field);
    if (found <= 0) return found;
    *out = convert_read_field(vm, field, c->data, c->block);
    return dvx_failed(*out) ? -1 : 1;
}

static int set_field(dvx_vm *vm, dvx_value self, dvx_value name, dvx_value v) {
    const cdata *c = cdata_of(vm, self);
    const ctype_field *field;
    int found = find_field(vm, c, name, &field);
    if (found <= 0) return found;
    if (dvx_failed(v)) return ffi_fail(vm, DVX_ATTRIBUTE_ERROR, "cannot delete struct field"), -1;
    const char *end = c->block ? c->block->data + c->block->size : NULL;
    return convert_write_field(vm, field, c->data, end, v) ? 1 : -1;
}

/* ---- Sums and differences ---- */

static dvx_value add(dvx_vm *vm, cdata *c, dvx_value number, bool negative) {
    int64_t offset;
    if (!read_offset(vm, number, DVX_OVERFLOW_ERROR, &offset) || !cdata_check_memory(vm, c))
        return DVX_FAILED;
    if (c->type->kind != CTYPE_POINTER && c->type->kind != CTYPE_ARRAY)
        return ffi_raise(vm, DVX_TYPE_ERROR, "cannot add a cdata '%s' and a number", c->type->name);
    ctype *type = cdata_pointer_type(c->type);
    int64_t size = type->item->size;
    if (size < 0) {
        if (!ctype_is_void_pointer(type))
            return ffi_raise(vm, DVX_TYPE_ERROR, "ctype '%s' points to items of unknown size",
                             c->type->name);
        size = 1;
    }
    uint64_t distance = (uint64_t)offset * (uint64_t)size;
    char *data = (char *)((uintptr_t)c->data + (negative ? -distance : distance));
    return cdata_make(vm, type, data, c->block);
}

static dvx_value subtract(dvx_vm *vm, const cdata *a, const cdata *b) {
    const ctype *type = cdata_pointer_type(a->type);
    int64_t size = type->kind == CTYPE_POINTER ? type->item->size : -1;
    if (size < 0 && ctype_is_void_pointer(type)) size = 1;
    if (type != cdata_pointer_type(b->type) || size <= 0)
        return ffi_raise(vm, DVX_TYPE_ERROR, "cannot subtract cdata '%s' and cdata '%s'",
                         a->type->name, cdata_pointer_type(b->type)->name);
    int64_t distance = (int64_t)((uintptr_t)a->data - (uintptr_t)b->data);
    if (distance % size)
        return ffi_raise(vm, DVX_VALUE_ERROR,
                         "pointer subtraction: the distance between the two pointers is not a "
                         "multiple of the item size");
    return vm->api->make_int(vm, distance / size);
}

static dvx_value binary(dvx_vm *vm, dvx_binary op, dvx_value a, dvx_value b) {
    cdata *left = cdata_of(vm, a), *right = cdata_of(vm, b);
    if (op == DVX_SUB && left && right) return subtract(vm, left, right);
    if (left) return add(vm, left, b, op == DVX_SUB);
    if (op == DVX_ADD && right) return add(vm, right, a, false);
    return vm->api->make_not_implemented(vm);
}

/* ---- Comparison, hash, truth ---- */

static bool is_address(const cdata *c) { return !ctype_is_primitive(c->type); }

static dvx_value compare_addresses(dvx_vm *vm, dvx_compare op, const char *a, const char *b) {
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    switch (op) {
    case DVX_LT: return vm->api->make_bool(vm, x < y);
    case DVX_LE: return vm->api->make_bool(vm, x <= y);
    case DVX_GT: return vm->api->make_bool(vm, x > y);
    case DVX_GE: return vm->api->make_bool(vm, x >= y);
    case DVX_EQ: return vm->api->make_bool(vm, x == y);
    default: return vm->api->make_bool(vm, x != y);
    }
}

/* What a primitive cdata is compared as; v itself if it is no cdata. */
static dvx_value compared(dvx_vm *vm, dvx_value v) {
    cdata *c = cdata_of(vm, v);
    if (!c) return vm->api->retain(vm, v);
    if (c->type->kind == CTYPE_LONG_DOUBLE)
        return ffi_raise(vm, DVX_NOT_IMPLEMENTED_ERROR, "cannot use <cdata '%s'> in a comparison",
                         c->type->name);
    return convert_read(vm, c->type, c->bytes, NULL);
}

static dvx_value compare(dvx_vm *vm, dvx_compare op, dvx_value self, dvx_value other) {
    const cdata *a = cdata_of(vm, self), *b = cdata_of(vm, other);
    if (is_address(a) && b && is_address(b)) return compare_addresses(vm, op, a->data, b->data);
    if (is_address(a) || (b && is_address(b))) return vm->api->make_not_implemented(vm);
    dvx_value x = compared(vm, self), y = dvx_failed(x) ? x : compared(vm, other);
    dvx_value result = dvx_failed(y) ? y : vm->api->compare(vm, op, x, y);
    vm->api->release(vm, x);
    vm->api->release(vm, y);
    return result;
}

static bool hash(dvx_vm *vm, dvx_value self, int64_t *out) {
    cdata *c = cdata_of(vm, self);
    if (is_address(c) || c->type->kind == CTYPE_LONG_DOUBLE) {
        uintptr_t address = (uintptr_t)(is_address(c) ? c->data : (char *)c);
        *out = (int64_t)(address >> 4 | address << 60);
        return true;
    }
    dvx_value v = convert_read(vm, c->type, c->bytes, NULL);
    bool good = !dvx_failed(v) && vm->api->hash(vm, v, out);
    vm->api->release(vm, v);
    return good;
}

static bool truth(const void *payload) {
    const cdata *c = payload;
    long double wide;
    double d;
    float f, z[4];
    if (!ctype_is_primitive(c->type)) return c->data != NULL;
    switch (c->type->kind) {
    case CTYPE_LONG_DOUBLE: memcpy(&wide, c->bytes, sizeof wide); return wide != 0;
    case CTYPE_FLOAT:
        if (c->type->size == sizeof f) return memcpy(&f, c->bytes, sizeof f), f != 0;
        return memcpy(&d, c->bytes, sizeof d), d != 0;
    case CTYPE_COMPLEX:
        memcpy(z, c->bytes, (size_t)c->type->size);
        for (size_t i = 0; i < (size_t)c->type->size / sizeof *z; i++)
            if (z[i] != 0) return true;
        return false;
    default: return convert_load_unsigned(c->bytes, c->type->size) != 0;
    }
}

/* ---- Numbers ---- */

static dvx_value to_int(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    cdata *c = cdata_of(vm, args[0]);
    long double wide;
    (void)count;
    if (c->type->kind == CTYPE_CHAR && c->type->size == 1)
        return vm->api->make_int(vm, (unsigned char)*c->bytes);
    if (c->type->kind == CTYPE_CHAR)
        return c->type->is_signed
                   ? vm->api->make_int(vm, convert_load_signed(c->bytes, c->type->size))
                   : vm->api->make_int(vm, text_code(c->type, c->bytes));
    if (ctype_is_integer(c->type)) {
        if (c->type->kind != CTYPE_BOOL) return convert_read(vm, c->type, c->bytes, NULL);
        return vm->api->make_int(vm, (unsigned char)*c->bytes);
    }
    if (c->type->kind == CTYPE_FLOAT || c->type->kind == CTYPE_LONG_DOUBLE) {
        memcpy(&wide, c->bytes, sizeof wide);
        dvx_value v = c->type->kind == CTYPE_FLOAT ? convert_read(vm, c->type, c->bytes, NULL)
                                                   : vm->api->make_float(vm, (double)wide);
        dvx_value class_ = vm->api->builtin(vm, "int"), made = vm->api->call(vm, class_, &v, 1);
        vm->api->release(vm, class_);
        vm->api->release(vm, v);
        return made;
    }
    return ffi_raise(vm, DVX_TYPE_ERROR, "int() not supported on cdata '%s'", c->type->name);
}

static dvx_value to_float(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    cdata *c = cdata_of(vm, args[0]);
    long double wide;
    (void)count;
    if (c->type->kind == CTYPE_FLOAT) return convert_read(vm, c->type, c->bytes, NULL);
    if (c->type->kind == CTYPE_LONG_DOUBLE) {
        memcpy(&wide, c->bytes, sizeof wide);
        return vm->api->make_float(vm, (double)wide);
    }
    return ffi_raise(vm, DVX_TYPE_ERROR, "float() not supported on cdata '%s'", c->type->name);
}

static dvx_value to_complex(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    cdata *c = cdata_of(vm, args[0]);
    (void)count;
    if (c->type->kind == CTYPE_COMPLEX) return convert_read(vm, c->type, c->bytes, NULL);
    return ffi_raise(vm, DVX_TYPE_ERROR, "complex() not supported on cdata '%s'", c->type->name);
}

/* ---- Calls, with, and the type ---- */

static dvx_value call(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    cdata *c = cdata_of(vm, self);
    if (c->type->kind != CTYPE_FUNCTION_POINTER)
        return ffi_raise(vm, DVX_TYPE_ERROR, "cdata '%s' is not callable", c->type->name);
    return call_function(vm, c, args, count);
}

static dvx_value enter(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    cdata *c = cdata_of(vm, args[0]);
    if ((c->role == CDATA_OWNING && !ctype_is_record(c->type)) || c->role == CDATA_GC ||
        c->role == CDATA_LENT)
        return vm->api->retain(vm, args[0]);
    return cdata_end(vm, c) ? vm->api->retain(vm, args[0]) : DVX_FAILED;
}

static dvx_value leave(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    (void)count;
    return cdata_end(vm, cdata_of(vm, args[0])) ? ffi_none(vm) : DVX_FAILED;
}

#define METHOD(text, function, least, most)                                                      \
    &(const dvx_function) {                                                                      \
        .size = sizeof(dvx_function), .name = text, .entry = function, .min = least, .max = most \
    }

static const dvx_function *const methods[] = {
    METHOD("__int__", to_int, 1, 1),         METHOD("__float__", to_float, 1, 1),
    METHOD("__complex__", to_complex, 1, 1), METHOD("__enter__", enter, 1, 1),
    METHOD("__exit__", leave, 1, 4),
};

static const dvx_raw *raw(dvx_vm *vm, dvx_value self) {
    return call_raw_of(vm, cdata_of(vm, self));
}

enum { SUMS = DVX_BIT(DVX_ADD) | DVX_BIT(DVX_SUB) };

const dvx_type cdata_type = {
    .size = sizeof(dvx_type),
    .name = "CData",
    .doc = "A C value, made by ffi.new, ffi.cast and C functions.",
    .payload = sizeof(cdata),
    .release = release,
    .traverse = traverse,
    .clear = clear,
    .repr = repr,
    .hash = hash,
    .compare = compare,
    .binary = binary,
    .binary_operators = SUMS,
    .truth = truth,
    .length = length,
    .get_item = get_item,
    .set_item = set_item,
    .delete_item = delete_item,
    .iterate = iterate,
    .call = call,
    .call_any = true,
    .method_count = LENGTH_OF(methods),
    .methods = methods,
    .find_attribute = get_field,
    .set_attribute = set_field,
    .specialise = sites_specialise_cdata,
    .raw = raw,
};

bool cdata_setup(dvx_vm *vm, dvx_value module) {
    return vm->api->add_type(vm, module, &cdata_type) &&
           vm->api->add_type(vm, module, &iterator_type);
}
