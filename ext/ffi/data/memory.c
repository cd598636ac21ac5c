/* memory.c: what FFI does with memory: new, cast, string, unpack, memmove, gc, addressof, ...
 * (module.h). */
#include "module.h"

#include "data/buffer.h"
#include "data/convert.h"
#include "ctype/layout.h"
#include "data/lend.h"
#include "call/library.h"
#include "data/text.h"

/* ---- new ---- */

/* The bytes for what a pointer of ffi.new points to; -1: raised. */
static int64_t item_size(dvx_vm *vm, ctype *item, dvx_value init) {
    if (!layout_of(vm, item)) return -1;
    if (item->size < 0) {
        ffi_fail(vm, DVX_TYPE_ERROR, "cannot instantiate ctype '%s' of unknown size", item->name);
        return -1;
    }
    if (item->kind == CTYPE_CHAR) return item->size * 2; /* a zero behind the character */
    if (item->kind == CTYPE_STRUCT && item->flexible && !dvx_failed(init))
        return convert_flexible_size(vm, item, init);
    return item->size;
}

static bool initialise(dvx_vm *vm, ctype *item, cdata_block *block, dvx_value init) {
    if (ctype_is_record(item))
        return convert_write_record(vm, item, block->data, block->data + block->size, init);
    return convert_write(vm, item, block->data, init);
}

static dvx_value new_pointer(dvx_vm *vm, ctype *type, dvx_value init) {
    int64_t size = item_size(vm, type->item, init);
    cdata_block *block = size < 0 ? NULL : cdata_new_block(vm, (size_t)size);
    if (!block) return DVX_FAILED;
    cdata *c;
    dvx_value made = cdata_make_at(vm, type, block->data, block, &c);
    if (!dvx_failed(made)) c->role = CDATA_OWNING;
    bool good = !dvx_failed(made) && (dvx_failed(init) || initialise(vm, type->item, block, init));
    cdata_drop_block(vm, block);
    if (good || dvx_failed(made)) return made;
    vm->api->release(vm, made);
    return DVX_FAILED;
}

static dvx_value new_array(dvx_vm *vm, ctype *type, dvx_value init) {
    int64_t length = type->length, size = type->size;
    bool given = !dvx_failed(init);
    if (length < 0) {
        length = given ? convert_new_length(vm, type->item, init, &given) : -2;
        if (length == -2)
            ffi_fail(vm, DVX_TYPE_ERROR,
                     "expected new array length or list/tuple/str, not NoneType");
        if (length < 0) return DVX_FAILED;
        if (__builtin_mul_overflow(length, type->item->size, &size))
            return ffi_raise(vm, DVX_OVERFLOW_ERROR, "array size would overflow a Py_ssize_t");
    }
    cdata_block *block = cdata_new_block(vm, (size_t)size);
    if (!block) return DVX_FAILED;
    cdata *c;
    dvx_value made = cdata_make_at(vm, type, block->data, block, &c);
    if (!dvx_failed(made)) c->role = CDATA_OWNING, c->length = length;
    bool good = !dvx_failed(made) &&
                (!given || convert_write_array(vm, type->item, type, length, block->data, init));
    cdata_drop_block(vm, block);
    if (good || dvx_failed(made)) return made;
    vm->api->release(vm, made);
    return DVX_FAILED;
}

MODULE_METHOD(memory_new) {
    (void)count;
    ctype *type = module_type(vm, args[0], args[1], "newp() ", false);
    if (!type) return DVX_FAILED;
    dvx_value init = args[2];
    if (!dvx_failed(init) && vm->api->kind(vm, init) == DVX_NONE) init = DVX_FAILED;
    if (type->kind == CTYPE_POINTER) return new_pointer(vm, type, init);
    if (type->kind == CTYPE_ARRAY) return new_array(vm, type, init);
    return ffi_raise(vm, DVX_TYPE_ERROR, "expected a pointer or array ctype, got '%s'", type->name);
}

MODULE_METHOD(memory_cast) {
    (void)count;
    ctype *type = module_type(vm, args[0], args[1], "cast() ", false);
    return type ? convert_cast(vm, type, args[2]) : DVX_FAILED;
}

/* ---- Text and lists ---- */

static dvx_value null_refused(dvx_vm *vm, const char *what, dvx_value v) {
    dvx_value class_ = vm->api->error_class(vm, DVX_RUNTIME_ERROR);
    vm->api->raise_format(vm, class_, "cannot use %s() on %V", what, v);
    vm->api->release(vm, class_);
    return DVX_FAILED;
}

static bool holds_text(const ctype *item) {
    return item->kind == CTYPE_CHAR ||
           (item->size == 1 && (item->kind == CTYPE_SIGNED || item->kind == CTYPE_UNSIGNED));
}

