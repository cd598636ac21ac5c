/* origin.h: which instruction pushed an entry of the operand stack, by data flow over the code.
 *
 * Invariant 1: an answer holds on every path: an entry that several instructions may have pushed
 * comes from DV_NO_PC. */
#ifndef DV_PLUGIN_ORIGIN_H
#define DV_PLUGIN_ORIGIN_H

#include "plugin/extension.h"
#include "run/thread.h"

/* Puts the pcs of the instructions that pushed the n topmost entries before pc into `makers`, the
 * topmost last.  False: out of memory (nothing is raised). */
bool dv_origin_find(dv_vm *vm, const dv_thread *thread, uint32_t pc, uint32_t n,
                    uint32_t *makers) DV_MUST_CHECK;
/* From this instruction on, and from all between it and that at `to`, every way to that one leads
 * straight through the words between them. */
uint32_t dv_origin_straight(const dv_code *code, uint32_t to);
/* The pc of the instruction behind the one at pc. */
uint32_t dv_origin_next(const dv_code *code, uint32_t pc);
/* Forgets what was found out last. */
void dv_origin_forget(dv_vm *vm);

#endif
