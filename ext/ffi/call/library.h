/* library.h: shared libraries as objects of dl: what ffi.dlopen gives. */
#ifndef FFI_LIBRARY_H
#define FFI_LIBRARY_H

#include "parse/scope.h"

extern const dvx_type library_type;

/* A library by its name, None, or a void * cdata. */
dvx_value library_open(dvx_vm *vm, scope *s, dvx_value name, int64_t flags);
bool library_close(dvx_vm *vm, dvx_value library);
/* The address of a function or variable, as ffi.addressof gives it. */
dvx_value library_address(dvx_vm *vm, dvx_value library, dvx_value name);

/* A number that no other library has, while it is open; 0: closed, or v is none. */
uint64_t library_serial(dvx_vm *vm, dvx_value v);
/* What the library keeps for a name, if it does: *kept is new.  Runs no dl code. */
bool library_kept(dvx_vm *vm, dvx_value library, dvx_value name, dvx_value *kept);

#endif
