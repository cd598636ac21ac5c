/* metaclass.h: classes whose class is not `type`: which one it is, how it takes part in making a
 * class, and what it says about operators on the class.
 *
 * Invariants
 *  1. A metaclass is a class that derives from `type`, of a library module or of the program.
 *  2. A class is an object of shape DV_T_CLASS whatever its metaclass; dv_class.metaclass is NULL
 *     for `type`, so that what programs mostly have costs one comparison.
 *  3. Sites remember nothing of a class whose metaclass has a __getattribute__, nor an attribute
 * that may be a data descriptor of the metaclass (dv_class_cell); a metaclass that gets one, or a
 *     __call__, later touches its classes (dv_class_touch).
 *  4. Classes are no descriptors and have no finalisers of dl, and their order of bases is that of
 *     `type`: a metaclass with such a method is refused (dv_metaclass_refuses). */
#ifndef DV_TYPES_METACLASS_H
#define DV_TYPES_METACLASS_H

#include "core/shape.h"
#include "core/vm.h"

/* Is the name one that no metaclass may have?  True: raised. */
bool dv_metaclass_refuses(dv_vm *vm, dv_value name) DV_MUST_CHECK;

/* The most derived of `given` and the metaclasses of the bases; NULL: raised. */
dv_class *dv_metaclass_winner(dv_vm *vm, dv_class *given, dv_value bases);

/* The special method `name` that the class's metaclass defines; NULL: it is as for any class. */
dv_global_cell *dv_metaclass_special(const dv_class *class_, dv_value name);
/* Calls it; *found as for dv_special_call. */
dv_value dv_metaclass_call(dv_vm *vm, dv_value class_, dv_value name, const dv_value *args,
                           uint32_t count, bool *found);

/* The bases of a class statement, with what __mro_entries__ says in place of those that are no
 * classes: a tuple, the same one where there is nothing to replace. */
dv_value dv_metaclass_bases(dv_vm *vm, dv_value bases);
/* The namespace in which the body of a class statement runs: a dict, or the mapping that the
 * metaclass prepares, with __orig_bases__ if `written` is not the tuple of bases; keywords: dict or
 * EMPTY. */
dv_value dv_metaclass_prepare(dv_vm *vm, dv_value name, dv_value bases, dv_value written,
                              dv_value keywords);

/* The methods of `type` itself. */
extern const dv_cfunction_def dv_metaclass_methods[];

#endif
