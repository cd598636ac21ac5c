/* compile.h: the tree to code objects.
 *
 * Invariants
 *  1. `depth` is the height of the operand stack between statements: what the loops and handlers
 * around keep on it.  An exception entry cuts the stack to the depth where its try statement began.
 *  2. A borrowed operand is a definitely assigned local (or a constant) that nothing evaluated
 * before its consumer can store to; see dv_compile_operand.
 *  3. At a join all paths leave owned entries. */
#ifndef DV_LANG_COMPILE_H
#define DV_LANG_COMPILE_H

#include "lang/compile/emit.h"
#include "lang/compile/scope.h"

/* What a return, break or continue has to undo on its way out. */
typedef enum dv_region_kind {
    DV_REGION_WHILE,
    DV_REGION_FOR,            /* the iterator is on the stack */
    DV_REGION_TRY,            /* the body of a try with except clauses */
    DV_REGION_FINALLY,        /* what a finally body follows */
    DV_REGION_EXCEPT,         /* an except clause: the previous exception is on the stack */
    DV_REGION_FINALLY_RAISED, /* a finally body after an exception: previous and raised exception */
    DV_REGION_WITH,           /* the body of a with statement: the exit is on the stack */
    DV_REGION_VALUE           /* a finally body on the way out of a return: its value */
} dv_region_kind;

typedef struct dv_region {
    dv_region_kind kind;
    struct dv_region *outer;
    dv_label at_break, at_continue; /* of loops */
    uint32_t outer_handler;         /* in force around the region */
    uint32_t outer_depth;           /* of the operand stack around the region */
    const dv_block *finally;
    dv_expr *name; /* behind `as` of an except clause, or NULL */
    dv_range at;
} dv_region;

typedef struct dv_compiler {
    dv_front *front;
    dv_unit *unit;
    const dv_scope *scope;
    struct dv_compiler *outer;
    dv_text qualname;
    dv_region *region;
    uint32_t region_count;
    uint32_t depth;
    bool in_comprehension;
    bool interactive; /* at the top level of a REPL line */
    dv_emitter emit;
} dv_compiler;

/* Compiles a module; fills in unit->code. */
bool dv_compile_module(dv_front *front, dv_unit *unit, const dv_scope *scope,
                       const dv_block *module, bool interactive);

/* Compiles a function or lambda and emits its creation, defaults included. */
bool dv_compile_function(dv_compiler *c, const dv_function *function, dv_range at);

/* The parts of a function's compilation.  To begin the one of a scope within `outer`; the code in
 * front of its body: where locals that are shared become cells, and where a generator's call ends;
 * the code object, and what it says of its locals. */
bool dv_compile_begin(dv_compiler *c, dv_compiler *outer, const dv_scope *scope, dv_text name);
void dv_compile_prologue(dv_compiler *c);
void dv_compile_generator(dv_compiler *c, uint32_t line);
dv_code *dv_compile_finish(dv_compiler *c, dv_text name, uint32_t first_line);
bool dv_compile_locals(dv_front *front, const dv_scope *scope, dv_code *code);

/* Emits the making of a code object's function, with default values on the stack. */
void dv_compile_make(dv_compiler *c, const dv_code *code, uint32_t defaults, dv_range at);

/* The qualified name of what is called `name` in `outer`. */
dv_text dv_compile_qualname(const dv_compiler *outer, dv_text name);

/* Returns the top of the stack, from a function or a generator. */
void dv_compile_leave(dv_compiler *c, dv_range at);

/* Compiles a class statement's body and emits the making of the class object, without storing it.
 */
bool dv_compile_class(dv_compiler *c, const dv_class *klass, dv_range at);

#endif
