/* warning.h: what becomes of a warning: filters as Python's -W takes them.
 *
 * Invariants
 *  1. A filter is "action:message:category:module:line", fields may be missing or empty; the last
 *     of vm->sys.warn_options that fits decides.  One that says nothing sensible is as if not
 * there: the program `dynvm` tells its user, who has written it.
 *  2. To look for one raises nothing. */
#ifndef DV_REPORT_WARNING_H
#define DV_REPORT_WARNING_H

#include "core/vm.h"

typedef enum dv_warning_action {
    DV_WARNING_DEFAULT, /* once for each place */
    DV_WARNING_IGNORE,
    DV_WARNING_ERROR, /* it is raised */
    DV_WARNING_ALWAYS,
    DV_WARNING_MODULE, /* once for each module and text */
    DV_WARNING_ONCE    /* once for each text */
} dv_warning_action;

typedef struct dv_warning {
    const dv_class *category;
    const char *message;
    dv_text module; /* its name */
    uint32_t line;
} dv_warning;

dv_warning_action dv_warning_find(dv_vm *vm, const dv_warning *warning);

#endif
