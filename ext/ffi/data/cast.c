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
    if (API(read_int, v, &small)) {
        *bits = (uint64_t)small;
        return true;
    }
    vm->api->clear_error(vm);
    dvx_value mask = API(make_uint, UINT64_MAX), cut = API(binary, DVX_AND, v, mask);
    bool good = !dvx_failed(cut) && API(read_uint, cut, bits);
    API(release, mask);
    API(release, cut);
    return good;
}

/* The code of a text of one character. */
static bool text_bits(dvx_vm *vm, const ctype *type, dvx_value v, uint64_t *bits) {
    bool bytes = API(kind, v) == DVX_BYTES;
    int64_t length = API(length, v);
    if (length != 1)
        return ffi_fail(vm, DVX_TYPE_ERROR, "cannot cast %s of length %lld to ctype '%s'",
                        bytes ? "string" : "unicode string", (long long)length, type->name);
    dvx_value code;
    if (bytes) {
        code = API(get_item, v, API(make_int, 0));
    } else {
        dvx_value ord = API(builtin, "ord");
        code = API(call, ord, &v, 1);
        API(release, ord);
    }
    bool good = !dvx_failed(code) && int_bits(vm, code, bits);
    API(release, code);
    return good;
}

/* What int() makes of a number: floats are cut. */
static bool number_bits(dvx_vm *vm, dvx_value v, uint64_t *bits) {
    dvx_kind kind = API(kind, v);
    if (kind == DVX_INT || kind == DVX_BOOL) return int_bits(vm, v, bits);
    dvx_value method = DVX_FAILED, made;
    int found = API(find_attribute, v, "__int__", &method);
    if (found < 0) return false;
    if (!found) return ffi_fail(vm, DVX_TYPE_ERROR, "an integer is required");
    made = API(call, method, NULL, 0);
    API(release, method);
    bool good = !dvx_failed(made) && int_bits(vm, made, bits);
    API(release, made);
    return good;
}

static bool is_address(const cdata *c) {
    return c && (ctype_is_pointer(c->type) || c->type->kind == CTYPE_ARRAY);
}

static dvx_value to_integer(dvx_vm *vm, ctype *type, dvx_value v) {
    uint64_t bits = 0;
    const cdata *c = cdata_of(vm, v);
    dvx_kind kind = API(kind, v);
    if (is_address(c)) {
        bits = (uint64_t)(uintptr_t)c->data;
    } else if (kind == DVX_STR || kind == DVX_BYTES) {
        if (!text_bits(vm, type, v, &bits)) return DVX_FAILED;
    } else if (type->kind == CTYPE_BOOL && kind == DVX_FLOAT) {
        bits = API(truth, v) > 0;
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
        dvx_value narrow = API(make_float, (double)wide);
        dvx_value made = to_float(vm, type, narrow);
        API(release, narrow);
        return made;
    }
    dvx_value number = c ? convert_read(vm, c->type, c->bytes, NULL) : API(retain, v);
    dvx_kind kind = dvx_failed(number) ? DVX_ANY : API(kind, number);
    if (kind == DVX_STR || kind == DVX_BYTES) {
        bool good = text_bits(vm, type, number, &bits);
        API(release, number);
        number = good ? API(make_uint, bits) : DVX_FAILED;
    }
    bool written = !dvx_failed(number) && convert_write(vm, type, bytes, number);
    API(release, number);
    return written ? cdata_make_primitive(vm, type, bytes) : DVX_FAILED;
}

static dvx_value to_complex(dvx_vm *vm, ctype *type, dvx_value v) {
    cdata *c = cdata_of(vm, v);
    char bytes[16] = {0};
    if (c && !ctype_is_primitive(c->type)) return refuse(vm, type, v);
    dvx_value number = c ? convert_read(vm, c->type, c->bytes, NULL) : API(retain, v);
    bool written = !dvx_failed(number) && convert_write(vm, type, bytes, number);
    API(release, number);
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
        return API(retain, v);
    if (ctype_is_pointer(type) || (type->kind == CTYPE_ARRAY && type->size >= 0))
        return to_pointer(vm, type, v);
    if (ctype_is_integer(type) || type->kind == CTYPE_CHAR) return to_integer(vm, type, v);
    if (type->kind == CTYPE_FLOAT || type->kind == CTYPE_LONG_DOUBLE) return to_float(vm, type, v);
    if (type->kind == CTYPE_COMPLEX) return to_complex(vm, type, v);
    return ffi_raise(vm, DVX_TYPE_ERROR, "cannot cast to ctype '%s'", type->name);
}
