/* types.c: making and interning C types (types.h). */
#include "ctype/types.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <uchar.h>
#include <wchar.h>

#include "call/call.h"
#include "ctype/layout.h"

ffi_state *ffi_state_of(dvx_vm *vm) { return vm->api->state(vm, &dvx_extension); }

/* ---- Primitive types ---- */

typedef struct primitive {
    const char *name;
    ctype_kind kind;
    bool is_signed;
    uint8_t size, align;
} primitive;

#define PRIMITIVE(name, type, kind, is_signed) \
    { name, kind, is_signed, sizeof(type), _Alignof(type) }
#define INTEGER(name, type) \
    PRIMITIVE(name, type, (type)-1 < 1 ? CTYPE_SIGNED : CTYPE_UNSIGNED, (type)-1 < 1)
#define NAMED(type) INTEGER(#type, type)

static const primitive primitives[] = {
    PRIMITIVE("char", char, CTYPE_CHAR, false),
    NAMED(short),
    NAMED(int),
    NAMED(long),
    NAMED(long long),
    NAMED(signed char),
    NAMED(unsigned char),
    NAMED(unsigned short),
    NAMED(unsigned int),
    NAMED(unsigned long),
    NAMED(unsigned long long),
    PRIMITIVE("float", float, CTYPE_FLOAT, true),
    PRIMITIVE("double", double, CTYPE_FLOAT, true),
    PRIMITIVE("long double", long double, CTYPE_LONG_DOUBLE, true),
    PRIMITIVE("float _Complex", float _Complex, CTYPE_COMPLEX, true),
    PRIMITIVE("double _Complex", double _Complex, CTYPE_COMPLEX, true),
    PRIMITIVE("_Bool", _Bool, CTYPE_BOOL, false),
    PRIMITIVE("wchar_t", wchar_t, CTYPE_CHAR, (wchar_t)-1 < 1),
    PRIMITIVE("char16_t", char16_t, CTYPE_CHAR, false),
    PRIMITIVE("char32_t", char32_t, CTYPE_CHAR, false),
    NAMED(int8_t),
    NAMED(uint8_t),
    NAMED(int16_t),
    NAMED(uint16_t),
    NAMED(int32_t),
    NAMED(uint32_t),
    NAMED(int64_t),
    NAMED(uint64_t),
    NAMED(int_least8_t),
    NAMED(uint_least8_t),
    NAMED(int_least16_t),
    NAMED(uint_least16_t),
    NAMED(int_least32_t),
    NAMED(uint_least32_t),
    NAMED(int_least64_t),
    NAMED(uint_least64_t),
    NAMED(int_fast8_t),
    NAMED(uint_fast8_t),
    NAMED(int_fast16_t),
    NAMED(uint_fast16_t),
    NAMED(int_fast32_t),
    NAMED(uint_fast32_t),
    NAMED(int_fast64_t),
    NAMED(uint_fast64_t),
    NAMED(intptr_t),
    NAMED(uintptr_t),
    NAMED(intmax_t),
    NAMED(uintmax_t),
    NAMED(ptrdiff_t),
    NAMED(size_t),
    NAMED(ssize_t),
};

static ffi_type *foreign_integer(int64_t size, bool is_signed) {
    switch (size) {
    case 1: return is_signed ? &ffi_type_sint8 : &ffi_type_uint8;
    case 2: return is_signed ? &ffi_type_sint16 : &ffi_type_uint16;
    case 4: return is_signed ? &ffi_type_sint32 : &ffi_type_uint32;
    default: return is_signed ? &ffi_type_sint64 : &ffi_type_uint64;
    }
}

static ffi_type *foreign_primitive(const ctype *type) {
    switch (type->kind) {
    case CTYPE_VOID: return &ffi_type_void;
    case CTYPE_FLOAT: return type->size == sizeof(float) ? &ffi_type_float : &ffi_type_double;
    case CTYPE_LONG_DOUBLE: return &ffi_type_longdouble;
    case CTYPE_COMPLEX: return NULL; /* as in cffi */
    default: return foreign_integer(type->size, type->is_signed);
    }
}

/* Names that mean a type whether or not it was declared. */
static const char *const common_names[][2] = {{"bool", "_Bool"}};

