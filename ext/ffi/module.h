/* module.h: the class FFI, in its parts: module.c (what is there, types), memory.c (new, cast,
 * string, ...). */
#ifndef FFI_MODULE_H
#define FFI_MODULE_H

#include "data/cdata.h"
#include "parse/scope.h"

extern const dvx_type ffi_class;

/* The declarations of an FFI object. */
scope *module_scope(dvx_vm *vm, dvx_value self);
/* A type as methods get it: a text or a CType; `what` begins messages: the function of cffi, as
 * "newp() ". NULL: raised. */
ctype *module_type(dvx_vm *vm, dvx_value self, dvx_value v, const char *what, bool functions);

/* Methods: args[0] is the FFI, DVX_FAILED stands for what the call leaves out. */
#define MODULE_METHOD(name) dvx_value name(dvx_vm *vm, const dvx_value *args, uint32_t count)
MODULE_METHOD(memory_new);
MODULE_METHOD(memory_cast);
MODULE_METHOD(memory_string);
MODULE_METHOD(memory_unpack);
MODULE_METHOD(memory_memmove);
MODULE_METHOD(memory_gc);
MODULE_METHOD(memory_release);
MODULE_METHOD(memory_new_handle);
MODULE_METHOD(memory_from_handle);
MODULE_METHOD(memory_addressof);
MODULE_METHOD(memory_offsetof);

#endif
