/* exception_raise.h: what exception.c and exception_raise.c share; raising itself is declared in
 * core/upcall.h and exception.h. */
#ifndef DV_TYPES_EXCEPTION_RAISE_H
#define DV_TYPES_EXCEPTION_RAISE_H

#include "types/exception/exception.h"

void dv_exception_forget_trace(dv_vm *vm, dv_exception *exception);

#endif
