/* normal.h: the normal form of identifiers, NFKC: `ﬁ` is the name `fi`. */
#ifndef DV_LANG_NORMAL_H
#define DV_LANG_NORMAL_H

#include "lang/diag.h"

/* Puts the normal form, in memory of the unit, in the place of a valid identifier that is not all
 * ASCII; false: out of memory. */
bool dv_normalise(dv_front *front, dv_text *name);

#endif
