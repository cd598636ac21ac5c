/* typed.h: what a host asks whose user types statements: prompts, and what a name may become. */
#ifndef DV_API_TYPED_H
#define DV_API_TYPED_H

#include "core/vm.h"
#include "dynvm.h"

/* str() of sys.ps1 and sys.ps2, cut to fit and zero-terminated; what fails is empty. */
void dv_typed_prompts(dv_vm *vm, char *first, char *next, size_t size);
/* Makes sys.ps1 and sys.ps2, unless the program has. */
bool dv_typed_begin(dv_vm *vm) DV_MUST_CHECK;
/* Hands the words that `text` may become to `found`, until that returns something else than 0. */
bool dv_typed_complete(dv_vm *vm, const char *text, dynvm_found found, void *context) DV_MUST_CHECK;

#endif
