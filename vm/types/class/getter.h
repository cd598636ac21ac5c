/* getter.h: attributes that built-in types compute (int.real, range.start, f.__code__, ...) as
 * attributes of their classes: descriptors, as programs see them.
 *
 * Invariants
 *  1. A getter is a dv_cfunction with DV_CFUNCTION_GETTER that is never bound, and no method.
 *  2. What it reads is what get_attribute of self's type says; lookups of values ask that directly,
 * so that a getter costs them nothing. */
#ifndef DV_TYPES_GETTER_H
#define DV_TYPES_GETTER_H

#include "core/shape.h"
#include "types/callable/function.h"

/* Adds those that the class of a built-in type has, of the names that begin with an underscore or
 * of the others; part of dv_class_fill. */
bool dv_getters_add(dv_vm *vm, dv_class *class_, bool underscored) DV_MUST_CHECK;

static inline bool dv_is_getter(dv_value v) {
    return dv_is_shape(v, DV_T_CFUNCTION) &&
           ((const dv_cfunction *)dv_as_object(v))->def->flags & DV_CFUNCTION_GETTER;
}

/* What the getter is for self, which its class fits. */
dv_value dv_getter_read(dv_vm *vm, dv_value getter, dv_value self);

/* Raises what storing through a getter does. */
void dv_getter_refuse(dv_vm *vm, dv_value getter);

#endif
