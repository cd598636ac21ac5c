/* convert.c: reading and writing C values (convert.h). */
#include "data/convert.h"

#include <complex.h>
#include <stdio.h>
#include <stdlib.h>

#include "ctype/layout.h"
#include "data/text.h"

/* ---- Raw numbers ---- */

int64_t convert_load_signed(const char *data, int64_t size) {
    int8_t a;
    int16_t b;
    int32_t c;
    int64_t d;
    switch (size) {
    case 1: memcpy(&a, data, 1); return a;
    case 2: memcpy(&b, data, 2); return b;
    case 4: memcpy(&c, data, 4); return c;
    default: memcpy(&d, data, 8); return d;
    }
}

uint64_t convert_load_unsigned(const char *data, int64_t size) {
    uint8_t a;
    uint16_t b;
    uint32_t c;
    uint64_t d;
    switch (size) {
    case 1: memcpy(&a, data, 1); return a;
    case 2: memcpy(&b, data, 2); return b;
    case 4: memcpy(&c, data, 4); return c;
    default: memcpy(&d, data, 8); return d;
    }
}

void convert_store(char *data, int64_t size, uint64_t bits) {
    uint8_t a = (uint8_t)bits;
    uint16_t b = (uint16_t)bits;
    uint32_t c = (uint32_t)bits;
    switch (size) {
    case 1: memcpy(data, &a, 1); return;
    case 2: memcpy(data, &b, 2); return;
    case 4: memcpy(data, &c, 4); return;
    default: memcpy(data, &bits, 8); return;
    }
}

static double load_float(const ctype *type, const char *data) {
    float f;
    double d;
    if (type->size == sizeof f) return memcpy(&f, data, sizeof f), f;
    return memcpy(&d, data, sizeof d), d;
}

static void store_float(const ctype *type, char *data, double d) {
    float f = (float)d;
    if (type->kind == CTYPE_LONG_DOUBLE) {
        long double wide = d;
        memcpy(data, &wide, sizeof wide);
    } else if (type->size == sizeof f) {
        memcpy(data, &f, sizeof f);
    } else {
        memcpy(data, &d, sizeof d);
    }
}

static void load_complex(const ctype *type, const char *data, double *real, double *imag) {
    float f[2];
    double d[2];
    if (type->size == sizeof f) {
        memcpy(f, data, sizeof f);
        *real = f[0], *imag = f[1];
    } else {
        memcpy(d, data, sizeof d);
        *real = d[0], *imag = d[1];
    }
}

static void store_complex(const ctype *type, char *data, double real, double imag) {
    float f[2] = {(float)real, (float)imag};
    double d[2] = {real, imag};
    if (type->size == sizeof f)
        memcpy(data, f, sizeof f);
    else
        memcpy(data, d, sizeof d);
}

/* ---- Reading ---- */

static dvx_value read_bool(dvx_vm *vm, const char *data) {
    unsigned char c = (unsigned char)*data;
    if (c <= 1) return vm->api->make_bool(vm, c);
    return ffi_raise(vm, DVX_VALUE_ERROR, "got a _Bool of value %d, expected 0 or 1", c);
}

dvx_value convert_read(dvx_vm *vm, ctype *type, char *data, cdata_block *block) {
    char *pointer;
    double real, imag;
    switch (type->kind) {
    case CTYPE_SIGNED: return vm->api->make_int(vm, convert_load_signed(data, type->size));
    case CTYPE_UNSIGNED: return vm->api->make_uint(vm, convert_load_unsigned(data, type->size));
    case CTYPE_ENUM:
        return type->is_signed ? vm->api->make_int(vm, convert_load_signed(data, type->size))
                               : vm->api->make_uint(vm, convert_load_unsigned(data, type->size));
    case CTYPE_FLOAT: return vm->api->make_float(vm, load_float(type, data));
    case CTYPE_BOOL: return read_bool(vm, data);
    case CTYPE_CHAR: return text_of_char(vm, type, data);
    case CTYPE_COMPLEX:
        load_complex(type, data, &real, &imag);
        return vm->api->make_complex(vm, real, imag);
    case CTYPE_LONG_DOUBLE: return cdata_make_primitive(vm, type, data);
    case CTYPE_POINTER:
    case CTYPE_FUNCTION_POINTER:
        memcpy(&pointer, data, sizeof pointer);
        return cdata_make(vm, type, pointer, NULL);
    case CTYPE_ARRAY: return cdata_make(vm, type, data, block);
    case CTYPE_STRUCT:
    case CTYPE_UNION:
        if (type->size >= 0) return cdata_make(vm, type, data, block);
        break;
    default: break;
    }
    return ffi_raise(vm, DVX_TYPE_ERROR, "cdata '%s' is opaque", type->name);
}

