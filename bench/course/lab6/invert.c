/* invert.c: what regions do with ~x, the transfer function of INVERT; lab 6 (lesson6.md).
 *
 * The lab's check links it into a dynvm of its own (link.c).  dynvm itself has none: there, INVERT
 * stays the boxed instruction that it was, and so it does here.
 *
 * Invariants
 *  1. Entries stay as they are until the instruction is emitted: its exit is made from them.
 *  2. The function runs in both passes, and says the same in both. */
#include "region/step/step.h"

uint32_t dv_step_invert(dv_build *b, uint32_t next_pc);

/* Lab 6: an int has a raw result. */
uint32_t dv_step_invert(dv_build *b, uint32_t next_pc) { return dv_step_embed(b, 1, 1, next_pc); }
