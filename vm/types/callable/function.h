/* function.h: what can be called: dl functions, C functions, bound methods.
 *
 * Invariant 1: function->code is a threaded code object (run/thread.h), owned. */
#ifndef DV_TYPES_FUNCTION_H
#define DV_TYPES_FUNCTION_H

#include "core/vm.h"

typedef struct dv_function {
    dv_object header;
    dv_object *code;           /* dv_thread */
    dv_value globals;          /* module */
    dv_value defaults;         /* tuple or EMPTY: of the last positional parameters */
    dv_value keyword_defaults; /* dict or EMPTY: of keyword-only parameters */
    dv_value closure; /* tuple of cells (types/callable/variable.h), one for each free variable; or
                         EMPTY */
    dv_value
        annotations; /* dict, or a tuple of names and values that nobody has asked for, or EMPTY */
    dv_value name, qualname;
    dv_value attributes; /* dict or EMPTY */
} dv_function;

typedef struct dv_cfunction {
    dv_object header;
    const dv_cfunction_def *def;
    dv_value self;  /* bound first argument, or EMPTY */
    dv_value owner; /* class of a method or EMPTY; module of a function or EMPTY (for repr) */
} dv_cfunction;

typedef struct dv_method {
    dv_object header;
    dv_value function, self;
} dv_method;

extern const dv_type dv_function_type, dv_cfunction_type, dv_method_type;

/* What C functions show themselves as where they are methods of types. */
#define DV_CFUNCTION_FACES 4
extern const dv_type dv_cfunction_faces[DV_CFUNCTION_FACES];

static inline bool dv_is_function(dv_value v) { return dv_is_shape(v, DV_T_FUNCTION); }
static inline dv_function *dv_as_function(dv_value v) { return (dv_function *)dv_as_object(v); }

dv_value dv_cfunction_new(dv_vm *vm, const dv_cfunction_def *def, dv_value self,
                          dv_value owner);                           /* retains */
dv_value dv_method_new(dv_vm *vm, dv_value function, dv_value self); /* retains */

#endif
