/* metaclass.h: classes whose class is not `type`: which one it is, how it takes part in making a
 * class, and what it says about operators on the class.
 *
 * Invariants
 *  1. A metaclass is a class that derives from `type`; only library modules make such
 *     (dv_metaclass_allowed): dl refuses those of programs (lang/LANGUAGE.md).
 *  2. A class is an object of shape DV_T_CLASS whatever its metaclass; dv_class.metaclass is NULL
 *     for `type`, so that what programs mostly have costs one comparison.
 *  3. No metaclass has a data descriptor with the name of an attribute of its classes: those of the
 *     class are found first. */
#ifndef DV_TYPES_METACLASS_H
#define DV_TYPES_METACLASS_H

#include "core/shape.h"
#include "core/vm.h"

/* May the running code derive a class from type?  False: raised. */
bool dv_metaclass_allowed(dv_vm *vm, const dv_class *base) DV_MUST_CHECK;

/* The most derived of `given` (EMPTY: type) and the metaclasses of the bases; NULL: raised. */
dv_class *dv_metaclass_winner(dv_vm *vm, dv_value given, dv_value bases);

/* The special method `name` that the class's metaclass defines; NULL: it is as for any class. */
dv_global_cell *dv_metaclass_special(const dv_class *class_, dv_value name);
/* Calls it; *found as for dv_special_call. */
dv_value dv_metaclass_call(dv_vm *vm, dv_value class_, dv_value name, const dv_value *args,
                           uint32_t count, bool *found);

/* The bases of a class statement, with what __mro_entries__ says in place of those that are no
 * classes: a tuple, the same one where there is nothing to replace. */
dv_value dv_metaclass_bases(dv_vm *vm, dv_value bases);
/* The namespace in which the body of a class statement runs: a dict, with __orig_bases__ if
 * `written` is not the tuple of bases; keywords: dict or EMPTY. */
dv_value dv_metaclass_prepare(dv_vm *vm, dv_value name, dv_value bases, dv_value written,
                              dv_value keywords);

/* len(C), C[key], C[key] = value (refused), item in C, iter(C) as the metaclass has it. */
int64_t dv_metaclass_length(dv_vm *vm, dv_value self);
dv_value dv_metaclass_get_item(dv_vm *vm, dv_value self, dv_value key);
bool dv_metaclass_set_item(dv_vm *vm, dv_value self, dv_value key, dv_value value);
int dv_metaclass_contains(dv_vm *vm, dv_value self, dv_value item);
dv_value dv_metaclass_iterate(dv_vm *vm, dv_value self);

/* The methods of `type` itself. */
extern const dv_cfunction_def dv_metaclass_methods[];

#endif
