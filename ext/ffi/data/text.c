/* text.c: characters of C (text.h). */
#include "data/text.h"

#include <stdlib.h>

/* ---- UTF-8 ---- */

enum { LONGEST_CHARACTER = 4 };

static size_t encode(uint32_t code, char *to) {
    if (code < 0x80) return to[0] = (char)code, 1;
    if (code < 0x800) {
        to[0] = (char)(0xC0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        to[0] = (char)(0xE0 | code >> 12);
        to[1] = (char)(0x80 | (code >> 6 & 0x3F));
        to[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    to[0] = (char)(0xF0 | code >> 18);
    to[1] = (char)(0x80 | (code >> 12 & 0x3F));
    to[2] = (char)(0x80 | (code >> 6 & 0x3F));
    to[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/* The code point at p in valid UTF-8, and its length. */
static uint32_t decode(const char *p, size_t *size) {
    unsigned char c = (unsigned char)*p;
    *size = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    uint32_t code = *size == 1 ? c : c & (0x7Fu >> *size);
    for (size_t i = 1; i < *size; i++) code = code << 6 | (p[i] & 0x3F);
    return code;
}

/* ---- One character ---- */

uint32_t text_code(const ctype *type, const char *data) {
    uint16_t half;
    uint32_t whole;
    if (type->size == 1) return (unsigned char)*data;
    if (type->size == 2) return memcpy(&half, data, 2), half;
    return memcpy(&whole, data, 4), whole;
}

dvx_value text_of_char(dvx_vm *vm, const ctype *type, const char *data) {
    return text_of_chars(vm, type, data, 1);
}

static bool wrong_char(dvx_vm *vm, const ctype *type, dvx_value v) {
    char name[FFI_NAME];
    if (type->size == 1)
        return ffi_fail(vm, DVX_TYPE_ERROR,
                        "initializer for ctype 'char' must be a bytes of length 1, not %s",
                        ffi_class_name(vm, v, name));
    const char *shown = type->size == 2 ? "char16_t" : "char32_t";
    if (vm->api->kind(vm, v) == DVX_STR)
        return ffi_fail(vm, DVX_TYPE_ERROR,
                        "initializer for ctype '%s' must be a unicode string of length 1, not "
                        "unicode string of length %lld",
                        shown, (long long)vm->api->length(vm, v));
    return ffi_fail(vm, DVX_TYPE_ERROR,
                    "initializer for ctype '%s' must be a unicode string of length 1, not %s",
                    shown, ffi_class_name(vm, v, name));
}

bool text_write_char(dvx_vm *vm, const ctype *type, char *data, dvx_value v) {
    char utf8[LONGEST_CHARACTER + 1];
    size_t size;
    const cdata *c = cdata_of(vm, v);
    if (c && c->type->kind == CTYPE_CHAR && c->type->size == type->size) {
        memcpy(data, c->bytes, (size_t)type->size);
        return true;
    }
    dvx_kind kind = vm->api->kind(vm, v);
    if (type->size == 1) {
        if (kind != DVX_BYTES || vm->api->length(vm, v) != 1) return wrong_char(vm, type, v);
        return vm->api->read_bytes(vm, v, data, 1, &size);
    }
    if (kind != DVX_STR || vm->api->length(vm, v) != 1) return wrong_char(vm, type, v);
    if (!vm->api->read_str(vm, v, utf8, sizeof utf8, &size)) return false;
    uint32_t code = decode(utf8, &size);
    if (type->size == 2) {
        uint16_t half = (uint16_t)code;
        if (code > 0xFFFF)
            return ffi_fail(vm, DVX_TYPE_ERROR,
                            "initializer for ctype 'char16_t' must be a unicode string of length "
                            "1, not %s",
                            "unicode string of length 1");
        memcpy(data, &half, sizeof half);
    } else {
        memcpy(data, &code, sizeof code);
    }
    return true;
}

/* ---- Arrays to dl ---- */

static uint32_t next_code(const ctype *item, const char *data, int64_t count, int64_t *i) {
    uint32_t code = text_code(item, data + *i * item->size);
    ++*i;
    if (item->size != 2 || code >> 10 != 0x36 || *i >= count) return code;
    uint32_t low = text_code(item, data + *i * item->size);
    if (low >> 10 != 0x37) return code;
    ++*i;
    return 0x10000 + ((code & 0x3FF) << 10 | (low & 0x3FF));
}

dvx_value text_of_chars(dvx_vm *vm, const ctype *item, const char *data, int64_t count) {
    char few[64 * LONGEST_CHARACTER];
    if (item->size == 1) return vm->api->make_bytes(vm, data, (size_t)count);
    size_t capacity = (size_t)count * LONGEST_CHARACTER, size = 0;
    char *text = capacity <= sizeof few ? few : vm->api->allocate(vm, capacity);
    if (!text) return DVX_FAILED;
    dvx_value made = DVX_FAILED;
    bool good = true;
    for (int64_t i = 0; i < count && good;) {
        uint32_t code = next_code(item, data, count, &i);
        good = code <= 0x10FFFF;
        if (good)
            size += encode(code, text + size);
        else
            ffi_fail(vm, DVX_VALUE_ERROR, "char32_t out of range for conversion to unicode: 0x%x",
                     code);
    }
    if (good) made = vm->api->make_str(vm, text, size);
    if (text != few) vm->api->deallocate(vm, text, capacity);
    return made;
}

int64_t text_length(const ctype *item, const char *data, int64_t most) {
    int64_t count = 0;
    while ((most < 0 || count < most) && text_code(item, data + count * item->size)) count++;
    return count;
}

/* ---- Arrays from dl ---- */

int64_t text_units(dvx_vm *vm, const ctype *item, dvx_value str) {
    int64_t count = vm->api->length(vm, str);
    if (item->size != 2 || count < 0) return count;
    size_t size;
    char *text = ffi_text(vm, str, &size);
    if (!text) return -1;
    for (size_t i = 0; i < size; i++) count += (unsigned char)text[i] >= 0xF0;
    vm->api->deallocate(vm, text, size + 1);
    return count;
}

static bool too_long(dvx_vm *vm, const ctype *shown, const char *what, int64_t count) {
    return ffi_fail(vm, DVX_INDEX_ERROR,
                    "initializer %s is too long for '%s' (got %lld characters)", what, shown->name,
                    (long long)count);
}

static bool write_bytes(dvx_vm *vm, const ctype *item, const ctype *shown, int64_t length,
                        char *data, dvx_value v) {
    int64_t count = vm->api->length(vm, v);
    size_t size;
    if (count < 0) return false;
    if (length >= 0 && count > length) return too_long(vm, shown, "bytes", count);
    if (!vm->api->read_bytes(vm, v, data, (size_t)count, &size)) return false;
    if (count != length) data[count] = 0;
    for (int64_t i = 0; item->kind == CTYPE_BOOL && i < count; i++)
        if ((unsigned char)data[i] > 1)
            return ffi_fail(vm, DVX_VALUE_ERROR,
                            "an array of _Bool can only contain \\x00 or \\x01");
    return true;
}

static void put(const ctype *item, char *data, int64_t i, uint32_t code) {
    uint16_t half = (uint16_t)code;
    if (item->size == 2)
        memcpy(data + i * 2, &half, 2);
    else
        memcpy(data + i * 4, &code, 4);
}

static int64_t put_code(const ctype *item, char *data, int64_t i, uint32_t code) {
    if (item->size == 2 && code > 0xFFFF) {
        put(item, data, i++, 0xD7C0 + (code >> 10));
        code = 0xDC00 + (code & 0x3FF);
    }
    put(item, data, i, code);
    return i + 1;
}

static bool write_str(dvx_vm *vm, const ctype *item, const ctype *shown, int64_t length, char *data,
                      dvx_value v) {
    int64_t count = text_units(vm, item, v), at = 0;
    size_t size, one;
    if (count < 0) return false;
    if (length >= 0 && count > length) return too_long(vm, shown, "unicode", count);
    char *text = ffi_text(vm, v, &size);
    if (!text) return false;
    for (size_t i = 0; i < size; i += one) at = put_code(item, data, at, decode(text + i, &one));
    if (at != length) put(item, data, at, 0);
    vm->api->deallocate(vm, text, size + 1);
    return true;
}

bool text_write(dvx_vm *vm, const ctype *item, const ctype *shown, int64_t length, char *data,
                dvx_value v) {
    return item->size == 1 ? write_bytes(vm, item, shown, length, data, v)
                           : write_str(vm, item, shown, length, data, v);
}

/* ---- Names ---- */

const ctype_field *text_find_field(dvx_vm *vm, const ctype *type, dvx_value name) {
    char few[64];
    size_t size;
    const ctype_field *field = NULL;
    if (vm->api->kind(vm, name) == DVX_STR) {
        if (!vm->api->read_str(vm, name, few, sizeof few, &size)) return NULL;
        char *text = size < sizeof few ? few : ffi_text(vm, name, &size);
        if (!text) return NULL;
        field = ctype_find_field(type, text, size);
        if (text != few) vm->api->deallocate(vm, text, size + 1);
    }
    if (field) return field;
    dvx_value class_ = vm->api->error_class(vm, DVX_KEY_ERROR);
    dvx_value error = vm->api->call(vm, class_, &name, 1);
    if (!dvx_failed(error)) vm->api->raise_error(vm, error);
    vm->api->release(vm, class_);
    vm->api->release(vm, error);
    return NULL;
}
