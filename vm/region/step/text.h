/* text.h: the transfer function of strs and their characters (internal to region/).
 *
 * A character that a str is subscripted for, or that a loop over it gives, is raw: its number, in a
 * slot or in r (DV_K_CHAR).  It is one of Latin-1, whose strs there are only once each, so that
 * nobody can tell a box from the object that it would have been. */
#ifndef DV_REGION_TEXT_H
#define DV_REGION_TEXT_H

#include "region/step/step.h"

/* A comparison of the two topmost entries, one of which is a character, or which INCA saw as strs.
 * All of these: false: it is something else, and nothing has happened. */
bool dv_text_compare(dv_build *b, dv_compare_op op, uint32_t *next_pc);
/* The sum of a str and a character or a constant str, where it goes to the local that the str comes
 * from, as in s += c; then it grows in place. */
bool dv_text_append(dv_build *b, uint32_t *next_pc);
/* ord(), chr() of the topmost entry, the argument of a call. */
bool dv_text_ord(dv_build *b, uint32_t *next_pc);
bool dv_text_chr(dv_build *b, uint32_t *next_pc);
/* Which properties of a character the method of that name asks about (DV_UNICODE_DIGIT, ...); 0: it
 * asks about none. */
int64_t dv_text_question(dv_text name);
/* c.isdigit() and the like of the topmost entry, from the LOAD_METHOD on. */
bool dv_text_ask(dv_build *b, uint32_t *next_pc);

#endif
