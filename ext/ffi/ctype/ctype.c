/* ctype.c: the CType and CField objects (ctype.h). */
#include "ctype/ctype.h"

#include <stdio.h>

#include "ctype/layout.h"

typedef struct ctype_holder {
    ctype *type; /* NULL: made by nobody */
} ctype_holder;

/* A field's object keeps no reference: its type lives as long as the VM. */
typedef struct field_holder {
    ctype *type;
    int64_t offset, bit_shift, bit_size, flags;
} field_holder;

extern const dvx_type field_type;

ctype *ctype_of_object(dvx_vm *vm, dvx_value v) {
    const ctype_holder *holder = vm->api->payload(vm, v, &ctype_type);
    return holder ? holder->type : NULL;
}

dvx_value ctype_object(dvx_vm *vm, ctype *type) {
    void *payload;
    if (!type->has_object) {
        dvx_value made = vm->api->make_object(vm, &ctype_type, &payload);
        if (dvx_failed(made)) return made;
        ((ctype_holder *)payload)->type = type;
        type->object = made;
        type->has_object = true;
    }
    return vm->api->retain(vm, type->object);
}

static dvx_value repr(dvx_vm *vm, dvx_value self) {
    const ctype *type = ctype_of_object(vm, self);
    size_t size = type->name_size + sizeof "<ctype ''>";
    char *text = vm->api->allocate(vm, size);
    if (!text) return DVX_FAILED;
    snprintf(text, size, "<ctype '%s'>", type->name);
    dvx_value made = ffi_str(vm, text);
    vm->api->deallocate(vm, text, size);
    return made;
}

/* ---- Attributes that every type has ---- */

static dvx_value get_name(dvx_vm *vm, dvx_value self) {
    return ffi_str(vm, ctype_of_object(vm, self)->name);
}

static dvx_value get_kind(dvx_vm *vm, dvx_value self) {
    switch (ctype_of_object(vm, self)->kind) {
    case CTYPE_VOID: return ffi_str(vm, "void");
    case CTYPE_ENUM: return ffi_str(vm, "enum");
    case CTYPE_POINTER: return ffi_str(vm, "pointer");
    case CTYPE_FUNCTION:
    case CTYPE_FUNCTION_POINTER: return ffi_str(vm, "function");
    case CTYPE_ARRAY: return ffi_str(vm, "array");
    case CTYPE_STRUCT: return ffi_str(vm, "struct");
    case CTYPE_UNION: return ffi_str(vm, "union");
    default: return ffi_str(vm, "primitive");
    }
}

/* ---- Attributes of some ---- */

static dvx_value field_object(dvx_vm *vm, const ctype_field *field) {
    void *payload;
    dvx_value made = vm->api->make_object(vm, &field_type, &payload);
    if (dvx_failed(made)) return made;
    *(field_holder *)payload = (field_holder){field->type, field->offset, field->bit_shift,
                                              field->bit_size, field->not_positional ? 2 : 0};
    return made;
}

/* [(name, CField)], or None of an opaque type. */
static dvx_value fields_of(dvx_vm *vm, const ctype *type) {
    if (!type->complete) return ffi_none(vm);
    dvx_value list = vm->api->make_list(vm, NULL, 0);
    bool good = !dvx_failed(list);
    for (uint32_t i = 0; i < type->field_count && good; i++) {
        dvx_value pair[] = {ffi_str(vm, type->fields[i].name), field_object(vm, &type->fields[i])};
        dvx_value both = vm->api->make_tuple(vm, pair, 2);
        good = vm->api->append(vm, list, both);
        vm->api->release(vm, both);
        vm->api->release(vm, pair[0]);
        vm->api->release(vm, pair[1]);
    }
    if (good) return list;
    vm->api->release(vm, list);
    return DVX_FAILED;
}

static dvx_value parameters_of(dvx_vm *vm, const ctype *function) {
    dvx_value list = vm->api->make_list(vm, NULL, 0);
    bool good = !dvx_failed(list);
    for (uint32_t i = 0; i < function->parameter_count && good; i++) {
        dvx_value one = ctype_object(vm, function->parameters[i]);
        good = vm->api->append(vm, list, one);
        vm->api->release(vm, one);
    }
    dvx_value class_ = good ? vm->api->builtin(vm, "tuple") : DVX_FAILED;
    dvx_value made = good ? vm->api->call(vm, class_, &list, 1) : DVX_FAILED;
    vm->api->release(vm, class_);
    vm->api->release(vm, list);
    return made;
}

static dvx_value enumerators_of(dvx_vm *vm, const ctype *type, bool by_name) {
    dvx_value dict = vm->api->make_dict(vm);
    bool good = !dvx_failed(dict);
    for (uint32_t i = 0; i < type->enumerator_count && good; i++) {
        /* From the last one, as in cffi: a number leads to the first of several names. */
        const ctype_enumerator *e = &type->enumerators[type->enumerator_count - 1 - i];
        dvx_value name = ffi_str(vm, e->name);
        dvx_value number = type->is_signed ? vm->api->make_int(vm, e->value)
                                           : vm->api->make_uint(vm, (uint64_t)e->value);
        good = by_name ? vm->api->set_item(vm, dict, name, number)
                       : vm->api->set_item(vm, dict, number, name);
        vm->api->release(vm, name);
        vm->api->release(vm, number);
    }
    if (good) return dict;
    vm->api->release(vm, dict);
    return DVX_FAILED;
}