const char *ctype_common_name(const char *name, size_t size) {
    for (size_t i = 0; i < LENGTH_OF(common_names); i++)
        if (strlen(common_names[i][0]) == size && memcmp(common_names[i][0], name, size) == 0)
            return common_names[i][1];
    return NULL;
}

/* ---- Making ---- */

static ctype *make(dvx_vm *vm, ffi_state *state, ctype_kind kind, char *name, size_t size,
                   size_t position) {
    ctype *type = name ? ffi_new(vm, sizeof *type) : NULL;
    if (!type) {
        vm->api->deallocate(vm, name, name ? size + 1 : 0);
        return NULL;
    }
    type->kind = kind;
    type->size = -1;
    type->align = 1;
    type->length = -1;
    type->name = name;
    type->name_size = size;
    type->position = position;
    type->state = state;
    type->next = state->all;
    state->all = type;
    return type;
}

static char *copy_text(dvx_vm *vm, const char *text, size_t size) {
    char *copy = vm->api->allocate(vm, size + 1);
    if (!copy) return NULL;
    memcpy(copy, text, size);
    copy[size] = 0;
    return copy;
}

char *ctype_name_with(dvx_vm *vm, const ctype *type, const char *text, size_t *size) {
    size_t added = strlen(text);
    *size = type->name_size + added;
    char *name = vm->api->allocate(vm, *size + 1);
    if (!name) return NULL;
    memcpy(name, type->name, type->position);
    memcpy(name + type->position, text, added);
    memcpy(name + type->position + added, type->name + type->position,
           type->name_size - type->position + 1);
    return name;
}

static ctype *make_on(dvx_vm *vm, ctype_kind kind, const ctype *base, const char *text,
                      size_t position) {
    size_t size;
    char *name = ctype_name_with(vm, base, text, &size);
    return make(vm, base->state, kind, name, size, base->position + position);
}

ctype *ctype_tagged(dvx_vm *vm, ctype_kind kind, const char *name) {
    size_t size = strlen(name);
    return make(vm, ffi_state_of(vm), kind, copy_text(vm, name, size), size, size);
}

bool ctype_rename(dvx_vm *vm, ctype *type, const char *name) {
    size_t size = strlen(name);
    char *copy = copy_text(vm, name, size);
    if (!copy) return false;
    vm->api->deallocate(vm, type->name, type->name_size + 1);
    type->name = copy;
    type->name_size = type->position = size;
    type->forced = true;
    return true;
}

bool ctype_complete_enum(dvx_vm *vm, ctype *type, ctype_enumerator *enumerators, uint32_t count) {
    (void)vm;
    bool negative = false, wide = false;
    for (uint32_t i = 0; i < count; i++) negative |= enumerators[i].value < 0;
    for (uint32_t i = 0; i < count; i++) {
        int64_t value = enumerators[i].value;
        wide |= negative ? value != (int32_t)value : (uint64_t)value > UINT32_MAX;
    }
    type->enumerators = enumerators;
    type->enumerator_count = count;
    type->is_signed = negative;
    type->size = type->align = wide ? sizeof(long) : sizeof(int);
    type->foreign = foreign_integer(type->size, negative);
    return true;
}

/* ---- Interning ---- */

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

static uint64_t hash_array(const ctype *item, int64_t length) {
    return mix(mix(1, (uintptr_t)item), (uint64_t)length);
}

static uint64_t hash_function(const ctype *result, ctype *const *parameters, uint32_t count,
                              bool ellipsis) {
    uint64_t hash = mix(2 + ellipsis, (uintptr_t)result);
    for (uint32_t i = 0; i < count; i++) hash = mix(hash, (uintptr_t)parameters[i]);
    return hash;
}

static uint64_t hash_of(const ctype *type) {
    if (type->kind == CTYPE_ARRAY) return hash_array(type->item, type->length);
    return hash_function(type->item, type->parameters, type->parameter_count, type->ellipsis);
}

