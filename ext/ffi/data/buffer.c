/* buffer.c: ffi.buffer (buffer.h). */
#include "data/buffer.h"

typedef struct buffer {
    dvx_value cdata; /* whose memory it is; zero bits: empty */
    char *data;      /* from here on a dvx_buffer, for memoryview and its like */
    uint32_t element, dimensions, read_only, exports;
    dvx_axis axis;
    int64_t size;
} buffer;

/* Bytes that are lent; the items are others: bytes of length 1. */
static buffer describe(dvx_value cdata, char *data, int64_t size) {
    return (buffer){cdata, data, DVX_UINT8, 1 | DVX_OTHER_ITEMS, 0, 0, {data ? size : 0, 1}, size};
}

static buffer *buffer_of(dvx_vm *vm, dvx_value v) { return vm->api->payload(vm, v, &buffer_type); }

bool buffer_memory(dvx_vm *vm, dvx_value v, char **data, int64_t *size) {
    const buffer *b = buffer_of(vm, v);
    const cdata *c = b ? NULL : cdata_of(vm, v);
    if (b) *data = b->data, *size = b->size;
    if (c) *data = c->data, *size = INT64_MAX;
    return b || (c && !ctype_is_primitive(c->type));
}

cdata_block *buffer_block(dvx_vm *vm, dvx_value v) {
    const cdata *c = cdata_of(vm, buffer_of(vm, v)->cdata);
    return c ? c->block : NULL;
}

/* buffer(cdata, size=-1) */
static bool fill(dvx_vm *vm, dvx_value self, const dvx_value *args, uint32_t count) {
    int64_t size = -1;
    (void)count;
    const cdata *c = cdata_argument(vm, args[0], "buffer()");
    if (!c || !cdata_check_memory(vm, c) ||
        (!dvx_failed(args[1]) && !vm->api->read_index(vm, args[1], &size)))
        return false;
    const ctype *type = c->type;
    if (type->kind != CTYPE_POINTER && type->kind != CTYPE_ARRAY)
        return ffi_fail(vm, DVX_TYPE_ERROR, "expected a pointer or array cdata, got '%s'",
                        type->name);
    if (size < 0) {
        bool whole = c->role == CDATA_OWNING && c->block && type->kind == CTYPE_POINTER &&
                     ctype_is_record(type->item);
        size = type->kind == CTYPE_ARRAY ? cdata_size(c)
               : whole                   ? (int64_t)c->block->size
                                         : type->item->size;
    }
    if (size < 0)
        return ffi_fail(vm, DVX_TYPE_ERROR, "don't know the size pointed to by '%s'", type->name);
    buffer *b = buffer_of(vm, self);
    if (b->exports) return ffi_fail(vm, DVX_BUFFER_ERROR, "the buffer is lent");
    dvx_value old = b->cdata;
    *b = describe(vm->api->retain(vm, args[0]), c->data, size);
    vm->api->release(vm, old);
    return true;
}

static void release(dvx_vm *vm, void *payload) { vm->api->release(vm, ((buffer *)payload)->cdata); }

static void traverse(dvx_vm *vm, void *payload, dvx_visit visit, void *context) {
    visit(vm, ((buffer *)payload)->cdata, context);
}

static void clear(dvx_vm *vm, void *payload) {
    buffer *b = payload;
    dvx_value old = b->cdata;
    *b = describe(ffi_none(vm), NULL, 0);
    vm->api->release(vm, old);
}

static int64_t length(dvx_vm *vm, dvx_value self) { return buffer_of(vm, self)->size; }

/* Where byte `key` is; negative keys count from the end. */
static char *item(dvx_vm *vm, const buffer *b, dvx_value key, const char *message) {
    int64_t i;
    char name[FFI_NAME];
    dvx_kind kind = vm->api->kind(vm, key);
    if (kind != DVX_INT && kind != DVX_BOOL)
        return ffi_fail(vm, DVX_TYPE_ERROR, "buffer indices must be integers, not %s",
                        ffi_class_name(vm, key, name)),
               NULL;
    if (!vm->api->read_int(vm, key, &i)) return NULL;
    if (i < 0) i += b->size;
    if (i >= 0 && i < b->size) return b->data + i;
    return ffi_fail(vm, DVX_INDEX_ERROR, "%s", message), NULL;
}

static bool part(dvx_vm *vm, const buffer *b, dvx_value slice, int64_t *start, int64_t *count) {
    int64_t step;
    if (!vm->api->read_slice(vm, slice, b->size, start, &step, count)) return false;
    return step == 1 ||
           ffi_fail(vm, DVX_TYPE_ERROR, "buffer doesn't support slicing with step != 1");
}

