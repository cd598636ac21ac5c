/* raised.h: exceptions that are raised and caught in one region (internal to region/).
 *
 * `raise Class(...)`, a key that a dict has not, an index out of range, a division by zero, what C
 * functions declare to raise: where the try around them has its handler in the region, control goes
 * there by a jump.  The exception
 * is *raised* then, and not made: a slot has the dv_source that describes it. ENTER_HANDLER makes
 * two entries of it, HANDLED for the one that was handled before, and RAISED.
 *
 * What is an object already takes the same way, behind its slot, with its traceback.
 * A local has it, too, where the clause says `as`, until that is deleted: what is asked of it is
 * looked up where the exception has been raised (`dv_raised_load`).
 *
 * Invariants
 *  1. While there is a HANDLED entry nothing runs that could ask which exception is handled: the
 * builder lets a handler with something that calls out make its exception at once (`shown`).
 *  2. vm->handled is what it was when the exception was raised, so what is made late has the same
 * context.  Exits make it, with its traceback. */
#ifndef DV_REGION_RAISED_H
#define DV_REGION_RAISED_H

#include "region/step/step.h"

/* Has entry q an exception that is not made, or that which was handled before it? */
static inline bool dv_is_raised(const dv_known_value *e) {
    return e->kind == DV_K_RAISED || e->kind == DV_K_HANDLED;
}
/* Would what the instruction at b->pc raises go to a handler in the region, and nothing on the way
 * run other code?  (The n topmost entries are used up, or become its arguments.) */
bool dv_raised_is_caught(dv_build *b, int32_t n);
/* A call of the class with the n topmost entries, whose result the instruction at `next_pc`, in the
 * same block, raises; false: it is none, or stays as it is. */
bool dv_raised_call(dv_build *b, dv_class *class_, int32_t n, uint32_t next_pc);
/* The instruction just emitted at `at`, whose exit is that of a guard, raises ZeroDivisionError
 * with the text if the topmost entry is 0; IndexError if that is no index of the list, or tuple, in
 * the home slot; KeyError with it where the jump in cell `at` leads. */
void dv_raised_divides(dv_build *b, uint32_t at, const char *text);
void dv_raised_indexes(dv_build *b, uint32_t at, bool is_list, int32_t home);
void dv_raised_lookup(dv_build *b, uint32_t at);
/* The call at b->pc, which is emitted next, may raise what its function declares. */
void dv_raised_quietly(dv_build *b);
/* BUILD_TUPLE of n constants for the except clause behind it, which looks at what was raised;
 * false: it is something else. */
bool dv_raised_among(dv_build *b, int32_t n, uint32_t *next_pc);
/* The HANDLED entry that belongs to the exception, entry q; -1: it is not handled yet, or any more.
 */
int32_t dv_raised_handled(const dv_build *b, int32_t q);
/* STORE_LOCAL of the topmost entry, an exception, to local q, which has nothing that must be
 * released any more; false: it is made. */
bool dv_raised_name(dv_build *b, int32_t q);
/* LOAD_LOCAL of local q, which has one.  Result: the pc behind what asks it. */
uint32_t dv_raised_load(dv_build *b, int32_t q, uint32_t next_pc);
/* The exception, which was in an entry, is in none any more, if that was the last one; false: no
 * object was released. */
bool dv_raised_drop(dv_build *b, const dv_known_value *e);
/* Two ways meet, and one of the entries is one that is not made: what the entry is then.  Where it
 * is an object on the other way, it is made on its own. */
dv_kind dv_raised_join(dv_build *b, const dv_known_value *a, const dv_known_value *c);
/* Something needs entry q, an exception that is not made, or can see that it is not. */
void dv_raised_show(dv_build *b, int32_t q);
void dv_raised_show_all(dv_build *b);
/* The instruction just emitted may have run what asks for the exception that is handled: then that
 * is to be made before it, and all is to be found anew. */
void dv_raised_ask(dv_build *b);
/* Is the exception in entry q, or was it, to be made by now? */
bool dv_raised_is_shown(const dv_build *b, int32_t q);
/* The jump to where an exception is raised (dv_edge). */
void dv_raised_stub(dv_build *b, const dv_raising *raising);

#endif
