/* suggest.h: "Did you mean: 'x'?" at the end of tracebacks of NameErrors and AttributeErrors. */
#ifndef DV_REPORT_SUGGEST_H
#define DV_REPORT_SUGGEST_H

#include "core/vm.h"

/* The name that was probably meant, new; EMPTY (nothing raised): none is near enough. */
dv_value dv_suggestion(dv_vm *vm, dv_value exception);

#endif