static dvx_value get_item(dvx_vm *vm, dvx_value self, dvx_value key) {
    const buffer *b = buffer_of(vm, self);
    int64_t start, count;
    if (vm->api->kind(vm, key) == DVX_SLICE) {
        if (!part(vm, b, key, &start, &count)) return DVX_FAILED;
        return vm->api->make_bytes(vm, b->data + start, (size_t)count);
    }
    const char *data = item(vm, b, key, "buffer index out of range");
    return data ? vm->api->make_bytes(vm, data, 1) : DVX_FAILED;
}

/* The bytes of bytes, bytearray or a buffer, in memory to deallocate. */
static char *copy_bytes(dvx_vm *vm, dvx_value v, size_t *size) {
    char *data;
    int64_t count;
    char name[FFI_NAME];
    dvx_kind kind = vm->api->kind(vm, v);
    const buffer *b = buffer_of(vm, v);
    if (!b && kind != DVX_BYTES && kind != DVX_BYTEARRAY)
        return ffi_fail(vm, DVX_TYPE_ERROR, "a bytes-like object is required, not '%s'",
                        ffi_class_name(vm, v, name)),
               NULL;
    count = b ? b->size : vm->api->length(vm, v);
    *size = (size_t)count;
    data = vm->api->allocate(vm, *size + 1);
    if (data && b) memcpy(data, b->data, *size);
    if (data && !b && !vm->api->read_bytes(vm, v, data, *size, size)) {
        vm->api->deallocate(vm, data, *size + 1);
        return NULL;
    }
    return data;
}

static bool set_item(dvx_vm *vm, dvx_value self, dvx_value key, dvx_value v) {
    const buffer *b = buffer_of(vm, self);
    int64_t start, count;
    char name[FFI_NAME];
    if (vm->api->kind(vm, key) != DVX_SLICE) {
        char *data = item(vm, b, key, "buffer assignment index out of range");
        size_t size = 0;
        if (!data) return false;
        if (vm->api->kind(vm, v) == DVX_BYTES && vm->api->length(vm, v) == 1)
            return vm->api->read_bytes(vm, v, data, 1, &size);
        return ffi_fail(vm, DVX_TYPE_ERROR, "must assign a bytes of length 1, not %s",
                        ffi_class_name(vm, v, name));
    }
    if (!part(vm, b, key, &start, &count)) return false;
    size_t size;
    char *bytes = copy_bytes(vm, v, &size);
    if (!bytes) return false;
    bool fits = (int64_t)size == count;
    if (fits)
        memcpy(b->data + start, bytes, size);
    else
        vm->api->raise(vm, DVX_VALUE_ERROR, "right operand length must match slice length");
    vm->api->deallocate(vm, bytes, size + 1);
    return fits;
}

static bool delete_item(dvx_vm *vm, dvx_value self, dvx_value key) {
    (void)self, (void)key;
    return ffi_fail(vm, DVX_TYPE_ERROR, "buffer does not support item deletion");
}

static dvx_value compare(dvx_vm *vm, dvx_compare op, dvx_value self, dvx_value other) {
    const buffer *a = buffer_of(vm, self);
    dvx_kind kind = vm->api->kind(vm, other);
    if (!buffer_of(vm, other) && kind != DVX_BYTES && kind != DVX_BYTEARRAY)
        return vm->api->make_not_implemented(vm);
    size_t size;
    char *bytes = copy_bytes(vm, other, &size);
    if (!bytes) return DVX_FAILED;
    dvx_value x = vm->api->make_bytes(vm, a->data, (size_t)a->size),
              y = vm->api->make_bytes(vm, bytes, size);
    dvx_value result = vm->api->compare(vm, op, x, y);
    vm->api->deallocate(vm, bytes, size + 1);
    vm->api->release(vm, x);
    vm->api->release(vm, y);
    return result;
}

static dvx_value to_bytes(dvx_vm *vm, const dvx_value *args, uint32_t count) {
    const buffer *b = buffer_of(vm, args[0]);
    (void)count;
    return vm->api->make_bytes(vm, b->data, (size_t)b->size);
}

static const char *const names[] = {"cdata", "size"};
static const dvx_parameters parameters = {sizeof(dvx_parameters), names, 2, 2, 1};
static const dvx_function bytes_method = {
    .size = sizeof(dvx_function), .name = "__bytes__", .entry = to_bytes, .min = 1, .max = 1};
static const dvx_function *const methods[] = {&bytes_method};

const dvx_type buffer_type = {
    .size = sizeof(dvx_type),
    .name = "buffer",
    .doc = "The bytes of C memory, to read and to write.",
    .payload = sizeof(buffer),
    .initialise = fill,
    .parameters = &parameters,
    .release = release,
    .traverse = traverse,
    .clear = clear,
    .compare = compare,
    .buffer = offsetof(buffer, data),
    .buffer_axes = 1,
    .length = length,
    .get_item = get_item,
    .set_item = set_item,
    .delete_item = delete_item,
    .method_count = LENGTH_OF(methods),
    .methods = methods,
};
