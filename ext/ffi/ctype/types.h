/* types.h: C types, interned, and what a VM knows of them (ffi_state).
 *
 * Invariants
 *  1. Two types are the same C type exactly if they are the same ctype, so that types are compared
 *     by address.  Qualifiers do not count.
 *  2. A ctype lives as long as the VM; its name and what it was made of never change, but for a
 *     struct, union or enum, which may be completed once and named by one typedef.
 *  3. `size` is -1 where C does not know it: void, functions, opaque structs, arrays without a
 *     length.
 *  4. A name has a place for a declarator: "int(*)(char)" has it behind the star. */
#ifndef FFI_TYPES_H
#define FFI_TYPES_H

#include "base.h"

#include <ffi.h>

typedef enum ctype_kind {
    CTYPE_VOID,
    CTYPE_SIGNED,
    CTYPE_UNSIGNED,
    CTYPE_BOOL,
    CTYPE_CHAR, /* char, wchar_t, char16_t, char32_t: bytes or str in dl */
    CTYPE_FLOAT,
    CTYPE_LONG_DOUBLE,
    CTYPE_COMPLEX,
    CTYPE_ENUM, /* the last primitive one */
    CTYPE_POINTER,
    CTYPE_FUNCTION_POINTER, /* its item is the function */
    CTYPE_ARRAY,
    CTYPE_STRUCT,
    CTYPE_UNION,
    CTYPE_FUNCTION
} ctype_kind;

typedef struct ctype ctype;
typedef struct ffi_state ffi_state;

typedef struct ctype_field {
    char *name; /* of a declared one that has none: empty */
    ctype *type;
    int64_t offset;
    int16_t bit_shift, bit_size; /* bit_size -1: no bit field */
    bool not_positional;         /* lists initialise the first member of an anonymous union alone */
} ctype_field;

typedef struct ctype_enumerator {
    char *name;
    int64_t value; /* of an unsigned enum: its bits */
} ctype_enumerator;

struct ctype {
    ctype_kind kind;
    bool is_signed; /* SIGNED; CHAR (wchar_t) and ENUM by their values */
    bool complete;  /* STRUCT, UNION: `fields` and `size` are known (layout.h) */
    bool flexible;  /* STRUCT: the last member is an array without length */
    bool by_hand;   /* STRUCT: libffi cannot pass it (bit fields, packed, anonymous members) */
    bool ellipsis;  /* FUNCTION */
    bool forced;    /* STRUCT, UNION, ENUM: a typedef has named it */
    uint32_t align;
    int64_t size;
    char *name;
    size_t name_size, position; /* where a declarator goes */
    ctype *item;                /* POINTER, FUNCTION_POINTER, ARRAY; result of a FUNCTION */
    int64_t length;             /* ARRAY; -1: open */
    ctype **parameters;         /* FUNCTION */
    uint32_t parameter_count;
    ctype_field *declared; /* STRUCT, UNION: as they were declared; they own the names */
    uint32_t declared_count, declared_capacity, pack;
    bool has_members, laying_out;
    ctype_field *fields; /* as they are found: those of anonymous members included */
    uint32_t field_count, field_capacity;
    ctype_enumerator *enumerators;
    uint32_t enumerator_count;
    ffi_type *foreign;   /* libffi's description, made when it is needed */
    ffi_type *described; /* STRUCT: `foreign`, to be freed; its elements lie behind it */
    size_t described_size;
    struct call_plan *plan; /* FUNCTION: how it is called (call.h) */
    ctype *pointer;         /* to this, if it was made */
    ctype *chained;         /* next with the same hash */
    ctype *next;            /* in the state's list of all */
    ffi_state *state;
    bool has_object;
    dvx_value object; /* the ctype object in dl */
};

/* What a VM knows. */
struct ffi_state {
    bool ready; /* init is done */
    ctype *all;
    ctype **table; /* interned types by hash */
    uint32_t table_size, table_count;
    ctype *void_type, *void_pointer, *char_type, *char_array, *int_type, *double_type, *file_type;
    int saved_errno;
    uint64_t library_count; /* opened so far */
    struct cdata **handles; /* live ones of new_handle by address (handle.c) */
    uint32_t handle_size, handle_count;
    dvx_value cdef_error, ffi_error;
    uint32_t error_count; /* so many of them were made */
    dvx_value null;       /* ffi.NULL */
};

ffi_state *ffi_state_of(dvx_vm *vm);

/* A primitive type by the name that cffi gives it; NULL: there is none (nothing is raised). */
ctype *ctype_primitive(ffi_state *state, const char *name, size_t size);
/* What a common name stands for: "bool" for "_Bool"; NULL: none. */
const char *ctype_common_name(const char *name, size_t size);

ctype *ctype_pointer_to(dvx_vm *vm, ctype *item);
ctype *ctype_array_of(dvx_vm *vm, ctype *item, int64_t length); /* -1: open */
ctype *ctype_function(dvx_vm *vm, ctype *result, ctype *const *parameters, uint32_t count,
                      bool ellipsis);
/* A new struct, union or enum; not interned. */
ctype *ctype_tagged(dvx_vm *vm, ctype_kind kind, const char *name);
bool ctype_rename(dvx_vm *vm, ctype *type, const char *name);
/* Takes the enumerators; chooses the size. */
bool ctype_complete_enum(dvx_vm *vm, ctype *type, ctype_enumerator *enumerators, uint32_t count);

/* The name with a text at the place of the declarator, in memory of its own; NULL: raised. */
char *ctype_name_with(dvx_vm *vm, const ctype *type, const char *text, size_t *size);

static inline bool ctype_is_integer(const ctype *t) {
    return (t->kind >= CTYPE_SIGNED && t->kind <= CTYPE_BOOL) || t->kind == CTYPE_ENUM;
}
static inline bool ctype_is_primitive(const ctype *t) {
    return t->kind >= CTYPE_SIGNED && t->kind <= CTYPE_ENUM;
}
static inline bool ctype_is_pointer(const ctype *t) {
    return t->kind == CTYPE_POINTER || t->kind == CTYPE_FUNCTION_POINTER;
}
static inline bool ctype_is_record(const ctype *t) {
    return t->kind == CTYPE_STRUCT || t->kind == CTYPE_UNION;
}
static inline bool ctype_is_void_pointer(const ctype *t) {
    return t->kind == CTYPE_POINTER && t->item->kind == CTYPE_VOID;
}
/* A type of one byte that may take bytes: char, int8_t, uint8_t, _Bool. */
static inline bool ctype_is_byte(const ctype *t) {
    return t->size == 1 && t->kind != CTYPE_STRUCT && t->kind != CTYPE_UNION &&
           t->kind != CTYPE_ARRAY;
}

/* The field of this name; NULL: none. */
const ctype_field *ctype_find_field(const ctype *type, const char *name, size_t size);

bool ctype_setup(dvx_vm *vm, ffi_state *state);
void ctype_free_all(dvx_vm *vm, ffi_state *state);

#endif
