/* scope.h: what the cdefs of one FFI have declared, by kind and name.
 *
 * Invariants
 *  1. A scope is shared by its FFI and the libraries opened through it, and counts them.
 *  2. Declarations stay, but for those of a text that is no C; with override=True one is changed.
 */
#ifndef FFI_SCOPE_H
#define FFI_SCOPE_H

#include "ctype/types.h"

/* Wide enough for every constant of C, signed or not. */
typedef __int128 scope_integer;

typedef enum declaration_kind {
    DECLARED_TYPEDEF,
    DECLARED_STRUCT,
    DECLARED_UNION,
    DECLARED_ENUM,
    DECLARED_FUNCTION, /* the type is the function's, not that of a pointer */
    DECLARED_VARIABLE,
    DECLARED_CONSTANT, /* a constant that is no integer */
    DECLARED_INTEGER,
    DECLARED_TEXT /* no declaration: the type that a text was parsed as */
} declaration_kind;

typedef struct declaration {
    declaration_kind kind;
    char *name;
    size_t size;
    ctype *type;
    scope_integer value;
} declaration;

typedef struct scope {
    uint32_t references;
    declaration *declarations;
    uint32_t count, capacity;
    uint32_t *table, table_size; /* index + 1 by hash; 0: free */
    uint32_t anonymous;          /* so many structs without a name so far */
} scope;

scope *scope_new(dvx_vm *vm);
static inline scope *scope_share(scope *s) { return s->references++, s; }
void scope_release(dvx_vm *vm, scope *s); /* NULL is allowed */

declaration *scope_find(const scope *s, declaration_kind kind, const char *name, size_t size);
/* A new declaration, whatever there is; NULL: raised. */
declaration *scope_add(dvx_vm *vm, scope *s, declaration_kind kind, const char *name, size_t size,
                       ctype *type);

/* Forgets all declarations but the first `count`. */
void scope_cut(dvx_vm *vm, scope *s, uint32_t count);

#endif
