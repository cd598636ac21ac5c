/* layout.h: where the members of structs and unions lie, by the rules of the ABI that gcc follows
 * on x86-64 and AArch64 Linux. */
#ifndef FFI_LAYOUT_H
#define FFI_LAYOUT_H

#include "ctype/types.h"

/* Lays out a struct or union that has its members and is not laid out yet; nothing for all other
 * types.  Raises what cffi raises for members that cannot be. */
bool layout_of(dvx_vm *vm, ctype *type);

/* libffi's description of a type that is passed by value; `place` is "argument" or "return value".
 * NULL: raised. */
ffi_type *layout_foreign(dvx_vm *vm, ctype *type, const char *place);

#endif
