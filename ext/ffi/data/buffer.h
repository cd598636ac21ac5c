/* buffer.h: ffi.buffer: the bytes of C memory. */
#ifndef FFI_BUFFER_H
#define FFI_BUFFER_H

#include "data/cdata.h"

extern const dvx_type buffer_type;

/* The memory of a cdata or buffer, as ffi.memmove takes it; false: v is none of these. */
bool buffer_memory(dvx_vm *vm, dvx_value v, char **data, int64_t *size);
/* The block of a buffer's memory, or NULL. */
cdata_block *buffer_block(dvx_vm *vm, dvx_value v);

#endif
