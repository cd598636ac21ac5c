/* loops.h: the part of `dynvm explain` that is about regions (level nama): which hot loops have
 * one, which have not and why, and which are left so often that theirs gains little.
 *
 * A loop is *hot* if it went round so often that a region was tried. */
#ifndef DV_INSPECT_LOOPS_H
#define DV_INSPECT_LOOPS_H

#include "inspect/json.h"
#include "region/region.h"

/* The VM counts (profile.h).  False: out of memory (raised). */
bool dv_loops_list(dv_vm *vm, const dv_page *page) DV_MUST_CHECK;
bool dv_loops_json(dv_vm *vm, dv_json *json) DV_MUST_CHECK; /* the member `loops` */

/* Why a loop has no region (not NOT), as `reason` of JSON and as a sentence. */
void dv_loops_words(dv_refusal why, const char **name, const char **sentence);

#endif
