/* compiled.h: units from compiled files and back (code/file.h).
 *
 * Invariants
 *  1. Units are given away verified, whatever the bytes were.  The verifier proves less than the
 * compiler keeps (code/README.md), so that sandboxed VMs get none.
 *  2. A source is quoted only if it is the one that was compiled. */
#ifndef DV_API_COMPILED_H
#define DV_API_COMPILED_H

#include "core/vm.h"
#include "dynvm.h"

/* Is this the content of a compiled file, by its name (NAME.dlc) or by itself? */
bool dv_compiled_is(const char *path, const char *data, size_t size);

/* A verified unit with one reference; NULL: raised (ImportError, which names `path` and says what
 * to do; PermissionError; MemoryError).  The bytes are copied. */
dv_unit *dv_compiled_read(dv_vm *vm, const char *data, size_t size, const char *path);

/* Compiles a text, which tracebacks are to call `filename`, and writes what a compiled file
 * contains.  False: raised (SyntaxError, MemoryError, OSError with what `output` has returned). */
bool dv_compiled_write(dv_vm *vm, const char *text, size_t size, const char *filename,
                       dynvm_output output, void *context) DV_MUST_CHECK;
/* The same of a file. */
bool dv_compiled_write_file(dv_vm *vm, const char *path, dynvm_output output,
                            void *context) DV_MUST_CHECK;

#endif