static bool is_attribute(const char *name) {
    static const char *const names[] = {"item",     "length", "fields",   "args",     "result",
                                        "ellipsis", "abi",    "elements", "relements"};
    for (size_t i = 0; i < LENGTH_OF(names); i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

/* 1: *out is new, 0: no type has such an attribute, -1: this one has not, or raised. */
static int find(dvx_vm *vm, dvx_value self, dvx_value name, dvx_value *out) {
    char text[16];
    size_t size;
    ctype *type = ctype_of_object(vm, self);
    if (!vm->api->read_str(vm, name, text, sizeof text, &size)) return -1;
    if (size >= sizeof text) return 0;
    bool function = type->kind == CTYPE_FUNCTION_POINTER;
    if (strcmp(text, "item") == 0 && (type->kind == CTYPE_POINTER || type->kind == CTYPE_ARRAY))
        *out = ctype_object(vm, type->item);
    else if (strcmp(text, "length") == 0 && type->kind == CTYPE_ARRAY)
        *out = type->length < 0 ? ffi_none(vm) : vm->api->make_int(vm, type->length);
    else if (strcmp(text, "fields") == 0 && ctype_is_record(type))
        *out = layout_of(vm, type) ? fields_of(vm, type) : DVX_FAILED;
    else if (strcmp(text, "args") == 0 && function)
        *out = parameters_of(vm, type->item);
    else if (strcmp(text, "result") == 0 && function)
        *out = ctype_object(vm, type->item->item);
    else if (strcmp(text, "ellipsis") == 0 && function)
        *out = vm->api->make_bool(vm, type->item->ellipsis);
    else if (strcmp(text, "abi") == 0 && function)
        *out = vm->api->make_int(vm, FFI_DEFAULT_ABI);
    else if (strcmp(text, "elements") == 0 && type->kind == CTYPE_ENUM)
        *out = enumerators_of(vm, type, false);
    else if (strcmp(text, "relements") == 0 && type->kind == CTYPE_ENUM)
        *out = enumerators_of(vm, type, true);
    else
        return is_attribute(text) ? (ffi_fail(vm, DVX_ATTRIBUTE_ERROR, "%s", text), -1) : 0;
    return dvx_failed(*out) ? -1 : 1;
}

static const dvx_attribute name_attribute = {sizeof(dvx_attribute), "cname", get_name, NULL};
static const dvx_attribute kind_attribute = {sizeof(dvx_attribute), "kind", get_kind, NULL};
static const dvx_attribute *const attributes[] = {&name_attribute, &kind_attribute};

const dvx_type ctype_type = {
    .size = sizeof(dvx_type),
    .name = "CType",
    .doc = "A C type.",
    .payload = sizeof(ctype_holder),
    .repr = repr,
    .attribute_count = LENGTH_OF(attributes),
    .attributes = attributes,
    .find_attribute = find,
};

/* ---- Fields ---- */

static const field_holder *field_of(dvx_vm *vm, dvx_value v) {
    return vm->api->payload(vm, v, &field_type);
}

static dvx_value get_type(dvx_vm *vm, dvx_value self) {
    return ctype_object(vm, field_of(vm, self)->type);
}
static dvx_value get_offset(dvx_vm *vm, dvx_value self) {
    return vm->api->make_int(vm, field_of(vm, self)->offset);
}
static dvx_value get_bit_shift(dvx_vm *vm, dvx_value self) {
    return vm->api->make_int(vm, field_of(vm, self)->bit_shift);
}
static dvx_value get_bit_size(dvx_vm *vm, dvx_value self) {
    return vm->api->make_int(vm, field_of(vm, self)->bit_size);
}
static dvx_value get_flags(dvx_vm *vm, dvx_value self) {
    return vm->api->make_int(vm, field_of(vm, self)->flags);
}

static const dvx_attribute field_attributes_of[] = {
    {sizeof(dvx_attribute), "type", get_type, NULL},
    {sizeof(dvx_attribute), "offset", get_offset, NULL},
    {sizeof(dvx_attribute), "bitshift", get_bit_shift, NULL},
    {sizeof(dvx_attribute), "bitsize", get_bit_size, NULL},
    {sizeof(dvx_attribute), "flags", get_flags, NULL},
};
static const dvx_attribute *const field_attributes[] = {
    &field_attributes_of[0], &field_attributes_of[1], &field_attributes_of[2],
    &field_attributes_of[3], &field_attributes_of[4],
};

const dvx_type field_type = {
    .size = sizeof(dvx_type),
    .name = "CField",
    .doc = "A member of a struct or union.",
    .payload = sizeof(field_holder),
    .attribute_count = LENGTH_OF(field_attributes),
    .attributes = field_attributes,
};

bool ctype_setup_classes(dvx_vm *vm, dvx_value module) {
    return vm->api->add_type(vm, module, &ctype_type) && vm->api->add_type(vm, module, &field_type);
}
