/* explain.h: `dynvm explain`: why hot sites of a VM that counts stayed slow, and what to do about
 * it.
 *
 * A site is *slow* as often as it was executed by the generic instruction, or missed, though its
 * instruction has derivatives; it is *hot* if it was slow at least HOT_EXECUTIONS times, and in at
 * least one of HOT_SHARE executions of the whole program (explain.c). */
#ifndef DV_INSPECT_EXPLAIN_H
#define DV_INSPECT_EXPLAIN_H

#include "inspect/page.h"

/* The VM counts (profile.h).  False: out of memory (raised). */
bool dv_inspect_explain(dv_vm *vm, const dv_page *page) DV_MUST_CHECK;

#endif
