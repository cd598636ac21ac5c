/* stats.h: `dynvm stats`: what a VM that counts has executed, by instruction, function and site.
 *
 * Invariant 1: a report is a function of the program and its input alone (as a listing, dis.h). */
#ifndef DV_INSPECT_STATS_H
#define DV_INSPECT_STATS_H

#include "inspect/page.h"
#include "inspect/profile.h"

/* The VM counts (profile.h).  False: out of memory (raised). */
bool dv_inspect_stats(dv_vm *vm, const dv_page *page) DV_MUST_CHECK;

extern const char *const dv_exited_names[]; /* by dv_exited; in JSON: they never change */

#endif
