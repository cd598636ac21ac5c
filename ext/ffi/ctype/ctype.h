/* ctype.h: C types as objects of dl: what ffi.typeof gives. */
#ifndef FFI_CTYPE_H
#define FFI_CTYPE_H

#include "ctype/types.h"

/* The object of a type, always the same one. */
dvx_value ctype_object(dvx_vm *vm, ctype *type);
/* The type that an object stands for; NULL: v is none. */
ctype *ctype_of_object(dvx_vm *vm, dvx_value v);

bool ctype_setup_classes(dvx_vm *vm, dvx_value module);
extern const dvx_type ctype_type;

#endif