static bool reserve(dvx_vm *vm, ffi_state *state) {
    if (state->table_count < state->table_size) return true;
    uint32_t size = state->table_size ? state->table_size * 2 : 64;
    ctype **table = ffi_new(vm, size * sizeof *table);
    if (!table) return false;
    for (uint32_t i = 0; i < state->table_size; i++) {
        ctype *next;
        for (ctype *type = state->table[i]; type; type = next) {
            next = type->chained;
            ctype **head = &table[hash_of(type) & (size - 1)];
            type->chained = *head;
            *head = type;
        }
    }
    vm->api->deallocate(vm, state->table, state->table_size * sizeof *table);
    state->table = table;
    state->table_size = size;
    return true;
}

static ctype *intern(ffi_state *state, ctype *type) {
    ctype **head = &state->table[hash_of(type) & (state->table_size - 1)];
    type->chained = *head;
    *head = type;
    state->table_count++;
    return type;
}

/* Brackets for what a star or a name would else bind to. */
static bool needs_brackets(const ctype *item) {
    return item->kind == CTYPE_ARRAY || item->kind == CTYPE_FUNCTION;
}

ctype *ctype_pointer_to(dvx_vm *vm, ctype *item) {
    if (item->pointer) return item->pointer;
    ctype_kind kind = item->kind == CTYPE_FUNCTION ? CTYPE_FUNCTION_POINTER : CTYPE_POINTER;
    ctype *type = make_on(vm, kind, item, needs_brackets(item) ? "(*)" : " *", 2);
    if (!type) return NULL;
    type->size = sizeof(void *);
    type->align = _Alignof(void *);
    type->foreign = &ffi_type_pointer;
    type->item = item;
    return item->pointer = type;
}

static ctype *find_array(const ffi_state *state, const ctype *item, int64_t length) {
    ctype *type = state->table[hash_array(item, length) & (state->table_size - 1)];
    while (type && (type->kind != CTYPE_ARRAY || type->item != item || type->length != length))
        type = type->chained;
    return type;
}

ctype *ctype_array_of(dvx_vm *vm, ctype *item, int64_t length) {
    ffi_state *state = item->state;
    if (!reserve(vm, state)) return NULL;
    ctype *type = find_array(state, item, length);
    if (type) return type;
    int64_t size = -1;
    if (!layout_of(vm, item)) return NULL;
    if (item->size < 0) {
        ffi_raise(vm, DVX_VALUE_ERROR, "array item of unknown size: '%s'", item->name);
        return NULL;
    }
    if (length >= 0 && __builtin_mul_overflow(item->size, length, &size)) {
        ffi_raise(vm, DVX_OVERFLOW_ERROR, "array size would overflow a Py_ssize_t");
        return NULL;
    }
    char brackets[32] = "[]";
    if (length >= 0) snprintf(brackets, sizeof brackets, "[%lld]", (long long)length);
    if (!ctype_pointer_to(vm, item)) return NULL;
    type = make_on(vm, CTYPE_ARRAY, item, brackets, 0);
    if (!type) return NULL;
    type->item = item;
    type->length = length;
    type->size = size;
    type->align = item->align;
    return intern(state, type);
}

static ctype *find_function(const ffi_state *state, const ctype *result, ctype *const *parameters,
                            uint32_t count, bool ellipsis) {
    uint64_t hash = hash_function(result, parameters, count, ellipsis);
    for (ctype *t = state->table[hash & (state->table_size - 1)]; t; t = t->chained)
        if (t->kind == CTYPE_FUNCTION && t->item == result && t->parameter_count == count &&
            t->ellipsis == ellipsis &&
            (!count || memcmp(t->parameters, parameters, count * sizeof *parameters) == 0))
            return t;
    return NULL;
}

/* "(int, char *, ...)" in memory of its own. */
static char *parameter_text(dvx_vm *vm, ctype *const *parameters, uint32_t count, bool ellipsis,
                            size_t *size) {
    *size = sizeof "(, ...)";
    for (uint32_t i = 0; i < count; i++) *size += parameters[i]->name_size + 2;
    char *text = vm->api->allocate(vm, *size), *at = text;
    if (!text) return NULL;
    *at++ = '(';
    for (uint32_t i = 0; i < count; i++)
        at += sprintf(at, "%s%s", i ? ", " : "", parameters[i]->name);
    if (ellipsis) at += sprintf(at, "%s...", count ? ", " : "");
    strcpy(at, ")");
    return text;
}

