/* parser_display.h: atoms, displays, comprehensions, and what follows a primary: attributes,
 * subscripts and calls. */
#ifndef DV_LANG_PARSER_DISPLAY_H
#define DV_LANG_PARSER_DISPLAY_H

#include "lang/front/parser.h"

/* A name, a literal, or what stands in brackets. */
dv_expr *dv_parser_atom(dv_parser *p);

/* An atom and all the attributes, subscripts and calls behind it. */
dv_expr *dv_parser_primary(dv_parser *p);

/* The arguments of a call or of a class statement, from behind the opening parenthesis to behind
 * the closing one, whose partner began at `open`. */
typedef struct dv_arguments {
    dv_exprs positional;
    dv_keyword *keywords;
    uint32_t keyword_count;
} dv_arguments;

bool dv_parser_arguments(dv_parser *p, dv_range open, dv_arguments *out);

/* The tokens up to the end, read as if they stood in parentheses: an expression of an f-string. */
dv_expr *dv_parser_bare_group(dv_parser *p);

#endif
