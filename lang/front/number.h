/* number.h: number tokens to constants. */
#ifndef DV_LANG_NUMBER_H
#define DV_LANG_NUMBER_H

#include "lang/front/ast.h"

/* Reads a number the lexer has accepted.  False when memory runs out, or, with the problem
 * recorded, for a decimal integer of more than 4300 digits. */
bool dv_number_read(dv_front *front, dv_text text, dv_range at, dv_literal *out);

#endif