MODULE_METHOD(memory_string) {
    int64_t most = -1;
    (void)count;
    cdata *c = cdata_argument(vm, args[1], "string()");
    if (!c || (!dvx_failed(args[2]) && !vm->api->read_index(vm, args[2], &most))) return DVX_FAILED;
    const ctype *type = c->type;
    bool many = type->kind == CTYPE_POINTER || type->kind == CTYPE_ARRAY;
    if (many && holds_text(type->item)) {
        if (!c->data) return null_refused(vm, "string", args[1]);
        if (most < 0 && type->kind == CTYPE_ARRAY) most = cdata_length(c);
        return text_of_chars(vm, type->item, c->data, text_length(type->item, c->data, most));
    }
    if (type->kind == CTYPE_ENUM) return convert_enum_text(vm, type, c->bytes, false);
    if (!many && ctype_is_primitive(type) && holds_text(type))
        return text_of_char(vm, type, c->bytes);
    return ffi_raise(vm, DVX_TYPE_ERROR, "string(): unexpected cdata '%s' argument", type->name);
}

static dvx_value unpack_items(dvx_vm *vm, const cdata *c, int64_t length) {
    ctype *item = c->type->item;
    dvx_value list = vm->api->make_list(vm, NULL, 0);
    bool good = !dvx_failed(list);
    for (int64_t i = 0; i < length && good; i++) {
        dvx_value v = convert_read(vm, item, c->data + i * item->size, c->block);
        good = vm->api->append(vm, list, v);
        vm->api->release(vm, v);
    }
    if (good) return list;
    vm->api->release(vm, list);
    return DVX_FAILED;
}

MODULE_METHOD(memory_unpack) {
    int64_t length;
    (void)count;
    const cdata *c = cdata_argument(vm, args[1], "unpack()");
    if (!c || !vm->api->read_index(vm, args[2], &length)) return DVX_FAILED;
    const ctype *type = c->type;
    if (type->kind != CTYPE_POINTER && type->kind != CTYPE_ARRAY)
        return ffi_raise(vm, DVX_TYPE_ERROR, "expected a pointer or array, got '%s'", type->name);
    if (length < 0) return ffi_raise(vm, DVX_VALUE_ERROR, "'length' cannot be negative");
    if (!c->data) return null_refused(vm, "unpack", args[1]);
    if (type->item->size < 0)
        return ffi_raise(vm, DVX_VALUE_ERROR, "'%s' points to items of unknown size", type->name);
    if (type->item->kind == CTYPE_CHAR) return text_of_chars(vm, type->item, c->data, length);
    return unpack_items(vm, c, length);
}

/* ---- memmove ---- */

/* What memmove reads or writes. */
typedef struct moved {
    char *data;
    dvx_view view; /* of an object of dl; else zeros */
} moved;

static bool open_moved(dvx_vm *vm, dvx_value v, bool writable, int64_t n, moved *m) {
    int64_t size;
    const cdata *c = cdata_of(vm, v);
    *m = (moved){0};
    if (c && !cdata_check_memory(vm, c)) return false;
    if (!buffer_memory(vm, v, &m->data, &size)) {
        if (!lend_get(vm, v, writable, &m->view, &size)) return false;
        m->data = m->view.buffer.data;
    }
    if (size >= n) return true;
    vm->api->buffer_release(vm, &m->view);
    return ffi_fail(vm, DVX_VALUE_ERROR, "right operand length must match slice length");
}

MODULE_METHOD(memory_memmove) {
    int64_t n;
    moved to, from;
    (void)count;
    if (!vm->api->read_index(vm, args[3], &n)) return DVX_FAILED;
    if (n < 0) return ffi_raise(vm, DVX_VALUE_ERROR, "negative size");
    if (!open_moved(vm, args[1], true, n, &to)) return DVX_FAILED;
    bool good = open_moved(vm, args[2], false, n, &from);
    if (good && n) memmove(to.data, from.data, (size_t)n);
    if (good) vm->api->buffer_release(vm, &from.view);
    vm->api->buffer_release(vm, &to.view);
    return good ? ffi_none(vm) : DVX_FAILED;
}

/* ---- Ends ---- */

static dvx_value remove_destructor(dvx_vm *vm, cdata *c) {
    dvx_value first = c->first, second = c->second;
    if (c->role != CDATA_GC)
        return ffi_raise(vm, DVX_TYPE_ERROR,
                         "Can remove destructor only on a object previously returned by ffi.gc()");
    /* What the destructor would have got keeps the memory. */
    const cdata *origin = cdata_of(vm, second);
    cdata_block *old = c->block;
    c->block = origin ? cdata_share(origin->block) : NULL;
    c->role = CDATA_PLAIN;
    cdata_drop_block(vm, old);
    vm->api->release(vm, first);
    vm->api->release(vm, second);
    return ffi_none(vm);
}

