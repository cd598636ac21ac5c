/* parser_fstring.h: string literals, f-strings included. */
#ifndef DV_LANG_PARSER_FSTRING_H
#define DV_LANG_PARSER_FSTRING_H

#include "lang/front/parser.h"

/* One or more adjacent string tokens: a constant or a DV_EXPR_FSTRING. */
dv_expr *dv_parser_strings(dv_parser *p);

#endif
