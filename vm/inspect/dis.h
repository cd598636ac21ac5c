/* dis.h: listings of code: what the compiler made, and what became of it in a VM.
 *
 * For each code object: a header, then each source line with its instructions (generic name and
 * operands) and, after a run, the current derivative of each site beside it with its cache in
 * words; then the exception table, then the regions.
 *
 * Invariant 1: a listing is a function of the program and its input alone: it holds no address, no
 * time and no name of this machine's files but the script's, so that tests can store it. */
#ifndef DV_INSPECT_DIS_H
#define DV_INSPECT_DIS_H

#include "inspect/page.h"
#include "run/thread.h"

/* What a code object has become; NULL: it has not run. */
const dv_thread *dv_inspect_thread(const dv_vm *vm, const dv_code *code);

/* Lists the code objects of a verified unit that the page wants (all, as assembly).  False: there
 * is none. */
bool dv_inspect_dis(dv_vm *vm, const dv_unit *unit, bool after_run, const dv_page *page);

/* As dv_run_unit, but keeps the threaded code of the unit's top level for a listing after the run:
 * *top is new (released by the caller), or NULL.  The unit's reference is consumed; *top holds
 * another. */
dv_value dv_inspect_run(dv_vm *vm, dv_unit *unit, dv_value module, dv_object **top);

#endif
