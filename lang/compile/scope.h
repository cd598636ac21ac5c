/* scope.h: which name means what.
 *
 * One pass over the tree gives every function, class and module a scope with the names that occur
 * in it, and every DV_EXPR_NAME its symbol; it also refuses what the compiler cannot do yet
 * (refuse.h). Then each symbol is resolved: a local variable, a variable shared with a function
 * around or inside, a name of a class body, or a global.
 *
 * A list, set or dict comprehension in a function is a function to the program only: it is compiled
 * as a loop in the function around it, its *host*, where its variables have locals of their own
 * (as in CPython 3.12, PEP 709; what the program sees is 3.11).  It stays a function if another one
 * inside uses its variables, each call having its own, and if it could see where it runs: `super()`
 * and the like.
 *
 * A generator expression in a function is one, too, if it is the argument of a builtin that takes
 * all that it yields (dv_consumer), as far as the module's text tells what that name means: nothing
 * in the module or the functions around binds it.  It then has two forms (compile_comprehension.h):
 * the loop, and the function it is if the name means something else at run time, which takes the
 * *values* of the host's locals (dv_scope_outline).
 */
#ifndef DV_LANG_SCOPE_H
#define DV_LANG_SCOPE_H

#include "lang/front/ast.h"

typedef enum dv_scope_kind { DV_SCOPE_MODULE, DV_SCOPE_CLASS, DV_SCOPE_FUNCTION } dv_scope_kind;

typedef enum dv_access {
    DV_ACCESS_GLOBAL,
    DV_ACCESS_LOCAL,
    DV_ACCESS_CELL,     /* a local that holds a cell: shared with a function inside, or free */
    DV_ACCESS_NAMESPACE /* a class body's dict, then globals */
} dv_access;

enum {
    DV_SYMBOL_PARAMETER = 1,
    DV_SYMBOL_ASSIGNED = 2,
    DV_SYMBOL_IMPORTED = 4,
    DV_SYMBOL_USED = 8,
    DV_SYMBOL_ANNOTATED = 16,
    DV_SYMBOL_GLOBAL = 32,
    DV_SYMBOL_NONLOCAL = 64,
    DV_SYMBOL_ITERATED = 128, /* target of a comprehension's for */
    DV_SYMBOL_CAPTURED = 256, /* bound here, used by a function inside */
    DV_SYMBOL_SHARED = 512,   /* used by a comprehension inside that is compiled in place */
    DV_SYMBOL_BOUND = DV_SYMBOL_PARAMETER | DV_SYMBOL_ASSIGNED | DV_SYMBOL_IMPORTED
};

struct dv_symbol {
    dv_symbol *next; /* in the scope, in order of occurrence */
    dv_name *name;
    uint32_t flags;
    dv_access access;
    uint32_t index;       /* of a local variable */
    dv_range declared_at; /* global or nonlocal */
    uint32_t turn;        /* of a local: in the order of the code; 0: it is not in the code */
};

/* A variable of an enclosing function that the scope, or one inside it, uses. */
typedef struct dv_free_variable {
    dv_name *name;
    uint32_t from; /* the local of the scope around that holds the cell */
} dv_free_variable;

struct dv_scope {
    dv_scope *parent;
    dv_scope *next; /* all scopes of the module */
    dv_scope_kind kind;
    bool class_cell;       /* of a class: methods use `super` or `__class__`; local 1 is its cell */
    bool annotates;        /* of a class or module: it has __annotations__ */
    bool is_comprehension; /* then kind is DV_SCOPE_FUNCTION */
    bool is_generator;     /* of a function: it yields, or is a generator expression */
    uint8_t comprehension; /* dv_comprehension, if it is one */
    uint8_t consumer;      /* dv_consumer of a generator expression */
    uint8_t outlines;     /* of one with a host: so many are nested in its other form, itself too */
    bool sees_locals;     /* of a function: it names locals, eval or the like; local number ... */
    uint32_t locals_dict; /* ... is for the dict that these see */
    bool has_functions;   /* in it there are functions, not only comprehensions with a host */
    uint32_t iterables;   /* in the iterables of so many comprehensions: no walrus there */
    dv_name *name;        /* of the function or class; NULL for a lambda or the module */
    dv_name *class_name;  /* of the innermost class around, for private names; or NULL */
    dv_index_map map;     /* dv_name to position in `symbols` */
    dv_symbol **symbols;
    uint32_t symbol_count, symbol_capacity;
    dv_symbol **occurrences; /* of a function: its own names, in the order of the text */
    uint32_t occurrence_count, occurrence_capacity;
    const dv_block *body; /* of a function */
    uint32_t local_count; /* the free variables are the last */
    dv_free_variable *free;
    uint32_t free_count, free_capacity;
    dv_index_map free_map; /* dv_name to position in `free` */
    dv_scope *host;        /* of a comprehension that is compiled in place: the function around */
    uint32_t first_local;  /* then: of its variables */
    dv_scope *blocks;      /* of a host: comprehensions whose locals are nobody else's, linked: */
    dv_scope *next_block;
};

/* NULL, with a problem recorded or out of memory, if the module cannot be compiled. */
dv_scope *dv_scope_run(dv_front *front, const dv_block *module);

/* Is it a variable of the scope itself? */
bool dv_scope_binds(const dv_symbol *symbol);

/* The same without parameters: a comprehension has none where it is inlined. */
bool dv_scope_is_variable(const dv_symbol *symbol);

/* The symbol of a name in a scope; it must be there. */
dv_symbol *dv_scope_find(const dv_scope *scope, const dv_name *name);

/* That symbol, made if it is not there yet, with the flags added; NULL: out of memory. */
dv_symbol *dv_scope_note(dv_front *front, dv_scope *scope, dv_name *name, uint32_t flags);

/* __name inside a class is _Class__name. */
dv_name *dv_scope_mangle(dv_front *front, const dv_name *class_name, dv_name *name);

#endif
