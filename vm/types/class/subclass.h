/* subclass.h: instances of dl classes that derive from built-in types: making them, and getting
 * exact values back.
 *
 * Invariants
 *  1. Such an instance is laid out as the objects of its built-in type, with attributes in front
 *     (core/shape.h), so that what C code does with the type's objects it does with instances.
 *  2. dv_is_list(v) and the like accept instances of subclasses; where a subclass may have other
 *     ideas (its __iter__, __eq__, ...) code asks dv_is_shape(v, DV_T_LIST), at the places where
 *     CPython asks PyList_CheckExact.
 *  3. What operators and methods of built-in types return is exact, even where it is unchanged. */
#ifndef DV_TYPES_SUBCLASS_H
#define DV_TYPES_SUBCLASS_H

#include "core/vm.h"

/* __init__ of mutable types, __new__ of all that can be bases, as methods of their classes. */
extern const dv_cfunction_def dv_subclass_init, dv_subclass_make;

/* T.__new__(class_, ...) of the built-in type T that class_ derives from. */
dv_value dv_subclass_new(dv_vm *vm, dv_class *class_, const dv_value *args, uint32_t count,
                         dv_value keywords);

/* T.__init__(self, ...) of a T with `initialise`. */
bool dv_subclass_initialise(dv_vm *vm, dv_value self, const dv_value *args, uint32_t count,
                            dv_value keywords) DV_MUST_CHECK;

/* dv_type.adopt of types whose objects own references that their traverse visits, and nothing else:
 * an instance of class_ (of `size` bytes, as exact) that shares what exact refers to.  Class_ may
 * be the type's own, too. */
dv_value dv_subclass_share(dv_vm *vm, dv_class *class_, dv_value exact, size_t size);

/* What an alternative constructor (fromhex, from_bytes) makes of its result: class_(exact) where it
 * was called on a subclass.  Takes exact's ownership (EMPTY: raised already). */
dv_value dv_subclass_of_exact(dv_vm *vm, dv_value class_, dv_value exact);

/* An exact value with the contents of an instance of a subclass of an immutable type. */
dv_value dv_plain_copy(dv_vm *vm, dv_value v);

/* New reference to v, or to its exact copy if it is an instance of a subclass. */
static inline dv_value dv_plain(dv_vm *vm, dv_value v) {
    return DV_UNLIKELY(dv_is_subclass_instance(v)) ? dv_plain_copy(vm, v) : dv_retain(v);
}

#endif
