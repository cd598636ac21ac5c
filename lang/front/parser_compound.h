/* parser_compound.h: if, while, for, try, with. */
#ifndef DV_LANG_PARSER_COMPOUND_H
#define DV_LANG_PARSER_COMPOUND_H

#include "lang/front/parser.h"

/* If a compound statement begins here, parses it; otherwise *stmt becomes NULL. */
bool dv_parser_compound(dv_parser *p, dv_stmt **stmt);

#endif
