/* exception_field.h: what exceptions of certain classes have in fields of their own: `errno` and
 * `filename` of an OSError, `name` of a NameError, and so on.
 *
 * Invariants
 *  1. A field is no entry of the exception's __dict__.
 *  2. What the machine or a program has stored in a field comes before what the exception's
 *     arguments say; a deleted field is None. */
#ifndef DV_TYPES_EXCEPTION_FIELD_H
#define DV_TYPES_EXCEPTION_FIELD_H

#include "types/exception.h"

/* Has its class a field of this name, which no class of the program hides? */
bool dv_exception_has_field(dv_vm *vm, const dv_exception *exception, dv_value name);

/* A field's value, new.  EMPTY: the class has no such field, or, with vm->error, it has no value,
 * which is so of characters_written alone: all others are there without any memory. */
dv_value dv_exception_field(dv_vm *vm, const dv_exception *exception, const char *name);
dv_value dv_exception_field_named(dv_vm *vm, const dv_exception *exception, dv_value name);

/* EMPTY deletes. */
bool dv_exception_set_field(dv_vm *vm, dv_exception *exception, dv_value name,
                            dv_value value) DV_MUST_CHECK;

#endif