/* ---- What does not fit ---- */

static bool cannot(dvx_vm *vm, const ctype *type, const char *expected, dvx_value v) {
    char name[FFI_NAME];
    const cdata *c = cdata_of(vm, v);
    if (!c)
        return ffi_fail(vm, DVX_TYPE_ERROR, "initializer for ctype '%s' must be a %s, not %s",
                        type->name, expected, ffi_class_name(vm, v, name));
    if (strcmp(type->name, c->type->name) == 0 && type != c->type)
        return ffi_fail(vm, DVX_TYPE_ERROR,
                        "initializer for ctype '%s' appears indeed to be '%s', but the types are "
                        "different (check that you are not e.g. mixing up different ffi "
                        "instances)",
                        type->name, c->type->name);
    return ffi_fail(vm, DVX_TYPE_ERROR, "initializer for ctype '%s' must be a %s, not cdata '%s'",
                    type->name, expected, c->type->name);
}

static bool overflow(dvx_vm *vm, const ctype *type, dvx_value v) {
    dvx_value class_ = vm->api->error_class(vm, DVX_OVERFLOW_ERROR);
    vm->api->raise_format(vm, class_, "integer %S does not fit '%s'", v, type->name);
    vm->api->release(vm, class_);
    return false;
}

/* ---- Integers ---- */

/* An int that C takes as an integer: what int() makes of it, but not of floats; v itself if it is
 * one.  The result is new. */
static dvx_value as_integer(dvx_vm *vm, dvx_value v) {
    dvx_kind kind = vm->api->kind(vm, v);
    if (kind == DVX_INT || kind == DVX_BOOL) return vm->api->retain(vm, v);
    const cdata *c = cdata_of(vm, v);
    bool floating = kind == DVX_FLOAT ||
                    (c && (c->type->kind == CTYPE_FLOAT || c->type->kind == CTYPE_LONG_DOUBLE));
    dvx_value method = DVX_FAILED;
    int found = floating || kind == DVX_STR || kind == DVX_BYTES
                    ? 0
                    : vm->api->find_attribute(vm, v, "__int__", &method);
    if (found < 0) return DVX_FAILED;
    if (!found) return ffi_raise(vm, DVX_TYPE_ERROR, "an integer is required");
    dvx_value result = vm->api->call(vm, method, NULL, 0);
    vm->api->release(vm, method);
    if (dvx_failed(result) || vm->api->kind(vm, result) == DVX_INT) return result;
    vm->api->release(vm, result);
    return ffi_raise(vm, DVX_TYPE_ERROR, "integer conversion failed");
}

/* Is the int negative, of any size? */
static int is_negative(dvx_vm *vm, dvx_value v) {
    return vm->api->less(vm, v, vm->api->make_int(vm, 0));
}

/* The value as 64 bits; for unsigned types as an unsigned number. */
static bool integer_bits(dvx_vm *vm, dvx_value v, bool is_signed, uint64_t *bits) {
    int64_t small;
    if (vm->api->kind(vm, v) == DVX_INT && vm->api->read_int(vm, v, &small)) {
        *bits = (uint64_t)small;
        if (small >= 0 || is_signed) return true;
        return ffi_fail(vm, DVX_OVERFLOW_ERROR, "can't convert negative number to unsigned");
    }
    vm->api->clear_error(vm);
    dvx_value whole = as_integer(vm, v);
    if (dvx_failed(whole)) return false;
    bool good =
        is_signed ? vm->api->read_int(vm, whole, &small) : vm->api->read_uint(vm, whole, bits);
    if (good && is_signed) *bits = (uint64_t)small;
    if (!good) {
        vm->api->clear_error(vm);
        bool negative = !is_signed && is_negative(vm, whole) > 0;
        ffi_fail(vm, DVX_OVERFLOW_ERROR,
                 negative ? "can't convert negative number to unsigned" : "int too big to convert");
    }
    vm->api->release(vm, whole);
    return good;
}

