/* text.h: tracebacks as text, byte for byte as CPython 3.11 writes them.  The function itself,
 * dv_exception_text, is declared in types/exception/exception.h. */
#ifndef DV_REPORT_TEXT_H
#define DV_REPORT_TEXT_H

#include "core/vm.h"

/* The line of `source` with this number (from 1), without its end; false: there is none. */
bool dv_source_line(dv_text source, uint32_t line, dv_text *out);

/* "builtins" and "__main__" classes by name, others as "module.name": new str. */
dv_value dv_exception_type_text(dv_vm *vm, dv_value exception);

#endif
