/* base.h: what every file of the extension needs: the table's macros, raising, memory.
 *
 * Invariants
 *  1. Nothing here or elsewhere in the extension is global and mutable; what belongs to a VM is in
 *     its ffi_state (types.h).
 *  2. A function that returns a dvx_value fails with DVX_FAILED, one that returns a pointer with
 *     NULL, one that returns bool with false; the error has then been raised. */
#ifndef FFI_BASE_H
#define FFI_BASE_H

#include <dynvm_ext.h>

#include <string.h>

#define LENGTH_OF(array)       (sizeof(array) / sizeof *(array))
#define FORMATTED(first, rest) __attribute__((format(printf, first, rest)))

extern const struct dvx_extension dvx_extension;

/* Raises error with a text like printf's, cut after some 2000 bytes; false and DVX_FAILED. */
bool ffi_fail(dvx_vm *vm, dvx_error error, const char *format, ...) FORMATTED(3, 4);
dvx_value ffi_raise(dvx_vm *vm, dvx_error error, const char *format, ...) FORMATTED(3, 4);

/* The name of v's class, cut to the buffer. */
enum { FFI_NAME = 200 };
const char *ffi_class_name(dvx_vm *vm, dvx_value v, char buffer[FFI_NAME]);

/* Zeroed memory; NULL: raised. */
void *ffi_new(dvx_vm *vm, size_t size);

/* The text of a str in memory of its own, *size + 1 bytes; NULL: raised. */
char *ffi_text(dvx_vm *vm, dvx_value str, size_t *size);

/* Makes room for one more entry in an array that grows by doubling. */
bool ffi_grow(dvx_vm *vm, void **array, uint32_t count, uint32_t *capacity, size_t entry);

static inline dvx_value ffi_none(dvx_vm *vm) { return vm->api->make_none(vm); }
static inline dvx_value ffi_str(dvx_vm *vm, const char *text) {
    return vm->api->make_str(vm, text, strlen(text));
}

/* Calls something of dl and forgets its result. */
bool ffi_forget(dvx_vm *vm, dvx_value result);

#endif
