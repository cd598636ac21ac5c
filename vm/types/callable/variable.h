/* variable.h: a variable that a function shares with functions inside it: Python's cell.
 *
 * Locals and closures refer to it; its value is EMPTY while the variable is unassigned. */
#ifndef DV_TYPES_VARIABLE_H
#define DV_TYPES_VARIABLE_H

#include "core/vm.h"

typedef struct dv_variable {
    dv_object header;
    dv_value value;
    uint32_t holders; /* activations of regions that have its value, a number, in a slot, too */
} dv_variable;

extern const dv_type dv_variable_type;

static inline dv_variable *dv_as_variable(dv_value v) { return (dv_variable *)dv_as_object(v); }

/* Who changes the value of a variable does this before: regions that hold it are left. */
static inline void dv_variable_disturb(dv_vm *vm, const dv_variable *variable) {
    if (DV_UNLIKELY(variable->holders > 0)) vm->hooks.region.disturbed(vm, NULL);
}

/* Takes the value, unless memory runs out (EMPTY). */
dv_value dv_variable_new(dv_vm *vm, dv_value value);

#endif
