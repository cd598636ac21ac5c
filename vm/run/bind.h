/* bind.h: how the arguments of a call become the parameters of a dl function, where they do not
 * already stand where these are.
 *
 * Invariant 1: of several things that are wrong with a call, the one that CPython would report is
 * reported; nothing of the caller's is released then. */
#ifndef DV_RUN_BIND_H
#define DV_RUN_BIND_H

#include "run/thread.h"

/* dv_bind_in_place where they do not stand there yet. */
bool dv_bind_apart(dv_vm *vm, const dv_function *function, dv_value *frame, uint32_t count,
                   dv_value keywords) DV_MUST_CHECK;

/* Is it the usual call of a function with defaults, `*` or `**`: no names, and nothing is missing
 * that has no default? */
bool dv_bind_is_plain(const dv_function *function, uint32_t count);
/* dv_bind_apart of such a call. */
bool dv_bind_plainly(dv_vm *vm, const dv_function *function, dv_value *frame,
                     uint32_t count) DV_MUST_CHECK;

/* Replaces the count arguments at `frame` (the last ones named by `keywords`, unless EMPTY) by the
 * values of the function's parameters; vm->sp, which was behind them, is so again.  False: raised,
 * and the arguments are as they were. */
DV_MUST_CHECK static inline bool dv_bind_in_place(dv_vm *vm, const dv_function *function,
                                                  dv_value *frame, uint32_t count,
                                                  dv_value keywords) {
    bool exact = dv_function_thread(function)->exact_arguments == (int64_t)count;
    if (DV_LIKELY(exact && dv_is_empty(keywords))) return true;
    return dv_bind_apart(vm, function, frame, count, keywords);
}

#endif
