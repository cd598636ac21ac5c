/* compile.h: source text to verified units. */
#ifndef DV_API_COMPILE_H
#define DV_API_COMPILE_H

#include "core/vm.h"

/* A verified unit with one reference; NULL: raised (SyntaxError with its place, MemoryError). */
dv_unit *dv_compile(dv_vm *vm, const char *text, size_t size, const char *filename);
/* The same with bits of dv_compile_how, and a file name in UTF-8. */
dv_unit *dv_compile_as(dv_vm *vm, const char *text, size_t size, const char *filename,
                       unsigned how);
/* The same for a statement that was typed. */
dv_unit *dv_compile_interactive(dv_vm *vm, const char *text, size_t size);
/* The same of text for eval, exec and compile (lang/lang.h): its top level is a function. */
dv_unit *dv_compile_evaluated(dv_vm *vm, const char *text, size_t size, const char *filename,
                              const char *mode, int optimize, bool decoded);
/* The same from a file, which may be compiled (api/compiled.h); OSError if it cannot be read. */
dv_unit *dv_compile_file(dv_vm *vm, const char *path);

/* The same from a file of assembly (inspect/assembly.h). */
dv_unit *dv_assemble_file(dv_vm *vm, const char *path);

/* The same for a file that is imported: ValueError if it contains a zero byte, as in CPython. */
dv_unit *dv_compile_import(dv_vm *vm, const char *path);

/* The whole file on the VM's heap (capacity *room); NULL: raised. */
char *dv_read_file(dv_vm *vm, const char *path, size_t *size, size_t *room);

/* OSError, or its subclass for this errno; path NULL: it names none. */
void dv_raise_os_error(dv_vm *vm, int number, const char *path);

/* Tracebacks name a script by its absolute path: the working directory, '/' and the path as it was
 * given.  The result is `buffer`, or `path` itself where that is absolute or does not fit. */
enum { DV_LONGEST_PATH = 4096 };
const char *dv_absolute_path(const char *path, char buffer[DV_LONGEST_PATH]);

/* Text of the host (an argument, a path) as a str; bytes that are no UTF-8 become lone surrogates,
 * as in Python. */
dv_value dv_host_text(dv_vm *vm, const char *text);

#endif
