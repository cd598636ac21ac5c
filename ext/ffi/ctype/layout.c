/* layout.c: offsets, bit fields, sizes, and libffi's view of them (layout.h). */
#include "ctype/layout.h"

#include <stdint.h>

typedef struct layout {
    ctype *type;
    int64_t bits, most; /* end of the last member, and of all */
    uint32_t align;
} layout;

static bool add_field(dvx_vm *vm, ctype *type, ctype_field field) {
    if (ctype_find_field(type, field.name, strlen(field.name))) {
        ffi_raise(vm, DVX_KEY_ERROR, "duplicate field name '%s'", field.name);
        return false;
    }
    if (!ffi_grow(vm, (void **)&type->fields, type->field_count, &type->field_capacity,
                  sizeof field))
        return false;
    type->fields[type->field_count++] = field;
    return true;
}

/* The members of an anonymous member are members of the outer type. */
static bool add_nested(dvx_vm *vm, ctype *type, const ctype *nested, int64_t offset,
                       bool not_positional) {
    type->by_hand = true;
    for (uint32_t i = 0; i < nested->field_count; i++) {
        ctype_field field = nested->fields[i];
        field.offset += offset;
        field.not_positional |= not_positional;
        if (!add_field(vm, type, field)) return false;
    }
    return true;
}

static bool place_member(dvx_vm *vm, layout *l, const ctype_field *declared, uint32_t align,
                         bool first) {
    ctype *type = l->type, *member = declared->type;
    int64_t step = (int64_t)align * 8;
    l->bits = (l->bits + step - 1) & ~(step - 1);
    bool not_positional = type->kind == CTYPE_UNION && !first;
    ctype_field field = *declared;
    field.offset = l->bits / 8;
    field.not_positional = not_positional;
    if (member->kind == CTYPE_ARRAY && member->length <= 0) field.bit_shift = -2; /* as in cffi */
    bool placed = !*declared->name && ctype_is_record(member)
                      ? add_nested(vm, type, member, field.offset, not_positional)
                      : add_field(vm, type, field);
    if (placed && member->size >= 0) l->bits += member->size * 8;
    return placed;
}

static bool may_be_bit_field(const ctype *member) {
    return ctype_is_integer(member) || member->kind == CTYPE_CHAR;
}

static bool check_bit_field(dvx_vm *vm, const ctype *type, const ctype_field *declared) {
    const ctype *member = declared->type;
    if (!may_be_bit_field(member))
        return ffi_fail(vm, DVX_TYPE_ERROR, "field '%s.%s' declared as '%s' cannot be a bit field",
                        type->name, declared->name, member->name);
    if (declared->bit_size > 8 * member->size)
        return ffi_fail(vm, DVX_TYPE_ERROR,
                        "bit field '%s.%s' is declared '%s:%d', which exceeds the width of the "
                        "type",
                        type->name, declared->name, member->name, declared->bit_size);
    if (declared->bit_size == 0 && *declared->name)
        return ffi_fail(vm, DVX_TYPE_ERROR, "field '%s.%s' is declared with :0", type->name,
                        declared->name);
    return true;
}

/* A bit field stays in the unit of its type that the last bit is in, if there is room. */
static bool place_bits(dvx_vm *vm, layout *l, const ctype_field *declared, uint32_t align,
                       bool first) {
    ctype *type = l->type;
    if (!check_bit_field(vm, type, declared)) return false;
    type->by_hand = true;
    int64_t unit = l->bits / 8 & ~((int64_t)align - 1), used = l->bits - unit * 8;
    if (declared->bit_size == 0) {
        if (used > 0) l->bits = (unit + align) * 8;
        return true;
    }
    if (used + declared->bit_size > 8 * declared->type->size) {
        if (type->pack && (used & 7)) {
            ffi_raise(
                vm, DVX_NOT_IMPLEMENTED_ERROR,
                "with 'packed', gcc would compile field '%s.%s' to reuse some bits in the previous "
                "field",
                type->name, declared->name);
            return false;
        }
        unit += align;
        l->bits = unit * 8;
        used = 0;
    }
    l->bits += declared->bit_size;
    if (!*declared->name) return true;
    ctype_field field = *declared;
    field.offset = unit;
    field.bit_shift = (int16_t)used;
    field.not_positional = type->kind == CTYPE_UNION && !first;
    return add_field(vm, type, field);
}

static bool check_size(dvx_vm *vm, ctype *type, const ctype_field *declared, bool last) {
    const ctype *member = declared->type;
    if (member->size >= 0) {
        type->flexible |= last && member->kind == CTYPE_STRUCT && member->flexible;
        return true;
    }
    if (member->kind == CTYPE_ARRAY && last && declared->bit_size < 0) {
        type->flexible = type->by_hand = true;
        return true;
    }
    return ffi_fail(vm, DVX_TYPE_ERROR, "field '%s.%s' has ctype '%s' of unknown size", type->name,
                    declared->name, member->name);
}

static bool place(dvx_vm *vm, layout *l, uint32_t i) {
    ctype *type = l->type;
    const ctype_field *declared = &type->declared[i];
    if (!layout_of(vm, declared->type) ||
        !check_size(vm, type, declared, i + 1 == type->declared_count))
        return false;
    uint32_t align = declared->type->align;
    if (type->pack && align > type->pack) align = type->pack, type->by_hand = true;
    bool aligns = declared->bit_size < 0 || *declared->name;
    if (aligns && l->align < align) l->align = align;
    if (type->kind == CTYPE_UNION) l->bits = 0;
    bool placed = declared->bit_size < 0 ? place_member(vm, l, declared, align, i == 0)
                                         : place_bits(vm, l, declared, align, i == 0);
    if (l->bits > l->most) l->most = l->bits;
    return placed;
}