static bool write_integer(dvx_vm *vm, const ctype *type, char *data, dvx_value v) {
    uint64_t bits;
    bool is_signed = type->is_signed;
    if (!integer_bits(vm, v, is_signed, &bits)) return false;
    char copy[8] = {0};
    convert_store(copy, type->size, bits);
    uint64_t stored = is_signed ? (uint64_t)convert_load_signed(copy, type->size)
                                : convert_load_unsigned(copy, type->size);
    if (stored != bits || (type->kind == CTYPE_BOOL && bits > 1)) return overflow(vm, type, v);
    memcpy(data, copy, (size_t)type->size);
    return true;
}

/* ---- Other numbers ---- */

static bool write_float(dvx_vm *vm, const ctype *type, char *data, dvx_value v) {
    double d;
    cdata *c = vm->api->kind(vm, v) == DVX_FLOAT ? NULL : cdata_of(vm, v);
    if (c && type->kind == CTYPE_LONG_DOUBLE && c->type->kind == CTYPE_LONG_DOUBLE) {
        memcpy(data, c->bytes, (size_t)type->size);
        return true;
    }
    if (c) {
        dvx_value class_ = vm->api->builtin(vm, "float");
        dvx_value made = vm->api->call(vm, class_, &v, 1);
        bool good = !dvx_failed(made) && vm->api->read_float(vm, made, &d);
        vm->api->release(vm, class_);
        vm->api->release(vm, made);
        if (!good) return false;
    } else if (!vm->api->read_float(vm, v, &d)) {
        return false;
    }
    store_float(type, data, d);
    return true;
}

static bool write_complex(dvx_vm *vm, const ctype *type, char *data, dvx_value v) {
    double real, imag;
    if (!vm->api->read_complex(vm, v, &real, &imag)) return false;
    store_complex(type, data, real, imag);
    return true;
}

/* ---- Pointers ---- */

static bool is_byte_pointer(const ctype *t) {
    return t->kind == CTYPE_POINTER && t->item->size == 1 && ctype_is_byte(t->item);
}

static bool write_pointer(dvx_vm *vm, const ctype *type, char *data, dvx_value v) {
    const cdata *c = cdata_of(vm, v);
    if (!c) return cannot(vm, type, "cdata pointer", v);
    const ctype *given = c->type;
    if (given->kind == CTYPE_ARRAY)
        given = given->item->pointer;
    else if (!ctype_is_pointer(given))
        return cannot(vm, type, "pointer or array", v);
    bool fits = given == type || ctype_is_void_pointer(type) || ctype_is_void_pointer(given) ||
                is_byte_pointer(type) || is_byte_pointer(given);
    if (!fits) return cannot(vm, type, "pointer to same type", v);
    memcpy(data, &c->data, sizeof c->data);
    return true;
}

/* ---- Arrays ---- */

static bool is_list(dvx_vm *vm, dvx_value v) {
    dvx_kind kind = vm->api->kind(vm, v);
    return kind == DVX_LIST || kind == DVX_TUPLE;
}

static bool write_items(dvx_vm *vm, ctype *item, const ctype *shown, int64_t length, char *data,
                        dvx_value v) {
    int64_t count = vm->api->length(vm, v);
    if (count < 0) return false;
    if (length >= 0 && count > length)
        return ffi_fail(vm, DVX_INDEX_ERROR, "too many initializers for '%s' (got %lld)",
                        shown->name, (long long)count);
    for (int64_t i = 0; i < count; i++) {
        dvx_value one = vm->api->get_item(vm, v, vm->api->make_int(vm, i));
        bool good = !dvx_failed(one) && convert_write(vm, item, data + i * item->size, one);
        vm->api->release(vm, one);
        if (!good) return false;
    }
    return true;
}

