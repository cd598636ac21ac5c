/* cast.c: ffi.cast (convert.h). */
#include "data/convert.h"
#include "data/text.h"

static dvx_value refuse(dvx_vm *vm, const ctype *type, dvx_value v) {
    char name[FFI_NAME];
    const cdata *c = cdata_of(vm, v);
    if (c)
        return ffi_raise(vm, DVX_TYPE_ERROR, "cannot cast ctype '%s' to ctype '%s'", c->type->name,
                         type->name);
    return ffi_raise(vm, DVX_TYPE_ERROR, "cannot cast %s object to ctype '%s'",
                     ffi_class_name(vm, v, name), type->name);
}

/* ---- Integers ---- */

/* The last 64 bits of an int of any size. */
static bool int_bits(dvx_vm *vm, dvx_value v, uint64_t *bits) {
    int64_t small;
    if (vm->api->read_int(vm, v, &small)) {
        *bits = (uint64_t)small;
        return true;
    }
    vm->api->clear_error(vm);
    dvx_value mask = vm->api->make_uint(vm, UINT64_MAX),
              cut = vm->api->binary(vm, DVX_AND, v, mask);
    bool good = !dvx_failed(cut) && vm->api->read_uint(vm, cut, bits);
    vm->api->release(vm, mask);
    vm->api->release(vm, cut);
    return good;
}

/* The code of a text of one character. */
static bool text_bits(dvx_vm *vm, const ctype *type, dvx_value v, uint64_t *bits) {
    bool bytes = vm->api->kind(vm, v) == DVX_BYTES;
    int64_t length = vm->api->length(vm, v);
    if (length != 1)
        return ffi_fail(vm, DVX_TYPE_ERROR, "cannot cast %s of length %lld to ctype '%s'",
                        bytes ? "string" : "unicode string", (long long)length, type->name);
    dvx_value code;
    if (bytes) {
        code = vm->api->get_item(vm, v, vm->api->make_int(vm, 0));
    } else {
        dvx_value ord = vm->api->builtin(vm, "ord");
        code = vm->api->call(vm, ord, &v, 1);
        vm->api->release(vm, ord);
    }
    bool good = !dvx_failed(code) && int_bits(vm, code, bits);
    vm->api->release(vm, code);
    return good;
}

/* What int() makes of a number: floats are cut. */
static bool number_bits(dvx_vm *vm, dvx_value v, uint64_t *bits) {
    dvx_kind kind = vm->api->kind(vm, v);
    if (kind == DVX_INT || kind == DVX_BOOL) return int_bits(vm, v, bits);
    dvx_value method = DVX_FAILED, made;
    int found = vm->api->find_attribute(vm, v, "__int__", &method);
    if (found < 0) return false;
    if (!found) return ffi_fail(vm, DVX_TYPE_ERROR, "an integer is required");
    made = vm->api->call(vm, method, NULL, 0);
    vm->api->release(vm, method);
    bool good = !dvx_failed(made) && int_bits(vm, made, bits);
    vm->api->release(vm, made);
    return good;
}

static bool is_address(const cdata *c) {
    return c && (ctype_is_pointer(c->type) || c->type->kind == CTYPE_ARRAY);
}

static dvx_value to_integer(dvx_vm *vm, ctype *type, dvx_value v) {
    uint64_t bits = 0;
    const cdata *c = cdata_of(vm, v);
    dvx_kind kind = vm->api->kind(vm, v);
    if (is_address(c)) {
        bits = (uint64_t)(uintptr_t)c->data;
    } else if (kind == DVX_STR || kind == DVX_BYTES) {
        if (!text_bits(vm, type, v, &bits)) return DVX_FAILED;
    } else if (type->kind == CTYPE_BOOL && kind == DVX_FLOAT) {
        bits = vm->api->truth(vm, v) > 0;
    } else if (!number_bits(vm, v, &bits)) {
        return DVX_FAILED;
    }
    if (type->kind == CTYPE_BOOL) bits = bits != 0;
    char bytes[8];
    convert_store(bytes, type->size, bits);
    return cdata_make_primitive(vm, type, bytes);
}

/* ---- Floats ---- */

static dvx_value to_float(dvx_vm *vm, ctype *type, dvx_value v) {
    cdata *c = cdata_of(vm, v);
    char bytes[16] = {0};
    uint64_t bits;
    if (c && !ctype_is_primitive(c->type)) return refuse(vm, type, v);
    if (c && c->type->kind == CTYPE_LONG_DOUBLE) {
        long double wide;
        memcpy(&wide, c->bytes, sizeof wide);
        if (type->kind == CTYPE_LONG_DOUBLE) return cdata_make_primitive(vm, type, c->bytes);
        dvx_value narrow = vm->api->make_float(vm, (double)wide);
        dvx_value made = to_float(vm, type, narrow);
        vm->api->release(vm, narrow);
        return made;
    }
    dvx_value number = c ? convert_read(vm, c->type, c->bytes, NULL) : vm->api->retain(vm, v);
    dvx_kind kind = dvx_failed(number) ? DVX_ANY : vm->api->kind(vm, number);
    if (kind == DVX_STR || kind == DVX_BYTES) {
        bool good = text_bits(vm, type, number, &bits);
        vm->api->release(vm, number);
        number = good ? vm->api->make_uint(vm, bits) : DVX_FAILED;
    }
    bool written = !dvx_failed(number) && convert_write(vm, type, bytes, number);
    vm->api->release(vm, number);
    return written ? cdata_make_primitive(vm, type, bytes) : DVX_FAILED;
}

static dvx_value to_complex(dvx_vm *vm, ctype *type, dvx_value v) {
    cdata *c = cdata_of(vm, v);
    char bytes[16] = {0};
    if (c && !ctype_is_primitive(c->type)) return refuse(vm, type, v);
    dvx_value number = c ? convert_read(vm, c->type, c->bytes, NULL) : vm->api->retain(vm, v);
    bool written = !dvx_failed(number) && convert_write(vm, type, bytes, number);
    vm->api->release(vm, number);
    return written ? cdata_make_primitive(vm, type, bytes) : DVX_FAILED;
}

/* ---- Pointers ---- */

static dvx_value to_pointer(dvx_vm *vm, ctype *type, dvx_value v) {
    uint64_t bits;
    const cdata *c = cdata_of(vm, v);
    if (is_address(c)) return cdata_make(vm, type, c->data, c->block);
    if (!number_bits(vm, v, &bits)) return DVX_FAILED;
    return cdata_make(vm, type, (char *)(uintptr_t)bits, NULL);
}

dvx_value convert_cast(dvx_vm *vm, ctype *type, dvx_value v) {
    const cdata *c = cdata_of(vm, v);
    if (c && c->type == type && c->role == CDATA_PLAIN && ctype_is_primitive(type))
        return vm->api->retain(vm, v);
    if (ctype_is_pointer(type) || (type->kind == CTYPE_ARRAY && type->size >= 0))
        return to_pointer(vm, type, v);
    if (ctype_is_integer(type) || type->kind == CTYPE_CHAR) return to_integer(vm, type, v);
    if (type->kind == CTYPE_FLOAT || type->kind == CTYPE_LONG_DOUBLE) return to_float(vm, type, v);
    if (type->kind == CTYPE_COMPLEX) return to_complex(vm, type, v);
    return ffi_raise(vm, DVX_TYPE_ERROR, "cannot cast to ctype '%s'", type->name);
}