static bool lay_out(dvx_vm *vm, ctype *type) {
    layout l = {type, 0, 0, 1};
    for (uint32_t i = 0; i < type->declared_count; i++)
        if (!place(vm, &l, i)) {
            type->field_count = 0;
            return false;
        }
    int64_t bytes = (l.most + 7) / 8, align = l.align;
    type->size = (bytes + align - 1) & ~(align - 1);
    if (type->size == 0) type->size = 1;
    type->align = l.align;
    type->complete = true;
    return true;
}

bool layout_of(dvx_vm *vm, ctype *type) {
    while (type->kind == CTYPE_ARRAY) type = type->item;
    if (!ctype_is_record(type) || !type->has_members || type->complete) return true;
    if (type->laying_out) {
        ffi_raise(vm, DVX_NOT_IMPLEMENTED_ERROR, "recursive structure declaration for '%s'",
                  type->name);
        return false;
    }
    if (!vm->api->enter(vm)) return false;
    type->laying_out = true;
    bool done = lay_out(vm, type);
    type->laying_out = false;
    vm->api->leave(vm);
    return done;
}

/* ---- libffi ---- */

static ffi_type *refuse(dvx_vm *vm, const ctype *type, const char *place, const char *why) {
    ffi_raise(vm, DVX_NOT_IMPLEMENTED_ERROR,
              "ctype '%s' not supported as %s.  %s.  Such structs are only supported as %s if the "
              "function is 'API mode' and non-variadic (i.e. declared inside "
              "ffibuilder.cdef()+ffibuilder.set_source() and not taking a final '...' argument)",
              type->name, place, why, place);
    return NULL;
}

static bool has_bit_fields(const ctype *type) {
    for (uint32_t i = 0; i < type->declared_count; i++)
        if (type->declared[i].bit_size >= 0) return true;
    return false;
}

static int64_t elements_of(const ctype_field *field, ctype **element) {
    int64_t count = 1;
    *element = field->type;
    for (; (*element)->kind == CTYPE_ARRAY; *element = (*element)->item)
        count *= (*element)->length;
    return count;
}

static bool count_elements(dvx_vm *vm, const ctype *type, const char *place, size_t *count) {
    for (uint32_t i = 0; i < type->field_count; i++) {
        ctype *element;
        int64_t own = elements_of(&type->fields[i], &element);
        if (own == 0)
            return refuse(vm, type, place,
                          "It is a struct with a zero-length array, which libffi does not support");
        *count += (size_t)own;
    }
    return true;
}

/* A copy of the description, which libffi fills in, with its elements behind it. */
static ffi_type *describe(dvx_vm *vm, ctype *type, const char *place) {
    size_t count = 0, at = 0;
    if (!count_elements(vm, type, place, &count)) return NULL;
    size_t size = sizeof(ffi_type) + (count + 1) * sizeof(ffi_type *);
    ffi_type *made = ffi_new(vm, size);
    if (!made) return NULL;
    type->described = made;
    type->described_size = size;
    made->type = FFI_TYPE_STRUCT;
    made->size = (size_t)type->size;
    made->alignment = (unsigned short)type->align;
    made->elements = (ffi_type **)(void *)(made + 1);
    for (uint32_t i = 0; i < type->field_count; i++) {
        ctype *element;
        int64_t own = elements_of(&type->fields[i], &element);
        ffi_type *foreign = layout_foreign(vm, element, place);
        if (!foreign) return NULL;
        for (int64_t k = 0; k < own; k++) made->elements[at++] = foreign;
    }
    return type->foreign = made;
}

static ffi_type *describe_struct(dvx_vm *vm, ctype *type, const char *place) {
    if (has_bit_fields(type))
        return refuse(vm, type, place,
                      "It is a struct with bit fields, which libffi does not support");
    if (type->pack && type->by_hand)
        return refuse(vm, type, place,
                      "It is a 'packed' structure, with a different layout than expected by "
                      "libffi");
    if (type->by_hand)
        return refuse(vm, type, place,
                      "It is a struct declared with \"...;\", but the C calling convention may "
                      "depend on the missing fields; or, it contains anonymous struct/unions");
    vm->api->deallocate(vm, type->described, type->described_size);
    type->described = NULL;
    type->described_size = 0;
    return describe(vm, type, place);
}

ffi_type *layout_foreign(dvx_vm *vm, ctype *type, const char *place) {
    if (type->foreign) return type->foreign;
    if (!layout_of(vm, type)) return NULL;
    if (type->kind == CTYPE_STRUCT && type->size > 0) return describe_struct(vm, type, place);
    if ((ctype_is_record(type) && type->size < 0) || type->kind == CTYPE_VOID) {
        ffi_raise(vm, DVX_TYPE_ERROR, "ctype '%s' has incomplete type", type->name);
        return NULL;
    }
    if (type->kind == CTYPE_UNION && type->size > 0) {
        ffi_raise(
            vm, DVX_NOT_IMPLEMENTED_ERROR,
            "ctype '%s' not supported as %s by libffi.  Unions are only supported as %s if the "
            "function is 'API mode' and non-variadic (i.e. declared inside "
            "ffibuilder.cdef()+ffibuilder.set_source() and not taking a final '...' argument)",
            type->name, place, place);
        return NULL;
    }
    ffi_raise(
        vm, DVX_NOT_IMPLEMENTED_ERROR, "ctype '%s' (size %lld) not supported as %s%s", type->name,
        (long long)type->size, place,
        type->kind == CTYPE_COMPLEX
            ? " (the support for complex types inside libffi is mostly missing at this point, so "
              "CFFI only supports complex types as arguments or return value in API-mode functions)"
            : "");
    return NULL;
}
