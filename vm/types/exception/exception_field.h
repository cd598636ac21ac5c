/* exception_field.h: what exceptions of certain classes have in fields of their own: `errno` and
 * `filename` of an OSError, `name` of a NameError, and so on.
 *
 * Invariants
 *  1. A field is no entry of the exception's __dict__.
 *  2. What the machine or a program has stored in a field comes before what the exception's
 *     arguments say, which is looked up when it is asked for: most exceptions are never asked.
 *  3. Where `settled`, the arguments say nothing: what is not stored has no value.  An exception is
 *     settled before its arguments or fields are changed by a program. */
#ifndef DV_TYPES_EXCEPTION_FIELD_H
#define DV_TYPES_EXCEPTION_FIELD_H

#include "types/exception/exception.h"

/* Fields that the second argument of a SyntaxError is made of, in its order. */
#define DV_SYNTAX_PLACES 6
extern const char *const dv_syntax_places[DV_SYNTAX_PLACES];

/* Has a class of the program this name, so that it means nothing else? */
bool dv_exception_hides(dv_vm *vm, const dv_exception *exception, dv_value name);
/* Has its class a field of this name, which no class of the program hides? */
bool dv_exception_has_field(dv_vm *vm, const dv_exception *exception, dv_value name);
/* Is what an exception has under the name no entry of its __dict__, or might it not be? */
bool dv_exception_keeps(dv_vm *vm, const dv_exception *exception, dv_value name);

/* The value of a field of the exception's class, new; EMPTY: it has none.  Never fails. */
dv_value dv_exception_field(dv_vm *vm, const dv_exception *exception, const char *name);
/* What programs see of that: None where it has no value.  EMPTY: the class has no such field, or,
 * with vm->error, characters_written has no value. */
dv_value dv_exception_field_named(dv_vm *vm, const dv_exception *exception, dv_value name);

/* Stores all that the arguments say (invariant 3). */
bool dv_exception_settle(dv_vm *vm, dv_exception *exception) DV_MUST_CHECK;

/* By a program, of a name that is one of a field.  EMPTY deletes. */
bool dv_exception_set_field(dv_vm *vm, dv_exception *exception, dv_value name,
                            dv_value value) DV_MUST_CHECK;
/* characters_written, of what is to be an index; CPython takes -1 for no value, too. */
bool dv_exception_set_written(dv_vm *vm, dv_value exception, dv_value value) DV_MUST_CHECK;

/* dv_exception_set for a number. */
bool dv_exception_set_number(dv_vm *vm, dv_value exception, const char *name,
                             int64_t number) DV_MUST_CHECK;

#endif