bool convert_write_array(dvx_vm *vm, ctype *item, const ctype *shown, int64_t length, char *data,
                         dvx_value v) {
    if (is_list(vm, v)) return write_items(vm, item, shown, length, data, v);
    bool text = item->kind == CTYPE_CHAR || (ctype_is_integer(item) && item->size == 1);
    const char *expected = "list or tuple";
    if (text) {
        dvx_kind wanted = item->size == 1 ? DVX_BYTES : DVX_STR;
        if (vm->api->kind(vm, v) == wanted) return text_write(vm, item, shown, length, data, v);
        expected = wanted == DVX_BYTES ? "bytes or list or tuple" : "unicode or list or tuple";
    }
    const cdata *c = shown->kind == CTYPE_ARRAY ? cdata_of(vm, v) : NULL;
    if (!c || c->type != shown) return cannot(vm, shown, expected, v);
    int64_t count = cdata_length(c);
    if (length >= 0 && count > length) count = length;
    if (!cdata_check_memory(vm, c)) return false;
    memmove(data, c->data, (size_t)(count * item->size));
    return true;
}

/* ---- Structs and unions ---- */

static bool write_record(dvx_vm *vm, ctype *type, char *data, const char *end, dvx_value v);

/* A flexible array has what memory is left. */
static bool write_flexible(dvx_vm *vm, ctype *type, char *data, const char *end, dvx_value v) {
    bool given;
    int64_t length = convert_new_length(vm, type->item, v, &given);
    if (length < 0) return false;
    if (end) length = (end - data) / type->item->size;
    return !given || convert_write_array(vm, type->item, type, end ? length : -1, data, v);
}

/* A member that is no bit field. */
static bool write_member(dvx_vm *vm, ctype *type, char *data, const char *end, dvx_value v) {
    if (type->kind == CTYPE_ARRAY && type->length < 0)
        return write_flexible(vm, type, data, end, v);
    if (type->kind == CTYPE_STRUCT && type->flexible) return write_record(vm, type, data, end, v);
    return convert_write(vm, type, data, v);
}

bool convert_write_field(dvx_vm *vm, const ctype_field *field, char *data, const char *end,
                         dvx_value v) {
    data += field->offset;
    if (field->bit_size < 0) return write_member(vm, field->type, data, end, v);
    const ctype *type = field->type;
    int64_t value = 0;
    int width = field->bit_size;
    bool is_signed = type->is_signed;
    if (!vm->api->read_index(vm, v, &value)) return false;
    int64_t least = is_signed ? (int64_t)(~0ull << (width - 1)) : 0;
    uint64_t most = width - is_signed >= 64 ? ~0ull : (1ull << (width - is_signed)) - 1;
    if (most == 0) most = 1; /* cffi lets `int x:1` take 1 */
    if (value < least || (value > 0 && (uint64_t)value > most))
        return ffi_fail(vm, DVX_OVERFLOW_ERROR,
                        "value %lld outside the range allowed by the bit field width: %lld <= x "
                        "<= %llu",
                        (long long)value, (long long)least, (unsigned long long)most);
    uint64_t mask = (width >= 64 ? ~0ull : (1ull << width) - 1) << field->bit_shift;
    uint64_t bits = convert_load_unsigned(data, type->size);
    bits = (bits & ~mask) | ((uint64_t)value << field->bit_shift & mask);
    convert_store(data, type->size, bits);
    return true;
}

dvx_value convert_read_field(dvx_vm *vm, const ctype_field *field, char *data, cdata_block *block) {
    data += field->offset;
    if (field->bit_size < 0) {
        ctype *type = field->type;
        if (type->kind != CTYPE_ARRAY || type->length >= 0)
            return convert_read(vm, type, data, block);
        /* The length of a flexible array is known from the memory alone. */
        cdata *made;
        bool inside = block && data >= block->data && data <= block->data + block->size;
        dvx_value v = inside ? cdata_make_at(vm, type, data, block, &made)
                             : cdata_make(vm, type->item->pointer, data, NULL);
        if (inside && !dvx_failed(v))
            made->length = (block->data + block->size - data) / type->item->size;
        return v;
    }
    uint64_t bits = convert_load_unsigned(data, field->type->size) >> field->bit_shift;
    int unused = 64 - field->bit_size;
    if (field->type->is_signed) return vm->api->make_int(vm, (int64_t)(bits << unused) >> unused);
    return vm->api->make_uint(vm, bits << unused >> unused);
}

