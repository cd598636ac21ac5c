/* execute.h: what generic instructions do that is too long for a handler's body.
 *
 * Everything here follows the conventions of the protocols (core/upcall.h): arguments borrowed,
 * results new, EMPTY or false with vm->error set on failure. */
#ifndef DV_RUN_EXECUTE_H
#define DV_RUN_EXECUTE_H

#include "core/upcall.h"
#include "run/thread.h"

/* Module global, then builtin; NameError. */
dv_value dv_load_global(dv_vm *vm, const dv_value *fp, dv_value name);
bool dv_store_global(dv_vm *vm, const dv_value *fp, dv_value name,
                     dv_value value) DV_MUST_CHECK; /* takes value; EMPTY deletes */
/* Takes value, which is not EMPTY. */
void dv_replace_global(dv_vm *vm, dv_global_cell *cell, dv_value value);
/* A value that is neither a descriptor nor a slot, and no function: where one of a class replaces
 * another, the class finds what it found before. */
static inline bool dv_store_is_plain(dv_value v) {
    return !dv_is_object(v) || dv_as_object(v)->shape < DV_T_CODE;
}
/* Names in a class body: `space` is its namespace dict. */
dv_value dv_load_name(dv_vm *vm, const dv_value *fp, dv_value name);
bool dv_store_name(dv_vm *vm, const dv_value *fp, dv_value name, dv_value value) DV_MUST_CHECK;
bool dv_delete_name(dv_vm *vm, const dv_value *fp, dv_value name) DV_MUST_CHECK;

dv_value dv_raise_unbound(dv_vm *vm, const dv_value *fp, uint32_t local);
/* The same where it is a variable of the function around. */
dv_value dv_raise_unassociated(dv_vm *vm, const dv_value *fp, uint32_t local);

/* Writes the count items of a sequence or iterable to out, last first; exact ValueErrors of
 * CPython. */
bool dv_unpack(dv_vm *vm, dv_value sequence, uint32_t count, dv_value *out) DV_MUST_CHECK;

/* LOAD_METHOD: replaces the object at sp[-1] by the callee and writes self (or EMPTY) to sp[2]. */
bool dv_prepare_method(dv_vm *vm, dv_value *sp, dv_value name) DV_MUST_CHECK;

/* The same with a list of what is between the first `before` and the last `after` items. */
bool dv_unpack_star(dv_vm *vm, dv_value sequence, int64_t before, int64_t after,
                    dv_value *out) DV_MUST_CHECK;

dv_value dv_build_dict(dv_vm *vm, const dv_value *pairs, uint32_t count);
/* Displays and calls with stars: a list or dict under construction takes more items. */
bool dv_extend_display(dv_vm *vm, dv_value list, dv_value iterable) DV_MUST_CHECK;
bool dv_update_display(dv_vm *vm, dv_value dict, dv_value mapping) DV_MUST_CHECK;
bool dv_append_display(dv_vm *vm, dv_value list, dv_value item) DV_MUST_CHECK; /* takes item */
dv_value dv_build_set(dv_vm *vm, const dv_value *items, int64_t count);
bool dv_update_set_display(dv_vm *vm, dv_value set, dv_value iterable) DV_MUST_CHECK;
bool dv_add_set_display(dv_vm *vm, dv_value set, dv_value item) DV_MUST_CHECK;
bool dv_add_display(dv_vm *vm, dv_value dict, dv_value key, dv_value value) DV_MUST_CHECK;
bool dv_merge_keywords(dv_vm *vm, dv_value callee, dv_value dict, dv_value mapping) DV_MUST_CHECK;
/* What CPython's messages call a callee: "module.f()". */
dv_value dv_callee_name(dv_vm *vm, dv_value callee);
dv_value dv_build_string(dv_vm *vm, const dv_value *parts, uint32_t count);
dv_value dv_format_value(dv_vm *vm, dv_value v, uint32_t conversion,
                         dv_value spec); /* spec EMPTY if none */
dv_value dv_make_function(dv_vm *vm, dv_value thread, const dv_value *defaults, uint32_t count);
dv_value dv_load_assertion_error(dv_vm *vm);
bool dv_set_annotations(dv_vm *vm, dv_value function, dv_value annotations) DV_MUST_CHECK;
bool dv_set_defaults(dv_vm *vm, dv_value function, dv_value defaults, dv_value named) DV_MUST_CHECK;
/* The same for a function with free variables, whose cells are in locals of the running frame. */
dv_value dv_make_closure(dv_vm *vm, const dv_value *fp, dv_value thread, const dv_value *defaults,
                         uint32_t count);

/* with: writes the bound __exit__ and the __enter__, both looked up in the manager's class, to
 * out[0] and out[1]. */
bool dv_with_methods(dv_vm *vm, dv_value manager, dv_value *out) DV_MUST_CHECK;
/* Takes these from above the manager on the stack and calls __enter__: the bound __exit__ and the
 * result take the places of the manager and of what is above it. */
bool dv_enter_with(dv_vm *vm, dv_value manager, dv_value *methods) DV_MUST_CHECK;
/* exit(type(exception), exception, traceback) */
dv_value dv_exit_with(dv_vm *vm, dv_value exit, dv_value exception);

/* REPL: prints repr(v) unless v is None. */
bool dv_print_expression(dv_vm *vm, dv_value v) DV_MUST_CHECK;

#endif
