/* warning.h: warnings of the machine, of extensions, and the functions of the module _warnings
 * (report/warning.c).
 *
 * Invariant 1: what becomes of a warning lang/lib/programs/_warnings_filter.dl decides alone, by
 * the filters and functions that the module `warnings` has then, if the program has imported it. */
#ifndef DV_TYPES_WARNING_H
#define DV_TYPES_WARNING_H

#include "core/vm.h"

/* warn and warn_explicit */
extern const dv_cfunction_def dv_warning_functions[];

/* Warns of what the running code does; the category is a class.  False: raised. */
bool dv_warn_here(dv_vm *vm, dv_value category, const char *message) DV_MUST_CHECK;

/* Warns of a line of a file, each time; `source`: the line's text, or None. */
bool dv_warn_at(dv_vm *vm, dv_value category, const char *message, dv_text filename, uint32_t line,
                dv_value source) DV_MUST_CHECK;

#endif