static bool write_by_position(dvx_vm *vm, const ctype *type, char *data, const char *end,
                              dvx_value v) {
    int64_t count = vm->api->length(vm, v);
    uint32_t at = 0;
    for (int64_t i = 0; i < count; i++, at++) {
        while (at < type->field_count && type->fields[at].not_positional) at++;
        if (at >= type->field_count)
            return ffi_fail(vm, DVX_VALUE_ERROR, "too many initializers for '%s' (got %lld)",
                            type->name, (long long)count);
        dvx_value one = vm->api->get_item(vm, v, vm->api->make_int(vm, i));
        bool good = !dvx_failed(one) && convert_write_field(vm, &type->fields[at], data, end, one);
        vm->api->release(vm, one);
        if (!good) return false;
    }
    return count >= 0;
}

static bool write_by_name(dvx_vm *vm, const ctype *type, char *data, const char *end, dvx_value v) {
    dvx_value names = vm->api->iterate(vm, v), name;
    int more = dvx_failed(names) ? -1 : 1;
    while (more > 0 && (more = vm->api->next(vm, names, &name)) > 0) {
        const ctype_field *field = text_find_field(vm, type, name);
        dvx_value one = field ? vm->api->get_item(vm, v, name) : DVX_FAILED;
        if (!field || dvx_failed(one) || !convert_write_field(vm, field, data, end, one)) more = -1;
        vm->api->release(vm, one);
        vm->api->release(vm, name);
    }
    vm->api->release(vm, names);
    return more == 0;
}

static bool write_record(dvx_vm *vm, ctype *type, char *data, const char *end, dvx_value v) {
    const cdata *c = cdata_of(vm, v);
    if (c && c->type == type && type->size >= 0) {
        memmove(data, c->data, (size_t)type->size);
        return true;
    }
    if (type->size < 0) return ffi_fail(vm, DVX_TYPE_ERROR, "'%s' is opaque", type->name);
    if (is_list(vm, v)) return write_by_position(vm, type, data, end, v);
    if (vm->api->kind(vm, v) == DVX_DICT) return write_by_name(vm, type, data, end, v);
    return cannot(
        vm, type,
        type->flexible ? "list or tuple or dict" : "list or tuple or dict or struct-cdata", v);
}

/* ---- All of them ---- */

bool convert_write_record(dvx_vm *vm, ctype *type, char *data, const char *end, dvx_value v) {
    if (!vm->api->enter(vm)) return false;
    bool done = write_record(vm, type, data, end, v);
    vm->api->leave(vm);
    return done;
}

bool convert_write(dvx_vm *vm, ctype *type, char *data, dvx_value v) {
    switch (type->kind) {
    case CTYPE_SIGNED:
    case CTYPE_UNSIGNED:
    case CTYPE_BOOL:
    case CTYPE_ENUM: return write_integer(vm, type, data, v);
    case CTYPE_FLOAT:
    case CTYPE_LONG_DOUBLE: return write_float(vm, type, data, v);
    case CTYPE_COMPLEX: return write_complex(vm, type, data, v);
    case CTYPE_CHAR: return text_write_char(vm, type, data, v);
    case CTYPE_POINTER:
    case CTYPE_FUNCTION_POINTER: return write_pointer(vm, type, data, v);
    case CTYPE_ARRAY: return convert_write_array(vm, type->item, type, type->length, data, v);
    case CTYPE_STRUCT:
    case CTYPE_UNION: return convert_write_record(vm, type, data, NULL, v);
    default: return ffi_fail(vm, DVX_TYPE_ERROR, "cdata '%s' is opaque", type->name);
    }
}

/* ---- New arrays ---- */

int64_t convert_new_length(dvx_vm *vm, const ctype *item, dvx_value v, bool *given) {
    char name[FFI_NAME];
    int64_t length;
    dvx_kind kind = vm->api->kind(vm, v);
    *given = true;
    switch (kind) {
    case DVX_LIST:
    case DVX_TUPLE: return vm->api->length(vm, v);
    case DVX_BYTES: length = vm->api->length(vm, v); return length < 0 ? -1 : length + 1;
    case DVX_STR: return text_units(vm, item, v) + 1;
    case DVX_INT:
    case DVX_BOOL: break;
    default:
        ffi_fail(vm, DVX_TYPE_ERROR, "expected new array length or list/tuple/str, not %s",
                 ffi_class_name(vm, v, name));
        return -1;
    }
    *given = false;
    if (!vm->api->read_int(vm, v, &length)) return -1;
    if (length >= 0) return length;
    ffi_fail(vm, DVX_VALUE_ERROR, "negative array length");
    return -1;
}

