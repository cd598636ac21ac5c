/* lend.h: memory of dl's objects with buffers (bytes, bytearrays, arrays, objects of extensions),
 * lent to C: ffi.from_buffer and ffi.memmove. */
#ifndef FFI_LEND_H
#define FFI_LEND_H

#include "module.h"

/* The bytes of an object with a buffer, until buffer_release: view->buffer.data, *size of them
 * without gaps.  False: TypeError, or BufferError. */
bool lend_get(dvx_vm *vm, dvx_value v, bool writable, dvx_view *view, int64_t *size);
/* "bytearray" of a bytearray, "array.array" of an array, for messages: new. */
dvx_value lend_type_name(dvx_vm *vm, dvx_value v);

MODULE_METHOD(lend_from_buffer);

#endif
