/* error.h: floating point errors (np.seterr, np.errstate), and the errors that only ufuncs raise.
 */
#ifndef ND_ERROR_H
#define ND_ERROR_H

#include "array/array.h"

/* Does for the flags (of fenv.h) what seterr says: warns, raises, or nothing.  False: raised. */
bool error_flags(dvx_vm *vm, const char *name, unsigned flags);
/* Does seterr say anything but "ignore" of one of the flags? */
bool error_heeds(dvx_vm *vm, unsigned flags);
/* Does it ask for underflow?  Then there are no derivatives and quick ways, which do not look. */
bool error_heeds_underflow(dvx_vm *vm);
/* The flags since arith_clear(), those of underflow only where somebody asks. */
unsigned error_raised(dvx_vm *vm);
/* Does np.seterr make an error of anything? */
bool error_raises(dvx_vm *vm);
/* Warns, as warnings.warn(text, RuntimeWarning) does; false: raised. */
bool error_warn(dvx_vm *vm, const char *text);
/* Raises UFuncTypeError, a TypeError; false. */
bool error_ufunc(dvx_vm *vm, const char *format, ...) FORMATTED(2, 3);

/* A new class of exceptions derived from `base`, whose reference it takes; FAILED: raised. */
dvx_value error_make_class(dvx_vm *vm, const char *name, dvx_value base, const char *module_name);

#endif
