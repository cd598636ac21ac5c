/* plan.h: how functions of one type are called, for call.c and callback.c. */
#ifndef FFI_PLAN_H
#define FFI_PLAN_H

#include "ctype/types.h"

enum { PLAN_STRIDE = 16 };

/* Calls `function` with arguments that lie PLAN_STRIDE bytes apart; the result goes to `result`. */
typedef void (*plan_trampoline)(void *function, const char *arguments, void *result);

struct call_plan {
    ffi_cif cif;
    ffi_type **types; /* of the arguments */
    uint32_t count;
    size_t *offsets;            /* of the arguments in the memory for a call, behind the result */
    size_t size;                /* of that memory */
    plan_trampoline trampoline; /* NULL: libffi */
};

/* The plan of a function type without '...', or NULL: raised. */
struct call_plan *plan_of(dvx_vm *vm, ctype *function);
/* A plan for a call of a variadic function with arguments of these types. */
struct call_plan *plan_variadic(dvx_vm *vm, ctype *function, ctype *const *types, uint32_t count);

/* trampolines.c (generated): the trampoline for a signature like "d:dd", or NULL. */
plan_trampoline plan_find_trampoline(const char *signature);

#endif
