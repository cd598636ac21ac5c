/* extensions.h: the parts of `stats` and `explain` about sites that extensions were asked about:
 * why their derivatives missed, how many combinations of types they saw, and why an expression of
 * several is not one instruction.
 *
 * Invariant 1: only sites whose code is still there are known; where an extension was not asked,
 * there is no row, and without rows no part. */
#ifndef DV_INSPECT_EXTENSIONS_H
#define DV_INSPECT_EXTENSIONS_H

#include "inspect/rows.h"

/* What became of a site; false: no extension was asked about it, or its code is gone. */
bool dv_extensions_find(dv_vm *vm, const dv_row *row, dv_foreign_report *report);

/* `stats`.  False: out of memory (raised). */
bool dv_extensions_list(dv_vm *vm, const dv_page *page) DV_MUST_CHECK;
bool dv_extensions_json(dv_vm *vm, dv_json *json) DV_MUST_CHECK;

/* `explain`: expressions that are executed one by one; in JSON all of them. */
bool dv_expressions_list(dv_vm *vm, const dv_page *page) DV_MUST_CHECK;
bool dv_expressions_json(dv_vm *vm, dv_json *json) DV_MUST_CHECK;

#endif