/* The value for the last field, if the initialiser has one; DVX_FAILED without an error: none. */
static dvx_value last_initialiser(dvx_vm *vm, const ctype *type, dvx_value v) {
    const ctype_field *field = &type->fields[type->field_count - 1];
    if (is_list(vm, v)) {
        int64_t count = vm->api->length(vm, v);
        return count == type->field_count
                   ? vm->api->get_item(vm, v, vm->api->make_int(vm, count - 1))
                   : DVX_FAILED;
    }
    if (vm->api->kind(vm, v) != DVX_DICT) return DVX_FAILED;
    dvx_value name = ffi_str(vm, field->name), found = DVX_FAILED;
    if (!dvx_failed(name) && vm->api->contains(vm, v, name) > 0)
        found = vm->api->get_item(vm, v, name);
    vm->api->release(vm, name);
    return found;
}

int64_t convert_flexible_size(dvx_vm *vm, ctype *type, dvx_value v) {
    const ctype_field *field = &type->fields[type->field_count - 1];
    dvx_value last = last_initialiser(vm, type, v);
    int64_t size = type->size, tail = 0;
    if (dvx_failed(last)) return size;
    if (field->type->kind == CTYPE_ARRAY && field->type->length < 0) {
        bool given;
        int64_t length = convert_new_length(vm, field->type->item, last, &given);
        if (length < 0 || __builtin_mul_overflow(length, field->type->item->size, &tail) ||
            __builtin_add_overflow(tail, field->offset, &tail)) {
            if (length >= 0)
                ffi_fail(vm, DVX_OVERFLOW_ERROR, "array size would overflow a Py_ssize_t");
            size = -1;
        }
    } else if (ctype_is_record(field->type) && field->type->flexible) {
        int64_t nested = convert_flexible_size(vm, field->type, last);
        tail = nested < 0 ? 0 : field->offset + nested;
        if (nested < 0) size = -1;
    }
    vm->api->release(vm, last);
    return size >= 0 && tail > size ? tail : size;
}

int64_t convert_temporary_size(dvx_vm *vm, const ctype *pointer, dvx_value v, int64_t *length) {
    const ctype *item = pointer->item;
    dvx_kind kind = vm->api->kind(vm, v);
    int64_t size;
    if (pointer->kind != CTYPE_POINTER) return 0;
    if (kind == DVX_BYTES) {
        bool takes = item->kind == CTYPE_VOID || (ctype_is_byte(item) && ctype_is_primitive(item));
        if (!takes) return 0;
        *length = vm->api->length(vm, v) + 1;
        return *length;
    }
    if (kind == DVX_STR)
        *length = text_units(vm, item, v) + 1;
    else if (kind == DVX_LIST || kind == DVX_TUPLE)
        *length = vm->api->length(vm, v);
    else
        return 0;
    if (item->size <= 0) return 0;
    if (!__builtin_mul_overflow(*length, item->size, &size)) return size ? size : 1;
    ffi_fail(vm, DVX_OVERFLOW_ERROR, "array size would overflow a Py_ssize_t");
    return -1;
}

/* ---- Enums ---- */

dvx_value convert_enum_text(dvx_vm *vm, const ctype *type, const char *data, bool with_value) {
    char text[300];
    int64_t value = type->is_signed ? convert_load_signed(data, type->size)
                                    : (int64_t)convert_load_unsigned(data, type->size);
    int at = type->is_signed ? snprintf(text, sizeof text, "%lld", (long long)value)
                             : snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    for (uint32_t i = 0; i < type->enumerator_count; i++) {
        if (type->enumerators[i].value != value) continue;
        if (!with_value) return ffi_str(vm, type->enumerators[i].name);
        snprintf(text + at, sizeof text - (size_t)at, ": %s", type->enumerators[i].name);
        break;
    }
    return ffi_str(vm, text);
}
