/* lend.c: ffi.from_buffer (lend.h).
 *
 * Invariants
 *  1. The view is in the cdata's block, which all share that were made from the cdata: so its owner
 * lives, and is not resized, as long as any of them can reach the memory.
 *  2. A cdata of from_buffer has the role CDATA_LENT until it ends; `first` is what it was made of,
 * and None after ffi.release, when it has no memory any more. */
#include "data/lend.h"

#include "data/buffer.h"
#include "ctype/layout.h"

/* The bytes of a buffer; false: there are gaps between them. */
static bool measure(const dvx_buffer *b, int64_t *size) {
    static const uint8_t sizes[] = {
        [DVX_UINT8] = 1, [DVX_INT8] = 1,   [DVX_UINT16] = 2, [DVX_INT16] = 2,   [DVX_UINT32] = 4,
        [DVX_INT32] = 4, [DVX_UINT64] = 8, [DVX_INT64] = 8,  [DVX_FLOAT32] = 4, [DVX_FLOAT64] = 8};
    int64_t stride = b->element < LENGTH_OF(sizes) ? sizes[b->element] : 0;
    bool dense = stride != 0;
    for (uint32_t i = b->dimensions; i-- > 0;) {
        if (b->axes[i].count > 1 && b->axes[i].stride != stride) dense = false;
        stride *= b->axes[i].count;
    }
    *size = stride;
    return dense || stride == 0;
}

bool lend_get(dvx_vm *vm, dvx_value v, bool writable, dvx_view *view, int64_t *size) {
    char name[FFI_NAME];
    if (!vm->api->buffer_get(vm, v, writable, view)) return false;
    if (measure(&view->buffer, size)) return true;
    vm->api->buffer_release(vm, view);
    return ffi_fail(vm, DVX_BUFFER_ERROR, "%s is not C-contiguous", ffi_class_name(vm, v, name));
}

dvx_value lend_type_name(dvx_vm *vm, dvx_value v) {
    dvx_value class_ = vm->api->error_class(vm, DVX_TYPE_ERROR), text = DVX_FAILED;
    vm->api->raise_format(vm, class_, "%T", v);
    dvx_value error = vm->api->fetch_error(vm);
    if (!dvx_failed(error)) text = vm->api->str(vm, error);
    vm->api->release(vm, error);
    vm->api->release(vm, class_);
    return text;
}

/* How many items the array gets, and how many bytes there must be; -1: raised. */
static int64_t count_items(dvx_vm *vm, ctype *type, int64_t size, int64_t *least) {
    if (!layout_of(vm, type->item)) return -1;
    int64_t item = type->item->size;
    *least = 0;
    if (type->kind == CTYPE_POINTER) {
        *least = item > 0 ? item : 0;
        return 0;
    }
    if (type->length >= 0) {
        *least = type->size;
        return type->length;
    }
    if (item > 0) return size / item;
    ffi_fail(vm, DVX_ZERO_DIVISION_ERROR,
             "from_buffer('%s', ..): the actual length of the array cannot be computed",
             type->name);
    return -1;
}

/* A cdata for these bytes of v, which the block keeps (NULL: nobody does). */
static dvx_value lend(dvx_vm *vm, ctype *type, dvx_value v, char *data, int64_t size,
                      cdata_block *block) {
    int64_t least, length = count_items(vm, type, size, &least);
    cdata *c;
    if (length < 0) return DVX_FAILED;
    if (size < least)
        return ffi_raise(vm, DVX_VALUE_ERROR,
                         "buffer is too small (%lld bytes) for '%s' (%lld bytes)", (long long)size,
                         type->name, (long long)least);
    dvx_value made = cdata_make_at(vm, type, data, block, &c);
    if (dvx_failed(made)) return made;
    if (type->kind == CTYPE_ARRAY) c->length = length;
    c->role = CDATA_LENT;
    c->first = vm->api->retain(vm, v);
    return made;
}

static dvx_value lend_view(dvx_vm *vm, ctype *type, dvx_value v, bool writable) {
    dvx_view view;
    int64_t size;
    if (!lend_get(vm, v, writable, &view, &size)) return DVX_FAILED;
    cdata_block *block = cdata_lent_block(vm, &view, (size_t)size);
    if (!block) return vm->api->buffer_release(vm, &view), DVX_FAILED;
    dvx_value made = lend(vm, type, v, block->data, size, block);
    cdata_drop_block(vm, block);
    return made;
}

/* from_buffer([cdecl,] python_buffer, require_writable=False) */
MODULE_METHOD(lend_from_buffer) {
    bool typed = !dvx_failed(args[2]);
    dvx_value v = typed ? args[2] : args[1];
    int64_t writable = 0, size;
    char *data;
    (void)count;
    ctype *type =
        typed ? module_type(vm, args[0], args[1], "", false) : ffi_state_of(vm)->char_array;
    if (!type || (!dvx_failed(args[3]) && !vm->api->read_index(vm, args[3], &writable)))
        return DVX_FAILED;
    if (type->kind != CTYPE_POINTER && type->kind != CTYPE_ARRAY)
        return ffi_raise(vm, DVX_TYPE_ERROR, "expected a pointer or array ctype, got '%s'",
                         type->name);
    if (vm->api->kind(vm, v) == DVX_STR)
        return ffi_raise(vm, DVX_TYPE_ERROR,
                         "from_buffer() cannot return the address of a unicode object");
    if (!cdata_of(vm, v) && buffer_memory(vm, v, &data, &size))
        return lend(vm, type, v, data, size, buffer_block(vm, v));
    return lend_view(vm, type, v, writable != 0);
}
