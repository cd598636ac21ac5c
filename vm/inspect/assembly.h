/* assembly.h: code objects as text that people write, and back (`dynvm asm`).  README.md,
 * "Assembly", says what the text looks like.
 *
 * Invariants
 *  1. What dv_assembly_write has written of a unit, dv_assembly_read makes into a unit that does
 * the same, tracebacks included.
 *  2. dv_assembly_read gives away verified units alone, whose regions have been checked.  The
 * verifier proves less than the compiler keeps (code/README.md): code from outside can harm the
 * process, so that sandboxed VMs must not run it. */
#ifndef DV_INSPECT_ASSEMBLY_H
#define DV_INSPECT_ASSEMBLY_H

#include "core/vm.h"

/* All code objects of the unit, the module's first; with the regions that they have in the VM now,
 * if it is not NULL. */
void dv_assembly_write(dv_vm *vm, const dv_unit *unit, dv_output out, void *context);

/* The unit of a text, which `path` names in errors, with one reference; NULL: raised (SyntaxError
 * with the line of the text, also where the verifier has refused it; MemoryError). */
dv_unit *dv_assembly_read(dv_vm *vm, const char *text, size_t size, const char *path);

/* None, a bool, an int64 or a float (an imaginary one, too); false: the word is something else. */
bool dv_assembly_number(dv_text word, dv_const *out);

/* What a code object's flags are called in the text, by bit. */
enum { DV_ASSEMBLY_FLAGS = 6 };
/* What they call comprehensions. */
extern const char *const dv_assembly_comprehensions[DV_COMPREHENSION_GENERATOR + 1];

extern const char *const dv_assembly_flags[DV_ASSEMBLY_FLAGS];

/* Can a name be written without quotes? */
bool dv_assembly_is_bare(dv_text name);

#endif