ctype *ctype_function(dvx_vm *vm, ctype *result, ctype *const *parameters, uint32_t count,
                      bool ellipsis) {
    ffi_state *state = result->state;
    if (!reserve(vm, state)) return NULL;
    ctype *type = find_function(state, result, parameters, count, ellipsis);
    if (type) return type;
    size_t text_size;
    char *text = parameter_text(vm, parameters, count, ellipsis, &text_size);
    if (!text) return NULL;
    type = make_on(vm, CTYPE_FUNCTION, result, text, 0);
    vm->api->deallocate(vm, text, text_size);
    if (!type) return NULL;
    type->item = result;
    type->ellipsis = ellipsis;
    if (count) {
        type->parameters = vm->api->allocate(vm, count * sizeof *parameters);
        if (!type->parameters) return NULL;
        memcpy(type->parameters, parameters, count * sizeof *parameters);
        type->parameter_count = count;
    }
    return intern(state, type);
}

/* ---- Finding ---- */

ctype *ctype_primitive(ffi_state *state, const char *name, size_t size) {
    for (ctype *type = state->all; type; type = type->next)
        if (type->kind <= CTYPE_COMPLEX && type->name_size == size &&
            memcmp(type->name, name, size) == 0)
            return type;
    return NULL;
}

const ctype_field *ctype_find_field(const ctype *type, const char *name, size_t size) {
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ctype_field *field = &type->fields[i];
        if (strncmp(field->name, name, size) == 0 && !field->name[size]) return field;
    }
    return NULL;
}

/* ---- The state ---- */

static bool add_primitive(dvx_vm *vm, ffi_state *state, const primitive *p) {
    size_t size = strlen(p->name);
    ctype *type = make(vm, state, p->kind, copy_text(vm, p->name, size), size, size);
    if (!type) return false;
    if (p->kind != CTYPE_VOID) type->size = p->size;
    type->align = p->align;
    type->is_signed = p->is_signed;
    type->foreign = foreign_primitive(type);
    return true;
}

bool ctype_setup(dvx_vm *vm, ffi_state *state) {
    static const primitive nothing = {"void", CTYPE_VOID, false, 0, 1};
    if (!add_primitive(vm, state, &nothing)) return false;
    state->void_type = state->all;
    for (size_t i = 0; i < LENGTH_OF(primitives); i++)
        if (!add_primitive(vm, state, &primitives[i])) return false;
    state->char_type = ctype_primitive(state, "char", 4);
    state->int_type = ctype_primitive(state, "int", 3);
    state->double_type = ctype_primitive(state, "double", 6);
    state->file_type = ctype_tagged(vm, CTYPE_STRUCT, "FILE");
    state->void_pointer = ctype_pointer_to(vm, state->void_type);
    state->char_array = ctype_array_of(vm, state->char_type, -1);
    return state->file_type && state->void_pointer && state->char_array;
}

static void free_type(dvx_vm *vm, ctype *type) {
    if (type->has_object) vm->api->release(vm, type->object);
    for (uint32_t i = 0; i < type->declared_count; i++)
        vm->api->deallocate(vm, type->declared[i].name, strlen(type->declared[i].name) + 1);
    vm->api->deallocate(vm, type->declared, type->declared_capacity * sizeof *type->declared);
    for (uint32_t i = 0; i < type->enumerator_count; i++)
        vm->api->deallocate(vm, type->enumerators[i].name, strlen(type->enumerators[i].name) + 1);
    vm->api->deallocate(vm, type->fields, type->field_capacity * sizeof *type->fields);
    vm->api->deallocate(vm, type->enumerators, type->enumerator_count * sizeof *type->enumerators);
    vm->api->deallocate(vm, type->parameters, type->parameter_count * sizeof *type->parameters);
    vm->api->deallocate(vm, type->described, type->described_size);
    if (type->plan) call_plan_free(vm, type->plan);
    vm->api->deallocate(vm, type->name, type->name_size + 1);
    vm->api->deallocate(vm, type, sizeof *type);
}

void ctype_free_all(dvx_vm *vm, ffi_state *state) {
    while (state->all) {
        ctype *type = state->all;
        state->all = type->next;
        free_type(vm, type);
    }
    vm->api->deallocate(vm, state->table, state->table_size * sizeof *state->table);
}