MODULE_METHOD(memory_gc) {
    (void)count;
    cdata *c = cdata_argument(vm, args[1], "gc()"), *made;
    if (!c) return DVX_FAILED;
    if (vm->api->kind(vm, args[2]) == DVX_NONE) return remove_destructor(vm, c);
    dvx_value v = cdata_make_at(vm, c->type, c->data, c->block, &made);
    if (dvx_failed(v)) return v;
    c = cdata_of(vm, args[1]);
    memcpy(made->bytes, c->bytes, ctype_is_primitive(c->type) ? sizeof c->bytes : 0);
    made->length = c->length;
    made->first = vm->api->retain(vm, args[2]);
    made->second = vm->api->retain(vm, args[1]);
    made->role = CDATA_GC;
    return v;
}

MODULE_METHOD(memory_release) {
    (void)count;
    cdata *c = cdata_of(vm, args[1]);
    if (!c) return ffi_raise(vm, DVX_TYPE_ERROR, "expected a 'cdata' object");
    return cdata_end(vm, c) ? ffi_none(vm) : DVX_FAILED;
}

MODULE_METHOD(memory_new_handle) {
    (void)count;
    return handle_new(vm, args[1]);
}

MODULE_METHOD(memory_from_handle) {
    (void)count;
    const cdata *c = cdata_of(vm, args[1]);
    return c ? handle_find(vm, c) : ffi_raise(vm, DVX_TYPE_ERROR, "expected a 'cdata' object");
}

/* ---- Places ---- */

static ctype *field_place(dvx_vm *vm, ctype *type, dvx_value name, bool following,
                          int64_t *offset) {
    if (!following && type->kind == CTYPE_POINTER) type = type->item;
    if (!ctype_is_record(type))
        return ffi_fail(vm, DVX_TYPE_ERROR,
                        "with a field name argument, expected a struct or union ctype"),
               NULL;
    if (!layout_of(vm, type)) return NULL;
    if (!type->complete) return ffi_fail(vm, DVX_TYPE_ERROR, "struct/union is opaque"), NULL;
    const ctype_field *field = text_find_field(vm, type, name);
    if (!field) return NULL;
    if (field->bit_size >= 0)
        return ffi_fail(vm, DVX_TYPE_ERROR, "not supported for bitfields"), NULL;
    *offset += field->offset;
    return field->type;
}

/* The type at a field or index of a type, whose offset is added; NULL: raised. */
static ctype *place(dvx_vm *vm, ctype *type, dvx_value key, bool following, int64_t *offset) {
    int64_t i, distance;
    if (vm->api->kind(vm, key) == DVX_STR) return field_place(vm, type, key, following, offset);
    if (!vm->api->read_index(vm, key, &i)) {
        vm->api->clear_error(vm);
        return ffi_fail(vm, DVX_TYPE_ERROR, "field name or array index expected"), NULL;
    }
    bool many = type->kind == CTYPE_ARRAY || type->kind == CTYPE_POINTER;
    if (!many || type->item->size < 0)
        return ffi_fail(vm, DVX_TYPE_ERROR,
                        "with an integer argument, expected an array ctype or a pointer to "
                        "non-opaque"),
               NULL;
    if (__builtin_mul_overflow(i, type->item->size, &distance) ||
        __builtin_add_overflow(*offset, distance, offset))
        return ffi_fail(vm, DVX_OVERFLOW_ERROR, "array offset would overflow a Py_ssize_t"), NULL;
    return type->item;
}

static ctype *follow(dvx_vm *vm, ctype *type, const dvx_value *keys, uint32_t count,
                     int64_t *offset) {
    for (uint32_t i = 0; i < count && type; i++) type = place(vm, type, keys[i], i > 0, offset);
    return type;
}

MODULE_METHOD(memory_offsetof) {
    int64_t offset = 0;
    ctype *type = module_type(vm, args[0], args[1], "typeoffsetof() ", false);
    if (!type || !follow(vm, type, args + 2, count - 2, &offset)) return DVX_FAILED;
    return vm->api->make_int(vm, offset);
}

MODULE_METHOD(memory_addressof) {
    int64_t offset = 0;
    cdata *c = cdata_of(vm, args[1]);
    if (!c && vm->api->payload(vm, args[1], &library_type) && count == 3)
        return library_address(vm, args[1], args[2]);
    if (!c) return ffi_raise(vm, DVX_TYPE_ERROR, "expected a 'cdata' object");
    if (count == 2 && ctype_is_pointer(c->type) && c->type->kind == CTYPE_POINTER)
        return ffi_raise(vm, DVX_TYPE_ERROR, "addressof(pointer)");
    ctype *type = follow(vm, c->type, args + 2, count - 2, &offset);
    if (!type || !cdata_check_memory(vm, c)) return DVX_FAILED;
    if (ctype_is_primitive(c->type) || c->type->kind == CTYPE_FUNCTION_POINTER)
        return ffi_raise(vm, DVX_TYPE_ERROR, "expected a cdata struct/union/array/pointer object");
    ctype *pointer = ctype_pointer_to(vm, type);
    if (!pointer) return DVX_FAILED;
    return cdata_make(vm, pointer, (char *)((uintptr_t)c->data + (uint64_t)offset), c->block);
}
