/* steps.h: recording what one function executes, instruction by instruction: `dynvm view --step`.
 *
 * A VM that counts (profile.h) looks at the frame in front of each step of the function and keeps
 * it as text: the instruction, its locals and the operand stack.  In a region the builder has noted
 * which of these are raw, and where (dv_placed in region/region.h).
 *
 * Invariants
 *  1. The first steps of each *phase* are kept, so that a short record has the function before it
 * is warm, with derivatives, in its region, where it leaves that, and behind that.
 *  2. It holds no value, and runs no code of the program: of objects only what built-in types have.
 *  3. In a region an object is looked at only where an instruction begins, as the builder knows
 * what is there; between two cells of one the text of the last look is told again. */
#ifndef DV_INSPECT_STEPS_H
#define DV_INSPECT_STEPS_H

#include "inspect/json.h"
#include "run/thread.h"

typedef struct dv_steps dv_steps;

enum { DV_STEPS_USUAL = 100, DV_STEPS_MOST = 100000 }; /* of each phase */

/* From now on, in a VM that counts: of the unit's functions of this name, `each` steps of each
 * phase.  False: out of memory (nothing is raised). */
bool dv_steps_begin(dv_vm *vm, const dv_unit *unit, const char *function, uint32_t each);
/* The step at `ip` is about to be made; `pc`: where it is no cell of a region. */
void dv_steps_note(dv_vm *vm, dv_thread *thread, const dv_cell *ip, uint32_t op, uint32_t pc);
/* As member "steps" of a JSON object; nothing where none were wanted. */
void dv_steps_json(const dv_vm *vm, dv_json *json);
void dv_steps_free(dv_vm *vm, dv_steps *steps); /* NULL is allowed */

#endif
